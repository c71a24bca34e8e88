/* dense.c -- Cholesky, LU and products, written so that the inner loops run along rows and vectorise. */
#include "math/dense.h"
#include "base/clones.h"
#include "math/lanes.h"
#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* From these sizes on LAPACK's blocking for the cache wins. */
enum { CHOL_LAPACK = 448, LU_LAPACK = 48 };

/* First column of the lane that column i is in. */
static inline int lane(int i) {
    return i & ~(TI_LANE - 1);
}

/* ------------------------------------------------------------- Cholesky */

/* Rows k .. k+m-1 of R, m <= 4, from rows that all earlier panels have been taken off. */
static inline int chol_panel(int n, double *A, int ld, int k, int m, double floor) {
    for (int p = 0; p < m; p++) {
        double *restrict row = A + (size_t)(k + p) * (size_t)ld;
        for (int s = 0; s < p; s++) {
            const double *restrict up = A + (size_t)(k + s) * (size_t)ld;
            double c = up[k + p];
            for (int j = lane(k); j < n; j++) row[j] -= c * up[j];
        }
        double pivot = row[k + p];
        if (!(pivot > floor)) return 1 + k + p;
        double inv = 1 / sqrt(pivot);
        for (int j = lane(k); j < n; j++) row[j] *= inv;
        row[k + p] = inv;
    }
    return 0;
}

/* One panel of four rows at a time: A_ij -= sum of four products, so that each entry is loaded once for all four. */
TI_CLONES_WIDE static int chol_own(int n, double *A, int ld, double floor) {
    int width = ti_ld(n) <= ld ? ti_ld(n) : n;
    for (int k = 0; k < n; k += 4) {
        int m = n - k < 4 ? n - k : 4, bad = chol_panel(width, A, ld, k, m, floor);
        if (bad) return bad;
        if (m < 4) return 0;
        const double *restrict r0 = A + (size_t)k * (size_t)ld, *restrict r1 = r0 + ld, *restrict r2 = r1 + ld,
                               *restrict r3 = r2 + ld;
        for (int i = k + 4; i < n; i++) {
            double c0 = r0[i], c1 = r1[i], c2 = r2[i], c3 = r3[i];
            double *restrict row = A + (size_t)i * (size_t)ld;
            for (int j = lane(i); j < width; j++) row[j] -= (c0 * r0[j] + c1 * r1[j]) + (c2 * r2[j] + c3 * r3[j]);
        }
    }
    return 0;
}

int ti_chol(int n, double *A, int ld, double floor) {
    if (n < CHOL_LAPACK) return chol_own(n, A, ld, floor);
    int bad = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, A, ld); /* row-major upper is column-major lower */
    if (bad) return bad;
    for (int i = 0; i < n; i++) {
        double *r = A + (size_t)i * (size_t)ld + (size_t)i;
        if (!(*r * *r > floor)) return 1 + i;
        *r = 1 / *r;
    }
    return 0;
}

/* Forward and backward substitution by blocks of eight rows: the small triangle in turn, then the rest of all eight at
 * once. The triangle's loops have fixed bounds, so that they unroll; what is left over goes row by row. */
TI_CLONES_WIDE static void chol_solve_own(int n, const double *R, int ld, double *restrict x) {
    const size_t w = (size_t)ld;
    int whole = lane(n);
    for (int k = 0; k < whole; k += TI_LANE) {
        const double *restrict r = R + (size_t)k * w;
        double c[TI_LANE];
        TI_UNROLL for (int p = 0; p < TI_LANE; p++) c[p] = x[k + p];
        TI_UNROLL for (int p = 0; p < TI_LANE; p++) {
            const double *row = r + (size_t)p * w + k;
            c[p] *= row[p];
            TI_UNROLL for (int j = p + 1; j < TI_LANE; j++) c[j] -= c[p] * row[j];
        }
        TI_UNROLL for (int p = 0; p < TI_LANE; p++) x[k + p] = c[p];
        const double *restrict s = r + 4 * w;
        for (int j = k + TI_LANE; j < n; j++)
            x[j] -= ((c[0] * r[j] + c[1] * r[w + j]) + (c[2] * r[2 * w + j] + c[3] * r[3 * w + j])) +
                    ((c[4] * s[j] + c[5] * s[w + j]) + (c[6] * s[2 * w + j] + c[7] * s[3 * w + j]));
    }
    for (int k = whole; k < n; k++) {
        const double *row = R + (size_t)k * w;
        double c = x[k] *= row[k];
        for (int j = k + 1; j < n; j++) x[j] -= c * row[j];
    }
    for (int k = n - 1; k >= whole; k--) {
        const double *row = R + (size_t)k * w;
        double s = x[k];
        for (int j = k + 1; j < n; j++) s -= row[j] * x[j];
        x[k] = s * row[k];
    }
    for (int k = whole - TI_LANE; k >= 0; k -= TI_LANE) {
        const double *restrict r = R + (size_t)k * w;
        double c[TI_LANE];
        TI_UNROLL for (int p = 0; p < TI_LANE; p++) {
            const double *row = r + (size_t)p * w;
            int j = k + TI_LANE;
            c[p] = x[k + p];
            if (j < whole) {
                vec8 acc = {0}; /* eight partial sums: their order does not depend on the machine */
                for (; j < whole; j += TI_LANE) acc += *(const vec8 *)(row + j) * *(const vec8 *)(x + j);
                c[p] -= ((acc[0] + acc[4]) + (acc[2] + acc[6])) + ((acc[1] + acc[5]) + (acc[3] + acc[7]));
            }
            for (; j < n; j++) c[p] -= row[j] * x[j];
        }
        TI_UNROLL for (int p = TI_LANE - 1; p >= 0; p--) {
            c[p] *= r[(size_t)p * w + (size_t)(k + p)];
            TI_UNROLL for (int j = 0; j < p; j++) c[j] -= r[(size_t)j * w + (size_t)(k + p)] * c[p];
        }
        TI_UNROLL for (int p = 0; p < TI_LANE; p++) x[k + p] = c[p];
    }
}

void ti_chol_solve(int n, const double *R, int ld, double *x) {
    chol_solve_own(n, R, ld, x);
}

/* -------------------------------------------------------------------- LU */

TI_CLONES_WIDE static int lu_own(int n, double *A, int ld, int *piv, double floor) {
    for (int k = 0; k < n; k++) {
        int p = k;
        double best = fabs(A[(size_t)k * (size_t)ld + (size_t)k]);
        for (int i = k + 1; i < n; i++) {
            double a = fabs(A[(size_t)i * (size_t)ld + (size_t)k]);
            if (a > best || a != a) best = a, p = i;
        }
        piv[k] = p;
        if (!(best > floor)) return 1 + k;
        double *restrict top = A + (size_t)k * (size_t)ld;
        if (p != k) {
            double *restrict other = A + (size_t)p * (size_t)ld;
            for (int j = 0; j < n; j++) {
                double t = top[j];
                top[j] = other[j], other[j] = t;
            }
        }
        double inv = 1 / top[k];
        for (int i = k + 1; i < n; i++) {
            double *restrict row = A + (size_t)i * (size_t)ld;
            double l = row[k] *= inv;
            if (l == 0) continue;
            for (int j = k + 1; j < n; j++) row[j] -= l * top[j];
        }
    }
    return 0;
}

int ti_lu(int n, double *A, int ld, int *piv, double floor) {
    if (n < LU_LAPACK) return lu_own(n, A, ld, piv, floor);
    int bad = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, A, ld, piv); /* of A', as LAPACK sees it */
    if (bad) return bad;
    for (int i = 0; i < n; i++)
        if (!(fabs(A[(size_t)i * (size_t)ld + (size_t)i]) > floor)) return 1 + i;
    return 0;
}

TI_CLONES_WIDE static void lu_solve_own(int n, const double *LU, int ld, const int *piv, double *restrict x) {
    for (int k = 0; k < n; k++) {
        double t = x[k];
        x[k] = x[piv[k]], x[piv[k]] = t;
    }
    for (int i = 0; i < n; i++) {
        const double *restrict row = LU + (size_t)i * (size_t)ld;
        double s = x[i];
        for (int j = 0; j < i; j++) s -= row[j] * x[j];
        x[i] = s;
    }
    for (int i = n - 1; i >= 0; i--) {
        const double *restrict row = LU + (size_t)i * (size_t)ld;
        double s = x[i];
        for (int j = i + 1; j < n; j++) s -= row[j] * x[j];
        x[i] = s / row[i];
    }
}

void ti_lu_solve(int n, const double *LU, int ld, const int *piv, double *x) {
    if (n < LU_LAPACK)
        lu_solve_own(n, LU, ld, piv, x);
    else
        LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', n, 1, LU, ld, piv, x, n);
}

TI_CLONES_WIDE static void lu_solve_rows(int n, const double *LU, int ld, const int *piv, int m, double *restrict X) {
    size_t w = (size_t)m;
    for (int k = 0; k < n; k++) {
        if (piv[k] == k) continue;
        for (size_t c = 0; c < w; c++) {
            double t = X[(size_t)k * w + c];
            X[(size_t)k * w + c] = X[(size_t)piv[k] * w + c], X[(size_t)piv[k] * w + c] = t;
        }
    }
    for (int step = 0; step < 2; step++)
        for (int r = 0; r < n; r++) {
            int i = step ? n - 1 - r : r, from = step ? i + 1 : 0, to = step ? n : i;
            const double *row = LU + (size_t)i * (size_t)ld;
            double *restrict x = X + (size_t)i * w, scale = step ? 1 / row[i] : 1;
            for (int j = from; j < to; j++) {
                const double *restrict y = X + (size_t)j * w;
                for (size_t c = 0; c < w; c++) x[c] -= row[j] * y[c];
            }
            for (size_t c = 0; step && c < w; c++) x[c] *= scale;
        }
}

void ti_lu_solve_many(int n, const double *LU, int ld, const int *piv, int m, double *X) {
    if (n < LU_LAPACK)
        lu_solve_rows(n, LU, ld, piv, m, X);
    else
        LAPACKE_dgetrs(LAPACK_ROW_MAJOR, 'N', n, m, LU, ld, piv, X, m);
}

TI_CLONES_WIDE static void lu_solve_t_own(int n, const double *LU, int ld, const int *piv, double *restrict x) {
    for (int i = 0; i < n; i++) {
        const double *restrict row = LU + (size_t)i * (size_t)ld;
        double c = x[i] /= row[i];
        for (int j = i + 1; j < n; j++) x[j] -= c * row[j];
    }
    for (int i = n - 1; i >= 0; i--) {
        const double *restrict row = LU + (size_t)i * (size_t)ld;
        double c = x[i];
        for (int j = 0; j < i; j++) x[j] -= c * row[j];
    }
    for (int k = n - 1; k >= 0; k--) {
        double t = x[k];
        x[k] = x[piv[k]], x[piv[k]] = t;
    }
}

void ti_lu_solve_t(int n, const double *LU, int ld, const int *piv, double *x) {
    if (n < LU_LAPACK)
        lu_solve_t_own(n, LU, ld, piv, x);
    else
        LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', n, 1, LU, ld, piv, x, n);
}

/* -------------------------------------------------------------- products */

TI_CLONES_WIDE static void matvec_t_own(int m, int n, const double *A, int ld, const double *restrict x,
                                        const double *b, double *restrict y) {
    if (!b)
        memset(y, 0, (size_t)n * sizeof *y);
    else if (b != y)
        memcpy(y, b, (size_t)n * sizeof *y);
    int i = 0;
    for (; i + 4 <= m; i += 4) {
        double c0 = x[i], c1 = x[i + 1], c2 = x[i + 2], c3 = x[i + 3];
        const double *restrict a0 = A + (size_t)i * (size_t)ld, *restrict a1 = a0 + ld, *restrict a2 = a1 + ld,
                               *restrict a3 = a2 + ld;
        for (int j = 0; j < n; j++) y[j] += (c0 * a0[j] + c1 * a1[j]) + (c2 * a2[j] + c3 * a3[j]);
    }
    for (; i < m; i++) {
        const double *restrict a = A + (size_t)i * (size_t)ld;
        double c = x[i];
        for (int j = 0; j < n; j++) y[j] += c * a[j];
    }
}

void ti_matvec_t(int m, int n, const double *A, int ld, const double *x, const double *b, double *y) {
    matvec_t_own(m, n, A, ld, x, b, y);
}

/* So many rows of Y, a constant of the compiler, += X times eight columns of A, or = where `fresh`; of listed rows. */
TI_INLINE void rows_product(int rows, int n, const int *list, bool fresh, const double *X, int ldx, const double *A,
                            int lda, double *Y, int ldy) {
    vec8 sum[4] = {{0}};
    for (int r = 0; r < rows && !fresh; r++) sum[r] = *(const vec8 *)(const void *)(Y + (size_t)r * (size_t)ldy);
    for (int k = 0; k < n; k++) {
        vec8 a = *(const vec8 *)(const void *)(A + (size_t)list[k] * (size_t)lda);
        for (int r = 0; r < rows; r++) sum[r] += X[(size_t)r * (size_t)ldx + (size_t)list[k]] * a;
    }
    for (int r = 0; r < rows; r++) *(vec8 *)(void *)(Y + (size_t)r * (size_t)ldy) = sum[r];
}

/* Eight columns at a time, of which the last may overlap; where rows of A are zero nothing is added. */
TI_CLONES_WIDE static void product_own(int m, int k, int n, const double *X, int ldx, const double *A, int lda,
                                       double *Y, int ldy) {
    int list[TI_LISTED];
    for (int next = 0; next < n; next += 8) {
        int j = next + 8 <= n ? next : n - 8;
        for (int i = 0; i < k; i += TI_LISTED) {
            int some = ti_lanes_rows(A + j, lda, i, i + TI_LISTED < k ? i + TI_LISTED : k, list), r = 0;
            for (; r + 4 <= m; r += 4)
                rows_product(4, some, list, i == 0, X + (size_t)r * (size_t)ldx, ldx, A + j, lda,
                             Y + (size_t)r * (size_t)ldy + j, ldy);
            for (; r < m; r++)
                rows_product(1, some, list, i == 0, X + (size_t)r * (size_t)ldx, ldx, A + j, lda,
                             Y + (size_t)r * (size_t)ldy + j, ldy);
        }
    }
}

void ti_product(int m, int k, int n, const double *X, int ldx, const double *A, int lda, double *Y, int ldy) {
    if (n >= 8) product_own(m, k, n, X, ldx, A, lda, Y, ldy);
    for (int r = 0; n < 8 && r < m; r++)
        matvec_t_own(k, n, A, lda, X + (size_t)r * (size_t)ldx, NULL, Y + (size_t)r * (size_t)ldy);
}

TI_CLONES_WIDE static void scale_own(int n, const double *A, const double *d, double *S, int ld, double *seen) {
    for (int j = 0; j < ld; j++) seen[j] = 0;
    for (int i = 0; i < n; i++) {
        const double *restrict from = A + (size_t)i * (size_t)n, *restrict by = d;
        double *restrict to = S + (size_t)i * (size_t)ld, *restrict sum = seen, di = d[i];
        for (int j = 0; j < n; j++) {
            double a = di * from[j] * by[j];
            to[j] = a, sum[j] += 0 * a;
        }
        for (int j = n; j < ld; j++) to[j] = 0;
    }
}

void ti_scale_both(int n, const double *A, const double *d, double *S, int ld, double *seen) {
    scale_own(n, A, d, S, ld, seen);
}
