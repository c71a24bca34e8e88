/* test_contact.c -- the dense contact problem: problems of the data folder, and the reverse against differences. */
#define _POSIX_C_SOURCE 200809L
#include "formats/problem.h"
#include "test_main.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tribo/contact.h>

static double random_in(uint64_t *seed) { /* (-1, 1) */
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0 * 2 - 1;
}

/* x := A^-1 x by Cholesky, A (n,n); A is destroyed. */
static void solve_spd(int n, double *A, int m, double *X) {
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

static double outside(double t, double n, double mu) {
    return t <= mu * n ? 0 : mu * t <= -n ? hypot(t, n) : (t - mu * n) / sqrt(1 + mu * mu);
}

/* The relative residual with c recomputed from lambda alone; G (3 nc,3 nc), g. */
static double residual(int nc, const double *G, const double *g, const double *mu, const double *l) {
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
        double ct = hypot(c[3 * i], c[3 * i + 1]), shifted = c[3 * i + 2] + mu[i] * ct;
        double dot = l[3 * i] * c[3 * i] + l[3 * i + 1] * c[3 * i + 1] + l[3 * i + 2] * shifted;
        double dual = mu[i] > 0 ? outside(ct, shifted, 1 / mu[i]) : fmax(0, -shifted);
        worst = fmax(worst, outside(hypot(l[3 * i], l[3 * i + 1]), l[3 * i + 2], mu[i]) / sl);
        worst = fmax(worst, fmax(dual / sc, fabs(dot) / (sl * sc)));
    }
    free(c);
    return worst;
}

/* G and g of a problem that has M and J. */
static void delassus(const ti_problem *q, double *G, double *g) {
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

START_TEST(every_problem_of_the_data_folder) {
    const char *folder = getenv("TRIBO_DATA");
    if (!folder) {
        printf("TRIBO_DATA is not set: skipped\n");
        return;
    }
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
        tribo_contact_ws *ws;
        tribo_contact_info info;
        ck_assert_msg(ti_problem_load(line, (size_t)bytes, NULL, &q, &diag) == TRIBO_OK, "%s", diag.text);
        tribo_contact_problem p = {
            .nc = q->nc, .nv = q->nv, .M = q->M, .J = q->J, .vfree = q->vfree, .G = q->G, .g = q->g, .mu = q->mu};
        int n = 3 * q->nc;
        double *lambda = calloc((size_t)n, sizeof *lambda), *G = q->G, *g = q->g;
        ck_assert_int_eq(tribo_contact_ws_new(q->nc, q->nv > n ? q->nv : n, NULL, NULL, &ws), TRIBO_OK);
        ck_assert_int_eq(tribo_contact_solve(ws, &p, 0, false, lambda, NULL, &info), TRIBO_OK);
        if (q->nv > 0) {
            G = calloc((size_t)(n * n), sizeof *G), g = calloc((size_t)n, sizeof *g);
            delassus(q, G, g);
        }
        double r = residual(q->nc, G, g, q->mu, lambda);
        ck_assert_msg(r < 1e-9, "problem %g: residual %g", q->id, r);
        if (q->nv > 0) free(G), free(g);
        free(lambda);
        tribo_contact_ws_free(ws);
        ti_problem_free(NULL, q);
        count++;
    }
    ck_assert_int_gt(count, 0);
    free(line);
    fclose(f);
}
END_TEST

/* ---------------------------------------------------------------- reverse */

enum { NC = 4, N = 12, NV = 18 };

typedef struct dense {
    int nv; /* 0: G and g are given */
    double M[NV * NV], J[N * NV], vfree[NV], G[N * N], g[N], mu[NC];
} dense;

static tribo_contact_problem view(const dense *d) {
    tribo_contact_problem p = {.nc = NC, .nv = d->nv, .mu = d->mu};
    if (d->nv)
        p.M = d->M, p.J = d->J, p.vfree = d->vfree;
    else
        p.G = d->G, p.g = d->g;
    return p;
}

/* Four contacts on nv velocities, all of them closing, sliding or not. */
static void random_problem(dense *d, int nv, uint64_t *seed) {
    memset(d, 0, sizeof *d);
    d->nv = nv;
    for (int i = 0; i < nv; i++)
        for (int j = 0; j <= i; j++)
            d->M[i * nv + j] = d->M[j * nv + i] = 0.15 * random_in(seed) + (i == j) * (1.5 + 0.5 * random_in(seed));
    for (int k = 0; k < N * nv; k++) d->J[k] = random_in(seed);
    for (int k = 0; k < nv; k++) d->vfree[k] = random_in(seed);
    for (int i = 0; i < NC; i++) d->mu[i] = 0.5 + 0.3 * random_in(seed);
}

static double *entry(dense *d, int block, int i) {
    double *const at[6] = {d->vfree, d->g, d->mu, d->M, d->J, d->G};
    return at[block] + i;
}

static double loss(tribo_contact_ws *ws, dense *d, const double *w, const double *u) {
    double lambda[N], v[NV] = {0}, L = 0;
    tribo_contact_problem p = view(d);
    ck_assert_int_eq(tribo_contact_solve(ws, &p, 1e-12, false, lambda, v, NULL), TRIBO_OK);
    for (int k = 0; k < N; k++) L += w[k] * lambda[k];
    for (int k = 0; k < d->nv; k++) L += u[k] * v[k];
    return L;
}

static void check_reverse(dense *d, uint64_t seed) {
    tribo_contact_ws *ws;
    ck_assert_int_eq(tribo_contact_ws_new(NC, NV, NULL, NULL, &ws), TRIBO_OK);
    double w[N], u[NV], bar[6][NV * NV] = {{0}};
    int nv = d->nv, size[6] = {nv, N, NC, nv * nv, N * nv, nv ? 0 : N * N};
    for (int k = 0; k < N; k++) w[k] = random_in(&seed);
    for (int k = 0; k < NV; k++) u[k] = random_in(&seed);
    loss(ws, d, w, u);
    tribo_contact_problem p = view(d);
    ck_assert_int_eq(tribo_contact_vjp(ws, &p, w, nv ? u : NULL, bar[0], bar[1], bar[2], bar[3], bar[4], bar[5]),
                     TRIBO_OK);
    for (int block = 0; block < 6; block++) {
        double scale = 1e-3;
        for (int k = 0; k < size[block]; k++) scale = fmax(scale, fabs(bar[block][k]));
        if (block == 1 && nv) continue; /* no g of its own */
        for (int k = 0; k < size[block]; k++) {
            int n = block == 3 ? nv : N, mirror = (k % n) * n + k / n;
            bool symmetric = (block == 3 || block == 5) && mirror != k;
            double h = 1e-5, at[2], *x = entry(d, block, k), *y = symmetric ? entry(d, block, mirror) : NULL;
            for (int side = 0; side < 2; side++) {
                double keep = *x, step = side ? -h : h;
                *x += step;
                if (y) *y = *x;
                at[side] = loss(ws, d, w, u);
                *x = keep;
                if (y) *y = keep;
            }
            double fd = (at[0] - at[1]) / (2 * h), rv = bar[block][k] * (symmetric ? 2 : 1);
            ck_assert_msg(fabs(fd - rv) < 2e-6 * scale, "block %d entry %d: reverse %.12g, difference %.12g", block, k,
                          rv, fd);
        }
    }
    tribo_contact_ws_free(ws);
}

START_TEST(reverse_of_the_dense_problem) {
    for (uint64_t seed = 1; seed < 5; seed++) {
        dense d;
        uint64_t rng = seed;
        random_problem(&d, 12, &rng); /* one block */
        check_reverse(&d, seed);
        random_problem(&d, 18, &rng); /* more velocities than impulses */
        check_reverse(&d, seed);
    }
}
END_TEST

START_TEST(reverse_of_the_delassus_form) {
    for (uint64_t seed = 1; seed < 5; seed++) {
        dense d;
        uint64_t rng = 7 * seed;
        random_problem(&d, 14, &rng);
        for (int i = 0; i < N; i++) {
            d.g[i] = random_in(&rng);
            for (int j = 0; j < N; j++) {
                d.G[i * N + j] = 0;
                for (int k = 0; k < 14; k++) d.G[i * N + j] += d.J[i * 14 + k] * d.J[j * 14 + k];
            }
        }
        d.nv = 0;
        check_reverse(&d, seed);
    }
}
END_TEST

START_TEST(arguments_are_checked) {
    tribo_contact_ws *ws;
    dense d;
    uint64_t rng = 3;
    double lambda[N], v[NV];
    ck_assert_int_eq(tribo_contact_ws_new(0, 6, NULL, NULL, &ws), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_contact_ws_new(NC, NV, NULL, NULL, &ws), TRIBO_OK);
    random_problem(&d, 12, &rng);
    tribo_contact_problem p = view(&d);
    ck_assert_int_eq(tribo_contact_vjp(ws, &p, lambda, NULL, v, NULL, NULL, NULL, NULL, NULL), TRIBO_E_ARG);
    d.mu[1] = -1;
    ck_assert_int_eq(tribo_contact_solve(ws, &p, 0, false, lambda, v, NULL), TRIBO_E_ARG);
    d.mu[1] = NAN;
    ck_assert_int_eq(tribo_contact_solve(ws, &p, 0, false, lambda, v, NULL), TRIBO_E_NONFINITE);
    d.mu[1] = 0.3, d.M[0] = -1;
    ck_assert_int_eq(tribo_contact_solve(ws, &p, 0, false, lambda, v, NULL), TRIBO_E_SINGULAR);
    p.nc = NC + 1;
    ck_assert_int_eq(tribo_contact_solve(ws, &p, 0, false, lambda, v, NULL), TRIBO_E_ARG);
    tribo_contact_ws_free(ws);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("contact");
    TCase *t = tcase_create("dense");
    tcase_add_test(t, every_problem_of_the_data_folder);
    tcase_add_test(t, reverse_of_the_dense_problem);
    tcase_add_test(t, reverse_of_the_delassus_form);
    tcase_add_test(t, arguments_are_checked);
    suite_add_tcase(s, t);
    return s;
}
