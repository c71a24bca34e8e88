/* shape.h -- the table of shapes: whatever depends on what shape a geom has, but for the contacts of a pair.
 *
 * Nobody else compares a shape with one by name: they ask its row. docs/math.md eq. (2), (142).
 */
#ifndef TI_SHAPE_H
#define TI_SHAPE_H
#include "math/vec.h"
#include "model/mesh.h"
#include <stdbool.h>
#include <tribo/model.h>

typedef struct ti_shape_row {
    const char *name; /* its `type` in MJCF */
    int nsize;        /* numbers of its size that mean something; the others are 0 */
    bool bounded;     /* else it fills what is below it: it belongs to the world and has no mass */
    bool segment;     /* longer along its z axis, in MJCF: the half length there is the last of its size */
    bool meshed;      /* it needs a mesh, or a height field */
    bool turns;       /* whether a rotation about its centre changes anything */
    bool edged;       /* whether it has edges that may be round: what a ball that rolls inside of it fills */
    double (*volume)(const ti_mesh *mesh, const double *size); /* mesh: NULL of other shapes */
    /* Moments of inertia about its centre along its own axes. */
    void (*inertia)(const ti_mesh *mesh, double mass, const double *size, double d[3]);
    double (*radius)(const ti_mesh *mesh, const double *size); /* of the ball around its centre that holds it */
    /* Half the widths of the box along the world's axes that holds it. */
    void (*halves)(const ti_mesh *mesh, const ti_mat *R, const double *size, double e[3]);
} ti_shape_row;

/* NULL if there is no such shape. */
const ti_shape_row *ti_shape_of(tribo_shape shape);
/* The row of that name, and which it is; NULL if there is none. */
const ti_shape_row *ti_shape_named(const char *name, tribo_shape *shape);
/* NULL if the size suits the shape; otherwise what is wrong. */
const char *ti_size_flaw(tribo_shape shape, const double size[3]);

/* NULL if its edges may be that round. */
const char *ti_edge_flaw(tribo_shape shape, const double size[3], double radius);

#endif
