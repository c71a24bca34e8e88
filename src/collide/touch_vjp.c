/* touch_vjp.c -- the reverse of a contact through its two shapes: of the pairs that are everywhere in closed form,
 * which is what their derivatives are turned around; of others by those themselves.
 *
 * Cotangents go from point, normal and gap (7) to centre, rotation, size and edges of both shapes, into zeros. Where
 * the point is half way from a point x of one surface, x - s g n, those of x, n and g are p, n_bar - s g p and g_bar -
 * s n'p.
 */
#include "collide/capsule.h"
#include "collide/pairs.h"

typedef struct touch_bar {
    ti_vec point, normal;
    double gap;
} touch_bar;

static touch_bar bar_of(const double *in) {
    return (touch_bar){ti_load3(in + ROW_POINT), ti_load3(in + ROW_NORMAL), in[ROW_GAP]};
}

/* Of a point on a surface, a share s of the gap from half way. */
static touch_bar from_half_way(touch_bar bar, ti_vec n, double gap, double s) {
    bar.gap -= s * ti_dot(n, bar.point);
    bar.normal = ti_axpy(bar.normal, -s * gap, bar.point);
    return bar;
}

/* Of a plane with normal n, to its centre and rotation; r: the other point seen from there. */
static void plane(const touch_bar *bar, ti_vec n, ti_vec r, double *out) {
    ti_add3(out + COL_X, ti_scale(-bar->gap, n));
    ti_add3(out + COL_W, ti_cross(n, ti_axpy(bar->normal, bar->gap, r)));
}

/* ---- on a plane ---- */

/* To the centre of the ball, and its radius. */
static ti_vec ball_on_plane(const ti_shape *a, ti_vec x, double radius, const ti_touch *t, const double *in,
                            double *radius_bar, double *out) {
    ti_vec n = t->normal;
    touch_bar bar = from_half_way(bar_of(in), n, t->gap, 0.5);
    bar.normal = ti_axpy(bar.normal, -radius, bar.point);
    *radius_bar = -ti_dot(n, bar.point) - bar.gap;
    plane(&bar, n, ti_sub(x, a->x), out);
    return ti_axpy(bar.point, bar.gap, n);
}

bool ti_collide_plane_sphere_vjp(const ti_shape *a, const ti_shape *b, const ti_touch *t, const double *in,
                                 double *out) {
    double *to = out + COL_SHAPE;
    ti_store3(to + COL_X, ball_on_plane(a, b->x, b->size.x, t, in, to + COL_H, out));
    return true;
}

bool ti_collide_plane_capsule_vjp(const ti_shape *a, const ti_shape *b, const ti_touch *t, const double *in,
                                  double *out) {
    ti_shape ball = ti_capsule_end(b, t->feature);
    double *to = out + COL_SHAPE;
    ti_vec x_bar = ball_on_plane(a, ball.x, ball.size.x, t, in, to + COL_H, out);
    ti_vec arm = ti_sub(ball.x, b->x);
    ti_store3(to + COL_X, x_bar), ti_store3(to + COL_W, ti_cross(arm, x_bar));
    to[COL_H + 1] = ti_dot(x_bar, ti_col(&b->R, 2)) * (t->feature == TI_ROD_FRONT ? 1 : -1);
    return true;
}

/* docs/math.md eq. (21), (22): as ti_corner_jac(). */
static void corner(const ti_shape *P, const ti_shape *Q, ti_vec n, int corner, double gap, touch_bar bar, double *to_p,
                   double *to_q) {
    ti_vec arm = ti_mul(&Q->R, ti_corner(Q->size, corner)), r = ti_add(ti_sub(Q->x, P->x), arm);
    bar = from_half_way(bar, n, gap, 0.5);
    plane(&bar, n, r, to_p);
    ti_vec x_bar = ti_axpy(bar.point, bar.gap, n), own = ti_tmul(&Q->R, x_bar);
    ti_add3(to_q + COL_X, x_bar), ti_add3(to_q + COL_W, ti_cross(arm, x_bar));
    for (int l = 0; l < 3; l++) to_q[COL_H + l] += ti_corner_sign(corner, l) * ti_get(own, l);
}

bool ti_collide_plane_box_vjp(const ti_shape *a, const ti_shape *b, const ti_touch *t, const double *in, double *out) {
    corner(a, b, t->normal, t->feature, t->gap, bar_of(in), out, out + COL_SHAPE);
    return true;
}

/* ---- two boxes ---- */

/* A corner on a face, which moves with one of its box's sizes. */
static void corner_on_face(const ti_shape *a, const ti_shape *b, const ti_touch *t, const double *in, double *out) {
    int is_b = t->feature >> 2 & 1, axis = t->feature >> 4 & 3;
    const ti_shape *P = is_b ? b : a, *Q = is_b ? a : b;
    double *to_p = out + (is_b ? COL_SHAPE : 0), *to_q = out + (is_b ? 0 : COL_SHAPE);
    touch_bar bar = bar_of(in);
    ti_vec n = t->normal;
    if (is_b) n = ti_scale(-1, n), bar.normal = ti_scale(-1, bar.normal);
    corner(P, Q, n, t->feature >> 6 & 7, t->gap, bar, to_p, to_q);
    to_p[COL_H + axis] -= bar.gap - 0.5 * ti_dot(n, bar.point);
}

bool ti_collide_box_box_vjp(const ti_shape *a, const ti_shape *b, const ti_touch *t, const double *in, double *out) {
    if ((t->feature & 7) == KIND_LEVEL) return ti_collide_level_vjp(a, b, t, in, out);
    if ((t->feature & 3) != KIND_CORNER) return false;
    corner_on_face(a, b, t, in, out);
    return true;
}
