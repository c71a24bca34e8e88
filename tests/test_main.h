/* test_main.h -- the one main of a Check program: suite() made by the test file, run in the same process. */
#ifndef TEST_MAIN_H
#define TEST_MAIN_H
#include <check.h>
#include <stdlib.h>

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
