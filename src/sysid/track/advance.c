/* advance.c -- from a row to the next, step by step: the state, and tangents with it. */
#include "sysid/track/fit.h"

tribo_status ti_stride_jac(ti_worker *w, const ti_stride *at, const double *pd, double *A, double *C) {
    tribo_status status = ti_stride_own_jac(w, at, pd, A, C);
    if (at->late && status >= 0) ti_late_jac(w, A);
    return at->reversed && status >= 0 ? ti_reversal_jac(w, at->ws, pd, A, C) : status;
}

bool ti_touched(const tribo_ws *ws) {
    int n = 0;
    const tribo_contact *c = tribo_last_contacts(ws, &n);
    for (int i = 0; i < n; i++)
        if (c[i].mode != TRIBO_BREAK || c[i].bounced) return true;
    return false;
}

tribo_status ti_stride_next(ti_worker *w, const ti_track *t, const double *p, bool record, ti_stride *at) {
    const tribo_sysid *s = w->s;
    int dt = t->dt[at->row];
    const double *u = ti_middle_controls(w, t, at);
    if (ti_stopped(s)) return TI_STOPPED;
    if (s->nplate && !at->step) ti_plates_begin(w);
    tribo_status status = ti_stride_ready(w, dt, 0, at);
    if (status) return status;
    memcpy(w->before, w->x, (size_t)s->z.nx * sizeof(double));
    tribo_tape_rewind(at->one);
    status = tribo_step(at->ws, ti_middle_params(w, p, at->ws), w->x, u, w->x, record ? at->one : NULL);
    if (status < 0) return status;
    if (s->nplate) ti_plates_add(w, at->ws);
    bool exact = s->loss == TRIBO_LOSS_SHOOTING && !ti_kicked(s);
    at->late = exact && ti_all_free(s->m) && ti_late_make(w, at->ws);
    at->reversed = exact && !at->late && ti_reversal_make(w, p, u, dt, record, at->ws);
    at->step++;
    return TRIBO_OK;
}

tribo_status ti_advance(ti_worker *w, const ti_track *t, int k, const double *p) {
    for (ti_stride at = {.row = k}; ti_stride_left(t, &at);) {
        tribo_status status = ti_stride_next(w, t, p, false, &at);
        if (status < 0) return status;
    }
    return TRIBO_OK;
}

tribo_status ti_advance_touch(ti_worker *w, const ti_track *t, int k, const double *p, bool *touched) {
    *touched = false;
    for (ti_stride at = {.row = k}; ti_stride_left(t, &at);) {
        tribo_status status = ti_stride_next(w, t, p, false, &at);
        if (status < 0) return status;
        *touched |= ti_touched(at.ws);
    }
    return TRIBO_OK;
}

/* w->xd through the step that was recorded last. pd: its rows are zeros, then, from nfree before the end of the
 * directions or from the first on, those of theta. */
static tribo_status step_jvp(ti_worker *w, const ti_stride *at, int ndir, const double *pd) {
    const tribo_sysid *s = w->s;
    size_t ndx = (size_t)s->z.ndx, np = (size_t)s->z.np;
    if (ti_all_free(s->m) && !at->reversed && !at->late)
        return tribo_step_jvp(at->ws, at->one, 0, ndir, w->xd, NULL, pd, w->xd);
    const double *P = w->pd + ndx * np; /* of theta, wherever pd begins */
    tribo_status status = ti_stride_jac(w, at, P, w->by_x, w->by_theta);
    if (status < 0) return status;
    ptrdiff_t first = pd ? (P - pd) / (ptrdiff_t)np : ndir;
    for (int d = 0; d < ndir; d++) {
        const double *from = w->xd + (size_t)d * ndx;
        double *to = w->moved + (size_t)d * ndx;
        ptrdiff_t a = d - first;
        for (size_t i = 0; i < ndx; i++) {
            to[i] = a >= 0 && a < s->nfree ? w->by_theta[(size_t)a * ndx + i] : 0;
            for (size_t j = 0; j < ndx; j++) to[i] += w->by_x[i * ndx + j] * from[j];
        }
    }
    memcpy(w->xd, w->moved, (size_t)ndir * ndx * sizeof *w->xd);
    return status;
}

tribo_status ti_advance_jvp(ti_worker *w, const ti_track *t, int k, const double *p, int ndir, const double *pd) {
    for (ti_stride at = {.row = k}; ti_stride_left(t, &at);) {
        tribo_status status = ti_stride_next(w, t, p, true, &at);
        if (status >= 0 && ndir) status = step_jvp(w, &at, ndir, pd);
        if (status < 0) return status;
    }
    return TRIBO_OK;
}
