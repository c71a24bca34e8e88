/* law.c -- a law of five functions, linearised. */
#include "contact/law/law.h"
#include <math.h>
#include <string.h>

double ti_cone_distance(double t, double n, double mu) {
    if (ti_in_cone(t, n, mu)) return 0;
    if (mu * t <= -n) return sqrt(t * t + n * n);
    return (t - mu * n) / sqrt(1 + mu * mu);
}

/* The metric diag(st, st, sn): st = t + q across, sn = n + across / q with n = G_nn, t the largest tangential
 * eigenvalue, across = |G_tn|, q = sqrt(t / n); so st / sn = q^2. */
ti_law_steps ti_law_steps_of(const double *G) {
    double half = 0.5 * (G[0] + G[4]), skew = 0.5 * (G[0] - G[4]), t = half + sqrt(skew * skew + G[1] * G[1]);
    double across = sqrt(G[2] * G[2] + G[5] * G[5]), q = sqrt(t / G[8]);
    return (ti_law_steps){1 / G[8], 1 / t, 1 / (G[8] + across / q), 1 / (t + across * q), q};
}

static void swap_rows(double *A, double *B, int a, int b) {
    for (int k = 0; k < 3; k++) {
        double x = A[3 * a + k], y = B[3 * a + k];
        A[3 * a + k] = A[3 * b + k], B[3 * a + k] = B[3 * b + k];
        A[3 * b + k] = x, B[3 * b + k] = y;
    }
}

/* B (3,3) = A^-1 by elimination with row pivoting; A is lost. */
static void invert3(double *A, double *B) {
    for (int k = 0; k < 9; k++) B[k] = k % 4 == 0;
    for (int k = 0; k < 3; k++) {
        int at = k;
        for (int r = k + 1; r < 3; r++)
            if (fabs(A[3 * r + k]) > fabs(A[3 * at + k])) at = r;
        if (at != k) swap_rows(A, B, k, at);
        double f = 1 / A[3 * k + k];
        for (int c = 0; c < 3; c++) A[3 * k + c] *= f, B[3 * k + c] *= f;
        for (int r = 0; r < 3; r++) {
            double g = A[3 * r + k];
            if (r == k || g == 0) continue;
            for (int c = 0; c < 3; c++) A[3 * r + c] -= g * A[3 * k + c], B[3 * r + c] -= g * B[3 * k + c];
        }
    }
}

void ti_law_resolve(const ti_law_slope *slope, ti_law_compliance R, double *D, double *Ainv) {
    const double soft[3] = {R.t, R.t, R.n}, *x = slope->c;
    double A[9];
    for (int k = 0; k < 9; k++) A[k] = slope->l[k] + x[k] * soft[k % 3];
    invert3(A, Ainv);
    for (int r = 0; r < 3; r++)
        for (int q = 0; q < 3; q++)
            D[3 * r + q] = Ainv[3 * r] * x[q] + Ainv[3 * r + 1] * x[3 + q] + Ainv[3 * r + 2] * x[6 + q];
}

unsigned char ti_law_linearise(const ti_law *law, const ti_law_contact *s, const double *l, const double *c,
                               ti_law_compliance R, unsigned char mode, double *F, double *D, double *Ainv) {
    ti_law_slope slope;
    if (mode == TI_MODE_FREE) mode = law->mode(s, l, c);
    law->slope(s, mode, l, c, &slope);
    memcpy(F, slope.F, sizeof slope.F);
    ti_law_resolve(&slope, R, D, Ainv);
    return mode;
}

unsigned char ti_law_value(const ti_law *law, const ti_law_contact *s, const double *l, const double *c,
                           unsigned char mode, double *F) {
    ti_law_slope slope;
    if (mode == TI_MODE_FREE) mode = law->mode(s, l, c);
    law->slope(s, mode, l, c, &slope);
    memcpy(F, slope.F, sizeof slope.F);
    return mode;
}
