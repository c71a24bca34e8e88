/* delassus.c -- G = J M^-1 J' + R, contact by contact. docs/math.md eq. (32). */
#include "contact/system/delassus.h"
#include "contact/problem/products.h"
#include "contact/system/blocks.h"

void ti_delassus_carve(ti_arena *m, const ti_contact_size *most, ti_delassus *d) {
    size_t nc = (size_t)most->nc, nv = (size_t)most->nv, wide = (size_t)most->wide;
    TI_CARVE(m, d->LU, wide * nv);
    TI_CARVE(m, d->inverse, wide * nv);
    TI_CARVE(m, d->pivot, nv);
    TI_CARVE(m, d->identity, most->nblk);
    TI_CARVE(m, d->W, 3 * nc * 2 * wide); /* as J: room for two sides, also where both would be one tree */
    TI_CARVE(m, d->Gii, 9 * nc);
    TI_CARVE(m, d->row, 3 * nv);
}

static bool is_identity(int w, const double *M) {
    for (int r = 0; r < w; r++)
        for (int j = 0; j < w; j++)
            if (M[r * w + j] != (r == j)) return false;
    return true;
}

/* W (3,w) = J M^-1 by the factors of block k */
static void solve_rows(ti_delassus *d, const ti_contact_problem *p, int k, const double *J, double *W) {
    enum { n = 3 };
    double *X = d->row; /* (w,n) */
    int w = p->width[k];
    for (int j = 0; j < w; j++)
        for (int r = 0; r < n; r++) X[n * j + r] = J[r * w + j];
    ti_block_solve(w, d->LU + p->moff[k], d->pivot + p->voff[k], n, X);
    for (int j = 0; j < w; j++)
        for (int r = 0; r < n; r++) W[r * w + j] = X[n * j + r];
}

/* The lower triangle of G_ii += W J' */
static inline void add_Gii(int w, const double *W, const double *J, double *Gii) {
    for (int r = 0; r < 3; r++)
        for (int q = 0; q <= r; q++)
            for (int j = 0; j < w; j++) Gii[3 * r + q] += W[r * w + j] * J[q * w + j];
}

/* W (3,w) = J M^-1 of one side, G_ii += W J' */
static void one_side(ti_delassus *d, const ti_contact_problem *p, int k, const double *J, double *W, double *Gii) {
    int w = p->width[k];
    if (d->identity[k])
        memcpy(W, J, 3 * (size_t)w * sizeof *W);
    else if (w == TI_COMMON) {
        const double *restrict B = d->inverse + p->moff[k];
        for (int r = 0; r < 3; r++) {
            double sum[TI_COMMON] = {0};
            for (int m = 0; m < TI_COMMON; m++)
                for (int j = 0; j < TI_COMMON; j++) sum[j] += J[TI_COMMON * r + m] * B[TI_COMMON * m + j];
            memcpy(W + TI_COMMON * r, sum, sizeof sum);
        }
        add_Gii(TI_COMMON, W, J, Gii);
        return;
    } else
        solve_rows(d, p, k, J, W);
    add_Gii(w, W, J, Gii);
}

/* The factors of a block; of a free body, which many contacts may share, the inverse. */
static bool factor(ti_delassus *d, const ti_contact_problem *p, int k) {
    int w = p->width[k];
    double *LU = d->LU + p->moff[k];
    d->identity[k] = is_identity(w, p->M + p->moff[k]);
    if (d->identity[k]) return true;
    memcpy(LU, p->M + p->moff[k], (size_t)w * w * sizeof(double));
    if (!ti_block_lu(w, LU, d->pivot + p->voff[k])) return false;
    if (w != TI_COMMON) return true;
    double *inverse = d->inverse + p->moff[k];
    memset(inverse, 0, sizeof *inverse * (size_t)w * (size_t)w);
    for (int i = 0; i < w; i++) inverse[w * i + i] = 1;
    ti_block_solve(w, LU, d->pivot + p->voff[k], w, inverse);
    return true;
}

tribo_status ti_delassus_prepare(ti_delassus *d, const ti_contact_problem *p) {
    for (int k = 0; k < p->nblk; k++)
        if (!factor(d, p, k)) return TRIBO_E_SINGULAR;
    for (int i = 0; i < p->nc; i++) {
        double *Gii = d->Gii + 9 * i;
        size_t at = p->joff[i];
        for (int r = 0; r < 9; r++) Gii[r] = 0;
        for (int side = 0; side < 2; side++) {
            int k = side ? p->b[i] : p->a[i];
            if (k < 0) continue;
            one_side(d, p, k, p->J + at, d->W + at, Gii);
            at += 3 * (size_t)p->width[k];
        }
        for (int r = 0; r < 3; r++) {
            for (int q = 0; q < r; q++) Gii[3 * q + r] = Gii[3 * r + q];
            if (p->R) Gii[4 * r] += p->R[3 * i + r];
        }
        for (int r = 0; r < 3; r++) /* rows of a joint that are idle */
            if (Gii[4 * r] == 0) Gii[4 * r] = Gii[8] > 0 ? Gii[8] : 1;
    }
    return TRIBO_OK;
}

void ti_delassus_minv(const ti_delassus *d, const ti_contact_problem *p, double *x) {
    for (int k = 0; k < p->nblk; k++)
        if (!d->identity[k]) ti_block_solve(p->width[k], d->LU + p->moff[k], d->pivot + p->voff[k], 1, x + p->voff[k]);
}

/* G_ij (3,3) += W_i J_j' of the blocks they share. */
static void add_pair(const ti_delassus *d, const ti_contact_problem *p, int i, int j, int n3, double *G) {
    const double *W = d->W + p->joff[i];
    for (int si = 0; si < 2; si++) {
        int k = si ? p->b[i] : p->a[i];
        if (k < 0) continue;
        int w = p->width[k];
        const double *J = p->J + p->joff[j];
        for (int sj = 0; sj < 2; sj++) {
            int l = sj ? p->b[j] : p->a[j];
            if (l < 0) continue;
            for (int r = 0; l == k && r < 3; r++)
                for (int q = 0; q < 3; q++)
                    for (int m = 0; m < w; m++) G[(size_t)r * n3 + q] += W[r * w + m] * J[q * w + m];
            J += 3 * (size_t)p->width[l];
        }
        W += 3 * (size_t)w;
    }
}

void ti_delassus_dense(const ti_delassus *d, const ti_contact_problem *p, double *G) {
    int n3 = 3 * p->nc;
    memset(G, 0, (size_t)n3 * n3 * sizeof(double));
    for (int i = 0; i < p->nc; i++) {
        for (int r = 0; r < 3; r++)
            memcpy(G + (size_t)(3 * i + r) * n3 + 3 * i, d->Gii + 9 * i + 3 * r, 3 * sizeof(double));
        for (int j = i + 1; j < p->nc; j++) add_pair(d, p, i, j, n3, G + (size_t)3 * i * n3 + 3 * j);
    }
    for (int r = 0; r < n3; r++)
        for (int c = 0; c < r; c++) G[(size_t)r * n3 + c] = G[(size_t)c * n3 + r];
}

/* dG_ii = dJ W' + W dJ' - W dM W' */
static void Gii_vjp(const ti_delassus *d, const ti_contact_problem *p, int i, const double *bar, double *J_bar,
                    double *M_bar) {
    size_t at = p->joff[i];
    double S[9];
    for (int r = 0; r < 3; r++)
        for (int q = 0; q < 3; q++) S[3 * r + q] = 0.5 * (bar[3 * r + q] + bar[3 * q + r]);
    for (int side = 0; side < 2; side++) {
        int k = side ? p->b[i] : p->a[i];
        if (k < 0) continue;
        int w = p->width[k];
        const double *W = d->W + at;
        for (int r = 0; r < 3; r++)
            for (int j = 0; j < w; j++) {
                double sw = S[3 * r] * W[j] + S[3 * r + 1] * W[w + j] + S[3 * r + 2] * W[2 * w + j];
                J_bar[at + r * w + j] += 2 * sw;
                for (int m = 0; m < w; m++) M_bar[p->moff[k] + m * w + j] -= W[r * w + m] * sw;
            }
        at += 3 * (size_t)w;
    }
}

/* a' dG b = a' dJ y_b + b' dJ y_a - y_a' dM y_b with y = M^-1 J' of each. */
static void product_vjp(const ti_delassus *d, const ti_contact_problem *p, const double *a, const double *b,
                        double *J_bar, double *M_bar) {
    double *ya = d->row, *yb = d->row + p->nv;
    memset(ya, 0, 2 * (size_t)p->nv * sizeof *ya);
    ti_contact_jt(p, a, ya), ti_contact_jt(p, b, yb);
    ti_delassus_minv(d, p, ya), ti_delassus_minv(d, p, yb);
    for (int i = 0; i < p->nc; i++) {
        double *J = J_bar + p->joff[i];
        for (int side = 0; side < 2; side++) {
            int k = side ? p->b[i] : p->a[i];
            if (k < 0) continue;
            for (int r = 0; r < 3; r++, J += p->width[k])
                for (int j = 0; j < p->width[k]; j++)
                    J[j] += a[3 * i + r] * yb[p->voff[k] + j] + b[3 * i + r] * ya[p->voff[k] + j];
        }
    }
    for (int k = 0; k < p->nblk; k++) {
        int w = p->width[k], at = p->voff[k];
        for (int r = 0; r < w; r++)
            for (int j = 0; j < w; j++)
                M_bar[p->moff[k] + r * w + j] -= 0.5 * (ya[at + r] * yb[at + j] + yb[at + r] * ya[at + j]);
    }
}

void ti_delassus_vjp(const ti_delassus *d, const ti_contact_problem *p, const ti_delassus_bar *bar, double *J_bar,
                     double *M_bar) {
    for (int i = 0; bar->Gii && i < p->nc; i++) Gii_vjp(d, p, i, bar->Gii + 9 * i, J_bar, M_bar);
    if (bar->a) product_vjp(d, p, bar->a, bar->b, J_bar, M_bar);
}
