/* descend.c -- L-BFGS and Adam on the reverse gradient, over theta and the start states estimated along.
 *
 * Bounds: the loss is that of the nearest point inside, plus half the square distance to it, so that the minimum is
 * the bounded one.
 */
#include "sysid/track/fit.h"
#include <lbfgs.h>

enum { CHUNK = 25, PATIENCE = 25 };

/* Start states move in units of the weights: what counts as one in the loss. */
static double unit(const tribo_sysid *s, int i) {
    int kind = ti_kind_at(s, i);
    return s->weight[kind] > 0 ? 1 / s->weight[kind] : 1;
}

int ti_descend_size(const tribo_sysid *s) {
    return s->nfree + s->nalong * s->z.ndx;
}

/* Set theta (into s->trial) and the starts from z; their bases are in x0try. @return half the square distance. */
static double unpack(tribo_sysid *s, const double *z) {
    double outside = 0, *dx = s->worker[0].r;
    memcpy(s->trial, z, (size_t)s->nfree * sizeof *z);
    ti_maps_clamp(s, s->trial);
    for (int i = 0; i < s->nfree; i++) outside += (z[i] - s->trial[i]) * (z[i] - s->trial[i]) / 2;
    z += s->nfree;
    for (int i = 0; i < s->nrec; i++) {
        ti_track *t = s->track + i;
        if (t->held_out || t->start != TRIBO_START_ALONG) continue;
        for (int j = 0; j < s->z.ndx; j++) dx[j] = unit(s, j) * z[j];
        tribo_state_add(s->m, t->x0try, dx, t->x0); /* settled where it is used */
        z += s->z.ndx;
    }
    return outside;
}

/* Loss and gradient in z; HUGE_VAL where there is none. */
static double value(tribo_sysid *s, const double *z, double *grad, tribo_status *status) {
    double loss, outside = unpack(s, z), blocks = 0;
    *status = ti_evaluate(s, s->trial, false, TI_WANT_REVERSE, &loss, s->g, NULL);
    if (*status) return HUGE_VAL;
    for (int i = 0; i < s->nfree; i++) {
        bool inside = z[i] == s->trial[i];
        grad[i] = (inside ? s->g[i] : 0) + (z[i] - s->trial[i]);
    }
    grad += s->nfree;
    for (int i = 0; i < s->nrec; i++) blocks += s->track[i].held_out ? 0 : (double)s->sum[i].nblock;
    for (int i = 0; i < s->nrec; i++) {
        const ti_track *t = s->track + i;
        if (t->held_out || t->start != TRIBO_START_ALONG) continue;
        for (int j = 0; j < s->z.ndx; j++) grad[j] = s->sum[i].g[s->nfree + j] * unit(s, j) / blocks;
        grad += s->z.ndx;
    }
    return loss + outside;
}

/* Make the present start states the bases, so that z is theta and zeros. */
static void rebase(tribo_sysid *s, double *z) {
    memcpy(z, s->theta, (size_t)s->nfree * sizeof *z);
    memset(z + s->nfree, 0, (size_t)(ti_descend_size(s) - s->nfree) * sizeof *z);
    for (int i = 0; i < s->nrec; i++) memcpy(s->track[i].x0try, s->track[i].x0, (size_t)s->z.nx * sizeof *z);
}

static double largest(const double *g, int n) {
    double size = 0;
    for (int i = 0; i < n; i++) size = ti_max(size, fabs(g[i]));
    return size;
}

typedef struct run {
    tribo_sysid *s;
    tribo_status status;
} run;

static lbfgsfloatval_t lbfgs_value(void *instance, const lbfgsfloatval_t *z, lbfgsfloatval_t *g, const int n,
                                   const lbfgsfloatval_t step) {
    run *r = instance;
    (void)step;
    int used = ti_descend_size(r->s);
    for (int i = used; i < n; i++) g[i] = z[i]; /* padding */
    double loss = value(r->s, z, g, &r->status);
    if (!isfinite(loss)) memset(g, 0, (size_t)used * sizeof *g);
    return isfinite(loss) ? loss : 1e30;
}

static int lbfgs_progress(void *instance, const lbfgsfloatval_t *z, const lbfgsfloatval_t *g, const lbfgsfloatval_t fx,
                          const lbfgsfloatval_t xnorm, const lbfgsfloatval_t gnorm, const lbfgsfloatval_t step, int n,
                          int k, int ls) {
    const run *r = instance;
    (void)z, (void)g, (void)fx, (void)xnorm, (void)gnorm, (void)step, (void)n, (void)k, (void)ls;
    return r->s->stop && *r->s->stop;
}

/* A chunk of iterations: liblbfgs keeps its history inside one call only. */
tribo_status ti_lbfgs_iterate(tribo_sysid *s) {
    int used = ti_descend_size(s), n = (used + 7) / 8 * 8;
    double loss, before;
    lbfgs_parameter_t parameter;
    run r = {s, TRIBO_OK};
    memset(s->z_now, 0, (size_t)n * sizeof(double));
    rebase(s, s->z_now);
    before = value(s, s->z_now, s->adam_m, &r.status);
    if (r.status) return r.status;
    lbfgs_parameter_init(&parameter);
    parameter.max_iterations = CHUNK;
    parameter.epsilon = 1e-9;
    parameter.max_linesearch = 30;
    int end = lbfgs(n, s->z_now, &loss, lbfgs_value, lbfgs_progress, &r, &parameter);
    if (end == LBFGSERR_OUTOFMEMORY) return TRIBO_E_NOMEM;
    loss = value(s, s->z_now, s->adam_m, &r.status);
    if (!r.status && loss <= before) {
        memcpy(s->theta, s->trial, (size_t)s->nfree * sizeof(double));
        s->progress.loss = loss;
        s->progress.gradient_norm = largest(s->adam_m, used);
    } else { /* the line search failed: keep what was */
        for (int i = 0; i < s->nrec; i++) memcpy(s->track[i].x0, s->track[i].x0try, (size_t)s->z.nx * sizeof(double));
        s->progress.loss = loss = before;
    }
    if (ti_stopped(s)) return TRIBO_INTERRUPTED; /* what it ended at says nothing of the loss */
    s->progress.converged = end == LBFGS_SUCCESS || end == LBFGS_ALREADY_MINIMIZED;
    bool better = before - loss > 1e-10 * before;
    if (!s->progress.converged && !better) s->stalled = true;
    return TRIBO_OK;
}

/* Adam, [Kingma and Ba 2015]; the rate is halved and the best point taken up again where nothing improves. */
tribo_status ti_adam_iterate(tribo_sysid *s) {
    const double b1 = 0.9, b2 = 0.99;
    int n = ti_descend_size(s);
    double *z = s->z_now, *best = z + s->zpad, *g = best + s->zpad;
    tribo_status status = TRIBO_OK;
    if (!s->adam_steps) {
        rebase(s, z);
        memcpy(best, z, (size_t)n * sizeof *z);
        memset(s->adam_m, 0, (size_t)n * sizeof *z);
        memset(s->adam_v, 0, (size_t)n * sizeof *z);
        s->adam_best = HUGE_VAL, s->adam_since = 0;
    }
    double loss = value(s, z, g, &status);
    if (status == TI_STOPPED || status == TRIBO_E_NOMEM) return unpack(s, best), status;
    if (loss < s->adam_best * (1 - 1e-9)) {
        s->adam_best = loss, s->adam_since = 0;
        memcpy(best, z, (size_t)n * sizeof *z);
        memcpy(s->theta, s->trial, (size_t)s->nfree * sizeof *z);
        s->progress.loss = loss;
        s->progress.gradient_norm = largest(g, n);
    } else if (++s->adam_since > PATIENCE || status) {
        memcpy(z, best, (size_t)n * sizeof *z);
        memset(s->adam_m, 0, (size_t)n * sizeof *z);
        memset(s->adam_v, 0, (size_t)n * sizeof *z);
        s->adam_steps = s->adam_since = 0;
        s->rate_now *= 0.5;
        s->progress.converged = s->rate_now < 1e-5 * s->rate || s->progress.gradient_norm < 1e-9;
        value(s, z, g, &status);
        if (status == TI_STOPPED) return unpack(s, best), status;
    }
    s->adam_steps++;
    double c1 = 1 - pow(b1, s->adam_steps), c2 = 1 - pow(b2, s->adam_steps);
    for (int i = 0; i < n; i++) {
        s->adam_m[i] = b1 * s->adam_m[i] + (1 - b1) * g[i];
        s->adam_v[i] = b2 * s->adam_v[i] + (1 - b2) * g[i] * g[i];
        z[i] -= s->rate_now * (s->adam_m[i] / c1) / (sqrt(s->adam_v[i] / c2) + 1e-12);
    }
    unpack(s, best);
    return TRIBO_OK;
}
