/* progress.c -- see progress.h. */
#define _XOPEN_SOURCE 700 /* sigaction */
#include "progress.h"
#include "common.h"
#include "files.h"
#include "messages.h"
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;
_Static_assert(sizeof(sig_atomic_t) == sizeof(int), "the library polls an int");
const volatile int *const interrupts_flag = (const volatile int *)&interrupted;

/* Written by the handler: which signal it was. */
static volatile sig_atomic_t which;

static void interrupt(int number) {
    if (interrupted) outputs_drop(number);
    interrupted = 1, which = number;
}

void interrupts_catch(void) {
    struct sigaction act = {.sa_handler = interrupt};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    struct sigaction now;
    if (!sigaction(SIGHUP, NULL, &now) && now.sa_handler != SIG_IGN) sigaction(SIGHUP, &act, NULL); /* nohup */
}

void interrupts_conclude(void) {
    if (!interrupted) return;
    signal(which, SIG_DFL);
    raise(which);
}

/* One of a process, as standard error is. */
static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t end;
    bool begun, threaded, over;
    int part, parts; /* of a whole that is known; parts 0: it is not */
    double started, told;
    char state[512];
} ticker = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Columns of the terminal that standard error is; 0: it is none. */
static int columns(void) {
    struct winsize size = {0};
    if (!isatty(STDERR_FILENO)) return 0;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

/* With the lock held: on a terminal one line that changes, with a bar where the end is known; else a line each. */
static void tell(void) {
    enum { BAR = 20 };
    char line[640], bar[BAR + 4] = "";
    int wide = columns();
    ticker.told = seconds_now();
    if (messages_quiet) return;
    if (wide && ticker.parts > 0) {
        int done = (int)((long)BAR * ticker.part / ticker.parts);
        memcpy(bar, "[                    ] ", BAR + 4);
        memset(bar + 1, '#', (size_t)(done < 0 ? 0 : done > BAR ? BAR : done));
    }
    int n = snprintf(line, sizeof line, "%7.1f s  %s%s", ticker.told - ticker.started, bar, ticker.state);
    if (wide && n >= wide) line[ti_cut(line, strlen(line), (size_t)wide - 1)] = 0;
    if (wide)
        line_show(line);
    else
        fprintf(stderr, "%s\n", line);
}

void progress_part(int part, int parts) {
    pthread_mutex_lock(&ticker.lock);
    ticker.part = part, ticker.parts = parts;
    pthread_mutex_unlock(&ticker.lock);
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
    if (now || (!ticker.threaded && seconds_now() >= ticker.told + 0.9)) tell();
    pthread_mutex_unlock(&ticker.lock);
}

double progress_seconds(void) {
    return ticker.begun ? seconds_now() - ticker.started : 0;
}

void progress_end(void) {
    if (!ticker.begun) return;
    line_clear();
    pthread_mutex_lock(&ticker.lock);
    ticker.over = true;
    ticker.begun = false;
    if (ticker.threaded) pthread_cond_signal(&ticker.end);
    pthread_mutex_unlock(&ticker.lock);
    if (!ticker.threaded) return;
    pthread_join(ticker.thread, NULL);
    pthread_cond_destroy(&ticker.end);
}
