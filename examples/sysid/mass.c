/* mass.c -- the mass of a cube from a push by a known force, and from collisions with a cube of known mass.
 *
 * The push: 8 N for half a second on a floor of known friction, a = F / m - mu g (truth 1.3 kg, exact positions). The
 * collisions are those of mass_restitution.c (truth 0.6 kg, 1 mm of noise).
 *
 * usage: mass [FOLDER]      then FOLDER/mass.svg */
#include "fit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STARTS = 3 };
static const char *const name = "cube/mass";
static const double starts[STARTS] = {0.2, 0.7, 1.6};

static void draw(const fitted *f, plot_series *s, bool collision) {
    for (int i = 0; i < STARTS; i++)
        s[i] = (plot_series){i           ? NULL
                             : collision ? "collisions (0.6 kg)"
                                         : "push (1.3 kg)",
                             f[i].iteration,
                             f[i].value[0],
                             f[i].n,
                             collision ? PLOT_DASHED : PLOT_LINE_DOTS,
                             collision ? 2 : 1};
}

static void push(fitted *f) {
    tribo_model *m = scene("push");
    tribo_sizes z = tribo_model_sizes(m);
    double *p = numbers(z.np), *x0 = numbers(z.nx), *force = numbers(z.nu);
    tribo_model_params(m, p);
    tribo_model_state0(m, x0);
    p[parameter(m, name)] = 1.3;
    force[0] = 8;
    tribo_recording pushed = record(m, p, x0, force, 51, 10);
    for (int i = 0; i < STARTS; i++) {
        fit(m, &pushed, 1, 1, &name, starts + i, tribo_default_sysid(), 100, f + i);
        printf("push_from_%g %.9f\npush_iterations_from_%g %d\n", starts[i], f[i].estimate->estimate, starts[i],
               f[i].n - 1);
    }
    fitted stuck = {0}; /* mu m g > 8 N: the cube does not move at all, and nothing says where to go */
    const double heavy = 5;
    fit(m, &pushed, 1, 1, &name, &heavy, tribo_default_sysid(), 100, &stuck);
    printf("stuck_start_stays %.9g\nstuck_start_identifiable %d\n", stuck.estimate->estimate,
           stuck.estimate->identifiable);
    recording_free(&pushed);
    free(p), free(x0), free(force);
    tribo_model_free(m);
}

static void collide(fitted *f) {
    tribo_model *m = scene("collision");
    tribo_recording rec[COLLISIONS];
    for (int i = 0; i < COLLISIONS; i++) rec[i] = recorded(m, i + 1, 0.2);
    for (int i = 0; i < STARTS; i++) {
        tribo_sysid_def def = tribo_default_sysid();
        fit(m, rec, COLLISIONS, 1, &name, starts + i, def, 100, f + i);
        printf("collision_from_%g %.6f\n", starts[i], f[i].estimate->estimate);
    }
    printf("collision_std_error %.2g\n", f->estimate->std_error);
    for (int i = 0; i < COLLISIONS; i++) recording_free(rec + i);
    tribo_model_free(m);
}

int main(int argc, char **argv) {
    static fitted f[2][STARTS];
    plot_series s[2 * STARTS];
    push(f[0]);
    collide(f[1]);
    draw(f[0], s, false);
    draw(f[1], s + STARTS, true);
    plot p = {.title = "Mass from a push and from collisions",
              .x_label = "iteration",
              .y_label = "mass (kg)",
              .series = s,
              .nseries = 2 * STARTS};
    figure(&p, argc > 1 ? argv[1] : NULL, "mass");
    return 0;
}
