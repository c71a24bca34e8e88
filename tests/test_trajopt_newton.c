/* test_trajopt_newton.c -- searches with the dynamics' second derivatives: against differences of Jacobians, how long
 * they are kept, interrupted among them, and in how many passes plans of a finger end that move on. */
#include "test_main.h"
#include "trajopt/task.h"
#include "trajopt_tasks.h"
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

enum { KNOTS = 40, NC = 2, NX = 6, W = NX + NC };

typedef struct finger {
    tribo_model *m;
    tribo_term_def term[2];
    tribo_options o;
    tribo_trajopt_def def;
    double U[KNOTS * NC];
} finger;

/* The finger of examples/trajopt: it turns an ellipse as far as it can. */
static void finger_open(finger *f, const double *x) {
    char path[1000];
    const char *scenes = getenv("TRIBO_SCENES");
    *f = (finger){.term = {tribo_default_term(), tribo_default_term()}, .o = tribo_default_options()};
    snprintf(path, sizeof path, "%s/finger.xml", scenes ? scenes : "data/scenes");
    ck_assert_int_eq(tribo_model_load(path, NULL, &f->m, NULL), TRIBO_OK);
    f->term[0].kind = TRIBO_TERM_JOINT, f->term[0].joint = tribo_model_joint_find(f->m, "pin");
    f->term[0].norm = TRIBO_NORM_LINEAR, f->term[0].weight = -1, f->term[0].last = -1;
    f->term[1].kind = TRIBO_TERM_CONTROL, f->term[1].weight = 0.1;
    f->o.dt = 0.05;
    f->o.law = (tribo_law_options){.law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_LOGISTIC, .noise = 0.1};
    f->def = tribo_default_trajopt();
    f->def.knots = KNOTS, f->def.term = f->term, f->def.nterm = 2, f->def.x0 = x, f->def.options = &f->o;
    f->def.tol = 1e-5, f->def.method = TRIBO_METHOD_NEWTON, f->def.U = f->U;
}

static const double start[NX] = {-3, 0, 0.3};

/* [A B]' lambda of a knot's steps from z. */
static void slope_at(const finger *f, tribo_ws *ws, tribo_tape *tape, const double *z, const double *lambda,
                     double *slope) {
    double x[NX], u[NX / 2 + NC] = {0}, A[NX * NX], B[NX * (NX / 2 + NC)], bar[NX], next[NX];
    memcpy(x, z, sizeof x), memcpy(u + NX / 2, z + NX, NC * sizeof *u), memcpy(bar, lambda, sizeof bar);
    memset(slope, 0, W * sizeof *slope);
    tribo_tape_rewind(tape);
    double p[500];
    tribo_model_params(f->m, p);
    for (int i = 0; i < f->def.substeps; i++) ck_assert(tribo_step(ws, p, x, u, x, tape) >= 0);
    for (int i = f->def.substeps; i-- > 0;) {
        ck_assert_int_eq(tribo_step_jac(ws, tape, i, A, B, NULL), TRIBO_OK);
        memset(next, 0, sizeof next);
        for (int r = 0; r < NX; r++) {
            for (int j = 0; j < NX; j++) next[j] += bar[r] * A[r * NX + j];
            for (int j = 0; j < NC; j++) slope[NX + j] += bar[r] * B[r * (NX / 2 + NC) + NX / 2 + j];
        }
        memcpy(bar, next, sizeof bar);
    }
    memcpy(slope, bar, sizeof bar);
}

/* What a pass finds is the symmetric part of the derivative of [A B]' lambda, contact or not, of one step or two. */
START_TEST(second_derivatives) {
    finger f;
    tribo_ws *ws;
    tribo_tape *tape;
    double worst = 0, largest = 0;
    finger_open(&f, start);
    f.def.substeps = 1 + _i, f.o.dt /= 1 + _i, f.o.tol = 1e-12;
    for (int k = 0; k < KNOTS * NC; k++) f.U[k] = k % 2 ? -0.5 : 2 * sin(0.1 * k); /* it swings against the ellipse */
    tribo_trajopt *t = task_of(f.m, &f.def);
    ck_assert_int_eq(tribo_trajopt_iterate(t, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_ws_new(f.m, &f.o, NULL, &ws, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_tape_new(ws, 2, 0, &tape), TRIBO_OK);
    for (int k = 0; k < KNOTS; k++) {
        const ti_knot *knot = &t->knot[k];
        double d[W * W], size = 0, off = 0, from[W], to[W], z[W];
        for (int j = 0; j < W; j++) {
            double step = 1e-5 * (j < NX ? 1 : 1 + fabs(knot->z0[j]));
            memcpy(z, knot->z0, sizeof z);
            slope_at(&f, ws, tape, z, knot->lambda0, from);
            z[j] += step, slope_at(&f, ws, tape, z, knot->lambda0, to);
            for (int i = 0; i < W; i++) d[j * W + i] = (to[i] - from[i]) / step;
        }
        for (int i = 0; i < W; i++)
            for (int j = 0; j < W; j++) {
                double both = (d[i * W + j] + d[j * W + i]) / 2;
                size = fmax(size, fabs(both)), off = fmax(off, fabs(both - knot->whole[i * W + j]));
            }
        worst = fmax(worst, off / (size + 1e-2)), largest = fmax(largest, size);
        ck_assert(knot->known);
    }
    ck_assert_msg(worst < 1e-4 && largest > 10, "off by %g, largest %g", worst, largest);
    tribo_tape_free(tape), tribo_ws_free(ws);
    tribo_trajopt_free(t), tribo_model_free(f.m);
}
END_TEST

/* As long as they hold they stay, also where the horizon moves on; other controls or laws make an end of them. */
START_TEST(kept_while_they_hold) {
    finger f;
    static double X[(KNOTS + 1) * NX], U[KNOTS * NC], whole[KNOTS][W * W];
    int kept = 0, longer = 0;
    finger_open(&f, start);
    tribo_trajopt *t = task_of(f.m, &f.def);
    ck_assert_int_eq(tribo_trajopt_solve(t, 100, NULL), TRIBO_OK);
    tribo_trajopt_trajectory(t, X, U);
    for (int k = 0; k < KNOTS; k++) memcpy(whole[k], t->knot[k].whole, sizeof whole[k]);
    ck_assert_int_eq(tribo_trajopt_shift(t, 3, X + 3 * NX), TRIBO_OK);
    for (int k = 0; k < KNOTS; k++) ck_assert_int_eq(t->knot[k].known, k + 3 < KNOTS);
    ck_assert_int_eq(tribo_trajopt_iterate(t, NULL), TRIBO_OK);
    for (int k = 0; k + 3 < KNOTS; k++) {
        bool same = memcmp(t->knot[k].whole, whole[k + 3], sizeof whole[k]) == 0;
        kept += same, longer += same && t->knot[k].times > 1.05; /* three knots more are to be turned in */
    }
    ck_assert_int_ge(kept, 4);
    ck_assert_int_ge(longer, 1);
    ck_assert_int_eq(tribo_trajopt_restart(t, start, U), TRIBO_OK);
    for (int k = 0; k < KNOTS; k++) ck_assert(!t->knot[k].known);
    tribo_trajopt_free(t), tribo_model_free(f.m);
}
END_TEST

/* ---- interrupts ---- */

static volatile int stop;

static void raise_stop(int signal) {
    (void)signal;
    stop = 1;
}

/* By the clock, so that it comes wherever a pass is, as among the second derivatives; the search goes on to the same
 * bits. A pass that is stopped again and again gets more time, as where a sanitizer slows it down. */
START_TEST(stopped_by_the_clock) {
    finger f;
    static double U[KNOTS * NC], V[KNOTS * NC];
    int stopped = 0, again = 0;
    finger_open(&f, start);
    f.def.stop = &stop, f.def.workers = 1 + _i;
    stop = 0;
    tribo_trajopt *t = task_of(f.m, &f.def);
    ck_assert_int_eq(tribo_trajopt_solve(t, 100, NULL), TRIBO_OK);
    tribo_trajopt_trajectory(t, NULL, U);
    tribo_trajopt_free(t);
    t = task_of(f.m, &f.def);
    tribo_trajopt_progress p = {0};
    const struct sigaction rings = {.sa_handler = raise_stop};
    sigaction(SIGALRM, &rings, NULL);
    for (int k = 0; k < 100000 && !p.done; k++) {
        double cost = p.cost;
        const int patience = again / 24 < 5 ? again / 24 : 5;
        const struct itimerval soon = {.it_value.tv_usec = (100 + 1700 * k % 20000) << patience},
                               never = {.it_value.tv_usec = 0};
        setitimer(ITIMER_REAL, &soon, NULL);
        tribo_status s = tribo_trajopt_iterate(t, &p);
        setitimer(ITIMER_REAL, &never, NULL);
        ck_assert(s == TRIBO_OK || s == TRIBO_INTERRUPTED);
        ck_assert(k == 0 || p.cost <= cost);
        stopped += s == TRIBO_INTERRUPTED, stop = 0;
        again = s == TRIBO_INTERRUPTED ? again + 1 : 0;
    }
    tribo_trajopt_trajectory(t, NULL, V);
    ck_assert(p.converged && stopped > 0 && memcmp(U, V, sizeof U) == 0);
    tribo_trajopt_free(t), tribo_model_free(f.m);
}
END_TEST

/* ---- plans that move on ---- */

/* Plans of 2 s after every fourth knot, made better until they are stationary. */
START_TEST(few_passes_when_warm) {
    finger f;
    tribo_ws *act;
    double x[NX], u[NX / 2 + NC], p[500];
    int passes = 0, plans = 10;
    memcpy(x, start, sizeof x);
    finger_open(&f, start);
    tribo_model_params(f.m, p);
    tribo_trajopt *t = task_of(f.m, &f.def);
    ck_assert_int_eq(tribo_trajopt_solve(t, 100, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_ws_new(f.m, &f.o, NULL, &act, NULL), TRIBO_OK);
    for (int i = 0; i < plans; i++) {
        tribo_trajopt_progress end;
        for (int k = 0; k < 4; k++) {
            ck_assert_int_eq(tribo_trajopt_feedback(t, k, x, u), TRIBO_OK);
            ck_assert(tribo_step(act, p, x, u, x, NULL) >= 0);
        }
        ck_assert_int_eq(tribo_trajopt_shift(t, 4, x), TRIBO_OK);
        ck_assert(tribo_trajopt_solve(t, 60, &end) >= 0);
        passes += end.iteration;
    }
    ck_assert_msg(passes <= 8 * plans, "%d passes of %d plans", passes, plans);
    tribo_ws_free(act), tribo_trajopt_free(t), tribo_model_free(f.m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("trajopt newton");
    TCase *c = tcase_create("all");
    TCase *many = tagged_case(s, "many", "many");
    tcase_set_timeout(c, 0);
    tcase_add_loop_test(c, second_derivatives, 0, 2);
    tcase_add_test(c, kept_while_they_hold);
    tcase_add_loop_test(many, stopped_by_the_clock, 0, 2);
    tcase_add_test(c, few_passes_when_warm);
    suite_add_tcase(s, c);
    return s;
}
