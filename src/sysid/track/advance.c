/* advance.c -- from a row to the next: the state, and tangents with it. */
#include "sysid/track/fit.h"

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
    if (ti_all_free(s->m) && !at->reversed) return tribo_step_jvp(at->ws, at->one, 0, ndir, w->xd, NULL, pd, w->xd);
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
