/* pressing.c -- contact forces that were measured, against what a contact can do. */
#include "math/vec.h"
#include "recording/questions.h"

/* What a plane that stands still would have to pull with, over what it is pushed with. */
static void check_plane(tribo_checked *c, int geom) {
    const ti_geom *g = &c->m->geom[geom];
    ti_mat R = ti_quat_mat(c->p + g->p + TI_P_QUAT);
    double pushed = 0, pulled = 0;
    for (size_t k = 1; k < (size_t)c->n; k++) {
        double along = ti_dot(ti_col(&R, 2), ti_load3(c->force + k * ti_forces(c) + 3 * (size_t)geom));
        if (along < 0) pushed -= along;
        if (along > 0) pulled += along;
    }
    if (pulled <= 2 * pushed) return;
    ti_found(c, TRIBO_CONVENTION_FORCE, TRIBO_OUTCOME_REFUSED, -1, -1, pulled / c->n,
             "%s: its forces pull at what touches it: they are those on what stands on it, or along other axes; of a "
             "recording they are on %s, in the world",
             g->name, g->name);
}

void ti_check_forces(tribo_checked *c) {
    for (int i = 0; i < c->z.ngeom && c->force; i++)
        if (c->m->geom[i].shape == TRIBO_PLANE && c->m->geom[i].body == TRIBO_WORLD) check_plane(c, i);
}
