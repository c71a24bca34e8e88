/* interior.h -- what the interior point and the following of its central path share. docs/math.md, "Interior point". */
#ifndef TI_INTERIOR_H
#define TI_INTERIOR_H
#include "contact/ladder/cone.h"

#define TI_SLIP_SHARE 1e-4 /* of the square of the gap, by which the speed of slip is smoothed: math.md eq. (44) */

/* From x = w = 1 with momentum balanced; `local` as in ti_interior_settings. False where that cannot be. */
bool ti_interior_begin(ti_contact_ws *ws, const ti_contact_problem *p, double R, bool local);
/* Linearise at this gap, the square of the slip smoothed by `share` of its square, and factor. */
bool ti_interior_factor(ti_contact_ws *ws, const ti_contact_problem *p, double gap, double share);
/* The direction towards x o w = centre, into every cone's d and ws->dv, with the second-order term of the direction in
 * a if corrected. */
void ti_interior_direction(ti_contact_ws *ws, const ti_contact_problem *p, double centre, bool corrected);
/* How far the iterate may go along its direction. */
double ti_interior_longest(const ti_contact_ws *ws, const ti_contact_problem *p);
/* Go a share of the direction, the velocity along dv. */
void ti_interior_move(ti_contact_ws *ws, const ti_contact_problem *p, double share, const double *dv);
/* The iterate into ws->v and ws->lambda. */
void ti_interior_end(ti_contact_ws *ws, const ti_contact_problem *p);

#endif
