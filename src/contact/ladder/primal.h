/* primal.h -- the CCP by Newton on its primal, which is convex: from anywhere. docs/math.md eq. (84)-(87). */
#ifndef TI_PRIMAL_H
#define TI_PRIMAL_H
#include "contact/work/workspace.h"

#define TI_PRIMAL_FIRST 1e-2 /* the added compliance in the first round from anywhere, in units of G_nn */
#define TI_PRIMAL_THEN 1e-4  /* in the second */

/* How rounds go: the compliance that is added at first, and at most where Newton fails, in units of G_nn; how many
 * rounds may bring nothing; and the measure. */
typedef struct ti_primal_manner {
    double first, most;
    int idle;
    double (*left)(ti_contact_ws *ws, const ti_contact_problem *p, double tol);
} ti_primal_manner;

/* Rounds until at most tol is left. The best goes to ws->lb and ws->vb; whether there is one. */
bool ti_primal_rounds(ti_contact_ws *ws, const ti_contact_problem *p, double tol, const ti_primal_manner *m);
/* The CCP of any problem, joints and rebounds included, from the iterate, to a relative residual of tol or as near as
 * it gets; `near`: the iterate is about the answer. False where that is nowhere. */
bool ti_primal_held(ti_contact_ws *ws, const ti_contact_problem *p, double tol, bool near);

#endif
