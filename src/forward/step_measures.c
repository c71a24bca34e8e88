/* step_measures.c -- what the answer of a step is worth: the measures of its islands together. */
#include "forward/frame.h"

static void worst_residuals(tribo_residuals *worst, const tribo_residuals *one) {
    worst->primal = ti_max(worst->primal, one->primal);
    worst->dual = ti_max(worst->dual, one->dual);
    worst->complementarity = ti_max(worst->complementarity, one->complementarity);
}

static tribo_status add_island(tribo_ws *ws, const ti_frame *f, int k, tribo_measures *all) {
    tribo_measures one;
    ti_contact_problem problem = ti_step_problem(ws, f, k, TI_HOLD);
    ti_contact_solution s = ti_frame_solution(f, k, TI_HOLD);
    tribo_status status = ti_contact_measures(ws->contact, &problem, &s, false, &one);
    if (status < 0) return status;
    worst_residuals(&all->law, &one.law), worst_residuals(&all->ncp, &one.ncp);
    all->dissipation += one.dissipation, all->friction_loss += one.friction_loss;
    all->internal = hypot(all->internal, one.internal);
    all->lift = ti_max(all->lift, one.lift);
    return TRIBO_OK;
}

tribo_status ti_step_measure(tribo_ws *ws, const ti_frame *f) {
    tribo_measures all = {0};
    double sum = 0;
    for (int k = 0; k < f->nisland; k++) {
        tribo_status status = add_island(ws, f, k, &all);
        if (status < 0) return status;
    }
    for (int k = 0; k < 3 * f->ncon; k++) sum += f->lambda[k] * f->lambda[k];
    all.internal_share = sum > 0 ? all.internal / sqrt(sum) : 0;
    ws->info.measures = all;
    return TRIBO_OK;
}
