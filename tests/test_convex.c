/* test_convex.c -- contacts of the convex pair: by a proof that each is what it says, and at rest. */
#include "collide/collide.h"
#include "collide/surface.h"
#include "house.h"
#include "model/shape.h"
#include "random_shapes.h"
#include "test_main.h"
#include <string.h>
#include <tribo/sim.h>

static const tribo_shape SHAPE[] = {TRIBO_SPHERE,   TRIBO_BOX,       TRIBO_CAPSULE,
                                    TRIBO_CYLINDER, TRIBO_ELLIPSOID, TRIBO_MESH};
enum { SHAPES = sizeof SHAPE / sizeof *SHAPE };

static ti_shape random_shape(tribo_shape shape, double spread, double turn) {
    ti_shape s = {.shape = shape, .x = random_vec(spread), .R = rotation(random_vec(turn))};
    s.size = ti_vec3(uniform(0.2, 1), uniform(0.2, 1), uniform(0.2, 1));
    if (shape == TRIBO_MESH) s.mesh = house();
    return s;
}

/* How far a shape reaches in a direction, in words of its own. */
static double reach(const ti_shape *s, ti_vec n) {
    ti_vec d = ti_tmul(&s->R, n), h = s->size;
    double across = sqrt(d.x * d.x + d.y * d.y), own = 0;
    switch (s->shape) {
    case TRIBO_SPHERE:
        own = h.x;
        break;
    case TRIBO_BOX:
        own = h.x * fabs(d.x) + h.y * fabs(d.y) + h.z * fabs(d.z);
        break;
    case TRIBO_CAPSULE:
        own = h.x + h.y * fabs(d.z);
        break;
    case TRIBO_CYLINDER:
        own = h.x * across + h.y * fabs(d.z);
        break;
    case TRIBO_MESH:
        own = -1e9;
        for (int i = 0; i < HOUSE_POINTS; i++) own = fmax(own, ti_dot(d, house_corner(s, i)));
        break;
    default:
        own = sqrt(h.x * h.x * d.x * d.x + h.y * h.y * d.y * d.y + h.z * h.z * d.z * d.z);
    }
    return own + ti_dot(s->x, n);
}

static double apart(const ti_shape *a, const ti_shape *b, ti_vec n) {
    return -reach(b, ti_scale(-1, n)) - reach(a, n);
}

/* A direction that separates them as far as the gap, and none that separates them further: that is the distance, or the
 * shallowest depth. */
static void prove(const ti_shape *s, const ti_touch *t, int n, int trial) {
    int least = 0;
    for (int k = 1; k < n; k++)
        if (t[k].gap < t[least].gap) least = k;
    double gap = t[least].gap, own = apart(&s[0], &s[1], t[least].normal);
    ck_assert_msg(fabs(ti_norm(t[least].normal) - 1) < 1e-12, "normal");
    /* a face counts that separates them nearly as well */
    ck_assert_msg(fabs(own - gap) < (n > 1 ? 2e-3 : 1e-10), "%d %d trial %d: gap %.12g, planes %.12g apart", s[0].shape,
                  s[1].shape, trial, gap, own);
    for (int k = 0; k < 300; k++) {
        ti_vec d = ti_add(random_vec(1), ti_scale(k < 150 ? 0 : 20, t[least].normal));
        double other = apart(&s[0], &s[1], ti_scale(1 / ti_norm(d), d));
        ck_assert_msg(other < gap + 1e-9 + (gap < 0 ? 2e-3 : 0), "%d %d trial %d: gap %.12g, but %.12g", s[0].shape,
                      s[1].shape, trial, gap, other);
    }
}

START_TEST(the_least_gap_is_the_distance_or_the_depth) {
    state = 11;
    for (int i = 0; i < SHAPES; i++)
        for (int j = i; j < SHAPES; j++) {
            int found = 0, deep = 0, loose = 0;
            if (SHAPE[j] < TRIBO_CYLINDER) continue;
            for (int trial = 0; trial < 3000; trial++) {
                ti_shape s[2] = {random_shape(SHAPE[i], 0.9, 3), random_shape(SHAPE[j], 0.9, 3)};
                ti_touch t[TI_CONTACTS_MAX];
                int n = ti_collide(&s[0], &s[1], 0.3, t);
                if (n == 0) {
                    double most = -1;
                    for (int k = 0; k < 2000; k++) {
                        ti_vec d = random_vec(1);
                        most = fmax(most, apart(&s[0], &s[1], ti_scale(1 / ti_norm(d), d)));
                    }
                    ck_assert_msg(most > 0.2, "%d %d trial %d: nothing, but %g apart", SHAPE[i], SHAPE[j], trial, most);
                    continue;
                }
                for (int k = 0; k < n; k++) loose += (t[k].feature & 7) == TI_FIXED;
                prove(s, t, n, trial);
                found++, deep += t[0].gap < 0;
            }
            ck_assert_int_gt(found, 500);
            ck_assert_int_gt(deep, 200);
            ck_assert_msg(loose == 0, "%d %d: %d of %d not exact", SHAPE[i], SHAPE[j], loose, found);
        }
}
END_TEST

/* Apart at any distance, two of them in either order: the planes through the points are as far apart as the points. */
START_TEST(distances_are_those_of_planes) {
    state = 13;
    for (int i = 0; i < SHAPES; i++)
        for (int j = 0; j < SHAPES; j++)
            for (int trial = 0; trial < 200; trial++) {
                ti_shape s[2] = {random_shape(SHAPE[i], 4, 3), random_shape(SHAPE[j], 4, 3)};
                ti_touch t;
                ck_assert(ti_distance(&s[0], &s[1], &t));
                if (t.gap < 1e-3) continue;
                ck_assert_double_eq_tol(apart(&s[0], &s[1], t.normal), t.gap, 1e-11);
            }
}
END_TEST

static const char TWO[] = "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/>"
                          "<body><freejoint/><geom name='a' type='box' size='0.1 0.2 0.3' pos='1 0 0'/></body>"
                          "<body pos='3 0 1'><freejoint/><geom name='b' type='cylinder' size='0.5 0.25'/></body>"
                          "</worldbody></mujoco>";

START_TEST(distances_of_geoms) {
    tribo_model *m = NULL;
    tribo_ws *ws = NULL;
    double p[256], x[64];
    tribo_distance d;
    ck_assert_int_eq(tribo_model_load_memory(TWO, strlen(TWO), "two", NULL, &m, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_ws_new(m, NULL, NULL, &ws, NULL), TRIBO_OK);
    tribo_model_params(m, p), tribo_model_state0(m, x);
    ck_assert_int_eq(tribo_geom_distance(ws, p, x, 1, 2, &d), TRIBO_OK);
    double dx = 3 - 0.5 - 1.1, dz = 0.75 - 0.3, distance = sqrt(dx * dx + dz * dz);
    ck_assert_double_eq_tol(d.distance, distance, 1e-14);
    ck_assert_double_eq_tol(d.normal[0], dx / distance, 1e-14);
    ck_assert_double_eq_tol(d.point[0][2], 0.3, 1e-14);
    ck_assert_double_eq_tol(d.point[1][0], 2.5, 1e-14);
    ck_assert_int_eq(tribo_geom_distance(ws, p, x, 2, 0, &d), TRIBO_OK);
    ck_assert_double_eq_tol(d.distance, 0.75, 1e-15);
    ck_assert_double_eq(d.normal[2], -1);
    ck_assert_int_eq(tribo_geom_distance(ws, p, x, 0, 0, &d), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_geom_distance(ws, p, x, 1, 3, &d), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_geom_distance(ws, p, x, -1, 1, &d), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_geom_distance(ws, p, x, 1, 1, NULL), TRIBO_E_ARG);
    x[0] = (double)NAN;
    ck_assert_int_eq(tribo_geom_distance(ws, p, x, 1, 2, &d), TRIBO_E_NONFINITE);
    tribo_ws_free(ws), tribo_model_free(m);
}
END_TEST

/* ---- at rest ---- */

static ti_shape upright(tribo_shape shape, double z, ti_vec size) {
    return (ti_shape){shape, {0.01, -0.02, z}, rotation(ti_vec3(0, 0, 0.3)), size, NULL, 0};
}

/* Contacts of shapes that rest on one another: so many, level, and the same ones while they rock by rounding. */
static void expect_same(const ti_shape *a, const ti_shape *b, int count, double apart, const char *what) {
    ti_touch first[TI_CONTACTS_MAX], t[TI_CONTACTS_MAX];
    int n = ti_collide(a, b, 1e-3, first);
    double widest = 0;
    ck_assert_msg(n == count, "%s: %d contacts, not %d", what, n, count);
    for (int i = 0; i < n; i++) {
        ck_assert_msg(fabs(first[i].gap) < 1e-12 && fabs(first[i].normal.z) > 1 - 1e-12, "%s: gap %g", what,
                      first[i].gap);
        for (int j = 0; j < i; j++) widest = fmax(widest, ti_norm(ti_sub(first[i].point, first[j].point)));
    }
    ck_assert_msg(fabs(widest - apart) < 1e-3, "%s: %g apart, not %g", what, widest, apart);
    for (int trial = 0; trial < 5000; trial++) {
        ti_shape c = *b;
        double size = pow(10, uniform(-16, -9));
        ti_mat turn = rotation(random_vec(size));
        c.R = ti_matmul(&turn, &c.R), c.x = ti_add(c.x, random_vec(size));
        ck_assert_int_eq(ti_collide(a, &c, 1e-3, t), n);
        for (int i = 0; i < n; i++)
            ck_assert_msg(t[i].feature == first[i].feature, "%s: contact %d of turns by %g", what, i, size);
    }
}

START_TEST(what_rests_keeps_its_contacts) {
    state = 12;
    ti_shape floor = {TRIBO_PLANE, {0, 0, 0}, rotation(ti_vec3(0, 0, 0)), {0, 0, 0}, NULL, 0};
    ti_shape box = {TRIBO_BOX, {0, 0, -0.5}, rotation(ti_vec3(0, 0, 0)), {0.5, 0.4, 0.5}, NULL, 0};
    ti_shape drum = upright(TRIBO_CYLINDER, -0.3, ti_vec3(0.4, 0.3, 0));
    ti_shape can = upright(TRIBO_CYLINDER, 0.3, ti_vec3(0.2, 0.3, 0)),
             egg = upright(TRIBO_ELLIPSOID, 0.3, ti_vec3(0.2, 0.4, 0.3));
    ti_shape brick = upright(TRIBO_BOX, 0.1, ti_vec3(0.1, 0.2, 0.1)),
             pill = upright(TRIBO_CAPSULE, 0.1, ti_vec3(0.1, 0.2, 0));
    ti_mat lie = rotation(ti_vec3(1.5707963267948966, 0, 0));
    ti_shape roll = {TRIBO_CYLINDER, {0, 0, 0.2}, lie, {0.2, 0.3, 0}, NULL, 0}, below = roll, pipe = pill;
    below.x.z = -0.2, pipe.R = lie;
    expect_same(&floor, &can, 4, 0.4, "a can on a plane");
    expect_same(&box, &can, 4, 0.4, "a can on a box");
    expect_same(&drum, &can, 4, 0.4, "a can on a larger one");
    expect_same(&floor, &roll, 2, 0.6, "a cylinder that lies on a plane");
    expect_same(&box, &roll, 2, 0.6, "on a box");
    expect_same(&drum, &roll, 2, 0.6, "on a drum");
    expect_same(&floor, &egg, 1, 0, "an egg on a plane");
    expect_same(&box, &egg, 1, 0, "on a box");
    expect_same(&drum, &egg, 1, 0, "on a drum");
    expect_same(&below, &roll, 2, 0.6, "a cylinder along another");
    ti_shape swapped = drum;
    swapped.x.z = 0.3, brick.x.z = -0.1;
    expect_same(&brick, &swapped, 4, 0.4472, "a drum on a brick");
    pipe.x = ti_vec3(0, 0, 0.1);
    swapped = below, swapped.x.z = -0.2;
    expect_same(&pipe, &swapped, 2, 0.4, "a capsule along a cylinder");
}
END_TEST

enum { CORNERS = 7 };

/* Which of the corners of half a disc on a plane are kept, as bits; the disc is turned as a whole. */
static unsigned kept_of_half_disc(const double *gap, ti_mat R, ti_vec x) {
    ti_pile pile = {.margin = 1e-2, .count = CORNERS};
    ti_touch out[TI_KEPT];
    for (int k = 0; k < CORNERS; k++) {
        double angle = 3.14159265358979323846 * k / (CORNERS - 1);
        ti_vec p = ti_vec3(0.1 * cos(angle), 0.1 * sin(angle), 0);
        pile.t[k] = (ti_touch){.point = ti_add(x, ti_mul(&R, p)), .normal = ti_col(&R, 2), .gap = gap[k]};
        pile.t[k].feature = (unsigned)k;
    }
    int n = ti_pile_thin(&pile, out);
    unsigned kept = 0;
    for (int i = 0; i < n; i++) kept |= 1u << out[i].feature;
    return kept;
}

/* All corners are on one side of the longest line: the two that span the most with its ends are kept, the deepest, and
 * near ones before far ones; and the same wherever the whole is. */
START_TEST(four_contacts_span_what_has_an_edge_for_its_longest_line) {
    static const struct {
        double gap[CORNERS];
        unsigned kept;
    } now[] = {{{0}, 0x55},                                         /* 0, 60, 120 and 180 degrees */
               {{0, 0, 0, -1e-3, 0, 0, 0}, 0x59},                   /* the deepest, for one beside it */
               {{0, 0, 9.9e-3, 9.9e-3, 9.9e-3, 0, 0}, 0x63},        /* those that touch */
               {{0, 1e-4, 2e-4, 9.9e-3, 9.9e-3, 9.9e-3, 0}, 0x47}}; /* and those that are nearest */
    state = 5;
    for (size_t i = 0; i < sizeof now / sizeof *now; i++)
        for (int trial = 0; trial < 50; trial++) {
            double gap[CORNERS];
            for (int k = 0; k < CORNERS; k++) gap[k] = now[i].gap[k] + uniform(-1e-16, 1e-16);
            unsigned kept = kept_of_half_disc(gap, rotation(random_vec(3)), random_vec(1));
            ck_assert_msg(kept == now[i].kept, "%zu, trial %d: %x are kept, not %x", i, trial, kept, now[i].kept);
        }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("convex");
    TCase *t = tcase_create("pairs");
    TCase *many = tagged_case(s, "many", "many");
    tcase_set_timeout(t, 120);
    tcase_add_test(many, the_least_gap_is_the_distance_or_the_depth);
    tcase_add_test(t, distances_are_those_of_planes);
    tcase_add_test(t, distances_of_geoms);
    tcase_add_test(t, what_rests_keeps_its_contacts);
    tcase_add_test(t, four_contacts_span_what_has_an_edge_for_its_longest_line);
    suite_add_tcase(s, t);
    return s;
}
