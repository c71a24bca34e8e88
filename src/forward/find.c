/* find.c -- which contacts there are, and which bodies they tie together. */
#include "dynamics/ball.h"
#include "forward/frame.h"
#include "model/possible.h"
#include "model/state.h"

/* How far the surface of each geom may move in a step: a contact further away than that cannot be met. Twice the free
 * motion, because an impact can turn it. */
static void reaches(tribo_ws *ws) {
    const tribo_model *m = ws->model;
    double dt = ws->options.dt;
    if (m->nlisted == 0) return; /* no two geoms may touch */
    for (int g = 0; g < m->size.ngeom; g++) {
        const ti_shape *s = &ws->shape[g];
        ws->reach[g] = ti_bound_radius(s), ws->speed[g] = 0;
        int b = m->geom[g].body;
        if (b < 0) continue;
        const ti_link *l = &ws->link[b];
        double r = ws->reach[g] + ti_norm(ti_sub(s->x, l->xc));
        double lin = ti_norm(l->vf) + ti_norm(l->v), ang = ti_norm(l->wf) + ti_norm(l->w);
        ws->speed[g] = dt * (lin + ang * r) + 1e-4 * ws->reach[g];
        ws->speed[g] += ti_step_noise_reach(ws, b, ws->reach[g] + ti_norm(ti_sub(s->x, l->xo)));
    }
}

static bool far_apart(const ti_shape *a, const ti_shape *b, double ra, double rb, double margin) {
    ti_vec d = ti_sub(b->x, a->x);
    if (a->shape == TRIBO_PLANE) return ti_dot(d, ti_col(&a->R, 2)) > rb + margin;
    double reach = ra + rb + margin;
    return ti_dot(d, d) > reach * reach;
}

/* Of a geom: where it turns about, how far from there it reaches, and how far that place may move in the step. */
static double ball_around(const tribo_ws *ws, int g, ti_vec *centre, double *travel) {
    const ti_shape *s = &ws->shape[g];
    int b = ws->model->geom[g].body;
    *centre = s->x, *travel = 0;
    if (b < 0) return ws->reach[g];
    const ti_link *l = &ws->link[b];
    double off = ti_norm(ti_sub(s->x, l->xc)), r = ws->reach[g] + off;
    *centre = l->xc;
    *travel = ws->speed[g] - ws->options.dt * (ti_norm(l->wf) + ti_norm(l->w)) * r;
    return r;
}

/* A body that turns far in a step reaches no further than its ball, though its points are fast: their velocities would
 * meet what the body never does. */
static bool out_of_reach(const tribo_ws *ws, int a, int b, double margin) {
    if (!(ws->speed[a] > 0.5 * ws->reach[a]) && !(ws->speed[b] > 0.5 * ws->reach[b])) return false;
    ti_shape ball[2] = {ws->shape[a], ws->shape[b]};
    double travel[2], ra = ball_around(ws, a, &ball[0].x, &travel[0]), rb = ball_around(ws, b, &ball[1].x, &travel[1]);
    if (ball[0].shape == TRIBO_PLANE && ws->model->geom[a].body >= 0) return false;
    return far_apart(&ball[0], &ball[1], ra, rb, travel[0] + travel[1] + margin);
}

/* Contacts of the cores of free bodies that move further in the step than those are wide: no body passes another by
 * turning. @return how many. */
static int touch_cores(const tribo_ws *ws, const ti_pair *pair, double margin, ti_touch *out) {
    const tribo_model *m = ws->model;
    int n = 0;
    for (int core = TI_CORE_A; core <= TI_CORE_B; core++) {
        int g = core == TI_CORE_A ? pair->a : pair->b, body = m->geom[g].body;
        if (body < 0 || !m->tree[m->body[body].tree].single) continue;
        double radius = ti_core_radius(&ws->shape[g]);
        if (!(radius > 0) || !(ws->speed[g] > radius)) continue;
        n += ti_collide_core(&ws->shape[pair->a], &ws->shape[pair->b], core, margin + ws->reach[g], out + n);
    }
    return n;
}

enum { SHARED = 4, FEW = 8 }; /* contacts whose loads nothing else decides; times rounding */

/* Whether contact i of a pair is of a face whose contacts are all near zero, and not all at it. */
static bool is_tilted(const tribo_ws *ws, const ti_con *c, int n, int i) {
    int count = 0;
    bool apart = false;
    for (int k = 0; k < n; k++) {
        ti_vec off = ti_sub(c[k].touch.normal, c[i].touch.normal);
        double gap = fabs(c[k].touch.gap), rounding = ti_frame_grain(ws, &c[k]).rounding;
        if (ti_dot(off, off) > 0 || gap > FEW * rounding) continue;
        count++, apart = apart || gap >= rounding;
    }
    return count >= SHARED && apart;
}

/* Corners of one face, which carry a load in shares that compliance chooses, ask for what a rigid body can do: where
 * all of it is within a few times rounding either none is apart by more than that, or each by what it is, a tilt, which
 * is affine in their places to far more digits than any has. */
static void tell_tilts(const tribo_ws *ws, ti_con *c, int n) {
    static const double flush = 5e-13; /* of the length: less than rounding is anywhere */
    int close = 0, apart = 0;
    for (int k = 0; k < n; k++) apart += fabs(c[k].touch.gap) > flush * c[k].pair.length;
    if (n < SHARED || apart == 0) return;
    double near = 2 * FEW * ti_frame_grain(ws, c).rounding; /* which is within a factor 2 that of the others */
    for (int k = 0; k < n; k++) close += fabs(c[k].touch.gap) < near;
    if (close < SHARED) return;
    for (int i = 0; i + SHARED <= n; i++) {
        if (!is_tilted(ws, c, n, i)) continue;
        for (int k = i; k < n; k++) c[k].tilted = true;
        return;
    }
}

/* Contacts for which there is no room are counted alone. */
static void touch_pair(tribo_ws *ws, const ti_pair *pair) {
    const tribo_model *m = ws->model;
    const ti_shape *a = &ws->shape[pair->a], *b = &ws->shape[pair->b];
    ti_touch touch[TI_CONTACTS_MAX + 2];
    double margin = ws->speed[pair->a] + ws->speed[pair->b] + pair->margin;
    if (far_apart(a, b, ws->reach[pair->a], ws->reach[pair->b], margin)) return;
    if (out_of_reach(ws, pair->a, pair->b, pair->margin)) return;
    int n = ti_collide(a, b, margin, touch);
    if (n > 0 && !ws->together) n += touch_cores(ws, pair, margin, touch + n);
    ws->nwanted += n;
    if (ws->nwanted > ws->options.ncon_max) return;
    for (int k = 0; k < n; k++) {
        ti_con *c = &ws->found[ws->nfound];
        *c = (ti_con){.id = ws->nfound,
                      .at = ws->nfound++,
                      .rank = ti_pair_rank(m, pair->a, pair->b),
                      .pair = *pair,
                      .a = m->geom[pair->a].body,
                      .b = m->geom[pair->b].body};
        c->touch = ti_con_of(c, touch[k]);
        ti_tangents(touch[k].normal, &c->t1, &c->t2);
    }
    tell_tilts(ws, ws->found + ws->nfound - n, n);
}

/* Whether geoms whose boxes meet can touch. Of planes the boxes say nothing. */
static bool may_touch(const void *ctx, int i, int j) {
    const tribo_ws *ws = ctx;
    const ti_geom *x = &ws->model->geom[i], *y = &ws->model->geom[j];
    int a = x->shape > y->shape ? j : i, b = a == i ? j : i;
    double margin = ws->speed[i] + ws->speed[j] + ti_max(x->margin, y->margin);
    if (far_apart(&ws->shape[a], &ws->shape[b], ws->reach[a], ws->reach[b], margin)) return false;
    return ti_can_touch(ws->model, i, j);
}

/* Pairs whose boxes meet, in the order of their ids; -1 if there is no room for them. */
static int near_pairs(tribo_ws *ws) {
    const tribo_model *m = ws->model;
    for (int g = 0; g < m->size.ngeom; g++) {
        double around = ws->speed[g] + m->geom[g].margin;
        ti_shape_aabb(&ws->shape[g], around, &ws->low[g], &ws->high[g]);
    }
    return ti_broad_pairs(&ws->broad, m->size.ngeom, ws->low, ws->high, may_touch, ws);
}

static tribo_status touches(tribo_ws *ws) {
    const tribo_model *m = ws->model;
    ws->nfound = ws->nwanted = 0;
    for (int i = 0; i < m->nlisted; i++) touch_pair(ws, &m->listed[i]);
    int n = m->nlisted < 0 ? near_pairs(ws) : 0;
    for (int k = 0; k < n; k++) {
        ti_pair pair;
        if (ti_pair_of(m, ws->broad.pair[k].a, ws->broad.pair[k].b, &pair)) touch_pair(ws, &pair);
    }
    for (ti_pair_walk w = {0}; n < 0 && ti_pair_next(m, &w);) touch_pair(ws, &w.pair);
    return ws->nwanted > ws->options.ncon_max ? TRIBO_E_CAPACITY : TRIBO_OK;
}

static int tree_of(const tribo_ws *ws, int body) {
    return ws->model->body[body].tree;
}
/* The tree of a contact that comes first. */
static int first_tree(const tribo_ws *ws, const ti_con *c) {
    return tree_of(ws, c->a >= 0 ? c->a : c->b);
}

/* The bodies that equality i holds. */
static void held_bodies(const tribo_model *m, int i, int *a, int *b) {
    const ti_equality *e = &m->equality[i];
    *a = e->a, *b = e->b;
    if (e->kind == TRIBO_EQUALITY_JOINT) *a = m->joint[e->a].body, *b = e->b < 0 ? -1 : m->joint[e->b].body;
}

/* Of trees that may push each other, or of those in no island that do unless an answer says more: root, and slot = 0.
 */
static void join(tribo_ws *ws, bool aside) {
    for (int t = 0; t < ws->model->ntree; t++) ws->root[t] = t, ws->slot[t] = 0;
    for (int i = 0; i < ws->nfound; i++) {
        int a = ws->found[i].a, b = ws->found[i].b;
        if (a >= 0 && b >= 0 && (aside || ws->found[i].aside != TI_ASIDE))
            ti_unite(ws->root, tree_of(ws, a), tree_of(ws, b));
    }
    for (int i = 0; i < ws->model->size.nequality; i++) {
        int a, b;
        held_bodies(ws->model, i, &a, &b);
        if (a >= 0 && b >= 0) ti_unite(ws->root, tree_of(ws, a), tree_of(ws, b));
    }
    for (int i = 0; aside && i < ws->model->size.ntendon; i++) {
        const ti_tendon *t = &ws->model->tendon[i];
        if (t->a >= 0) ti_unite(ws->root, tree_of(ws, t->a), tree_of(ws, t->b));
    }
}

/* How far any body of a group may move, at its root: the fastest of them may push the others, and overlaps do. */
static void group_reaches(tribo_ws *ws, double *farthest, double *overlap) {
    const tribo_model *m = ws->model;
    for (int t = 0; t < m->ntree; t++) farthest[t] = overlap[t] = 0;
    for (int g = 0; g < m->size.ngeom; g++) {
        if (m->geom[g].body < 0) continue;
        double *to = &farthest[ti_root(ws->root, tree_of(ws, m->geom[g].body))];
        *to = ti_max(*to, ws->speed[g]);
    }
    for (int i = 0; i < ws->nfound; i++) {
        const ti_con *c = &ws->found[i];
        if (c->touch.gap >= 0 || c->touch.gap >= -ti_frame_grain(ws, c).skin) continue;
        int r = ti_root(ws->root, first_tree(ws, c));
        overlap[r] -= c->touch.gap;
        double pushed = ti_min(overlap[r], ws->options.recovery * ws->options.dt);
        farthest[r] = ti_max(farthest[r], pushed);
    }
}

/* Bodies that others may push further than they would move themselves. @return whether there are any. */
static bool pushed_reaches(tribo_ws *ws) {
    const tribo_model *m = ws->model;
    double *farthest = ws->weight, *overlap = ws->D;
    bool any = false;
    if (ws->nfound == 0) return false;
    group_reaches(ws, farthest, overlap);
    for (int g = 0; g < m->size.ngeom; g++) {
        if (m->geom[g].body < 0) continue;
        double pushed = farthest[ti_root(ws->root, tree_of(ws, m->geom[g].body))];
        if (!(pushed > 4 * ws->speed[g])) continue; /* as its own reach is generous */
        ws->speed[g] = pushed, any = true;
    }
    return any;
}

/* ---- joints ---- */

/* How far the number of a hinge or slide, or the angle of a ball, may move in the step: by its own motion twice, as a
 * geom, and by what may push its body; noise comes besides. */
static double joint_reach(const tribo_ws *ws, const ti_joint *j, const double *way, const double *farthest) {
    const ti_motion *motion = &ws->motion;
    ti_spatial axis = {{0, 0, 0}, {0, 0, 0}};
    double own = 1e-4, now = 0, free = 0;
    for (int k = 0; k < ti_joint_of(j->kind)->nv; k++) {
        now += motion->now[j->v + k] * motion->now[j->v + k], free += motion->free[j->v + k] * motion->free[j->v + k];
        axis = ti_sp_axpy(axis, way[k], motion->axis[j->v + k]);
    }
    own += ws->options.dt * (sqrt(now) + sqrt(free));
    if (!farthest) return own;
    ti_vec speed = ti_sp_at(axis, ws->link[j->body].xc); /* of its body's centre, by a unit of it */
    double pushed = farthest[ti_root(ws->root, tree_of(ws, j->body))], lever = ti_norm(speed) + 0.05;
    return ti_max(own, pushed / lever);
}

/* The first of joints, after all pairs of geoms. */
static int64_t joint_rank(const tribo_model *m) {
    return (int64_t)m->size.ngeom * m->size.ngeom;
}

/* Of what is no contact. */
static tribo_status no_room(tribo_ws *ws) {
    ws->nwanted = ws->nfound + 1;
    return TRIBO_E_CAPACITY;
}

/* Room for one more, to be made there: they are large. NULL = there is none. */
static ti_con *next_con(tribo_ws *ws) {
    if (ws->nfound < ws->options.ncon_max) return &ws->found[ws->nfound++];
    no_room(ws);
    return NULL;
}

static tribo_status add_joint(tribo_ws *ws, const ti_joint *j, int v, ti_con_kind kind, double sign, double gap) {
    int which = kind == TI_CON_DRY ? 2 : sign < 0, at = ws->nfound;
    ti_con *c = next_con(ws);
    if (!c) return TRIBO_E_CAPACITY;
    *c = (ti_con){.id = at,
                  .at = at,
                  .rank = joint_rank(ws->model) + 3 * (int64_t)v + which,
                  .a = TRIBO_WORLD,
                  .b = j->body,
                  .kind = kind,
                  .v = v,
                  .sign = sign,
                  .touch = {.gap = gap, .point = {ws->motion.q[j->q], 0, 0}}};
    return TRIBO_OK;
}

/* Those of joint j within reach; a ball has only an upper one. */
static tribo_status limits(tribo_ws *ws, const ti_joint *j, const double *farthest, const double *p) {
    double way[3], q = ti_limit_way(j, ws->motion.q, way), reach = joint_reach(ws, j, way, farthest);
    reach += ti_step_noise_reach(ws, j->body, 0);
    double low = q - p[j->p + TI_P_LOWER], high = p[j->p + TI_P_UPPER] - q;
    tribo_status s = TRIBO_OK;
    if (low < reach && j->kind != TI_JOINT_BALL) s = add_joint(ws, j, j->v, TI_CON_LIMIT, 1, low);
    if (high < reach && s == TRIBO_OK) s = add_joint(ws, j, j->v, TI_CON_LIMIT, -1, high);
    if (high < reach && s == TRIBO_OK) memcpy(ws->found[ws->nfound - 1].way, way, sizeof way);
    return s;
}

/* Limits within reach, and dry friction. */
static tribo_status joints(tribo_ws *ws, const double *farthest, const double *p) {
    const tribo_model *m = ws->model;
    tribo_status s = TRIBO_OK;
    for (int k = 0; k < ti_joints(m) && s == TRIBO_OK; k++) {
        const ti_joint *j = &m->joint[k];
        if (j->limited) s = limits(ws, j, farthest, p);
        int n = j->dry ? ti_joint_of(j->kind)->nv : 0;
        for (int d = 0; d < n && s == TRIBO_OK; d++) s = add_joint(ws, j, j->v + d, TI_CON_DRY, 1, 0);
    }
    return s;
}

/* What holds: of a weld a point and then the axes. */
static tribo_status closures(tribo_ws *ws) {
    const tribo_model *m = ws->model;
    for (int i = 0; i < m->size.nequality; i++) {
        const ti_equality *e = &m->equality[i];
        int a, b, parts = e->kind == TRIBO_EQUALITY_WELD ? 2 : 1;
        held_bodies(m, i, &a, &b);
        bool tied = a >= 0 && b >= 0 && m->body[a].weld == m->body[b].weld; /* it holds whatever happens */
        if (tied && e->kind != TRIBO_EQUALITY_JOINT) continue;
        for (int k = 0; k < parts; k++) {
            ti_con_kind kind = e->kind == TRIBO_EQUALITY_JOINT ? TI_CON_COUPLING : k ? TI_CON_TURN : TI_CON_CONNECT;
            int64_t rank = joint_rank(m) + 3 * (int64_t)m->size.nv + 2 * i + k;
            int at = ws->nfound;
            ti_con *c = next_con(ws);
            if (!c) return TRIBO_E_CAPACITY;
            *c = (ti_con){.id = at, .at = at, .rank = rank, .a = a, .b = b, .kind = kind, .v = i};
        }
    }
    return TRIBO_OK;
}

/* How long a tendon is, how far that may move in the step, and of how large numbers it is a sum. */
static double length_of(const tribo_ws *ws, const ti_tendon *t, const double *farthest, double *reach, double *size) {
    const tribo_model *m = ws->model;
    double length = 0;
    *reach = *size = 0;
    for (int k = t->pull0; k < t->pull0 + t->npull; k++) {
        const ti_pull *pull = &m->pull[k];
        double part = pull->coef * ws->motion.q[pull->q], unit = 1;
        length += part, *size = ti_max(*size, fabs(part));
        *reach += fabs(pull->coef) * joint_reach(ws, &m->joint[m->dof[pull->v].joint], &unit, farthest);
    }
    return length;
}

/* The limits of tendons within reach. */
static tribo_status tendons(tribo_ws *ws, const double *farthest, const double *p) {
    const tribo_model *m = ws->model;
    int64_t rank = joint_rank(m) + 3 * (int64_t)m->size.nv + 2 * m->size.nequality;
    for (int i = 0; i < m->size.ntendon; i++) {
        const ti_tendon *t = &m->tendon[i];
        double reach, size, length = length_of(ws, t, farthest, &reach, &size);
        reach += ti_step_noise_reach(ws, t->b, 0);
        for (int end = 0; end < 2; end++) {
            double sign = end ? -1 : 1, gap = sign * (length - p[t->p + (end ? TI_P_LONGEST : TI_P_SHORTEST)]);
            int at = ws->nfound;
            if (!(gap < reach)) continue;
            ti_con *c = next_con(ws);
            if (!c) return TRIBO_E_CAPACITY;
            *c = (ti_con){.id = at, .at = at, .rank = rank + 2 * i + end, .a = t->a, .b = t->b};
            c->kind = TI_CON_TENDON, c->v = i, c->sign = sign;
            c->touch.gap = gap, c->touch.point.x = size;
        }
    }
    return TRIBO_OK;
}

/* Whether a contact is to be in an island, and is not yet. */
static bool is_loose(const tribo_ws *ws, const ti_con *c) {
    return c->aside != TI_ASIDE && ws->blk_at[first_tree(ws, c)] < 0;
}

/* Friction against turning: all twists, then all rolls, so that ranks ascend. */
static tribo_status spins(tribo_ws *ws) {
    const tribo_model *m = ws->model;
    int64_t rank = joint_rank(m) + 3 * (int64_t)m->size.nv + 2 * (m->size.nequality + m->size.ntendon);
    for (ti_con_kind kind = TI_CON_TWIST; m->spins && kind <= TI_CON_ROLL; kind++, rank += joint_rank(m))
        for (int i = 0; i < ws->ntouch; i++) {
            const ti_con *host = &ws->found[i];
            if (host->touch.core || !(kind == TI_CON_TWIST ? host->pair.twists : host->pair.rolls)) continue;
            if (ws->nfound == ws->options.ncon_max) return no_room(ws);
            ti_con *c = &ws->found[ws->nfound];
            *c = *host;
            c->id = c->at = ws->nfound++, c->rank += rank, c->kind = kind, c->v = i;
        }
    return TRIBO_OK;
}

/* The first that was found of a kind; nfound = there is none. */
static int first_of(const tribo_ws *ws, ti_con_kind kind) {
    int i = ws->ntouch;
    while (i < ws->nfound && ws->found[i].kind != kind) i++;
    return i;
}

/* Loose contacts into their islands, each with its friction against turning behind it. */
static void place_contacts(tribo_ws *ws, ti_frame *f) {
    int next[2] = {first_of(ws, TI_CON_TWIST), first_of(ws, TI_CON_ROLL)};
    for (int i = 0, end = next[0] < next[1] ? next[0] : next[1]; i < end; i++) {
        const ti_con *c = &ws->found[i];
        bool loose = is_loose(ws, c);
        ti_island *is = loose ? &f->island[ws->slot[ti_root(ws->root, first_tree(ws, c))] - 1] : NULL;
        if (loose) f->con[is->con0 + is->ncon++] = *c;
        for (int k = 0; k < 2; k++) {
            const ti_con *spin = &ws->found[next[k]];
            if (!(next[k] < ws->nfound && spin->kind == (k ? TI_CON_ROLL : TI_CON_TWIST) && spin->v == i)) continue;
            if (loose) f->con[is->con0 + is->ncon++] = *spin;
            next[k]++;
        }
        if (loose) is->nhold = is->ncon;
    }
}

/* Of what join() ties, in the order of their lowest tree; inside one, trees and contacts keep their order. */
void ti_step_islands(tribo_ws *ws, ti_frame *f) {
    int ntree = ws->model->ntree, *root = ws->root, *slot = ws->slot; /* slot: contacts of a root, then island */
    int first = f->nisland;
    join(ws, false);
    for (int i = 0; i < ws->nfound; i++)
        if (is_loose(ws, &ws->found[i])) slot[ti_root(root, first_tree(ws, &ws->found[i]))]++;
    for (int t = 0; t < ntree; t++) { /* a root is the lowest tree of its island, so it comes first */
        if (root[t] != t || slot[t] == 0) continue;
        f->island[f->nisland] = (ti_island){.con0 = f->ncon};
        f->ncon += slot[t];
        slot[t] = ++f->nisland;
    }
    for (int t = 0; t < ntree; t++) {
        int k = slot[ti_root(root, t)];
        ws->blk_of[t] = k ? f->island[k - 1].nblk++ : -1;
        if (k) f->island[k - 1].nv += ws->model->tree[t].nv;
    }
    for (int i = first; i < f->nisland; i++) {
        ti_island *is = &f->island[i];
        is->blk0 = f->nblk, f->nblk += is->nblk;
        is->v0 = f->nv, f->nv += is->nv;
    }
    for (int t = 0; t < ntree; t++)
        if (ws->blk_of[t] >= 0) f->blk_tree[f->island[slot[ti_root(root, t)] - 1].blk0 + ws->blk_of[t]] = t;
    place_contacts(ws, f);
}

tribo_status ti_step_find(tribo_ws *ws, ti_frame *f, const double *p) {
    if (ws->model->nlisted != 0) ti_step_shapes(ws, p);
    reaches(ws);
    tribo_status s = touches(ws);
    if (s != TRIBO_OK) return s;
    join(ws, true);
    for (bool room = true; room && pushed_reaches(ws);) { /* what is reached may reach further ones */
        room = touches(ws) == TRIBO_OK;
        if (!room) reaches(ws), touches(ws); /* as many as there is room for */
        join(ws, true);
    }
    ws->ntouch = ws->nfound;
    if (ws->model->size.njoint > 0 || ws->model->nbraked > 0) {
        if (ws->ntouch > 0) group_reaches(ws, ws->weight, ws->D);
        s = joints(ws, ws->ntouch > 0 ? ws->weight : NULL, p);
    }
    if (s == TRIBO_OK) s = closures(ws);
    if (s == TRIBO_OK) s = tendons(ws, ws->ntouch > 0 ? ws->weight : NULL, p);
    if (s == TRIBO_OK) s = spins(ws);
    ti_aside_choose(ws);
    f->nisland = f->nblk = f->nv = f->ncon = 0;
    for (int t = 0; t < ws->model->ntree; t++) ws->blk_at[t] = -1;
    ti_step_islands(ws, f);
    return s;
}
