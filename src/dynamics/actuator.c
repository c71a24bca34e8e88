/* actuator.c -- see actuator.h. */
#include "dynamics/actuator.h"
#include "dynamics/borne.h"
#include "dynamics/sited.h"
#include <string.h>

/* ---- docs/math.md eq. (170), (171) ---- */

/* x within a range, and whether it had to be cut off. */
static double cut(double x, const double *range, int *side) {
    *side = x < range[0] ? -1 : x > range[1] ? 1 : 0;
    return *side < 0 ? range[0] : *side > 0 ? range[1] : x;
}

/* Of joints; the arms at a site have its gears in them. */
static double gear_of(const ti_actuator *a, const double *p) {
    return a->site < 0 ? p[a->p + TI_P_GEAR] : 1;
}
static double arm_of(const ti_motion *m, const ti_actuator *a, int k) {
    return a->site < 0 ? m->model->pull[k].coef : m->arm[k];
}

/* Length and velocity before the gear; a site has no length. */
static void stretch(const ti_motion *m, const ti_actuator *a, const double *q, const double *v, ti_actuator_now *n) {
    n->reach = n->rate = 0;
    for (int k = a->pull0; k < a->pull0 + a->npull; k++) {
        const ti_pull *pull = &m->model->pull[k];
        if (a->site < 0) n->reach += pull->coef * q[pull->q];
        n->rate += arm_of(m, a, k) * v[pull->v];
    }
}

/* What depends on the velocity of a site acts at the start of the step. */
static void force_of(const ti_actuator *a, const double *own, double gear, double control, ti_actuator_now *n) {
    const double *gain = own + TI_P_GAIN, *bias = own + TI_P_BIAS;
    double length = gear * n->reach, velocity = gear * n->rate;
    n->held_control = n->held_force = 0;
    n->control = a->ctrl_limited ? cut(control, own + TI_P_CTRLRANGE, &n->held_control) : control;
    n->gain = gain[0] + gain[1] * length + gain[2] * velocity;
    double force = n->gain * n->control + bias[0] + bias[1] * length + bias[2] * velocity;
    n->force = a->force_limited ? cut(force, own + TI_P_FORCERANGE, &n->held_force) : force;
    n->damps = !n->held_force && a->site < 0;
    n->damping = n->damps ? -bias[2] - gain[2] * n->control : 0;
}

/* Joints whose actuators together are cut off. */
static void cut_joints(ti_motion *m, const double *p) {
    const tribo_model *model = m->model;
    ti_borne_cut(m, p);
    for (int i = 0; i < model->size.nactuator && model->ncap; i++)
        for (int k = model->actuator[i].pull0; k < model->actuator[i].pull0 + model->actuator[i].npull; k++)
            if (m->capped[model->pull[k].v]) m->actuator[i].damps = false, m->actuator[i].damping = 0;
}

const double *ti_actuators_load(ti_motion *m, const double *p, const double *q, const double *v, const double *u) {
    const tribo_model *model = m->model;
    int nv = model->size.nv;
    memset(m->driven, 0, sizeof *m->driven * (size_t)nv);
    m->nheld = 0, m->v = v;
    for (int i = 0; i < model->size.nactuator; i++) {
        const ti_actuator *a = &model->actuator[i];
        ti_actuator_now *n = &m->actuator[i];
        if (a->site >= 0) ti_sited_arms(m, i, p);
        stretch(m, a, q, v, n);
        force_of(a, p + a->p, gear_of(a, p), u ? u[nv + i] : 0, n);
        m->nheld += n->held_control != 0 || n->held_force != 0;
        for (int k = a->pull0; k < a->pull0 + a->npull; k++)
            m->driven[model->pull[k].v] += gear_of(a, p) * arm_of(m, a, k) * n->force;
    }
    cut_joints(m, p);
    for (int d = 0; d < nv; d++) m->applied[d] = m->driven[d] + (u ? u[d] : 0);
    return m->applied;
}

/* ---- docs/math.md eq. (172) ---- */

/* Whether a pull is on the tree. */
static bool on_tree(const ti_tree *tree, const ti_pull *pull) {
    return pull->v >= tree->v && pull->v < tree->v + tree->nv;
}

void ti_actuators_damp(const ti_motion *m, int t, const double *p, double dt, double *M) {
    const tribo_model *model = m->model;
    const ti_tree *tree = &model->tree[t];
    for (int i = 0; i < model->size.nactuator; i++) {
        const ti_actuator *a = &model->actuator[i];
        const ti_pull *pull = model->pull + a->pull0;
        double gear = p[a->p + TI_P_GEAR], s = dt * m->actuator[i].damping * gear * gear;
        for (int r = 0; s != 0 && r < a->npull; r++)
            for (int c = 0; c < a->npull; c++)
                if (on_tree(tree, &pull[r]) && on_tree(tree, &pull[c]))
                    M[(pull[r].v - tree->v) * tree->nv + pull[c].v - tree->v] += s * pull[r].coef * pull[c].coef;
    }
}

void ti_actuators_damp_vjp(const ti_motion *m, int t, const double *p, double dt, ti_motion_bar *bar, double *p_bar) {
    const tribo_model *model = m->model;
    const ti_tree *tree = &model->tree[t];
    const double *M_bar = bar->M + tree->M;
    for (int i = 0; i < model->size.nactuator; i++) {
        const ti_actuator *a = &model->actuator[i];
        const ti_pull *pull = model->pull + a->pull0;
        double gear = p[a->p + TI_P_GEAR], damping = m->actuator[i].damping, sum = 0;
        for (int r = 0; m->actuator[i].damps && r < a->npull; r++)
            for (int c = 0; c < a->npull; c++)
                if (on_tree(tree, &pull[r]) && on_tree(tree, &pull[c]))
                    sum += M_bar[(pull[r].v - tree->v) * tree->nv + pull[c].v - tree->v] * pull[r].coef * pull[c].coef;
        bar->damping[i] += dt * gear * gear * sum;
        if (p_bar) p_bar[a->p + TI_P_GEAR] += 2 * dt * gear * damping * sum;
    }
}

/* ---- reverse: docs/math.md eq. (173) ---- */

void ti_actuators_clear(const ti_motion *m, ti_motion_bar *bar) {
    memset(bar->applied, 0, sizeof *bar->applied * (size_t)m->model->size.nv);
    memset(bar->damping, 0, sizeof *bar->damping * (size_t)m->model->size.nactuator);
}

/* Of the force, from its cotangent and the damping's: to the control, the length, the velocity and p. */
typedef struct force_bar {
    double control, length, velocity;
} force_bar;

static force_bar force_vjp(const ti_actuator *a, const double *p, const ti_actuator_now *n, double F, double D,
                           double *own_bar) {
    const double *own = p + a->p, *gain = own + TI_P_GAIN, *bias = own + TI_P_BIAS;
    double gear = gear_of(a, p), length = gear * n->reach, velocity = gear * n->rate, G = F * n->control;
    if (n->held_force) {
        if (own_bar) own_bar[TI_P_FORCERANGE + (n->held_force > 0)] += F;
        return (force_bar){0, 0, 0};
    }
    if (!n->damps) D = 0;
    force_bar out = {F * n->gain - D * gain[2], F * bias[1] + G * gain[1], F * bias[2] + G * gain[2]};
    if (!own_bar) return out;
    own_bar[TI_P_GAIN] += G, own_bar[TI_P_GAIN + 1] += G * length, own_bar[TI_P_GAIN + 2] += G * velocity;
    own_bar[TI_P_GAIN + 2] -= D * n->control, own_bar[TI_P_BIAS + 2] -= D;
    own_bar[TI_P_BIAS] += F, own_bar[TI_P_BIAS + 1] += F * length, own_bar[TI_P_BIAS + 2] += F * velocity;
    if (a->site < 0) own_bar[TI_P_GEAR] += out.length * n->reach + out.velocity * n->rate;
    return out;
}

static void actuator_vjp(const ti_motion *m, int i, const double *p, const ti_motion_bar *bar, double *q_bar,
                         double *v_bar, double *u_bar, double *p_bar) {
    const tribo_model *model = m->model;
    const ti_actuator *a = &model->actuator[i];
    const ti_actuator_now *n = &m->actuator[i];
    double gear = gear_of(a, p), sum = 0, *own_bar = p_bar ? p_bar + a->p : NULL;
    for (int k = a->pull0; k < a->pull0 + a->npull; k++) {
        int v = model->pull[k].v;
        if (!m->capped[v]) sum += arm_of(m, a, k) * bar->applied[v];
    }
    if (own_bar && a->site < 0) own_bar[TI_P_GEAR] += n->force * sum;
    force_bar b = force_vjp(a, p, n, gear * sum, bar->damping[i], own_bar);
    for (int k = a->pull0; k < a->pull0 + a->npull; k++) {
        const ti_pull *pull = &model->pull[k];
        v_bar[pull->v] += gear * arm_of(m, a, k) * b.velocity;
        if (a->site < 0) q_bar[pull->v] += gear * pull->coef * b.length;
    }
    if (a->site >= 0) {
        double *arm_bar = m->arm_bar + a->pull0;
        for (int k = 0; k < a->npull; k++) {
            int v = model->pull[a->pull0 + k].v;
            arm_bar[k] = (m->capped[v] ? 0 : n->force * bar->applied[v]) + b.velocity * m->v[v];
        }
        ti_sited_arms_vjp(m, i, p, arm_bar, q_bar, p_bar);
    }
    if (n->held_control && own_bar) own_bar[TI_P_CTRLRANGE + (n->held_control > 0)] += b.control;
    if (!n->held_control && u_bar) u_bar[model->size.nv + i] += b.control;
}

void ti_actuators_vjp(const ti_motion *m, const double *p, const ti_motion_bar *bar, double *q_bar, double *v_bar,
                      double *u_bar, double *p_bar) {
    for (int d = 0; u_bar && d < m->model->size.nv; d++) u_bar[d] += bar->applied[d];
    for (int i = 0; i < m->model->size.nactuator; i++) actuator_vjp(m, i, p, bar, q_bar, v_bar, u_bar, p_bar);
}

/* ---- Jacobians ---- */

static double length_slope(const double *own, const ti_actuator_now *n) {
    return n->held_force ? 0 : own[TI_P_BIAS + 1] + n->control * own[TI_P_GAIN + 1];
}
static double velocity_slope(const double *own, const ti_actuator_now *n) {
    return n->held_force ? 0 : own[TI_P_BIAS + 2] + n->control * own[TI_P_GAIN + 2];
}

double ti_actuator_by_control(const ti_motion *m, int i) {
    const ti_actuator_now *n = &m->actuator[i];
    return n->held_force || n->held_control ? 0 : n->gain;
}

double ti_actuator_arm(const ti_motion *m, int i, int k, const double *p) {
    const ti_pull *pull = &m->model->pull[k];
    return m->capped[pull->v] ? 0 : p[m->model->actuator[i].p + TI_P_GEAR] * pull->coef;
}

void ti_actuators_jac(const ti_motion *m, int t, const double *p, double *by_q, double *by_v) {
    const tribo_model *model = m->model;
    const ti_tree *tree = &model->tree[t];
    for (int i = 0; i < model->size.nactuator; i++) {
        const ti_actuator *a = &model->actuator[i];
        const double *own = p + a->p, gear = own[TI_P_GEAR];
        double length = gear * length_slope(own, &m->actuator[i]), speed = gear * velocity_slope(own, &m->actuator[i]);
        for (int r = a->pull0; r < a->pull0 + a->npull; r++)
            for (int c = a->pull0; on_tree(tree, &model->pull[r]) && c < a->pull0 + a->npull; c++) {
                int at = (model->pull[r].v - tree->v) * tree->nv + model->pull[c].v - tree->v;
                double arm = ti_actuator_arm(m, i, r, p) * model->pull[c].coef;
                if (by_q) by_q[at] += arm * length;
                if (by_v) by_v[at] += arm * speed;
            }
    }
}

bool ti_actuators_jac_applies(const ti_motion *m, const double *p) {
    const tribo_model *model = m->model;
    if (model->nborne && ti_borne_shed(m)) return false;
    for (int i = 0; i < model->size.nactuator; i++) {
        const ti_actuator *a = &model->actuator[i];
        if (a->site >= 0 || p[a->p + TI_P_GAIN + 2] != 0) return false;
        for (int k = a->pull0 + 1; k < a->pull0 + a->npull; k++)
            if (model->body[model->joint[model->dof[model->pull[k].v].joint].body].tree !=
                model->body[model->joint[model->dof[model->pull[a->pull0].v].joint].body].tree)
                return false;
    }
    return true;
}
