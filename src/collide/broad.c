/* broad.c -- sweep and prune. Everything is sorted by total orders, so that the result has no history. */
#include "collide/broad.h"

void ti_broad_carve(ti_broad *w, ti_arena *m, int n_max, int pairs_max) {
    w->n_max = n_max, w->pairs_max = pairs_max;
    TI_CARVE(m, w->pair, pairs_max);
    TI_CARVE(m, w->pair_scratch, pairs_max);
    TI_CARVE(m, w->item, n_max);
    TI_CARVE(m, w->order, n_max);
    TI_CARVE(m, w->order_scratch, n_max);
    TI_CARVE(m, w->unbounded, n_max);
    TI_CARVE(m, w->start, n_max + 1);
    TI_CARVE(m, w->key, n_max);
}

/* False for planes, infinite and NaN boxes. */
static int bounded(ti_vec lo, ti_vec hi) {
    double wide = (hi.x - lo.x) + (hi.y - lo.y) + (hi.z - lo.z);
    return wide < (double)INFINITY && wide > -(double)INFINITY;
}

/* The axis along which the centres of the m shapes in w->order vary most; the first of equals. */
static int spread_axis(const ti_broad *w, int m, const ti_vec *lo, const ti_vec *hi) {
    double sum[3] = {0}, square[3] = {0}, origin[3] = {0};
    for (int k = 0; k < m; k++) {
        ti_vec a = lo[w->order[k]], b = hi[w->order[k]];
        double c[3] = {a.x + b.x, a.y + b.y, a.z + b.z};
        for (int i = 0; i < 3; i++) {
            if (k == 0) origin[i] = c[i];
            double d = c[i] - origin[i];
            sum[i] += d, square[i] += d * d;
        }
    }
    int axis = 0;
    double best = -1;
    for (int i = 0; i < 3; i++) {
        double variance = square[i] - sum[i] * sum[i] / m;
        if (variance > best) best = variance, axis = i;
    }
    return axis;
}

/* Merge sort of the m ids in w->order by (key, id); they come in ascending order and the sort is stable. */
static void sort_order(ti_broad *w, int m) {
    int *from = w->order, *to = w->order_scratch;
    for (int run = 1; run < m; run *= 2) {
        for (int begin = 0; begin < m; begin += 2 * run) {
            int mid = begin + run < m ? begin + run : m, end = begin + 2 * run < m ? begin + 2 * run : m;
            int i = begin, j = mid, k = begin;
            while (i < mid && j < end) {
                int right = w->key[from[j]] < w->key[from[i]];
                to[k++] = right ? from[j] : from[i];
                j += right, i += !right;
            }
            while (i < mid) to[k++] = from[i++];
            while (j < end) to[k++] = from[j++];
        }
        int *swap = from;
        from = to, to = swap;
    }
    w->order = from, w->order_scratch = to;
}

/* The boxes in sweep order, the sweep axis first: what the inner loop reads is consecutive. */
static void line_up(ti_broad *w, int m, int axis, const ti_vec *lo, const ti_vec *hi) {
    for (int k = 0; k < m; k++) {
        int id = w->order[k];
        ti_broad_item *t = &w->item[k];
        for (int i = 0; i < 3; i++) {
            t->lo[i] = ti_get(lo[id], (axis + i) % 3);
            t->hi[i] = ti_get(hi[id], (axis + i) % 3);
        }
        t->id = id;
    }
}

/* Append a pair; false if it does not fit. */
static int put(ti_broad *w, int *count, int n, int a, int b, const int *possible) {
    if (possible && possible[(size_t)a * (size_t)n + (size_t)b] < 0) return 1;
    if (*count == w->pairs_max) return 0;
    w->pair[(*count)++] = a < b ? (ti_broad_pair){a, b} : (ti_broad_pair){b, a};
    return 1;
}

static int sweep(ti_broad *w, int m, int n, int *count, const int *possible) {
    for (int k = 0; k < m; k++) {
        const ti_broad_item *s = &w->item[k];
        for (int l = k + 1; l < m && w->item[l].lo[0] <= s->hi[0]; l++) {
            const ti_broad_item *t = &w->item[l];
            if (t->lo[1] > s->hi[1] || t->hi[1] < s->lo[1] || t->lo[2] > s->hi[2] || t->hi[2] < s->lo[2]) continue;
            if (!put(w, count, n, s->id, t->id, possible)) return 0;
        }
    }
    return 1;
}

/* Stable counting sort of the pairs by their second id, then by their first. */
static void sort_pairs(ti_broad *w, int n, int count) {
    ti_broad_pair *from = w->pair, *to = w->pair_scratch;
    for (int pass = 0; pass < 2; pass++) {
        memset(w->start, 0, (size_t)(n + 1) * sizeof *w->start);
        for (int k = 0; k < count; k++) w->start[(pass ? from[k].a : from[k].b) + 1]++;
        for (int i = 0; i < n; i++) w->start[i + 1] += w->start[i];
        for (int k = 0; k < count; k++) to[w->start[pass ? from[k].a : from[k].b]++] = from[k];
        ti_broad_pair *swap = from;
        from = to, to = swap;
    }
}

int ti_broad_pairs(ti_broad *w, int n, const ti_vec *lo, const ti_vec *hi, const int *possible) {
    if (n > w->n_max) return -1;
    int m = 0, free_ones = 0, count = 0;
    for (int i = 0; i < n; i++) {
        if (bounded(lo[i], hi[i]))
            w->order[m++] = i;
        else
            w->unbounded[free_ones++] = i;
    }
    for (int k = 0; k < free_ones; k++) {
        for (int i = 0; i < m; i++)
            if (!put(w, &count, n, w->unbounded[k], w->order[i], possible)) return -1;
        for (int l = 0; l < k; l++)
            if (!put(w, &count, n, w->unbounded[l], w->unbounded[k], possible)) return -1;
    }
    int axis = spread_axis(w, m, lo, hi);
    for (int k = 0; k < m; k++) w->key[w->order[k]] = ti_get(lo[w->order[k]], axis);
    sort_order(w, m);
    line_up(w, m, axis, lo, hi);
    if (!sweep(w, m, n, &count, possible)) return -1;
    sort_pairs(w, n, count);
    return count;
}
