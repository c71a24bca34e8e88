/* test_few.c -- steps of trees of up to three hinges and slides, which have a way of their own: random ones, with
 * branches and several joints on a body, against the equation of a step by the public dynamics, and by differences. */
#include "dynamics/motion.h"
#include "gradcheck.h"
#include "test_main.h"
#include "worlds.h"
#include <tribo/dynamics.h>

enum { TREES = 40, MOST = TI_FEW };
static const double STEP = 0.01;

/* Joints on the body before, on one of their own behind it, or on one beside that. */
static int random_tree(unsigned *seed, char *xml, size_t size) {
    int n = 1 + (int)(*seed % MOST), open = 0, used = 0;
    for (int k = 0; k < 10; k++) (void)test_random(seed); /* small seeds begin alike */
    used += snprintf(xml, size, "<mujoco><option timestep='%g'/><worldbody>", STEP);
    for (int k = 0; k < n; k++) {
        double way = test_random(seed);
        if (k > 1 && way > 0.3) used += snprintf(xml + used, size - (size_t)used, "</body>"), open--;
        if (k == 0 || way > -0.5) {
            used += snprintf(xml + used, size - (size_t)used, "<body pos='%g %g %g' euler='%g %g %g'>",
                             test_random(seed), test_random(seed), test_random(seed), 90 * test_random(seed),
                             90 * test_random(seed), 90 * test_random(seed));
            used += snprintf(xml + used, size - (size_t)used,
                             "<geom type='box' size='0.1 0.06 0.03' pos='%g %g 0.1' euler='20 30 40' mass='%g' "
                             "contype='0' conaffinity='0'/>",
                             0.2 * test_random(seed), 0.2 * test_random(seed), 1.5 + test_random(seed));
            open++;
        }
        used += snprintf(xml + used, size - (size_t)used, "<joint type='%s' pos='0.05 0 0.02' axis='%g %g 0.3'/>",
                         test_random(seed) > -0.3 ? "hinge" : "slide", test_random(seed), test_random(seed));
    }
    while (open-- > 0) used += snprintf(xml + used, size - (size_t)used, "</body>");
    snprintf(xml + used, size - (size_t)used, "</worldbody></mujoco>");
    return n;
}

/* A tree and a state of it whose links turn by up to `turn` in a step. */
static tribo_model *open_tree(unsigned seed, double turn, double *x) {
    char xml[4096];
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    int n = random_tree(&seed, xml, sizeof xml);
    ck_assert_msg(tribo_model_load_memory(xml, strlen(xml), "text", NULL, &m, &diag) == TRIBO_OK, "%s", diag.text);
    ck_assert_int_eq(tribo_model_sizes(m).nv, n);
    for (int t = 0; t < m->ntree; t++) ck_assert(m->tree[t].few);
    for (int i = 0; i < n; i++) x[i] = 2 * test_random(&seed), x[n + i] = turn / STEP * test_random(&seed);
    return m;
}

/* How far off eq. (154) is, of its terms. */
static double off_by(const tribo_model *m, const double *p, const double *x, const double *next, const double *u) {
    int n = tribo_model_sizes(m).nv;
    double mean[2 * MOST], M[MOST * MOST], c[MOST], worst = 0, size = 0;
    tribo_dynamics *d;
    ck_assert_int_eq(tribo_dynamics_new(m, NULL, &d), TRIBO_OK);
    ck_assert_int_eq(tribo_dynamics_set_params(d, p, NULL), TRIBO_OK);
    for (int i = 0; i < n; i++) mean[i] = x[i], mean[n + i] = 0.5 * (x[n + i] + next[n + i]);
    ck_assert_int_eq(tribo_dynamics_set_state(d, mean), TRIBO_OK);
    ck_assert_int_eq(tribo_inertia(d, M), TRIBO_OK);
    ck_assert_int_eq(tribo_bias_forces(d, c), TRIBO_OK);
    for (int i = 0; i < n; i++) {
        double off = STEP * (c[i] - u[i]);
        for (int j = 0; j < n; j++) {
            off += M[i * n + j] * (next[n + j] - x[n + j]);
            size = fmax(size, fabs(M[i * n + j]) * (fabs(next[n + j]) + fabs(x[n + j])));
        }
        worst = fmax(worst, fabs(off));
    }
    tribo_dynamics_free(d);
    return worst / size;
}

/* From links that hardly turn to such as Newton's method from the velocity before does not find. */
START_TEST(steps_are_the_midpoint) {
    static const double TURN[] = {0.001, 0.1, 0.5, 2};
    double p[256], x[2 * MOST], next[2 * MOST], u[MOST] = {1, -2, 0.5};
    for (unsigned seed = 1; seed <= TREES; seed++) {
        tribo_model *m = open_tree(seed, TURN[_i], x);
        tribo_ws *ws;
        ck_assert_int_le(tribo_model_sizes(m).np, 256);
        tribo_model_params(m, p);
        ck_assert_int_eq(tribo_ws_new(m, NULL, NULL, &ws, NULL), TRIBO_OK);
        tribo_status status = tribo_step(ws, p, x, u, next, NULL);
        if (_i < 3) ck_assert_int_eq(status, TRIBO_OK);
        if (status == TRIBO_OK) {
            double off = off_by(m, p, x, next, u);
            ck_assert_msg(off < 2e-14, "tree %u is off by %g", seed, off);
        }
        tribo_ws_free(ws), tribo_model_free(m);
    }
}
END_TEST

START_TEST(steps_are_differentiated) {
    double x[2 * MOST];
    for (unsigned seed = 1; seed <= TREES; seed++) {
        tribo_model *m = open_tree(seed, _i ? 0.3 : 0.03, x);
        grad_task task = {.model = m, .x0 = x, .steps = 2, .seed = seed, .per_block = 6, .tol = 1e-6};
        grad_result r;
        task.options = tribo_default_options();
        ck_assert_int_ge(grad_check(&task, &r), 0);
        const char *flaw = grad_flaw(&task, &r);
        ck_assert_msg(!flaw, "tree %u: %s, worst %g", seed, flaw, r.worst);
        tribo_model_free(m);
    }
}
END_TEST

/* What was not, is not: a weight that is carried, a fourth joint, a ball. */
START_TEST(others_are_not_few) {
    static const char *const BODIES[] = {
        "<body gravcomp='0.5'><joint/><geom size='0.1'/></body>", "<body><joint type='ball'/><geom size='0.1'/></body>",
        "<body><freejoint/><geom size='0.1'/><body><joint/><geom size='0.1'/></body></body>",
        "<body><joint/><joint axis='0 1 0'/><joint axis='1 0 0'/><joint type='slide'/><geom size='0.1'/></body>"};
    char xml[1024];
    tribo_model *m = NULL;
    snprintf(xml, sizeof xml, "<mujoco><worldbody>%s</worldbody></mujoco>", BODIES[_i]);
    ck_assert_int_eq(tribo_model_load_memory(xml, strlen(xml), "text", NULL, &m, NULL), TRIBO_OK);
    ck_assert(!m->tree[0].few);
    tribo_model_free(m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("few");
    TCase *c = tcase_create("few");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, steps_are_the_midpoint, 0, 4);
    tcase_add_loop_test(c, steps_are_differentiated, 0, 2);
    tcase_add_loop_test(c, others_are_not_few, 0, 4);
    suite_add_tcase(s, c);
    return s;
}
