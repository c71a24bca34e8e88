/* qcqp_reference.h -- QPs and QCQPs made around their solution: what holds each contact, x and the multipliers are
 * drawn, and q is what makes x the solution; its derivative is that of the active set, solved here in long double by
 * elimination.
 *
 * Nothing of the library is used. docs/math.md eq. (52), (53), (57).
 */
#ifndef QCQP_REFERENCE_H
#define QCQP_REFERENCE_H
#include "qcqp_problems.h"
#include <stdbool.h>

enum { REFERENCE_MAX = 64 };

typedef struct reference {
    int n, nc, dim; /* dim: 1 QP, 2 QCQP */
    bool unique;
    double P[REFERENCE_MAX * REFERENCE_MAX], q[REFERENCE_MAX], r[REFERENCE_MAX], x[REFERENCE_MAX], w[REFERENCE_MAX];
    double grad_q[REFERENCE_MAX], grad_r[REFERENCE_MAX], grad_P[REFERENCE_MAX * REFERENCE_MAX]; /* of L = w'x */
} reference;

/* The reduced variables at a solution: column k of N has up to two entries, from row `at` on; curved: what the edge's
 * curvature adds to the matrix. */
typedef struct reference_set {
    int m, at[REFERENCE_MAX];
    double c[REFERENCE_MAX][2], curved[REFERENCE_MAX];
} reference_set;

static inline void reference_free(reference_set *s, int at) {
    s->at[s->m] = at, s->c[s->m][0] = 1, s->c[s->m][1] = 0, s->curved[s->m++] = 0;
}

/* Contact i is inside (0), on its edge (1) or held at 0 (2): x, and the multipliers into g = P x + q. */
static inline void reference_contact(reference *p, reference_set *s, int i, int kind, uint64_t *seed, double *g) {
    double size = 0.6 + 0.4 * draw(seed), angle = 3.1 * draw(seed), push = 0.6 + 0.4 * draw(seed);
    if (p->dim == 1) {
        p->x[i] = kind == 0 ? size : 0, g[i] = kind == 0 ? 0 : push;
        if (kind == 0) reference_free(s, i);
        return;
    }
    double u[2] = {cos(angle), sin(angle)}, *x = p->x + 2 * i;
    p->r[i] = kind == 2 ? 0 : kind == 1 ? size : 2 * size;
    for (int k = 0; k < 2; k++) x[k] = kind == 2 ? 0 : size * u[k], g[2 * i + k] = kind == 0 ? 0 : -push * u[k];
    if (kind == 0) reference_free(s, 2 * i), reference_free(s, 2 * i + 1);
    if (kind != 1) return;
    s->at[s->m] = 2 * i, s->c[s->m][0] = -u[1], s->c[s->m][1] = u[0], s->curved[s->m++] = push / size;
}

/* z (m) := H^-1 N'w, H = N'P N + curvature. False where H is nearly singular: the solution is one among many. */
static inline bool reference_solve(const reference *p, const reference_set *s, long double *z) {
    static long double H[REFERENCE_MAX][REFERENCE_MAX];
    for (int a = 0; a < s->m; a++) {
        z[a] = 0;
        for (int k = 0; k < p->dim; k++) z[a] += s->c[a][k] == 0 ? 0 : (long double)s->c[a][k] * p->w[s->at[a] + k];
        for (int b = 0; b < s->m; b++) {
            H[a][b] = a == b ? s->curved[a] : 0;
            for (int k = 0; k < p->dim; k++)
                for (int l = 0; l < p->dim; l++)
                    if (s->c[a][k] != 0 && s->c[b][l] != 0)
                        H[a][b] += (long double)s->c[a][k] * p->P[(s->at[a] + k) * p->n + s->at[b] + l] * s->c[b][l];
        }
    }
    for (int k = 0; k < s->m; k++) {
        if (!(H[k][k] > 1e-6L * p->P[s->at[k] * p->n + s->at[k]])) return false;
        for (int i = k + 1; i < s->m; i++) {
            long double l = H[i][k] / H[k][k];
            for (int j = k; j < s->m; j++) H[i][j] -= l * H[k][j];
            z[i] -= l * z[k];
        }
    }
    for (int i = s->m - 1; i >= 0; i--) {
        for (int j = i + 1; j < s->m; j++) z[i] -= H[i][j] * z[j];
        z[i] /= H[i][i];
    }
    return true;
}

/* v = N z:  dL/dq = -v,  dL/dP = -(v x' + x v')/2,  dL/dr_i = u_i.(w - P v)_i where the edge holds contact i. */
static inline void reference_gradient(reference *p, const reference_set *s, const long double *z, const double *g) {
    long double v[REFERENCE_MAX] = {0};
    for (int a = 0; a < s->m; a++)
        for (int k = 0; k < p->dim; k++)
            if (s->c[a][k] != 0) v[s->at[a] + k] += z[a] * s->c[a][k];
    for (int i = 0; i < p->n; i++) {
        p->grad_q[i] = (double)-v[i];
        for (int j = 0; j < p->n; j++) p->grad_P[i * p->n + j] = (double)(-(v[i] * p->x[j] + v[j] * p->x[i]) / 2);
    }
    for (int i = 0; i < p->nc && p->dim == 2; i++) {
        double push = hypot(g[2 * i], g[2 * i + 1]);
        long double sum = 0;
        for (int k = 0; k < 2 && push > 0; k++) {
            long double left = p->w[2 * i + k];
            for (int j = 0; j < p->n; j++) left -= (long double)p->P[(2 * i + k) * p->n + j] * v[j];
            sum -= g[2 * i + k] / push * left;
        }
        p->grad_r[i] = (double)sum;
    }
}

/* Problem k of a family, nc contacts. The same on every machine but for the last digits. */
static inline void reference_make(reference *p, family f, int nc, int dim, uint64_t seed) {
    double unused[REFERENCE_MAX], g[REFERENCE_MAX];
    *p = (reference){.n = dim * nc, .nc = nc, .dim = dim};
    if (f == WELL)
        draw_well(p->n, &seed, p->P, unused);
    else
        draw_faces(nc, dim, f == MASS_SPREAD ? 1 : 0, &seed, p->P, unused);
    reference_set s = {0};
    long double z[REFERENCE_MAX];
    for (int i = 0; i < nc; i++) {
        double which = draw(&seed);
        reference_contact(p, &s, i, which < -0.2 ? 0 : which < 0.6 ? 1 : 2, &seed, g);
    }
    for (int i = 0; i < p->n; i++) {
        long double sum = g[i];
        for (int j = 0; j < p->n; j++) sum -= (long double)p->P[i * p->n + j] * p->x[j];
        p->q[i] = (double)sum, p->w[i] = draw_normal(&seed);
    }
    p->unique = reference_solve(p, &s, z);
    if (p->unique) reference_gradient(p, &s, z, g);
}

#endif
