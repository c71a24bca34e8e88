/* tree_contacts.c -- what displacements of trees change in the contacts of a solved phase, by columns.
 * docs/math.md eq. (164)-(167). */
#include "backward/tree_contacts.h"
#include "dynamics/ball.h"
#include "dynamics/bias.h"
#include "model/state.h"

/* A contact at one point of the solution: its impulse as a wrench, the relative velocity there. */
typedef struct pressed {
    const ti_con *c;
    const double *lambda;
    ti_vec force, speed;
    ti_spatial wrench;
    ti_mat D1, D2;  /* of the tangents by the normal */
    double follows; /* of a recovery: what it takes back of the gap that the step before it, `moved`, would leave */
    ti_vec moved;
} pressed;

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

static pressed press(const tribo_ws *ws, const ti_phase_point *at, int i) {
    const ti_con *c = &at->f->con[i];
    const ti_tree_jac *j = &ws->scratch->tree_jac;
    pressed q = {.c = c, .lambda = ti_point_lambda(at) + 3 * i};
    q.force = ti_scale(q.lambda[0], c->t1);
    q.force = ti_axpy(ti_axpy(q.force, q.lambda[1], c->t2), q.lambda[2], c->touch.normal);
    q.wrench = ti_sp_wrench((ti_vec){0, 0, 0}, c->touch.point, q.force);
    q.speed = relative_speed(ws, c, j->solved);
    ti_tangents_jac(c->touch.normal, &q.D1, &q.D2);
    if (at->phase != TI_RECOVER) return q;
    q.follows = ti_point_follows(ws, at, i);
    q.moved = relative_speed(ws, c, j->acceleration);
    return q;
}

/* How the link of a side moves in a displacement by number d, in the world and in its own axes. */
static void pose_of(const tribo_ws *ws, int body, int d, double *pose) {
    const ti_link *l = &ws->link[body];
    ti_spatial s = ws->motion.axis[d];
    ti_store3(pose, ti_sp_at(s, l->xo)), ti_store3(pose + 3, ti_tmul(&l->R, s.w));
}

/* How the relative velocity of such twists changes where number d moves the link of `side`, and by that the point. */
static ti_vec speed_change(const tribo_ws *ws, const ti_con *c, const ti_spatial *twist, int side, int d,
                           ti_vec point) {
    int body = side ? c->b : c->a, by = ti_dof_carried_by(&ws->motion, d);
    ti_spatial own = twist_of(ws, twist, body);
    ti_spatial turned = ti_sp_cross(ws->motion.axis[d], by >= 0 ? ti_sp_axpy(own, -1, twist[by]) : own);
    ti_vec speed = ti_scale(side ? 1 : -1, ti_sp_at(turned, c->touch.point));
    for (int s = 0; s < 2; s++) {
        int other = s ? c->b : c->a;
        if (other >= 0) speed = ti_axpy(speed, s ? 1 : -1, ti_cross(twist_of(ws, twist, other).w, point));
    }
    return speed;
}

/* A displacement by number d moves the link of `side`: a column of dc (3), of panels; returns how the wrench changes.
 */
static ti_spatial contact_column(const tribo_ws *ws, const pressed *q, int side, int d, const double *rate,
                                 double *dc) {
    const ti_con *c = q->c;
    const ti_tree_jac *j = &ws->scratch->tree_jac;
    double pose[TI_POSE], moved[TI_COLLIDE_ROWS];
    pose_of(ws, side ? c->b : c->a, d, pose);
    for (int k = 0; k < TI_COLLIDE_ROWS; k++) {
        moved[k] = 0;
        for (int e = 0; e < TI_POSE; e++) moved[k] += rate[TI_POSE * k + e] * pose[e];
    }
    ti_vec point = ti_load3(moved), normal = ti_load3(moved + 3), t1 = ti_mul(&q->D1, normal),
           t2 = ti_mul(&q->D2, normal);
    ti_vec force = ti_axpy(ti_axpy(ti_scale(q->lambda[0], t1), q->lambda[1], t2), q->lambda[2], normal);
    ti_vec speed = speed_change(ws, c, j->solved, side, d, point);
    dc[0] += ti_dot(t1, q->speed) + ti_dot(c->t1, speed);
    dc[TI_PANEL] += ti_dot(t2, q->speed) + ti_dot(c->t2, speed);
    dc[2 * TI_PANEL] += ti_dot(normal, q->speed) + ti_dot(c->touch.normal, speed) + moved[6];
    if (q->follows != 0) {
        ti_vec left = speed_change(ws, c, j->acceleration, side, d, point);
        dc[2 * TI_PANEL] += q->follows * (ti_dot(normal, q->moved) + ti_dot(c->touch.normal, left));
    }
    return (ti_spatial){ti_add(ti_cross(point, q->force), ti_cross(c->touch.point, force)), force};
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
static int press_pair(const tribo_ws *ws, const ti_phase_point *at, int i, pressed *q, ti_spatial *all) {
    const ti_island *is = &at->f->island[at->island];
    const ti_con *first = &at->f->con[i];
    int n = 0;
    *all = (ti_spatial){{0, 0, 0}, {0, 0, 0}};
    for (const ti_con *c = first; n < TOGETHER && i + n < is->con0 + is->ncon; c++, n++) {
        if (c->kind != TI_CON_CONTACT || !ti_point_acts(at, i + n) || c->a != first->a || c->b != first->b) break;
        q[n] = press(ws, at, i + n);
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

void ti_tree_contacts_columns(const tribo_ws *ws, const ti_phase_point *at, int first, int end, double *r, double *dc) {
    const ti_island *is = &at->f->island[at->island];
    for (int i = is->con0, taken = 1; i < is->con0 + is->ncon; i += taken) {
        const ti_con *c = &at->f->con[i];
        double *of = dc + 3 * TI_PANEL * (i - is->con0);
        taken = 1;
        if (ti_con_turns(ws->model, c))
            ball_columns(ws, at, i, first, end, r, of);
        else if (c->kind == TI_CON_LIMIT && c->v >= first && c->v < end)
            of[2 * TI_PANEL + c->v - first] += c->sign * ti_point_follows(ws, at, i);
        if (c->kind != TI_CON_CONTACT || !ti_point_acts(at, i)) continue;
        pressed q[TOGETHER];
        ti_spatial all;
        taken = press_pair(ws, at, i, q, &all);
        pair_columns(ws, i, taken, q, all, first, end, r, of);
    }
}

void ti_tree_contacts_prepare(tribo_ws *ws, const ti_phase_point *at) {
    ti_scratch *s = ws->scratch;
    const ti_island *is = &at->f->island[at->island];
    for (int i = is->con0; i < is->con0 + is->ncon; i++)
        if (at->f->con[i].kind == TI_CON_CONTACT && ti_point_acts(at, i))
            ti_contact_rates(ws, at->f, i, at->p, ti_point_follows(ws, at, i), s->rate, s->turns);
}
