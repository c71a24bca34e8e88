/* rows.c -- see rows.h. */
#include "recording/rows.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void ti_found(tribo_checked *c, tribo_convention about, tribo_outcome outcome, int body, int row, double number,
              const char *format, ...) {
    va_list args;
    if (c->nfound == TI_FINDINGS_MAX) return;
    tribo_finding *f = &c->found[c->nfound++];
    *f = (tribo_finding){.about = about, .outcome = outcome, .body = body, .row = row, .number = number};
    va_start(args, format);
    vsnprintf(f->text, sizeof f->text, format, args);
    va_end(args);
}

double ti_median(double *values, size_t n) {
    qsort(values, n, sizeof *values, ti_ascending);
    return n ? values[n / 2] : (double)NAN;
}

void ti_turn(const double *a, const double *b, double *r) {
    double inverse[4] = {a[0], -a[1], -a[2], -a[3]}, d[4];
    ti_quat_mul(inverse, b, d);
    ti_store3(r, ti_quat_log(d));
}

void ti_scale_times(tribo_checked *c, double factor, const char *what) {
    for (int k = 0; k < c->n; k++) c->time[k] *= factor;
    c->spacing *= factor;
    ti_found(c, TRIBO_CONVENTION_TIME, TRIBO_OUTCOME_MENDED, -1, -1, factor,
             "times are in %s: the velocity columns say how fast %s; taken as seconds times %g",
             factor > 1e-4   ? "milliseconds"
             : factor > 1e-7 ? "microseconds"
                             : "nanoseconds",
             what, 1 / factor);
}

/* Spread of one row: the third difference of a motion is noise but at impacts, which the median passes over. */
static double noise_of(tribo_checked *c) {
    size_t n = 0;
    for (int b = 0; b < c->z.nbody; b++)
        for (int k = 0; k + 3 < c->n && n < (size_t)c->n * 3; k++) {
            if (c->m->body[b].free < 0) continue;
            if (!c->posed[k * c->z.nbody + b] || !c->posed[(k + 1) * c->z.nbody + b]) continue;
            if (!c->posed[(k + 2) * c->z.nbody + b] || !c->posed[(k + 3) * c->z.nbody + b]) continue;
            double square = 0;
            for (int i = 0; i < 3; i++) {
                double d = ti_pose(c, c->x, k + 3, b)[i] - 3 * ti_pose(c, c->x, k + 2, b)[i] +
                           3 * ti_pose(c, c->x, k + 1, b)[i] - ti_pose(c, c->x, k, b)[i];
                square += d * d;
            }
            c->rate[n++] = sqrt(square / 20 / 3);
        }
    for (int i = 0; i < c->z.njoint; i++) /* a turn at half the extent */
        for (int k = 0; k + 3 < c->n && ti_is_axis(&c->m->joint[i]) && n < (size_t)c->n * 3; k++) {
            const ti_joint *j = &c->m->joint[i];
            const double *q = c->x + (size_t)k * (size_t)c->z.nx + j->q;
            double d = q[3 * c->z.nx] - 3 * q[2 * c->z.nx] + 3 * q[c->z.nx] - q[0];
            if (!isnan(d))
                c->rate[n++] = fabs(d) / sqrt(20) / 0.67449 * (j->kind == TI_JOINT_HINGE ? c->extent / 2 : 1);
        }
    return n ? ti_median(c->rate, n) : 0;
}

void ti_survey(tribo_checked *c) {
    for (int k = 0; k < c->n; k++)
        for (int b = 0; b < c->z.nbody; b++) {
            bool whole = true;
            for (int i = 0; i < TI_FREE_NQ && c->m->body[b].free >= 0; i++) whole &= !isnan(ti_pose(c, c->x, k, b)[i]);
            c->posed[k * c->z.nbody + b] = whole;
        }
    for (int k = 0; k + 1 < c->n; k++) c->rate[k] = c->time[k + 1] - c->time[k];
    c->spacing = ti_median(c->rate, (size_t)c->n - 1);
    c->noise = noise_of(c);
}
