/* fours.h -- bodies of a tree four at a time: each lane does to the numbers of one what vec.h and spatial.h do, in the
 * same order, so that the bits are the same.
 */
#ifndef TI_FOURS_H
#define TI_FOURS_H
#include "dynamics/moving.h"
#include "math/lanes.h"

typedef struct ti_vec_4 {
    vec4 x, y, z;
} ti_vec_4;
typedef struct ti_mat_4 {
    vec4 m[3][3];
} ti_mat_4;
typedef struct ti_spatial_4 {
    ti_vec_4 w, v;
} ti_spatial_4;
typedef struct ti_inertia_4 {
    vec4 m;
    ti_vec_4 h;
    ti_mat_4 I;
} ti_inertia_4;

/* n bodies that something moves, and what last does; lanes beyond n repeat the first. */
typedef struct ti_four {
    int n, body[LANE], last[LANE];
} ti_four;

/* The next of a tree from body *b on, which goes on. @return false where there are none */
TI_INLINE bool ti_four_next(const tribo_model *model, const ti_tree *tree, int *b, ti_four *to) {
    const int end = tree->body0 + tree->nbody;
    int n = 0;
    for (; n < LANE && *b < end; ++*b)
        if (model->body[*b].last >= 0) to->body[n] = *b, to->last[n++] = model->body[*b].last;
    to->n = n;
    for (; n > 0 && n < LANE; n++) to->body[n] = to->body[0], to->last[n] = to->last[0];
    return n > 0;
}

/* ---- together, and apart ---- */

TI_INLINE ti_vec_4 ti_4_vec(const ti_vec *a, const ti_vec *b, const ti_vec *c, const ti_vec *d) {
    return (ti_vec_4){{a->x, b->x, c->x, d->x}, {a->y, b->y, c->y, d->y}, {a->z, b->z, c->z, d->z}};
}
TI_INLINE ti_mat_4 ti_4_mat(const ti_mat *a, const ti_mat *b, const ti_mat *c, const ti_mat *d) {
    return (ti_mat_4){{{{a->m[0][0], b->m[0][0], c->m[0][0], d->m[0][0]},
                        {a->m[0][1], b->m[0][1], c->m[0][1], d->m[0][1]},
                        {a->m[0][2], b->m[0][2], c->m[0][2], d->m[0][2]}},
                       {{a->m[1][0], b->m[1][0], c->m[1][0], d->m[1][0]},
                        {a->m[1][1], b->m[1][1], c->m[1][1], d->m[1][1]},
                        {a->m[1][2], b->m[1][2], c->m[1][2], d->m[1][2]}},
                       {{a->m[2][0], b->m[2][0], c->m[2][0], d->m[2][0]},
                        {a->m[2][1], b->m[2][1], c->m[2][1], d->m[2][1]},
                        {a->m[2][2], b->m[2][2], c->m[2][2], d->m[2][2]}}}};
}
TI_INLINE ti_spatial_4 ti_4_spatial(const ti_spatial *s, const int *at) {
    const ti_spatial *a = s + at[0], *b = s + at[1], *c = s + at[2], *d = s + at[3];
    return (ti_spatial_4){ti_4_vec(&a->w, &b->w, &c->w, &d->w), ti_4_vec(&a->v, &b->v, &c->v, &d->v)};
}
TI_INLINE ti_inertia_4 ti_4_inertia(const ti_spatial_inertia *I, const int *at) {
    const ti_spatial_inertia *a = I + at[0], *b = I + at[1], *c = I + at[2], *d = I + at[3];
    return (ti_inertia_4){
        {a->m, b->m, c->m, d->m}, ti_4_vec(&a->h, &b->h, &c->h, &d->h), ti_4_mat(&a->I, &b->I, &c->I, &d->I)};
}
/* Body after body, as some have the same last number. */
TI_INLINE void ti_4_add_vec(const ti_vec_4 *f, int k, ti_vec *to) {
    to->x += f->x[k], to->y += f->y[k], to->z += f->z[k];
}
TI_INLINE void ti_4_add(const ti_spatial_4 *f, const ti_four *four, ti_spatial *to) {
    TI_UNROLL for (int k = 0; k < LANE; k++) if (k < four->n) ti_4_add_vec(&f->w, k, &to[four->last[k]].w),
        ti_4_add_vec(&f->v, k, &to[four->last[k]].v);
}

/* ---- as vec.h has it ---- */

TI_INLINE ti_vec_4 ti_4_all(ti_vec a) {
    return (ti_vec_4){{a.x, a.x, a.x, a.x}, {a.y, a.y, a.y, a.y}, {a.z, a.z, a.z, a.z}};
}
TI_INLINE ti_vec_4 ti_4_plus(const ti_vec_4 *a, const ti_vec_4 *b) {
    return (ti_vec_4){a->x + b->x, a->y + b->y, a->z + b->z};
}
TI_INLINE ti_vec_4 ti_4_less(const ti_vec_4 *a, const ti_vec_4 *b) {
    return (ti_vec_4){a->x - b->x, a->y - b->y, a->z - b->z};
}
TI_INLINE ti_vec_4 ti_4_times(const vec4 *s, const ti_vec_4 *a) {
    return (ti_vec_4){*s * a->x, *s * a->y, *s * a->z};
}
TI_INLINE ti_vec_4 ti_4_axpy(const ti_vec_4 *a, const vec4 *s, const ti_vec_4 *b) {
    return (ti_vec_4){a->x + *s * b->x, a->y + *s * b->y, a->z + *s * b->z};
}
TI_INLINE ti_vec_4 ti_4_cross(const ti_vec_4 *a, const ti_vec_4 *b) {
    return (ti_vec_4){a->y * b->z - a->z * b->y, a->z * b->x - a->x * b->z, a->x * b->y - a->y * b->x};
}
TI_INLINE ti_vec_4 ti_4_mul(const ti_mat_4 *A, const ti_vec_4 *v) {
    return (ti_vec_4){A->m[0][0] * v->x + A->m[0][1] * v->y + A->m[0][2] * v->z,
                      A->m[1][0] * v->x + A->m[1][1] * v->y + A->m[1][2] * v->z,
                      A->m[2][0] * v->x + A->m[2][1] * v->y + A->m[2][2] * v->z};
}
TI_INLINE ti_vec_4 ti_4_tmul(const ti_mat_4 *A, const ti_vec_4 *v) {
    return (ti_vec_4){A->m[0][0] * v->x + A->m[1][0] * v->y + A->m[2][0] * v->z,
                      A->m[0][1] * v->x + A->m[1][1] * v->y + A->m[2][1] * v->z,
                      A->m[0][2] * v->x + A->m[1][2] * v->y + A->m[2][2] * v->z};
}

/* ---- as spatial.h has it ---- */

/* Momentum of a twist. */
TI_INLINE ti_spatial_4 ti_4_momentum(const ti_inertia_4 *I, const ti_spatial_4 *a) {
    ti_vec_4 turn = ti_4_mul(&I->I, &a->w), lever = ti_4_cross(&I->h, &a->v);
    ti_vec_4 push = ti_4_times(&I->m, &a->v), swing = ti_4_cross(&I->h, &a->w);
    return (ti_spatial_4){ti_4_plus(&turn, &lever), ti_4_less(&push, &swing)};
}
TI_INLINE ti_spatial_4 ti_4_sp_plus(const ti_spatial_4 *a, const ti_spatial_4 *b) {
    return (ti_spatial_4){ti_4_plus(&a->w, &b->w), ti_4_plus(&a->v, &b->v)};
}
TI_INLINE ti_spatial_4 ti_4_sp_cross(const ti_spatial_4 *a, const ti_spatial_4 *b) {
    ti_vec_4 turned = ti_4_cross(&a->w, &b->v), moved = ti_4_cross(&a->v, &b->w);
    return (ti_spatial_4){ti_4_cross(&a->w, &b->w), ti_4_plus(&turned, &moved)};
}
TI_INLINE ti_spatial_4 ti_4_sp_cross_force(const ti_spatial_4 *a, const ti_spatial_4 *f) {
    ti_vec_4 turned = ti_4_cross(&a->w, &f->w), moved = ti_4_cross(&a->v, &f->v);
    return (ti_spatial_4){ti_4_plus(&turned, &moved), ti_4_cross(&a->w, &f->v)};
}
TI_INLINE ti_vec_4 ti_4_sp_at(const ti_spatial_4 *a, const ti_vec_4 *x) {
    ti_vec_4 swung = ti_4_cross(&a->w, x);
    return ti_4_plus(&a->v, &swung);
}

/* ---- inertias of links ---- */

/* Links, and what is summed up of their cotangents. */
typedef struct ti_pairs_4 {
    vec4 mass;
    ti_vec_4 xc;
    ti_mat_4 R, I;
    vec4 mass_bar;
    ti_mat_4 I_bar;
    ti_vec_4 xc_bar, th_bar;
} ti_pairs_4;

TI_INLINE ti_pairs_4 ti_4_pairs(const ti_motion *m, const ti_motion_bar *bar, const ti_four *four) {
    const int *at = four->body;
    const ti_link *a = &m->link[at[0]], *b = &m->link[at[1]], *c = &m->link[at[2]], *d = &m->link[at[3]];
    const ti_link_diff *s = &bar->link[at[0]], *t = &bar->link[at[1]], *u = &bar->link[at[2]], *v = &bar->link[at[3]];
    return (ti_pairs_4){.mass = {a->mass, b->mass, c->mass, d->mass},
                        .xc = ti_4_vec(&a->xc, &b->xc, &c->xc, &d->xc),
                        .R = ti_4_mat(&a->R, &b->R, &c->R, &d->R),
                        .I = ti_4_mat(&a->I, &b->I, &c->I, &d->I),
                        .mass_bar = {s->mass, t->mass, u->mass, v->mass},
                        .I_bar = ti_4_mat(&s->I, &t->I, &u->I, &v->I),
                        .xc_bar = ti_4_vec(&s->xc, &t->xc, &u->xc, &v->xc),
                        .th_bar = ti_4_vec(&s->th, &t->th, &u->th, &v->th)};
}

/* The cotangent of s a' I b for the inertia of a link, a and b twists: to its mass, its moments and its place. */
TI_INLINE void ti_4_pair(double s, const ti_spatial_4 *a, const ti_spatial_4 *b, ti_pairs_4 *p) {
    const vec4 by = {s, s, s, s}, by_mass = by * p->mass;
    ti_vec_4 va = ti_4_sp_at(a, &p->xc), vb = ti_4_sp_at(b, &p->xc), wa = ti_4_tmul(&p->R, &a->w),
             wb = ti_4_tmul(&p->R, &b->w);
    p->mass_bar += by * (va.x * vb.x + va.y * vb.y + va.z * vb.z);
    const vec4 u[3] = {by * wa.x, by * wa.y, by * wa.z}, w[3] = {wb.x, wb.y, wb.z};
    TI_UNROLL for (int i = 0; i < 3; i++) TI_UNROLL for (int j = 0; j < 3; j++) p->I_bar.m[i][j] += u[i] * w[j];
    ti_vec_4 one = ti_4_cross(&vb, &a->w), other = ti_4_cross(&va, &b->w), both = ti_4_plus(&one, &other);
    p->xc_bar = ti_4_axpy(&p->xc_bar, &by_mass, &both);
    ti_vec_4 Ia = ti_4_mul(&p->I, &wa), Ib = ti_4_mul(&p->I, &wb); /* wa = R'a: it turns the other way */
    one = ti_4_cross(&Ib, &wa), other = ti_4_cross(&Ia, &wb), both = ti_4_plus(&one, &other);
    p->th_bar = ti_4_axpy(&p->th_bar, &by, &both);
}

TI_INLINE ti_vec ti_4_lane(const ti_vec_4 *a, int k) {
    return (ti_vec){a->x[k], a->y[k], a->z[k]};
}
TI_INLINE void ti_4_pairs_end(const ti_pairs_4 *p, const ti_four *four, ti_motion_bar *bar) {
    TI_UNROLL for (int k = 0; k < LANE; k++) {
        if (k >= four->n) break;
        ti_link_diff *d = &bar->link[four->body[k]];
        d->mass = p->mass_bar[k], d->xc = ti_4_lane(&p->xc_bar, k), d->th = ti_4_lane(&p->th_bar, k);
        TI_UNROLL for (int i = 0; i < 3; i++) TI_UNROLL for (int j = 0; j < 3; j++) d->I.m[i][j] = p->I_bar.m[i][j][k];
    }
}

#endif
