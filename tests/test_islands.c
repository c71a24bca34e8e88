/* test_islands.c -- many bodies: those that do not touch move as each would alone, to the bit; and so does the reverse.
 */
#include "forward/frame.h"
#include "test_main.h"
#include "worlds.h"

/* Pairs of cubes on a floor, the upper sliding off; n of them, far apart along x: pair k alone is placed as in the row.
 */
static world row_of_pairs(int first, int n) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.4, 0);
    tribo_material mat = world_material(0.3, 0);
    for (int k = first; k < first + n; k++) {
        world_box(b, NULL, 1, 0.1, k, 0, 0.1, mat);
        world_box(b, NULL, 0.5, 0.08, k + 0.03, 0.02, 0.28, mat);
    }
    world w = world_new(b, 1e-3);
    for (int k = 0; k < n; k++) {
        double *v = world_v0(&w, 2 * k + 1);
        v[0] = 0.3 + 0.01 * (first + k), v[5] = 0.1 * (first + k);
    }
    world_steps(&w, 20);
    return w;
}

START_TEST(apart_is_alone) {
    enum { PAIRS = 14 }; /* 28 cubes: 378 pairs and the floor, beyond what is looked at one by one */
    world all = row_of_pairs(0, PAIRS);
    world_run(&all);
    ck_assert_int_eq(tribo_last_info(all.ws)->nislands, PAIRS);
    all.lx[all.T * all.n.ndx + 6] = 1; /* x of the upper cube of the first pair */
    world_reverse(&all);
    for (int k = 0; k < PAIRS; k++) {
        world one = row_of_pairs(k, 1);
        world_run(&one);
        for (int t = 0; t <= one.T; t++)
            for (int b = 0; b < 2; b++) {
                ck_assert(memcmp(&all.X[t * all.n.nx + 7 * (2 * k + b)], &one.X[t * one.n.nx + 7 * b], 56) == 0);
                ck_assert(memcmp(&all.X[t * all.n.nx + all.n.nq + 6 * (2 * k + b)],
                                 &one.X[t * one.n.nx + one.n.nq + 6 * b], 48) == 0);
            }
        one.lx[one.T * one.n.ndx + 6] = k == 0;
        world_reverse(&one);
        for (int i = 0; i < 12; i++) {
            ck_assert(all.x_bar[12 * k + i] == one.x_bar[i]);
            ck_assert(all.x_bar[all.n.nv + 12 * k + i] == one.x_bar[one.n.nv + i]);
        }
        world_free(&one);
    }
    world_free(&all);
}
END_TEST

/* ---- contacts that nothing brings together ---- */

/* Balls, one above the other with a millimetre between, that fall together: the floor stops the lowest, it the next. */
START_TEST(stopped_one_after_the_other) {
    enum { BALLS = 6 };
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.4, 0);
    for (int k = 0; k < BALLS; k++) world_ball(b, NULL, 1, 0.1, 0, 0, 0.101 + 0.201 * k, world_material(0.3, 0));
    world w = world_new(b, 2e-3);
    for (int k = 0; k < BALLS; k++) world_v0(&w, k)[2] = -5;
    world_steps(&w, 1);
    world_run(&w);
    ck_assert_int_eq(w.ws->naside, 0);
    ck_assert_int_eq(tribo_last_info(w.ws)->nislands, 1);
    ck_assert(w.ws->frame.island[0].resumed);
    for (int k = 0; k < BALLS; k++) ck_assert_double_eq_tol(w.X[w.n.nx + 7 * k + 2], 0.1 + 0.2 * k, 1e-9);
    world_free(&w);
}
END_TEST

/* The convex relaxation pushes apart what slides, before it touches. */
START_TEST(relaxed_contacts_push_from_afar) {
    static const double dt = 1e-3, mu = 0.5, gap = 1e-4, speed = 1;
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_material mat = world_material(mu, 0);
    world_ball(b, NULL, 1, 0.1, 0, 0, 0.1, mat);
    world_ball(b, NULL, 1, 0.1, 0, 0, 0.3 + gap, mat);
    world w = world_new(b, dt);
    tribo_options o = tribo_default_options();
    tribo_ws *ws;
    double next[2 * 13];
    o.law.law = TRIBO_LAW_CCP;
    ck_assert_int_eq(tribo_ws_new(w.m, &o, NULL, &ws, NULL), TRIBO_OK);
    world_v0(&w, 1)[0] = speed;
    world_steps(&w, 1);
    ck_assert_int_eq(tribo_step(ws, w.p, w.x0, NULL, next, NULL), TRIBO_OK);
    int n;
    const tribo_contact *c = tribo_last_contacts(ws, &n);
    ck_assert_int_eq(n, 1);
    ck_assert_double_gt(c->impulse[2], 0);
    ck_assert_double_eq_tol(hypot(c->impulse[0], c->impulse[1]), mu * c->impulse[2], 1e-9);
    tribo_ws_free(ws), world_free(&w);
}
END_TEST

/* A loose heap of balls and boxes in the air, falling. */
static world falling_heap(double e) {
    tribo_builder *b = tribo_builder_new(NULL);
    unsigned state = 5;
    world_floor(b, 0.4, e);
    tribo_material mat = world_material(0.3, e);
    for (int k = 0; k < 18; k++) {
        double x = 0.208 * (k % 3) + 0.002 * test_random(&state), y = 0.208 * (k / 3 % 2) + 0.002 * test_random(&state);
        double z = 0.13 + 0.204 * (k / 6) + 0.002 * test_random(&state);
        if (k % 2)
            world_ball(b, NULL, 1 + k % 5, 0.1, x, y, z, mat);
        else
            world_box(b, NULL, 1 + k % 3, 0.1, x, y, z, mat);
    }
    world w = world_new(b, 2e-3);
    for (int k = 0; k < 18; k++) world_v0(&w, k)[2] = -3, world_v0(&w, k)[3] = 0.5 * test_random(&state);
    return w;
}

/* From every state of a run, the same step with all contacts in islands. */
static void compare_steps(double e, int *aside, int *called, double *worst) {
    enum { STEPS = 80 };
    world w = falling_heap(e);
    tribo_ws *together;
    ck_assert_int_eq(tribo_ws_new(w.m, NULL, NULL, &together, NULL), TRIBO_OK);
    together->together = true;
    double *x = world_zeros(w.n.nx), *all = world_zeros(w.n.nx);
    memcpy(x, w.x0, sizeof *x * (size_t)w.n.nx);
    *aside = *called = 0, *worst = 0;
    for (int step = 0; step < STEPS; step++) {
        ck_assert_int_ge(tribo_step(together, w.p, x, NULL, all, NULL), 0);
        ck_assert_int_ge(tribo_step(w.ws, w.p, x, NULL, x, NULL), 0);
        *aside += w.ws->naside;
        for (int k = 0; k < w.ws->frame.nisland; k++) *called += w.ws->frame.island[k].resumed;
        ck_assert_int_eq(tribo_last_info(together)->ncon, tribo_last_info(w.ws)->ncon + w.ws->naside);
        ck_assert_int_eq(together->naside, 0);
        if (tribo_last_info(together)->canonical && tribo_last_info(w.ws)->canonical)
            for (int i = 0; i < w.n.nx; i++) *worst = ti_max(*worst, fabs(x[i] - all[i]));
        int n;
        const tribo_contact *c = tribo_last_contacts(w.ws, &n);
        for (int i = 0; i < n; i++) ck_assert(c[i].mode != TRIBO_BREAK || c[i].impulse[2] == 0);
    }
    free(x), free(all);
    tribo_ws_free(together), world_free(&w);
}

START_TEST(left_aside_is_as_all_together) {
    int aside, called;
    double worst;
    compare_steps(0, &aside, &called, &worst);
    printf("aside %d, islands again %d, by at most %.1e\n", aside, called, worst);
    ck_assert_int_gt(aside, 100);
    ck_assert_int_gt(called, 0);
    ck_assert_double_lt(worst, 1e-8);
}
END_TEST

/* Two boxes side by side, one across them and one on that, each askew by next to nothing: what their contacts are asked
 * for goes together but for the square of that. */
START_TEST(boxes_a_little_askew) {
    static const double at[4][3] = {{0, 0, .1}, {.21, 0, .1}, {.117, .01, .3}, {.09, .03, .5}};
    unsigned seed = 5;
    int canonical = 0, draws = 0;
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.5, 0);
    for (int i = 0; i < 4; i++)
        world_box(b, (char[2]){(char)('a' + i), 0}, 1, .1, at[i][0], at[i][1], at[i][2], world_material(0.5, 0));
    world w = world_new(b, 0.002);
    for (double askew = 1e-9; askew < 2e-7; askew *= 10)
        for (int draw = 0; draw < 10; draw++, draws++) {
            for (int i = 0; i < 4; i++)
                for (int k = 4; k < 6; k++) w.x0[7 * i + k] = askew * test_random(&seed);
            double next[64];
            tribo_status s = tribo_step(w.ws, w.p, w.x0, NULL, next, NULL);
            const tribo_step_info *info = tribo_last_info(w.ws);
            ck_assert_int_eq(s, TRIBO_OK);
            ck_assert_double_le(info->residual, 1e-9);
            canonical += info->canonical;
        }
    ck_assert_msg(canonical >= 0.9 * draws, "%d of %d are canonical", canonical, draws);
    world_free(&w);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("islands");
    TCase *t = tcase_create("islands");
    tcase_add_test(t, apart_is_alone);
    tcase_add_test(t, stopped_one_after_the_other);
    tcase_add_test(t, left_aside_is_as_all_together);
    tcase_add_test(t, relaxed_contacts_push_from_afar);
    tcase_add_test(t, boxes_a_little_askew);
    suite_add_tcase(s, t);
    return s;
}
