/* test_model.c -- the builder, summed inertia, pair rules, and the names of parameters. */
#include "base/base.h"
#include "model/possible.h"
#include "test_main.h"
#include <math.h>
#include <stdio.h>

static tribo_geom_def geom_of(const char *name, tribo_shape shape, double x, double y, double z) {
    tribo_geom_def g = tribo_default_geom();
    g.name = name;
    g.shape = shape;
    g.size[0] = x, g.size[1] = y, g.size[2] = z;
    return g;
}

static int add_body(tribo_builder *b, const char *name) {
    tribo_body_def d = tribo_default_body();
    d.name = name;
    return tribo_add_body(b, &d);
}

static tribo_model *built(tribo_builder *b) {
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    tribo_status s = tribo_build(b, &m, &diag);
    ck_assert_msg(s == TRIBO_OK, "%s", diag.text);
    return m;
}

static void refused(tribo_builder *b, tribo_status status, const char *text) {
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    tribo_status s = tribo_build(b, &m, &diag);
    ck_assert_int_eq(s, status);
    ck_assert_ptr_null(m);
    ck_assert_msg(strstr(diag.text, text) != NULL, "expected `%s`, got `%s`", text, diag.text);
}

/* A floor, a cube whose geom is called `shell`, a ball whose geom is called `ball`. */
static tribo_builder *cube_and_ball(void) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_geom_def floor = geom_of("floor", TRIBO_PLANE, 0, 0, 0);
    tribo_geom_def shell = geom_of("shell", TRIBO_BOX, 0.1, 0.2, 0.3);
    tribo_geom_def ball = geom_of("ball", TRIBO_SPHERE, 0.1, 0, 0);
    floor.material.friction = 0.3;
    shell.material.friction = 0.5;
    ball.material.restitution = 0.7;
    ball.material.friction = 0.1;
    tribo_add_geom(b, TRIBO_WORLD, &floor);
    int cube = add_body(b, "cube"), sphere = add_body(b, "ball");
    tribo_add_geom(b, cube, &shell);
    tribo_add_geom(b, sphere, &ball);
    return b;
}

START_TEST(sizes_and_layout) {
    tribo_model *m = built(cube_and_ball());
    tribo_sizes n = tribo_model_sizes(m);
    ck_assert_int_eq(n.nbody, 2);
    ck_assert_int_eq(n.ngeom, 3);
    ck_assert_int_eq(n.nx, 26);
    ck_assert_int_eq(n.ndx, 24);
    ck_assert_int_eq(n.nu, 12);
    ck_assert_int_eq(n.np, 3 + 2 * 10 + 3 * 19);
    ck_assert_double_eq(tribo_model_timestep(m), 0.002);
    ck_assert_double_eq(tribo_model_extent(m), 0.6);
    ck_assert_str_eq(tribo_model_geom_name(m, 1), "shell");
    ck_assert_ptr_null(tribo_model_geom_name(m, 3));
    ck_assert_int_eq(tribo_model_geom_body(m, 1), 0);
    for (int i = 0; i < n.np; i++) {
        tribo_param_info info;
        ck_assert_int_eq(tribo_param_describe(m, i, &info), TRIBO_OK);
        ck_assert_msg(tribo_param_find(m, info.name) == i, "%s", info.name);
    }
    ck_assert_int_eq(tribo_param_find(m, "gravity/z"), 2);
    ck_assert_int_eq(tribo_param_find(m, "gravity/w"), -1);
    ck_assert_int_eq(tribo_param_find(m, "cube/mas"), -1);
    ck_assert_int_eq(tribo_param_find(m, "cube/inertia"), -1);
    tribo_model_free(m);
}
END_TEST

START_TEST(names_may_be_borrowed) {
    tribo_model *m = built(cube_and_ball());
    int index[16];
    ck_assert_int_eq(tribo_param_find(m, "cube/friction"), tribo_param_find(m, "shell/friction"));
    ck_assert_int_eq(tribo_param_find(m, "shell/mass"), tribo_param_find(m, "cube/mass"));
    ck_assert_int_ne(tribo_param_find(m, "ball/mass"), -1);
    ck_assert_int_eq(tribo_param_group(m, "cube/size", index, 16), 3);
    ck_assert_int_eq(tribo_param_group(m, "ball/size", index, 16), 1); /* a radius */
    ck_assert_int_eq(tribo_param_group(m, "cube/inertia", index, 16), 6);
    ck_assert_int_eq(tribo_param_group(m, "cube/inert", index, 16), 0);
    ck_assert_int_eq(tribo_param_group(m, "gravity", index, 2), 3);
    ck_assert_int_eq(tribo_param_group(m, "floor/size", index, 16), 0);
    ck_assert_int_eq(tribo_param_group(m, "nobody", index, 16), 0);
    ck_assert_int_eq(tribo_param_group(m, "cube/", index, 16), 0);
    ck_assert_int_eq(tribo_param_group(m, "", index, 16), 0);
    tribo_model_free(m);
}
END_TEST

/* As where models are attached to others, also where one name ends where a number of another's begins. */
START_TEST(names_may_have_slashes) {
    static const char *const NAME[] = {"robot", "robot/", "robot/arm", "robot/com", "robot/com/x"};
    enum { NAMES = sizeof NAME / sizeof *NAME };
    tribo_builder *b = tribo_builder_new(NULL);
    for (int i = 0; i < NAMES; i++) {
        tribo_geom_def g = geom_of(NULL, TRIBO_SPHERE, 0.1 + i, 0, 0);
        tribo_add_geom(b, add_body(b, NAME[i]), &g);
    }
    tribo_model *m = built(b);
    int index[16];
    tribo_param_info info;
    for (int i = 0; i < m->size.np; i++) { /* every number is found by its name */
        ck_assert_int_eq(tribo_param_describe(m, i, &info), TRIBO_OK);
        ck_assert_int_eq(tribo_param_find(m, info.name), i);
    }
    for (int i = 0; i < NAMES; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s/mass", NAME[i]);
        ck_assert_int_eq(tribo_param_find(m, name), m->body[i].p + TI_P_MASS);
    }
    ck_assert_int_eq(tribo_param_group(m, "robot/arm/inertia", index, 16), 6);
    ck_assert_int_gt(tribo_param_group(m, "robot/arm", index, 16), 10); /* and the geom's */
    ck_assert_int_eq(index[0], m->body[2].p);
    ck_assert_int_eq(tribo_param_group(m, "robot/inertia", index, 16), 6);
    ck_assert_int_gt(tribo_param_group(m, "robot/com", index, 16), 10); /* the longest name counts */
    ck_assert_int_eq(index[0], m->body[3].p);
    ck_assert_int_eq(tribo_param_group(m, "robot/leg", index, 16), 0);
    tribo_model_free(m);
}
END_TEST

/* A body, its joint, its geom, an actuator and a site of one name; a body whose geom lends it its name is another. */
START_TEST(names_may_be_shared) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_joint_def j = tribo_default_joint();
    tribo_site_def s = tribo_default_site();
    tribo_actuator_def a = tribo_default_actuator();
    tribo_geom_def g = geom_of("x", TRIBO_SPHERE, 0.1, 0, 0);
    int body = add_body(b, "x");
    j.name = s.name = a.name = "x";
    a.site = 0;
    tribo_add_joint(b, body, &j), tribo_add_geom(b, body, &g), tribo_add_site(b, body, &s), tribo_add_actuator(b, &a);
    tribo_model *m = built(b);
    tribo_param_info info;
    for (int i = 0; i < m->size.np; i++) {
        ck_assert_int_eq(tribo_param_describe(m, i, &info), TRIBO_OK);
        ck_assert_msg(tribo_param_find(m, info.name) == i, "%s is not found", info.name);
    }
    tribo_model_free(m);
}
END_TEST

START_TEST(inertia_of_a_box_and_of_two) {
    tribo_model *m = built(cube_and_ball());
    double p[128];
    tribo_model_params(m, p);
    const double *cube = p + m->body[0].p, mass = 1000 * 8 * 0.1 * 0.2 * 0.3;
    ck_assert_double_eq_tol(cube[TI_P_MASS], mass, 1e-12);
    ck_assert_double_eq_tol(cube[TI_P_INERTIA], mass / 3 * (0.04 + 0.09), 1e-12);
    ck_assert_double_eq_tol(cube[TI_P_INERTIA + 2], mass / 3 * (0.01 + 0.04), 1e-12);
    tribo_model_free(m);
    /* Two half cubes, one of them turned about x, are the whole one. */
    tribo_builder *b = tribo_builder_new(NULL);
    int body = add_body(b, "whole");
    tribo_geom_def half = geom_of(NULL, TRIBO_BOX, 0.05, 0.1, 0.1);
    half.mass = 1;
    half.pos[0] = 0.05;
    tribo_add_geom(b, body, &half);
    half.pos[0] = 0.15;
    half.quat[0] = half.quat[1] = 1;
    tribo_add_geom(b, body, &half);
    m = built(b);
    tribo_model_params(m, p);
    const double *whole = p + m->body[0].p;
    ck_assert_double_eq_tol(whole[TI_P_MASS], 2, 1e-15);
    ck_assert_double_eq_tol(whole[TI_P_COM], 0.1, 1e-15);
    for (int i = 0; i < 3; i++) ck_assert_double_eq_tol(whole[TI_P_INERTIA + i], 2 * 0.02 / 3, 1e-15);
    for (int i = 3; i < 6; i++) ck_assert_double_eq_tol(whole[TI_P_INERTIA + i], 0, 1e-15);
    tribo_model_free(m);
}
END_TEST

static ti_pair pair_of(const tribo_model *m, int i, int j) {
    ti_pair pair, other;
    ck_assert(ti_can_touch(m, i, j) && ti_pair_of(m, i, j, &pair) && ti_pair_of(m, j, i, &other));
    ck_assert(pair.a == other.a && pair.b == other.b);
    ck_assert_mem_eq(pair.material, other.material, sizeof pair.material);
    return pair;
}

START_TEST(pairs_and_materials) {
    tribo_model *m = built(cube_and_ball());
    ck_assert_int_eq(m->nlisted, 3);
    ti_pair floor_shell = pair_of(m, 0, 1), shell_ball = pair_of(m, 1, 2);
    ck_assert(!ti_can_touch(m, 0, 0));
    ck_assert_int_eq(floor_shell.material[TI_M_FRICTION], tribo_param_find(m, "shell/friction"));
    ck_assert_int_eq(floor_shell.material[TI_M_SLOP], tribo_param_find(m, "floor/slop"));
    ck_assert_int_eq(shell_ball.a, 2); /* sphere before box */
    ck_assert_int_eq(shell_ball.material[TI_M_RESTITUTION], tribo_param_find(m, "ball/restitution"));
    tribo_param_info info;
    ck_assert_int_eq(tribo_param_describe(m, tribo_param_find(m, "ball/quat/w"), &info), TRIBO_OK);
    ck_assert(!info.used);
    ck_assert_int_eq(tribo_param_describe(m, tribo_param_find(m, "ball/stiction"), &info), TRIBO_OK);
    ck_assert(!info.used);
    ck_assert_int_eq(tribo_param_describe(m, tribo_param_find(m, "ball/restitution"), &info), TRIBO_OK);
    ck_assert(info.used && info.lower == 0 && info.upper == 1);
    tribo_model_free(m);
}
END_TEST

START_TEST(filters_priority_and_own_pairs) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_geom_def floor = geom_of("floor", TRIBO_PLANE, 0, 0, 0), wall = floor;
    wall.name = "wall";
    floor.priority = 1;
    floor.material.friction = 0.01;
    wall.contype = wall.conaffinity = 2;
    tribo_add_geom(b, TRIBO_WORLD, &floor);
    tribo_add_geom(b, TRIBO_WORLD, &wall);
    int one = add_body(b, "one"), two = add_body(b, "two");
    tribo_geom_def box = geom_of("box", TRIBO_BOX, 1, 1, 1), other = box, third = box;
    other.name = "other";
    third.name = "third";
    int g = tribo_add_geom(b, one, &box);
    tribo_add_geom(b, one, &other);
    int h = tribo_add_geom(b, two, &third);
    tribo_add_exclude(b, one, two);
    tribo_pair_def pair = tribo_default_pair();
    pair.geom_a = g;
    pair.geom_b = h;
    pair.material.friction = 0.9;
    tribo_add_pair(b, &pair);
    tribo_model *m = built(b);
    ck_assert_int_eq(m->nlisted, 4); /* three on the floor, and the pair of its own */
    ck_assert_int_eq(pair_of(m, 0, 2).material[0], tribo_param_find(m, "floor/friction"));
    ck_assert_int_eq(pair_of(m, 2, 4).material[0], tribo_param_find(m, "box:third/friction"));
    ck_assert(!ti_can_touch(m, 3, 4));
    ck_assert(!ti_can_touch(m, 1, 2));
    double p[128];
    tribo_model_params(m, p);
    ck_assert_double_eq(p[tribo_param_find(m, "box:third/friction")], 0.9);
    tribo_model_free(m);
}
END_TEST

START_TEST(start_state) {
    tribo_builder *b = cube_and_ball();
    double v[12] = {1, 2, 3, 4, 5, 6}, q[14] = {0, 0, 1, 2, 0, 0, 0, 0, 0, 3, 0, 0, -3, 0}, x[26];
    tribo_set_start(b, q, v);
    tribo_model *m = built(b);
    tribo_model_state0(m, x);
    ck_assert_double_eq(x[3], 1);
    ck_assert_double_eq(x[12], -1);
    ck_assert_double_eq(x[14 + 5], 6);
    tribo_model_free(m);
    b = cube_and_ball();
    q[3] = 0;
    tribo_set_start(b, q, NULL);
    refused(b, TRIBO_E_ARG, "cube");
}
END_TEST

START_TEST(first_error_sticks) {
    tribo_builder *b = cube_and_ball();
    ck_assert_int_eq(add_body(b, "cube"), -2);
    ck_assert_int_eq(add_body(b, "fine"), -2);
    tribo_set_timestep(b, -1);
    refused(b, TRIBO_E_ARG, "body cube: there is one of this name");
    refused(NULL, TRIBO_E_NOMEM, "out of memory");
}
END_TEST

static void bad_geom(int k, tribo_geom_def *g) {
    if (k == 0) g->size[1] = -1;
    if (k == 1) g->size[0] = NAN;
    if (k == 2) g->material.friction = -0.1;
    if (k == 3) g->material.restitution = 1.5;
    if (k == 4) g->material.slop = -1;
    if (k == 5) g->quat[0] = 0;
    if (k == 6) g->density = -1;
    if (k == 7) g->shape = TRIBO_PLANE;
    if (k == 8) g->pos[2] = INFINITY;
    if (k == 9) g->material.baumgarte = 2;
    if (k == 10) g->material.stiction = NAN;
    if (k == 11) g->name = "a=b";
    if (k == 12) g->name = "gravity";
}

START_TEST(bad_geoms_are_refused) {
    for (int k = 0; k < 13; k++) {
        tribo_builder *b = tribo_builder_new(NULL);
        int body = add_body(b, "cube");
        tribo_geom_def g = geom_of("box", TRIBO_BOX, 1, 1, 1);
        bad_geom(k, &g);
        ck_assert_int_eq(tribo_add_geom(b, body, &g), -1);
        refused(b, TRIBO_E_ARG, k < 11 ? "geom box: " : "geom");
    }
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_geom_def zero = {0};
    tribo_add_geom(b, TRIBO_WORLD, &zero);
    refused(b, TRIBO_E_DEF, "tribo_default_geom");
    b = tribo_builder_new(NULL);
    tribo_geom_def fine = geom_of("box", TRIBO_BOX, 1, 1, 1);
    tribo_add_geom(b, 3, &fine);
    refused(b, TRIBO_E_ARG, "no such body");
}
END_TEST

START_TEST(bad_bodies_are_refused) {
    static const struct {
        double mass, inertia[6];
        const char *text;
    } bad[] = {
        {0, {1, 1, 1}, "mass"},
        {-1, {1, 1, 1}, "mass"},
        {NAN, {1, 1, 1}, "mass"},
        {1, {1, 1, 2.1}, "triangle"},
        {1, {1, 1, -1}, "positive definite"},
        {1, {1, 1, 1, 1.5}, "positive definite"},
        {1, {0, 0, 0}, "positive definite"},
        {1, {1, 1, NAN}, "finite"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tribo_builder *b = tribo_builder_new(NULL);
        tribo_body_def d = tribo_default_body();
        d.name = "cube";
        d.inertia_given = true;
        d.mass = bad[k].mass;
        memcpy(d.inertia, bad[k].inertia, sizeof d.inertia);
        tribo_add_body(b, &d);
        refused(b, TRIBO_E_ARG, bad[k].text);
    }
    tribo_builder *b = tribo_builder_new(NULL);
    add_body(b, "ghost");
    refused(b, TRIBO_E_ARG, "body ghost: mass must be > 0");
    refused(tribo_builder_new(NULL), TRIBO_E_ARG, "no body");
    b = cube_and_ball();
    tribo_set_timestep(b, 0);
    refused(b, TRIBO_E_ARG, "timestep");
    /* A plate is at the edge of the triangle inequality, and is a body. */
    b = tribo_builder_new(NULL);
    tribo_body_def plate = tribo_default_body();
    plate.inertia_given = true;
    plate.mass = 1;
    plate.inertia[0] = 0.1, plate.inertia[1] = 0.2, plate.inertia[2] = 0.1 + 0.2;
    tribo_add_body(b, &plate);
    tribo_model_free(built(b));
}
END_TEST

static void bad_body(int k, tribo_body_def *d) {
    if (k == 0) d->parent = 0;
    if (k == 1) d->pos[0] = NAN;
    if (k == 2) d->quat[0] = 0;
    if (k == 3) d->com[1] = NAN;
    if (k == 4) d->name = "a name that is far longer than any name could ever need to be, by far";
    if (k == 5) d->struct_size = 0;
}

START_TEST(misuse_is_refused) {
    for (int k = 0; k < 6; k++) {
        tribo_builder *b = tribo_builder_new(NULL);
        tribo_body_def d = tribo_default_body();
        d.inertia_given = true;
        d.mass = d.inertia[0] = d.inertia[1] = d.inertia[2] = 1;
        bad_body(k, &d);
        ck_assert_int_eq(tribo_add_body(b, &d), -2);
        refused(b, k == 5 ? TRIBO_E_DEF : TRIBO_E_ARG, "body");
    }
    tribo_builder *b = cube_and_ball();
    tribo_pair_def pair = {0};
    tribo_add_pair(b, &pair);
    refused(b, TRIBO_E_DEF, "tribo_default_pair");
    b = cube_and_ball();
    pair = tribo_default_pair();
    tribo_add_pair(b, &pair);
    refused(b, TRIBO_E_ARG, "no such geom");
    b = cube_and_ball();
    tribo_add_exclude(b, 0, 2);
    refused(b, TRIBO_E_ARG, "no such body");
    double bad[14] = {NAN}, zero[12] = {0};
    b = cube_and_ball();
    tribo_set_gravity(b, bad);
    refused(b, TRIBO_E_ARG, "gravity");
    b = cube_and_ball();
    tribo_set_start(b, bad, NULL);
    refused(b, TRIBO_E_NONFINITE, "start");
    b = cube_and_ball();
    tribo_set_start(b, NULL, zero);
    add_body(b, "late");
    refused(b, TRIBO_E_ARG, "after the start state");
    ck_assert_int_eq(tribo_add_body(NULL, NULL), -2);
    ck_assert_int_eq(tribo_add_geom(NULL, 0, NULL), -1);
    ck_assert_int_eq(tribo_add_pair(NULL, NULL), -1);
    tribo_builder_free(NULL);
    tribo_model_free(NULL);
}
END_TEST

START_TEST(params_are_checked) {
    tribo_model *m = built(cube_and_ball());
    static const struct {
        const char *name;
        double value;
        tribo_status status;
    } bad[] = {
        {"cube/mass", 0, TRIBO_E_ARG},          {"cube/mass", NAN, TRIBO_E_NONFINITE},
        {"cube/inertia/xx", 9, TRIBO_E_ARG},    {"cube/inertia/xy", 9, TRIBO_E_ARG},
        {"shell/size/z", 0, TRIBO_E_ARG},       {"ball/size/x", -1, TRIBO_E_ARG},
        {"ball/restitution", 1.1, TRIBO_E_ARG}, {"floor/friction", -1, TRIBO_E_ARG},
        {"floor/stiction", -1, TRIBO_E_ARG},    {"floor/slop", -1, TRIBO_E_ARG},
        {"shell/quat/w", 0, TRIBO_E_ARG},
    };
    double p[128], p0[128];
    tribo_model_params(m, p0);
    ck_assert_int_eq(tribo_params_check(m, p0, NULL), TRIBO_OK);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tribo_diag diag = {0};
        memcpy(p, p0, sizeof p);
        p[tribo_param_find(m, bad[k].name)] = bad[k].value;
        ck_assert_msg(tribo_params_check(m, p, &diag) == bad[k].status, "%s", bad[k].name);
        ck_assert_msg(strlen(diag.text) > 0, "%s", bad[k].name);
    }
    tribo_model_free(m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("model");
    TCase *t = tcase_create("model");
    tcase_add_test(t, sizes_and_layout);
    tcase_add_test(t, names_may_be_borrowed);
    tcase_add_test(t, names_may_have_slashes);
    tcase_add_test(t, names_may_be_shared);
    tcase_add_test(t, inertia_of_a_box_and_of_two);
    tcase_add_test(t, pairs_and_materials);
    tcase_add_test(t, filters_priority_and_own_pairs);
    tcase_add_test(t, start_state);
    tcase_add_test(t, first_error_sticks);
    tcase_add_test(t, bad_geoms_are_refused);
    tcase_add_test(t, bad_bodies_are_refused);
    tcase_add_test(t, misuse_is_refused);
    tcase_add_test(t, params_are_checked);
    suite_add_tcase(s, t);
    return s;
}
