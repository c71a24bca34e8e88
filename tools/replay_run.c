/* replay_run.c -- simulates for a replay: frames at some of the rows, with the contacts between them. */
#include "replay.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct recorder {
    replay *r;
    replay_track *t;
    replay_run *run;
    tribo_ws *ws;
    double *x, *u;
    double since;        /* time of the frame before */
    double normal, slip; /* impulses since then, N s */
} recorder;

/* The force of an impulse in the world, on b; on a where b is the world's. */
static replay_contact contact_over(const recorder *w, const tribo_contact *c, double seconds) {
    bool flip = tribo_model_geom_body(w->r->m, c->geom_b) == TRIBO_WORLD;
    replay_contact out = {.mode = (unsigned char)c->mode, .bounced = c->bounced};
    for (int k = 0; k < 3; k++) {
        double impulse =
            c->impulse[0] * c->tangent[0][k] + c->impulse[1] * c->tangent[1][k] + c->impulse[2] * c->normal[k];
        out.point[k] = (float)c->point[k];
        out.force[k] = (float)((flip ? -impulse : impulse) / seconds);
    }
    return out;
}

/* The contacts of the last step: all of them where a frame follows, else those that were there for that step alone. */
static bool keep_contacts(recorder *w, bool frame, double dt, double now) {
    int n;
    const tribo_contact *c = tribo_last_contacts(w->ws, &n);
    for (int i = 0; i < n; i++) {
        w->normal += c[i].impulse[2];
        w->slip += hypot(c[i].impulse[0], c[i].impulse[1]);
        if (!frame && !c[i].bounced) continue;
        replay_contact one = contact_over(w, c + i, c[i].bounced ? fmax(dt, now - w->since) : dt);
        if (!replay_contact_add(w->t, &one)) return false;
    }
    return true;
}

static bool keep_frame(recorder *w, double time) {
    if (!replay_frame(w->r, w->t, time, w->x)) return false;
    int f = w->t->frames - 1;
    w->t->energy[f] = tribo_energy(w->r->m, w->run->p, w->x);
    if (f > 0) w->t->normal[f] = w->normal / (time - w->since), w->t->slip[f] = w->slip / (time - w->since);
    w->normal = w->slip = 0, w->since = time;
    return true;
}

/* From one row to the next in whole steps. @param frame a frame follows */
static tribo_status advance(recorder *w, int row, bool frame) {
    double from = w->run->time[row], span = w->run->time[row + 1] - from;
    double n = ceil(span / w->run->options.dt * (1 - 1e-9));
    tribo_status s = step_workspace(w->r->m, &w->run->options, span / n, &w->ws);
    for (double k = 0; k < n && s >= 0; k++) {
        if (w->run->control) w->run->control(w->run->ctx, from + span * k / n, w->u);
        s = tribo_step(w->ws, w->run->p, w->x, w->u, w->x, NULL);
        if (s < 0) break;
        w->run->steps++, w->run->failed += s == TRIBO_NOT_CONVERGED;
        if (!keep_contacts(w, frame && k + 1 >= n, span / n, from + span * (k + 1) / n)) s = TRIBO_E_NOMEM;
    }
    return s;
}

static tribo_status go(recorder *w) {
    const double *time = w->run->time;
    int last = w->run->rows - 1;
    double between = 1 / replay_rate(w->r->nbody, time[last] - time[0]), next = time[0] + between;
    tribo_status s = keep_frame(w, time[0]) ? TRIBO_OK : TRIBO_E_NONFINITE;
    w->run->reached = time[0];
    for (int row = 0; row < last && s >= 0; row++) {
        bool frame = row + 1 == last || time[row + 1] >= next - 1e-9;
        s = advance(w, row, frame);
        if (s < 0) break;
        w->run->reached = time[row + 1];
        if (!frame) continue;
        if (!keep_frame(w, time[row + 1])) s = TRIBO_E_NONFINITE;
        next = fmax(next + between, time[row + 1] + between / 2);
    }
    return s;
}

tribo_status replay_simulate(replay *r, replay_run *run) {
    tribo_sizes n = tribo_model_sizes(r->m);
    recorder w = {.r = r, .run = run, .since = run->time[0]};
    w.t = replay_track_new(r, run->name, false, run->rows);
    w.x = calloc((size_t)n.nx, sizeof *w.x);
    w.u = calloc((size_t)n.nu, sizeof *w.u);
    tribo_status s = TRIBO_E_NOMEM;
    if (w.t && w.x && w.u) {
        w.t->forces = true;
        memcpy(w.x, run->x0, (size_t)n.nx * sizeof *w.x);
        s = go(&w);
        if (run->end) memcpy(run->end, w.x, (size_t)n.nx * sizeof *w.x);
    }
    if (w.t) w.t->ncontact = w.t->contact_at[w.t->frames]; /* without those of steps after the last frame */
    run->wanted = s == TRIBO_E_CAPACITY ? step_wanted(w.ws) : 0;
    tribo_ws_free(w.ws);
    free(w.x);
    free(w.u);
    return s;
}
