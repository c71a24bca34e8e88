/* recover.c -- overlap taken back by a displacement of its own, which adds nothing to velocities. docs/math.md,
 * Recovery. */
#include "forward/frame.h"

/* Compliance of the recovery, in units of the heaviest body's: what is asked for is met to this share, and what cannot
 * be met is shared. */
static const double COMPLIANCE = 1e-4;

static double end_gap(const tribo_ws *ws, const ti_frame *f, int i) {
    const ti_con *c = &f->con[i];
    double gap = c->touch.gap;
    for (int side = 0; side < 2; side++) {
        const double *J = ti_frame_rows(ws, f, i, side);
        if (!J) continue;
        const ti_tree *t = &ws->model->tree[ws->model->body[side ? c->b : c->a].tree];
        const double *D = ws->D0 + t->v, *normal = J + 2 * t->nv;
        for (int j = 0; j < t->nv; j++) gap += normal[j] * D[j];
    }
    return gap;
}

ti_overlap ti_frame_overlap(const tribo_ws *ws, const ti_frame *f, int k, int i, const double *p) {
    const ti_con *c = &f->con[i];
    if (!ti_con_opens(c)) return (ti_overlap){0};
    double gap = end_gap(ws, f, i), before = ti_min(c->touch.gap, 0);
    if (fabs(gap) < ti_frame_grain(ws, &f->con[i]).rounding) gap = 0; /* it closes in the step, and overlaps by none */
    bool deeper = f->island[k].phase[TI_IMPACT].npoint > 0 && gap < before;
    ti_overlap o = ti_overlap_of(deeper ? before : gap, ti_con_number(ws->model, c, p, TI_M_BAUMGARTE),
                                 ti_con_number(ws->model, c, p, TI_M_SLOP), ws->options.recovery * ws->options.dt);
    o.before = deeper;
    if (deeper && before == 0) o.ref_gap = 0;
    return o;
}

static bool is_apart(const tribo_ws *ws, const ti_island *is, const ti_con *c) {
    double ref[3];
    ti_closure_apart(ws, c, is->bare, ref);
    return ref[0] != 0 || ref[1] != 0 || ref[2] != 0;
}

/* Only where something overlaps before the step, or is apart that holds: what its impacts leave of that, the next step
 * takes back. */
static bool is_needed(const tribo_ws *ws, const ti_frame *f, const ti_island *is) {
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        if (ti_con_holds(&f->con[i]) && is_apart(ws, is, &f->con[i])) return true;
        double gap = ti_con_opens(&f->con[i]) ? f->con[i].touch.gap : 0;
        if (gap < 0 && (is->bare || gap < -ti_frame_grain(ws, &f->con[i]).skin)) return true;
    }
    return false;
}

/* What nothing moves along, or others give, asks for nothing: docs/math.md eq. (480). */
static bool is_idle(const tribo_ws *ws, const ti_frame *f, int i, int r) {
    for (int side = 0; side < 2; side++) {
        const double *J = ti_frame_rows(ws, f, i, side);
        int w = J ? ws->width[ti_blk_of_body(ws, side ? f->con[i].b : f->con[i].a)] : 0;
        for (int j = 0; j < w; j++)
            if (J[r * w + j] != 0) return false;
    }
    return true;
}

static void pose(tribo_ws *ws, const ti_frame *f, int k, const double *p) {
    const ti_island *is = &f->island[k];
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        double *ref = ws->ref_apart + 3 * i;
        ref[0] = ref[1] = 0, ref[2] = ti_frame_overlap(ws, f, k, i, p).ref;
        if (!ti_con_holds(&f->con[i])) continue;
        ti_closure_apart(ws, &f->con[i], is->bare, ref);
        for (int r = 0; r < 3; r++)
            if (is_idle(ws, f, i, r)) ref[r] = 0;
    }
}

tribo_status ti_island_recover(tribo_ws *ws, ti_frame *f, int k, const double *p) {
    ti_island *is = &f->island[k];
    if (!is_needed(ws, f, is)) return TRIBO_OK;
    pose(ws, f, k, p);
    ti_contact_problem problem = ti_step_problem(ws, f, k, TI_RECOVER);
    ti_contact_solution s = ti_frame_solution(f, k, TI_RECOVER);
    tribo_status status = TRIBO_NOT_CONVERGED;
    for (double R = COMPLIANCE; status == TRIBO_NOT_CONVERGED && R < 2; R *= 100) /* the softer, the easier */
        status = ti_contact_solve_soft(ws->contact, &problem, R, false, &s);
    if (status != TRIBO_OK) return status;
    ti_phase_keep(is, TI_RECOVER, &s);
    is->pace[TI_RECOVER] = ti_pace_share(ws, f, k, TI_RECOVER);
    ti_step_displace(ws, f, k, TI_RECOVER, ws->D);
    return TRIBO_OK;
}

void ti_recover_pose(tribo_ws *ws, const ti_frame *f, int k, const double *p) {
    const ti_island *is = &f->island[k];
    if (is->phase[TI_RECOVER].npoint == 0) return;
    pose(ws, f, k, p);
    ti_step_displace(ws, f, k, TI_RECOVER, ws->D);
}
