/* gyro_diff.c -- the derivatives of what an impact makes of gyroscopic accelerations: docs/math.md eq. (470). */
#include "backward/backward.h"
#include "forward/gyro.h"

/* Of y . (w x I w): to w, and I_bar += s that. */
static ti_vec torque_vjp(const ti_mat *I, ti_vec w, ti_vec y, double s, double *M_bar) {
    ti_vec z = ti_cross(y, w);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) M_bar[TI_FREE_NV * (3 + r) + 3 + c] += s * ti_get(z, r) * ti_get(w, c);
    return ti_scale(s, ti_add(ti_cross(ti_mul(I, w), y), ti_mul(I, z)));
}

void ti_gyro_vjp(tribo_ws *ws, const ti_frame *f, int k, int b, double *hit_bar, double *free_bar, double *now_bar) {
    const ti_island *is = &f->island[k];
    ti_scratch *s = ws->scratch;
    double M_bar[TI_FREE_NV * TI_FREE_NV] = {0};
    ti_gyro g;
    if (!ti_gyro_of(ws, f, is, b, &g)) return;
    ti_vec out = ti_load3(hit_bar + 3), change = ti_sub(g.rate[1], g.rate[0]), spin_bar[2];
    ti_vec y = ti_tmul(&g.inverse, ti_scale(g.late, out));
    for (int n = 0; n < 2; n++) spin_bar[n] = torque_vjp(&g.I, g.spin[n], y, n ? -1 : 1, M_bar);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) M_bar[TI_FREE_NV * (3 + r) + 3 + c] -= ti_get(y, r) * ti_get(change, c);
    ti_motion_inertia_bar(&ws->motion, f->blk_tree[b], M_bar, &s->motion_bar);
    ti_add3(hit_bar + 3, spin_bar[1]);
    ti_add3(free_bar + 3, ti_scale(0.5, ti_add(spin_bar[0], spin_bar[1])));
    ti_add3(now_bar + 3, ti_scale(0.5, ti_sub(spin_bar[0], spin_bar[1])));
    double time_bar = g.late_time * ti_dot(out, change);
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        double l = ti_gyro_push(ws, f, is, b, i);
        if (!(l > 0)) continue;
        s->tau_bar[is->con0 + f->hit[i].by] += time_bar * l / g.weight;
        s->l_bar[3 * i + 2] += time_bar * (ti_hit_time(f, is, i) - g.time) / g.weight;
    }
}

/* d (w x I w), I_dot w given. */
static ti_vec torque_jvp(const ti_mat *I, ti_vec w, ti_vec w_dot, ti_vec Iw_dot) {
    return ti_add(ti_cross(w_dot, ti_mul(I, w)), ti_cross(w, ti_add(Iw_dot, ti_mul(I, w_dot))));
}

/* I_dot w */
static ti_vec inertia_jvp(const tribo_ws *ws, int tree, const ti_link_diff *diffs, ti_vec w) {
    double in[TI_FREE_NV] = {0}, out[TI_FREE_NV];
    ti_store3(in + 3, w);
    ti_motion_inertia_jvp(&ws->motion, tree, diffs, in, out);
    return ti_load3(out + 3);
}

void ti_gyro_jvp(const tribo_ws *ws, const ti_frame *f, const ti_gyro *g, int b, const ti_link_diff *diffs,
                 const double *hit_dot, const double *free_dot, const double *now_dot, double time_dot, double *to) {
    int tree = f->blk_tree[b];
    ti_vec hit = ti_load3(hit_dot + 3), next = ti_load3(free_dot + 3), now = ti_load3(now_dot + 3);
    ti_vec change = ti_sub(g->rate[1], g->rate[0]), spin_dot[2];
    spin_dot[0] = ti_scale(0.5, ti_add(now, next)), spin_dot[1] = ti_axpy(hit, 0.5, ti_sub(next, now));
    ti_vec sum = ti_scale(-1, inertia_jvp(ws, tree, diffs, change));
    for (int n = 0; n < 2; n++) {
        ti_vec Iw_dot = inertia_jvp(ws, tree, diffs, g->spin[n]);
        sum = ti_axpy(sum, n ? -1 : 1, torque_jvp(&g->I, g->spin[n], spin_dot[n], Iw_dot));
    }
    ti_store3(to, ti_axpy(ti_scale(g->late_time * time_dot, change), g->late, ti_mul(&g->inverse, sum)));
}
