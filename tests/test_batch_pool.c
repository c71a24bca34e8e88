/* test_batch_pool.c -- threads of the pool: every job once, errors by the lowest job, numbers as the caller's; callers
 * that are cancelled, processes that fork, threads that get no time; and what must not be asked of a batch. */
#include "base/crew.h"
#include "test_main.h"
#include "worlds.h"
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <tribo/tribo.h>
#include <unistd.h>

enum { JOBS = 1000 };

typedef struct count {
    atomic_int done[JOBS];
    atomic_int by[TI_WORKERS_MAX];
    int fail_from;
    int mode; /* of rounding, that every job has to have */
    atomic_int wrong;
} count;

static tribo_status counted(int worker, int job, void *context) {
    count *c = context;
    atomic_fetch_add(&c->done[job], 1), atomic_fetch_add(&c->by[worker], 1);
    if (fegetround() != c->mode) atomic_fetch_add(&c->wrong, 1);
    return c->fail_from && job >= c->fail_from ? (tribo_status)(-1 - job % 7) : TRIBO_OK;
}

START_TEST(every_job_once) {
    for (int workers = 1; workers <= 60; workers = workers * 3 + 1) {
        ti_pool *pool = ti_pool_new(workers, NULL);
        ck_assert_ptr_nonnull(pool);
        for (int n = 0; n <= JOBS; n = n * 7 + 1)
            for (int grain = 1; grain < 40; grain += 26) {
                count c = {.mode = FE_TONEAREST};
                ck_assert_int_eq(ti_pool_run(pool, n, grain, counted, &c), TRIBO_OK);
                for (int i = 0; i < JOBS; i++) ck_assert_int_eq(c.done[i], i < n);
                for (int i = workers; i < TI_WORKERS_MAX; i++) ck_assert_int_eq(c.by[i], 0);
                c = (count){.mode = FE_TONEAREST};
                ck_assert_int_eq(ti_crew(workers, n, counted, &c), TRIBO_OK);
                for (int i = 0; i < JOBS; i++) ck_assert_int_eq(c.done[i], i < n);
            }
        ti_pool_free(pool);
    }
    ti_pool_free(NULL);
}
END_TEST

START_TEST(the_lowest_failure_is_told) {
    ti_pool *pool = ti_pool_new(4, NULL);
    for (int from = 1; from < JOBS; from += 97) {
        count c = {.fail_from = from, .mode = FE_TONEAREST};
        ck_assert_int_eq(ti_pool_run(pool, JOBS, 3, counted, &c), -1 - from % 7);
        for (int i = 0; i < JOBS; i++) ck_assert_int_eq(c.done[i], 1);
    }
    ti_pool_free(pool);
}
END_TEST

/* Rounding is the caller's at the time of the call. */
START_TEST(numbers_are_the_callers) {
    ti_pool *pool = ti_pool_new(3, NULL);
    count c = {.mode = FE_UPWARD};
    fesetround(FE_UPWARD);
    ck_assert_int_eq(ti_pool_run(pool, JOBS, 1, counted, &c), TRIBO_OK);
    fesetround(FE_TONEAREST);
    ck_assert_int_eq(c.wrong, 0);
    ti_pool_free(pool);
}
END_TEST

/* ---- a batch among threads ---- */

static tribo_model *m;
static tribo_sizes z;

static void setup(void) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.4, 0.2);
    world_box(b, "box", 1, 0.1, 0, 0, 0.13, world_material(0.5, 0));
    m = world_build(b), z = tribo_model_sizes(m);
}

static void teardown(void) {
    tribo_model_free(m);
}

enum { N = 200, T = 20 };
static tribo_batch *make(int workers) {
    tribo_batch_def def = tribo_default_batch();
    tribo_batch *b = NULL;
    def.workers = workers, def.steps = T;
    ck_assert_int_eq(tribo_batch_new(m, &def, &b, NULL), TRIBO_OK);
    return b;
}

static uint64_t roll(tribo_batch *b) {
    double start[64], end[N * 16];
    tribo_worlds w = tribo_default_worlds();
    tribo_model_state0(m, start);
    w.n = N, w.steps = T, w.x = start, w.same_x = true;
    tribo_status s = tribo_batch_rollout(b, &w, NULL, end, NULL, NULL);
    return s < 0 ? 0 : tribo_hash(end, (size_t)(N * z.nx), 1);
}

/* The child has no threads but the one that forked, and does it all. */
START_TEST(a_fork_goes_on_alone) {
    tribo_batch *b = make(3);
    uint64_t want = roll(b);
    pid_t child = fork();
    if (child == 0) {
        uint64_t got = roll(b);
        tribo_batch_free(b);
        _exit(got == want ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert(roll(b) == want);
    tribo_batch_free(b);
}
END_TEST

static void nap(int us) {
    nanosleep(&(struct timespec){.tv_nsec = 1000L * us}, NULL);
}

static atomic_int rolled;
static void *roll_on(void *batch) {
    for (;;) {
        roll(batch);
        atomic_fetch_add(&rolled, 1);
        pthread_testcancel();
    }
    return NULL;
}

/* A driver that is cancelled finishes its round; the batch is as good as before. */
START_TEST(a_cancelled_driver_harms_nobody) {
    tribo_batch *b = make(3);
    uint64_t want = roll(b);
    for (int i = 0; i < 10; i++) {
        pthread_t driver;
        ck_assert_int_eq(pthread_create(&driver, NULL, roll_on, b), 0);
        int before = atomic_load(&rolled);
        while (atomic_load(&rolled) < before + i % 3) nap(100);
        nap(137 * i);
        pthread_cancel(driver);
        pthread_join(driver, NULL);
        ck_assert(roll(b) == want);
    }
    tribo_batch_free(b);
}
END_TEST

static pthread_t main_thread;
static atomic_int elsewhere;
static void on_signal(int sig) {
    (void)sig;
    if (!pthread_equal(pthread_self(), main_thread)) atomic_fetch_add(&elsewhere, 1);
}

/* Signals of the process never land in a thread of the pool. */
START_TEST(signals_are_the_callers) {
    struct sigaction a = {.sa_handler = on_signal}, before;
    tribo_batch *b = make(4);
    main_thread = pthread_self();
    sigaction(SIGUSR1, &a, &before);
    for (int i = 0; i < 20; i++) {
        kill(getpid(), SIGUSR1);
        roll(b);
    }
    sigaction(SIGUSR1, &before, NULL);
    ck_assert_int_eq(elsewhere, 0);
    tribo_batch_free(b);
}
END_TEST

/* More threads than cores, all batches at once: none waits for another. */
static void *roll_some(void *want) {
    tribo_batch *b = make(8);
    uintptr_t right = 0;
    for (int i = 0; i < 5; i++) right += roll(b) == *(uint64_t *)want;
    tribo_batch_free(b);
    return (void *)right;
}

/* ---- misuse ---- */

static tribo_status created(tribo_batch_def def, const char *word) {
    tribo_batch *b = NULL;
    tribo_diag diag = {0};
    tribo_status s = tribo_batch_new(m, &def, &b, &diag);
    ck_assert_ptr_null(b);
    ck_assert_msg(strstr(diag.text, word) != NULL, "`%s` has no `%s`", diag.text, word);
    return s;
}

#define CREATED(wanted, word, change)                                                                                  \
    do {                                                                                                               \
        tribo_batch_def def = tribo_default_batch();                                                                   \
        change;                                                                                                        \
        ck_assert_int_eq(created(def, word), wanted);                                                                  \
    } while (0)

START_TEST(definitions_are_looked_at) {
    tribo_options o = tribo_default_options();
    o.dt = -1;
    CREATED(TRIBO_E_ARG, "workers", def.workers = 0);
    CREATED(TRIBO_E_ARG, "workers", def.workers = 257);
    CREATED(TRIBO_E_ARG, "workers", def.workers = -3);
    CREATED(TRIBO_E_ARG, "steps", def.steps = 0);
    CREATED(TRIBO_E_ARG, "steps", def.steps = 1 << 30);
    CREATED(TRIBO_E_ARG, "dt", def.options = &o);
    CREATED(TRIBO_E_DEF, "tribo_default_batch", def.struct_size = 0);
    tribo_batch *b = NULL;
    ck_assert_int_eq(tribo_batch_new(NULL, NULL, &b, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_batch_new(m, NULL, NULL, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_batch_new(m, NULL, &b, NULL), TRIBO_OK);
    tribo_batch_free(b), tribo_batch_free(NULL);
    ck_assert_uint_eq(tribo_batch_bytes(NULL), 0);
}
END_TEST

/* What a changed call says of every function; ok[f]: whether function f takes it. */
static tribo_worlds call;
static double out[8192], x0[64];
static tribo_status call_all(tribo_batch *b, int f) {
    static const double lx[4096];
    tribo_batch_loss loss = {.lx = lx, .same_lx = true};
    switch (f) {
    case 0:
        return tribo_batch_step(b, &call, out, NULL);
    case 1:
        return tribo_batch_rollout(b, &call, out, out + 4096, NULL, NULL);
    case 2:
        return tribo_batch_gradient(b, &call, &loss, &(tribo_batch_bars){.p = out}, NULL);
    case 3:
        return tribo_batch_jvp(b, &call, 1, NULL, NULL, NULL, NULL, out, NULL);
    default:
        return tribo_batch_jac(b, &call, out, NULL, NULL, NULL, NULL);
    }
}

#define CALLED(wanted, change)                                                                                         \
    for (int f = 0; f < 5; f++) {                                                                                      \
        call = tribo_default_worlds();                                                                                 \
        call.n = 2, call.x = x0, call.same_x = true;                                                                   \
        memset(out, 0, sizeof out);                                                                                    \
        change;                                                                                                        \
        ck_assert_msg(call_all(b, f) == (wanted), "function %d after `%s`", f, #change);                               \
        for (size_t k = 0; (wanted) < 0 && k < sizeof out / sizeof *out; k++) ck_assert(out[k] == 0);                  \
    }

START_TEST(calls_are_looked_at) {
    tribo_batch *b = make(2), *warm = NULL;
    tribo_batch_def def = tribo_default_batch();
    tribo_options o = tribo_default_options();
    int late[2] = {1, 2}, early[2] = {-1, 0};
    tribo_model_state0(m, x0);
    CALLED(TRIBO_OK, (void)0);
    CALLED(TRIBO_OK, (call.n = 0, call.x = NULL));
    CALLED(TRIBO_E_ARG, call.n = -1);
    CALLED(TRIBO_E_ARG, call.x = NULL);
    CALLED(TRIBO_E_ARG, call.steps = -1);
    CALLED(TRIBO_E_ARG, call.horizon = late);
    CALLED(TRIBO_E_ARG, call.horizon = early);
    CALLED(TRIBO_E_DEF, call.struct_size = 3);
    call = tribo_default_worlds();
    ck_assert_int_eq(tribo_batch_step(NULL, &call, out, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_batch_step(b, NULL, out, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_batch_step(b, &call, NULL, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_batch_jvp(b, &call, -1, NULL, NULL, NULL, NULL, out, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_batch_jvp(b, &call, 1, NULL, NULL, NULL, NULL, NULL, NULL), TRIBO_E_ARG);
    tribo_batch_bars bars = {.p = out};
    tribo_batch_loss none = {0}, loss = {.lx = x0, .same_lx = true};
    ck_assert_int_eq(tribo_batch_gradient(b, &call, NULL, &bars, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_batch_gradient(b, &call, &none, &bars, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_batch_gradient(b, &call, &loss, NULL, NULL), TRIBO_E_ARG);
    call.steps = T + 1; /* more than it was made for */
    ck_assert_int_eq(tribo_batch_gradient(b, &call, &loss, &bars, NULL), TRIBO_E_ARG);
    call.steps = 1, bars = (tribo_batch_bars){.u = out, .sum_u = true};
    ck_assert_int_eq(tribo_batch_gradient(b, &call, &loss, &bars, NULL), TRIBO_E_ARG);
    o.warm_start = true, def.options = &o;
    ck_assert_int_eq(tribo_batch_new(m, &def, &warm, NULL), TRIBO_OK);
    bars = (tribo_batch_bars){.p = out};
    ck_assert_int_eq(tribo_batch_gradient(warm, &call, &loss, &bars, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_batch_jvp(warm, &call, 1, NULL, NULL, NULL, NULL, out, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_batch_jac(warm, &call, out, NULL, NULL, NULL, NULL), TRIBO_E_ARG);
    ck_assert(roll(warm) != 0);
    tribo_batch_free(warm), tribo_batch_free(b);
}
END_TEST

START_TEST(batches_side_by_side) {
    pthread_t thread[4];
    tribo_batch *b = make(1);
    uint64_t want = roll(b);
    for (int i = 0; i < 4; i++) ck_assert_int_eq(pthread_create(&thread[i], NULL, roll_some, &want), 0);
    for (int i = 0; i < 4; i++) {
        void *right;
        pthread_join(thread[i], &right);
        ck_assert_int_eq((int)(uintptr_t)right, 5);
    }
    tribo_batch_free(b);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("batch_pool");
    TCase *t = tcase_create("pool"), *b = tcase_create("batch");
    tcase_set_timeout(t, 300), tcase_set_timeout(b, 300);
    tcase_add_test(t, every_job_once);
    tcase_add_test(t, the_lowest_failure_is_told);
    tcase_add_test(t, numbers_are_the_callers);
    tcase_add_checked_fixture(b, setup, teardown);
    tcase_add_test(b, a_fork_goes_on_alone);
    tcase_add_test(b, a_cancelled_driver_harms_nobody);
    tcase_add_test(b, signals_are_the_callers);
    tcase_add_test(b, definitions_are_looked_at);
    tcase_add_test(b, calls_are_looked_at);
    tcase_add_test(b, batches_side_by_side);
    suite_add_tcase(s, t), suite_add_tcase(s, b);
    return s;
}
