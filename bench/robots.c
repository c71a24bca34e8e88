/* robots.c -- what a step, its record, its reverse and its Jacobians cost where there are joints, beside MuJoCo on the
 * same files in the same run, where it is installed: its step (Newton, elliptic cones), and its Jacobians by
 * differences.
 *
 *     bench_robots [SCENE.xml ...]       by default some of data/scenes; run from the root of the project
 *
 * Each engine runs STEPS steps from the first keyframe with its controls, Tribo starting each step from the last one's
 * impulses, as MuJoCo does; the best of REPEATS, thread CPU time.
 */
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tribo/tribo.h>
#ifdef HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

enum { STEPS = 500, REPEATS = 5, JACOBIANS = 50 };

static double least(double a, double b) {
    return a < b ? a : b;
}

typedef struct cost {
    double step, tape, reverse, jacobians, residual;
    int failed;
} cost;

typedef struct engine {
    tribo_model *m;
    tribo_ws *ws;
    tribo_tape *tape;
    tribo_sizes n;
    double *p, *x0, *x, *u, *lx, *x_bar, *u_bar, *p_bar, *A, *B;
} engine;

static bool engine_open(const char *path, engine *e) {
    tribo_diag diag = {0};
    tribo_options o = tribo_default_options();
    o.warm_start = true;
    if (tribo_model_load(path, NULL, &e->m, &diag) != TRIBO_OK)
        return fprintf(stderr, "%s: %s\n", path, diag.text), false;
    e->n = tribo_model_sizes(e->m);
    size_t ndx = (size_t)e->n.ndx, nu = (size_t)e->n.nu, np = (size_t)e->n.np, nx = (size_t)e->n.nx;
    if (tribo_ws_new(e->m, &o, NULL, &e->ws, &diag) || tribo_tape_new(e->ws, STEPS, 0, &e->tape)) return false;
    e->p = calloc(2 * np + 2 * nx + nu + (STEPS + 2) * ndx + STEPS * nu + ndx * (ndx + nu), sizeof *e->p);
    if (!e->p) return false;
    e->p_bar = e->p + np, e->x0 = e->p_bar + np, e->x = e->x0 + nx, e->u = e->x + nx, e->lx = e->u + nu;
    e->x_bar = e->lx + (STEPS + 1) * ndx, e->u_bar = e->x_bar + ndx, e->A = e->u_bar + STEPS * nu,
    e->B = e->A + ndx * ndx;
    tribo_model_params(e->m, e->p), tribo_model_state0(e->m, e->x0);
    for (size_t i = 0; i < ndx; i++) e->lx[STEPS * ndx + i] = 1;
    return true;
}

static void run(engine *e, tribo_tape *tape, cost *c) {
    memcpy(e->x, e->x0, sizeof *e->x * (size_t)e->n.nx);
    tribo_ws_reset(e->ws);
    for (int k = 0; k < STEPS; k++) {
        c->failed += tribo_step(e->ws, e->p, e->x, e->u, e->x, tape) != TRIBO_OK;
        c->residual = fmax(c->residual, tribo_last_info(e->ws)->residual);
    }
}

static cost measure(engine *e) {
    cost c = {.step = 1, .tape = 1, .reverse = 1, .jacobians = 1};
    for (int r = 0; r < REPEATS; r++) {
        c.failed = 0;
        double start = bench_seconds();
        run(e, NULL, &c);
        c.step = least(c.step, (bench_seconds() - start) / STEPS);
        tribo_tape_rewind(e->tape);
        start = bench_seconds();
        run(e, e->tape, &c);
        c.tape = least(c.tape, (bench_seconds() - start) / STEPS), c.failed /= 2;
        start = bench_seconds();
        if (tribo_backward(e->ws, e->tape, e->lx, e->x_bar, e->u_bar, e->p_bar) < 0) c.failed++;
        c.reverse = least(c.reverse, (bench_seconds() - start) / STEPS);
        start = bench_seconds();
        for (int k = 0; k < JACOBIANS; k++)
            if (tribo_step_jac(e->ws, e->tape, STEPS - 1 - k, e->A, e->B, NULL) < 0) c.failed++;
        c.jacobians = least(c.jacobians, (bench_seconds() - start) / JACOBIANS);
    }
    return c;
}

/* Seconds of MuJoCo's step and of its Jacobians by differences; NaN where it does not read the file. */
static void beside(const char *path, engine *e, double *step, double *jacobians) {
    *step = *jacobians = (double)NAN;
#ifdef HAVE_MUJOCO
    char error[512];
    mjModel *m = mj_loadXML(path, NULL, error, sizeof error);
    if (!m) return;
    m->opt.cone = mjCONE_ELLIPTIC, m->opt.solver = mjSOL_NEWTON;
    mjData *d = mj_makeData(m);
    mjtNum *J = calloc((size_t)(2 * m->nv * (2 * m->nv + m->nu) + 1), sizeof *J);
    *step = *jacobians = 1;
    for (int r = 0; J && r < REPEATS; r++) {
        mj_resetDataKeyframe(m, d, 0);
        for (int i = 0; i < m->nu; i++) e->u[e->n.nv + i] = d->ctrl[i];
        double start = bench_seconds();
        for (int k = 0; k < STEPS; k++) mj_step(m, d);
        *step = least(*step, (bench_seconds() - start) / STEPS);
        start = bench_seconds();
        for (int k = 0; k < JACOBIANS; k++) mjd_transitionFD(m, d, 1e-6, 0, J, J + 4 * m->nv * m->nv, NULL, NULL);
        *jacobians = least(*jacobians, (bench_seconds() - start) / JACOBIANS);
    }
    free(J);
    mj_deleteData(d), mj_deleteModel(m);
#else
    (void)path, (void)e;
#endif
}

static void bench(const char *path) {
    engine e = {0};
    double step, jacobians;
    const char *name = strrchr(path, '/');
    if (engine_open(path, &e)) {
        beside(path, &e, &step, &jacobians); /* first: it has the controls of the keyframe */
        cost c = measure(&e);
        printf("%-20s %4d %8.2f %8.2f %6.2f %8.2f %6.2f %8.2f %6.2f %8.2f %6.2f %9.1e %6d\n", name ? name + 1 : path,
               e.n.nv, 1e6 * c.step, 1e6 * step, c.step / step, c.tape / c.step, c.reverse / c.step, 1e6 * c.jacobians,
               c.jacobians / c.step, 1e6 * jacobians, c.jacobians / jacobians, c.residual, c.failed);
    }
    free(e.p);
    tribo_tape_free(e.tape), tribo_ws_free(e.ws), tribo_model_free(e.m);
}

int main(int argc, char **argv) {
    static const char *const SCENES[] = {
        "data/scenes/cart-pole.xml", "data/scenes/double-pendulum.xml", "data/scenes/arm.xml",
        "data/scenes/legs.xml",      "data/scenes/walker.xml",          "data/scenes/quadruped.xml",
        "data/scenes/hopper.xml",    "data/scenes/half-cheetah.xml",    "data/scenes/arm-7.xml",
        "data/scenes/hand.xml",      "data/scenes/humanoid.xml"};
    printf("%-20s %4s %8s %8s %6s %8s %6s %8s %6s %8s %6s %9s %6s\n", "scene", "nv", "step us", "MuJoCo", "ratio",
           "tape/st", "rev/st", "A,B us", "/step", "by diff", "ratio", "residual", "failed");
    for (int i = 1; i < argc; i++) bench(argv[i]);
    for (size_t i = 0; argc < 2 && i < sizeof SCENES / sizeof *SCENES; i++) bench(SCENES[i]);
    return 0;
}
