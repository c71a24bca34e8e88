/* vec.h -- vectors of three, rotation matrices and unit quaternions; all inline, no branches where none are needed. */
#ifndef TI_VEC_H
#define TI_VEC_H
#include <math.h>

typedef struct ti_vec {
    double x, y, z;
} ti_vec;
/* Row-major; for a rotation, columns are the body axes in the world. */
typedef struct ti_mat {
    double m[3][3];
} ti_mat;

static inline ti_vec ti_vec3(double x, double y, double z) {
    return (ti_vec){x, y, z};
}
static inline ti_vec ti_load3(const double *a) {
    return (ti_vec){a[0], a[1], a[2]};
}
static inline void ti_store3(double *a, ti_vec v) {
    a[0] = v.x, a[1] = v.y, a[2] = v.z;
}
static inline void ti_add3(double *a, ti_vec v) {
    a[0] += v.x, a[1] += v.y, a[2] += v.z;
}
static inline ti_vec ti_add(ti_vec a, ti_vec b) {
    return (ti_vec){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline ti_vec ti_sub(ti_vec a, ti_vec b) {
    return (ti_vec){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline ti_vec ti_scale(double s, ti_vec a) {
    return (ti_vec){s * a.x, s * a.y, s * a.z};
}
/* a + s b */
static inline ti_vec ti_axpy(ti_vec a, double s, ti_vec b) {
    return (ti_vec){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline double ti_dot(ti_vec a, ti_vec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline ti_vec ti_cross(ti_vec a, ti_vec b) {
    return (ti_vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline double ti_norm(ti_vec a) {
    return sqrt(ti_dot(a, a));
}
static inline double ti_get(ti_vec a, int i) {
    return i == 0 ? a.x : i == 1 ? a.y : a.z;
}

static inline ti_vec ti_mul(const ti_mat *R, ti_vec v) {
    return (ti_vec){R->m[0][0] * v.x + R->m[0][1] * v.y + R->m[0][2] * v.z,
                    R->m[1][0] * v.x + R->m[1][1] * v.y + R->m[1][2] * v.z,
                    R->m[2][0] * v.x + R->m[2][1] * v.y + R->m[2][2] * v.z};
}
/* R' v */
static inline ti_vec ti_tmul(const ti_mat *R, ti_vec v) {
    return (ti_vec){R->m[0][0] * v.x + R->m[1][0] * v.y + R->m[2][0] * v.z,
                    R->m[0][1] * v.x + R->m[1][1] * v.y + R->m[2][1] * v.z,
                    R->m[0][2] * v.x + R->m[1][2] * v.y + R->m[2][2] * v.z};
}
static inline ti_vec ti_col(const ti_mat *R, int j) {
    return (ti_vec){R->m[0][j], R->m[1][j], R->m[2][j]};
}
static inline ti_mat ti_matmul(const ti_mat *A, const ti_mat *B) {
    ti_mat C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C.m[i][j] = A->m[i][0] * B->m[0][j] + A->m[i][1] * B->m[1][j] + A->m[i][2] * B->m[2][j];
    return C;
}

/* Rotation matrix of the unit quaternion q = (w,x,y,z). */
static inline ti_mat ti_quat_mat(const double *q) {
    double w = q[0], x = q[1], y = q[2], z = q[3];
    return (ti_mat){{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                     {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                     {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}
/* c = a b; c may be a or b */
static inline void ti_quat_mul(const double *a, const double *b, double *c) {
    double w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    double x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    double y = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    double z = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
    c[0] = w, c[1] = x, c[2] = y, c[3] = z;
}
static inline void ti_quat_normalise(double *q) {
    double n = 1 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) q[i] *= n;
}
/* Rotation by the vector r (axis times angle), as a quaternion. */
static inline void ti_quat_exp(ti_vec r, double *q) {
    double t = ti_norm(r), s = t > 1e-4 ? sin(t / 2) / t : 0.5 - t * t / 48 + t * t * t * t / 3840;
    q[0] = cos(t / 2), q[1] = s * r.x, q[2] = s * r.y, q[3] = s * r.z;
}
/* The shortest rotation vector of a unit quaternion: the inverse of ti_quat_exp. */
static inline ti_vec ti_quat_log(const double *q) {
    double sign = q[0] < 0 ? -1 : 1, s = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    double k = s > 1e-8 ? 2 * atan2(s, sign * q[0]) / s * sign : 2 * sign;
    return (ti_vec){k * q[1], k * q[2], k * q[3]};
}

/* Of the rotation of a quaternion that need not be unit: turn, the cotangent of a rotation vector before it, to its
 * four numbers, added. That vector is 2 vec(dq q*), so that q_bar = 2 (0, turn) q / |raw|. */
static inline void ti_quat_turn_vjp(const double *raw, ti_vec turn, double *raw_bar) {
    double n = 1 / sqrt(raw[0] * raw[0] + raw[1] * raw[1] + raw[2] * raw[2] + raw[3] * raw[3]);
    double q[4] = {n * raw[0], n * raw[1], n * raw[2], n * raw[3]}, r[4] = {0, turn.x, turn.y, turn.z};
    ti_quat_mul(r, q, r);
    for (int i = 0; i < 4; i++) raw_bar[i] += 2 * n * r[i];
}

static inline ti_mat ti_transpose(const ti_mat *A) {
    return (ti_mat){{{A->m[0][0], A->m[1][0], A->m[2][0]},
                     {A->m[0][1], A->m[1][1], A->m[2][1]},
                     {A->m[0][2], A->m[1][2], A->m[2][2]}}};
}
/* [a]x, so that [a]x b = a x b */
static inline ti_mat ti_skew(ti_vec a) {
    return (ti_mat){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}};
}
/* A + s a b' */
static inline void ti_outer_add(ti_mat *A, double s, ti_vec a, ti_vec b) {
    double u[3] = {s * a.x, s * a.y, s * a.z}, w[3] = {b.x, b.y, b.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) A->m[i][j] += u[i] * w[j];
}
/* A + B */
static inline void ti_mat_add(ti_mat *A, const ti_mat *B) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) A->m[i][j] += B->m[i][j];
}
/* Inverse by cofactors; Inf or NaN where A is singular. */
static inline ti_mat ti_inverse(const ti_mat *A) {
    ti_vec a = ti_load3(A->m[0]), b = ti_load3(A->m[1]), c = ti_load3(A->m[2]);
    ti_vec bc = ti_cross(b, c), ca = ti_cross(c, a), ab = ti_cross(a, b);
    double d = 1 / ti_dot(a, bc);
    return (ti_mat){{{d * bc.x, d * ca.x, d * ab.x}, {d * bc.y, d * ca.y, d * ab.y}, {d * bc.z, d * ca.z, d * ab.z}}};
}
/* Symmetric matrix from xx yy zz xy xz yz. */
static inline ti_mat ti_sym(const double *s) {
    return (ti_mat){{{s[0], s[3], s[4]}, {s[3], s[1], s[5]}, {s[4], s[5], s[2]}}};
}
/* Right Jacobian of the exponential, Jr(r) v: exp(r + dr) = exp(r) exp(Jr(r) dr). Its transpose is Jr(-r). */
static inline ti_vec ti_exp_right(ti_vec r, ti_vec v) {
    double t2 = ti_dot(r, r), t = sqrt(t2);
    double a = t > 1e-3 ? (1 - cos(t)) / t2 : 0.5 - t2 / 24,
           b = t > 1e-2 ? (t - sin(t)) / (t2 * t) : 1. / 6 - t2 / 120 + t2 * t2 / 5040;
    ti_vec rv = ti_cross(r, v), rrv = ti_cross(r, rv);
    return ti_axpy(ti_axpy(v, -a, rv), b, rrv);
}
/* Its inverse, d log(exp(r) exp(d)) / dd at d = 0: 1 + [r]/2 + k [r]^2. */
static inline ti_mat ti_log_right(ti_vec r) {
    double q = ti_dot(r, r), angle = sqrt(q);
    double k = angle < 1e-3 ? 1. / 12 + q / 720 : 1 / q - 1 / (2 * angle * tan(angle / 2));
    ti_mat D = ti_skew(ti_scale(0.5, r));
    ti_outer_add(&D, k, r, r);
    for (int i = 0; i < 3; i++) D.m[i][i] += 1 - k * q;
    return D;
}

#endif
