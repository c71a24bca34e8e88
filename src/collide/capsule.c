/* capsule.c -- a capsule and a plane, a sphere, another capsule. docs/math.md, "Capsules". */
#include "collide/capsule.h"

ti_rod ti_rod_of(const ti_shape *s) {
    bool long_ = s->shape == TRIBO_CAPSULE;
    return (ti_rod){s->x, long_ ? ti_col(&s->R, 2) : ti_vec3(0, 0, 0), long_ ? s->size.y : 0, s->size.x};
}

/* Tangents of a rod in a shape's nine directions. */
static ti_rod rod_direction(const ti_rod *rod, int k) {
    ti_rod d = {{0, 0, 0}, {0, 0, 0}, 0, 0};
    double e[3] = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
    if (k < COL_W) d.x = ti_load3(e);
    if (k >= COL_W && k < COL_H) d.a = ti_cross(ti_load3(e), rod->a);
    d.r = k == COL_H, d.l = k == COL_H + 1 && rod->l > 0;
    return d;
}

void ti_put_touch(ti_touch_jac J, int col, const ti_touch *dot) {
    ti_put_col(&J[ROW_POINT], col, dot->point);
    ti_put_col(&J[ROW_NORMAL], col, dot->normal);
    J[ROW_GAP][col] = dot->gap;
}

/* Columns of rod b from `at` on, a held; `swapped`: it is the first of the two. */
void ti_rod_columns(const ti_rod *still, const ti_rod *rod, bool first, const ti_touch *t, int feature, int at,
                    ti_touch_jac J) {
    static const ti_rod none = {{0, 0, 0}, {0, 0, 0}, 0, 0};
    for (int k = 0; k < COL_E; k++) {
        ti_rod d = rod_direction(rod, k);
        ti_touch dot;
        if (first)
            ti_rod_touch_jvp(rod, still, t, feature, &d, &none, &dot);
        else
            ti_rod_touch_jvp(still, rod, t, feature, &none, &d, &dot);
        ti_put_touch(J, at + k, &dot);
    }
}

/* ---- plane: its two ends, each as a sphere ---- */

ti_shape ti_capsule_end(const ti_shape *c, int end) {
    ti_shape ball = {.shape = TRIBO_SPHERE, .x = c->x, .R = c->R, .size = ti_vec3(c->size.x, 0, 0)};
    ball.x = ti_axpy(c->x, end == TI_ROD_FRONT ? c->size.y : -c->size.y, ti_col(&c->R, 2));
    return ball;
}

void ti_capsule_end_columns(const ti_shape *c, int end, int at, ti_touch_jac J) {
    double sign = end == TI_ROD_FRONT ? 1 : -1;
    ti_vec axis = ti_col(&c->R, 2), arm = ti_scale(sign * c->size.y, axis);
    for (int i = 0; i < TI_COLLIDE_ROWS; i++) {
        ti_vec by_x = ti_load3(&J[i][at + COL_X]);
        ti_put_row(&J[i][at + COL_W], ti_cross(arm, by_x)); /* by_x . (w x arm) */
        J[i][at + COL_H + 1] = sign * ti_dot(by_x, axis);
    }
}

int ti_collide_plane_capsule(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    int count = 0;
    for (int end = TI_ROD_BACK; end <= TI_ROD_FRONT; end++) {
        ti_shape ball = ti_capsule_end(b, end);
        if (!ti_collide_plane_sphere(a, &ball, margin, &out[count])) continue;
        out[count++].feature = end;
    }
    return count;
}

void ti_collide_plane_capsule_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    ti_shape ball = ti_capsule_end(b, t->feature);
    ti_collide_plane_sphere_jac(a, &ball, t, J);
    ti_capsule_end_columns(b, t->feature, COL_SHAPE, J);
}

/* ---- sphere ---- */

/* Where on a rod the nearest point to x is. */
static int side_of(const ti_rod *rod, ti_vec x) {
    double s = ti_rod_foot(rod, x);
    return s > rod->l ? TI_ROD_FRONT : s < -rod->l ? TI_ROD_BACK : TI_ROD_INSIDE;
}

static int keep(const ti_rod *a, const ti_rod *b, int feature, double margin, ti_touch *out) {
    *out = ti_rod_touch(a, b, feature, ti_vec3(0, 0, 0));
    return !ti_beyond(out->gap, margin);
}

int ti_collide_sphere_capsule(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    ti_rod ball = ti_rod_of(a), rod = ti_rod_of(b);
    return keep(&ball, &rod, ti_rod_feature(TI_ROD_BACK, side_of(&rod, ball.x)), margin, out);
}

static void rods_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    ti_rod A = ti_rod_of(a), B = ti_rod_of(b);
    ti_rod_columns(&B, &A, true, t, t->feature, 0, J);
    ti_rod_columns(&A, &B, false, t, t->feature, COL_SHAPE, J);
}

void ti_collide_sphere_capsule_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    rods_jac(a, b, t, J);
}

/* ---- two capsules ---- */

/* The nearest points of two segments are among these: where they cross; an end and its foot inside the other; two ends,
 * each beyond the other. Ends with a foot are contacts even where they are not the nearest points, since capsules that
 * lie along one another rest on two of them: they ask for nothing that the shapes do not. */
int ti_collide_capsule_capsule(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    ti_rod A = ti_rod_of(a), B = ti_rod_of(b);
    int count = 0, above[2], below[2]; /* of each end of A, where its foot is on B; of B's on A */
    for (int end = 0; end < 2; end++) {
        above[end] = side_of(&B, ti_rod_point(&A, ti_rod_end(&A, end)));
        below[end] = side_of(&A, ti_rod_point(&B, ti_rod_end(&B, end)));
    }
    double s, t;
    if (ti_rod_cross(&A, &B, &s, &t) && !(fabs(s) >= A.l) && !(fabs(t) >= B.l))
        count += keep(&A, &B, ti_rod_feature(TI_ROD_INSIDE, TI_ROD_INSIDE), margin, &out[count]);
    for (int i = 0; i < 2; i++) {
        if (above[i] == TI_ROD_INSIDE)
            count += keep(&A, &B, ti_rod_feature(i, TI_ROD_INSIDE), margin, &out[count]);
        else if (below[above[i]] == i)
            count += keep(&A, &B, ti_rod_feature(i, above[i]), margin, &out[count]);
        double foot = ti_rod_foot(&A, ti_rod_point(&B, ti_rod_end(&B, i)));
        bool by_end = fabs(foot) >= A.l && above[foot > 0 ? TI_ROD_FRONT : TI_ROD_BACK] == TI_ROD_INSIDE;
        if (below[i] == TI_ROD_INSIDE && !by_end)
            count += keep(&A, &B, ti_rod_feature(TI_ROD_INSIDE, i), margin, &out[count]);
    }
    return count;
}

void ti_collide_capsule_capsule_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    rods_jac(a, b, t, J);
}
