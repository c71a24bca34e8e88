/* qcqp_admm.c -- the alternating direction method, for the sets that Newton does not find.
 *
 * [LeLidec21] appendix A: proximal term, over-relaxation, spectral choice of rho and its adaptation by powers of the
 * condition number. docs/math.md eq. (56).
 */
#include "qcqp/qcqp.h"
#include <math.h>

static const double sigma = 1e-6;     /* proximal term; also the smallest eigenvalue that S is credited with */
static const double relaxation = 1.6; /* over-relaxation */
static const double power0 = 0.1, power_step = 0.1, imbalance = 10;
enum { CHECK = 10 };

/* Largest eigenvalue of S by power iteration, to the few per cent that rho needs. */
static double largest_eigenvalue(tribo_qcqp_ws *ws) {
    int n = ws->n;
    double *a = ws->v1, *c = ws->v2, lambda = 1;
    for (int i = 0; i < n; i++) a[i] = 1 + 0.01 * (i % 7);
    for (int k = 0; k < 12; k++) {
        ti_matvec_t(n, n, ws->S, ws->ld, a, NULL, c);
        double h = 0;
        for (int i = 0; i < n; i++) h += c[i] * c[i];
        h = sqrt(h);
        if (!(h > 1e-100)) return 1;
        for (int i = 0; i < n; i++) a[i] = c[i] / h;
        lambda = h;
    }
    /* the first iterate is not of length one, the later ones are */
    return lambda;
}

/* K := factor of S + shift */
static bool factor_shifted(tribo_qcqp_ws *ws, double shift) {
    size_t n = (size_t)ws->n, ld = (size_t)ws->ld;
    memcpy(ws->K, ws->S, n * ld * sizeof *ws->K);
    for (size_t i = 0; i < n; i++) ws->K[i * (ld + 1)] += shift;
    return ti_chol(ws->n, ws->K, ws->ld, 0) == 0;
}

/* One iteration: y by a linear solve, z its projection, w the multiplier of y = z. Residuals of y = z and of z's move.
 */
static void iterate(tribo_qcqp_ws *ws, double rho, double *z, double *w, double *primal, double *moved) {
    int n = ws->n;
    double *y = ws->y, *t = ws->t, *old = ws->v1;
    for (int i = 0; i < n; i++) t[i] = sigma * y[i] + rho * z[i] - w[i] - ws->b[i];
    ti_chol_solve(n, ws->K, ws->ld, t);
    *primal = *moved = 0;
    for (int i = 0; i < n; i++) {
        y[i] = t[i], old[i] = z[i];
        t[i] = relaxation * y[i] + (1 - relaxation) * z[i]; /* over-relaxed */
        z[i] = t[i] + w[i] / rho;
    }
    ti_qcqp_project(ws, z);
    for (int i = 0; i < n; i++) {
        w[i] += rho * (t[i] - z[i]);
        *primal = ti_max(fabs(y[i] - z[i]), *primal);
        *moved = ti_max(fabs(z[i] - old[i]), *moved);
    }
}

int ti_qcqp_admm(tribo_qcqp_ws *ws, double tol, int max_iter) {
    int n = ws->n, k = 0;
    double *z = ws->g, *w = ws->t2, primal, moved;
    double L = largest_eigenvalue(ws), spread = L / sigma, power = power0;
    double rho = sqrt(L * sigma) * pow(spread, power);
    memcpy(z, ws->y, (size_t)n * sizeof *z);
    memset(w, 0, (size_t)n * sizeof *w);
    bool ok = factor_shifted(ws, sigma + rho);
    while (ok && k < max_iter) {
        iterate(ws, rho, z, w, &primal, &moved);
        k++;
        if (k % CHECK) continue;
        if (ti_max(primal, rho * moved) <= tol) break;
        double next = power;
        if (primal > imbalance * rho * moved && power < 0.5) next = power + power_step;
        if (rho * moved > imbalance * primal && power > -0.5) next = power - power_step;
        if (next == power) continue;
        power = next;
        rho = sqrt(L * sigma) * pow(spread, power);
        ok = factor_shifted(ws, sigma + rho);
    }
    memcpy(ws->y, z, (size_t)n * sizeof *z);
    ti_qcqp_project(ws, ws->y);
    ti_qcqp_gradient(ws, ws->y, ws->g);
    return k;
}
