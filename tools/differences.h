/* differences.h -- the derivative of a function of one number by differences, as exactly as its rounding allows. */
#ifndef TRIBO_TOOLS_DIFFERENCES_H
#define TRIBO_TOOLS_DIFFERENCES_H
#include <stdbool.h>

/* NaN where it is not defined. */
typedef double (*difference_function)(void *context, double h);

/* What the differences of one side, h > 0 or h < 0, amount to. */
typedef struct difference_side {
    double slope, noise; /* NaN where f is not defined on this side */
    bool jump;           /* f does not go to f(0): there is no slope */
} difference_side;

typedef struct difference {
    difference_side above, below;
    double value; /* what is nearest to `expected` of what the differences allow: the slope where both sides have the
                     same, and between the two slopes at a kink anything */
    double noise; /* how much neighbouring extrapolations differ: what this can resolve */
    bool kink;    /* two sides, two slopes */
    bool jump;    /* f jumps on a side, or on both */
} difference;

/* Differentiate at 0. Steps are halved from `h`, each pair of them extrapolated, and the extrapolation taken that moves
 * least: steps too long meet kinks and curvature, steps too short rounding.
 * @param expected what is to be confirmed; the search ends as soon as both sides do, to `tol` (absolute). */
difference differentiate(difference_function f, void *context, double h, double expected, double tol);

#endif
