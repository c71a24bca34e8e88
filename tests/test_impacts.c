/* test_impacts.c -- laws of impact: what they keep, where they have no answer, and overlap taken back. */
#include "test_main.h"
#include "worlds.h"

static tribo_options with(tribo_impact impact) {
    tribo_options o = tribo_default_options();
    o.law.impact = impact;
    return o;
}

/* A ball on a floor, apart from a wall by `gap`, with a velocity and a spin about y: v (4). */
static world in_corner(double mu, double e, double gap, const double *v, const tribo_options *o) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_model *m = NULL;
    world_floor(b, mu, 0);
    world_wall(b, "wall", (double[3]){0, 0, 0}, (double[4]){sqrt(0.5), 0, sqrt(0.5), 0}, world_material(mu, e));
    world_ball(b, "ball", 1, 0.1, 0.1 + gap, 0, 0.1, world_material(mu, e));
    double q[7] = {0.1 + gap, 0, 0.1, 1, 0, 0, 0}, start[6] = {v[0], v[1], v[2], 0, v[3], 0};
    tribo_set_start(b, q, start);
    tribo_set_timestep(b, 1e-3);
    ck_assert_int_eq(tribo_build(b, &m, NULL), TRIBO_OK);
    return world_of(m, o);
}

/* Friction above 1 in a corner: no velocity fulfils Newton's law there, whatever the impulse. */
START_TEST(a_corner_without_a_solution) {
    for (int k = 0; k < 2; k++) {
        tribo_options o = with(k ? TRIBO_IMPACT_NEWTON : TRIBO_IMPACT_POISSON);
        world w = in_corner(1.5, 0.9, 5e-4, (double[4]){-1, 0, 0, 40}, &o);
        double before = tribo_energy(w.m, w.p, w.x0);
        int substituted = 0;
        for (int i = 0; i < 100; i++) {
            tribo_status s = tribo_step(w.ws, w.p, w.x0, NULL, w.x0, NULL);
            int n;
            const tribo_contact *c = tribo_last_contacts(w.ws, &n);
            ck_assert_msg(s == TRIBO_OK || s == TRIBO_SUBSTITUTED, "step %d: %s", i, tribo_status_text(s));
            substituted += s == TRIBO_SUBSTITUTED;
            for (int j = 0; j < n; j++)
                for (int r = 0; r < 3; r++) ck_assert_double_lt(fabs(c[j].impulse[r]), 20);
            ck_assert_double_le(tribo_energy(w.m, w.p, w.x0), before + 1e-9);
        }
        printf("corner, %s: %d steps by another law\n", k ? "newton" : "poisson", substituted);
        ck_assert_int_eq(substituted > 0, k);
        world_free(&w);
    }
}
END_TEST

/* A heavy ball lands on a light plate that the floor holds. */
START_TEST(what_is_held_stays) {
    for (int k = 0; k < 2; k++) {
        tribo_options o = with(k ? TRIBO_IMPACT_NEWTON : TRIBO_IMPACT_POISSON);
        tribo_builder *b = tribo_builder_new(NULL);
        tribo_model *m = NULL;
        world_floor(b, 0.5, 0.5);
        world_solid(b, "plate", TRIBO_BOX, 1, (double[3]){0.1, 0.1, 0.01}, (double[3]){0, 0, 0.01},
                    world_material(0.5, 0.5));
        world_ball(b, "ball", 1000, 0.05, 0, 0, 0.071, world_material(0.5, 0.5));
        double q[14] = {0, 0, 0.01, 1, 0, 0, 0, 0, 0, 0.071, 1, 0, 0, 0}, v[12] = {[8] = -1};
        tribo_set_start(b, q, v);
        tribo_set_timestep(b, 2e-3);
        ck_assert_int_eq(tribo_build(b, &m, NULL), TRIBO_OK);
        world w = world_of(m, &o);
        ck_assert_int_eq(tribo_step(w.ws, w.p, w.x0, NULL, w.x0, NULL), TRIBO_OK);
        NEAR(w.x0[2], 0.01, 1e-12);             /* the plate */
        ck_assert_double_gt(w.x0[7 + 2], 0.07); /* the ball has left it */
        ck_assert_double_gt(w.x0[14 + 6 + 2], 0.45);
        world_free(&w);
    }
}
END_TEST

/* A box between walls that are closer than it is wide: it stays, and what cannot be met is shared. */
START_TEST(a_squeezed_box_stays) {
    for (double squeeze = 1e-6; squeeze < 2e-3; squeeze *= 10) {
        tribo_builder *b = tribo_builder_new(NULL);
        tribo_model *m = NULL;
        world_floor(b, 0.5, 0);
        const double turn = sqrt(0.5);
        world_wall(b, "left", (double[3]){-0.1 + squeeze, 0, 0}, (double[4]){turn, 0, turn, 0}, world_material(0.5, 0));
        world_wall(b, "right", (double[3]){0.1 - squeeze, 0, 0}, (double[4]){turn, 0, -turn, 0},
                   world_material(0.5, 0));
        world_solid(b, "box", TRIBO_BOX, 8, (double[3]){0.1, 0.1, 0.1}, (double[3]){0, 0, 0.1}, world_material(0.5, 0));
        tribo_set_timestep(b, 1e-3);
        ck_assert_int_eq(tribo_build(b, &m, NULL), TRIBO_OK);
        world w = world_of(m, NULL);
        for (int i = 0; i < 50; i++) ck_assert_int_eq(tribo_step(w.ws, w.p, w.x0, NULL, w.x0, NULL), TRIBO_OK);
        NEAR(w.x0[0], 0, 1e-9);
        NEAR(w.x0[2], 0.1, 1e-9);
        for (int i = 0; i < 3; i++) NEAR(w.x0[7 + i], 0, 1e-6);
        world_free(&w);
    }
}
END_TEST

/* A pill without gravity whose ends hit the floor one after the other, the second because of the first: speeds, and
 * their derivatives, which the start's height has no part in, whatever share of a step lies between. */
START_TEST(one_end_after_the_other) {
    const double m = 0.5, half = 0.2, r = 0.02, e = 0.8, down = 0.4, low = 1e-4, high = 4.5e-4, by_spin = 1.5 / m;
    for (int k = 0; k < 5; k++) {
        double z = r + (low + high) / 2 + 7e-5 * k, tilt = asin((high - low) / (2 * half)), turn = PI / 4 + tilt / 2;
        tribo_builder *b = tribo_builder_new(NULL);
        world_wall(b, "floor", NULL, NULL, world_material(0, e));
        world_solid(b, "pill", TRIBO_CAPSULE, m, (double[3]){r, half, 0}, (double[3]){0, 0, z}, world_material(0, e));
        world w = world_new(b, 1e-3);
        w.p[world_param(&w, "gravity/z")] = 0;
        w.x0[3] = cos(turn), w.x0[5] = sin(turn);
        world_v0(&w, 0)[2] = -down;
        static const char *const MOMENT[] = {"pill/inertia/xx", "pill/inertia/yy"};
        for (int i = 0; i < 2; i++) w.p[world_param(&w, MOMENT[i])] = half * half / by_spin;
        double first = (1 + e) * down / (1 / m + by_spin), second_comes = down - first / m + by_spin * first;
        double second = (1 + e) * second_comes / (1 / m + by_spin);
        world_steps(&w, 5);
        world_run(&w);
        NEAR(world_v(&w, 5, 0, 2), -down + (first + second) / m, 1e-4);
        NEAR(fabs(world_v(&w, 5, 0, 4)), fabs(first - second) * by_spin / half, 1e-4);
        world_gradient(&w, 5, world_dv(&w, 0, 2));
        NEAR(w.x_bar[2], 0, 1e-2 * down / half);
        NEAR(w.x_bar[world_dv(&w, 0, 2)], 1 - (first + second) / (m * down), 1e-3);
        world_free(&w);
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("impacts");
    TCase *t = tcase_create("impacts");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, a_corner_without_a_solution);
    tcase_add_test(t, what_is_held_stays);
    tcase_add_test(t, a_squeezed_box_stays);
    tcase_add_test(t, one_end_after_the_other);
    suite_add_tcase(s, t);
    return s;
}
