/* test_fields.c -- height fields: a flat one is a plane, a tilted one too; distances by brute force; bad ones. */
#define _GNU_SOURCE /* mkstemps */
#include "collide/collide.h"
#include "collide/field_grid.h"
#include "house.h"
#include "model/mesh.h"
#include "model/model.h"
#include "random_shapes.h"
#include "test_main.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/tribo.h>
#include <unistd.h>
#ifdef TI_PNG
#include "png_writer.h"
#endif

enum { ROWS = 9, COLS = 11 };
static double height[ROWS * COLS];

static ti_mesh ground(void) {
    ti_mesh m = {.nrow = ROWS, .ncol = COLS, .height = height, .base = 1, .highest = 1};
    return m;
}

static void bumps(void) {
    for (int i = 0; i < ROWS * COLS; i++) height[i] = uniform(-0.5, 0.5);
}

/* A slope of dz/dx, dz/dy in units of the size. */
static void slope(double x, double y) {
    for (int i = 0; i < ROWS * COLS; i++)
        height[i] = x * (2.0 * (i % COLS) / (COLS - 1) - 1) + y * (2.0 * (i / COLS) / (ROWS - 1) - 1);
}

/* ---- closest points ---- */

static ti_vec nearest_on_segment(ti_vec p, ti_vec a, ti_vec b) {
    ti_vec e = ti_sub(b, a);
    double s = ti_dot(e, ti_sub(p, a)) / ti_dot(e, e);
    return ti_axpy(a, fmin(fmax(s, 0), 1), e);
}

static ti_vec nearest_on_triangle(ti_vec p, const ti_vec t[3]) {
    ti_vec n = ti_cross(ti_sub(t[1], t[0]), ti_sub(t[2], t[0])), best = {1e9, 0, 0};
    ti_vec foot = ti_axpy(p, -ti_dot(n, ti_sub(p, t[0])) / ti_dot(n, n), n);
    bool inside = true;
    for (int k = 0; k < 3; k++) {
        ti_vec a = t[k], b = t[(k + 1) % 3], q = nearest_on_segment(p, a, b);
        if (ti_norm(ti_sub(p, q)) < ti_norm(ti_sub(p, best))) best = q;
        inside = inside && ti_dot(ti_cross(n, ti_sub(b, a)), ti_sub(foot, a)) >= 0;
    }
    return inside ? foot : best;
}

/* The distance of a point above the ground, by all triangles. */
static double nearest(const ti_shape *s, ti_vec p, ti_vec *at) {
    double least = 1e9;
    for (int k = 0; k < 2 * (ROWS - 1) * (COLS - 1); k++) {
        ti_vec t[3];
        for (int i = 0; i < 3; i++) {
            int row, col;
            ti_field_at(s->mesh, k, i, &row, &col);
            ti_field_corner(s, row, col, &t[i]);
        }
        ti_vec q = nearest_on_triangle(p, t);
        if (ti_norm(ti_sub(p, q)) < least) least = ti_norm(ti_sub(p, q)), *at = q;
    }
    return least;
}

START_TEST(balls_are_as_near_as_the_nearest_triangle) {
    ti_mesh m = ground();
    double q[4], worst = 0;
    int deep = 0;
    state = 7;
    for (int trial = 0; trial < 3000; trial++) {
        if (trial % 50 == 0) bumps();
        ti_quat_exp(random_vec(2), q);
        ti_shape b = {.shape = TRIBO_HFIELD, .x = random_vec(1), .R = ti_quat_mat(q), .mesh = &m};
        b.size = ti_vec3(uniform(0.5, 1), uniform(0.5, 1), uniform(0.05, 0.4));
        ti_vec local = ti_vec3(uniform(-0.95, 0.95) * b.size.x, uniform(-0.95, 0.95) * b.size.y, 0), at = {0, 0, 0};
        local.z = ti_field_height(&b, local) + uniform(0.01, 0.3);
        ti_shape a = {.shape = TRIBO_SPHERE, .R = b.R, .size = {uniform(0.01, 0.2), 0, 0}};
        a.x = ti_add(b.x, ti_mul(&b.R, local));
        double away = nearest(&b, local, &at), margin = trial % 2 ? 1 : 0;
        ti_touch t[TI_CONTACTS_MAX];
        int n = ti_collide(&a, &b, margin, t), least = 0;
        ck_assert_int_le(n, 4);
        if (away - a.size.x > margin) {
            ck_assert_int_eq(n, 0);
            continue;
        }
        ck_assert_msg(n > 0, "trial %d: none, %g away", trial, away - a.size.x);
        for (int k = 1; k < n; k++)
            if (t[k].gap < t[least].gap) least = k;
        ti_vec normal = ti_mul(&b.R, ti_scale(1 / away, ti_sub(at, local)));
        worst = fmax(worst, fabs(t[least].gap - (away - a.size.x)));
        worst = fmax(worst, ti_norm(ti_sub(normal, t[least].normal)));
        deep += t[least].gap < 0;
        ck_assert_msg(worst < 1e-8, "trial %d: gap %g, %g expected; normal off by %g", trial, t[least].gap,
                      away - a.size.x, ti_norm(ti_sub(normal, t[least].normal)));
    }
    printf("balls on a field: within %.1e of the nearest triangle, %d in it\n", worst, deep);
    ck_assert_int_gt(deep, 300);
}
END_TEST

/* ---- flat fields ---- */

static const tribo_shape SHAPE[] = {TRIBO_SPHERE,   TRIBO_BOX,       TRIBO_CAPSULE,
                                    TRIBO_CYLINDER, TRIBO_ELLIPSOID, TRIBO_MESH};
enum { SHAPES = sizeof SHAPE / sizeof *SHAPE };

/* As deep as on the plane, along its normal, and every contact its. */
START_TEST(a_flat_field_is_a_plane) {
    ti_mesh m = ground();
    double q[4], worst = 0;
    int found = 0;
    state = 11 + (unsigned)_i;
    for (int trial = 0; trial < 5000; trial++) {
        ti_shape b = {.shape = TRIBO_HFIELD, .R = ti_quat_mat((double[]){1, 0, 0, 0}), .size = {1, 1, 0.2}, .mesh = &m};
        double x = trial % 2 ? 0 : uniform(-1, 1), y = trial % 2 ? 0 : uniform(-1, 1);
        slope(x, y);
        ti_vec normal = ti_vec3(-0.2 * x, -0.2 * y, 1);
        normal = ti_scale(1 / ti_norm(normal), normal);
        ti_quat_exp(random_vec(2), q);
        ti_shape a = {.shape = SHAPE[_i], .R = ti_quat_mat(q), .mesh = SHAPE[_i] == TRIBO_MESH ? house() : NULL};
        a.size = ti_vec3(uniform(0.05, 0.15), uniform(0.05, 0.15), uniform(0.05, 0.15));
        double reach = 0, side[3];
        ti_form f = ti_form_of(&a);
        reach = ti_form_reach(&f, ti_scale(-1, ti_tmul(&a.R, normal)));
        ti_store3(side, random_vec(0.4));
        double gap = uniform(-0.01, 0.01);
        a.x = ti_axpy(ti_vec3(side[0], side[1], 0.2 * (x * side[0] + y * side[1])), reach + gap, normal);
        ti_touch t[TI_CONTACTS_MAX];
        int n = ti_collide(&a, &b, 0, t);
        ck_assert_msg(n <= 4 && (n > 0) == (gap <= 0), "trial %d: %d contacts at %g", trial, n, gap);
        double least = 0;
        for (int k = 0; k < n; k++) {
            worst = fmax(worst, ti_norm(ti_add(t[k].normal, normal)));
            least = fmin(least, t[k].gap), found++;
        }
        if (n) worst = fmax(worst, fabs(least - gap));
        ck_assert_msg(worst < 1e-8, "trial %d: off by %g, gap %g for %g", trial, worst, least, gap);
    }
    printf("shape %d on a flat field: %d contacts, within %.1e of the plane's\n", SHAPE[_i], found, worst);
}
END_TEST

/* ---- distances ---- */

/* A model of a bumpy field and a ball; the field is geom 0. */
static tribo_model *ball_over(const ti_mesh *m, const double *size, double radius) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_hfield_def f = tribo_default_hfield();
    tribo_geom_def g = tribo_default_geom();
    tribo_body_def d = tribo_default_body();
    tribo_model *out = NULL;
    f.nrow = m->nrow, f.ncol = m->ncol, f.height = m->height;
    g.shape = TRIBO_HFIELD, g.mesh = tribo_add_hfield(b, &f);
    memcpy(g.size, size, sizeof g.size);
    tribo_add_geom(b, TRIBO_WORLD, &g);
    d.parent = TRIBO_WORLD;
    g = tribo_default_geom();
    g.shape = TRIBO_SPHERE, g.size[0] = radius;
    tribo_add_geom(b, tribo_add_body(b, &d), &g);
    ck_assert_int_eq(tribo_build(b, &out, NULL), TRIBO_OK);
    return out;
}

/* Over the field, and beside it, where its rim is nearest: however far away, from either of the two. */
START_TEST(distances_are_those_of_the_nearest_triangle) {
    ti_mesh m = ground();
    ti_shape field = {.shape = TRIBO_HFIELD, .R = ti_quat_mat((double[]){1, 0, 0, 0}), .mesh = &m};
    double size[3] = {1, 0.7, 0.3}, p[64], x[13] = {0, 0, 0, 1}, worst = 0;
    state = 5;
    field.size = ti_load3(size);
    for (int trial = 0; trial < 40; trial++) {
        tribo_ws *ws = NULL;
        bumps();
        tribo_model *model = ball_over(&m, size, 0.1);
        ck_assert_int_eq(tribo_ws_new(model, NULL, NULL, &ws, NULL), TRIBO_OK);
        ck_assert_int_le(tribo_model_sizes(model).np, 64);
        tribo_model_params(model, p);
        for (int k = 0; k < 50; k++) {
            ti_vec c = ti_vec3(uniform(-2, 2), uniform(-2, 2), 0), at = {0, 0, 0};
            double under = ti_field_height(&field, c);
            c.z = (under > -1 ? under : 0.3) + uniform(0.01, 1.5);
            ti_store3(x, c);
            double away = nearest(&field, c, &at);
            tribo_distance d, e;
            ck_assert_int_eq(tribo_geom_distance(ws, p, x, 0, 1, &d), TRIBO_OK);
            ck_assert_int_eq(tribo_geom_distance(ws, p, x, 1, 0, &e), TRIBO_OK);
            worst = fmax(worst, fabs(d.distance - (away - 0.1)));
            ck_assert_msg(worst < 1e-8, "field %d, ball %d: %g, not %g", trial, k, d.distance, away - 0.1);
            ck_assert_double_eq(d.distance, e.distance);
            for (int i = 0; i < 3; i++) {
                ck_assert_double_eq_tol(d.point[0][i], ti_get(at, i), 1e-8);
                ck_assert_double_eq_tol(d.point[0][i], e.point[1][i], 1e-12);
                ck_assert_double_eq_tol(d.normal[i], -e.normal[i], 1e-12);
            }
        }
        tribo_distance d;
        ti_store3(x, ti_vec3(1.5, 0, -1)); /* a field has no sides, and no bottom */
        ck_assert_int_eq(tribo_geom_distance(ws, p, x, 0, 1, &d), TRIBO_E_ARG);
        tribo_ws_free(ws), tribo_model_free(model);
    }
    printf("distances from a field: within %.1e\n", worst);
}
END_TEST

/* ---- motion ---- */

static tribo_model *model(const char *ground) {
    char xml[4096];
    snprintf(xml, sizeof xml,
             "<mujoco><option timestep='0.002'/><asset><hfield name='f' nrow='9' ncol='8' size='2 2 0.5 1'/></asset>"
             "<worldbody><geom %s friction='0.4'/>"
             "<body pos='0.1 0.2 0.16'><freejoint/><geom type='box' size='0.2 0.15 0.1' mass='1'/></body>"
             "<body pos='-0.7 0.2 0.16'><freejoint/><geom type='sphere' size='0.1' mass='1'/></body>"
             "<body pos='0.1 -0.6 0.16'><freejoint/><geom type='capsule' size='0.1 0.1' mass='1'/></body>"
             "</worldbody><keyframe><key qpos='0.1 0.2 0.2 1 0 0 0 -0.7 0.2 0.16 1 0 0 0 0.1 -0.6 0.16 0.9 0.3 0.1 0' "
             "qvel='0.5 0.3 0 0 0 1 1 0 0 0 0 0 0 0 0 1 0 0'/></keyframe></mujoco>",
             ground);
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    tribo_status s = tribo_model_load_memory(xml, strlen(xml), "field", NULL, &m, &diag);
    ck_assert_msg(s == TRIBO_OK, "%s", diag.text);
    return m;
}

static void roll(const tribo_model *m, int steps, double *x) {
    tribo_sizes size = tribo_model_sizes(m);
    tribo_ws *ws;
    ck_assert_int_eq(tribo_ws_new(m, NULL, NULL, &ws, NULL), TRIBO_OK);
    double *p = calloc((size_t)size.np, sizeof *p), *next = calloc((size_t)size.nx, sizeof *next);
    tribo_model_params(m, p), tribo_model_state0(m, x);
    for (int k = 0; k < steps; k++) {
        ck_assert_int_eq(tribo_step(ws, p, x, NULL, next, NULL), TRIBO_OK);
        memcpy(x, next, sizeof *x * (size_t)size.nx);
    }
    free(p), free(next), tribo_ws_free(ws);
}

START_TEST(things_move_on_a_flat_field_as_on_a_plane) {
    static const char *const QUAT[] = {"", "quat='0.9807852804 0 0.1950903220 0'"};
    char ground[200];
    double x[2][64], worst = 0;
    for (int k = 0; k < 2; k++) {
        snprintf(ground, sizeof ground, k ? "type='hfield' hfield='f' %s" : "type='plane' size='0 0 1' %s", QUAT[_i]);
        tribo_model *m = model(ground);
        roll(m, 400, x[k]);
        tribo_model_free(m);
    }
    for (int i = 0; i < 39; i++) worst = fmax(worst, fabs(x[0][i] - x[1][i]));
    printf("400 steps on a flat field: within %.1e of a plane's\n", worst);
    ck_assert_double_le(worst, 1e-8);
}
END_TEST

/* ---- files ---- */

static const char *refusal(const char *assets, const char *geom) {
    static tribo_diag diag;
    char xml[2048];
    snprintf(xml, sizeof xml,
             "<mujoco><asset>\n%s</asset><worldbody>%s<body name='b'><freejoint/><geom size='0.1'/></body>"
             "</worldbody></mujoco>",
             assets, geom);
    tribo_model *m = NULL;
    diag = (tribo_diag){0};
    tribo_status s = tribo_model_load_memory(xml, strlen(xml), "field", NULL, &m, &diag);
    tribo_model_free(m);
    return s == TRIBO_OK ? "" : diag.text;
}

START_TEST(bad_fields_are_refused) {
    static const struct {
        const char *asset, *says;
    } BAD[] = {{"<hfield name='f' nrow='2' ncol='2' size='1 1 1 1' elevation='0 1 2 3'/>", ""},
               {"<hfield name='f' nrow='2' ncol='2' size='1 1 1 1' elevation='0 1 2'/>", "3 numbers, 4 expected"},
               {"<hfield name='f' nrow='2' ncol='2' size='1 1 1 1' elevation='0 1 2 3 4'/>", "elevation"},
               {"<hfield name='f' nrow='2' ncol='2' size='1 1 1 1' elevation='0 1 nan 3'/>", "e"},
               {"<hfield name='f' nrow='1' ncol='2' size='1 1 1 1'/>", "2 or more"},
               {"<hfield name='f' nrow='2.5' ncol='2' size='1 1 1 1'/>", "whole numbers"},
               {"<hfield name='f' size='1 1 1 1'/>", "2 or more"},
               {"<hfield name='f' nrow='1000000' ncol='1000000' size='1 1 1 1'/>", "131072"},
               {"<hfield name='f' nrow='2' ncol='2' size='1 1 0 1'/>", "> 0"},
               {"<hfield name='f' nrow='2' ncol='2' size='1 1 1'/>", "size"},
               {"<hfield name='f' nrow='2' ncol='2'/>", "size"},
               {"<hfield name='g' nrow='2' ncol='2' size='1 1 1 1'/>", "there is no hfield `f`"},
               {"<hfield name='f' file='a.png' size='1 1 1 1'/>", "png"},
               {"<hfield name='f' file='/nowhere.bin' size='1 1 1 1'/>", "/nowhere.bin"}};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        const char *said = refusal(BAD[i].asset, "<geom type='hfield' hfield='f'/>");
        ck_assert_msg(BAD[i].says[0] ? strstr(said, BAD[i].says) != NULL : !*said, "%s: `%s`", BAD[i].asset, said);
    }
    const char *good = BAD[0].asset;
    ck_assert_ptr_nonnull(strstr(refusal(good, "<geom type='hfield'/>"), "hfield"));
    ck_assert_ptr_nonnull(strstr(refusal(good, "<geom type='mesh' mesh='f'/>"), "there is no mesh"));
    ck_assert_ptr_nonnull(strstr(
        refusal(good, "<body><freejoint/><geom size='1'/><geom type='hfield' hfield='f'/></body>"), "cannot move"));
}
END_TEST

#ifdef TI_PNG
/* The upper row of an image is the one furthest along y; one that is cut short, or none, is refused. */
START_TEST(images_are_heights) {
    static const unsigned char grey[6] = {10, 20, 30, 110, 60, 10};
    const double want[6] = {1, 0.5, 0, 0, 0.1, 0.2};
    char path[] = "/tmp/tribo-image-XXXXXX.png", asset[200];
    char xml[1024];
    int fd = mkstemps(path, 4);
    ck_assert_int_ge(fd, 0);
    close(fd);
    png_put(path, &PNG_KIND[0], 3, 2, grey);
    snprintf(asset, sizeof asset, "<hfield name='f' file='%s' size='1 1 1 1'/>", path);
    snprintf(xml, sizeof xml,
             "<mujoco><asset>%s</asset><worldbody><geom type='hfield' hfield='f'/><body><freejoint/>"
             "<geom size='0.1'/></body></worldbody></mujoco>",
             asset);
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    ck_assert_msg(tribo_model_load_memory(xml, strlen(xml), "field", NULL, &m, &diag) == TRIBO_OK, "%s", diag.text);
    ck_assert(m->geom[0].mesh->nrow == 2 && m->geom[0].mesh->ncol == 3);
    for (int i = 0; i < 6; i++) ck_assert_double_eq_tol(m->geom[0].mesh->height[i], want[i], 1e-15);
    tribo_model_free(m);

    const char *geom = "<geom type='hfield' hfield='f'/>";
    char whole[400];
    FILE *f = fopen(path, "rb");
    size_t n = fread(whole, 1, sizeof whole, f);
    fclose(f);
    for (size_t i = 0; i + 12 < n; i++) { /* the last chunk says no more than that it is the last */
        f = fopen(path, "wb"), fwrite(whole, 1, i, f), fclose(f);
        ck_assert_msg(strstr(refusal(asset, geom), path) != NULL, "%zu of %zu bytes are read", i, n);
    }
    whole[18] = whole[22] = 1; /* as large as two bytes say */
    f = fopen(path, "wb"), fwrite(whole, 1, n, f), fclose(f);
    ck_assert_msg(strstr(refusal(asset, geom), "131072 triangles") != NULL, "%s", refusal(asset, geom));
    whole[18] = whole[22] = 0, whole[30] ^= 1; /* its sum is another */
    f = fopen(path, "wb"), fwrite(whole, 1, n, f), fclose(f);
    ck_assert_msg(strstr(refusal(asset, geom), "CRC") != NULL, "%s", refusal(asset, geom));
    remove(path);
    ck_assert_ptr_nonnull(strstr(refusal(asset, geom), "cannot be opened"));
}
END_TEST
#endif

/* Also where the count of triangles is no int. */
START_TEST(large_fields_are_refused) {
    static const int SIZE[][2] = {{257, 258}, {46342, 46342}, {131072, 131072}, {131072, 2}, {INT_MAX, INT_MAX}};
    for (size_t i = 0; i < sizeof SIZE / sizeof *SIZE; i++) {
        tribo_builder *b = tribo_builder_new(NULL);
        tribo_hfield_def d = tribo_default_hfield();
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        d.nrow = SIZE[i][0], d.ncol = SIZE[i][1], d.height = height;
        ck_assert_int_eq(tribo_add_hfield(b, &d), -1);
        ck_assert_int_eq(tribo_build(b, &m, &diag), TRIBO_E_ARG);
        ck_assert_ptr_nonnull(strstr(diag.text, "131072 triangles"));
    }
}
END_TEST

/* The first row of a file is the one furthest along y. */
START_TEST(sizes_are_written_back) {
    char in[] = "/tmp/tribo-field-XXXXXX.xml", out[] = "/tmp/tribo-field-XXXXXX.xml";
    int fd[2] = {mkstemps(in, 4), mkstemps(out, 4)};
    FILE *f = fdopen(fd[0], "w");
    fputs("<mujoco><asset><hfield name='f' nrow='2' ncol='2' size='1 2 3 4' elevation='5 6 7 "
          "9'/></asset><worldbody><body>"
          "<geom name='g' type='hfield' hfield='f' pos='1 2 3'/></body><body><freejoint/><geom size='0.1'/></body>"
          "</worldbody></mujoco>",
          f);
    fclose(f), close(fd[1]);
    tribo_model *m, *again;
    ck_assert_int_eq(tribo_model_load(in, NULL, &m, NULL), TRIBO_OK);
    const double want[4] = {0.5, 1, 0, 0.25};
    for (int i = 0; i < 4; i++) ck_assert_double_eq(m->geom[0].mesh->height[i], want[i]);
    double *p = calloc((size_t)m->size.np, sizeof *p);
    tribo_model_params(m, p);
    p[tribo_param_find(m, "g/size/z")] = 0.5, p[tribo_param_find(m, "g/pos/x")] = 7;
    tribo_diag diag = {0};
    ck_assert_msg(tribo_model_save(m, p, in, out, &diag) == TRIBO_OK, "%s", diag.text);
    ck_assert_int_eq(tribo_model_load(out, NULL, &again, NULL), TRIBO_OK);
    for (int i = 0; i < m->size.np; i++) ck_assert_double_eq(p[i], again->p0[i]);
    tribo_model_free(m), tribo_model_free(again), free(p), remove(in), remove(out);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("fields");
    TCase *t = tcase_create("fields");
    TCase *many = tagged_case(s, "many", "many");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, balls_are_as_near_as_the_nearest_triangle);
    tcase_add_loop_test(t, a_flat_field_is_a_plane, 0, SHAPES);
    tcase_add_test(many, distances_are_those_of_the_nearest_triangle);
    tcase_add_test(t, bad_fields_are_refused);
#ifdef TI_PNG
    tcase_add_test(t, images_are_heights);
#endif
    tcase_add_test(t, large_fields_are_refused);
    tcase_add_test(t, sizes_are_written_back);
    tcase_add_loop_test(t, things_move_on_a_flat_field_as_on_a_plane, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
