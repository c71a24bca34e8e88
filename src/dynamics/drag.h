/* drag.h -- what a fluid does to one body, as MuJoCo's model of inertia boxes has it: the box of uniform matter that
 * weighs and turns as the body does is slowed down along its axes, by viscosity in proportion to velocity, by density
 * to its square. docs/math.md eq. (500), (501).
 *
 * Over a step no more is taken than would bring the body alone to rest in it: so drag adds no energy, however long the
 * step, and trees need no other inertia. Of a step of no length it is the force itself.
 */
#ifndef TI_DRAG_H
#define TI_DRAG_H
#include "dynamics/body.h"
#include "dynamics/spatial.h"

typedef struct ti_fluid {
    double density, viscosity;
    ti_vec wind; /* velocity, world */
    double dt;
} ti_fluid;

/* The force at the centre of mass, in the world, and the torque, in the body, of a link by its v and w; box: its axes
 * in the body, as columns. */
ti_spatial ti_drag(const ti_link *l, const ti_mat *box, const ti_fluid *f);
/* Reverse: to mass, inertia, rotation and velocities of the link, and to density, viscosity and wind (5, NULL = skip).
 */
void ti_drag_vjp(const ti_link *l, const ti_mat *box, const ti_fluid *f, ti_spatial drag_bar, ti_link_diff *to,
                 double *fluid_bar);
/* Forward; fluid_dot (5) may be NULL = 0. */
ti_spatial ti_drag_jvp(const ti_link *l, const ti_mat *box, const ti_fluid *f, const ti_link_diff *d,
                       const double *fluid_dot);
/* Derivatives of force and torque, both in the world, by the velocity of the centre of mass and by the spin there. */
void ti_drag_jac(const ti_link *l, const ti_mat *box, const ti_fluid *f, ti_mat *force_v, ti_mat *torque_w);

#endif
