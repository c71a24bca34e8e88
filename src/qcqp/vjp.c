/* vjp.c -- the reverse of the solution map: the transposed KKT system on its active set.
 *
 * With K = N'SN + kappa (symmetric), the solution moves by dy = N K^-1 N' (-db - dS y - S e drho) + e drho, e the
 * outward directions of the edges; the reverse solves one system with K. docs/math.md eq. (59).
 */
#include "qcqp/qcqp.h"
#include <math.h>

/* Below this, in scaled variables, a slack and a multiplier count as zero. */
static const double small = 1e-11;

/* The active set at a solution. Where a constraint has neither slack nor multiplier it is taken as not binding a pair,
 * and as fixing a variable of a QP. */
static void classify_solution(tribo_qcqp_ws *ws, const double *y, const double *g) {
    double size = 1;
    for (int i = 0; i < ws->n; i++) size = ti_max(fabs(y[i]), size);
    for (int i = 0; i < ws->nc; i++) {
        if (ws->dim == 1) {
            ws->state[i] = y[i] > g[i] && y[i] > small * size ? TI_FREE : TI_FIXED;
            continue;
        }
        const double *a = y + 2 * i, *c = g + 2 * i;
        double r = ws->rho[i], z0 = a[0] - c[0], z1 = a[1] - c[1];
        ws->state[i] = TI_FREE;
        if (r == 0) {
            double h = sqrt(c[0] * c[0] + c[1] * c[1]);
            ws->state[i] = TI_FIXED; /* but it would leave along -g as its radius grows */
            ws->u[2 * i] = h > small ? -c[0] / h : 0, ws->u[2 * i + 1] = h > small ? -c[1] / h : 0;
        } else if (sqrt(z0 * z0 + z1 * z1) > r + small * size) {
            double h = sqrt(a[0] * a[0] + a[1] * a[1]);
            if (!(h > 0)) continue;
            ws->state[i] = TI_EDGE;
            double u0 = a[0] / h, u1 = a[1] / h, gamma = -(u0 * c[0] + u1 * c[1]) / r;
            ws->u[2 * i] = u0, ws->u[2 * i + 1] = u1, ws->kappa[i] = gamma > 0 ? gamma : 0;
        }
    }
}

/* out := -(N'SN + kappa) m, through a of length n */
static void apply(tribo_qcqp_ws *ws, const double *m, double *a, double *Sa, double *out) {
    memset(a, 0, (size_t)ws->n * sizeof *a);
    ti_qcqp_prolong_add(ws, m, a);
    ti_matvec_t(ws->n, ws->n, ws->S, ws->ld, a, NULL, Sa);
    ti_qcqp_restrict(ws, Sa, out);
    for (int k = 0; k < ws->m; k++) {
        int contact = ws->col[k] / ws->dim;
        out[k] += ws->state[contact] == TI_EDGE ? ws->kappa[contact] * m[k] : 0;
        out[k] = -out[k];
    }
}

/* out := T t = K^-1 eps t */
static void damp(const tribo_qcqp_ws *ws, const double *t, double *out) {
    for (int k = 0; k < ws->m; k++) out[k] = ws->eps[ws->col[k]] * t[k];
    ti_qcqp_solve_reduced(ws, out);
}

static double largest(int n, const double *a) {
    double most = 0;
    for (int k = 0; k < n; k++) most = ti_max(fabs(a[k]), most);
    return most;
}

/* w := (1 - eps K^-1) w = (N'SN + kappa) K^-1 w: without its part in the null space. */
static void remove_null(const tribo_qcqp_ws *ws, double *w, double *t) {
    memcpy(t, w, (size_t)ws->m * sizeof *t);
    ti_qcqp_solve_reduced(ws, t);
    for (int k = 0; k < ws->m; k++) w[k] -= ws->eps[ws->col[k]] * t[k];
}

/* m := (N'SN + kappa)^+ w, a := N m, Sa := S N m; w is lost.
 *
 * With T = K^-1 eps, K^-1 w (1 + T) is right but for T^2. Where K is singular the null space, on which T is 1, has to
 * go first, twice because of rounding, which leaves w (1 - T)^2, and (1 - T)^2 (1 + 3 T) is as good. That is the answer
 * unless T is seen to matter; then refinement follows. docs/math.md eq. (55). */
static void solve_reduced(tribo_qcqp_ws *ws, double pivot, double *w, double *m, double *a, double *Sa) {
    int n = ws->m;
    double *r = ws->y, *t = ws->v2, before = HUGE_VAL;
    bool singular = pivot < 1e-5;
    memcpy(m, w, (size_t)n * sizeof *m);
    if (singular) remove_null(ws, m, r), remove_null(ws, m, r);
    ti_qcqp_solve_reduced(ws, m);
    damp(ws, m, r);
    for (int k = 0; k < n; k++) m[k] += (singular ? 3 : 1) * r[k];
    double first = largest(n, r), total = largest(n, m);
    apply(ws, m, a, Sa, r);
    if (first <= 3e-5 * total) return; /* 6 T^2 < 1e-8 */
    double rate = ti_max(1e-3, 6 * first / total);
    for (int round = 0; round < 30; round++) {
        for (int k = 0; k < n; k++) r[k] += w[k];
        if (singular) remove_null(ws, r, t), remove_null(ws, r, t);
        ti_qcqp_solve_reduced(ws, r);
        double size = largest(n, r);
        for (int k = 0; k < n; k++) m[k] += r[k];
        apply(ws, m, a, Sa, r);
        if (size * rate <= 1e-13 * total || !(size < before)) break;
        before = size;
    }
}

tribo_status tribo_qcqp_vjp(tribo_qcqp_ws *ws, const tribo_qcqp *qp, const double *x, const double *x_bar,
                            double *q_bar, double *r_bar, double *v, int *degenerate) {
    if (!ws || !x || !x_bar || (r_bar && qp && !qp->r)) return TRIBO_E_ARG;
    tribo_status status = ti_qcqp_scale(ws, qp);
    if (status) return status;
    int n = ws->n, nc = ws->nc;
    if (!ti_finite(x, (size_t)n) || !ti_finite(x_bar, (size_t)n)) return TRIBO_E_NONFINITE;
    double *w = ws->t, *m = ws->t2, *a = ws->v1, *Sa = ws->best;

    for (int i = 0; i < n; i++) ws->y[i] = x[i] / (ws->d[i] * ws->s), a[i] = ws->d[i] * x_bar[i];
    ti_qcqp_gradient(ws, ws->y, ws->g);
    classify_solution(ws, ws->y, ws->g);
    int kinks = ti_qcqp_degenerate(ws, ws->y, ws->g);
    double pivot = ti_qcqp_factor(ws);
    if (!(pivot > 0)) return TRIBO_E_SINGULAR;
    ti_qcqp_restrict(ws, a, w);
    solve_reduced(ws, pivot, w, m, a, Sa);
    if (!ti_finite(a, (size_t)n) || !ti_finite(Sa, (size_t)n)) return TRIBO_E_NONFINITE;

    for (int i = 0; i < nc && r_bar; i++) { /* u'(x_bar + P q_bar) of what moves with its radius */
        if (ws->state[i] == TI_FREE) continue;
        const double *u = ws->u + 2 * i;
        double d = ws->d[2 * i];
        r_bar[i] += u[0] * (x_bar[2 * i] - Sa[2 * i] / d) + u[1] * (x_bar[2 * i + 1] - Sa[2 * i + 1] / d);
    }
    for (int i = 0; i < n; i++) {
        double moved = ws->d[i] * a[i];
        if (q_bar) q_bar[i] -= moved;
        if (v) v[i] = moved;
    }
    if (degenerate) *degenerate = kinks;
    return TRIBO_OK;
}
