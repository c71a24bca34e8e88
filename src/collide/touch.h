/* touch.h -- a geom in the world, and a contact of two of them.
 *
 * The normal points from geom a to geom b; the gap is positive when they are apart; the point lies half way between the
 * two surfaces.
 */
#ifndef TI_TOUCH_H
#define TI_TOUCH_H
#include "math/vec.h"
#include <tribo/model.h>

typedef struct ti_shape {
    tribo_shape shape;
    ti_vec x;    /* centre, world */
    ti_mat R;    /* geom axes in the world, as columns */
    ti_vec size; /* radius | half extents | radius, half length | semi-axes | scales | of a height field */
    const struct ti_mesh *mesh; /* or height field; NULL of other shapes */
    double edge;                /* radius of its edges; 0: they are sharp */
} ti_shape;

enum { TI_CONTACTS_MAX = 8 }; /* of one pair */

/* Of which of the two shapes it is the core that touches: core.c. */
typedef enum ti_core { TI_CORE_NONE, TI_CORE_A, TI_CORE_B } ti_core;
/* The ball about the centre of a shape, half as wide as that is thin; 0: it has none. */
double ti_core_radius(const ti_shape *s);

typedef struct ti_touch {
    ti_vec point, normal; /* world */
    double gap;           /* m */
    int64_t feature; /* what touches what, in the pair's own coding: enough for ti_collide_jac, and stable in time */
    int core;        /* ti_core */
} ti_touch;

/* The derivative of a contact: rows point (3), normal (3), gap (1); columns, for a then b: world displacement of the
 * centre (3), world rotation vector (3), size (3), edge radius. */
enum { TI_COLLIDE_ROWS = 7, TI_SHAPE_COLS = 10, TI_COLLIDE_COLS = 2 * TI_SHAPE_COLS };
typedef double ti_touch_jac[TI_COLLIDE_ROWS][TI_COLLIDE_COLS];

#endif
