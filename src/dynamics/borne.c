/* borne.c -- see borne.h. */
#include "dynamics/borne.h"
#include "base/base.h"

static const ti_spatial none = {{0, 0, 0}, {0, 0, 0}};

static ti_vec lift_of(const ti_motion *m, int body, ti_vec gravity) {
    return ti_scale(-m->model->body[body].gravcomp * m->link[body].mass, gravity);
}

/* What is carried of all that each number of v carries, as wrenches. */
static void lifts(const ti_motion *m, int body0, int nbody, int v0, int nv, ti_vec gravity, ti_spatial *on) {
    for (int d = v0; d < v0 + nv; d++) on[d] = none;
    for (int b = body0; b < body0 + nbody; b++) {
        int last = m->model->body[b].last;
        if (m->model->body[b].gravcomp == 0 || last < 0) continue;
        on[last] = ti_sp_axpy(on[last], 1, ti_sp_wrench(none.w, m->link[b].xc, lift_of(m, b, gravity)));
    }
    ti_loads_carried(m->model, v0, nv, on);
}

void ti_borne_cut(ti_motion *m, const double *p) {
    const tribo_model *model = m->model;
    if (model->nborne) lifts(m, 0, model->size.nbody, 0, model->size.nv, ti_load3(p + TI_P_GRAVITY), m->load);
    for (int k = 0; k < model->ncap; k++) {
        const ti_cap *cap = &model->cap[k];
        double weight = cap->bears ? ti_sp_dot(m->axis[cap->v], m->load[cap->v]) : 0, all = m->driven[cap->v] + weight;
        int side = all < cap->range[0] ? -1 : all > cap->range[1] ? 1 : 0;
        m->capped[cap->v] = side != 0;
        m->nheld += side != 0;
        if (side) m->driven[cap->v] = cap->range[side > 0] - weight;
    }
}

bool ti_borne_shed(const ti_motion *m) {
    bool any = false;
    for (int k = 0; k < m->model->ncap; k++) any = any || (m->model->cap[k].bears && m->capped[m->model->cap[k].v]);
    return any;
}

void ti_borne_vjp(const ti_motion *m, const ti_tree *tree, ti_vec gravity, const double *y, ti_motion_bar *bar,
                  ti_vec *gravity_bar) {
    const tribo_model *model = m->model;
    ti_spatial *eta = bar->eta, *on = bar->carried;
    if (!model->nborne || !ti_borne_shed(m)) return;
    lifts(m, tree->body0, tree->nbody, tree->v, tree->nv, gravity, on);
    for (int d = tree->v; d < tree->v + tree->nv; d++) eta[d] = none;
    for (int k = 0; k < model->ncap; k++) {
        int d = model->cap[k].v;
        if (!model->cap[k].bears || !m->capped[d] || d < tree->v || d >= tree->v + tree->nv) continue;
        eta[d] = ti_sp_axpy(none, -y[d], m->axis[d]);
        bar->axis[d] = ti_sp_axpy(bar->axis[d], -y[d], on[d]);
    }
    for (int d = tree->v; d < tree->v + tree->nv; d++)
        if (model->dof[d].before >= 0) eta[d] = ti_sp_axpy(eta[d], 1, eta[model->dof[d].before]);
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) {
        const ti_body *body = &model->body[b];
        if (body->gravcomp == 0 || body->last < 0) continue;
        ti_vec at = ti_scale(-body->gravcomp, ti_sp_at(eta[body->last], m->link[b].xc));
        ti_link_diff *to = &bar->link[b];
        to->mass += ti_dot(at, gravity);
        to->xc = ti_add(to->xc, ti_cross(lift_of(m, b, gravity), eta[body->last].w));
        *gravity_bar = ti_axpy(*gravity_bar, m->link[b].mass, at);
    }
}
