/* active.c -- active sets and their reduced KKT matrix.
 *
 * A contact is free, on its edge (QCQP) or fixed at 0. The points that a set allows to first order are y = base + N t:
 * a free variable has a unit column in N, a contact on its edge its tangent. docs/math.md eq. (53).
 */
#include "qcqp/qcqp.h"
#include <math.h>

void ti_qcqp_classify(tribo_qcqp_ws *ws, const double *y, const double *g) {
    if (ws->dim == 1) {
        for (int i = 0; i < ws->n; i++) ws->state[i] = y[i] > g[i] ? TI_FREE : TI_FIXED;
        return;
    }
    for (int i = 0; i < ws->nc; i++) {
        double z0 = y[2 * i] - g[2 * i], z1 = y[2 * i + 1] - g[2 * i + 1], r = ws->rho[i], h2 = z0 * z0 + z1 * z1;
        if (r == 0) {
            ws->state[i] = TI_FIXED;
        } else if (h2 <= r * r) {
            ws->state[i] = TI_FREE;
        } else {
            double h = sqrt(h2);
            ws->state[i] = TI_EDGE;
            ws->u[2 * i] = z0 / h, ws->u[2 * i + 1] = z1 / h, ws->kappa[i] = h / r - 1;
        }
    }
}

/* N by columns: a unit vector for a free variable, the tangent for a contact on its edge. */
static void make_basis(tribo_qcqp_ws *ws) {
    int m = 0;
    for (int i = 0; i < ws->nc; i++) {
        if (ws->state[i] == TI_FIXED) continue;
        ws->col[m] = ws->dim * i, ws->c0[m] = 1, ws->c1[m] = 0;
        if (ws->state[i] == TI_EDGE) {
            ws->c0[m] = -ws->u[2 * i + 1], ws->c1[m] = ws->u[2 * i];
        } else if (ws->dim == 2) {
            m++;
            ws->col[m] = 2 * i, ws->c0[m] = 0, ws->c1[m] = 1;
        }
        m++;
    }
    ws->m = m;
}

void ti_qcqp_restrict(const tribo_qcqp_ws *ws, const double *a, double *t) {
    if (ws->dim == 1)
        for (int k = 0; k < ws->m; k++) t[k] = a[ws->col[k]];
    else
        for (int k = 0; k < ws->m; k++) t[k] = ws->c0[k] * a[ws->col[k]] + ws->c1[k] * a[ws->col[k] + 1];
}

void ti_qcqp_prolong_add(const tribo_qcqp_ws *ws, const double *t, double *a) {
    if (ws->dim == 1) {
        for (int k = 0; k < ws->m; k++) a[ws->col[k]] += t[k];
        return;
    }
    for (int k = 0; k < ws->m; k++) {
        a[ws->col[k]] += ws->c0[k] * t[k];
        a[ws->col[k] + 1] += ws->c1[k] * t[k];
    }
}

/* Upper triangle of N'SN. */
static void reduce_matrix(tribo_qcqp_ws *ws, int ldk) {
    int m = ws->m, n = ws->n;
    const int *restrict col = ws->col;
    const double *restrict c0 = ws->c0, *restrict c1 = ws->c1;
    for (int k = 0; k < m; k++) {
        double *restrict out = ws->K + (size_t)k * (size_t)ldk;
        const double *restrict row = ws->S + (size_t)col[k] * (size_t)ws->ld;
        if (ws->dim == 1) {
            if (m == n)
                for (int l = k & ~(TI_LANE - 1); l < m; l++) out[l] = row[l];
            else
                for (int l = k; l < m; l++) out[l] = row[col[l]];
            continue;
        }
        if (c1[k] != 0) {
            double *restrict mix = ws->row, a = c0[k], b = c1[k];
            const double *restrict next = row + ws->ld;
            for (int j = col[k] & ~(TI_LANE - 1); j < n; j++) mix[j] = a * row[j] + b * next[j];
            row = mix;
        }
        for (int l = k; l < m; l++) out[l] = c0[l] * row[col[l]] + c1[l] * row[col[l] + 1];
    }
}

double ti_qcqp_factor(tribo_qcqp_ws *ws) {
    make_basis(ws);
    int m = ws->m, ldk = ti_ld(m);
    if (m == 0) return 1;
    reduce_matrix(ws, ldk);
    for (int k = 0; k < m; k++) {
        for (int l = m; l < ldk; l++) ws->K[(size_t)k * (size_t)ldk + (size_t)l] = 0;
        int i = ws->col[k], contact = i / ws->dim;
        ws->K[(size_t)k * (size_t)(ldk + 1)] += ws->eps[i] + (ws->state[contact] == TI_EDGE ? ws->kappa[contact] : 0);
    }
    if (ti_chol(m, ws->K, ldk, 0)) return 0;
    double most = 0;
    for (int k = 0; k < m; k++) {
        double inv = ws->K[(size_t)k * (size_t)(ldk + 1)];
        most = inv > most ? inv : most;
    }
    for (int k = m; k < ldk; k++) { /* padded by the identity, so that solves go by whole blocks */
        memset(ws->K + (size_t)k * (size_t)ldk, 0, (size_t)ldk * sizeof *ws->K);
        ws->K[(size_t)k * (size_t)(ldk + 1)] = 1;
    }
    return 1 / (most * most);
}

void ti_qcqp_turn(tribo_qcqp_ws *ws) {
    if (ws->dim == 1) return;
    for (int i = 0; i < ws->nc; i++) {
        if (ws->state[i] != TI_EDGE) continue;
        double a = ws->y[2 * i], b = ws->y[2 * i + 1], h = sqrt(a * a + b * b);
        if (!(h > 0)) continue;
        ws->u[2 * i] = a / h, ws->u[2 * i + 1] = b / h;
    }
    make_basis(ws);
}

void ti_qcqp_solve_reduced(const tribo_qcqp_ws *ws, double *t) {
    int ldk = ti_ld(ws->m);
    for (int k = ws->m; k < ldk; k++) t[k] = 0;
    ti_chol_solve(ldk, ws->K, ldk, t);
}
