/* tree_contacts.c -- what displacements of trees change in the contacts of a solved phase, by columns.
 * docs/math.md eq. (164)-(167). */
#include "backward/tree_contacts.h"
#include "dynamics/ball.h"
#include "dynamics/bias.h"
#include "model/state.h"

/* How a collision changes with the link of a side: point, normal and gap, as wrenches, of which the power with a twist
 * is what a displacement along that makes of them. */
typedef struct touch_rows {
    ti_spatial point[3], normal[3], gap;
} touch_rows;

/* A contact at one point of the solution: its impulse, and what its rows gain by point and normal. */
typedef struct pressed {
    touch_rows by[2];
    ti_vec at, force;
    ti_mat force_by; /* by the normal */
    ti_vec by_point[3], by_normal[3];
    ti_spatial by_turn[3]; /* where the relative velocity alone changes, of b against a */
    double follows;        /* of a recovery: what it takes back of the gap that the step before it would leave */
} pressed;

/* Contacts of two bodies that follow one another, no more than are pressed together. */
enum { TOGETHER = 8 };
typedef struct pressed_pair {
    const ti_con *c; /* the first */
    int n;
    bool follows;   /* one of them */
    ti_spatial all; /* what they push */
    pressed of[TOGETHER];
} pressed_pair;

static const ti_spatial none = {{0, 0, 0}, {0, 0, 0}};

double ti_point_follows(const tribo_ws *ws, const ti_phase_point *at, int i) {
    return at->phase == TI_RECOVER ? ti_frame_overlap(ws, at->f, at->island, i, at->p).ref_gap
                                   : ti_frame_reference(ws, at->f, at->island, i).ref_gap;
}

static ti_spatial twist_of(const tribo_ws *ws, const ti_spatial *twist, int body) {
    return twist[ws->model->body[body].last];
}

/* Of b against a where they touch. */
static ti_vec relative_speed(const tribo_ws *ws, const ti_con *c, const ti_spatial *twist) {
    ti_vec speed = {0, 0, 0};
    for (int side = 0; side < 2; side++) {
        int body = side ? c->b : c->a;
        if (body < 0) continue;
        speed = ti_axpy(speed, side ? 1 : -1, ti_sp_at(twist_of(ws, twist, body), c->touch.point));
    }
    return speed;
}
static ti_vec relative_spin(const tribo_ws *ws, const ti_con *c, const ti_spatial *twist) {
    ti_vec spin = {0, 0, 0};
    for (int side = 0; side < 2; side++)
        if ((side ? c->b : c->a) >= 0) spin = ti_axpy(spin, side ? 1 : -1, twist_of(ws, twist, side ? c->b : c->a).w);
    return spin;
}

/* By the place of a link and its turn in its own axes. */
static ti_spatial row_by(const ti_link *l, const double *rate) {
    return ti_sp_wrench(ti_mul(&l->R, ti_load3(rate + 3)), l->xo, ti_load3(rate));
}

static void load_rows(const tribo_ws *ws, const ti_con *c, int i, int side, touch_rows *out) {
    const ti_link *l = &ws->link[side ? c->b : c->a];
    const double *rate = ws->scratch->rate + TI_COLLIDE_ROWS * TI_POSE * (2 * i + side);
    for (int k = 0; k < 3; k++)
        out->point[k] = row_by(l, rate + k * TI_POSE), out->normal[k] = row_by(l, rate + (3 + k) * TI_POSE);
    out->gap = row_by(l, rate + (TI_COLLIDE_ROWS - 1) * TI_POSE);
}

/* Contact i, added to its pair. */
static void press(const tribo_ws *ws, const ti_phase_point *at, int i, pressed_pair *pair) {
    const ti_con *c = &at->f->con[i];
    const ti_tree_jac *j = &ws->scratch->tree_jac;
    const double *lambda = ti_point_lambda(at) + 3 * i;
    const ti_vec axis[] = {c->t1, c->t2, c->touch.normal};
    pressed *q = &pair->of[pair->n++];
    ti_mat D1, D2;
    ti_vec speed = relative_speed(ws, c, j->solved), spin = relative_spin(ws, c, j->solved);
    ti_tangents_jac(c->touch.normal, &D1, &D2);
    q->at = c->touch.point, q->force = (ti_vec){0, 0, 0};
    for (int r = 0; r < 3; r++) {
        q->force = ti_axpy(q->force, lambda[r], axis[r]);
        q->by_point[r] = ti_cross(axis[r], spin), q->by_turn[r] = ti_sp_wrench(none.w, q->at, axis[r]);
        for (int k = 0; k < 3; k++)
            q->force_by.m[r][k] = lambda[0] * D1.m[r][k] + lambda[1] * D2.m[r][k] + (r == k ? lambda[2] : 0);
    }
    q->by_normal[0] = ti_tmul(&D1, speed), q->by_normal[1] = ti_tmul(&D2, speed), q->by_normal[2] = speed;
    q->follows = at->phase == TI_RECOVER ? ti_point_follows(ws, at, i) : 0;
    if (q->follows != 0) {
        ti_vec turn = ti_cross(axis[2], relative_spin(ws, c, j->acceleration));
        q->by_normal[2] = ti_axpy(speed, q->follows, relative_speed(ws, c, j->acceleration));
        q->by_point[2] = ti_axpy(q->by_point[2], q->follows, turn);
        pair->follows = true;
    }
    pair->all = ti_sp_axpy(pair->all, 1, ti_sp_wrench(none.w, q->at, q->force));
    for (int side = 0; side < 2; side++)
        if ((side ? c->b : c->a) >= 0) load_rows(ws, c, i, side, &q->by[side]);
}

/* How the relative velocity of such twists changes where number d turns the link of `side`, which is where it was. */
static ti_spatial turned(const tribo_ws *ws, const ti_spatial *twist, int side, int body, int d) {
    int by = ws->model->dof[d].carried_by;
    ti_spatial own = twist_of(ws, twist, body), less = by >= 0 ? ti_sp_axpy(own, -1, twist[by]) : own;
    ti_spatial out = ti_sp_cross(ws->motion.axis[d], less);
    return side ? out : (ti_spatial){ti_scale(-1, out.w), ti_scale(-1, out.v)};
}

static ti_vec moved_by(const ti_spatial *rows, ti_spatial axis) {
    return (ti_vec){ti_sp_dot(rows[0], axis), ti_sp_dot(rows[1], axis), ti_sp_dot(rows[2], axis)};
}

/* A displacement by number d moves the link of `side`: columns of dc (3 contacts), of panels. @return how what they
 * push changes */
static ti_spatial rows_column(const tribo_ws *ws, const pressed_pair *pair, int side, int d, double *dc) {
    const ti_tree_jac *j = &ws->scratch->tree_jac;
    int body = side ? pair->c->b : pair->c->a;
    ti_spatial axis = ws->motion.axis[d], turns = turned(ws, j->solved, side, body, d), change = none,
               left = pair->follows ? turned(ws, j->acceleration, side, body, d) : none;
    for (int k = 0; k < pair->n; k++) {
        const pressed *q = &pair->of[k];
        double *of = dc + 3 * TI_PANEL * k;
        ti_vec point = moved_by(q->by[side].point, axis), normal = moved_by(q->by[side].normal, axis);
        for (int r = 0; r < 3; r++)
            of[TI_PANEL * r] +=
                ti_dot(q->by_normal[r], normal) + ti_dot(q->by_point[r], point) + ti_sp_dot(q->by_turn[r], turns);
        of[2 * TI_PANEL] += ti_sp_dot(q->by[side].gap, axis);
        if (q->follows != 0) of[2 * TI_PANEL] += q->follows * ti_sp_dot(q->by_turn[2], left);
        ti_spatial push = ti_sp_wrench(ti_cross(point, q->force), q->at, ti_mul(&q->force_by, normal));
        change = ti_sp_axpy(change, 1, push);
    }
    return change;
}

/* The same of what is pushed: a column of r (nv of the island). */
static void push_column(const tribo_ws *ws, const pressed_pair *pair, int side, int d, ti_spatial change, double *r) {
    const tribo_model *m = ws->model;
    const ti_spatial *axis = ws->motion.axis;
    ti_spatial moved = ti_sp_axpy(change, -1, ti_sp_cross_force(axis[d], pair->all));
    for (int s = 0; s < 2; s++) {
        int body = s ? pair->c->b : pair->c->a;
        if (body < 0) continue;
        const ti_tree *tree = &m->tree[m->body[body].tree];
        double *to = r + TI_PANEL * (ws->voff[ws->blk_at[m->body[body].tree]] - tree->v), sign = s ? 1 : -1;
        for (int e = m->body[body].last; e >= 0; e = m->dof[e].before)
            to[TI_PANEL * e] +=
                sign * ti_sp_dot(axis[e], s == side && ti_dof_moves(&ws->motion, d, e) ? moved : change);
    }
}

/* From contact i on. */
static void press_pair(const tribo_ws *ws, const ti_phase_point *at, int i, pressed_pair *pair) {
    const ti_island *is = &at->f->island[at->island];
    const ti_con *first = &at->f->con[i], *end = at->f->con + is->con0 + is->ncon;
    pair->c = first, pair->n = 0, pair->follows = false, pair->all = none;
    for (const ti_con *c = first; pair->n < TOGETHER && c < end; c++) {
        if (c->kind != TI_CON_CONTACT || !ti_point_acts(at, i + pair->n) || c->a != first->a || c->b != first->b) break;
        press(ws, at, i + pair->n, pair);
    }
}

/* Their columns [first, end). */
static void pair_columns(const tribo_ws *ws, const pressed_pair *pair, int first, int end, double *r, double *dc) {
    for (int side = 0; side < 2; side++) {
        int body = side ? pair->c->b : pair->c->a;
        if (body < 0) continue;
        for (int d = ws->model->body[body].last; d >= 0; d = ws->model->dof[d].before) {
            if (d < first || d >= end) continue;
            ti_spatial change = rows_column(ws, pair, side, d, dc + d - first);
            push_column(ws, pair, side, d, change, r + d - first);
        }
    }
}

/* Of the limit of a ball, whose row turns with it. */
static void ball_columns(const tribo_ws *ws, const ti_phase_point *at, int i, int first, int end, double *r,
                         double *dc) {
    const tribo_model *m = ws->model;
    const ti_con *c = &at->f->con[i];
    int t = m->body[c->b].tree, b = ws->blk_at[t], own = c->v - m->tree[t].v;
    ti_mat D = ti_limit_way_jac(&m->joint[m->dof[c->v].joint], ws->motion.q);
    ti_vec speed = ti_tmul(&D, ti_load3(ti_point_velocity(at) + ws->at_v[b] + own));
    double by[3], follows = ti_point_follows(ws, at, i);
    if (at->phase == TI_RECOVER) speed = ti_axpy(speed, follows, ti_tmul(&D, ti_load3(ws->D0 + c->v)));
    ti_store3(by, ti_axpy(speed, follows, ti_load3(c->way)));
    for (int d = 0; d < 3; d++) {
        int col = c->v + d - first;
        if (c->v + d < first || c->v + d >= end) continue;
        dc[2 * TI_PANEL + col] += c->sign * by[d];
        for (int e = 0; e < 3; e++)
            r[TI_PANEL * (ws->voff[b] + own + e) + col] += c->sign * ti_point_lambda(at)[3 * i + 2] * D.m[e][d];
    }
}

/* Of other limits, whose gaps alone change. */
static void line_columns(const tribo_ws *ws, const ti_phase_point *at, int i, int first, int end, double *dc) {
    const ti_con *c = &at->f->con[i];
    ti_line line = ti_con_line(ws->model, c);
    for (int k = 0; k < line.n; k++) {
        int v = ti_line_v(&line, k);
        if (v < first || v >= end) continue;
        dc[2 * TI_PANEL + v - first] += c->sign * ti_line_coef(&line, k) * ti_point_follows(ws, at, i);
    }
}

void ti_tree_contacts_columns(const tribo_ws *ws, const ti_phase_point *at, int first, int end, double *r, double *dc) {
    const ti_island *is = &at->f->island[at->island];
    for (int i = is->con0, taken = 1; i < is->con0 + is->ncon; i += taken) {
        const ti_con *c = &at->f->con[i];
        double *of = dc + 3 * TI_PANEL * (i - is->con0);
        taken = 1;
        if (ti_con_turns(ws->model, c))
            ball_columns(ws, at, i, first, end, r, of);
        else if (ti_con_opens(c))
            line_columns(ws, at, i, first, end, of);
        if (c->kind != TI_CON_CONTACT || !ti_point_acts(at, i)) continue;
        pressed_pair pair;
        press_pair(ws, at, i, &pair);
        pair_columns(ws, &pair, first, end, r, of);
        taken = pair.n;
    }
}

void ti_tree_contacts_prepare(tribo_ws *ws, const ti_phase_point *at) {
    ti_scratch *s = ws->scratch;
    const ti_island *is = &at->f->island[at->island];
    for (int i = is->con0; i < is->con0 + is->ncon; i++)
        if (at->f->con[i].kind == TI_CON_CONTACT && ti_point_acts(at, i))
            ti_contact_rates(ws, at->f, i, at->p, ti_point_follows(ws, at, i), s->rate, s->turns);
}
