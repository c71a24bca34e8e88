/* consistency.c -- does a law agree with itself as the time step falls, and a solver as its tolerance does?
 *
 * Two cubes, the upper sliding on the lower, which slides on the floor (data/scenes/stack.xml), 0.2 s. Steps of 4 ms to
 * 1/8 ms against 1/16 ms of the same law; tolerances of 1e-2 to 1e-9 at 1 ms against the law's solution to rounding.
 *
 * usage: consistency [FOLDER]      then FOLDER/laws-consistency-step.svg, FOLDER/laws-consistency-tolerance.svg */
#include "laws.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAWS = 4, HALVES = 6, SOLVERS = 6, TOLERANCES = 8 };

static const variant laws[LAWS] = {
    {"ncp", {.law = TRIBO_LAW_NCP}},
    {"ccp", {.law = TRIBO_LAW_CCP}},
    {"lcp", {.law = TRIBO_LAW_LCP}},
    {"raisim", {.law = TRIBO_LAW_RAISIM}},
};
static const variant solvers[SOLVERS] = {
    {"ncp staggered", {.law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_STAGGERED, .raw = true}},
    {"ncp pgs", {.law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_PGS, .raw = true}},
    {"ncp admm", {.law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_ADMM, .raw = true}},
    {"ccp admm", {.law = TRIBO_LAW_CCP, .solver = TRIBO_SOLVER_ADMM, .raw = true}},
    {"ccp pgs", {.law = TRIBO_LAW_CCP, .solver = TRIBO_SOLVER_PGS, .raw = true}},
    {"lcp pgs", {.law = TRIBO_LAW_LCP, .solver = TRIBO_SOLVER_PGS, .raw = true}},
};

/* Between the bodies' positions at the end, m. */
static double distance(const tribo_model *m, const motion *a, const motion *b) {
    double worst = 0;
    for (int body = 0; body < tribo_model_sizes(m).nbody; body++) {
        int q = tribo_model_body_q(m, body);
        const double *x = a->x + (size_t)a->T * (size_t)a->nx + q, *y = b->x + (size_t)b->T * (size_t)b->nx + q;
        double d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
        worst = fmax(worst, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    }
    return worst;
}

static void by_step(const tribo_model *m, const double *p, const double *x0, double (*far)[HALVES], double *dt) {
    for (int l = 0; l < LAWS; l++) {
        motion fine = move_by(m, p, x0, NULL, 50 << HALVES, 0.004 / (1 << HALVES), 0, false, &laws[l]);
        printf("%s:", laws[l].title);
        for (int h = 0; h < HALVES; h++) {
            dt[h] = 0.004 / (1 << h);
            motion run = move_by(m, p, x0, NULL, 50 << h, dt[h], 0, false, &laws[l]);
            far[l][h] = distance(m, &run, &fine);
            printf(" %.3g", far[l][h]);
            motion_free(&run);
        }
        printf("\n%s_order %.4g\n", laws[l].title, log2(far[l][1] / far[l][3]) / 2);
        motion_free(&fine);
    }
}

static void by_tolerance(const tribo_model *m, const double *p, const double *x0, double (*far)[TOLERANCES],
                         double *tol) {
    for (int s = 0; s < SOLVERS; s++) {
        variant exact = solvers[s];
        exact.law.raw = false;
        motion reference = move_by(m, p, x0, NULL, 200, 0.001, 0, false, &exact);
        printf("%s:", solvers[s].title);
        for (int k = 0; k < TOLERANCES; k++) {
            tol[k] = pow(10, -2 - k);
            motion run = move_by(m, p, x0, NULL, 200, 0.001, tol[k], false, &solvers[s]);
            far[s][k] = fmax(1e-16, distance(m, &run, &reference));
            printf(run.unsolved ? " %.3g(%d unsolved)" : " %.3g", far[s][k], run.unsolved);
            motion_free(&run);
        }
        printf("\n");
        motion_free(&reference);
    }
}

int main(int argc, char **argv) {
    static double far[LAWS][HALVES], dt[HALVES], off[SOLVERS][TOLERANCES], tol[TOLERANCES];
    const char *folder = argc > 1 ? argv[1] : NULL;
    tribo_model *m = scene("stack");
    tribo_sizes z = tribo_model_sizes(m);
    double *p = numbers((size_t)z.np), *x0 = numbers((size_t)z.nx);
    tribo_model_params(m, p);
    tribo_model_state0(m, x0);
    by_step(m, p, x0, far, dt);
    by_tolerance(m, p, x0, off, tol);
    plot_series series[SOLVERS > LAWS ? SOLVERS : LAWS];
    for (int l = 0; l < LAWS; l++) series[l] = (plot_series){laws[l].title, dt, far[l], HALVES, PLOT_LINE_DOTS, 0};
    plot drawing = {.title = "Two sliding cubes after 0.2 s: distance from the same law at 1/16 ms",
                    .x_label = "time step, s",
                    .y_label = "m",
                    .series = series,
                    .nseries = LAWS,
                    .log_x = true,
                    .log_y = true};
    figure(&drawing, folder, "laws-consistency-step");
    for (int s = 0; s < SOLVERS; s++)
        series[s] = (plot_series){solvers[s].title, tol, off[s], TOLERANCES, PLOT_LINE_DOTS, 0};
    drawing.title = "The same at 1 ms: distance from the law's solution to rounding", drawing.x_label = "tolerance";
    drawing.nseries = SOLVERS;
    figure(&drawing, folder, "laws-consistency-tolerance");
    free(p), free(x0);
    tribo_model_free(m);
    return 0;
}
