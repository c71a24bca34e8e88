/* matter.c -- what all bodies have together: centre of mass, momentum, energy; each reverse stands below its function.
 * docs/math.md eq. (335). */
#include "dynamics/ball.h"
#include "dynamics/bias.h"
#include "dynamics/dynamics.h"
#include "dynamics/fours.h"
#include "dynamics/tree.h"

static const ti_spatial none = {{0, 0, 0}, {0, 0, 0}};

static double mass_of(const tribo_dynamics *d) {
    double mass = 0;
    for (int b = 0; b < d->m->size.nbody; b++) mass += d->at.link[b].mass;
    return mass;
}
static ti_vec centre_of(const tribo_dynamics *d, double mass) {
    ti_vec sum = {0, 0, 0};
    for (int b = 0; b < d->m->size.nbody; b++) sum = ti_axpy(sum, d->at.link[b].mass, d->at.link[b].xc);
    return ti_scale(1 / mass, sum);
}

/* ---- centre of mass ---- */

tribo_status tribo_com(tribo_dynamics *d, double *pos) {
    if (!ti_dynamics_ready(d) || !pos) return TRIBO_E_ARG;
    ti_store3(pos, centre_of(d, mass_of(d)));
    return TRIBO_OK;
}

static void centre_bar(tribo_dynamics *d, double mass, ti_vec centre, ti_vec c_bar) {
    for (int b = 0; b < d->m->size.nbody; b++) {
        ti_link_diff *to = &d->bar.link[b];
        to->xc = ti_axpy(to->xc, d->at.link[b].mass / mass, c_bar);
        to->mass += ti_dot(c_bar, ti_sub(d->at.link[b].xc, centre)) / mass;
    }
}

tribo_status tribo_com_vjp(tribo_dynamics *d, const double *pos_bar, double *q_bar, double *p_bar) {
    if (!ti_dynamics_ready(d) || !pos_bar) return TRIBO_E_ARG;
    double mass = mass_of(d);
    ti_dynamics_begin(d);
    centre_bar(d, mass, centre_of(d, mass), ti_load3(pos_bar));
    ti_dynamics_end(d, q_bar, p_bar);
    return TRIBO_OK;
}

static void set_column(double *J, int nv, int k, ti_vec x) {
    J[k] = x.x, J[nv + k] = x.y, J[2 * nv + k] = x.z;
}

tribo_status tribo_com_jacobian(tribo_dynamics *d, double *J) {
    if (!ti_dynamics_ready(d) || !J) return TRIBO_E_ARG;
    double mass = mass_of(d);
    ti_dynamics_sum(d);
    for (int k = 0; k < d->m->size.nv; k++)
        set_column(J, d->m->size.nv, k, ti_scale(1 / mass, ti_sp_times(&d->at.carried[k], d->at.axis[k]).v));
    return TRIBO_OK;
}

/* Column k is (m v_k + w_k x h) / mass, m and h of all that it carries: their cotangents go down to the links. */
tribo_status tribo_com_jacobian_vjp(tribo_dynamics *d, const double *J_bar, double *q_bar, double *p_bar) {
    if (!ti_dynamics_ready(d) || !J_bar) return TRIBO_E_ARG;
    int nv = d->m->size.nv;
    double mass = mass_of(d), total = 0;
    ti_dynamics_begin(d);
    ti_dynamics_sum(d);
    for (int k = 0; k < nv; k++) {
        const ti_spatial_inertia *I = &d->at.carried[k];
        ti_spatial s = d->at.axis[k], *down = &d->bar.carried[k]; /* w: of h, v.x: of m */
        ti_vec y = ti_scale(1 / mass, (ti_vec){J_bar[k], J_bar[nv + k], J_bar[2 * nv + k]});
        int before = d->m->dof[k].before;
        *down = before >= 0 ? d->bar.carried[before] : none;
        down->w = ti_add(down->w, ti_cross(y, s.w)), down->v.x += ti_dot(y, s.v);
        d->bar.axis[k] = ti_sp_axpy(d->bar.axis[k], 1, (ti_spatial){ti_cross(I->h, y), ti_scale(I->m, y)});
        total -= ti_dot(y, ti_sp_times(I, s).v) / mass;
    }
    for (int b = 0; b < d->m->size.nbody; b++) {
        ti_spatial down = d->bar.carried[d->m->body[b].last];
        ti_link_diff *to = &d->bar.link[b];
        to->xc = ti_axpy(to->xc, d->at.link[b].mass, down.w);
        to->mass += total + down.v.x + ti_dot(down.w, d->at.link[b].xc);
    }
    ti_dynamics_end(d, q_bar, p_bar);
    return TRIBO_OK;
}

/* ---- momentum ---- */

/* About the world's origin: torque-like is angular, force-like linear. */
static ti_spatial momentum_of(const tribo_dynamics *d) {
    ti_spatial sum = none;
    for (int b = 0; b < d->m->size.nbody; b++) {
        const ti_link *l = &d->at.link[b];
        ti_spatial nu = d->at.twist[d->m->body[b].last];
        ti_vec w = ti_tmul(&l->R, nu.w), spin = ti_mul(&l->R, ti_mul(&l->I, w));
        sum = ti_sp_axpy(sum, 1, ti_sp_wrench(spin, l->xc, ti_scale(l->mass, ti_sp_at(nu, l->xc))));
    }
    return sum;
}

tribo_status tribo_momentum(tribo_dynamics *d, double *h) {
    if (!ti_dynamics_ready(d) || !h) return TRIBO_E_ARG;
    ti_spatial sum = momentum_of(d);
    ti_store3(h, sum.v), ti_store3(h + 3, ti_sub(sum.w, ti_cross(centre_of(d, mass_of(d)), sum.v)));
    return TRIBO_OK;
}

tribo_status tribo_momentum_vjp(tribo_dynamics *d, const double *h_bar, double *q_bar, double *v_bar, double *p_bar) {
    if (!ti_dynamics_ready(d) || !h_bar) return TRIBO_E_ARG;
    double mass = mass_of(d);
    ti_vec centre = centre_of(d, mass), spin_bar = ti_load3(h_bar + 3);
    ti_spatial eta = {spin_bar, ti_sub(ti_load3(h_bar), ti_cross(spin_bar, centre))}; /* a twist that all bodies have */
    ti_dynamics_begin(d);
    ti_dynamics_sum(d);
    centre_bar(d, mass, centre, ti_cross(spin_bar, momentum_of(d).v));
    for (int b = 0; b < d->m->size.nbody; b++) {
        const ti_four own = {1, {b, b, b, b}, {0}};
        const ti_spatial twist = d->at.twist[d->m->body[b].last];
        const ti_spatial_4 x = {ti_4_all(eta.w), ti_4_all(eta.v)}, y = {ti_4_all(twist.w), ti_4_all(twist.v)};
        ti_pairs_4 pair = ti_4_pairs(&d->at, &d->bar, &own);
        ti_4_pair(1, &x, &y, &pair);
        ti_4_pairs_end(&pair, &own, &d->bar);
        ti_dynamics_twist_bar(d, b, ti_dynamics_v(d), ti_sp_times(&d->at.inertia[b], eta), v_bar);
    }
    ti_dynamics_end(d, q_bar, p_bar);
    return TRIBO_OK;
}

tribo_status tribo_momentum_jacobian(tribo_dynamics *d, double *A) {
    if (!ti_dynamics_ready(d) || !A) return TRIBO_E_ARG;
    int nv = d->m->size.nv;
    ti_vec centre = centre_of(d, mass_of(d));
    ti_dynamics_sum(d);
    for (int k = 0; k < nv; k++) {
        ti_spatial h = ti_sp_times(&d->at.carried[k], d->at.axis[k]);
        set_column(A, nv, k, h.v), set_column(A + 3 * nv, nv, k, ti_sub(h.w, ti_cross(centre, h.v)));
    }
    return TRIBO_OK;
}

/* ---- energy ---- */

/* Of number k of v that a joint with numbers of its own has; NULL of a free one without. */
static const ti_joint *joint_of(const tribo_dynamics *d, int k) {
    const ti_joint *j = &d->m->joint[d->m->dof[k].joint];
    return j->p < 0 ? NULL : j;
}

tribo_status tribo_kinetic_energy(tribo_dynamics *d, double *e) {
    if (!ti_dynamics_ready(d) || !e) return TRIBO_E_ARG;
    const double *v = ti_dynamics_v(d);
    double sum = 0;
    for (int b = 0; b < d->m->size.nbody; b++) {
        const ti_link *l = &d->at.link[b];
        ti_spatial nu = d->at.twist[d->m->body[b].last];
        ti_vec w = ti_tmul(&l->R, nu.w), c = ti_sp_at(nu, l->xc);
        sum += 0.5 * (l->mass * ti_dot(c, c) + ti_dot(w, ti_mul(&l->I, w)));
    }
    for (int k = 0; k < d->m->size.nv; k++)
        if (joint_of(d, k)) sum += 0.5 * d->p[joint_of(d, k)->p + TI_P_ARMATURE] * v[k] * v[k];
    *e = sum;
    return TRIBO_OK;
}

tribo_status tribo_kinetic_energy_vjp(tribo_dynamics *d, double e_bar, double *q_bar, double *v_bar, double *p_bar) {
    if (!ti_dynamics_ready(d)) return TRIBO_E_ARG;
    const double *v = ti_dynamics_v(d);
    ti_dynamics_begin(d);
    ti_dynamics_sum(d);
    for (int t = 0; t < d->m->ntree; t++) {
        const double *own = v + d->m->tree[t].v;
        ti_tree_inertia_vjp(&d->at, t, 0.5 * e_bar, own, own, &d->bar);
        for (int k = d->m->tree[t].v; k < d->m->tree[t].v + d->m->tree[t].nv; k++) {
            const ti_joint *j = joint_of(d, k);
            if (p_bar && j) p_bar[j->p + TI_P_ARMATURE] += 0.5 * e_bar * v[k] * v[k];
        }
    }
    if (v_bar && tribo_inertia_times(d, v, d->work) == TRIBO_OK)
        for (int k = 0; k < d->m->size.nv; k++) v_bar[k] += e_bar * d->work[k];
    ti_dynamics_end(d, q_bar, p_bar);
    return TRIBO_OK;
}

tribo_status tribo_potential_energy(tribo_dynamics *d, double *e) {
    if (!ti_dynamics_ready(d) || !e) return TRIBO_E_ARG;
    double sum = 0;
    for (int b = 0; b < d->m->size.nbody; b++) {
        const ti_link *l = &d->at.link[b];
        sum -= (1 - d->m->body[b].gravcomp) * l->mass * ti_dot(ti_load3(d->p + TI_P_GRAVITY), l->xc);
    }
    for (int i = 0; i < d->m->size.njoint; i++) {
        const ti_joint *j = &d->m->joint[i];
        const double *own = d->p + j->p;
        for (int k = j->v; k < j->v + ti_joint_of(j->kind)->nv; k++) {
            double by = ti_stretch(j, own, d->x, k);
            sum += 0.5 * own[TI_P_STIFFNESS] * by * by;
        }
    }
    *e = sum;
    return TRIBO_OK;
}

tribo_status tribo_potential_energy_vjp(tribo_dynamics *d, double e_bar, double *q_bar, double *p_bar) {
    if (!ti_dynamics_ready(d)) return TRIBO_E_ARG;
    ti_vec gravity = ti_load3(d->p + TI_P_GRAVITY), gravity_bar = {0, 0, 0};
    ti_dynamics_begin(d);
    for (int b = 0; b < d->m->size.nbody; b++) {
        const ti_link *l = &d->at.link[b];
        double y = -(1 - d->m->body[b].gravcomp) * e_bar;
        d->bar.link[b].mass += y * ti_dot(gravity, l->xc);
        d->bar.link[b].xc = ti_axpy(d->bar.link[b].xc, y * l->mass, gravity);
        gravity_bar = ti_axpy(gravity_bar, y * l->mass, l->xc);
    }
    for (int i = 0; i < d->m->size.njoint; i++) {
        const ti_joint *j = &d->m->joint[i];
        double by[3], pull[3], square = 0, stiffness = d->p[j->p + TI_P_STIFFNESS];
        for (int k = 0; k < ti_joint_of(j->kind)->nv; k++) {
            by[k] = ti_stretch(j, d->p + j->p, d->x, j->v + k);
            pull[k] = e_bar * stiffness * by[k], square += by[k] * by[k];
        }
        if (q_bar && stiffness != 0) ti_stretch_vjp(j, d->x, pull, q_bar + j->v);
        if (p_bar) p_bar[j->p + TI_P_STIFFNESS] += 0.5 * e_bar * square;
        if (p_bar && j->kind != TI_JOINT_BALL) p_bar[j->p + TI_P_SPRINGREF] -= pull[0];
    }
    if (p_bar) ti_add3(p_bar + TI_P_GRAVITY, gravity_bar);
    ti_dynamics_end(d, q_bar, p_bar);
    return TRIBO_OK;
}
