/* gyro.h -- what an impact makes of the gyroscopic acceleration of a free body, whose spin it changes. docs/math.md
 * eq. (470). */
#ifndef TI_GYRO_H
#define TI_GYRO_H
#include "forward/frame.h"

typedef struct ti_gyro {
    double time, weight;    /* of its impacts, by their impulses; the sum of these */
    double late, late_time; /* from then to the middle of the step; by that time. All of the step, and 0, where impacts
                               are taken at one time */
    ti_mat I, inverse;
    ti_vec spin, rate;    /* before it, with half of what the step's forces add, and what accelerates that */
    ti_vec after, middle; /* the spin that it leaves, likewise, and that in the middle of the time from then on */
    ti_vec gain;          /* by which that changes until the end of the time, by the midpoint rule */
} ti_gyro;

/* Of block b of the frame; not of what has joints. @return false where nothing hits it, or it turns too far in the
 * step. */
bool ti_gyro_of(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int b, ti_gyro *g);
/* The impulse of contact i, where it counts for block b: 0 else. */
double ti_gyro_push(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int b, int i);

#endif
