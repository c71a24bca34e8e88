/* qcqp_solve.c -- the ladder: a few sweeps, Newton on the active set; from a strongly regularised problem down;
 * an interior point; ADMM.
 *
 * The first rung answers almost every problem of contact. docs/math.md, The ladder of the QP and QCQP.
 */
#include "qcqp/qcqp.h"
#include <math.h>

enum {
    SWEEPS = 3,
    NEWTON_QP = 60,
    NEWTON_QCQP = 12,
    NEWTON_STAGE = 12,
    NEWTON_LAST = 20,
    INTERIOR = 80,
    ADMM_FIRST = 50
};
enum { STAGES = 3, STAGE_RATIO = 100 };
static const double default_tol = 1e-12;
static const int default_iter = 2000;

static inline void axpy(int n, double c, const double *restrict a, double *restrict y) {
    for (int j = 0; j < n; j++) y[j] += c * a[j];
}

/* One sweep of projected Gauss-Seidel; g follows y. */
static void sweep(tribo_qcqp_ws *ws) {
    int n = ws->n;
    double *y = ws->y, *g = ws->g;
    if (ws->dim == 1) {
        for (int i = 0; i < n; i++) {
            double z = y[i] - g[i], next = z > 0 ? z : 0, dy = next - y[i];
            if (dy == 0) continue;
            y[i] = next;
            axpy(n, dy, ws->S + (size_t)i * (size_t)ws->ld, g);
        }
        return;
    }
    for (int i = 0; i < ws->nc; i++) {
        double *a = y + 2 * i, z0 = a[0] - g[2 * i], z1 = a[1] - g[2 * i + 1], r = ws->rho[i];
        double h2 = z0 * z0 + z1 * z1, k = h2 > r * r ? r / sqrt(h2) : 1, d0 = k * z0 - a[0], d1 = k * z1 - a[1];
        if (d0 == 0 && d1 == 0) continue;
        const double *row = ws->S + (size_t)(2 * i) * (size_t)ws->ld;
        a[0] += d0, a[1] += d1;
        axpy(n, d0, row, g);
        axpy(n, d1, row + ws->ld, g);
    }
}

static void restart(tribo_qcqp_ws *ws, const double *y) {
    size_t bytes = (size_t)ws->n * sizeof *ws->y;
    if (y)
        memcpy(ws->y, y, bytes);
    else
        memset(ws->y, 0, bytes);
    memset(ws->center, 0, bytes);
    ti_qcqp_gradient(ws, ws->y, ws->g);
}

static void scale_eps(tribo_qcqp_ws *ws, double by) {
    ws->least_eps *= by;
    for (int i = 0; i < ws->n; i++) ws->eps[i] *= by;
}

/* Down the path of solutions from strong regularisation to eps, a few Newton steps at each stage. */
static int continuation(tribo_qcqp_ws *ws, double tol) {
    int steps = 0;
    scale_eps(ws, pow(STAGE_RATIO, STAGES));
    for (int stage = 0; stage < STAGES; stage++) {
        steps += ti_qcqp_newton(ws, tol, TI_PATH, NEWTON_STAGE);
        scale_eps(ws, 1. / STAGE_RATIO);
    }
    return steps + ti_qcqp_newton(ws, tol, TI_INSIST, NEWTON_LAST);
}

/* The interior point, then Newton from its end: for the solution of least norm, and if that fails for the one found. */
static int interior(tribo_qcqp_ws *ws, double tol) {
    size_t bytes = (size_t)ws->n * sizeof *ws->y;
    int steps = ti_qcqp_interior(ws, tol, INTERIOR);
    memcpy(ws->found, ws->y, bytes);
    memset(ws->center, 0, bytes);
    steps += ti_qcqp_newton(ws, tol, TI_END, NEWTON_LAST);
    if (ws->done) return steps;
    restart(ws, ws->found);
    memcpy(ws->center, ws->found, bytes);
    return steps + ti_qcqp_newton(ws, tol, TI_INSIST, NEWTON_LAST);
}

static void ladder(tribo_qcqp_ws *ws, double tol, int max_iter, bool cold, tribo_qcqp_info *info) {
    for (int k = 0; k < SWEEPS && cold; k++) sweep(ws);
    info->newton = ti_qcqp_newton(ws, tol, TI_END, ws->dim == 1 ? NEWTON_QP : NEWTON_QCQP);
    if (ws->done) return;
    restart(ws, NULL);
    for (int k = 0; k < SWEEPS; k++) sweep(ws);
    info->newton += continuation(ws, tol);
    if (ws->done) return;
    if (ws->dim == 2) info->newton += interior(ws, tol);
    for (int some = ADMM_FIRST; info->iterations < max_iter && !ti_qcqp_solved(ws, tol); some *= 2) {
        int left = max_iter - info->iterations;
        restart(ws, ws->best);
        int made = ti_qcqp_admm(ws, tol, some < left ? some : left);
        if (made == 0) return;
        info->iterations += made;
        ti_qcqp_note(ws);
        if (!ti_qcqp_solved(ws, tol))
            info->newton += ti_qcqp_newton(ws, tol, TI_INSIST, ws->dim == 1 ? NEWTON_QP : NEWTON_QCQP);
    }
}

/* Constraints with neither slack nor multiplier. */
int ti_qcqp_degenerate(const tribo_qcqp_ws *ws, const double *y, const double *g) {
    const double small = 1e-10;
    int count = 0;
    for (int i = 0; i < ws->nc; i++) {
        double slack = y[i], multiplier = g[i];
        if (ws->dim == 2) {
            const double *a = y + 2 * i, *c = g + 2 * i;
            slack = ws->rho[i] - sqrt(a[0] * a[0] + a[1] * a[1]), multiplier = sqrt(c[0] * c[0] + c[1] * c[1]);
        }
        count += fabs(slack) <= small && fabs(multiplier) <= small;
    }
    return count;
}

tribo_status tribo_qcqp_solve(tribo_qcqp_ws *ws, const tribo_qcqp *qp, double tol, int max_iter, double *x,
                              double *dual, tribo_qcqp_info *info) {
    if (!ws || !x || !(tol >= 0) || max_iter < 0) return TRIBO_E_ARG;
    tribo_status status = ti_qcqp_scale(ws, qp);
    if (status) return status;
    int n = ws->n;
    if (!ti_finite(x, (size_t)n)) return TRIBO_E_NONFINITE;
    if (tol == 0) tol = default_tol;
    if (max_iter == 0) max_iter = default_iter;

    bool cold = true;
    for (int i = 0; i < n; i++) {
        ws->y[i] = x[i] / (ws->d[i] * ws->s);
        cold = cold && x[i] == 0;
    }
    ti_qcqp_project(ws, ws->y);
    memset(ws->center, 0, (size_t)n * sizeof *ws->center);
    if (cold)
        memcpy(ws->g, ws->b, (size_t)n * sizeof *ws->g);
    else
        ti_qcqp_gradient(ws, ws->y, ws->g);
    ws->done = false;
    ws->best_residual = HUGE_VAL; /* the start is no candidate: it may solve the problem without being of least norm */
    memcpy(ws->best, ws->y, (size_t)n * sizeof *ws->best);

    tribo_qcqp_info done = {0};
    ladder(ws, tol, max_iter, cold, &done);
    ti_qcqp_gradient(ws, ws->best, ws->g);
    done.residual = ti_qcqp_residual(ws, ws->best, ws->g);
    done.degenerate = ti_qcqp_degenerate(ws, ws->best, ws->g);
    for (int i = 0; i < n; i++) ws->v1[i] = ws->best[i] * ws->d[i] * ws->s;
    for (int i = 0; i < n; i++) ws->g[i] = ws->g[i] * ws->s / ws->d[i];
    if (!ti_finite(ws->v1, (size_t)n) || !ti_finite(ws->g, (size_t)n)) return TRIBO_E_NONFINITE;
    memcpy(x, ws->v1, (size_t)n * sizeof *x);
    if (dual) memcpy(dual, ws->g, (size_t)n * sizeof *dual);
    if (info) *info = done;
    return ti_qcqp_solved(ws, tol) ? TRIBO_OK : TRIBO_NOT_CONVERGED;
}
