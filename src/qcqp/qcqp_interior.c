/* qcqp_interior.c -- a primal-dual interior point for the QCQP, which finds the sets between which Newton's method
 * cycles.
 *
 * With c_i = (rho_i^2 - |y_i|^2) / 2 and multipliers gamma_i: Sy + b + gamma_i y_i = 0, gamma_i c_i = mu, mu to 0.
 * docs/math.md eq. (57), (58).
 */
#include "qcqp/qcqp.h"
#include <math.h>

static inline double gap(double r, const double *a) {
    return 0.5 * (r * r - a[0] * a[0] - a[1] * a[1]);
}

/* K := factor of S + gamma + (gamma / c) y y' + eps, with contacts of radius 0 taken out. */
static bool factor_barrier(tribo_qcqp_ws *ws, const double *gamma) {
    size_t n = (size_t)ws->n, ld = (size_t)ws->ld;
    memcpy(ws->K, ws->S, n * ld * sizeof *ws->K);
    for (size_t i = 0; i < n; i += 2) {
        double r = ws->rho[i / 2], *k = ws->K + i * ld + i;
        if (r > 0) {
            const double *a = ws->y + i;
            double m = gamma[i / 2], w = m / gap(r, a);
            k[0] += ws->eps[i] + m + w * a[0] * a[0];
            k[1] += w * a[0] * a[1];
            k[ld + 1] += ws->eps[i] + m + w * a[1] * a[1];
            continue;
        }
        for (size_t j = 0; j < n; j++) ws->K[j * ld + i] = ws->K[j * ld + i + 1] = 0;
        for (size_t j = 0; j < n; j++) ws->K[i * ld + j] = ws->K[(i + 1) * ld + j] = 0;
        k[0] = k[ld + 1] = 1;
    }
    return ti_chol(ws->n, ws->K, ws->ld, 0) == 0;
}

/* The longest step, at most 1, that keeps every gap and multiplier above a hundredth of what it is. */
static double step_length(const tribo_qcqp_ws *ws, const double *dy, const double *gamma, const double *dgamma) {
    double alpha = 1;
    for (int i = 0; i < ws->nc; i++) {
        double r = ws->rho[i];
        if (r == 0) continue;
        const double *a = ws->y + 2 * i, *d = dy + 2 * i;
        double q = d[0] * d[0] + d[1] * d[1], p = a[0] * d[0] + a[1] * d[1], most = 1;
        if (q > 0) most = 2 * gap(r, a) / (p + sqrt(p * p + 2 * q * gap(r, a))); /* |y + most dy| = rho */
        if (dgamma[i] < 0 && -gamma[i] / dgamma[i] < most) most = -gamma[i] / dgamma[i];
        alpha = 0.99 * most < alpha ? 0.99 * most : alpha;
    }
    return alpha;
}

int ti_qcqp_interior(tribo_qcqp_ws *ws, double tol, int max_steps) {
    int n = ws->n, nc = ws->nc, k = 0;
    double *gamma = ws->kappa, *dgamma = ws->factored, *dy = ws->t, shrink = 0.2;
    memset(ws->y, 0, (size_t)n * sizeof *ws->y);
    ti_qcqp_gradient(ws, ws->y, ws->g);
    for (int i = 0; i < nc; i++) gamma[i] = ws->rho[i] > 0 ? 0.1 + fabs(ws->b[2 * i]) / ws->rho[i] : 0;
    while (k < max_steps && factor_barrier(ws, gamma)) {
        double mean = 0;
        for (int i = 0; i < nc; i++) mean += gamma[i] * gap(ws->rho[i], ws->y + 2 * i) / nc;
        double mu = shrink * mean;
        for (int i = 0; i < n; i++) {
            double r = ws->rho[i / 2];
            dy[i] = r > 0 ? -ws->g[i] - mu / gap(r, ws->y + (i & ~1)) * ws->y[i] : 0;
        }
        ti_chol_solve(n, ws->K, ws->ld, dy);
        for (int i = 0; i < nc; i++) {
            const double *a = ws->y + 2 * i, *d = dy + 2 * i;
            double c = gap(ws->rho[i], a), along = a[0] * d[0] + a[1] * d[1];
            dgamma[i] = ws->rho[i] > 0 ? (mu - gamma[i] * c + gamma[i] * along) / c : 0;
        }
        double alpha = step_length(ws, dy, gamma, dgamma);
        if (!(alpha > 1e-8)) break;
        for (int i = 0; i < n; i++) ws->y[i] += alpha * dy[i];
        for (int i = 0; i < nc; i++) gamma[i] += alpha * dgamma[i];
        ti_qcqp_gradient(ws, ws->y, ws->g);
        shrink = alpha > 0.9 ? 0.05 : alpha > 0.5 ? 0.2 : 0.5;
        k++;
        if (ti_qcqp_residual(ws, ws->y, ws->g) < 0.1 * tol) break;
    }
    (void)ti_qcqp_note(ws);
    return k;
}
