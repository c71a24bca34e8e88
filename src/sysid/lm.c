/* lm.c -- Levenberg-Marquardt on the parameters, with the start states that are estimated along eliminated.
 *
 * docs/math.md eq. (68), (69): each recording's start enters its own rows only, so the normal
 * equations are an arrow, and a start's block is eliminated by itself.
 */
#include "sysid/track/fit.h"

enum { TRIES = 12 };
static const double lambda_small = 0.05;

/* Take one recording's start out: back = (Hx + lambda D)^-1 [C', gx], A -= C back, g -= C back_g. */
bool ti_eliminate(tribo_sysid *s, int track, double lambda, double *A, double *g) {
    const ti_track *t = s->track + track;
    const ti_sum *sum = s->sum + track;
    int n = s->nfree, ndx = s->z.ndx, nd = ti_dirs(s, t), nb = n + 1;
    double *B = s->back + (size_t)track * (size_t)ndx * (size_t)nb, *M = s->worker[0].A, largest = 0;
    for (int i = 0; i < ndx; i++) largest = ti_max(largest, sum->H[(n + i) * nd + n + i]);
    for (int i = 0; i < ndx; i++) {
        const double *row = sum->H + (n + i) * nd;
        for (int j = 0; j < ndx; j++) M[i * ndx + j] = row[n + j];
        M[i * ndx + i] += lambda * row[n + i] + 1e-9 * largest;
        for (int a = 0; a < n; a++) B[i * nb + a] = row[a];
        B[i * nb + n] = sum->g[n + i];
    }
    if (!ti_spd_solve(ndx, M, nb, B)) return false;
    for (int a = 0; a < n; a++)
        for (int i = 0; i < ndx; i++) {
            double c = sum->H[(n + i) * nd + a];
            for (int b = 0; b < n; b++) A[a * n + b] -= c * B[i * nb + b];
            g[a] -= c * B[i * nb + n];
        }
    return true;
}

/* Is theta i at a bound that the gradient pushes against? */
static bool held(const tribo_sysid *s, int i, double g) {
    const ti_unknown *k = s->unknown + i;
    return (s->theta[i] <= k->tlower && g > 0) || (s->theta[i] >= k->tupper && g < 0);
}

/* The sums over all training recordings, not divided: s->H, s->g. */
static void total(tribo_sysid *s) {
    size_t n = (size_t)s->nfree;
    memset(s->g, 0, n * sizeof(double));
    memset(s->H, 0, n * n * sizeof(double));
    for (int i = 0; i < s->nrec; i++) {
        size_t nd = (size_t)ti_dirs(s, s->track + i);
        if (s->track[i].held_out) continue;
        for (size_t a = 0; a < n; a++) {
            s->g[a] += s->sum[i].g[a];
            for (size_t b = 0; b < n; b++) s->H[a * n + b] += s->sum[i].H[a * nd + b];
        }
    }
}

/* The step in theta for one lambda into s->step. @return the decrease the model promises; < 0 = no step. */
static double propose(tribo_sysid *s, double lambda) {
    int n = s->nfree;
    double *A = s->A, *d = s->step, largest = 0, promise = 0;
    memcpy(A, s->H, (size_t)n * (size_t)n * sizeof *A);
    memcpy(d, s->g, (size_t)n * sizeof *d);
    for (int i = 0; i < s->nrec; i++) {
        if (s->track[i].held_out || s->track[i].start != TRIBO_START_ALONG) continue;
        if (!ti_eliminate(s, i, lambda, A, d)) return -1;
    }
    for (int a = 0; a < n; a++) largest = ti_max(largest, A[a * n + a]);
    for (int a = 0; a < n; a++) {
        if (held(s, a, d[a])) {
            for (int b = 0; b < n; b++) A[a * n + b] = A[b * n + a] = 0;
            A[a * n + a] = 1, d[a] = 0;
        }
        /* what no recording depends on has a row of rounding errors: hold it where it is */
        A[a * n + a] += lambda * A[a * n + a] + 1e-10 * largest + 1e-300;
        d[a] = -d[a];
    }
    memcpy(s->trial, d, (size_t)n * sizeof *d);
    if (n && !ti_spd_solve(n, A, 1, d)) return -1;
    for (int a = 0; a < n; a++) promise += s->trial[a] * d[a] / 2;
    return promise;
}

/* Move the start states for a step in theta, keeping the old ones in x0try. */
static double move_starts(tribo_sysid *s) {
    int n = s->nfree, ndx = s->z.ndx, nb = n + 1;
    double promise = 0;
    for (int i = 0; i < s->nrec; i++) {
        ti_track *t = s->track + i;
        double *B = s->back + (size_t)i * (size_t)ndx * (size_t)nb, *dx = s->worker[0].r;
        if (t->held_out || t->start != TRIBO_START_ALONG) continue;
        for (int j = 0; j < ndx; j++) {
            dx[j] = -B[j * nb + n];
            for (int a = 0; a < n; a++) dx[j] -= B[j * nb + a] * s->step[a];
            promise += s->sum[i].g[n + j] * B[j * nb + n] / 2;
        }
        ti_start_move(s, t, dx);
    }
    return promise;
}

static void restore_starts(tribo_sysid *s) {
    for (int i = 0; i < s->nrec; i++) {
        ti_track *t = s->track + i;
        if (t->held_out || t->start != TRIBO_START_ALONG) continue;
        memcpy(t->x0, t->x0try, (size_t)s->z.nx * sizeof(double));
    }
}

static void norm_of_gradient(tribo_sysid *s, double blocks) {
    double size = 0;
    for (int i = 0; i < s->nfree; i++)
        if (!held(s, i, s->g[i])) size = ti_max(size, fabs(s->g[i]) / blocks);
    s->progress.gradient_norm = size;
}

tribo_status ti_lm_iterate(tribo_sysid *s) {
    double loss, trial_loss, blocks = 0;
    tribo_status status = ti_evaluate(s, s->theta, false, TI_WANT_FORWARD, &loss, NULL, NULL);
    if (status) return status;
    for (int i = 0; i < s->nrec; i++) blocks += s->track[i].held_out ? 0 : (double)s->sum[i].nblock;
    total(s);
    norm_of_gradient(s, blocks);
    s->progress.loss = loss;
    bool fresh = s->lambda <= lambda_small; /* a large lambda promises little whatever the slope */
    for (int tries = 0; tries < TRIES; tries++, s->lambda *= 5) {
        double promise = propose(s, s->lambda);
        if (promise < 0) continue;
        promise += move_starts(s);
        double longest = 0;
        for (int a = 0; a < s->nfree; a++) longest = ti_max(longest, fabs(s->step[a]));
        if (promise <= 1e-8 * loss * blocks || (s->nfree && longest < 1e-10)) {
            restore_starts(s);
            if (s->lambda > lambda_small) {
                if (fresh) break;
                fresh = true, s->lambda = lambda_small / 50;
                continue;
            }
            s->progress.converged = true;
            return TRIBO_OK;
        }
        for (int a = 0; a < s->nfree; a++) s->trial[a] = s->theta[a] + s->step[a];
        ti_maps_clamp(s, s->trial);
        status = ti_evaluate(s, s->trial, false, TI_WANT_VALUE, &trial_loss, NULL, NULL);
        if (!status && trial_loss < loss) {
            memcpy(s->theta, s->trial, (size_t)s->nfree * sizeof(double));
            s->progress.loss = trial_loss;
            s->lambda = s->lambda > 1e-9 ? s->lambda * 0.1 : s->lambda;
            return TRIBO_OK;
        }
        restore_starts(s);
        if (status == TI_STOPPED || status == TRIBO_E_NOMEM) return status;
    }
    s->lambda = 1e-3;
    s->stalled = true;
    return TRIBO_OK;
}
