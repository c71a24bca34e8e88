/* test_sweep.c -- what a sweep says of the steps it went over, and that it ends well where they did not. */
#include "test_main.h"
#include "worlds.h"

/* A box on a floor with friction, pushed by nothing; T steps under these options from velocity vx, vz. */
static world recorded(tribo_options o, int T, double vx, double vz, tribo_status *worst) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_model *m = NULL;
    world_floor(b, 0.5, 0);
    world_box(b, "box", 1, 0.1, 0, 0, 0.1, world_material(0.5, 0));
    tribo_set_timestep(b, 0.01);
    ck_assert_int_eq(tribo_build(b, &m, NULL), TRIBO_OK);
    world w = world_of(m, &o);
    world_steps(&w, T);
    world_v0(&w, 0)[0] = vx, world_v0(&w, 0)[2] = vz;
    *worst = tribo_rollout(w.ws, w.p, w.x0, T, w.U, w.X, w.tape);
    for (int i = 0; i < (T + 1) * w.n.ndx; i++) w.lx[i] = 1;
    return w;
}

static tribo_status swept(world *w) {
    return tribo_backward(w->ws, w->tape, w->lx, w->x_bar, w->u_bar, w->p_bar);
}

static void check_finite(const world *w) {
    for (int i = 0; i < w->n.ndx; i++) ck_assert(isfinite(w->x_bar[i]));
    for (int i = 0; i < w->T * w->n.nu; i++) ck_assert(isfinite(w->u_bar[i]));
    for (int i = 0; i < w->n.np; i++) ck_assert(isfinite(w->p_bar[i]));
}

/* Status of the sweep, of one record in every direction, and of the same by checkpoints. */
static void check_says(world *w, tribo_status wanted, int k) {
    double x[12] = {0}, d[12], A[144], p[256] = {0};
    tribo_checkpoint *c = NULL;
    ck_assert_int_eq(swept(w), wanted);
    check_finite(w);
    ck_assert_int_eq(tribo_step_vjp(w->ws, w->tape, k, w->lx, x, NULL, p), wanted);
    ck_assert_int_eq(tribo_step_jvp(w->ws, w->tape, k, 1, w->lx, NULL, NULL, d), wanted);
    ck_assert_int_eq(tribo_step_jac(w->ws, w->tape, k, A, NULL, NULL), wanted);
    for (int i = 0; i < 144; i++) ck_assert(isfinite(A[i]));
    ck_assert_int_eq(tribo_checkpoint_new(w->ws, 2, &c), TRIBO_OK);
    memset(x, 0, sizeof x);
    ck_assert_int_eq(tribo_checkpoint_backward(c, w->ws, w->p, w->x0, w->T, NULL, w->lx, x, NULL, p, NULL), wanted);
    ck_assert_mem_eq(x, w->x_bar, sizeof x);
    tribo_checkpoint_free(c);
}

START_TEST(a_good_tape_is_ok) {
    tribo_status s;
    world w = recorded(tribo_default_options(), 5, 1, 0, &s);
    ck_assert_int_eq(s, TRIBO_OK);
    check_says(&w, TRIBO_OK, 2);
    world_free(&w);
}
END_TEST

START_TEST(steps_that_did_not_converge_are_told) {
    tribo_options o = tribo_default_options();
    tribo_status s;
    o.tol = 1e-30;
    world w = recorded(o, 5, 1, 0, &s);
    ck_assert_int_eq(s, TRIBO_NOT_CONVERGED);
    check_says(&w, TRIBO_NOT_CONVERGED, 2);
    world_free(&w);
}
END_TEST

START_TEST(one_answer_of_many_is_told) {
    tribo_options o = tribo_default_options();
    tribo_status s;
    o.law.solver = TRIBO_SOLVER_PGS, o.law.raw = true;
    world w = recorded(o, 3, 1, 0, &s);
    ck_assert_int_eq(s, TRIBO_OK);
    ck_assert(!tribo_last_info(w.ws)->canonical);
    check_says(&w, TRIBO_DEGENERATE, 1);
    world_free(&w);
}
END_TEST

/* The unrolled reverse is that of its rounds, whatever they reach. */
START_TEST(rounds_are_their_own_function) {
    tribo_options o = tribo_default_options();
    tribo_status s;
    o.rounds = 3, o.reverse = TRIBO_REVERSE_UNROLLED;
    world w = recorded(o, 3, 1, 0, &s);
    ck_assert_int_eq(swept(&w), s);
    check_finite(&w);
    world_free(&w);
}
END_TEST

/* Numbers whose squares are not: whatever the step said, the sweep is not OK unless its numbers are. */
START_TEST(no_number_is_never_ok) {
    static const double speeds[] = {1e10, 1e100, 1e155, 1e160, 1e200};
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        for (int fall = 0; fall < 2; fall++) {
            tribo_status s;
            world w = recorded(tribo_default_options(), 1, speeds[i], fall ? -speeds[i] : 0, &s);
            if (s >= 0) {
                tribo_status back = swept(&w);
                ck_assert_int_ge(back, 0);
                if (back == TRIBO_OK) check_finite(&w);
                if (s == TRIBO_NOT_CONVERGED) ck_assert_int_gt(back, TRIBO_OK);
            }
            world_free(&w);
        }
}
END_TEST

/* A wheel a tenth of a micrometre large beside a plate of a hundred metres: what turns it is beyond all units. */
START_TEST(a_step_too_steep_is_told) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.5, 0);
    world_ball(b, "wheel", 1e-9, 1e-7, 0, 0, 1e-7, world_material(0.5, 0));
    world_solid(b, "plate", TRIBO_BOX, 1, (double[3]){50, 50, 0.1}, (double[3]){0, 0, 9}, world_material(0.5, 0));
    world w = world_new(b, 0.01);
    world_steps(&w, 1);
    world_run(&w);
    w.lx[w.n.ndx + world_dv(&w, 0, 4)] = 1; /* how fast the wheel turns, by how fast it goes */
    ck_assert_int_eq(swept(&w), TRIBO_DEGENERATE);
    check_finite(&w);
    ck_assert_double_gt(fabs(w.x_bar[world_dv(&w, 0, 0)]), 1e5);
    world_free(&w);
}
END_TEST

/* Noise that is made of a covariance belongs to the step: a tape is of one, and is swept under it. */
START_TEST(a_tape_is_of_one_covariance) {
    tribo_options o = tribo_default_options();
    tribo_status s;
    double P[144] = {0};
    o.law.law = TRIBO_LAW_STOCHASTIC;
    world w = recorded(o, 3, 1, 0, &s);
    for (int i = 0; i < 12; i++) P[13 * i] = 1e-6;
    tribo_tape_rewind(w.tape);
    ck_assert_int_eq(tribo_ws_set_covariance(w.ws, P), TRIBO_OK);
    ck_assert_int_ge(tribo_step(w.ws, w.p, w.x0, NULL, w.X, w.tape), 0);
    ck_assert_int_ge(swept(&w), 0);
    P[0] = 2e-6;
    ck_assert_int_eq(swept(&w), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_step(w.ws, w.p, w.x0, NULL, w.X, w.tape), TRIBO_E_ARG);
    P[0] = 1e-6;
    ck_assert_int_ge(swept(&w), 0);
    ck_assert_int_eq(tribo_ws_set_covariance(w.ws, NULL), TRIBO_OK);
    ck_assert_int_eq(swept(&w), TRIBO_E_ARG);
    world_free(&w);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("sweep");
    TCase *t = tcase_create("sweep");
    tcase_add_test(t, a_good_tape_is_ok);
    tcase_add_test(t, steps_that_did_not_converge_are_told);
    tcase_add_test(t, one_answer_of_many_is_told);
    tcase_add_test(t, rounds_are_their_own_function);
    tcase_add_test(t, no_number_is_never_ok);
    tcase_add_test(t, a_step_too_steep_is_told);
    tcase_add_test(t, a_tape_is_of_one_covariance);
    suite_add_tcase(s, t);
    return s;
}
