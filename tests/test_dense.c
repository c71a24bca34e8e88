/* test_dense.c -- the dense kernels against the definition of what they compute, across their own crossovers. */
#include "math/dense.h"
#include "test_main.h"
#include <math.h>
#include <string.h>

enum { NMAX = 460 };
static double A[NMAX * (NMAX + 8)], F[NMAX * (NMAX + 8)], x[NMAX], b[NMAX];
static int piv[NMAX];
static const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 31, 47, 48, 64, 65, 129, 447, 450};

static double noise(unsigned *s) {
    *s = *s * 1664525u + 1013904223u;
    return (*s >> 8) / 8388608.0 - 1;
}

/* A random, symmetric positive definite or not symmetric; both copies. */
static void make(int n, int ld, int symmetric, unsigned seed) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < ld; j++) A[i * ld + j] = j < n ? noise(&seed) : (double)NAN;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i && symmetric; j++) A[i * ld + j] = A[j * ld + i];
        A[i * ld + i] = symmetric ? 3 * sqrt(n) + 2 : A[i * ld + i];
        b[i] = x[i] = noise(&seed);
    }
    memcpy(F, A, sizeof A);
}

/* max |A x - b|, or of A' */
static double defect(int n, int ld, int transposed) {
    double worst = 0;
    for (int i = 0; i < n; i++) {
        double s = -b[i];
        for (int j = 0; j < n; j++) s += A[transposed ? j * ld + i : i * ld + j] * x[j];
        worst = fabs(s) > worst || s != s ? fabs(s) : worst;
    }
    return worst;
}

START_TEST(each_factorisation_solves) {
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int ld = sizes[k]; ld <= sizes[k] + 8; ld += 1 + (ti_ld(sizes[k]) - sizes[k] + 7) % 8) {
            int n = sizes[k];
            make(n, ld, 1, (unsigned)n);
            ck_assert_int_eq(ti_chol(n, F, ld, 0), 0);
            ti_chol_solve(n, F, ld, x);
            ck_assert_double_lt(defect(n, ld, 0), 1e-13);
            make(n, ld, 0, (unsigned)n);
            ck_assert_int_eq(ti_lu(n, F, ld, piv, 0), 0);
            ti_lu_solve(n, F, ld, piv, x);
            ck_assert_double_lt(defect(n, ld, 0), 1e-9);
            memcpy(x, b, sizeof b);
            ti_lu_solve_t(n, F, ld, piv, x);
            ck_assert_double_lt(defect(n, ld, 1), 1e-9);
        }
}
END_TEST

START_TEST(products_match) {
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        int n = sizes[k], ld = ti_ld(n);
        make(n, ld, 0, 7);
        double y[NMAX];
        ti_matvec_t(n, n, A, ld, x, b, y);
        for (int i = 0; i < n; i++) {
            double s = b[i];
            for (int j = 0; j < n; j++) s += A[j * ld + i] * x[j];
            ck_assert_double_eq_tol(y[i], s, 1e-13 * n);
        }
    }
}
END_TEST

/* Of matrices whose rows are further apart than they are long: what is between stays. */
START_TEST(products_of_matrices_match) {
    enum { ROWS = 6, BEYOND = 2 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes && sizes[k] <= 40; k++) {
        int n = sizes[k], ld = ti_ld(n), ldy = n + BEYOND;
        double X[ROWS * 48], Y[ROWS * 48];
        make(n, ld, 0, 11);
        for (int i = 0; i < ROWS * 48; i++) X[i] = sin(i + 1.0), Y[i] = 7;
        ti_product(ROWS, n, n, X, n + 1, A, ld, Y, ldy);
        for (int r = 0; r < ROWS; r++)
            for (int j = 0; j < ldy; j++) {
                double sum = j < n ? 0 : 7;
                for (int i = 0; i < n && j < n; i++) sum += X[r * (n + 1) + i] * A[i * ld + j];
                ck_assert_double_eq_tol(Y[r * ldy + j], sum, 1e-13 * n);
            }
    }
}
END_TEST

START_TEST(singular_matrices_are_refused) {
    for (size_t k = 1; k < sizeof sizes / sizeof *sizes; k++) {
        int n = sizes[k], ld = ti_ld(n);
        memset(F, 0, sizeof F);
        for (int i = 0; i < n; i++) F[i * ld + i] = i == n / 2 ? 0 : 1;
        memcpy(A, F, sizeof F);
        ck_assert_int_eq(ti_chol(n, F, ld, 1e-14), 1 + n / 2);
        memcpy(F, A, sizeof F);
        ck_assert_int_eq(ti_lu(n, F, ld, piv, 1e-14), 1 + n / 2);
        A[(n / 2) * (ld + 1)] = (double)NAN;
        memcpy(F, A, sizeof F);
        ck_assert_int_ne(ti_chol(n, F, ld, 0), 0);
        memcpy(F, A, sizeof F);
        ck_assert_int_ne(ti_lu(n, F, ld, piv, 0), 0);
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("dense");
    TCase *t = tcase_create("dense");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, each_factorisation_solves);
    tcase_add_test(t, products_match);
    tcase_add_test(t, products_of_matrices_match);
    tcase_add_test(t, singular_matrices_are_refused);
    suite_add_tcase(s, t);
    return s;
}
