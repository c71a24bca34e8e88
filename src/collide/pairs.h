/* pairs.h -- what the files of this room share: features in bits, blocks of a derivative. */
#ifndef TI_PAIRS_H
#define TI_PAIRS_H
#include "collide/touch.h"
#include <stdbool.h>

/* Rows of a derivative and where the columns of its two shapes begin: centre, rotation, size, edges of a, then of b. */
enum { ROW_POINT = 0, ROW_NORMAL = 3, ROW_GAP = 6 };
enum { COL_X = 0, COL_W = 3, COL_H = 6, COL_E = 9, COL_SHAPE = TI_SHAPE_COLS };

/* Contacts are left out where gap > margin; written so that a NaN stays in and is seen. */
static inline int ti_beyond(double gap, double margin) {
    return gap > margin;
}

/* A corner of a box is three bits, bit i set where it lies on the positive side of axis i. */
static inline double ti_corner_sign(int corner, int axis) {
    return (corner >> axis & 1) ? 1.0 : -1.0;
}

/* Local coordinates of a corner. */
static inline ti_vec ti_corner(ti_vec h, int corner) {
    return ti_vec3(ti_corner_sign(corner, 0) * h.x, ti_corner_sign(corner, 1) * h.y, ti_corner_sign(corner, 2) * h.z);
}

/* v' in one row. */
static inline void ti_put_row(double *row, ti_vec v) {
    row[0] = v.x, row[1] = v.y, row[2] = v.z;
}

/* v in one column of three rows. */
static inline void ti_put_col(double (*rows)[TI_COLLIDE_COLS], int col, ti_vec v) {
    rows[0][col] = v.x, rows[1][col] = v.y, rows[2][col] = v.z;
}

/* s [v]x, the matrix of w -> s v x w, in three rows from column col on. */
static inline void ti_put_cross(double (*rows)[TI_COLLIDE_COLS], int col, double s, ti_vec v) {
    rows[0][col] = 0, rows[0][col + 1] = -s * v.z, rows[0][col + 2] = s * v.y;
    rows[1][col] = s * v.z, rows[1][col + 1] = 0, rows[1][col + 2] = -s * v.x;
    rows[2][col] = -s * v.y, rows[2][col + 1] = s * v.x, rows[2][col + 2] = 0;
}

/* A 3 by 3 block. */
static inline void ti_put_mat(double (*rows)[TI_COLLIDE_COLS], int col, const ti_mat *M) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) rows[i][col + j] = M->m[i][j];
}

/* From the derivative of the point c of one surface (in the rows of the point), of the normal n of the other and of
 * the gap g, both outward, to that of the point half way, c - g n / 2. Columns [from, to). */
static inline void ti_half_way(ti_touch_jac J, ti_vec n, double g, int from, int to) {
    double nn[3] = {n.x, n.y, n.z};
    for (int i = 0; i < 3; i++)
        for (int k = from; k < to; k++) J[i][k] -= 0.5 * (nn[i] * J[ROW_GAP][k] + g * J[ROW_NORMAL + i][k]);
}

/* The pairs, each a row of the table in collide.c: contacts, and below them in the same file the derivative of one with
 * its feature held, into a J that is zero. */
typedef int ti_collide_fn(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out);
typedef void ti_collide_jac_fn(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J);
ti_collide_fn ti_collide_plane_sphere, ti_collide_plane_box, ti_collide_sphere_sphere, ti_collide_sphere_box,
    ti_collide_box_box, ti_collide_plane_capsule, ti_collide_sphere_capsule, ti_collide_box_capsule,
    ti_collide_capsule_capsule, ti_collide_plane_convex, ti_collide_convex, ti_collide_field;
ti_collide_jac_fn ti_collide_plane_sphere_jac, ti_collide_plane_box_jac, ti_collide_sphere_sphere_jac,
    ti_collide_sphere_box_jac, ti_collide_box_box_jac, ti_collide_plane_capsule_jac, ti_collide_sphere_capsule_jac,
    ti_collide_box_capsule_jac, ti_collide_capsule_capsule_jac, ti_collide_convex_jac, ti_collide_field_jac;

/* The reverse of such a derivative, from cotangents of point, normal and gap, in (TI_COLLIDE_ROWS), to those of the two
 * shapes, out (TI_COLLIDE_COLS), which is zero. @return false where there is none of this feature. */
typedef bool ti_collide_vjp_fn(const ti_shape *a, const ti_shape *b, const ti_touch *t, const double *in, double *out);
ti_collide_vjp_fn ti_collide_plane_sphere_vjp, ti_collide_plane_box_vjp, ti_collide_plane_capsule_vjp,
    ti_collide_sphere_box_vjp, ti_collide_box_box_vjp, ti_collide_level_vjp;

/* The core of a or b as a ball, and it and the other shape in the order of tribo_shape. @return whether that is the
 * other way round. */
bool ti_core_pair(const ti_shape *a, const ti_shape *b, int core, ti_shape *ball, const ti_shape **first,
                  const ti_shape **second);
/* From the derivative of such a pair to that of a and b. */
void ti_core_columns(const ti_shape *a, const ti_shape *b, int core, bool swapped, ti_touch_jac J);

/* A shape with round edges is its inner one, sharp, and what is around that; which contacts of boxes that are round are
 * those of convex shapes; from a contact of inner shapes to that of the round ones and back, and from its derivative.
 */
ti_shape ti_rounded_inner(const ti_shape *s);
bool ti_rounded_convex(const ti_shape *a, const ti_shape *b);
void ti_rounded_out(const ti_shape *a, const ti_shape *b, ti_touch *t);
void ti_rounded_in(const ti_shape *a, const ti_shape *b, ti_touch *t);
void ti_rounded_jac(const ti_shape *a, const ti_shape *b, ti_vec n, ti_touch_jac J);
/* The reverse of that, of sharp ones. */
void ti_rounded_vjp(const ti_shape *a, const ti_shape *b, ti_vec n, const double *in, double *out);

/* The closest points of two shapes that are no planes, at any distance. */
bool ti_convex_distance(const ti_shape *a, const ti_shape *b, ti_touch *t);

/* Derivative of a corner of the box Q over a plane with outward normal n (world) that belongs to P; at_p and at_q are
 * the first columns of P and Q, h_p the column of the size the plane moves with, or -1. J starts as zeros; the rows
 * of the normal come out as those of n. docs/math.md eq. (21), (22). */
void ti_corner_jac(const ti_shape *P, const ti_shape *Q, int at_p, int at_q, int h_p, ti_vec n, int corner, double gap,
                   ti_touch_jac J);

/* A feature of two boxes: its kind in two bits, then in one bit whether the reference box is b, then what the kind
 * needs. A face is twice its axis plus one if it is the positive one; a corner is three bits as above. Edges with that
 * bit set are contacts of two level faces. */
enum { KIND_CORNER, KIND_CLIP, KIND_UNDER, KIND_EDGES, KIND_LEVEL = KIND_EDGES | 1 << 2 };

/* The box Q seen from the reference box P whose face, `axis` and `sign`, is turned to it. */
typedef struct ti_face_pair {
    const ti_shape *P, *Q;
    double C[3][3], r[3]; /* axes of Q as columns, and its centre, in the frame of P */
    int axis, is_b;       /* is_b: P is the second of the pair */
    double sign;
} ti_face_pair;

/* Contacts of Q's face that looks at the reference face, within its footprint; with `always` at least Q's deepest
 * corner, wherever it is. @return how many. */
int ti_collide_face(const ti_face_pair *f, double margin, int always, ti_touch *out);
void ti_collide_face_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J);

/* Contacts between two faces of equal standing; a face is numbered as in a feature. @return how many. */
int ti_collide_level(const ti_shape *a, const ti_shape *b, int face_a, int face_b, double margin, ti_touch *out);
void ti_collide_level_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J);

#endif
