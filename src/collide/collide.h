/* collide.h -- contact points, normals and gaps of pairs of shapes, and their derivatives.
 *
 * A geom is posed in the world by its centre x and rotation R. The normal points from geom a to geom b; the gap is
 * positive when they are apart; the point lies half way between the two surfaces. Pairs come ordered
 * PLANE <= SPHERE <= BOX. Beyond `margin` a contact is left out.
 */
#ifndef TI_COLLIDE_H
#define TI_COLLIDE_H
#include "math/vec.h"
#include <tribo/model.h>

typedef struct ti_shape {
    tribo_shape shape;
    ti_vec x;    /* centre, world */
    ti_mat R;    /* geom axes in the world, as columns */
    ti_vec size; /* radius | half extents */
} ti_shape;

enum { TI_CONTACTS_MAX = 8 }; /* of one pair */

typedef struct ti_touch {
    ti_vec point, normal; /* world */
    double gap;           /* m */
    int feature; /* what touches what, in the pair's own coding: enough for ti_collide_jac, and stable in time */
} ti_touch;

/* Contacts of a pair, at most TI_CONTACTS_MAX. @return how many. Deterministic; never allocates. */
int ti_collide(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out);

/* Derivative of one contact: rows point (3), normal (3), gap (1); columns, for a then b: world displacement of the
 * centre (3), world rotation vector (3), size (3). */
enum { TI_COLLIDE_ROWS = 7, TI_COLLIDE_COLS = 18 };
void ti_collide_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t,
                    double jac[TI_COLLIDE_ROWS][TI_COLLIDE_COLS]);

/* Radius of the sphere around x that holds the shape; INFINITY for a plane. */
double ti_bound_radius(const ti_shape *s);
/* Its axis-aligned box in the world, wider by `inflate` on each side; infinite for a plane. */
void ti_shape_aabb(const ti_shape *s, double inflate, ti_vec *lo, ti_vec *hi);

/* Tangents t1, t2 that make (t1, t2, n) right-handed, smooth around n = z where they are x and y. */
void ti_tangents(ti_vec n, ti_vec *t1, ti_vec *t2);
/* Their derivative: dt1 = D1 dn, dt2 = D2 dn. */
void ti_tangents_jac(ti_vec n, ti_mat *D1, ti_mat *D2);

#endif
