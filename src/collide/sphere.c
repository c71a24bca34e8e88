/* sphere.c -- a sphere and a plane, a sphere, a box. Derivations: docs/math.md, from "Plane and sphere" on. */
#include "collide/pairs.h"

/* ---- plane and sphere ---- */

int ti_collide_plane_sphere(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    ti_vec n = ti_col(&a->R, 2);
    double gap = ti_dot(n, ti_sub(b->x, a->x)) - b->size.x;
    if (ti_beyond(gap, margin)) return 0;
    *out = (ti_touch){ti_axpy(b->x, -(b->size.x + 0.5 * gap), n), n, gap, 0, 0};
    return 1;
}

void ti_collide_plane_sphere_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    ti_vec n = t->normal;
    double reach = b->size.x + 0.5 * t->gap, nn[3] = {n.x, n.y, n.z};
    int B = COL_SHAPE;
    ti_vec lever = ti_cross(n, ti_sub(b->x, a->x));
    double l[3] = {lever.x, lever.y, lever.z};
    ti_put_row(&J[ROW_GAP][COL_X], ti_scale(-1, n));
    ti_put_row(&J[ROW_GAP][COL_W], lever);
    ti_put_row(&J[ROW_GAP][B + COL_X], n);
    J[ROW_GAP][B + COL_H] = -1;
    ti_put_cross(&J[ROW_NORMAL], COL_W, -1, n);
    ti_put_cross(&J[ROW_POINT], COL_W, reach, n);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double half = 0.5 * nn[i] * nn[j];
            J[i][COL_X + j] = half;
            J[i][B + COL_X + j] = (i == j) - half;
            J[i][COL_W + j] -= 0.5 * nn[i] * l[j];
        }
        J[i][B + COL_H] = -0.5 * nn[i];
    }
}

/* ---- two spheres ---- */

/* Concentric spheres have no normal of their own: they are given z, feature 1, and a normal that does not move. */
int ti_collide_sphere_sphere(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    ti_vec d = ti_sub(b->x, a->x);
    double dist = ti_norm(d), gap = dist - (a->size.x + b->size.x);
    if (ti_beyond(gap, margin)) return 0;
    ti_vec n = dist == 0 ? ti_vec3(0, 0, 1) : ti_scale(1 / dist, d);
    *out = (ti_touch){ti_axpy(a->x, 0.5 * (dist + a->size.x - b->size.x), n), n, gap, dist == 0, 0};
    return 1;
}

void ti_collide_sphere_sphere_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    double nn[3] = {t->normal.x, t->normal.y, t->normal.z};
    double dist = ti_norm(ti_sub(b->x, a->x)), reach = 0.5 * (dist + a->size.x - b->size.x);
    double turn = t->feature ? 0 : 1 / dist;
    int B = COL_SHAPE;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double along = nn[i] * nn[j], across = turn * ((i == j) - along);
            double point = 0.5 * along + reach * across;
            J[ROW_NORMAL + i][B + j] = across, J[ROW_NORMAL + i][j] = -across;
            J[i][B + j] = point, J[i][j] = (i == j) - point;
        }
        J[i][COL_H] = 0.5 * nn[i], J[i][B + COL_H] = -0.5 * nn[i];
        J[ROW_GAP][B + i] = nn[i], J[ROW_GAP][i] = -nn[i];
    }
    J[ROW_GAP][COL_H] = J[ROW_GAP][B + COL_H] = -1;
}

/* ---- sphere and box ---- */

/* The feature holds, for each axis of the box, two bits: 0 where the centre lies within the box along it, 1 where it
 * is beyond the negative face, 2 beyond the positive one. A centre inside counts as beyond its nearest face, by a
 * negative distance: the same formulas, continuous through the face. */
static double beyond_sign(int feature, int axis) {
    int bits = feature >> (2 * axis) & 3;
    return bits == 0 ? 0.0 : bits == 1 ? -1.0 : 1.0;
}

/* Feature of a centre p (box frame) inside the box of half extents h; the first of equally near faces. */
static int nearest_face(const double *p, const double *h) {
    int axis = 0;
    for (int i = 1; i < 3; i++)
        if (h[i] - fabs(p[i]) < h[axis] - fabs(p[axis])) axis = i;
    return (p[axis] >= 0 ? 2 : 1) << (2 * axis);
}

int ti_collide_sphere_box(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    ti_vec pv = ti_tmul(&b->R, ti_sub(a->x, b->x));
    double p[3] = {pv.x, pv.y, pv.z}, h[3] = {b->size.x, b->size.y, b->size.z}, d[3], q[3];
    int feature = 0;
    for (int i = 0; i < 3; i++) feature |= (!(p[i] <= h[i]) ? 2 : p[i] < -h[i] ? 1 : 0) << (2 * i); /* NaN: 2 */
    int inside = feature == 0;
    if (inside) feature = nearest_face(p, h);
    double square = 0, sum = 0;
    for (int i = 0; i < 3; i++) {
        double s = beyond_sign(feature, i);
        q[i] = s != 0 ? s * h[i] : p[i];
        d[i] = p[i] - q[i];
        square += d[i] * d[i], sum += s * d[i];
    }
    /* On one face the distance is its only component, exactly and with its sign. */
    int one = (feature & (feature - 1)) == 0;
    double dist = one ? sum : sqrt(square), gap = dist - a->size.x;
    if (ti_beyond(gap, margin)) return 0;
    ti_vec u;
    if (one)
        u = ti_vec3(beyond_sign(feature, 0), beyond_sign(feature, 1), beyond_sign(feature, 2));
    else
        u = ti_scale(1 / dist, ti_load3(d));
    ti_vec n = ti_scale(-1, ti_mul(&b->R, u)), surface = ti_add(b->x, ti_mul(&b->R, ti_load3(q)));
    *out = (ti_touch){ti_axpy(surface, -0.5 * gap, n), n, gap, feature, 0};
    return 1;
}

/* docs/math.md eq. (18)-(20): N = -n, K projects on the axes beyond which the centre lies, T = (K - NN')/dist. */
void ti_collide_sphere_box_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    ti_vec n = t->normal, r = ti_sub(a->x, b->x);
    double nn[3] = {n.x, n.y, n.z}, dist = t->gap + a->size.x;
    int B = COL_SHAPE, one = (t->feature & (t->feature - 1)) == 0;
    double turn = one ? 0 : 1 / dist;
    ti_vec onto = ti_axpy(a->x, dist, n), arm = ti_sub(onto, b->x); /* the point of the box, from its centre */
    double K[3][3] = {{0}}, T[3][3];
    for (int k = 0; k < 3; k++) {
        double s = beyond_sign(t->feature, k);
        if (s == 0) continue;
        ti_vec ev = ti_col(&b->R, k);
        double e[3] = {ev.x, ev.y, ev.z}, ne = ti_dot(n, ev);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) K[i][j] += e[i] * e[j];
            J[i][B + COL_H + k] = s * e[i];
            J[ROW_NORMAL + i][B + COL_H + k] = turn * s * (e[i] - nn[i] * ne);
        }
        J[ROW_GAP][B + COL_H + k] = s * ne;
    }
    ti_vec lever = ti_cross(r, n);
    ti_put_row(&J[ROW_GAP][B + COL_W], lever);
    J[ROW_GAP][COL_H] = -1;
    ti_put_cross(&J[ROW_NORMAL], B + COL_W, -1, n);
    ti_put_cross(&J[ROW_POINT], B + COL_W, -1, arm);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            T[i][j] = turn * (K[i][j] - nn[i] * nn[j]);
            J[ROW_NORMAL + i][j] = -T[i][j], J[ROW_NORMAL + i][B + j] = T[i][j];
            J[i][j] = (i == j) - K[i][j], J[i][B + j] = K[i][j];
        }
        J[ROW_GAP][i] = -nn[i], J[ROW_GAP][B + i] = nn[i];
    }
    /* Turning the box by w moves the centre in its frame by -w x r: row i of M times [r]x is (M_i x r)'. */
    for (int i = 0; i < 3; i++) {
        ti_vec Ti = ti_cross(ti_load3(T[i]), r), Fi = ti_cross(ti_load3(J[i]), r);
        double ti[3] = {Ti.x, Ti.y, Ti.z}, fi[3] = {Fi.x, Fi.y, Fi.z};
        for (int j = 0; j < 3; j++) J[ROW_NORMAL + i][B + COL_W + j] -= ti[j], J[i][B + COL_W + j] += fi[j];
    }
    ti_half_way(J, n, t->gap, 0, TI_COLLIDE_COLS);
}

/* As above, turned around: K x, T x. */
bool ti_collide_sphere_box_vjp(const ti_shape *a, const ti_shape *b, const ti_touch *t, const double *in, double *out) {
    ti_vec n = t->normal, r = ti_sub(a->x, b->x), p = ti_load3(in + ROW_POINT), zero = {0, 0, 0}, Kp = zero, Tn = zero;
    double dist = t->gap + a->size.x, *to = out + COL_SHAPE, gap_bar = in[ROW_GAP] - 0.5 * ti_dot(n, p);
    double turn = (t->feature & (t->feature - 1)) == 0 ? 0 : 1 / dist;
    ti_vec n_bar = ti_axpy(ti_load3(in + ROW_NORMAL), -0.5 * t->gap, p);
    for (int k = 0; k < 3; k++) {
        double s = beyond_sign(t->feature, k);
        if (s == 0) continue;
        ti_vec e = ti_col(&b->R, k);
        double ne = ti_dot(n, e), pe = ti_dot(p, e), be = ti_dot(n_bar, e);
        Kp = ti_axpy(Kp, pe, e), Tn = ti_axpy(Tn, turn * be, e);
        to[COL_H + k] = s * (pe + turn * (be - ne * ti_dot(n, n_bar)) + ne * gap_bar);
    }
    Tn = ti_axpy(Tn, -turn * ti_dot(n, n_bar), n);
    ti_vec pushed = ti_axpy(Tn, gap_bar, n), arm = ti_sub(ti_axpy(a->x, dist, n), b->x), left = ti_sub(p, Kp);
    ti_store3(out + COL_X, ti_sub(left, pushed)), ti_store3(to + COL_X, ti_add(Kp, pushed));
    out[COL_H] = -gap_bar;
    ti_vec turned = ti_add(ti_cross(r, ti_sub(pushed, left)), ti_cross(n, n_bar));
    ti_store3(to + COL_W, ti_add(turned, ti_cross(arm, p)));
    return true;
}
