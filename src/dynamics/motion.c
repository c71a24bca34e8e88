/* motion.c -- see motion.h; the reverse and the forward tangent of each function stand below it. Here are trees of one
 * free body, whose velocity is that of its centre of mass and its spin, so that M is block-diagonal; those with joints,
 * or with a free one that has numbers, are handed to tree.c. */
#include "dynamics/motion.h"
#include "base/clones.h"
#include "dynamics/actuator.h"
#include "dynamics/branch.h"
#include "dynamics/fluid.h"
#include "dynamics/link.h"
#include "dynamics/recall.h"
#include "dynamics/tree.h"
#include "model/state.h"
#include <math.h>
#include <string.h>

enum { WIDTH = TI_FREE_NV };

static void carve(ti_arena *a, const tribo_model *model, bool trees, ti_motion *m) {
    int nv = trees ? model->size.nv : 0, nb = trees ? model->size.nbody : 0;
    size_t nM = trees ? model->nM : 0;
    m->model = model;
    TI_CARVE(a, m->link, model->size.nbody);
    TI_CARVE(a, m->axis, nv);
    TI_CARVE(a, m->twist, nv);
    TI_CARVE(a, m->along, nv);
    TI_CARVE(a, m->bias, nv);
    TI_CARVE(a, m->load, nv);
    TI_CARVE(a, m->carried, nv);
    TI_CARVE(a, m->now, nv);
    TI_CARVE(a, m->free, nv);
    TI_CARVE(a, m->middle, nv);
    TI_CARVE(a, m->given, nv);
    TI_CARVE(a, m->next, nv);
    TI_CARVE(a, m->pushed, nv);
    TI_CARVE(a, m->difference, TI_DIFFERENCES * (size_t)nv);
    TI_CARVE(a, m->move, nv);
    TI_CARVE(a, m->answer, nv);
    TI_CARVE(a, m->known_move, nv);
    TI_CARVE(a, m->known_answer, nv);
    TI_CARVE(a, m->inertia, nb);
    TI_CARVE(a, m->centre, trees ? model->ntree : 0);
    TI_CARVE(a, m->few, trees ? model->ntree : 0);
    TI_CARVE(a, m->share, trees ? model->ntree : 0);
    TI_CARVE(a, m->known_share, trees ? model->ntree : 0);
    TI_CARVE(a, m->M, nM);
    int na = model->size.nactuator, driven = na ? nv : 0;
    TI_CARVE(a, m->actuator, na);
    TI_CARVE(a, m->driven, driven);
    TI_CARVE(a, m->applied, driven);
    TI_CARVE(a, m->capped, driven);
    TI_CARVE(a, m->arm, model->nsited ? model->npull : 0);
    TI_CARVE(a, m->arm_bar, model->nsited ? model->npull : 0);
    TI_CARVE(a, m->factor, nM);
}

static void carve_bar(ti_arena *a, const tribo_model *model, bool trees, ti_motion_bar *bar) {
    int nv = trees ? model->size.nv : 0;
    TI_CARVE(a, bar->link, model->size.nbody);
    TI_CARVE(a, bar->axis, nv);
    TI_CARVE(a, bar->root, trees ? model->ntree : 0);
    TI_CARVE(a, bar->M, trees ? model->nM : 0);
    TI_CARVE(a, bar->now, nv);
    TI_CARVE(a, bar->free, nv);
    TI_CARVE(a, bar->own, nv);
    TI_CARVE(a, bar->twist, nv);
    TI_CARVE(a, bar->bias, nv);
    TI_CARVE(a, bar->eta, nv);
    TI_CARVE(a, bar->carried, nv);
    TI_CARVE(a, bar->rate, nv);
    TI_CARVE(a, bar->momentum, trees ? model->size.nbody : 0);
    TI_CARVE(a, bar->change, trees ? model->widest : 0);
    TI_CARVE(a, bar->y, nv);
    TI_CARVE(a, bar->v, nv);
    TI_CARVE(a, bar->place, nv);
    TI_CARVE(a, bar->applied, model->size.nactuator ? nv : 0);
    TI_CARVE(a, bar->damping, model->size.nactuator);
}

void ti_motion_carve(ti_arena *a, const tribo_model *model, ti_motion *m) {
    carve(a, model, model->chains, m);
}
void ti_motion_carve_all(ti_arena *a, const tribo_model *model, ti_motion *m) {
    carve(a, model, true, m);
}
void ti_motion_bar_carve(ti_arena *a, const tribo_model *model, ti_motion_bar *bar) {
    carve_bar(a, model, model->chains, bar);
}
void ti_motion_bar_carve_all(ti_arena *a, const tribo_model *model, ti_motion_bar *bar) {
    carve_bar(a, model, true, bar);
}

static const ti_tree *tree_of(const ti_motion *m, int t) {
    return &m->model->tree[t];
}
/* Of a tree that is one free body. */
static const ti_link *root(const ti_motion *m, int t) {
    return &m->link[tree_of(m, t)->body0];
}
static ti_link_diff *root_bar(const ti_motion *m, int t, ti_motion_bar *bar) {
    return &bar->link[tree_of(m, t)->body0];
}
static const ti_link_diff *root_dot(const ti_motion *m, int t, const ti_link_diff *diffs) {
    return &diffs[tree_of(m, t)->body0];
}

/* ---- all that a step begins with ---- */

/* Where links are, before anything pulls on them. */
void ti_motion_place(ti_motion *m, const double *p, const double *q, const double *v) {
    for (int t = 0; t < m->model->ntree; t++) {
        int b = tree_of(m, t)->body0;
        const ti_body *body = &m->model->body[b];
        if (tree_of(m, t)->single)
            ti_link_load(&m->link[b], p + body->p, q + body->q, v + body->v, NULL);
        else
            ti_tree_load(m, t, p, q, v, NULL), ti_tree_speeds(m, t);
    }
}

void ti_motion_forget(ti_motion *m) {
    size_t nv = (size_t)m->model->size.nv;
    if (!m->model->chains) return;
    memset(m->pushed, 0, nv * sizeof *m->pushed);
    memset(m->difference, 0, TI_DIFFERENCES * nv * sizeof *m->difference);
    memset(m->known_share, 0, (size_t)m->model->ntree * sizeof *m->known_share);
    memset(m->known_move, 0, nv * sizeof *m->known_move), memset(m->known_answer, 0, nv * sizeof *m->known_answer);
}

/* The change of velocity of tree t drawn on, by so many of its differences as would have been best for this step. */
static void expect(ti_motion *m, int t) {
    const ti_tree *tree = tree_of(m, t);
    size_t bytes = sizeof(double) * (size_t)tree->nv;
    double off[TI_DIFFERENCES] = {0};
    for (int d = tree->v; d < tree->v + tree->nv; d++) {
        double now = m->free[d] - m->now[d], *difference = m->difference + TI_DIFFERENCES * d;
        TI_UNROLL for (int k = 0; k < TI_DIFFERENCES; k++) {
            double before = difference[k];
            difference[k] = now, now -= before;
            off[k] = ti_max(off[k], fabs(now));
        }
    }
    int best = 0;
    while (best + 1 < TI_DIFFERENCES && off[best + 1] < off[best]) best++;
    for (int d = tree->v; d < tree->v + tree->nv; d++) {
        m->pushed[d] = 0;
        for (int k = 0; k <= best; k++) m->pushed[d] += m->difference[TI_DIFFERENCES * d + k];
    }
    m->known_share[t] = m->share[t];
    if (!(m->share[t] > 0)) return; /* no two rounds */
    memcpy(m->known_move + tree->v, m->move + tree->v, bytes);
    memcpy(m->known_answer + tree->v, m->answer + tree->v, bytes);
}

void ti_motion_expect(ti_motion *m) {
    for (int t = 0; t < m->model->ntree && m->model->chains; t++)
        if (!tree_of(m, t)->single && !tree_of(m, t)->few) expect(m, t);
}

bool ti_motion_load(ti_motion *m, const double *p, const double *q, const double *v, const double *u, double dt,
                    const double *known) {
    bool all = true;
    ti_vec gravity = ti_load3(p + TI_P_GRAVITY);
    m->meant = false;
    if (m->model->fluid) m->fluid = ti_fluid_of(m->model, p, dt);
    if (m->model->nsited || m->model->nborne) ti_motion_place(m, p, q, v);
    if (m->model->size.nactuator) u = ti_actuators_load(m, p, q, v, u);
    for (int t = 0; t < m->model->ntree; t++) {
        const ti_body *body = &m->model->body[tree_of(m, t)->body0];
        if (!tree_of(m, t)->single) {
            if (known)
                known = ti_tree_recall(m, t, p, q, v, u, known);
            else
                ti_tree_load(m, t, p, q, v, u), all = ti_tree_free(m, t, p, dt) && all;
            continue;
        }
        ti_link *l = &m->link[tree_of(m, t)->body0];
        ti_link_load(l, p + body->p, q + body->q, v + body->v, u ? u + body->v : NULL);
        ti_vec weight = ti_scale(1 - body->gravcomp, gravity);
        if (m->model->fluid) weight = ti_add(weight, ti_fluid_push(m, tree_of(m, t)->body0));
        all = ti_link_free(l, weight, dt) && all;
    }
    return all;
}

bool ti_motion_singular(const ti_motion *m) {
    for (int t = 0; t < m->model->ntree; t++) {
        const ti_tree *tree = tree_of(m, t);
        const ti_dof *dof = m->model->dof + tree->v;
        if (!tree->single && !ti_branch_factor(dof, tree->v, tree->nv, m->M + tree->M, m->factor + tree->M))
            return true;
    }
    return false;
}

void ti_motion_mean_forces(ti_motion *m, const double *p, double dt) {
    for (int t = 0; t < m->model->ntree && !m->meant; t++)
        if (!tree_of(m, t)->single) ti_tree_mean_forces(m, t, p, dt);
    m->meant = true;
}

void ti_motion_load_vjp(const ti_motion *m, const double *p, double dt, ti_motion_bar *bar, double *q_bar,
                        double *v_bar, double *u_bar, double *p_bar) {
    ti_vec gravity_bar = {0, 0, 0};
    bool driven = m->model->size.nactuator > 0;
    double *f_bar = driven ? bar->applied : u_bar;
    if (driven) ti_actuators_clear(m, bar);
    for (int t = 0; t < m->model->ntree; t++) {
        const ti_body *body = &m->model->body[tree_of(m, t)->body0];
        if (!tree_of(m, t)->single) {
            ti_tree_vjp(m, t, p, dt, bar, q_bar, v_bar, f_bar, p_bar, &gravity_bar);
            continue;
        }
        ti_link_diff *d = root_bar(m, t, bar);
        ti_vec weight_bar = {0, 0, 0};
        if (m->model->fluid)
            ti_fluid_push_vjp(m, tree_of(m, t)->body0, d, &weight_bar, f_bar, p_bar);
        else
            ti_link_free_vjp(root(m, t), dt, d, &weight_bar, f_bar ? f_bar + body->v : NULL);
        gravity_bar = ti_axpy(gravity_bar, 1 - body->gravcomp, weight_bar);
        ti_link_load_vjp(root(m, t), d, q_bar + body->v, v_bar + body->v, p_bar ? p_bar + body->p : NULL);
    }
    if (driven) ti_actuators_vjp(m, p, bar, q_bar, v_bar, u_bar, p_bar);
    if (p_bar) ti_add3(p_bar + TI_P_GRAVITY, gravity_bar);
}

double ti_motion_energy(const ti_motion *m, const double *p, const double *q) {
    double e = 0;
    for (int t = 0; t < m->model->ntree; t++) {
        if (!tree_of(m, t)->single) {
            e += ti_tree_energy(m, t, p, q);
            continue;
        }
        const ti_link *l = root(m, t);
        e += 0.5 * l->mass * ti_dot(l->v, l->v) + 0.5 * ti_dot(l->w, ti_mul(&l->I, l->w));
        double weighs = 1 - m->model->body[tree_of(m, t)->body0].gravcomp;
        e -= weighs * l->mass * ti_dot(ti_load3(p + TI_P_GRAVITY), l->xc);
    }
    return e;
}

/* ---- inertia ---- */

void ti_motion_inertia(const ti_motion *m, int t, double *M) {
    const ti_tree *tree = tree_of(m, t);
    if (!tree->single) {
        memcpy(M, m->M + tree->M, sizeof *M * (size_t)tree->nv * (size_t)tree->nv);
        return;
    }
    const ti_link *l = root(m, t);
    memset(M, 0, WIDTH * WIDTH * sizeof *M);
    for (int i = 0; i < 3; i++) {
        M[(WIDTH + 1) * i] = l->mass;
        for (int j = 0; j < 3; j++) M[WIDTH * (3 + i) + 3 + j] = l->I.m[i][j];
    }
}

void ti_motion_inertia_vjp(const ti_motion *m, int t, double s, const double *a, const double *b, ti_motion_bar *bar) {
    const ti_tree *tree = tree_of(m, t);
    if (!tree->single) {
        ti_tree_inertia_vjp(m, t, s, a, b, bar);
        return;
    }
    ti_link_diff *d = root_bar(m, t, bar);
    d->mass += s * ti_dot(ti_load3(a), ti_load3(b));
    ti_outer_add(&d->I, s, ti_load3(a + 3), ti_load3(b + 3));
}

void ti_motion_inertia_bar(const ti_motion *m, int t, const double *M_bar, ti_motion_bar *bar) {
    const ti_tree *tree = tree_of(m, t);
    if (!tree->single) {
        ti_tree_inertia_bar(m, t, M_bar, bar);
        return;
    }
    ti_link_diff *d = root_bar(m, t, bar);
    d->mass += M_bar[0] + M_bar[WIDTH + 1] + M_bar[2 * (WIDTH + 1)];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) d->I.m[r][c] += M_bar[WIDTH * (3 + r) + 3 + c];
}

double ti_motion_heft(const ti_motion *m, int t) {
    const ti_tree *tree = tree_of(m, t);
    double mass = 0;
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) mass += m->link[b].mass;
    return mass;
}

void ti_motion_heft_vjp(const ti_motion *m, int t, double log_bar, ti_motion_bar *bar) {
    const ti_tree *tree = tree_of(m, t);
    double one_bar = log_bar / ti_motion_heft(m, t);
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) bar->link[b].mass += one_bar;
}
double ti_motion_heft_jvp(const ti_motion *m, int t, const ti_link_diff *diffs) {
    return root_dot(m, t, diffs)->mass / root(m, t)->mass;
}

void ti_motion_inertia_jvp(const ti_motion *m, int t, const ti_link_diff *diffs, const double *in, double *out) {
    const ti_link_diff *d = root_dot(m, t, diffs);
    ti_store3(out, ti_scale(d->mass, ti_load3(in)));
    ti_store3(out + 3, ti_mul(&d->I, ti_load3(in + 3)));
}

void ti_motion_times(const ti_motion *m, int t, const double *in, double *out) {
    const ti_tree *tree = tree_of(m, t);
    if (!tree->single) {
        ti_branch_times(m->model->dof + tree->v, tree->v, tree->nv, m->M + tree->M, in, out);
        return;
    }
    const ti_link *l = root(m, t);
    ti_store3(out, ti_scale(l->mass, ti_load3(in)));
    ti_store3(out + 3, ti_mul(&l->I, ti_load3(in + 3)));
}

void ti_motion_solve(const ti_motion *m, int t, const double *in, double *out) {
    if (!tree_of(m, t)->single) {
        ti_tree_solve(m, t, in, out);
        return;
    }
    const ti_link *l = root(m, t);
    ti_mat inv = ti_inverse(&l->I);
    ti_store3(out, ti_scale(1 / l->mass, ti_load3(in)));
    ti_store3(out + 3, ti_mul(&inv, ti_load3(in + 3)));
}

/* ---- velocities before the step and under its forces ---- */

static void add(int n, const double *from, double *to) {
    for (int i = 0; i < n; i++) to[i] += from[i];
}

void ti_motion_now(const ti_motion *m, int t, double *v) {
    const ti_tree *tree = tree_of(m, t);
    if (!tree->single) {
        memcpy(v, m->now + tree->v, sizeof *v * (size_t)tree->nv);
        return;
    }
    const ti_link *l = root(m, t);
    ti_store3(v, l->v), ti_store3(v + 3, ti_link_spin(l));
}

void ti_motion_now_vjp(const ti_motion *m, int t, const double *v_bar, ti_motion_bar *bar) {
    const ti_tree *tree = tree_of(m, t);
    if (!tree->single) {
        add(tree->nv, v_bar, bar->now + tree->v);
        return;
    }
    ti_link_diff *d = root_bar(m, t, bar);
    ti_vec *spin = ti_link_spin_diff(root(m, t), d);
    d->v = ti_add(d->v, ti_load3(v_bar)), *spin = ti_add(*spin, ti_load3(v_bar + 3));
}

void ti_motion_now_jvp(const ti_motion *m, int t, const ti_link_diff *diffs, double *v_dot) {
    ti_link_diff d = *root_dot(m, t, diffs);
    ti_store3(v_dot, d.v), ti_store3(v_dot + 3, *ti_link_spin_diff(root(m, t), &d));
}

void ti_motion_free(const ti_motion *m, int t, double *v) {
    const ti_tree *tree = tree_of(m, t);
    if (!tree->single) {
        memcpy(v, m->free + tree->v, sizeof *v * (size_t)tree->nv);
        return;
    }
    const ti_link *l = root(m, t);
    ti_store3(v, l->vf), ti_store3(v + 3, l->wf);
}

void ti_motion_free_vjp(const ti_motion *m, int t, const double *v_bar, ti_motion_bar *bar) {
    const ti_tree *tree = tree_of(m, t);
    if (!tree->single) {
        add(tree->nv, v_bar, bar->free + tree->v);
        return;
    }
    ti_link_diff *d = root_bar(m, t, bar);
    d->vf = ti_add(d->vf, ti_load3(v_bar)), d->wf = ti_add(d->wf, ti_load3(v_bar + 3));
}

void ti_motion_free_jvp(const ti_motion *m, int t, const ti_link_diff *diffs, double *v_dot) {
    const ti_link_diff *d = root_dot(m, t, diffs);
    ti_store3(v_dot, d->vf), ti_store3(v_dot + 3, d->wf);
}

/* ---- the twist of a body ---- */

void ti_motion_twist(const ti_motion *m, int body, const double *v, double *twist) {
    if (tree_of(m, m->model->body[body].tree)->single)
        memcpy(twist, v, WIDTH * sizeof *v);
    else
        ti_tree_twist(m, body, v, twist);
}

void ti_motion_twist_vjp(const ti_motion *m, int body, const double *v, const double *twist_bar, ti_motion_bar *bar) {
    if (!tree_of(m, m->model->body[body].tree)->single) ti_tree_twist_vjp(m, body, v, twist_bar, bar);
}

void ti_motion_column(const ti_motion *m, int body, int d, double *S) {
    ti_tree_column(m, body, d, S);
}

/* ---- integration ---- */

void ti_motion_integrate(const ti_motion *m, int t, const double *D, const double *V, double *q, double *v) {
    const ti_tree *tree = tree_of(m, t);
    ti_link one;
    if (tree->rooted) ti_link_integrate(ti_tree_root(m, t, &one), D, V, q + tree->q, v + tree->v);
    for (int d = tree->rooted ? TI_FREE_NV : 0; d < tree->nv; d++) {
        const ti_joint *j = &m->model->joint[m->model->dof[tree->v + d].joint];
        v[tree->v + d] = V[d];
        if (tree->v + d != j->v) continue; /* a joint's numbers of q together */
        ti_joint_of(j->kind)->add(m->q + j->q, D + d, q + j->q);
        if (j->kind == TI_JOINT_BALL) ti_quat_normalise(q + j->q);
    }
}

const ti_link *ti_motion_root(const ti_motion *m, int t, ti_link *one) {
    return ti_tree_root(m, t, one);
}

ti_link_diff *ti_motion_root_bar(const ti_motion *m, int t, ti_motion_bar *bar) {
    return tree_of(m, t)->shifted ? &bar->root[t] : root_bar(m, t, bar);
}

static void clear(const ti_motion *m, int t, ti_motion_bar *bar) {
    const ti_tree *tree = tree_of(m, t);
    size_t w = (size_t)tree->nv;
    memset(bar->link + tree->body0, 0, sizeof *bar->link * (size_t)tree->nbody);
    if (tree->single) return;
    if (tree->shifted) memset(bar->root + t, 0, sizeof *bar->root);
    memset(bar->axis + tree->v, 0, sizeof *bar->axis * w);
    ti_tree_clear_inertia_bar(m, tree, bar);
    memset(bar->now + tree->v, 0, sizeof *bar->now * w), memset(bar->free + tree->v, 0, sizeof *bar->free * w);
}

/* Of q exp(D): of q in its own axes, and of D. */
static void ball_vjp(const double *D, const double *next_bar, double *q_bar, double *D_bar) {
    ti_vec rot = ti_load3(D), th = ti_load3(next_bar);
    double e[4];
    ti_quat_exp(rot, e);
    ti_mat E = ti_quat_mat(e);
    ti_store3(q_bar, ti_mul(&E, th));
    ti_store3(D_bar, ti_exp_right(ti_scale(-1, rot), th));
}

void ti_motion_integrate_vjp(const ti_motion *m, int t, const double *D, const double *V, const double *qbar,
                             const double *vbar, ti_motion_bar *bar, double *D_bar, double *V_bar) {
    const ti_tree *tree = tree_of(m, t);
    clear(m, t, bar);
    qbar += tree->v, vbar += tree->v;
    ti_link one;
    ti_link_diff *own = ti_motion_root_bar(m, t, bar);
    if (tree->rooted) ti_link_integrate_vjp(ti_tree_root(m, t, &one), D, V, qbar, vbar, own, D_bar, V_bar);
    for (int d = tree->rooted ? TI_FREE_NV : 0; d < tree->nv; d++) {
        const ti_joint *j = &m->model->joint[m->model->dof[tree->v + d].joint];
        V_bar[d] = vbar[d];
        if (j->kind != TI_JOINT_BALL)
            D_bar[d] = bar->own[tree->v + d] = qbar[d];
        else if (tree->v + d == j->v)
            ball_vjp(D + d, qbar + d, bar->own + tree->v + d, D_bar + d);
    }
}

void ti_motion_integrate_jvp(const ti_motion *m, int t, const double *D, const double *V, const ti_link_diff *diffs,
                             const double *D_dot, const double *V_dot, double *qdot, double *vdot) {
    const ti_tree *tree = tree_of(m, t);
    ti_link_integrate_jvp(root(m, t), D, V, root_dot(m, t, diffs), D_dot, V_dot, qdot + tree->v, vdot + tree->v);
}

/* ---- how far ---- */

/* a' M b of a tree with joints */
static double by_inertia(const ti_motion *m, const ti_tree *tree, const double *a, const double *b) {
    const double *M = m->M + tree->M;
    double sum = 0;
    for (int r = 0; r < tree->nv; r++)
        for (int c = 0; c < tree->nv; c++) sum += a[r] * M[r * tree->nv + c] * b[c];
    return sum;
}

double ti_motion_moved(const ti_motion *m, int t, const double *D) {
    const ti_tree *tree = tree_of(m, t);
    if (!tree->single) return sqrt(by_inertia(m, tree, D, D) / ti_motion_heft(m, t));
    const ti_link *l = root(m, t);
    ti_vec lin = ti_load3(D), ang = ti_load3(D + 3);
    return sqrt(ti_dot(lin, lin) + ti_dot(ang, ti_mul(&l->I, ang)) / l->mass);
}

static void tree_moved_vjp(const ti_motion *m, int t, double square_bar, const double *D, double *D_bar,
                           ti_motion_bar *bar) {
    const ti_tree *tree = tree_of(m, t);
    double mass = ti_motion_heft(m, t), square = by_inertia(m, tree, D, D) / mass;
    const double *M = m->M + tree->M;
    for (int r = 0; r < tree->nv; r++)
        for (int c = 0; c < tree->nv; c++) D_bar[r] += 2 * square_bar / mass * M[r * tree->nv + c] * D[c];
    ti_tree_inertia_vjp(m, t, square_bar / mass, D, D, bar);
    ti_motion_heft_vjp(m, t, -square_bar * square, bar);
}

void ti_motion_moved_vjp(const ti_motion *m, int t, double square_bar, const double *D, double *D_bar,
                         ti_motion_bar *bar) {
    if (!tree_of(m, t)->single) {
        tree_moved_vjp(m, t, square_bar, D, D_bar, bar);
        return;
    }
    const ti_link *l = root(m, t);
    ti_link_diff *d = root_bar(m, t, bar);
    ti_vec lin = ti_load3(D), ang = ti_load3(D + 3), turned = ti_mul(&l->I, ang);
    ti_add3(D_bar, ti_scale(2 * square_bar, lin));
    ti_add3(D_bar + 3, ti_scale(2 * square_bar / l->mass, turned));
    ti_outer_add(&d->I, square_bar / l->mass, ang, ang);
    d->mass -= square_bar * ti_dot(ang, turned) / (l->mass * l->mass);
}

double ti_motion_moved_jvp(const ti_motion *m, int t, const ti_link_diff *diffs, const double *D, const double *D_dot) {
    const ti_link *l = root(m, t);
    const ti_link_diff *d = root_dot(m, t, diffs);
    ti_vec lin = ti_load3(D), ang = ti_load3(D + 3), turned = ti_mul(&l->I, ang);
    return 2 * ti_dot(lin, ti_load3(D_dot)) + 2 * ti_dot(turned, ti_load3(D_dot + 3)) / l->mass +
           ti_dot(ang, ti_mul(&d->I, ang)) / l->mass - d->mass * ti_dot(ang, turned) / (l->mass * l->mass);
}
