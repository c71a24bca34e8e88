/* spin.h -- how a free body's angular velocity changes in a step, and the derivatives of that. docs/math.md eq. (7). */
#ifndef TI_SPIN_H
#define TI_SPIN_H
#include "dynamics/body.h"

/* The spin of ti_link_free, from w and torque to wf, substeps and precession: spin.c. */
bool ti_spin(ti_link *l, double dt);
/* From d->wf and d->precession to d->w and d->I. @return the torque's cotangent. */
ti_vec ti_spin_vjp(const ti_link *l, double dt, ti_link_diff *d);
/* From d->w, d->I and the torque's tangent to d->wf, d->precession. */
void ti_spin_jvp(const ti_link *l, double dt, ti_vec torque_dot, ti_link_diff *d);
/* From w to wf by the midpoint rule over dt, of either sign: I (wf - w) + dt wm x I wm = dt torque, wm = (w + wf) / 2.
 * inv = I^-1. @return whether Newton's method arrived, but for what rounding leaves. */
bool ti_spin_midpoint(const ti_mat *I, const ti_mat *inv, ti_vec torque, ti_vec w, double dt, ti_vec *wf);
/* d/dwf of that; with sign -1 in the place of 1, -I for I, it is d/dw. */
ti_mat ti_gyro_matrix(const ti_mat *I, ti_vec wm, double dt, double sign);
/* Of one substep over all of dt: the inverse of d/dwf of the gyroscopic equation, and its d/dw. */
void ti_link_gyro(const ti_link *l, double dt, ti_mat *Ki, ti_mat *Kw);

#endif
