/* slow.h -- does what a fit leaves go slower than noise does? docs/math.md eq. (600) to (603). */
#ifndef TRIBO_TOOLS_SLOW_H
#define TRIBO_TOOLS_SLOW_H
#include "residuals.h"

enum { SLOW_BANDS = 5 };

/* Of one number of the tangent: what polynomials in time of each band have of it, and what none has. */
typedef struct slow_number {
    double band[SLOW_BANDS], rest; /* squares, over the variance that its body shows in the recording */
    long nband[SLOW_BANDS], nrest; /* how many numbers they are of */
    long recordings, nbody;        /* how many, and of how many numbers those variances are */
} slow_number;

/* Gathered over recordings by slow_add(); zero at first. */
typedef struct slow_parts {
    int nv;
    slow_number *of; /* (nv) */
} slow_parts;

/* @return false without memory. */
bool slow_add(slow_parts *s, const residuals *r, const tribo_recording *rec);
/* Is it as noise would have it? Else what goes slowly is named in text. */
bool slow_good(const slow_parts *s, const tribo_model *m, char text[400]);
void slow_free(slow_parts *s);

/* Do recordings, each by itself, ask for the same parameters, as far as noise allows? docs/math.md eq. (605) */
bool slow_agree(const tribo_sysid *s, char text[400]);

/* The probability that chi-squared of n degrees of freedom is larger than x. */
double slow_chance_square(double x, int n);
/* The probability that F of n1 (even) and n2 degrees of freedom is larger than f. */
double slow_chance(double f, long n1, double n2);

#endif
