/* sited.c -- see sited.h. */
#include "dynamics/sited.h"
#include "dynamics/bias.h"

/* The site, and what a unit of force does there: in its own axes, in the world's, about the world's origin. */
typedef struct pull_at {
    const ti_link *link; /* NULL = the world */
    const double *own;   /* the site's numbers */
    ti_vec x, pos, force, torque;
    ti_mat R, Q; /* of the link; of the site in the world */
    ti_spatial wrench;
} pull_at;

/* Gears of an actuator at a site: force, torque. */
static void gears(const ti_actuator *a, const double *p, ti_vec *force, ti_vec *torque) {
    const double *more = p + a->more;
    *force = (ti_vec){p[a->p + TI_P_GEAR], more[0], more[1]}, *torque = ti_load3(more + 2);
}

static pull_at pull_of(const ti_motion *m, const ti_actuator *a, const double *p) {
    static const ti_mat one = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    const ti_site *site = &m->model->site[a->site];
    pull_at s = {.link = site->body >= 0 ? &m->link[site->body] : NULL, .own = p + site->p};
    double quat[4];
    ti_vec force, torque;
    memcpy(quat, s.own + TI_P_SITE_QUAT, sizeof quat);
    ti_quat_normalise(quat);
    ti_mat turn = ti_quat_mat(quat);
    s.R = s.link ? s.link->R : one, s.Q = ti_matmul(&s.R, &turn), s.pos = ti_load3(s.own + TI_P_SITE_POS);
    s.x = ti_mul(&s.R, s.pos);
    if (s.link) s.x = ti_add(s.link->xo, s.x);
    gears(a, p, &force, &torque);
    s.force = ti_mul(&s.Q, force), s.torque = ti_mul(&s.Q, torque);
    s.wrench = ti_sp_wrench(s.torque, s.x, s.force);
    return s;
}

/* Of number d of v as the state has it: a free root turns about its origin. */
static ti_spatial axis_of(const ti_motion *m, int d) {
    const ti_joint *j = &m->model->joint[m->model->dof[d].joint];
    if (j->kind != TI_JOINT_FREE) return m->axis[d];
    const ti_link *l = &m->link[j->body];
    ti_vec zero = {0, 0, 0},
           a = d >= j->v + 3 ? ti_col(&l->R, d - j->v - 3) : (ti_vec){d == j->v, d == j->v + 1, d == j->v + 2};
    return d >= j->v + 3 ? (ti_spatial){a, ti_cross(l->xo, a)} : (ti_spatial){zero, a};
}

void ti_sited_arms(ti_motion *m, int i, const double *p) {
    const ti_actuator *a = &m->model->actuator[i];
    pull_at s = pull_of(m, a, p);
    for (int k = a->pull0; k < a->pull0 + a->npull; k++)
        m->arm[k] = ti_sp_dot(axis_of(m, m->model->pull[k].v), s.wrench);
}

/* eq. (337): the wrench turns with the body, and with it the axes that are carried. */
static void places_vjp(const ti_motion *m, const ti_actuator *a, const pull_at *s, const double *arm_bar,
                       double *q_bar) {
    const ti_pull *pull = m->model->pull + a->pull0;
    for (int d = 0; d < a->npull; d++) {
        ti_spatial turned = ti_sp_cross_force(axis_of(m, pull[d].v), s->wrench);
        for (int e = 0; e < a->npull; e++)
            if (pull[d].v > m->model->dof[pull[e].v].moved_by)
                q_bar[pull[d].v] += arm_bar[e] * ti_sp_dot(axis_of(m, pull[e].v), turned);
    }
}

void ti_sited_arms_vjp(const ti_motion *m, int i, const double *p, const double *arm_bar, double *q_bar,
                       double *p_bar) {
    const ti_actuator *a = &m->model->actuator[i];
    pull_at s = pull_of(m, a, p);
    places_vjp(m, a, &s, arm_bar, q_bar);
    if (!p_bar) return;
    ti_spatial eta = {{0, 0, 0}, {0, 0, 0}}; /* the twist that the cotangents make of the arms */
    for (int k = 0; k < a->npull; k++) eta = ti_sp_axpy(eta, arm_bar[k], axis_of(m, m->model->pull[a->pull0 + k].v));
    ti_vec v = ti_sp_at(eta, s.x), by_force = ti_tmul(&s.Q, v), by_torque = ti_tmul(&s.Q, eta.w);
    double *more = p_bar + a->more, *site = p_bar + m->model->site[a->site].p;
    p_bar[a->p + TI_P_GEAR] += by_force.x, more[0] += by_force.y, more[1] += by_force.z;
    ti_add3(more + 2, by_torque);
    ti_vec turn = ti_add(ti_cross(s.force, v), ti_cross(s.torque, eta.w));
    ti_add3(site + TI_P_SITE_POS, ti_tmul(&s.R, ti_cross(s.force, eta.w)));
    ti_quat_turn_vjp(s.own + TI_P_SITE_QUAT, ti_tmul(&s.R, turn), site + TI_P_SITE_QUAT);
}
