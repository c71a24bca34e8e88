/* unmodelled.c -- what a recording says by itself, without a model: its noise, and velocities. docs/math.md eq. (147).
 */
#include "sysid/kicked/kicked.h"
#include <stdlib.h>

enum { ORDER = 3, REACH = 3, FIT_ROWS = 2 * REACH + 1 };

/* The pose of a joint in a row, relative to that in another. */
static void relative(const tribo_sysid *s, const ti_track *t, int from, int row, const ti_joint *j,
                     double d[TI_POSE_TANGENT]) {
    size_t nx = (size_t)s->z.nx;
    ti_joint_difference(j, t->x + (size_t)from * nx, t->x + (size_t)row * nx, d);
}

static bool seen(const tribo_sysid *s, const ti_track *t, int row, int joint) {
    const bool *whole = t->seen + (size_t)row * (size_t)s->nblock;
    for (int b = 0; b < s->nblock; b++)
        if (s->block[b].joint == joint && s->block[b].kind <= TRIBO_BLOCK_ROTATION && !whole[b]) return false;
    return true;
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

/* What differences are of: a block, or where it is NULL a site that was seen, or a plate. */
typedef struct series {
    const ti_block *block;
    int site, plate, numbers; /* of site and plate one is -1 */
} series;

/* Three numbers of a row that are in no state; NULL = not measured. */
static const double *three(const tribo_sysid *s, const ti_track *t, int row, const series *of) {
    return of->site >= 0 ? ti_marker_seen(s, t, row, of->site) : ti_plate_seen(s, t, row, of->plate);
}

static bool told(const tribo_sysid *s, const ti_track *t, int row, const series *of) {
    return of->block ? seen(s, t, row, of->block->joint) : three(s, t, row, of) != NULL;
}

/* The numbers of a row, less those of row `from`. */
static void change(const tribo_sysid *s, const ti_track *t, int from, int row, const series *of, double *y) {
    if (of->block) {
        const ti_joint *joint = &s->m->joint[of->block->joint];
        double d[TI_POSE_TANGENT];
        relative(s, t, from, row, joint, d);
        memcpy(y, d + of->block->at - joint->v, (size_t)of->numbers * sizeof *y);
        return;
    }
    const double *a = three(s, t, from, of), *b = three(s, t, row, of);
    for (int j = 0; j < of->numbers; j++) y[j] = b[j] - a[j];
}

/* Differences of one series in one recording, appended to list. @return how many there are now. */
static size_t differences(const tribo_sysid *s, const ti_track *t, const series *of, double *list, size_t n) {
    int row[ORDER + 1], have = 0;
    for (int k = 0; k < t->n; k++) {
        if (!told(s, t, k, of)) continue;
        if (have == ORDER + 1) {
            for (int i = 0; i < ORDER; i++) row[i] = row[i + 1];
            have--;
        }
        row[have++] = k;
        if (have <= ORDER) continue;
        double time[ORDER + 1], c[ORDER + 1], sum[3] = {0}, square = 0;
        for (int i = 0; i <= ORDER; i++) time[i] = t->time[row[i]];
        difference_weights(time, c);
        for (int i = 0; i <= ORDER; i++) {
            double y[3];
            change(s, t, row[1], row[i], of, y);
            for (int j = 0; j < of->numbers; j++) sum[j] += c[i] * y[j];
        }
        for (int j = 0; j < of->numbers; j++) square += sum[j] * sum[j];
        list[n++] = sqrt(square);
    }
    return n;
}

/* All differences of a group in s->norms. @return how many; of how many numbers each is. */
static size_t gather(const tribo_sysid *s, int group, int *of) {
    size_t n = 0;
    *of = 3;
    for (int i = 0; i < s->nrec; i++) {
        const ti_track *t = s->track + i;
        if (t->held_out) continue;
        for (int b = 0; b < s->nblock; b++) {
            series one = {&s->block[b], -1, -1, s->block[b].n};
            if (s->block[b].group == group) n = differences(s, t, &one, s->norms, n), *of = one.numbers;
        }
        for (int site = 0; site < s->z.nsite && group == s->mark_group; site++)
            n = differences(s, t, &(series){NULL, site, -1, 3}, s->norms, n);
        for (int plate = 0; plate < s->nplate && group == s->plate_group; plate++)
            n = differences(s, t, &(series){NULL, -1, plate, 3}, s->norms, n);
    }
    return n;
}

void ti_noise_guess(tribo_sysid *s, double *noise) {
    static const double median_norm[] = {0, 0.67449, 1.17741, 1.5382}; /* of so many normal numbers */
    for (int group = 0; group < s->ngroup; group++) {
        int numbers = 3;
        size_t n = ti_group_kind(s, group) <= TRIBO_BLOCK_ROTATION ? gather(s, group, &numbers) : 0;
        noise[group] = 0;
        if (n < 4) continue;
        qsort(s->norms, n, sizeof *s->norms, ti_ascending);
        noise[group] = s->norms[n / 2] / median_norm[numbers];
    }
}

/* ---- a parabola through neighbours ---- */

/* Least squares of a joint's numbers by 1, tau, tau^2 over rows. @return rms over all in units of noise. */
static double parabola(const tribo_sysid *s, const ti_track *t, int row, int joint, const int *rows, int n,
                       double coefficient[3][TI_POSE_TANGENT], double spread[TI_POSE_TANGENT]) {
    const ti_joint *of = &s->m->joint[joint];
    const int m = ti_joint_of(of->kind)->nv;
    double A[9] = {0}, B[3 * TI_POSE_TANGENT] = {0}, y[FIT_ROWS][TI_POSE_TANGENT], scale = 0, square = 0;
    for (int i = 0; i < n; i++) scale = ti_max(scale, fabs(t->time[rows[i]] - t->time[row]));
    for (int i = 0; i < n; i++) {
        double tau = (t->time[rows[i]] - t->time[row]) / scale, power[3] = {1, tau, tau * tau};
        relative(s, t, row, rows[i], of, y[i]);
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b < 3; b++) A[3 * a + b] += power[a] * power[b];
            for (int j = 0; j < m; j++) B[a * m + j] += power[a] * y[i][j];
        }
    }
    double inverse[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, copy[9];
    memcpy(copy, A, sizeof copy);
    if (!ti_spd_solve(3, copy, 3, inverse) || !ti_spd_solve(3, A, m, B)) return -1;
    for (int j = 0; j < m; j++) {
        double noise = s->shooting->noise[s->block[s->entry[of->v + j]].group];
        for (int i = 0; i < n; i++) {
            double tau = (t->time[rows[i]] - t->time[row]) / scale;
            double r = (y[i][j] - B[j] - tau * (B[m + j] + tau * B[2 * m + j])) / noise;
            square += r * r;
        }
        coefficient[0][j] = B[j], coefficient[1][j] = B[m + j] / scale, coefficient[2][j] = B[2 * m + j];
        spread[j] = sqrt(inverse[4]) / scale * noise;
    }
    return sqrt(square / m / (n > 3 ? n - 3 : 1));
}

double ti_local_fit(const tribo_sysid *s, const ti_track *t, int row, int joint, double pose[TI_POSE_TANGENT],
                    double v[TI_POSE_TANGENT], double spread[TI_POSE_TANGENT]) {
    double best = -1;
    for (int side = 0; side < 2; side++) { /* around the row; only where that breaks, behind it */
        int rows[FIT_ROWS], n = 0, before = side ? 0 : REACH, most = side ? FIT_ROWS - 1 : FIT_ROWS;
        double coefficient[3][TI_POSE_TANGENT] = {{0}}, wide[TI_POSE_TANGENT] = {0};
        int k = row;
        for (int back = 0; back < before && k > t->first;) back += seen(s, t, --k, joint);
        for (; k < t->n && n < most; k++)
            if (seen(s, t, k, joint)) rows[n++] = k;
        if (n < 4) continue;
        double rms = parabola(s, t, row, joint, rows, n, coefficient, wide);
        if (rms < 0 || (side && best >= 0 && (best < 2.5 || rms > 0.5 * best))) continue;
        best = rms;
        memcpy(pose, coefficient[0], sizeof coefficient[0]);
        memcpy(v, coefficient[1], sizeof coefficient[1]);
        memcpy(spread, wide, sizeof wide);
    }
    return best;
}
