/* stride.c -- a step: what it needs, its derivatives, and probes. */
#include "backward/backward.h"
#include "sysid/track/fit.h"

tribo_status ti_worker_ready(ti_worker *w, int dt, int level) {
    tribo_sysid *s = w->s;
    int at = dt * TI_LENGTHS + level;
    tribo_options o = s->options;
    tribo_status status = TRIBO_OK;
    o.dt = ldexp(s->dt[dt], -level);
    if (!w->ws[at]) status = tribo_ws_new(s->m, &o, &s->alloc, &w->ws[at], NULL);
    if (!status && !w->one[at]) status = tribo_tape_new(w->ws[at], 1, 0, &w->one[at]);
    return status;
}

/* Workspaces of short steps are made when they are first wanted, one at a time: whose allocator it is, is not known. */
tribo_status ti_stride_ready(ti_worker *w, int dt, int level, ti_stride *at) {
    int which = dt * TI_LENGTHS + level;
    tribo_status status = TRIBO_OK;
    if (!w->one[which]) {
        pthread_mutex_lock(&w->s->making);
        status = ti_worker_ready(w, dt, level);
        pthread_mutex_unlock(&w->s->making);
    }
    at->ws = w->ws[which], at->one = w->one[which];
    return status;
}

/* Directions of trees come from rows of the reverse, which has all of p at once; those of free bodies one by one, or
 * with A. */
tribo_status ti_stride_own_jac(ti_worker *w, const ti_stride *at, const double *pd, double *A, double *C) {
    const tribo_sysid *s = w->s;
    size_t ndx = (size_t)s->z.ndx, np = (size_t)s->z.np, n = (size_t)s->nfree;
    bool done = false;
    if (ti_all_free(s->m)) return ti_record_along(at->ws, at->one, 0, A, pd ? (int)n : 0, pd, C);
    if (s->by_forces && n) {
        tribo_status known = ti_regressor_jac(w, at, pd, A, C, &done);
        if (known < 0 || done) return known;
    }
    tribo_status status = tribo_step_jac(at->ws, at->one, 0, A, NULL, n ? w->by_p : NULL);
    if (status < 0) return status;
    for (size_t i = 0; i < ndx && n; i++) ti_middle_params_vjp(s, at->ws->options.dt, w->by_p + i * np);
    memset(C, 0, n * ndx * sizeof *C);
    for (size_t a = 0; pd && a < n; a++)
        for (size_t k = 0; k < n; k++) {
            int index = s->unknown[k].index;
            double rate = index < 0 ? 0 : pd[a * np + (size_t)index];
            for (size_t i = 0; i < ndx && rate != 0; i++) C[a * ndx + i] += rate * w->by_p[i * np + (size_t)index];
        }
    return status;
}

tribo_status ti_probe_make(ti_worker *w, ti_probe *probe, const double *p, const double *u, bool record, double *x) {
    const tribo_sizes *z = &w->s->z;
    const ti_stride *at = &probe->at;
    double *a = probe->rate;
    memcpy(a, x + z->nq, (size_t)z->nv * sizeof *a);
    tribo_tape_rewind(at->one);
    tribo_status status = tribo_step(at->ws, ti_middle_params(w, p, at->ws), x, u, x, record ? at->one : NULL);
    for (int i = 0; i < z->nv; i++) a[i] = (x[z->nq + i] - a[i]) / at->ws->options.dt;
    return status;
}

tribo_status ti_probe_jac(ti_worker *w, ti_probe *probe, const double *pd) {
    return ti_stride_own_jac(w, &probe->at, pd, probe->A, probe->C);
}

void ti_probe_jvp(const ti_worker *w, const ti_probe *probe, const double *dy, int a, double *da) {
    int nv = w->s->z.nv, ndx = w->s->z.ndx;
    for (int i = 0; i < nv; i++) {
        const double *row = probe->A + (nv + i) * ndx;
        double sum = 0;
        for (int j = 0; j < ndx; j++) sum += row[j] * dy[j];
        double by = a < 0 ? 0 : probe->C[a * ndx + nv + i];
        da[i] = (sum + by - dy[nv + i]) / probe->at.ws->options.dt;
    }
}
