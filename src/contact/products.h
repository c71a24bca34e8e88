/* products.h -- products with the inertia and the contact Jacobian of a block problem. */
#ifndef TI_PRODUCTS_H
#define TI_PRODUCTS_H
#include "contact/ncp.h"

/* c (3 nc) = J v (+ ref if with_ref) */
void ti_ncp_jv(const ti_ncp_problem *p, const double *v, bool with_ref, double *c);
/* y (nv) += J' lambda */
void ti_ncp_jt(const ti_ncp_problem *p, const double *lambda, double *y);
/* y (nv) = M x */
void ti_ncp_mv(const ti_ncp_problem *p, const double *x, double *y);

#endif
