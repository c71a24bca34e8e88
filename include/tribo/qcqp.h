/* qcqp.h -- the two convex problems of staggered projections, and the gradients of their solutions.
 *
 *     QP    min 1/2 x'Px + q'x   s.t. x >= 0
 *     QCQP  min 1/2 x'Px + q'x   s.t. |x_i| <= r_i, x_i the consecutive pairs of x
 *
 * P is symmetric positive semidefinite; both triangles are read. docs/math.md eq. (48)-(52); [LeLidec21] eq. (5)-(8),
 * appendix A. Where the solution is not unique, the one of least norm is returned, whatever the start.
 */
#ifndef TRIBO_QCQP_H
#define TRIBO_QCQP_H
#include <tribo/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A problem; the arrays stay the caller's. */
typedef struct tribo_qcqp {
    int n;           /**< variables; even if r is given */
    const double *P; /**< (n,n) symmetric positive semidefinite */
    const double *q; /**< (n) */
    const double *r; /**< (n/2) radii >= 0: a QCQP; NULL: a QP */
} tribo_qcqp;

/** How a solve went. */
typedef struct tribo_qcqp_info {
    double residual; /**< max-norm of y - proj(y - g), g = Sy + b: the problem scaled so that units do not matter,
                          diag S = 1 and max |b| (or the largest radius, if that is less) = 1 */
    int iterations;  /**< ADMM iterations */
    int newton;      /**< Newton steps on the active set */
    int degenerate;  /**< constraints with neither slack nor multiplier, to rounding */
} tribo_qcqp_info;

typedef struct tribo_qcqp_ws tribo_qcqp_ws; /**< scratch for problems of up to n_max variables; one thread */

/** Allocate scratch. @return TRIBO_OK; TRIBO_E_ARG (n_max < 1 or above 20000, ws NULL); TRIBO_E_NOMEM. */
TRIBO_API TRIBO_CHECK tribo_status tribo_qcqp_ws_new(int n_max, const tribo_allocator *a, tribo_qcqp_ws **ws);
/** Free; NULL is fine. */
TRIBO_API void tribo_qcqp_ws_free(tribo_qcqp_ws *ws);

/** Solve, from x.
 *
 *  @param tol      on the residual of tribo_qcqp_info, dimensionless; 0 = the default, 1e-12
 *  @param max_iter ADMM iterations at most; 0 = the default, 2000. Most problems need none: Newton's method on the
 *                  active set comes first
 *  @param x        [in,out] (n) start (zeros = cold), then solution
 *  @param dual     [out] (n) QP: multiplier of x >= 0, Px + q; QCQP: Px + q, pair i = -gamma_i x_i. NULL = skip
 *  @param info     [out] NULL = skip
 *  @return TRIBO_OK (tol, or the rounding of Px, is reached); TRIBO_NOT_CONVERGED (x is the best found, see
 *          info->residual); TRIBO_E_ARG (n < 1, n > n_max, odd n with r, r < 0, P_ii < 0, NULL); TRIBO_E_NONFINITE.
 *          An unbounded QP is TRIBO_NOT_CONVERGED with its residual.
 *  Allocates: never. Cost: O(n^3). */
TRIBO_API TRIBO_CHECK tribo_status tribo_qcqp_solve(tribo_qcqp_ws *ws, const tribo_qcqp *qp, double tol, int max_iter,
                                                    double *x, double *dual, tribo_qcqp_info *info);

/** Reverse of the solution map at x: from x_bar = dL/dx to dL/dq, dL/dr and dL/dP.
 *
 *  Needs the problem and its solution only, any: where it is not unique, the gradient is that of the one of least norm
 *  among those with x's active set. The transposed KKT system is reduced to its active set and factored once,
 *  docs/math.md eq. (59).
 *  @param x       (n)  solution
 *  @param x_bar   (n)  dL/dx
 *  @param q_bar   [in,out] (n)   += dL/dq; NULL = skip
 *  @param r_bar   [in,out] (n/2) += dL/dr; NULL = skip. At r_i = 0 the right derivative.
 *  @param v       [out] (n) the vector with which dL/dP = -(v x' + x v')/2, for symmetric P; NULL = skip
 *  @param degenerate [out] number of contacts where the gradient is one element of a set; NULL = skip
 *  @return TRIBO_OK; TRIBO_E_ARG (also r_bar for a QP); TRIBO_E_NONFINITE; TRIBO_E_SINGULAR (P is not semidefinite).
 *  Allocates: never. */
TRIBO_API TRIBO_CHECK tribo_status tribo_qcqp_vjp(tribo_qcqp_ws *ws, const tribo_qcqp *qp, const double *x,
                                                  const double *x_bar, double *q_bar, double *r_bar, double *v,
                                                  int *degenerate);

#ifdef __cplusplus
}
#endif
#endif
