/* augmented.h -- the linearised contact problem with impulses and velocities side by side,
 *
 *     M dv - J' dlambda = r,    A dlambda + B J dv = s,
 *
 * dense and with pivots from all of it: for the islands where the elimination of the impulses, which divides by a small
 * compliance, loses more digits than refinement restores. docs/math.md eq. (60a).
 */
#ifndef TI_AUGMENTED_H
#define TI_AUGMENTED_H
#include "contact/work/workspace.h"

void ti_augmented_carve(ti_arena *m, int nc_max, int nv_max, ti_augmented *g);
/* Whether p has more unknowns than there is room for. */
bool ti_augmented_is_large(const ti_contact_ws *ws, const ti_contact_problem *p);
/* Assemble and factor at the point of the last ti_contact_factor(), once; false if it is too large or singular. */
bool ti_augmented_ready(ti_contact_ws *ws, const ti_contact_problem *p);
/* As ti_contact_jvp() of one direction; offset (3 nc) is dlambda where nothing moves. As ti_contact_vjp() without
 * mu_bar, with z in ws->z. Both return the relative size of the correction that one more refinement would make. */
double ti_augmented_jvp(ti_contact_ws *ws, const ti_contact_problem *p, const double *r, const double *dc,
                        const double *offset, double *dv, double *dlambda);
double ti_augmented_vjp(ti_contact_ws *ws, const ti_contact_problem *p, const double *v_bar, const double *lambda_bar,
                        double *y, double *c_bar);
#endif
