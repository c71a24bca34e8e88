/* few.h -- the midpoint of trees of a few hinges and slides, ti_tree.few: docs/math.md eq. (154), (536). */
#ifndef TI_FEW_H
#define TI_FEW_H
#include "dynamics/moving.h"

/* m->few, m->free and m->middle from m->now, m->given, and the composites and M of where the tree is.
 * @return false where corrections do not shrink, as of a step in which links turn by a radian. */
bool ti_few_midpoint(ti_motion *m, const ti_tree *tree, ti_vec gravity, double dt);
/* y, the tree's own numbers, := K'^-1 y at m->middle, by m->few. @return false where K has no factor. */
bool ti_few_midpoint_vjp(const ti_motion *m, const ti_tree *tree, double dt, double *y);

#endif
