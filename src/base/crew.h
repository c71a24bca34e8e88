/* crew.h -- jobs dealt out to threads: a pool that stays, and one for a single occasion. */
#ifndef TI_CREW_H
#define TI_CREW_H
#include "base/base.h"

enum { TI_WORKERS_MAX = 256 };

/* Job `job` by worker `worker`. What it returns and writes must not depend on the worker. */
typedef tribo_status (*ti_crew_job)(int worker, int job, void *context);

/* Jobs 0 .. n-1 by at most nworker threads. @return the status of the lowest job that returned one below 0, or OK. */
tribo_status ti_crew(int nworker, int n, ti_crew_job job, void *context);

/* Threads that wait for jobs. One thread drives it. */
typedef struct ti_pool ti_pool;
/* nworker in [1, TI_WORKERS_MAX], the thread that calls is worker 0. Where fewer threads can be had, they do the work.
 * NULL without memory. */
ti_pool *ti_pool_new(int nworker, const tribo_allocator *a);
void ti_pool_free(ti_pool *pool);
/* As ti_crew(), `grain` >= 1 jobs dealt out at a time. Waits for those that work, not for threads that have not begun:
 * one that gets no time holds nobody up. Workers have the caller's rounding and traps. Allocates: never. */
tribo_status ti_pool_run(ti_pool *pool, int n, int grain, ti_crew_job job, void *context);

#endif
