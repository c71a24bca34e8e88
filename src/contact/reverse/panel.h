/* panel.h -- tangents of the velocities alone, or their transpose, a panel of directions at once: what a Jacobian is
 * made of. */
#ifndef TI_PANEL_H
#define TI_PANEL_H
#include "contact/problem/problem.h"

enum { TI_PANEL = 24 }; /* directions, contiguous: 24 numbers a row, twelve for each of two bodies */

/* With the factors of ti_contact_factor():  M X - J' L = r,  L = -D (J X + dc). Fast of free bodies.
 *  @param r (nv,24), lost, dc (3 nc,24), lost, which is zero but at contacts of blk[0] and blk[1]
 *  @param X [out] (nv,24)
 *  @param rest scratch (nv,24) */
void ti_contact_panel(ti_contact_ws *ws, const ti_contact_problem *p, const int *blk, double *r, double *dc, double *X,
                      double *rest);

/* The transpose:  M Y - J' L = b,  L = -D' J Y.  Then b'X = Y'r + L'dc. Fast along the ways of trees.
 *  @param columns so many of the 24 are asked for, the others zero
 *  @param b (nv,24)
 *  @param Y [out] (nv,24), L [out] (3 nc,24)
 *  @param rest, given scratch (nv,24), (3 nc,24) */
void ti_contact_panel_t(ti_contact_ws *ws, const ti_contact_problem *p, int columns, const double *b, double *Y,
                        double *L, double *rest, double *given);

#endif
