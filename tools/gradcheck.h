/* gradcheck.h -- the reverse of a rollout against differences of it, block by block. */
#ifndef TRIBO_TOOLS_GRADCHECK_H
#define TRIBO_TOOLS_GRADCHECK_H
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
    GRAD_BLOCKS = GRAD_PARAMS + TRIBO_PARAM_SLOP + 1
};
extern const char *const grad_block_names[GRAD_BLOCKS];

/* What was found of a block. Derivatives are per natural size of the argument (its own value, or the scene's). */
typedef struct grad_block {
    int entries;      /* how many arguments it has */
    int checked;      /* directions compared: single arguments, and one through all of them */
    int kinks;        /* of these, directions with a derivative on each side, of which the reverse has to give one; and
                         directions not compared, since rounding of the start decides which of several it gives */
    int jumps;        /* and directions without any, because the motion jumps; nothing to compare */
    double largest;   /* derivative */
    double worst;     /* |reverse - difference|, less its noise, / the largest; not where the noise is above 1e-3 */
    double noise;     /* worst noise of a difference / the block's largest */
    double worst_dot; /* |reverse - forward tangent| / the block's largest */
} grad_block;

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
    tribo_step_info info; /* worst over the steps: residual, margin, degenerate contacts in all */
} grad_result;

/* @return TRIBO_OK; what the steps return. */
tribo_status grad_check(const grad_task *task, grad_result *result);

#endif
