/* pools.c -- what a model keeps between calls for those that use it: workspaces, and a pool of threads. */
#include "core.h"
#include <unistd.h>

/* ---- workspaces ---- */

tribo_ws *core_ws_take(core_model *m) {
    if (!core_model_alive(m)) return NULL;
    tribo_ws *ws = NULL;
    tribo_diag diag = {0};
    if (m->npool > 0) {
        ws = m->pool[--m->npool];
        if (m->options.warm_start) tribo_ws_reset(ws);
    } else {
        tribo_status s = tribo_ws_new(m->handle->m, &m->options, NULL, &ws, &diag);
        if (s < 0) {
            core_fail(m->core, s, "options", &diag);
            return NULL;
        }
    }
    core_handle_keep(m->handle);
    return ws;
}

void core_ws_give(core_model *m, core_handle *h, tribo_ws *ws) {
    if (m->handle == h && m->npool < CORE_POOL)
        m->pool[m->npool++] = ws;
    else
        tribo_ws_free(ws);
    core_handle_drop(h);
}

void core_ws_drop(core_model *m) {
    while (m->npool > 0) tribo_ws_free(m->pool[--m->npool]);
}

/* ---- threads ---- */

/* In a child of fork the threads are not there: what is left of the pool is given up, not ended. */
void core_batch_drop(core_model *m) {
    if (m->crew.batch && m->crew.process == (long)getpid()) tribo_batch_free(m->crew.batch);
    m->crew.batch = NULL;
}

static tribo_batch *batch_new(core_model *m, int workers, int steps) {
    tribo_batch_def d = tribo_default_batch();
    tribo_batch *b = NULL;
    tribo_diag diag = {0};
    d.workers = workers, d.steps = steps, d.sum_controls = true, d.options = &m->options;
    tribo_status s = tribo_batch_new(m->handle->m, &d, &b, &diag);
    if (s < 0) core_fail(m->core, s, "batch", &diag);
    return b;
}

core_crew core_batch_take(core_model *m, int workers, int steps) {
    core_crew crew = m->crew;
    if (!core_model_alive(m)) return (core_crew){0};
    if (crew.batch && crew.process == (long)getpid() && crew.workers == workers && crew.steps >= steps) {
        m->crew.batch = NULL;
    } else {
        core_batch_drop(m);
        crew = (core_crew){batch_new(m, workers, steps), workers, steps, (long)getpid()};
    }
    if (crew.batch) core_handle_keep(m->handle);
    return crew;
}

void core_batch_give(core_model *m, core_handle *h, core_crew crew) {
    if (m->handle == h && !m->crew.batch)
        m->crew = crew;
    else
        tribo_batch_free(crew.batch);
    core_handle_drop(h);
}
