/* law.h -- Signorini and Coulomb at one contact, as an equation a Newton method can solve.
 *
 * F(lambda, c) = 0 is the Alart-Curnier map, c = J v + ref + R lambda with a small compliance R = diag(Rt, Rt, Rn). One
 * linearised contact is  dlambda = -f - D J dv  with  A = dF/dlambda + dF/dc R,  D = A^-1 dF/dc,  f = A^-1 F, all in
 * closed form. docs/math.md eq. (38)-(40).
 */
#ifndef TI_LAW_H
#define TI_LAW_H
#include <tribo/contact.h>

/* What is fixed of a contact during a solve. */
typedef struct ti_law_scale {
    double rho_n, rho_t; /* 1 / G_ii, roughly: any positive value gives the same solutions */
    double g_n, g_t;     /* their inverses */
} ti_law_scale;

typedef struct ti_law_compliance {
    double n, t;
    double inverse_n, inverse_t;
} ti_law_compliance;

enum { TI_MODE_FREE = 255 }; /* choose the mode from (lambda, c) */

/* F (3) and, linearised there, D (3,3) and A^-1 (3,3), so that dlambda = -A^-1 F - D J dv; returns the mode. */
unsigned char ti_law_linearise(const double *lambda, const double *c, double mu, const ti_law_scale *s,
                               ti_law_compliance R, unsigned char mode, double *F, double *D, double *Ainv);
/* F (3) alone. */
unsigned char ti_law_value(const double *lambda, const double *c, double mu, const ti_law_scale *s, unsigned char mode,
                           double *F);

/* Whether `mode` is the law's mode at (lambda, c), to within slack, an impulse. */
bool ti_law_agrees(const double *lambda, const double *c, double mu, const ti_law_scale *s, unsigned char mode,
                   double slack);

#endif
