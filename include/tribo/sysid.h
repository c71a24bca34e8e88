/* sysid.h -- identification: the parameters of a model from recorded motion, and what the recordings cannot tell.
 *
 * A fit works in theta, one dimensionless number a free parameter: p = map(theta) keeps every value physical,
 * docs/math.md eq. (67). The loss is the mean of rho(|w r|^2) / 2 over the measured blocks: position, rotation,
 * velocity, angular velocity in a row, three numbers each of a free body, the one or three of a joint; r = simulated
 * minus measured. Drive a fit with tribo_sysid_iterate(), an iteration a call, or with tribo_sysid_fit(); the best
 * estimate is kept whenever it stops. No number of workers, or of processes that share a fit, changes a bit.
 */
#ifndef TRIBO_SYSID_H
#define TRIBO_SYSID_H
#include <tribo/grad.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How far a simulation runs before it starts again from the recording. */
typedef enum tribo_loss {
    TRIBO_LOSS_ONE_STEP, /**< from every row to the next */
    TRIBO_LOSS_WINDOW,   /**< over `window` rows, then again from the measured state */
    TRIBO_LOSS_ROLLOUT,  /**< from the first row to the last */
    TRIBO_LOSS_SHOOTING  /**< over the whole recording, states estimated at nodes every `window` rows and tied by the
                              dynamics; where these explain the recording alone it becomes a rollout */
} tribo_loss;

/** What a large residual counts. The threshold is set for each kind of block. */
typedef enum tribo_robust {
    TRIBO_ROBUST_NONE,  /**< rho(s) = s: least squares */
    TRIBO_ROBUST_HUBER, /**< square up to the threshold, linear above: many large ones, as where motion is chaotic */
    TRIBO_ROBUST_CAUCHY /**< logarithmic above the threshold: a few wrong ones */
} tribo_robust;

/** What lowers the loss. */
typedef enum tribo_optimizer {
    TRIBO_OPT_LM,    /**< Levenberg-Marquardt on forward sensitivities, bounds by projection */
    TRIBO_OPT_LBFGS, /**< limited-memory BFGS on the reverse gradient */
    TRIBO_OPT_ADAM   /**< Adam on the reverse gradient */
} tribo_optimizer;

/** Where a rollout starts. */
typedef enum tribo_start {
    TRIBO_START_MEASURED, /**< at the first row as it is; where its velocities were not measured, as AUTO */
    TRIBO_START_FLIGHT,   /**< at the state that fits the poses of the rows before the first contact; as AUTO else */
    TRIBO_START_ALONG,    /**< at a state estimated together with the parameters */
    TRIBO_START_AUTO      /**< FLIGHT where there are rows enough, ALONG where there are not */
} tribo_start;

/** Whether a free number is the model's, or what an instrument makes of a measured one: gain times it, plus bias. */
typedef enum tribo_column {
    TRIBO_COLUMN_NONE, /**< a parameter of the model */
    TRIBO_COLUMN_GAIN, /**< of a length, an angle of a joint, a velocity; 1 where it is right. Orientations have none */
    TRIBO_COLUMN_BIAS  /**< in units of the number; of an orientation the rotation vector, in the body, of the measured
                            frame from the body's, rad. 0 where it is right */
} tribo_column;

/** A parameter to identify. Fill with tribo_default_free() first. */
typedef struct tribo_free_param {
    uint32_t struct_size; /**< set by tribo_default_free() */
    int index;            /**< into p; of a column into the tangent of a state: see tribo_model_body_v(), _joint_v() */
    double start;         /**< NaN = the model's; 1 and 0 of a column's gain and bias */
    double lower, upper;  /**< NaN = the physical bounds of its kind */
    tribo_column column;  /**< of all recordings; found by TRIBO_LOSS_SHOOTING with TRIBO_OPT_LM alone */
    int numbers;          /**< from index on, of one block, that share it; 0 = 1 */
} tribo_free_param;

/** One recording. */
typedef struct tribo_recording {
    int n;              /**< rows, >= 2 */
    const double *time; /**< (n) s, increasing; any spacing */
    const double *x;    /**< (n,nx) states; NaN = not measured */
    const double *u;    /**< (n,nu) controls, held from a row to the next; NULL = none */
    /** (n,3 nsite) m, where sites were seen, in the world; NaN = not measured; NULL = none. Poses that no column has
     * follow from them row by row. TRIBO_LOSS_SHOOTING fits the markers themselves, all with one noise, other losses
     * these poses. */
    const double *marker;
    /** (n,3 (ngeom + nbody)) N, world: mean since the row before of what all contacts push a geom with, or all geoms of
     * a body; NaN = not measured; NULL = none. TRIBO_LOSS_SHOOTING fits them, all with one noise, but next to impacts:
     * into which of two rows one falls is a matter of its instant. Other losses do not look at them. */
    const double *force;
} tribo_recording;

/** Kinds of blocks, in the order of the arrays of four below. A hinge has the second and the last, in rad, as a ball
 * does; a slide the first and the third, in m. */
enum { TRIBO_BLOCK_POSITION, TRIBO_BLOCK_ROTATION, TRIBO_BLOCK_VELOCITY, TRIBO_BLOCK_ANGULAR, TRIBO_BLOCKS };

/** Rows from node to node of TRIBO_LOSS_SHOOTING where `window` is 0: an answer with kicks is the same with it named,
 * without the second fit that its intervals take. */
enum { TRIBO_SHOOTING_ROWS = 3 };

/** One fit in several processes, the ranks, on one machine or many. Each makes the same definition, of the same files,
 * and calls the same functions in the same order; recordings are dealt out, what comes of them is told to all, and no
 * bit depends on how many ranks there are. Where ranks turn out to have other numbers, which other files or another
 * kind of processor can give them, functions return TRIBO_E_ARG. What one rank is stopped by stops all. Of one process
 * alone, to be called by any: tribo_sysid_errors(), tribo_sysid_predict() once the fit is over, and what returns no
 * status. */
typedef struct tribo_ranks {
    int count, own; /**< how many; which of them this is, from 0 on */
    /** Called from the thread that drives the fit: bytes at[r] to at[r + 1] - 1 of data are rank r's; afterwards every
     * rank has all of them.
     *  @param data [in,out] (at[count]) bytes. @param at (count+1) multiples of 8, the same on all ranks
     *  @return TRIBO_OK; a status below 0, which ends what is under way */
    tribo_status (*exchange)(void *context, void *data, const size_t *at);
    void *context; /**< the first argument */
} tribo_ranks;

/** Fill with tribo_default_sysid() first. Everything pointed to is copied. */
typedef struct tribo_sysid_def {
    uint32_t struct_size;           /**< set by tribo_default_sysid() */
    const tribo_free_param *free;   /**< (nfree) */
    int nfree;                      /**< 0 is fine: to measure errors only */
    const tribo_recording *rec;     /**< (nrec) */
    int nrec;                       /**< >= 1 */
    tribo_loss loss;                /**< how far simulations run */
    int window;                     /**< rows, for TRIBO_LOSS_WINDOW; from node to node, for TRIBO_LOSS_SHOOTING, where
                                         0 = chosen, and intervals hold what other numbers make of an answer with kicks */
    tribo_start start;              /**< of rollouts */
    tribo_robust robust;            /**< what large residuals count */
    double threshold[TRIBO_BLOCKS]; /**< of rho, in weighted units; 0 = 1.5 times the median block norm at the start */
    /** 1/m, 1/rad, s/m, s/rad; < 0 = leave out; 0 = by extent, by what a rotation moves at half of it, and for
     * velocities by the time that extent takes to fall, which count in one-step losses and where no pose was measured:
     * they jump at impacts. */
    double weight[TRIBO_BLOCKS];
    tribo_optimizer optimizer; /**< of the descent */
    int search;  /**< loss evaluations for a search without derivatives where the optimizer gets stuck; of starts for
                      TRIBO_LOSS_SHOOTING, 24 at most; 0 = none */
    double rate; /**< Adam's step in theta; 0 = 0.02 */
    double validation;                /**< share of recordings left out of the fit, chosen by `seed` */
    uint64_t seed;                    /**< of the choice of recordings held out, and of the search */
    int workers;                      /**< threads, >= 1 */
    const tribo_options *options;     /**< of the step; NULL = defaults. dt is chosen so that whole steps fill a row */
    const volatile int *stop;         /**< not 0 = an iteration stops within a step; NULL = never */
    const tribo_ranks *ranks;         /**< NULL = one process */
    const tribo_allocator *allocator; /**< NULL = malloc */
} tribo_sysid_def;

typedef struct tribo_sysid tribo_sysid; /**< a fit: recordings, estimates, scratch; one thread drives it */

/** A parameter with the model's start and physical bounds: give it an index. */
TRIBO_API tribo_free_param tribo_default_free(void);
/** Rollouts from the measured start, Levenberg-Marquardt, one thread: give it parameters and recordings. */
TRIBO_API tribo_sysid_def tribo_default_sysid(void);
/** @return TRIBO_OK; TRIBO_E_ARG (names, bounds, times; diag says which); TRIBO_E_DEF; TRIBO_E_NOMEM; and what
 *          tribo_step() returns. */
TRIBO_API TRIBO_CHECK tribo_status tribo_sysid_new(const tribo_model *m, const tribo_sysid_def *def, tribo_sysid **s,
                                                   tribo_diag *diag);
/** Free; NULL is fine. */
TRIBO_API void tribo_sysid_free(tribo_sysid *s);

/** How many numbers theta has: nfree. */
TRIBO_API int tribo_sysid_nfree(const tribo_sysid *s);
/** The best theta so far; the start before any iteration. */
TRIBO_API void tribo_sysid_theta(const tribo_sysid *s, double *theta /* [out] (nfree) */);
/** p = map(theta): all of p. */
TRIBO_API void tribo_sysid_params(const tribo_sysid *s, const double *theta, double *p /* [out] (np) */);
/** dp/dtheta. @param P [out] (nfree,np), a row a theta */
TRIBO_API void tribo_sysid_map_jac(const tribo_sysid *s, const double *theta, double *P);
/** Every free number's value: of the model's p, of a column its gain or bias.
 *  @param value [out] (nfree) */
TRIBO_API void tribo_sysid_values(tribo_sysid *s, const double *theta, double *value);
/** The rows of a recording as the fit reads them at the best theta: gain and bias taken out, poses that markers tell
 *  filled in; NaN is what was not measured. @param X [out] (n,nx). @return TRIBO_OK; TRIBO_E_ARG (no such recording).
 */
TRIBO_API TRIBO_CHECK tribo_status tribo_sysid_rows(tribo_sysid *s, int recording, double *X);
/** Is this recording left out of the fit, for validation? */
TRIBO_API bool tribo_sysid_held_out(const tribo_sysid *s, int recording);
/** Rows of a recording before its first contact. */
TRIBO_API int tribo_sysid_flight(const tribo_sysid *s, int recording);

/** Loss over the training recordings and its gradient, with the start states as they stand: by the reverse; of
 *  TRIBO_LOSS_SHOOTING, whose steps are not all the library's, by forward sensitivities.
 *  @param grad [out] (nfree); NULL = loss only
 *  @return TRIBO_OK; TRIBO_E_ARG (not physical; a gradient where a column is free); what tribo_step() returns. */
TRIBO_API TRIBO_CHECK tribo_status tribo_sysid_eval(tribo_sysid *s, const double *theta, double *loss, double *grad);
/** The same by forward sensitivities, and the Gauss-Newton matrix J'WJ / N.
 *  @param grad [out] (nfree). @param H [out] (nfree,nfree) */
TRIBO_API TRIBO_CHECK tribo_status tribo_sysid_normal(tribo_sysid *s, const double *theta, double *loss, double *grad,
                                                      double *H);
/** Loss over the recordings held out. @return also TRIBO_E_ARG (there are none). */
TRIBO_API TRIBO_CHECK tribo_status tribo_sysid_validation(tribo_sysid *s, const double *theta, double *loss);

/** What a fit is doing. */
typedef enum tribo_stage { TRIBO_STAGE_SEARCH, TRIBO_STAGE_DESCENT, TRIBO_STAGE_DONE } tribo_stage;

/** Where a fit stands. */
typedef struct tribo_progress {
    tribo_stage stage; /**< of the iteration that was made */
    int iteration;     /**< counted over all stages */
    long evaluations;  /**< of the loss over all recordings */
    double loss;       /**< of the best theta; NaN before it is known */
    /** Of the start; NaN of shooting, which estimates noise on the way and measures in units of it: losses do not
     * compare */
    double loss_start;
    double gradient_norm; /**< of the loss in theta, without what bounds hold back; NaN before it is known */
    bool converged;       /**< a stationary point was reached */
    bool settled;         /**< no step improves, and the search has been made: a loss that is not smooth */
    int starts, agreed;   /**< shooting: fits from different starts, and how many of them ended at the answer */
    double second;        /**< how much less likely the best of the others is, in the logarithm; infinite = none */
    int others; /**< shooting, joints: other answers, off by more than a standard error in something, that explain the
                 * recordings as well; the intervals hold them */
} tribo_progress;

/** One iteration of the fit. @return TRIBO_OK (go on, or progress->stage is TRIBO_STAGE_DONE); TRIBO_INTERRUPTED;
 *  an error that leaves the best so far as it is. */
TRIBO_API TRIBO_CHECK tribo_status tribo_sysid_iterate(tribo_sysid *s, tribo_progress *progress);
/** Iterate until done. @return TRIBO_OK (converged or settled); TRIBO_NOT_CONVERGED; TRIBO_INTERRUPTED; or an error. */
TRIBO_API TRIBO_CHECK tribo_status tribo_sysid_fit(tribo_sysid *s, int max_iterations, tribo_progress *progress);

/** What is known of one parameter. */
typedef struct tribo_estimate {
    int index;                                        /**< that of its tribo_free_param */
    double start, estimate, std_error, low95, high95; /**< in units of p; the interval covers 95 % */
    bool identifiable; /**< false: the recordings leave it undetermined; std_error is then infinite */
    bool at_bound;     /**< the estimate lies at a bound, its own or the default's, which is why it is there */
} tribo_estimate;

/** Fisher information at the best theta, with what it says of every free parameter.
 *
 *  docs/math.md eq. (70): information = J'WJ / sigma^2, sigma^2 the mean weighted square of the residuals. Where there
 * are at least three recordings more than parameters, errors are at least those of the sandwich J'WJ^-1 (sum of
 * g_i g_i') J'WJ^-1 over recordings i: residuals along one simulated motion are not independent. Under
 * TRIBO_LOSS_SHOOTING the starts' own uncertainty is in them, and each kind of measurement has its own noise. Intervals
 * are Student's.
 *  @param est         [out] (nfree)
 *  @param information [out] (nfree,nfree) in theta; NULL = skip
 *  @param direction   [out] (nfree,nfree) unit vectors in theta, undetermined ones first; NULL = skip
 *  @param spread      [out] (nfree) standard deviation along each, 1 = a factor e or the size of the parameter;
 *                     NULL = skip
 *  @param nundetermined [out] how many directions the recordings leave open; NULL = skip */
TRIBO_API TRIBO_CHECK tribo_status tribo_sysid_observe(tribo_sysid *s, tribo_estimate *est, double *information,
                                                       double *direction, double *spread, int *nundetermined);
/** Do the recordings, each by itself, ask for the same parameters? Of the last tribo_sysid_observe().
 *
 *  docs/math.md eq. (604): what the sum of squares over noise would fall by if each recording had parameters of its
 * own, to second order. Where the model is right it is chi-squared.
 *  @param square  [out] that
 *  @param freedom [out] its degrees of freedom; 0 where it is not judged: other losses than TRIBO_LOSS_SHOOTING, kicks,
 * one recording, a parameter at its bound */
TRIBO_API void tribo_sysid_agreement(const tribo_sysid *s, double *square, int *freedom);

/** What a direction in theta does to the values of the free parameters, at the best theta. They are the direction's own
 *  numbers but of a link's six moments and products of inertia, which are free together: theta moves a factor of
 * theirs, and which of them that is does not say which of the moments changes.
 *  @param direction (nfree)
 *  @param change    [out] (nfree) of each value, over the most that a direction of unit length makes of it; may alias
 *                   direction */
TRIBO_API void tribo_sysid_changes(const tribo_sysid *s, const double *direction, double *change);

/** How well a recording is predicted. */
typedef struct tribo_errors {
    int rows;                                        /**< of the recording */
    double position_mean;                            /**< m, of the whole rollout: mean over rows and bodies, slides */
    double rotation_mean_deg;                        /**< the same for angles between orientations, of hinges */
    double position_relative;                        /**< position_mean / extent */
    double step_position_rms, step_rotation_rms_deg; /**< one row ahead from each row */
    double step_velocity_rms, step_angular_rms;      /**< m/s, rad/s; NaN where none was measured */
    double force_mean; /**< N, of the whole rollout: mean over rows and what was measured; NaN where none was */
} tribo_errors;

/** @param p (np), NULL = at the best theta. @return also TRIBO_E_ARG (no such recording). */
TRIBO_API TRIBO_CHECK tribo_status tribo_sysid_errors(tribo_sysid *s, const double *p, int recording,
                                                      tribo_errors *errors);
/** The simulated states at the rows of a recording. @param X [out] (n,nx) */
TRIBO_API TRIBO_CHECK tribo_status tribo_sysid_predict(tribo_sysid *s, const double *p, int recording, double *X);

/** The motion that TRIBO_LOSS_SHOOTING has for a recording, states at its rows before their kicks; docs/math.md eq.
 * (147).
 *  @param X [out] (n,nx). @param cov [out] (n,ndx,ndx) covariance of each, in its tangent, eq. (321); NULL = skip
 *  @return also TRIBO_E_ARG (another loss, a recording held out, no iteration yet). */
TRIBO_API TRIBO_CHECK tribo_status tribo_sysid_smooth(tribo_sysid *s, int recording, double *X, double *cov);

#ifdef __cplusplus
}
#endif
#endif
