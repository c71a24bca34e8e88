/* shooting.c -- multiple shooting: parameters and kicked motions of all recordings together.
 *
 * docs/math.md eq. (147)-(322). Each iteration linearises every motion, eliminates its states, solves for theta, and
 * follows with new motions. Noise and kicks are estimated on the way from what is left, so that kicks that nothing asks
 * for go to zero, and with them the difference between this and rollouts.
 */
#include "sysid/kicked/kicked.h"

enum { TRIES = 7, PATIENCE = 8 };
static const double least_damping = 1e-5;

static tribo_status guess_job(ti_worker *w, int i, void *context) {
    (void)context;
    return w->s->track[i].held_out ? TRIBO_OK : ti_path_guess(w, i, w->s->p);
}

static tribo_status return_job(ti_worker *w, int i, void *context) {
    (void)context;
    return w->s->track[i].held_out ? TRIBO_OK : ti_path_return(w, i, w->s->p);
}

static tribo_status linearise_job(ti_worker *w, int i, void *context) {
    (void)context;
    return w->s->track[i].held_out ? TRIBO_OK : ti_path_linearise(w, i, w->s->p, w->s->P);
}

static tribo_status follow_job(ti_worker *w, int i, void *context) {
    return w->s->track[i].held_out ? TRIBO_OK : ti_path_follow(w, i, w->s->p, context, HUGE_VAL);
}

static tribo_status grow_job(ti_worker *w, int i, void *context) {
    (void)context;
    const tribo_sysid *s = w->s;
    ti_path *path = s->shooting->path + i;
    path->sought = !s->track[i].held_out && !path->vain && !ti_scales_explain_one(s, i, TI_EXPLAINED);
    return path->sought ? ti_path_grow(w, i, s->p, s->P) : TRIBO_OK;
}

static tribo_status spread_job(ti_worker *w, int i, void *context) {
    if (!w->s->track[i].held_out) ti_path_spread(w, i, context, w->s->shooting->sums + i);
    return TRIBO_OK;
}

/* Sums over the training recordings: s->H, s->g, the cost. */
static void total(tribo_sysid *s) {
    size_t n = (size_t)s->nfree;
    struct ti_shooting *h = s->shooting;
    memset(s->H, 0, n * n * sizeof(double));
    memset(s->g, 0, n * sizeof(double));
    h->cost = 0;
    for (int i = 0; i < s->nrec; i++) {
        const ti_path *path = h->path + i;
        if (s->track[i].held_out) continue;
        for (size_t a = 0; a < n * n; a++) s->H[a] += path->H[a];
        for (size_t a = 0; a < n; a++) s->g[a] += path->g[a];
        h->cost += path->cost;
    }
}

static bool held(const tribo_sysid *s, int i, double g) {
    const ti_unknown *k = s->unknown + i;
    return (s->theta[i] <= k->tlower && g > 0) || (s->theta[i] >= k->tupper && g < 0);
}

/* s->step for a damping. @return the decrease it promises; < 0 = none. */
static double propose(tribo_sysid *s, double lambda) {
    int n = s->nfree;
    double *A = s->A, *d = s->step, promise = 0, longest = 0, states = 0, unused = 0;
    for (int i = 0; i < s->nrec; i++) {
        ti_path *path = s->shooting->path + i;
        if (s->track[i].held_out) continue;
        ti_path_damp(s, path, lambda, &unused);
        states += path->promise;
    }
    total(s);
    memcpy(A, s->H, (size_t)n * (size_t)n * sizeof *A);
    for (int a = 0; a < n; a++) {
        if (held(s, a, s->g[a]) || s->H[a * n + a] < TI_THETA_SILENT) {
            for (int b = 0; b < n; b++) A[a * n + b] = A[b * n + a] = 0;
            A[a * n + a] = 1, d[a] = 0;
        } else {
            A[a * n + a] += lambda * A[a * n + a] + TI_THETA_PRIOR;
            d[a] = -s->g[a];
        }
    }
    memcpy(s->trial, d, (size_t)n * sizeof *d);
    if (n && !ti_spd_solve(n, A, 1, d)) return -1;
    for (int a = 0; a < n; a++) promise += s->trial[a] * d[a], longest = ti_max(longest, fabs(d[a]));
    for (int a = 0; a < n && longest > 1; a++) d[a] /= longest;
    return (longest > 1 ? promise / longest : promise) + states;
}

/* Covariance of theta by the present H: of what recordings say nothing, that of a wide prior. */
static bool covariance(tribo_sysid *s) {
    int n = s->nfree;
    double *cov = s->shooting->cov;
    memcpy(s->A, s->H, (size_t)n * (size_t)n * sizeof(double));
    memset(cov, 0, (size_t)n * (size_t)n * sizeof(double));
    for (int a = 0; a < n; a++) s->A[a * n + a] += TI_THETA_PRIOR, cov[a * n + a] = 1;
    return !n || ti_spd_solve(n, s->A, n, cov);
}

static tribo_status first_motions(tribo_sysid *s, const double *theta, ti_job job) {
    ti_at(s, theta);
    s->progress.evaluations++;
    tribo_status status = tribo_params_check(s->m, s->p, NULL);
    return status ? status : ti_parallel(s, TI_TELL_ROWS, job, NULL);
}

tribo_status ti_shooting_guess(tribo_sysid *s, const double *theta) {
    return first_motions(s, theta, guess_job);
}

void ti_shooting_reach(tribo_sysid *s) {
    double rows = s->shooting->horizon;
    bool all = true;
    for (int i = 0; i < s->nrec; i++) {
        const ti_track *t = s->track + i;
        int end = rows > 0 && rows < t->n - t->first ? t->first + (int)rows : t->n;
        s->shooting->path[i].end = end;
        all &= end == t->n;
    }
    if (all) s->shooting->horizon = 0;
}

static tribo_status begin(tribo_sysid *s, bool kicked, bool growing, ti_job job) {
    struct ti_shooting *h = s->shooting;
    memcpy(h->noise, h->noise_shown, 2 * (size_t)s->ngroup * sizeof *h->noise);
    h->horizon = kicked || !growing ? 0 : TI_GROW_FROM, h->stage = 0;
    ti_shooting_reach(s);
    for (int k = 0; k < TI_KICK_KINDS; k++) s->kick[k] = kicked ? h->unit[TRIBO_BLOCK_VELOCITY + k] : 0;
    ti_scales_weigh(s);
    tribo_status status = first_motions(s, s->theta, job);
    if (status < 0) return status;
    ti_scales_guess(s);
    s->lambda = 1e-3;
    for (int i = 0; i < s->nrec; i++) h->path[i].vain = false;
    h->begun = true, h->waited = h->still = 0;
    return TRIBO_OK;
}

tribo_status ti_shooting_begin(tribo_sysid *s, bool kicked, bool growing) {
    return begin(s, kicked, growing, guess_job);
}

tribo_status ti_shooting_return(tribo_sysid *s) {
    return begin(s, false, false, return_job);
}

static void take(tribo_sysid *s) {
    for (int i = 0; i < s->nrec; i++)
        if (!s->track[i].held_out) ti_path_accept(s->shooting->path + i);
}

/* Follow s->step to s->trial. @return TRIBO_OK and its cost; an error. */
static tribo_status attempt(tribo_sysid *s, double *cost) {
    *cost = HUGE_VAL;
    for (int a = 0; a < s->nfree; a++) s->trial[a] = s->theta[a] + s->step[a];
    ti_maps_clamp(s, s->trial);
    for (int a = 0; a < s->nfree; a++) s->step[a] = s->trial[a] - s->theta[a];
    ti_at(s, s->trial);
    if (tribo_params_check(s->m, s->p, NULL)) return TRIBO_OK;
    s->progress.evaluations++;
    tribo_status status = ti_parallel(s, TI_TELL_LOSS, follow_job, s->step);
    if (status == TRIBO_E_NOMEM) return status;
    if (status < 0) return TRIBO_OK;
    *cost = ti_path_sum(s, true);
    return TRIBO_OK;
}

static tribo_status catch_up_job(ti_worker *w, int i, void *context) {
    (void)context;
    return w->s->track[i].held_out ? TRIBO_OK : ti_path_catch_up(w, i, w->s->p, w->s->P);
}

/* One motion that goes another way than its linearisation would hold all parameters where they are: those that cost
 * more at s->trial settle there before the sum is judged. Joints without kicks follow theta into a minimum beside the
 * lowest if they may. */
static tribo_status catch_up(tribo_sysid *s, double *cost) {
    if (!ti_kicked(s) && !ti_all_free(s->m)) return TRIBO_OK;
    tribo_sysid_map_jac(s, s->trial, s->P);
    s->progress.evaluations++;
    tribo_status status = ti_parallel(s, TI_TELL_LOSS, catch_up_job, NULL);
    *cost = status < 0 ? HUGE_VAL : ti_path_sum(s, true);
    if (status < 0 || *cost < s->shooting->cost) return status;
    ti_at(s, s->theta);
    tribo_sysid_map_jac(s, s->theta, s->P);
    return TRIBO_OK;
}

/* Try steps until one lowers the cost. @return TRIBO_OK and *moved. */
static tribo_status step(tribo_sysid *s, double *promise, bool *moved) {
    struct ti_shooting *h = s->shooting;
    *moved = false;
    for (int tries = 0; tries < TRIES; tries++, s->lambda *= 10) {
        double cost, gain = propose(s, s->lambda);
        if (gain < 0) continue;
        if (!tries) *promise = gain;
        if (s->stop && *s->stop) return TRIBO_INTERRUPTED;
        tribo_status status = attempt(s, &cost);
        if (status) return status;
        if (!(cost < h->cost) && isfinite(cost)) status = catch_up(s, &cost);
        if (status < 0) return status;
        if (!(cost < h->cost)) continue;
        memcpy(s->theta, s->trial, (size_t)s->nfree * sizeof(double));
        take(s);
        h->cost = cost;
        s->lambda = ti_max(0.1 * s->lambda, least_damping);
        *moved = true;
        return TRIBO_OK;
    }
    s->lambda = 1e-3;
    return TRIBO_OK;
}

tribo_status ti_shooting_slopes(tribo_sysid *s) {
    s->progress.evaluations++;
    tribo_status status = ti_parallel(s, TI_TELL_SLOPES, linearise_job, NULL);
    if (status >= 0) total(s);
    return status;
}

tribo_status ti_shooting_curvature(tribo_sysid *s) {
    ti_at(s, s->theta);
    tribo_sysid_map_jac(s, s->theta, s->P);
    return ti_shooting_slopes(s);
}

tribo_status ti_shooting_spread(tribo_sysid *s) {
    if (!covariance(s)) return TRIBO_E_SINGULAR;
    return ti_parallel(s, TI_TELL_SLOPES, spread_job, s->shooting->cov);
}

/* Is theta still about where draws were in vain? They would be the same again. */
static void draw_again(tribo_sysid *s) {
    const double far = 1; /* twice a logarithm of likelihood */
    struct ti_shooting *h = s->shooting;
    double square = 0;
    int n = s->nfree;
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            square += (s->theta[a] - h->drawn_at[a]) * s->H[a * n + b] * (s->theta[b] - h->drawn_at[b]);
    if (square < far) return;
    for (int i = 0; i < s->nrec; i++) h->path[i].vain = false;
    memcpy(h->drawn_at, s->theta, (size_t)n * sizeof(double));
}

tribo_status ti_shooting_draw(tribo_sysid *s, bool *found) {
    const double worth = 0.01;
    struct ti_shooting *h = s->shooting;
    tribo_status status = ti_shooting_curvature(s);
    if (status >= 0) status = ti_shooting_spread(s);
    if (status < 0) return status;
    draw_again(s);
    status = ti_parallel(s, TI_TELL_LOSS, grow_job, NULL);
    if (status >= 0) status = ti_shooting_draw_starts(s);
    *found = ti_path_sum(s, false) < (1 - worth) * h->cost;
    for (int i = 0; i < s->nrec; i++) h->path[i].vain |= h->path[i].sought && !*found;
    h->still = h->waited = 0;
    s->lambda = 1e-3;
    return status;
}

/* Is what a step promises nothing beside the noise? */
static bool is_little(const tribo_sysid *s, double promise) {
    return promise < 0.02 * (1 + s->nfree + s->nrec) || promise < 1e-9 * s->shooting->cost;
}

tribo_status ti_shooting_descend(tribo_sysid *s, int most, double target) {
    const double little = 0.01, share = 0.02;
    bool moved = true;
    tribo_status status = ti_shooting_curvature(s);
    s->lambda = 1e-3;
    for (int i = 0; i < most && moved && status >= 0; i++) {
        double before = s->shooting->cost, promise = 0;
        status = step(s, &promise, &moved);
        double now = s->shooting->cost;
        bool there = before - now < little && promise < 10 * little;
        if (status < 0 || there || before - now < share * (now - target)) break;
        status = ti_shooting_curvature(s);
    }
    return status;
}

tribo_status ti_shooting_step(tribo_sysid *s, bool *done) {
    struct ti_shooting *h = s->shooting;
    double promise = 0, change = 1;
    bool moved;
    tribo_status status = ti_shooting_curvature(s);
    if (status >= 0) status = ti_shooting_spread(s);
    if (status < 0) return status;
    double evidence = ti_scales_evidence(s), before = h->cost;
    h->explained = ti_scales_explain(s, TI_EXPLAINED), h->nearly = ti_scales_explain(s, TI_NEARLY);
    double bare = propose(s, least_damping); /* without the damping that failures have left */
    status = step(s, &promise, &moved);
    if (status) return status;
    /* scales follow what is left once the motions have come near what they can be */
    double gained = before - h->cost, worth = before > 500 ? 0.002 * before : 1;
    if (gained < worth || ++h->waited > PATIENCE) change = ti_scales_update(s), h->waited = 0;
    bool still = is_little(s, promise);
    h->still = change < 0.25 && gained < worth ? h->still + 1 : 0;
    h->gains = gained >= worth;
    h->rate = gained > promise / 2 ? gained / before : 1;
    h->converged = still && bare >= 0 && is_little(s, bare), h->evidence = evidence;
    /* what joints make of their numbers is smooth: a fit of them goes on while there is something to be had */
    *done = h->still >= (still || !moved ? 2 : ti_all_free(s->m) ? 4 : PATIENCE);
    return TRIBO_OK;
}

tribo_status tribo_sysid_smooth(tribo_sysid *s, int recording, double *X, double *cov) {
    if (!s || !X || !s->shooting || !s->shooting->begun || recording < 0 || recording >= s->nrec) return TRIBO_E_ARG;
    const ti_track *t = s->track + recording;
    const ti_path *path = s->shooting->path + recording;
    size_t nx = (size_t)s->z.nx, ndx = (size_t)s->z.ndx, n = (size_t)t->n, first = (size_t)t->first;
    if (t->held_out) return TRIBO_E_ARG;
    tribo_status status = ti_shooting_curvature(s);
    if (status >= 0) status = ti_shooting_spread(s);
    if (status < 0) return status;
    memcpy(X, t->x, first * nx * sizeof *X);
    memcpy(X + first * nx, path->x + first * nx, (n - first) * nx * sizeof *X);
    for (size_t i = 0; cov && i < first * ndx * ndx; i++) cov[i] = NAN;
    if (cov) memcpy(cov + first * ndx * ndx, path->cov + first * ndx * ndx, (n - first) * ndx * ndx * sizeof *cov);
    int rank = ti_ranks_of(s, recording);
    status = ti_ranks_pass(s, rank, X, n * nx * sizeof *X);
    return cov && status >= 0 ? ti_ranks_pass(s, rank, cov, n * ndx * ndx * sizeof *cov) : status;
}
