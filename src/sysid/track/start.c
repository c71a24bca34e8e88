/* start.c -- where a rollout starts: at the first row, or at the fit of the flight before the
 * first contact. */
#include "sysid/track/fit.h"

enum { FLIGHT_PASSES = 3 };

/* Does a free body change its velocity at a row by far more than gravity does? What hits it may be larger than the
 * model has it, and then no row touches anything until long after. */
static bool jumps(const tribo_sysid *s, const ti_track *t, int row, const double *p) {
    const double far = 30; /* of the noise of a second difference, about */
    size_t nx = (size_t)s->z.nx;
    double before = t->time[row] - t->time[row - 1], after = t->time[row + 1] - t->time[row];
    double shorter = before < after ? before : after;
    for (int b = 0; b < s->nblock; b++) {
        const ti_block *block = &s->block[b];
        if (block->kind != TRIBO_BLOCK_POSITION || s->m->joint[block->joint].kind != TI_JOINT_FREE) continue;
        const double *x = t->x + (size_t)row * nx + s->m->joint[block->joint].q;
        double change[3], least = ti_weight(p) * (before + after), square = 0;
        for (int i = 0; i < 3; i++) {
            change[i] = (x[(size_t)i + nx] - x[i]) / after - (x[i] - *(x - nx + i)) / before;
            change[i] -= p[i] * (before + after) / 2;
            square += change[i] * change[i];
        }
        if (sqrt(square) > ti_max(least, far * s->noise_seen[block->group] / shorter)) return true;
    }
    return false;
}

tribo_status ti_flight_rows(ti_worker *w, ti_track *t, const double *p) {
    const tribo_sysid *s = w->s;
    size_t nx = (size_t)s->z.nx;
    t->nflight = 0;
    for (int k = t->first; k < t->n - 1; k++) {
        if (!t->complete[k]) continue;
        memcpy(w->x, t->x + (size_t)k * nx, nx * sizeof(double));
        bool touched = false;
        for (ti_stride at = {.row = k}; ti_stride_left(t, &at) && !touched;) {
            tribo_status status = ti_stride_next(w, t, p, false, &at);
            if (status < 0) return status;
            touched = ti_touched(at.ws);
        }
        /* the row just before it may already be too late where the model is a little small */
        if (touched) break;
        t->nflight = k - t->first + 1;
    }
    for (int k = t->first + 1; k < t->first + t->nflight && k + 1 < t->n; k++)
        if (t->complete[k - 1] && t->complete[k] && t->complete[k + 1] && jumps(s, t, k, p)) t->nflight = k - t->first;
    return TRIBO_OK;
}

/* Normal equations of one row's pose: A += J'J, B += J'[J_theta, r]. Directions: the start's ndx, then theta's. */
static void add_pose(ti_worker *w, const ti_track *t, int row, int ntheta) {
    const tribo_sysid *s = w->s;
    int ndx = s->z.ndx, nd = ndx + ntheta, nb = s->nfree + 1;
    ti_residual(s, t, row, w->x, w->r);
    for (int b = 0; b < s->nblock; b++) {
        ti_measured m;
        if (s->block[b].kind > TRIBO_BLOCK_ROTATION) continue;
        if (!ti_measured_block(s, t, row, w->x, w->r, &s->block[b], &m)) continue;
        ti_measured_jac(w, &m, nd);
        for (int i = 0; i < m.n; i++) {
            const double *j = w->wj + i * nd;
            for (int a = 0; a < ndx; a++) {
                for (int c = 0; c < ndx; c++) w->A[a * ndx + c] += j[a] * j[c];
                for (int c = 0; c < ntheta; c++) w->B[a * nb + c] += j[a] * j[ndx + c];
                w->B[a * nb + s->nfree] += j[a] * m.r[i];
            }
        }
    }
}

/* One Gauss-Newton pass over the flight rows from w->x0; the last one also gives w->x0d. */
static tribo_status flight_pass(ti_worker *w, const ti_track *t, const double *p, int ntheta) {
    const tribo_sysid *s = w->s;
    size_t nx = (size_t)s->z.nx, ndx = (size_t)s->z.ndx, nb = (size_t)s->nfree + 1, nd = ndx + (size_t)ntheta;
    memset(w->A, 0, ndx * ndx * sizeof(double));
    memset(w->B, 0, ndx * nb * sizeof(double));
    memset(w->xd, 0, nd * ndx * sizeof(double));
    for (size_t i = 0; i < ndx; i++) w->xd[i * ndx + i] = 1;
    memcpy(w->x, w->x0, nx * sizeof(double));
    add_pose(w, t, t->first, ntheta);
    for (int k = t->first; k < t->first + t->nflight - 1; k++) {
        tribo_status status = ti_advance_jvp(w, t, k, p, (int)nd, ntheta ? w->pd : NULL);
        if (status < 0) return status;
        add_pose(w, t, k + 1, ntheta);
    }
    /* where the model touches something after all, a contact swallows what a velocity would have to say */
    double largest = 0;
    for (size_t i = 0; i < ndx; i++) largest = ti_max(largest, w->A[i * ndx + i]);
    for (size_t i = 0; i < ndx; i++) w->A[i * ndx + i] += 1e-11 * largest;
    if (!ti_spd_solve((int)ndx, w->A, (int)nb, w->B)) return TRIBO_E_SINGULAR;
    for (size_t i = 0; i < ndx; i++) w->r[i] = -w->B[i * nb + nb - 1];
    for (size_t c = 0; c < (size_t)ntheta; c++)
        for (size_t i = 0; i < ndx; i++) w->x0d[c * ndx + i] = -w->B[i * nb + c];
    tribo_state_add(s->m, w->x0, w->r, w->x0);
    return TRIBO_OK;
}

tribo_status ti_start(ti_worker *w, int track, const double *p, const double *P) {
    const tribo_sysid *s = w->s;
    const ti_track *t = s->track + track;
    size_t nx = (size_t)s->z.nx;
    bool along = t->start == TRIBO_START_ALONG;
    memcpy(w->x0, along ? t->x0 : t->x + (size_t)t->first * nx, nx * sizeof(double));
    if (along && t->nstand && !ti_settle(w, t, p, w->x0)) return TRIBO_E_SINGULAR;
    if (along && P && !ti_settle_jac(w, t, p, P, w->x0, t->T)) return TRIBO_E_SINGULAR;
    if (t->start != TRIBO_START_FLIGHT) return TRIBO_OK;
    for (int pass = 1; pass <= FLIGHT_PASSES; pass++) {
        tribo_status status = flight_pass(w, t, p, P && pass == FLIGHT_PASSES ? s->nfree : 0);
        if (status) return status;
    }
    return TRIBO_OK;
}

void ti_start_move(const tribo_sysid *s, ti_track *t, double *dx) {
    size_t ndx = (size_t)s->z.ndx;
    memcpy(t->x0try, t->x0, (size_t)s->z.nx * sizeof(double));
    for (size_t i = 0; i < ndx; i++) {
        t->dx[i] = 0;
        for (size_t j = 0; j < ndx; j++) t->dx[i] += t->T[i * ndx + j] * dx[j];
    }
    tribo_state_add(s->m, t->x0try, t->dx, t->x0);
}
