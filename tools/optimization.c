/* optimization.c -- what a search has found, as a simulation has it. */
#include "optimization.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool motion_room(motion *w, const tribo_sizes *z, int knots, int rows) {
    w->time = calloc((size_t)rows, sizeof(double));
    w->x = calloc((size_t)rows * (size_t)z->nx, sizeof(double));
    w->U = calloc((size_t)knots * (size_t)z->nu, sizeof(double));
    return w->time && w->x && w->U;
}

void motion_free(motion *w) {
    free(w->time), free(w->x), free(w->U);
    *w = (motion){0};
}

double knot_seconds(const task_file *t) {
    return t->def.substeps * t->dt;
}

/* All of u at every knot. */
static int spread_controls(const optimization *o, motion *w) {
    const task_file *t = o->task;
    size_t nu = (size_t)t->size.nu, nc = (size_t)t->def.ncontrol;
    double *U = calloc((size_t)t->def.knots * nc, sizeof *U);
    if (!U) return trouble("no memory");
    tribo_trajopt_trajectory(o->t, NULL, U);
    for (size_t k = 0; k < (size_t)t->def.knots; k++) {
        memcpy(w->U + k * nu, t->u, nu * sizeof *U);
        for (size_t i = 0; i < nc; i++) w->U[k * nu + (size_t)t->control[i]] = U[k * nc + i];
    }
    w->knots = t->def.knots;
    free(U);
    return EXIT_SUCCESS;
}

static int roll(const optimization *o, tribo_ws *ws, motion *w) {
    const task_file *t = o->task;
    size_t nx = (size_t)t->size.nx, nu = (size_t)t->size.nu;
    int steps = t->def.knots * t->def.substeps;
    memcpy(w->x, t->x0, nx * sizeof *w->x);
    w->rows = 1;
    for (int k = 0; k < steps; k++) {
        const double *u = w->U + (size_t)(k / t->def.substeps) * nu;
        double *x = w->x + (size_t)k * nx;
        tribo_status s = tribo_step(ws, t->p, x, u, x + nx, NULL);
        if (s < 0) {
            remark(&verb_optimize, "under the task's own law the motion ends at %g s: %s", k * t->dt,
                   step_text(s, step_wanted(ws)));
            return EXIT_SUCCESS;
        }
        w->time[k + 1] = (k + 1) * t->dt;
        w->unconverged += s == TRIBO_NOT_CONVERGED;
        w->rows++;
    }
    return EXIT_SUCCESS;
}

int optimize_replay(optimization *o) {
    const task_file *t = o->task;
    tribo_ws *ws = NULL;
    motion_free(&o->done); /* of a receding horizon that did not begin */
    if (!motion_room(&o->done, &t->size, t->def.knots, t->def.knots * t->def.substeps + 1)) return trouble("no memory");
    int status = spread_controls(o, &o->done);
    if (status == EXIT_SUCCESS && tribo_ws_new(o->m, &t->options, NULL, &ws, NULL) < 0) status = trouble("no memory");
    if (status == EXIT_SUCCESS) status = roll(o, ws, &o->done);
    tribo_ws_free(ws);
    o->cost = calloc((size_t)t->def.nterm, sizeof *o->cost);
    if (!o->cost) return trouble("no memory");
    o->nterm = t->def.nterm, o->info = t->info;
    if (tribo_trajopt_costs(o->t, o->cost) < 0)
        for (int i = 0; i < o->nterm; i++) o->cost[i] = (double)NAN;
    return status;
}
