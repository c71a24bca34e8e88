/* box.c -- a quadratic program within bounds by projected Newton steps, [Tassa14]. docs/math.md eq. (406). */
#include "math/dense.h"
#include "trajopt/task.h"

enum { ITERATIONS = 100, HALVINGS = 30 };

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

/* Along the arc of projections of d + share * step, from where the slope is as given. *whole: all of the step, which no
 * bound cut off. @return false where nothing is lower. */
static bool search_arc(int n, const double *H, const double *g, const double *lower, const double *upper,
                       const double *slope, const double *step, double *d, bool *whole) {
    double trial[TI_CONTROLS_MAX], now = value(n, H, g, d), share = 1;
    for (int k = 0; k < HALVINGS; k++, share /= 2) {
        double change = 0;
        *whole = k == 0;
        for (int i = 0; i < n; i++) {
            double to = d[i] + share * step[i];
            trial[i] = ti_within(to, lower[i], upper[i]);
            *whole = *whole && trial[i] == to;
            change += slope[i] * (trial[i] - d[i]);
        }
        if (!(change < 0) || value(n, H, g, trial) > now + 0.1 * change) continue;
        memcpy(d, trial, (size_t)n * sizeof *d);
        return true;
    }
    return false;
}

bool ti_box_solve(int n, const double *H, const double *g, const double *lower, const double *upper, double *d,
                  double *R, bool *held) {
    double slope[TI_CONTROLS_MAX], step[TI_CONTROLS_MAX];
    for (int i = 0; i < n; i++) d[i] = ti_within(d[i], lower[i], upper[i]);
    bool whole = false;
    for (int k = 0; k < ITERATIONS; k++) {
        bool same = k > 0;
        for (int i = 0; i < n; i++) {
            slope[i] = g[i];
            for (int j = 0; j < n; j++) slope[i] += H[i * n + j] * d[j];
            bool at = ti_is_held(d[i], slope[i], lower[i], upper[i]);
            same = same && at == held[i]; /* not known before the first */
            held[i] = at;
            step[i] = at ? 0 : -slope[i];
        }
        if (same && whole) break; /* Newton's step among the free, which are the same */
        if (!same && !factor_free(n, H, held, R)) return false;
        ti_chol_solve(n, R, ti_ld(n), step);
        for (int i = 0; i < n; i++) step[i] = held[i] ? 0 : step[i];
        if (!search_arc(n, H, g, lower, upper, slope, step, d, &whole)) break;
    }
    return true;
}
