/* phase.c -- one phase of an island: its contact problem, and how that is solved. */
#include "forward/frame.h"

/* Whether there are others than contacts, and limits, which are contacts without friction. */
static bool has_others(const tribo_ws *ws, const ti_island *is) {
    for (int i = is->con0; (ws->model->chains || ws->model->spins) && i < is->con0 + is->ncon; i++)
        if (ws->what[i] != TI_CONSTRAINT_CONTACT) return true;
    return false;
}

/* Whether some contact gives way, whatever others do. */
static bool is_soft(const tribo_ws *ws, const ti_island *is) {
    for (int i = is->con0; ws->model->soft && i < is->con0 + is->ncon; i++)
        if (ws->R[3 * i] > 0) return true;
    return false;
}

ti_contact_problem ti_step_problem(const tribo_ws *ws, const ti_frame *f, int k, ti_phase phase) {
    const ti_island *is = &f->island[k];
    int c = is->con0, b = is->blk0, v = is->v0;
    ti_contact_problem q = {.nc = phase == TI_HOLD ? is->nhold : is->ncon,
                            .nblk = is->nblk,
                            .chains = ws->model->chains,
                            .nv = is->nv,
                            .width = ws->width + b,
                            .voff = ws->voff + b,
                            .before = ws->model->chains ? ws->before + v : NULL,
                            .moff = ws->moff + b,
                            .M = ws->M + ws->at_M[b],
                            .heft = ws->heft + b,
                            .a = ws->blk_a + c,
                            .b = ws->blk_b + c,
                            .joff = ws->joff + c,
                            .J = ti_frame_jacobian(ws, c),
                            .vfree = ws->vfree + v,
                            .ref = ws->ref + 3 * c,
                            .mu = (phase == TI_IMPACT || phase == TI_REBOUND ? ws->mu_hit : ws->mu) + c,
                            .support = ws->model->chains ? ws->support + 2 * c : NULL,
                            .what = has_others(ws, is) ? ws->what + c : NULL,
                            .spins = ws->model->spins,
                            .noise = ws->covariance ? ws->noise + 2 * (size_t)c : NULL};
    q.spins = q.spins && q.what;
    if (ti_phase_by_law(phase) && is_soft(ws, is)) q.R = ws->R + 3 * c;
    if (phase < TI_TIMING && is->ncon > 0 && ws->light[c] > 0) q.light = ws->light + c;
    if (ti_phase_is_hit(phase)) q.J = ti_hit_jacobian(ws, c);
    if (phase == TI_IMPACT) q.vfree = ws->vnow + v, q.ref = ws->ref_hit + 3 * c;
    if (phase == TI_AFTER) q.vfree = ws->v_after + v;
    if (phase == TI_REBOUND) {
        q.kind = TI_CONTACT_REBOUND, q.vfree = ws->v_given + v, q.ref = ws->ref_hit + 3 * c;
        q.rebound = ws->give + c;
    }
    if (phase >= TI_TIMING) {
        q.kind = TI_CONTACT_PLAIN, q.vfree = q.mu = ws->zero;
        q.ref = (phase == TI_TIMING ? ws->ref_time : ws->ref_apart) + 3 * c;
    }
    return q;
}

/* By the given rounds of staggered projections. The implicit reverse and the forward tangents are those of the solution
 * which they approach: its points and modes are found first and kept. */
static tribo_status solve_by_rounds(tribo_ws *ws, const ti_frame *f, int k, ti_phase phase, ti_contact_solution *s,
                                    tribo_contact_info *info) {
    ti_contact_problem problem = ti_step_problem(ws, f, k, phase);
    ti_contact_options o = {.tol = ws->options.tol, .sharp = ws->sharp};
    unsigned char *mode = (unsigned char *)ws->scratch->mu_work;
    int rounds = ws->options.rounds;
    tribo_status status = ti_contact_solve(ws->contact, &problem, &o, s, info);
    if (status < 0) return status;
    if (s->npoint > 1) s->alone = 0; /* the answer is that of the rounds */
    bool canonical = info->canonical || ws->options.reverse == TRIBO_REVERSE_UNROLLED; /* which knows of no other */
    status = ti_staggered_solve(ws->staggered, &problem, rounds, ti_frame_rounds(f, rounds, k, phase), s->lambda, s->v,
                                mode);
    tribo_status measured = status < 0 ? status : ti_contact_measure(ws->contact, &problem, s, info);
    info->canonical = canonical;
    return measured < 0 ? measured : status;
}

static void add_info(tribo_contact_info *sum, const tribo_contact_info *one) {
    sum->iterations += one->iterations;
    sum->ndegenerate += one->ndegenerate;
    sum->residual = ti_max(sum->residual, one->residual);
    if (one->margin < sum->margin) sum->margin = one->margin;
    if (one->rung > sum->rung) sum->rung = one->rung;
    sum->canonical = sum->canonical && one->canonical;
}

void ti_phase_keep(ti_island *is, ti_phase phase, const ti_contact_solution *s) {
    ti_phase_points *points = &is->phase[phase];
    points->npoint = s->npoint;
    points->alone = s->npoint == 1 || phase == TI_HOLD || phase == TI_AFTER ? s->alone : 0;
    for (int j = 0; j < s->npoint; j++)
        points->weight[j] = s->point[j].weight, points->compliance[j] = s->point[j].compliance;
}

/* Whether overlaps ask for velocities, without which the island may be solved: ti_island_solve(). */
static bool overlaps_ask(const tribo_ws *ws, const ti_frame *f, const ti_island *is) {
    for (int i = is->con0; i < is->con0 + is->nhold; i++)
        if (ti_con_opens(&f->con[i]) && ws->ref[3 * i + 2] < 0) return true;
    return false;
}

tribo_status ti_phase_solve(tribo_ws *ws, ti_frame *f, int k, ti_phase phase, bool warm, tribo_contact_info *info) {
    ti_contact_problem problem = ti_step_problem(ws, f, k, phase);
    ti_contact_solution s = ti_frame_solution(f, k, phase);
    tribo_contact_info one;
    tribo_status status;
    if (ws->options.rounds > 0 && phase < TI_REBOUND) {
        status = solve_by_rounds(ws, f, k, phase, &s, &one);
    } else {
        ti_contact_options o = {.tol = ws->options.tol,
                                .warm = warm,
                                .near = f->island[k].near,
                                .off_path = f->island[k].off_path,
                                .sharp = ws->sharp};
        if (problem.chains && phase == TI_HOLD && !f->island[k].resumed)
            o.from = ws->vnow + f->island[k].v0; /* what is held hardly changes its velocity */
        /* Overlaps may ask for what no motion has, and no velocities at different times may go together. */
        o.brief =
            (phase != TI_REBOUND && overlaps_ask(ws, f, &f->island[k])) || (phase == TI_IMPACT && !f->island[k].prompt);
        status = ti_contact_solve(ws->contact, &problem, &o, &s, &one);
    }
    if (status < 0) return status;
    ti_phase_keep(&f->island[k], phase, &s);
    if (phase == TI_HOLD) {
        f->island[k].near = s.near;
        f->island[k].off_path = one.canonical ? 0 : f->island[k].off_path + 1;
    }
    add_info(info, &one);
    return status;
}
