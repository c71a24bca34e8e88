/* bisection.h -- the exact solution of one contact with the others held: what a sweep of RaiSim's method repeats. */
#ifndef TI_BISECTION_H
#define TI_BISECTION_H
#include "contact/law/law.h"

/* lambda for c = G_ii lambda + free, by RaiSim's law and by the NCP. */
void ti_bisect_raisim(const ti_law_contact *s, const double *free, double *lambda);
void ti_bisect_ncp(const ti_law_contact *s, const double *free, double *lambda);

#endif
