/* times.c -- what impacts leave, and when they are in the mean. docs/math.md, Impacts. */
#include "forward/frame.h"

double ti_impact_velocity(const ti_frame *f, const ti_island *is, double share, int j) {
    double hit = f->phase[TI_IMPACT].v[TI_SOLVED][j];
    if (is->phase[TI_REBOUND].npoint == 0) return hit;
    return hit + share * (f->phase[TI_REBOUND].v[TI_SOLVED][j] - hit);
}

double ti_impact_impulse(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i, int r) {
    double l = f->phase[TI_IMPACT].lambda[TI_SOLVED][3 * i + r];
    if (is->phase[TI_REBOUND].npoint > 0)
        l += is->share * (f->phase[TI_REBOUND].lambda[TI_SOLVED][3 * i + r] + (r == 2 ? ws->give[i] : 0));
    return l;
}

double ti_impact_push(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i) {
    return ti_con_spins(&f->con[i]) ? 0 : ti_max(ti_impact_impulse(ws, f, is, i, 2), 0);
}

bool ti_impact_transmits(const ti_frame *f, const ti_island *is, int i) {
    for (ti_phase phase = TI_IMPACT; phase <= TI_AFTER; phase++)
        if (is->phase[phase].npoint > 0 && f->phase[phase].mode[i] != TRIBO_BREAK) return true;
    return false;
}

/* Bodies that push each other in the impact move as before until the mean time of the impacts among them: so none moves
 * by more than its velocities before and after, and what is held stays held. */
void ti_impact_times(tribo_ws *ws, const ti_frame *f, int k) {
    const ti_island *is = &f->island[k];
    int *root = ws->root;
    double *sum = ws->time + is->blk0, *weight = ws->weight;
    for (int b = 0; b < is->nblk; b++) root[b] = b, sum[b] = weight[b] = 0;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        if (ti_impact_transmits(f, is, i) && ws->blk_b[i] >= 0) ti_unite(root, ws->blk_a[i], ws->blk_b[i]);
    }
    for (int i = is->con0 + is->nhold; i < is->con0 + is->ncon; i++) {
        int r = ti_root(root, ws->blk_a[i]);
        double l = ti_impact_push(ws, f, is, i);
        if (l > 0) sum[r] += l * f->con[i].tau, weight[r] += l;
    }
    for (int b = 0; b < is->nblk; b++) {
        int r = ti_root(root, b); /* the lowest of its group: seen first */
        if (r == b)
            sum[b] = weight[b] > 0 ? sum[b] / weight[b] : 0;
        else
            sum[b] = sum[r], weight[b] = weight[r];
    }
}
