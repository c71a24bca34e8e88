/* contact.h -- one frictional contact problem by itself: impulses from inertia, Jacobian and free velocity.
 *
 *     M (v - vfree) = J' lambda,   c = J v + ref
 *     K_mu contains lambda, orthogonal to c + (0, 0, mu |c_t|), which lies in the dual cone     docs/math.md eq. (34)
 *
 * Rows of J, c and lambda are three a contact: two tangents, then the normal (t1, t2, n).
 * Where friction and redundancy leave several solutions, the one returned is the limit of a vanishing compliance,
 * equal at all normals: unique, continuous along a motion, differentiable. docs/math.md eq. (35).
 */
#ifndef TRIBO_CONTACT_H
#define TRIBO_CONTACT_H
#include <stdbool.h>
#include <tribo/law.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a contact does. */
typedef enum tribo_mode { TRIBO_BREAK, TRIBO_STICK, TRIBO_SLIDE } tribo_mode;

/** The rung of the solver's ladder that gave the answer; a higher one means a harder problem. */
typedef enum tribo_rung {
    TRIBO_RUNG_NONE,      /**< no contact carried an impulse: nothing to solve */
    TRIBO_RUNG_WARM,      /**< the modes of the last step, and a Newton step */
    TRIBO_RUNG_NEWTON,    /**< semismooth Newton from zero */
    TRIBO_RUNG_STAGGERED, /**< a fixed number of staggered rounds, as asked for */
    TRIBO_RUNG_PATH,      /**< a large compliance, and Newton along its fall */
    TRIBO_RUNG_INTERIOR, /**< interior point, then the path; or proximal iterations, see tribo_contact_info.canonical */
    TRIBO_RUNG_SOLVER    /**< no rung: the solver that the options name */
} tribo_rung;

/** A dense problem; the arrays stay the caller's. Give either M, J, vfree, or G, g (then nv = 0). */
typedef struct tribo_contact_problem {
    int nc;              /**< contacts */
    int nv;              /**< velocities; 0 if G and g are given */
    const double *M;     /**< (nv,nv) symmetric positive definite, kg and kg m^2 */
    const double *J;     /**< (3 nc,nv) */
    const double *vfree; /**< (nv) m/s, rad/s */
    const double *G;     /**< (3 nc,3 nc) Delassus matrix J M^-1 J' */
    const double *g;     /**< (3 nc) J vfree + ref */
    const double *mu;    /**< (nc) >= 0 */
} tribo_contact_problem;

/** How a solve went. */
typedef struct tribo_contact_info {
    double residual; /**< relative residual of the law, dimensionless: docs/math.md eq. (37) */
    double margin;   /**< distance to the nearest change of mode, dimensionless, 0 at a kink: docs/math.md eq. (46) */
    int iterations;  /**< linear systems factored, all rungs together */
    int ndegenerate; /**< contacts at the edge of two modes: the gradient is one element of a set there */
    tribo_rung rung; /**< the highest rung used */
    bool canonical;  /**< the limit of a vanishing compliance; otherwise some solution, counted as degenerate */
} tribo_contact_info;

typedef struct tribo_contact_ws tribo_contact_ws; /**< scratch, and the last solution's linearisation; one thread */

/** Allocate scratch for up to nc_max contacts and nv_max velocities (nv_max >= 3 nc_max if G is to be given).
 *  @param law which law and solver; NULL = the NCP by its default
 *  @return TRIBO_OK; TRIBO_E_ARG (sizes, at most 2^22; no such law, solver or number of theirs); TRIBO_E_NOMEM. */
TRIBO_API TRIBO_CHECK tribo_status tribo_contact_ws_new(int nc_max, int nv_max, const tribo_law_options *law,
                                                        const tribo_allocator *a, tribo_contact_ws **ws);
/** Bytes that ws takes. */
TRIBO_API size_t tribo_contact_ws_bytes(const tribo_contact_ws *ws);
/** Free; NULL is fine. */
TRIBO_API void tribo_contact_ws_free(tribo_contact_ws *ws);

/** Solve.
 *  @param tol    on info->residual; 0 = the solver's default: 1e-9, of first-order ones 1e-6
 *  @param warm   lambda holds impulses to start from; otherwise from nothing
 *  @param lambda [in,out] (3 nc) impulses, N s
 *  @param v      [out] (nv) velocity after, NULL = skip
 *  @param info   [out] NULL = skip
 *  @return TRIBO_OK; TRIBO_NOT_CONVERGED (the best found is returned); TRIBO_E_ARG (sizes, mu < 0);
 *          TRIBO_E_NONFINITE; TRIBO_E_SINGULAR (M not positive definite). Allocates: never. */
TRIBO_API TRIBO_CHECK tribo_status tribo_contact_solve(tribo_contact_ws *ws, const tribo_contact_problem *p, double tol,
                                                       bool warm, double *lambda, double *v, tribo_contact_info *info);
/** Noise of the stochastic law contact by contact, instead of options.noise, for the solves that follow.
 *  @param noise (2 nc) > 0, standard deviation of the velocity along the normal and across, m/s; stays the caller's,
 * who keeps it until another is set. NULL = options.noise
 *  @return TRIBO_OK; TRIBO_E_ARG (another law). */
TRIBO_API TRIBO_CHECK tribo_status tribo_contact_set_noise(tribo_contact_ws *ws, const double *noise);
/** Measures of the last solve on ws, with the same problem.
 *  @return TRIBO_OK; TRIBO_E_ARG (no solve before it, or another size). Allocates: never. */
TRIBO_API TRIBO_CHECK tribo_status tribo_contact_measure(tribo_contact_ws *ws, const tribo_contact_problem *p,
                                                         tribo_measures *measures);

/** Reverse of the last solve on ws, with the same problem: the implicit gradient of (lambda, v). docs/math.md
 *  eq. (61), (63).
 *  @param lambda_bar (3 nc) dL/dlambda, NULL = 0
 *  @param v_bar      (nv) dL/dv, NULL = 0
 *  @param vfree_bar  [in,out] (nv) += ; NULL = skip
 *  @param g_bar      [in,out] (3 nc) += dL/dg, which is also dL/dref; NULL = skip
 *  @param mu_bar     [in,out] (nc) += ; NULL = skip
 *  @param M_bar      [in,out] (nv,nv) += , symmetric; NULL = skip
 *  @param J_bar      [in,out] (3 nc,nv) += ; NULL = skip
 *  @param G_bar      [in,out] (3 nc,3 nc) += , symmetric, where G was given; NULL = skip
 *  @return TRIBO_OK; TRIBO_NOT_CONVERGED (the solve was not: it is the derivative of the point reached);
 * TRIBO_DEGENERATE (its solution is one among many, see info->canonical); TRIBO_E_ARG (no solve before it, or another
 * size); TRIBO_E_SINGULAR, TRIBO_E_NONFINITE (lambda_bar, v_bar or the result): outputs as they were. Allocates: never.
 */
TRIBO_API TRIBO_CHECK tribo_status tribo_contact_vjp(tribo_contact_ws *ws, const tribo_contact_problem *p,
                                                     const double *lambda_bar, const double *v_bar, double *vfree_bar,
                                                     double *g_bar, double *mu_bar, double *M_bar, double *J_bar,
                                                     double *G_bar);

#ifdef __cplusplus
}
#endif
#endif
