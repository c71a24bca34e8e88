/* dynamics.c -- what dynamics at a state costs, beside MuJoCo on the same files in the same run, where it is installed.
 *
 *     bench_dynamics [SCENE.xml ...]     by default those of data/scenes with joints; run from the root of the project
 *
 * Microseconds, the best of REPEATS, thread CPU time, each call at another of STATES states. `state` is kinematics with
 * velocities, of MuJoCo mj_kinematics, mj_comPos and mj_comVel; it is part of the next three on both sides: inverse
 * dynamics (mj_rne); M, its factor and one solve (mj_crb, mj_factorM, mj_solveM); forward dynamics (all of these).
 * Then, without the state, derivatives that MuJoCo has not: the reverse of inverse and of forward dynamics, and their
 * dense Jacobians.
 */
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tribo/tribo.h>
#ifdef HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

enum { STATES = 50, ROUNDS = 20, REPEATS = 15 };
enum {
    STATE,
    INVERSE,
    INERTIA,
    FORWARD,
    INVERSE_VJP,
    FORWARD_VJP,
    INVERSE_JAC,
    FORWARD_JAC,
    KINDS,
    SHARED = INVERSE_VJP
};

typedef struct subject {
    tribo_model *m;
    tribo_dynamics *d;
    tribo_sizes n;
    double *X, *a, *tau, *out, *q, *v, *A, *B, *C, *p_bar;
#ifdef HAVE_MUJOCO
    mjModel *mm;
    mjData *md;
#endif
} subject;

static int failed;

static void ours(subject *s, int kind, const double *x) {
    tribo_status status = TRIBO_OK;
    switch (kind) {
    case STATE:
        status = tribo_dynamics_set_state(s->d, x);
        break;
    case INVERSE:
        status = tribo_inverse_dynamics(s->d, s->a, s->out);
        break;
    case INERTIA:
        status = tribo_inertia_solve(s->d, s->a, s->out);
        break;
    case FORWARD:
        status = tribo_forward_dynamics(s->d, s->tau, s->out);
        break;
    case INVERSE_VJP:
        status = tribo_inverse_dynamics_vjp(s->d, s->a, s->tau, s->q, s->v, s->out, s->p_bar);
        break;
    case FORWARD_VJP:
        status = tribo_forward_dynamics_vjp(s->d, s->a, s->tau, s->q, s->v, s->out, s->p_bar);
        break;
    case INVERSE_JAC:
        status = tribo_inverse_dynamics_jac(s->d, s->a, s->A, s->B);
        break;
    case FORWARD_JAC:
        status = tribo_forward_dynamics_jac(s->d, s->a, s->A, s->B, s->C);
        break;
    }
    failed += status != TRIBO_OK;
}

/* @return seconds of a call and of the state before it */
static double measure_ours(subject *s, int kind) {
    double best = HUGE_VAL;
    for (int r = 0; r < REPEATS; r++) {
        double start = bench_seconds();
        for (int k = 0; k < STATES * ROUNDS; k++) {
            ours(s, STATE, s->X + (size_t)(k % STATES) * (size_t)s->n.nx);
            if (kind != STATE) ours(s, kind, NULL);
        }
        best = fmin(best, (bench_seconds() - start) / (STATES * ROUNDS));
    }
    return best;
}

#ifdef HAVE_MUJOCO
static void theirs(subject *s, int kind) {
    switch (kind) {
    case STATE:
        mj_kinematics(s->mm, s->md), mj_comPos(s->mm, s->md), mj_comVel(s->mm, s->md);
        break;
    case INVERSE:
        mj_rne(s->mm, s->md, 1, s->out);
        break;
    case INERTIA:
        mj_crb(s->mm, s->md), mj_factorM(s->mm, s->md), mj_solveM(s->mm, s->md, s->out, s->a, 1);
        break;
    case FORWARD:
        mj_crb(s->mm, s->md), mj_factorM(s->mm, s->md), mj_rne(s->mm, s->md, 0, s->out);
        for (int i = 0; i < s->n.nv; i++) s->out[i] = s->tau[i] - s->out[i];
        mj_solveM(s->mm, s->md, s->out, s->out, 1);
        break;
    }
}

static double measure_theirs(subject *s, int kind) {
    double best = HUGE_VAL;
    memcpy(s->md->qacc, s->a, sizeof *s->a * (size_t)s->n.nv);
    for (int r = 0; r < REPEATS && s->mm; r++) {
        double start = bench_seconds();
        for (int k = 0; k < STATES * ROUNDS; k++) {
            const double *x = s->X + (size_t)(k % STATES) * (size_t)s->n.nx;
            memcpy(s->md->qpos, x, sizeof *x * (size_t)s->n.nq);
            memcpy(s->md->qvel, x + s->n.nq, sizeof *x * (size_t)s->n.nv);
            theirs(s, STATE);
            if (kind != STATE) theirs(s, kind);
        }
        best = fmin(best, (bench_seconds() - start) / (STATES * ROUNDS));
    }
    return best;
}
#endif

static unsigned seed = 1;
static double draw(void) { /* in (-1, 1) */
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / 8388608.0 - 1;
}

static bool subject_open(subject *s, const char *path) {
    tribo_diag diag = {0};
    if (tribo_model_load(path, NULL, &s->m, &diag) != TRIBO_OK)
        return fprintf(stderr, "%s: %s\n", path, diag.text), false;
    if (tribo_dynamics_new(s->m, NULL, &s->d) != TRIBO_OK) return false;
    s->n = tribo_model_sizes(s->m);
    size_t nv = (size_t)s->n.nv, nx = (size_t)s->n.nx, np = (size_t)s->n.np, ndx = 2 * nv;
    s->X = calloc((STATES + 1) * nx + 5 * nv + 3 * nv * nv + np + ndx, sizeof *s->X);
    if (!s->X) return false;
    double *x0 = s->X + STATES * nx, *dx;
    s->a = x0 + nx, s->tau = s->a + nv, s->out = s->tau + nv, s->q = s->out + nv, s->v = s->q + nv;
    s->A = s->v + nv, s->B = s->A + nv * nv, s->C = s->B + nv * nv, s->p_bar = s->C + nv * nv, dx = s->p_bar + np;
    tribo_model_state0(s->m, x0);
    for (size_t i = 0; i < nv; i++) s->a[i] = draw(), s->tau[i] = draw();
    for (int k = 0; k < STATES; k++) {
        for (size_t i = 0; i < ndx; i++) dx[i] = draw();
        tribo_state_add(s->m, x0, dx, s->X + (size_t)k * nx);
    }
#ifdef HAVE_MUJOCO
    char error[512];
    s->mm = mj_loadXML(path, NULL, error, sizeof error);
    s->md = s->mm ? mj_makeData(s->mm) : NULL;
#endif
    return true;
}

static void subject_close(subject *s) {
#ifdef HAVE_MUJOCO
    if (s->mm) mj_deleteData(s->md), mj_deleteModel(s->mm);
#endif
    free(s->X);
    tribo_dynamics_free(s->d), tribo_model_free(s->m);
}

static void bench(const char *path) {
    subject s = {0};
    const char *name = strrchr(path, '/');
    if (subject_open(&s, path)) {
        double own[KINDS];
        for (int k = 0; k < KINDS; k++) own[k] = 1e6 * measure_ours(&s, k);
        printf("%-20s %4d", name ? name + 1 : path, s.n.nv);
        for (int k = 0; k < SHARED; k++) {
            double other = (double)NAN;
#ifdef HAVE_MUJOCO
            if (s.mm) other = 1e6 * measure_theirs(&s, k);
#endif
            printf(" %7.2f %7.2f %5.2f", own[k], other, own[k] / other);
        }
        for (int k = SHARED; k < KINDS; k++) printf(" %7.2f", own[k] - own[STATE]);
        printf("\n");
    }
    subject_close(&s);
}

int main(int argc, char **argv) {
    static const char *const SCENES[] = {"data/scenes/cart-pole.xml", "data/scenes/double-pendulum.xml",
                                         "data/scenes/arm.xml",       "data/scenes/legs.xml",
                                         "data/scenes/walker.xml",    "data/scenes/quadruped.xml",
                                         "data/scenes/hand.xml",      "data/scenes/humanoid.xml"};
    printf("%-20s %4s %7s %7s %5s %7s %7s %5s %7s %7s %5s %7s %7s %5s %7s %7s %7s %7s\n", "scene", "nv", "state",
           "MuJoCo", "ratio", "inverse", "MuJoCo", "ratio", "M, 1/M", "MuJoCo", "ratio", "forward", "MuJoCo", "ratio",
           "inv vjp", "fwd vjp", "inv jac", "fwd jac");
    for (int i = 1; i < argc; i++) bench(argv[i]);
    for (size_t i = 0; argc < 2 && i < sizeof SCENES / sizeof *SCENES; i++) bench(SCENES[i]);
    if (failed) printf("%d calls failed\n", failed);
    return failed != 0;
}
