/* off_path.h -- solutions of a contact problem that no path of falling compliance leads to. docs/math.md, "The ladder".
 */
#ifndef TI_OFF_PATH_H
#define TI_OFF_PATH_H
#include "contact/ladder/progress.h"

/* Ways to go through the interior, from fast to careful, each with all contacts in one unit and with each in its own.
 */
extern const ti_interior_settings ti_ladder_settings[6];
/* Proximal iterations from the iterate: each solves a compliant problem anchored at the impulses of the one before, and
 * they converge to a hard solution without a small compliance. The proximal term, `first` times r0 to begin with, grows
 * where Newton fails and shrinks where the residual falls slowly. They give up after about `worth` factorizations. */
void ti_ladder_proximal(ti_contact_ws *ws, const ti_contact_problem *p, double first, int worth, ti_progress *g,
                        ti_contact_solution *s);
/* Where no path leads to the canonical solution: proximal iterations from where the interior point without compliance
 * ends, and from nothing; and rounds with the speeds of slip held. */
void ti_ladder_leave_path(ti_contact_ws *ws, const ti_contact_problem *p, ti_progress *g, ti_contact_solution *s);
/* From the impulses of the last step, in ws->z, where no path led to a canonical solution then either. */
void ti_ladder_go_on(ti_contact_ws *ws, const ti_contact_problem *p, ti_progress *g, ti_contact_solution *s);
/* An answer that is not canonical, or the best there is, is where some iteration stopped: give it the velocity of its
 * impulses, if the law holds as well then. */
void ti_ladder_balance(ti_contact_ws *ws, const ti_contact_problem *p, ti_progress *g, ti_contact_solution *s);

#endif
