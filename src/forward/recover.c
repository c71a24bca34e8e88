/* recover.c -- overlap taken back by a displacement of its own, which adds nothing to velocities. docs/math.md,
 * Recovery. */
#include "forward/frame.h"

/* Compliance of the recovery, in units of the heaviest body's: what is asked for is met to this share, and what cannot
 * be met is shared. */
static const double COMPLIANCE = 1e-6;
enum { NORM = 8 };

static double end_gap(const tribo_ws *ws, const ti_frame *f, int i) {
    const ti_con *c = &f->con[i];
    double gap = c->touch.gap;
    for (int side = 0; side < 2; side++) {
        const double *J = ti_frame_rows(ws, f, i, side);
        if (!J) continue;
        const double *D = ws->D0 + 6 * (side ? c->b : c->a);
        for (int j = 0; j < 6; j++) gap += J[12 + j] * D[j];
    }
    return gap;
}

ti_overlap ti_frame_overlap(const tribo_ws *ws, const ti_frame *f, int i, const double *p) {
    const int *at = ws->model->pair[f->con[i].pair].material;
    return ti_overlap_of(end_gap(ws, f, i), p[at[TI_M_BAUMGARTE]], p[at[TI_M_SLOP]],
                         ws->options.recovery * ws->options.dt);
}

/* Only what overlaps before the step, or is hit at another time than others in the same step, can end in overlap. */
static bool is_needed(const tribo_ws *ws, const ti_frame *f, const ti_island *is) {
    bool impact = is->phase[TI_IMPACT].npoint > 0;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        double gap = f->con[i].touch.gap;
        ti_grain grain = ti_frame_grain(ws, &f->con[i]);
        if (gap < -grain.skin || (is->bare && gap < 0)) return true;
        if (impact && end_gap(ws, f, i) < -1e-5 * grain.skin) return true;
    }
    return false;
}

static void pose(tribo_ws *ws, const ti_frame *f, const ti_island *is, const double *p) {
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        ws->ref_apart[3 * i] = ws->ref_apart[3 * i + 1] = 0;
        ws->ref_apart[3 * i + 2] = ti_frame_overlap(ws, f, i, p).ref;
    }
}

/* Root mean square of how far the matter of a body moves. */
static double moved(const ti_link *l, const double *w) {
    ti_vec lin = ti_load3(w), ang = ti_load3(w + 3);
    return sqrt(ti_dot(lin, lin) + ti_dot(ang, ti_mul(&l->I, ang)) / l->mass);
}

double ti_recovery_moves(const tribo_ws *ws, const ti_frame *f, int k, int *blk) {
    const ti_island *is = &f->island[k];
    double most = 0;
    *blk = is->blk0;
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++) {
        double one = moved(&ws->link[f->blk_body[b]], f->phase[TI_RECOVER].v[TI_SOLVED] + 6 * b);
        if (one > most) most = one, *blk = b;
    }
    return most;
}

/* What is asked of the contacts, but for that of others, at their most: a norm that is near the largest and smooth. */
static double asked_of(const tribo_ws *ws, const ti_island *is) {
    double most = 0, sum = 0;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) most = ti_max(most, -ws->ref_apart[3 * i + 2]);
    for (int i = is->con0; i < is->con0 + is->ncon && most > 0; i++) {
        double share = ti_max(-ws->ref_apart[3 * i + 2], 0) / most;
        sum += pow(share, NORM);
    }
    return most > 0 ? most * pow(sum, 1.0 / NORM) : 0;
}

ti_recovery_bound ti_recovery_limit(const tribo_ws *ws, const ti_frame *f, int k) {
    double asked = asked_of(ws, &f->island[k]), fastest = ws->options.recovery * ws->options.dt;
    return asked < fastest ? (ti_recovery_bound){asked, true} : (ti_recovery_bound){fastest, false};
}

double ti_recovery_limit_ref(const tribo_ws *ws, const ti_recovery_bound *bound, int i) {
    double ref = ws->ref_apart[3 * i + 2];
    return bound->asked && ref < 0 ? -pow(-ref / bound->value, NORM - 1) : 0;
}

/* One overlap of one body moves it by no more than that; those of a row of bodies add up, and a wedge turns them
 * aside. */
static double pace_of(const tribo_ws *ws, const ti_frame *f, int k) {
    int blk;
    double most = ti_recovery_moves(ws, f, k, &blk), bound = ti_recovery_limit(ws, f, k).value;
    return most > bound * (1 + 1e-6) ? bound / most : 1;
}

tribo_status ti_island_recover(tribo_ws *ws, ti_frame *f, int k, const double *p) {
    ti_island *is = &f->island[k];
    if (!is_needed(ws, f, is)) return TRIBO_OK;
    pose(ws, f, is, p);
    ti_contact_problem problem = ti_step_problem(ws, f, k, TI_RECOVER);
    ti_contact_solution s = ti_frame_solution(f, k, TI_RECOVER);
    tribo_status status = TRIBO_NOT_CONVERGED;
    for (double R = COMPLIANCE; status == TRIBO_NOT_CONVERGED && R < 0.1; R *= 100) /* the softer, the easier */
        status = ti_contact_solve_soft(ws->contact, &problem, R, false, &s);
    if (status != TRIBO_OK) return status;
    ti_phase_keep(is, TI_RECOVER, &s);
    is->pace = pace_of(ws, f, k);
    ti_step_displace(f, k, TI_RECOVER, is->pace, ws->D);
    return TRIBO_OK;
}

void ti_recover_pose(tribo_ws *ws, const ti_frame *f, int k, const double *p) {
    const ti_island *is = &f->island[k];
    if (is->phase[TI_RECOVER].npoint == 0) return;
    pose(ws, f, is, p);
    ti_step_displace(f, k, TI_RECOVER, is->pace, ws->D);
}
