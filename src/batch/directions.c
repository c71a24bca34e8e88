/* directions.c -- tangents of rollouts and Jacobians of steps, world by world. */
#include "batch/batch.h"

typedef struct tangents {
    int ndir;
    const double *x_dot, *u_dot, *p_dot;
    double *x_end, *xend_dot;
} tangents;

static const double *row_at(const double *a, size_t row, size_t width) {
    return a ? a + row * width : NULL;
}

/* One step of h->x, with its tangents in place. */
static tribo_status carry(const ti_task *t, ti_hand *h, int i, int k, double *dot) {
    const tangents *d = t->of;
    const tribo_batch *b = t->b;
    size_t n = (size_t)d->ndir, step = (size_t)i * (size_t)t->w->steps + (size_t)k;
    tribo_tape_rewind(h->tape);
    tribo_status s = tribo_step(h->ws, ti_world_p(b, t->w, i), h->x, ti_world_u(b, t->w, i, k), h->x, h->tape);
    if (s < 0) return s;
    tribo_status moved = tribo_step_jvp(h->ws, h->tape, 0, d->ndir, dot, row_at(d->u_dot, step, n * (size_t)b->z.nu),
                                        row_at(d->p_dot, (size_t)i, n * (size_t)b->z.np), dot);
    return ti_graver(moved, s);
}

static tribo_status carry_world(ti_task *t, ti_hand *h, int i) {
    const tangents *d = t->of;
    const tribo_batch *b = t->b;
    size_t nx = (size_t)b->z.nx, wide = (size_t)d->ndir * (size_t)b->z.ndx;
    double *dot = ti_row_of(d->xend_dot, i, wide), *x_end = ti_row_of(d->x_end, i, nx);
    tribo_status worst = TRIBO_OK;
    memcpy(h->x, ti_world_x(b, t->w, i), nx * sizeof *h->x);
    if (d->x_dot)
        memmove(dot, row_at(d->x_dot, (size_t)i, wide), wide * sizeof *dot);
    else
        memset(dot, 0, wide * sizeof *dot);
    for (int k = 0; k < ti_world_steps(t->w, i); k++) {
        tribo_status s = carry(t, h, i, k, dot);
        if (s < 0) return s;
        worst = ti_graver(worst, s);
    }
    if (x_end) memcpy(x_end, h->x, nx * sizeof *x_end);
    return worst;
}

tribo_status tribo_batch_jvp(tribo_batch *b, const tribo_worlds *w, int ndir, const double *x_dot, const double *u_dot,
                             const double *p_dot, double *x_end, double *xend_dot, tribo_status *status) {
    tribo_status s = ti_worlds_check(b, w, -1);
    if (s != TRIBO_OK) return s;
    if (ndir < 0 || !xend_dot || b->warm) return TRIBO_E_ARG;
    const tangents d = {ndir, x_dot, u_dot, p_dot, x_end, xend_dot};
    ti_task t = {.b = b, .w = w, .status = status, .world = carry_world, .of = &d};
    return ti_worlds_run(&t, w->n);
}

/* ---- Jacobians ---- */

typedef struct jacobians {
    double *x_next, *A, *B, *C;
} jacobians;

static tribo_status jac_world(ti_task *t, ti_hand *h, int i) {
    const jacobians *d = t->of;
    const tribo_batch *b = t->b;
    size_t nx = (size_t)b->z.nx, ndx = (size_t)b->z.ndx, nu = (size_t)b->z.nu, np = (size_t)b->z.np;
    double *x_next = ti_row_of(d->x_next, i, nx);
    tribo_tape_rewind(h->tape);
    tribo_status s =
        tribo_step(h->ws, ti_world_p(b, t->w, i), ti_world_x(b, t->w, i), ti_world_u(b, t->w, i, 0), h->x, h->tape);
    if (s < 0) return s;
    tribo_status told = tribo_step_jac(h->ws, h->tape, 0, ti_row_of(d->A, i, ndx * ndx), ti_row_of(d->B, i, ndx * nu),
                                       ti_row_of(d->C, i, ndx * np));
    if (told < 0) return told;
    if (x_next) memcpy(x_next, h->x, nx * sizeof *x_next);
    return ti_graver(told, s);
}

tribo_status tribo_batch_jac(tribo_batch *b, const tribo_worlds *w, double *x_next, double *A, double *B, double *C,
                             tribo_status *status) {
    tribo_status s = ti_worlds_check(b, w, 1);
    if (s != TRIBO_OK) return s;
    if (w->steps != 1 || w->horizon || b->warm) return TRIBO_E_ARG;
    const jacobians d = {x_next, A, B, C};
    ti_task t = {.b = b, .w = w, .status = status, .world = jac_world, .of = &d};
    return ti_worlds_run(&t, w->n);
}
