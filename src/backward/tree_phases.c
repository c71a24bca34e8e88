/* tree_phases.c -- what contacts make of the columns of A and B of models with joints: of each next velocity, and of
 * each displacement of what recovers, how the momentum row and contacts move it, times what the columns change in
 * those. docs/math.md eq. (164)-(167), (460). */
#include "backward/tree_phases.h"
#include "base/clones.h"
#include "dynamics/branch.h"
#include "dynamics/free_jac.h"
#include "dynamics/tree.h"
#include "math/dense.h"
#include "math/lanes.h"

_Static_assert((int)TI_PANEL == (int)TI_BRANCH_COLUMNS, "columns of a panel");

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

/* The same of displacements W, which begin from rest, eq. (460): G is how M W changes. */
static void load_displacements(tribo_ws *ws, const ti_phase_point *at, int b) {
    ti_tree_jac *j = &ws->scratch->tree_jac;
    const ti_tree *tree = &ws->model->tree[at->f->blk_tree[b]];
    const double *W = ti_point_velocity(at) + ws->at_v[b];
    ti_tree_jac_inertia(&ws->motion, tree, W, j);
    twists(ws, tree, W, j->solved);
    twists(ws, tree, ws->D0 + tree->v, j->acceleration); /* which has served */
}

/* r = columns [first, end) by displacements, all of one tree, but for what they change in the free velocity. */
static void place_columns(const tribo_ws *ws, int t, int first, int end, double *r) {
    const ti_tree_jac *j = &ws->scratch->tree_jac;
    const ti_tree *tree = &ws->model->tree[t];
    for (int e = 0; e < tree->nv; e++) {
        size_t at = tree->M + (size_t)(e * tree->nv + first - tree->v);
        for (int d = 0; d < end - first; d++) r[TI_PANEL * e + d] = -j->G[at + (size_t)d];
    }
}

/* ---- islands ---- */

/* dc += of a recovery whose displacement before it, dt times the next velocity, changes by columns [first, end). */
static void follow_velocities(const tribo_ws *ws, const ti_phase_point *at, ti_column_kind kind, int first, int end,
                              const ti_target *to, double *dc) {
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
                const double a = follows * J[2 * tree->nv + e],
                             *v = ti_target_entry(to, kind, to->nv + tree->v + e, first);
                for (int k = 0; a != 0 && k < end - first; k++) row[k] += a * v[k];
            }
        }
    }
}

/* A phase of an island on its way into the matrices. */
typedef struct passage {
    ti_phase_point at;
    ti_contact_problem problem;
    ti_contact_solution solution;
} passage;

/* Rows [first, first + n) of an island's numbers, of each of which Y has how the momentum row moves it and L how
 * contacts do, and where it is in the model. */
typedef struct row_panel {
    const double *Y, *L;
    int n, number[TI_PANEL];
} row_panel;

/* So many sums stay in registers, beside what they are of. */
enum { SUMS = 6 };

/* sum (6,8) = Y' X over the listed rows, of six columns of Y and eight of X. */
TI_INLINE void six_products(int n, const int *list, const double *Y, const double *X, vec8 *sum) {
    for (int k = 0; k < n; k++) {
        const double *y = Y + TI_PANEL * (size_t)list[k];
        vec8 x = *(const vec8 *)(const void *)(X + TI_PANEL * (size_t)list[k]);
        for (int r = 0; r < SUMS; r++) sum[r] += y[r] * x;
    }
}

/* What is added to the rows of a panel: weight Y' X, columns [0, n) of X, over its rows [0, count). */
typedef struct addition {
    const double *Y;
    double *row[TI_PANEL];
    int rows;
} addition;

/* Of eight columns from c on, as far as these are not zero. */
TI_INLINE void add_eight(const addition *to, int some, const int *list, const double *X, double weight, int c, int n) {
    for (int j = 0; j < to->rows; j += SUMS) {
        vec8 sum[SUMS] = {{0}};
        six_products(some, list, to->Y + j, X + c, sum);
        for (int r = 0; r < SUMS && j + r < to->rows; r++) {
            double *restrict out = to->row[j + r] + c;
            if (c + 8 <= n)
                *(vec8 *)(void *)out += weight * sum[r];
            else
                for (int e = 0; e < n - c; e++) out[e] += weight * sum[r][e];
        }
    }
}

TI_CLONES_WIDE static void add_products(int count, const double *X, double weight, int n, int panels,
                                        const addition *to) {
    int list[TI_LISTED];
    for (int from = 0; from < count; from += TI_LISTED)
        for (int c = 0; c < n; c += 8) {
            int end = from + TI_LISTED < count ? from + TI_LISTED : count;
            int some = ti_lanes_rows(X + c, TI_PANEL, from, end, list);
            for (int k = 0; some > 0 && k < panels; k++) add_eight(&to[k], some, list, X, weight, c, n);
        }
}

/* Panels whose rows are solved before columns are made for them. */
enum { TOGETHER = 2 };

/* The rows of panels by what n columns from `first` on put into the momentum row, r, and into contacts, dc. */
static void add_columns(tribo_ws *ws, const passage *way, const row_panel *rows, int panels, ti_column_kind kind,
                        int first, int n, const ti_target *to) {
    const ti_scratch *s = ws->scratch;
    const ti_island *is = &way->at.f->island[way->at.island];
    double weight = way->solution.point[way->at.point].weight;
    addition by[TOGETHER];
    for (int k = 0; k < panels; k++) {
        by[k].Y = rows[k].Y, by[k].rows = rows[k].n;
        for (int j = 0; j < rows[k].n; j++) by[k].row[j] = ti_target_entry(to, kind, rows[k].number[j], first);
    }
    if (kind == TI_BY_PLACE) add_products(is->nv, s->r_dot[0], weight, n, panels, by);
    for (int k = 0; k < panels; k++) by[k].Y = rows[k].L;
    add_products(3 * is->ncon, s->c_dot[0], weight, n, panels, by);
}

/* r and dc of columns [first, end) of tree t, in r_dot and c_dot. */
static void make_columns(tribo_ws *ws, const passage *way, int t, ti_column_kind kind, int first, int end,
                         const ti_target *to) {
    ti_scratch *s = ws->scratch;
    const ti_phase_point *at = &way->at;
    const ti_island *is = &at->f->island[at->island];
    double *r = s->r_dot[0], *dc = s->c_dot[0];
    memset(dc, 0, sizeof *dc * TI_PANEL * 3 * (size_t)is->ncon);
    if (at->phase == TI_RECOVER) follow_velocities(ws, at, kind, first, end, to, dc);
    if (kind != TI_BY_PLACE) return;
    memset(r, 0, sizeof *r * TI_PANEL * (size_t)is->nv);
    place_columns(ws, t, first, end, r + TI_PANEL * ws->voff[ws->blk_at[t]]);
    ti_tree_contacts_columns(ws, at, first, end, r, dc);
}

/* Rows [first, first + n) of the island: what moves them, solved; and columns by forces, which are that through the
 * free velocity. */
static void solve_rows(tribo_ws *ws, const passage *way, int first, double *Y, double *L, row_panel *rows,
                       const ti_target *to) {
    ti_scratch *s = ws->scratch;
    const ti_frame *f = way->at.f;
    const ti_island *is = &f->island[way->at.island];
    bool recovers = way->at.phase == TI_RECOVER;
    double weight = way->solution.point[way->at.point].weight, *unit = s->r_dot[0];
    rows->n = is->nv - first < TI_PANEL ? is->nv - first : TI_PANEL, rows->Y = Y, rows->L = L;
    memset(unit, 0, sizeof *unit * TI_PANEL * (size_t)is->nv);
    for (int b = is->blk0, j = 0; j < rows->n; b++)
        for (int e = 0; e < ws->width[b] && j < rows->n; e++) {
            if (ws->voff[b] + e != first + j) continue;
            unit[TI_PANEL * (first + j) + j] = 1;
            rows->number[j++] = (recovers ? 0 : to->nv) + ws->model->tree[f->blk_tree[b]].v + e;
        }
    ti_contact_panel_t(ws->contact, &way->problem, rows->n, unit, Y, L, s->r_dot[1], s->c_dot[0]);
    if (recovers) return;
    double *by_force = s->r_dot[1], by = weight * ws->options.dt;
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++) {
        size_t from = TI_PANEL * (size_t)ws->voff[b];
        const double *y = by_force + from;
        ti_tree_jac_back(&ws->motion, f->blk_tree[b], &s->tree_jac, rows->n, Y + from, by_force + from, s->r_dot[0]);
        for (int j = 0; j < rows->n; j++) {
            double *u = ti_target_entry(to, TI_BY_FORCE, rows->number[j], ws->model->tree[f->blk_tree[b]].v);
            for (int e = 0; e < ws->width[b]; e++) u[e] += by * y[TI_PANEL * e + j];
        }
    }
}

/* Rows of Y += share X A of eight columns, of which those from `skip` on are added; of listed rows of A. */
TI_INLINE void share_of(int rows, int some, const int *list, const double *X, int ldx, const double *A, int w,
                        double share, int skip, double *Y, int ldy) {
    vec8 sum[SUMS] = {{0}};
    for (int k = 0; k < some; k++) {
        vec8 a = *(const vec8 *)(const void *)(A + (size_t)list[k] * (size_t)w);
        for (int r = 0; r < rows; r++) sum[r] += X[(size_t)r * (size_t)ldx + (size_t)list[k]] * a;
    }
    for (int r = 0; r < rows; r++, Y += ldy) {
        if (skip == 0)
            *(vec8 *)(void *)Y += share * sum[r];
        else
            for (int e = skip; e < 8; e++) Y[e] += share * sum[r][e];
    }
}

/* Of matrices that have eight columns and a list of their rows. */
TI_CLONES_WIDE static void share_by_eights(int n, int w, const double *X, int ldx, const double *A, double share,
                                           double *Y, int ldy) {
    int list[TI_LISTED];
    for (int next = 0; next < w; next += 8) {
        int j = next + 8 <= w ? next : w - 8, some = ti_lanes_rows(A + j, w, 0, w, list), r = 0;
        for (; r + SUMS <= n; r += SUMS)
            share_of(SUMS, some, list, X + (size_t)r * (size_t)ldx, ldx, A + j, w, share, next - j,
                     Y + (size_t)r * (size_t)ldy + j, ldy);
        for (; r < n; r++)
            share_of(1, some, list, X + (size_t)r * (size_t)ldx, ldx, A + j, w, share, next - j,
                     Y + (size_t)r * (size_t)ldy + j, ldy);
    }
}

/* n rows Y += share X A, A (w,w); `more` is room for a panel of them. */
static void add_share(int n, int w, const double *X, int ldx, const double *A, double share, double *more, double *Y,
                      int ldy) {
    if (w >= 8 && w <= TI_LISTED) {
        share_by_eights(n, w, X, ldx, A, share, Y, ldy);
        return;
    }
    for (int from = 0; from < n; from += TI_PANEL) {
        int some = n - from < TI_PANEL ? n - from : TI_PANEL;
        double *to = Y + (size_t)from * (size_t)ldy;
        ti_product(some, w, w, X + (size_t)from * (size_t)ldx, ldx, A, w, more, w);
        for (int r = 0; r < some; r++)
            for (int c = 0; c < w; c++) to[(size_t)r * (size_t)ldy + (size_t)c] += share * more[r * w + c];
    }
}

/* From the columns by forces of a tree to what the free velocity has of displacements and velocities: of rows from
 * `from` on. */
static void spread(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int t, int from, const ti_target *to) {
    const ti_tree_jac *j = &ws->scratch->tree_jac;
    const ti_tree *trees = ws->model->tree, *tree = &trees[t];
    double *more = ws->scratch->v_sum[TI_HOLD], share = 1 / ws->options.dt;
    int w = tree->nv;
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++) {
        int row = from + trees[f->blk_tree[b]].v, n = ws->width[b];
        const double *u = ti_target_entry(to, TI_BY_FORCE, row, tree->v);
        add_share(n, w, u, to->nu, j->free_q + tree->M, share, more, ti_target_entry(to, TI_BY_PLACE, row, tree->v),
                  2 * to->nv);
        add_share(n, w, u, to->nu, j->free_v + tree->M, share, more, ti_target_entry(to, TI_BY_VELOCITY, row, tree->v),
                  2 * to->nv);
    }
}

/* All columns of a point of a phase, for two panels of rows at a time. */
static void pass_point(tribo_ws *ws, const passage *way, const ti_target *to) {
    ti_scratch *s = ws->scratch;
    const ti_frame *f = way->at.f;
    const ti_island *is = &f->island[way->at.island];
    double *const Y[TOGETHER] = {s->v_sum[0], s->v_sum[1]}, *const L[TOGETHER] = {s->lambda_sum[0], s->lambda_sum[1]};
    for (int row = 0; row < is->nv; row += TOGETHER * TI_PANEL) {
        row_panel rows[TOGETHER];
        int n = 0;
        for (; n < TOGETHER && row + n * TI_PANEL < is->nv; n++)
            solve_rows(ws, way, row + n * TI_PANEL, Y[n], L[n], &rows[n], to);
        for (int b = is->blk0; b < is->blk0 + is->nblk; b++) {
            int t = f->blk_tree[b], last = ws->model->tree[t].v + ws->model->tree[t].nv;
            for (ti_column_kind kind = TI_BY_PLACE; kind < TI_KINDS; kind += TI_BY_FORCE)
                for (int d = ws->model->tree[t].v; d < last; d += TI_PANEL) {
                    if (kind == TI_BY_FORCE && way->at.phase != TI_RECOVER) continue;
                    int end = d + TI_PANEL < last ? d + TI_PANEL : last;
                    make_columns(ws, way, t, kind, d, end, to);
                    add_columns(ws, way, rows, n, kind, d, end - d, to);
                }
        }
    }
}

static void load_solution(tribo_ws *ws, const passage *way) {
    const ti_phase_point *at = &way->at;
    const ti_island *is = &at->f->island[at->island];
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++)
        if (at->phase == TI_RECOVER)
            load_displacements(ws, at, b);
        else
            load_velocities(ws, at, b);
}

static tribo_status pass_phase(tribo_ws *ws, const ti_frame *f, int k, ti_phase phase, const double *p,
                               const ti_target *to) {
    passage way = {.at = {.f = f, .p = p, .island = k, .phase = phase},
                   .problem = ti_step_problem(ws, f, k, phase),
                   .solution = ti_frame_solution(f, k, phase)};
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

tribo_status ti_tree_phases(tribo_ws *ws, const ti_frame *f, int k, const double *p, const ti_target *to) {
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
