/* paths.c -- the contact system of trees. */
#include "contact/system/paths.h"
#include "math/lanes.h"
#include <math.h>

void ti_paths_carve(ti_arena *m, const ti_contact_size *most, ti_paths *s) {
    s->alone = false;
    if (!most->chains) return;
    size_t n = (size_t)most->nv, nc = (size_t)most->nc, wide = (size_t)ti_lanes_padded(2 * most->wide);
    s->n_max = n, s->nc_max = nc;
    s->entries_max = s->list_max = n * wide, s->rows_max = nc * wide;
    TI_CARVE(m, s->parent, n);
    TI_CARVE(m, s->depth, n);
    TI_CARVE(m, s->order, n);
    TI_CARVE(m, s->place, n);
    TI_CARVE(m, s->way, n);
    TI_CARVE(m, s->list, s->list_max);
    TI_CARVE(m, s->run, n);
    TI_CARVE(m, s->at, n);
    TI_CARVE(m, s->M, s->entries_max);
    TI_CARVE(m, s->lower, s->entries_max);
    TI_CARVE(m, s->upper, s->entries_max);
    TI_CARVE(m, s->last, nc);
    TI_CARVE(m, s->row_at, nc);
    TI_CARVE(m, s->single, nc);
    TI_CARVE(m, s->rows, 3 * s->rows_max);
    TI_CARVE(m, s->cols, LANE * s->rows_max);
    TI_CARVE(m, s->work, 3 * (n + LANE));
    TI_CARVE(m, s->along, n + 2 * LANE);
}

/* ---------------------------------------------------------------- ways */

/* One side of a contact: its rows, and the columns of its block that have entries. */
typedef struct side {
    const double *J;
    int n, w, v0;
    const int *column; /* NULL = all */
} side;

static bool side_of(const ti_contact_problem *p, int i, int k, side *out) {
    int blk = k ? p->b[i] : p->a[i];
    if (blk < 0) return false;
    const ti_support *s = p->support + 2 * i + k;
    *out = (side){.J = p->J + p->joff[i] + (k ? 3 * (size_t)p->width[p->a[i]] : 0),
                  .n = s->column ? s->n : p->width[blk],
                  .w = p->width[blk],
                  .v0 = p->voff[blk],
                  .column = s->column};
    return true;
}
static inline int column_of(const side *s, int e) {
    return s->v0 + (s->column ? s->column[e] : e);
}

/* Of what a side moves, that which is eliminated first: the others are on its way. */
static inline int first_of(const side *at) {
    return column_of(at, at->column ? 0 : at->n - 1);
}

/* How many others a block touches, about: contacts of one pair of bodies follow one another. */
static void count_neighbours(const ti_contact_problem *p, int *count) {
    memset(count, 0, (size_t)p->nblk * sizeof *count);
    for (int i = 0, a = -1, b = -1; i < p->nc; i++) {
        if (p->b[i] < 0 || (p->a[i] == a && p->b[i] == b)) continue;
        a = p->a[i], b = p->b[i];
        count[a]++, count[b]++;
    }
}

/* Blocks that touch few others come first, of those wide ones, since what they do not touch with stays apart; inside a
 * block its leaves. */
static void find_order(ti_paths *s, const ti_contact_problem *p) {
    int *count = s->way, n = 0;
    count_neighbours(p, count);
    for (int round = 0; round < p->nblk; round++) {
        int best = -1;
        for (int b = 0; b < p->nblk; b++) {
            if (count[b] < 0) continue;
            bool less = best < 0 || count[b] < count[best];
            if (less || (count[b] == count[best] && p->width[b] > p->width[best])) best = b;
        }
        count[best] = -1;
        for (int k = p->voff[best] + p->width[best] - 1; k >= p->voff[best]; k--) s->place[k] = n, s->order[n++] = k;
    }
}

/* Make one way of those of i and j. */
static void tie(ti_paths *s, int i, int j) {
    if (s->place[j] < s->place[i]) {
        int first = j;
        j = i, i = first;
    }
    while (i != j) {
        int next = s->parent[i];
        if (next == j) return;
        if (next < 0) {
            s->parent[i] = j;
            return;
        }
        if (s->place[next] < s->place[j])
            i = next;
        else
            s->parent[i] = j, i = j, j = next;
    }
}

/* What a side moves that is not on one way. */
static void tie_all(ti_paths *s, const side *at) {
    for (int e = 0; e < at->n; e++) tie(s, first_of(at), column_of(at, e));
}

static void find_parents(ti_paths *s, const ti_contact_problem *p) {
    memcpy(s->parent, p->before, (size_t)p->nv * sizeof *s->parent);
    for (int i = 0; i < p->nc; i++) {
        side a, b;
        if (p->b[i] < 0 && !p->support[2 * i].forked) continue; /* it is on a way already */
        if (!side_of(p, i, 0, &a) || a.n == 0) continue;
        int first = first_of(&a);
        if (p->support[2 * i].forked) tie_all(s, &a);
        if (!side_of(p, i, 1, &b) || b.n == 0) continue;
        if (p->support[2 * i + 1].forked) tie_all(s, &b);
        tie(s, first, first_of(&b));
    }
}

/* Depths, ways and rows. @return false where there is no room. */
static bool lay_out(ti_paths *s) {
    size_t used = 0, listed = 0;
    for (int e = s->n - 1; e >= 0; e--) {
        int k = s->order[e];
        s->depth[k] = s->parent[k] < 0 ? 1 : s->depth[s->parent[k]] + 1;
        s->at[k] = (int)used, s->way[k] = -1;
        used += (size_t)ti_lanes_padded(s->depth[k]);
        if (used > s->entries_max) return false;
    }
    for (int e = 0; e < s->n; e++) {
        int k = s->order[e];
        if (s->way[k] >= 0) continue; /* a leaf above it has listed it */
        if (listed + (size_t)s->depth[k] > s->list_max) return false;
        for (int d = k; d >= 0; d = s->parent[d]) {
            s->list[listed + (size_t)s->depth[d] - 1] = d;
            if (s->way[d] < 0) s->way[d] = (int)listed;
        }
        listed += (size_t)s->depth[k];
    }
    s->entries = used;
    return true;
}

static void find_runs(ti_paths *s) {
    s->nrun = 0;
    for (int e = 0; e < s->n; e++) {
        int k = s->order[e], below = e > 0 ? s->order[e - 1] : -1;
        if (below >= 0 && s->parent[below] == k && s->way[below] == s->way[k])
            s->run[s->nrun - 1].top--;
        else
            s->run[s->nrun++] = (ti_run){.way = s->list + s->way[k], .top = s->depth[k] - 1, .n = s->depth[k]};
    }
    for (int i = 1; i < s->nrun; i++) { /* what the run before has not done with, as far as it is the same */
        ti_run *r = s->run + i, *before = r - 1;
        while (r->share < before->top && r->share < r->n && r->way[r->share] == before->way[r->share]) r->share++;
        before->left = r->share;
    }
}

/* Whether all there is is one block, of which no contact ties two ways. */
static bool is_alone(const ti_contact_problem *p) {
    for (int i = 0; i < p->nc; i++)
        if (p->b[i] >= 0 || p->support[2 * i].forked) return false;
    return p->nblk == 1;
}

/* Order, ways and runs; those of the last problem where they are the same. @return false where there is no room. */
static bool find_ways(ti_paths *s, const ti_contact_problem *p) {
    bool alone = is_alone(p), same = alone && s->alone && s->n == p->nv;
    if (same && memcmp(s->parent, p->before, (size_t)p->nv * sizeof *s->parent) == 0) return true;
    s->alone = false, s->n = p->nv;
    find_order(s, p);
    find_parents(s, p);
    if (!lay_out(s)) return false;
    find_runs(s);
    s->alone = alone;
    return true;
}

/* ---------------------------------------------------------------- M and J along them */

static void pack_inertia(ti_paths *s, const ti_contact_problem *p) {
    memset(s->M, 0, s->entries * sizeof *s->M);
    for (int b = 0; b < p->nblk; b++)
        for (int r = 0, v0 = p->voff[b], w = p->width[b]; r < w; r++) {
            const double *from = p->M + p->moff[b] + (size_t)r * (size_t)w;
            double *to = s->M + s->at[v0 + r];
            for (int d = v0 + r; d >= 0; d = p->before[d]) to[s->depth[d] - 1] = from[d - v0];
        }
}

static void pack_side(const ti_paths *s, const side *from, int stride, double *R, double *C) {
    for (int e = 0; e < from->n; e++) {
        int k = column_of(from, e), d = s->depth[k] - 1;
        const double *J = from->J + (k - from->v0);
        for (int r = 0; r < 3; r++, J += from->w) R[r * stride + d] = C[LANE * d + r] = *J;
    }
}

/* A row of one joint and one number. */
static bool pack_single(ti_paths *s, const ti_contact_problem *p, int i, size_t used) {
    side at;
    s->last[i] = -1, s->row_at[i] = (int)used;
    if (!side_of(p, i, 0, &at) || at.n == 0) return true;
    if (used + LANE > s->rows_max) return false;
    int last = s->last[i] = first_of(&at);
    s->rows[3 * used] = at.J[2 * at.w + last - at.v0];
    return true;
}

/* Contacts along the way of what they move. @return false where there is no room. */
static bool pack_contacts(ti_paths *s, const ti_contact_problem *p) {
    size_t used = 0;
    for (int i = 0; i < p->nc; i++) {
        side at[2];
        int last = -1, n = 0;
        s->single[i] = p->b[i] < 0 && p->support[2 * i].joint;
        if (s->single[i]) {
            if (!pack_single(s, p, i, used)) return false;
            used += s->last[i] < 0 ? 0 : LANE;
            continue;
        }
        for (int k = 0; k < 2; k++)
            if (side_of(p, i, k, &at[n]) && at[n].n > 0) {
                int first = first_of(&at[n++]);
                if (last < 0 || s->depth[first] > s->depth[last]) last = first;
            }
        s->last[i] = last, s->row_at[i] = (int)used;
        if (last < 0) continue;
        int stride = ti_lanes_padded(s->depth[last]);
        if (used + (size_t)stride > s->rows_max) return false;
        double *R = s->rows + 3 * used, *C = s->cols + LANE * used;
        memset(R, 0, 3 * (size_t)stride * sizeof *R), memset(C, 0, LANE * (size_t)stride * sizeof *C);
        for (int k = 0; k < n; k++) pack_side(s, &at[k], stride, R, C);
        used += (size_t)stride;
    }
    return true;
}

void ti_paths_tilt(ti_paths *s, const ti_contact_problem *p, const double *coupling, double *left) {
    double *rows = left, *cols = left + 3 * s->rows_max;
    s->left_rows = rows, s->left_cols = cols;
    for (int i = 0; i < s->nc; i++) {
        int last = s->last[i], stride = last < 0 ? 0 : s->single[i] ? LANE : ti_lanes_padded(s->depth[last]);
        size_t at = (size_t)s->row_at[i];
        memcpy(rows + 3 * at, s->rows + 3 * at, 3 * (size_t)stride * sizeof *rows);
        memcpy(cols + LANE * at, s->cols + LANE * at, LANE * (size_t)stride * sizeof *cols);
        if (!ti_is_spin(p, i)) continue;
        size_t to = (size_t)s->row_at[ti_host_of(p, i)];
        for (int d = 0; d < stride; d++) {
            const double *J = s->cols + LANE * (at + (size_t)d), *e = coupling + 3 * i;
            double more = e[0] * J[0] + e[1] * J[1] + e[2] * J[2];
            rows[3 * to + 2 * (size_t)stride + (size_t)d] += more, cols[LANE * (to + (size_t)d) + 2] += more;
        }
    }
}

void ti_paths_pack(ti_paths *s, const ti_contact_problem *p) {
    s->fits = p->before && p->support && (size_t)p->nv <= s->n_max && (size_t)p->nc <= s->nc_max;
    if (!s->fits) return;
    s->nc = p->nc;
    s->fits = find_ways(s, p);
    if (!s->fits) return;
    pack_inertia(s, p);
    s->fits = pack_contacts(s, p);
    s->left_rows = s->rows, s->left_cols = s->cols;
}

/* ---------------------------------------------------------------- factorization */

/* row[0..n) += x0 T0 + x1 T1 + x2 T2, T (3,stride) */
TI_INLINE void add_three(int n, const double *x, const double *T, int stride, double *row) {
    for (int b = 0; b < n; b += LANE)
        *(vec4 *)(row + b) += x[0] * *(const vec4 *)(T + b) + x[1] * *(const vec4 *)(T + stride + b) +
                              x[2] * *(const vec4 *)(T + 2 * stride + b);
}

/* T (3,stride) = D R, or D' R */
TI_INLINE void times(const double *D, bool transposed, int stride, const double *R, double *T) {
    int down = transposed ? 1 : 3, along = transposed ? 3 : 1;
    for (int r = 0; r < 3; r++, D += down)
        for (int b = 0; b < stride; b += LANE)
            *(vec4 *)(T + r * stride + b) = D[0] * *(const vec4 *)(R + b) + D[along] * *(const vec4 *)(R + stride + b) +
                                            D[2 * along] * *(const vec4 *)(R + 2 * stride + b);
}

/* K += J' D J of one contact. */
TI_INLINE void add_contact(const ti_paths *s, int i, const double *D) {
    int last = s->last[i], n = s->depth[last], stride = ti_lanes_padded(n);
    const double *R = s->rows + 3 * (size_t)s->row_at[i], *C = s->left_cols + LANE * (size_t)s->row_at[i];
    const int *way = s->list + s->way[last];
    double *T = s->work;
    times(D, false, stride, R, T);
    for (int a = 0; a < n; a++) add_three(a + 1, C + LANE * a, T, stride, s->lower + s->at[way[a]]);
    if (s->symmetric) return;
    R = s->left_rows + 3 * (size_t)s->row_at[i], C = s->cols + LANE * (size_t)s->row_at[i];
    times(D, true, stride, R, T);
    for (int a = 0; a < n; a++) add_three(a + 1, C + LANE * a, T, stride, s->upper + s->at[way[a]]);
}

static bool is_symmetric(int nc, const double *D) {
    for (int i = 0; i < nc; i++, D += 9)
        if (D[1] != D[3] || D[2] != D[6] || D[5] != D[7]) return false;
    return true;
}

TI_INLINE void assemble(const ti_paths *s, const double *D) {
    memcpy(s->lower, s->M, s->entries * sizeof *s->M);
    if (!s->symmetric) memcpy(s->upper, s->M, s->entries * sizeof *s->M);
    for (int i = 0; i < s->nc; i++, D += 9) {
        int last = s->last[i];
        if (last < 0 || (D[0] == 0 && D[4] == 0 && D[8] == 0)) continue; /* breaks */
        if (s->single[i]) {
            double J = s->rows[3 * (size_t)s->row_at[i]];
            s->lower[s->at[last] + s->depth[last] - 1] += J * D[8] * J;
        } else
            add_contact(s, i, D);
    }
}

/* Below this share of the largest entry beside it a pivot is too small. */
static const double SMALL = 1e-9;

/* Velocity k: what it leaves to those on its way. */
TI_INLINE bool eliminate(const ti_paths *s, int k) {
    int n = s->depth[k] - 1;
    const int *way = s->list + s->way[k];
    double *l = s->lower + s->at[k], *u = s->upper + s->at[k], pivot = l[n], inverse = 1 / pivot, most = 0;
    double *low = s->work, *up = low + ti_lanes_padded(n);
    ti_lanes_copy(n, l, low), ti_lanes_scale(n, inverse, l);
    if (s->symmetric) {
        if (!(pivot > 0)) return false;
        for (int a = 0; a < n; a++)
            if (low[a] != 0) ti_lanes_add(a + 1, -l[a], low, s->lower + s->at[way[a]]);
    } else {
        ti_lanes_copy(n, u, up), ti_lanes_scale(n, inverse, u);
        for (int a = 0; a < n; a++) most = ti_max(most, ti_max(fabs(low[a]), fabs(up[a])));
        if (!(fabs(pivot) > SMALL * most)) return false;
        for (int a = 0; a < n; a++) {
            if (up[a] != 0) ti_lanes_add(a + 1, -u[a], low, s->lower + s->at[way[a]]);
            if (low[a] != 0) ti_lanes_add(a + 1, -l[a], up, s->upper + s->at[way[a]]);
        }
    }
    l[n] = inverse;
    return fabs(inverse) < HUGE_VAL;
}

static TI_CLONES bool factor(const ti_paths *paths, const double *D) {
    const ti_paths here = *paths, *const s = &here; /* which no store can change */
    assemble(s, D);
    for (int e = 0; e < s->n; e++)
        if (!eliminate(s, s->order[e])) return false;
    return true;
}

bool ti_paths_factor(ti_paths *s, const double *D) {
    s->symmetric = s->left_rows == s->rows && is_symmetric(s->nc, D);
    return factor(s, D);
}
