/* panel_six.c -- the steps of panel_passes.c where every block is a free body. */
#include "contact/reverse/panel_lanes.h"
#include "contact/system/blocks.h"

enum { W = TI_COMMON };

TI_INLINE void impulses(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, const ti_panel_equations *e,
                        int time, double *to) {
    for (int i = 0; i < p->nc; i++) impulse(lanes, TI_PANEL_SIX, ws, p, i, e, time, to);
}

/* X := A'^-1 X for a block of six, padded to eight. */
TI_INLINE void solve_block(int lanes, const double *LU, const int *pivot, double *X) {
    lane x[W][LANES];
    for (int r = 0; r < W; r++)
        for (int c = 0; c < lanes; c++) x[r][c] = row_in(X, r)[c];
    for (int r = 0; r < W; r++) {
        for (int k = 0; k < r; k++)
            for (int c = 0; c < lanes; c++) x[r][c] -= LU[k * 8 + r] * x[k][c];
        for (int c = 0; c < lanes; c++) x[r][c] *= LU[r * 8 + r];
    }
    for (int r = W - 2; r >= 0; r--)
        for (int k = r + 1; k < W; k++)
            for (int c = 0; c < lanes; c++) x[r][c] -= LU[k * 8 + r] * x[k][c];
    for (int k = W - 1; k >= 0; k--)
        for (int c = 0; pivot[k] != k && c < lanes; c++) {
            lane t = x[k][c];
            x[k][c] = x[pivot[k]][c], x[pivot[k]][c] = t;
        }
    for (int r = 0; r < W; r++)
        for (int c = 0; c < lanes; c++) row_of(X, r)[c] = x[r][c];
}

/* Y (6) -= A' X, A (6,8) */
TI_INLINE void product_sub(int lanes, const double *A, const double *X, double *Y) {
    for (int i = 0; i < W; i++) {
        lane sum[LANES];
        for (int c = 0; c < lanes; c++) sum[c] = row_in(Y, i)[c];
        for (int l = 0; l < W; l++)
            for (int c = 0; c < lanes; c++) sum[c] -= A[8 * l + i] * row_in(X, l)[c];
        for (int c = 0; c < lanes; c++) row_of(Y, i)[c] = sum[c];
    }
}

TI_INLINE double *block_of(const ti_system *s, double *X, int blk) {
    return X + (size_t)N * (size_t)s->voff[blk];
}

/* X := K'^-1 X as ti_system_solve_t(). */
TI_INLINE void solve(int lanes, const ti_system *s, double *X) {
    for (int k = 0; k < s->nblk; k++)
        for (int e = s->start[k]; e < s->start[k + 1]; e++)
            product_sub(lanes, s->val + s->upper[e], block_of(s, X, s->order[k]), block_of(s, X, s->neighbour[e]));
    for (int k = s->nblk - 1; k >= 0; k--) {
        int at = s->order[k];
        double *x = block_of(s, X, at);
        for (int e = s->start[k]; e < s->start[k + 1]; e++)
            product_sub(lanes, s->val + s->lower[e], block_of(s, X, s->neighbour[e]), x);
        solve_block(lanes, s->val + s->diag[at], s->pivot + s->voff[at], x);
    }
}

/* to -= M Y, M mostly zeros. */
TI_INLINE void take_momentum(int lanes, const ti_contact_problem *p, const double *Y, double *to) {
    for (int k = 0; k < p->nblk; k++)
        for (int i = 0; i < W; i++)
            for (int l = 0; l < W; l++) {
                double m = p->M[p->moff[k] + W * i + l];
                for (int c = 0; m != 0 && c < lanes; c++)
                    row_of(to, p->voff[k] + i)[c] -= m * row_in(Y, p->voff[k] + l)[c];
            }
}

TI_INLINE double correct(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, const ti_panel_equations *e,
                         int time) {
    memcpy(e->rest, e->b, sizeof *e->rest * N * (size_t)p->nv);
    take_momentum(lanes, p, e->Y, e->rest);
    impulses(lanes, ws, p, e, time, e->rest);
    solve(lanes, &ws->sys, e->rest);
    return add(lanes, ws, p->nv, e);
}

TI_INLINE double begin(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, const ti_panel_equations *e,
                       int time) {
    memcpy(e->Y, e->b, sizeof *e->Y * N * (size_t)p->nv);
    solve(lanes, &ws->sys, e->Y);
    return correct(lanes, ws, p, e, time);
}

TI_INLINE double finish(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, const ti_panel_equations *e,
                        int time) {
    (void)time;
    for (int i = 0; i < p->nc; i++) impulse_of_rest(lanes, TI_PANEL_SIX, ws, p, i, e);
    return 0;
}

/* Where contacts are redundant, what J Y rounds over a small compliance leaves more than the rate says. */
TI_PANEL_STEPS(ti_panel_six, false)
