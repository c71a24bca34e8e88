/* test_laws_ccp.c -- the convex relaxation: closed forms, one velocity from any solver and start, the softened problem.
 */
#define _POSIX_C_SOURCE 200809L
#include "contact_problems.h"

enum { CORNERS = 4, N3 = 3 * CORNERS, NV = 6 };

static const tribo_solver solvers[] = {TRIBO_SOLVER_PGS, TRIBO_SOLVER_ADMM, TRIBO_SOLVER_NEWTON};
enum { NSOLVER = sizeof solvers / sizeof *solvers };

/* A status; lambda is the start if warm. */
static tribo_status solve(const tribo_contact_problem *p, const tribo_law_options *o, double tol, bool warm,
                          double *lambda, double *v, tribo_contact_info *info) {
    tribo_contact_ws *ws;
    int n = 3 * p->nc > p->nv ? 3 * p->nc : p->nv;
    ck_assert_int_eq(tribo_contact_ws_new(p->nc, n, o, NULL, &ws), TRIBO_OK);
    tribo_status status = tribo_contact_solve(ws, p, tol, warm, lambda, v, info);
    tribo_contact_ws_free(ws);
    return status;
}

/* ---------------------------------------------------------------- a point mass */

static tribo_contact_problem point(const double *vfree, const double *mu) {
    static const double M[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, J[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    return (tribo_contact_problem){.nc = 1, .nv = 3, .M = M, .J = J, .vfree = vfree, .mu = mu};
}

/* It slides where |v_t| > mu |v_n|: the velocity is the free one projected on the dual cone, and lifts. */
START_TEST(a_sliding_point_lifts) {
    const double vfree[3] = {0.6, -0.8, -0.5}, mu = 0.7, inverse = 1 / (1 + mu * mu);
    double left = (1 + mu * vfree[2]) * inverse; /* of the speed across */
    tribo_contact_problem p = point(vfree, &mu);
    for (int k = 0; k < NSOLVER; k++)
        for (int raw = 0; raw < 2; raw++) {
            tribo_law_options o = {.law = TRIBO_LAW_CCP, .solver = solvers[k], .raw = raw};
            double l[3], v[3];
            ck_assert_int_eq(solve(&p, &o, 1e-12, false, l, v, NULL), TRIBO_OK);
            ck_assert_double_eq_tol(v[2], mu * hypot(v[0], v[1]), 1e-11);
            ck_assert_double_eq_tol(v[0], 0.6 * left, 1e-11);
            ck_assert_double_eq_tol(v[1], -0.8 * left, 1e-11);
            ck_assert_double_eq_tol(hypot(l[0], l[1]), mu * l[2], 1e-11);
        }
}
END_TEST

START_TEST(a_sticking_point_is_that_of_the_ncp) {
    const double vfree[3] = {0.2, -0.1, -0.5}, mu = 0.7;
    tribo_contact_problem p = point(vfree, &mu);
    for (int k = 0; k < NSOLVER; k++) {
        tribo_law_options o = {.law = TRIBO_LAW_CCP, .solver = solvers[k], .raw = true};
        double l[3], v[3], hard[3];
        ck_assert_int_eq(solve(&p, &o, 1e-12, false, l, v, NULL), TRIBO_OK);
        ck_assert_int_eq(solve(&p, NULL, 1e-12, false, hard, NULL, NULL), TRIBO_OK);
        for (int r = 0; r < 3; r++) ck_assert_double_eq_tol(l[r], hard[r], 1e-11);
    }
}
END_TEST

START_TEST(without_friction_it_is_the_ncp) {
    const double vfree[3] = {0.2, -0.1, -0.5}, mu = 0;
    tribo_contact_problem p = point(vfree, &mu);
    for (int k = 0; k < NSOLVER; k++) {
        tribo_law_options o = {.law = TRIBO_LAW_CCP, .solver = solvers[k]};
        double l[3], v[3];
        ck_assert_int_eq(solve(&p, &o, 1e-10, false, l, v, NULL), TRIBO_OK);
        for (int r = 0; r < 3; r++) ck_assert_double_eq_tol(v[r], r < 2 ? vfree[r] : 0, 1e-12);
        ck_assert_double_eq_tol(l[2], 1, 1e-9);
        ck_assert(fabs(l[0]) + fabs(l[1]) < 1e-12);
    }
}
END_TEST

/* ---------------------------------------------------------------- four corners on a face */

static struct { double M[NV * NV], J[N3 * NV], vfree[NV], mu[CORNERS]; } box;

static tribo_contact_problem draw(uint64_t *seed) {
    memset(&box, 0, sizeof box);
    for (int k = 0; k < NV; k++)
        box.M[(NV + 1) * k] = 1 + 0.5 * random_in(seed), box.vfree[k] = (k < 3 ? 1 : 0.3) * random_in(seed);
    box.vfree[2] -= 1;
    for (int i = 0; i < CORNERS; i++) {
        double x = i % 2 ? 0.5 : -0.5, y = i / 2 ? 0.4 : -0.4, z = -0.3, turn = 3 * random_in(seed);
        const double axis[3][3] = {{cos(turn), sin(turn), 0}, {-sin(turn), cos(turn), 0}, {0, 0, 1}};
        for (int r = 0; r < 3; r++) {
            const double *e = axis[r];
            const double row[NV] = {e[0], e[1], e[2], y * e[2] - z * e[1], z * e[0] - x * e[2], x * e[1] - y * e[0]};
            memcpy(box.J + NV * (3 * i + r), row, sizeof row);
        }
        box.mu[i] = 0.6 + 0.5 * random_in(seed);
    }
    return (tribo_contact_problem){.nc = CORNERS, .nv = NV, .M = box.M, .J = box.J, .vfree = box.vfree, .mu = box.mu};
}

/* The velocity is the least of a strictly convex function on a cone; impulses are not unique. */
START_TEST(one_velocity_from_any_solver_and_start) {
    uint64_t seed = 11;
    double between = 0;
    for (int draws = 0; draws < 20; draws++) {
        tribo_contact_problem p = draw(&seed);
        double v0[NV], l0[N3];
        for (int k = 0; k < 2 * NSOLVER; k++) {
            tribo_law_options o = {.law = TRIBO_LAW_CCP, .solver = solvers[k % NSOLVER], .raw = true};
            double l[N3], v[NV];
            bool warm = k >= NSOLVER;
            for (int j = 0; j < N3; j++) l[j] = j % 3 == 2 ? 0.3 + 0.3 * random_in(&seed) : 0.1 * random_in(&seed);
            ck_assert_int_eq(solve(&p, &o, 1e-10, warm, l, v, NULL), TRIBO_OK);
            if (k == 0) memcpy(v0, v, sizeof v), memcpy(l0, l, sizeof l);
            for (int j = 0; j < NV; j++) ck_assert_double_eq_tol(v[j], v0[j], 1e-7);
            for (int j = 0; j < N3; j++) between = fmax(between, fabs(l[j] - l0[j]));
        }
    }
    ck_assert_double_gt(between, 1e-3); /* or it would not have been worth a test */
}
END_TEST

/* With a compliance impulses are unique too. */
START_TEST(one_answer_to_the_softened_problem) {
    uint64_t seed = 5;
    const tribo_law_options soft[2] = {
        {.softness = TRIBO_SOFTNESS_PHYSICAL, .compliance = 0.02},
        {.softness = TRIBO_SOFTNESS_MUJOCO, .impedance = 0.9, .impratio = 1},
    };
    for (int draws = 0; draws < 20; draws++) {
        tribo_contact_problem p = draw(&seed);
        double l0[N3];
        for (int k = 0; k < 2 * NSOLVER; k++) {
            tribo_law_options o = soft[k / NSOLVER];
            double l[N3], v[NV];
            o.law = TRIBO_LAW_CCP, o.solver = solvers[k % NSOLVER], o.raw = true;
            ck_assert_int_eq(solve(&p, &o, 1e-11, false, l, v, NULL), TRIBO_OK); /* over R: 1e-7 of lambda */
            if (k % NSOLVER == 0) memcpy(l0, l, sizeof l);
            for (int j = 0; j < N3; j++) ck_assert_double_eq_tol(l[j], l0[j], 1e-6);
        }
    }
}
END_TEST

/* Over-relaxed sweeps never leave the cone, and end where plain ones do. */
START_TEST(relaxation_stays_in_the_cone) {
    static const tribo_law laws[] = {TRIBO_LAW_NCP, TRIBO_LAW_CCP};
    uint64_t seed = 3;
    for (int draws = 0; draws < 10; draws++) {
        tribo_contact_problem p = draw(&seed);
        for (int k = 0; k < 4; k++)
            for (int most = 1; most <= 3; most++) {
                tribo_law_options o = {.law = laws[k % 2], .solver = TRIBO_SOLVER_PGS, .raw = true};
                o.relaxation = k < 2 ? 1.4 : 0.7, o.max_iter = most < 3 ? most : 0;
                double l[N3];
                tribo_contact_info info;
                tribo_status status = solve(&p, &o, 1e-9, false, l, NULL, &info);
                ck_assert(most < 3 ? status >= 0 : status == TRIBO_OK);
                ck_assert(status == TRIBO_OK || info.residual > 1e-9);
                for (int i = 0; i < CORNERS; i++)
                    ck_assert_double_le(hypot(l[3 * i], l[3 * i + 1]), box.mu[i] * l[3 * i + 2] + 1e-14);
            }
    }
}
END_TEST

START_TEST(what_is_not_solved_says_so) {
    uint64_t seed = 8;
    tribo_contact_problem p = draw(&seed);
    double l[N3], bad;
    box.vfree[0] = 3; /* it slides, and tips */
    for (int k = 0; k < NSOLVER; k++) {
        tribo_law_options o = {.law = TRIBO_LAW_CCP, .solver = solvers[k], .max_iter = 1};
        tribo_contact_info info;
        ck_assert_int_eq(solve(&p, &o, 1e-14, false, l, NULL, &info), TRIBO_NOT_CONVERGED);
        ck_assert_double_gt(info.residual, 1e-14);
        o.max_iter = 0, bad = box.vfree[0], box.vfree[0] = NAN;
        ck_assert_int_eq(solve(&p, &o, 0, false, l, NULL, NULL), TRIBO_E_NONFINITE);
        box.vfree[0] = bad;
    }
}
END_TEST

/* ---------------------------------------------------------------- the data folder */

static void newton_and_sweeps(const ti_problem *q, const tribo_contact_problem *p, void *context) {
    int *by_sweeps = context;
    tribo_contact_info info;
    double *l = calloc(3 * (size_t)q->nc, sizeof *l);
    tribo_law_options o = {.law = TRIBO_LAW_CCP, .solver = TRIBO_SOLVER_NEWTON, .raw = true};
    ck_assert_msg(solve(p, &o, 1e-9, false, l, NULL, &info) == TRIBO_OK, "problem %g: residual %g", q->id,
                  info.residual);
    o.solver = TRIBO_SOLVER_PGS;
    tribo_status status = solve(p, &o, 1e-6, false, l, NULL, &info);
    ck_assert(status == TRIBO_OK ? info.residual <= 1e-6 : status == TRIBO_NOT_CONVERGED && info.residual > 1e-6);
    *by_sweeps += status == TRIBO_OK;
    free(l);
}

/* Newton on the primal reaches 1e-9 everywhere, mass ratios and towers included; Gauss-Seidel 1e-6 or it says not. */
START_TEST(every_problem) {
    for (int read = 0; read < 2; read++) {
        int by_sweeps = 0,
            count = (read ? for_every_read_problem : for_every_made_problem)(newton_and_sweeps, &by_sweeps);
        printf("Newton %d of %d problems, Gauss-Seidel %d\n", count, count, by_sweeps);
        ck_assert_int_ge(by_sweeps, count - 4);
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("the convex relaxation");
    TCase *t = tcase_create("ccp");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_sliding_point_lifts);
    tcase_add_test(t, a_sticking_point_is_that_of_the_ncp);
    tcase_add_test(t, without_friction_it_is_the_ncp);
    tcase_add_test(t, one_velocity_from_any_solver_and_start);
    tcase_add_test(t, one_answer_to_the_softened_problem);
    tcase_add_test(t, relaxation_stays_in_the_cone);
    tcase_add_test(t, what_is_not_solved_says_so);
    tcase_add_test(t, every_problem);
    suite_add_tcase(s, t);
    return s;
}
