/* midpoint.h -- the velocity of a tree after a step, gyroscopic forces at the mean of it and of that before:
 * docs/math.md eq. (154). */
#ifndef TI_MIDPOINT_H
#define TI_MIDPOINT_H
#include "dynamics/moving.h"

/* m->free and m->middle from m->now, near m->now + m->pushed, M and its factor, and the forces m->given.
 * @return false where no velocity is found. */
bool ti_midpoint(ti_motion *m, int t, ti_vec gravity, double dt);
/* bar->y of bar->free: (M + h/2 C)' y = v_bar, C the derivative of the gyroscopic forces,
 * after ti_tree_mean_forces(). */
void ti_midpoint_vjp(const ti_motion *m, int t, double dt, ti_motion_bar *bar);

#endif
