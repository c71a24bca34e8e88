/* pace.c -- how far a displacement may move a body: no further than is asked of it. docs/math.md eq. (115). */
#include "forward/frame.h"

/* What is asked of row r of contact i. Overlaps ask, and what holds; what is apart only allows. */
static double asked_of(const tribo_ws *ws, ti_phase phase, int i, int r) {
    if (phase == TI_TIMING) return r < 2 ? 0 : ws->ref_time[3 * i + 2];
    double ref = ws->ref_apart[3 * i + r];
    return ws->what[i] == TI_CONSTRAINT_HELD ? ref : ti_min(ref, 0);
}

ti_pace ti_pace_of(const tribo_ws *ws, const ti_frame *f, int k, ti_phase phase) {
    const ti_island *is = &f->island[k];
    ti_pace pace = {.blk = is->blk0, .asked = true};
    double square = 0, fastest = ws->options.recovery * ws->options.dt;
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++) {
        double one = ti_motion_moved(&ws->motion, f->blk_tree[b], f->phase[phase].v[TI_SOLVED] + ws->at_v[b]);
        pace.second = ti_max(pace.second, one < pace.most ? one : pace.most);
        if (one > pace.most) pace.most = one, pace.blk = b;
    }
    for (int i = is->con0; i < is->con0 + is->ncon; i++)
        for (int r = 0; r < 3; r++) {
            double asked = asked_of(ws, phase, i, r);
            square += asked * asked;
        }
    pace.bound = sqrt(square);
    if (phase == TI_RECOVER && pace.bound > fastest) pace.bound = fastest, pace.asked = false;
    return pace;
}

double ti_pace_ref(const tribo_ws *ws, const ti_pace *pace, ti_phase phase, int i, int r) {
    return pace->asked && pace->bound > 0 ? asked_of(ws, phase, i, r) / pace->bound : 0;
}

double ti_pace_share(tribo_ws *ws, const ti_frame *f, int k, ti_phase phase) {
    ti_pace pace = ti_pace_of(ws, f, k, phase);
    if (!(pace.most > pace.bound * (1 + 1e-6))) return 1;
    double off = 1 - pace.second / pace.most;
    ws->info.margin = ti_min(ws->info.margin, off), ws->info.ndegenerate += off < 1e-9;
    return pace.bound / pace.most;
}
