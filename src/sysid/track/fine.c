/* fine.c -- from a row to the next by steps that are halved where something is hit, or dry friction turns round.
 *
 * A step knows when in its course a body is hit, but its forces act as though that had been at the beginning: what
 * slides afterwards is wrong by up to friction times the step, in one way until the hit passes into the next step and
 * then in another. A loss follows such jumps into minima of its own, so steps that see a hit are made again by halves,
 * and the jumps are those of the shortest. docs/math.md, Multiple shooting. Of free bodies alone: velocities of joints
 * do not move by gravity alike. Of joints with dry friction: middle.c.
 */
#include "backward/backward.h"
#include "sysid/track/fit.h"

bool ti_touched(const tribo_ws *ws) {
    int n = 0;
    const tribo_contact *c = tribo_last_contacts(ws, &n);
    for (int i = 0; i < n; i++)
        if (c[i].mode != TRIBO_BREAK || c[i].bounced) return true;
    return false;
}

/* Was something hit well inside of the step? What comes more slowly than it would fall in a step is rest that begins.
 */
static bool hit(const tribo_ws *ws, const double *p, double dt) {
    int n = 0;
    const tribo_contact *c = tribo_last_contacts(ws, &n);
    double least = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) * dt * dt;
    for (int i = 0; i < n; i++)
        if ((c[i].mode != TRIBO_BREAK || c[i].bounced) && c[i].gap > least) return true;
    return false;
}

tribo_status ti_worker_ready(ti_worker *w, int dt, int level) {
    tribo_sysid *s = w->s;
    int at = dt * (TI_FINE + 1) + level;
    tribo_options o = s->options;
    tribo_status status = TRIBO_OK;
    o.dt = ldexp(s->dt[dt], -level);
    if (!w->ws[at]) status = tribo_ws_new(s->m, &o, &s->alloc, &w->ws[at], NULL);
    if (!status && !w->one[at]) status = tribo_tape_new(w->ws[at], 1, 0, &w->one[at]);
    return status;
}

/* Workspaces of short steps are made when they are first wanted, one at a time: whose allocator it is, is not known. */
static tribo_status ready(ti_worker *w, int dt, int level) {
    if (w->one[dt * (TI_FINE + 1) + level]) return TRIBO_OK;
    pthread_mutex_lock(&w->s->making);
    tribo_status status = ti_worker_ready(w, dt, level);
    pthread_mutex_unlock(&w->s->making);
    return status;
}

/* A state's velocities belong to the length of its step: along a parabola they are half of what gravity gives in a step
 * behind those of the parabola. @return how long gravity has to act for steps of another length. */
static double other_step(ti_worker *w, const double *p, double from, double to) {
    const tribo_sysid *s = w->s;
    double time = s->middle ? 0 : (from - to) / 2;
    for (int k = 0; k < ti_joints(s->m); k++)
        for (int i = 0; i < 3; i++) ti_joint_velocity(s, &s->m->joint[k], w->x)[i] += time * p[i];
    return time;
}

/* Directions of trees come from rows of the reverse, which has all of p at once; those of free bodies one by one, or
 * with A. */
tribo_status ti_stride_jac(ti_worker *w, const ti_stride *at, const double *pd, double *A, double *C) {
    const tribo_sysid *s = w->s;
    size_t ndx = (size_t)s->z.ndx, np = (size_t)s->z.np, n = (size_t)s->nfree;
    bool done = false;
    if (s->by_forces && n) {
        tribo_status known = ti_regressor_jac(w, at, pd, A, C, &done);
        if (known < 0 || done) return known;
    }
    if (ti_all_free(s->m)) return ti_record_along(at->ws, at->one, 0, A, (int)n, pd, C);
    tribo_status status = tribo_step_jac(at->ws, at->one, 0, A, NULL, n ? w->by_p : NULL);
    if (status < 0) return status;
    for (size_t i = 0; i < ndx && n; i++) ti_middle_params_vjp(s, at->ws->options.dt, w->by_p + i * np);
    memset(C, 0, n * ndx * sizeof *C);
    for (size_t a = 0; a < n; a++)
        for (size_t k = 0; k < n; k++) {
            int index = s->unknown[k].index;
            double rate = index < 0 ? 0 : pd[a * np + (size_t)index];
            for (size_t i = 0; i < ndx && rate != 0; i++) C[a * ndx + i] += rate * w->by_p[i * np + (size_t)index];
        }
    return status;
}

void ti_stride_moved(const tribo_sysid *s, double time, const double *pd, double *xd) {
    for (int k = 0; k < ti_joints(s->m) && time != 0; k++)
        for (int i = 0; i < 3; i++) xd[s->z.nv + s->m->joint[k].v + i] += time * pd[i];
}

tribo_status ti_stride_next(ti_worker *w, const ti_track *t, const double *p, bool record, ti_stride *at) {
    const tribo_sysid *s = w->s;
    size_t bytes = (size_t)s->z.nx * sizeof(double);
    int dt = t->dt[at->row], fine = t->u && !s->middle ? 0 : s->fine;
    double whole = s->dt[dt];
    if (s->nplate && !at->step && !at->done) ti_plates_begin(w);
    for (at->before = 0;; at->level++) {
        if (ti_stopped(s)) return TI_STOPPED;
        tribo_status status = ready(w, dt, at->level);
        if (status) return status;
        at->ws = w->ws[dt * (TI_FINE + 1) + at->level], at->one = w->one[dt * (TI_FINE + 1) + at->level];
        memcpy(w->before, w->x, bytes);
        tribo_tape_rewind(at->one);
        const double *u = ti_middle_controls(w, t, at, fine);
        status = tribo_step(at->ws, ti_middle_params(w, p, at->ws), w->x, u, w->x, record ? at->one : NULL);
        if (status < 0) return status;
        if (at->level == fine || !(s->middle ? ti_turned(w, p, at->ws) : hit(at->ws, p, at->ws->options.dt))) break;
        memcpy(w->x, w->before, bytes);
        at->before += other_step(w, p, ldexp(whole, -at->level), ldexp(whole, -at->level - 1));
    }
    if (s->nplate) ti_plates_add(w, at->ws);
    int level = at->level;
    at->done += 1 << (fine - at->level);
    if (at->done == 1 << fine) at->done = 0, at->step++;
    while (at->level > 0 && at->done % (1 << (fine - at->level + 1)) == 0) at->level--;
    at->after = level == at->level ? 0 : other_step(w, p, ldexp(whole, -level), ldexp(whole, -at->level));
    return TRIBO_OK;
}
