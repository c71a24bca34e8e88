/* drag.c -- a cube at rest, pulled by a force that grows until it slips: internal forces while it sticks, and creep.
 *
 * 0 to 8 N in one second; it holds up to mu m g = 4.905 N. Four corners of a face carry more impulses than a body has
 * velocities: what a solver leaves among them that moves nothing is its internal force.
 *
 * usage: drag [FOLDER]      then FOLDER/laws-drag-internal.svg, FOLDER/laws-drag-creep.svg */
#include "laws.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 1000, SOLVERS = 7, HOLDS = 613 /* the last step below mu m g */ };

static const variant solvers[SOLVERS] = {
    {"ncp ladder", {.law = TRIBO_LAW_NCP}},
    {"ncp admm", {.law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_ADMM, .raw = true}},
    {"ncp staggered", {.law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_STAGGERED, .raw = true}},
    {"ncp pgs", {.law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_PGS, .raw = true}},
    {"ccp pgs", {.law = TRIBO_LAW_CCP, .solver = TRIBO_SOLVER_PGS, .raw = true}},
    {"lcp pgs", {.law = TRIBO_LAW_LCP, .solver = TRIBO_SOLVER_PGS, .raw = true}},
    {"raisim", {.law = TRIBO_LAW_RAISIM, .solver = TRIBO_SOLVER_BISECTION, .raw = true}},
};

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : NULL;
    tribo_model *m = scene("push");
    tribo_sizes z = tribo_model_sizes(m);
    double *p = numbers((size_t)z.np), *x0 = numbers((size_t)z.nx), *U = numbers(STEPS * (size_t)z.nu);
    plot_series internal[SOLVERS], creep[SOLVERS];
    motion runs[SOLVERS];
    double *kept[2 * SOLVERS];
    tribo_model_params(m, p);
    tribo_model_state0(m, x0);
    for (int k = 0; k < STEPS; k++) U[(size_t)k * (size_t)z.nu] = 8e-3 * k;
    for (int s = 0; s < SOLVERS; s++) {
        runs[s] = move_by(m, p, x0, U, STEPS, 0.001, 1e-6, false, &solvers[s]);
        double *share = kept[2 * s] = numbers(STEPS), *at = kept[2 * s + 1] = column(&runs[s], 0), most = 0;
        for (int k = 0; k < STEPS; k++) {
            share[k] = runs[s].step[k].measures.internal_share;
            if (k > 50 && k < HOLDS) most = fmax(most, share[k]);
        }
        for (int k = 0; k <= STEPS; k++) at[k] = fmax(1e-12, 1e6 * fabs(at[k]));
        printf("%s: largest internal share while it sticks %.3g, creep until it slips %.3g um, end %.6g m\n",
               solvers[s].title, most, at[HOLDS], 1e-6 * at[STEPS]);
        internal[s] = (plot_series){solvers[s].title, runs[s].time + 1, share, STEPS, PLOT_LINE, 0};
        creep[s] = (plot_series){solvers[s].title, runs[s].time, at, STEPS + 1, PLOT_LINE, 0};
        if (s == 0) printf("ladder_internal %.3g\nladder_creep_um %.3g\n", most, at[HOLDS]);
        if (s == 3) printf("pgs_internal %.3g\n", most);
    }
    plot drawing = {.title = "A cube pulled by 0 to 8 N, holding to 4.9 N: internal forces, share of all",
                    .x_label = "time, s",
                    .y_label = "|internal| / |lambda|",
                    .series = internal,
                    .nseries = SOLVERS};
    figure(&drawing, folder, "laws-drag-internal");
    drawing.title = "The same: how far it has crept", drawing.y_label = "um", drawing.series = creep;
    drawing.log_y = true;
    figure(&drawing, folder, "laws-drag-creep");
    for (int s = 0; s < SOLVERS; s++) motion_free(&runs[s]);
    for (int s = 0; s < 2 * SOLVERS; s++) free(kept[s]);
    free(p), free(x0), free(U);
    tribo_model_free(m);
    return 0;
}
