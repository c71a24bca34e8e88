/* rolling.h -- friction against rolling where normals hold the turn. docs/math.md eq. (474). */
#ifndef TI_ROLLING_H
#define TI_ROLLING_H
#include "contact/work/workspace.h"

/* What the normals beside each friction against rolling of a solution s hold of it, into ws->rolling, where any does.
 */
void ti_rolling_find(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s);
#endif
