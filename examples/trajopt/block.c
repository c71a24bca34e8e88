/* block.c -- how far does a block get that is pulled up, or along, by a force about as large as what holds it? The
 * derivative of a step by the force: exact, along an interior point's central path, under the stochastic law, and by
 * sampling.
 *
 * A block of 1 kg, gravity 1 m/s^2, friction 1, a step of 0.1 s: from 1 N on it lifts off, or slides. The figure is
 * that of Dojo (Howell et al. 2022) with every smoothing that Tribo has.
 *
 * usage: block [FOLDER]      then FOLDER/block-lift.svg, FOLDER/block-slide.svg */
#include "example.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 13, NDX = 12, NU = 6, POINTS = 101, CURVES = 7, DRAWS = 400, X = 0, Z = 2 };
static const double step = 0.1, spread = 0.1; /* s; N, of the sampled forces */
static const char SCENE[] =
    "<mujoco><option gravity='0 0 -1'/><worldbody><geom type='plane' size='0 0 1' friction='1'/>"
    "<body name='block' pos='0 0 0.1'><freejoint/><geom type='box' size='0.5 0.5 0.1' mass='1' "
    "friction='1'/></body></worldbody></mujoco>";

typedef struct block {
    tribo_model *m;
    tribo_ws *ws;
    tribo_tape *tape;
    double *p;
} block;

static block open_block(const tribo_law_options *law) {
    block b = {0};
    tribo_options o = tribo_default_options();
    o.dt = step;
    if (law) o.law = *law;
    need(tribo_model_load_memory(SCENE, strlen(SCENE), "block", NULL, &b.m, NULL), "scene");
    need(tribo_ws_new(b.m, &o, NULL, &b.ws, NULL), "workspace");
    need(tribo_tape_new(b.ws, 1, 0, &b.tape), "tape");
    b.p = numbers((size_t)tribo_model_sizes(b.m).np);
    tribo_model_params(b.m, b.p);
    return b;
}

static void close_block(block *b) {
    free(b->p), tribo_tape_free(b->tape), tribo_ws_free(b->ws), tribo_model_free(b->m);
}

/* Where the block is along an axis after a step under a force along it; its derivative by the force, NaN where the
 * step did not converge. */
static double after(block *b, int axis, double force, double *slope) {
    double x[NX], u[NU] = {0}, B[NDX * NU];
    tribo_model_state0(b->m, x);
    u[axis] = force;
    tribo_tape_rewind(b->tape);
    tribo_status s = tribo_step(b->ws, b->p, x, u, x, b->tape);
    if (s != TRIBO_NOT_CONVERGED) need(s, "step");
    if (slope)
        *slope =
            s == TRIBO_OK && tribo_step_jac(b->ws, b->tape, 0, NULL, B, NULL) >= 0 ? B[axis * NU + axis] : (double)NAN;
    return x[axis];
}

/* The mean over forces drawn about it, differentiated: E[(f(F + s w) - f(F)) w] / s. */
static double sampled(block *b, int axis, double force, unsigned *seed) {
    double sum = 0, middle = after(b, axis, force, NULL);
    for (int k = 0; k < DRAWS; k++) {
        double w = -6;
        for (int i = 0; i < 12; i++) {
            *seed = *seed * 1664525u + 1013904223u;
            w += ((double)(*seed >> 8) + 0.5) / 16777216.0;
        }
        sum += (after(b, axis, force + spread * w, NULL) - middle) * w / spread;
    }
    return sum / DRAWS;
}

static void curve(int axis, const tribo_law_options *law, bool sample, const double *force, double *slope) {
    block b = open_block(law);
    unsigned seed = 1;
    for (int k = 0; k < POINTS; k++) {
        if (sample)
            slope[k] = sampled(&b, axis, force[k], &seed);
        else
            after(&b, axis, force[k], &slope[k]);
    }
    close_block(&b);
}

static void draw(const char *folder, const char *name, const char *title, int axis) {
    static double force[POINTS], slope[CURVES][POINTS];
    static const char *const NAME[CURVES] = {"exact",          "path 1e-6 J",    "path 1e-5 J", "path 1e-4 J",
                                             "noise 0.01 m/s", "noise 0.03 m/s", "sampled"};
    const double kappa[CURVES] = {0, 1e-6, 1e-5, 1e-4}, noise[CURVES] = {[4] = 0.01, [5] = 0.03};
    plot_series s[CURVES];
    for (int k = 0; k < POINTS; k++) force[k] = 0.5 + (k + 0.5) / POINTS;
    for (int i = 0; i < CURVES; i++) {
        tribo_law_options law = {0};
        if (kappa[i] > 0) law.solver = TRIBO_SOLVER_INTERIOR, law.raw = true, law.kappa = kappa[i];
        if (noise[i] > 0)
            law.law = TRIBO_LAW_STOCHASTIC, law.smoothing = TRIBO_SMOOTHING_LOGISTIC, law.noise = noise[i];
        curve(axis, &law, i == CURVES - 1, force, slope[i]);
        s[i] = (plot_series){NAME[i], force, slope[i], POINTS, i == CURVES - 1 ? PLOT_DOTS : PLOT_LINE, i + 1};
        printf("%s %-16s at 0.6 N %9.6f, at 0.9 N %9.6f, at 1 N %9.6f, at 1.1 N %9.6f, at 1.4 N %9.6f\n", name, NAME[i],
               slope[i][10], slope[i][40], slope[i][50], slope[i][60], slope[i][90]);
    }
    double worst = 0;
    for (int k = 0; k < POINTS; k++)
        if (fabs(force[k] - 1) > 1e-3) worst = fmax(worst, fabs(slope[0][k] - (force[k] > 1 ? step * step : 0)));
    printf("%s_exact_off %.2g\n%s_path_middle %.3g\n%s_noise_middle %.3g\n%s_sampled_middle %.3g\n", name, worst, name,
           slope[3][50] / (step * step), name, slope[5][50] / (step * step), name, slope[6][50] / (step * step));
    plot p = {.title = title,
              .x_label = "force, N",
              .y_label = "derivative of the position after a step by the force, m/N",
              .series = s,
              .nseries = CURVES};
    figure(&p, folder, axis == Z ? "block-lift" : "block-slide");
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : NULL;
    draw(folder, "lift", "A block of 1 N pulled up", Z);
    draw(folder, "slide", "A block of 1 N pulled along the floor, friction 1", X);
    return 0;
}
