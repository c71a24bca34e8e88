/* doubled.h -- the linearised contact problem with twice the digits: for solutions whose impulses cancel, from which
 * plain refinement, whose residual is as inexact as they are large, cannot gain. docs/math.md eq. (60b).
 */
#ifndef TI_DOUBLED_H
#define TI_DOUBLED_H
#include "contact/work/workspace.h"

/* One linear problem K x = b - J'E d + J'o, l = o - E (J x + d), with E = D, or D' and K' if transposed. */
typedef struct ti_doubled {
    bool transposed;
    const double *b, *d, *o; /* (nv), (3 nc), (3 nc) or NULL = 0 */
    double *x, *l;           /* (nv), (3 nc): a start, and the solution */
    double *c;               /* (3 nc) J x + d; NULL = not asked for */
} ti_doubled;

/* c (3 nc) = J x + d, rounded once: of what holds it is what compliance gives way, and impulses are that over the
 * compliance. docs/math.md eq. (482). */
void ti_doubled_slips(const ti_contact_problem *p, const double *x, const double *d, double *c);
/* Whether (x, l) lacks digits for a reason that twice of them mend. */
bool ti_doubled_needed(const ti_contact_ws *ws, const ti_contact_problem *p, const ti_doubled *q);
/* Refine q->x, q->l with the present factors; returns the relative size of the correction that one more pass would
 * make, in the norm of the energy. Where that is above 1e-16 the factors are too poor, and x, l, c as they were. */
double ti_doubled_refine(ti_contact_ws *ws, const ti_contact_problem *p, const ti_doubled *q);
#endif
