/* test_islands.c -- many bodies: those that do not touch move as each would alone, to the bit; and so does the reverse.
 */
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

static Suite *suite(void) {
    Suite *s = suite_create("islands");
    TCase *t = tcase_create("islands");
    tcase_add_test(t, apart_is_alone);
    suite_add_tcase(s, t);
    return s;
}
