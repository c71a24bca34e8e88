/* residuals.c -- see residuals.h. */
#include "residuals.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double degree = 57.29577951308232;

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

/* Displacements and turns from one state to another, a body's six after the other: NaN where either has none. */
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
    *out = (residuals){.n = rec->n, .nbody = z.nbody};
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

static const double *block(const residuals *r, int row, int body, int kind) {
    return r->r + (size_t)(row * r->nbody + body) * 2 * 3 + 3 * kind;
}

double residuals_correlation(const residuals *r, int kind, int lag) {
    double product = 0, square = 0;
    long pairs = 0, all = 0;
    for (int k = 0; k < r->n; k++)
        for (int b = 0; b < r->nbody; b++)
            for (int i = 0; i < 3; i++) {
                double x = block(r, k, b, kind)[i], y = k + lag < r->n ? block(r, k + lag, b, kind)[i] : (double)NAN;
                if (!isnan(x)) square += x * x, all++;
                if (!isnan(x) && !isnan(y)) product += x * y, pairs++;
            }
    return pairs && square > 0 ? product / (double)pairs / (square / (double)all) : (double)NAN;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The third difference of a smooth motion is noise, twenty times its variance; the median passes over impacts. That of
 * the length of three of them is 1.538 standard deviations of one. */
double noise_of_rows(const tribo_model *m, const tribo_recording *rec, int kind) {
    tribo_sizes z = tribo_model_sizes(m);
    size_t nx = (size_t)z.nx, n = 0, room = (size_t)rec->n * (size_t)z.nbody;
    double *length = calloc(room + 1, sizeof *length), sigma = (double)NAN;
    double *scratch = calloc(2 * nx + 3 * (size_t)z.ndx, sizeof *scratch);
    for (int k = 0; length && scratch && k + 3 < rec->n; k++) {
        double h = rec->time[k + 1] - rec->time[k], *d = scratch + 2 * nx;
        bool even = true;
        for (int j = 0; j < 3; j++) {
            double other = rec->time[k + j + 1] - rec->time[k + j];
            even &= fabs(other - h) < 0.1 * h;
            const double *row = rec->x + (size_t)(k + j) * nx;
            between(m, row, row + nx, scratch, d + j * z.ndx);
        }
        for (int b = 0; b < z.nbody && even; b++) {
            double square = 0;
            for (int i = 0; i < 3; i++) {
                const double *at = d + 2 * 3 * b + 3 * kind + i;
                double third = at[2 * z.ndx] - 2 * at[z.ndx] + at[0];
                square += third * third;
            }
            if (!isnan(square)) length[n++] = sqrt(square);
        }
    }
    if (n > 8) {
        qsort(length, n, sizeof *length, ascending);
        sigma = length[n / 2] / 1.538 / sqrt(20);
    }
    free(length);
    free(scratch);
    return sigma;
}

void quality_add(quality *q, const residuals *r, const tribo_model *m, const tribo_recording *rec) {
    q->recordings++;
    for (int kind = 0; kind < QUALITY_KINDS; kind++) {
        double sigma = noise_of_rows(m, rec, kind), c = residuals_correlation(r, kind, 1), square = 0;
        long n = 0;
        for (int k = 0; k < r->n; k++)
            for (int b = 0; b < r->nbody; b++)
                for (int i = 0; i < 3; i++) {
                    double x = block(r, k, b, kind)[i];
                    if (!isnan(x)) square += x * x, n++;
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

bool quality_good(const quality *q, char text[400]) {
    static const double large = 1.3, alike = 0.3; /* of the noise; of neighbours that are independent */
    bool bad = false;
    for (int kind = 0; kind < QUALITY_KINDS; kind++) {
        if (isnan(q->rms[kind])) continue;
        bad |= q->rms[kind] > large * q->sigma[kind] || (q->correlation[kind] > alike && q->rms[kind] > q->sigma[kind]);
    }
    if (!bad) return true;
    snprintf(
        text, 400,
        "the simulation does not explain the recordings to their noise: it is off by %.2g mm and %.2g degrees an "
        "axis, rms, where neighbouring rows differ as by a noise of %.2g mm and %.2g degrees, and what is off goes on "
        "from row to row (correlation %.2f and %.2f): intervals hold for a model that is right, from a start that is "
        "known",
        1e3 * q->rms[0], degree * q->rms[1], 1e3 * q->sigma[0], degree * q->sigma[1], q->correlation[0],
        q->correlation[1]);
    return false;
}
