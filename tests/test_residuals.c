/* test_residuals.c -- what a fit leaves, beside the noise of the rows: is that told from noise? */
#include "residuals.h"
#include "slow.h"
#include "test_main.h"
#include <math.h>
#include <string.h>
#include <tribo/tribo.h>

enum { ROWS = 60, NV = 6, MOST = 20 };
static const char cube[] =
    "<mujoco><worldbody><body name='cube'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/>"
    "</body></worldbody></mujoco>";

static double gauss(uint64_t *seed) {
    double u[2];
    for (int i = 0; i < 2; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        u[i] = ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
    }
    return sqrt(-2 * log(u[0])) * cos(6.283185307179586 * u[1]);
}

/* Is what is left taken for noise? Positions with 1 mm of noise in so many recordings of n rows, of whose variance a
 * share goes on from row to row. */
static bool good(int count, int rows, double share, uint64_t seed) {
    tribo_model *m = NULL;
    quality q = {0};
    char text[400];
    ck_assert_int_eq(tribo_model_load_memory(cube, strlen(cube), "test", NULL, &m, NULL), TRIBO_OK);
    size_t nx = (size_t)tribo_model_sizes(m).nx;
    for (int i = 0; i < count; i++) {
        double time[ROWS], x[ROWS * 13], r[ROWS * NV], slow[3] = {0};
        for (int j = 0; j < 3; j++) slow[j] = gauss(&seed);
        for (int k = 0; k < rows; k++) {
            double *row = x + (size_t)k * nx;
            time[k] = 0.01 * k;
            for (size_t j = 0; j < nx; j++) row[j] = NAN;
            for (int j = 0; j < NV; j++) r[k * NV + j] = NAN;
            row[3] = 1, row[4] = row[5] = row[6] = 0;
            for (int j = 0; j < 3; j++) {
                double noise = 1e-3 * gauss(&seed);
                slow[j] = 0.95 * slow[j] + sqrt(1 - 0.95 * 0.95) * gauss(&seed);
                row[j] = noise, r[k * NV + j] = noise + 1e-3 * sqrt(share / (1 - share)) * slow[j];
            }
        }
        residuals left = {.n = rows, .nv = NV, .m = m, .r = r};
        tribo_recording rec = {.n = rows, .time = time, .x = x};
        quality_add(&q, &left, m, &rec);
    }
    quality_settle(&q, tribo_model_extent(m));
    tribo_model_free(m);
    return quality_good(&q, text);
}

/* A quarter of what is left, in eight recordings of sixty rows, is no chance; nor is it too little to mind. */
START_TEST(what_goes_on_is_told) {
    int told = 0;
    for (int seed = 1; seed <= MOST; seed++) told += !good(8, ROWS, 0.25, (uint64_t)seed);
    ck_assert_int_ge(told, MOST * 3 / 4);
}
END_TEST

START_TEST(noise_is_not) {
    for (int seed = 1; seed <= MOST; seed++)
        for (int count = 1; count < 60; count = 4 * count - 1) {
            ck_assert(good(count, ROWS, 0, (uint64_t)seed));
            ck_assert(good(count, 30, 0, (uint64_t)seed));
        }
}
END_TEST

/* However sure: a tenth of the variance is what steps and smooth noise make. */
START_TEST(little_is_let_pass) {
    for (int seed = 1; seed <= MOST; seed++) ck_assert(good(50, ROWS, 0.08, (uint64_t)seed));
}
END_TEST

/* Tabled 5 % and 1 % points of F and chi-squared. */
START_TEST(chances_are_those_of_tables) {
    ck_assert_double_eq_tol(slow_chance(4.10282, 2, 10), 0.05, 1e-5);
    ck_assert_double_eq_tol(slow_chance(2.86608, 4, 20), 0.05, 1e-5);
    ck_assert_double_eq_tol(slow_chance(3.11867, 6, 60), 0.01, 1e-5);
    ck_assert_double_eq_tol(slow_chance(2.16458, 10, 30), 0.05, 1e-5);
    ck_assert_double_eq_tol(slow_chance(1, 4000, 4000), 0.5, 1e-6);
    ck_assert_double_eq(slow_chance(0, 2, 10), 1);
    ck_assert_double_eq_tol(slow_chance_square(3.841459, 1), 0.05, 1e-7);
    ck_assert_double_eq_tol(slow_chance_square(5.991465, 2), 0.05, 1e-7);
    ck_assert_double_eq_tol(slow_chance_square(18.475307, 7), 0.01, 1e-7);
    ck_assert_double_eq_tol(slow_chance_square(18.307038, 10), 0.05, 1e-7);
    ck_assert_double_eq(slow_chance_square(0, 3), 1);
}
END_TEST

/* Three recordings of a cube, of whose turn about the vertical a bow of so many times the noise is left. Every axis and
 * every recording has a noise of its own; of some the tails are long; rows are missing, or one number's. */
static bool fast(const tribo_model *m, int rows, double bow, bool tails, uint64_t *seed) {
    slow_parts s = {0};
    char text[400];
    for (int i = 0; i < 3; i++) {
        double time[ROWS], r[ROWS * NV];
        for (int k = 0; k < rows; k++) {
            double t = 2. * k / (rows - 1) - 1;
            time[k] = 0.01 * k + (k > rows / 2 ? 0.07 : 0);
            for (int j = 0; j < NV; j++) {
                double noise =
                    gauss(seed) /
                    (tails ? sqrt((pow(gauss(seed), 2) + pow(gauss(seed), 2) + pow(gauss(seed), 2)) / 3) : 1);
                r[k * NV + j] = (1 + i) * (j % 3 == 2 ? 3e-3 : 1e-3) * (noise + (j == 5 ? bow * (t * t - 1. / 3) : 0));
            }
            if (k == 7) r[k * NV] = NAN;
        }
        residuals left = {.n = rows, .nv = NV, .m = m, .r = r};
        tribo_recording rec = {.n = rows, .time = time};
        ck_assert(slow_add(&s, &left, &rec));
    }
    bool good = slow_good(&s, m, text);
    slow_free(&s);
    return good || (bow > 0 && !strstr(text, "how cube turns (rotation, z) is within that"));
}

static int told_slow(int sets, int rows, double bow, bool tails) {
    tribo_model *m = NULL;
    uint64_t seed = 99;
    int told = 0;
    ck_assert_int_eq(tribo_model_load_memory(cube, strlen(cube), "test", NULL, &m, NULL), TRIBO_OK);
    for (int k = 0; k < sets; k++) told += !fast(m, rows, bow, tails, &seed);
    tribo_model_free(m);
    return told;
}

/* One in a hundred is allowed, of 2000 sets 20 +- 4.5; with tails so long that they have no kurtosis, two. */
START_TEST(noise_is_not_slow) {
    ck_assert_int_le(told_slow(2000, ROWS, 0, false), 20 + 13);
    ck_assert_int_le(told_slow(2000, 33, 0, false), 20 + 13);
    ck_assert_int_le(told_slow(2000, ROWS, 0, true), 40 + 19);
    ck_assert_int_eq(told_slow(20, 7, 0, false), 0);
}
END_TEST

/* A bow whose rms is 0.6 of the noise changes its rms by less than a fifth. */
START_TEST(a_bow_is_told) {
    ck_assert_int_ge(told_slow(100, ROWS, 2, false), 99);
    ck_assert_int_ge(told_slow(100, ROWS, 1.2, false), 60);
}
END_TEST

/* Motions that were computed are not judged by their rounding. */
START_TEST(rounding_is_let_pass) {
    tribo_model *m = NULL;
    slow_parts s = {0};
    char text[400];
    double time[ROWS], r[ROWS * NV];
    ck_assert_int_eq(tribo_model_load_memory(cube, strlen(cube), "test", NULL, &m, NULL), TRIBO_OK);
    for (int k = 0; k < ROWS; k++) {
        time[k] = 0.01 * k;
        for (int j = 0; j < NV; j++) r[k * NV + j] = 1e-8 * time[k] * time[k] + 1e-11 * (k % 3);
    }
    residuals left = {.n = ROWS, .nv = NV, .m = m, .r = r};
    tribo_recording rec = {.n = ROWS, .time = time};
    ck_assert(slow_add(&s, &left, &rec));
    ck_assert(slow_good(&s, m, text));
    slow_free(&s), tribo_model_free(m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("residuals");
    TCase *t = tcase_create("all");
    tcase_add_test(t, what_goes_on_is_told);
    tcase_add_test(t, noise_is_not);
    tcase_add_test(t, little_is_let_pass);
    tcase_add_test(t, chances_are_those_of_tables);
    tcase_add_test(t, noise_is_not_slow);
    tcase_add_test(t, a_bow_is_told);
    tcase_add_test(t, rounding_is_let_pass);
    suite_add_tcase(s, t);
    return s;
}
