/* jacobian_free.c -- Jacobians A and B of a step of free bodies; docs/math.md, Jacobians of a step.
 *
 * Velocity and control reach the next state only through the free velocity, so that twelve columns of a body do for all
 * of its: six unit free velocities (P), six displacements of its pose (Q). A body moves the bodies of its island only,
 * whose rows free_rows.c has.
 */
#include "backward/free_rows.h"
#include "base/clones.h"

enum { POSE = TI_POSE, COLUMNS = 3 * TI_POSE }; /* of a body: pose, velocity, control */

/* Where the two matrices go; either may be NULL. Sums over the points are kept in the rows of the next velocity. With
 * directions of p, those of the next velocity go to next_dot, island by island. */
typedef struct target {
    double *A, *B;
    int nv;
    const ti_seeds *along;
} target;

static double *at_A(const target *t, int row, int col) {
    return t->A + (size_t)row * 2 * (size_t)t->nv + col;
}

static double *at_B(const target *t, int row, int col) {
    return t->B + (size_t)row * (size_t)t->nv + col;
}

/* ---- sums over the points ---- */

/* Add w times the rows' columns of `body` to the sums. */
static void add_columns(const tribo_ws *ws, const ti_frame *f, const ti_free_rows *rows, int body, double w,
                        const ti_free_columns *x, const target *t) {
    const ti_body *bodies = ws->model->body;
    int col = bodies[body].v;
    for (int k = 0; k < 6 * rows->n; k++) {
        int row = t->nv + bodies[f->blk_tree[rows->blk + k / 6]].v + k % 6;
        double *P = t->A ? at_A(t, row, t->nv + col) : at_B(t, row, col);
        for (int e = 0; e < 6; e++) P[e] += w * x->P[e][k];
        if (!t->A) continue;
        double *Q = at_A(t, row, col);
        for (int e = 0; e < 6; e++) Q[e] += w * x->Q[e][k];
    }
}

/* Numbers that move free velocities and inertias alone: by w P (dv_free - M^-1 dM (v - v_free)) at point k, of the
 * columns of `body`. */
static void add_along(tribo_ws *ws, const ti_frame *f, const ti_free_rows *rows, int body, int k, double w,
                      const ti_free_columns *x, const ti_seeds *along) {
    const ti_motion *m = &ws->motion;
    int at = ws->at_v[ti_blk_of_body(ws, body)];
    const double *v = f->phase[TI_HOLD].v[k] + at;
    for (int j = 0; j < along->n; j++) {
        const ti_link_diff *diffs = &ws->scratch->diff_dot[j * ws->model->size.nbody];
        double push[6], less[6], *to = ws->scratch->next_dot + j * ws->model->size.nv + ws->at_v[rows->blk];
        ti_motion_free_jvp(m, body, diffs, push);
        for (int e = 0; e < 6; e++) less[e] = v[e] - ws->vfree[at + e];
        ti_motion_inertia_jvp(m, body, diffs, less, less);
        ti_motion_solve(m, body, less, less);
        for (int row = 0; row < 6 * rows->n; row++)
            for (int e = 0; e < 6; e++) to[row] += w * x->P[e][row] * (push[e] - less[e]);
    }
}

/* ---- from free velocities and poses to the state ---- */

/* y (3,COLUMNS) += s A x */
TI_INLINE void add_rotated(const ti_mat *A, double s, const double *x, double *y) {
    for (int i = 0; i < 3; i++)
        for (int e = 0; e < COLUMNS; e++)
            y[COLUMNS * i + e] +=
                s * (A->m[i][0] * x[e] + A->m[i][1] * x[COLUMNS + e] + A->m[i][2] * x[2 * COLUMNS + e]);
}

/* V (6,COLUMNS): the solved velocity by pose, velocity and control of a body, from P and Q. */
TI_INLINE void chain_free(const ti_link_jac *j, const double *P, const double *Q, double *V) {
    for (int i = 0; i < 6; i++, V += COLUMNS, P += 6, Q += 6) {
        ti_vec lin = ti_load3(P), ang = ti_load3(P + 3);
        for (int e = 0; e < POSE; e++) V[e] = Q[e];
        ti_store3(V + 6, lin);
        ti_store3(V + 9, ti_tmul(&j->wf_w, ang)), ti_store3(V + 12, ti_scale(j->vf_f, lin));
        ti_store3(V + 15, ti_tmul(&j->wf_t, ang));
        if (j->centred) continue;
        ti_add3(V + 9, ti_tmul(&j->xc_th, lin)), ti_add3(V + 12, ti_tmul(&j->wf_f, ang));
    }
}

/* next (12,COLUMNS): position, rotation, velocity, angular velocity. */
TI_INLINE void chain_integration(const ti_link_jac *j, double dt, bool same, const double *V, double *next) {
    double *xo = next, *th = next + 3 * COLUMNS, *v = next + 6 * COLUMNS;
    const double *W = V + 3 * COLUMNS;
    memcpy(v, V, 6 * COLUMNS * sizeof *V);
    memset(th, 0, 3 * COLUMNS * sizeof *th);
    add_rotated(&j->th_D, dt, W, th);
    for (int e = 0; e < 3 * COLUMNS; e++) xo[e] = dt * V[e];
    for (int i = 0; same && i < 3; i++) {
        xo[COLUMNS * i + i] += 1;
        ti_add3(xo + COLUMNS * i + 3, ti_load3(j->xc_th.m[i])), ti_add3(th + COLUMNS * i + 3, ti_load3(j->th_th.m[i]));
    }
    if (j->centred) return;
    add_rotated(&j->lever, 1, th, xo);
    add_rotated(&j->swing, 1, th, v), add_rotated(&j->lever, 1, W, v);
}

TI_INLINE void put_block(const tribo_model *m, int row_body, int col_body, const double *next, const target *t) {
    int row = m->body[row_body].v, col = m->body[col_body].v;
    for (int i = 0; i < 12; i++, next += COLUMNS) {
        int at = i < 6 ? row + i : t->nv + row + i - 6;
        if (t->A) memcpy(at_A(t, at, col), next, 6 * sizeof *next);
        if (t->A) memcpy(at_A(t, at, t->nv + col), next + 6, 6 * sizeof *next);
        if (t->B) memcpy(at_B(t, at, col), next + 12, 6 * sizeof *next);
    }
}

TI_CLONES_WIDE static void finish_block(const tribo_ws *ws, int row_body, int col_body, const double *P,
                                        const double *Q, const target *t) {
    const ti_link_jac *jac = ws->scratch->link_jac;
    double V[6 * COLUMNS], next[12 * COLUMNS];
    chain_free(&jac[col_body], P, Q, V);
    chain_integration(&jac[row_body], ws->options.dt, row_body == col_body, V, next);
    put_block(ws->model, row_body, col_body, next, t);
}

static void finish_island(const tribo_ws *ws, const ti_frame *f, const ti_island *is, const target *t) {
    const tribo_model *m = ws->model;
    for (int r = is->blk0; r < is->blk0 + is->nblk; r++)
        for (int b = is->blk0; b < is->blk0 + is->nblk; b++) {
            double P[36], Q[36] = {0};
            int row = t->nv + m->body[f->blk_tree[r]].v, col = m->body[f->blk_tree[b]].v;
            for (int i = 0; i < 6; i++) {
                memcpy(P + 6 * i, t->A ? at_A(t, row + i, t->nv + col) : at_B(t, row + i, col), 6 * sizeof *P);
                if (t->A) memcpy(Q + 6 * i, at_A(t, row + i, col), 6 * sizeof *Q);
            }
            finish_block(ws, f->blk_tree[r], f->blk_tree[b], P, Q, t);
        }
}

/* The rows' columns of `body` where they are all there is: w times them is not kept between. */
static void finish_columns(const tribo_ws *ws, const ti_frame *f, const ti_free_rows *rows, int body, double w,
                           const ti_free_columns *x, const target *t) {
    for (int r = 0; r < rows->n; r++) {
        double P[36], Q[36] = {0};
        for (int i = 0; i < 6; i++)
            for (int e = 0; e < 6; e++) {
                P[6 * i + e] = w * x->P[e][6 * r + i];
                if (t->A) Q[6 * i + e] = w * x->Q[e][6 * r + i];
            }
        finish_block(ws, f->blk_tree[rows->blk + r], body, P, Q, t);
    }
}

static void finish_free(const tribo_ws *ws, int b, const target *t) {
    const ti_link_jac *j = &ws->scratch->link_jac[b];
    double P[36] = {0}, Q[36] = {0};
    for (int i = 0; i < 3; i++) {
        P[7 * i] = P[7 * (3 + i)] = 1;
        ti_store3(Q + 6 * i + 3, ti_load3(j->vf_th.m[i])), ti_store3(Q + 6 * (3 + i) + 3, ti_load3(j->wf_th.m[i]));
    }
    finish_block(ws, b, b, P, Q, t);
}

/* ---- islands and the step ---- */

/* All columns of a point, for some rows. */
static void pass_rows(tribo_ws *ws, const ti_frame *f, const ti_free_point *at, const ti_free_rows *rows, int npoint,
                      const target *t) {
    const ti_island *is = &f->island[at->island];
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++) {
        ti_free_columns x;
        int body = f->blk_tree[b];
        ti_free_columns_of(ws, at, rows, body, t->A != NULL, &x);
        if (npoint == 1)
            finish_columns(ws, f, rows, body, at->weight, &x, t);
        else
            add_columns(ws, f, rows, body, at->weight, &x, t);
        if (t->along) add_along(ws, f, rows, body, at->k, at->weight, &x, t->along);
    }
}

static tribo_status solve_island(tribo_ws *ws, const ti_frame *f, int island, const double *p, const target *t) {
    ti_scratch *s = ws->scratch;
    const ti_island *is = &f->island[island];
    ti_contact_problem problem = ti_step_problem(ws, f, island, TI_HOLD);
    ti_contact_solution solution = ti_frame_solution(f, island, TI_HOLD);
    ti_free_rows_prepare(ws, f, island, p);
    for (int k = 0; k < solution.npoint; k++) {
        tribo_status status = ti_contact_factor(ws->contact, &problem, &solution, k);
        if (status < 0) return status;
        ti_free_point at = {f, island, ti_frame_point(f, island, TI_HOLD, k), solution.point[k].weight};
        for (int b = is->blk0; b < is->blk0 + is->nblk; b += TI_FREE_ROWS / 6) {
            int left = is->blk0 + is->nblk - b;
            ti_free_rows rows = {.blk = b, .n = left < TI_FREE_ROWS / 6 ? left : TI_FREE_ROWS / 6};
            ti_free_rows_solve(ws, &problem, is, &rows);
            pass_rows(ws, f, &at, &rows, solution.npoint, t);
        }
        s->linear = ti_max(s->linear, ti_contact_linear_residual(ws->contact));
    }
    if (solution.npoint > 1) finish_island(ws, f, is, t);
    return TRIBO_OK;
}

/* Whether what body b does follows from its free velocity, and that from its velocity, as above. */
static bool moves_plainly(const tribo_ws *ws, int b) {
    return ws->link[b].substeps <= 1 && !ws->model->fluid;
}

static bool holds_plainly(const tribo_ws *ws, const ti_frame *f, const ti_island *is) {
    if (is->phase[TI_HOLD].npoint == 0) return false;
    for (int phase = TI_HOLD + 1; phase < TI_PHASES; phase++)
        if (is->phase[phase].npoint > 0) return false;
    for (int k = is->blk0; k < is->blk0 + is->nblk; k++)
        if (!moves_plainly(ws, f->blk_tree[k])) return false;
    for (int i = is->con0; i < is->con0 + is->ncon; i++)
        if (ti_con_spins(&f->con[i])) return false;
    return true;
}

bool ti_jacobian_applies(const tribo_ws *ws, const ti_frame *f) {
    for (int k = 0; k < f->nisland; k++)
        if (!holds_plainly(ws, f, &f->island[k])) return false;
    for (int b = 0; b < ws->model->size.nbody; b++)
        if (!moves_plainly(ws, b)) return false;
    return true;
}

/* The next state in the directions of p, from next_dot. */
static void finish_along(tribo_ws *ws, const ti_frame *f, const ti_seeds *along, double *out) {
    const tribo_sizes *size = &ws->model->size;
    ti_scratch *s = ws->scratch;
    for (int b = 0; b < size->nbody; b++)
        for (int j = 0; j < along->n; j++) {
            const ti_link_diff *diffs = &s->diff_dot[j * size->nbody];
            int blk = ws->blk_at[b];
            double *V_dot = s->next_dot + j * size->nv + (blk < 0 ? 0 : ws->at_v[blk]), *D_dot = s->D_dot;
            if (blk < 0) ti_motion_free_jvp(&ws->motion, b, diffs, V_dot = s->v_sum[TI_HOLD]);
            for (int e = 0; e < 6; e++) D_dot[e] = ws->options.dt * V_dot[e];
            ti_tree_next_dot(ws, f, diffs, b, V_dot, D_dot, out + (size_t)j * (size_t)size->ndx);
        }
}

tribo_status ti_jacobian(tribo_ws *ws, const ti_frame *f, const double *p, double *A, double *B, const ti_seeds *along,
                         double *out) {
    size_t nv = (size_t)ws->model->size.nv;
    target t = {A, B, ws->model->size.nv, along};
    ti_scratch *s = ws->scratch;
    if (along) {
        ti_seed_links(ws, along);
        memset(s->next_dot, 0, sizeof *s->next_dot * nv * (size_t)along->n);
    }
    if (A) memset(A, 0, sizeof *A * 4 * nv * nv);
    if (B) memset(B, 0, sizeof *B * 2 * nv * nv);
    for (int b = 0; b < ws->model->size.nbody; b++) {
        ti_link_jac_free(&ws->link[b], ws->options.dt, &s->link_jac[b]);
        ti_link_jac_integrate(&ws->link[b], ws->D + 6 * b, ti_solved_velocity(ws, f, b), &s->link_jac[b]);
    }
    tribo_status status = TRIBO_OK;
    for (int k = 0; k < f->nisland && status >= 0; k++) {
        const ti_island *is = &f->island[k];
        if (holds_plainly(ws, f, is))
            status = solve_island(ws, f, k, p, &t);
        else
            status = ti_tangent_columns(ws, f, p, k, f->blk_tree + is->blk0, is->nblk, A, B);
    }
    for (int b = 0; b < ws->model->size.nbody && status >= 0; b++) {
        if (ws->blk_at[b] >= 0) continue;
        if (moves_plainly(ws, b))
            finish_free(ws, b, &t);
        else
            status = ti_tangent_columns(ws, f, p, -1, &b, 1, A, B);
    }
    if (along && status >= 0) finish_along(ws, f, along, out);
    return status;
}
