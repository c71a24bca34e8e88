/* collide.c -- pairs with a plane or a sphere, and the choice among all pairs. Derivations: docs/math.md. */
#include "collide/collide.h"
#include "collide/pairs.h"
#include <string.h>

/* Contacts are left out where gap > margin; written so that a NaN stays in and is seen. */
static int beyond(double gap, double margin) {
    return gap > margin;
}

/* ---- plane and sphere ---- */

static int plane_sphere(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    ti_vec n = ti_col(&a->R, 2);
    double gap = ti_dot(n, ti_sub(b->x, a->x)) - b->size.x;
    if (beyond(gap, margin)) return 0;
    *out = (ti_touch){ti_axpy(b->x, -(b->size.x + 0.5 * gap), n), n, gap, 0};
    return 1;
}

static void plane_sphere_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
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

/* ---- plane and box ---- */

static int plane_box(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    ti_vec n = ti_col(&a->R, 2), m = ti_tmul(&b->R, n);
    double height = ti_dot(n, ti_sub(b->x, a->x));
    double dx = m.x * b->size.x, dy = m.y * b->size.y, dz = m.z * b->size.z;
    if (beyond(height - fabs(dx) - fabs(dy) - fabs(dz), margin)) return 0;
    int count = 0;
    for (int corner = 0; corner < 8; corner++) {
        double gap = height + (corner & 1 ? dx : -dx) + (corner & 2 ? dy : -dy) + (corner & 4 ? dz : -dz);
        if (beyond(gap, margin)) continue;
        ti_vec c = ti_add(b->x, ti_mul(&b->R, ti_corner(b->size, corner)));
        out[count++] = (ti_touch){ti_axpy(c, -0.5 * gap, n), n, gap, corner};
    }
    return count;
}

void ti_corner_jac(const ti_shape *P, const ti_shape *Q, int at_p, int at_q, int h_p, ti_vec n, int corner, double gap,
                   ti_touch_jac J) {
    ti_vec arm = ti_mul(&Q->R, ti_corner(Q->size, corner)), r = ti_add(ti_sub(Q->x, P->x), arm);
    ti_put_row(&J[ROW_GAP][at_p + COL_X], ti_scale(-1, n));
    ti_put_row(&J[ROW_GAP][at_p + COL_W], ti_cross(n, r));
    ti_put_row(&J[ROW_GAP][at_q + COL_X], n);
    ti_put_row(&J[ROW_GAP][at_q + COL_W], ti_cross(arm, n));
    if (h_p >= 0) J[ROW_GAP][h_p] = -1;
    ti_put_cross(&J[ROW_NORMAL], at_p + COL_W, -1, n);
    J[0][at_q] = J[1][at_q + 1] = J[2][at_q + 2] = 1;
    ti_put_cross(&J[ROW_POINT], at_q + COL_W, -1, arm);
    for (int l = 0; l < 3; l++) {
        ti_vec e = ti_scale(ti_corner_sign(corner, l), ti_col(&Q->R, l));
        ti_put_col(&J[ROW_POINT], at_q + COL_H + l, e);
        J[ROW_GAP][at_q + COL_H + l] = ti_dot(n, e);
    }
    ti_half_way(J, n, gap, 0, TI_COLLIDE_COLS);
}

/* ---- two spheres ---- */

/* Concentric spheres have no normal of their own: they are given z, feature 1, and a normal that does not move. */
static int sphere_sphere(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    ti_vec d = ti_sub(b->x, a->x);
    double dist = ti_norm(d), gap = dist - (a->size.x + b->size.x);
    if (beyond(gap, margin)) return 0;
    ti_vec n = dist == 0 ? ti_vec3(0, 0, 1) : ti_scale(1 / dist, d);
    *out = (ti_touch){ti_axpy(a->x, 0.5 * (dist + a->size.x - b->size.x), n), n, gap, dist == 0};
    return 1;
}

static void sphere_sphere_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
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

static int sphere_box(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
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
    if (beyond(gap, margin)) return 0;
    ti_vec u;
    if (one)
        u = ti_vec3(beyond_sign(feature, 0), beyond_sign(feature, 1), beyond_sign(feature, 2));
    else
        u = ti_scale(1 / dist, ti_load3(d));
    ti_vec n = ti_scale(-1, ti_mul(&b->R, u)), surface = ti_add(b->x, ti_mul(&b->R, ti_load3(q)));
    *out = (ti_touch){ti_axpy(surface, -0.5 * gap, n), n, gap, feature};
    return 1;
}

/* docs/math.md eq. (18)-(20): N = -n, K projects on the axes beyond which the centre lies, T = (K - NN')/dist. */
static void sphere_box_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
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

/* ---- all pairs ---- */

int ti_collide(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    switch (a->shape) {
    case TRIBO_PLANE:
        return b->shape == TRIBO_SPHERE ? plane_sphere(a, b, margin, out)
               : b->shape == TRIBO_BOX  ? plane_box(a, b, margin, out)
                                        : 0;
    case TRIBO_SPHERE:
        return b->shape == TRIBO_SPHERE ? sphere_sphere(a, b, margin, out)
               : b->shape == TRIBO_BOX  ? sphere_box(a, b, margin, out)
                                        : 0;
    case TRIBO_BOX:
        return b->shape == TRIBO_BOX ? ti_collide_box_box(a, b, margin, out) : 0;
    }
    return 0;
}

void ti_collide_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    memset(J, 0, sizeof(ti_touch_jac));
    if (a->shape == TRIBO_PLANE && b->shape == TRIBO_SPHERE) plane_sphere_jac(a, b, t, J);
    if (a->shape == TRIBO_PLANE && b->shape == TRIBO_BOX)
        ti_corner_jac(a, b, 0, COL_SHAPE, -1, t->normal, t->feature, t->gap, J);
    if (a->shape == TRIBO_SPHERE && b->shape == TRIBO_SPHERE) sphere_sphere_jac(a, b, t, J);
    if (a->shape == TRIBO_SPHERE && b->shape == TRIBO_BOX) sphere_box_jac(a, b, t, J);
    if (a->shape == TRIBO_BOX && b->shape == TRIBO_BOX) ti_collide_box_box_jac(a, b, t, J);
}

double ti_bound_radius(const ti_shape *s) {
    return s->shape == TRIBO_PLANE ? (double)INFINITY : s->shape == TRIBO_SPHERE ? s->size.x : ti_norm(s->size);
}

void ti_shape_aabb(const ti_shape *s, double inflate, ti_vec *lo, ti_vec *hi) {
    double e[3];
    for (int i = 0; i < 3; i++) {
        const double *R = s->R.m[i];
        double box = fabs(R[0]) * s->size.x + fabs(R[1]) * s->size.y + fabs(R[2]) * s->size.z;
        e[i] = inflate + (s->shape == TRIBO_PLANE ? (double)INFINITY : s->shape == TRIBO_SPHERE ? s->size.x : box);
    }
    *lo = ti_sub(s->x, ti_load3(e)), *hi = ti_add(s->x, ti_load3(e));
}
