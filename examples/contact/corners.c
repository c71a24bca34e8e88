/* corners.c -- a cube dragged by 20 N over a floor of friction 0.4: its velocity, the force at each of its corners, and
 * its path.
 *
 * From rest, heading 22.5 degrees from the pyramid's edges. In closed form the velocity is (F/m - mu g) t along the
 * force; the corner at r from the centre carries m g / 4 + mu m g h (d . r) / sum (d . r)^2 where nothing works against
 * anything else: h the centre's height, d the direction.
 *
 * usage: corners [FOLDER]      then FOLDER/laws-corners-velocity.svg, -path.svg, -force.svg */
#include "laws.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 400, LAWS = 5 };
static const double dt = 0.001, pull = 20, mu = 0.4, mass = 1, g = 9.81, half = 0.1, heading = M_PI / 8;

static const variant laws[LAWS] = {
    {"ncp ladder", {.law = TRIBO_LAW_NCP}},
    {"ncp pgs", {.law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_PGS, .raw = true}},
    {"ccp", {.law = TRIBO_LAW_CCP}},
    {"lcp", {.law = TRIBO_LAW_LCP}},
    {"raisim", {.law = TRIBO_LAW_RAISIM, .solver = TRIBO_SOLVER_BISECTION}},
};

/* Velocity and path off the closed form; corners off the least forces, N, in the last step. */
static void judge(const cube_run *r, const char *name) {
    double speed = 0, across = 0, force = 0;
    for (int k = 0; k < STEPS; k++) {
        speed = fmax(speed, fabs(hypot(r->vx[k], r->vy[k]) - (pull / mass - mu * g) * r->time[k]));
        across = fmax(across, fabs(r->y[k] * cos(heading) - r->x[k] * sin(heading)));
    }
    for (int i = 0; i < CORNERS; i++) {
        double along = half * (cos(heading) * (i & 1 ? 1 : -1) + sin(heading) * (i & 2 ? 1 : -1));
        double least = mass * g / 4 + mu * mass * g * half * along / (CORNERS * half * half);
        printf("%s: corner %d carries %.4f N, the least is %.4f\n", name, i, r->force[i][STEPS - 1], least);
        force = fmax(force, fabs(r->force[i][STEPS - 1] - least));
    }
    char word[64];
    snprintf(word, sizeof word, "%s", name);
    for (char *c = word; *c; c++)
        if (*c == ' ') *c = '_';
    printf("%s_speed_off %.3g\n%s_across %.3g\n%s_force_off %.3g\n", word, speed, word, across, word, force);
}

static void draw(const cube_run *run, const char *folder) {
    static double speed[LAWS][STEPS];
    static const char *const corners[] = {"rear right", "front right", "rear left", "front left"};
    plot_series velocity[LAWS], path[LAWS], force[2 * CORNERS];
    char title[2 * CORNERS][48];
    for (int l = 0; l < LAWS; l++) {
        for (int k = 0; k < STEPS; k++) speed[l][k] = hypot(run[l].vx[k], run[l].vy[k]);
        velocity[l] = (plot_series){laws[l].title, run[l].time, speed[l], STEPS, PLOT_LINE, 0};
        path[l] = (plot_series){laws[l].title, run[l].x, run[l].y, STEPS, PLOT_LINE, 0};
    }
    for (int i = 0; i < 2 * CORNERS; i++) {
        int l = i / CORNERS, c = i % CORNERS;
        snprintf(title[i], sizeof title[i], "%s, %s", corners[c], laws[l].title);
        force[i] = (plot_series){title[i], run[l].time, run[l].force[c], STEPS, l ? PLOT_LINE : PLOT_DASHED, c + 1};
    }
    plot drawing = {.title = "A cube dragged by 20 N, friction 0.4: its speed",
                    .x_label = "time, s",
                    .y_label = "m/s",
                    .series = velocity,
                    .nseries = LAWS,
                    .nested = true};
    figure(&drawing, folder, "laws-corners-velocity");
    drawing.title = "The same: its path in the plane", drawing.x_label = "x, m", drawing.y_label = "y, m";
    drawing.series = path;
    figure(&drawing, folder, "laws-corners-path");
    drawing.title = "The same: normal force of each corner", drawing.x_label = "time, s", drawing.y_label = "N";
    drawing.series = force, drawing.nseries = 2 * CORNERS, drawing.nested = false;
    figure(&drawing, folder, "laws-corners-force");
}

int main(int argc, char **argv) {
    tribo_model *m = scene("push");
    tribo_sizes z = tribo_model_sizes(m);
    double *p = numbers((size_t)z.np), *x0 = numbers((size_t)z.nx), *u = numbers((size_t)z.nu);
    cube_run run[LAWS];
    tribo_model_params(m, p);
    tribo_model_state0(m, x0);
    p[parameter(m, "floor/friction")] = mu;
    u[0] = pull * cos(heading), u[1] = pull * sin(heading);
    for (int l = 0; l < LAWS; l++) run[l] = cube_by(m, p, x0, u, STEPS, dt, &laws[l]), judge(&run[l], laws[l].title);
    draw(run, argc > 1 ? argv[1] : NULL);
    for (int l = 0; l < LAWS; l++) cube_free(&run[l]);
    free(p), free(x0), free(u);
    tribo_model_free(m);
    return 0;
}
