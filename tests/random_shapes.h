/* random_shapes.h -- what random shapes are made of: numbers, vectors, rotations, by a generator with one state. */
#ifndef TEST_RANDOM_SHAPES_H
#define TEST_RANDOM_SHAPES_H
#include "math/vec.h"
#include <stdint.h>

static uint64_t state;

static inline double uniform(double lo, double hi) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return lo + (hi - lo) * (double)(state >> 11) / 9007199254740992.0;
}

static inline ti_vec random_vec(double s) {
    double x = uniform(-s, s), y = uniform(-s, s), z = uniform(-s, s);
    return ti_vec3(x, y, z);
}

static inline ti_mat rotation(ti_vec w) {
    double q[4];
    ti_quat_exp(w, q);
    return ti_quat_mat(q);
}

#endif
