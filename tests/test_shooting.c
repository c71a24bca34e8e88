/* test_shooting.c -- multiple shooting: truths found from poses alone and from far starts, with intervals that hold. */
#include "cubes.h"
#include "sysid/kicked/kicked.h"
#include "test_main.h"
#include <tribo/tribo.h>

enum { ROWS = 61, NX = 13, RECORDINGS = 3 };

#define OPTION "<option timestep='0.002' gravity='0 0 -9.81' cone='elliptic'/>"
static const char *slide_xml =
    "<mujoco>" OPTION "<worldbody><geom name='floor' type='plane' size='0 0 1' priority='1' friction='0.25'/>"
    "<body name='cube' pos='0 0 0.1'><freejoint/><geom name='cube' type='box' size='0.1 0.1 0.1' mass='1'/></body>"
    "</worldbody></mujoco>";
static const char *drop_xml =
    "<mujoco>" OPTION "<custom><numeric name='floor/restitution' data='0.7'/></custom><worldbody>"
    "<geom name='floor' type='plane' size='0 0 1' priority='1' friction='0.3'/>"
    "<body name='ball' pos='0 0 0.4'><freejoint/><geom name='ball' type='sphere' size='0.1' mass='1'/></body>"
    "</worldbody></mujoco>";

typedef struct data {
    tribo_model *m;
    tribo_recording rec[RECORDINGS];
    double time[ROWS], x[RECORDINGS][ROWS * NX];
} data;

static void load(data *d, const char *xml) {
    tribo_diag diag = {0};
    tribo_status s = tribo_model_load_memory(xml, strlen(xml), "test", NULL, &d->m, &diag);
    ck_assert_msg(s == TRIBO_OK, "%s", diag.text);
    for (int k = 0; k < ROWS; k++) d->time[k] = 0.01 * k;
    for (int i = 0; i < RECORDINGS; i++) d->rec[i] = (tribo_recording){.n = ROWS, .time = d->time, .x = d->x[i]};
}

static void put(data *d, int i, int k, const cube *c, double noise, uint64_t *seed) {
    double *x = d->x[i] + k * NX;
    cube_measure(c, noise, noise / 0.1, seed, x);
    for (int j = 7; j < NX; j++) x[j] = NAN;
}

/* Slides in closed form, until the cube stops. */
static void slides(data *d, double noise, uint64_t seed) {
    const double a = 0.25 * 9.81;
    cube_world world = {.n = 1, .half = 0.1};
    load(d, slide_xml);
    for (int i = 0; i < RECORDINGS; i++) {
        cube c = cube_standing(&world, 1, 0, 0, 0, 0);
        double v = 1.2 + 0.3 * i, stop = v / a;
        for (int k = 0; k < ROWS; k++) {
            double t = fmin(0.01 * k, stop), way = v * t - a * t * t / 2;
            c.x[0] = way * cos(i), c.x[1] = way * sin(i);
            put(d, i, k, &c, noise, &seed);
        }
    }
}

/* A ball that falls and bounces, restitution 0.7, without spin. */
static void drops(data *d, double noise, uint64_t seed) {
    const double g = 9.81, radius = 0.1;
    load(d, drop_xml);
    for (int i = 0; i < RECORDINGS; i++) {
        cube c = {.x = {0, 0, radius + 0.2 + 0.1 * i}, .R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
        for (int k = 0; k < ROWS; k++) {
            put(d, i, k, &c, noise, &seed);
            for (double left = 0.01; left > 0;) {
                double gap = fmax(0, c.x[2] - radius), hit = (c.v[2] + sqrt(c.v[2] * c.v[2] + 2 * g * gap)) / g;
                double t = fmin(hit, left);
                c.x[2] += c.v[2] * t - g * t * t / 2, c.v[2] -= g * t;
                if (hit < left) c.v[2] *= -0.7;
                left = hit < left ? left - t : 0;
            }
        }
    }
}

static tribo_sysid_def define(const data *d, tribo_free_param *free, const char *name, double start) {
    tribo_sysid_def def = tribo_default_sysid();
    *free = tribo_default_free();
    free->index = tribo_param_find(d->m, name), free->start = start;
    ck_assert_int_ge(free->index, 0);
    def.free = free, def.nfree = 1, def.rec = d->rec, def.nrec = RECORDINGS;
    def.loss = TRIBO_LOSS_SHOOTING, def.window = 1, def.robust = TRIBO_ROBUST_HUBER;
    return def;
}

static tribo_sysid *make(const data *d, const tribo_sysid_def *def) {
    tribo_sysid *s = NULL;
    tribo_diag diag = {0};
    tribo_status status = tribo_sysid_new(d->m, def, &s, &diag);
    ck_assert_msg(status == TRIBO_OK, "%d %s", (int)status, diag.text);
    return s;
}

/* Fit to the end. */
static tribo_estimate fit(const data *d, const tribo_sysid_def *def, tribo_progress *now) {
    tribo_estimate e;
    tribo_sysid *s = make(d, def);
    tribo_status status = tribo_sysid_fit(s, 200, now);
    ck_assert_msg(status == TRIBO_OK, "%d", (int)status);
    ck_assert_int_eq(tribo_sysid_observe(s, &e, NULL, NULL, NULL, NULL), TRIBO_OK);
    tribo_sysid_free(s);
    return e;
}

START_TEST(friction_from_far_starts_with_one_answer) {
    static const double starts[] = {0.025, 0.1, 0.25, 0.8, 2.5};
    data d;
    tribo_free_param f;
    slides(&d, 1e-3, 5);
    for (int k = 0; k < 5; k++) {
        tribo_progress now;
        tribo_sysid_def def = define(&d, &f, "floor/friction", starts[k]);
        def.search = 16;
        tribo_estimate e = fit(&d, &def, &now);
        ck_assert_msg(e.low95 < 0.25 && 0.25 < e.high95, "from %g: %g to %g", starts[k], e.low95, e.high95);
        ck_assert_msg(e.std_error > 1e-4 && e.std_error < 2e-3, "from %g: +- %g", starts[k], e.std_error);
        ck_assert(now.converged && now.starts >= 1 && now.agreed >= 1);
    }
    tribo_model_free(d.m);
}
END_TEST

START_TEST(intervals_hold_the_truth_where_the_start_is_estimated_too) {
    enum { SETS = 40 };
    int held = 0;
    double square = 0, told = 0;
    for (int k = 0; k < SETS; k++) {
        data d;
        tribo_free_param f;
        drops(&d, 1e-3, 1000 + 77 * (uint64_t)k);
        tribo_sysid_def def = define(&d, &f, "floor/restitution", 0.5);
        tribo_estimate e = fit(&d, &def, NULL);
        held += e.low95 <= 0.7 && 0.7 <= e.high95;
        square += (e.estimate - 0.7) * (e.estimate - 0.7), told += e.std_error * e.std_error;
        tribo_model_free(d.m);
    }
    ck_assert_msg(held >= 35, "%d of %d", held, SETS);
    double ratio = sqrt(square / told);
    ck_assert_msg(ratio > 0.6 && ratio < 1.4, "errors are %g of what was said", ratio);
}
END_TEST

START_TEST(the_smoothed_motion_is_nearer_to_the_truth_and_says_by_how_much) {
    data noisy, exact;
    tribo_free_param f;
    static double X[ROWS * NX], cov[ROWS * 12 * 12];
    drops(&exact, 0, 1), drops(&noisy, 1e-3, 9);
    tribo_sysid_def def = define(&noisy, &f, "floor/restitution", 0.6);
    tribo_sysid *s = make(&noisy, &def);
    ck_assert_int_eq(tribo_sysid_smooth(s, 0, X, cov), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_sysid_fit(s, 200, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_sysid_smooth(s, 3, X, cov), TRIBO_E_ARG);
    for (int i = 0; i < RECORDINGS; i++) {
        double off = 0, raw = 0, said = 0;
        ck_assert_int_eq(tribo_sysid_smooth(s, i, X, cov), TRIBO_OK);
        for (int k = 0; k < ROWS; k++)
            for (int j = 0; j < 3; j++) {
                double truth = exact.x[i][k * NX + j];
                off += pow(X[k * NX + j] - truth, 2), raw += pow(noisy.x[i][k * NX + j] - truth, 2);
                said += cov[k * 144 + j * 13];
            }
        ck_assert_msg(off < 0.15 * raw, "%g of %g", off, raw);
        ck_assert_msg(off < 6 * said && off > said / 12, "%g, said %g", off, said);
    }
    tribo_sysid_free(s);
    tribo_model_free(exact.m), tribo_model_free(noisy.m);
}
END_TEST

START_TEST(what_ends_at_a_bound_or_moves_nothing_is_told) {
    data d;
    tribo_free_param f;
    slides(&d, 1e-3, 3);
    tribo_sysid_def def = define(&d, &f, "floor/friction", 0.1);
    f.lower = 0.05, f.upper = 0.2;
    tribo_estimate e = fit(&d, &def, NULL);
    ck_assert(e.at_bound && e.estimate == 0.2);
    def = define(&d, &f, "cube/mass", 3);
    e = fit(&d, &def, NULL);
    ck_assert_msg(!e.identifiable && !e.at_bound && fabs(e.estimate / 3 - 1) < 0.1, "%d %d %g +- %g", e.identifiable,
                  e.at_bound, e.estimate, e.std_error);
    tribo_model_free(d.m);
}
END_TEST

START_TEST(workers_change_no_bit) {
    data d;
    tribo_free_param f;
    uint64_t hash[2];
    drops(&d, 1e-3, 4);
    for (int k = 0; k < 2; k++) {
        double theta;
        static double X[ROWS * NX];
        tribo_sysid_def def = define(&d, &f, "floor/restitution", 0.4);
        def.workers = k ? 4 : 1, def.search = 8;
        tribo_sysid *s = make(&d, &def);
        ck_assert_int_ge(tribo_sysid_fit(s, 12, NULL), 0);
        tribo_sysid_theta(s, &theta);
        ck_assert_int_eq(tribo_sysid_smooth(s, 1, X, NULL), TRIBO_OK);
        hash[k] = tribo_hash(X, ROWS * NX, tribo_hash(&theta, 1, 0));
        tribo_sysid_free(s);
    }
    ck_assert(hash[0] == hash[1]);
    tribo_model_free(d.m);
}
END_TEST

START_TEST(noise_is_read_from_the_recordings_alone) {
    data d;
    tribo_free_param f;
    double noise[TRIBO_BLOCKS];
    slides(&d, 2e-3, 8);
    tribo_sysid_def def = define(&d, &f, "floor/friction", 0.2);
    tribo_sysid *s = make(&d, &def);
    ti_noise_guess(s, noise);
    ck_assert_msg(fabs(noise[0] / 2e-3 - 1) < 0.15, "%g m", noise[0]);
    ck_assert_msg(fabs(noise[1] / 2e-2 - 1) < 0.15, "%g rad", noise[1]);
    tribo_sysid_free(s);
    tribo_model_free(d.m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("shooting");
    TCase *t = tcase_create("shooting");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, friction_from_far_starts_with_one_answer);
    tcase_add_test(t, intervals_hold_the_truth_where_the_start_is_estimated_too);
    tcase_add_test(t, the_smoothed_motion_is_nearer_to_the_truth_and_says_by_how_much);
    tcase_add_test(t, what_ends_at_a_bound_or_moves_nothing_is_told);
    tcase_add_test(t, workers_change_no_bit);
    tcase_add_test(t, noise_is_read_from_the_recordings_alone);
    suite_add_tcase(s, t);
    return s;
}
