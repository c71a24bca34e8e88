/* hit.c -- contacts as they are when something is hit, and the rows that impact and rebound have there. docs/math.md
 * eq. (468). */
#include "forward/frame.h"

static ti_flight flight(const tribo_ws *ws, const ti_island *is, double time) {
    double s = time / ws->options.dt;
    if (is->prompt) return (ti_flight){time, 0, 1, 0};
    return (ti_flight){time * (1 + s) / 2, time * (1 - s) / 2, (1 + 2 * s) / 2, (1 - 2 * s) / 2};
}

/* A free body at some time. */
static void move(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int body, double time, ti_moved *m) {
    const double *held = f->phase[TI_HOLD].v[TI_SOLVED];
    int at = ws->at_v[ti_blk_of_body(ws, body)];
    m->flight = flight(ws, is, time);
    for (int j = 0; j < TI_TWIST; j++) m->D[j] = m->flight.held * held[at + j] + m->flight.now * ws->vnow[at + j];
    ti_link one;
    m->from = *ti_motion_root(&ws->motion, ws->model->body[body].tree, &one), m->from.substeps = 1;
    m->link = m->from;
    ti_link_next(&m->from, m->D, m->link.quat, &m->link.R);
    m->link.xc = ti_add(m->from.xc, ti_load3(m->D));
    m->link.xo = ti_sub(m->link.xc, ti_mul(&m->link.R, m->link.com));
}

ti_vec ti_hit_turn(const ti_moved *m, ti_vec a) {
    return ti_mul(&m->link.R, ti_tmul(&m->from.R, a));
}

/* A shape that moves with a body. */
static void carry(const ti_moved *m, ti_shape *s) {
    s->x = ti_add(m->link.xc, ti_hit_turn(m, ti_sub(s->x, m->from.xc)));
    for (int k = 0; k < 3; k++) {
        ti_vec axis = ti_hit_turn(m, ti_col(&s->R, k));
        s->R.m[0][k] = axis.x, s->R.m[1][k] = axis.y, s->R.m[2][k] = axis.z;
    }
}

void ti_hit_shapes(const tribo_ws *ws, const ti_con *c, const ti_moved *sides, ti_shape *shapes) {
    shapes[0] = ws->shape[c->pair.a], shapes[1] = ws->shape[c->pair.b];
    if (c->a >= 0) carry(&sides[0], &shapes[0]);
    if (c->b >= 0) carry(&sides[1], &shapes[1]);
}

void ti_hit_sides(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i, ti_moved *sides) {
    const ti_con *c = &f->con[i];
    double time = ti_hit_time(f, is, i);
    if (c->a >= 0) move(ws, f, is, c->a, time, &sides[0]);
    if (c->b >= 0) move(ws, f, is, c->b, time, &sides[1]);
}

static bool is_free(const tribo_model *m, int body) {
    return ti_tree_is_free(&m->tree[m->body[body].tree]);
}

bool ti_con_may_land(const tribo_ws *ws, const ti_con *c) {
    bool world = c->kind == TI_CON_CONTACT && (c->a < 0 || c->b < 0);
    if (c->yields && c->touch.gap < -ti_frame_grain(ws, c).skin) return false; /* it has landed */
    if (!world || !is_free(ws->model, c->a < 0 ? c->b : c->a)) return false;
    return ti_aside_applies(ws) && !ti_contact_pushes_from_afar(ws->contact);
}

bool ti_con_comes_to_land(const tribo_ws *ws, const ti_frame *f, int i) {
    if (!ti_con_may_land(ws, &f->con[i])) return false;
    double now = ti_row_velocity(ws, f, i, 2, ws->vnow);
    return now < -0.25 * fabs(f->con[i].uf - now); /* a half of it makes the 2 |a| h of eq. (472) */
}

static bool can_move(const tribo_ws *ws, const ti_con *c) {
    if (c->kind != TI_CON_CONTACT || ws->options.rounds > 0) return false;
    return (c->a < 0 || is_free(ws->model, c->a)) && (c->b < 0 || is_free(ws->model, c->b));
}

/* The contacts of two geoms at some time. Those of a pair that hold are all at one. */
typedef struct meeting {
    int64_t rank; /* of the pair; -1: of none yet */
    double time;
    ti_moved sides[2];
    ti_shape shapes[2];
    double margin; /* how far apart they were looked for; -1: not yet */
    int n;
    ti_touch touch[TI_CONTACTS_MAX];
} meeting;

/* Where the point of a contact goes with its bodies, half way between them. */
static ti_vec carried(const ti_con *c, const ti_moved *sides) {
    ti_vec to = {0, 0, 0};
    for (int side = 0; side < 2; side++) {
        const ti_moved *m = &sides[side];
        ti_vec at = ti_con_touch(c).point;
        if ((side ? c->b : c->a) >= 0) at = ti_add(m->link.xc, ti_hit_turn(m, ti_sub(at, m->from.xc)));
        to = ti_axpy(to, 0.5, at);
    }
    return to;
}

/* The contact that c is, there: of the same feature, or where that is gone the one nearest to where it would be. It is
 * looked for as far as its own gap says, whatever others of its pair were before it: their order has no say.
 * @return false if the geoms do not touch there. */
static bool touch_again(const ti_con *c, meeting *m, ti_touch *to) {
    double margin = c->pair.margin + ti_max(c->touch.gap, 0) + 0.01 * c->pair.length, least = (double)INFINITY;
    if (c->touch.core) return ti_collide_core(&m->shapes[0], &m->shapes[1], c->touch.core, margin, to);
    if (margin != m->margin) m->n = ti_collide(&m->shapes[0], &m->shapes[1], m->margin = margin, m->touch);
    const ti_vec at = carried(c, m->sides);
    for (int k = 0; k < m->n; k++) {
        double off = m->touch[k].feature == c->touch.feature ? -1 : ti_norm(ti_sub(m->touch[k].point, at));
        if (off < least) least = off, *to = m->touch[k];
    }
    return least < (double)INFINITY;
}

/* The contact of the island that is hit first. */
static int first_hit(const ti_frame *f, const ti_island *is) {
    int first = is->con0 + is->nhold;
    for (int i = first + 1; i < is->con0 + is->ncon; i++)
        if (!ti_con_spins(&f->con[i]) && f->con[i].tau < f->con[first].tau) first = i;
    return first;
}

void ti_hit_find(const tribo_ws *ws, const ti_frame *f, int k) {
    const ti_island *is = &f->island[k];
    int first = first_hit(f, is);
    meeting m = {.rank = -1};
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        const ti_con *c = &f->con[i];
        int host = ti_con_host(f, i);
        ti_hit *h = &f->hit[i];
        ti_touch there;
        if (host < i) {
            *h = f->hit[host];
            continue;
        }
        *h = (ti_hit){.touch = c->touch, .t1 = c->t1, .t2 = c->t2, .by = (c->bounce ? i : first) - is->con0};
        if (!can_move(ws, c)) continue;
        if (c->rank != m.rank || ti_hit_time(f, is, i) != m.time) {
            m.rank = c->rank, m.time = ti_hit_time(f, is, i), m.margin = -1, m.n = 0;
            ti_hit_sides(ws, f, is, i, m.sides);
            ti_hit_shapes(ws, c, m.sides, m.shapes);
        }
        if (!touch_again(c, &m, &there)) continue;
        h->touch = ti_con_of(c, there), h->moved = true;
        ti_tangents(h->touch.normal, &h->t1, &h->t2);
    }
}

void ti_hit_pose(tribo_ws *ws, const ti_frame *f, int k) {
    const ti_island *is = &f->island[k];
    for (int i = is->con0; i < is->con0 + is->ncon; i++) {
        ti_moved sides[2];
        if (!f->hit[i].moved) {
            memcpy(ti_hit_jacobian(ws, i), ti_frame_jacobian(ws, i), sizeof(double) * (size_t)ws->con_entries);
            continue;
        }
        ti_con c = ti_hit_con(f, i);
        ti_hit_sides(ws, f, is, i, sides);
        for (int side = 0; side < 2; side++)
            if ((side ? c.b : c.a) >= 0)
                ti_rows(&c, &sides[side].link, side ? 1 : -1, (double *)ti_hit_rows(ws, f, i, side));
    }
}
