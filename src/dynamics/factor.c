/* factor.c -- the inertia of a model: as a matrix, times a vector, and solved by its sparse factor; each reverse stands
 * below its function. docs/math.md eq. (151), (333). */
#include "dynamics/branch.h"
#include "dynamics/dynamics.h"
#include "dynamics/tree.h"

/* M_bar += s a b', vectors of the whole model: places, matter, armature. */
static void outer_bar(tribo_dynamics *d, double s, const double *a, const double *b, double *p_bar) {
    for (int t = 0; t < d->m->ntree; t++)
        ti_tree_inertia_vjp(&d->at, t, s, a + d->m->tree[t].v, b + d->m->tree[t].v, &d->bar);
    for (int k = 0; p_bar && k < d->m->size.nv; k++) {
        const ti_joint *j = &d->m->joint[d->m->dof[k].joint];
        if (j->p >= 0) p_bar[j->p + TI_P_ARMATURE] += s * a[k] * b[k];
    }
}

tribo_status tribo_inertia(tribo_dynamics *d, double *M) {
    if (!ti_dynamics_ready(d) || !M) return TRIBO_E_ARG;
    size_t nv = (size_t)d->m->size.nv;
    ti_dynamics_sum(d);
    memset(M, 0, sizeof *M * nv * nv);
    for (int t = 0; t < d->m->ntree; t++) {
        const ti_tree *tree = &d->m->tree[t];
        size_t w = (size_t)tree->nv, at = (size_t)tree->v;
        for (size_t r = 0; r < w; r++) memcpy(M + (at + r) * nv + at, d->at.M + tree->M + r * w, sizeof *M * w);
    }
    return TRIBO_OK;
}

tribo_status tribo_inertia_vjp(tribo_dynamics *d, const double *M_bar, double *q_bar, double *p_bar) {
    if (!ti_dynamics_ready(d) || !M_bar) return TRIBO_E_ARG;
    ti_dynamics_begin(d);
    ti_dynamics_sum(d);
    for (int k = 0; k < d->m->size.nv; k++) {
        d->zero[k] = 1;
        outer_bar(d, 1, d->zero, M_bar + (size_t)k * (size_t)d->m->size.nv, p_bar);
        d->zero[k] = 0;
    }
    ti_dynamics_end(d, q_bar, p_bar);
    return TRIBO_OK;
}

static void times_all(const tribo_dynamics *d, const double *in, double *out) {
    for (int t = 0; t < d->m->ntree; t++) {
        const ti_tree *tree = &d->m->tree[t];
        ti_branch_times(d->m->dof + tree->v, tree->v, tree->nv, d->at.M + tree->M, in + tree->v, out + tree->v);
    }
}

tribo_status tribo_inertia_times(tribo_dynamics *d, const double *in, double *out) {
    if (!ti_dynamics_ready(d) || !in || !out) return TRIBO_E_ARG;
    ti_dynamics_sum(d);
    times_all(d, in, out);
    return TRIBO_OK;
}

tribo_status tribo_inertia_times_vjp(tribo_dynamics *d, const double *in, const double *out_bar, double *in_bar,
                                     double *q_bar, double *p_bar) {
    if (!ti_dynamics_ready(d) || !in || !out_bar) return TRIBO_E_ARG;
    ti_dynamics_begin(d);
    ti_dynamics_sum(d);
    outer_bar(d, 1, out_bar, in, p_bar);
    times_all(d, out_bar, d->work);
    for (int k = 0; in_bar && k < d->m->size.nv; k++) in_bar[k] += d->work[k];
    ti_dynamics_end(d, q_bar, p_bar);
    return TRIBO_OK;
}

/* ---- M = L'DL ---- */

static bool factor(tribo_dynamics *d) {
    if (d->factored) return true;
    ti_dynamics_sum(d);
    for (int t = 0; t < d->m->ntree; t++) {
        const ti_tree *tree = &d->m->tree[t];
        double *M = d->at.M + tree->M, *factor = d->at.factor + tree->M;
        if (!ti_branch_factor(d->m->dof + tree->v, tree->v, tree->nv, M, factor)) return false;
    }
    d->factored = true;
    return true;
}

tribo_status tribo_inertia_solve(tribo_dynamics *d, const double *in, double *out) {
    if (!ti_dynamics_ready(d) || !in || !out) return TRIBO_E_ARG;
    if (!factor(d)) return TRIBO_E_SINGULAR;
    if (out != in) memcpy(out, in, sizeof *out * (size_t)d->m->size.nv);
    for (int t = 0; t < d->m->ntree; t++) {
        const ti_tree *tree = &d->m->tree[t];
        ti_branch_solve(d->m->dof + tree->v, tree->v, tree->nv, d->at.factor + tree->M, out + tree->v);
    }
    return TRIBO_OK;
}

/* With y = M^-1 out_bar: in_bar += y, M_bar -= y out'. */
tribo_status tribo_inertia_solve_vjp(tribo_dynamics *d, const double *out, const double *out_bar, double *in_bar,
                                     double *q_bar, double *p_bar) {
    if (!ti_dynamics_ready(d) || !out || !out_bar) return TRIBO_E_ARG;
    tribo_status status = tribo_inertia_solve(d, out_bar, d->work);
    if (status != TRIBO_OK) return status;
    ti_dynamics_begin(d);
    outer_bar(d, -1, d->work, out, p_bar);
    for (int k = 0; in_bar && k < d->m->size.nv; k++) in_bar[k] += d->work[k];
    ti_dynamics_end(d, q_bar, p_bar);
    return TRIBO_OK;
}
