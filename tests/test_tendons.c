/* test_tendons.c -- limits of tendons against closed forms under every contact law, against MuJoCo, differentiated;
 * actuators on several joints. */
#include "law_cases.h"
#include "model/model.h"
#include "models.h"
#include "test_main.h"
#include "worlds.h"
#ifdef HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

/* Blocks of 2 and 1 kg on slides, of one tree or of two, that hang on a tendon: -0.2 <= q1 + 2 q2 <= 0.3. */
static world hung(bool one_tree, const tribo_options *o) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_set_gravity(b, (double[3]){0, 0, -G});
    int joint[2];
    for (int i = 0; i < 2; i++) {
        tribo_body_def d = tribo_default_body();
        d.inertia_given = true, d.mass = 2 - i, d.inertia[0] = d.inertia[1] = d.inertia[2] = 0.1;
        d.parent = one_tree && i ? 0 : TRIBO_WORLD;
        int body = tribo_add_body(b, &d);
        tribo_joint_def j = tribo_default_joint();
        j.kind = TRIBO_JOINT_SLIDE;
        joint[i] = tribo_add_joint(b, body, &j);
    }
    tribo_tendon_def t = tribo_default_tendon();
    t.name = "rope", t.njoint = 3, t.joint = (const int[]){joint[1], joint[0], joint[1]};
    t.coef = (const double[]){0.5, 1, 1.5}, t.range[0] = -0.2, t.range[1] = 0.3;
    ck_assert_int_eq(tribo_add_tendon(b, &t), 0);
    return world_of(world_build(b), o);
}

/* In two trees v1 = v1- + l/2, v2 = v2- + 2 l; on one another their velocities are v1 and v1 + w with v1 + 2 w held. */
START_TEST(tendons_stop) {
    const double h = 0.01;
    const law_case *law = &LAWS[_i];
    tribo_options o = tribo_default_options();
    o.dt = h, o.law.law = law->law, o.law.solver = law->solver;
    world w = hung(false, &o);
    ck_assert_int_eq(w.n.ntendon, 1);
    world_steps(&w, 1);
    w.x0[0] = -0.1, w.x0[1] = -0.05; /* it hangs in the lower end */
    world_run(&w);
    NEAR(w.X[w.n.nx + 2], -6.54 * h, law->tol);
    NEAR(w.X[w.n.nx + 3], 3.27 * h, law->tol);
    world_gradient(&w, 1, 0);
    NEAR(world_p_bar(&w, "rope/tendon_range/lower"), 1 / 9.0, 1e-6);
    NEAR(world_p_bar(&w, "rope/tendon_range/upper"), 0, 0);
    NEAR(w.x_bar[0], 8 / 9.0, 1e-6);
    NEAR(w.x_bar[1], -2 / 9.0, 1e-6);
    w.x0[0] = 0.295, w.x0[1] = 0, w.x0[2] = 2 + G * h, w.x0[3] = G * h; /* it is stopped in the step by the upper one */
    world_run(&w);
    NEAR(w.X[w.n.nx + 2], 2 - 1.5 / 4.5 / 2, 10 * law->tol);
    NEAR(w.X[w.n.nx + 3], -1.5 / 4.5 * 2, 10 * law->tol);
    world_gradient(&w, 1, 1);
    NEAR(world_p_bar(&w, "rope/tendon_range/upper"), 4 / 9.0, 1e-6);
    world_free(&w);
    w = hung(true, &o);
    world_steps(&w, 1);
    w.x0[0] = -0.1, w.x0[1] = -0.05; /* 3 v1 + w falls, and v1 + w: 2 v1 + (v1 + w) = l - 3 G h, v1 + w = 2 l - G h */
    world_run(&w);
    NEAR(w.X[w.n.nx + 2] + 2 * w.X[w.n.nx + 3], 0, 10 * law->tol);
    NEAR(5 * w.X[w.n.nx + 2] + w.X[w.n.nx + 3], -5 * G * h, 10 * law->tol); /* twice the first less the second */
    world_free(&w);
}
END_TEST

#define LINK(name, at, axis)                                                                                           \
    "<body name='" name "' pos='" at "'><joint name='" name "' axis='" axis "' damping='.02'/>"                        \
    "<geom type='capsule' fromto='0 0 0 .3 0 0' size='.03' contype='0' conaffinity='0'/>"
/* Two arms, one of which branches; tendons on one way, on both branches, between the arms, and of one joint. */
static const char ARMS[] = "<mujoco><option timestep='0.002'/><worldbody>" LINK("a", "0 0 0",
                                                                                "0 1 0") LINK("b", "0.3 0 0", "0 1 0")
    LINK("c", "0.3 0 0",
         "0 1 .2") "</body></body><body name='d' pos='.1 0 0'><joint name='d' type='slide' axis='0 0 1'/>"
                   "<geom size='.05' contype='0' conaffinity='0'/></body></body>" LINK("e", "0 .5 0", "0 1 0")
                       LINK("f", ".3 0 0", ".1 1 0") "</body></body></worldbody><tendon>"
                                                     "<fixed name='way' limited='true' range='-.1 .2'><joint joint='a' "
                                                     "coef='1'/><joint joint='c' coef='-.5'/></fixed>"
                                                     "<fixed name='fork' limited='true' range='-.3 .15'><joint "
                                                     "joint='d' coef='2'/><joint joint='b' coef='1'/></fixed>"
                                                     "<fixed name='both' limited='true' range='-.2 .2'><joint "
                                                     "joint='b' coef='1'/><joint joint='e' coef='-1'/>"
                                                     "<joint joint='c' coef='.4'/><joint joint='f' coef='.7'/></fixed>"
                                                     "<fixed name='one' limited='true' range='-.3 .1'><joint joint='d' "
                                                     "coef='2'/></fixed></tendon></mujoco>";

static tribo_model *arms(void) {
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    ck_assert_msg(tribo_model_load_memory(ARMS, sizeof ARMS - 1, "arms", NULL, &m, &diag) == TRIBO_OK, "%s", diag.text);
    return m;
}

/* Where the arms are a tenth of a second after some state: some tendons hang in their ends. */
static void hanging_start(world *w, unsigned *seed) {
    enum { STEPS = 50 };
    for (int i = 0; i < w->n.nq; i++) w->x0[i] = 0.05 * test_random(seed);
    for (int i = 0; i < w->n.nv; i++) w->x0[w->n.nq + i] = test_random(seed);
    world_steps(w, STEPS);
    world_run(w);
    memcpy(w->x0, w->X + STEPS * w->n.nx, sizeof *w->x0 * (size_t)w->n.nx);
}

START_TEST(tendons_reverse) {
    unsigned seed = 7;
    tribo_options o = tribo_default_options();
    if (_i) o.law.law = TRIBO_LAW_STOCHASTIC, o.law.noise = 0.1; /* differences are of less than it makes of a gap */
    world w = world_of(arms(), &o);
    double *xd = world_zeros(w.n.ndx), *pd = world_zeros(w.n.np), most = 0;
    for (int round = 0; round < 12; round++) {
        hanging_start(&w, &seed);
        for (int i = 0; i < w.n.ndx; i++) xd[i] = test_random(&seed);
        world_random_params(&w, 0.1, &seed, pd);
        world_steps(&w, round % 2 ? 3 : 1);
        world_run(&w);
        world_random_weights(&w, &seed);
        world_agrees(&w, xd, pd, _i ? 1e-7 : 1e-6, 1, 1e-11, 1e-6);
        for (int t = 0; t < w.n.ntendon; t++)
            for (int k = 0; k < TI_P_TENDON; k++) most = fmax(most, fabs(w.p_bar[w.m->tendon[t].p + k]));
    }
    ck_assert_double_gt(most, 0.1);
    free(xd), free(pd), world_free(&w);
}
END_TEST

/* A and B against the reverse of each row. */
START_TEST(tendons_jacobians) {
    unsigned seed = 11;
    world w = world_of(arms(), NULL);
    int ndx = w.n.ndx, nu = w.n.nu;
    double *A = world_zeros(ndx * ndx), *B = world_zeros(ndx * nu), *x_bar = world_zeros(ndx), *u_bar = world_zeros(nu);
    for (int round = 0; round < 6; round++) {
        hanging_start(&w, &seed);
        world_steps(&w, 1);
        world_run(&w);
        ck_assert_int_eq(tribo_step_jac(w.ws, w.tape, 0, A, B, NULL), TRIBO_OK);
        for (int i = 0; i < ndx; i++) {
            double *unit = world_zeros(ndx);
            unit[i] = 1;
            memset(x_bar, 0, sizeof *x_bar * (size_t)ndx), memset(u_bar, 0, sizeof *u_bar * (size_t)nu);
            ck_assert_int_eq(tribo_step_vjp(w.ws, w.tape, 0, unit, x_bar, u_bar, NULL), TRIBO_OK);
            for (int j = 0; j < ndx; j++) NEAR(A[i * ndx + j], x_bar[j], 1e-9);
            for (int j = 0; j < nu; j++) NEAR(B[i * nu + j], u_bar[j], 1e-11);
            free(unit);
        }
    }
    free(A), free(B), free(x_bar), free(u_bar), world_free(&w);
}
END_TEST

/* Within its limits no tendon does anything; thrown at them no step goes beyond. */
START_TEST(tendons_hold) {
    unsigned seed = 13;
    world w = world_of(arms(), NULL);
    const tribo_model *m = w.m;
    double worst = 0, reached = 0;
    world_steps(&w, 1000);
    for (int i = 0; i < w.n.nv; i++) w.x0[w.n.nq + i] = 2 * test_random(&seed);
    world_run(&w);
    for (int k = 0; k <= w.T; k++)
        for (int t = 0; t < w.n.ntendon; t++) {
            double length = 0;
            for (int e = m->tendon[t].pull0; e < m->tendon[t].pull0 + m->tendon[t].npull; e++)
                length += m->pull[e].coef * w.X[k * w.n.nx + m->pull[e].q];
            double low = length - w.p[m->tendon[t].p], high = w.p[m->tendon[t].p + 1] - length;
            worst = fmax(worst, -fmin(low, high)), reached += fabs(low) < 1e-9 || fabs(high) < 1e-9;
        }
    ck_assert_double_gt(reached, 100);
    ck_assert_double_lt(worst, 1e-9);
    world_free(&w);
}
END_TEST

/* ---- actuators on several branches ---- */

/* Discs on one vertical axis, of which the first is on a carriage, the second on the first, the third on the carriage
 * too: a drive of gear g and damping k on a_1 q2 + a_2 q3. */
static const double DISC[3] = {0.3, 0.2, 0.5}, COEF[2] = {0.7, -0.4};
enum { GEAR = 2, DAMPING = 30 };

static world discs(void) {
    tribo_builder *b = tribo_builder_new(NULL);
    int joint[4];
    for (int i = 0; i < 4; i++) {
        tribo_body_def d = tribo_default_body();
        tribo_joint_def j = tribo_default_joint();
        d.inertia_given = true, d.mass = 1, d.parent = i == 0 ? TRIBO_WORLD : i == 2 ? 1 : 0;
        d.inertia[0] = d.inertia[1] = 0.3, d.inertia[2] = i == 0 ? 0.3 : DISC[i - 1];
        j.kind = i == 0 ? TRIBO_JOINT_SLIDE : TRIBO_JOINT_HINGE;
        if (i == 0) j.axis[0] = 1, j.axis[2] = 0;
        joint[i] = tribo_add_joint(b, tribo_add_body(b, &d), &j);
    }
    tribo_actuator_def a = tribo_default_actuator();
    a.njoint = 2, a.joint = joint + 2, a.coef = COEF, a.gear = GEAR, a.bias[2] = -DAMPING;
    tribo_add_actuator(b, &a);
    return world_new(b, 0.01);
}

/* M v' = M v + h g a (u - k g a'v'), whose M is of the discs alone: M^-1 a is (-a_1/I_1, a_1/I_1 + a_1/I_2, a_2/I_3).
 */
START_TEST(drives_on_two_branches) {
    const double h = 0.01, g = GEAR, x = COEF[0], y = COEF[1], v[4] = {0.3, 2, -5, 4}, u = 7;
    const double a[4] = {0, 0, g * x, g * y},
                 by[4] = {0, -g * x / DISC[0], g * x / DISC[0] + g * x / DISC[1], g * y / DISC[2]};
    const double share = h / (1 + h * DAMPING * (a[2] * by[2] + a[3] * by[3])), rate = a[2] * v[2] + a[3] * v[3];
    world w = discs();
    double A[64], B[64], row[8];
    ck_assert(w.n.nv == 4 && w.n.nu == 5);
    memcpy(w.x0 + 4, v, sizeof v);
    world_steps(&w, 1);
    w.U[4] = u;
    world_run(&w);
    ck_assert_int_eq(tribo_step_jac(w.ws, w.tape, 0, A, B, NULL), TRIBO_OK);
    for (int i = 0; i < 4; i++) {
        double unit[8] = {0};
        unit[4 + i] = 1;
        memset(row, 0, sizeof row);
        ck_assert_int_eq(tribo_step_vjp(w.ws, w.tape, 0, unit, row, NULL, NULL), TRIBO_OK);
        NEAR(w.X[8 + 4 + i], v[i] + share * by[i] * (u - DAMPING * rate), 1e-13);
        NEAR(B[5 * (4 + i) + 4], share * by[i], 1e-14);
        for (int j = 0; j < 4; j++) {
            NEAR(A[8 * (4 + i) + 4 + j], (i == j) - share * by[i] * DAMPING * a[j], 1e-13);
            NEAR(row[4 + j], A[8 * (4 + i) + 4 + j], 1e-13);
        }
    }
    world_free(&w);
}
END_TEST

#ifdef HAVE_MUJOCO
/* Some state, with tendons at and beyond their ends. */
static void random_start(world *w, unsigned *seed) {
    for (int i = 0; i < w->n.nq; i++) w->x0[i] = 0.15 * test_random(seed);
    for (int i = 0; i < w->n.nv; i++) w->x0[w->n.nq + i] = test_random(seed);
}

/* Which ends are passed, by how much, and their rows. */
START_TEST(tendons_are_mujocos) {
    static const char PATH[] = "tendons_test.xml";
    char error[512];
    unsigned seed = 3;
    FILE *f = fopen(PATH, "w");
    fputs(ARMS, f), fclose(f);
    world w = world_of(arms(), NULL);
    mjModel *mm = mj_loadXML(PATH, NULL, error, sizeof error);
    ck_assert_msg(mm != NULL, "%s", error);
    mm->opt.jacobian = mjJAC_DENSE;
    mjData *d = mj_makeData(mm);
    int compared = 0;
    for (int round = 0; round < 50; round++) {
        random_start(&w, &seed);
        mju_copy(d->qpos, w.x0, mm->nq), mju_copy(d->qvel, w.x0 + mm->nq, mm->nv);
        mj_forward(mm, d);
        for (int i = 0; i < d->nefc; i++) {
            if (d->efc_type[i] != mjCNSTR_LIMIT_TENDON) continue;
            const ti_tendon *t = &w.m->tendon[d->efc_id[i]];
            double length = 0, row[16] = {0};
            for (int k = t->pull0; k < t->pull0 + t->npull; k++)
                length += w.m->pull[k].coef * w.x0[w.m->pull[k].q], row[w.m->pull[k].v] = w.m->pull[k].coef;
            bool low = length < 0;
            ck_assert_str_eq(t->name, mj_id2name(mm, mjOBJ_TENDON, d->efc_id[i]));
            NEAR(low ? length - w.p[t->p] : w.p[t->p + 1] - length, d->efc_pos[i], 1e-14);
            for (int v = 0; v < mm->nv; v++) NEAR(low ? row[v] : -row[v], d->efc_J[i * mm->nv + v], 1e-14);
            compared++;
        }
    }
    ck_assert_int_gt(compared, 30);
    mj_deleteData(d), mj_deleteModel(mm), world_free(&w);
    ck_assert_int_eq(remove(PATH), 0);
}
END_TEST
#endif

static Suite *suite(void) {
    Suite *s = suite_create("tendons");
    TCase *c = tcase_create("all");
    tcase_add_loop_test(c, tendons_stop, 0, NLAWS);
    tcase_add_loop_test(c, tendons_reverse, 0, 2);
    tcase_add_test(c, tendons_jacobians);
    tcase_add_test(c, tendons_hold);
    tcase_add_test(c, drives_on_two_branches);
#ifdef HAVE_MUJOCO
    tcase_add_test(c, tendons_are_mujocos);
#endif
    suite_add_tcase(s, c);
    return s;
}
