/* stages.c -- a search from stage to stage: workspaces under each stage's law, multipliers, the end. */
#include "trajopt/task.h"

static size_t impulse_bytes(const tribo_ws *ws) {
    return 3 * sizeof(double) * (size_t)(tribo_ws_options(ws).ncon_max + 1);
}

/* A thread's workspace, and what contact forces need besides. */
static tribo_status planner_open(const tribo_trajopt *t, const tribo_options *o, ti_planner *w, tribo_diag *diag) {
    tribo_status s = tribo_ws_new(t->m, o, &t->allocator, &w->ws, diag);
    if (s >= 0 && t->method == TRIBO_METHOD_NEWTON) s = tribo_tape_new(w->ws, t->substeps, 0, &w->probe);
    if (s < 0 || t->nforce == 0) return s;
    w->impulse_bar = ti_alloc(&t->allocator, impulse_bytes(w->ws));
    return w->impulse_bar ? s : ti_fail(diag, TRIBO_E_NOMEM, 0, "out of memory");
}

void ti_stage_free(tribo_trajopt *t) {
    ti_lens_close(t);
    for (int i = 0; i < t->nworker; i++) {
        ti_planner *w = &t->planner[i];
        ti_free(&t->allocator, w->impulse_bar, impulse_bytes(w->ws));
        tribo_ws_free(w->ws), tribo_tape_free(w->probe);
        w->impulse_bar = NULL, w->ws = NULL, w->probe = NULL;
    }
    tribo_ws_free(t->hard);
    tribo_tape_free(t->best.tape);
    tribo_tape_free(t->trial.tape);
    t->hard = NULL, t->best.tape = t->trial.tape = NULL;
}

tribo_status ti_stage_open(tribo_trajopt *t, int stage, tribo_diag *diag) {
    tribo_options o = t->options;
    tribo_status s = TRIBO_OK;
    ti_stage_free(t);
    t->progress.stage = stage;
    if (stage < t->nstage) {
        s = tribo_ws_new(t->m, &t->options, &t->allocator, &t->hard, diag);
        o.law = t->stage[stage];
    }
    for (int i = 0; i < t->nworker && s >= 0; i++) s = planner_open(t, &o, &t->planner[i], diag);
    for (int i = 0; i < 2 && s >= 0; i++)
        s = tribo_tape_new(t->planner[0].ws, t->knots * t->substeps, 0, i ? &t->trial.tape : &t->best.tape);
    ti_models_forget(t), ti_knots_unbend(t);
    t->carried = false;
    if (s < 0) ti_stage_free(t);
    return s;
}

tribo_status ti_stage_ready(tribo_trajopt *t, int stage) {
    return t->progress.stage == stage && t->trial.tape ? TRIBO_OK : ti_stage_open(t, stage, NULL);
}

tribo_status ti_path_carry(tribo_trajopt *t, const double *x0, int shift) {
    double followed = HUGE_VAL, *held = t->u_bar;
    for (int k = 0; k < t->knots; k++) memset(t->knot[k].gap, 0, sizeof(double) * (size_t)t->z.ndx);
    tribo_status s = ti_path_roll(t, (ti_roll){.x0 = x0, .shift = shift});
    if (s == TRIBO_INTERRUPTED) return s;
    if (s >= 0) {
        followed = t->trial.cost;
        memcpy(held, t->trial.U, sizeof *held * (size_t)(t->knots * t->nc));
    }
    for (int k = 0; k < t->knots; k++)
        memcpy(t->flat + k * t->nc, t->best.U + (k + shift < t->knots ? k + shift : t->knots - 1) * t->nc,
               sizeof(double) * (size_t)t->nc);
    s = ti_path_roll(t, (ti_roll){.U = t->flat, .x0 = x0});
    if (s == TRIBO_INTERRUPTED) return s;
    if (followed < HUGE_VAL && !(s >= 0 && t->trial.cost <= followed))
        s = ti_path_roll(t, (ti_roll){.U = held, .x0 = x0});
    return s;
}

/* The best under the law of a new stage. */
static tribo_status carry_over(tribo_trajopt *t) {
    bool gaps = t->best.gap > 0;
    tribo_status s = gaps ? ti_path_take(t) : ti_path_carry(t, NULL, 0);
    if (s == TRIBO_OK && !gaps) ti_path_swap(t);
    t->carried = s == TRIBO_OK;
    return s;
}

/* A stage's minimum is there, or none can be found: multipliers, or the next stage, or the end. */
static tribo_status turn_over(tribo_trajopt *t) {
    double violation;
    bool met = t->met && t->lens == t->nlens, turned;
    tribo_status s = ti_lens_turn(t, &turned);
    if (s >= 0 && !turned) s = ti_multipliers_update(t, &violation);
    if (s < 0 || turned) return s;
    if (violation > t->tol_constraint && ++t->rounds < TI_ROUNDS_MAX) {
        ti_models_forget(t);
        return ti_path_price(t, &t->best, NULL);
    }
    t->rounds = 0;
    if (t->progress.stage < t->nstage) return ti_stage_open(t, t->progress.stage + 1, NULL);
    t->progress.done = true;
    t->progress.converged = met && violation <= t->tol_constraint;
    return tribo_trajopt_settle(t);
}

void ti_progress_note(tribo_trajopt *t) {
    tribo_trajopt_progress *p = &t->progress;
    p->cost = t->best.plain, p->gap = t->best.gap, p->violation = t->best.violation;
    p->unconverged = t->best.unconverged;
    p->regularisation = t->regularisation;
    p->cost_hard = ti_path_hard(t);
}

static tribo_status pass(tribo_trajopt *t) {
    tribo_status s = ti_stage_ready(t, t->progress.stage);
    if (s >= 0 && !t->carried) s = carry_over(t);
    if (s < 0 || s == TRIBO_INTERRUPTED) return s;
    switch (t->method) {
    case TRIBO_METHOD_FIRST:
        return ti_first_order_pass(t);
    case TRIBO_METHOD_LBFGS:
        return ti_quasi_newton_pass(t);
    default:
        return ti_newton_pass(t);
    }
}

tribo_status tribo_trajopt_iterate(tribo_trajopt *t, tribo_trajopt_progress *progress) {
    if (!t) return TRIBO_E_ARG;
    tribo_status s = TRIBO_OK;
    if (!t->progress.done) {
        s = t->stop && *t->stop ? TRIBO_INTERRUPTED : pass(t);
        t->progress.iteration++;
        if (s >= 0 && s != TRIBO_INTERRUPTED) {
            ti_progress_note(t);
            if (t->met || t->settled) s = turn_over(t);
        }
    }
    if (progress) *progress = t->progress;
    return s < 0 || s == TRIBO_INTERRUPTED ? s : TRIBO_OK;
}

tribo_status tribo_trajopt_solve(tribo_trajopt *t, int max_iterations, tribo_trajopt_progress *progress) {
    if (!t) return TRIBO_E_ARG;
    tribo_status s = TRIBO_OK;
    for (int i = 0; i < max_iterations && !t->progress.done && s == TRIBO_OK; i++) s = tribo_trajopt_iterate(t, NULL);
    if (progress) *progress = t->progress;
    return s != TRIBO_OK ? s : t->progress.converged ? TRIBO_OK : TRIBO_NOT_CONVERGED;
}
