/* field.c -- contacts of a convex shape and a height field: of each triangle below it what is the ground's surface.
 *
 * docs/math.md, "Height fields".
 */
#include "collide/field_grid.h"

/* What of a cell is rounding. */
static const double ROUNDING = 1e-9;
/* Contacts at one place whose normals have a larger cosine are one. */
static const double ALIKE = 1 - 1e-6;

/* ---- the feature: that of shape and prism, packed, and the triangle ---- */

static int64_t code_of(const ti_meet *m, int triangle) {
    return (int64_t)m->part[0].kind | (int64_t)m->part[1].kind << 3 | (int64_t)m->rule << 6 |
           (int64_t)m->part[0].id << 8 | (int64_t)m->part[1].id << 25 | (int64_t)m->face << 29 |
           (int64_t)triangle << 46;
}

static ti_meet meet_of(int64_t code, int *triangle) {
    int bits = (1 << 17) - 1;
    ti_part a = {(int)(code & 7), (int)(code >> 8 & bits)}, b = {(int)(code >> 3 & 7), (int)(code >> 25 & 15)};
    *triangle = (int)(code >> 46 & bits);
    return (ti_meet){{a, b}, (int)(code >> 6 & 3), (int)(code >> 29 & bits)};
}

/* ---- what of a prism's contacts is the ground's ---- */

/* Faces touch by their own normal what is in front of them, edges and corners where the ground falls off from them. */
static bool is_surface(const ti_shape *field, int triangle, bool front, const ti_meet *m, ti_vec n) {
    ti_part part = m->part[1];
    if (part.kind == TI_FACE) return front && part.id == TI_TOP_FACE && m->rule != TI_OF_FACE_A;
    bool top = part.kind == TI_EDGE     ? part.id < TI_TOP_EDGES
               : part.kind == TI_VERTEX ? part.id >= TI_TOP_CORNER
                                        : false;
    return top && m->rule != TI_OF_FACE_B && n.z > 0 && ti_field_is_ridge(field, triangle, part, n);
}

/* Whether the shape's point is under the ground where it is behind a face, and over it where it is not: else it is
 * another side's. Of what is round the middle counts. */
static bool is_this_side(const ti_shape *field, const ti_touch *t, double round, double rounding) {
    double gap = t->gap + round;
    ti_vec world = ti_axpy(t->point, -0.5 * t->gap - round, t->normal);
    ti_vec p = ti_tmul(&field->R, ti_sub(world, field->x));
    double height = ti_field_height(field, p);
    if (!(height > -(double)INFINITY) || fabs(gap) < rounding) return true;
    return gap < 0 ? p.z <= height + rounding : p.z >= height - rounding;
}

typedef struct work {
    const ti_shape *field;
    ti_form *other;
    ti_pile pile; /* of the whole ground */
    double rounding;
    bool sunk;  /* its centre is under the ground */
    bool front; /* or in front of the triangle at hand */
} work;

/* In a crease two contacts are at one place. */
static void put(work *w, const ti_touch *t) {
    ti_pile *pile = &w->pile;
    if (ti_beyond(t->gap, pile->margin)) return;
    for (int k = 0; k < pile->count; k++) {
        ti_vec d = ti_sub(t->point, pile->t[k].point);
        if (ti_dot(d, d) < pile->merge * pile->merge && ti_dot(t->normal, pile->t[k].normal) > ALIKE) return;
    }
    if (pile->count == TI_PILE) pile->count = ti_pile_thin(pile, pile->t);
    pile->t[pile->count++] = *t;
}

static void sift(work *w, int triangle, const ti_touch *t) {
    ti_meet m = ti_meet_of(t->feature);
    ti_vec n = ti_scale(-1, ti_tmul(&w->field->R, t->normal)); /* out of the ground */
    if (!is_surface(w->field, triangle, w->front, &m, n)) return;
    if (m.part[1].kind == TI_FACE && !is_this_side(w->field, t, w->other->round, w->rounding)) return;
    ti_touch own = *t;
    own.feature = code_of(&m, triangle);
    put(w, &own);
}

/* Closest points and what is beside them; and whatever is over the top, where the shortest way out is sideways. */
static void on_triangle(work *w, int triangle) {
    ti_prism_hull prism;
    ti_vec middle = ti_field_prism_near(w->field, triangle, &prism);
    ti_shape s = {.shape = TRIBO_MESH, .R = w->field->R, .size = {1, 1, 1}};
    s.x = ti_add(w->field->x, ti_mul(&s.R, middle));
    ti_form f[2] = {*w->other, {.s = &s, .hull = &prism.hull, .scale = {1, 1, 1}, .by = {0, 1, 2}}};
    f[1].small =
        fmin(2 * w->field->size.x / (w->field->mesh->ncol - 1), 2 * w->field->size.y / (w->field->mesh->nrow - 1));
    ti_vec up = ti_mul(&s.R, ti_load3(prism.face[TI_TOP_FACE]));
    double over = ti_separation(f, ti_scale(-1, up));
    if (ti_beyond(over, w->pile.margin)) return;
    ti_pile pile = {.margin = w->pile.margin}, top = {.margin = w->pile.margin, .least = over};
    ti_touch first;
    ti_vec top0 = ti_add(s.x, ti_mul(&s.R, ti_load3(prism.v[TI_TOP_CORNER])));
    w->front = w->sunk || ti_dot(up, ti_sub(w->other->s->x, top0)) >= 0;
    ti_over_face(f, 1, TI_TOP_FACE, &top);
    for (int k = 0; k < top.count; k++) sift(w, triangle, &top.t[k]);
    if (!ti_convex_gather(f, &pile, &first)) return;
    sift(w, triangle, &first);
    for (int k = 0; k < pile.count; k++) sift(w, triangle, &pile.t[k]);
}

/* ---- the pair ---- */

/* The cells that are below a shape between low and high along an axis of n cells, the whole 2 half wide. */
static void cells(double low, double high, double half, int n, int *from, int *to) {
    double first = floor(0.5 * (low / half + 1) * n), last = floor(0.5 * (high / half + 1) * n);
    *from = first > 0 ? first < n ? (int)first : n : 0;
    *to = last < n ? last < 0 ? -1 : (int)last : n - 1;
}

int ti_collide_field(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    ti_form other = ti_form_of(a);
    if (ti_not_a_number(a, b, out)) return 1;
    const ti_mesh *m = b->mesh;
    double wide = fmin(2 * b->size.x / (m->ncol - 1), 2 * b->size.y / (m->nrow - 1));
    work w = {.field = b, .other = &other, .rounding = ROUNDING * wide};
    w.pile.margin = margin, w.pile.merge = 2e-4 * fmin(other.small, wide);
    ti_vec c = ti_tmul(&b->R, ti_sub(a->x, b->x));
    w.sunk = c.z < ti_field_height(b, c);
    double reach[3], centre[3] = {c.x, c.y, c.z}, below = 0;
    int from[2], to[2];
    for (int i = 0; i < 3; i++) {
        ti_vec e = ti_tmul(&a->R, ti_col(&b->R, i));
        below = ti_form_reach(&other, ti_scale(-1, e)), reach[i] = fmax(ti_form_reach(&other, e), below) + margin;
    }
    if (c.z - below > b->size.z * m->highest + margin) return 0;
    for (int i = 0; i < 2; i++)
        cells(centre[i] - reach[i], centre[i] + reach[i], ti_get(b->size, i), (i ? m->nrow : m->ncol) - 1, &from[i],
              &to[i]);
    for (int row = from[1]; row <= to[1]; row++)
        for (int col = from[0]; col <= to[0]; col++)
            for (int half = 0; half < 2; half++) on_triangle(&w, 2 * (row * (m->ncol - 1) + col) + half);
    return ti_pile_thin(&w.pile, out);
}

void ti_collide_field_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    int triangle;
    ti_meet m = meet_of(t->feature, &triangle);
    ti_prism_hull prism;
    ti_field_prism(b, triangle, &prism);
    ti_shape s = *b;
    s.shape = TRIBO_MESH;
    ti_form f[2] = {ti_form_of(a), {.s = &s, .hull = &prism.hull, .by = {0, 1, 2}}};
    ti_store3(f[1].scale, b->size);
    f[1].small = fmin(b->size.x, b->size.y);
    ti_meet_jac(f, &m, t, J);
}
