/* flick.c -- plans of a finger that turns an ellipse: cost of a knot -theta3 + 0.05 |u|^2, 75 knots of 0.05 s, logistic
 * noise in the contact law; every four knots shifted and made better. */
#include "flick.h"
#include <string.h>

tribo_law_options flick_law(tribo_law law, double noise) {
    return (tribo_law_options){.law = law, .smoothing = TRIBO_SMOOTHING_LOGISTIC, .noise = noise};
}

void flick_open(flick *f, const double *x, double noise, tribo_method method) {
    tribo_term_def term[2] = {tribo_default_term(), tribo_default_term()};
    tribo_trajopt_def def = tribo_default_trajopt();
    const double least[NC] = {-torque, -torque}, most[NC] = {torque, torque};
    tribo_options o = tribo_default_options();
    *f = (flick){.m = scene("finger")};
    tribo_model_params(f->m, f->p);
    term[0].kind = TRIBO_TERM_JOINT, term[0].joint = tribo_model_joint_find(f->m, "pin");
    term[0].norm = TRIBO_NORM_LINEAR, term[0].weight = -1, term[0].last = -1;
    term[1].kind = TRIBO_TERM_CONTROL, term[1].weight = 0.1;
    o.dt = knot_time, o.law = flick_law(TRIBO_LAW_STOCHASTIC, noise);
    def.knots = KNOTS, def.term = term, def.nterm = 2, def.x0 = x, def.options = &o, def.tol = 1e-5;
    def.lower = least, def.upper = most, def.method = method;
    def.workers = 2; /* over the knots; the same bits as one */
    need(tribo_trajopt_new(f->m, &def, &f->plan, NULL), "plan");
}

tribo_trajopt_progress flick_first(flick *f, int passes) {
    static const double back[GUESSES][NC] = {{0}, {-4, -2}, {4, 3}, {0, -4}};
    tribo_trajopt_progress end;
    tribo_status s = tribo_trajopt_solve(f->plan, passes, &end);
    if (s != TRIBO_NOT_CONVERGED) need(s, "first plan");
    tribo_trajopt_trajectory(f->plan, NULL, f->guess[0]);
    for (int g = 1; g < GUESSES; g++)
        for (int k = 0; k < 15; k++) memcpy(f->guess[g] + NC * k, back[g], sizeof back[g]);
    return end;
}

void flick_close(flick *f) {
    tribo_trajopt_free(f->plan), tribo_model_free(f->m);
}

double flick_unturn(double *x) {
    double turned = M_PI * floor((x[PIN] + M_PI / 2) / M_PI);
    x[PIN] -= turned;
    return turned;
}

double flick_promise(flick *f) {
    tribo_trajopt_trajectory(f->plan, f->X, f->U);
    return f->X[KNOTS * NX + PIN] - f->X[PIN];
}

/* @return the cost; infinite where the search fails */
static double improve(flick *f, int passes, int *made) {
    tribo_trajopt_progress end;
    if (tribo_trajopt_solve(f->plan, passes, &end) < 0) return HUGE_VAL;
    *made = end.iteration;
    return end.cost;
}

/* From x with other controls to begin with. */
static double begin_again(flick *f, const double *x, const double *U, int passes) {
    int made;
    return tribo_trajopt_restart(f->plan, x, U) == TRIBO_OK ? improve(f, passes, &made) : HUGE_VAL;
}

void flick_again(flick *f, const double *x) {
    double least = HUGE_VAL;
    int made = 0;
    f->plans++;
    if (tribo_trajopt_shift(f->plan, SHIFT, x) == TRIBO_OK) least = improve(f, PASSES, &made);
    f->passes += made;
    if (least < HUGE_VAL && (!f->begins_again || flick_promise(f) > worth)) return;
    if (least < HUGE_VAL) memcpy(f->best, f->U, sizeof f->best);
    f->again++;
    for (int g = 0; g < GUESSES; g++) {
        double cost = begin_again(f, x, f->guess[g], 20);
        if (!(cost < least)) continue;
        least = cost;
        tribo_trajopt_trajectory(f->plan, NULL, f->best);
    }
    (void)begin_again(f, x, f->best, SHIFT);
}
