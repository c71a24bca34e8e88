/* branch.c -- see branch.h. */
#include "dynamics/branch.h"
#include "base/base.h"
#include "base/clones.h"
#include "math/lanes.h"

/* The numbers on the way from one to the root stand in runs: from `run` of the last up to it, then what that is on. */
typedef struct chains {
    const ti_dof *dof;
    int v0, w;
} chains;

static inline int first_of(const chains *c, int last) {
    return c->dof[last].run;
}
/* The last of the next run. */
static inline int next_run(const chains *c, int first) {
    return c->dof[first].on - c->v0;
}

/* Row by row, as the tree has entries. */
TI_CLONES static void times(const chains *c, const double *M, const double *restrict in, double *restrict out) {
    for (int k = 0; k < c->w; k++) {
        const double *restrict row = M + k * c->w;
        double sum = row[k] * in[k], x = in[k];
        for (int last = next_run(c, k); last >= 0; last = next_run(c, first_of(c, last))) {
            for (int e = first_of(c, last); e <= last; e++) out[e] += row[e] * x;
            for (int e = first_of(c, last); e <= last; e++) sum += row[e] * in[e];
        }
        out[k] = sum; /* what it carries comes later */
    }
}

void ti_branch_times(const ti_dof *dof, int v0, int w, const double *M, const double *in, double *out) {
    const chains c = {dof, v0, w};
    times(&c, M, in, out);
}

/* Three eights stay in registers where sums go into them; or, where no more are asked for, two. */
enum { MANY = TI_BRANCH_COLUMNS, EIGHTS = MANY / 8, FEWER = 16 };

TI_INLINE vec8 *eights(double *X, int row) {
    return (vec8 *)(void *)(X + MANY * row);
}
TI_INLINE const vec8 *eights_in(const double *X, int row) {
    return (const vec8 *)(const void *)(X + MANY * row);
}

/* A row is set before those that it carries add to it. */
TI_INLINE void times_eights(int n, const chains *c, const double *M, const double *X, double *Y) {
    for (int k = 0; k < c->w; k++) {
        vec8 x[EIGHTS], sum[EIGHTS];
        for (int e = 0; e < n; e++) x[e] = eights_in(X, k)[e], sum[e] = M[k * (c->w + 1)] * x[e];
        for (int i = next_run(c, k); i >= 0; i = next_run(c, i)) {
            const double entry = M[k * c->w + i];
            for (int e = 0; e < n; e++) {
                sum[e] += entry * eights_in(X, i)[e];
                eights(Y, i)[e] += entry * x[e];
            }
        }
        for (int e = 0; e < n; e++) eights(Y, k)[e] = sum[e];
    }
}

TI_CLONES_WIDE static void times_many(const chains *c, const double *M, int asked, const double *X, double *Y) {
    if (asked <= FEWER)
        times_eights(FEWER / 8, c, M, X, Y);
    else
        times_eights(EIGHTS, c, M, X, Y);
}

void ti_branch_times_many(const ti_dof *dof, int v0, int w, const double *M, int asked, const double *X, double *Y) {
    const chains c = {dof, v0, w};
    times_many(&c, M, asked, X, Y);
}

/* ---- M = L'DL: of L each row has its way from the root alone, one entry after the other ---- */

/* Where in the row of any that hangs on it the run of number `last` begins. */
static inline const double *run_in(const chains *c, const double *row, int last) {
    return row + c->dof[first_of(c, last)].depth - 1;
}

/* to[0..n) -= share row[0..n) */
TI_INLINE void take_off(int n, double share, const double *row, double *to) {
    int b = 0;
    for (; b + LANE <= n; b += LANE) *(vec4 *)(to + b) -= share * *(const vec4 *)(row + b);
    if (n & 2) *(vec2 *)(to + b) -= share * *(const vec2 *)(row + b), b += 2;
    if (n & 1) to[b] -= share * row[b];
}

/* From the leaves up: what a number leaves to those before it. No entry appears that M has not. */
TI_CLONES static bool factor(const chains *of, const double *M, double *L) {
    const chains here = *of, *const c = &here; /* which no store can change */
    for (int k = 0; k < c->w; k++)
        for (int last = k, first; last >= 0; last = next_run(c, first)) {
            first = first_of(c, last);
            double *to = L + k * c->w + c->dof[first].depth - 1;
            for (int e = first; e <= last; e++) to[e - first] = M[k * c->w + e];
        }
    for (int k = c->w - 1; k >= 0; k--) {
        double *row = L + k * c->w;
        int n = c->dof[k].depth - 1;
        if (!(row[n] > 1e-15 * M[k * (c->w + 1)])) return false;
        double inverse = 1 / row[n];
        for (int i = next_run(c, k); i >= 0; i = next_run(c, i)) {
            double share = row[--n] * inverse;
            take_off(n + 1, share, row, L + i * c->w);
            row[n] = share;
        }
    }
    return true;
}

bool ti_branch_factor(const ti_dof *dof, int v0, int w, const double *M, double *L) {
    const chains c = {dof, v0, w};
    return factor(&c, M, L);
}

/* sum - row x, one after the other: runs are short, and two at a time keep the compiler from lanes that it sums singly.
 */
TI_INLINE double less_row(int n, double sum, const double *row, const double *x) {
    int e = 0;
    for (; e + 2 <= n; e += 2) sum -= row[e] * x[e], sum -= row[e + 1] * x[e + 1];
    return e < n ? sum - row[e] * x[e] : sum;
}

TI_CLONES static void solve(const chains *of, const double *L, double *x) {
    const chains here = *of, *const c = &here;
    for (int k = c->w - 1; k >= 0; k--) {
        const double *row = L + k * c->w, share = x[k];
        for (int last = next_run(c, k), n = c->dof[k].depth - 1, first; last >= 0; last = next_run(c, first)) {
            first = first_of(c, last), n -= last - first + 1;
            take_off(last - first + 1, share, row + n, x + first);
        }
    }
    for (int k = 0; k < c->w; k++) {
        const double *row = L + k * c->w;
        int n = c->dof[k].depth - 1, first;
        double sum = x[k] / row[n];
        for (int last = next_run(c, k); last >= 0; last = next_run(c, first)) {
            first = first_of(c, last), n -= last - first + 1;
            sum = less_row(last - first + 1, sum, row + n, x + first);
        }
        x[k] = sum;
    }
}

void ti_branch_solve(const ti_dof *dof, int v0, int w, const double *L, double *x) {
    const chains c = {dof, v0, w};
    solve(&c, L, x);
}

/* X's row i -= share * its row k */
TI_INLINE void row_off(int m, double share, int k, int i, double *X) {
    const double *restrict from = X + k * m;
    double *restrict to = X + i * m;
    for (int e = 0; e < m; e++) to[e] -= share * from[e];
}

TI_CLONES_WIDE static void solve_many(const chains *c, const double *L, int m, double *X) {
    for (int k = c->w - 1; k >= 0; k--)
        for (int i = next_run(c, k), n = c->dof[k].depth - 2; i >= 0; i = next_run(c, i), n--)
            row_off(m, L[k * c->w + n], k, i, X);
    for (int k = 0; k < c->w; k++) {
        const double *row = L + k * c->w;
        double *to = X + k * m;
        for (int e = 0; e < m; e++) to[e] /= row[c->dof[k].depth - 1];
        for (int last = next_run(c, k); last >= 0; last = next_run(c, first_of(c, last))) {
            const double *run = run_in(c, row, last);
            for (int i = first_of(c, last); i <= last; i++) row_off(m, run[i - first_of(c, last)], i, k, X);
        }
    }
}

void ti_branch_solve_many(const ti_dof *dof, int v0, int w, const double *L, int m, double *X) {
    const chains c = {dof, v0, w};
    solve_many(&c, L, m, X);
}

/* ---- not symmetric ---- */

/* Below this share of the largest entry beside it a pivot is too small. */
static const double SMALL = 1e-9;

/* to -= share * row along the way that ends at number i. */
TI_INLINE void way_off(const chains *c, int i, double share, const double *restrict row, double *restrict to) {
    for (int last = i; last >= 0; last = next_run(c, first_of(c, last)))
        for (int j = first_of(c, last); j <= last; j++) to[j] -= share * row[j];
}

/* As factor(); in column k above its pivot stand shares, in its row before it what they are of. */
TI_CLONES static bool factor_lu(const chains *c, double *restrict LU) {
    for (int k = c->w - 1; k >= 0; k--) {
        const double *row = LU + k * c->w;
        double most = 0;
        for (int i = next_run(c, k); i >= 0; i = next_run(c, i))
            most = ti_max(most, ti_max(fabs(row[i]), fabs(LU[i * c->w + k])));
        if (!(fabs(row[k]) > SMALL * most)) return false;
        double inverse = 1 / row[k];
        for (int i = next_run(c, k); i >= 0; i = next_run(c, i)) {
            double share = LU[i * c->w + k] *= inverse;
            if (share != 0) way_off(c, next_run(c, k), share, row, LU + i * c->w);
        }
    }
    return true;
}

bool ti_branch_lu(const ti_dof *dof, int v0, int w, double *K) {
    const chains c = {dof, v0, w};
    return factor_lu(&c, K);
}

TI_CLONES_WIDE static void solve_lu(const chains *c, const double *LU, int m, double *X) {
    for (int k = c->w - 1; k >= 0; k--)
        for (int i = next_run(c, k); i >= 0; i = next_run(c, i)) row_off(m, LU[i * c->w + k], k, i, X);
    for (int k = 0; k < c->w; k++) {
        const double *row = LU + k * c->w;
        double *restrict to = X + k * m, inverse = 1 / row[k];
        for (int i = next_run(c, k); i >= 0; i = next_run(c, i)) {
            const double *restrict from = X + i * m;
            for (int e = 0; e < m; e++) to[e] -= row[i] * from[e];
        }
        for (int e = 0; e < m; e++) to[e] *= inverse;
    }
}

void ti_branch_lu_solve(const ti_dof *dof, int v0, int w, const double *LU, int m, double *X) {
    const chains c = {dof, v0, w};
    solve_lu(&c, LU, m, X);
}

/* The same turned around: what stands before a number in its row first, then its shares. */
TI_INLINE void solve_eights_t(int n, const chains *c, const double *LU, double *X) {
    for (int k = c->w - 1; k >= 0; k--) {
        const double *row = LU + k * c->w, inverse = 1 / row[k];
        vec8 x[EIGHTS];
        for (int e = 0; e < n; e++) x[e] = eights(X, k)[e] *= inverse;
        for (int i = next_run(c, k); i >= 0; i = next_run(c, i))
            for (int e = 0; e < n; e++) eights(X, i)[e] -= row[i] * x[e];
    }
    for (int k = 0; k < c->w; k++) {
        vec8 sum[EIGHTS];
        for (int e = 0; e < n; e++) sum[e] = eights(X, k)[e];
        for (int i = next_run(c, k); i >= 0; i = next_run(c, i))
            for (int e = 0; e < n; e++) sum[e] -= LU[i * c->w + k] * eights(X, i)[e];
        for (int e = 0; e < n; e++) eights(X, k)[e] = sum[e];
    }
}

TI_CLONES_WIDE static void solve_lu_t(const chains *c, const double *LU, int asked, double *X) {
    if (asked <= FEWER)
        solve_eights_t(FEWER / 8, c, LU, X);
    else
        solve_eights_t(EIGHTS, c, LU, X);
}

void ti_branch_lu_solve_t(const ti_dof *dof, int v0, int w, const double *LU, int asked, double *X) {
    const chains c = {dof, v0, w};
    solve_lu_t(&c, LU, asked, X);
}
