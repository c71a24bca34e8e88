/* contact.c -- the dense problem, cast into blocks; and its reverse. */
#include "contact/blocks.h"
#include "contact/delassus.h"
#include "contact/law.h"
#include "contact/problem.h"
#include "math/clones.h"
#include "math/dense.h"
#include <math.h>

/* How a dense problem was cast: its own velocities cut into the blocks of M, or impulses (M = 1, J a Cholesky factor of
 * G), which is smaller when there are more velocities than impulses. */
typedef enum form { FORM_NONE, FORM_BLOCKS, FORM_DELASSUS } form;

struct tribo_contact_ws {
    tribo_allocator alloc;
    size_t bytes;
    int nc_max, nv_max;
    const double *noise; /* (2 nc) the caller's */
    form form;           /* of the last solve */
    int nc, nv;
    ti_contact_ws *contact;
    ti_contact_problem block;
    ti_contact_solution sol;
    int *width, *voff, *moff, *a, *b, *joff;
    double *M, *J, *vfree, *ref;
    double *chol;            /* (nv,nv) of M */
    double *Y;               /* (nv,3 nc) L^-1 J', where the form is of impulses */
    double *G;               /* (3 nc,3 nc) */
    double *y, *z, *vk, *vb; /* (nv) */
    double *c_bar, *l_bar, *mu_bar;
    double *J_bar, *M_bar; /* as J and M: of a law that depends on G itself */
    int *owner;            /* (nv) block of a velocity; scratch (3 nc) of the factor of G */
};

static void carve(ti_arena *m, int nc, int nv, tribo_contact_ws *ws) {
    size_t n3 = 3 * (size_t)nc, n = nv, wide = n > n3 ? n : n3;
    ti_carve(m, 1, sizeof *ws);
    TI_CARVE(m, ws->width, n);
    TI_CARVE(m, ws->voff, n);
    TI_CARVE(m, ws->moff, n);
    TI_CARVE(m, ws->a, nc);
    TI_CARVE(m, ws->b, nc);
    TI_CARVE(m, ws->joff, nc);
    TI_CARVE(m, ws->owner, wide);
    TI_CARVE(m, ws->M, n * ti_ld(nv));
    TI_CARVE(m, ws->J, n3 * n);
    TI_CARVE(m, ws->vfree, n);
    TI_CARVE(m, ws->ref, n3);
    TI_CARVE(m, ws->chol, n * n);
    TI_CARVE(m, ws->Y, ti_ld((int)n3) * n);
    TI_CARVE(m, ws->G, n3 * n3);
    TI_CARVE(m, ws->y, n);
    TI_CARVE(m, ws->z, n);
    TI_CARVE(m, ws->vk, n);
    TI_CARVE(m, ws->vb, n);
    TI_CARVE(m, ws->c_bar, n3);
    TI_CARVE(m, ws->l_bar, n3);
    TI_CARVE(m, ws->mu_bar, nc);
    TI_CARVE(m, ws->J_bar, n3 * n);
    TI_CARVE(m, ws->M_bar, n * n);
    ti_contact_solution_carve(m, nc, nv, &ws->sol);
}

tribo_status tribo_contact_ws_new(int nc_max, int nv_max, const tribo_law_options *law, const tribo_allocator *a,
                                  tribo_contact_ws **out) {
    if (!out || nc_max < 1 || nv_max < 1) return TRIBO_E_ARG;
    tribo_contact_ws layout = {.nc_max = nc_max, .nv_max = nv_max};
    if (a) layout.alloc = *a;
    ti_arena m = {0};
    carve(&m, nc_max, nv_max, &layout);
    layout.bytes = m.used;
    tribo_contact_ws *ws = ti_arena_take(&m, a);
    if (!ws) return TRIBO_E_NOMEM;
    *ws = layout;
    carve(&m, nc_max, nv_max, ws);
    tribo_status status = ti_contact_ws_new(nc_max, nv_max, nv_max, law, a, &ws->contact);
    if (status) {
        tribo_contact_ws_free(ws);
        return status;
    }
    *out = ws;
    return TRIBO_OK;
}

void tribo_contact_ws_free(tribo_contact_ws *ws) {
    if (!ws) return;
    tribo_allocator a = ws->alloc;
    ti_contact_ws_free(ws->contact);
    ti_free(&a, ws, ws->bytes);
}

size_t tribo_contact_ws_bytes(const tribo_contact_ws *ws) {
    return ws->bytes + ti_contact_ws_bytes(ws->contact);
}

/* ---------------------------------------------------------------- casting */

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

static void product_t(const tribo_contact_problem *p, const double *l, double *y) {
    for (int r = 0; r < 3 * p->nc; r++)
        for (int k = 0; k < p->nv; k++) y[k] += p->J[(size_t)r * p->nv + k] * l[r];
}

/* v (nv) = vfree + M^-1 J' lambda */
static void velocity(tribo_contact_ws *ws, const tribo_contact_problem *p, const double *lambda, double *v) {
    memset(v, 0, p->nv * sizeof(double));
    product_t(p, lambda, v);
    cholesky_solve(p->nv, ws->chol, v);
    for (int k = 0; k < p->nv; k++) v[k] += p->vfree[k];
}

static tribo_status cast(tribo_contact_ws *ws, const tribo_contact_problem *p) {
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
        ws->form = FORM_DELASSUS;
        cast_delassus(ws, p->nc, p->G, p->g);
        return TRIBO_OK;
    }
    size_t nv = p->nv;
    if (!ti_finite(p->M, nv * nv) || !ti_finite(p->J, n3 * nv) || !ti_finite(p->vfree, nv) || !ti_finite(p->mu, p->nc))
        return TRIBO_E_NONFINITE;
    if (!cholesky(p->nv, p->M, ws->chol, ws->M)) return TRIBO_E_SINGULAR;
    int nblk = find_blocks(ws, p);
    if (nblk > 1 || p->nv <= 3 * p->nc) {
        ws->form = FORM_BLOCKS;
        cut(ws, p, nblk);
        return TRIBO_OK;
    }
    ws->form = FORM_DELASSUS;
    delassus(ws, p);
    product(p, p->vfree, ws->c_bar);
    cast_delassus(ws, p->nc, ws->G, ws->c_bar);
    return TRIBO_OK;
}

/* ---------------------------------------------------------------- solve */

tribo_status tribo_contact_set_noise(tribo_contact_ws *ws, const double *noise) {
    if (!ws || !ti_contact_has_noise(ws->contact)) return TRIBO_E_ARG;
    ws->noise = noise;
    return TRIBO_OK;
}

static tribo_status check(const tribo_contact_ws *ws, const tribo_contact_problem *p) {
    if (!ws || !p || !p->mu || p->nc < 1 || p->nc > ws->nc_max) return TRIBO_E_ARG;
    if (p->G ? !p->g || p->nv != 0 || 3 * p->nc > ws->nv_max
             : !p->M || !p->J || !p->vfree || p->nv < 1 || p->nv > ws->nv_max)
        return TRIBO_E_ARG;
    for (int i = 0; i < p->nc; i++)
        if (p->mu[i] < 0) return TRIBO_E_ARG;
    return TRIBO_OK;
}

tribo_status tribo_contact_solve(tribo_contact_ws *ws, const tribo_contact_problem *p, double tol, bool warm,
                                 double *lambda, double *v, tribo_contact_info *info) {
    tribo_status status = check(ws, p);
    if (status || !lambda) return TRIBO_E_ARG;
    ws->form = FORM_NONE;
    status = cast(ws, p);
    form cast_form = ws->form;
    ws->form = FORM_NONE;
    if (status) return status;
    ti_contact_options o = {.tol = tol, .warm = warm};
    if (warm && !ti_finite(lambda, 3 * (size_t)p->nc)) return TRIBO_E_NONFINITE;
    if (warm) ti_contact_start_from(ws->contact, &ws->block, lambda, &ws->sol);
    status = ti_contact_solve(ws->contact, &ws->block, &o, &ws->sol, info);
    if (status < 0) return status;
    ws->form = cast_form;
    memcpy(lambda, ws->sol.lambda, 3 * p->nc * sizeof(double));
    if (v && p->nv > 0) {
        if (ws->form == FORM_BLOCKS)
            memcpy(v, ws->sol.v, p->nv * sizeof(double));
        else
            velocity(ws, p, lambda, v);
    }
    return status;
}

tribo_status tribo_contact_measure(tribo_contact_ws *ws, const tribo_contact_problem *p, tribo_measures *measures) {
    if (!measures || check(ws, p) || ws->form == FORM_NONE || ws->nc != p->nc || ws->nv != p->nv) return TRIBO_E_ARG;
    return ti_contact_measures(ws->contact, &ws->block, &ws->sol, true, measures);
}

/* ---------------------------------------------------------------- reverse */

/* y, c_bar, mu_bar of point k in the coordinates of the dense problem; y only where it has velocities. */
static tribo_status reverse_point(tribo_contact_ws *ws, const tribo_contact_problem *p, int k, const double *v_bar) {
    int n3 = 3 * p->nc;
    tribo_status status = ti_contact_factor(ws->contact, &ws->block, &ws->sol, k);
    if (status) return status;
    const ti_contact_point *q = &ws->sol.point[k];
    if (ws->form == FORM_BLOCKS) {
        ti_contact_vjp(ws->contact, &ws->block, v_bar, ws->l_bar, ws->y, ws->c_bar, ws->mu_bar);
        memcpy(ws->vk, q->v, p->nv * sizeof(double));
        return TRIBO_OK;
    }
    memset(ws->z, 0, ws->block.nv * sizeof(double)); /* v_bar went into l_bar */
    ti_contact_vjp(ws->contact, &ws->block, ws->z, ws->l_bar, ws->y, ws->c_bar, ws->mu_bar);
    if (p->nv == 0) return TRIBO_OK;
    memcpy(ws->y, v_bar, p->nv * sizeof(double)); /* M y = v_bar + J' c_bar */
    (void)n3;
    product_t(p, ws->c_bar, ws->y);
    cholesky_solve(p->nv, ws->chol, ws->y);
    velocity(ws, p, q->lambda, ws->vk);
    return TRIBO_OK;
}

static TI_CLONES_WIDE void accumulate_dense(const tribo_contact_ws *ws, const tribo_contact_problem *p, double w,
                                            const double *lambda, double *restrict vfree_bar, double *restrict M_bar,
                                            double *restrict J_bar) {
    int n = p->nv;
    const double *restrict y = ws->y, *restrict v = ws->vk, *restrict u = p->vfree;
    for (int i = 0; i < n; i++) {
        double yi = w * y[i], half = 0.5 * yi, di = 0.5 * w * (v[i] - u[i]);
        const double *restrict M = p->M + (size_t)i * n;
        for (int j = 0; vfree_bar && j < n; j++) vfree_bar[j] += M[j] * yi;
        double *restrict to = M_bar ? M_bar + (size_t)i * n : NULL;
        for (int j = 0; to && j < n; j++) to[j] -= half * (v[j] - u[j]) + di * y[j];
    }
    for (int r = 0; J_bar && r < 3 * p->nc; r++) {
        double *restrict to = J_bar + (size_t)r * n, l = w * lambda[r], c = w * ws->c_bar[r];
        for (int j = 0; j < n; j++) to[j] += l * y[j] + c * v[j];
    }
}

/* The blocks of cut() back into the dense arrays. */
static void add_blocks(const tribo_contact_ws *ws, double w, double *M_bar, double *J_bar) {
    const ti_contact_problem *b = &ws->block;
    int n = b->nv;
    for (int k = 0; M_bar && k < b->nblk; k++)
        for (int r = 0; r < b->width[k]; r++)
            for (int j = 0; j < b->width[k]; j++)
                M_bar[(size_t)(b->voff[k] + r) * n + b->voff[k] + j] += w * ws->M_bar[b->moff[k] + r * b->width[k] + j];
    for (int i = 0; J_bar && i < b->nc; i++) {
        const double *from = ws->J_bar + b->joff[i];
        for (int side = 0; side < 2; side++) {
            int k = side ? b->b[i] : b->a[i];
            if (k < 0) continue;
            for (int r = 3 * i; r < 3 * i + 3; r++, from += b->width[k])
                for (int j = 0; j < b->width[k]; j++) J_bar[(size_t)r * n + b->voff[k] + j] += w * from[j];
        }
    }
}

/* What a law that depends on G itself adds, after reverse_point() of k; in impulses to G_bar. */
static void reverse_delassus(tribo_contact_ws *ws, const tribo_contact_problem *p, int k, double w, double *M_bar,
                             double *J_bar, double *G_bar) {
    const ti_delassus_bar *bar = ti_contact_delassus_bar(ws->contact, &ws->block, &ws->sol, k, ws->c_bar);
    int n3 = 3 * p->nc;
    if (ws->form == FORM_BLOCKS) {
        memset(ws->J_bar, 0, (size_t)n3 * p->nv * sizeof(double));
        memset(ws->M_bar, 0, (size_t)p->nv * p->nv * sizeof(double));
        ti_contact_entangled_vjp(ws->contact, &ws->block, bar, ws->J_bar, ws->M_bar);
        add_blocks(ws, w, M_bar, J_bar);
        return;
    }
    for (int r = 0; G_bar && r < n3; r++) {
        double *to = G_bar + (size_t)r * n3;
        for (int c = 0; bar->a && c < n3; c++) to[c] += 0.5 * w * (bar->a[r] * bar->b[c] + bar->b[r] * bar->a[c]);
        const double *own = bar->own ? bar->own + 9 * (r / 3) : NULL;
        for (int c = 0; own && c < 3; c++) to[r / 3 * 3 + c] += 0.5 * w * (own[3 * (r % 3) + c] + own[3 * c + r % 3]);
    }
}

/* W (3 nc,nv) = J M^-1 into ws->J_bar: L' W' = Y, as delassus() along rows. */
static TI_CLONES_WIDE void inertia_rows(tribo_contact_ws *ws, const tribo_contact_problem *p) {
    int n = p->nv, n3 = 3 * p->nc;
    double *X = ws->M_bar; /* (nv,3 nc): there are more velocities than impulses */
    for (int i = 0; i < n; i++) memcpy(X + (size_t)i * n3, ws->Y + (size_t)i * ti_ld(n3), n3 * sizeof *X);
    for (int i = n - 1; i >= 0; i--) {
        double *restrict x = X + (size_t)i * n3, inverse = 1 / ws->chol[(size_t)i * n + i];
        for (int k = i + 1; k < n; k++) {
            const double *restrict below = X + (size_t)k * n3, l = ws->chol[(size_t)k * n + i];
            if (l == 0) continue;
            for (int c = 0; c < n3; c++) x[c] -= l * below[c];
        }
        for (int c = 0; c < n3; c++) ws->J_bar[(size_t)c * n + i] = x[c] *= inverse;
    }
}

/* From G = J M^-1 J', whose cotangent is in ws->G: J_bar += 2 G_bar W, M_bar -= W' G_bar W. */
static TI_CLONES_WIDE void reverse_product(tribo_contact_ws *ws, const tribo_contact_problem *p, double *M_bar,
                                           double *J_bar) {
    int n = p->nv, n3 = 3 * p->nc;
    const double *restrict W = ws->J_bar;
    double *restrict x = ws->z;
    bool any = false;
    for (int k = 0; k < n3 * n3; k++) any = any || ws->G[k] != 0;
    if (!any) return; /* as where nothing slides */
    inertia_rows(ws, p);
    for (int r = 0; r < n3; r++) {
        const double *G = ws->G + (size_t)r * n3;
        any = false;
        memset(x, 0, n * sizeof *x);
        for (int c = 0; c < n3; c++) {
            if (G[c] == 0) continue;
            any = true;
            for (int j = 0; j < n; j++) x[j] += G[c] * W[(size_t)c * n + j];
        }
        if (!any) continue;
        for (int j = 0; J_bar && j < n; j++) J_bar[(size_t)r * n + j] += 2 * x[j];
        for (int i = 0; M_bar && i < n; i++) {
            double *restrict to = M_bar + (size_t)i * n, s = W[(size_t)r * n + i];
            for (int j = 0; j < n; j++) to[j] -= s * x[j];
        }
    }
}

tribo_status tribo_contact_vjp(tribo_contact_ws *ws, const tribo_contact_problem *p, const double *lambda_bar,
                               const double *v_bar, double *vfree_bar, double *g_bar, double *mu_bar, double *M_bar,
                               double *J_bar, double *G_bar) {
    if (check(ws, p) || ws->form == FORM_NONE || ws->nc != p->nc || ws->nv != p->nv) return TRIBO_E_ARG;
    int n = p->nv, n3 = 3 * p->nc;
    double *vb = ws->vb;
    for (int k = 0; k < n; k++) vb[k] = v_bar ? v_bar[k] : 0;
    for (int k = 0; k < n3; k++) ws->l_bar[k] = lambda_bar ? lambda_bar[k] : 0;
    if (ws->form == FORM_DELASSUS && n > 0) { /* v = vfree + M^-1 J' lambda */
        memcpy(ws->z, vb, n * sizeof(double));
        cholesky_solve(n, ws->chol, ws->z);
        for (int r = 0; r < n3; r++)
            for (int k = 0; k < n; k++) ws->l_bar[r] += p->J[(size_t)r * n + k] * ws->z[k];
    }
    bool entangled = ti_contact_entangled(ws->contact), through = entangled && ws->form == FORM_DELASSUS && n > 0;
    if (through) memset(ws->G, 0, (size_t)n3 * n3 * sizeof(double)); /* not needed any more */
    for (int k = 0; k < ws->sol.npoint; k++) {
        tribo_status status = reverse_point(ws, p, k, vb);
        if (status) return status;
        const ti_contact_point *q = &ws->sol.point[k];
        double w = q->weight;
        for (int r = 0; g_bar && r < n3; r++) g_bar[r] += w * ws->c_bar[r];
        for (int i = 0; mu_bar && i < p->nc; i++) mu_bar[i] += w * ws->mu_bar[i];
        if (n > 0) accumulate_dense(ws, p, w, q->lambda, vfree_bar, M_bar, J_bar);
        if (G_bar && p->G)
            for (int r = 0; r < n3; r++)
                for (int c = 0; c < n3; c++)
                    G_bar[(size_t)r * n3 + c] += 0.5 * w * (ws->c_bar[r] * q->lambda[c] + ws->c_bar[c] * q->lambda[r]);
        if (entangled) reverse_delassus(ws, p, k, w, M_bar, J_bar, through ? ws->G : G_bar);
    }
    if (through) reverse_product(ws, p, M_bar, J_bar);
    return TRIBO_OK;
}
