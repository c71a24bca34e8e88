/* steps.c -- a dragged cube in shorter and longer steps: how high it rises, and its energy.
 *
 * [LeLidec23], figure 15. 20 N along a line 22.5 degrees from the axes, friction 0.4, 0.4 s from rest. In closed form
 * it stays on the floor and is at (F/m - mu g) t in the end, whatever the step.
 *
 * usage: steps [FOLDER]      then FOLDER/laws-steps-height.svg, FOLDER/laws-steps-energy.svg */
#include "laws.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZES = 7 };
static const double span = 0.4, pull = 20, mu = 0.4, mass = 1, g = 9.81, half = 0.1, heading = M_PI / 8;
static const int counts[SIZES] = {20, 40, 80, 200, 400, 800, 2000};

/* The highest above the floor, mm; the energy in the end off the closed form, J. */
static void one(const tribo_model *m, const double *p, const double *x0, const variant *v, int steps, double *rise,
                double *off) {
    int nu = tribo_model_sizes(m).nu;
    double *U = numbers((size_t)steps * (size_t)nu), dt = span / steps;
    for (int k = 0; k < steps; k++) U[k * nu] = pull * cos(heading), U[k * nu + 1] = pull * sin(heading);
    motion run = move_by(m, p, x0, U, steps, dt, 1e-9, false, v);
    double speed = (pull / mass - mu * g) * span, end = 0.5 * mass * speed * speed + mass * g * half;
    *rise = 0;
    for (int k = 0; k <= steps; k++) *rise = fmax(*rise, 1e3 * (run.x[(size_t)k * (size_t)run.nx + 2] - half));
    *off = fabs(tribo_energy(m, p, run.x + (size_t)steps * (size_t)run.nx) - end);
    *rise = fmax(*rise, 1e-13), *off = fmax(*off, 1e-16);
    motion_free(&run), free(U);
}

int main(int argc, char **argv) {
    static double dt[SIZES], rise[EVERY_LAW][SIZES], off[EVERY_LAW][SIZES];
    const char *folder = argc > 1 ? argv[1] : NULL;
    tribo_model *m = scene("push");
    tribo_sizes z = tribo_model_sizes(m);
    double *p = numbers((size_t)z.np), *x0 = numbers((size_t)z.nx);
    plot_series height[EVERY_LAW], energy[EVERY_LAW];
    tribo_model_params(m, p);
    tribo_model_state0(m, x0);
    p[parameter(m, "floor/friction")] = mu;
    for (int l = 0; l < EVERY_LAW; l++) {
        printf("%s: step, rise in mm, energy off in J:", every_law[l].title);
        for (int k = 0; k < SIZES; k++) {
            dt[k] = span / counts[k];
            one(m, p, x0, &every_law[l], counts[k], &rise[l][k], &off[l][k]);
            printf(" %g s %.3g %.3g;", dt[k], rise[l][k], off[l][k]);
        }
        printf("\n%s_rise_at_1_ms %.4g\n%s_energy_at_1_ms %.4g\n", every_law[l].title, rise[l][4], every_law[l].title,
               off[l][4]);
        printf("%s_rise_order %.3g\n", every_law[l].title, log(rise[l][4] / rise[l][6]) / log(5));
        height[l] = (plot_series){every_law[l].title, dt, rise[l], SIZES, PLOT_LINE_DOTS, 0};
        energy[l] = (plot_series){every_law[l].title, dt, off[l], SIZES, PLOT_LINE_DOTS, 0};
    }
    plot drawing = {.title = "A cube dragged by 20 N, friction 0.4: the highest it rises in 0.4 s",
                    .x_label = "step, s",
                    .y_label = "mm",
                    .series = height,
                    .nseries = EVERY_LAW,
                    .log_x = true,
                    .log_y = true};
    figure(&drawing, folder, "laws-steps-height");
    drawing.title = "The same: its energy in the end off the closed form", drawing.y_label = "J";
    drawing.series = energy;
    figure(&drawing, folder, "laws-steps-energy");
    free(p), free(x0);
    tribo_model_free(m);
    return 0;
}
