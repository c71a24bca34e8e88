/* noise.c -- what noise makes of complementarity: one contact under the stochastic law.
 *
 * [TassaTodorov10]. A point of 1 kg meets the floor with a normal velocity c_n = g + lambda_n. Hard, one of the two is
 * zero; under noise of standard deviation 0.1 m/s both are positive. Under logistic noise of scale s the curve is
 * exp(-lambda_n / s) + exp(-c_n / s) = 1; under Gaussian noise lambda_n = -g P(-g / s) + s p(g / s).
 *
 * usage: noise [FOLDER]      then FOLDER/noise-complementarity.svg, -impulse.svg, -levels.svg, -friction.svg */
#include "laws.h"
#include <math.h>
#include <stdio.h>

enum { KINDS = 4, POINTS = 121, LEVELS = 4 };
static const double noise = 0.1, widest = 0.3, mu = 0.5;
static const double levels[LEVELS] = {0.2, 0.1, 0.05, 0.01};

static const variant kinds[KINDS] = {
    {"hard", {.law = TRIBO_LAW_NCP}},
    {"logistic", {.law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_LOGISTIC}},
    {"gaussian", {.law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_GAUSSIAN}},
    {"least expected residual", {.law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_ERM}},
};

/* Impulse of the point whose free velocity is along t1 and the normal. */
static void solve(tribo_law_options law, double sigma, double along, double normal, double *lambda) {
    double M[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, vfree[3] = {along, 0, normal}, friction[1] = {mu};
    tribo_contact_problem p = {.nc = 1, .nv = 3, .M = M, .J = M, .vfree = vfree, .mu = friction};
    tribo_contact_ws *ws;
    if (law.law == TRIBO_LAW_STOCHASTIC) law.noise = sigma;
    need(tribo_contact_ws_new(1, 3, &law, NULL, &ws), "workspace");
    lambda[0] = lambda[1] = lambda[2] = 0;
    need(tribo_contact_solve(ws, &p, 0, false, lambda, NULL, NULL), "one contact");
    tribo_contact_ws_free(ws);
}

/* The closed form of a kind at a free velocity; NaN where there is none. */
static double closed_form(int kind, double g, double sigma) {
    double s = sqrt(3) * sigma / M_PI;
    if (kind == 0) return fmax(0, -g);
    if (kind == 1) return -g > 0 ? -g + s * log1p(exp(g / s)) : s * log1p(exp(-g / s));
    if (kind == 2)
        return -g * 0.5 * erfc(g / sigma / sqrt(2)) + sigma * exp(-0.5 * g * g / sigma / sigma) / sqrt(2 * M_PI);
    return (double)NAN;
}

/* Impulse over the free velocity, and against the velocity that comes out. */
static void normals(const char *folder) {
    static double g[POINTS], impulse[KINDS][POINTS], speed[KINDS][POINTS];
    plot_series over[KINDS], against[KINDS];
    for (int k = 0; k < KINDS; k++) {
        double off = 0, lambda[3];
        for (int i = 0; i < POINTS; i++) {
            g[i] = widest * (2.0 * i / (POINTS - 1) - 1);
            solve(kinds[k].law, noise, 0, g[i], lambda);
            impulse[k][i] = lambda[2], speed[k][i] = g[i] + lambda[2];
            off = fmax(off, fabs(lambda[2] - closed_form(k, g[i], noise)));
        }
        if (k < 3) printf("%s_off %.3g\n", kinds[k].title, off);
        printf("%s: impulse at no free velocity %.6g\n", kinds[k].title, impulse[k][POINTS / 2]);
        over[k] = (plot_series){kinds[k].title, g, impulse[k], POINTS, k ? PLOT_LINE : PLOT_DASHED, 0};
        against[k] = (plot_series){kinds[k].title, impulse[k], speed[k], POINTS, k ? PLOT_LINE : PLOT_DASHED, 0};
    }
    plot drawing = {.title = "One contact, noise of 0.1 m/s: what goes together",
                    .x_label = "normal impulse, N s",
                    .y_label = "normal velocity, m/s",
                    .series = against,
                    .nseries = KINDS,
                    .nested = true,
                    .equal = true};
    figure(&drawing, folder, "noise-complementarity");
    drawing.title = "The same: impulse over the velocity without contact", drawing.x_label = "free velocity, m/s";
    drawing.y_label = "normal impulse, N s", drawing.series = over, drawing.equal = false;
    figure(&drawing, folder, "noise-impulse");
}

/* Less and less noise: how the impulse falls with the free velocity. */
static void fading(const char *folder) {
    static double g[LEVELS][POINTS], slope[LEVELS][POINTS];
    static char title[LEVELS][32];
    plot_series series[LEVELS];
    for (int l = 0; l < LEVELS; l++) {
        for (int i = 0; i < POINTS; i++) {
            double h = 1e-5, above[3], below[3];
            g[l][i] = widest * (2.0 * i / (POINTS - 1) - 1);
            solve(kinds[1].law, levels[l], 0, g[l][i] + h, above),
                solve(kinds[1].law, levels[l], 0, g[l][i] - h, below);
            slope[l][i] = -(above[2] - below[2]) / (2 * h);
        }
        snprintf(title[l], sizeof title[l], "%g m/s", levels[l]);
        series[l] = (plot_series){title[l], g[l], slope[l], POINTS, PLOT_LINE, 0};
        printf("slope at no free velocity under %s: %.6f\n", title[l], slope[l][POINTS / 2]);
        if (l == 1) printf("slope_at_rest %.6f\nslope_apart %.6f\n", slope[l][POINTS / 2], slope[l][POINTS * 2 / 3]);
    }
    plot drawing = {.title = "The probability that the contact pushes, under logistic noise",
                    .x_label = "free velocity, m/s",
                    .y_label = "-d impulse / d velocity",
                    .series = series,
                    .nseries = LEVELS};
    figure(&drawing, folder, "noise-levels");
}

/* Pressed on by 1 m/s, across: friction over the free velocity along the floor. */
static void friction(const char *folder) {
    static double along[POINTS], impulse[KINDS][POINTS];
    plot_series series[KINDS];
    for (int k = 0; k < KINDS; k++) {
        double lambda[3];
        for (int i = 0; i < POINTS; i++) {
            along[i] = 2.0 * i / (POINTS - 1) - 1;
            solve(kinds[k].law, noise, along[i], -1, lambda);
            impulse[k][i] = -lambda[0];
        }
        series[k] = (plot_series){kinds[k].title, along, impulse[k], POINTS, k ? PLOT_LINE : PLOT_DASHED, 0};
        printf("%s: friction at 0.5 m/s %.6g\n", kinds[k].title, impulse[k][POINTS * 3 / 4]);
    }
    plot drawing = {.title = "The same pressed on by 1 m/s, friction 0.5: friction over the velocity along the floor",
                    .x_label = "free velocity, m/s",
                    .y_label = "friction, N s",
                    .series = series,
                    .nseries = KINDS,
                    .nested = true};
    figure(&drawing, folder, "noise-friction");
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : NULL;
    normals(folder), fading(folder), friction(folder);
    return 0;
}
