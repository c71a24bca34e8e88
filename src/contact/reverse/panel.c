/* panel.c -- see panel.h. Loops run over the directions of a panel, so they vectorise. */
#include "contact/reverse/panel.h"
#include "contact/system/blocks.h"
#include "contact/work/workspace.h"
#include "math/clones.h"
#include <math.h>

/* Eight directions; a row of a panel is three of them. */
typedef double lane __attribute__((vector_size(64), aligned(8), may_alias));
enum { N = TI_PANEL, LANES = TI_PANEL / 8 };

TI_INLINE lane *row_of(double *X, int r) {
    return (lane *)(void *)(X + N * (size_t)r);
}
TI_INLINE const lane *row_in(const double *X, int r) {
    return (const lane *)(const void *)(X + N * (size_t)r);
}

/* C (3,lanes) += J (3,w) X (w,N). lanes: of the N columns so many eights are asked for, a constant of the compiler. */
TI_INLINE void rows_times(int lanes, int w, const double *J, const double *X, lane (*C)[LANES]) {
    for (int r = 0; r < 3; r++)
        for (int j = 0; j < w; j++)
            for (int c = 0; c < lanes; c++) C[r][c] += J[r * w + j] * row_in(X, j)[c];
}

/* The same of the columns that are not zero. */
TI_INLINE void listed_rows_times(int lanes, const ti_support *s, int w, const double *J, const double *X,
                                 lane (*C)[LANES]) {
    for (int e = 0; e < s->n; e++) {
        int j = s->column[e];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < lanes; c++) C[r][c] += J[r * w + j] * row_in(X, j)[c];
    }
}

TI_INLINE void listed_columns_times(int lanes, const ti_support *s, int w, const double *J, lane (*L)[LANES],
                                    double *Y) {
    for (int e = 0; e < s->n; e++) {
        int j = s->column[e];
        lane *y = row_of(Y, j);
        for (int c = 0; c < lanes; c++) y[c] += J[j] * L[0][c] + J[w + j] * L[1][c] + J[2 * w + j] * L[2][c];
    }
}

/* Y (w,N) += J' L, J (3,w) */
TI_INLINE void columns_times(int lanes, int w, const double *J, lane (*L)[LANES], double *Y) {
    for (int j = 0; j < w; j++) {
        lane *y = row_of(Y, j);
        for (int c = 0; c < lanes; c++) y[c] += J[j] * L[0][c] + J[w + j] * L[1][c] + J[2 * w + j] * L[2][c];
    }
}

/* A constant of the compiler where all blocks are free bodies. */
TI_INLINE int width(const ti_contact_problem *p, int blk, bool six) {
    return six ? 6 : p->width[blk];
}

TI_INLINE const ti_support *support_of(const ti_contact_problem *p, int i, int side, bool six) {
    return six ? NULL : ti_support_of(p, i, side);
}

/* Of what has one entry, in its third row: the impulse of one number, L[2] of impulses(). */
TI_INLINE void joint_impulse(int lanes, double D, double J, const double *X, const double *dc, double *Y) {
    for (int c = 0; c < lanes; c++) {
        lane C = dc ? row_in(dc, 2)[c] : (lane){0};
        if (X) C += J * row_in(X, 0)[c];
        row_of(Y, 0)[c] += J * -(D * C);
    }
}

/* Y += J' L with L = -D (J X + dc), contact by contact. X NULL = 0: then only contacts of the blocks blk matter, all
 * of them where that is NULL. dc NULL = 0. */
TI_INLINE void impulses(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, const int *blk, bool six,
                        const double *X, const double *dc, double *Y) {
    for (int i = 0; i < p->nc; i++) {
        const double *D = ws->D + 9 * i, *J = p->J + p->joff[i];
        int a = p->a[i], b = p->b[i], wa = width(p, a, six), wb = b >= 0 ? width(p, b, six) : 0;
        if (!X && blk && a != blk[0] && b != blk[0] && a != blk[1] && b != blk[1]) continue;
        const double *Jb = J + 3 * (size_t)wa;
        const ti_support *own = support_of(p, i, 0, six);
        if (own && own->joint && b < 0) {
            int at = own->column[0];
            size_t x = (size_t)N * (size_t)(p->voff[a] + at);
            joint_impulse(lanes, D[8], J[2 * wa + at], X ? X + x : NULL, dc ? dc + (size_t)(3 * N * i) : NULL, Y + x);
            continue;
        }
        lane C[3][LANES], L[3][LANES];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < lanes; c++) C[r][c] = dc ? row_in(dc, 3 * i + r)[c] : (lane){0};
        for (int side = 0; X && side < (b >= 0 ? 2 : 1); side++) {
            const ti_support *s = support_of(p, i, side, six);
            const double *Xs = X + (size_t)N * p->voff[side ? b : a], *Js = side ? Jb : J;
            if (s)
                listed_rows_times(lanes, s, side ? wb : wa, Js, Xs, C);
            else
                rows_times(lanes, side ? wb : wa, Js, Xs, C);
        }
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < lanes; c++)
                L[r][c] = -(D[3 * r] * C[0][c] + D[3 * r + 1] * C[1][c] + D[3 * r + 2] * C[2][c]);
        for (int side = 0; side < (b >= 0 ? 2 : 1); side++) {
            const ti_support *s = support_of(p, i, side, six);
            double *Ys = Y + (size_t)N * p->voff[side ? b : a];
            if (s)
                listed_columns_times(lanes, s, side ? wb : wa, side ? Jb : J, L, Ys);
            else
                columns_times(lanes, side ? wb : wa, side ? Jb : J, L, Ys);
        }
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

/* Y (m,N) -= A (m,k) X (k,N) */
TI_INLINE void product_sub(int lanes, int m, int k, const double *A, int ld, const double *X, double *Y) {
    for (int i = 0; i < m; i++) {
        lane sum[LANES];
        for (int c = 0; c < lanes; c++) sum[c] = row_of(Y, i)[c];
        for (int l = 0; l < k; l++)
            for (int c = 0; c < lanes; c++) sum[c] -= A[i * ld + l] * row_in(X, l)[c];
        for (int c = 0; c < lanes; c++) row_of(Y, i)[c] = sum[c];
    }
}

/* The same where the factors are along the ways of trees. */
TI_INLINE void solve_thin(int lanes, const ti_paths *s, double *X) {
    const double *upper = s->symmetric ? s->lower : s->upper;
    for (int e = 0; e < s->n; e++) {
        int k = s->order[e], n = s->depth[k] - 1;
        const double *u = upper + s->at[k];
        const int *way = s->list + s->way[k];
        lane x[LANES];
        for (int c = 0; c < lanes; c++) x[c] = row_in(X, k)[c];
        for (int a = 0; a < n; a++)
            for (int c = 0; c < lanes; c++) row_of(X, way[a])[c] -= u[a] * x[c];
    }
    for (int e = s->n - 1; e >= 0; e--) {
        int k = s->order[e], n = s->depth[k] - 1;
        const double *l = s->lower + s->at[k];
        const int *way = s->list + s->way[k];
        lane sum[LANES];
        for (int c = 0; c < lanes; c++) sum[c] = l[n] * row_in(X, k)[c];
        for (int a = 0; a < n; a++)
            for (int c = 0; c < lanes; c++) sum[c] -= l[a] * row_in(X, way[a])[c];
        for (int c = 0; c < lanes; c++) row_of(X, k)[c] = sum[c];
    }
}

/* X := K^-1 X as ti_system_solve(). */
TI_INLINE void solve(int lanes, const ti_system *s, bool six, double *X) {
    if (!six && s->thin) {
        solve_thin(lanes, &s->paths, X);
        return;
    }
    for (int k = 0; k < s->nblk; k++) {
        int pivot = s->order[k], w = six ? 6 : s->width[pivot];
        double *x = X + (size_t)N * s->voff[pivot];
        if (six)
            solve_six(s->val + s->diag[pivot], s->pivot + s->voff[pivot], x);
        else
            ti_block_solve(w, s->val + s->diag[pivot], s->pivot + s->voff[pivot], N, x);
        for (int e = s->start[k]; e < s->start[k + 1]; e++) {
            int i = s->neighbour[e];
            product_sub(lanes, six ? 6 : s->width[i], w, s->val + s->lower[e], six ? 8 : w, x,
                        X + (size_t)N * s->voff[i]);
        }
    }
    for (int k = s->nblk - 1; k >= 0; k--) {
        int pivot = s->order[k], w = six ? 6 : s->width[pivot];
        for (int e = s->start[k]; e < s->start[k + 1]; e++) {
            int i = s->neighbour[e], wi = six ? 6 : s->width[i];
            product_sub(lanes, w, wi, s->val + s->upper[e], six ? 8 : wi, X + (size_t)N * s->voff[i],
                        X + (size_t)N * s->voff[pivot]);
        }
    }
}

/* Y -= M X along the ways of trees. */
TI_INLINE void take_thin(int lanes, const ti_paths *s, const double *X, double *Y) {
    for (int k = 0; k < s->n; k++) {
        int n = s->depth[k] - 1;
        const double *M = s->M + s->at[k];
        const int *way = s->list + s->way[k];
        lane sum[LANES], x[LANES];
        for (int c = 0; c < lanes; c++) x[c] = row_in(X, k)[c], sum[c] = M[n] * x[c];
        for (int a = 0; a < n; a++) {
            if (M[a] == 0) continue;
            for (int c = 0; c < lanes; c++) {
                sum[c] += M[a] * row_in(X, way[a])[c];
                row_of(Y, way[a])[c] -= M[a] * x[c];
            }
        }
        for (int c = 0; c < lanes; c++) row_of(Y, k)[c] -= sum[c];
    }
}

/* Y = r - M X */
TI_INLINE void momentum(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, bool six, const double *r,
                        const double *X, double *Y) {
    memcpy(Y, r, sizeof *Y * N * (size_t)p->nv);
    if (!six && ws->sys.paths.fits) {
        take_thin(lanes, &ws->sys.paths, X, Y);
        return;
    }
    for (int k = 0; k < p->nblk; k++) {
        size_t at = (size_t)N * p->voff[k];
        int w = width(p, k, six);
        product_sub(lanes, w, w, p->M + p->moff[k], w, X + at, Y + at);
    }
}

/* What a panel is solved from and into. */
typedef struct equations {
    const int *blk;
    const double *r, *dc;
    double *X, *rest;
} equations;

/* X += rest; the relative size of rest in the norm of the energy, of the worst column. */
TI_INLINE double add(int lanes, const ti_contact_ws *ws, int nv, const double *rest, double *X) {
    double worst = 0;
    for (int c = 0; c < lanes; c++) {
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
TI_INLINE double refine(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, bool six, const equations *e) {
    momentum(lanes, ws, p, six, e->r, e->X, e->rest);
    impulses(lanes, ws, p, e->blk, six, e->X, e->dc, e->rest);
    solve(lanes, &ws->sys, six, e->rest);
    return add(lanes, ws, p->nv, e->rest, e->X);
}

/* K X = r - J'D dc, refined once. */
TI_INLINE double begin(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, bool six, const equations *e) {
    memcpy(e->X, e->r, sizeof *e->X * N * (size_t)p->nv);
    if (e->dc) impulses(lanes, ws, p, e->blk, six, NULL, e->dc, e->X);
    solve(lanes, &ws->sys, six, e->X);
    return refine(lanes, ws, p, six, e);
}

TI_CLONES_WIDE static double six_begin(const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    return begin(LANES, ws, p, true, e);
}
TI_CLONES_WIDE static double six_again(const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    return refine(LANES, ws, p, true, e);
}
TI_CLONES_WIDE static double one_begin(const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    return begin(1, ws, p, false, e);
}
TI_CLONES_WIDE static double one_again(const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    return refine(1, ws, p, false, e);
}
TI_CLONES_WIDE static double two_begin(const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    return begin(2, ws, p, false, e);
}
TI_CLONES_WIDE static double two_again(const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    return refine(2, ws, p, false, e);
}
TI_CLONES_WIDE static double all_begin(const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    return begin(LANES, ws, p, false, e);
}
TI_CLONES_WIDE static double all_again(const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    return refine(LANES, ws, p, false, e);
}

/* By how many eights of columns are asked for. */
typedef double step_function(const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e);
static step_function *const BEGIN[LANES] = {one_begin, two_begin, all_begin};
static step_function *const AGAIN[LANES] = {one_again, two_again, all_again};

/* The error that is left, at most, and a correction that leaves nothing whatever the rate. */
static const double settled = 1e-12, exact = 1e-10;

/* Of free bodies: where the first correction is not small, single columns cost less. */
static bool solve_free(ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    static const double little = 1e-7;
    double change = six_begin(ws, p, e);
    if (change > exact && change <= little) change = six_again(ws, p, e);
    return change <= exact;
}

/* Each refinement takes off digits, as many as the last with these factors, ws->contraction; one alone does not show
 * the rate. */
static bool solve_trees(ti_contact_ws *ws, const ti_contact_problem *p, int lanes, const equations *e) {
    enum { PASSES = 7 };
    double change = BEGIN[lanes - 1](ws, p, e);
    for (int pass = 1; !(change <= exact); pass++) {
        if (ws->contraction >= 0 && change * ws->contraction <= settled) return true;
        if (pass == PASSES || !(change < HUGE_VAL)) return false;
        double next = AGAIN[lanes - 1](ws, p, e), ratio = next / change;
        if (!(ratio < 0.5)) return false;
        ws->contraction = ti_max(ws->contraction, ratio), change = next;
    }
    return true;
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

void ti_contact_panel(ti_contact_ws *ws, const ti_contact_problem *p, const int *blk, int columns, const double *r,
                      const double *dc, double *X, double *rest) {
    const equations e = {blk, r, dc, X, rest};
    if (ws->sys.six ? solve_free(ws, p, &e) : solve_trees(ws, p, (columns + 7) / 8, &e))
        ws->linear_residual = ti_max(ws->linear_residual, settled);
    else
        one_by_one(ws, p, &e);
}
