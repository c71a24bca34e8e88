/* spots.c -- where bodies, sites and the centre of mass are, how they move, their Jacobians; each reverse stands below
 * its function. docs/math.md eq. (331), (332). */
#include "dynamics/dynamics.h"

/* A frame fixed in a body. */
typedef struct spot {
    int body, p; /* p: of the site's numbers, -1 = the body's own frame */
    ti_vec pos;  /* in the body */
    double quat[4];
    ti_vec x; /* in the world */
    ti_mat R; /* of the body */
} spot;

static spot of_body(const tribo_dynamics *d, int body) {
    static const ti_mat one = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    const ti_link *l = body >= 0 ? &d->at.link[body] : NULL;
    spot s = {.body = body, .p = -1, .quat = {1, 0, 0, 0}, .R = l ? l->R : one};
    if (l) s.x = l->xo;
    return s;
}

static spot of_site(const tribo_dynamics *d, int site) {
    const ti_site *own = &d->m->site[site];
    spot s = of_body(d, own->body);
    s.p = own->p, s.pos = ti_load3(d->p + s.p + TI_P_SITE_POS);
    memcpy(s.quat, d->p + s.p + TI_P_SITE_QUAT, sizeof s.quat);
    ti_quat_normalise(s.quat);
    s.x = ti_add(s.x, ti_mul(&s.R, s.pos));
    return s;
}

/* False where there is no such thing, or nothing is known of where it is. */
static bool at_body(const tribo_dynamics *d, int body, spot *s) {
    if (!ti_dynamics_ready(d) || body < TRIBO_WORLD || body >= d->m->size.nbody) return false;
    *s = of_body(d, body);
    return true;
}
static bool at_site(const tribo_dynamics *d, int site, spot *s) {
    if (!ti_dynamics_ready(d) || site < 0 || site >= d->m->size.nsite) return false;
    *s = of_site(d, site);
    return true;
}

/* ---- poses ---- */

static tribo_status pose(const tribo_dynamics *d, const spot *s, double *pos, double *quat) {
    if (pos) ti_store3(pos, s->x);
    if (!quat) return TRIBO_OK;
    memcpy(quat, s->quat, sizeof s->quat);
    if (s->body < 0) return TRIBO_OK;
    ti_quat_mul(d->at.link[s->body].quat, quat, quat);
    ti_quat_normalise(quat);
    return TRIBO_OK;
}

/* Of the place in the world, and of a turn in the world's axes: to the body, and to the numbers of a site. */
static void place_bar(tribo_dynamics *d, const spot *s, ti_vec x_bar, ti_vec turn, double *p_bar) {
    ti_vec xb = ti_tmul(&s->R, x_bar), tb = ti_tmul(&s->R, turn);
    if (s->body >= 0) {
        ti_link_diff *to = &d->bar.link[s->body];
        to->xo = ti_add(to->xo, x_bar);
        to->th = ti_add(to->th, ti_add(ti_cross(s->pos, xb), tb));
    }
    if (s->p < 0 || !p_bar) return;
    ti_add3(p_bar + s->p + TI_P_SITE_POS, xb);
    ti_quat_turn_vjp(d->p + s->p + TI_P_SITE_QUAT, tb, p_bar + s->p + TI_P_SITE_QUAT);
}

static tribo_status pose_vjp(tribo_dynamics *d, const spot *s, const double *pos_bar, const double *turn_bar,
                             double *q_bar, double *p_bar) {
    ti_mat Q = ti_quat_mat(s->quat), R = ti_matmul(&s->R, &Q);
    ti_vec zero = {0, 0, 0};
    ti_dynamics_begin(d);
    place_bar(d, s, pos_bar ? ti_load3(pos_bar) : zero, turn_bar ? ti_mul(&R, ti_load3(turn_bar)) : zero, p_bar);
    ti_dynamics_end(d, q_bar, p_bar);
    return TRIBO_OK;
}

tribo_status tribo_body_pose(tribo_dynamics *d, int body, double *pos, double *quat) {
    spot s;
    return at_body(d, body, &s) ? pose(d, &s, pos, quat) : TRIBO_E_ARG;
}
tribo_status tribo_body_pose_vjp(tribo_dynamics *d, int body, const double *pos_bar, const double *turn_bar,
                                 double *q_bar, double *p_bar) {
    spot s;
    return at_body(d, body, &s) ? pose_vjp(d, &s, pos_bar, turn_bar, q_bar, p_bar) : TRIBO_E_ARG;
}

tribo_status tribo_site_pose(tribo_dynamics *d, int site, double *pos, double *quat) {
    spot s;
    return at_site(d, site, &s) ? pose(d, &s, pos, quat) : TRIBO_E_ARG;
}
tribo_status tribo_site_pose_vjp(tribo_dynamics *d, int site, const double *pos_bar, const double *turn_bar,
                                 double *q_bar, double *p_bar) {
    spot s;
    return at_site(d, site, &s) ? pose_vjp(d, &s, pos_bar, turn_bar, q_bar, p_bar) : TRIBO_E_ARG;
}

/* ---- velocities ---- */

static tribo_status velocity(const tribo_dynamics *d, const spot *s, double *twist) {
    if (!twist) return TRIBO_E_ARG;
    ti_spatial nu = {{0, 0, 0}, {0, 0, 0}};
    if (s->body >= 0) nu = d->at.twist[d->m->body[s->body].last];
    ti_store3(twist, ti_sp_at(nu, s->x)), ti_store3(twist + 3, nu.w);
    return TRIBO_OK;
}

static tribo_status velocity_vjp(tribo_dynamics *d, const spot *s, const double *twist_bar, double *q_bar,
                                 double *v_bar, double *p_bar) {
    if (!twist_bar) return TRIBO_E_ARG;
    if (s->body < 0) return TRIBO_OK;
    ti_vec force = ti_load3(twist_bar), torque = ti_load3(twist_bar + 3);
    ti_spatial nu = d->at.twist[d->m->body[s->body].last];
    ti_dynamics_begin(d);
    ti_dynamics_twist_bar(d, s->body, ti_dynamics_v(d), ti_sp_wrench(torque, s->x, force), v_bar);
    place_bar(d, s, ti_cross(force, nu.w), (ti_vec){0, 0, 0}, p_bar);
    ti_dynamics_end(d, q_bar, p_bar);
    return TRIBO_OK;
}

tribo_status tribo_body_velocity(tribo_dynamics *d, int body, double *twist) {
    spot s;
    return at_body(d, body, &s) ? velocity(d, &s, twist) : TRIBO_E_ARG;
}
tribo_status tribo_body_velocity_vjp(tribo_dynamics *d, int body, const double *twist_bar, double *q_bar, double *v_bar,
                                     double *p_bar) {
    spot s;
    return at_body(d, body, &s) ? velocity_vjp(d, &s, twist_bar, q_bar, v_bar, p_bar) : TRIBO_E_ARG;
}

tribo_status tribo_site_velocity(tribo_dynamics *d, int site, double *twist) {
    spot s;
    return at_site(d, site, &s) ? velocity(d, &s, twist) : TRIBO_E_ARG;
}
tribo_status tribo_site_velocity_vjp(tribo_dynamics *d, int site, const double *twist_bar, double *q_bar, double *v_bar,
                                     double *p_bar) {
    spot s;
    return at_site(d, site, &s) ? velocity_vjp(d, &s, twist_bar, q_bar, v_bar, p_bar) : TRIBO_E_ARG;
}

/* ---- Jacobians ---- */

/* Column k of a matrix with nv of them, three rows. */
static ti_vec column(const double *J, int nv, int k) {
    return (ti_vec){J[k], J[nv + k], J[2 * nv + k]};
}
static void set_column(double *J, int nv, int k, ti_vec x) {
    J[k] = x.x, J[nv + k] = x.y, J[2 * nv + k] = x.z;
}

static tribo_status jacobian(const tribo_dynamics *d, const spot *s, double *J) {
    if (!J) return TRIBO_E_ARG;
    int nv = d->m->size.nv;
    memset(J, 0, sizeof *J * TI_TWIST * (size_t)nv);
    for (int k = s->body >= 0 ? d->m->body[s->body].last : -1; k >= 0; k = d->m->dof[k].before) {
        set_column(J, nv, k, ti_sp_at(d->at.axis[k], s->x));
        set_column(J + 3 * nv, nv, k, d->at.axis[k].w);
    }
    return TRIBO_OK;
}

static tribo_status jacobian_vjp(tribo_dynamics *d, const spot *s, const double *J_bar, double *q_bar, double *p_bar) {
    if (!J_bar) return TRIBO_E_ARG;
    int nv = d->m->size.nv;
    ti_vec x_bar = {0, 0, 0};
    ti_dynamics_begin(d);
    for (int k = s->body >= 0 ? d->m->body[s->body].last : -1; k >= 0; k = d->m->dof[k].before) {
        ti_vec force = column(J_bar, nv, k), torque = column(J_bar + 3 * nv, nv, k);
        d->bar.axis[k] = ti_sp_axpy(d->bar.axis[k], 1, ti_sp_wrench(torque, s->x, force));
        x_bar = ti_add(x_bar, ti_cross(force, d->at.axis[k].w));
    }
    place_bar(d, s, x_bar, (ti_vec){0, 0, 0}, p_bar);
    ti_dynamics_end(d, q_bar, p_bar);
    return TRIBO_OK;
}

tribo_status tribo_body_jacobian(tribo_dynamics *d, int body, double *J) {
    spot s;
    return at_body(d, body, &s) ? jacobian(d, &s, J) : TRIBO_E_ARG;
}
tribo_status tribo_body_jacobian_vjp(tribo_dynamics *d, int body, const double *J_bar, double *q_bar, double *p_bar) {
    spot s;
    return at_body(d, body, &s) ? jacobian_vjp(d, &s, J_bar, q_bar, p_bar) : TRIBO_E_ARG;
}

tribo_status tribo_site_jacobian(tribo_dynamics *d, int site, double *J) {
    spot s;
    return at_site(d, site, &s) ? jacobian(d, &s, J) : TRIBO_E_ARG;
}
tribo_status tribo_site_jacobian_vjp(tribo_dynamics *d, int site, const double *J_bar, double *q_bar, double *p_bar) {
    spot s;
    return at_site(d, site, &s) ? jacobian_vjp(d, &s, J_bar, q_bar, p_bar) : TRIBO_E_ARG;
}
