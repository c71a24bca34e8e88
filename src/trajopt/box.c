/* box.c -- a quadratic program within bounds by projected Newton steps, [Tassa14]. docs/math.md eq. (406). */
#include "math/dense.h"
#include "trajopt/task.h"

enum { ITERATIONS = 100, HALVINGS = 30 };

static double clamp(double x, double lower, double upper) {
    return x < lower ? lower : x > upper ? upper : x;
}

static double value(int n, const double *H, const double *g, const double *d) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double row = g[i];
        for (int j = 0; j < n; j++) row += H[i * n + j] * d[j] / 2;
        sum += d[i] * row;
    }
    return sum;
}

/* R = factor of H over the free numbers, 1 on the diagonal of the others. */
static bool factor_free(int n, const double *H, const bool *held, double *R) {
    int ld = ti_ld(n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) R[i * ld + j] = held[i] || held[j] ? i == j : H[i * n + j];
    return ti_chol(n, R, ld, 0) == 0;
}

/* Along the arc of projections of d + share * step. @return false where nothing is lower. */
static bool search_arc(int n, const double *H, const double *g, const double *lower, const double *upper,
                       const double *step, double *d, double *trial) {
    double now = value(n, H, g, d), share = 1;
    for (int k = 0; k < HALVINGS; k++, share /= 2) {
        double slope = 0;
        for (int i = 0; i < n; i++) {
            double along = g[i];
            trial[i] = clamp(d[i] + share * step[i], lower[i], upper[i]);
            for (int j = 0; j < n; j++) along += H[i * n + j] * d[j];
            slope += along * (trial[i] - d[i]);
        }
        if (!(slope < 0) || value(n, H, g, trial) > now + 0.1 * slope) continue;
        memcpy(d, trial, (size_t)n * sizeof *d);
        return true;
    }
    return false;
}

bool ti_box_solve(int n, const double *H, const double *g, const double *lower, const double *upper, double *d,
                  double *R, bool *held) {
    double step[TI_CONTROLS_MAX], trial[TI_CONTROLS_MAX];
    for (int i = 0; i < n; i++) d[i] = clamp(d[i], lower[i], upper[i]);
    for (int k = 0; k < ITERATIONS; k++) {
        bool same = k > 0;
        for (int i = 0; i < n; i++) {
            double slope = g[i];
            for (int j = 0; j < n; j++) slope += H[i * n + j] * d[j];
            bool at = (d[i] <= lower[i] && slope > 0) || (d[i] >= upper[i] && slope < 0);
            same &= at == held[i];
            held[i] = at;
            step[i] = at ? 0 : -slope;
        }
        if (!same && !factor_free(n, H, held, R)) return false;
        ti_chol_solve(n, R, ti_ld(n), step);
        for (int i = 0; i < n; i++) step[i] = held[i] ? 0 : step[i];
        if (!search_arc(n, H, g, lower, upper, step, d, trial)) break;
    }
    return true;
}
