/* pose.c -- from contacts to the numbers of the contact problem. */
#include "forward/frame.h"

bool ti_step_kinematics(tribo_ws *ws, const double *p, const double *x, const double *u) {
    bool all = ti_motion_load(&ws->motion, p, x, x + ws->model->size.nq, u, ws->options.dt);
    ti_shapes(ws->model, p, ws->link, ws->shape);
    return all;
}

static double row_times(int w, const double *row, const double *v) {
    double s = 0;
    for (int i = 0; i < w; i++) s += row[i] * v[i];
    return s;
}

static void pose_blocks(tribo_ws *ws, const ti_frame *f) {
    const ti_tree *trees = ws->model->tree;
    for (int t = 0; t < ws->model->ntree; t++) ws->blk_at[t] = -1;
    size_t at_M = 0;
    for (int k = 0, at_v = 0; k < f->nblk; k++) {
        int t = f->blk_tree[k], w = trees[t].nv;
        ws->blk_at[t] = k;
        ws->width[k] = w, ws->at_v[k] = at_v, ws->at_M[k] = at_M;
        ti_motion_inertia(&ws->motion, t, ws->M + at_M);
        ti_motion_free(&ws->motion, t, ws->vfree + at_v);
        ti_motion_now(&ws->motion, t, ws->vnow + at_v);
        at_v += w, at_M += (size_t)w * (size_t)w;
    }
    for (int i = 0; i < f->nisland; i++) {
        const ti_island *is = &f->island[i];
        for (int k = 0; k < is->nblk; k++) {
            int at = is->blk0 + k;
            ws->voff[at] = ws->at_v[at] - is->v0, ws->moff[at] = (int)(ws->at_M[at] - ws->at_M[is->blk0]);
            ws->blk_of[f->blk_tree[at]] = k;
        }
    }
}

/* Blocks of a contact in its island, the first of which is never the world. */
static void contact_blocks(const tribo_ws *ws, const ti_con *c, int *first, int *second) {
    const ti_body *body = ws->model->body;
    int a = c->a >= 0 ? ws->blk_of[body[c->a].tree] : -1, b = c->b >= 0 ? ws->blk_of[body[c->b].tree] : -1;
    *first = a >= 0 ? a : b;
    *second = a >= 0 && a != b ? b : -1;
}

/* Where the rows of contact i begin in J. */
static double *rows_of(const tribo_ws *ws, int i) {
    return ws->J + (size_t)ws->con_entries * (size_t)i;
}

/* Whether both bodies of a contact belong to one tree: their rows are summed, and are those of side 0. */
static bool is_within(const tribo_ws *ws, const ti_con *c) {
    return ws->model->chains && c->a >= 0 && c->b >= 0 && ws->model->body[c->a].tree == ws->model->body[c->b].tree;
}

const double *ti_frame_rows(const tribo_ws *ws, const ti_frame *f, int i, int side) {
    const ti_con *c = &f->con[i];
    if ((side ? c->b : c->a) < 0 || (side && is_within(ws, c))) return NULL;
    return ti_frame_side(ws, f, i, side);
}

const double *ti_frame_side(const tribo_ws *ws, const ti_frame *f, int i, int side) {
    const ti_con *c = &f->con[i];
    const double *J = rows_of(ws, i);
    return side && c->a >= 0 && !is_within(ws, c) ? J + 3 * ws->width[ti_blk_of_body(ws, c->a)] : J;
}

/* The columns of the blocks of contact i that its bodies depend on. A contact inside one tree has all. */
static void list_columns(tribo_ws *ws, const ti_con *c, int i) {
    const tribo_model *m = ws->model;
    ti_support *s = ws->support + 2 * i;
    s[0] = s[1] = (ti_support){0};
    if (is_within(ws, c)) return;
    for (int side = 0, k = 0; side < 2; side++) {
        int body = side ? c->b : c->a;
        if (body < 0) continue;
        const ti_tree *tree = &m->tree[m->body[body].tree];
        bool joint = c->kind == TI_CON_COUPLING || c->kind == TI_CON_LIMIT || c->kind == TI_CON_DRY;
        int *column = ws->column + (size_t)(2 * i + k) * (size_t)m->widest, n = 0, first = m->body[body].last;
        if (c->kind == TI_CON_COUPLING)
            column[n++] = ti_closure_column(ws, c, side);
        else if (c->kind == TI_CON_LIMIT || c->kind == TI_CON_DRY)
            column[n++] = c->v - tree->v;
        else
            for (int d = first; d >= 0; d = m->dof[d].before) column[n++] = d - tree->v;
        s[k++] = (ti_support){n, tree->single ? NULL : column, joint};
    }
}

static void add_rows(tribo_ws *ws, const ti_con *c, int body, double sign, double *J) {
    double R[3 * TI_TWIST];
    if (ws->model->tree[ws->model->body[body].tree].single) {
        ti_rows(c, &ws->link[body], sign, J);
        return;
    }
    ti_rows(c, &ws->link[body], sign, R);
    ti_link_rows(ws, body, R, J);
}

double ti_side_velocity(const tribo_ws *ws, const ti_frame *f, int i, int side, int r, const double *v) {
    const double *J = ti_frame_rows(ws, f, i, side);
    if (!J) return 0;
    int k = ti_blk_of_body(ws, side ? f->con[i].b : f->con[i].a), w = ws->width[k];
    return row_times(w, J + w * r, v + ws->at_v[k]);
}

double ti_row_velocity(const tribo_ws *ws, const ti_frame *f, int i, int r, const double *v) {
    return ti_side_velocity(ws, f, i, 0, r, v) + ti_side_velocity(ws, f, i, 1, r, v);
}

void ti_row_kick(const tribo_ws *ws, const ti_frame *f, int i, int r, double s, double *v) {
    const ti_con *c = &f->con[i];
    for (int side = 0; side < 2; side++) {
        const double *J = ti_frame_rows(ws, f, i, side);
        if (!J) continue;
        int k = ti_blk_of_body(ws, side ? c->b : c->a), w = ws->width[k];
        ti_motion_solve(&ws->motion, f->blk_tree[k], J + w * r, ws->kick);
        for (int j = 0; j < w; j++) v[ws->at_v[k] + j] += s * ws->kick[j];
    }
}

const double *ti_solved_velocity(tribo_ws *ws, const ti_frame *f, int t) {
    int k = ws->blk_at[t];
    if (k >= 0) return f->v + ws->at_v[k];
    ti_motion_free(&ws->motion, t, ws->V);
    return ws->V;
}

ti_grain ti_frame_grain(const tribo_ws *ws, const ti_con *c) {
    const tribo_model *m = ws->model;
    double fastest = ws->options.recovery * ws->options.dt;
    if (c->kind != TI_CON_CONTACT) return ti_grain_of(&c->touch, 1, false, fastest);
    const ti_pair *pair = &m->pair[c->pair];
    bool round = ti_collide_most(m->geom[pair->a].shape, m->geom[pair->b].shape) == 1;
    return ti_grain_of(&c->touch, pair->length, !round, fastest);
}

static const unsigned char CONSTRAINT[] = {TI_CONSTRAINT_CONTACT, TI_CONSTRAINT_CONTACT, TI_CONSTRAINT_DRY,
                                           TI_CONSTRAINT_HELD,    TI_CONSTRAINT_HELD,    TI_CONSTRAINT_HELD};

static void pose_coefficient(tribo_ws *ws, const ti_con *c, int i, const double *p) {
    const tribo_model *m = ws->model;
    ws->what[i] = CONSTRAINT[c->kind];
    if (c->kind == TI_CON_DRY) {
        ws->mu[i] = ws->options.dt * p[m->joint[m->dof[c->v].joint].p + TI_P_FRICTIONLOSS], ws->mu_hit[i] = 0;
        return;
    }
    ws->mu[i] = ti_con_number(m, c, p, TI_M_FRICTION) + (c->sticky ? ti_con_number(m, c, p, TI_M_STICTION) : 0);
    ws->mu_hit[i] = ws->mu[i];
}

static void pose_contact(tribo_ws *ws, const ti_frame *f, int k, int i, const double *p) {
    const ti_island *is = &f->island[k];
    ti_con *c = &f->con[i];
    contact_blocks(ws, c, &ws->blk_a[i], &ws->blk_b[i]);
    ws->joff[i] = ws->con_entries * (i - is->con0);
    if (ws->model->chains) {
        memset(rows_of(ws, i), 0, sizeof(double) * (size_t)ws->con_entries);
        list_columns(ws, c, i);
    }
    for (int side = 0; side < 2; side++) {
        int body = side ? c->b : c->a;
        if (body < 0) continue;
        double *J = (double *)ti_frame_side(ws, f, i, side);
        if (c->kind == TI_CON_CONTACT)
            add_rows(ws, c, body, side ? 1 : -1, J);
        else if (ti_con_holds(c))
            ti_closure_rows(ws, c, side, ws->width[ti_blk_of_body(ws, body)], J);
    }
    if (c->kind == TI_CON_LIMIT || c->kind == TI_CON_DRY) {
        const ti_tree *tree = &ws->model->tree[ws->model->body[c->b].tree];
        rows_of(ws, i)[2 * tree->nv + c->v - tree->v] = c->sign;
    }
    ti_grain grain = ti_frame_grain(ws, c);
    ti_reference r = !ti_con_opens(c) ? (ti_reference){0} : ti_staying(c->touch.gap, &grain, ws->options.dt);
    if (is->bare && c->touch.gap < 0) r = (ti_reference){0};
    ti_step_noise(ws, c, i, r.ref_gap);
    ws->ref[3 * i] = ws->ref[3 * i + 1] = 0, ws->ref[3 * i + 2] = r.ref;
    if (ti_con_holds(c)) ti_closure_reference(ws, c, ws->ref + 3 * i);
    pose_coefficient(ws, c, i, p);
}

/* From the free motion: which contacts may bounce. Those that others keep from it are found out later. */
static void free_motion(const tribo_ws *ws, const ti_frame *f, int i, const double *p) {
    ti_con *c = &f->con[i];
    double e = ti_con_number(ws->model, c, p, TI_M_RESTITUTION);
    c->uf = ti_row_velocity(ws, f, i, 2, ws->vfree);
    c->an = (c->uf - ti_row_velocity(ws, f, i, 2, ws->vnow)) / ws->options.dt;
    c->tau = 0, c->bounce = false;
    if (!(e > 0)) return;
    ti_impact hit = ti_frame_impact(ws, c);
    if (!hit.reached) return;
    c->bounce = ti_impact_leaves(&hit, c->an, e, ws->options.dt) > 0;
    if (c->bounce) c->tau = hit.tau;
}

void ti_step_pose_island(tribo_ws *ws, const ti_frame *f, int k, const double *p) {
    const ti_island *is = &f->island[k];
    for (int i = is->con0; i < is->con0 + is->ncon; i++) pose_contact(ws, f, k, i, p);
}

void ti_step_pose(tribo_ws *ws, const ti_frame *f, const double *p, bool fresh) {
    pose_blocks(ws, f);
    for (int k = 0; k < f->nisland; k++) {
        ti_step_pose_island(ws, f, k, p);
        const ti_island *is = &f->island[k];
        for (int i = is->con0; fresh && i < is->con0 + is->ncon; i++) free_motion(ws, f, i, p);
    }
}

/* Whether there are others than contacts, and limits, which are contacts without friction. */
static bool has_others(const tribo_ws *ws, const ti_island *is) {
    for (int i = is->con0; ws->model->chains && i < is->con0 + is->ncon; i++)
        if (ws->what[i] != TI_CONSTRAINT_CONTACT) return true;
    return false;
}

ti_contact_problem ti_step_problem(const tribo_ws *ws, const ti_frame *f, int k, ti_phase phase) {
    const ti_island *is = &f->island[k];
    int c = is->con0, b = is->blk0, v = is->v0;
    ti_contact_problem q = {.nc = phase == TI_HOLD ? is->nhold : is->ncon,
                            .nblk = is->nblk,
                            .chains = ws->model->chains,
                            .nv = is->nv,
                            .width = ws->width + b,
                            .voff = ws->voff + b,
                            .moff = ws->moff + b,
                            .M = ws->M + ws->at_M[b],
                            .a = ws->blk_a + c,
                            .b = ws->blk_b + c,
                            .joff = ws->joff + c,
                            .J = rows_of(ws, c),
                            .vfree = ws->vfree + v,
                            .ref = ws->ref + 3 * c,
                            .mu = (phase == TI_IMPACT || phase == TI_REBOUND ? ws->mu_hit : ws->mu) + c,
                            .support = ws->model->chains ? ws->support + 2 * c : NULL,
                            .what = has_others(ws, is) ? ws->what + c : NULL,
                            .noise = ws->covariance ? ws->noise + 2 * (size_t)c : NULL};
    if (phase == TI_IMPACT) q.vfree = ws->vnow + v, q.ref = ws->ref_hit + 3 * c;
    if (phase == TI_AFTER) q.vfree = ws->v_after + v;
    if (phase == TI_REBOUND) {
        q.kind = TI_CONTACT_REBOUND, q.vfree = ws->v_given + v, q.ref = ws->ref_hit + 3 * c;
        q.rebound = ws->give + c;
    }
    if (phase >= TI_TIMING) {
        q.kind = TI_CONTACT_PLAIN, q.vfree = q.mu = ws->zero;
        q.ref = (phase == TI_TIMING ? ws->ref_time : ws->ref_apart) + 3 * c;
    }
    return q;
}

/* D = dt V; where impacts reach a body, the velocity without them until their time: docs/math.md eq. (16). */
void ti_step_displacement(tribo_ws *ws, const ti_frame *f, double *D) {
    const ti_tree *trees = ws->model->tree;
    double dt = ws->options.dt;
    for (int t = 0; t < ws->model->ntree; t++) {
        const double *v = ti_solved_velocity(ws, f, t);
        for (int j = 0; j < trees[t].nv; j++) D[trees[t].v + j] = dt * v[j];
    }
    for (int i = 0; i < f->nisland; i++) {
        const ti_island *is = &f->island[i];
        if (is->phase[TI_IMPACT].npoint == 0) continue;
        const double *before = f->phase[TI_HOLD].v[TI_SOLVED];
        ti_impact_times(ws, f, i);
        for (int k = is->blk0; k < is->blk0 + is->nblk; k++) {
            double *to = D + trees[f->blk_tree[k]].v;
            for (int j = 0, at = ws->at_v[k]; j < ws->width[k]; j++, at++)
                to[j] -= ws->time[k] * (f->v[at] - before[at]);
        }
        if (is->phase[TI_TIMING].npoint > 0) ti_step_displace(ws, f, i, TI_TIMING, D);
    }
}

void ti_step_displace(const tribo_ws *ws, const ti_frame *f, int k, ti_phase phase, double *D) {
    const ti_island *is = &f->island[k];
    const double *v = f->phase[phase].v[TI_SOLVED];
    for (int b = is->blk0; b < is->blk0 + is->nblk; b++) {
        double *to = D + ws->model->tree[f->blk_tree[b]].v;
        for (int j = 0; j < ws->width[b]; j++) to[j] += is->pace[phase] * v[ws->at_v[b] + j];
    }
}
