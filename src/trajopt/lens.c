/* lens.c -- where no step improves under the task's own law, models of the same motion under a smoother one, which see
 * past its kinks: a stage's, or the own one softened. Steps are taken and costs counted under the task's own.
 * docs/math.md eq. (412). */
#include "backward/backward.h"
#include "trajopt/task.h"

/* What models have to gain, relative to the cost, for those of the own law to be tried again. */
static const double GAIN = 1e-3;

bool ti_lens_softens(const tribo_options *o) {
    return !o || o->rounds == 0;
}

tribo_law_options ti_lens_own(const tribo_options *o) {
    tribo_law_options law = o->law;
    law.softness = TRIBO_SOFTNESS_MUJOCO;
    return law;
}

void ti_lens_close(tribo_trajopt *t) {
    if (t->lens != t->nlens) ti_knots_unbend(t);
    for (int i = 0; i < t->nworker; i++) {
        ti_planner *w = &t->planner[i];
        tribo_ws_free(w->lens), tribo_tape_free(w->glimpse);
        w->lens = NULL, w->glimpse = NULL;
    }
    t->lens = t->nlens;
}

void ti_models_forget(tribo_trajopt *t) {
    size_t w = (size_t)(t->z.ndx + t->nc);
    ti_lens_close(t);
    t->linear = t->bends = t->followed = t->failed = t->settled = t->met = false;
    t->regularisation = t->growth = t->rate = 0;
    t->steps = 0, t->milestone = HUGE_VAL;
    bool secants = t->method != TRIBO_METHOD_NEWTON; /* what it knows has its own place and law */
    for (int k = 0; k < t->knots && secants; k++) memset(t->knot[k].bent, 0, sizeof(double) * w * w);
}

/* Models of the best under a law of `lens` from now on. */
static tribo_status open(tribo_trajopt *t, int lens) {
    tribo_options o = t->options;
    tribo_status s = TRIBO_OK;
    ti_models_forget(t);
    t->lens = lens, t->lens_cost = t->best.cost;
    if (lens == t->nlens) return s;
    ti_knots_unbend(t);
    o.law = t->stage[lens], o.warm_start = false; /* a step is the same for every worker then */
    for (int i = 0; i < t->nworker && s >= 0; i++) {
        ti_planner *w = &t->planner[i];
        s = tribo_ws_new(t->m, &o, &t->allocator, &w->lens, NULL);
        if (s >= 0) s = tribo_tape_new(w->lens, t->substeps, 0, &w->glimpse);
    }
    if (s < 0) ti_lens_close(t);
    return s;
}

tribo_status ti_lens_turn(tribo_trajopt *t, bool *turned) {
    bool own = t->lens == t->nlens, gained = t->best.cost < t->lens_cost - GAIN * t->best.size;
    int next = own || !gained ? t->lens - 1 : t->nlens;
    *turned = ti_has_models(t) && !t->plant && t->progress.stage == t->nstage && next >= 0 && !(own && t->met);
    return *turned ? open(t, next) : TRIBO_OK;
}

tribo_status ti_lens_finest(tribo_trajopt *t) {
    bool own = t->lens == t->nlens, there = t->lens == t->nlens - 1;
    return own || there ? TRIBO_OK : open(t, t->nlens - 1);
}

tribo_status ti_lens_step(const tribo_trajopt *t, ti_planner *w, int record) {
    ti_frame f;
    const double *p;
    if (!w->lens) return tribo_step_jac(w->ws, t->best.tape, record, w->A, w->B, NULL);
    tribo_status s = ti_tape_frame(t->best.tape, w->ws, record, &f, &p);
    tribo_tape_rewind(w->glimpse);
    if (s >= 0) s = tribo_step(w->lens, p, f.x, f.u, w->x, w->glimpse);
    return s < 0 ? s : tribo_step_jac(w->lens, w->glimpse, 0, w->A, w->B, NULL);
}
