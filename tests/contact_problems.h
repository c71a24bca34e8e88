/* contact_problems.h -- problems made at random and read, and what an answer to one is worth, from G and g alone. */
#ifndef CONTACT_PROBLEMS_H
#define CONTACT_PROBLEMS_H
#include "contact_makes.h"
#include "problem.h"
#include "randoms.h"
#include "test_main.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tribo/contact.h>

/* x := A^-1 x by Cholesky, A (n,n); A is destroyed. */
static inline void solve_spd(int n, double *A, int m, double *X) {
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double s = A[i * n + j];
            for (int k = 0; k < j; k++) s -= A[i * n + k] * A[j * n + k];
            A[i * n + j] = i == j ? sqrt(s) : s / A[j * n + j];
        }
    for (int c = 0; c < m; c++) {
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < i; k++) X[i * m + c] -= A[i * n + k] * X[k * m + c];
            X[i * m + c] /= A[i * n + i];
        }
        for (int i = n - 1; i >= 0; i--) {
            for (int k = i + 1; k < n; k++) X[i * m + c] -= A[k * n + i] * X[k * m + c];
            X[i * m + c] /= A[i * n + i];
        }
    }
}

static inline double outside(double t, double n, double mu) {
    return t <= mu * n ? 0 : mu * t <= -n ? hypot(t, n) : (t - mu * n) / sqrt(1 + mu * mu);
}

/* The relative residual with c recomputed from lambda alone; G (3 nc,3 nc), g. With de Saxce's shift of the NCP, or
 * without. */
static inline double cone_residual(int nc, const double *G, const double *g, const double *mu, const double *l,
                                   bool shifts) {
    int n = 3 * nc;
    double sl = 0, sg = 0, weight = 0, worst = 0, *c = calloc((size_t)n, sizeof *c);
    for (int i = 0; i < n; i++) {
        double w = 0;
        c[i] = g[i];
        for (int j = 0; j < n; j++) c[i] += G[i * n + j] * l[j], w += fabs(G[i * n + j] * l[j]);
        sl = fmax(sl, fabs(l[i])), sg = fmax(sg, fabs(g[i])), weight = fmax(weight, w);
    }
    double sc = sg + 1e-5 * weight;
    if (sl == 0) sl = 1;
    for (int i = 0; i < nc; i++) {
        double ct = hypot(c[3 * i], c[3 * i + 1]), shifted = c[3 * i + 2] + shifts * mu[i] * ct;
        double dot = l[3 * i] * c[3 * i] + l[3 * i + 1] * c[3 * i + 1] + l[3 * i + 2] * shifted;
        double dual = mu[i] > 0 ? outside(ct, shifted, 1 / mu[i]) : fmax(0, -shifted);
        worst = fmax(worst, outside(hypot(l[3 * i], l[3 * i + 1]), l[3 * i + 2], mu[i]) / sl);
        worst = fmax(worst, fmax(dual / sc, fabs(dot) / (sl * sc)));
    }
    free(c);
    return worst;
}

static inline double residual(int nc, const double *G, const double *g, const double *mu, const double *l) {
    return cone_residual(nc, G, g, mu, l, true);
}

/* G and g of a problem that has M and J. */
static inline void delassus(const ti_problem *q, double *G, double *g) {
    int n = 3 * q->nc, nv = q->nv;
    double *A = malloc(sizeof *A * (size_t)(nv * nv)), *X = malloc(sizeof *X * (size_t)(nv * n));
    memcpy(A, q->M, sizeof *A * (size_t)(nv * nv));
    for (int i = 0; i < nv; i++)
        for (int j = 0; j < n; j++) X[i * n + j] = q->J[j * nv + i];
    solve_spd(nv, A, n, X);
    for (int i = 0; i < n; i++) {
        g[i] = 0;
        for (int k = 0; k < nv; k++) g[i] += q->J[i * nv + k] * q->vfree[k];
        for (int j = 0; j < n; j++) {
            G[i * n + j] = 0;
            for (int k = 0; k < nv; k++) G[i * n + j] += q->J[i * nv + k] * X[k * n + j];
        }
    }
    free(A), free(X);
}

/* What a test does with a problem. q->G and q->g are set. */
typedef void contact_problem_test(const ti_problem *q, const tribo_contact_problem *p, void *context);

/* The problem with G and g beside or instead of M, J, vfree. */
static inline void test_problem(ti_problem *q, contact_problem_test *test, void *context) {
    tribo_contact_problem p = {
        .nc = q->nc, .nv = q->nv, .M = q->M, .J = q->J, .vfree = q->vfree, .G = q->G, .g = q->g, .mu = q->mu};
    int n = 3 * q->nc;
    double *G = q->G, *g = q->g;
    if (q->nv > 0) {
        q->G = calloc((size_t)(n * n), sizeof *G), q->g = calloc((size_t)n, sizeof *g);
        delassus(q, q->G, q->g);
    }
    test(q, &p, context);
    if (q->nv > 0) free(q->G), free(q->g);
    q->G = G, q->g = g;
}

/* Made problems of every kind, and some of them by G and g alone. */
static inline int for_every_made_problem(contact_problem_test *test, void *context) {
    enum { FIRST = 2000, EVERY = 6 };
    int count = 0;
    for (int k = 0; k < MADE_SET; k++) {
        made_problem made = made_of_set(k);
        ti_problem q = {
            .kind = TI_PROBLEM_NCP, .id = FIRST + k, .nc = made.nc, .nv = made.nv, .M = made.M, .J = made.J};
        q.vfree = made.vfree, q.mu = made.mu;
        test_problem(&q, test, context), count++;
        int n = 3 * q.nc;
        double *G = calloc((size_t)(n * n), sizeof *G), *g = calloc((size_t)n, sizeof *g);
        delassus(&q, G, g);
        ti_problem bare = {.kind = TI_PROBLEM_NCP, .id = FIRST + 100 + k, .nc = q.nc, .G = G, .g = g, .mu = q.mu};
        if (k % EVERY == 0) test_problem(&bare, test, context), count++;
        free(G), free(g), made_free(&made);
    }
    return count;
}

/* And each of contact/dev.jsonl of the folder that TRIBO_DATA names, where there is one. */
static inline int for_every_read_problem(contact_problem_test *test, void *context) {
    const char *folder = getenv("TRIBO_DATA");
    if (!folder) return 0;
    char path[512];
    snprintf(path, sizeof path, "%s/contact/dev.jsonl", folder);
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "cannot open %s", path);
    char *line = NULL;
    size_t room = 0;
    ssize_t bytes;
    int count = 0;
    while ((bytes = getline(&line, &room, f)) > 0) {
        ti_problem *q;
        tribo_diag diag;
        ck_assert_msg(ti_problem_load(line, (size_t)bytes, NULL, &q, &diag) == TRIBO_OK, "%s", diag.text);
        test_problem(q, test, context), count++;
        ti_problem_free(NULL, q);
    }
    ck_assert_int_gt(count, 0);
    free(line);
    fclose(f);
    return count;
}

static inline int for_every_contact_problem(contact_problem_test *test, void *context) {
    int made = for_every_made_problem(test, context);
    return made + for_every_read_problem(test, context);
}

#endif
