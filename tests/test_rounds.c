/* test_rounds.c -- a fixed number of staggered rounds, as [LeLidec21], and its unrolled reverse. */
#include "test_main.h"
#include "worlds.h"

typedef struct start {
    tribo_shape shape;
    double height, quat[4], v[6], restitution;
} start;

static const start at_rest = {.shape = TRIBO_BOX, .height = 0.1, .quat = {1, 0, 0, 0}};

static world body_on_floor(const start *s, const tribo_options *o) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    world_floor(b, 0.4, s->restitution);
    world_solid(b, "cube", s->shape, 1, (double[3]){0.1, 0.1, 0.1}, (double[3]){0, 0, 0}, world_material(0.4, 0));
    double q[7] = {0, 0, s->height, s->quat[0], s->quat[1], s->quat[2], s->quat[3]};
    tribo_set_start(b, q, s->v);
    tribo_set_timestep(b, 1e-3);
    ck_assert_msg(tribo_build(b, &m, &diag) == TRIBO_OK, "%s", diag.text);
    return world_of(m, o);
}

/* The gradient of a weighted sum of the last state, in one piece: state, controls, parameters. */
static double *gradient(const start *s, const tribo_options *o, int steps, int *n) {
    world w = body_on_floor(s, o);
    unsigned seed = 7;
    world_steps(&w, steps);
    ck_assert_int_ge(tribo_rollout(w.ws, w.p, w.x0, steps, w.U, w.X, w.tape), 0);
    for (int i = 0; i < w.n.ndx; i++) w.lx[steps * w.n.ndx + i] = test_random(&seed);
    world_reverse(&w);
    int size[3] = {w.n.ndx, steps * w.n.nu, w.n.np};
    const double *part[3] = {w.x_bar, w.u_bar, w.p_bar};
    double *all = world_zeros(size[0] + size[1] + size[2]);
    *n = 0;
    for (int k = 0; k < 3; *n += size[k++]) memcpy(all + *n, part[k], sizeof(double) * (size_t)size[k]);
    world_free(&w);
    return all;
}

/* With rounds enough to converge, back through each of them is the same as the coupled system transposed once. */
static void check_unrolled(const char *name, const start *s, int rounds, int steps) {
    tribo_options o = tribo_default_options();
    o.law.impact = TRIBO_IMPACT_NEWTON;
    double *g[3], largest = 0, worst[3] = {0};
    int n = 0;
    g[0] = gradient(s, &o, steps, &n);
    o.rounds = rounds;
    g[1] = gradient(s, &o, steps, &n);
    o.reverse = TRIBO_REVERSE_UNROLLED;
    g[2] = gradient(s, &o, steps, &n);
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(g[0][i]));
    for (int k = 1; k < 3; k++)
        for (int i = 0; i < n; i++) worst[k] = fmax(worst[k], fabs(g[k][i] - g[0][i]) / largest);
    printf("%-10s %3d rounds, %2d steps: implicit %.1e, unrolled %.1e from the converged solver's\n", name, rounds,
           steps, worst[1], worst[2]);
    ck_assert(largest > 0);
    NEAR(worst[1], 0, 1e-8);
    NEAR(worst[2], 0, 1e-8);
    for (int k = 0; k < 3; k++) free(g[k]);
}

START_TEST(unrolled_and_implicit_agree) {
    start s = at_rest;
    s.v[0] = 3;
    check_unrolled("slide", &s, 20, 1);
    check_unrolled("slide", &s, 20, 20);
    s.v[0] = 0.002;
    check_unrolled("stick", &s, 100, 1);
    s = at_rest, s.v[5] = 3, s.v[0] = 0.2, s.v[1] = 0.1;
    check_unrolled("spin", &s, 40, 5);
    s = at_rest, s.shape = TRIBO_SPHERE, s.v[0] = 1, s.v[4] = 2;
    check_unrolled("ball slips", &s, 20, 5);
    s = (start){TRIBO_BOX, 0.1601, {0.86, 0.3, 0.4, 0}, {1, 0, -2, 0, 3, 0}, 0.4};
    check_unrolled("corner", &s, 60, 1);
}
END_TEST

/* The alternation gains a factor of 0.6 a round where a cube sticks under a pull: ten leave it creeping. */
START_TEST(ten_rounds_leave_a_stuck_cube_creeping) {
    tribo_options o = tribo_default_options();
    double creep[2], u[6] = {2, 0, 0, 0, 0, 0};
    for (int k = 0; k < 2; k++, o.rounds = 10) {
        world w = body_on_floor(&at_rest, &o);
        ck_assert_int_ge(tribo_step(w.ws, w.p, w.x0, u, w.x0, NULL), 0);
        creep[k] = fabs(*world_v0(&w, 0));
        ck_assert(k == 0 || tribo_last_info(w.ws)->residual > 1e-6);
        world_free(&w);
    }
    printf("creep: converged %.1e m/s, ten rounds %.1e m/s\n", creep[0], creep[1]);
    NEAR(creep[0], 0, 1e-14);
    ck_assert(creep[1] > 1e-8 && creep[1] < 1e-4);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("rounds");
    TCase *t = tcase_create("rounds");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, unrolled_and_implicit_agree);
    tcase_add_test(t, ten_rounds_leave_a_stuck_cube_creeping);
    suite_add_tcase(s, t);
    return s;
}
