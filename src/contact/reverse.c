/* reverse.c -- the linearisation of a law at a solution, forward and reverse. docs/math.md eq. (60), (61). */
#include "contact/workspace.h"
#include <math.h>

/* What the points of a problem have in common. */
static tribo_status share(ti_contact_ws *ws, const ti_contact_problem *p) {
    ti_system_pack(&ws->sys, p);
    for (int b = 0; b < p->nblk; b++)
        for (int j = 0; j < p->width[b]; j++) ws->minv[p->voff[b] + j] = 1 / p->M[p->moff[b] + j * p->width[b] + j];
    for (int i = 0; i < p->nc; i++) ti_contact_scale(ws, p, i);
    return ti_system_pattern(&ws->sys, p);
}

/* -A^-1 dF/dmu of the NCP, in closed form */
static void ncp_slip(const ti_law_site *site, unsigned char mode, const double *l, const double *c, double *slip) {
    double z0 = l[0] - site->scale->rho_t * c[0], z1 = l[1] - site->scale->rho_t * c[1];
    double h = sqrt(z0 * z0 + z1 * z1), scale = mode == TRIBO_SLIDE && h > 0 ? l[2] / h : 0;
    slip[0] = scale * z0, slip[1] = scale * z1, slip[2] = 0;
}

/* D, A^-1, -A^-1 dF/dmu and -A^-1 dF/d own of contact i. */
static void differentiate(ti_contact_ws *ws, const ti_contact_problem *p, int i, ti_law_compliance R,
                          unsigned char mode, const double *l, const double *c) {
    ti_law_site site = ti_contact_site(ws, p, i);
    double *slip = ws->slip + 3 * i, *A = ws->Ainv + 9 * i, F[3];
    if (ws->law == &ti_law_ncp) {
        ti_ncp_linearise(l, c, site.mu, site.scale, R, mode, F, ws->D + 9 * i, A);
        ncp_slip(&site, mode, l, c, slip);
        return;
    }
    ti_law_slope slope;
    ws->law->slope(&site, mode, l, c, &slope);
    ti_law_resolve(&slope, R, ws->D + 9 * i, A);
    for (int r = 0; r < 3; r++)
        slip[r] = -(A[3 * r] * slope.mu[0] + A[3 * r + 1] * slope.mu[1] + A[3 * r + 2] * slope.mu[2]);
    for (int k = 0; ws->law->own && k < 27; k++) {
        const double *a = A + k / 9 * 3, *x = slope.own + k % 9;
        ws->own_slip[27 * i + k] = -(a[0] * x[0] + a[1] * x[9] + a[2] * x[18]);
    }
}

/* c (3) of contact i at a point, with its small compliance R; from J v + ref in ws->c. */
static void velocity_at(const ti_contact_ws *ws, const ti_law_compliance *R, const ti_contact_point *q, int i,
                        double *c) {
    const double *l = q->lambda + 3 * i, *x = ws->c + 3 * i;
    c[0] = x[0] + R->t * l[0], c[1] = x[1] + R->t * l[1], c[2] = x[2] + R->n * l[2];
}

tribo_status ti_contact_factor(ti_contact_ws *ws, const ti_contact_problem *hard, const ti_contact_solution *s, int k) {
    const ti_contact_point *q = &s->point[k];
    ti_contact_problem soft, *p = &soft;
    tribo_status status = TRIBO_OK;
    ti_contact_take_law(ws, hard);
    if (k == 0) {
        status = share(ws, hard);
        if (!status) status = ti_contact_pose(ws, hard, ti_contact_entangled(ws), &soft);
        if (status) return status;
    } else
        soft = ti_contact_soften(ws, hard);
    if (ws->coupled) return ws->coupled->factor(ws, p, q);
    ti_system_jv(&ws->sys, p, q->v, true, ws->c);
    for (int i = 0; i < p->nc; i++) {
        ti_law_compliance R = ti_contact_stiffness(p, i, ti_contact_compliance(q->compliance));
        double c[3];
        velocity_at(ws, &R, q, i, c);
        differentiate(ws, p, i, R, s->mode[i], q->lambda + 3 * i, c);
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
        for (int r = 0; dmu && r < 3; r++) y[r] += ws->slip[3 * i + r] * dmu[i];
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
    if (ws->coupled) {
        ws->coupled->vjp(ws, p, v_bar, lambda_bar, y, c_bar, mu_bar);
        return;
    }
    int n3 = 3 * p->nc;
    double *z = ws->z;
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
    for (int i = 0; i < p->nc; i++) {
        const double *slip = ws->slip + 3 * i, *zi = z + 3 * i;
        mu_bar[i] = slip[0] * zi[0] + slip[1] * zi[1] + slip[2] * zi[2];
    }
}

/* ---------------------------------------------------------------- what depends on G itself */

bool ti_contact_entangled(const ti_contact_ws *ws) {
    return ws->asked->own || ws->options.softness == TRIBO_SOFTNESS_MUJOCO;
}

/* own_bar (9): of the law's equation, -z' A^-1 dF/d own; and of a compliance in proportion to its diagonal. */
static void own_cotangent(const ti_contact_ws *ws, const double *l, int i, const double *c_bar, double *own_bar) {
    const double *z = ws->z + 3 * i, *slip = ws->law->own ? ws->own_slip + 27 * i : NULL;
    memset(own_bar, 0, 9 * sizeof *own_bar);
    for (int j = 0; slip && j < 9; j++) own_bar[j] = z[0] * slip[j] + z[1] * slip[9 + j] + z[2] * slip[18 + j];
    if (ws->options.softness == TRIBO_SOFTNESS_MUJOCO) { /* R = share G_nn: in c, and in the diagonal of own */
        double n = ti_softness_share(&ws->options), t = n / ws->options.impratio, bar = 0;
        for (int r = 0; r < 3; r++) bar += (r < 2 ? t : n) * (c_bar[3 * i + r] * l[r] + own_bar[4 * r]);
        own_bar[8] += bar;
    }
}

const ti_delassus_bar *ti_contact_delassus_bar(ti_contact_ws *ws, const ti_contact_problem *p,
                                               const ti_contact_solution *s, int k, const double *c_bar) {
    if (ws->coupled) {
        ws->coupled->delassus_bar(ws, p, &s->point[k], c_bar);
        return &ws->G_bar;
    }
    for (int i = 0; i < p->nc; i++) own_cotangent(ws, s->point[k].lambda + 3 * i, i, c_bar, ws->own_bar + 9 * i);
    ws->G_bar = (ti_delassus_bar){.own = ws->own_bar};
    return &ws->G_bar;
}

void ti_contact_entangled_vjp(ti_contact_ws *ws, const ti_contact_problem *p, const ti_delassus_bar *bar, double *J_bar,
                              double *M_bar) {
    ti_delassus_vjp(&ws->G, p, bar, J_bar, M_bar);
}
