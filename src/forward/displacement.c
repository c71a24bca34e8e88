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
        const double *before = f->phase[TI_HOLD].v[TI_SOLVED];
        ti_impact_times(ws, f, i);
        for (int k = is->blk0; k < is->blk0 + is->nblk; k++) {
            double *to = D + trees[f->blk_tree[k]].v;
            for (int j = 0, at = ws->at_v[k]; j < ws->width[k]; j++, at++)
                to[j] -= ws->time[k] * (f->v[at] - before[at]);
        }
        if (is->phase[TI_TIMING].npoint > 0) ti_step_displace(ws, f, i, TI_TIMING, D);
    }
}
