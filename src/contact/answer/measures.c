/* measures.c -- what an answer is worth: energies, internal forces, residuals. [LeLidec23] II and IV. */
#include "contact/work/workspace.h"
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

/* ---------------------------------------------------------------- internal forces */

/* The friction coefficient, or a larger one if lambda is outside of its cone. */
static double opening(const ti_contact_problem *p, int i, const double *lambda) {
    const double *l = lambda + 3 * i;
    double t = sqrt(l[0] * l[0] + l[1] * l[1]);
    return l[2] > 0 && t > p->mu[i] * l[2] ? t / l[2] : p->mu[i];
}

/* Norm of impulses: squares of tangential ones count a hundredth, as ti_contact_compliance() has it, because the
 * canonical solution of contacts that stick is the least in that norm. It is the Euclidean norm of (0.1 lambda_t,
 * lambda_n); of what holds, of lambda. */
static const double *stretch_of(const ti_contact_problem *p, int i) {
    static const double contact[3] = {10, 10, 1}, held[3] = {1, 1, 1};
    return ti_is_holding(p, i) ? held : contact;
}

/* out (3 nc) = the impulses at x, D their derivative over `unit`; returns half their square. */
static double project(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda, const double *x,
                      double unit, double *out) {
    static const ti_law_scale one = {1, 1, 1, 1};
    const double none[3] = {0, 0, 0};
    double sum = 0;
    ti_system_jv(&ws->sys, p, x, false, ws->c);
    for (int i = 0; i < p->nc; i++) {
        const double *stretch = stretch_of(p, i);
        double c[3];
        for (int r = 0; r < 3; r++) c[r] = -stretch[r] * ws->c[3 * i + r];
        if (!ti_is_contact(p, i)) { /* all of space */
            for (int r = 0; r < 3; r++) out[3 * i + r] = -stretch[r] * c[r], sum += 0.5 * c[r] * c[r];
            for (int k = 0; k < 9; k++) ws->D[9 * i + k] = k % 4 == 0 ? stretch[k / 3] * stretch[k / 3] / unit : 0;
            continue;
        }
        ti_law_contact contact = {.mu = opening(p, i, lambda) / stretch[0], .scale = &one};
        ti_law_slope slope;
        ti_law_ccp.slope(&contact, ti_law_ccp.mode(&contact, none, c), none, c, &slope);
        for (int r = 0; r < 3; r++) out[3 * i + r] = -stretch[r] * slope.F[r], sum += 0.5 * slope.F[r] * slope.F[r];
        for (int k = 0; k < 9; k++) ws->D[9 * i + k] = stretch[k / 3] * slope.c[k] * stretch[k % 3] / unit;
    }
    return sum;
}

static double dot(int n, const double *a, const double *b) {
    double sum = 0;
    for (int k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

/* The impulses of least norm in the cones with the same effect b = J' lambda: P_K(J x) at the minimum of 1/2 |P_K(J
 * x)|^2 - b'x, which is convex. By Newton, whose first matrix takes the cones for all of space. docs/math.md eq. (71).
 */
static tribo_status least_impulses(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda, double *out) {
    double *x = ws->vt, *b = ws->vb, *g = ws->r, *step = ws->ds, *trial = ws->vi, unit = 1e-10 * ws->r0;
    memset(x, 0, p->nv * sizeof *x);
    memset(b, 0, p->nv * sizeof *b);
    ti_system_jt(&ws->sys, p, lambda, b);
    double value = project(ws, p, lambda, x, unit, out), size = sqrt(dot(p->nv, b, b));
    for (int k = 0; k < 9 * p->nc; k++) {
        double by = stretch_of(p, k / 9)[k % 3];
        ws->D[k] = k % 9 % 4 == 0 ? by * by / unit : 0;
    }
    for (int it = 0; it < 60; it++) {
        for (int k = 0; k < p->nv; k++) g[k] = -b[k];
        ti_system_jt(&ws->sys, p, out, g);
        if (sqrt(dot(p->nv, g, g)) <= 1e-13 * size) break;
        tribo_status status = ti_system_factor(&ws->sys, p, ws->D);
        if (status) return status;
        for (int k = 0; k < p->nv; k++) step[k] = -g[k] / unit;
        ti_system_solve(&ws->sys, 1, step);
        double slope = dot(p->nv, g, step), now = value, a = 2;
        do {
            a /= 2;
            for (int k = 0; k < p->nv; k++) trial[k] = x[k] + a * step[k];
            now = project(ws, p, lambda, trial, unit, out) - dot(p->nv, b, trial);
        } while (!(now <= value + 1e-4 * a * slope) && a > 1e-8);
        if (!(now < value)) break;
        value = now;
        memcpy(x, trial, p->nv * sizeof *x);
    }
    project(ws, p, lambda, x, unit, out);
    return TRIBO_OK;
}

/* The norms of lambda's internal part, and of lambda. */
static tribo_status internal_part(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda,
                                  tribo_measures *m) {
    double sum = 0, size = dot(3 * p->nc, lambda, lambda);
    tribo_status status = ti_system_pattern(&ws->sys, p);
    if (!status) status = least_impulses(ws, p, lambda, ws->lt);
    if (status) return status;
    for (int k = 0; k < 3 * p->nc; k++) sum += (lambda[k] - ws->lt[k]) * (lambda[k] - ws->lt[k]);
    m->internal = sqrt(sum);
    m->internal_share = size > 0 ? sqrt(sum / size) : 0;
    return TRIBO_OK;
}

tribo_status ti_contact_measures(ti_contact_ws *ws, const ti_contact_problem *hard, const ti_contact_solution *s,
                                 bool whole, tribo_measures *out) {
    tribo_measures all = {0}, *m = &all;
    ti_contact_problem p;
    ti_contact_take_law(ws, hard);
    if (!ti_contact_prepare(ws, hard)) return TRIBO_E_NONFINITE;
    tribo_status status = ti_contact_pose(ws, hard, ti_contact_uses_delassus(ws), &p);
    if (status) return status;
    ti_contact_residual(ws, &p, ws->law, s->v, s->lambda, &m->law);
    ti_contact_residual(ws, hard, &ti_law_ncp, s->v, s->lambda, &m->ncp);
    energies(ws, &p, s, whole, m);
    status = internal_part(ws, &p, s->lambda, m);
    if (status) return status;
    const double numbers[] = {m->law.primal,          m->law.dual,      m->law.complementarity,
                              m->ncp.primal,          m->ncp.dual,      m->dissipation,
                              m->ncp.complementarity, m->friction_loss, m->internal,
                              m->internal_share,      m->lift};
    if (!ti_finite(numbers, sizeof numbers / sizeof *numbers)) return TRIBO_E_NONFINITE;
    *out = all;
    return TRIBO_OK;
}
