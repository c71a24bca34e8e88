/* convex.c -- any two convex shapes: the closest points, made exact, and what lies beside them.
 *
 * docs/math.md, "Convex shapes".
 */
#include "collide/surface.h"

/* A face must separate no worse than the closest points by more than this share of the smallest extent: shapes at rest
 * on a face keep to it while they rock by rounding. */
static const double BIAS = 1e-3;
/* Cosine between a face and the normal of closest points that are not over it, down to which it leans over the other
 * shape; what is nearer to the closest points than this share of the smallest extent is what they are of. */
static const double LEANS = 0.99, SAME = 1e-2;
/* Of two faces whose areas differ by a smaller share neither is the larger. */
static const double EQUAL = 1e-6;

double ti_separation(ti_form f[2], ti_vec n) {
    const ti_shape *a = f[0].s, *b = f[1].s;
    return ti_dot(n, ti_sub(b->x, a->x)) - ti_form_reach(&f[0], ti_tmul(&a->R, n)) -
           ti_form_reach(&f[1], ti_scale(-1, ti_tmul(&b->R, n)));
}

double ti_convex_small(const ti_form f[2]) {
    return fmin(f[0].s->shape == TRIBO_PLANE ? (double)INFINITY : f[0].small, f[1].small);
}

/* Whether these are the closest points, to a share of the sizes: both on their parts, and between supporting planes. */
static bool is_closest(ti_form f[2], const ti_meet *m, const ti_near *at, double share) {
    double slack = share * (ti_convex_small(f) + ti_norm(ti_sub(f[1].s->x, f[0].s->x)));
    for (int i = 0; i < 2; i++)
        if (!ti_form_holds(&f[i], m->part[i], at->p[i], slack)) return false;
    return at->gap - ti_separation(f, at->n) <= slack;
}

/* Make the closest points exact: the first two parts about there that have them. */
static bool polish(ti_form f[2], double within, double share, ti_near *at, ti_meet *found) {
    ti_part part[2][TI_PARTS];
    int n[2];
    for (int i = 0; i < 2; i++)
        n[i] = ti_form_parts(&f[i], ti_scale(i ? -1 : 1, ti_tmul(&f[i].s->R, at->n)), at->p[i], within, part[i]);
    for (int sum = 0; sum < n[0] + n[1] - 1; sum++)
        for (int i = sum < n[1] ? 0 : sum - n[1] + 1; i <= sum && i < n[0]; i++) {
            ti_meet m = {{part[0][i], part[1][sum - i]}, TI_OF_PARTS, 0};
            ti_near now = *at;
            if (!ti_meet_solve(f, &m, &now) || ti_dot(now.n, at->n) < 0.5 || !is_closest(f, &m, &now, share)) continue;
            *at = now, *found = m;
            return true;
        }
    return false;
}

/* Cosine between n and the face of shape i that looks most along it at the other; 0 if there is none. */
static double facing(ti_form f[2], int i, ti_vec n, int *face) {
    ti_vec d = ti_scale(i ? -1 : 1, ti_tmul(&f[i].s->R, n));
    *face = ti_form_face(&f[i], d);
    return *face < 0 ? 0 : ti_dot(ti_form_face_normal(&f[i], *face), d);
}

/* What a face that looks at the other shape separates them by; -1e300 if there is none. */
static double face_gap(ti_form f[2], int i, ti_vec n, int *face) {
    if (facing(f, i, n, face) < 0.9) return -1e300;
    ti_vec out = ti_form_face_normal(&f[i], *face);
    return ti_separation(f, ti_scale(i ? -1 : 1, ti_mul(&f[i].s->R, out)));
}

/* The shape on whose face contacts are, and the face; -1 if on neither. */
static int reference(ti_form f[2], const ti_near *at, int *face) {
    double gap[2], bias = BIAS * ti_convex_small(f), area[2];
    int its[2], best = -1;
    for (int i = 0; i < 2; i++) gap[i] = face_gap(f, i, at->n, &its[i]);
    bool may[2] = {gap[0] >= at->gap - bias, gap[1] >= at->gap - bias};
    if (may[0] && may[1]) {
        for (int i = 0; i < 2; i++) area[i] = ti_form_face_area(&f[i], its[i]);
        best = fabs(gap[1] - gap[0]) > bias ? gap[1] > gap[0] : area[1] > (1 + EQUAL) * area[0];
    } else if (may[0] || may[1]) {
        best = may[1];
    }
    if (best >= 0) *face = its[best];
    return best;
}

/* The shape whose face leans least over the other, and the face; -1 if none does. Of what leans alike the first. */
static int leaning(ti_form f[2], ti_vec n, int *face) {
    double most = LEANS;
    int best = -1;
    for (int i = 0; i < 2; i++) {
        int its;
        double along = facing(f, i, n, &its);
        if (along > most + 1e-10) most = along, best = i, *face = its;
    }
    return best;
}

/* What rocks on an edge, with a face that leans over the other shape, comes down on what is over that face: of shapes
 * with corners, those of a tube are in ti_along(). */
static void beside(ti_form f[2], const ti_touch *first, ti_vec n, ti_pile *pile) {
    int face, P = f[0].hull && f[1].hull ? leaning(f, n, &face) : -1;
    if (P < 0) return;
    ti_pile_put(pile, first);
    pile->merge = SAME * ti_convex_small(f);
    ti_over_face(f, P, face, pile);
    int count = pile->count;
    pile->count = 0;
    for (int k = 0; k < count; k++) /* none is deeper than the shapes are along their own normal */
        if (pile->t[k].gap >= first->gap) pile->t[pile->count++] = pile->t[k];
}

int ti_not_a_number(const ti_shape *a, const ti_shape *b, ti_touch *out) {
    double probe = 0;
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++) probe += 0 * (a->R.m[k][j] + b->R.m[k][j]);
    probe += 0 * (ti_dot(a->x, a->x) + ti_dot(b->x, b->x) + ti_dot(a->size, a->size) + ti_dot(b->size, b->size));
    if (probe == probe) return 0;
    ti_vec nan = {probe, probe, probe};
    *out = (ti_touch){nan, nan, probe, 0, 0};
    return 1;
}

/* What the distance is found to, relative: of any two shapes; of two that are smooth everywhere. */
static const double CLOSE = 1e-9, ABOUT = 1e-3;

static bool is_ball(const ti_form *f) {
    return f->s->shape == TRIBO_ELLIPSOID;
}

/* Closest points and what meets there; fixed points where no two parts are found that do. @return false beyond the
 * margin. */
static bool closest(ti_form f[2], double margin, ti_near *at, ti_meet *m, bool *exact) {
    *m = (ti_meet){{{TI_FIXED, 0}, {TI_FIXED, 0}}, TI_OF_PARTS, 0};
    if (is_ball(&f[0]) && is_ball(&f[1])) { /* a part each: where they meet is found from about there */
        if (!ti_near_find(f, margin, ABOUT, at)) return false;
        if ((*exact = polish(f, 1e-4, 1e-13, at, m))) return true;
    }
    if (!ti_near_find(f, margin, CLOSE, at)) return false;
    *exact = polish(f, 1e-4, 1e-13, at, m) || polish(f, 0.1, 1e-13, at, m) || polish(f, 0.3, 1e-10, at, m);
    return true;
}

bool ti_convex_distance(const ti_shape *a, const ti_shape *b, ti_touch *t) {
    ti_form f[2] = {ti_form_of(a), ti_form_of(b)};
    ti_near at;
    ti_meet m;
    bool exact;
    if (ti_not_a_number(a, b, t)) return true;
    if (!closest(f, (double)INFINITY, &at, &m, &exact)) return false;
    *t = ti_meet_touch(f, &m, &at);
    return true;
}

bool ti_convex_gather(ti_form f[2], ti_pile *pile, ti_touch *first) {
    ti_near at;
    ti_meet m;
    bool exact;
    if (!closest(f, pile->margin, &at, &m, &exact)) return false;
    *first = ti_meet_touch(f, &m, &at);
    pile->merge = 2e-4 * ti_convex_small(f), pile->least = at.gap;
    int face, P = reference(f, &at, &face);
    if (P >= 0)
        ti_over_face(f, P, face, pile);
    else if (exact) {
        ti_along(f, &at, pile);
        if (pile->count == 0) beside(f, first, at.n, pile);
    }
    return true;
}

int ti_collide_convex(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    ti_form f[2] = {ti_form_of(a), ti_form_of(b)};
    ti_pile pile = {.margin = margin};
    ti_touch first;
    if (ti_not_a_number(a, b, out)) return 1;
    if (!ti_convex_gather(f, &pile, &first)) return 0;
    double least = (double)INFINITY;
    for (int k = 0; k < pile.count; k++) least = fmin(least, pile.t[k].gap);
    if (first.gap < least - 1e-9 * ti_convex_small(f)) ti_pile_put(&pile, &first);
    return ti_pile_thin(&pile, out);
}

void ti_collide_convex_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    ti_form f[2] = {ti_form_of(a), ti_form_of(b)};
    ti_meet m = ti_meet_of(t->feature);
    ti_meet_jac(f, &m, t, J);
}
