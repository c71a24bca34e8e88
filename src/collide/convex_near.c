/* convex_near.c -- closest points of two convex shapes: Gilbert, Johnson, Keerthi; of shapes that overlap or nearly
 * touch the shallowest way out, by the growing polytope of van den Bergen. docs/math.md, "Convex shapes".
 */
#include "base/base.h"
#include "collide/surface.h"

/* A point of the difference b - a, and where it comes from. */
typedef struct corner {
    ti_vec w, a, b; /* from the centre of a, along its axes; a and b in the frames of their shapes */
} corner;

typedef struct search {
    ti_form *f;
    ti_mat C;    /* axes of b in the frame of a */
    ti_vec r;    /* centre of b there */
    double size; /* of coordinates: what rounding is compared with */
} search;

static search begin(ti_form f[2]) {
    search s = {.f = f};
    const ti_shape *a = f[0].s, *b = f[1].s;
    ti_mat Rt = ti_transpose(&a->R);
    s.C = ti_matmul(&Rt, &b->R), s.r = ti_tmul(&a->R, ti_sub(b->x, a->x));
    s.size = ti_norm(s.r) + f[0].small + f[1].small;
    return s;
}

/* The corner furthest against d. */
static corner furthest(const search *s, ti_vec d) {
    corner c;
    c.a = ti_form_support(&s->f[0], d);
    c.b = ti_form_support(&s->f[1], ti_scale(-1, ti_tmul(&s->C, d)));
    c.w = ti_sub(ti_add(s->r, ti_mul(&s->C, c.b)), c.a);
    return c;
}

/* ---- the closest point to the origin of a simplex ---- */

typedef struct simplex {
    corner c[4];
    double l[4]; /* shares of the closest point */
    int n;
} simplex;

static double determinant(ti_vec a, ti_vec b, ti_vec c) {
    return ti_dot(a, ti_cross(b, c));
}

/* Shares of the corners `at` of a face of n corners; false where the foot is outside or there is none. */
static bool foot(const simplex *s, const int *at, int n, double *l) {
    ti_vec a = s->c[at[0]].w;
    if (n == 1) return l[0] = 1, true;
    ti_vec u = ti_sub(s->c[at[1]].w, a);
    if (n == 2) {
        double uu = ti_dot(u, u);
        l[1] = -ti_dot(a, u) / uu, l[0] = 1 - l[1];
        return uu > 0 && l[0] > 0 && l[1] > 0;
    }
    ti_vec v = ti_sub(s->c[at[2]].w, a);
    if (n == 3) {
        ti_vec k = ti_cross(u, v);
        double kk = ti_dot(k, k);
        l[1] = ti_dot(k, ti_cross(v, a)) / kk, l[2] = ti_dot(k, ti_cross(a, u)) / kk, l[0] = 1 - l[1] - l[2];
        return kk > 0 && l[0] > 0 && l[1] > 0 && l[2] > 0;
    }
    ti_vec w = ti_sub(s->c[at[3]].w, a);
    double det = determinant(u, v, w);
    l[1] = -determinant(a, v, w) / det, l[2] = -determinant(u, a, w) / det, l[3] = -determinant(u, v, a) / det;
    l[0] = 1 - l[1] - l[2] - l[3];
    return det != 0 && l[0] > 0 && l[1] > 0 && l[2] > 0 && l[3] > 0;
}

/* Keep the face of the simplex with the closest point. @return that point. */
static ti_vec reduce(simplex *s) {
    simplex best = *s;
    ti_vec closest = {0, 0, 0};
    double least = (double)INFINITY;
    for (int mask = 1; mask < 1 << s->n; mask++) {
        int at[4] = {0}, n = 0;
        double l[4];
        for (int i = 0; i < s->n; i++)
            if (mask >> i & 1) at[n++] = i;
        if (!foot(s, at, n, l)) continue;
        ti_vec v = {0, 0, 0};
        for (int i = 0; i < n; i++) v = ti_axpy(v, l[i], s->c[at[i]].w);
        double square = n == 4 ? 0 : ti_dot(v, v);
        if (square >= least) continue;
        least = square, closest = n == 4 ? ti_vec3(0, 0, 0) : v, best.n = n;
        for (int i = 0; i < n; i++) best.c[i] = s->c[at[i]], best.l[i] = l[i];
    }
    *s = best;
    return closest;
}

static bool known(const simplex *s, const corner *c) {
    for (int i = 0; i < s->n; i++)
        if (s->c[i].w.x == c->w.x && s->c[i].w.y == c->w.y && s->c[i].w.z == c->w.z) return true;
    return false;
}

/* ---- the polytope ---- */

enum { CORNERS = 160, FACES = 2 * CORNERS, STEPS = 64 };

typedef struct face {
    int c[3];
    ti_vec n; /* outward */
    double d; /* how far out its plane is from the origin */
} face;

typedef struct polytope {
    corner c[CORNERS];
    face f[FACES];
    int nc, nf;
} polytope;

static bool add_face(polytope *y, int a, int b, int c) {
    ti_vec n = ti_cross(ti_sub(y->c[b].w, y->c[a].w), ti_sub(y->c[c].w, y->c[a].w));
    double length = ti_norm(n);
    if (y->nf == FACES) return false;
    n = ti_scale(length > 0 ? 1 / length : 0, n);
    /* one without a normal is never the nearest */
    y->f[y->nf++] = (face){{a, b, c}, n, length > 0 ? ti_dot(n, y->c[a].w) : (double)INFINITY};
    return true;
}

/* Four corners that are not in a plane. */
static bool start(const search *s, polytope *y) {
    ti_vec d = ti_dot(s->r, s->r) > 0 ? ti_scale(1 / ti_norm(s->r), s->r) : ti_vec3(1, 0, 0), e, k;
    y->nf = 0, y->nc = 4;
    y->c[0] = furthest(s, d), y->c[1] = furthest(s, ti_scale(-1, d));
    e = ti_sub(y->c[1].w, y->c[0].w);
    k = ti_cross(e, fabs(e.x) < 0.6 * ti_norm(e) ? ti_vec3(1, 0, 0) : ti_vec3(0, 1, 0));
    y->c[2] = furthest(s, ti_scale(1 / ti_norm(k), k));
    k = ti_cross(e, ti_sub(y->c[2].w, y->c[0].w));
    if (ti_norm(k) < 1e-10 * s->size * s->size) {
        k = ti_cross(e, ti_vec3(e.y, e.z, e.x));
        y->c[2] = furthest(s, ti_scale(-1 / ti_norm(k), k)), k = ti_cross(e, ti_sub(y->c[2].w, y->c[0].w));
    }
    k = ti_scale(1 / ti_norm(k), k);
    y->c[3] = furthest(s, k);
    double volume = ti_dot(k, ti_sub(y->c[3].w, y->c[0].w));
    if (fabs(volume) < 1e-6 * s->size)
        y->c[3] = furthest(s, ti_scale(-1, k)), volume = ti_dot(k, ti_sub(y->c[3].w, y->c[0].w));
    if (!(fabs(volume) > 0)) return false;
    if (volume > 0) {
        corner swap = y->c[1];
        y->c[1] = y->c[2], y->c[2] = swap;
    }
    return add_face(y, 0, 1, 2) && add_face(y, 0, 3, 1) && add_face(y, 0, 2, 3) && add_face(y, 1, 3, 2);
}

/* Faces that see the new corner give way to those between it and the border of what they covered. So do those in whose
 * plane it is, to rounding: some of them gone and some not, new ones would fold back over what is left. */
static bool grow(polytope *y, int at, double rounding) {
    int border[FACES][2], n = 0, kept = 0;
    for (int i = 0; i < y->nf; i++) {
        const face *f = &y->f[i];
        if (f->d < (double)INFINITY && ti_dot(f->n, y->c[at].w) < f->d - rounding) {
            y->f[kept++] = *f;
            continue;
        }
        for (int k = 0; k < 3; k++) { /* an edge seen from both sides is not on the border */
            int a = f->c[k], b = f->c[(k + 1) % 3], e = 0;
            while (e < n && !(border[e][0] == b && border[e][1] == a)) e++;
            if (e < n)
                border[e][0] = border[n - 1][0], border[e][1] = border[n - 1][1], n--;
            else if (n < FACES)
                border[n][0] = a, border[n][1] = b, n++;
        }
    }
    y->nf = kept;
    for (int e = 0; e < n; e++)
        if (!add_face(y, border[e][0], border[e][1], at)) return false;
    return true;
}

static int nearest_face(const polytope *y) {
    int best = 0;
    for (int i = 1; i < y->nf; i++)
        if (y->f[i].d < y->f[best].d) best = i;
    return best;
}

/* The way out through a face: against its normal, since the corners are b - a. */
static void way_out(const search *s, const polytope *y, const face *f, ti_near *at) {
    const corner *a = &y->c[f->c[0]], *b = &y->c[f->c[1]], *c = &y->c[f->c[2]];
    ti_vec p = ti_scale(f->d, f->n), u = ti_sub(b->w, a->w), v = ti_sub(c->w, a->w), k = ti_cross(u, v);
    double kk = ti_dot(k, k), l1 = ti_dot(k, ti_cross(ti_sub(p, a->w), v)) / kk,
           l2 = ti_dot(k, ti_cross(u, ti_sub(p, a->w))) / kk;
    at->p[0] = ti_axpy(ti_axpy(ti_scale(1 - l1 - l2, a->a), l1, b->a), l2, c->a);
    at->p[1] = ti_axpy(ti_axpy(ti_scale(1 - l1 - l2, a->b), l1, b->b), l2, c->b);
    at->n = ti_scale(-1, ti_mul(&s->f[0].s->R, f->n)), at->gap = -f->d;
}

/* Whether a polytope comes to its end at it: what is round it only comes near to. */
static bool is_flat(const ti_form *f) {
    return f->hull ? f->s->shape != TRIBO_CYLINDER : f->round > 0;
}

/* From the points of what is furthest to those of the surface. */
static void add_round(const ti_form f[2], ti_near *at) {
    for (int i = 0; i < 2; i++) at->p[i] = ti_axpy(at->p[i], i ? -f[i].round : f[i].round, ti_tmul(&f[i].s->R, at->n));
    at->gap -= f[0].round + f[1].round;
}

/* Where rounding turns faces over the polytope mostly mends itself. Where it grows to its end instead, the best way out
 * so far, which leads past all corners, is close enough to be made exact. */
static bool expand(const search *s, ti_near *at) {
    polytope y;
    if (!start(s, &y)) return false;
    double enough = (is_flat(&s->f[0]) && is_flat(&s->f[1]) ? 1e-10 : 1e-8) * s->size, least = (double)INFINITY;
    while (true) {
        face best = y.f[nearest_face(&y)];
        if (!(best.d < (double)INFINITY)) return false;
        corner next = furthest(s, ti_scale(-1, best.n));
        double out = ti_dot(best.n, next.w);
        bool found = !(out - best.d > enough);
        if (out <= least + enough) {
            least = fmin(least, out);
            way_out(s, &y, &best, at);
            if (!found) at->gap = -out;
        }
        if (found || y.nc == CORNERS) return true;
        y.c[y.nc++] = next;
        if (!grow(&y, y.nc - 1, 1e-11 * s->size) || y.nf == 0) return true;
    }
}

bool ti_near_expand(ti_form f[2], ti_near *at) {
    search s = begin(f);
    if (!expand(&s, at)) return false;
    add_round(f, at);
    return true;
}

/* ---- the pair ---- */

static void closest_points(const search *s, const simplex *x, ti_vec v, double dist, ti_near *at) {
    at->p[0] = at->p[1] = ti_vec3(0, 0, 0);
    for (int i = 0; i < x->n; i++)
        at->p[0] = ti_axpy(at->p[0], x->l[i], x->c[i].a), at->p[1] = ti_axpy(at->p[1], x->l[i], x->c[i].b);
    at->n = ti_mul(&s->f[0].s->R, ti_scale(1 / dist, v)), at->gap = dist;
}

bool ti_near_find(ti_form f[2], double margin, double enough, ti_near *at) {
    search s = begin(f);
    double round = f[0].round + f[1].round;
    simplex x = {.n = 1, .l = {1}};
    x.c[0] = furthest(&s, ti_dot(s.r, s.r) > 0 ? s.r : ti_vec3(1, 0, 0));
    ti_vec v = x.c[0].w;
    double dist = ti_norm(v);
    for (int k = 0; k < STEPS && dist > 1e-6 * s.size; k++) {
        corner next = furthest(&s, v);
        double below = ti_dot(v, next.w) / dist;
        if (ti_beyond(below - round, margin)) return false;
        if (dist - below <= enough * dist || known(&x, &next)) break;
        x.c[x.n++] = next;
        v = reduce(&x);
        if (!(ti_norm(v) < dist)) break;
        dist = ti_norm(v);
    }
    if (dist > 1e-6 * s.size)
        closest_points(&s, &x, v, dist, at), add_round(f, at);
    else if (!ti_near_expand(f, at))
        return false;
    return !ti_beyond(at->gap, margin + 1e-3 * s.size);
}
