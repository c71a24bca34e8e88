/* progress.c -- where the stages of the contact solver start, and the best that they reach. */
#include "contact/ladder/progress.h"

void ti_point_keep(ti_contact_point *q, double weight, double R, const ti_contact_problem *p, const double *v,
                   const double *l) {
    q->weight = weight, q->compliance = R;
    memcpy(q->lambda, l, 3 * p->nc * sizeof(double));
    memcpy(q->v, v, p->nv * sizeof(double));
}

void ti_ladder_keep(ti_contact_ws *ws, const ti_contact_problem *p, double R, double share, ti_progress *g,
                    ti_contact_solution *s) {
    double r = ti_contact_residual(ws, p, ws->law, ws->v, ws->lambda, NULL);
    if (!(r < share * g->residual)) return;
    double small = 1e-6 * ws->r0;
    s->npoint = 1, s->near = 0;
    ti_point_keep(&s->point[0], 1, r < g->tol && R > small ? small : R, p, ws->v, ws->lambda);
    ti_iterate_to(ws, p, s->v, s->lambda);
    memcpy(s->mode, ws->mode, p->nc);
    g->residual = r, g->canonical = g->on_path;
}

void ti_ladder_anchor(ti_contact_ws *ws, const ti_contact_problem *p, double R) {
    for (int k = 0; k < 3 * p->nc; k++) {
        ti_law_compliance c = ti_contact_small(p, k / 3, R);
        ws->ref[k] = p->ref[k] - (k % 3 == 2 ? c.n : c.t) * ws->lambda[k];
    }
}

void ti_ladder_start(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda) {
    memcpy(ws->v, p->vfree, p->nv * sizeof(double));
    if (!lambda) {
        memset(ws->lambda, 0, 3 * p->nc * sizeof(double));
        return;
    }
    memcpy(ws->lambda, lambda, 3 * p->nc * sizeof(double));
    memset(ws->r, 0, p->nv * sizeof(double));
    ti_system_jt(&ws->sys, p, lambda, ws->r);
    for (int k = 0; k < p->nv; k++) ws->v[k] += ws->minv[k] * ws->r[k];
}
