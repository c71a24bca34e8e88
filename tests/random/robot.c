/* robot.c -- random trees with joints above a floor, of all shapes; and the judges of their steps. */
#include "tale.h"
#include <stdlib.h>

enum { MOST_BODIES = 8 };

/* A tree on its way into a tale. */
typedef struct workshop {
    tale *t;
    dice d;
    double size, weight; /* m; N of a body, about */
    double drop;
    int geoms;
    const scene *s;
} workshop;

/* ---- bodies ---- */

static void hull(workshop *w, double *corner /* (3 CORNERS) */) {
    for (int i = 0; i < CORNERS; i++) {
        dice_vector(&w->d, corner + 3 * i, 1);
        double r = length(corner + 3 * i);
        for (int k = 0; k < 3; k++) corner[3 * i + k] *= w->size / larger(r, 1e-3);
    }
}

static tribo_material surface(workshop *w) {
    dice *d = &w->d;
    tribo_material m = {.friction = dice_chance(d, 0.1) ? 0 : dice_between(d, 0, 1.5), .baumgarte = 1};
    m.restitution = dice_chance(d, 0.5) ? 0 : dice_between(d, 0, 1);
    int which = w->geoms++;
    if (w->s->spins) spin_draw(w->s->seed, which, w->size, w->weight / 9.81, &m.torsion, &m.rolling, &m.compliance);
    return m;
}

/* A geom of any shape, which meets all but its own tree. */
static void shape_of(workshop *w, int body, int tree) {
    static const tribo_shape shapes[] = {TRIBO_SPHERE,   TRIBO_BOX,       TRIBO_CAPSULE,
                                         TRIBO_CYLINDER, TRIBO_ELLIPSOID, TRIBO_MESH};
    told_geom *told = &w->t->geom[w->t->ngeom++];
    tribo_geom_def g = tribo_default_geom();
    g.shape = shapes[dice_below(&w->d, 6)];
    for (int i = 0; i < 3; i++) g.size[i] = w->size * dice_between(&w->d, 0.2, 0.7);
    if (g.shape == TRIBO_MESH) hull(w, told->corner), memset(g.size, 0, sizeof g.size);
    if (dice_chance(&w->d, 0.5)) dice_quat(&w->d, g.quat);
    if (dice_chance(&w->d, 0.3)) dice_vector(&w->d, g.pos, 0.3 * w->size);
    g.material = surface(w);
    g.contype = 2u << tree, g.conaffinity = ~g.contype;
    told->body = body, told->def = g;
}

/* ---- joints ---- */

static void number(workshop *w, double at, double speed) {
    w->t->q[w->t->nq++] = at, w->t->v[w->t->nv++] = speed;
}

/* Spring and limit of a ball at q, by dice of their own: what seeds drew before there were any stays. */
static void restrain_ball(const workshop *w, const double *q, double force, tribo_joint_def *j) {
    dice d = {w->d.state * 0x9E3779B97F4A7C15u + 5};
    for (int i = 0; i < 4; i++) dice_bits(&d);
    double angle = 2 * atan2(sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), fabs(q[0]));
    if (dice_chance(&d, 0.3)) j->stiffness = force * dice_decades(&d, -2, 1);
    j->limited = dice_chance(&d, 0.4);
    j->range[1] = angle + (dice_chance(&d, 0.2) ? 0 : dice_between(&d, 0.01, 1));
    j->restitution = dice_chance(&d, 0.6) ? 0 : dice_between(&d, 0, 1);
}

/* Two hinges on one body do not turn it about one axis. */
static void add_joint(workshop *w, int body, tribo_joint_kind kind, const double *arm, int axis) {
    dice *d = &w->d;
    tribo_joint_def j = tribo_default_joint();
    double unit = kind == TRIBO_JOINT_SLIDE ? w->size : 1, force = w->weight * (unit == 1 ? w->size : 1), speed[3];
    j.kind = kind;
    dice_vector(d, j.axis, dice_chance(d, 0.5) ? 0.5 : 0);
    j.axis[axis] = 1;
    for (int i = 0; i < 3; i++) j.pos[i] = -0.5 * arm[i];
    double rate = sqrt(9.81 / w->size) * unit;
    if (dice_chance(d, 0.3)) j.damping = force / rate * dice_decades(d, -3, -1);
    if (dice_chance(d, 0.2)) j.armature = force / (9.81 * (unit == 1 ? 1 / w->size : 1)) * dice_decades(d, -3, 0);
    if (kind != TRIBO_JOINT_BALL && dice_chance(d, 0.15)) j.stiffness = force / unit * dice_decades(d, -2, 1);
    if (dice_chance(d, 0.25)) j.frictionloss = force * dice_decades(d, -2, 0);
    dice_vector(d, speed, dice_chance(d, 0.5) ? 0 : 0.5 * rate);
    if (kind == TRIBO_JOINT_BALL) {
        dice_quat(d, w->t->q + w->t->nq);
        restrain_ball(w, w->t->q + w->t->nq, force, &j);
        w->t->nq += 4;
        for (int i = 0; i < 3; i++) w->t->v[w->t->nv++] = speed[i];
    } else {
        double at = dice_chance(d, 0.4) ? 0 : unit * dice_between(d, -0.6, 0.6);
        j.limited = dice_chance(d, 0.4);
        j.range[0] = at - unit * dice_between(d, 0, 1), j.range[1] = at + unit * dice_between(d, 0.01, 1);
        if (dice_chance(d, 0.15)) j.range[0] = at;
        j.restitution = dice_chance(d, 0.6) ? 0 : dice_between(d, 0, 1);
        number(w, at, speed[0]);
    }
    w->t->joint[w->t->njoint++] = j, w->t->body[body].njoint++;
}

/* A free root, with a state of its own. */
static void set_free(workshop *w, const double pos[3], const double quat[4]) {
    double v[3], spin[3];
    bool rests = dice_chance(&w->d, 0.4);
    tale *t = w->t;
    copy3(t->q + t->nq, pos), copy4(t->q + t->nq + 3, quat), t->nq += 7;
    dice_vector(&w->d, v, rests ? 0 : sqrt(9.81 * w->size));
    dice_vector(&w->d, spin, rests ? 0 : sqrt(9.81 / w->size));
    copy3(t->v + t->nv, v), copy3(t->v + t->nv + 3, spin), t->nv += 6;
}

/* Its numbers, by dice of their own. Of forces and torques alike: of a size between those of the two. */
static void brake(const workshop *w, tribo_body_def *def) {
    dice d = {w->d.state * 0x9E3779B97F4A7C15u + 23};
    for (int i = 0; i < 4; i++) dice_bits(&d);
    double mass = w->weight / 9.81, rate = sqrt(9.81 / w->size), size = pow(w->size, dice_between(&d, 0, 1));
    if (dice_chance(&d, 0.7)) def->damping = mass * size * size * rate * dice_decades(&d, -3, 1);
    if (dice_chance(&d, 0.5)) def->armature = mass * size * size * dice_decades(&d, -3, 0);
    if (dice_chance(&d, 0.25)) def->frictionloss = w->weight * size * dice_decades(&d, -3, -0.5);
}

/* What holds a body at its parent: nothing (a free root, a weld), or joints. */
static void connect(workshop *w, int body, bool root, const tribo_body_def *def) {
    double kind = dice_between(&w->d, 0, 1);
    int axis = dice_below(&w->d, 3);
    w->t->body[body].free = root && kind < 0.6;
    if (root && kind < 0.6 && w->s->brakes) brake(w, &w->t->body[body].def);
    if (root && kind < 0.6)
        set_free(w, def->pos, def->quat);
    else if (kind < 0.65)
        add_joint(w, body, TRIBO_JOINT_HINGE, def->pos, axis);
    else if (kind < 0.8)
        add_joint(w, body, TRIBO_JOINT_SLIDE, def->pos, axis);
    else if (kind < 0.9 || root)
        add_joint(w, body, TRIBO_JOINT_BALL, def->pos, axis);
    if (kind >= 0.5 && kind < 0.65 && !root) add_joint(w, body, TRIBO_JOINT_HINGE, def->pos, (axis + 1) % 3);
}

static void grow(workshop *w, int tree, int bodies) {
    int first = 0;
    for (int i = 0; i < bodies; i++) {
        tribo_body_def def = tribo_default_body();
        dice_vector(&w->d, def.pos, w->size);
        if (i == 0) def.pos[0] += 12 * w->size * tree, def.pos[2] = w->drop;
        if (dice_chance(&w->d, 0.6)) dice_quat(&w->d, def.quat);
        def.parent = i == 0 ? TRIBO_WORLD : first + (i > 2 ? i - 1 - dice_below(&w->d, 3) : dice_below(&w->d, i));
        int body = w->t->nbody++;
        w->t->body[body] = (told_body){.def = def, .joint = w->t->njoint};
        if (i == 0) first = body;
        connect(w, body, i == 0, &def);
        shape_of(w, body, tree);
    }
}

static void add_floor(workshop *w) {
    tribo_geom_def g = tribo_default_geom();
    g.shape = TRIBO_PLANE, g.contype = 1, g.conaffinity = ~0u, g.material = surface(w);
    double tilt[3] = {dice_between(&w->d, -0.3, 0.3), dice_between(&w->d, -0.3, 0.3), 0};
    if (dice_chance(&w->d, 0.4)) quat_exp(g.quat, tilt);
    w->t->geom[w->t->ngeom++] = (told_geom){.body = TRIBO_WORLD, .def = g};
}

/* The trees of the scene's seed with their roots at this height. */
static void invent(tale *t, const scene *s, double drop) {
    workshop w = {.t = t, .d = {s->seed * 0x2545F4914F6CDD1Du + 99}, .size = s->size, .s = s};
    w.drop = drop, w.weight = 9.81 * 1000 * 0.5 * s->size * s->size * s->size;
    for (int i = 0; i < 4; i++) dice_bits(&w.d);
    *t = (tale){.dt = s->dt};
    copy3(t->gravity, s->gravity);
    add_floor(&w);
    int trees = 1 + dice_chance(&w.d, 0.2), most = MOST_BODIES / trees;
    for (int i = 0; i < trees; i++) grow(&w, i, 1 + dice_below(&w.d, most));
}

/* How far the lowest geom is above the floor; the floor is geom 0. */
static double height(const tribo_model *m) {
    tribo_ws *ws = NULL;
    tribo_sizes n = tribo_model_sizes(m);
    double *p = calloc((size_t)n.np, sizeof *p), x[NX * MAX_BODIES], least = HUGE_VAL;
    if (p && !tribo_ws_new(m, NULL, NULL, &ws, NULL)) {
        tribo_model_params(m, p), tribo_model_state0(m, x);
        for (int g = 1; g < n.ngeom; g++) {
            tribo_distance apart;
            if (!tribo_geom_distance(ws, p, x, 0, g, &apart)) least = smaller(least, apart.distance);
        }
    }
    tribo_ws_free(ws), free(p);
    return least;
}

void robot_make(scene *s, uint64_t seed) {
    dice d = {seed * 0x9E3779B97F4A7C15u + 7};
    for (int i = 0; i < 4; i++) dice_bits(&d);
    *s = (scene){.seed = seed, .recovery = 1, .robot = true, .size = dice_decades(&d, -1.3, -0.3)};
    s->dt = dice_decades(&d, -3.7, -2.2), s->gravity[2] = dice_chance(&d, 0.1) ? 0 : -9.81;
    s->drop = dice_chance(&d, 0.3) ? 0 : s->size * dice_decades(&d, -3, -0.5);
    if (dice_chance(&d, 0.1)) s->drop = -0.1 * s->drop;
    s->steps = 10 + dice_below(&d, 40), s->graded = dice_below(&d, s->steps), s->horizon = 1 + dice_below(&d, 5);
    snprintf(s->story, sizeof s->story, "robot");
}

/* The same, above the floor by what the scene says. */
static bool invent_above(tale *t, const scene *s, tribo_diag *diag) {
    double high[2]; /* with roots at 0 and at 1 m: the floor may be tilted */
    for (int k = 0; k < 2; k++) {
        invent(t, s, k);
        tribo_model *m = tale_build(t, diag);
        if (!m) return false;
        high[k] = height(m);
        tribo_model_free(m);
    }
    invent(t, s, (s->drop - high[0]) / (high[1] - high[0]));
    return true;
}

static tribo_status world_of(world *w, const tale *t, const scene *s, tribo_diag *diag) {
    *w = (world){.m = tale_build(t, diag)};
    if (!w->m) return TRIBO_E_ARG;
    tribo_options o = tribo_default_options();
    o.warm_start = s->warm;
    tribo_status status = tribo_ws_new(w->m, &o, NULL, &w->ws, NULL);
    w->p = calloc((size_t)tribo_model_sizes(w->m).np, sizeof *w->p);
    if (status || !w->p) return status ? status : TRIBO_E_NOMEM;
    tribo_model_params(w->m, w->p);
    return TRIBO_OK;
}

tribo_status robot_new(world *w, const scene *s, tribo_diag *diag) {
    tale t;
    *w = (world){0};
    return invent_above(&t, s, diag) ? world_of(w, &t, s, diag) : TRIBO_E_ARG;
}

/* ---- judges ---- */

typedef struct energies {
    double swing; /* J: the most that a step changed what moves */
    double start, scale, kinetic;
    double x[NX * MAX_BODIES]; /* the last state */
} energies;

/* Kinetic energy: energy without weight and springs. */
static double moving(const world *w, const double *x) {
    tribo_sizes n = tribo_model_sizes(w->m);
    double *p = calloc((size_t)n.np, sizeof *p), e = 0;
    memcpy(p, w->p, (size_t)n.np * sizeof *p);
    for (int i = 0; i < n.np; i++) {
        tribo_param_info info;
        if (tribo_param_describe(w->m, i, &info)) continue;
        if (info.kind == TRIBO_PARAM_GRAVITY || info.kind == TRIBO_PARAM_STIFFNESS) p[i] = 0;
    }
    e = tribo_energy(w->m, p, x);
    free(p);
    return e;
}

/* Energy with the velocity of x at the place of q, moved on by that velocity for a time. */
static double energy_at(const world *w, const double *q, const double *x, double time) {
    double step[NDX * MAX_BODIES] = {0}, at[NX * MAX_BODIES];
    tribo_sizes n = tribo_model_sizes(w->m);
    int nq = n.nx - n.nv;
    memcpy(at, q, (size_t)nq * sizeof *at), memcpy(at + nq, x + nq, (size_t)n.nv * sizeof *at);
    for (int i = 0; i < n.nv; i++) step[i] = time * x[nq + i];
    tribo_state_add(w->m, at, step, at);
    return tribo_energy(w->m, w->p, at);
}

/* Nothing drives a tree. The velocity of a semi-implicit step is that of its middle, so that E(q - h v/2, v) is energy
 * there, and E(q, v) has a potential that is half a step late: the start counts by the larger, what comes after by the
 * smaller. It rises by no more than what is of second order, of which what a step changes is a measure, and by what
 * taking back overlaps adds to E(q + h v', v'). */
static void judge_robot_energy(const world *w, const scene *s, const double *x, int k, energies *e, verdict *v) {
    double late = energy_at(w, x, x, 0), middle = energy_at(w, x, x, -0.5 * s->dt), kinetic = moving(w, x);
    if (k >= 0) {
        double now = smaller(late, middle);
        e->swing = larger(e->swing, fabs(kinetic - e->kinetic));
        e->scale = larger(e->scale, kinetic);
        if (tribo_last_info(w->ws)->penetration > 0) e->start += larger(late - energy_at(w, e->x, x, s->dt), 0);
        ask(v, ENERGY_RUN, k, now - e->start, 1.5 * e->swing + 0.02 * e->scale + 1e-9, "J");
    } else
        e->start = larger(late, middle), e->scale = kinetic;
    e->kinetic = kinetic;
    memcpy(e->x, x, (size_t)tribo_model_sizes(w->m).nx * sizeof *x);
}

static void judge_robot_step(const world *w, tribo_status status, const double *next, int k, verdict *v) {
    const tribo_step_info *info = tribo_last_info(w->ws);
    v->asked[STATUS]++, v->asked[UNCONVERGED]++;
    if (status == TRIBO_NOT_CONVERGED)
        note(v, UNCONVERGED, k, info->residual, "residual %.3g, %d contacts", info->residual, info->ncon);
    if (status == TRIBO_OK && !(info->residual <= 1e-9)) note(v, STATUS, k, 1, "residual %g", info->residual);
    for (int i = 0, n = tribo_model_sizes(w->m).nx; i < n; i++)
        if (!isfinite(next[i])) note(v, STATUS, k, 1, "a state that is not finite under status %d", (int)status);
}

/* ---- told otherwise ---- */

enum { WAYS = 3 };
static const flaw ways[WAYS] = {ORDER, FRAME, WELD};

typedef struct other {
    retelling by;
    world w;
} other;

/* What a difference of number i of v is measured in, m or rad. */
static double unit_of(const tale *t, const scene *s, int number) {
    int at = 0;
    for (int i = 0; i < t->nbody; i++) {
        const told_body *one = &t->body[i];
        if (one->free && number < at + 6) return number < at + 3 ? s->size : 1;
        at += one->free ? 6 : 0;
        for (int j = one->joint; j < one->joint + one->njoint; j++) {
            int n = t->joint[j].kind == TRIBO_JOINT_BALL ? 3 : 1;
            if (number < at + n) return t->joint[j].kind == TRIBO_JOINT_SLIDE ? s->size : 1;
            at += n;
        }
    }
    return 1;
}

/* The largest of speeds, in sizes and radians a second. */
static double fastest(const tale *t, const scene *s, const double *v) {
    double most = 0;
    for (int i = 0; i < t->nv; i++) most = larger(most, fabs(v[i]) / unit_of(t, s, i));
    return most;
}

/* One step of the robot told otherwise, from x: it ends where the step to `next` does. */
static void judge_other(const tale *t, const scene *s, other *o, const double *x, const double *next, int k,
                        verdict *v) {
    double from[NX * MAX_BODIES], want[NX * MAX_BODIES], off[NX * MAX_BODIES], moved[NX * MAX_BODIES], worst = 0;
    tale told;
    flaw kind = o->by.kind;
    tale_retell(t, &o->by, &told);
    tale_carry(t, &o->by, x, from), tale_carry(t, &o->by, next, want);
    tribo_state_difference(o->w.m, from, want, moved);
    double rate = larger(larger(fastest(&told, s, from + t->nq), fastest(&told, s, want + t->nq)),
                         larger(fastest(&told, s, moved) / s->dt, sqrt(9.81 / s->size)));
    tribo_status status = tribo_step(o->w.ws, o->w.p, from, NULL, from, NULL);
    if (status == TRIBO_OK && !clear_of_kinks(tribo_last_info(o->w.ws), status)) return;
    v->asked[kind]++;
    if (status < 0) {
        note(v, kind, k, 1, "the step fails: %s", tribo_status_text(status));
        return;
    }
    tribo_state_difference(o->w.m, want, from, off);
    worst = larger(fastest(&told, s, off + t->nv), fastest(&told, s, off) / s->dt);
    if (!(worst <= 1e-8 * rate))
        note(v, kind, k, worst / (1e-8 * rate), "off by %.3g of the fastest; margin %.2g", worst / rate,
             tribo_last_info(o->w.ws)->margin);
}

static void open_others(const tale *t, const scene *s, other *o, verdict *v) {
    dice d = {s->seed * 0x9E3779B97F4A7C15u + 11};
    for (int i = 0; i < WAYS; i++) {
        tribo_diag diag = {0};
        tale told;
        retelling_draw(&o[i].by, t, &d, ways[i]), tale_retell(t, &o[i].by, &told);
        if (world_of(&o[i].w, &told, s, &diag)) note(v, ways[i], 0, 1, "the model is refused: %s", diag.text);
    }
}

/* ---- */

static void follow(const tale *t, const scene *s, flaw only, world *w, other *o, verdict *v) {
    double x[NX * MAX_BODIES], next[NX * MAX_BODIES];
    energies e = {0};
    bool gradients = only == FLAWS || (only >= THREE_WAYS && only <= SILENT_KINK);
    tribo_model_state0(w->m, x);
    judge_robot_energy(w, s, x, -1, &e, v);
    for (int k = 0; k < s->steps; k++) {
        if (k == s->graded && gradients) judge_gradients(s, w, x, v);
        tribo_status status = tribo_step(w->ws, w->p, x, NULL, next, NULL);
        if (status < 0) {
            note(v, STATUS, k, 1, "%s", tribo_status_text(status));
            break;
        }
        judge_robot_step(w, status, next, k, v);
        for (int i = 0; i < WAYS && k % 4 == 0 && clear_of_kinks(tribo_last_info(w->ws), status); i++)
            if (o[i].w.ws) judge_other(t, s, &o[i], x, next, k, v);
        memcpy(x, next, sizeof x);
        judge_robot_energy(w, s, x, k, &e, v);
    }
}

void run_robot(const scene *s, flaw only, verdict *v) {
    world w = {0};
    other others[WAYS];
    tale t;
    tribo_diag diag = {0};
    v->asked[BUILD]++;
    if (!invent_above(&t, s, &diag) || world_of(&w, &t, s, &diag)) {
        note(v, BUILD, 0, 1, "%s", diag.text);
        world_free(&w);
        return;
    }
    memset(others, 0, sizeof others);
    if (!s->warm && (only == FLAWS || (only >= ROTATION && only <= WELD))) open_others(&t, s, others, v);
    follow(&t, s, only, &w, others, v);
    for (int i = 0; i < WAYS; i++) world_free(&others[i].w);
    world_free(&w);
}
