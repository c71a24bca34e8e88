/* test_swings.c -- angles alone with a mistake in them: found by how the scene moves, named, undone; and recordings
 * without a mistake, in which nothing is found, whatever the scene's numbers. */
#include "sysid/track/fit.h"
#include "test_main.h"
#include <stdio.h>
#include <tribo/tribo.h>

enum { ROWS = 100, NX = 4, SEEDS = 3 };
static const double degrees = 57.29577951308232;

static tribo_model *arm(double upper, double lower, double damping) {
    char xml[1000];
    tribo_model *m = NULL;
    snprintf(xml, sizeof xml,
             "<mujoco><option timestep='0.002' gravity='0 0 -9.81'/><worldbody><body name='upper' pos='0 0 2'>"
             "<joint name='shoulder' axis='0 1 0' damping='%g'/><geom type='capsule' fromto='0 0 0 0 0 -0.5' "
             "size='0.02' mass='%g'/><body name='lower' pos='0 0 -0.5'><joint name='elbow' axis='0 1 0'/>"
             "<geom type='capsule' fromto='0 0 0 0 0 -0.4' size='0.02' mass='%g'/></body></body></worldbody></mujoco>",
             damping, upper, lower);
    ck_assert_int_eq(tribo_model_load_memory(xml, strlen(xml), "test", NULL, &m, NULL), TRIBO_OK);
    return m;
}

/* Angles every so many steps of 2 ms, with 1 mrad of noise. */
static void record(uint64_t seed, int steps, double *time, double *x) {
    tribo_model *m = arm(1, 0.7, 0);
    tribo_ws *ws = NULL;
    ti_random dice = {seed};
    double p[200], now[NX] = {1.2 + 0.2 * ti_random_normal(&dice), 0.5 + 0.2 * ti_random_normal(&dice), 0, 0};
    ck_assert_int_le(tribo_model_sizes(m).np, 200);
    tribo_model_params(m, p);
    ck_assert_int_eq(tribo_ws_new(m, NULL, NULL, &ws, NULL), TRIBO_OK);
    for (int k = 0; k < ROWS; k++) {
        time[k] = 0.002 * steps * k;
        for (int j = 0; j < NX; j++) x[NX * k + j] = j < 2 ? now[j] + 1e-3 * ti_random_normal(&dice) : (double)NAN;
        for (int j = 0; j < steps; j++) ck_assert_int_ge(tribo_step(ws, p, now, NULL, now, NULL), 0);
    }
    tribo_ws_free(ws), tribo_model_free(m);
}

static void exchanged(double *x) {
    for (int k = 0; k < ROWS; k++) {
        double keep = x[NX * k];
        x[NX * k] = x[NX * k + 1], x[NX * k + 1] = keep;
    }
}
static void in_degrees(double *x) {
    for (int k = 0; k < ROWS; k++) x[NX * k] *= degrees, x[NX * k + 1] *= degrees;
}
static const struct {
    void (*make)(double *x);
    tribo_convention about;
    int steps; /* from row to row: over few forces hardly show beside noise */
} mistakes[] = {{exchanged, TRIBO_CONVENTION_NAMES, 5},
                {in_degrees, TRIBO_CONVENTION_ANGULAR, 5},
                {exchanged, TRIBO_CONVENTION_NAMES, 2}};

START_TEST(mistake) {
    double time[ROWS], was[ROWS * NX], x[ROWS * NX];
    tribo_model *m = arm(1, 0.7, 0);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        tribo_checked *c = NULL;
        int n = 0;
        record(seed, mistakes[_i].steps, time, was);
        memcpy(x, was, sizeof x);
        mistakes[_i].make(x);
        tribo_recording r = {.n = ROWS, .time = time, .x = x};
        ck_assert_int_eq(tribo_checked_new(m, NULL, &r, NULL, &c, NULL), TRIBO_OK);
        const tribo_finding *f = tribo_checked_findings(c, &n);
        ck_assert_int_eq(n, 1);
        ck_assert_msg(f->about == mistakes[_i].about && f->outcome == TRIBO_OUTCOME_MENDED, "%s", f->text);
        tribo_recording mended = tribo_checked_recording(c);
        for (int k = 0; k < ROWS; k++)
            for (int j = 0; j < 2; j++) ck_assert_double_lt(fabs(mended.x[NX * k + j] - was[NX * k + j]), 1e-12);
        tribo_checked_free(c);
    }
    tribo_model_free(m);
}
END_TEST

START_TEST(nothing_to_find) {
    static const double masses[] = {0.2, 1, 5}, damping[] = {0, 0.5};
    double time[ROWS], x[ROWS * NX];
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        record(seed, 5, time, x);
        for (int i = 0; i < 18; i++) {
            tribo_model *m = arm(masses[i % 3], masses[i / 3 % 3], damping[i / 9]);
            tribo_recording r = {.n = ROWS, .time = time, .x = x};
            tribo_checked *c = NULL;
            int n = 0;
            ck_assert_int_eq(tribo_checked_new(m, NULL, &r, NULL, &c, NULL), TRIBO_OK);
            const tribo_finding *f = tribo_checked_findings(c, &n);
            ck_assert_msg(n == 0, "%s", f->text);
            tribo_checked_free(c), tribo_model_free(m);
        }
    }
}
END_TEST

/* Six rows that are not there, and times that do not tell: found, and later times moved, or the longer part kept. */
START_TEST(dropped) {
    enum { AWAY = 6 };
    int missed = 0, moved = 0, all = 0;
    tribo_model *m = arm(1, 0.7, 0);
    for (uint64_t seed = 1; seed <= 2 * SEEDS; seed++)
        for (int row = 20; row < 85; row += 15, all++) {
            double time[ROWS], x[ROWS * NX];
            tribo_checked *c = NULL;
            int n = 0;
            record(seed, 5, time, x);
            memmove(x + NX * row, x + NX * (row + AWAY), (size_t)(ROWS - AWAY - row) * NX * sizeof *x);
            tribo_recording r = {.n = ROWS - AWAY, .time = time, .x = x};
            ck_assert_int_eq(tribo_checked_new(m, NULL, &r, NULL, &c, NULL), TRIBO_OK);
            const tribo_finding *f = tribo_checked_findings(c, &n);
            missed += !n || f->about != TRIBO_CONVENTION_GAP;
            tribo_recording mended = tribo_checked_recording(c);
            moved += n == 1 && mended.n == r.n && fabs(mended.time[r.n - 1] - 0.01 * (ROWS - 1)) < 1e-9;
            tribo_checked_free(c);
        }
    tribo_model_free(m);
    ck_assert_msg(missed == 0, "missed %d of %d; moved %d", missed, all, moved);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("swings");
    TCase *t = tcase_create("swings");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, mistake, 0, sizeof mistakes / sizeof *mistakes);
    tcase_add_test(t, nothing_to_find);
    tcase_add_test(t, dropped);
    suite_add_tcase(s, t);
    return s;
}
