/* given.c -- Newton on the law with a matrix G that is given and, by rounding, is no J M^-1 J'.
 *
 * Where contacts are redundant, the rounding in G decides how they share the load: the answer is that of this G, and
 * not the limit of a compliance. docs/math.md, "A matrix that is given".
 */
#include "contact/answer/dense_problem.h"
#include "contact/system/blocks.h"
#include "contact/work/workspace.h"
#include <math.h>

/* The law at lambda: its equation into F, linearised into A (3 nc,3 nc) = dF/dlambda + dF/dc G; returns the merit. */
static double linearise(ti_contact_ws *ws, const ti_contact_problem *p, const double *G, const double *lambda,
                        const double *c, double *F, double *A) {
    size_t n = 3 * (size_t)p->nc;
    double merit = 0;
    for (int i = 0; i < p->nc; i++) {
        ti_law_contact contact = ti_law_contact_of(ws, p, i, NULL);
        ti_law_slope slope;
        unsigned char mode = ws->law->mode(&contact, lambda + 3 * i, c + 3 * i);
        ws->law->slope(&contact, mode, lambda + 3 * i, c + 3 * i, &slope);
        ws->mode[i] = mode;
        for (int r = 0; r < 3; r++) {
            double *row = A ? A + (3 * (size_t)i + (size_t)r) * n : NULL;
            const double *from = G + 3 * (size_t)i * n, *d = slope.c + 3 * r;
            F[3 * i + r] = slope.F[r];
            merit += slope.F[r] * slope.F[r] * (r == 2 ? ws->scale[i].g_n : ws->scale[i].g_t);
            for (size_t k = 0; row && k < n; k++) row[k] = d[0] * from[k] + d[1] * from[n + k] + d[2] * from[2 * n + k];
            for (int k = 0; row && k < 3; k++) row[3 * i + k] += slope.l[3 * r + k];
        }
    }
    return merit;
}

static void velocity(int n, const double *G, const double *g, const double *lambda, double *c) {
    for (int r = 0; r < n; r++) {
        c[r] = g[r];
        for (int k = 0; k < n; k++) c[r] += G[(size_t)r * (size_t)n + (size_t)k] * lambda[k];
    }
}

double ti_given_newton(ti_contact_ws *ws, const ti_contact_problem *p, const double *G, const double *g, double tol,
                       double *lambda, double *A, int *pivot) {
    int n = 3 * p->nc;
    double *x = ws->lambda, *trial = ws->lt, *F = ws->f, *d = ws->dlambda, *c = ws->l1, best = HUGE_VAL;
    size_t bytes = (size_t)n * sizeof *x;
    memcpy(x, lambda, bytes);
    velocity(n, G, g, x, c);
    for (int it = 0; it < 60 && best > 0.01 * tol; it++) {
        double merit = linearise(ws, p, G, x, c, F, A), step = 1;
        ws->iterations++;
        if (!ti_block_lu(n, A, pivot)) break;
        for (int k = 0; k < n; k++) d[k] = -F[k];
        ti_block_solve(n, A, pivot, 1, d);
        for (;; step /= 2) {
            for (int k = 0; k < n; k++) trial[k] = x[k] + step * d[k];
            velocity(n, G, g, trial, c);
            if (linearise(ws, p, G, trial, c, F, NULL) < (1 - 2e-4 * step) * merit || step < 1e-2) break;
        }
        memcpy(x, trial, bytes);
        double r = ti_contact_residual_at(ws, p, x, c);
        if (!(r < HUGE_VAL)) break;
        if (r < best) best = r, memcpy(lambda, x, bytes);
    }
    return best;
}
