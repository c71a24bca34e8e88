/* box_level.c -- contacts between two faces of which neither is the reference: equal faces, nearly parallel.
 *
 * The normal halves the angle of the two, and every contact is where a part of a (corner, face or edge) meets one of b
 * along it, so that nothing changes when a and b change places. Derivations: docs/math.md, Level faces.
 */
#include "collide/pairs.h"

/* As on a reference face: how far beyond it a corner counts as inside, as a share of the smallest half edge. */
#define SLACK 1e-4

enum { CORNERS = 4 };
/* A corner of b on a, of a on b, two corners in the same place, two edges. */
enum { ON_A, ON_B, PAIR, CROSSING };

/* ---- the polygon, in coordinates of a's face: its axes, and the height over it ---- */

typedef struct sheet {
    const ti_shape *a;
    int face[2];        /* of a, of b; twice the axis plus one if it is the positive one */
    double n[3], fb[3]; /* the contacts' normal, and that of b's face */
    ti_vec normal;      /* the first in the world */
    double h[2], hb[2]; /* half edges of the two faces */
    double edge[2][3];  /* directions of b's */
    double mid[3];      /* of b's face */
    double height;      /* of a's face over its centre */
    double margin, slack;
    int count;
    double u[TI_CONTACTS_MAX], v[TI_CONTACTS_MAX];
    ti_touch *out;
} sheet;

/* The corners of one face over the other: their place, where they meet it, at what gap, and whether inside. */
typedef struct guests {
    int corner[CORNERS], inside[CORNERS], count;
    double at[CORNERS][3], u[CORNERS], v[CORNERS], gap[CORNERS];
} guests;

/* In turn round a face. */
static const double turn_u[CORNERS] = {-1, 1, 1, -1}, turn_v[CORNERS] = {-1, -1, 1, 1};

static double dot3(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void lay_out(sheet *y, const ti_shape *a, const ti_shape *b, int face_a, int face_b) {
    int ka = face_a >> 1, kb = face_b >> 1, axis[3] = {(ka + 1) % 3, (ka + 2) % 3, ka};
    double sa = face_a & 1 ? 1 : -1, sb = face_b & 1 ? 1 : -1, sign[3] = {1, 1, sa}, length = 0;
    ti_vec d = ti_sub(b->x, a->x);
    y->a = a, y->face[0] = face_a, y->face[1] = face_b, y->count = 0;
    for (int i = 0; i < 3; i++) {
        ti_vec e = ti_scale(sign[i], ti_col(&a->R, axis[i]));
        y->fb[i] = sb * ti_dot(e, ti_col(&b->R, kb));
        y->edge[0][i] = ti_dot(e, ti_col(&b->R, (kb + 1) % 3));
        y->edge[1][i] = ti_dot(e, ti_col(&b->R, (kb + 2) % 3));
        y->mid[i] = ti_dot(e, d) + ti_get(b->size, kb) * y->fb[i];
        y->n[i] = (i == 2) - y->fb[i], length += y->n[i] * y->n[i];
    }
    y->height = ti_get(a->size, ka), y->mid[2] -= y->height;
    length = 1 / sqrt(length);
    for (int i = 0; i < 3; i++) y->n[i] *= length;
    ti_vec n = ti_sub(ti_scale(sa, ti_col(&a->R, ka)), ti_scale(sb, ti_col(&b->R, kb)));
    y->normal = ti_scale(length, n);
    for (int i = 0; i < 2; i++) y->h[i] = ti_get(a->size, axis[i]), y->hb[i] = ti_get(b->size, (kb + 1 + i) % 3);
    y->slack = SLACK * fmin(fmin(y->h[0], y->h[1]), fmin(y->hb[0], y->hb[1]));
}

static int corner_of(int face, int c) {
    int k = face >> 1;
    return (face & 1) << k | (turn_u[c] > 0) << (k + 1) % 3 | (turn_v[c] > 0) << (k + 2) % 3;
}

static void find_guests(const sheet *y, guests *on_a, guests *on_b) {
    double slant = 1 / dot3(y->fb, y->n);
    on_a->count = on_b->count = 0;
    for (int c = 0; c < CORNERS; c++) {
        double *p = on_a->at[c], *q = on_b->at[c], d[3];
        for (int i = 0; i < 3; i++)
            p[i] = y->mid[i] + turn_u[c] * y->hb[0] * y->edge[0][i] + turn_v[c] * y->hb[1] * y->edge[1][i];
        on_a->corner[c] = corner_of(y->face[1], c), on_a->gap[c] = p[2] / y->n[2];
        on_a->u[c] = p[0] - on_a->gap[c] * y->n[0], on_a->v[c] = p[1] - on_a->gap[c] * y->n[1];
        on_a->inside[c] = fabs(on_a->u[c]) <= y->h[0] + y->slack && fabs(on_a->v[c]) <= y->h[1] + y->slack;
        q[0] = on_b->u[c] = turn_u[c] * y->h[0], q[1] = on_b->v[c] = turn_v[c] * y->h[1], q[2] = 0;
        for (int i = 0; i < 3; i++) d[i] = q[i] - y->mid[i];
        on_b->corner[c] = corner_of(y->face[0], c), on_b->gap[c] = -dot3(y->fb, d) * slant;
        for (int i = 0; i < 3; i++) d[i] += on_b->gap[c] * y->n[i];
        on_b->inside[c] =
            fabs(dot3(d, y->edge[0])) <= y->hb[0] + y->slack && fabs(dot3(d, y->edge[1])) <= y->hb[1] + y->slack;
        on_a->count += on_a->inside[c], on_b->count += on_b->inside[c];
    }
}

static double square(double x, double y) {
    return x * x + y * y;
}

/* A contact at `at`, half way, whose place in the plane is (u, v); corners and edges of a and b. */
static void keep(sheet *y, double u, double v, const double *at, double gap, int kind, int corner_a, int corner_b,
                 int edges) {
    if (gap > y->margin || y->count == TI_CONTACTS_MAX) return;
    int k = y->face[0] >> 1, n = y->count++;
    const ti_mat *R = &y->a->R;
    double p[3], s = y->face[0] & 1 ? 1 : -1;
    p[(k + 1) % 3] = at[0], p[(k + 2) % 3] = at[1], p[k] = s * (y->height + at[2]);
    y->u[n] = u, y->v[n] = v;
    y->out[n] = (ti_touch){
        ti_add(y->a->x, ti_mul(R, ti_load3(p))), y->normal, gap,
        KIND_LEVEL | kind << 3 | y->face[0] << 5 | y->face[1] << 8 | corner_a << 11 | corner_b << 14 | edges << 17, 0};
}

static void half_way(const sheet *y, const double *at, double by, double *out) {
    for (int i = 0; i < 3; i++) out[i] = at[i] + by * y->n[i];
}

static void keep_pair(sheet *y, const guests *on_a, const guests *on_b, int c, int e) {
    double mean[3], d[3];
    for (int i = 0; i < 3; i++)
        mean[i] = 0.5 * (on_a->at[c][i] + on_b->at[e][i]), d[i] = on_a->at[c][i] - on_b->at[e][i];
    keep(y, on_a->u[c], on_a->v[c], mean, dot3(d, y->n), PAIR, on_b->corner[e], on_a->corner[c], 0);
}

/* Corners of b on a and pairs, then corners of a on b. */
static void keep_corners(sheet *y, const guests *on_a, const guests *on_b) {
    int paired[CORNERS] = {0};
    double point[3];
    for (int c = 0; c < CORNERS; c++) {
        int with = -1;
        if (!on_a->inside[c]) continue;
        for (int e = 0; e < CORNERS && with < 0; e++)
            if (on_b->inside[e] && square(on_a->u[c] - on_b->u[e], on_a->v[c] - on_b->v[e]) < 4 * y->slack * y->slack)
                with = e;
        if (with >= 0) {
            paired[with] = 1;
            keep_pair(y, on_a, on_b, c, with);
            continue;
        }
        half_way(y, on_a->at[c], -0.5 * on_a->gap[c], point);
        keep(y, on_a->u[c], on_a->v[c], point, on_a->gap[c], ON_A, 0, on_a->corner[c], 0);
    }
    for (int e = 0; e < CORNERS; e++) {
        if (!on_b->inside[e] || paired[e]) continue;
        half_way(y, on_b->at[e], 0.5 * on_b->gap[e], point);
        keep(y, on_b->u[e], on_b->v[e], point, on_b->gap[e], ON_B, on_b->corner[e], 0, 0);
    }
}

/* Whether a segment crosses a line and its outer end is beyond it by more than the slack. */
static int crosses(double d0, double d1, double slack) {
    return (d0 > 0) != (d1 > 0) && fmax(d0, d1) > slack;
}

/* a's edge `l` (from corner l on) and b's edge `e`, b's from p to q in the plane. */
static void keep_crossing(sheet *y, const guests *on_a, const guests *on_b, int e, int l, const double *p,
                          const double *q, const double *out /* of b's edge, unit */) {
    int x = l & 1 ? 0 : 1, z = 1 - x; /* across a's edge, along it */
    double side = l == 0 || l == 3 ? -1 : 1, d0 = side * p[x] - y->h[x], d1 = side * q[x] - y->h[x], at[3], end[2];
    if (!crosses(d0, d1, y->slack)) return;
    double t = d0 / (d0 - d1), beyond[2];
    at[x] = side * y->h[x], at[z] = p[z] + t * (q[z] - p[z]), at[2] = 0;
    if (!(fabs(at[z]) < y->h[z])) return;
    for (int k = 0; k < 2; k++) {
        end[x] = at[x], end[z] = k ? y->h[z] : -y->h[z];
        beyond[k] = out[0] * (end[0] - p[0]) + out[1] * (end[1] - p[1]);
    }
    if (!crosses(beyond[0], beyond[1], y->slack)) return; /* else a's corner stands for the crossing */
    for (int k = 0; k < y->count; k++)
        if (square(at[0] - y->u[k], at[1] - y->v[k]) < 4 * y->slack * y->slack) return;
    double gap = on_a->gap[e] + t * (on_a->gap[(e + 1) % CORNERS] - on_a->gap[e]), point[3];
    half_way(y, at, 0.5 * gap, point);
    int edge_a = ((y->face[0] >> 1) + 1 + z) % 3, edge_b = ((y->face[1] >> 1) + 1 + (e & 1)) % 3;
    keep(y, at[0], at[1], point, gap, CROSSING, on_b->corner[l], on_a->corner[e], edge_a | edge_b << 2);
}

static void keep_crossings(sheet *y, const guests *on_a, const guests *on_b) {
    double mid[2] = {0, 0};
    for (int c = 0; c < CORNERS; c++) mid[0] += 0.25 * on_a->u[c], mid[1] += 0.25 * on_a->v[c];
    for (int e = 0; e < CORNERS; e++) {
        int to = (e + 1) % CORNERS;
        double p[2] = {on_a->u[e], on_a->v[e]}, q[2] = {on_a->u[to], on_a->v[to]};
        double out[2] = {q[1] - p[1], p[0] - q[0]}, size = sqrt(square(out[0], out[1]));
        if (out[0] * (p[0] - mid[0]) + out[1] * (p[1] - mid[1]) < 0) size = -size;
        out[0] /= size, out[1] /= size;
        for (int l = 0; l < CORNERS; l++) keep_crossing(y, on_a, on_b, e, l, p, q, out);
    }
}

int ti_collide_level(const ti_shape *a, const ti_shape *b, int face_a, int face_b, double margin, ti_touch *out) {
    sheet y;
    guests on_a, on_b;
    lay_out(&y, a, b, face_a, face_b);
    y.margin = margin, y.out = out;
    find_guests(&y, &on_a, &on_b);
    keep_corners(&y, &on_a, &on_b);
    if (on_a.count < CORNERS && on_b.count < CORNERS) keep_crossings(&y, &on_a, &on_b);
    return y.count;
}

/* ---- derivatives: docs/math.md eq. (125)-(128) ---- */

typedef struct meeting {
    const ti_shape *s[2];
    int kind, face[2], corner[2], edge[2];
    ti_vec f[2], n, psi, on[2]; /* outward normals of the faces; points of a and of b that meet */
    double length, gap;         /* |f[0] - f[1]| */
} meeting;

static meeting decode(const ti_shape *a, const ti_shape *b, const ti_touch *t) {
    int f = t->feature;
    meeting m = {.s = {a, b}, .kind = f >> 3 & 3, .face = {f >> 5 & 7, f >> 8 & 7}, .gap = t->gap};
    m.corner[0] = f >> 11 & 7, m.corner[1] = f >> 14 & 7, m.edge[0] = f >> 17 & 3, m.edge[1] = f >> 19 & 3;
    for (int i = 0; i < 2; i++) m.f[i] = ti_scale(m.face[i] & 1 ? 1 : -1, ti_col(&m.s[i]->R, m.face[i] >> 1));
    m.n = t->normal, m.length = ti_norm(ti_sub(m.f[0], m.f[1]));
    m.on[0] = ti_axpy(t->point, -0.5 * m.gap, m.n), m.on[1] = ti_axpy(t->point, 0.5 * m.gap, m.n);
    ti_vec w = m.kind == CROSSING ? ti_cross(ti_col(&a->R, m.edge[0]), ti_col(&b->R, m.edge[1]))
               : m.kind == PAIR   ? m.n
                                  : m.f[m.kind == ON_B];
    m.psi = ti_scale(1 / ti_dot(w, m.n), w);
    return m;
}

/* dn = N w of one box; N' x for an x. */
static void put_normal(const meeting *m, int side, ti_touch_jac J) {
    int at = (side ? COL_SHAPE : 0) + COL_W;
    double s = (side ? 1 : -1) / m->length, n[3] = {m->n.x, m->n.y, m->n.z};
    ti_vec along = ti_scale(-s, ti_cross(m->n, m->f[side]));
    ti_put_cross(&J[ROW_NORMAL], at, s, m->f[side]);
    for (int i = 0; i < 3; i++) {
        J[ROW_NORMAL + i][at] += n[i] * along.x, J[ROW_NORMAL + i][at + 1] += n[i] * along.y;
        J[ROW_NORMAL + i][at + 2] += n[i] * along.z;
    }
}

static ti_vec through_normal(const meeting *m, int side, ti_vec x) {
    ti_vec across = ti_axpy(x, -ti_dot(m->n, x), m->n);
    return ti_scale((side ? -1 : 1) / m->length, ti_cross(m->f[side], across));
}

/* How the point of a box that meets the other moves with the size along axis l. */
static ti_vec with_size(const meeting *m, int side, int l) {
    double sign = ti_corner_sign(m->corner[side], l);
    if (m->kind == CROSSING && l == m->edge[side]) sign = 0;
    if (m->kind == side) sign = l != m->face[side] >> 1 ? 0 : m->face[side] & 1 ? 1 : -1; /* ON_A is 0, ON_B 1 */
    return ti_scale(sign, ti_col(&m->s[side]->R, l));
}

/* The rows of the gap; `slip` is what the points that meet are apart beside the gap. */
static void put_gap(const meeting *m, int side, ti_vec slip, ti_touch_jac J) {
    int at = side ? COL_SHAPE : 0;
    double sign = side ? 1 : -1, *row = J[ROW_GAP] + at;
    ti_vec r = ti_sub(m->on[side], m->s[side]->x), turn = ti_scale(sign, ti_cross(r, m->psi));
    ti_put_row(row + COL_X, ti_scale(sign, m->psi));
    ti_put_row(row + COL_W, ti_add(turn, through_normal(m, side, ti_axpy(slip, -m->gap, m->psi))));
    for (int l = 0; l < 3; l++) row[COL_H + l] = sign * ti_dot(m->psi, with_size(m, side, l));
}

/* The rows of the point, `share` of the motion of the material of one box at its point there. */
static void put_point(const meeting *m, int side, double share, ti_touch_jac J) {
    int at = side ? COL_SHAPE : 0;
    ti_put_cross(&J[ROW_POINT], at + COL_W, -share, ti_sub(m->on[side], m->s[side]->x));
    for (int l = 0; l < 3; l++) {
        J[l][at + COL_X + l] = share;
        ti_put_col(&J[ROW_POINT], at + COL_H + l, ti_scale(share, with_size(m, side, l)));
    }
}

/* Two edges: H of the motion of the material, E or 1 - E, and g (1/2 - E) dn. */
static void put_crossing(const meeting *m, int side, ti_touch_jac J) {
    int at = side ? COL_SHAPE : 0;
    ti_vec e = ti_col(&m->s[0]->R, m->edge[0]), across = ti_cross(ti_col(&m->s[1]->R, m->edge[1]), m->n);
    ti_vec xi = ti_scale(1 / ti_dot(across, e), across), r = ti_sub(m->on[side], m->s[side]->x);
    ti_vec n_xi = through_normal(m, side, xi), n_psi = through_normal(m, side, m->psi), size[3];
    double ea[3] = {e.x, e.y, e.z}, n[3] = {m->n.x, m->n.y, m->n.z};
    for (int l = 0; l < 3; l++) size[l] = with_size(m, side, l);
    for (int i = 0; i < 3; i++) {
        ti_vec h = ti_axpy(ti_scale(ea[i], xi), 0.5 * n[i], m->psi);
        ti_vec bend = ti_axpy(ti_scale(-ea[i], n_xi), -0.5 * n[i], n_psi);
        bend = ti_axpy(bend, 0.5, ti_load3(&J[ROW_NORMAL + i][at + COL_W]));
        if (!side) h = ti_sub(ti_vec3(i == 0, i == 1, i == 2), h);
        ti_put_row(&J[i][at + COL_X], h);
        ti_put_row(&J[i][at + COL_W], ti_axpy(ti_cross(r, h), m->gap, bend));
        ti_put_row(&J[i][at + COL_H], ti_vec3(ti_dot(h, size[0]), ti_dot(h, size[1]), ti_dot(h, size[2])));
    }
}

/* Two corners are the points that meet. @return what these are apart */
static ti_vec apart(meeting *m) {
    for (int i = 0; i < 2; i++)
        m->on[i] = ti_add(m->s[i]->x, ti_mul(&m->s[i]->R, ti_corner(m->s[i]->size, m->corner[i])));
    return ti_sub(m->on[1], m->on[0]);
}

void ti_collide_level_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    meeting m = decode(a, b, t);
    ti_vec slip = {0, 0, 0};
    if (m.kind == PAIR) slip = apart(&m);
    for (int side = 0; side < 2; side++) {
        put_normal(&m, side, J);
        put_gap(&m, side, slip, J);
        if (m.kind == CROSSING) put_crossing(&m, side, J);
        if (m.kind == PAIR) put_point(&m, side, 0.5, J);
    }
    if (m.kind == ON_A) put_point(&m, 1, 1, J), ti_half_way(J, m.n, m.gap, 0, TI_COLLIDE_COLS);
    if (m.kind == ON_B) put_point(&m, 0, 1, J), ti_half_way(J, ti_scale(-1, m.n), -m.gap, 0, TI_COLLIDE_COLS);
}

/* ---- reverse: as above, turned around ---- */

static void side_vjp(const meeting *m, int side, double share, ti_vec slip, const ti_vec bar[2], double gap_bar,
                     double *out) {
    double sign = side ? 1 : -1, *to = out + (side ? COL_SHAPE : 0);
    ti_vec r = ti_sub(m->on[side], m->s[side]->x);
    ti_vec x_bar = ti_axpy(ti_scale(sign * gap_bar, m->psi), share, bar[0]); /* of the material at the point */
    ti_vec n_bar = ti_axpy(bar[1], gap_bar, ti_axpy(slip, -m->gap, m->psi));
    ti_store3(to + COL_X, x_bar);
    ti_store3(to + COL_W, ti_add(ti_cross(r, x_bar), through_normal(m, side, n_bar)));
    for (int l = 0; l < 3; l++) to[COL_H + l] = ti_dot(x_bar, with_size(m, side, l));
}

bool ti_collide_level_vjp(const ti_shape *a, const ti_shape *b, const ti_touch *t, const double *in, double *out) {
    meeting m = decode(a, b, t);
    ti_vec slip = {0, 0, 0}, bar[2] = {ti_load3(in + ROW_POINT), ti_load3(in + ROW_NORMAL)};
    double half = m.kind == ON_A ? 0.5 : m.kind == ON_B ? -0.5 : 0, share[2] = {m.kind == ON_B, m.kind == ON_A};
    if (m.kind == CROSSING) return false;
    if (m.kind == PAIR) {
        slip = apart(&m);
        share[0] = share[1] = 0.5;
    }
    bar[1] = ti_axpy(bar[1], -half * m.gap, bar[0]);
    double gap_bar = in[ROW_GAP] - half * ti_dot(m.n, bar[0]);
    for (int side = 0; side < 2; side++) side_vjp(&m, side, share[side], slip, bar, gap_bar, out);
    return true;
}
