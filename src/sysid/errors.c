/* errors.c -- how well a recording is predicted: from its start to its end, and a row ahead. */
#include "sysid/track/fit.h"

static const double degree = 57.29577951308232;

/* The parameters to predict with, in s->p. */
static tribo_status choose(tribo_sysid *s, const double *p, int recording) {
    if (!s || recording < 0 || recording >= s->nrec) return TRIBO_E_ARG;
    if (p)
        ti_columns_read(s, s->theta), memcpy(s->p, p, (size_t)s->z.np * sizeof *p);
    else
        ti_at(s, s->theta);
    return tribo_params_check(s->m, s->p, NULL);
}

/* A prediction has a start of its own, t->from: what is estimated for it is none of the fit's. */
static tribo_status predict(tribo_sysid *s, int recording, double *X) {
    ti_track *t = s->track + recording;
    ti_worker *w = s->worker;
    size_t nx = (size_t)s->z.nx;
    bool along = t->start == TRIBO_START_ALONG && ti_rolls(s);
    /* where no fit has estimated it yet: from the first rows, then from all */
    bool anew = t->held_out || s->nfree == 0;
    uint64_t asked = ti_asked(s);
    bool solved = t->solved == asked, known = solved || t->predicted == asked;
    if (solved && !along) { /* shooting has estimated it by all rows, which say more than a flight's */
        memcpy(w->x0, t->x0, nx * sizeof(double));
        return ti_predict(w, recording, s->p, X);
    }
    double *fitted = t->x0;
    if (t->predicted != asked) memcpy(t->from, fitted, nx * sizeof(double));
    t->x0 = t->from;
    tribo_status status = along && anew && !known ? ti_start_first(w, recording, s->p) : TRIBO_OK;
    if (status >= 0) status = along && !known ? ti_start_along(w, recording, s->p) : ti_start(w, recording, s->p, NULL);
    t->x0 = fitted;
    t->predicted = along && status >= 0 ? asked : 0;
    return status < 0 ? status : ti_predict(w, recording, s->p, X);
}

tribo_status tribo_sysid_predict(tribo_sysid *s, const double *p, int recording, double *X) {
    tribo_status status = X ? choose(s, p, recording) : TRIBO_E_ARG;
    if (!status) status = predict(s, recording, s->X);
    if (status >= 0) memcpy(X, s->X, (size_t)s->track[recording].n * (size_t)s->z.nx * sizeof *X);
    return status;
}

typedef struct means {
    double sum[TRIBO_BLOCKS];
    long n[TRIBO_BLOCKS];
} means;

/* Distances of x from a measured row: positions, rotations (rad), velocities, angular velocities of all joints. */
static void add(const tribo_sysid *s, const ti_track *t, int row, const double *x, bool squares, means *m) {
    double *d = s->worker->r;
    tribo_state_difference(s->m, t->x + (size_t)row * (size_t)s->z.nx, x, d);
    for (int i = 0; i < s->nblock; i++) {
        const ti_block *b = &s->block[i];
        double square = 0;
        if (!t->seen[(size_t)row * (size_t)s->nblock + (size_t)i]) continue;
        for (int k = b->at; k < b->at + b->n; k++) square += d[k] * d[k];
        m->sum[b->kind] += squares ? square : sqrt(square);
        m->n[b->kind]++;
    }
}

/* Mean distance of predicted forces from those measured. */
static double forces_off(const tribo_sysid *s, const ti_track *t) {
    double sum = 0;
    long n = 0;
    for (int k = t->first; k < t->n; k++)
        for (int i = 0; i < s->nplate; i++) {
            const double *y = ti_plate_seen(s, t, k, i), *f = s->force + 3 * (k * s->nplate + i);
            if (y) sum += sqrt(pow(f[0] - y[0], 2) + pow(f[1] - y[1], 2) + pow(f[2] - y[2], 2)), n++;
        }
    return n ? sum / (double)n : (double)NAN;
}

static double mean(const means *m, int kind) {
    return m->n[kind] ? m->sum[kind] / (double)m->n[kind] : (double)NAN;
}

tribo_status tribo_sysid_errors(tribo_sysid *s, const double *p, int recording, tribo_errors *errors) {
    means whole = {0}, ahead = {0};
    tribo_status status = errors ? choose(s, p, recording) : TRIBO_E_ARG;
    if (!status) status = predict(s, recording, s->X);
    if (status) return status;
    const ti_track *t = s->track + recording;
    ti_worker *w = s->worker;
    size_t nx = (size_t)s->z.nx;
    double force_mean = forces_off(s, t);
    for (int k = t->first; k < t->n; k++) add(s, t, k, s->X + (size_t)k * nx, false, &whole);
    for (int k = t->first; k < t->n - 1; k++) {
        if (!t->complete[k]) continue;
        memcpy(w->x, t->x + (size_t)k * nx, nx * sizeof(double));
        status = ti_advance(w, t, k, s->p);
        if (status) return status;
        add(s, t, k + 1, w->x, true, &ahead);
    }
    *errors = (tribo_errors){
        .rows = t->n - t->first,
        .position_mean = mean(&whole, TRIBO_BLOCK_POSITION),
        .rotation_mean_deg = degree * mean(&whole, TRIBO_BLOCK_ROTATION),
        .position_relative = mean(&whole, TRIBO_BLOCK_POSITION) / tribo_model_extent(s->m),
        .step_position_rms = sqrt(mean(&ahead, TRIBO_BLOCK_POSITION)),
        .step_rotation_rms_deg = degree * sqrt(mean(&ahead, TRIBO_BLOCK_ROTATION)),
        .step_velocity_rms = sqrt(mean(&ahead, TRIBO_BLOCK_VELOCITY)),
        .step_angular_rms = sqrt(mean(&ahead, TRIBO_BLOCK_ANGULAR)),
        .force_mean = force_mean,
    };
    return TRIBO_OK;
}
