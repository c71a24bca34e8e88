/* spatial.h -- twists, wrenches and inertias in the world, all about its origin. docs/math.md eq. (150). */
#ifndef TI_SPATIAL_H
#define TI_SPATIAL_H
#include "math/vec.h"

/* Numbers of a twist. */
enum { TI_TWIST = 6 };

/* A twist: angular velocity, velocity of the point at the origin. A wrench: torque about the origin, force. */
typedef struct ti_spatial {
    ti_vec w, v;
} ti_spatial;

/* Of matter: mass, mass times its centre, inertia about the origin. */
typedef struct ti_spatial_inertia {
    double m;
    ti_vec h;
    ti_mat I;
} ti_spatial_inertia;

static inline ti_spatial ti_sp_axpy(ti_spatial a, double s, ti_spatial b) {
    return (ti_spatial){ti_axpy(a.w, s, b.w), ti_axpy(a.v, s, b.v)};
}
/* Power: of a twist with a wrench. */
static inline double ti_sp_dot(ti_spatial a, ti_spatial b) {
    return ti_dot(a.w, b.w) + ti_dot(a.v, b.v);
}
/* How a twist that is fixed in a body with twist a changes. */
static inline ti_spatial ti_sp_cross(ti_spatial a, ti_spatial b) {
    return (ti_spatial){ti_cross(a.w, b.w), ti_add(ti_cross(a.w, b.v), ti_cross(a.v, b.w))};
}
/* The same of a wrench. (a x b) . f = -b . (a x* f) = a . (b x* f) */
static inline ti_spatial ti_sp_cross_force(ti_spatial a, ti_spatial f) {
    return (ti_spatial){ti_add(ti_cross(a.w, f.w), ti_cross(a.v, f.v)), ti_cross(a.w, f.v)};
}
/* Momentum of a twist. */
static inline ti_spatial ti_sp_times(const ti_spatial_inertia *I, ti_spatial a) {
    return (ti_spatial){ti_add(ti_mul(&I->I, a.w), ti_cross(I->h, a.v)),
                        ti_sub(ti_scale(I->m, a.v), ti_cross(I->h, a.w))};
}
/* Velocity of the point at x. */
static inline ti_vec ti_sp_at(ti_spatial a, ti_vec x) {
    return ti_add(a.v, ti_cross(a.w, x));
}
/* The wrench of a force at x and a torque. */
static inline ti_spatial ti_sp_wrench(ti_vec torque, ti_vec x, ti_vec force) {
    return (ti_spatial){ti_add(torque, ti_cross(x, force)), force};
}

#endif
