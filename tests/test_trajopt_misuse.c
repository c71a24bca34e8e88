/* test_trajopt_misuse.c -- what must not be asked of a trajectory's search or of a library of policies: a status each,
 * a message that names the thing, outputs as they were; feedback, and files whole and broken. */
#include "test_main.h"
#include "trajopt_tasks.h"
#include "worlds.h"
#include <limits.h>
#include <stdio.h>
#include <tribo/tribo.h>
#include <unistd.h>

enum { KNOTS = 6, NX = 4, NU = 2 };
static const char CARTS[] = "<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody>"
                            "<body name='a'><joint name='a' type='slide' axis='1 0 0' stiffness='3' damping='0.2'/>"
                            "<inertial mass='2' pos='0 0 0' diaginertia='1 1 1'/><site name='s'/>"
                            "<body name='b'><joint name='b' type='slide' axis='1 0 0' stiffness='1' damping='0.1'/>"
                            "<inertial mass='0.5' pos='0 0 0' diaginertia='1 1 1'/></body></body></worldbody></mujoco>";
static const char OTHER[] = "<mujoco><worldbody><body><freejoint/><geom size='0.1'/></body></worldbody></mujoco>";

static tribo_model *model, *other;
static tribo_trajopt *task;
static tribo_term_def term[2];
static tribo_trajopt_def def;
static const double ZERO[NX], START[NX] = {1, -0.5, 0.2, 0.7};
static const double BOUND[2][NU] = {{-0.4, -0.1}, {0.3, 0.1}};

static void define(void) {
    def = tribo_default_trajopt();
    term[0] = tribo_default_term(), term[0].target = ZERO, term[0].last = -1;
    term[1] = tribo_default_term(), term[1].kind = TRIBO_TERM_CONTROL, term[1].weight = 1e-3;
    def.knots = KNOTS, def.substeps = 3, def.term = term, def.nterm = 2, def.x0 = START;
    def.lower = BOUND[0], def.upper = BOUND[1];
}

static void setup(void) {
    model = model_of(CARTS), other = model_of(OTHER);
    define();
    ck_assert(tribo_trajopt_new(model, &def, &task, NULL) == TRIBO_OK);
}

static void teardown(void) {
    tribo_trajopt_free(task), tribo_model_free(model), tribo_model_free(other);
}

/* ---- definitions ---- */

static tribo_status no_function(void *c, int k, const double *x, const double *u, double *r, double *rx, double *ru) {
    (void)c, (void)k, (void)x, (void)u, (void)r, (void)rx, (void)ru;
    return TRIBO_OK;
}

/* The definition as it is now is refused, and the message has those words. */
static void refused(tribo_status wanted, const char *word, int line) {
    tribo_trajopt *t = task;
    tribo_diag d = {0};
    tribo_status s = tribo_trajopt_new(model, &def, &t, &d);
    ck_assert_msg(s == wanted, "line %d: %d, not %d (%s)", line, s, wanted, d.text);
    ck_assert_msg(strstr(d.text, word), "line %d: '%s' does not say '%s'", line, d.text, word);
    ck_assert(t == task);
    define();
}
#define REFUSED(word, change) (change, refused(TRIBO_E_ARG, word, __LINE__))

START_TEST(definitions) {
    static const double nan_[8] = {1, (double)NAN}, huge[8] = {HUGE_VAL}, less[2] = {1, -1}, crossed[2] = {0.5, -0.1};
    static double U[KNOTS * NU], X[(KNOTS + 1) * NX];
    static const int twice[2] = {1, 1}, none[2] = {0, 7}, below[1] = {-1};
    def.struct_size = 0, refused(TRIBO_E_DEF, "tribo_default_trajopt", __LINE__);
    term[1].struct_size = 0, refused(TRIBO_E_DEF, "term 1", __LINE__);
    REFUSED("knots", def.knots = 0);
    REFUSED("knots", def.knots = -3);
    REFUSED("knots", def.knots = 1 << 30);
    REFUSED("knots", (def.knots = 1 << 20, def.substeps = 1 << 20));
    REFUSED("knots", def.substeps = 0);
    REFUSED("terms", def.nterm = 0);
    REFUSED("terms", def.nterm = INT_MAX);
    REFUSED("terms", def.term = NULL);
    REFUSED("workers", def.workers = 0);
    REFUSED("workers", def.workers = 100000);
    REFUSED("stages", def.nstage = -1);
    REFUSED("stages", def.nstage = 2);
    REFUSED("tolerances", def.tol = -1);
    REFUSED("tolerances", def.tol_constraint = (double)NAN);
    REFUSED("method", def.method = (tribo_method)9);
    REFUSED("method", def.method = (tribo_method)-1);
    REFUSED("states", (def.X = X, def.method = TRIBO_METHOD_LBFGS));
    REFUSED("control 1", (def.control = twice, def.ncontrol = 2));
    REFUSED("control 1", (def.control = none, def.ncontrol = 2));
    REFUSED("control 0", (def.control = below, def.ncontrol = 1));
    REFUSED("controls", (def.control = twice, def.ncontrol = 0));
    REFUSED("controls", (def.control = twice, def.ncontrol = 100000));
    REFUSED("control 0", def.lower = crossed);
    REFUSED("control 1", def.upper = nan_);
    REFUSED("control 0", def.lower = huge);
    REFUSED("u:", def.u = nan_);
    REFUSED("term 0 (state): it has 4 components", (term[0].weights = ZERO, term[0].weight_count = 3));
    REFUSED("term 0 (state): its target has 4 numbers", term[0].target_count = 8);
    REFUSED("term 1 (control): its target has 2 numbers", (term[1].target = ZERO, term[1].target_count = 4));
    REFUSED("x0", def.x0 = nan_);
    U[5] = HUGE_VAL;
    REFUSED("U", def.U = U);
    X[KNOTS * NX] = (double)NAN;
    REFUSED("X", def.X = X);
    REFUSED("kind", term[0].kind = TRIBO_TERM_END);
    REFUSED("norm", term[0].norm = (tribo_norm)-2);
    REFUSED("weight", term[0].weight = (double)NAN);
    REFUSED("weight", term[0].weight = -1);
    REFUSED("weight", (term[0].weight = 0, term[0].norm = TRIBO_NORM_EQUAL));
    REFUSED("weights", term[1].weights = nan_);
    REFUSED("weights", term[1].weights = less);
    REFUSED("scale", term[0].scale = 0);
    REFUSED("first", term[0].first = KNOTS + 1);
    REFUSED("first", term[0].first = -KNOTS - 5);
    REFUSED("last", (term[0].first = 3, term[0].last = 2));
    REFUSED("target", term[0].ntarget = 3);
    REFUSED("target", term[0].ntarget = -1);
    REFUSED("target", term[0].target = nan_);
    REFUSED("joint", (term[0].kind = TRIBO_TERM_JOINT, term[0].joint = 2));
    REFUSED("joint", term[0].kind = TRIBO_TERM_JOINT_VELOCITY);
    REFUSED("body", term[0].kind = TRIBO_TERM_POSITION);
    REFUSED("body", (term[0].kind = TRIBO_TERM_VELOCITY, term[0].body = 2));
    REFUSED("site", (term[0].kind = TRIBO_TERM_ROTATION, term[0].site = 1));
    REFUSED("body", (term[0].kind = TRIBO_TERM_POSITION, term[0].body = 0, term[0].site = 0));
    REFUSED("body", (term[0].kind = TRIBO_TERM_POSITION, term[0].body = 0, term[0].body2 = 9));
    REFUSED("rotation", (term[0].kind = TRIBO_TERM_ROTATION, term[0].body = 0, term[0].body2 = 1));
    REFUSED("quaternion", (term[0].kind = TRIBO_TERM_ROTATION, term[0].body = 0, term[0].target = ZERO));
    REFUSED("function", term[0].kind = TRIBO_TERM_CUSTOM);
    REFUSED("size", (term[0].kind = TRIBO_TERM_CUSTOM, term[0].function = no_function));
    REFUSED("size", (term[0].kind = TRIBO_TERM_CUSTOM, term[0].function = no_function, term[0].size = INT_MAX));
    REFUSED("elbow", (term[0].name = "elbow", term[0].scale = -1)); /* by its own name */
    const tribo_law_options law[2] = {{.law = TRIBO_LAW_NCP}, {.law = (tribo_law)77}};
    REFUSED("stage 1", (def.stage = law, def.nstage = 2));
    tribo_diag d;
    tribo_trajopt *t;
    ck_assert(tribo_trajopt_new(NULL, &def, &t, &d) == TRIBO_E_ARG && strstr(d.text, "NULL"));
    ck_assert(tribo_trajopt_new(model, NULL, &t, &d) == TRIBO_E_ARG && strstr(d.text, "NULL"));
    ck_assert(tribo_trajopt_new(model, &def, NULL, &d) == TRIBO_E_ARG && strstr(d.text, "NULL"));
}
END_TEST

static const char POLES[] =
    "<mujoco><option timestep='0.3'/><worldbody><body><joint type='hinge' axis='0 1 0'/>"
    "<inertial mass='1' pos='0 0 1' diaginertia='0.01 0.01 0.01'/>"
    "<body pos='0 0 1'><joint type='hinge' axis='0 1 0'/>"
    "<inertial mass='1' pos='0 0 1' diaginertia='0.01 0.01 0.01'/></body></body></worldbody></mujoco>";

/* A first guess that steps cannot follow: which step, and that it is the speed, not an argument. */
START_TEST(first_guess_too_fast) {
    static const double fast[NX] = {0.1, 2, 1, 0};
    tribo_model *poles = model_of(POLES);
    tribo_trajopt *t = task;
    tribo_diag d = {0};
    def.knots = 40, def.x0 = fast, def.lower = def.upper = NULL;
    ck_assert_int_eq(tribo_trajopt_new(poles, &def, &t, &d), TRIBO_E_FAST);
    ck_assert_msg(strstr(d.text, " of 120: something moves too fast for steps of 0.3 s"), "%s", d.text);
    ck_assert(t == task);
    tribo_model_free(poles);
}
END_TEST

/* How a body is turned, in targets of the state and of a joint. */
START_TEST(targets_that_turn) {
    const double upright[13] = {0, 0, 1, 1}, nothing[13] = {0, 0, 1}, ball[4] = {1}, none[4] = {0};
    tribo_model *hanging = model_of("<mujoco><worldbody><body><joint type='ball'/><geom size='0.1'/></body>"
                                    "</worldbody></mujoco>");
    for (int kind = 0; kind < 2; kind++) {
        tribo_trajopt *t = NULL;
        tribo_diag d;
        def.nterm = 1, def.lower = def.upper = NULL, def.x0 = NULL;
        term[0].kind = kind ? TRIBO_TERM_JOINT : TRIBO_TERM_STATE, term[0].joint = kind ? 0 : -1;
        term[0].target = kind ? none : nothing;
        ck_assert_int_eq(tribo_trajopt_new(kind ? hanging : other, &def, &t, &d), TRIBO_E_ARG);
        ck_assert_msg(strstr(d.text, "quaternion"), "%s", d.text);
        term[0].target = kind ? ball : upright;
        ck_assert_int_eq(tribo_trajopt_new(kind ? hanging : other, &def, &t, &d), TRIBO_OK);
        ck_assert_int_eq(tribo_trajopt_set_target(t, 0, kind ? none : nothing), TRIBO_E_ARG);
        ck_assert_int_eq(tribo_trajopt_set_target(t, 0, kind ? ball : upright), TRIBO_OK);
        tribo_trajopt_free(t);
        define();
    }
    tribo_model_free(hanging);
}
END_TEST

/* ---- calls ---- */

START_TEST(calls) {
    double nan_[KNOTS * NU] = {(double)NAN}, out[64], before[64], U[KNOTS * NU] = {0};
    for (int i = 0; i < 64; i++) out[i] = before[i] = 0.5;
    ck_assert(tribo_trajopt_iterate(NULL, NULL) == TRIBO_E_ARG);
    ck_assert(tribo_trajopt_solve(NULL, 1, NULL) == TRIBO_E_ARG);
    ck_assert(tribo_trajopt_solve(task, -1, NULL) == TRIBO_NOT_CONVERGED);
    ck_assert(tribo_trajopt_ncontrol(NULL) == 0 && tribo_trajopt_ncontrol(task) == NU);
    ck_assert(tribo_trajopt_control(NULL, 0) == -1 && tribo_trajopt_control(task, NU) == -1);
    tribo_trajopt_trajectory(NULL, out, out);
    ck_assert(tribo_trajopt_costs(NULL, out) == TRIBO_E_ARG && tribo_trajopt_costs(task, NULL) == TRIBO_E_ARG);
    ck_assert(tribo_trajopt_gradient(NULL, out, out) == TRIBO_E_ARG);
    ck_assert(tribo_trajopt_feedback(NULL, 0, START, out) == TRIBO_E_ARG);
    ck_assert(tribo_trajopt_feedback(task, 0, NULL, out) == TRIBO_E_ARG);
    ck_assert(tribo_trajopt_feedback(task, 0, START, NULL) == TRIBO_E_ARG);
    ck_assert(tribo_trajopt_feedback(task, KNOTS, START, out) == TRIBO_E_ARG);
    ck_assert(tribo_trajopt_feedback(task, -1, START, out) == TRIBO_E_ARG);
    ck_assert(tribo_trajopt_feedback(task, 0, nan_, out) == TRIBO_E_NONFINITE);
    ck_assert(tribo_trajopt_settle(NULL) == TRIBO_E_ARG);
    ck_assert(tribo_trajopt_gain(task, KNOTS, out) == TRIBO_E_ARG && tribo_trajopt_gain(task, 0, NULL) == TRIBO_E_ARG);
    ck_assert(tribo_trajopt_shift(task, -1, START) == TRIBO_E_ARG && tribo_trajopt_shift(task, 1, NULL) == TRIBO_E_ARG);
    ck_assert(tribo_trajopt_shift(task, 1, nan_) == TRIBO_E_NONFINITE);
    ck_assert(tribo_trajopt_restart(task, START, NULL) == TRIBO_E_ARG);
    ck_assert(tribo_trajopt_restart(task, START, nan_) == TRIBO_E_NONFINITE);
    ck_assert(tribo_trajopt_restart(NULL, START, U) == TRIBO_E_ARG);
    ck_assert(tribo_trajopt_set_target(task, 2, ZERO) == TRIBO_E_ARG);
    ck_assert(tribo_trajopt_set_target(task, -1, ZERO) == TRIBO_E_ARG);
    ck_assert(tribo_trajopt_set_target(task, 1, ZERO) == TRIBO_E_ARG); /* it has none */
    ck_assert(tribo_trajopt_set_target(task, 0, nan_) == TRIBO_E_NONFINITE);
    ck_assert(memcmp(out, before, sizeof out) == 0);
    tribo_trajopt_free(NULL), tribo_policies_free(NULL);
    int n = -1, width = -1;
    term[1].kind = TRIBO_TERM_ROTATION;
    ck_assert(tribo_term_sizes(model, &term[1], NU, &n, &width) == TRIBO_OK && n == 3 && width == 4);
    term[1].kind = TRIBO_TERM_JOINT, term[1].joint = 2;
    ck_assert(tribo_term_sizes(model, &term[1], NU, &n, NULL) == TRIBO_E_ARG && n == 3);
    ck_assert(tribo_term_sizes(NULL, &term[0], NU, &n, NULL) == TRIBO_E_ARG);
    ck_assert(tribo_term_name((tribo_term_kind)-1) == NULL && tribo_term_find(NULL) == TRIBO_TERM_END);
    ck_assert(tribo_norm_name(TRIBO_NORM_END) == NULL && tribo_norm_find("none") == TRIBO_NORM_END);
}
END_TEST

/* At its own states the feedback is the control, elsewhere it is linear as far as bounds let it. */
START_TEST(feedback) {
    double X[(KNOTS + 1) * NX], U[KNOTS * NU], K[NU * NX], u[NU], x[NX];
    unsigned seed = 3;
    ck_assert(tribo_trajopt_solve(task, 50, NULL) == TRIBO_OK);
    tribo_trajopt_trajectory(task, X, U);
    for (int k = 0; k < KNOTS; k++) {
        ck_assert(tribo_trajopt_feedback(task, k, X + k * NX, u) == TRIBO_OK);
        ck_assert(memcmp(u, U + k * NU, sizeof u) == 0);
        ck_assert(tribo_trajopt_gain(task, k, K) == TRIBO_OK);
        for (int i = 0; i < NX; i++) x[i] = X[k * NX + i] + test_random(&seed);
        ck_assert(tribo_trajopt_feedback(task, k, x, u) == TRIBO_OK);
        for (int i = 0; i < NU; i++) {
            double sum = U[k * NU + i];
            for (int j = 0; j < NX; j++) sum += K[i * NX + j] * (x[j] - X[k * NX + j]);
            ck_assert(fabs(u[i] - fmax(BOUND[0][i], fmin(sum, BOUND[1][i]))) < 1e-12);
        }
    }
}
END_TEST

/* ---- libraries ---- */

static const char PATH[] = "trajopt_policies.txt";

static tribo_policies *library(void) {
    tribo_policies *l = NULL;
    def.lower = def.upper = NULL;
    tribo_trajopt *t = NULL;
    ck_assert(tribo_policies_new(model, NU, NULL, &l) == TRIBO_OK);
    for (int k = 0; k < 5; k++) {
        double x0[NX] = {1 - 0.5 * k, 0.3 * k, -0.1 * k, 0.5};
        def.x0 = x0;
        ck_assert(tribo_trajopt_new(model, &def, &t, NULL) == TRIBO_OK);
        ck_assert(tribo_trajopt_solve(t, 10, NULL) == TRIBO_OK);
        ck_assert(tribo_policies_add(l, t, k % 2, KNOTS - 1) == TRIBO_OK);
        tribo_trajopt_free(t);
    }
    define();
    return l;
}

START_TEST(policies_look_up) {
    tribo_policies *l = NULL, *same = NULL;
    double u[NU] = {9, 9}, v[NU], x[NX], X[40][NX];
    int nearest, n, other_nearest;
    ck_assert(tribo_policies_new(NULL, 1, NULL, &l) == TRIBO_E_ARG &&
              tribo_policies_new(model, 0, NULL, &l) == TRIBO_E_ARG);
    ck_assert(tribo_policies_new(model, 1, NULL, NULL) == TRIBO_E_ARG && tribo_policies_size(NULL) == 0);
    ck_assert(tribo_policies_new(model, 1, NULL, &l) == TRIBO_OK);
    ck_assert(tribo_policies_control(l, NULL, START, u, NULL) == TRIBO_E_ARG && u[0] == 9); /* empty */
    ck_assert(tribo_policies_add(l, task, 0, 1) == TRIBO_E_ARG);                            /* two controls, not one */
    tribo_policies_free(l);
    ck_assert(tribo_policies_new(model, NU, NULL, &l) == TRIBO_OK && tribo_policies_save(l, PATH, NULL) == TRIBO_OK);
    ck_assert(tribo_policies_load(PATH, model, NULL, &same, NULL) == TRIBO_OK && tribo_policies_size(same) == 0);
    ck_assert(tribo_policies_control(same, NULL, START, u, NULL) == TRIBO_E_ARG);
    ck_assert(tribo_policies_add(same, task, 0, 1) == TRIBO_OK && tribo_policies_size(same) == 2);
    tribo_policies_free(l), tribo_policies_free(same);
    l = library(), n = tribo_policies_size(l);
    ck_assert_int_eq(n, 5 * KNOTS - 2);
    ck_assert(tribo_policies_add(l, task, 0, KNOTS) == TRIBO_E_ARG &&
              tribo_policies_add(l, task, -1, 2) == TRIBO_E_ARG);
    ck_assert(tribo_policies_add(l, task, 3, 2) == TRIBO_E_ARG && tribo_policies_add(l, NULL, 0, 1) == TRIBO_E_ARG);
    ck_assert_int_eq(tribo_policies_size(l), n);
    ck_assert(tribo_policies_save(l, PATH, NULL) == TRIBO_OK);
    ck_assert(tribo_policies_load(PATH, model, NULL, &same, NULL) == TRIBO_OK && tribo_policies_size(same) == n);
    FILE *f = fopen(PATH, "r"); /* the states, as the file has them */
    char line[4096];
    ck_assert(f && fgets(line, sizeof line, f) && fgets(line, sizeof line, f));
    for (int k = 0; k < n; k++) {
        ck_assert(fgets(line, sizeof line, f));
        ck_assert_int_eq(sscanf(line, "%lf %lf %lf %lf", &X[k][0], &X[k][1], &X[k][2], &X[k][3]), 4);
    }
    fclose(f), remove(PATH);
    double mean[NX] = {0}, spread[NX] = {0};
    for (int k = 0; k < n; k++)
        for (int i = 0; i < NX; i++) mean[i] += X[k][i] / n;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < NX; i++) spread[i] += (X[k][i] - mean[i]) * (X[k][i] - mean[i]) / n;
    unsigned seed = 5;
    const bool ignore[NX] = {false, true};
    for (int round = 0; round < 200; round++) {
        double least = HUGE_VAL;
        int best = -1;
        for (int i = 0; i < NX; i++) x[i] = 2 * test_random(&seed);
        for (int k = 0; k < n; k++) {
            double sum = 0;
            for (int i = 0; i < NX; i++)
                if (round % 2 == 0 || !ignore[i]) sum += (x[i] - X[k][i]) * (x[i] - X[k][i]) / spread[i];
            if (sum < least) least = sum, best = k;
        }
        const bool *which = round % 2 ? ignore : NULL;
        ck_assert(tribo_policies_control(l, which, x, u, &nearest) == TRIBO_OK && nearest == best);
        ck_assert(tribo_policies_control(same, which, x, v, &other_nearest) == TRIBO_OK && other_nearest == best);
        ck_assert(memcmp(u, v, sizeof u) == 0);
    }
    x[0] = (double)NAN, u[0] = 9;
    ck_assert(tribo_policies_control(l, NULL, x, u, NULL) == TRIBO_E_NONFINITE && u[0] == 9);
    tribo_policies_free(l), tribo_policies_free(same);
}
END_TEST

/* text[0 .. n) is no library; the message is of that line, or of any where line is below 0. */
static void broken(const char *text, size_t n, int line, const tribo_model *m) {
    tribo_policies *l = NULL;
    tribo_diag d = {0};
    FILE *f = fopen(PATH, "wb");
    ck_assert(f && fwrite(text, 1, n, f) == n && fclose(f) == 0);
    tribo_status s = tribo_policies_load(PATH, m, NULL, &l, &d);
    remove(PATH);
    ck_assert_msg(s == TRIBO_E_PARSE && !l, "%.60s, of %zu: %d", text, n, s);
    ck_assert_msg(d.text[0] && (line < 0 ? d.line > 0 : d.line == line), "line %d, not %d: %s", d.line, line, d.text);
}

START_TEST(broken_files) {
    static char text[1 << 16], other_text[1 << 16];
    tribo_policies *l = library();
    ck_assert(tribo_policies_save(l, PATH, NULL) == TRIBO_OK);
    tribo_policies_free(l);
    FILE *f = fopen(PATH, "rb");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(text, 1, sizeof text - 100, f);
    fclose(f);
    for (size_t cut = 0; cut < n; cut += cut < 200 || cut + 60 > n ? 1 : 97) broken(text, cut, -1, model);
    broken(text, n, 1, other);
    int lines = 0;
    for (size_t i = 0; i < n; i++) lines += text[i] == '\n';
    memcpy(other_text, text, n), memcpy(other_text + n, "1 2 3\n", 6);
    broken(other_text, n + 6, lines + 1, model);
    const char *second = strchr(text, '\n') + 1, *third = strchr(second, '\n') + 1;
    const char *put[] = {"nan", "inf", "x", "1e999", "0x10", ""};
    for (size_t i = 0; i < sizeof put / sizeof *put; i++) { /* in place of the first number */
        size_t head = (size_t)(third - text), word = strcspn(third, " ");
        int m = snprintf(other_text, sizeof other_text, "%.*s%s%s", (int)head, text, put[i], third + word);
        broken(other_text, (size_t)m, 3, model);
    }
    const char *controls[] = {"0 2\n", "0\n", "0 0.5\n", "-1 0\n", "0 1 1\n", "0 0\n"};
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
        int m = snprintf(other_text, sizeof other_text, "%.*s%s%s", (int)(second - text), text, controls[i], third);
        broken(other_text, (size_t)m, 2, model);
    }
    memcpy(other_text, text, n), other_text[n / 2] = 0;
    broken(other_text, n, -1, model);
    const char *heads[] = {"",
                           "\n",
                           "policies\n",
                           "tribo-policies 1 nx 4\n",
                           "tribo-policies 1 nx 4 ndx 4 nu 2 controls 2 knots -1\n0 1\n",
                           "tribo-policies 1 nx 4 ndx 4 nu 2 controls 0 knots 0\n\n",
                           "tribo-policies 1 nx 4 ndx 4 nu 2 controls 2 knots 0 more\n0 1\n",
                           "tribo-policies 1 nx 4 ndx 4 nu 2 controls 2 knots\n0\n0 1\n"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) broken(heads[i], strlen(heads[i]), 1, model);
    tribo_diag d = {0};
    ck_assert(tribo_policies_load("no/such/file", model, NULL, &l, &d) == TRIBO_E_IO && d.text[0]);
    ck_assert(tribo_policies_load(NULL, model, NULL, &l, &d) == TRIBO_E_ARG);
    ck_assert(tribo_policies_load(PATH, NULL, NULL, &l, &d) == TRIBO_E_ARG);
    ck_assert(tribo_policies_save(NULL, PATH, &d) == TRIBO_E_ARG);
    remove(PATH);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("trajopt_misuse");
    TCase *c = tcase_create("trajopt_misuse");
    tcase_set_timeout(c, 0);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, definitions);
    tcase_add_test(c, first_guess_too_fast);
    tcase_add_test(c, targets_that_turn);
    tcase_add_test(c, calls);
    tcase_add_test(c, feedback);
    tcase_add_test(c, policies_look_up);
    tcase_add_test(c, broken_files);
    suite_add_tcase(s, c);
    return s;
}
