/* test_unreachable.c -- what cannot be held together, and what overlaps: the displacement that takes it back depends on
 * no axes, neither the world's nor a body's. docs/math.md eq. (114), (496), (497). */
#include "random/maths.h"
#include "test_main.h"
#include "worlds.h"
#include <tribo/tribo.h>

/* A mass that slides along n alone, to be held at a place beside its way. */
static tribo_model *slider(const double n[3], const double place[3]) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_body_def body = tribo_default_body();
    tribo_joint_def slide = tribo_default_joint();
    tribo_equality_def held = tribo_default_equality();
    tribo_model *m = NULL;
    const double nothing[3] = {0};
    tribo_geom_def g = tribo_default_geom();
    tribo_diag diag = {0};
    g.shape = TRIBO_SPHERE, g.size[0] = 0.05;
    slide.kind = TRIBO_JOINT_SLIDE;
    tribo_set_gravity(b, nothing);
    held.a = TRIBO_WORLD, held.b = tribo_add_body(b, &body), held.as_placed = false;
    for (int i = 0; i < 3; i++) slide.axis[i] = n[i], held.pos_a[i] = place[i];
    tribo_add_joint(b, held.b, &slide), tribo_add_geom(b, held.b, &g), tribo_add_equality(b, &held);
    ck_assert_msg(tribo_build(b, &m, &diag) == TRIBO_OK, "%s", diag.text);
    return m;
}

START_TEST(what_cannot_be_held_comes_to_rest_where_it_is_nearest) {
    static const double way[3][3] = {{1, 0, 1}, {1, 1, 0}, {0.3, -1, 2}},
                        place[3][3] = {{0.1, 0, 0}, {0, 0.2, 0.1}, {0, 0, 0.1}};
    const double *n = way[_i], *to = place[_i], length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    tribo_model *m = slider(n, to);
    tribo_ws *ws;
    double p[256], x[2] = {0.07, 0}, nearest = (n[0] * to[0] + n[1] * to[1] + n[2] * to[2]) / length;
    ck_assert(tribo_ws_new(m, NULL, NULL, &ws, NULL) == TRIBO_OK);
    tribo_model_params(m, p);
    for (int k = 0; k < 400; k++) ck_assert(tribo_step(ws, p, x, NULL, x, NULL) == TRIBO_OK);
    ck_assert_msg(fabs(x[0] - nearest) < 1e-9 && fabs(x[1]) < 1e-9, "at %.12g, moving by %g; nearest at %.12g", x[0],
                  x[1], nearest);
    tribo_ws_free(ws), tribo_model_free(m);
}
END_TEST

/* A small bar on a ball, whose end is in the floor; its body's frame is turned by q from the bar's. */
static tribo_model *bar(const double q[4]) {
    static const double at[3] = {0.015, 0.001, -0.002}, size[3] = {0.02, 0.004, 0.006};
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_body_def body = tribo_default_body();
    tribo_joint_def ball = tribo_default_joint();
    tribo_geom_def g = tribo_default_geom();
    tribo_model *m = NULL;
    world_floor(b, 0.4, 0);
    body.pos[2] = 0.011, copy4(body.quat, q);
    ball.kind = TRIBO_JOINT_BALL;
    g.shape = TRIBO_BOX, copy3(g.size, size);
    quat_conjugate(g.quat, q), quat_turn(g.pos, g.quat, at);
    int id = tribo_add_body(b, &body);
    tribo_add_joint(b, id, &ball), tribo_add_geom(b, id, &g);
    ck_assert(tribo_build(b, &m, NULL) == TRIBO_OK);
    return m;
}

/* How it is turned after a step that takes back its overlap. */
static void step_of_bar(const double q[4], double turned[4]) {
    static const double turn[4] = {0.9886, 0.02, 0.149, 0.01};
    tribo_model *m = bar(q);
    tribo_ws *ws;
    double p[256], x[7] = {0}, back[4];
    ck_assert(tribo_ws_new(m, NULL, NULL, &ws, NULL) == TRIBO_OK);
    tribo_model_params(m, p);
    quat_conjugate(back, q);
    quat_times(x, back, turn), quat_times(x, x, q), quat_normalise(x);
    ck_assert(tribo_step(ws, p, x, NULL, x, NULL) == TRIBO_OK);
    ck_assert(tribo_last_info(ws)->penetration > 1e-3);
    quat_times(turned, q, x), quat_times(turned, turned, back);
    tribo_ws_free(ws), tribo_model_free(m);
}

START_TEST(overlap_is_taken_back_whatever_the_axes) {
    static const double one[4] = {1, 0, 0, 0};
    double q[4] = {0.3, -0.5, 0.2 + _i, 0.7}, there[4], here[4];
    quat_normalise(q);
    step_of_bar(one, here), step_of_bar(q, there);
    for (int i = 0; i < 4; i++)
        ck_assert_msg(fabs(there[i] - here[i]) < 1e-12, "number %d: %.15g and %.15g", i, here[i], there[i]);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("unreachable");
    TCase *t = tcase_create("unreachable");
    tcase_add_loop_test(t, what_cannot_be_held_comes_to_rest_where_it_is_nearest, 0, 3);
    tcase_add_loop_test(t, overlap_is_taken_back_whatever_the_axes, 0, 3);
    suite_add_tcase(s, t);
    return s;
}
