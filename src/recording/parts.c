/* parts.c -- poses of which only a part was measured: some of a position's numbers, or positions and no rotation. */
#include "model/state.h"
#include "recording/questions.h"

/* How many of the three were measured in row k. */
static int seen_of(tribo_checked *c, int k, int body) {
    const double *at = ti_pose(c, c->x, k, body);
    return !isnan(at[0]) + !isnan(at[1]) + !isnan(at[2]);
}

/* A position counts where all of it is there: of one that never is nothing would be fitted, and nobody would know. */
static void check_position(tribo_checked *c, int body) {
    int whole = 0, part = 0, first = -1;
    for (int k = 0; k < c->n; k++) {
        int seen = seen_of(c, k, body);
        whole += seen == 3, part += seen == 1 || seen == 2;
        if (part && first < 0) first = k;
    }
    if (whole || !part) return;
    ti_found(c, TRIBO_CONVENTION_SCENE, TRIBO_OUTCOME_REFUSED, body, first, seen_of(c, first, body),
             "%s: %d of a position's three numbers, and in no row all: one counts where px, py and pz are there",
             tribo_model_body_name(c->m, body), seen_of(c, first, body));
}

void ti_check_parts(tribo_checked *c) {
    for (int b = 0; b < c->z.nbody; b++)
        if (c->m->body[b].free >= 0) check_position(c, b);
}

/* Was anything measured of how it is turned, or turns? */
static bool turned(tribo_checked *c, int body) {
    for (int k = 0; k < c->n; k++)
        if (!isnan(ti_pose(c, c->x, k, body)[3]) || !isnan(ti_rate(c, c->x, k, body)[3])) return true;
    return false;
}

/* Spheres about its own origin, of which nothing depends on how it is turned. */
static bool is_round(const tribo_checked *c, int body) {
    const ti_body *b = &c->m->body[body];
    bool round = true;
    for (int i = 0; i < b->ngeom; i++) {
        const ti_geom *g = &c->m->geom[c->m->body_geom[b->geom0 + i]];
        round &= g->shape == TRIBO_SPHERE && ti_norm(ti_load3(c->p + g->p + TI_P_POS)) < 1e-9 * c->extent;
    }
    return round;
}

void ti_turn_as_scene(tribo_checked *c) {
    for (int b = 0; b < c->z.nbody; b++) {
        c->unturned[b] = c->m->body[b].free >= 0 && !turned(c, b);
        c->unsure |= c->unturned[b] && !is_round(c, b);
        for (int k = 0; k < c->n && c->unturned[b]; k++)
            memcpy(ti_pose(c, c->x, k, b) + 3, c->m->x0 + c->m->body[b].q + 3, 4 * sizeof *c->x);
    }
}

void ti_turn_no_more(tribo_checked *c) {
    for (int b = 0; b < c->z.nbody; b++)
        for (int k = 0; k < c->n && c->unturned[b]; k++)
            for (int i = 3; i < TI_FREE_NQ; i++) ti_pose(c, c->x, k, b)[i] = (double)NAN;
}
