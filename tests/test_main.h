/* test_main.h -- the one main of a Check program: suite() made by the test file, run in the same process. */
#ifndef TEST_MAIN_H
#define TEST_MAIN_H
#include <check.h>
#include <stdlib.h>

/* An assertion that holds costs nothing: Check's own writes to a file where it was, which nobody reads here. */
#undef ck_assert
#undef ck_assert_msg
#define ck_assert_msg(expr, ...) ((expr) ? (void)0 : ck_abort_msg(__VA_ARGS__))
#define ck_assert(expr) ck_assert_msg(expr, "Assertion '%s' failed", #expr)

static Suite *suite(void);

/* A case of many numbers through lines that others run too, left out where they would take minutes: "repeated" under
 * the sanitizers and valgrind, "many" under valgrind alone (CK_EXCLUDE_TAGS, docs/testing.md). */
static inline TCase *tagged_case(Suite *s, const char *name, const char *tag) {
    TCase *t = tcase_create(name);
    tcase_set_tags(t, tag), tcase_set_timeout(t, 300), suite_add_tcase(s, t);
    return t;
}

int main(void) {
    SRunner *runner = srunner_create(suite());
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
