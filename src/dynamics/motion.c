/* motion.c -- see motion.h; the reverse and the forward tangent of each function stand below it. A tree is one free
 * body, whose velocity is that of its centre of mass and its spin: its M is block-diagonal. */
#include "dynamics/motion.h"
#include <string.h>

enum { WIDTH = TI_FREE_NV };

static const ti_link *root(const ti_motion *m, int t) {
    return &m->link[m->model->tree[t].body0];
}
static ti_link_diff *root_diff(const ti_motion *m, int t, ti_link_diff *diffs) {
    return &diffs[m->model->tree[t].body0];
}
static const ti_link_diff *root_dot(const ti_motion *m, int t, const ti_link_diff *diffs) {
    return &diffs[m->model->tree[t].body0];
}

/* ---- inertia ---- */

void ti_motion_inertia(const ti_motion *m, int t, double *M) {
    const ti_link *l = root(m, t);
    memset(M, 0, WIDTH * WIDTH * sizeof *M);
    for (int i = 0; i < 3; i++) {
        M[(WIDTH + 1) * i] = l->mass;
        for (int j = 0; j < 3; j++) M[WIDTH * (3 + i) + 3 + j] = l->I.m[i][j];
    }
}

void ti_motion_inertia_vjp(const ti_motion *m, int t, double s, const double *a, const double *b, ti_link_diff *diffs) {
    ti_link_diff *d = root_diff(m, t, diffs);
    d->mass += s * ti_dot(ti_load3(a), ti_load3(b));
    ti_outer_add(&d->I, s, ti_load3(a + 3), ti_load3(b + 3));
}

void ti_motion_inertia_bar(const ti_motion *m, int t, const double *M_bar, ti_link_diff *diffs) {
    ti_link_diff *d = root_diff(m, t, diffs);
    d->mass += M_bar[0] + M_bar[WIDTH + 1] + M_bar[2 * (WIDTH + 1)];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) d->I.m[r][c] += M_bar[WIDTH * (3 + r) + 3 + c];
}

void ti_motion_heft_vjp(const ti_motion *m, int t, double bar, ti_link_diff *diffs) {
    root_diff(m, t, diffs)->mass += bar / root(m, t)->mass;
}
double ti_motion_heft_jvp(const ti_motion *m, int t, const ti_link_diff *diffs) {
    return root_dot(m, t, diffs)->mass / root(m, t)->mass;
}

void ti_motion_inertia_jvp(const ti_motion *m, int t, const ti_link_diff *diffs, const double *in, double *out) {
    const ti_link_diff *d = root_dot(m, t, diffs);
    ti_store3(out, ti_scale(d->mass, ti_load3(in)));
    ti_store3(out + 3, ti_mul(&d->I, ti_load3(in + 3)));
}

void ti_motion_times(const ti_motion *m, int t, const double *in, double *out) {
    const ti_link *l = root(m, t);
    ti_store3(out, ti_scale(l->mass, ti_load3(in)));
    ti_store3(out + 3, ti_mul(&l->I, ti_load3(in + 3)));
}

void ti_motion_solve(const ti_motion *m, int t, const double *in, double *out) {
    const ti_link *l = root(m, t);
    ti_mat inv = ti_inverse(&l->I);
    ti_store3(out, ti_scale(1 / l->mass, ti_load3(in)));
    ti_store3(out + 3, ti_mul(&inv, ti_load3(in + 3)));
}

/* ---- velocities before the step and under its forces ---- */

void ti_motion_now(const ti_motion *m, int t, double *v) {
    const ti_link *l = root(m, t);
    ti_store3(v, l->v), ti_store3(v + 3, ti_link_spin(l));
}

void ti_motion_now_vjp(const ti_motion *m, int t, const double *bar, ti_link_diff *diffs) {
    ti_link_diff *d = root_diff(m, t, diffs);
    ti_vec *spin = ti_link_spin_diff(root(m, t), d);
    d->v = ti_add(d->v, ti_load3(bar)), *spin = ti_add(*spin, ti_load3(bar + 3));
}

void ti_motion_now_jvp(const ti_motion *m, int t, const ti_link_diff *diffs, double *v_dot) {
    ti_link_diff d = *root_dot(m, t, diffs);
    ti_store3(v_dot, d.v), ti_store3(v_dot + 3, *ti_link_spin_diff(root(m, t), &d));
}

void ti_motion_free(const ti_motion *m, int t, double *v) {
    const ti_link *l = root(m, t);
    ti_store3(v, l->vf), ti_store3(v + 3, l->wf);
}

void ti_motion_free_vjp(const ti_motion *m, int t, const double *bar, ti_link_diff *diffs) {
    ti_link_diff *d = root_diff(m, t, diffs);
    d->vf = ti_add(d->vf, ti_load3(bar)), d->wf = ti_add(d->wf, ti_load3(bar + 3));
}

void ti_motion_free_jvp(const ti_motion *m, int t, const ti_link_diff *diffs, double *v_dot) {
    const ti_link_diff *d = root_dot(m, t, diffs);
    ti_store3(v_dot, d->vf), ti_store3(v_dot + 3, d->wf);
}

/* ---- integration ---- */

void ti_motion_integrate(const ti_motion *m, int t, const double *D, const double *V, double *q, double *v) {
    const ti_tree *tree = &m->model->tree[t];
    ti_link_integrate(root(m, t), D, V, q + tree->q, v + tree->v);
}

void ti_motion_integrate_vjp(const ti_motion *m, int t, const double *D, const double *V, const double *qbar,
                             const double *vbar, ti_link_diff *diffs, double *D_bar, double *V_bar) {
    const ti_tree *tree = &m->model->tree[t];
    ti_link_diff *d = root_diff(m, t, diffs);
    memset(d, 0, sizeof *d);
    ti_link_integrate_vjp(root(m, t), D, V, qbar + tree->v, vbar + tree->v, d, D_bar, V_bar);
}

void ti_motion_integrate_jvp(const ti_motion *m, int t, const double *D, const double *V, const ti_link_diff *diffs,
                             const double *D_dot, const double *V_dot, double *qdot, double *vdot) {
    const ti_tree *tree = &m->model->tree[t];
    ti_link_integrate_jvp(root(m, t), D, V, root_dot(m, t, diffs), D_dot, V_dot, qdot + tree->v, vdot + tree->v);
}

/* ---- how far ---- */

double ti_motion_moved(const ti_motion *m, int t, const double *D) {
    const ti_link *l = root(m, t);
    ti_vec lin = ti_load3(D), ang = ti_load3(D + 3);
    return sqrt(ti_dot(lin, lin) + ti_dot(ang, ti_mul(&l->I, ang)) / l->mass);
}

void ti_motion_moved_vjp(const ti_motion *m, int t, double bar, const double *D, double *D_bar, ti_link_diff *diffs) {
    const ti_link *l = root(m, t);
    ti_link_diff *d = root_diff(m, t, diffs);
    ti_vec lin = ti_load3(D), ang = ti_load3(D + 3), turned = ti_mul(&l->I, ang);
    ti_add3(D_bar, ti_scale(2 * bar, lin));
    ti_add3(D_bar + 3, ti_scale(2 * bar / l->mass, turned));
    ti_outer_add(&d->I, bar / l->mass, ang, ang);
    d->mass -= bar * ti_dot(ang, turned) / (l->mass * l->mass);
}

double ti_motion_moved_jvp(const ti_motion *m, int t, const ti_link_diff *diffs, const double *D, const double *D_dot) {
    const ti_link *l = root(m, t);
    const ti_link_diff *d = root_dot(m, t, diffs);
    ti_vec lin = ti_load3(D), ang = ti_load3(D + 3), turned = ti_mul(&l->I, ang);
    return 2 * ti_dot(lin, ti_load3(D_dot)) + 2 * ti_dot(turned, ti_load3(D_dot + 3)) / l->mass +
           ti_dot(ang, ti_mul(&d->I, ang)) / l->mass - d->mass * ti_dot(ang, turned) / (l->mass * l->mass);
}
