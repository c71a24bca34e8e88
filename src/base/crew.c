/* crew.c -- jobs dealt out to threads.
 *
 * Jobs are taken from one counter by whoever is free. The caller takes part, and closes the round when none is left:
 * a thread that comes later finds it closed. So no thread is waited for that has not begun, be it that it gets no time
 * or, in a forked process, that it is not there.
 */
#include "base/crew.h"
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* What one worker knows of itself; a line of the cache each. */
typedef struct seat {
    _Alignas(TI_ALIGN) ti_pool *pool;
    int worker;
    tribo_status status; /* of its own lowest failed job */
    int job;             /* that job, -1 = none */
} seat;

struct ti_pool {
    tribo_allocator alloc;
    size_t bytes;
    pid_t process; /* that the threads are of */
    int nworker, nthread;
    seat *seat;        /* (nworker) */
    pthread_t *thread; /* (nworker), from 1 on */
    pthread_mutex_t lock;
    pthread_cond_t call, left;
    /* under the lock */
    bool open, over;
    unsigned long round;
    int inside; /* threads at work */
    /* as long as the round is open */
    int n, grain;
    ti_crew_job job;
    void *context;
    fenv_t numbers;
    _Alignas(TI_ALIGN) atomic_llong next;
};

static void work(seat *me) {
    ti_pool *c = me->pool;
    for (long long i; (i = atomic_fetch_add(&c->next, c->grain)) < c->n;)
        for (long long k = i; k < i + c->grain && k < c->n; k++) {
            tribo_status status = c->job(me->worker, (int)k, c->context);
            if (status < 0 && (me->job < 0 || k < me->job)) me->status = status, me->job = (int)k;
        }
}

static void *serve(void *argument) {
    seat *me = argument;
    ti_pool *c = me->pool;
    unsigned long seen = 0;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (!c->over && (!c->open || c->round == seen)) pthread_cond_wait(&c->call, &c->lock);
        if (c->over) break;
        seen = c->round;
        c->inside++;
        pthread_mutex_unlock(&c->lock);
        fesetenv(&c->numbers);
        work(me);
        pthread_mutex_lock(&c->lock);
        if (--c->inside == 0) pthread_cond_signal(&c->left);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Signals are for the caller's threads. Where no thread can be had, those that run do its work. */
static void begin(ti_pool *c) {
    sigset_t all, before;
    c->process = getpid();
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->call, NULL), pthread_cond_init(&c->left, NULL);
    atomic_init(&c->next, 0);
    for (int i = 0; i < c->nworker; i++) c->seat[i] = (seat){.pool = c, .worker = i, .job = -1};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int i = 1; i < c->nworker; i++) {
        if (pthread_create(&c->thread[i], NULL, serve, &c->seat[i])) break;
        c->nthread = i;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void end(ti_pool *c) {
    if (c->process != getpid()) return; /* the threads, who may hold the lock and do wait, are another process's */
    pthread_mutex_lock(&c->lock);
    c->over = true;
    pthread_cond_broadcast(&c->call);
    pthread_mutex_unlock(&c->lock);
    for (int i = 1; i <= c->nthread; i++) pthread_join(c->thread[i], NULL);
    pthread_cond_destroy(&c->left), pthread_cond_destroy(&c->call);
    pthread_mutex_destroy(&c->lock);
}

/* With the threads, if there are any. */
static void run_round(ti_pool *c) {
    pthread_mutex_lock(&c->lock);
    fegetenv(&c->numbers);
    c->open = true, c->round++;
    pthread_cond_broadcast(&c->call);
    pthread_mutex_unlock(&c->lock);
    work(&c->seat[0]);
    pthread_mutex_lock(&c->lock);
    c->open = false;
    while (c->inside) pthread_cond_wait(&c->left, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

tribo_status ti_pool_run(ti_pool *c, int n, int grain, ti_crew_job job, void *context) {
    int before, first = -1;
    tribo_status status = TRIBO_OK;
    for (int i = 0; i < c->nworker; i++) c->seat[i].job = -1;
    c->n = n, c->grain = grain, c->job = job, c->context = context;
    atomic_store(&c->next, 0);
    /* a caller that is cancelled is so after the round, in which others write for it */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    if (c->nthread && n > grain && c->process == getpid())
        run_round(c);
    else
        work(&c->seat[0]);
    pthread_setcancelstate(before, NULL);
    for (int i = 0; i < c->nworker; i++)
        if (c->seat[i].job >= 0 && (first < 0 || c->seat[i].job < first))
            first = c->seat[i].job, status = c->seat[i].status;
    return status;
}

static void lay_out(ti_arena *a, ti_pool *c) {
    ti_carve(a, 1, sizeof *c);
    TI_CARVE(a, c->seat, c->nworker);
    TI_CARVE(a, c->thread, c->nworker);
}

ti_pool *ti_pool_new(int nworker, const tribo_allocator *a) {
    ti_pool size = {.nworker = nworker};
    ti_arena arena = {0};
    lay_out(&arena, &size);
    size_t bytes = arena.used;
    ti_pool *c = ti_arena_take(&arena, a);
    if (!c) return NULL;
    c->nworker = nworker, c->bytes = bytes;
    if (a) c->alloc = *a;
    lay_out(&arena, c);
    begin(c);
    return c;
}

void ti_pool_free(ti_pool *c) {
    if (!c) return;
    tribo_allocator a = c->alloc;
    end(c);
    ti_free(&a, c, c->bytes);
}

tribo_status ti_crew(int nworker, int n, ti_crew_job job, void *context) {
    seat seats[TI_WORKERS_MAX];
    pthread_t thread[TI_WORKERS_MAX];
    ti_pool c = {.nworker = nworker < n ? nworker : n, .seat = seats, .thread = thread};
    if (n < 1) return TRIBO_OK;
    begin(&c);
    tribo_status status = ti_pool_run(&c, n, 1, job, context);
    end(&c);
    return status;
}
