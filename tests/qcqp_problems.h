/* qcqp_problems.h -- random QPs and QCQPs of the kinds contact makes; tests and benches draw from the same. */
#ifndef QCQP_PROBLEMS_H
#define QCQP_PROBLEMS_H
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Uniform in (-1, 1). */
static inline double draw(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*seed ^ (*seed >> 29)) / 9223372036854775808.0;
}
/* About normal. */
static inline double draw_normal(uint64_t *seed) {
    double s = 0;
    for (int i = 0; i < 6; i++) s += draw(seed);
    return s / sqrt(2.0);
}

typedef enum family { WELL, HYPERSTATIC, MASS_SPREAD, FAMILIES } family;
static const char *const family_name[FAMILIES] = {"well conditioned", "hyperstatic", "mass spread 1e-3..1e3"};

/* P = A A'/n + 0.1, q normal. */
static inline void draw_well(int n, uint64_t *seed, double *P, double *q) {
    double *A = malloc(sizeof *A * (size_t)(n * n));
    for (int i = 0; i < n * n; i++) A[i] = draw_normal(seed);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double s = i == j ? 0.1 : 0;
            for (int k = 0; k < n; k++) s += A[i * n + k] * A[j * n + k] / n;
            P[i * n + j] = s;
        }
        q[i] = draw_normal(seed);
    }
    free(A);
}

/* Boxes of side about one with four corners on a face each, on the ground or on the box before (towers of up to four),
 * P = J M^-1 J' of the normals or of the tangents, q = J v: rank deficient by construction. */
static inline void draw_faces(int nc, int dim, double decades, uint64_t *seed, double *P, double *q) {
    int nb = (nc + 3) / 4, nv = 6 * nb, n = dim * nc;
    double *J = calloc((size_t)(n * nv), sizeof *J), *w = calloc((size_t)nv, sizeof *w),
           *v = calloc((size_t)nv, sizeof *v);
    for (int b = 0; b < nb; b++) {
        double mass = pow(10, decades * draw(seed)), side = 0.75 + 0.25 * draw(seed), ang = 3 * draw(seed);
        for (int k = 0; k < 6; k++) {
            w[6 * b + k] = k < 3 ? 1 / mass : 6 / (mass * side * side);
            v[6 * b + k] = draw_normal(seed) - (k == 2 ? 1 : 0);
        }
        for (int c = 4 * b; c < 4 * b + 4 && c < nc; c++) {
            double sx = c & 1 ? 0.5 : -0.5, sy = c & 2 ? 0.5 : -0.5, z = -0.5 * side;
            double x = side * (cos(ang) * sx - sin(ang) * sy), y = side * (sin(ang) * sx + cos(ang) * sy);
            double rows[3][6] = {{1, 0, 0, 0, z, -y}, {0, 1, 0, -z, 0, x}, {0, 0, 1, y, -x, 0}};
            for (int d = 0; d < dim; d++)
                for (int k = 0; k < 6; k++) {
                    double a = rows[dim == 1 ? 2 : d][k];
                    J[(c * dim + d) * nv + 6 * b + k] = a;
                    if (b % 4 > 0) /* the box below feels the opposite at its upper face */
                        J[(c * dim + d) * nv + 6 * (b - 1) + k] = (dim == 2 && k > 2 && k < 5) ? a : -a;
                }
        }
    }
    for (int i = 0; i < n; i++) {
        q[i] = 0;
        for (int k = 0; k < nv; k++) q[i] += J[i * nv + k] * v[k];
        for (int j = 0; j <= i; j++) {
            double s = 0;
            for (int k = 0; k < nv; k++) s += J[i * nv + k] * w[k] * J[j * nv + k];
            P[i * n + j] = P[j * n + i] = s;
        }
    }
    free(J), free(w), free(v);
}

/* P (n,n), q (n), r (nc) with n = dim nc; dim 1 is the QP. Radii are of the size of the impulses, one in eight 0. */
static inline void draw_problem(family f, int nc, int dim, uint64_t *seed, double *P, double *q, double *r) {
    int n = dim * nc;
    if (f == WELL)
        draw_well(n, seed, P, q);
    else
        draw_faces(nc, dim, f == MASS_SPREAD ? 3 : 0, seed, P, q);
    for (int i = 0; i < nc; i++) {
        double size = 4 / (P[dim * i * n + dim * i] * 4);
        r[i] = f != WELL && draw(seed) < -0.75 ? 0 : size * (0.55 + 0.45 * draw(seed)) * 0.5;
    }
}

#endif
