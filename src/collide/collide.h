/* collide.h -- contact points, normals and gaps of pairs of shapes, and their derivatives.
 *
 * Pairs come ordered as tribo_shape is: PLANE <= SPHERE <= BOX <= CAPSULE <= CYLINDER <= ELLIPSOID <= MESH <= HFIELD.
 * Beyond `margin` a contact is left out.
 */
#ifndef TI_COLLIDE_H
#define TI_COLLIDE_H
#include "collide/touch.h"
#include <stdbool.h>

/* Contacts of a pair, at most TI_CONTACTS_MAX. @return how many. Deterministic; never allocates. */
int ti_collide(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out);
/* How many there may be; 0 for a pair that never touches, as two planes. */
int ti_collide_most(tribo_shape a, tribo_shape b);
/* The closest points at any distance, or the least way out. @return false of two planes. */
bool ti_distance(const ti_shape *a, const ti_shape *b, ti_touch *t);
/* The contact of the core of a or of b (touch.h) and the other shape. @return false beyond the margin. */
bool ti_collide_core(const ti_shape *a, const ti_shape *b, int core, double margin, ti_touch *out);
/* The derivative of one contact, its feature held. */
void ti_collide_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac jac);
/* Its reverse: from cotangents of point, normal and gap, in (TI_COLLIDE_ROWS), to those of the two shapes, out
 * (TI_COLLIDE_COLS), overwritten. */
void ti_collide_vjp(const ti_shape *a, const ti_shape *b, const ti_touch *t, const double *in, double *out);

/* Radius of the sphere around x that holds the shape; INFINITY for a plane. */
double ti_bound_radius(const ti_shape *s);
/* Its axis-aligned box in the world, wider by `inflate` on each side; infinite for a plane. */
void ti_shape_aabb(const ti_shape *s, double inflate, ti_vec *lo, ti_vec *hi);

/* Tangents t1, t2 that make (t1, t2, n) right-handed, smooth around n = z where they are x and y. */
void ti_tangents(ti_vec n, ti_vec *t1, ti_vec *t2);
/* Their derivative: dt1 = D1 dn, dt2 = D2 dn. */
void ti_tangents_jac(ti_vec n, ti_mat *D1, ti_mat *D2);

#endif
