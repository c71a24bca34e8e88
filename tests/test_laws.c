/* test_laws.c -- what every law and every solver has to have, whichever they are: this is where a new one is told what
 * it lacks. Their own properties are tested in test_laws_NAME.c, their reverses in test_diff_ops.c. */
#define _POSIX_C_SOURCE 200809L
#include "contact/solver/solvers.h"
#include "mallocs.h"
#include "randoms.h"
#include "test_main.h"
#include <math.h>
#include <stdio.h>
#include <tribo/tribo.h>

/* Call f for every law that some solver's answer meets, once each. */
typedef void law_test(const ti_law *law, const char *name);
static void for_every_law(law_test *f) {
    const ti_law *seen[2 * TRIBO_LAW_END];
    int n = 0;
    for (tribo_law law = TRIBO_LAW_DEFAULT + 1; law < TRIBO_LAW_END; law++)
        for (int k = 0; tribo_law_solver(law, k); k++) {
            const ti_law *model = ti_solver_find(law, tribo_law_solver(law, k))->model;
            bool known = false;
            for (int i = 0; i < n; i++) known = known || seen[i] == model;
            if (known) continue;
            ck_assert_int_lt(n, 2 * TRIBO_LAW_END);
            seen[n++] = model;
            f(model, tribo_law_name(law));
        }
    ck_assert_int_ge(n, TRIBO_LAW_END - 1);
}

/* ---------------------------------------------------------------- tables */

START_TEST(tables_are_whole) {
    for (tribo_law law = TRIBO_LAW_DEFAULT + 1; law < TRIBO_LAW_END; law++) {
        const char *name = tribo_law_name(law);
        ck_assert(name && tribo_law_text(law) && tribo_law_find(name) == law);
        ck_assert_msg(tribo_law_solver(law, 0), "the law %s has no row in src/contact/answer/laws.c", name);
    }
    for (tribo_solver s = TRIBO_SOLVER_DEFAULT + 1; s < TRIBO_SOLVER_END; s++) {
        bool used = false;
        const char *name = tribo_solver_name(s);
        ck_assert(name && tribo_solver_text(s) && tribo_solver_find(name) == s);
        for (tribo_law law = TRIBO_LAW_DEFAULT + 1; law < TRIBO_LAW_END; law++) used = used || tribo_law_has(law, s);
        ck_assert_msg(used, "no law has the solver %s: src/contact/answer/laws.c", name);
    }
    ck_assert(!tribo_law_name(TRIBO_LAW_DEFAULT) && !tribo_law_name(TRIBO_LAW_END) && !tribo_law_find("nonsense"));
    ck_assert(!tribo_solver_name(TRIBO_SOLVER_END) && !tribo_solver_find(NULL) && !tribo_law_solver(TRIBO_LAW_NCP, 99));
    ck_assert(!tribo_law_has(TRIBO_LAW_NCP, TRIBO_SOLVER_DEFAULT));
    /* words are stored as ints: src/formats/law_words.c */
    ck_assert(sizeof(tribo_law) == sizeof(int) && sizeof(tribo_solver) == sizeof(int));
    ck_assert(sizeof(tribo_softness) == sizeof(int) && sizeof(tribo_smoothing) == sizeof(int));
}
END_TEST

static char *read_page(const char *relative) {
    const char *scenes = getenv("TRIBO_SCENES");
    char path[4096];
    if (!scenes) return NULL;
    snprintf(path, sizeof path, "%s/../../%s", scenes, relative);
    FILE *f = fopen(path, "r");
    ck_assert_msg(f, "cannot open %s", path);
    char *text = calloc(1, 1 << 20);
    size_t n = text ? fread(text, 1, (1 << 20) - 1, f) : 0;
    ck_assert_uint_gt(n, 0);
    fclose(f);
    return text;
}

START_TEST(documents_and_derivative_tests_know_them) {
    char *page = read_page("docs/contact-laws.md"), *rows = read_page("tests/test_diff_ops.c");
    if (!page || !rows) {
        printf("TRIBO_SCENES is not set: skipped\n");
        return;
    }
    for (tribo_law law = TRIBO_LAW_DEFAULT + 1; law < TRIBO_LAW_END; law++) {
        char needle[64];
        snprintf(needle, sizeof needle, "{\"%s", tribo_law_name(law));
        ck_assert_msg(strstr(rows, needle), "the law %s has no row in tests/test_diff_ops.c", tribo_law_name(law));
        for (int k = 0; tribo_law_solver(law, k); k++) {
            snprintf(needle, sizeof needle, "`%s`", tribo_solver_name(tribo_law_solver(law, k)));
            ck_assert_msg(strstr(page, needle), "docs/contact-laws.md does not name %s", needle);
        }
        snprintf(needle, sizeof needle, "`%s`", tribo_law_name(law));
        ck_assert_msg(strstr(page, needle), "docs/contact-laws.md does not name %s", needle);
    }
    free(page), free(rows);
}
END_TEST

/* ---------------------------------------------------------------- the five functions */

typedef struct place {
    ti_law_scale scale;
    ti_pyramid pyramid;
    double Gii[9], inverse[9], l[3], c[3];
    ti_law_steps steps;
    ti_law_contact contact;
} place;

static void invert(const double *A, double *B) { /* by cofactors */
    double det = 0;
    for (int r = 0; r < 3; r++)
        for (int q = 0; q < 3; q++) {
            int a = (r + 1) % 3, b = (r + 2) % 3, c = (q + 1) % 3, d = (q + 2) % 3;
            B[3 * q + r] = A[3 * a + c] * A[3 * b + d] - A[3 * a + d] * A[3 * b + c];
        }
    for (int q = 0; q < 3; q++) det += A[q] * B[3 * q];
    for (int k = 0; k < 9; k++) B[k] /= det;
}

static void draw_place(place *a, uint64_t seed) {
    double L[9];
    for (int k = 0; k < 9; k++) L[k] = 0.2 * random_in(&seed) + (k % 4 == 0);
    for (int r = 0; r < 3; r++)
        for (int q = 0; q < 3; q++)
            a->Gii[3 * r + q] = L[3 * r] * L[3 * q] + L[3 * r + 1] * L[3 * q + 1] + L[3 * r + 2] * L[3 * q + 2];
    invert(a->Gii, a->inverse);
    a->steps = ti_law_steps_of(a->Gii);
    double gt = fmax(a->Gii[0], a->Gii[4]), gn = a->Gii[8];
    a->scale = (ti_law_scale){1 / gn, 1 / gt, gn, gt};
    ti_pyramid_of(&(tribo_law_options){.facets = 5, .facet_angle = 0.2}, &a->pyramid);
    for (int r = 0; r < 3; r++) a->l[r] = random_in(&seed), a->c[r] = random_in(&seed);
    a->l[2] += 0.5;
    a->contact = (ti_law_contact){.mu = 0.6 + 0.4 * random_in(&seed),
                                  .scale = &a->scale,
                                  .Gii = a->Gii,
                                  .steps = &a->steps,
                                  .inverse = a->inverse,
                                  .pyramid = &a->pyramid,
                                  .smoothing = TRIBO_SMOOTHING_GAUSSIAN,
                                  .noise_n = 0.3,
                                  .noise_t = 0.3};
}

static double *coordinate(place *a, int k) {
    return k < 3 ? a->l + k : k < 6 ? a->c + (k - 3) : k == 6 ? &a->contact.mu : a->Gii + (k - 7);
}

static double claimed(const ti_law_slope *s, int r, int k) {
    return k < 3 ? s->l[3 * r + k] : k < 6 ? s->c[3 * r + k - 3] : k == 6 ? s->mu[r] : s->Gii[9 * r + k - 7];
}

/* Every entry of the slope against differences of F with the mode held. */
static void check_slope(const ti_law *law, const char *name) {
    bool met[256] = {false};
    int modes = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        place a;
        draw_place(&a, seed);
        unsigned char mode = law->mode(&a.contact, a.l, a.c);
        modes += !met[mode], met[mode] = true;
        ti_law_slope here, there;
        law->slope(&a.contact, mode, a.l, a.c, &here);
        for (int k = 0; k < (law->uses_Gii ? 16 : 7); k++) {
            double *x = coordinate(&a, k), keep = *x, F[4][3], h = 1e-3;
            for (int t = 0; t < 4; t++) {
                *x = keep + (t % 2 ? -h : h) / (1 + t / 2);
                law->slope(&a.contact, mode, a.l, a.c, &there);
                memcpy(F[t], there.F, sizeof there.F);
            }
            *x = keep;
            for (int r = 0; r < 3; r++) {
                double wide = (F[0][r] - F[1][r]) / (2 * h), close = (F[2][r] - F[3][r]) / h;
                double exact = (4 * close - wide) / 3, said = claimed(&here, r, k);
                ck_assert_msg(fabs(said - exact) < 1e-6 * (1 + fabs(exact)),
                              "%s, mode %d: dF_%d to number %d is %.9g, differences say %.9g", name, mode, r, k, said,
                              exact);
            }
        }
    }
    printf("%s: %d modes met\n", name, modes);
}

/* An impulse that pulls is as far from the cone as it is long, without friction too: F may be 0 in the mode of slip. */
static void check_pull(const ti_law *law, const char *name) {
    static const double pull[3] = {0, 0, -1}, none[3] = {0, 0, 0}, mu[3] = {0, 0.5, 2};
    for (int k = 0; k < 3; k++) {
        place a;
        double part[3];
        draw_place(&a, 1);
        a.contact.mu = mu[k];
        law->residual(&a.contact, pull, none, part);
        double most = fmax(part[0], fmax(part[1], part[2]));
        ck_assert_msg(most > 0.9, "%s, friction %g: a pull of 1 N s has a residual of %g", name, mu[k], most);
    }
}

START_TEST(a_pull_is_no_impulse) {
    for_every_law(check_pull);
}
END_TEST

START_TEST(slopes_are_derivatives) {
    for_every_law(check_slope);
}
END_TEST

/* Its own solution of one contact is a solution: no residual, F = 0, in the mode that it says. */
static void check_local(const ti_law *law, const char *name) {
    for (uint64_t seed = 1; seed <= 100; seed++) {
        place a;
        draw_place(&a, seed);
        double l[3] = {0, 0, 0}, free[3] = {a.c[0], a.c[1], a.c[2]}, wrong[3];
        for (int it = 0; it < 2000; it++) law->local(&a.contact, free, l);
        for (int r = 0; r < 3; r++)
            a.c[r] = free[r] + a.Gii[3 * r] * l[0] + a.Gii[3 * r + 1] * l[1] + a.Gii[3 * r + 2] * l[2];
        law->residual(&a.contact, l, a.c, wrong);
        for (int r = 0; r < 3; r++)
            ck_assert_msg(wrong[r] < 1e-9, "%s, contact %d: residual %d of its own solution is %g", name, (int)seed, r,
                          wrong[r]);
        ti_law_slope s;
        unsigned char mode = law->mode(&a.contact, l, a.c);
        ck_assert_msg(law->agrees(&a.contact, mode, l, a.c, 1e-9), "%s, contact %d: agrees() denies mode %d", name,
                      (int)seed, mode);
        law->slope(&a.contact, mode, l, a.c, &s);
        for (int r = 0; r < 3; r++)
            ck_assert_msg(fabs(s.F[r]) < 1e-8, "%s, contact %d, mode %d: F_%d = %g at a solution", name, (int)seed,
                          mode, r, s.F[r]);
    }
}

START_TEST(one_contact_alone) {
    for_every_law(check_local);
}
END_TEST

/* ---------------------------------------------------------------- solvers */

enum { NC = 3, NV = 12, N = 3 * NC };

typedef struct problem {
    double M[NV * NV], J[N * NV], vfree[NV], mu[NC];
    tribo_contact_problem p;
} problem;

static void draw_problem(problem *a, uint64_t seed) {
    for (int i = 0; i < NV; i++)
        for (int j = 0; j <= i; j++)
            a->M[i * NV + j] = a->M[j * NV + i] = 0.1 * random_in(&seed) + (i == j) * (1.5 + 0.5 * random_in(&seed));
    for (int k = 0; k < N * NV; k++) a->J[k] = random_in(&seed);
    for (int k = 0; k < NV; k++) a->vfree[k] = random_in(&seed);
    for (int i = 0; i < NC; i++) a->mu[i] = 0.5 + 0.3 * random_in(&seed);
    a->p = (tribo_contact_problem){.nc = NC, .nv = NV, .M = a->M, .J = a->J, .vfree = a->vfree, .mu = a->mu};
}

typedef void solver_test(const tribo_law_options *o, const char *name);
static void for_every_solver(solver_test *f) {
    for (tribo_law law = TRIBO_LAW_DEFAULT + 1; law < TRIBO_LAW_END; law++)
        for (int k = 0; tribo_law_solver(law, k); k++) {
            tribo_law_options o = {.law = law, .solver = tribo_law_solver(law, k)};
            char name[64];
            snprintf(name, sizeof name, "%s %s", tribo_law_name(law), tribo_solver_name(o.solver));
            f(&o, name);
        }
}

/* A solve, and that it allocates nothing. */
static tribo_status solve(tribo_contact_ws *ws, const problem *a, bool warm, double *l, double *v,
                          tribo_contact_info *info, const char *name) {
    int before = mallocs;
    tribo_status s = tribo_contact_solve(ws, &a->p, 1e-7, warm, l, v, info);
    int after = mallocs;
    ck_assert_msg(after == before, "%s allocates", name);
    return s;
}

/* Cold and warm, raw and polished: it converges, says so, and tells the same residual twice. */
static void check_solver(const tribo_law_options *given, const char *name) {
    long cold = 0, warm = 0;
    for (int raw = 0; raw < 2; raw++) {
        tribo_law_options o = *given;
        tribo_contact_ws *ws;
        o.raw = raw;
        ck_assert_int_eq(tribo_contact_ws_new(NC, NV, &o, NULL, &ws), TRIBO_OK);
        for (uint64_t seed = 1; seed <= 20; seed++) {
            problem a;
            draw_problem(&a, 77 * seed);
            double l[N], again[N], v[NV];
            tribo_contact_info info, second;
            tribo_measures m;
            tribo_status s = solve(ws, &a, false, l, v, &info, name);
            ck_assert_msg(s == TRIBO_OK && info.residual <= 1e-7, "%s, problem %d: status %d, residual %g", name,
                          (int)seed, (int)s, info.residual);
            ck_assert_int_eq(tribo_contact_measure(ws, &a.p, &m), TRIBO_OK);
            ck_assert_msg(fmax(m.law.primal, fmax(m.law.dual, m.law.complementarity)) <= 1e-7,
                          "%s: the measured residual is another", name);
            ck_assert_int_eq(solve(ws, &a, false, again, v, &second, name), TRIBO_OK);
            ck_assert_msg(memcmp(l, again, sizeof l) == 0, "%s: not the same twice", name);
            ck_assert_int_eq(solve(ws, &a, true, again, v, &second, name), TRIBO_OK);
            if (raw) cold += info.iterations, warm += second.iterations;
            if (!raw) ck_assert_msg(info.canonical, "%s, problem %d: not the canonical solution", name, (int)seed);
        }
        tribo_contact_ws_free(ws);
    }
    printf("%-28s %4ld iterations cold, %4ld warm\n", name, cold, warm);
    ck_assert_msg(warm < cold, "%s: a warm start does not help: %ld iterations, cold %ld", name, warm, cold);
}

START_TEST(solvers_solve) {
    for_every_solver(check_solver);
}
END_TEST

/* A solver that may not finish says so, with a residual that is what it says; NaN is refused or at least not solved. */
static void check_refusal(const tribo_law_options *given, const char *name) {
    tribo_law_options o = *given;
    tribo_contact_ws *ws;
    problem a;
    double l[N] = {0}, v[NV];
    tribo_contact_info info;
    o.max_iter = 1, o.raw = true;
    draw_problem(&a, 5);
    ck_assert_int_eq(tribo_contact_ws_new(NC, NV, &o, NULL, &ws), TRIBO_OK);
    tribo_status s = tribo_contact_solve(ws, &a.p, 1e-14, false, l, v, &info);
    ck_assert_msg((s == TRIBO_OK) == (info.residual <= 1e-14), "%s: status %d at residual %g", name, (int)s,
                  info.residual);
    ck_assert_msg(ti_finite(l, N) && ti_finite(v, NV), "%s: not finite after one iteration", name);
    a.vfree[0] = (double)NAN;
    ck_assert_msg(tribo_contact_solve(ws, &a.p, 0, false, l, v, &info) == TRIBO_E_NONFINITE, "%s takes NaN", name);
    a.vfree[0] = 0, a.M[0] = -1;
    ck_assert_msg(tribo_contact_solve(ws, &a.p, 0, false, l, v, &info) == TRIBO_E_SINGULAR, "%s takes any M", name);
    tribo_contact_ws_free(ws);
}

START_TEST(failures_are_told) {
    for_every_solver(check_refusal);
}
END_TEST

START_TEST(bad_options_are_refused) {
    static const tribo_law_options bad[] = {
        {.law = TRIBO_LAW_END},
        {.solver = TRIBO_SOLVER_LEMKE},
        {.law = TRIBO_LAW_CCP, .solver = TRIBO_SOLVER_BISECTION},
        {.relaxation = 2},
        {.relaxation = -1},
        {.facets = 3},
        {.facets = 65},
        {.max_iter = -1},
        {.softness = TRIBO_SOFTNESS_PHYSICAL},
        {.softness = TRIBO_SOFTNESS_MUJOCO, .impedance = 1},
        {.impratio = -1},
        {.dry_compliance = -1},
        {.kappa = -1},
        {.noise = -1},
        {.noise = (double)NAN},
        {.smoothing = 9},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tribo_contact_ws *ws = NULL;
        ck_assert_msg(tribo_contact_ws_new(2, 6, &bad[k], NULL, &ws) == TRIBO_E_ARG && !ws, "options %d", (int)k);
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("laws");
    TCase *t = tcase_create("laws");
    tcase_add_test(t, tables_are_whole);
    tcase_add_test(t, documents_and_derivative_tests_know_them);
    tcase_add_test(t, a_pull_is_no_impulse);
    tcase_add_test(t, slopes_are_derivatives);
    tcase_add_test(t, one_contact_alone);
    tcase_add_test(t, solvers_solve);
    tcase_add_test(t, failures_are_told);
    tcase_add_test(t, bad_options_are_refused);
    suite_add_tcase(s, t);
    return s;
}
