/* test_shapes.c -- what every shape and every pair of shapes has to be, by going through their tables. */
#include "collide/collide.h"
#include "house.h"
#include "model/shape.h"
#include "random_shapes.h"
#include "test_main.h"
#include "turned_around.h"
#include <stdio.h>
#include <string.h>

static int nshapes(void) {
    int n = 0;
    while (ti_shape_of((tribo_shape)n) && n != TRIBO_HFIELD) n++; /* fields: test_fields.c */
    return n;
}

static ti_shape random_shape(tribo_shape shape, double spread, double turn) {
    ti_shape s = {.shape = shape, .x = random_vec(spread), .R = rotation(random_vec(turn))};
    double size[3] = {0, 0, 0};
    for (int i = 0; i < ti_shape_of(shape)->nsize; i++) size[i] = uniform(0.2, 1);
    s.size = ti_load3(size);
    if (shape == TRIBO_MESH) s.mesh = house();
    return s;
}

/* ---- the reference: how far outside a point is, its own words for each shape ---- */

/* The foot x of p has p - x = t (x_i / size_i^2): by halving for t. */
static double outside_ellipsoid(ti_vec size, ti_vec p) {
    double e[3], q[3], x[3], lo, hi, square = 0, in = 0;
    ti_store3(e, size), ti_store3(q, p);
    lo = -fmin(fmin(e[0] * e[0], e[1] * e[1]), e[2] * e[2]), hi = 1e3;
    for (int k = 0; k < 100; k++) {
        double t = 0.5 * (lo + hi), sum = 0;
        for (int i = 0; i < 3; i++) sum += e[i] * q[i] / (e[i] * e[i] + t) * (e[i] * q[i] / (e[i] * e[i] + t));
        if (sum > 1)
            lo = t;
        else
            hi = t;
    }
    for (int i = 0; i < 3; i++) {
        x[i] = e[i] * e[i] * q[i] / (e[i] * e[i] + hi);
        square += (q[i] - x[i]) * (q[i] - x[i]), in += q[i] * q[i] / (e[i] * e[i]);
    }
    return in > 1 ? sqrt(square) : -sqrt(square);
}

static double outside(const ti_shape *s, ti_vec point) {
    ti_vec p = ti_tmul(&s->R, ti_sub(point, s->x));
    if (s->shape == TRIBO_PLANE) return p.z;
    if (s->shape == TRIBO_SPHERE) return ti_norm(p) - s->size.x;
    if (s->shape == TRIBO_CAPSULE) {
        double z = fabs(p.z) > s->size.y ? fabs(p.z) - s->size.y : 0;
        return sqrt(p.x * p.x + p.y * p.y + z * z) - s->size.x;
    }
    if (s->shape == TRIBO_CYLINDER) {
        double r = sqrt(p.x * p.x + p.y * p.y) - s->size.x, z = fabs(p.z) - s->size.y;
        return r > 0 && z > 0 ? sqrt(r * r + z * z) : fmax(r, z);
    }
    if (s->shape == TRIBO_ELLIPSOID) return outside_ellipsoid(s->size, p);
    if (s->shape == TRIBO_MESH) return house_outside(house_of(s), p);
    ck_assert_int_eq(s->shape, TRIBO_BOX);
    double d[3] = {fabs(p.x) - s->size.x, fabs(p.y) - s->size.y, fabs(p.z) - s->size.z}, square = 0;
    for (int i = 0; i < 3; i++) square += d[i] > 0 ? d[i] * d[i] : 0;
    return square > 0 ? sqrt(square) : fmax(d[0], fmax(d[1], d[2]));
}

/* Whether it is; the same without a search for the foot. */
static bool is_outside(const ti_shape *s, ti_vec point) {
    ti_vec p = ti_tmul(&s->R, ti_sub(point, s->x)), q = {p.x / s->size.x, p.y / s->size.y, p.z / s->size.z};
    if (s->shape == TRIBO_MESH) return house_plane(house_of(s), p) > 0;
    return s->shape == TRIBO_ELLIPSOID ? ti_dot(q, q) > 1 : outside(s, point) > 0;
}

/* The gap of a capsule, or a sphere, and anything: least over its segment, where the distance is convex. */
static double least_over(const ti_shape *other, const ti_shape *rod) {
    double half = rod->shape == TRIBO_CAPSULE ? rod->size.y : 0, lo = -half, hi = half;
    ti_vec axis = ti_col(&rod->R, 2);
    for (int k = 0; k < 200; k++) {
        double a = lo + (hi - lo) / 3, b = hi - (hi - lo) / 3;
        bool left = outside(other, ti_axpy(rod->x, a, axis)) < outside(other, ti_axpy(rod->x, b, axis));
        if (left)
            hi = b;
        else
            lo = a;
    }
    return outside(other, ti_axpy(rod->x, 0.5 * (lo + hi), axis)) - rod->size.x;
}

/* ---- one shape ---- */

START_TEST(names_lead_to_their_rows) {
    for (int k = 0; k < nshapes(); k++) {
        tribo_shape found;
        const ti_shape_row *row = ti_shape_of((tribo_shape)k);
        ck_assert_ptr_eq(ti_shape_named(row->name, &found), row);
        ck_assert_int_eq(found, k);
    }
    tribo_shape kept = TRIBO_BOX;
    ck_assert_ptr_null(ti_shape_named("sdf", &kept));
    ck_assert_int_eq(kept, TRIBO_BOX);
    ck_assert_ptr_null(ti_shape_of((tribo_shape)-1));
    ck_assert_int_ge(nshapes(), 4);
}
END_TEST

START_TEST(sizes_are_checked) {
    for (int k = 0; k < nshapes(); k++)
        for (int i = 0; i < ti_shape_of((tribo_shape)k)->nsize; i++) {
            double size[3] = {1, 1, 1};
            ck_assert_ptr_null(ti_size_flaw((tribo_shape)k, size));
            size[i] = 0;
            ck_assert_ptr_nonnull(ti_size_flaw((tribo_shape)k, size));
            size[i] = (double)NAN;
            ck_assert_ptr_nonnull(ti_size_flaw((tribo_shape)k, size));
        }
}
END_TEST

/* Points inside the ball of its radius, by a grid: how much of it the shape fills, and its second moments. */
START_TEST(volume_and_inertia_are_integrals) {
    state = 1;
    for (int k = 0; k < nshapes(); k++) {
        const ti_shape_row *row = ti_shape_of((tribo_shape)k);
        if (!row->bounded) continue;
        ti_shape s = random_shape((tribo_shape)k, 0, 0);
        double size[3], inertia[3], sum[3] = {0}, e[3];
        ti_store3(size, s.size);
        row->inertia(s.mesh, 1, size, inertia);
        row->halves(s.mesh, &s.R, size, e);
        enum { N = 120 };
        long count = 0;
        for (int c = 0; c < N * N * N; c++) {
            ti_vec p = {e[0] * ((c % N + 0.5) / N * 2 - 1), e[1] * ((c / N % N + 0.5) / N * 2 - 1),
                        e[2] * ((c / N / N + 0.5) / N * 2 - 1)};
            if (is_outside(&s, ti_add(s.x, p))) continue;
            sum[0] += p.y * p.y + p.z * p.z, sum[1] += p.x * p.x + p.z * p.z, sum[2] += p.x * p.x + p.y * p.y, count++;
        }
        double volume = 8 * e[0] * e[1] * e[2] * (double)count / ((double)N * N * N);
        ck_assert_msg(fabs(volume / row->volume(s.mesh, size) - 1) < 2e-3, "%s: volume %g, not %g", row->name, volume,
                      row->volume(s.mesh, size));
        for (int i = 0; i < 3; i++)
            ck_assert_msg(fabs(sum[i] / (double)count / inertia[i] - 1) < 2e-3, "%s: inertia %d", row->name, i);
    }
}
END_TEST

/* Its ball and its box hold it, and touch it. */
START_TEST(bounds_are_tight) {
    state = 2;
    for (int k = 0; k < nshapes(); k++) {
        const ti_shape_row *row = ti_shape_of((tribo_shape)k);
        if (!row->bounded) continue;
        double reach = 0, wide[3] = {0}, worst = 0;
        ti_shape s = random_shape((tribo_shape)k, 1, 3);
        ti_vec lo, hi;
        ti_shape_aabb(&s, 0, &lo, &hi);
        double low[3], high[3], radius = ti_bound_radius(&s);
        ti_store3(low, lo), ti_store3(high, hi);
        for (int trial = 0; trial < 200000; trial++) { /* points of its surface, from its centre */
            ti_vec d = trial < 100000 ? random_vec(1)
                                      : ti_add(ti_scale(trial % 2 ? -1 : 1, ti_col(&s.R, 2)), random_vec(1e-3));
            if (trial % 10 < 3) {
                ti_vec corner = {s.size.x * (trial & 16 ? 1 : -1), s.size.y * (trial & 32 ? 1 : -1), s.size.z};
                if (s.mesh) corner = house_corner(&s, trial / 10 % HOUSE_POINTS);
                d = ti_add(ti_mul(&s.R, corner), random_vec(1e-3));
            }
            double in = 0, out = 4;
            d = ti_scale(1 / ti_norm(d), d);
            for (int halving = 0; halving < 50; halving++) {
                double mid = 0.5 * (in + out);
                if (is_outside(&s, ti_axpy(s.x, mid, d)))
                    out = mid;
                else
                    in = mid;
            }
            double p[3];
            ti_store3(p, ti_axpy(s.x, in, d));
            reach = fmax(reach, in);
            for (int i = 0; i < 3; i++)
                wide[i] = fmax(wide[i], 2 * fabs(p[i] - 0.5 * (low[i] + high[i])) / (high[i] - low[i])),
                worst = fmax(worst, fmax(low[i] - p[i], p[i] - high[i]));
        }
        ck_assert_double_le(worst, 1e-12);
        ck_assert_msg(reach <= radius + 1e-12 && reach > 0.995 * radius, "%s: %g of %g", row->name, reach, radius);
        for (int i = 0; i < 3; i++) ck_assert_msg(wide[i] > 0.98, "%s: %g of its box", row->name, wide[i]);
    }
}
END_TEST

START_TEST(a_shape_that_does_not_turn_is_round) {
    state = 3;
    for (int k = 0; k < nshapes(); k++) {
        ti_shape s = random_shape((tribo_shape)k, 0, 0), turned = s;
        turned.R = rotation(random_vec(2));
        double most = 0;
        for (int trial = 0; trial < 100; trial++) {
            ti_vec p = random_vec(2);
            most = fmax(most, fabs(outside(&s, p) - outside(&turned, p)));
        }
        ck_assert_int_eq(most > 1e-9, ti_shape_of((tribo_shape)k)->turns);
    }
}
END_TEST

/* ---- pairs ---- */

static bool is_round(tribo_shape s) {
    return s == TRIBO_SPHERE || s == TRIBO_CAPSULE;
}

/* Shapes that are bounded touch each other and planes; never more often than the table says. The least gap of a pair
 * with a sphere or a capsule whose middle is outside is the distance. */
START_TEST(the_least_gap_is_the_distance) {
    state = 4;
    for (int a = 0; a < nshapes(); a++)
        for (int b = a; b < nshapes(); b++) {
            int most = ti_collide_most((tribo_shape)a, (tribo_shape)b), seen = 0, judged = 0;
            ck_assert_int_eq(most > 0, ti_shape_of((tribo_shape)b)->bounded);
            ck_assert_int_le(most, TI_CONTACTS_MAX);
            for (int trial = 0; most && trial < 4000; trial++) {
                ti_shape s[2] = {random_shape((tribo_shape)a, 0.9, 3), random_shape((tribo_shape)b, 0.9, 3)};
                ti_touch t[TI_CONTACTS_MAX];
                int n = ti_collide(&s[0], &s[1], 0.5, t);
                double least = (double)INFINITY;
                for (int k = 0; k < n; k++) least = fmin(least, t[k].gap);
                ck_assert_int_le(n, most);
                seen = n > seen ? n : seen;
                if (!is_round((tribo_shape)b) && !is_round((tribo_shape)a)) continue;
                const ti_shape *rod = is_round((tribo_shape)b) ? &s[1] : &s[0], *other = rod == s ? &s[1] : &s[0];
                double gap = least_over(other, rod);
                bool inside =
                    gap + rod->size.x < 1e-3 || (a == TRIBO_CAPSULE && gap + s[0].size.x + s[1].size.x < 1e-3);
                if (inside && a != TRIBO_PLANE) continue;
                if (gap > 0.499 && gap < 0.501) continue;
                ck_assert_msg(gap > 0.5 ? n == 0 : fabs(least - gap) < 1e-9, "%d %d: least gap %.12g, distance %.12g",
                              a, b, least, gap);
                judged++;
            }
            if (most) ck_assert_int_ge(seen, most < 2 ? most : 2);
            if (most && (is_round((tribo_shape)a) || is_round((tribo_shape)b))) ck_assert_int_gt(judged, 1000);
        }
}
END_TEST

/* The shape moved along column c of a derivative by h. */
static ti_shape moved(const ti_shape *s, int c, double h) {
    ti_shape m = *s;
    double d[3] = {0};
    d[c % 3] = h;
    ti_mat W = rotation(ti_load3(d));
    if (c < 3) m.x = ti_add(m.x, ti_load3(d));
    if (c >= 3 && c < 6) m.R = ti_matmul(&W, &s->R);
    if (c >= 6 && c < 9) m.size = ti_add(m.size, ti_load3(d));
    if (c == 9) m.edge += h;
    return m;
}

/* The seven rows of the contact with this feature after a move; false where it is another one. */
static bool rows_at(const ti_shape *s, int c, double h, int64_t feature, double *rows) {
    bool first = c < TI_SHAPE_COLS;
    ti_shape a = first ? moved(&s[0], c, h) : s[0], b = first ? s[1] : moved(&s[1], c - TI_SHAPE_COLS, h);
    ti_touch t[TI_CONTACTS_MAX];
    int n = ti_collide(&a, &b, 1, t);
    for (int k = 0; k < n; k++) {
        if (t[k].feature != feature) continue;
        ti_store3(rows, t[k].point), ti_store3(rows + 3, t[k].normal), rows[6] = t[k].gap;
        return true;
    }
    return false;
}

/* Whether a row is further from the contact than its derivative can make it: two balls have more than one way out. */
static bool jumps(const ti_touch *t, const double *row, double most) {
    double own[7];
    ti_store3(own, t->point), ti_store3(own + 3, t->normal), own[6] = t->gap;
    for (int i = 0; i < 7; i++)
        if (fabs(row[i] - own[i]) > most) return true;
    return false;
}

static int check_jac(const ti_shape *s, const ti_touch *t) {
    ti_touch_jac J;
    double scale = 1, h = s[1].shape > TRIBO_CAPSULE ? 2e-4 : 1e-3; /* what curves has higher derivatives */
    int checked = 0;
    ti_collide_jac(&s[0], &s[1], t, J);
    check_vjp(&s[0], &s[1], t, J);
    for (int i = 0; i < TI_COLLIDE_ROWS; i++)
        for (int c = 0; c < TI_COLLIDE_COLS; c++) scale = fmax(scale, fabs(J[i][c]));
    for (int i = 0; i < TI_COLLIDE_ROWS; i++)
        for (int side = 0; side < 2; side++)
            if (!ti_shape_of(s[side].shape)->edged) ck_assert_double_eq(J[i][TI_SHAPE_COLS * side + 9], 0);
    if (scale > 30) return 0; /* next to a kink: differences see its other side */
    for (int c = 0; c < TI_COLLIDE_COLS; c++) {
        double row[4][7];
        bool there = c % TI_SHAPE_COLS < 9 || s[c / TI_SHAPE_COLS].edge > 0; /* no edge is less than sharp */
        for (int k = 0; k < 4 && there; k++)
            there = rows_at(s, c, (k < 2 ? h : h / 2) * (k % 2 ? -1 : 1), t->feature, row[k]) &&
                    !jumps(t, row[k], 4 * h * scale);
        for (int i = 0; i < 7 && there; i++) {
            double wide = (row[0][i] - row[1][i]) / (2 * h), narrow = (row[2][i] - row[3][i]) / h;
            double d = (4 * narrow - wide) / 3;
            ck_assert_msg(fabs(d - J[i][c]) < 1e-9 * pow(scale, 5),
                          "shapes %d %d feature %lld row %d column %d: %.12g, %.12g", s[0].shape, s[1].shape,
                          (long long)t->feature, i, c, J[i][c], d);
        }
        checked += there;
    }
    return checked;
}

START_TEST(derivatives_against_differences) {
    state = 5;
    for (int a = 0; a < nshapes(); a++)
        for (int b = a; b < nshapes(); b++) {
            int checked = 0, kinds[4] = {0};
            for (int trial = 0; ti_collide_most((tribo_shape)a, (tribo_shape)b) && trial < 400; trial++) {
                ti_shape s[2] = {random_shape((tribo_shape)a, 0.9, 3), random_shape((tribo_shape)b, 0.9, 3)};
                for (int i = 0; i < 2; i++)
                    if (ti_shape_of(s[i].shape)->edged && trial > 300) s[i].edge = uniform(0.01, 0.15);
                ti_touch t[TI_CONTACTS_MAX];
                int n = ti_collide(&s[0], &s[1], 0.5, t);
                for (int k = 0; k < n; k++) {
                    int columns = check_jac(s, &t[k]);
                    checked += columns, kinds[t[k].feature & 3] += columns;
                }
            }
            if (ti_collide_most((tribo_shape)a, (tribo_shape)b))
                ck_assert_msg(checked > 2000, "%d %d: %d", a, b, checked);
            /* of a box and a capsule: ends, edges, corners */
            for (int k = 0; k < 3 && a == TRIBO_BOX && b == TRIBO_CAPSULE; k++) ck_assert_int_gt(kinds[k], 300);
        }
}
END_TEST

/* Edges as round as a cube is thick make a ball of it, and a capsule of a cylinder. */
START_TEST(edges_that_leave_nothing_else) {
    state = 9;
    enum { NEAR = 1 }; /* nm that are left of the inner shape */
    for (int trial = 0; trial < 4000; trial++) {
        int other = trial % nshapes();
        double r = uniform(0.2, 1), left = 1e-9 * NEAR, more = uniform(0.1, 1);
        ti_shape round = random_shape(trial & 1 ? TRIBO_BOX : TRIBO_CYLINDER, 0.9, 3), plain = round;
        round.edge = r - left;
        round.size = trial & 1 ? ti_vec3(r, r, r) : ti_vec3(r, r + more, 0);
        plain.shape = trial & 1 ? TRIBO_SPHERE : TRIBO_CAPSULE;
        plain.size = trial & 1 ? ti_vec3(r, 0, 0) : ti_vec3(r, more, 0);
        ti_shape with = random_shape((tribo_shape)other, 0.9, 3);
        ti_touch t, u;
        if (other == TRIBO_PLANE || !ti_distance(&plain, &with, &t)) continue;
        ck_assert(ti_distance(&round, &with, &u));
        if (t.gap < -0.5 * r) continue; /* the centre line is inside: more than one way out */
        ck_assert_msg(fabs(t.gap - u.gap) < 1e-8, "shapes %d %d: %.12g, %.12g", round.shape, other, t.gap, u.gap);
    }
}
END_TEST

/* Contacts of round boxes: apart by more than the edges, the corners' balls; level on a plane, the faces. */
START_TEST(round_boxes) {
    ti_shape floor = {TRIBO_PLANE, {0, 0, 0}, rotation(ti_vec3(0, 0, 0)), {0, 0, 0}, NULL, 0};
    ti_shape box = {TRIBO_BOX, {0, 0, 0.2}, rotation(ti_vec3(0, 0, 0)), {0.4, 0.3, 0.2}, NULL, 0.05}, next = box;
    ti_touch t[TI_CONTACTS_MAX];
    ck_assert_int_eq(ti_collide(&floor, &box, 0.01, t), 4);
    for (int k = 0; k < 4; k++) {
        ck_assert_double_eq_tol(t[k].gap, 0, 1e-15);
        ck_assert_double_eq_tol(fabs(t[k].point.x), 0.35, 1e-15); /* where the face ends and the edge begins */
        ck_assert_double_eq_tol(fabs(t[k].point.y), 0.25, 1e-15);
    }
    box.R = rotation(ti_vec3(1.5707963267948966 / 2, 0, 0)); /* on an edge */
    ck_assert_int_ge(ti_collide(&floor, &box, 1, t), 2);
    double low = t[0].gap;
    for (int k = 1; k < 4; k++) low = fmin(low, t[k].gap);
    ck_assert_double_eq_tol(low, 0.2 - (0.25 + 0.15) * sqrt(0.5) - 0.05, 1e-14);
    box.R = next.R;
    next.x = ti_vec3(0.8 + 0.03, 0.6 + 0.04, 0.2 + 0.4 + 0.12); /* corner to corner: 0.13 along each axis, and more */
    ck_assert_int_ge(ti_collide(&box, &next, 1, t), 1);
    double gap = sqrt(0.13 * 0.13 + 0.14 * 0.14 + 0.22 * 0.22) - 0.1;
    ck_assert_double_eq_tol(t[0].gap, gap, 1e-12);
    ck_assert_double_eq_tol(t[0].normal.z, 0.22 / (gap + 0.1), 1e-12);
}
END_TEST

START_TEST(moving_the_world_moves_the_contacts) {
    state = 6;
    for (int trial = 0; trial < 6000; trial++) {
        int a = trial % nshapes(), b = trial / nshapes() % nshapes();
        if (a > b) continue;
        ti_shape s[2] = {random_shape((tribo_shape)a, 0.8, 3), random_shape((tribo_shape)b, 0.8, 3)}, m[2];
        ti_mat R = rotation(random_vec(3));
        ti_vec x = random_vec(1);
        for (int i = 0; i < 2; i++)
            m[i] = s[i], m[i].R = ti_matmul(&R, &s[i].R), m[i].x = ti_add(x, ti_mul(&R, s[i].x));
        ti_touch t[TI_CONTACTS_MAX], u[TI_CONTACTS_MAX];
        int n = ti_collide(&s[0], &s[1], 0.2, t);
        ck_assert_int_eq(ti_collide(&m[0], &m[1], 0.2, u), n);
        for (int k = 0; k < n; k++) {
            ck_assert_int_eq(u[k].feature, t[k].feature);
            ck_assert_double_le(fabs(u[k].gap - t[k].gap), 1e-13);
            ck_assert_double_le(ti_norm(ti_sub(u[k].normal, ti_mul(&R, t[k].normal))), 1e-12);
            ck_assert_double_le(ti_norm(ti_sub(u[k].point, ti_add(x, ti_mul(&R, t[k].point)))), 1e-11);
        }
    }
}
END_TEST

/* ---- capsules at rest ---- */

static ti_shape lying(double x, double y, double z, double yaw, double tilt, double half) {
    ti_mat turn = rotation(ti_vec3(0, 1.5707963267948966 + tilt, 0)), about = rotation(ti_vec3(0, 0, yaw));
    return (ti_shape){TRIBO_CAPSULE, {x, y, z}, ti_matmul(&about, &turn), {0.1, half, 0}, NULL, 0};
}

/* What lies on something rests on two contacts as far apart as what carries it, and keeps them while it rocks. */
static void expect_two(const ti_shape *a, const ti_shape *b, double apart, const char *what) {
    ti_touch t[TI_CONTACTS_MAX];
    int n = ti_collide(a, b, 1e-3, t);
    double widest = 0;
    for (int i = 0; i < n; i++) {
        ck_assert_msg(fabs(t[i].gap) < 1e-3 && fabs(t[i].normal.z) > 0.99, "%s: gap %g, normal %g", what, t[i].gap,
                      t[i].normal.z);
        for (int j = 0; j < i; j++) widest = fmax(widest, ti_norm(ti_sub(t[i].point, t[j].point)));
    }
    ck_assert_msg(n >= 2 && fabs(widest - apart) < 1e-2, "%s: %d contacts, %g apart", what, n, widest);
}

START_TEST(capsules_lie_on_two_contacts) {
    ti_mat level = rotation(ti_vec3(0, 0, 0));
    ti_shape floor = {TRIBO_PLANE, {0, 0, 0}, level, {0, 0, 0}, NULL, 0},
             box = {TRIBO_BOX, {0, 0, -1}, level, {0.4, 0.3, 1}, NULL, 0};
    for (int trial = 0; trial < 9; trial++) {
        double tilt = trial == 0 ? 0 : (trial % 2 ? 1 : -1) * pow(10, -3.5 - 1.5 * trial);
        ti_shape c = lying(0, 0, 0.1, 0.3, tilt, 0.2), over = lying(0.3, 0, 0.1, 0, tilt, 0.2);
        expect_two(&floor, &c, 0.4, "on a plane");
        expect_two(&box, &c, 0.4, "on a box");
        expect_two(&box, &over, 0.3, "over an edge");
        ti_shape plank = lying(0, 0, 0.1, 0.3, tilt, 2), below = lying(0, 0, -0.1, 0.3, 0, 0.15);
        expect_two(&box, &plank, 0.8 / cos(0.3), "over two edges");
        expect_two(&below, &c, 0.3, "along a shorter one");
        ti_shape beside = lying(0.1 * cos(0.3), 0.1 * sin(0.3), -0.1, 0.3, 0, 0.2);
        expect_two(&beside, &c, 0.3, "along a shifted one");
        ti_shape same = lying(0, 0, -0.1, 0.3, 0, 0.2);
        expect_two(&same, &c, 0.4, "along one like it");
    }
}
END_TEST

/* Along the axes, on a grid, where ends stand exactly above ends: segments are boxes without width. */
START_TEST(capsules_on_a_grid_meet) {
    for (int trial = 0; trial < 20000; trial++) {
        ti_shape pair[2];
        double low[2][3], high[2][3], square = 0, least = HUGE_VAL;
        ti_touch t[TI_CONTACTS_MAX];
        for (int s = 0; s < 2; s++) {
            int axis = (int)uniform(0, 3), length = (int)uniform(1, 5);
            double turn = axis == 2 ? 0 : 1.5707963267948966;
            for (int k = 0; k < 3; k++) low[s][k] = high[s][k] = 0.05 * (int)uniform(-4, 4);
            high[s][axis] += 0.1 * length;
            pair[s] = (ti_shape){.shape = TRIBO_CAPSULE, .size = {0.01, 0.05 * length, 0}};
            pair[s].R = rotation(ti_vec3(axis == 1 ? -turn : 0, axis == 0 ? turn : 0, 0));
            pair[s].x = ti_scale(0.5, ti_add(ti_load3(low[s]), ti_load3(high[s])));
        }
        for (int k = 0; k < 3; k++) {
            double apart = fmax(0, fmax(low[0][k] - high[1][k], low[1][k] - high[0][k]));
            square += apart * apart;
        }
        int n = ti_collide(&pair[0], &pair[1], 2, t);
        for (int i = 0; i < n; i++) least = fmin(least, t[i].gap);
        ck_assert_msg(fabs(least - (sqrt(square) - 0.02)) < 1e-12, "%d: %g for %g", trial, least, sqrt(square) - 0.02);
    }
}
END_TEST

/* A ball whose middle is on a rod's axis, to rounding, is let out across it. */
START_TEST(the_way_out_of_an_axis_is_across) {
    for (int trial = 0; trial < 200; trial++) {
        ti_shape rod = lying(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1), uniform(-3, 3), uniform(-3, 3), 0.4),
                 ball = {.shape = TRIBO_SPHERE, .R = rod.R, .size = {0.05, 0, 0}};
        ti_touch t;
        ball.x = ti_axpy(rod.x, uniform(-0.3, 0.3), ti_col(&rod.R, 2));
        ck_assert_int_eq(ti_collide(&ball, &rod, 0, &t), 1);
        ck_assert_double_eq_tol(ti_dot(t.normal, ti_col(&rod.R, 2)), 0, 1e-12);
        ck_assert_double_eq_tol(t.gap, -0.15, 1e-12);
    }
}
END_TEST

/* A capsule through a box is pushed out the near way, and not both ways at once. */
START_TEST(a_capsule_through_a_box_has_one_way_out) {
    ti_mat level = rotation(ti_vec3(0, 0, 0));
    ti_shape box = {TRIBO_BOX, {0, 0, 0}, level, {0.4, 0.3, 0.5}, NULL, 0}, rod = lying(0, 0.02, 0.4, 0, 0, 2);
    ti_touch t[TI_CONTACTS_MAX];
    ck_assert_int_eq(ti_collide(&box, &rod, 1e-3, t), 1);
    ck_assert_double_eq_tol(t[0].normal.z, 1, 1e-12);
    ck_assert_double_eq_tol(t[0].gap, -0.2, 1e-12);
    /* through an edge, its ends outside and near: they say nothing of how deep it is in */
    ti_shape cube = {TRIBO_BOX, {0, 0, 0}, level, {0.1, 0.1, 0.1}, NULL, 0},
             through = lying(0.095, 0, 0.095, 0, 0, 0.06);
    through.R = rotation(ti_vec3(0, 2.3561944901923449, 0)), through.size.x = 0.02, through.size.y = 0.03 * sqrt(2);
    for (double margin = 0; margin < 0.03; margin += 0.01) {
        double least = 1;
        int n = ti_collide(&cube, &through, margin, t);
        for (int i = 0; i < n; i++) least = fmin(least, t[i].gap);
        ck_assert_msg(fabs(least - (-0.02 - 0.005 * sqrt(2))) < 1e-12, "%g: %g", margin, least);
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("shapes");
    TCase *one = tcase_create("one"), *two = tcase_create("pairs"), *rest = tcase_create("capsules");
    TCase *repeated = tagged_case(s, "repeated", "repeated");
    tcase_set_timeout(one, 120), tcase_set_timeout(two, 120);
    tcase_add_test(one, names_lead_to_their_rows);
    tcase_add_test(one, edges_that_leave_nothing_else);
    tcase_add_test(one, round_boxes);
    tcase_add_test(one, sizes_are_checked);
    tcase_add_test(one, volume_and_inertia_are_integrals);
    tcase_add_test(repeated, bounds_are_tight);
    tcase_add_test(one, a_shape_that_does_not_turn_is_round);
    tcase_add_test(repeated, the_least_gap_is_the_distance);
    tcase_add_test(two, derivatives_against_differences);
    tcase_add_test(two, moving_the_world_moves_the_contacts);
    tcase_add_test(rest, capsules_lie_on_two_contacts);
    tcase_add_test(rest, capsules_on_a_grid_meet);
    tcase_add_test(rest, the_way_out_of_an_axis_is_across);
    tcase_add_test(rest, a_capsule_through_a_box_has_one_way_out);
    suite_add_tcase(s, one), suite_add_tcase(s, two), suite_add_tcase(s, rest);
    return s;
}
