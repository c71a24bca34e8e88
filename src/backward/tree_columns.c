/* tree_columns.c -- the step's Jacobians A and B of models with joints, by columns: displacements, velocities and
 * forces of every tree, through its free velocity, its contacts, what these take back of overlaps, and its integration.
 * docs/math.md eq. (164)-(167), (460). */
#include "backward/tree_phases.h"
#include "base/clones.h"
#include "dynamics/actuator.h"
#include "dynamics/ball.h"
#include "dynamics/bias.h"
#include "dynamics/free_jac.h"
#include "dynamics/tree.h"
#include "math/lanes.h"
#include "model/state.h"

/* ---- trees ---- */

/* ---- from velocities to states ---- */

TI_CLONES_WIDE static void add_scaled(int n, double s, const double *restrict x, double *restrict to) {
    for (int k = 0; k < n; k++) to[k] += s * x[k];
}

/* The next place of what slides and turns about an axis: rows of places, which have what is displaced beside, from
 * those of velocities. */
static void integrate_rows(const tribo_ws *ws, const ti_tree *tree, const ti_target *to) {
    for (int e = tree->v + (tree->rooted ? TI_FREE_NV : 0); e < tree->v + tree->nv; e++) {
        if (ws->model->joint[ws->model->dof[e].joint].kind == TI_JOINT_BALL) continue;
        for (ti_column_kind kind = TI_BY_PLACE; kind < TI_KINDS; kind++) {
            const double *v = ti_target_entry(to, kind, to->nv + e, 0);
            add_scaled(to->nv, ws->options.dt, v, ti_target_entry(to, kind, e, 0));
        }
        *ti_target_entry(to, TI_BY_PLACE, e, e) += 1;
    }
}

/* The next place and velocity of a root or of a ball, `n` numbers each, are linear in what a column has of it: of the
 * place before, of what is displaced and of the velocity; by_place is that of the place before. */
typedef struct integration {
    int n;
    double by_place[2 * TI_FREE_NV][TI_FREE_NV], by_moved[2 * TI_FREE_NV][TI_FREE_NV],
        by_velocity[2 * TI_FREE_NV][TI_FREE_NV];
} integration;

static void set_block(double (*to)[TI_FREE_NV], int row, int col, const ti_mat *A) {
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) to[row + r][col + c] = A->m[r][c];
}

/* Of a rotation and an angular velocity, rows from `turn` and `spin` on. */
static void integrate_turn(const ti_link_jac *j, int turn, int spin, integration *map) {
    static const ti_mat one = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    set_block(map->by_place, turn, map->n - 3, &j->th_th);
    set_block(map->by_moved, turn, map->n - 3, &j->th_D);
    set_block(map->by_velocity, spin, map->n - 3, &one);
}

/* Of the numbers of tree t from its e-th on: those of a ball, or of a free root, whose velocity in the state is that of
 * its frame. docs/math.md eq. (17). */
static integration integration_of(tribo_ws *ws, const ti_frame *f, int t, int e) {
    static const ti_mat one = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    const double *D = ws->D + ws->model->tree[t].v + e, none[TI_FREE_NV] = {0};
    integration map = {.n = e == 0 && ws->model->tree[t].rooted ? TI_FREE_NV : 3};
    ti_link own = {.substeps = 1};
    ti_link_jac j = {.centred = map.n == 3};
    if (map.n == 3) {
        double turn[TI_FREE_NV] = {0, 0, 0, D[0], D[1], D[2]};
        ti_link_jac_integrate(&own, turn, none, &j);
        integrate_turn(&j, 0, 3, &map);
        return map;
    }
    ti_link_jac_integrate(ti_tree_root(&ws->motion, t, &own), D, ti_solved_velocity(ws, f, t), &j);
    integrate_turn(&j, 3, 9, &map);
    ti_mat place = ti_matmul(&j.lever, &j.th_th), moved = ti_matmul(&j.lever, &j.th_D),
           swung = ti_matmul(&j.swing, &j.th_th), swing = ti_matmul(&j.swing, &j.th_D);
    set_block(map.by_place, 0, 0, &one), set_block(map.by_place, 0, 3, &place), set_block(map.by_place, 6, 3, &swung);
    set_block(map.by_moved, 0, 0, &one), set_block(map.by_moved, 0, 3, &moved), set_block(map.by_moved, 6, 3, &swing);
    set_block(map.by_velocity, 6, 0, &one), set_block(map.by_velocity, 6, 3, &j.lever);
    return map;
}

/* Eight columns of a row, or the last few with zeros beside. */
TI_INLINE void load_columns(const double *row, int n, vec8 *x) {
    *x = (vec8){0};
    if (n == 8) *x = *(const vec8 *)(const void *)row;
    for (int c = 0; n < 8 && c < n; c++) (*x)[c] = row[c];
}
TI_INLINE void store_columns(const vec8 *x, int n, double *row) {
    if (n == 8) *(vec8 *)(void *)row = *x;
    for (int c = 0; n < 8 && c < n; c++) row[c] = (*x)[c];
}

/* Rows of places, which have what is displaced beside, and of velocities from number `at` on. */
TI_CLONES_WIDE static void integrate_columns(const integration *map, double dt, int at, ti_column_kind kind,
                                             const ti_target *to) {
    for (int c0 = 0; c0 < to->nv; c0 += 8) {
        vec8 v[TI_FREE_NV], q[TI_FREE_NV];
        int w = to->nv - c0 < 8 ? to->nv - c0 : 8, n = map->n;
        for (int i = 0; i < n; i++) {
            load_columns(ti_target_entry(to, kind, to->nv + at + i, c0), w, &v[i]);
            load_columns(ti_target_entry(to, kind, at + i, c0), w, &q[i]);
            q[i] += dt * v[i];
        }
        for (int r = 0; r < 2 * n; r++) {
            vec8 out = {0};
            for (int i = 0; i < n; i++) {
                double moved = map->by_moved[r][i], velocity = map->by_velocity[r][i];
                if (moved != 0) out += moved * q[i];
                if (velocity != 0) out += velocity * v[i];
            }
            store_columns(&out, w, ti_target_entry(to, kind, r < n ? at + r : to->nv + at + r - n, c0));
        }
    }
}

/* From velocities to states. */
static void integrate(tribo_ws *ws, const ti_frame *f, int t, const ti_target *to) {
    const tribo_model *m = ws->model;
    const ti_tree *tree = &m->tree[t];
    integrate_rows(ws, tree, to);
    for (int e = 0; e < tree->nv; e++) {
        const ti_joint *joint = &m->joint[m->dof[tree->v + e].joint];
        bool root = tree->rooted && e == 0, ball = joint->kind == TI_JOINT_BALL && tree->v + e == joint->v;
        if (!root && !ball) continue;
        integration map = integration_of(ws, f, t, e);
        for (ti_column_kind kind = TI_BY_PLACE; kind < TI_KINDS; kind++)
            integrate_columns(&map, ws->options.dt, tree->v + e, kind, to);
        for (int r = 0; r < 2 * map.n; r++) {
            int row = r < map.n ? tree->v + e + r : to->nv + tree->v + e + r - map.n;
            for (int c = 0; c < map.n; c++)
                *ti_target_entry(to, TI_BY_PLACE, row, tree->v + e + c) += map.by_place[r][c];
        }
    }
}

/* y += x A for three columns of a row each. */
static void add_times(const double *x, const ti_mat *A, double *y) {
    ti_add3(y, ti_tmul(A, ti_load3(x)));
}

/* The columns of a free root, which are of its centre of mass, become those of its frame. */
static void root_columns(const tribo_ws *ws, int t, const ti_target *to) {
    const ti_tree *tree = &ws->model->tree[t];
    ti_link one;
    const ti_link *l = ti_tree_root(&ws->motion, t, &one);
    ti_mat com = ti_skew(ti_scale(-1, l->com)), swing = ti_skew(ti_scale(-1, ti_cross(l->w, l->com))),
           push = ti_skew(ti_tmul(&l->R, l->f)), T = ti_transpose(&l->R);
    ti_mat arm = ti_matmul(&l->R, &com), fast = ti_matmul(&l->R, &swing), force = ti_matmul(&com, &T),
           turned = ti_matmul(&com, &push);
    for (int row = 0; row < 2 * to->nv; row++) {
        double *q = ti_target_entry(to, TI_BY_PLACE, row, tree->v),
               *v = ti_target_entry(to, TI_BY_VELOCITY, row, tree->v),
               *u = ti_target_entry(to, TI_BY_FORCE, row, tree->v);
        double lin[3] = {q[0], q[1], q[2]}, vel[3] = {v[0], v[1], v[2]};
        add_times(lin, &arm, q + 3), add_times(vel, &fast, q + 3), add_times(vel, &arm, v + 3);
        add_times(u + 3, &turned, q + 3), add_times(u + 3, &force, u);
    }
}

/* What forces of the model are, by what controls, and how strong; runs of them have both one after the other. */
enum { SOME = 64 };
typedef struct pulls {
    int n, force[SOME], control[SOME], run[SOME];
    double arm[SOME];
} pulls;

static void find_runs(pulls *p) {
    for (int k = 0, n; k < p->n; k += n) {
        for (n = 1; k + n < p->n; n++)
            if (p->force[k + n] != p->force[k] + n || p->control[k + n] != p->control[k] + n) break;
        p->run[k] = n;
    }
}

TI_CLONES_WIDE static void pull_rows(const pulls *p, const ti_target *to) {
    for (int row = 0; row < 2 * to->nv; row++) {
        double *u = ti_target_entry(to, TI_BY_FORCE, row, 0);
        for (int k = 0; k < p->n; k += p->run[k]) {
            const double *restrict from = u + p->force[k], *restrict arm = p->arm + k;
            double *restrict out = u + to->nv + p->control[k];
            for (int e = 0; e < p->run[k]; e++) out[e] += arm[e] * from[e];
        }
    }
}

/* The columns of controls, from those of the forces that they make, some at a time. */
static void control_columns(const tribo_ws *ws, const double *p, const ti_target *to) {
    const tribo_model *m = ws->model;
    pulls some = {.n = 0};
    for (int i = 0; i < m->size.nactuator; i++) {
        const ti_actuator *a = &m->actuator[i];
        double slope = ti_actuator_by_control(&ws->motion, i);
        for (int k = a->pull0; k < a->pull0 + a->npull; k++, some.n++) {
            if (some.n == SOME) find_runs(&some), pull_rows(&some, to), some.n = 0;
            some.force[some.n] = m->pull[k].v, some.control[some.n] = i;
            some.arm[some.n] = slope * ti_actuator_arm(&ws->motion, i, k, p);
        }
    }
    find_runs(&some), pull_rows(&some, to);
}

bool ti_tree_columns_apply(const tribo_ws *ws, const ti_frame *f, const double *p) {
    if (ws->model->spins || !ti_actuators_jac_applies(&ws->motion, p)) return false;
    for (int b = 0; b < ws->model->size.nbody; b++)
        if (ws->link[b].substeps > 1) return false;
    for (int k = 0; k < f->nisland; k++)
        if (f->island[k].phase[TI_RECOVER].npoint > 0 && f->island[k].pace[TI_RECOVER] < 1) return false;
    if (ti_frame_presses(f)) return false;
    return ti_phases_within(f->phases, 1u << TI_HOLD | 1u << TI_RECOVER) && ws->model->size.nequality == 0 &&
           !ti_contact_uses_delassus(ws->contact);
}

tribo_status ti_tree_jacobians(tribo_ws *ws, const ti_frame *f, const double *p, double *A, double *B) {
    const tribo_model *m = ws->model;
    ti_target to = {A, B, m->size.nv, m->size.nu};
    ti_tree_jac *j = &ws->scratch->tree_jac;
    memset(A, 0, sizeof *A * 4 * (size_t)to.nv * (size_t)to.nv);
    memset(B, 0, sizeof *B * 2 * (size_t)to.nv * (size_t)to.nu);
    for (int t = 0; t < m->ntree; t++) {
        const ti_tree *tree = &m->tree[t];
        bool touches = ws->blk_at[t] >= 0;
        if (!ti_tree_jac_load(&ws->motion, t, p, ws->options.dt, !touches, j)) return TRIBO_E_SINGULAR;
        for (int e = 0; !touches && e < tree->nv; e++)
            for (int d = 0; d < tree->nv; d++) {
                size_t at = tree->M + (size_t)(e * tree->nv + d);
                *ti_target_entry(&to, TI_BY_PLACE, to.nv + tree->v + e, tree->v + d) = j->free_q[at];
                *ti_target_entry(&to, TI_BY_VELOCITY, to.nv + tree->v + e, tree->v + d) = j->free_v[at];
                *ti_target_entry(&to, TI_BY_FORCE, to.nv + tree->v + e, tree->v + d) = j->free_u[at];
            }
    }
    for (int k = 0; k < f->nisland; k++) {
        tribo_status status = ti_tree_phases(ws, f, k, p, &to);
        if (status < 0) return status;
    }
    for (int t = 0; t < m->ntree; t++) integrate(ws, f, t, &to);
    for (int t = 0; t < m->ntree; t++)
        if (m->tree[t].rooted) root_columns(ws, t, &to);
    control_columns(ws, p, &to);
    return TRIBO_OK;
}
