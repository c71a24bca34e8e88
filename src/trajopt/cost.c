/* cost.c -- what a knot costs, its gradient and Gauss-Newton matrices; multipliers of constraints.
 * docs/math.md eq. (400)-(402). */
#include "trajopt/norms.h"
#include "trajopt/task.h"

static const double PENALTY_MOST = 1e8;

static bool is_at(const ti_term *term, int knot) {
    return knot >= term->first && knot <= term->last;
}

static double *multipliers_at(const ti_term *term, int knot) {
    return term->multiplier + (size_t)(knot - term->first) * (size_t)term->n;
}

/* What component i counts, in units of the cost. */
static ti_counted count(const ti_term *term, int knot, int i, double r) {
    const tribo_term_def *def = &term->def;
    double w = def->weight * term->weights[i];
    if (ti_is_constraint(def->norm))
        return ti_count_constraint(def->norm, multipliers_at(term, knot)[i], term->penalty * w, r);
    ti_counted c = ti_count(def->norm, def->scale, r);
    return (ti_counted){w * c.value, w * c.slope, w * c.curvature};
}

static bool counts(const ti_term *term, int i) {
    return term->def.weight * term->weights[i] != 0;
}

/* The state that terms of bodies are at. */
static tribo_status place(const tribo_trajopt *t, ti_planner *w, int knot, const double *x) {
    for (int i = 0; i < t->nterm; i++)
        if (is_at(&t->term[i], knot) && ti_term_is_placed(t->term[i].def.kind))
            return tribo_dynamics_set_state(w->dynamics, x);
    return TRIBO_OK;
}

static double violation_of(const ti_term *term, double r) {
    if (term->def.norm == TRIBO_NORM_EQUAL) return fabs(r);
    return ti_max(term->def.norm == TRIBO_NORM_LEAST ? -r : r, 0);
}

tribo_status ti_knot_cost(const tribo_trajopt *t, ti_planner *w, int knot, const double *x, const double *u,
                          ti_cost *cost, double *each) {
    tribo_status s = place(t, w, knot, x);
    for (int k = 0; k < t->nterm && s >= 0; k++) {
        const ti_term *term = &t->term[k];
        if (!is_at(term, knot)) continue;
        s = ti_term_residual(t, w, term, knot, x, u, w->r, NULL, NULL);
        bool held = ti_is_constraint(term->def.norm);
        for (int i = 0; i < term->n && s >= 0; i++) {
            if (!counts(term, i)) continue;
            double value = count(term, knot, i, w->r[i]).value;
            cost->all += value;
            cost->size += fabs(value);
            if (held) cost->violation = ti_max(cost->violation, violation_of(term, w->r[i]));
            if (!held) cost->plain += value;
            if (!held && each) each[k] += value;
        }
    }
    return s;
}

/* H (rows,cols) += c a b' */
static void add_outer(double *H, int rows, int cols, double c, const double *a, const double *b) {
    for (int i = 0; i < rows; i++) {
        double f = c * a[i];
        for (int j = 0; f != 0 && j < cols; j++) H[i * cols + j] += f * b[j];
    }
}

static void add_component(const tribo_trajopt *t, ti_knot *k, ti_counted c, const double *rx, const double *ru) {
    int n = t->z.ndx, nc = t->nc;
    for (int i = 0; i < n; i++) k->lx[i] += c.slope * rx[i];
    if (c.curvature > 0) add_outer(k->lxx, n, n, c.curvature, rx, rx);
    if (!k->lu) return;
    for (int i = 0; i < nc; i++) k->lu[i] += c.slope * ru[i];
    if (!(c.curvature > 0)) return;
    add_outer(k->luu, nc, nc, c.curvature, ru, ru);
    add_outer(k->lux, nc, n, c.curvature, ru, rx);
}

static void clear(const tribo_trajopt *t, ti_knot *k) {
    size_t n = (size_t)t->z.ndx, nc = (size_t)t->nc, d = sizeof(double);
    memset(k->lx, 0, n * d), memset(k->lxx, 0, n * n * d);
    if (k->lu) memset(k->lu, 0, nc * d), memset(k->lux, 0, nc * n * d), memset(k->luu, 0, nc * nc * d);
}

static bool model_is_finite(const tribo_trajopt *t, const ti_knot *k) {
    size_t n = (size_t)t->z.ndx, nc = (size_t)t->nc;
    if (!ti_finite(k->lx, n) || !ti_finite(k->lxx, n * n)) return false;
    return !k->lu || (ti_finite(k->lu, nc) && ti_finite(k->luu, nc * nc) && ti_finite(k->lux, nc * n));
}

tribo_status ti_knot_model(const tribo_trajopt *t, ti_planner *w, int knot, const double *x, const double *u) {
    ti_knot *k = &t->knot[knot];
    tribo_status s = place(t, w, knot, x);
    clear(t, k);
    for (int j = 0; j < t->nterm && s >= 0; j++) {
        const ti_term *term = &t->term[j];
        if (!is_at(term, knot)) continue;
        s = ti_term_residual(t, w, term, knot, x, u, w->r, w->rx, w->ru);
        for (int i = 0; i < term->n && s >= 0; i++)
            if (counts(term, i))
                add_component(t, k, count(term, knot, i, w->r[i]), w->rx + i * t->z.ndx, w->ru + i * t->nc);
    }
    return s < 0 || model_is_finite(t, k) ? s : TRIBO_E_NONFINITE;
}

tribo_status ti_knot_params_vjp(const tribo_trajopt *t, ti_planner *w, int knot, const double *x, const double *u,
                                double *p_bar) {
    tribo_status s = place(t, w, knot, x);
    for (int k = 0; k < t->nterm && s >= 0; k++) {
        const ti_term *term = &t->term[k];
        if (!is_at(term, knot) || !ti_term_is_placed(term->def.kind)) continue;
        s = ti_term_residual(t, w, term, knot, x, u, w->r, NULL, NULL);
        for (int i = 0; i < term->n; i++) w->rx[i] = counts(term, i) ? count(term, knot, i, w->r[i]).slope : 0;
        if (s >= 0) s = ti_term_params_vjp(t, w, term, w->r, w->rx, x + t->z.nq, p_bar);
    }
    return s;
}

void ti_knot_force_bars(const tribo_trajopt *t, ti_planner *w, int knot, double *force_bar) {
    memset(force_bar, 0, 3 * sizeof *force_bar * (size_t)t->nforce);
    for (int k = 0; k < t->nterm; k++) {
        const ti_term *term = &t->term[k];
        if (term->force < 0 || !is_at(term, knot)) continue;
        (void)ti_term_residual(t, w, term, knot, NULL, NULL, w->r, NULL, NULL); /* numbers that are there */
        for (int i = 0; i < 3; i++)
            if (counts(term, i)) force_bar[3 * term->force + i] = count(term, knot, i, w->r[i]).slope;
    }
}

/* ---- constraints ---- */

void ti_term_release(ti_term *term) {
    size_t n = (size_t)term->n * (size_t)(term->last - term->first + 1);
    memset(term->multiplier, 0, n * sizeof *term->multiplier);
    term->penalty = 1, term->worst = HUGE_VAL;
}

/* Multipliers of one term along the best; its penalty grows where that did not bring it nearer. */
static tribo_status update_term(tribo_trajopt *t, ti_term *term, double *worst) {
    ti_planner *w = &t->planner[0];
    *worst = 0;
    for (int knot = term->first; knot <= term->last; knot++) {
        const double *x = ti_state_at(t, &t->best, knot), *u = ti_controls_at(t, &t->best, knot);
        tribo_status s = place(t, w, knot, x);
        w->force = ti_forces_at(t, &t->best, knot);
        if (s >= 0) s = ti_term_residual(t, w, term, knot, x, u, w->r, NULL, NULL);
        if (s < 0) return s;
        for (int i = 0; i < term->n; i++) {
            if (!counts(term, i)) continue;
            /* a multiplier of what is not held has to go as well */
            double *y = &multipliers_at(term, knot)[i], to = count(term, knot, i, w->r[i]).slope;
            double rho = term->penalty * term->def.weight * term->weights[i];
            *worst = ti_max(*worst, ti_max(violation_of(term, w->r[i]), fabs(to - *y) / rho));
            *y = to;
        }
    }
    if (*worst > t->tol_constraint && *worst > term->worst / 4)
        term->penalty = ti_min(PENALTY_MOST, 10 * term->penalty);
    term->worst = *worst;
    return TRIBO_OK;
}

tribo_status ti_multipliers_update(tribo_trajopt *t, double *violation) {
    *violation = 0;
    for (int k = 0; k < t->nterm; k++) {
        double worst;
        if (!ti_is_constraint(t->term[k].def.norm)) continue;
        tribo_status s = update_term(t, &t->term[k], &worst);
        if (s < 0) return s;
        *violation = ti_max(*violation, worst);
    }
    return TRIBO_OK;
}
