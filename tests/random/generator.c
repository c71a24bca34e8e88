/* generator.c -- the random scene of a seed: bodies, materials, world, forces. Where they stand: arrange.c. */
#include "arrange.h"

/* The least eigenvalue of the second moments must not be rounding: every geom has volume, so it is not. */
static void inertia_of(const scene *s, int body, const double *mass /* of each geom */) {
    solid *b = (solid *)&s->b[body];
    double com[3] = {0}, sum[6] = {0};
    b->mass = 0;
    for (int i = 0; i < s->ngeom; i++)
        if (s->g[i].body == body) b->mass += mass[i], add_scaled(com, com, mass[i], s->g[i].pos);
    for (int i = 0; i < 3; i++) b->com[i] = com[i] / b->mass;
    for (int i = 0; i < s->ngeom; i++) {
        const geom *g = &s->g[i];
        if (g->body != body) continue;
        double m = mass[i], a = g->size[0], c = g->size[1], e = g->size[2], r[3], R[9], own[6];
        double ball[6] = {0.4 * m * a * a, 0.4 * m * a * a, 0.4 * m * a * a, 0, 0, 0};
        /* of a capsule: a tube and a ball cut in two, each half's centre 3/8 of the radius beyond the tube's end */
        double tube = 2 * c * a * a, round = 4. / 3 * a * a * a, t = m * tube / (tube + round), h = m - t;
        double out = c + 0.375 * a,
               wide = t * (a * a / 4 + c * c / 3) + h * (0.4 * a * a - 9. / 64 * a * a + out * out);
        double pill[6] = {wide, wide, (0.5 * t + 0.4 * h) * a * a, 0, 0, 0};
        double box[6] = {m / 3 * (c * c + e * e), m / 3 * (a * a + e * e), m / 3 * (a * a + c * c), 0, 0, 0};
        quat_matrix(R, g->quat);
        turn_symmetric(own, R, g->shape == TRIBO_SPHERE ? ball : g->shape == TRIBO_BOX ? box : pill);
        sub(r, g->pos, b->com);
        double d = dot(r, r),
               far[6] = {d - r[0] * r[0], d - r[1] * r[1], d - r[2] * r[2], -r[0] * r[1], -r[0] * r[2], -r[1] * r[2]};
        for (int k = 0; k < 6; k++) sum[k] += own[k] + m * far[k];
    }
    memcpy(b->inertia, sum, sizeof sum);
}

static void material(dice *d, geom *g) {
    g->friction = dice_chance(d, 0.1) ? 0 : dice_between(d, 0, 1.5);
    g->stiction = dice_chance(d, 0.2) ? dice_between(d, 0, 0.5) : 0;
    g->restitution = dice_chance(d, 0.4) ? 0 : dice_chance(d, 0.05) ? 1 : dice_between(d, 0, 1);
    g->baumgarte = dice_chance(d, 0.15) ? dice_between(d, 0.1, 1) : 1;
    g->slop = dice_chance(d, 0.1) ? dice_decades(d, -6, -4) : 0;
}

static geom *new_geom(dice *d, scene *s, int body, tribo_shape shape) {
    geom *g = &s->g[s->ngeom++];
    *g = (geom){.body = body, .shape = shape, .quat = {1}};
    material(d, g);
    return g;
}

static void random_size(dice *d, geom *g, double size) {
    for (int i = 0; i < 3; i++) g->size[i] = size * (g->shape == TRIBO_SPHERE ? 1 : dice_decades(d, -0.5, 0));
    if (g->shape == TRIBO_SPHERE) g->size[1] = 0;
    if (g->shape != TRIBO_BOX) g->size[2] = 0;
}

/* Move the body's frame to another place of the same body: nothing else moves. */
static void shift_frame(dice *d, scene *s, int body, double size) {
    double t[3], q[4], back[4];
    dice_vector(d, t, size);
    dice_quat(d, q);
    quat_conjugate(back, q);
    for (int i = 0; i < s->ngeom; i++) {
        geom *g = &s->g[i];
        if (g->body != body) continue;
        quat_turn(g->pos, back, g->pos);
        add_scaled(g->pos, g->pos, 1, t);
        quat_times(g->quat, back, g->quat);
    }
}

static void make_body(dice *d, arrangement *a, scene *s, double size, double decades) {
    int body = s->nbody++, extra = a->plain || !dice_chance(d, 0.25) ? 0 : 1 + dice_below(d, 2);
    s->b[body] = (solid){.quat = {1}};
    double mass[MAX_GEOMS] = {0}, total = dice_decades(d, -decades / 2, decades / 2);
    if (dice_chance(d, 0.3)) size *= dice_decades(d, -0.5, 0.5);
    for (int k = 0; k <= extra && s->ngeom < MAX_GEOMS; k++) {
        tribo_shape shape = a->boxes || dice_chance(d, 0.6) ? TRIBO_BOX : TRIBO_SPHERE;
        if (a->capsules && dice_chance(d, 0.6)) shape = TRIBO_CAPSULE;
        geom *g = new_geom(d, s, body, shape);
        random_size(d, g, size);
        if (k > 0) dice_vector(d, g->pos, 0.6 * size), dice_quat(d, g->quat);
        mass[s->ngeom - 1] = total * dice_between(d, 0.2, 1);
    }
    if (!a->plain && dice_chance(d, 0.3)) shift_frame(d, s, body, 0.5 * size);
    inertia_of(s, body, mass);
}

static void make_world(dice *d, arrangement *a, scene *s, double size) {
    if (a->floor) {
        geom *g = new_geom(d, s, TRIBO_WORLD, TRIBO_PLANE);
        if (!a->plain && dice_chance(d, 0.2)) {
            double tilt[3] = {dice_between(d, -0.5, 0.5), dice_between(d, -0.5, 0.5), 0};
            quat_exp(g->quat, tilt);
        }
    }
    for (int i = 0; i < a->walls; i++) {
        geom *g = new_geom(d, s, TRIBO_WORLD, TRIBO_BOX);
        double side = i % 2 ? 1 : -1, half = 6 * size, away = size * a->room + 0.5 * size;
        for (int k = 0; k < 3; k++) g->size[k] = half;
        g->size[i / 2 % 2] = 0.5 * size;
        g->pos[i / 2 % 2] = side * away;
        double turn[3];
        dice_vector(d, turn, dice_chance(d, 0.5) ? 0.1 : 0);
        quat_exp(g->quat, turn);
    }
}

static void make_motion(dice *d, const arrangement *a, scene *s, double size, double g) {
    double typical = sqrt(larger(g, 1) * size);
    for (int i = 0; i < s->nbody; i++) {
        solid *b = &s->b[i];
        double v[3], w[3], arm[3];
        dice_vector(d, v, typical * a->speed);
        dice_vector(d, w, typical / size * a->speed);
        if (a->fast_spin) dice_vector(d, w, dice_decades(d, -1, 0.2) / s->dt);
        if (dice_chance(d, a->rest)) memset(v, 0, sizeof v), memset(w, 0, sizeof w);
        copy3(b->spin, w);
        cross(arm, w, b->com); /* the state has the velocity of the frame's origin */
        quat_turn(arm, b->quat, arm);
        sub(b->vel, v, arm);
        if (!dice_chance(d, a->forced)) continue;
        double f = b->mass * larger(g, 1) * dice_decades(d, -1, 0.7);
        dice_vector(d, b->force, f);
        if (dice_chance(d, 0.5)) dice_vector(d, b->torque, 0.3 * f * size);
    }
}

void spin_draw(uint64_t seed, int which, double size, double mass, double *torsion, double *rolling,
               double *compliance) {
    dice d = {seed * 0x9E3779B97F4A7C15u + 31 * (uint64_t)which + 11};
    for (int i = 0; i < 4; i++) dice_bits(&d);
    *torsion = dice_chance(&d, 0.6) ? size * dice_decades(&d, -3, 0) : 0;
    *rolling = dice_chance(&d, 0.5) ? size * dice_decades(&d, -3.5, -0.5) : 0;
    *compliance = dice_chance(&d, 0.25) ? dice_decades(&d, -5, -1) / mass : 0;
}

void scene_spin(scene *s) {
    double size = 0;
    s->spins = true;
    for (int i = 0; i < s->ngeom; i++)
        if (s->g[i].body >= 0) size = larger(size, geom_radius(&s->g[i]));
    for (int i = 0; i < s->ngeom; i++) {
        geom *g = &s->g[i];
        double mass = g->body >= 0 ? s->b[g->body].mass : 1, radius = g->body >= 0 ? geom_radius(g) : size;
        spin_draw(s->seed, i, radius, mass, &g->torsion, &g->rolling, &g->compliance);
    }
}

void scene_round(scene *s) {
    dice d = {s->seed * 0x9E3779B97F4A7C15u + 17};
    for (int i = 0; i < 4; i++) dice_bits(&d);
    s->rounds = true;
    for (int i = 0; i < s->ngeom; i++) {
        geom *g = &s->g[i];
        double thin = smaller(g->size[0], smaller(g->size[1], g->size[2])), share = dice_decades(&d, -2, -0.05);
        if (g->shape == TRIBO_BOX && dice_chance(&d, 0.8)) g->edge = share * thin;
    }
}

void scene_make(scene *s, uint64_t seed, bool capsules) {
    dice d = {seed * 0x2545F4914F6CDD1Du + 0x1234567};
    for (int i = 0; i < 4; i++) dice_bits(&d);
    *s = (scene){.seed = seed, .recovery = 1};
    arrangement a;
    double size = dice_decades(&d, -1.7, -0.3), decades = (double[]){0, 3, 3, 6}[dice_below(&d, 4)];
    s->dt = dice_decades(&d, -4, -1.7);
    arrangement_choose(&d, &a, s);
    a.capsules = capsules;
    double g = a.weightless ? 0 : 9.81;
    s->gravity[2] = -g;
    make_world(&d, &a, s, size);
    for (int i = 0; i < a.bodies; i++) make_body(&d, &a, s, size, decades);
    a.step = s->dt * (sqrt(larger(g, 1) * size) * larger(a.speed, 0.1));
    arrange(&d, &a, s, size);
    make_motion(&d, &a, s, size, g);
    s->steps = 10 + dice_below(&d, 50);
    s->graded = dice_below(&d, s->steps), s->horizon = 1 + dice_below(&d, 10);
}
