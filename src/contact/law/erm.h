/* erm.h -- the expected squared residual of one contact under Gaussian noise, and its derivatives.
 *
 * docs/math.md eq. (106), (107). The law of least expected residual couples contacts through G, so that it is no
 * equation of one contact: erm_solve.c.
 */
#ifndef TI_ERM_H
#define TI_ERM_H
#include "contact/law/law.h"

/* l (lambda, c) in J, and its first and second derivatives: rows of lc are of lambda, columns of c. */
typedef struct ti_erm {
    double value;
    double l[3], c[3];
    double ll[9], lc[9], cc[9];
    double l_mu[3], c_mu[3];
    double l_n[3], c_n[3], l_t[3], c_t[3]; /* of the gradient, times rho_n and rho_t: to these */
    double rho_n, rho_t;
} ti_erm;

void ti_erm_of(const ti_law_contact *s, const double *lambda, const double *c, ti_erm *out);
/* Replace the eigenvalues of its Hessian, in units where rho is 1, by their absolute values. */
void ti_erm_convex(ti_erm *e);

#endif
