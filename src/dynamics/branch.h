/* branch.h -- the inertia of a tree along the ways to its root, where alone it has entries: M = L'DL has no others.
 * Arrays (w) and matrices (w,w) of one tree; dof are its own, of which the first is number v0 of the model.
 * docs/math.md eq. (333).
 */
#ifndef TI_BRANCH_H
#define TI_BRANCH_H
#include "model/model.h"

enum { TI_BRANCH_COLUMNS = 24 }; /* as many as a panel has */

/* out = M in; Y (w,TI_BRANCH_COLUMNS) = M X, of the first columns as many as are asked for, at least */
void ti_branch_times(const ti_dof *dof, int v0, int w, const double *M, const double *in, double *out);
void ti_branch_times_many(const ti_dof *dof, int v0, int w, const double *M, int asked, const double *X, double *Y);
/* L, with D on its diagonal, each row from the root on without gaps; false where M is not definite. */
bool ti_branch_factor(const ti_dof *dof, int v0, int w, const double *M, double *L);
/* x := M^-1 x */
void ti_branch_solve(const ti_dof *dof, int v0, int w, const double *L, double *x);
/* X (w,m) := M^-1 X, to the same bits */
void ti_branch_solve_many(const ti_dof *dof, int v0, int w, const double *L, int m, double *X);

/* The same of a K that has entries where M has them, but is not symmetric, in place; false where a pivot is small
 * beside what stands in its row and column, as no rows are exchanged. X (w,m) := K^-1 X; X (w,TI_BRANCH_COLUMNS) :=
 * K^-T X, of the first columns as many as are asked for, at least. */
bool ti_branch_lu(const ti_dof *dof, int v0, int w, double *K);
void ti_branch_lu_solve(const ti_dof *dof, int v0, int w, const double *LU, int m, double *X);
void ti_branch_lu_solve_t(const ti_dof *dof, int v0, int w, const double *LU, int asked, double *X);

#endif
