/* panel.h -- the transpose of tangents of the velocities alone, a panel of directions at once: what the rows of a
 * Jacobian are made of. */
#ifndef TI_PANEL_H
#define TI_PANEL_H
#include "contact/problem/problem.h"

enum { TI_PANEL = 24 }; /* directions, contiguous: 24 numbers a row */

/* With the factors of ti_contact_factor():  M Y - J' L = b,  L = -D' J Y.  Then b'X = Y'r + L'dc of tangents X, which
 * are of  M X - J' L = r,  L = -D (J X + dc). Fast of free bodies and along the ways of trees.
 *  @param columns so many of the 24 are asked for, the others zero
 *  @param b (nv,24)
 *  @param Y [out] (nv,24), L [out] (3 nc,24)
 *  @param rest, given scratch (nv,24), (3 nc,24) */
void ti_contact_panel_t(ti_contact_ws *ws, const ti_contact_problem *p, int columns, const double *b, double *Y,
                        double *L, double *rest, double *given);

#endif
