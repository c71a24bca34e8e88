/* multiply.c -- loops for the products of dynamic programming, BLAS beyond their size. */
#include "trajopt/multiply.h"
#include "base/clones.h"
#include "trajopt/task.h"
#include <cblas.h>

enum { SMALL = 20 * 20 * 20 }; /* multiplications up to which loops are faster */

/* C += op(A) B; step from row to row and from term to term of op(A). */
TI_INLINE void add_rows(int m, int n, int k, const double *restrict A, int row, int term, const double *restrict B,
                        double *restrict C) {
    for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++) {
            double a = A[i * row + l * term];
            for (int j = 0; j < n; j++) C[i * n + j] += a * B[l * n + j];
        }
}

TI_CLONES_WIDE static void add_wide(int m, int n, int k, const double *A, int row, int term, const double *B,
                                    double *C) {
    add_rows(m, n, k, A, row, term, B, C);
}
/* Of one or two inputs and joints the compiler is told the width. */
static void add_narrow(int m, int n, int k, const double *A, int row, int term, const double *B, double *C) {
    switch (n) {
    case 1:
        add_rows(m, 1, k, A, row, term, B, C);
        break;
    case 2:
        add_rows(m, 2, k, A, row, term, B, C);
        break;
    case 4:
        add_rows(m, 4, k, A, row, term, B, C);
        break;
    default:
        add_rows(m, n, k, A, row, term, B, C);
    }
}
/* Wide registers cost more than they gain where rows do not fill them. */
static void add(int m, int n, int k, const double *A, int row, int term, const double *B, double *C) {
    (n < 8 ? add_narrow : add_wide)(m, n, k, A, row, term, B, C);
}

/* C += A b, terms of a row in their order. */
static void add_column(int m, int k, const double *A, const double *b, double *C) {
    for (int i = 0; i < m; i++) {
        double sum = C[i];
        for (int l = 0; l < k; l++) sum += A[i * k + l] * b[l];
        C[i] = sum;
    }
}

static bool is_large(int m, int n, int k) {
    return (double)m * n * k > SMALL;
}

static void clear(int m, int n, bool more, double *C) {
    if (!more) memset(C, 0, sizeof *C * (size_t)m * (size_t)n);
}

void ti_times_t(int m, int n, int k, const double *A, const double *B, bool more, double *C) {
    if (is_large(m, n, k)) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, 1, A, m, B, n, more, C, n);
        return;
    }
    clear(m, n, more, C);
    if (n == 1)
        add(1, m, k, B, 1, 1, A, C); /* a row of numbers at a time */
    else
        add(m, n, k, A, 1, m, B, C);
}

void ti_times(int m, int n, int k, const double *A, const double *B, bool more, double *C) {
    if (is_large(m, n, k)) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, A, k, B, n, more, C, n);
        return;
    }
    clear(m, n, more, C);
    if (n == 1)
        add_column(m, k, A, B, C);
    else
        add(m, n, k, A, k, 1, B, C);
}
