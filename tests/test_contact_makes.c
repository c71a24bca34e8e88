/* test_contact_makes.c -- problems made at random: each law's solvers answer them, in few factorizations, in any units.
 */
#define _POSIX_C_SOURCE 200809L
#include "contact_makes.h"
#include "contact_problems.h"
#include <float.h>

enum { PROBLEMS = 52, NC = 64, NV = 192 };

static tribo_contact_problem view(const made_problem *q) {
    return (tribo_contact_problem){.nc = q->nc, .nv = q->nv, .M = q->M, .J = q->J, .vfree = q->vfree, .mu = q->mu};
}

static tribo_contact_ws *workspace(tribo_law law, tribo_solver solver) {
    const tribo_law_options o = {.law = law, .solver = solver};
    tribo_contact_ws *ws;
    ck_assert_int_eq(tribo_contact_ws_new(NC, NV, &o, NULL, &ws), TRIBO_OK);
    return ws;
}

/* The judge's residual of lambda, from M, J and vfree alone. */
static double judged(const made_problem *q, const double *lambda) {
    int n = 3 * q->nc;
    ti_problem p = {.nc = q->nc, .nv = q->nv, .M = q->M, .J = q->J, .vfree = q->vfree, .mu = q->mu};
    double *G = calloc((size_t)(n * n), sizeof *G), *g = calloc((size_t)n, sizeof *g);
    delassus(&p, G, g);
    double r = residual(q->nc, G, g, q->mu, lambda);
    free(G), free(g);
    return r;
}

static const struct {
    tribo_law law;
    tribo_solver solver;
} methods[] = {{TRIBO_LAW_NCP, TRIBO_SOLVER_LADDER},   {TRIBO_LAW_NCP, TRIBO_SOLVER_ADMM},
               {TRIBO_LAW_NCP, TRIBO_SOLVER_NEWTON},   {TRIBO_LAW_NCP, TRIBO_SOLVER_INTERIOR},
               {TRIBO_LAW_CCP, TRIBO_SOLVER_NEWTON},   {TRIBO_LAW_LCP, TRIBO_SOLVER_DEFAULT},
               {TRIBO_LAW_RAISIM, TRIBO_SOLVER_LADDER}};
enum { METHODS = sizeof methods / sizeof *methods };

START_TEST(every_make_is_solved) {
    tribo_contact_ws *ws = workspace(methods[_i].law, methods[_i].solver);
    int unsolved = 0;
    for (int k = 0; k < PROBLEMS; k++) {
        made_problem q = made_any(77, k);
        tribo_contact_problem p = view(&q);
        double lambda[3 * NC] = {0};
        tribo_contact_info info;
        tribo_status s = tribo_contact_solve(ws, &p, 1e-9, false, lambda, NULL, &info);
        if (s != TRIBO_OK) printf("%s: status %d, residual %g\n", q.name, (int)s, info.residual), unsolved++;
        if (s == TRIBO_OK && methods[_i].law == TRIBO_LAW_NCP) ck_assert_double_le(judged(&q, lambda), 2e-9);
        made_free(&q);
    }
    ck_assert_int_eq(unsolved, 0);
    tribo_contact_ws_free(ws);
}
END_TEST

/* Sixty factorizations are enough for a tower of 16 boxes, and most towers end at their canonical solution. */
START_TEST(towers_take_few_factorizations) {
    static const struct {
        int boxes;
        double spread;
        int most, few; /* factorizations; problems of TOWERS that may take more */
        int other;     /* that may end at another solution than the canonical */
    } makes[] = {{16, 1, 60, 0, 4}, {8, 1, 60, 3, 0}, {4, 4.5, 60, 4, 2}};
    enum { TOWERS = 20 };
    tribo_contact_ws *ws = workspace(TRIBO_LAW_NCP, TRIBO_SOLVER_LADDER);
    int slow = 0, other = 0;
    for (int k = 0; k < TOWERS; k++) {
        made_random r = {(uint64_t)(1000 * _i + k)};
        made_problem q = made_tower(&r, makes[_i].boxes, makes[_i].spread);
        tribo_contact_problem p = view(&q);
        double lambda[3 * NC];
        tribo_contact_info info;
        ck_assert_int_eq(tribo_contact_solve(ws, &p, 0, false, lambda, NULL, &info), TRIBO_OK);
        ck_assert_double_le(judged(&q, lambda), 1e-9);
        slow += info.iterations > makes[_i].most, other += !info.canonical;
        tribo_status s = tribo_contact_vjp(ws, &p, lambda, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
        ck_assert_int_eq(s, info.canonical ? TRIBO_OK : TRIBO_DEGENERATE);
        made_free(&q);
    }
    printf("%d boxes: %d of %d took more than %d factorizations, %d not canonical\n", makes[_i].boxes, slow, TOWERS,
           makes[_i].most, other);
    ck_assert_int_le(slow, makes[_i].few);
    ck_assert_int_le(other, makes[_i].other);
    tribo_contact_ws_free(ws);
}
END_TEST

/* The problem in units 2^mass, 2^length, 2^rate apart; rotations carry a length less, their inertia two more. */
static void change_units(made_problem *q, int mass, int length, int rate) {
    for (int i = 0; i < q->nv; i++) {
        int turn = i % 6 > 2;
        q->vfree[i] = ldexp(q->vfree[i], rate + (turn ? 0 : length));
        for (int j = 0; j < q->nv; j++)
            q->M[i * q->nv + j] = ldexp(q->M[i * q->nv + j], mass + length * (turn + (j % 6 > 2)));
        for (int r = 0; r < 3 * q->nc && turn; r++) q->J[r * q->nv + i] = ldexp(q->J[r * q->nv + i], length);
    }
}

/* In other units of mass and time, powers of two apart, every bit of an answer is the same; in those of length, which
 * choose pivots, what the law determines is the same to rounding. (ADMM takes the root of units, which rounds.) */
START_TEST(units_do_not_matter) {
    static const int units[4][3] = {{-40, 0, -18}, {36, 0, 20}, {0, 24, 0}, {0, -20, 0}};
    tribo_contact_ws *ws = workspace(methods[_i / 4].law, methods[_i / 4].solver);
    const int *u = units[_i % 4];
    for (int k = 0; k < 26; k++) {
        made_problem q = made_any(5, k);
        tribo_contact_problem p = view(&q);
        double one[3 * NC], two[3 * NC], size = 0;
        tribo_contact_info a, b;
        if (q.nv % 6 == 0 && q.nc <= 16 && q.nv != 18) { /* free bodies */
            ck_assert_int_eq(tribo_contact_solve(ws, &p, 1e-9, false, one, NULL, &a), TRIBO_OK);
            change_units(&q, u[0], u[1], u[2]);
            ck_assert_int_eq(tribo_contact_solve(ws, &p, 1e-9, false, two, NULL, &b), TRIBO_OK);
            for (int i = 0; i < 3 * q.nc; i++) {
                two[i] = ldexp(two[i], -u[0] - u[1] - u[2]), size = fmax(size, fabs(one[i]));
                ck_assert_msg(u[1] != 0 || _i / 4 == 1 || one[i] == two[i], "%s: %.17g, %.17g", q.name, one[i], two[i]);
            }
            for (int i = 0; i < 3 * q.nc && a.canonical && b.canonical; i++)
                ck_assert_msg(fabs(one[i] - two[i]) < 1e-5 * size, "%s: %.17g, %.17g", q.name, one[i], two[i]);
        }
        made_free(&q);
    }
    tribo_contact_ws_free(ws);
}
END_TEST

/* A ball that rolls on the floor, and that falls to it at the rounding of its speed: solved by what is as small. */
START_TEST(rounding_is_no_approach) {
    const double M[36] = {[0] = 1, [7] = 1, [14] = 1, [21] = 4e-4, [28] = 4e-4, [35] = 4e-4};
    const double J[18] = {[0] = 1, [4] = -0.03125, [7] = 1, [9] = 0.03125, [14] = 1}, mu[1] = {0.5};
    for (int k = 0; k < 20; k++) {
        double spin = 1 + 0.37 * k, noise = ldexp(1, -52 - k);
        const double vfree[6] = {0.03125 * spin + noise, 0, -0.3 * noise, 0, spin, 0};
        const tribo_contact_problem p = {.nc = 1, .nv = 6, .M = M, .J = J, .vfree = vfree, .mu = mu};
        tribo_contact_ws *ws = workspace(TRIBO_LAW_NCP, TRIBO_SOLVER_LADDER);
        double lambda[3];
        tribo_contact_info info;
        ck_assert_int_eq(tribo_contact_solve(ws, &p, 0, false, lambda, NULL, &info), TRIBO_OK);
        ck_assert_int_le(info.iterations, 15);
        ck_assert_double_le(info.residual, 1e-10);
        tribo_contact_ws_free(ws);
    }
}
END_TEST

/* Impulses whose rounding is all that there is of velocity are no answer: a wedge that friction holds by any force. */
START_TEST(internal_force_without_end_is_refused) {
    const double s = 0.1, c = sqrt(1 - s * s), mu[2] = {2, 2};
    const double J[2][3][2] = {{{s, c}, {0, 0}, {c, -s}}, {{-s, c}, {0, 0}, {-c, -s}}};
    double G[36], g[6], lambda[6], *row = G;
    for (int i = 0; i < 2; i++)
        for (int r = 0; r < 3; r++, row += 6)
            for (int j = 0; j < 2; j++)
                for (int q = 0; q < 3; q++) row[3 * j + q] = J[i][r][0] * J[j][q][0] + J[i][r][1] * J[j][q][1];
    for (int i = 0; i < 2; i++) g[3 * i] = J[i][0][1] * -1e-2, g[3 * i + 1] = 0, g[3 * i + 2] = -2e-2; /* squeezed */
    const tribo_contact_problem p = {.nc = 2, .nv = 0, .G = G, .g = g, .mu = mu};
    tribo_contact_ws *ws = workspace(TRIBO_LAW_NCP, TRIBO_SOLVER_LADDER);
    tribo_contact_info info;
    tribo_status status = tribo_contact_solve(ws, &p, 0, false, lambda, NULL, &info);
    double most = 0;
    for (int k = 0; k < 6; k++) most = fmax(most, fabs(lambda[k]));
    ck_assert_msg(status == TRIBO_NOT_CONVERGED || most < 1e9, "impulses of %g passed, residual %g", most,
                  info.residual);
    tribo_contact_ws_free(ws);
}
END_TEST

/* A G with the rounding of eight digits, hence indefinite: the answer is one of that G. */
START_TEST(a_given_matrix_is_met_as_it_is) {
    tribo_contact_ws *ws = workspace(TRIBO_LAW_NCP, TRIBO_SOLVER_LADDER);
    int count = 0;
    for (int k = 0; k < 65; k++) {
        made_problem q = made_any(9, k);
        int n = 3 * q.nc;
        if (k % 13 == 5 || k % 13 == 6 || k % 13 < 2) {
            ti_problem whole = {.nc = q.nc, .nv = q.nv, .M = q.M, .J = q.J, .vfree = q.vfree, .mu = q.mu};
            double *G = calloc((size_t)(n * n), sizeof *G), g[3 * NC], lambda[3 * NC], largest = 0;
            delassus(&whole, G, g);
            for (int i = 0; i < n; i++) largest = fmax(largest, G[i * n + i]);
            uint64_t seed = (uint64_t)k;
            for (int i = 0; i < n; i++)
                for (int j = 0; j <= i; j++)
                    G[i * n + j] = G[j * n + i] = G[j * n + i] + 1e-8 * largest * random_in(&seed);
            const tribo_contact_problem p = {.nc = q.nc, .nv = 0, .G = G, .g = g, .mu = q.mu};
            tribo_contact_info info;
            ck_assert_msg(tribo_contact_solve(ws, &p, 1e-9, false, lambda, NULL, &info) == TRIBO_OK, "%s: residual %g",
                          q.name, info.residual);
            ck_assert_double_le(residual(q.nc, G, g, q.mu, lambda), 2e-9);
            free(G), count++;
        }
        made_free(&q);
    }
    ck_assert_int_ge(count, 15);
    tribo_contact_ws_free(ws);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("contact_makes");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 200);
    tcase_add_loop_test(t, every_make_is_solved, 0, METHODS);
    tcase_add_loop_test(t, towers_take_few_factorizations, 0, 3);
    tcase_add_loop_test(t, units_do_not_matter, 0, 4 * METHODS);
    tcase_add_test(t, rounding_is_no_approach);
    tcase_add_test(t, internal_force_without_end_is_refused);
    tcase_add_test(t, a_given_matrix_is_met_as_it_is);
    suite_add_tcase(s, t);
    return s;
}
