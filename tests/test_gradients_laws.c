/* test_gradients_laws.c -- reverse against differences over whole rollouts, under every contact law: one step to 1e-6,
 * thirty to 1e-5, as `tribo gradcheck --law` compares them. The modes that a scene goes through are counted. */
#include "contact/law/law.h"
#include "gradcheck.h"
#include "test_main.h"
#include "worlds.h"

typedef struct variant {
    const char *name;
    tribo_law_options law;
} variant;

/* Every law, and what makes another law of it. */
static const variant variants[] = {
    {"ccp", {.law = TRIBO_LAW_CCP}},
    {"ccp, soft", {.law = TRIBO_LAW_CCP, .softness = TRIBO_SOFTNESS_MUJOCO}},
    {"ncp, a spring", {.law = TRIBO_LAW_NCP, .softness = TRIBO_SOFTNESS_PHYSICAL, .compliance = 0.01}},
    {"lcp", {.law = TRIBO_LAW_LCP, .facet_angle = 0.1}},
    {"lcp of 7", {.law = TRIBO_LAW_LCP, .facets = 7, .facet_angle = 0.3, .circumscribed = true}},
    {"raisim", {.law = TRIBO_LAW_RAISIM}},
    {"raisim, bisection", {.law = TRIBO_LAW_RAISIM, .solver = TRIBO_SOLVER_BISECTION}},
    {"raisim, corrected", {.law = TRIBO_LAW_RAISIM, .solver = TRIBO_SOLVER_BISECTION_CORRECTED}},
    {"stochastic", {.law = TRIBO_LAW_STOCHASTIC, .noise = 0.03}},
    {"logistic", {.law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_LOGISTIC, .noise = 0.03}},
    {"least residual", {.law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_ERM, .noise = 0.1}},
    {"central path", {.solver = TRIBO_SOLVER_INTERIOR, .kappa = 1e-6}},
    {"ncp by pgs", {.solver = TRIBO_SOLVER_PGS}},
    {"ncp by admm", {.solver = TRIBO_SOLVER_ADMM}},
};
enum { NVARIANT = sizeof variants / sizeof *variants };

static tribo_model *scene(const char *name) {
    const char *scenes = getenv("TRIBO_SCENES");
    char path[4096];
    if (!scenes) return NULL;
    snprintf(path, sizeof path, "%s/%s.xml", scenes, name);
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    ck_assert_msg(tribo_model_load(path, NULL, &m, &diag) == TRIBO_OK, "%s: %s", path, diag.text);
    return m;
}

/* Contacts that break, stick and slide over a rollout. */
static void count(const tribo_model *m, const tribo_options *o, const double *x0, int steps, int *met) {
    tribo_sizes z = tribo_model_sizes(m);
    tribo_ws *ws;
    double *p = calloc((size_t)(z.np + z.nx), sizeof *p), *x = p + z.np;
    tribo_model_params(m, p);
    memcpy(x, x0, (size_t)z.nx * sizeof *x);
    ck_assert_int_eq(tribo_ws_new(m, o, NULL, &ws, NULL), TRIBO_OK);
    for (int k = 0; k < steps; k++) {
        int n;
        ck_assert_int_ge(tribo_step(ws, p, x, NULL, x, NULL), 0);
        const tribo_contact *c = tribo_last_contacts(ws, &n);
        for (int i = 0; i < n; i++) met[c[i].mode]++;
    }
    tribo_ws_free(ws);
    free(p);
}

static void check_scene(const char *name, const variant *v, int steps, int *met) {
    tribo_model *m = scene(name);
    if (!m) {
        printf("TRIBO_SCENES is not set: skipped\n");
        return;
    }
    double *x0 = calloc((size_t)tribo_model_sizes(m).nx, sizeof *x0);
    tribo_model_state0(m, x0);
    grad_task task = {.model = m, .x0 = x0, .steps = steps, .seed = 3, .per_block = 3, .tol = steps == 1 ? 1e-6 : 1e-5};
    grad_result r;
    task.options = tribo_default_options();
    task.options.law = v->law;
    ck_assert_int_ge(grad_check(&task, &r), 0);
    ck_assert_msg(r.worst <= task.tol, "%s under %s, %d steps: worst %g", name, v->name, steps, r.worst);
    ck_assert_msg(r.worst_dot <= 1e-2 * task.tol, "%s under %s, %d steps: forward and reverse %g", name, v->name, steps,
                  r.worst_dot);
    ck_assert_msg(r.info.residual <= 1e-9, "%s under %s: residual %g", name, v->name, r.info.residual);
    count(m, &task.options, x0, steps, met);
    free(x0);
    tribo_model_free(m);
}

START_TEST(rollouts_under_every_law) {
    static const char *const scenes[] = {"slide", "push", "takeoff", "stack", "spin", "roll"};
    const variant *v = &variants[_i];
    int met[3] = {0};
    for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++) {
        check_scene(scenes[s], v, 1, met);
        check_scene(scenes[s], v, 30, met);
    }
    printf("%-20s contacts that break %4d, stick %4d, slide %4d\n", v->name, met[0], met[1], met[2]);
    if (getenv("TRIBO_SCENES")) ck_assert(met[TRIBO_STICK] > 30 && met[TRIBO_SLIDE] > 30);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("gradients of laws");
    TCase *t = tcase_create("rollouts");
    tcase_add_loop_test(t, rollouts_under_every_law, 0, NVARIANT);
    suite_add_tcase(s, t);
    return s;
}
