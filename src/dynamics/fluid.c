/* fluid.c -- see fluid.h. */
#include "dynamics/fluid.h"
#include "dynamics/link.h"
#include <string.h>

static const ti_spatial none = {{0, 0, 0}, {0, 0, 0}};

ti_fluid ti_fluid_of(const tribo_model *model, const double *p, double dt) {
    const double *own = p + model->fluid;
    return (ti_fluid){own[TI_P_DENSITY], own[TI_P_VISCOSITY], ti_load3(own + TI_P_WIND), dt};
}

static ti_spatial drag_of(const ti_motion *m, int body) {
    return ti_drag(&m->link[body], &m->model->box[body], &m->fluid);
}

/* The wrench on a link, about the world's origin. */
static ti_spatial wrench_of(const ti_link *l, ti_spatial drag) {
    return ti_sp_wrench(ti_mul(&l->R, drag.w), l->xc, drag.v);
}

/* ---- along a tree: docs/math.md eq. (504) ---- */

/* The wrench on all that each number of v carries. */
static void wrenches(const ti_motion *m, const ti_tree *tree, ti_spatial *on) {
    for (int d = tree->v; d < tree->v + tree->nv; d++) on[d] = none;
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) {
        int last = m->model->body[b].last;
        if (last >= 0) on[last] = ti_sp_axpy(on[last], 1, wrench_of(&m->link[b], drag_of(m, b)));
    }
    ti_loads_carried(m->model, tree->v, tree->nv, on);
}

void ti_fluid_forces(ti_motion *m, const ti_tree *tree, double *force) {
    wrenches(m, tree, m->load);
    for (int d = tree->v; d < tree->v + tree->nv; d++) force[d] += ti_sp_dot(m->axis[d], m->load[d]);
}

/* Of one link, which the cotangent of the wrench on it moves as the twist eta. */
static void link_vjp(const ti_motion *m, int body, const double *v, ti_spatial eta, ti_motion_bar *bar, double *v_bar,
                     double *p_bar) {
    const ti_link *l = &m->link[body];
    ti_link_diff own = {0}, *to = &bar->link[body];
    ti_spatial drag = drag_of(m, body), drag_bar = {ti_tmul(&l->R, eta.w), ti_sp_at(eta, l->xc)};
    to->xc = ti_add(to->xc, ti_cross(drag.v, eta.w));
    to->th = ti_add(to->th, ti_cross(drag.w, drag_bar.w));
    ti_drag_vjp(l, &m->model->box[body], &m->fluid, drag_bar, &own, p_bar ? p_bar + m->model->fluid : NULL);
    to->mass += own.mass, to->th = ti_add(to->th, own.th);
    ti_mat_add(&to->I, &own.I);
    ti_vec spin = ti_mul(&l->R, l->w), torque = ti_mul(&l->R, own.w);
    ti_spatial wrench = ti_sp_wrench(torque, l->xc, own.v); /* as (332) */
    to->xc = ti_add(to->xc, ti_cross(own.v, spin));
    to->th = ti_add(to->th, ti_tmul(&l->R, ti_cross(torque, spin)));
    for (int d = m->model->body[body].last; d >= 0; d = m->model->dof[d].before) {
        bar->axis[d] = ti_sp_axpy(bar->axis[d], v[d], wrench);
        if (v_bar) v_bar[d] += ti_sp_dot(m->axis[d], wrench);
    }
}

void ti_fluid_forces_vjp(const ti_motion *m, const ti_tree *tree, const double *v, const double *y, ti_motion_bar *bar,
                         double *v_bar, double *p_bar) {
    wrenches(m, tree, bar->carried);
    for (int d = tree->v; d < tree->v + tree->nv; d++) {
        int before = m->model->dof[d].before;
        bar->eta[d] = ti_sp_axpy(before >= 0 ? bar->eta[before] : none, y[d], m->axis[d]);
        bar->axis[d] = ti_sp_axpy(bar->axis[d], y[d], bar->carried[d]);
    }
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) {
        int last = m->model->body[b].last;
        if (last >= 0) link_vjp(m, b, v, bar->eta[last], bar, v_bar, p_bar);
    }
}

/* ---- Jacobians: docs/math.md eq. (507) ---- */

static ti_spatial apply(const ti_fluid_part *X, ti_spatial nu) {
    return (ti_spatial){ti_add(ti_mul(&X->torque_w, nu.w), ti_mul(&X->torque_v, nu.v)),
                        ti_add(ti_mul(&X->force_w, nu.w), ti_mul(&X->force_v, nu.v))};
}

static void add_part(ti_fluid_part *to, const ti_fluid_part *X) {
    ti_mat_add(&to->torque_w, &X->torque_w), ti_mat_add(&to->torque_v, &X->torque_v);
    ti_mat_add(&to->force_w, &X->force_w), ti_mat_add(&to->force_v, &X->force_v);
    to->wrench = ti_sp_axpy(to->wrench, 1, X->wrench);
}

/* Of one link, about the world's origin: its centre moves as v - x_c x w does. */
static ti_fluid_part part_of(const ti_motion *m, int body) {
    const ti_link *l = &m->link[body];
    ti_fluid_part X = {.wrench = wrench_of(l, drag_of(m, body))};
    ti_mat at = ti_skew(l->xc), less = ti_skew(ti_scale(-1, l->xc)), arm;
    ti_drag_jac(l, &m->model->box[body], &m->fluid, &X.force_v, &X.torque_w);
    X.force_w = ti_matmul(&X.force_v, &less), X.torque_v = ti_matmul(&at, &X.force_v);
    arm = ti_matmul(&at, &X.force_w);
    ti_mat_add(&X.torque_w, &arm);
    return X;
}

static void parts(const ti_motion *m, const ti_tree *tree, ti_tree_jac *j) {
    const ti_dof *dof = m->model->dof;
    for (int d = tree->v; d < tree->v + tree->nv; d++) {
        ti_spatial calm = {{0, 0, 0}, ti_scale(-1, m->fluid.wind)};
        j->part[d] = (ti_fluid_part){.wrench = none};
        j->blown[d] = ti_sp_axpy(dof[d].before >= 0 ? j->blown[dof[d].before] : calm, m->now[d], m->axis[d]);
    }
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) {
        int last = m->model->body[b].last;
        if (last < 0) continue;
        ti_fluid_part own = part_of(m, b);
        add_part(&j->part[last], &own);
    }
    for (int d = tree->v + tree->nv - 1; d >= tree->v; d--)
        if (dof[d].before >= 0) add_part(&j->part[dof[d].before], &j->part[d]);
}

/* A displacement by number d moves all that it carries, seen from where only the fluid and what d stands on have moved:
 * as (164). */
static ti_spatial turned_by(const ti_motion *m, const ti_tree_jac *j, int d) {
    int by = m->model->dof[d].carried_by;
    ti_spatial calm = {{0, 0, 0}, ti_scale(-1, m->fluid.wind)};
    return ti_sp_cross(by >= 0 ? j->blown[by] : calm, m->axis[d]);
}

void ti_fluid_forces_jac(const ti_motion *m, const ti_tree *tree, ti_tree_jac *j, double *by_q, double *by_v) {
    const ti_dof *dof = m->model->dof;
    int v0 = tree->v, w = tree->nv;
    parts(m, tree, j);
    memset(by_q, 0, sizeof *by_q * (size_t)w * (size_t)w), memset(by_v, 0, sizeof *by_v * (size_t)w * (size_t)w);
    for (int e = v0; e < v0 + w; e++) {
        const ti_fluid_part *X = &j->part[e];
        ti_spatial own = apply(X, turned_by(m, j, e)), moved = apply(X, m->axis[e]);
        ti_spatial fixed = ti_sp_axpy(own, 1, ti_sp_cross_force(m->axis[e], X->wrench));
        for (int d = e; d >= 0; d = dof[d].before) {
            by_q[(e - v0) * w + d - v0] = ti_sp_dot(m->axis[e], apply(X, turned_by(m, j, d)));
            by_v[(e - v0) * w + d - v0] = ti_sp_dot(m->axis[e], apply(X, m->axis[d]));
            if (d == e) continue;
            bool moves = dof[d].joint == dof[e].joint && ti_dof_moves(m, e, d);
            by_q[(d - v0) * w + e - v0] = ti_sp_dot(m->axis[d], moves ? own : fixed);
            by_v[(d - v0) * w + e - v0] = ti_sp_dot(m->axis[d], moved);
        }
    }
}

/* ---- a single free body ---- */

ti_vec ti_fluid_push(ti_motion *m, int body) {
    ti_link *l = &m->link[body];
    ti_spatial drag = drag_of(m, body);
    l->torque = ti_add(l->torque, drag.w);
    return ti_scale(1 / l->mass, drag.v);
}

void ti_fluid_push_vjp(const ti_motion *m, int body, ti_link_diff *to, ti_vec *weight_bar, double *f_bar,
                       double *p_bar) {
    const ti_link *l = &m->link[body];
    double own[TI_FREE_NV] = {0};
    ti_link_free_vjp(l, m->fluid.dt, to, weight_bar, own);
    for (int i = 0; f_bar && i < TI_FREE_NV; i++) f_bar[m->model->body[body].v + i] += own[i];
    ti_spatial drag = drag_of(m, body), drag_bar = {ti_load3(own + 3), ti_scale(1 / l->mass, *weight_bar)};
    to->mass -= ti_dot(drag.v, *weight_bar) / (l->mass * l->mass);
    ti_drag_vjp(l, &m->model->box[body], &m->fluid, drag_bar, to, p_bar ? p_bar + m->model->fluid : NULL);
}

ti_vec ti_fluid_push_jvp(const ti_motion *m, int body, const ti_link_diff *d, const double *p_dot, ti_vec *torque_dot) {
    const ti_link *l = &m->link[body];
    const double *fluid_dot = p_dot ? p_dot + m->model->fluid : NULL;
    ti_spatial drag = drag_of(m, body), dot = ti_drag_jvp(l, &m->model->box[body], &m->fluid, d, fluid_dot);
    *torque_dot = dot.w;
    return ti_scale(1 / l->mass, ti_axpy(dot.v, -d->mass / l->mass, drag.v));
}
