/* broad.c -- candidate pairs by a grid over the two axes on which the shapes are spread most. */
#include "collide/broad.h"

/* Shapes wider than this many mean widths are compared with all others, so that they do not widen the cells. */
#define LARGE 4.0

void ti_broad_carve(ti_broad *w, ti_arena *m, int n_max, int pairs_max) {
    w->n_max = n_max, w->pairs_max = pairs_max;
    TI_CARVE(m, w->pair, pairs_max);
    TI_CARVE(m, w->pair_scratch, pairs_max);
    TI_CARVE(m, w->item, n_max);
    TI_CARVE(m, w->sorted, n_max);
    TI_CARVE(m, w->start, 4 * n_max + 1);
}

/* The pairs found so far, and what they are found among. */
typedef struct search {
    ti_broad *w;
    int n, count;
    ti_broad_may *may;
    const void *ctx;
} search;

/* Append a pair; false if it does not fit. */
static int put(search *s, int a, int b) {
    if (s->may && !s->may(s->ctx, a, b)) return 1;
    if (s->count == s->w->pairs_max) return 0;
    s->w->pair[s->count++] = a < b ? (ti_broad_pair){a, b} : (ti_broad_pair){b, a};
    return 1;
}

static int apart(const ti_broad_item *s, const ti_broad_item *t) {
    return s->lo[0] > t->hi[0] || t->lo[0] > s->hi[0] || s->lo[1] > t->hi[1] || t->lo[1] > s->hi[1] ||
           s->lo[2] > t->hi[2] || t->lo[2] > s->hi[2];
}

/* Append the pairs of s with items [from, to). */
static int put_overlaps(search *s, const ti_broad_item *t, const ti_broad_item *item, int from, int to) {
    for (int k = from; k < to; k++)
        if (!apart(t, &item[k]) && !put(s, t->id, item[k].id)) return 0;
    return 1;
}

/* False for planes, infinite and NaN boxes. */
static int bounded(ti_vec lo, ti_vec hi) {
    double wide = (hi.x - lo.x) + (hi.y - lo.y) + (hi.z - lo.z);
    return wide < (double)INFINITY && wide > -(double)INFINITY;
}

/* A grid of n[0] by n[1] cells, each at least as wide as the widest shape in it, so that shapes that touch are in the
 * same cell or in neighbours. */
typedef struct grid {
    int axis[2], n[2];
    double origin[2], width[2], limit[2]; /* limit: wider shapes stay out */
} grid;

/* The two axes along which the m centres vary most, and the limits of width. */
static void choose_axes(const ti_broad_item *item, int m, grid *g) {
    double variance[3];
    for (int i = 0; i < 3; i++) {
        double sum = 0, square = 0, first = m > 0 ? item[0].lo[i] + item[0].hi[i] : 0;
        for (int k = 0; k < m; k++) {
            double d = item[k].lo[i] + item[k].hi[i] - first;
            sum += d, square += d * d;
        }
        variance[i] = square - sum * (m > 0 ? sum / m : 0);
    }
    int least = variance[0] < variance[1] ? 0 : 1;
    if (variance[2] <= variance[least]) least = 2;
    g->axis[0] = least == 0 ? 1 : 0, g->axis[1] = least == 2 ? 1 : 2;
    for (int d = 0; d < 2; d++) {
        double sum = 0;
        for (int k = 0; k < m; k++) sum += item[k].hi[g->axis[d]] - item[k].lo[g->axis[d]];
        g->limit[d] = LARGE * (m > 0 ? sum / m : 0);
    }
}

static int too_large(const grid *g, const ti_broad_item *t) {
    return t->hi[g->axis[0]] - t->lo[g->axis[0]] > g->limit[0] || t->hi[g->axis[1]] - t->lo[g->axis[1]] > g->limit[1];
}

/* Lay the cells over the m items; at most 4 m of them. */
static void lay_cells(const ti_broad_item *item, int m, grid *g) {
    int room = 4 * m;
    for (int d = 0; d < 2; d++) {
        int i = g->axis[d];
        double low = (double)INFINITY, high = -low, widest = 0;
        for (int k = 0; k < m; k++) {
            double centre = 0.5 * (item[k].lo[i] + item[k].hi[i]), wide = item[k].hi[i] - item[k].lo[i];
            low = centre < low ? centre : low, high = centre > high ? centre : high;
            widest = wide > widest ? wide : widest;
        }
        /* a little wider, so that rounding does not put touching shapes two cells apart */
        double span = high - low, cells = span / (1.000001 * widest);
        int most = d == 0 ? m : room / g->n[0];
        g->n[d] = cells >= most ? most : cells >= 1 ? (int)cells : 1; /* 0/0 gives 1 */
        g->origin[d] = low, g->width[d] = span > 0 ? span / g->n[d] : 1;
    }
}

static int cell_along(const grid *g, int d, const ti_broad_item *t) {
    double centre = 0.5 * (t->lo[g->axis[d]] + t->hi[g->axis[d]]);
    int at = (int)((centre - g->origin[d]) / g->width[d]);
    return at < g->n[d] ? at : g->n[d] - 1;
}

/* Counting sort of the m items by cell into w->sorted, w->start[c] the first of cell c. */
static void sort_items(ti_broad *w, int m, const grid *g) {
    int cells = g->n[0] * g->n[1];
    memset(w->start, 0, (size_t)(cells + 1) * sizeof *w->start);
    for (int k = 0; k < m; k++) {
        w->item[k].cell = cell_along(g, 1, &w->item[k]) * g->n[0] + cell_along(g, 0, &w->item[k]);
        w->start[w->item[k].cell]++;
    }
    int sum = 0;
    for (int c = 0; c <= cells; c++) {
        int here = w->start[c];
        w->start[c] = sum, sum += here;
    }
    for (int k = 0; k < m; k++) w->sorted[w->start[w->item[k].cell]++] = w->item[k];
    for (int c = cells; c > 0; c--) w->start[c] = w->start[c - 1];
    w->start[0] = 0;
}

/* Each item with those behind it in its cell and the next, and with the three cells of the next row: two runs. */
static int search_grid(search *s, int m, const grid *g) {
    const ti_broad *w = s->w;
    for (int k = 0; k < m; k++) {
        const ti_broad_item *t = &w->sorted[k];
        int x = t->cell % g->n[0], last = x + 1 < g->n[0];
        if (!put_overlaps(s, t, w->sorted, k + 1, w->start[t->cell + last + 1])) return 0;
        int up = t->cell + g->n[0];
        if (up >= g->n[0] * g->n[1]) continue;
        if (!put_overlaps(s, t, w->sorted, w->start[up - (x > 0)], w->start[up + last + 1])) return 0;
    }
    return 1;
}

/* Stable counting sort of the pairs by their second shape, then by their first. */
static void sort_pairs(search *s) {
    ti_broad *w = s->w;
    ti_broad_pair *from = w->pair, *to = w->pair_scratch;
    for (int pass = 0; pass < 2; pass++) {
        memset(w->start, 0, (size_t)(s->n + 1) * sizeof *w->start);
        for (int k = 0; k < s->count; k++) w->start[(pass ? from[k].a : from[k].b) + 1]++;
        for (int i = 0; i < s->n; i++) w->start[i + 1] += w->start[i];
        for (int k = 0; k < s->count; k++) to[w->start[pass ? from[k].a : from[k].b]++] = from[k];
        ti_broad_pair *swap = from;
        from = to, to = swap;
    }
}

int ti_broad_pairs(ti_broad *w, int n, const ti_vec *lo, const ti_vec *hi, ti_broad_may *may, const void *ctx) {
    if (n < 0 || n > w->n_max) return -1;
    search s = {w, n, 0, may, ctx};
    grid g;
    int m = 0;
    for (int i = 0; i < n; i++) {
        if (bounded(lo[i], hi[i])) {
            ti_store3(w->item[m].lo, lo[i]), ti_store3(w->item[m].hi, hi[i]), w->item[m++].id = i;
            continue;
        }
        for (int j = 0; j < n; j++)
            if (j != i && (j < i || bounded(lo[j], hi[j])) && !put(&s, i, j)) return -1;
    }
    choose_axes(w->item, m, &g);
    int small = 0, end = m;
    while (small < end) { /* the large ones to the end, each compared with all that remain */
        if (!too_large(&g, &w->item[small])) {
            small++;
            continue;
        }
        ti_broad_item large = w->item[small];
        w->item[small] = w->item[--end];
        if (!put_overlaps(&s, &large, w->item, 0, end)) return -1;
    }
    if (small > 0) {
        lay_cells(w->item, small, &g);
        sort_items(w, small, &g);
        if (!search_grid(&s, small, &g)) return -1;
    }
    sort_pairs(&s);
    return s.count;
}
