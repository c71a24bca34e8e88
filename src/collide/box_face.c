/* box_face.c -- contacts of a box on the face of another: corners, clipped edges, corners below.
 *
 * The polygon common to the reference face and the shadow on it of the face that looks at it has three kinds of
 * corners; each is a contact with formulas of its own. Derivations: docs/math.md, Two boxes.
 */
#include "collide/pairs.h"

/* A corner of the incident face counts as inside the reference face up to this share of the smaller half extent
 * beyond it, and points closer than twice that are one. Boxes of equal size on one another so touch in their four
 * corners, not in the eight points of two squares turned by a rounding error. */
#define SLACK 1e-4

enum { CORNERS = 4 };

/* Points kept so far, in the reference face: u, v, and the gap above it. */
typedef struct polygon {
    double margin, merge;
    int count;
    double u[TI_CONTACTS_MAX], v[TI_CONTACTS_MAX], g[TI_CONTACTS_MAX];
    int feature[TI_CONTACTS_MAX];
} polygon;

static void keep(polygon *y, double u, double v, double g, int feature) {
    if (g > y->margin || y->count == TI_CONTACTS_MAX) return;
    for (int k = 0; k < y->count; k++)
        if (fabs(u - y->u[k]) < y->merge && fabs(v - y->v[k]) < y->merge) return;
    int n = y->count++;
    y->u[n] = u, y->v[n] = v, y->g[n] = g, y->feature[n] = feature;
}

/* The incident face in the coordinates of the reference face: middle, half edges, corners in order. */
typedef struct incident {
    int axis, edge1, edge2; /* of Q */
    double sign;
    double mid[3], e1[3], e2[3]; /* u, v, gap */
    double at[CORNERS][3];
    int corner[CORNERS];
} incident;

/* Q's face most opposed to the reference face; the first of equals. */
static void find_incident(const ti_face_pair *f, incident *q) {
    static const double side1[CORNERS] = {-1, 1, 1, -1}, side2[CORNERS] = {-1, -1, 1, 1};
    int k = f->axis, rows[3] = {(k + 1) % 3, (k + 2) % 3, k};
    double hq[3] = {f->Q->size.x, f->Q->size.y, f->Q->size.z};
    q->axis = 0;
    for (int j = 1; j < 3; j++)
        if (fabs(f->C[k][j]) > fabs(f->C[k][q->axis])) q->axis = j;
    q->sign = f->sign * f->C[k][q->axis] > 0 ? -1 : 1;
    q->edge1 = (q->axis + 1) % 3, q->edge2 = (q->axis + 2) % 3;
    for (int i = 0; i < 3; i++) {
        int row = rows[i];
        double s = i == 2 ? f->sign : 1;
        q->mid[i] = s * (f->r[row] + q->sign * hq[q->axis] * f->C[row][q->axis]);
        q->e1[i] = s * hq[q->edge1] * f->C[row][q->edge1];
        q->e2[i] = s * hq[q->edge2] * f->C[row][q->edge2];
    }
    q->mid[2] -= ti_get(f->P->size, k);
    for (int c = 0; c < CORNERS; c++) {
        for (int i = 0; i < 3; i++) q->at[c][i] = q->mid[i] + side1[c] * q->e1[i] + side2[c] * q->e2[i];
        q->corner[c] = (q->sign > 0) << q->axis | (side1[c] > 0) << q->edge1 | (side2[c] > 0) << q->edge2;
    }
}

/* The part [t[0], t[1]] of a segment on the inner side of a plane, d0 and d1 beyond it at the ends; cut[] remembers
 * which plane it was. A segment along the plane, beyond it by no more than the slack, is left whole. */
static int cut_segment(double d0, double d1, double slack, int plane, double *t, int *cut) {
    if (d0 <= slack && d1 <= slack) return 1;
    if (d0 > slack && d1 > slack) return 0;
    double at = d0 / (d0 - d1);
    if (d0 > d1 && at > t[0]) t[0] = at, cut[0] = plane;
    if (d0 < d1 && at < t[1]) t[1] = at, cut[1] = plane;
    return t[0] < t[1];
}

/* Where the edges of the incident face cross the side planes of the reference face: planes 0 to 3 are -u +u -v +v. */
static void keep_clips(const ti_face_pair *f, const incident *q, double hu, double hv, double slack, polygon *y) {
    static const int from[CORNERS] = {0, 1, 3, 0}, to[CORNERS] = {1, 2, 2, 3};
    int base = KIND_CLIP | f->is_b << 2 | (2 * f->axis + (f->sign > 0)) << 3;
    for (int e = 0; e < CORNERS; e++) {
        const double *a = q->at[from[e]], *b = q->at[to[e]];
        double t[2] = {0, 1};
        int cut[2] = {-1, -1};
        if (!cut_segment(-hu - a[0], -hu - b[0], slack, 0, t, cut)) continue;
        if (!cut_segment(a[0] - hu, b[0] - hu, slack, 1, t, cut)) continue;
        if (!cut_segment(-hv - a[1], -hv - b[1], slack, 2, t, cut)) continue;
        if (!cut_segment(a[1] - hv, b[1] - hv, slack, 3, t, cut)) continue;
        int edge = e & 1 ? q->edge2 : q->edge1;
        for (int k = 0; k < 2; k++) {
            if (cut[k] < 0) continue;
            double p[3];
            for (int i = 0; i < 3; i++) p[i] = a[i] + t[k] * (b[i] - a[i]);
            int side = 2 * ((f->axis + 1 + (cut[k] >> 1)) % 3) + (cut[k] & 1);
            keep(y, p[0], p[1], p[2], base | edge << 6 | q->corner[from[e]] << 8 | side << 11);
        }
    }
}

/* Corners of the reference face under the incident one. Those within rounding of its border count, so that none is
 * lost between them and the clipped edges. */
static void keep_under(const ti_face_pair *f, const incident *q, double hu, double hv, polygon *y) {
    int k = f->axis, u = (k + 1) % 3, v = (k + 2) % 3;
    int base = KIND_UNDER | f->is_b << 2 | (2 * k + (f->sign > 0)) << 3 | (2 * q->axis + (q->sign > 0)) << 9;
    double det = q->e1[0] * q->e2[1] - q->e1[1] * q->e2[0];
    for (int c = 0; c < CORNERS; c++) {
        double pu = c & 1 ? hu : -hu, pv = c & 2 ? hv : -hv, du = pu - q->mid[0], dv = pv - q->mid[1];
        double t1 = (du * q->e2[1] - dv * q->e2[0]) / det, t2 = (q->e1[0] * dv - q->e1[1] * du) / det;
        if (!(fabs(t1) <= 1 + 1e-9 && fabs(t2) <= 1 + 1e-9)) continue;
        int corner = (f->sign > 0) << k | (c & 1) << u | (c >> 1) << v;
        keep(y, pu, pv, q->mid[2] + t1 * q->e1[2] + t2 * q->e2[2], base | corner << 6);
    }
}

int ti_collide_face(const ti_face_pair *f, double margin, int always, ti_touch *out) {
    int k = f->axis, u = (k + 1) % 3, v = (k + 2) % 3;
    double h = ti_get(f->P->size, k), hu = ti_get(f->P->size, u), hv = ti_get(f->P->size, v);
    double slack = SLACK * fmin(hu, hv);
    incident q;
    find_incident(f, &q);
    polygon y = {.margin = margin, .merge = 0};
    int base = KIND_CORNER | f->is_b << 2 | (2 * k + (f->sign > 0)) << 3, inside = 0, deepest = 0;
    for (int c = 0; c < CORNERS; c++) {
        const double *at = q.at[c];
        if (at[2] < q.at[deepest][2]) deepest = c;
        if (fabs(at[0]) > hu + slack || fabs(at[1]) > hv + slack) continue;
        inside++;
        keep(&y, at[0], at[1], at[2], base | q.corner[c] << 6);
    }
    y.merge = 2 * slack;
    if (inside < CORNERS) {
        keep_clips(f, &q, hu, hv, slack, &y);
        keep_under(f, &q, hu, hv, &y);
    }
    if (y.count == 0 && always) { /* a guard: 2e7 random pairs did not need it, but the bias leaves it unproved */
        const double *at = q.at[deepest];
        keep(&y, at[0], at[1], at[2], base | q.corner[deepest] << 6);
    }
    ti_vec n = ti_scale(f->is_b ? -f->sign : f->sign, ti_col(&f->P->R, k));
    for (int i = 0; i < y.count; i++) {
        double p[3];
        p[u] = y.u[i], p[v] = y.v[i], p[k] = f->sign * (h + 0.5 * y.g[i]);
        ti_vec point = ti_add(f->P->x, ti_mul(&f->P->R, ti_load3(p)));
        out[i] = (ti_touch){point, n, y.g[i], y.feature[i], 0};
    }
    return y.count;
}

/* ---- derivatives; n is the outward normal of the reference face ---- */

/* An edge of Q through a side plane of P: c moves along the edge so that it stays in the plane.
 * docs/math.md eq. (23). */
static void clip_jac(const ti_shape *P, const ti_shape *Q, int at_p, int at_q, int face, const ti_touch *t, ti_vec n,
                     ti_touch_jac J) {
    int edge = t->feature >> 6 & 3, corner = t->feature >> 8 & 7, side = t->feature >> 11 & 7;
    ti_vec q = ti_col(&Q->R, edge), m = ti_scale(side & 1 ? 1 : -1, ti_col(&P->R, side >> 1));
    ti_vec c = ti_axpy(t->point, 0.5 * t->gap, n), rp = ti_sub(c, P->x), rq = ti_sub(c, Q->x);
    double k = 1 / ti_dot(m, q), slope = k * ti_dot(n, q);
    ti_vec alpha = ti_axpy(n, -slope, m);
    ti_put_row(&J[ROW_GAP][at_q + COL_X], alpha);
    ti_put_row(&J[ROW_GAP][at_q + COL_W], ti_cross(rq, alpha));
    ti_put_row(&J[ROW_GAP][at_p + COL_X], ti_scale(-1, alpha));
    ti_put_row(&J[ROW_GAP][at_p + COL_W], ti_cross(alpha, rp));
    J[ROW_GAP][at_p + COL_H + (face >> 1)] = -1;
    J[ROW_GAP][at_p + COL_H + (side >> 1)] = slope;
    ti_put_cross(&J[ROW_NORMAL], at_p + COL_W, -1, n);
    double along[3] = {k * q.x, k * q.y, k * q.z};
    for (int i = 0; i < 3; i++) {
        ti_vec with_p = ti_scale(along[i], m),
               with_q = ti_vec3((i == 0) - with_p.x, (i == 1) - with_p.y, (i == 2) - with_p.z);
        ti_put_row(&J[i][at_p + COL_X], with_p);
        ti_put_row(&J[i][at_p + COL_W], ti_cross(rp, with_p));
        ti_put_row(&J[i][at_q + COL_X], with_q);
        ti_put_row(&J[i][at_q + COL_W], ti_cross(rq, with_q));
        J[i][at_p + COL_H + (side >> 1)] = along[i];
    }
    for (int l = 0; l < 3; l++) {
        if (l == edge) continue;
        ti_vec e = ti_scale(ti_corner_sign(corner, l), ti_col(&Q->R, l));
        J[ROW_GAP][at_q + COL_H + l] = ti_dot(alpha, e);
        ti_put_col(&J[ROW_POINT], at_q + COL_H + l, ti_axpy(e, -k * ti_dot(m, e), q));
    }
    ti_half_way(J, n, t->gap, 0, TI_COLLIDE_COLS);
}

/* A corner of P under a face of Q, along the normal of P's face. docs/math.md eq. (24), (25). */
static void under_jac(const ti_shape *P, const ti_shape *Q, int at_p, int at_q, const ti_touch *t, ti_vec n,
                      ti_touch_jac J) {
    int corner = t->feature >> 6 & 7, face = t->feature >> 9 & 7;
    ti_vec f = ti_scale(face & 1 ? 1 : -1, ti_col(&Q->R, face >> 1));
    ti_vec c = ti_axpy(t->point, 0.5 * t->gap, n), rp = ti_sub(c, P->x), rq = ti_sub(c, Q->x);
    double k = 1 / ti_dot(f, n), nn[3] = {n.x, n.y, n.z};
    ti_vec phi = ti_scale(k, f);
    ti_put_row(&J[ROW_GAP][at_p + COL_X], ti_scale(-1, phi));
    ti_put_row(&J[ROW_GAP][at_p + COL_W], ti_cross(phi, rp));
    ti_put_row(&J[ROW_GAP][at_q + COL_X], phi);
    ti_put_row(&J[ROW_GAP][at_q + COL_W], ti_cross(rq, phi));
    J[ROW_GAP][at_q + COL_H + (face >> 1)] = k;
    J[0][at_p] = J[1][at_p + 1] = J[2][at_p + 2] = 1;
    ti_put_cross(&J[ROW_POINT], at_p + COL_W, -1, ti_sub(t->point, P->x));
    for (int l = 0; l < 3; l++) {
        ti_vec e = ti_scale(ti_corner_sign(corner, l), ti_col(&P->R, l));
        J[ROW_GAP][at_p + COL_H + l] = -ti_dot(phi, e);
        ti_put_col(&J[ROW_POINT], at_p + COL_H + l, e);
    }
    for (int i = 0; i < 3; i++)
        for (int col = 0; col < TI_COLLIDE_COLS; col++) J[i][col] += 0.5 * nn[i] * J[ROW_GAP][col];
    ti_put_cross(&J[ROW_NORMAL], at_p + COL_W, -1, n);
}

void ti_collide_face_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    int is_b = t->feature >> 2 & 1, face = t->feature >> 3 & 7;
    const ti_shape *P = is_b ? b : a, *Q = is_b ? a : b;
    int at_p = is_b ? COL_SHAPE : 0, at_q = COL_SHAPE - at_p;
    ti_vec n = ti_scale(is_b ? -1 : 1, t->normal);
    switch (t->feature & 3) {
    case KIND_CORNER:
        ti_corner_jac(P, Q, at_p, at_q, at_p + COL_H + (face >> 1), n, t->feature >> 6 & 7, t->gap, J);
        break;
    case KIND_CLIP:
        clip_jac(P, Q, at_p, at_q, face, t, n, J);
        break;
    default:
        under_jac(P, Q, at_p, at_q, t, n, J);
    }
    if (is_b) /* the contact's normal is the other way */
        for (int i = 0; i < 3; i++)
            for (int col = 0; col < TI_COLLIDE_COLS; col++) J[ROW_NORMAL + i][col] = -J[ROW_NORMAL + i][col];
}
