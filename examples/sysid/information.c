/* information.c -- what a collision tells: the Fisher information of friction, mass and restitution as the recording
 * goes on. A slide tells friction and nothing of the mass, for both its inertia and its friction grow with it; in the
 * collision the known cube weighs it.
 *
 * The recording is data/recordings/collision-3.csv, cut off after each of its rows; the information is taken at the
 * truth, in the dimensionless numbers of a fit (for the mass, its logarithm).
 *
 * usage: information [FOLDER]      then FOLDER/information.svg */
#include "fit.h"
#include <math.h>
#include <stdio.h>

#define FLOOR 1e-3 /* zero has no place on a logarithmic axis */

enum { NUMBER = 3, ROWS = 81, FIRST = 5, NFREE = 3 };
static const char *const names[NFREE] = {"floor/friction", "cube/mass", "impact/restitution"};
static const double truth[NFREE] = {0.2, 0.6, 0.5};

int main(int argc, char **argv) {
    static fitted f[ROWS + 1];
    double time[ROWS], eigenvalue[NFREE][ROWS], last = 0;
    tribo_model *m = scene("collision");
    tribo_recording whole = recorded(m, NUMBER, truth[0]);
    int n = 0, met = 0;
    for (int rows = FIRST; rows <= ROWS; rows++, n++) {
        tribo_recording part = whole;
        part.n = rows;
        fit(m, &part, 1, NFREE, names, truth, tribo_default_sysid(), 0, f + rows);
        last = time[n] = whole.time[rows - 1];
        for (int k = 0; k < NFREE; k++) eigenvalue[k][n] = fmax(f[rows].eigenvalue[k], FLOOR);
        if (!met && f[rows].undetermined < NFREE - 1) met = rows;
    }
    const fitted *before = f + met - 1, *after = f + ROWS;
    printf("undetermined_before %d\nundetermined_after %d\ncollision_seen_at %.3g\n", before->undetermined,
           after->undetermined, whole.time[met - 1]);
    for (int k = 0; k < NFREE; k++)
        printf("eigenvalue_%d_before %.3g\neigenvalue_%d_after %.3g\n", k + 1, before->eigenvalue[k], k + 1,
               after->eigenvalue[k]);
    for (int k = 0; k < NFREE; k++)
        printf("%s/std_error_before %.3g\n%s/std_error_after %.3g\n", names[k], before->estimate[k].std_error, names[k],
               after->estimate[k].std_error);
    printf("seconds_recorded %.3g\n", last);
    plot_series s[NFREE] = {{"largest", time, eigenvalue[2], n, PLOT_LINE_DOTS, 0},
                            {"second", time, eigenvalue[1], n, PLOT_LINE_DOTS, 0},
                            {"smallest", time, eigenvalue[0], n, PLOT_LINE_DOTS, 0}};
    plot p = {.title = "Eigenvalues of the Fisher information of friction, mass and restitution",
              .x_label = "recorded time (s)",
              .y_label = "information (drawn at least 1e-3)",
              .series = s,
              .nseries = NFREE,
              .log_y = true};
    figure(&p, argc > 1 ? argv[1] : NULL, "information");
    recording_free(&whole);
    tribo_model_free(m);
    return 0;
}
