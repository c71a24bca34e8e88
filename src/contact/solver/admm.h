/* admm.h -- alternating directions for  min 1/2 z'G z + g'z  over a set that can be projected on, and for the fixed
 * point that this becomes where g has a part that depends on the multiplier.
 *
 * The penalty is a number rho, started from the largest eigenvalue of G and balanced; the iteration is accelerated by
 * Anderson's mixing. docs/math.md eq. (72)-(74).
 */
#ifndef TI_ADMM_H
#define TI_ADMM_H
#include "contact/work/anderson.h"

/* Scratch for problems of up to n variables. */
typedef struct ti_admm {
    int n_max, ld;
    double *K;                                     /* (n,ld) factor of G + shift; NULL without dense */
    double *x, *t, *z, *y, *old, *best, *f, *step; /* (n) */
    ti_anderson mixing;
} ti_admm;

/* A problem. G is dense, or known by the three functions on it. */
typedef struct ti_admm_task {
    int n;
    const double *G;                                             /* (n,n) symmetric; NULL = multiply, factor, solve */
    const double *g;                                             /* (n) */
    void *context;                                               /* of the functions */
    void (*multiply)(void *context, const double *x, double *y); /* y = G x */
    bool (*factor)(void *context, double shift);                 /* of G + shift 1 */
    void (*solve)(void *context, double *x);                     /* x := (G + shift)^-1 x */
    /* z := the nearest point of the set. */
    void (*project)(void *context, double *z);
    /* If g depends on the multiplier, as by de Saxce's correction: s (n) -= that part of g at the velocity c (n), the
     * correction in c or not. NULL = it does not. */
    void (*shift)(void *context, const double *c, double *s);
    /* Whether z is exact enough. Called rarely. */
    bool (*done)(void *context, const double *z);
    double tol;        /* relative; done() is asked when the iteration is about that exact */
    double penalty;    /* first rho; 0 = from G */
    double relaxation; /* in (0,2) */
    int max_iter;
} ti_admm_task;

/* dense: with room for a factor of G. */
void ti_admm_carve(ti_arena *m, int n, bool dense, ti_admm *a);
/* From z, with the multiplier that it gives if warm, to the solution in z, a point of the set. Returns iterations;
 * *converged: what done() said of z. */
int ti_admm_run(ti_admm *a, const ti_admm_task *task, bool warm, double *z, bool *converged);

#endif
