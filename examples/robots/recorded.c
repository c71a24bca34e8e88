/* recorded.c -- see recorded.h. */
#include "recorded.h"
#include "arms.h"
#include "cubes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void recorded_free(recorded *r) {
    free(r->memory);
}

static recorded recorded_new(const tribo_model *m, int rows, double **time, double **x, double **u) {
    tribo_sizes z = tribo_model_sizes(m);
    size_t n = (size_t)rows, nx = (size_t)z.nx, nu = (size_t)z.nu;
    recorded r = {.memory = calloc(n * (1 + nx + nu), sizeof(double))};
    *time = r.memory, *x = *time + n, *u = *x + n * nx;
    r.rec = (tribo_recording){.n = rows, .time = *time, .x = *x, .u = *u};
    return r;
}

/* A scene with the first `old` in its text replaced. */
static tribo_model *changed(const char *folder, const char *name, const char *old, const char *with) {
    static char text[1 << 16], other[1 << 17];
    char path[4096];
    tribo_model *m = NULL;
    snprintf(path, sizeof path, "%s/%s.xml", folder, name);
    FILE *f = fopen(path, "r");
    if (!f) return NULL;
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = 0;
    char *at = strstr(text, old);
    if (!at) return NULL;
    snprintf(other, sizeof other, "%.*s%s%s", (int)(at - text), text, with, at + strlen(old));
    return tribo_model_load_memory(other, strlen(other), name, NULL, &m, NULL) ? NULL : m;
}

/* ---- a slip ---- */

const char *const slip_name[SLIP_FEET] = {"fl foot/friction", "fr foot/friction", "hl foot/friction",
                                          "hr foot/friction"};
const double slip_truth[SLIP_FEET] = {0.6, 0.5, 0.55, 0.45};

/* Of a foot and the floor the larger friction counts: here the foot's. */
tribo_model *slip_scene(const char *folder) {
    return changed(folder, "quadruped", "size=\"0 0 1\" friction=\"0.9\"", "size=\"0 0 1\" friction=\"0.1\"");
}

enum { SLIP_ROWS = 41, SLIP_SKIP = 40, SLIP_SETTLE = 2000 };

/* The trunk's pose by a motion capture, the angles by encoders. */
static void measure(const tribo_model *m, const double *x, double *row, uint64_t *seed) {
    tribo_sizes z = tribo_model_sizes(m);
    cube trunk = {.x = {x[0], x[1], x[2]}};
    double w = x[3], *r = &trunk.R[0][0];
    const double a = x[4], b = x[5], c = x[6];
    const double R[9] = {1 - 2 * (b * b + c * c), 2 * (a * b - w * c),     2 * (a * c + w * b),
                         2 * (a * b + w * c),     1 - 2 * (a * a + c * c), 2 * (b * c - w * a),
                         2 * (a * c - w * b),     2 * (b * c + w * a),     1 - 2 * (a * a + b * b)};
    memcpy(r, R, sizeof R);
    cube_measure(&trunk, 1e-3, 2e-3, seed, row);
    for (int i = 7; i < z.nq; i++) row[i] = x[i] + 1e-3 * cubes_gauss(seed);
    for (int i = z.nq; i < z.nx; i++) row[i] = NAN;
}

recorded slip_record(const tribo_model *m, double pull, uint64_t seed) {
    tribo_sizes z = tribo_model_sizes(m);
    tribo_ws *ws = NULL;
    double *time, *X, *U, *p = calloc((size_t)z.np, sizeof *p), *x = calloc((size_t)(z.nx + z.nu), sizeof *x),
                          *u = x + z.nx;
    tribo_options o = tribo_default_options();
    recorded r = recorded_new(m, SLIP_ROWS, &time, &X, &U);
    for (int i = 0; i < 10; i++) cubes_uniform(&seed);
    double angle = 6.283185307179586 * cubes_uniform(&seed), force = pull * (0.9 + 0.2 * cubes_uniform(&seed));
    tribo_model_params(m, p);
    for (int i = 0; i < SLIP_FEET; i++) p[tribo_param_find(m, slip_name[i])] = slip_truth[i];
    tribo_model_key(m, 0, x, u);
    o.dt = 0.01 / SLIP_SKIP;
    if (tribo_ws_new(m, &o, NULL, &ws, NULL)) return r;
    for (int k = 0; k < SLIP_SETTLE; k++) (void)!tribo_step(ws, p, x, u, x, NULL); /* it has come to stand */
    for (int k = 0; k < SLIP_ROWS; k++) {
        double share = k < SLIP_ROWS / 2 ? 1 : 0;
        time[k] = 0.01 * k;
        u[0] = share * force * cos(angle), u[1] = share * force * sin(angle);
        u[5] = share * 0.1 * force * (k % 20 < 10 ? 1 : -1);
        measure(m, x, X + k * z.nx, &seed);
        memcpy(U + k * z.nu, u, (size_t)z.nu * sizeof *u);
        for (int j = 0; j < SLIP_SKIP; j++) (void)!tribo_step(ws, p, x, u, x, NULL);
    }
    free(p), free(x), tribo_ws_free(ws);
    return r;
}

/* ---- a payload ---- */

const char *const payload_name[PAYLOAD_FREE] = {"payload/mass", "payload/com/x", "payload/com/y", "payload/com/z"};
const double payload_truth[PAYLOAD_FREE] = {1.5, 0.02, 0.06, -0.03};

tribo_model *payload_scene(const char *folder) {
    return changed(folder, "ur-like", "size=\"0.035\"/>",
                   "size=\"0.035\"/><body name=\"payload\" pos=\"0 0.0823 0\">"
                   "<inertial pos=\"0.02 0.06 -0.03\" mass=\"1.5\" diaginertia=\"0.002 0.002 0.002\"/></body>");
}

/* What is fixed to a link becomes a part of it. */
static void load(arm_link *l, const double *pos, double mass, const double *com, double inertia) {
    double all = l->mass + mass, arm_of[3], square = 0;
    static const int at[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    for (int i = 0; i < 3; i++) arm_of[i] = pos[i] + com[i] - l->com[i], square += arm_of[i] * arm_of[i];
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            l->inertia[at[i][j]] +=
                (i == j ? inertia : 0) + l->mass * mass / all * ((i == j ? square : 0) - arm_of[i] * arm_of[j]);
    for (int i = 0; i < 3; i++) l->com[i] += mass / all * arm_of[i];
    l->mass = all;
}

recorded payload_record(const tribo_model *m, double noise, uint64_t seed) {
    enum { ROWS = 251, N = ARM_LINKS };
    const double spacing = 0.004, at[3] = {0, 0.0823, 0};
    tribo_sizes z = tribo_model_sizes(m);
    double *time, *X, *U, *q = calloc(2 * ROWS * N, sizeof *q), *torque = q + ROWS * N;
    recorded r = recorded_new(m, ROWS, &time, &X, &U);
    for (int i = 0; i < 10; i++) cubes_uniform(&seed);
    arm a = arm_ur();
    load(&a.link[N - 1], at, payload_truth[0], payload_truth + 1, 0.002);
    arm_wish wish = arm_wish_draw(&a, &seed);
    arm_record(&a, &wish, ROWS, spacing, noise, &seed, q, torque);
    for (int k = 0; k < ROWS; k++) {
        time[k] = k * spacing;
        for (int i = 0; i < z.nx; i++) X[k * z.nx + i] = i < N ? q[k * N + i] : (double)NAN;
        memcpy(U + k * z.nu, torque + k * N, N * sizeof *q);
    }
    free(q);
    return r;
}
