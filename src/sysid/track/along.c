/* along.c -- starts that are estimated along, for a fixed p: by the first rows, by all of them, again. */
#include "sysid/track/fit.h"

enum { PASSES = 20, FIRST_ROWS = 6 };

tribo_status ti_start_along(ti_worker *w, int track, const double *p) {
    tribo_sysid *s = w->s;
    ti_track *t = s->track + track;
    ti_sum *sum = s->sum + track;
    size_t nx = (size_t)s->z.nx, ndx = (size_t)s->z.ndx, nd = (size_t)ti_dirs(s, t), n0 = (size_t)s->nfree;
    double lambda = 1e-4;
    if (t->nstand && !ti_settle(w, t, p, t->x0)) return TRIBO_E_SINGULAR;
    double *none = w->pd; /* zeros: theta stays */
    memset(none, 0, (size_t)s->nfree * (size_t)s->z.np * sizeof(double));
    ti_shoot(w, track, p, none, TI_WANT_FORWARD, sum);
    for (int pass = 0; pass < PASSES && !sum->status; pass++) {
        double before = sum->loss;
        for (size_t i = 0; i < ndx; i++) {
            for (size_t j = 0; j < ndx; j++) w->A[i * ndx + j] = sum->H[(n0 + i) * nd + n0 + j];
            w->A[i * ndx + i] += lambda * w->A[i * ndx + i] + 1e-12;
            w->B[i] = -sum->g[n0 + i];
        }
        if (!ti_spd_solve((int)ndx, w->A, 1, w->B)) return TRIBO_E_SINGULAR;
        ti_start_move(s, t, w->B);
        ti_shoot(w, track, p, none, TI_WANT_FORWARD, sum);
        if (sum->status || !(sum->loss < before)) {
            memcpy(t->x0, t->x0try, nx * sizeof(double));
            lambda *= 10;
            if (lambda > 1e6) break;
            ti_shoot(w, track, p, none, TI_WANT_FORWARD, sum);
            continue;
        }
        lambda *= 0.1;
        if (before - sum->loss < 1e-10 * before) break;
    }
    return sum->status ? sum->status : ti_start(w, track, p, NULL);
}

tribo_status ti_start_first(ti_worker *w, int track, const double *p) {
    ti_track *t = w->s->track + track;
    if (t->start != TRIBO_START_ALONG) return TRIBO_OK;
    t->horizon = FIRST_ROWS;
    tribo_status status = ti_start_along(w, track, p);
    t->horizon = 0;
    return status;
}

tribo_status ti_start_retry(ti_worker *w, int track, const double *p) {
    tribo_sysid *s = w->s;
    ti_track *t = s->track + track;
    size_t nx = (size_t)s->z.nx;
    if (t->start != TRIBO_START_ALONG || t->held_out) return TRIBO_OK;
    tribo_status status = ti_start_along(w, track, p);
    double before = s->sum[track].loss;
    if (status < 0) return status;
    memcpy(t->kept, t->x0, nx * sizeof(double));
    memcpy(t->x0, t->guess, nx * sizeof(double));
    status = ti_start_first(w, track, p);
    if (status >= 0) status = ti_start_along(w, track, p);
    if (status < 0 || !(s->sum[track].loss < before)) memcpy(t->x0, t->kept, nx * sizeof(double));
    return TRIBO_OK;
}
