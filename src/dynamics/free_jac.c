/* free_jac.c -- see free_jac.h. */
#include "dynamics/free_jac.h"
#include "base/clones.h"
#include "dynamics/actuator.h"
#include "dynamics/ball.h"
#include "dynamics/branch.h"
#include "dynamics/fluid.h"
#include "dynamics/motion.h"
#include "dynamics/tree.h"
#include "math/dense.h"
#include <string.h>

/* to = A + s B, n numbers of each; to may be A. */
TI_CLONES_WIDE static void plus_times(int n, const double *A, double s, const double *restrict B, double *to) {
    for (int k = 0; k < n; k++) to[k] = A[k] + s * B[k];
}

TI_CLONES_WIDE static void negative(int n, const double *restrict A, double *restrict to) {
    for (int k = 0; k < n; k++) to[k] = -A[k];
}

/* The force of the spring of joint j, by where it stands: eq. (154). */
static void add_spring(const ti_motion *m, const ti_tree *tree, const ti_joint *j, double scale, double *G) {
    int w = tree->nv, at = j->v - tree->v;
    if (j->kind != TI_JOINT_BALL) {
        G[at * (w + 1)] += scale;
        return;
    }
    ti_mat D = ti_log_right(ti_ball_turn(m->q + j->q));
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) G[(at + r) * w + at + c] += scale * D.m[r][c];
}

/* j->G at the free velocity: of h inverse dynamics, with springs and actuators. */
static void inverse_at_free(const ti_motion *m, const ti_tree *tree, int t, const double *p, double dt,
                            ti_tree_jac *j) {
    const tribo_model *model = m->model;
    for (int d = tree->v; d < tree->v + tree->nv; d++) j->acc[d] = (m->free[d] - m->now[d]) / dt;
    ti_tree_jac_place(m, tree, ti_load3(p + TI_P_GRAVITY), dt, j);
    for (int d = tree->v; d < tree->v + tree->nv; d++) {
        const ti_joint *joint = &model->joint[model->dof[d].joint];
        if (joint->kind == TI_JOINT_FREE || d != joint->v || p[joint->p + TI_P_STIFFNESS] == 0) continue;
        add_spring(m, tree, joint, dt * p[joint->p + TI_P_STIFFNESS], j->G + tree->M);
    }
    if (model->size.nactuator == 0) return;
    double *driven = j->driven + tree->M;
    memset(driven, 0, sizeof *driven * (size_t)tree->nv * (size_t)tree->nv);
    ti_actuators_jac(m, t, p, driven, NULL);
    plus_times(tree->nv * tree->nv, j->G + tree->M, -dt, driven, j->G + tree->M);
}

/* ---- the free velocity ---- */

/* K = M + h/2 C, factored along the ways to the root, or, where that meets a small pivot, with rows exchanged. */
static bool factor_K(const ti_motion *m, int t, const double *M, double dt, ti_tree_jac *j) {
    const ti_tree *tree = &m->model->tree[t];
    int w = tree->nv;
    double *K = j->K + tree->M;
    const double *C = j->C + tree->M;
    ti_tree_jac_velocity(m, tree, j);
    plus_times(w * w, M, 0.5 * dt, C, K);
    j->along[t] = ti_branch_lu(m->model->dof + tree->v, tree->v, w, K);
    return j->along[t] || ti_tree_jac_factor(m, tree, M, dt, j);
}

/* X (w,w) = K^-1 X */
static void solve_K(const ti_motion *m, int t, const ti_tree_jac *j, double *X) {
    const ti_tree *tree = &m->model->tree[t];
    const double *K = j->K + tree->M;
    int w = tree->nv;
    if (j->along[t])
        ti_branch_lu_solve(m->model->dof + tree->v, tree->v, w, K, w, X);
    else
        ti_lu_solve_many(w, K, w, j->pivot + tree->v, w, X);
}

bool ti_tree_jac_load(ti_motion *m, int t, const double *p, double dt, bool whole, ti_tree_jac *j) {
    const tribo_model *model = m->model;
    const ti_tree *tree = &model->tree[t];
    int w = tree->nv, v0 = tree->v;
    if (tree->single) ti_tree_adopt(m, t);
    double *C = j->C + tree->M, *q = j->free_q + tree->M, *v = j->free_v + tree->M, *u = j->free_u + tree->M,
           *M = j->G + tree->M;
    ti_motion_inertia(m, t, M);
    if (!factor_K(m, t, M, dt, j)) return false;
    plus_times(w * w, M, -0.5 * dt, C, v);
    for (int d = v0; d < v0 + w; d++) {
        const ti_joint *joint = &model->joint[model->dof[d].joint];
        if (joint->p < 0) continue;
        const double *own = p + joint->p;
        v[(d - v0) * (w + 1)] -= dt * (own[TI_P_DAMPING] + dt * ti_stiffness(joint, own));
    }
    if (model->size.nactuator > 0) {
        double *driven = j->driven + tree->M;
        memset(driven, 0, sizeof *driven * (size_t)w * (size_t)w);
        ti_actuators_jac(m, t, p, NULL, driven);
        plus_times(w * w, v, dt, driven, v);
    }
    if (model->fluid) {
        ti_fluid_forces_jac(m, tree, j, j->drag_q + tree->M, j->drag_v + tree->M);
        plus_times(w * w, v, dt, j->drag_v + tree->M, v);
    }
    inverse_at_free(m, tree, t, p, dt, j);
    if (model->fluid) plus_times(w * w, j->G + tree->M, -dt, j->drag_q + tree->M, j->G + tree->M);
    negative(w * w, j->G + tree->M, q);
    if (!whole) return true;
    for (int k = 0; k < w * w; k++) u[k] = 0;
    for (int d = 0; d < w; d++) u[d * (w + 1)] = dt;
    solve_K(m, t, j, q), solve_K(m, t, j, v), solve_K(m, t, j, u);
    return true;
}

void ti_tree_jac_back(const ti_motion *m, int t, const ti_tree_jac *j, int asked, const double *Y, double *X,
                      double *work) {
    const ti_tree *tree = &m->model->tree[t];
    const ti_dof *dof = m->model->dof + tree->v;
    const double *K = j->K + tree->M;
    int w = tree->nv;
    ti_branch_times_many(dof, tree->v, w, m->M + tree->M, asked, Y, X);
    if (j->along[t]) {
        ti_branch_lu_solve_t(dof, tree->v, w, K, asked, X);
        return;
    }
    for (int c = 0; c < asked; c++) {
        for (int d = 0; d < w; d++) work[d] = X[d * TI_BRANCH_COLUMNS + c];
        ti_lu_solve_t(w, K, w, j->pivot + tree->v, work);
        for (int d = 0; d < w; d++) X[d * TI_BRANCH_COLUMNS + c] = work[d];
    }
}
