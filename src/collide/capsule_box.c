/* capsule_box.c -- a box and a capsule: its ends as spheres, edges and corners that its side meets.
 *
 * Derivations: docs/math.md, "Capsules".
 */
#include "collide/capsule.h"

/* How far a direction may lie outside the directions that an edge or a corner looks in, for a contact there: a capsule
 * that lies on a face and hangs over an edge rests on the edge too, while it rocks by rounding. Such a contact asks for
 * nothing that the shapes do not. */
static const double LOOK = 0.05;

/* A feature: its kind in two bits, then the end of the capsule, or the edge or corner of the box; of an end, then the
 * feature of that sphere and the box. An edge is its axis and, four times, two bits for the sides of the next two. */
enum { ON_END, ON_EDGE, ON_CORNER };
enum { EDGES = 12, CORNERS = 8 };

/* An edge or a corner as a rod; side: which way it is from the centre along each axis, 0 along the edge. */
typedef struct ridge {
    ti_rod rod;
    double side[3];
} ridge;

static ridge ridge_of(const ti_shape *box, int kind, int which) {
    ridge g = {.rod = {.x = box->x}};
    int axis = kind == ON_EDGE ? which & 3 : -1;
    for (int i = 0; i < 3; i++) g.side[i] = ti_corner_sign(which, i);
    if (axis >= 0) {
        g.side[axis] = 0;
        g.side[(axis + 1) % 3] = ti_corner_sign(which, 2), g.side[(axis + 2) % 3] = ti_corner_sign(which, 3);
        g.rod.a = ti_col(&box->R, axis), g.rod.l = ti_get(box->size, axis);
    }
    for (int i = 0; i < 3; i++) g.rod.x = ti_axpy(g.rod.x, g.side[i] * ti_get(box->size, i), ti_col(&box->R, i));
    return g;
}

static int rod_feature(int kind) {
    return ti_rod_feature(kind == ON_EDGE ? TI_ROD_INSIDE : TI_ROD_BACK, TI_ROD_INSIDE);
}

/* Whether a ridge looks in direction n, or nearly. */
static bool looks(const ti_shape *box, const ridge *g, ti_vec n) {
    for (int i = 0; i < 3; i++)
        if (g->side[i] * ti_dot(n, ti_col(&box->R, i)) < -LOOK) return false;
    return true;
}

/* The contact of the capsule's side with a ridge, if there is one. */
static bool side_touch(const ti_shape *box, const ti_rod *capsule, int kind, int which, ti_touch *out) {
    ridge g = ridge_of(box, kind, which);
    ti_vec outwards = ti_sub(g.rod.x, box->x);
    if (kind == ON_EDGE) {
        double s, t;
        if (!ti_rod_cross(&g.rod, capsule, &s, &t) || fabs(s) > g.rod.l || fabs(t) >= capsule->l) return false;
    } else if (fabs(ti_rod_foot(capsule, g.rod.x)) >= capsule->l) {
        return false;
    }
    *out = ti_rod_touch(&g.rod, capsule, rod_feature(kind), outwards);
    if (out->feature & TI_ROD_ONE_POINT) return false;
    out->feature = kind | which << 2;
    return looks(box, &g, out->normal);
}

/* Whether the middle line of the capsule goes through the box. */
static bool pierces(const ti_shape *box, const ti_rod *capsule) {
    double from[3], along[3], h[3], lo = -capsule->l, hi = capsule->l;
    ti_store3(from, ti_tmul(&box->R, ti_sub(capsule->x, box->x)));
    ti_store3(along, ti_tmul(&box->R, capsule->a)), ti_store3(h, box->size);
    for (int i = 0; i < 3; i++) {
        double one = (-h[i] - from[i]) / along[i], two = (h[i] - from[i]) / along[i];
        if (along[i] == 0 && fabs(from[i]) >= h[i]) return false;
        if (along[i] == 0) continue;
        lo = fmax(lo, fmin(one, two)), hi = fmin(hi, fmax(one, two));
    }
    return lo < hi;
}

static bool end_touch(const ti_shape *box, const ti_shape *capsule, int end, double margin, ti_touch *out) {
    ti_shape ball = ti_capsule_end(capsule, end);
    if (!ti_collide_sphere_box(&ball, box, margin, out)) return false;
    out->normal = ti_scale(-1, out->normal);
    out->feature = ON_END | end << 2 | out->feature << 3;
    return true;
}

static int sides(const ti_shape *box, const ti_rod *capsule, double margin, ti_touch *out, int count) {
    for (int k = 0; k < EDGES + CORNERS && count < TI_CONTACTS_MAX; k++) {
        int kind = k < EDGES ? ON_EDGE : ON_CORNER, which = k < EDGES ? k % 3 | (k / 3) << 2 : k - EDGES;
        ti_touch t;
        if (!side_touch(box, capsule, kind, which, &t) || ti_beyond(t.gap, margin)) continue;
        if (t.gap + capsule->r >= 0) out[count++] = t;
    }
    return count;
}

/* Where the middle line is inside the box, edges behind it look like contacts too: the one that is nearest to being out
 * counts, or an end inside that is. An end outside says nothing of how deep the line is in. */
static int nearest_way_out(const ti_shape *box, const ti_rod *capsule, double margin, ti_touch *out, int count) {
    ti_touch best = {.gap = -(double)INFINITY}, t;
    for (int k = 0; k < EDGES; k++)
        if (side_touch(box, capsule, ON_EDGE, k % 3 | (k / 3) << 2, &t) && t.gap > best.gap) best = t;
    for (int i = 0; i < count; i++)
        if (out[i].gap >= best.gap && out[i].gap + capsule->r < 0) return count;
    if (isinf(best.gap) || ti_beyond(best.gap, margin)) return count;
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (out[i].gap + capsule->r >= 0) out[kept++] = out[i];
    out[kept++] = best;
    return kept;
}

/* Whether the box around the capsule, along the box's axes, is beyond the margin. */
static bool apart(const ti_shape *box, const ti_rod *capsule, double margin) {
    ti_vec d = ti_tmul(&box->R, ti_sub(capsule->x, box->x)), a = ti_tmul(&box->R, capsule->a);
    for (int i = 0; i < 3; i++) {
        double between = fabs(ti_get(d, i)) - ti_get(box->size, i) - fabs(ti_get(a, i)) * capsule->l - capsule->r;
        if (ti_beyond(between, margin)) return true;
    }
    return false;
}

int ti_collide_box_capsule(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    ti_rod capsule = ti_rod_of(b);
    if (apart(a, &capsule, margin)) return 0;
    int count = 0;
    for (int end = 0; end < 2; end++) count += end_touch(a, b, end, margin, &out[count]);
    return pierces(a, &capsule) ? nearest_way_out(a, &capsule, margin, out, count)
                                : sides(a, &capsule, margin, out, count);
}

/* The box's nine columns, of a contact with an edge or a corner. */
static void box_columns(const ti_shape *box, const ridge *g, const ti_rod *capsule, const ti_touch *t, int feature,
                        ti_touch_jac J) {
    static const ti_rod none = {{0, 0, 0}, {0, 0, 0}, 0, 0};
    ti_vec arm = ti_sub(g->rod.x, box->x);
    for (int k = 0; k < COL_E; k++) {
        ti_rod d = none;
        double e[3] = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
        ti_vec unit = ti_load3(e);
        if (k < COL_W)
            d.x = unit;
        else if (k < COL_H)
            d.x = ti_cross(unit, arm), d.a = ti_cross(unit, g->rod.a);
        else
            d.x = ti_scale(g->side[k - COL_H], ti_col(&box->R, k - COL_H)), d.l = g->side[k - COL_H] == 0;
        ti_touch dot;
        ti_rod_touch_jvp(&g->rod, capsule, t, feature, &d, &none, &dot);
        ti_put_touch(J, k, &dot);
    }
}

/* From the derivative of a sphere and a box to that of the box and the end of a capsule: the other order, and the other
 * normal. */
static void end_jac(const ti_shape *box, const ti_shape *capsule, const ti_touch *t, ti_touch_jac J) {
    int end = t->feature >> 2 & 1;
    ti_shape ball = ti_capsule_end(capsule, end);
    ti_touch as_sphere = {t->point, ti_scale(-1, t->normal), t->gap, t->feature >> 3, 0};
    ti_touch_jac S = {{0}};
    ti_collide_sphere_box_jac(&ball, box, &as_sphere, S);
    for (int i = 0; i < TI_COLLIDE_ROWS; i++) {
        double sign = i >= ROW_NORMAL && i < ROW_GAP ? -1 : 1;
        for (int k = 0; k < COL_SHAPE; k++) J[i][COL_SHAPE + k] = sign * S[i][k], J[i][k] = sign * S[i][COL_SHAPE + k];
    }
    ti_capsule_end_columns(capsule, end, COL_SHAPE, J);
}

void ti_collide_box_capsule_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    int kind = t->feature & 3;
    if (kind == ON_END) {
        end_jac(a, b, t, J);
        return;
    }
    ti_rod capsule = ti_rod_of(b);
    ridge g = ridge_of(a, kind, t->feature >> 2);
    box_columns(a, &g, &capsule, t, rod_feature(kind), J);
    ti_rod_columns(&g.rod, &capsule, false, t, rod_feature(kind), COL_SHAPE, J);
}
