/* panel.c -- see panel.h: of free bodies, whose blocks are all six wide. Loops run over the directions of a panel, so
 * they vectorise. */
#include "contact/reverse/panel.h"
#include "contact/system/blocks.h"
#include "contact/work/workspace.h"
#include "math/clones.h"
#include <math.h>

/* Eight directions; a row of a panel is three of them. */
typedef double lane __attribute__((vector_size(64), aligned(8), may_alias));
enum { N = TI_PANEL, LANES = TI_PANEL / 8, W = TI_COMMON };

TI_INLINE lane *row_of(double *X, int r) {
    return (lane *)(void *)(X + N * (size_t)r);
}
TI_INLINE const lane *row_in(const double *X, int r) {
    return (const lane *)(const void *)(X + N * (size_t)r);
}

/* C (3) += J (3,6) X (6,N) */
TI_INLINE void rows_times(const double *J, const double *X, lane (*C)[LANES]) {
    for (int r = 0; r < 3; r++)
        for (int j = 0; j < W; j++)
            for (int c = 0; c < LANES; c++) C[r][c] += J[r * W + j] * row_in(X, j)[c];
}

/* Y (6,N) += J' L, J (3,6) */
TI_INLINE void columns_times(const double *J, lane (*L)[LANES], double *Y) {
    for (int j = 0; j < W; j++) {
        lane *y = row_of(Y, j);
        for (int c = 0; c < LANES; c++) y[c] += J[j] * L[0][c] + J[W + j] * L[1][c] + J[2 * W + j] * L[2][c];
    }
}

/* L = -D C */
TI_INLINE void less(const double *D, lane (*C)[LANES], lane (*L)[LANES]) {
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < LANES; c++)
            L[r][c] = -(D[3 * r] * C[0][c] + D[3 * r + 1] * C[1][c] + D[3 * r + 2] * C[2][c]);
}

/* L := D R L of contact i, R the small compliance. */
TI_INLINE void times_DR(const ti_contact_ws *ws, const ti_contact_problem *p, int i, lane (*L)[LANES]) {
    const double *D = ws->D + 9 * i;
    const ti_law_compliance R = ti_contact_small(p, i, ws->at.compliance);
    for (int c = 0; c < LANES; c++) {
        lane t0 = R.t * L[0][c], t1 = R.t * L[1][c], n = R.n * L[2][c];
        for (int r = 0; r < 3; r++) L[r][c] = D[3 * r] * t0 + D[3 * r + 1] * t1 + D[3 * r + 2] * n;
    }
}

/* Y += J' L with L = -D (J X + dc), contact by contact. X NULL = 0: then only contacts of the blocks blk matter, all
 * of them where that is NULL. dc NULL = 0. */
TI_INLINE void impulses(const ti_contact_ws *ws, const ti_contact_problem *p, const int *blk, const double *X,
                        const double *dc, double *Y) {
    for (int i = 0; i < p->nc; i++) {
        const double *D = ws->D + 9 * i, *J = p->J + p->joff[i];
        int a = p->a[i], b = p->b[i], sides = b >= 0 ? 2 : 1;
        if (!X && blk && a != blk[0] && b != blk[0] && a != blk[1] && b != blk[1]) continue;
        lane C[3][LANES], L[3][LANES];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < LANES; c++) C[r][c] = dc ? row_in(dc, 3 * i + r)[c] : (lane){0};
        for (int side = 0; X && side < sides; side++)
            rows_times(J + 3 * W * side, X + (size_t)N * (size_t)p->voff[side ? b : a], C);
        less(D, C, L);
        for (int side = 0; side < sides; side++)
            columns_times(J + 3 * W * side, L, Y + (size_t)N * (size_t)p->voff[side ? b : a]);
    }
}

/* X := A^-1 X for a block of six, padded to eight. */
TI_INLINE void solve_six(const double *LU, const int *pivot, double *X) {
    lane x[6][LANES];
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < LANES; c++) x[r][c] = row_in(X, r)[c];
    for (int k = 0; k < 6; k++)
        for (int c = 0; pivot[k] != k && c < LANES; c++) {
            lane t = x[k][c];
            x[k][c] = x[pivot[k]][c], x[pivot[k]][c] = t;
        }
    for (int r = 1; r < 6; r++)
        for (int k = 0; k < r; k++)
            for (int c = 0; c < LANES; c++) x[r][c] -= LU[r * 8 + k] * x[k][c];
    for (int r = 5; r >= 0; r--) {
        for (int k = r + 1; k < 6; k++)
            for (int c = 0; c < LANES; c++) x[r][c] -= LU[r * 8 + k] * x[k][c];
        for (int c = 0; c < LANES; c++) x[r][c] *= LU[r * 8 + r], row_of(X, r)[c] = x[r][c];
    }
}

/* Y (6,N) -= A (6,6) X (6,N) */
TI_INLINE void product_sub(const double *A, int ld, const double *X, double *Y) {
    for (int i = 0; i < 6; i++) {
        lane sum[LANES];
        for (int c = 0; c < LANES; c++) sum[c] = row_of(Y, i)[c];
        for (int l = 0; l < 6; l++)
            for (int c = 0; c < LANES; c++) sum[c] -= A[i * ld + l] * row_in(X, l)[c];
        for (int c = 0; c < LANES; c++) row_of(Y, i)[c] = sum[c];
    }
}

/* X := K^-1 X as ti_system_solve(). */
TI_INLINE void solve(const ti_system *s, double *X) {
    for (int k = 0; k < s->nblk; k++) {
        int pivot = s->order[k];
        double *x = X + (size_t)N * (size_t)s->voff[pivot];
        solve_six(s->val + s->diag[pivot], s->pivot + s->voff[pivot], x);
        for (int e = s->start[k]; e < s->start[k + 1]; e++)
            product_sub(s->val + s->lower[e], 8, x, X + (size_t)N * (size_t)s->voff[s->neighbour[e]]);
    }
    for (int k = s->nblk - 1; k >= 0; k--)
        for (int e = s->start[k]; e < s->start[k + 1]; e++)
            product_sub(s->val + s->upper[e], 8, X + (size_t)N * (size_t)s->voff[s->neighbour[e]],
                        X + (size_t)N * (size_t)s->voff[s->order[k]]);
}

/* Y = r - M X */
TI_INLINE void momentum(const ti_contact_problem *p, const double *r, const double *X, double *Y) {
    memcpy(Y, r, sizeof *Y * N * (size_t)p->nv);
    for (int k = 0; k < p->nblk; k++) {
        size_t at = (size_t)N * (size_t)p->voff[k];
        product_sub(p->M + p->moff[k], 6, X + at, Y + at);
    }
}

/* What a panel is solved from and into. */
typedef struct equations {
    const int *blk;
    double *r;
    const double *dc;
    double *X, *rest;
} equations;

/* X += rest; the relative size of rest in the norm of the energy, of the worst column. */
TI_INLINE double add(const ti_contact_ws *ws, int nv, const double *rest, double *X) {
    double worst = 0;
    for (int c = 0; c < LANES; c++) {
        lane size = {0}, whole = {0};
        for (int k = 0; k < nv; k++) {
            lane d = row_in(rest, k)[c], x = row_of(X, k)[c] += d;
            size += ws->mass[k] * d * d, whole += ws->mass[k] * x * x;
        }
        for (int e = 0; e < 8; e++) /* NaN stays */
            if (worst == worst && !(size[e] <= worst * whole[e])) worst = size[e] / whole[e];
    }
    return sqrt(worst);
}

/* One refinement of K X = r - J'D dc, as in ti_contact_jvp(): impulses from X, the residual of the momentum row, its
 * solution added. */
TI_INLINE double refine(const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    momentum(p, e->r, e->X, e->rest);
    impulses(ws, p, e->blk, e->X, e->dc, e->rest);
    solve(&ws->sys, e->rest);
    return add(ws, p->nv, e->rest, e->X);
}

/* K X = r - J'D dc, refined once. */
TI_CLONES_WIDE static double begin(const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    memcpy(e->X, e->r, sizeof *e->X * N * (size_t)p->nv);
    if (e->dc) impulses(ws, p, e->blk, NULL, e->dc, e->X);
    solve(&ws->sys, e->X);
    return refine(ws, p, e);
}
TI_CLONES_WIDE static double again(const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    return refine(ws, p, e);
}

/* to += J' D R x of contact i, x what of its impulses has not been taken back yet: all, or, last not NULL, what that
 * added to X the last time. */
TI_INLINE void give_way(const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e, int i,
                        const double *last, double *to) {
    const double *D = ws->D + 9 * i, *J = p->J + p->joff[i];
    int blk[2] = {p->a[i], p->b[i]}, sides = blk[1] >= 0 ? 2 : 1;
    lane C[3][LANES], E[3][LANES] = {{{0}}}, x[3][LANES], more[3][LANES];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < LANES; c++) C[r][c] = e->dc ? row_in(e->dc, 3 * i + r)[c] : (lane){0};
    for (int side = 0; side < sides; side++) {
        size_t at = (size_t)N * (size_t)p->voff[blk[side]];
        rows_times(J + 3 * W * side, e->X + at, C);
        if (last) rows_times(J + 3 * W * side, last + at, E);
    }
    for (int r = 0; last && r < 3; r++)
        for (int c = 0; c < LANES; c++) C[r][c] -= E[r][c];
    less(D, C, x);
    times_DR(ws, p, i, x);
    if (last) {
        less(D, E, more);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < LANES; c++) x[r][c] += more[r][c];
        times_DR(ws, p, i, x);
    }
    for (int side = 0; side < sides; side++)
        columns_times(J + 3 * W * side, x, to + (size_t)N * (size_t)p->voff[blk[side]]);
}

/* X of no compliance, where the point stands alone, once or twice: docs/math.md eq. (463). */
TI_CLONES_WIDE static void take_back(const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    const double *last = NULL;
    double *more = e->rest; /* r has served by then */
    for (int n = 0; n < ws->alone; n++, last = e->rest, more = e->r) {
        memset(more, 0, sizeof *more * N * (size_t)p->nv);
        for (int i = 0; i < p->nc; i++) give_way(ws, p, e, i, last, more);
        solve(&ws->sys, more);
        for (size_t k = 0; k < (size_t)N * (size_t)p->nv; k++) e->X[k] += more[k];
    }
}

/* The error that is left, at most, and a correction that leaves nothing whatever the rate. */
static const double settled = 1e-12, exact = 1e-10;

/* Where the first correction is not small, single columns cost less. */
static bool solve_free(ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    static const double little = 1e-7;
    double change = begin(ws, p, e);
    if (change > exact && change <= little) change = again(ws, p, e);
    return change <= exact;
}

/* Where that is not exact enough: column by column by ti_contact_jvp(). */
static void one_by_one(ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    double *r = ws->v1, *dc = ws->l1, *dv = ws->v2, *dlambda = ws->l2;
    for (int c = 0; c < N; c++) {
        bool any = false;
        for (int k = 0; k < p->nv; k++) r[k] = e->r[(size_t)N * k + c], any = any || r[k] != 0;
        for (int k = 0; k < 3 * p->nc; k++) dc[k] = e->dc ? e->dc[(size_t)N * k + c] : 0, any = any || dc[k] != 0;
        if (!any) continue;
        ti_contact_jvp(ws, p, 1, r, dc, NULL, dv, dlambda);
        for (int k = 0; k < p->nv; k++) e->X[(size_t)N * k + c] = dv[k];
    }
}

void ti_contact_panel(ti_contact_ws *ws, const ti_contact_problem *p, const int *blk, double *r, const double *dc,
                      double *X, double *rest) {
    const equations e = {blk, r, dc, X, rest};
    if (ws->sys.six && solve_free(ws, p, &e)) {
        take_back(ws, p, &e);
        ws->linear_residual = ti_max(ws->linear_residual, settled);
    } else
        one_by_one(ws, p, &e);
}
