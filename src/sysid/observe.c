/* observe.c -- what the recordings tell of each parameter, and what they leave open. docs/math.md eq. (70). */
#include "sysid/agree.h"
#include <lapacke.h>

/* A direction is open if its deviation is more than a factor e, or nothing at all depends on it; the largest eigenvalue
 * is no measure for that where motion is chaotic. */
static const double open_spread = 1, open_ratio = 1e-20;

typedef struct sums {
    double square; /* of weighted residuals */
    long nscalar;
    int ntrain, nalong;
    int nblock; /* of rows, of kicked motions */
} sums;

/* H and the scatter S of the recordings' gradients over the training recordings, starts eliminated. */
static tribo_status gather(tribo_sysid *s, double *H, double *S, sums *out) {
    size_t n = (size_t)s->nfree;
    double *g = s->g, *h = s->A;
    memset(H, 0, n * n * sizeof *H);
    memset(S, 0, n * n * sizeof *S);
    for (int i = 0; i < s->nrec; i++) {
        const ti_track *t = s->track + i;
        size_t nd = (size_t)ti_dirs(s, t);
        if (t->held_out) continue;
        for (size_t a = 0; a < n; a++) {
            g[a] = s->sum[i].g[a];
            for (size_t b = 0; b < n; b++) h[a * n + b] = s->sum[i].H[a * nd + b];
        }
        if (t->start == TRIBO_START_ALONG) {
            if (!ti_eliminate(s, i, 1e-12, h, g)) return TRIBO_E_SINGULAR;
            out->nalong++;
        }
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < n; b++) H[a * n + b] += h[a * n + b], S[a * n + b] += g[a] * g[b];
        out->square += s->sum[i].square;
        out->nscalar += s->sum[i].nscalar;
        out->ntrain++;
    }
    return TRIBO_OK;
}

static bool at_bound(const tribo_sysid *s, int i) {
    const ti_unknown *k = s->unknown + i;
    return k->map != TI_MAP_MEMBER && (s->theta[i] <= k->tlower || s->theta[i] >= k->tupper);
}

/* The scatter over blocks of rows: from rank to rank, each adds its recordings, so that the sum is in their order. */
static tribo_status scatter(tribo_sysid *s, double *blocks, int *nblock) {
    size_t n = (size_t)s->nfree;
    double count = 0;
    memset(blocks, 0, n * n * sizeof *blocks);
    for (int rank = 0; rank < ti_ranks_count(s); rank++) {
        int first, end;
        ti_ranks_share(s, rank, &first, &end);
        for (int i = first; i < end && ti_ranks_own(s, rank); i++)
            if (!s->track[i].held_out) count += ti_path_scatter(s->worker, i, blocks);
        tribo_status status = ti_ranks_pass(s, rank, blocks, n * n * sizeof *blocks);
        if (status >= 0) status = ti_ranks_pass(s, rank, &count, sizeof count);
        if (status < 0) return status;
    }
    *nblock = (int)count;
    return TRIBO_OK;
}

/* The same of kicked motions, whose noise is in the weights; and their slope G, which is not 0 where a fit ends because
 * no step lowers a loss that is not smooth. A number at its bound has none. */
static tribo_status gather_paths(tribo_sysid *s, double *H, double *S, double *blocks, double *G, sums *out) {
    size_t n = (size_t)s->nfree;
    if (!s->shooting->begun) ti_scales_init(s);
    tribo_status status = s->shooting->begun ? TRIBO_OK : ti_shooting_begin(s, false, false);
    if (status >= 0) status = ti_shooting_curvature(s);
    if (status < 0) return status;
    memset(H, 0, n * n * sizeof *H);
    memset(S, 0, n * n * sizeof *S), memset(G, 0, n * sizeof *G);
    for (int i = 0; i < s->nrec; i++) {
        const ti_path *path = s->shooting->path + i;
        if (s->track[i].held_out) continue;
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < n; b++) H[a * n + b] += path->H[a * n + b], S[a * n + b] += path->g[a] * path->g[b];
        for (size_t a = 0; a < n; a++) G[a] += path->g[a];
        out->ntrain++;
    }
    for (size_t a = 0; a < n; a++)
        if (at_bound(s, (int)a)) G[a] = 0;
    return scatter(s, blocks, &out->nblock);
}

/* The 97.5 % quantile of Student's t, by its expansion in 1/nu about the normal one [Abramowitz, Stegun 26.7.5]. */
static double student(double nu) {
    const double z = 1.959963984540054, z2 = z * z;
    if (nu < 3) nu = 3;
    double a = (z2 + 1) * z / 4, b = ((5 * z2 + 16) * z2 + 3) * z / 96;
    double c = (((3 * z2 + 19) * z2 + 17) * z2 - 15) * z / 384;
    return z + (a + (b + c / nu) / nu) / nu;
}

/* How much larger a deviation is by the sandwich of a scatter S than by cov, where it is. */
static void widen(const tribo_sysid *s, const double *X, const double *S, const double *cov, double *wide) {
    int n = s->nfree;
    for (int a = 0; a < n; a++) {
        double sum = 0, variance = cov[a * n + a];
        for (int k = 0; k < n; k++)
            for (int l = 0; l < n; l++) sum += X[a * n + k] * S[k * n + l] * X[l * n + a];
        if (sum > variance && variance > 0) wide[a] = ti_max(wide[a], sqrt(sum / variance));
    }
}

/* What the step X G of Gauss-Newton would still change is not known either: docs/math.md eq. (455). */
static void unsettled(const tribo_sysid *s, const double *X, const double *G, const double *cov, double *wide) {
    int n = s->nfree;
    for (int a = 0; a < n; a++) {
        double step = 0, variance = cov[a * n + a];
        for (int k = 0; k < n; k++) step += X[a * n + k] * G[k];
        wide[a] = variance > 0 ? sqrt(1 + step * step / variance) : 1;
    }
}

/* Each deviation longer by its factor; correlations stay. */
static void stretch_all(int n, const double *by, double *cov) {
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) cov[a * n + b] *= by[a] * by[b];
}

/* Covariance of theta on the determined directions: sigma^2 H^-1, and where S is given the sandwich for the parameters
 * that it makes less sure. V's columns are eigenvectors. */
static void covariance(tribo_sysid *s, const double *V, const double *value, int nopen, double sigma2, const double *S,
                       const double *blocks, const double *G, double *cov) {
    int n = s->nfree;
    double *X = s->H, *wide = s->g; /* H^+; by how much recordings have made a deviation larger */
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            X[a * n + b] = 0;
            for (int k = nopen; k < n; k++) X[a * n + b] += V[a * n + k] * V[b * n + k] / value[k];
            cov[a * n + b] = sigma2 * X[a * n + b];
        }
    double *by_blocks = s->step;
    for (int a = 0; a < n; a++) by_blocks[a] = 1;
    if (blocks) widen(s, X, blocks, cov, by_blocks);
    stretch_all(n, by_blocks, cov);
    if (S) widen(s, X, S, cov, wide);
    stretch_all(n, wide, cov);
    if (!G) return;
    double *more = by_blocks;
    unsettled(s, X, G, cov, more);
    stretch_all(n, more, cov);
}

static void estimate(tribo_sysid *s, int i, const double *cov, bool open, double quantile, tribo_estimate *e) {
    const ti_unknown *k = s->unknown + i;
    bool column = k->index < 0;
    size_t n = (size_t)s->nfree, np = (size_t)s->z.np, at = column ? 0 : (size_t)k->index;
    double variance = column ? k->scale * k->scale * cov[(size_t)i * (n + 1)] : 0, spread;
    for (size_t a = 0; a < n && !column; a++)
        for (size_t b = 0; b < n; b++)
            if (s->P[a * np + at] != 0 && s->P[b * np + at] != 0)
                variance += s->P[a * np + at] * cov[a * n + b] * s->P[b * np + at];
    *e = (tribo_estimate){.index = column ? k->entry : k->index, .start = k->start, .identifiable = !open};
    e->estimate = ti_value(s, s->theta, s->p, i);
    e->at_bound = at_bound(s, i);
    e->std_error = open ? HUGE_VAL : sqrt(variance);
    if (k->map == TI_MAP_LOG) {
        spread = open ? HUGE_VAL : exp(quantile * e->std_error / e->estimate);
        e->low95 = e->estimate / spread, e->high95 = e->estimate * spread;
    } else {
        e->low95 = e->estimate - quantile * e->std_error, e->high95 = e->estimate + quantile * e->std_error;
    }
    if (e->low95 < k->lower) e->low95 = k->lower;
    if (e->high95 > k->upper) e->high95 = k->upper;
}

/* Where the loss around the answer is not what its slope says. */
static void stretch(const tribo_sysid *s, int i, tribo_estimate *e) {
    const ti_unknown *k = s->unknown + i;
    double down = ti_max(1, s->shooting->wide[2 * i]), up = ti_max(1, s->shooting->wide[2 * i + 1]);
    e->std_error *= sqrt((down * down + up * up) / 2);
    if (k->map == TI_MAP_LOG) {
        e->low95 = e->estimate * pow(e->low95 / e->estimate, down);
        e->high95 = e->estimate * pow(e->high95 / e->estimate, up);
    } else {
        e->low95 = e->estimate + down * (e->low95 - e->estimate);
        e->high95 = e->estimate + up * (e->high95 - e->estimate);
    }
    const double *range = s->shooting->range + 2 * i;
    bool beyond = range[0] < e->low95 || range[1] > e->high95;
    e->low95 = ti_max(k->lower, ti_min(e->low95, range[0]));
    e->high95 = ti_min(k->upper, ti_max(e->high95, range[1]));
    if (beyond) e->std_error = ti_max(e->std_error, (e->high95 - e->low95) / 4);
}

static bool of_inertia(const ti_unknown *k) {
    return k->map == TI_MAP_INERTIA || k->map == TI_MAP_MEMBER;
}

/* Change of unknown i, of an inertia, by the six theta that they have together, over the most that a direction of unit
 * length makes of it. */
static double inertia_change(const tribo_sysid *s, int i, const double *six, int stride) {
    const ti_unknown *k = s->unknown + i;
    double sum = 0, square = 0;
    for (int a = 0; a < 6; a++) {
        double slope = s->P[(size_t)(k->leader + a) * (size_t)s->z.np + (size_t)k->index];
        sum += slope * six[a * stride], square += slope * slope;
    }
    return square > 0 ? sum / sqrt(square) : 0;
}

/* How much the first nopen eigenvectors, columns of V, move unknown i. */
static double open_share(const tribo_sysid *s, int i, const double *V, int nopen) {
    const ti_unknown *k = s->unknown + i;
    int n = s->nfree;
    double share = 0;
    for (int c = 0; c < nopen; c++) {
        double change = of_inertia(k) ? inertia_change(s, i, V + k->leader * n + c, n) : V[i * n + c];
        share += change * change;
    }
    return share;
}

/* Do they move it? How a frame is turned is one rotation: where one of its angles is open, others are known no better
 * than to what a radian of that makes of them. */
static bool is_open(const tribo_sysid *s, int i, const double *V, int nopen, const double *cov) {
    const double much = 1e-3;
    double own = open_share(s, i, V, nopen);
    bool one = own > much;
    for (int j = 0; j < s->nfree && !one; j++)
        one = ti_turned_with(s, i, j) && open_share(s, j, V, nopen) > much && own > cov[i * (s->nfree + 1)];
    return one;
}

void tribo_sysid_changes(const tribo_sysid *s, const double *direction, double *change) {
    double six[6];
    for (int i = 0; s && direction && change && i < s->nfree; i++) {
        const ti_unknown *k = s->unknown + i;
        if (k->map == TI_MAP_INERTIA) memcpy(six, direction + i, sizeof six);
        change[i] = of_inertia(k) ? inertia_change(s, i, six, 1) : direction[i];
    }
}

void tribo_sysid_agreement(const tribo_sysid *s, double *square, int *freedom) {
    if (!square || !freedom) return;
    *square = s && s->shooting ? s->shooting->apart : 0;
    *freedom = s && s->shooting ? s->shooting->napart : 0;
}

/* Of motions without kicks, whose noise is all that there is, and of slopes that are none at a bound. */
static bool agree(tribo_sysid *s, const ti_agreement *a) {
    bool judged = !ti_kicked(s);
    s->shooting->apart = 0, s->shooting->napart = 0;
    for (int i = 0; i < s->nfree; i++) judged &= !at_bound(s, i);
    return !judged || ti_agree(s, a, &s->shooting->apart, &s->shooting->napart);
}

tribo_status tribo_sysid_observe(tribo_sysid *s, tribo_estimate *est, double *information, double *direction,
                                 double *spread, int *nundetermined) {
    if (!s || !est || s->nfree == 0) return TRIBO_E_ARG;
    int n = s->nfree, nopen = 0;
    double loss, *H = s->observe, *V = H + n * n, *S = V + n * n, *cov = S + n * n, *blocks = cov + n * n,
                 *value = blocks + n * n, *G = value + n;
    sums sum = {0};
    tribo_status status = s->shooting ? gather_paths(s, H, S, blocks, G, &sum)
                                      : ti_evaluate(s, s->theta, false, TI_WANT_FORWARD, &loss, NULL, NULL);
    if (!status && !s->shooting) status = gather(s, H, S, &sum);
    if (status) return status;
    double freedom = (double)sum.nscalar - n - (double)sum.nalong * s->z.ndx;
    double sigma2 = s->shooting ? 1 : sum.square / (freedom > 1 ? freedom : 1);
    bool sandwich = sum.ntrain >= n + 3;
    memcpy(V, H, (size_t)n * (size_t)n * sizeof *V);
    if (LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'U', n, V, n, value)) return TRIBO_E_SINGULAR;
    while (nopen < n &&
           (value[nopen] <= open_ratio * value[n - 1] || sigma2 > open_spread * open_spread * value[nopen]))
        nopen++;
    const ti_agreement together = {n, nopen, V, value, G + n};
    if (s->shooting && !agree(s, &together)) return TRIBO_E_SINGULAR;
    if (s->shooting) freedom = s->shooting->freedom;
    const double few = student(sum.ntrain - n), many = student(freedom);
    for (int i = 0; i < n; i++) s->g[i] = 1;
    for (int i = 0; sandwich && i < n * n; i++) S[i] *= (double)sum.ntrain / (sum.ntrain - n);
    bool cut = s->shooting && sum.nblock >= 2 * n + 4;
    for (int i = 0; cut && i < n * n; i++) blocks[i] *= (double)sum.nblock / (sum.nblock - n);
    covariance(s, V, value, nopen, sigma2, sandwich ? S : NULL, cut ? blocks : NULL, s->shooting ? G : NULL, cov);
    if (s->shooting) ti_shooting_scatter_of_rows(s, cov);
    for (int i = 0; i < n; i++) {
        estimate(s, i, cov, is_open(s, i, V, nopen, cov), s->g[i] > 1 ? few : many, est + i);
        if (s->shooting) stretch(s, i, est + i);
    }
    for (int k = 0; k < n; k++) {
        for (int i = 0; direction && i < n; i++) direction[k * n + i] = V[i * n + k];
        double variance = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) variance += V[i * n + k] * cov[i * n + j] * V[j * n + k];
        if (spread) spread[k] = k < nopen ? HUGE_VAL : sqrt(variance);
    }
    for (int i = 0; information && i < n * n; i++) information[i] = sigma2 > 0 ? H[i] / sigma2 : HUGE_VAL;
    if (nundetermined) *nundetermined = nopen;
    return TRIBO_OK;
}
