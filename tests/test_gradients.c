/* test_gradients.c -- reverse, forward tangents and differences of whole rollouts, in every mode a contact can have.
 *
 * The comparison is the one of the command `tribo gradcheck`: all of the start state, the forces and p, block by block,
 * a block's error relative to its largest derivative. One step to 1e-6, 200 to 1e-5. What the scene shows is counted,
 * so that a case that meets no contact does not pass for one.
 */
#include "gradcheck.h"
#include "test_main.h"
#include "worlds.h"

/* What has to be seen in a run. */
enum { STICKS = 1, SLIDES = 2, LEAVES = 4, BOUNCES = 8, FOUR = 16, PUSHES = 32 };

typedef struct solid {
    tribo_shape shape;
    double mass, size[3], pos[3], quat[4], v[6];
} solid;

/* A body whose centre of mass, inertia and geom are all off its frame, so that no derivative is zero by symmetry. pos,
 * quat and v are the geom's, all in the world; v_frame (6) is the frame's. */
static void add_solid(tribo_builder *b, const solid *s, tribo_material mat, double *v_frame) {
    static const double at[3] = {0.012, -0.007, 0.009}, turn[4] = {0.96, 0, 0, 0.28};
    tribo_body_def d = tribo_default_body();
    tribo_geom_def g = tribo_default_geom();
    double R[4], inverse[4], arm[3];
    memcpy(g.pos, at, sizeof at), memcpy(g.quat, turn, sizeof turn), memcpy(g.size, s->size, sizeof g.size);
    g.shape = s->shape, g.material = mat;
    const double *q = s->quat; /* R = q turn^-1, and pos = s->pos - R at */
    R[0] = q[0] * turn[0] + q[3] * turn[3], R[1] = q[1] * turn[0] - q[2] * turn[3];
    R[2] = q[2] * turn[0] + q[1] * turn[3], R[3] = q[3] * turn[0] - q[0] * turn[3];
    double n = sqrt(R[0] * R[0] + R[1] * R[1] + R[2] * R[2] + R[3] * R[3]);
    for (int i = 0; i < 4; i++) d.quat[i] = R[i] /= n, inverse[i] = i ? -R[i] : R[i];
    rotate(R, at, arm);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        d.pos[i] = s->pos[i] - arm[i];
        v_frame[i] = s->v[i] - (s->v[3 + j] * arm[k] - s->v[3 + k] * arm[j]);
    }
    rotate(inverse, s->v + 3, v_frame + 3);
    d.inertia_given = true, d.mass = s->mass;
    double size = s->shape == TRIBO_SPHERE ? 0.8 * s->size[0] : s->size[0], I = s->mass * 2 / 3 * size * size;
    d.com[0] = at[0] + 0.004, d.com[1] = at[1] - 0.003, d.com[2] = at[2] - 0.005;
    d.inertia[0] = I, d.inertia[1] = 1.15 * I, d.inertia[2] = 0.9 * I, d.inertia[3] = 0.02 * I,
    d.inertia[5] = -0.03 * I;
    tribo_add_geom(b, tribo_add_body(b, &d), &g);
}

/* How often each thing happens in a run of `steps`. */
static int count_modes(tribo_model *m, int steps, int *counts) {
    world w = world_of(m, NULL);
    int seen = 0;
    for (int k = 0; k < steps; k++) {
        ck_assert_int_ge(tribo_step(w.ws, w.p, w.x0, NULL, w.x0, NULL), 0);
        int n, active = 0;
        const tribo_contact *c = tribo_last_contacts(w.ws, &n);
        for (int i = 0; i < n; i++) {
            bool on = c[i].mode != TRIBO_BREAK;
            counts[c[i].mode]++, active += on, counts[3] += c[i].bounced;
            seen |= c[i].mode == TRIBO_STICK ? STICKS : c[i].mode == TRIBO_SLIDE ? SLIDES : LEAVES;
            if (c[i].bounced) seen |= BOUNCES;
            if (on && tribo_model_geom_body(m, c[i].geom_a) >= 0 && tribo_model_geom_body(m, c[i].geom_b) >= 0)
                seen |= PUSHES;
        }
        if (active >= 4) seen |= FOUR;
    }
    w.m = NULL;
    world_free(&w);
    return seen;
}

/* Consumes the model. */
static void check_model(const char *name, tribo_model *m, int steps, int wanted) {
    int counts[4] = {0}, seen = count_modes(m, steps, counts);
    ck_assert_msg((seen & wanted) == wanted, "%s: saw %d, not all of %d", name, seen, wanted);
    double *x0 = world_zeros(tribo_model_sizes(m).nx), tol = steps == 1 ? 1e-6 : 1e-5;
    tribo_model_state0(m, x0);
    grad_task task = {.model = m, .x0 = x0, .steps = steps, .seed = 3, .per_block = steps == 1 ? 12 : 1, .tol = tol};
    task.options = tribo_default_options();
    task.options.tol = 1e-11; /* differences see what a solve leaves open; asked for more, it may be another solution */
    grad_result r;
    int status = grad_check(&task, &r), checked = 0, left_out = 0;
    ck_assert_msg(status >= 0, "%s: %s", name, tribo_status_text((tribo_status)status));
    for (int i = 0; i < GRAD_BLOCKS; i++) {
        const grad_block *b = &r.block[i];
        if (b->entries && !(b->worst <= 0.1 * tol))
            printf("    %s %g of %g (noise %g, kinks %d, jumps %d)\n", grad_block_names[i], b->worst, b->largest,
                   b->noise, b->kinks, b->jumps);
        checked += b->checked, left_out += b->kinks + b->jumps + b->open;
    }
    printf(
        "%-22s %3d steps: worst %.1e, forward %.1e; %d directions, %d of them left out; stick %d slide %d bounce %d; "
        "residual %.0e\n",
        name, steps, r.worst, r.worst_dot, checked, left_out, counts[TRIBO_STICK], counts[TRIBO_SLIDE], counts[3],
        r.info.residual);
    ck_assert_msg(r.worst <= tol, "%s, %d steps: %g", name, steps, r.worst);
    /* A compliance of 1e-6 leaves a solve good to 1e-10, refined once or not, and 200 of them to the sum of that. */
    ck_assert_msg(r.worst_dot <= (steps == 1 ? 1e-10 : 2e-8), "%s, %d steps: forward and reverse differ by %g", name,
                  steps, r.worst_dot);
    const char *flaw = grad_flaw(&task, &r);
    ck_assert_msg(!flaw, "%s, %d steps: %s", name, steps, flaw ? flaw : "");
    free(x0);
    tribo_model_free(m);
}

static tribo_model *scene(const solid *s, int n, tribo_material floor, tribo_material mat) {
    tribo_builder *b = tribo_builder_new(NULL);
    double *v = world_zeros(6 * n);
    world_wall(b, "floor", NULL, NULL, floor);
    for (int i = 0; i < n; i++) {
        add_solid(b, &s[i], mat, v + 6 * i);
    }
    tribo_set_start(b, NULL, v);
    tribo_set_timestep(b, 1e-3);
    tribo_model *m = world_build(b);
    free(v);
    return m;
}

static void check_scene(const char *name, const solid *s, int n, tribo_material mat, int one, int many) {
    if (one >= 0) check_model(name, scene(s, n, mat, mat), 1, one);
    if (many >= 0) check_model(name, scene(s, n, mat, mat), 200, many);
}

static void set6(double *v, double x, double y, double z, double wx, double wy, double wz) {
    v[0] = x, v[1] = y, v[2] = z, v[3] = wx, v[4] = wy, v[5] = wz;
}

static solid cube(double x, double y, double z) {
    return (solid){.shape = TRIBO_BOX, .mass = 1, .size = {0.1, 0.1, 0.1}, .pos = {x, y, z}, .quat = {1, 0, 0, 0}};
}

static solid ball(double x, double y, double z) {
    return (solid){.shape = TRIBO_SPHERE, .mass = 1, .size = {0.1, 0, 0}, .pos = {x, y, z}, .quat = {1, 0, 0, 0}};
}

static solid beam(double lx, double ly, double x, double y, double z, double qx, double qy) {
    double c = sqrt(1 - qx * qx - qy * qy);
    return (solid){.shape = TRIBO_BOX, .mass = 1, .size = {lx, ly, 0.05}, .pos = {x, y, z}, .quat = {c, qx, qy, 0}};
}

START_TEST(one_body_rests_and_slides) {
    tribo_material mat = world_material(0.4, 0);
    solid s = cube(0, 0, 0.1);
    check_scene("stick", &s, 1, mat, STICKS | FOUR, STICKS | FOUR);
    set6(s.v, 3, 0.5, 0, 0, 0, 0);
    check_scene("slide", &s, 1, mat, SLIDES | FOUR, SLIDES | FOUR);
    set6(s.v, 0.2, 0.1, 0, 0, 0, 5);
    check_scene("spin", &s, 1, mat, SLIDES | FOUR, SLIDES | FOUR);
    set6(s.v, 0.3, 0.1, 0.25, 0, -3, 0.5);
    check_scene("take-off", &s, 1, mat, LEAVES, LEAVES | SLIDES);
    s = ball(0, 0, 0.1);
    set6(s.v, 1, 0.3, 0, 0, 2, 1);
    check_scene("ball slips", &s, 1, mat, SLIDES, SLIDES);
    set6(s.v, 1, 0.05, 0, -0.5, 10, 0.5);
    check_scene("ball rolls", &s, 1, mat, STICKS, STICKS);
}
END_TEST

/* It comes down beside its frame's origin: the rebound has next to nothing to do but to keep it from slipping. */
static tribo_model *ball_off_its_frame(void) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_body_def d = tribo_default_body();
    tribo_geom_def g = tribo_default_geom();
    const double v[6] = {0.3, 0, -1, 0, 0, 0};
    world_wall(b, "floor", NULL, NULL, world_material(0.4, 0.65));
    g.shape = TRIBO_SPHERE, g.size[0] = 0.1, g.pos[0] = 0.01, g.material = world_material(0.4, 0.65);
    d.pos[2] = 0.1000016;
    tribo_add_geom(b, tribo_add_body(b, &d), &g);
    tribo_set_start(b, NULL, v);
    tribo_set_timestep(b, 2e-3);
    return world_build(b);
}

START_TEST(one_body_hits) {
    solid s = cube(0, 0, 0.1655);
    s.quat[0] = 0.8, s.quat[1] = 0.3, s.quat[2] = 0.4, s.quat[3] = 0.1;
    set6(s.v, 3, 1, -2, 0, 3, 0);
    check_scene("corner", &s, 1, world_material(0.1, 0), SLIDES, SLIDES);
    check_scene("corner, e 0.4", &s, 1, world_material(0.4, 0.4), BOUNCES, BOUNCES);
    check_scene("corner, mu 2", &s, 1, world_material(2, 0.2), STICKS, STICKS);
    s = ball(0, 0, 0.15);
    set6(s.v, 1, 0.2, 0, 0, 0, 3);
    check_scene("ball bounces", &s, 1, world_material(0.3, 0.8), -1, BOUNCES);
    check_model("ball off its frame", ball_off_its_frame(), 1, BOUNCES);
    s = cube(0, 0, 0.1015);
    set6(s.v, 1.5, 0, -2, 0, 0, 1);
    check_scene("face", &s, 1, world_material(0.3, 0), SLIDES | FOUR, SLIDES | FOUR);
}
END_TEST

START_TEST(material_numbers) {
    tribo_material mat = {.friction = 0.3, .stiction = 0.2, .baumgarte = 0.3, .slop = 2e-4};
    solid s = cube(0, 0, 0.0992);
    check_scene("penetrates, sticks", &s, 1, mat, STICKS, STICKS);
    set6(s.v, 0.4, 0, 0, 0, 0, 0.5);
    check_scene("penetrates, slides", &s, 1, mat, SLIDES, SLIDES);
    mat.restitution = 0.5;
    s = cube(0, 0, 0.15);
    set6(s.v, 0.4, 0, -1.5, 1, 2, 0);
    check_scene("all at once", &s, 1, mat, -1, BOUNCES);
}
END_TEST

START_TEST(two_bodies) {
    tribo_material mat = world_material(0.4, 0);
    solid s[2] = {cube(0, 0, 0.1), cube(0.02, 0.01, 0.3)};
    s[1].mass = 0.5;
    check_scene("stack rests", s, 2, mat, PUSHES | STICKS | FOUR, PUSHES | STICKS);
    set6(s[1].v, 0, 0, 0, 0, 0, 4);
    check_scene("stack spins", s, 2, mat, PUSHES | SLIDES | FOUR, PUSHES | SLIDES);
    set6(s[0].v, 0.3, 0, 0, 0, 0, 0), set6(s[1].v, 0.9, 0.2, 0, 0, 0, 0);
    check_scene("stack slides", s, 2, mat, PUSHES | SLIDES | FOUR, PUSHES | SLIDES);
    s[1] = ball(0.02, 0.01, 0.3);
    set6(s[1].v, 0.2, 0.3, 0, 0, 4, 1);
    check_scene("ball on box", s, 2, mat, PUSHES | SLIDES, PUSHES | SLIDES);
    s[0] = ball(0, 0, 0.1), s[1] = ball(0.201, 0.03, 0.12);
    s[1].mass = 0.4;
    set6(s[0].v, 2, 0, 0, 0, 5, 0), set6(s[1].v, 0, 0.1, 0, 0, 0, 2);
    check_scene("balls, e 0.6", s, 2, world_material(0.3, 0.6), -1, PUSHES | BOUNCES);
}
END_TEST

START_TEST(boxes_collide) {
    /* A long edge across another one: the contact's normal turns with both. */
    double turn = sin(PI / 8);
    solid s[2] = {beam(0.2, 0.05, 0, 0, 0.2, turn, 0), beam(0.05, 0.2, 0.01, 0.02, 0.3425, 0, turn)};
    s[1].mass = 0.6;
    set6(s[0].v, 0, 0, 0, 0.3, 0, 0), set6(s[1].v, 0.1, 0.2, -1.5, 0, 0, 0.4);
    check_scene("edges", s, 2, world_material(0.3, 0), PUSHES, PUSHES);
    check_scene("edges, e 0.5", s, 2, world_material(0.3, 0.5), PUSHES | BOUNCES, PUSHES | BOUNCES);
    s[0] = cube(-0.25, 0.03, 0.1), s[1] = cube(0, 0, 0.1);
    s[0].mass = 0.6, s[0].quat[0] = cos(0.2), s[0].quat[3] = sin(0.2);
    set6(s[0].v, 2, 0, 0, 0, 0, 0);
    set6(s[1].v, 0, 0, 0, 0, 0, 0);
    tribo_model *m = scene(s, 2, world_material(0.2, 0), world_material(0.2, 0.5));
    check_model("edge on face", m, 200, PUSHES | BOUNCES | SLIDES);
}
END_TEST

/* A scene of data/scenes. */
static void check_file(const char *name, int steps, int wanted) {
    const char *dir = getenv("TRIBO_SCENES");
    if (!dir) {
        printf("%s: TRIBO_SCENES is not set, skipped\n", name);
        return;
    }
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.xml", dir, name);
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    tribo_status s = tribo_model_load(path, NULL, &m, &diag);
    ck_assert_msg(s == TRIBO_OK, "%s", diag.text);
    check_model(name, m, steps, wanted);
}

START_TEST(scenes_of_many) {
    check_file("stack", 1, PUSHES);
    check_file("pile", 170, PUSHES | SLIDES | BOUNCES | STICKS);
}
END_TEST

/* Contacts that begin before shapes touch, one geom that gives way beside one that does not, and what is held twice. */
START_TEST(margins_compliance_and_ties) {
#define BODY(pose, geom) "<body name='b' " pose "><freejoint/><geom name='g' mass='1' " geom "/></body>"
    static const struct {
        const char *name, *text;
    } CASE[] = {
        {"margin, ball", "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1' margin='0.02'/>" BODY(
                             "pos='0 0 0.12'", "size='0.1'") "</worldbody></mujoco>"},
        {"margin, edge", "<mujoco><worldbody><geom name='floor' type='box' size='0.2 0.2 0.1' margin='0.05'/>" BODY(
                             "pos='0.22 0.01 0.12'", "size='0.01'") "</worldbody></mujoco>"},
        {"margin, gap",
         "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1' margin='0.03' gap='0.01'/>" BODY(
             "pos='0 0 0.12' euler='1 2 0'", "type='box' size='0.1 0.2 0.1'") "</worldbody></mujoco>"},
        {"held in itself",
         "<mujoco><worldbody><body name='a' pos='0.3 0.2 1'><freejoint/><geom size='0.1' mass='1'/>"
         "<body name='b' pos='0.5 0.1 0.2' quat='0.1 0.5 0.6 0.7'><geom size='0.1' mass='1'/></body>"
         "</body></worldbody><equality><connect body1='b' body2='a' anchor='0.03 0.01 0.11'/></equality>"
         "<keyframe><key qpos='0.3 0.2 1 0.8 0.2 0.3 0.4' qvel='0.3 -0.2 -1.3 5 3 2'/></keyframe></mujoco>"},
        {"compliance beside 0", "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1' priority='1'/>" BODY(
                                    "pos='0 0 0.1'", "size='0.1'") "</worldbody><custom><numeric name='g/compliance' "
                                                                   "data='0.001'/></custom></mujoco>"}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        tribo_status s = tribo_model_load_memory(CASE[i].text, strlen(CASE[i].text), "scene", NULL, &m, &diag);
        ck_assert_msg(s == TRIBO_OK, "%s", diag.text);
        check_model(CASE[i].name, m, 1, 0);
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("gradients");
    TCase *t = tcase_create("gradients");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, one_body_rests_and_slides);
    tcase_add_test(t, one_body_hits);
    tcase_add_test(t, material_numbers);
    tcase_add_test(t, two_bodies);
    tcase_add_test(t, boxes_collide);
    tcase_add_test(t, margins_compliance_and_ties);
    tcase_add_test(t, scenes_of_many);
    suite_add_tcase(s, t);
    return s;
}
