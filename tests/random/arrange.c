/* arrange.c -- places for bodies: scattered and about to touch, touching, stacked, in a row, wedged, in a corner. */
#include "arrange.h"

void arrangement_choose(dice *d, arrangement *a, scene *s) {
    static const char *const names[LAYOUTS] = {"scattered", "touching", "stacked", "row", "wedged", "cornered"};
    *a = (arrangement){.layout = (layout)dice_below(d, LAYOUTS), .floor = true, .room = dice_between(d, 2, 4)};
    a->bodies = dice_chance(d, 0.3) ? 1 + dice_below(d, 3) : 1 + dice_below(d, MAX_BODIES);
    a->speed = dice_chance(d, 0.2) ? 0 : dice_decades(d, -1.5, 0.7);
    a->rest = dice_between(d, 0, 1);
    a->forced = dice_chance(d, 0.6) ? 0 : dice_between(d, 0, 1);
    a->weightless = dice_chance(d, 0.15);
    if (a->layout == SCATTERED || a->layout == TOUCHING) {
        a->walls = dice_chance(d, 0.4) ? 1 + dice_below(d, 4) : 0;
        a->floor = !a->weightless || dice_chance(d, 0.5);
        a->fast_spin = dice_chance(d, 0.1);
    } else {
        a->plain = true;
        a->boxes = a->layout != ROW || dice_chance(d, 0.5);
        a->rest = dice_chance(d, 0.5) ? 1 : a->rest;
    }
    if (a->layout == WEDGED || a->layout == CORNERED) a->bodies = 1 + dice_below(d, 4), a->boxes = dice_chance(d, 0.5);
    if (a->layout == CORNERED) a->walls = 1 + dice_below(d, 4), a->room = 1;
    snprintf(s->story, sizeof s->story, "%s%s%s", names[a->layout], a->weightless ? ", weightless" : "",
             a->fast_spin ? ", spinning fast" : "");
}

/* The least separation of a body from the world and the bodies before it. */
static double clearance(const scene *s, int body) {
    double least = HUGE_VAL;
    posed a, b;
    for (int i = 0; i < s->ngeom; i++) {
        if (s->g[i].body != body) continue;
        geom_pose(&s->g[i], NULL, s, &a);
        for (int j = 0; j < s->ngeom; j++) {
            if (s->g[j].body >= body) continue;
            geom_pose(&s->g[j], NULL, s, &b);
            least = smaller(least, separation(&a, &b));
        }
    }
    return least;
}

static void remove_last(scene *s) {
    int body = --s->nbody;
    while (s->ngeom > 0 && s->g[s->ngeom - 1].body == body) s->ngeom--;
}

/* Let a body go down along a direction until it is `gap` from something; false if nothing is there. */
static bool approach(scene *s, int body, const double down[3], double far, double gap) {
    double low = 0, high = far, start[3];
    copy3(start, s->b[body].pos);
    add_scaled(s->b[body].pos, start, high, down);
    if (clearance(s, body) > gap) return copy3(s->b[body].pos, start), false;
    for (int i = 0; i < 80; i++) {
        double middle = (low + high) / 2;
        add_scaled(s->b[body].pos, start, middle, down);
        if (clearance(s, body) >= gap)
            low = middle;
        else
            high = middle;
    }
    add_scaled(s->b[body].pos, start, low, down);
    return true;
}

/* Anywhere above the floor and between the walls, apart from the others; then near, touching, or where it is. */
static bool scatter(dice *d, const arrangement *a, scene *s, int body, double size) {
    for (int attempt = 0; attempt < 40; attempt++) {
        solid *b = &s->b[body];
        double spread = size * (a->walls ? a->room : 1.2 * pow(s->nbody, 0.4));
        for (int i = 0; i < 3; i++) b->pos[i] = dice_between(d, -spread, spread);
        if (a->floor) b->pos[2] = dice_between(d, 0, 3 * size + size * 0.3 * attempt);
        dice_quat(d, b->quat);
        if (dice_chance(d, 0.3)) b->quat[0] = 1, b->quat[1] = b->quat[2] = b->quat[3] = 0;
        if (!(clearance(s, body) > 1e-6 * size)) continue;
        double down[3] = {0, 0, -1}, gap = dice_chance(d, 0.5) ? a->step * dice_decades(d, -2, 1.3) : 0;
        if (!a->floor) dice_vector(d, down, 1);
        if (a->layout == TOUCHING || dice_chance(d, 0.7)) approach(s, body, down, 20 * size, gap);
        return true;
    }
    return false;
}

/* Exactly on top of the one before, level, a little beside its middle; the first on the floor. */
static void stack(dice *d, scene *s, int body) {
    const geom *mine = &s->g[s->ngeom - s->nbody + body];
    solid *b = &s->b[body];
    double half = geom_height(mine);
    b->pos[2] = half;
    if (body == 0) return;
    const geom *below = mine - 1;
    const solid *under = b - 1;
    b->pos[2] = under->pos[2] + geom_height(below) + half;
    double room = dice_chance(d, 0.4) ? 0 : 0.5;
    for (int i = 0; i < 2; i++) b->pos[i] = under->pos[i] + room * below->size[i] * dice_between(d, -1, 1);
    double turn[3] = {0, 0, dice_chance(d, 0.4) ? dice_between(d, -3, 3) : 0};
    if (mine->shape != TRIBO_SPHERE) quat_exp(b->quat, turn);
}

/* On the floor beside the one before, touching it or nearly. */
static void line_up(dice *d, const arrangement *a, scene *s, int body) {
    const geom *mine = &s->g[s->ngeom - s->nbody + body];
    solid *b = &s->b[body];
    b->pos[2] = geom_height(mine);
    if (body == 0) return;
    double gap = dice_chance(d, 0.5) ? 0 : a->step * dice_decades(d, -2, 1);
    b->pos[0] = (b - 1)->pos[0] + (mine - 1)->size[0] + mine->size[0] + gap;
}

/* Between two walls that overlap it by a little, or hold it exactly. */
static void wedge(dice *d, scene *s, int first, double size) {
    const double squeeze = dice_chance(d, 0.3) ? 0 : size * dice_decades(d, -6, -2);
    const geom *left = &s->g[first], *right = &s->g[s->ngeom - 1];
    const solid *a = &s->b[0], *b = &s->b[s->nbody - 1];
    double low = a->pos[0] - left->size[0], high = b->pos[0] + right->size[0], tilt[3] = {0, 0, 0};
    for (int side = 0; side < 2 && s->ngeom < MAX_GEOMS; side++) {
        geom *g = &s->g[s->ngeom++];
        *g = (geom){.body = TRIBO_WORLD, .shape = TRIBO_BOX, .size = {size, 6 * size, 6 * size}, .quat = {1}};
        g->friction = dice_between(d, 0, 1.5), g->baumgarte = 1;
        g->restitution = dice_chance(d, 0.5) ? 0 : dice_between(d, 0, 1);
        g->pos[0] = side ? high + size - squeeze / 2 : low - size + squeeze / 2;
        tilt[1] = dice_chance(d, 0.3) ? dice_between(d, 0, 0.05) * (side ? 1 : -1) : 0;
        quat_exp(g->quat, tilt);
    }
}

void arrange(dice *d, const arrangement *a, scene *s, double size) {
    int wanted = s->nbody, geoms = s->ngeom, first = geoms - wanted;
    if (a->layout == SCATTERED || a->layout == TOUCHING || a->layout == CORNERED) {
        for (int i = 0; i < wanted; i++)
            if (!scatter(d, a, s, i, size)) {
                while (s->nbody > larger(i, 1)) remove_last(s);
                if (i == 0) s->b[0].pos[2] = 20 * size;
                return;
            }
        return;
    }
    for (int i = 0; i < wanted; i++)
        if (a->layout == STACKED)
            stack(d, s, i);
        else
            line_up(d, a, s, i);
    if (a->layout == WEDGED) wedge(d, s, first, size);
}
