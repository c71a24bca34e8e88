/* six.c -- the contact system of free bodies. */
#include "contact/system/six.h"
#include "base/clones.h"
#include <limits.h>
#include <math.h>

typedef double vec8 __attribute__((vector_size(64), may_alias));
typedef double vec4 __attribute__((vector_size(32), may_alias));
typedef double vec2 __attribute__((vector_size(16), aligned(8), may_alias));

bool ti_six_fits(const ti_contact_problem *p) {
    for (int k = 0; k < p->nblk; k++)
        if (p->width[k] != 6) return false;
    return true;
}

/* ---------------------------------------------------------------- products */

static TI_CLONES_WIDE void pack(const ti_contact_problem *p, double *rows, double *cols) {
    for (int i = 0; i < p->nc; i++) {
        const double *J = p->J + p->joff[i];
        for (int side = 0; side < (p->b[i] >= 0 ? 2 : 1); side++, J += 18) {
            double *R = rows + (size_t)(2 * i + side) * TI_SIX_ROWS, *C = cols + (size_t)(2 * i + side) * TI_SIX_COLS;
            for (int r = 0; r < 3; r++, R += 8) {
                for (int k = 0; k < 6; k++) R[k] = J[6 * r + k];
                R[6] = R[7] = 0;
            }
            for (int k = 0; k < 6; k++, C += 4) C[0] = J[k], C[1] = J[6 + k], C[2] = J[12 + k], C[3] = 0;
        }
    }
}

void ti_six_pack(const ti_contact_problem *p, double *rows, double *cols) {
    pack(p, rows, cols);
}

TI_INLINE void times_columns(const double *C, const double *v, vec4 *c) {
    const vec4 *col = (const vec4 *)C;
    for (int k = 0; k < 6; k++) *c += col[k] * v[k];
}

static TI_CLONES_WIDE void jv(const ti_contact_problem *p, const double *cols, const double *v, const double *ref,
                              double *c) {
    const int *a = p->a, *b = p->b, *at = p->voff;
    for (int i = 0, n = p->nc; i < n; i++, cols += 2 * TI_SIX_COLS, c += 3) {
        vec4 sum = {0, 0, 0, 0};
        if (ref) sum = (vec4){ref[3 * i], ref[3 * i + 1], ref[3 * i + 2], 0};
        times_columns(cols, v + at[a[i]], &sum);
        if (b[i] >= 0) times_columns(cols + TI_SIX_COLS, v + at[b[i]], &sum);
        for (int r = 0; r < 3; r++) c[r] = sum[r];
    }
}

void ti_six_jv(const ti_contact_problem *p, const double *cols, const double *v, bool with_ref, double *c) {
    jv(p, cols, v, with_ref ? p->ref : NULL, c);
}

TI_INLINE void add_rows(const double *R, const double *l, double *y) {
    const vec8 *row = (const vec8 *)R;
    vec8 sum = row[0] * l[0] + row[1] * l[1] + row[2] * l[2];
    for (int k = 0; k < 3; k++) ((vec2 *)y)[k] += (vec2){sum[2 * k], sum[2 * k + 1]};
}

static TI_CLONES_WIDE void jt(const ti_contact_problem *p, const double *rows, const double *lambda, double *y) {
    const int *a = p->a, *b = p->b, *at = p->voff;
    for (int i = 0, n = p->nc; i < n; i++, rows += 2 * TI_SIX_ROWS, lambda += 3) {
        add_rows(rows, lambda, y + at[a[i]]);
        if (b[i] >= 0) add_rows(rows + TI_SIX_ROWS, lambda, y + at[b[i]]);
    }
}

void ti_six_jt(const ti_contact_problem *p, const double *rows, const double *lambda, double *y) {
    jt(p, rows, lambda, y);
}

typedef long long bits8 __attribute__((vector_size(64), may_alias));
typedef long long bits4 __attribute__((vector_size(32), may_alias));

TI_INLINE void add_sizes(const double *R, const double *l, double *y) {
    const vec8 *row = (const vec8 *)R;
    vec8 sum = row[0] * l[0], next = row[1] * l[1], last = row[2] * l[2];
    sum = (vec8)((bits8)sum & LLONG_MAX) + (vec8)((bits8)next & LLONG_MAX) + (vec8)((bits8)last & LLONG_MAX);
    for (int k = 0; k < 3; k++) ((vec2 *)y)[k] += (vec2){sum[2 * k], sum[2 * k + 1]};
}

TI_INLINE void sizes_times(const double *C, const double *x, vec4 *c) {
    const bits4 *col = (const bits4 *)C;
    for (int k = 0; k < 6; k++) *c += (vec4)(col[k] & LLONG_MAX) * x[k];
}

static TI_CLONES_WIDE double made_of(const ti_contact_problem *p, const double *rows, const double *cols,
                                     const double *minv, const double *lambda, double *x) {
    const int *a = p->a, *b = p->b, *at = p->voff;
    memset(x, 0, p->nv * sizeof *x);
    for (int i = 0, n = p->nc; i < n; i++, rows += 2 * TI_SIX_ROWS, lambda += 3) {
        add_sizes(rows, lambda, x + at[a[i]]);
        if (b[i] >= 0) add_sizes(rows + TI_SIX_ROWS, lambda, x + at[b[i]]);
    }
    for (int k = 0; k < p->nv; k++) x[k] *= minv[k];
    double most = 0;
    for (int i = 0, n = p->nc; i < n; i++, cols += 2 * TI_SIX_COLS) {
        vec4 sum = {0, 0, 0, 0};
        sizes_times(cols, x + at[a[i]], &sum);
        if (b[i] >= 0) sizes_times(cols + TI_SIX_COLS, x + at[b[i]], &sum);
        for (int r = 0; r < 3; r++) most = ti_max(most, sum[r]);
    }
    return most;
}

double ti_six_made_of(const ti_contact_problem *p, const double *rows, const double *cols, const double *minv,
                      const double *lambda, double *x) {
    return made_of(p, rows, cols, minv, lambda, x);
}

static TI_CLONES_WIDE void mv(const ti_contact_problem *p, const double *x, double *y) {
    for (int b = 0; b < p->nblk; b++) {
        const double *M = p->M + p->moff[b], *xb = x + p->voff[b];
        double *yb = y + p->voff[b], sum[6] = {0, 0, 0, 0, 0, 0};
        for (int k = 0; k < 6; k++) /* M is symmetric: its rows serve as columns */
            for (int j = 0; j < 6; j++) sum[j] += M[6 * k + j] * xb[k];
        for (int j = 0; j < 6; j++) yb[j] = sum[j];
    }
}

void ti_six_mv(const ti_contact_problem *p, const double *x, double *y) {
    mv(p, x, y);
}

void ti_six_tilt(const ti_contact_problem *p, const double *rows, const double *coupling, double *left) {
    memcpy(left, rows, 2 * TI_SIX_ROWS * (size_t)p->nc * sizeof *left);
    for (int i = 0; i < p->nc; i++) {
        if (!ti_is_spin(p, i)) continue;
        for (int side = 0; side < (p->b[i] >= 0 ? 2 : 1); side++) {
            const double *R = rows + (size_t)(2 * i + side) * TI_SIX_ROWS, *e = coupling + 3 * i;
            double *to = left + (size_t)(2 * ti_host_of(p, i) + side) * TI_SIX_ROWS + 16;
            for (int k = 0; k < 6; k++) to[k] += e[0] * R[k] + e[1] * R[8 + k] + e[2] * R[16 + k];
        }
    }
}

/* ---------------------------------------------------------------- assembly */

/* T = D J, rows of 8 */
TI_INLINE void times(vec8 *T, const double *D, const vec8 *J) {
    for (int r = 0; r < 3; r++) T[r] = J[0] * D[3 * r] + J[1] * D[3 * r + 1] + J[2] * D[3 * r + 2];
}

/* K += J' T */
TI_INLINE void add(double *K, const double *J, const vec8 *T) {
    vec8 *row = (vec8 *)K;
    for (int r = 0; r < 6; r++) row[r] += T[0] * J[r] + T[1] * J[8 + r] + T[2] * J[16 + r];
}

TI_INLINE void assemble(ti_system *s, const ti_contact_problem *p, const double *rows, const double *left,
                        const double *D) {
    memset(s->val, 0, s->used * sizeof(double));
    for (int b = 0; b < p->nblk; b++) {
        const double *M = p->M + p->moff[b];
        double *K = s->val + s->diag[b];
        for (int r = 0; r < 6; r++)
            for (int c = 0; c < 6; c++) K[8 * r + c] = M[6 * r + c];
    }
    for (int i = 0; i < p->nc; i++, D += 9, rows += 2 * TI_SIX_ROWS, left += 2 * TI_SIX_ROWS) {
        if (D[8] == 0 && D[0] == 0 && D[4] == 0) continue; /* breaks */
        int a = p->a[i], b = p->b[i];
        vec8 T[3], U[3];
        times(T, D, (const vec8 *)rows);
        add(s->val + s->diag[a], left, T);
        if (b < 0) continue;
        const double *other = left + TI_SIX_ROWS;
        times(U, D, (const vec8 *)(rows + TI_SIX_ROWS));
        add(s->val + s->diag[b], other, U);
        add(s->val + (a == b ? s->diag[a] : s->contact[2 * i]), left, U);
        add(s->val + (a == b ? s->diag[a] : s->contact[2 * i + 1]), other, T);
    }
}

/* ---------------------------------------------------------------- factorization */

/* P A = L U in place; the diagonal of U is stored inverted. */
TI_INLINE bool lu(double *A, int *pivot) {
    static const vec8 right[6] = {{0, 1, 1, 1, 1, 1, 1, 1}, {0, 0, 1, 1, 1, 1, 1, 1}, {0, 0, 0, 1, 1, 1, 1, 1},
                                  {0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 1, 1}};
    vec8 *row = (vec8 *)A;
    bool fine = true;
    for (int k = 0; k < 6; k++) {
        int at = k;
        double largest = fabs(A[8 * k + k]);
        for (int r = k + 1; r < 6; r++) {
            double x = fabs(A[8 * r + k]);
            if (x > largest) largest = x, at = r;
        }
        pivot[k] = at;
        if (at != k) {
            vec8 x = row[k];
            row[k] = row[at], row[at] = x;
        }
        double inverse = 1 / A[8 * k + k];
        fine = fine && fabs(inverse) < HUGE_VAL; /* false for NaN */
        vec8 tail = row[k] * right[k];
        A[8 * k + k] = inverse;
        for (int r = k + 1; r < 6; r++) {
            double l = A[8 * r + k] * inverse;
            row[r] -= tail * l;
            A[8 * r + k] = l;
        }
    }
    return fine;
}

/* X (6,8) := A^-1 X */
TI_INLINE void lu_solve(const double *LU, const int *pivot, double *X) {
    vec8 *x = (vec8 *)X;
    for (int k = 0; k < 6; k++) {
        vec8 t = x[k];
        x[k] = x[pivot[k]], x[pivot[k]] = t;
    }
    for (int k = 0; k < 6; k++)
        for (int r = k + 1; r < 6; r++) x[r] -= x[k] * LU[8 * r + k];
    for (int k = 5; k >= 0; k--) {
        x[k] *= LU[8 * k + k];
        for (int r = 0; r < k; r++) x[r] -= x[k] * LU[8 * r + k];
    }
}

/* C (6,8) -= A (6,6) B (6,8) */
TI_INLINE void product_sub(const double *A, const double *B, double *C) {
    const vec8 *b = (const vec8 *)B;
    vec8 *c = (vec8 *)C;
    for (int r = 0; r < 6; r++) {
        vec8 sum = b[0] * A[8 * r];
        for (int k = 1; k < 6; k++) sum += b[k] * A[8 * r + k];
        c[r] -= sum;
    }
}

static TI_CLONES_WIDE bool factor(ti_system *s, const ti_contact_problem *p, const double *rows, const double *left,
                                  const double *D) {
    assemble(s, p, rows, left, D);
    bool fine = true;
    for (int k = 0; k < s->nblk; k++) {
        int at = s->order[k], *piv = s->pivot + s->voff[at];
        double *A = s->val + s->diag[at];
        fine = lu(A, piv) && fine;
        for (int e = s->start[k]; e < s->start[k + 1]; e++) lu_solve(A, piv, s->val + s->upper[e]);
        for (int e = s->start[k]; e < s->start[k + 1]; e++) {
            int i = s->neighbour[e], f = s->start[s->place[i]];
            product_sub(s->val + s->lower[e], s->val + s->upper[e], s->val + s->diag[i]);
            for (int h = e + 1; h < s->start[k + 1]; h++) { /* neighbours are in order: one walk finds them all */
                while (s->neighbour[f] != s->neighbour[h]) f++;
                product_sub(s->val + s->lower[e], s->val + s->upper[h], s->val + s->upper[f]);
                product_sub(s->val + s->lower[h], s->val + s->upper[e], s->val + s->lower[f]);
            }
        }
    }
    return fine;
}

bool ti_six_factor(ti_system *s, const ti_contact_problem *p, const double *rows, const double *left, const double *D) {
    return factor(s, p, rows, left, D);
}

/* ---------------------------------------------------------------- solution */

/* Rarely any are exchanged. */
TI_INLINE void exchange(double *x, int i, int j) {
    if (i == j) return;
    double t = x[i];
    x[i] = x[j], x[j] = t;
}

TI_INLINE void solve_one(const double *LU, const int *pivot, double *to) {
    double x[6];
    for (int k = 0; k < 6; k++) exchange(to, k, pivot[k]);
    for (int k = 0; k < 6; k++) x[k] = to[k]; /* what is solved stays in registers */
    TI_UNROLL for (int k = 0; k < 6; k++) TI_UNROLL for (int r = k + 1; r < 6; r++) x[r] -= LU[8 * r + k] * x[k];
    TI_UNROLL for (int k = 5; k >= 0; k--) {
        x[k] *= LU[8 * k + k];
        TI_UNROLL for (int r = 0; r < k; r++) x[r] -= LU[8 * r + k] * x[k];
    }
    for (int k = 0; k < 6; k++) to[k] = x[k];
}

TI_INLINE void vector_sub(const double *A, const double *x, double *y) {
    for (int r = 0; r < 6; r++) {
        double sum = 0;
        for (int k = 0; k < 6; k++) sum += A[8 * r + k] * x[k];
        y[r] -= sum;
    }
}

/* y -= A' x */
TI_INLINE void vector_sub_t(const double *A, const double *x, double *y) {
    const vec8 *row = (const vec8 *)A;
    vec8 sum = row[0] * x[0];
    for (int k = 1; k < 6; k++) sum += row[k] * x[k];
    for (int k = 0; k < 6; k++) y[k] -= sum[k];
}

/* K = L U with L the lower blocks (diagonal included) and U = 1 + the upper blocks, which factor() divided. */
static TI_CLONES_WIDE void solve(const ti_system *s, double *x) {
    for (int k = 0; k < s->nblk; k++) {
        int at = s->order[k];
        double *xk = x + s->voff[at];
        solve_one(s->val + s->diag[at], s->pivot + s->voff[at], xk);
        for (int e = s->start[k]; e < s->start[k + 1]; e++)
            vector_sub(s->val + s->lower[e], xk, x + s->voff[s->neighbour[e]]);
    }
    for (int k = s->nblk - 1; k >= 0; k--)
        for (int e = s->start[k]; e < s->start[k + 1]; e++)
            vector_sub(s->val + s->upper[e], x + s->voff[s->neighbour[e]], x + s->voff[s->order[k]]);
}

void ti_six_solve_one(const ti_system *s, double *x) {
    solve(s, x);
}

static TI_CLONES_WIDE void solve_panel(const ti_system *s, double *x) {
    for (int k = 0; k < s->nblk; k++) {
        int at = s->order[k];
        double *xk = x + 8 * (size_t)s->voff[at];
        lu_solve(s->val + s->diag[at], s->pivot + s->voff[at], xk);
        for (int e = s->start[k]; e < s->start[k + 1]; e++)
            product_sub(s->val + s->lower[e], xk, x + 8 * (size_t)s->voff[s->neighbour[e]]);
    }
    for (int k = s->nblk - 1; k >= 0; k--)
        for (int e = s->start[k]; e < s->start[k + 1]; e++)
            product_sub(s->val + s->upper[e], x + 8 * (size_t)s->voff[s->neighbour[e]],
                        x + 8 * (size_t)s->voff[s->order[k]]);
}

void ti_six_solve_panel(const ti_system *s, double *panel) {
    solve_panel(s, panel);
}

TI_INLINE void solve_one_t(const double *LU, const int *pivot, double *to) {
    double x[6];
    for (int k = 0; k < 6; k++) x[k] = to[k];
    TI_UNROLL for (int k = 0; k < 6; k++) {
        x[k] *= LU[8 * k + k];
        TI_UNROLL for (int c = k + 1; c < 6; c++) x[c] -= LU[8 * k + c] * x[k];
    }
    TI_UNROLL for (int k = 5; k > 0; k--) TI_UNROLL for (int c = 0; c < k; c++) x[c] -= LU[8 * k + c] * x[k];
    for (int k = 0; k < 6; k++) to[k] = x[k];
    for (int k = 5; k >= 0; k--) exchange(to, k, pivot[k]);
}

static TI_CLONES_WIDE void solve_t(const ti_system *s, double *x) {
    for (int k = 0; k < s->nblk; k++)
        for (int e = s->start[k]; e < s->start[k + 1]; e++)
            vector_sub_t(s->val + s->upper[e], x + s->voff[s->order[k]], x + s->voff[s->neighbour[e]]);
    for (int k = s->nblk - 1; k >= 0; k--) {
        int at = s->order[k];
        double *xk = x + s->voff[at];
        for (int e = s->start[k]; e < s->start[k + 1]; e++)
            vector_sub_t(s->val + s->lower[e], x + s->voff[s->neighbour[e]], xk);
        solve_one_t(s->val + s->diag[at], s->pivot + s->voff[at], xk);
    }
}

void ti_six_solve_t(const ti_system *s, double *x) {
    solve_t(s, x);
}

void ti_six_invert_turn(int width, const double *M, ti_six_turn *t) {
    *t = (ti_six_turn){0};
    if (width != 6 || (M[22] == 0 && M[23] == 0 && M[29] == 0)) return;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 6; j++)
            if (j != i && M[6 * i + j] != 0) return;
    double a = M[21], b = M[28], c = M[35], d = M[22], e = M[23], f = M[29];
    double xx = b * c - f * f, xy = e * f - c * d, xz = d * f - b * e, inverse = 1 / (a * xx + d * xy + e * xz);
    *t = (ti_six_turn){xx * inverse, (a * c - e * e) * inverse, (a * b - d * d) * inverse, xy * inverse,
                       xz * inverse, (d * e - a * f) * inverse};
}

double ti_six_turned(const ti_six_turn *t, const double *x, const double *y) {
    return x[0] * (t->xx * y[0] + t->xy * y[1] + t->xz * y[2]) + x[1] * (t->xy * y[0] + t->yy * y[1] + t->yz * y[2]) +
           x[2] * (t->xz * y[0] + t->yz * y[1] + t->zz * y[2]);
}
