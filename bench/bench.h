/* bench.h -- what the benches share: the end of what fails, the clock, medians, and a unit to carry times from one
 * machine to another. */
#ifndef BENCH_H
#define BENCH_H
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <lapacke.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <tribo/base.h>

/* Ends the program where a call failed. */
static inline void bench_ensure(int status, const char *what) {
    if (status >= 0) return;
    fprintf(stderr, "%s: %s\n", what, tribo_status_text((tribo_status)status));
    exit(1);
}

/* Zeros. */
static inline double *bench_numbers(size_t n) {
    double *a = calloc(n ? n : 1, sizeof *a);
    if (!a) bench_ensure(TRIBO_E_NOMEM, "memory");
    return a;
}

/* CPU time of this thread, s: other programs on the machine do not count. */
static inline double bench_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int bench_ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts a. */
static inline double bench_median(double *a, int n) {
    qsort(a, (size_t)n, sizeof *a, bench_ascending);
    return n % 2 ? a[n / 2] : 0.5 * (a[n / 2 - 1] + a[n / 2]);
}

/* The unit: seconds of LAPACKE_dpotrf at n, one thread, median of several; n <= 128. */
static inline double bench_dpotrf(int n) {
    enum { MOST = 128, REPEATS = 41, CALLS = 20 };
    static double A[MOST * MOST], B[CALLS][MOST * MOST];
    double t[REPEATS];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) A[i * n + j] = i == j ? n : 1.0 / (1 + i + j);
    for (int r = 0; r < REPEATS; r++) {
        for (int c = 0; c < CALLS; c++)
            for (int i = 0; i < n * n; i++) B[c][i] = A[i];
        double start = bench_seconds();
        for (int c = 0; c < CALLS; c++) LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', n, B[c], n);
        t[r] = (bench_seconds() - start) / CALLS;
    }
    return bench_median(t, REPEATS);
}

#endif
