/* contact.c -- the dense problem: its workspace, its solution and the reverse. */
#include "base/clones.h"
#include "contact/answer/dense_problem.h"
#include "contact/system/delassus.h"
#include "math/dense.h"
#include <math.h>

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
    TI_CARVE(m, ws->z, n);
    TI_CARVE(m, ws->vb, n);
    TI_CARVE(m, ws->l_bar, n3);
    for (int k = 0; k < TI_CONTACT_POINTS; k++) {
        TI_CARVE(m, ws->y[k], n);
        TI_CARVE(m, ws->vk[k], n);
        TI_CARVE(m, ws->c_bar[k], n3);
        TI_CARVE(m, ws->mu_bar[k], nc);
    }
    TI_CARVE(m, ws->J_bar, n3 * n);
    TI_CARVE(m, ws->M_bar, n * n);
    ti_contact_solution_carve(m, nc, nv, &ws->sol);
}

tribo_status tribo_contact_ws_new(int nc_max, int nv_max, const tribo_law_options *law, const tribo_allocator *a,
                                  tribo_contact_ws **out) {
    if (!out || nc_max < 1 || nv_max < 1 || nc_max > TI_COUNT_LIMIT || nv_max > TI_COUNT_LIMIT) return TRIBO_E_ARG;
    tribo_contact_ws layout = {.nc_max = nc_max, .nv_max = nv_max};
    if (a) layout.alloc = *a;
    ti_arena m = {0};
    carve(&m, nc_max, nv_max, &layout);
    layout.bytes = m.used;
    tribo_contact_ws *ws = ti_arena_take(&m, a);
    if (!ws) return TRIBO_E_NOMEM;
    *ws = layout;
    carve(&m, nc_max, nv_max, ws);
    tribo_law_options settled;
    const ti_contact_size most = {nc_max, nv_max, nv_max,
                                  nv_max, false,  false}; /* one block, or as many as velocities */
    tribo_status status = ti_contact_ws_new(&most, law, a, &ws->contact);
    if (!status) status = ti_law_settle(law, NULL, &settled, NULL);
    if (!status) ws->tol = ti_solver_tolerance(&settled);
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
    return ws ? ws->bytes + ti_contact_ws_bytes(ws->contact) : 0;
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

/* Take an answer of ti_given_newton(), which is no limit of a compliance, as the solution. */
static void take_impulses(tribo_contact_ws *ws, const tribo_contact_problem *p, const double *lambda, double residual,
                          tribo_contact_info *info) {
    ti_contact_solution *s = &ws->sol;
    int n = 3 * p->nc, w = ws->block.nv;
    memcpy(s->lambda, lambda, (size_t)n * sizeof *lambda);
    ti_dense_leftover(ws, p, lambda);
    memset(s->v, 0, (size_t)w * sizeof *s->v);
    for (int r = 0; r < n; r++)
        for (int k = 0; k < w; k++) s->v[k] += ws->J[(size_t)r * (size_t)w + (size_t)k] * lambda[r];
    s->npoint = 1, s->point[0].weight = 1;
    memcpy(s->point[0].lambda, s->lambda, (size_t)n * sizeof *lambda);
    memcpy(s->point[0].v, s->v, (size_t)w * sizeof *s->v);
    ti_contact_start_from(ws->contact, &ws->block, lambda, s);
    info->residual = residual, info->canonical = false, info->margin = 0;
    if (info->ndegenerate == 0) info->ndegenerate = 1;
}

/* Rounding may have made G indefinite: its factor F F' is not all of it. Solve again with (G - F F') lambda in ref,
 * until the answer is one of G itself; if that fails, Newton with G. The residual is that with G. */
static tribo_status meet_matrix(tribo_contact_ws *ws, const tribo_contact_problem *p, const ti_contact_options *o,
                                tribo_contact_info *info, tribo_status status) {
    enum { ROUNDS = 12 };
    double tol = o->tol > 0 ? o->tol : ws->tol;
    for (int k = 0; k < ROUNDS; k++) {
        if (ti_dense_leftover(ws, p, ws->sol.lambda) <= 1e-3 * tol && k == 0) return status;
        tribo_contact_info now;
        tribo_status measured = ti_contact_measure(ws->contact, &ws->block, &ws->sol, &now);
        if (measured < 0) return measured;
        info->residual = now.residual;
        if (now.residual <= tol || status != TRIBO_OK || k == ROUNDS - 1) break;
        ti_contact_options again = {.tol = o->tol, .warm = true, .sharp = TI_SHARP_ANSWER};
        int before = info->iterations;
        status = ti_contact_solve(ws->contact, &ws->block, &again, &ws->sol, info);
        if (status < 0) return status;
        info->iterations += before;
    }
    if (!(info->residual <= tol)) {
        double *l = ws->l_bar;
        memcpy(l, ws->sol.lambda, 3 * (size_t)p->nc * sizeof *l);
        double r = ti_given_newton(ws->contact, &ws->block, p->G, p->g, tol, l, ws->G, ws->owner);
        if (r < info->residual) take_impulses(ws, p, l, r, info);
    }
    return info->residual <= tol ? TRIBO_OK : TRIBO_NOT_CONVERGED;
}

tribo_status tribo_contact_solve(tribo_contact_ws *ws, const tribo_contact_problem *p, double tol, bool warm,
                                 double *lambda, double *v, tribo_contact_info *info) {
    tribo_status status = check(ws, p);
    if (status || !lambda || !(tol >= 0)) return TRIBO_E_ARG;
    ws->form = TI_FORM_NONE;
    status = ti_dense_cast(ws, p);
    ti_dense_form cast_form = ws->form;
    ws->form = TI_FORM_NONE;
    if (status) return status;
    ti_contact_options o = {.tol = tol, .warm = warm, .sharp = TI_SHARP_ANSWER};
    tribo_contact_info met;
    if (warm && !ti_finite(lambda, 3 * (size_t)p->nc)) return TRIBO_E_NONFINITE;
    if (warm) ti_contact_start_from(ws->contact, &ws->block, lambda, &ws->sol);
    status = ti_contact_solve(ws->contact, &ws->block, &o, &ws->sol, &met);
    if (p->G && status >= 0) status = meet_matrix(ws, p, &o, &met, status);
    if (status < 0) return status;
    ti_contact_settle_modes(ws->contact, &ws->block, &ws->sol);
    ws->form = cast_form;
    const double *found = ws->sol.v;
    size_t nfound = v ? p->nv : 0;
    if (nfound && cast_form == TI_FORM_DELASSUS) ti_dense_velocity(ws, p, ws->sol.lambda, ws->vk[0]), found = ws->vk[0];
    if (!ti_finite(ws->sol.lambda, 3 * (size_t)p->nc) || !ti_finite(found, nfound)) {
        ws->form = TI_FORM_NONE;
        return TRIBO_E_NONFINITE;
    }
    ws->verdict = status == TRIBO_OK && !met.canonical ? TRIBO_DEGENERATE : status;
    memcpy(lambda, ws->sol.lambda, 3 * p->nc * sizeof(double));
    if (info) *info = met;
    if (nfound) memcpy(v, found, nfound * sizeof(double));
    return status;
}

tribo_status tribo_contact_measure(tribo_contact_ws *ws, const tribo_contact_problem *p, tribo_measures *measures) {
    if (!measures || check(ws, p) || ws->form == TI_FORM_NONE || ws->nc != p->nc || ws->nv != p->nv) return TRIBO_E_ARG;
    return ti_contact_measures(ws->contact, &ws->block, &ws->sol, true, measures);
}

/* ---------------------------------------------------------------- reverse */

/* y, c_bar, mu_bar of point k in the coordinates of the dense problem; y only where it has velocities. */
static tribo_status reverse_point(tribo_contact_ws *ws, const tribo_contact_problem *p, int k, const double *v_bar) {
    double *y = ws->y[k], *c_bar = ws->c_bar[k], *mu_bar = ws->mu_bar[k];
    tribo_status status = ti_contact_factor(ws->contact, &ws->block, &ws->sol, k);
    if (status) return status;
    const ti_contact_point *q = &ws->sol.point[k];
    if (ws->form == TI_FORM_BLOCKS) {
        ti_contact_vjp(ws->contact, &ws->block, v_bar, ws->l_bar, y, c_bar, mu_bar);
        memcpy(ws->vk[k], q->v, p->nv * sizeof(double));
        return TRIBO_OK;
    }
    memset(ws->z, 0, ws->block.nv * sizeof(double)); /* v_bar went into l_bar */
    ti_contact_vjp(ws->contact, &ws->block, ws->z, ws->l_bar, y, c_bar, mu_bar);
    if (p->nv == 0) return TRIBO_OK;
    memcpy(y, v_bar, p->nv * sizeof(double)); /* M y = v_bar + J' c_bar */
    ti_dense_jt(p, c_bar, y);
    ti_dense_solve(ws, p->nv, y);
    ti_dense_velocity(ws, p, q->lambda, ws->vk[k]);
    return TRIBO_OK;
}

/* Whether products of three such numbers are numbers. */
static bool is_moderate(const double *a, int n, int stride) {
    for (int i = 0; i < n; i++)
        if (!(fabs(a[(size_t)i * (size_t)stride]) < 1e100)) return false;
    return true;
}

/* Every point into ws, before anything is added to what the caller has. */
static tribo_status reverse_points(tribo_contact_ws *ws, const tribo_contact_problem *p, const double *v_bar) {
    int n = p->nv, n3 = 3 * p->nc;
    bool good = n == 0 || (is_moderate(p->vfree, n, 1) && is_moderate(p->M, n, n + 1));
    for (int k = 0; k < ws->sol.npoint && good; k++) {
        tribo_status status = reverse_point(ws, p, k, v_bar);
        if (status) return status;
        good = is_moderate(ws->c_bar[k], n3, 1) && is_moderate(ws->mu_bar[k], p->nc, 1) &&
               is_moderate(ws->sol.point[k].lambda, n3, 1) &&
               (n == 0 || (is_moderate(ws->y[k], n, 1) && is_moderate(ws->vk[k], n, 1)));
    }
    return good ? TRIBO_OK : TRIBO_E_NONFINITE;
}

static TI_CLONES_WIDE void accumulate_dense(const tribo_contact_ws *ws, const tribo_contact_problem *p, int k,
                                            double *restrict vfree_bar, double *restrict M_bar,
                                            double *restrict J_bar) {
    int n = p->nv;
    const double *restrict y = ws->y[k], *restrict v = ws->vk[k], *restrict u = p->vfree, w = ws->sol.point[k].weight;
    for (int i = 0; i < n; i++) {
        double yi = w * y[i], half = 0.5 * yi, di = 0.5 * w * (v[i] - u[i]);
        const double *restrict M = p->M + (size_t)i * n;
        for (int j = 0; vfree_bar && j < n; j++) vfree_bar[j] += M[j] * yi;
        double *restrict to = M_bar ? M_bar + (size_t)i * n : NULL;
        for (int j = 0; to && j < n; j++) to[j] -= half * (v[j] - u[j]) + di * y[j];
    }
    for (int r = 0; J_bar && r < 3 * p->nc; r++) {
        double *restrict to = J_bar + (size_t)r * n, l = w * ws->sol.point[k].lambda[r], c = w * ws->c_bar[k][r];
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

/* What a law that depends on G itself adds, after reverse_point() of k: to M_bar and J_bar, or to G_bar where the form
 * is of impulses. */
static void reverse_delassus(tribo_contact_ws *ws, const tribo_contact_problem *p, int k, double w, double *M_bar,
                             double *J_bar, double *G_bar) {
    const ti_delassus_bar *bar = ti_contact_delassus_bar(ws->contact, &ws->block, &ws->sol, k, ws->c_bar[k]);
    int n3 = 3 * p->nc;
    if (ws->form == TI_FORM_BLOCKS) {
        memset(ws->J_bar, 0, (size_t)n3 * p->nv * sizeof(double));
        memset(ws->M_bar, 0, (size_t)p->nv * p->nv * sizeof(double));
        ti_contact_delassus_vjp(ws->contact, &ws->block, bar, ws->J_bar, ws->M_bar);
        add_blocks(ws, w, M_bar, J_bar);
        return;
    }
    for (int r = 0; G_bar && r < n3; r++) {
        double *to = G_bar + (size_t)r * n3;
        for (int c = 0; bar->a && c < n3; c++) to[c] += 0.5 * w * (bar->a[r] * bar->b[c] + bar->b[r] * bar->a[c]);
        const double *Gii = bar->Gii ? bar->Gii + 9 * (r / 3) : NULL;
        for (int c = 0; Gii && c < 3; c++) to[r / 3 * 3 + c] += 0.5 * w * (Gii[3 * (r % 3) + c] + Gii[3 * c + r % 3]);
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
    if (!any) return; /* for instance where nothing slides */
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

/* Where v is not among the unknowns, v = vfree + M^-1 J' lambda: v_bar becomes a part of l_bar. */
static void velocity_to_impulses(tribo_contact_ws *ws, const tribo_contact_problem *p) {
    int n = p->nv;
    memcpy(ws->z, ws->vb, n * sizeof(double));
    ti_dense_solve(ws, n, ws->z);
    for (int r = 0; r < 3 * p->nc; r++)
        for (int k = 0; k < n; k++) ws->l_bar[r] += p->J[(size_t)r * n + k] * ws->z[k];
}

tribo_status tribo_contact_vjp(tribo_contact_ws *ws, const tribo_contact_problem *p, const double *lambda_bar,
                               const double *v_bar, double *vfree_bar, double *g_bar, double *mu_bar, double *M_bar,
                               double *J_bar, double *G_bar) {
    if (check(ws, p) || ws->form == TI_FORM_NONE || ws->nc != p->nc || ws->nv != p->nv) return TRIBO_E_ARG;
    int n = p->nv, n3 = 3 * p->nc;
    for (int k = 0; k < n; k++) ws->vb[k] = v_bar ? v_bar[k] : 0;
    for (int k = 0; k < n3; k++) ws->l_bar[k] = lambda_bar ? lambda_bar[k] : 0;
    if (!ti_finite(ws->l_bar, n3) || !ti_finite(ws->vb, n)) return TRIBO_E_NONFINITE;
    if (ws->form == TI_FORM_DELASSUS && n > 0) velocity_to_impulses(ws, p);
    tribo_status status = reverse_points(ws, p, ws->vb);
    if (status) return status;
    bool uses_delassus = ti_contact_uses_delassus(ws->contact),
         through = uses_delassus && ws->form == TI_FORM_DELASSUS && n > 0;
    if (through) memset(ws->G, 0, (size_t)n3 * n3 * sizeof(double)); /* its content is not needed any more */
    for (int k = 0; k < ws->sol.npoint; k++) {
        const ti_contact_point *q = &ws->sol.point[k];
        const double w = q->weight, *c_bar = ws->c_bar[k];
        for (int r = 0; g_bar && r < n3; r++) g_bar[r] += w * c_bar[r];
        for (int i = 0; mu_bar && i < p->nc; i++) mu_bar[i] += w * ws->mu_bar[k][i];
        if (n > 0) accumulate_dense(ws, p, k, vfree_bar, M_bar, J_bar);
        if (G_bar && p->G)
            for (int r = 0; r < n3; r++)
                for (int c = 0; c < n3; c++)
                    G_bar[(size_t)r * n3 + c] += 0.5 * w * (c_bar[r] * q->lambda[c] + c_bar[c] * q->lambda[r]);
        if (!uses_delassus) continue;
        if (ws->sol.npoint > 1)
            (void)reverse_point(ws, p, k,
                                ws->vb); /* reverse_delassus() needs the reverse of this point to be the last one */
        reverse_delassus(ws, p, k, w, M_bar, J_bar, through ? ws->G : G_bar);
    }
    if (through) reverse_product(ws, p, M_bar, J_bar);
    return ws->verdict;
}
