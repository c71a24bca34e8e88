/* test_threads.c -- small fits, searches and rollouts by several threads: the bits of one. Short enough to be run under
 * helgrind and drd too, which see what two threads touch without a lock between. */
#include "test_main.h"
#include "trajopt_tasks.h"
#include <pthread.h>

enum { THREADS = 3, RECORDINGS = 3, ROWS = 10, NX = 13, FREE = 2, KNOTS = 8, STEPS = 30 };

static const char *slide_xml =
    "<mujoco><option timestep='0.005'/><custom><numeric name='floor/restitution' data='0.4'/></custom><worldbody>"
    "<geom name='floor' type='plane' size='0 0 1' priority='1' friction='0.25'/>"
    "<body name='cube' pos='0 0 0.12'><freejoint/><geom name='cube' type='box' size='0.1 0.1 0.1' mass='1'/></body>"
    "</worldbody></mujoco>";

/* ---- identification ---- */

typedef struct data {
    tribo_model *m;
    double time[ROWS], x[RECORDINGS][ROWS * NX];
} data;

/* Cubes that are dropped with some speed: poses alone. */
static void record(data *d) {
    tribo_ws *ws = NULL;
    d->m = model_of(slide_xml);
    ck_assert_int_eq(tribo_ws_new(d->m, NULL, NULL, &ws, NULL), TRIBO_OK);
    double *p = calloc((size_t)tribo_model_sizes(d->m).np, sizeof *p), x[NX];
    tribo_model_params(d->m, p);
    for (int i = 0; i < RECORDINGS; i++) {
        tribo_model_state0(d->m, x);
        x[7] = 1 + 0.3 * i, x[8] = 0.2 * i;
        for (int k = 0; k < ROWS; k++) {
            d->time[k] = 0.02 * k;
            for (int j = 0; j < NX; j++) d->x[i][k * NX + j] = j < 7 ? x[j] + 1e-4 * ((7 * k + j) % 5) : (double)NAN;
            for (int j = 0; j < 4; j++) ck_assert_int_ge(tribo_step(ws, p, x, NULL, x, NULL), 0);
        }
    }
    free(p), tribo_ws_free(ws);
}

typedef struct found {
    double theta[FREE], held, X[ROWS * NX];
    tribo_estimate est[FREE];
} found;

static found fit(const data *d, tribo_loss loss, int workers) {
    found f = {0};
    tribo_free_param free[FREE] = {tribo_default_free(), tribo_default_free()};
    tribo_recording rec[RECORDINGS];
    tribo_sysid_def def = tribo_default_sysid();
    tribo_sysid *s = NULL;
    free[0].index = tribo_param_find(d->m, "floor/friction"), free[0].start = 0.4;
    free[1].index = tribo_param_find(d->m, "floor/restitution"), free[1].start = 0.3;
    for (int i = 0; i < RECORDINGS; i++) rec[i] = (tribo_recording){.n = ROWS - i, .time = d->time, .x = d->x[i]};
    def.free = free, def.nfree = FREE, def.rec = rec, def.nrec = RECORDINGS;
    def.loss = loss, def.window = loss == TRIBO_LOSS_SHOOTING ? 1 : 4, def.search = 6, def.validation = 0.34;
    def.workers = workers;
    ck_assert_int_eq(tribo_sysid_new(d->m, &def, &s, NULL), TRIBO_OK);
    ck_assert_int_ge(tribo_sysid_fit(s, 3, NULL), 0);
    tribo_sysid_theta(s, f.theta);
    ck_assert_int_ge(tribo_sysid_validation(s, f.theta, &f.held), 0);
    ck_assert_int_ge(tribo_sysid_predict(s, NULL, 0, f.X), 0);
    if (tribo_sysid_observe(s, f.est, NULL, NULL, NULL, NULL) < 0) ck_abort_msg("no intervals");
    tribo_sysid_free(s);
    return f;
}

START_TEST(fits) {
    static const tribo_loss losses[] = {TRIBO_LOSS_WINDOW, TRIBO_LOSS_ROLLOUT, TRIBO_LOSS_SHOOTING};
    data d;
    record(&d);
    found one = fit(&d, losses[_i], 1), many = fit(&d, losses[_i], THREADS);
    ck_assert(!memcmp(one.theta, many.theta, sizeof one.theta) && one.held == many.held);
    ck_assert(!memcmp(one.X, many.X, sizeof one.X));
    for (int i = 0; i < FREE; i++) ck_assert(one.est[i].std_error == many.est[i].std_error);
    tribo_model_free(d.m);
}
END_TEST

/* ---- trajectory optimisation ---- */

static void plan(const tribo_model *m, tribo_method method, int workers, double X[(KNOTS + 1) * NX]) {
    static const double target[3] = {0.1, 0.05, 0.1};
    tribo_trajopt_def def = tribo_default_trajopt();
    tribo_term_def terms[2] = {tribo_default_term(), tribo_default_term()};
    terms[0].kind = TRIBO_TERM_POSITION, terms[0].body = 0, terms[0].target = target, terms[0].ntarget = 1;
    terms[0].first = terms[0].last = -1, terms[0].weight = 10;
    terms[1].kind = TRIBO_TERM_CONTROL, terms[1].weight = 1e-3;
    def.term = terms, def.nterm = 2, def.knots = KNOTS, def.substeps = 2, def.method = method, def.workers = workers;
    tribo_trajopt *t = task_of(m, &def);
    ck_assert_int_ge(tribo_trajopt_solve(t, 3, NULL), 0);
    tribo_trajopt_trajectory(t, X, NULL);
    tribo_trajopt_free(t);
}

START_TEST(plans) {
    double one[(KNOTS + 1) * NX], many[(KNOTS + 1) * NX];
    tribo_model *m = model_of(slide_xml);
    plan(m, (tribo_method)_i, 1, one), plan(m, (tribo_method)_i, THREADS, many);
    ck_assert(!memcmp(one, many, sizeof one));
    tribo_model_free(m);
}
END_TEST

/* ---- threads of the caller's on one model ---- */

typedef struct walk {
    const tribo_model *m;
    double X[(STEPS + 1) * NX], bar[12];
    tribo_status status;
} walk;

static void *go(void *argument) {
    walk *w = argument;
    tribo_sizes z = tribo_model_sizes(w->m);
    tribo_ws *ws = NULL;
    tribo_tape *tape = NULL;
    double *p = calloc((size_t)z.np + (STEPS + 1) * (size_t)z.ndx, sizeof *p), *lx = p + z.np;
    tribo_model_params(w->m, p), tribo_model_state0(w->m, w->X);
    w->X[7] = 1, lx[STEPS * z.ndx] = 1;
    w->status = tribo_ws_new(w->m, NULL, NULL, &ws, NULL);
    if (w->status >= 0) w->status = tribo_tape_new(ws, STEPS, 0, &tape);
    if (w->status >= 0) w->status = tribo_rollout(ws, p, w->X, STEPS, NULL, w->X, tape);
    if (w->status >= 0) w->status = tribo_backward(ws, tape, lx, w->bar, NULL, NULL);
    tribo_tape_free(tape), tribo_ws_free(ws), free(p);
    return NULL;
}

START_TEST(callers) {
    static walk w[THREADS];
    pthread_t thread[THREADS];
    tribo_model *m = model_of(slide_xml);
    for (int i = 0; i < THREADS; i++) {
        w[i] = (walk){.m = m};
        ck_assert_int_eq(pthread_create(&thread[i], NULL, go, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(w[i].status, TRIBO_OK);
        ck_assert(!memcmp(w[i].X, w[0].X, sizeof w[0].X) && !memcmp(w[i].bar, w[0].bar, sizeof w[0].bar));
    }
    tribo_model_free(m);
}
END_TEST

static Suite *suite(void) {
    TCase *t = tcase_create("threads");
    Suite *s = suite_create("threads");
    tcase_set_timeout(t, 250);
    tcase_add_loop_test(t, fits, 0, 3);
    tcase_add_loop_test(t, plans, 0, TRIBO_METHOD_LBFGS + 1);
    tcase_add_test(t, callers);
    suite_add_tcase(s, t);
    return s;
}
