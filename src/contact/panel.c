/* panel.c -- see panel.h. Loops run over the directions of a panel, so they vectorise. */
#include "contact/panel.h"
#include "contact/blocks.h"
#include "contact/workspace.h"

/* Wider vectors where the processor has them; element by element, so every clone gives the same bits. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define CLONES __attribute__((target_clones("default", "avx2")))
#else
#define CLONES
#endif

enum { N = TI_PANEL };
#define INLINE static inline __attribute__((always_inline))

/* y -= a x, rows of a panel */
INLINE void row_sub(double *restrict y, double a, const double *restrict x) {
    for (int c = 0; c < N; c++) y[c] -= a * x[c];
}

/* C (3,N) += J (3,w) X (w,N) */
INLINE void rows_times(int w, const double *J, const double *restrict X, double *restrict C) {
    for (int r = 0; r < 3; r++) {
        double sum[N];
        for (int c = 0; c < N; c++) sum[c] = C[r * N + c];
        for (int j = 0; j < w; j++)
            for (int c = 0; c < N; c++) sum[c] += J[r * w + j] * X[j * N + c];
        for (int c = 0; c < N; c++) C[r * N + c] = sum[c];
    }
}

/* Y (w,N) += J' L, J (3,w) */
INLINE void columns_times(int w, const double *J, const double *restrict L, double *restrict Y) {
    for (int j = 0; j < w; j++)
        for (int c = 0; c < N; c++) Y[j * N + c] += J[j] * L[c] + J[w + j] * L[N + c] + J[2 * w + j] * L[2 * N + c];
}

/* L = -D (J X + dc) and Y += J' L, contact by contact; X NULL = 0. */
INLINE void impulses(const ti_ncp_ws *ws, const ti_ncp_problem *p, const double *X, const double *dc, double *L,
                     double *Y) {
    for (int i = 0; i < p->nc; i++) {
        const double *D = ws->D + 9 * i, *J = p->J + p->joff[i];
        double C[3 * N], *l = L + 3 * N * (size_t)i;
        for (int c = 0; c < 3 * N; c++) C[c] = dc[3 * N * (size_t)i + c];
        int a = p->a[i], b = p->b[i], wa = p->width[a];
        const double *Jb = J + 3 * (size_t)wa;
        if (X) {
            rows_times(wa, J, X + (size_t)N * p->voff[a], C);
            if (b >= 0) rows_times(p->width[b], Jb, X + (size_t)N * p->voff[b], C);
        }
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < N; c++)
                l[r * N + c] = -(D[3 * r] * C[c] + D[3 * r + 1] * C[N + c] + D[3 * r + 2] * C[2 * N + c]);
        columns_times(wa, J, l, Y + (size_t)N * p->voff[a]);
        if (b >= 0) columns_times(p->width[b], Jb, l, Y + (size_t)N * p->voff[b]);
    }
}

INLINE void block_solve(int w, const double *LU, int ld, const int *pivot, double *restrict X) {
    for (int k = 0; k < w; k++) {
        int at = pivot[k];
        if (at == k) continue;
        for (int c = 0; c < N; c++) {
            double x = X[k * N + c];
            X[k * N + c] = X[at * N + c], X[at * N + c] = x;
        }
    }
    for (int r = 1; r < w; r++)
        for (int k = 0; k < r; k++) row_sub(X + r * N, LU[r * ld + k], X + k * N);
    for (int r = w - 1; r >= 0; r--) {
        for (int k = r + 1; k < w; k++) row_sub(X + r * N, LU[r * ld + k], X + k * N);
        for (int c = 0; c < N; c++) X[r * N + c] *= LU[r * ld + r];
    }
}

/* Y (m,N) -= A (m,k) X (k,N) */
INLINE void product_sub(int m, int k, const double *A, int ld, const double *restrict X, double *restrict Y) {
    for (int i = 0; i < m; i++) {
        double sum[N];
        for (int c = 0; c < N; c++) sum[c] = Y[i * N + c];
        for (int l = 0; l < k; l++)
            for (int c = 0; c < N; c++) sum[c] -= A[i * ld + l] * X[l * N + c];
        for (int c = 0; c < N; c++) Y[i * N + c] = sum[c];
    }
}

/* X := K^-1 X as ti_system_solve(). */
INLINE void solve(const ti_system *s, double *X) {
    for (int k = 0; k < s->nblk; k++) {
        int pivot = s->order[k], w = s->width[pivot];
        double *x = X + (size_t)N * s->voff[pivot];
        if (w == 6)
            block_solve(6, s->val + s->diag[pivot], s->six ? 8 : 6, s->pivot + s->voff[pivot], x);
        else
            ti_block_solve(w, s->val + s->diag[pivot], s->pivot + s->voff[pivot], N, x);
        for (int e = s->start[k]; e < s->start[k + 1]; e++) {
            int i = s->neighbour[e];
            product_sub(s->width[i], w, s->val + s->lower[e], s->six ? 8 : w, x, X + (size_t)N * s->voff[i]);
        }
    }
    for (int k = s->nblk - 1; k >= 0; k--) {
        int pivot = s->order[k], w = s->width[pivot];
        for (int e = s->start[k]; e < s->start[k + 1]; e++) {
            int i = s->neighbour[e];
            product_sub(w, s->width[i], s->val + s->upper[e], s->six ? 8 : s->width[i], X + (size_t)N * s->voff[i],
                        X + (size_t)N * s->voff[pivot]);
        }
    }
}

/* Y = r - M X */
INLINE void momentum(const ti_ncp_problem *p, const double *r, const double *X, double *Y) {
    memcpy(Y, r, sizeof *Y * N * (size_t)p->nv);
    for (int k = 0; k < p->nblk; k++) {
        size_t at = (size_t)N * p->voff[k];
        product_sub(p->width[k], p->width[k], p->M + p->moff[k], p->width[k], X + at, Y + at);
    }
}

/* K X = r - J'D dc, and one refinement as in ti_ncp_jvp(): L restored from X, what is left of the momentum row. */
CLONES static void panel(const ti_ncp_ws *ws, const ti_ncp_problem *p, const double *r, const double *dc, double *X,
                         double *L, double *rest) {
    size_t n = (size_t)N * p->nv;
    memcpy(X, r, n * sizeof *X);
    impulses(ws, p, NULL, dc, L, X);
    solve(&ws->sys, X);
    momentum(p, r, X, rest);
    impulses(ws, p, X, dc, L, rest);
    solve(&ws->sys, rest);
    for (size_t k = 0; k < n; k++) X[k] += rest[k];
}

void ti_ncp_panel(ti_ncp_ws *ws, const ti_ncp_problem *p, const double *r, const double *dc, double *X, double *L,
                  double *rest) {
    panel(ws, p, r, dc, X, L, rest);
}
