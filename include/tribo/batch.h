/* batch.h -- many worlds of one model: rows of p, x and u, stepped and differentiated by a pool of threads.
 *
 * The step is f(p, x, u) with every number in p, so a world is a row: nothing is copied for it and nothing is kept of
 * it between calls. To reset a world, write its row of x and set its status to TRIBO_OK. What comes out is what
 * tribo_step(), tribo_rollout(), tribo_backward() and the derivatives of a step give for the row alone, bit for bit,
 * for any number of threads, any order of worlds, any number of worlds in a call.
 *
 * Worlds share nothing but the model. One that fails stops alone, its neighbours go on; each has a status:
 *   status (n) [in,out]  worlds below 0 are left out, their rows of all outputs stay as they are; of the others it is
 *                        what the world's steps and derivatives returned, the worst. NULL = all go, nothing is told.
 * Every function returns the status of the first world below 0, else the worst of all worlds; and TRIBO_E_ARG for what
 * is wrong of the call itself (NULL, sizes, n < 0, steps out of range, another default), before anything is done. n = 0
 * is no error. A world of no steps whose p or x no step would take fails as its first step would. A world that fails
 * has its rows of outputs as they were, unless a function says otherwise.
 */
#ifndef TRIBO_BATCH_H
#define TRIBO_BATCH_H
#include <tribo/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How a batch is made. Fill with tribo_default_batch() first. */
typedef struct tribo_batch_def {
    uint32_t struct_size;         /**< set by tribo_default_batch() */
    int workers;                  /**< threads, the caller's among them, in [1, 256]: 1 by default */
    int steps;                    /**< of the longest rollout that is differentiated, >= 1: 1 by default */
    size_t tape_bytes;            /**< of records, a thread; 0 = 16 MB, less where `steps` need less. Where a rollout
                                       does not fit, parts of it are made twice; room for one step is always there */
    bool sum_controls;            /**< whether tribo_batch_bars.sum_u will be asked for: takes memory */
    const tribo_options *options; /**< of the step; NULL = defaults. With warm_start worlds begin every call cold,
                                       and every part of a rollout that tape_bytes cuts; there are no tangents then,
                                       and no Jacobians */
    const tribo_allocator *allocator; /**< NULL = malloc */
} tribo_batch_def;

typedef struct tribo_batch tribo_batch; /**< threads with their workspaces; one thread drives it */

/** One worker, one step. */
TRIBO_API tribo_batch_def tribo_default_batch(void);
/** Starts the threads. Where the system has fewer, those it has do the work. Nothing allocates from here on.
 *  @param def NULL = defaults. @param diag [out] what is wrong of the definition or of which option; NULL = skip
 *  @return TRIBO_OK; TRIBO_E_ARG; TRIBO_E_DEF; TRIBO_E_NOMEM. */
TRIBO_API TRIBO_CHECK tribo_status tribo_batch_new(const tribo_model *m, const tribo_batch_def *def, tribo_batch **b,
                                                   tribo_diag *diag);
/** Ends the threads; NULL is fine. */
TRIBO_API void tribo_batch_free(tribo_batch *b);
/** Bytes that it holds, threads' stacks left out: independent of how many worlds there are; 0 of NULL. */
TRIBO_API size_t tribo_batch_bytes(const tribo_batch *b);

/** Worlds, row by row. Fill with tribo_default_worlds() first. */
typedef struct tribo_worlds {
    uint32_t struct_size;        /**< set by tribo_default_worlds() */
    int n;                       /**< how many, >= 0 */
    int steps;                   /**< T, of every world unless horizon says less: 1 by default, >= 0 */
    const int *horizon;          /**< (n) steps of each world, in [0, steps]; NULL = steps */
    const double *p;             /**< (n,np), or (np) where same_p; NULL = the model's */
    const double *x;             /**< (n,nx), or (nx) where same_x; never NULL where n > 0 */
    const double *u;             /**< (n,steps,nu), or (steps,nu) where same_u; NULL = zero */
    bool same_p, same_x, same_u; /**< one row for all worlds */
} tribo_worlds;
/** No worlds of one step. */
TRIBO_API tribo_worlds tribo_default_worlds(void);

/** One step of every world, from u[i] of a single step; `steps` has to be 1.
 *  @param x_next [out] (n,nx) may be w->x itself, unless same_x */
TRIBO_API TRIBO_CHECK tribo_status tribo_batch_step(tribo_batch *b, const tribo_worlds *w, double *x_next,
                                                    tribo_status *status);
/** Rollouts.
 *  @param X [out] (n,steps+1,nx), the start in front; rows behind a world's horizon stay as they are; NULL = skip
 *  @param x_end [out] (n,nx) last states, may be w->x itself, unless same_x; NULL = skip
 *  @param reached [out] (n) steps made; NULL = skip
 *  A world that fails has written the states before that into X, the last of them into x_end, and reached. */
TRIBO_API TRIBO_CHECK tribo_status tribo_batch_rollout(tribo_batch *b, const tribo_worlds *w, double *X, double *x_end,
                                                       int *reached, tribo_status *status);

/* ---- reverse ---- */

/** What a state and the control from it cost: l_k(x_k, u_k), called in order for k = 0 .. T of a world, from several
 * threads at once. It must not depend on the thread.
 *  @param world row of the call, `step` k. @param x (nx)
 *  @param u (nu); NULL at the last state of the world, and where the controls of the worlds are
 *  @param cost [in,out] += l_k
 *  @param lx [in,out] (ndx) += dl/dx, tangent; NULL = not wanted
 *  @param lu [in,out] (nu) += dl/du; NULL = not wanted, as at the last state
 *  @return TRIBO_OK; TRIBO_INTERRUPTED: this state is the world's last, u does nothing any more; below 0: the world
 * fails. */
typedef tribo_status (*tribo_cost_function)(void *context, int world, int step, const double *x, const double *u,
                                            double *cost, double *lx, double *lu);

/** A loss L_i = sum_k l_k of each world: given as a function, or as its gradient. */
typedef struct tribo_batch_loss {
    tribo_cost_function function; /**< NULL = by lx */
    void *context;                /**< its first argument */
    const double *lx;             /**< (n,steps+1,ndx) dl_k/dx_k, tangent, or (steps+1,ndx) where same_lx */
    bool same_lx;                 /**< one for all worlds */
} tribo_batch_loss;

/** What is wanted of L_i; any may be NULL. Every bar is accumulated (+=), sums in the order of worlds: calls with the
 * halves of a batch, one after the other, give the bits of one call. */
typedef struct tribo_batch_bars {
    double *cost;             /**< [out] (n) L_i, of a function; overwritten */
    double *x;                /**< (n,ndx) dL_i/dx_0, or their sum (ndx) where sum_x */
    double *u;                /**< (n,steps,nu) dL_i/du_k, or their sum (steps,nu) where sum_u */
    double *p;                /**< (n,np) dL_i/dp_i, or their sum (np) where sum_p */
    bool sum_x, sum_u, sum_p; /**< over worlds; sum_u where the batch was made with sum_controls */
    int *reached;             /**< [out] (n) steps made */
} tribo_batch_bars;

/** Rollouts and their gradients. Memory is a thread's, not a world's: states and records of one rollout; records that
 * do not fit are made again. Without x, u and p no record is made. A world that fails adds nothing to any bar or sum,
 * and its cost is as it was. */
TRIBO_API TRIBO_CHECK tribo_status tribo_batch_gradient(tribo_batch *b, const tribo_worlds *w,
                                                        const tribo_batch_loss *loss, const tribo_batch_bars *bars,
                                                        tribo_status *status);

/* ---- forward ---- */

/** Rollouts with ndir tangents of each.
 *  @param x_dot (n,ndir,ndx), u_dot (n,steps,ndir,nu), p_dot (n,ndir,np); any may be NULL = zero
 *  @param x_end [out] (n,nx) last states; NULL = skip
 *  @param xend_dot [out] (n,ndir,ndx) theirs; may be x_dot; of a world that fails not to be used */
TRIBO_API TRIBO_CHECK tribo_status tribo_batch_jvp(tribo_batch *b, const tribo_worlds *w, int ndir, const double *x_dot,
                                                   const double *u_dot, const double *p_dot, double *x_end,
                                                   double *xend_dot, tribo_status *status);
/** One step of every world with its Jacobians, dx_next = A dx + B du + C dp; `steps` has to be 1.
 *  @param x_next [out] (n,nx). @param A [out] (n,ndx,ndx). @param B [out] (n,ndx,nu). @param C [out] (n,ndx,np). Any
 * may be NULL */
TRIBO_API TRIBO_CHECK tribo_status tribo_batch_jac(tribo_batch *b, const tribo_worlds *w, double *x_next, double *A,
                                                   double *B, double *C, tribo_status *status);

/* ---- parameters drawn at random ---- */

/** How a number is distributed, by two numbers a and b. */
typedef enum tribo_draw {
    TRIBO_DRAW_UNIFORM,    /**< from a to b */
    TRIBO_DRAW_LOGUNIFORM, /**< its logarithm from log a to log b; both above 0 */
    TRIBO_DRAW_NORMAL,     /**< of mean a and standard deviation b */
    TRIBO_DRAW_END         /**< one more than the last */
} tribo_draw;

/** Which parameters of a randomiser get the same number. */
typedef enum tribo_share {
    TRIBO_SHARE_ALL,  /**< all of them */
    TRIBO_SHARE_BODY, /**< those of a body, its joints, geoms and sites; of a geom of the world, an actuator, a pair */
    TRIBO_SHARE_NONE  /**< each has its own */
} tribo_share;

/** One randomiser: parameters, and the number s that they are scaled by or that is added. Fill with
 * tribo_default_random() first. */
typedef struct tribo_random_def {
    uint32_t struct_size;    /**< set by tribo_default_random() */
    const char *const *name; /**< (nname) a parameter, a group (`cube/inertia`), or either as a pattern, in which a star
                                  is anything and a question mark a letter: star/mass is every mass; copied */
    const double *power;     /**< (nname) k: p is scaled by s^k, or k s is added; NULL = 1. A cube of another size has
                                  powers 1 of `size`, 3 of `mass`, 5 of `inertia`; copied */
    int nname;               /**< >= 1 */
    tribo_draw draw;         /**< uniform by default */
    double a, b;             /**< 1 and 1 by default */
    bool add;                /**< s is added; false: p is scaled */
    tribo_share share;       /**< one number for all by default */
    double lower;            /**< the result is not below, nor below what is physical; its derivative is 0 there */
    double upper;            /**< and not above. Infinite by default, both */
} tribo_random_def;

/** Randomisers and their seed; one thread drives it. */
typedef struct tribo_random tribo_random;

/** Scaling by 1. */
TRIBO_API tribo_random_def tribo_default_random(void);
/** Randomisers act in their order. World w of a seed has its numbers whatever the other worlds are, and by whichever
 * call they are drawn.
 *  @param diag [out] which randomiser is wrong, and how; NULL = skip
 *  @return TRIBO_OK; TRIBO_E_ARG (a name of nothing, a parameter twice in one randomiser, bounds, an empty range, a
 *          deviation below 0, not finite); TRIBO_E_DEF; TRIBO_E_NOMEM. */
TRIBO_API TRIBO_CHECK tribo_status tribo_random_new(const tribo_model *m, const tribo_random_def *def, int n,
                                                    uint64_t seed, const tribo_allocator *a, tribo_random **r,
                                                    tribo_diag *diag);
/** Free; NULL is fine. */
TRIBO_API void tribo_random_free(tribo_random *r);
/** How many numbers a world draws. */
TRIBO_API int tribo_random_draws(const tribo_random *r);
/** Which randomiser draw k is of, -1 if there is no such draw, and the name of the first parameter that it acts on.
 *  @param name [out] (128); NULL = skip */
TRIBO_API int tribo_random_describe(const tribo_random *r, int k, char *name);
/** phi: a and b of each randomiser. @param phi [out] (n,2) */
TRIBO_API void tribo_random_get(const tribo_random *r, double *phi);
/** Other a and b. @return TRIBO_OK; as it was: TRIBO_E_ARG, TRIBO_E_NONFINITE. */
TRIBO_API TRIBO_CHECK tribo_status tribo_random_set(tribo_random *r, const double *phi);

/** Parameters of worlds first to first + n - 1; docs/math.md eq. (430).
 *  @param p (np) what is scaled or added to; NULL = the model's
 *  @param P [out] (n,np). @param s [out] (n,tribo_random_draws()) the numbers drawn; NULL = skip
 *  @return TRIBO_OK; TRIBO_E_ARG. Whether a row is physical is for the step to say: an inertia can be scaled to what
 *          is none. Allocates: never. */
TRIBO_API TRIBO_CHECK tribo_status tribo_random_rows(tribo_random *r, const double *p, int64_t first, int n, double *P,
                                                     double *s);
/** Its reverse, the draws held: the gradient of an expected loss in a and b is the mean of this; eq. (431).
 *  @param P_bar (n,np)
 *  @param phi_bar [in,out] (randomisers,2) +=, summed over worlds in their order; NULL = skip
 *  @param p_bar [in,out] (np) +=, the same; NULL = skip
 *  @return TRIBO_OK; TRIBO_E_ARG. Allocates: never. */
TRIBO_API TRIBO_CHECK tribo_status tribo_random_rows_vjp(tribo_random *r, const double *p, int64_t first, int n,
                                                         const double *P_bar, double *phi_bar, double *p_bar);

#ifdef __cplusplus
}
#endif
#endif
