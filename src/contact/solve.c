/* solve.c -- the contact problem: workspace, residual, solution, linearisation. */
#include "contact/workspace.h"
#include <math.h>

/* ---------------------------------------------------------------- workspace */

static void carve(ti_arena *m, int nc, int nv, int nblk, ti_contact_ws *ws) {
    size_t n3 = 3 * (size_t)nc;
    TI_CARVE(m, ws->scale, nc);
    TI_CARVE(m, ws->minv, nv);
    TI_CARVE(m, ws->g, n3);
    TI_CARVE(m, ws->D, 3 * n3);
    TI_CARVE(m, ws->Ainv, 3 * n3);
    TI_CARVE(m, ws->f, n3);
    TI_CARVE(m, ws->c, n3);
    TI_CARVE(m, ws->v, nv);
    TI_CARVE(m, ws->lambda, n3);
    TI_CARVE(m, ws->dv, nv);
    TI_CARVE(m, ws->ds, nv);
    TI_CARVE(m, ws->dlambda, n3);
    TI_CARVE(m, ws->vt, nv);
    TI_CARVE(m, ws->lt, n3);
    TI_CARVE(m, ws->vb, nv);
    TI_CARVE(m, ws->lb, n3);
    TI_CARVE(m, ws->ref, n3);
    TI_CARVE(m, ws->v1, nv);
    TI_CARVE(m, ws->l1, n3);
    TI_CARVE(m, ws->v2, nv);
    TI_CARVE(m, ws->l2, n3);
    TI_CARVE(m, ws->r, nv);
    TI_CARVE(m, ws->slip, 2 * (size_t)nc);
    TI_CARVE(m, ws->mode, nc);
    TI_CARVE(m, ws->mode_before, nc);
    TI_CARVE(m, ws->vi, nv);
    ws->cones = ti_carve(m, nc, ti_ncp_interior_size());
    ti_system_carve(m, nc, nv, nblk, &ws->sys);
}

tribo_status ti_contact_ws_new(int nc_max, int nv_max, int nblk_max, const tribo_allocator *a, ti_contact_ws **out) {
    if (!out || nc_max < 0 || nv_max < 1 || nblk_max < 1) return TRIBO_E_ARG;
    ti_contact_ws layout = {0};
    ti_arena m = {0};
    carve(&m, nc_max, nv_max, nblk_max, &layout);
    size_t head = (sizeof layout + TI_ALIGN - 1) / TI_ALIGN * TI_ALIGN;
    char *block = ti_alloc(a, head + m.used);
    if (!block) return TRIBO_E_NOMEM;
    ti_contact_ws *ws = (ti_contact_ws *)block;
    m = (ti_arena){block + head, 0};
    carve(&m, nc_max, nv_max, nblk_max, ws);
    ws->bytes = head + m.used;
    ws->nc_max = nc_max, ws->nv_max = nv_max, ws->nblk_max = nblk_max;
    if (a) ws->alloc = *a;
    *out = ws;
    return TRIBO_OK;
}

void ti_contact_ws_free(ti_contact_ws *ws) {
    if (!ws) return;
    tribo_allocator a = ws->alloc;
    ti_free(&a, ws, ws->bytes);
}

void ti_contact_solution_carve(ti_arena *m, int nc, int nv, ti_contact_solution *s) {
    size_t n3 = 3 * (size_t)nc;
    for (int k = 0; k < TI_CONTACT_POINTS; k++) {
        TI_CARVE(m, s->point[k].lambda, n3);
        TI_CARVE(m, s->point[k].v, nv);
    }
    TI_CARVE(m, s->lambda, n3);
    TI_CARVE(m, s->v, nv);
    TI_CARVE(m, s->mode, nc);
}

/* ---------------------------------------------------------------- scales and residual */

static double row_scale(int w, const double *row, const double *minv) {
    double s = 0;
    for (int k = 0; k < w; k++) s += row[k] * row[k] * minv[k];
    return s;
}

/* The diagonal of G is only a scale here, so the diagonal of M stands for M. */
static void contact_scale(ti_contact_ws *ws, const ti_contact_problem *p, int i) {
    double gt = 0, gn = 0;
    const double *J = p->J + p->joff[i];
    for (int side = 0; side < 2; side++) {
        int k = side ? p->b[i] : p->a[i];
        if (k < 0) continue;
        int w = p->width[k];
        const double *minv = ws->minv + p->voff[k];
        double t1 = row_scale(w, J, minv), t2 = row_scale(w, J + w, minv), n = row_scale(w, J + 2 * w, minv);
        gt += t1 > t2 ? t1 : t2, gn += n;
        if (n > 0 && n < ws->r0) ws->r0 = n;
        J += 3 * (size_t)w;
    }
    ti_law_scale s = {gn > 0 ? 1 / gn : 1, gt > 0 ? 1 / gt : 1, gn > 0 ? gn : 1, gt > 0 ? gt : 1};
    ws->scale[i] = s;
}

bool ti_contact_prepare(ti_contact_ws *ws, const ti_contact_problem *p) {
    double sum = 0; /* 0 * x is NaN for NaN and Inf */
    ti_system_pack(&ws->sys, p);
    for (int k = 0; k < p->nblk; k++) {
        int w = p->width[k];
        const double *M = p->M + p->moff[k];
        for (int j = 0; j < w; j++) ws->minv[p->voff[k] + j] = 1 / M[j * w + j];
        for (int j = 0; j < w * w; j++) sum += 0 * M[j];
    }
    ws->r0 = HUGE_VAL;
    for (int i = 0; i < p->nc; i++) {
        contact_scale(ws, p, i);
        sum += 0 * ws->scale[i].g_n + 0 * ws->scale[i].g_t + 0 * p->mu[i];
    }
    if (!(ws->r0 < HUGE_VAL)) ws->r0 = 1;
    ti_system_jv(&ws->sys, p, p->vfree, true, ws->g);
    ws->unit_c = 0;
    for (int i = 0; i < 3 * p->nc; i++) {
        sum += 0 * ws->g[i];
        if (fabs(ws->g[i]) > ws->unit_c) ws->unit_c = fabs(ws->g[i]);
    }
    for (int k = 0; k < p->nv; k++) sum += 0 * p->vfree[k];
    ws->merit = 0;
    for (int i = 0; i < p->nc; i++) { /* the energy of g: what the merit of Newton is compared with */
        const double *g = ws->g + 3 * i;
        ws->merit += ws->scale[i].rho_t * (g[0] * g[0] + g[1] * g[1]) + ws->scale[i].rho_n * g[2] * g[2];
    }
    return sum == 0;
}

/* Distance of (t1, t2, n) to |t| <= mu n. */
static double cone_distance(double t, double n, double mu) {
    if (t <= mu * n) return 0;
    if (mu * t <= -n) return sqrt(t * t + n * n);
    return (t - mu * n) / sqrt(1 + mu * mu);
}

/* The rounding that extreme mass ratios bring is no error: max_i sum_j |G_ij lambda_j|, the diagonal of M for M. */
static double rounding_weight(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda) {
    double weight = 0;
    memset(ws->dv, 0, p->nv * sizeof(double));
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < p->nc; i++) {
            const double *J = p->J + p->joff[i], *l = lambda + 3 * i;
            double sum[3] = {0, 0, 0};
            for (int side = 0; side < 2; side++) {
                int k = side ? p->b[i] : p->a[i];
                if (k < 0) continue;
                int w = p->width[k], at = p->voff[k];
                for (int r = 0; r < 3; r++, J += w)
                    for (int j = 0; j < w; j++) {
                        if (pass == 0)
                            ws->dv[at + j] += fabs(J[j] * l[r]);
                        else
                            sum[r] += fabs(J[j]) * ws->minv[at + j] * ws->dv[at + j];
                    }
            }
            for (int r = 0; r < 3; r++) weight = ti_max(weight, sum[r]);
        }
    return weight;
}

/* The residual in units sl of impulse and sc of velocity, c in ws->c. */
static double residual_in(const ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda, double sl,
                          double sc) {
    double worst = 0;
    for (int i = 0; i < p->nc; i++) {
        const double *l = lambda + 3 * i, *c = ws->c + 3 * i;
        double mu = p->mu[i], ct = sqrt(c[0] * c[0] + c[1] * c[1]), n = c[2] + mu * ct;
        double primal = cone_distance(sqrt(l[0] * l[0] + l[1] * l[1]), l[2], mu);
        double dual = mu > 0 ? cone_distance(ct, n, 1 / mu) : (c[2] < 0 ? -c[2] : 0);
        double product = fabs(l[0] * c[0] + l[1] * c[1] + l[2] * n);
        worst = ti_max(worst, ti_max(primal / sl, ti_max(dual / sc, product / (sl * sc))));
    }
    return worst;
}

double ti_contact_residual(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *lambda) {
    double sl = 0, off = 0, sc = ws->unit_c > 0 ? ws->unit_c : 1;
    for (int k = 0; k < 3 * p->nc; k++) sl = ti_max(sl, fabs(lambda[k]));
    if (sl == 0) sl = 1;
    ti_contact_momentum(ws, p, v, lambda); /* and the velocity that it amounts to */
    for (int k = 0; k < p->nv; k++) ws->dv[k] = ws->minv[k] * ws->r[k];
    ti_system_jv(&ws->sys, p, ws->dv, false, ws->c);
    for (int k = 0; k < 3 * p->nc; k++) off = ti_max(off, fabs(ws->c[k]));
    ti_system_jv(&ws->sys, p, v, true, ws->c);
    double worst = ti_max(off / sc, residual_in(ws, p, lambda, sl, sc));
    if (worst < 1e-12) return worst; /* the exact unit is larger: not worth its cost */
    sc += 1e-5 * rounding_weight(ws, p, lambda);
    return ti_max(off / sc, residual_in(ws, p, lambda, sl, sc));
}

/* ---------------------------------------------------------------- solution */

static void nothing_to_do(const ti_contact_problem *p, ti_contact_solution *s) {
    s->npoint = 1;
    s->point[0].weight = 1, s->point[0].compliance = 0;
    memset(s->point[0].lambda, 0, 3 * p->nc * sizeof(double));
    memset(s->lambda, 0, 3 * p->nc * sizeof(double));
    memcpy(s->point[0].v, p->vfree, p->nv * sizeof(double));
    memcpy(s->v, p->vfree, p->nv * sizeof(double));
    memset(s->mode, TRIBO_BREAK, p->nc);
}

/* A contact at the edge of its disk that others hold in place: it slides in the limit of no compliance, at a speed in
 * proportion to it. What counts is that speed beside the compliance's own. */
static double held_margin(const ti_contact_problem *p, const ti_contact_solution *s, int i) {
    const ti_contact_point *q = &s->point[0];
    const double *J = p->J + p->joff[i], *l = q->lambda + 3 * i, *ref = p->ref + 3 * i;
    double give = ti_contact_compliance(q->compliance).t, c[2] = {ref[0] + give * l[0], ref[1] + give * l[1]};
    for (int side = 0; side < 2; side++) {
        int k = side ? p->b[i] : p->a[i];
        if (k < 0) continue;
        const double *v = q->v + p->voff[k];
        for (int r = 0; r < 3; r++, J += p->width[k])
            for (int j = 0; j < p->width[k] && r < 2; j++) c[r] += J[j] * v[j];
    }
    double speed = sqrt(c[0] * c[0] + c[1] * c[1]), own = give * sqrt(l[0] * l[0] + l[1] * l[1]);
    return speed > 0 ? speed / (speed + own) : 0;
}

/* Margins, docs/math.md eq. (46): how far each contact is from another mode, dimensionless. */
static void margins(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s,
                    tribo_contact_info *info) {
    double sc = ws->unit_c > 0 ? ws->unit_c : 1, sl = 0;
    for (int i = 0; i < p->nc; i++) sl = ti_max(sl, fabs(s->lambda[3 * i + 2]));
    if (sl == 0) sl = 1;
    ti_system_jv(&ws->sys, p, s->v, true, ws->c);
    info->margin = HUGE_VAL, info->ndegenerate = 0;
    for (int i = 0; i < p->nc; i++) {
        const double *l = s->lambda + 3 * i, *c = ws->c + 3 * i;
        double m;
        if (s->mode[i] == TRIBO_BREAK)
            m = fabs(c[2]) / sc;
        else {
            double lt = sqrt(l[0] * l[0] + l[1] * l[1]), ct = sqrt(c[0] * c[0] + c[1] * c[1]), bound = p->mu[i] * l[2];
            if (s->mode[i] == TRIBO_SLIDE && ct < 1e-9 * sc) ct = sc * held_margin(p, s, i);
            double t = s->mode[i] == TRIBO_SLIDE ? ct / sc : (bound > 0 ? (bound - lt) / bound : 0);
            m = l[2] / sl;
            if (p->mu[i] > 0 && t < m) m = t;
        }
        if (!(m >= 1e-9)) info->ndegenerate++;
        if (m < info->margin) info->margin = m;
    }
}

tribo_status ti_contact_solve(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_options *o,
                              ti_contact_solution *s, tribo_contact_info *info) {
    tribo_contact_info scratch;
    if (!info) info = &scratch;
    if (p->nc > ws->nc_max || p->nv > ws->nv_max || p->nblk > ws->nblk_max) return TRIBO_E_CAPACITY;
    if (!ti_contact_prepare(ws, p)) return TRIBO_E_NONFINITE;
    memset(info, 0, sizeof *info);
    ws->iterations = 0;
    bool apart = true;
    for (int i = 0; i < p->nc; i++) apart = apart && ws->g[3 * i + 2] >= 0;
    if (apart) {
        nothing_to_do(p, s);
        info->canonical = true;
    } else {
        tribo_status status = ti_system_pattern(&ws->sys, p);
        if (status) return status;
        ti_ncp_climb(ws, p, o, s, info);
    }
    info->iterations = ws->iterations;
    if (!(info->residual < HUGE_VAL)) return TRIBO_NOT_CONVERGED;
    margins(ws, p, s, info);
    if (!info->canonical) { /* one of a set of solutions */
        info->margin = 0;
        if (info->ndegenerate == 0) info->ndegenerate = 1;
    }
    return info->residual < (o->tol > 0 ? o->tol : 1e-10) ? TRIBO_OK : TRIBO_NOT_CONVERGED;
}

tribo_status ti_contact_measure(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s,
                                tribo_contact_info *info) {
    if (!ti_contact_prepare(ws, p)) return TRIBO_E_NONFINITE;
    memset(info, 0, sizeof *info);
    info->residual = ti_contact_residual(ws, p, s->v, s->lambda);
    info->rung = TRIBO_RUNG_STAGGERED;
    margins(ws, p, s, info);
    return TRIBO_OK;
}

/* ---------------------------------------------------------------- derivatives */

/* What the points of a problem have in common. */
static tribo_status share(ti_contact_ws *ws, const ti_contact_problem *p) {
    ti_system_pack(&ws->sys, p);
    for (int b = 0; b < p->nblk; b++)
        for (int j = 0; j < p->width[b]; j++) ws->minv[p->voff[b] + j] = 1 / p->M[p->moff[b] + j * p->width[b] + j];
    for (int i = 0; i < p->nc; i++) contact_scale(ws, p, i);
    return ti_system_pattern(&ws->sys, p);
}

tribo_status ti_contact_factor(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s, int k) {
    const ti_contact_point *q = &s->point[k];
    ti_law_compliance R = ti_contact_compliance(q->compliance);
    if (k == 0) {
        tribo_status status = share(ws, p);
        if (status) return status;
    }
    ti_system_jv(&ws->sys, p, q->v, true, ws->c);
    for (int i = 0; i < p->nc; i++) {
        const double *l = q->lambda + 3 * i;
        double c[3] = {ws->c[3 * i] + R.t * l[0], ws->c[3 * i + 1] + R.t * l[1], ws->c[3 * i + 2] + R.n * l[2]}, F[3];
        ti_law_linearise(l, c, p->mu[i], ws->scale + i, R, s->mode[i], F, ws->D + 9 * i, ws->Ainv + 9 * i);
        double *slip = ws->slip + 2 * i, z0 = l[0] - ws->scale[i].rho_t * c[0], z1 = l[1] - ws->scale[i].rho_t * c[1];
        double h = sqrt(z0 * z0 + z1 * z1), scale = s->mode[i] == TRIBO_SLIDE && h > 0 ? l[2] / h : 0;
        slip[0] = scale * z0, slip[1] = scale * z1;
    }
    return ti_system_factor(&ws->sys, p, ws->D);
}

/* out (3 nc) = -D c - m dmu */
static void law_rhs(const ti_contact_ws *ws, const ti_contact_problem *p, const double *c, const double *dmu,
                    double *out) {
    for (int i = 0; i < p->nc; i++) {
        const double *D = ws->D + 9 * i, *x = c + 3 * i;
        double *y = out + 3 * i;
        for (int r = 0; r < 3; r++) y[r] = -(D[3 * r] * x[0] + D[3 * r + 1] * x[1] + D[3 * r + 2] * x[2]);
        if (dmu) y[0] += ws->slip[2 * i] * dmu[i], y[1] += ws->slip[2 * i + 1] * dmu[i];
    }
}

/* D is large where compliance is small, so dlambda = -D (J dv + dc) leaves the momentum row less exact than it can be.
 */
static void refine(ti_contact_ws *ws, const ti_contact_problem *p, const double *r, double *dv, double *dlambda) {
    ti_system_mv(&ws->sys, p, dv, ws->dv);
    for (int k = 0; k < p->nv; k++) ws->dv[k] = r[k] - ws->dv[k];
    ti_system_jt(&ws->sys, p, dlambda, ws->dv);
    ti_system_solve(&ws->sys, 1, ws->dv);
    ti_system_jv(&ws->sys, p, ws->dv, false, ws->c);
    law_rhs(ws, p, ws->c, NULL, ws->dlambda);
    for (int k = 0; k < p->nv; k++) dv[k] += ws->dv[k];
    for (int k = 0; k < 3 * p->nc; k++) dlambda[k] += ws->dlambda[k];
}

void ti_contact_jvp(ti_contact_ws *ws, const ti_contact_problem *p, int ndir, const double *r, const double *dc,
                    const double *dmu, double *dv, double *dlambda) {
    size_t n3 = 3 * (size_t)p->nc, nv = p->nv;
    memcpy(dv, r, ndir * nv * sizeof(double));
    for (int k = 0; k < ndir; k++) {
        law_rhs(ws, p, dc + k * n3, dmu ? dmu + (size_t)k * p->nc : NULL, dlambda + k * n3);
        ti_system_jt(&ws->sys, p, dlambda + k * n3, dv + k * nv);
    }
    ti_system_solve(&ws->sys, ndir, dv);
    for (int k = 0; k < ndir; k++) {
        ti_system_jv(&ws->sys, p, dv + k * nv, false, ws->c);
        for (size_t j = 0; j < n3; j++) ws->c[j] += dc[k * n3 + j];
        law_rhs(ws, p, ws->c, dmu ? dmu + (size_t)k * p->nc : NULL, dlambda + k * n3);
    }
    for (int k = 0; k < ndir; k++) refine(ws, p, r + k * nv, dv + k * nv, dlambda + k * n3);
}

/* out (3 nc) = -D' z */
static void law_rhs_t(const ti_contact_ws *ws, const ti_contact_problem *p, const double *z, double *out) {
    for (int i = 0; i < p->nc; i++) {
        const double *D = ws->D + 9 * i, *x = z + 3 * i;
        for (int r = 0; r < 3; r++) out[3 * i + r] = -(D[r] * x[0] + D[3 + r] * x[1] + D[6 + r] * x[2]);
    }
}

/* K' y = v_bar - J'D' lambda_bar, c_bar = -D' z with z = lambda_bar + J y, and as in refine(). */
void ti_contact_vjp(ti_contact_ws *ws, const ti_contact_problem *p, const double *v_bar, const double *lambda_bar,
                    double *y, double *c_bar, double *mu_bar) {
    int n3 = 3 * p->nc;
    double *z = ws->dlambda;
    memcpy(y, v_bar, p->nv * sizeof(double));
    law_rhs_t(ws, p, lambda_bar, c_bar);
    ti_system_jt(&ws->sys, p, c_bar, y);
    ti_system_solve_t(&ws->sys, y);
    ti_system_jv(&ws->sys, p, y, false, z);
    for (int k = 0; k < n3; k++) z[k] += lambda_bar[k];
    law_rhs_t(ws, p, z, c_bar);

    ti_system_mv(&ws->sys, p, y, ws->dv);
    for (int k = 0; k < p->nv; k++) ws->dv[k] = v_bar[k] - ws->dv[k];
    ti_system_jt(&ws->sys, p, c_bar, ws->dv);
    ti_system_solve_t(&ws->sys, ws->dv);
    ti_system_jv(&ws->sys, p, ws->dv, false, ws->c);
    law_rhs_t(ws, p, ws->c, ws->f);
    for (int k = 0; k < p->nv; k++) y[k] += ws->dv[k];
    for (int k = 0; k < n3; k++) c_bar[k] += ws->f[k], z[k] += ws->c[k];
    for (int i = 0; i < p->nc; i++) mu_bar[i] = ws->slip[2 * i] * z[3 * i] + ws->slip[2 * i + 1] * z[3 * i + 1];
}
