/* test_noisy_step.c -- the step under the stochastic law: contacts that are not there yet, and noise from a covariance.
 */
#include "forward/frame.h"
#include "test_main.h"
#include "worlds.h"

static const double DT = 1e-3, NOISE = 0.05, RADIUS = 0.1;

/* A ball above the floor by `gap`. */
static world ball_above(double gap, const tribo_law_options *law) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_model *m = NULL;
    tribo_options o = tribo_default_options();
    world_floor(b, 0.5, 0);
    world_ball(b, "ball", 2, RADIUS, 0, 0, RADIUS + gap, world_material(0.5, 0));
    tribo_set_timestep(b, DT);
    ck_assert_int_eq(tribo_build(b, &m, NULL), TRIBO_OK);
    o.law = *law, o.tol = 1e-12;
    world w = world_of(m, &o);
    world_v0(&w, 0)[0] = 0.3, world_v0(&w, 0)[4] = 1;
    world_steps(&w, 1);
    return w;
}

/* v_z and v_x after a step from dz higher. */
static void stepped(world *w, double dz, double *v) {
    double x[13], next[13];
    memcpy(x, w->x0, sizeof x);
    x[2] += dz;
    ck_assert_int_eq(tribo_step(w->ws, w->p, x, NULL, next, NULL), TRIBO_OK);
    v[0] = next[9], v[1] = next[7];
}

START_TEST(pushes_what_is_not_in_contact) {
    tribo_law_options law = {
        .law = TRIBO_LAW_STOCHASTIC, .noise = NOISE, .smoothing = (tribo_smoothing)(TRIBO_SMOOTHING_LOGISTIC + _i % 3)};
    const double gap[3] = {0.5 * NOISE * DT, 2 * NOISE * DT, 6 * NOISE * DT};
    world w = ball_above(gap[_i / 3], &law);
    double slope[2], A[144], h = 0.1 * NOISE * DT, q[2][3];
    world_run(&w);
    ck_assert(world_v(&w, 1, 0, 2) > -G * DT && tribo_last_info(w.ws)->ncon == 1);
    for (int k = 0; k < 2; k++) world_gradient(&w, 1, world_dv(&w, 0, k ? 0 : 2)), slope[k] = w.x_bar[2];
    for (int k = 0; k < 3; k++, h /= 2) {
        double up[2], down[2];
        stepped(&w, h, up), stepped(&w, -h, down);
        for (int j = 0; j < 2; j++) q[j][k] = (up[j] - down[j]) / (2 * h);
    }
    for (int j = 0; j < 2; j++) {
        double a = (4 * q[j][1] - q[j][0]) / 3, b = (4 * q[j][2] - q[j][1]) / 3, exact = (16 * b - a) / 15;
        ck_assert_msg(fabs(slope[j] - exact) <= 1e-7 * fabs(exact) + 1e-9 / DT, "%d: %.12g, differences %.12g", j,
                      slope[j], exact);
    }
    ck_assert_msg(slope[0] < -1e-9 / DT, "dv_z/dz = %g", slope[0]); /* the higher, the less it is pushed */
    ck_assert_int_eq(tribo_step_jac(w.ws, w.tape, 0, A, NULL, NULL), TRIBO_OK);
    NEAR(A[8 * 12 + 2], slope[0], 1e-12 * fabs(slope[0]));
    world_free(&w);
}
END_TEST

/* What overlaps asks for by degrees: where noise is, no gap is an edge. */
START_TEST(no_kink_in_an_overlap) {
    enum { GAPS = 300 };
    const double s = NOISE * DT;
    tribo_law_options law = {
        .law = TRIBO_LAW_STOCHASTIC, .noise = NOISE, .smoothing = (tribo_smoothing)(TRIBO_SMOOTHING_LOGISTIC + _i)};
    double A[144], before = 0, most = 0;
    for (int k = 0; k < GAPS; k++) {
        world w = ball_above((1 - 5.0 * k / GAPS) * s, &law);
        world_run(&w);
        ck_assert_int_eq(tribo_step_jac(w.ws, w.tape, 0, A, NULL, NULL), TRIBO_OK);
        double slope = A[8 * 12 + 2] * DT; /* of v_z by z: -1 where a gap is closed and no further, 0 where all goes */
        ck_assert_msg(slope < 1e-3 && slope > -1.001, "%g at %g", slope, 1 - 5.0 * k / GAPS);
        if (k > 0) most = fmax(most, fabs(slope - before));
        before = slope;
        world_free(&w);
    }
    ck_assert_msg(most < 0.02, "the slope jumps by %g", most);
}
END_TEST

START_TEST(no_push_beyond_reach_nor_without_noise) {
    tribo_law_options noisy = {.law = TRIBO_LAW_STOCHASTIC, .noise = NOISE}, hard = {.law = TRIBO_LAW_NCP};
    world far = ball_above(30 * NOISE * DT, &noisy), near = ball_above(2 * NOISE * DT, &hard);
    world *both[2] = {&far, &near};
    for (int k = 0; k < 2; k++) {
        world_run(both[k]);
        world_gradient(both[k], 1, world_dv(both[k], 0, 2));
        ck_assert(both[k]->x_bar[2] == 0);
        world_free(both[k]);
    }
}
END_TEST

/* Limits of joints and of tendons push from as far away as contacts do: nothing jumps as one is come near to. */
START_TEST(limits_come_without_a_jump) {
    static const char LIMITED[] =
        "<mujoco><option timestep='0.001' gravity='0 0 0'/><worldbody><body><joint name='j' type='slide'%s/>"
        "<geom type='sphere' size='0.1' mass='2'/></body></worldbody>%s</mujoco>";
    char text[sizeof LIMITED + 200];
    tribo_options o = tribo_default_options();
    tribo_model *m = NULL;
    snprintf(text, sizeof text, LIMITED, _i == 0 ? " range='-1 1' limited='true'" : "",
             _i == 0 ? "" : "<tendon><fixed limited='true' range='-1 1'><joint joint='j' coef='1'/></fixed></tendon>");
    ck_assert_int_eq(tribo_model_load_memory(text, strlen(text), "limited", NULL, &m, NULL), TRIBO_OK);
    o.law = (tribo_law_options){
        .law = TRIBO_LAW_STOCHASTIC, .noise = NOISE, .smoothing = (tribo_smoothing)(TRIBO_SMOOTHING_LOGISTIC + _i / 2)};
    world w = world_of(m, &o);
    double last = 0, step = 2e-3 * NOISE * DT, x[2], next[2];
    for (int k = 15000; k >= 0; k--, last = next[1]) { /* noise pushes by less than the gap would, from nothing on */
        x[0] = 1 - k * step, x[1] = 0;
        ck_assert_int_eq(tribo_step(w.ws, w.p, x, NULL, next, NULL), TRIBO_OK);
        ck_assert_msg(next[1] <= last && last - next[1] <= 1.001 * step / DT, "at %g m: from %g to %g m/s", k * step,
                      last, next[1]);
    }
    ck_assert_msg(last < -0.3 * NOISE, "at the limit %g m/s", last);
    world_free(&w);
}
END_TEST

/* Of velocity alone, or of height alone over dt, the covariance that amounts to the noise of the options. */
START_TEST(covariance_is_noise) {
    tribo_law_options law = {.law = TRIBO_LAW_STOCHASTIC, .noise = NOISE};
    double P[144] = {0}, given[2], found[2], J[4];
    for (int i = 0; i < 3; i++) {
        if (_i == 0) P[13 * (6 + i)] = NOISE * NOISE;
        if (_i == 1) P[13 * i] = NOISE * NOISE * DT * DT;
    }
    if (_i == 2) /* half of each, and opposed: nothing is left of the normal */
        for (int k = 0; k < 4; k++)
            P[12 * (k / 2 ? 8 : 2) + (k % 2 ? 8 : 2)] =
                NOISE * NOISE * (k / 2 ? 1 : DT) * (k % 2 ? 1 : DT) * (k == 1 || k == 2 ? -1 : 1);
    world w = ball_above(2 * NOISE * DT, &law);
    stepped(&w, 0, given);
    ck_assert_int_eq(tribo_ws_set_covariance(w.ws, P), TRIBO_OK);
    stepped(&w, 0, found);
    if (_i == 2)
        ck_assert(found[0] == -G * DT);
    else
        NEAR(found[0], given[0], 1e-12);
    if (_i == 0) NEAR(found[1], given[1], 1e-12);
    world_run(&w);
    world_gradient(&w, 1, world_dv(&w, 0, 2));
    J[0] = w.x_bar[2];
    ck_assert(_i == 2 ? J[0] == 0 : J[0] < 0);
    ck_assert_int_eq(tribo_ws_set_covariance(w.ws, NULL), TRIBO_OK);
    stepped(&w, 0, found);
    ck_assert(found[0] == given[0] && found[1] == given[1]);
    P[0] = NAN;
    ck_assert_int_eq(tribo_ws_set_covariance(w.ws, P), TRIBO_E_NONFINITE);
    world_free(&w);
    law.law = TRIBO_LAW_NCP;
    w = ball_above(0, &law);
    ck_assert_int_eq(tribo_ws_set_covariance(w.ws, NULL), TRIBO_E_ARG);
    world_free(&w);
}
END_TEST

/* A lopsided box at rest above the floor, turned, without gravity: at each corner the free velocity (t1, t2, n), the
 * normal with the gap over dt. */
static int corner_velocities(world *w, const double *x, double (*c)[3]) {
    double next[13];
    ck_assert_int_eq(tribo_step(w->ws, w->p, x, NULL, next, NULL), TRIBO_OK);
    const tribo_ws *ws = w->ws;
    for (int i = 0; i < ws->frame.ncon; i++)
        for (int r = 0; r < 3; r++) {
            c[i][r] = r == 2 ? ws->frame.con[i].touch.gap / DT : 0;
            for (int j = 0; j < 6; j++) c[i][r] += ws->J[36 * i + 6 * r + j] * ws->vfree[j];
        }
    return ws->frame.ncon;
}

/* The variances of (105) against those of the same velocities differentiated by the state. */
START_TEST(noise_is_of_the_velocity) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_model *m = NULL;
    tribo_options o = tribo_default_options();
    tribo_body_def d = tribo_default_body();
    tribo_geom_def g = tribo_default_geom();
    world_floor(b, 0.5, 0);
    g.shape = TRIBO_BOX, g.size[0] = 0.2, g.size[1] = 0.15, g.size[2] = 0.1, g.pos[0] = 0.04;
    d.inertia_given = true, d.mass = 2, d.com[1] = 0.05, d.com[2] = 0.02;
    for (int i = 0; i < 3; i++) d.inertia[i] = 0.03 + 0.005 * i;
    tribo_add_geom(b, tribo_add_body(b, &d), &g);
    tribo_set_timestep(b, DT);
    tribo_set_gravity(b, (double[3]){0, 0, 0});
    ck_assert_int_eq(tribo_build(b, &m, NULL), TRIBO_OK);
    o.law = (tribo_law_options){.law = TRIBO_LAW_STOCHASTIC, .noise = 1e-6};
    world w = world_of(m, &o);
    double L[144], P[144] = {0}, c[8][3], up[8][3], down[8][3], slope[8][3][12], x[13], dx[12] = {0};
    unsigned seed = 3;
    for (int i = 0; i < 144; i++) L[i] = (i / 12 < 6 ? DT : 1) * test_random(&seed);
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++)
            for (int k = 0; k < 12; k++) P[12 * i + j] += L[12 * i + k] * L[12 * j + k];
    dx[3] = 1e-3, dx[4] = -7e-4, dx[5] = 0.4, dx[2] = 0.1003 - w.x0[2];
    tribo_state_add(m, w.x0, dx, w.x0);
    ck_assert_int_eq(tribo_ws_set_covariance(w.ws, P), TRIBO_OK);
    int n = corner_velocities(&w, w.x0, c);
    double noise[16];
    ck_assert_int_eq(n, 4);
    memcpy(noise, w.ws->noise, sizeof(double) * 8);
    for (int k = 0; k < 12; k++) {
        double h = k < 6 ? 1e-7 : 1e-5;
        for (int sign = -1; sign <= 1; sign += 2) {
            memset(dx, 0, sizeof dx);
            dx[k] = sign * h;
            tribo_state_add(m, w.x0, dx, x);
            ck_assert_int_eq(corner_velocities(&w, x, sign > 0 ? up : down), n);
        }
        for (int i = 0; i < n; i++)
            for (int r = 0; r < 3; r++) slope[i][r][k] = (up[i][r] - down[i][r]) / (2 * h);
    }
    for (int i = 0; i < n; i++) {
        double variance[3] = {0, 0, 0};
        for (int r = 0; r < 3; r++)
            for (int j = 0; j < 12; j++)
                for (int k = 0; k < 12; k++) variance[r] += slope[i][r][j] * P[12 * j + k] * slope[i][r][k];
        NEAR(noise[2 * i], sqrt(variance[2]), 1e-5 * noise[2 * i]);
        NEAR(noise[2 * i + 1], sqrt(0.5 * (variance[0] + variance[1])), 1e-5 * noise[2 * i + 1]);
    }
    world_free(&w);
}
END_TEST

/* Two legs of one trunk over a floor, a foot of each near it: contacts that move some of the joints of a tree alone.
 * Gradients along random directions against tangents and differences, under each kind of noise. */
START_TEST(legs_over_a_floor) {
    static const char LEGS[] =
        "<mujoco><compiler angle='radian'/><option timestep='0.002'/><worldbody>"
        "<geom name='floor' type='plane' size='0 0 1' friction='0.5'/><body name='trunk' pos='0 0 0.34'><freejoint/>"
        "<geom type='sphere' size='0.1' mass='2' contype='0' conaffinity='0'/>"
        "<body name='a' pos='0.1 0 0'><joint axis='0 1 0'/><geom name='a' type='capsule' fromto='0 0 0 0 0 -0.3099' "
        "size='0.03' mass='0.4' friction='0.4'/></body>"
        "<body name='b' pos='-0.1 0.01 0'><joint axis='0.1 1 0'/><geom name='b' type='capsule' fromto='0 0 0 0 0 "
        "-0.31' "
        "size='0.03' mass='0.3' friction='0.4'/></body></body></worldbody></mujoco>";
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    tribo_options o = tribo_default_options();
    unsigned seed = 4;
    ck_assert_msg(tribo_model_load_memory(LEGS, strlen(LEGS), "legs", NULL, &m, &diag) == TRIBO_OK, "%s", diag.text);
    o.law = (tribo_law_options){
        .law = TRIBO_LAW_STOCHASTIC, .noise = NOISE, .smoothing = (tribo_smoothing)(TRIBO_SMOOTHING_LOGISTIC + _i)};
    o.dt = 0.002, o.tol = 1e-12;
    world w = world_of(m, &o);
    double *xd = world_zeros(w.n.ndx), *pd = world_zeros(w.n.np);
    for (int i = 0; i < w.n.nv; i++) w.x0[w.n.nq + i] = 0.3 * test_random(&seed);
    world_steps(&w, 2);
    world_run(&w);
    ck_assert_int_ge(tribo_last_info(w.ws)->ncon, 2);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < w.n.ndx; i++) xd[i] = test_random(&seed) * (i < w.n.nv ? 0.01 : 1);
        world_random_params(&w, 0.01, &seed, pd);
        world_random_weights(&w, &seed);
        world_agrees(&w, xd, pd, 1e-5, 1, 1e-9, 1e-6);
    }
    free(xd), free(pd);
    world_free(&w);
}
END_TEST

START_TEST(dense_noise_is_the_options) {
    const double M[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, J[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mu = 0.4,
                 vfree[3] = {0.3, 0, 0.02};
    tribo_law_options law = {.law = TRIBO_LAW_STOCHASTIC, .noise = NOISE}, other = {.law = TRIBO_LAW_STOCHASTIC};
    tribo_contact_problem p = {.nc = 1, .nv = 3, .M = M, .J = J, .vfree = vfree, .mu = &mu};
    double noise[2] = {NOISE, NOISE}, a[3], b[3], v[3];
    tribo_contact_ws *ws;
    ck_assert_int_eq(tribo_contact_ws_new(1, 3, &law, NULL, &ws), TRIBO_OK);
    ck_assert_int_eq(tribo_contact_solve(ws, &p, 0, false, a, v, NULL), TRIBO_OK);
    tribo_contact_ws_free(ws);
    ck_assert_int_eq(tribo_contact_ws_new(1, 3, &other, NULL, &ws), TRIBO_OK);
    ck_assert_int_eq(tribo_contact_set_noise(ws, noise), TRIBO_OK);
    ck_assert_int_eq(tribo_contact_solve(ws, &p, 0, false, b, v, NULL), TRIBO_OK);
    ck_assert(memcmp(a, b, sizeof a) == 0);
    tribo_contact_ws_free(ws);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("noisy step");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, pushes_what_is_not_in_contact, 0, 9);
    tcase_add_loop_test(t, no_kink_in_an_overlap, 0, 2);
    tcase_add_test(t, no_push_beyond_reach_nor_without_noise);
    tcase_add_loop_test(t, limits_come_without_a_jump, 0, 4);
    tcase_add_loop_test(t, covariance_is_noise, 0, 3);
    tcase_add_test(t, noise_is_of_the_velocity);
    tcase_add_loop_test(t, legs_over_a_floor, 0, 3);
    tcase_add_test(t, dense_noise_is_the_options);
    suite_add_tcase(s, t);
    return s;
}
