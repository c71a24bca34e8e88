/* panel.h -- forward tangents of the velocities alone, a panel of directions at once: what a Jacobian is made of. */
#ifndef TI_PANEL_H
#define TI_PANEL_H
#include "contact/problem/problem.h"

enum { TI_PANEL = 24 }; /* directions, contiguous: 24 numbers a row, twelve for each of two bodies */

/* With the factors of ti_contact_factor():  M X - J' L = r,  L = -D (J X + dc).
 *  @param r (nv,24), dc (3 nc,24), which is zero but at contacts of blk[0] and blk[1]; blk NULL: of any; dc NULL: 0
 *  @param columns so many of the 24 are asked for, the others zero
 *  @param X [out] (nv,24)
 *  @param rest scratch (nv,24) */
void ti_contact_panel(ti_contact_ws *ws, const ti_contact_problem *p, const int *blk, int columns, const double *r,
                      const double *dc, double *X, double *rest);

#endif
