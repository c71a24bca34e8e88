/* compliance.c -- a humanoid on two feet of four corners each, pushed, under contacts of growing compliance: internal
 * forces, which move nothing, and how far the ground gives way.
 *
 * Le Lidec et al., Contact models in robotics (2023), figure 14.
 *
 * usage: compliance [FOLDER]      then FOLDER/robots-compliance.svg */
#include "bare.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 9, SOLVERS = 4, STEPS = 100 };

static const struct {
    const char *title, *scene, *body;
    double push;
    tribo_solver solver;
} RUN[SOLVERS] = {{"humanoid, pgs", "humanoid", "pelvis", 80, TRIBO_SOLVER_PGS},
                  {"humanoid, admm", "humanoid", "pelvis", 80, TRIBO_SOLVER_ADMM},
                  {"humanoid, interior", "humanoid", "pelvis", 80, TRIBO_SOLVER_INTERIOR},
                  {"humanoid, ladder", "humanoid", "pelvis", 80, TRIBO_SOLVER_LADDER}};

/* The mean internal share of the steps' impulses. @param sunk [out] how low the body comes, m */
static double internal(int run, double compliance, double *sunk) {
    tribo_model *m = bare(RUN[run].scene);
    tribo_sizes n = tribo_model_sizes(m);
    tribo_options o = tribo_default_options();
    tribo_ws *ws = NULL;
    double *p = numbers((size_t)n.np), *x = numbers((size_t)n.nx), *u = numbers((size_t)n.nu), mean = 0;
    int body = tribo_model_body_find(m, RUN[run].body), z = tribo_model_body_q(m, body) + 2;
    o.law = (tribo_law_options){.law = TRIBO_LAW_NCP, .solver = RUN[run].solver, .raw = true};
    if (compliance > 0) o.law.softness = TRIBO_SOFTNESS_PHYSICAL, o.law.compliance = compliance;
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

int main(int argc, char **argv) {
    static double at[POINTS], share[SOLVERS][POINTS];
    plot_series series[SOLVERS];
    for (int s = 0; s < SOLVERS; s++) {
        double height, hard = internal(s, 0, &height);
        if (s == 0) printf("pgs_internal %.3g\n", hard);
        if (RUN[s].solver == TRIBO_SOLVER_LADDER) printf("ladder_internal %.3g\n", hard);
        printf("%s: internal share %.3g without compliance, height %.6f\n", RUN[s].title, hard, height);
        for (int k = 0; k < POINTS; k++) {
            at[k] = pow(10, k - 7), share[s][k] = fmax(1e-17, internal(s, at[k], &height));
            printf("%s: compliance %.0e /kg: internal share %.3g, height %.6f\n", RUN[s].title, at[k], share[s][k],
                   height);
        }
        series[s] = (plot_series){RUN[s].title, at, share[s], POINTS, PLOT_LINE_DOTS, 0};
    }
    plot drawing = {.title = "A humanoid, pushed: internal forces over compliance",
                    .x_label = "compliance, 1/kg",
                    .y_label = "|internal| / |lambda|",
                    .series = series,
                    .nseries = SOLVERS,
                    .log_x = true,
                    .log_y = true};
    figure(&drawing, argc > 1 ? argv[1] : NULL, "robots-compliance");
    return 0;
}
