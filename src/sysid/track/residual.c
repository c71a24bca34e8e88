/* residual.c -- simulated minus measured, on the tangent of the state; robust weighting of its blocks.
 * docs/math.md eq. (66). */
#include "math/vec.h"
#include "sysid/track/fit.h"

void ti_joint_difference(const ti_joint *j, const double *x, const double *y, double d[TI_POSE_TANGENT]) {
    ti_joint_of(j->kind)->difference(x + j->q, y + j->q, d);
}

void ti_joint_move(const ti_joint *j, const double d[TI_POSE_TANGENT], double *x) {
    ti_joint_of(j->kind)->add(x + j->q, d, x + j->q);
}

void ti_residual(const tribo_sysid *s, const ti_track *t, int row, const double *x, double *r) {
    const double *y = t->x + (size_t)row * (size_t)s->z.nx, *w = t->w + (size_t)row * (size_t)s->z.ndx;
    tribo_state_difference(s->m, y, x, r);
    for (int i = 0; i < s->z.ndx; i++) r[i] *= w[i] * (s->ncolumn ? s->gain[i] : 1);
}

/* d log(a^-1 b exp(d)) / dd */
static void rotation_slope(const double *a, const double *b, double D[3][3]) {
    double inverse[4] = {a[0], -a[1], -a[2], -a[3]}, d[4];
    ti_quat_mul(inverse, b, d);
    ti_mat slope = ti_log_right(ti_quat_log(d));
    memcpy(D, slope.m, sizeof slope.m);
}

void ti_residual_slope(const tribo_sysid *s, const ti_track *t, int row, const double *x, const ti_block *b,
                       double D[3][3]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) D[i][j] = i != j ? 0 : s->ncolumn && i < b->n ? s->gain[b->at + i] : 1;
    if (b->quat >= 0) rotation_slope(t->x + (size_t)row * (size_t)s->z.nx + b->quat, x + b->quat, D);
}

double ti_rho(const tribo_sysid *s, int group, double square, double *slope) {
    double c = s->threshold[group], size = sqrt(square);
    *slope = 1;
    if (s->robust == TRIBO_ROBUST_NONE || !(c > 0)) return square;
    if (s->robust == TRIBO_ROBUST_CAUCHY) {
        *slope = 1 / (1 + square / (c * c));
        return c * c * log1p(square / (c * c));
    }
    if (size <= c) return square;
    *slope = c / size;
    return 2 * c * size - c * c;
}

bool ti_block_counts(const ti_block *b, const double *row) {
    bool any = false;
    for (int i = b->at; i < b->at + b->n; i++) any |= row[i] > 0;
    return any;
}

bool ti_measured_block(const tribo_sysid *s, const ti_track *t, int row, const double *x, const double *r,
                       const ti_block *b, ti_measured *m) {
    const double *wt = t->w + (size_t)row * (size_t)s->z.ndx;
    if (!ti_block_counts(b, wt)) return false;
    *m = (ti_measured){.at = b->at, .n = b->n, .r = r + b->at, .wt = wt + b->at};
    for (int i = 0; i < b->n; i++) m->square += m->r[i] * m->r[i];
    ti_rho(s, b->group, m->square, &m->slope);
    ti_residual_slope(s, t, row, x, b, m->D);
    return true;
}

void ti_measured_jac(ti_worker *w, const ti_measured *m, int nd) {
    size_t ndx = (size_t)w->s->z.ndx;
    for (int d = 0; d < nd; d++) {
        const double *v = w->xd + (size_t)d * ndx + m->at;
        for (int i = 0; i < m->n; i++) {
            double sum = 0;
            for (int k = 0; k < m->n; k++) sum += m->D[i][k] * v[k];
            w->wj[i * nd + d] = m->wt[i] * sum;
        }
    }
}
