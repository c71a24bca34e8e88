/* kept.h -- the factors of several points at once.
 *
 * The rows of a Jacobian go through the same points one after the other: the first factors each of them, in memory of
 * its own, and the others find it there by ti_contact_factor_kept(). */
#ifndef TI_KEPT_H
#define TI_KEPT_H
#include "contact/work/workspace.h"

void ti_kept_carve(ti_arena *m, const ti_contact_size *most, ti_contact_ws *ws);

#endif
