/* test_contact.c -- the dense contact problem: problems of the data folder, and the reverse against differences. */
#define _POSIX_C_SOURCE 200809L
#include "contact_problems.h"

static void solve_one(const ti_problem *q, const tribo_contact_problem *p, void *context) {
    (void)context;
    tribo_contact_ws *ws;
    tribo_contact_info info;
    int n = 3 * q->nc;
    double *lambda = calloc((size_t)n, sizeof *lambda);
    ck_assert_int_eq(tribo_contact_ws_new(q->nc, q->nv > n ? q->nv : n, NULL, NULL, &ws), TRIBO_OK);
    ck_assert_int_eq(tribo_contact_solve(ws, p, 0, false, lambda, NULL, &info), TRIBO_OK);
    double r = residual(q->nc, q->G, q->g, q->mu, lambda);
    ck_assert_msg(r < 1e-9, "problem %g: residual %g", q->id, r);
    free(lambda);
    tribo_contact_ws_free(ws);
}

START_TEST(every_problem_of_the_data_folder) {
    for_every_contact_problem(solve_one, NULL);
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
