/* box_box.c -- two boxes: the axis that separates them best, and contacts of crossing edges.
 *
 * Derivations: docs/math.md, Two boxes. Contacts on a face are in box_face.c.
 */
#include "collide/pairs.h"

/* An edge must be better than a face, and the smaller of two faces than the larger, by this share of the smallest half
 * extent. It keeps boxes at rest on the face contacts of one and the same box while they rock by rounding; what it
 * costs is second order, because the clipped face contacts contain the crossing of the edges. */
#define BIAS 1e-3
/* Faces whose areas differ by a smaller share are equal. */
#define EQUAL 1e-6
/* Equal faces are treated alike up to this sine between them. */
#define LEVEL_WITHIN 1e-2
/* Separations that differ by less, as a share of the smallest half extent, differ by rounding. */
#define ROUNDING 1e-10
/* Edges closer to parallel than this sine have no axis of their own: the faces between them do. */
#define PARALLEL 1e-3

static const int next[3] = {1, 2, 0}, last[3] = {2, 0, 1};

/* The relative pose, in the frame of a; absolute values of C beside it. */
typedef struct poses {
    const ti_shape *a, *b;
    double C[3][3], D[3][3], r[3], rb[3]; /* rb: r in the frame of b */
    double ha[3], hb[3];
} poses;

static void see(poses *p, const ti_shape *a, const ti_shape *b) {
    p->a = a, p->b = b;
    ti_vec d = ti_sub(b->x, a->x);
    ti_store3(p->r, ti_tmul(&a->R, d)), ti_store3(p->rb, ti_tmul(&b->R, d));
    ti_store3(p->ha, a->size), ti_store3(p->hb, b->size);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double c = a->R.m[0][i] * b->R.m[0][j] + a->R.m[1][i] * b->R.m[1][j] + a->R.m[2][i] * b->R.m[2][j];
            p->C[i][j] = c, p->D[i][j] = fabs(c);
        }
}

/* The best face axis of a and of b with its separation; the first of equals. */
static void face_axes(const poses *p, int *axis, double *best) {
    for (int i = 0; i < 3; i++) {
        double sa = fabs(p->r[i]) - p->ha[i] - p->D[i][0] * p->hb[0] - p->D[i][1] * p->hb[1] - p->D[i][2] * p->hb[2];
        double sb = fabs(p->rb[i]) - p->hb[i] - p->D[0][i] * p->ha[0] - p->D[1][i] * p->ha[1] - p->D[2][i] * p->ha[2];
        if (i == 0 || sa > best[0]) axis[0] = i, best[0] = sa;
        if (i == 0 || sb > best[1]) axis[1] = i, best[1] = sb;
    }
}

static double face_area(const double *h, int axis) {
    return h[next[axis]] * h[last[axis]];
}

/* Which of the two best faces is the reference. A box that lies on a larger face rocks about its own corners, on that
 * face: the larger is the reference wherever both separate alike. Of equal faces neither is, as long as they are nearly
 * parallel; beyond, the one that separates better by more than rounding, then a's. */
enum { FACE_OF_A, FACE_OF_B, LEVEL };

static int reference(const poses *p, const int *axis, const double *best, double small) {
    double ahead = best[1] - best[0], bias = BIAS * small;
    if (fabs(ahead) > bias) return ahead > 0 ? FACE_OF_B : FACE_OF_A;
    double area_a = face_area(p->ha, axis[0]), area_b = face_area(p->hb, axis[1]);
    if (area_b > (1 + EQUAL) * area_a) return FACE_OF_B;
    if (area_a > (1 + EQUAL) * area_b) return FACE_OF_A;
    double tilt = 0, facing = p->C[axis[0]][axis[1]] * p->r[axis[0]] * p->rb[axis[1]];
    for (int i = 0; i < 3; i++)
        if (i != axis[0]) tilt += p->C[i][axis[1]] * p->C[i][axis[1]];
    if (tilt < LEVEL_WITHIN * LEVEL_WITHIN && facing > 0) return LEVEL;
    return ahead > ROUNDING * small ? FACE_OF_B : FACE_OF_A;
}

/* The best axis a_i x b_j: *edge = 3 i + j or -1, *best its separation. @return 0 once one is beyond the margin. */
static int edge_axes(const poses *p, double margin, int *edge, double *best) {
    *edge = -1, *best = -(double)INFINITY;
    for (int i = 0; i < 3; i++) {
        int i1 = next[i], i2 = last[i];
        for (int j = 0; j < 3; j++) {
            int j1 = next[j], j2 = last[j];
            double square = p->C[i1][j] * p->C[i1][j] + p->C[i2][j] * p->C[i2][j];
            if (square < PARALLEL * PARALLEL) continue;
            double apart = fabs(p->r[i2] * p->C[i1][j] - p->r[i1] * p->C[i2][j]);
            double reach =
                p->ha[i1] * p->D[i2][j] + p->ha[i2] * p->D[i1][j] + p->hb[j1] * p->D[i][j2] + p->hb[j2] * p->D[i][j1];
            double sep = (apart - reach) / sqrt(square);
            if (sep > margin) return 0;
            if (sep > *best) *edge = 3 * i + j, *best = sep;
        }
    }
    return 1;
}

/* ---- crossing edges ---- */

/* Two edges along a_i and b_j, one of each box, and the axis across them in the frame of a. */
typedef struct crossing {
    int i, j, corner_a, corner_b;
    double n[3], square; /* square of the sine between them */
    ti_vec normal;
} crossing;

/* From the middle of a's edge, ea, to that of b's, in the frame of a. */
static void between_edges(const poses *p, const crossing *e, double *ea, double *d) {
    double eb[3] = {0};
    for (int k = 0; k < 3; k++) {
        ea[k] = k == e->i ? 0 : ti_corner_sign(e->corner_a, k) * p->ha[k];
        eb[k] = k == e->j ? 0 : ti_corner_sign(e->corner_b, k) * p->hb[k];
    }
    int j1 = next[e->j], j2 = last[e->j];
    for (int k = 0; k < 3; k++) d[k] = p->r[k] + p->C[k][j1] * eb[j1] + p->C[k][j2] * eb[j2] - ea[k];
}

/* They are one contact where they pass closest; none where that is beyond their ends. docs/math.md eq. (26). */
static int cross_edges(const poses *p, const crossing *e, double margin, ti_touch *out) {
    double ea[3], d[3], along = 0, c = p->C[e->i][e->j];
    between_edges(p, e, ea, d);
    double gap = d[0] * e->n[0] + d[1] * e->n[1] + d[2] * e->n[2];
    if (gap > margin) return 0;
    for (int k = 0; k < 3; k++) along += d[k] * p->C[k][e->j];
    double ta = (d[e->i] - c * along) / e->square, tb = (c * d[e->i] - along) / e->square;
    if (fabs(ta) > p->ha[e->i] || fabs(tb) > p->hb[e->j]) return 0;
    ea[e->i] = ta;
    ti_vec on_a = ti_add(p->a->x, ti_mul(&p->a->R, ti_load3(ea)));
    *out = (ti_touch){ti_axpy(on_a, 0.5 * gap, e->normal), e->normal, gap,
                      KIND_EDGES | e->i << 3 | e->j << 5 | e->corner_a << 7 | e->corner_b << 10, 0};
    return 1;
}

/* The edges along a_i and b_j that face each other, and with them those beside them on the faces that lean over the
 * other box the least: what rocks on one edge comes down on the next. */
static int cross_all(const poses *p, int i, int j, double margin, ti_touch *out) {
    int i1 = next[i], i2 = last[i], j1 = next[j], j2 = last[j];
    double l1 = -p->C[i2][j], l2 = p->C[i1][j]; /* a_i x b_j along a_i1 and a_i2 */
    double m1 = p->C[i][j2], m2 = -p->C[i][j1]; /* and along b_j1 and b_j2 */
    double s = p->r[i1] * l1 + p->r[i2] * l2 >= 0 ? 1 : -1, length = sqrt(l1 * l1 + l2 * l2);
    crossing e = {.i = i, .j = j, .square = length * length};
    e.n[i1] = s * l1 / length, e.n[i2] = s * l2 / length;
    e.normal = ti_scale(s / length, ti_cross(ti_col(&p->a->R, i), ti_col(&p->b->R, j)));
    e.corner_a = (s * l1 >= 0) << i1 | (s * l2 >= 0) << i2;
    e.corner_b = (s * m1 < 0) << j1 | (s * m2 < 0) << j2;
    int beside_a = 1 << (p->ha[i1] * fabs(l1) < p->ha[i2] * fabs(l2) ? i1 : i2);
    int beside_b = 1 << (p->hb[j1] * fabs(m1) < p->hb[j2] * fabs(m2) ? j1 : j2);
    int count = cross_edges(p, &e, margin, out);
    if (count == 0) return 0;
    e.corner_b ^= beside_b, count += cross_edges(p, &e, margin, out + count);
    e.corner_a ^= beside_a, count += cross_edges(p, &e, margin, out + count);
    e.corner_b ^= beside_b, count += cross_edges(p, &e, margin, out + count);
    return count;
}

/* The half of the derivative that belongs to one of the two boxes, at column `at`; e its edge, d that of the other;
 * H = I/2 -+ M and M as in docs/math.md eq. (29); `side` is -1 for a, 1 for b. */
static void edge_jac(const ti_shape *s, int at, double side, ti_vec n, double gap, int axis, int corner, ti_vec arm,
                     const ti_mat *H, const ti_mat *M, const ti_mat *turn, ti_touch_jac J) {
    ti_put_row(&J[ROW_GAP][at + COL_X], ti_scale(side, n));
    ti_put_row(&J[ROW_GAP][at + COL_W], ti_scale(side, ti_cross(arm, n)));
    ti_put_mat(&J[ROW_POINT], at + COL_X, H);
    ti_put_mat(&J[ROW_NORMAL], at + COL_W, turn);
    ti_mat swing = ti_matmul(M, turn);
    for (int i = 0; i < 3; i++) {
        ti_vec lever = ti_cross(arm, ti_load3(H->m[i]));
        ti_put_row(&J[i][at + COL_W], ti_axpy(lever, -gap, ti_load3(swing.m[i])));
    }
    for (int k = 0; k < 3; k++) {
        if (k == axis) continue;
        ti_vec e = ti_scale(ti_corner_sign(corner, k), ti_col(&s->R, k));
        ti_put_col(&J[ROW_POINT], at + COL_H + k, ti_mul(H, e));
        J[ROW_GAP][at + COL_H + k] = side * ti_dot(n, e);
    }
}

static void cross_edges_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    int i = t->feature >> 3 & 3, j = t->feature >> 5 & 3;
    ti_vec n = t->normal, ea = ti_col(&a->R, i), eb = ti_col(&b->R, j);
    double k = 1 / ti_dot(n, ti_cross(ea, eb)), c = ti_dot(ea, eb);
    ti_vec fa = ti_cross(eb, n), fb = ti_cross(ea, n);
    double A[3] = {ea.x, ea.y, ea.z}, B[3] = {eb.x, eb.y, eb.z}, N[3] = {n.x, n.y, n.z};
    double FA[3] = {fa.x, fa.y, fa.z}, FB[3] = {fb.x, fb.y, fb.z};
    ti_mat M, Ha, Hb, Ta, Tb;
    for (int r = 0; r < 3; r++)
        for (int q = 0; q < 3; q++) {
            double one = r == q, m = 0.5 * k * (A[r] * FA[q] + B[r] * FB[q]), across = c * (one - N[r] * N[q]);
            M.m[r][q] = m, Ha.m[r][q] = 0.5 * one - m, Hb.m[r][q] = 0.5 * one + m;
            Ta.m[r][q] = k * (A[r] * B[q] - across), Tb.m[r][q] = k * (across - B[r] * A[q]);
        }
    ti_vec arm_a = ti_sub(ti_axpy(t->point, -0.5 * t->gap, n), a->x);
    ti_vec arm_b = ti_sub(ti_axpy(t->point, 0.5 * t->gap, n), b->x);
    edge_jac(a, 0, -1, n, t->gap, i, t->feature >> 7 & 7, arm_a, &Ha, &M, &Ta, J);
    edge_jac(b, COL_SHAPE, 1, n, t->gap, j, t->feature >> 10 & 7, arm_b, &Hb, &M, &Tb, J);
}

/* ---- the pair ---- */

static int face(const poses *p, int is_b, int axis, double margin, int always, ti_touch *out) {
    ti_face_pair f = {.axis = axis, .is_b = is_b};
    f.P = is_b ? p->b : p->a, f.Q = is_b ? p->a : p->b;
    for (int i = 0; i < 3; i++) {
        f.r[i] = is_b ? -p->rb[i] : p->r[i];
        for (int j = 0; j < 3; j++) f.C[i][j] = is_b ? p->C[j][i] : p->C[i][j];
    }
    f.sign = f.r[axis] >= 0 ? 1 : -1;
    return ti_collide_face(&f, margin, always, out);
}

int ti_collide_box_box(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    poses p;
    int axis[2], edge;
    double best[2], best_edge;
    see(&p, a, b);
    face_axes(&p, axis, best);
    if (best[0] > margin || best[1] > margin) return 0;
    double probe = best[0] + best[1] + p.r[0] + p.r[1] + p.r[2] + p.rb[0] + p.rb[1] + p.rb[2];
    for (int i = 0; i < 3; i++) probe += p.D[i][0] + p.D[i][1] + p.D[i][2] + p.ha[i] + p.hb[i];
    if (probe != probe) { /* comparisons would hide it */
        *out = (ti_touch){ti_vec3(probe, probe, probe), ti_vec3(probe, probe, probe), probe, KIND_CORNER, 0};
        return 1;
    }
    if (!edge_axes(&p, margin, &edge, &best_edge)) return 0;
    double small = fmin(fmin(fmin(p.ha[0], p.ha[1]), p.ha[2]), fmin(fmin(p.hb[0], p.hb[1]), p.hb[2]));
    double best_face = fmax(best[0], best[1]);
    if (edge >= 0 && best_edge > best_face + BIAS * small) {
        int count = cross_all(&p, edge / 3, edge % 3, margin, out);
        /* Apart, the closest points are elsewhere and the boxes pass each other; in contact this cannot be, but for
         * axes left out as parallel. */
        if (count || best_edge > 0) return count;
    }
    int is_b = reference(&p, axis, best, small);
    if (is_b == LEVEL) {
        int face_a = 2 * axis[0] + (p.r[axis[0]] > 0), face_b = 2 * axis[1] + (p.rb[axis[1]] < 0);
        int count = ti_collide_level(a, b, face_a, face_b, margin, out);
        if (count) return count;
        is_b = FACE_OF_A;
    }
    return face(&p, is_b, axis[is_b], margin, best_face <= 0, out);
}

void ti_collide_box_box_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    if ((t->feature & 7) == KIND_LEVEL)
        ti_collide_level_jac(a, b, t, J);
    else if ((t->feature & 3) == KIND_EDGES)
        cross_edges_jac(a, b, t, J);
    else
        ti_collide_face_jac(a, b, t, J);
}
