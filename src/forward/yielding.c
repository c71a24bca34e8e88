/* yielding.c -- contacts whose material gives way: springs, which hold as what is hard where they are deeper than their
 * load presses them. docs/math.md eq. (484). */
#include "forward/frame.h"

void ti_pose_compliance(tribo_ws *ws, const ti_frame *f, int i, const double *p) {
    ti_con *c = &f->con[i];
    if (!ws->model->soft) return;
    double *R = ws->R + 3 * i;
    double kappa = ti_con_number(ws->model, c, p, TI_M_COMPLIANCE);
    R[0] = R[1] = TI_ACROSS * kappa, R[2] = c->sunk ? 0 : kappa;
    c->yields = c->kind == TI_CON_CONTACT && R[2] > 0 && !ti_step_is_noisy(ws);
}

static ti_reference reference(const tribo_ws *ws, const ti_frame *f, int k, int i, bool sunk) {
    const ti_con *c = &f->con[i];
    bool springs = c->yields && !sunk; /* it gives way to whatever is asked, and asks for what its load leaves */
    if (!ti_con_opens(c) || (f->island[k].bare && c->touch.gap < 0 && !springs)) return (ti_reference){0};
    ti_grain grain = ti_frame_grain(ws, c);
    if (c->sunk || c->yields) return ti_yielding(c->touch.gap, &grain, ws->options.dt, c->sunk || sunk);
    return ti_staying(c->touch.gap, &grain, ws->options.dt);
}

ti_reference ti_frame_reference(const tribo_ws *ws, const ti_frame *f, int k, int i) {
    return reference(ws, f, k, i, false);
}

ti_reference ti_impact_reference(const tribo_ws *ws, const ti_frame *f, int k, int i) {
    return reference(ws, f, k, i, true);
}

/* By how much the load of contact i presses it, as a velocity, and its depth less a skin; what is no deeper than that
 * is on its spring whatever it bears. */
static bool is_loaded(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i, const double *p, double *press,
                      double *depth) {
    const ti_con *c = &f->con[i];
    ti_phase phase = ti_island_is_hit(is) ? TI_AFTER : TI_HOLD;
    if (!ws->model->soft || c->kind != TI_CON_CONTACT || is->phase[phase].npoint == 0) return false;
    *press = ti_con_number(ws->model, c, p, TI_M_COMPLIANCE) * f->phase[phase].lambda[TI_SOLVED][3 * i + 2];
    *depth = (-c->touch.gap - ti_frame_grain(ws, c).skin) / ws->options.dt;
    return *depth > 0 && (c->sunk || c->yields);
}

/* Contact i holds along its normal as what is hard, or is on its spring again. */
static void turn(tribo_ws *ws, ti_frame *f, int k, int i, bool sunk, const double *p) {
    f->con[i].sunk = sunk, ti_pose_compliance(ws, f, i, p);
    ws->ref[3 * i + 2] = ti_frame_reference(ws, f, k, i).ref;
}

#define TIE 1e-9 /* of the depth: both parts are one, as where others take a body out by a skin */
int ti_island_sink(tribo_ws *ws, ti_frame *f, int k, const double *p, bool rises) {
    const ti_island *is = &f->island[k];
    double press, depth;
    int changed = 0;
    for (int i = is->con0; i < is->con0 + is->nhold; i++) {
        bool sunk = f->con[i].sunk;
        if ((sunk && !rises) || !is_loaded(ws, f, is, i, p, &press, &depth)) continue;
        if ((sunk ? press - depth : depth - press) <= TIE * depth) continue;
        turn(ws, f, k, i, !sunk, p), changed++;
    }
    return changed;
}

double ti_island_sunk_off(const tribo_ws *ws, const ti_frame *f, const ti_island *is, const double *p) {
    double off = (double)INFINITY, press, depth;
    for (int i = is->con0; i < is->con0 + is->nhold; i++)
        if (is_loaded(ws, f, is, i, p, &press, &depth))
            off = ti_min(off, (f->con[i].sunk ? depth - press : press - depth) / ti_max(press, depth));
    return ti_max(off, 0); /* where they were not found to go together */
}

double ti_frame_pressed(const tribo_ws *ws, const ti_frame *f, int i, const double *p) {
    return ws->options.dt * ti_con_number(ws->model, &f->con[i], p, TI_M_COMPLIANCE);
}

bool ti_frame_presses(const ti_frame *f) {
    for (int k = 0; k < f->nisland; k++) {
        const ti_island *is = &f->island[k];
        for (int i = is->con0; is->phase[TI_RECOVER].npoint > 0 && i < is->con0 + is->ncon; i++)
            if (f->con[i].sunk) return true;
    }
    return false;
}
