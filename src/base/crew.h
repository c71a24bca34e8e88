/* crew.h -- jobs dealt out to threads. */
#ifndef TI_CREW_H
#define TI_CREW_H
#include "base/base.h"

enum { TI_WORKERS_MAX = 256 };

/* Job `job` by worker `worker`. What it returns and writes must not depend on the worker. */
typedef tribo_status (*ti_crew_job)(int worker, int job, void *context);

/* Jobs 0 .. n-1 by at most nworker threads. @return the status of the lowest job that returned one below 0, or OK. */
tribo_status ti_crew(int nworker, int n, ti_crew_job job, void *context);

#endif
