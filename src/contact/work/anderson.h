/* anderson.h -- Anderson's mixing: an iteration t -> T(t) extrapolated from its last differences. docs/math.md
 * eq. (74). */
#ifndef TI_ANDERSON_H
#define TI_ANDERSON_H
#include "base/base.h"

enum { TI_ANDERSON_MOST = 16 };

typedef struct ti_anderson {
    int n, memory;
    int columns, next; /* how many differences are kept, and which is the oldest; columns -1: not even a pair */
    double *F, *T;     /* (memory + 1, n) differences of f = T(t) - t and of T(t); the last row is the last pair */
    double *gram;      /* (memory,TI_ANDERSON_MOST) F F' */
} ti_anderson;

/* Room for n_max variables and `memory` differences. */
void ti_anderson_carve(ti_arena *m, int n_max, int memory, ti_anderson *a);
/* Start anew, on n variables. */
void ti_anderson_forget(ti_anderson *a, int n);
/* From f = T(t) - t and T(t) in t to the next t, in place. */
void ti_anderson_mix(ti_anderson *a, const double *f, double *t);

#endif
