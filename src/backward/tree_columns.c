/* tree_columns.c -- the step's Jacobians A and B of models with joints, by columns: displacements, velocities and
 * forces of every tree, through its free velocity, its contacts and its integration. docs/math.md eq. (164)-(167). */
#include "backward/backward.h"
#include "contact/reverse/panel.h"
#include "dynamics/actuator.h"
#include "dynamics/ball.h"
#include "dynamics/bias.h"
#include "dynamics/tree.h"
#include "math/dense.h"
#include "model/state.h"

/* What a column is by. */
typedef enum column_kind { BY_PLACE, BY_VELOCITY, BY_FORCE, KINDS } column_kind;

/* Where the matrices go. */
typedef struct target {
    double *A, *B;
    int nv, nu;
} target;

static double *entry(const target *t, column_kind kind, int row, int col) {
    if (kind == BY_FORCE) return t->B + (size_t)row * (size_t)t->nu + col;
    return t->A + (size_t)row * 2 * (size_t)t->nv + (kind == BY_VELOCITY ? t->nv : 0) + col;
}

/* ---- trees ---- */

/* Y (w,w) = A X */
static void times(int w, const double *A, const double *X, double *Y) {
    for (int r = 0; r < w; r++) ti_matvec_t(w, w, X, w, A + r * w, NULL, Y + r * w);
}

/* Everything of a tree that no contact changes; base_q is then M by the free velocity plus the derivative there. What
 * touches nothing needs the free velocity alone. */
static bool load_tree(tribo_ws *ws, const double *p, int t) {
    ti_tree_jac *j = &ws->scratch->tree_jac;
    const ti_tree *tree = &ws->model->tree[t];
    size_t at = tree->M, n = (size_t)tree->nv * (size_t)tree->nv;
    bool is_free = ws->blk_at[t] < 0;
    if (!ti_tree_jac_load(&ws->motion, t, p, ws->options.dt, is_free, j)) return false;
    if (is_free) return true;
    double *M = j->K + at, h = ws->options.dt; /* its factors have served */
    ti_motion_inertia(&ws->motion, t, M);
    times(tree->nv, M, j->free_u + at, j->base_u + at);
    times(tree->nv, j->base_u + at, j->free_q + at, j->base_q + at);
    times(tree->nv, j->base_u + at, j->free_v + at, j->base_v + at);
    for (size_t k = 0; k < n; k++) j->base_q[at + k] = j->base_q[at + k] / h + j->G[at + k], j->base_v[at + k] /= h;
    return true;
}

/* Twists of all links of an island at a solved velocity, of the frame's blocks. */
static void load_solution(tribo_ws *ws, const ti_frame *f, const ti_island *is, const double *p, const double *v) {
    ti_tree_jac *j = &ws->scratch->tree_jac;
    const ti_dof *dof = ws->model->dof;
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++) {
        int t = f->blk_tree[b];
        const ti_tree *tree = &ws->model->tree[t];
        const double *V = v + ws->at_v[b];
        ti_tree_jac_inverse(&ws->motion, t, p, ws->options.dt, V, j);
        for (int d = tree->v; d < tree->v + tree->nv; d++) {
            ti_spatial from = dof[d].before >= 0 ? j->solved[dof[d].before] : (ti_spatial){{0, 0, 0}, {0, 0, 0}};
            j->solved[d] = ti_sp_axpy(from, V[d - tree->v], ws->motion.axis[d]);
        }
    }
}

/* By a displacement; or by a unit impulse, which velocities and forces are made of. */
static void tree_column(const tribo_ws *ws, int t, column_kind kind, int d, double *r /* stride TI_PANEL */) {
    const ti_tree_jac *j = &ws->scratch->tree_jac;
    const ti_tree *tree = &ws->model->tree[t];
    if (kind == BY_FORCE) r[TI_PANEL * d] = 1;
    for (int e = 0; kind == BY_PLACE && e < tree->nv; e++) {
        size_t at = tree->M + (size_t)(e * tree->nv + d);
        r[TI_PANEL * e] = j->base_q[at] - j->G[at];
    }
}

/* ---- contacts ---- */

/* A contact at one point of the solution: its impulse as a wrench, its relative velocity. */
typedef struct pressed {
    const ti_con *c;
    const double *lambda;
    ti_vec force, speed;
    ti_spatial wrench;
    ti_mat D1, D2; /* of the tangents by the normal */
} pressed;

static ti_spatial solved_twist(const tribo_ws *ws, int body) {
    return ws->scratch->tree_jac.solved[ws->model->body[body].last];
}

static pressed press(const tribo_ws *ws, const ti_con *c, const double *lambda) {
    pressed q = {.c = c, .lambda = lambda};
    q.force = ti_scale(lambda[0], c->t1);
    q.force = ti_axpy(ti_axpy(q.force, lambda[1], c->t2), lambda[2], c->touch.normal);
    q.wrench = ti_sp_wrench((ti_vec){0, 0, 0}, c->touch.point, q.force);
    for (int side = 0; side < 2; side++) {
        int body = side ? c->b : c->a;
        if (body < 0) continue;
        q.speed = ti_axpy(q.speed, side ? 1 : -1, ti_sp_at(solved_twist(ws, body), c->touch.point));
    }
    ti_tangents_jac(c->touch.normal, &q.D1, &q.D2);
    return q;
}

/* How the link of a side moves in a displacement by number d, in the world and in its own axes. */
static void pose_of(const tribo_ws *ws, int body, int d, double *pose) {
    const ti_link *l = &ws->link[body];
    ti_spatial s = ws->motion.axis[d];
    ti_store3(pose, ti_sp_at(s, l->xo)), ti_store3(pose + 3, ti_tmul(&l->R, s.w));
}

/* A displacement by number d moves the link of `side`: a column of dc (3), of panels; returns how the wrench changes.
 */
static ti_spatial contact_column(const tribo_ws *ws, const pressed *q, int side, int d, const double *rate,
                                 double *dc) {
    const ti_con *c = q->c;
    const ti_spatial *axis = ws->motion.axis;
    int body = side ? c->b : c->a, by = ti_dof_carried_by(&ws->motion, d);
    double pose[TI_POSE], moved[TI_COLLIDE_ROWS], sign = side ? 1 : -1;
    pose_of(ws, body, d, pose);
    for (int k = 0; k < TI_COLLIDE_ROWS; k++) {
        moved[k] = 0;
        for (int e = 0; e < TI_POSE; e++) moved[k] += rate[TI_POSE * k + e] * pose[e];
    }
    ti_vec point = ti_load3(moved), normal = ti_load3(moved + 3), t1 = ti_mul(&q->D1, normal),
           t2 = ti_mul(&q->D2, normal);
    ti_vec force = ti_axpy(ti_axpy(ti_scale(q->lambda[0], t1), q->lambda[1], t2), q->lambda[2], normal);
    ti_spatial wrench = {ti_add(ti_cross(point, q->force), ti_cross(c->touch.point, force)), force};
    ti_spatial twist =
        ti_sp_cross(axis[d], by >= 0 ? ti_sp_axpy(solved_twist(ws, body), -1, ws->scratch->tree_jac.solved[by])
                                     : solved_twist(ws, body));
    ti_vec speed = ti_scale(sign, ti_sp_at(twist, c->touch.point));
    for (int s = 0; s < 2; s++) {
        int other = s ? c->b : c->a;
        if (other >= 0) speed = ti_axpy(speed, s ? 1 : -1, ti_cross(solved_twist(ws, other).w, point));
    }
    dc[0] += ti_dot(t1, q->speed) + ti_dot(c->t1, speed);
    dc[TI_PANEL] += ti_dot(t2, q->speed) + ti_dot(c->t2, speed);
    dc[2 * TI_PANEL] += ti_dot(normal, q->speed) + ti_dot(c->touch.normal, speed) + moved[6];
    return wrench;
}

/* What the contacts of two bodies push, `all`, and by how much that changes where number d displaces the link of
 * `side`: a column of r (nv of the island). */
static void push_column(const tribo_ws *ws, const ti_con *c, int side, int d, ti_spatial change, ti_spatial all,
                        double *r) {
    const tribo_model *m = ws->model;
    const ti_spatial *axis = ws->motion.axis;
    for (int s = 0; s < 2; s++) {
        int body = s ? c->b : c->a;
        if (body < 0) continue;
        const ti_tree *tree = &m->tree[m->body[body].tree];
        double *to = r + TI_PANEL * (ws->voff[ws->blk_at[m->body[body].tree]] - tree->v), sign = s ? 1 : -1;
        for (int e = m->body[body].last; e >= 0; e = m->dof[e].before) {
            to[TI_PANEL * e] += sign * ti_sp_dot(axis[e], change);
            if (s == side && ti_dof_moves(&ws->motion, d, e))
                to[TI_PANEL * e] += sign * ti_sp_dot(ti_sp_cross(axis[d], axis[e]), all);
        }
    }
}

/* Contacts of two bodies that follow one another from i on, no more than are pressed together. */
enum { TOGETHER = 8 };
static int press_pair(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i, int point, pressed *q,
                      ti_spatial *all) {
    const ti_con *first = &f->con[i];
    int n = 0;
    *all = (ti_spatial){{0, 0, 0}, {0, 0, 0}};
    for (const ti_con *c = first; n < TOGETHER && i + n < is->con0 + is->ncon; c++, n++) {
        if (c->kind != TI_CON_CONTACT || f->mode[i + n] == TRIBO_BREAK || c->a != first->a || c->b != first->b) break;
        q[n] = press(ws, c, f->phase[TI_HOLD].lambda[point] + 3 * (i + n));
        *all = ti_sp_axpy(*all, 1, q[n].wrench);
    }
    return n;
}

/* Their columns [first, end). */
static void pair_columns(const tribo_ws *ws, int i, int n, const pressed *q, ti_spatial all, int first, int end,
                         double *r, double *dc) {
    for (int side = 0; side < 2; side++) {
        int body = side ? q->c->b : q->c->a;
        if (body < 0) continue;
        for (int d = ws->model->body[body].last; d >= 0; d = ws->model->dof[d].before) {
            if (d < first || d >= end) continue;
            ti_spatial change = {{0, 0, 0}, {0, 0, 0}};
            for (int k = 0; k < n; k++) {
                const double *rate = ws->scratch->rate + TI_COLLIDE_ROWS * TI_POSE * (2 * (i + k) + side);
                double *of = dc + 3 * TI_PANEL * k + d - first;
                change = ti_sp_axpy(change, 1, contact_column(ws, &q[k], side, d, rate, of));
            }
            push_column(ws, q->c, side, d, change, all, r + d - first);
        }
    }
}

/* Of the limit of a ball, whose row turns with it. */
static void ball_columns(const tribo_ws *ws, const ti_frame *f, int k, int i, int point, int first, int end, double *r,
                         double *dc) {
    const tribo_model *m = ws->model;
    const ti_con *c = &f->con[i];
    const ti_phase_data *hold = &f->phase[TI_HOLD];
    int t = m->body[c->b].tree, b = ws->blk_at[t], at = c->v - m->tree[t].v;
    ti_mat D = ti_limit_way_jac(&m->joint[m->dof[c->v].joint], ws->motion.q);
    ti_vec speed = ti_tmul(&D, ti_load3(hold->v[point] + ws->at_v[b] + at));
    double by[3], ref = ti_frame_reference(ws, f, k, i).ref_gap;
    ti_store3(by, ti_axpy(speed, ref, ti_load3(c->way)));
    for (int d = 0; d < 3; d++) {
        int col = c->v + d - first;
        if (c->v + d < first || c->v + d >= end) continue;
        dc[2 * TI_PANEL + col] += c->sign * by[d];
        for (int e = 0; e < 3; e++)
            r[TI_PANEL * (ws->voff[b] + at + e) + col] += c->sign * hold->lambda[point][3 * i + 2] * D.m[e][d];
    }
}

/* Columns [first, end) of the model's numbers, into r (nv of the island) and dc (3 contacts), of a panel. */
static void contacts_columns(const tribo_ws *ws, const ti_frame *f, int k, int point, int first, int end, double *r,
                             double *dc) {
    const ti_island *is = &f->island[k];
    const tribo_model *m = ws->model;
    for (int i = is->con0, taken = 1; i < is->con0 + is->ncon; i += taken) {
        const ti_con *c = &f->con[i];
        double *of = dc + 3 * TI_PANEL * (i - is->con0);
        taken = 1;
        if (ti_con_turns(m, c))
            ball_columns(ws, f, k, i, point, first, end, r, of);
        else if (c->kind == TI_CON_LIMIT && c->v >= first && c->v < end)
            of[2 * TI_PANEL + c->v - first] += c->sign * ti_frame_reference(ws, f, k, i).ref_gap;
        if (c->kind != TI_CON_CONTACT || f->mode[i] == TRIBO_BREAK) continue;
        pressed q[TOGETHER];
        ti_spatial all;
        taken = press_pair(ws, f, is, i, point, q, &all);
        pair_columns(ws, i, taken, q, all, first, end, r, of);
    }
}

static void prepare_contacts(tribo_ws *ws, const ti_frame *f, const double *p) {
    ti_scratch *s = ws->scratch;
    for (int k = 0; k < f->nisland; k++)
        for (int i = f->island[k].con0; i < f->island[k].con0 + f->island[k].ncon; i++) {
            const ti_con *c = &f->con[i];
            if (c->kind == TI_CON_CONTACT && f->mode[i] != TRIBO_BREAK)
                ti_contact_rates(ws, f, k, i, p, s->rate, s->turns);
        }
}

/* ---- islands ---- */

/* One batch of columns of a tree, at a point of the solution, added to the rows of the next velocity. */
static void batch(tribo_ws *ws, const ti_frame *f, int k, int point, double weight, int t, column_kind kind, int first,
                  int end, const ti_contact_problem *problem, const target *to) {
    ti_scratch *s = ws->scratch;
    const ti_island *is = &f->island[k];
    const ti_tree *trees = ws->model->tree;
    int n = end - first;
    double *r = s->r_dot[0], *dc = s->c_dot[0], *X = s->v_dot;
    memset(r, 0, sizeof *r * TI_PANEL * (size_t)is->nv), memset(dc, 0, sizeof *dc * TI_PANEL * 3 * (size_t)is->ncon);
    for (int d = first; d < end; d++)
        tree_column(ws, t, kind, d - trees[t].v, r + TI_PANEL * ws->voff[ws->blk_at[t]] + d - first);
    if (kind == BY_PLACE) contacts_columns(ws, f, k, point, first, end, r, dc);
    ti_contact_panel(ws->contact, problem, NULL, n, r, dc, X, s->v_sum[TI_HOLD]);
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++)
        for (int e = 0; e < ws->width[b]; e++) {
            double *row = entry(to, kind, to->nv + trees[f->blk_tree[b]].v + e, first);
            const double *x = X + TI_PANEL * (ws->voff[b] + e);
            for (int j = 0; j < n; j++) row[j] += weight * x[j];
        }
}

/* From the columns by unit impulses of a tree, in the place of those by forces, to those by velocities and by forces.
 */
static void spread(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int t, const target *to) {
    const ti_tree_jac *j = &ws->scratch->tree_jac;
    const ti_tree *trees = ws->model->tree, *tree = &trees[t];
    int w = tree->nv;
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++)
        for (int e = 0; e < ws->width[b]; e++) {
            int row = to->nv + trees[f->blk_tree[b]].v + e;
            double *u = entry(to, BY_FORCE, row, tree->v), *v = entry(to, BY_VELOCITY, row, tree->v), *unit = ws->V;
            memcpy(unit, u, sizeof *u * (size_t)w);
            ti_matvec_t(w, w, j->base_u + tree->M, w, unit, NULL, u);
            ti_matvec_t(w, w, j->base_v + tree->M, w, unit, v, v);
        }
}

static tribo_status solve_island(tribo_ws *ws, const ti_frame *f, int k, const double *p, const target *to) {
    const ti_island *is = &f->island[k];
    ti_contact_problem problem = ti_step_problem(ws, f, k, TI_HOLD);
    ti_contact_solution solution = ti_frame_solution(f, k, TI_HOLD);
    for (int point = 0; point < solution.npoint; point++) {
        tribo_status status = ti_contact_factor(ws->contact, &problem, &solution, point);
        if (status < 0) return status;
        load_solution(ws, f, is, p, f->phase[TI_HOLD].v[point]);
        for (int b = is->blk0; b < is->blk0 + is->nblk; b++) {
            const ti_tree *tree = &ws->model->tree[f->blk_tree[b]];
            for (column_kind kind = BY_PLACE; kind < KINDS; kind += BY_FORCE)
                for (int d = tree->v; d < tree->v + tree->nv; d += TI_PANEL) {
                    int end = d + TI_PANEL < tree->v + tree->nv ? d + TI_PANEL : tree->v + tree->nv;
                    batch(ws, f, k, point, solution.point[point].weight, f->blk_tree[b], kind, d, end, &problem, to);
                }
        }
        ws->scratch->linear = ti_max(ws->scratch->linear, ti_contact_linear_residual(ws->contact));
    }
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++) spread(ws, f, is, f->blk_tree[b], to);
    return TRIBO_OK;
}

/* ---- from velocities to states ---- */

/* The next place of what slides and turns about an axis: rows of places from those of velocities. */
static void integrate_rows(const tribo_ws *ws, const ti_tree *tree, const target *to) {
    for (int e = tree->v + (tree->rooted ? TI_FREE_NV : 0); e < tree->v + tree->nv; e++) {
        if (ws->model->joint[ws->model->dof[e].joint].kind == TI_JOINT_BALL) continue;
        for (column_kind kind = BY_PLACE; kind < KINDS; kind++) {
            double *q = entry(to, kind, e, 0), *v = entry(to, kind, to->nv + e, 0);
            for (int col = 0; col < to->nv; col++) q[col] = ws->options.dt * v[col];
        }
        *entry(to, BY_PLACE, e, e) += 1;
    }
}

/* Of a ball at number e of a tree, by one column, which displaces it by `before`. */
static void integrate_ball(const tribo_ws *ws, const double *D, const double *v, const double *before, double *q) {
    double turn[4];
    ti_vec rot = ti_load3(D);
    ti_quat_exp(rot, turn);
    ti_mat E = ti_quat_mat(turn);
    ti_vec moved = ti_exp_right(rot, ti_scale(ws->options.dt, ti_load3(v)));
    ti_store3(q, ti_add(ti_tmul(&E, ti_load3(before)), moved));
}

/* Of a free root, whose velocity in the state is that of its frame: v becomes that. */
static void integrate_root(tribo_ws *ws, const ti_frame *f, int t, const double *place, double *v, double *q) {
    const ti_tree *tree = &ws->model->tree[t];
    double D_dot[TI_FREE_NV], V_dot[TI_FREE_NV];
    for (int e = 0; e < TI_FREE_NV; e++) V_dot[e] = v[e], D_dot[e] = ws->options.dt * v[e];
    ti_link_diff diff = {0};
    diff.xc = ti_load3(place), diff.th = ti_load3(place + 3);
    ti_link one;
    const ti_link *root = ti_tree_root(&ws->motion, t, &one);
    ti_link_integrate_jvp(root, ws->D + tree->v, ti_solved_velocity(ws, f, t), &diff, D_dot, V_dot, q, v);
}

/* `n` numbers of tree t from its e-th on, a root or a ball, by column `col`. */
static void integrate_column(tribo_ws *ws, const ti_frame *f, int t, int e, int n, column_kind kind, int col,
                             const target *to) {
    int at = ws->model->tree[t].v + e;
    double v[TI_FREE_NV], q[TI_FREE_NV], before[TI_FREE_NV] = {0};
    for (int i = 0; i < n; i++) v[i] = *entry(to, kind, to->nv + at + i, col);
    if (kind == BY_PLACE && col >= at && col < at + n) before[col - at] = 1;
    if (n == TI_FREE_NV)
        integrate_root(ws, f, t, before, v, q);
    else
        integrate_ball(ws, ws->D + at, v, before, q);
    for (int i = 0; i < n; i++) *entry(to, kind, at + i, col) = q[i], *entry(to, kind, to->nv + at + i, col) = v[i];
}

/* From velocities to states. */
static void integrate(tribo_ws *ws, const ti_frame *f, int t, const target *to) {
    const tribo_model *m = ws->model;
    const ti_tree *tree = &m->tree[t];
    integrate_rows(ws, tree, to);
    for (int e = 0; e < tree->nv; e++) {
        const ti_joint *joint = &m->joint[m->dof[tree->v + e].joint];
        bool root = tree->rooted && e == 0, ball = joint->kind == TI_JOINT_BALL && tree->v + e == joint->v;
        for (column_kind kind = BY_PLACE; (root || ball) && kind < KINDS; kind++)
            for (int col = 0; col < to->nv; col++) integrate_column(ws, f, t, e, root ? TI_FREE_NV : 3, kind, col, to);
    }
}

/* y += x A for three columns of a row each. */
static void add_times(const double *x, const ti_mat *A, double *y) {
    ti_add3(y, ti_tmul(A, ti_load3(x)));
}

/* The columns of a free root, which are of its centre of mass, become those of its frame. */
static void root_columns(const tribo_ws *ws, int t, const target *to) {
    const ti_tree *tree = &ws->model->tree[t];
    ti_link one;
    const ti_link *l = ti_tree_root(&ws->motion, t, &one);
    ti_mat com = ti_skew(ti_scale(-1, l->com)), swing = ti_skew(ti_scale(-1, ti_cross(l->w, l->com))),
           push = ti_skew(ti_tmul(&l->R, l->f)), T = ti_transpose(&l->R);
    ti_mat arm = ti_matmul(&l->R, &com), fast = ti_matmul(&l->R, &swing), force = ti_matmul(&com, &T),
           turned = ti_matmul(&com, &push);
    for (int row = 0; row < 2 * to->nv; row++) {
        double *q = entry(to, BY_PLACE, row, tree->v), *v = entry(to, BY_VELOCITY, row, tree->v),
               *u = entry(to, BY_FORCE, row, tree->v);
        double lin[3] = {q[0], q[1], q[2]}, vel[3] = {v[0], v[1], v[2]};
        add_times(lin, &arm, q + 3), add_times(vel, &fast, q + 3), add_times(vel, &arm, v + 3);
        add_times(u + 3, &turned, q + 3), add_times(u + 3, &force, u);
    }
}

/* The columns of controls, from those of the forces that they make. */
static void control_columns(const tribo_ws *ws, const double *p, const target *to) {
    const tribo_model *m = ws->model;
    for (int i = 0; i < m->size.nactuator; i++) {
        const ti_actuator *a = &m->actuator[i];
        double slope = ti_actuator_by_control(&ws->motion, i);
        for (int k = a->pull0; k < a->pull0 + a->npull; k++) {
            double arm = slope * ti_actuator_arm(&ws->motion, i, k, p);
            for (int row = 0; row < 2 * to->nv; row++)
                *entry(to, BY_FORCE, row, to->nv + i) += arm * *entry(to, BY_FORCE, row, m->pull[k].v);
        }
    }
}

bool ti_tree_columns_apply(const tribo_ws *ws, const ti_frame *f, const double *p) {
    if (ws->model->spins || !ti_actuators_jac_applies(&ws->motion, p)) return false;
    for (int b = 0; b < ws->model->size.nbody; b++)
        if (ws->link[b].substeps > 1) return false;
    return f->phases == 1u << TI_HOLD && ws->model->size.nequality == 0 && !ti_contact_uses_delassus(ws->contact);
}

tribo_status ti_tree_jacobians(tribo_ws *ws, const ti_frame *f, const double *p, double *A, double *B) {
    const tribo_model *m = ws->model;
    target to = {A, B, m->size.nv, m->size.nu};
    const ti_tree_jac *j = &ws->scratch->tree_jac;
    memset(A, 0, sizeof *A * 4 * (size_t)to.nv * (size_t)to.nv);
    memset(B, 0, sizeof *B * 2 * (size_t)to.nv * (size_t)to.nu);
    for (int t = 0; t < m->ntree; t++) {
        const ti_tree *tree = &m->tree[t];
        if (!load_tree(ws, p, t)) return TRIBO_E_SINGULAR;
        for (int e = 0; ws->blk_at[t] < 0 && e < tree->nv; e++)
            for (int d = 0; d < tree->nv; d++) {
                size_t at = tree->M + (size_t)(e * tree->nv + d);
                *entry(&to, BY_PLACE, to.nv + tree->v + e, tree->v + d) = j->free_q[at];
                *entry(&to, BY_VELOCITY, to.nv + tree->v + e, tree->v + d) = j->free_v[at];
                *entry(&to, BY_FORCE, to.nv + tree->v + e, tree->v + d) = j->free_u[at];
            }
    }
    prepare_contacts(ws, f, p);
    for (int k = 0; k < f->nisland; k++) {
        tribo_status status = solve_island(ws, f, k, p, &to);
        if (status < 0) return status;
    }
    for (int t = 0; t < m->ntree; t++) integrate(ws, f, t, &to);
    for (int t = 0; t < m->ntree; t++)
        if (m->tree[t].rooted) root_columns(ws, t, &to);
    control_columns(ws, p, &to);
    return TRIBO_OK;
}
