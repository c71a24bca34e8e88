/* state.h -- the state of a model as a manifold, by the kind of joint that a body moves on: how many numbers there are,
 * where, and how they are added and compared.
 *
 * Nobody else knows how many numbers a joint has: a body says where its own begin, the model how many there are, and
 * the row of its joint how many are its. docs/math.md eq. (1).
 */
#ifndef TI_STATE_H
#define TI_STATE_H
#include "model/model.h"

/* One kind of joint. Of the free joint q is a position in the world and a unit quaternion, v the velocity in the world
 * and the spin in the body, dq a displacement in the world and a rotation vector in the body; hinges and slides have
 * one number of each, a ball has the rotations of a free one. */
typedef struct ti_joint_row {
    int nq, nv;
    int quat; /* where in q its unit quaternion begins, -1 = it has none */
    int turn; /* where in dq, and in v, the rotation begins that goes with it */
    /* Of a free body or a ball that stands at pos, quat; of one with an axis, at pos[0] of it. */
    void (*place)(const double pos[3], const double quat[4], double *q);
    void (*add)(const double *q, const double *dq, double *out);      /* q (+) dq; out may be q */
    void (*difference)(const double *a, const double *b, double *dq); /* the shortest dq with a (+) dq = b */
} ti_joint_row;

const ti_joint_row *ti_joint_of(ti_joint_kind kind);
/* Whether every body is free in the world. */
static inline bool ti_all_free(const tribo_model *m) {
    return !m->chains;
}
/* All joints of a model. */
static inline int ti_joints(const tribo_model *m) {
    return m->size.njoint + m->nfree;
}

#endif
