/* points.h -- the end of every way along the path of falling compliance. */
#ifndef TI_POINTS_H
#define TI_POINTS_H
#include "contact/ladder/progress.h"

/* From an iterate with its modes, near the solution at R: that solution and the answer that it leads to, in s, and at
 * smaller compliances until that is one and while it is less curved; the further points of derivatives where
 * ti_contact_options.sharp asks for them. */
void ti_ladder_finish(ti_contact_ws *ws, const ti_contact_problem *p, double R, ti_progress *g, ti_contact_solution *s);

#endif
