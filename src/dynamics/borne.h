/* borne.h -- weights that the actuators of a joint carry, within what these may do to it together: docs/math.md eq.
 * (492). */
#ifndef TI_BORNE_H
#define TI_BORNE_H
#include "dynamics/moving.h"

/* The actuators' forces m->driven, carried weights within, cut off at the joints' ranges, where links and axes are. A
 * weight is carried by gravcomp all the same: of what is cut off with it the forces are less that. */
void ti_borne_cut(ti_motion *m, const double *p);
/* Reverse of that part, which is on no control: from cotangents y of the forces (of the whole model) to axes and links
 * of the tree, and to gravity. */
void ti_borne_vjp(const ti_motion *m, const ti_tree *tree, ti_vec gravity, const double *y, ti_motion_bar *bar,
                  ti_vec *gravity_bar);
/* Whether some joint is cut off with a weight that it carries. */
bool ti_borne_shed(const ti_motion *m);

#endif
