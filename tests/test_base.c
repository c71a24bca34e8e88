/* test_base.c -- status texts, hash, memory. */
#include "base/base.h"
#include "test_main.h"
#include <math.h>

START_TEST(every_status_has_a_text) {
    ck_assert_str_eq(tribo_status_text(TRIBO_OK), "success");
    ck_assert_str_ne(tribo_status_text(TRIBO_E_PARSE), tribo_status_text(TRIBO_E_IO));
    ck_assert_str_eq(tribo_status_text((tribo_status)99), "unknown status");
}
END_TEST

/* By the list in base.h, whichever comes first; of two errors the first. */
START_TEST(the_graver_of_two) {
    static const tribo_status rising[] = {TRIBO_OK,          TRIBO_SUBSTITUTED, TRIBO_NOT_CONVERGED,
                                          TRIBO_INTERRUPTED, TRIBO_DEGENERATE,  TRIBO_E_ARG};
    for (size_t i = 0; i < sizeof rising / sizeof *rising; i++)
        for (size_t j = 0; j < sizeof rising / sizeof *rising; j++)
            ck_assert_int_eq(tribo_status_graver(rising[i], rising[j]), rising[i > j ? i : j]);
    ck_assert_int_eq(tribo_status_graver(TRIBO_E_IO, TRIBO_E_ARG), TRIBO_E_IO);
    ck_assert_int_eq(tribo_status_graver(TRIBO_E_ARG, TRIBO_E_IO), TRIBO_E_ARG);
}
END_TEST

START_TEST(hash_is_canonical) {
    double a[2] = {0.0, NAN}, b[2] = {-0.0, -NAN}, c[2] = {0.0, 1.0};
    ck_assert(tribo_hash(a, 2, 1) == tribo_hash(b, 2, 1));
    ck_assert(tribo_hash(a, 2, 1) != tribo_hash(c, 2, 1));
    ck_assert(tribo_hash(c, 2, 1) != tribo_hash(c, 2, 2));
}
END_TEST

START_TEST(finite_sees_every_entry) {
    double a[3] = {1, 2, 3};
    ck_assert(ti_finite(a, 3));
    a[2] = INFINITY;
    ck_assert(!ti_finite(a, 3));
    a[2] = NAN;
    ck_assert(!ti_finite(a, 3));
    ck_assert(isnan(ti_max(1, NAN)) && isnan(ti_max(NAN, 1)) && ti_max(1, 2) == 2);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("base");
    TCase *t = tcase_create("base");
    tcase_add_test(t, every_status_has_a_text);
    tcase_add_test(t, the_graver_of_two);
    tcase_add_test(t, hash_is_canonical);
    tcase_add_test(t, finite_sees_every_entry);
    suite_add_tcase(s, t);
    return s;
}
