/* test_loops.c -- loops that hold one another: a mechanism that moves because its lengths are what they are, to the
 * digits that a file has. */
#include "models.h"
#include "test_main.h"
#include "worlds.h"

/* A head on a neck, and a plate behind it that turns with it since two rods are as long as the neck is far from the
 * plate: a parallelogram twice. One rod is longer by a ten thousandth of a millimetre. */
#define NECK                                                                                                           \
    "<body name='head'><joint name='head' axis='0 1 0'/><geom type='box' pos='-0.01 0 0.045' size='0.03 0.04 0.03' "   \
    "mass='0.14'/><body name='plate' pos='-0.027 0 0.0326'><joint name='plate' axis='0 -1 0'/>"                        \
    "<geom type='box' size='0.01 0.002 0.004' mass='0.02'/>"
#define ROD(name, at, end)                                                                                             \
    "<body name='" name "' pos='" at "'><joint name='" name "' axis='0 1 0'/><geom type='capsule' size='0.002' "       \
    "fromto='0 0 0 " end "' mass='0.01'/><site name='" name "' pos='" end "'/></body>"
#define FREE_ROD(name, at, end)                                                                                        \
    "<body name='" name "' pos='" at "'><freejoint/><geom type='capsule' size='0.002' "                                \
    "fromto='0 0 0 " end "' mass='0.01'/><site name='" name "' pos='" end "'/></body>"
#define BEGIN(moves)                                                                                                   \
    "<mujoco><option timestep='0.002'/><default><geom contype='0' conaffinity='0'/></default><worldbody>"              \
    "<body name='base' pos='0 0 1'>" moves "<geom type='box' size='.02 .02 .02' mass='1'/>"                            \
    "<site name='front' pos='0.0072 0 0.002'/><site name='back' pos='-0.0072 0 -0.002'/>"
#define HOLD "<equality><connect site1='f' site2='front'/><connect site1='b' site2='back'/></equality></mujoco>"

static const char *const NECKS[] = {
    BEGIN("") NECK ROD("f", "0.0072 0 0.002", "0.027 0 -0.0326")
        ROD("b", "-0.0072 0 -0.002", "0.0270001 0 -0.0326") "</body></body></body></worldbody>" HOLD,
    BEGIN("<freejoint/>") NECK ROD("f", "0.0072 0 0.002", "0.027 0 -0.0326")
        ROD("b", "-0.0072 0 -0.002", "0.0270001 0 -0.0326") "</body></body></body></worldbody>" HOLD,
    /* rods that are trees of their own, a point and a pin more each */
    BEGIN("") NECK
    "<site name='over' pos='0.0072 0 0.002'/><site name='under' pos='-0.0072 0 -0.002'/></body></body></body>" FREE_ROD(
        "f", "-0.0198 0 1.0346", "0.027 0 -0.0326")
        FREE_ROD("b", "-0.0342 0 1.0306",
                 "0.0270001 0 -0.0326") "</worldbody><equality><connect body1='f' body2='plate' anchor='0 0 "
                                        "0'/><connect body1='b' body2='plate' "
                                        "anchor='0 0 0'/><connect body1='f' body2='plate' anchor='0 0.01 0'/><connect "
                                        "body1='b' body2='plate' "
                                        "anchor='0 0.01 0'/><connect site1='f' site2='front'/><connect site1='b' "
                                        "site2='back'/></equality></mujoco>"};
enum { NNECKS = sizeof NECKS / sizeof *NECKS };

/* Rows of A times a direction against what the tangent says, and B and C against the reverse. */
static void jacobians_agree(world *w, const double *xd, const double *pd) {
    int ndx = w->n.ndx, np = w->n.np, last = w->T - 1;
    double *A = world_zeros(ndx * ndx), *C = world_zeros(ndx * np), *out = world_zeros(ndx), *x = world_zeros(ndx),
           *p = world_zeros(np), *unit = world_zeros(ndx), scale = 0;
    ck_assert_int_eq(tribo_step_jac(w->ws, w->tape, last, A, NULL, C), TRIBO_OK);
    ck_assert_int_eq(tribo_step_jvp(w->ws, w->tape, last, 1, xd, NULL, pd, out), TRIBO_OK);
    for (int i = 0; i < ndx; i++) scale = fmax(scale, fabs(out[i]));
    for (int i = 0; i < ndx; i++) {
        double by_rows = 0, by_reverse = 0;
        memset(x, 0, sizeof(double) * (size_t)ndx), memset(p, 0, sizeof(double) * (size_t)np);
        unit[i] = 1;
        ck_assert_int_eq(tribo_step_vjp(w->ws, w->tape, last, unit, x, NULL, p), TRIBO_OK);
        unit[i] = 0;
        for (int j = 0; j < ndx; j++) by_rows += A[i * ndx + j] * xd[j], by_reverse += x[j] * xd[j];
        for (int j = 0; j < np; j++) by_rows += C[i * np + j] * pd[j], by_reverse += p[j] * pd[j];
        NEAR(by_rows, out[i], 1e-10 * scale);
        NEAR(by_reverse, out[i], 1e-10 * scale);
    }
    free(A), free(C), free(out), free(x), free(p), free(unit);
}

/* It turns as one, step for step with one answer that is found at once. */
START_TEST(parallelograms_move) {
    world w = world_of(model_of(NECKS[_i]), NULL);
    double *x = world_zeros(w.n.nx);
    int head = _i == 1 ? 7 : 0;
    memcpy(x, w.x0, (size_t)w.n.nx * sizeof *x);
    for (int k = 0; k < 120; k++) {
        ck_assert_int_eq(tribo_step(w.ws, w.p, x, NULL, x, NULL), TRIBO_OK);
        ck_assert(tribo_last_info(w.ws)->canonical);
        ck_assert_int_le(tribo_last_info(w.ws)->iterations, 10);
    }
    NEAR(x[head + 1], x[head], 1e-3);
    if (_i != 1) ck_assert_double_gt(fabs(x[head]), 0.5); /* it falls */
    if (_i < 2)
        for (int rod = 2; rod < 4; rod++) NEAR(x[head + rod], x[head], 1e-3);
    free(x), world_free(&w);
}
END_TEST

/* Forward, reverse, matrices and differences of what is left, at rest and on the way. */
START_TEST(parallelograms_reverse) {
    unsigned seed = 3;
    for (int steps = 1; steps < 42; steps += 20) {
        world w = world_of(model_of(NECKS[_i]), NULL);
        double *xd = world_zeros(w.n.ndx), *pd = world_zeros(w.n.np);
        world_steps(&w, steps);
        world_run(&w);
        memcpy(w.x0, w.X + (size_t)steps * (size_t)w.n.nx, (size_t)w.n.nx * sizeof *w.x0);
        for (int i = 0; i < w.n.ndx; i++) xd[i] = test_random(&seed);
        world_random_params(&w, 0.1, &seed, pd);
        world_steps(&w, 1);
        world_run(&w);
        world_random_weights(&w, &seed);
        world_agrees(&w, xd, pd, 1e-6, 1, 1e-11, 1e-6);
        jacobians_agree(&w, xd, pd);
        free(xd), free(pd), world_free(&w);
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("loops");
    TCase *c = tcase_create("loops");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, parallelograms_move, 0, NNECKS);
    tcase_add_loop_test(c, parallelograms_reverse, 0, NNECKS);
    suite_add_tcase(s, c);
    return s;
}
