/* ratio.c -- a heavy cube on a light one, mass ratios from 1 to 1e6: the iterations each solver takes, cold, to 1e-6.
 *
 * Both rest, so the answer is known: the lower contact carries both weights. Gauss-Seidel passes the heavy cube's
 * weight on in shares of the light one's mass.
 *
 * usage: ratio [FOLDER]      then FOLDER/laws-ratio.svg */
#include "laws.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RATIOS = 13, MOST = 24 };

/* Every law's every solver, in the order of the tables. */
static int all(variant *out, char (*title)[64]) {
    int n = 0;
    for (tribo_law law = TRIBO_LAW_DEFAULT + 1; law < TRIBO_LAW_STOCHASTIC; law++)
        for (int k = 0; tribo_law_solver(law, k) && n < MOST; k++, n++) {
            out[n].law = (tribo_law_options){.law = law, .solver = tribo_law_solver(law, k), .raw = true};
            snprintf(title[n], sizeof title[n], "%s %s", tribo_law_name(law), tribo_solver_name(out[n].law.solver));
            out[n].title = title[n];
        }
    return n;
}

int main(int argc, char **argv) {
    static variant solvers[MOST];
    static char title[MOST][64];
    static double ratio[RATIOS], iterations[MOST][RATIOS];
    const char *folder = argc > 1 ? argv[1] : NULL;
    tribo_model *m = scene("stack");
    tribo_sizes z = tribo_model_sizes(m);
    double *p = numbers((size_t)z.np), *x0 = numbers((size_t)z.nx);
    plot_series series[MOST];
    int n = all(solvers, title), robust = 0;
    tribo_model_state0(m, x0);
    for (int k = 14; k < z.nx; k++) x0[k] = 0;
    for (int s = 0; s < n; s++) {
        int failed = 0;
        double worst = 0;
        for (int r = 0; r < RATIOS; r++) {
            ratio[r] = pow(10, 0.5 * r);
            tribo_model_params(m, p);
            int upper = parameter(m, "upper/mass"), lower = parameter(m, "lower/mass");
            double heavier = sqrt(ratio[r]) / p[upper], lighter = 1 / sqrt(ratio[r]) / p[lower];
            for (int k = 0; k < 10; k++) /* mass and inertia; the centres of mass are at the origins */
                if (k < 1 || k > 3) p[upper + k] *= heavier, p[lower + k] *= lighter;
            motion run = move_by(m, p, x0, NULL, 1, 0.001, 1e-6, false, &solvers[s]);
            iterations[s][r] = run.unsolved ? (double)NAN : fmax(1, run.step[0].iterations);
            failed += run.unsolved, worst = fmax(worst, run.step[0].measures.ncp.primal);
            motion_free(&run);
        }
        robust += failed == 0;
        printf("%-28s failed at %d of %d ratios; iterations at 1, 1e3, 1e6: %g %g %g\n", solvers[s].title, failed,
               RATIOS, iterations[s][0], iterations[s][6], iterations[s][12]);
        series[s] =
            (plot_series){solvers[s].title, ratio, iterations[s], RATIOS, s < 8 ? PLOT_LINE_DOTS : PLOT_DASHED, 0};
    }
    printf("solvers %d\nrobust %d\n", n, robust);
    plot drawing = {.title = "Heavy on light: iterations to 1e-6 (a curve ends where the solver fails)",
                    .x_label = "mass ratio",
                    .y_label = "iterations",
                    .series = series,
                    .nseries = n,
                    .log_x = true,
                    .log_y = true,
                    .height = 520};
    figure(&drawing, folder, "laws-ratio");
    free(p), free(x0);
    tribo_model_free(m);
    return 0;
}
