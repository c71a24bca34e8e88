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

/* ---- how far contacts are from bouncing ---- */

/* The fastest that contacts of the island come, of themselves or by the forces of the step. */
static double speed_of(const tribo_ws *ws, const ti_frame *f, const ti_island *is) {
    double most = 0;
    for (int i = is->con0; i < is->con0 + is->ncon; i++)
        for (int r = ti_con_is_row(&f->con[i]) ? 2 : 0; r < 3; r++) { /* of one row the others are nothing */
            most = ti_max(most, fabs(ti_row_velocity(ws, f, i, r, ws->vnow)));
            most = ti_max(most, fabs(ti_row_velocity(ws, f, i, r, ws->vfree)));
        }
    return most;
}

/* By how much the speeds of a contact with restitution e must change for it to bounce, or not to, m/s. What has met
 * already bounces if it comes at all. */
static double speed_off(const tribo_ws *ws, const ti_con *c, double e, bool may_land) {
    double dt = ws->options.dt, gap = c->touch.gap, reach = gap / dt + c->uf, come = c->uf - c->an * dt / 2;
    ti_impact hit = ti_frame_impact(ws, c);
    if (!hit.reached) return gap > 0 ? fabs(reach) : ti_max(reach, come);
    double leaves = e > 0 ? ti_impact_leaves(&hit, c->an, e, dt) : 0, off = e > 0 ? fabs(leaves) : (double)INFINITY;
    if (may_land && !(leaves > 0)) off = ti_min(off, fabs(ti_impact_lands(&hit, c->an, c->pair.length, dt)));
    if (c->bounce) off = ti_min(off, -reach);
    if (c->bounce && gap <= 0) off = ti_min(off, -come);
    return off;
}

static double margin_of(const tribo_ws *ws, const ti_frame *f, int i, double e, bool struck, double speed) {
    const ti_con *c = &f->con[i];
    bool may_land = ti_con_comes_to_land(ws, f, i);
    if (!(e > 0) && !may_land) return (double)INFINITY;
    double off = speed_off(ws, c, e, may_land), own = fabs(c->uf) + fabs(c->an) * ws->options.dt;
    if (f->mode[i] != TRIBO_BREAK && !c->bounce && !struck) { /* loaded by forces alone */
        if (own <= 1e-9 * speed) /* of bodies that fall together, until one is held: then one of them comes by itself */
            return e > 0 ? (1 - e) / 4 : (double)INFINITY;
        speed = own;
    }
    if (off == 0) return 0;
    return speed > 0 ? off / speed : (double)INFINITY;
}

static double restitution_of(const tribo_ws *ws, const ti_frame *f, int i, const double *p) {
    return ti_con_number(ws->model, &f->con[i], p, TI_M_RESTITUTION);
}

/* Whether any contact may have an impact. */
static bool any_hits(const tribo_ws *ws, const ti_frame *f, const ti_island *is, const double *p) {
    bool any = is->comes;
    for (int i = is->con0; i < is->con0 + is->ncon && !any; i++) any = restitution_of(ws, f, i, p) > 0;
    return any;
}

/* Whether nothing comes to the contacts of the island but what rounding makes of their gaps: bodies that touch without
 * a load, at rest or sliding. */
static bool is_faint(const tribo_ws *ws, const ti_frame *f, const ti_island *is) {
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        const ti_con *c = &f->con[i];
        if (ti_con_spins(c)) continue;
        double come = fabs(c->uf + ws->ref[3 * i + 2]) * ws->options.dt;
        if (!ti_con_opens(c) || !(come <= ti_frame_grain(ws, c).rounding)) return false;
    }
    return true;
}

/* Of an island that was hit: how far contact i is from being held afterwards, where none is. */
static double after_off(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i) {
    bool apart = ti_island_is_hit(is) && is->phase[TI_AFTER].npoint == 0 && ti_con_opens(&f->con[i]);
    return apart ? fabs(ti_hit_velocity(ws, f, i, 2, ws->v_after) + ws->ref[3 * i + 2]) : (double)INFINITY;
}

/* Of an island that was hit and is held afterwards, docs/math.md eq. (571): how fast what is left of the step brings
 * its contacts together, the fastest of them. They let go where nothing does. */
static double held_off(const tribo_ws *ws, const ti_frame *f, const ti_island *is) {
    double most = 0;
    if (!ti_island_is_hit(is) || is->phase[TI_AFTER].npoint == 0) return (double)INFINITY;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        if (!ti_con_opens(&f->con[i])) return (double)INFINITY;
        most = ti_max(most, -(ti_hit_velocity(ws, f, i, 2, ws->v_after) + ws->ref[3 * i + 2]));
    }
    return most;
}

/* Of one that stays apart without the impact and pushes in it: how far the forces of the step are from parting it, or
 * from bringing it together. ti_impact_parted(). */
static double parted_off(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i) {
    if (!ti_island_is_hit(is) || is->prompt || i >= is->con0 + is->nhold || !ti_con_opens(&f->con[i]))
        return (double)INFINITY;
    if (f->phase[TI_HOLD].mode[i] != TRIBO_BREAK || !ti_impact_transmits(f, is, i)) return (double)INFINITY;
    const double *without = f->phase[TI_HOLD].v[TI_SOLVED];
    return fabs(ti_row_velocity(ws, f, i, 2, without) - ti_row_velocity(ws, f, i, 2, ws->vnow));
}

/* Contacts that hold in an impact are where their bodies are when the first of the island is hit: how far another one
 * is from being that, of a step. */
static double tie_off(const tribo_ws *ws, const ti_frame *f, const ti_island *is) {
    int hits = is->con0 + is->nhold, held = is->con0;
    double first = (double)INFINITY, second = first;
    if (!ti_island_is_hit(is)) return first;
    while (held < hits && !(f->hit[held].moved && ti_impact_transmits(f, is, held))) held++;
    if (held == hits) return first;
    for (int i = hits; i < is->con0 + is->ncon; i++) {
        if (ti_con_spins(&f->con[i])) continue;
        double tau = f->con[i].tau;
        second = ti_min(second, ti_max(tau, first)), first = ti_min(first, tau);
    }
    return second < (double)INFINITY ? (second - first) / ws->options.dt : second;
}

void ti_island_brinks(const tribo_ws *ws, const ti_frame *f, const ti_island *is, const double *p,
                      tribo_contact_info *info) {
    if (is_faint(ws, f, is)) {
        info->margin = 0;
        for (int i = is->con0; i < is->con0 + is->ncon; i++) info->ndegenerate += f->mode[i] != TRIBO_BREAK;
    }
    double sunk = ti_island_sunk_off(ws, f, is, p);
    info->margin = ti_min(info->margin, sunk), info->ndegenerate += sunk < 1e-9;
    if (!any_hits(ws, f, is, p)) return;
    double speed = speed_of(ws, f, is);
    bool struck = ti_island_is_struck(ws, f, is);
    double tie = tie_off(ws, f, is);
    info->margin = ti_min(info->margin, tie), info->ndegenerate += tie < 1e-9;
    double held = speed > 0 ? held_off(ws, f, is) / speed : (double)INFINITY;
    info->margin = ti_min(info->margin, held), info->ndegenerate += held < 1e-9;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        double margin = margin_of(ws, f, i, restitution_of(ws, f, i, p), struck, speed);
        double off = ti_min(after_off(ws, f, is, i), parted_off(ws, f, is, i));
        if (speed > 0) margin = ti_min(margin, off / speed);
        if (margin < info->margin) info->margin = margin;
        info->ndegenerate += margin < 1e-9;
    }
}
