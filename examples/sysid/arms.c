/* arms.c -- see arms.h. */
#include "arms.h"
#include "cubes.h"
#include <math.h>
#include <string.h>

enum { N = ARM_LINKS };

/* ---- where the links are ---- */

static void cross(const double *a, const double *b, double *out) {
    for (int i = 0; i < 3; i++) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}
static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static void turn(double R[3][3], const double *v, double *out) {
    for (int i = 0; i < 3; i++) out[i] = R[i][0] * v[0] + R[i][1] * v[1] + R[i][2] * v[2];
}

/* World frame: hinge, its axis, centre of mass, orientation of each link. */
typedef struct place {
    double at[N][3], axis[N][3], com[N][3], R[N][3][3];
} place;

static void places(const arm *a, const double *q, place *w) {
    double R[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, origin[3] = {0};
    for (int k = 0; k < a->n; k++) {
        const arm_link *l = &a->link[k];
        double step[3], S[3][3], c = cos(q[k]), s = sin(q[k]);
        const double *u = l->axis;
        turn(R, l->pos, step);
        for (int i = 0; i < 3; i++) w->at[k][i] = origin[i] += step[i];
        turn(R, u, w->axis[k]);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double odd = i == j ? 0 : ((j - i + 3) % 3 == 1 ? -1 : 1) * u[3 - i - j];
                S[i][j] = (i == j ? c : 0) + s * odd + (1 - c) * u[i] * u[j];
            }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) w->R[k][i][j] = R[i][0] * S[0][j] + R[i][1] * S[1][j] + R[i][2] * S[2][j];
        memcpy(R, w->R[k], sizeof R);
        turn(R, l->com, step);
        for (int i = 0; i < 3; i++) w->com[k][i] = origin[i] + step[i];
    }
}

/* b' I c for world vectors and the inertia of link k. */
static double through(const arm *a, const place *w, int k, const double *b, const double *c) {
    static const int at[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    double sum = 0, x[3] = {0}, y[3] = {0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) x[j] += w->R[k][i][j] * b[i], y[j] += w->R[k][i][j] * c[i];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) sum += x[i] * a->link[k].inertia[at[i][j]] * y[j];
    return sum;
}

/* Column of the Jacobian of link k's centre of mass. */
static void column(const place *w, int k, int j, double *out) {
    double arm_of[3];
    for (int i = 0; i < 3; i++) arm_of[i] = w->com[k][i] - w->at[j][i];
    cross(w->axis[j], arm_of, out);
}

static void inertia(const arm *a, const double *q, double M[N][N]) {
    place w;
    places(a, q, &w);
    memset(M, 0, sizeof(double[N][N]));
    for (int k = 0; k < a->n; k++)
        for (int i = 0; i <= k; i++)
            for (int j = 0; j <= i; j++) {
                double x[3], y[3];
                column(&w, k, i, x), column(&w, k, j, y);
                M[i][j] += a->link[k].mass * dot(x, y) + through(a, &w, k, w.axis[i], w.axis[j]);
            }
    for (int i = 0; i < a->n; i++) {
        M[i][i] += a->link[i].armature;
        for (int j = i + 1; j < a->n; j++) M[i][j] = M[j][i];
    }
}

/* Kinetic energy of the links. */
static double energy(const arm *a, const double *q, const double *v) {
    place w;
    double sum = 0;
    places(a, q, &w);
    for (int k = 0; k < a->n; k++) {
        double speed[3] = {0}, spin[3] = {0};
        for (int j = 0; j <= k; j++) {
            double x[3];
            column(&w, k, j, x);
            for (int i = 0; i < 3; i++) speed[i] += v[j] * x[i], spin[i] += v[j] * w.axis[j][i];
        }
        sum += a->link[k].mass * dot(speed, speed) / 2 + through(a, &w, k, spin, spin) / 2;
    }
    return sum;
}

/* ---- Lagrange's equations: M a = torque - dM/dt v + dT/dq - dV/dq - D v - friction ---- */

static void forces(const arm *a, const double *q, const double *v, const double *torque, double *f) {
    const double e = 1e-5;
    double forth[N] = {0}, back[N] = {0}, A[N][N], B[N][N];
    place w;
    for (int i = 0; i < a->n; i++) forth[i] = q[i] + e * v[i], back[i] = q[i] - e * v[i];
    inertia(a, forth, A), inertia(a, back, B);
    places(a, q, &w);
    for (int i = 0; i < a->n; i++) {
        f[i] = torque[i] - a->link[i].damping * v[i];
        for (int j = 0; j < a->n; j++) f[i] -= (A[i][j] - B[i][j]) / (2 * e) * v[j];
        memcpy(forth, q, sizeof forth), memcpy(back, q, sizeof back);
        forth[i] += e, back[i] -= e;
        f[i] += (energy(a, forth, v) - energy(a, back, v)) / (2 * e);
        for (int k = i; k < a->n; k++) {
            double x[3];
            column(&w, k, i, x);
            f[i] -= a->link[k].mass * a->gravity * x[2];
        }
    }
}

/* Gauss: M x = f in place on the rows that are not held; x is 0 on those that are. */
static void solve(int n, double M[N][N], const int *slip, double *f) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n && !slip[i]; j++) M[i][j] = M[j][i] = i == j, f[i] = 0;
    for (int i = 0; i < n; i++)
        for (int r = i + 1; r < n; r++) {
            double factor = M[r][i] / M[i][i];
            for (int j = i; j < n; j++) M[r][j] -= factor * M[i][j];
            f[r] -= factor * f[i];
        }
    for (int i = n; i-- > 0;) {
        for (int j = i + 1; j < n; j++) f[i] -= M[i][j] * f[j];
        f[i] /= M[i][i];
    }
}

/* Accelerations, with hinges slipping or sticking as they are; what holds those that stick. */
static void accelerate(const arm *a, const double *q, const double *v, const double *torque, double *acc,
                       double *hold) {
    double M[N][N], left[N][N], f[N];
    forces(a, q, v, torque, f);
    inertia(a, q, M);
    memcpy(left, M, sizeof left);
    for (int i = 0; i < a->n; i++) acc[i] = f[i] - a->slip[i] * a->link[i].friction;
    solve(a->n, left, a->slip, acc);
    for (int i = 0; i < a->n; i++) {
        hold[i] = f[i];
        for (int j = 0; j < a->n; j++) hold[i] -= M[i][j] * acc[j];
    }
}

void arm_torque(const arm *a, const double *acc, double *torque) {
    double M[N][N], none[N] = {0}, f[N];
    arm smooth = *a;
    for (int i = 0; i < a->n; i++) smooth.link[i].damping = 0;
    forces(&smooth, a->q, a->v, none, f);
    inertia(a, a->q, M);
    for (int i = 0; i < a->n; i++) {
        torque[i] = -f[i];
        for (int j = 0; j < a->n; j++) torque[i] += M[i][j] * acc[j];
    }
}

static void runge_kutta(const arm *a, const double *torque, double h, double *q, double *v) {
    static const double share[4] = {0, 0.5, 0.5, 1}, weight[4] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
    double rate_q[N] = {0}, rate_v[N] = {0}, unused[N];
    memcpy(q, a->q, sizeof a->q), memcpy(v, a->v, sizeof a->v);
    for (int k = 0; k < 4; k++) {
        double at[N] = {0}, with[N] = {0};
        for (int i = 0; i < a->n; i++) at[i] = a->q[i] + share[k] * h * rate_q[i];
        for (int i = 0; i < a->n; i++) with[i] = a->v[i] + share[k] * h * rate_v[i];
        memcpy(rate_q, with, sizeof with);
        accelerate(a, at, with, torque, rate_v, unused);
        for (int i = 0; i < a->n; i++) q[i] += weight[k] * h * rate_q[i], v[i] += weight[k] * h * rate_v[i];
    }
}

/* Hinges that stick and are pulled by more than their friction let go, the most overloaded first. */
static void let_go(arm *a, const double *torque) {
    for (int pass = 0; pass < a->n; pass++) {
        double acc[N], hold[N], most = 1;
        int which = -1;
        accelerate(a, a->q, a->v, torque, acc, hold);
        for (int i = 0; i < a->n; i++) {
            if (a->slip[i] || !(fabs(hold[i]) > most * a->link[i].friction)) continue;
            which = i, most = fabs(hold[i]) / fmax(a->link[i].friction, 1e-300);
        }
        if (which < 0) return;
        a->slip[which] = hold[which] > 0 ? 1 : -1;
    }
}

/* The hinge that first comes to a stop in a step of h, and when; -1 = none. */
static int stops(const arm *a, const double *torque, double *h) {
    double q[N], v[N];
    int which = -1;
    runge_kutta(a, torque, *h, q, v);
    for (int i = 0; i < a->n; i++) {
        double low = 0, high = *h;
        if (!a->slip[i] || v[i] * a->slip[i] >= 0) continue;
        for (int pass = 0; pass < 40 && high - low > 1e-13; pass++) {
            double middle = (low + high) / 2;
            runge_kutta(a, torque, middle, q, v);
            *(v[i] * a->slip[i] >= 0 ? &low : &high) = middle;
        }
        *h = high, which = i;
        runge_kutta(a, torque, *h, q, v);
    }
    return which;
}

void arm_step(arm *a, const double *torque, double dt) {
    double left = dt;
    for (int events = 0; left > 0 && events < 50; events++) {
        double h = left, q[N], v[N];
        let_go(a, torque);
        int stopped = stops(a, torque, &h);
        runge_kutta(a, torque, h, q, v);
        memcpy(a->q, q, sizeof q), memcpy(a->v, v, sizeof v);
        if (stopped >= 0) a->v[stopped] = 0, a->slip[stopped] = 0;
        left = stopped >= 0 ? left - h : 0;
    }
}

/* ---- the arm ---- */

arm arm_ur(void) {
    static const arm_link link[N] = {
        {{0, 0, 0.0892}, {0, 0, 1}, 3.7, {0, -0.0256, 0.0019}, {0.0103, 0.0103, 0.0067}, 3, 4, 0.8},
        {{0, 0.1359, 0}, {0, 1, 0}, 8.393, {0, -0.0226, 0.2125}, {0.1339, 0.1339, 0.0151}, 4, 5, 0.8},
        {{0, -0.1197, 0.425}, {0, 1, 0}, 2.275, {0, 0.0065, 0.1961}, {0.0312, 0.0312, 0.0041}, 2.5, 3, 0.5},
        {{0, 0, 0.3922}, {0, 1, 0}, 1.219, {0, 0.0947, 0.0163}, {0.0026, 0.0026, 0.0022}, 0.6, 0.9, 0.06},
        {{0, 0.093, 0}, {0, 0, 1}, 1.219, {0, 0.0163, 0.0947}, {0.0026, 0.0026, 0.0022}, 0.5, 0.8, 0.06},
        {{0, 0, 0.0947}, {0, 1, 0}, 0.1879, {0, 0.0812, 0}, {0.0001, 0.0002, 0.0001}, 0.4, 0.6, 0.06},
    };
    arm a = {.n = N, .gravity = 9.81};
    memcpy(a.link, link, sizeof link);
    return a;
}

/* ---- what it is asked to do ---- */

enum { SINES = 5 };

arm_wish arm_wish_draw(const arm *a, uint64_t *seed) {
    static const double middle[N] = {0, -1, 1.2, -0.5, 0.3, 0}, size[N] = {0.9, 0.5, 0.7, 0.9, 0.9, 0.9};
    arm_wish w = {.base = 0.2};
    for (int i = 0; i < a->n; i++) {
        w.middle[i] = middle[i] + 0.4 * (cubes_uniform(seed) - 0.5);
        for (int k = 0; k < SINES; k++) {
            w.size[i][k] = size[i] * 0.6 * cubes_uniform(seed) / (1 + 0.3 * k);
            w.phase[i][k] = 6.283185307179586 * cubes_uniform(seed);
        }
    }
    return w;
}

static double wish_at(const arm_wish *w, int i, double time, double *rate) {
    double q = w->middle[i];
    *rate = 0;
    for (int k = 0; k < SINES; k++) {
        double speed = 6.283185307179586 * w->base * (k + 1), angle = speed * time + w->phase[i][k];
        q += w->size[i][k] * sin(angle), *rate += w->size[i][k] * speed * cos(angle);
    }
    return q;
}

void arm_record(arm *a, const arm_wish *wish, int rows, double spacing, double noise, uint64_t *seed, double *q,
                double *torque) {
    static const double spring[N] = {900, 1500, 700, 120, 120, 100}, damper[N] = {60, 90, 40, 6, 6, 5},
                        most[N] = {150, 150, 150, 28, 28, 28};
    const int before = (int)(1 / spacing);
    double unused;
    for (int i = 0; i < a->n; i++) a->q[i] = wish_at(wish, i, -before * spacing, &unused), a->v[i] = 0, a->slip[i] = 0;
    for (int k = -before; k < rows; k++) {
        double seen[N], pull[N];
        for (int i = 0; i < a->n; i++) {
            double rate, want = wish_at(wish, i, k * spacing, &rate);
            seen[i] = a->q[i] + noise * cubes_gauss(seed);
            pull[i] = spring[i] * (want - seen[i]) + damper[i] * (rate - a->v[i]);
            pull[i] = fmax(-most[i], fmin(most[i], pull[i]));
            if (k >= 0) q[k * a->n + i] = seen[i], torque[k * a->n + i] = pull[i];
        }
        int parts = (int)ceil(spacing / 0.002 - 1e-9);
        for (int part = 0; part < parts; part++) arm_step(a, pull, spacing / parts);
    }
}
