/* residuals.c -- see residuals.h. */
#include "residuals.h"
#include "base/base.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double degree = 57.29577951308232;

channel *channels_of(const tribo_model *m, int *count) {
    tribo_sizes z = tribo_model_sizes(m);
    channel *out = calloc((size_t)z.nv + 1, sizeof *out);
    int n = 0, owners = z.nbody + z.njoint, starts = 0;
    for (int v = 0; out && v < z.nv; v = starts) {
        const char *name = NULL;
        int q = -1;
        starts = z.nv;
        for (int i = 0; i < owners; i++) {
            bool body = i < z.nbody;
            if (body && !tribo_model_body_free(m, i)) continue;
            int at = body ? tribo_model_body_v(m, i) : tribo_model_joint_v(m, i - z.nbody);
            if (at == v) name = body ? tribo_model_body_name(m, i) : tribo_model_joint_name(m, i - z.nbody);
            if (at == v) q = body ? tribo_model_body_q(m, i) : tribo_model_joint_q(m, i - z.nbody);
            if (at > v && at < starts) starts = at;
        }
        for (int from = v, to; from < starts; from = to, n++) {
            bool turns = tribo_model_turns(m, from);
            for (to = from; to < starts && tribo_model_turns(m, to) == turns;) to++;
            bool quat = turns && to - from > 1;
            out[n] = (channel){name, quat ? -1 : q, from, to - from, turns, quat ? q + from - v : -1};
        }
    }
    *count = n;
    return out;
}

void residuals_free(residuals *r) {
    free(r->r);
    free(r->x);
    *r = (residuals){0};
}

/* Poses of a row into a state without velocities, for tribo_state_difference(). */
static void poses(const tribo_sizes *z, const double *row, double *x) {
    memset(x, 0, (size_t)z->nx * sizeof *x);
    memcpy(x, row, (size_t)z->nq * sizeof *x);
}

/* Displacements and turns from one state to another: NaN where either has none. */
static void between(const tribo_model *m, const double *a, const double *b, double *scratch, double *d) {
    tribo_sizes z = tribo_model_sizes(m);
    double *from = scratch, *to = from + z.nx;
    poses(&z, a, from), poses(&z, b, to);
    tribo_state_difference(m, from, to, d);
}

bool residuals_of(residuals *out, tribo_sysid *s, const tribo_model *m, const tribo_recording *rec, int recording) {
    return residuals_at(out, s, NULL, m, rec, recording);
}

bool residuals_at(residuals *out, tribo_sysid *s, const double *p, const tribo_model *m, const tribo_recording *rec,
                  int recording) {
    tribo_sizes z = tribo_model_sizes(m);
    size_t n = (size_t)rec->n, nx = (size_t)z.nx, ndx = (size_t)z.ndx, nv = (size_t)z.nv;
    double *scratch = calloc(2 * nx + ndx, sizeof *scratch);
    *out = (residuals){.n = rec->n, .nv = z.nv, .m = m};
    out->r = calloc(n * nv, sizeof *out->r);
    out->x = calloc(n * nx, sizeof *out->x);
    bool good = scratch && out->r && out->x && tribo_sysid_predict(s, p, recording, out->x) >= 0;
    for (size_t k = 0; good && k < n; k++) {
        between(m, rec->x + k * nx, out->x + k * nx, scratch, scratch + 2 * nx);
        for (size_t i = 0; i < nv; i++) out->r[k * nv + i] = -scratch[2 * nx + i];
    }
    free(scratch);
    if (!good) residuals_free(out);
    return good;
}

double residuals_correlation(const residuals *r, int kind, int lag) {
    double product = 0, square = 0;
    long pairs = 0, all = 0;
    for (int k = 0; k < r->n; k++)
        for (int i = 0; i < r->nv; i++) {
            const double *at = r->r + (size_t)k * (size_t)r->nv + i;
            double x = *at, y = k + lag < r->n ? at[lag * r->nv] : (double)NAN;
            if (tribo_model_turns(r->m, i) != (kind == QUALITY_ROTATION)) continue;
            if (!isnan(x)) square += x * x, all++;
            if (!isnan(x) && !isnan(y)) product += x * y, pairs++;
        }
    return pairs && square > 0 ? product / (double)pairs / (square / (double)all) : (double)NAN;
}

/* What of three differences of neighbouring rows, from row k on, leaves nothing of a parabola, and of noise twenty
 * times its variance; even times: 1, -2, 1. false where rows are far from even, as beside a gap. */
static bool third_difference(const double *time, double weight[3]) {
    const double uneven = 4;
    double least = HUGE_VAL, most = 0, w[4], square = 0;
    for (int j = 0; j < 3; j++) {
        double h = time[j + 1] - time[j];
        least = h < least ? h : least, most = h > most ? h : most;
    }
    if (!(most < uneven * least)) return false;
    for (int j = 0; j < 4; j++) {
        w[j] = 1;
        for (int i = 0; i < 4; i++) w[j] *= i == j ? 1 : most / (time[j] - time[i]);
        square += w[j] * w[j];
    }
    for (int j = 3; j-- > 0;) weight[j] = sqrt(20 / square) * w[j + 1] + (j < 2 ? weight[j + 1] : 0);
    return true;
}

/* The third difference of a smooth motion is noise; the median passes over impacts. That of the length of so many of
 * them is known. */
double noise_of_rows(const tribo_model *m, const tribo_recording *rec, int kind, const channel *only) {
    static const double median[] = {0, 0.6745, 1.1774, 1.538};
    tribo_sizes z = tribo_model_sizes(m);
    size_t n = 0, nv = (size_t)z.nv, nx = (size_t)z.nx;
    double *length = calloc((size_t)rec->n * nv + 1, sizeof *length), sigma = (double)NAN, weight[3];
    double *scratch = calloc(2 * nx + 3 * (size_t)z.ndx, sizeof *scratch), *d = scratch + 2 * nx;
    int channels;
    channel *list = channels_of(m, &channels);
    for (int k = 0; length && scratch && k + 3 < rec->n; k++) {
        if (!third_difference(rec->time + k, weight)) continue;
        for (size_t j = 0; j < 3; j++) {
            const double *row = rec->x + ((size_t)k + j) * nx;
            between(m, row, row + nx, scratch, d + j * (size_t)z.ndx);
        }
        for (int c = 0; c < channels; c++) {
            double square = 0;
            if (list[c].turns != (kind == QUALITY_ROTATION) || (only && only->v != list[c].v)) continue;
            for (const double *at = d + list[c].v; at < d + list[c].v + list[c].n; at++) {
                double third = weight[2] * at[2 * z.ndx] + weight[1] * at[z.ndx] + weight[0] * at[0];
                square += third * third;
            }
            if (!isnan(square)) length[n++] = sqrt(square) / median[list[c].n];
        }
    }
    if (n > 8) {
        qsort(length, n, sizeof *length, ti_ascending);
        sigma = length[n / 2] / sqrt(20);
    }
    free(length), free(scratch), free(list);
    return sigma;
}

void quality_add(quality *q, const residuals *r, const tribo_model *m, const tribo_recording *rec) {
    q->recordings++;
    for (int kind = 0; kind < QUALITY_KINDS; kind++) {
        double sigma = noise_of_rows(m, rec, kind, NULL), c = residuals_correlation(r, kind, 1), square = 0;
        long n = 0;
        for (int k = 0; k < r->n; k++)
            for (int i = 0; i < r->nv; i++) {
                double x = r->r[(size_t)k * (size_t)r->nv + (size_t)i];
                if (tribo_model_turns(m, i) == (kind == QUALITY_ROTATION) && !isnan(x)) square += x * x, n++;
            }
        if (isnan(sigma) || !n) continue;
        q->square[kind] += square, q->n[kind] += n;
        q->noise[kind] += sigma * sigma * (double)n;
        if (!isnan(c)) q->follow[kind] += c * (double)n, q->nfollow[kind] += n;
    }
}

void quality_settle(quality *q, double extent) {
    for (int kind = 0; kind < QUALITY_KINDS; kind++) {
        double n = (double)q->n[kind], least = 1e-6 * (kind ? 1 : extent); /* of motions that were computed */
        q->rms[kind] = n > 0 ? sqrt(q->square[kind] / n) : (double)NAN;
        q->sigma[kind] = n > 0 ? sqrt(q->noise[kind] / n) : (double)NAN;
        if (q->sigma[kind] < least) q->sigma[kind] = least;
        q->correlation[kind] = q->nfollow[kind] ? q->follow[kind] / (double)q->nfollow[kind] : (double)NAN;
    }
}

/* Do neighbours have more in common than chance leaves? docs/math.md eq. (530) */
static bool alike(const quality *q, int kind) {
    static const double surely = 0.3, least = 0.15, errors = 5;
    double c = q->correlation[kind];
    return c > surely || (c > least && c * sqrt((double)q->nfollow[kind]) > errors);
}

bool quality_good(const quality *q, char text[400]) {
    static const double large = 1.3; /* of the noise */
    bool bad = false;
    for (int kind = 0; kind < QUALITY_KINDS; kind++) {
        if (isnan(q->rms[kind])) continue;
        bad |= q->rms[kind] > large * q->sigma[kind] || (alike(q, kind) && q->rms[kind] > q->sigma[kind]);
    }
    if (!bad) return true;
    char off[2][48], noise[2][48], follow[2][16];
    for (int kind = 0; kind < QUALITY_KINDS; kind++) {
        double unit = kind == QUALITY_ROTATION ? degree : 1e3;
        const char *name = kind == QUALITY_ROTATION ? "degrees" : "mm", *and = kind && !isnan(q->rms[0]) ? " and " : "";
        off[kind][0] = noise[kind][0] = follow[kind][0] = '\0';
        if (isnan(q->rms[kind])) continue;
        snprintf(off[kind], sizeof off[kind], "%s%.2g %s", and, unit * q->rms[kind], name);
        snprintf(noise[kind], sizeof noise[kind], "%s%.2g %s", and, unit * q->sigma[kind], name);
        snprintf(follow[kind], sizeof follow[kind], "%s%.2f", and, q->correlation[kind]);
    }
    int wrote =
        snprintf(text, 400,
                 "the simulation does not explain the recordings to their noise: it is off by %s%s an "
                 "axis, rms, where neighbouring rows differ as by a noise of %s%s, and what is off goes on "
                 "from row to row (correlation %s%s): intervals hold for a model that is right, from a start that is "
                 "known",
                 off[0], off[1], noise[0], noise[1], follow[0], follow[1]);
    return wrote < 0;
}
