/* recall.h -- what a step found of its trees with joints before contact, kept with its record, so that its derivatives
 * need not find it again: where links and axes are, inertias and their factor, free velocities. By what is kept the
 * bits are those of the step.
 */
#ifndef TI_RECALL_H
#define TI_RECALL_H
#include "dynamics/moving.h"

/* How many numbers are kept, and these, of what is loaded. */
size_t ti_recall_size(const tribo_model *model);
void ti_recall_keep(const ti_motion *m, double *known);
/* Tree t as ti_tree_load() and ti_tree_free() left it, but for what its links do, which only those who look for
 * contacts ask for, and fluids. known: of this tree, as ti_recall_keep() has them one after the other. @return of the
 * next */
const double *ti_tree_recall(ti_motion *m, int t, const double *p, const double *q, const double *v, const double *u,
                             const double *known);

#endif
