/* contact_makes.h -- contact problems made at random: boxes on a plane, stacks, towers, a walking robot.
 *
 * Steps of 1 ms under gravity. Only M, J, vfree and mu are made, from masses, sides and poses; nothing of the library
 * is used, and the same seed gives the same problem. */
#ifndef CONTACT_MAKES_H
#define CONTACT_MAKES_H
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct made_problem {
    char name[64];
    int nc, nv;
    double *M, *J, *vfree, *mu; /* (nv,nv), (3 nc,nv), (nv), (nc) */
} made_problem;

typedef struct made_random {
    uint64_t state;
} made_random;

static inline double made_uniform(made_random *r, double from, double to) {
    r->state += 0x9e3779b97f4a7c15u;
    uint64_t z = r->state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u, z = (z ^ (z >> 27)) * 0x94d049bb133111ebu, z ^= z >> 31;
    return from + (to - from) * ((double)(z >> 11) / 9007199254740992.0);
}

static inline double made_normal(made_random *r, double deviation) {
    double u = made_uniform(r, 1e-12, 1), angle = made_uniform(r, 0, 2 * 3.14159265358979323846);
    return deviation * sqrt(-2 * log(u)) * cos(angle);
}

static inline made_problem made_begin(int nc, int nv) {
    made_problem q = {.nc = nc, .nv = nv};
    q.M = calloc((size_t)(nv * nv), sizeof(double)), q.J = calloc((size_t)(3 * nc * nv), sizeof(double));
    q.vfree = calloc((size_t)nv, sizeof(double)), q.mu = calloc((size_t)nc, sizeof(double));
    if (!q.M || !q.J || !q.vfree || !q.mu) abort();
    return q;
}

static inline void made_free(made_problem *q) {
    free(q->M), free(q->J), free(q->vfree), free(q->mu);
}

/* Body k of free bodies: a box of mass m and sides s, falling for a step, with velocity v. */
static inline void made_box(made_problem *q, int k, double m, const double *s, const double *v) {
    for (int j = 0; j < 3; j++) {
        int a = (j + 1) % 3, b = (j + 2) % 3;
        q->M[(size_t)(6 * k + j) * (size_t)q->nv + (size_t)(6 * k + j)] = m;
        q->M[(size_t)(6 * k + 3 + j) * (size_t)q->nv + (size_t)(6 * k + 3 + j)] = m / 12 * (s[a] * s[a] + s[b] * s[b]);
    }
    for (int j = 0; j < 6; j++) q->vfree[6 * k + j] = v[j];
    q->vfree[6 * k + 2] -= 9.81e-3;
}

/* Rows of contact i at r from the centre of body k, normal up, tangents turned by yaw; sign -1 for the body below. */
static inline void made_rows(made_problem *q, int i, int k, const double *r, double yaw, double sign) {
    double c = cos(yaw), s = sin(yaw), axis[3][3] = {{c, s, 0}, {-s, c, 0}, {0, 0, 1}};
    for (int a = 0; a < 3; a++) {
        double *row = q->J + (size_t)(3 * i + a) * (size_t)q->nv + 6 * k, *e = axis[a];
        for (int j = 0; j < 3; j++) {
            int l = (j + 1) % 3, m = (j + 2) % 3;
            row[j] = sign * e[j], row[3 + j] = sign * (r[l] * e[m] - r[m] * e[l]);
        }
    }
}

/* n boxes, one on the other, four contacts an interface: masses 10^U(-spread, spread) kg, sides about 0.2 m. */
static inline made_problem made_tower(made_random *r, int n, double spread) {
    made_problem q = made_begin(4 * n, 6 * n);
    double below[3] = {1, 1, 0};
    for (int k = 0; k < n; k++) {
        double s[3], v[6] = {made_normal(r, 0.01), made_normal(r, 0.01), 0, 0, 0, made_normal(r, 0.01)}, off[2];
        for (int j = 0; j < 3; j++) s[j] = made_uniform(r, 0.15, 0.25);
        for (int j = 0; j < 2; j++) off[j] = k ? made_normal(r, 0.007) : 0;
        made_box(&q, k, pow(10, made_uniform(r, -spread, spread)), s, v);
        double mu = made_uniform(r, 0.2, 0.9);
        for (int i = 0; i < 4; i++) {
            double up[3], down[3], yaw = made_uniform(r, 0, 6.2831853071795862);
            for (int j = 0; j < 2; j++) { /* the corners of what both faces cover; the lower one's frame, then */
                double sign = (j == 0 ? i & 1 : i & 2) ? 1 : -1, edge = sign * below[j] / 2,
                       own = off[j] + sign * s[j] / 2;
                down[j] = k == 0 || sign * own < sign * edge ? own : edge;
                up[j] = down[j] - off[j];
            }
            up[2] = -s[2] / 2, down[2] = below[2] / 2;
            made_rows(&q, 4 * k + i, k, up, yaw, 1);
            if (k) made_rows(&q, 4 * k + i, k - 1, down, yaw, -1);
            q.mu[4 * k + i] = mu;
        }
        memcpy(below, s, sizeof below);
    }
    snprintf(q.name, sizeof q.name, spread > 1 ? "tower%d-wide" : "tower%d", n);
    return q;
}

/* A cube on a plane on four corners or three: at rest, sliding, spinning. */
static inline made_problem made_cube(made_random *r) {
    int nc = made_uniform(r, 0, 1) < 0.3 ? 3 : 4;
    made_problem q = made_begin(nc, 6);
    double side = made_uniform(r, 0.05, 0.5), s[3] = {side, side, side}, v[6] = {0}, fast = made_uniform(r, 0, 1);
    if (fast > 0.2) v[0] = made_normal(r, 1), v[1] = made_normal(r, 0.5);
    if (fast > 0.6) v[5] = made_normal(r, 3);
    if (fast > 0.8) v[2] = made_normal(r, 0.2), v[3] = made_normal(r, 0.5), v[4] = made_normal(r, 0.5);
    made_box(&q, 0, pow(10, made_uniform(r, -3, 3)), s, v);
    double mu = made_uniform(r, 0.05, 1.2);
    for (int i = 0; i < nc; i++) {
        double at[3] = {(i & 1 ? side : -side) / 2, (i & 2 ? side : -side) / 2, -side / 2};
        made_rows(&q, i, 0, at, made_uniform(r, 0, 6.28), 1), q.mu[i] = mu;
    }
    snprintf(q.name, sizeof q.name, "cube");
    return q;
}

/* Two cubes, one on the other, of masses up to six decades apart. */
static inline made_problem made_stack(made_random *r) {
    made_problem q = made_begin(8, 12);
    double s[3] = {0.2, 0.2, 0.2}, v[6] = {0}, push = made_uniform(r, 0, 1);
    for (int k = 0; k < 2; k++) {
        if (push > 0.4) v[0] = made_normal(r, 0.3), v[1] = made_normal(r, 0.3), v[5] = made_normal(r, 0.3);
        made_box(&q, k, pow(10, made_uniform(r, -3, 3)), s, v);
        double mu = made_uniform(r, 0.2, 1);
        for (int i = 0; i < 4; i++) {
            double x = i & 1 ? 0.1 : -0.1, y = i & 2 ? 0.1 : -0.1, yaw = made_uniform(r, 0, 6.28);
            const double up[3] = {x, y, -0.1}, down[3] = {x, y, 0.1};
            made_rows(&q, 4 * k + i, k, up, yaw, 1), q.mu[4 * k + i] = mu;
            if (k) made_rows(&q, 4 * k + i, 0, down, yaw, -1);
        }
    }
    snprintf(q.name, sizeof q.name, "stack");
    return q;
}

/* A point of a leg: its place and its derivatives by base (3 translations, 3 rotations) and the leg's three joints. */
static inline void made_leg_point(const double *hip, const double *angle, double thigh, double shank, double *at,
                                  double (*d)[9]) {
    double c0 = cos(angle[0]), s0 = sin(angle[0]), a = angle[1], b = angle[1] + angle[2];
    double x = -thigh * sin(a) - shank * sin(b), z = -thigh * cos(a) - shank * cos(b);
    at[0] = hip[0] + x, at[1] = hip[1] - s0 * z, at[2] = hip[2] + c0 * z;
    memset(d, 0, 27 * sizeof(double));
    for (int j = 0; j < 3; j++) d[j][j] = 1;
    d[1][3] = -at[2], d[2][3] = at[1], d[0][4] = at[2], d[2][4] = -at[0], d[0][5] = -at[1], d[1][5] = at[0];
    double xa = -thigh * cos(a) - shank * cos(b), za = thigh * sin(a) + shank * sin(b);
    double xb = -shank * cos(b), zb = shank * sin(b);
    d[1][6] = -c0 * z, d[2][6] = -s0 * z;
    d[0][7] = xa, d[1][7] = -s0 * za, d[2][7] = c0 * za;
    d[0][8] = xb, d[1][8] = -s0 * zb, d[2][8] = c0 * zb;
}

/* A robot on four point feet, three joints a leg: links are points of mass, joints have rotors. */
static inline made_problem made_robot(made_random *r) {
    made_problem q = made_begin(4, 18);
    const double base[6] = {1.2, 1.2, 1.2, 0.01, 0.03, 0.035};
    double mu = made_uniform(r, 0.3, 1), force[18] = {0}, slide = made_uniform(r, 0, 1) < 0.6 ? 1 : 0;
    for (int j = 0; j < 6; j++) q.M[19 * j] = base[j];
    force[2] = -9.81 * base[0];
    for (int leg = 0; leg < 4; leg++) {
        double hip[3] = {leg < 2 ? 0.2 : -0.2, leg & 1 ? -0.15 : 0.15, 0};
        double knee = leg < 2 ? 1.5 : -1.5, angle[3] = {made_normal(r, 0.1), -knee / 2 + made_normal(r, 0.1), knee};
        for (int link = 0; link < 3; link++) { /* thigh, shank, foot */
            double at[3], d[3][9], m = link == 0 ? 0.15 : link == 1 ? 0.05 : 0;
            made_leg_point(hip, angle, link ? 0.16 : 0.08, link == 0 ? 0 : link == 1 ? 0.08 : 0.16, at, d);
            for (int i = 0; i < 9; i++) {
                int gi = i < 6 ? i : 3 * leg + i;
                for (int j = 0; j < 9 && m > 0; j++) {
                    int gj = j < 6 ? j : 3 * leg + j;
                    for (int k = 0; k < 3; k++) q.M[18 * gi + gj] += m * d[k][i] * d[k][j];
                }
                force[gi] -= 9.81 * m * d[2][i];
                for (int k = 0; k < 3 && link == 2; k++) q.J[(size_t)(3 * leg + k) * 18 + (size_t)gi] = d[k][i];
            }
        }
        for (int j = 0; j < 3; j++) q.M[19 * (6 + 3 * leg + j)] += 2e-4, force[6 + 3 * leg + j] += made_normal(r, 0.3);
        q.mu[leg] = mu;
    }
    double A[18 * 18], x[18];
    memcpy(A, q.M, sizeof A), memcpy(x, force, sizeof x);
    for (int k = 0; k < 18; k++) /* elimination: M is positive definite */
        for (int i = k + 1; i < 18; i++) {
            double l = A[18 * i + k] / A[19 * k];
            for (int j = k; j < 18; j++) A[18 * i + j] -= l * A[18 * k + j];
            x[i] -= l * x[k];
        }
    for (int i = 17; i >= 0; i--) {
        for (int j = i + 1; j < 18; j++) x[i] -= A[18 * i + j] * x[j];
        x[i] /= A[19 * i];
    }
    for (int i = 0; i < 18; i++) q.vfree[i] = 1e-3 * x[i];
    q.vfree[0] += slide * made_normal(r, 1), q.vfree[1] += slide * made_normal(r, 0.3);
    snprintf(q.name, sizeof q.name, "robot");
    return q;
}

/* Problem number k of the mixture that the tests and benches take: every make in turn. */
static inline made_problem made_any(uint64_t seed, int k) {
    made_random r = {seed * 1000003u + (uint64_t)k * 7919u};
    made_problem q;
    switch (k % 13) {
    case 0:
    case 1:
        q = made_cube(&r);
        break;
    case 2:
    case 3:
    case 4:
        q = made_stack(&r);
        break;
    case 5:
    case 6:
        q = made_robot(&r);
        break;
    case 7:
        q = made_tower(&r, 2, 1);
        break;
    case 8:
    case 9:
        q = made_tower(&r, 4, 1);
        break;
    case 10:
        q = made_tower(&r, 4, 3);
        break;
    case 11:
        q = made_tower(&r, 8, 1);
        break;
    default:
        q = made_tower(&r, 16, 1);
        break;
    }
    size_t end = strlen(q.name);
    snprintf(q.name + end, sizeof q.name - end, "-%d", k);
    return q;
}

/* The set that tests of laws and solvers go through, MADE_SET problems: robots, cubes of 1 kg, stacks on such, towers
 * of 2, 4, 8 and 16 boxes, and some of unlike boxes. */
enum { MADE_SET = 29 };
static inline made_problem made_of_set(int k) {
    made_random r = {20260401u + (uint64_t)k * 7919u};
    made_problem q;
    if (k < 2)
        q = made_robot(&r);
    else if (k < 8) {
        q = k < 6 ? made_cube(&r) : made_stack(&r);
        double mass = q.M[0];
        for (int j = 0; j < q.nv * q.nv; j++) q.M[j] /= mass;
    } else if (k < 9)
        q = made_tower(&r, 16, 0.5);
    else if (k < 24)
        q = made_tower(&r, k < 14 ? 2 : k < 19 ? 4 : 8, 0.5);
    else
        q = made_tower(&r, 4, 1.5);
    size_t end = strlen(q.name);
    snprintf(q.name + end, sizeof q.name - end, "-%d", k);
    return q;
}

#endif
