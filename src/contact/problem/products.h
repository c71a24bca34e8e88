/* products.h -- products with the inertia and the contact Jacobian of a block problem. */
#ifndef TI_PRODUCTS_H
#define TI_PRODUCTS_H
#include "contact/problem/problem.h"

/* c (3 nc) = J v (+ ref if with_ref) */
void ti_contact_jv(const ti_contact_problem *p, const double *v, bool with_ref, double *c);
/* y (nv) += J' lambda */
void ti_contact_jt(const ti_contact_problem *p, const double *lambda, double *y);
/* y (nv) = M x */
void ti_contact_mv(const ti_contact_problem *p, const double *x, double *y);

#endif
