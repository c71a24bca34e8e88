/* test_markers.c -- sites that were seen: truth found again from markers alone, poses that follow from them, refusals.
 */
#include "sysid/track/fit.h"
#include "sysid_data.h"

enum { NX = NX_MOST, FREE = 4 };

static const char *slide_xml =
    SLIDE("<site name='a' pos='0.1 0.1 0.1'/><site name='b' pos='-0.1 0.1 0.1'/><site name='c' pos='0.1 -0.1 0.1'/>"
          "<site name='d' pos='0.1 0.1 -0.06'/>");
static const char *drop_xml = DROP("0.6", "<site name='middle'/>");
static const char *arm_xml =
    "<mujoco>" OPTION "<worldbody><body name='upper' pos='0 0 2'><joint name='shoulder' axis='0 1 0' damping='0.05'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -0.5' size='0.02' mass='1'/><site name='mid' pos='0.03 0 -0.25'/>"
    "<body name='lower' pos='0 0 -0.5'><joint name='elbow' axis='0 1 0' damping='0.02'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -0.4' size='0.02' mass='0.7'/><site name='tip' pos='0 0.02 -0.4'/>"
    "</body></body></worldbody></mujoco>";

/* Motions as they were, and their markers. */
typedef struct marked {
    data d;
    double was[RECORDINGS][ROWS * NX], mark[RECORDINGS][ROWS * 3 * SITES];
} marked;

/* Of each row of a motion its markers alone, every tenth of them hidden. */
static void record(marked *f, const char *xml, const double *speed, double noise, bool hide, uint64_t seed) {
    data *d = &f->d;
    tribo_dynamics *at = NULL;
    ti_random dice = {seed};
    simulate(d, xml, speed, 1, NULL, NULL);
    ck_assert_int_eq(tribo_dynamics_new(d->m, NULL, &at), TRIBO_OK);
    for (int i = 0; i < RECORDINGS; i++) {
        memcpy(f->was[i], d->x[i], sizeof f->was[i]);
        for (int k = 0; k < ROWS; k++) {
            ck_assert_int_eq(tribo_dynamics_set_state(at, d->x[i] + k * d->z.nx), TRIBO_OK);
            for (int j = 0; j < d->z.nsite; j++) {
                double *y = f->mark[i] + 3 * (k * d->z.nsite + j);
                ck_assert_int_eq(tribo_site_pose(at, j, y, NULL), TRIBO_OK);
                bool hidden = hide && ti_random_uniform(&dice) < 0.1;
                for (int c = 0; c < 3; c++) y[c] = hidden ? (double)NAN : y[c] + noise * ti_random_normal(&dice);
            }
        }
        for (int j = 0; j < ROWS * d->z.nx; j++) d->x[i][j] = NAN;
        d->rec[i].marker = f->mark[i];
    }
    tribo_dynamics_free(at);
}

static tribo_sysid_def asked(const marked *f, const tribo_free_param *free, int n, tribo_loss loss) {
    tribo_sysid_def def = define(&f->d, free, n);
    def.loss = loss, def.start = TRIBO_START_AUTO;
    return def;
}

static void fit(const marked *f, const tribo_free_param *free, int n, tribo_loss loss, tribo_estimate *est) {
    tribo_sysid_def def = asked(f, free, n, loss);
    tribo_sysid_free(fitted(&f->d, &def, est, NULL));
}

START_TEST(friction_and_the_place_of_a_marker) {
    static marked f;
    const double speed[] = {1.5, 0.4, 0, 0, 0, 3};
    const char *names[] = {"floor/friction", "a/site_pos/x", "a/site_pos/y", "a/site_pos/z"};
    const double truth[] = {0.25, 0.1, 0.1, 0.1}, start[] = {0.5, 0.104, 0.1, 0.098};
    for (int noisy = 0; noisy < 2; noisy++) {
        tribo_free_param free[FREE];
        tribo_estimate est[FREE];
        record(&f, slide_xml, speed, noisy ? 1e-3 : 0, noisy, 5);
        for (int i = 0; i < FREE; i++) free[i] = named(&f.d, names[i], start[i]);
        fit(&f, free, FREE, TRIBO_LOSS_SHOOTING, est);
        for (int i = 0; i < FREE; i++) {
            double off = est[i].estimate - truth[i];
            ck_assert(est[i].identifiable);
            if (noisy) {
                ck_assert_double_lt(fabs(off), 3.5 * est[i].std_error);
                ck_assert_double_lt(est[i].std_error, 5e-4);
                ck_assert_double_gt(est[i].std_error, 5e-5);
            } else {
                ck_assert_double_lt(fabs(off), 1e-5);
            }
        }
        tribo_model_free(f.d.m);
    }
}
END_TEST

/* Where nothing is hidden a place of a marker is known as well as the mean of its rows, and the frame that the other
 * three make: with the pose of every row free, what one sees of the first three says the frame to their noise. */
START_TEST(intervals_are_those_of_the_rows) {
    static marked f;
    const double speed[] = {1.5, 0.4, 0, 0, 0, 3}, noise = 1e-3;
    double square = 0, variance = 0;
    for (int seed = 1; seed <= 8; seed++) {
        tribo_estimate est;
        record(&f, slide_xml, speed, noise, false, (uint64_t)seed);
        tribo_free_param free = named(&f.d, "d/site_pos/z", NAN);
        fit(&f, &free, 1, TRIBO_LOSS_SHOOTING, &est);
        square += (est.estimate + 0.06) * (est.estimate + 0.06), variance += est.std_error * est.std_error;
        double least = noise / sqrt(RECORDINGS * ROWS);
        ck_assert_double_gt(est.std_error, 0.8 * least);
        ck_assert_double_lt(est.std_error, 2 * least);
        tribo_model_free(f.d.m);
    }
    ck_assert_double_lt(square / variance, 2.8); /* of 8 squares one in a thousand is beyond */
    ck_assert_double_gt(square / variance, 0.1);
}
END_TEST

START_TEST(joints) {
    static marked f;
    const double speed[] = {3, -4};
    tribo_free_param free[3];
    tribo_estimate est[3];
    const double truth[] = {0.05, 0.02, 0.7};
    record(&f, arm_xml, speed, 1e-3, true, 3);
    free[0] = named(&f.d, "shoulder/damping", 0.1), free[1] = named(&f.d, "elbow/damping", 0.005);
    free[2] = named(&f.d, "lower/mass", 0.6);
    fit(&f, free, 3, TRIBO_LOSS_SHOOTING, est);
    for (int i = 0; i < 3; i++) {
        ck_assert(est[i].identifiable);
        ck_assert_double_lt(fabs(est[i].estimate - truth[i]), 3.5 * est[i].std_error);
        ck_assert_double_lt(est[i].std_error, 0.2 * truth[i]);
    }
    tribo_model_free(f.d.m);
}
END_TEST

/* A ball with one marker in its middle: where it is follows, how it is turned does not. */
START_TEST(one_marker) {
    static marked f;
    const double speed[] = {0.3, 0, 0, 0, 0, 0};
    tribo_estimate est;
    record(&f, drop_xml, speed, 5e-4, false, 9);
    tribo_free_param free = named(&f.d, "floor/restitution", 0.4);
    tribo_sysid_def def = asked(&f, &free, 1, TRIBO_LOSS_SHOOTING);
    tribo_sysid *s = NULL;
    double X[ROWS * NX];
    ck_assert_int_eq(tribo_sysid_new(f.d.m, &def, &s, NULL), TRIBO_OK);
    ck_assert_int_ge(tribo_sysid_fit(s, 200, NULL), 0);
    ck_assert_int_ge(tribo_sysid_observe(s, &est, NULL, NULL, NULL, NULL), 0);
    ck_assert_double_lt(fabs(est.estimate - 0.6), 3.5 * est.std_error);
    ck_assert_double_lt(est.std_error, 3e-3);
    ck_assert_int_eq(tribo_sysid_rows(s, 0, X), TRIBO_OK);
    for (int k = 0; k < ROWS; k++) {
        const double *x = X + k * f.d.z.nx;
        ck_assert(!isnan(x[0] + x[1] + x[2]));
        for (int j = 3; j < f.d.z.nx; j++) ck_assert(isnan(x[j]));
    }
    tribo_sysid_free(s);
    tribo_model_free(f.d.m);
}
END_TEST

/* Residual and derivative of a row's marker at a state moved by dx and theta. */
static void residual(tribo_sysid *s, const double *dx, const double *theta, int site, double *r, double *D) {
    double x[NX];
    ti_marked m;
    ti_at(s, theta), tribo_sysid_map_jac(s, theta, s->P);
    s->mark_weight = 7;
    tribo_state_add(s->m, s->track[0].x + 20 * s->z.nx, dx, x);
    ck_assert_int_eq(ti_markers_place(s->worker, x), TRIBO_OK);
    ck_assert(ti_marker(s->worker, s->track, 20, site, true, &m));
    memcpy(r, m.r, sizeof m.r);
    if (D) memcpy(D, m.D, 3 * (size_t)(s->z.ndx + s->nfree) * sizeof *D);
}

static void check_slopes(const char *xml, const double *speed, const char *name, int site) {
    enum { MOST = 2 * NX };
    static marked f;
    const double h = 1e-6;
    double dx[MOST] = {0}, theta[1] = {0.1}, D[3 * MOST], r[3], up[3], down[3];
    record(&f, xml, speed, 1e-3, false, 4);
    tribo_free_param free = named(&f.d, name, NAN);
    tribo_sysid_def def = asked(&f, &free, 1, TRIBO_LOSS_SHOOTING);
    tribo_sysid *s = NULL;
    ck_assert_int_eq(tribo_sysid_new(f.d.m, &def, &s, NULL), TRIBO_OK);
    int nd = f.d.z.ndx + 1;
    residual(s, dx, theta, site, r, D);
    for (int j = 0; j < nd; j++) {
        double *at = j < f.d.z.ndx ? &dx[j] : theta, was = *at;
        *at = was + h, residual(s, dx, theta, site, up, NULL);
        *at = was - h, residual(s, dx, theta, site, down, NULL);
        *at = was;
        for (int i = 0; i < 3; i++)
            ck_assert_msg(fabs((up[i] - down[i]) / (2 * h) - D[i * nd + j]) < 1e-7, "%s: %d by %d", name, i, j);
    }
    tribo_sysid_free(s);
    tribo_model_free(f.d.m);
}

START_TEST(residuals_move_as_differences_say) {
    const double slide[] = {1.5, 0.4, 0, 0, 0, 3}, swing[] = {3, -4};
    check_slopes(slide_xml, slide, "b/site_pos/y", 1);
    check_slopes(arm_xml, swing, "tip/site_pos/x", 1);
}
END_TEST

/* Poses as they were, whichever way a body is turned; other losses fit these. */
START_TEST(poses_by_markers) {
    static marked f;
    const double speed[] = {1.5, 0.4, 0, 0, 0, 9};
    record(&f, slide_xml, speed, 0, false, 1);
    tribo_free_param free = named(&f.d, "floor/friction", 0.4);
    tribo_sysid_def def = asked(&f, &free, 1, TRIBO_LOSS_ROLLOUT);
    tribo_sysid *s = NULL;
    double X[ROWS * NX], off[NX];
    ck_assert_int_eq(tribo_sysid_new(f.d.m, &def, &s, NULL), TRIBO_OK);
    for (int i = 0; i < RECORDINGS; i++) {
        ck_assert_int_eq(tribo_sysid_rows(s, i, X), TRIBO_OK);
        for (int k = 0; k < ROWS; k++) {
            for (int j = f.d.z.nq; j < f.d.z.nx; j++)
                ck_assert(isnan(X[k * f.d.z.nx + j])), X[k * f.d.z.nx + j] = f.was[i][k * f.d.z.nx + j];
            tribo_state_difference(f.d.m, X + k * f.d.z.nx, f.was[i] + k * f.d.z.nx, off);
            for (int j = 0; j < f.d.z.nv; j++) ck_assert_double_lt(fabs(off[j]), 1e-8);
        }
    }
    tribo_estimate est;
    ck_assert_int_ge(tribo_sysid_fit(s, 100, NULL), 0);
    ck_assert_int_ge(tribo_sysid_observe(s, &est, NULL, NULL, NULL, NULL), 0);
    ck_assert_double_lt(fabs(est.estimate - 0.25), 1e-4);
    tribo_sysid_free(s);
    tribo_model_free(f.d.m);
}
END_TEST

static void refused(marked *f, const char *words) {
    tribo_sysid_def def = asked(f, NULL, 0, TRIBO_LOSS_SHOOTING);
    tribo_sysid *s = NULL;
    tribo_diag diag = {0};
    ck_assert_int_eq(tribo_sysid_new(f->d.m, &def, &s, &diag), TRIBO_E_ARG);
    ck_assert_msg(strstr(diag.text, words), "%s", diag.text);
    tribo_model_free(f->d.m);
}

START_TEST(mistakes_are_refused_by_name) {
    static marked f;
    const double speed[] = {1.5, 0.4, 0, 0, 0, 3};
    record(&f, slide_xml, speed, 1e-3, false, 2);
    for (int i = 0; i < ROWS * 3 * SITES; i++) f.mark[1][i] *= 1000;
    refused(&f, "recording 1: markers are 1e+03 times as far apart as their sites: are they in millimetres?");
    record(&f, slide_xml, speed, 1e-3, false, 2);
    for (int k = 0; k < ROWS; k++)
        for (int c = 0; c < 3; c++) {
            double *y = f.mark[0] + 12 * k + c, keep = y[0];
            y[0] = y[9], y[9] = keep;
        }
    refused(&f, "recording 0: in no pose");
    record(&f, slide_xml, speed, 1e-3, false, 2);
    f.mark[2][7] = INFINITY;
    tribo_sysid *s = NULL;
    tribo_sysid_def def = asked(&f, NULL, 0, TRIBO_LOSS_SHOOTING);
    ck_assert_int_eq(tribo_sysid_new(f.d.m, &def, &s, NULL), TRIBO_E_NONFINITE);
    tribo_free_param free = named(&f.d, "a/site_pos/x", NAN); /* of poses alone nothing depends on it */
    for (int i = 0; i < RECORDINGS; i++) f.d.rec[i] = (tribo_recording){.n = ROWS, .time = f.d.time, .x = f.was[i]};
    def = asked(&f, &free, 1, TRIBO_LOSS_SHOOTING);
    ck_assert_int_eq(tribo_sysid_new(f.d.m, &def, &s, NULL), TRIBO_E_ARG);
    tribo_model_free(f.d.m);
}
END_TEST

START_TEST(columns_of_a_file) {
    tribo_model *m = NULL;
    tribo_trajectory *t = NULL;
    tribo_diag diag = {0};
    const char *text = "time,b.pz,cube.px,b.px\n0,0.3,1,\n1,nan,2,0.1\n", *poses = "time,cube.px\n0,1\n",
               *wrong = "time,b.qw\n0,1\n";
    ck_assert_int_eq(tribo_model_load_memory(slide_xml, strlen(slide_xml), "test", NULL, &m, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_trajectory_load_memory(text, strlen(text), m, NULL, &t, &diag), TRIBO_OK);
    const double *y = tribo_trajectory_markers(t), *x = tribo_trajectory_states(t);
    ck_assert(x[0] == 1 && x[tribo_model_sizes(m).nx] == 2);
    for (int i = 0; i < 2 * 12; i++) ck_assert(i == 5 ? y[i] == 0.3 : i == 15 ? y[i] == 0.1 : isnan(y[i]));
    tribo_trajectory_free(t), t = NULL;
    ck_assert_int_eq(tribo_trajectory_load_memory(poses, strlen(poses), m, NULL, &t, &diag), TRIBO_OK);
    ck_assert_ptr_null(tribo_trajectory_markers(t));
    tribo_trajectory_free(t), t = NULL;
    ck_assert_int_eq(tribo_trajectory_load_memory(wrong, strlen(wrong), m, NULL, &t, &diag), TRIBO_E_PARSE);
    ck_assert_ptr_null(tribo_trajectory_markers(NULL));
    tribo_model_free(m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("markers");
    TCase *t = tcase_create("long"), *few = tcase_create("short");
    tcase_set_timeout(t, 120);
    tcase_add_test(few, joints);
    tcase_add_test(few, one_marker);
    tcase_add_test(few, residuals_move_as_differences_say);
    tcase_add_test(few, mistakes_are_refused_by_name);
    tcase_add_test(few, columns_of_a_file);
    tcase_add_test(t, friction_and_the_place_of_a_marker);
    tcase_add_test(t, intervals_are_those_of_the_rows);
    tcase_add_test(t, poses_by_markers);
    suite_add_tcase(s, few), suite_add_tcase(s, t);
    return s;
}
