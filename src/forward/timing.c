/* timing.c -- what the times of impacts make of the displacements. docs/math.md, Impacts. */
#include "forward/frame.h"

double ti_impact_jump(const tribo_ws *ws, const ti_frame *f, int i) {
    return ti_row_velocity(ws, f, i, 2, f->v) - ti_row_velocity(ws, f, i, 2, f->phase[TI_HOLD].v[TI_SOLVED]);
}

/* A displacement that moves each contact by what its own time makes of its jump beyond what the mean does, and those
 * that transmit by nothing: ref = (tau - time) jump. @return whether any body is hit more than once. */
static bool pose_timing(tribo_ws *ws, const ti_frame *f, int k, unsigned char *mode) {
    const ti_island *is = &f->island[k];
    bool several = false;
    ti_impact_times(ws, f, k);
    for (int b = 0; b < is->nblk; b++) ws->weight[b] = 0; /* whether a group was met */
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        double *ref = ws->ref_time + 3 * i;
        bool acts = ti_impact_transmits(f, is, i);
        ref[0] = ref[1] = ref[2] = 0;
        if (mode) mode[i] = acts ? TRIBO_SLIDE : TRIBO_BREAK;
        if (!acts || i < is->con0 + is->nhold || ti_con_spins(&f->con[i])) continue;
        int r = ws->root[ws->blk_a[i]];
        several = several || ws->weight[r] > 0;
        ws->weight[r] = 1;
        ref[2] = (f->con[i].tau - ws->time[is->blk0 + r]) * ti_impact_jump(ws, f, i);
    }
    return several;
}

void ti_timing_pose(tribo_ws *ws, const ti_frame *f, int k) {
    if (f->island[k].phase[TI_TIMING].npoint > 0) pose_timing(ws, f, k, NULL);
}

tribo_status ti_island_timing(tribo_ws *ws, ti_frame *f, int k) {
    ti_island *is = &f->island[k];
    if (is->phase[TI_IMPACT].npoint == 0) return TRIBO_OK;
    if (!pose_timing(ws, f, k, f->phase[TI_TIMING].mode)) return TRIBO_OK;
    ti_contact_problem problem = ti_step_problem(ws, f, k, TI_TIMING);
    ti_contact_solution s = ti_frame_solution(f, k, TI_TIMING);
    tribo_status status = ti_contact_solve_soft(ws->contact, &problem, 1e-6, true, &s);
    if (status != TRIBO_OK) return status < 0 ? status : TRIBO_OK; /* without it the mean serves */
    ti_phase_keep(is, TI_TIMING, &s);
    is->pace[TI_TIMING] = ti_pace_share(ws, f, k, TI_TIMING);
    /* bodies that push one another by several contacts may have no displacement that gives each its time */
    if (ti_goes_too_far(ws, f, k) || ti_impact_gains(ws, f, k))
        is->phase[TI_TIMING].npoint = 0, ws->info.ndegenerate++, ws->info.margin = 0;
    return TRIBO_OK;
}
