/* unmodelled.c -- what a recording says by itself, without a model: its noise, and velocities. docs/math.md eq. (147).
 */
#include "sysid/kicked/kicked.h"
#include <stdlib.h>

enum { ORDER = 3, REACH = 3, FIT_ROWS = 2 * REACH + 1 };

/* The pose of a body in a row, relative to that in another: displacement and rotation vector. */
static void relative(const tribo_sysid *s, const ti_track *t, int from, int row, int body, double d[TI_POSE_TANGENT]) {
    size_t nx = (size_t)s->z.nx;
    ti_body_difference(body, t->x + (size_t)from * nx, t->x + (size_t)row * nx, d);
}

static bool seen(const tribo_sysid *s, const ti_track *t, int row, int body) {
    const bool *whole = t->seen + ((size_t)row * (size_t)s->z.nbody + (size_t)body) * TRIBO_BLOCKS;
    return whole[TRIBO_BLOCK_POSITION] && whole[TRIBO_BLOCK_ROTATION];
}

/* Weights of the divided difference of third order at four times, so that noise of variance 1 gives variance 1. */
static void difference_weights(const double *time, double c[ORDER + 1]) {
    double sum = 0;
    for (int i = 0; i <= ORDER; i++) {
        c[i] = 1;
        for (int j = 0; j <= ORDER; j++)
            if (j != i) c[i] /= (time[i] - time[j]) / (time[ORDER] - time[0]);
        sum += c[i] * c[i];
    }
    for (int i = 0; i <= ORDER; i++) c[i] /= sqrt(sum);
}

/* Differences of one body in one recording, appended to list. @return how many there are now. */
static size_t differences(const tribo_sysid *s, const ti_track *t, int body, int kind, double *list, size_t n) {
    int row[ORDER + 1], have = 0;
    for (int k = 0; k < t->n; k++) {
        if (!seen(s, t, k, body)) continue;
        if (have == ORDER + 1) {
            for (int i = 0; i < ORDER; i++) row[i] = row[i + 1];
            have--;
        }
        row[have++] = k;
        if (have <= ORDER) continue;
        double time[ORDER + 1], c[ORDER + 1], sum[3] = {0};
        for (int i = 0; i <= ORDER; i++) time[i] = t->time[row[i]];
        difference_weights(time, c);
        for (int i = 0; i <= ORDER; i++) {
            double d[6];
            relative(s, t, row[1], row[i], body, d);
            for (int j = 0; j < 3; j++) sum[j] += c[i] * d[(kind == TRIBO_BLOCK_ROTATION ? 3 : 0) + j];
        }
        list[n++] = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    }
    return n;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void ti_noise_guess(tribo_sysid *s, double noise[TRIBO_BLOCKS]) {
    const double median_norm = 1.5382; /* of three normal numbers */
    for (int kind = 0; kind < TRIBO_BLOCKS; kind++) {
        size_t n = 0;
        noise[kind] = 0;
        for (int i = 0; i < s->nrec && kind <= TRIBO_BLOCK_ROTATION; i++)
            for (int b = 0; b < s->z.nbody; b++)
                if (!s->track[i].held_out) n = differences(s, s->track + i, b, kind, s->norms, n);
        if (n < 4) continue;
        qsort(s->norms, n, sizeof *s->norms, ascending);
        noise[kind] = s->norms[n / 2] / median_norm;
    }
}

/* ---- a parabola through neighbours ---- */

/* Least squares of six numbers by 1, tau, tau^2 over rows. @return rms over both kinds in units of noise. */
static double parabola(const tribo_sysid *s, const ti_track *t, int row, int body, const int *rows, int n,
                       double coefficient[3][6], double spread[2]) {
    double A[9] = {0}, B[3][TI_POSE_TANGENT] = {{0}}, y[FIT_ROWS][TI_POSE_TANGENT], scale = 0, square = 0;
    for (int i = 0; i < n; i++) scale = ti_max(scale, fabs(t->time[rows[i]] - t->time[row]));
    for (int i = 0; i < n; i++) {
        double tau = (t->time[rows[i]] - t->time[row]) / scale, power[3] = {1, tau, tau * tau};
        relative(s, t, row, rows[i], body, y[i]);
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b < 3; b++) A[3 * a + b] += power[a] * power[b];
            for (int j = 0; j < 6; j++) B[a][j] += power[a] * y[i][j];
        }
    }
    double inverse[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, copy[9];
    memcpy(copy, A, sizeof copy);
    if (!ti_spd_solve(3, copy, 3, inverse) || !ti_spd_solve(3, A, TI_POSE_TANGENT, &B[0][0])) return -1;
    for (int i = 0; i < n; i++) {
        double tau = (t->time[rows[i]] - t->time[row]) / scale;
        for (int j = 0; j < 6; j++) {
            double r = (y[i][j] - B[0][j] - tau * (B[1][j] + tau * B[2][j])) / s->shooting->noise[j / 3];
            square += r * r;
        }
    }
    for (int j = 0; j < 6; j++)
        coefficient[0][j] = B[0][j], coefficient[1][j] = B[1][j] / scale, coefficient[2][j] = B[2][j];
    for (int kind = 0; kind < 2; kind++) spread[kind] = sqrt(inverse[4]) / scale * s->shooting->noise[kind];
    return sqrt(square / TI_POSE_TANGENT / (n > 3 ? n - 3 : 1));
}

double ti_local_fit(const tribo_sysid *s, const ti_track *t, int row, int body, double pose[6], double v[6],
                    double spread[2]) {
    double best = -1;
    for (int side = 0; side < 2; side++) { /* around the row; only where that breaks, behind it */
        int rows[FIT_ROWS], n = 0, before = side ? 0 : REACH, most = side ? FIT_ROWS - 1 : FIT_ROWS;
        double coefficient[3][6], wide[2];
        int k = row;
        for (int back = 0; back < before && k > t->first;) back += seen(s, t, --k, body);
        for (; k < t->n && n < most; k++)
            if (seen(s, t, k, body)) rows[n++] = k;
        if (n < 4) continue;
        double rms = parabola(s, t, row, body, rows, n, coefficient, wide);
        if (rms < 0 || (side && best >= 0 && (best < 2.5 || rms > 0.5 * best))) continue;
        best = rms;
        memcpy(pose, coefficient[0], sizeof coefficient[0]);
        memcpy(v, coefficient[1], sizeof coefficient[1]);
        memcpy(spread, wide, sizeof wide);
    }
    return best;
}
