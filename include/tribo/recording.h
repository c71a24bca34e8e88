/* recording.h -- what a recording says of its own units, orders, frames and clocks, before anything is fitted to it.
 *
 * A fit follows whatever it is given: millimetres for metres, quaternions in another order, a column that is three
 * samples late give parameters all the same, and wrong ones. Most such mistakes contradict something else in the
 * recording: its poses, gravity, the shapes of the scene. tribo_checked_new() looks for these contradictions, makes a
 * copy in the conventions of a state (sim.h) where the numbers decide what was meant, and refuses the recording where
 * they only tell that something is wrong. docs/identify.md says how each is found.
 */
#ifndef TRIBO_RECORDING_H
#define TRIBO_RECORDING_H
#include <tribo/sysid.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a finding is about. */
typedef enum tribo_convention {
    TRIBO_CONVENTION_TIME,     /**< times are not in seconds */
    TRIBO_CONVENTION_LENGTH,   /**< positions are not in metres */
    TRIBO_CONVENTION_VELOCITY, /**< a velocity column has another unit than its poses */
    TRIBO_CONVENTION_ANGULAR,  /**< an angular velocity is in degrees a second */
    TRIBO_CONVENTION_FRAME,    /**< an angular velocity is given along the axes of the world */
    TRIBO_CONVENTION_ORDER,    /**< quaternions as x y z w, or of the inverse rotation */
    TRIBO_CONVENTION_SIGN,     /**< quaternions change their sign, which means nothing */
    TRIBO_CONVENTION_KIND,     /**< what a velocity column is: a difference of poses, and which */
    TRIBO_CONVENTION_DELAY,    /**< velocity columns lag behind their poses */
    TRIBO_CONVENTION_GAP,      /**< rows are missing, with or without a trace in the times */
    TRIBO_CONVENTION_OUTLIER,  /**< a row that nothing could have gone through */
    TRIBO_CONVENTION_NAMES,    /**< two bodies have each other's name */
    TRIBO_CONVENTION_SCENE,    /**< the motion contradicts the scene: it floats, or lies inside of something */
    TRIBO_CONVENTION_FORCE,    /**< contact forces are those on the other side, or along other axes */
    TRIBO_CONVENTION_CLOCK     /**< bodies, or rotations, lag behind others */
} tribo_convention;

/** What was done about it. */
typedef enum tribo_outcome {
    TRIBO_OUTCOME_NOTED,   /**< nothing had to be done */
    TRIBO_OUTCOME_MENDED,  /**< the copy is in the conventions of a state */
    TRIBO_OUTCOME_REFUSED, /**< the numbers do not say what was meant */
    TRIBO_OUTCOME_DOUBTED /**< the numbers contradict one another, and nobody knows which are right: left as they are */
} tribo_outcome;

/** One finding. */
typedef struct tribo_finding {
    tribo_convention about; /**< which convention */
    tribo_outcome outcome;  /**< what was done */
    int body;               /**< -1 = the recording as a whole */
    int row;                /**< of the recording as it was given; -1 = all */
    double number;  /**< factor to the unit of a state; samples of delay; rows missing; of an order 1 = x y z w, 2 = the
                     inverse, 3 = both */
    char text[240]; /**< in words */
} tribo_finding;

typedef struct tribo_checked tribo_checked; /**< a recording, looked at; immutable */

/** Look at a recording and copy it.
 *  @param p (np), NULL = the model's: gravity, shapes, and motion between neighbouring rows are compared with it
 *  @param a NULL = malloc
 *  @return TRIBO_OK, also where the recording is refused: see tribo_checked_refused(); TRIBO_E_ARG (fewer than two
 * rows, times that do not rise, p that is not physical); TRIBO_E_NONFINITE (a measured number or a control is
 * infinite); TRIBO_E_NOMEM. */
TRIBO_API TRIBO_CHECK tribo_status tribo_checked_new(const tribo_model *m, const double *p, const tribo_recording *r,
                                                     const tribo_allocator *a, tribo_checked **c, tribo_diag *diag);
/** Free; NULL is fine. */
TRIBO_API void tribo_checked_free(tribo_checked *c);
/** The recording in the conventions of a state; its arrays live as long as c. Markers are as they were given: their
 * distances are looked at when poses are made of them, by tribo_sysid_new(). */
TRIBO_API tribo_recording tribo_checked_recording(const tribo_checked *c);
/** All *n findings, in the order in which they were made. */
TRIBO_API const tribo_finding *tribo_checked_findings(const tribo_checked *c, int *n);
/** The finding for which it must not be fitted; NULL = none. */
TRIBO_API const tribo_finding *tribo_checked_refused(const tribo_checked *c);

#ifdef __cplusplus
}
#endif
#endif
