/* aside.c -- contacts that are within reach and that nothing brings together: they stay out of islands until an answer
 * does. docs/math.md eq. (448). */
#include "forward/frame.h"

/* Whether it may be left aside: its bodies would be one island by it alone, without friction against turning behind it,
 * and it pushes only what comes together. Of a core nothing is held until it passes. */
static bool may_wait(const tribo_ws *ws, const ti_con *c) {
    if (c->touch.core) return true;
    if (ti_contact_pushes_from_afar(ws->contact)) return false;
    const ti_body *body = ws->model->body;
    if (c->pair.twists || c->pair.rolls) return false;
    return c->kind == TI_CON_CONTACT && c->a >= 0 && c->b >= 0 && body[c->a].tree != body[c->b].tree;
}

/* Speed along the normal of one side of a contact, by a velocity of its tree. */
static double side_speed(const tribo_ws *ws, const ti_con *c, int side, const double *v) {
    double twist[6];
    int body = side ? c->b : c->a;
    if (body < 0) return 0;
    const ti_link *l = &ws->link[body];
    ti_motion_twist(&ws->motion, body, v, twist);
    ti_vec r = ti_sub(c->touch.point, l->xc), spin = ti_mul(&l->R, ti_load3(twist + 3));
    double speed = ti_dot(c->touch.normal, ti_add(ti_load3(twist), ti_cross(spin, r)));
    return side ? speed : -speed;
}

/* The speed along the normal that one side of a contact comes with. @return that which it goes with by the forces of
 * the step. */
static double free_speed(const tribo_ws *ws, const ti_con *c, int side, double *come) {
    int t = ws->model->body[side ? c->b : c->a].tree;
    ti_motion_now(&ws->motion, t, ws->V);
    *come = side_speed(ws, c, side, ws->V);
    ti_motion_free(&ws->motion, t, ws->V);
    return side_speed(ws, c, side, ws->V);
}

/* Whether it may well be met: it closes by the velocities that its bodies come with, or under the forces of the step,
 * or would if one of them were held against these. */
static bool is_likely(const tribo_ws *ws, const ti_con *c) {
    double now = 0, free = 0, forced = 0, dt = ws->options.dt;
    if (c->touch.core) return false;
    for (int side = 0; side < 2; side++) {
        double come, go = free_speed(ws, c, side, &come);
        now += come, free += go, forced += fabs(go - come);
    }
    double closing = ti_max(0, -ti_min(now, free)) + forced;
    return c->touch.gap <= ti_max(dt * closing, ti_frame_grain(ws, c).skin);
}

/* The contacts of a pair are aside together, apart from cores: i is the first of one. @return the first of the next. */
static int end_of_pair(const tribo_ws *ws, int i) {
    int end = i + 1;
    while (end < ws->nfound && ws->found[end].rank == ws->found[i].rank && !ws->found[end].touch.core) end++;
    return end;
}

/* Nothing is known yet of islands that will be dissolved. */
static void expect_again(tribo_ws *ws) {
    for (int i = 0; i < ws->nfound; i++) ws->again[i].rank = -1;
}

void ti_aside_choose(tribo_ws *ws) {
    int n = 0;
    for (int i = 0, end; !ws->together && i < ws->ntouch; i = end) {
        bool aside = may_wait(ws, &ws->found[i]);
        end = end_of_pair(ws, i);
        for (int k = i; k < end && aside; k++) aside = !is_likely(ws, &ws->found[k]);
        for (int k = i; k < end && aside; k++) ws->found[k].aside = TI_ASIDE, n++;
    }
    if (n > 0) expect_again(ws);
    ws->naside = n;
}

/* ---- which of them an answer meets ---- */

/* The velocities of a tree that a contact in an island is held by. */
enum { HELD, HIT, BACK, LAST, SPEEDS };

static const double *velocity(tribo_ws *ws, const ti_frame *f, int t, int which, double *room) {
    int k = ws->blk_at[t];
    const ti_island *is = k >= 0 ? &f->island[ws->slot[t]] : NULL;
    bool hit = is && is->phase[TI_IMPACT].npoint > 0;
    if (is && which == LAST) return f->v + ws->at_v[k];
    if (is && which == HELD) return f->phase[TI_HOLD].v[TI_SOLVED] + ws->at_v[k];
    if (hit && which == HIT) return f->phase[TI_IMPACT].v[TI_SOLVED] + ws->at_v[k];
    if (hit) {
        for (int j = 0; j < ws->width[k]; j++) room[j] = ti_impact_velocity(f, is, is->share, ws->at_v[k] + j);
        return room;
    }
    if (which == HIT || which == BACK)
        ti_motion_now(&ws->motion, t, room);
    else
        ti_motion_free(&ws->motion, t, room);
    return room;
}

static bool is_hit(const tribo_ws *ws, const ti_frame *f, int t) {
    return ws->blk_at[t] >= 0 && f->island[ws->slot[t]].phase[TI_IMPACT].npoint > 0;
}

/* Of its speeds, by how little a contact may miss: then it is put in, so that what is said of how near it is to pushing
 * is said of all. */
static const double NEARLY = 1e-3;

static bool is_met(tribo_ws *ws, const ti_frame *f, const ti_con *c) {
    if (c->touch.core) return false;
    const ti_body *body = ws->model->body;
    int tree[2] = {body[c->a].tree, body[c->b].tree};
    bool hit = is_hit(ws, f, tree[0]) || is_hit(ws, f, tree[1]);
    for (int which = hit ? HELD : LAST; which < SPEEDS; which++) {
        double speed[2];
        for (int side = 0; side < 2; side++)
            speed[side] = side_speed(ws, c, side, velocity(ws, f, tree[side], which, ws->V));
        double slack = NEARLY * (fabs(speed[0]) + fabs(speed[1]));
        if (!(c->touch.gap > ws->options.dt * (slack - speed[0] - speed[1]))) return true;
    }
    return false;
}

/* The gap where the bodies end. */
static double end_of(tribo_ws *ws, const ti_con *c) {
    double gap = c->touch.gap;
    for (int side = 0; side < 2; side++) {
        int body = side ? c->b : c->a;
        if (body >= 0) gap += side_speed(ws, c, side, ws->D + ws->model->tree[ws->model->body[body].tree].v);
    }
    return gap;
}

/* ---- what the next step hits ---- */

bool ti_aside_leave(tribo_ws *ws, ti_frame *f) {
    int n = 0;
    for (int k = 0; k < f->nisland && !ws->together; k++) {
        ti_island *is = &f->island[k];
        if (!ti_island_is_hit(is) || is->bare || is->nblk > 1) continue;
        for (int i = is->con0; i < is->con0 + is->nhold; i++) {
            ti_con *c = &ws->found[f->con[i].at];
            bool pushes = f->phase[TI_HOLD].mode[i] == TRIBO_BREAK && ti_impact_transmits(f, is, i);
            if (!pushes || c->later || c->pair.twists || c->pair.rolls || !ti_con_may_land(ws, c)) continue;
            if (!f->hit[i].moved || !(f->hit[i].touch.gap > 3 * ti_frame_grain(ws, c).skin)) continue;
            c->aside = TI_ASIDE, c->later = is->gone = true, n++;
        }
    }
    if (n > 0 && ws->naside == 0) expect_again(ws);
    ws->naside += n;
    return n > 0;
}

/* Whether the next step makes an impact of it, as fast as it ends, with no more overlap than is its to take back. */
static bool comes_later(tribo_ws *ws, const ti_frame *f, const ti_con *c, const double *p) {
    int side = c->a < 0, t = ws->model->body[side ? c->b : c->a].tree;
    double dt = ws->options.dt, come, end = end_of(ws, c);
    if (end > 0) return true;
    double go = free_speed(ws, c, side, &come);
    ti_con next = *c;
    next.an = -fabs(go - come) / dt;
    double speed = -side_speed(ws, c, side, velocity(ws, f, t, LAST, ws->V));
    ti_impact hit = {.reached = true, .tau = -dt, .speed = speed}; /* as early as may be */
    ti_con_meet(&next, &hit, ti_con_number(ws->model, c, p, TI_M_RESTITUTION), true, dt);
    return next.bounce && -end < ws->options.recovery * dt;
}

/* ws->slot: of every tree in an island, which. */
static void number_islands(tribo_ws *ws, const ti_frame *f) {
    for (int k = 0; k < f->nisland; k++)
        for (int b = f->island[k].blk0; b < f->island[k].blk0 + f->island[k].nblk; b++) ws->slot[f->blk_tree[b]] = k;
}

/* Of those that were left to the next step: which it would not hit. */
static int call_back(tribo_ws *ws, const ti_frame *f, const double *p) {
    int n = 0;
    for (int i = 0; i < ws->ntouch; i++) {
        ti_con *c = &ws->found[i];
        if (c->later && c->aside == TI_ASIDE && !comes_later(ws, f, c, p)) c->aside = TI_CALLED, n++;
    }
    return n;
}

bool ti_aside_call(tribo_ws *ws, const ti_frame *f, const double *p, bool displaced) {
    if (ws->naside == 0) return false;
    number_islands(ws, f);
    int n = displaced ? call_back(ws, f, p) : 0;
    for (int i = 0, end; i < ws->ntouch; i = end) {
        bool met = false;
        end = end_of_pair(ws, i);
        if (ws->found[i].later) continue; /* call_back() */
        for (int k = i; k < end && ws->found[k].aside == TI_ASIDE && !met; k++)
            met = displaced ? !(end_of(ws, &ws->found[k]) > 0) : is_met(ws, f, &ws->found[k]);
        for (int k = i; k < end && met; k++) ws->found[k].aside = TI_CALLED, n++;
    }
    ws->naside -= n;
    return n > 0;
}

/* ---- islands anew ---- */

static void shift(double *a, size_t each, int to, int from, int n) {
    memmove(a + each * (size_t)to, a + each * (size_t)from, each * (size_t)n * sizeof *a);
}

/* An island, its contacts and solutions, to where `to` begins, which is no later. */
static void move(ti_frame *f, const ti_island *from, const ti_island *to) {
    int c0 = from->con0, nc = from->ncon, v0 = from->v0, nv = from->nv;
    memmove(f->con + to->con0, f->con + c0, (size_t)nc * sizeof *f->con);
    memmove(f->hit + to->con0, f->hit + c0, (size_t)nc * sizeof *f->hit);
    memmove(f->blk_tree + to->blk0, f->blk_tree + from->blk0, (size_t)from->nblk * sizeof *f->blk_tree);
    for (int phase = 0; phase < TI_PHASES; phase++) {
        ti_phase_data *d = &f->phase[phase];
        for (int k = 0; k <= TI_CONTACT_POINTS; k++)
            shift(d->lambda[k], 3, to->con0, c0, nc), shift(d->v[k], 1, to->v0, v0, nv);
        memmove(d->mode + to->con0, d->mode + c0, (size_t)nc);
    }
    shift(f->lambda, 3, to->con0, c0, nc), shift(f->v, 1, to->v0, v0, nv);
    memmove(f->mode + to->con0, f->mode + c0, (size_t)nc);
}

/* Islands that a called contact reaches go. */
static void mark(tribo_ws *ws, ti_frame *f) {
    const ti_body *body = ws->model->body;
    for (int i = 0; i < ws->ntouch; i++) {
        const ti_con *c = &ws->found[i];
        if (c->aside != TI_CALLED) continue;
        for (int side = 0; side < 2; side++) {
            int b = side ? c->b : c->a, t = b < 0 ? -1 : body[b].tree;
            if (t >= 0 && ws->blk_at[t] >= 0) f->island[ws->slot[t]].gone = true;
        }
    }
}

int ti_aside_dissolve(tribo_ws *ws, ti_frame *f) {
    int n = f->nisland;
    mark(ws, f);
    f->nisland = f->nblk = f->nv = f->ncon = 0;
    for (int k = 0; k < n; k++) {
        ti_island from = f->island[k], *to = &f->island[f->nisland];
        if (from.gone) {
            ws->info.iterations += ws->solved[k].info.iterations;
            ti_warm_keep_island(f, &from, ws->again);
            continue;
        }
        *to = from, to->con0 = f->ncon, to->blk0 = f->nblk, to->v0 = f->nv;
        move(f, &from, to);
        ws->solved[f->nisland++] = ws->solved[k];
        f->ncon += to->ncon, f->nblk += to->nblk, f->nv += to->nv;
    }
    for (int t = 0; t < ws->model->ntree; t++) ws->blk_at[t] = -1;
    for (int b = 0; b < f->nblk; b++) ws->blk_at[f->blk_tree[b]] = b;
    return f->nisland;
}

void ti_aside_resume(tribo_ws *ws, ti_frame *f, int first) {
    for (int k = first; k < f->nisland; k++) f->island[k].resumed = true;
    for (int i = 0; i < ws->ntouch; i++)
        if (ws->found[i].aside == TI_CALLED) ws->found[i].aside = TI_INSIDE;
}
