/* problem.h -- one QP, QCQP or NCP from a line of JSON; docs/command.md says what a line holds. */
#ifndef TI_PROBLEM_H
#define TI_PROBLEM_H
#include "base/base.h"

typedef enum ti_problem_kind { TI_PROBLEM_QP, TI_PROBLEM_QCQP, TI_PROBLEM_NCP } ti_problem_kind;

/* What the line held. Matrices are full, both triangles filled. Arrays that the line did not have are NULL. */
typedef struct ti_problem {
    ti_problem_kind kind;
    char id_text[128];  /* the id, where it was a string; else "" */
    double id;          /* the id, where it was a number */
    int nc, n, nv;      /* contacts; variables of a QP or QCQP; velocities, 0 where G and g are given */
    double *P, *q, *r;  /* (n,n), (n), (nc) */
    double *w;          /* (n) dL/dx */
    double *M, *J;      /* (nv,nv), (3 nc,nv) */
    double *vfree;      /* (nv) */
    double *G, *g, *mu; /* (3 nc,3 nc), (3 nc), (nc) */
    size_t bytes;       /* of the one block that holds this and the arrays */
} ti_problem;

/* Largest sizes taken: a matrix then still fits in memory. */
enum { TI_PROBLEM_N_MAX = 16384, TI_PROBLEM_NC_MAX = 2048 };

/* Read one line. @return TRIBO_OK; TRIBO_E_PARSE (diag says what; its line is 0: the caller knows it); TRIBO_E_NOMEM.
 * Free with ti_problem_free(). */
tribo_status ti_problem_load(const char *text, size_t bytes, const tribo_allocator *a, ti_problem **p,
                             tribo_diag *diag);
void ti_problem_free(const tribo_allocator *a, ti_problem *p);

#endif
