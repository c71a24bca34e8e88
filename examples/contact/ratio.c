/* ratio.c -- a heavy cube on a light one, mass ratios from 1 to 1e6: the iterations each solver takes, cold, to 1e-6.
 *
 * Both rest, so the answer is known: the lower contact carries both weights. Gauss-Seidel passes the heavy cube's
 * weight on in shares of the light one's mass.
 *
 * Then [LeLidec23], figure 13: 1000 kg on 1 g for 0.2 s, and what the ratio leaves of accuracy, a step being allowed a
 * hundred iterations.
 *
 * usage: ratio [FOLDER]      then FOLDER/laws-ratio.svg, -ratio-time.svg, -ratio-accuracy.svg */
#include "laws.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RATIOS = 13, MOST = 24, STEPS = 50, ALLOWED = 100 };

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

/* The stack at rest, its upper cube heavier by the ratio; p and x0 are overwritten. */
static void stack_of(const tribo_model *m, double ratio, double *p, double *x0) {
    int upper = parameter(m, "upper/mass"), lower = parameter(m, "lower/mass");
    tribo_model_params(m, p);
    tribo_model_state0(m, x0);
    for (int k = 14; k < tribo_model_sizes(m).nx; k++) x0[k] = 0;
    double heavier = sqrt(ratio) / p[upper], lighter = 1 / sqrt(ratio) / p[lower];
    for (int k = 0; k < 10; k++) /* mass and inertia; the centres of mass are at the origins */
        if (k < 1 || k > 3) p[upper + k] *= heavier, p[lower + k] *= lighter;
}

/* What is drawn of a solver. */
typedef struct result {
    double iterations[RATIOS];            /* to 1e-6; NaN where it fails */
    double residual[RATIOS];              /* after so many as are allowed */
    double time[STEPS + 1], error[STEPS]; /* of every step at the largest ratio */
    int failed;
} result;

static void measure(const tribo_model *m, const variant *v, const double *ratio, double *p, double *x0, result *out) {
    variant hasty = *v;
    hasty.law.max_iter = ALLOWED;
    for (int r = 0; r < RATIOS; r++) {
        stack_of(m, ratio[r], p, x0);
        motion run = move_by(m, p, x0, NULL, 1, 0.001, 1e-6, false, v);
        out->iterations[r] = run.unsolved ? (double)NAN : fmax(1, run.step[0].iterations);
        out->failed += run.unsolved;
        motion_free(&run);
        run = move_by(m, p, x0, NULL, 1, 0.001, 1e-12, false, &hasty);
        out->residual[r] = fmax(1e-17, run.step[0].residual);
        motion_free(&run);
    }
    motion run = move_by(m, p, x0, NULL, STEPS, 0.001, 1e-12, true, &hasty);
    for (int k = 0; k < STEPS; k++) out->time[k] = run.time[k + 1], out->error[k] = fmax(1e-17, run.step[k].residual);
    motion_free(&run);
}

static void draw(const variant *solvers, const result *r, int n, const double *ratio, const char *folder) {
    plot_series iterations[MOST], accuracy[MOST], error[MOST];
    for (int s = 0; s < n; s++) {
        const char *title = solvers[s].title;
        iterations[s] = (plot_series){title, ratio, r[s].iterations, RATIOS, PLOT_LINE_DOTS, 0};
        accuracy[s] = (plot_series){title, ratio, r[s].residual, RATIOS, PLOT_LINE_DOTS, 0};
        error[s] = (plot_series){title, r[s].time, r[s].error, STEPS, PLOT_LINE, 0};
    }
    plot drawing = {.title = "Heavy on light: iterations to 1e-6 (a curve ends where the solver fails)",
                    .x_label = "mass ratio",
                    .y_label = "iterations",
                    .series = iterations,
                    .nseries = n,
                    .log_x = true,
                    .log_y = true,
                    .height = 520};
    figure(&drawing, folder, "laws-ratio");
    drawing.title = "Heavy on light: what a hundred iterations leave", drawing.y_label = "relative residual";
    drawing.series = accuracy;
    figure(&drawing, folder, "laws-ratio-accuracy");
    drawing.title = "1000 kg on 1 g: what a hundred iterations a step leave", drawing.x_label = "time, s";
    drawing.series = error, drawing.log_x = false;
    figure(&drawing, folder, "laws-ratio-time");
}

int main(int argc, char **argv) {
    static variant solvers[MOST];
    static char title[MOST][64];
    static result results[MOST];
    double ratio[RATIOS];
    tribo_model *m = scene("stack");
    tribo_sizes z = tribo_model_sizes(m);
    double *p = numbers((size_t)z.np), *x0 = numbers((size_t)z.nx);
    int n = all(solvers, title), robust = 0, exact = 0;
    for (int r = 0; r < RATIOS; r++) ratio[r] = pow(10, 0.5 * r);
    for (int s = 0; s < n; s++) {
        result *r = &results[s];
        double worst = 0;
        measure(m, &solvers[s], ratio, p, x0, r);
        for (int k = 0; k < STEPS; k++) worst = fmax(worst, r->error[k]);
        robust += r->failed == 0, exact += worst <= 1e-6;
        printf("%-28s failed at %d of %d ratios; iterations at 1, 1e3, 1e6: %g %g %g; after %d: %.1e %.1e %.1e; worst "
               "step of 1000 kg on 1 g: %.1e\n",
               solvers[s].title, r->failed, RATIOS, r->iterations[0], r->iterations[6], r->iterations[12], ALLOWED,
               r->residual[0], r->residual[6], r->residual[12], worst);
        if (solvers[s].law.law == TRIBO_LAW_NCP && solvers[s].law.solver == TRIBO_SOLVER_LADDER)
            printf("ladder_worst_step %.3g\n", worst);
        if (solvers[s].law.law == TRIBO_LAW_NCP && solvers[s].law.solver == TRIBO_SOLVER_PGS)
            printf("pgs_after_%d %.3g\n", ALLOWED, r->residual[12]);
    }
    printf("solvers %d\nrobust %d\nexact %d\n", n, robust, exact);
    draw(solvers, results, n, ratio, argc > 1 ? argv[1] : NULL);
    free(p), free(x0);
    tribo_model_free(m);
    return 0;
}
