/* slide.c -- a cube sliding obliquely to a stop, under every law: what each gets wrong.
 *
 * 2 m/s, heading 22.5 degrees from the pyramid's edges, friction 0.2. In closed form the cube keeps its line, keeps its
 * height, and loses mu m g a metre: docs/math.md, Velocities and time.
 *
 * usage: slide [FOLDER]      then FOLDER/laws-slide-energy.svg, -drift.svg, -height.svg */
#include "laws.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 1100 };

/* Energy, J, beyond that of the closed form at the same time: v falls by mu g a second. */
static void excess(const tribo_model *m, const double *p, const motion *run, double speed, double *out) {
    double g = 9.81, mu = 0.2, mass = 1, rest = mass * g * 0.1;
    for (int k = 0; k <= run->T; k++) {
        double v = fmax(0, speed - mu * g * run->time[k]);
        out[k] = tribo_energy(m, p, run->x + (size_t)k * (size_t)run->nx) - (rest + 0.5 * mass * v * v);
    }
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : NULL;
    tribo_model *m = scene("oblique");
    tribo_sizes z = tribo_model_sizes(m);
    double *p = numbers((size_t)z.np), *x0 = numbers((size_t)z.nx), speed = 2, heading = M_PI / 8;
    plot_series energy[EVERY_LAW], drift[EVERY_LAW], height[EVERY_LAW];
    double *kept[3 * EVERY_LAW];
    motion runs[EVERY_LAW];
    tribo_model_params(m, p);
    tribo_model_state0(m, x0);
    for (int l = 0; l < EVERY_LAW; l++) {
        runs[l] = move_by(m, p, x0, NULL, STEPS, 0.001, 1e-8, false, &every_law[l]);
        const motion *run = &runs[l];
        double *e = kept[3 * l] = numbers(STEPS + 1), *x = column(run, 0);
        double *d = kept[3 * l + 1] = column(run, 1), *h = kept[3 * l + 2] = column(run, 2);
        double far = 0, high = 0, most = 0;
        excess(m, p, run, speed, e);
        for (int k = 0; k <= STEPS; k++) {
            double across = d[k] * cos(heading) - x[k] * sin(heading);
            h[k] = 1e3 * (h[k] - 0.1), d[k] = 1e3 * across;
            far = fmax(far, fabs(across)), high = fmax(high, h[k]), most = fmax(most, e[k]);
            e[k] = fmax(fabs(e[k]), 1e-16);
        }
        printf("%s_drift %.6g\n%s_lift_mm %.6g\n%s_excess %.6g\n%s_unsolved %d\n", every_law[l].title, far,
               every_law[l].title, high, every_law[l].title, most, every_law[l].title, run->unsolved);
        energy[l] = (plot_series){every_law[l].title, run->time, e, STEPS + 1, l ? PLOT_LINE : PLOT_DASHED, 0};
        drift[l] = (plot_series){every_law[l].title, run->time, d, STEPS + 1, l ? PLOT_LINE : PLOT_DASHED, 0};
        height[l] = (plot_series){every_law[l].title, run->time, h, STEPS + 1, l ? PLOT_LINE : PLOT_DASHED, 0};
        free(x);
    }
    plot drawing = {.title = "A sliding cube: energy off the closed form",
                    .x_label = "time, s",
                    .y_label = "J",
                    .series = energy,
                    .nseries = EVERY_LAW,
                    .log_y = true};
    figure(&drawing, folder, "laws-slide-energy");
    drawing.title = "The same: distance from its line", drawing.y_label = "mm", drawing.series = drift,
    drawing.log_y = false;
    figure(&drawing, folder, "laws-slide-drift");
    drawing.title = "The same: height above the floor", drawing.series = height;
    figure(&drawing, folder, "laws-slide-height");
    for (int l = 0; l < EVERY_LAW; l++) motion_free(&runs[l]);
    for (int l = 0; l < 3 * EVERY_LAW; l++) free(kept[l]);
    free(p), free(x0);
    tribo_model_free(m);
    return 0;
}
