/* worlds.c -- worlds dealt out to threads: checks, statuses, steps and rollouts. */
#include "batch/batch.h"

/* ---- a call ---- */

tribo_status ti_worlds_check(const tribo_batch *b, const tribo_worlds *w, int steps) {
    if (!b || !w) return TRIBO_E_ARG;
    if (w->struct_size != sizeof *w) return TRIBO_E_DEF;
    if (w->n < 0 || w->steps < 0 || (steps >= 0 && w->steps > steps) || (w->n > 0 && !w->x)) return TRIBO_E_ARG;
    for (int i = 0; w->horizon && i < w->n; i++)
        if (w->horizon[i] < 0 || w->horizon[i] > w->steps) return TRIBO_E_ARG;
    return TRIBO_OK;
}

/* What the first step says of a row; where there is no step, it is said here. */
static tribo_status world_of(const ti_task *t, ti_hand *h, int i) {
    const tribo_batch *b = t->b;
    if (ti_world_steps(t->w, i) > 0) return TRIBO_OK;
    return tribo_rollout(h->ws, ti_world_p(b, t->w, i), ti_world_x(b, t->w, i), 0, NULL, h->x, NULL);
}

static tribo_status one_world(int worker, int job, void *context) {
    ti_task *t = context;
    int i = t->first + job;
    if (t->block) t->block[job] = t->status ? t->status[i] : TRIBO_OK;
    if (t->status && t->status[i] < 0) return TRIBO_OK;
    ti_hand *h = &t->b->hand[worker];
    tribo_ws_reset(h->ws);
    tribo_status s = world_of(t, h, i);
    if (s == TRIBO_OK) s = t->world(t, h, i);
    if (t->status) t->status[i] = s;
    if (t->block) t->block[job] = s;
    if (s >= 0) h->worst = ti_graver(h->worst, s);
    return s;
}

/* As many worlds at a time as leave every thread thirty shares, so that they end together. */
static int grain(const ti_task *t, int n) {
    int share = n / (32 * t->b->nworker);
    if (t->w->steps > 8 || share < 1) return 1;
    return share < 32 ? share : 32;
}

tribo_status ti_worlds_run(ti_task *t, int n) {
    tribo_batch *b = t->b;
    tribo_status worst = TRIBO_OK;
    for (int i = 0; i < b->nworker; i++) b->hand[i].worst = TRIBO_OK;
    tribo_status failed = ti_pool_run(b->pool, n, grain(t, n), one_world, t);
    for (int i = 0; i < b->nworker; i++) worst = ti_graver(worst, b->hand[i].worst);
    return failed < 0 ? failed : worst;
}

/* ---- forward ---- */

typedef struct forward {
    double *X, *x_end;
    int *reached;
} forward;

static tribo_status step_world(ti_task *t, ti_hand *h, int i) {
    const forward *f = t->of;
    const tribo_batch *b = t->b;
    return tribo_step(h->ws, ti_world_p(b, t->w, i), ti_world_x(b, t->w, i), ti_world_u(b, t->w, i, 0),
                      ti_row_of(f->x_end, i, (size_t)b->z.nx), NULL);
}

tribo_status tribo_batch_step(tribo_batch *b, const tribo_worlds *w, double *x_next, tribo_status *status) {
    tribo_status s = ti_worlds_check(b, w, 1);
    if (s != TRIBO_OK) return s;
    if (w->steps != 1 || w->horizon || !x_next) return TRIBO_E_ARG;
    const forward f = {.x_end = x_next};
    ti_task t = {.b = b, .w = w, .status = status, .world = step_world, .of = &f};
    return ti_worlds_run(&t, w->n);
}

static tribo_status roll_world(ti_task *t, ti_hand *h, int i) {
    const forward *f = t->of;
    const tribo_batch *b = t->b;
    size_t nx = (size_t)b->z.nx;
    double *X = ti_row_of(f->X, i, ((size_t)t->w->steps + 1) * nx), *x_end = ti_row_of(f->x_end, i, nx);
    const double *p = ti_world_p(b, t->w, i);
    tribo_status worst = TRIBO_OK;
    int k = 0, T = ti_world_steps(t->w, i);
    memcpy(h->x, ti_world_x(b, t->w, i), nx * sizeof *h->x);
    for (;; k++) {
        if (X) memcpy(X + (size_t)k * nx, h->x, nx * sizeof *X);
        if (k == T) break;
        tribo_status s = tribo_step(h->ws, p, h->x, ti_world_u(b, t->w, i, k), h->x, NULL);
        worst = ti_graver(worst, s);
        if (s < 0) break;
    }
    if (x_end) memcpy(x_end, h->x, nx * sizeof *h->x);
    if (f->reached) f->reached[i] = k;
    return worst;
}

tribo_status tribo_batch_rollout(tribo_batch *b, const tribo_worlds *w, double *X, double *x_end, int *reached,
                                 tribo_status *status) {
    tribo_status s = ti_worlds_check(b, w, -1);
    if (s != TRIBO_OK) return s;
    const forward f = {X, x_end, reached};
    ti_task t = {.b = b, .w = w, .status = status, .world = roll_world, .of = &f};
    return ti_worlds_run(&t, w->n);
}
