/* test_differences.c -- what differences of a function of one number say of a slope that is claimed, and what makes
 * `tribo gradcheck` say no. */
#include "differences.h"
#include "gradcheck.h"
#include "test_main.h"
#include <math.h>

static double smooth(void *context, double h) {
    (void)context;
    return sin(3 * h) + 5 * h * h;
}

/* Slope 2 above, -1 below. */
static double bent(void *context, double h) {
    (void)context;
    return h > 0 ? 2 * h + h * h : -h + 3 * h * h;
}

/* Slopes 2 and -2, whose mean differences from both sides say at every step. */
static double opposite(void *context, double h) {
    (void)context;
    return 2 * fabs(h) + h * h * h;
}

/* The same within 1e-5 of 0, and another beyond. */
static double bent_nearby(void *context, double h) {
    return fabs(h) > 1e-5 ? 40 * h : bent(context, h);
}

static double above_only(void *context, double h) {
    (void)context;
    return h < 0 ? (double)NAN : 4 * h;
}

static double jumping(void *context, double h) {
    (void)context;
    return h > 0 ? 1 + 7 * h : 7 * h;
}

/* One of two branches, by chance. */
static double flickering(void *context, double h) {
    unsigned *seed = context;
    *seed = *seed * 1664525u + 1013904223u;
    return 7 * h + (*seed >> 16 & 1 ? 1e-3 : 0);
}

/* How far what is claimed is from what differences allow. */
static double error_of(const difference *d, double claimed) {
    return fmax(fabs(d->value - claimed) - d->noise, 0);
}

START_TEST(opposite_slopes_are_a_kink) {
    difference d = differentiate(opposite, NULL, 1e-2, 0, 1e-9);
    ck_assert(d.kink && d.value == 0);
    ck_assert(fabs(d.above.slope - 2) < 1e-6 && fabs(d.below.slope + 2) < 1e-6);
}
END_TEST

START_TEST(one_slope) {
    difference d = differentiate(smooth, NULL, 1e-2, 3, 1e-7);
    ck_assert(!d.kink && !d.jump && error_of(&d, 3) == 0 && d.noise < 1e-7);
    d = differentiate(smooth, NULL, 1e-2, 3.001, 1e-7); /* both sides say no: a wrong slope is no kink */
    ck_assert(!d.kink && !d.jump && fabs(error_of(&d, 3.001) - 1e-3) < 1e-6);
    d = differentiate(above_only, NULL, 1e-2, 4, 1e-7);
    ck_assert(!d.kink && !d.jump && error_of(&d, 4) == 0 && isnan(d.below.slope));
    d = differentiate(above_only, NULL, 1e-2, 3, 1e-7);
    ck_assert(!d.kink && fabs(error_of(&d, 3) - 1) < 1e-6);
}
END_TEST

START_TEST(two_slopes) {
    const difference_function functions[2] = {bent, bent_nearby};
    for (int k = 0; k < 2; k++) {
        static const double claimed[] = {2, -1, 0.3, 2.5, -1.5}, off[] = {0, 0, 0, 0.5, 0.5};
        for (int i = 0; i < 5; i++) {
            difference d = differentiate(functions[k], NULL, 1e-2, claimed[i], 1e-7);
            ck_assert_msg(d.jump == false && fabs(error_of(&d, claimed[i]) - off[i]) < 1e-5, "%g: %g", claimed[i],
                          error_of(&d, claimed[i]));
            /* in the middle central differences end the search: that is between the two whatever they are */
            ck_assert(d.kink);
            ck_assert(fabs(d.above.slope - 2) < 1e-5 && fabs(d.below.slope + 1) < 1e-5);
        }
    }
}
END_TEST

START_TEST(no_slope) {
    difference d = differentiate(jumping, NULL, 1e-2, 7, 1e-7);
    ck_assert(d.jump && d.above.jump && !d.below.jump);
    for (unsigned seed = 1; seed < 20; seed++) { /* whatever chance confirms, it is not what is wrong */
        unsigned chance = seed;
        d = differentiate(flickering, &chance, 1e-2, 8, 1e-7);
        ck_assert(d.jump || d.noise > 1e-3 || error_of(&d, 8) > 0.5);
    }
}
END_TEST

START_TEST(flaws_are_named) {
    grad_task task = {.steps = 1, .tol = 1e-6};
    grad_result fine = {.worst = 1e-7, .left_out = 0.1}, r = fine;
    ck_assert_ptr_eq(grad_flaw(&task, &r), NULL);
    r.worst = 1e-5;
    ck_assert_ptr_ne(grad_flaw(&task, &r), NULL);
    r = fine, r.worst = NAN;
    ck_assert_ptr_ne(grad_flaw(&task, &r), NULL);
    r = fine, r.steps.reverse = 1e-8;
    ck_assert_ptr_ne(grad_flaw(&task, &r), NULL);
    r = fine, r.steps.jacobian = NAN;
    ck_assert_ptr_ne(grad_flaw(&task, &r), NULL);
    r = fine, r.left_out = 0.3;
    ck_assert_ptr_ne(grad_flaw(&task, &r), NULL);
    r = fine, r.info.residual = 1e-6;
    ck_assert_ptr_ne(grad_flaw(&task, &r), NULL);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("differences");
    TCase *t = tcase_create("all");
    tcase_add_test(t, opposite_slopes_are_a_kink);
    tcase_add_test(t, one_slope);
    tcase_add_test(t, two_slopes);
    tcase_add_test(t, no_slope);
    tcase_add_test(t, flaws_are_named);
    suite_add_tcase(s, t);
    return s;
}
