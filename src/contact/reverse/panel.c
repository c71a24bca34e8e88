/* panel.c -- see panel.h: of free bodies, whose blocks are all six wide. Loops run over the directions of a panel, so
 * they vectorise. */
#include "contact/reverse/panel.h"
#include "base/clones.h"
#include "contact/system/blocks.h"
#include "contact/work/workspace.h"
#include <math.h>

/* Eight directions; a row of a panel is three of them, of which functions do the first n. */
typedef double lane __attribute__((vector_size(64), aligned(8), may_alias));
enum { N = TI_PANEL, LANES = TI_PANEL / 8, W = TI_COMMON };

TI_INLINE lane *row_of(double *X, int r) {
    return (lane *)(void *)(X + N * (size_t)r);
}
TI_INLINE const lane *row_in(const double *X, int r) {
    return (const lane *)(const void *)(X + N * (size_t)r);
}

/* C (3) += J (3,6) X (6,N) */
TI_INLINE void rows_times(int n, const double *J, const double *X, lane (*C)[LANES]) {
    for (int r = 0; r < 3; r++)
        for (int j = 0; j < W; j++)
            for (int c = 0; c < n; c++) C[r][c] += J[r * W + j] * row_in(X, j)[c];
}

/* Y (6,N) += J' L, J (3,6) */
TI_INLINE void columns_times(int n, const double *J, lane (*L)[LANES], double *Y) {
    for (int j = 0; j < W; j++) {
        lane *y = row_of(Y, j);
        for (int c = 0; c < n; c++) y[c] += J[j] * L[0][c] + J[W + j] * L[1][c] + J[2 * W + j] * L[2][c];
    }
}

/* L = -D C */
TI_INLINE void less(int n, const double *D, lane (*C)[LANES], lane (*L)[LANES]) {
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < n; c++) L[r][c] = -(D[3 * r] * C[0][c] + D[3 * r + 1] * C[1][c] + D[3 * r + 2] * C[2][c]);
}

/* L := D R L of contact i, R the small compliance. */
TI_INLINE void times_DR(int n, const ti_contact_ws *ws, const ti_contact_problem *p, int i, lane (*L)[LANES]) {
    const double *D = ws->D + 9 * i;
    const ti_law_compliance R = ti_contact_small(p, i, ws->at.compliance);
    for (int c = 0; c < n; c++) {
        lane t0 = R.t * L[0][c], t1 = R.t * L[1][c], t2 = R.n * L[2][c];
        for (int r = 0; r < 3; r++) L[r][c] = D[3 * r] * t0 + D[3 * r + 1] * t1 + D[3 * r + 2] * t2;
    }
}

/* Y += J' L with L = -D (J X + dc), contact by contact. X NULL = 0: then only contacts of the blocks blk matter. */
TI_INLINE void impulses(int n, const ti_contact_ws *ws, const ti_contact_problem *p, const int *blk, const double *X,
                        const double *dc, double *Y) {
    for (int i = 0; i < p->nc; i++) {
        const double *D = ws->D + 9 * i, *J = p->J + p->joff[i];
        int a = p->a[i], b = p->b[i], sides = b >= 0 ? 2 : 1;
        if (!X && a != blk[0] && b != blk[0] && a != blk[1] && b != blk[1]) continue;
        lane C[3][LANES], L[3][LANES];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < n; c++) C[r][c] = row_in(dc, 3 * i + r)[c];
        for (int side = 0; X && side < sides; side++)
            rows_times(n, J + 3 * W * side, X + (size_t)N * (size_t)p->voff[side ? b : a], C);
        less(n, D, C, L);
        for (int side = 0; side < sides; side++)
            columns_times(n, J + 3 * W * side, L, Y + (size_t)N * (size_t)p->voff[side ? b : a]);
    }
}

/* X := A^-1 X for a block of six, padded to eight. */
TI_INLINE void solve_six(int n, const double *LU, const int *pivot, double *X) {
    lane x[6][LANES];
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < n; c++) x[r][c] = row_in(X, r)[c];
    for (int k = 0; k < 6; k++)
        for (int c = 0; pivot[k] != k && c < n; c++) {
            lane t = x[k][c];
            x[k][c] = x[pivot[k]][c], x[pivot[k]][c] = t;
        }
    for (int r = 1; r < 6; r++)
        for (int k = 0; k < r; k++)
            for (int c = 0; c < n; c++) x[r][c] -= LU[r * 8 + k] * x[k][c];
    for (int r = 5; r >= 0; r--) {
        for (int k = r + 1; k < 6; k++)
            for (int c = 0; c < n; c++) x[r][c] -= LU[r * 8 + k] * x[k][c];
        for (int c = 0; c < n; c++) x[r][c] *= LU[r * 8 + r], row_of(X, r)[c] = x[r][c];
    }
}

/* Y (6,N) -= A (6,6) X (6,N) */
TI_INLINE void product_sub(int n, const double *A, int ld, const double *X, double *Y) {
    for (int i = 0; i < 6; i++) {
        lane sum[LANES];
        for (int c = 0; c < n; c++) sum[c] = row_of(Y, i)[c];
        for (int l = 0; l < 6; l++)
            for (int c = 0; c < n; c++) sum[c] -= A[i * ld + l] * row_in(X, l)[c];
        for (int c = 0; c < n; c++) row_of(Y, i)[c] = sum[c];
    }
}

/* X := K^-1 X as ti_system_solve(). */
TI_INLINE void solve(int n, const ti_system *s, double *X) {
    for (int k = 0; k < s->nblk; k++) {
        int pivot = s->order[k];
        double *x = X + (size_t)N * (size_t)s->voff[pivot];
        solve_six(n, s->val + s->diag[pivot], s->pivot + s->voff[pivot], x);
        for (int e = s->start[k]; e < s->start[k + 1]; e++)
            product_sub(n, s->val + s->lower[e], 8, x, X + (size_t)N * (size_t)s->voff[s->neighbour[e]]);
    }
    for (int k = s->nblk - 1; k >= 0; k--)
        for (int e = s->start[k]; e < s->start[k + 1]; e++)
            product_sub(n, s->val + s->upper[e], 8, X + (size_t)N * (size_t)s->voff[s->neighbour[e]],
                        X + (size_t)N * (size_t)s->voff[s->order[k]]);
}

/* Y = r - M X, M mostly zeros. */
TI_INLINE void momentum(int n, const ti_contact_problem *p, const double *r, const double *X, double *Y) {
    memcpy(Y, r, sizeof *Y * N * (size_t)p->nv);
    for (int k = 0; k < p->nblk; k++)
        for (int i = 0; i < W; i++)
            for (int l = 0; l < W; l++) {
                double m = p->M[p->moff[k] + W * i + l];
                for (int c = 0; m != 0 && c < n; c++) row_of(Y, p->voff[k] + i)[c] -= m * row_in(X, p->voff[k] + l)[c];
            }
}

/* What a panel is solved from and into. */
typedef struct equations {
    const int *blk;
    double *r, *dc, *X, *rest;
} equations;

/* a := b where that is more. */
TI_INLINE void at_least(lane *a, const lane *b) {
    for (int e = 0; e < 8; e++) (*a)[e] = (*b)[e] > (*a)[e] ? (*b)[e] : (*a)[e];
}

/* Squares, in the norm of the energy, of what a correction adds and of what it is added to. */
typedef struct sizes {
    lane added[LANES], whole[LANES];
} sizes;

/* A column that is nothing but rounding, beside what its right-hand side would move without contacts, needs no digits:
 * the square of such a share. */
static const double nothing = 1e-8;

/* whole := that share of what the right-hand sides would move, where that is more. */
TI_INLINE void push(int n, const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e, sizes *of) {
    for (int c = 0; c < n; c++) {
        lane pushed = {0};
        for (int k = 0; k < p->nv; k++) pushed += ws->minv[k] * row_in(e->r, k)[c] * row_in(e->r, k)[c];
        for (int i = 0; i < p->nc; i++) {
            const ti_law_scale *s = ws->scale + i;
            lane t0 = row_in(e->dc, 3 * i)[c], t1 = row_in(e->dc, 3 * i + 1)[c], t2 = row_in(e->dc, 3 * i + 2)[c];
            lane across = s->rho_t * (t0 * t0 + t1 * t1), along = s->rho_n * t2 * t2;
            at_least(&pushed, &across), at_least(&pushed, &along);
        }
        pushed *= nothing;
        at_least(&of->whole[c], &pushed);
    }
}

/* X += rest */
TI_INLINE void add(int n, const ti_contact_ws *ws, int nv, const double *rest, double *X, sizes *of) {
    for (int c = 0; c < n; c++) {
        lane added = {0}, whole = {0};
        for (int k = 0; k < nv; k++) {
            lane d = row_in(rest, k)[c], x = row_of(X, k)[c] += d;
            added += ws->mass[k] * d * d, whole += ws->mass[k] * x * x;
        }
        of->added[c] = added, of->whole[c] = whole;
    }
}

/* Of the worst column. */
TI_INLINE double relative(int n, const sizes *of) {
    double worst = 0;
    for (int c = 0; c < n; c++)
        for (int e = 0; e < 8; e++) /* NaN stays */
            if (worst == worst && !(of->added[c][e] <= worst * of->whole[c][e]))
                worst = of->added[c][e] / of->whole[c][e];
    return sqrt(worst);
}

/* The error that is left, at most, and a correction that leaves nothing whatever the rate. */
static const double settled = 1e-12, exact = 1e-10;

/* One refinement of K X = r - J'D dc, as in ti_contact_jvp(): impulses from X, the residual of the momentum row, its
 * solution added. */
TI_INLINE double refine(int n, const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    sizes of;
    momentum(n, p, e->r, e->X, e->rest);
    impulses(n, ws, p, e->blk, e->X, e->dc, e->rest);
    solve(n, &ws->sys, e->rest);
    add(n, ws, p->nv, e->rest, e->X, &of);
    double change = relative(n, &of);
    if (!(change > exact)) return change;
    push(n, ws, p, e, &of);
    return relative(n, &of);
}

/* dc := D R x of contact i and to += J' dc; x the impulses of X, or, last not NULL, dc and what `last` added to them.
 */
TI_INLINE void give_way(int n, const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e, int i,
                        const double *last, double *to) {
    const double *D = ws->D + 9 * i, *J = p->J + p->joff[i], *moved = last ? last : e->X;
    int blk[2] = {p->a[i], p->b[i]}, sides = blk[1] >= 0 ? 2 : 1;
    lane C[3][LANES], x[3][LANES];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < n; c++) C[r][c] = last ? (lane){0} : row_in(e->dc, 3 * i + r)[c];
    for (int side = 0; side < sides; side++)
        rows_times(n, J + 3 * W * side, moved + (size_t)N * (size_t)p->voff[blk[side]], C);
    less(n, D, C, x);
    for (int r = 0; last && r < 3; r++)
        for (int c = 0; c < n; c++) x[r][c] += row_in(e->dc, 3 * i + r)[c];
    times_DR(n, ws, p, i, x);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < n; c++) row_of(e->dc, 3 * i + r)[c] = x[r][c];
    for (int side = 0; side < sides; side++)
        columns_times(n, J + 3 * W * side, x, to + (size_t)N * (size_t)p->voff[blk[side]]);
}

/* X of no compliance, where the point stands alone, as often as that asks for: docs/math.md eq. (463). */
TI_INLINE void take_back(int n, const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    const double *last = NULL;
    double *more = e->rest, *other = e->r, *spare; /* r and dc have served by then */
    for (int time = 0; time < ws->alone; time++, last = more, spare = other, other = more, more = spare) {
        memset(more, 0, sizeof *more * N * (size_t)p->nv);
        for (int i = 0; i < p->nc; i++) give_way(n, ws, p, e, i, last, more);
        solve(n, &ws->sys, more);
        for (size_t k = 0; k < (size_t)N * (size_t)p->nv; k++) e->X[k] += more[k];
    }
}

/* K X = r - J'D dc of the first n lanes, the others zero. @return false where corrections stay large, or do not get
 * there: single columns cost less then */
TI_INLINE bool solve_lanes(int n, const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    enum { PASSES = 3 };
    static const double little = 1e-4;
    double change = 0;
    memcpy(e->X, e->r, sizeof *e->X * N * (size_t)p->nv);
    impulses(n, ws, p, e->blk, NULL, e->dc, e->X);
    solve(n, &ws->sys, e->X);
    for (int pass = 0; pass < PASSES; pass++) {
        change = refine(n, ws, p, e);
        if (change <= exact || !(change <= little)) break;
    }
    if (!(change <= exact)) return false;
    take_back(n, ws, p, e);
    return true;
}

TI_CLONES_WIDE static bool solve_free(const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    enum { OF_ONE = (LANES + 1) / 2 };
    return e->blk[0] == e->blk[1] ? solve_lanes(OF_ONE, ws, p, e) : solve_lanes(LANES, ws, p, e);
}

/* Where that is not exact enough: column by column by ti_contact_jvp(). */
static void one_by_one(ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    double *r = ws->v1, *dc = ws->l1, *dv = ws->v2, *dlambda = ws->l2;
    for (int c = 0; c < N; c++) {
        bool any = false;
        for (int k = 0; k < p->nv; k++) r[k] = e->r[(size_t)N * k + c], any = any || r[k] != 0;
        for (int k = 0; k < 3 * p->nc; k++) dc[k] = e->dc[(size_t)N * k + c], any = any || dc[k] != 0;
        if (!any) continue;
        ti_contact_jvp(ws, p, 1, r, dc, NULL, dv, dlambda);
        for (int k = 0; k < p->nv; k++) e->X[(size_t)N * k + c] = dv[k];
    }
}

void ti_contact_panel(ti_contact_ws *ws, const ti_contact_problem *p, const int *blk, double *r, double *dc, double *X,
                      double *rest) {
    const equations e = {blk, r, dc, X, rest};
    if (ws->sys.six && solve_free(ws, p, &e))
        ws->linear_residual = ti_max(ws->linear_residual, settled);
    else
        one_by_one(ws, p, &e);
}
