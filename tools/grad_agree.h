/* grad_agree.h -- reverse, forward tangents and Jacobians of recorded steps against one another. */
#ifndef TRIBO_TOOLS_GRAD_AGREE_H
#define TRIBO_TOOLS_GRAD_AGREE_H
#include <stdint.h>
#include <tribo/grad.h>

/* How much the three derivatives of a step differ, along random tangents and cotangents. */
typedef struct grad_agreement {
    double reverse;  /* reverse and forward: one number from both ends, relative to the sum of what it is made of */
    double jacobian; /* A dx + B du and the forward tangent along one kind of argument, in natural units, relative to
                        the largest number */
    int step;        /* where the worst of both is */
} grad_agreement;

/* Of all steps on the tape, the worst.
 * @param sizes (ndx + nu) the natural size of a state's and a control's numbers
 * @return TRIBO_OK; TRIBO_E_NOMEM; what the derivatives return. */
tribo_status grad_agree(tribo_ws *ws, const tribo_model *m, const tribo_tape *tape, const double *sizes, uint64_t seed,
                        grad_agreement *out);

/* splitmix64, -1 to 1 */
double grad_random(uint64_t *seed);

#endif
