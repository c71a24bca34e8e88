/* convex_face.c -- contacts over a face: corners of the other shape, edges that cross, corners of the face below.
 *
 * docs/math.md, "Convex shapes".
 */
#include "collide/surface.h"

/* How far beyond the face a corner counts as inside, as a share of the smaller extent. */
static const double SLACK = 1e-4;
/* The same of what is round: beyond the border it is nearer to an edge, at a distance of its own. */
static const double ROUND_SLACK = 1e-8;
/* Sine of the tilt below which the end of a cylinder is level: it stands on fixed points of its rim. */
static const double LEVEL = 1e-3;

/* The face, in the frame of its shape. */
typedef struct ground {
    const ti_form *f, *on, *other; /* the face's shape; the other one */
    int P, face, rule;
    ti_vec n;    /* outward */
    double high; /* of its plane along n */
    ti_mat C;    /* axes and centre of the other shape */
    ti_vec r;
    double slack;
    ti_pile *pile;
} ground;

static ground lay(const ti_form f[2], int P, int face, ti_pile *pile) {
    const ti_shape *p = f[P].s, *q = f[1 - P].s;
    ti_mat Rt = ti_transpose(&p->R);
    ground g = {f, &f[P], &f[1 - P], P, face, P ? TI_OF_FACE_B : TI_OF_FACE_A, .pile = pile};
    g.n = ti_form_face_normal(g.on, face);
    g.high = g.on->hull ? ti_dot(g.n, ti_form_corner(g.on, g.on->hull->face_vertex[g.on->hull->face_at[face]])) : 0;
    g.C = ti_matmul(&Rt, &q->R), g.r = ti_tmul(&p->R, ti_sub(q->x, p->x));
    g.slack = SLACK * (g.on->hull ? fmin(g.on->small, g.other->small) : g.other->small);
    return g;
}

/* From the other shape's frame to the face's. */
static ti_vec seen(const ground *g, ti_vec p) {
    return ti_add(g->r, ti_mul(&g->C, p));
}

static double gap_of(const ground *g, ti_vec p) {
    return ti_dot(g->n, p) - g->high;
}

static bool inside(const ground *g, ti_part part, ti_vec p) {
    double slack = part.kind == TI_VERTEX ? g->slack : ROUND_SLACK / SLACK * g->slack;
    return ti_form_holds(g->on, (ti_part){TI_FACE, g->face}, p, slack);
}

/* A contact of a part of the other shape at c (the face's frame). */
static void put(const ground *g, ti_part own, ti_part part, ti_vec c, double gap) {
    const ti_shape *s = g->on->s;
    ti_vec n = ti_mul(&s->R, g->n);
    ti_meet m = {.rule = g->rule, .face = g->face};
    if (own.kind == TI_FACE) m.rule = TI_OF_PARTS, m.face = 0;
    if (part.kind == TI_RIM && part.id >> 1) m.rule = g->rule, m.face = g->face;
    m.part[g->P] = own, m.part[1 - g->P] = part;
    ti_vec point = ti_add(s->x, ti_mul(&s->R, ti_axpy(c, -0.5 * gap, g->n)));
    ti_touch t = {point, ti_scale(g->P ? -1 : 1, n), gap, ti_meet_code(&m), 0};
    ti_pile_put(g->pile, &t);
}

/* A point of the other shape that is on the face. */
static bool put_inside(const ground *g, ti_part part, ti_vec p) {
    ti_vec c = seen(g, p);
    if (!inside(g, part, c)) return false;
    put(g, (ti_part){TI_FACE, g->face}, part, c, gap_of(g, c));
    return true;
}

/* Where the side of a tube comes nearest to an edge of the face, near c. */
static void put_side(const ground *g, int edge, ti_vec c) {
    const ti_shape *s = g->on->s;
    ti_meet m = {.rule = TI_OF_PARTS};
    m.part[g->P] = (ti_part){TI_EDGE, edge}, m.part[1 - g->P] = (ti_part){TI_SIDE, 0};
    ti_pile_meet(g->f, &m, ti_scale(g->P ? -1 : 1, ti_mul(&s->R, g->n)), g->P, c, g->pile);
}

/* Where a straight part of the other shape, from p to q, crosses the border of the face. */
static void put_crossings(const ground *g, ti_part part, ti_vec p, ti_vec q) {
    const ti_hull *h = g->on->hull;
    for (int k = h ? h->face_at[g->face] : 1, end = h ? h->face_at[g->face + 1] : 0; k < end; k++) {
        int next = k + 1 < end ? k + 1 : h->face_at[g->face];
        ti_vec a = ti_form_corner(g->on, h->face_vertex[k]), e = ti_sub(ti_form_corner(g->on, h->face_vertex[next]), a);
        double length = ti_norm(e);
        ti_vec out = ti_scale(1 / length, ti_cross(e, g->n));
        double from = ti_dot(out, ti_sub(p, a)), to = ti_dot(out, ti_sub(q, a));
        if ((from > 0) == (to > 0) || fmax(from, to) <= g->slack) continue;
        ti_vec c = ti_axpy(p, from / (from - to), ti_sub(q, p));
        double at = ti_dot(e, ti_sub(c, a)) / length;
        if (at < -g->slack || at > length + g->slack) continue;
        if (part.kind == TI_SIDE)
            put_side(g, h->face_edge[k], c);
        else
            put(g, (ti_part){TI_EDGE, h->face_edge[k]}, part, c, gap_of(g, c));
    }
}

/* Corners of the face under a face of the other shape. */
static void put_under(const ground *g, int face) {
    const ti_hull *h = g->on->hull, *o = g->other->hull;
    ti_vec up = ti_mul(&g->C, ti_form_face_normal(g->other, face)), q0 = {0, 0, 0};
    for (int k = h ? h->face_at[g->face] : 1; h && k < h->face_at[g->face + 1]; k++) {
        ti_vec a = ti_form_corner(g->on, h->face_vertex[k]);
        bool covered = true;
        int last = o->face_vertex[o->face_at[face + 1] - 1];
        for (int j = o->face_at[face]; j < o->face_at[face + 1] && covered; last = o->face_vertex[j++]) {
            ti_vec p = seen(g, ti_form_corner(g->other, last));
            q0 = seen(g, ti_form_corner(g->other, o->face_vertex[j]));
            covered = ti_dot(ti_cross(g->n, ti_sub(q0, p)), ti_sub(a, p)) <= 0;
        }
        double gap = ti_dot(up, ti_sub(q0, a)) / ti_dot(up, g->n);
        if (covered)
            put(g, (ti_part){TI_VERTEX, h->face_vertex[k]}, (ti_part){TI_FACE, face}, ti_axpy(a, gap, g->n), gap);
    }
}

/* A face of the other shape over this one. */
static void put_polygon(const ground *g, int face) {
    const ti_hull *o = g->other->hull;
    bool all = true;
    for (int j = o->face_at[face]; j < o->face_at[face + 1]; j++) {
        ti_part corner = {TI_VERTEX, o->face_vertex[j]};
        all = put_inside(g, corner, ti_form_corner(g->other, corner.id)) && all;
    }
    if (all) return;
    for (int j = o->face_at[face]; j < o->face_at[face + 1]; j++) {
        int next = j + 1 < o->face_at[face + 1] ? j + 1 : o->face_at[face];
        ti_vec p = ti_form_corner(g->other, o->face_vertex[j]), q = ti_form_corner(g->other, o->face_vertex[next]);
        put_crossings(g, (ti_part){TI_EDGE, o->face_edge[j]}, seen(g, p), seen(g, q));
    }
    put_under(g, face);
}

/* The ends of a tube, at height z, and its line in direction e from the axis; low: from the middle of an end to its
 * point. */
static void put_tube(const ground *g, int end, ti_vec low, ti_vec e, double z) {
    ti_vec down = {0, 0, -z}, up = {0, 0, z};
    bool all = put_inside(g, (ti_part){end, 0}, ti_add(down, low));
    all = put_inside(g, (ti_part){end, 1}, ti_add(up, low)) && all;
    if (!all) put_crossings(g, (ti_part){TI_SIDE, 0}, seen(g, ti_add(down, e)), seen(g, ti_add(up, e)));
}

/* The lowest point of its rim, the one on the other rim beside it, and two more of the lower end, a third of a turn
 * away: these are MuJoCo's. */
static void put_cylinder(const ground *g, ti_vec d) {
    double across = sqrt(d.x * d.x + d.y * d.y), r = g->other->scale[0], h = g->other->scale[2];
    int top = d.z > 0;
    if (across < LEVEL) {
        put_polygon(g, top);
        return;
    }
    ti_vec e = {r * d.x / across, r * d.y / across, 0};
    double c = -0.5, s = 0.86602540378443864676, z = top ? h : -h;
    put_tube(g, TI_RIM, e, e, h);
    put_inside(g, (ti_part){TI_RIM, top | 2}, ti_vec3(c * e.x - s * e.y, s * e.x + c * e.y, z));
    put_inside(g, (ti_part){TI_RIM, top | 4}, ti_vec3(c * e.x + s * e.y, c * e.y - s * e.x, z));
}

/* Every corner that is near enough to a plane; d: towards it, in the other shape's frame. */
static void put_corners(const ground *g, ti_vec d) {
    const ti_hull *h = g->other->hull;
    const double *s = g->other->scale, down[3] = {s[0] * d.x, s[1] * d.y, s[2] * d.z};
    double high = ti_dot(g->n, g->r) - g->high;
    for (int k = 0; k < h->nv; k++) {
        const double *v = h->v[k];
        double low = v[0] * down[0] + v[1] * down[1] + v[2] * down[2];
        if (!(high - low > g->pile->margin + g->slack))
            put_inside(g, (ti_part){TI_VERTEX, k}, ti_form_corner(g->other, k));
    }
}

void ti_over_face(ti_form f[2], int P, int face, ti_pile *pile) {
    ground g = lay(f, P, face, pile);
    ti_vec d = ti_scale(-1, ti_tmul(&g.C, g.n)); /* towards the face, in the other shape's frame */
    if (g.other->s->shape == TRIBO_CAPSULE) {
        double r = g.other->round, across = fmax(sqrt(d.x * d.x + d.y * d.y), 0.01);
        put_tube(&g, TI_BALL, ti_scale(r, d), ti_vec3(r * d.x / across, r * d.y / across, 0), g.other->half);
    } else if (g.other->s->shape == TRIBO_CYLINDER) {
        put_cylinder(&g, d);
    } else if (g.other->hull && !g.on->hull) { /* on a plane every corner counts */
        put_corners(&g, d);
    } else if (g.other->hull) {
        put_polygon(&g, ti_form_face(&f[1 - P], d));
    } else {
        put_inside(&g, (ti_part){TI_BALL, 0}, ti_axpy(ti_form_support(&f[1 - P], d), g.other->round, d));
    }
}

/* ---- planes ---- */

int ti_collide_plane_convex(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    ti_form f[2] = {ti_form_of(a), ti_form_of(b)};
    ti_pile pile = {.margin = margin, .merge = 0};
    ti_vec n = ti_col(&a->R, 2);
    double gap = ti_dot(n, ti_sub(b->x, a->x)) - ti_form_reach(&f[1], ti_scale(-1, ti_tmul(&b->R, n)));
    if (ti_beyond(gap, margin)) return 0;
    if (gap != gap) {
        *out = (ti_touch){ti_vec3(gap, gap, gap), n, gap, 0, 0};
        return 1;
    }
    ti_over_face(f, 0, 0, &pile);
    return ti_pile_thin(&pile, out);
}
