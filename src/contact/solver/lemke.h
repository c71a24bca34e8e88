/* lemke.h -- complementary pivoting: w = M z + q, w >= 0, z >= 0, w'z = 0, for a dense M of any kind.
 *
 * Lemke's method with a lexicographic choice among ties. It ends for every M that is copositive (which that of the
 * friction pyramid is) where there is a solution. docs/math.md eq. (94).
 */
#ifndef TI_LEMKE_H
#define TI_LEMKE_H
#include "base/base.h"

typedef struct ti_lemke {
    int m, ld;
    double *T;   /* (m,ld): basic = T[0] + T[1..m+1] nonbasic */
    int *basic;  /* (m): k for w_k, m + k for z_k, 2 m for the artificial variable */
    int *column; /* (m + 2): what is in a column, from 1 on */
    int *where;  /* (m): the column that w_k is in, 0 = it is basic */
    int *tie;    /* (m) */
    double *x;   /* (m) the basic variables */
    double *r;   /* (m) */
} ti_lemke;

void ti_lemke_carve(ti_arena *arena, int m_max, ti_lemke *l);
/* Begin a problem of m: M is to be written into rows of the table, then q. */
void ti_lemke_begin(ti_lemke *l, int m);
static inline double *ti_lemke_row(ti_lemke *l, int i) { /* M_i, and q_i before it */
    return l->T + (size_t)i * l->ld + 1;
}
/* Pivot until the artificial variable has left, at most `most` times; `turn` varies its coefficients and so the path.
 * Returns the number of pivots; *solved = whether it has left, with the basic variables in x. Impulses and velocities
 * should be of the order of one. */
int ti_lemke_run(ti_lemke *l, int turn, int most, bool *solved);
/* z (m) of the basic variables; w likewise, NULL = skip. */
void ti_lemke_values(const ti_lemke *l, double *z, double *w);
/* Add to x its change when r is added to q: with r = M z + q - w, a step of refinement. */
void ti_lemke_correct(ti_lemke *l, const double *r);

#endif
