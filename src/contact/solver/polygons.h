/* polygons.h -- min 1/2 t'Gt + q't with every pair t_i in r_i P, a regular polygon: the friction problem of staggered
 * projections with a pyramid.
 *
 * Newton's method on the parts of the polygons that the pairs are on, with a small proximal term at the start, so that
 * of several solutions it is the one nearby; alternating directions where that goes in circles. docs/math.md eq. (47),
 * (90).
 */
#ifndef TI_POLYGONS_H
#define TI_POLYGONS_H
#include "contact/law/law.h"
#include "contact/solver/admm.h"

typedef struct ti_polygons {
    const ti_pyramid *pyramid;
    int nc;
    double *S, *unit;            /* (2 nc,2 nc) U G U, (nc) U: the diagonal is about 1 */
    double *q, *r;               /* (2 nc), (nc) in those units */
    double *t, *c, *anchor;      /* (2 nc) */
    double *K, *x, *dir;         /* (m, ti_ld(m)), (m), (m,2): the pairs are base + dir x */
    int *pair;                   /* (m) */
    unsigned char *part, *known; /* (nc) */
    ti_admm admm;
} ti_polygons;

void ti_polygons_carve(ti_arena *m, int nc, ti_polygons *s);
/* Scale; G (2 nc,2 nc). */
void ti_polygons_pose(ti_polygons *s, const ti_pyramid *y, int nc, const double *G);
/* From t to a solution. False if there was none to 1e-9. */
bool ti_polygons_solve(ti_polygons *s, const double *q, const double *r, double *t);

#endif
