/* bounce.c -- the picture of the README: where a ball is after a bounce, and what its derivative says.
 *
 *     build/docs/figures/bounce docs/figures
 *
 * data/scenes/bounce.xml with steps of 10 ms: height after 0.6 s against the height of the drop. Beside it a velocity
 * step that applies restitution where it finds the ball below the floor, as most engines do.
 */
#include "example.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 60, DROPS = 401, TANGENTS = 5, Z = 2, VZ = 9 };
static const double dt = 0.01, radius = 0.1, e = 0.8, g = 9.81, half_length = 0.02;

/* Height after the last step, and its derivative to the first. */
static double drop(tribo_ws *ws, tribo_tape *tape, const double *p, double height, double *slope) {
    tribo_sizes n = tribo_model_sizes(tribo_ws_model(ws));
    double X[(STEPS + 1) * 13], lx[(STEPS + 1) * 12] = {0}, x_bar[12] = {0};
    tribo_model_state0(tribo_ws_model(ws), X);
    X[Z] = height, X[VZ] = g * dt / 2; /* at rest: a velocity is that of the middle of a step */
    lx[STEPS * n.ndx + Z] = 1;
    tribo_tape_rewind(tape);
    need(tribo_rollout(ws, p, X, STEPS, NULL, X, tape), "the rollout");
    need(tribo_backward(ws, tape, lx, x_bar, NULL, NULL), "the reverse");
    *slope = x_bar[Z];
    return X[STEPS * n.nx + Z];
}

static double velocity_step(double z) {
    double v = g * dt / 2;
    for (int k = 0; k < STEPS; k++) {
        v -= g * dt;
        if (z < radius && v < 0) v = -e * v;
        z += dt * v;
    }
    return z;
}

/* Drop from z, fall for t1, leave with e times the speed. */
static double exact(double z, double *slope) {
    double t1 = sqrt(2 * (z - radius) / g), late = STEPS * dt - t1, leave = e * g * t1;
    *slope = (1 / (g * t1)) * (e * g * late - leave + g * late);
    return radius + leave * late - g * late * late / 2;
}

int main(int argc, char **argv) {
    double h[DROPS], tribo[DROPS], plain[DROPS], worst = 0, worst_slope = 0;
    double tx[3 * TANGENTS], ty[3 * TANGENTS];
    tribo_model *m = scene("bounce");
    tribo_options o = tribo_default_options();
    o.dt = dt;
    tribo_ws *ws;
    tribo_tape *tape;
    need(tribo_ws_new(m, &o, NULL, &ws, NULL), "the workspace");
    need(tribo_tape_new(ws, STEPS, 0, &tape), "the tape");
    double *p = numbers((size_t)tribo_model_sizes(m).np);
    tribo_model_params(m, p);
    for (int i = 0; i < DROPS; i++) {
        double slope, truth;
        h[i] = 0.9 + 0.4 * i / (DROPS - 1);
        tribo[i] = drop(ws, tape, p, h[i], &slope);
        plain[i] = velocity_step(h[i]);
        worst = fmax(worst, fabs(tribo[i] - exact(h[i], &truth)));
        worst_slope = fmax(worst_slope, fabs(slope - truth));
        if (i % 80 == 40) {
            double *x = tx + 3 * (i / 80), *y = ty + 3 * (i / 80);
            for (int k = 0; k < 2; k++) {
                double d = k ? half_length : -half_length;
                x[k] = h[i] + d, y[k] = tribo[i] + slope * d;
            }
            x[2] = y[2] = NAN;
        }
    }
    printf("worst_height %.3g\nworst_derivative %.3g\n", worst, worst_slope);
    plot_series s[] = {{"a velocity step", h, plain, DROPS, PLOT_LINE, 6},
                       {"Tribo", h, tribo, DROPS, PLOT_LINE, 1},
                       {"its derivative", tx, ty, 3 * TANGENTS, PLOT_LINE_DOTS, 2}};
    plot picture = {.title = "A ball after one bounce, steps of 10 ms",
                    .x_label = "dropped from, m",
                    .y_label = "height after 0.6 s, m",
                    .series = s,
                    .nseries = 3,
                    .height = 360};
    figure(&picture, argc > 1 ? argv[1] : NULL, "bounce");
    free(p), tribo_tape_free(tape), tribo_ws_free(ws), tribo_model_free(m);
    return 0;
}
