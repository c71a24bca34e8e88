/* pose.c -- from contacts to the numbers of the contact problem. */
#include "forward/frame.h"

tribo_status ti_step_kinematics(tribo_ws *ws, const double *p, const double *x, const double *u, const double *known) {
    bool all = ti_motion_load(&ws->motion, p, x, x + ws->model->size.nq, u, ws->options.dt, known);
    return all ? TRIBO_OK : ti_motion_singular(&ws->motion) ? TRIBO_E_SINGULAR : TRIBO_E_FAST;
}

void ti_step_shapes(tribo_ws *ws, const double *p) {
    ti_shapes(ws->model, p, ws->link, ws->shape);
}

void ti_step_pair_shapes(tribo_ws *ws, const double *p, const ti_pair *pair) {
    ti_shape_place(ws->model, p, ws->link, pair->a, &ws->shape[pair->a]);
    ti_shape_place(ws->model, p, ws->link, pair->b, &ws->shape[pair->b]);
}

/* On the way to the root: of a single body one after the other. Counted from the first velocity of the island. */
static void pose_ways(tribo_ws *ws, const ti_frame *f) {
    for (int i = 0; i < f->nisland; i++)
        for (int k = f->island[i].blk0; k < f->island[i].blk0 + f->island[i].nblk; k++) {
            const ti_tree *tree = &ws->model->tree[f->blk_tree[k]];
            int *before = ws->before + ws->at_v[k], v0 = ws->at_v[k] - f->island[i].v0;
            for (int d = 0; d < tree->nv; d++) {
                int on = tree->single ? d - 1 : ws->model->dof[tree->v + d].on - tree->v;
                before[d] = on >= 0 ? v0 + on : -1;
            }
        }
}

static void pose_blocks(tribo_ws *ws, const ti_frame *f) {
    const ti_tree *trees = ws->model->tree;
    for (int t = 0; t < ws->model->ntree; t++) ws->blk_at[t] = -1;
    size_t at_M = 0;
    for (int k = 0, at_v = 0; k < f->nblk; k++) {
        int t = f->blk_tree[k], w = trees[t].nv;
        ws->blk_at[t] = k;
        ws->width[k] = w, ws->at_v[k] = at_v, ws->at_M[k] = at_M;
        ws->heft[k] = ti_motion_heft(&ws->motion, t);
        ti_motion_inertia(&ws->motion, t, ws->M + at_M);
        ti_motion_free(&ws->motion, t, ws->vfree + at_v);
        ti_motion_now(&ws->motion, t, ws->vnow + at_v);
        at_v += w, at_M += (size_t)w * (size_t)w;
    }
    if (ws->model->chains) pose_ways(ws, f);
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

/* The ways to the root of two bodies of one tree, the last numbers first. */
static void list_both(tribo_ws *ws, const ti_con *c, int i) {
    const ti_dof *dof = ws->model->dof;
    const ti_tree *tree = &ws->model->tree[ws->model->body[c->a].tree];
    int *column = ws->column + (size_t)(2 * i) * (size_t)ws->model->widest, n = 0;
    int at[2] = {ws->model->body[c->a].last, ws->model->body[c->b].last};
    if (c->kind == TI_CON_COUPLING)
        for (int side = 0; side < 2; side++) at[side] = tree->v + ti_closure_column(ws, c, side);
    while (at[0] >= 0 || at[1] >= 0) {
        int k = at[0] > at[1] ? at[0] : at[1];
        column[n++] = k - tree->v;
        for (int side = 0; side < 2; side++)
            if (at[side] == k) at[side] = c->kind == TI_CON_COUPLING ? -1 : dof[k].before;
    }
    ws->support[2 * i] = (ti_support){n, column, .forked = true};
}

/* What a row of joints is on in a tree, the last numbers first. @return how many */
static int list_line(const ti_tree *tree, const ti_line *line, int *column) {
    int n = 0;
    for (int k = 0; k < line->n; k++) {
        int at = ti_line_v(line, k) - tree->v;
        if (at >= 0 && at < tree->nv) column[n++] = at;
    }
    return n;
}

/* The columns of the blocks of contact i that its bodies depend on. */
static void list_columns(tribo_ws *ws, const ti_con *c, int i) {
    const tribo_model *m = ws->model;
    ti_support *s = ws->support + 2 * i;
    s[0] = s[1] = (ti_support){0};
    if (ti_con_within(ws, c)) {
        list_both(ws, c, i);
        return;
    }
    for (int side = 0, k = 0; side < 2; side++) {
        int body = side ? c->b : c->a;
        if (body < 0) continue;
        const ti_tree *tree = &m->tree[m->body[body].tree];
        ti_line line = ti_con_line(m, c);
        bool joint = c->kind == TI_CON_COUPLING || line.n == 1;
        int *column = ws->column + (size_t)(2 * i + k) * (size_t)m->widest, n = 0, first = m->body[body].last;
        if (c->kind == TI_CON_COUPLING)
            column[n++] = ti_closure_column(ws, c, side);
        else if (ti_con_turns(m, c))
            for (int d = 2; d >= 0; d--) column[n++] = c->v + d - tree->v;
        else if (line.n > 0)
            n = list_line(tree, &line, column);
        else
            for (int d = first; d >= 0; d = m->dof[d].before) column[n++] = d - tree->v;
        s[k++] = (ti_support){n, tree->single ? NULL : column, joint, line.n > 1};
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

/* The third row on one side. */
static void joint_row(const tribo_model *m, const ti_con *c, int body, double *J) {
    const ti_tree *tree = &m->tree[m->body[body].tree];
    ti_line line = ti_con_line(m, c);
    double *row = J + 2 * tree->nv;
    for (int k = 0; k < line.n; k++) {
        int at = ti_line_v(&line, k) - tree->v;
        if (at >= 0 && at < tree->nv) row[at] = c->sign * ti_line_coef(&line, k);
    }
    for (int d = 0; d < 3 && ti_con_turns(m, c); d++) row[c->v + d - tree->v] = c->sign * c->way[d];
}

static const unsigned char CONSTRAINT[] = {
    [TI_CON_CONTACT] = TI_CONSTRAINT_CONTACT, [TI_CON_LIMIT] = TI_CONSTRAINT_CONTACT,
    [TI_CON_TENDON] = TI_CONSTRAINT_CONTACT,  [TI_CON_DRY] = TI_CONSTRAINT_DRY,
    [TI_CON_COUPLING] = TI_CONSTRAINT_HELD,   [TI_CON_CONNECT] = TI_CONSTRAINT_HELD,
    [TI_CON_TURN] = TI_CONSTRAINT_HELD,       [TI_CON_TWIST] = TI_CONSTRAINT_TWIST,
    [TI_CON_ROLL] = TI_CONSTRAINT_ROLL};

static void pose_coefficient(tribo_ws *ws, const ti_frame *f, int i, const double *p) {
    const ti_con *c = &f->con[i];
    const tribo_model *m = ws->model;
    ws->what[i] = CONSTRAINT[c->kind];
    ti_pose_compliance(ws, f, i, p);
    if (c->kind == TI_CON_DRY) {
        ws->mu[i] = ws->options.dt * p[ti_loss_at(&m->joint[m->dof[c->v].joint])], ws->mu_hit[i] = 0;
        return;
    }
    if (ti_con_spins(c)) {
        ws->mu[i] = ws->mu_hit[i] = p[c->pair.material[ti_con_spin_number(c)]] / c->pair.length;
        return;
    }
    ws->mu[i] = ti_con_number(m, c, p, TI_M_FRICTION) + (c->sticky ? ti_con_number(m, c, p, TI_M_STICTION) : 0);
    ws->mu_hit[i] = ws->mu[i];
}

static int tree_width(const tribo_ws *ws, int body) {
    return body >= 0 ? ws->model->tree[ws->model->body[body].tree].nv : 0;
}

/* What the gap of contact i asks for, and its noise, which is of what a gap without noise asks for. */
static ti_reference reference(tribo_ws *ws, const ti_frame *f, int k, int i) {
    ti_con *c = &f->con[i];
    c->noise = 0;
    ti_reference r = ti_frame_reference(ws, f, k, i);
    ti_step_noise(ws, c, i, r.ref_gap);
    if (!ti_con_opens(c) || !ti_step_is_noisy(ws)) return r;
    c->noise = ws->options.dt * (ws->covariance ? ws->noise[2 * i] : ws->options.law.noise);
    return ti_frame_reference(ws, f, k, i);
}

static void pose_contact(tribo_ws *ws, const ti_frame *f, int k, int i, const double *p) {
    const ti_island *is = &f->island[k];
    ti_con *c = &f->con[i];
    contact_blocks(ws, c, &ws->blk_a[i], &ws->blk_b[i]);
    ws->joff[i] = ws->con_entries * (i - is->con0);
    if (ws->model->chains) {
        int wide = tree_width(ws, c->a) + (ti_con_within(ws, c) ? 0 : tree_width(ws, c->b));
        memset(ti_frame_jacobian(ws, i), 0, sizeof(double) * 3 * (size_t)wide);
        list_columns(ws, c, i);
    }
    for (int side = 0; side < 2; side++) {
        int body = side ? c->b : c->a;
        if (body < 0) continue;
        double *J = (double *)ti_frame_side(ws, f, i, side);
        if (c->kind == TI_CON_CONTACT || ti_con_spins(c))
            add_rows(ws, c, body, side ? 1 : -1, J);
        else if (ti_con_is_row(c))
            joint_row(ws->model, c, body, J);
        else
            ti_closure_rows(ws, c, side, ws->width[ti_blk_of_body(ws, body)], J);
    }
    if (ws->model->chains && (c->kind == TI_CON_CONTACT || ti_con_spins(c))) ti_frame_rows_settle(ws, f, i);
    pose_coefficient(ws, f, i, p);
    ti_reference r = reference(ws, f, k, i);
    ws->ref[3 * i] = ws->ref[3 * i + 1] = 0, ws->ref[3 * i + 2] = r.ref;
    if (ti_con_holds(c) && !is->bare) ti_closure_reference(ws, c, ws->ref + 3 * i);
    if (c->kind == TI_CON_CONNECT || c->kind == TI_CON_TURN) {
        int width[2] = {tree_width(ws, c->a), ti_con_within(ws, c) ? 0 : tree_width(ws, c->b)};
        ti_closure_settle(ws, c, width, ti_frame_jacobian(ws, i), ws->ref + 3 * i);
    }
}

/* From the free motion: which contacts may bounce. Those that others keep from it are found out later. */
static void free_motion(const tribo_ws *ws, const ti_frame *f, int i, const double *p) {
    ti_con *c = &f->con[i];
    double e = ti_con_number(ws->model, c, p, TI_M_RESTITUTION);
    c->uf = ti_row_velocity(ws, f, i, 2, ws->vfree);
    c->tau = 0, c->bounce = c->lands = false;
    if (ti_con_spins(c)) ti_con_follow(c);
    if (!(e > 0)) return;
    c->an = (c->uf - ti_row_velocity(ws, f, i, 2, ws->vnow)) / ws->options.dt;
    ti_impact hit = ti_frame_impact(ws, c);
    if (!hit.reached) return;
    ti_con_meet(c, &hit, e, false, ws->options.dt);
    if (c->bounce) c->tau = hit.tau;
}

void ti_step_pose_island(tribo_ws *ws, const ti_frame *f, int k, const double *p) {
    const ti_island *is = &f->island[k];
    for (int i = is->con0; i < is->con0 + is->ncon; i++) pose_contact(ws, f, k, i, p);
    ti_step_lighten(ws, is);
    ti_loops_settle(ws, f, k);
}

void ti_step_pose(tribo_ws *ws, const ti_frame *f, const double *p, int fresh) {
    pose_blocks(ws, f);
    for (int k = 0; k < f->nisland; k++) {
        ti_step_pose_island(ws, f, k, p);
        const ti_island *is = &f->island[k];
        for (int i = is->con0; k >= fresh && i < is->con0 + is->ncon; i++) free_motion(ws, f, i, p);
    }
}
