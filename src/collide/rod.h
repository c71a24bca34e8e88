/* rod.h -- two segments with balls around their points: what capsules, spheres, edges and corners have in common.
 *
 * A sphere is a rod of no length, an edge of a box one of no radius, a corner one of neither. docs/math.md, "Capsules".
 */
#ifndef TI_ROD_H
#define TI_ROD_H
#include "collide/touch.h"
#include <stdbool.h>

typedef struct ti_rod {
    ti_vec x, a; /* middle; unit direction, 0 where the length is */
    double l, r; /* half length, radius */
} ti_rod;

/* Where on a rod a contact is: an end, or inside, where it is the nearest point to the other's. A feature of two rods
 * is the place on the first, and that on the second two bits up; then whether the points coincide. */
enum { TI_ROD_BACK, TI_ROD_FRONT, TI_ROD_INSIDE, TI_ROD_ONE_POINT = 1 << 4 };
static inline int ti_rod_feature(int on_a, int on_b) {
    return on_a | on_b << 2;
}

/* How far along the other rod, from its middle, the nearest point to x is. */
static inline double ti_rod_foot(const ti_rod *rod, ti_vec x) {
    return ti_dot(rod->a, ti_sub(x, rod->x));
}
static inline ti_vec ti_rod_point(const ti_rod *rod, double s) {
    return ti_axpy(rod->x, s, rod->a);
}
static inline double ti_rod_end(const ti_rod *rod, int end) {
    return end == TI_ROD_FRONT ? rod->l : -rod->l;
}

/* Where two rods come closest as endless lines, along each. @return false if they are parallel, to 1e-5. */
bool ti_rod_cross(const ti_rod *a, const ti_rod *b, double *s, double *t);
/* The contact of that feature, without a look at margins. Insides that cross have the common perpendicular as normal;
 * `towards` says which of its directions leads from a to b, 0 = the one from point to point. */
ti_touch ti_rod_touch(const ti_rod *a, const ti_rod *b, int feature, ti_vec towards);
/* Its tangent: from da, db, each a rod's, to what changes in the contact. The direction's is a turn, at right angles
 * to it. */
void ti_rod_touch_jvp(const ti_rod *a, const ti_rod *b, const ti_touch *t, int feature, const ti_rod *da,
                      const ti_rod *db, ti_touch *dot);

#endif
