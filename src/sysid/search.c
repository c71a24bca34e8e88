/* search.c -- a search without derivatives: covariance matrix adaptation, [Hansen 2016, arXiv 1604.00772].
 *
 * Rollouts through many impacts are chaotic: their loss is a smooth valley under a rough surface, whose slope says
 * nothing of the valley. A population's ranking does.
 */
#include "sysid/track/fit.h"
#include <lapacke.h>

/* How far theta i has to move until the loss has risen by a share that counts: the slope and the curvature of a chaotic
 * loss say nothing about that. */
static tribo_status reach(tribo_sysid *s, int i, double loss, double *step) {
    const double worth = 0.03, step_max = 0.3, step_min = 1e-3;
    double *x = s->trial, d = 0.02, value;
    int before = 0;
    for (int k = 0; k < 6; k++) {
        memcpy(x, s->theta, (size_t)s->nfree * sizeof *x);
        x[i] += x[i] + d <= s->unknown[i].tupper ? d : -d;
        ti_maps_clamp(s, x);
        tribo_status status = ti_evaluate(s, x, false, TI_WANT_VALUE, &value, NULL, NULL);
        if (status == TI_STOPPED || status == TRIBO_E_NOMEM) return status;
        int now = !status && value - loss < worth * loss ? 1 : -1;
        if ((before && now != before) || (now > 0 && 2 * d > step_max) || (now < 0 && d / 2 < step_min)) break;
        d = now > 0 ? 2 * d : d / 2;
        before = now;
    }
    *step = d;
    return TRIBO_OK;
}

tribo_status ti_search_init(tribo_sysid *s) {
    int n = s->nfree;
    s->cma.lambda = 4 + (int)(3 * log(n > 0 ? n : 1));
    if (s->cma.lambda < 8) s->cma.lambda = 8;
    s->cma.sigma = 1;
    s->cma.generation = 0;
    s->cma.random = (ti_random){s->seed ^ 0x5eed5eed};
    memcpy(s->cma.mean, s->theta, (size_t)n * sizeof(double));
    memset(s->cma.C, 0, (size_t)n * (size_t)n * sizeof(double));
    memset(s->cma.pc, 0, (size_t)n * sizeof(double));
    memset(s->cma.ps, 0, (size_t)n * sizeof(double));
    long counted = s->progress.evaluations;
    for (int i = 0; i < n; i++) {
        double step;
        tribo_status status = reach(s, i, s->progress.loss, &step);
        if (status) return status;
        s->cma.C[i * n + i] = step * step;
    }
    s->cma.spent = s->progress.evaluations - counted;
    return TRIBO_OK;
}

/* Eigenvectors of C as columns of B, square roots of eigenvalues in D. */
static bool decompose(tribo_sysid *s) {
    int n = s->nfree;
    memcpy(s->cma.B, s->cma.C, (size_t)n * (size_t)n * sizeof(double));
    if (LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'U', n, s->cma.B, n, s->cma.D)) return false;
    for (int i = 0; i < n; i++) s->cma.D[i] = sqrt(s->cma.D[i] > 1e-20 ? s->cma.D[i] : 1e-20);
    return true;
}

/* A population around the mean, evaluated; order sorts it by loss. */
static tribo_status populate(tribo_sysid *s) {
    int n = s->nfree, lambda = s->cma.lambda;
    for (int k = 0; k < lambda; k++) {
        double *y = s->cma.y + k * n, *x = s->cma.sample + k * n;
        for (int i = 0; i < n; i++) x[i] = s->cma.D[i] * ti_random_normal(&s->cma.random);
        for (int i = 0; i < n; i++) {
            y[i] = 0;
            for (int j = 0; j < n; j++) y[i] += s->cma.B[i * n + j] * x[j];
        }
        for (int i = 0; i < n; i++) x[i] = s->cma.mean[i] + s->cma.sigma * y[i];
        ti_maps_clamp(s, x);
        for (int i = 0; i < n; i++) y[i] = (x[i] - s->cma.mean[i]) / s->cma.sigma;
        tribo_status status = ti_evaluate(s, x, false, TI_WANT_VALUE, &s->cma.value[k], NULL, NULL);
        if (status == TI_STOPPED || status == TRIBO_E_NOMEM) return status;
        if (status < 0) s->cma.value[k] = HUGE_VAL;
        int at = k;
        for (; at > 0 && s->cma.value[k] < s->cma.value[s->cma.order[at - 1]]; at--)
            s->cma.order[at] = s->cma.order[at - 1];
        s->cma.order[at] = k;
    }
    return TRIBO_OK;
}

/* Move mean, covariance and step length towards the better half. */
static void adapt(tribo_sysid *s) {
    int n = s->nfree, lambda = s->cma.lambda, mu = lambda / 2;
    double *mean = s->cma.mean, *C = s->cma.C, *step = s->step, *white = s->trial, sum = 0, square = 0;
    for (int k = 0; k < mu; k++) {
        double w = log(mu + 0.5) - log(k + 1);
        sum += w, square += w * w;
    }
    double N = n, mueff = sum * sum / square;
    double cs = (mueff + 2) / (N + mueff + 5), cc = (4 + mueff / N) / (N + 4 + 2 * mueff / N);
    double c1 = 2 / ((N + 1.3) * (N + 1.3) + mueff);
    double cmu = 2 * (mueff - 2 + 1 / mueff) / ((N + 2) * (N + 2) + mueff);
    double ds = 1 + 2 * ti_max(0, sqrt((mueff - 1) / (N + 1)) - 1) + cs;
    double expected = sqrt(N) * (1 - 1 / (4 * N) + 1 / (21 * N * N));
    if (cmu > 1 - c1) cmu = 1 - c1;
    for (int i = 0; i < n; i++) {
        step[i] = 0;
        for (int k = 0; k < mu; k++) step[i] += (log(mu + 0.5) - log(k + 1)) / sum * s->cma.y[s->cma.order[k] * n + i];
        mean[i] += s->cma.sigma * step[i];
    }
    double size = 0, *ps = s->cma.ps, *pc = s->cma.pc;
    for (int j = 0; j < n; j++) { /* C^-1/2 step */
        white[j] = 0;
        for (int i = 0; i < n; i++) white[j] += s->cma.B[i * n + j] * step[i];
        white[j] /= s->cma.D[j];
    }
    for (int i = 0; i < n; i++) {
        double z = 0;
        for (int j = 0; j < n; j++) z += s->cma.B[i * n + j] * white[j];
        ps[i] = (1 - cs) * ps[i] + sqrt(cs * (2 - cs) * mueff) * z;
        size += ps[i] * ps[i];
    }
    size = sqrt(size);
    bool slow = size / sqrt(1 - pow(1 - cs, 2 * (s->cma.generation + 1))) < (1.4 + 2 / (N + 1)) * expected;
    for (int i = 0; i < n; i++) pc[i] = (1 - cc) * pc[i] + (slow ? sqrt(cc * (2 - cc) * mueff) * step[i] : 0);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double rank_mu = 0;
            for (int k = 0; k < mu; k++) {
                const double *y = s->cma.y + s->cma.order[k] * n;
                rank_mu += (log(mu + 0.5) - log(k + 1)) / sum * y[i] * y[j];
            }
            double old = C[i * n + j];
            C[i * n + j] =
                (1 - c1 - cmu) * old + c1 * (pc[i] * pc[j] + (slow ? 0 : cc * (2 - cc) * old)) + cmu * rank_mu;
        }
    s->cma.sigma *= exp(cs / ds * (size / expected - 1));
    s->cma.generation++;
}

tribo_status ti_search_iterate(tribo_sysid *s) {
    int n = s->nfree;
    double loss;
    if (!decompose(s)) return TRIBO_E_SINGULAR;
    tribo_status status = populate(s);
    if (status) return status;
    int best = s->cma.order[0];
    if (s->cma.value[best] < s->progress.loss) {
        memcpy(s->theta, s->cma.sample + best * n, (size_t)n * sizeof(double));
        s->progress.loss = s->cma.value[best];
    }
    adapt(s);
    s->cma.spent += s->cma.lambda;
    if (s->cma.spent < s->search && s->cma.sigma > 1e-3) return TRIBO_OK;
    /* the middle of the population has felt fewer of the surface's accidents than the luckiest of them */
    ti_maps_clamp(s, s->cma.mean);
    status = ti_evaluate(s, s->cma.mean, false, TI_WANT_VALUE, &loss, NULL, NULL);
    if (!status && loss < 1.002 * s->progress.loss) {
        memcpy(s->theta, s->cma.mean, (size_t)n * sizeof(double));
        s->progress.loss = loss;
    }
    s->cma.spent = s->search > s->cma.spent ? s->search : s->cma.spent;
    return TRIBO_OK;
}
