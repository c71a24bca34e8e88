/* hops.c -- from an answer to others beside it. docs/math.md eq. (510).
 *
 * Dry friction takes hold of a joint in one step or in the next, and the loss has a minimum for each. What Gauss-Newton
 * ends in is one of those around it; which one, depends on where it came from. So the parameters and all starts hop as
 * far as they are not known, the fit goes down from there, and the lowest stays. Others that cost hardly more are in
 * the intervals.
 */
#include "sysid/kicked/kicked.h"

enum { ROUNDS = 20, IDLE_MAX = 24, SHARES = 3 };
static const double within = 3.84; /* twice a logarithm of likelihood: chi squared, one number, 95 % */

static double *best_of(const tribo_sysid *s) {
    return s->shooting->end + (size_t)s->shooting->best * (size_t)s->nfree;
}

/* What is kept: the best, and another answer, from which hops may lead to where none from the best does. */
typedef enum answer { BEST, OTHER } answer;

static double *theta_of(const tribo_sysid *s, answer which) {
    return which == BEST ? best_of(s) : s->shooting->roaming;
}
static double *start_of(const tribo_sysid *s, answer which, int i) {
    return which == BEST ? s->shooting->path[i].best : s->shooting->path[i].roaming;
}

static void keep(tribo_sysid *s, answer as) {
    memcpy(theta_of(s, as), s->theta, (size_t)s->nfree * sizeof(double));
    for (int i = 0; i < s->nrec; i++) memcpy(start_of(s, as, i), ti_path_first(s, i), (size_t)s->z.nx * sizeof(double));
}

static void go_to(tribo_sysid *s, answer which) {
    memcpy(s->theta, theta_of(s, which), (size_t)s->nfree * sizeof(double));
    for (int i = 0; i < s->nrec; i++)
        memcpy(ti_path_first(s, i), start_of(s, which, i), (size_t)s->z.nx * sizeof(double));
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
    memcpy(s->trial, s->theta, n * sizeof *d);
    for (size_t i = 0; i < n; i++) s->theta[i] += d[i];
    ti_maps_clamp(s, s->theta);
    for (size_t i = 0; i < n; i++) d[i] = s->theta[i] - s->trial[i];
    ti_at(s, s->theta);
    return tribo_params_check(s->m, s->p, NULL) == TRIBO_OK;
}

/* The start follows theta, and hops by itself, less far where that costs much: of a joint that rests it is not known
 * how fast it was turning when it began to, but not because it may have been fast. */
static tribo_status hop_job(ti_worker *w, int i, void *context) {
    enum { TRIES = 8 };
    const double much = 1000;
    const tribo_sysid *s = w->s;
    size_t nx = (size_t)s->z.nx;
    uint64_t which = (uint64_t)s->shooting->hops * (uint64_t)s->nrec + (uint64_t)i;
    double *first = ti_path_first(s, i), *follows = s->track[i].kept, share = *(const double *)context;
    if (s->track[i].held_out) return TRIBO_OK;
    if (!ti_path_start(w, i, s->p, s->step, 0)) return TRIBO_E_SINGULAR;
    memcpy(follows, w->x, nx * sizeof *follows);
    double most = ti_path_plain(w, i, s->p, HUGE_VAL) + much;
    for (int k = 0; k < TRIES; k++, share /= 3) {
        ti_random dice = {s->seed + 0x9e3779b97f4a7c15u * (which + 1)};
        memcpy(first, follows, nx * sizeof *first);
        if (!ti_path_beside(w, i, s->p, share, &dice)) return TRIBO_E_SINGULAR;
        memcpy(first, w->x, nx * sizeof *first);
        if (ti_path_plain(w, i, s->p, most) < most) break;
    }
    return TRIBO_OK;
}

/* ---- what costs hardly more than the best ---- */

typedef struct minimum {
    double *cost, *theta, *error; /* what motions cost there, at what theta, known to what */
} minimum;

static minimum minimum_at(const tribo_sysid *s, int k) {
    size_t n = (size_t)s->nfree;
    double *one = s->shooting->minimum + (size_t)k * (2 * n + 1);
    return (minimum){one, one + 1, one + 1 + n};
}

/* Would one take the two for different answers? */
static bool differ(const tribo_sysid *s, minimum a, const double *theta) {
    bool any = false;
    for (int i = 0; i < s->nfree; i++) any |= fabs(a.theta[i] - theta[i]) > a.error[i];
    return any;
}

/* That is where a descent has ended; the last that is another answer than the best is hopped from, too. */
static tribo_status note(tribo_sysid *s) {
    const double little = 0.1; /* twice a logarithm of likelihood */
    struct ti_shooting *h = s->shooting;
    size_t n = (size_t)s->nfree;
    double *inverse = h->cov;
    if (!(h->cost < h->least + within)) return TRIBO_OK;
    tribo_status status = ti_shooting_curvature(s);
    if (status < 0) return status;
    memcpy(s->A, s->H, n * n * sizeof *s->A);
    for (size_t a = 0; a < n * n; a++) inverse[a] = a % (n + 1) == 0;
    for (size_t a = 0; a < n; a++) s->A[a * (n + 1)] += TI_THETA_PRIOR;
    if (!ti_spd_solve((int)n, s->A, (int)n, inverse)) return TRIBO_OK;
    double promise = 0;
    for (size_t a = 0; a < n * n; a++) promise += s->g[a / n] * inverse[a] * s->g[a % n];
    if (promise > little) return TRIBO_OK; /* a slope is no minimum, nor is its curvature one's */
    minimum m = minimum_at(s, h->minima++);
    *m.cost = h->cost;
    memcpy(m.theta, s->theta, n * sizeof *m.theta);
    for (size_t a = 0; a < n; a++) m.error[a] = sqrt(inverse[a * (n + 1)]);
    if (!differ(s, m, best_of(s))) return TRIBO_OK;
    if (!h->roams) h->idle = 0;
    keep(s, OTHER), h->roams = true;
    return TRIBO_OK;
}

/* All values that one of them has within its interval, that shorter by what it costs more; and how many are other
 * answers. */
static void include(tribo_sysid *s) {
    struct ti_shooting *h = s->shooting;
    s->progress.others = 0;
    for (int k = 0; k < h->minima; k++) {
        minimum m = minimum_at(s, k);
        double left = within - (*m.cost - h->least);
        bool other = left > 0 && differ(s, m, best_of(s));
        for (int i = 0; i < s->nfree && left > 0; i++) {
            for (int side = -1; side < 2; side += 2) {
                memcpy(s->trial, m.theta, (size_t)s->nfree * sizeof(double));
                s->trial[i] += side * sqrt(left) * m.error[i];
                ti_maps_clamp(s, s->trial);
                ti_shooting_include(s, i);
            }
        }
        for (int j = 0; j < k && other; j++) {
            minimum before = minimum_at(s, j);
            other = !(*before.cost < h->least + within) || differ(s, m, before.theta);
        }
        s->progress.others += other;
    }
    ti_at(s, s->theta);
}

/* Down from a hop of so many standard deviations. */
static tribo_status leap(tribo_sysid *s, double share) {
    const double lower = 0.01, worth = 0.1;
    struct ti_shooting *h = s->shooting;
    h->idle++;
    if (!draw(s, share)) return TRIBO_OK;
    tribo_status status = ti_parallel(s, TI_TELL_LOSS, hop_job, &share);
    if (status >= 0) status = ti_shooting_descend(s, ROUNDS, h->least);
    if (status < 0) return status;
    double gain = h->least - h->cost;
    if (gain > lower) keep(s, BEST), h->least = h->cost;
    if (gain > worth) h->idle = 0;
    return note(s);
}

tribo_status ti_shooting_hop(tribo_sysid *s, bool *more) {
    struct ti_shooting *h = s->shooting;
    bool first = h->hops == 0;
    bool from_other = h->roams && h->hops % 2;
    if (first) keep(s, BEST), h->idle = h->minima = 0, h->roams = false;
    go_to(s, from_other ? OTHER : BEST);
    tribo_status status = first ? ti_shooting_descend(s, ROUNDS, HUGE_VAL) : ti_shooting_curvature(s);
    if (first && status >= 0) keep(s, BEST), h->least = h->cost, status = note(s);
    double share = 1 + h->hops++ % SHARES;
    if (status >= 0) status = leap(s, share);
    go_to(s, BEST);
    *more = h->idle < IDLE_MAX && h->hops < TI_HOPS_MAX;
    if (!*more) include(s);
    return status == TRIBO_E_NOMEM || status == TI_STOPPED ? status : TRIBO_OK;
}
