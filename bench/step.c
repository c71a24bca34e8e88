/* step.c -- what a step, its record, its reverse and its Jacobians cost, and how right they are: sliding, pulled,
 * stacked and piled cubes, with MuJoCo on the same files where it is installed.
 *
 *     bench_step [--json] [--cold] [--large] [--reps N] [SCENE...]
 *
 * Times are medians of thread CPU time over whole runs, after one run to warm up. By default both engines start each
 * step from the last one's impulses, as MuJoCo does; --cold makes Tribo start from nothing. --large adds the pile of
 * 100. SCENE is S1, S1d, S2, S3, S4-10, S4-100, or `bodies`: the cost against their number. Run from the root of the
 * project, the scenes are those of bench/scenes; where TRIBO_DATA is set, those of TRIBO_DATA/scenes.
 */
#include "bench.h"
#include "mujoco.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tribo/tribo.h>

enum { REPS_MAX = 99 };

static struct {
    bool json, cold, large;
    int reps;
} options = {.reps = 7};

/* ---- scenes ---- */

typedef enum scene_kind { SLIDE, PULL, STACK, PILE } scene_kind;

typedef struct scene {
    const char *name, *file;
    scene_kind kind;
    int steps;
    bool large;
} scene;

static const scene scenes[] = {
    {"S1", "s1-slide.xml", SLIDE, 1000, false},     {"S1d", "s1d-slide-diagonal.xml", SLIDE, 1000, false},
    {"S2", "s2-pull.xml", PULL, 1000, false},       {"S3", "s3-heavy-on-light.xml", STACK, 1000, false},
    {"S4-10", "s4-pile-10.xml", PILE, 2000, false}, {"S4-100", "s4-pile-100.xml", PILE, 2000, true},
};

/* One scene ready to run in both engines. */
typedef struct run {
    tribo_model *m;
    tribo_ws *ws;
    tribo_tape *tape;
    mujoco *other;
    tribo_sizes n;
    int steps;
    double *p, *x0, *force, *U, *X, *lx, *A, *B, *bar;
} run;

/* The pull of S2: 20 t newtons along x at the centre, taken at the middle of the step. */
static double pull(int k, double dt) {
    return 20 * (k + 0.5) * dt;
}

static run run_new(tribo_model *m, int steps, bool pulled) {
    run r = {.m = m, .n = tribo_model_sizes(m), .steps = steps};
    tribo_options o = tribo_default_options();
    o.warm_start = !options.cold;
    bench_ensure(tribo_ws_new(m, &o, NULL, &r.ws, NULL), "workspace");
    size_t T = (size_t)steps, ndx = (size_t)r.n.ndx, nu = (size_t)r.n.nu;
    bench_ensure(tribo_tape_new(r.ws, steps, tribo_tape_bytes(r.ws, steps, 12 * r.n.nbody), &r.tape), "tape");
    r.p = bench_numbers((size_t)r.n.np), r.x0 = bench_numbers((size_t)r.n.nx);
    r.X = bench_numbers((T + 1) * (size_t)r.n.nx), r.lx = bench_numbers((T + 1) * ndx);
    r.A = bench_numbers(ndx * ndx), r.B = bench_numbers(ndx * nu), r.bar = bench_numbers(ndx + T * nu + (size_t)r.n.np);
    tribo_model_params(m, r.p);
    tribo_model_state0(m, r.x0);
    for (size_t i = 0; i < ndx; i++) r.lx[T * ndx + i] = 1 + 0.1 * (double)(i % 7);
    if (!pulled) return r;
    r.force = bench_numbers(T), r.U = bench_numbers(T * nu);
    for (int k = 0; k < steps; k++) r.force[k] = r.U[(size_t)k * nu] = pull(k, tribo_model_timestep(m));
    return r;
}

static void run_free(run *r) {
    mujoco_close(r->other);
    tribo_tape_free(r->tape), tribo_ws_free(r->ws), tribo_model_free(r->m);
    free(r->p), free(r->x0), free(r->force), free(r->U), free(r->X), free(r->lx), free(r->A), free(r->B), free(r->bar);
}

/* ---- times ---- */

typedef struct times {
    double step, other, tape, reverse, jacobians; /* us a step; other: MuJoCo's */
} times;

/* @return seconds of a rollout. */
static double rollout(run *r, bool record) {
    tribo_ws_reset(r->ws);
    tribo_tape_rewind(r->tape);
    double start = bench_seconds();
    bench_ensure(tribo_rollout(r->ws, r->p, r->x0, r->steps, r->U, r->X, record ? r->tape : NULL), "rollout");
    return bench_seconds() - start;
}

static double reverse(run *r) {
    size_t ndx = (size_t)r->n.ndx, all = ndx + (size_t)r->steps * (size_t)r->n.nu + (size_t)r->n.np;
    double *u_bar = r->bar + ndx, *p_bar = u_bar + (size_t)r->steps * (size_t)r->n.nu;
    memset(r->bar, 0, all * sizeof *r->bar);
    double start = bench_seconds();
    bench_ensure(tribo_backward(r->ws, r->tape, r->lx, r->bar, u_bar, p_bar), "reverse");
    return bench_seconds() - start;
}

static double jacobians(run *r) {
    double start = bench_seconds();
    for (int k = 0; k < r->steps; k++) bench_ensure(tribo_step_jac(r->ws, r->tape, k, r->A, r->B, NULL), "Jacobians");
    return bench_seconds() - start;
}

/* Alternating, so that a change of the machine's pace meets all alike. */
static times measure(run *r) {
    double t[5][REPS_MAX], us = 1e6 / r->steps;
    for (int k = -1; k < options.reps; k++) {
        double once[5] = {rollout(r, false), r->other ? mujoco_run(r->other, r->steps, r->force, NULL) : 0,
                          rollout(r, true), reverse(r), jacobians(r)};
        for (int i = 0; k >= 0 && i < 5; i++) t[i][k] = us * once[i];
    }
    times m;
    m.step = bench_median(t[0], options.reps), m.other = bench_median(t[1], options.reps);
    m.tape = bench_median(t[2], options.reps), m.reverse = bench_median(t[3], options.reps);
    m.jacobians = bench_median(t[4], options.reps);
    return m;
}

/* ---- what is right ---- */

/* How the steps of a scene went, beside times: worst residual, deepest penetration, highest rung. */
typedef struct health {
    double residual, penetration;
    int rung, contacts, unconverged;
} health;

static health inspect(run *r) {
    health h = {0};
    size_t nx = (size_t)r->n.nx, nu = (size_t)r->n.nu;
    tribo_ws_reset(r->ws);
    memcpy(r->X, r->x0, nx * sizeof *r->X);
    for (int k = 0; k < r->steps; k++) {
        double *x = r->X + (size_t)k * nx;
        tribo_status s = tribo_step(r->ws, r->p, x, r->U ? r->U + (size_t)k * nu : NULL, x + nx, NULL);
        bench_ensure(s, "step");
        const tribo_step_info *info = tribo_last_info(r->ws);
        h.unconverged += s == TRIBO_NOT_CONVERGED;
        h.residual = fmax(h.residual, info->residual), h.penetration = fmax(h.penetration, info->penetration);
        if ((int)info->rung > h.rung) h.rung = (int)info->rung;
        if (info->ncon > h.contacts) h.contacts = info->ncon;
    }
    return h;
}

enum { ERRORS_MAX = 4 };

typedef struct error {
    const char *name;
    double value, allowed; /* allowed < 0: no limit is set */
} error;

static const double g = 9.81, mu = 0.4;

/* Where semi-implicit Euler stops a cube of 3 m/s under exact friction: 1.145289 m at dt = 1 ms. */
static double discrete_stop(double speed, double dt) {
    double x = 0;
    for (double v = speed - mu * g * dt; v > 0; v -= mu * g * dt) x += dt * v;
    return x;
}

static int slide_errors(const run *r, double dt, error *e) {
    const double *start = r->X, *end = r->X + (size_t)r->steps * (size_t)r->n.nx;
    double speed = hypot(start[7], start[8]), bounce = 0, energy = 0;
    for (int k = 0; k <= r->steps; k++) {
        const double *x = r->X + (size_t)k * (size_t)r->n.nx, v = fmax(0, speed - mu * g * dt * k);
        double E = 0.5 * (x[7] * x[7] + x[8] * x[8] + x[9] * x[9]) + g * (x[2] - start[2]);
        bounce = fmax(bounce, x[2] - start[2]), energy = fmax(energy, fabs(E - 0.5 * v * v));
    }
    double stop = hypot(end[0] - start[0], end[1] - start[1]);
    e[0] = (error){"stop distance, m", stop - discrete_stop(speed, dt), 1e-4};
    e[1] = (error){"bounce, m", bounce, 1e-9};
    e[2] = (error){"energy / start energy", energy / (0.5 * speed * speed), 1e-9};
    return 3;
}

static int pull_errors(const run *r, double dt, error *e) {
    double creep = 0, exact = 0;
    for (int k = 0; k < r->steps; k++) {
        double F = pull(k, dt), x = r->X[(size_t)(k + 1) * (size_t)r->n.nx];
        if (F < mu * g)
            creep = fmax(creep, fabs(x));
        else
            exact += dt * (F - mu * g);
    }
    double v = r->X[(size_t)r->steps * (size_t)r->n.nx + 7];
    e[0] = (error){"creep before it slips, m", creep, 1e-9};
    e[1] = (error){"end speed, relative", v / exact - 1, 1e-9};
    return 2;
}

static int stack_errors(const run *r, error *e) {
    double sink = 0, aside = 0, top = r->X[9];
    for (int k = 0; k <= r->steps; k++) {
        const double *x = r->X + (size_t)k * (size_t)r->n.nx + 7;
        sink = fmax(sink, fabs(x[2] - top)), aside = fmax(aside, hypot(x[0], x[1]));
    }
    e[0] = (error){"top cube sinks, m", sink, 1e-6};
    e[1] = (error){"top cube aside, m", aside, 1e-6};
    return 2;
}

static int scene_errors(const scene *s, const run *r, error *e) {
    double dt = tribo_model_timestep(r->m);
    switch (s->kind) {
    case SLIDE:
        return slide_errors(r, dt, e);
    case PULL:
        return pull_errors(r, dt, e);
    case STACK:
        return stack_errors(r, e);
    case PILE:
        break;
    }
    return 0;
}

/* ---- dx/dmu of S1 after 100 steps ---- */

static double slide_gradient(run *r, int steps) {
    size_t ndx = (size_t)r->n.ndx;
    double *lx = bench_numbers((size_t)(steps + 1) * ndx), *p_bar = bench_numbers((size_t)r->n.np);
    int at = tribo_param_find(r->m, "floor/friction");
    lx[(size_t)steps * ndx] = 1;
    tribo_ws_reset(r->ws);
    tribo_tape_rewind(r->tape);
    bench_ensure(tribo_rollout(r->ws, r->p, r->x0, steps, NULL, r->X, r->tape), "rollout");
    bench_ensure(tribo_backward(r->ws, r->tape, lx, NULL, NULL, p_bar), "reverse");
    double value = at < 0 ? (double)NAN : p_bar[at];
    free(lx), free(p_bar);
    return value;
}

static double other_gradient(run *r, int steps, double e) {
    double x[2];
    for (int k = 0; k < 2; k++) {
        mujoco_set_friction(r->other, mu + (k ? e : -e));
        mujoco_run(r->other, steps, NULL, r->X);
        x[k] = r->X[(size_t)steps * (size_t)r->n.nx];
    }
    mujoco_set_friction(r->other, mu);
    return (x[1] - x[0]) / (2 * e);
}

/* ---- report ---- */

static int failures;

static void say(const char *what, double value, double allowed, json_t *out, const char *key) {
    bool fine = allowed < 0 || fabs(value) <= allowed;
    failures += !fine;
    if (out) json_object_set_new(out, key, json_real(value));
    if (options.json) return;
    printf("  %-34s %12.4g", what, value);
    if (allowed >= 0) printf("   at most %-8.3g %s", allowed, fine ? "yes" : "NO");
    printf("\n");
}

static void report_times(const times *t, json_t *out) {
    say("us a step", t->step, -1, out, "step_us");
    if (t->other > 0) {
        say("us a step of MuJoCo", t->other, -1, out, "mujoco_us");
        say("step / MuJoCo's", t->step / t->other, 1, out, "step_over_mujoco");
    }
    say("step with tape / step", t->tape / t->step, 1.15, out, "tape_over_step");
    say("reverse step / step", t->reverse / t->step, 1, out, "reverse_over_step");
    say("Jacobians A and B / step", t->jacobians / t->step, 2, out, "jacobians_over_step");
}

static void report_errors(const scene *s, run *r, json_t *out) {
    error e[ERRORS_MAX];
    health h = inspect(r);
    say("NCP residual, worst step", h.residual, 1e-8, out, "residual");
    say("steps that did not converge", h.unconverged, 0, out, "not_converged");
    say("highest rung", h.rung, -1, out, "rung");
    say("contacts, most", h.contacts, -1, out, "contacts");
    say("penetration, deepest, m", h.penetration, -1, out, "penetration");
    for (int i = 0, n = scene_errors(s, r, e); i < n; i++) say(e[i].name, e[i].value, e[i].allowed, out, e[i].name);
    if (!strcmp(s->name, "S1")) {
        int N = 100;
        double dt = tribo_model_timestep(r->m), exact = -g * dt * dt * N * (N + 1) / 2;
        say("dx/dmu after 100 steps", slide_gradient(r, N), -1, out, "dx_dmu");
        say("its relative error", slide_gradient(r, N) / exact - 1, 1e-9, out, "dx_dmu_error");
    }
    if (!r->other) return;
    mujoco_run(r->other, r->steps, r->force, r->X);
    json_t *peer = json_object();
    for (int i = 0, n = scene_errors(s, r, e); i < n; i++) {
        char label[64];
        snprintf(label, sizeof label, "MuJoCo: %s", e[i].name);
        say(label, e[i].value, -1, peer, e[i].name);
    }
    if (!strcmp(s->name, "S1")) say("MuJoCo: dx/dmu after 100 steps", other_gradient(r, 100, 1e-6), -1, peer, "dx_dmu");
    json_object_set_new(out, "mujoco", peer);
}

static void bench_scene(const scene *s, const char *data, json_t *list) {
    char path[1024];
    tribo_diag diag;
    tribo_model *m;
    snprintf(path, sizeof path, "%s/scenes/%s", data, s->file);
    tribo_status status = tribo_model_load(path, NULL, &m, &diag);
    if (status < 0) fprintf(stderr, "%s\n", diag.text);
    bench_ensure(status, path);
    run r = run_new(m, s->steps, s->kind == PULL);
    r.other = mujoco_open(path);
    json_t *out = json_object();
    json_object_set_new(out, "scene", json_string(s->name));
    if (!options.json) printf("%s: %s, %d steps\n", s->name, s->file, s->steps);
    times t = measure(&r);
    report_times(&t, out);
    report_errors(s, &r, out);
    json_array_append_new(list, out);
    run_free(&r);
}

/* ---- cost against the number of bodies ---- */

/* n cubes on a floor, apart, each sliding its own way. */
static tribo_model *spread(int n) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_geom_def floor = tribo_default_geom(), cube = tribo_default_geom();
    floor.name = "floor", floor.shape = TRIBO_PLANE, floor.material.friction = mu;
    cube.shape = TRIBO_BOX, cube.size[0] = cube.size[1] = cube.size[2] = 0.1, cube.mass = 1;
    cube.material.friction = mu;
    tribo_add_geom(b, TRIBO_WORLD, &floor);
    double *v = bench_numbers(6 * (size_t)n);
    int side = (int)ceil(sqrt(n));
    for (int k = 0; k < n; k++) {
        tribo_body_def body = tribo_default_body();
        body.pos[0] = 0.5 * (k % side), body.pos[1] = 0.5 * (k / side), body.pos[2] = 0.1;
        v[6 * k] = cos(k), v[6 * k + 1] = sin(k);
        int id = tribo_add_body(b, &body);
        tribo_add_geom(b, id, &cube);
    }
    tribo_set_start(b, NULL, v);
    tribo_set_timestep(b, 1e-3);
    free(v);
    tribo_model *m;
    tribo_diag diag;
    bench_ensure(tribo_build(b, &m, &diag), "cubes on a floor");
    return m;
}

static void bench_bodies(json_t *list) {
    static const int count[] = {1, 2, 5, 10, 20, 50, 100, 200};
    if (!options.json)
        printf("cubes apart on a floor: us a step and body\n  %6s %10s %10s %10s\n", "bodies", "step", "tape",
               "reverse");
    for (size_t i = 0; i < sizeof count / sizeof *count; i++) {
        int n = count[i];
        run r = run_new(spread(n), 100, false);
        double t[3][REPS_MAX], us = 1e6 / r.steps / n;
        for (int k = -1; k < options.reps; k++) {
            double once[3] = {rollout(&r, false), rollout(&r, true), reverse(&r)};
            for (int j = 0; k >= 0 && j < 3; j++) t[j][k] = us * once[j];
        }
        double step = bench_median(t[0], options.reps), tape = bench_median(t[1], options.reps);
        double back = bench_median(t[2], options.reps);
        if (!options.json) printf("  %6d %10.3f %10.3f %10.3f\n", n, step, tape, back);
        json_array_append_new(list, json_pack("{s:i,s:f,s:f,s:f}", "bodies", n, "step_us_per_body", step,
                                              "tape_us_per_body", tape, "reverse_us_per_body", back));
        run_free(&r);
    }
}

/* ---- main ---- */

static bool wanted(const char *name, bool large, int n, char **names) {
    if (n == 0) return options.large || !large;
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

static int parse(int argc, char **argv, char **names) {
    int n = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--json"))
            options.json = true;
        else if (!strcmp(argv[i], "--cold"))
            options.cold = true;
        else if (!strcmp(argv[i], "--large"))
            options.large = true;
        else if (!strcmp(argv[i], "--reps") && i + 1 < argc)
            options.reps = atoi(argv[++i]);
        else
            names[n++] = argv[i];
    }
    if (options.reps < 1 || options.reps > REPS_MAX) options.reps = 7;
    return n;
}

int main(int argc, char **argv) {
    const char *data = getenv("TRIBO_DATA");
    if (!data) data = "bench";
    char **names = calloc((size_t)argc, sizeof *names);
    if (!names) return 1;
    int n = parse(argc, argv, names);
    double unit = bench_dpotrf(64) * 1e6;
    json_t *out = json_object(), *list = json_array(), *bodies = json_array();
    const char *peer = mujoco_version();
    json_object_set_new(out, "dpotrf64_us", json_real(unit));
    json_object_set_new(out, "warm_start", json_boolean(!options.cold));
    json_object_set_new(out, "mujoco", peer ? json_string(peer) : json_null());
    if (!options.json)
        printf("LAPACKE_dpotrf(64): %.2f us; starts: %s; MuJoCo: %s; medians of %d\n", unit,
               options.cold ? "cold" : "warm", peer ? peer : "not installed", options.reps);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        if (wanted(scenes[i].name, scenes[i].large, n, names)) bench_scene(&scenes[i], data, list);
    if (wanted("bodies", false, n, names)) bench_bodies(bodies);
    json_object_set_new(out, "scenes", list);
    json_object_set_new(out, "bodies", bodies);
    if (options.json) json_dumpf(out, stdout, JSON_INDENT(2)), printf("\n");
    json_decref(out);
    free(names);
    if (!options.json) printf("%d of the limits missed\n", failures);
    return 0;
}
