/* free_jac.h -- how the velocity that the forces of a step give a tree changes with its displacements, velocities and
 * forces: docs/math.md eq. (167). Every tree counts, one of a single free body too. */
#ifndef TI_FREE_JAC_H
#define TI_FREE_JAC_H
#include "dynamics/tree_jac.h"

/* What all columns share: axes and velocities of single bodies too, C, and the free velocity's derivatives to
 * displacements, velocities and forces of the tree; whole false: the first two times K, and none by forces. @return
 * false where that is singular. */
bool ti_tree_jac_load(ti_motion *m, int t, const double *p, double dt, bool whole, ti_tree_jac *j);
/* X (w,TI_BRANCH_COLUMNS) = K^-T M Y, of what was loaded, of the first columns as many as are asked for, at least; work
 * (w) is lost. */
void ti_tree_jac_back(const ti_motion *m, int t, const ti_tree_jac *j, int asked, const double *Y, double *X,
                      double *work);

#endif
