/* posed.c -- the problem as a solver sees it: its law, its compliance, what the law may read of a contact; the velocity
 * that impulses give. */
#include "contact/work/workspace.h"
#include <math.h>

void ti_contact_solution_carve(ti_arena *m, int nc, int nv, ti_contact_solution *s) {
    size_t n3 = 3 * (size_t)nc;
    for (int k = 0; k < TI_CONTACT_POINTS; k++) {
        TI_CARVE(m, s->point[k].lambda, n3);
        TI_CARVE(m, s->point[k].v, nv);
    }
    TI_CARVE(m, s->lambda, n3);
    TI_CARVE(m, s->v, nv);
    TI_CARVE(m, s->mode, nc);
}

void ti_contact_take_law(ti_contact_ws *ws, const ti_contact_problem *p) {
    ws->plain = p->kind != TI_CONTACT_LAW;
    ws->law = p->kind == TI_CONTACT_REBOUND ? &ti_law_rebound : ws->plain ? &ti_law_ncp : ws->asked;
    ws->coupled = ws->plain ? NULL : ws->asked_coupled;
}

ti_law_contact ti_law_contact_of(const ti_contact_ws *ws, const ti_contact_problem *p, int i, const double *lambda) {
    ti_law_contact s = {.mu = p->mu[i], .scale = ws->scale + i, .pyramid = &ws->pyramid, .kappa = ws->kappa, .push = 1};
    if (p->rebound) s.rebound = p->rebound[i];
    if (ws->G.Gii) s.Gii = ws->G.Gii + 9 * i;
    if (ti_is_spin(p, i)) s.push = ti_max(ti_push_of(p, i, lambda), 0);
    if (ws->noise) s.smoothing = ws->options.smoothing, s.noise_n = ws->noise[2 * i], s.noise_t = ws->noise[2 * i + 1];
    return s;
}

void ti_contact_velocity(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda, double *v) {
    memset(v, 0, p->nv * sizeof(double));
    ti_system_jt(&ws->sys, p, lambda, v);
    ti_delassus_minv(&ws->G, p, v);
    for (int k = 0; k < p->nv; k++) v[k] += p->vfree[k];
}

ti_contact_problem ti_contact_soften(ti_contact_ws *ws, const ti_contact_problem *p) {
    ti_contact_problem soft = *p;
    if (ws->R && !ws->plain) soft.R = ws->R;
    return soft;
}

/* What the options soften constraint i with. @return false = not at all */
static bool softens(const ti_contact_ws *ws, const ti_contact_problem *p, int i, double *R) {
    const tribo_law_options *o = &ws->options;
    bool physical = o->softness == TRIBO_SOFTNESS_PHYSICAL;
    if (physical && p->what && p->what[i] == TI_CONSTRAINT_DRY) {
        R[0] = R[1] = 0, R[2] = o->dry_compliance;
        return true;
    }
    if (!ti_is_contact(p, i)) return false;
    R[2] = physical ? o->compliance : ti_softness_share(o) * ws->G.Gii[9 * i + 8];
    R[0] = R[1] = physical ? TI_ACROSS * o->compliance : R[2] / o->impratio;
    return true;
}

tribo_status ti_contact_pose(ti_contact_ws *ws, const ti_contact_problem *p, bool delassus, ti_contact_problem *soft) {
    static const double none[3] = {0, 0, 0};
    const tribo_law_options *o = &ws->options;
    *soft = *p;
    if (ws->plain) return TRIBO_OK;
    if (delassus) {
        tribo_status status = ti_delassus_prepare(&ws->G, p);
        if (status) return status;
    }
    for (int k = 0; ws->noise && k < 2 * p->nc; k++) ws->noise[k] = p->noise ? p->noise[k] : o->noise;
    if (!ws->R) return TRIBO_OK;
    for (int i = 0; i < p->nc; i++) {
        const double *own = p->R ? p->R + 3 * i : none;
        double *R = ws->R + 3 * i;
        memcpy(R, own, sizeof none);
        if (!softens(ws, p, i, R)) continue;
        for (int r = 0; delassus && r < 3; r++) ws->G.Gii[9 * i + 4 * r] += R[r];
        for (int r = 0; r < 3; r++) R[r] += own[r];
    }
    *soft = ti_contact_soften(ws, p);
    return TRIBO_OK;
}

void ti_contact_momentum(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *lambda) {
    for (int k = 0; k < p->nv; k++) ws->dv[k] = v[k] - p->vfree[k];
    ti_system_mv(&ws->sys, p, ws->dv, ws->r);
    for (int k = 0; k < p->nv; k++) ws->r[k] = -ws->r[k];
    ti_system_jt(&ws->sys, p, lambda, ws->r);
}

bool ti_contact_balance(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda, double *v) {
    memset(ws->D, 0, 9 * (size_t)p->nc * sizeof(double));
    if (ti_system_factor(&ws->sys, p, ws->D) != TRIBO_OK) return false;
    memset(v, 0, p->nv * sizeof(double));
    ti_system_jt(&ws->sys, p, lambda, v);
    ti_system_solve(&ws->sys, 1, v);
    for (int k = 0; k < p->nv; k++) v[k] += p->vfree[k];
    return true;
}
