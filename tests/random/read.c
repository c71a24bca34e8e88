/* read.c -- a scene file as a random scene, through the library's reader and its parameters. */
#include "maths.h"
#include "scene.h"
#include <stdlib.h>

static void take(scene *s, const tribo_param_info *i, int *count, double value) {
    geom *g = i->geom >= 0 ? &s->g[i->geom] : NULL;
    solid *b = i->body >= 0 && !g ? &s->b[i->body] : NULL;
    int k = (*count)++;
    switch (i->kind) {
    case TRIBO_PARAM_GRAVITY:
        s->gravity[k] = value;
        break;
    case TRIBO_PARAM_MASS:
        b->mass = value;
        break;
    case TRIBO_PARAM_COM:
        b->com[k] = value;
        break;
    case TRIBO_PARAM_INERTIA:
        b->inertia[k] = value;
        break;
    case TRIBO_PARAM_SIZE:
        g->size[k] = value;
        break;
    case TRIBO_PARAM_POS:
        g->pos[k] = value;
        break;
    case TRIBO_PARAM_QUAT:
        g->quat[k] = value;
        break;
    case TRIBO_PARAM_FRICTION:
        g->friction = value;
        break;
    case TRIBO_PARAM_STICTION:
        g->stiction = value;
        break;
    case TRIBO_PARAM_RESTITUTION:
        g->restitution = value;
        break;
    case TRIBO_PARAM_BAUMGARTE:
        g->baumgarte = value;
        break;
    case TRIBO_PARAM_DAMPING: /* of joints, which these scenes do not have */
    case TRIBO_PARAM_ARMATURE:
    case TRIBO_PARAM_STIFFNESS:
    case TRIBO_PARAM_SPRINGREF:
    case TRIBO_PARAM_FRICTIONLOSS:
    case TRIBO_PARAM_RANGE:
    case TRIBO_PARAM_GEAR: /* and of actuators */
    case TRIBO_PARAM_GAIN:
    case TRIBO_PARAM_BIAS:
    case TRIBO_PARAM_CTRLRANGE:
    case TRIBO_PARAM_FORCERANGE:
    case TRIBO_PARAM_DENSITY: /* and of fluids */
    case TRIBO_PARAM_VISCOSITY:
    case TRIBO_PARAM_WIND:
        break;
    case TRIBO_PARAM_TORSION:
        g->torsion = value, s->spins = s->spins || value > 0;
        break;
    case TRIBO_PARAM_ROLLING:
        g->rolling = value, s->spins = s->spins || value > 0;
        break;
    case TRIBO_PARAM_COMPLIANCE:
        g->compliance = value, s->spins = s->spins || value > 0;
        break;
    case TRIBO_PARAM_EDGE_RADIUS:
        g->edge = value, s->rounds = s->rounds || value > 0;
        break;
    case TRIBO_PARAM_SLOP:
        g->slop = value;
        break;
    }
}

bool scene_load(scene *s, const char *path, tribo_diag *diag) {
    *s = (scene){.recovery = 1, .steps = 1, .horizon = 1, .thorough = true};
    tribo_model *m = NULL;
    if (tribo_model_load(path, NULL, &m, diag)) return false;
    tribo_sizes n = tribo_model_sizes(m);
    bool fits = n.nbody <= MAX_BODIES && n.ngeom <= MAX_GEOMS && n.npair == 0;
    double *p = calloc((size_t)n.np + 1, sizeof *p), x[NX * MAX_BODIES];
    if (fits && p) {
        s->nbody = n.nbody, s->ngeom = n.ngeom, s->dt = tribo_model_timestep(m);
        snprintf(s->story, sizeof s->story, "from a file");
        for (int i = 0; i < n.ngeom; i++)
            s->g[i].shape = tribo_model_geom_shape(m, i), s->g[i].body = tribo_model_geom_body(m, i);
        tribo_model_params(m, p);
        tribo_param_info last = {.kind = TRIBO_PARAM_SLOP, .geom = -2}, now;
        for (int i = 0, count = 0; i < n.np; i++, last = now) {
            if (tribo_param_describe(m, i, &now)) fits = false;
            if (now.kind != last.kind || now.geom != last.geom || now.body != last.body) count = 0;
            take(s, &now, &count, p[i]);
        }
        tribo_model_state0(m, x);
        scene_restart(s, x);
    }
    free(p);
    tribo_model_free(m);
    if (!fits && diag) snprintf(diag->text, sizeof diag->text, "too large, or with pairs");
    return fits;
}
