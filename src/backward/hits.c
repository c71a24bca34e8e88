/* hits.c -- the derivatives of contacts and their rows at the times of impacts. docs/math.md eq. (468). */
#include "backward/backward.h"

void ti_hit_jac(const tribo_ws *ws, const ti_frame *f, int k, int i, ti_touch_jac jac) {
    const ti_con c = ti_hit_con(f, i);
    ti_moved sides[2];
    ti_shape shapes[2];
    ti_hit_sides(ws, f, &f->island[k], i, sides);
    ti_hit_shapes(ws, &c, sides, shapes);
    ti_con_jac(&c, &shapes[0], &shapes[1], jac);
}

/* ---- reverse ---- */

/* From d of a body there to where it begins, the velocities until then, and the time. @return the time's */
static double move_vjp(tribo_ws *ws, const ti_frame *f, int body, const ti_moved *m, const ti_link_diff *d) {
    static const double none[TI_TWIST] = {0};
    ti_scratch *s = ws->scratch;
    const double *held = f->phase[TI_HOLD].v[TI_SOLVED];
    int at = ws->at_v[ti_blk_of_body(ws, body)];
    ti_link_diff *root = ti_motion_root_bar(&ws->motion, ws->model->body[body].tree, &s->motion_bar);
    ti_vec centre = ti_tmul(&m->link.R, d->xc);
    double place_bar[TI_POSE], D_bar[TI_TWIST], V_bar[TI_TWIST], time_bar = 0;
    ti_store3(place_bar, d->xc);
    ti_store3(place_bar + 3, ti_add(d->th, ti_cross(m->link.com, centre)));
    root->com = ti_add(root->com, centre);
    ti_link_integrate_vjp(&m->from, m->D, none, place_bar, none, root, D_bar, V_bar);
    for (int j = 0; j < TI_TWIST; j++, at++) {
        s->hold_bar[at] += m->flight.held * D_bar[j], s->now_bar[at] += m->flight.now * D_bar[j];
        time_bar += D_bar[j] * (m->flight.held_time * held[at] + m->flight.now_time * ws->vnow[at]);
    }
    return time_bar;
}

/* From the cotangents of a shape there, bar (TI_SHAPE_COLS) at x, to those of the shape as the step begins, to d of its
 * body there, and to the body. */
static void carry_vjp(tribo_ws *ws, int body, int geom, const ti_moved *m, ti_vec x, double *bar, ti_link_diff *d) {
    ti_link_diff *root = ti_motion_root_bar(&ws->motion, ws->model->body[body].tree, &ws->scratch->motion_bar);
    ti_vec push = ti_load3(bar), turn = ti_load3(bar + 3);
    ti_vec there = ti_add(ti_cross(ti_sub(x, m->link.xc), push), turn);
    d->xc = ti_add(d->xc, push), d->th = ti_add(d->th, ti_tmul(&m->link.R, there));
    push = ti_mul(&m->from.R, ti_tmul(&m->link.R, push)), turn = ti_mul(&m->from.R, ti_tmul(&m->link.R, turn));
    ti_vec here = ti_add(ti_cross(ti_sub(ws->shape[geom].x, m->from.xc), push), turn);
    root->xc = ti_sub(root->xc, push), root->th = ti_sub(root->th, ti_tmul(&m->from.R, here));
    ti_store3(bar, push), ti_store3(bar + 3, turn);
}

/* What impact, rebound and what follows ask of the rows of one side. */
static void products_of(const tribo_ws *ws, const ti_frame *f, int k, int i, int side, ti_products *q) {
    static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const ti_con *c = &f->con[i];
    int blk = ti_blk_of_body(ws, side ? c->b : c->a);
    const double *J_bar = ws->scratch->J_hit_bar + (ti_hit_rows(ws, f, i, side) - ws->J_hit);
    q->n = 0;
    for (ti_phase phase = TI_IMPACT; phase <= TI_AFTER; phase++)
        ti_phase_products(ws, f, k, phase, i, ws->at_v[blk], q);
    for (int r = 0; r < 3; r++) q->of[q->n++] = (ti_row_product){unit[r], J_bar + ws->width[blk] * r};
}

/* Cotangents of the impulse in the world, which is along the axes that the contact has there. */
static void impulse_vjp(const tribo_ws *ws, const ti_frame *f, const ti_con *c, int i, double *frame_bar) {
    const double *asked = ws->scratch->asked_bar + 3 * i;
    ti_vec bar = ti_axpy(ti_axpy(ti_scale(asked[0], c->t1), asked[1], c->t2), asked[2], c->touch.normal);
    for (int r = 0; r < 3; r++) ti_add3(frame_bar + 3 + 3 * r, ti_scale(f->lambda[3 * i + r], bar));
}

static void contact_vjp(tribo_ws *ws, const ti_frame *f, int k, int i) {
    const ti_con c = ti_hit_con(f, i);
    const ti_island *is = &f->island[k];
    ti_moved sides[2];
    ti_shape shapes[2];
    ti_link_diff d[2];
    double frame_bar[TI_CON_FRAME] = {0}, shape_bar[TI_COLLIDE_COLS];
    memset(d, 0, sizeof d);
    ti_hit_sides(ws, f, is, i, sides);
    ti_hit_shapes(ws, &c, sides, shapes);
    for (int side = 0; side < 2; side++) {
        ti_products q;
        if ((side ? c.b : c.a) < 0) continue;
        products_of(ws, f, k, i, side, &q);
        ti_rows_vjp(&c, &sides[side].link, side ? 1 : -1, q.n, q.of, &d[side], frame_bar);
    }
    impulse_vjp(ws, f, &c, i, frame_bar);
    ti_touch_vjp(&c, &shapes[0], &shapes[1], frame_bar, 0, shape_bar);
    for (int side = 0; side < 2; side++) {
        int body = side ? c.b : c.a, geom = side ? c.pair.b : c.pair.a;
        double *bar = shape_bar + TI_SHAPE_COLS * side;
        if (body >= 0) {
            carry_vjp(ws, body, geom, &sides[side], shapes[side].x, bar, &d[side]);
            ws->scratch->tau_bar[is->con0 + f->hit[i].by] += move_vjp(ws, f, body, &sides[side], &d[side]);
        }
        for (int j = 0; j < TI_SHAPE_COLS; j++) ws->scratch->geom_bar[TI_SHAPE_COLS * geom + j] += bar[j];
    }
}

void ti_hits_vjp(tribo_ws *ws, const ti_frame *f, int k) {
    const ti_island *is = &f->island[k];
    ti_scratch *s = ws->scratch;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        size_t each = (size_t)ws->con_entries, at = each * (size_t)i;
        if (f->hit[i].moved && ti_frame_acts(f, k, i)) contact_vjp(ws, f, k, i);
        for (size_t e = at; e < at + each && !f->hit[i].moved; e++) s->J_bar[e] += s->J_hit_bar[e];
    }
}

/* ---- forward ---- */

void ti_hit_move_jvp(const tribo_ws *ws, const ti_frame *f, int body, const ti_moved *m, const ti_link_diff *d,
                     const double *held_dot, const double *now_dot, double time_dot, ti_link_diff *to) {
    static const double none[TI_TWIST] = {0};
    const double *held = f->phase[TI_HOLD].v[TI_SOLVED];
    int at = ws->at_v[ti_blk_of_body(ws, body)];
    double D_dot[TI_TWIST], place[TI_POSE], speed[TI_TWIST];
    for (int j = 0; j < TI_TWIST; j++, at++) {
        D_dot[j] = m->flight.held * held_dot[j] + m->flight.now * now_dot[j];
        D_dot[j] += time_dot * (m->flight.held_time * held[at] + m->flight.now_time * ws->vnow[at]);
    }
    ti_link_integrate_jvp(&m->from, m->D, none, d, D_dot, none, place, speed);
    *to = (ti_link_diff){.xo = ti_load3(place), .th = ti_load3(place + 3)};
    to->xc = ti_add(to->xo, ti_mul(&m->link.R, ti_add(ti_cross(to->th, m->link.com), d->com)));
}
