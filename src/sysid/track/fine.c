/* fine.c -- from a row to the next by steps that are halved where something is hit.
 *
 * A step knows when in its course a body is hit, but its forces act as though that had been at the beginning: what
 * slides afterwards is wrong by up to friction times the step, in one way until the hit passes into the next step and
 * then in another. A loss follows such jumps into minima of its own, so steps that see a hit are made again by halves,
 * and the jumps are those of the shortest. docs/math.md, Multiple shooting. Of free bodies alone: velocities of joints
 * do not move by gravity alike.
 */
#include "forward/frame.h"
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
    const ti_frame *f = &ws->frame;
    double fall = ti_weight(p) * dt;
    for (int i = 0; i < f->ncon; i++) {
        const ti_con *c = &f->con[i];
        if (c->bounce && c->uf < -fall) return true;
        if (c->kind == TI_CON_CONTACT && (f->mode[i] != TRIBO_BREAK || c->bounce) && c->touch.gap > fall * dt)
            return true;
    }
    return false;
}

/* A state's velocities belong to the length of its step: along a parabola they are half of what gravity gives in a step
 * behind those of the parabola. @return how long gravity has to act for steps of another length. */
static double other_step(ti_worker *w, const double *p, double from, double to) {
    const tribo_sysid *s = w->s;
    double time = (from - to) / 2;
    for (int k = 0; k < ti_joints(s->m); k++)
        for (int i = 0; i < 3; i++) ti_joint_velocity(s, &s->m->joint[k], w->x)[i] += time * p[i];
    return time;
}

tribo_status ti_stride_jac(ti_worker *w, const ti_stride *at, const double *pd, double *A, double *C) {
    tribo_status status = ti_stride_own_jac(w, at, pd, A, C);
    return at->reversed && status >= 0 ? ti_reversal_jac(w, at->ws->options.dt, pd, A, C) : status;
}

void ti_stride_moved(const tribo_sysid *s, double time, const double *pd, double *xd) {
    for (int k = 0; k < ti_joints(s->m) && time != 0; k++)
        for (int i = 0; i < 3; i++) xd[s->z.nv + s->m->joint[k].v + i] += time * pd[i];
}

tribo_status ti_stride_next(ti_worker *w, const ti_track *t, const double *p, bool record, ti_stride *at) {
    const tribo_sysid *s = w->s;
    size_t bytes = (size_t)s->z.nx * sizeof(double);
    int dt = t->dt[at->row], fine = t->u || s->middle ? 0 : s->fine;
    double whole = s->dt[dt];
    const double *u = ti_middle_controls(w, t, at);
    if (s->nplate && !at->step && !at->done) ti_plates_begin(w);
    for (at->before = 0;; at->level++) {
        if (ti_stopped(s)) return TI_STOPPED;
        tribo_status status = ti_stride_ready(w, dt, at->level, at);
        if (status) return status;
        memcpy(w->before, w->x, bytes);
        tribo_tape_rewind(at->one);
        status = tribo_step(at->ws, ti_middle_params(w, p, at->ws), w->x, u, w->x, record ? at->one : NULL);
        if (status < 0) return status;
        if (at->level == fine || !hit(at->ws, p, at->ws->options.dt)) break;
        memcpy(w->x, w->before, bytes);
        at->before += other_step(w, p, ldexp(whole, -at->level), ldexp(whole, -at->level - 1));
    }
    if (s->nplate) ti_plates_add(w, at->ws);
    at->reversed = s->fine && !ti_kicked(s) && ti_reversal_make(w, p, u, dt, record, at);
    int level = at->level;
    at->done += 1 << (fine - at->level);
    if (at->done == 1 << fine) at->done = 0, at->step++;
    while (at->level > 0 && at->done % (1 << (fine - at->level + 1)) == 0) at->level--;
    at->after = level == at->level ? 0 : other_step(w, p, ldexp(whole, -level), ldexp(whole, -at->level));
    return TRIBO_OK;
}
