/* model.c -- what a model tells about itself. */
#include "model/model.h"
#include "base/base.h"
#include "model/shape.h"

void tribo_model_free(tribo_model *m) {
    if (!m) return;
    tribo_allocator a = m->alloc;
    ti_free(&a, m, m->bytes);
}

tribo_sizes tribo_model_sizes(const tribo_model *m) {
    return m ? m->size : (tribo_sizes){0};
}

tribo_law_options tribo_model_law(const tribo_model *m) {
    return m ? m->law : (tribo_law_options){0};
}
double tribo_model_timestep(const tribo_model *m) {
    return m ? m->dt : 0;
}

void tribo_model_state0(const tribo_model *m, double *x) {
    if (m && x) memcpy(x, m->x0, sizeof *x * (size_t)m->size.nx);
}

void tribo_model_params(const tribo_model *m, double *p) {
    if (m && p) memcpy(p, m->p0, sizeof *p * (size_t)m->size.np);
}

const char *tribo_model_body_name(const tribo_model *m, int body) {
    return m && body >= 0 && body < m->size.nbody ? m->body[body].name : NULL;
}

int tribo_model_body_find(const tribo_model *m, const char *name) {
    for (int i = 0; m && name && i < m->size.nbody; i++)
        if (strcmp(m->body[i].name, name) == 0) return i;
    return -1;
}

const char *tribo_model_geom_name(const tribo_model *m, int geom) {
    return m && geom >= 0 && geom < m->size.ngeom ? m->geom[geom].name : NULL;
}

int tribo_model_geom_find(const tribo_model *m, const char *name) {
    for (int i = 0; m && name && i < m->size.ngeom; i++)
        if (strcmp(m->geom[i].name, name) == 0) return i;
    return -1;
}

tribo_shape tribo_model_geom_shape(const tribo_model *m, int geom) {
    return m && geom >= 0 && geom < m->size.ngeom ? m->geom[geom].shape : TRIBO_PLANE;
}

int tribo_model_geom_body(const tribo_model *m, int geom) {
    return m && geom >= 0 && geom < m->size.ngeom ? m->geom[geom].body : TRIBO_WORLD;
}

/* Of links that have no geoms: how far their centres of mass are from their joints, and radii of gyration, twice. */
static double extent_of_links(const tribo_model *m) {
    double extent = 0;
    for (int i = 0; m && i < m->size.nbody; i++) {
        const double *own = m->p0 + m->body[i].p, *inertia = own + TI_P_INERTIA;
        double square = own[TI_P_MASS] > 0 ? (inertia[0] + inertia[1] + inertia[2]) / (2 * own[TI_P_MASS]) : 0;
        extent = fmax(extent, 2 * fmax(sqrt(square), ti_norm(ti_load3(own + TI_P_COM))));
    }
    return extent;
}

double tribo_model_extent(const tribo_model *m) {
    static const ti_mat level = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    double extent = 0;
    for (int i = 0; m && i < m->size.ngeom; i++) {
        const ti_geom *g = &m->geom[i];
        if (g->body < 0) continue;
        double half[3];
        ti_shape_of(g->shape)->halves(g->mesh, &level, m->p0 + g->p + TI_P_SIZE, half);
        for (int k = 0; k < 3; k++) extent = fmax(extent, 2 * half[k]);
    }
    return extent > 0 ? extent : extent_of_links(m);
}
