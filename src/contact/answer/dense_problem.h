/* dense_problem.h -- a dense problem of contact cast into the blocks that the solvers work on; of dense_problem.c and
 * contact.c. */
#ifndef TI_CONTACT_DENSE_H
#define TI_CONTACT_DENSE_H
#include "contact/law/law.h"
#include "contact/problem/problem.h"

/* How a dense problem was cast: its own velocities cut into the blocks of M, or impulses (M = 1, J a Cholesky factor of
 * G), which is smaller when there are more velocities than impulses. */
typedef enum ti_dense_form { TI_FORM_NONE, TI_FORM_BLOCKS, TI_FORM_DELASSUS } ti_dense_form;

struct tribo_contact_ws {
    tribo_allocator alloc;
    size_t bytes;
    int nc_max, nv_max;
    double tol;          /* the solver's own */
    const double *noise; /* (2 nc) the caller's */
    ti_dense_form form;  /* of the last solve */
    int nc, nv;
    tribo_status verdict; /* the status of its derivatives */
    ti_contact_ws *contact;
    ti_contact_problem block;
    ti_contact_solution sol;
    int *width, *voff, *moff, *a, *b, *joff;
    double *M, *J, *vfree, *ref;
    double *chol;           /* (nv,nv) of M */
    double *Y;              /* (nv,3 nc) L^-1 J', where the form is of impulses */
    double *G;              /* (3 nc,3 nc) */
    double *z, *vb, *l_bar; /* (nv), (nv), (3 nc) */
    double *y[TI_CONTACT_POINTS],
        *vk[TI_CONTACT_POINTS]; /* (nv) of each point: all are computed before the caller's arrays change */
    double *c_bar[TI_CONTACT_POINTS], *mu_bar[TI_CONTACT_POINTS]; /* used: (3 nc), (nc) */
    double *J_bar, *M_bar; /* laid out as J and M: for a law that depends on G itself */
    int *owner;            /* (nv) block of a velocity; scratch (3 nc) of the factor of G */
};

/* p into ws->block, its form into ws->form. TRIBO_E_NONFINITE, TRIBO_E_SINGULAR. */
tribo_status ti_dense_cast(tribo_contact_ws *ws, const tribo_contact_problem *p);
/* Where G was given, F F' is the semidefinite part of it. Put (G - F F') lambda into ref; returns its largest entry
 * over that of g. */
double ti_dense_leftover(tribo_contact_ws *ws, const tribo_contact_problem *p, const double *lambda);
/* given.c: Newton on the law of ws with a symmetric G (3 nc,3 nc), from lambda, in which it leaves the best iterate;
 * returns its residual. A (3 nc,3 nc), pivot (3 nc): scratch. ws is prepared for p. */
double ti_given_newton(ti_contact_ws *ws, const ti_contact_problem *p, const double *G, const double *g, double tol,
                       double *lambda, double *A, int *pivot);
/* x (n) := M^-1 x, M of the problem last cast, where it has velocities. */
void ti_dense_solve(const tribo_contact_ws *ws, int n, double *x);
/* y (nv) += J' l */
void ti_dense_jt(const tribo_contact_problem *p, const double *l, double *y);
/* v (nv) = vfree + M^-1 J' lambda */
void ti_dense_velocity(tribo_contact_ws *ws, const tribo_contact_problem *p, const double *lambda, double *v);

#endif
