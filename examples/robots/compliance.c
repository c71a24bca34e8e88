/* compliance.c -- a humanoid on two feet of four corners each, and a cube on one face, pushed, on a floor of
 * growing compliance: internal forces, which move nothing, and how far the ground gives way.
 *
 * Le Lidec et al., Contact models in robotics (2023), figure 14.
 *
 * usage: compliance [FOLDER]      then FOLDER/robots-compliance.svg, FOLDER/robots-compliance-cube.svg */
#include "bare.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 9, SOLVERS = 4, BODIES = 2, RUNS = SOLVERS * BODIES, STEPS = 100 };

static const struct {
    const char *title, *scene, *body;
    double push;
    tribo_solver solver;
} RUN[RUNS] = {{"humanoid, pgs", "humanoid", "pelvis", 80, TRIBO_SOLVER_PGS},
               {"humanoid, admm", "humanoid", "pelvis", 80, TRIBO_SOLVER_ADMM},
               {"humanoid, interior", "humanoid", "pelvis", 80, TRIBO_SOLVER_INTERIOR},
               {"humanoid, ladder", "humanoid", "pelvis", 80, TRIBO_SOLVER_LADDER},
               {"cube, pgs", "push", "cube", 3, TRIBO_SOLVER_PGS},
               {"cube, admm", "push", "cube", 3, TRIBO_SOLVER_ADMM},
               {"cube, interior", "push", "cube", 3, TRIBO_SOLVER_INTERIOR},
               {"cube, ladder", "push", "cube", 3, TRIBO_SOLVER_LADDER}};

/* The mean internal share of the steps' impulses. @param sunk [out] how low the body comes, m */
static double internal(int run, double compliance, double *sunk) {
    char floor[100] = "";
    if (compliance > 0)
        snprintf(floor, sizeof floor, "<custom><numeric name=\"floor/compliance\" data=\"%.17g\"/></custom>",
                 compliance);
    tribo_model *m = bare_and(RUN[run].scene, floor);
    tribo_sizes n = tribo_model_sizes(m);
    tribo_options o = tribo_default_options();
    tribo_ws *ws = NULL;
    double *p = numbers((size_t)n.np), *x = numbers((size_t)n.nx), *u = numbers((size_t)n.nu), mean = 0;
    int body = tribo_model_body_find(m, RUN[run].body), z = tribo_model_body_q(m, body) + 2;
    o.law = (tribo_law_options){.law = TRIBO_LAW_NCP, .solver = RUN[run].solver, .raw = true};
    o.measures = true, o.tol = 1e-6, o.warm_start = true;
    need(tribo_ws_new(m, &o, NULL, &ws, NULL), RUN[run].title);
    tribo_model_params(m, p), tribo_model_key(m, 0, x, u);
    u[tribo_model_body_v(m, body)] = RUN[run].push;
    for (int k = 0; k < STEPS; k++) {
        if (tribo_step(ws, p, x, u, x, NULL) < 0) break;
        mean += tribo_last_info(ws)->measures.internal_share / STEPS;
    }
    *sunk = x[z];
    free(p), free(x), free(u), tribo_ws_free(ws), tribo_model_free(m);
    return mean;
}

static void one_body(int first, const char *word, const char *title, const char *name, const char *folder) {
    static double at[POINTS], share[SOLVERS][POINTS];
    plot_series series[SOLVERS];
    for (int s = 0; s < SOLVERS; s++) {
        int run = first + s;
        double height, hard = internal(run, 0, &height);
        if (s == 0) printf("%spgs_internal %.3g\n", word, hard);
        if (RUN[run].solver == TRIBO_SOLVER_LADDER) printf("%sladder_internal %.3g\n", word, hard);
        printf("%s: internal share %.3g without compliance, height %.9f\n", RUN[run].title, hard, height);
        for (int k = 0; k < POINTS; k++) {
            at[k] = pow(10, k - 7), share[s][k] = fmax(1e-17, internal(run, at[k], &height));
            printf("%s: compliance %.0e /kg: internal share %.3g, height %.9f\n", RUN[run].title, at[k], share[s][k],
                   height);
        }
        series[s] = (plot_series){RUN[run].title, at, share[s], POINTS, PLOT_LINE_DOTS, 0};
    }
    plot drawing = {.title = title,
                    .x_label = "compliance, 1/kg",
                    .y_label = "|internal| / |lambda|",
                    .series = series,
                    .nseries = SOLVERS,
                    .log_x = true,
                    .log_y = true};
    figure(&drawing, folder, name);
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : NULL;
    one_body(0, "", "A humanoid, pushed: internal forces over compliance", "robots-compliance", folder);
    one_body(SOLVERS, "cube_", "A cube, pulled by less than friction holds: the same", "robots-compliance-cube",
             folder);
    return 0;
}
