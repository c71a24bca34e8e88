/* qcqp_problem.c -- workspace, scaling, residual. */
#include "qcqp/qcqp.h"
#include <math.h>

/* The compliance eps_i d_i^-2 that picks the solution of least norm is the same for all x, as far as these bounds let
 * it: below the first it would drown in rounding, above the last it would be part of the problem.
 * On the edge of a disk rounding costs its square root, hence the second. */
static const double eps_mid = 1e-8, eps_low = 1e-11, eps_low_qcqp = 1e-9, eps_high = 1e-4;

static void layout(tribo_qcqp_ws *ws, ti_arena *arena) {
    size_t n = (size_t)ti_ld(ws->n_max), nn = n * n;
    TI_CARVE(arena, ws->S, nn);
    TI_CARVE(arena, ws->K, nn);
    double **vectors[] = {&ws->d,     &ws->b,        &ws->rho, &ws->eps,  &ws->y,    &ws->g, &ws->center,
                          &ws->kappa, &ws->factored, &ws->u,   &ws->c0,   &ws->c1,   &ws->t, &ws->t2,
                          &ws->row,   &ws->v1,       &ws->v2,  &ws->best, &ws->found};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) TI_CARVE(arena, *vectors[i], n);
    TI_CARVE(arena, ws->col, n);
    TI_CARVE(arena, ws->state, n);
    TI_CARVE(arena, ws->last, n);
}

void ti_qcqp_carve(ti_arena *arena, int n_max, tribo_qcqp_ws **out) {
    tribo_qcqp_ws shape = {0}, *ws;
    TI_CARVE(arena, ws, 1);
    *out = ws;
    if (!ws) ws = &shape;
    ws->n_max = n_max;
    layout(ws, arena);
}

tribo_status tribo_qcqp_ws_new(int n_max, const tribo_allocator *a, tribo_qcqp_ws **out) {
    if (n_max < 1 || n_max > 20000 || !out) return TRIBO_E_ARG;
    ti_arena arena = {0};
    tribo_qcqp_ws *ws;
    ti_qcqp_carve(&arena, n_max, &ws);
    if (!ti_arena_take(&arena, a)) return TRIBO_E_NOMEM;
    ti_qcqp_carve(&arena, n_max, &ws);
    ws->bytes = arena.used;
    if (a) ws->allocator = *a;
    *out = ws;
    return TRIBO_OK;
}

void tribo_qcqp_ws_free(tribo_qcqp_ws *ws) {
    if (!ws) return;
    tribo_allocator a = ws->allocator;
    ti_free(&a, ws, ws->bytes);
}

static inline double clamped(double e, double low) {
    e = e > eps_high ? eps_high : e;
    return e < low ? low : e;
}

/* d_i, equal on a pair; E_ARG where a diagonal shows that P is not semidefinite. */
static tribo_status scale_variables(tribo_qcqp_ws *ws, const tribo_qcqp *qp) {
    size_t n = (size_t)ws->n;
    double low = HUGE_VAL, high = 0, most = 0, worst = 0;
    for (size_t i = 0; i < n; i++) {
        double p = qp->P[i * n + i];
        most = p > most ? p : most, worst = p < worst ? p : worst;
    }
    if (worst < -1e-12 * most) return TRIBO_E_ARG;
    if (!(most > 1e-300)) most = 1;
    double *c = ws->kappa; /* curvatures, one a contact */
    size_t nc = (size_t)ws->nc, dim = (size_t)ws->dim;
    for (size_t i = 0; i < nc; i++) {
        const double *p = qp->P + dim * i * (n + 1);
        c[i] = p[0];
        if (dim == 2) {
            double half = 0.5 * (p[0] - p[n + 1]);
            c[i] = 0.5 * (p[0] + p[n + 1]) + sqrt(half * half + p[1] * p[1]);
        }
        c[i] = c[i] > 1e-300 ? c[i] : most;
        low = c[i] < low ? c[i] : low, high = c[i] > high ? c[i] : high;
    }
    for (size_t i = 0; i < nc; i++) c[i] = 1 / sqrt(c[i]);
    for (size_t i = 0; i < n; i++) ws->d[i] = c[dim == 2 ? i / 2 : i];
    double delta = eps_mid * sqrt(low) * sqrt(high);
    double least = dim == 2 ? eps_low_qcqp : eps_low;
    ws->least_eps = clamped(delta / high, least);
    for (size_t i = 0; i < n; i++) ws->eps[i] = clamped(delta * ws->d[i] * ws->d[i], least);
    return TRIBO_OK;
}

static double largest(const double *a, int n) {
    double m = 0;
    for (int i = 0; i < n; i++) m = fabs(a[i]) > m ? fabs(a[i]) : m;
    return m;
}

tribo_status ti_qcqp_scale(tribo_qcqp_ws *ws, const tribo_qcqp *qp) {
    if (!qp || !qp->P || !qp->q || qp->n < 1 || qp->n > ws->n_max || (qp->r && qp->n % 2)) return TRIBO_E_ARG;
    int n = ws->n = qp->n, dim = ws->dim = qp->r ? 2 : 1, nc = ws->nc = n / dim;
    ws->ld = ti_ld(n);
    if (!ti_finite(qp->q, (size_t)n) || (qp->r && !ti_finite(qp->r, (size_t)nc))) return TRIBO_E_NONFINITE;
    for (int i = 0; i < nc && qp->r; i++)
        if (qp->r[i] < 0) return TRIBO_E_ARG;
    tribo_status status = scale_variables(ws, qp);
    if (status) return status;
    ti_scale_both(n, qp->P, ws->d, ws->S, ws->ld, ws->row);
    if (!ti_finite(ws->row, (size_t)n)) return TRIBO_E_NONFINITE;
    for (int i = 0; i < n; i++) ws->b[i] = ws->d[i] * qp->q[i];
    double s = largest(ws->b, n);
    if (dim == 2) {
        for (int i = 0; i < nc; i++) ws->rho[i] = qp->r[i] / ws->d[2 * i];
        double reach = largest(ws->rho, nc);
        s = reach < s ? reach : s;
    }
    ws->s = s > 0 ? s : 1;
    for (int i = 0; i < n; i++) ws->b[i] /= ws->s;
    for (int i = 0; i < nc && dim == 2; i++) ws->rho[i] /= ws->s;
    return TRIBO_OK;
}

void ti_qcqp_gradient(const tribo_qcqp_ws *ws, const double *y, double *g) {
    ti_matvec_t(ws->n, ws->n, ws->S, ws->ld, y, ws->b, g);
}

/* How far z is from the disk of radius r, as a factor: z := z * factor is the projection. */
static inline double shrink(double a, double b, double r) {
    double h2 = a * a + b * b;
    return h2 > r * r ? r / sqrt(h2) : 1;
}

void ti_qcqp_project(const tribo_qcqp_ws *ws, double *y) {
    if (ws->dim == 1) {
        for (int i = 0; i < ws->n; i++) y[i] = y[i] < 0 ? 0 : y[i];
        return;
    }
    for (int i = 0; i < ws->nc; i++) {
        double k = shrink(y[2 * i], y[2 * i + 1], ws->rho[i]);
        y[2 * i] *= k, y[2 * i + 1] *= k;
    }
}

double ti_qcqp_residual(const tribo_qcqp_ws *ws, const double *y, const double *g) {
    double worst = 0;
    if (ws->dim == 1) {
        for (int i = 0; i < ws->n; i++) { /* y - max(0, y - g) = min(y, g) */
            double e = fabs(y[i] < g[i] ? y[i] : g[i]);
            worst = ti_max(e, worst);
        }
        return worst;
    }
    for (int i = 0; i < ws->nc; i++) {
        const double *a = y + 2 * i, *h = g + 2 * i;
        double z0 = a[0] - h[0], z1 = a[1] - h[1], k = shrink(z0, z1, ws->rho[i]);
        double e = ti_max(fabs(a[0] - k * z0), fabs(a[1] - k * z1));
        if (k == 1) e = ti_max(fabs(h[0]), fabs(h[1]));
        worst = ti_max(e, worst);
    }
    return worst;
}

double ti_qcqp_note(tribo_qcqp_ws *ws) {
    double residual = ti_qcqp_residual(ws, ws->y, ws->g);
    if (residual < ws->best_residual) {
        ws->best_residual = residual;
        memcpy(ws->best, ws->y, (size_t)ws->n * sizeof *ws->y);
    }
    return residual;
}

bool ti_qcqp_solved(const tribo_qcqp_ws *ws, double tol) {
    if (ws->best_residual <= tol) return true;
    double most = 0;
    for (int i = 0; i < ws->n; i++) most = ti_max(fabs(ws->best[i]), most);
    return ws->best_residual <= 1e-15 * most; /* rounding of S y + b */
}
