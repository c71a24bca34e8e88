/* tree_columns.c -- the step's Jacobians A and B of models with joints, by columns: displacements, velocities and
 * forces of every tree, through its free velocity, its contacts, what these take back of overlaps, and its integration.
 * docs/math.md eq. (164)-(167), (460). */
#include "backward/tree_contacts.h"
#include "dynamics/actuator.h"
#include "dynamics/ball.h"
#include "dynamics/bias.h"
#include "dynamics/free_jac.h"
#include "dynamics/tree.h"
#include "math/clones.h"
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
    ti_product(w, w, w, A, w, X, w, Y, w);
}

/* Everything of a tree that no contact changes; base_q is then M by the free velocity. What touches nothing needs the
 * free velocity alone. */
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
    for (size_t k = 0; k < n; k++) j->base_q[at + k] /= h, j->base_v[at + k] /= h;
    return true;
}

/* Twists of all that the numbers of a tree carry, at velocities V of it. */
static void twists(const tribo_ws *ws, const ti_tree *tree, const double *V, ti_spatial *twist) {
    const ti_dof *dof = ws->model->dof;
    for (int d = tree->v; d < tree->v + tree->nv; d++) {
        ti_spatial from = dof[d].before >= 0 ? twist[dof[d].before] : (ti_spatial){{0, 0, 0}, {0, 0, 0}};
        twist[d] = ti_sp_axpy(from, V[d - tree->v], ws->motion.axis[d]);
    }
}

/* What columns need to know of a solution: of velocities, how M (V - free) changes with displacements, in G. */
static void load_velocities(tribo_ws *ws, const ti_phase_point *at, int b) {
    const ti_tree *tree = &ws->model->tree[at->f->blk_tree[b]];
    const double *V = ti_point_velocity(at) + ws->at_v[b];
    double *change = ws->V;
    for (int d = 0; d < tree->nv; d++) change[d] = V[d] - ws->motion.free[tree->v + d];
    ti_tree_jac_inertia(&ws->motion, tree, change, &ws->scratch->tree_jac);
    twists(ws, tree, V, ws->scratch->tree_jac.solved);
}

/* How the logarithm of a tree's first inertia changes with displacements. */
static void load_heft(tribo_ws *ws, const ti_tree *tree, double *heft /* (nv of the tree) */) {
    const ti_tree_jac *j = &ws->scratch->tree_jac;
    double *unit = ws->V;
    memset(heft, 0, sizeof *heft * (size_t)tree->nv);
    if (tree->rooted) return; /* a mass */
    memset(unit, 0, sizeof *unit * (size_t)tree->nv), unit[0] = 1;
    ti_tree_jac_inertia(&ws->motion, tree, unit, &ws->scratch->tree_jac);
    for (size_t d = tree->M; d < tree->M + (size_t)tree->nv; d++) heft[d - tree->M] = j->G[d] / ws->motion.M[tree->M];
}

/* The same of displacements W, which begin from rest, eq. (460): G is how M W changes, base_q nothing. @param heft NULL
 * = not asked for */
static void load_displacements(tribo_ws *ws, const ti_phase_point *at, int b, double *heft) {
    ti_tree_jac *j = &ws->scratch->tree_jac;
    const ti_tree *tree = &ws->model->tree[at->f->blk_tree[b]];
    const double *W = ti_point_velocity(at) + ws->at_v[b];
    memset(j->base_q + tree->M, 0, sizeof *j->base_q * (size_t)tree->nv * (size_t)tree->nv);
    if (heft) load_heft(ws, tree, heft);
    ti_tree_jac_inertia(&ws->motion, tree, W, j);
    twists(ws, tree, W, j->solved);
    twists(ws, tree, ws->D0 + tree->v, j->acceleration); /* which has served */
}

/* Columns [first, end) of the model's numbers, all of one tree: by displacements; or by unit impulses, which velocities
 * and forces are made of. */
static void tree_columns(const tribo_ws *ws, int t, column_kind kind, int first, int end, double *r) {
    const ti_tree_jac *j = &ws->scratch->tree_jac;
    const ti_tree *tree = &ws->model->tree[t];
    int from = first - tree->v;
    if (kind == BY_FORCE)
        for (int d = 0; d < end - first; d++) r[TI_PANEL * (from + d) + d] = 1;
    for (int e = 0; kind == BY_PLACE && e < tree->nv; e++) {
        size_t at = tree->M + (size_t)(e * tree->nv + from);
        for (int d = 0; d < end - first; d++) r[TI_PANEL * e + d] = j->base_q[at + (size_t)d] - j->G[at + (size_t)d];
    }
}

/* ---- islands ---- */

/* dc += of a recovery whose displacement before it, dt times the next velocity, changes by columns [first, end). */
static void follow_velocities(const tribo_ws *ws, const ti_phase_point *at, column_kind kind, int first, int end,
                              const target *to, double *dc) {
    const ti_island *is = &at->f->island[at->island];
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        const ti_con *c = &at->f->con[i];
        double follows = ti_point_acts(at, i) ? ws->options.dt * ti_point_follows(ws, at, i) : 0;
        for (int side = 0; follows != 0 && side < 2; side++) {
            const double *J = ti_frame_rows(ws, at->f, i, side);
            if (!J) continue;
            const ti_tree *tree = &ws->model->tree[ws->model->body[side ? c->b : c->a].tree];
            double *row = dc + TI_PANEL * (3 * (i - is->con0) + 2);
            for (int e = 0; e < tree->nv; e++) {
                const double a = follows * J[2 * tree->nv + e], *v = entry(to, kind, to->nv + tree->v + e, first);
                for (int k = 0; a != 0 && k < end - first; k++) row[k] += a * v[k];
            }
        }
    }
}

/* dc += of a recovery whose compliance is a share of one over the heaviest body's first inertia. */
static void follow_heft(const ti_phase_point *at, const double *heft, double compliance, int n, double *dc) {
    const ti_island *is = &at->f->island[at->island];
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        if (!ti_point_acts(at, i)) continue;
        double *row = dc + TI_PANEL * (3 * (i - is->con0) + 2), by = compliance * ti_point_lambda(at)[3 * i + 2];
        for (int k = 0; k < n; k++) row[k] -= by * heft[k];
    }
}

/* A phase of an island on its way into the matrices. */
typedef struct passage {
    ti_phase_point at;
    ti_contact_problem problem;
    ti_contact_solution solution;
    int heaviest; /* of a recovery: the block whose inertia its compliance is of; else -1 */
} passage;

TI_CLONES static void add_row(int n, double weight, const double *restrict x, double *restrict row) {
    for (int j = 0; j < n; j++) row[j] += weight * x[j];
}

/* One batch of columns of a tree, at a point of the solution, added to the rows of the next velocity or of what is
 * displaced beside it. */
static void batch(tribo_ws *ws, const passage *way, int t, column_kind kind, int first, int end, const target *to) {
    ti_scratch *s = ws->scratch;
    const ti_phase_point *at = &way->at;
    const ti_frame *f = at->f;
    const ti_island *is = &f->island[at->island];
    const ti_contact_point *point = &way->solution.point[at->point];
    const ti_tree *trees = ws->model->tree;
    bool recovers = at->phase == TI_RECOVER;
    int n = end - first;
    double *r = s->r_dot[0], *dc = kind == BY_PLACE || recovers ? s->c_dot[0] : NULL, *X = s->v_dot;
    memset(r, 0, sizeof *r * TI_PANEL * (size_t)is->nv);
    if (dc) memset(dc, 0, sizeof *dc * TI_PANEL * 3 * (size_t)is->ncon);
    if (!(recovers && kind == BY_FORCE)) tree_columns(ws, t, kind, first, end, r + TI_PANEL * ws->voff[ws->blk_at[t]]);
    if (kind == BY_PLACE) ti_tree_contacts_columns(ws, at, first, end, r, dc);
    if (recovers) follow_velocities(ws, at, kind, first, end, to, dc);
    if (kind == BY_PLACE && ws->blk_at[t] == way->heaviest)
        follow_heft(at, s->now_dot + first - trees[t].v, point->compliance, n, dc);
    ti_contact_panel(ws->contact, &way->problem, NULL, n, r, dc, X, s->v_sum[TI_HOLD]);
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++)
        for (int e = 0; e < ws->width[b]; e++) {
            double *row = entry(to, kind, (recovers ? 0 : to->nv) + trees[f->blk_tree[b]].v + e, first);
            add_row(n, point->weight, X + TI_PANEL * (ws->voff[b] + e), row);
        }
}

/* From the columns by unit impulses of a tree, in the place of those by forces, to those by velocities and by forces:
 * of rows from `from` on. */
static void spread(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int t, int from, const target *to) {
    const ti_tree_jac *j = &ws->scratch->tree_jac;
    const ti_tree *trees = ws->model->tree, *tree = &trees[t];
    double *unit = ws->scratch->v_dot, *more = ws->scratch->v_sum[TI_HOLD];
    int w = tree->nv;
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++)
        for (int e = 0; e < ws->width[b]; e += TI_PANEL) {
            int row = from + trees[f->blk_tree[b]].v + e, n = ws->width[b] - e < TI_PANEL ? ws->width[b] - e : TI_PANEL;
            double *u = entry(to, BY_FORCE, row, tree->v);
            for (int r = 0; r < n; r++) memcpy(unit + r * w, u + (size_t)r * (size_t)to->nu, sizeof *u * (size_t)w);
            ti_product(n, w, w, unit, w, j->base_u + tree->M, w, u, to->nu);
            ti_product(n, w, w, unit, w, j->base_v + tree->M, w, more, w);
            for (int r = 0; r < n; r++) {
                double *v = entry(to, BY_VELOCITY, row + r, tree->v);
                for (int c = 0; c < w; c++) v[c] += more[r * w + c];
            }
        }
}

/* All columns of a point of a phase. */
static void pass_point(tribo_ws *ws, const passage *way, const target *to) {
    const ti_frame *f = way->at.f;
    const ti_island *is = &f->island[way->at.island];
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++) {
        const ti_tree *tree = &ws->model->tree[f->blk_tree[b]];
        int last = tree->v + tree->nv;
        for (column_kind kind = BY_PLACE; kind < KINDS; kind += BY_FORCE)
            for (int d = tree->v; d < last; d += TI_PANEL)
                batch(ws, way, f->blk_tree[b], kind, d, d + TI_PANEL < last ? d + TI_PANEL : last, to);
    }
}

/* The heft goes into now_dot, which is of impacts. */
static void load_solution(tribo_ws *ws, const passage *way) {
    const ti_phase_point *at = &way->at;
    const ti_island *is = &at->f->island[at->island];
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++)
        if (at->phase == TI_RECOVER)
            load_displacements(ws, at, b, b == way->heaviest ? ws->scratch->now_dot : NULL);
        else
            load_velocities(ws, at, b);
}

static tribo_status pass_phase(tribo_ws *ws, const ti_frame *f, int k, ti_phase phase, const double *p,
                               const target *to) {
    passage way = {.at = {.f = f, .p = p, .island = k, .phase = phase},
                   .problem = ti_step_problem(ws, f, k, phase),
                   .solution = ti_frame_solution(f, k, phase),
                   .heaviest = -1};
    if (phase == TI_RECOVER) way.heaviest = f->island[k].blk0 + ti_contact_heaviest(&way.problem);
    ti_tree_contacts_prepare(ws, &way.at);
    for (; way.at.point < way.solution.npoint; way.at.point++) {
        tribo_status status = ti_contact_factor(ws->contact, &way.problem, &way.solution, way.at.point);
        if (status < 0) return status;
        load_solution(ws, &way);
        pass_point(ws, &way, to);
        ws->scratch->linear = ti_max(ws->scratch->linear, ti_contact_linear_residual(ws->contact));
    }
    return TRIBO_OK;
}

static tribo_status solve_island(tribo_ws *ws, const ti_frame *f, int k, const double *p, const target *to) {
    const ti_island *is = &f->island[k];
    bool recovers = is->phase[TI_RECOVER].npoint > 0;
    tribo_status status = pass_phase(ws, f, k, TI_HOLD, p, to);
    if (status >= 0 && recovers) status = pass_phase(ws, f, k, TI_RECOVER, p, to);
    for (int b = is->blk0; b < is->blk0 + is->nblk && status >= 0; b++) {
        spread(ws, f, is, f->blk_tree[b], to->nv, to);
        if (recovers) spread(ws, f, is, f->blk_tree[b], 0, to);
    }
    return status;
}

/* ---- from velocities to states ---- */

/* The next place of what slides and turns about an axis: rows of places, which have what is displaced beside, from
 * those of velocities. */
static void integrate_rows(const tribo_ws *ws, const ti_tree *tree, const target *to) {
    for (int e = tree->v + (tree->rooted ? TI_FREE_NV : 0); e < tree->v + tree->nv; e++) {
        if (ws->model->joint[ws->model->dof[e].joint].kind == TI_JOINT_BALL) continue;
        for (column_kind kind = BY_PLACE; kind < KINDS; kind++) {
            double *q = entry(to, kind, e, 0), *v = entry(to, kind, to->nv + e, 0);
            for (int col = 0; col < to->nv; col++) q[col] += ws->options.dt * v[col];
        }
        *entry(to, BY_PLACE, e, e) += 1;
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

/* Rows of places, which have what is displaced beside, and of velocities from number `at` on, in some columns. */
TI_CLONES_WIDE static void integrate_columns(const integration *map, double dt, int at, column_kind kind, int first,
                                             int end, const target *to) {
    enum { STRIP = 16 };
    for (int c0 = first; c0 < end; c0 += STRIP) {
        double v[TI_FREE_NV][STRIP], q[TI_FREE_NV][STRIP];
        int w = end - c0 < STRIP ? end - c0 : STRIP, n = map->n;
        for (int i = 0; i < n; i++) {
            memcpy(v[i], entry(to, kind, to->nv + at + i, c0), sizeof **v * (size_t)w);
            memcpy(q[i], entry(to, kind, at + i, c0), sizeof **q * (size_t)w);
            for (int c = 0; c < w; c++) q[i][c] += dt * v[i][c];
        }
        for (int r = 0; r < 2 * n; r++) {
            double *out = entry(to, kind, r < n ? at + r : to->nv + at + r - n, c0);
            for (int c = 0; c < w; c++) out[c] = 0;
            for (int i = 0; i < n; i++) {
                double moved = map->by_moved[r][i], velocity = map->by_velocity[r][i];
                for (int c = 0; moved != 0 && c < w; c++) out[c] += moved * q[i][c];
                for (int c = 0; velocity != 0 && c < w; c++) out[c] += velocity * v[i][c];
            }
        }
    }
}

/* From velocities to states. */
static void integrate(tribo_ws *ws, const ti_frame *f, int t, const target *to) {
    const tribo_model *m = ws->model;
    const ti_tree *tree = &m->tree[t];
    integrate_rows(ws, tree, to);
    for (int e = 0; e < tree->nv; e++) {
        const ti_joint *joint = &m->joint[m->dof[tree->v + e].joint];
        bool root = tree->rooted && e == 0, ball = joint->kind == TI_JOINT_BALL && tree->v + e == joint->v;
        if (!root && !ball) continue;
        integration map = integration_of(ws, f, t, e);
        for (column_kind kind = BY_PLACE; kind < KINDS; kind++)
            integrate_columns(&map, ws->options.dt, tree->v + e, kind, 0, to->nv, to);
        for (int r = 0; r < 2 * map.n; r++) {
            int row = r < map.n ? tree->v + e + r : to->nv + tree->v + e + r - map.n;
            for (int c = 0; c < map.n; c++) *entry(to, BY_PLACE, row, tree->v + e + c) += map.by_place[r][c];
        }
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

/* What a force of the model is, by what control, and how strong. */
typedef struct pull {
    int force, control;
    double arm;
} pull;

static void pull_rows(int n, const pull *pulls, const target *to) {
    for (int row = 0; row < 2 * to->nv; row++) {
        double *u = entry(to, BY_FORCE, row, 0);
        for (int k = 0; k < n; k++) u[to->nv + pulls[k].control] += pulls[k].arm * u[pulls[k].force];
    }
}

/* The columns of controls, from those of the forces that they make, some at a time. */
static void control_columns(const tribo_ws *ws, const double *p, const target *to) {
    enum { SOME = 64 };
    const tribo_model *m = ws->model;
    pull pulls[SOME];
    int n = 0;
    for (int i = 0; i < m->size.nactuator; i++) {
        const ti_actuator *a = &m->actuator[i];
        double slope = ti_actuator_by_control(&ws->motion, i);
        for (int k = a->pull0; k < a->pull0 + a->npull; k++) {
            pulls[n++] = (pull){m->pull[k].v, i, slope * ti_actuator_arm(&ws->motion, i, k, p)};
            if (n == SOME) pull_rows(n, pulls, to), n = 0;
        }
    }
    pull_rows(n, pulls, to);
}

bool ti_tree_columns_apply(const tribo_ws *ws, const ti_frame *f, const double *p) {
    if (ws->model->spins || !ti_actuators_jac_applies(&ws->motion, p)) return false;
    for (int b = 0; b < ws->model->size.nbody; b++)
        if (ws->link[b].substeps > 1) return false;
    for (int k = 0; k < f->nisland; k++)
        if (f->island[k].phase[TI_RECOVER].npoint > 0 && f->island[k].pace[TI_RECOVER] < 1) return false;
    return !(f->phases & ~(1u << TI_HOLD | 1u << TI_RECOVER)) && ws->model->size.nequality == 0 &&
           !ti_contact_uses_delassus(ws->contact);
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
