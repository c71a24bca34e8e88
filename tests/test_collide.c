/* test_collide.c -- contacts against analytic poses and an independent reference; derivatives against differences. */
#include "collide/collide.h"
#include "test_main.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t state;

static double uniform(double lo, double hi) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return lo + (hi - lo) * (double)(state >> 11) / 9007199254740992.0;
}

static ti_vec random_vec(double s) {
    double x = uniform(-s, s), y = uniform(-s, s), z = uniform(-s, s);
    return ti_vec3(x, y, z);
}

static ti_mat rotation(ti_vec w) {
    double q[4];
    ti_quat_exp(w, q);
    return ti_quat_mat(q);
}

static ti_shape make(tribo_shape shape, ti_vec x, ti_vec w, ti_vec size) {
    return (ti_shape){shape, x, rotation(w), size};
}

static ti_shape random_shape(tribo_shape shape, double spread, double turn) {
    ti_vec x = random_vec(spread), w = random_vec(turn);
    ti_vec size = ti_vec3(uniform(0.2, 1), uniform(0.2, 1), uniform(0.2, 1));
    return make(shape, x, w, size);
}

static double distance(ti_vec a, ti_vec b) {
    return ti_norm(ti_sub(a, b));
}

/* ---- derivatives against differences ---- */

/* The shape moved along its own column c of the derivative by h. */
static ti_shape moved(const ti_shape *s, int c, double h) {
    ti_shape m = *s;
    double d[3] = {0};
    d[c % 3] = h;
    if (c < 3) m.x = ti_add(m.x, ti_load3(d));
    if (c >= 3 && c < 6) {
        ti_mat W = rotation(ti_load3(d));
        m.R = ti_matmul(&W, &s->R);
    }
    if (c >= 6) m.size = ti_add(m.size, ti_load3(d));
    return m;
}

/* Rows of the contact with this feature at the moved pose; false where it is another one. */
static int rows_at(const ti_shape *a, const ti_shape *b, int c, double h, int feature, double *rows) {
    ti_shape ma = c < 9 ? moved(a, c, h) : *a, mb = c < 9 ? *b : moved(b, c - 9, h);
    ti_touch t[TI_CONTACTS_MAX];
    int n = ti_collide(&ma, &mb, 10, t);
    for (int k = 0; k < n; k++) {
        if (t[k].feature != feature) continue;
        ti_store3(rows, t[k].point), ti_store3(rows + 3, t[k].normal), rows[6] = t[k].gap;
        return 1;
    }
    return 0;
}

/* Richardson-extrapolated central difference of all rows along column c. */
static int difference(const ti_shape *a, const ti_shape *b, int c, int feature, double *d) {
    double h = 1e-3, row[4][7];
    for (int k = 0; k < 4; k++)
        if (!rows_at(a, b, c, (k < 2 ? h : h / 2) * (k % 2 ? -1 : 1), feature, row[k])) return 0;
    for (int i = 0; i < 7; i++) {
        double wide = (row[0][i] - row[1][i]) / (2 * h), narrow = (row[2][i] - row[3][i]) / h;
        d[i] = (4 * narrow - wide) / 3;
    }
    return 1;
}

typedef struct tally {
    int checked, skipped; /* columns */
    double worst;
} tally;

static void check_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, tally *sum) {
    double J[TI_COLLIDE_ROWS][TI_COLLIDE_COLS], scale = 1;
    ti_collide_jac(a, b, t, J);
    for (int i = 0; i < 7; i++)
        for (int c = 0; c < 18; c++) scale = fmax(scale, fabs(J[i][c]));
    for (int c = 0; c < 18; c++) {
        double d[7];
        if (!difference(a, b, c, t->feature, d)) {
            sum->skipped++;
            continue;
        }
        sum->checked++;
        for (int i = 0; i < 7; i++) {
            double error = fabs(d[i] - J[i][c]) / pow(scale, 5);
            ck_assert_msg(error < 1e-9, "shapes %d %d feature %d row %d column %d: %.12g, differences %.12g", a->shape,
                          b->shape, t->feature, i, c, J[i][c], d[i]);
            sum->worst = fmax(sum->worst, error);
        }
    }
}

static tally random_jac(tribo_shape sa, tribo_shape sb, int trials, double spread, int *features) {
    tally sum = {0, 0, 0};
    for (int trial = 0; trial < trials; trial++) {
        ti_shape a = random_shape(sa, spread, 3), b = random_shape(sb, spread, 3);
        ti_touch t[TI_CONTACTS_MAX];
        int n = ti_collide(&a, &b, 0.5, t);
        for (int k = 0; k < n; k++) {
            check_jac(&a, &b, &t[k], &sum);
            if (features && t[k].feature < 64) features[t[k].feature]++;
        }
    }
    return sum;
}

START_TEST(jac_plane_and_spheres) {
    state = 1;
    int features[64] = {0};
    tally s = random_jac(TRIBO_PLANE, TRIBO_SPHERE, 200, 1, NULL);
    ck_assert_int_gt(s.checked, 1000);
    ck_assert_int_eq(s.skipped, 0);
    s = random_jac(TRIBO_SPHERE, TRIBO_SPHERE, 200, 1, NULL);
    ck_assert_int_gt(s.checked, 1000);
    ck_assert_int_eq(s.skipped, 0);
    s = random_jac(TRIBO_PLANE, TRIBO_BOX, 200, 1, features);
    ck_assert_int_gt(s.checked, 1000);
    ck_assert_int_eq(s.skipped, 0);
    for (int corner = 0; corner < 8; corner++) ck_assert_int_gt(features[corner], 5);
}
END_TEST

START_TEST(jac_sphere_box_every_region) {
    state = 2;
    int features[64] = {0}, faces = 0, edges = 0, corners = 0;
    tally s = random_jac(TRIBO_SPHERE, TRIBO_BOX, 1500, 1, features);
    for (int f = 0; f < 64; f++) {
        int axes = ((f & 3) != 0) + ((f >> 2 & 3) != 0) + (f >> 4 != 0);
        if (features[f]) faces += axes == 1, edges += axes == 2, corners += axes == 3;
    }
    ck_assert_int_eq(faces, 6);
    ck_assert_int_eq(edges, 12);
    ck_assert_int_eq(corners, 8);
    ck_assert_int_gt(s.checked, 10000);
    ck_assert_int_lt(s.skipped, s.checked / 50);
}
END_TEST

/* ---- analytic poses ---- */

static void expect(const ti_touch *t, ti_vec point, ti_vec normal, double gap) {
    ck_assert_double_le(distance(t->point, point), 1e-15);
    ck_assert_double_le(distance(t->normal, normal), 1e-15);
    ck_assert_double_le(fabs(t->gap - gap), 1e-15);
}

START_TEST(plane_and_sphere) {
    ti_vec z = ti_vec3(0, 0, 1), no = ti_vec3(0, 0, 0);
    ti_shape floor = make(TRIBO_PLANE, ti_vec3(0, 0, 1), no, no), ball = make(TRIBO_SPHERE, no, no, ti_vec3(0.5, 9, 9));
    ti_touch t;
    ball.x = ti_vec3(3, 4, 1.75);
    ck_assert_int_eq(ti_collide(&floor, &ball, 0.24, &t), 0);
    ck_assert_int_eq(ti_collide(&floor, &ball, 0.25, &t), 1);
    expect(&t, ti_vec3(3, 4, 1.125), z, 0.25);
    ball.x.z = 1.25;
    ck_assert_int_eq(ti_collide(&floor, &ball, 0, &t), 1);
    expect(&t, ti_vec3(3, 4, 0.875), z, -0.25);
    ck_assert_int_eq(ti_collide(&floor, &floor, 1, &t), 0);
}
END_TEST

START_TEST(plane_and_box) {
    ti_vec no = ti_vec3(0, 0, 0), z = ti_vec3(0, 0, 1);
    ti_shape floor = make(TRIBO_PLANE, no, no, no), box = make(TRIBO_BOX, no, no, ti_vec3(1, 2, 0.5));
    ti_touch t[TI_CONTACTS_MAX];
    box.x = ti_vec3(10, 0, 0.75);
    ck_assert_int_eq(ti_collide(&floor, &box, 0.2, t), 0);
    ck_assert_int_eq(ti_collide(&floor, &box, 0.25, t), 4);
    for (int k = 0; k < 4; k++) {
        ck_assert_int_eq(t[k].feature, k);
        expect(&t[k], ti_vec3(k & 1 ? 11 : 9, k & 2 ? 2 : -2, 0.125), z, 0.25);
    }
    ck_assert_int_eq(ti_collide(&floor, &box, 1.25, t), 8);
    box.R = rotation(ti_vec3(0, atan(1), 0)); /* on an edge */
    box.x.z = 1.5 * sqrt(0.5);
    ck_assert_int_eq(ti_collide(&floor, &box, 0.01, t), 2);
    ck_assert_double_le(fabs(t[0].gap) + fabs(t[1].gap), 1e-15);
}
END_TEST

START_TEST(two_spheres) {
    ti_vec no = ti_vec3(0, 0, 0);
    ti_shape a = make(TRIBO_SPHERE, no, no, ti_vec3(1, 0, 0)), b = make(TRIBO_SPHERE, no, no, ti_vec3(0.5, 0, 0));
    ti_touch t;
    b.x = ti_vec3(0, -2, 0);
    ck_assert_int_eq(ti_collide(&a, &b, 0.4, &t), 0);
    ck_assert_int_eq(ti_collide(&a, &b, 0.5, &t), 1);
    expect(&t, ti_vec3(0, -1.25, 0), ti_vec3(0, -1, 0), 0.5);
    b.x = no;
    ck_assert_int_eq(ti_collide(&a, &b, 0, &t), 1);
    expect(&t, ti_vec3(0, 0, 0.25), ti_vec3(0, 0, 1), -1.5);
    double J[TI_COLLIDE_ROWS][TI_COLLIDE_COLS];
    ti_collide_jac(&a, &b, &t, J);
    for (int i = 0; i < 7; i++)
        for (int c = 0; c < 18; c++) ck_assert(isfinite(J[i][c]));
}
END_TEST

START_TEST(sphere_and_box_regions) {
    ti_vec no = ti_vec3(0, 0, 0);
    ti_shape box = make(TRIBO_BOX, no, no, ti_vec3(1, 2, 3)), ball = make(TRIBO_SPHERE, no, no, ti_vec3(0.5, 0, 0));
    ti_touch t;
    ball.x = ti_vec3(1.75, 0.5, -1); /* face */
    ck_assert_int_eq(ti_collide(&ball, &box, 0.25, &t), 1);
    expect(&t, ti_vec3(1.125, 0.5, -1), ti_vec3(-1, 0, 0), 0.25);
    ball.x = ti_vec3(1.3, -2.4, 0); /* edge, 3-4-5 */
    ck_assert_int_eq(ti_collide(&ball, &box, 0.25, &t), 1);
    expect(&t, ti_vec3(1, -2, 0), ti_vec3(-0.6, 0.8, 0), 0);
    ball.x = ti_vec3(-2, 4, 5); /* corner, 1-2-2 */
    ck_assert_int_eq(ti_collide(&ball, &box, 2.5, &t), 1);
    expect(&t, ti_vec3(-1 - 1.25 / 3, 2 + 2.5 / 3, 3 + 2.5 / 3), ti_vec3(1 / 3., -2 / 3., -2 / 3.), 2.5);
    ball.x = ti_vec3(0, 1.75, 0.5); /* inside, nearest to a face */
    ck_assert_int_eq(ti_collide(&ball, &box, 0, &t), 1);
    expect(&t, ti_vec3(0, 1.625, 0.5), ti_vec3(0, -1, 0), -0.75);
    ball.x = no; /* the middle: the first axis, its positive side */
    ck_assert_int_eq(ti_collide(&ball, &box, 0, &t), 1);
    expect(&t, ti_vec3(0.25, 0, 0), ti_vec3(-1, 0, 0), -1.5);
    ball.x = ti_vec3(2, 0, 0);
    ck_assert_int_eq(ti_collide(&ball, &box, 0.4, &t), 0);
}
END_TEST

/* ---- tangents ---- */

START_TEST(tangents_and_their_derivative) {
    state = 3;
    ti_vec t1, t2;
    ti_tangents(ti_vec3(0, 0, 1), &t1, &t2);
    ck_assert(t1.x == 1 && t1.y == 0 && t1.z == 0 && t2.x == 0 && t2.y == 1 && t2.z == 0);
    ti_tangents(ti_vec3(0, 0, -1), &t1, &t2);
    ck_assert(t1.x == 1 && t1.y == 0 && t1.z == 0 && t2.x == 0 && t2.y == -1 && t2.z == 0);
    for (int trial = 0; trial < 1000; trial++) {
        ti_vec v = random_vec(1), n = ti_scale(1 / ti_norm(v), v);
        ti_tangents(n, &t1, &t2);
        ck_assert_double_le(distance(ti_cross(t1, t2), n), 2e-15);
        ck_assert_double_le(fabs(ti_dot(t1, t2)) + fabs(ti_dot(t1, n)) + fabs(ti_norm(t1) - 1), 2e-15);
        if (fabs(n.z) < 2e-3) continue; /* the pole changes on the equator */
        ti_mat D[2];
        ti_tangents_jac(n, &D[0], &D[1]);
        for (int c = 0; c < 3; c++) {
            double h = 1e-4, e[3] = {0};
            ti_vec p[2][2];
            e[c] = h;
            ti_tangents(ti_add(n, ti_load3(e)), &p[0][0], &p[0][1]);
            ti_tangents(ti_sub(n, ti_load3(e)), &p[1][0], &p[1][1]);
            for (int k = 0; k < 2; k++) {
                ti_vec d = ti_scale(0.5 / h, ti_sub(p[0][k], p[1][k]));
                ck_assert_double_le(distance(d, ti_col(&D[k], c)), 1e-7);
            }
        }
    }
}
END_TEST

START_TEST(bounds_hold_the_shape) {
    state = 4;
    for (int trial = 0; trial < 200; trial++) {
        ti_shape s = random_shape(TRIBO_BOX, 1, 3);
        ti_vec lo, hi;
        ti_shape_aabb(&s, 0.125, &lo, &hi);
        double r = ti_bound_radius(&s), low = (double)INFINITY, high = -low;
        for (int k = 0; k < 8; k++) {
            ti_vec h =
                ti_vec3(k & 1 ? s.size.x : -s.size.x, k & 2 ? s.size.y : -s.size.y, k & 4 ? s.size.z : -s.size.z);
            ti_vec c = ti_mul(&s.R, h);
            ck_assert_double_le(fabs(ti_norm(c) - r), 1e-14);
            low = fmin(low, s.x.y + c.y), high = fmax(high, s.x.y + c.y);
        }
        ck_assert_double_le(fabs(hi.y - 0.125 - high) + fabs(lo.y + 0.125 - low), 1e-14);
    }
    ti_shape plane = random_shape(TRIBO_PLANE, 1, 3), ball = random_shape(TRIBO_SPHERE, 1, 3);
    ti_vec lo, hi;
    ck_assert(isinf(ti_bound_radius(&plane)));
    ti_shape_aabb(&plane, 0.1, &lo, &hi);
    ck_assert(isinf(lo.x) && isinf(hi.z) && lo.x < 0);
    ti_shape_aabb(&ball, 0.1, &lo, &hi);
    ck_assert_double_le(
        distance(ti_sub(hi, lo), ti_vec3(2 * ball.size.x + 0.2, 2 * ball.size.x + 0.2, 2 * ball.size.x + 0.2)), 1e-14);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("collide");
    TCase *t = tcase_create("collide");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, plane_and_sphere);
    tcase_add_test(t, plane_and_box);
    tcase_add_test(t, two_spheres);
    tcase_add_test(t, sphere_and_box_regions);
    tcase_add_test(t, jac_plane_and_spheres);
    tcase_add_test(t, jac_sphere_box_every_region);
    tcase_add_test(t, tangents_and_their_derivative);
    tcase_add_test(t, bounds_hold_the_shape);
    suite_add_tcase(s, t);
    return s;
}
