/* sited.h -- what pulls at a site: its arms on the numbers of v that move the site. docs/math.md eq. (336), (337). */
#ifndef TI_SITED_H
#define TI_SITED_H
#include "dynamics/moving.h"

/* m->arm of actuator i, which pulls at a site, where links and joints' axes are. */
void ti_sited_arms(ti_motion *m, int i, const double *p);
/* Reverse, from cotangents of its arms, arm_bar (npull), to q (dq) and p (NULL = skip). */
void ti_sited_arms_vjp(const ti_motion *m, int i, const double *p, const double *arm_bar, double *q_bar, double *p_bar);

#endif
