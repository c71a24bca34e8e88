/* blocks.c -- dense kernels for one block of velocities. */
#include "contact/system/blocks.h"
#include "base/clones.h"
#include <cblas.h>
#include <lapacke.h>
#include <math.h>

/* ---------------------------------------------------------------- LU */

static inline bool lu(int w, double *A, int *pivot) {
    bool fine = true;
    for (int k = 0; k < w; k++) {
        int at = k;
        double largest = fabs(A[k * w + k]);
        for (int r = k + 1; r < w; r++) {
            double x = fabs(A[r * w + k]);
            if (x > largest) largest = x, at = r;
        }
        pivot[k] = at;
        if (at != k)
            for (int c = 0; c < w; c++) {
                double x = A[k * w + c];
                A[k * w + c] = A[at * w + c], A[at * w + c] = x;
            }
        double inverse = 1 / A[k * w + k];
        fine = fine && fabs(inverse) < HUGE_VAL; /* false for NaN */
        A[k * w + k] = inverse;
        for (int r = k + 1; r < w; r++) {
            double l = A[r * w + k] *= inverse;
            for (int c = k + 1; c < w; c++) A[r * w + c] -= l * A[k * w + c];
        }
    }
    return fine;
}

TI_CLONES_WIDE static bool lu_any(int w, double *A, int *pivot) {
    return lu(w, A, pivot);
}

bool ti_block_lu(int w, double *A, int *pivot) {
    if (w == TI_COMMON) return lu(TI_COMMON, A, pivot);
    if (w < TI_LAPACK_FROM) return lu_any(w, A, pivot);
    int info = (int)LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, w, w, A, w, pivot); /* of A', which solves A'^T = A */
    return info == 0 && A[0] == A[0];
}

static inline void lu_solve(int w, const double *LU, const int *pivot, int n, double *X) {
    for (int k = 0; k < w; k++) {
        int at = pivot[k];
        if (at == k) continue;
        for (int c = 0; c < n; c++) {
            double x = X[k * n + c];
            X[k * n + c] = X[at * n + c], X[at * n + c] = x;
        }
    }
    for (int r = 1; r < w; r++)
        for (int k = 0; k < r; k++)
            for (int c = 0; c < n; c++) X[r * n + c] -= LU[r * w + k] * X[k * n + c];
    for (int r = w - 1; r >= 0; r--) {
        for (int k = r + 1; k < w; k++)
            for (int c = 0; c < n; c++) X[r * n + c] -= LU[r * w + k] * X[k * n + c];
        for (int c = 0; c < n; c++) X[r * n + c] *= LU[r * w + r];
    }
}

/* One right-hand side, by columns: the chain of dependent operations is short. */
static inline void lu_solve_one(int w, const double *LU, const int *pivot, double *x) {
    for (int k = 0; k < w; k++) {
        int at = pivot[k];
        double t = x[k];
        x[k] = x[at], x[at] = t;
    }
    for (int k = 0; k < w; k++)
        for (int r = k + 1; r < w; r++) x[r] -= LU[r * w + k] * x[k];
    for (int k = w - 1; k >= 0; k--) {
        x[k] *= LU[k * w + k];
        for (int r = 0; r < k; r++) x[r] -= LU[r * w + k] * x[k];
    }
}

TI_CLONES_WIDE static void lu_solve_one_any(int w, const double *LU, const int *pivot, double *x) {
    lu_solve_one(w, LU, pivot, x);
}

/* LAPACK holds the factors of A'. X (w,n) row-major is column-major (n,w), so systems are solved row by row. */
static void lapack_solve(int w, const double *LU, const int *pivot, int n, double *X) {
    if (n == 1) {
        LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', w, 1, LU, w, pivot, X, w);
        return;
    }
    /* A' = P L U (column-major) => X' := X' A^-T = X' (P L U)^-1 = ((X' U^-1) L^-1) P' */
    cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, n, w, 1, LU, w, X, n);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasUnit, n, w, 1, LU, w, X, n);
    for (int k = w - 1; k >= 0; k--) {
        int at = pivot[k] - 1;
        if (at != k) cblas_dswap(n, X + (size_t)k * n, 1, X + (size_t)at * n, 1);
    }
}

void ti_block_solve(int w, const double *LU, const int *pivot, int n, double *X) {
    if (w >= TI_LAPACK_FROM)
        lapack_solve(w, LU, pivot, n, X);
    else if (n == 1 && w == TI_COMMON)
        lu_solve_one(TI_COMMON, LU, pivot, X);
    else if (n == 1)
        lu_solve_one_any(w, LU, pivot, X);
    else if (w == TI_COMMON && n == TI_COMMON)
        lu_solve(TI_COMMON, LU, pivot, TI_COMMON, X);
    else if (n == 8)
        lu_solve(w, LU, pivot, 8, X);
    else if (n == 24)
        lu_solve(w, LU, pivot, 24, X);
    else
        lu_solve(w, LU, pivot, n, X);
}

static inline void lu_solve_t(int w, const double *LU, const int *pivot, double *x) {
    for (int k = 0; k < w; k++) {
        x[k] *= LU[k * w + k];
        for (int c = k + 1; c < w; c++) x[c] -= LU[k * w + c] * x[k];
    }
    for (int k = w - 1; k > 0; k--)
        for (int c = 0; c < k; c++) x[c] -= LU[k * w + c] * x[k];
    for (int k = w - 1; k >= 0; k--) {
        int at = pivot[k];
        double t = x[k];
        x[k] = x[at], x[at] = t;
    }
}

void ti_block_solve_t(int w, const double *LU, const int *pivot, double *x) {
    if (w == TI_COMMON)
        lu_solve_t(TI_COMMON, LU, pivot, x);
    else if (w < TI_LAPACK_FROM)
        lu_solve_t(w, LU, pivot, x);
    else
        LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', w, 1, LU, w, pivot, x, w);
}

/* ---------------------------------------------------------------- products */

static inline void gemm_sub(int m, int k, int n, const double *restrict A, const double *restrict B,
                            double *restrict C) {
    for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++)
            for (int j = 0; j < n; j++) C[i * n + j] -= A[i * k + l] * B[l * n + j];
}

void ti_block_product_sub(int m, int k, int n, const double *A, const double *B, double *C) {
    if (m == TI_COMMON && k == TI_COMMON && n == TI_COMMON)
        gemm_sub(TI_COMMON, TI_COMMON, TI_COMMON, A, B, C);
    else if (m == TI_COMMON && k == TI_COMMON && n == 1)
        gemm_sub(TI_COMMON, TI_COMMON, 1, A, B, C);
    else if (m == TI_COMMON && k == TI_COMMON && n == 8)
        gemm_sub(TI_COMMON, TI_COMMON, 8, A, B, C);
    else if (m >= TI_LAPACK_FROM && k >= TI_LAPACK_FROM)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, -1, A, k, B, n, 1, C, n);
    else
        gemm_sub(m, k, n, A, B, C);
}

void ti_block_product_t_sub(int m, int n, const double *A, const double *x, double *y) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) y[j] -= A[i * n + j] * x[i];
}
