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

int main(void) {
    SRunner *runner = srunner_create(suite());
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
