/* exempt.h -- constraints whose derivative is not that of their mode alone. */
#ifndef TI_EXEMPT_H
#define TI_EXEMPT_H
#include "contact/work/workspace.h"

enum {
    TI_RESTS = 1, /* it rests without friction: nothing depends on mu */
    TI_YIELDS     /* of dry friction and what holds its joint besides, the one whose impulse stays, eq. (471) */
};

/* Which they are, in ws->exempt, of a solution s: modes and the extrapolated impulses. */
void ti_contact_exempt(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s);
#endif
