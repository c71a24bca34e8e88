/* symmetry.c -- the same step seen turned, mirrored, with its bodies in another order, from other frames, in other
 * units. */
#include "judge.h"

/* ---- the transformations: of a scene whose start is a state, so of a state as well ---- */

typedef struct change {
    flaw kind;
    double q[4];
    double frame_q[MAX_BODIES][4], frame_t[MAX_BODIES][3];
    int body[MAX_BODIES], geom[MAX_GEOMS]; /* new order: the old index of each */
    double length, mass, time;
} change;

static void turned(const change *c, scene *s) {
    quat_turn(s->gravity, c->q, s->gravity);
    for (int i = 0; i < s->ngeom; i++) {
        if (s->g[i].body >= 0) continue;
        quat_turn(s->g[i].pos, c->q, s->g[i].pos);
        quat_times(s->g[i].quat, c->q, s->g[i].quat);
    }
    for (int i = 0; i < s->nbody; i++) {
        solid *b = &s->b[i];
        quat_turn(b->pos, c->q, b->pos), quat_times(b->quat, c->q, b->quat);
        quat_turn(b->vel, c->q, b->vel), quat_turn(b->force, c->q, b->force);
    }
}

/* y -> -y, in the world and in every frame. */
static void flip(double v[3]) {
    v[1] = -v[1];
}
static void flip_turn(double w[3]) {
    w[0] = -w[0], w[2] = -w[2];
}

static void mirrored(scene *s) {
    flip(s->gravity);
    for (int i = 0; i < s->ngeom; i++) flip(s->g[i].pos), flip_turn(s->g[i].quat + 1);
    for (int i = 0; i < s->nbody; i++) {
        solid *b = &s->b[i];
        flip(b->pos), flip(b->vel), flip(b->force), flip(b->com);
        flip_turn(b->quat + 1), flip_turn(b->spin), flip_turn(b->torque);
        b->inertia[3] = -b->inertia[3], b->inertia[5] = -b->inertia[5];
    }
}

static void reordered(const change *c, scene *s) {
    scene old = *s;
    int place[MAX_BODIES];
    for (int i = 0; i < s->nbody; i++) s->b[i] = old.b[c->body[i]], place[c->body[i]] = i;
    for (int i = 0; i < s->ngeom; i++) {
        s->g[i] = old.g[c->geom[i]];
        if (s->g[i].body >= 0) s->g[i].body = place[s->g[i].body];
    }
}

/* The body's frame sits at t, turned by q, in the old one. */
static void reframe(solid *b, const double q[4], const double t[3]) {
    double back[4], R[9], arm[3], turn[3], f[3];
    quat_conjugate(back, q);
    quat_matrix(R, back);
    quat_turn(arm, b->quat, t);
    add_scaled(b->pos, b->pos, 1, arm);
    cross(turn, b->spin, t);
    quat_turn(turn, b->quat, turn);
    add_scaled(b->vel, b->vel, 1, turn);
    quat_matrix(R, b->quat);
    times_transposed(f, R, b->force);
    cross(f, t, f);
    sub(b->torque, b->torque, f);
    sub(b->com, b->com, t);
    quat_turn(b->com, back, b->com), quat_turn(b->spin, back, b->spin), quat_turn(b->torque, back, b->torque);
    quat_matrix(R, back);
    turn_symmetric(b->inertia, R, b->inertia);
    quat_times(b->quat, b->quat, q);
}

static void reframed(const change *c, scene *s) {
    for (int i = 0; i < s->nbody; i++) reframe(&s->b[i], c->frame_q[i], c->frame_t[i]);
    for (int i = 0; i < s->ngeom; i++) {
        geom *g = &s->g[i];
        if (g->body < 0) continue;
        double back[4];
        quat_conjugate(back, c->frame_q[g->body]);
        sub(g->pos, g->pos, c->frame_t[g->body]);
        quat_turn(g->pos, back, g->pos), quat_times(g->quat, back, g->quat);
    }
}

static void scale(double *a, int n, double by) {
    for (int i = 0; i < n; i++) a[i] *= by;
}

static void remeasured(const change *c, scene *s) {
    double l = c->length, v = l / c->time, a = v / c->time, m = c->mass;
    scale(s->gravity, 3, a), s->dt *= c->time, s->recovery *= v;
    for (int i = 0; i < s->ngeom; i++) {
        geom *g = &s->g[i];
        scale(g->size, 3, l), scale(g->pos, 3, l);
        g->slop *= l, g->torsion *= l, g->rolling *= l, g->compliance /= m, g->edge *= l;
    }
    for (int i = 0; i < s->nbody; i++) {
        solid *b = &s->b[i];
        scale(b->pos, 3, l), scale(b->vel, 3, v), scale(b->spin, 3, 1 / c->time), scale(b->com, 3, l);
        b->mass *= m;
        scale(b->inertia, 6, m * l * l), scale(b->force, 3, m * a), scale(b->torque, 3, m * a * l);
    }
}

static void transform(const change *c, scene *s) {
    switch (c->kind) {
    case ROTATION:
        turned(c, s);
        break;
    case MIRROR:
        mirrored(s);
        break;
    case ORDER:
        reordered(c, s);
        break;
    case FRAME:
        reframed(c, s);
        break;
    default:
        remeasured(c, s);
        break;
    }
}

static void shuffle(dice *d, int *order, int n) {
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = dice_below(d, i + 1), keep = order[i];
        order[i] = order[j], order[j] = keep;
    }
}

static void choose(dice *d, const scene *s, change *c, flaw kind) {
    c->kind = kind;
    dice_quat(d, c->q);
    if (dice_chance(d, 0.5)) c->q[1] = c->q[2] = 0, quat_normalise(c->q); /* about the vertical */
    for (int i = 0; i < s->nbody; i++) dice_quat(d, c->frame_q[i]), dice_vector(d, c->frame_t[i], 0.1);
    shuffle(d, c->body, s->nbody), shuffle(d, c->geom, s->ngeom);
    c->length = dice_decades(d, -2, 2), c->mass = dice_decades(d, -3, 3), c->time = dice_decades(d, -2, 2);
}

/* ---- comparison ---- */

typedef struct measure {
    double speed, place; /* the fastest, the farthest */
} measure;

static measure measure_of(const moment *t) {
    measure m = {0};
    for (int i = 0; i < t->s->ngeom; i++) {
        const geom *g = &t->s->g[i];
        if (g->body < 0) continue;
        const motion *a = &t->before[g->body], *b = &t->after[g->body];
        double size = geom_radius(g) + length(g->pos) + length(t->s->b[g->body].com);
        double w = larger(larger(length(a->w), length(a->free_w)), length(b->w));
        m.speed = larger(m.speed, larger(larger(length(a->v), length(a->free_v)), length(b->v)) + size * w);
        double d[3];
        sub(d, b->x, a->x);
        m.speed =
            larger(m.speed, larger(length(a->accel), length(d) / t->s->dt)); /* overlap taken back moves bodies, too */
        m.place = larger(m.place, length(a->x) + size);
    }
    return m;
}

bool clear_of_kinks(const tribo_step_info *i, tribo_status status) {
    return status == TRIBO_OK && i->ndegenerate == i->nshared && i->margin > 1e-5;
}

/* Largest difference of two states in units of what is allowed. */
static double difference(const scene *s, const double *got, const double *want, double place, double speed,
                         double size) {
    double worst = 0;
    for (int i = 0; i < s->nbody; i++) {
        const double *q = got + 7 * i, *r = want + 7 * i, *v = got + 7 * s->nbody + 6 * i,
                     *w = want + 7 * s->nbody + 6 * i;
        double d[3], back[4], turn[4];
        sub(d, q, r), worst = larger(worst, length(d) / place);
        sub(d, v, w), worst = larger(worst, length(d) / speed);
        sub(d, v + 3, w + 3), worst = larger(worst, length(d) * size / speed);
        quat_conjugate(back, r + 3), quat_times(turn, back, q + 3);
        quat_log(d, turn), worst = larger(worst, length(d) * size / place);
    }
    return worst;
}

static void judge_one(const moment *t, const change *c, verdict *v) {
    scene there = *t->s, after = *t->s;
    scene_restart(&there, t->x), scene_restart(&after, t->next);
    transform(c, &there), transform(c, &after);
    world w;
    if (world_new(&w, &there, NULL)) {
        note(v, c->kind, t->k, 1, "the model is refused");
        world_free(&w);
        return;
    }
    double x[NX * MAX_BODIES], got[NX * MAX_BODIES], want[NX * MAX_BODIES], u[NU * MAX_BODIES];
    scene_state(&there, x), scene_state(&after, want), scene_control(&there, u);
    tribo_status status = tribo_step(w.ws, w.p, x, u, got, NULL);
    tribo_step_info info = *tribo_last_info(w.ws);
    world_free(&w);
    if (status < 0) {
        note(v, c->kind, t->k, 1, "the step fails: %s", tribo_status_text(status));
        return;
    }
    if (!clear_of_kinks(&info, status)) return;
    v->asked[c->kind]++;
    measure m = measure_of(t);
    double l = c->kind == UNITS ? c->length : 1, h = c->kind == UNITS ? c->time : 1, size = HUGE_VAL;
    for (int i = 0; i < t->s->ngeom; i++)
        if (t->s->g[i].body >= 0) size = smaller(size, geom_radius(&t->s->g[i]));
    double place = 1e-9 * t->s->dt * m.speed + 1e-14 * m.place, speed = 1e-9 * m.speed + 1e-14 * m.place / t->s->dt;
    double off = difference(t->s, got, want, place * l, speed * l / h, size * l);
    if (!(off <= 1)) note(v, c->kind, t->k, off, "off by %.3g of the fastest; margin %.2g", off * 1e-9, info.margin);
}

void judge_symmetries(const moment *t, dice *d, verdict *v) {
    static const flaw kinds[] = {ROTATION, MIRROR, ORDER, FRAME, UNITS};
    if (!clear_of_kinks(&t->info, t->status)) return;
    for (int i = 0; i < 5; i++) {
        change c;
        choose(d, t->s, &c, kinds[i]);
        judge_one(t, &c, v);
    }
}
