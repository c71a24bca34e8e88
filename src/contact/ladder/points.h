/* points.h -- the end of every way along the path of falling compliance. */
#ifndef TI_POINTS_H
#define TI_POINTS_H
#include "contact/ladder/progress.h"

/* From an iterate with its modes, near the solution at R: that solution and the answer that it leads to, in s, and at
 * smaller compliances until that is one and while it is less curved; the further points of derivatives where
 * ti_contact_options.sharp asks for them. */
void ti_ladder_finish(ti_contact_ws *ws, const ti_contact_problem *p, double R, ti_progress *g, ti_contact_solution *s);
/* From the point of the path that was met and led to no answer: contacts that hold may be asked for what goes together
 * but for rounding, or for the square of a tilt, and the limit has to let them slip by that. Where the modes of the
 * point ask for it within the tolerance, that is the answer; what slides as slowly as R makes it keeps its course. In
 * s; whether there is one. docs/math.md eq. (485). */
bool ti_ladder_keep_course(ti_contact_ws *ws, const ti_contact_problem *p, ti_progress *g, ti_contact_solution *s);

#endif
