/* actuator.h -- forces of actuators on joints: affine in control, length and velocity, cut off at their ranges.
 *
 * docs/math.md eq. (170)-(173). What depends on velocity acts at the end of a step, as joint damping does.
 */
#ifndef TI_ACTUATOR_H
#define TI_ACTUATOR_H
#include "dynamics/moving.h"

/* The generalized forces (nv) of u: its first nv numbers and what the actuators make of the others; u NULL = 0. Of a
 * model with actuators at sites, or that carry weights, links have been placed. */
const double *ti_actuators_load(ti_motion *m, const double *p, const double *q, const double *v, const double *u);
/* M of tree t += what actuators add to its damping over a step. */
void ti_actuators_damp(const ti_motion *m, int t, const double *p, double dt, double *M);
/* Whether some actuator pulls at several joints, and that is not on the diagonal of M alone. */
static inline bool ti_actuators_couple(const tribo_model *model) {
    return model->npull > model->size.nactuator;
}

/* Reverse of ti_actuators_damp(), from bar->M: to p_bar (or NULL) and what ti_actuators_vjp() goes on with. */
void ti_actuators_damp_vjp(const ti_motion *m, int t, const double *p, double dt, ti_motion_bar *bar, double *p_bar);
/* Before the reverse of all trees; bar->applied takes the cotangents of the generalized forces. */
void ti_actuators_clear(const ti_motion *m, ti_motion_bar *bar);
/* From bar->applied to x (dq, dv), u, p; u_bar, p_bar may be NULL. */
void ti_actuators_vjp(const ti_motion *m, const double *p, const ti_motion_bar *bar, double *q_bar, double *v_bar,
                      double *u_bar, double *p_bar);

/* Forward: by_q, by_v (w,w) of tree t += derivatives of its generalized forces to its q and v; either may be NULL. */
void ti_actuators_jac(const ti_motion *m, int t, const double *p, double *by_q, double *by_v);
/* The derivative of the force of actuator i to its control, and of number v's force to that. */
double ti_actuator_by_control(const ti_motion *m, int i);
double ti_actuator_arm(const ti_motion *m, int i, int k, const double *p);
/* Whether that is all: no damping depends on a control, no tendon pulls on two trees, none at a site, and no joint is
 * cut off with a weight that it carries. */
bool ti_actuators_jac_applies(const ti_motion *m, const double *p);

#endif
