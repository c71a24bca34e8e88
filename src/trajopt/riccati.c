/* riccati.c -- the backward pass: steps and feedback of every knot from the quadratic models of all, with gaps and
 * bounds; and what they are expected to gain. docs/math.md eq. (403)-(407). */
#include "math/dense.h"
#include "trajopt/multiply.h"
#include "trajopt/task.h"

static const double SHARE = 0.5; /* of Q_uu with the convex part of the dynamics' second derivative */

/* Whether Q_uu keeps a share of what it has with the convex part where it has the whole second derivative. eq. (506) */
static bool keeps_definite(const tribo_trajopt *t, const ti_knot *k) {
    double R[TI_CONTROLS_MAX * TI_CONTROLS_MAX];
    int n = t->z.ndx, nc = t->nc, w = n + nc, ld = ti_ld(nc);
    for (int i = 0; i < nc; i++)
        for (int j = 0; j < nc; j++) {
            int at = (n + i) * w + n + j;
            R[i * ld + j] = (1 - SHARE) * t->Quu[i * nc + j] + k->times * (k->whole[at] - SHARE * k->bent[at]);
        }
    return ti_chol(nc, R, ld, 0) == 0;
}

static const double *bent_of(const tribo_trajopt *t, const ti_knot *k, double *times) {
    *times = t->method == TRIBO_METHOD_NEWTON ? k->times : 1;
    return k->is_whole ? k->whole : k->bent;
}

/* What the dynamics' own second derivative adds to Q. */
static void add_bent(tribo_trajopt *t, ti_knot *k) {
    int n = t->z.ndx, nc = t->nc, w = n + nc;
    k->is_whole = t->wholes && keeps_definite(t, k);
    double c;
    const double *bent = bent_of(t, k, &c);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) t->Qxx[i * n + j] += c * bent[i * w + j];
    for (int i = 0; i < nc; i++) {
        for (int j = 0; j < n; j++) t->Qux[i * n + j] += c * bent[(n + i) * w + j];
        for (int j = 0; j < nc; j++) t->Quu[i * nc + j] += c * bent[(n + i) * w + n + j];
    }
}

/* Q of a knot from V of the next. eq. (404) */
static void expand(tribo_trajopt *t, ti_knot *k) {
    int n = t->z.ndx, nc = t->nc;
    size_t d = sizeof(double), nn = (size_t)(n * n);
    for (int i = 0; i < n; i++) { /* the gap: V_x := V_x + V_xx gap */
        double sum = t->Vx[i];
        for (int j = 0; j < n; j++) sum += t->Vxx[i * n + j] * k->gap[j];
        t->dx[i] = sum;
    }
    ti_times(n, n, n, t->Vxx, k->A, false, t->VA);
    ti_times(n, nc, n, t->Vxx, k->B, false, t->VB);
    memcpy(t->Qxx, k->lxx, nn * d), memcpy(t->Qx, k->lx, (size_t)n * d);
    memcpy(t->Qux, k->lux, (size_t)(nc * n) * d), memcpy(t->Quu, k->luu, (size_t)(nc * nc) * d);
    memcpy(t->Qu, k->lu, (size_t)nc * d);
    if (t->bends && t->method != TRIBO_METHOD_NEWTON) add_bent(t, k);
    ti_times_t(n, n, n, k->A, t->VA, true, t->Qxx);
    ti_times_t(nc, n, n, k->B, t->VA, true, t->Qux);
    ti_times_t(nc, nc, n, k->B, t->VB, true, t->Quu);
    ti_times_t(n, 1, n, k->A, t->dx, true, t->Qx);
    ti_times_t(nc, 1, n, k->B, t->dx, true, t->Qu);
    if (t->bends && t->method == TRIBO_METHOD_NEWTON) add_bent(t, k); /* by what Q_uu is without */
}

/* The step within bounds, and the feedback of what is free. eq. (405)-(407) */
static bool solve(tribo_trajopt *t, ti_knot *k, const double *u) {
    double R[TI_CONTROLS_MAX * TI_CONTROLS_MAX], lower[TI_CONTROLS_MAX], upper[TI_CONTROLS_MAX], col[TI_CONTROLS_MAX];
    int n = t->z.ndx, nc = t->nc;
    memcpy(t->reduced, t->Quu, sizeof(double) * (size_t)(nc * nc));
    for (int i = 0; i < nc; i++) {
        double own = fabs(t->Quu[i * nc + i]);
        t->reduced[i * nc + i] += own > 0 ? t->regularisation * own
                                          : 1 + t->regularisation; /* nothing depends on it, or in a straight line */
        lower[i] = t->lower[i] - u[i], upper[i] = t->upper[i] - u[i];
        k->feed[i] = 0;
    }
    if (!ti_box_solve(nc, t->reduced, t->Qu, lower, upper, k->feed, R, t->held)) return false;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < nc; i++) col[i] = t->held[i] ? 0 : -t->Qux[i * n + j];
        ti_chol_solve(nc, R, ti_ld(nc), col);
        for (int i = 0; i < nc; i++) k->gain[i * n + j] = t->held[i] ? 0 : col[i];
    }
    return true;
}

/* V of this knot. eq. (403) */
static void contract(tribo_trajopt *t, const ti_knot *k) {
    int n = t->z.ndx, nc = t->nc;
    double *KQ = t->VB; /* (nc,n): Quu K + Qux */
    memcpy(KQ, t->Qux, sizeof(double) * (size_t)(nc * n));
    ti_times(nc, n, nc, t->Quu, k->gain, true, KQ);
    memcpy(t->Vx, t->Qx, sizeof(double) * (size_t)n);
    for (int i = 0; i < nc; i++) {
        double push = t->Qu[i];
        for (int j = 0; j < nc; j++) push += t->Quu[i * nc + j] * k->feed[j];
        for (int j = 0; j < n; j++) t->Vx[j] += k->gain[i * n + j] * push + t->Qux[i * n + j] * k->feed[i];
    }
    /* Qxx + K' (Quu K + Qux) + Qux' K */
    memcpy(t->Vxx, t->Qxx, sizeof(double) * (size_t)(n * n));
    ti_times_t(n, n, nc, k->gain, KQ, true, t->Vxx);
    ti_times_t(n, n, nc, t->Qux, k->gain, true, t->Vxx);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) t->Vxx[i * n + j] = t->Vxx[j * n + i] = (t->Vxx[i * n + j] + t->Vxx[j * n + i]) / 2;
}

void ti_gains_forget(tribo_trajopt *t) {
    for (int k = 0; k < t->knots; k++) memset(t->knot[k].gain, 0, sizeof(double) * (size_t)(t->nc * t->z.ndx));
}

bool ti_riccati(tribo_trajopt *t) {
    int n = t->z.ndx;
    const ti_knot *end = &t->knot[t->knots];
    memcpy(t->Vx, end->lx, sizeof(double) * (size_t)n);
    memcpy(t->Vxx, end->lxx, sizeof(double) * (size_t)(n * n));
    for (int k = t->knots - 1; k >= 0; k--) {
        expand(t, &t->knot[k]);
        if (!solve(t, &t->knot[k], ti_controls_at(t, &t->best, k))) return false;
        contract(t, &t->knot[k]);
    }
    return ti_finite(t->Vx, (size_t)n) && ti_finite(t->Vxx, (size_t)(n * n));
}

/* slope += l'd, bend += d'Hd/2 of a knot. */
static void expect_knot(const tribo_trajopt *t, const ti_knot *k, double *slope, double *bend) {
    int n = t->z.ndx, nc = t->nc;
    const double *dx = t->dx, *du = t->du;
    for (int i = 0; i < n; i++) {
        double row = 0;
        for (int j = 0; j < n; j++) row += k->lxx[i * n + j] * dx[j];
        *slope += k->lx[i] * dx[i], *bend += row * dx[i] / 2;
    }
    for (int i = 0; k->lu && i < nc; i++) {
        double row = 0;
        for (int j = 0; j < nc; j++) row += k->luu[i * nc + j] * du[j] / 2;
        for (int j = 0; j < n; j++) row += k->lux[i * n + j] * dx[j];
        *slope += k->lu[i] * du[i], *bend += row * du[i];
    }
}

/* d'Wd/2 of what the dynamics' second derivative adds. */
static double expect_bent(const tribo_trajopt *t, const ti_knot *k) {
    int n = t->z.ndx, w = n + t->nc;
    double sum = 0, times;
    const double *bent = bent_of(t, k, &times);
    for (int i = 0; i < w; i++) {
        double row = 0;
        for (int j = 0; j < w; j++) row += bent[i * w + j] * (j < n ? t->dx[j] : t->du[j - n]);
        sum += row * (i < n ? t->dx[i] : t->du[i - n]) / 2;
    }
    return times * sum;
}

void ti_expectation(tribo_trajopt *t, double *slope, double *bend, double *more) {
    int n = t->z.ndx, nc = t->nc;
    double *next = t->Vx;
    memset(t->dx, 0, sizeof(double) * (size_t)n);
    *slope = *bend = *more = 0;
    for (int k = 0; k < t->knots; k++) {
        const ti_knot *a = &t->knot[k];
        memcpy(t->du, a->feed, sizeof(double) * (size_t)nc);
        memcpy(next, a->gap, sizeof(double) * (size_t)n);
        ti_times(nc, 1, n, a->gain, t->dx, true, t->du);
        expect_knot(t, a, slope, bend);
        if (t->method != TRIBO_METHOD_ILQR) *more += expect_bent(t, a);
        ti_times(n, 1, n, a->A, t->dx, true, next);
        ti_times(n, 1, nc, a->B, t->du, true, next);
        memcpy(t->dx, next, sizeof(double) * (size_t)n);
    }
    expect_knot(t, &t->knot[t->knots], slope, bend);
}

double ti_steepest(const tribo_trajopt *t, const double *gradient) {
    double most = 0;
    for (int k = 0; k < t->knots * t->nc; k++) {
        int i = k % t->nc;
        bool held = ti_is_held(t->best.U[k], gradient[k], t->lower[i], t->upper[i]);
        if (!held) most = ti_max(most, fabs(gradient[k]));
    }
    return most;
}

/* How [A B]' lambda moved from the models before, over the step s that led from there. */
static void take_secant(const tribo_trajopt *t, int knot, const double *lambda, double *s, double *y) {
    int n = t->z.ndx, nc = t->nc;
    const ti_knot *k = &t->knot[knot];
    const double *was = ti_controls_at(t, &t->trial, knot), *is = ti_controls_at(t, &t->best, knot);
    tribo_state_difference(t->m, ti_state_at(t, &t->trial, knot), ti_state_at(t, &t->best, knot), s);
    for (int i = 0; i < nc; i++) s[n + i] = is[i] - was[i];
    memset(y, 0, sizeof *y * (size_t)(n + nc));
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) y[i] += lambda[j] * (k->A[j * n + i] - k->A0[j * n + i]);
        for (int i = 0; i < nc; i++) y[n + i] += lambda[j] * (k->B[j * nc + i] - k->B0[j * nc + i]);
    }
}

/* The symmetric update of rank one. eq. (405) */
static void update_bent(const tribo_trajopt *t, int knot, const double *lambda) {
    int w = t->z.ndx + t->nc;
    double *bent = t->knot[knot].bent, *s = t->secant, *e = s + w, ss = 0, ee = 0, es = 0;
    take_secant(t, knot, lambda, s, e);
    for (int i = 0; i < w; i++) {
        for (int j = 0; j < w; j++) e[i] -= bent[i * w + j] * s[j];
        ss += s[i] * s[i], ee += e[i] * e[i], es += e[i] * s[i];
    }
    if (fabs(es) > 1e-2 * sqrt(ss * ee) && ss > 0)
        for (int i = 0; i < w; i++)
            for (int j = 0; j < w; j++) bent[i * w + j] += e[i] * e[j] / es;
}

/* What is learned of a knot, lambda being dJ/dx of the next. */
static void learn(const tribo_trajopt *t, int knot, const double *lambda) {
    ti_knot *k = &t->knot[knot];
    size_t n = (size_t)t->z.ndx, nc = (size_t)t->nc;
    memcpy(k->lambda, lambda, sizeof(double) * n);
    if (t->method != TRIBO_METHOD_DDP) return;
    if (t->followed) update_bent(t, knot, lambda);
    memcpy(k->A0, k->A, sizeof(double) * n * n), memcpy(k->B0, k->B, sizeof(double) * n * nc);
}

void ti_models_gradient(tribo_trajopt *t, double *gradient) {
    int n = t->z.ndx, nc = t->nc;
    memcpy(t->Vx, t->knot[t->knots].lx, sizeof(double) * (size_t)n);
    for (int k = t->knots - 1; k >= 0; k--) {
        const ti_knot *a = &t->knot[k];
        double *g = gradient + (size_t)k * (size_t)nc;
        learn(t, k, t->Vx);
        memcpy(g, a->lu, sizeof(double) * (size_t)nc);
        memcpy(t->Qx, a->lx, sizeof(double) * (size_t)n);
        ti_times_t(nc, 1, n, a->B, t->Vx, true, g);
        ti_times_t(n, 1, n, a->A, t->Vx, true, t->Qx);
        memcpy(t->Vx, t->Qx, sizeof(double) * (size_t)n);
    }
}
