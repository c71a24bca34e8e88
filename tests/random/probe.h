/* probe.h -- a rollout and a direction of its arguments, and the slopes of its loss along it. */
#ifndef PROBE_H
#define PROBE_H
#include "judge.h"

enum { SIZES = 9 }; /* of steps along it */

/* A rollout, its loss sum_k lx_k . (x_k - what it was), and one direction of its arguments. */
typedef struct probe {
    const scene *s;
    const world *w;
    const tribo_tape *tape; /* of the rollout */
    int steps, nx, ndx, nu, np;
    double speed, size; /* what the scene's numbers are measured in */
    double *x, *u, *p, *lx, *p_bar, *x_bar, *u_bar, *x_dir, *u_dir, *p_dir, *p_now, *lower, *upper;
    tribo_param_kind *kind;
    bool claims;     /* every step OK and nothing counted but loads that geoms share */
    bool shared;     /* these are */
    double margin;   /* the least of the rollout */
    double rounding; /* what that of the states makes of the loss */
    double loss[2][SIZES];
    bool known[2][SIZES], outside;
} probe;

/* What one side says of a derivative that should be g. */
typedef struct one_side {
    bool settled, agrees, outside;
    double slope;
} one_side;

/* slopes.c: of side 0 or 1, below or above; g is compared with it, and `floor` with both. */
one_side look(probe *p, int which, double g, double floor);
/* Whether central differences, which curvature does not bend, are g where both sides are nearly one. */
bool middle_agrees(probe *p, double g, double floor);

#endif
