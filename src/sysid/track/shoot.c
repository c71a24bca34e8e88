/* shoot.c -- one recording simulated, segment by segment, and what it adds to the loss and its derivatives. */
#include "sysid/track/fit.h"

int ti_dirs(const tribo_sysid *s, const ti_track *t) {
    return s->nfree + (t->start == TRIBO_START_ALONG ? s->z.ndx : 0);
}

/* The steps of row k, with a tape that is read later: the library's own, not those of shooting. */
static tribo_status advance_whole(ti_worker *w, const ti_track *t, int k, const double *p, tribo_tape *tape) {
    for (int j = 0; j < t->nsub[k]; j++) {
        if (ti_stopped(w->s)) return TI_STOPPED;
        const double *u = t->u ? t->u + (size_t)k * (size_t)w->s->z.nu : NULL;
        tribo_status status = tribo_step(w->ws[t->dt[k] * TI_LENGTHS], p, w->x, u, w->x, tape);
        if (status < 0) return status;
    }
    return TRIBO_OK;
}

/* One block's part of gradient and Gauss-Newton matrix, from the tangents in w->xd. */
static void add_forward(ti_worker *w, const ti_measured *m, int nd, ti_sum *sum) {
    ti_measured_jac(w, m, nd);
    for (int i = 0; i < m->n; i++) {
        const double *j = w->wj + i * nd;
        for (int a = 0; a < nd; a++) {
            double scaled = m->slope * j[a], *H = sum->H + (size_t)a * (size_t)nd;
            sum->g[a] += scaled * m->r[i];
            for (int b = 0; b < nd; b++) H[b] += scaled * j[b];
        }
    }
}

/* dl/dx of one block into lx. */
static void add_reverse(const ti_measured *m, double *lx) {
    for (int i = 0; i < m->n; i++)
        for (int j = 0; j < m->n; j++) lx[m->at + j] += m->slope * m->D[i][j] * m->wt[i] * m->r[i];
}

/* Compare w->x with a row of the recording. */
static void add_row(ti_worker *w, ti_track *t, int row, ti_want want, int nd, double *lx, ti_sum *sum) {
    tribo_sysid *s = w->s;
    ti_residual(s, t, row, w->x, w->r);
    for (int b = 0; b < s->nblock; b++) {
        ti_measured m;
        if (!ti_measured_block(s, t, row, w->x, w->r, &s->block[b], &m)) continue;
        if (want == TI_WANT_NORMS) t->norm[(size_t)row * (size_t)s->nblock + (size_t)b] = sqrt(m.square);
        sum->loss += ti_rho(s, s->block[b].group, m.square, &m.slope) / 2;
        sum->square += m.slope * m.square;
        for (int i = 0; i < m.n; i++) sum->nscalar += m.wt[i] > 0;
        sum->nblock++;
        if (want == TI_WANT_FORWARD) add_forward(w, &m, nd, sum);
        if (want == TI_WANT_REVERSE) add_reverse(&m, lx);
    }
}

/* The state a segment starts from into w->x; its tangents into w->xd. */
static tribo_status begin(ti_worker *w, int track, const ti_segment *seg, const double *p, const double *P,
                          ti_want want, int nd) {
    const tribo_sysid *s = w->s;
    const ti_track *t = s->track + track;
    size_t nx = (size_t)s->z.nx, ndx = (size_t)s->z.ndx, nfree = (size_t)s->nfree;
    bool rollout = ti_rolls(s);
    memset(w->xd, 0, (size_t)nd * ndx * sizeof(double));
    if (!rollout) {
        memcpy(w->x, t->x + (size_t)seg->row * nx, nx * sizeof(double));
        return TRIBO_OK;
    }
    tribo_status status = ti_start(w, track, p, want == TI_WANT_FORWARD || want == TI_WANT_REVERSE ? P : NULL);
    if (status < 0) return status;
    memcpy(w->x, w->x0, nx * sizeof(double));
    memset(w->xd, 0, (size_t)nd * ndx * sizeof(double));
    if (want == TI_WANT_FORWARD) {
        if (t->start != TRIBO_START_MEASURED) memcpy(w->xd, w->x0d, nfree * ndx * sizeof(double));
        if (t->start == TRIBO_START_ALONG)
            for (size_t i = 0; i < ndx; i++)
                for (size_t j = 0; j < ndx; j++) w->xd[(nfree + i) * ndx + j] = t->T[j * ndx + i];
    }
    return TRIBO_OK;
}

/* Back over the records of a segment, from the last row's cotangent in w->lx. */
static tribo_status sweep(ti_worker *w, const ti_track *t, const ti_segment *seg, int rows, const double *P,
                          ti_sum *sum) {
    const tribo_sysid *s = w->s;
    size_t ndx = (size_t)s->z.ndx, np = (size_t)s->z.np;
    for (int i = 0; i < s->ndt; i++) w->record[i] = w->whole[i] ? tribo_tape_steps(w->whole[i]) : 0;
    memset(w->pbar, 0, np * sizeof(double));
    memcpy(w->xbar, w->lx + (size_t)rows * ndx, ndx * sizeof(double));
    for (int k = rows - 1; k >= 0; k--) {
        int dt = t->dt[seg->row + k];
        for (int j = t->nsub[seg->row + k] - 1; j >= 0; j--) {
            memcpy(w->xnext, w->xbar, ndx * sizeof(double));
            memset(w->xbar, 0, ndx * sizeof(double));
            tribo_status status =
                tribo_step_vjp(w->ws[dt * TI_LENGTHS], w->whole[dt], --w->record[dt], w->xnext, w->xbar, NULL, w->pbar);
            if (status < 0) return status;
        }
        for (size_t i = 0; i < ndx; i++) w->xbar[i] += w->lx[(size_t)k * ndx + i];
    }
    for (size_t a = 0; a < (size_t)s->nfree; a++) {
        double dot = 0;
        for (size_t i = 0; i < np; i++) dot += P[a * np + i] * w->pbar[i];
        if (ti_rolls(s) && t->start != TRIBO_START_MEASURED)
            for (size_t i = 0; i < ndx; i++) dot += w->x0d[a * ndx + i] * w->xbar[i];
        sum->g[a] += dot;
    }
    if (ti_rolls(s) && t->start == TRIBO_START_ALONG)
        for (size_t i = 0; i < ndx; i++)
            for (size_t j = 0; j < ndx; j++) sum->g[(size_t)s->nfree + i] += t->T[j * ndx + i] * w->xbar[j];
    return TRIBO_OK;
}

static tribo_status shoot_segment(ti_worker *w, int track, const ti_segment *seg, const double *p, const double *P,
                                  ti_want want, ti_sum *sum) {
    tribo_sysid *s = w->s;
    ti_track *t = s->track + track;
    size_t ndx = (size_t)s->z.ndx;
    int nd = ti_dirs(s, t), rows = seg->n;
    if (t->horizon && rows > t->horizon) rows = t->horizon;
    tribo_status status = begin(w, track, seg, p, P, want, nd);
    if (want == TI_WANT_REVERSE) {
        memset(w->lx, 0, ((size_t)seg->n + 1) * ndx * sizeof(double));
        for (int i = 0; i < s->ndt; i++)
            if (w->whole[i]) tribo_tape_rewind(w->whole[i]);
    }
    bool own_start = ti_rolls(s) && t->start != TRIBO_START_MEASURED;
    if (status >= 0 && own_start) add_row(w, t, seg->row, want, nd, w->lx, sum);
    for (int k = 0; k < rows && status >= 0; k++) {
        int row = seg->row + k;
        if (want == TI_WANT_FORWARD)
            status = ti_advance_jvp(w, t, row, p, nd, w->pd + ndx * (size_t)s->z.np);
        else
            status =
                want == TI_WANT_REVERSE ? advance_whole(w, t, row, p, w->whole[t->dt[row]]) : ti_advance(w, t, row, p);
        if (status >= 0) add_row(w, t, row + 1, want, nd, w->lx + ((size_t)k + 1) * ndx, sum);
    }
    if (status >= 0 && want == TI_WANT_REVERSE) status = sweep(w, t, seg, rows, P, sum);
    return status < 0 ? status : TRIBO_OK;
}

void ti_shoot(ti_worker *w, int track, const double *p, const double *P, ti_want want, ti_sum *sum) {
    tribo_sysid *s = w->s;
    ti_track *t = s->track + track;
    size_t nd = (size_t)ti_dirs(s, t), np = (size_t)s->z.np;
    double *g = sum->g, *H = sum->H;
    *sum = (ti_sum){.g = g, .H = H};
    if (P) {
        memset(g, 0, nd * sizeof *g);
        memset(H, 0, nd * nd * sizeof *H);
        memcpy(w->pd + (size_t)s->z.ndx * np, P, (size_t)s->nfree * np * sizeof *P);
    }
    if (want == TI_WANT_NORMS)
        for (size_t i = 0; i < (size_t)t->n * (size_t)s->nblock; i++) t->norm[i] = -1;
    for (int i = 0; i < t->nseg && !sum->status; i++)
        sum->status = shoot_segment(w, track, t->seg + i, p, P, want, sum);
    if (!sum->status && !isfinite(sum->loss)) sum->status = TRIBO_E_NONFINITE;
}

tribo_status ti_predict(ti_worker *w, int track, const double *p, double *X) {
    const tribo_sysid *s = w->s;
    const ti_track *t = s->track + track;
    size_t nx = (size_t)s->z.nx;
    memcpy(X, t->x, ((size_t)t->first + 1) * nx * sizeof *X);
    memcpy(w->x, w->x0, nx * sizeof *X);
    memcpy(X + (size_t)t->first * nx, w->x, nx * sizeof *X);
    for (int k = t->first; k < t->n - 1; k++) {
        tribo_status status = ti_advance(w, t, k, p);
        if (status < 0) return status;
        memcpy(X + ((size_t)k + 1) * nx, w->x, nx * sizeof *X);
        if (s->nplate) ti_plates_keep(w, t, k, s->force);
    }
    return TRIBO_OK;
}
