/* batch.c -- many worlds: world-steps a second and core, forward and with the reverse, beside MuJoCo's threads on the
 * same files in the same run, where it is installed.
 *
 *     bench_batch [SCENE.xml ...]       by default a slide, a pile of ten at rest, a quadruped, a humanoid
 *     bench_batch --cube [WORLDS [STEPS]]   a cube that slides with drag, its parameters drawn at random, and the
 *                                       gradient of its mean way in what they are drawn from; by default 16384 worlds
 *                                       of 1000 steps
 *
 * Run from the root of the project. Worlds start from the first keyframe with other velocities, the same in both
 * engines; its controls are held. Both start each step from the last one's impulses. MuJoCo (Newton, elliptic cones)
 * has an mjData a thread, and as gradient mjd_transitionFD at every step, which has none of parameters. Rates are by
 * CPU time of the process: others on the machine do not count. The best of REPEATS; `wall` is how much sooner two
 * threads end than one, which a busy machine spoils.
 */
#include "bench.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <tribo/tribo.h>
#ifdef HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

enum { WORLDS = 48, STEPS = 200, REPEATS = 3, DIFFERENCED = 4, THREADS = 2 };

static double clock_of(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double megabytes(void) {
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)r.ru_maxrss / 1024;
}

/* Seconds of a run: CPU time of all threads, and by the clock on the wall. */
typedef struct seconds {
    double cpu, wall;
} seconds;
static seconds now(void) {
    return (seconds){clock_of(CLOCK_PROCESS_CPUTIME_ID), clock_of(CLOCK_MONOTONIC)};
}
static void best(seconds *least, seconds from) {
    seconds to = now();
    if (to.cpu - from.cpu < least->cpu) least->cpu = to.cpu - from.cpu;
    if (to.wall - from.wall < least->wall) least->wall = to.wall - from.wall;
}

/* ---- worlds ---- */

typedef struct field {
    tribo_model *m;
    tribo_sizes z;
    double *x, *u, *U, *lx, *end, *bar; /* (WORLDS,nx), (nu), (STEPS,nu), (STEPS+1,ndx), (WORLDS,nx), (WORLDS,np) */
} field;

static void settle(field *f, int steps) {
    tribo_ws *ws = NULL;
    double *p = bench_numbers((size_t)f->z.np);
    tribo_model_params(f->m, p);
    bench_ensure(tribo_ws_new(f->m, NULL, NULL, &ws, NULL), "workspace");
    for (int k = 0; k < steps; k++) bench_ensure(tribo_step(ws, p, f->end, f->u, f->end, NULL), "step");
    tribo_ws_free(ws);
    free(p);
}

/* Of a world that has gone so many steps already. */
static field field_of(const char *path, int settled) {
    tribo_diag diag = {0};
    field f = {0};
    unsigned seed = 1;
    if (tribo_model_load(path, NULL, &f.m, &diag) < 0) fprintf(stderr, "%s: %s\n", path, diag.text), exit(1);
    f.z = tribo_model_sizes(f.m);
    size_t nx = (size_t)f.z.nx, nu = (size_t)f.z.nu;
    f.x = bench_numbers(WORLDS * nx), f.u = bench_numbers(nu), f.U = bench_numbers(STEPS * nu),
    f.end = bench_numbers(WORLDS * nx);
    f.lx = bench_numbers((STEPS + 1) * (size_t)f.z.ndx), f.bar = bench_numbers(WORLDS * (size_t)f.z.np);
    tribo_model_key(f.m, 0, f.end, f.u);
    settle(&f, settled);
    for (int i = 0; i < WORLDS; i++) {
        memcpy(f.x + (size_t)i * nx, f.end, nx * sizeof *f.x);
        for (int k = f.z.nq; k < f.z.nx; k++, seed = seed * 1664525u + 1013904223u)
            f.x[(size_t)i * nx + (size_t)k] += 0.02 * ((double)(seed >> 8) / 16777216 - 0.5);
    }
    for (int k = 0; k < STEPS; k++) memcpy(f.U + (size_t)k * nu, f.u, nu * sizeof *f.u);
    for (int i = 0; i < f.z.ndx; i++) f.lx[(size_t)STEPS * (size_t)f.z.ndx + (size_t)i] = 1;
    return f;
}

static void field_free(field *f) {
    free(f->x), free(f->u), free(f->U), free(f->lx), free(f->end), free(f->bar);
    tribo_model_free(f->m);
}

static tribo_batch *batch_of(const tribo_model *m, int threads, int steps, bool warm) {
    tribo_batch_def def = tribo_default_batch();
    tribo_options o = tribo_default_options();
    tribo_batch *b = NULL;
    o.warm_start = warm;
    def.workers = threads, def.steps = steps, def.options = &o;
    bench_ensure(tribo_batch_new(m, &def, &b, NULL), "batch");
    return b;
}

static tribo_worlds worlds_of(const field *f) {
    tribo_worlds w = tribo_default_worlds();
    w.n = WORLDS, w.steps = STEPS, w.x = f->x, w.u = f->U, w.same_u = true;
    return w;
}

/* Forward, or with the reverse in x0 and p. */
static void run_ours(field *f, tribo_batch *b, bool reverse, seconds *least) {
    tribo_worlds w = worlds_of(f);
    tribo_batch_loss loss = {.lx = f->lx, .same_lx = true};
    tribo_batch_bars bars = {.p = f->bar};
    seconds from = now();
    if (reverse)
        bench_ensure(tribo_batch_gradient(b, &w, &loss, &bars, NULL), "gradient");
    else
        bench_ensure(tribo_batch_rollout(b, &w, NULL, f->end, NULL, NULL), "rollout");
    best(least, from);
}

/* ---- MuJoCo ---- */

#ifdef HAVE_MUJOCO
typedef struct others {
    const field *f;
    mjModel *m;
    int worlds;
    bool differences;
    atomic_int next;
} others;

static void *serve(void *argument) {
    others *o = argument;
    mjModel *m = o->m;
    mjData *d = mj_makeData(m);
    mjtNum *J = calloc((size_t)(2 * m->nv * (2 * m->nv + m->nu) + 1), sizeof *J);
    for (int i; J && (i = atomic_fetch_add(&o->next, 1)) < o->worlds;) {
        const double *x = o->f->x + (size_t)i * (size_t)o->f->z.nx;
        mj_resetDataKeyframe(m, d, 0);
        memcpy(d->qpos, x, sizeof *x * (size_t)m->nq), memcpy(d->qvel, x + m->nq, sizeof *x * (size_t)m->nv);
        for (int k = 0; k < STEPS; k++) {
            if (o->differences) mjd_transitionFD(m, d, 1e-6, 0, J, J + 4 * m->nv * m->nv, NULL, NULL);
            mj_step(m, d);
        }
    }
    free(J);
    mj_deleteData(d);
    return NULL;
}

static void run_theirs(const field *f, mjModel *m, int threads, bool differences, seconds *least) {
    others o = {.f = f, .m = m, .worlds = differences ? DIFFERENCED : WORLDS, .differences = differences};
    pthread_t thread[THREADS];
    int started = 1;
    seconds from = now();
    while (started < threads && pthread_create(&thread[started], NULL, serve, &o) == 0) started++;
    serve(&o);
    for (int i = 1; i < started; i++) pthread_join(thread[i], NULL);
    best(least, from);
}
#endif

/* ---- the table ---- */

enum { FORWARD, REVERSE, ROWS };
typedef struct rates {
    seconds ours[ROWS][THREADS + 1], theirs[ROWS][THREADS + 1];
} rates;

static void measure(const char *path, field *f, rates *r) {
    tribo_batch *b[ROWS][THREADS + 1] = {{NULL}};
    for (int row = 0; row < ROWS; row++)
        for (int t = 1; t <= THREADS; t++) {
            b[row][t] = batch_of(f->m, t, STEPS, true);
            r->ours[row][t] = r->theirs[row][t] = (seconds){HUGE_VAL, HUGE_VAL};
        }
#ifdef HAVE_MUJOCO
    char error[512];
    mjModel *m = mj_loadXML(path, NULL, error, sizeof error);
    if (m) m->opt.cone = mjCONE_ELLIPTIC, m->opt.solver = mjSOL_NEWTON;
#else
    (void)path;
#endif
    for (int k = 0; k < REPEATS; k++)
        for (int row = 0; row < ROWS; row++)
            for (int t = 1; t <= THREADS; t++) {
                run_ours(f, b[row][t], row == REVERSE, &r->ours[row][t]);
#ifdef HAVE_MUJOCO
                if (m) run_theirs(f, m, t, row == REVERSE, &r->theirs[row][t]);
#endif
            }
#ifdef HAVE_MUJOCO
    if (m) mj_deleteModel(m);
#endif
    for (int row = 0; row < ROWS; row++)
        for (int t = 1; t <= THREADS; t++) tribo_batch_free(b[row][t]);
}

static void bench(const char *path, int settled) {
    static const char *const names[] = {"forward", "gradient"};
    field f = field_of(path, settled);
    rates r;
    const char *name = strrchr(path, '/');
    measure(path, &f, &r);
    for (int row = 0; row < ROWS; row++) {
        const seconds *ours = r.ours[row], *theirs = r.theirs[row];
        double n = WORLDS * STEPS, m = row == REVERSE ? DIFFERENCED * STEPS : n;
        double one = n / ours[1].cpu, two = n / ours[2].cpu, other = m / theirs[1].cpu;
        printf("%-20s %4d %-8s %10.0f %10.0f %10.0f %8.2f %8.2f %8.2f\n", name ? name + 1 : path, f.z.nv, names[row],
               one, two, other, one / other, two / one, ours[1].wall / ours[2].wall);
    }
    field_free(&f);
}

/* ---- a cube, drawn at random ---- */

enum { CHUNK = 1024, ROWS_DRAWN = 6, COMPARED = 256 };

typedef struct drawn {
    tribo_model *m;
    tribo_sizes z;
    tribo_random *random;
    double *x0, *P, *P_bar;
} drawn;

static drawn cube(void) {
    static const char *const mass[] = {"cube/mass", "cube/inertia"}, *const friction[] = {"*/friction"};
    static const char *const bounce[] = {"*/restitution"}, *const g[] = {"gravity/z"};
    static const char *const drag[] = {"*/damping"};
    static const char *const size[] = {"cube/size", "cube/mass", "cube/inertia"};
    static const double powers[] = {1, 3, 5};
    tribo_random_def d[ROWS_DRAWN];
    tribo_diag diag = {0};
    drawn c = {0};
    for (int k = 0; k < ROWS_DRAWN; k++) d[k] = tribo_default_random(), d[k].nname = 1;
    d[0].name = mass, d[0].nname = 2, d[0].a = 0.4, d[0].b = 1.5;
    d[1].name = friction, d[1].a = 0.8, d[1].b = 1.2;
    d[2].name = bounce, d[2].a = 0, d[2].b = 0.4, d[2].add = true;
    d[3].name = size, d[3].nname = 3, d[3].power = powers, d[3].a = 0.95, d[3].b = 1.05;
    d[4].name = drag, d[4].draw = TRIBO_DRAW_LOGUNIFORM, d[4].a = 0.3, d[4].b = 3;
    d[5].name = g, d[5].draw = TRIBO_DRAW_NORMAL, d[5].a = 0, d[5].b = 0.4, d[5].add = true;
    if (tribo_model_load("bench/scenes/s5-drag.xml", NULL, &c.m, &diag) < 0)
        fprintf(stderr, "%s\n", diag.text), exit(1);
    c.z = tribo_model_sizes(c.m);
    bench_ensure(tribo_random_new(c.m, d, ROWS_DRAWN, 2, NULL, &c.random, &diag), diag.text);
    c.x0 = bench_numbers((size_t)c.z.nx), c.P = bench_numbers(CHUNK * (size_t)c.z.np),
    c.P_bar = bench_numbers(CHUNK * (size_t)c.z.np);
    tribo_model_state0(c.m, c.x0);
    return c;
}

/* How far it gets. */
static tribo_status way(void *context, int world, int step, const double *x, const double *u, double *cost, double *lx,
                        double *lu) {
    (void)world, (void)u, (void)lu;
    if (step != *(const int *)context) return TRIBO_OK;
    *cost += x[0];
    if (lx) lx[0] += 1;
    return TRIBO_OK;
}

/* The mean way of worlds 0 to n - 1, and its gradient where phi_bar is given. @return it; fails: how many did */
static double mean_way(drawn *c, tribo_batch *b, int n, int T, double *phi_bar, int *fails) {
    static double cost[CHUNK];
    static tribo_status status[CHUNK];
    double sum = 0;
    for (int first = 0; first < n; first += CHUNK) {
        int some = n - first < CHUNK ? n - first : CHUNK;
        tribo_worlds w = tribo_default_worlds();
        w.n = some, w.steps = T, w.p = c->P, w.x = c->x0, w.same_x = true;
        memset(status, 0, sizeof status), memset(cost, 0, sizeof cost);
        bench_ensure(tribo_random_rows(c->random, NULL, first, some, c->P, NULL), "draws");
        memset(c->P_bar, 0, sizeof *c->P_bar * CHUNK * (size_t)c->z.np);
        tribo_batch_loss loss = {.function = way, .context = &T};
        tribo_batch_bars bars = {.cost = cost, .p = phi_bar ? c->P_bar : NULL};
        (void)!tribo_batch_gradient(b, &w, &loss, &bars, status);
        for (int i = 0; i < some; i++) sum += cost[i] / n, *fails += status[i] < 0;
        for (int i = 0; i < some * c->z.np; i++) c->P_bar[i] /= n;
        if (phi_bar)
            bench_ensure(tribo_random_rows_vjp(c->random, NULL, first, some, c->P_bar, phi_bar, NULL), "draws");
    }
    return sum;
}

/* Of the last chunk's worlds every tenth again, alone. @return how many differ in any bit. */
static int alone(const drawn *c, int n, int T, int *compared) {
    tribo_ws *ws = NULL;
    tribo_tape *tape = NULL;
    size_t ndx = (size_t)c->z.ndx, np = (size_t)c->z.np;
    double *X = bench_numbers((size_t)(T + 1) * (size_t)c->z.nx), *lx = bench_numbers((size_t)(T + 1) * ndx),
           *bar = bench_numbers(np);
    int differ = 0, some = n % CHUNK ? n % CHUNK : CHUNK;
    bench_ensure(tribo_ws_new(c->m, NULL, NULL, &ws, NULL), "workspace");
    bench_ensure(tribo_tape_new(ws, T, tribo_tape_bytes(ws, T, 8), &tape), "tape");
    lx[(size_t)T * ndx] = 1;
    for (int i = *compared = 0; i < some; i += 10, ++*compared) {
        tribo_tape_rewind(tape), memset(bar, 0, np * sizeof *bar);
        bench_ensure(tribo_rollout(ws, c->P + (size_t)i * np, c->x0, T, NULL, X, tape), "rollout");
        bench_ensure(tribo_backward(ws, tape, lx, NULL, NULL, bar), "reverse");
        int off = 0;
        for (size_t k = 0; k < np; k++) off |= bar[k] / n != c->P_bar[(size_t)i * np + k];
        differ += off;
    }
    free(X), free(lx), free(bar);
    tribo_tape_free(tape), tribo_ws_free(ws);
    return differ;
}

/* The largest difference between the gradient of the first worlds and central differences, relative to 1 and it. */
static double against_differences(drawn *c, tribo_batch *b, int T) {
    double phi[2 * ROWS_DRAWN], bar[2 * ROWS_DRAWN] = {0}, worst = 0;
    int fails = 0;
    (void)mean_way(c, b, COMPARED, T, bar, &fails);
    tribo_random_get(c->random, phi);
    for (int k = 0; k < 2 * ROWS_DRAWN; k++) {
        double was = phi[k], h = 1e-6, side[2];
        if (k == 4) continue; /* bounces begin at their bound */
        for (int j = 0; j < 2; j++) {
            phi[k] = was + (j ? -h : h);
            bench_ensure(tribo_random_set(c->random, phi), "randomisers");
            side[j] = mean_way(c, b, COMPARED, T, NULL, &fails);
        }
        phi[k] = was;
        double slope = (side[0] - side[1]) / (2 * h), off = fabs(slope - bar[k]) / (1 + fabs(slope));
        if (off > worst) worst = off;
    }
    bench_ensure(tribo_random_set(c->random, phi), "randomisers");
    return worst;
}

static void bench_cube(int n, int T) {
    static const char *const names[] = {"mass", "friction", "restitution", "size", "damping", "gravity"};
    double phi[2 * ROWS_DRAWN] = {0}, before = megabytes();
    int fails = 0, compared = 0;
    drawn c = cube();
    tribo_batch *b = batch_of(c.m, THREADS, T, false);
    seconds least = {HUGE_VAL, HUGE_VAL}, from = now();
    double mean = mean_way(&c, b, n, T, phi, &fails);
    best(&least, from);
    printf("%d worlds of %d steps with gradients: mean way %.12g m, %d failed\n", n, T, mean, fails);
    printf("%.0f world-steps a second and core, %.0f a second on the wall; batch %.1f MB, process %.1f MB more\n",
           (double)n * T / least.cpu, (double)n * T / least.wall, 1e-6 * (double)tribo_batch_bytes(b),
           megabytes() - before);
    for (int k = 0; k < ROWS_DRAWN; k++)
        printf("  %-12s by %-9s %+.10g  by %-9s %+.10g\n", names[k], k == 5 ? "mean" : "from", phi[2 * k],
               k == 5 ? "deviation" : "to", phi[2 * k + 1]);
    int differ = alone(&c, n, T, &compared);
    printf("%d of %d worlds run alone differ in a bit of their gradient\n", differ, compared);
    printf("the gradient of the first %d is off differences by %.2g\n", COMPARED, against_differences(&c, b, T));
    tribo_batch_free(b), tribo_random_free(c.random), tribo_model_free(c.m);
    free(c.x0), free(c.P), free(c.P_bar);
}

int main(int argc, char **argv) {
    static const struct {
        const char *path;
        int settled;
    } scenes[] = {{"bench/scenes/s1-slide.xml", 0},
                  {"bench/scenes/s4-pile-10.xml", 1500},
                  {"data/scenes/quadruped.xml", 0},
                  {"data/scenes/humanoid.xml", 0}};
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1 && strcmp(argv[1], "--cube") == 0) {
        bench_cube(argc > 2 ? atoi(argv[2]) : 16384, argc > 3 ? atoi(argv[3]) : 1000);
        return 0;
    }
    printf("world-steps a second and core; two threads over one: by CPU time, on the wall\n");
    printf("%-20s %4s %-8s %10s %10s %10s %8s %8s %8s\n", "scene", "nv", "", "1 thread", "2 threads", "MuJoCo", "ratio",
           "2/1 cpu", "2/1 wall");
    for (int i = 1; i < argc; i++) bench(argv[i], 0);
    for (size_t i = 0; argc < 2 && i < sizeof scenes / sizeof *scenes; i++) bench(scenes[i].path, scenes[i].settled);
    return 0;
}
