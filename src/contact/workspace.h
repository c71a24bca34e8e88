/* workspace.h -- what the rungs of the contact solver share. */
#ifndef TI_CONTACT_WORKSPACE_H
#define TI_CONTACT_WORKSPACE_H
#include "contact/law.h"
#include "contact/products.h"
#include "contact/system.h"

struct ti_contact_ws {
    tribo_allocator alloc;
    size_t bytes;
    int nc_max, nv_max, nblk_max;
    ti_system sys;
    double r0;            /* the velocity an impulse of 1 gives the heaviest body: unit of compliance */
    double unit_c;        /* largest |g|, g = J vfree + ref */
    ti_law_scale *scale;  /* (nc) */
    double *minv;         /* (nv) 1 / M_kk */
    double *g;            /* (3 nc) J vfree + ref */
    double *D, *Ainv, *f; /* (9 nc), (9 nc), (3 nc) the law, linearised: law.h */
    double *c;            /* (3 nc) */
    double *v, *lambda;   /* iterate */
    double merit;         /* unit of the merit of Newton: an energy */
    double *dv, *dlambda; /* direction */
    double *ds;           /* the direction while dv is scratch */
    double *vt, *lt;      /* trial */
    double *vb, *lb;      /* where to go back to */
    double *ref;          /* (3 nc) anchored reference */
    double *v1, *l1;      /* solution at R */
    double *v2, *l2;      /* solution at 2 R */
    double *r;            /* (nv) */
    double *slip;         /* (2 nc) lambda_n d at sliding contacts: the derivative of the law to mu */
    unsigned char *mode;  /* (nc) */
    unsigned char *mode_before;
    void *cones;    /* (nc) interior point: interior.c */
    double *vi;     /* (nv) its velocity */
    double ip_unit; /* its unit of sqrt(energy) */
    double settled; /* relative size of the last step of settle() */
    int iterations; /* factorizations so far */
};

/* Tangential compliance is smaller: it only chooses among impulses that are alike in their normal parts. */
static inline ti_law_compliance ti_contact_compliance(double R) {
    ti_law_compliance c = {R, R * 1e-2, 1 / R, 1e2 / R};
    return c;
}

/* Scales of the problem: g, minv, rho, r0. False if something is not finite. */
bool ti_contact_prepare(ti_contact_ws *ws, const ti_contact_problem *p);
/* The relative residual, docs/math.md eq. (37), at (v, lambda), v taken for what it is. */
double ti_contact_residual(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *lambda);

/* ladder.c: the solution, or the best met on the way; info's residual, rung and canonical. */
void ti_ncp_climb(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_options *o, ti_contact_solution *s,
                  tribo_contact_info *info);

/* newton.c: ws->r = J'lambda - M (v - vfree). */
void ti_contact_momentum(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *lambda);
/* newton.c: (ws->dv, ws->dlambda) from ws->r, D, f, with the present factors; leaves J dv in ws->c. */
void ti_contact_direction(ti_contact_ws *ws, const ti_contact_problem *p);
/* newton.c: semismooth Newton from (ws->v, ws->lambda) at compliance R; true if it converged, or if
 * a full step left the modes as they were and a merit below tol, which settle() can take from there. Below a merit of
 * `free` steps are taken whole. */
bool ti_contact_newton(ti_contact_ws *ws, const ti_contact_problem *p, double R, int iterations, double tol,
                       double free);
/* newton.c: the modes of the iterate without compliance. */
void ti_contact_choose(ti_contact_ws *ws, const ti_contact_problem *p, double R);
/* newton.c: from the solution at compliance R towards that at another, along the tangent of the path. */
bool ti_contact_predict(ti_contact_ws *ws, const ti_contact_problem *p, double R, double to);
/* newton.c: with the modes of ws->mode fixed, converge at R to rounding. */
bool ti_contact_settle(ti_contact_ws *ws, const ti_contact_problem *p, double R);
/* newton.c: a step on the law at compliance `to`, 0 allowed, with the factors of the last settle at R. */
void ti_contact_approach(ti_contact_ws *ws, const ti_contact_problem *p, double R, double to);
/* newton.c: whether the fixed modes of the iterate are the law's at R, to within a slack relative to the impulses. */
bool ti_contact_consistent(ti_contact_ws *ws, const ti_contact_problem *p, double R, double slack);

/* How bold the interior point is: fraction of the way to the boundary; centring max(floor, (gap ahead / gap)^power). */
typedef struct ti_ncp_boldness {
    double fraction, power, floor;
    bool local; /* each contact scaled by its own mass, or all by the heaviest */
} ti_ncp_boldness;
/* interior.c: from *done = 0 or where it stopped, at compliance R, until the gap is below rough or *done
 * iterations are over; the result in ws->v, ws->lambda. False if it broke down, which leaves it where it was. */
bool ti_ncp_interior(ti_contact_ws *ws, const ti_contact_problem *p, double R, const ti_ncp_boldness *b, double rough,
                     int *done, int iterations);
size_t ti_ncp_interior_size(void); /* of a contact in ws->cones */

#endif
