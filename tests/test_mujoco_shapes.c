/* test_mujoco_shapes.c -- contacts of pairs that have closed forms, and masses, against MuJoCo where it is installed.
 */
#define _GNU_SOURCE /* mkstemps */
#include "collide/collide.h"
#include "collide/surface.h"
#include "model/model.h"
#include "random_shapes.h"
#include "test_main.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_MUJOCO
#include <mujoco/mujoco.h>
#ifdef TI_PNG
#include "png_writer.h"
#endif

static char xml[1 << 16];

static void load(tribo_model **m, mjModel **mj) {
    char path[] = "/tmp/tribo-mujoco-XXXXXX.xml", error[500] = "";
    int fd = mkstemps(path, 4);
    ck_assert_int_ge(fd, 0);
    FILE *f = fdopen(fd, "w");
    fputs(xml, f), fclose(f);
    *mj = mj_loadXML(path, NULL, error, sizeof error);
    ck_assert_msg(*mj != NULL, "%s\n%s", error, xml);
    tribo_diag diag = {0};
    ck_assert_msg(tribo_model_load(path, NULL, m, &diag) == TRIBO_OK, "%s\n%s", diag.text, xml);
    remove(path);
}

static int write_geom(char *at, size_t room, const char *type, const ti_shape *s, const double *q) {
    return snprintf(at, room,
                    "<geom type='%s' size='%.17g %.17g %.17g' pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g' "
                    "margin='0'/>",
                    type, s->size.x, s->size.y, s->size.z, s->x.x, s->x.y, s->x.z, q[0], q[1], q[2], q[3]);
}

static const struct {
    tribo_shape a, b;
    const char *name_a, *name_b;
} PAIR[] = {{TRIBO_PLANE, TRIBO_SPHERE, "plane", "sphere"},     {TRIBO_PLANE, TRIBO_CAPSULE, "plane", "capsule"},
            {TRIBO_PLANE, TRIBO_CYLINDER, "plane", "cylinder"}, {TRIBO_PLANE, TRIBO_ELLIPSOID, "plane", "ellipsoid"},
            {TRIBO_SPHERE, TRIBO_SPHERE, "sphere", "sphere"},   {TRIBO_SPHERE, TRIBO_CAPSULE, "sphere", "capsule"},
            {TRIBO_SPHERE, TRIBO_BOX, "sphere", "box"}};
enum { PAIRS = sizeof PAIR / sizeof *PAIR };

/* Each of MuJoCo's contacts is one of ours, and the other way round; it has no more than four on a plane. */
static int compare(const ti_shape *s, mjModel *mj, mjData *d, const char *what) {
    ti_touch t[TI_CONTACTS_MAX];
    int n = ti_collide(&s[0], &s[1], 0, t), matched = 0;
    mj_forward(mj, d);
    if (s[1].shape == TRIBO_BOX && n && t[0].gap + s[0].size.x < 1e-3) return 0; /* the middle inside: other contacts */
    for (int i = 0; i < d->ncon; i++) {
        const mjContact *c = &d->contact[i];
        double best = 1e9;
        for (int k = 0; k < n; k++) {
            double off = ti_norm(ti_sub(t[k].point, ti_load3(c->pos))) + fabs(t[k].gap - c->dist) +
                         ti_norm(ti_sub(t[k].normal, ti_load3(c->frame)));
            best = fmin(best, off);
        }
        ck_assert_msg(best < 1e-8, "%s: a contact of MuJoCo's with gap %g is %g from ours\n%s", what, c->dist, best,
                      xml);
        matched++;
    }
    ck_assert_msg(matched == n, "%s: %d contacts of MuJoCo's, %d of ours\n%s", what, matched, n, xml);
    return n > 0;
}

START_TEST(closed_forms_are_mujocos) {
    int found = 0;
    state = 31 + (unsigned)_i;
    for (int trial = 0; trial < 100; trial++) {
        ti_shape s[2];
        double q[2][4];
        for (int i = 0; i < 2; i++) {
            ti_quat_exp(random_vec(2), q[i]);
            s[i] = (ti_shape){.shape = i ? PAIR[_i].b : PAIR[_i].a, .x = random_vec(0.5), .R = ti_quat_mat(q[i])};
            s[i].size = ti_vec3(uniform(0.2, 0.6), uniform(0.2, 0.6), uniform(0.2, 0.6));
        }
        char *at = xml, *end = xml + sizeof xml;
        at += snprintf(at, (size_t)(end - at), "<mujoco><worldbody>");
        at += write_geom(at, (size_t)(end - at), PAIR[_i].name_a, &s[0], q[0]);
        at += snprintf(at, (size_t)(end - at), "<body><freejoint/>");
        at += write_geom(at, (size_t)(end - at), PAIR[_i].name_b, &s[1], q[1]);
        snprintf(at, (size_t)(end - at), "</body></worldbody></mujoco>");
        tribo_model *m;
        mjModel *mj;
        load(&m, &mj);
        mjData *d = mj_makeData(mj);
        found += compare(s, mj, d, PAIR[_i].name_b);
        double mass = m->p0[m->body[0].p + TI_P_MASS];
        ck_assert_double_eq_tol(mass / mj->body_mass[1], 1, 1e-14);
        mj_deleteData(d), mj_deleteModel(mj), tribo_model_free(m);
    }
    ck_assert_int_gt(found, 20);
}
END_TEST

/* Random vertices in eighths, which single precision has. */
static void write_mesh(int trial) {
    char *at = xml, *end = xml + sizeof xml;
    double q[4];
    ti_quat_exp(random_vec(trial % 2 ? 2 : 0), q);
    at += snprintf(at, (size_t)(end - at), "<mujoco><compiler exactmeshinertia='%s'/><asset><mesh name='a' vertex='",
                   trial % 4 < 2 ? "true" : "false");
    for (int i = 0; i < 36; i++) at += snprintf(at, (size_t)(end - at), "%g ", round(uniform(-8, 8)) / 8);
    snprintf(at, (size_t)(end - at),
             "' scale='2 1 %g' refpos='0.5 0.25 -1'/></asset><worldbody><body pos='1 2 3'><freejoint/><geom "
             "type='mesh' mesh='a' mass='0.7' pos='0.1 0.2 0.3' quat='%.17g %.17g %.17g %.17g'/>"
             "</body></worldbody></mujoco>",
             trial % 3 ? 1.0 : 0.5, q[0], q[1], q[2], q[3]);
}

/* What centre and inertia differ by. */
static double compare_mass(const tribo_model *m, const mjModel *mj) {
    const double *p = m->p0 + m->body[0].p;
    double worst = fabs(p[TI_P_MASS] / mj->body_mass[1] - 1);
    worst = fmax(worst, ti_norm(ti_sub(ti_load3(p + TI_P_COM), ti_load3(mj->body_ipos + 3))));
    ti_mat R = ti_quat_mat(mj->body_iquat + 4), I = ti_sym(p + TI_P_INERTIA);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) sum += R.m[i][k] * mj->body_inertia[3 + k] * R.m[j][k];
            worst = fmax(worst, fabs(I.m[i][j] - sum) / mj->body_inertia[3]);
        }
    return worst;
}

/* As near as single precision lets MuJoCo keep vertices that it moves to the centre. */
START_TEST(inertias_of_meshes_are_mujocos) {
    state = 61;
    double worst = 0;
    for (int trial = 0; trial < 60; trial++) {
        write_mesh(trial);
        tribo_model *m;
        mjModel *mj;
        load(&m, &mj);
        worst = fmax(worst, compare_mass(m, mj));
        mj_deleteModel(mj), tribo_model_free(m);
    }
    printf("meshes: centres and inertias within %.1e of MuJoCo's\n", worst);
    ck_assert_double_le(worst, 2e-6);
}
END_TEST

/* ---- a ball on a height field ---- */

enum { FIELD_ROWS = 7, FIELD_COLS = 9 };

/* MuJoCo's file of heights, which are 0 and 1 at their ends. */
static void write_field(const char *path) {
    int32_t size[2] = {FIELD_ROWS, FIELD_COLS};
    float height[FIELD_ROWS * FIELD_COLS];
    for (int i = 0; i < FIELD_ROWS * FIELD_COLS; i++) height[i] = (float)uniform(0, 1);
    height[3] = 0, height[40] = 1;
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(size, sizeof *size, 2, f), 2);
    ck_assert_uint_eq(fwrite(height, sizeof *height, FIELD_ROWS * FIELD_COLS, f), FIELD_ROWS * FIELD_COLS);
    fclose(f);
}

/* The deepest contact, where it is on a face: there MuJoCo's portal ends to its tolerance. Of edges and corners it
 * finds some way out, not the shortest. It has more contacts, of all prisms that are met. */
START_TEST(balls_on_fields_are_mujocos) {
    char path[] = "/tmp/tribo-field-XXXXXX.bin";
    int fd = mkstemps(path, 4), found = 0, alike = 0;
    double worst[2] = {0, 0};
    ck_assert_int_ge(fd, 0);
    close(fd);
    state = 71;
    write_field(path);
    snprintf(xml, sizeof xml,
             "<mujoco><asset><hfield name='f' file='%s' size='1 0.8 0.3 0.2'/></asset><worldbody>"
             "<geom type='hfield' hfield='f' margin='0'/><body><freejoint/><geom size='0.1' margin='0'/></body>"
             "</worldbody></mujoco>",
             path);
    tribo_model *m;
    mjModel *mj;
    load(&m, &mj);
    mjData *d = mj_makeData(mj);
    const double *size = m->p0 + m->geom[0].p + TI_P_SIZE;
    ti_shape s[2] = {{.shape = TRIBO_SPHERE, .size = {0.1, 0, 0}, .R = rotation(ti_vec3(0, 0, 0))},
                     {.shape = TRIBO_HFIELD, .size = ti_load3(size), .R = rotation(ti_vec3(0, 0, 0))}};
    s[1].mesh = m->geom[0].mesh;
    for (int trial = 0; trial < 3000; trial++) {
        ti_touch t[TI_CONTACTS_MAX];
        s[0].x = ti_vec3(uniform(-0.8, 0.8), uniform(-0.6, 0.6), uniform(0.1, 0.4));
        ti_store3(d->qpos, s[0].x);
        int n = ti_collide(&s[0], &s[1], 0, t), least = 0;
        for (int k = 1; k < n; k++)
            if (t[k].gap < t[least].gap) least = k;
        if (n == 0 || (t[least].feature >> 3 & 7) != TI_FACE || t[least].gap < -0.01 || t[least].gap > -1e-4) continue;
        mj_forward(mj, d);
        double gap = 1e9, normal = 1e9;
        for (int k = 0; k < d->ncon; k++) {
            ti_vec off =
                ti_sub(ti_load3(d->contact[k].frame), ti_scale(-1, t[least].normal)); /* its field is the first */
            if (fabs(d->contact[k].dist - t[least].gap) + ti_norm(off) > gap + normal) continue;
            gap = fabs(d->contact[k].dist - t[least].gap), normal = ti_norm(off);
        }
        double theirs = 0;
        for (int k = 0; k < d->ncon; k++) theirs = fmin(theirs, d->contact[k].dist);
        ck_assert_double_le(theirs, t[least].gap + 1e-5);
        found++;
        if (gap > 1e-5) continue;
        worst[0] = fmax(worst[0], gap), worst[1] = fmax(worst[1], normal);
        alike++;
    }
    printf("balls on a field: %d of %d contacts MuJoCo's, gap within %.1e m, normal within %.1e\n", alike, found,
           worst[0], worst[1]);
    ck_assert_int_gt(found, 50);
    ck_assert_int_ge(10 * alike, 8 * found);
    ck_assert_double_le(worst[1], 2e-2);
    mj_deleteData(d), mj_deleteModel(mj), tribo_model_free(m), remove(path);
}
END_TEST

#ifdef TI_PNG
/* Of every kind of image, also colours, of which the red counts. */
START_TEST(images_are_mujocos) {
    enum { WIDTH = 13, HEIGHT = 9, BYTES = WIDTH * HEIGHT * 6 };
    char path[] = "/tmp/tribo-image-XXXXXX.png";
    unsigned char data[BYTES];
    int fd = mkstemps(path, 4);
    ck_assert_int_ge(fd, 0);
    close(fd);
    state = 72 + (unsigned)_i;
    for (int i = 0; i < BYTES; i++) data[i] = (unsigned char)uniform(3, 250);
    png_put(path, &PNG_KIND[_i], WIDTH, HEIGHT, data);
    snprintf(xml, sizeof xml,
             "<mujoco><asset><hfield name='f' file='%s' size='1 0.8 0.3 0.2'/></asset><worldbody>"
             "<geom type='hfield' hfield='f'/><body><freejoint/><geom size='0.1'/></body></worldbody></mujoco>",
             path);
    tribo_model *m;
    mjModel *mj;
    load(&m, &mj);
    ck_assert_int_eq(m->geom[0].mesh->ncol, WIDTH);
    ck_assert_int_eq(m->geom[0].mesh->nrow, HEIGHT);
    ck_assert_int_eq(mj->nhfielddata, WIDTH * HEIGHT);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        ck_assert_double_le(fabs(m->geom[0].mesh->height[i] - (double)mj->hfield_data[i]), 1e-7);
    mj_deleteModel(mj), tribo_model_free(m), remove(path);
}
END_TEST
#endif
#endif

static Suite *suite(void) {
    Suite *s = suite_create("mujoco shapes");
    TCase *t = tcase_create("mujoco");
    tcase_set_timeout(t, 120);
#ifdef HAVE_MUJOCO
    tcase_add_loop_test(t, closed_forms_are_mujocos, 0, PAIRS);
    tcase_add_test(t, inertias_of_meshes_are_mujocos);
    tcase_add_test(t, balls_on_fields_are_mujocos);
#ifdef TI_PNG
    tcase_add_loop_test(t, images_are_mujocos, 0, PNG_KINDS);
#endif
#endif
    suite_add_tcase(s, t);
    return s;
}
