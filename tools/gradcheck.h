/* gradcheck.h -- the reverse of a rollout against differences of it, block by block. */
#ifndef TRIBO_TOOLS_GRADCHECK_H
#define TRIBO_TOOLS_GRADCHECK_H
#include "grad_agree.h"
#include <stdint.h>
#include <tribo/grad.h>

/* The arguments of a rollout, in groups of one unit each. */
enum {
    GRAD_POSITION,
    GRAD_ROTATION,
    GRAD_VELOCITY,
    GRAD_SPIN,
    GRAD_FORCE,
    GRAD_TORQUE,
    GRAD_PARAMS, /* + tribo_param_kind */
    GRAD_BLOCKS = GRAD_PARAMS + TRIBO_PARAM_WIND + 1
};
extern const char *const grad_block_names[GRAD_BLOCKS];

/* What was found of a block. Derivatives are per natural size of the argument (its own value, or the scene's). */
typedef struct grad_block {
    int entries;      /* how many arguments it has */
    int checked;      /* directions compared: single arguments, and one through all of them */
    int kinks;        /* of these, directions with a slope on each side: the reverse has to lie between the two */
    int jumps;        /* and directions without a slope on one side or both, because the motion jumps */
    int open;         /* and directions in which the differences resolve nothing, or deny a derivative of which rounding
                         of the start decides which of several it is */
    int bounds;       /* and single arguments at a bound where they act on rounding alone: not compared */
    double largest;   /* derivative */
    double worst;     /* |reverse - difference|, less its noise, / the largest; not where the noise is above 1e-3 */
    double noise;     /* worst noise of a difference / the block's largest */
    double worst_dot; /* |reverse - forward tangent| / the block's largest */
} grad_block;

/* At most this share of the directions, those of `bounds` aside, may be kinks, jumps or open. */
#define GRAD_LEFT_OUT 0.2
/* What reverse, forward tangents and Jacobians may differ by. */
#define GRAD_AGREE 1e-9

typedef struct grad_task {
    const tribo_model *model;
    const double *x0; /* (nx) */
    int steps;
    uint64_t seed; /* of the loss, the controls, and which arguments are compared where there are many */
    int per_block; /* single arguments compared in a block at most */
    double tol;    /* what is looked for in `worst` */
    tribo_options options;
} grad_task;

typedef struct grad_result {
    grad_block block[GRAD_BLOCKS];
    double worst, worst_dot;
    grad_agreement steps; /* reverse, forward tangents and Jacobians of each step */
    double left_out;      /* share of the directions that are kinks, jumps or open */
    tribo_step_info info; /* worst over the steps: residual, margin, degenerate contacts in all */
} grad_result;

/* @return TRIBO_OK; what the steps return. */
tribo_status grad_check(const grad_task *task, grad_result *result);

/* What is wrong of a result, in words; NULL = nothing. */
const char *grad_flaw(const grad_task *task, const grad_result *result);

#endif
