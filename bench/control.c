/* control.c -- the same passes of iterative LQR on Tribo's step with its exact Jacobians and on MuJoCo's with its
 * differences (mjd_transitionFD), on the same files, costs and first guesses: cost reached, passes, seconds.
 *
 *     bench_control [PASSES]       run from the root of the project; thread CPU time
 *
 * Costs of the two are each under its own dynamics: MuJoCo's contact is soft.
 */
#include "bench.h"
#include "trajopt/task.h"
#include <stdio.h>
#include <tribo/tribo.h>
#ifdef HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

enum { TERMS = 5 };

/* A task: its scene, terms, knots. */
typedef struct contest {
    const char *name, *scene;
    int knots, substeps;
    double dt;
    void (*terms)(const tribo_model *m, tribo_term_def *t, int *n);
} contest;

static tribo_term_def *term(tribo_term_def *t, int *n, tribo_term_kind kind, double weight) {
    t[*n] = tribo_default_term();
    t[*n].kind = kind, t[*n].weight = weight;
    return &t[(*n)++];
}

static void swing_up(const tribo_model *m, tribo_term_def *t, int *n) {
    static const double up[4];
    for (int j = 0; j < 2; j++) {
        tribo_term_def *a = term(t, n, TRIBO_TERM_JOINT, j ? 10 : 1);
        a->joint = j, a->norm = TRIBO_NORM_SMOOTH_ABS, a->scale = 0.5;
    }
    term(t, n, TRIBO_TERM_CONTROL, 0.01);
    tribo_term_def *end = term(t, n, TRIBO_TERM_STATE, 100);
    end->first = end->last = -1, end->target = up;
    (void)m;
}

static void balance(const tribo_model *m, tribo_term_def *t, int *n) {
    static const double up[4];
    for (int j = 0; j < 2; j++) term(t, n, TRIBO_TERM_JOINT, j ? 1 : 10)->joint = j;
    term(t, n, TRIBO_TERM_CONTROL, 0.01);
    tribo_term_def *end = term(t, n, TRIBO_TERM_STATE, 100);
    end->first = end->last = -1, end->target = up;
    (void)m;
}

/* The torso as high as half a metre above its stand, at the middle. */
static void hop(const tribo_model *m, tribo_term_def *t, int *n) {
    static const double high[3] = {0, 0, 1.61};
    static const double up[3] = {0, 0, 1};
    tribo_term_def *a = term(t, n, TRIBO_TERM_POSITION, 20);
    a->body = tribo_model_body_find(m, "torso"), a->target = high, a->weights = up, a->first = 12, a->last = 16;
    term(t, n, TRIBO_TERM_JOINT, 1)->joint = tribo_model_joint_find(m, "pitch");
    term(t, n, TRIBO_TERM_JOINT_VELOCITY, 0.001)->joint = tribo_model_joint_find(m, "pitch");
    term(t, n, TRIBO_TERM_CONTROL, 0.01);
}

static void spin(const tribo_model *m, tribo_term_def *t, int *n) {
    tribo_term_def *a = term(t, n, TRIBO_TERM_JOINT, -1);
    a->joint = tribo_model_joint_find(m, "pin"), a->norm = TRIBO_NORM_LINEAR, a->last = -1;
    term(t, n, TRIBO_TERM_CONTROL, 0.1);
}

/* The start, kept. */
static void stand(const tribo_model *m, tribo_term_def *t, int *n) {
    static double x0[200], u0[100];
    double u[200];
    tribo_sizes z = tribo_model_sizes(m);
    tribo_model_key(m, 0, x0, u);
    for (int i = 0; i < z.nactuator; i++) u0[i] = u[z.nv + i];
    tribo_term_def *a = term(t, n, TRIBO_TERM_STATE, 1);
    a->target = x0, a->last = -1;
    term(t, n, TRIBO_TERM_CONTROL, 0.1)->target = u0;
}

static const contest contests[] = {
    {"cart-pole", "bench/scenes/cart-pole-motor.xml", 200, 1, 0.01, swing_up},
    {"acrobot", "bench/scenes/acrobot-motor.xml", 300, 1, 0.01, balance},
    {"hopper", "data/scenes/hopper.xml", 30, 10, 0.002, hop},
    {"finger", "data/scenes/finger.xml", 75, 1, 0.05, spin},
    {"quadruped", "data/scenes/quadruped.xml", 40, 2, 0, stand},
};

/* Half the second's joint to begin with, so that a hanging double pendulum has a gradient at all. */
static void first_guess(const tribo_model *m, int knots, double *U) {
    tribo_sizes z = tribo_model_sizes(m);
    double x[200], u[200];
    if (tribo_model_keys(m) > 0) tribo_model_key(m, 0, x, u);
    for (int k = 0; k < knots; k++)
        for (int i = 0; i < z.nactuator; i++) {
            double held = tribo_model_keys(m) > 0 ? u[z.nv + i] : 0;
            U[k * z.nactuator + i] = held != 0 ? held : 0.1 * sin(0.3 * k + i);
        }
}

/* ---- MuJoCo's dynamics ---- */

#ifdef HAVE_MUJOCO
typedef struct soft {
    mjModel *m;
    mjData *d;
} soft;

static void place(const soft *s, const double *x, const double *u) {
    memcpy(s->d->qpos, x, sizeof *x * (size_t)s->m->nq);
    memcpy(s->d->qvel, x + s->m->nq, sizeof *x * (size_t)s->m->nv);
    memcpy(s->d->ctrl, u + s->m->nv, sizeof *u * (size_t)s->m->nu);
}

static tribo_status soft_step(void *context, const double *u, double *x) {
    soft *s = context;
    place(s, x, u);
    mj_step(s->m, s->d);
    memcpy(x, s->d->qpos, sizeof *x * (size_t)s->m->nq);
    memcpy(x + s->m->nq, s->d->qvel, sizeof *x * (size_t)s->m->nv);
    for (int i = 0; i < s->m->nq + s->m->nv; i++)
        if (!isfinite(x[i]) || fabs(x[i]) > 1e8) return TRIBO_E_NONFINITE;
    return TRIBO_OK;
}

static tribo_status soft_jac(void *context, const double *x, const double *u, double *A, double *B) {
    soft *s = context;
    int n = 2 * s->m->nv, nu = s->m->nu;
    static double controls[400 * 100];
    place(s, x, u);
    mjd_transitionFD(s->m, s->d, 1e-6, 0, A, controls, NULL, NULL);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < nu; j++) B[i * (s->m->nv + nu) + s->m->nv + j] = controls[i * nu + j];
    return TRIBO_OK;
}

static bool soft_open(const contest *c, soft *s) {
    char error[500] = "";
    s->m = mj_loadXML(c->scene, NULL, error, sizeof error);
    if (!s->m) return fprintf(stderr, "MuJoCo: %s\n", error), false;
    if (c->dt > 0) s->m->opt.timestep = c->dt;
    s->d = mj_makeData(s->m);
    return true;
}
#endif

/* ---- the race ---- */

typedef struct result {
    double cost, start, seconds, half; /* half: when it was within 1 % of its end */
    int passes;
    bool converged;
} result;

static result race(tribo_trajopt *t, int passes) {
    enum { MOST = 1000 };
    static double cost[MOST], at[MOST];
    result r = {.start = t->progress.cost};
    double begin = bench_seconds();
    tribo_trajopt_progress p = t->progress;
    int n = 0;
    while (n < passes && n < MOST && !p.done) {
        if (tribo_trajopt_iterate(t, &p) != TRIBO_OK) break;
        cost[n] = p.cost, at[n++] = bench_seconds() - begin;
    }
    r.cost = p.cost, r.passes = n, r.converged = p.converged, r.seconds = n ? at[n - 1] : 0;
    for (int k = n - 1; k >= 0 && fabs(cost[k] - p.cost) < 0.01 * fabs(r.start - p.cost); k--) r.half = at[k];
    return r;
}

static void row(const char *task, const char *engine, const result *r) {
    printf("| %s | %s | %.6g | %.6g | %d%s | %.3g | %.3g |\n", task, engine, r->start, r->cost, r->passes,
           r->converged ? "" : "+", r->seconds, r->half);
}

static tribo_trajopt *open_task(const contest *c, tribo_model *m, tribo_trajopt_def *def, tribo_term_def *terms) {
    static tribo_options o;
    tribo_trajopt *t = NULL;
    tribo_diag diag = {0};
    *def = tribo_default_trajopt();
    o = tribo_default_options();
    o.dt = c->dt, o.warm_start = true;
    c->terms(m, terms, &def->nterm);
    def->term = terms, def->knots = c->knots, def->substeps = c->substeps, def->options = &o;
    def->method = TRIBO_METHOD_ILQR, def->tol = 1e-6;
    def->U = malloc(sizeof(double) * (size_t)(c->knots * tribo_model_sizes(m).nactuator));
    first_guess(m, c->knots, (double *)def->U);
    if (tribo_trajopt_new(m, def, &t, &diag) < 0) fprintf(stderr, "%s: %s\n", c->name, diag.text);
    return t;
}

static void run(const contest *c, int passes) {
    tribo_model *m = NULL;
    tribo_trajopt_def def;
    tribo_term_def terms[TERMS];
    tribo_diag diag = {0};
    if (tribo_model_load(c->scene, NULL, &m, &diag) < 0) {
        fprintf(stderr, "%s: %s\n", c->scene, diag.text);
        return;
    }
    tribo_trajopt *t = open_task(c, m, &def, terms);
    if (t) {
        result r = race(t, passes);
        row(c->name, "Tribo", &r);
        tribo_trajopt_free(t);
    }
#ifdef HAVE_MUJOCO
    soft s;
    free((double *)def.U);
    t = open_task(c, m, &def, terms);
    if (t && soft_open(c, &s)) {
        const ti_plant plant = {soft_step, soft_jac, &s};
        t->plant = &plant;
        result r = {0};
        if (ti_path_roll(t, (ti_roll){.U = def.U}) == TRIBO_OK) {
            ti_path_swap(t), ti_progress_note(t);
            r = race(t, passes);
        }
        row(c->name, "MuJoCo", &r);
        mj_deleteData(s.d), mj_deleteModel(s.m);
    }
    tribo_trajopt_free(t);
#endif
    free((double *)def.U);
    tribo_model_free(m);
}

int main(int argc, char **argv) {
    int passes = argc > 1 ? atoi(argv[1]) : 200;
    printf("| task | engine | cost at the start | at the end | passes | s | s to within 1 %% of the end |\n"
           "|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof contests / sizeof *contests; i++) run(&contests[i], passes), fflush(stdout);
    return 0;
}
