/* rollout.c -- trajectories of a task: rolled out with feedback and gaps, and linearised knot by knot. */
#include "base/crew.h"
#include "trajopt/multiply.h"
#include "trajopt/task.h"

void ti_control_spread(const tribo_trajopt *t, const double *controls, double *u) {
    memcpy(u, t->u, sizeof(double) * (size_t)t->z.nu);
    for (int i = 0; i < t->nc; i++) u[t->control[i]] = controls[i];
}

/* The steps of a knot from x; x becomes where they lead. force (nforce,3): of its contacts. */
static tribo_status advance(const tribo_trajopt *t, tribo_ws *ws, const double *controls, double *x, tribo_tape *tape,
                            double *force, int *unconverged) {
    double *u = t->planner[0].u;
    ti_control_spread(t, controls, u);
    memset(force, 0, 3 * sizeof *force * (size_t)t->nforce);
    for (int s = 0; s < t->substeps; s++) {
        tribo_status status = t->plant ? t->plant->step(t->plant->context, u, x) : tribo_step(ws, t->p, x, u, x, tape);
        if (status < 0) return status;
        if (t->nforce > 0 && !t->plant) ti_forces_add(t, ws, force);
        *unconverged += status == TRIBO_NOT_CONVERGED;
    }
    return t->stop && *t->stop ? TRIBO_INTERRUPTED : TRIBO_OK;
}

/* x := f (-) (1 - share) gap, f in x; the gap that is left to *left, its largest number. */
static void close_gap(tribo_trajopt *t, const double *gap, double share, double *x, double *left) {
    for (int i = 0; i < t->z.ndx; i++) {
        t->dx[i] = -(1 - share) * gap[i];
        *left = ti_max(*left, fabs(t->dx[i]));
    }
    if (share < 1) tribo_state_add(t->m, x, t->dx, x);
}

/* Controls of a knot of the trial. eq. (407) */
static void steer(tribo_trajopt *t, int knot, const ti_roll *how) {
    int from = knot + how->shift < t->knots ? knot + how->shift : t->knots - 1;
    const ti_knot *k = &t->knot[from];
    const double *was = how->U ? how->U + (size_t)knot * (size_t)t->nc : ti_controls_at(t, &t->best, from);
    double *u = ti_controls_at(t, &t->trial, knot);
    memcpy(u, was, sizeof *u * (size_t)t->nc);
    if (!how->U) {
        tribo_state_difference(t->m, ti_state_at(t, &t->best, from), ti_state_at(t, &t->trial, knot), t->dx);
        for (int i = 0; i < t->nc; i++) u[i] += how->share * k->feed[i];
        ti_add_feedback(t->nc, t->z.ndx, k->gain, t->dx, u);
    }
    for (int i = 0; i < t->nc; i++) u[i] = ti_within(u[i], t->lower[i], t->upper[i]);
}

static void finish(ti_path *path, const ti_cost *cost, double gap, int unconverged) {
    path->cost = cost->all, path->plain = cost->plain, path->size = cost->size;
    path->violation = cost->violation, path->gap = gap, path->unconverged = unconverged;
}

/* += what a path costs at a knot whose steps were made. */
static tribo_status cost_at(const tribo_trajopt *t, const ti_path *path, int knot, ti_cost *cost, double *each) {
    ti_planner *w = &t->planner[0];
    w->force = ti_forces_at(t, path, knot);
    return ti_knot_cost(t, w, knot, ti_state_at(t, path, knot), ti_controls_at(t, path, knot), cost, each);
}

tribo_status ti_path_roll(tribo_trajopt *t, ti_roll how) {
    ti_planner *w = &t->planner[0];
    ti_cost cost = {0};
    double gap = 0;
    int unconverged = 0;
    t->progress.rollouts++;
    tribo_tape_rewind(t->trial.tape);
    memcpy(t->trial.X, how.x0 ? how.x0 : t->best.X, sizeof(double) * (size_t)t->z.nx);
    for (int k = 0; k < t->knots; k++) {
        double *x = ti_state_at(t, &t->trial, k);
        steer(t, k, &how);
        memcpy(x + t->z.nx, x, sizeof *x * (size_t)t->z.nx);
        const double *u = ti_controls_at(t, &t->trial, k);
        double *force = ti_forces_at(t, &t->trial, k);
        tribo_status s = advance(t, w->ws, u, x + t->z.nx, t->trial.tape, force, &unconverged);
        if (s < 0 || s == TRIBO_INTERRUPTED) return s;
        s = cost_at(t, &t->trial, k, &cost, NULL);
        if (s < 0) return s;
        if (how.limit && t->counts_up && cost.all > *how.limit) return TRIBO_NOT_CONVERGED;
        if (!how.U) close_gap(t, t->knot[k].gap, how.share, x + t->z.nx, &gap);
    }
    tribo_status s = cost_at(t, &t->trial, t->knots, &cost, NULL);
    finish(&t->trial, &cost, gap, unconverged);
    return s < 0 ? s : isfinite(cost.all) ? TRIBO_OK : TRIBO_E_NONFINITE;
}

tribo_status ti_path_price(tribo_trajopt *t, ti_path *path, double *each) {
    ti_cost cost = {0};
    for (int k = 0; k <= t->knots; k++) {
        tribo_status s = cost_at(t, path, k, &cost, each);
        if (s < 0) return s;
    }
    finish(path, &cost, path->gap, path->unconverged);
    return TRIBO_OK;
}

tribo_status ti_path_take(tribo_trajopt *t) {
    ti_planner *w = &t->planner[0];
    double *f = t->x_was, gap = 0;
    ti_cost cost = {0};
    int unconverged = 0;
    tribo_tape_rewind(t->best.tape);
    for (int k = 0; k <= t->knots; k++) {
        const double *x = ti_state_at(t, &t->best, k), *u = ti_controls_at(t, &t->best, k);
        tribo_status s = TRIBO_OK;
        memcpy(f, x, sizeof *f * (size_t)t->z.nx);
        if (u) s = advance(t, w->ws, u, f, t->best.tape, ti_forces_at(t, &t->best, k), &unconverged);
        if (s < 0 || s == TRIBO_INTERRUPTED) return s;
        s = cost_at(t, &t->best, k, &cost, NULL);
        if (s < 0) return s;
        if (!u) break;
        tribo_state_difference(t->m, x + t->z.nx, f, t->knot[k].gap);
        for (int i = 0; i < t->z.ndx; i++) gap = ti_max(gap, fabs(t->knot[k].gap[i]));
    }
    finish(&t->best, &cost, gap, unconverged);
    return isfinite(cost.all) ? TRIBO_OK : TRIBO_E_NONFINITE;
}

double ti_path_hard(tribo_trajopt *t) {
    ti_planner *w = &t->planner[0];
    double *x = t->x_was, *next = t->x_next, *force = t->force_bar;
    ti_cost cost = {0};
    int unconverged = 0;
    if (!t->hard) return t->best.gap > 0 ? HUGE_VAL : t->best.plain;
    memcpy(x, t->best.X, sizeof *x * (size_t)t->z.nx);
    for (int k = 0; k <= t->knots; k++) {
        const double *u = ti_controls_at(t, &t->best, k);
        tribo_status s = TRIBO_OK;
        memcpy(next, x, sizeof *x * (size_t)t->z.nx);
        if (u) s = advance(t, t->hard, u, next, NULL, force, &unconverged);
        w->force = u ? force : NULL;
        if (s >= 0) s = ti_knot_cost(t, w, k, x, u, &cost, NULL);
        if (s < 0) return HUGE_VAL;
        memcpy(x, next, sizeof *x * (size_t)t->z.nx);
    }
    return isfinite(cost.plain) ? cost.plain : HUGE_VAL;
}

void ti_path_swap(tribo_trajopt *t) {
    ti_path was = t->best;
    t->best = t->trial, t->trial = was;
}

/* ---- models ---- */

/* C (n,c) := A (n,n) C (n,c), through `product`. */
static void push_forward(int n, int c, const double *A, double *C, double *product) {
    ti_times(n, c, n, A, C, false, product);
    memcpy(C, product, sizeof(double) * (size_t)(n * c));
}

/* Chain one step's Jacobians in w->A, w->B to those of the knot. */
static void chain(const tribo_trajopt *t, ti_planner *w, bool first, ti_knot *k) {
    int n = t->z.ndx, nc = t->nc;
    if (first) {
        memcpy(k->A, w->A, sizeof(double) * (size_t)(n * n));
        memset(k->B, 0, sizeof(double) * (size_t)(n * nc));
    } else {
        push_forward(n, n, w->A, k->A, w->product);
        push_forward(n, nc, w->A, k->B, w->product);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < nc; j++) k->B[i * nc + j] += w->B[i * t->z.nu + t->control[j]];
}

/* The Jacobians of somebody else's steps, from the knot's state on. */
static tribo_status linearise_plant(tribo_trajopt *t, ti_planner *w, int knot, const double *controls) {
    double *x = w->x;
    tribo_status s = TRIBO_OK;
    memcpy(x, ti_state_at(t, &t->best, knot), sizeof *x * (size_t)t->z.nx);
    ti_control_spread(t, controls, w->u);
    for (int i = 0; s >= 0 && i < t->substeps; i++) {
        s = t->plant->jac(t->plant->context, x, w->u, w->A, w->B);
        if (s >= 0) chain(t, w, i == 0, &t->knot[knot]);
        if (s >= 0 && i + 1 < t->substeps) s = t->plant->step(t->plant->context, w->u, x);
    }
    return s;
}

static tribo_status linearise_knot(int worker, int knot, void *context) {
    tribo_trajopt *t = context;
    ti_planner *w = &t->planner[worker];
    const double *u = ti_controls_at(t, &t->best, knot);
    if (t->stop && *t->stop) return TRIBO_OK;
    tribo_status s = TRIBO_OK;
    ti_forces_clear(t, w);
    if (u && t->plant) s = linearise_plant(t, w, knot, u);
    for (int i = 0; u && !t->plant && s >= 0 && i < t->substeps; i++) {
        int record = knot * t->substeps + i;
        s = ti_forces_linearise(t, w, &t->knot[knot], record, i == 0);
        if (s >= 0) s = ti_lens_step(t, w, record);
        if (s >= 0) chain(t, w, i == 0, &t->knot[knot]);
    }
    w->force = ti_forces_at(t, &t->best, knot);
    return s < 0 ? s : ti_knot_model(t, w, knot, ti_state_at(t, &t->best, knot), u);
}

tribo_status ti_knots_linearise(tribo_trajopt *t) {
    tribo_status s = ti_crew(t->nworker, t->knots + 1, linearise_knot, t);
    for (int k = 0; k < t->knots && t->best.gap == 0; k++) memset(t->knot[k].gap, 0, sizeof(double) * (size_t)t->z.ndx);
    return s >= 0 && t->stop && *t->stop ? TRIBO_INTERRUPTED : s;
}
