/* raisim.c -- what RaiSim's law takes from a sliding cube, and its correction: at 1 and 3 m/s to a stop.
 *
 * [LeLidec24], figures 3 and 4. 22.5 degrees from the axes, friction 0.2. In closed form the velocity falls by mu g a
 * second along its line, and the corner at r from the centre carries m g / 4 + mu m g h (d . r) / sum (d . r)^2.
 *
 * usage: raisim [FOLDER]      then FOLDER/raisim-energy.svg, -speed.svg, -error.svg, -force.svg */
#include "laws.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 1700, LAWS = 2, SPEEDS = 2, RUNS = LAWS * SPEEDS };
static const double dt = 0.001, mu = 0.2, mass = 1, g = 9.81, half = 0.1, heading = M_PI / 8, speeds[SPEEDS] = {1, 3};

static const variant laws[LAWS] = {
    {"raisim", {.law = TRIBO_LAW_RAISIM, .solver = TRIBO_SOLVER_BISECTION, .raw = true}},
    {"raisim-corrected", {.law = TRIBO_LAW_RAISIM, .solver = TRIBO_SOLVER_BISECTION_CORRECTED, .raw = true}},
};

/* One law at one speed, and what is told of it. */
typedef struct slide_run {
    cube_run cube;
    char title[64];
    double speed[STEPS], error[STEPS], energy[STEPS]; /* m/s; |v - closed form|, m/s; J beyond the closed form's */
} slide_run;

static void tell(slide_run *r, double start) {
    const cube_run *c = &r->cube;
    for (int k = 0; k < STEPS; k++) {
        double v = fmax(0, start - mu * g * c->time[k]);
        r->speed[k] = hypot(c->vx[k], c->vy[k]);
        r->error[k] = fmax(1e-17, hypot(c->vx[k] - v * cos(heading), c->vy[k] - v * sin(heading)));
        r->energy[k] = fmax(1e-17, 0.5 * mass * fabs(r->speed[k] * r->speed[k] - v * v));
    }
}

/* The last step in which the closed form slides on. */
static int last_sliding(double start) {
    return (int)(start / (mu * g * dt)) - 2;
}

/* Error while it slides, and behind its stop; the corners off the least forces, N. */
static void judge(const slide_run *r, double start, const char *law) {
    int end = last_sliding(start);
    double energy = 0, force = 0;
    for (int k = 0; k < end; k++) energy = fmax(energy, r->energy[k]);
    for (int i = 0; i < CORNERS; i++) {
        double along = half * (cos(heading) * (i & 1 ? 1 : -1) + sin(heading) * (i & 2 ? 1 : -1));
        double least = mass * g / 4 + mu * mass * g * half * along / (CORNERS * half * half);
        force = fmax(force, fabs(r->cube.force[i][end - 1] - least));
    }
    printf("%s_%g_error %.4g\n%s_%g_energy %.4g\n%s_%g_energy_share %.4g\n%s_%g_force_off %.4g\n", law, start,
           r->error[end - 1], law, start, energy, law, start, energy / (0.5 * mass * start * start), law, start, force);
}

static void draw_over_time(const slide_run *run, const char *folder) {
    plot_series energy[RUNS], speed[RUNS], error[RUNS];
    for (int i = 0; i < RUNS; i++) {
        const slide_run *r = &run[i];
        plot_style style = i / SPEEDS ? PLOT_DASHED : PLOT_LINE;
        int colour = i % SPEEDS + 1;
        energy[i] = (plot_series){r->title, r->cube.time, r->energy, STEPS, style, colour};
        speed[i] = (plot_series){r->title, r->cube.time, r->speed, STEPS, style, colour};
        error[i] = (plot_series){r->title, r->cube.time, r->error, STEPS, style, colour};
    }
    plot drawing = {.title = "A cube slides to a stop: energy off the closed form",
                    .x_label = "time, s",
                    .y_label = "J",
                    .series = energy,
                    .nseries = RUNS,
                    .log_y = true};
    figure(&drawing, folder, "raisim-energy");
    drawing.title = "The same: its velocity off the closed form", drawing.y_label = "m/s", drawing.series = error;
    figure(&drawing, folder, "raisim-error");
    drawing.title = "The same: its speed", drawing.series = speed, drawing.log_y = false;
    figure(&drawing, folder, "raisim-speed");
}

/* Of the faster one. */
static void draw_forces(const slide_run *run, const char *folder) {
    static const char *const corners[] = {"rear right", "front right", "rear left", "front left"};
    plot_series force[LAWS * CORNERS];
    char title[LAWS * CORNERS][64];
    for (int i = 0; i < LAWS * CORNERS; i++) {
        int l = i / CORNERS, c = i % CORNERS;
        const cube_run *cube = &run[l * SPEEDS + SPEEDS - 1].cube;
        snprintf(title[i], sizeof title[i], "%s, %s", corners[c], laws[l].title);
        force[i] = (plot_series){title[i], cube->time, cube->force[c], STEPS, l ? PLOT_DASHED : PLOT_LINE, c + 1};
    }
    plot drawing = {.title = "The same from 3 m/s: normal force of each corner",
                    .x_label = "time, s",
                    .y_label = "N",
                    .series = force,
                    .nseries = LAWS * CORNERS,
                    .width = 840};
    figure(&drawing, folder, "raisim-force");
}

int main(int argc, char **argv) {
    static slide_run run[RUNS];
    const char *folder = argc > 1 ? argv[1] : NULL;
    tribo_model *m = scene("oblique");
    tribo_sizes z = tribo_model_sizes(m);
    double *p = numbers((size_t)z.np), *x0 = numbers((size_t)z.nx);
    tribo_model_params(m, p);
    tribo_model_state0(m, x0);
    for (int i = 0; i < RUNS; i++) {
        const variant *law = &laws[i / SPEEDS];
        double start = speeds[i % SPEEDS];
        x0[7] = start * cos(heading), x0[8] = start * sin(heading);
        snprintf(run[i].title, sizeof run[i].title, "%s, %g m/s", law->title, start);
        run[i].cube = cube_by(m, p, x0, NULL, STEPS, dt, law);
        tell(&run[i], start), judge(&run[i], start, law->title);
    }
    double apart = 0;
    for (int i = 0; i < CORNERS; i++)
        for (int k = 0; k < 1400; k++)
            apart = fmax(apart, fabs(run[1].cube.force[i][k] - run[SPEEDS + 1].cube.force[i][k]));
    printf("forces_apart %.4g\n", apart);
    draw_over_time(run, folder), draw_forces(run, folder);
    for (int i = 0; i < RUNS; i++) cube_free(&run[i].cube);
    free(p), free(x0);
    tribo_model_free(m);
    return 0;
}
