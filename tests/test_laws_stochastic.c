/* test_laws_stochastic.c -- the stochastic law: its expectations against quadrature, its limit of no noise, its
 * reverse.
 */
#define _POSIX_C_SOURCE 200809L
#include "contact/law/erm.h"
#include "contact/law/noise.h"
#include "contact_problems.h"
#include <math.h>

/* ---- expectations by quadrature: trapezia of a smooth integrand to its tails are as good as exact ---- */

static double density(tribo_smoothing smoothing, double sd, double x) {
    const double pi = 3.14159265358979323846;
    if (smoothing != TRIBO_SMOOTHING_LOGISTIC) return exp(-0.5 * x * x / (sd * sd)) / (sd * sqrt(2 * pi));
    double s = sd * sqrt(3) / pi, e = exp(-fabs(x) / s);
    return e / (s * (1 + e) * (1 + e));
}

/* The integral of f(x, context) density(x); f is smooth but for kinks at k[0] <= k[1], between which Gauss's rule of
 * order 5 is applied piece by piece. */
static double expectation(tribo_smoothing smoothing, double sd, const double *kink, double (*f)(double, const double *),
                          const double *context) {
    static const double at[3] = {-0.77459666924148337704, 0, 0.77459666924148337704},
                        w[3] = {5. / 18, 8. / 18, 5. / 18};
    double far = 45 * sd, sum = 0;
    double ends[4] = {-far, fmin(fmax(kink[0], -far), far), fmin(fmax(kink[1], -far), far), far};
    for (int part = 0; part < 3; part++) {
        int n = 4000;
        double h = (ends[part + 1] - ends[part]) / n;
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) {
                double x = ends[part] + h * (i + 0.5 + 0.5 * at[k]);
                sum += h * w[k] * f(x, context) * density(smoothing, sd, x);
            }
    }
    return sum;
}

static double ramp(double x, const double *z) {
    return fmax(0, *z + x);
}
static double clip(double x, const double *sr) {
    return fmax(-sr[1], fmin(sr[1], sr[0] + x));
}
static double step_up(double x, const double *z) {
    return *z + x > 0;
}

START_TEST(expectations_are_integrals) {
    tribo_smoothing kind = _i ? TRIBO_SMOOTHING_GAUSSIAN : TRIBO_SMOOTHING_LOGISTIC;
    const double sd = 0.7, at[] = {-8, -3, -1, -0.1, 0, 1e-3, 0.4, 2, 9}, size[] = {0, 1e-4, 3e-3, 0.02, 0.5, 2, 9};
    ti_noise w = ti_noise_of(kind == TRIBO_SMOOTHING_LOGISTIC, sd);
    for (int i = 0; i < 9; i++) {
        double kink[2] = {-at[i], -at[i]}, want = expectation(kind, sd, kink, ramp, &at[i]);
        double got = ti_noise_ramp(&w, at[i]), below = expectation(kind, sd, kink, step_up, &at[i]);
        ck_assert_msg(fabs(got - want) <= 1e-10 * want, "E max(0, %g + w) = %g, not %g", at[i], want, got);
        ck_assert_msg(fabs(ti_noise_below(&w, at[i]) - below) <= 1e-10 * below, "P(w > %g)", -at[i]);
    }
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++) {
            double sr[2] = {size[i], size[j]}, kink[2] = {-sr[1] - sr[0], sr[1] - sr[0]};
            ti_clip c = ti_noise_clip(&w, sr[0], sr[1]);
            double want = expectation(kind, sd, kink, clip, sr);
            ck_assert_msg(fabs(c.h - want) <= 1e-10 * (want + 1e-3), "E clip(%g + w, %g) = %g, not %g", sr[0], sr[1],
                          want, c.h);
            ck_assert(fabs(c.lack + c.share - 1) < 1e-14 && fabs(c.outside + c.hs - 1) < 1e-14);
        }
}
END_TEST

/* Far out on either side what is left keeps its digits: the ramp's asymptotic series. */
START_TEST(tails_keep_their_digits) {
    ti_noise g = ti_noise_of(false, 1), l = ti_noise_of(true, 1);
    double x = 20, x2 = x * x;
    double tail = density(TRIBO_SMOOTHING_GAUSSIAN, 1, x) / x2 * (1 - 3 / x2 + 15 / (x2 * x2) - 105 / (x2 * x2 * x2));
    ck_assert(fabs(ti_noise_ramp(&g, -x) / tail - 1) < 1e-7);
    ck_assert(fabs(ti_noise_ramp(&l, -100) / (l.width * exp(-100 / l.width)) - 1) < 1e-12);
    ck_assert(ti_noise_ramp(&g, 50) == 50 && ti_noise_ramp(&g, -50) == 0 && ti_noise_below(&l, -1e4) == 0);
    ti_clip c = ti_noise_clip(&g, 1, 1e6), d = ti_noise_clip(&g, 1e6, 1);
    ck_assert(c.h == 1 && c.lack == 0 && c.outside == 0 && d.h == 1 && d.hs == 0 && d.hr == 1);
}
END_TEST

/* |lambda - max(0, z_n + x)|^2, then |lambda_t - clip(z_t + x)|^2 along and across. */
static double normal_square(double x, const double *lz) {
    double f = lz[0] - fmax(0, lz[1] + x);
    return f * f;
}
static double slip_square(double x, const double *a) { /* lambda along the slip and across, |z|, r */
    double f = a[0] - fmax(-a[3], fmin(a[3], a[2] + x));
    return f * f + a[1] * a[1];
}

START_TEST(least_squares_are_integrals) {
    const double own[9] = {1.3, 0.1, 0, 0.1, 0.9, 0, 0, 0, 2}, rho_n = 0.5, rho_t = 1 / 1.1;
    tribo_smoothing kind = TRIBO_SMOOTHING_GAUSSIAN;
    uint64_t seed = 5;
    for (int k = 0; k < 40; k++) {
        ti_law_contact s = {.mu = 0.6, .Gii = own, .noise_n = 0.2, .noise_t = 0.5};
        double l[3], c[3];
        for (int i = 0; i < 3; i++) l[i] = random_in(&seed), c[i] = random_in(&seed);
        ti_erm e;
        ti_erm_of(&s, l, c, &e);
        double sn = rho_n * s.noise_n, st = rho_t * s.noise_t;
        double n[2] = {l[2], l[2] - rho_n * c[2]}, zt[2] = {l[0] - rho_t * c[0], l[1] - rho_t * c[1]};
        double size = hypot(zt[0], zt[1]), kink[2] = {-n[1], -n[1]};
        double r = s.mu * expectation(kind, sn, kink, ramp, &n[1]), want;
        double a[4] = {(l[0] * zt[0] + l[1] * zt[1]) / size, (l[1] * zt[0] - l[0] * zt[1]) / size, size, r};
        want = expectation(kind, sn, kink, normal_square, n) / rho_n;
        kink[0] = -r - size, kink[1] = r - size;
        want += expectation(kind, st, kink, slip_square, a) / rho_t;
        ck_assert_msg(fabs(e.value - want) <= 1e-10 * want, "%.15g, not %.15g", e.value, want);
    }
}
END_TEST

/* ---- one contact in one dimension ---- */

START_TEST(force_is_the_expected_force) {
    tribo_smoothing kind = (tribo_smoothing)(TRIBO_SMOOTHING_LOGISTIC + _i);
    const double sd = 0.05, M[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, J[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mu = 0;
    tribo_law_options law = {.law = TRIBO_LAW_STOCHASTIC, .smoothing = kind, .noise = sd};
    tribo_contact_ws *ws;
    ck_assert_int_eq(tribo_contact_ws_new(1, 3, &law, NULL, &ws), TRIBO_OK);
    for (double u = -0.3; u < 0.25; u += 0.0499) {
        double vfree[3] = {0.3, -0.1, u}, lambda[3] = {0}, v[3], bar[3] = {0, 0, 1}, slope[3] = {0}, z = -u;
        tribo_contact_problem p = {.nc = 1, .nv = 3, .M = M, .J = J, .vfree = vfree, .mu = &mu};
        tribo_contact_info info;
        ck_assert_int_eq(tribo_contact_solve(ws, &p, 0, false, lambda, v, &info), TRIBO_OK);
        ck_assert(info.canonical && info.ndegenerate == 0 && isinf(info.margin));
        ck_assert_int_eq(tribo_contact_vjp(ws, &p, bar, NULL, slope, NULL, NULL, NULL, NULL, NULL), TRIBO_OK);
        double kink[2] = {u, u}, want = 2 * expectation(kind, sd, kink, ramp, &z);
        double push = -2 * expectation(kind, sd, kink, step_up, &z);
        ck_assert_msg(fabs(lambda[2] - want) <= 1e-9 * want, "at %g m/s: %.15g, expected %.15g", u, lambda[2], want);
        ck_assert_msg(fabs(slope[2] - push) <= 1e-9 * fabs(push), "at %g m/s: slope %.15g, expected %.15g", u, slope[2],
                      push);
        ck_assert(fabs(v[2] - (u + lambda[2] / 2)) < 1e-14 && lambda[0] == 0 && lambda[1] == 0);
    }
    tribo_contact_ws_free(ws);
}
END_TEST

/* ---- noise to zero ---- */

enum { NV = 6 };
/* A cube with four corners on the ground and one with an edge in the air: sticks, slides, leaves, tips. */
static void cube(int kind, double *M, double *J, double *vfree, double *mu) {
    static const double corner[4][2] = {{1, 1}, {1, -1}, {-1, -1}, {-1, 1}};
    static const double free[4][NV] = {{0.1, 0.05, -1, 0.1, -0.2, 0.1},
                                       {1.5, -0.7, -0.4, 0.05, 0.1, 0.3},
                                       {0.3, 0.2, 0.5, 0.1, 0.1, 0.1},
                                       {0.4, 0.2, -0.3, 1.6, -0.4, 0.2}};
    memset(M, 0, NV * NV * sizeof *M), memcpy(vfree, free[kind], sizeof free[kind]);
    for (int i = 0; i < NV; i++) M[(NV + 1) * i] = i < 3 ? 1.5 : 0.3;
    for (int i = 0; i < 4; i++, J += 3 * NV) {
        double x = 0.5 * corner[i][0], y = 0.5 * corner[i][1], z = -0.5;
        const double rows[3 * NV] = {1, 0, 0, 0, z, -y, 0, 1, 0, -z, 0, x, 0, 0, 1, y, -x, 0};
        memcpy(J, rows, sizeof rows);
        mu[i] = kind == 1 ? 0.2 : 0.8;
    }
}

static double distance(const double *a, const double *b) {
    double d = 0, size = 0;
    for (int i = 0; i < 12; i++) d = fmax(d, fabs(a[i] - b[i])), size = fmax(size, fabs(b[i]));
    return d / (size > 0 ? size : 1);
}

START_TEST(no_noise_is_the_hard_solution) {
    double M[NV * NV], J[12 * NV], vfree[NV], mu[4], hard[12], soft[12], v[NV], u[NV];
    tribo_contact_ws *ws;
    cube(_i / 3, M, J, vfree, mu);
    tribo_contact_problem p = {.nc = 4, .nv = NV, .M = M, .J = J, .vfree = vfree, .mu = mu};
    ck_assert_int_eq(tribo_contact_ws_new(4, NV, NULL, NULL, &ws), TRIBO_OK);
    ck_assert_int_eq(tribo_contact_solve(ws, &p, 0, false, hard, u, NULL), TRIBO_OK);
    tribo_contact_ws_free(ws);
    for (double noise = 0.3; noise > 1e-9; noise *= 0.1) {
        tribo_law_options law = {.law = TRIBO_LAW_STOCHASTIC,
                                 .smoothing = (tribo_smoothing)(TRIBO_SMOOTHING_LOGISTIC + _i % 3),
                                 .noise = noise};
        tribo_contact_info info;
        ck_assert_int_eq(tribo_contact_ws_new(4, NV, &law, NULL, &ws), TRIBO_OK);
        ck_assert_int_eq(tribo_contact_solve(ws, &p, 0, false, soft, v, &info), TRIBO_OK);
        ck_assert(info.canonical && info.residual <= 1e-9);
        double off = 0, d = distance(soft, hard), floor = _i % 3 == 2 ? 1e-7 : 1e-10;
        for (int k = 0; k < NV; k++) off = fmax(off, fabs(v[k] - u[k]));
        ck_assert_msg(off <= 2 * noise + floor, "noise %g: %g m/s off", noise, off);
        /* least squares share a redundant load their own way */
        if (_i % 3 < 2) ck_assert_msg(d <= 3 * noise + 1e-10, "noise %g: %g off", noise, d);
        tribo_contact_ws_free(ws);
    }
}
END_TEST

/* ---- the problems of the data folder ---- */

typedef struct tally {
    tribo_smoothing smoothing;
    double noise;
    int beyond; /* problems that it may leave unsolved, if it says so */
    int asked, solved;
} tally;

static void solve_one(const ti_problem *q, const tribo_contact_problem *p, void *context) {
    tally *t = context;
    tribo_law_options law = {.law = TRIBO_LAW_STOCHASTIC, .smoothing = t->smoothing, .noise = t->noise};
    tribo_contact_ws *ws;
    tribo_contact_info info, warm;
    int n = 3 * q->nc;
    double *lambda = calloc((size_t)n, sizeof *lambda), *g_bar = calloc((size_t)n, sizeof *g_bar);
    ck_assert_int_eq(tribo_contact_ws_new(q->nc, q->nv > n ? q->nv : n, &law, NULL, &ws), TRIBO_OK);
    tribo_status status = tribo_contact_solve(ws, p, 0, false, lambda, NULL, &info);
    ck_assert(status == TRIBO_OK || status == TRIBO_NOT_CONVERGED);
    ck_assert((status == TRIBO_OK) == (info.residual <= 1e-9));
    t->asked++, t->solved += status == TRIBO_OK;
    if (status == TRIBO_OK) {
        ck_assert_int_eq(tribo_contact_vjp(ws, p, lambda, NULL, NULL, g_bar, NULL, NULL, NULL, NULL), TRIBO_OK);
        for (int k = 0; k < n; k++) ck_assert(isfinite(g_bar[k]));
        ck_assert_int_eq(tribo_contact_solve(ws, p, 0, true, lambda, NULL, &warm), TRIBO_OK);
        ck_assert_msg(warm.iterations <= info.iterations + 20, "problem %g: %d warm, %d cold", q->id, warm.iterations,
                      info.iterations);
    }
    tribo_contact_ws_free(ws);
    free(lambda), free(g_bar);
}

START_TEST(every_problem) {
    static const tally cases[] = {{TRIBO_SMOOTHING_LOGISTIC, 0.1, 0, 0, 0},  {TRIBO_SMOOTHING_LOGISTIC, 1e-3, 0, 0, 0},
                                  {TRIBO_SMOOTHING_GAUSSIAN, 1, 0, 0, 0},    {TRIBO_SMOOTHING_GAUSSIAN, 0.1, 0, 0, 0},
                                  {TRIBO_SMOOTHING_GAUSSIAN, 0.01, 0, 0, 0}, {TRIBO_SMOOTHING_GAUSSIAN, 1e-3, 0, 0, 0},
                                  {TRIBO_SMOOTHING_GAUSSIAN, 1e-4, 0, 0, 0}, {TRIBO_SMOOTHING_ERM, 1, 1, 0, 0},
                                  {TRIBO_SMOOTHING_ERM, 0.1, 2, 0, 0}};
    tally t = cases[_i];
    for_every_contact_problem(solve_one, &t);
    ck_assert_msg(t.solved >= t.asked - t.beyond, "noise %g: %d of %d", t.noise, t.solved, t.asked);
}
END_TEST

/* Of one contact compliance chooses nothing: the answer is that of none, to rounding, and its slope to what (463)
 * leaves. */
START_TEST(one_contact_is_exact) {
    const double sd = 0.05, width = sqrt(3) * sd / acos(-1), mu = 0;
    const double M[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, J[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    tribo_law_options law = {.law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_LOGISTIC, .noise = sd};
    tribo_contact_ws *ws;
    ck_assert_int_eq(tribo_contact_ws_new(1, 3, &law, NULL, &ws), TRIBO_OK);
    for (double u = -0.5; u < 0.25; u += 0.05) {
        double vfree[3] = {0.3, -0.1, u}, lambda[3] = {0}, v[3], bar[3] = {0, 0, 1}, slope[3] = {0};
        tribo_contact_problem p = {.nc = 1, .nv = 3, .M = M, .J = J, .vfree = vfree, .mu = &mu};
        ck_assert_int_eq(tribo_contact_solve(ws, &p, 0, false, lambda, v, NULL), TRIBO_OK);
        ck_assert_int_eq(tribo_contact_vjp(ws, &p, bar, NULL, slope, NULL, NULL, NULL, NULL, NULL), TRIBO_OK);
        double want = 2 * width * (u < 0 ? log1p(exp(u / width)) - u / width : log1p(exp(-u / width)));
        double push = -2 / (1 + exp(u / width));
        ck_assert_msg(fabs(lambda[2] / want - 1) < 1e-13, "at %g m/s: off by %g", u, lambda[2] / want - 1);
        ck_assert_msg(fabs(slope[2] / push - 1) < 2e-11, "at %g m/s: slope off by %g", u, slope[2] / push - 1);
    }
    tribo_contact_ws_free(ws);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("stochastic law");
    TCase *t = tcase_create("all");
    TCase *many = tagged_case(s, "many", "many");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, expectations_are_integrals, 0, 2);
    tcase_add_test(t, tails_keep_their_digits);
    tcase_add_test(t, least_squares_are_integrals);
    tcase_add_loop_test(t, force_is_the_expected_force, 0, 3);
    tcase_add_test(t, one_contact_is_exact);
    tcase_add_loop_test(t, no_noise_is_the_hard_solution, 0, 12);
    tcase_add_loop_test(t, every_problem, 0, 2);
    tcase_add_loop_test(many, every_problem, 2, 9);
    suite_add_tcase(s, t);
    return s;
}
