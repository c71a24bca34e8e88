/* bias.c -- see bias.h. One sum from the root to the leaves and one back, each of them linear in the bodies. */
#include "dynamics/bias.h"
#include "dynamics/fours.h"

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

/* Accelerations less that of what is felt of weights. */
TI_INLINE ti_spatial_4 push_on(const ti_motion *m, const ti_four *four, const ti_vec *gravity) {
    const ti_body *body = m->model->body;
    const int *at = four->body;
    const vec4 weighs = {body[at[0]].gravcomp - 1, body[at[1]].gravcomp - 1, body[at[2]].gravcomp - 1,
                         body[at[3]].gravcomp - 1};
    ti_spatial_4 push = ti_4_spatial(m->bias, four->last);
    ti_vec_4 g = ti_4_all(*gravity);
    push.v = ti_4_axpy(&push.v, &weighs, &g);
    return push;
}

TI_CLONES static void forces(ti_motion *m, const ti_tree *tree, const ti_vec *g, const double *v, const double *a,
                             double *force) {
    const tribo_model *model = m->model;
    const ti_vec gravity = *g;
    if (a)
        motions(m, tree, v, a);
    else
        motions(m, tree, v, NULL); /* of steps: a loop without it */
    ti_four four;
    for (int b = tree->body0; ti_four_next(model, tree, &b, &four);) {
        const ti_inertia_4 I = ti_4_inertia(m->inertia, four.body);
        ti_spatial_4 push = push_on(m, &four, &gravity), nu = ti_4_spatial(m->twist, four.last);
        ti_spatial_4 change = ti_4_momentum(&I, &push), h = ti_4_momentum(&I, &nu);
        ti_spatial_4 turned = ti_4_sp_cross_force(&nu, &h), f = ti_4_sp_plus(&change, &turned);
        ti_4_add(&f, &four, m->load);
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

/* Torques by a spin that eta makes. */
TI_INLINE ti_vec_4 turn_of(const ti_inertia_4 *I, const ti_spatial_4 *eta, const ti_spatial_4 *nu,
                           const ti_vec *momentum, const int *at) {
    const vec4 two = {2, 2, 2, 2}, trace = I->I.m[0][0] + I->I.m[1][1] + I->I.m[2][2];
    ti_vec_4 h = ti_4_vec(&momentum[at[0]], &momentum[at[1]], &momentum[at[2]], &momentum[at[3]]);
    ti_vec_4 spun = ti_4_cross(&eta->w, &nu->w), lever = ti_4_cross(&I->h, &eta->w), moved = ti_4_cross(&nu->v, &lever);
    ti_vec_4 own = ti_4_mul(&I->I, &spun), pulled = ti_4_cross(&h, &eta->v), both = ti_4_plus(&own, &pulled);
    ti_vec_4 turn = ti_4_less(&moved, &both);
    turn = ti_4_times(&two, &turn);
    return ti_4_axpy(&turn, &trace, &spun);
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
    ti_four four;
    for (int b = tree->body0; ti_four_next(m->model, tree, &b, &four);) {
        const ti_inertia_4 I = ti_4_inertia(m->inertia, four.body);
        const ti_spatial_4 eta = ti_4_spatial(bar->eta, four.last), nu = ti_4_spatial(m->twist, four.last);
        ti_spatial_4 h = ti_4_momentum(&I, &eta);
        ti_vec_4 turn = turn_of(&I, &eta, &nu, bar->momentum, four.body);
        TI_UNROLL for (int k = 0; k < LANE; k++) {
            if (k >= four.n) break;
            ti_spatial *on = &bar->bias[four.last[k]];
            on->w = ti_sub(on->w, ti_4_lane(&h.w, k)), on->v = ti_sub(on->v, ti_4_lane(&h.v, k));
            ti_4_add_vec(&turn, k, &bar->twist[four.last[k]].w);
        }
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
    ti_four four;
    for (int b = tree->body0; ti_four_next(m->model, tree, &b, &four);) {
        const ti_inertia_4 I = ti_4_inertia(m->inertia, four.body);
        const ti_spatial_4 eta = ti_4_spatial(bar->eta, four.last), nu = ti_4_spatial(m->twist, four.last);
        const ti_spatial_4 push = push_on(m, &four, &gravity), turned = ti_4_sp_cross(&nu, &eta);
        ti_pairs_4 pairs = ti_4_pairs(m, bar, &four);
        ti_4_pair(-1, &eta, &push, &pairs), ti_4_pair(1, &turned, &nu, &pairs);
        ti_4_pairs_end(&pairs, &four, bar);
        const ti_spatial_4 h = ti_4_momentum(&I, &eta);
        TI_UNROLL for (int k = 0; k < LANE; k++) {
            if (k >= four.n) break;
            *gravity_bar = ti_axpy(*gravity_bar, 1 - m->model->body[four.body[k]].gravcomp, ti_4_lane(&h.v, k));
        }
    }
}

void ti_bias_vjp(const ti_motion *m, const ti_tree *tree, ti_vec gravity, const double *v, const double *y,
                 ti_motion_bar *bar, double *v_bar, ti_vec *gravity_bar) {
    ti_bias_velocity_vjp(m, tree, y, bar, v_bar);
    places_vjp(m, tree, gravity, v, y, bar, gravity_bar);
}
