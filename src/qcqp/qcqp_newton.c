/* qcqp_newton.c -- the semismooth Newton method on the natural map, which finds active sets, and the refinement that
 * ends it.
 *
 * All but the refinement happens on the problem with eps added to the diagonal: it has one solution, whatever the rank
 * of P, and that tends to the solution of least norm. docs/math.md eq. (54).
 */
#include "qcqp/qcqp.h"
#include <math.h>

/* The gradient of the regularised problem, g + eps (y - center). */
static void regularised(const tribo_qcqp_ws *ws, double *out) {
    for (int i = 0; i < ws->n; i++) out[i] = ws->g[i] + ws->eps[i] * (ws->y[i] - ws->center[i]);
}

/* t := K^-1 N'a */
static void solve_reduced(tribo_qcqp_ws *ws, const double *a) {
    ti_qcqp_restrict(ws, a, ws->t);
    ti_qcqp_solve_reduced(ws, ws->t);
}

/* y and g move to the point from which the set's directions start: fixed contacts at 0, edges on their circles. */
static void to_base(tribo_qcqp_ws *ws) {
    double *y = ws->y;
    for (int i = 0; i < ws->nc; i++) {
        if (ws->state[i] == TI_FIXED)
            for (int k = 0; k < ws->dim; k++) y[ws->dim * i + k] = 0;
        else if (ws->state[i] == TI_EDGE)
            for (int k = 0; k < 2; k++) y[2 * i + k] = ws->rho[i] * ws->u[2 * i + k];
    }
    ti_qcqp_gradient(ws, y, ws->g);
    regularised(ws, ws->v2);
}

/* The curvature of edge i at y, which near the solution is better than that of the natural map. */
static double curvature_at(const tribo_qcqp_ws *ws, int i, const double *g) {
    double gamma = -(ws->u[2 * i] * g[2 * i] + ws->u[2 * i + 1] * g[2 * i + 1]) / ws->rho[i];
    return gamma > 0 ? gamma : 0;
}

/* Is the solution that the factor led to surely the only one? Not where the curvature of an edge has gone since it was
 * factored, nor where an edge holds nothing: the contact could leave it inwards, for a solution of lesser norm. */
static bool only_one(const tribo_qcqp_ws *ws, double pivot) {
    const double weak = 1e-6;
    for (int i = 0; i < ws->nc && ws->dim == 2; i++) {
        if (ws->state[i] != TI_EDGE) continue;
        double kappa = curvature_at(ws, i, ws->g);
        if (kappa < weak || fabs(kappa - ws->factored[i]) > 0.1 * pivot) return false;
    }
    return true;
}

/* y and g move on to the solution of the linearised problem. How far along the edges they went. */
static double newton_step(tribo_qcqp_ws *ws) {
    double size = 0;
    for (int i = 0; i < ws->n; i++) ws->v1[i] = -ws->v2[i];
    solve_reduced(ws, ws->v1);
    ti_qcqp_prolong_add(ws, ws->t, ws->y);
    ti_qcqp_gradient(ws, ws->y, ws->g);
    for (int k = 0; k < ws->m && ws->dim == 2; k++) size = ti_max(fabs(ws->t[k]), size);
    return size;
}

/* Solve on the set found, without regularisation, by refinement with the regularised factor. True if that succeeds.
 * With T = K^-1 eps, a first correction t = T y leaves an error of T^2 y; where K is singular t - 2 T t does too, and
 * it also takes the null space's rounding out of y, on which T is 1. docs/math.md eq. (55). */
static bool refine(tribo_qcqp_ws *ws, double tol, bool singular) {
    int n = ws->n, m = ws->m;
    double *y = ws->y, *g = ws->g, *t = ws->t, *t2 = ws->t2, before = HUGE_VAL, enough = 0;
    for (int i = 0; i < n; i++) enough = ti_max(fabs(y[i]), enough);
    enough = ti_max(0.01 * tol, 4e-16 * enough); /* rounding of S y */
    for (int round = 0; round < 12; round++) {
        if (round > 0 || ws->dim == 2) {
            ti_qcqp_project(ws, y);
            ti_qcqp_turn(ws); /* K stays: since Newton's last step the tangents turned by little */
            ti_qcqp_gradient(ws, y, g);
        }
        if (round > 0) {
            double now = ti_qcqp_note(ws);
            if (now < enough || !(now < 0.5 * before)) break;
            before = now;
        }
        bool whole = singular && round == 0; /* then -g is eps y but for rounding, which matters in the null space */
        for (int i = 0; i < n; i++) ws->v1[i] = whole ? ws->eps[i] * y[i] : -g[i];
        solve_reduced(ws, ws->v1);
        if (singular) {
            for (int k = 0; k < m; k++) t2[k] = ws->eps[ws->col[k]] * t[k];
            ti_qcqp_solve_reduced(ws, t2);
            for (int k = 0; k < m; k++) t[k] -= (whole ? 2 : 1) * t2[k];
        }
        ti_qcqp_prolong_add(ws, t, y);
    }
    return ti_qcqp_solved(ws, tol);
}

/* QP: where the number of pivots has stopped to fall, make one of them only, the last. Then no set comes twice
 * (Murty's rule; Judice and Pires), as eps makes S a P-matrix. */
static void limit_pivots(tribo_qcqp_ws *ws, int *fewest, int *patience) {
    int changed = 0, last = 0;
    for (int i = 0; i < ws->n; i++)
        if (ws->state[i] != ws->last[i]) changed++, last = i;
    if (changed < *fewest) {
        *fewest = changed, *patience = 3;
    } else if (--*patience < 0) {
        unsigned char flipped = ws->state[last];
        memcpy(ws->state, ws->last, (size_t)ws->nc);
        ws->state[last] = flipped;
    }
}

/* How far the last step along the edges may have gone for the tangents to be right to second order: the nearer K is
 * to singular, the less. */
static double edge_tolerance(double pivot) {
    double rounding = 1e-15 / pivot, most = pivot > 1e-3 ? 1e-3 : pivot < 1e-7 ? 1e-7 : pivot;
    return most > rounding ? most : rounding;
}

int ti_qcqp_newton(tribo_qcqp_ws *ws, double tol, ti_qcqp_goal goal, int max_steps) {
    double *reg = ws->v2, before = HUGE_VAL;
    size_t contacts = (size_t)ws->nc;
    int stuck = 0, fewest = ws->nc + 1, patience = 3;
    bool centered = false, local = false;
    regularised(ws, reg);
    ti_qcqp_classify(ws, ws->y, reg);
    for (int k = 1; k <= max_steps; k++) {
        to_base(ws);
        for (int i = 0; i < ws->nc && local; i++)
            if (ws->state[i] == TI_EDGE) ws->kappa[i] = curvature_at(ws, i, reg);
        double pivot = ti_qcqp_factor(ws);
        if (!(pivot > 0)) return k;
        double size = newton_step(ws);
        regularised(ws, reg);
        double residual = ti_qcqp_residual(ws, ws->y, reg);
        memcpy(ws->last, ws->state, contacts);
        memcpy(ws->factored, ws->kappa, contacts * sizeof *ws->kappa);
        ti_qcqp_classify(ws, ws->y, reg);
        bool same = memcmp(ws->last, ws->state, contacts) == 0;
        local = same && size < 0.1 && ws->dim == 2;
        if (same && goal == TI_PATH && residual < 1e-3 && size * size < 1e-3 * ws->least_eps) return k;
        if (same && goal != TI_PATH && residual < 1e-4 && size < edge_tolerance(pivot)) {
            bool singular = pivot < 1e-5, reached = refine(ws, tol, singular && !centered);
            /* what the regularised problem says is certain once its residual is small beside eps */
            bool certain = ws->dim == 1 || residual < 1e-3 * ws->least_eps;
            if (reached && (centered || certain || (!singular && only_one(ws, pivot)))) {
                ws->done = true;
                return k;
            }
            if (reached) {
                ws->best_residual = ti_max(ws->best_residual, 0.5 * tol); /* to be replaced by the one wanted */
            } else if (goal == TI_INSIST) {
                /* The set is not that of the limit, or P too near to singular: a step of the proximal method. */
                centered = true;
                memcpy(ws->center, ws->y, (size_t)ws->n * sizeof *ws->y);
            } else {
                return k;
            }
            regularised(ws, reg);
            ti_qcqp_classify(ws, ws->y, reg);
            local = false;
        } else if (ws->dim == 1 && !same) {
            limit_pivots(ws, &fewest, &patience);
        }
        stuck = residual < 0.9 * before ? 0 : stuck + 1;
        before = residual < before ? residual : before;
        if (stuck > 4 && ws->dim == 2) return k;
    }
    if (goal == TI_INSIST && !ws->done) (void)refine(ws, tol, false);
    return max_steps;
}
