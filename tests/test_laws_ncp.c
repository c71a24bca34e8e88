/* test_laws_ncp.c -- the NCP by every solver of it, and its convex relaxation by ADMM: the problems of the data folder,
 * cold and warm. */
#define _POSIX_C_SOURCE 200809L
#include "contact_problems.h"

/* A solver, how well it is asked to do, and what it does not manage. */
typedef struct request {
    tribo_law law; /* the NCP or its relaxation; 0 = the NCP */
    tribo_solver solver;
    double tol;
    int nbeyond;      /* -1: any of them */
    double beyond[8]; /* problems it may leave unsolved, if it says so */
    int max_iter;
    int solved;
} request;

static bool is_beyond(const request *r, double id) {
    if (r->nbeyond < 0) return true;
    for (int k = 0; k < r->nbeyond; k++)
        if (r->beyond[k] == id) return true;
    return false;
}

/* Cold; then from its own answer, which takes next to nothing. Status and residual must tell the truth. */
static void solve_raw(const ti_problem *q, const tribo_contact_problem *p, void *context) {
    request *want = context;
    bool relaxed = want->law == TRIBO_LAW_CCP;
    tribo_law_options law = {.law = want->law, .solver = want->solver, .max_iter = want->max_iter, .raw = true};
    tribo_contact_ws *ws;
    tribo_contact_info cold, warm;
    int n = 3 * q->nc;
    double *lambda = calloc((size_t)n, sizeof *lambda);
    ck_assert_int_eq(tribo_contact_ws_new(q->nc, q->nv > n ? q->nv : n, &law, NULL, &ws), TRIBO_OK);
    tribo_status status = tribo_contact_solve(ws, p, want->tol, false, lambda, NULL, &cold);
    double r = cone_residual(q->nc, q->G, q->g, q->mu, lambda, !relaxed);
    if (!is_beyond(want, q->id))
        ck_assert_msg(status == TRIBO_OK, "problem %g: residual %g after %d", q->id, cold.residual, cold.iterations);
    if (status == TRIBO_OK) {
        ck_assert_msg(r < 1.5 * want->tol, "problem %g: residual %g", q->id, r);
        ck_assert_int_eq(tribo_contact_solve(ws, p, want->tol, true, lambda, NULL, &warm), TRIBO_OK);
        ck_assert_msg(4 * warm.iterations <= 2 * cold.iterations + 2, "problem %g: %d cold, %d warm", q->id,
                      cold.iterations, warm.iterations);
        want->solved++;
    } else {
        ck_assert_int_eq(status, TRIBO_NOT_CONVERGED);
        ck_assert(cold.residual > want->tol);
    }
    free(lambda);
    tribo_contact_ws_free(ws);
}

START_TEST(admm_on_every_problem) {
    for (int k = 0; k < 2; k++) {
        request want = {.solver = TRIBO_SOLVER_ADMM, .tol = k ? 1e-9 : 1e-6};
        for_every_contact_problem(solve_raw, &want);
    }
}
END_TEST

/* The relaxation is flat: three towers take more iterations than they are given. */
START_TEST(admm_on_every_relaxed_problem) {
    request want = {.law = TRIBO_LAW_CCP,
                    .solver = TRIBO_SOLVER_ADMM,
                    .tol = 1e-9,
                    .max_iter = 2000,
                    .nbeyond = 3,
                    .beyond = {16, 26, 28}};
    for_every_contact_problem(solve_raw, &want);
}
END_TEST

/* Three of the towers of unlike cubes go round in circles. */
START_TEST(staggered_on_every_problem) {
    request want = {.solver = TRIBO_SOLVER_STAGGERED, .tol = 1e-9, .nbeyond = 3, .beyond = {24, 25, 27}};
    for_every_contact_problem(solve_raw, &want);
}
END_TEST

START_TEST(staggered_plain_is_honest) {
    request want = {.solver = TRIBO_SOLVER_STAGGERED_PLAIN, .tol = 1e-6, .nbeyond = -1, .max_iter = 160};
    for_every_contact_problem(solve_raw, &want);
    ck_assert_int_ge(want.solved, 20);
}
END_TEST

START_TEST(newton_on_every_problem) {
    request want = {.solver = TRIBO_SOLVER_NEWTON, .tol = 1e-9};
    for_every_contact_problem(solve_raw, &want);
}
END_TEST

START_TEST(interior_on_every_problem) {
    request want = {.solver = TRIBO_SOLVER_INTERIOR, .tol = 1e-9};
    for_every_contact_problem(solve_raw, &want);
}
END_TEST

/* ---------------------------------------------------------------- the central path */

static tribo_law_options central(double kappa) {
    return (tribo_law_options){.law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_INTERIOR, .kappa = kappa};
}

/* As the gap falls so does the distance from the hard law. */
static void leave_gap(const ti_problem *q, const tribo_contact_problem *p, void *context) {
    (void)context;
    int n = 3 * q->nc;
    double r[2], *lambda = calloc((size_t)n, sizeof *lambda);
    for (int k = 0; k < 2; k++) {
        tribo_law_options law = central(k ? 1e-9 : 1e-7);
        tribo_contact_ws *ws;
        tribo_contact_info info;
        ck_assert_int_eq(tribo_contact_ws_new(q->nc, q->nv > n ? q->nv : n, &law, NULL, &ws), TRIBO_OK);
        tribo_status status = tribo_contact_solve(ws, p, 0, false, lambda, NULL, &info);
        ck_assert_msg(status == TRIBO_OK, "problem %g, gap %g: residual %g", q->id, law.kappa, info.residual);
        r[k] = residual(q->nc, q->G, q->g, q->mu, lambda);
        tribo_contact_ws_free(ws);
    }
    ck_assert_msg(r[1] < 0.02 * r[0] && r[1] < 1e-4, "problem %g: %g, %g", q->id, r[0], r[1]);
    free(lambda);
}

START_TEST(central_path_ends_at_the_hard_law) {
    for_every_contact_problem(leave_gap, NULL);
}
END_TEST

/* A point mass without friction: c lambda = kappa with c = v + lambda / m; it is pushed before it touches. */
START_TEST(central_path_of_a_point_mass) {
    tribo_law_options law = central(1e-3);
    tribo_contact_ws *ws;
    ck_assert_int_eq(tribo_contact_ws_new(1, 3, &law, NULL, &ws), TRIBO_OK);
    double m = 2, M[9] = {m, 0, 0, 0, m, 0, 0, 0, m}, J[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mu = 0;
    for (double v = -1; v < 1.5; v += 0.25) {
        double vfree[3] = {0.3, 0, v}, lambda[3], after[3], bar[3] = {0, 0, 1}, vfree_bar[3] = {0, 0, 0};
        double root = sqrt(v * v + 4 * law.kappa / m), want = 0.5 * m * (root - v), slope = 0.5 * m * (v / root - 1);
        tribo_contact_problem p = {.nc = 1, .nv = 3, .M = M, .J = J, .vfree = vfree, .mu = &mu};
        ck_assert_int_eq(tribo_contact_solve(ws, &p, 0, false, lambda, after, NULL), TRIBO_OK);
        ck_assert_int_eq(tribo_contact_vjp(ws, &p, bar, NULL, vfree_bar, NULL, NULL, NULL, NULL, NULL), TRIBO_OK);
        ck_assert_double_eq_tol(lambda[2], want, 1e-12 * want);
        ck_assert_double_eq_tol(vfree_bar[2], slope, -1e-9 * slope);
        ck_assert(vfree_bar[2] < 0);
    }
    tribo_contact_ws_free(ws);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("laws_ncp");
    TCase *t = tcase_create("solvers");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, admm_on_every_problem);
    tcase_add_test(t, admm_on_every_relaxed_problem);
    tcase_add_test(t, staggered_on_every_problem);
    tcase_add_test(t, staggered_plain_is_honest);
    tcase_add_test(t, newton_on_every_problem);
    tcase_add_test(t, interior_on_every_problem);
    tcase_add_test(t, central_path_ends_at_the_hard_law);
    tcase_add_test(t, central_path_of_a_point_mass);
    suite_add_tcase(s, t);
    return s;
}
