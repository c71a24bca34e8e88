/* bias.h -- what acts on a tree besides its joints: weight, and inertia while no velocity changes. docs/math.md eq.
 * (153), (155). Velocities and forces here are numbered as the model's. */
#ifndef TI_BIAS_H
#define TI_BIAS_H
#include "base/clones.h"
#include "dynamics/moving.h"

/* The cotangent of a' I b for the inertia of a link, a and b twists: to its mass, its moments and its place. */
TI_INLINE void ti_inertia_pair_vjp(const ti_motion *m, int body, double s, ti_spatial a, ti_spatial b,
                                   ti_motion_bar *bar) {
    const ti_link *l = &m->link[body];
    ti_link_diff *d = &bar->link[body];
    ti_vec va = ti_sp_at(a, l->xc), vb = ti_sp_at(b, l->xc), wa = ti_tmul(&l->R, a.w), wb = ti_tmul(&l->R, b.w);
    d->mass += s * ti_dot(va, vb);
    ti_outer_add(&d->I, s, wa, wb);
    d->xc = ti_axpy(d->xc, s * l->mass, ti_add(ti_cross(vb, a.w), ti_cross(va, b.w)));
    ti_vec Ia = ti_mul(&l->I, wa), Ib = ti_mul(&l->I, wb); /* wa = R'a: it turns the other way */
    d->th = ti_axpy(d->th, s, ti_add(ti_cross(Ib, wa), ti_cross(Ia, wb)));
}

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
