/* mesh.h -- a mesh as a model keeps it: its convex hull in its inertia frame, and what it weighs. docs/math.md,
 * "Meshes".
 */
#ifndef TI_MESH_H
#define TI_MESH_H
#include "base/base.h"
#include "model/hull.h"
#include <tribo/model.h>

enum { TI_TRIANGLES_LIMIT = 1000000, TI_POINTS_LIMIT = 3000000 };
enum { TI_FIELD_LIMIT = 131072 }; /* triangles of a height field: a feature has 17 bits for them */

typedef struct ti_mesh {
    ti_hull hull;  /* in the inertia frame */
    double volume; /* m^3; of a shell its area, m^2 */
    bool shell;
    double second[3];       /* m^2: means of the squares of the coordinates, along its axes */
    double radius;          /* of the ball around the origin that holds it */
    double pos[3], quat[4]; /* of that frame in the mesh's own */
    size_t bytes;           /* of the block that it is in, where it is alone in one */
    /* Of a height field, which has none of the above but the last two; nrow = 0 of others. */
    int nrow, ncol;
    const double *height; /* (nrow,ncol) rows along x, the first at the lowest y; in units of size z */
    double base, highest; /* m: how far the box around it goes below 0; the largest |height| */
} ti_mesh;

/* Look at a mesh's vertices and triangles. *made is one block, to be released with ti_mesh_free().
 * @return TRIBO_OK; TRIBO_E_NOMEM; TRIBO_E_ARG with what is wrong in `flaw`. */
tribo_status ti_mesh_new(const tribo_mesh_def *d, const tribo_allocator *a, ti_mesh **made, char *flaw, size_t room);
void ti_mesh_free(const tribo_allocator *a, ti_mesh *m);
/* Lay out a copy in the arena, `to` there; a counting arena measures it. */
void ti_mesh_copy(ti_arena *at, const ti_mesh *from, ti_mesh *to);

/* From the pose of a mesh's vertices to that of its inertia frame, and back. */
void ti_mesh_place(const ti_mesh *m, double pos[3], double quat[4]);
void ti_mesh_unplace(const ti_mesh *m, double pos[3], double quat[4]);

/* ---- hfield.c ---- */
tribo_status ti_field_new(const tribo_hfield_def *d, const tribo_allocator *a, ti_mesh **made, char *flaw, size_t room);
void ti_field_copy(ti_arena *at, const ti_mesh *from, ti_mesh *to);

/* ---- hull_make.c ---- */
/* The convex hull of n points, all of it or, with `most` above 0, of so many of them. Its arrays are in one block of
 * *bytes at *block. @return as ti_mesh_new(). */
tribo_status ti_hull_make(const double *points, int n, int most, const tribo_allocator *a, ti_hull *hull, void **block,
                          size_t *bytes, char *flaw, size_t room);
/* Lay out the arrays of a hull of these numbers, `nsides` sides of all faces. */
void ti_hull_carve(ti_arena *at, ti_hull *hull, int nsides);

#endif
