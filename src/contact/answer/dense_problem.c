/* dense_problem.c -- see dense_problem.h: cut into blocks where M is, into impulses where they are fewer than the
 * velocities. */
#include "contact/answer/dense_problem.h"
#include "base/clones.h"
#include "math/dense.h"
#include <math.h>

/* Cut the velocities into blocks of w; false if M couples two of them. */
static bool equal_blocks(tribo_contact_ws *ws, const tribo_contact_problem *p, int w) {
    int n = p->nv;
    if (n % w || n == w) return false;
    for (int i = 0; i < n; i++) {
        ws->owner[i] = i / w;
        for (int j = 0; j < i / w * w; j++)
            if (p->M[(size_t)i * n + j] != 0 || p->M[(size_t)j * n + i] != 0) return false;
    }
    return true;
}

/* Cut them where M is uncoupled; returns how many blocks. */
static int diagonal_blocks(tribo_contact_ws *ws, const tribo_contact_problem *p) {
    int n = p->nv, nblk = 0, reach = 0;
    for (int i = 0; i < n; i++) {
        if (i >= reach && i > 0) nblk++;
        ws->owner[i] = nblk;
        for (int j = n - 1; j > i && j >= reach; j--)
            if (p->M[(size_t)i * n + j] != 0 || p->M[(size_t)j * n + i] != 0) reach = j + 1;
        if (reach < i + 1) reach = i + 1;
    }
    return nblk + 1;
}

/* The first and last block contact i touches; false if it touches a third. */
static bool find_sides(tribo_contact_ws *ws, const tribo_contact_problem *p, int i) {
    int a = -1, b = -1;
    for (int r = 3 * i; r < 3 * i + 3; r++)
        for (int j = 0; j < p->nv; j++) {
            int k = ws->owner[j];
            if (p->J[(size_t)r * p->nv + j] == 0 || k == a || k == b) continue;
            if (a < 0)
                a = k;
            else if (b < 0)
                b = k;
            else
                return false;
        }
    ws->a[i] = a < 0 ? 0 : a, ws->b[i] = b;
    return true;
}

static bool all_sides(tribo_contact_ws *ws, const tribo_contact_problem *p) {
    for (int i = 0; i < p->nc; i++)
        if (!find_sides(ws, p, i)) return false;
    return true;
}

/* The number of blocks, each contact touching two at most: free bodies, planar ones, or what M says. */
static int find_blocks(tribo_contact_ws *ws, const tribo_contact_problem *p) {
    if (p->nv <= 6) return 1;
    for (int w = 6; w >= 3; w -= 3)
        if (equal_blocks(ws, p, w) && all_sides(ws, p)) return p->nv / w;
    int nblk = diagonal_blocks(ws, p);
    return nblk > 1 && all_sides(ws, p) ? nblk : 1;
}

/* Copy M, J into blocks; with nblk = 1 everything is one. */
static void cut(tribo_contact_ws *ws, const tribo_contact_problem *p, int nblk) {
    int n = p->nv, at = 0, jat = 0;
    if (nblk == 1) memset(ws->owner, 0, n * sizeof(int));
    for (int k = 0, first = 0; k < nblk; k++) {
        int w = 0;
        while (first + w < n && ws->owner[first + w] == k) w++;
        ws->width[k] = w, ws->voff[k] = first, ws->moff[k] = at;
        for (int r = 0; r < w; r++)
            memcpy(ws->M + at + (size_t)r * w, p->M + (size_t)(first + r) * n + first, w * sizeof(double));
        at += w * w, first += w;
    }
    for (int i = 0; i < p->nc; i++) {
        if (nblk == 1) ws->a[i] = 0, ws->b[i] = -1;
        ws->joff[i] = jat;
        for (int side = 0; side < 2; side++) {
            int k = side ? ws->b[i] : ws->a[i];
            if (k < 0) continue;
            for (int r = 3 * i; r < 3 * i + 3; r++, jat += ws->width[k])
                memcpy(ws->J + jat, p->J + (size_t)r * n + ws->voff[k], ws->width[k] * sizeof(double));
        }
    }
    memcpy(ws->vfree, p->vfree, n * sizeof(double));
    memset(ws->ref, 0, 3 * p->nc * sizeof(double));
    ws->block.nblk = nblk, ws->block.nv = n;
}

/* A = L L', L in the lower triangle and its transpose in the upper, for the dense M of a problem; false if not positive
 * definite. U (n,ti_ld(n)) is scratch. */
static bool cholesky(int n, const double *A, double *restrict L, double *restrict U) {
    size_t ld = ti_ld(n);
    for (int k = 0; k < n; k++) {
        memcpy(U + k * ld, A + (size_t)k * n, n * sizeof(double));
        for (size_t c = n; c < ld; c++) U[k * ld + c] = 0;
    }
    if (ti_chol(n, U, (int)ld, 0)) return false;
    for (int k = 0; k < n; k++) {
        const double *u = U + k * ld; /* holds the reciprocal of the diagonal */
        L[(size_t)k * n + k] = 1 / u[k];
        for (int c = k + 1; c < n; c++) L[(size_t)c * n + k] = L[(size_t)k * n + c] = u[c];
    }
    return true;
}

static TI_CLONES_WIDE void cholesky_solve(int n, const double *L, double *restrict x) {
    for (int i = 0; i < n; i++) {
        const double *restrict row = L + (size_t)i * n, inverse = 1 / row[i], s = x[i] *= inverse;
        for (int k = i + 1; k < n; k++) x[k] -= row[k] * s;
    }
    for (int i = n - 1; i >= 0; i--) {
        const double *restrict row = L + (size_t)i * n, inverse = 1 / row[i], s = x[i] *= inverse;
        for (int k = 0; k < i; k++) x[k] -= row[k] * s;
    }
}

typedef double vec8 __attribute__((vector_size(8 * TI_LANE), aligned(8), may_alias));

/* G = F F' with pivoting until what remains is rounding: F (n,rank) row-major. Destroys G's diagonal only in scratch.
 */
static TI_CLONES_WIDE int factor_delassus(int n, const double *G, double *F, double *left, int *taken) {
    double largest = 0;
    int rank = 0, ld = ti_ld(n);
    for (int i = 0; i < n; i++) left[i] = G[(size_t)i * n + i], taken[i] = 0, largest = ti_max(largest, left[i]);
    for (; rank < n; rank++) { /* built as (rank,ti_ld(n)), transposed by the caller */
        double *column = F + (size_t)rank * ld;
        int at = -1;
        for (int i = 0; i < n; i++)
            if (!taken[i] && (at < 0 || left[i] > left[at])) at = i;
        if (!(left[at] > 1e-14 * n * largest)) break;
        double root = sqrt(left[at]);
        taken[at] = 1;
        for (int i = 0; i < n; i++) column[i] = 0.5 * (G[(size_t)i * n + at] + G[(size_t)at * n + i]);
        for (int i = n; i < ld; i++) column[i] = 0;
        for (int i = 0; i < ld; i += TI_LANE) {
            vec8 x = *(vec8 *)(column + i);
            for (int k = 0; k < rank; k++) x -= F[(size_t)k * ld + at] * *(const vec8 *)(F + (size_t)k * ld + i);
            *(vec8 *)(column + i) = x;
        }
        for (int i = 0; i < n; i++) {
            column[i] = taken[i] && i != at ? 0 : column[i] / root;
            left[i] -= column[i] * column[i];
        }
        column[at] = root;
    }
    return rank;
}

/* The problem in impulses: M = 1, J = F, ref = g. */
static void cast_delassus(tribo_contact_ws *ws, int nc, const double *G, const double *g) {
    int n = 3 * nc, rank = factor_delassus(n, G, ws->M, ws->ref, ws->owner), w = rank > 0 ? rank : 1;
    if (rank == 0) memset(ws->M, 0, n * sizeof(double));
    for (int r = 0; r < n; r++)
        for (int k = 0; k < w; k++) ws->J[(size_t)r * w + k] = ws->M[(size_t)k * ti_ld(n) + r];
    memset(ws->M, 0, (size_t)w * w * sizeof(double));
    for (int k = 0; k < w; k++) ws->M[(size_t)k * w + k] = 1, ws->vfree[k] = 0;
    memcpy(ws->ref, g, n * sizeof(double));
    for (int i = 0; i < nc; i++) ws->a[i] = 0, ws->b[i] = -1, ws->joff[i] = 3 * i * w;
    ws->width[0] = w, ws->voff[0] = ws->moff[0] = 0;
    ws->block.nblk = 1, ws->block.nv = w;
}

/* Eight columns of Y (n,ld) := L^-1 Y */
TI_INLINE void substitute(int n, int ld, const double *L, double *Y) {
    for (int k = 0; k < n; k++) {
        const double *l = L + (size_t)k * n;
        vec8 *y = (vec8 *)(Y + (size_t)k * ld), x = *y * (1 / l[k]);
        *y = x;
        for (int i = k + 1; i < n; i++) *(vec8 *)(Y + (size_t)i * ld) -= l[i] * x;
    }
}

/* sum (4): sums of products of four columns a of Y (n,ld) with eight columns b */
TI_INLINE void gram(int n, int ld, const double *a, const double *b, vec8 *sum) {
    vec8 s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (int k = 0; k < n; k++, a += ld, b += ld) {
        vec8 x = *(const vec8 *)b;
        s0 += a[0] * x, s1 += a[1] * x, s2 += a[2] * x, s3 += a[3] * x;
    }
    sum[0] = s0, sum[1] = s1, sum[2] = s2, sum[3] = s3;
}

/* ws->G = Y'Y, Y (nv,3 nc) = L^-1 J' in ws->Y with M = L L'; the rows of Y are padded with zeros. */
static TI_CLONES_WIDE void delassus(tribo_contact_ws *ws, const tribo_contact_problem *p) {
    int n = p->nv, n3 = 3 * p->nc, ld = ti_ld(n3);
    double *Y = ws->Y;
    for (int c = 0; c < n3; c++)
        for (int i = 0; i < n; i++) Y[(size_t)i * ld + c] = p->J[(size_t)c * n + i];
    for (int i = 0; i < n; i++)
        for (int c = n3; c < ld; c++) Y[(size_t)i * ld + c] = 0;
    for (int c = 0; c < ld; c += TI_LANE) substitute(n, ld, ws->chol, Y + c);
    for (int r = 0; r < n3; r += 4)
        for (int c = r / TI_LANE * TI_LANE; c < n3; c += TI_LANE) {
            vec8 sum[4];
            gram(n, ld, Y + r, Y + c, sum);
            for (int a = r; a < r + 4 && a < n3; a++)
                for (int b = c; b < c + TI_LANE && b < n3; b++)
                    ws->G[(size_t)a * n3 + b] = ws->G[(size_t)b * n3 + a] = sum[a - r][b - c];
        }
}

static void product(const tribo_contact_problem *p, const double *v, double *c) {
    for (int r = 0; r < 3 * p->nc; r++) {
        c[r] = 0;
        for (int k = 0; k < p->nv; k++) c[r] += p->J[(size_t)r * p->nv + k] * v[k];
    }
}

void ti_dense_jt(const tribo_contact_problem *p, const double *l, double *y) {
    for (int r = 0; r < 3 * p->nc; r++)
        for (int k = 0; k < p->nv; k++) y[k] += p->J[(size_t)r * p->nv + k] * l[r];
}

double ti_dense_leftover(tribo_contact_ws *ws, const tribo_contact_problem *p, const double *lambda) {
    int n = 3 * p->nc, w = ws->block.nv;
    double most = 0, size = 0;
    memset(ws->z, 0, w * sizeof(double)); /* F' lambda */
    for (int r = 0; r < n; r++)
        for (int k = 0; k < w; k++) ws->z[k] += ws->J[(size_t)r * w + k] * lambda[r];
    for (int r = 0; r < n; r++) {
        double rest = 0;
        for (int c = 0; c < n; c++) rest += 0.5 * (p->G[(size_t)r * n + c] + p->G[(size_t)c * n + r]) * lambda[c];
        for (int k = 0; k < w; k++) rest -= ws->J[(size_t)r * w + k] * ws->z[k];
        ws->ref[r] = p->g[r] + rest;
        most = ti_max(most, fabs(rest)), size = ti_max(size, fabs(p->g[r]));
    }
    return most == 0 ? 0 : most / size;
}

void ti_dense_solve(const tribo_contact_ws *ws, int n, double *x) {
    cholesky_solve(n, ws->chol, x);
}

void ti_dense_velocity(tribo_contact_ws *ws, const tribo_contact_problem *p, const double *lambda, double *v) {
    memset(v, 0, p->nv * sizeof(double));
    ti_dense_jt(p, lambda, v);
    cholesky_solve(p->nv, ws->chol, v);
    for (int k = 0; k < p->nv; k++) v[k] += p->vfree[k];
}

tribo_status ti_dense_cast(tribo_contact_ws *ws, const tribo_contact_problem *p) {
    size_t n3 = 3 * (size_t)p->nc;
    ti_contact_problem b = {.nc = p->nc,
                            .width = ws->width,
                            .voff = ws->voff,
                            .moff = ws->moff,
                            .M = ws->M,
                            .a = ws->a,
                            .b = ws->b,
                            .joff = ws->joff,
                            .J = ws->J,
                            .vfree = ws->vfree,
                            .ref = ws->ref,
                            .mu = p->mu,
                            .noise = ws->noise};
    ws->block = b, ws->nc = p->nc, ws->nv = p->nv;
    if (p->G) {
        if (!ti_finite(p->G, n3 * n3) || !ti_finite(p->g, n3) || !ti_finite(p->mu, p->nc)) return TRIBO_E_NONFINITE;
        ws->form = TI_FORM_DELASSUS;
        cast_delassus(ws, p->nc, p->G, p->g);
        return TRIBO_OK;
    }
    size_t nv = p->nv;
    if (!ti_finite(p->M, nv * nv) || !ti_finite(p->J, n3 * nv) || !ti_finite(p->vfree, nv) || !ti_finite(p->mu, p->nc))
        return TRIBO_E_NONFINITE;
    if (!cholesky(p->nv, p->M, ws->chol, ws->M)) return TRIBO_E_SINGULAR;
    int nblk = find_blocks(ws, p);
    if (nblk > 1 || p->nv <= 3 * p->nc) {
        ws->form = TI_FORM_BLOCKS;
        cut(ws, p, nblk);
        return TRIBO_OK;
    }
    ws->form = TI_FORM_DELASSUS;
    delassus(ws, p);
    product(p, p->vfree, ws->c_bar[0]);
    cast_delassus(ws, p->nc, ws->G, ws->c_bar[0]);
    return TRIBO_OK;
}
