/* link.h -- a free body through one step: its free velocity, its integration, and the derivatives of both.
 *
 * Inside the step a body's velocity is that of its centre of mass (world) and its angular velocity (body), so that its
 * inertia is block-diagonal and nothing depends on where its frame was put. docs/math.md eq. (5)-(7), (17).
 */
#ifndef TI_LINK_H
#define TI_LINK_H
#include "dynamics/body.h"

/* Mass, centre of mass and inertia, from the ten parameters; no forces, and no motion yet. */
void ti_link_matter(ti_link *l, const double *p);
/* Read ten parameters, q (7), v (6) and u (6, or NULL). */
void ti_link_load(ti_link *l, const double *p, const double *q, const double *v, const double *u);
/* vf, wf: gravity, forces, and the gyroscopic torque by the implicit midpoint rule (energy and |L| are kept).
 * @return false if the body turns too fast for any answer; wf is then not to be used. */
bool ti_link_free(ti_link *l, ti_vec gravity, double dt);
/* From a displacement D (6) and a velocity V (6) of the centre of mass: the next q (7) and v (6). */
void ti_link_integrate(const ti_link *l, const double *D, const double *V, double *q, double *v);

/* Reverse of ti_link_integrate at the same D, V; bar (12) = dq, dv of the next state. Adds to d and overwrites
 * D_bar (6), V_bar (6). */
void ti_link_integrate_vjp(const ti_link *l, const double *D, const double *V, const double *qbar, const double *vbar,
                           ti_link_diff *d, double *D_bar, double *V_bar);
void ti_link_integrate_jvp(const ti_link *l, const double *D, const double *V, const ti_link_diff *d,
                           const double *D_dot, const double *V_dot, double *qdot, double *vdot);
/* Reverse of ti_link_free: from d->vf, d->wf to the rest of d, gravity, and u_bar (6, NULL = skip). */
void ti_link_free_vjp(const ti_link *l, double dt, ti_link_diff *d, ti_vec *gravity_bar, double *u_bar);
void ti_link_free_jvp(const ti_link *l, double dt, ti_link_diff *d, ti_vec gravity_dot, const double *u_dot);
/* Reverse of ti_link_load: from d to q (6), v (6), p (10), added. */
void ti_link_load_vjp(const ti_link *l, const ti_link_diff *d, double *qbar, double *vbar, double *pbar);
/* Forward; qdot, vdot, pdot may be NULL = 0. */
void ti_link_load_jvp(const ti_link *l, const double *qdot, const double *vdot, const double *pdot, ti_link_diff *d);

/* Rotation after a displacement D, as a unit quaternion and as a matrix. */
void ti_link_next(const ti_link *l, const double *D, double *quat, ti_mat *R);

/* Jacobians, of links of one substep. Free velocity: by v it is 1, by the position 0, and vf does not depend on the
 * torque. Integration, with th' the next rotation: xo' = xc + D + lever th',  v' = V + swing th' + lever w',  w' = W.
 */
typedef struct ti_link_jac {
    bool centred;        /* the centre of mass is the origin: xc_th, vf_th, wf_th, wf_f, lever, swing are zero */
    ti_mat xc_th;        /* also vf by w */
    ti_mat vf_th, wf_th; /* by the rotation */
    ti_mat wf_w;
    ti_mat wf_f, wf_t;  /* by the force (world) and the torque (body) of u */
    double vf_f;        /* times 1 */
    ti_mat th_th, th_D; /* th' by the rotation and by that of D */
    ti_mat lever, swing;
} ti_link_jac;

void ti_link_jac_free(const ti_link *l, double dt, ti_link_jac *j);
/* After ti_link_jac_free. */
void ti_link_jac_integrate(const ti_link *l, const double *D, const double *V, ti_link_jac *j);

#endif
