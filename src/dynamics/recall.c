/* recall.c -- see recall.h. Of a tree, one after the other: places and inertias of links, axes, the inertia and its
 * factor along the ways to the root, velocities, and what few numbers have. What each number carries is summed up
 * again, which is less than to read it. */
#include "dynamics/recall.h"
#include "dynamics/link.h"
#include "dynamics/tree.h"
#include <string.h>

enum {
    PLACE = 19,
    INERTIA = sizeof(ti_spatial_inertia) / sizeof(double),
    VELOCITIES = 2,
    FEW = sizeof(ti_few_symbols) / sizeof(double)
};

/* Links that joints place, or welds. */
static int first_placed(const ti_tree *tree) {
    return tree->body0 + tree->rooted;
}

static size_t kept_of(const ti_tree *tree) {
    size_t nb = (size_t)tree->nbody, nv = (size_t)tree->nv;
    return (PLACE + INERTIA) * nb + (TI_TWIST + VELOCITIES) * nv + 2 * (size_t)tree->ways + (tree->few ? FEW : 0);
}

size_t ti_recall_size(const tribo_model *model) {
    size_t n = 0;
    for (int t = 0; model->chains && t < model->ntree; t++)
        if (!model->tree[t].single) n += kept_of(&model->tree[t]);
    return n;
}

/* ---- both ways: n numbers, and where the next go or come from ---- */

static inline double *put(double *to, const void *from, size_t n) {
    memcpy(to, from, n * sizeof *to);
    return to + n;
}

static inline const double *take(const double *from, void *to, size_t n) {
    memcpy(to, from, n * sizeof *from);
    return from + n;
}

static double *keep_place(const ti_link *l, double *to) {
    to = put(to, l->quat, 4), to = put(to, &l->R, 9);
    return put(put(to, &l->xo, 3), &l->xc, 3);
}

static const double *recall_place(ti_link *l, const double *from) {
    from = take(from, l->quat, 4), from = take(from, &l->R, 9);
    return take(take(from, &l->xo, 3), &l->xc, 3);
}

/* Row by row: of the factor a row as it is, of the inertia what stands on the way, run by run. */
static double *keep_ways(const ti_motion *m, const ti_tree *tree, double *to) {
    const ti_dof *dof = m->model->dof + tree->v;
    for (int k = 0; k < tree->nv; k++) {
        size_t row = tree->M + (size_t)(k * tree->nv);
        to = put(to, m->factor + row, (size_t)dof[k].depth);
        for (int e = k; e >= 0; e = dof[e].on - tree->v) *to++ = m->M[row + (size_t)e];
    }
    return to;
}

static const double *recall_ways(ti_motion *m, const ti_tree *tree, const double *from) {
    const ti_dof *dof = m->model->dof + tree->v;
    for (int k = 0, w = tree->nv; k < w; k++) {
        size_t row = tree->M + (size_t)(k * w);
        from = take(from, m->factor + row, (size_t)dof[k].depth);
        double *M = m->M + tree->M;
        for (int e = k; e >= 0; e = dof[e].on - tree->v) M[k * w + e] = M[e * w + k] = *from++;
    }
    return from;
}

static double *keep_tree(const ti_motion *m, const ti_tree *tree, double *to) {
    size_t nv = (size_t)tree->nv;
    double *next = to + kept_of(tree);
    for (int b = first_placed(tree); b < tree->body0 + tree->nbody; b++) to = keep_place(&m->link[b], to);
    to = put(to, m->inertia + tree->body0, INERTIA * (size_t)tree->nbody);
    to = put(to, m->axis + tree->v, TI_TWIST * nv);
    to = keep_ways(m, tree, to);
    to = put(to, m->free + tree->v, nv), to = put(to, m->middle + tree->v, nv);
    if (tree->few) put(to, &m->few[tree - m->model->tree], FEW);
    return next;
}

void ti_recall_keep(const ti_motion *m, double *known) {
    for (int t = 0; m->model->chains && t < m->model->ntree; t++)
        if (!m->model->tree[t].single) known = keep_tree(m, &m->model->tree[t], known);
}

const double *ti_tree_recall(ti_motion *m, int t, const double *p, const double *q, const double *v, const double *u,
                             const double *known) {
    const tribo_model *model = m->model;
    const ti_tree *tree = &model->tree[t];
    const ti_body *root = &model->body[tree->body0];
    const double *next = known + kept_of(tree);
    size_t nv = (size_t)tree->nv;
    if (tree->rooted) {
        ti_link *l = &m->link[tree->body0];
        ti_link_load(l, p + root->p, q + root->q, v + root->v, u ? u + root->v : NULL);
        l->substeps = 1;
    }
    for (int b = first_placed(tree); b < tree->body0 + tree->nbody; b++) {
        ti_link_matter(&m->link[b], p + model->body[b].p);
        known = recall_place(&m->link[b], known);
    }
    known = take(known, m->inertia + tree->body0, INERTIA * (size_t)tree->nbody);
    known = take(known, m->axis + tree->v, TI_TWIST * nv);
    known = recall_ways(m, tree, known);
    known = take(known, m->free + tree->v, nv), known = take(known, m->middle + tree->v, nv);
    if (tree->few) take(known, &m->few[t], FEW);
    if (tree->rooted) ti_tree_root_now(m, t, v, u); /* asks where all links are */
    for (int d = tree->v + (tree->rooted ? TI_FREE_NV : 0); d < tree->v + tree->nv; d++) m->now[d] = v[d];
    m->q = q, m->u = u;
    ti_tree_carry(m, tree);
    if (model->fluid) ti_tree_speeds(m, t);
    return next;
}
