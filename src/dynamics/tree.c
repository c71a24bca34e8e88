/* tree.c -- see tree.h. Everything is in the world about its origin, so that a tree is sums along its chains. */
#include "dynamics/tree.h"
#include "base/base.h"
#include "dynamics/actuator.h"
#include "dynamics/ball.h"
#include "dynamics/bias.h"
#include "dynamics/borne.h"
#include "dynamics/branch.h"
#include "dynamics/fluid.h"
#include "dynamics/fours.h"
#include "dynamics/link.h"
#include "dynamics/midpoint.h"
#include "math/lanes.h"
#include <string.h>

static const ti_spatial none = {{0, 0, 0}, {0, 0, 0}};

/* ---- places: docs/math.md eq. (150) ---- */

static inline bool is_origin(ti_vec at) {
    return at.x == 0 && at.y == 0 && at.z == 0;
}

/* By a unit quaternion about the joint's point, most often the body's own. */
static void turn(ti_link *l, const ti_joint *j, const double *e) {
    ti_vec at = ti_load3(j->pos), anchor = l->xo;
    bool own = is_origin(at);
    if (!own) anchor = ti_add(l->xo, ti_mul(&l->R, at));
    ti_quat_mul(l->quat, e, l->quat);
    l->R = ti_quat_mat(l->quat);
    if (!own) l->xo = ti_sub(anchor, ti_mul(&l->R, at));
}

/* Axis k of a joint that stands where the link is now. */
static ti_spatial axis_of(const ti_link *l, const ti_joint *j, int k) {
    ti_vec at = ti_load3(j->pos);
    at = is_origin(at) ? l->xo : ti_add(l->xo, ti_mul(&l->R, at));
    ti_vec a = j->kind == TI_JOINT_BALL ? ti_col(&l->R, k) : ti_mul(&l->R, ti_load3(j->axis));
    return j->kind == TI_JOINT_SLIDE ? (ti_spatial){{0, 0, 0}, a} : (ti_spatial){a, ti_cross(at, a)};
}

/* Move a link by its next joint, and give that its axes: those of a ball turn with the link. */
static void move_by(ti_motion *m, ti_link *l, const ti_joint *j, const double *q) {
    if (j->kind == TI_JOINT_BALL) {
        double unit[4] = {q[0], q[1], q[2], q[3]};
        ti_quat_normalise(unit);
        turn(l, j, unit);
        for (int k = 0; k < 3; k++) m->axis[j->v + k] = axis_of(l, j, k);
        return;
    }
    double e[4], by = q[0] - j->ref;
    m->axis[j->v] = axis_of(l, j, 0);
    if (j->kind == TI_JOINT_SLIDE) {
        l->xo = ti_axpy(l->xo, by, m->axis[j->v].v);
        return;
    }
    ti_quat_exp(ti_scale(by, ti_load3(j->axis)), e);
    turn(l, j, e);
}

/* Where it stands on its parent as that does: no turn. */
static inline bool is_straight(const double *quat) {
    return quat[0] == 1 && quat[1] == 0 && quat[2] == 0 && quat[3] == 0;
}

/* Joint after joint, with the axes that these have. */
void ti_tree_place(ti_motion *m, int b, const double *q) {
    const ti_body *body = &m->model->body[b];
    ti_link *l = &m->link[b];
    const ti_link *up = body->parent >= 0 ? &m->link[body->parent] : NULL;
    l->xo = ti_load3(body->pos);
    if (up) l->xo = ti_add(up->xo, ti_mul(&up->R, l->xo));
    if (up && is_straight(body->quat)) {
        memcpy(l->quat, up->quat, sizeof l->quat), l->R = up->R;
    } else {
        memcpy(l->quat, body->quat, sizeof l->quat);
        if (up) ti_quat_mul(up->quat, l->quat, l->quat);
        l->R = ti_quat_mat(l->quat);
    }
    for (int k = 0; k < body->njoint; k++) {
        const ti_joint *j = &m->model->joint[body->joint0 + k];
        move_by(m, l, j, q + j->q);
    }
    l->xc = ti_add(l->xo, ti_mul(&l->R, l->com));
}

void ti_tree_root_axes(ti_motion *m, const ti_link *l, ti_vec centre, int v) {
    static const double one[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int k = 0; k < 3; k++) {
        ti_vec a = ti_col(&l->R, k);
        m->axis[v + k] = (ti_spatial){{0, 0, 0}, ti_load3(one[k])};
        m->axis[v + 3 + k] = (ti_spatial){a, ti_cross(centre, a)};
    }
}

const ti_link *ti_tree_root(const ti_motion *m, int t, ti_link *one) {
    const ti_tree *tree = &m->model->tree[t];
    if (!tree->shifted) return &m->link[tree->body0];
    *one = m->link[tree->body0];
    one->com = m->centre[t], one->xc = ti_add(one->xo, ti_mul(&one->R, one->com));
    return one;
}

/* What is welded to a free root moves with it. */
static bool is_of_root(const ti_motion *m, const ti_tree *tree, int body) {
    return m->model->body[body].last == m->model->body[tree->body0].last;
}

/* What a free root that does not move its own centre of mass does: that of it with what is welded to it, where all of
 * them stand, or the origin of its frame. */
static ti_vec centre_of(const ti_motion *m, int t) {
    const ti_tree *tree = &m->model->tree[t];
    if (tree->framed) return (ti_vec){0, 0, 0};
    const ti_link *root = &m->link[tree->body0];
    double mass = 0;
    ti_vec sum = {0, 0, 0};
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) {
        if (!is_of_root(m, tree, b)) continue;
        mass += m->link[b].mass, sum = ti_axpy(sum, m->link[b].mass, ti_sub(m->link[b].xc, root->xo));
    }
    return ti_scale(1 / mass, ti_tmul(&root->R, sum));
}

/* A free root's velocity is that of the point that its joint moves, and forces are about that. */
void ti_tree_root_now(ti_motion *m, int t, const double *v, const double *u) {
    const ti_tree *tree = &m->model->tree[t];
    ti_link *l = &m->link[tree->body0], one;
    ti_vec at = l->v;
    if (tree->shifted) {
        m->centre[t] = centre_of(m, t);
        at = ti_add(ti_load3(v + tree->v), ti_mul(&l->R, ti_cross(l->w, m->centre[t])));
        if (u) l->torque = ti_sub(ti_load3(u + tree->v + 3), ti_cross(m->centre[t], ti_tmul(&l->R, l->f)));
    }
    ti_tree_root_axes(m, l, ti_tree_root(m, t, &one)->xc, tree->v);
    ti_store3(m->now + tree->v, at), ti_store3(m->now + tree->v + 3, l->w);
}

/* ---- velocities ---- */

/* The twist of a body by a velocity whose first number is that of v0 in the model's. */
static ti_spatial twist_of(const ti_motion *m, int body, const double *v, int v0) {
    ti_spatial sum = none;
    for (int d = m->model->body[body].last; d >= 0; d = m->model->dof[d].before)
        sum = ti_sp_axpy(sum, v[d - v0], m->axis[d]);
    return sum;
}
/* Where the numbers of a body's tree begin. */
static int first_of(const ti_motion *m, int body) {
    return m->model->tree[m->model->body[body].tree].v;
}

void ti_tree_twist(const ti_motion *m, int body, const double *v, double *twist) {
    const ti_link *l = &m->link[body];
    ti_spatial nu = twist_of(m, body, v, first_of(m, body));
    ti_store3(twist, ti_sp_at(nu, l->xc)), ti_store3(twist + 3, ti_tmul(&l->R, nu.w));
}

/* Those of all bodies of a tree, by a velocity of the model: from the root, in m->along. */
static void find_twists(ti_motion *m, const ti_tree *tree, const double *v) {
    const ti_dof *dof = m->model->dof;
    for (int d = tree->v; d < tree->v + tree->nv; d++)
        m->along[d] = ti_sp_axpy(dof[d].before >= 0 ? m->along[dof[d].before] : none, v[d], m->axis[d]);
}
/* As a link has it. */
static void link_twist(const ti_motion *m, int body, ti_vec *v, ti_vec *w) {
    const ti_link *l = &m->link[body];
    int last = m->model->body[body].last;
    ti_spatial nu = last >= 0 ? m->along[last] : none;
    *v = ti_sp_at(nu, l->xc), *w = ti_tmul(&l->R, nu.w);
}

void ti_tree_column(const ti_motion *m, int body, int d, double *S) {
    const ti_link *l = &m->link[body];
    ti_store3(S, ti_sp_at(m->axis[d], l->xc)), ti_store3(S + 3, ti_tmul(&l->R, m->axis[d].w));
}

void ti_tree_load(ti_motion *m, int t, const double *p, const double *q, const double *v, const double *u) {
    const tribo_model *model = m->model;
    const ti_tree *tree = &model->tree[t];
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) {
        const ti_body *body = &model->body[b];
        ti_link *l = &m->link[b];
        if (body->free >= 0) {
            ti_link_load(l, p + body->p, q + body->q, v + body->v, u ? u + body->v : NULL);
            l->substeps = 1;
            continue;
        }
        ti_link_matter(l, p + body->p);
        for (int d = body->v; body->njoint > 0 && d <= body->last; d++) m->now[d] = v[d];
        ti_tree_place(m, b, q);
    }
    if (tree->rooted) ti_tree_root_now(m, t, v, u);
    m->q = q, m->u = u;
}

void ti_tree_speeds(ti_motion *m, int t) {
    const ti_tree *tree = &m->model->tree[t];
    find_twists(m, tree, m->now);
    for (int b = tree->body0 + tree->rooted; b < tree->body0 + tree->nbody; b++)
        link_twist(m, b, &m->link[b].v, &m->link[b].w);
}

/* The same of the velocities after the step. */
static void free_speeds(ti_motion *m, const ti_tree *tree) {
    find_twists(m, tree, m->free);
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) link_twist(m, b, &m->link[b].vf, &m->link[b].wf);
}

/* ---- inertia: docs/math.md eq. (151), (152) ---- */

TI_INLINE ti_spatial_inertia inertia_of(const ti_link *l) {
    ti_mat RI = ti_matmul(&l->R, &l->I);
    ti_vec h = ti_scale(l->mass, l->xc);
    double xc[3] = {l->xc.x, l->xc.y, l->xc.z}, square = ti_dot(h, l->xc), hs[3] = {h.x, h.y, h.z};
    ti_spatial_inertia out = {.m = l->mass, .h = h};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            double turned = RI.m[i][0] * l->R.m[j][0] + RI.m[i][1] * l->R.m[j][1] + RI.m[i][2] * l->R.m[j][2];
            out.I.m[i][j] = out.I.m[j][i] = turned - hs[i] * xc[j];
        }
        out.I.m[i][i] += square;
    }
    return out;
}

/* All of its numbers follow one another. */
TI_INLINE void add_inertia(ti_spatial_inertia *to, const ti_spatial_inertia *from) {
    enum { NUMBERS = sizeof *to / sizeof(double), WHOLE = NUMBERS / LANE * LANE };
    double *x = (double *)(void *)to;
    const double *y = (const double *)(const void *)from;
    TI_UNROLL for (int k = 0; k < WHOLE; k += LANE) * (vec4 *)(x + k) += *(const vec4 *)(y + k);
    TI_UNROLL for (int k = WHOLE; k < NUMBERS; k++) x[k] += y[k];
}

/* From the leaves to the root. */
TI_INLINE void carry(ti_motion *m, const ti_tree *tree) {
    const ti_dof *dof = m->model->dof;
    memset(m->carried + tree->v, 0, sizeof *m->carried * (size_t)tree->nv);
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++)
        if (m->model->body[b].last >= 0) add_inertia(&m->carried[m->model->body[b].last], &m->inertia[b]);
    for (int d = tree->v + tree->nv - 1; d >= tree->v; d--)
        if (dof[d].before >= 0) add_inertia(&m->carried[dof[d].before], &m->carried[d]);
}

void ti_tree_carry(ti_motion *m, const ti_tree *tree) {
    carry(m, tree);
}

TI_CLONES static void composite(ti_motion *m, const ti_tree *tree, double *M) {
    const ti_dof *dof = m->model->dof;
    int v0 = tree->v, w = tree->nv;
    if (ti_actuators_couple(m->model)) memset(M, 0, sizeof *M * (size_t)w * (size_t)w); /* else only these are set */
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) m->inertia[b] = inertia_of(&m->link[b]);
    carry(m, tree);
    for (int d = v0 + w - 1; d >= v0; d--) {
        ti_spatial momentum = ti_sp_times(&m->carried[d], m->axis[d]);
        for (int e = d; e >= 0; e = dof[e].before)
            M[(d - v0) * w + e - v0] = M[(e - v0) * w + d - v0] = ti_sp_dot(m->axis[e], momentum);
    }
}

void ti_tree_composite(ti_motion *m, const ti_tree *tree, double *M) {
    composite(m, tree, M);
}

void ti_tree_adopt(ti_motion *m, int t) {
    const ti_tree *tree = &m->model->tree[t];
    const ti_link *l = &m->link[tree->body0];
    double *now = m->now + tree->v, *free = m->free + tree->v;
    ti_tree_root_axes(m, l, l->xc, tree->v);
    ti_store3(now, l->v), ti_store3(now + 3, l->w), ti_store3(free, l->vf), ti_store3(free + 3, l->wf);
    for (int d = 0; d < tree->nv; d++) m->middle[tree->v + d] = 0.5 * (now[d] + free[d]);
    ti_tree_composite(m, tree, m->M + tree->M);
}

/* ---- forces: docs/math.md eq. (153), (154) ---- */

/* Those of controls, damping and springs, at the velocity before the step. */
static void joint_forces(const ti_motion *m, const ti_tree *tree, const double *p, double dt, double *force) {
    const tribo_model *model = m->model;
    for (int d = tree->v; d < tree->v + tree->nv; d++) {
        const ti_joint *j = &model->joint[model->dof[d].joint];
        force[d] = 0;
        if (j->p < 0) continue;
        const double *own = p + j->p;
        bool given = m->u && j->kind != TI_JOINT_FREE;
        force[d] = (given ? m->u[d] : 0) - own[TI_P_DAMPING] * m->now[d];
        if (ti_stiffness(j, own) == 0) continue;
        force[d] -= own[TI_P_STIFFNESS] * (ti_stretch(j, own, m->q, d) + dt * m->now[d]);
    }
    if (!tree->rooted) return;
    const ti_link *l = &m->link[tree->body0];
    ti_add3(force + tree->v, l->f), ti_add3(force + tree->v + 3, l->torque);
}

void ti_tree_solve(const ti_motion *m, int t, const double *in, double *out) {
    const ti_tree *tree = &m->model->tree[t];
    if (out != in) memcpy(out, in, sizeof *out * (size_t)tree->nv);
    ti_branch_solve(m->model->dof + tree->v, tree->v, tree->nv, m->factor + tree->M, out);
}

void ti_tree_mean_forces(ti_motion *m, int t, const double *p, double dt) {
    const ti_tree *tree = &m->model->tree[t];
    double *change = m->given;
    for (int d = tree->v; d < tree->v + tree->nv; d++) change[d] = (m->free[d] - m->now[d]) / dt;
    ti_bias_forces(m, tree, ti_load3(p + TI_P_GRAVITY), m->middle, change, m->next);
}

bool ti_tree_free(ti_motion *m, int t, const double *p, double dt) {
    const tribo_model *model = m->model;
    const ti_tree *tree = &model->tree[t];
    int w = tree->nv, v0 = tree->v;
    double *M = m->M + tree->M, *factor = m->factor + tree->M;
    ti_tree_speeds(m, t);
    ti_tree_composite(m, tree, M);
    for (int d = v0; d < v0 + w; d++) {
        const ti_joint *j = &model->joint[model->dof[d].joint];
        if (j->p < 0) continue;
        const double *own = p + j->p;
        M[(d - v0) * w + d - v0] += own[TI_P_ARMATURE] + dt * (own[TI_P_DAMPING] + dt * ti_stiffness(j, own));
    }
    ti_actuators_damp(m, t, p, dt, M);
    if (!ti_branch_factor(model->dof + v0, v0, w, M, factor)) return false;
    joint_forces(m, tree, p, dt, m->given);
    if (model->fluid) ti_fluid_forces(m, tree, m->given);
    if (!ti_midpoint(m, t, ti_load3(p + TI_P_GRAVITY), dt)) return false;
    free_speeds(m, tree);
    return true;
}

double ti_tree_energy(const ti_motion *m, int t, const double *p, const double *q) {
    const tribo_model *model = m->model;
    const ti_tree *tree = &model->tree[t];
    double e = 0;
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) {
        const ti_link *l = &m->link[b];
        e += 0.5 * l->mass * ti_dot(l->v, l->v) + 0.5 * ti_dot(l->w, ti_mul(&l->I, l->w));
        e -= (1 - model->body[b].gravcomp) * l->mass * ti_dot(ti_load3(p + TI_P_GRAVITY), l->xc);
    }
    for (int d = tree->v; d < tree->v + tree->nv; d++) {
        const ti_joint *j = &model->joint[model->dof[d].joint];
        if (j->p < 0) continue;
        const double *own = p + j->p;
        bool free = j->kind == TI_JOINT_FREE;
        double stretch = free ? 0 : ti_stretch(j, own, q, d);
        e += 0.5 * own[TI_P_ARMATURE] * m->now[d] * m->now[d] + 0.5 * ti_stiffness(j, own) * stretch * stretch;
    }
    return e;
}

/* ---- reverse ---- */

/* Body d's place turns and moves with its link: cotangents of what is fixed in it. */
static void link_turns(const ti_motion *m, int body, ti_vec turn, ti_motion_bar *bar) {
    const ti_link *l = &m->link[body];
    bar->link[body].th = ti_add(bar->link[body].th, ti_tmul(&l->R, turn));
}

void ti_tree_twist_vjp(const ti_motion *m, int body, const double *v, const double *twist_bar, ti_motion_bar *bar) {
    const ti_link *l = &m->link[body];
    int v0 = first_of(m, body);
    ti_vec force = ti_load3(twist_bar), torque = ti_mul(&l->R, ti_load3(twist_bar + 3));
    ti_spatial nu = twist_of(m, body, v, v0), wrench = ti_sp_wrench(torque, l->xc, force);
    for (int d = m->model->body[body].last; d >= 0; d = m->model->dof[d].before)
        bar->axis[d] = ti_sp_axpy(bar->axis[d], v[d - v0], wrench);
    bar->link[body].xc = ti_add(bar->link[body].xc, ti_cross(force, nu.w));
    link_turns(m, body, ti_cross(torque, nu.w), bar);
}

void ti_tree_clear_inertia_bar(const ti_motion *m, const ti_tree *tree, ti_motion_bar *bar) {
    size_t w = (size_t)tree->nv;
    double *M_bar = bar->M + tree->M;
    if (ti_actuators_couple(m->model))
        memset(M_bar, 0, sizeof *M_bar * w * w);
    else
        for (size_t d = 0; d < w; d++) M_bar[d * (w + 1)] = 0;
}

/* s a b' into bar->M, as far as something there is read: joints and drives have entries of their own in M, on its
 * diagonal unless a drive pulls at several joints. */
static void keep_inertia_bar(const ti_motion *m, const ti_tree *tree, double s, const double *a, const double *b,
                             ti_motion_bar *bar) {
    int w = tree->nv;
    double *M_bar = bar->M + tree->M;
    bool coupled = ti_actuators_couple(m->model);
    for (int d = 0; d < w; d++)
        for (int e = coupled ? 0 : d; e < (coupled ? w : d + 1); e++) M_bar[d * w + e] += s * a[d] * b[e];
}

/* M_bar += s a b': through the twists that a and b give every link, and the momenta of those. */
TI_CLONES static void inertia_vjp(const ti_motion *m, const ti_tree *tree, double s, const double *a, const double *b,
                                  ti_motion_bar *bar) {
    const ti_dof *dof = m->model->dof;
    int v0 = tree->v, w = tree->nv;
    for (int d = v0; d < v0 + w; d++) {
        int up = dof[d].before;
        bar->eta[d] = ti_sp_axpy(up >= 0 ? bar->eta[up] : none, a[d - v0], m->axis[d]);
        bar->twist[d] = ti_sp_axpy(up >= 0 ? bar->twist[up] : none, b[d - v0], m->axis[d]);
        bar->bias[d] = bar->carried[d] = none;
    }
    ti_four four;
    for (int i = tree->body0; ti_four_next(m->model, tree, &i, &four);) {
        const ti_inertia_4 I = ti_4_inertia(m->inertia, four.body);
        const ti_spatial_4 x = ti_4_spatial(bar->eta, four.last), y = ti_4_spatial(bar->twist, four.last);
        ti_pairs_4 pairs = ti_4_pairs(m, bar, &four);
        ti_4_pair(s, &x, &y, &pairs), ti_4_pairs_end(&pairs, &four, bar);
        ti_spatial_4 Ix = ti_4_momentum(&I, &x), Iy = ti_4_momentum(&I, &y);
        ti_4_add(&Ix, &four, bar->bias), ti_4_add(&Iy, &four, bar->carried);
    }
    for (int d = v0 + w - 1; d >= v0; d--) {
        int up = dof[d].before;
        bar->axis[d] = ti_sp_axpy(bar->axis[d], s * a[d - v0], bar->carried[d]);
        bar->axis[d] = ti_sp_axpy(bar->axis[d], s * b[d - v0], bar->bias[d]);
        if (up < 0) continue;
        bar->bias[up] = ti_sp_axpy(bar->bias[up], 1, bar->bias[d]);
        bar->carried[up] = ti_sp_axpy(bar->carried[up], 1, bar->carried[d]);
    }
}

void ti_tree_inertia_vjp(const ti_motion *m, int t, double s, const double *a, const double *b, ti_motion_bar *bar) {
    const ti_tree *tree = &m->model->tree[t];
    keep_inertia_bar(m, tree, s, a, b, bar);
    inertia_vjp(m, tree, s, a, b, bar);
}

/* The same for all of M_bar (w,w), row by row. */
void ti_tree_inertia_bar(const ti_motion *m, int t, const double *M_bar, ti_motion_bar *bar) {
    int w = m->model->tree[t].nv;
    double *unit = bar->place + m->model->tree[t].v;
    for (int r = 0; r < w; r++) {
        memset(unit, 0, sizeof *unit * (size_t)w);
        unit[r] = 1;
        ti_tree_inertia_vjp(m, t, 1, unit, M_bar + r * w, bar);
    }
}

void ti_tree_places_vjp(const ti_motion *m, const ti_tree *tree, ti_motion_bar *bar, double *place_bar) {
    const tribo_model *model = m->model;
    int v0 = tree->v, w = tree->nv;
    ti_spatial *on = bar->carried; /* the wrench on each number, and then on all that it moves */
    for (int d = v0; d < v0 + w; d++) on[d] = none;
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) {
        const ti_link *l = &m->link[b];
        const ti_link_diff *d = &bar->link[b];
        int last = model->body[b].last;
        if (last < 0) continue;
        ti_spatial wrench = ti_sp_wrench(ti_mul(&l->R, d->th), l->xc, d->xc);
        wrench = ti_sp_axpy(wrench, 1, ti_sp_wrench((ti_vec){0, 0, 0}, l->xo, d->xo));
        on[last] = ti_sp_axpy(on[last], 1, wrench);
    }
    for (int d = v0; d < v0 + w; d++) {
        int by = m->model->dof[d].moved_by;
        if (by >= 0) on[by] = ti_sp_axpy(on[by], 1, ti_sp_cross_force(m->axis[d], bar->axis[d]));
    }
    for (int d = v0 + w - 1; d >= v0; d--) {
        int before = model->dof[d].before;
        place_bar[d] += ti_sp_dot(m->axis[d], on[d]);
        if (before >= 0) on[before] = ti_sp_axpy(on[before], 1, on[d]);
    }
}

/* Of the spring of joint j, by where it stands; y: cotangents of its forces. */
static void spring_vjp(const ti_motion *m, const ti_joint *j, double stiffness, const double *y, double *q_bar) {
    double bar[3];
    if (stiffness == 0) return;
    for (int k = 0; k < ti_joint_of(j->kind)->nv; k++) bar[k] = -stiffness * y[k];
    ti_stretch_vjp(j, m->q, bar, q_bar);
}

/* Of damping, armature and springs, from the cotangents of forces, bar->y, and of the inertia, bar->M. */
static void joints_vjp(const ti_motion *m, const ti_tree *tree, const double *p, double dt, const ti_motion_bar *bar,
                       double *q_bar, double *p_bar) {
    const tribo_model *model = m->model;
    int w = tree->nv;
    for (int d = tree->v; d < tree->v + w; d++) {
        const ti_joint *j = &model->joint[model->dof[d].joint];
        if (j->p < 0) continue;
        const double *own = p + j->p, y = bar->y[d], on = bar->M[tree->M + (size_t)((d - tree->v) * (w + 1))];
        bar->v[d] -= (own[TI_P_DAMPING] + dt * ti_stiffness(j, own)) * y;
        if (d == j->v) spring_vjp(m, j, ti_stiffness(j, own), bar->y + d, q_bar + d);
        if (!p_bar) continue;
        double *to = p_bar + j->p;
        to[TI_P_ARMATURE] += on;
        to[TI_P_DAMPING] += dt * on - y * m->now[d];
        if (j->kind == TI_JOINT_FREE) continue;
        to[TI_P_STIFFNESS] += dt * dt * on - y * (ti_stretch(j, own, m->q, d) + dt * m->now[d]);
        if (j->kind != TI_JOINT_BALL) to[TI_P_SPRINGREF] += own[TI_P_STIFFNESS] * y;
    }
}

/* What the next place and velocity of a free root ask of it, where it is as one body with others or moves its origin.
 * @return the cotangent of the point that its joint moves. */
static ti_vec shifted_vjp(const ti_motion *m, int t, ti_motion_bar *bar) {
    const ti_tree *tree = &m->model->tree[t];
    const ti_link_diff *d = &bar->root[t];
    if (!tree->shifted) return (ti_vec){0, 0, 0};
    ti_add3(bar->place + tree->v, d->xc), ti_add3(bar->place + tree->v + 3, d->th);
    return ti_add(d->com, ti_tmul(&m->link[tree->body0].R, d->xc));
}

/* From the root's centre of mass to its frame, whose numbers q and v are; place (6), the tree's displacement, turns it
 * about the former. */
static void root_vjp(const ti_motion *m, int t, ti_motion_bar *bar, double *q_bar, double *v_bar, double *u_bar,
                     ti_vec *centre_bar) {
    const ti_tree *tree = &m->model->tree[t];
    ti_link one;
    const ti_link *l = ti_tree_root(m, t, &one);
    int v0 = tree->v;
    *centre_bar = shifted_vjp(m, t, bar);
    ti_vec lin = ti_tmul(&l->R, ti_load3(bar->place + v0)), vb = ti_tmul(&l->R, ti_load3(bar->v + v0));
    ti_vec f_bar = ti_load3(bar->y + v0), t_bar = ti_load3(bar->y + v0 + 3);
    ti_vec fb = ti_tmul(&l->R, l->f), fb_bar = ti_cross(l->com, t_bar); /* torque = tau - com x R'f */
    ti_vec turn = ti_add(ti_load3(bar->place + v0 + 3), ti_cross(l->com, lin));
    turn = ti_sub(ti_add(turn, ti_cross(ti_cross(l->w, l->com), vb)), ti_cross(fb, fb_bar));
    ti_add3(q_bar + v0, ti_load3(bar->place + v0)), ti_add3(q_bar + v0 + 3, turn);
    ti_add3(v_bar + v0, ti_load3(bar->v + v0));
    ti_add3(v_bar + v0 + 3, ti_add(ti_load3(bar->v + v0 + 3), ti_cross(l->com, vb)));
    ti_vec about = {0, 0, 0}; /* its own turns are about its centre of mass */
    for (int k = 3; k < TI_FREE_NV; k++) about = ti_add(about, ti_cross(m->axis[v0 + k].w, bar->axis[v0 + k].v));
    ti_vec turned = ti_add(ti_tmul(&l->R, about), ti_sub(ti_cross(vb, l->w), ti_cross(fb, t_bar)));
    *centre_bar = ti_add(*centre_bar, turned);
    if (!u_bar) return;
    ti_add3(u_bar + v0, ti_add(f_bar, ti_mul(&l->R, fb_bar)));
    ti_add3(u_bar + v0 + 3, t_bar);
}

/* The centre of mass of a free root and of what is welded to it, to masses and centres of mass of these. */
static void centre_vjp(const ti_motion *m, const ti_tree *tree, ti_vec centre_bar, double *p_bar) {
    const ti_link *root = &m->link[tree->body0];
    ti_vec world = ti_mul(&root->R, centre_bar), centre = {0, 0, 0};
    double mass = 0;
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++)
        if (is_of_root(m, tree, b)) mass += m->link[b].mass, centre = ti_axpy(centre, m->link[b].mass, m->link[b].xc);
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) {
        const ti_link *l = &m->link[b];
        if (!is_of_root(m, tree, b)) continue;
        double *to = p_bar + m->model->body[b].p;
        to[TI_P_MASS] += ti_dot(world, ti_sub(l->xc, ti_scale(1 / mass, centre))) / mass;
        ti_add3(to + TI_P_COM, ti_scale(l->mass / mass, ti_tmul(&l->R, world)));
    }
}

void ti_tree_matter_vjp(const ti_motion *m, const ti_tree *tree, const ti_motion_bar *bar, ti_vec centre_bar,
                        double *p_bar) {
    if (tree->shifted && !tree->framed) centre_vjp(m, tree, centre_bar, p_bar);
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) {
        const ti_link_diff *d = &bar->link[b];
        double *to = p_bar + m->model->body[b].p;
        ti_vec com = ti_add(d->com, ti_tmul(&m->link[b].R, d->xc));
        if (m->model->body[b].free >= 0 && !tree->shifted) com = ti_add(com, centre_bar);
        to[TI_P_MASS] += d->mass;
        ti_add3(to + TI_P_COM, com);
        ti_sym_add(to + TI_P_INERTIA, &d->I);
    }
}

void ti_tree_vjp(const ti_motion *m, int t, const double *p, double dt, ti_motion_bar *bar, double *q_bar,
                 double *v_bar, double *u_bar, double *p_bar, ti_vec *gravity_bar) {
    const ti_tree *tree = &m->model->tree[t];
    int w = tree->nv, v0 = tree->v, joints = v0 + (tree->rooted ? TI_FREE_NV : 0);
    double *y = bar->y + v0;
    ti_vec centre_bar = {0, 0, 0}, gravity = ti_load3(p + TI_P_GRAVITY);
    const double *change = m->given + v0; /* ti_tree_mean_forces() */
    ti_midpoint_vjp(m, t, dt, bar);
    for (int j = 0; j < w; j++) {
        y[j] *= dt, bar->place[v0 + j] = 0;
        bar->v[v0 + j] = bar->now[v0 + j] + bar->free[v0 + j];
    }
    keep_inertia_bar(m, tree, -1, y, change, bar);
    joints_vjp(m, tree, p, dt, bar, q_bar, p_bar);
    ti_actuators_damp_vjp(m, t, p, dt, bar, p_bar);
    ti_bias_vjp(m, tree, gravity, m->middle, bar->y, bar, bar->v, gravity_bar);
    for (int d = v0; d < v0 + w; d++) bar->axis[d] = ti_sp_axpy(bar->axis[d], change[d - v0], bar->bias[d]);
    ti_borne_vjp(m, tree, gravity, bar->y, bar, gravity_bar);
    if (m->model->fluid) ti_fluid_forces_vjp(m, tree, m->now, bar->y, bar, bar->v, p_bar);
    ti_tree_places_vjp(m, tree, bar, bar->place);
    if (tree->rooted) root_vjp(m, t, bar, q_bar, v_bar, u_bar, &centre_bar);
    for (int d = joints; d < v0 + w; d++) {
        q_bar[d] += bar->place[d] + bar->own[d], v_bar[d] += bar->v[d];
        if (u_bar) u_bar[d] += bar->y[d];
    }
    if (p_bar) ti_tree_matter_vjp(m, tree, bar, centre_bar, p_bar);
}
