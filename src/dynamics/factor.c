/* factor.c -- the inertia of a model: as a matrix, times a vector, and solved by its sparse factor; each reverse stands
 * below its function. docs/math.md eq. (151), (333). */
#include "dynamics/dynamics.h"
#include "dynamics/tree.h"

/* M_bar += s a b', vectors of the whole model: places, matter, armature. */
static void outer_bar(tribo_dynamics *d, double s, const double *a, const double *b, double *p_bar) {
    for (int t = 0; t < d->m->ntree; t++)
        ti_tree_inertia_vjp(&d->at, t, s, a + d->m->tree[t].v, b + d->m->tree[t].v, &d->bar);
    for (int k = 0; p_bar && k < d->m->size.nv; k++) {
        const ti_joint *j = &d->m->joint[d->m->dof[k].joint];
        if (j->kind != TI_JOINT_FREE) p_bar[j->p + TI_P_ARMATURE] += s * a[k] * b[k];
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

/* Row by row, as the tree has entries. */
static void times(const tribo_dynamics *d, const double *in, double *out) {
    const ti_dof *dof = d->m->dof;
    for (int t = 0; t < d->m->ntree; t++) {
        const ti_tree *tree = &d->m->tree[t];
        const double *row = d->at.M + tree->M;
        for (int k = tree->v; k < tree->v + tree->nv; k++, row += tree->nv) {
            double sum = row[k - tree->v] * in[k];
            for (int e = dof[k].before; e >= 0; e = dof[e].before) {
                sum += row[e - tree->v] * in[e];
                out[e] += row[e - tree->v] * in[k];
            }
            out[k] = sum; /* what it carries comes later */
        }
    }
}

tribo_status tribo_inertia_times(tribo_dynamics *d, const double *in, double *out) {
    if (!ti_dynamics_ready(d) || !in || !out) return TRIBO_E_ARG;
    ti_dynamics_sum(d);
    times(d, in, out);
    return TRIBO_OK;
}

tribo_status tribo_inertia_times_vjp(tribo_dynamics *d, const double *in, const double *out_bar, double *in_bar,
                                     double *q_bar, double *p_bar) {
    if (!ti_dynamics_ready(d) || !in || !out_bar) return TRIBO_E_ARG;
    ti_dynamics_begin(d);
    ti_dynamics_sum(d);
    outer_bar(d, 1, out_bar, in, p_bar);
    times(d, out_bar, d->work);
    for (int k = 0; in_bar && k < d->m->size.nv; k++) in_bar[k] += d->work[k];
    ti_dynamics_end(d, q_bar, p_bar);
    return TRIBO_OK;
}

/* ---- M = L'DL ---- */

/* From the leaves up: what a number leaves to those before it. No entry appears that M has not. */
static bool factor_tree(const tribo_dynamics *d, const ti_tree *tree) {
    const ti_dof *dof = d->m->dof + tree->v;
    const double *M = d->at.M + tree->M;
    double *L = d->at.factor + tree->M;
    int w = tree->nv, v0 = tree->v;
    for (int k = 0; k < w; k++)
        for (int e = k; e >= 0; e = dof[e].before - v0) L[k * w + e] = M[k * w + e];
    for (int k = w - 1; k >= 0; k--) {
        double *row = L + k * w;
        if (!(row[k] > 1e-15 * M[k * w + k])) return false;
        for (int i = dof[k].before - v0; i >= 0; i = dof[i].before - v0) {
            double share = row[i] / row[k], *to = L + i * w;
            for (int j = i; j >= 0; j = dof[j].before - v0) to[j] -= share * row[j];
            row[i] = share;
        }
    }
    return true;
}

static bool factor(tribo_dynamics *d) {
    if (d->factored) return true;
    ti_dynamics_sum(d);
    for (int t = 0; t < d->m->ntree; t++)
        if (!factor_tree(d, &d->m->tree[t])) return false;
    d->factored = true;
    return true;
}

static void solve_tree(const tribo_dynamics *d, const ti_tree *tree, double *x) {
    const ti_dof *dof = d->m->dof + tree->v;
    const double *L = d->at.factor + tree->M;
    int w = tree->nv, v0 = tree->v;
    for (int k = w - 1; k >= 0; k--)
        for (int e = dof[k].before - v0; e >= 0; e = dof[e].before - v0) x[e] -= L[k * w + e] * x[k];
    for (int k = 0; k < w; k++) {
        double sum = x[k] / L[k * w + k];
        for (int e = dof[k].before - v0; e >= 0; e = dof[e].before - v0) sum -= L[k * w + e] * x[e];
        x[k] = sum;
    }
}

tribo_status tribo_inertia_solve(tribo_dynamics *d, const double *in, double *out) {
    if (!ti_dynamics_ready(d) || !in || !out) return TRIBO_E_ARG;
    if (!factor(d)) return TRIBO_E_SINGULAR;
    if (out != in) memcpy(out, in, sizeof *out * (size_t)d->m->size.nv);
    for (int t = 0; t < d->m->ntree; t++) solve_tree(d, &d->m->tree[t], out + d->m->tree[t].v);
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
