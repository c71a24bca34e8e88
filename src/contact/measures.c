/* measures.c -- what an answer is worth: energies, internal forces, residuals. [LeLidec23] II and IV. */
#include "contact/workspace.h"
#include <math.h>

/* Energy that the impulses took from the free motion, and what of it went in slip; ref counts if `whole`. */
static void energies(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s, bool whole,
                     tribo_measures *m) {
    m->dissipation = m->friction_loss = m->lift = 0;
    ti_system_jv(&ws->sys, p, p->vfree, whole, ws->lt);
    ti_system_jv(&ws->sys, p, s->v, whole, ws->c);
    for (int i = 0; i < p->nc; i++) {
        const double *l = s->lambda + 3 * i, *c = ws->c + 3 * i, *g = ws->lt + 3 * i;
        for (int r = 0; r < 3; r++) m->dissipation -= 0.5 * l[r] * (c[r] + g[r]);
        m->friction_loss -= l[0] * c[0] + l[1] * c[1];
        if (l[2] > 0 && c[2] > m->lift) m->lift = c[2];
    }
}

/* The part of lambda that J' does not see, by conjugate gradients on min |J x - lambda|: what is left of lambda. Rows
 * are scaled by nothing: impulses all have one unit. docs/math.md eq. (71). */
static double internal_part(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda) {
    int n3 = 3 * p->nc, nv = p->nv;
    double *left = ws->lt, *direction = ws->dv, *s = ws->ds, *q = ws->dlambda;
    memcpy(left, lambda, n3 * sizeof *left);
    memset(s, 0, nv * sizeof *s);
    ti_system_jt(&ws->sys, p, left, s);
    memcpy(direction, s, nv * sizeof *s);
    double gamma = 0, first;
    for (int k = 0; k < nv; k++) gamma += s[k] * s[k];
    first = gamma;
    for (int it = 0; it < 4 * nv && gamma > 1e-28 * first; it++) {
        ti_system_jv(&ws->sys, p, direction, false, q);
        double curvature = 0, next = 0;
        for (int k = 0; k < n3; k++) curvature += q[k] * q[k];
        if (!(curvature > 0)) break;
        for (int k = 0; k < n3; k++) left[k] -= gamma / curvature * q[k];
        memset(s, 0, nv * sizeof *s);
        ti_system_jt(&ws->sys, p, left, s);
        for (int k = 0; k < nv; k++) next += s[k] * s[k];
        for (int k = 0; k < nv; k++) direction[k] = s[k] + next / gamma * direction[k];
        gamma = next;
    }
    double sum = 0;
    for (int k = 0; k < n3; k++) sum += left[k] * left[k];
    return sqrt(sum);
}

tribo_status ti_contact_measures(ti_contact_ws *ws, const ti_contact_problem *hard, const ti_contact_solution *s,
                                 bool whole, tribo_measures *m) {
    ti_contact_problem p;
    double size = 0;
    if (!ti_contact_prepare(ws, hard)) return TRIBO_E_NONFINITE;
    tribo_status status = ti_contact_pose(ws, hard, &p);
    if (status) return status;
    *m = (tribo_measures){0};
    ti_contact_residual(ws, &p, ws->law, s->v, s->lambda, &m->law);
    ti_contact_residual(ws, hard, &ti_law_ncp, s->v, s->lambda, &m->ncp);
    energies(ws, &p, s, whole, m);
    for (int k = 0; k < 3 * p.nc; k++) size += s->lambda[k] * s->lambda[k];
    m->internal = internal_part(ws, &p, s->lambda);
    m->internal_share = size > 0 ? m->internal / sqrt(size) : 0;
    return TRIBO_OK;
}
