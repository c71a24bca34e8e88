/* displacement.c -- how far the bodies of a step move. */
#include "forward/frame.h"

void ti_step_displace(const tribo_ws *ws, const ti_frame *f, int k, ti_phase phase, double *D) {
    const ti_island *is = &f->island[k];
    const double *v = f->phase[phase].v[TI_SOLVED];
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++) {
        double *to = D + ws->model->tree[f->blk_tree[b]].v;
        for (int j = 0; j < ws->width[b]; j++) to[j] += is->pace[phase] * v[ws->at_v[b] + j];
    }
}

double ti_carried(const tribo_ws *ws, const ti_frame *f, int b, int j) {
    int at = ws->at_v[b] + j;
    return ws->options.dt * f->v[at] - ws->time[b] * (f->v[at] - f->phase[TI_HOLD].v[TI_SOLVED][at]);
}

/* D = dt V; where impacts reach a body, the velocity without them until their time: docs/math.md eq. (16). */
void ti_step_displacement(tribo_ws *ws, const ti_frame *f, double *D) {
    const ti_tree *trees = ws->model->tree;
    double dt = ws->options.dt;
    for (int t = 0; t < ws->model->ntree; t++) {
        const double *v = ti_solved_velocity(ws, f, t);
        for (int j = 0; j < trees[t].nv; j++) D[trees[t].v + j] = dt * v[j];
    }
    for (int i = 0; i < f->nisland; i++) {
        const ti_island *is = &f->island[i];
        if (is->phase[TI_IMPACT].npoint == 0) continue;
        ti_impact_times(ws, f, i);
        for (int k = is->blk0; k < is->blk0 + is->nblk; k++) {
            double *to = D + trees[f->blk_tree[k]].v;
            for (int j = 0; j < ws->width[k]; j++) to[j] = ti_carried(ws, f, k, j);
        }
        if (is->phase[TI_TIMING].npoint > 0) ti_step_displace(ws, f, i, TI_TIMING, D);
    }
}

double ti_displaced(const ti_frame *f, const ti_island *is, int at) {
    double sum = 0;
    for (ti_phase phase = TI_TIMING; phase <= TI_RECOVER; phase++)
        if (is->phase[phase].npoint > 0) sum += is->pace[phase] * f->phase[phase].v[TI_SOLVED][at];
    return sum;
}

/* Of the contacts of block b of an island, before the step, where that is taken back. */
static double overlap_of(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int b) {
    double sum = 0;
    for (int i = is->con0; is->phase[TI_RECOVER].npoint > 0 && i < is->con0 + is->ncon; i++)
        if (ws->blk_a[i] == b || ws->blk_b[i] == b) sum += ti_con_depth(&f->con[i]);
    return sum;
}

bool ti_goes_too_far(tribo_ws *ws, const ti_frame *f, int k) {
    const ti_island *is = &f->island[k];
    double dt = ws->options.dt, *moved = ws->V, *forced = ws->kick;
    ti_impact_times(ws, f, k);
    for (int b = 0; b < is->nblk; b++) {
        int blk = is->blk0 + b, at = ws->at_v[blk], t = f->blk_tree[blk];
        for (int j = 0; j < ws->width[blk]; j++) {
            moved[j] = ti_carried(ws, f, blk, j) + ti_displaced(f, is, at + j);
            forced[j] = ws->vfree[at + j] - ws->vnow[at + j];
        }
        double speeds = ti_motion_moved(&ws->motion, t, ws->vnow + at) + ti_motion_moved(&ws->motion, t, f->v + at) +
                        ti_motion_moved(&ws->motion, t, forced);
        if (ti_motion_moved(&ws->motion, t, moved) > dt * speeds + overlap_of(ws, f, is, b)) return true;
    }
    return false;
}
