/* corner.c -- corners of a box: on a plane, and what a corner's contact depends on. docs/math.md, "A corner on a face".
 */
#include "collide/pairs.h"

/* Of the corners, whose bits of each half edge are beside it. */
static void heights(double middle, double x, int bx, double y, int by, double z, int bz, double above[8]) {
    double low = middle - x, high = middle + x, sum = y + z, other = y - z;
    above[0] = low - sum, above[by | bz] = low + sum, above[by] = low + other, above[bz] = low - other;
    above[bx] = high - sum, above[bx | by | bz] = high + sum, above[bx | by] = high + other,
    above[bx | bz] = high - other;
}

int ti_collide_plane_box(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    ti_vec n = ti_col(&a->R, 2), m = ti_tmul(&b->R, n);
    double height = ti_dot(n, ti_sub(b->x, a->x));
    double d[3] = {m.x * b->size.x, m.y * b->size.y, m.z * b->size.z}, above[8];
    if (ti_beyond(height - fabs(d[0]) - fabs(d[1]) - fabs(d[2]), margin)) return 0;
    /* The largest first: of a face that lies flat what is left is small, and so is what rounding makes of it. */
    if (fabs(d[2]) >= fabs(d[0]) && fabs(d[2]) >= fabs(d[1]))
        heights(height, d[2], 4, d[0], 1, d[1], 2, above);
    else if (fabs(d[1]) >= fabs(d[0]))
        heights(height, d[1], 2, d[2], 4, d[0], 1, above);
    else
        heights(height, d[0], 1, d[1], 2, d[2], 4, above);
    int count = 0;
    for (int corner = 0; corner < 8; corner++) {
        double gap = above[corner];
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
