/* test_joints.c -- limits, dry friction and balls against closed forms, under every contact law. */
#include "law_cases.h"
#include "model/model.h"
#include "models.h"
#include "test_main.h"
#include "worlds.h"
#include <tribo/dynamics.h>

/* A block of 2 kg on one joint, at rest at zero; held there or not. */
static tribo_model *block(tribo_joint_def joint, double gravity, bool held) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    tribo_set_gravity(b, (double[3]){0, 0, gravity});
    tribo_body_def d = tribo_default_body();
    d.name = "block", d.inertia_given = true, d.mass = 2;
    d.inertia[0] = 0.02, d.inertia[1] = 0.03, d.inertia[2] = 0.045;
    int body = tribo_add_body(b, &d);
    joint.name = "way";
    tribo_equality_def e = tribo_default_equality();
    e.kind = TRIBO_EQUALITY_JOINT, e.a = tribo_add_joint(b, body, &joint), e.b = -1;
    if (held) tribo_add_equality(b, &e);
    ck_assert_msg(tribo_build(b, &m, &diag) == TRIBO_OK, "%s", diag.text);
    return m;
}

static tribo_joint_def slide(void) {
    tribo_joint_def j = tribo_default_joint();
    j.kind = TRIBO_JOINT_SLIDE;
    return j;
}

/* A step of 10 ms of the block, and the reverse of its velocity (in place of dv) or position. */
typedef struct stepped {
    double next[2], x_bar[2], u_bar, p_bar[64];
} stepped;
static stepped step(tribo_model *m, const law_case *law, double q, double v, double u, bool by_velocity) {
    stepped out = {0};
    tribo_options o = tribo_default_options();
    o.dt = 0.01;
    if (law) o.law.law = law->law, o.law.solver = law->solver;
    tribo_ws *ws;
    tribo_tape *tape;
    double p[64], x[2] = {q, v}, lx[4] = {0, 0, !by_velocity, by_velocity};
    ck_assert_int_le(tribo_model_sizes(m).np, 64);
    tribo_model_params(m, p);
    ck_assert_int_eq(tribo_ws_new(m, &o, NULL, &ws, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_tape_new(ws, 1, 0, &tape), TRIBO_OK);
    ck_assert_int_eq(tribo_step(ws, p, x, &u, out.next, tape), TRIBO_OK);
    ck_assert_int_ge(tribo_backward(ws, tape, lx, out.x_bar, &out.u_bar, out.p_bar), 0);
    tribo_tape_free(tape), tribo_ws_free(ws);
    return out;
}

/* Pushed by 5 N against 3 N of dry friction: v = h (5 - 3) / m; against 8 N it stays; sliding on, friction brakes. */
START_TEST(dry_friction) {
    const law_case *law = &LAWS[_i];
    tribo_joint_def j = slide();
    j.frictionloss = 3;
    tribo_model *m = block(j, 0, false);
    int loss = tribo_param_find(m, "way/frictionloss"), mass = tribo_param_find(m, "block/mass");
    stepped s = step(m, law, 0, 0, 5, true);
    ck_assert_double_eq_tol(s.next[1], 0.01, law->tol);
    ck_assert_double_eq_tol(s.p_bar[loss], -0.005, 1e-9);
    ck_assert_double_eq_tol(s.u_bar, 0.005, 1e-9);
    ck_assert_double_eq_tol(s.p_bar[mass], -0.005, 1e-6);
    s = step(m, law, 0, 0, -2.5, true);
    ck_assert_double_eq_tol(s.next[1], 0, law->tol);
    ck_assert_double_eq_tol(s.u_bar, 0, 1e-9);
    ck_assert_double_eq_tol(s.p_bar[loss], 0, 1e-9);
    s = step(m, law, 0, -1, 0, true);
    ck_assert_double_eq_tol(s.next[1], -0.985, law->tol);
    ck_assert_double_eq_tol(s.x_bar[1], 1, 1e-9);
    ck_assert_double_eq_tol(s.p_bar[loss], 0.005, 1e-9);
    tribo_model_free(m);
}
END_TEST

/* Where nothing asks for an impulse, what sticks and what is held do so all the same. */
START_TEST(nothing_pushes) {
    const law_case *law = &LAWS[_i];
    tribo_joint_def j = slide();
    j.frictionloss = 3;
    tribo_model *m = block(j, 0, false), *held = block(slide(), 0, true);
    stepped s = step(m, law, 0, 0, 0, true);
    ck_assert_double_eq(s.next[1], 0);
    ck_assert_double_eq_tol(s.x_bar[1], 0, 1e-9);
    ck_assert_double_eq_tol(s.u_bar, 0, 1e-9);
    for (int by_velocity = 0; by_velocity < 2; by_velocity++) {
        s = step(held, law, 0, 0, 0, by_velocity);
        for (int k = 0; k < 2; k++) ck_assert_double_eq(s.next[k], 0);
        ck_assert_double_eq_tol(s.x_bar[1], 0, 1e-9);
        ck_assert_double_eq_tol(s.u_bar, 0, 1e-9);
    }
    tribo_model_free(m), tribo_model_free(held);
}
END_TEST

/* Hung in its limits: against the lower one it rests and follows it, and the upper one stops it where it is. */
START_TEST(limits) {
    const law_case *law = &LAWS[_i];
    tribo_joint_def j = slide();
    j.limited = true, j.range[0] = -0.2, j.range[1] = 0.3;
    tribo_model *m = block(j, -9.81, false);
    int low = tribo_param_find(m, "way/range/lower"), high = tribo_param_find(m, "way/range/upper");
    stepped s = step(m, law, -0.2, 0, 0, false);
    ck_assert_double_eq_tol(s.next[0], -0.2, law->tol);
    ck_assert_double_eq_tol(s.next[1], 0, law->tol);
    ck_assert_double_eq_tol(s.p_bar[low], 1, 1e-6);
    ck_assert_double_eq_tol(s.x_bar[0], 0, 1e-6);
    s = step(m, law, 0.295, 2, 0, false);
    ck_assert_double_eq_tol(s.next[0], 0.3, law->tol);
    ck_assert_double_eq_tol(s.p_bar[high], 1, 1e-6);
    ck_assert_double_eq_tol(s.x_bar[1], 0, 1e-6);
    tribo_model_free(m);
}
END_TEST

/* A joint at rest at its limit: under a load that its dry friction could not bear it follows the limit whole, not by
 * half; one that the friction bears alone stays as the limit recedes. An equality is followed whatever the load. */
START_TEST(dry_friction_yields) {
    static const double WEIGHT[] = {-9.81, -0.5};
    const law_case *law = &LAWS[_i];
    tribo_joint_def j = slide();
    j.frictionloss = 3, j.limited = true, j.range[0] = -0.2, j.range[1] = 0.3;
    for (int bears = 0; bears < 2; bears++) {
        tribo_model *m = block(j, WEIGHT[bears], false);
        stepped s = step(m, law, -0.2, 0, 0, false);
        ck_assert_double_eq_tol(s.next[0], -0.2, law->tol);
        ck_assert_double_eq_tol(s.p_bar[tribo_param_find(m, "way/range/lower")], bears ? 0 : 1, 1e-6);
        ck_assert_double_eq_tol(s.x_bar[0], bears ? 1 : 0, 1e-6);
        ck_assert_double_eq_tol(s.u_bar, 0, 1e-9);
        tribo_model_free(m);
    }
    j.limited = false;
    tribo_model *m = block(j, -0.5, true);
    stepped s = step(m, law, 0, 0, 0, true);
    ck_assert_double_eq_tol(s.x_bar[0], -100, 1e-4);
    ck_assert_double_eq_tol(s.u_bar, 0, 1e-9);
    tribo_model_free(m);
}
END_TEST

/* At 2 m/s onto a limit that gives half of it back; the same of a hinge, in radians. */
START_TEST(limits_bounce) {
    tribo_joint_def j = slide();
    if (_i) j = tribo_default_joint();
    j.limited = true, j.range[0] = -0.2, j.range[1] = 0.3, j.restitution = 0.5;
    tribo_model *m = block(j, 0, false);
    int e = tribo_param_find(m, "way/limit_restitution"), high = tribo_param_find(m, "way/range/upper");
    stepped s = step(m, NULL, 0.295, 2, 0, true);
    ck_assert_double_eq_tol(s.next[1], -1, 1e-12);
    ck_assert_double_eq_tol(s.next[0], 0.3 - 0.0075, 1e-12); /* there after 2.5 ms, back for 7.5 */
    ck_assert_double_eq_tol(s.p_bar[e], -2, 1e-9);
    s = step(m, NULL, 0.295, 2, 0, false);
    ck_assert_double_eq_tol(s.p_bar[high], 1.5, 1e-9);
    ck_assert_double_eq_tol(s.p_bar[e], -0.015, 1e-9);
    tribo_model_free(m);
}
END_TEST

/* A ball joint at the centre of mass turns its body as nothing would. */
START_TEST(ball_is_free) {
    tribo_joint_def j = tribo_default_joint();
    j.kind = TRIBO_JOINT_BALL;
    tribo_model *held = block(j, -9.81, false), *loose = NULL;
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_set_gravity(b, (double[3]){0, 0, 0});
    tribo_body_def d = tribo_default_body();
    d.inertia_given = true, d.mass = 2, d.inertia[0] = 0.02, d.inertia[1] = 0.03, d.inertia[2] = 0.045;
    tribo_add_body(b, &d);
    ck_assert_int_eq(tribo_build(b, &loose, NULL), TRIBO_OK);
    double p[2][64], x[7] = {1, 0, 0, 0, 3, 7, -2}, y[13] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, 7, -2};
    tribo_options o = tribo_default_options();
    o.dt = 2e-3;
    tribo_ws *ws[2];
    tribo_model_params(held, p[0]), tribo_model_params(loose, p[1]);
    ck_assert_int_eq(tribo_ws_new(held, &o, NULL, &ws[0], NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_ws_new(loose, &o, NULL, &ws[1], NULL), TRIBO_OK);
    for (int k = 0; k < 500; k++) {
        ck_assert_int_eq(tribo_step(ws[0], p[0], x, NULL, x, NULL), TRIBO_OK);
        ck_assert_int_eq(tribo_step(ws[1], p[1], y, NULL, y, NULL), TRIBO_OK);
    }
    for (int i = 0; i < 4; i++) ck_assert_double_eq_tol(x[i], y[3 + i], 1e-11);
    for (int i = 0; i < 3; i++) ck_assert_double_eq_tol(x[4 + i], y[10 + i], 1e-11);
    tribo_ws_free(ws[0]), tribo_ws_free(ws[1]);
    tribo_model_free(held), tribo_model_free(loose);
}
END_TEST

/* Whatever turns too fast to be stepped has an energy. */
START_TEST(energy_is_of_the_state) {
    tribo_joint_def j = tribo_default_joint();
    j.kind = TRIBO_JOINT_BALL;
    tribo_model *m = block(j, 0, false);
    double p[64], x[7] = {1, 0, 0, 0, 3e9, 7e9, -2e9}, next[7];
    tribo_ws *ws;
    tribo_model_params(m, p);
    ck_assert_int_eq(tribo_ws_new(m, NULL, NULL, &ws, NULL), TRIBO_OK);
    ck_assert_int_lt(tribo_step(ws, p, x, NULL, next, NULL), 0);
    ck_assert_double_eq_tol(tribo_energy(m, p, x), 0.5 * (0.02 * 9e18 + 0.03 * 49e18 + 0.045 * 4e18), 1e6);
    tribo_ws_free(ws), tribo_model_free(m);
}
END_TEST

/* A ball that turns about one axis of its body's inertia is a hinge about it, in state and derivatives: on a spring,
 * held at its limit, thrown back by it. */
START_TEST(ball_is_a_hinge) {
    static const double RANGE[] = {0, 0.3, 0.3}, AT[] = {0.2, 0.3, 0.295}, SPEED[] = {1, 0.4, 2};
    tribo_joint_def j = tribo_default_joint();
    j.stiffness = 5, j.damping = 0.1, j.armature = 0.01;
    j.limited = RANGE[_i] > 0, j.range[1] = RANGE[_i], j.restitution = _i == 2 ? 0.5 : 0;
    tribo_model *hinge = block(j, -9.81, false);
    j.kind = TRIBO_JOINT_BALL;
    tribo_model *ball = block(j, -9.81, false);
    double q[4] = {cos(AT[_i] / 2), 0, 0, sin(AT[_i] / 2)}, x[7] = {q[0], 0, 0, q[3], 0, 0, SPEED[_i]}, next[7], p[64];
    tribo_options o = tribo_default_options();
    o.dt = 0.01;
    tribo_ws *ws;
    tribo_tape *tape;
    tribo_model_params(ball, p);
    ck_assert_int_eq(tribo_ws_new(ball, &o, NULL, &ws, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_tape_new(ws, 1, 0, &tape), TRIBO_OK);
    ck_assert_int_eq(tribo_step(ws, p, x, NULL, next, tape), TRIBO_OK);
    for (int by_velocity = 0; by_velocity < 2; by_velocity++) {
        stepped s = step(hinge, NULL, AT[_i], SPEED[_i], 0, by_velocity);
        double lx[12] = {0}, x_bar[6] = {0}, p_bar[64] = {0};
        lx[6 + 2 + 3 * by_velocity] = 1;
        ck_assert_int_ge(tribo_backward(ws, tape, lx, x_bar, NULL, p_bar), 0);
        ck_assert_double_eq_tol(2 * atan2(next[3], next[0]), s.next[0], 1e-14);
        ck_assert_double_eq_tol(next[6], s.next[1], 1e-14);
        ck_assert_double_eq_tol(x_bar[2], s.x_bar[0], 1e-9);
        ck_assert_double_eq_tol(x_bar[5], s.x_bar[1], 1e-9);
        for (int k = hinge->joint[0].p; k < hinge->joint[0].p + TI_P_JOINT; k++)
            if (ball->used[k]) ck_assert_double_eq_tol(p_bar[k], s.p_bar[k], 1e-9);
    }
    tribo_tape_free(tape), tribo_ws_free(ws);
    tribo_model_free(hinge), tribo_model_free(ball);
}
END_TEST

/* A free body with another welded to it is the one body of both: the same motion of its frame, spinning, pushed and
 * twisted, onto a floor; and gradients by the numbers of either part are those of differences. */
START_TEST(welded_bodies_are_one) {
#define WELDED(inside, inertial)                                                                                       \
    "<mujoco><option timestep='0.005'/><worldbody><geom name='floor' type='plane' size='0 0 1' friction='0.4'/>"       \
    "<body name='a' pos='0 0 0.4'><freejoint/>" inertial "<geom name='a' type='box' size='0.1 0.15 0.2'/>" inside      \
    "</body></worldbody></mujoco>"
    static const char TWO[] =
        WELDED("<body name='b' pos='0.1 0.2 0.3'><inertial pos='0.05 0 0.1' mass='0.5' diaginertia='0.02 0.03 0.04'/>"
               "</body>",
               "<inertial pos='0 0.05 0' mass='1.5' diaginertia='0.03 0.04 0.045'/>");
    /* centre: (1.5 (0, 0.05, 0) + 0.5 (0.15, 0.2, 0.4)) / 2; each part's m (|r|^2 1 - r r') about it is added */
    static const char ONE[] = WELDED("", "<inertial pos='0.0375 0.0875 0.1' mass='2' fullinertia='0.1184375 0.1384375 "
                                         "0.101875 -0.0084375 -0.0225 -0.0225'/>");
    enum { STEPS_MADE = 40 };
    world w[2];
    for (int k = 0; k < 2; k++) {
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        const char *text = k ? ONE : TWO;
        ck_assert_msg(tribo_model_load_memory(text, strlen(text), "welded", NULL, &m, &diag) == TRIBO_OK, "%s",
                      diag.text);
        w[k] = world_of(m, NULL);
        ck_assert(w[k].n.nv == 6 && w[k].n.nbody == 2 - k);
        world_steps(&w[k], STEPS_MADE);
        double *v = w[k].x0 + w[k].n.nq;
        v[0] = 1, v[1] = -0.5, v[2] = -1, v[3] = 4, v[4] = -3, v[5] = 2;
        for (int t = 0; t < STEPS_MADE; t++)
            for (int i = 0; i < 6; i++) w[k].U[t * 6 + i] = i < 3 ? 2 - i : 0.1 * i;
        world_run(&w[k]);
    }
    bool touched = false;
    for (int t = 1; t <= STEPS_MADE; t++) {
        for (int i = 0; i < 13; i++)
            NEAR(w[0].X[t * 13 + i], w[1].X[t * 13 + i], 1e-11 * (1 + fabs(w[1].X[t * 13 + i])));
        touched |= w[1].X[t * 13 + 9] > w[1].X[(t - 1) * 13 + 9];
    }
    ck_assert(touched);
    unsigned seed = 8;
    double xd[12], *pd = world_zeros(w[0].n.np);
    world_steps(&w[0], 3);
    world_run(&w[0]);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 12; i++) xd[i] = test_random(&seed), w[0].lx[3 * 12 + i] = test_random(&seed);
        for (int i = 0; i < w[0].n.np; i++) pd[i] = 0;
        static const char *const NAME[] = {"mass", "com/x", "com/y", "com/z", "inertia/xx", "inertia/yz"};
        for (int i = 0; i < 12; i++) {
            char name[32];
            snprintf(name, sizeof name, "%s/%s", i % 2 ? "a" : "b", NAME[i / 2]);
            pd[world_param(&w[0], name)] = 0.1 * test_random(&seed);
        }
        world_agrees(&w[0], xd, pd, 1e-6, 1, 1e-11, 1e-7);
    }
    free(pd);
    world_free(&w[0]), world_free(&w[1]);
}
END_TEST

/* What holds bodies together and couples joints, from anywhere near where it does: gradients along random directions
 * of state and parameters, of one step and of three, against tangents and differences. */
START_TEST(closures_reverse) {
    char path[4096];
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    unsigned seed = 5;
    snprintf(path, sizeof path, "%s/four-bar.xml", getenv("TRIBO_SCENES") ? getenv("TRIBO_SCENES") : "data/scenes");
    ck_assert_msg(tribo_model_load(path, NULL, &m, &diag) == TRIBO_OK, "%s", diag.text);
    world w = world_of(m, NULL);
    double *xd = world_zeros(w.n.ndx), *pd = world_zeros(w.n.np);
    ck_assert_int_eq(w.n.njoint, 4);
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < w.n.ndx; i++) xd[i] = 1e-3 * test_random(&seed);
        tribo_state_add(m, w.x0, xd, w.x0);
        for (int i = 0; i < w.n.ndx; i++) xd[i] = test_random(&seed);
        world_random_params(&w, 0.1, &seed, pd);
        world_steps(&w, round % 2 ? 3 : 1);
        world_run(&w);
        ck_assert_int_eq(tribo_last_info(w.ws)->ncon, 0);
        world_random_weights(&w, &seed);
        world_agrees(&w, xd, pd, 1e-6, 1, 1e-11, 1e-7);
    }
    free(xd), free(pd);
    world_free(&w);
}
END_TEST

/* What a joint holds already is held once more, by a second hinge on a door's line or by a weld over a hinge: that
 * takes nothing of what is left to move. Points that are apart pull each other without a torque. */
START_TEST(held_twice) {
    static const char *const SCENES[] = {
        "<mujoco><option timestep='0.002' gravity='0 0 0'/><worldbody><body name='door' pos='0 0 1'><joint axis='1 2 "
        "3'/>"
        "<geom type='box' size='0.4 0.02 0.8' pos='0.4 0 0'/></body></worldbody>"
        "<equality><connect body1='door' anchor='0.1 0.2 0.3'/></equality></mujoco>",
        "<mujoco><option timestep='0.002' gravity='0 0 0'/><worldbody><body name='a'><freejoint/><geom size='0.1'/>"
        "<body name='b' pos='0.2 0.1 0'><joint axis='0.3 0.2 1'/><geom type='box' size='0.05 0.1 0.07'/></body></body>"
        "</worldbody><equality><weld body1='a' body2='b'/></equality></mujoco>",
        "<mujoco><option timestep='0.002' gravity='0 0 0'/><worldbody><body name='a'><freejoint/>"
        "<geom type='box' size='0.1 0.2 0.1'/></body><body name='b' pos='0.35 0.1 0'><freejoint/>"
        "<geom type='box' size='0.05 0.1 0.07'/></body></worldbody>"
        "<equality><connect body1='a' body2='b' anchor='0.2 0.1 0'/></equality></mujoco>"};
    static const double begun[12] = {1, 0.2, 0, 2, 1, -3, 0, 0.3, 0.2, 1, -1, 2};
    tribo_options o = tribo_default_options();
    o.recovery = 200; /* points that are apart are velocities' */
    for (int scene = 0; scene < 3; scene++) {
        world w = world_of(model_of(SCENES[scene]), &o);
        double h[2][6], *last;
        tribo_dynamics *d;
        memcpy(w.x0 + w.n.nq, begun, sizeof(double) * (size_t)w.n.nv);
        if (scene == 1) w.x0[w.n.nq + 6] = 0;
        if (scene == 2) w.x0[7] += 0.02, w.x0[8] += 0.03;
        world_steps(&w, 20);
        world_run(&w);
        last = w.X + (size_t)w.T * (size_t)w.n.nx;
        ck_assert_int_eq(tribo_dynamics_new(w.m, NULL, &d), TRIBO_OK);
        for (int k = 0; k < 2; k++) {
            const double *x = k ? last : w.x0;
            ck_assert_int_eq(tribo_dynamics_set_state(d, x), TRIBO_OK);
            ck_assert_int_eq(tribo_momentum(d, h[k]), TRIBO_OK);
        }
        if (scene == 0) NEAR(last[w.n.nq], 1, 1e-12);
        for (int i = 3; i < 6 && scene; i++) NEAR(h[1][i], h[0][i], scene == 1 ? 2e-4 : 2e-3);
        tribo_dynamics_free(d), world_free(&w);
    }
}
END_TEST

/* What is to be held and is apart: two joints, points, bodies on a floor. */
static const char *const APART[] = {
    "<mujoco><option timestep='0.001' gravity='0 0 0'/><worldbody>"
    "<body name='a' pos='0 0 1'><joint name='i' axis='0 1 0'/><geom size='0.05' pos='0.2 0 0'/></body>"
    "<body name='b' pos='0 1 1'><joint name='j' axis='0 1 0'/><geom size='0.05' pos='0.1 0 0'/></body></worldbody>"
    "<equality><joint joint1='i' joint2='j' polycoef='0 1 0.5 0 0'/></equality></mujoco>",
    "<mujoco><option timestep='0.001' gravity='0 0 0'/><worldbody><body name='a' pos='0 0 1'><freejoint/>"
    "<geom type='box' size='0.1 0.05 0.07'/></body><body name='b' pos='0.3 0 1'><joint type='ball' pos='0.1 0.4 0.3'/>"
    "<geom type='capsule' size='0.05 0.1'/></body></worldbody>"
    "<equality><connect body1='a' body2='b' anchor='0.15 0 0'/></equality></mujoco>",
    "<mujoco><option timestep='0.001'/><worldbody><geom type='plane' size='1 1 1'/><body name='a' pos='0 0 0.0495'>"
    "<freejoint/><geom size='0.05'/></body><body name='b' pos='0.3 0 0.0496'><freejoint/><geom size='0.05'/></body>"
    "</worldbody>"
    "<equality><weld body1='a' body2='b'/></equality></mujoco>"};

/* The first body of APART, moved by `off` along the first of its numbers and by some of that along others. */
static world apart(int scene, double off) {
    world w = world_of(model_of(APART[scene]), NULL);
    double *moved = world_zeros(w.n.ndx);
    moved[0] = off;
    if (scene == 1) moved[1] = -0.5 * off, moved[5] = off;
    if (scene == 2) moved[1] = 0.5 * off, moved[5] = -off;
    tribo_state_add(w.m, w.x0, moved, w.x0);
    free(moved);
    return w;
}

/* It is taken back by displacements: no velocity but what the last bit of it makes, which is gone in the end. */
START_TEST(closures_recover) {
    world w = apart(_i, 0.01);
    double fastest = 0, last = 0;
    world_steps(&w, 60);
    world_run(&w);
    for (int t = 1; t <= w.T; t++) {
        last = 0;
        for (int i = 0; i < w.n.nv; i++) last = ti_max(last, fabs(w.X[t * w.n.nx + w.n.nq + i]));
        fastest = ti_max(fastest, last);
    }
    ck_assert_double_lt(fastest, 2);
    ck_assert_double_lt(last, 2e-3);
    const double *x = w.X + (size_t)w.T * (size_t)w.n.nx;
    if (_i == 0) NEAR(x[0], x[1] + 0.5 * x[1] * x[1], 1e-6);
    if (_i == 2) NEAR(x[0], x[7] - 0.3, 1e-4);
    world_free(&w);
}
END_TEST

/* Gradients where the velocity takes it back, a displacement does, both do, and as fast as may be. */
START_TEST(closures_recover_reverse) {
    static const double OFF[] = {1e-4, 3.5e-4, 8e-4, 5e-3};
    unsigned seed = 3;
    for (int k = 0; k < 4; k++) {
        world w = apart(_i, OFF[k]);
        double *xd = world_zeros(w.n.ndx), *pd = world_zeros(w.n.np);
        for (int i = 0; i < w.n.nv; i++) w.x0[w.n.nq + i] += 0.01 * test_random(&seed);
        for (int i = 0; i < w.n.ndx; i++) xd[i] = test_random(&seed) * (i < w.n.nv ? 1e-3 : 1);
        world_random_params(&w, 0.1, &seed, pd);
        world_steps(&w, k % 2 ? 3 : 1);
        world_run(&w);
        world_random_weights(&w, &seed);
        world_agrees(&w, xd, pd, 1e-6, 1, 1e-11, 1e-6);
        free(xd), free(pd), world_free(&w);
    }
}
END_TEST

/* Two bodies of different mass, each a metre from the point that is to hold them, and that point is 1 cm apart. */
static const char FAR[] = "<mujoco><option timestep='0.001' gravity='0 0 0'/><worldbody><body name='a'><freejoint/>"
                          "<geom type='box' size='0.1 0.05 0.07'/></body><body name='b' pos='2 0 0'><freejoint/>"
                          "<geom type='box' size='0.05 0.1 0.2'/></body></worldbody>"
                          "<equality><connect body1='a' body2='b' anchor='1 0 0'/></equality></mujoco>";

/* What takes points together pushes nothing: there is no momentum, the centre of mass stays where it is, and no energy
 * but what the last bit has, which velocities take back, and what is left of that by the second order. */
START_TEST(closures_recover_without_momentum) {
    static const double OFF[][3] = {{0.01, 0, 0}, {0, 0.01, 0}, {0.004, -0.005, 0.0077}};
    world w = world_of(model_of(FAR), NULL);
    double *moved = world_zeros(w.n.ndx), h[6], energy = 0, most = 0;
    double mass[2] = {w.p[world_param(&w, "a/mass")], w.p[world_param(&w, "b/mass")]};
    tribo_dynamics *d;
    memcpy(moved, OFF[_i], sizeof OFF[_i]);
    tribo_state_add(w.m, w.x0, moved, w.x0);
    world_steps(&w, 60);
    world_run(&w);
    ck_assert_int_eq(tribo_dynamics_new(w.m, NULL, &d), TRIBO_OK);
    for (int t = 1; t <= w.T; t++) {
        const double *x = w.X + (size_t)t * (size_t)w.n.nx;
        ck_assert_int_eq(tribo_dynamics_set_state(d, x), TRIBO_OK);
        ck_assert_int_eq(tribo_momentum(d, h), TRIBO_OK);
        ck_assert_int_eq(tribo_kinetic_energy(d, &energy), TRIBO_OK);
        for (int i = 0; i < 6; i++) NEAR(h[i], 0, 1e-10);
        for (int i = 0; i < 3; i++) NEAR(mass[0] * (x[i] - w.x0[i]) + mass[1] * (x[7 + i] - w.x0[7 + i]), 0, 1e-11);
        most = ti_max(most, energy);
    }
    ck_assert_double_lt(most, 0.5 * 0.25 * 0.25 * mass[0] * mass[1] / (mass[0] + mass[1]));
    ck_assert_double_lt(energy, 1e-11);
    free(moved), tribo_dynamics_free(d), world_free(&w);
}
END_TEST

/* A gripper whose object is not in its middle: one finger is on it, the other at its stop, and what couples them, apart
 * by as much as velocities are to take back, has neither way to go. */
static const char GRIPPER[] =
    "<mujoco><option timestep='0.002' gravity='0 0 0'/><worldbody><geom name='object' type='box' size='0.1 0.1 0.1'/>"
    "<body name='left' pos='-0.12001 0 0'><joint name='l' type='slide' axis='1 0 0' range='-0.05 0.05' stiffness='100' "
    "springref='0.05'/>"
    "<geom type='box' size='0.02 0.03 0.04'/></body>"
    "<body name='right' pos='0.2 0 0'><joint name='r' type='slide' axis='-1 0 0' range='0.00019 0.05' stiffness='100' "
    "springref='0.05'/>"
    "<geom type='box' size='0.02 0.03 0.04'/></body></worldbody>"
    "<equality><joint joint1='l' joint2='r' polycoef='0 1 0 0 0'/></equality></mujoco>";

START_TEST(closures_that_jam) {
    static const int STEPS[] = {100, 1, 3};
    unsigned seed = 4;
    for (int k = _i; k < (_i ? 3 : 1); k++) { /* the long one alone */
        world w = world_of(model_of(GRIPPER), NULL);
        w.x0[1] = 0.0002;
        world_steps(&w, STEPS[k]);
        world_run(&w); /* solved by all */
        const double *x = w.X + (size_t)w.T * (size_t)w.n.nx;
        if (k == 0) {
            NEAR(x[1] - x[0], 4 * (x[0] - 1e-5), 1e-9); /* of four corners; all share what is asked */
            NEAR(x[1] - x[0], 1.9e-4 - x[1], 1e-9);
            for (int i = 2; i < 4; i++) NEAR(x[i], 0, 1e-12);
        } else {
            double *xd = world_zeros(w.n.ndx), *pd = world_zeros(w.n.np);
            for (int i = 0; i < w.n.ndx; i++) xd[i] = (i < w.n.nv ? 1e-3 : 1e-2) * test_random(&seed);
            world_random_weights(&w, &seed);
            world_agrees(&w, xd, pd, 1e-4, 1, 1e-11, 1e-6);
            free(xd), free(pd);
        }
        world_free(&w);
    }
}
END_TEST

/* An arm that is to reach further than it can, and to stand as it does not: it comes to rest between these. */
START_TEST(closures_that_cannot_hold) {
    static const char SCENE[] =
        "<mujoco><option timestep='0.002'/><worldbody><body name='a' pos='0 0 1'><joint name='i' axis='0 1 0'/>"
        "<geom type='capsule' fromto='0 0 0 0.3 0 0' size='0.03'/><body name='b' pos='0.3 0 0'>"
        "<joint name='j' axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0.3 0 0' size='0.03'/></body></body>"
        "</worldbody><equality><connect body1='b' anchor='0.3 0 0'/><joint joint1='i' polycoef='0.5 0 0 0 0'/>"
        "<joint joint1='j' polycoef='0.5 0 0 0 0'/></equality></mujoco>";
    world w = world_of(model_of(SCENE), NULL);
    world_steps(&w, 250);
    world_run(&w); /* solved by all */
    const double *last = w.X + (size_t)w.T * (size_t)w.n.nx;
    for (int i = 0; i < 2; i++) NEAR(last[2 + i], 0, 1e-9);
    for (int i = 0; i < 2; i++) NEAR(last[i], (last - w.n.nx)[i], 1e-9);
    world_free(&w);
}
END_TEST

/* Levers with feet on a turntable, askew in space: the table has no motion along normals but what rounding makes of it,
 * which is no unit for anything. */
START_TEST(what_joints_do_not_let_move) {
    static const char SCENE[] =
        "<mujoco><option timestep='0.002' gravity='-7.194 -6.54 -1.308'/><default><joint frictionloss='0.001'/>"
        "<geom size='0.02'/></default><worldbody><body quat='1 2 3 4'>"
        "<body><joint axis='0 0 1'/><geom type='cylinder' size='0.4 0.02'/></body>"
        "<body pos='0.3 0 0.06'><joint axis='0 1 0' pos='0.2 0 0'/><geom pos='0 0 -0.02'/><geom pos='0 0.03 "
        "-0.02'/></body>"
        "<body pos='-0.15 0.26 0.06' euler='0 0 120'><joint axis='0 1 0' pos='0.2 0 0'/><geom pos='0 0 -0.02'/>"
        "<geom pos='0 0.03 -0.02'/></body></body></worldbody></mujoco>";
    world w = world_of(model_of(SCENE), NULL);
    double *x = world_zeros(w.n.nx);
    memcpy(x, w.x0, (size_t)w.n.nx * sizeof *x);
    for (int k = 0; k < 20; k++) {
        ck_assert_int_eq(tribo_step(w.ws, w.p, x, NULL, x, NULL), TRIBO_OK);
        ck_assert(tribo_last_info(w.ws)->canonical);
        ck_assert_int_le(tribo_last_info(w.ws)->iterations, 20);
    }
    for (int i = 0; i < w.n.nv; i++) NEAR(x[w.n.nq + i], 0, 1e-12);
    free(x), world_free(&w);
}
END_TEST

/* Two fingers in a hand that turns, askew in space, which press small balls against one another: they slide along the
 * normals alone, and the hand moves both. Six pairs share one motion, and nothing slips. */
START_TEST(fingers_that_cannot_slip) {
#define BALLS(x)                                                                                                       \
    "<geom size='0.0006' pos='" x " 0.003 0.078'/><geom size='0.0006' pos='" x " -0.003 0.078'/>"                      \
    "<geom size='0.0006' pos='" x " 0.003 0.07'/><geom size='0.0006' pos='" x " -0.003 0.07'/>"                        \
    "<geom size='0.0006' pos='" x " 0.003 0.06'/><geom size='0.0006' pos='" x " -0.003 0.06'/>"
#define FINGER(name, axis, box, ball)                                                                                  \
    "<body><joint name='" name "' type='slide' axis='" axis "'/><geom type='box' size='.002 .005 .03' pos='" box       \
    " 0 .05' mass='.05'/>" BALLS(ball) "</body>"
    static const char SCENE[] =
        "<mujoco><option timestep='0.002'/><worldbody><body pos='0.1 0 0.3' quat='.37 .21 -.33 .8'>"
        "<joint axis='0 1 0' armature='0.01' stiffness='100'/><geom size='0.01' mass='0.3' pos='0 0 -.1'/>" FINGER(
            "l", "1 0 0", "-.01", "-.0006")
            FINGER("r", "-1 0 0", ".01", ".0006") "</body></worldbody>"
                                                  "<actuator><position joint='l' kp='100' kv='10'/><position joint='r' "
                                                  "kp='100' kv='10'/></actuator></mujoco>";
    world w = world_of(model_of(SCENE), NULL);
    double *x = world_zeros(w.n.nx), *u = world_zeros(w.n.nu);
    memcpy(x, w.x0, (size_t)w.n.nx * sizeof *x);
    u[w.n.nv] = u[w.n.nv + 1] = 0.0003;
    for (int k = 0; k < 20; k++) {
        ck_assert_int_eq(tribo_step(w.ws, w.p, x, u, x, NULL), TRIBO_OK);
        const tribo_step_info *info = tribo_last_info(w.ws);
        ck_assert(info->canonical && info->nactive == 6);
        ck_assert_int_le(info->iterations, 10);
    }
    free(x), free(u), world_free(&w);
}
END_TEST

/* A hinge that a point holds, whose rows are all of one motion, and a four-bar linkage whose axes are off one another
 * and off its plane by what a file's digits leave: rows that others give already ask for nothing, and their rounding is
 * nobody's load. It moves as the linkage in a plane, and its derivatives are those of the motion. */
START_TEST(rows_that_others_give) {
    static const char LINKAGE[] =
        "<mujoco><option timestep='0.002'/><worldbody><body euler='20 -35 50'>"
        "<body name='crank'><joint axis='%s'/><geom type='capsule' fromto='0 0 0 0 0 0.2' size='0.02'/>"
        "<body name='rod' pos='0 0 0.2'><joint axis='%s'/><geom type='capsule' fromto='0 0 0 0.5 0 0.1' size='0.02'/>"
        "</body></body><body name='rocker' pos='0.5 0 0'><joint axis='%s'/>"
        "<geom type='capsule' fromto='0 0 0 0 0 0.3' size='0.02'/></body></body></worldbody>"
        "<contact><exclude body1='rod' body2='rocker'/><exclude body1='crank' body2='rocker'/></contact>"
        "<equality><connect body1='rod' body2='rocker' anchor='0.5 0 0.1'/></equality></mujoco>";
    static const char HELD[] =
        "<mujoco><option timestep='0.002'/><worldbody><body name='a' pos='0.3 0.2 1' quat='1 2 3 4'><freejoint/>"
        "<geom type='box' size='0.1 0.2 0.1' contype='0'/><body name='b' pos='0.2 0.1 0.3'><joint axis='0.3 0.2 1'/>"
        "<geom type='box' size='0.05 0.1 0.07' contype='0'/></body></body></worldbody>"
        "<equality><connect body1='a' body2='b' anchor='0.21 0.17 0.36'/></equality></mujoco>";
    char text[3][2048];
    double last[2][6] = {{0}}, xd[6] = {0.3, -0.5, 0.7, 1, 0.4, -0.6};
    snprintf(text[0], sizeof text[0], LINKAGE, "0 1 0", "0 1 0", "0 1 0");
    snprintf(text[1], sizeof text[1], LINKAGE, "1e-9 1 -2e-9", "-1.3e-9 1 0.4e-9", "0.7e-9 1 1.6e-9");
    snprintf(text[2], sizeof text[2], "%s", HELD);
    for (int k = 0; k < 3; k++) {
        world w = world_of(model_of(text[k]), NULL);
        double *x = world_zeros(w.n.nx), *pd = world_zeros(w.n.np);
        if (k == 2) w.x0[w.n.nq + 3] = 1, w.x0[w.n.nq + 4] = -2;
        memcpy(x, w.x0, (size_t)w.n.nx * sizeof *x);
        for (int s = 0; s < 50; s++) {
            ck_assert_int_eq(tribo_step(w.ws, w.p, x, NULL, x, NULL), TRIBO_OK);
            ck_assert(tribo_last_info(w.ws)->canonical);
            ck_assert_int_le(tribo_last_info(w.ws)->iterations, 10);
        }
        if (k == 2) {
            NEAR(x[w.n.nq + 6], 0, 1e-10);
        } else {
            memcpy(last[k], x, sizeof last[k]), memcpy(w.x0, x, sizeof last[k]);
            for (int apart = 0; apart < 2; apart++) { /* taken back by displacements, where such a row has none */
                w.x0[0] += 0.01 * apart;
                world_steps(&w, apart ? 1 : 3);
                world_run(&w);
                for (int i = 0; i < w.n.ndx; i++) w.lx[w.T * w.n.ndx + i] = xd[(i + 2) % 6];
                world_agrees(&w, xd, pd, 1e-6, 1, 1e-11, 1e-7);
            }
        }
        free(x), free(pd), world_free(&w);
    }
    for (int i = 0; i < 6; i++) NEAR(last[1][i], last[0][i], 1e-6);
    ck_assert_double_gt(fabs(last[0][3]), 0.1); /* it moves */
}
END_TEST

/* Two arms alike that are taken back as fast as may be: which is the one that moves most, and so bounds the pace of
 * both (docs/math.md, (115)), is open, and a change of mass has a slope on each side. */
START_TEST(two_move_most) {
    static const char SCENE[] =
        "<mujoco><option timestep='0.001' gravity='0 0 0'/><worldbody><body pos='0 0 1'><joint name='i' axis='0 1 0'/>"
        "<geom size='0.05' pos='0.2 0 0'/></body><body pos='0 1 1'><joint name='j' axis='0 1 0'/>"
        "<geom size='0.05' pos='%s 0 0'/></body></worldbody><equality><joint joint1='i' "
        "joint2='j'/></equality></mujoco>";
    static const char *const LENGTH[] = {"0.2", "0.21"};
    for (int k = 0; k < 2; k++) {
        char scene[1024];
        snprintf(scene, sizeof scene, SCENE, LENGTH[k]);
        world w = world_of(model_of(scene), NULL);
        w.x0[0] = 0.01;
        world_steps(&w, 1);
        world_run(&w);
        const tribo_step_info *info = tribo_last_info(w.ws);
        ck_assert_int_eq(info->ndegenerate, k == 0);
        if (k == 0)
            ck_assert_double_le(info->margin, 1e-9);
        else
            ck_assert_double_gt(info->margin, 1e-3);
        world_free(&w);
    }
}
END_TEST

/* All eight corners of a box under the floor, which is all the contacts there is room for, on a body with a joint. */
START_TEST(as_many_contacts_as_there_may_be) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.5, 0);
    int body = world_box(b, "box", 1, 0.1, 0, 0, -0.3, world_material(0.5, 0));
    tribo_body_def d = tribo_default_body();
    d.parent = body, d.inertia_given = true, d.mass = 0.1;
    for (int i = 0; i < 3; i++) d.inertia[i] = 0.01;
    tribo_joint_def j = tribo_default_joint();
    tribo_add_joint(b, tribo_add_body(b, &d), &j);
    tribo_model *m = world_build(b);
    tribo_options o = tribo_default_options();
    o.law.law = LAWS[_i].law, o.law.solver = LAWS[_i].solver, o.law.raw = true, o.tol = 1e-9;
    world w = world_of(m, &o);
    ck_assert_int_eq(tribo_ws_options(w.ws).ncon_max, 8);
    for (int i = 0; i < w.n.nv; i++) w.x0[w.n.nq + i] = 0.5 - 0.3 * i;
    world_steps(&w, 1);
    world_run(&w); /* solved by all */
    ck_assert_int_eq(tribo_last_info(w.ws)->ncon, 8);
    world_free(&w);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("joints");
    TCase *c = tcase_create("all");
    TCase *many = tagged_case(s, "many", "many");
    tcase_add_loop_test(c, dry_friction, 0, NLAWS);
    tcase_add_loop_test(c, nothing_pushes, 0, NLAWS);
    tcase_add_loop_test(c, limits, 0, NLAWS);
    tcase_add_loop_test(c, dry_friction_yields, 0, NLAWS);
    tcase_add_loop_test(c, limits_bounce, 0, 2);
    tcase_add_test(c, ball_is_free);
    tcase_add_test(c, energy_is_of_the_state);
    tcase_add_loop_test(c, ball_is_a_hinge, 0, 3);
    tcase_add_test(c, welded_bodies_are_one);
    tcase_add_test(c, closures_reverse);
    tcase_add_loop_test(c, closures_recover, 0, 3);
    tcase_add_loop_test(c, closures_recover_reverse, 0, 3);
    tcase_add_loop_test(c, closures_recover_without_momentum, 0, 3);
    tcase_add_test(c, closures_that_cannot_hold);
    tcase_add_loop_test(many, closures_that_jam, 0, 1);
    tcase_add_loop_test(c, closures_that_jam, 1, 2);
    tcase_add_test(c, held_twice);
    tcase_add_test(c, what_joints_do_not_let_move);
    tcase_add_test(c, fingers_that_cannot_slip);
    tcase_add_test(c, rows_that_others_give);
    tcase_add_test(c, two_move_most);
    tcase_add_loop_test(c, as_many_contacts_as_there_may_be, 0, NLAWS);
    suite_add_tcase(s, c);
    return s;
}
