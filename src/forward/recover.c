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

/* How much deeper contact i ends than it began, where that is taken back. gap: at the end. */
static double deepened(const ti_con *c, double gap) {
    return c->mends ? ti_max(ti_min(c->touch.gap, 0) - gap, 0) : 0;
}

ti_overlap ti_frame_overlap(const tribo_ws *ws, const ti_frame *f, int k, int i, const double *p) {
    const ti_con *c = &f->con[i];
    if (!ti_con_opens(c)) return (ti_overlap){0};
    double gap = end_gap(ws, f, i), before = ti_min(c->touch.gap, 0), more;
    if (gap < 0 && c->yields) return (ti_overlap){0}; /* its load presses it so deep */
    if (c->sunk && ti_island_is_hit(&f->island[k])) return (ti_overlap){0};
    if (c->sunk) gap += ti_frame_pressed(ws, f, i, p) * f->phase[TI_HOLD].lambda[TI_SOLVED][3 * i + 2];
    ti_grain grain = ti_frame_grain(ws, c);
    if (fabs(gap) < grain.rounding) gap = 0; /* it closes in the step, and overlaps by none */
    if (-before < grain.rounding) before = 0;
    more = deepened(c, gap);
    bool deeper = ti_island_is_hit(&f->island[k]) && gap + more < before;
    ti_overlap o = ti_overlap_of(deeper ? before : gap + more, ti_con_number(ws->model, c, p, TI_M_BAUMGARTE),
                                 ti_con_number(ws->model, c, p, TI_M_SLOP) + (grain.noise > 0 ? grain.give : 0));
    if (!deeper && more == 0) return o;
    o.ref_before = before < 0 ? o.ref_gap - (more > 0) : 0, o.ref_gap = more > 0, o.ref -= more;
    return o;
}

static bool is_apart(const tribo_ws *ws, const ti_island *is, const ti_con *c) {
    double ref[3];
    ti_closure_apart(ws, c, is->bare, ref);
    return ref[0] != 0 || ref[1] != 0 || ref[2] != 0;
}

/* Only where something overlaps before the step, or by its impacts, or is apart that holds. What the impacts leave that
 * is not taken back here, the next step takes back. */
static bool is_needed(const tribo_ws *ws, const ti_frame *f, const ti_island *is) {
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        if (ti_con_holds(&f->con[i]) && is_apart(ws, is, &f->con[i])) return true;
        double depth = f->con[i].yields ? 0 : ti_con_depth(&f->con[i]);
        if (depth > 0 && (is->bare || depth > ti_frame_grain(ws, &f->con[i]).give)) return true;
        if (!f->con[i].mends) continue;
        if (deepened(&f->con[i], end_gap(ws, f, i)) > ti_frame_grain(ws, &f->con[i]).rounding) return true;
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

/* By what contact i goes in the step along its normal, until it is hit and from there on. */
static double way_of(const tribo_ws *ws, const ti_frame *f, int i) {
    double until = ti_row_velocity(ws, f, i, 2, f->phase[TI_HOLD].v[TI_SOLVED]);
    return ws->options.dt * (fabs(until) + fabs(ti_row_velocity(ws, f, i, 2, f->v)));
}

/* Of what is hit by that. */
static const double IN_TIME = 1e-3;

/* Whether the displacement has contact i as its own time says: it holds, or is hit at the mean time, or got its own. */
static bool is_timed(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i, int group) {
    bool bounces = i >= is->con0 + is->nhold;
    if (!ti_impact_transmits(f, is, i) || (!bounces && f->phase[TI_HOLD].mode[i] == TRIBO_BREAK)) return false;
    double off = bounces ? (f->con[i].tau - ws->time[is->blk0 + group]) * ti_impact_jump(ws, f, i) : 0;
    if (is->phase[TI_TIMING].npoint > 0)
        off += is->pace[TI_TIMING] * ti_row_velocity(ws, f, i, 2, f->phase[TI_TIMING].v[TI_SOLVED]);
    return fabs(off) <= IN_TIME * way_of(ws, f, i);
}

/* Others of bodies that push one another in the impacts of the step, or after them. */
static void choose(tribo_ws *ws, ti_frame *f, int k) {
    const ti_island *is = &f->island[k];
    ti_impact_times(ws, f, k);
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        int b = ws->blk_b[i], group = ti_root(ws->root, ws->blk_a[i]);
        bool pushed = ws->weight[group] > 0 && (b < 0 || ti_root(ws->root, b) == group);
        bool solid = ti_con_opens(&f->con[i]) && !f->con[i].yields;
        f->con[i].mends = pushed && solid && !is_timed(ws, f, is, i, group);
    }
}

static void choose_none(ti_frame *f, const ti_island *is) {
    for (int i = is->con0; i < is->con0 + is->ncon; i++) f->con[i].mends = false;
}

/* How far contact i, which mends, is from asking, or from pushing where others ask: a share of what the step moves, or
 * of the largest impulse of the recovery. */
static double brink(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i, double most) {
    const ti_phase_data *d = &f->phase[TI_RECOVER];
    bool posed = is->phase[TI_RECOVER].npoint > 0;
    if (posed && d->mode[i] != TRIBO_BREAK) return d->lambda[TI_SOLVED][3 * i + 2] / most;
    double off = posed ? ws->ref_apart[3 * i + 2] + ti_row_velocity(ws, f, i, 2, d->v[TI_SOLVED]) : end_gap(ws, f, i);
    double way = way_of(ws, f, i);
    return way > 0 ? fabs(off) / way : (double)INFINITY;
}

static void brinks(tribo_ws *ws, const ti_frame *f, int k) {
    const ti_island *is = &f->island[k];
    double most = 0;
    for (int i = is->con0; i < is->con0 + is->ncon; i++)
        if (f->con[i].mends) most = ti_max(most, f->phase[TI_RECOVER].lambda[TI_SOLVED][3 * i + 2]);
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        double off = f->con[i].mends ? brink(ws, f, is, i, most) : (double)INFINITY;
        ws->info.margin = ti_min(ws->info.margin, off), ws->info.ndegenerate += off < 1e-9;
    }
}

/* What ends as deep as the slop lets it be is at a kink: deeper it is taken back, and else not. */
static void edges(tribo_ws *ws, const ti_frame *f, const ti_island *is, const double *p) {
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        const ti_con *c = &f->con[i];
        double slop = ti_con_opens(c) && !c->yields ? ti_con_number(ws->model, c, p, TI_M_SLOP) : 0;
        if (slop > 0 && fabs(end_gap(ws, f, i) + slop) < ti_frame_grain(ws, c).rounding)
            ws->info.margin = 0, ws->info.ndegenerate++;
    }
}

static tribo_status take_back(tribo_ws *ws, ti_frame *f, int k, const double *p) {
    ti_island *is = &f->island[k];
    is->phase[TI_RECOVER].npoint = 0;
    if (!is_needed(ws, f, is)) return TRIBO_OK;
    edges(ws, f, is, p);
    pose(ws, f, k, p);
    ti_contact_problem problem = ti_step_problem(ws, f, k, TI_RECOVER);
    ti_contact_solution s = ti_frame_solution(f, k, TI_RECOVER);
    tribo_status status = TRIBO_NOT_CONVERGED;
    for (double R = COMPLIANCE; status == TRIBO_NOT_CONVERGED && R < 2; R *= 100) /* the softer, the easier */
        status = ti_contact_solve_soft(ws->contact, &problem, R, false, &s);
    if (status != TRIBO_OK) return status;
    ti_phase_keep(is, TI_RECOVER, &s);
    is->pace[TI_RECOVER] = ti_pace_share(ws, f, k, TI_RECOVER);
    return TRIBO_OK;
}

/* What the impacts of an island leave, as far as that lifts nothing and moves nothing far. */
static tribo_status take_back_hit(tribo_ws *ws, ti_frame *f, int k, const double *p) {
    const ti_island *is = &f->island[k];
    choose(ws, f, k);
    tribo_status status = take_back(ws, f, k, p);
    bool posed = status == TRIBO_OK && is->phase[TI_RECOVER].npoint > 0;
    if (posed && (ti_impact_gains(ws, f, k) || ti_goes_too_far(ws, f, k))) {
        choose_none(f, is);
        ws->info.ndegenerate++, ws->info.margin = 0;
        status = take_back(ws, f, k, p);
    }
    if (status == TRIBO_OK) brinks(ws, f, k);
    return status;
}

tribo_status ti_island_recover(tribo_ws *ws, ti_frame *f, int k, const double *p) {
    const ti_island *is = &f->island[k];
    tribo_status status = ti_island_is_hit(is) ? take_back_hit(ws, f, k, p) : take_back(ws, f, k, p);
    if (status == TRIBO_OK && is->phase[TI_RECOVER].npoint > 0) ti_step_displace(ws, f, k, TI_RECOVER, ws->D);
    return status;
}

void ti_recover_pose(tribo_ws *ws, const ti_frame *f, int k, const double *p) {
    const ti_island *is = &f->island[k];
    if (is->phase[TI_RECOVER].npoint == 0) return;
    pose(ws, f, k, p);
    ti_step_displace(ws, f, k, TI_RECOVER, ws->D);
}
