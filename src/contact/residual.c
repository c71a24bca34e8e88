/* residual.c -- the units of a contact problem, and how far an answer is from a law. */
#include "contact/workspace.h"
#include <math.h>

static double row_scale(int w, const double *row, const double *minv) {
    double s = 0;
    for (int k = 0; k < w; k++) s += row[k] * row[k] * minv[k];
    return s;
}

/* The diagonal of G is only a scale here, so the diagonal of M stands for M. */
void ti_contact_scale(ti_contact_ws *ws, const ti_contact_problem *p, int i) {
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

void ti_contact_steepen(ti_contact_ws *ws, const ti_contact_problem *p, double steep) {
    double more = steep / ws->steep;
    for (int i = 0; i < p->nc; i++) ws->scale[i].rho_t *= more, ws->scale[i].g_t /= more;
    ws->steep = steep;
}

bool ti_contact_prepare(ti_contact_ws *ws, const ti_contact_problem *p) {
    double sum = 0; /* 0 * x is NaN for NaN and Inf */
    ti_system_pack(&ws->sys, p);
    for (int k = 0; k < p->nblk; k++) {
        int w = p->width[k];
        const double *M = p->M + p->moff[k];
        for (int j = 0; j < w; j++) ws->minv[p->voff[k] + j] = 1 / M[j * w + j];
        if (!ti_finite(M, (size_t)w * w)) return false;
    }
    ws->r0 = HUGE_VAL, ws->steep = 1;
    for (int i = 0; i < p->nc; i++) {
        ti_contact_scale(ws, p, i);
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

/* The worst of each part of a law's residual, in units sl of impulse and sc of velocity; c in ws->c. */
static tribo_residuals parts_in(ti_contact_ws *ws, const ti_contact_problem *p, const ti_law *law, const double *lambda,
                                double sl, double sc) {
    tribo_residuals worst = {0, 0, 0};
    if (ws->coupled && law == ws->law) return ws->coupled->parts(ws, p, lambda, sl, sc);
    for (int i = 0; i < p->nc; i++) {
        double part[3];
        if (law == &ti_law_ncp) {
            ti_ncp_residual(lambda + 3 * i, ws->c + 3 * i, p->mu[i], part);
        } else {
            ti_law_site site = ti_contact_site(ws, p, i);
            law->residual(&site, lambda + 3 * i, ws->c + 3 * i, part);
        }
        worst.primal = ti_max(worst.primal, part[0] / sl), worst.dual = ti_max(worst.dual, part[1] / sc);
        worst.complementarity = ti_max(worst.complementarity, part[2] / (sl * sc));
    }
    return worst;
}

static double worst_of(tribo_residuals r) {
    return ti_max(r.primal, ti_max(r.dual, r.complementarity));
}

static double largest_impulse(int n, const double *lambda) {
    double l = 0;
    for (int k = 0; k < n; k++) l = ti_max(l, fabs(lambda[k]));
    return l == 0 ? 1 : l;
}

void ti_contact_relative(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *lambda,
                         double *c) {
    ti_system_jv(&ws->sys, p, v, true, c);
    for (int k = 0; p->R && k < 3 * p->nc; k++) c[k] += p->R[k] * lambda[k];
}

double ti_contact_law_residual(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *lambda) {
    double sl = largest_impulse(3 * p->nc, lambda), sc = ws->unit_c > 0 ? ws->unit_c : 1;
    ti_contact_relative(ws, p, v, lambda, ws->c);
    return worst_of(parts_in(ws, p, ws->law, lambda, sl, sc));
}

double ti_contact_residual(ti_contact_ws *ws, const ti_contact_problem *p, const ti_law *law, const double *v,
                           const double *lambda, tribo_residuals *parts) {
    double sl = largest_impulse(3 * p->nc, lambda), off = 0, sc = ws->unit_c > 0 ? ws->unit_c : 1;
    ti_contact_momentum(ws, p, v, lambda); /* and the velocity that it amounts to */
    for (int k = 0; k < p->nv; k++) ws->dv[k] = ws->minv[k] * ws->r[k];
    ti_system_jv(&ws->sys, p, ws->dv, false, ws->c);
    for (int k = 0; k < 3 * p->nc; k++) off = ti_max(off, fabs(ws->c[k]));
    ti_contact_relative(ws, p, v, lambda, ws->c);
    tribo_residuals r = parts_in(ws, p, law, lambda, sl, sc);
    if (!(ti_max(off / sc, worst_of(r)) < 1e-12)) { /* the exact unit is larger: worth its cost */
        sc += 1e-5 * rounding_weight(ws, p, lambda);
        r = parts_in(ws, p, law, lambda, sl, sc);
    }
    if (parts) *parts = r;
    return ti_max(off / sc, worst_of(r));
}
