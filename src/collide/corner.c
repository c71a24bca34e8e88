/* corner.c -- corners of a box: on a plane, and what a corner's contact depends on. docs/math.md, "A corner on a face".
 */
#include "collide/pairs.h"

int ti_collide_plane_box(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    ti_vec n = ti_col(&a->R, 2), m = ti_tmul(&b->R, n);
    double height = ti_dot(n, ti_sub(b->x, a->x));
    double d[3] = {m.x * b->size.x, m.y * b->size.y, m.z * b->size.z};
    if (ti_beyond(height - fabs(d[0]) - fabs(d[1]) - fabs(d[2]), margin)) return 0;
    int count = 0, most = fabs(d[0]) > fabs(d[1]) ? 0 : 1;
    most = fabs(d[2]) > fabs(d[most]) ? 2 : most;
    int next = (most + 1) % 3, last = (most + 2) % 3;
    for (int corner = 0; corner < 8; corner++) {
        /* The largest first: of a face that lies flat what is left is small, and so is what rounding makes of it. */
        double gap = height + (corner & 1 << most ? d[most] : -d[most]);
        gap += (corner & 1 << next ? d[next] : -d[next]) + (corner & 1 << last ? d[last] : -d[last]);
        if (ti_beyond(gap, margin)) continue;
        ti_vec c = ti_add(b->x, ti_mul(&b->R, ti_corner(b->size, corner)));
        out[count++] = (ti_touch){ti_axpy(c, -0.5 * gap, n), n, gap, corner, 0};
    }
    return count;
}

void ti_collide_plane_box_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    ti_corner_jac(a, b, 0, COL_SHAPE, -1, t->normal, t->feature, t->gap, J);
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
