/* trajopt.c -- a task from its definition to its end, and what is asked of it and of its feedback. */
#include "trajopt/task.h"

tribo_term_def tribo_default_term(void) {
    return (tribo_term_def){.struct_size = sizeof(tribo_term_def),
                            .joint = -1,
                            .body = -1,
                            .site = -1,
                            .body2 = -1,
                            .site2 = -1,
                            .weight = 1,
                            .scale = 1,
                            .last = -2,
                            .ntarget = 1};
}

tribo_trajopt_def tribo_default_trajopt(void) {
    return (tribo_trajopt_def){.struct_size = sizeof(tribo_trajopt_def), .substeps = 1, .workers = 1};
}

/* Whether a stage's law is one. */
static tribo_status check_stage(const tribo_trajopt *t, int stage, tribo_diag *diag) {
    tribo_options o = t->options;
    tribo_ws *ws = NULL;
    tribo_diag why = {0};
    o.law = t->stage[stage];
    tribo_status s = tribo_ws_new(t->m, &o, &t->allocator, &ws, &why);
    tribo_ws_free(ws);
    return s < 0 ? ti_fail(diag, s, 0, "stage %d: %s", stage, why.text) : TRIBO_OK;
}

/* Which step stopped the first rollout, and why. */
static tribo_status no_guess(const tribo_trajopt *t, const tribo_tape *tape, tribo_status s, tribo_diag *diag) {
    int made = tribo_tape_steps(tape), all = t->knots * t->substeps;
    if (made >= all) return ti_fail(diag, s, 0, "the first guess: %s", tribo_status_text(s)); /* its costs */
    if (s == TRIBO_E_FAST)
        return ti_fail(diag, s, 0, "the first guess: step %d of %d: something moves too fast for steps of %g s",
                       made + 1, all, tribo_ws_options(t->planner[0].ws).dt);
    return ti_fail(diag, s, 0, "the first guess: step %d of %d: %s", made + 1, all, tribo_status_text(s));
}

/* Dynamics for terms, workspaces, the first rollout. */
static tribo_status begin(tribo_trajopt *t, const tribo_trajopt_def *def, tribo_diag *diag) {
    tribo_status s = ti_task_check_targets(t, diag);
    for (int i = 0; i < t->nworker && !s; i++) {
        s = tribo_dynamics_new(t->m, &t->allocator, &t->planner[i].dynamics);
        if (!s) s = tribo_dynamics_set_params(t->planner[i].dynamics, t->p, diag);
    }
    for (int i = 0; i < t->nstage && !s; i++) s = check_stage(t, i, diag);
    if (!s) s = ti_stage_open(t, 0, diag);
    if (s < 0) return s;
    if (def->X) {
        s = ti_path_take(t);
    } else {
        s = ti_path_roll(t, (ti_roll){.U = t->best.U});
        if (s == TRIBO_OK) ti_path_swap(t);
    }
    if (s < 0) return no_guess(t, def->X ? t->best.tape : t->trial.tape, s, diag);
    t->carried = s == TRIBO_OK;
    ti_progress_note(t);
    return TRIBO_OK;
}

tribo_status tribo_trajopt_new(const tribo_model *m, const tribo_trajopt_def *def, tribo_trajopt **out,
                               tribo_diag *diag) {
    if (!m || !def || !out) return ti_fail(diag, TRIBO_E_ARG, 0, "an argument is NULL");
    tribo_sizes z = tribo_model_sizes(m);
    tribo_status s = ti_task_check(m, &z, def, diag);
    if (s) return s;
    tribo_trajopt measure = {.m = m,
                             .z = z,
                             .knots = def->knots,
                             .substeps = def->substeps,
                             .nc = ti_controls_of(&z, def),
                             .nterm = def->nterm,
                             .nworker = def->workers,
                             .nstage = def->nstage,
                             .nlens = def->nstage ? def->nstage : ti_lens_softens(def->options),
                             .method = def->method,
                             .options = def->options ? *def->options : tribo_default_options(),
                             .tol = def->tol > 0 ? def->tol : 1e-9,
                             .tol_constraint = def->tol_constraint > 0 ? def->tol_constraint : 1e-6,
                             .stop = def->stop};
    if (def->allocator) measure.allocator = *def->allocator;
    tribo_trajopt *t;
    ti_arena arena = {0};
    TI_CARVE(&arena, t, 1);
    ti_task_lay_out(&measure, def, &arena);
    measure.bytes = arena.used;
    if (!ti_arena_take(&arena, def->allocator)) return ti_fail(diag, TRIBO_E_NOMEM, 0, "no memory for the task");
    TI_CARVE(&arena, t, 1);
    *t = measure;
    ti_task_lay_out(t, def, &arena);
    ti_task_fill(t, def);
    for (int i = 0; i < t->nc && s >= 0; i++) /* of one bound and the range of an actuator */
        if (!(t->lower[i] <= t->upper[i]))
            s = ti_fail(diag, TRIBO_E_ARG, 0, "control %d: bounds %g to %g hold nothing", i, t->lower[i], t->upper[i]);
    if (s >= 0) s = begin(t, def, diag);
    if (s < 0)
        tribo_trajopt_free(t);
    else
        *out = t;
    return s;
}

void tribo_trajopt_free(tribo_trajopt *t) {
    if (!t) return;
    tribo_allocator a = t->allocator;
    ti_stage_free(t);
    for (int i = 0; i < t->nworker; i++) tribo_dynamics_free(t->planner[i].dynamics);
    ti_free(&a, t, t->bytes);
}

/* ---- what is asked of it ---- */

int tribo_trajopt_ncontrol(const tribo_trajopt *t) {
    return t ? t->nc : 0;
}
int tribo_trajopt_control(const tribo_trajopt *t, int i) {
    return t && i >= 0 && i < t->nc ? t->control[i] : -1;
}

void tribo_trajopt_trajectory(const tribo_trajopt *t, double *X, double *U) {
    if (!t) return;
    if (X) memcpy(X, t->best.X, sizeof *X * (size_t)(t->knots + 1) * (size_t)t->z.nx);
    if (U) memcpy(U, t->best.U, sizeof *U * (size_t)t->knots * (size_t)t->nc);
}

tribo_status tribo_trajopt_costs(tribo_trajopt *t, double *cost) {
    if (!t || !cost) return TRIBO_E_ARG;
    memset(cost, 0, sizeof *cost * (size_t)t->nterm);
    return ti_path_price(t, &t->best, cost);
}

tribo_status tribo_trajopt_gradient(tribo_trajopt *t, double *x0_bar, double *p_bar) {
    if (!t || t->best.gap > 0 || !t->carried) return TRIBO_E_ARG;
    return ti_path_reverse(t, &t->best, NULL, x0_bar, p_bar);
}

tribo_status tribo_trajopt_gain(const tribo_trajopt *t, int knot, double *K) {
    if (!t || !K || knot < 0 || knot >= t->knots) return TRIBO_E_ARG;
    memcpy(K, t->knot[knot].gain, sizeof *K * (size_t)t->nc * (size_t)t->z.ndx);
    return TRIBO_OK;
}

tribo_status tribo_trajopt_feedback(const tribo_trajopt *t, int knot, const double *x, double *u) {
    if (!t || !x || !u || knot < 0 || knot >= t->knots) return TRIBO_E_ARG;
    if (!ti_finite(x, (size_t)t->z.nx)) return TRIBO_E_NONFINITE;
    double c[TI_CONTROLS_MAX];
    memcpy(c, ti_controls_at(t, &t->best, knot), sizeof *c * (size_t)t->nc);
    tribo_state_difference(t->m, ti_state_at(t, &t->best, knot), x, t->dx);
    ti_add_feedback(t->nc, t->z.ndx, t->knot[knot].gain, t->dx, c);
    for (int i = 0; i < t->nc; i++) c[i] = ti_within(c[i], t->lower[i], t->upper[i]);
    ti_control_spread(t, c, u);
    return TRIBO_OK;
}

/* ---- begun again ---- */

/* Targets and those that were asked for change places. */
static void swap_targets(tribo_trajopt *t) {
    for (int i = 0; i < t->nterm; i++) {
        double *target = t->term[i].target;
        t->term[i].target = t->term[i].coming, t->term[i].coming = target;
    }
}

static void keep_targets(tribo_trajopt *t) {
    for (int i = 0; i < t->nterm; i++) {
        ti_term *term = &t->term[i];
        size_t n = (size_t)term->width * (size_t)term->def.ntarget;
        if (term->target) memcpy(term->coming, term->target, n * sizeof *term->target);
    }
}

/* Rows [shift, n) of `row` doubles come first; those behind them stay as they are, or become 0. */
static void shift_rows(double *a, size_t n, size_t row, size_t shift, bool clear) {
    if (shift > n) shift = n;
    memmove(a, a + shift * row, (n - shift) * row * sizeof *a);
    if (clear) memset(a + (n - shift) * row, 0, shift * row * sizeof *a);
}

/* Feedback, second derivatives and multipliers of `shift` knots later. */
static void shift_knowledge(tribo_trajopt *t, int shift) {
    ti_knots_shift_bent(t, shift);
    for (int k = 0; k + shift < t->knots; k++)
        memcpy(t->knot[k].gain, t->knot[k + shift].gain, sizeof(double) * (size_t)(t->nc * t->z.ndx));
    for (int i = 0; i < t->nterm; i++) {
        ti_term *term = &t->term[i];
        if (term->last >= term->first)
            shift_rows(term->multiplier, (size_t)(term->last - term->first + 1), (size_t)term->n, (size_t)shift,
                       term->last > term->first);
        term->worst = HUGE_VAL;
    }
}

static void forget_knowledge(tribo_trajopt *t) {
    ti_gains_forget(t), ti_knots_unbend(t);
    for (int i = 0; i < t->nterm; i++) ti_term_release(&t->term[i]);
}

/* Into trial from x0, under the last stage's law and the targets that were asked for; if it fails, as it was. */
static tribo_status try_again(tribo_trajopt *t, const double *x0, const double *U, int shift) {
    int stage = t->progress.stage;
    tribo_status s = ti_stage_ready(t, t->nstage);
    if (s >= 0) {
        swap_targets(t);
        s = U ? ti_path_roll(t, (ti_roll){.U = U, .x0 = x0}) : ti_path_carry(t, x0, shift);
        if (s == TRIBO_OK) return s;
        swap_targets(t);
        t->followed = false;                     /* the trial is not the path before the best any more */
        if (t->best.gap > 0) t->carried = false; /* nor are gaps what they were */
    }
    if (t->progress.stage != stage) ti_stage_free(t), t->carried = false, t->progress.stage = stage;
    return s;
}

/* Under the options' law. @param U NULL = the best's, shifted, with feedback */
static tribo_status restart(tribo_trajopt *t, const double *x0, const double *U, int shift) {
    if (!ti_finite(x0, (size_t)t->z.nx)) return TRIBO_E_NONFINITE;
    tribo_status s = try_again(t, x0, U, shift);
    if (s != TRIBO_OK) return s;
    ti_path_swap(t);
    keep_targets(t);
    if (U)
        forget_knowledge(t);
    else
        shift_knowledge(t, shift);
    ti_models_forget(t);
    t->carried = true;
    t->rounds = 0;
    t->progress = (tribo_trajopt_progress){.stage = t->nstage};
    s = ti_path_price(t, &t->best, NULL); /* by the multipliers as they are now */
    ti_progress_note(t);
    return s;
}

tribo_status tribo_trajopt_restart(tribo_trajopt *t, const double *x0, const double *U) {
    if (!t || !x0 || !U) return TRIBO_E_ARG;
    return ti_finite(U, (size_t)t->knots * (size_t)t->nc) ? restart(t, x0, U, 0) : TRIBO_E_NONFINITE;
}

tribo_status tribo_trajopt_shift(tribo_trajopt *t, int knots, const double *x0) {
    if (!t || !x0 || knots < 0 || knots > t->knots) return TRIBO_E_ARG;
    return restart(t, x0, NULL, knots);
}

tribo_status tribo_trajopt_set_target(tribo_trajopt *t, int term, const double *target) {
    if (!t || !target || term < 0 || term >= t->nterm || !t->term[term].target) return TRIBO_E_ARG;
    ti_term *at = &t->term[term];
    size_t n = (size_t)at->width * (size_t)at->def.ntarget;
    if (!ti_finite(target, n)) return TRIBO_E_NONFINITE;
    if (ti_target_turns(t, at, target) < at->def.ntarget) return TRIBO_E_ARG;
    memcpy(at->coming, target, n * sizeof *target);
    return TRIBO_OK;
}
