/* panel.h -- forward tangents of the velocities alone, a panel of directions at once: what a Jacobian is made of. */
#ifndef TI_PANEL_H
#define TI_PANEL_H
#include "contact/ncp.h"

enum { TI_PANEL = 12 }; /* directions, contiguous: a column of twelve numbers a row */

/* With the factors of ti_ncp_factor():  M X - J' L = r,  L = -D (J X + dc).
 *  @param r (nv,12), dc (3 nc,12), zero but at contacts of block blk
 *  @param X [out] (nv,12)
 *  @param rest scratch (nv,12) */
void ti_ncp_panel(ti_ncp_ws *ws, const ti_ncp_problem *p, int blk, const double *r, const double *dc, double *X,
                  double *rest);

#endif
