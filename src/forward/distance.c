/* distance.c -- how far two geoms are apart. */
#include "collide/collide.h"
#include "forward/frame.h"

tribo_status tribo_geom_distance(tribo_ws *ws, const double *p, const double *x, int geom_a, int geom_b,
                                 tribo_distance *out) {
    if (!ws || !p || !x || !out) return TRIBO_E_ARG;
    const tribo_sizes *size = &ws->model->size;
    if (geom_a < 0 || geom_b < 0 || geom_a >= size->ngeom || geom_b >= size->ngeom) return TRIBO_E_ARG;
    tribo_status s = ti_step_admit(ws, p, x, NULL);
    if (s != TRIBO_OK) return s;
    ws->info = (tribo_step_info){.margin = (double)INFINITY, .canonical = true}; /* the last step's views are gone */
    memcpy(ws->frame.x, x, sizeof(double) * (size_t)size->nx);
    memset(ws->frame.u, 0, sizeof(double) * (size_t)size->nu);
    s = ti_step_kinematics(ws, p, ws->frame.x, ws->frame.u, NULL);
    if (s < 0) return s;
    ti_step_shapes(ws, p);
    ti_touch t;
    if (!ti_distance(&ws->shape[geom_a], &ws->shape[geom_b], &t)) return TRIBO_E_ARG;
    out->distance = t.gap;
    ti_store3(out->normal, t.normal);
    ti_store3(out->point[0], ti_axpy(t.point, -0.5 * t.gap, t.normal));
    ti_store3(out->point[1], ti_axpy(t.point, 0.5 * t.gap, t.normal));
    return TRIBO_OK;
}
