/* test_columns.c -- gain and bias of measured columns, found together with what moves, and with intervals that hold. */
#include "cubes.h"
#include "math/vec.h"
#include "sysid/kicked/kicked.h"
#include "sysid_data.h"

enum { FREE = 8, NX = 13 };

static const char *drop_xml = DROP("0.7", "");
static const char *slide_xml = SLIDE("");
static const char *pendulum_xml =
    "<mujoco><option timestep='0.002' gravity='0 0 -9.81'/><worldbody><body name='bob' pos='0 0 1'>"
    "<joint name='pin' type='hinge' axis='0 1 0' damping='0.02'/>"
    "<geom name='bob' type='sphere' size='0.05' pos='0 0 -0.5' mass='1'/></body></worldbody></mujoco>";

/* A ball that falls and bounces, restitution 0.7: its height as a camera of that gain and bias has it. */
static void drops(data *d, double noise, double gain, double bias, uint64_t seed) {
    const double g = 9.81, radius = 0.1;
    load(d, drop_xml);
    for (int i = 0; i < RECORDINGS; i++) {
        cube c = {.x = {0, 0, radius + 0.2 + 0.1 * i}, .R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
        for (int k = 0; k < ROWS; k++) {
            double *x = d->x[i] + k * NX;
            cube_measure(&c, noise, noise / 0.1, &seed, x);
            x[2] += (gain - 1) * c.x[2] + bias;
            for (int j = 7; j < NX; j++) x[j] = NAN;
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

/* Of the library's own step, turned and stretched; of a joint its angle alone. */
static void record(data *d, const char *xml, const double *speed, double noise, double gain, const double bias[3],
                   uint64_t seed) {
    simulate(d, xml, speed, 1, NULL, NULL);
    for (int i = 0; i < RECORDINGS; i++)
        for (int k = 0; k < ROWS; k++) {
            double *x = d->x[i] + k * d->z.nx, turn[4];
            for (int j = d->z.nq; j < d->z.nx; j++) x[j] = NAN;
            if (d->z.nq == 1) x[0] = gain * x[0] + bias[0] + noise * cubes_gauss(&seed);
            for (int j = 0; j < 3 && d->z.nq > 1; j++) x[j] += noise * cubes_gauss(&seed);
            ti_vec r = {bias[0] + noise * cubes_gauss(&seed), bias[1] + noise * cubes_gauss(&seed),
                        bias[2] + noise * cubes_gauss(&seed)};
            ti_quat_exp(r, turn);
            if (d->z.nq > 1) ti_quat_mul(x + 3, turn, x + 3);
        }
}

static tribo_free_param column(int index, tribo_column kind) {
    tribo_free_param f = tribo_default_free();
    f.index = index, f.column = kind;
    return f;
}

START_TEST(a_camera_that_stretches_and_shifts_is_found_beside_the_bounce) {
    double square = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        data d;
        tribo_estimate e[3];
        drops(&d, 1e-3, 0.97, 0.006, 31 + 7 * seed);
        tribo_free_param f[3] = {named(&d, "floor/restitution", 0.5), column(2, TRIBO_COLUMN_GAIN),
                                 column(2, TRIBO_COLUMN_BIAS)};
        tribo_sysid_def def = define(&d, f, 3);
        tribo_sysid *s = fitted(&d, &def, e, NULL);
        near_truth(e, 0.7, 0.01, "restitution"), near_truth(e + 1, 0.97, 0.005, "gain");
        near_truth(e + 2, 0.006, 0.002, "bias");
        ck_assert_int_eq(e[1].index, 2);
        const double truth[] = {0.7, 0.97, 0.006};
        for (int i = 0; i < 3; i++) square += pow((e[i].estimate - truth[i]) / e[i].std_error, 2);
        /* rows as they are read are the ball's own */
        double X[ROWS * NX], theta[3], value[3];
        ck_assert_int_eq(tribo_sysid_rows(s, 1, X), TRIBO_OK);
        ck_assert_double_eq_tol(X[2], (d.x[1][2] - e[2].estimate) / e[1].estimate, 1e-12);
        tribo_sysid_theta(s, theta), tribo_sysid_values(s, theta, value);
        for (int i = 0; i < 3; i++) ck_assert_double_eq_tol(value[i], e[i].estimate, 1e-12);
        tribo_sysid_free(s), tribo_model_free(d.m);
    }
    ck_assert_msg(square / 24 > 0.4 && square / 24 < 2, "mean square in standard errors: %g", square / 24);
}
END_TEST

/* The floor tells how far a frame is tilted, nothing tells how it is turned about the vertical, nor then about which
 * axes of the body it is tilted. */
START_TEST(a_frame_that_is_mounted_crookedly_is_found_as_far_as_the_floor_tells) {
    for (uint64_t seed = 1; seed <= 12; seed++) {
        data d;
        tribo_estimate e[4];
        const double speed[6] = {1.5, 0.3, 0, 0, 0, 0}, bias[3] = {0.05, -0.08, 0.3}, level[3] = {0.05, -0.08, 0};
        record(&d, slide_xml, speed, 1e-3, 1, bias, seed);
        tribo_free_param f[4] = {named(&d, "floor/friction", 0.5), column(3, TRIBO_COLUMN_BIAS),
                                 column(4, TRIBO_COLUMN_BIAS), column(5, TRIBO_COLUMN_BIAS)};
        tribo_sysid_def def = define(&d, f, 4);
        tribo_sysid *s = fitted(&d, &def, e, NULL);
        near_truth(e, 0.25, 0.01, "friction");
        for (int i = 1; i < 4; i++) ck_assert_msg(!e[i].identifiable, "%d: %g +- %g", i, e[i].estimate, e[i].std_error);
        tribo_sysid_free(s), tribo_model_free(d.m);
        /* where the turn is known, so are the tilts */
        record(&d, slide_xml, speed, 1e-3, 1, level, seed);
        def = define(&d, f, 3);
        s = fitted(&d, &def, e, NULL);
        near_truth(e, 0.25, 0.01, "friction");
        near_truth(e + 1, 0.05, 5e-4, "tilt"), near_truth(e + 2, -0.08, 5e-4, "tilt");
        tribo_sysid_free(s), tribo_model_free(d.m);
    }
}
END_TEST

START_TEST(an_encoder_is_found_beside_the_damping) {
    data d;
    tribo_estimate e[3];
    const double speed = 3, bias[3] = {0.05, 0, 0};
    record(&d, pendulum_xml, &speed, 1e-3, 1.02, bias, 9);
    tribo_free_param f[3] = {named(&d, "pin/damping", 0.05), column(0, TRIBO_COLUMN_GAIN),
                             column(0, TRIBO_COLUMN_BIAS)};
    tribo_sysid_def def = define(&d, f, 3);
    tribo_sysid *s = fitted(&d, &def, e, NULL);
    near_truth(e, 0.02, 0.003, "damping"), near_truth(e + 1, 1.02, 0.01, "gain"),
        near_truth(e + 2, 0.05, 0.003, "bias");
    tribo_sysid_free(s), tribo_model_free(d.m);
}
END_TEST

/* Residuals of a row of the first track at theta, not weighted. */
static void residual_at(tribo_sysid *s, int row, const double *theta, const double *x, double *r) {
    ti_columns_read(s, theta);
    ti_residual(s, s->track, row, x, r);
    for (int i = 0; i < s->z.ndx; i++)
        r[i] /= s->track->w[row * s->z.ndx + i] > 0 ? s->track->w[row * s->z.ndx + i] : 1;
}

START_TEST(residuals_move_with_gain_and_bias_as_differences_say) {
    data d;
    const double speed[6] = {1.5, 0.3, 0, 0.2, -0.3, 1}, bias[3] = {0.4, -0.8, 0.3}, h = 1e-6;
    record(&d, slide_xml, speed, 0.02, 1, bias, 3);
    tribo_free_param f[FREE] = {named(&d, "floor/friction", 0.3)};
    for (int i = 0; i < 6; i++) f[1 + i] = column(i, TRIBO_COLUMN_BIAS), f[1 + i].start = i < 3 ? 0.02 : bias[i - 3];
    f[7] = column(0, TRIBO_COLUMN_GAIN), f[7].numbers = 3, f[7].start = 1.1;
    tribo_sysid_def def = define(&d, f, FREE);
    tribo_sysid *s = make(&d, &def);
    const double *x = s->track->x + 17 * NX; /* a motion that is a row ahead */
    double here[NX], theta[FREE], J[3 * FREE], r[12], up[12], down[12];
    memcpy(here, x, sizeof here), memcpy(theta, s->theta, sizeof theta);
    for (int b = 0; b < 2; b++) {
        ti_measured m;
        residual_at(s, 16, theta, here, r);
        ti_vec turned = ti_load3(r + s->block[b].at);
        ti_residual(s, s->track, 16, here, r);
        ck_assert(ti_measured_block(s, s->track, 16, here, r, &s->block[b], &m));
        ck_assert(ti_columns_jac(s, s->track, 16, &s->block[b], &m, J));
        for (int a = 0; a < FREE; a++) {
            theta[a] += h, residual_at(s, 16, theta, here, up), theta[a] -= 2 * h;
            residual_at(s, 16, theta, here, down), theta[a] += h;
            double by[3] = {J[a], J[FREE + a], J[2 * FREE + a]}, own[3] = {0};
            if (b == 1 && a >= 4 && a < 7) { /* the residual's own turn, eq. (441) */
                double e[3] = {a == 4, a == 5, a == 6};
                ti_vec frame = ti_exp_right(ti_scale(-1, ti_load3(bias)), ti_load3(e));
                ti_store3(own, ti_cross(turned, frame));
                ck_assert_double_gt(ti_norm(ti_load3(own)), 1e-3);
            }
            ck_assert_double_eq_tol(ti_dot(turned, ti_load3(own)), 0, 1e-15);
            for (int i = 0; i < 3; i++) {
                double slope = (up[s->block[b].at + i] - down[s->block[b].at + i]) / (2 * h) + own[i];
                ck_assert_msg(fabs(slope - by[i]) < 1e-8, "block %d, %d by %d: %g, %g", b, i, a, slope, by[i]);
            }
        }
    }
    tribo_sysid_free(s), tribo_model_free(d.m);
}
END_TEST

START_TEST(what_makes_no_sense_is_refused) {
    data d;
    tribo_sysid *s = NULL;
    drops(&d, 1e-3, 1, 0, 3);
    tribo_free_param f[2] = {column(3, TRIBO_COLUMN_GAIN)};
    tribo_sysid_def def = define(&d, f, 1);
    ck_assert_int_eq(tribo_sysid_new(d.m, &def, &s, NULL), TRIBO_E_ARG); /* of an orientation */
    f[0] = column(99, TRIBO_COLUMN_BIAS);
    ck_assert_int_eq(tribo_sysid_new(d.m, &def, &s, NULL), TRIBO_E_ARG);
    f[0] = column(2, TRIBO_COLUMN_BIAS), f[0].numbers = 3; /* half in the next block */
    ck_assert_int_eq(tribo_sysid_new(d.m, &def, &s, NULL), TRIBO_E_ARG);
    f[0] = column(0, TRIBO_COLUMN_GAIN), f[0].numbers = 3, f[1] = column(2, TRIBO_COLUMN_GAIN), def.nfree = 2;
    ck_assert_int_eq(tribo_sysid_new(d.m, &def, &s, NULL), TRIBO_E_ARG); /* twice */
    f[1] = column(2, TRIBO_COLUMN_BIAS), def.loss = TRIBO_LOSS_ROLLOUT;
    ck_assert_int_eq(tribo_sysid_new(d.m, &def, &s, NULL), TRIBO_E_ARG);
    tribo_model_free(d.m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("columns");
    TCase *t = tcase_create("long"), *few = tcase_create("short");
    tcase_set_timeout(t, 300);
    tcase_add_test(few, a_camera_that_stretches_and_shifts_is_found_beside_the_bounce);
    tcase_add_test(few, an_encoder_is_found_beside_the_damping);
    tcase_add_test(few, residuals_move_with_gain_and_bias_as_differences_say);
    tcase_add_test(few, what_makes_no_sense_is_refused);
    tcase_add_test(t, a_frame_that_is_mounted_crookedly_is_found_as_far_as_the_floor_tells);
    suite_add_tcase(s, few), suite_add_tcase(s, t);
    return s;
}
