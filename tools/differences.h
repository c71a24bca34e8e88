/* differences.h -- the derivative of a function of one number by differences, as exactly as its rounding allows. */
#ifndef TRIBO_TOOLS_DIFFERENCES_H
#define TRIBO_TOOLS_DIFFERENCES_H
#include <stdbool.h>

/* NaN where it is not defined. */
typedef double (*difference_function)(void *context, double h);

typedef struct difference {
    double value; /* the derivative: central where both sides agree, else the side nearer to `expected` */
    double noise; /* how much neighbouring extrapolations differ: what this can resolve */
    bool kink;    /* the two sides do not agree: value is that of one side */
    bool jump;    /* f does not go to f(0) on any side where it is defined: there is no derivative */
} difference;

/* Differentiate at 0. Steps are halved from `h`, each pair of them extrapolated, and the extrapolation taken that moves
 * least: steps too long meet kinks and curvature, steps too short rounding.
 * @param expected what is to be confirmed; the search ends as soon as it is, to `tol` (absolute). */
difference differentiate(difference_function f, void *context, double h, double expected, double tol);

#endif
