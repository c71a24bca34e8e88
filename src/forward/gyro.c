/* gyro.c -- see gyro.h. */
#include "forward/gyro.h"
#include "dynamics/spin.h"

/* What turns by more in a step, before or after, is followed to no order in it. */
static const double TURN = 0.5;

double ti_gyro_push(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int b, int i) {
    int k = b - is->blk0;
    if (ws->blk_a[i] != k && ws->blk_b[i] != k) return 0;
    return ti_impact_push(ws, f, is, i);
}

bool ti_gyro_of(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int b, ti_gyro *g) {
    double sum = 0;
    *g = (ti_gyro){.weight = 0};
    if (!ti_tree_is_free(&ws->model->tree[f->blk_tree[b]])) return false;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        double l = ti_gyro_push(ws, f, is, b, i);
        if (l > 0) sum += l * ti_hit_time(f, is, i), g->weight += l;
    }
    if (!(g->weight > 0)) return false;
    g->time = sum / g->weight;
    g->late = is->prompt ? ws->options.dt : ws->options.dt / 2 - g->time, g->late_time = is->prompt ? 0 : -1;
    const double *M = ws->M + ws->at_M[b];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) g->I.m[r][c] = M[TI_FREE_NV * (3 + r) + 3 + c];
    int at = ws->at_v[b] + 3;
    ti_vec now = ti_load3(ws->vnow + at), next = ti_load3(ws->vfree + at), hit;
    hit = ti_vec3(ti_impact_velocity(f, is, is->share, at), ti_impact_velocity(f, is, is->share, at + 1),
                  ti_impact_velocity(f, is, is->share, at + 2));
    g->inverse = ti_inverse(&g->I);
    g->spin = ti_scale(0.5, ti_add(now, next)), g->after = ti_axpy(hit, 0.5, ti_sub(next, now));
    if (!(ws->options.dt * ti_max(ti_norm(g->spin), ti_norm(g->after)) < TURN)) return false;
    g->rate = ti_scale(-1, ti_mul(&g->inverse, ti_cross(g->spin, ti_mul(&g->I, g->spin))));
    if (!ti_spin_midpoint(&g->I, &g->inverse, ti_vec3(0, 0, 0), g->after, g->late, &hit)) return false;
    g->middle = ti_scale(0.5, ti_add(g->after, hit)), g->gain = ti_sub(hit, g->after);
    return true;
}
