/* test_collide.c -- contacts against analytic poses and an independent reference; derivatives against differences. */
#include "collide/broad.h"
#include "collide/collide.h"
#include "collide/pairs.h"
#include "random_shapes.h"
#include "test_main.h"
#include "turned_around.h"

static ti_shape make(tribo_shape shape, ti_vec x, ti_vec w, ti_vec size) {
    return (ti_shape){shape, x, rotation(w), size, NULL, 0};
}

static ti_shape random_shape(tribo_shape shape, double spread, double turn) {
    ti_vec x = random_vec(spread), w = random_vec(turn);
    ti_vec size = ti_add(ti_vec3(0.6, 0.6, 0.6), random_vec(0.4));
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
    if (c >= 6 && c < 9) m.size = ti_add(m.size, ti_load3(d));
    if (c == 9) m.edge += h;
    return m;
}

/* Two faces that are held to be level, or the pair as it is. */
static int level[2] = {-1, -1};

static int touches(const ti_shape *a, const ti_shape *b, double margin, ti_touch *t) {
    return level[0] < 0 ? ti_collide(a, b, margin, t) : ti_collide_level(a, b, level[0], level[1], margin, t);
}

/* Rows of the contact with this feature at the moved pose; false where it is another one. */
static int rows_at(const ti_shape *a, const ti_shape *b, int c, double h, int64_t feature, double *rows) {
    bool first = c < TI_SHAPE_COLS;
    ti_shape ma = first ? moved(a, c, h) : *a, mb = first ? *b : moved(b, c - TI_SHAPE_COLS, h);
    ti_touch t[TI_CONTACTS_MAX];
    int n = touches(&ma, &mb, 10, t);
    for (int k = 0; k < n; k++) {
        if (t[k].feature != feature) continue;
        ti_store3(rows, t[k].point), ti_store3(rows + 3, t[k].normal), rows[6] = t[k].gap;
        return 1;
    }
    return 0;
}

/* Richardson-extrapolated central difference of all rows along column c. */
static double difference_step = 1e-3;
static int difference(const ti_shape *a, const ti_shape *b, int c, int64_t feature, double *d) {
    double h = difference_step, row[4][7];
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
    check_vjp(a, b, t, J);
    for (int i = 0; i < 7; i++)
        for (int c = 0; c < TI_COLLIDE_COLS; c++) scale = fmax(scale, fabs(J[i][c]));
    for (int c = 0; c < TI_COLLIDE_COLS; c++) {
        double d[7];
        bool sharp = (c < TI_SHAPE_COLS ? a : b)->edge == 0; /* no edge is less than sharp */
        if (sharp && c % TI_SHAPE_COLS == 9) continue;
        if (!difference(a, b, c, t->feature, d)) {
            sum->skipped++;
            continue;
        }
        sum->checked++;
        for (int i = 0; i < 7; i++) {
            double error = fabs(d[i] - J[i][c]) / (scale * scale * scale);
            ck_assert_msg(error < 1e-9, "shapes %d %d feature %lld row %d column %d: %.12g, differences %.12g",
                          a->shape, b->shape, (long long)t->feature, i, c, J[i][c], d[i]);
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

/* ---- two boxes ---- */

/* The kind of a contact of two boxes: corner, clip, under, edges; plus 4 if the reference face is b's. Of two level
 * faces 8 and more: a corner of b, of a, a pair of them, a crossing. */
enum { OF_LEVEL = 8, LEVEL_PAIR = OF_LEVEL + 2, KINDS = 12 };
static int kind_of(const ti_touch *t) {
    int kind = t->feature & 3;
    if ((t->feature & 7) == KIND_LEVEL) return OF_LEVEL + (t->feature >> 3 & 3);
    return kind == 3 ? 3 : kind + (t->feature & 4);
}

static ti_shape cube(double x, double y, double z, double h) {
    return make(TRIBO_BOX, ti_vec3(x, y, z), ti_vec3(0, 0, 0), ti_vec3(h, h, h));
}

/* Each expected point is there once. */
static void expect_points(const ti_touch *t, int n, const ti_vec *points, double gap) {
    for (int k = 0; k < n; k++) {
        int hits = 0;
        for (int i = 0; i < n; i++) hits += distance(t[i].point, points[k]) < 1e-14;
        ck_assert_int_eq(hits, 1);
        ck_assert_double_le(fabs(t[k].gap - gap), 1e-14);
        ck_assert_double_le(distance(t[k].normal, ti_vec3(0, 0, 1)), 1e-15);
    }
}

START_TEST(box_on_box_faces) {
    ti_touch t[TI_CONTACTS_MAX];
    ti_shape a = cube(0, 0, 0, 1), b = cube(0, 0, 2.25, 1);
    ti_vec square[4] = {{-1, -1, 1.125}, {1, -1, 1.125}, {-1, 1, 1.125}, {1, 1, 1.125}};
    ck_assert_int_eq(ti_collide(&a, &b, 0.2, t), 0);
    ck_assert_int_eq(ti_collide(&a, &b, 0.25, t), 4); /* the same size, edge on edge: corners of both */
    expect_points(t, 4, square, 0.25);
    for (int k = 0; k < 4; k++) ck_assert_int_eq(kind_of(&t[k]), LEVEL_PAIR);
    a.size = ti_vec3(3, 1, 1), b.size = ti_vec3(1, 3, 1); /* crossed planks: clipped edges */
    ck_assert_int_eq(ti_collide(&a, &b, 0.25, t), 4);
    expect_points(t, 4, square, 0.25);
    a.size = ti_vec3(1, 1, 1), b.size = ti_vec3(2, 3, 1); /* the smaller below: its corners on b's face */
    ck_assert_int_eq(ti_collide(&a, &b, 0.25, t), 4);
    expect_points(t, 4, square, 0.25);
    for (int k = 0; k < 4; k++) ck_assert_int_eq(kind_of(&t[k]), 4);
    a.size = ti_vec3(2, 1, 1), b.size = ti_vec3(1, 1, 1), b.x.x = 2; /* hanging over one side, flush on two others */
    ti_vec over[4] = {{1, -1, 1.125}, {2, -1, 1.125}, {1, 1, 1.125}, {2, 1, 1.125}};
    ck_assert_int_eq(ti_collide(&a, &b, 0.25, t), 4);
    expect_points(t, 4, over, 0.25);
    a = cube(0, 0, 0, 1), b = cube(0, 0, 1.875, 1);
    b.R = rotation(ti_vec3(0, 0, atan(1))); /* the octagon of two squares */
    ck_assert_int_eq(ti_collide(&a, &b, 0, t), 8);
    for (int k = 0; k < 8; k++)
        ck_assert_double_le(fabs(hypot(t[k].point.x, t[k].point.y) - hypot(1, sqrt(2) - 1)), 1e-14);
    b.R = rotation(ti_vec3(0, atan(1), 0)), b.x.z = 1.25 + sqrt(2); /* on an edge, clipped to nothing of it */
    ck_assert_int_eq(ti_collide(&a, &b, 0.25, t), 2);
    ck_assert_double_le(fabs(t[0].gap - 0.25) + fabs(t[1].gap - 0.25), 1e-14);
}
END_TEST

START_TEST(box_on_box_edges) {
    double s = sqrt(2), J[TI_COLLIDE_ROWS][TI_COLLIDE_COLS];
    ti_touch t[TI_CONTACTS_MAX];
    ti_shape a = cube(0, 0, 0, 1), b = cube(0.25, -0.5, 2 * s + 0.125, 1);
    a.R = rotation(ti_vec3(atan(1), 0, 0)), b.R = rotation(ti_vec3(0, atan(1), 0));
    ck_assert_int_eq(ti_collide(&a, &b, 0.25, t), 1);
    ck_assert_int_eq(kind_of(t), 3);
    ck_assert_double_le(distance(t->point, ti_vec3(0.25, 0, s + 0.0625)), 2e-15);
    ck_assert_double_le(distance(t->normal, ti_vec3(0, 0, 1)), 1e-15);
    ck_assert_double_le(fabs(t->gap - 0.125), 1e-15);
    ti_collide_jac(&a, &b, t, J);
    ck_assert_double_le(fabs(J[6][2] + 1) + fabs(J[6][TI_SHAPE_COLS + 2] - 1), 1e-15);
    b.x.x = 1.5; /* past the end of a's edge, apart: they pass */
    ck_assert_int_eq(ti_collide(&a, &b, 0.25, t), 0);
}
END_TEST

/* A board on the ridge of a plank, along it but for a small lean: by the edge that it stands on and by the one beyond,
 * which comes down next; by two of each where the plank's other edge is near as well. */
START_TEST(boards_have_an_edge_on_each_side) {
    const double lean = 0.005, roll[2] = {0.3, 0.004}, reach = 2 * sin(lean);
    for (int k = 0; k < 2; k++) {
        ti_touch t[TI_CONTACTS_MAX];
        ti_shape plank = make(TRIBO_BOX, ti_vec3(0, 0, 0), ti_vec3(roll[k], 0, 0), ti_vec3(3, 0.1, 1));
        ti_shape board = make(TRIBO_BOX, ti_vec3(0, 0, 0), ti_vec3(0, lean, 0), ti_vec3(1, 0.8, 0.25));
        ti_vec ridge = ti_mul(&plank.R, ti_vec3(0, 0.1, 1)), edge = ti_mul(&board.R, ti_vec3(1, 0, -0.25));
        board.x.z = ridge.z - edge.z + 0.002;
        ck_assert_int_eq(ti_collide(&plank, &board, 0.5 * reach, t), k == 0 ? 1 : 2);
        int count = ti_collide(&plank, &board, 0.05, t), ends[2] = {0};
        ck_assert_int_eq(count, k == 0 ? 2 : 4);
        for (int i = 0; i < count; i++) {
            int far = t[i].point.x < 0;
            double gap = 0.002 + far * reach, lower = 2 * 0.1 * sin(roll[k]);
            ck_assert_int_eq(kind_of(&t[i]), 3);
            ck_assert_double_le(distance(t[i].normal, ti_vec3(0, 0, 1)), 1e-14);
            ck_assert_double_le(fabs(t[i].gap - gap - (t[i].point.y < ridge.y - 0.05) * lower), 1e-14);
            ends[far]++;
        }
        ck_assert_int_eq(ends[0], ends[1]);
    }
}
END_TEST

START_TEST(resting_stack_keeps_four_points) {
    state = 5;
    for (int trial = 0; trial < 2000; trial++) {
        double turn = trial < 1000 ? 1e-8 : 1e-5;
        ti_shape a = cube(0, 0, 0, 0.5), b = cube(0, 0, 1 - 1e-9, 0.5);
        ti_mat Ra = rotation(random_vec(turn)), Rb = rotation(random_vec(turn)), R = rotation(random_vec(3));
        a.R = ti_matmul(&R, &Ra), b.R = ti_matmul(&R, &Rb);
        b.x = ti_add(ti_mul(&R, b.x), random_vec(turn));
        ti_touch t[TI_CONTACTS_MAX];
        ck_assert_int_eq(ti_collide(&a, &b, 0.01, t), 4);
        for (int k = 0; k < 4; k++) ck_assert_int_eq(kind_of(&t[k]), LEVEL_PAIR);
    }
    for (int trial = 0; trial < 2000; trial++) { /* leaning towers: always at least three, never two of one place */
        ti_shape a = cube(0, 0, 0, 0.5), b = cube(0, 0, 1, 0.5);
        double turn = pow(10, uniform(-6, -2.5));
        a.R = rotation(random_vec(turn)), b.R = rotation(random_vec(turn));
        b.x = ti_add(b.x, random_vec(turn));
        ti_touch t[TI_CONTACTS_MAX];
        int n = ti_collide(&a, &b, 0.02, t);
        ck_assert_int_ge(n, 4);
        for (int k = 0; k < n; k++)
            for (int i = 0; i < k; i++) ck_assert_double_ge(distance(t[i].point, t[k].point), 9e-5);
    }
}
END_TEST

START_TEST(jac_two_boxes_every_kind) {
    state = 6;
    int kinds[8] = {0};
    tally kind[8] = {{0, 0, 0}};
    for (int trial = 0; trial < 3000; trial++) {
        ti_shape a = random_shape(TRIBO_BOX, 0.8, 3), b = random_shape(TRIBO_BOX, 0.8, 3);
        ti_touch t[TI_CONTACTS_MAX];
        int n = ti_collide(&a, &b, 0.3, t);
        for (int k = 0; k < n; k++) {
            int which = kind_of(&t[k]);
            kinds[which]++;
            check_jac(&a, &b, &t[k], &kind[which]);
        }
    }
    for (int k = 0; k < 7; k++) {
        ck_assert_int_gt(kinds[k], 50);
        ck_assert_int_gt(kind[k].checked, 30 * kind[k].skipped);
    }
}
END_TEST

/* Every contact of (a, b) is one of (b, a), seen from the other side. @return how many there are. */
static int expect_same_swapped(const ti_shape *a, const ti_shape *b, double margin, double tol) {
    ti_touch t[TI_CONTACTS_MAX], u[TI_CONTACTS_MAX];
    int n = ti_collide(a, b, margin, t);
    ck_assert_int_eq(ti_collide(b, a, margin, u), n);
    for (int k = 0; k < n; k++) {
        int hits = 0;
        for (int i = 0; i < n; i++)
            hits += distance(t[k].point, u[i].point) < tol && fabs(t[k].gap - u[i].gap) < tol &&
                    distance(t[k].normal, ti_scale(-1, u[i].normal)) < tol;
        ck_assert_int_eq(hits, 1);
    }
    return n;
}

/* Two boxes of one size, nearly flat on one another, neither edge on edge nor so far apart that no contact is left. */
static void level_boxes(double tilt, double shift, double turn, ti_shape *a, ti_shape *b) {
    *a = random_shape(TRIBO_BOX, 0, 0), *b = *a;
    ti_vec wa = random_vec(tilt), wb = random_vec(tilt);
    if (tilt > 0.01 && turn == 0) wa.y = wa.z = wb.y = wb.z = 0; /* no edges that cross at a small angle */
    ti_mat Ra = rotation(wa), Rb = rotation(wb);
    ti_mat yaw = rotation(ti_vec3(0, 0, turn)), R = rotation(random_vec(3));
    Rb = ti_matmul(&Rb, &yaw);
    a->R = ti_matmul(&R, &Ra), b->R = ti_matmul(&R, &Rb);
    b->x = ti_mul(&R, ti_vec3(uniform(-shift, shift), uniform(-shift, shift), 2 * a->size.z + uniform(-0.01, 0.01)));
}

START_TEST(jac_level_faces) {
    state = 14;
    tally kind[KINDS] = {{0, 0, 0}};
    for (int trial = 0; trial < 3000; trial++) {
        ti_shape a, b;
        ti_touch t[TI_CONTACTS_MAX];
        level_boxes(trial % 4 ? 0.02 : 1e-6, trial % 4 ? 0.4 : 0, trial % 2 ? uniform(0.2, 1.3) : 0, &a, &b);
        level[0] = 5, level[1] = 4; /* the top of a, the bottom of b */
        int n = touches(&a, &b, 0.3, t);
        for (int k = 0; k < n; k++) {
            int which = kind_of(&t[k]);
            difference_step = which == LEVEL_PAIR ? 5e-6 : 1e-3; /* a pair parts at 2e-4 of the boxes */
            check_jac(&a, &b, &t[k], &kind[which]);
        }
        level[0] = -1, difference_step = 1e-3;
    }
    for (int k = OF_LEVEL; k < KINDS; k++) {
        ck_assert_int_gt(kind[k].checked, 10000);
        ck_assert_int_gt(kind[k].checked, 5 * kind[k].skipped);
    }
}
END_TEST

/* At rest and rocking by less than the bias the contacts move as their derivative says, through the level pose, and are
 * the same from either side. */
START_TEST(level_faces_do_not_depend_on_order) {
    state = 15;
    int contacts = 0, kinds[KINDS] = {0};
    for (int trial = 0; trial < 20000; trial++) {
        ti_shape a, b;
        ti_touch t[TI_CONTACTS_MAX];
        double tilt = trial % 5 ? pow(10, uniform(-12, -2.3)) : 0;
        level_boxes(tilt, trial % 4 ? 0.4 : tilt, trial % 2 ? uniform(-3, 3) : 0, &a, &b);
        contacts += expect_same_swapped(&a, &b, 0.05, 1e-10); /* rounding, over an angle of 1e-4 where edges cross */
        int n = ti_collide(&a, &b, 0.05, t);
        for (int k = 0; k < n; k++) kinds[kind_of(&t[k])]++;
    }
    ck_assert_int_gt(contacts, 50000);
    for (int k = OF_LEVEL; k < KINDS; k++) ck_assert_int_gt(kinds[k], 1000);
}
END_TEST

/* Boxes of whole sizes at whole places, turned by quarters: their faces, edges and corners coincide all the time. The
 * contacts are the corners of the rectangle that two faces share, each once. */
START_TEST(aligned_boxes_share_a_rectangle) {
    state = 13;
    int areas = 0, lines = 0, points = 0;
    for (int trial = 0; trial < 20000; trial++) {
        ti_shape s[2];
        double h[2][3], x[2][2];
        for (int i = 0; i < 2; i++) {
            static const int turns[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}}; /* which world axis each own axis is */
            const int *turn = turns[(int)uniform(0, 3)];
            double size[3], flip = uniform(-1, 1) > 0 ? 1 : -1;
            s[i] = (ti_shape){.shape = TRIBO_BOX};
            for (int k = 0; k < 3; k++) {
                size[k] = floor(uniform(1, 4)), h[i][turn[k]] = size[k];
                s[i].R.m[turn[k]][k] = k < 2 ? flip : 1;
            }
            s[i].size = ti_load3(size);
            for (int k = 0; k < 2; k++) x[i][k] = floor(uniform(-2, 3));
        }
        s[0].x = ti_vec3(x[0][0], x[0][1], -h[0][2]), s[1].x = ti_vec3(x[1][0], x[1][1], h[1][2]);
        ti_mat W = trial % 2 ? rotation(random_vec(3)) : rotation(ti_vec3(0, 0, 0));
        for (int i = 0; i < 2; i++) s[i].R = ti_matmul(&W, &s[i].R), s[i].x = ti_mul(&W, s[i].x);
        double lo[2], hi[2];
        for (int k = 0; k < 2; k++) {
            lo[k] = fmax(x[0][k] - h[0][k], x[1][k] - h[1][k]), hi[k] = fmin(x[0][k] + h[0][k], x[1][k] + h[1][k]);
        }
        ti_touch t[TI_CONTACTS_MAX];
        int n = ti_collide(&s[0], &s[1], 0.01, t), corners = (hi[0] > lo[0] ? 2 : 1) * (hi[1] > lo[1] ? 2 : 1);
        if (hi[0] < lo[0] || hi[1] < lo[1]) {
            ck_assert_int_eq(n, 0);
            continue;
        }
        if (corners < 4) { /* a line or a point: seen from one of two faces, at right angles to one another */
            ck_assert_int_ge(n, 1);
            lines += corners == 2, points += corners == 1;
            continue;
        }
        areas++;
        ck_assert_int_eq(n, 4);
        for (int c = 0; c < 4; c++) {
            ti_vec corner = ti_mul(&W, ti_vec3(c & 1 ? lo[0] : hi[0], c & 2 ? lo[1] : hi[1], 0));
            int hits = 0;
            for (int k = 0; k < n; k++) hits += distance(t[k].point, corner) < 1e-13 && fabs(t[k].gap) < 1e-13;
            ck_assert_int_eq(hits, 1);
        }
    }
    ck_assert_int_gt(areas, 5000);
    ck_assert_int_gt(lines, 1000);
    ck_assert_int_gt(points, 50);
}
END_TEST

/* ---- the independent reference: corners projected, points projected in turns ---- */

static ti_vec corner_of(const ti_shape *s, int k) {
    ti_vec h = ti_vec3(k & 1 ? s->size.x : -s->size.x, k & 2 ? s->size.y : -s->size.y, k & 4 ? s->size.z : -s->size.z);
    return ti_add(s->x, ti_mul(&s->R, h));
}

/* How far apart the projections of all corners on n are, b's above a's. */
static double separation(const ti_shape *a, const ti_shape *b, ti_vec n) {
    double top = -(double)INFINITY, bottom = (double)INFINITY;
    for (int k = 0; k < 8; k++)
        top = fmax(top, ti_dot(n, corner_of(a, k))), bottom = fmin(bottom, ti_dot(n, corner_of(b, k)));
    return bottom - top;
}

static double best_separation(const ti_shape *a, const ti_shape *b) {
    double best = -(double)INFINITY;
    for (int i = 0; i < 15; i++) {
        ti_vec n = i < 3   ? ti_col(&a->R, i)
                   : i < 6 ? ti_col(&b->R, i - 3)
                           : ti_cross(ti_col(&a->R, (i - 6) / 3), ti_col(&b->R, (i - 6) % 3));
        double length = ti_norm(n);
        if (length < 1e-3) continue;
        for (int s = -1; s <= 1; s += 2) best = fmax(best, separation(a, b, ti_scale(s / length, n)));
    }
    return best;
}

static double clamp(double x, double h) {
    return x > h ? h : x < -h ? -h : x;
}

static ti_vec onto_box(const ti_shape *s, ti_vec p) {
    ti_vec q = ti_tmul(&s->R, ti_sub(p, s->x));
    q = ti_vec3(clamp(q.x, s->size.x), clamp(q.y, s->size.y), clamp(q.z, s->size.z));
    return ti_add(s->x, ti_mul(&s->R, q));
}

/* Distance of two boxes: projections in turns, until they move no more. */
static double true_distance(const ti_shape *a, const ti_shape *b) {
    ti_vec p = a->x, q = b->x;
    for (int i = 0; i < 20000; i++) {
        ti_vec before = p;
        q = onto_box(b, p), p = onto_box(a, q);
        if (distance(p, before) < 1e-14) break;
    }
    return distance(p, q);
}

/* How far p is from the surface of a box. */
static double off_surface(const ti_shape *s, ti_vec p) {
    ti_vec q = ti_tmul(&s->R, ti_sub(p, s->x));
    double x = fabs(q.x) - s->size.x, y = fabs(q.y) - s->size.y, z = fabs(q.z) - s->size.z;
    return fabs(fmax(fmax(x, y), z));
}

START_TEST(two_boxes_against_the_reference) {
    state = 7;
    int deep = 0, apart = 0, closest = 0;
    for (int trial = 0; trial < 4000; trial++) {
        ti_shape a = random_shape(TRIBO_BOX, 0.9, 3), b = random_shape(TRIBO_BOX, 0.9, 3);
        double sep = best_separation(&a, &b), least = (double)INFINITY, bias = 1e-3;
        ti_touch t[TI_CONTACTS_MAX];
        int n = ti_collide(&a, &b, 0.5, t);
        if (sep > 0.5) ck_assert_int_eq(n, 0);
        if (sep <= 0) ck_assert_int_ge(n, 1);
        for (int k = 0; k < n; k++) {
            least = fmin(least, t[k].gap);
            ck_assert_double_le(t[k].gap, 0.5);
            ck_assert_double_ge(separation(&a, &b, t[k].normal), sep - 2 * bias);
            ck_assert_double_ge(t[k].gap, sep - 2 * bias);
            ck_assert_double_le(off_surface(&a, ti_axpy(t[k].point, -0.5 * t[k].gap, t[k].normal)), 1e-4);
            ck_assert_double_le(off_surface(&b, ti_axpy(t[k].point, 0.5 * t[k].gap, t[k].normal)), 1e-4);
        }
        deep += sep <= 0;
        if (sep <= 0 || sep > 0.4) continue;
        apart++;
        double dist = true_distance(&a, &b);
        ck_assert_double_ge(dist, sep - 1e-9);
        if (dist > sep + 1e-7) continue; /* corner to corner or edge: no axis of the fifteen */
        closest++;
        ck_assert_int_ge(n, 1);
        ck_assert_double_le(fabs(least - dist), 2 * bias);
        if (fabs(separation(&a, &b, t[0].normal) - sep) < 1e-12) ck_assert_double_le(fabs(least - dist), 1e-7);
    }
    ck_assert_int_gt(deep, 1000);
    ck_assert_int_gt(apart, 200);
    ck_assert_int_gt(closest, 100);
}
END_TEST

/* ---- symmetries ---- */

START_TEST(swapped_boxes_touch_in_the_same_points) {
    state = 9;
    int any = 0, flat = 0;
    for (int trial = 0; trial < 6000; trial++) {
        ti_shape a = random_shape(TRIBO_BOX, 0.8, 3), b = random_shape(TRIBO_BOX, 0.8, 3);
        any += expect_same_swapped(&a, &b, 0.2, 1e-12);
    }
    for (int trial = 0; trial < 6000; trial++) { /* nearly flat on one another: the faces separate alike */
        double turn = pow(10, uniform(-9, -1)), shift = trial % 3 ? 0.4 : turn;
        ti_shape a = random_shape(TRIBO_BOX, 0, 0), b = random_shape(TRIBO_BOX, 0, turn);
        a.x = ti_vec3(0, 0, -a.size.z), b.x = ti_vec3(uniform(-shift, shift), uniform(-shift, shift), b.size.z);
        flat += expect_same_swapped(&a, &b, 0.2, 1e-12);
    }
    ck_assert_int_gt(any, 4000);
    ck_assert_int_gt(flat, 20000);
}
END_TEST

static double least_of(ti_vec h) {
    return fmin(h.x, fmin(h.y, h.z));
}

static double least_gap(const ti_shape *a, const ti_shape *b) {
    ti_touch t[TI_CONTACTS_MAX];
    double least = (double)INFINITY;
    int n = ti_collide(a, b, 0.5, t);
    for (int k = 0; k < n; k++) least = fmin(least, t[k].gap);
    return least;
}

/* Along a smooth motion the least gap moves no faster than the surface of the moving box does; where the reference
 * changes hands it may jump by the bias. (Seen along a slanted edge or face, by up to sqrt(3) of the motion.) */
START_TEST(gap_is_continuous) {
    state = 10;
    double worst = 0;
    int steps = 0;
    for (int trial = 0; trial < 300; trial++) {
        ti_shape a = random_shape(TRIBO_BOX, 0.6, 3), b = random_shape(TRIBO_BOX, 0.6, 3);
        ti_vec v = random_vec(1), w = random_vec(1);
        double h = 1e-4, before = least_gap(&a, &b);
        double speed = ti_norm(v) + ti_norm(w) * ti_bound_radius(&b);
        double bias = 1e-3 * fmin(least_of(a.size), least_of(b.size));
        ti_mat W = rotation(ti_scale(h, w));
        for (int step = 0; step < 2000; step++) {
            b.x = ti_axpy(b.x, h, v), b.R = ti_matmul(&W, &b.R);
            double now = least_gap(&a, &b);
            if (before > -0.3 && before < 0.1 && now < 1)
                worst = fmax(worst, (fabs(now - before) - sqrt(3) * speed * h) / bias), steps++;
            before = now;
        }
    }
    ck_assert_int_gt(steps, 50000);
    ck_assert_double_le(worst, 1);
}
END_TEST

START_TEST(nan_comes_out) {
    state = 11;
    int tried = 0;
    for (int trial = 0; trial < 600; trial++) {
        tribo_shape kinds[2] = {(tribo_shape)(trial % 4), (tribo_shape)(trial / 4 % 4)};
        if (kinds[0] > kinds[1] || kinds[1] == TRIBO_PLANE) continue;
        ti_shape s[2] = {random_shape(kinds[0], 0.3, 3), random_shape(kinds[1], 0.3, 3)};
        ti_shape *hit = &s[trial / 16 % 2];
        int box = hit->shape == TRIBO_BOX, what = trial / 32 % (box ? 3 : 2);
        double *field = what == 0 ? &hit->x.x : what == 1 ? &hit->R.m[0][2] : &hit->size.x;
        if (hit->shape == TRIBO_SPHERE) field = what == 0 ? &hit->x.x : &hit->size.x;
        field[what == 2 ? trial / 96 % 3 : 0] = trial % 5 ? (double)NAN : (double)INFINITY;
        ti_touch t[TI_CONTACTS_MAX];
        int n = ti_collide(&s[0], &s[1], 10, t), bad = 0;
        ck_assert(n >= 0 && n <= TI_CONTACTS_MAX);
        for (int k = 0; k < n; k++) {
            double J[TI_COLLIDE_ROWS][TI_COLLIDE_COLS];
            bad += !isfinite(t[k].gap + ti_dot(t[k].point, t[k].normal));
            ti_collide_jac(&s[0], &s[1], &t[k], J);
        }
        if (trial % 5) ck_assert_msg(bad > 0, "shapes %d %d hit %d field %d", kinds[0], kinds[1], hit->shape, what);
        tried += trial % 5 != 0;
    }
    ck_assert_int_gt(tried, 100);
}
END_TEST

/* ---- broad phase ---- */

enum { SHAPES = 120, PAIRS = SHAPES * SHAPES / 2 };

typedef struct scene {
    int n;
    ti_vec lo[SHAPES], hi[SHAPES];
} scene;

/* Boxes at random, spread along one axis or two, some touching, some large, some planes, some NaN. */
static void random_scene(scene *s, int trial) {
    double wide[3] = {5, 5, 5}, size = trial % 5 ? 0.4 : 0.2;
    wide[trial % 3] = 0.5;
    if (trial % 7 == 0) wide[(trial + 1) % 3] = 0.5;
    s->n = trial % SHAPES;
    for (int i = 0; i < s->n; i++) {
        ti_vec h = ti_add(ti_vec3(size, size, size), random_vec(trial % 2 ? size : 0)), x = random_vec(1);
        x = ti_vec3(x.x * wide[0], x.y * wide[1], x.z * wide[2]);
        if (trial % 4 == 0) x = ti_vec3(floor(x.x), floor(x.y), floor(x.z)), h = ti_vec3(0.5, 0.5, 0.5); /* touching */
        if (i % 11 == 10) h = ti_scale(trial % 3 ? 8 : 0, h); /* large, or a point */
        if (i % 37 == 36) h = ti_vec3((double)INFINITY, (double)INFINITY, (double)INFINITY);
        if (i % 41 == 40) x.y = (double)NAN;
        s->lo[i] = ti_sub(x, h), s->hi[i] = ti_add(x, h);
    }
}

/* Not apart along any axis; a NaN is never apart. */
static int overlap(const scene *s, int a, int b) {
    return !(s->lo[a].x > s->hi[b].x || s->lo[b].x > s->hi[a].x || s->lo[a].y > s->hi[b].y || s->lo[b].y > s->hi[a].y ||
             s->lo[a].z > s->hi[b].z || s->lo[b].z > s->hi[a].z) ||
           isnan(s->lo[a].y) || isnan(s->lo[b].y);
}

static bool in_table(const void *table, int a, int b) {
    return ((const bool(*)[SHAPES])table)[a][b];
}

START_TEST(broad_phase_finds_every_pair_in_order) {
    static scene s;
    static bool possible[SHAPES][SHAPES];
    state = 12;
    ti_arena measure = {NULL, 0};
    ti_broad w;
    ti_broad_carve(&w, &measure, SHAPES, PAIRS);
    ti_arena m = {ti_alloc(NULL, measure.used), 0};
    ti_broad_carve(&w, &m, SHAPES, PAIRS);
    int total = 0;
    for (int trial = 0; trial < 1000; trial++) {
        random_scene(&s, trial);
        for (int i = 0; i < s.n * s.n; i++) possible[i / s.n][i % s.n] = (i / s.n + i % s.n) % 5 != 0;
        bool filter = trial % 2;
        int count = ti_broad_pairs(&w, s.n, s.lo, s.hi, filter ? in_table : NULL, possible), k = 0;
        for (int a = 0; a < s.n; a++)
            for (int b = a + 1; b < s.n; b++) {
                if (!overlap(&s, a, b) || (filter && !possible[a][b])) continue;
                ck_assert_msg(k < count && w.pair[k].a == a && w.pair[k].b == b, "trial %d pair %d %d", trial, a, b);
                k++;
            }
        ck_assert_int_eq(k, count);
        total += count;
    }
    ck_assert_int_gt(total, 50000);
    ck_assert_int_eq(ti_broad_pairs(&w, SHAPES + 1, s.lo, s.hi, NULL, NULL), -1);
    w.pairs_max = 3;
    ck_assert_int_eq(ti_broad_pairs(&w, s.n, s.lo, s.hi, NULL, NULL), -1);
    ti_free(NULL, m.base, measure.used);
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
    tcase_add_test(t, box_on_box_faces);
    tcase_add_test(t, box_on_box_edges);
    tcase_add_test(t, boards_have_an_edge_on_each_side);
    tcase_add_test(t, resting_stack_keeps_four_points);
    tcase_add_test(t, aligned_boxes_share_a_rectangle);
    tcase_add_test(t, jac_two_boxes_every_kind);
    tcase_add_test(t, jac_level_faces);
    tcase_add_test(t, level_faces_do_not_depend_on_order);
    tcase_add_test(t, two_boxes_against_the_reference);
    tcase_add_test(t, swapped_boxes_touch_in_the_same_points);
    tcase_add_test(t, gap_is_continuous);
    tcase_add_test(t, nan_comes_out);
    tcase_add_test(t, broad_phase_finds_every_pair_in_order);
    tcase_add_test(t, tangents_and_their_derivative);
    tcase_add_test(t, bounds_hold_the_shape);
    suite_add_tcase(s, t);
    return s;
}
