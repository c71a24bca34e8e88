/* sim.h -- the step: x_next = f(p, x, u).
 *
 * State x = [q; v], laid out as MuJoCo's qpos and qvel. A free body has in q its frame's position in the world (3) and
 * unit quaternion w x y z (4), in v the velocity of its frame's origin in the world (3) and its angular velocity in the
 * BODY frame (3). The tangent dx = [dq; dv] has 6 + 6 numbers a body: dq is a displacement in the world and a rotation
 * vector in the body frame, q (+) dq = q exp(dq). The control u (nv) is a generalized force dual to v: a force in the
 * world at the frame's origin, N, and a torque in the body frame, N m.
 */
#ifndef TRIBO_SIM_H
#define TRIBO_SIM_H
#include <tribo/contact.h>
#include <tribo/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How the reverse pass chains the contact subproblems. */
typedef enum tribo_reverse {
    TRIBO_REVERSE_IMPLICIT, /**< the coupled KKT system at the solution, transposed and solved once */
    TRIBO_REVERSE_UNROLLED  /**< back through each QP and QCQP of the staggered rounds; needs options.rounds > 0 */
} tribo_reverse;

/** Fill with tribo_default_options() first. */
typedef struct tribo_options {
    uint32_t struct_size;  /**< set by tribo_default_options() */
    double dt;             /**< s, > 0; 0 = the model's */
    double tol;            /**< on the relative residual of the law; 0 = the solver's, 1e-9 of the default */
    double recovery;       /**< m/s, the fastest that a penetration is pushed out; 0 = 1 */
    int rounds;            /**< > 0: exactly that many rounds of staggered projections, as [LeLidec21]; 0 = to tol; at
                              most 2^22 */
    tribo_reverse reverse; /**< how tribo_backward() goes through the contact problem */
    bool warm_start; /**< start from the last step's modes: of several solutions, as friction above 1 may leave, the
                          one that these lead to; off: tribo_step is a pure function, bit for bit */
    int ncon_max; /**< contacts in a step at most, up to 2^22; 0 = a default from the model's size: all there can be, or
                     128 and 24 a body, or for each geom of bodies where these are more, 12 beyond 4096 of them. Memory
                     goes with it, as far as steps find contacts */
    tribo_law_options
        law;       /**< contact law and solver; what is 0 is the scene's, or a default. See tribo_ws_options() */
    bool measures; /**< fill tribo_step_info.measures, at the cost of a few products and a least-squares */
} tribo_options;

/** One contact of the last step. */
typedef struct tribo_contact {
    int geom_a, geom_b;              /**< geom ids */
    tribo_mode mode;                 /**< at the end of the step */
    double point[3], normal[3], gap; /**< m, world: half way between the surfaces; from a to b; as the step begins */
    double applied[3]; /**< m, world: where the impulse acts: at point, but where one of the two is of the world on the
                          other's surface, half of the gap that is left (up to a margin) from there. eq. (469) */
    double tangent[2][3]; /**< t1, t2 */
    double time;          /**< s from the beginning of the step: when point, normal and tangents were as given.
                             Where anything bounces among free bodies that contacts connect, its own impact,
                             of what holds them meanwhile the first of these; else 0 */
    double impulse[3];    /**< N s, on b: along t1, t2, normal */
    bool bounced;         /**< it was hit inside the step: impulse has the impact in it, mode is of after */
    double torque[3];     /**< N m s, on b: about t1, t2 (rolling) and the normal (torsion); 0 without such
                             friction */
} tribo_contact;

/** How the last step went. */
typedef struct tribo_step_info {
    int ncon; /**< contacts that something may bring together, active or not; after TRIBO_E_CAPACITY where this is more
                 than options.ncon_max: what there should be room for, at least */
    int nactive;             /**< contacts that carry an impulse */
    int nislands;            /**< groups of bodies that contacts connect, solved one by one */
    int iterations;          /**< linear systems factored */
    int nheld;               /**< actuators that a range of controls or forces holds, and joints: derivative 0 there */
    int ndegenerate;         /**< contacts where the gradient is only one element of a set */
    double residual;         /**< relative residual of the law, worst island */
    double margin;           /**< distance to the nearest change of contact mode, dimensionless */
    double penetration;      /**< deepest, at the start of the step, m */
    tribo_rung rung;         /**< the highest rung any island needed */
    bool canonical;          /**< every island's answer is the canonical one, see tribo_contact_info */
    tribo_measures measures; /**< where options.measures: energies summed over islands, residuals of the worst */
    int nshared; /**< of ndegenerate, those that are degenerate by the places, turns and sizes of single geoms and by
                      ranges of limits alone, as more of them than hold a body share its load: eq. (610). Derivatives by
                      states, forces and all other parameters are right there, and margin is theirs */
} tribo_step_info;

typedef struct tribo_ws tribo_ws;     /**< scratch of one thread; keeps a pointer to the model */
typedef struct tribo_tape tribo_tape; /**< see grad.h */

/** Implicit reverse, to tolerance, cold start, the model's step. */
TRIBO_API tribo_options tribo_default_options(void);
/** @param o NULL = defaults. @param diag [out] which option is wrong, and how; NULL = skip
 *  @return TRIBO_OK; TRIBO_E_ARG (dt, tol, recovery, rounds, reverse or ncon_max out of range, unrolled without rounds,
 *          rounds of another law than the NCP, or with softness or kappa, a law without that solver); TRIBO_E_DEF;
 * TRIBO_E_NOMEM. */
TRIBO_API TRIBO_CHECK tribo_status tribo_ws_new(const tribo_model *m, const tribo_options *o, const tribo_allocator *a,
                                                tribo_ws **ws, tribo_diag *diag);
/** Free; NULL is fine. */
TRIBO_API void tribo_ws_free(tribo_ws *ws);
/** The model it was made for; NULL of NULL. */
TRIBO_API const tribo_model *tribo_ws_model(const tribo_ws *ws);
/** With dt, tol and ncon_max as they are in force; all zero of NULL. */
TRIBO_API tribo_options tribo_ws_options(const tribo_ws *ws);
/** Forget the last step: the next one starts cold. */
TRIBO_API void tribo_ws_reset(tribo_ws *ws);

/** Noise of the stochastic law from a covariance of the state, instead of options.law.noise: of a contact's velocity,
 *  and of its gap over dt. docs/math.md eq. (105).
 *  @param P (ndx,ndx) symmetric, over the tangent of the state; stays the caller's, and is read by every step and every
 *           derivative until another is set. Derivatives take it, and the noise, as given; a tape is of one covariance.
 * NULL = options.law.noise
 *  @return TRIBO_OK; TRIBO_E_ARG (another law, or bodies on joints); TRIBO_E_NONFINITE. */
TRIBO_API TRIBO_CHECK tribo_status tribo_ws_set_covariance(tribo_ws *ws, const double *P);

/** One step of the dynamics, x_next = f(p, x, u).
 *
 *  Semi-implicit Euler about the centres of mass, hard contact, bounces at their time of impact: docs/math.md
 *  eq. (5)-(17), (31)-(35).
 *  @param ws     [in,out] with warm_start off its history does not change the result
 *  @param p      (np) physical parameters, tribo_model_params(); looked at by tribo_params_check() where they differ
 *                from those of the step before
 *  @param x      (nx) state; quaternions are made unit where they are used
 *  @param u      (nu) generalized force; NULL = zero
 *  @param x_next [out] (nx) may alias x
 *  @param tape   [in,out] one record is appended; NULL = do not record
 *  @return TRIBO_OK; TRIBO_SUBSTITUTED (x_next is valid; Newton's law of impacts had no answer or gained energy, or a
 *          rebound had none, and what always has one took its place: tribo_impact); TRIBO_NOT_CONVERGED (x_next is
 *          valid to info->residual, which may be NaN where numbers are beyond what squares can hold; whether a law was
 *          substituted besides is not said); x_next and tape as they were: TRIBO_E_ARG (p is not physical, as a
 * negative mass or a restitution of 5, a quaternion without direction, a tape of another model, step, law, covariance
 * or p), TRIBO_E_FAST (a body turns too often in a step), TRIBO_E_CAPACITY (the tape is full; more contacts than
 * options.ncon_max: tribo_step_info.ncon says how many there are; an island of more than 16384 trees),
 * TRIBO_E_NONFINITE (in p, x, u or the result), TRIBO_E_SINGULAR Allocates: never. Threads: distinct ws and tape. Cost:
 * O(bodies + contacts) while islands stay small. */
TRIBO_API TRIBO_CHECK tribo_status tribo_step(tribo_ws *ws, const double *p, const double *x, const double *u,
                                              double *x_next, tribo_tape *tape);
/** T steps: X[0] = x0 is copied in, X[k+1] = f(p, X[k], U[k]).
 *  @param U (T,nu) or NULL. @param X [out] (T+1,nx). @param tape NULL = do not record.
 *  @return the first error, after which the states before it are there and the others as they were; or the
 *          gravest of what the steps said, tribo_status_graver(). Where T is 0: what a step would say of p and x0. */
TRIBO_API TRIBO_CHECK tribo_status tribo_rollout(tribo_ws *ws, const double *p, const double *x0, int T,
                                                 const double *U, double *X, tribo_tape *tape);

/** Views of the last step whose arguments were right; valid until the next call on ws. NULL of NULL. */
TRIBO_API const tribo_step_info *tribo_last_info(const tribo_ws *ws);
/** All *n contacts (tribo_step_info.ncon), active or not, among them those of the cores of fast bodies (docs/math.md
 * eq. (449)), of the same two geoms as another; none after a step that failed. */
TRIBO_API const tribo_contact *tribo_last_contacts(const tribo_ws *ws, int *n);

/** How far two geoms are apart. */
typedef struct tribo_distance {
    double distance;    /**< m; of geoms that overlap minus the length of the shortest way out */
    double point[2][3]; /**< m, world: on the first, on the second */
    double normal[3];   /**< unit, from the first to the second */
} tribo_distance;
/** Closest points of two geoms, also of the same body. The last step's views are gone then.
 *  @param out [out] to rounding where shapes are apart. Where they overlap, of a stationary way out.
 *  @return TRIBO_OK; out as it was: TRIBO_E_ARG (no such geom, two planes, p not physical; of a height field's top
 *          nothing faces the other), TRIBO_E_NONFINITE, TRIBO_E_FAST, TRIBO_E_SINGULAR.
 *          Allocates: never. */
TRIBO_API TRIBO_CHECK tribo_status tribo_geom_distance(tribo_ws *ws, const double *p, const double *x, int geom_a,
                                                       int geom_b, tribo_distance *out);

/** x (+) dx. @param out [out] (nx) may alias x. */
TRIBO_API void tribo_state_add(const tribo_model *m, const double *x, const double *dx, double *out);
/** The shortest dx with a (+) dx = b. @param dx [out] (ndx) */
TRIBO_API void tribo_state_difference(const tribo_model *m, const double *a, const double *b, double *dx);
/** Kinetic plus potential energy, J; NaN of NULL. A state's velocity is that of the middle of the step that led to it:
 *  the energy of a state swings by O(h), that half a step back, at x (+) -h/2 v, by O(h^2). */
TRIBO_API double tribo_energy(const tribo_model *m, const double *p, const double *x);

#ifdef __cplusplus
}
#endif
#endif
