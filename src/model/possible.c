/* possible.c -- which geoms can touch: no table of pairs, which would be quadratic in them, but classes of geoms that
 * the filters treat alike. */
#include "model/possible.h"
#include <stdlib.h>

/* ---- layout ---- */

static int listed_most(int ngeom) {
    int all = ngeom < TI_PAIRS_LISTED ? ngeom * (ngeom - 1) / 2 : TI_PAIRS_LISTED;
    return all < TI_PAIRS_LISTED ? all : TI_PAIRS_LISTED;
}

void ti_possible_carve(ti_arena *at, const tribo_builder *b, tribo_model *m) {
    TI_CARVE(at, m->kin, b->ngeom);
    TI_CARVE(at, m->own, b->npair);
    TI_CARVE(at, m->pair_margin, b->npair);
    TI_CARVE(at, m->apart, b->nexclude);
    TI_CARVE(at, m->listed, listed_most(b->ngeom));
}

/* ---- the filters ---- */

/* The first of n entries, in the order of ranks, whose rank is not less; n if there is none. */
static int first_of_rank(const ti_ranked *entries, int n, int64_t rank) {
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (entries[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The pair of their own that geoms i and j have, or -1. */
static int own_pair(const tribo_model *m, int i, int j) {
    if (!m->geom[i].paired || !m->geom[j].paired) return -1;
    int64_t rank = ti_pair_rank(m, i, j);
    int k = first_of_rank(m->own, m->size.npair, rank);
    return k < m->size.npair && m->own[k].rank == rank ? m->own[k].index : -1;
}

static int64_t body_rank(const tribo_model *m, int i, int j) {
    int64_t n = (int64_t)m->size.nbody + 1;
    return i < j ? (i + 1) * n + j + 1 : (j + 1) * n + i + 1;
}

static bool excluded(const tribo_model *m, int i, int j) {
    int64_t rank = body_rank(m, m->geom[i].body, m->geom[j].body);
    for (int k = first_of_rank(m->apart, m->napart, rank); k < m->napart && m->apart[k].rank == rank; k++) {
        int geom = m->apart[k].index;
        if (geom < 0 || geom == i || geom == j) return true;
    }
    return false;
}

/* A body and its parent do not collide, nor what is welded together, in the tree or by equalities: what contact would
 * do a weld undoes. With the world those collide that it does not hold. */
static bool related(const tribo_model *m, int i, int j) {
    if (i < 0 || j < 0) return m->body[i < 0 ? j : i].held == TRIBO_WORLD;
    const ti_body *a = &m->body[i], *b = &m->body[j];
    return a->held == b->held || a->weld_parent == b->weld || b->weld_parent == a->weld;
}

/* Whether two classes of geoms pass the filter of bits. */
static bool classes_meet(const ti_geom *x, const ti_geom *y) {
    return (x->contype & y->conaffinity) || (y->contype & x->conaffinity);
}

/* Without pairs of their own. */
static bool passes(const tribo_model *m, int i, int j) {
    const ti_geom *x = &m->geom[i], *y = &m->geom[j];
    if (x->body == y->body || !classes_meet(x, y)) return false; /* the world is one body */
    return !related(m, x->body, y->body) && !(m->napart && excluded(m, i, j));
}

/* A pair of its own overrules the filters. */
bool ti_can_touch(const tribo_model *m, int i, int j) {
    return passes(m, i, j) || own_pair(m, i, j) >= 0;
}

/* ---- a pair ---- */

/* Whether number k of the material of geom i counts where it touches j: see tribo_pair_def. */
static bool counts(const tribo_model *m, int i, int j, int k) {
    const ti_geom *x = &m->geom[i], *y = &m->geom[j];
    if (x->priority != y->priority) return x->priority > y->priority;
    double a = m->p0[x->p + TI_P_MATERIAL + k], b = m->p0[y->p + TI_P_MATERIAL + k];
    return a > b || (a == b && i < j);
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

bool ti_pair_of(const tribo_model *m, int i, int j, ti_pair *pair) {
    int own = own_pair(m, i, j);
    if (own < 0 && !passes(m, i, j)) return false;
    if (i > j) {
        int swap = i;
        i = j, j = swap;
    }
    const ti_geom *x = &m->geom[i], *y = &m->geom[j];
    bool swap = x->shape > y->shape;
    pair->a = swap ? j : i, pair->b = swap ? i : j;
    pair->length = x->length < y->length ? x->length : y->length;
    int first = own >= 0 ? m->size.np - (m->size.npair - own) * TI_P_PAIR : 0;
    for (int k = 0; k < TI_P_PAIR; k++)
        pair->material[k] = own >= 0 ? first + k : (counts(m, i, j, k) ? x : y)->p + TI_P_MATERIAL + k;
    pair->margin = own >= 0 ? m->pair_margin[own] : larger(x->own_margin, y->own_margin) - larger(x->gap, y->gap);
    pair->twists = m->p0[pair->material[TI_M_TORSION]] > 0, pair->rolls = m->p0[pair->material[TI_M_ROLLING]] > 0;
    return true;
}

bool ti_pair_next(const tribo_model *m, ti_pair_walk *w) {
    for (; w->i < m->size.ngeom; w->i++, w->j = w->i) {
        while (++w->j < m->size.ngeom)
            if (ti_pair_of(m, w->i, w->j, &w->pair)) return true;
    }
    return false;
}

/* ---- all pairs ---- */

/* Whether geoms of the classes that begin at a and b may touch at all. */
static bool kin_meet(const tribo_model *m, int a, int b) {
    const ti_geom *x = &m->geom[m->kin[a].geom], *y = &m->geom[m->kin[b].geom];
    return !(x->body < 0 && y->body < 0) && classes_meet(x, y);
}

/* The pairs between two classes, or within one; false if it was stopped. */
static bool visit_classes(const tribo_model *m, int a, int b, ti_pair_visit *visit, void *ctx) {
    for (int i = a; i < m->kin[a].end; i++)
        for (int j = a == b ? i + 1 : b; j < m->kin[b].end; j++)
            if (passes(m, m->kin[i].geom, m->kin[j].geom) && !visit(ctx, m->kin[i].geom, m->kin[j].geom)) return false;
    return true;
}

void ti_pairs_visit(const tribo_model *m, ti_pair_visit *visit, void *ctx) {
    int n = m->size.ngeom;
    for (int a = 0; a < n; a = m->kin[a].end)
        for (int b = a; b < n; b = m->kin[b].end)
            if (kin_meet(m, a, b) && !visit_classes(m, a, b, visit, ctx)) return;
    for (int k = 0; k < m->size.npair; k++) {
        int i = m->pair_geom[2 * k], j = m->pair_geom[2 * k + 1];
        if (!passes(m, i, j) && !visit(ctx, i, j)) return;
    }
}

/* ---- what contacts depend on ---- */

static void mark_geom(tribo_model *m, int geom) {
    const ti_geom *g = &m->geom[geom];
    const ti_shape_row *shape = ti_shape_of(g->shape);
    for (int k = 0; k < shape->nsize; k++) m->used[g->p + TI_P_SIZE + k] = true;
    m->used[g->p + TI_P_EDGE_RADIUS] = m->p0[g->p + TI_P_EDGE_RADIUS] > 0; /* it was given */
    for (int k = 0; k < 3; k++) m->used[g->p + TI_P_POS + k] = true;
    for (int k = 0; k < 4; k++) m->used[g->p + TI_P_QUAT + k] = shape->turns;
}

/* Geoms of the class at a that touch one of the class at b. */
static void mark_touching(tribo_model *m, int a, int b) {
    for (int i = a; i < m->kin[a].end; i++) {
        bool touches = false;
        for (int j = b; j < m->kin[b].end && !touches; j++) touches = passes(m, m->kin[i].geom, m->kin[j].geom);
        if (touches) mark_geom(m, m->kin[i].geom);
    }
}

/* Whether a step asks for number k of a material where it was not given: compliance as soon as any has some. */
static bool asked_for(const tribo_model *m, int k) {
    return k < TI_M_TORSION || (k == TI_M_COMPLIANCE && m->soft);
}

/* Whether number k of geom i counts against one of the class at b, whose last to count is `least`. */
static bool counts_among(const tribo_model *m, int i, int b, int least, int k) {
    if (!asked_for(m, k) && !(m->p0[m->geom[i].p + TI_P_MATERIAL + k] > 0)) return false;
    if (i == least || !counts(m, i, least, k)) return false;
    if (passes(m, i, least) && own_pair(m, i, least) < 0) return true;
    for (int e = m->kin[b].end - 1; e >= b; e--) {
        int j = m->kin[e].geom;
        if (j != i && counts(m, i, j, k) && passes(m, i, j) && own_pair(m, i, j) < 0) return true;
    }
    return false;
}

/* Numbers of the class at a that count where its geoms touch those of the class at b. */
static void mark_materials(tribo_model *m, int a, int b) {
    for (int k = 0; k < TI_P_PAIR; k++) {
        int least = m->kin[b].geom;
        for (int j = b; j < m->kin[b].end; j++)
            if (m->kin[j].geom != least && counts(m, least, m->kin[j].geom, k)) least = m->kin[j].geom;
        for (int i = a; i < m->kin[a].end; i++) {
            bool *used = &m->used[m->geom[m->kin[i].geom].p + TI_P_MATERIAL + k];
            *used = *used || counts_among(m, m->kin[i].geom, b, least, k);
        }
    }
}

void ti_possible_used(tribo_model *m) {
    int n = m->size.ngeom, pairs_at = m->size.np - m->size.npair * TI_P_PAIR;
    for (int a = 0; a < n; a = m->kin[a].end)
        for (int b = 0; b < n; b = m->kin[b].end)
            if (kin_meet(m, a, b)) mark_touching(m, a, b), mark_materials(m, a, b);
    for (int k = 0; k < 2 * m->size.npair; k++) mark_geom(m, m->pair_geom[k]);
    for (int k = pairs_at; k < m->size.np; k++) m->used[k] = asked_for(m, (k - pairs_at) % TI_P_PAIR) || m->p0[k] > 0;
}

/* Whether number k of some material was given. */
static bool any_given(const tribo_model *m, int k) {
    for (int i = 0; i < m->size.ngeom; i++)
        if (m->p0[m->geom[i].p + TI_P_MATERIAL + k] > 0) return true;
    for (int at = m->size.np - m->size.npair * TI_P_PAIR; at < m->size.np; at += TI_P_PAIR)
        if (m->p0[at + k] > 0) return true;
    return false;
}

/* ---- filling ---- */

/* The body that i moves with: itself, or what it is welded to. Parents come first. */
static void fill_welds(tribo_model *m) {
    for (int i = 0; i < m->size.nbody; i++) {
        ti_body *body = &m->body[i];
        bool welded = body->parent >= 0 && body->njoint == 0;
        body->weld = welded ? m->body[body->parent].weld : i;
        if (welded) body->shared = m->body[body->weld].shared = true;
    }
    for (int i = 0; i < m->size.nbody; i++) {
        int parent = m->body[m->body[i].weld].parent;
        m->body[i].weld_parent = parent >= 0 ? m->body[parent].weld : TRIBO_WORLD;
    }
}

/* What equalities weld together has one number: the least of it. */
static void fill_held(tribo_model *m, const tribo_builder *b) {
    for (int i = 0; i < m->size.nbody; i++) m->body[i].held = m->body[i].weld;
    for (int k = 0; k < b->nequality; k++) {
        const tribo_equality_def *d = &b->equality[k].def;
        if (d->kind != TRIBO_EQUALITY_WELD) continue;
        int x = d->a < 0 ? TRIBO_WORLD : m->body[d->a].held, y = d->b < 0 ? TRIBO_WORLD : m->body[d->b].held;
        for (int i = 0; i < m->size.nbody; i++)
            if (m->body[i].held == (x > y ? x : y)) m->body[i].held = x > y ? y : x;
    }
}

static int by_class(const void *a, const void *b) {
    const ti_kin *x = a, *y = b;
    if (x->contype != y->contype) return x->contype < y->contype ? -1 : 1;
    if (x->conaffinity != y->conaffinity) return x->conaffinity < y->conaffinity ? -1 : 1;
    if (x->still != y->still) return x->still - y->still;
    return x->geom - y->geom;
}

static void fill_classes(tribo_model *m) {
    int n = m->size.ngeom;
    for (int i = 0; i < n; i++) {
        const ti_geom *g = &m->geom[i];
        m->kin[i] = (ti_kin){g->contype, g->conaffinity, g->body < 0, i, 0};
    }
    if (n > 0) qsort(m->kin, (size_t)n, sizeof *m->kin, by_class);
    for (int i = n - 1; i >= 0; i--) {
        const ti_kin *k = &m->kin[i];
        bool same =
            i + 1 < n && k[1].contype == k->contype && k[1].conaffinity == k->conaffinity && k[1].still == k->still;
        m->kin[i].end = same ? k[1].end : i + 1;
    }
}

static int by_rank(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b; /* it comes first in both records */
    return (x > y) - (x < y);
}

/* The farthest that a geom touches anything, with what others add: no further than the larger of two such distances. */
static void fill_distances(tribo_model *m, const tribo_builder *b) {
    for (int i = 0; i < m->size.ngeom; i++) {
        ti_geom *g = &m->geom[i];
        const tribo_geom_def *d = &b->geom[i].def;
        g->own_margin = d->margin, g->gap = d->gap;
        g->length = ti_shape_of(g->shape)->radius(g->mesh, m->p0 + g->p + TI_P_SIZE);
        g->margin = larger(0, d->margin - d->gap);
    }
    for (int k = 0; k < m->size.npair; k++) {
        const tribo_pair_def *d = &b->pair[k].def;
        m->pair_margin[k] = d->margin - d->gap;
        for (int side = 0; side < 2; side++) {
            ti_geom *g = &m->geom[m->pair_geom[2 * k + side]];
            g->paired = true, g->margin = larger(g->margin, m->pair_margin[k]);
        }
    }
}

static void fill_exceptions(tribo_model *m, const tribo_builder *b) {
    for (int k = 0; k < m->size.npair; k++)
        m->own[k] = (ti_ranked){ti_pair_rank(m, m->pair_geom[2 * k], m->pair_geom[2 * k + 1]), k};
    if (m->size.npair) qsort(m->own, (size_t)m->size.npair, sizeof *m->own, by_rank);
    m->napart = b->nexclude;
    for (int k = 0; k < b->nexclude; k++)
        m->apart[k] = (ti_ranked){body_rank(m, b->exclude[k].a, b->exclude[k].b), b->exclude[k].geom};
    if (m->napart) qsort(m->apart, (size_t)m->napart, sizeof *m->apart, by_rank);
}

static int by_geoms(const void *a, const void *b) {
    const ti_pair *x = a, *y = b;
    int first_x = x->a < x->b ? x->a : x->b, first_y = y->a < y->b ? y->a : y->b;
    return first_x != first_y ? first_x - first_y : x->a + x->b - y->a - y->b;
}

static bool list_pair(void *ctx, int i, int j) {
    tribo_model *m = ctx;
    if (m->nlisted + 1 == TI_PAIRS_LISTED) {
        m->nlisted = -1;
        return false;
    }
    return ti_pair_of(m, i, j, &m->listed[m->nlisted++]);
}

static void fill_list(tribo_model *m) {
    ti_pairs_visit(m, list_pair, m);
    if (m->nlisted > 1) qsort(m->listed, (size_t)m->nlisted, sizeof *m->listed, by_geoms);
}

void ti_possible_fill(tribo_model *m, const tribo_builder *b) {
    fill_welds(m);
    fill_held(m, b);
    fill_classes(m);
    fill_distances(m, b);
    fill_exceptions(m, b);
    fill_list(m);
    m->spins = any_given(m, TI_M_TORSION) || any_given(m, TI_M_ROLLING);
    m->soft = any_given(m, TI_M_COMPLIANCE);
}
