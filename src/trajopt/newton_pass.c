/* newton_pass.c -- a pass of differential dynamic programming: models, backward, a step along what was found.
 * docs/math.md eq. (403)-(407). */
#include "trajopt/task.h"

static const double LEAST = 1e-2, MOST = 1e10, GROWTH_MOST = 10, GAP_LEAST = 1e-13, SHARE_LEAST = 1e-3, ARMIJO = 1e-4,
                    LONGER = 1.25, FAR = 0.1;

enum { STALL = 20 }; /* steps, of which that many must gain more than the tolerance a step */

/* The schedule of [Tassa12]: quadratic in both directions, but that at a kink it does not run away. */
static void more_regularisation(tribo_trajopt *t) {
    t->growth = ti_min(GROWTH_MOST, ti_max(2, t->growth * 2));
    t->regularisation = ti_max(LEAST, t->regularisation * t->growth);
}
static void less_regularisation(tribo_trajopt *t) {
    t->growth = ti_min(0.5, t->growth / 2);
    t->regularisation *= t->growth;
    if (t->regularisation < LEAST) t->regularisation = 0;
}

static double total_gap(const tribo_trajopt *t) {
    double sum = 0;
    for (int k = 0; k < t->knots && t->best.gap > 0; k++)
        for (int i = 0; i < t->z.ndx; i++) sum += fabs(t->knot[k].gap[i]);
    return sum;
}

/* The trial becomes the best, with what it left of the gaps; the models are trusted as far as they foretold it: what
 * they leave out is how the dynamics bend. */
static void accept(tribo_trajopt *t, double share, double foretold) {
    for (int k = 0; k < t->knots; k++)
        for (int i = 0; i < t->z.ndx; i++) t->knot[k].gap[i] *= t->trial.gap > GAP_LEAST ? 1 - share : 0;
    if (t->trial.gap <= GAP_LEAST) t->trial.gap = 0;
    ti_path_swap(t);
    if (t->best.gap == 0 && ++t->steps % STALL == 0) {
        t->settled = t->milestone - t->best.cost <= STALL * t->tol * t->best.size;
        t->milestone = t->best.cost;
    }
    t->linear = t->failed = false;
    t->progress.step = share;
    if (foretold < 0.3 || share < 0.3) more_regularisation(t);
    if (foretold > 0.6 && share >= 1) less_regularisation(t);
}

/* Backward until the matrices are definite; what second derivatives say beyond their convex part, and what secants say,
 * is dropped before it costs long steps. @return whether they came to be. */
static bool backward(tribo_trajopt *t, bool wholes) {
    t->wholes = wholes && t->method == TRIBO_METHOD_NEWTON;
    while (!ti_riccati(t)) {
        if (t->wholes) {
            t->wholes = false;
            continue;
        }
        if (!t->bends) more_regularisation(t);
        t->bends = false;
        if (t->regularisation > MOST) return false;
    }
    return true;
}

/* Backward, and what that is expected to gain. What bends the wrong way far from a minimum leads to another one: where
 * more than a share of the cost is to be gained the convex part counts alone. eq. (512) */
static bool foretell(tribo_trajopt *t, double *slope, double *bend, double *more) {
    for (bool wholes = true;; wholes = false) {
        if (!backward(t, wholes)) return false;
        ti_expectation(t, slope, bend, more);
        t->progress.expected = -(*slope + (t->bends ? *bend + *more : *bend));
        if (!t->wholes || t->progress.expected <= FAR * t->best.size) return true;
    }
}

/* Where the trial, of the whole step, gained more than was foretold the models bend too much: longer steps as long as
 * they are better, to the bottom of the parabola through what is known or twice as far. eq. (506)
 * @return TRIBO_INTERRUPTED, or what the step at the end says. *share: its length */
static tribo_status lengthen(tribo_trajopt *t, double slope, double *share) {
    size_t bytes = sizeof(double) * (size_t)(t->knots * t->nc);
    for (;;) {
        double change = t->trial.cost - t->best.cost, curve = change / *share - slope, limit = t->trial.cost;
        double next = *share * (curve > -slope / 4 ? -slope / curve / 2 : 2);
        if (next < LONGER * *share) return TRIBO_OK;
        memcpy(t->flat, t->trial.U, bytes);
        tribo_status s = ti_path_roll(t, (ti_roll){.share = next, .limit = &limit});
        if (s == TRIBO_INTERRUPTED || s == TRIBO_E_NOMEM) return s;
        if (s != TRIBO_OK || !(t->trial.cost < limit)) return ti_path_roll(t, (ti_roll){.U = t->flat});
        *share = next;
    }
}

/* Halves the step until cost and gaps fall by a share of what the models say. @return TRIBO_NOT_CONVERGED: none did. */
static tribo_status search(tribo_trajopt *t, double slope, double bend, double more) {
    double gap = total_gap(t), price = gap > 0 ? 2 * ti_max(0, slope + fabs(bend)) / gap : 0;
    for (double share = 1; share > SHARE_LEAST; share /= 2) {
        double straight = share * (slope - price * gap),
               model = straight + share * share * (t->bends ? bend + more : bend);
        if (!(model < 0)) continue;
        double limit = t->best.cost + price * share * gap; /* nothing above it is a step down */
        tribo_status s = ti_path_roll(t, (ti_roll){.share = share, .limit = &limit});
        if (s == TRIBO_INTERRUPTED || s == TRIBO_E_NOMEM) return s;
        if (s != TRIBO_OK) continue;
        double change = t->trial.cost - t->best.cost - price * share * gap;
        if (!(change <= ARMIJO * model)) continue;
        double off = change - straight - share * share * bend;
        if (t->method == TRIBO_METHOD_DDP) t->bends = fabs(off - share * share * more) < fabs(off);
        bool longer = t->method == TRIBO_METHOD_NEWTON && share == 1 && gap == 0 && change < LONGER * model;
        if (longer) s = lengthen(t, slope, &share);
        if (s != TRIBO_OK) return s;
        accept(t, share, change / model);
        return TRIBO_OK;
    }
    return TRIBO_NOT_CONVERGED;
}

/* Models of the best, where they are not there yet. */
static tribo_status refresh(tribo_trajopt *t) {
    if (t->linear) return TRIBO_OK;
    tribo_status s = ti_knots_linearise(t);
    if (s < 0 || s == TRIBO_INTERRUPTED) return s;
    ti_models_gradient(t, t->gradient);
    if (t->method == TRIBO_METHOD_NEWTON) s = ti_knots_bend(t);
    if (s < 0 || s == TRIBO_INTERRUPTED) return s;
    t->linear = true, t->bends = t->bends || t->method == TRIBO_METHOD_NEWTON;
    t->followed = true;
    t->progress.gradient = ti_steepest(t, t->gradient);
    return TRIBO_OK;
}

tribo_status ti_newton_pass(tribo_trajopt *t) {
    double slope, bend, more, before = t->regularisation;
    t->progress.step = 0;
    tribo_status s = refresh(t);
    if (s < 0 || s == TRIBO_INTERRUPTED) return s;
    if (!foretell(t, &slope, &bend, &more)) {
        ti_gains_forget(t);
        t->settled = true;
        return TRIBO_OK;
    }
    if (t->best.gap == 0 && t->progress.expected <= t->tol * t->best.size) {
        bool needed = t->regularisation > before && t->regularisation < 1; /* where nothing depends on some control */
        bool still = t->progress.gradient == 0; /* as where a cost has come to 0: nothing bends, however regularised */
        t->met = t->regularisation == 0 || needed || still;
        t->settled = t->failed; /* neither longer steps nor shorter ones */
        less_regularisation(t);
        return TRIBO_OK;
    }
    s = search(t, slope, bend, more);
    if (s != TRIBO_NOT_CONVERGED) return s;
    more_regularisation(t);
    t->failed = true;
    t->settled = t->regularisation > MOST;
    return TRIBO_OK;
}

tribo_status tribo_trajopt_settle(tribo_trajopt *t) {
    if (!t) return TRIBO_E_ARG;
    if (!ti_has_models(t)) return TRIBO_OK;
    if (!t->carried) return TRIBO_OK; /* a stage that begins: its law has led nowhere yet */
    tribo_status s = t->progress.done ? ti_lens_finest(t) : TRIBO_OK;
    if (s >= 0) s = refresh(t);
    if (s < 0 || s == TRIBO_INTERRUPTED) return s;
    double regularisation = t->regularisation, growth = t->growth;
    bool bends = t->bends;
    t->regularisation = t->growth = 0;
    if (!backward(t, true)) ti_gains_forget(t);
    t->regularisation = regularisation, t->growth = growth, t->bends = bends; /* the search goes on as it was */
    return TRIBO_OK;
}
