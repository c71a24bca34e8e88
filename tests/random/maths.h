/* maths.h -- vectors, quaternions and random numbers of the random scenes: their own, so that they can judge the
 * library's. Quaternions are w x y z, matrices row-major. */
#ifndef RANDOM_MATHS_H
#define RANDOM_MATHS_H
#include <math.h>
#include <stdint.h>
#include <string.h>

/* ---- vectors ---- */

static inline double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline double length(const double a[3]) {
    return sqrt(dot(a, a));
}
static inline void copy3(double to[3], const double from[3]) {
    for (int i = 0; i < 3; i++) to[i] = from[i];
}
static inline void copy4(double to[4], const double from[4]) {
    for (int i = 0; i < 4; i++) to[i] = from[i];
}
static inline void sub(double out[3], const double a[3], const double b[3]) {
    for (int i = 0; i < 3; i++) out[i] = a[i] - b[i];
}
/* out = a + s b */
static inline void add_scaled(double out[3], const double a[3], double s, const double b[3]) {
    for (int i = 0; i < 3; i++) out[i] = a[i] + s * b[i];
}
static inline void cross(double out[3], const double a[3], const double b[3]) {
    double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    copy3(out, c);
}
static inline double larger(double a, double b) {
    return a > b ? a : b;
}
static inline double smaller(double a, double b) {
    return a < b ? a : b;
}

/* ---- matrices ---- */

static inline void times(double out[3], const double A[9], const double x[3]) {
    double y[3] = {dot(A, x), dot(A + 3, x), dot(A + 6, x)};
    copy3(out, y);
}
static inline void times_transposed(double out[3], const double A[9], const double x[3]) {
    double y[3];
    for (int i = 0; i < 3; i++) y[i] = A[i] * x[0] + A[3 + i] * x[1] + A[6 + i] * x[2];
    copy3(out, y);
}
static inline void column(double out[3], const double A[9], int j) {
    for (int i = 0; i < 3; i++) out[i] = A[3 * i + j];
}
/* From xx yy zz xy xz yz. */
static inline void symmetric(double A[9], const double s[6]) {
    double full[9] = {s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2]};
    memcpy(A, full, sizeof full);
}
/* s = R A R' of a symmetric A, both as xx yy zz xy xz yz. */
static inline void turn_symmetric(double out[6], const double R[9], const double s[6]) {
    double A[9], B[9], C[9];
    symmetric(A, s);
    for (int i = 0; i < 3; i++) times(B + 3 * i, A, R + 3 * i); /* rows of R A, A being symmetric */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] = dot(B + 3 * i, R + 3 * j);
    double packed[6] = {C[0], C[4], C[8], C[1], C[2], C[5]};
    memcpy(out, packed, sizeof packed);
}
/* x = A^-1 b by Cramer's rule. */
static inline void solve3(double x[3], const double A[9], const double b[3]) {
    double c0[3], c1[3], c2[3], u[3], y[3];
    column(c0, A, 0), column(c1, A, 1), column(c2, A, 2);
    cross(u, c1, c2);
    double det = dot(c0, u);
    y[0] = dot(b, u) / det;
    cross(u, c2, c0), y[1] = dot(b, u) / det;
    cross(u, c0, c1), y[2] = dot(b, u) / det;
    copy3(x, y);
}

/* ---- quaternions ---- */

static inline void quat_times(double out[4], const double a[4], const double b[4]) {
    double c[4] = {
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
    copy4(out, c);
}
static inline void quat_conjugate(double out[4], const double q[4]) {
    out[0] = q[0];
    for (int i = 1; i < 4; i++) out[i] = -q[i];
}
static inline void quat_normalise(double q[4]) {
    double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) q[i] /= n;
}
static inline void quat_matrix(double R[9], const double q[4]) {
    double w = q[0], x = q[1], y = q[2], z = q[3];
    double M[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                   2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                   2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(R, M, sizeof M);
}
static inline void quat_turn(double out[3], const double q[4], const double x[3]) {
    double R[9];
    quat_matrix(R, q);
    times(out, R, x);
}
/* Rotation vector to quaternion. */
static inline void quat_exp(double q[4], const double r[3]) {
    double a = length(r), s = a > 1e-8 ? sin(a / 2) / a : 0.5 - a * a / 48;
    q[0] = cos(a / 2);
    for (int i = 0; i < 3; i++) q[i + 1] = s * r[i];
}
/* And back, the short way. */
static inline void quat_log(double r[3], const double q[4]) {
    double sign = q[0] < 0 ? -1 : 1, s = length(q + 1), a = 2 * atan2(s, sign * q[0]);
    for (int i = 0; i < 3; i++) r[i] = sign * q[i + 1] * (s > 1e-12 ? a / s : 2);
}

/* ---- random numbers: splitmix64 ---- */

typedef struct dice {
    uint64_t state;
} dice;

static inline uint64_t dice_bits(dice *d) {
    uint64_t z = d->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
static inline double dice_between(dice *d, double low, double high) {
    return low + (high - low) * (double)(dice_bits(d) >> 11) / 9007199254740992.0;
}
static inline int dice_below(dice *d, int n) {
    return (int)(dice_bits(d) % (uint64_t)n);
}
static inline int dice_chance(dice *d, double p) {
    return dice_between(d, 0, 1) < p;
}
/* 10^low to 10^high, every decade as likely. */
static inline double dice_decades(dice *d, double low, double high) {
    return pow(10, dice_between(d, low, high));
}
static inline double dice_normal(dice *d) {
    double u = dice_between(d, 1e-300, 1), v = dice_between(d, 0, 6.283185307179586);
    return sqrt(-2 * log(u)) * cos(v);
}
static inline void dice_vector(dice *d, double out[3], double scale) {
    for (int i = 0; i < 3; i++) out[i] = scale * dice_normal(d);
}
static inline void dice_quat(dice *d, double q[4]) {
    for (int i = 0; i < 4; i++) q[i] = dice_normal(d);
    quat_normalise(q);
}

#endif
