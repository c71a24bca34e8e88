/* identify_replay.c -- recordings as measured, over simulations with the parameters found: to be played on the page. */
#include "identification.h"
#include "replay_page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The controls of a recording, held from a row to the next. */
typedef struct held {
    const tribo_recording *r;
    size_t nu;
} held;

static void control(const void *ctx, double time, double *u) {
    const held *h = ctx;
    int row = 0;
    while (row + 1 < h->r->n && h->r->time[row + 1] <= time + 1e-9) row++;
    memcpy(u, h->r->u + (size_t)row * h->nu, h->nu * sizeof *u);
}

/* What was not measured is as the scene starts. */
static bool measured(replay *r, const tribo_model *m, const tribo_recording *rec) {
    size_t nx = (size_t)tribo_model_sizes(m).nx, n = (size_t)rec->n * nx;
    double *x = malloc((n + nx) * sizeof *x), *start = x + n;
    bool *seen = malloc(n * sizeof *seen);
    bool good = x && seen;
    if (good) tribo_model_state0(m, start);
    for (size_t i = 0; good && i < n; i++) {
        seen[i] = isfinite(rec->x[i]);
        x[i] = seen[i] ? rec->x[i] : start[i % nx];
    }
    good = good && replay_states(r, "measured", true, rec->n, rec->time, x, seen, NULL);
    free(x);
    free(seen);
    return good;
}

/* From the start that the fit has for the recording to its end, in the scene's steps, as `simulate` would: the fit's
 * own are finer where something touches. */
static bool simulated(replay *r, identification *id, int recording) {
    const tribo_recording *rec = id->r.rec + recording;
    tribo_sizes n = tribo_model_sizes(id->m);
    held h = {.r = rec, .nu = (size_t)n.nu};
    double *X = malloc((size_t)rec->n * (size_t)n.nx * sizeof *X);
    replay_run run = {.name = "simulated", .p = id->p, .x0 = X, .rows = rec->n, .time = rec->time};
    bool good = X && tribo_sysid_predict(id->s, NULL, recording, X) >= 0;
    if (good) {
        fit_definition(id, &run.options);
        run.options.dt = tribo_model_timestep(id->m);
        if (rec->u) run.control = control, run.ctx = &h;
        good = replay_simulate(r, &run) != TRIBO_E_NOMEM;
    }
    free(X);
    return good;
}

void report_motion(FILE *f, identification *id, const int *list, int n) {
    replay r;
    bool good = replay_start(&r, id->m, id->p);
    for (int i = 0; good && i < n; i++) {
        char name[512];
        snprintf(name, sizeof name, "%s%s", id->r.path[list[i]],
                 tribo_sysid_held_out(id->s, list[i]) ? " (held out of the fit)" : "");
        good = replay_take(&r, name) && simulated(&r, id, list[i]) && measured(&r, id->m, id->r.rec + list[i]);
    }
    if (!good || n == 0 ||
        !replay_write(f, &r,
                      "As simulated with the parameters found, and seen through it as measured. Arrows are contact "
                      "forces on what moves. Drag to turn, wheel or pinch to zoom, space plays."))
        fputs("<p class=\"missing\">The motion could not be kept for this page.</p>\n", f);
    replay_free(&r);
}
