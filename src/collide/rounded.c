/* rounded.c -- boxes and cylinders with round edges: what a ball of that radius fills that rolls inside. It is the same
 * shape with the radius less on each side, and around that all that is no farther than the radius: whatever touches is
 * what the inner shapes give, nearer by the radii. docs/math.md eq. (453), (454). */
#include "collide/pairs.h"
#include "model/shape.h"

ti_shape ti_rounded_inner(const ti_shape *s) {
    ti_shape inner = *s;
    double size[3];
    if (s->edge == 0) return inner;
    ti_store3(size, s->size);
    for (int k = 0; k < ti_shape_of(s->shape)->nsize; k++) size[k] -= s->edge;
    inner.size = ti_load3(size), inner.edge = 0;
    return inner;
}

/* Sharp boxes touch by faces and pairs of edges; round corners also where neither is closest. */
bool ti_rounded_convex(const ti_shape *a, const ti_shape *b) {
    return (a->edge > 0 || b->edge > 0) && a->shape == TRIBO_BOX &&
           (b->shape == TRIBO_BOX || b->shape == TRIBO_CAPSULE);
}

void ti_rounded_out(const ti_shape *a, const ti_shape *b, ti_touch *t) {
    t->gap -= a->edge + b->edge;
    t->point = ti_axpy(t->point, 0.5 * (a->edge - b->edge), t->normal);
}

void ti_rounded_in(const ti_shape *a, const ti_shape *b, ti_touch *t) {
    t->gap += a->edge + b->edge;
    t->point = ti_axpy(t->point, 0.5 * (b->edge - a->edge), t->normal);
}

/* As the radius grows the inner shape shrinks, and what is around it grows. */
static void edge_column(const ti_shape *s, int at, double sign, ti_vec n, ti_touch_jac J) {
    double half[3] = {0.5 * sign * n.x, 0.5 * sign * n.y, 0.5 * sign * n.z};
    if (!ti_shape_of(s->shape)->edged) return;
    for (int r = 0; r < TI_COLLIDE_ROWS; r++) {
        double *row = J[r] + at;
        row[COL_E] = -(row[COL_H] + row[COL_H + 1] + row[COL_H + 2]);
        if (r == ROW_GAP) row[COL_E] -= 1;
        if (r < ROW_NORMAL) row[COL_E] += half[r];
    }
}

void ti_rounded_jac(const ti_shape *a, const ti_shape *b, ti_vec n, ti_touch_jac J) {
    double shift = 0.5 * (a->edge - b->edge);
    for (int i = 0; i < 3 && shift != 0; i++)
        for (int k = 0; k < TI_COLLIDE_COLS; k++) J[i][k] += shift * J[ROW_NORMAL + i][k];
    edge_column(a, 0, 1, n, J), edge_column(b, COL_SHAPE, -1, n, J);
}

static void edge_cotangent(const ti_shape *s, int at, double sign, ti_vec n, const double *in, double *out) {
    double *to = out + at, half = 0.5 * sign * ti_dot(n, ti_load3(in + ROW_POINT));
    if (ti_shape_of(s->shape)->edged) to[COL_E] = half - in[ROW_GAP] - (to[COL_H] + to[COL_H + 1] + to[COL_H + 2]);
}

void ti_rounded_vjp(const ti_shape *a, const ti_shape *b, ti_vec n, const double *in, double *out) {
    edge_cotangent(a, 0, 1, n, in, out), edge_cotangent(b, COL_SHAPE, -1, n, in, out);
}
