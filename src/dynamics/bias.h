/* bias.h -- what acts on a tree besides its joints: weight, and inertia while no velocity changes. docs/math.md eq.
 * (153), (155). Velocities and forces here are numbered as the model's. */
#ifndef TI_BIAS_H
#define TI_BIAS_H
#include "dynamics/moving.h"

/* force = those at the velocity v, less what changing it by a takes, NULL = 0; twists, accelerations and wrenches on
 * the way stay in m for the reverse. */
void ti_bias_forces(ti_motion *m, const ti_tree *tree, ti_vec gravity, const double *v, const double *a, double *force);
/* v_bar += of the cotangent y of the forces, at the velocity of the last ti_bias_forces(); what does not depend on y is
 * prepared once, for the next, too. */
void ti_bias_velocity_prepare(const ti_motion *m, const ti_tree *tree, ti_motion_bar *bar);
void ti_bias_velocity_vjp(const ti_motion *m, const ti_tree *tree, const double *y, ti_motion_bar *bar, double *v_bar);
/* The same, and to the axes, to the links and to gravity. What belongs to a is left in bar->bias: its
 * cotangent is bar->bias times the axis, that of the axis a times bar->bias. */
void ti_bias_vjp(const ti_motion *m, const ti_tree *tree, ti_vec gravity, const double *v, const double *y,
                 ti_motion_bar *bar, double *v_bar, ti_vec *gravity_bar);

#endif
