/* spd.c -- the dense solve of the normal equations here: a few dozen unknowns at most. */
#include "sysid/track/fit.h"

bool ti_spd_solve(int n, double *A, int m, double *B) {
    double *x = A; /* Cholesky A = L L' in place, lower */
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = x[i * n + j], diagonal = sum;
            for (int k = 0; k < j; k++) sum -= x[i * n + k] * x[j * n + k];
            if (i == j && !(sum > 1e-15 * diagonal)) return false;
            x[i * n + j] = i == j ? sqrt(sum) : sum / x[j * n + j];
        }
    for (int c = 0; c < m; c++) {
        for (int i = 0; i < n; i++) {
            double sum = B[i * m + c];
            for (int k = 0; k < i; k++) sum -= x[i * n + k] * B[k * m + c];
            B[i * m + c] = sum / x[i * n + i];
        }
        for (int i = n - 1; i >= 0; i--) {
            double sum = B[i * m + c];
            for (int k = i + 1; k < n; k++) sum -= x[k * n + i] * B[k * m + c];
            B[i * m + c] = sum / x[i * n + i];
        }
    }
    return true;
}
