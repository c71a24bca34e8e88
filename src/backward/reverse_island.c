/* reverse_island.c -- the reverse of the phases of an island, the last first. docs/math.md, The reverse of a step. */
#include "backward/backward.h"

/* ---- one phase ---- */

/* Where the cotangents of a phase go. Arrays over blocks are the frame's, over contacts too. */
typedef struct phase_bar {
    tribo_ws *ws;
    const ti_frame *f;
    int island;
    ti_phase phase;
    const double *base; /* (nv) the velocity that its impulses change */
    double *base_bar;   /* (nv) += */
    double *ref_bar;    /* (ncon) += of the normal rows; or */
    double *late_bar;   /* (3 ncon) += of all, where this is not NULL */
} phase_bar;

static void add_reference(const phase_bar *to, int i, const double *c_bar) {
    if (to->late_bar)
        for (int r = 0; r < 3; r++) to->late_bar[3 * i + r] += c_bar[r];
    else
        to->ref_bar[i] += c_bar[2];
}

/* docs/math.md eq. (63) for a block: M_bar -= y (v - base)', base_bar += M y. */
static void reverse_momentum(const phase_bar *to, int blk, const double *y, const double *v) {
    tribo_ws *ws = to->ws;
    int tree = to->f->blk_tree[blk], w = ws->width[blk], at = ws->at_v[blk];
    double *change = ws->V, *My = ws->kick;
    if (to->base_bar) {
        ti_motion_times(&ws->motion, tree, y, My);
        for (int j = 0; j < w; j++) to->base_bar[at + j] += My[j];
    }
    for (int j = 0; j < w; j++) change[j] = v[j] - to->base[at + j];
    ti_motion_inertia_vjp(&ws->motion, tree, -1, y, change, &ws->scratch->motion_bar);
}

/* What a law that depends on G itself adds at point k: to J_bar, which row products read, and to the inertias. */
static void reverse_delassus(const phase_bar *to, const ti_contact_problem *problem,
                             const ti_contact_solution *solution, int k) {
    tribo_ws *ws = to->ws;
    ti_scratch *s = ws->scratch;
    const ti_island *is = &to->f->island[to->island];
    double *J_bar =
               ti_phase_is_hit(to->phase) ? s->J_hit_bar + (problem->J - ws->J_hit) : s->J_bar + (problem->J - ws->J),
           *M_bar = s->M_bar + (problem->M - ws->M);
    size_t entries = 0;
    for (int b = 0; b < is->nblk; b++) entries += (size_t)problem->width[b] * (size_t)problem->width[b];
    memset(M_bar, 0, entries * sizeof *M_bar);
    const ti_delassus_bar *bar =
        ti_contact_delassus_bar(ws->contact, problem, solution, k, s->c_bar[to->phase][k] + 3 * is->con0);
    ti_contact_delassus_vjp(ws->contact, problem, bar, J_bar, M_bar);
    for (int b = 0; b < is->nblk; b++)
        ti_motion_inertia_bar(&ws->motion, to->f->blk_tree[is->blk0 + b], M_bar + problem->moff[b], &s->motion_bar);
}

/* The radius of a rebound's disk is mu (give + lambda_n): what mu feels, the given impulse feels in proportion. lambda
 * is that of contact i, in all of them. */
static void reverse_give(const phase_bar *to, int i, const double *lambda, double mu_bar) {
    const tribo_ws *ws = to->ws;
    int by = ti_con_host(to->f, i);
    double n = lambda[3 * (by - i) + 2], all = ws->give[by] + (n > 0 ? n : 0);
    if (all > 0) ws->scratch->give_bar[by] += mu_bar * ws->mu[i] / all;
}

/* A displacement's compliance is a share of one over the heaviest mass, and adds to what is asked as ref does, times
 * the impulse. */
static void reverse_compliance(const phase_bar *to, const ti_contact_problem *problem, const ti_contact_point *point,
                               const double *c_bar) {
    const tribo_ws *ws = to->ws;
    int tree = to->f->blk_tree[to->f->island[to->island].blk0 + ti_contact_heaviest(problem)];
    double bar = 0;
    for (int i = 0; i < problem->nc; i++) {
        const double *c = c_bar + 3 * i, *l = point->lambda + 3 * i;
        bar += c[0] * l[0] + c[1] * l[1] + c[2] * l[2]; /* across only what holds has any, and as much */
    }
    ti_motion_heft_vjp(&ws->motion, tree, -bar * point->compliance, &ws->scratch->motion_bar);
}

/* What materials give way. */
static void reverse_softness(const phase_bar *to, const ti_contact_problem *problem,
                             const ti_contact_solution *solution, int k, const double *c_bar) {
    ti_scratch *s = to->ws->scratch;
    double *R_bar = s->l_work; /* free by now */
    ti_contact_compliance_vjp(to->ws->contact, problem, solution, k, c_bar, R_bar);
    for (int i = 0, at = to->f->island[to->island].con0; i < problem->nc; i++, at++, R_bar += 3)
        s->R_bar[at] += (to->f->con[at].sunk ? 0 : R_bar[2]) + TI_ACROSS * (R_bar[0] + R_bar[1]);
}

/* What friction against rolling asks for where normals hold the turn. */
static void reverse_rolling(const phase_bar *to, const ti_contact_problem *problem, const double *c_bar) {
    const ti_island *is = &to->f->island[to->island];
    double *bar = to->ws->scratch->l_work; /* free by now */
    memset(bar, 0, sizeof *bar * (size_t)problem->nc);
    ti_contact_roll_vjp(to->ws->contact, problem, c_bar, bar);
    for (int i = 0; i < problem->nc; i++) {
        double asked[3] = {0, 0, bar[i]};
        if (bar[i] != 0) add_reference(to, is->con0 + i, asked);
    }
}

static bool all_zero(int n, const double *a) {
    bool some = false;
    for (int i = 0; a && i < n; i++) some = some || a[i] != 0;
    return !some;
}

/* Of nothing comes nothing: rows of velocities ask nothing of displacements. */
static bool asks_nothing(const phase_bar *to, const ti_contact_problem *problem, int npoint, const double *v_bar,
                         const double *l_bar) {
    ti_scratch *s = to->ws->scratch;
    int b0 = to->f->island[to->island].v0, c0 = 3 * to->f->island[to->island].con0;
    if (!all_zero(problem->nv, v_bar + b0) || !all_zero(3 * problem->nc, l_bar ? l_bar + c0 : NULL)) return false;
    for (int k = 0; k < npoint; k++) {
        memset(s->y[to->phase][k] + b0, 0, sizeof(double) * (size_t)problem->nv);
        memset(s->c_bar[to->phase][k] + c0, 0, 3 * sizeof(double) * (size_t)problem->nc);
    }
    return true;
}

/* v_bar (nv of the frame), l_bar (3 ncon of the frame) or NULL = 0. */
static tribo_status reverse_implicit(const phase_bar *to, const double *v_bar, const double *l_bar) {
    tribo_ws *ws = to->ws;
    ti_scratch *s = ws->scratch;
    const ti_island *is = &to->f->island[to->island];
    ti_contact_problem problem = ti_step_problem(ws, to->f, to->island, to->phase);
    ti_contact_solution solution = ti_frame_solution(to->f, to->island, to->phase);
    int b0 = is->v0, c0 = 3 * is->con0;
    if (asks_nothing(to, &problem, solution.npoint, v_bar, l_bar)) return TRIBO_OK;
    for (int k = 0; k < solution.npoint; k++) {
        ti_contact_ws *at_point;
        tribo_status status = ti_contact_factor_kept(ws->contact, &problem, &solution, k,
                                                     to->island * TI_PHASES + (int)to->phase, &at_point);
        if (status < 0) return status;
        double w = solution.point[k].weight, *y = s->y[to->phase][k] + b0, *c_bar = s->c_bar[to->phase][k] + c0;
        for (int j = 0; j < is->nv; j++) s->v_work[j] = w * v_bar[b0 + j];
        for (int j = 0; j < 3 * problem.nc; j++) s->l_work[j] = l_bar ? w * l_bar[c0 + j] : 0;
        ti_contact_vjp(at_point, &problem, s->v_work, s->l_work, y, c_bar, s->mu_work);
        s->linear = ti_max(s->linear, ti_contact_linear_residual(at_point));
        if (to->phase >= TI_TIMING) reverse_compliance(to, &problem, &solution.point[k], c_bar);
        for (int i = 0; i < problem.nc; i++) {
            int at = is->con0 + i;
            bool by_forces = to->phase == TI_HOLD || to->phase == TI_AFTER;
            add_reference(to, at, c_bar + 3 * i);
            for (int r = 0; r < 3 && by_forces; r++) s->held_bar[3 * at + r] += c_bar[3 * i + r];
            bool dry = to->f->con[at].kind == TI_CON_DRY;
            if (to->phase >= TI_TIMING || (dry && !by_forces)) continue;
            s->mu_bar[at] += s->mu_work[i];
            if (to->phase == TI_REBOUND) reverse_give(to, at, solution.point[k].lambda + 3 * i, s->mu_work[i]);
        }
        if (problem.spins && to->phase < TI_TIMING) reverse_rolling(to, &problem, c_bar);
        if (ws->model->soft && ti_phase_by_law(to->phase)) reverse_softness(to, &problem, &solution, k, c_bar);
        if (ti_phase_by_law(to->phase) && ti_contact_uses_delassus(ws->contact))
            reverse_delassus(to, &problem, &solution, k);
        for (int b = 0; b < is->nblk; b++)
            reverse_momentum(to, is->blk0 + b, y + problem.voff[b], solution.point[k].v + problem.voff[b]);
    }
    return TRIBO_OK;
}

/* One stage's share in everything but the contacts' geometry, whose cotangents are summed in frame_bar and ref_bar. */
static void reverse_stage(void *context, const double *lambda, const double *v, const double *y, const double *c_bar,
                          const double *mu_bar) {
    const phase_bar *to = context;
    tribo_ws *ws = to->ws;
    ti_scratch *s = ws->scratch;
    const ti_island *is = &to->f->island[to->island];
    int nc = to->phase == TI_HOLD ? is->nhold : is->ncon;
    const int *voff = ws->voff + is->blk0;
    ti_side_run run[2];
    run[0].n = run[1].n = 0;
    for (int b = 0; b < is->nblk; b++) reverse_momentum(to, is->blk0 + b, y + voff[b], v + voff[b]);
    for (int k = 0; k < nc; k++) {
        int i = is->con0 + k;
        const ti_con *c = &to->f->con[i];
        s->mu_bar[i] += mu_bar[k];
        add_reference(to, i, c_bar + 3 * k);
        for (int side = 0; side < 2; side++) {
            int body = side ? c->b : c->a;
            if (body < 0) continue;
            int at = ws->voff[ti_blk_of_body(ws, body)];
            ti_row_product q[2] = {{lambda + 3 * k, y + at}, {c_bar + 3 * k, v + at}};
            ti_side_vjp(ws, &run[side], c, side, 2, 2, q, s->frame_bar + TI_CON_FRAME * i);
        }
    }
    for (int side = 0; side < 2; side++) ti_side_end(ws, &run[side]);
}

static tribo_status reverse_phase(phase_bar *to, const double *v_bar, const double *l_bar) {
    tribo_ws *ws = to->ws;
    const ti_island *is = &to->f->island[to->island];
    if (!ti_is_unrolled(ws) || to->phase >= TI_REBOUND) return reverse_implicit(to, v_bar, l_bar);
    ti_contact_problem problem = ti_step_problem(ws, to->f, to->island, to->phase);
    int rounds = ws->options.rounds, c0 = 3 * is->con0;
    double *l = ws->scratch->l_work;
    for (int j = 0; j < 3 * problem.nc; j++) l[j] = l_bar ? l_bar[c0 + j] : 0;
    return ti_staggered_vjp(ws->staggered, &problem, rounds, ti_frame_rounds(to->f, rounds, to->island, to->phase),
                            v_bar + is->v0, l, reverse_stage, to);
}

/* ---- recovery ---- */

/* Where the velocities of body b begin: in arrays of the frame, or of the model. */
static int first_of(const tribo_ws *ws, int body, bool by_model) {
    int t = ws->model->body[body].tree;
    return by_model ? ws->model->tree[t].v : ws->at_v[ws->blk_at[t]];
}

/* J_bar of row r of contact i += s x, x of the frame or of the model. */
static void add_row_bar(tribo_ws *ws, const ti_frame *f, int i, int r, double s, const double *x, bool by_model) {
    const ti_con *c = &f->con[i];
    for (int side = 0; side < 2; side++) {
        const double *J = ti_frame_rows(ws, f, i, side);
        if (!J) continue;
        int body = side ? c->b : c->a;
        int w = ws->width[ti_blk_of_body(ws, body)];
        double *J_bar = ws->scratch->J_bar + (J - ws->J) + w * r;
        const double *from = x + first_of(ws, body, by_model);
        for (int j = 0; j < w; j++) J_bar[j] += s * from[j];
    }
}

/* x, of the frame or of the model, += s J' of row r of contact i. */
static void add_row(const tribo_ws *ws, const ti_frame *f, int i, int r, double s, double *x, bool by_model) {
    const ti_con *c = &f->con[i];
    for (int side = 0; side < 2; side++) {
        const double *J = ti_frame_rows(ws, f, i, side);
        if (!J) continue;
        int body = side ? c->b : c->a;
        int w = ws->width[ti_blk_of_body(ws, body)];
        double *to = x + first_of(ws, body, by_model);
        for (int j = 0; j < w; j++) to[j] += s * J[w * r + j];
    }
}

/* ---- displacements ---- */

/* W_bar (nv of the frame) of a displacement W of which D has the share `pace`, and what that does to the references, 3
 * a contact, and to the inertia of the body that moves most. docs/math.md eq. (115). */
static void reverse_displace(tribo_ws *ws, const ti_frame *f, int k, ti_phase phase, double *ref_bar, double *W_bar) {
    const ti_island *is = &f->island[k];
    const double *W = f->phase[phase].v[TI_SOLVED];
    double share = is->pace[phase], share_bar = 0;
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++) {
        const double *D_bar = ws->scratch->D_bar + ws->model->tree[f->blk_tree[b]].v;
        for (int j = 0, at = ws->at_v[b]; j < ws->width[b]; j++, at++)
            W_bar[at] = share * D_bar[j], share_bar += D_bar[j] * W[at];
    }
    if (!(share < 1)) return;
    ti_pace pace = ti_pace_of(ws, f, k, phase);
    for (int i = is->con0; i < is->con0 + is->ncon; i++)
        for (int r = 0; r < 3; r++) ref_bar[3 * i + r] += share_bar / pace.most * ti_pace_ref(ws, &pace, phase, i, r);
    double square_bar = -share_bar * share / (2 * pace.most * pace.most);
    int at = ws->at_v[pace.blk];
    ti_motion_moved_vjp(&ws->motion, f->blk_tree[pace.blk], square_bar, W + at, W_bar + at, &ws->scratch->motion_bar);
}

/* Room for the cotangents of all references of an island, 3 a contact, which are 0: free until tangents. */
static double *references_bar(tribo_ws *ws, const ti_island *is) {
    double *bar = ws->scratch->lambda_sum[1];
    memset(bar + 3 * is->con0, 0, 3 * sizeof(double) * (size_t)is->ncon);
    return bar;
}

/* Of how deep its load would press contact i. */
static void reverse_pressed(tribo_ws *ws, const ti_frame *f, int i, const double *p, double bar) {
    ws->scratch->asked_bar[3 * i + 2] += bar * ti_frame_pressed(ws, f, i, p);
    ws->scratch->R_bar[i] += bar * ws->options.dt * f->phase[TI_HOLD].lambda[TI_SOLVED][3 * i + 2];
}

/* D_bar becomes that of the displacement before recovery. */
static tribo_status reverse_recovery(tribo_ws *ws, const ti_frame *f, int k, const double *p) {
    ti_scratch *s = ws->scratch;
    const ti_island *is = &f->island[k];
    double *apart_bar = references_bar(ws, is), *W_bar = s->rebound_bar;
    reverse_displace(ws, f, k, TI_RECOVER, apart_bar, W_bar);
    phase_bar to = {ws, f, k, TI_RECOVER, ws->zero, NULL, NULL, apart_bar};
    tribo_status status = reverse_phase(&to, W_bar, NULL);
    if (status < 0) return status;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        if (ti_con_holds(&f->con[i])) ti_closure_apart_vjp(ws, &f->con[i], is->bare, apart_bar + 3 * i);
        double bar = apart_bar[3 * i + 2];
        if (bar == 0) continue;
        ti_overlap o = ti_frame_overlap(ws, f, k, i, p);
        double end_bar = bar * o.ref_gap;
        s->gap_bar[i] += end_bar + bar * o.ref_before;
        if (f->con[i].sunk) reverse_pressed(ws, f, i, p, end_bar);
        add_row_bar(ws, f, i, 2, end_bar, ws->D0, true), add_row(ws, f, i, 2, end_bar, s->D_bar, true);
        s->beta_bar[i] += bar * o.ref_beta, s->slop_bar[i] += bar * o.ref_slop;
    }
    return TRIBO_OK;
}

/* ---- impacts ---- */

/* Of the displacement that gives impacts their own times: the cotangents of what it was posed with, in give_bar. */
static tribo_status reverse_timing(tribo_ws *ws, const ti_frame *f, int k) {
    ti_scratch *s = ws->scratch;
    const ti_island *is = &f->island[k];
    memset(s->give_bar + is->con0, 0, sizeof(double) * (size_t)is->ncon);
    if (is->phase[TI_TIMING].npoint == 0) return TRIBO_OK;
    double *ref_bar = references_bar(ws, is);
    reverse_displace(ws, f, k, TI_TIMING, ref_bar, s->hit_bar);
    for (int i = is->con0; i < is->con0 + is->ncon; i++) s->give_bar[i] = ref_bar[3 * i + 2];
    phase_bar to = {ws, f, k, TI_TIMING, ws->zero, NULL, s->give_bar, NULL};
    return reverse_phase(&to, s->hit_bar, NULL);
}

/* A bounce's share in that: ref = (tau - time) jump. */
static void reverse_own_time(tribo_ws *ws, const ti_frame *f, int k, int i, double *time_bar) {
    ti_scratch *s = ws->scratch;
    const double *before = f->phase[TI_HOLD].v[TI_SOLVED];
    int r = ws->root[ws->blk_a[i]];
    double jump = ti_impact_jump(ws, f, i), late = f->con[i].tau - ws->time[f->island[k].blk0 + r];
    double jump_bar = late * s->give_bar[i];
    s->tau_bar[i] += s->give_bar[i] * jump, time_bar[r] -= s->give_bar[i] * jump;
    add_row(ws, f, i, 2, jump_bar, s->hit_bar, false), add_row(ws, f, i, 2, -jump_bar, s->hold_bar, false);
    add_row_bar(ws, f, i, 2, jump_bar, f->v, false), add_row_bar(ws, f, i, 2, -jump_bar, before, false);
}

/* Cotangents of an island's impact on their way, in scratch: of the velocity after it (hit_bar), before (hold_bar); of
 * the impulses of impact and rebound together (l_bar); of the times (tau_bar). */
static void reverse_times(tribo_ws *ws, const ti_frame *f, int k) {
    ti_scratch *s = ws->scratch;
    const ti_island *is = &f->island[k];
    const double *before = f->phase[TI_HOLD].v[TI_SOLVED];
    double *time_bar = s->rebound_bar; /* (nblk), by group */
    ti_impact_times(ws, f, k);
    memset(time_bar, 0, sizeof(double) * (size_t)is->nblk);
    for (int b = 0; b < is->nblk; b++) {
        int blk = is->blk0 + b, of = ws->model->tree[f->blk_tree[blk]].v;
        double t = ws->time[blk];
        for (int j = 0, at = ws->at_v[blk]; j < ws->width[blk]; j++, at++) {
            double D_bar = s->D_bar[of + j];
            s->hit_bar[at] = s->V_bar[of + j] + (ws->options.dt - t) * D_bar;
            s->hold_bar[at] = t * D_bar;
            time_bar[ws->root[b]] -= D_bar * (f->v[at] - before[at]);
        }
    }
    int hits = is->con0 + is->nhold, end = is->con0 + is->ncon;
    memset(s->tau_bar + is->con0, 0, sizeof(double) * (size_t)is->ncon);
    memcpy(s->l_bar + 3 * is->con0, s->asked_bar + 3 * is->con0, 3 * sizeof(double) * (size_t)is->ncon);
    for (int i = hits; i < end; i++)
        if (s->give_bar[i] != 0) reverse_own_time(ws, f, k, i, time_bar);
    for (int i = hits; i < end; i++) {
        int r = ws->root[ws->blk_a[i]];
        double l = ti_impact_push(ws, f, is, i);
        if (!(l > 0)) continue;
        s->tau_bar[i] += time_bar[r] * l / ws->weight[r];
        s->l_bar[3 * i + 2] += time_bar[r] * (f->con[i].tau - ws->time[is->blk0 + r]) / ws->weight[r];
    }
}

/* late_bar of a contact that the forces of the step part: J (v_- - v). */
static void reverse_parted(tribo_ws *ws, const ti_frame *f, int k, int i, double late_bar) {
    ti_scratch *s = ws->scratch;
    if (late_bar == 0 || !ti_impact_parted(ws, f, k, i)) return;
    add_row(ws, f, i, 2, late_bar, s->hold_bar, false), add_row(ws, f, i, 2, -late_bar, s->now_bar, false);
    add_row_bar(ws, f, i, 2, late_bar, f->phase[TI_HOLD].v[TI_SOLVED], false);
    add_row_bar(ws, f, i, 2, -late_bar, ws->vnow, false);
}

/* A share of the rebound below one is the root of its work: docs/math.md eq. (113). */
static void reverse_share(tribo_ws *ws, const ti_frame *f, int k, double *late_bar) {
    ti_scratch *s = ws->scratch;
    const ti_island *is = &f->island[k];
    const ti_phase_data *hit = &f->phase[TI_IMPACT], *back = &f->phase[TI_REBOUND];
    double share_bar = 0, slope;
    if (!(is->share > 0 && is->share < 1)) return;
    for (int j = is->v0; j < is->v0 + is->nv; j++)
        share_bar += s->hit_bar[j] * (back->v[TI_SOLVED][j] - hit->v[TI_SOLVED][j]);
    for (int i = is->con0; i < is->con0 + is->ncon; i++)
        for (int r = 0; r < 3; r++)
            share_bar += s->l_bar[3 * i + r] * (back->lambda[TI_SOLVED][3 * i + r] + (r == 2 ? ws->give[i] : 0));
    ti_impact_work(ws, f, k, is->share, &slope);
    double work_bar = -share_bar / slope;
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++) {
        int at = ws->at_v[b], tree = f->blk_tree[b];
        for (int side = 0; side < 2; side++) { /* the energy after, and before */
            double *v = ws->V, *Mv = ws->kick, *bar = (side ? s->now_bar : s->hit_bar) + at;
            double w = side ? -work_bar : work_bar;
            for (int j = 0; j < ws->width[b]; j++)
                v[j] = side ? ws->vnow[at + j] : ti_impact_velocity(f, is, is->share, at + j);
            ti_motion_times(&ws->motion, tree, v, Mv);
            for (int j = 0; j < ws->width[b]; j++) bar[j] += w * Mv[j];
            ti_motion_inertia_vjp(&ws->motion, tree, 0.5 * w, v, v, &s->motion_bar);
        }
    }
    for (int i = is->con0; i < is->con0 + is->ncon; i++)
        for (int r = 0; r < 3; r++) {
            double one_bar = work_bar * ti_impact_impulse(ws, f, is, i, r);
            s->l_bar[3 * i + r] += work_bar * ti_impact_late(ws, f, k, i, r);
            if (i >= is->con0 + is->nhold)
                late_bar[3 * i + r] += one_bar;
            else if (r == 2)
                reverse_parted(ws, f, k, i, one_bar);
        }
}

/* hit_bar, l_bar: from those of all that the impact does to those of its first phase alone. */
static tribo_status reverse_rebound(tribo_ws *ws, const ti_frame *f, int k, const double *p, double *late_bar) {
    ti_scratch *s = ws->scratch;
    const ti_island *is = &f->island[k];
    reverse_share(ws, f, k, late_bar);
    for (int j = is->v0; j < is->v0 + is->nv; j++)
        s->rebound_bar[j] = is->share * s->hit_bar[j], s->hit_bar[j] -= s->rebound_bar[j];
    double *l_bar = s->lambda_sum[0]; /* free until tangents */
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        for (int r = 0; r < 3; r++) l_bar[3 * i + r] = is->share * s->l_bar[3 * i + r];
        s->give_bar[i] = l_bar[3 * i + 2];
    }
    phase_bar to = {ws, f, k, TI_REBOUND, f->phase[TI_IMPACT].v[TI_SOLVED], s->hit_bar, NULL, late_bar};
    tribo_status status = reverse_phase(&to, s->rebound_bar, l_bar);
    if (status < 0) return status;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        double e = ti_con_number(ws->model, &f->con[i], p, TI_M_RESTITUTION);
        double l = f->phase[TI_IMPACT].lambda[TI_SOLVED][3 * i + 2];
        /* At e = 0 nothing is given and e moves nothing, as in a contact that stays: docs/gradients.md. */
        if (!(l > 0) || ws->give[i] == 0) continue;
        for (int j = 0; j < is->phase[TI_REBOUND].npoint; j++)
            s->give_bar[i] += ti_hit_velocity(ws, f, i, 2, s->y[TI_REBOUND][j]);
        s->l_bar[3 * i + 2] += e * s->give_bar[i];
        s->e_bar[i] += l * s->give_bar[i];
    }
    return TRIBO_OK;
}

/* x (nv of the frame) += s J_hit' of row r of contact i, and J_hit_bar of it += s v. */
static void add_hit(tribo_ws *ws, const ti_frame *f, int i, int r, double s, const double *v, double *x) {
    const ti_con *c = &f->con[i];
    for (int side = 0; side < 2; side++) {
        const double *J = ti_hit_rows(ws, f, i, side);
        if (!J) continue;
        int blk = ti_blk_of_body(ws, side ? c->b : c->a), w = ws->width[blk], at = ws->at_v[blk];
        double *J_bar = ws->scratch->J_hit_bar + (J - ws->J_hit) + w * r;
        for (int j = 0; j < w; j++) J_bar[j] += s * v[at + j], x[at + j] += s * J[w * r + j];
    }
}

/* From the cotangents of the references of a contact that bounces to its time and the motion before: by Newton's law
 * they have e times the approach besides. */
static void reverse_late(tribo_ws *ws, const ti_frame *f, int k, int i, const double *p, double *late_bar) {
    ti_scratch *s = ws->scratch;
    const ti_con *c = &f->con[i];
    const ti_island *is = &f->island[k];
    int host = ti_con_host(f, i);
    double come = ti_impact_approach(ws, f, k, i);
    if (is->impact == TRIBO_IMPACT_NEWTON && come < 0) {
        double come_bar = ti_con_number(ws->model, c, p, TI_M_RESTITUTION) * late_bar[2];
        s->e_bar[i] += late_bar[2] * come, late_bar[2] += come_bar;
        add_hit(ws, f, i, 2, come_bar, ws->vnow, s->now_bar);
    }
    double span = is->prompt ? 0 : ti_frame_impact(ws, &f->con[host]).span / ws->options.dt;
    for (int r = 0; r < 3; r++) {
        double a_bar = late_bar[r] * span;
        s->tau_bar[host] += late_bar[r] * ti_impact_acceleration(ws, f, k, i, r);
        if (a_bar == 0) continue;
        add_hit(ws, f, i, r, a_bar, f->phase[TI_HOLD].v[TI_SOLVED], s->hold_bar);
        add_hit(ws, f, i, r, -a_bar, ws->vnow, s->now_bar);
    }
}

/* From the cotangent of a contact's time to its gap and to the motion before. */
static void reverse_hit(tribo_ws *ws, const ti_frame *f, int k, int i) {
    ti_scratch *s = ws->scratch;
    const ti_con *c = &f->con[i];
    double tau_bar = s->tau_bar[i];
    if (ti_con_spins(c) || tau_bar == 0) return;
    ti_impact hit = ti_frame_impact(ws, c);
    double u_bar = tau_bar * hit.tau_u, a_bar = f->island[k].prompt ? 0 : tau_bar * hit.tau_a / ws->options.dt;
    s->gap_bar[i] += tau_bar * hit.tau_gap;
    add_row(ws, f, i, 2, u_bar + a_bar, s->hold_bar, false), add_row(ws, f, i, 2, -a_bar, s->now_bar, false);
    add_row_bar(ws, f, i, 2, u_bar + a_bar, f->phase[TI_HOLD].v[TI_SOLVED], false);
    add_row_bar(ws, f, i, 2, -a_bar, ws->vnow, false);
}

/* What the forces do after the impacts: hit_bar, from that of the next velocity to that of what the impacts leave. */
static tribo_status reverse_after(tribo_ws *ws, const ti_frame *f, int k) {
    ti_scratch *s = ws->scratch;
    const ti_island *is = &f->island[k];
    if (is->phase[TI_AFTER].npoint > 0) {
        size_t n = sizeof(double) * (size_t)is->nv;
        double *base_bar = s->rebound_bar;
        memset(base_bar + is->v0, 0, n);
        phase_bar to = {ws, f, k, TI_AFTER, ws->v_after, base_bar, s->ref_bar, NULL};
        tribo_status status = reverse_phase(&to, s->hit_bar, s->asked_bar);
        if (status < 0) return status;
        memcpy(s->hit_bar + is->v0, base_bar + is->v0, n);
    }
    for (int j = is->v0; j < is->v0 + is->nv; j++) s->rebound_bar[j] = s->hit_bar[j], s->now_bar[j] = -s->hit_bar[j];
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++) {
        int at = ws->at_v[b];
        ti_gyro_vjp(ws, f, k, b, s->hit_bar + at, s->rebound_bar + at, s->now_bar + at);
        ti_motion_free_vjp(&ws->motion, f->blk_tree[b], s->rebound_bar + at, &s->motion_bar);
    }
    return TRIBO_OK;
}

/* What is asked after the impacts of a contact that has landed, a tau / 2: to its time and acceleration. */
static void reverse_landing(tribo_ws *ws, const ti_frame *f, int k, int i) {
    ti_scratch *s = ws->scratch;
    const ti_con *c = &f->con[i];
    double bar = s->ref_bar[i], a_bar = f->island[k].prompt ? 0 : bar * c->tau / (2 * ws->options.dt);
    if (!c->lands || ti_con_spins(c) || bar == 0) return;
    s->ref_bar[i] = 0;
    s->tau_bar[i] += bar * c->an / 2;
    add_row(ws, f, i, 2, a_bar, s->hold_bar, false), add_row(ws, f, i, 2, -a_bar, s->now_bar, false);
    add_row_bar(ws, f, i, 2, a_bar, f->phase[TI_HOLD].v[TI_SOLVED], false);
    add_row_bar(ws, f, i, 2, -a_bar, ws->vnow, false);
}

/* now_bar to the states of the bodies. */
static void reverse_now(tribo_ws *ws, const ti_frame *f, const ti_island *is) {
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++)
        ti_motion_now_vjp(&ws->motion, f->blk_tree[b], ws->scratch->now_bar + ws->at_v[b], &ws->scratch->motion_bar);
}

/* hold_bar: of the velocity that the first phase leaves. */
static tribo_status reverse_impact(tribo_ws *ws, const ti_frame *f, int k, const double *p) {
    ti_scratch *s = ws->scratch;
    const ti_island *is = &f->island[k];
    tribo_status status = reverse_timing(ws, f, k);
    if (status < 0) return status;
    double *late_bar = references_bar(ws, is); /* of impact and rebound */
    reverse_times(ws, f, k);
    status = reverse_after(ws, f, k);
    if (status >= 0 && is->phase[TI_REBOUND].npoint > 0) status = reverse_rebound(ws, f, k, p, late_bar);
    if (status < 0) return status;
    phase_bar to = {ws, f, k, TI_IMPACT, ws->vnow, s->now_bar, NULL, late_bar};
    status = reverse_phase(&to, s->hit_bar, s->l_bar);
    int hits = is->con0 + is->nhold, end = is->con0 + is->ncon;
    for (int i = hits; status >= 0 && i < end; i++) reverse_landing(ws, f, k, i);
    for (int i = hits; status >= 0 && i < end; i++) reverse_late(ws, f, k, i, p, late_bar + 3 * i);
    if (status >= 0) ti_hits_vjp(ws, f, k);
    for (int i = is->con0; status >= 0 && i < end; i++) {
        if (i >= hits) {
            reverse_hit(ws, f, k, i);
            continue;
        }
        bool sunk = f->con[i].yields && ti_impact_reference(ws, f, k, i).ref_gap == 0;
        s->ref_bar[i] += sunk ? 0 : late_bar[3 * i + 2];
        reverse_parted(ws, f, k, i, late_bar[3 * i + 2]);
    }
    reverse_now(ws, f, is);
    return status;
}

/* ---- together ---- */

static tribo_status reverse_hold(tribo_ws *ws, const ti_frame *f, int k) {
    ti_scratch *s = ws->scratch;
    const ti_island *is = &f->island[k];
    double *free_bar = s->hit_bar;
    tribo_status status = TRIBO_OK;
    if (is->phase[TI_HOLD].npoint > 0) {
        memset(free_bar + is->v0, 0, sizeof(double) * (size_t)is->nv);
        phase_bar to = {ws, f, k, TI_HOLD, ws->vfree, free_bar, s->ref_bar, NULL};
        status = reverse_phase(&to, s->hold_bar, is->phase[TI_IMPACT].npoint > 0 ? NULL : s->asked_bar);
    } else
        free_bar = s->hold_bar;
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++)
        ti_motion_free_vjp(&ws->motion, f->blk_tree[b], free_bar + ws->at_v[b], &s->motion_bar);
    return status;
}

tribo_status ti_island_vjp(tribo_ws *ws, const ti_frame *f, int k, const double *p) {
    ti_scratch *s = ws->scratch;
    const ti_island *is = &f->island[k];
    bool impact = is->phase[TI_IMPACT].npoint > 0, recovery = is->phase[TI_RECOVER].npoint > 0;
    tribo_status status = TRIBO_OK;
    size_t rows = sizeof(double) * (size_t)ws->con_entries * (size_t)is->ncon;
    if (impact || recovery || ti_contact_uses_delassus(ws->contact))
        memset(s->J_bar + ws->con_entries * is->con0, 0, rows);
    if (impact) memset(s->J_hit_bar + ws->con_entries * is->con0, 0, rows);
    if (recovery) status = reverse_recovery(ws, f, k, p);
    if (status < 0) return status;
    if (impact)
        status = reverse_impact(ws, f, k, p);
    else
        for (int b = is->blk0; b < is->blk0 + is->nblk; b++)
            for (int j = 0, of = ws->model->tree[f->blk_tree[b]].v; j < ws->width[b]; j++, of++)
                s->hold_bar[ws->at_v[b] + j] = s->V_bar[of] + ws->options.dt * s->D_bar[of];
    return status < 0 ? status : reverse_hold(ws, f, k);
}
