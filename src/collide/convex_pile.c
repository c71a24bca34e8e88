/* convex_pile.c -- contacts of shapes that lie along one another; and which four of many are kept. */
#include "collide/surface.h"

/* Sine of the angle up to which tubes and edges lie along one another. */
static const double ALONG = 0.05;

/* ---- lines ---- */

/* A straight part of a surface about where the closest points are, and the parts at its ends. */
typedef struct line {
    ti_part part, end[2];
    ti_vec a;    /* its direction, world */
    ti_vec p[2]; /* its ends, in the shape's frame */
} line;

static bool tube(const ti_form *f, ti_vec d, line *l) {
    double across = sqrt(d.x * d.x + d.y * d.y), r = f->scale[0] / across;
    bool capsule = f->s->shape == TRIBO_CAPSULE;
    double half = capsule ? f->half : f->scale[2];
    if (fabs(d.z) > ALONG) return false;
    l->part = (ti_part){TI_SIDE, 0}, l->a = ti_col(&f->s->R, 2);
    for (int i = 0; i < 2; i++) {
        l->end[i] = (ti_part){capsule ? TI_BALL : TI_RIM, i};
        l->p[i] = ti_vec3(r * d.x, r * d.y, i ? half : -half);
    }
    return true;
}

/* The edge at the furthest corner that lies most along `other`. */
static bool ridge(ti_form *f, ti_vec d, ti_vec p, ti_vec other, line *l) {
    ti_part part[TI_PARTS];
    int n = ti_form_parts(f, d, p, ALONG, part);
    double most = 0;
    for (int k = 0; k < n; k++) {
        if (part[k].kind != TI_EDGE) continue;
        const int *e = f->hull->edge[part[k].id];
        ti_vec from = ti_form_corner(f, e[0]), to = ti_form_corner(f, e[1]), a = ti_sub(to, from);
        a = ti_mul(&f->s->R, ti_scale(1 / ti_norm(a), a));
        if (fabs(ti_dot(a, other)) <= most) continue;
        most = fabs(ti_dot(a, other));
        *l = (line){part[k], {{TI_VERTEX, e[0]}, {TI_VERTEX, e[1]}}, a, {from, to}};
    }
    return most > 0;
}

static bool is_tube(const ti_form *f) {
    return f->s->shape == TRIBO_CAPSULE || f->s->shape == TRIBO_CYLINDER;
}

void ti_pile_meet(const ti_form f[2], const ti_meet *m, ti_vec n, int i, ti_vec p, ti_pile *pile) {
    double small = fmin(f[0].small, f[1].small);
    ti_near now = {.n = n, .gap = pile->least};
    ti_vec world = ti_add(f[i].s->x, ti_mul(&f[i].s->R, p));
    now.p[i] = p, now.p[1 - i] = ti_tmul(&f[1 - i].s->R, ti_sub(world, f[1 - i].s->x));
    if (!ti_meet_solve(f, m, &now) || ti_dot(now.n, n) < 0.99 || now.gap < pile->least - 1e-6 * small) return;
    for (int k = 0; k < 2; k++)
        if (!ti_form_holds(&f[k], m->part[k], now.p[k], 1e-4 * small)) return;
    ti_touch t = ti_meet_touch(f, m, &now);
    ti_pile_put(pile, &t);
}

/* An end of line i on the other one. */
static void put_end(ti_form f[2], const ti_near *at, const line l[2], int i, int end, ti_pile *pile) {
    ti_meet m = {{l[0].part, l[1].part}, TI_OF_PARTS, 0};
    m.part[i] = l[i].end[end];
    ti_pile_meet(f, &m, at->n, i, l[i].p[end], pile);
}

void ti_along(ti_form f[2], const ti_near *at, ti_pile *pile) {
    line l[2];
    bool tubes[2] = {is_tube(&f[0]), is_tube(&f[1])};
    if (!tubes[0] && !tubes[1]) return;
    ti_vec d[2];
    for (int i = 0; i < 2; i++) {
        d[i] = ti_scale(i ? -1 : 1, ti_tmul(&f[i].s->R, at->n));
        if (tubes[i] && !tube(&f[i], d[i], &l[i])) return;
    }
    for (int i = 0; i < 2; i++) {
        if (tubes[i]) continue;
        if (!f[i].hull || !ridge(&f[i], d[i], at->p[i], l[1 - i].a, &l[i])) return;
    }
    ti_vec off = ti_cross(l[0].a, l[1].a);
    if (ti_dot(off, off) > ALONG * ALONG) return;
    for (int k = 0; k < 4; k++) put_end(f, at, l, k >> 1, k & 1, pile);
}

/* ---- the pile ---- */

void ti_pile_put(ti_pile *pile, const ti_touch *t) {
    if (ti_beyond(t->gap, pile->margin)) return;
    for (int k = 0; k < pile->count; k++) {
        ti_vec d = ti_sub(t->point, pile->t[k].point);
        if (t->feature == pile->t[k].feature || ti_dot(d, d) < pile->merge * pile->merge) return;
    }
    if (pile->count == TI_PILE) pile->count = ti_pile_thin(pile, pile->t);
    pile->t[pile->count++] = *t;
}

/* The first of the largest values but for rounding. */
static int largest(const double *value, int n) {
    int best = 0;
    for (int k = 1; k < n; k++)
        if (value[k] > value[best] + 1e-6 * fabs(value[best])) best = k;
    return best;
}

/* Where each counts: what is further than half the margin above the deepest moves to the middle, and is there at the
 * margin, where contacts end. */
static void weigh(const ti_pile *pile, ti_vec *at) {
    ti_vec middle = {0, 0, 0};
    double least = (double)INFINITY;
    for (int k = 0; k < pile->count; k++) {
        middle = ti_axpy(middle, 1.0 / pile->count, pile->t[k].point);
        least = fmin(least, pile->t[k].gap);
    }
    for (int k = 0; k < pile->count; k++) {
        double left = 2 * (pile->margin - pile->t[k].gap), room = pile->margin - least;
        at[k] = ti_sub(pile->t[k].point, middle);
        if (left < room) at[k] = ti_scale(left / room, at[k]);
    }
}

/* Twice the area of a triangle of points. */
static double area(ti_vec n, ti_vec a, ti_vec b, ti_vec c) {
    return fabs(ti_dot(n, ti_cross(ti_sub(b, a), ti_sub(c, a))));
}

/* Twice the area within the crossing lines ab and cd. */
static double crossed(ti_vec n, ti_vec a, ti_vec b, ti_vec c, ti_vec d) {
    return fabs(ti_dot(n, ti_cross(ti_sub(b, a), ti_sub(d, c))));
}

/* Twice the area of the hull of a, b and of c, d on one side of their line. */
static double hull(ti_vec n, ti_vec a, ti_vec b, ti_vec c, ti_vec d) {
    double sharp = fmax(area(n, a, b, c), area(n, a, b, d));
    return fmax(sharp, fmax(crossed(n, a, c, b, d), crossed(n, a, d, b, c)));
}

/* All are on one side of the line of the first two: the one or two that span the most with these. Returns how many are
 * kept. */
static int span_side(const ti_pile *pile, const ti_vec *at, int kept[TI_KEPT]) {
    ti_vec n = pile->t[0].normal, a = at[kept[0]], b = at[kept[1]], along = ti_sub(b, a);
    double most = 1e-6 * ti_dot(along, along);
    int count = 2;
    for (int k = 0; k < pile->count; k++)
        if (area(n, a, b, at[k]) > (1 + 1e-6) * most) most = area(n, a, b, at[k]), kept[2] = k, count = 3;
    for (int k = 0; k < pile->count && count > 2; k++)
        for (int j = 0; j < k; j++) {
            double now = hull(n, a, b, at[j], at[k]);
            if (now > (1 + 1e-6) * most) most = now, kept[2] = j, kept[3] = k, count = 4;
        }
    return count;
}

/* Those that span the most: furthest from the middle, furthest from that, furthest from the line of both on either
 * side. Returns how many. */
static int span(const ti_pile *pile, const ti_vec *at, int kept[TI_KEPT]) {
    ti_vec from = {0, 0, 0};
    double value[TI_PILE];
    for (int turn = 0; turn < 2; from = at[kept[turn++]]) {
        for (int k = 0; k < pile->count; k++) value[k] = ti_norm(ti_sub(at[k], from));
        kept[turn] = largest(value, pile->count);
    }
    ti_vec along = ti_sub(at[kept[1]], at[kept[0]]), across = ti_cross(pile->t[0].normal, along);
    for (int side = 0; side < 2; side++) {
        for (int k = 0; k < pile->count; k++) value[k] = (side ? -1 : 1) * ti_dot(across, ti_sub(at[k], at[kept[0]]));
        kept[2 + side] = largest(value, pile->count);
        if (!(value[kept[2 + side]] > 1e-6 * ti_dot(along, along))) return span_side(pile, at, kept);
    }
    return TI_KEPT;
}

/* The first of the deepest but for rounding, other than those. */
static int deepest(const ti_pile *pile, const int *others, int n, double slack) {
    int best = -1;
    for (int k = 0; k < pile->count; k++) {
        bool other = false;
        for (int i = 0; i < n; i++) other = other || others[i] == k;
        if (!other && (best < 0 || pile->t[k].gap < pile->t[best].gap - slack)) best = k;
    }
    return best;
}

/* The deepest is always kept: in place of the nearest, if it is deeper than all by more than rounding. */
static void keep_deepest(const ti_pile *pile, int k, int kept[TI_KEPT]) {
    int nearest = 0;
    double least = (double)INFINITY, close = (double)INFINITY;
    for (int i = 0; i < TI_KEPT; i++) {
        const ti_touch *t = &pile->t[kept[i]];
        double off = ti_norm(ti_sub(t->point, pile->t[k].point));
        least = fmin(least, t->gap);
        if (off < (1 - 1e-6) * close) close = off, nearest = i;
    }
    if (pile->t[k].gap < least - 1e-6 * close) kept[nearest] = k;
}

int ti_pile_thin(ti_pile *pile, ti_touch *out) {
    int kept[TI_KEPT], n = 0;
    bool keep[TI_PILE] = {false};
    ti_vec at[TI_PILE];
    for (int k = 0; k < pile->count && pile->count <= TI_KEPT; k++) out[k] = pile->t[k];
    if (pile->count <= TI_KEPT) return pile->count;
    weigh(pile, at);
    int spanned = span(pile, at, kept);
    double slack = 1e-6 * ti_norm(ti_sub(at[kept[1]], at[kept[0]])); /* where slots are free: */
    for (int i = spanned; i < TI_KEPT; i++) kept[i] = deepest(pile, kept, i, slack);
    keep_deepest(pile, deepest(pile, NULL, 0, slack), kept);
    for (int i = 0; i < TI_KEPT; i++) keep[kept[i]] = true;
    for (int k = 0; k < pile->count; k++)
        if (keep[k]) out[n++] = pile->t[k];
    return n;
}
