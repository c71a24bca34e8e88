/* stochastic.h -- scratch of the stochastic law's solver: continuation.c, erm_solve.c. */
#ifndef TI_STOCHASTIC_H
#define TI_STOCHASTIC_H
#include "contact/law/erm.h"
#include "contact/solver/solvers.h"

typedef struct ti_stochastic {
    double *wanted;           /* (2 nc) noise of the problem */
    double least;             /* the least of them */
    ti_contact_solution hard; /* the solution without noise */
    /* For the least expected residual only. */
    int ld;
    double *G, *H, *Y; /* (3 nc,ld) the Delassus matrix; the Hessian or its factors; scratch */
    int *pivot;        /* (3 nc) */
    ti_erm *term;      /* (nc) */
    double *w, *eta;   /* (3 nc) gradient; that to c */
    double *d, *trial; /* (3 nc) direction, trial; in the reverse its x and G x */
} ti_stochastic;

/* erm_solve.c. Cut its arrays. */
void ti_erm_carve(ti_arena *m, const ti_contact_sizes *sizes, ti_stochastic *e);
/* From impulses near the solution to it, in ws->lambda, without compliance; its residual. */
double ti_erm_run(ti_contact_ws *ws, const ti_contact_problem *p);
/* In place of ti_contact_polish(). */
void ti_erm_polish(ti_contact_ws *ws, const ti_contact_problem *p, double tol, ti_contact_solution *s,
                   tribo_contact_info *info);

/* Least expected squared residual. */
extern const ti_coupled_law ti_erm_law;

#endif
