/* crew.c -- jobs dealt out to threads. */
#include "base/crew.h"
#include <pthread.h>
#include <stdatomic.h>

typedef struct crew {
    atomic_int next;
    int n;
    ti_crew_job job;
    void *context;
} crew;

typedef struct member {
    crew *crew;
    int worker;
    tribo_status status; /* of its own lowest failed job */
    int job;             /* that job, -1 = none */
} member;

static void *work(void *argument) {
    member *me = argument;
    crew *c = me->crew;
    for (int i; (i = atomic_fetch_add(&c->next, 1)) < c->n;) {
        tribo_status status = c->job(me->worker, i, c->context);
        if (status < 0 && (me->job < 0 || i < me->job)) me->status = status, me->job = i;
    }
    return NULL;
}

tribo_status ti_crew(int nworker, int n, ti_crew_job job, void *context) {
    crew c = {.n = n, .job = job, .context = context};
    member members[TI_WORKERS_MAX];
    pthread_t thread[TI_WORKERS_MAX];
    int want = nworker < n ? nworker : n, started = 0;
    for (int i = 0; i < want; i++) members[i] = (member){.crew = &c, .worker = i, .job = -1};
    /* where no thread can be had, those that run do its work */
    for (int i = 1; i < want; i++) {
        if (pthread_create(&thread[i], NULL, work, &members[i])) break;
        started = i;
    }
    if (want) work(&members[0]);
    for (int i = 1; i <= started; i++) pthread_join(thread[i], NULL);
    int first = -1;
    tribo_status status = TRIBO_OK;
    for (int i = 0; i < want; i++)
        if (members[i].job >= 0 && (first < 0 || members[i].job < first))
            first = members[i].job, status = members[i].status;
    return status;
}
