/* grad.h -- derivatives of the step and of rollouts: reverse, forward, Jacobians, bounded memory.
 *
 * All with respect to the initial state, the controls and every entry of p. At a kink one element of the generalized
 * Jacobian is returned and tribo_step_info says so; docs/gradients.md.
 */
#ifndef TRIBO_GRAD_H
#define TRIBO_GRAD_H
#include <tribo/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A tape for steps of ws, and of workspaces with the same model, step and law. Other steps are refused.
 *  @param max_steps records at most
 *  @param max_bytes memory for them; 0 = enough for max_steps steps with ncon_max contacts each, see tribo_tape_bytes()
 *  @return TRIBO_OK; TRIBO_E_ARG; TRIBO_E_NOMEM. */
TRIBO_API TRIBO_CHECK tribo_status tribo_tape_new(const tribo_ws *ws, int max_steps, size_t max_bytes,
                                                  tribo_tape **tape);
/** Bytes of max_steps records with ncon contacts each; 0 where there is no such number. */
TRIBO_API size_t tribo_tape_bytes(const tribo_ws *ws, int max_steps, int ncon);
/** Free; NULL is fine. */
TRIBO_API void tribo_tape_free(tribo_tape *tape);
/** Forget all records; NULL is fine. */
TRIBO_API void tribo_tape_rewind(tribo_tape *tape);
/** Records on the tape; 0 of NULL. */
TRIBO_API int tribo_tape_steps(const tribo_tape *tape);

/** Contacts of record k, as tribo_last_contacts() gives them after its step, in the same order.
 *  @param contact [out] as many as are returned; NULL = skip. @return how many; 0 where there is no such record. */
TRIBO_API int tribo_tape_contacts(const tribo_tape *tape, int k, tribo_contact *contact);

/** Reverse sweep over the whole tape, T steps: L = sum_k l_k(x_k); docs/math.md, The reverse of a step.
 *
 *  Once the arguments are found to be right it does not fail. A step whose linearisation is singular, or not finite, is
 *  gone through as if its contacts were broken, and the status says so.
 *  @param ws     of the tape's model, step and contact law (every number that a derivative depends on), with room for
 * as many contacts as its records have
 *  @param lx     (T+1,ndx) dl_k/dx_k, tangent
 *  @param x0_bar [in,out] (ndx)  += dL/dx_0; NULL = skip
 *  @param u_bar  [in,out] (T,nu) += dL/du_k; NULL = skip
 *  @param p_bar  [in,out] (np)   += dL/dp;   NULL = skip
 *  @return TRIBO_OK; TRIBO_NOT_CONVERGED (a step was not: its derivative is that of the point it reached);
 *          TRIBO_SUBSTITUTED (as the step said); TRIBO_DEGENERATE (a step whose solution is one among many, a singular
 *          one, or one that exploded: docs/gradients.md, Where a gradient misleads);
 *          TRIBO_E_ARG (another model's, step's or law's tape); TRIBO_E_CAPACITY (it has steps with more contacts than
 *          ws has room for); TRIBO_E_NONFINITE (lx). Outputs are then as they were.
 *  Allocates: never. The tape is const: it may be swept again with another lx. */
TRIBO_API TRIBO_CHECK tribo_status tribo_backward(tribo_ws *ws, const tribo_tape *tape, const double *lx,
                                                  double *x0_bar, double *u_bar, double *p_bar);
/** Record k alone, reverse: (x_bar, u_bar, p_bar) += f'(x_k, u_k, p)' xnext_bar.
 *  @param x_bar [in,out] (ndx). @param u_bar, p_bar NULL = skip. @return as tribo_backward(). */
TRIBO_API TRIBO_CHECK tribo_status tribo_step_vjp(tribo_ws *ws, const tribo_tape *tape, int k, const double *xnext_bar,
                                                  double *x_bar, double *u_bar, double *p_bar);
/** tribo_backward() of a loss in which contact impulses are, too: L = sum_k l_k(x_k) + sum over steps and contacts of
 *  m(impulse), docs/math.md eq. (63a).
 *  @param impulse_bar dm/dimpulse, N s on geom b, in WORLD axes (what tribo_contact.impulse is along tangent[0],
 *         tangent[1] and normal): three numbers for each contact of tribo_tape_contacts(), record after record from the
 *         first on; NULL = 0. Divided by dt it is dm/dforce
 *  @return as tribo_backward(); TRIBO_E_NONFINITE (lx, impulse_bar). Allocates: never. */
TRIBO_API TRIBO_CHECK tribo_status tribo_backward_impulses(tribo_ws *ws, const tribo_tape *tape, const double *lx,
                                                           const double *impulse_bar, double *x0_bar, double *u_bar,
                                                           double *p_bar);
/** tribo_step_vjp() with cotangents of the record's impulses, as tribo_backward_impulses(): xnext_bar may be all 0.
 *  @param impulse_bar (contacts,3); NULL = 0. @return as tribo_backward_impulses(). */
TRIBO_API TRIBO_CHECK tribo_status tribo_step_impulses_vjp(tribo_ws *ws, const tribo_tape *tape, int k,
                                                           const double *xnext_bar, const double *impulse_bar,
                                                           double *x_bar, double *u_bar, double *p_bar);
/** Record k alone, forward, ndir directions at once: xnext_dot = f'(x_k, u_k, p) (x_dot, u_dot, p_dot).
 *  @param x_dot (ndir,ndx), u_dot (ndir,nu), p_dot (ndir,np); any may be NULL = zero
 *  @param xnext_dot [out] (ndir,ndx) may alias x_dot
 *  @return as tribo_backward(). */
TRIBO_API TRIBO_CHECK tribo_status tribo_step_jvp(tribo_ws *ws, const tribo_tape *tape, int k, int ndir,
                                                  const double *x_dot, const double *u_dot, const double *p_dot,
                                                  double *xnext_dot);
/** Record k alone: dx_next = A dx + B du + C dp. A (ndx,ndx), B (ndx,nu), C (ndx,np), overwritten; any may be NULL.
 *  @return as tribo_backward(). */
TRIBO_API TRIBO_CHECK tribo_status tribo_step_jac(tribo_ws *ws, const tribo_tape *tape, int k, double *A, double *B,
                                                  double *C);

/* ---- bounded memory ---- */

/** States stored on the way and a tape of one step, to differentiate rollouts of any length. */
typedef struct tribo_checkpoint tribo_checkpoint;

/** @param snapshots states stored at most, >= 1; the start is one of them
 *  @return TRIBO_OK; TRIBO_E_ARG; TRIBO_E_NOMEM. */
TRIBO_API TRIBO_CHECK tribo_status tribo_checkpoint_new(const tribo_ws *ws, int snapshots, tribo_checkpoint **c);
/** Free; NULL is fine. */
TRIBO_API void tribo_checkpoint_free(tribo_checkpoint *c);
/** Forward steps that differentiating T steps takes, the T recorded ones among them; the least that can be had. */
TRIBO_API long tribo_checkpoint_steps(int T, int snapshots);
/** The longest rollout no step of which is advanced over more than `sweeps` times before it is recorded:
 *  C(snapshots + sweeps, snapshots), or LONG_MAX if that is larger. docs/math.md eq. (65). */
TRIBO_API long tribo_checkpoint_reach(int snapshots, int sweeps);

/** Gradient of a rollout by recomputation from stored states: the same bits as tribo_backward() on a full tape.
 *
 *  @param ws       of the model, step and law that c was made for, with no larger ncon_max; warm_start must be off
 *  @param U        (T,nu) or NULL. @param lx (T+1,ndx)
 *  @param x0_bar, u_bar, p_bar  as in tribo_backward()
 *  @param steps    [out] forward steps made, tribo_checkpoint_steps(); NULL = skip
 *  @return TRIBO_OK; TRIBO_E_ARG; and what tribo_step() and tribo_backward() return. On error x0_bar, u_bar, p_bar and
 *          steps are as they were.
 *  Allocates: never. */
TRIBO_API TRIBO_CHECK tribo_status tribo_checkpoint_backward(tribo_checkpoint *c, tribo_ws *ws, const double *p,
                                                             const double *x0, int T, const double *U, const double *lx,
                                                             double *x0_bar, double *u_bar, double *p_bar, long *steps);

#ifdef __cplusplus
}
#endif
#endif
