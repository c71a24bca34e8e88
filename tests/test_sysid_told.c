/* test_sysid_told.c -- what fits say of a gain, of moments of inertia of which one acts, of friction that is enough. */
#include "models.h"
#include "sysid/track/fit.h"
#include "test_main.h"
#include <math.h>
#include <string.h>
#include <tribo/tribo.h>

enum { ROWS = 241 };

static tribo_sysid *fit(const tribo_model *m, const tribo_free_param *wanted, int n, const tribo_recording *rec,
                        int search, tribo_estimate *est) {
    tribo_sysid_def def = tribo_default_sysid();
    tribo_sysid *s;
    def.free = wanted, def.nfree = n, def.rec = rec, def.nrec = 1, def.loss = TRIBO_LOSS_SHOOTING;
    def.start = TRIBO_START_AUTO, def.search = search;
    ck_assert_int_eq(tribo_sysid_new(m, &def, &s, NULL), TRIBO_OK);
    ck_assert_int_ge(tribo_sysid_fit(s, 200, NULL), 0);
    ck_assert_int_eq(tribo_sysid_observe(s, est, NULL, NULL, NULL, NULL), TRIBO_OK);
    return s;
}

/* A cart that known forces push, seen through much noise: a larger gain would make less of what is left, were that
 * counted in metres of the model. */
START_TEST(noise_is_in_what_is_measured) {
    const double h = 0.01, noise = 0.03;
    tribo_model *m = model_of("<mujoco><option timestep='0.01'/><worldbody><body name='cart'><joint name='rail' "
                              "type='slide' axis='1 0 0'/><geom type='sphere' size='0.1' mass='1' contype='0' "
                              "conaffinity='0'/></body></worldbody></mujoco>");
    double time[ROWS], x[2 * ROWS], u[ROWS], sum = 0;
    for (uint64_t set = 1; set < 5; set++) {
        tribo_estimate est;
        ti_random dice = {set};
        double q = -0.08, v = 0;
        for (int k = 0; k < ROWS; k++) {
            time[k] = h * k, u[k] = 2 * cos(5 * (time[k] + h / 2));
            x[2 * k] = q + noise * ti_random_normal(&dice), x[2 * k + 1] = (double)NAN;
            q += h * v + h * h / 2 * u[k], v += h * u[k];
        }
        tribo_free_param gain = tribo_default_free();
        gain.index = 0, gain.column = TRIBO_COLUMN_GAIN;
        tribo_recording rec = {.n = ROWS, .time = time, .x = x, .u = u};
        tribo_sysid *s = fit(m, &gain, 1, &rec, 0, &est);
        ck_assert(est.identifiable && est.std_error < 0.1);
        sum += (est.estimate - 1) / est.std_error / 4;
        tribo_sysid_free(s);
    }
    ck_assert_msg(fabs(sum) < 1.5, "off by %g standard errors", sum);
    tribo_model_free(m);
}
END_TEST

/* All six inertias of a rod on a hinge: the one about its axis is told, and those are said not to be that act on
 * nothing, whatever numbers of theta they are made of. */
START_TEST(the_inertia_that_acts_is_told) {
    static const char *const name[6] = {"rod/inertia/xx", "rod/inertia/yy", "rod/inertia/zz",
                                        "rod/inertia/xy", "rod/inertia/xz", "rod/inertia/yz"};
    tribo_model *m = model_of("<mujoco><option timestep='0.002'/><worldbody><body name='rod' pos='0 0 1'>"
                              "<joint name='pivot' axis='0 1 0'/><inertial mass='1' pos='0 0 -0.5' "
                              "diaginertia='0.1 0.11 0.05'/></body></worldbody></mujoco>");
    tribo_free_param wanted[6];
    tribo_estimate est[6];
    tribo_ws *ws;
    double p[64], q[2] = {1, 0}, time[ROWS], x[2 * ROWS], change[6], direction[6] = {0};
    ti_random dice = {3};
    ck_assert_int_eq(tribo_ws_new(m, NULL, NULL, &ws, NULL), TRIBO_OK);
    ck_assert_int_le(tribo_model_sizes(m).np, 64);
    tribo_model_params(m, p);
    for (int k = 0; k < ROWS; k++) {
        time[k] = 0.01 * k, x[2 * k] = q[0] + 1e-3 * ti_random_normal(&dice), x[2 * k + 1] = (double)NAN;
        for (int i = 0; i < 5; i++) ck_assert_int_eq(tribo_step(ws, p, q, NULL, q, NULL), TRIBO_OK);
    }
    for (int i = 0; i < 6; i++) wanted[i] = tribo_default_free(), wanted[i].index = tribo_param_find(m, name[i]);
    tribo_recording rec = {.n = ROWS, .time = time, .x = x};
    tribo_sysid *s = fit(m, wanted, 6, &rec, 0, est);
    ck_assert(est[1].identifiable && !est[0].identifiable && !est[2].identifiable);
    for (int i = 3; i < 6; i++) ck_assert(!est[i].identifiable);
    ck_assert_msg(fabs(est[1].estimate - 0.11) < 4 * est[1].std_error && est[1].std_error < 0.01, "%g +- %g",
                  est[1].estimate, est[1].std_error);
    /* theta of xx makes yy and zz larger, not xx itself, which is about that axis */
    direction[0] = 1;
    tribo_sysid_changes(s, direction, change);
    ck_assert(fabs(change[0]) < 0.1 && change[1] > 0.3 && change[2] > 0.3);
    tribo_sysid_free(s), tribo_ws_free(ws), tribo_model_free(m);
}
END_TEST

/* A ball that rolls has no say in how much friction there is beyond what it takes: none and enough explain it alike,
 * but that none leaves it two numbers of its start more. */
START_TEST(enough_friction_is_any) {
    enum { N = 97, SETS = 40 };
    tribo_model *m = model_of(
        "<mujoco><option timestep='0.002' cone='elliptic'/><worldbody><geom name='floor' type='plane' size='0 0 1' "
        "priority='1' friction='0.4'/><body name='ball' pos='0 0 0.05'><freejoint/><geom type='sphere' size='0.05' "
        "mass='0.3'/></body></worldbody></mujoco>");
    double time[N], x[13 * N];
    int held = 0;
    for (uint64_t set = 1; set <= SETS; set++) {
        tribo_estimate est;
        ti_random dice = {set};
        for (int k = 0; k < N; k++) {
            double *row = x + 13 * k, turn = 10 * k / 120., d[3];
            time[k] = k / 120.;
            for (int i = 0; i < 13; i++) row[i] = (double)NAN;
            for (int i = 0; i < 3; i++)
                row[i] = 1e-3 * ti_random_normal(&dice), d[i] = 2.5e-3 * ti_random_normal(&dice);
            row[0] += time[k], row[2] += 0.05;
            /* cos + sin j, times 1 + d */
            row[3] = cos(turn) - sin(turn) * d[1], row[4] = cos(turn) * d[0] + sin(turn) * d[2];
            row[5] = sin(turn) + cos(turn) * d[1], row[6] = cos(turn) * d[2] - sin(turn) * d[0];
            double length = sqrt(row[3] * row[3] + row[4] * row[4] + row[5] * row[5] + row[6] * row[6]);
            for (int i = 3; i < 7; i++) row[i] /= length;
        }
        tribo_free_param friction = tribo_default_free();
        friction.index = tribo_param_find(m, "floor/friction");
        tribo_recording rec = {.n = N, .time = time, .x = x};
        tribo_sysid *s = fit(m, &friction, 1, &rec, 150, &est);
        held += !est.identifiable || (est.low95 <= 0.2 && est.high95 >= 0.2);
        tribo_sysid_free(s);
    }
    ck_assert_msg(10 * held >= 9 * SETS, "%d of %d", held, SETS);
    tribo_model_free(m);
}
END_TEST

/* Asked before a fit, as by a design, an interval is that of the slope. */
START_TEST(intervals_before_a_fit) {
    tribo_model *m = model_of("<mujoco><option timestep='0.01'/><worldbody><body name='cart'><joint name='rail' "
                              "type='slide' axis='1 0 0' damping='2'/><geom size='0.1' mass='1' contype='0'/></body>"
                              "</worldbody></mujoco>");
    double time[ROWS], x[2 * ROWS];
    for (int k = 0; k < ROWS; k++)
        time[k] = 0.01 * k, x[2 * k] = (1 - exp(-2 * time[k])) / 2, x[2 * k + 1] = (double)NAN;
    tribo_free_param damping = tribo_default_free();
    damping.index = tribo_param_find(m, "rail/damping");
    tribo_recording rec = {.n = ROWS, .time = time, .x = x};
    tribo_sysid_def def = tribo_default_sysid();
    tribo_sysid *s;
    tribo_estimate e;
    def.free = &damping, def.nfree = 1, def.rec = &rec, def.nrec = 1, def.loss = TRIBO_LOSS_SHOOTING;
    def.start = TRIBO_START_AUTO;
    ck_assert_int_eq(tribo_sysid_new(m, &def, &s, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_sysid_observe(s, &e, NULL, NULL, NULL, NULL), TRIBO_OK);
    ck_assert(e.identifiable && e.estimate == 2);
    ck_assert_msg(e.low95 > 2 - 4 * e.std_error && e.high95 < 2 + 4 * e.std_error && e.std_error < 0.1,
                  "%g +- %g, %g to %g", e.estimate, e.std_error, e.low95, e.high95);
    tribo_sysid_free(s), tribo_model_free(m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("sysid_told");
    TCase *t = tcase_create("core");
    TCase *repeated = tagged_case(s, "repeated", "repeated");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, noise_is_in_what_is_measured);
    tcase_add_test(t, the_inertia_that_acts_is_told);
    tcase_add_test(repeated, enough_friction_is_any);
    tcase_add_test(t, intervals_before_a_fit);
    suite_add_tcase(s, t);
    return s;
}
