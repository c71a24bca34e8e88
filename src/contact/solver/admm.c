/* admm.c -- alternating directions with Anderson's mixing: one variable t, whose projection is z and the rest of which
 * is the multiplier y = rho (t - z), the negative of the velocity. docs/math.md eq. (72)-(74).
 */
#include "contact/solver/admm.h"
#include "math/dense.h"
#include <math.h>

/* In units of the largest eigenvalue of G: the proximal term, the first rho, the rho of attempt(), the bounds of rho.
 */
static const double proximity = 1e-7, first = 0.03, faint = 1e-10, lowest = 1e-10, highest = 1e3;
static const double imbalance = 10, stride = 10, wait = 10, patience = 1.5, worse = 2;
enum { MEMORY = 10, LENGTH = 400 };

void ti_admm_carve(ti_arena *m, int n, bool dense, ti_admm *a) {
    size_t size = n;
    a->n_max = n, a->ld = ti_ld(n);
    TI_CARVE(m, a->x, size);
    TI_CARVE(m, a->t, size);
    TI_CARVE(m, a->z, size);
    TI_CARVE(m, a->y, size);
    TI_CARVE(m, a->old, size);
    TI_CARVE(m, a->best, size);
    TI_CARVE(m, a->f, size);
    TI_CARVE(m, a->step, size);
    ti_anderson_carve(m, n, MEMORY, &a->mixing);
    if (dense) TI_CARVE(m, a->K, size * a->ld);
}

/* The state of the iteration, besides the vectors. */
typedef struct state {
    double unit; /* largest eigenvalue of G */
    double rho, prox, wait, alpha;
    int since, iterations, restarts; /* the last change of rho */
    double primal, f, f_before, gate;
    bool solved; /* a->z is the answer */
} state;

static double norm(int n, const double *a) {
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i] * a[i];
    return sqrt(s);
}

/* ---------------------------------------------------------------- the matrix */

static void multiply(const ti_admm_task *k, const double *x, double *y) {
    if (k->G)
        ti_matvec_t(k->n, k->n, k->G, k->n, x, NULL, y);
    else
        k->multiply(k->context, x, y);
}

static bool factor(ti_admm *a, const ti_admm_task *k, double shift) {
    if (!k->G) return k->factor(k->context, shift);
    size_t n = k->n, ld = ti_ld(k->n);
    for (size_t i = 0; i < n; i++) {
        memcpy(a->K + i * ld, k->G + i * n, n * sizeof(double));
        memset(a->K + i * ld + n, 0, (ld - n) * sizeof(double));
        a->K[i * ld + i] += shift;
    }
    return ti_chol(k->n, a->K, (int)ld, 0) == 0;
}

static void solve(ti_admm *a, const ti_admm_task *k, double *x) {
    if (k->G)
        ti_chol_solve(k->n, a->K, ti_ld(k->n), x);
    else
        k->solve(k->context, x);
}

/* Largest eigenvalue, to the few per cent that rho needs. */
static double largest_eigenvalue(ti_admm *a, const ti_admm_task *k) {
    int n = k->n;
    double *x = a->x, *y = a->y, size = 1;
    for (int i = 0; i < n; i++) x[i] = 1 + 0.1 * (i % 7);
    for (int it = 0; it < 3; it++) {
        double s = 1 / norm(n, x);
        for (int i = 0; i < n; i++) x[i] *= s;
        multiply(k, x, y);
        size = norm(n, y);
        if (!(size > 0)) return 1;
        memcpy(x, y, n * sizeof(double));
    }
    return size;
}

/* ---------------------------------------------------------------- iteration */

/* Change rho where the primal residual |x - z| and the dual one, rho times the change of z, are out of balance. False
 * if the factorization fails. */
static bool balance(ti_admm *a, const ti_admm_task *k, state *s) {
    double moved = 0;
    for (int i = 0; i < k->n; i++) moved += (a->z[i] - a->old[i]) * (a->z[i] - a->old[i]);
    double ratio = s->primal / ti_max(s->rho * sqrt(moved), 1e-300);
    if (s->iterations - s->since <= s->wait || (ratio < imbalance && ratio > 1 / imbalance) || ratio != ratio)
        return true;
    double by = sqrt(ratio), rho;
    by = by > stride ? stride : by < 1 / stride ? 1 / stride : by;
    rho = s->rho * by;
    rho = rho < lowest * s->unit ? lowest * s->unit : rho > highest * s->unit ? highest * s->unit : rho;
    if (rho == s->rho) return true;
    s->rho = rho, s->since = s->iterations, s->wait *= patience;
    for (int i = 0; i < k->n; i++) a->t[i] = a->z[i] + a->y[i] / rho;
    ti_anderson_forget(&a->mixing, k->n);
    return factor(a, k, rho + s->prox);
}

/* x = argmin of the quadratic and the penalties; f = T(t) - t for the mixing. docs/math.md eq. (73). */
static void descend(ti_admm *a, const ti_admm_task *k, state *s) {
    int n = k->n;
    double rho = s->rho, *step = a->step, alpha = s->alpha, primal = 0;
    for (int i = 0; i < n; i++) step[i] = s->prox * a->x[i] + rho * a->z[i] - a->y[i] - k->g[i];
    if (k->shift) {
        for (int i = 0; i < n; i++) a->f[i] = -a->y[i];
        k->shift(k->context, a->f, step);
    }
    solve(a, k, step);
    memcpy(a->x, step, n * sizeof(double));
    for (int i = 0; i < n; i++) {
        double d = a->x[i] - a->z[i];
        primal += d * d;
        step[i] = a->z[i] + alpha * d + a->y[i] / rho, a->f[i] = step[i] - a->t[i];
    }
    s->primal = sqrt(primal), s->f_before = s->f, s->f = norm(n, a->f);
}

static void project(ti_admm *a, const ti_admm_task *k, double rho) {
    memcpy(a->z, a->t, k->n * sizeof(double));
    k->project(k->context, a->z);
    for (int i = 0; i < k->n; i++) a->y[i] = rho * (a->t[i] - a->z[i]);
}

/* With a tiny rho: where nothing slides and nothing parts, the linear equation alone has the solution. */
static bool attempt(ti_admm *a, const ti_admm_task *k, state *s) {
    int n = k->n;
    double rho = s->rho, prox = s->prox;
    memset(a->x, 0, n * sizeof(double)), memset(a->z, 0, n * sizeof(double));
    memset(a->y, 0, n * sizeof(double)), memset(a->t, 0, n * sizeof(double));
    s->rho = s->prox = faint * s->unit, s->alpha = 1;
    bool found = factor(a, k, s->rho + s->prox);
    for (int it = 0; it < 3 && found; it++) {
        descend(a, k, s);
        memcpy(a->t, a->step, n * sizeof(double));
        project(a, k, s->rho);
        s->iterations++;
        double off = 0;
        for (int i = 0; i < n; i++) off += (a->t[i] - a->z[i]) * (a->t[i] - a->z[i]);
        if (!(sqrt(off) < 1e-3 * norm(n, a->t))) break;
        s->solved = k->done(k->context, a->z);
        if (s->solved) return true;
    }
    s->rho = rho, s->prox = prox, s->alpha = k->relaxation;
    return false;
}

static bool begin(ti_admm *a, const ti_admm_task *k, bool warm, const double *z, state *s) {
    int n = k->n;
    memset(s, 0, sizeof *s);
    s->unit = largest_eigenvalue(a, k);
    s->rho = k->penalty > 0 ? k->penalty : first * s->unit, s->prox = proximity * s->unit;
    s->alpha = k->relaxation, s->wait = wait, s->gate = 1e2 * k->tol;
    ti_anderson_forget(&a->mixing, n);
    memcpy(a->z, z, n * sizeof(double));
    k->project(k->context, a->z);
    s->solved = warm && k->done(k->context, a->z);
    if (s->solved || (!(k->penalty > 0) && attempt(a, k, s))) return true;
    s->f = HUGE_VAL;
    memcpy(a->x, z, n * sizeof(double)), memcpy(a->z, z, n * sizeof(double));
    memset(a->y, 0, n * sizeof(double));
    if (warm) {
        multiply(k, z, a->step);
        for (int i = 0; i < n; i++) a->y[i] = -(a->step[i] += k->g[i]);
        if (k->shift) k->shift(k->context, a->step, a->y);
    }
    for (int i = 0; i < n; i++) a->t[i] = z[i] + a->y[i] / s->rho;
    return factor(a, k, s->rho + s->prox);
}

/* Where it stalls: start over with another rho. False if the factorization fails. */
static bool again(ti_admm *a, const ti_admm_task *k, state *s) {
    static const double other[4] = {0.1, 10, 0.3, 1};
    s->rho = first * other[s->restarts++ % 4] * s->unit, s->since = s->iterations, s->wait = wait, s->f = HUGE_VAL;
    for (int i = 0; i < k->n; i++) a->t[i] = a->z[i] + a->y[i] / s->rho;
    ti_anderson_forget(&a->mixing, k->n);
    return factor(a, k, s->rho + s->prox);
}

/* The iteration; s->solved if z is exact enough. */
static void iterate(ti_admm *a, const ti_admm_task *k, state *s) {
    int n = k->n, length = LENGTH, most = LENGTH;
    for (int start = s->iterations; s->iterations <= k->max_iter; s->iterations++) {
        bool begun = s->iterations > start;
        memcpy(a->old, a->z, n * sizeof(double));
        project(a, k, s->rho);
        double size = norm(n, a->t);
        if (begun && s->f <= s->gate * size) {
            s->solved = k->done(k->context, a->z);
            if (s->solved) return;
            s->gate = 0.3 * s->f / size;
        }
        if (s->iterations == most) {
            if (!again(a, k, s)) return;
            most += length, length += length / 2;
        } else if (begun && !balance(a, k, s))
            return;
        descend(a, k, s);
        if (!(s->f < HUGE_VAL)) return;
        if (s->f > worse * s->f_before) ti_anderson_forget(&a->mixing, n);
        ti_anderson_mix(&a->mixing, a->f, a->step);
        memcpy(a->t, a->step, n * sizeof(double));
    }
}

int ti_admm_run(ti_admm *a, const ti_admm_task *k, bool warm, double *z, bool *converged) {
    state s;
    if (begin(a, k, warm, z, &s) && !s.solved) iterate(a, k, &s);
    *converged = s.solved;
    memcpy(z, a->z, k->n * sizeof(double));
    return s.iterations;
}
