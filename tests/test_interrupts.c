/* test_interrupts.c -- fits that are stopped at any time within an iteration: what they say is of the best so far, and
 * they go on from there. */
#define _XOPEN_SOURCE 700 /* setitimer */
#include "sysid_data.h"
#include <math.h>
#include <signal.h>
#include <sys/time.h>

static volatile int stop;

static void ring(int number) {
    (void)number;
    stop = 1;
}

static void stop_after(long microseconds) {
    struct itimerval t = {.it_value = {microseconds / 1000000, microseconds % 1000000}};
    stop = 0;
    signal(SIGALRM, ring);
    setitimer(ITIMER_REAL, &t, NULL);
}

/* Every method. */
static const struct {
    tribo_optimizer optimizer;
    tribo_start start;
} WAY[] = {{TRIBO_OPT_LM, TRIBO_START_MEASURED},   {TRIBO_OPT_LBFGS, TRIBO_START_MEASURED},
           {TRIBO_OPT_ADAM, TRIBO_START_MEASURED}, {TRIBO_OPT_LM, TRIBO_START_ALONG},
           {TRIBO_OPT_LBFGS, TRIBO_START_ALONG},   {TRIBO_OPT_ADAM, TRIBO_START_ALONG}};
enum { NWAYS = sizeof WAY / sizeof *WAY, DELAYS = 6, MOST = 1000 };

static void says_its_loss(tribo_sysid *s, const tribo_progress *now) {
    double theta, loss;
    stop = 0;
    tribo_sysid_theta(s, &theta);
    ck_assert_int_eq(tribo_sysid_eval(s, &theta, &loss, NULL), TRIBO_OK);
    ck_assert_msg(isnan(now->loss) || loss <= now->loss * (1 + 1e-9) + 1e-25, "%g, said to be %g", loss, now->loss);
}

/* What it says is of where it is, and it has not come to an end. */
static void says_the_truth(tribo_sysid *s, const tribo_progress *now) {
    ck_assert(now->stage != TRIBO_STAGE_DONE && !now->settled);
    says_its_loss(s, now);
}

/* Adam takes too long to be waited for. */
START_TEST(stopped_anywhere) {
    data d;
    const double slide[6] = {0.6, 0.2, 0, 0.1, 0, 0.5};
    double theta, end = 0, delay = 100;
    simulate(&d, SLIDE(""), slide, 1, NULL, NULL);
    tribo_free_param f = named(&d, "floor/friction", 0.45);
    tribo_sysid_def def = define(&d, &f, 1);
    d.rec[0].n = 12, def.nrec = 1, def.loss = TRIBO_LOSS_ROLLOUT, def.stop = &stop;
    def.optimizer = WAY[_i].optimizer, def.start = WAY[_i].start;
    bool waits = def.optimizer != TRIBO_OPT_ADAM;
    tribo_progress now;
    for (int k = 0; k <= DELAYS; k++, delay *= 2) {
        tribo_sysid *s = make(&d, &def);
        for (int n = 0; n < 3 && k; n++) {
            stop_after((long)delay);
            if (tribo_sysid_fit(s, MOST, &now) != TRIBO_INTERRUPTED) break;
            ck_assert(!now.converged);
            says_the_truth(s, &now);
        }
        stop_after(0);
        if (waits) {
            ck_assert_int_eq(tribo_sysid_fit(s, MOST, &now), TRIBO_OK);
            tribo_sysid_theta(s, k ? &theta : &end);
            if (k) ck_assert_double_eq_tol(theta, end, 1e-4);
        }
        tribo_sysid_free(s);
    }
    tribo_model_free(d.m);
}
END_TEST

#define BOUNCE "<mujoco>" OPTION RESTITUTION("0.2") "<worldbody>" FLOOR("0.2") CUBE_OPEN "</body></worldbody></mujoco>"

/* Where the descent is stuck and a search begins. */
START_TEST(stopped_before_a_search) {
    data d;
    const double toss[6] = {1, 0.5, 1.5, 4, 3, 2};
    double delay = 50;
    int stuck = 0, stopped = 0;
    simulate(&d, BOUNCE, toss, 1, NULL, NULL);
    tribo_free_param f = named(&d, "floor/restitution", 0.6);
    tribo_sysid_def def = define(&d, &f, 1);
    def.nrec = 1, def.loss = TRIBO_LOSS_ROLLOUT, def.search = 16, def.stop = &stop;
    tribo_progress now = {.stage = TRIBO_STAGE_DESCENT}, before;
    for (int k = 0; k < DELAYS; k++, delay *= 2) {
        tribo_sysid *s = make(&d, &def);
        stop = 0;
        for (int n = 0; k ? n < stuck : now.stage == TRIBO_STAGE_DESCENT; n++) {
            ck_assert_int_eq(tribo_sysid_iterate(s, &now), TRIBO_OK);
            if (!k) stuck = n;
        }
        before = now;
        if (k) {
            stop_after((long)delay);
            bool here = tribo_sysid_iterate(s, &now) == TRIBO_INTERRUPTED;
            stop_after(0);
            stopped += here;
            if (here) says_the_truth(s, &now);
            ck_assert_int_eq(tribo_sysid_fit(s, MOST, &now), TRIBO_OK);
            says_its_loss(s, &now);
            ck_assert_double_le(now.loss, before.loss);
        }
        tribo_sysid_free(s);
    }
    ck_assert(stuck > 0 && stopped > 0);
    tribo_model_free(d.m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("interrupts");
    TCase *t = tcase_create("interrupts");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, stopped_anywhere, 0, NWAYS);
    tcase_add_test(t, stopped_before_a_search);
    suite_add_tcase(s, t);
    return s;
}
