/* residual.c -- simulated minus measured, on the tangent of the state; robust weighting of its blocks.
 * docs/math.md eq. (66). */
#include "math/vec.h"
#include "sysid/track/fit.h"

int ti_block_at(const tribo_sysid *s, int body, int kind) {
    return 6 * body + (kind & 1 ? 3 : 0) + (kind >= TRIBO_BLOCK_VELOCITY ? s->z.nv : 0);
}

int ti_kind_at(const tribo_sysid *s, int i) {
    return (i >= s->z.nv ? TRIBO_BLOCK_VELOCITY : TRIBO_BLOCK_POSITION) + (i % 6 >= 3);
}

int ti_body_at(int i) {
    return i / 6;
}

void ti_body_difference(int body, const double *x, const double *y, double d[TI_POSE_TANGENT]) {
    const double *a = x + 7 * body, *b = y + 7 * body;
    double inverse[4] = {a[3], -a[4], -a[5], -a[6]}, turn[4];
    for (int i = 0; i < 3; i++) d[i] = b[i] - a[i];
    ti_quat_mul(inverse, b + 3, turn);
    ti_store3(d + 3, ti_quat_log(turn));
}

void ti_body_move(int body, const double d[TI_POSE_TANGENT], double *x) {
    double *a = x + 7 * body, q[4], turn[4];
    for (int i = 0; i < 3; i++) a[i] += d[i];
    memcpy(q, a + 3, sizeof q);
    ti_quat_exp(ti_load3(d + 3), turn);
    ti_quat_mul(q, turn, a + 3);
}

double *ti_body_velocity(const tribo_sysid *s, int body, double *x) {
    return x + s->z.nq + ti_block_at(s, body, TRIBO_BLOCK_POSITION);
}

void ti_retract(const tribo_sysid *s, const double *x, const double *dx, double *out) {
    int nq = s->z.nq, nv = s->z.nv;
    for (int b = 0; b < s->z.nbody; b++) {
        double turn[4];
        for (int i = 0; i < 3; i++) out[7 * b + i] = x[7 * b + i] + dx[6 * b + i];
        ti_quat_exp(ti_load3(dx + 6 * b + 3), turn);
        ti_quat_mul(x + 7 * b + 3, turn, out + 7 * b + 3);
    }
    for (int i = 0; i < nv; i++) out[nq + i] = x[nq + i] + dx[nv + i];
}

/* The rotation vector from a to b, in the frame of a. */
static ti_vec turn_between(const double *a, const double *b) {
    double inverse[4] = {a[0], -a[1], -a[2], -a[3]}, d[4];
    ti_quat_mul(inverse, b, d);
    return ti_quat_log(d);
}

void ti_residual(const tribo_sysid *s, const ti_track *t, int row, const double *x, double *r) {
    const double *y = t->x + (size_t)row * (size_t)s->z.nx, *w = t->w + (size_t)row * (size_t)s->z.ndx;
    int nq = s->z.nq, nv = s->z.nv;
    for (int b = 0; b < s->z.nbody; b++) {
        for (int i = 0; i < 3; i++) r[6 * b + i] = x[7 * b + i] - y[7 * b + i];
        ti_store3(r + 6 * b + 3, turn_between(y + 7 * b + 3, x + 7 * b + 3));
    }
    for (int i = 0; i < nv; i++) r[nv + i] = x[nq + i] - y[nq + i];
    for (int i = 0; i < s->z.ndx; i++) r[i] *= w[i];
}

/* d log(a^-1 b exp(d)) / dd = 1 + [r]/2 + k [r]^2, the inverse right Jacobian of the rotation group at r. */
void ti_residual_rot(const tribo_sysid *s, const ti_track *t, int row, const double *x, int body, double D[3][3]) {
    ti_vec r = turn_between(t->x + (size_t)row * (size_t)s->z.nx + 7 * body + 3, x + 7 * body + 3);
    double q = ti_dot(r, r), a = sqrt(q);
    double k = a < 1e-3 ? 1. / 12 + q / 720 : 1 / q - 1 / (2 * a * tan(a / 2));
    double v[3] = {r.x, r.y, r.z}, X[3][3] = {{0, -r.z, r.y}, {r.z, 0, -r.x}, {-r.y, r.x, 0}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) D[i][j] = (i == j) + X[i][j] / 2 + k * (v[i] * v[j] - (i == j ? q : 0));
}

double ti_rho(const tribo_sysid *s, int kind, double square, double *slope) {
    double c = s->threshold[kind], size = sqrt(square);
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

bool ti_measured_block(const tribo_sysid *s, const ti_track *t, int row, const double *x, const double *r, int body,
                       int kind, ti_measured *m) {
    int at = ti_block_at(s, body, kind);
    const double *own = r + at, *wt = t->w + (size_t)row * (size_t)s->z.ndx + at;
    if (!(wt[0] > 0 || wt[1] > 0 || wt[2] > 0)) return false;
    double D[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    *m = (ti_measured){.at = at, .r = own, .wt = wt};
    m->square = own[0] * own[0] + own[1] * own[1] + own[2] * own[2];
    ti_rho(s, kind, m->square, &m->slope);
    if (kind == TRIBO_BLOCK_ROTATION) ti_residual_rot(s, t, row, x, body, D);
    memcpy(m->D, D, sizeof D);
    return true;
}
