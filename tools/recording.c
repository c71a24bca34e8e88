/* recording.c -- see recording.h. */
#include "recording.h"
#include "residuals.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t recording_forces(const tribo_sizes *z) {
    return 3 * (size_t)(z->ngeom + z->nbody);
}

void recording_free(const tribo_recording *rec) {
    free((void *)(size_t)rec->time), free((void *)(size_t)rec->x), free((void *)(size_t)rec->u);
    free((void *)(size_t)rec->force), free((void *)(size_t)rec->marker);
}

bool recording_piece(const tribo_recording *rec, const tribo_sizes *z, int from, int n, tribo_recording *out) {
    size_t nx = (size_t)z->nx, nu = (size_t)z->nu, rows = (size_t)n, at = (size_t)from;
    size_t marks = 3 * (size_t)z->nsite;
    double *time = calloc(rows, sizeof *time), *x = calloc(rows * nx, sizeof *x),
           *u = rec->u ? calloc(rows * nu, sizeof *u) : NULL,
           *marker = rec->marker ? calloc(rows * marks, sizeof *marker) : NULL,
           *force = rec->force ? calloc(rows * recording_forces(z), sizeof *force) : NULL;
    *out = (tribo_recording){.n = n, .time = time, .x = x, .u = u, .marker = marker, .force = force};
    if (!time || !x || (rec->u && !u) || (rec->marker && !marker) || (rec->force && !force)) return false;
    if (force) memcpy(force, rec->force + at * recording_forces(z), rows * recording_forces(z) * sizeof *force);
    if (marker) memcpy(marker, rec->marker + at * marks, rows * marks * sizeof *marker);
    memcpy(time, rec->time + at, rows * sizeof *time);
    memcpy(x, rec->x + at * nx, rows * nx * sizeof *x);
    if (u) memcpy(u, rec->u + at * nu, rows * nu * sizeof *u);
    return true;
}

/* The row that is `late` rows after row k, if no time is lost between them; -1 = none. */
static int row_after(const tribo_recording *rec, int k, int late) {
    int to = k + late;
    double spacing = (rec->time[rec->n - 1] - rec->time[0]) / (rec->n - 1);
    if (to < 0 || to >= rec->n) return -1;
    return fabs(rec->time[to] - rec->time[k]) < (abs(late) + 0.5) * spacing ? to : -1;
}

/* Numbers of a row taken from another; none of row -1. */
static void take(const tribo_recording *from, int row, double *to, size_t nx, int at, int n) {
    for (int i = at; i < at + n; i++) to[i] = row < 0 ? (double)NAN : from->x[(size_t)row * nx + (size_t)i];
}

bool recording_catch_up(const tribo_recording *rec, const tribo_model *m, const int *behind, tribo_recording *out) {
    tribo_sizes z = tribo_model_sizes(m);
    size_t nx = (size_t)z.nx;
    int channels;
    channel *list = channels_of(m, &channels);
    bool good = recording_piece(rec, &z, 0, rec->n, out) && list;
    for (int i = 0; i < channels && good; i++) {
        const channel *c = list + i;
        for (int k = 0; k < rec->n && behind[c->v]; k++) {
            double *to = (double *)(size_t)out->x + (size_t)k * nx;
            int row = row_after(rec, k, behind[c->v]);
            take(rec, row, to, nx, c->quat < 0 ? c->q : c->quat, c->quat < 0 ? c->n : 4);
            take(rec, row, to, nx, z.nq + c->v, c->n);
        }
    }
    free(list);
    if (!good) recording_free(out), *out = (tribo_recording){0};
    return good;
}

static void swap(double *a, double *b) {
    double keep = *a;
    *a = *b, *b = keep;
}

bool recording_exchange(const tribo_recording *rec, const tribo_model *m, const int pair[2], tribo_recording *out) {
    tribo_sizes z = tribo_model_sizes(m);
    int channels;
    channel *list = channels_of(m, &channels);
    bool good = recording_piece(rec, &z, 0, rec->n, out) && list;
    for (int k = 0; k < rec->n && good; k++) {
        const channel *a = list + pair[0], *b = list + pair[1];
        double *x = (double *)(size_t)out->x + (size_t)k * (size_t)z.nx, *v = x + z.nq;
        swap(x + a->q, x + b->q), swap(v + a->v, v + b->v);
    }
    free(list);
    if (!good) recording_free(out), *out = (tribo_recording){0};
    return good;
}
