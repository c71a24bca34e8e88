/* hfield.c -- height fields: kept beside the meshes, without a hull. docs/math.md, "Height fields". */
#include "model/mesh.h"
#include <math.h>
#include <stdio.h>

void ti_field_copy(ti_arena *at, const ti_mesh *from, ti_mesh *to) {
    double *height;
    size_t n = (size_t)from->nrow * (size_t)from->ncol;
    TI_CARVE(at, height, n);
    if (!at->base) return;
    memcpy(height, from->height, n * sizeof *height);
    *to = *from;
    to->height = height;
}

static const char *flaw_of(const tribo_hfield_def *d, char *text, size_t room) {
    if (d->nrow < 2 || d->ncol < 2) return "two rows and two columns or more expected";
    if (d->nrow > TI_FIELD_LIMIT || d->ncol > TI_FIELD_LIMIT ||
        2 * (int64_t)(d->nrow - 1) * (d->ncol - 1) > TI_FIELD_LIMIT) {
        snprintf(text, room, "more than %d triangles", TI_FIELD_LIMIT);
        return text;
    }
    if (!d->height) return "heights are missing";
    if (!(d->base > 0 && isfinite(d->base))) return "base must be > 0";
    for (int i = 0; i < d->nrow * d->ncol; i++)
        if (!(fabs(d->height[i]) < 1e30)) {
            snprintf(text, room, "height %d of row %d is not finite", i % d->ncol, i / d->ncol);
            return text;
        }
    return NULL;
}

tribo_status ti_field_new(const tribo_hfield_def *d, const tribo_allocator *a, ti_mesh **made, char *flaw,
                          size_t room) {
    const char *what = flaw_of(d, flaw, room);
    if (what && what != flaw) snprintf(flaw, room, "%s", what);
    if (what) return TRIBO_E_ARG;
    ti_mesh m = {.nrow = d->nrow, .ncol = d->ncol, .height = d->height, .base = d->base, .quat = {1, 0, 0, 0}};
    for (int i = 0; i < d->nrow * d->ncol; i++) m.highest = fmax(m.highest, fabs(d->height[i]));
    ti_arena at = {0};
    ti_mesh *out;
    TI_CARVE(&at, out, 1);
    ti_field_copy(&at, &m, NULL);
    if (!ti_arena_take(&at, a)) return TRIBO_E_NOMEM;
    TI_CARVE(&at, out, 1);
    ti_field_copy(&at, &m, out);
    out->bytes = at.used;
    *made = out;
    return TRIBO_OK;
}
