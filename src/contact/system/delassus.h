/* delassus.h -- G = J M^-1 J' + R, contact by contact: what first-order solvers and laws of one contact need of it. */
#ifndef TI_DELASSUS_H
#define TI_DELASSUS_H
#include "contact/problem/problem.h"

typedef struct ti_delassus {
    double *LU;      /* factors of the blocks of M, laid out as M */
    double *inverse; /* of those TI_COMMON wide, laid out as M */
    int *pivot;      /* (nv) */
    double *W;       /* J M^-1, laid out as J */
    bool *identity;  /* (nblk) the block of M is the unit matrix: nothing to solve */
    double *Gii;     /* (nc,3,3) G_ii */
    double *row;     /* (3 nv) */
} ti_delassus;

void ti_delassus_carve(ti_arena *m, const ti_contact_size *most, ti_delassus *d);
/* LU, W and Gii of a problem. TRIBO_E_SINGULAR. */
tribo_status ti_delassus_prepare(ti_delassus *d, const ti_contact_problem *p);
/* x := M^-1 x, x (nv) */
void ti_delassus_minv(const ti_delassus *d, const ti_contact_problem *p, double *x);
/* The whole of G (3 nc,3 nc), symmetric to the bit. */
void ti_delassus_dense(const ti_delassus *d, const ti_contact_problem *p, double *G);
/* A cotangent of G, symmetric: Gii (nc,3,3) on its diagonal blocks, and (a b' + b a') / 2; NULL = 0. */
struct ti_delassus_bar {
    const double *Gii;
    const double *a, *b; /* (3 nc) */
};
/* Reverse: J_bar and M_bar, laid out as J and M, += . */
void ti_delassus_vjp(const ti_delassus *d, const ti_contact_problem *p, const ti_delassus_bar *bar, double *J_bar,
                     double *M_bar);

#endif
