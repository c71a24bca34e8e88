/* system.c -- pattern, factorization and solution of M + J' D J. */
#include "contact/system/system.h"
#include "contact/problem/products.h"
#include "contact/system/blocks.h"
#include "contact/system/six.h"
#include <lapacke.h>
#include <math.h>

/* ---------------------------------------------------------------- layout */

/* Blocks of fill a column may have on average before an island counts as too large: 3-D piles stay below half. */
enum { FILL = 96 };
/* Blocks of an island at most: the bits of its pattern are quadratic in them. */
enum { BLOCKS = 16384 };

void ti_system_carve(ti_arena *m, const ti_contact_size *most, ti_system *s) {
    int nc_max = most->nc, nv_max = most->nv, nblk_max = most->nblk < BLOCKS ? most->nblk : BLOCKS;
    size_t pairs = (size_t)nblk_max * (nblk_max < FILL ? nblk_max : FILL), words = ((size_t)nblk_max + 63) / 64;
    size_t dense = (size_t)nv_max * nv_max, widest = (size_t)most->wide * most->wide * pairs;
    s->nblk_max = nblk_max, s->nc_max = nc_max;
    s->capacity = dense < widest || nblk_max <= FILL ? dense : widest;
    s->capacity += s->capacity / 3 + 2 * TI_SIX_BLOCK; /* padded blocks of six are a third larger */
    s->nneighbour_max = (int)(pairs / 2 + 1);
    TI_CARVE(m, s->order, nblk_max);
    TI_CARVE(m, s->place, nblk_max);
    TI_CARVE(m, s->start, nblk_max + 1);
    TI_CARVE(m, s->neighbour, s->nneighbour_max);
    TI_CARVE(m, s->upper, s->nneighbour_max);
    TI_CARVE(m, s->lower, s->nneighbour_max);
    TI_CARVE(m, s->diag, nblk_max);
    TI_CARVE(m, s->contact, 2 * (size_t)nc_max);
    TI_CARVE(m, s->bits, words * nblk_max);
    TI_CARVE(m, s->alive, words);
    TI_CARVE(m, s->val, s->capacity);
    TI_CARVE(m, s->pivot, nv_max);
    TI_CARVE(m, s->panel, 8 * (size_t)nv_max);
    TI_CARVE(m, s->rows, 2 * TI_SIX_ROWS * (size_t)nc_max);
    TI_CARVE(m, s->cols, 2 * TI_SIX_COLS * (size_t)nc_max);
    TI_CARVE(m, s->known, 9 * (size_t)nc_max);
    if (most->spins) {
        size_t wide = (size_t)(most->wide < 4 ? 4 : most->wide); /* as much as the largest of the forms of J has */
        TI_CARVE(m, s->coupling, 3 * (size_t)nc_max);
        TI_CARVE(m, s->left, 8 * (2 * wide + 4) * (size_t)nc_max);
    }
    ti_paths_carve(m, most, &s->paths);
}

void ti_system_carve_factors(ti_arena *m, int nc, int nv, ti_system *s) {
    TI_CARVE(m, s->val, s->capacity);
    TI_CARVE(m, s->pivot, nv);
    TI_CARVE(m, s->known, 9 * (size_t)nc);
    TI_CARVE(m, s->paths.lower, s->paths.entries_max);
    TI_CARVE(m, s->paths.upper, s->paths.entries_max);
    s->nknown = -1;
}

/* ---------------------------------------------------------------- products */

void ti_system_pack(ti_system *s, const ti_contact_problem *p) {
    s->nknown = -1;
    ti_paths_pack(&s->paths, p);
    s->thin = s->paths.fits, s->six = !s->thin && ti_six_fits(p);
    if (s->six) ti_six_pack(p, s->rows, s->cols);
    s->coupled = p->spins && s->coupling;
    if (s->coupled) memset(s->coupling, 0, 3 * (size_t)p->nc * sizeof *s->coupling);
}

void ti_system_jv(const ti_system *s, const ti_contact_problem *p, const double *v, bool with_ref, double *c) {
    if (s->paths.fits)
        ti_paths_jv(&s->paths, p, v, with_ref, c);
    else if (s->six)
        ti_six_jv(p, s->cols, v, with_ref, c);
    else
        ti_contact_jv(p, v, with_ref, c);
}

void ti_system_jt(const ti_system *s, const ti_contact_problem *p, const double *lambda, double *y) {
    if (s->paths.fits)
        ti_paths_jt(&s->paths, lambda, y);
    else if (s->six)
        ti_six_jt(p, s->rows, lambda, y);
    else
        ti_contact_jt(p, lambda, y);
}

void ti_system_mv(const ti_system *s, const ti_contact_problem *p, const double *x, double *y) {
    if (s->paths.fits)
        ti_paths_mv(&s->paths, x, y);
    else if (s->six)
        ti_six_mv(p, x, y);
    else
        ti_contact_mv(p, x, y);
}

/* ---------------------------------------------------------------- ordering */

static bool bit(const uint64_t *row, int j) {
    return row[j / 64] >> (j % 64) & 1;
}

static int degree(const uint64_t *row, const uint64_t *alive, int words) {
    int n = 0;
    for (int w = 0; w < words; w++) n += __builtin_popcountll(row[w] & alive[w]);
    return n;
}

static void adjacency(ti_system *s, const ti_contact_problem *p, int words) {
    memset(s->bits, 0, sizeof *s->bits * words * p->nblk);
    for (int i = 0; i < p->nc; i++) {
        int a = p->a[i], b = p->b[i];
        if (b < 0 || a == b) continue;
        s->bits[(size_t)a * words + b / 64] |= (uint64_t)1 << (b % 64);
        s->bits[(size_t)b * words + a / 64] |= (uint64_t)1 << (a % 64);
    }
    memset(s->alive, 0, sizeof *s->alive * words);
    for (int k = 0; k < p->nblk; k++) s->alive[k / 64] |= (uint64_t)1 << (k % 64);
}

/* Minimum degree, ties to the lower index: eliminate, join the neighbours. */
static void order_blocks(ti_system *s, int n, int words) {
    int *deg = s->start; /* free until the lists are made */
    for (int k = 0; k < n; k++) deg[k] = degree(s->bits + (size_t)k * words, s->alive, words);
    for (int k = 0; k < n; k++) {
        int best = -1;
        for (int i = 0; i < n; i++)
            if (bit(s->alive, i) && (best < 0 || deg[i] < deg[best])) best = i;
        s->order[k] = best, s->place[best] = k;
        s->alive[best / 64] &= ~((uint64_t)1 << (best % 64));
        const uint64_t *from = s->bits + (size_t)best * words;
        for (int i = 0; i < n; i++) {
            if (!bit(s->alive, i) || !bit(from, i)) continue;
            uint64_t *to = s->bits + (size_t)i * words;
            for (int w = 0; w < words; w++) to[w] |= from[w];
            to[i / 64] &= ~((uint64_t)1 << (i % 64));
            deg[i] = degree(to, s->alive, words);
        }
    }
}

/* Offset of the block (i, j), i and j different, of the pattern. */
static int block_offset(const ti_system *s, int i, int j) {
    bool up = s->place[i] < s->place[j];
    int k = s->place[up ? i : j], other = up ? j : i;
    for (int e = s->start[k]; e < s->start[k + 1]; e++)
        if (s->neighbour[e] == other) return up ? s->upper[e] : s->lower[e];
    return -1;
}

static tribo_status lists(ti_system *s, const ti_contact_problem *p, int words) {
    size_t used = 0;
    int e = 0;
    for (int i = 0; i < p->nblk; i++) {
        s->diag[i] = (int)used;
        used += s->six ? TI_SIX_BLOCK : (size_t)p->width[i] * p->width[i];
    }
    for (int k = 0; k < p->nblk; k++) {
        int pivot = s->order[k];
        const uint64_t *row = s->bits + (size_t)pivot * words;
        s->start[k] = e;
        for (int l = k + 1; l < p->nblk; l++) {
            int j = s->order[l];
            if (!bit(row, j)) continue;
            size_t area = s->six ? TI_SIX_BLOCK : (size_t)p->width[pivot] * p->width[j];
            if (e == s->nneighbour_max || used + 2 * area > s->capacity) return TRIBO_E_CAPACITY;
            s->neighbour[e] = j;
            s->upper[e] = (int)used, s->lower[e] = (int)(used + area);
            used += 2 * area, e++;
        }
    }
    s->start[p->nblk] = e, s->used = used;
    return used <= s->capacity ? TRIBO_OK : TRIBO_E_CAPACITY;
}

/* Of blocks. */
static tribo_status pattern(ti_system *s, const ti_contact_problem *p) {
    if (p->nblk == 1) {
        s->order[0] = s->place[0] = s->start[0] = s->start[1] = s->diag[0] = 0;
        s->used = s->six ? TI_SIX_BLOCK : (size_t)p->width[0] * p->width[0];
        return s->used <= s->capacity ? TRIBO_OK : TRIBO_E_CAPACITY;
    }
    if (p->nblk > s->nblk_max) return TRIBO_E_CAPACITY;
    int words = (p->nblk + 63) / 64;
    adjacency(s, p, words);
    order_blocks(s, p->nblk, words);
    tribo_status status = lists(s, p, words);
    if (status) return status;
    for (int i = 0; i < p->nc; i++) {
        if (p->b[i] < 0 || p->a[i] == p->b[i]) continue;
        s->contact[2 * i] = block_offset(s, p->a[i], p->b[i]);
        s->contact[2 * i + 1] = block_offset(s, p->b[i], p->a[i]);
    }
    return TRIBO_OK;
}

tribo_status ti_system_pattern(ti_system *s, const ti_contact_problem *p) {
    s->nblk = p->nblk, s->nv = p->nv, s->width = p->width, s->voff = p->voff;
    return s->thin ? TRIBO_OK : pattern(s, p);
}

/* ---------------------------------------------------------------- assembly */

/* T (3,w) = D (3,3) J (3,w) */
static inline void times(double *restrict T, const double *restrict D, const double *restrict J, int w) {
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < w; c++)
            T[r * w + c] = D[3 * r] * J[c] + D[3 * r + 1] * J[w + c] + D[3 * r + 2] * J[2 * w + c];
}

/* K (wr,wc) += J (3,wr)' T (3,wc) */
static inline void add(double *restrict K, const double *restrict J, int wr, const double *restrict T, int wc) {
    for (int r = 0; r < wr; r++)
        for (int c = 0; c < wc; c++)
            K[r * wc + c] += J[r] * T[c] + J[wr + r] * T[wc + c] + J[2 * wr + r] * T[2 * wc + c];
}

static void add_common(double *K, const double *D, const double *Jr, const double *Jc) {
    double T[3 * TI_COMMON];
    times(T, D, Jc, TI_COMMON);
    add(K, Jr, TI_COMMON, T, TI_COMMON);
}

/* K (wr,wc) += Jr' D Jc for blocks of any width, in strips that fit the stack */
static void add_any(double *K, const double *D, const double *Jr, int wr, const double *Jc, int wc) {
    if (wr == TI_COMMON && wc == TI_COMMON) {
        add_common(K, D, Jr, Jc);
        return;
    }
    enum { STRIP = 32 };
    double T[3 * STRIP];
    for (int c0 = 0; c0 < wc; c0 += STRIP) {
        int w = wc - c0 < STRIP ? wc - c0 : STRIP;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < w; c++)
                T[r * w + c] =
                    D[3 * r] * Jc[c0 + c] + D[3 * r + 1] * Jc[wc + c0 + c] + D[3 * r + 2] * Jc[2 * wc + c0 + c];
        for (int r = 0; r < wr; r++)
            for (int c = 0; c < w; c++)
                K[r * wc + c0 + c] += Jr[r] * T[c] + Jr[wr + r] * T[w + c] + Jr[2 * wr + r] * T[2 * w + c];
    }
}

/* The same for columns that are listed. */
static void add_listed(double *K, const double *D, const double *Jr, int wr, const ti_support *r, const double *Jc,
                       int wc, const ti_support *c) {
    enum { STRIP = 32 };
    double T[3 * STRIP];
    if (r->joint && c->joint) {
        int row = r->column[0], col = c->column[0];
        K[row * wc + col] += Jr[2 * wr + row] * D[8] * Jc[2 * wc + col];
        return;
    }
    for (int c0 = 0; c0 < c->n; c0 += STRIP) {
        int n = c->n - c0 < STRIP ? c->n - c0 : STRIP;
        for (int e = 0; e < n; e++) {
            const double *J = Jc + c->column[c0 + e];
            for (int q = 0; q < 3; q++)
                T[q * STRIP + e] = D[3 * q] * J[0] + D[3 * q + 1] * J[wc] + D[3 * q + 2] * J[2 * wc];
        }
        for (int e = 0; e < r->n; e++) {
            const double *J = Jr + r->column[e];
            double *to = K + (size_t)r->column[e] * wc, j0 = J[0], j1 = J[wr], j2 = J[2 * wr];
            for (int q = 0; q < n; q++) to[c->column[c0 + q]] += j0 * T[q] + j1 * T[STRIP + q] + j2 * T[2 * STRIP + q];
        }
    }
}

/* One side of a contact: its rows, and those that D has on its left; the width of its block and which columns are not
 * zero. */
typedef struct side {
    const double *J, *left;
    int w;
    const ti_support *support;
} side;

static void add_sides(double *K, const double *D, const side *r, const side *c) {
    if (r->support && c->support && r->support->column && c->support->column)
        add_listed(K, D, r->left, r->w, r->support, c->J, c->w, c->support);
    else
        add_any(K, D, r->left, r->w, c->J, c->w);
}

/* Of a coupled problem: J + coupling, laid out as J. */
static void tilt(ti_system *s, const ti_contact_problem *p) {
    for (int i = 0; i < p->nc; i++) {
        int host = ti_is_spin(p, i) ? ti_host_of(p, i) : i;
        const double *J = p->J + p->joff[i], *e = s->coupling + 3 * i;
        double *to = s->left + p->joff[host];
        for (int second = 0; second < (p->b[i] >= 0 ? 2 : 1); second++) {
            size_t w = (size_t)p->width[second ? p->b[i] : p->a[i]];
            if (host == i) memcpy(to, J, 3 * w * sizeof *J);
            for (size_t k = 0; host < i && k < w; k++)
                to[2 * w + k] += e[0] * J[k] + e[1] * J[w + k] + e[2] * J[2 * w + k];
            if (host < i) memcpy(s->left + p->joff[i] + (J - (p->J + p->joff[i])), J, 3 * w * sizeof *J);
            J += 3 * w, to += 3 * w;
        }
    }
}

static void assemble(ti_system *s, const ti_contact_problem *p, const double *D) {
    size_t diagonal = 0;
    for (int i = 0; i < p->nblk; i++) {
        size_t n = (size_t)p->width[i] * p->width[i];
        memcpy(s->val + s->diag[i], p->M + p->moff[i], n * sizeof(double));
        diagonal += n;
    }
    memset(s->val + diagonal, 0, (s->used - diagonal) * sizeof(double));
    const double *left = s->coupled ? s->left : p->J;
    if (s->coupled) tilt(s, p);
    for (int i = 0; i < p->nc; i++, D += 9) {
        int a = p->a[i], b = p->b[i], wa = p->width[a];
        size_t next = 3 * (size_t)wa;
        side from = {p->J + p->joff[i], left + p->joff[i], wa, p->support ? p->support + 2 * i : NULL};
        add_sides(s->val + s->diag[a], D, &from, &from);
        if (b < 0) continue;
        side to = {from.J + next, from.left + next, p->width[b], from.support ? from.support + 1 : NULL};
        add_sides(s->val + s->diag[b], D, &to, &to);
        add_sides(s->val + (a == b ? s->diag[a] : s->contact[2 * i]), D, &from, &to);
        add_sides(s->val + (a == b ? s->diag[a] : s->contact[2 * i + 1]), D, &to, &from);
    }
}

/* ---------------------------------------------------------------- factorization */

static tribo_status factor_blocks(ti_system *s, const ti_contact_problem *p, const double *D) {
    assemble(s, p, D);
    bool fine = true;
    for (int k = 0; k < s->nblk; k++) {
        int pivot = s->order[k], w = s->width[pivot], *piv = s->pivot + s->voff[pivot];
        double *A = s->val + s->diag[pivot];
        fine = ti_block_lu(w, A, piv) && fine;
        for (int e = s->start[k]; e < s->start[k + 1]; e++)
            ti_block_solve(w, A, piv, s->width[s->neighbour[e]], s->val + s->upper[e]);
        for (int e = s->start[k]; e < s->start[k + 1]; e++) {
            int i = s->neighbour[e], wi = s->width[i], f = s->start[s->place[i]], g = f;
            ti_block_product_sub(wi, w, wi, s->val + s->lower[e], s->val + s->upper[e], s->val + s->diag[i]);
            for (int h = e + 1; h < s->start[k + 1]; h++) { /* neighbours are in order: one walk finds them all */
                int j = s->neighbour[h], wj = s->width[j];
                while (s->neighbour[f] != j) f++;
                while (s->neighbour[g] != j) g++;
                ti_block_product_sub(wi, w, wj, s->val + s->lower[e], s->val + s->upper[h], s->val + s->upper[f]);
                ti_block_product_sub(wj, w, wi, s->val + s->lower[h], s->val + s->upper[e], s->val + s->lower[g]);
            }
        }
    }
    return fine ? TRIBO_OK : TRIBO_E_SINGULAR;
}

/* Along the ways of trees, and where that meets too small a pivot by blocks, which exchange rows. */
static tribo_status factor_trees(ti_system *s, const ti_contact_problem *p, const double *D) {
    if (s->coupled) ti_paths_tilt(&s->paths, p, s->coupling, s->left);
    s->thin = ti_paths_factor(&s->paths, D);
    if (s->thin) return TRIBO_OK;
    tribo_status status = pattern(s, p);
    return status ? status : factor_blocks(s, p, D);
}

tribo_status ti_system_factor(ti_system *s, const ti_contact_problem *p, const double *D) {
    size_t bytes = 9 * (size_t)p->nc * sizeof *D;
    if (s->nknown == p->nc && memcmp(s->known, D, bytes) == 0) return s->status;
    if (!s->coupled) memcpy(s->known, D, bytes), s->nknown = p->nc;
    if (s->paths.fits)
        s->status = factor_trees(s, p, D);
    else if (s->six) {
        if (s->coupled) ti_six_tilt(p, s->rows, s->coupling, s->left);
        bool fine = ti_six_factor(s, p, s->rows, s->coupled ? s->left : s->rows, D);
        s->status = fine ? TRIBO_OK : TRIBO_E_SINGULAR;
    } else
        s->status = factor_blocks(s, p, D);
    return s->status;
}

/* ---------------------------------------------------------------- solution */

/* K = L U with L the lower blocks (diagonal included) and U = 1 + the upper blocks, which factor() divided. */
static void solve_columns(const ti_system *s, int n, double *x) {
    for (int k = 0; k < s->nblk; k++) {
        int pivot = s->order[k], w = s->width[pivot];
        double *xk = x + (size_t)s->voff[pivot] * n;
        ti_block_solve(w, s->val + s->diag[pivot], s->pivot + s->voff[pivot], n, xk);
        for (int e = s->start[k]; e < s->start[k + 1]; e++) {
            int i = s->neighbour[e];
            ti_block_product_sub(s->width[i], w, n, s->val + s->lower[e], xk, x + (size_t)s->voff[i] * n);
        }
    }
    for (int k = s->nblk - 1; k >= 0; k--) {
        int pivot = s->order[k], w = s->width[pivot];
        for (int e = s->start[k]; e < s->start[k + 1]; e++) {
            int i = s->neighbour[e];
            ti_block_product_sub(w, s->width[i], n, s->val + s->upper[e], x + (size_t)s->voff[i] * n,
                                 x + (size_t)s->voff[pivot] * n);
        }
    }
}

void ti_system_solve(const ti_system *s, int n, double *x) {
    if (n == 1) {
        if (s->thin)
            ti_paths_solve(&s->paths, x);
        else if (s->six)
            ti_six_solve_one(s, x);
        else
            solve_columns(s, 1, x);
        return;
    }
    for (int first = 0; first < n; first += 8) { /* transposed, the directions are contiguous */
        int m = n - first < 8 ? n - first : 8;
        double *rows = x + (size_t)first * s->nv;
        for (int r = 0; r < 8; r++)
            for (int j = 0; j < s->nv; j++) s->panel[(size_t)j * 8 + r] = r < m ? rows[(size_t)r * s->nv + j] : 0;
        if (s->thin)
            ti_paths_solve_panel(&s->paths, s->panel);
        else if (s->six)
            ti_six_solve_panel(s, s->panel);
        else
            solve_columns(s, 8, s->panel);
        for (int r = 0; r < m; r++)
            for (int j = 0; j < s->nv; j++) rows[(size_t)r * s->nv + j] = s->panel[(size_t)j * 8 + r];
    }
}

void ti_system_solve_t(const ti_system *s, double *x) {
    if (s->thin) {
        ti_paths_solve_t(&s->paths, x);
        return;
    }
    if (s->six) {
        ti_six_solve_t(s, x);
        return;
    }
    for (int k = 0; k < s->nblk; k++) {
        int pivot = s->order[k], w = s->width[pivot];
        for (int e = s->start[k]; e < s->start[k + 1]; e++) {
            int i = s->neighbour[e];
            ti_block_product_t_sub(w, s->width[i], s->val + s->upper[e], x + s->voff[pivot], x + s->voff[i]);
        }
    }
    for (int k = s->nblk - 1; k >= 0; k--) {
        int pivot = s->order[k], w = s->width[pivot];
        double *xk = x + s->voff[pivot];
        for (int e = s->start[k]; e < s->start[k + 1]; e++) {
            int i = s->neighbour[e];
            ti_block_product_t_sub(s->width[i], w, s->val + s->lower[e], x + s->voff[i], xk);
        }
        ti_block_solve_t(w, s->val + s->diag[pivot], s->pivot + s->voff[pivot], xk);
    }
}
