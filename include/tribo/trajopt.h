/* trajopt.h -- trajectories and feedback through contact, found by gradient: a task of costs and bounds, differential
 * dynamic programming on the step's Jacobians or L-BFGS on its reverse, policies of what was found.
 *
 * A task has `knots` controls, each held for `substeps` steps, and knots + 1 states. What is lowered is
 *
 *     J = sum over knots k = 0 .. knots and terms of  weight * norm(r(x_k, u_k))        docs/math.md eq. (400)
 *
 * where a term's residual r is something of the state or the control minus its target. Controls are a choice of the
 * numbers of u, held within bounds exactly; the rest of u stays as it was given. Terms of the norms LIMIT, LEAST and
 * EQUAL are constraints, met by an augmented Lagrangian. Drive it with tribo_trajopt_iterate(), a pass a call, or with
 * tribo_trajopt_solve(); the best so far is kept whenever it stops. No number of workers changes a bit.
 */
#ifndef TRIBO_TRAJOPT_H
#define TRIBO_TRAJOPT_H
#include <tribo/grad.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a residual is of: X(NAME, name, numbers, what it is minus its target). Vectors are in the world's axes. */
#define TRIBO_TERM_LIST(X)                                                                                             \
    X(STATE, "state", "the state: dx (ndx) from the target, a whole state (nx)")                                       \
    X(JOINT, "joint", "a joint's place: dq from the target, which has the joint's numbers of q; rad, m")               \
    X(JOINT_VELOCITY, "joint-velocity", "a joint's velocity; rad/s, m/s")                                              \
    X(CONTROL, "control", "the controls (ncontrol); not at the last knot, which has none")                             \
    X(POSITION, "position", "of a body or site (3), less that of another if there is one; m")                          \
    X(ROTATION, "rotation", "of a body or site: the rotation vector (3) from the target, a quaternion, own axes; rad") \
    X(VELOCITY, "velocity", "of a body or site (3), less that of another; m/s")                                        \
    X(ANGULAR_VELOCITY, "angular-velocity", "of a body or site (3), less that of another; rad/s")                      \
    X(COM, "com", "the centre of mass of all bodies (3); m")                                                           \
    X(COM_VELOCITY, "com-velocity", "its velocity (3); m/s")                                                           \
    X(MOMENTUM, "momentum", "linear (3) and angular about the centre of mass (3); kg m/s, kg m^2/s")                   \
    X(CONTACT_FORCE, "contact-force", "what contacts push a body with (3), the mean over a knot; not at the last; N")  \
    X(CUSTOM, "custom", "a function of the caller's")

/** What a term is of. */
typedef enum tribo_term_kind {
#define TRIBO_X(NAME, name, text) TRIBO_TERM_##NAME,
    TRIBO_TERM_LIST(TRIBO_X)
#undef TRIBO_X
        TRIBO_TERM_END /**< one more than the last */
} tribo_term_kind;

/** What a component r of a residual counts: X(NAME, name, what). s is the term's scale. */
#define TRIBO_NORM_LIST(X)                                                                                             \
    X(QUADRATIC, "quadratic", "r^2 / 2")                                                                               \
    X(LINEAR, "linear", "r")                                                                                           \
    X(SMOOTH_ABS, "smooth-abs", "s (sqrt(r^2 + s^2) - s): |r| s far from 0")                                           \
    X(HUBER, "huber", "r^2 / 2 to |r| = s, then s (|r| - s/2)")                                                        \
    X(LOG_COSH, "log-cosh", "s^2 log cosh(r / s)")                                                                     \
    X(ABOVE, "above", "r^2 / 2 where r > 0: what is to stay below its target")                                         \
    X(BELOW, "below", "r^2 / 2 where r < 0: what is to stay above its target")                                         \
    X(LIMIT, "limit", "a constraint: r <= 0, by an augmented Lagrangian")                                              \
    X(LEAST, "least", "a constraint: r >= 0")                                                                          \
    X(EQUAL, "equal", "a constraint: r = 0")

/** How a residual counts. */
typedef enum tribo_norm {
#define TRIBO_X(NAME, name, text) TRIBO_NORM_##NAME,
    TRIBO_NORM_LIST(TRIBO_X)
#undef TRIBO_X
        TRIBO_NORM_END /**< one more than the last */
} tribo_norm;

TRIBO_API const char *tribo_term_name(tribo_term_kind kind); /**< NULL if there is none */
TRIBO_API tribo_term_kind tribo_term_find(const char *name); /**< TRIBO_TERM_END if there is none */
TRIBO_API const char *tribo_norm_name(tribo_norm norm);      /**< NULL if there is none */
TRIBO_API tribo_norm tribo_norm_find(const char *name);      /**< TRIBO_NORM_END if there is none */

/** A residual of the caller's, of one knot, with its derivative.
 *  @param u (ncontrol); NULL at the last knot. @param r [out] (size)
 *  @param rx [out] (size,ndx) by the tangent of x, @param ru [out] (size,ncontrol): zeroed before; NULL = not wanted
 *  @return not 0 or above = the knot has no cost: what led there is not taken. Called from several threads at once. */
typedef tribo_status (*tribo_term_function)(void *context, int knot, const double *x, const double *u, double *r,
                                            double *rx, double *ru);

/** One term. Fill with tribo_default_term() first. Everything pointed to is copied, but for the context. Arrays shorter
 *  than tribo_term_sizes() says are read beyond their end, unless weight_count and target_count tell how long they are.
 */
typedef struct tribo_term_def {
    uint32_t struct_size;         /**< set by tribo_default_term() */
    const char *name;             /**< for messages; NULL = its kind's */
    tribo_term_kind kind;         /**< what it is of */
    int joint;                    /**< of JOINT and JOINT_VELOCITY */
    int body, site;               /**< one of them, of those that are of a body or a site; the other -1 */
    int body2, site2;             /**< what is taken off, or pushes the body of a CONTACT_FORCE; -1 = nothing, or all */
    double weight;                /**< of the whole term, >= 0; of LINEAR of any sign */
    const double *weights;        /**< (size) of its components, >= 0, beside that; 0 leaves one out; NULL = all 1 */
    tribo_norm norm;              /**< what a component counts */
    double scale;                 /**< s of the norms that have one, > 0 */
    int first, last;              /**< knots it is at; those below 0 count from the end: -1 is the last state */
    const double *target;         /**< (ntarget,n), n the numbers of what it is of; NULL = 0, of a state the start */
    int ntarget;                  /**< 1, or as many as there are knots from first to last: a row each */
    int size;                     /**< of CUSTOM: how many numbers */
    tribo_term_function function; /**< of CUSTOM */
    void *context;                /**< its first argument */
    int weight_count;             /**< numbers at weights, 0 = not said: where it is said it is checked */
    int target_count;             /**< numbers at target, all rows together, the same */
} tribo_term_def;

/** What lowers the cost. */
typedef enum tribo_method {
    TRIBO_METHOD_DDP,    /**< differential dynamic programming within bounds, [Tassa14]: second order in costs and, by
                            secants of the Jacobians, in the dynamics */
    TRIBO_METHOD_ILQR,   /**< the same without the dynamics' second derivatives */
    TRIBO_METHOD_NEWTON, /**< the same with them, by differences of the steps' reverse, made convex: many steps a pass,
                            few passes where costs say nothing of the dynamics, as linear ones, or contact is smooth */
    TRIBO_METHOD_FIRST,  /**< first-order dynamic programming, [TassaTodorov10] III-C: the gradient by the reverse, a
                            step along it within bounds */
    TRIBO_METHOD_LBFGS   /**< limited-memory BFGS on the same gradient */
} tribo_method;

/** A task. Fill with tribo_default_trajopt() first. Everything pointed to is copied, but for stop. */
typedef struct tribo_trajopt_def {
    uint32_t struct_size;           /**< set by tribo_default_trajopt() */
    int knots;                      /**< controls, >= 1 */
    int substeps;                   /**< steps that a control is held for, >= 1 */
    const tribo_term_def *term;     /**< (nterm) */
    int nterm;                      /**< >= 1 */
    const int *control;             /**< (ncontrol) which numbers of u are looked for; NULL = all actuators' controls,
                                         or without actuators all generalized forces */
    int ncontrol;                   /**< ignored where control is NULL */
    const double *lower, *upper;    /**< (ncontrol), infinite = none; NULL = actuators' ranges, none of forces */
    const double *u;                /**< (nu) what the rest of u is held at; NULL = 0 */
    const double *p;                /**< (np); NULL = the model's */
    const double *x0;               /**< (nx); NULL = the first row of X, or the model's */
    const double *U;                /**< (knots,ncontrol) the first guess, moved within bounds; NULL = 0 */
    const double *X;                /**< (knots+1,nx) states to begin with, which the dynamics need not agree with: gaps
                                         are closed on the way; of DDP and ILQR. x0 takes the first row's place if it is
                                         given. NULL = what U leads to */
    tribo_method method;            /**< what lowers the cost */
    const tribo_law_options *stage; /**< (nstage) contact laws on the way to the options' own, which is the last
                                         stage: as the stochastic law under falling noise; where
                                         nothing improves in the last, DDP and ILQR take these laws' Jacobians
                                         along its motion, or without stages those of the options' law made soft,
                                         docs/math.md eq. (412). NULL = none */
    int nstage;                     /**< at most 32 */
    double tol;                     /**< of a stage: relative to the cost, what a pass expects to gain; 0 = 1e-9 */
    double tol_constraint;          /**< on constraints, in their units; 0 = 1e-6 */
    int workers;                    /**< threads, >= 1 */
    const tribo_options *options;   /**< of the step; NULL = defaults */
    const volatile int *stop;       /**< not 0 = a pass stops within a knot; NULL = never */
    const tribo_allocator *allocator; /**< NULL = malloc */
} tribo_trajopt_def;

typedef struct tribo_trajopt tribo_trajopt; /**< a task and the best so far; one thread drives it */

TRIBO_API tribo_term_def tribo_default_term(void);       /**< quadratic, weight 1, at all knots but the last state */
TRIBO_API tribo_trajopt_def tribo_default_trajopt(void); /**< one substep, DDP, one worker */
/** The first rollout is made.
 *  @return TRIBO_OK; TRIBO_E_ARG (diag says what of which term, or that a guess is not finite);
 *          TRIBO_E_DEF; TRIBO_E_NOMEM; and what tribo_step() returns along the first guess. */
TRIBO_API TRIBO_CHECK tribo_status tribo_trajopt_new(const tribo_model *m, const tribo_trajopt_def *def,
                                                     tribo_trajopt **t, tribo_diag *diag);
/** Free; NULL is fine. */
TRIBO_API void tribo_trajopt_free(tribo_trajopt *t);

/** Where a search stands. */
typedef struct tribo_trajopt_progress {
    int stage;        /**< 0 .. nstage, the last is under the options' law */
    int iteration;    /**< passes, counted over all stages */
    double cost;      /**< J, without constraints, of the best so far under the stage's law */
    double cost_hard; /**< J of its controls under the options' law, without feedback; infinite = they fail there */
    double expected;  /**< what the last pass expected to gain */
    double step;      /**< share of the step that was taken, 0 = none */
    double regularisation; /**< on the diagonal of Q_uu */
    double gradient;       /**< of the cost in the controls, largest, without what bounds hold back */
    double gap;            /**< largest between states and what the dynamics say, in the tangent */
    double violation;      /**< largest of a constraint */
    int rollouts;          /**< made so far */
    int unconverged;       /**< steps of the best so far whose contact problem did not converge */
    bool converged;        /**< the last stage's is stationary, within bounds and constraints */
    bool done;             /**< converged, or no step improves, or none by more than the tolerance any more */
} tribo_trajopt_progress;

/** One pass: Jacobians, backward, forward. @return TRIBO_OK (go on, or progress->done); TRIBO_INTERRUPTED; an error
 * that leaves the best so far as it is. Allocates: where a stage begins or its Jacobians are asked for, for workspaces;
 * L-BFGS. */
TRIBO_API TRIBO_CHECK tribo_status tribo_trajopt_iterate(tribo_trajopt *t, tribo_trajopt_progress *progress);
/** Passes until done. @param progress NULL = skip
 *  @return TRIBO_OK (converged); TRIBO_NOT_CONVERGED (max_iterations, or no step improves); TRIBO_INTERRUPTED; an
 * error.
 */
TRIBO_API TRIBO_CHECK tribo_status tribo_trajopt_solve(tribo_trajopt *t, int max_iterations,
                                                       tribo_trajopt_progress *progress);

/** How many numbers a term has, so that arrays can be made and checked: its residual's, which weights has, and those of
 *  a row of its target, which of states and rotations are others. @param ncontrol the task's, of CONTROL
 *  @param width [out]. Either may be NULL. @return TRIBO_OK; TRIBO_E_ARG (no such kind or joint), nothing written. */
TRIBO_API TRIBO_CHECK tribo_status tribo_term_sizes(const tribo_model *m, const tribo_term_def *term, int ncontrol,
                                                    int *size, int *width);
/** How many controls a knot has. */
TRIBO_API int tribo_trajopt_ncontrol(const tribo_trajopt *t);
/** Which number of u control i is. */
TRIBO_API int tribo_trajopt_control(const tribo_trajopt *t, int i);
/** The best so far. @param X [out] (knots+1,nx). @param U [out] (knots,ncontrol). Either may be NULL. */
TRIBO_API void tribo_trajopt_trajectory(const tribo_trajopt *t, double *X, double *U);
/** J term by term, of the best so far. @param cost [out] (nterm); of constraints 0 */
TRIBO_API TRIBO_CHECK tribo_status tribo_trajopt_costs(tribo_trajopt *t, double *cost);
/** dJ/dp and dJ/dx_0 along the best so far, controls held: at an optimum those of its cost, docs/math.md eq. (409).
 *  @param x0_bar [in,out] (ndx) +=; NULL = skip. @param p_bar [in,out] (np) +=; NULL = skip
 *  @return TRIBO_OK; TRIBO_E_ARG (states with gaps); what tribo_backward() returns. */
TRIBO_API TRIBO_CHECK tribo_status tribo_trajopt_gradient(tribo_trajopt *t, double *x0_bar, double *p_bar);

/* ---- feedback ---- */

/** u = u_k + K_k (x (-) x_k), within bounds; eq. (407). Of DDP; of other methods without K. Before a pass K is 0.
 *  @param u [out] (nu) all of it. @return TRIBO_E_ARG (no such knot, NULL); TRIBO_E_NONFINITE (x), u as it was. */
TRIBO_API TRIBO_CHECK tribo_status tribo_trajopt_feedback(const tribo_trajopt *t, int knot, const double *x, double *u);
/** Feedback along the best so far with as little regularisation as leaves the matrices definite: that of the last pass
 * is of the motion before, and where steps are refused next to nothing. Of DDP and ILQR; a search that is done has it.
 * From the Jacobians of the law that is searched under, or where a search ended without being stationary of the last
 *  stage before it, or of its own law made soft; K is 0 where no regularisation makes them definite. A search goes on
 * as it would have.
 *  @return TRIBO_OK; TRIBO_E_ARG (NULL); TRIBO_INTERRUPTED; what a pass returns, feedback as it was. */
TRIBO_API TRIBO_CHECK tribo_status tribo_trajopt_settle(tribo_trajopt *t);
/** The gain K (ncontrol,ndx) of a knot. */
TRIBO_API TRIBO_CHECK tribo_status tribo_trajopt_gain(const tribo_trajopt *t, int knot, double *K);
/** Begin again, `knots` later and at x0: controls are shifted, the last repeated, states rolled out, with the feedback
 * where that costs less; targets stay where they are unless tribo_trajopt_set_target() moves them. For receding
 * horizons. The search starts at its last stage; feedback and multipliers are shifted too.
 *  @param knots in [0, the task's]. @param x0 (nx)
 *  @return TRIBO_OK; as it was: TRIBO_E_ARG; TRIBO_E_NONFINITE; TRIBO_INTERRUPTED; TRIBO_E_NOMEM; what tribo_step()
 *          returns along the shifted controls. */
TRIBO_API TRIBO_CHECK tribo_status tribo_trajopt_shift(tribo_trajopt *t, int knots, const double *x0);
/** Other controls, and x0; nothing is known of feedback and multipliers. @param U (knots,ncontrol)
 *  @return as tribo_trajopt_shift(). */
TRIBO_API TRIBO_CHECK tribo_status tribo_trajopt_restart(tribo_trajopt *t, const double *x0, const double *U);
/** Another target for a term: as many rows as it was made with; takes effect with the next shift or restart.
 *  @return TRIBO_OK; as it was: TRIBO_E_ARG (no such term, one made without a target, a quaternion of length 0);
 *          TRIBO_E_NONFINITE. */
TRIBO_API TRIBO_CHECK tribo_status tribo_trajopt_set_target(tribo_trajopt *t, int term, const double *target);

/** Trajectories with their feedback, to be looked up by state: [TassaTodorov10] IV-C. */
typedef struct tribo_policies tribo_policies;
/** @return TRIBO_OK; TRIBO_E_ARG; TRIBO_E_NOMEM. */
TRIBO_API TRIBO_CHECK tribo_status tribo_policies_new(const tribo_model *m, int ncontrol, const tribo_allocator *a,
                                                      tribo_policies **l);
/** Free; NULL is fine. */
TRIBO_API void tribo_policies_free(tribo_policies *l);
/** How many knots are in it. */
TRIBO_API int tribo_policies_size(const tribo_policies *l);
/** Knots [first, last] of the best so far. @return TRIBO_OK; as it was: TRIBO_E_ARG; TRIBO_E_NOMEM. */
TRIBO_API TRIBO_CHECK tribo_status tribo_policies_add(tribo_policies *l, const tribo_trajopt *t, int first, int last);
/** The control of the nearest knot's linear feedback, in the norm that the spread of all knots scales, eq. (408).
 *  @param ignore (ndx) true = a number that does not count, as an angle that turns on and on; NULL = none
 *  @param u [in,out] (nu): the controls' numbers are set. @param nearest [out] which; NULL = skip
 *  @return TRIBO_OK; u as it was: TRIBO_E_ARG (empty), TRIBO_E_NONFINITE. */
TRIBO_API TRIBO_CHECK tribo_status tribo_policies_control(const tribo_policies *l, const bool *ignore, const double *x,
                                                          double *u, int *nearest);
/** Into a file of text. @return TRIBO_OK; TRIBO_E_ARG; TRIBO_E_IO;
 * TRIBO_E_NOMEM. */
TRIBO_API TRIBO_CHECK tribo_status tribo_policies_save(const tribo_policies *l, const char *path, tribo_diag *diag);
/** From a file that tribo_policies_save() wrote. @return as there; TRIBO_E_PARSE (line in diag; another model's). */
TRIBO_API TRIBO_CHECK tribo_status tribo_policies_load(const char *path, const tribo_model *m, const tribo_allocator *a,
                                                       tribo_policies **l, tribo_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
