/* body.h -- a free body inside a step: what is known of it.
 *
 * Its velocity is that of its centre of mass (world) and its angular velocity (body), so that its inertia is
 * block-diagonal and nothing depends on where its frame was put. docs/math.md eq. (5)-(7), (17).
 */
#ifndef TI_BODY_H
#define TI_BODY_H
#include "math/vec.h"
#include <stdbool.h>

typedef struct ti_link {
    double mass;
    ti_vec com; /* body frame */
    ti_mat I;   /* about the centre of mass, body frame */
    double quat[4];
    ti_mat R;
    ti_vec xo, xc;        /* origin and centre of mass, world */
    ti_vec v, w;          /* of the centre of mass, world; body */
    ti_vec f, torque;     /* world; body, about the centre of mass */
    ti_vec vf, wf;        /* free velocity */
    int substeps;         /* in which wf was found: 1 but for a fast spin */
    double precession[4]; /* with more than one: the free motion turns the body by this, then by exp(dt wf) */
} ti_link;

/* What the spin of a step starts from where its change is taken for an acceleration. That of a fast spin is a turn of
 * the angular velocity in the body and no acceleration of a point: then it is the spin after. */
static inline ti_vec ti_link_spin(const ti_link *l) {
    return l->substeps > 1 ? l->wf : l->w;
}

/* A tangent of a link, or a cotangent. */
typedef struct ti_link_diff {
    double mass;
    ti_vec com;
    ti_mat I;          /* symmetric as a tangent; as a cotangent its symmetric part counts */
    ti_vec xo, xc, th; /* th: rotation vector, body frame */
    ti_vec v, w;
    ti_vec vf, wf;
    ti_vec precession; /* a rotation vector behind it; 0 with one substep */
} ti_link_diff;

/* Of a tangent or cotangent the part that belongs to ti_link_spin(). */
static inline ti_vec *ti_link_spin_diff(const ti_link *l, ti_link_diff *d) {
    return l->substeps > 1 ? &d->wf : &d->w;
}

/* Of a symmetric matrix's cotangent, to those of its numbers xx yy zz xy xz yz, added. */
void ti_sym_add(double *s, const ti_mat *A);

#endif
