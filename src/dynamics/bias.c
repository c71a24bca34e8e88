/* bias.c -- see bias.h. One sum from the root to the leaves and one back, each of them linear in the bodies. */
#include "dynamics/bias.h"

static const ti_spatial none = {{0, 0, 0}, {0, 0, 0}};

int ti_dof_moved_by(const ti_motion *m, int d) {
    const ti_dof *dof = &m->model->dof[d];
    const ti_joint *j = &m->model->joint[dof->joint];
    if (j->kind == TI_JOINT_BALL) return j->v + 2;
    if (j->kind == TI_JOINT_FREE) return d < j->v + 3 ? -1 : j->v + TI_FREE_NV - 1;
    return dof->before;
}

int ti_dof_carried_by(const ti_motion *m, int d) {
    const ti_dof *dof = &m->model->dof[d];
    const ti_joint *j = &m->model->joint[dof->joint];
    if (j->kind == TI_JOINT_BALL) return m->model->dof[j->v].before;
    if (j->kind == TI_JOINT_FREE) return d < j->v + 3 ? -1 : j->v + 2;
    return dof->before;
}

static ti_spatial rate_of(const ti_motion *m, int d) {
    int by = ti_dof_carried_by(m, d);
    return by >= 0 ? ti_sp_cross(m->twist[by], m->axis[d]) : none;
}

/* Twists, and accelerations while v does not change. */
static void motions(ti_motion *m, const ti_tree *tree, const double *v) {
    for (int d = tree->v; d < tree->v + tree->nv; d++) {
        int before = m->model->dof[d].before;
        m->twist[d] = ti_sp_axpy(before >= 0 ? m->twist[before] : none, v[d], m->axis[d]);
        m->bias[d] = ti_sp_axpy(before >= 0 ? m->bias[before] : none, v[d], rate_of(m, d));
        m->load[d] = none;
    }
}

void ti_bias_forces(ti_motion *m, const ti_tree *tree, ti_vec gravity, const double *v, double *force) {
    const tribo_model *model = m->model;
    motions(m, tree, v);
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) {
        int last = model->body[b].last;
        if (last < 0) continue;
        const ti_spatial_inertia *I = &m->inertia[b];
        ti_spatial push = m->bias[last], nu = m->twist[last];
        push.v = ti_axpy(push.v, model->body[b].gravcomp - 1, gravity);
        ti_spatial f = ti_sp_axpy(ti_sp_times(I, push), 1, ti_sp_cross_force(nu, ti_sp_times(I, nu)));
        m->load[last] = ti_sp_axpy(m->load[last], 1, f);
    }
    for (int d = tree->v + tree->nv - 1; d >= tree->v; d--) {
        int before = model->dof[d].before;
        if (before >= 0) m->load[before] = ti_sp_axpy(m->load[before], 1, m->load[d]);
        force[d] = -ti_sp_dot(m->axis[d], m->load[d]);
    }
}

/* ---- reverse ---- */

/* eta: the twists that y makes, and the cotangents of twists and accelerations of the links, in bar. */
static void twists_bar(const ti_motion *m, const ti_tree *tree, const double *y, ti_motion_bar *bar) {
    const ti_dof *dof = m->model->dof;
    for (int d = tree->v; d < tree->v + tree->nv; d++) {
        bar->eta[d] = ti_sp_axpy(dof[d].before >= 0 ? bar->eta[dof[d].before] : none, y[d], m->axis[d]);
        bar->twist[d] = bar->bias[d] = none;
    }
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) {
        int last = m->model->body[b].last;
        if (last < 0) continue;
        const ti_spatial_inertia *I = &m->inertia[b];
        ti_spatial eta = bar->eta[last], nu = m->twist[last];
        ti_spatial nu_bar = ti_sp_times(I, ti_sp_cross(nu, eta));
        nu_bar = ti_sp_axpy(nu_bar, 1, ti_sp_cross_force(eta, ti_sp_times(I, nu)));
        bar->bias[last] = ti_sp_axpy(bar->bias[last], -1, ti_sp_times(I, eta));
        bar->twist[last] = ti_sp_axpy(bar->twist[last], 1, nu_bar);
    }
}

/* From the leaves to the root. axis_bar NULL = not asked for. */
static void sums_bar(const ti_motion *m, const ti_tree *tree, const double *v, ti_motion_bar *bar, ti_spatial *axis_bar,
                     double *v_bar) {
    for (int d = tree->v + tree->nv - 1; d >= tree->v; d--) {
        int before = m->model->dof[d].before, by = ti_dof_carried_by(m, d);
        ti_spatial G = bar->bias[d];
        if (by >= 0) {
            ti_spatial turned = ti_sp_cross_force(m->axis[d], G);
            bar->twist[by] = ti_sp_axpy(bar->twist[by], v[d], turned);
            v_bar[d] += ti_sp_dot(m->twist[by], turned);
            if (axis_bar) axis_bar[d] = ti_sp_axpy(axis_bar[d], -v[d], ti_sp_cross_force(m->twist[by], G));
        }
        v_bar[d] += ti_sp_dot(m->axis[d], bar->twist[d]);
        if (axis_bar) axis_bar[d] = ti_sp_axpy(axis_bar[d], v[d], bar->twist[d]);
        if (before < 0) continue;
        bar->twist[before] = ti_sp_axpy(bar->twist[before], 1, bar->twist[d]);
        bar->bias[before] = ti_sp_axpy(bar->bias[before], 1, G);
    }
}

void ti_bias_velocity_vjp(const ti_motion *m, const ti_tree *tree, const double *v, const double *y, ti_motion_bar *bar,
                          double *v_bar) {
    twists_bar(m, tree, y, bar);
    sums_bar(m, tree, v, bar, NULL, v_bar);
}

void ti_inertia_pair_vjp(const ti_motion *m, int body, double s, ti_spatial a, ti_spatial b, ti_motion_bar *bar) {
    const ti_link *l = &m->link[body];
    ti_link_diff *d = &bar->link[body];
    ti_vec va = ti_sp_at(a, l->xc), vb = ti_sp_at(b, l->xc), wa = ti_tmul(&l->R, a.w), wb = ti_tmul(&l->R, b.w);
    d->mass += s * ti_dot(va, vb);
    ti_outer_add(&d->I, s, wa, wb);
    d->xc = ti_axpy(d->xc, s * l->mass, ti_add(ti_cross(vb, a.w), ti_cross(va, b.w)));
    ti_vec Ia = ti_mul(&l->I, wa), Ib = ti_mul(&l->I, wb); /* wa = R'a: it turns the other way */
    d->th = ti_axpy(d->th, s, ti_add(ti_cross(Ib, wa), ti_cross(Ia, wb)));
}

void ti_bias_vjp(const ti_motion *m, const ti_tree *tree, ti_vec gravity, const double *v, const double *y,
                 ti_motion_bar *bar, double *v_bar, ti_vec *gravity_bar) {
    twists_bar(m, tree, y, bar);
    for (int d = tree->v; d < tree->v + tree->nv; d++) bar->axis[d] = ti_sp_axpy(bar->axis[d], -y[d], m->load[d]);
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) {
        int last = m->model->body[b].last;
        if (last < 0) continue;
        ti_spatial eta = bar->eta[last], push = m->bias[last], nu = m->twist[last];
        double weighs = 1 - m->model->body[b].gravcomp;
        push.v = ti_axpy(push.v, -weighs, gravity);
        ti_inertia_pair_vjp(m, b, -1, eta, push, bar), ti_inertia_pair_vjp(m, b, 1, ti_sp_cross(nu, eta), nu, bar);
        *gravity_bar = ti_axpy(*gravity_bar, weighs, ti_sp_times(&m->inertia[b], eta).v);
    }
    sums_bar(m, tree, v, bar, bar->axis, v_bar);
}
