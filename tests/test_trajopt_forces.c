/* test_trajopt_forces.c -- contact forces as terms: gradients by the Jacobians, by the reverse and by differences under
 * every law, with bounces, by p and x0; tasks that press. */
#include "test_main.h"
#include "trajopt/task.h"
#include "trajopt_tasks.h"
#include <stdio.h>

/* A box on a floor, and one upon it, both pushed; a third hangs from a hinge against the upper one. */
static const char STACK[] =
    "<mujoco><compiler angle='radian'/><option timestep='0.01'/><worldbody>"
    "<geom name='floor' type='plane' size='0 0 1' friction='0.3'/>"
    "<body name='low' pos='0 0 0.1'><freejoint/><geom name='low' type='box' size='0.2 0.2 0.1' mass='1' "
    "friction='0.3'/></body>"
    "<body name='top' pos='0.03 0.02 0.3'><freejoint/><geom name='top' type='box' size='0.15 0.15 0.1' mass='0.5' "
    "friction='0.4'/></body>"
    "<body name='door' pos='0.27 0 0.8'><joint name='door' axis='0 1 0' damping='0.1'/>"
    "<geom name='door' type='sphere' size='0.08' pos='0 0 -0.5' mass='0.4' friction='0.2'/></body>"
    "</worldbody></mujoco>";

enum { KNOTS = 6, NC = 4 };

typedef struct press {
    tribo_model *m;
    tribo_trajopt_def def;
    tribo_options options;
    tribo_term_def term[5];
    int control[NC];
    double U[KNOTS * NC];
} press;

static tribo_term_def force_on(const tribo_model *m, const char *body, double weight) {
    tribo_term_def t = tribo_default_term();
    t.kind = TRIBO_TERM_CONTACT_FORCE, t.weight = weight, t.body = tribo_model_body_find(m, body);
    return t;
}

static void begin(press *a, const tribo_law_options *law) {
    static const double up[3] = {0, 0, 10}, push[3] = {-1, 0.3, 4};
    a->m = model_of(STACK);
    a->def = tribo_default_trajopt(), a->options = tribo_default_options();
    if (law) a->options.law = *law;
    a->options.tol = 1e-13;
    a->term[0] = force_on(a->m, "low", 0.01), a->term[0].target = up;
    a->term[1] = force_on(a->m, "top", 0.02), a->term[1].target = push, a->term[1].norm = TRIBO_NORM_LOG_COSH;
    a->term[2] = force_on(a->m, "top", 0.3), a->term[2].body2 = tribo_model_body_find(a->m, "door");
    a->term[2].first = 1, a->term[2].last = -1; /* ends before the last state */
    a->term[3] = force_on(a->m, "door", 0.2), a->term[3].norm = TRIBO_NORM_SMOOTH_ABS, a->term[3].scale = 0.5;
    a->term[4] = tribo_default_term(), a->term[4].kind = TRIBO_TERM_MOMENTUM, a->term[4].last = -1;
    const int control[NC] = {0, 1, 6, 12}; /* low x, low y, top x, the door */
    memcpy(a->control, control, sizeof control);
    for (int k = 0; k < KNOTS; k++) {
        const double u[NC] = {5 + 0.2 * k, 1.5, 2, 1.2 + 0.1 * k};
        memcpy(a->U + NC * k, u, sizeof u);
    }
    a->def.knots = KNOTS, a->def.substeps = 2, a->def.term = a->term, a->def.nterm = 5;
    a->def.control = a->control, a->def.ncontrol = NC, a->def.U = a->U, a->def.options = &a->options;
}

static double cost_of(const press *a) {
    tribo_trajopt *t = task_of(a->m, &a->def);
    double cost = t->progress.cost;
    tribo_trajopt_free(t);
    return cost;
}

/* Of one number that the task is made of; NaN where that is a kink: differences of two lengths disagree. */
static double slope_by(const press *a, double *number, double h) {
    double was = *number, slope[2];
    for (int k = 0; k < 2; k++) {
        double step = k ? h / 2 : h;
        *number = was + step;
        double up = cost_of(a);
        *number = was - step;
        slope[k] = (up - cost_of(a)) / (2 * step);
    }
    *number = was;
    double exact = (4 * slope[1] - slope[0]) / 3;
    return fabs(slope[1] - slope[0]) < 1e-4 * (1 + fabs(exact)) ? exact : (double)NAN;
}

static void compare(const char *what, double exact, double slope, int *compared) {
    if (isnan(slope)) return;
    ck_assert_msg(fabs(exact - slope) < 1e-6 * (1 + fabs(slope)), "%s: %.9g, not %.9g", what, exact, slope);
    (*compared)++;
}

/* dJ/dU by the Jacobians, by the reverse, by differences. */
static void check_controls(const press *a, const char *name, double tol) {
    double models[KNOTS * NC], reverse[KNOTS * NC];
    int compared = 0;
    press b = *a;
    b.def.U = b.U;
    tribo_trajopt *t = task_of(a->m, &a->def);
    ck_assert_int_eq(t->nforce, 4);
    ck_assert(ti_path_reverse(t, &t->best, reverse, NULL, NULL) >= 0);
    ck_assert(ti_knots_linearise(t) >= 0);
    ti_models_gradient(t, models);
    for (int i = 0; i < KNOTS * NC; i++) {
        ck_assert_msg(fabs(models[i] - reverse[i]) < tol * (1 + fabs(reverse[i])), "%s %d: %.12g, reverse %.12g", name,
                      i, models[i], reverse[i]);
        compare(name, reverse[i], slope_by(&b, &b.U[i], 1e-4), &compared);
    }
    printf("%s: %d of %d numbers compared\n", name, compared, KNOTS * NC);
    ck_assert_int_gt(compared, KNOTS * NC / 2);
    tribo_trajopt_free(t);
}

static const struct {
    const char *name;
    double
        tol; /* between reverse and Jacobians: corners are redundant, and where they slide under CCP nearly singular */
    tribo_law_options law;
} laws[] = {
    {"ncp", 1e-12, {.law = TRIBO_LAW_NCP}},
    {"ccp", 1e-7, {.law = TRIBO_LAW_CCP}},
    {"lcp", 1e-10, {.law = TRIBO_LAW_LCP}},
    {"raisim", 1e-12, {.law = TRIBO_LAW_RAISIM}},
    {"stochastic", 1e-12, {.law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_LOGISTIC, .noise = 0.1}},
};

START_TEST(controls) {
    press a;
    begin(&a, &laws[_i].law);
    check_controls(&a, laws[_i].name, laws[_i].tol);
    tribo_model_free(a.m);
}
END_TEST

/* By p and x0, and by the public reverse of a tape: the same numbers. */
START_TEST(parameters) {
    static const char *const names[] = {"top/mass", "low/friction", "gravity/z", "door/friction", "door/com/z"};
    press a;
    begin(&a, NULL);
    tribo_sizes z = tribo_model_sizes(a.m);
    double *p = calloc((size_t)z.np, sizeof *p), *p_bar = calloc((size_t)z.np, sizeof *p_bar);
    double x0[32], x0_bar[32] = {0};
    int compared = 0;
    ck_assert_int_le(z.nx, 32);
    tribo_model_params(a.m, p), tribo_model_state0(a.m, x0);
    a.def.p = p, a.def.x0 = x0;
    tribo_trajopt *t = task_of(a.m, &a.def);
    ck_assert(tribo_trajopt_gradient(t, x0_bar, p_bar) >= 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int at = tribo_param_find(a.m, names[i]);
        if (at >= 0) compare(names[i], p_bar[at], slope_by(&a, &p[at], 1e-5), &compared);
    }
    for (int i = 0; i < z.nv; i++) compare("x0", x0_bar[z.nv + i], slope_by(&a, &x0[z.nq + i], 1e-4), &compared);
    ck_assert_int_gt(compared, 8);
    tribo_trajopt_free(t), tribo_model_free(a.m), free(p), free(p_bar);
}
END_TEST

/* A ball that bounces: the force of the knot it bounces in, by its speed and its restitution. */
START_TEST(bounce) {
    press a = {.def = tribo_default_trajopt()};
    double p[200], p_bar[200] = {0}, x0[13], x0_bar[12] = {0};
    int compared = 0;
    a.m = model_of("<mujoco><option timestep='0.01'/><worldbody><geom name='floor' type='plane' size='0 0 1'/>"
                   "<body name='ball' pos='0 0 0.13'><freejoint/><geom name='ball' type='sphere' size='0.1' mass='1' "
                   "friction='0.4'/></body></worldbody></mujoco>");
    ck_assert_int_le(tribo_model_sizes(a.m).np, 200);
    tribo_model_params(a.m, p), tribo_model_state0(a.m, x0);
    int e = tribo_param_find(a.m, "floor/restitution"), mass = tribo_param_find(a.m, "ball/mass");
    p[e] = p[tribo_param_find(a.m, "ball/restitution")] = 0.6, x0[7] = 1, x0[9] = -2;
    a.term[0] = force_on(a.m, "ball", 0.01);
    a.def.knots = 4, a.def.term = a.term, a.def.nterm = 1, a.def.p = p, a.def.x0 = x0;
    tribo_trajopt *t = task_of(a.m, &a.def);
    ck_assert(t->best.plain > 1); /* some 300 N, for a knot */
    ck_assert(tribo_trajopt_gradient(t, x0_bar, p_bar) >= 0);
    compare("restitution", p_bar[e], slope_by(&a, &p[e], 1e-5), &compared);
    compare("mass", p_bar[mass], slope_by(&a, &p[mass], 1e-5), &compared);
    for (int i = 0; i < 6; i++) compare("x0", x0_bar[6 + i], slope_by(&a, &x0[7 + i], 1e-5), &compared);
    ck_assert_int_ge(compared, 5);
    tribo_trajopt_free(t), tribo_model_free(a.m);
}
END_TEST

/* A door that is to press with 3 N against a wall, and is held to 2 N by a constraint. */
START_TEST(pressing) {
    static const double three[3] = {-3, 0, 0}, two[3] = {-2, 0, 0}, x_alone[3] = {1, 0, 0}; /* the wall's, on it */
    tribo_model *m =
        model_of("<mujoco><option timestep='0.01'/><worldbody><geom type='plane' pos='1 0 0' zaxis='-1 0 0' "
                 "size='0 0 1'/><body name='block' pos='0.9 0 0'><joint name='rail' type='slide' axis='1 0 0'/>"
                 "<geom type='sphere' size='0.1' mass='1'/></body></worldbody></mujoco>");
    for (int method = TRIBO_METHOD_DDP; method <= TRIBO_METHOD_LBFGS; method++)
        for (int held = 0; held < 2; held++) {
            tribo_trajopt_def def = tribo_default_trajopt();
            tribo_term_def term[3] = {force_on(m, "block", 1), tribo_default_term(), force_on(m, "block", 1)};
            double U[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, force[3];
            tribo_trajopt_progress end;
            const double away = held ? 2 : 3;
            term[0].target = three, term[0].weights = x_alone;
            term[1].kind = TRIBO_TERM_CONTROL, term[1].weight = 1e-8;
            term[2].target = two, term[2].weights = x_alone, term[2].norm = TRIBO_NORM_LEAST;
            def.knots = 10, def.term = term, def.nterm = 2 + held, def.U = U, def.method = (tribo_method)method;
            tribo_trajopt *t = task_of(m, &def);
            ck_assert(tribo_trajopt_solve(t, 300, &end) >= 0);
            memcpy(force, ti_forces_at(t, &t->best, 5), sizeof force);
            tribo_trajopt_trajectory(t, NULL, U);
            printf("method %d%s: the wall pushes with %.6g N in %d passes\n", method, held ? ", held" : "", force[0],
                   end.iteration);
            ck_assert(fabs(force[0] + away) < 1e-4 && fabs(U[5] - away) < 1e-4);
            tribo_trajopt_free(t);
        }
    tribo_model_free(m);
}
END_TEST

/* What is not possible is said. */
START_TEST(misuse) {
    tribo_model *m = model_of(STACK);
    tribo_trajopt_def def = tribo_default_trajopt();
    tribo_term_def term = force_on(m, "low", 1);
    tribo_trajopt *t = NULL;
    tribo_diag d = {0};
    def.knots = 3, def.term = &term, def.nterm = 1;
    term.body = -1;
    ck_assert_int_eq(tribo_trajopt_new(m, &def, &t, &d), TRIBO_E_ARG);
    ck_assert_msg(strstr(d.text, "it needs a body"), "%s", d.text);
    term.body = 7;
    ck_assert_int_eq(tribo_trajopt_new(m, &def, &t, &d), TRIBO_E_ARG);
    ck_assert_msg(strstr(d.text, "no such body"), "%s", d.text);
    term.body = 0, term.body2 = 9;
    ck_assert_int_eq(tribo_trajopt_new(m, &def, &t, &d), TRIBO_E_ARG);
    ck_assert_msg(strstr(d.text, "no such body"), "%s", d.text);
    term.body2 = 0;
    ck_assert_int_eq(tribo_trajopt_new(m, &def, &t, &d), TRIBO_E_ARG);
    ck_assert_msg(strstr(d.text, "does not push itself"), "%s", d.text);
    term.body2 = -1, term.site = 0;
    ck_assert_int_eq(tribo_trajopt_new(m, &def, &t, &d), TRIBO_E_ARG);
    ck_assert_msg(strstr(d.text, "of bodies, not of a site"), "%s", d.text);
    ck_assert_ptr_null(t);
    tribo_model_free(m);
}
END_TEST

/* The gradient of the optimal cost by p, between passes and before feedback, alters neither. */
START_TEST(gradients_alter_nothing) {
    double U[2][KNOTS * NC], K[2][NC * 32], p_bar[400];
    for (int asked = 0; asked < 2; asked++) {
        press a;
        begin(&a, NULL);
        tribo_trajopt *t;
        ck_assert(tribo_model_sizes(a.m).np <= 400 && tribo_model_sizes(a.m).ndx <= 32);
        ck_assert_int_eq(tribo_trajopt_new(a.m, &a.def, &t, NULL), TRIBO_OK);
        for (int i = 0; i < 4; i++) {
            ck_assert(tribo_trajopt_iterate(t, NULL) >= 0);
            if (asked) ck_assert(tribo_trajopt_gradient(t, NULL, p_bar) >= 0);
        }
        ck_assert(tribo_trajopt_settle(t) >= 0);
        if (asked) ck_assert(tribo_trajopt_gradient(t, NULL, p_bar) >= 0 && tribo_trajopt_settle(t) >= 0);
        tribo_trajopt_trajectory(t, NULL, U[asked]);
        ck_assert_int_eq(tribo_trajopt_gain(t, 2, K[asked]), TRIBO_OK);
        size_t n = NC * (size_t)tribo_model_sizes(a.m).ndx;
        if (asked) ck_assert(memcmp(U[0], U[1], sizeof U[0]) == 0 && memcmp(K[0], K[1], n * sizeof *K[0]) == 0);
        tribo_trajopt_free(t), tribo_model_free(a.m);
    }
}
END_TEST

/* The tape's contacts are the last step's, in their order; cotangents of the wrong kind are refused. */
START_TEST(taped) {
    press a;
    begin(&a, NULL);
    tribo_sizes z = tribo_model_sizes(a.m);
    tribo_options o = tribo_default_options();
    tribo_ws *ws;
    tribo_tape *tape;
    double p[400], x[32], u[32] = {0}, lx[3 * 32] = {0}, x_bar[32] = {0}, again[32] = {0}, impulse[6 * 64] = {0};
    tribo_contact kept[64];
    ck_assert(z.np <= 400 && z.nx <= 32);
    ck_assert_int_eq(tribo_ws_new(a.m, &o, NULL, &ws, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_tape_new(ws, 2, 0, &tape), TRIBO_OK);
    tribo_model_params(a.m, p), tribo_model_state0(a.m, x);
    u[0] = 5, u[12] = 1;
    int at = 0, n = 0;
    for (int k = 0; k < 2; k++) {
        ck_assert(tribo_step(ws, p, x, u, x, tape) >= 0);
        const tribo_contact *last = tribo_last_contacts(ws, &n);
        ck_assert(n > 4 && n <= 64);
        ck_assert_int_eq(tribo_tape_contacts(tape, k, kept), n);
        for (int i = 0; i < n; i++) {
            ck_assert(kept[i].geom_a == last[i].geom_a && kept[i].geom_b == last[i].geom_b);
            ck_assert(memcmp(kept[i].impulse, last[i].impulse, sizeof kept[i].impulse) == 0);
            ck_assert(kept[i].mode == last[i].mode && kept[i].bounced == last[i].bounced);
        }
        for (int i = 0; k == 1 && i < 3 * n; i++) impulse[at + i] = 0.1 * i;
        at += 3 * n;
    }
    ck_assert_int_eq(tribo_tape_contacts(tape, 2, NULL), 0);
    ck_assert_int_eq(tribo_tape_contacts(NULL, 0, NULL), 0);
    /* the sweep is the records one by one, and none is the plain sweep */
    double between[32] = {0};
    const double *second = impulse + (at - 3 * n);
    ck_assert(tribo_backward_impulses(ws, tape, lx, impulse, x_bar, NULL, NULL) >= 0);
    ck_assert(tribo_step_impulses_vjp(ws, tape, 1, lx, second, between, NULL, NULL) >= 0);
    ck_assert(tribo_step_impulses_vjp(ws, tape, 0, between, impulse, again, NULL, NULL) >= 0);
    ck_assert(memcmp(x_bar, again, sizeof x_bar) == 0);
    ck_assert(fabs(x_bar[0]) + fabs(x_bar[2]) > 1e-6);
    impulse[0] = (double)NAN;
    ck_assert_int_eq(tribo_backward_impulses(ws, tape, lx, impulse, x_bar, NULL, NULL), TRIBO_E_NONFINITE);
    ck_assert_int_eq(tribo_step_impulses_vjp(ws, tape, 0, lx, impulse, x_bar, NULL, NULL), TRIBO_E_NONFINITE);
    ck_assert(memcmp(x_bar, again, sizeof x_bar) == 0);
    tribo_tape_free(tape), tribo_ws_free(ws), tribo_model_free(a.m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("trajopt, contact forces");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, controls, 0, sizeof laws / sizeof *laws);
    tcase_add_test(t, parameters);
    tcase_add_test(t, bounce);
    tcase_add_test(t, pressing);
    tcase_add_test(t, misuse);
    tcase_add_test(t, taped);
    tcase_add_test(t, gradients_alter_nothing);
    suite_add_tcase(s, t);
    return s;
}
