/* inverse.c -- forces and accelerations of a model: bias, inverse and forward dynamics, forces of joints; each
 * derivative stands below its function. docs/math.md eq. (153), (330), (334). */
#include "dynamics/actuator.h"
#include "dynamics/ball.h"
#include "dynamics/bias.h"
#include "dynamics/borne.h"
#include "dynamics/branch.h"
#include "dynamics/dynamics.h"
#include "dynamics/fluid.h"
#include "dynamics/tree.h"

static double armature_of(const tribo_dynamics *d, int k) {
    const ti_joint *j = &d->m->joint[d->m->dof[k].joint];
    return j->p < 0 ? 0 : d->p[j->p + TI_P_ARMATURE];
}

/* Accelerations of what each number carries, gravity left out: from the root to the leaves. */
static void accelerate(tribo_dynamics *d, const double *a) {
    static const ti_spatial none = {{0, 0, 0}, {0, 0, 0}};
    const double *v = ti_dynamics_v(d);
    for (int k = 0; k < d->m->size.nv; k++) {
        int before = d->m->dof[k].before, by = d->m->dof[k].carried_by;
        ti_spatial s = d->at.axis[k], sum = before >= 0 ? d->at.bias[before] : none;
        if (a) sum = ti_sp_axpy(sum, a[k], s);
        if (by >= 0) sum = ti_sp_axpy(sum, v[k], ti_sp_cross(d->at.twist[by], s));
        d->at.bias[k] = sum, d->at.load[k] = none;
    }
}

/* The wrench that a link's motion takes, in its own axes about its centre of mass, then about the world's origin. */
static ti_spatial wrench_of(const ti_link *l, ti_spatial nu, ti_spatial acc, ti_vec gravity) {
    ti_vec w = ti_tmul(&l->R, nu.w), turn = ti_tmul(&l->R, acc.w);
    ti_vec torque = ti_add(ti_mul(&l->I, turn), ti_cross(w, ti_mul(&l->I, w)));
    ti_vec at = ti_add(ti_sp_at(acc, l->xc), ti_cross(nu.w, ti_sp_at(nu, l->xc)));
    return ti_sp_wrench(ti_mul(&l->R, torque), l->xc, ti_scale(l->mass, ti_sub(at, gravity)));
}

/* tau at accelerations a, NULL = 0; what is on the way stays for the reverse. */
static void newton_euler(tribo_dynamics *d, const double *a, double *tau) {
    ti_vec gravity = ti_load3(d->p + TI_P_GRAVITY);
    accelerate(d, a);
    for (int b = 0; b < d->m->size.nbody; b++) {
        const ti_body *body = &d->m->body[b];
        int last = body->last;
        ti_vec weight = ti_scale(1 - body->gravcomp, gravity);
        ti_spatial f = wrench_of(&d->at.link[b], d->at.twist[last], d->at.bias[last], weight);
        d->at.load[last] = ti_sp_axpy(d->at.load[last], 1, f);
    }
    for (int k = d->m->size.nv - 1; k >= 0; k--) {
        int before = d->m->dof[k].before;
        if (before >= 0) d->at.load[before] = ti_sp_axpy(d->at.load[before], 1, d->at.load[k]);
        tau[k] = ti_sp_dot(d->at.axis[k], d->at.load[k]);
        if (a) tau[k] += armature_of(d, k) * a[k];
    }
}

/* Of newton_euler(), whose way is still there: the accelerations' part goes with the axes that they are along. */
static void newton_euler_vjp(tribo_dynamics *d, const double *a, const double *tau_bar, double *q_bar, double *v_bar,
                             double *a_bar, double *p_bar) {
    const ti_motion *m = &d->at;
    int nv = d->m->size.nv;
    ti_vec gravity_bar = {0, 0, 0};
    double *y = d->bar.y, *by_v = d->bar.v;
    for (int k = 0; k < nv; k++) y[k] = -tau_bar[k], by_v[k] = 0; /* bias.c has the forces, which are less these */
    ti_dynamics_begin(d);
    for (int t = 0; t < d->m->ntree; t++) {
        const ti_tree *tree = &d->m->tree[t];
        ti_bias_velocity_prepare(m, tree, &d->bar);
        ti_bias_vjp(m, tree, ti_load3(d->p + TI_P_GRAVITY), ti_dynamics_v(d), y, &d->bar, by_v, &gravity_bar);
    }
    for (int k = 0; k < nv; k++) {
        if (v_bar) v_bar[k] += by_v[k];
        if (a_bar) a_bar[k] += ti_sp_dot(m->axis[k], d->bar.bias[k]) + armature_of(d, k) * tau_bar[k];
        if (!a) continue;
        d->bar.axis[k] = ti_sp_axpy(d->bar.axis[k], a[k], d->bar.bias[k]);
        const ti_joint *j = &d->m->joint[d->m->dof[k].joint];
        if (p_bar && j->p >= 0) p_bar[j->p + TI_P_ARMATURE] += a[k] * tau_bar[k];
    }
    if (p_bar) ti_add3(p_bar + TI_P_GRAVITY, gravity_bar);
    ti_dynamics_end(d, q_bar, p_bar);
}

/* ---- bias and inverse dynamics ---- */

tribo_status tribo_bias_forces(tribo_dynamics *d, double *c) {
    if (!ti_dynamics_ready(d) || !c) return TRIBO_E_ARG;
    newton_euler(d, NULL, c);
    return TRIBO_OK;
}

tribo_status tribo_bias_forces_vjp(tribo_dynamics *d, const double *c_bar, double *q_bar, double *v_bar,
                                   double *p_bar) {
    if (!ti_dynamics_ready(d) || !c_bar) return TRIBO_E_ARG;
    ti_dynamics_sum(d);
    newton_euler(d, NULL, d->work);
    newton_euler_vjp(d, NULL, c_bar, q_bar, v_bar, NULL, p_bar);
    return TRIBO_OK;
}

tribo_status tribo_inverse_dynamics(tribo_dynamics *d, const double *a, double *tau) {
    if (!ti_dynamics_ready(d) || !a || !tau) return TRIBO_E_ARG;
    newton_euler(d, a, tau);
    return TRIBO_OK;
}

tribo_status tribo_inverse_dynamics_vjp(tribo_dynamics *d, const double *a, const double *tau_bar, double *q_bar,
                                        double *v_bar, double *a_bar, double *p_bar) {
    if (!ti_dynamics_ready(d) || !a || !tau_bar) return TRIBO_E_ARG;
    ti_dynamics_sum(d);
    newton_euler(d, a, d->work);
    newton_euler_vjp(d, a, tau_bar, q_bar, v_bar, a_bar, p_bar);
    return TRIBO_OK;
}

/* A tree's block of a matrix of the whole model. */
static void set_block(const tribo_dynamics *d, const ti_tree *tree, const double *block, double *J) {
    size_t nv = (size_t)d->m->size.nv, w = (size_t)tree->nv, at = (size_t)tree->v;
    for (size_t r = 0; J && r < w; r++) memcpy(J + (at + r) * nv + at, block + r * w, sizeof *J * w);
}

static void jacobian(tribo_dynamics *d, const double *a, double *by_q, double *by_v) {
    size_t nv = (size_t)d->m->size.nv;
    ti_dynamics_sum(d);
    if (by_q) memset(by_q, 0, sizeof *by_q * nv * nv);
    if (by_v) memset(by_v, 0, sizeof *by_v * nv * nv);
    memcpy(d->at.middle, ti_dynamics_v(d), sizeof *a * nv), memcpy(d->jac.acc, a, sizeof *a * nv);
    for (int t = 0; t < d->m->ntree; t++) {
        const ti_tree *tree = &d->m->tree[t];
        ti_tree_jac_velocity(&d->at, tree, &d->jac);
        set_block(d, tree, d->jac.C + tree->M, by_v);
        if (!by_q) continue;
        ti_tree_jac_place(&d->at, tree, ti_load3(d->p + TI_P_GRAVITY), 1, &d->jac);
        set_block(d, tree, d->jac.G + tree->M, by_q);
    }
}

tribo_status tribo_inverse_dynamics_jac(tribo_dynamics *d, const double *a, double *by_q, double *by_v) {
    if (!ti_dynamics_ready(d) || !a) return TRIBO_E_ARG;
    jacobian(d, a, by_q, by_v);
    return TRIBO_OK;
}

/* ---- forward dynamics ---- */

tribo_status tribo_forward_dynamics(tribo_dynamics *d, const double *tau, double *a) {
    if (!ti_dynamics_ready(d) || !tau || !a) return TRIBO_E_ARG;
    newton_euler(d, NULL, d->work);
    for (int k = 0; k < d->m->size.nv; k++) d->work[k] = tau[k] - d->work[k];
    return tribo_inertia_solve(d, d->work, a);
}

/* With y = M^-1 a_bar: tau_bar += y, and the reverse of inverse dynamics at a for -y. */
tribo_status tribo_forward_dynamics_vjp(tribo_dynamics *d, const double *a, const double *a_bar, double *q_bar,
                                        double *v_bar, double *tau_bar, double *p_bar) {
    if (!ti_dynamics_ready(d) || !a || !a_bar) return TRIBO_E_ARG;
    double *y = d->bar.now;
    tribo_status status = tribo_inertia_solve(d, a_bar, y);
    if (status != TRIBO_OK) return status;
    newton_euler(d, a, d->work);
    for (int k = 0; k < d->m->size.nv; k++) {
        if (tau_bar) tau_bar[k] += y[k];
        y[k] = -y[k];
    }
    newton_euler_vjp(d, a, y, q_bar, v_bar, NULL, p_bar);
    return TRIBO_OK;
}

/* Columns of X (nv,nv) := scale M^-1 X, of which there are factors. */
static void solve_columns(const tribo_dynamics *d, double scale, double *X) {
    int nv = d->m->size.nv;
    for (int k = 0; k < nv * nv; k++) X[k] *= scale;
    for (int t = 0; t < d->m->ntree; t++) {
        const ti_tree *tree = &d->m->tree[t];
        ti_branch_solve_many(d->m->dof + tree->v, tree->v, tree->nv, d->at.factor + tree->M, nv, X + tree->v * nv);
    }
}

tribo_status tribo_forward_dynamics_jac(tribo_dynamics *d, const double *a, double *by_q, double *by_v,
                                        double *by_tau) {
    if (!ti_dynamics_ready(d) || !a) return TRIBO_E_ARG;
    size_t nv = (size_t)d->m->size.nv;
    tribo_status status = tribo_inertia_solve(d, d->zero, d->work);
    if (status != TRIBO_OK) return status; /* nothing was written yet */
    if (by_q || by_v) jacobian(d, a, by_q, by_v);
    if (by_q) solve_columns(d, -1, by_q);
    if (by_v) solve_columns(d, -1, by_v);
    if (!by_tau) return TRIBO_OK;
    memset(by_tau, 0, sizeof *by_tau * nv * nv);
    for (size_t k = 0; k < nv; k++) by_tau[k * (nv + 1)] = 1;
    solve_columns(d, 1, by_tau);
    return TRIBO_OK;
}

/* ---- forces of joints ---- */

/* Of number k of v: its joint, NULL where that has no numbers; its damping; the stiffness and the stretch of its
 * spring. */
typedef struct passive {
    const ti_joint *joint;
    double damping, stiffness, stretch;
} passive;

static passive passive_of(const tribo_dynamics *d, int k) {
    const ti_joint *j = &d->m->joint[d->m->dof[k].joint];
    if (j->p < 0) return (passive){NULL, 0, 0, 0};
    const double *own = d->p + j->p;
    double stretch = j->kind == TI_JOINT_FREE ? 0 : ti_stretch(j, own, d->x, k);
    return (passive){j, own[TI_P_DAMPING], ti_stiffness(j, own), stretch};
}

/* The fluid, and how links move in it. */
static void find_fluid(tribo_dynamics *d) {
    d->at.fluid = ti_fluid_of(d->m, d->p, 0);
    for (int b = 0; b < d->m->size.nbody; b++) {
        ti_link *l = &d->at.link[b];
        ti_spatial nu = d->at.twist[d->m->body[b].last];
        l->v = ti_sp_at(nu, l->xc), l->w = ti_tmul(&l->R, nu.w);
    }
}

tribo_status tribo_joint_forces(tribo_dynamics *d, const double *u, double *tau) {
    if (!ti_dynamics_ready(d) || !tau) return TRIBO_E_ARG;
    const double *v = ti_dynamics_v(d), *given = u;
    if (d->m->size.nactuator) given = ti_actuators_load(&d->at, d->p, d->x, v, u);
    for (int k = 0; k < d->m->size.nv; k++) {
        double force = given ? given[k] : 0;
        passive own = passive_of(d, k);
        tau[k] = own.joint ? force - own.damping * v[k] - own.stiffness * own.stretch : force;
    }
    if (!d->m->fluid) return TRIBO_OK;
    find_fluid(d);
    for (int t = 0; t < d->m->ntree; t++) ti_fluid_forces(&d->at, &d->m->tree[t], tau);
    return TRIBO_OK;
}

/* By where the joint of number k stands, once for all of its numbers. */
static void spring_vjp(const tribo_dynamics *d, int k, const double *tau_bar, double *q_bar) {
    const ti_joint *j = &d->m->joint[d->m->dof[k].joint];
    double bar[3], stiffness = ti_stiffness(j, d->p + j->p);
    if (k != j->v || stiffness == 0) return;
    for (int i = 0; i < ti_joint_of(j->kind)->nv; i++) bar[i] = -stiffness * tau_bar[k + i];
    ti_stretch_vjp(j, d->x, bar, q_bar + k);
}

/* Of what depends on where links are: joints that are cut off with a weight that they carry, and a fluid. */
static void links_vjp(tribo_dynamics *d, const double *tau_bar, double *q_bar, double *v_bar, double *p_bar) {
    ti_vec gravity_bar = {0, 0, 0};
    bool shed = d->m->nborne && d->m->size.nactuator && ti_borne_shed(&d->at);
    if (!shed && !d->m->fluid) return;
    ti_dynamics_begin(d);
    if (d->m->fluid) find_fluid(d);
    for (int t = 0; t < d->m->ntree; t++) {
        const ti_tree *tree = &d->m->tree[t];
        if (shed) ti_borne_vjp(&d->at, tree, ti_load3(d->p + TI_P_GRAVITY), tau_bar, &d->bar, &gravity_bar);
        if (d->m->fluid) ti_fluid_forces_vjp(&d->at, tree, ti_dynamics_v(d), tau_bar, &d->bar, v_bar, p_bar);
    }
    if (p_bar) ti_add3(p_bar + TI_P_GRAVITY, gravity_bar);
    ti_dynamics_end(d, q_bar, p_bar);
}

tribo_status tribo_joint_forces_vjp(tribo_dynamics *d, const double *u, const double *tau_bar, double *q_bar,
                                    double *v_bar, double *u_bar, double *p_bar) {
    if (!ti_dynamics_ready(d) || !tau_bar) return TRIBO_E_ARG;
    const double *v = ti_dynamics_v(d);
    int nv = d->m->size.nv;
    for (int k = 0; k < nv; k++) {
        double y = tau_bar[k];
        passive own = passive_of(d, k);
        if (!own.joint) continue;
        if (v_bar) v_bar[k] -= own.damping * y;
        if (q_bar) spring_vjp(d, k, tau_bar, q_bar);
        if (!p_bar) continue;
        double *to = p_bar + own.joint->p;
        to[TI_P_DAMPING] -= y * v[k];
        if (own.joint->kind == TI_JOINT_FREE) continue;
        to[TI_P_STIFFNESS] -= y * own.stretch;
        if (own.joint->kind != TI_JOINT_BALL) to[TI_P_SPRINGREF] += own.stiffness * y;
    }
    if (d->m->size.nactuator == 0) {
        for (int k = 0; u_bar && k < nv; k++) u_bar[k] += tau_bar[k];
        links_vjp(d, tau_bar, q_bar, v_bar, p_bar);
        return TRIBO_OK;
    }
    ti_actuators_load(&d->at, d->p, d->x, v, u);
    ti_actuators_clear(&d->at, &d->bar);
    memcpy(d->bar.applied, tau_bar, sizeof *tau_bar * (size_t)nv);
    double *q_to = d->bar.place, *v_to = d->bar.v;
    memset(q_to, 0, sizeof *q_to * (size_t)nv), memset(v_to, 0, sizeof *v_to * (size_t)nv);
    ti_actuators_vjp(&d->at, d->p, &d->bar, q_to, v_to, u_bar, p_bar);
    for (int k = 0; k < nv; k++) {
        if (q_bar) q_bar[k] += q_to[k];
        if (v_bar) v_bar[k] += v_to[k];
    }
    links_vjp(d, tau_bar, q_bar, v_bar, p_bar);
    return TRIBO_OK;
}
