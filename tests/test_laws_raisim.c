/* test_laws_raisim.c -- RaiSim's law and its correction: the least energy, too little dissipation, the NCP. */
#define _POSIX_C_SOURCE 200809L
#include "contact/law/bisection.h"
#include "contact/solver/solvers.h"
#include "contact_problems.h"

static const tribo_law_options by_bisection = {.law = TRIBO_LAW_RAISIM, .solver = TRIBO_SOLVER_BISECTION, .raw = true};
static const tribo_law_options by_correction = {
    .law = TRIBO_LAW_RAISIM, .solver = TRIBO_SOLVER_BISECTION_CORRECTED, .raw = true};

static double norm2(const double *a) {
    return hypot(a[0], a[1]);
}

/* ---------------------------------------------------------------- one contact */

typedef struct contact {
    double G[9], free[3], mu, shift; /* shift = mu |G_tn| / G_nn */
    ti_law_scale scale;
} contact;

/* A = L L' from random L, tilted: large shifts are among them. */
static contact draw(uint64_t *seed) {
    contact x = {.mu = 1.2 * fabs(random_in(seed))};
    double L[9];
    for (int k = 0; k < 9; k++) L[k] = random_in(seed);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            x.G[3 * r + c] = r == c ? 0.05 : 0;
            for (int k = 0; k < 3; k++) x.G[3 * r + c] += L[3 * r + k] * L[3 * c + k];
        }
    for (int r = 0; r < 3; r++) x.free[r] = random_in(seed);
    x.shift = x.mu * norm2(x.G + 6) / x.G[8];
    double t = fmax(x.G[0], x.G[4]), n = x.G[8];
    x.scale = (ti_law_scale){1 / n, 1 / t, n, t};
    return x;
}

static ti_law_contact contact_of(const contact *x) {
    return (ti_law_contact){.mu = x->mu, .scale = &x->scale, .Gii = x->G};
}

static void velocity(const contact *x, const double *l, double *c) {
    for (int r = 0; r < 3; r++)
        c[r] = x->free[r] + x->G[3 * r] * l[0] + x->G[3 * r + 1] * l[1] + x->G[3 * r + 2] * l[2];
}

/* Kinetic energy less that of no impulse. */
static double energy(const contact *x, const double *l) {
    double c[3], e = 0;
    velocity(x, l, c);
    for (int r = 0; r < 3; r++) e += 0.5 * l[r] * (c[r] + x->free[r]);
    return e;
}

static double worst_of(const ti_law *law, const contact *x, const double *l) {
    ti_law_contact s = contact_of(x);
    double c[3], part[3];
    velocity(x, l, c);
    law->residual(&s, l, c, part);
    return fmax(part[0], fmax(part[1], part[2])) / (1 + norm2(l) + fabs(l[2]));
}

/* The least energy on the curve, over 3600 directions. */
static double least(const contact *x) {
    double best = HUGE_VAL;
    for (int k = 0; k < 3600; k++) {
        double angle = 2 * 3.14159265358979323846 * k / 3600, d[2] = {cos(angle), sin(angle)};
        double n = -x->free[2] / (x->G[8] + x->mu * (x->G[6] * d[0] + x->G[7] * d[1]));
        double l[3] = {x->mu * n * d[0], x->mu * n * d[1], n};
        if (n > 0) best = fmin(best, energy(x, l));
    }
    return best;
}

START_TEST(slides_with_the_least_energy) {
    uint64_t seed = 1;
    int slid = 0, steep = 0;
    for (int k = 0; k < 3000; k++) {
        contact x = draw(&seed);
        ti_law_contact s = contact_of(&x);
        double l[3] = {0}, again[3] = {random_in(&seed), random_in(&seed), 0}, c[3];
        ti_bisect_raisim(&s, x.free, l);
        double wrong = worst_of(&ti_law_raisim, &x, l);
        ck_assert_msg(wrong < 1e-13, "contact %d: residual %g, shift %g", k, wrong, x.shift);
        ti_bisect_raisim(&s, x.free, again);
        for (int r = 0; r < 3; r++)
            ck_assert_msg(fabs(again[r] - l[r]) < 1e-11 * (1 + fabs(l[r])), "contact %d: from elsewhere %g %g", k,
                          again[r], l[r]);
        velocity(&x, l, c);
        if (ti_law_raisim.mode(&s, l, c) != TRIBO_SLIDE) continue;
        double grid = least(&x), e = energy(&x, l);
        ck_assert_msg(e <= grid + 1e-12 * fabs(grid), "contact %d: %g, grid %g", k, e, grid);
        slid++, steep += x.shift > 1;
    }
    ck_assert_int_gt(slid, 500);
    ck_assert_int_gt(steep, 50);
}
END_TEST

/* Where mu |G_tn| < G_nn there always is an answer; beyond, sliding may press the contact in. */
START_TEST(corrected_it_solves_the_ncp) {
    uint64_t seed = 2;
    int slid = 0, other = 0;
    for (int k = 0; k < 5000; k++) {
        contact x = draw(&seed);
        if (x.shift >= 1) continue;
        ti_law_contact s = contact_of(&x);
        double l[3] = {0}, r[3] = {0}, c[3];
        ti_bisect_ncp(&s, x.free, l);
        ti_bisect_raisim(&s, x.free, r);
        double wrong = worst_of(&ti_law_ncp, &x, l);
        ck_assert_msg(wrong < 1e-13, "contact %d: residual %g, shift %g", k, wrong, x.shift);
        velocity(&x, l, c);
        if (ti_law_ncp.mode(&s, l, c) != TRIBO_SLIDE) continue;
        slid++, other += fabs(r[0] - l[0]) + fabs(r[1] - l[1]) > 1e-3;
    }
    ck_assert_int_gt(slid, 500);
    ck_assert_int_gt(other, slid / 2);
}
END_TEST

/* dF against differences, in every mode. */
START_TEST(slope_is_that_of_the_equation) {
    uint64_t seed = 3;
    double worst = 0;
    for (int k = 0; k < 300; k++) {
        contact x = draw(&seed);
        if (x.shift >= 0.9) continue;
        double l[3], c[3], at[16];
        for (int r = 0; r < 3; r++) l[r] = random_in(&seed), c[r] = random_in(&seed);
        l[2] = fabs(l[2]), c[2] = -fabs(c[2]); /* it is pressed */
        for (unsigned char mode = 0; mode <= TRIBO_SLIDE; mode++) {
            ti_law_contact s = contact_of(&x);
            ti_law_slope f;
            ti_law_raisim.slope(&s, mode, l, c, &f);
            memcpy(at, l, 24), memcpy(at + 3, c, 24), memcpy(at + 6, x.G, 72), at[15] = x.mu;
            for (int j = 0; j < 16; j++) {
                double h = 1e-4, sum[3] = {0};
                static const double shift[4] = {1, -1, 0.5, -0.5}, weight[4] = {-1. / 6, 1. / 6, 4. / 3, -4. / 3};
                for (int q = 0; q < 4; q++) {
                    double y[16];
                    memcpy(y, at, sizeof y);
                    y[j] += shift[q] * h;
                    ti_law_contact t = {.mu = y[15], .scale = &x.scale, .Gii = y + 6};
                    ti_law_slope g;
                    ti_law_raisim.slope(&t, mode, y, y + 3, &g);
                    for (int r = 0; r < 3; r++) sum[r] += weight[q] * g.F[r] / h;
                }
                for (int r = 0; r < 3; r++) {
                    double exact = j < 3    ? f.l[3 * r + j]
                                   : j < 6  ? f.c[3 * r + j - 3]
                                   : j < 15 ? f.Gii[9 * r + j - 6]
                                            : f.mu[r];
                    worst = fmax(worst, fabs(exact - sum[r]) / (1 + fabs(exact)));
                }
            }
        }
    }
    printf("worst error of a derivative %.1e\n", worst);
    ck_assert(worst < 1e-6);
}
END_TEST

/* ---------------------------------------------------------------- a body on one contact, by the public functions */

typedef struct body {
    double M[36], J[18], vfree[6], mu;
} body;

/* Of mass m and inertia I about every axis, touched at r. */
static body body_at(const double *r, double m, double I, double mu) {
    body b = {.mu = mu};
    for (int k = 0; k < 6; k++) b.M[7 * k] = k < 3 ? m : I;
    const double turn[9] = {0, r[2], -r[1], -r[2], 0, r[0], r[1], -r[0], 0}; /* rows e x ... of v + w x r */
    for (int k = 0; k < 3; k++) {
        b.J[6 * k + k] = 1;
        for (int j = 0; j < 3; j++) b.J[6 * k + 3 + j] = turn[3 * k + j];
    }
    return b;
}

typedef struct answer {
    double lambda[3], v[6], c[3];
    tribo_measures measures;
    tribo_contact_info info;
} answer;

static answer solve_body(const body *b, const tribo_law_options *law, double tol) {
    answer x = {0};
    tribo_contact_ws *ws;
    tribo_contact_problem p = {.nc = 1, .nv = 6, .M = b->M, .J = b->J, .vfree = b->vfree, .mu = &b->mu};
    ck_assert_int_eq(tribo_contact_ws_new(1, 6, law, NULL, &ws), TRIBO_OK);
    ck_assert_int_eq(tribo_contact_solve(ws, &p, tol, false, x.lambda, x.v, &x.info), TRIBO_OK);
    ck_assert_int_eq(tribo_contact_measure(ws, &p, &x.measures), TRIBO_OK);
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 6; k++) x.c[r] += b->J[6 * r + k] * x.v[k];
    tribo_contact_ws_free(ws);
    return x;
}

/* Friction takes mu lambda_n |c_t| sqrt(1 - (a x e)^2) from a slip along e, a = mu G_tn / G_nn: docs/math.md eq. (98).
 * The correction takes it all. */
START_TEST(dissipates_too_little_where_impulse_and_slip_are_coupled) {
    const double r[3] = {0.3, 0.1, -0.4}, m = 2, I = 0.08, mu = 0.7;
    const double nn = 1 / m + (r[0] * r[0] + r[1] * r[1]) / I;
    const double a[2] = {-mu * r[0] * r[2] / I / nn, -mu * r[1] * r[2] / I / nn};
    double smallest = 1;
    for (int k = 0; k < 24; k++) {
        body b = body_at(r, m, I, mu);
        double angle = 2 * 3.14159265358979323846 * k / 24;
        b.vfree[0] = 3 * cos(angle), b.vfree[1] = 3 * sin(angle), b.vfree[2] = -0.1;
        answer x = solve_body(&b, &by_bisection, 1e-12), y = solve_body(&b, &by_correction, 1e-12);
        double slip = norm2(x.c), across = (a[0] * x.c[1] - a[1] * x.c[0]) / slip;
        double full = mu * x.lambda[2] * slip, share = sqrt(1 - across * across);
        ck_assert(slip > 0.1);
        ck_assert_double_eq_tol(x.measures.friction_loss / full, share, 1e-12);
        ck_assert_double_eq_tol(y.measures.friction_loss / (mu * y.lambda[2] * norm2(y.c)), 1, 1e-12);
        ck_assert(y.measures.ncp.complementarity < 1e-12);
        ck_assert(x.measures.law.complementarity < 1e-12 && fabs(x.c[2]) < 1e-12);
        if (share < 0.99) ck_assert(x.measures.ncp.complementarity > 1e-4);
        smallest = fmin(smallest, share);
    }
    ck_assert(smallest < 0.9); /* there is something to see */
}
END_TEST

START_TEST(is_the_ncp_where_they_are_not) {
    const double below[3] = {0, 0, -0.4};
    uint64_t seed = 4;
    int slid = 0;
    for (int k = 0; k < 50; k++) {
        body b = body_at(below, 2, 0.08, 0.5);
        for (int j = 0; j < 6; j++) b.vfree[j] = random_in(&seed);
        b.vfree[2] = -fabs(b.vfree[2]);
        const tribo_law_options ncp = {.law = TRIBO_LAW_NCP},
                                polished = {.law = TRIBO_LAW_RAISIM, .solver = TRIBO_SOLVER_BISECTION};
        answer x = solve_body(&b, &by_bisection, 1e-12), y = solve_body(&b, &ncp, 1e-12);
        answer z = solve_body(&b, &polished, 0);
        for (int r = 0; r < 3; r++) {
            ck_assert_double_eq_tol(x.lambda[r], y.lambda[r], 1e-12);
            ck_assert_double_eq_tol(z.lambda[r], y.lambda[r], 1e-12);
        }
        slid += norm2(x.c) > 1e-6;
    }
    ck_assert(slid > 5 && slid < 45);
}
END_TEST

/* ---------------------------------------------------------------- the problems of the data folder */

static tribo_status solve_problem(const tribo_contact_problem *p, const tribo_law_options *law, double tol,
                                  double *lambda, tribo_contact_info *info, tribo_measures *m) {
    tribo_contact_ws *ws;
    int n = 3 * p->nc;
    ck_assert_int_eq(tribo_contact_ws_new(p->nc, p->nv > n ? p->nv : n, law, NULL, &ws), TRIBO_OK);
    tribo_status status = tribo_contact_solve(ws, p, tol, false, lambda, NULL, info);
    ck_assert_int_eq(tribo_contact_measure(ws, p, m), TRIBO_OK);
    tribo_contact_ws_free(ws);
    return status;
}

/* Problems solved as published, of them at their canonical solution and not the NCP's; corrected, of them canonical. */
typedef struct tally {
    int solved, own, apart, met, canonical;
} tally;

static void published_and_corrected(const ti_problem *q, const tribo_contact_problem *p, void *context) {
    tally *t = context;
    double *lambda = calloc(6 * (size_t)q->nc, sizeof *lambda), *exact = lambda + 3 * q->nc, worst = 0, size = 0;
    tribo_contact_info info, at;
    tribo_measures m;
    const tribo_law_options ncp = {.law = TRIBO_LAW_NCP},
                            polished = {.law = TRIBO_LAW_RAISIM, .solver = TRIBO_SOLVER_BISECTION_CORRECTED};
    if (solve_problem(p, &by_bisection, 1e-9, lambda, &info, &m) == TRIBO_OK) {
        ck_assert_double_le(info.residual, 1e-9);
        t->solved++, t->apart += fmax(m.ncp.dual, m.ncp.complementarity) > 1e-5;
        memset(lambda, 0, 3 * (size_t)q->nc * sizeof *lambda);
        const tribo_law_options least = {.law = TRIBO_LAW_RAISIM, .solver = TRIBO_SOLVER_BISECTION};
        ck_assert_int_eq(solve_problem(p, &least, 1e-9, lambda, &info, &m), TRIBO_OK);
        ck_assert_double_le(info.residual, info.canonical ? 1e-10 : 1e-9);
        t->own += info.canonical;
    } else
        ck_assert_double_gt(info.residual, 1e-9);
    memset(lambda, 0, 3 * (size_t)q->nc * sizeof *lambda);
    if (solve_problem(p, &polished, 1e-9, lambda, &info, &m) == TRIBO_OK) {
        t->met++;
        ck_assert_double_le(fmax(m.ncp.primal, fmax(m.ncp.dual, m.ncp.complementarity)), 1e-9);
        ck_assert_int_eq(solve_problem(p, &ncp, 0, exact, &at, &m), TRIBO_OK);
        for (int k = 0; k < 3 * q->nc; k++)
            worst = fmax(worst, fabs(lambda[k] - exact[k])), size = fmax(size, fabs(exact[k]));
        t->canonical += info.canonical && at.canonical && worst < 1e-6 * size;
    } else
        ck_assert_double_gt(info.residual, 1e-9);
    free(lambda);
}

/* Corrected it meets the NCP to 1e-9 and finds, polished, the NCP's canonical solution; as published it does not meet
 * it. What has not converged says so. */
static void expect_most(int count, const tally *all, int others) {
    tally t = *all;
    printf("%d problems: %d by bisection, of them %d canonical, %d not the NCP's; corrected %d, of them %d canonical\n",
           count, t.solved, t.own, t.apart, t.met, t.canonical);
    ck_assert_int_ge(t.own, count - 2);
    ck_assert_int_ge(t.solved, count - 1);
    ck_assert_int_ge(t.met, count - 2); /* sweeps end short of it on tower8-5 and tower4-wide-2 */
    ck_assert_int_ge(t.apart, count / 2);
    ck_assert_int_ge(t.canonical, count - others);
}

START_TEST(every_problem) {
    tally made = {0}, read = {0};
    int count = for_every_made_problem(published_and_corrected, &made);
    expect_most(count, &made, 3); /* 31 of 34 */
    count = for_every_read_problem(published_and_corrected, &read);
    if (count > 0) expect_most(count, &read, 3); /* of one tower of 4 impulses differ by 1.1e-6 of the largest */
}
END_TEST

/* A force that is not a number is no solution, and does not hold up the loop. */
START_TEST(what_is_not_finite_is_refused) {
    const double r[3] = {0.3, 0.1, -0.4};
    for (int k = 0; k < 2; k++) {
        body b = body_at(r, 2, 0.08, 0.5);
        b.vfree[2] = -1, b.vfree[0] = k ? 1e308 : (double)NAN, b.vfree[4] = k ? 1e308 : 0;
        tribo_contact_ws *ws;
        double lambda[3] = {0};
        tribo_contact_problem p = {.nc = 1, .nv = 6, .M = b.M, .J = b.J, .vfree = b.vfree, .mu = &b.mu};
        ck_assert_int_eq(tribo_contact_ws_new(1, 6, k ? &by_correction : &by_bisection, NULL, &ws), TRIBO_OK);
        ck_assert_int_ne(tribo_contact_solve(ws, &p, 0, false, lambda, NULL, NULL), TRIBO_OK);
        tribo_contact_ws_free(ws);
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("laws_raisim");
    TCase *one = tcase_create("one contact"), *known = tcase_create("a body on one contact");
    tcase_add_test(one, slides_with_the_least_energy);
    tcase_add_test(one, corrected_it_solves_the_ncp);
    tcase_add_test(one, slope_is_that_of_the_equation);
    tcase_add_test(known, dissipates_too_little_where_impulse_and_slip_are_coupled);
    tcase_add_test(known, is_the_ncp_where_they_are_not);
    tcase_add_test(known, what_is_not_finite_is_refused);
    TCase *data = tcase_create("data");
    tcase_set_timeout(data, 100);
    tcase_add_test(data, every_problem);
    suite_add_tcase(s, one);
    suite_add_tcase(s, data);
    suite_add_tcase(s, known);
    return s;
}
