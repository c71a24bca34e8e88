/* dynamics.h -- kinematics and dynamics of a model at one state, without contact, and their derivatives.
 *
 * A tribo_dynamics is given parameters p and a state x = [q; v] (sim.h), and is then asked: where bodies and sites are
 * and how they move, Jacobians, inertia, bias forces, inverse and forward dynamics, momentum, energy. With
 *
 *     M(q) a + c(q, v) = tau                                                    docs/math.md eq. (330)
 *
 * tau (nv) is dual to v as u is, of a free body a force in the world at its frame's origin and a torque in its own
 * axes; M has the armature of joints on its diagonal; c is gravity, centrifugal and Coriolis forces. What pulls
 * besides, controls, actuators, dampers and springs, is tribo_joint_forces(); dry friction, limits, contacts and
 * equalities are the step's alone.
 *
 * Of every function there is a reverse, NAME_vjp: from cotangents of its outputs to those of its arguments, all of them
 * accumulated. q_bar (nv) goes with dq, of a ball and a free body the rotation vector in its own axes; v_bar (nv);
 * p_bar (np). Each may be NULL = skip. Dense Jacobians, NAME_jac, are overwritten; (nv,nv) is by rows of outputs.
 *
 * All return TRIBO_OK, or with outputs as they were TRIBO_E_ARG (NULL, no such body or site, no state given yet) and
 * TRIBO_E_SINGULAR (an inertia without inverse: joints that move nothing). Numbers handed in besides p and x are not
 * looked at: NaN in, NaN out. Allocates: tribo_dynamics_new() alone. Threads: distinct tribo_dynamics.
 */
#ifndef TRIBO_DYNAMICS_H
#define TRIBO_DYNAMICS_H
#include <tribo/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tribo_dynamics tribo_dynamics; /**< scratch of one thread; keeps a pointer to the model */

/** With the model's own parameters, and no state yet. @return TRIBO_OK; TRIBO_E_ARG; TRIBO_E_NOMEM. */
TRIBO_API TRIBO_CHECK tribo_status tribo_dynamics_new(const tribo_model *m, const tribo_allocator *a,
                                                      tribo_dynamics **d);
/** Free; NULL is fine. */
TRIBO_API void tribo_dynamics_free(tribo_dynamics *d);
/** Other parameters, copied; a state has to be given again.
 *  @param p (np) @param diag [out] what is wrong with them; NULL = skip
 *  @return also what tribo_params_check() says. */
TRIBO_API TRIBO_CHECK tribo_status tribo_dynamics_set_params(tribo_dynamics *d, const double *p, tribo_diag *diag);
/** The state that everything below is at, copied: forward kinematics. docs/math.md eq. (150).
 *  @param x (nx); quaternions are made unit. @return also TRIBO_E_NONFINITE; TRIBO_E_ARG (a quaternion without
 * direction). Cost: O(joints). */
TRIBO_API TRIBO_CHECK tribo_status tribo_dynamics_set_state(tribo_dynamics *d, const double *x);

/* ---- where bodies and sites are: docs/math.md eq. (331) ---- */

/** Frame of a body in the world; TRIBO_WORLD is the world's own.
 *  @param pos [out] (3) m. @param quat [out] (4) w x y z, unit. Either may be NULL. */
TRIBO_API TRIBO_CHECK tribo_status tribo_body_pose(tribo_dynamics *d, int body, double *pos, double *quat);
/** @param pos_bar (3). @param turn_bar (3) of a rotation vector in the body's own axes. */
TRIBO_API TRIBO_CHECK tribo_status tribo_body_pose_vjp(tribo_dynamics *d, int body, const double *pos_bar,
                                                       const double *turn_bar, double *q_bar, double *p_bar);
/** The same of a site; its pos and quat in its body are in p. */
TRIBO_API TRIBO_CHECK tribo_status tribo_site_pose(tribo_dynamics *d, int site, double *pos, double *quat);
/** @param turn_bar (3) in the site's own axes. */
TRIBO_API TRIBO_CHECK tribo_status tribo_site_pose_vjp(tribo_dynamics *d, int site, const double *pos_bar,
                                                       const double *turn_bar, double *q_bar, double *p_bar);

/* ---- how they move: docs/math.md eq. (332) ---- */

/** Velocity of the frame's origin, m/s, and angular velocity, rad/s, both in the world.
 *  @param twist [out] (6) */
TRIBO_API TRIBO_CHECK tribo_status tribo_body_velocity(tribo_dynamics *d, int body, double *twist);
/** @param twist_bar (6) */
TRIBO_API TRIBO_CHECK tribo_status tribo_body_velocity_vjp(tribo_dynamics *d, int body, const double *twist_bar,
                                                           double *q_bar, double *v_bar, double *p_bar);
/** The same of a site. */
TRIBO_API TRIBO_CHECK tribo_status tribo_site_velocity(tribo_dynamics *d, int site, double *twist);
/** @param twist_bar (6) */
TRIBO_API TRIBO_CHECK tribo_status tribo_site_velocity_vjp(tribo_dynamics *d, int site, const double *twist_bar,
                                                           double *q_bar, double *v_bar, double *p_bar);
/** twist = J v. @param J [out] (6,nv) */
TRIBO_API TRIBO_CHECK tribo_status tribo_body_jacobian(tribo_dynamics *d, int body, double *J);
/** @param J_bar (6,nv) */
TRIBO_API TRIBO_CHECK tribo_status tribo_body_jacobian_vjp(tribo_dynamics *d, int body, const double *J_bar,
                                                           double *q_bar, double *p_bar);
/** The same of a site. */
TRIBO_API TRIBO_CHECK tribo_status tribo_site_jacobian(tribo_dynamics *d, int site, double *J);
/** @param J_bar (6,nv) */
TRIBO_API TRIBO_CHECK tribo_status tribo_site_jacobian_vjp(tribo_dynamics *d, int site, const double *J_bar,
                                                           double *q_bar, double *p_bar);

/** Centre of mass of all bodies. @param pos [out] (3) m, world */
TRIBO_API TRIBO_CHECK tribo_status tribo_com(tribo_dynamics *d, double *pos);
/** @param pos_bar (3) */
TRIBO_API TRIBO_CHECK tribo_status tribo_com_vjp(tribo_dynamics *d, const double *pos_bar, double *q_bar,
                                                 double *p_bar);
/** Its velocity is J v. @param J [out] (3,nv) */
TRIBO_API TRIBO_CHECK tribo_status tribo_com_jacobian(tribo_dynamics *d, double *J);
/** @param J_bar (3,nv) */
TRIBO_API TRIBO_CHECK tribo_status tribo_com_jacobian_vjp(tribo_dynamics *d, const double *J_bar, double *q_bar,
                                                          double *p_bar);

/* ---- inertia: docs/math.md eq. (151), (333) ---- */

/** @param M [out] (nv,nv), symmetric; zero between trees */
TRIBO_API TRIBO_CHECK tribo_status tribo_inertia(tribo_dynamics *d, double *M);
/** @param M_bar (nv,nv), need not be symmetric. Cost: O(nv) reverse passes; where M_bar is a few outer products,
 *  tribo_inertia_times_vjp() is cheaper. */
TRIBO_API TRIBO_CHECK tribo_status tribo_inertia_vjp(tribo_dynamics *d, const double *M_bar, double *q_bar,
                                                     double *p_bar);
/** out = M in. @param in (nv). @param out [out] (nv); not the same */
TRIBO_API TRIBO_CHECK tribo_status tribo_inertia_times(tribo_dynamics *d, const double *in, double *out);
/** @param in (nv) as in the call. @param out_bar (nv) */
TRIBO_API TRIBO_CHECK tribo_status tribo_inertia_times_vjp(tribo_dynamics *d, const double *in, const double *out_bar,
                                                           double *in_bar, double *q_bar, double *p_bar);
/** out = M^-1 in, by M = L'DL, L with the zeros of the tree; the factor is made when first asked for.
 *  @param in (nv). @param out [out] (nv) may be in */
TRIBO_API TRIBO_CHECK tribo_status tribo_inertia_solve(tribo_dynamics *d, const double *in, double *out);
/** @param out (nv) what the call gave. @param out_bar (nv) */
TRIBO_API TRIBO_CHECK tribo_status tribo_inertia_solve_vjp(tribo_dynamics *d, const double *out, const double *out_bar,
                                                           double *in_bar, double *q_bar, double *p_bar);

/* ---- forces: docs/math.md eq. (153), (330), (334) ---- */

/** Gravity, less what is carried of it (gravcomp), centrifugal and Coriolis forces. @param c [out] (nv) */
TRIBO_API TRIBO_CHECK tribo_status tribo_bias_forces(tribo_dynamics *d, double *c);
/** @param c_bar (nv) */
TRIBO_API TRIBO_CHECK tribo_status tribo_bias_forces_vjp(tribo_dynamics *d, const double *c_bar, double *q_bar,
                                                         double *v_bar, double *p_bar);
/** tau = M a + c, in O(nv). @param a (nv), the rate of v. @param tau [out] (nv); not the same */
TRIBO_API TRIBO_CHECK tribo_status tribo_inverse_dynamics(tribo_dynamics *d, const double *a, double *tau);
/** @param a (nv) as in the call. @param tau_bar (nv) */
TRIBO_API TRIBO_CHECK tribo_status tribo_inverse_dynamics_vjp(tribo_dynamics *d, const double *a, const double *tau_bar,
                                                              double *q_bar, double *v_bar, double *a_bar,
                                                              double *p_bar);
/** By a it is M. @param by_q, by_v [out] (nv,nv), either may be NULL */
TRIBO_API TRIBO_CHECK tribo_status tribo_inverse_dynamics_jac(tribo_dynamics *d, const double *a, double *by_q,
                                                              double *by_v);
/** a = M^-1 (tau - c). @param tau (nv). @param a [out] (nv) may be tau */
TRIBO_API TRIBO_CHECK tribo_status tribo_forward_dynamics(tribo_dynamics *d, const double *tau, double *a);
/** @param a (nv) what the call gave. @param a_bar (nv) */
TRIBO_API TRIBO_CHECK tribo_status tribo_forward_dynamics_vjp(tribo_dynamics *d, const double *a, const double *a_bar,
                                                              double *q_bar, double *v_bar, double *tau_bar,
                                                              double *p_bar);
/** @param a (nv) what the call gave. @param by_q, by_v, by_tau [out] (nv,nv), any may be NULL; by_tau is M^-1 */
TRIBO_API TRIBO_CHECK tribo_status tribo_forward_dynamics_jac(tribo_dynamics *d, const double *a, double *by_q,
                                                              double *by_v, double *by_tau);
/** Generalized forces of a control: its own, those of actuators, cut off at their ranges, of dampers and springs of
 *  joints, and of the fluid that bodies are in, all at this state. @param u (nu) or NULL = 0. @param tau [out] (nv) */
TRIBO_API TRIBO_CHECK tribo_status tribo_joint_forces(tribo_dynamics *d, const double *u, double *tau);
/** @param u (nu) as in the call. @param tau_bar (nv). @param u_bar (nu) */
TRIBO_API TRIBO_CHECK tribo_status tribo_joint_forces_vjp(tribo_dynamics *d, const double *u, const double *tau_bar,
                                                          double *q_bar, double *v_bar, double *u_bar, double *p_bar);

/* ---- momentum and energy, without armature in the former: docs/math.md eq. (335) ---- */

/** Of all bodies. @param h [out] (6): linear, kg m/s; angular about their centre of mass, kg m^2/s; world */
TRIBO_API TRIBO_CHECK tribo_status tribo_momentum(tribo_dynamics *d, double *h);
/** @param h_bar (6) */
TRIBO_API TRIBO_CHECK tribo_status tribo_momentum_vjp(tribo_dynamics *d, const double *h_bar, double *q_bar,
                                                      double *v_bar, double *p_bar);
/** h = A v. @param A [out] (6,nv) */
TRIBO_API TRIBO_CHECK tribo_status tribo_momentum_jacobian(tribo_dynamics *d, double *A);
/** v' M v / 2. @param e [out] J */
TRIBO_API TRIBO_CHECK tribo_status tribo_kinetic_energy(tribo_dynamics *d, double *e);
/** e_bar times its gradient. */
TRIBO_API TRIBO_CHECK tribo_status tribo_kinetic_energy_vjp(tribo_dynamics *d, double e_bar, double *q_bar,
                                                            double *v_bar, double *p_bar);
/** Of gravity, less what is carried of it, zero at the world's origin, and of springs of joints. @param e [out] J */
TRIBO_API TRIBO_CHECK tribo_status tribo_potential_energy(tribo_dynamics *d, double *e);
/** e_bar times its gradient. */
TRIBO_API TRIBO_CHECK tribo_status tribo_potential_energy_vjp(tribo_dynamics *d, double e_bar, double *q_bar,
                                                              double *p_bar);

#ifdef __cplusplus
}
#endif
#endif
