/* panel_trees.c -- the steps of panel_passes.c along the ways of trees. Loops run over the directions of a panel, so
 * they vectorise; of its three eights those that are asked for. */
#include "contact/reverse/panel_lanes.h"
#include "math/lanes.h"

/* impulse() of what has one entry, in its third row. */
TI_INLINE void joint_impulse(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, int i,
                             const ti_panel_equations *e, int time, double *to) {
    int a = p->a[i], own = p->support[2 * i].column[0], at = p->voff[a] + own;
    double J = p->J[p->joff[i] + 2 * p->width[a] + own], D = ws->D[9 * i + 8];
    double R = ti_contact_small(p, i, ws->at.compliance).n, *given = e->given + (size_t)N * (size_t)(3 * i + 2);
    bool gave = time > 1 && ws->alone > 0;
    for (int c = 0; c < lanes; c++) {
        lane before = {0};
        if (gave) before = row_of(given, 0)[c];
        lane l = -(D * (J * row_in(e->Y, at)[c] - before));
        if (time <= ws->alone) {
            lane all = R * l;
            l += D * (all - before), row_of(given, 0)[c] = all;
        }
        row_of(e->L, 3 * i)[c] = row_of(e->L, 3 * i + 1)[c] = (lane){0};
        row_of(e->L, 3 * i + 2)[c] = l;
        row_of(to, at)[c] += J * l;
    }
}

TI_INLINE bool is_joint(const ti_contact_problem *p, int i) {
    return p->b[i] < 0 && p->support[2 * i].joint;
}

TI_INLINE void impulses(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, const ti_panel_equations *e,
                        int time, double *to) {
    for (int i = 0; i < p->nc; i++)
        if (is_joint(p, i))
            joint_impulse(lanes, ws, p, i, e, time, to);
        else
            impulse(lanes, TI_PANEL_ANY, ws, p, i, e, time, to);
}

/* L -= D' J rest */
TI_INLINE void impulses_of_rest(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p,
                                const ti_panel_equations *e) {
    for (int i = 0; i < p->nc; i++) {
        if (!is_joint(p, i)) {
            impulse_of_rest(lanes, TI_PANEL_ANY, ws, p, i, e);
            continue;
        }
        int a = p->a[i], own = p->support[2 * i].column[0], at = p->voff[a] + own;
        double J = p->J[p->joff[i] + 2 * p->width[a] + own], D = ws->D[9 * i + 8];
        for (int c = 0; c < lanes; c++) row_of(e->L, 3 * i + 2)[c] += -(D * (J * row_in(e->rest, at)[c]));
    }
}

/* From the leaves up. */
TI_INLINE void climb(int lanes, const ti_paths *s, double *X) {
    for (int e = 0; e < s->n; e++) {
        int k = s->order[e], n = s->depth[k] - 1;
        const double *u = s->lower + s->at[k];
        const int *way = s->list + s->way[k];
        lane x[LANES];
        for (int c = 0; c < lanes; c++) x[c] = row_in(X, k)[c];
        for (int a = 0; a < n; a++)
            for (int c = 0; c < lanes; c++) row_of(X, way[a])[c] -= u[a] * x[c];
    }
}

/* The same of what begins with zeros, eight by eight: unit columns, of which few are below a number. */
TI_INLINE void climb_some(int lanes, const ti_paths *s, double *X) {
    for (int e = 0; e < s->n; e++) {
        int k = s->order[e], n = s->depth[k] - 1, one;
        const double *u = s->lower + s->at[k];
        const int *way = s->list + s->way[k];
        for (int c = 0; c < lanes; c++) {
            if (!ti_lanes_rows(X + 8 * c, N, k, k + 1, &one)) continue;
            lane x = row_in(X, k)[c];
            for (int a = 0; a < n; a++) row_of(X, way[a])[c] -= u[a] * x;
        }
    }
}

/* ... and down again. */
TI_INLINE void descend(int lanes, const ti_paths *s, double *X) {
    const double *rows = s->symmetric ? s->lower : s->upper;
    for (int e = s->n - 1; e >= 0; e--) {
        int k = s->order[e], n = s->depth[k] - 1;
        const double *l = rows + s->at[k], pivot = s->lower[s->at[k] + n];
        const int *way = s->list + s->way[k];
        lane sum[LANES];
        for (int c = 0; c < lanes; c++) sum[c] = pivot * row_in(X, k)[c];
        for (int a = 0; a < n; a++)
            for (int c = 0; c < lanes; c++) sum[c] -= l[a] * row_in(X, way[a])[c];
        for (int c = 0; c < lanes; c++) row_of(X, k)[c] = sum[c];
    }
}

/* X := K'^-1 X */
TI_INLINE void solve(int lanes, const ti_paths *s, double *X) {
    climb(lanes, s, X);
    descend(lanes, s, X);
}

/* to -= M Y */
TI_INLINE void take_momentum(int lanes, const ti_paths *s, const double *Y, double *to) {
    for (int k = 0; k < s->n; k++) {
        int n = s->depth[k] - 1;
        const double *M = s->M + s->at[k];
        const int *way = s->list + s->way[k];
        lane sum[LANES], y[LANES];
        for (int c = 0; c < lanes; c++) y[c] = row_in(Y, k)[c], sum[c] = M[n] * y[c];
        for (int a = 0; a < n; a++) {
            if (M[a] == 0) continue;
            for (int c = 0; c < lanes; c++) {
                sum[c] += M[a] * row_in(Y, way[a])[c];
                row_of(to, way[a])[c] -= M[a] * y[c];
            }
        }
        for (int c = 0; c < lanes; c++) row_of(to, k)[c] -= sum[c];
    }
}

/* Correction number `time` of K' Y = b: impulses from Y, the residual of the momentum row, its solution added. */
TI_INLINE double correct(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, const ti_panel_equations *e,
                         int time) {
    memcpy(e->rest, e->b, sizeof *e->rest * N * (size_t)p->nv);
    take_momentum(lanes, &ws->sys.paths, e->Y, e->rest);
    impulses(lanes, ws, p, e, time, e->rest);
    solve(lanes, &ws->sys.paths, e->rest);
    return add(lanes, ws, p->nv, e);
}

/* K' Y = b, corrected once. */
TI_INLINE double begin(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, const ti_panel_equations *e,
                       int time) {
    memcpy(e->Y, e->b, sizeof *e->Y * N * (size_t)p->nv);
    climb_some(lanes, &ws->sys.paths, e->Y);
    descend(lanes, &ws->sys.paths, e->Y);
    return correct(lanes, ws, p, e, time);
}

/* L, with the share of the last correction: it keeps the digits that D times J Y would lose. */
TI_INLINE double finish(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, const ti_panel_equations *e,
                        int time) {
    (void)time;
    impulses_of_rest(lanes, ws, p, e);
    return 0;
}

TI_PANEL_STEPS(ti_panel_trees, true)
