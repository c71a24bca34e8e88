/* hops.c -- from an answer to others beside it. docs/math.md, Observability.
 *
 * Dry friction takes hold of a joint in one step or in the next, and the loss has a minimum for each. What Gauss-Newton
 * ends in is one of those around it; which one, depends on where it came from. So the parameters and all starts hop as
 * far as they are not known, the fit goes down from there, and the lowest stays.
 */
#include "sysid/kicked/kicked.h"

enum { ROUNDS = 20, IDLE_MAX = 8, HOPS_MAX = 48, SHARES = 3 };

static double *best_of(const tribo_sysid *s) {
    return s->shooting->end + (size_t)s->shooting->best * (size_t)s->nfree;
}

/* This is the best now. */
static void keep(tribo_sysid *s) {
    memcpy(best_of(s), s->theta, (size_t)s->nfree * sizeof(double));
    for (int i = 0; i < s->nrec; i++)
        memcpy(s->shooting->path[i].best, ti_path_first(s, i), (size_t)s->z.nx * sizeof(double));
}

static void go_back(tribo_sysid *s) {
    memcpy(s->theta, best_of(s), (size_t)s->nfree * sizeof(double));
    for (int i = 0; i < s->nrec; i++)
        memcpy(ti_path_first(s, i), s->shooting->path[i].best, (size_t)s->z.nx * sizeof(double));
    ti_at(s, s->theta);
}

/* s->step: a draw of what is not known of theta; of what recordings say little of, not far. @return false where that
 * leaves what is physical. */
static bool draw(tribo_sysid *s, double share) {
    const double near = 25; /* precision: a fifth of the scale of theta */
    size_t n = (size_t)s->nfree;
    double *L = s->A, *d = s->step;
    ti_random dice = {s->seed + 1000003u * (uint64_t)s->shooting->hops};
    memcpy(L, s->H, n * n * sizeof *L);
    for (size_t a = 0; a < n; a++) L[a * n + a] += near;
    if (!ti_spd_solve((int)n, L, 0, NULL)) return false;
    for (size_t i = 0; i < n; i++) d[i] = share * ti_random_normal(&dice);
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++) d[i] -= L[j * n + i] * d[j];
        d[i] = s->H[i * (n + 1)] < TI_THETA_SILENT ? 0 : d[i] / L[i * n + i];
    }
    for (size_t i = 0; i < n; i++) s->theta[i] += d[i];
    ti_maps_clamp(s, s->theta);
    for (size_t i = 0; i < n; i++) d[i] = s->theta[i] - best_of(s)[i];
    ti_at(s, s->theta);
    return tribo_params_check(s->m, s->p, NULL) == TRIBO_OK;
}

/* The start follows theta, and hops by itself. */
static tribo_status hop_job(ti_worker *w, int i, void *context) {
    const tribo_sysid *s = w->s;
    size_t nx = (size_t)s->z.nx;
    uint64_t which = (uint64_t)s->shooting->hops * (uint64_t)s->nrec + (uint64_t)i;
    ti_random dice = {s->seed + 0x9e3779b97f4a7c15u * (which + 1)};
    if (s->track[i].held_out) return TRIBO_OK;
    if (!ti_path_start(w, i, s->p, s->step, 0)) return TRIBO_E_SINGULAR;
    memcpy(ti_path_first(s, i), w->x, nx * sizeof(double));
    if (!ti_path_beside(w, i, s->p, *(const double *)context, &dice)) return TRIBO_E_SINGULAR;
    memcpy(ti_path_first(s, i), w->x, nx * sizeof(double));
    return TRIBO_OK;
}

tribo_status ti_shooting_hop(tribo_sysid *s, bool *more) {
    const double lower = 0.01, worth = 0.1;
    struct ti_shooting *h = s->shooting;
    tribo_status status = TRIBO_OK;
    bool first = h->hops == 0;
    if (first) keep(s), h->idle = 0;
    go_back(s);
    status = first ? ti_shooting_descend(s, ROUNDS, HUGE_VAL) : ti_shooting_curvature(s);
    if (first && status >= 0) keep(s), h->least = h->cost;
    double share = 1 + h->hops++ % SHARES;
    if (status >= 0 && draw(s, share)) {
        status = ti_parallel(s, TI_TELL_LOSS, hop_job, &share);
        if (status >= 0) status = ti_shooting_descend(s, ROUNDS, h->least);
        double gain = status >= 0 ? h->least - h->cost : 0;
        if (gain > lower) keep(s), h->least = h->cost;
        h->idle = gain > worth ? 0 : h->idle + 1;
    } else {
        h->idle++;
    }
    go_back(s);
    *more = h->idle < IDLE_MAX && h->hops < HOPS_MAX;
    return status == TRIBO_E_NOMEM || status == TI_STOPPED ? status : TRIBO_OK;
}
