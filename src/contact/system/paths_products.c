/* paths_products.c -- products with M and J of trees, and solutions by their factors: paths.c. */
#include "contact/system/paths.h"
#include "math/lanes.h"
#include <limits.h>
#include <math.h>

/* What loops read of *s they read from a copy of it, which no store can change. */

static TI_CLONES void jv(const ti_paths *paths, const double *ref, const double *v, double *c) {
    const ti_paths here = *paths, *const s = &here;
    if (ref)
        memcpy(c, ref, 3 * (size_t)s->nc * sizeof *c);
    else
        memset(c, 0, 3 * (size_t)s->nc * sizeof *c);
    for (int i = 0; i < s->nc; i++, c += 3) {
        int last = s->last[i];
        if (last < 0) continue;
        if (s->single[i]) {
            c[2] += s->rows[3 * (size_t)s->row_at[i]] * v[last];
            continue;
        }
        vec4 sum = {c[0], c[1], c[2], 0};
        const vec4 *col = (const vec4 *)(s->cols + LANE * (size_t)s->row_at[i]);
        const int *way = s->list + s->way[last];
        for (int k = 0, n = s->depth[last]; k < n; k++) sum += col[k] * v[way[k]];
        c[0] = sum[0], c[1] = sum[1], c[2] = sum[2];
    }
}

void ti_paths_jv(const ti_paths *s, const ti_contact_problem *p, const double *v, bool with_ref, double *c) {
    jv(s, with_ref ? p->ref : NULL, v, c);
}

/* Contacts of one way together. */
static TI_CLONES void jt(const ti_paths *paths, const double *lambda, double *y) {
    const ti_paths here = *paths, *const s = &here;
    double *sums = s->along;
    for (int i = 0; i < s->nc; i++) {
        int last = s->last[i];
        const double *R = s->rows + 3 * (size_t)s->row_at[i], *l = lambda + 3 * i;
        if (last >= 0 && s->single[i]) y[last] += R[0] * l[2];
        if (last < 0 || s->single[i]) continue;
        int n = s->depth[last], stride = ti_lanes_padded(n);
        bool first = i == 0 || s->last[i - 1] != last || s->single[i - 1];
        bool end = i + 1 == s->nc || s->last[i + 1] != last || s->single[i + 1];
        for (int b = 0; b < stride; b += LANE) {
            vec4 sum = l[0] * *(const vec4 *)(R + b) + l[1] * *(const vec4 *)(R + stride + b) +
                       l[2] * *(const vec4 *)(R + 2 * stride + b);
            if (!first) sum += *(vec4 *)(sums + b);
            *(vec4 *)(sums + b) = sum;
        }
        const int *way = s->list + s->way[last];
        for (int k = 0; end && k < n; k++) y[way[k]] += sums[k];
    }
}

void ti_paths_jt(const ti_paths *s, const double *lambda, double *y) {
    jt(s, lambda, y);
}

/* sum += |x| */
TI_INLINE void add_size(const vec4 *x, vec4 *sum) {
    *sum += (vec4)(*(const mask4 *)x & LLONG_MAX);
}

/* Contacts of one way together, each row added by itself. */
TI_INLINE void sizes_t(const ti_paths *s, const double *lambda, double *x) {
    double *sums = s->along;
    for (int i = 0; i < s->nc; i++) {
        int last = s->last[i];
        const double *R = s->rows + 3 * (size_t)s->row_at[i], *l = lambda + 3 * i;
        if (last >= 0 && s->single[i]) x[last] += fabs(R[0] * l[2]);
        if (last < 0 || s->single[i]) continue;
        int n = s->depth[last], stride = ti_lanes_padded(n);
        const int *way = s->list + s->way[last];
        for (int k = 0; k < n; k++) sums[k] = x[way[k]];
        for (int b = 0; b < stride; b += LANE)
            for (int r = 0; r < 3; r++) {
                vec4 part = l[r] * *(const vec4 *)(R + r * stride + b);
                add_size(&part, (vec4 *)(sums + b));
            }
        for (int k = 0; k < n; k++) x[way[k]] = sums[k];
    }
}

static TI_CLONES double made_of(const ti_paths *s, const double *minv, const double *lambda, double *x) {
    double *along = s->along, most = 0;
    memset(x, 0, (size_t)s->n * sizeof *x);
    sizes_t(s, lambda, x);
    for (int k = 0; k < s->n; k++) x[k] *= minv[k];
    for (int i = 0, before = -1; i < s->nc; i++) {
        int last = s->last[i];
        if (last < 0) continue;
        if (s->single[i]) {
            most = ti_max(most, fabs(s->rows[3 * (size_t)s->row_at[i]] * x[last]));
            continue;
        }
        const vec4 *col = (const vec4 *)(s->cols + LANE * (size_t)s->row_at[i]);
        const int *way = s->list + s->way[last];
        vec4 sum = {0, 0, 0, 0};
        for (int k = 0; last != before && k < s->depth[last]; k++) along[k] = x[way[k]];
        for (int k = 0; k < s->depth[last]; k++) {
            vec4 part = col[k] * along[k];
            add_size(&part, &sum);
        }
        for (int r = 0; r < 3; r++) most = ti_max(most, sum[r]);
        before = last;
    }
    return most;
}

double ti_paths_made_of(const ti_paths *s, const double *minv, const double *lambda, double *x) {
    return made_of(s, minv, lambda, x);
}

/* ---------------------------------------------------------------- in runs */

/* What a run's rows meet is in s->along, the way from the root to its first velocity; of that the next run takes over
 * what both share. Lanes beyond a velocity meet what its row has there, so `along` is zero there or not used any more.
 */

/* The first n of a lane. */
TI_INLINE const mask4 *first_lanes(int n) {
    static const long long head[2 * LANE] = {-1, -1, -1, -1};
    return (const mask4 *)(head + LANE - (n < 0 ? 0 : n < LANE ? n : LANE));
}

/* In whole lanes, of which what is before `from` and beyond `to` stays: behind its numbers one by one a lane is slow to
 * load. */
TI_INLINE void gather(int from, int to, const int *way, const double *x, double *along) {
    for (int b = from & ~(LANE - 1); b < to; b += LANE) {
        vec4 lane;
        TI_UNROLL for (int k = 0; k < LANE; k++) lane[k] = x[way[b + k < to ? b + k : to - 1]];
        mask4 in = *first_lanes(to - b) & ~*first_lanes(from - b), *at = (mask4 *)(along + b);
        *at = ((mask4)lane & in) | (*at & ~in);
    }
}

/* x = 0 from there to the end of the lane that ends with `to` or beyond. */
TI_INLINE void clear(int from, int to, double *x) {
    int b = from & ~(LANE - 1);
    if (b < from) *(mask4 *)(x + b) &= *first_lanes(from - b), b += LANE;
    for (; b < to; b += LANE) *(vec4 *)(x + b) = (vec4){0, 0, 0, 0};
}

TI_INLINE double dot_lanes(int n, const double *row, const double *along) {
    vec4 sum = {0, 0, 0, 0};
    for (int b = 0; b < n; b += LANE) sum += *(const vec4 *)(row + b) * *(const vec4 *)(along + b);
    return ti_lanes_sum(&sum);
}

static TI_CLONES void mv(const ti_paths *paths, const double *x, double *y) {
    const ti_paths here = *paths, *const s = &here;
    double *along = s->along, *sums = s->work;
    memset(y, 0, (size_t)s->n * sizeof *y);
    for (const ti_run *r = s->run, *end = r + s->nrun; r < end; r++) {
        gather(r->share, r->n, r->way, x, along);
        clear(r->share, r->n, sums);
        for (int at = r->n - 1; at >= r->top; at--) {
            const double *row = s->M + s->at[r->way[at]];
            y[r->way[at]] += sums[at] + dot_lanes(at + 1, row, along);
            ti_lanes_add(at, along[at], row, sums);
        }
        for (int a = r->left; a < r->top; a++) y[r->way[a]] += sums[a];
    }
}

void ti_paths_mv(const ti_paths *s, const double *x, double *y) {
    mv(s, x, y);
}

/* By columns u above the pivots, then by rows l. */
static TI_CLONES void solve(const ti_paths *paths, const double *l, const double *u, double *x) {
    const ti_paths here = *paths, *const s = &here;
    double *along = s->along;
    const ti_run *end = s->run + s->nrun;
    for (const ti_run *r = s->run; r < end; r++) {
        gather(r->share, r->n, r->way, x, along);
        for (int at = r->n - 1; at >= r->top; at--) {
            double now = x[r->way[at]] = along[at];
            ti_lanes_add(at, -now, u + s->at[r->way[at]], along);
        }
        for (int a = r->left; a < r->top; a++) x[r->way[a]] = along[a];
    }
    for (const ti_run *r = end - 1; r >= s->run; r--) {
        gather(r->left, r->top, r->way, x, along);
        clear(r->top, r->top, along);
        for (int at = r->top; at < r->n; at++) { /* those of the run one by one: a lane just stored is slow to load */
            int k = r->way[at];
            const double *row = l + s->at[k];
            double sum = x[k] * s->lower[s->at[k] + at] - dot_lanes(r->top, row, along);
            for (int a = r->top; a < at; a++) sum -= row[a] * x[r->way[a]];
            x[k] = sum;
        }
        gather(r->top, r->n, r->way, x, along);
    }
}

void ti_paths_solve(const ti_paths *s, double *x) {
    solve(s, s->lower, s->symmetric ? s->lower : s->upper, x);
}
void ti_paths_solve_t(const ti_paths *s, double *x) {
    solve(s, s->symmetric ? s->lower : s->upper, s->lower, x);
}

typedef double vec8 __attribute__((vector_size(64), aligned(8), may_alias));

static TI_CLONES_WIDE void solve_panel(const ti_paths *s, double *panel) {
    const double *u = s->symmetric ? s->lower : s->upper;
    vec8 *x = (vec8 *)panel;
    for (int e = 0; e < s->n; e++) {
        int k = s->order[e], n = s->depth[k] - 1;
        const double *from = u + s->at[k];
        const int *way = s->list + s->way[k];
        for (int a = 0; a < n; a++) x[way[a]] -= from[a] * x[k];
    }
    for (int e = s->n - 1; e >= 0; e--) {
        int k = s->order[e], n = s->depth[k] - 1;
        const double *from = s->lower + s->at[k];
        const int *way = s->list + s->way[k];
        vec8 sum = x[k] * from[n];
        for (int a = 0; a < n; a++) sum -= from[a] * x[way[a]];
        x[k] = sum;
    }
}

void ti_paths_solve_panel(const ti_paths *s, double *panel) {
    solve_panel(s, panel);
}
