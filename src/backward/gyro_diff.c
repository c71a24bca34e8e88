/* gyro_diff.c -- the derivatives of what an impact makes of gyroscopic accelerations: docs/math.md eq. (470). */
#include "backward/backward.h"
#include "dynamics/spin.h"
#include "forward/gyro.h"

/* Of y . (w x I w): to w, and I_bar += to the inertia. */
static ti_vec torque_vjp(const ti_mat *I, ti_vec w, ti_vec y, ti_mat *I_bar) {
    ti_vec z = ti_cross(y, w);
    ti_outer_add(I_bar, 1, z, w);
    return ti_add(ti_cross(ti_mul(I, w), y), ti_mul(I, z));
}

/* From the spin in the middle of the time after an impact to the one that it leaves; I_bar += of the inertia, *late_bar
 * of that time. */
static ti_vec middle_vjp(const ti_gyro *g, ti_vec middle_bar, ti_mat *I_bar, double *late_bar) {
    ti_vec m = g->middle, moved = ti_sub(g->after, m);
    ti_mat K = ti_gyro_matrix(&g->I, m, g->late, 1), Ki = ti_inverse(&K);
    ti_vec z = ti_tmul(&Ki, middle_bar), y = ti_scale(-0.5 * g->late, ti_cross(z, m));
    ti_mat own = {{{0}}};
    ti_outer_add(&own, 1, z, moved), ti_outer_add(&own, 1, y, m), ti_mat_add(I_bar, &own);
    *late_bar = -0.5 * ti_dot(z, ti_cross(m, ti_mul(&g->I, m)));
    return ti_mul(&g->I, z);
}

void ti_gyro_vjp(tribo_ws *ws, const ti_frame *f, int k, int b, double *hit_bar, double *free_bar, double *now_bar) {
    const ti_island *is = &f->island[k];
    ti_scratch *s = ws->scratch;
    double M_bar[TI_FREE_NV * TI_FREE_NV] = {0};
    ti_mat I_bar = {{{0}}};
    ti_gyro g;
    if (!ti_gyro_of(ws, f, is, b, &g)) return;
    ti_vec out = ti_load3(hit_bar + 3), y = ti_tmul(&g.inverse, ti_scale(g.late, out));
    ti_vec spin_bar = torque_vjp(&g.I, g.spin, y, &I_bar);
    ti_outer_add(&I_bar, 1, y, g.rate);
    double late_bar;
    ti_vec after_bar = ti_axpy(middle_vjp(&g, ti_scale(2, out), &I_bar, &late_bar), -2, out);
    for (int r = 0; r < 3; r++) ti_add3(M_bar + TI_FREE_NV * (3 + r) + 3, ti_load3(I_bar.m[r]));
    ti_motion_inertia_bar(&ws->motion, f->blk_tree[b], M_bar, &s->motion_bar);
    ti_add3(hit_bar + 3, after_bar);
    ti_add3(free_bar + 3, ti_scale(0.5, ti_add(spin_bar, after_bar)));
    ti_add3(now_bar + 3, ti_scale(0.5, ti_sub(spin_bar, after_bar)));
    double time_bar = g.late_time * (late_bar - ti_dot(out, g.rate));
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

/* The tangent of the spin in the middle of the time after an impact, after_dot that of the one that it leaves. */
static ti_vec middle_jvp(const tribo_ws *ws, const ti_gyro *g, int tree, const ti_link_diff *diffs, ti_vec after_dot,
                         double late_dot) {
    ti_vec m = g->middle, torque = ti_cross(m, ti_mul(&g->I, m));
    ti_vec e = ti_add(ti_mul(&g->I, after_dot), inertia_jvp(ws, tree, diffs, ti_sub(g->after, m)));
    e = ti_axpy(e, -0.5 * late_dot, torque);
    e = ti_axpy(e, -0.5 * g->late, ti_cross(m, inertia_jvp(ws, tree, diffs, m)));
    ti_mat K = ti_gyro_matrix(&g->I, m, g->late, 1), Ki = ti_inverse(&K);
    return ti_mul(&Ki, e);
}

void ti_gyro_jvp(const tribo_ws *ws, const ti_frame *f, const ti_gyro *g, int b, const ti_link_diff *diffs,
                 const double *hit_dot, const double *free_dot, const double *now_dot, double time_dot, double *to) {
    int tree = f->blk_tree[b];
    ti_vec hit = ti_load3(hit_dot + 3), next = ti_load3(free_dot + 3), now = ti_load3(now_dot + 3);
    ti_vec spin_dot = ti_scale(0.5, ti_add(now, next)), after_dot = ti_axpy(hit, 0.5, ti_sub(next, now));
    double late_dot = g->late_time * time_dot;
    ti_vec torque = torque_jvp(&g->I, g->spin, spin_dot, inertia_jvp(ws, tree, diffs, g->spin));
    ti_vec before = ti_mul(&g->inverse, ti_add(torque, inertia_jvp(ws, tree, diffs, g->rate)));
    ti_vec gain = ti_scale(2, ti_sub(middle_jvp(ws, g, tree, diffs, after_dot, late_dot), after_dot));
    ti_store3(to, ti_axpy(ti_axpy(gain, g->late, before), -late_dot, g->rate));
}
