/* test_step.c -- the step of free bodies in contact, and its derivatives in every contact mode. */
#include "gradients.h"
#include "test_main.h"

typedef struct scene {
    double mass, com[3], size[3], mu, stiction, e, height, v[6], quat[4];
    tribo_shape shape;
} scene;

static const scene plain = {
    .mass = 1, .size = {0.1, 0.1, 0.1}, .mu = 0.4, .height = 0.1, .quat = {1, 0, 0, 0}, .shape = TRIBO_BOX};

static tribo_model *one_body(const scene *s) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_geom_def floor = tribo_default_geom();
    floor.name = "floor", floor.shape = TRIBO_PLANE;
    floor.material = (tribo_material){.friction = s->mu, .stiction = s->stiction, .restitution = s->e, .baumgarte = 1};
    floor.priority = 1;
    tribo_add_geom(b, TRIBO_WORLD, &floor);
    tribo_body_def body = tribo_default_body();
    body.name = "cube", body.pos[2] = s->height;
    memcpy(body.quat, s->quat, sizeof body.quat);
    body.inertia_given = true, body.mass = s->mass;
    memcpy(body.com, s->com, sizeof body.com);
    double side = s->size[0], I = s->mass * 2. / 3 * side * side;
    body.inertia[0] = I, body.inertia[1] = 1.2 * I, body.inertia[2] = 0.9 * I, body.inertia[3] = 0.01 * I;
    int id = tribo_add_body(b, &body);
    tribo_geom_def geom = tribo_default_geom();
    geom.name = "box", geom.shape = s->shape;
    memcpy(geom.size, s->size, sizeof geom.size);
    tribo_add_geom(b, id, &geom);
    tribo_set_start(b, NULL, s->v);
    tribo_set_timestep(b, 1e-3);
    tribo_model *m;
    tribo_diag diag;
    ck_assert_msg(tribo_build(b, &m, &diag) == TRIBO_OK, "%s", diag.text);
    return m;
}

static void check_case(const char *name, const scene *s, int steps, double h, double tol) {
    grad_case g = grad_case_new(one_body(s), NULL, steps);
    unsigned seed = 3;
    for (int i = 0; i < g.n.nu * steps; i++) g.u[i] = 0.05 * test_random(&seed);
    double worst[3];
    grad_check(&g, h, worst, true);
    const tribo_step_info *info = tribo_last_info(g.ws);
    printf("%-12s %3d steps: x %.1e u %.1e p %.1e  (%d contacts, %d active, residual %.1e, margin %.1e, rung %d)\n",
           name, steps, worst[0], worst[1], worst[2], info->ncon, info->nactive, info->residual, info->margin,
           info->rung);
    for (int k = 0; k < 3; k++) ck_assert_msg(worst[k] <= tol, "%s: block %d is off by %g", name, k, worst[k]);
    grad_case_free(&g);
}

START_TEST(gradients_of_one_step) {
    scene s = plain;
    s.height = 1, s.v[3] = 3, s.v[4] = -2, s.v[5] = 1, s.v[0] = 1;
    s.com[0] = 0.01, s.com[2] = -0.02;
    check_case("flight", &s, 1, 1e-4, 1e-7);
    s = plain, s.v[0] = 3;
    check_case("slide", &s, 1, 1e-6, 1e-6);
    s = plain;
    check_case("stick", &s, 1, 1e-8, 1e-6);
    s = plain, s.v[5] = 3, s.v[0] = 0.2, s.v[1] = 0.1;
    check_case("spin", &s, 1, 1e-6, 1e-6);
    s = plain, s.v[2] = 1;
    check_case("take-off", &s, 1, 1e-6, 1e-6);
    s = plain, s.shape = TRIBO_SPHERE, s.v[0] = 1, s.v[4] = 2;
    check_case("ball slips", &s, 1, 1e-6, 1e-6);
    s = plain, s.shape = TRIBO_SPHERE, s.v[0] = 1, s.v[4] = 10;
    check_case("ball rolls", &s, 1, 1e-6, 1e-6);
    s = plain, s.quat[1] = 0.3, s.quat[2] = 0.4, s.height = 0.1601, s.v[2] = -2, s.v[0] = 1, s.v[4] = 3;
    check_case("corner", &s, 1, 1e-7, 1e-6);
    s.e = 0.4;
    check_case("corner e", &s, 1, 1e-7, 1e-6);
}
END_TEST

START_TEST(gradients_of_rollouts) {
    scene s = plain;
    s.v[0] = 3, s.v[5] = 1;
    check_case("slide", &s, 100, 1e-7, 1e-5);
    s = plain;
    check_case("stick", &s, 100, 1e-8, 1e-5);
    s = plain, s.shape = TRIBO_SPHERE, s.e = 0.8, s.height = 0.15, s.v[0] = 1;
    check_case("bounces", &s, 300, 1e-5, 1e-5);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("step");
    TCase *t = tcase_create("gradients");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, gradients_of_one_step);
    tcase_add_test(t, gradients_of_rollouts);
    suite_add_tcase(s, t);
    return s;
}
