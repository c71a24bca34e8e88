/* test_brakes.c -- free joints with damping, armature and dry friction: against closed forms, against three slides and
 * a ball, which move a body as they do, and as scenes have them. docs/math.md eq. (515)-(517). */
#include "model/model.h"
#include "models.h"
#include "test_main.h"
#include "worlds.h"
#include <tribo/dynamics.h>
#include <tribo/sysid.h>
#ifdef HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

/* ---- closed forms ---- */

enum { BALL_P = 64 };
static const double h = 0.01, mass = 2, moment = 0.05;

/* A ball whose centre is its origin, in space. */
static tribo_model *ball(double damping, double armature, double frictionloss) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_body_def d = tribo_default_body();
    d.name = "ball", d.inertia_given = true, d.mass = mass;
    for (int i = 0; i < 3; i++) d.inertia[i] = moment;
    d.damping = damping, d.armature = armature, d.frictionloss = frictionloss;
    tribo_add_body(b, &d);
    return world_build(b);
}

/* A step from velocity v, and the gradient of number `of` of the next. */
static void step_ball(tribo_model *m, const double *v, int of, double *next, double *p_bar) {
    double p[BALL_P], x[13] = {0, 0, 0, 1}, lx[24] = {0}, x_bar[12];
    tribo_options o = tribo_default_options();
    tribo_ws *ws;
    tribo_tape *tape;
    o.dt = h, lx[12 + 6 + of] = 1;
    ck_assert_int_le(tribo_model_sizes(m).np, BALL_P);
    tribo_model_params(m, p);
    memcpy(x + 7, v, 6 * sizeof *v), memset(p_bar, 0, BALL_P * sizeof *p_bar);
    ck_assert_int_eq(tribo_ws_new(m, &o, NULL, &ws, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_tape_new(ws, 1, 0, &tape), TRIBO_OK);
    ck_assert_int_eq(tribo_step(ws, p, x, NULL, x, tape), TRIBO_OK);
    ck_assert_int_ge(tribo_backward(ws, tape, lx, x_bar, NULL, p_bar), 0);
    memcpy(next, x + 7, 6 * sizeof *next);
    tribo_tape_free(tape), tribo_ws_free(ws);
}

/* (m + a + h b) v' = (m + a) v + h m g, each number by itself. */
START_TEST(damping_and_armature_by_hand) {
    const double b = 3, a = 0.2, v[6] = {1, -2, 0.5, 3, 0, 0};
    double next[6], p_bar[BALL_P];
    tribo_model *m = ball(b, a, 0);
    step_ball(m, v, 0, next, p_bar);
    double share = (mass + a) / (mass + a + h * b), turns = (moment + a) / (moment + a + h * b);
    NEAR(next[0], share * v[0], 1e-14);
    NEAR(next[1], share * v[1], 1e-14);
    NEAR(next[3], turns * v[3], 1e-14);
    NEAR(next[2], share * v[2] - h * mass * G / (mass + a + h * b), 1e-14);
    double all = mass + a + h * b;
    NEAR(p_bar[tribo_param_find(m, "ball/free_damping")], -h * v[0] * share / all, 1e-14);
    NEAR(p_bar[tribo_param_find(m, "ball/free_armature")], h * b * v[0] / (all * all), 1e-14);
    step_ball(m, v, 3, next, p_bar);
    all = moment + a + h * b;
    NEAR(p_bar[tribo_param_find(m, "ball/free_damping")], -h * v[3] * turns / all, 1e-13);
    NEAR(p_bar[tribo_param_find(m, "ball/free_armature")], h * b * v[3] / (all * all), 1e-13);
    tribo_model_free(m);
}
END_TEST

/* Against each number that moves, and what holds one at rest: weight is more. */
START_TEST(dry_friction_by_hand) {
    const double f = 0.4, v[6] = {1, 0, 0, -2, 0, 0};
    double next[6], p_bar[BALL_P];
    tribo_model *m = ball(0, 0, f);
    step_ball(m, v, 0, next, p_bar);
    NEAR(next[0], v[0] - h * f / mass, 1e-13);
    NEAR(next[1], 0, 1e-13);
    NEAR(next[2], -h * (G - f / mass), 1e-13);
    NEAR(next[3], v[3] + h * f / moment, 1e-13);
    NEAR(next[4], 0, 1e-13);
    NEAR(p_bar[tribo_param_find(m, "ball/free_frictionloss")], -h / mass, 1e-10);
    step_ball(m, v, 3, next, p_bar);
    NEAR(p_bar[tribo_param_find(m, "ball/free_frictionloss")], h / moment, 1e-9);
    tribo_model_free(m);
}
END_TEST

/* ---- three slides and a ball ---- */

/* A tree off its frame with a joint, something welded on, and a body by itself; `free` and `alone` move the two. */
#define MOVED(free, alone)                                                                                             \
    "<mujoco><option timestep='0.005'/><default><geom density='300' friction='0.6'/></default><worldbody>"             \
    "<geom name='floor' type='plane' size='0 0 1'/><body name='raft'>" free                                            \
    "<geom type='capsule' size='0.05' fromto='-0.2 -0.02 0 0.3 -0.05 0'/><body pos='0.1 0.05 0.08' euler='10 0 0'>"    \
    "<geom type='box' size='0.05 0.02 0.06' pos='0 0 0.05'/></body><body pos='-0.1 0 0.05'>"                           \
    "<joint name='hinge' axis='0 1 0.2' damping='0.1'/><geom type='capsule' size='0.03' fromto='0 0 0.05 0.03 0.02 "   \
    "0.3'/></body></body><body name='buoy'>" alone                                                                     \
    "<geom type='ellipsoid' size='0.08 0.1 0.15' pos='0.03 0.01 0.05'/></body></worldbody>"                            \
    "<keyframe><key qpos='0 0 0.05 0.985 0 0 0.174 0.2  0.7 0.1 0.3 0.9 0.1 0.2 0' qvel='0.6 -0.3 0 0 0 1.5 -2  "      \
    "-0.4 0.2 -1 1 -2 3'/></keyframe></mujoco>"
#define SLIDES(name, words)                                                                                            \
    "<joint name='" name "x' type='slide' axis='1 0 0' " words "/><joint name='" name                                  \
    "y' type='slide' axis='0 1 0' " words "/><joint name='" name "z' type='slide' axis='0 0 1' " words                 \
    "/><joint name='" name "b' type='ball' " words "/>"
#define BY_RAFT "damping='0.4' armature='0.03'"
#define BY_BUOY "damping='0.2' armature='0.01' frictionloss='0.3'"
enum { MOVED_NV = 13, MOVED_NX = 28, MOVED_STEPS = 60 };

static void run_moved(world *w, const char *text) {
    *w = world_of(model_of(text), NULL);
    ck_assert_int_eq(w->n.nx, MOVED_NX);
    world_steps(w, MOVED_STEPS);
    for (int t = 0; t < MOVED_STEPS; t++)
        for (int i = 0; i < MOVED_NV; i++) w->U[t * MOVED_NV + i] = 0.3 * sin(t + 3 * i);
    world_run(w);
    for (int i = 0; i < 2 * MOVED_NV; i++) w->lx[MOVED_STEPS * 2 * MOVED_NV + i] = sin(i + 1);
    world_reverse(w);
}

/* The cotangents of the three slides and the ball together. */
static double of_slides(const world *w, const char *name, const char *number) {
    static const char JOINT[] = "xyzb";
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        char path[64];
        snprintf(path, sizeof path, "%s%c/%s", name, JOINT[k], number);
        sum += world_p_bar(w, path);
    }
    return sum;
}

START_TEST(slides_and_a_ball_move_as_much) {
    static const char *const NUMBER[] = {"damping", "armature", "frictionloss"};
    world w[2];
    run_moved(&w[0], MOVED("<joint type='free' " BY_RAFT "/>", "<joint type='free' " BY_BUOY "/>"));
    run_moved(&w[1], MOVED(SLIDES("raft", BY_RAFT), SLIDES("buoy", BY_BUOY)));
    bool touched = false;
    for (int i = 0; i < (MOVED_STEPS + 1) * MOVED_NX; i++) NEAR(w[0].X[i], w[1].X[i], 1e-11 * (1 + fabs(w[1].X[i])));
    for (int t = 1; t <= MOVED_STEPS; t++)
        touched |= w[0].X[t * MOVED_NX + 15 + 9] > w[0].X[(t - 1) * MOVED_NX + 15 + 9] + 0.01;
    ck_assert(touched);
    for (int i = 0; i < 2 * MOVED_NV; i++) NEAR(w[0].x_bar[i], w[1].x_bar[i], 1e-9 * (1 + fabs(w[1].x_bar[i])));
    for (int i = 0; i < MOVED_STEPS * MOVED_NV; i++)
        NEAR(w[0].u_bar[i], w[1].u_bar[i], 1e-9 * (1 + fabs(w[1].u_bar[i])));
    for (int k = 0; k < 6; k++) {
        const char *name = k % 2 ? "raft" : "buoy";
        char path[64];
        snprintf(path, sizeof path, "%s/free_%s", name, NUMBER[k / 2]);
        double sum = of_slides(&w[1], name, NUMBER[k / 2]);
        NEAR(world_p_bar(&w[0], path), sum, 1e-9 * (1 + fabs(sum)));
    }
    static const char *const SAME[] = {"raft/mass", "raft/com/y", "buoy/inertia/xz", "hinge/damping", "floor/friction"};
    for (int k = 0; k < 5; k++) {
        double bar = world_p_bar(&w[1], SAME[k]);
        NEAR(world_p_bar(&w[0], SAME[k]), bar, 1e-9 * (1 + fabs(bar)));
    }
    world_free(&w[0]), world_free(&w[1]);
}
END_TEST

/* What tribo/dynamics.h and energies have of both. */
START_TEST(dynamics_are_those_of_slides_and_a_ball) {
    static const char *const TEXT[2] = {MOVED("<joint type='free' " BY_RAFT "/>", "<joint type='free' " BY_BUOY "/>"),
                                        MOVED(SLIDES("raft", BY_RAFT), SLIDES("buoy", BY_BUOY))};
    double M[2][MOVED_NV * MOVED_NV], c[2][4 * MOVED_NV], e[2][2], x[MOVED_NX];
    for (int k = 0; k < 2; k++) {
        tribo_model *m = model_of(TEXT[k]);
        tribo_dynamics *d;
        double *p = world_zeros(tribo_model_sizes(m).np), *a = c[k] + 2 * MOVED_NV;
        tribo_model_params(m, p), tribo_model_key(m, 0, x, NULL);
        ck_assert_int_eq(tribo_dynamics_new(m, NULL, &d), TRIBO_OK);
        ck_assert_int_eq(tribo_dynamics_set_state(d, x), TRIBO_OK);
        ck_assert_int_eq(tribo_inertia(d, M[k]), TRIBO_OK);
        ck_assert_int_eq(tribo_bias_forces(d, c[k]), TRIBO_OK);
        ck_assert_int_eq(tribo_joint_forces(d, NULL, c[k] + MOVED_NV), TRIBO_OK);
        ck_assert_int_eq(tribo_forward_dynamics(d, c[k] + MOVED_NV, a), TRIBO_OK);
        ck_assert_int_eq(tribo_inverse_dynamics(d, a, a + MOVED_NV), TRIBO_OK);
        ck_assert_int_eq(tribo_kinetic_energy(d, e[k]), TRIBO_OK);
        e[k][1] = tribo_energy(m, p, x);
        tribo_dynamics_free(d), tribo_model_free(m), free(p);
    }
    for (int i = 0; i < MOVED_NV * MOVED_NV; i++) NEAR(M[0][i], M[1][i], 1e-13);
    for (int i = 0; i < 4 * MOVED_NV; i++) NEAR(c[0][i], c[1][i], 1e-12 * (1 + fabs(c[1][i])));
    for (int i = 0; i < 2; i++) NEAR(e[0][i], e[1][i], 1e-12 * fabs(e[1][i]));
}
END_TEST

/* ---- numbers ---- */

START_TEST(numbers_have_names) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_body_def d = tribo_default_body();
    d.inertia_given = true, d.mass = 1, d.inertia[0] = d.inertia[1] = d.inertia[2] = 1;
    d.name = "plain", tribo_add_body(b, &d);
    d.name = "one", d.damping = 0.5, tribo_add_body(b, &d);
    d.name = "two", d.damping = 0, d.armature = 2, d.frictionloss = 3, tribo_add_body(b, &d);
    tribo_model *m = world_build(b);
    tribo_param_info info;
    tribo_diag diag = {0};
    double p[BALL_P];
    int index[3];
    ck_assert_int_eq(tribo_model_sizes(m).np, 3 + 3 * 10 + 2 * 3);
    tribo_model_params(m, p);
    ck_assert_int_eq(tribo_param_find(m, "plain/free_damping"), -1);
    ck_assert_double_eq(p[tribo_param_find(m, "one/free_damping")], 0.5);
    ck_assert_double_eq(p[tribo_param_find(m, "two/free_armature")], 2);
    ck_assert_double_eq(p[tribo_param_find(m, "two/free_frictionloss")], 3);
    ck_assert_int_eq(tribo_param_group(m, "one/free_frictionloss", index, 3), 0); /* it was given none */
    ck_assert_int_eq(tribo_param_group(m, "two/free_frictionloss", index, 3), 1);
    ck_assert_int_eq(tribo_param_describe(m, index[0], &info), TRIBO_OK);
    ck_assert_str_eq(info.name, "two/free_frictionloss");
    ck_assert(info.kind == TRIBO_PARAM_FRICTIONLOSS && info.body == 2 && info.lower == 0);
    p[index[0]] = -1;
    ck_assert_int_eq(tribo_params_check(m, p, &diag), TRIBO_E_ARG);
    ck_assert_msg(strstr(diag.text, "body two: frictionloss must be >= 0"), "%s", diag.text);
    tribo_model_free(m);
}
END_TEST

START_TEST(what_cannot_be_is_refused) {
    static const char *const WHY[] = {"damping must be >= 0", "armature must be >= 0", "frictionloss must be >= 0",
                                      "not finite", "of a body that is free"};
    for (int k = 0; k < 5; k++) {
        tribo_builder *b = tribo_builder_new(NULL);
        tribo_body_def d = tribo_default_body();
        tribo_joint_def j = tribo_default_joint();
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        d.inertia_given = true, d.mass = 1, d.inertia[0] = d.inertia[1] = d.inertia[2] = 1;
        if (k == 0) d.damping = -1;
        if (k == 1) d.armature = -1;
        if (k == 2) d.frictionloss = -1;
        if (k == 3) d.damping = (double)NAN;
        if (k == 4) d.damping = 1;
        int body = tribo_add_body(b, &d);
        if (k == 4) tribo_add_joint(b, body, &j);
        ck_assert_int_eq(tribo_build(b, &m, &diag), TRIBO_E_ARG);
        ck_assert_msg(strstr(diag.text, WHY[k]), "`%s` does not say %s", diag.text, WHY[k]);
    }
}
END_TEST

/* ---- identification ---- */

enum { ROWS = 16, WANTED = 3 };

/* Forces of joints are those of the middle of a step there, of a free one too. */
START_TEST(fits_have_their_gradient) {
    static const char *const NAME[WANTED] = {"ball/free_damping", "ball/free_armature", "ball/mass"};
    tribo_model *m = ball(3, 0.2, 0);
    double time[ROWS], x[ROWS * 13] = {0, 0, 0, 1}, u[ROWS * 6] = {0}, theta[WANTED], grad[WANTED], value;
    tribo_free_param wanted[WANTED];
    tribo_sysid_def def = tribo_default_sysid();
    tribo_options o = tribo_default_options();
    tribo_recording rec = {.n = ROWS, .time = time, .x = x, .u = u};
    tribo_sysid *s;
    tribo_ws *ws;
    double p[BALL_P];
    o.dt = h, tribo_model_params(m, p);
    ck_assert_int_eq(tribo_ws_new(m, &o, NULL, &ws, NULL), TRIBO_OK);
    for (int i = 0; i < 6; i++) x[7 + i] = 1 - 0.5 * i;
    for (int k = 0; k < ROWS; k++) {
        time[k] = k * h, u[6 * k] = 20 * sin(k), u[6 * k + 4] = cos(k);
        if (k) ck_assert_int_eq(tribo_step(ws, p, x + 13 * (k - 1), u + 6 * (k - 1), x + 13 * k, NULL), TRIBO_OK);
    }
    def.options = &o, def.rec = &rec, def.nrec = 1, def.loss = TRIBO_LOSS_SHOOTING, def.start = TRIBO_START_AUTO;
    def.free = wanted, def.nfree = WANTED;
    for (int i = 0; i < WANTED; i++) wanted[i] = tribo_default_free(), wanted[i].index = tribo_param_find(m, NAME[i]);
    ck_assert_int_eq(tribo_sysid_new(m, &def, &s, NULL), TRIBO_OK);
    tribo_sysid_theta(s, theta);
    for (int a = 0; a < WANTED; a++) theta[a] += 0.02 * (a + 1);
    ck_assert_int_eq(tribo_sysid_eval(s, theta, &value, grad), TRIBO_OK);
    for (int a = 0; a < WANTED; a++) {
        const double e = 1e-5;
        double ends[2], moved[WANTED];
        for (int side = 0; side < 2; side++) {
            memcpy(moved, theta, sizeof moved), moved[a] += side ? e : -e;
            ck_assert_int_eq(tribo_sysid_eval(s, moved, &ends[side], NULL), TRIBO_OK);
        }
        ck_assert_double_gt(fabs(grad[a]), 0);
        NEAR(grad[a], (ends[1] - ends[0]) / (2 * e), 1e-5 * fabs(grad[a]));
    }
    tribo_sysid_free(s), tribo_ws_free(ws), tribo_model_free(m);
}
END_TEST

/* ---- scenes ---- */

#define SCENE(option, first)                                                                                           \
    "<mujoco>" option "<default><joint damping='0.4' frictionloss='0.1'/><default class='c'><joint armature='0.2'/>"   \
    "</default></default><worldbody><body name='a' childclass='c'>" first "<geom size='0.1' pos='0.1 0 0'/></body>"    \
    "<body name='b'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>"

static double number(const tribo_model *m, const char *name) {
    int i = tribo_param_find(m, name);
    return i < 0 ? -1 : m->p0[i];
}

/* A free <joint> has what its class has, a <freejoint> nothing. */
START_TEST(scenes_have_defaults) {
    tribo_model *m = model_of(SCENE("", "<joint type='free' frictionloss='0.3'/>"));
    ck_assert(number(m, "a/free_damping") == 0.4 && number(m, "a/free_armature") == 0.2);
    ck_assert(number(m, "a/free_frictionloss") == 0.3 && number(m, "b/free_damping") == -1);
    tribo_model_free(m);
    m = model_of(SCENE("<option><flag frictionloss='disable'/></option>", "<joint type='free'/>"));
    ck_assert(number(m, "a/free_damping") == 0.4 && number(m, "a/free_frictionloss") == 0);
    tribo_model_free(m);
    m = model_of(SCENE("", "<joint type='free' damping='0' armature='0' frictionloss='0' stiffness='0'/>"));
    tribo_model *plain = model_of(SCENE("", "<freejoint/>"));
    ck_assert(number(m, "a/free_damping") == -1 && m->size.np == plain->size.np);
    tribo_model_free(m), tribo_model_free(plain);
}
END_TEST

static void write_text(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert(fputs(text, f) >= 0 && fclose(f) == 0);
}

/* MuJoCo has the numbers of the file that is written, too. */
START_TEST(scenes_are_saved) {
    static const char PATH[] = "test_brakes.xml", OUT[] = "test_brakes_saved.xml",
                      *const NAME[] = {"a/free_damping", "a/free_armature", "a/free_frictionloss"};
    write_text(PATH, SCENE("", "<joint name='drift' type='free'/>"));
    tribo_model *m = NULL, *back = NULL;
    tribo_diag diag = {0};
    double p[128], want[3] = {0.75, 0, 0.0625};
    ck_assert_msg(tribo_model_load(PATH, NULL, &m, &diag) == TRIBO_OK, "%s", diag.text);
    ck_assert_int_le(m->size.np, 128);
    tribo_model_params(m, p);
    for (int k = 0; k < 3; k++) p[tribo_param_find(m, NAME[k])] = want[k];
    ck_assert_msg(tribo_model_save(m, p, PATH, OUT, &diag) == TRIBO_OK, "%s", diag.text);
    ck_assert_msg(tribo_model_load(OUT, NULL, &back, &diag) == TRIBO_OK, "%s", diag.text);
    for (int i = 0; i < m->size.np; i++) ck_assert_double_eq(back->p0[i], p[i]);
#ifdef HAVE_MUJOCO
    char error[512];
    mjModel *mm = mj_loadXML(OUT, NULL, error, sizeof error);
    ck_assert_msg(mm != NULL, "%s", error);
    for (int i = 0; i < 6; i++) {
        ck_assert(mm->dof_damping[i] == want[0] && mm->dof_armature[i] == want[1]);
        ck_assert(mm->dof_frictionloss[i] == want[2] && mm->dof_damping[6 + i] == 0);
    }
    mj_deleteModel(mm);
#endif
    for (int k = 0; k < 3; k++) p[tribo_param_find(m, NAME[k])] = 0;
    ck_assert_int_eq(tribo_model_save(m, p, PATH, OUT, &diag), TRIBO_E_ARG);
    ck_assert_msg(strstr(diag.text, "a/free_damping: "), "%s", diag.text);
    ck_assert(remove(PATH) == 0 && remove(OUT) == 0);
    tribo_model_free(m), tribo_model_free(back);
}
END_TEST

#ifdef HAVE_MUJOCO
/* Where nothing turns and links do not hang on one another, MuJoCo's Euler step is the same. */
START_TEST(steps_are_mujocos) {
    static const char PATH[] = "test_brakes.xml";
    write_text(PATH, "<mujoco><option timestep='0.01'/><worldbody><body name='a'><joint type='free' damping='0.8' "
                     "armature='0.3'/><geom size='0.1' mass='1.5'/></body></worldbody></mujoco>");
    char error[512];
    mjModel *mm = mj_loadXML(PATH, NULL, error, sizeof error);
    ck_assert_msg(mm != NULL, "%s", error);
    mjData *d = mj_makeData(mm);
    tribo_model *m = NULL;
    ck_assert_int_eq(tribo_model_load(PATH, NULL, &m, NULL), TRIBO_OK);
    world w = world_of(m, NULL);
    enum { MADE = 50 };
    world_steps(&w, MADE);
    for (int i = 0; i < 6; i++) w.x0[7 + i] = d->qvel[i] = 1 - 0.7 * i;
    world_run(&w);
    for (int t = 1; t <= MADE; t++) {
        mj_step(mm, d);
        for (int i = 0; i < 13; i++) NEAR(w.X[13 * t + i], i < 7 ? d->qpos[i] : d->qvel[i - 7], 1e-12);
    }
    world_free(&w);
    mj_deleteData(d), mj_deleteModel(mm);
    ck_assert_int_eq(remove(PATH), 0);
}
END_TEST
#endif

static Suite *suite(void) {
    Suite *s = suite_create("brakes");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 120);
    tcase_add_test(c, damping_and_armature_by_hand);
    tcase_add_test(c, dry_friction_by_hand);
    tcase_add_test(c, slides_and_a_ball_move_as_much);
    tcase_add_test(c, dynamics_are_those_of_slides_and_a_ball);
    tcase_add_test(c, numbers_have_names);
    tcase_add_test(c, what_cannot_be_is_refused);
    tcase_add_test(c, fits_have_their_gradient);
    tcase_add_test(c, scenes_have_defaults);
    tcase_add_test(c, scenes_are_saved);
#ifdef HAVE_MUJOCO
    tcase_add_test(c, steps_are_mujocos);
#endif
    suite_add_tcase(s, c);
    return s;
}
