/* progress.c -- see progress.h. */
#define _XOPEN_SOURCE 700 /* sigaction */
#include "progress.h"
#include "common.h"
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <time.h>

static volatile sig_atomic_t interrupted;
_Static_assert(sizeof(sig_atomic_t) == sizeof(int), "the library polls an int");
const volatile int *const interrupts_flag = (const volatile int *)&interrupted;

static void interrupt(int signal) {
    (void)signal;
    interrupted = 1;
}

void interrupts_catch(void) {
    struct sigaction act = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
}

/* One of a process, as standard error is. */
static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t end;
    bool begun, threaded, over;
    double started, told;
    char state[512];
} ticker = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* With the lock held. */
static void tell(void) {
    ticker.told = seconds_now();
    fprintf(stderr, "%7.1f s  %s\n", ticker.told - ticker.started, ticker.state);
}

static void *tick(void *unused) {
    pthread_mutex_lock(&ticker.lock);
    while (!ticker.over) {
        double next = ticker.told + 0.9;
        struct timespec until = {.tv_sec = (time_t)next, .tv_nsec = (long)(1e9 * (next - (double)(time_t)next))};
        pthread_cond_timedwait(&ticker.end, &ticker.lock, &until);
        if (!ticker.over && seconds_now() >= ticker.told + 0.9) tell();
    }
    pthread_mutex_unlock(&ticker.lock);
    return unused;
}

void progress_begin(void) {
    pthread_condattr_t clock;
    if (pthread_condattr_init(&clock)) return;
    ticker.begun = true;
    ticker.started = ticker.told = seconds_now();
    snprintf(ticker.state, sizeof ticker.state, "reading");
    bool good = !pthread_condattr_setclock(&clock, CLOCK_MONOTONIC) && !pthread_cond_init(&ticker.end, &clock);
    ticker.threaded = good && !pthread_create(&ticker.thread, NULL, tick, NULL);
    pthread_condattr_destroy(&clock);
}

void progress_state(bool now, const char *format, ...) {
    va_list args;
    if (!ticker.begun) return;
    pthread_mutex_lock(&ticker.lock);
    va_start(args, format);
    vsnprintf(ticker.state, sizeof ticker.state, format, args);
    va_end(args);
    if (now) tell();
    pthread_mutex_unlock(&ticker.lock);
}

double progress_seconds(void) {
    return ticker.begun ? seconds_now() - ticker.started : 0;
}

void progress_end(void) {
    if (!ticker.begun) return;
    pthread_mutex_lock(&ticker.lock);
    ticker.over = true;
    ticker.begun = false;
    pthread_mutex_unlock(&ticker.lock);
    if (!ticker.threaded) return;
    pthread_cond_signal(&ticker.end);
    pthread_join(ticker.thread, NULL);
    pthread_cond_destroy(&ticker.end);
}
