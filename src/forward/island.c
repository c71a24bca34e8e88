/* island.c -- the phases of one island: the step without its impacts, the impacts, and what they come to together. */
#include "contact/law/law.h"
#include "forward/frame.h"

/* ---- the step without impacts ---- */

/* Whether less could be asked for: overlaps may ask for velocities that no motion has, as those of a body that is
 * squeezed, and what holds for those that contacts do not let be. Where there is no answer they ask for nothing and
 * impacts are at one time, which always has one, and recovery shares what is left. */
static bool asks_too_much(const tribo_ws *ws, const ti_frame *f, const ti_island *is, tribo_status status) {
    if (status != TRIBO_NOT_CONVERGED || is->bare || ws->options.rounds > 0) return false;
    bool apart = is->nhold < is->ncon && !is->prompt;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        const double *ref = ws->ref + 3 * i;
        bool held = ti_con_holds(&f->con[i]) && (ref[0] != 0 || ref[1] != 0 || ref[2] != 0);
        if (held || (f->con[i].touch.gap < 0 && (ref[2] != 0 || apart))) return true;
    }
    return false;
}

/* Solve the contacts that do not bounce. */
static tribo_status hold(tribo_ws *ws, ti_frame *f, int k, bool warm, tribo_contact_info *info) {
    ti_island *is = &f->island[k];
    if (is->nhold > 0) return ti_phase_solve(ws, f, k, TI_HOLD, warm, info);
    is->phase[TI_HOLD].npoint = 0; /* all of them bounce: free motion */
    memcpy(f->phase[TI_HOLD].v[TI_SOLVED] + is->v0, ws->vfree + is->v0, sizeof(double) * (size_t)is->nv);
    return TRIBO_OK;
}

/* Contacts that bounce go to the end of the island's; the others keep their order. */
static void sort(tribo_ws *ws, ti_frame *f, ti_island *is) {
    int n = 0;
    is->nhold = 0;
    for (int bounce = 0; bounce < 2; bounce++)
        for (int i = is->con0; i < is->con0 + is->ncon; i++)
            if (f->con[i].bounce == bounce) ws->sorted[n++] = f->con[i], is->nhold += !bounce;
    memcpy(f->con + is->con0, ws->sorted, sizeof *ws->sorted * (size_t)n);
}

/* Where the motion that the others leave does not bring a contact together, or not fast enough to leave in this step,
 * it does not bounce. @return how many of them there are. */
static int reconsider(tribo_ws *ws, ti_frame *f, int k, const double *p) {
    const ti_island *is = &f->island[k];
    int changed = 0;
    ti_impact_motions(ws, f, k);
    for (int i = is->con0 + is->nhold; i < is->con0 + is->ncon; i++) {
        ti_con *c = &f->con[i];
        if (ti_con_spins(c)) {
            ti_con_follow(c);
            continue;
        }
        double e = ti_con_number(ws->model, c, p, TI_M_RESTITUTION);
        ti_impact hit = ti_frame_impact(ws, c);
        ti_con_meet(c, &hit, e, ti_con_may_land(ws, c), ws->options.dt);
        changed += !c->bounce;
    }
    return changed;
}

/* Which blocks other bodies that move push, in ws->root, in the motion without impacts. */
static void find_pressed(tribo_ws *ws, const ti_frame *f, const ti_island *is) {
    for (int b = 0; b < is->nblk; b++) ws->root[b] = 0;
    for (int i = is->con0; i < is->con0 + is->nhold; i++) {
        const ti_con *c = &f->con[i];
        if (c->a < 0 || c->b < 0 || f->phase[TI_HOLD].mode[i] == TRIBO_BREAK) continue;
        ws->root[ws->blk_a[i]] = 1;
        if (ws->blk_b[i] >= 0) ws->root[ws->blk_b[i]] = 1;
    }
}

/* Of contacts that hold, those that are hit faster than what rests, and land: of bodies that push no other which moves,
 * so that what lands on a heap takes no more than one contact problem. @return whether there are any */
static bool find_landings(tribo_ws *ws, ti_frame *f, int k) {
    ti_island *is = &f->island[k];
    bool any = false;
    if (is->bare) return false;
    find_pressed(ws, f, is);
    for (int i = is->con0; i < is->con0 + is->nhold; i++) {
        ti_con *c = &f->con[i];
        if (ti_con_spins(c)) ti_con_follow(c);
        if (!ti_con_comes_to_land(ws, f, i)) continue;
        is->comes = true;
        if (f->phase[TI_HOLD].mode[i] == TRIBO_BREAK || ws->root[ws->blk_a[i]]) continue;
        c->an = (c->uf - ti_row_velocity(ws, f, i, 2, ws->vnow)) / ws->options.dt;
        ti_impact hit = ti_frame_impact(ws, c);
        ti_con_meet(c, &hit, 0, true, ws->options.dt);
        any = any || c->bounce;
    }
    return any;
}

/* Impulses and velocity of the phases together; what a contact does in the end. */
static void sum_up(tribo_ws *ws, ti_frame *f, const ti_island *is) {
    const ti_phase_data *hold = &f->phase[TI_HOLD], *hit = &f->phase[TI_IMPACT], *back = &f->phase[TI_REBOUND];
    const ti_phase_data *after = &f->phase[TI_AFTER];
    size_t v0 = (size_t)is->v0, nv = (size_t)is->nv;
    bool rebounds = is->phase[TI_REBOUND].npoint > 0, held_after = is->phase[TI_AFTER].npoint > 0;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        bool held = i < is->con0 + is->nhold;
        unsigned char mode = hit->mode[i];
        for (int r = 0; r < 3; r++) {
            double *l = &f->lambda[3 * i + r];
            *l = (held_after ? after->lambda[TI_SOLVED][3 * i + r] : 0) + hit->lambda[TI_SOLVED][3 * i + r];
            if (rebounds) *l += is->share * (back->lambda[TI_SOLVED][3 * i + r] + (r == 2 ? ws->give[i] : 0));
        }
        if (rebounds && mode == TRIBO_BREAK && back->mode[i] != TRIBO_BREAK)
            mode = back->mode[i] == TI_REBOUND_STICK ? TRIBO_STICK : back->mode[i];
        if (held_after && after->mode[i] != TRIBO_BREAK) mode = after->mode[i];
        f->mode[i] = mode == TRIBO_BREAK && held ? hold->mode[i] : mode;
    }
    memcpy(f->v + v0, (held_after ? after->v[TI_SOLVED] : ws->v_after) + v0, nv * sizeof *f->v);
}

static void copy_hold(ti_frame *f, const ti_island *is) {
    size_t c = (size_t)is->con0, v = (size_t)is->v0;
    memcpy(f->lambda + 3 * c, f->phase[TI_HOLD].lambda[TI_SOLVED] + 3 * c, 3 * sizeof(double) * (size_t)is->ncon);
    memcpy(f->v + v, f->phase[TI_HOLD].v[TI_SOLVED] + v, sizeof(double) * (size_t)is->nv);
    memcpy(f->mode + c, f->phase[TI_HOLD].mode + c, (size_t)is->ncon);
}

/* What the work so far has been, and nothing else known. */
static tribo_contact_info begin(int iterations) {
    return (tribo_contact_info){.margin = (double)INFINITY, .canonical = true, .iterations = iterations};
}

/* At each impact's own time; at one, where those have no answer or bring energy, and then none before the step, to
 * which bodies would be carried back by what holds them in it; and without a rebound, where that does. */
static tribo_status impact(tribo_ws *ws, ti_frame *f, int k, const double *p, tribo_contact_info *info) {
    ti_island *is = &f->island[k];
    tribo_contact_info before = *info;
    for (is->jammed = false;;) {
        tribo_status hit = ti_island_impact(ws, f, k, p, info);
        if (hit < 0) return hit;
        sum_up(ws, f, is);
        bool apart = hit == TRIBO_NOT_CONVERGED && !is->prompt;
        if (ws->options.rounds > 0 || is->jammed || (!apart && !ti_impact_gains(ws, f, k))) return hit;
        is->jammed = is->prompt, is->prompt = true;
        for (int i = is->con0 + is->nhold; i < is->con0 + is->ncon; i++) f->con[i].within = f->con[i].within || !apart;
        ti_impact_motions(ws, f, k);
        before.iterations = info->iterations, before.ndegenerate++, *info = before;
    }
}

/* With other contacts among those that hold. */
static tribo_status hold_again(tribo_ws *ws, ti_frame *f, int k, const double *p, bool warm, tribo_contact_info *info) {
    ti_island *is = &f->island[k];
    sort(ws, f, is);
    ti_step_pose_island(ws, f, k, p);
    ti_island_start(ws, f, is);
    *info = begin(info->iterations);
    return hold(ws, f, k, warm, info);
}

/* All phases, as far as they go; contacts that turn out not to bounce stay. */
static tribo_status solve_phases(tribo_ws *ws, ti_frame *f, int k, const double *p, bool warm,
                                 tribo_contact_info *info) {
    ti_island *is = &f->island[k];
    tribo_status status = hold(ws, f, k, warm, info);
    if (status >= 0 && find_landings(ws, f, k)) status = hold_again(ws, f, k, p, warm, info);
    while (status >= 0 && is->nhold < is->ncon && reconsider(ws, f, k, p) > 0)
        status = hold_again(ws, f, k, p, warm, info);
    for (int phase = TI_IMPACT; phase < TI_PHASES; phase++) is->phase[phase].npoint = 0;
    if (status < 0 || asks_too_much(ws, f, is, status)) return status;
    if (is->nhold == is->ncon) {
        copy_hold(f, is);
        return status;
    }
    return ti_graver(impact(ws, f, k, p, info), status);
}

tribo_status ti_island_solve(tribo_ws *ws, ti_frame *f, int k, const double *p, bool again, tribo_contact_info *info) {
    ti_island *is = &f->island[k];
    bool warm = (ws->options.warm_start || is->resumed) && !(again && is->bare);
    *info = begin(0);
    for (int i = is->con0; i < is->con0 + is->ncon && !again; i++)
        if (f->con[i].bounce) { /* seldom */
            sort(ws, f, is);
            ti_step_pose_island(ws, f, k, p);
            break;
        }
    if (!again) ti_island_start(ws, f, is);
    tribo_status status = solve_phases(ws, f, k, p, warm, info);
    if (!asks_too_much(ws, f, is, status)) return status;
    is->bare = is->prompt = true;
    ti_step_pose_island(ws, f, k, p);
    *info = begin(info->iterations);
    return solve_phases(ws, f, k, p, false, info);
}
