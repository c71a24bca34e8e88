/* ncp_newton.c -- the NCP by semismooth Newton and by the interior point, each as a solver of its own. */
#include "contact/ladder/off_path.h"
#include "contact/solver/solvers.h"
#include <math.h>

typedef struct newton {
    ti_contact_solution s;
    double *best, *step; /* (3 nc) impulses: the best, and where a step starts */
} newton;
typedef char it_fits[sizeof(newton) <= TI_SCRATCH_MAX ? 1 : -1];

void ti_ncp_newton_carve(ti_arena *m, const ti_contact_sizes *sizes, void *scratch) {
    newton *a = scratch;
    ti_contact_solution_carve(m, sizes->nc, sizes->nv, &a->s);
    TI_CARVE(m, a->best, 3 * (size_t)sizes->nc);
    TI_CARVE(m, a->step, 3 * (size_t)sizes->nc);
}

/* Whether the warm start already is a solution. */
static bool is_solved(ti_contact_ws *ws, const ti_contact_problem *p, double tol) {
    return ws->warm && ti_contact_residual(ws, p, ws->law, ws->v, ws->lambda, NULL) <= tol;
}

/* Newton on the smoothed law (78) at a falling gap, near its end on the law itself; returns the residual of a->s. The
 * path of a gap is smoother than that of a compliance. */
static double smoothing(ti_contact_ws *ws, const ti_contact_problem *p, double tol, double *start) {
    newton *a = ws->scratch;
    const ti_law *law = ws->law;
    double unit = ws->merit / p->nc, r = HUGE_VAL, fall = 0.1;
    size_t n3 = 3 * (size_t)p->nc, nv = p->nv;
    int most = ws->iterations + 1000;
    for (int i = 0; i < p->nc; i++) {
        double *l = ws->lambda + 3 * i;
        l[0] = l[1] = 0, l[2] = sqrt(unit * ws->scale[i].rho_n);
    }
    ti_contact_velocity(ws, p, ws->lambda, ws->v);
    for (double gap = unit; gap > 1e-14 * unit && r > tol && ws->iterations < most;) {
        memcpy(start, ws->lambda, n3 * sizeof(double)), memcpy(ws->vi, ws->v, nv * sizeof(double));
        ws->law = &ti_law_central, ws->kappa = gap;
        bool found = ti_contact_newton(ws, p, 1e-10 * ws->r0, 30, 0, 0) || /* or to rounding */
                     ti_contact_residual(ws, p, ws->law, ws->v, ws->lambda, NULL) < 1e-6;
        ws->law = law, ws->kappa = 0;
        if (!found) {
            memcpy(ws->lambda, start, n3 * sizeof(double)), memcpy(ws->v, ws->vi, nv * sizeof(double));
            fall = sqrt(fall), gap /= fall;
            if (fall > 0.97) break;
            continue;
        }
        if (gap < 1e-7 * unit) {
            memcpy(start, ws->lambda, n3 * sizeof(double)), memcpy(ws->vi, ws->v, nv * sizeof(double));
            r = ti_ncp_cross_over(ws, p, tol, &a->s);
            memcpy(ws->lambda, start, n3 * sizeof(double)), memcpy(ws->v, ws->vi, nv * sizeof(double));
        }
        fall = fall * fall > 0.1 ? fall * fall : 0.1;
        gap *= fall;
    }
    return r;
}

void ti_ncp_newton_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol) {
    newton *a = ws->scratch;
    if (is_solved(ws, p, tol)) return;
    ti_contact_options o = {.tol = tol, .warm = ws->warm};
    size_t bytes = 3 * (size_t)p->nc * sizeof(double);
    if (o.warm) {
        memcpy(a->s.lambda, ws->lambda, bytes);
        ti_contact_choose(ws, p, 1e-6 * ws->r0);
        memcpy(a->s.mode, ws->mode, p->nc);
    } else
        memset(a->s.lambda, 0, bytes);
    double r = ti_ncp_newton_alone(ws, p, &o, &a->s);
    memcpy(a->best, a->s.lambda, bytes);
    if (!(r <= tol)) {
        double other = smoothing(ws, p, tol, a->step);
        if (other < r) r = other, memcpy(a->best, a->s.lambda, bytes);
    }
    ti_contact_end(ws, p, tol, a->best, &a->s);
}

/* ---------------------------------------------------------------- interior point */

/* Follow the central path until the residual is below tol or rounding stops it; returns the best residual, its impulses
 * in ws->lambda. */
static double follow(ti_contact_ws *ws, const ti_contact_problem *p, const ti_interior_settings *b, double tol) {
    double best = HUGE_VAL;
    bool fine = true;
    int done = 0;
    for (double rough = 1e-6; rough > 1e-17 && fine && best > tol; rough *= 0.1) {
        int most = rough < 1e-8 && done + 10 < ws->max_iter ? done + 10 : ws->max_iter;
        fine = ti_ncp_interior(ws, p, 0, b, rough, &done, most) && done < most;
        double r = ti_contact_residual(ws, p, ws->law, ws->v, ws->lambda, NULL);
        if (r < best) {
            best = r;
            memcpy(ws->lb, ws->lambda, 3 * (size_t)p->nc * sizeof(double));
            memcpy(ws->vb, ws->v, p->nv * sizeof(double));
        }
    }
    memcpy(ws->lambda, ws->lb, 3 * (size_t)p->nc * sizeof(double));
    memcpy(ws->v, ws->vb, p->nv * sizeof(double));
    return best;
}

/* Keep the iterate if its residual is the best. */
static void judge(ti_contact_ws *ws, const ti_contact_problem *p, double *best, double *lambda) {
    double r = ti_contact_residual(ws, p, ws->law, ws->v, ws->lambda, NULL);
    if (r < *best) *best = r, memcpy(lambda, ws->lambda, 3 * (size_t)p->nc * sizeof(double));
}

/* The point of the central path at ws->kappa: near it by the interior point, then Newton on its equation. */
static void centre(ti_contact_ws *ws, const ti_contact_problem *p, double tol) {
    newton *a = ws->scratch;
    double R = 1e-12 * ws->r0, best = HUGE_VAL;
    for (int k = ws->warm ? -1 : 0; k < 6 && !(best <= tol); k++) {
        int done = 0;
        if (k >= 0) {
            ti_interior_settings b = ti_ladder_settings[k];
            ti_ncp_interior(ws, p, 0, &b, HUGE_VAL, &done, 1); /* for its unit */
            b.gap = ws->kappa / (ws->ip_unit * ws->ip_unit);
            ti_ncp_interior(ws, p, 0, &b, 2 * b.gap, &done, ws->max_iter);
        }
        ti_contact_newton(ws, p, R, 60, 0, 0);
        judge(ws, p, &best, a->best);
        if (best <= 0.01 * tol) break;
        ti_contact_approach(ws, p, R, 0);
        judge(ws, p, &best, a->best);
    }
    memcpy(ws->lambda, a->best, 3 * (size_t)p->nc * sizeof(double));
}

void ti_ncp_interior_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol) {
    newton *a = ws->scratch;
    double least = HUGE_VAL;
    size_t bytes = 3 * (size_t)p->nc * sizeof(double);
    if (is_solved(ws, p, tol)) return;
    memset(a->best, 0, bytes);
    if (ws->kappa > 0) {
        centre(ws, p, tol);
        return;
    }
    if (ws->warm) { /* the interior point itself cannot use a start */
        least = ti_ncp_cross_over(ws, p, tol, &a->s);
        memcpy(a->best, a->s.lambda, bytes);
    }
    for (int k = 0; k < 6 && least > tol; k++) {
        double r = follow(ws, p, ti_ladder_settings + k, tol);
        if (r < least) least = r, memcpy(a->best, ws->lambda, bytes);
        if (r <= tol || !(r < 1e-3)) continue;
        r = ti_ncp_cross_over(ws, p, tol, &a->s);
        if (r < least) least = r, memcpy(a->best, a->s.lambda, bytes);
    }
    if (least > tol) { /* the same path, by Newton on its equation */
        double r = smoothing(ws, p, tol, a->step);
        if (r < least) least = r, memcpy(a->best, a->s.lambda, bytes);
    }
    ti_contact_end(ws, p, tol, a->best, &a->s);
}
