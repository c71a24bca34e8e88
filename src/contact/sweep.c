/* sweep.c -- projected Gauss-Seidel: contact by contact, each by the law's own solution of one contact. */
#include "contact/products.h"
#include "contact/solvers.h"
#include <math.h>

void ti_sweep_carve(ti_arena *m, const ti_contact_room *room, void *scratch) {
    (void)m, (void)room, (void)scratch;
}

/* c (3) = J_i v + ref of contact i */
static inline void relative(const ti_contact_problem *p, int i, const double *v, double *c) {
    const double *J = p->J + p->joff[i];
    for (int r = 0; r < 3; r++) c[r] = p->ref[3 * i + r];
    for (int side = 0; side < 2; side++) {
        int k = side ? p->b[i] : p->a[i];
        if (k < 0) continue;
        int w = p->width[k];
        const double *x = v + p->voff[k];
        for (int r = 0; r < 3; r++, J += w)
            for (int j = 0; j < w; j++) c[r] += J[j] * x[j];
    }
}

/* v += M^-1 J_i' d */
static inline void push(const ti_delassus *G, const ti_contact_problem *p, int i, const double *d, double *v) {
    const double *W = G->W + p->joff[i];
    for (int side = 0; side < 2; side++) {
        int k = side ? p->b[i] : p->a[i];
        if (k < 0) continue;
        int w = p->width[k];
        double *x = v + p->voff[k];
        for (int j = 0; j < w; j++) x[j] += W[j] * d[0] + W[w + j] * d[1] + W[2 * w + j] * d[2];
        W += 3 * (size_t)w;
    }
}

/* One sweep; returns the largest change of an impulse, and in *size the largest impulse. */
static double sweep(ti_contact_ws *ws, const ti_contact_problem *p, ti_local *local, double *size) {
    double change = 0, relaxation = ws->options.relaxation;
    *size = 0;
    for (int i = 0; i < p->nc; i++) {
        ti_law_site site = ti_contact_site(ws, p, i);
        double *l = ws->lambda + 3 * i, before[3] = {l[0], l[1], l[2]}, free[3], d[3];
        relative(p, i, ws->v, free); /* R lambda is in own, not in J v */
        for (int r = 0; r < 3; r++) {
            const double *G = site.own + 3 * r;
            free[r] -= G[0] * l[0] + G[1] * l[1] + G[2] * l[2];
            if (p->R) free[r] += p->R[3 * i + r] * l[r];
        }
        local(&site, free, l);
        for (int r = 0; r < 3; r++) {
            l[r] = before[r] + relaxation * (l[r] - before[r]);
            d[r] = l[r] - before[r];
            change = ti_max(change, fabs(d[r])), *size = ti_max(*size, fabs(l[r]));
        }
        push(&ws->G, p, i, d, ws->v);
    }
    return change;
}

/* Its own criterion is the change of a sweep; the residual is looked at when that is small, and then more rarely. */
void ti_sweep_by(ti_contact_ws *ws, const ti_contact_problem *p, double tol, ti_local *local) {
    double small = tol;
    for (int it = 1; it <= ws->max_iter; it++) {
        double size, change = sweep(ws, p, local, &size);
        ws->iterations++;
        if (!(change > small * size)) {
            if (ti_contact_law_residual(ws, p, ws->v, ws->lambda) <= tol || !(change > 1e-15 * size)) return;
            small *= 0.3;
        }
        if (it % 100 == 0) ti_contact_velocity(ws, p, ws->lambda, ws->v); /* rounding adds up */
    }
}

void ti_sweep_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol) {
    ti_sweep_by(ws, p, tol, ws->law->local);
}
