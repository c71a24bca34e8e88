/* test_mesh.c -- meshes: their hulls, what they weigh, their files; what is wrong with them has a message. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "formats/mesh_file.h"
#include "house.h"
#include "model/builder.h"
#include "model/shape.h"
#include "random_shapes.h"
#include "test_main.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A box of half edges a, b, c around `at`, turned: its corners by bits, and two triangles a face. */
static const int BOX[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                               {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};

static void box_points(const double h[3], ti_vec at, const ti_mat *R, double *out) {
    for (int i = 0; i < 8; i++) {
        ti_vec p = {i & 1 ? h[0] : -h[0], i & 2 ? h[1] : -h[1], i & 4 ? h[2] : -h[2]};
        ti_store3(out + 3 * i, ti_add(at, ti_mul(R, p)));
    }
}

START_TEST(a_box_as_a_mesh_is_a_box) {
    state = 21;
    for (int trial = 0; trial < 100; trial++) {
        double h[3] = {uniform(0.1, 0.3), uniform(0.4, 0.6), uniform(0.7, 1)}, v[24];
        ti_mat R = rotation(random_vec(2));
        ti_vec at = random_vec(2);
        box_points(h, at, &R, v);
        tribo_mesh_def d = tribo_default_mesh();
        d.vertex = v, d.nvertex = 8, d.triangle = &BOX[0][0], d.ntriangle = trial % 3 ? 12 : 0;
        d.mass = trial % 2 ? TRIBO_MESH_SIGNED : TRIBO_MESH_UNSIGNED;
        ti_mesh *m;
        char flaw[120];
        ck_assert_int_eq(ti_mesh_new(&d, NULL, &m, flaw, sizeof flaw), TRIBO_OK);
        ck_assert_int_eq(m->hull.nv, 8);
        ck_assert_int_eq(m->hull.ne, 12);
        ck_assert_int_eq(m->hull.nf, 6);
        ck_assert_double_eq_tol(m->volume, 8 * h[0] * h[1] * h[2], 1e-14);
        ck_assert_double_le(ti_norm(ti_sub(ti_load3(m->pos), at)), 1e-14);
        double sum = 0, want = 0;
        for (int i = 0; i < 3; i++) sum += m->second[i] * m->second[i], want += pow(h[i], 4) / 9;
        ck_assert_double_eq_tol(sum, want, 1e-14);
        for (int i = 0; i < 8; i++) { /* in its frame every corner is a corner of the box along the axes */
            double p[3], own[3];
            ti_store3(p, ti_load3(m->hull.v[i]));
            for (int k = 0; k < 3; k++) own[k] = sqrt(3 * m->second[k]), p[k] = fabs(p[k]) - own[k];
            ck_assert_double_le(ti_norm(ti_load3(p)), 1e-13);
        }
        double scale[3] = {uniform(0.5, 2), uniform(0.5, 2), uniform(0.5, 2)}, corner = 0;
        for (int k = 0; k < 3; k++) corner += scale[k] * scale[k] * 3 * m->second[k];
        ck_assert_double_eq_tol(ti_shape_of(TRIBO_MESH)->radius(m, scale), sqrt(corner), 1e-13);
        ti_mesh_free(NULL, m);
    }
}
END_TEST

/* Six plates: of the pair across axis i all is at a distance h_i, of the others a third of the square. */
START_TEST(a_shell_of_a_box_is_six_plates) {
    state = 23;
    for (int trial = 0; trial < 20; trial++) {
        double h[3] = {uniform(0.1, 0.3), uniform(0.4, 0.6), uniform(0.7, 1)}, v[24], area = 0;
        ti_mat R = rotation(random_vec(2));
        ti_vec at = random_vec(2);
        box_points(h, at, &R, v);
        tribo_mesh_def d = tribo_default_mesh();
        d.vertex = v, d.nvertex = 8, d.triangle = &BOX[0][0], d.ntriangle = trial % 2 ? 12 : 0;
        d.mass = TRIBO_MESH_SHELL;
        ti_mesh *m;
        char flaw[120];
        ck_assert_int_eq(ti_mesh_new(&d, NULL, &m, flaw, sizeof flaw), TRIBO_OK);
        double plates[3], want[3], sum = 0, all = 0;
        for (int i = 0; i < 3; i++) area += plates[i] = 8 * h[(i + 1) % 3] * h[(i + 2) % 3];
        for (int i = 0; i < 3; i++) want[i] = h[i] * h[i] * (plates[i] + (area - plates[i]) / 3) / area;
        ck_assert_double_eq_tol(m->volume, area, 1e-13 * area);
        ck_assert_double_le(ti_norm(ti_sub(ti_load3(m->pos), at)), 1e-13);
        for (int i = 0; i < 3; i++) sum += m->second[i] * m->second[i], all += want[i] * want[i];
        ck_assert_double_eq_tol(sum, all, 1e-13);
        ck_assert_double_eq_tol(m->second[0] + m->second[1] + m->second[2], want[0] + want[1] + want[2], 1e-13);
        ti_mesh_free(NULL, m);
    }
}
END_TEST

/* Every corner is at or below every face, each edge has two faces beside it, and all points are inside. */
START_TEST(hulls_are_convex_and_closed) {
    state = 22;
    for (int trial = 0; trial < 60; trial++) {
        enum { POINTS = 400 };
        static double v[3 * POINTS];
        int n = 4 + (int)uniform(0, trial < 30 ? 20 : POINTS - 4);
        for (int i = 0; i < n; i++) {
            ti_vec p = random_vec(1);
            if (trial % 3 == 0) p = ti_scale(1 / ti_norm(p), p);                             /* all are corners */
            if (trial % 3 == 1) p = ti_vec3(floor(3 * p.x), floor(3 * p.y), floor(3 * p.z)); /* many in a plane */
            ti_store3(v + 3 * i, p);
        }
        tribo_mesh_def d = tribo_default_mesh();
        d.vertex = v, d.nvertex = n;
        ti_mesh *m;
        char flaw[120];
        if (ti_mesh_new(&d, NULL, &m, flaw, sizeof flaw) != TRIBO_OK) continue;
        const ti_hull *h = &m->hull;
        ti_mat R = ti_quat_mat(m->quat);
        ck_assert_int_eq(h->nv - h->ne + h->nf, 2);
        for (int f = 0; f < h->nf; f++) {
            ti_vec normal = ti_load3(h->face[f]), on = ti_load3(h->v[h->face_vertex[h->face_at[f]]]);
            for (int i = 0; i < n; i++) {
                ti_vec p = ti_tmul(&R, ti_sub(ti_load3(v + 3 * i), ti_load3(m->pos)));
                ck_assert_msg(ti_dot(normal, ti_sub(p, on)) < 1e-12, "trial %d: outside by %g", trial,
                              ti_dot(normal, ti_sub(p, on)));
            }
            for (int k = h->face_at[f]; k < h->face_at[f + 1]; k++) {
                const int *e = h->edge[h->face_edge[k]];
                ck_assert(e[0] == h->face_vertex[k] || e[1] == h->face_vertex[k]);
            }
        }
        for (int k = 0; k < 50; k++) { /* uphill is the furthest */
            double g[3], best = -1e9;
            ti_store3(g, random_vec(1));
            for (int i = 0; i < h->nv; i++)
                best = fmax(best, h->v[i][0] * g[0] + h->v[i][1] * g[1] + h->v[i][2] * g[2]);
            ck_assert_double_eq_tol(ti_hull_reach(h, g), best, 1e-13);
        }
        ti_mesh_free(NULL, m);
    }
}
END_TEST

/* A hull of few corners: no more than were asked for, each one of the points, convex, inside all of it, with more
 * corners more of it; what the triangles weigh is as it was. With enough of them it is all of it. */
START_TEST(hulls_of_few_corners) {
    enum { POINTS = 200 };
    static const int MOST[] = {4, 5, 8, 12, 30, 100, POINTS, 0};
    static double v[3 * POINTS];
    double volume = 0;
    state = 31;
    for (int i = 0; i < POINTS; i++) {
        ti_vec p = random_vec(1);
        ti_store3(v + 3 * i, ti_scale(1 / ti_norm(p), p)); /* all are corners */
    }
    for (size_t k = 0; k < sizeof MOST / sizeof *MOST; k++) {
        tribo_mesh_def d = tribo_default_mesh();
        d.vertex = v, d.nvertex = POINTS, d.hull_vertices = MOST[k];
        ti_mesh *m;
        char flaw[120];
        ck_assert_msg(ti_mesh_new(&d, NULL, &m, flaw, sizeof flaw) == TRIBO_OK, "%s", flaw);
        const ti_hull *h = &m->hull;
        ck_assert_int_eq(h->nv, MOST[k] ? MOST[k] : POINTS);
        ck_assert_int_eq(h->nv - h->ne + h->nf, 2);
        ti_mat R = ti_quat_mat(m->quat);
        for (int i = 0; i < h->nv; i++) {
            ti_vec at = ti_add(ti_load3(m->pos), ti_mul(&R, ti_load3(h->v[i])));
            double nearest = 1;
            for (int j = 0; j < POINTS; j++) nearest = fmin(nearest, ti_norm(ti_sub(at, ti_load3(v + 3 * j))));
            ck_assert_double_lt(nearest, 1e-13);
            for (int f = 0; f < h->nf; f++) {
                ti_vec on = ti_load3(h->v[h->face_vertex[h->face_at[f]]]);
                ck_assert_double_lt(ti_dot(ti_load3(h->face[f]), ti_sub(ti_load3(h->v[i]), on)), 1e-12);
            }
        }
        ck_assert_double_gt(m->volume, volume - 1e-12); /* which the hull weighs, where no triangles do */
        volume = m->volume;
        ti_mesh_free(NULL, m);
    }
}
END_TEST

/* Of an element, or of a class; -1 is all of it. */
START_TEST(scenes_limit_hulls) {
    static const char ALL[] = "<mujoco><default><mesh maxhullvert='%d'/></default><asset><mesh name='rock'%s vertex='"
                              "0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 1 1 2 2 2'/></asset>"
                              "<worldbody><body><freejoint/><geom type='mesh' mesh='rock' mass='1'/></body></worldbody>"
                              "</mujoco>";
    static const struct {
        int by_class;
        const char *own;
        int corners;
    } CASE[] = {{-1, "", 8}, {5, "", 5}, {5, " maxhullvert='6'", 6}, {5, " maxhullvert='-1'", 8}, {20, "", 8}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        char text[1000];
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        int n = snprintf(text, sizeof text, ALL, CASE[i].by_class, CASE[i].own);
        ck_assert_msg(tribo_model_load_memory(text, (size_t)n, "few", NULL, &m, &diag) == TRIBO_OK, "%s", diag.text);
        ck_assert_int_eq(m->mesh[0].hull.nv, CASE[i].corners);
        tribo_model_free(m);
    }
}
END_TEST

/* ---- files ---- */

static tribo_status parse(const char *name, const char *text, size_t n, ti_mesh_data *d, tribo_diag *diag) {
    *diag = (tribo_diag){0};
    return ti_mesh_parse(name, text, n, NULL, d, diag);
}

START_TEST(obj_files) {
    static const char text[] = "# a tetrahedron\nmtllib x.mtl\no t\nv 0 0 0\nv 1 0 0 1 1 1\n v 0 1e0 0\r\nvn 0 0 1\n"
                               "v 0 0 1\ns off\nf 1 3 2\nf 1//1 2//1 4//1\nf 1/2/3 4 3\nf -3 -2 -1\n\nv 2 0 0\n"
                               "f 1 2 3 4\nf 2 1 3 4";
    ti_mesh_data d;
    tribo_diag diag;
    ck_assert_int_eq(parse("a/b.OBJ", text, sizeof text - 1, &d, &diag), TRIBO_OK);
    ck_assert_int_eq(d.nvertex, 5);
    ck_assert_int_eq(d.ntriangle, 8);
    static const int want[24] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3, 0, 1, 2, 0, 2, 3, 1, 0, 3, 0, 2, 3};
    ck_assert_int_eq(memcmp(d.triangle, want, sizeof want), 0);
    ck_assert_double_eq(d.vertex[7], 1);
    ti_mesh_data_free(&d, NULL);
    const char points[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"; /* of which the hull is taken */
    ck_assert_int_eq(parse("x.obj", points, sizeof points - 1, &d, &diag), TRIBO_OK);
    ck_assert(d.nvertex == 4 && d.ntriangle == 0);
    ti_mesh_data_free(&d, NULL);
    static const struct {
        const char *text;
        int line;
        const char *what;
    } BAD[] = {{"v 0 0 0\nv 1 x 0\n", 2, "three numbers"},
               {"v 0 0 0\nv 1 2\n", 2, "three numbers"},
               {"v 0 0 nan\n", 1, "three numbers"},
               {"v 0 0 0\nf 1 1 2\n", 2, "not there before it"},
               {"v 0 0 0\nf 1 1 0\n", 2, "not there before it"},
               {"v 0 0 0\n\nf 1 1\n", 3, "fewer than three"},
               {"v 0 0 0\nf 1 1 1.5\n", 2, "not there before it"},
               {"v 0 0 0\nf 1 1 1x\n", 2, "not there before it"},
               {"v 0 0 0\n", 0, "no triangles"},
               {"", 0, "no triangles"}};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        ck_assert_int_eq(parse("x.obj", BAD[i].text, strlen(BAD[i].text), &d, &diag), TRIBO_E_PARSE);
        ck_assert_msg(diag.line == BAD[i].line && strstr(diag.text, BAD[i].what), "%s: %d %s", BAD[i].text, diag.line,
                      diag.text);
        ti_mesh_data_free(&d, NULL);
    }
    ck_assert_int_eq(parse("x.dae", "", 0, &d, &diag), TRIBO_E_IO);
    ti_mesh_data_free(&d, NULL);
}
END_TEST

START_TEST(stl_files) {
    static const char text[] = "solid a\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 1 0 0\n"
                               "   vertex 0 1 0\n  endloop\n endfacet\nendsolid a\n";
    ti_mesh_data d;
    tribo_diag diag;
    ck_assert_int_eq(parse("x.stl", text, sizeof text - 1, &d, &diag), TRIBO_OK);
    ck_assert_int_eq(d.nvertex, 3);
    ck_assert_int_eq(d.ntriangle, 1);
    ti_mesh_data_free(&d, NULL);
    char bytes[84 + 2 * 50 + 1] = "solid bytes that begin as text does";
    bytes[80] = 2;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 9; k++) {
            float x = (float)(k + i);
            memcpy(bytes + 84 + 50 * i + 12 + 4 * k, &x, 4);
        }
    ck_assert_int_eq(parse("x.STL", bytes, 184, &d, &diag), TRIBO_OK);
    ck_assert_int_eq(d.ntriangle, 2);
    ck_assert_double_eq(d.vertex[17], 9);
    ti_mesh_data_free(&d, NULL);
    ck_assert_int_eq(parse("x.stl", bytes + 1, 183, &d, &diag), TRIBO_E_PARSE);
    ck_assert_ptr_nonnull(strstr(diag.text, "cut off"));
    float nan = (float)NAN;
    memcpy(bytes + 84 + 12, &nan, 4);
    ck_assert_int_eq(parse("x.stl", bytes, 184, &d, &diag), TRIBO_E_PARSE);
    ck_assert_ptr_nonnull(strstr(diag.text, "not finite"));
    ti_mesh_data_free(&d, NULL);
    static const char *const BAD[] = {"solid a\nvertex 1 2\n", "solid a\nvertex 1 2 3\nendloop\n", "solid a\nhello\n",
                                      "solid a\nvertex 1 2 3\n"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        ck_assert_int_eq(parse("x.stl", BAD[i], strlen(BAD[i]), &d, &diag), TRIBO_E_PARSE);
        ti_mesh_data_free(&d, NULL);
    }
}
END_TEST

/* ---- scenes with files ---- */

static char folder[64];

static void put_file(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f), fclose(f);
}

#define SCENE(compiler, asset)                                                                                         \
    "<mujoco><compiler " compiler "/><asset>" asset "</asset><worldbody><body name='b'><freejoint/>"                   \
    "<geom name='g' type='mesh' mesh='rock' pos='1 2 3' quat='1 2 3 4'/></body></worldbody></mujoco>"

static tribo_model *load_scene(const char *name, tribo_diag *diag) {
    char path[128];
    tribo_model *m = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    *diag = (tribo_diag){0};
    return tribo_model_load(path, NULL, &m, diag) == TRIBO_OK ? m : NULL;
}

static void clear_folder(void) {
    static const char *const NAME[] = {"parts/rock.obj", "parts", "bad.obj", "s.xml", "t.xml", "parts/u.xml"};
    char path[128];
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < sizeof NAME / sizeof *NAME; i++)
            snprintf(path, sizeof path, "%s/%s", folder, NAME[i]), remove(path);
    remove(folder);
}

START_TEST(scenes_find_their_files) {
    static const char *const GOOD[] = {SCENE("meshdir='parts'", "<mesh file='rock.obj'/>"),
                                       SCENE("assetdir='parts/'", "<mesh name='rock' file='rock.obj'/>"),
                                       SCENE("", "<mesh name='rock' file='parts/rock.obj'/><mesh name='x' file='no'/>"),
                                       SCENE("meshdir='parts' strippath='true'", "<mesh file='c:/away/rock.obj'/>")};
    tribo_diag diag;
    double first[256];
    strcpy(folder, "/tmp/tribo-mesh-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    char parts[128], out[128], in[128];
    snprintf(parts, sizeof parts, "%s/parts", folder);
    ck_assert_int_eq(mkdir(parts, 0700), 0);
    put_file("parts/rock.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        put_file("s.xml", GOOD[i]);
        tribo_model *m = load_scene("s.xml", &diag);
        ck_assert_msg(m != NULL, "%s: %s", GOOD[i], diag.text);
        ck_assert_double_eq_tol(m->p0[m->body[0].p + TI_P_MASS], 1000. / 6, 1e-12);
        int np = tribo_model_sizes(m).np;
        if (i == 0) memcpy(first, m->p0, sizeof(double) * (size_t)np);
        ck_assert_int_eq(memcmp(first, m->p0, sizeof(double) * (size_t)np), 0);
        /* moved, saved beside it and elsewhere, and read again */
        double p[256];
        memcpy(p, m->p0, sizeof p[0] * (size_t)np);
        p[m->geom[0].p + TI_P_POS] += 0.25;
        for (int away = 0; away < 2; away++) {
            snprintf(in, sizeof in, "%s/s.xml", folder);
            snprintf(out, sizeof out, "%s/%s", folder, away ? "parts/u.xml" : "t.xml");
            ck_assert_msg(tribo_model_save(m, p, in, out, &diag) == TRIBO_OK, "%s", diag.text);
            tribo_model *again = load_scene(away ? "parts/u.xml" : "t.xml", &diag);
            ck_assert_msg(again != NULL, "%s", diag.text);
            for (int k = 0; k < 7; k++)
                ck_assert_double_eq_tol(again->p0[m->geom[0].p + TI_P_POS + k], p[m->geom[0].p + TI_P_POS + k], 1e-14);
            tribo_model_free(again);
        }
        p[m->geom[0].p + TI_P_SIZE] = 1.5;
        ck_assert_int_ne(tribo_model_save(m, p, in, out, &diag), TRIBO_OK);
        ck_assert_ptr_nonnull(strstr(diag.text, "stretched"));
        tribo_model_free(m);
    }
    clear_folder();
}
END_TEST

START_TEST(scenes_whose_meshes_are_wrong) {
    static const struct {
        const char *scene, *what;
    } BAD[] = {{SCENE("", ""), "there is no mesh `rock`"},
               {SCENE("", "<mesh name='rock' file='none.obj'/>"), "none.obj: cannot be opened"},
               {SCENE("", "<mesh name='rock' file='bad.obj'/>"), "bad.obj:2: three numbers"},
               {SCENE("", "<mesh name='rock' file='bad.dae'/>"), "bad.dae"},
               {SCENE("", "<mesh name='rock' vertex='0 0 0 1'/>"), "4 numbers"},
               {SCENE("", "<mesh name='rock' vertex='0 0 0 1 0 0 0 1 0 1 1 0'/>"), "no volume"},
               {SCENE("", "<mesh name='rock' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 4'/>"), "vertex 4, of 4"},
               {SCENE("", "<mesh name='rock' vertex='0 0 0 1 0 0 0 1 0 0 0 x'/>"), "`x` is not a number"},
               {SCENE("", "<mesh name='rock'/>"), "four vertices"},
               {SCENE("", "<mesh name='rock' vertex='0 0 0 1 0 0 0 1 0 0 0 1' refquat='0 0 0 0'/>"), "no direction"},
               {SCENE("", "<mesh name='rock' vertex='0 0 0 1 0 0 0 1 0 0 0 1' inertia='hollow'/>"), "hollow"},
               {SCENE("", "<mesh name='rock' vertex='0 0 0 1 0 0 0 1 0 0 0 1' maxhullvert='3'/>"), "above 3"},
               {SCENE("", "<mesh name='rock' vertex='0 0 0 1 0 0 0 1 0 0 0 1' maxhullvert='4.5'/>"), "above 3"}};
    tribo_diag diag;
    strcpy(folder, "/tmp/tribo-mesh-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    put_file("bad.obj", "v 0 0 0\nv 1 x 0\n");
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        put_file("s.xml", BAD[i].scene);
        tribo_model *m = load_scene("s.xml", &diag);
        ck_assert_msg(!m && diag.line == 1 && strstr(diag.text, BAD[i].what), "%s: %d: %s", BAD[i].scene, diag.line,
                      diag.text);
    }
    clear_folder();
}
END_TEST

/* Of an angle iron: its ends are no convex faces, and are told from a corner that does not see all of them. */
START_TEST(faces_need_not_be_convex) {
    static const double at[6][2] = {{2, 1}, {1, 1}, {1, 2}, {0, 2}, {0, 0}, {2, 0}};
    char text[1200];
    int n = 0;
    tribo_diag diag;
    for (int i = 0; i < 12; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "v %g %g %d\n", at[i % 6][0], at[i % 6][1], i / 6);
    n += snprintf(text + n, sizeof text - (size_t)n, "f 6 5 4 3 2 1\nf 7 8 9 10 11 12\n");
    for (int i = 0; i < 6; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "f %d %d %d %d\n", i + 1, (i + 1) % 6 + 1, (i + 1) % 6 + 7,
                      i + 7);
    strcpy(folder, "/tmp/tribo-mesh-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    put_file("bad.obj", text), put_file("s.xml", SCENE("", "<mesh name='rock' file='bad.obj'/>"));
    tribo_model *m = load_scene("s.xml", &diag);
    ck_assert_msg(m != NULL, "%s", diag.text);
    ck_assert_double_eq_tol(m->p0[m->body[0].p + TI_P_MASS], 3000, 1e-9);
    tribo_model_free(m);
    clear_folder();
}
END_TEST

/* Of needs: how many, and how many are of a file that is not there, or of a kind that is not read. */
static void count_need(void *count, const tribo_need *n) {
    int *of = count;
    bool told = strstr(n->text, "cannot be opened") || strstr(n->text, "only OBJ and STL files");
    of[0]++, of[1] += !strcmp(n->word, "mesh-file") && n->line == 1 && told;
}

START_TEST(all_files_that_are_missing_are_listed) {
    int count[2] = {0, 0};
    char path[200];
    tribo_load_options o = tribo_default_load_options();
    tribo_model *m = NULL;
    strcpy(folder, "/tmp/tribo-mesh-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    put_file("s.xml", "<mujoco><option integrator='RK4'/><asset><mesh name='a' file='a.stl'/><mesh file='b.obj'/>"
                      "<mesh file='c.dae'/></asset><worldbody><geom type='mesh' mesh='c'/>"
                      "<body><freejoint/><geom type='mesh' mesh='a'/><geom type='mesh' mesh='b'/>"
                      "<geom size='0.1'/></body><body><freejoint/><geom type='mesh' mesh='a'/></body></worldbody>"
                      "</mujoco>");
    put_file("c.dae", "<COLLADA/>");
    snprintf(path, sizeof path, "%s/s.xml", folder);
    o.need = count_need, o.ctx = count;
    ck_assert_int_eq(tribo_model_load_with(path, &o, NULL, &m, NULL), TRIBO_E_PARSE);
    ck_assert_msg(count[0] == 4 && count[1] == 3, "%d needs, %d files", count[0], count[1]);
    clear_folder();
}
END_TEST

/* ---- what is wrong ---- */

static void expect_flaw(const tribo_mesh_def *d, const char *what) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    ck_assert_int_eq(tribo_add_mesh(b, d), -1);
    ck_assert_int_eq(tribo_build(b, &m, &diag), TRIBO_E_ARG);
    ck_assert_msg(strstr(diag.text, what) && strstr(diag.text, "mesh rock"), "%s", diag.text);
}

START_TEST(meshes_that_are_none) {
    double v[24], h[3] = {0.1, 0.2, 0.3};
    int turned[12][3];
    ti_mat R = rotation(random_vec(1));
    box_points(h, ti_vec3(1, 2, 3), &R, v);
    tribo_mesh_def d = tribo_default_mesh(), bad;
    d.name = "rock", d.vertex = v, d.nvertex = 8, d.triangle = &BOX[0][0], d.ntriangle = 12;
    for (int i = 0; i < 12; i++) turned[i][0] = BOX[i][0], turned[i][1] = BOX[i][2], turned[i][2] = BOX[i][1];
    bad = d, bad.triangle = &turned[0][0];
    expect_flaw(&bad, "inside out");
    bad = d, bad.nvertex = 3, bad.ntriangle = 0;
    expect_flaw(&bad, "four vertices");
    bad = d, bad.nvertex = 7;
    expect_flaw(&bad, "triangle 3 has vertex 7, of 7");
    bad = d, bad.ntriangle = TI_TRIANGLES_LIMIT + 1;
    expect_flaw(&bad, "more than 1000000 triangles");
    bad = d, bad.nvertex = 4, bad.ntriangle = 0;
    expect_flaw(&bad, "no volume");
    bad = d, bad.ntriangle = 1;
    expect_flaw(&bad, "no volume");
    bad = d, bad.hull_vertices = 3;
    expect_flaw(&bad, "four vertices or more");
    v[5] = (double)NAN;
    expect_flaw(&d, "vertex 1 is not finite");
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_geom_def g = tribo_default_geom();
    g.shape = TRIBO_MESH, g.name = "stone";
    ck_assert_int_eq(tribo_add_geom(b, TRIBO_WORLD, &g), -1);
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    ck_assert_int_eq(tribo_build(b, &m, &diag), TRIBO_E_ARG);
    ck_assert_ptr_nonnull(strstr(diag.text, "geom stone: there is no such mesh"));
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("mesh");
    TCase *t = tcase_create("mesh");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_box_as_a_mesh_is_a_box);
    tcase_add_test(t, a_shell_of_a_box_is_six_plates);
    tcase_add_test(t, hulls_are_convex_and_closed);
    tcase_add_test(t, hulls_of_few_corners);
    tcase_add_test(t, scenes_limit_hulls);
    tcase_add_test(t, obj_files);
    tcase_add_test(t, stl_files);
    tcase_add_test(t, meshes_that_are_none);
    tcase_add_test(t, scenes_find_their_files);
    tcase_add_test(t, scenes_whose_meshes_are_wrong);
    tcase_add_test(t, all_files_that_are_missing_are_listed);
    tcase_add_test(t, faces_need_not_be_convex);
    suite_add_tcase(s, t);
    return s;
}
