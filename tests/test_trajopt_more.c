/* test_trajopt_more.c -- trajectory optimisation: derivatives by parameters and through contact, stages, beginning
 * again, interrupts, functions of the caller's that fail, searches that must end, workers, memory in a pass. */
#include "mallocs.h"
#include "test_main.h"
#include "trajopt/task.h"
#include "trajopt_tasks.h"
#include "worlds.h"
#include <stdio.h>
#include <tribo/tribo.h>

/* A free box in the air, an arm of a ball and a hinge with a site at its end. */
static const char MIXED[] =
    "<mujoco><compiler angle='radian'/><option timestep='0.01'/><worldbody><geom type='plane' size='0 0 1'/>"
    "<body name='box' pos='0 0 1.5'><freejoint/><geom type='box' size='0.1 0.2 0.3' mass='2'/></body>"
    "<body name='upper' pos='3 0 4'><joint name='ball' type='ball'/><geom type='capsule' size='0.05' fromto='0 0 0 0 "
    "0.3 -0.4' mass='1'/>"
    "<body name='lower' pos='0 0.3 -0.4'><joint name='hinge' axis='1 0.2 0'/><geom type='box' size='0.05 0.1 0.3' "
    "mass='0.7'/>"
    "<site name='tip' pos='0 0.1 -0.3' quat='0.8 0.2 0.1 0.3'/></body></body></worldbody></mujoco>";
/* A wheel on joints along x and z and about y, which lies on a floor. */
static const char WHEEL[] =
    "<mujoco><compiler angle='radian'/><option timestep='0.01'/><worldbody>"
    "<geom name='floor' type='plane' size='0 0 1' friction='0.3'/><body name='wheel' pos='0 0 0.1'>"
    "<joint name='x' type='slide' axis='1 0 0'/><joint name='z' type='slide' axis='0 0 1'/>"
    "<joint name='turn' axis='0 1 0' damping='0.01'/>"
    "<geom name='wheel' type='sphere' size='0.1' mass='1' friction='0.3'/>"
    "<site name='mark' pos='0.05 0 0.02'/></body></worldbody></mujoco>";

static tribo_term_def term_of(tribo_term_kind kind, double weight) {
    tribo_term_def t = tribo_default_term();
    t.kind = kind, t.weight = weight, t.last = -1;
    return t;
}

static double cost_of(const tribo_model *m, const tribo_trajopt_def *def) {
    tribo_trajopt *t = task_of(m, def);
    double cost = t->progress.cost;
    tribo_trajopt_free(t);
    return cost;
}

/* ---- by parameters ---- */

static int placed_terms(const tribo_model *m, tribo_term_def *t) {
    static const double quat[4] = {0.5, 0.5, -0.5, 0.5}, pos[3] = {0.3, -0.2, 1};
    int box = tribo_model_body_find(m, "box"), lower = tribo_model_body_find(m, "lower"), n = 0;
    t[n] = term_of(TRIBO_TERM_POSITION, 1), t[n].site = 0, t[n].target = pos, t[n++].body2 = box;
    t[n] = term_of(TRIBO_TERM_POSITION, 1), t[n].body = lower, t[n++].site2 = 0;
    t[n] = term_of(TRIBO_TERM_ROTATION, 1), t[n].site = 0, t[n++].target = quat;
    t[n] = term_of(TRIBO_TERM_ROTATION, 1), t[n++].body = lower;
    t[n] = term_of(TRIBO_TERM_VELOCITY, 1), t[n].body = box, t[n++].site2 = 0;
    t[n] = term_of(TRIBO_TERM_ANGULAR_VELOCITY, 1), t[n].site = 0, t[n++].body2 = box;
    t[n++] = term_of(TRIBO_TERM_COM, 1);
    t[n++] = term_of(TRIBO_TERM_COM_VELOCITY, 1);
    t[n++] = term_of(TRIBO_TERM_MOMENTUM, 1);
    t[n++] = term_of(TRIBO_TERM_STATE, 1);
    t[n] = term_of(TRIBO_TERM_JOINT, 1), t[n++].joint = tribo_model_joint_find(m, "ball");
    return n;
}

/* dJ/dp_i by differences of fourth order; NaN where p may not be so. */
static double slope_by(const tribo_model *m, const tribo_trajopt_def *def, double *p, int i, double h) {
    const double was = p[i], at[4] = {-2, -1, 1, 2}, by[4] = {1, -8, 8, -1};
    double slope = 0;
    for (int s = 0; s < 4; s++) {
        tribo_trajopt *moved = NULL;
        p[i] = was + at[s] * h;
        slope +=
            tribo_trajopt_new(m, def, &moved, NULL) == TRIBO_OK ? by[s] * moved->progress.cost / (12 * h) : (double)NAN;
        tribo_trajopt_free(moved);
    }
    p[i] = was;
    return slope;
}

/* dJ/dp of each kind of term alone against differences, controls held. */
START_TEST(by_parameters) {
    enum { NP = 400, TERMS = 16, NX = 32 };
    tribo_model *m = model_of(MIXED);
    tribo_sizes z = tribo_model_sizes(m);
    tribo_term_def terms[TERMS];
    double p[NP], p_bar[NP], x0[NX], dx[NX], U[3 * NX];
    unsigned seed = 7;
    int n = placed_terms(m, terms), compared = 0;
    ck_assert(z.np <= NP && z.nx <= NX && n <= TERMS);
    tribo_model_params(m, p);
    tribo_model_state0(m, x0);
    for (int i = 0; i < z.ndx; i++) dx[i] = 0.5 * test_random(&seed);
    tribo_state_add(m, x0, dx, x0);
    for (int i = 0; i < 3 * z.nv; i++) U[i] = test_random(&seed);
    tribo_trajopt_def def = tribo_default_trajopt();
    def.knots = 3, def.substeps = 2, def.nterm = 1, def.p = p, def.x0 = x0, def.U = U;
    for (int k = 0; k < n; k++) {
        def.term = terms + k;
        tribo_trajopt *t = task_of(m, &def);
        memset(p_bar, 0, sizeof p_bar);
        ck_assert(tribo_trajopt_gradient(t, NULL, p_bar) == TRIBO_OK);
        for (int i = 0; i < z.np; i++) {
            double off = HUGE_VAL, slope = 0; /* of the best of three widths */
            for (double h = 1e-5; h < 2e-3; h *= 10) {
                slope = slope_by(m, &def, p, i, h * (1 + fabs(p[i])));
                if (fabs(slope - p_bar[i]) < off) off = fabs(slope - p_bar[i]);
            }
            if (slope != slope) continue;
            compared++;
            ck_assert_msg(off < 2e-7 * (1 + fabs(p_bar[i])), "term %d (%s), p %d: %.10g, not %.10g", k,
                          tribo_term_name(terms[k].kind), i, p_bar[i], slope);
        }
        tribo_trajopt_free(t);
    }
    ck_assert_int_gt(compared, 11 * 70);
    tribo_model_free(m);
}
END_TEST

/* The same along one direction of all used parameters: what a term of its kind alone costs. */
START_TEST(along_parameters) {
    enum { NP = 400, TERMS = 16, NX = 32 };
    tribo_model *m = model_of(MIXED);
    tribo_sizes z = tribo_model_sizes(m);
    tribo_term_def terms[TERMS];
    double p0[NP], p[NP], pd[NP] = {0}, p_bar[NP], x0[NX], dx[NX], U[NX];
    unsigned seed = 11;
    int n = placed_terms(m, terms);
    ck_assert(z.np <= NP && z.nx <= NX && z.nv <= NX && n <= TERMS);
    tribo_model_params(m, p0);
    tribo_model_state0(m, x0);
    for (int i = 0; i < z.ndx; i++) dx[i] = 0.5 * test_random(&seed);
    tribo_state_add(m, x0, dx, x0);
    for (int i = 0; i < z.nv; i++) U[i] = test_random(&seed);
    for (int i = 0; i < z.np; i++) {
        tribo_param_info info;
        ck_assert(tribo_param_describe(m, i, &info) == TRIBO_OK);
        bool at_bound = !(info.lower < p0[i] && p0[i] < info.upper);
        if (info.used && info.kind != TRIBO_PARAM_QUAT && !at_bound)
            pd[i] = 0.1 * test_random(&seed) * (p0[i] ? p0[i] : 1);
    }
    tribo_trajopt_def def = tribo_default_trajopt();
    def.knots = 1, def.nterm = 1, def.p = p, def.x0 = x0, def.U = U;
    for (int k = 0; k < n; k++) {
        const double h = 2e-4, at[4] = {-2, -1, 1, 2}, by[4] = {1, -8, 8, -1};
        double slope = 0, reverse = 0;
        def.term = terms + k;
        for (int s = 0; s < 4; s++) {
            for (int i = 0; i < z.np; i++) p[i] = p0[i] + at[s] * h * pd[i];
            slope += by[s] * cost_of(m, &def) / (12 * h);
        }
        memcpy(p, p0, sizeof p), memset(p_bar, 0, sizeof p_bar);
        tribo_trajopt *t = task_of(m, &def);
        ck_assert(tribo_trajopt_gradient(t, NULL, p_bar) == TRIBO_OK);
        for (int i = 0; i < z.np; i++) reverse += p_bar[i] * pd[i];
        ck_assert_msg(fabs(slope - reverse) < 1e-9 * (1 + fabs(reverse)), "term %d (%s): %.12g, not %.12g", k,
                      tribo_term_name(terms[k].kind), reverse, slope);
        tribo_trajopt_free(t);
    }
    tribo_model_free(m);
}
END_TEST

/* ---- through contact ---- */

enum { WK = 12, WM = 3 };

static int wheel_terms(const tribo_model *m, tribo_term_def *t) {
    static const double quat[4] = {0.8, 0, 0.6, 0}, com[3] = {1, 0, 0.4}, spin[3] = {0, 2, 0}, x = 0.7;
    int n = 0;
    t[n] = term_of(TRIBO_TERM_COM, 1), t[n++].target = com;
    t[n] = term_of(TRIBO_TERM_ROTATION, 1), t[n].site = 0, t[n++].target = quat;
    t[n] = term_of(TRIBO_TERM_ANGULAR_VELOCITY, 0.1), t[n].body = 0, t[n++].target = spin;
    t[n] = term_of(TRIBO_TERM_JOINT, 2), t[n].target = &x, t[n++].joint = tribo_model_joint_find(m, "x");
    t[n] = term_of(TRIBO_TERM_JOINT_VELOCITY, 0.3), t[n++].joint = tribo_model_joint_find(m, "turn");
    t[n] = term_of(TRIBO_TERM_CONTROL, 0.01), t[n++].last = -2;
    return n;
}

/* The gradient by the reverse, by the knots' models and by differences: a wheel that flies up, rolls, slides. */
START_TEST(through_contact) {
    static const double force[3][WM] = {{1, 25, 0.1}, {0.5, -2, 0.05}, {9, -1, -0.2}};
    tribo_model *m = model_of(WHEEL);
    tribo_term_def terms[8];
    double U[WK * WM], reverse[WK * WM], models[WK * WM], X[(WK + 1) * 6];
    tribo_trajopt_def def = tribo_default_trajopt();
    def.knots = WK, def.substeps = 2, def.term = terms, def.nterm = wheel_terms(m, terms), def.U = U;
    for (int i = 0; i < WK * WM; i++) U[i] = force[_i][i % WM] * (1 + 0.02 * (i % 5));
    tribo_trajopt *t = task_of(m, &def);
    tribo_trajopt_trajectory(t, X, NULL);
    const double *end = X + WK * 6;
    double slip = end[3] - 0.1 * end[5];
    if (_i == 0) ck_assert(end[1] > 0.1);
    if (_i == 1) ck_assert(fabs(end[1]) < 1e-9 && fabs(slip) < 1e-9 && end[3] > 0.01);
    if (_i == 2) ck_assert(fabs(end[1]) < 1e-9 && slip > 0.1);
    ck_assert(ti_path_reverse(t, &t->best, reverse, NULL, NULL) >= 0 && ti_knots_linearise(t) >= 0);
    ti_models_gradient(t, models);
    for (int i = 0; i < WK * WM; i++) {
        const double h = 1e-5;
        double was = U[i], up, down;
        U[i] = was + h, up = cost_of(m, &def);
        U[i] = was - h, down = cost_of(m, &def);
        U[i] = was;
        double slope = (up - down) / (2 * h);
        ck_assert(fabs(models[i] - reverse[i]) < 1e-11 * (1 + fabs(reverse[i])));
        ck_assert_msg(fabs(slope - reverse[i]) < 1e-7 * (1 + fabs(slope)), "%d: %.10g, not %.10g", i, reverse[i],
                      slope);
    }
    tribo_trajopt_free(t), tribo_model_free(m);
}
END_TEST

/* A wheel that is to roll to a place, from rest; its guess slides. */
static tribo_trajopt_def rolling(const tribo_model *m, tribo_term_def *terms) {
    static double U[WK * WM];
    tribo_trajopt_def def = tribo_default_trajopt();
    for (int i = 0; i < WK * WM; i++) U[i] = i % WM == 0 ? 4 + 0.1 * i : i % WM == 1 ? -1 : 0;
    def.knots = WK, def.substeps = 3, def.term = terms, def.nterm = wheel_terms(m, terms), def.U = U;
    return def;
}

/* ---- what is the caller's ---- */

/* The place of the wheel, as TRIBO_TERM_JOINT has it. */
static tribo_status place_of_x(void *context, int knot, const double *x, const double *u, double *r, double *rx,
                               double *ru) {
    (void)context, (void)knot, (void)u, (void)ru;
    r[0] = x[0];
    if (rx) rx[0] = 1;
    return TRIBO_OK;
}

/* A function that says what a term of the library's says leads to the same bits. */
START_TEST(functions_are_terms) {
    static const double weights[1] = {1.5};
    double U[2][WK * WM];
    tribo_model *m = model_of(WHEEL);
    for (int own = 0; own < 2; own++) {
        tribo_term_def terms[8];
        tribo_trajopt_progress p;
        tribo_trajopt_def def = rolling(m, terms);
        tribo_term_def *place = terms + 3;
        ck_assert(place->kind == TRIBO_TERM_JOINT);
        place->weights = weights, place->norm = TRIBO_NORM_HUBER, place->scale = 0.05; /* of what is linear as well */
        if (own) place->kind = TRIBO_TERM_CUSTOM, place->size = 1, place->function = place_of_x;
        def.method = (tribo_method)_i;
        tribo_trajopt *t = task_of(m, &def);
        double cost = t->progress.cost;
        ck_assert(tribo_trajopt_solve(t, 12, &p) >= 0);
        ck_assert(p.cost < 0.9 * cost);
        tribo_trajopt_trajectory(t, NULL, U[own]);
        tribo_trajopt_free(t);
    }
    ck_assert(memcmp(U[0], U[1], sizeof U[0]) == 0);
    tribo_model_free(m);
}
END_TEST

/* The library's own step as somebody else's. */
typedef struct outside {
    tribo_ws *ws;
    tribo_tape *tape;
    const double *p;
} outside;

static tribo_status outside_step(void *context, const double *u, double *x) {
    outside *o = context;
    return tribo_step(o->ws, o->p, x, u, x, NULL);
}

static tribo_status outside_jac(void *context, const double *x, const double *u, double *A, double *B) {
    outside *o = context;
    double next[6];
    tribo_tape_rewind(o->tape);
    tribo_status s = tribo_step(o->ws, o->p, x, u, next, o->tape);
    return s < 0 ? s : tribo_step_jac(o->ws, o->tape, 0, A, B, NULL);
}

/* Steps that come from outside, and are the same, lead to the same controls. */
START_TEST(steps_from_outside) {
    tribo_model *m = model_of(WHEEL);
    tribo_term_def terms[8];
    double U[2][WK * WM], p[200];
    tribo_trajopt_def def = rolling(m, terms);
    def.method = TRIBO_METHOD_ILQR;
    tribo_model_params(m, p);
    for (int own = 0; own < 2; own++) {
        tribo_trajopt_progress end;
        tribo_trajopt *t = task_of(m, &def);
        outside o = {.p = p};
        ck_assert(tribo_ws_new(m, NULL, NULL, &o.ws, NULL) == TRIBO_OK);
        ck_assert(tribo_tape_new(o.ws, 1, 0, &o.tape) == TRIBO_OK);
        const ti_plant plant = {outside_step, outside_jac, &o};
        if (own) t->plant = &plant;
        ck_assert(tribo_trajopt_solve(t, 6, &end) >= 0 && end.iteration > 2);
        tribo_trajopt_trajectory(t, NULL, U[own]);
        tribo_tape_free(o.tape), tribo_ws_free(o.ws);
        tribo_trajopt_free(t);
    }
    for (int i = 0; i < WK * WM; i++) NEAR(U[1][i], U[0][i], 1e-9 * (1 + fabs(U[0][i])));
    tribo_model_free(m);
}
END_TEST

/* ---- stages ---- */

/* Under falling noise to the hard law: its cost is reported on the way, and is the cost in the end. */
START_TEST(stages) {
    tribo_model *m = model_of(WHEEL);
    tribo_term_def terms[8];
    tribo_law_options law[3];
    tribo_trajopt_progress p = {0};
    tribo_trajopt_def def = rolling(m, terms);
    for (int i = 0; i < 3; i++)
        law[i] = (tribo_law_options){
            .law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_LOGISTIC, .noise = 0.1 * pow(0.2, i)};
    def.stage = law, def.nstage = 3, def.method = (tribo_method)_i;
    tribo_trajopt *t = task_of(m, &def);
    int stage = 0, seen = 0;
    for (int i = 0; i < 3000 && !p.done; i++) {
        ck_assert(tribo_trajopt_iterate(t, &p) == TRIBO_OK);
        ck_assert(p.stage >= stage && p.stage <= 3 && isfinite(p.cost_hard));
        seen += p.stage > stage, stage = p.stage;
        if (i == 0) ck_assert(p.cost_hard != p.cost); /* noise is seen */
    }
    ck_assert(p.done && seen == 3 && stage == 3 && p.cost == p.cost_hard);
    double U[WK * WM], cost = p.cost;
    tribo_trajopt_trajectory(t, NULL, U);
    def.U = U, def.nstage = 0;
    ck_assert(cost_of(m, &def) == cost); /* the last law is the options' */
    tribo_trajopt_free(t), tribo_model_free(m);
}
END_TEST

/* Where no step improves, models are of a stage's law at the task's own motion: those of a task under that law which is
 * given the motion as a guess with gaps. And the own law's again once that gained. */
START_TEST(models_under_a_stage) {
    tribo_model *m = model_of(WHEEL);
    tribo_term_def terms[8];
    tribo_options o = tribo_default_options();
    const tribo_law_options noise = {.law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_LOGISTIC, .noise = 0.1};
    double X[(WK + 1) * 6], hard[36];
    bool turned;
    tribo_trajopt_def def = rolling(m, terms);
    def.substeps = 1, def.stage = &noise, def.nstage = 1, def.workers = 2;
    tribo_trajopt *t = task_of(m, &def);
    ck_assert(ti_stage_open(t, 1, NULL) >= 0 && tribo_trajopt_iterate(t, NULL) >= 0);
    tribo_trajopt_trajectory(t, X, NULL);
    ck_assert(ti_knots_linearise(t) >= 0);
    memcpy(hard, t->knot[0].A, sizeof hard);
    ck_assert(ti_lens_turn(t, &turned) >= 0 && turned && t->lens == 0 && ti_knots_linearise(t) >= 0);
    ck_assert(memcmp(hard, t->knot[0].A, sizeof hard) != 0);

    double U[WK * WM];
    tribo_trajopt_trajectory(t, NULL, U);
    o.law = noise;
    def.nstage = 0, def.options = &o, def.X = X, def.U = U;
    tribo_trajopt *other = task_of(m, &def);
    ck_assert(other->best.gap > 0 && ti_knots_linearise(other) >= 0);
    for (int k = 0; k < WK; k++) {
        const ti_knot *a = &t->knot[k], *b = &other->knot[k];
        for (int i = 0; i < 36; i++) ck_assert(fabs(a->A[i] - b->A[i]) < 1e-9 * (1 + fabs(b->A[i])));
        for (int i = 0; i < 6 * WM; i++) ck_assert(fabs(a->B[i] - b->B[i]) < 1e-9 * (1 + fabs(b->B[i])));
    }
    tribo_trajopt_free(other);

    ck_assert(ti_lens_turn(t, &turned) >= 0 && !turned); /* nothing gained, and no other */
    t->lens_cost += t->best.size;
    ck_assert(ti_lens_turn(t, &turned) >= 0 && turned && t->lens == 1 && ti_knots_linearise(t) >= 0);
    ck_assert(memcmp(hard, t->knot[0].A, sizeof hard) == 0);
    tribo_trajopt_free(t), tribo_model_free(m);
}
END_TEST

/* ---- feedback ---- */

/* What a start that is off by a centimetre costs more, with feedback or without: the sum over all numbers of a state.
 */
static double price_of_a_push(tribo_trajopt *t, bool steered) {
    double sum = 0;
    for (int i = 0; i < 6; i++) {
        double x[6], dx[6] = {0};
        dx[i] = 0.01;
        tribo_state_add(t->m, t->best.X, dx, x);
        ck_assert(ti_path_roll(t, (ti_roll){.U = steered ? NULL : t->best.U, .x0 = x}) == TRIBO_OK);
        sum += t->trial.cost - t->best.cost;
    }
    return sum;
}

/* A wheel that falls and rolls on: at the landing no step improves, however short, and there is feedback all the same,
 * by its own law as by that made soft, which lowers the cost. */
START_TEST(feedback_where_no_step_improves) {
    static const double com[3] = {0.1, 0, 0.1}, x0[6] = {0, 0.1, 0, 0.5, 0, 0};
    tribo_model *m = model_of(WHEEL);
    tribo_term_def terms[3] = {term_of(TRIBO_TERM_COM, 100), term_of(TRIBO_TERM_CONTROL, 1e-3),
                               term_of(TRIBO_TERM_ANGULAR_VELOCITY, 0.1)};
    tribo_trajopt_progress p;
    tribo_trajopt_def def = tribo_default_trajopt();
    terms[0].target = com, terms[1].last = -2, terms[2].body = 0;
    def.knots = WK, def.substeps = 3, def.term = terms, def.nterm = 3, def.method = TRIBO_METHOD_ILQR, def.x0 = x0;
    double cost[2];
    for (int soft = 0; soft < 2; soft++) {
        tribo_trajopt *t = task_of(m, &def);
        ck_assert_int_eq(t->nlens, 1);
        t->nlens = t->lens = soft;
        ck_assert(tribo_trajopt_solve(t, 1000, &p) == TRIBO_NOT_CONVERGED && p.done);
        ck_assert(soft || p.regularisation > 1e3);
        cost[soft] = p.cost;
        double with = price_of_a_push(t, true), without = price_of_a_push(t, false);
        ck_assert_msg(without > 0 && with < 0.3 * without, "%g with feedback, %g without", with, without);
        tribo_trajopt_free(t);
    }
    ck_assert(cost[1] < cost[0]);
    tribo_model_free(m);
}
END_TEST

/* Feedback is asked for in the middle of a search, and that goes on to the same bits. */
START_TEST(feedback_on_the_way) {
    tribo_model *m = model_of(WHEEL);
    tribo_term_def terms[8];
    double U[2][WK * WM], K[2][WM * 6];
    const tribo_law_options law = {.law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_LOGISTIC, .noise = 0.1};
    tribo_trajopt_def def = rolling(m, terms);
    def.method = (tribo_method)_i, def.stage = &law, def.nstage = 1;
    for (int asked = 0; asked < 2; asked++) {
        tribo_trajopt *t = task_of(m, &def);
        for (int k = 0; k < 30; k++) {
            ck_assert(tribo_trajopt_iterate(t, NULL) == TRIBO_OK);
            if (k == 5) ck_assert(tribo_trajopt_gain(t, 0, K[0]) == TRIBO_OK);
            if (asked) ck_assert(tribo_trajopt_settle(t) == TRIBO_OK);
            if (k == 5) ck_assert(tribo_trajopt_gain(t, 0, K[1]) == TRIBO_OK);
        }
        bool second = def.method <= TRIBO_METHOD_NEWTON;
        ck_assert((memcmp(K[0], K[1], sizeof K[0]) != 0) == (asked && second));
        tribo_trajopt_trajectory(t, NULL, U[asked]);
        tribo_trajopt_free(t);
    }
    ck_assert(memcmp(U[0], U[1], sizeof U[0]) == 0);
    tribo_model_free(m);
}
END_TEST

/* Where a search ended with models of the first stage's law, feedback is by those of the last's. */
START_TEST(feedback_under_a_stage) {
    tribo_model *m = model_of(WHEEL);
    tribo_term_def terms[8];
    tribo_law_options law[2];
    double first[WM * 6], last[WM * 6];
    bool turned;
    tribo_trajopt_def def = rolling(m, terms);
    for (int i = 0; i < 2; i++)
        law[i] = (tribo_law_options){
            .law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_LOGISTIC, .noise = i ? 0.02 : 0.3};
    def.stage = law, def.nstage = 2, def.method = TRIBO_METHOD_ILQR;
    tribo_trajopt *t = task_of(m, &def);
    ck_assert(ti_stage_open(t, 2, NULL) >= 0 && tribo_trajopt_iterate(t, NULL) >= 0);
    for (int i = 0; i < 2; i++) ck_assert(ti_lens_turn(t, &turned) >= 0 && turned);
    ck_assert(tribo_trajopt_settle(t) == TRIBO_OK && t->lens == 0);
    ck_assert(tribo_trajopt_gain(t, 3, first) == TRIBO_OK);
    t->progress.done = true;
    ck_assert(tribo_trajopt_settle(t) == TRIBO_OK && t->lens == 1);
    ck_assert(tribo_trajopt_gain(t, 3, last) == TRIBO_OK && memcmp(first, last, sizeof first) != 0);
    tribo_trajopt_free(t), tribo_model_free(m);
}
END_TEST

/* ---- begun again ---- */

static void same_search(tribo_trajopt *a, tribo_trajopt *b) {
    double U[WK * WM], V[WK * WM];
    tribo_trajopt_progress p, q;
    ck_assert(tribo_trajopt_solve(a, 12, &p) >= 0 && tribo_trajopt_solve(b, 12, &q) >= 0);
    tribo_trajopt_trajectory(a, NULL, U), tribo_trajopt_trajectory(b, NULL, V);
    ck_assert_msg(memcmp(U, V, sizeof U) == 0, "%.17g, not %.17g", p.cost, q.cost);
    ck_assert(memcmp(&p, &q, sizeof p) == 0 || (p.cost == q.cost && p.iteration == q.iteration));
}

/* After a shift, other controls, other targets: as a task that was made so, to the bit. */
START_TEST(again) {
    static const double com[3] = {0.2, 0, 0.1}, place = 0.3;
    tribo_model *m = model_of(WHEEL);
    tribo_term_def terms[9];
    double U[WK * WM], x0[6] = {0.01, 0, 0.2, 0.3, 0, 3};
    tribo_trajopt_def def = rolling(m, terms);
    terms[def.nterm] = term_of(TRIBO_TERM_JOINT, 1), terms[def.nterm].joint = 2, terms[def.nterm].first = -1;
    terms[def.nterm].norm = TRIBO_NORM_EQUAL, terms[def.nterm++].target = &place;
    tribo_trajopt *t = task_of(m, &def), *fresh;
    ck_assert(tribo_trajopt_solve(t, 7, NULL) >= 0);
    for (int turn = 0; turn < 3; turn++) {
        tribo_trajopt_trajectory(t, NULL, U);
        ck_assert(tribo_trajopt_set_target(t, 0, com) == TRIBO_OK);
        if (turn == 2) {
            for (int i = 0; i < WK * WM; i++) U[i] = 0.1 * (i % 4);
            ck_assert(tribo_trajopt_restart(t, x0, U) == TRIBO_OK);
        } else {
            const int by = turn ? WK : 2;
            ck_assert(tribo_trajopt_shift(t, WK + 1, x0) == TRIBO_E_ARG);
            for (int i = 0; i < WK * WM; i++) U[i] = U[i / WM + by < WK ? i + by * WM : (WK - 1) * WM + i % WM];
            ck_assert(tribo_trajopt_shift(t, by, x0) == TRIBO_OK);
            terms[0].target = com, def.x0 = x0, def.U = U;
            ck_assert(t->progress.cost <= cost_of(m, &def)); /* controls alone, or with feedback */
            tribo_trajopt_trajectory(t, NULL, U);
            ck_assert(tribo_trajopt_restart(t, x0, U) == TRIBO_OK);
        }
        terms[0].target = com, def.x0 = x0, def.U = U;
        fresh = task_of(m, &def);
        same_search(t, fresh);
        tribo_trajopt_free(fresh);
    }
    tribo_trajopt_free(t), tribo_model_free(m);
}
END_TEST

/* A limit that was pushed against and then is not, and one that a stage's law goes beyond: no force is left of it. */
START_TEST(limits_are_left_again) {
    static const char RAIL[] = "<mujoco><option timestep='0.1' gravity='0 0 0'/><worldbody><body name='a'>"
                               "<joint name='a' type='slide' axis='1 0 0'/><inertial mass='1' pos='0 0 0' "
                               "diaginertia='1 1 1'/></body></worldbody></mujoco>";
    static const double far = 1, near = 0.48, limit = 0.5, x0[2] = {0, 0};
    for (int method = TRIBO_METHOD_DDP; method <= TRIBO_METHOD_LBFGS; method++) {
        tribo_model *m = model_of(RAIL);
        tribo_term_def terms[3] = {term_of(TRIBO_TERM_JOINT, 1), term_of(TRIBO_TERM_JOINT, 5),
                                   term_of(TRIBO_TERM_CONTROL, 1e-4)};
        tribo_trajopt_def def = tribo_default_trajopt();
        double X[22], Y[22], U[10] = {0};
        for (int i = 0; i < 2; i++) terms[i].joint = 0, terms[i].first = terms[i].last = -1;
        terms[0].target = &far, terms[1].target = &limit, terms[1].norm = TRIBO_NORM_LIMIT;
        def.knots = 10, def.term = terms, def.nterm = 3, def.x0 = x0, def.method = (tribo_method)method;
        def.tol_constraint = 1e-4;
        tribo_trajopt *t = task_of(m, &def);
        ck_assert_int_eq(tribo_trajopt_solve(t, 500, NULL), TRIBO_OK);
        tribo_trajopt_trajectory(t, X, NULL);
        ck_assert_double_eq_tol(X[20], limit, 1e-3);
        ck_assert_int_eq(tribo_trajopt_set_target(t, 0, &near), TRIBO_OK);
        ck_assert_int_eq(tribo_trajopt_shift(t, 0, x0), TRIBO_OK);
        ck_assert_int_eq(tribo_trajopt_solve(t, 500, NULL), TRIBO_OK);
        tribo_trajopt_trajectory(t, X, NULL);
        ck_assert_int_eq(tribo_trajopt_restart(t, x0, U), TRIBO_OK);
        ck_assert_int_eq(tribo_trajopt_solve(t, 500, NULL), TRIBO_OK);
        tribo_trajopt_trajectory(t, Y, NULL);
        ck_assert_double_eq_tol(X[20], Y[20], 1e-4);
        tribo_trajopt_free(t), tribo_model_free(m);
    }
}
END_TEST

/* One bound, beyond the range that the actuator's own other one has. */
START_TEST(one_bound_beyond_the_range) {
    static const char DRIVEN[] =
        "<mujoco><worldbody><body name='a'><joint name='a' type='slide'/><inertial mass='1' pos='0 0 0' "
        "diaginertia='1 1 1'/></body></worldbody><actuator><motor joint='a' ctrllimited='true' ctrlrange='-1 1'/>"
        "</actuator></mujoco>";
    static const double above = 5, below = -5;
    tribo_model *m = model_of(DRIVEN);
    tribo_term_def term = term_of(TRIBO_TERM_CONTROL, 1);
    for (int side = 0; side < 2; side++) {
        tribo_trajopt_def def = tribo_default_trajopt();
        tribo_trajopt *t = NULL;
        tribo_diag d;
        def.knots = 3, def.term = &term, def.nterm = 1;
        if (side)
            def.upper = &below;
        else
            def.lower = &above;
        ck_assert_int_eq(tribo_trajopt_new(m, &def, &t, &d), TRIBO_E_ARG);
        ck_assert_msg(t == NULL && strstr(d.text, "hold nothing"), "%s", d.text);
    }
    tribo_model_free(m);
}
END_TEST

/* A target asked for between passes waits, and one that a failed beginning was given is not taken. */
START_TEST(targets_wait) {
    static const double com[3] = {0.2, 0, 0.1};
    tribo_model *m = model_of(WHEEL);
    tribo_term_def terms[8];
    double x0[6] = {0}, bad[6] = {0, 0, 0, HUGE_VAL};
    tribo_trajopt_def def = rolling(m, terms);
    tribo_trajopt *t = task_of(m, &def), *same = task_of(m, &def);
    volatile int stop = 0;
    t->stop = &stop;
    ck_assert(tribo_trajopt_set_target(t, 0, com) == TRIBO_OK);
    ck_assert(tribo_trajopt_shift(t, 1, bad) == TRIBO_E_NONFINITE);
    stop = 1;
    ck_assert(tribo_trajopt_shift(t, 1, x0) == TRIBO_INTERRUPTED);
    stop = 0;
    same_search(t, same);
    tribo_trajopt_free(t), tribo_trajopt_free(same), tribo_model_free(m);
}
END_TEST

/* ---- functions of the caller's, and interrupts ---- */

typedef struct watched {
    long calls, at;     /* the call that it happens at */
    volatile int *stop; /* raised */
    double answer;      /* of the residual; NaN and infinity with it */
    tribo_status status;
    bool derivative; /* in rx alone */
} watched;

static tribo_status watch(void *context, int knot, const double *x, const double *u, double *r, double *rx,
                          double *ru) {
    watched *w = context;
    bool now = __atomic_add_fetch(&w->calls, 1, __ATOMIC_RELAXED) == w->at;
    (void)knot, (void)u, (void)ru;
    r[0] = 0.2 * sin(x[0]);
    if (rx) rx[0] = 0.2 * cos(x[0]);
    if (now && w->stop) *w->stop = 1;
    if (now && !w->derivative) r[0] += w->answer;
    if (now && w->derivative && rx) rx[0] += w->answer;
    return now ? w->status : TRIBO_OK;
}

static tribo_trajopt_def watched_task(const tribo_model *m, tribo_term_def *terms, watched *w) {
    tribo_trajopt_def def = rolling(m, terms);
    terms[def.nterm] = term_of(TRIBO_TERM_CUSTOM, 1), terms[def.nterm].size = 1;
    terms[def.nterm].function = watch, terms[def.nterm++].context = w;
    return def;
}

/* Stopped wherever it may be, a search goes on to the same bits. */
START_TEST(interrupts) {
    tribo_model *m = model_of(WHEEL);
    tribo_term_def terms[9];
    volatile int stop = 0;
    double U[WK * WM], V[WK * WM];
    watched w = {0};
    tribo_trajopt_def def = watched_task(m, terms, &w);
    const tribo_law_options law = {.law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_LOGISTIC, .noise = 0.1};
    def.stop = &stop, def.method = (tribo_method)_i, def.stage = &law, def.nstage = 1;
    tribo_trajopt *t = task_of(m, &def);
    ck_assert(tribo_trajopt_solve(t, 25, NULL) >= 0);
    tribo_trajopt_trajectory(t, NULL, U);
    long calls = w.calls;
    tribo_trajopt_free(t);
    for (long at = 1; at < calls; at += 1 + calls / 25) {
        int stopped = 0, passes = 0;
        w = (watched){.at = at, .stop = &stop};
        t = task_of(m, &def);
        tribo_trajopt_progress p = {0};
        stopped += stop, stop = 0;
        while (passes < 25 && !p.done) {
            tribo_status s = tribo_trajopt_iterate(t, &p);
            ck_assert(s == TRIBO_OK || s == TRIBO_INTERRUPTED);
            if (s == TRIBO_INTERRUPTED) stopped++;
            passes += s == TRIBO_OK, stop = 0;
        }
        tribo_trajopt_trajectory(t, NULL, V);
        ck_assert_int_le(stopped, 1);
        if (_i != TRIBO_METHOD_LBFGS) /* whose memory is of a pass */
            ck_assert_msg(memcmp(U, V, sizeof U) == 0, "stopped at call %ld of %ld: another answer", at, calls);
        tribo_trajopt_free(t);
    }
    stop = 1; /* from the beginning */
    t = task_of(m, &def);
    ck_assert(tribo_trajopt_solve(t, 5, NULL) == TRIBO_INTERRUPTED);
    stop = 0;
    ck_assert(tribo_trajopt_solve(t, 25, NULL) >= 0);
    tribo_trajopt_trajectory(t, NULL, V);
    ck_assert(memcmp(U, V, sizeof U) == 0);
    tribo_trajopt_free(t), tribo_model_free(m);
}
END_TEST

/* A term that fails or is no number is not taken, and the best is finite; in a model it is an error of the pass. */
START_TEST(failing_terms) {
    const watched how[] = {{.status = TRIBO_E_ARG},
                           {.answer = NAN},
                           {.answer = HUGE_VAL},
                           {.answer = NAN, .derivative = true},
                           {.answer = -HUGE_VAL, .derivative = true}};
    tribo_model *m = model_of(WHEEL);
    tribo_term_def terms[9];
    watched w = {0};
    tribo_trajopt_def def = watched_task(m, terms, &w);
    for (int method = 0; method <= TRIBO_METHOD_LBFGS; method++)
        for (size_t i = 0; i < sizeof how / sizeof *how; i++)
            for (long at = 1; at < 160; at += 13) {
                tribo_trajopt *t = NULL;
                tribo_trajopt_progress p = {0};
                double U[WK * WM];
                w = how[i], w.at = at;
                def.method = (tribo_method)method;
                tribo_status s = tribo_trajopt_new(m, &def, &t, NULL);
                ck_assert(at > WK + 1 || how[i].derivative ? s == TRIBO_OK : s < 0 && !t);
                if (s < 0) continue;
                double cost = t->progress.cost;
                for (int k = 0; k < 6; k++) {
                    s = tribo_trajopt_iterate(t, &p);
                    ck_assert(s == TRIBO_OK || s == TRIBO_E_ARG || s == TRIBO_E_NONFINITE);
                    ck_assert(isfinite(p.cost) && p.cost <= cost), cost = p.cost;
                }
                tribo_trajopt_trajectory(t, NULL, U);
                for (int k = 0; k < WK * WM; k++) ck_assert(isfinite(U[k]));
                tribo_trajopt_free(t);
            }
    tribo_model_free(m);
}
END_TEST

/* ---- searches end ---- */

/* Costs of two of three controls, at a kink; those that come to 0, that are 0; constraints that cannot be met. */
START_TEST(searches_end) {
    static const double com[3] = {0.1, 0, 0.1}, far = -5, lower[WM] = {-20, -20, -20}, upper[WM] = {20, 20, 20};
    tribo_model *m = model_of(WHEEL);
    for (int method = 0; method <= TRIBO_METHOD_ILQR; method++)
        for (int kind = 0; kind < 4; kind++) {
            tribo_term_def terms[2];
            tribo_trajopt_progress p;
            tribo_trajopt_def def = tribo_default_trajopt();
            def.knots = WK, def.substeps = 3, def.term = terms, def.nterm = 1 + (kind == 2);
            def.method = (tribo_method)method, def.lower = lower, def.upper = upper;
            terms[0] = term_of(TRIBO_TERM_COM, 1), terms[0].target = com;
            if (kind == 1) terms[0].first = -1;
            terms[1] = term_of(TRIBO_TERM_JOINT, 1), terms[1].joint = 1, terms[1].target = &far;
            terms[1].norm = TRIBO_NORM_EQUAL, terms[1].first = -1;
            if (kind == 3) terms[0] = term_of(TRIBO_TERM_CONTROL, 1), terms[0].last = -2;
            tribo_trajopt *t = task_of(m, &def);
            tribo_status s = tribo_trajopt_solve(t, 2000, &p);
            ck_assert_msg(p.done, "kind %d, method %d: %d passes and no end: %g", kind, method, p.iteration, p.cost);
            ck_assert_msg(kind == 2 ? s == TRIBO_NOT_CONVERGED && p.violation > 4
                                    : kind == 0 || s == TRIBO_OK || p.cost < 1e-9,
                          "kind %d, method %d: %d, cost %g, gradient %g, violation %g", kind, method, s, p.cost,
                          p.gradient, p.violation);
            tribo_trajopt_free(t);
        }
    tribo_model_free(m);
}
END_TEST

/* ---- workers, memory ---- */

START_TEST(workers) {
    double first[WK * WM], other[WK * WM];
    const int number[] = {1, 2, 3, 8};
    tribo_model *m = model_of(WHEEL);
    tribo_term_def terms[8];
    tribo_trajopt_def def = rolling(m, terms);
    def.method = (tribo_method)_i;
    for (int i = 0; i < 4; i++) {
        def.workers = number[i];
        tribo_trajopt *t = task_of(m, &def);
        ck_assert(tribo_trajopt_solve(t, 15, NULL) >= 0);
        tribo_trajopt_trajectory(t, NULL, i ? other : first);
        if (i) ck_assert(memcmp(first, other, sizeof first) == 0);
        tribo_trajopt_free(t);
    }
    tribo_model_free(m);
}
END_TEST

START_TEST(no_allocation_in_a_pass) {
    tribo_model *m = model_of(WHEEL);
    tribo_term_def terms[8];
    tribo_trajopt_def def = rolling(m, terms);
    def.method = (tribo_method)_i;
    tribo_trajopt *t = task_of(m, &def);
    ck_assert(tribo_trajopt_iterate(t, NULL) == TRIBO_OK);
    mallocs = 0;
    for (int i = 0; i < 20; i++) ck_assert(tribo_trajopt_iterate(t, NULL) == TRIBO_OK);
    double x0[6] = {0};
    ck_assert(tribo_trajopt_shift(t, 1, x0) == TRIBO_OK);
    ck_assert_msg(!COUNTS_MALLOC || mallocs == 0, "%d allocations", mallocs);
    tribo_trajopt_free(t), tribo_model_free(m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("trajopt_more");
    TCase *c = tcase_create("long"), *few = tcase_create("short");
    tcase_set_timeout(c, 0);
    tcase_add_test(few, along_parameters);
    tcase_add_loop_test(few, through_contact, 0, 3);
    tcase_add_loop_test(few, functions_are_terms, 0, 4);
    tcase_add_test(few, steps_from_outside);
    tcase_add_test(few, feedback_where_no_step_improves);
    tcase_add_loop_test(few, feedback_on_the_way, 0, 4);
    tcase_add_test(few, feedback_under_a_stage);
    tcase_add_test(few, again);
    tcase_add_test(few, limits_are_left_again);
    tcase_add_test(few, one_bound_beyond_the_range);
    tcase_add_test(few, targets_wait);
    tcase_add_test(few, searches_end);
    tcase_add_loop_test(few, workers, 0, 5);
    tcase_add_loop_test(few, no_allocation_in_a_pass, 0, 3);
    tcase_add_test(c, by_parameters);
    tcase_add_loop_test(c, stages, 0, 2);
    tcase_add_test(c, models_under_a_stage);
    tcase_add_loop_test(c, interrupts, 0, 5);
    tcase_add_test(c, failing_terms);
    suite_add_tcase(s, few), suite_add_tcase(s, c);
    return s;
}
