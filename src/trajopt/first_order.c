/* first_order.c -- the gradient of a task's cost by the reverse of its steps, and what descends along it.
 * docs/math.md eq. (409), (410). */
#include "trajopt/task.h"
#include <lbfgs.h>

/* ---- the gradient ---- */

/* Of costs alone: lx of all steps, lu of all knots into gradient, force_bar, forces held; p_bar += */
static tribo_status cost_gradients(tribo_trajopt *t, const ti_path *path, double *gradient, double *p_bar) {
    ti_planner *w = &t->planner[0];
    size_t ndx = (size_t)t->z.ndx, nc = (size_t)t->nc;
    memset(t->lx, 0, sizeof(double) * ndx * ((size_t)t->knots * (size_t)t->substeps + 1));
    for (int k = 0; k <= t->knots; k++) {
        const double *x = ti_state_at(t, path, k), *u = ti_controls_at(t, path, k);
        ti_forces_clear(t, w); /* what they do with the state is the sweep's to find */
        w->force = ti_forces_at(t, path, k);
        if (u) ti_knot_force_bars(t, w, k, t->force_bar + 3 * (size_t)t->nforce * (size_t)k);
        tribo_status s = ti_knot_model(t, w, k, x, u);
        if (s >= 0 && p_bar) s = ti_knot_params_vjp(t, w, k, x, u, p_bar);
        if (s < 0) return s;
        memcpy(t->lx + (size_t)(k * t->substeps) * ndx, t->knot[k].lx, sizeof(double) * ndx);
        if (u && gradient) memcpy(gradient + (size_t)k * nc, t->knot[k].lu, sizeof(double) * nc);
    }
    return TRIBO_OK;
}

tribo_status ti_path_reverse(tribo_trajopt *t, const ti_path *path, double *gradient, double *x0_bar, double *p_bar) {
    int steps = t->knots * t->substeps;
    tribo_status s = cost_gradients(t, path, gradient, p_bar);
    /* models are of what was asked for, and without what forces make of the state */
    if (path != &t->best || s < 0 || (t->linear && t->nforce > 0)) t->linear = t->followed = false;
    if (s < 0) return s;
    memset(t->u_bar, 0, sizeof(double) * (size_t)steps * (size_t)t->z.nu);
    s = t->nforce > 0 ? ti_forces_backward(t, path, x0_bar, p_bar)
                      : tribo_backward(t->planner[0].ws, path->tape, t->lx, x0_bar, t->u_bar, p_bar);
    for (int k = 0; s >= 0 && gradient && k < steps; k++)
        for (int i = 0; i < t->nc; i++)
            gradient[(k / t->substeps) * t->nc + i] += t->u_bar[(size_t)k * (size_t)t->z.nu + (size_t)t->control[i]];
    return s;
}

/* ---- along the gradient ---- */

static const double ARMIJO = 1e-4;
enum { HALVINGS = 40 };

/* What the trial's controls are expected to change. */
static double along_gradient(const tribo_trajopt *t) {
    double slope = 0;
    for (int i = 0; i < t->knots * t->nc; i++) slope += t->gradient[i] * (t->trial.U[i] - t->best.U[i]);
    return slope;
}

static void descend_knots(tribo_trajopt *t) {
    ti_gains_forget(t);
    for (int k = 0; k < t->knots; k++) {
        memset(t->knot[k].gap, 0, sizeof(double) * (size_t)t->z.ndx);
        for (int i = 0; i < t->nc; i++) t->knot[k].feed[i] = -t->gradient[k * t->nc + i];
    }
}

tribo_status ti_first_order_pass(tribo_trajopt *t) {
    tribo_status s = ti_path_reverse(t, &t->best, t->gradient, NULL, NULL);
    t->progress.step = 0;
    if (s < 0) return s;
    t->progress.gradient = ti_steepest(t, t->gradient);
    descend_knots(t);
    double share = t->rate > 0 ? 4 * t->rate : 1;
    for (int k = 0; k < HALVINGS; k++, share /= 2) {
        s = ti_path_roll(t, (ti_roll){.share = share});
        if (s == TRIBO_INTERRUPTED) return s;
        if (s < 0) continue;
        double slope = along_gradient(t);
        t->progress.expected = -slope;
        if (-slope <= t->tol * t->best.size * ti_min(1, share / ti_max(t->rate, share))) {
            t->met = true;
            return TRIBO_OK;
        }
        if (!(t->trial.cost <= t->best.cost + ARMIJO * slope)) continue;
        ti_path_swap(t);
        t->rate = t->progress.step = share;
        return TRIBO_OK;
    }
    t->settled = true;
    return TRIBO_OK;
}

/* ---- L-BFGS ---- */

enum { CHUNK = 10 };

typedef struct run {
    tribo_trajopt *t;
    tribo_status status;
} run;

/* Cost of the nearest controls within bounds plus half the square distance to them. */
static lbfgsfloatval_t value(void *instance, const lbfgsfloatval_t *z, lbfgsfloatval_t *g, const int n,
                             const lbfgsfloatval_t step) {
    run *r = instance;
    tribo_trajopt *t = r->t;
    int used = t->knots * t->nc;
    double outside = 0;
    (void)step;
    for (int i = 0; i < n; i++) g[i] = i < used ? 0 : z[i];
    tribo_status s = ti_path_roll(t, (ti_roll){.U = z});
    if (s >= 0) s = ti_path_reverse(t, &t->trial, t->gradient, NULL, NULL);
    if (s == TRIBO_INTERRUPTED) r->status = s;
    if (s < 0 || s == TRIBO_INTERRUPTED) return 1e30;
    for (int i = 0; i < used; i++) {
        double beyond = z[i] - t->trial.U[i];
        g[i] = t->fixed[i] ? 0 : (beyond == 0 ? t->gradient[i] : 0) + beyond;
        outside += beyond * beyond / 2;
    }
    return t->trial.cost + outside;
}

static int interrupted(void *instance, const lbfgsfloatval_t *z, const lbfgsfloatval_t *g, const lbfgsfloatval_t fx,
                       const lbfgsfloatval_t xnorm, const lbfgsfloatval_t gnorm, const lbfgsfloatval_t step, int n,
                       int k, int ls) {
    const run *r = instance;
    (void)z, (void)g, (void)fx, (void)xnorm, (void)gnorm, (void)step, (void)n, (void)k, (void)ls;
    return r->status == TRIBO_INTERRUPTED;
}

/* What a bound holds at the best stays there for a pass. */
static tribo_status fix_held(tribo_trajopt *t) {
    tribo_status s = ti_path_reverse(t, &t->best, t->gradient, NULL, NULL);
    for (int i = 0; i < t->knots * t->nc; i++) {
        int k = i % t->nc;
        t->fixed[i] = ti_is_held(t->best.U[i], t->gradient[i], t->lower[k], t->upper[k]);
    }
    return s;
}

tribo_status ti_quasi_newton_pass(tribo_trajopt *t) {
    int used = t->knots * t->nc, n = (used + 7) / 8 * 8;
    double cost, *z = t->flat;
    lbfgs_parameter_t parameter;
    run r = {t, TRIBO_OK};
    memset(z, 0, sizeof *z * (size_t)n);
    memcpy(z, t->best.U, sizeof *z * (size_t)used);
    lbfgs_parameter_init(&parameter);
    parameter.max_iterations = CHUNK;
    parameter.epsilon = 1e-12;
    tribo_status s = fix_held(t);
    if (s < 0) return s;
    int end = lbfgs(n, z, &cost, value, interrupted, &r, &parameter);
    if (end == LBFGSERR_OUTOFMEMORY) return TRIBO_E_NOMEM;
    if (r.status == TRIBO_INTERRUPTED) return r.status;
    s = ti_path_roll(t, (ti_roll){.U = z});
    if (s == TRIBO_INTERRUPTED) return s;
    t->progress.expected = s < 0 ? 0 : t->best.cost - t->trial.cost;
    t->progress.step = t->progress.expected > 0;
    if (s >= 0 && t->trial.cost < t->best.cost) ti_path_swap(t);
    if (!(t->progress.expected > 0)) { /* its line search ends where sums round: is that a minimum? */
        t->rate = 1;
        return ti_first_order_pass(t);
    }
    t->met = t->progress.expected <= t->tol * t->best.size && end >= 0;
    s = ti_path_reverse(t, &t->best, t->gradient, NULL, NULL);
    t->progress.gradient = ti_steepest(t, t->gradient);
    return s;
}
