/* newton.c -- semismooth Newton on the contact law, and what follows once the modes are known. */
#include "contact/workspace.h"
#include <math.h>

static double largest(const double *a, int n) {
    double m = 0;
    for (int i = 0; i < n; i++) m = ti_max(m, fabs(a[i]));
    return m;
}

/* Law blocks at (v, lambda); fixed: keep ws->mode. Rc is the compliance in the law, R the one in the matrix.
 * Returns the merit: squares of F and of the momentum residual, as energies. ws->r = J'lambda - M (v - vfree). */
static double evaluate(ti_ncp_ws *ws, const ti_ncp_problem *p, const double *v, const double *lambda,
                       ti_law_compliance Rc, ti_law_compliance R, bool fixed) {
    double merit = 0;
    ti_ncp_jv(p, v, true, ws->c);
    for (int i = 0; i < p->nc; i++) {
        const double *l = lambda + 3 * i;
        double c[3] = {ws->c[3 * i] + Rc.t * l[0], ws->c[3 * i + 1] + Rc.t * l[1], ws->c[3 * i + 2] + Rc.n * l[2]};
        double F[3];
        const ti_law_scale *s = ws->scale + i;
        unsigned char mode = fixed ? ws->mode[i] : TI_MODE_FREE;
        ws->mode[i] = ti_law_linearise(l, c, p->mu[i], s, R, mode, ws->D + 9 * i, ws->f + 3 * i, F);
        merit += s->g_t * (F[0] * F[0] + F[1] * F[1]) + s->g_n * F[2] * F[2];
    }
    for (int k = 0; k < p->nv; k++) ws->dv[k] = v[k] - p->vfree[k];
    ti_ncp_mv(p, ws->dv, ws->r);
    for (int k = 0; k < p->nv; k++) ws->r[k] = -ws->r[k];
    ti_ncp_jt(p, lambda, ws->r);
    for (int k = 0; k < p->nv; k++) merit += ws->r[k] * ws->r[k] * ws->minv[k];
    return merit;
}

/* (dv, dlambda) of the last evaluate(), with the present factors. */
static void direction(ti_ncp_ws *ws, const ti_ncp_problem *p) {
    int n3 = 3 * p->nc;
    memcpy(ws->dv, ws->r, p->nv * sizeof(double));
    for (int k = 0; k < n3; k++) ws->dlambda[k] = -ws->f[k];
    ti_ncp_jt(p, ws->dlambda, ws->dv);
    ti_system_solve(&ws->sys, 1, ws->dv);
    ti_ncp_jv(p, ws->dv, false, ws->c);
    for (int i = 0; i < p->nc; i++) {
        const double *D = ws->D + 9 * i, *c = ws->c + 3 * i;
        double *dl = ws->dlambda + 3 * i;
        for (int r = 0; r < 3; r++) dl[r] -= D[3 * r] * c[0] + D[3 * r + 1] * c[1] + D[3 * r + 2] * c[2];
    }
}

static bool factor(ti_ncp_ws *ws, const ti_ncp_problem *p) {
    ws->iterations++;
    return ti_system_factor(&ws->sys, p, ws->D) == TRIBO_OK;
}

bool ti_ncp_newton(ti_ncp_ws *ws, const ti_ncp_problem *p, double R, int iterations) {
    ti_law_compliance Rk = ti_ncp_compliance(R);
    int n3 = 3 * p->nc;
    double merit = evaluate(ws, p, ws->v, ws->lambda, Rk, Rk, false), scale = ws->merit;
    for (int it = 0; it < iterations; it++) {
        if (merit <= 1e-24 * scale) return true;
        if (!(merit < HUGE_VAL) || !factor(ws, p)) return false;
        direction(ws, p);
        memcpy(ws->ds, ws->dv, p->nv * sizeof(double)); /* evaluate() needs dv */
        double step = 1, trial;
        for (;;) {
            for (int k = 0; k < p->nv; k++) ws->vt[k] = ws->v[k] + step * ws->ds[k];
            for (int k = 0; k < n3; k++) ws->lt[k] = ws->lambda[k] + step * ws->dlambda[k];
            trial = evaluate(ws, p, ws->vt, ws->lt, Rk, Rk, false);
            if (trial < (1 - 2e-4 * step) * merit || step < 1e-3 || merit < 1e-14 * scale) break;
            step /= 2;
        }
        memcpy(ws->v, ws->vt, p->nv * sizeof(double));
        memcpy(ws->lambda, ws->lt, n3 * sizeof(double));
        merit = trial;
    }
    return merit <= 1e-20 * scale;
}

bool ti_ncp_settle(ti_ncp_ws *ws, const ti_ncp_problem *p, double R) {
    ti_law_compliance Rk = ti_ncp_compliance(R);
    int n3 = 3 * p->nc;
    double before = HUGE_VAL;
    bool fresh = false;
    for (int it = 0; it < 12; it++) {
        evaluate(ws, p, ws->v, ws->lambda, Rk, Rk, true);
        if (!fresh || before > 1e-7) {
            if (!factor(ws, p)) return false;
            fresh = true;
        }
        direction(ws, p);
        double sl = largest(ws->lambda, n3), sv = ti_max(largest(ws->v, p->nv), largest(p->vfree, p->nv));
        double change =
            ti_max(largest(ws->dlambda, n3) / (sl > 0 ? sl : 1), largest(ws->dv, p->nv) / (sv > 0 ? sv : 1));
        for (int j = 0; j < p->nv; j++) ws->v[j] += ws->dv[j];
        for (int j = 0; j < n3; j++) ws->lambda[j] += ws->dlambda[j];
        if (!(change < HUGE_VAL)) return false;
        if (change < 1e-15 || (before < 1e-9 && change > 0.25 * before)) return true;
        before = change;
    }
    return before < 1e-8;
}

void ti_ncp_polish(ti_ncp_ws *ws, const ti_ncp_problem *p, double R, int steps) {
    ti_law_compliance Rk = ti_ncp_compliance(R), none = {0, 0};
    for (int it = 0; it < steps; it++) {
        evaluate(ws, p, ws->v, ws->lambda, none, Rk, true);
        direction(ws, p);
        for (int j = 0; j < p->nv; j++) ws->v[j] += ws->dv[j];
        for (int j = 0; j < 3 * p->nc; j++) ws->lambda[j] += ws->dlambda[j];
    }
}

void ti_ncp_modes(ti_ncp_ws *ws, const ti_ncp_problem *p, double R) {
    ti_law_compliance Rk = ti_ncp_compliance(R);
    evaluate(ws, p, ws->v, ws->lambda, Rk, Rk, false);
}
