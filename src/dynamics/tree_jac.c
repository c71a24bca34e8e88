/* tree_jac.c -- see tree_jac.h. A displacement of number j moves all that it carries as one rigid body: seen from there
 * only what it stands on has moved, so that composites of the whole say what changes. */
#include "dynamics/tree_jac.h"
#include "base/clones.h"
#include "dynamics/bias.h"
#include "math/dense.h"
#include <string.h>

static const ti_spatial none = {{0, 0, 0}, {0, 0, 0}};

void ti_tree_jac_carve(ti_arena *a, const tribo_model *model, ti_tree_jac *j) {
    if (model->chains)
        ti_tree_jac_carve_all(a, model, j);
    else
        *j = (ti_tree_jac){0};
}

void ti_tree_jac_carve_all(ti_arena *a, const tribo_model *model, ti_tree_jac *j) {
    int nv = model->size.nv;
    size_t nM = model->nM;
    TI_CARVE(a, j->twist, nv);
    TI_CARVE(a, j->acceleration, nv);
    TI_CARVE(a, j->wrench, nv);
    TI_CARVE(a, j->solved, nv);
    TI_CARVE(a, j->turned, nv);
    TI_CARVE(a, j->hurried, nv);
    TI_CARVE(a, j->lift, model->lifted ? nv : 0);
    TI_CARVE(a, j->change, TI_TWIST_BY_SPIN * (size_t)nv);
    TI_CARVE(a, j->rate, nv);
    TI_CARVE(a, j->acc, nv);
    TI_CARVE(a, j->start, nv);
    TI_CARVE(a, j->pivot, nv);
    TI_CARVE(a, j->C, nM);
    TI_CARVE(a, j->K, nM);
    TI_CARVE(a, j->G, nM);
    TI_CARVE(a, j->free_q, nM);
    TI_CARVE(a, j->free_v, nM);
    TI_CARVE(a, j->free_u, nM);
    TI_CARVE(a, j->driven, model->size.nactuator ? nM : 0);
    TI_CARVE(a, j->along, model->ntree);
    TI_CARVE(a, j->drag_q, model->fluid ? nM : 0);
    TI_CARVE(a, j->drag_v, model->fluid ? nM : 0);
    TI_CARVE(a, j->part, model->fluid ? nv : 0);
    TI_CARVE(a, j->blown, model->fluid ? nv : 0);
}

/* ---- composites ---- */

/* B (6,3) by an angular velocity. */
TI_INLINE ti_spatial column(const double *B, ti_vec w) {
    double out[TI_TWIST];
    for (int r = 0; r < TI_TWIST; r++) out[r] = B[3 * r] * w.x + B[3 * r + 1] * w.y + B[3 * r + 2] * w.z;
    return (ti_spatial){ti_load3(out), ti_load3(out + 3)};
}

/* The same of B'. */
TI_INLINE ti_vec row(const double *B, ti_spatial x) {
    double out[3] = {0}, in[TI_TWIST];
    ti_store3(in, x.w), ti_store3(in + 3, x.v);
    for (int r = 0; r < TI_TWIST; r++)
        for (int c = 0; c < 3; c++) out[c] += B[3 * r + c] * in[r];
    return ti_load3(out);
}

/* B += how the wrench of a body changes with its twist where its acceleration goes along: I (x × nu) + x ×* I nu + nu
 * ×* I x. With nu = (o, u) and the momentum P it is (2 o × I - tr I o - 2 h × u ×, -2 P ×) of the angular velocity
 * alone. docs/math.md eq. (165). */
TI_INLINE void add_change(const ti_spatial_inertia *I, ti_spatial nu, double *B) {
    ti_mat O = ti_skew(nu.w), U = ti_skew(nu.v), H = ti_skew(I->h), OI = ti_matmul(&O, &I->I), HU = ti_matmul(&H, &U);
    ti_mat P = ti_skew(ti_sp_times(I, nu).v);
    double trace = I->I.m[0][0] + I->I.m[1][1] + I->I.m[2][2];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            B[3 * r + c] += 2 * (OI.m[r][c] - HU.m[r][c]) - trace * O.m[r][c];
            B[9 + 3 * r + c] -= 2 * P.m[r][c];
        }
}

/* How much of what each number carries is not weighed. */
static void lifts(const ti_motion *m, const ti_tree *tree, ti_tree_jac *j) {
    const ti_dof *dof = m->model->dof;
    if (!m->model->lifted) return;
    for (int d = tree->v; d < tree->v + tree->nv; d++) j->lift[d] = none;
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) {
        int last = m->model->body[b].last;
        double mass = m->model->body[b].gravcomp * m->link[b].mass;
        if (last >= 0) j->lift[last] = ti_sp_axpy(j->lift[last], mass, (ti_spatial){m->link[b].xc, {1, 0, 0}});
    }
    for (int d = tree->v + tree->nv - 1; d >= tree->v; d--)
        if (dof[d].before >= 0) j->lift[dof[d].before] = ti_sp_axpy(j->lift[dof[d].before], 1, j->lift[d]);
}

/* The wrench that it takes where all of it is accelerated alike. */
TI_INLINE ti_spatial lifting(ti_spatial lift, ti_vec x) {
    return (ti_spatial){ti_cross(lift.w, x), ti_scale(lift.v.x, x)};
}

TI_CLONES static void composites(const ti_motion *m, const ti_tree *tree, ti_tree_jac *j) {
    const ti_dof *dof = m->model->dof;
    memset(j->change + TI_TWIST_BY_SPIN * tree->v, 0, sizeof *j->change * TI_TWIST_BY_SPIN * (size_t)tree->nv);
    for (int d = tree->v; d < tree->v + tree->nv; d++)
        j->twist[d] = ti_sp_axpy(dof[d].before >= 0 ? j->twist[dof[d].before] : none, m->middle[d], m->axis[d]);
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) {
        int last = m->model->body[b].last;
        if (last >= 0) add_change(&m->inertia[b], j->twist[last], j->change + TI_TWIST_BY_SPIN * last);
    }
    for (int d = tree->v + tree->nv - 1; d >= tree->v; d--) {
        if (dof[d].before < 0) continue;
        double *to = j->change + TI_TWIST_BY_SPIN * dof[d].before, *from = j->change + TI_TWIST_BY_SPIN * d;
        for (int k = 0; k < TI_TWIST_BY_SPIN; k++) to[k] += from[k];
    }
}

/* Of what carries axis d, of the world where nothing does. */
TI_INLINE ti_spatial under(const ti_motion *m, const ti_spatial *of, ti_spatial world, int d) {
    int by = m->model->dof[d].carried_by;
    return by >= 0 ? of[by] : world;
}

bool ti_dof_moves(const ti_motion *m, int d, int e) {
    const ti_dof *dof = m->model->dof;
    return d <= e || (dof[d].end == dof[e].end && dof[e].moved_by >= d);
}

/* The accelerations that a unit of V_d makes of all that d carries, and by them and its twist the wrench on that. */
TI_INLINE ti_spatial rate_by(const ti_motion *m, const ti_tree_jac *j, int d) {
    ti_spatial s = m->axis[d], nu = under(m, j->twist, none, d);
    ti_spatial within = ti_sp_axpy(j->twist[m->model->dof[d].end], -1, nu);
    return ti_sp_axpy(ti_sp_cross(within, s), 2, ti_sp_cross(nu, s));
}
TI_INLINE ti_spatial push_of(const ti_motion *m, const ti_tree_jac *j, int d) {
    return ti_sp_axpy(column(j->change + TI_TWIST_BY_SPIN * d, m->axis[d].w), 1,
                      ti_sp_times(&m->carried[d], j->rate[d]));
}

/* eq. (166): C[e][d], the deeper of the two decides whose composite counts. */
TI_CLONES static void by_velocity(const ti_motion *m, const ti_tree *tree, ti_tree_jac *j) {
    int v0 = tree->v, w = tree->nv;
    double *C = j->C + tree->M;
    memset(C, 0, sizeof *C * (size_t)w * (size_t)w);
    for (int d = v0; d < v0 + w; d++) {
        j->rate[d] = rate_by(m, j, d);
        ti_spatial own = push_of(m, j, d);
        ti_vec by_nu = row(j->change + TI_TWIST_BY_SPIN * d, m->axis[d]);
        ti_spatial by_a = ti_sp_times(&m->carried[d], m->axis[d]);
        for (int e = d; e >= 0; e = m->model->dof[e].before) {
            C[(e - v0) * w + d - v0] = ti_sp_dot(m->axis[e], own);
            if (e == d) continue;
            C[(d - v0) * w + e - v0] = ti_dot(by_nu, m->axis[e].w) + ti_sp_dot(by_a, j->rate[e]);
        }
    }
}

/* ---- displacements ---- */

/* Accelerations with the joints' own j->acc, and wrenches. */
TI_CLONES static void accelerate(const ti_motion *m, const ti_tree *tree, ti_spatial world, ti_tree_jac *j) {
    const ti_dof *dof = m->model->dof;
    for (int d = tree->v; d < tree->v + tree->nv; d++) {
        ti_spatial rate = ti_sp_cross(under(m, j->twist, none, d), m->axis[d]);
        ti_spatial a = ti_sp_axpy(dof[d].before >= 0 ? j->acceleration[dof[d].before] : world, j->acc[d], m->axis[d]);
        j->acceleration[d] = ti_sp_axpy(a, m->middle[d], rate);
        j->wrench[d] = none;
    }
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) {
        int last = m->model->body[b].last;
        if (last < 0) continue;
        const ti_spatial_inertia *I = &m->inertia[b];
        ti_spatial nu = j->twist[last], f = ti_sp_times(I, j->acceleration[last]);
        f = ti_sp_axpy(f, 1, ti_sp_cross_force(nu, ti_sp_times(I, nu)));
        double carried = m->model->body[b].gravcomp * m->link[b].mass;
        if (carried != 0) f = ti_sp_axpy(f, -carried, ti_sp_wrench(none.w, m->link[b].xc, world.v));
        j->wrench[last] = ti_sp_axpy(j->wrench[last], 1, f);
    }
    for (int d = tree->v + tree->nv - 1; d >= tree->v; d--)
        if (dof[d].before >= 0) j->wrench[dof[d].before] = ti_sp_axpy(j->wrench[dof[d].before], 1, j->wrench[d]);
}

/* What a displacement by number d changes for those that it carries: twists and accelerations; eq. (164). */
TI_INLINE void shift(const ti_motion *m, ti_tree_jac *j, ti_spatial world, int d) {
    ti_spatial s = m->axis[d], under_nu = under(m, j->twist, none, d);
    j->turned[d] = ti_sp_cross(under_nu, s);
    j->hurried[d] =
        ti_sp_axpy(ti_sp_cross(under(m, j->acceleration, world, d), s), -1, ti_sp_cross(j->turned[d], under_nu));
}

/* Where weight is not felt. */
TI_INLINE ti_spatial lifted(const ti_motion *m, const ti_tree_jac *j, ti_spatial world, int d, int deeper) {
    return lifting(j->lift[deeper], ti_cross(world.v, m->axis[d].w));
}

/* How the wrench on what number `deeper` carries changes, seen from there, where number d is displaced. */
TI_INLINE ti_spatial turn_of(const ti_motion *m, const ti_tree_jac *j, ti_spatial world, int d, int deeper) {
    ti_spatial f = ti_sp_axpy(column(j->change + TI_TWIST_BY_SPIN * deeper, j->turned[d].w), 1,
                              ti_sp_times(&m->carried[deeper], j->hurried[d]));
    return m->model->lifted ? ti_sp_axpy(f, -1, lifted(m, j, world, d, deeper)) : f;
}

/* eq. (165) */
TI_CLONES static void by_place(const ti_motion *m, const ti_tree *tree, ti_spatial world, double scale,
                               ti_tree_jac *j) {
    const ti_dof *dof = m->model->dof;
    int v0 = tree->v, w = tree->nv;
    double *G = j->G + tree->M;
    memset(G, 0, sizeof *G * (size_t)w * (size_t)w);
    for (int d = v0; d < v0 + w; d++) shift(m, j, world, d);
    for (int e = v0; e < v0 + w; e++) {
        ti_spatial own = turn_of(m, j, world, e, e);
        ti_vec by_nu = row(j->change + TI_TWIST_BY_SPIN * e, m->axis[e]);
        ti_spatial by_a = ti_sp_times(&m->carried[e], m->axis[e]);
        ti_spatial fixed = ti_sp_axpy(own, 1, ti_sp_cross_force(m->axis[e], j->wrench[e]));
        for (int d = e; d >= 0; d = dof[d].before) {
            double power = ti_dot(by_nu, j->turned[d].w) + ti_sp_dot(by_a, j->hurried[d]); /* e is carried by d */
            if (m->model->lifted) power -= ti_sp_dot(m->axis[e], lifted(m, j, world, d, e));
            G[(e - v0) * w + d - v0] = scale * power;
            if (d == e) continue; /* d carries e, which is displaced */
            bool moves = dof[d].joint == dof[e].joint && ti_dof_moves(m, e, d);
            G[(d - v0) * w + e - v0] = scale * ti_sp_dot(m->axis[d], moves ? own : fixed);
        }
    }
}

/* The accelerations a of a tree that rests, and the wrenches that they take. */
TI_CLONES static void accelerate_rest(const ti_motion *m, const ti_tree *tree, const double *a, ti_tree_jac *j) {
    const ti_dof *dof = m->model->dof;
    for (int d = tree->v; d < tree->v + tree->nv; d++) {
        ti_spatial before = dof[d].before >= 0 ? j->acceleration[dof[d].before] : none;
        j->acceleration[d] = ti_sp_axpy(before, a[d - tree->v], m->axis[d]);
        j->hurried[d] = ti_sp_cross(under(m, j->acceleration, none, d), m->axis[d]);
        j->wrench[d] = none;
    }
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++) {
        int last = m->model->body[b].last;
        if (last < 0) continue;
        ti_spatial f = ti_sp_times(&m->inertia[b], j->acceleration[last]);
        j->wrench[last] = ti_sp_axpy(j->wrench[last], 1, f);
    }
    for (int d = tree->v + tree->nv - 1; d >= tree->v; d--)
        if (dof[d].before >= 0) j->wrench[dof[d].before] = ti_sp_axpy(j->wrench[dof[d].before], 1, j->wrench[d]);
}

TI_CLONES static void by_inertia(const ti_motion *m, const ti_tree *tree, ti_tree_jac *j) {
    const ti_dof *dof = m->model->dof;
    int v0 = tree->v, w = tree->nv;
    double *G = j->G + tree->M;
    memset(G, 0, sizeof *G * (size_t)w * (size_t)w);
    for (int e = v0; e < v0 + w; e++) {
        ti_spatial own = ti_sp_times(&m->carried[e], j->hurried[e]), by_a = ti_sp_times(&m->carried[e], m->axis[e]);
        ti_spatial fixed = ti_sp_axpy(own, 1, ti_sp_cross_force(m->axis[e], j->wrench[e]));
        for (int d = e; d >= 0; d = dof[d].before) {
            G[(e - v0) * w + d - v0] = ti_sp_dot(by_a, j->hurried[d]);
            bool moves = dof[d].joint == dof[e].joint && ti_dof_moves(m, e, d);
            if (d != e) G[(d - v0) * w + e - v0] = ti_sp_dot(m->axis[d], moves ? own : fixed);
        }
    }
}

void ti_tree_jac_inertia(const ti_motion *m, const ti_tree *tree, const double *a, ti_tree_jac *j) {
    accelerate_rest(m, tree, a, j);
    by_inertia(m, tree, j);
}

void ti_tree_jac_velocity(const ti_motion *m, const ti_tree *tree, ti_tree_jac *j) {
    composites(m, tree, j);
    lifts(m, tree, j);
    by_velocity(m, tree, j);
}

void ti_tree_jac_place(const ti_motion *m, const ti_tree *tree, ti_vec gravity, double scale, ti_tree_jac *j) {
    ti_spatial world = {{0, 0, 0}, ti_scale(-1, gravity)};
    accelerate(m, tree, world, j);
    by_place(m, tree, world, scale, j);
}

bool ti_tree_jac_factor(const ti_motion *m, const ti_tree *tree, const double *M, double dt, ti_tree_jac *j) {
    int w = tree->nv;
    double *K = j->K + tree->M;
    const double *C = j->C + tree->M;
    ti_tree_jac_velocity(m, tree, j);
    for (int k = 0; k < w * w; k++) K[k] = M[k] + 0.5 * dt * C[k];
    return ti_lu(w, K, w, j->pivot + tree->v, 0) == 0;
}
