/* dynamics.c -- see dynamics.h: a model is given parameters and a state, and cotangents come back to them. */
#include "dynamics/dynamics.h"
#include "dynamics/link.h"
#include "dynamics/motion.h"
#include "dynamics/tree.h"
#include "model/state.h"

static void carve(ti_arena *a, const tribo_model *m, tribo_dynamics *d) {
    ti_motion_carve_all(a, m, &d->at);
    ti_motion_bar_carve_all(a, m, &d->bar);
    ti_tree_jac_carve_all(a, m, &d->jac);
    TI_CARVE(a, d->p, m->size.np);
    TI_CARVE(a, d->x, m->size.nx);
    TI_CARVE(a, d->zero, m->size.nv);
    TI_CARVE(a, d->work, m->size.nv);
}

/* What the links have of parameters alone. */
static void take_matter(tribo_dynamics *d) {
    for (int b = 0; b < d->m->size.nbody; b++) {
        ti_link_matter(&d->at.link[b], d->p + d->m->body[b].p);
    }
    d->placed = d->summed = d->factored = false;
}

tribo_status tribo_dynamics_new(const tribo_model *m, const tribo_allocator *a, tribo_dynamics **out) {
    if (!m || !out) return TRIBO_E_ARG;
    ti_arena at = {0};
    tribo_dynamics *d, counted = {0};
    TI_CARVE(&at, d, 1);
    carve(&at, m, &counted);
    if (!ti_arena_take(&at, a)) return TRIBO_E_NOMEM;
    TI_CARVE(&at, d, 1);
    carve(&at, m, d);
    if (a) d->alloc = *a;
    d->bytes = at.used, d->m = m;
    d->at.q = d->x;
    tribo_model_params(m, d->p);
    take_matter(d);
    *out = d;
    return TRIBO_OK;
}

void tribo_dynamics_free(tribo_dynamics *d) {
    if (!d) return;
    tribo_allocator a = d->alloc;
    ti_free(&a, d, d->bytes);
}

tribo_status tribo_dynamics_set_params(tribo_dynamics *d, const double *p, tribo_diag *diag) {
    if (!d || !p) return ti_fail(diag, TRIBO_E_ARG, 0, "no workspace or no parameters");
    tribo_status status = tribo_params_check(d->m, p, diag);
    if (status != TRIBO_OK) return status;
    memcpy(d->p, p, sizeof *p * (size_t)d->m->size.np);
    take_matter(d);
    return TRIBO_OK;
}

/* ---- places ---- */

/* A free root turns about its origin. */
static void place_free(ti_motion *m, int b, const double *q) {
    ti_link *l = &m->link[b];
    memcpy(l->quat, q + 3, sizeof l->quat);
    ti_quat_normalise(l->quat);
    l->R = ti_quat_mat(l->quat);
    l->xo = ti_load3(q), l->xc = ti_add(l->xo, ti_mul(&l->R, l->com));
    ti_tree_root_axes(m, l, l->xo, m->model->body[b].v);
}

static bool has_directions(const tribo_model *m, const double *q) {
    for (int k = 0; k < ti_joints(m); k++) {
        int quat = ti_joint_of(m->joint[k].kind)->quat;
        if (quat < 0) continue;
        const double *e = q + m->joint[k].q + quat;
        if (!(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3] > 1e-24)) return false;
    }
    return true;
}

tribo_status tribo_dynamics_set_state(tribo_dynamics *d, const double *x) {
    static const ti_spatial none = {{0, 0, 0}, {0, 0, 0}};
    if (!d || !x) return TRIBO_E_ARG;
    if (!ti_finite(x, (size_t)d->m->size.nx)) return TRIBO_E_NONFINITE;
    if (!has_directions(d->m, x)) return TRIBO_E_ARG;
    memcpy(d->x, x, sizeof *x * (size_t)d->m->size.nx);
    for (int b = 0; b < d->m->size.nbody; b++) {
        const ti_body *body = &d->m->body[b];
        if (body->free >= 0)
            place_free(&d->at, b, d->x + body->q);
        else
            ti_tree_place(&d->at, b, d->x);
    }
    const double *v = ti_dynamics_v(d);
    for (int k = 0; k < d->m->size.nv; k++) {
        int before = d->m->dof[k].before;
        d->at.twist[k] = ti_sp_axpy(before >= 0 ? d->at.twist[before] : none, v[k], d->at.axis[k]);
    }
    d->placed = true, d->summed = d->factored = false;
    return TRIBO_OK;
}

void ti_dynamics_sum(tribo_dynamics *d) {
    if (d->summed) return;
    for (int t = 0; t < d->m->ntree; t++) {
        const ti_tree *tree = &d->m->tree[t];
        double *M = d->at.M + tree->M;
        ti_tree_composite(&d->at, tree, M);
        for (int k = 0; k < tree->nv; k++) {
            const ti_joint *j = &d->m->joint[d->m->dof[tree->v + k].joint];
            if (j->p >= 0) M[k * (tree->nv + 1)] += d->p[j->p + TI_P_ARMATURE];
        }
    }
    d->summed = true;
}

/* ---- cotangents ---- */

void ti_dynamics_begin(tribo_dynamics *d) {
    memset(d->bar.link, 0, sizeof *d->bar.link * (size_t)d->m->size.nbody);
    memset(d->bar.axis, 0, sizeof *d->bar.axis * (size_t)d->m->size.nv);
    memset(d->bar.M, 0, sizeof *d->bar.M * d->m->nM);
}

void ti_dynamics_twist_bar(tribo_dynamics *d, int body, const double *v, ti_spatial wrench, double *v_bar) {
    for (int k = body >= 0 ? d->m->body[body].last : -1; k >= 0; k = d->m->dof[k].before) {
        d->bar.axis[k] = ti_sp_axpy(d->bar.axis[k], v[k], wrench);
        if (v_bar) v_bar[k] += ti_sp_dot(d->at.axis[k], wrench);
    }
}

void ti_dynamics_end(tribo_dynamics *d, double *q_bar, double *p_bar) {
    for (int t = 0; t < d->m->ntree; t++) {
        const ti_tree *tree = &d->m->tree[t];
        if (q_bar) ti_tree_places_vjp(&d->at, tree, &d->bar, q_bar);
        if (p_bar) ti_tree_matter_vjp(&d->at, tree, &d->bar, (ti_vec){0, 0, 0}, p_bar);
    }
}
