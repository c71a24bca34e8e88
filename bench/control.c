/* control.c -- the same passes of iterative LQR on Tribo's step with its exact Jacobians and on MuJoCo's with its
 * differences (mjd_transitionFD), on the same files, costs and first guesses: cost reached, passes, seconds.
 *
 *     bench_control [PASSES [TASK]]       run from the root of the project; CPU time of the thread, "pass" of the clock
 *
 * Costs are each under the engine's own dynamics, MuJoCo's contact is soft, Tribo's hard; "replayed" is what the
 * controls found cost on the other engine: Tribo's on MuJoCo's default contact, MuJoCo's under the hard law. With
 * contact, Tribo searches a second time with other laws on the way (stages): compliant contact, and dry friction of
 * joints that gives way too, or noise; what it costs is under the hard law all the same. Without contact, a second time
 * with second derivatives of its step, which differences of MuJoCo's do not have. "Acted" is what a plan costs
 * where its feedback acts on Tribo's steps of a twentieth of the time, whichever engine it was made on. MuJoCo searches
 * again with contacts two and four times as stiff, where a landing decides what there is to be had. "Refereed" is what
 * controls cost on what neither step is: MuJoCo's Runge-Kutta of fourth order in steps of a twentieth, where nothing
 * touches; "fed back" what they cost there with the plan's feedback.
 */
#include "bench.h"
#include "trajopt/task.h"
#include <stdio.h>
#include <tribo/tribo.h>
#ifdef HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

enum { TERMS = 5 };

/* Laws on the way: contacts that give, 1/kg, and dry friction of joints, 1/(kg m^2); or noise, m/s. */
#define GIVING(contacts, dry)                                                                                          \
    { .softness = TRIBO_SOFTNESS_PHYSICAL, .compliance = (contacts), .dry_compliance = (dry) }
#define NOISY(deviation)                                                                                               \
    { .law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_LOGISTIC, .noise = (deviation) }
enum { STAGES = 2 };

/* A task: its scene, terms, knots. */
typedef struct contest {
    const char *name, *scene;
    int knots, substeps;
    double dt;
    int nway; /* 0 = there is no contact */
    tribo_law_options way[STAGES];
    bool lands; /* and MuJoCo's contact is made stiffer */
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
    {"cart-pole", "bench/scenes/cart-pole-motor.xml", 200, 1, 0.01, 0, {{0}}, false, swing_up},
    {"acrobot", "bench/scenes/acrobot-motor.xml", 300, 1, 0.01, 0, {{0}}, false, balance},
    {"hopper", "data/scenes/hopper.xml", 30, 10, 0.002, 1, {NOISY(1)}, false, hop},
    {"finger", "data/scenes/finger.xml", 75, 1, 0.05, 1, {GIVING(10, 0)}, false, spin},
    {"quadruped", "data/scenes/quadruped.xml", 40, 2, 0, 2, {GIVING(10, 1e4), GIVING(2, 1e3)}, true, stand},
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

/* MuJoCo's time constant of a contact is 0.02 s, or what is given. */
static bool soft_open(const contest *c, double constant, soft *s) {
    char error[500] = "";
    s->m = mj_loadXML(c->scene, NULL, error, sizeof error);
    if (!s->m) return fprintf(stderr, "MuJoCo: %s\n", error), false;
    if (c->dt > 0) s->m->opt.timestep = c->dt;
    for (int i = 0; constant > 0 && i < s->m->ngeom; i++) s->m->geom_solref[i * mjNREF] = constant;
    s->d = mj_makeData(s->m);
    return true;
}
#endif

/* ---- the race ---- */

enum { MOST = 1000 };

/* Costs pass by pass under the engine's own dynamics, and when. */
typedef struct result {
    double cost[MOST], at[MOST], start;
    double elsewhere; /* what its controls cost on the other engine */
    double acted;     /* what its feedback costs on fine steps */
    double held, fed; /* what its controls cost where neither engine steps, and with its feedback */
    int passes;
    bool converged;
} result;

static void race(tribo_trajopt *t, int passes, result *r) {
    double begin = bench_seconds();
    tribo_trajopt_progress p = t->progress;
    r->start = p.cost_hard, r->passes = 0;
    while (r->passes < passes && r->passes < MOST && !p.done) {
        if (tribo_trajopt_iterate(t, &p) != TRIBO_OK) break;
        r->cost[r->passes] = p.cost_hard, r->at[r->passes++] = bench_seconds() - begin;
    }
    r->converged = p.converged;
    r->elsewhere = NAN;
}

static double end_of(const result *r) {
    return r->passes ? r->cost[r->passes - 1] : r->start;
}
static double seconds_of(const result *r) {
    return r->passes ? r->at[r->passes - 1] : 0;
}

/* When its cost was down to a goal. */
static void print_when(const result *r, double goal) {
    int k = 0;
    while (k < r->passes && !(r->cost[k] <= goal)) k++;
    if (k < r->passes)
        printf(" %.3g |", r->at[k]);
    else
        printf(" never |");
}

static void print_cost(double cost) {
    if (isnan(cost))
        printf(" |");
    else
        printf(" %.6g |", cost);
}

/* @param rival whose end is to be reached, that but for 1 % of what it gained, and that but for 0.1 % of itself */
static void row(const char *task, const char *engine, const result *r, const result *rival) {
    printf("| %s | %s | %.6g | %.6g | %.4g | %.6g |", task, engine, r->start, end_of(r), r->elsewhere, r->acted);
    print_cost(r->held), print_cost(r->fed);
    printf(" %d%s | %.3g |", r->passes, r->converged ? "" : "+", seconds_of(r));
    print_when(r, end_of(rival) + 0.01 * fabs(rival->start - end_of(rival)));
    print_when(r, end_of(rival) + 0.001 * fabs(end_of(rival)));
    print_when(r, end_of(rival));
    printf("\n");
}

/* @param nway how many laws there are on the way to the hard one */
static tribo_trajopt *open_task(const contest *c, tribo_model *m, int nway, tribo_method method, int workers) {
    tribo_options o = tribo_default_options();
    tribo_trajopt_def def = tribo_default_trajopt();
    tribo_term_def terms[TERMS];
    tribo_trajopt *t = NULL;
    tribo_diag diag = {0};
    double *U = calloc((size_t)(c->knots * tribo_model_sizes(m).nactuator), sizeof *U);
    o.dt = c->dt, o.warm_start = true;
    c->terms(m, terms, &def.nterm);
    def.term = terms, def.knots = c->knots, def.substeps = c->substeps, def.options = &o;
    def.method = method, def.workers = workers;
    def.stage = c->way, def.nstage = nway;
    def.tol = nway > 0 ? 1e-4 : c->nway > 0 ? 1e-6 : 1e-9;
    first_guess(m, c->knots, U);
    def.U = U;
    if (tribo_trajopt_new(m, &def, &t, &diag) < 0) fprintf(stderr, "%s: %s\n", c->name, diag.text);
    free(U);
    return t;
}

enum { FINER = 20 };

/* The same controls on steps of a twentieth. */
static contest finer(const contest *c, const tribo_model *m) {
    contest fine = *c;
    fine.dt = (c->dt > 0 ? c->dt : tribo_model_timestep(m)) / FINER, fine.substeps *= FINER;
    return fine;
}

/* What a plan costs acted out on other dynamics and finer steps, by its feedback or by its controls alone. */
static double act_out(const contest *fine, tribo_model *m, tribo_trajopt *plan, const ti_plant *on, bool feedback) {
    tribo_sizes z = tribo_model_sizes(m);
    int n = fine->knots, nc = tribo_trajopt_ncontrol(plan);
    double *X = malloc(sizeof *X * (size_t)((n + 1) * z.nx)), *U = malloc(sizeof *U * (size_t)(n * nc));
    double x[200], u[200], cost = NAN;
    tribo_trajopt *task = open_task(fine, m, 0, TRIBO_METHOD_ILQR, 1);
    tribo_status s = tribo_trajopt_settle(plan);
    tribo_trajopt_trajectory(plan, X, U);
    memcpy(x, X, sizeof *x * (size_t)z.nx);
    for (int k = 0; feedback && k < n && s >= 0; k++) {
        s = tribo_trajopt_feedback(plan, k, x, u);
        memcpy(U + k * nc, u + z.nv, sizeof *u * (size_t)nc);
        for (int i = 0; i < fine->substeps && s >= 0; i++) s = on->step(on->context, u, x);
    }
    if (task) task->plant = on;
    if (s >= 0 && task && ti_path_roll(task, (ti_roll){.U = U}) >= 0) cost = task->trial.plain;
    tribo_trajopt_free(task), free(X), free(U);
    return cost;
}

typedef struct stepper {
    tribo_ws *ws;
    double p[2000];
} stepper;

static tribo_status step_finely(void *context, const double *u, double *x) {
    stepper *s = context;
    return tribo_step(s->ws, s->p, x, u, x, NULL);
}

/* By its feedback on Tribo's steps of a twentieth of the time. */
static double act_finely(const contest *c, tribo_model *m, tribo_trajopt *plan) {
    contest fine = finer(c, m);
    stepper s = {0};
    ti_plant on = {step_finely, NULL, &s};
    tribo_options o = tribo_default_options();
    o.dt = fine.dt;
    tribo_model_params(m, s.p);
    double cost = NAN;
    if (tribo_ws_new(m, &o, NULL, &s.ws, NULL) >= 0) cost = act_out(&fine, m, plan, &on, true);
    tribo_ws_free(s.ws);
    return cost;
}

#ifdef HAVE_MUJOCO
/* What the controls that one task found cost on the dynamics of another. */
static double replay(const tribo_trajopt *found, tribo_trajopt *on) {
    double *U = malloc(sizeof *U * (size_t)(found->knots * found->nc));
    tribo_trajopt_trajectory(found, NULL, U);
    tribo_status s = ti_path_roll(on, (ti_roll){.U = U});
    free(U);
    return s < 0 ? HUGE_VAL : on->trial.plain;
}

/* The task on MuJoCo's dynamics; to be freed beside s. */
static tribo_trajopt *open_soft(const contest *c, tribo_model *m, double constant, soft *s, ti_plant *plant) {
    tribo_trajopt *t = soft_open(c, constant, s) ? open_task(c, m, 0, TRIBO_METHOD_ILQR, 1) : NULL;
    *plant = (ti_plant){soft_step, soft_jac, s};
    if (!t) return NULL;
    t->plant = plant;
    double *U = malloc(sizeof *U * (size_t)(c->knots * tribo_trajopt_ncontrol(t)));
    tribo_trajopt_trajectory(t, NULL, U);
    if (ti_path_roll(t, (ti_roll){.U = U}) == TRIBO_OK) ti_path_swap(t), ti_progress_note(t);
    free(U);
    return t;
}
static void soft_close(soft *s) {
    mj_deleteData(s->d), mj_deleteModel(s->m);
}

/* On what is neither engine's step, where nothing touches: MuJoCo's Runge-Kutta of fourth order on steps of a
 * twentieth. */
static void referee(const contest *c, tribo_model *m, tribo_trajopt *plan, result *r) {
    contest fine = finer(c, m);
    soft s = {0};
    ti_plant on = {soft_step, NULL, &s};
    if (c->nway > 0 || !soft_open(&fine, 0, &s)) return;
    s.m->opt.integrator = mjINT_RK4;
    r->held = act_out(&fine, m, plan, &on, false), r->fed = act_out(&fine, m, plan, &on, true);
    soft_close(&s);
}
#endif

/* What it is worth elsewhere. */
static void judge(const contest *c, tribo_model *m, tribo_trajopt *plan, result *r) {
    r->acted = act_finely(c, m, plan), r->held = r->fed = NAN;
#ifdef HAVE_MUJOCO
    referee(c, m, plan, r);
#endif
}

static void race_tribo(const contest *c, tribo_model *m, int nway, tribo_method method, int passes, result *r) {
    tribo_trajopt *t = open_task(c, m, nway, method, 1);
    if (t) race(t, passes, r), judge(c, m, t, r);
#ifdef HAVE_MUJOCO
    soft s = {0};
    ti_plant plant;
    tribo_trajopt *other = t ? open_soft(c, m, 0, &s, &plant) : NULL;
    if (other) r->elsewhere = replay(t, other);
    tribo_trajopt_free(other), soft_close(&s);
#endif
    tribo_trajopt_free(t);
}

#ifdef HAVE_MUJOCO
static bool race_mujoco(const contest *c, tribo_model *m, double constant, int passes, result *r) {
    soft s = {0};
    ti_plant plant;
    tribo_trajopt *t = open_soft(c, m, constant, &s, &plant),
                  *hard = t ? open_task(c, m, 0, TRIBO_METHOD_ILQR, 1) : NULL;
    bool open = t != NULL;
    if (open) race(t, passes, r), judge(c, m, t, r);
    if (hard) r->elsewhere = replay(t, hard);
    tribo_trajopt_free(hard), tribo_trajopt_free(t), soft_close(&s);
    return open;
}
#endif

/* The name of Tribo's second search. */
static const char *second_of(const contest *c) {
    if (c->nway == 0) return "Tribo, second derivatives";
    return c->way->noise > 0 ? "Tribo, noise on the way" : "Tribo, compliant on the way";
}

static void run(const contest *c, tribo_model *m, int passes) {
    static result hard, way, other;
    const result *goal = &hard;
    race_tribo(c, m, 0, TRIBO_METHOD_ILQR, passes, &hard);
    race_tribo(c, m, c->nway, c->nway > 0 ? TRIBO_METHOD_ILQR : TRIBO_METHOD_NEWTON, passes, &way);
#ifdef HAVE_MUJOCO
    if (race_mujoco(c, m, 0, passes, &other)) goal = &other;
#endif
    row(c->name, "Tribo", &hard, goal);
    row(c->name, second_of(c), &way, goal);
    if (goal == &other) row(c->name, "MuJoCo", &other, &other);
#ifdef HAVE_MUJOCO
    static result stiff;
    if (c->lands && race_mujoco(c, m, 0.01, passes, &stiff)) row(c->name, "MuJoCo, contact 0.01 s", &stiff, goal);
    if (c->lands && race_mujoco(c, m, 0.005, passes, &stiff)) row(c->name, "MuJoCo, contact 0.005 s", &stiff, goal);
#endif
}

/* ---- a pass, on the clock ---- */

static double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Median of Jacobians, backward, forward, ms. */
static double pass_ms(tribo_trajopt *t) {
    enum { PASSES = 15 };
    double ms[PASSES];
    for (int k = 0; k < PASSES; k++) {
        double from = clock_seconds();
        if (tribo_trajopt_iterate(t, NULL) != TRIBO_OK) return NAN;
        ms[k] = 1000 * (clock_seconds() - from);
    }
    return bench_median(ms, PASSES);
}

static void time_pass(const contest *c, tribo_model *m) {
    for (int workers = 1; workers <= 2; workers++) {
        tribo_trajopt *t = open_task(c, m, 0, TRIBO_METHOD_ILQR, workers);
        if (t) printf("| %s | Tribo | %d | %.3g |\n", c->name, workers, pass_ms(t));
        tribo_trajopt_free(t);
    }
#ifdef HAVE_MUJOCO
    soft s = {0};
    ti_plant plant;
    tribo_trajopt *t = open_soft(c, m, 0, &s, &plant);
    if (t) printf("| %s | MuJoCo | 1 | %.3g |\n", c->name, pass_ms(t));
    tribo_trajopt_free(t), soft_close(&s);
#endif
}

static void each(const char *only, void (*visit)(const contest *c, tribo_model *m, int passes), int passes) {
    for (size_t i = 0; i < sizeof contests / sizeof *contests; i++) {
        const contest *c = &contests[i];
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        if (only && strcmp(only, c->name) != 0) continue;
        if (tribo_model_load(c->scene, NULL, &m, &diag) < 0)
            fprintf(stderr, "%s: %s\n", c->scene, diag.text);
        else
            visit(c, m, passes);
        tribo_model_free(m);
        fflush(stdout);
    }
}

static void visit_pass(const contest *c, tribo_model *m, int passes) {
    (void)passes;
    time_pass(c, m);
}

int main(int argc, char **argv) {
    int passes = argc > 1 ? atoi(argv[1]) : 200;
    const char *only = argc > 2 ? argv[2] : NULL;
    printf(
        "| task | engine | cost at the start | at the end | replayed | acted | refereed | fed back | passes | s | s to "
        "1 %% of MuJoCo's end | s to 0.1 %% above it | s to its end |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    each(only, run, passes);
    printf("\n| task | engine | threads | a pass, ms |\n|---|---|---|---|\n");
    each(only ? only : "quadruped", visit_pass, passes);
    return 0;
}
