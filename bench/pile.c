/* pile.c -- what large worlds cost: heaps in a bin, walls, towers, a tilted heap, spheres through a hopper; the mean
 * and the worst step, with MuJoCo on the same file where it is installed.
 *
 *     bench_pile [--steps N] [--seed N] [--reverse] [--alone] [--law LAW] [--solver SOLVER] [--tol T] [--raw]
 * [SCENE...]
 *
 * SCENE is boxes-N, balls-N, wall-ROWS (20 bricks wide), tower-N, tilted-N, hopper-N or apart-N; by default a few of
 * each. Steps of 2 ms, warm starts in both engines, seconds of CPU time of this thread. `rise` is the most that energy
 * rose in a step, `deep` the deepest overlap, `creep` how far the body that moved most is from where it was after a
 * tenth of the steps. --seed (1) is of where bodies start, in heaps and the hopper; --reverse times the reverse of the
 * rollout, --alone leaves MuJoCo out, --raw leaves answers as solvers stop.
 */
#include "bench.h"
#include "mujoco.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tribo/tribo.h>
#include <unistd.h>

static struct {
    int steps;
    unsigned seed;
    bool reverse, alone;
    tribo_law_options law;
    double tol;
} options = {.steps = 750, .seed = 1};

/* ---- scenes ---- */

typedef struct scene {
    FILE *out;
    unsigned state; /* of the random numbers */
    int bodies;
} scene;

/* Uniform in -size .. size. */
static double draw(scene *s, double size) {
    s->state = s->state * 1664525u + 1013904223u;
    return size * (2 * (double)(s->state >> 8) / 16777216 - 1);
}

static void heavy(scene *s, double mass, const char *type, const char *size, const double *at, const double *quat) {
    fprintf(s->out,
            "<body pos=\"%.9g %.9g %.9g\" quat=\"%.9g %.9g %.9g %.9g\"><freejoint/><geom type=\"%s\" size=\"%s\" "
            "mass=\"%g\"/></body>\n",
            at[0], at[1], at[2], quat[0], quat[1], quat[2], quat[3], type, size, mass);
    s->bodies++;
}

static void body(scene *s, const char *type, const char *size, const double *at, const double *quat) {
    heavy(s, 1, type, size, at, quat);
}

static const double level[4] = {1, 0, 0, 0};

static void wall_plane(scene *s, double x, double y, double nx, double ny, double nz) {
    fprintf(s->out, "<geom type=\"plane\" size=\"0 0 1\" pos=\"%g %g 0\" zaxis=\"%g %g %g\"/>\n", x, y, nx, ny, nz);
}

/* Layers, each body a little out of place and turned, above a floor with four walls. */
static void heap(scene *s, const char *type, const char *size, int n) {
    int side = n <= 10 ? 2 : n <= 40 ? 3 : n <= 150 ? 5 : n <= 400 ? 7 : 10;
    double cell = 0.3, half = 0.5 * cell * side + 0.02;
    wall_plane(s, -half, 0, 1, 0, 0), wall_plane(s, half, 0, -1, 0, 0);
    wall_plane(s, 0, -half, 0, 1, 0), wall_plane(s, 0, half, 0, -1, 0);
    for (int i = 0; i < n; i++) {
        int layer = i / (side * side), at = i % (side * side);
        double quat[4] = {1, draw(s, 0.05), draw(s, 0.05), draw(s, 0.05)}, pos[3];
        pos[0] = cell * (at / side - 0.5 * (side - 1)) + draw(s, 0.03);
        pos[1] = cell * (at % side - 0.5 * (side - 1)) + draw(s, 0.03);
        pos[2] = 0.2 + 0.3 * layer;
        double norm = sqrt(1 + quat[1] * quat[1] + quat[2] * quat[2] + quat[3] * quat[3]);
        for (int k = 0; k < 4; k++) quat[k] /= norm;
        body(s, type, size, pos, quat);
    }
}

/* Every other row is half a brick aside, between half bricks. */
static void bricks(scene *s, int rows) {
    for (int r = 0; r < rows; r++) {
        bool aside = r % 2;
        for (int c = 0; c < 20 - aside; c++) {
            double at[3] = {0.2 * (c + 0.5 * aside), 0, 0.05 + 0.1 * r};
            body(s, "box", "0.0995 0.05 0.05", at, level);
        }
        for (int end = 0; end < 2 * aside; end++) {
            double at[3] = {end ? 3.85 : -0.05, 0, 0.05 + 0.1 * r};
            heavy(s, 0.5, "box", "0.0495 0.05 0.05", at, level);
        }
    }
}

static void tower(scene *s, int n) {
    for (int i = 0; i < n; i++) {
        double at[3] = {draw(s, 0.002), draw(s, 0.002), 0.1 + 0.2 * i};
        body(s, "box", "0.1 0.1 0.1", at, level);
    }
}

/* Four tilted boxes around a hole; the floor far below. */
static void hopper(scene *s, int n) {
    static const char *plate[4] = {"pos=\"0.75 0 1\" euler=\"0 -40 0\" size=\"0.8 1.6 0.02\"",
                                   "pos=\"-0.75 0 1\" euler=\"0 40 0\" size=\"0.8 1.6 0.02\"",
                                   "pos=\"0 0.75 1\" euler=\"40 0 0\" size=\"1.6 0.8 0.02\"",
                                   "pos=\"0 -0.75 1\" euler=\"-40 0 0\" size=\"1.6 0.8 0.02\""};
    for (int k = 0; k < 4; k++) fprintf(s->out, "<geom type=\"box\" %s/>\n", plate[k]);
    for (int i = 0; i < n; i++) {
        int side = 8, layer = i / (side * side), at = i % (side * side);
        double pos[3] = {0.13 * (at / side - 3.5) + draw(s, 0.01), 0.13 * (at % side - 3.5) + draw(s, 0.01),
                         1.6 + 0.13 * layer};
        body(s, "sphere", "0.05", pos, level);
    }
}

/* Balls and boxes a metre apart, high in the air. */
static void spread(scene *s, int n) {
    int side = (int)ceil(sqrt(n));
    for (int i = 0; i < n; i++) {
        double at[3] = {i % side, (double)(i / side), 100};
        body(s, i % 2 ? "box" : "sphere", "0.1 0.1 0.1", at, level);
    }
}

/* Writes a scene. @return false where there is none of that name. */
static bool write_scene(const char *name, const char *path) {
    int n = 0;
    char kind[16] = "";
    if (sscanf(name, "%15[a-z]-%d", kind, &n) != 2 || n < 1) return false;
    scene s = {.out = fopen(path, "w"), .state = options.seed};
    if (!s.out) return false;
    bool tilted = !strcmp(kind, "tilted");
    int room = strcmp(kind, "wall") ? n : 20 * n; /* bodies that MuJoCo's buffers are for */
    fprintf(s.out,
            "<mujoco><option timestep=\"0.002\" gravity=\"%s\" solver=\"Newton\" cone=\"elliptic\"/>\n"
            "<size nconmax=\"%d\" njmax=\"%d\" nstack=\"%d\"/>\n"
            "<default><geom condim=\"3\" friction=\"0.5 0 0\"/></default>\n"
            "<worldbody><geom type=\"plane\" size=\"0 0 1\"/>\n",
            tilted ? "1.7 0 -9.66" : "0 0 -9.81", 40 * room + 4000, 24 * room + 2000, n < 500 ? 32000000 : 200000000);
    if (!strcmp(kind, "boxes") || tilted)
        heap(&s, "box", "0.1 0.1 0.1", n);
    else if (!strcmp(kind, "balls"))
        heap(&s, "sphere", "0.1", n);
    else if (!strcmp(kind, "wall"))
        bricks(&s, n);
    else if (!strcmp(kind, "tower"))
        tower(&s, n);
    else if (!strcmp(kind, "hopper"))
        hopper(&s, n);
    else if (!strcmp(kind, "apart"))
        spread(&s, n);
    fputs("</worldbody><keyframe><key name=\"start\"/></keyframe></mujoco>\n", s.out);
    return fclose(s.out) == 0 && s.bodies > 0;
}

/* ---- runs ---- */

typedef struct result {
    double mean, worst, residual, reverse; /* ms; reverse: a step's, in means */
    double load, room;                     /* s to load; KB a body that the model and the steps took */
    double rise, deep, creep;              /* J; m */
    int contacts, unconverged, iterations;
} result;

static double reverse_of(const tribo_model *m, tribo_ws *ws, const double *p, const double *x0) {
    enum { STEPS = 100 };
    tribo_sizes z = tribo_model_sizes(m);
    tribo_tape *tape;
    bench_ensure(tribo_tape_new(ws, STEPS, 0, &tape), "tape");
    double *X = bench_numbers((STEPS + 1) * (size_t)z.nx), *lx = bench_numbers((STEPS + 1) * (size_t)z.ndx),
           *bar = bench_numbers((size_t)z.np);
    for (int i = 0; i < z.ndx; i++) lx[STEPS * (size_t)z.ndx + (size_t)i] = 1;
    double start = bench_seconds();
    bench_ensure(tribo_rollout(ws, p, x0, STEPS, NULL, X, tape), "rollout");
    double half = bench_seconds();
    bench_ensure(tribo_backward(ws, tape, lx, NULL, NULL, bar), "reverse");
    double end = bench_seconds();
    free(X), free(lx), free(bar);
    tribo_tape_free(tape);
    return (end - half) / (half - start);
}

/* Memory of this process that is really there, KB. */
static double resident(void) {
    long all = 0, here = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%ld %ld", &all, &here) != 2) here = 0;
    if (f) fclose(f);
    return (double)here * (double)sysconf(_SC_PAGESIZE) / 1000;
}

/* The largest distance between the places of a free body in two states. */
static double farthest(int bodies, const double *x, const double *y) {
    double most = 0;
    for (int b = 0; b < bodies; b++) {
        const double *a = x + 7 * b, *c = y + 7 * b;
        most = fmax(most, hypot(hypot(a[0] - c[0], a[1] - c[1]), a[2] - c[2]));
    }
    return most;
}

static result run(const char *path) {
    tribo_model *m;
    tribo_ws *ws;
    tribo_diag diag;
    tribo_options o = tribo_default_options();
    o.warm_start = true, o.law = options.law, o.tol = options.tol;
    result r = {.load = -bench_seconds(), .room = -resident()};
    bench_ensure(tribo_model_load(path, NULL, &m, &diag), diag.text);
    r.load += bench_seconds();
    bench_ensure(tribo_ws_new(m, &o, NULL, &ws, &diag), diag.text);
    tribo_sizes z = tribo_model_sizes(m);
    double *p = bench_numbers((size_t)z.np), *x = bench_numbers(3 * (size_t)z.nx), *then = x + 2 * z.nx;
    tribo_model_params(m, p);
    tribo_model_state0(m, x);
    double energy = tribo_energy(m, p, x);
    for (int k = 0; k < options.steps; k++) {
        if (k == options.steps / 10) memcpy(then, x, sizeof *x * (size_t)z.nx);
        double start = bench_seconds();
        tribo_status s = tribo_step(ws, p, x, NULL, x + z.nx, NULL);
        double spent = 1e3 * (bench_seconds() - start);
        bench_ensure(s, "step");
        const tribo_step_info *info = tribo_last_info(ws);
        memcpy(x, x + z.nx, sizeof *x * (size_t)z.nx);
        r.mean += spent / options.steps, r.worst = fmax(r.worst, spent), r.iterations += info->iterations;
        r.residual = fmax(r.residual, info->residual), r.unconverged += s == TRIBO_NOT_CONVERGED;
        if (info->ncon > r.contacts) r.contacts = info->ncon;
        r.deep = fmax(r.deep, info->penetration);
        double now = tribo_energy(m, p, x);
        r.rise = fmax(r.rise, now - energy), energy = now;
    }
    r.creep = farthest(z.nbody, x, then);
    r.room = (r.room + resident()) / z.nbody;
    if (options.reverse) r.reverse = reverse_of(m, ws, p, x);
    free(p), free(x);
    tribo_ws_free(ws), tribo_model_free(m);
    return r;
}

static void bench(const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/bench-pile-%ld.xml", (long)getpid());
    if (!write_scene(name, path)) {
        fprintf(stderr, "bench_pile: there is no scene '%s'\n", name);
        exit(2);
    }
    result r = run(path);
    mujoco *other = options.alone ? NULL : mujoco_open(path);
    double worst = 0, mean = other ? mujoco_pace(other, options.steps, &worst) : 0;
    printf("%-12s %9.3f %9.2f %8d %11d %9.1e %6.1f %7.2f %6.1f %7.1e %7.1e %7.1e", name, r.mean, r.worst, r.contacts,
           r.unconverged, r.residual, (double)r.iterations / options.steps, r.load, r.room, r.rise, r.deep, r.creep);
    if (options.reverse) printf(" %8.2f", r.reverse);
    if (other) printf(" %9.3f %9.2f %7.2f", 1e3 * mean, 1e3 * worst, r.mean / (1e3 * mean));
    printf("\n");
    fflush(stdout);
    mujoco_close(other);
    unlink(path);
}

static bool take_flag(const char *word) {
    bool *flag = !strcmp(word, "--reverse") ? &options.reverse
                 : !strcmp(word, "--alone") ? &options.alone
                 : !strcmp(word, "--raw")   ? &options.law.raw
                                            : NULL;
    if (flag) *flag = true;
    return flag;
}

/* @return false where there is no such option, or no such value of it. */
static bool take_value(const char *word, const char *value) {
    if (!strcmp(word, "--steps")) return (options.steps = atoi(value)) > 0;
    if (!strcmp(word, "--seed")) return (options.seed = (unsigned)atoi(value)) > 0;
    if (!strcmp(word, "--tol")) return (options.tol = atof(value)) > 0;
    if (!strcmp(word, "--law")) return (options.law.law = tribo_law_find(value)) != TRIBO_LAW_DEFAULT;
    return !strcmp(word, "--solver") && (options.law.solver = tribo_solver_find(value)) != TRIBO_SOLVER_DEFAULT;
}

int main(int argc, char **argv) {
    static const char *usual[] = {"boxes-10",  "boxes-30", "boxes-100", "balls-30",
                                  "balls-100", "tower-50", "tilted-30", "hopper-100"};
    const char *names[64];
    int n = 0;
    for (int i = 1; i < argc && n < 64; i++)
        if (take_flag(argv[i]))
            continue;
        else if (i + 1 < argc && take_value(argv[i], argv[i + 1]))
            i++;
        else
            names[n++] = argv[i];
    printf("%-12s %9s %9s %8s %11s %9s %6s %7s %6s %7s %7s %7s%s %9s %9s %7s\n", "scene", "mean, ms", "worst",
           "contacts", "unconverged", "residual", "its", "load, s", "KB", "rise, J", "deep", "creep",
           options.reverse ? "  reverse" : "", "MuJoCo's", "worst", "ratio");
    for (int i = 0; i < n; i++) bench(names[i]);
    for (size_t i = 0; n == 0 && i < sizeof usual / sizeof *usual; i++) bench(usual[i]);
    return 0;
}
