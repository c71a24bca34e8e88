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

enum { STEPS = 400, LAWS = 5, CORNERS = 4 };
static const double dt = 0.001, pull = 20, mu = 0.4, mass = 1, g = 9.81, half = 0.1, heading = M_PI / 8;

static const variant laws[LAWS] = {
    {"ncp ladder", {.law = TRIBO_LAW_NCP}},
    {"ncp pgs", {.law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_PGS, .raw = true}},
    {"ccp", {.law = TRIBO_LAW_CCP}},
    {"lcp", {.law = TRIBO_LAW_LCP}},
    {"raisim", {.law = TRIBO_LAW_RAISIM, .solver = TRIBO_SOLVER_BISECTION}},
};

typedef struct drag_run {
    double *time, *speed, *x, *y, *force[CORNERS]; /* (STEPS): s, m/s, m, N */
} drag_run;

/* Which corner a point is: of the four below the cube. */
static int corner_of(const tribo_contact *c, const double *x) {
    return (c->point[0] > x[0]) + 2 * (c->point[1] > x[1]);
}

static drag_run drag(const tribo_model *m, const double *p, const variant *v) {
    tribo_sizes z = tribo_model_sizes(m);
    tribo_options o = tribo_default_options();
    tribo_ws *ws = NULL;
    double *x = numbers((size_t)z.nx), *u = numbers((size_t)z.nu);
    drag_run r = {numbers(STEPS), numbers(STEPS), numbers(STEPS), numbers(STEPS), {NULL}};
    for (int i = 0; i < CORNERS; i++) r.force[i] = numbers(STEPS);
    o.dt = dt, o.tol = 1e-8, o.law = v->law;
    need(tribo_ws_new(m, &o, NULL, &ws, NULL), v->title);
    tribo_model_state0(m, x);
    u[0] = pull * cos(heading), u[1] = pull * sin(heading);
    for (int k = 0; k < STEPS; k++) {
        int n;
        tribo_status s = tribo_step(ws, p, x, u, x, NULL);
        if (s < 0) need(s, v->title);
        const tribo_contact *c = tribo_last_contacts(ws, &n);
        for (int i = 0; i < n; i++) r.force[corner_of(&c[i], x)][k] += c[i].impulse[2] / dt;
        r.time[k] = (k + 1) * dt, r.x[k] = x[0], r.y[k] = x[1], r.speed[k] = hypot(x[7], x[8]);
    }
    tribo_ws_free(ws);
    free(x), free(u);
    return r;
}

/* Velocity and path off the closed form; corners off the least forces, N, in the last step. */
static void judge(const drag_run *r, const char *name) {
    double speed = 0, across = 0, force = 0;
    for (int k = 0; k < STEPS; k++) {
        speed = fmax(speed, fabs(r->speed[k] - (pull / mass - mu * g) * r->time[k]));
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

static void draw(const drag_run *run, const char *folder) {
    static const char *const corners[] = {"rear right", "front right", "rear left", "front left"};
    plot_series velocity[LAWS], path[LAWS], force[2 * CORNERS];
    char title[2 * CORNERS][48];
    for (int l = 0; l < LAWS; l++) {
        velocity[l] = (plot_series){laws[l].title, run[l].time, run[l].speed, STEPS, PLOT_LINE, 0};
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
    double *p = numbers((size_t)tribo_model_sizes(m).np);
    drag_run run[LAWS];
    tribo_model_params(m, p);
    p[tribo_param_find(m, "floor/friction")] = mu;
    for (int l = 0; l < LAWS; l++) run[l] = drag(m, p, &laws[l]), judge(&run[l], laws[l].title);
    draw(run, argc > 1 ? argv[1] : NULL);
    for (int l = 0; l < LAWS; l++) {
        free(run[l].time), free(run[l].speed), free(run[l].x), free(run[l].y);
        for (int i = 0; i < CORNERS; i++) free(run[l].force[i]);
    }
    free(p);
    tribo_model_free(m);
    return 0;
}
