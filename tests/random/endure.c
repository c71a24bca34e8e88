/* endure.c -- scenes that are stepped for very long: piles, stacks of unequal masses, dominoes, cards, wedges.
 *
 *   endure [--steps N] [--dt H] [SCENE...]
 *
 * Of each: steps that did not converge, the fastest speed against what falling may give, the deepest overlap, and how
 * far its bodies move in the last tenth. Exit status 1 if a step did not converge, or something was thrown. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/tribo.h>

enum { BODIES_MAX = 64 };
static const double DEGREE = 3.14159265358979323846 / 180;

typedef struct stage {
    tribo_builder *b;
    double friction, restitution;
    int bodies;
    double push[BODIES_MAX]; /* first speed along x */
} stage;

static void add_geom(stage *s, int body, tribo_shape shape, const double size[3], const double pos[3], double tilt) {
    tribo_geom_def g = tribo_default_geom();
    g.shape = shape;
    memcpy(g.size, size, sizeof g.size), memcpy(g.pos, pos, sizeof g.pos);
    g.quat[0] = cos(tilt * DEGREE / 2), g.quat[2] = sin(tilt * DEGREE / 2);
    g.material.friction = s->friction, g.material.restitution = s->restitution;
    tribo_add_geom(s->b, body, &g);
}

/* A box, turned about y by `tilt` degrees. */
static int add_box(stage *s, double mass, double sx, double sy, double sz, double x, double y, double z, double tilt) {
    tribo_body_def d = tribo_default_body();
    const double size[3] = {sx, sy, sz}, zero[3] = {0, 0, 0};
    d.pos[0] = x, d.pos[1] = y, d.pos[2] = z;
    d.quat[0] = cos(tilt * DEGREE / 2), d.quat[2] = sin(tilt * DEGREE / 2);
    d.inertia_given = true, d.mass = mass;
    for (int i = 0; i < 3; i++) {
        double a = size[(i + 1) % 3], b = size[(i + 2) % 3];
        d.inertia[i] = mass * (a * a + b * b) / 3;
    }
    int body = tribo_add_body(s->b, &d);
    add_geom(s, body, TRIBO_BOX, size, zero, 0);
    return s->bodies++;
}

static void add_plane(stage *s, double x, double z, double tilt) {
    const double size[3] = {0, 0, 0}, pos[3] = {x, 0, z};
    add_geom(s, TRIBO_WORLD, TRIBO_PLANE, size, pos, tilt);
}

static void pile(stage *s) {
    s->friction = 0.6, s->restitution = 0.2;
    add_plane(s, 0, 0, 0);
    for (int i = 0; i < 20; i++)
        add_box(s, 0.5, 0.05, 0.05, 0.05, 0.03 * sin(7.0 * i), 0.03 * cos(5.0 * i), 0.06 + 0.12 * i, 13.0 * i);
}

static void stack(stage *s) {
    s->friction = 0.5;
    add_plane(s, 0, 0, 0);
    for (int i = 0; i < 20; i++) add_box(s, pow(1000, i / 19.0), 0.1, 0.1, 0.05, 0, 0, 0.05 + 0.1 * i, 0);
}

static void bouncy_stack(stage *s) {
    s->restitution = 0.7;
    stack(s);
}

static void dominoes(stage *s) {
    s->friction = 0.4, s->restitution = 0.1;
    add_plane(s, 0, 0, 0);
    for (int i = 0; i < 20; i++) add_box(s, 0.1, 0.01, 0.05, 0.1, 0.08 * i, 0, 0.1, 0);
    s->push[0] = 0.8;
}

/* Pairs that lean against one another, a flat one on top. */
static void cards(stage *s) {
    const double half = 0.15, thick = 0.002, lean = 20;
    double c = cos(lean * DEGREE), n = sin(lean * DEGREE);
    s->friction = 0.6;
    add_plane(s, 0, 0, 0);
    for (int k = 0; k < 2; k++)
        for (int side = -1; side <= 1; side += 2)
            add_box(s, 0.01, thick, 0.1, half, 0.28 * k + side * (half * n + thick * c), 0, half * c + thick * n,
                    -side * lean);
    add_box(s, 0.01, 0.2, 0.1, thick, 0.14, 0, 2 * half * c + 2 * thick * n + thick, 0);
}

static void wedge(stage *s) {
    s->friction = 0.3;
    add_plane(s, -0.06, 0, 84), add_plane(s, 0.06, 0, -84);
    for (int i = 0; i < 3; i++) add_box(s, pow(10, i), 0.05, 0.05, 0.05, 0, 0, 0.2 + 0.15 * i, 3);
}

static const struct {
    const char *name;
    void (*build)(stage *);
    double height; /* that something falls from, m */
} SCENES[] = {{"pile", pile, 2.5},         {"stack", stack, 0.05}, {"bouncy-stack", bouncy_stack, 0.05},
              {"dominoes", dominoes, 0.3}, {"cards", cards, 0.5},  {"wedge", wedge, 0.6}};
enum { SCENE_COUNT = sizeof SCENES / sizeof *SCENES };

static double fastest(const double *v, int bodies) {
    double most = 0;
    for (int i = 0; i < bodies; i++)
        most = fmax(most, sqrt(v[6 * i] * v[6 * i] + v[6 * i + 1] * v[6 * i + 1] + v[6 * i + 2] * v[6 * i + 2]));
    return most;
}

static double apart(const double *a, const double *b, int bodies) {
    double most = 0;
    for (int i = 0; i < 7 * bodies; i++)
        if (i % 7 < 3) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* @return whether all was well. */
static bool endure(int which, double dt, long steps) {
    const double gravity[3] = {0, 0, -9.81};
    stage s = {.b = tribo_builder_new(NULL)};
    tribo_model *m = NULL;
    tribo_ws *ws = NULL;
    tribo_set_gravity(s.b, gravity), tribo_set_timestep(s.b, dt);
    SCENES[which].build(&s);
    if (tribo_build(s.b, &m, NULL) || tribo_ws_new(m, NULL, NULL, &ws, NULL)) return false;
    tribo_sizes n = tribo_model_sizes(m);
    double *p = calloc((size_t)n.np, sizeof *p), *x = calloc((size_t)n.nx, sizeof *x),
           *mark = calloc((size_t)n.nx, sizeof *x);
    tribo_model_params(m, p), tribo_model_state0(m, x);
    for (int i = 0; i < s.bodies; i++) x[n.nq + 6 * i] = s.push[i];
    double most = 0, deepest = 0, may = 1.5 * (sqrt(2 * 9.81 * SCENES[which].height) + fastest(x + n.nq, s.bodies));
    long failed = 0, substituted = 0, first = -1;
    for (long k = 0; k < steps; k++) {
        if (k == steps - steps / 10) memcpy(mark, x, (size_t)n.nx * sizeof *x);
        tribo_status status = tribo_step(ws, p, x, NULL, x, NULL);
        if (status < 0 || status == TRIBO_NOT_CONVERGED) failed++, first = first < 0 ? k : first;
        if (status < 0) break;
        substituted += status == TRIBO_SUBSTITUTED;
        most = fmax(most, fastest(x + n.nq, s.bodies));
        deepest = fmax(deepest, tribo_last_info(ws)->penetration);
    }
    printf("%-13s %8ld steps: %ld not converged (first %ld), %ld by another law; fastest %.3g m/s, may %.3g; deepest "
           "%.2g m; "
           "moved %.2g m in the last tenth\n",
           SCENES[which].name, steps, failed, first, substituted, most, may, deepest, apart(x, mark, s.bodies));
    fflush(stdout);
    tribo_ws_free(ws), tribo_model_free(m);
    free(p), free(x), free(mark);
    return failed == 0 && most <= may;
}

int main(int argc, char **argv) {
    long steps = 10000;
    double dt = 1e-3;
    bool wanted[SCENE_COUNT] = {false}, any = false, well = true;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--steps") && i + 1 < argc) {
            steps = strtol(argv[++i], NULL, 10);
        } else if (!strcmp(argv[i], "--dt") && i + 1 < argc) {
            dt = strtod(argv[++i], NULL);
        } else {
            int k = 0;
            while (k < SCENE_COUNT && strcmp(argv[i], SCENES[k].name) != 0) k++;
            if (k == SCENE_COUNT) return fprintf(stderr, "endure: no scene '%s'\n", argv[i]), 2;
            wanted[k] = any = true;
        }
    }
    for (int k = 0; k < SCENE_COUNT; k++)
        if (wanted[k] || !any) well = endure(k, dt, steps) && well;
    return !well;
}
