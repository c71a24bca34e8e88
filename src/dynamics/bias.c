/* bias.c -- see bias.h. One sum from the root to the leaves and one back, each of them linear in the bodies. */
#include "dynamics/bias.h"
#include "base/clones.h"

static const ti_spatial none = {{0, 0, 0}, {0, 0, 0}};

TI_INLINE ti_spatial rate_of(const ti_motion *m, int d) {
    int by = m->model->dof[d].carried_by;
    return by >= 0 ? ti_sp_cross(m->twist[by], m->axis[d]) : none;
}

/* Twists, and accelerations while v changes by a, NULL = not at all. */
TI_INLINE void motions(ti_motion *m, const ti_tree *tree, const double *v, const double *a) {
    for (int d = tree->v; d < tree->v + tree->nv; d++) {
        int before = m->model->dof[d].before;
        m->twist[d] = ti_sp_axpy(before >= 0 ? m->twist[before] : none, v[d], m->axis[d]);
        m->bias[d] = ti_sp_axpy(before >= 0 ? m->bias[before] : none, v[d], rate_of(m, d));
        if (a) m->bias[d] = ti_sp_axpy(m->bias[d], a[d], m->axis[d]);
        m->load[d] = none;
    }
}

TI_CLONES static void forces(ti_motion *m, const ti_tree *tree, const ti_vec *g, const double *v, const double *a,
                             double *force) {
    const tribo_model *model = m->model;
    const ti_vec gravity = *g;
    if (a)
        motions(m, tree, v, a);
    else
        motions(m, tree, v, NULL); /* of steps: a loop without it */
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

void ti_bias_forces(ti_motion *m, const ti_tree *tree, ti_vec gravity, const double *v, const double *a,
                    double *force) {
    forces(m, tree, &gravity, v, a, force);
}

/* ---- reverse ---- */

/* Twists before and behind the joint of number d together. */
TI_INLINE ti_spatial around(const ti_motion *m, int d) {
    int by = m->model->dof[d].carried_by;
    ti_spatial behind = m->twist[m->model->dof[d].end];
    return by >= 0 ? ti_sp_axpy(behind, 1, m->twist[by]) : behind;
}

void ti_bias_velocity_prepare(const ti_motion *m, const ti_tree *tree, ti_motion_bar *bar) {
    for (int d = tree->v; d < tree->v + tree->nv; d++) bar->rate[d] = ti_sp_cross(around(m, d), m->axis[d]);
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++)
        if (m->model->body[b].last >= 0)
            bar->momentum[b] = ti_sp_times(&m->inertia[b], m->twist[m->model->body[b].last]).v;
}

/* The twists that y makes, eta; what these make of the twists and accelerations of all that each number carries, as
 * (166) and B_l of (165) have it, turned around; and by that of velocities. Of twists as if all that carries them did
 * not move: torques alone. */
TI_CLONES static void velocity_vjp(const ti_motion *m, const ti_tree *tree, const double *y, ti_motion_bar *bar,
                                   double *v_bar) {
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
        ti_vec spun = ti_cross(eta.w, nu.w), moved = ti_cross(nu.v, ti_cross(I->h, eta.w));
        ti_vec turn = ti_sub(moved, ti_add(ti_mul(&I->I, spun), ti_cross(bar->momentum[b], eta.v)));
        turn = ti_axpy(ti_scale(2, turn), I->I.m[0][0] + I->I.m[1][1] + I->I.m[2][2], spun);
        bar->bias[last] = ti_sp_axpy(bar->bias[last], -1, ti_sp_times(I, eta));
        bar->twist[last].w = ti_add(bar->twist[last].w, turn);
    }
    for (int d = tree->v + tree->nv - 1; d >= tree->v; d--) {
        int before = dof[d].before;
        v_bar[d] += ti_dot(m->axis[d].w, bar->twist[d].w) + ti_sp_dot(bar->rate[d], bar->bias[d]);
        if (before < 0) continue;
        bar->twist[before].w = ti_add(bar->twist[before].w, bar->twist[d].w);
        bar->bias[before] = ti_sp_axpy(bar->bias[before], 1, bar->bias[d]);
    }
}

void ti_bias_velocity_vjp(const ti_motion *m, const ti_tree *tree, const double *y, ti_motion_bar *bar, double *v_bar) {
    velocity_vjp(m, tree, y, bar, v_bar);
}

/* To axes, links and gravity, after that. */
TI_CLONES static void places_vjp(const ti_motion *m, const ti_tree *tree, ti_vec gravity, const double *v,
                                 const double *y, ti_motion_bar *bar, ti_vec *gravity_bar) {
    for (int d = tree->v; d < tree->v + tree->nv; d++) {
        ti_spatial by_speed = ti_sp_axpy(bar->twist[d], -1, ti_sp_cross_force(around(m, d), bar->bias[d]));
        bar->axis[d] = ti_sp_axpy(ti_sp_axpy(bar->axis[d], v[d], by_speed), -y[d], m->load[d]);
    }
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) {
        int last = m->model->body[b].last;
        if (last < 0) continue;
        ti_spatial eta = bar->eta[last], push = m->bias[last], nu = m->twist[last];
        double weighs = 1 - m->model->body[b].gravcomp;
        push.v = ti_axpy(push.v, -weighs, gravity);
        ti_inertia_pair_vjp(m, b, -1, eta, push, bar), ti_inertia_pair_vjp(m, b, 1, ti_sp_cross(nu, eta), nu, bar);
        *gravity_bar = ti_axpy(*gravity_bar, weighs, ti_sp_times(&m->inertia[b], eta).v);
    }
}

void ti_bias_vjp(const ti_motion *m, const ti_tree *tree, ti_vec gravity, const double *v, const double *y,
                 ti_motion_bar *bar, double *v_bar, ti_vec *gravity_bar) {
    ti_bias_velocity_vjp(m, tree, y, bar, v_bar);
    places_vjp(m, tree, gravity, v, y, bar, gravity_bar);
}
