/* staggered.h -- a fixed number of rounds of staggered projections, and their reverse, unrolled: [LeLidec21]
 * Algorithm 1.
 *
 * A round is a QP for the normal impulses with the tangential ones held, then a QCQP for the tangential ones with the
 * normal ones held. The tape is the impulses after each round. docs/math.md eq. (47), (62).
 */
#ifndef TI_STAGGERED_H
#define TI_STAGGERED_H
#include "contact/problem/problem.h"

typedef struct ti_staggered_ws ti_staggered_ws;

/* Memory grows with (3 nc_max)^2. */
tribo_status ti_staggered_ws_new(const ti_contact_size *most, const tribo_allocator *a, ti_staggered_ws **ws);
void ti_staggered_ws_free(ti_staggered_ws *ws);

/* rounds >= 1 rounds from no friction.
 *  @param tape   [out] (rounds,3 nc) impulses after each round
 *  @param lambda [out] (3 nc), v [out] (nv), mode [out] (nc)
 *  @return TRIBO_OK; TRIBO_NOT_CONVERGED if a subproblem was not solved; TRIBO_E_NONFINITE; TRIBO_E_SINGULAR. */
tribo_status ti_staggered_solve(ti_staggered_ws *ws, const ti_contact_problem *p, int rounds, double *tape,
                                double *lambda, double *v, unsigned char *mode);

/* Receives one stage of the reverse, in the terms of ti_contact_vjp(): with the stage's lambda and v, vfree_bar += M y,
 * M_bar -= y (v - vfree)', J_bar += lambda y' + c_bar v', ref_bar += c_bar, mu_bar. */
typedef void ti_staggered_stage(void *context, const double *lambda, const double *v, const double *y,
                                const double *c_bar, const double *mu_bar);

/* Reverse of ti_staggered_solve() on the same problem: 2 rounds + 1 stages, the last first. */
tribo_status ti_staggered_vjp(ti_staggered_ws *ws, const ti_contact_problem *p, int rounds, const double *tape,
                              const double *v_bar, const double *lambda_bar, ti_staggered_stage *stage, void *context);

#endif
