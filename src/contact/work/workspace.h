/* workspace.h -- what the rungs of the contact solver share. */
#ifndef TI_CONTACT_WORKSPACE_H
#define TI_CONTACT_WORKSPACE_H
#include "contact/law/law.h"
#include "contact/problem/products.h"
#include "contact/system/delassus.h"
#include "contact/system/system.h"

enum { TI_SCRATCH_MAX = 1024 };

/* How much a workspace has room for. */
typedef struct ti_contact_sizes {
    int nc, nv, nblk, wide;
    const tribo_law_options *law;
} ti_contact_sizes;

/* What a law that is no equation of one contact puts in place of the functions of linearise.c and law_residual.c. */
typedef struct ti_coupled_law {
    /* The residual at (lambda, ws->c), over units of impulse and velocity. */
    tribo_residuals (*parts)(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda, double sl,
                             double sc);
    /* Of ti_contact_factor(), after what the points have in common. */
    tribo_status (*factor)(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_point *q);
    void (*vjp)(ti_contact_ws *ws, const ti_contact_problem *p, const double *v_bar, const double *lambda_bar,
                double *y, double *c_bar, double *mu_bar);
    /* Into ws->G_bar. */
    void (*delassus_bar)(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_point *q,
                         const double *c_bar);
} ti_coupled_law;

/* The matrix of augmented.h, and its room. */
enum { TI_AUGMENTED = 192 }; /* unknowns at most: those of the contacts that do not break, and all velocities */

typedef struct ti_augmented {
    int n_max;
    int n;                /* 0 = not factored */
    int ncontact;         /* that take part */
    int *contact, *pivot; /* (n_max / 3), (n_max) */
    double *LU;           /* (n_max, ti_ld(n_max)) */
    double *A, *B;        /* (9) a contact that takes part: derivatives of the law */
    double *row, *col;    /* (n_max) the scales of equations and unknowns */
    double *x, *rest;     /* (n_max) */
} ti_augmented;

struct ti_contact_ws {
    tribo_allocator alloc;
    size_t bytes;
    int nc_max, nv_max, nblk_max;
    tribo_law_options options; /* settled: nothing is left to a default */
    const struct ti_solver *solver;
    const ti_law *asked;                 /* by the options */
    const ti_law *law;                   /* the one that the answer is to meet: asked, or by the kind of the problem */
    const ti_coupled_law *coupled;       /* NULL = law, contact by contact */
    const ti_coupled_law *asked_coupled; /* the coupled law that the options ask for; NULL = none */
    bool plain;                          /* nothing of the options but their law's place: a problem of another kind */
    int max_iter;
    double kappa;                     /* gap of the central path, J */
    bool warm;                        /* the solver starts from given impulses */
    const struct ti_solver *fallback; /* asked where the ladder fails; NULL = none */
    void *scratch;                    /* the solver's */
    ti_pyramid pyramid;               /* LCP */
    ti_delassus G;                    /* where the law or the solver asks for it */
    ti_delassus_bar G_bar;            /* its cotangent, of a law that depends on it */
    double *Gii_bar;                  /* (9 nc) on its diagonal blocks */
    double *by_Gii;                   /* (27 nc) -A^-1 dF/dG_ii, of such a law */
    double *R;                        /* (3 nc) compliance of the model, where options.softness asks for it */
    double *noise;                    /* (2 nc) stochastic: standard deviations along the normal and across, m/s */
    double *l0, *v0;                  /* the solver's answer, while it is polished */
    unsigned char *mode0;
    ti_system sys;
    double r0;           /* the velocity an impulse of 1 gives the heaviest body: unit of compliance */
    double approach;     /* the largest |g| along a normal */
    double unit_c;       /* of velocity: the largest |g|, and what rounding leaves in it */
    ti_law_scale *scale; /* (nc) */
    double *minv;        /* (nv) 1 / M_kk */
    double *arm;         /* (nv) M_kk over that of its block's first velocity: what makes a rotation a speed, squared */
    double energy, speed; /* sums of M_kk vfree_k^2 and of arm_k vfree_k^2 */
    double widest;        /* largest entry of G's diagonal, about */
    double *mass;         /* (nv) M_kk; of ti_contact_factor() */
    double *g;            /* (3 nc) J vfree + ref */
    double *D, *Ainv, *f; /* (9 nc), (9 nc), (3 nc) the law, linearised: law.h */
    double *c;            /* (3 nc) */
    double *v, *lambda;   /* iterate */
    double tangent_scale; /* what rho_t in scale is of its usual value: ti_contact_scale_tangents() */
    double merit;         /* unit of the merit of Newton: an energy */
    double *dv, *dlambda; /* direction */
    double *ds;           /* the direction while dv is scratch */
    double *vt, *lt;      /* trial */
    double *vb, *lb;      /* where to go back to */
    double *ref;          /* (3 nc) anchored reference */
    double *v1, *l1;      /* solution at R */
    double *v2, *l2;      /* solution at 2 R */
    double *r;            /* (nv) */
    double *by_mu;        /* (3 nc) -A^-1 dF/dmu: the derivative of the law to mu */
    double *z;            /* (3 nc) lambda's whole cotangent, of the last vjp */
    ti_contact_point at;  /* what the last ti_contact_factor() linearised at */
    const unsigned char *at_mode;
    ti_augmented augmented; /* and its matrix, where that of sys is not good enough */
    double linear_residual; /* ti_contact_linear_residual() */
    double contraction;     /* of a refinement: what it leaves of an error; -1 = not known */
    bool symmetric;         /* no D turns a normal velocity into friction: then the system is definite */
    unsigned char *mode;    /* (nc) */
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

/* What the law may read of contact i. */
ti_law_contact ti_law_contact_of(const ti_contact_ws *ws, const ti_contact_problem *p, int i);
/* MuJoCo's R over G_nn. */
static inline double ti_softness_share(const tribo_law_options *o) {
    return (1 - o->impedance) / o->impedance;
}
/* The law that a problem of p's kind is to meet, into ws. */
void ti_contact_take_law(ti_contact_ws *ws, const ti_contact_problem *p);
/* p with the compliance that the options ask for, in ws->R; needs ws->G if that is in proportion to it. */
ti_contact_problem ti_contact_soften(ti_contact_ws *ws, const ti_contact_problem *p);
/* Noise and the problem softened; before that ws->G, if the caller or a compliance in proportion to it needs it.
 * TRIBO_E_SINGULAR. */
tribo_status ti_contact_pose(ti_contact_ws *ws, const ti_contact_problem *p, bool delassus, ti_contact_problem *soft);
/* The small compliance and the model's together. */
static inline ti_law_compliance ti_contact_stiffness(const ti_contact_problem *p, int i, ti_law_compliance small) {
    if (!p->R) return small;
    double n = small.n + p->R[3 * i + 2], t = small.t + p->R[3 * i];
    return (ti_law_compliance){n, t, 1 / n, 1 / t};
}
/* v = vfree + M^-1 J' lambda. Needs ws->G. */
void ti_contact_velocity(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda, double *v);
/* c (3 nc) = J v + ref + R lambda, R the model's. */
void ti_contact_relative(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *lambda,
                         double *c);

/* Scales of the problem: g, minv, rho, r0. False if something is not finite. */
void ti_contact_scale(ti_contact_ws *ws, const ti_contact_problem *p, int i);
bool ti_contact_prepare(ti_contact_ws *ws, const ti_contact_problem *p);
/* Make rho_t of every contact `steep` times its usual value: with more of it the law's equation tells slow slips apart,
 * with less it tells impulses apart. */
void ti_contact_scale_tangents(ti_contact_ws *ws, const ti_contact_problem *p, double steep);
/* The relative residual of a law, docs/math.md eq. (37), at (v, lambda), v taken for what it is; parts NULL = skip. */
double ti_contact_residual(ti_contact_ws *ws, const ti_contact_problem *p, const ti_law *law, const double *v,
                           const double *lambda, tribo_residuals *parts);
/* The same of ws->law where v is known to be what lambda gives: cheaper, and without the allowance for rounding. */
double ti_contact_law_residual(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *lambda);

/* The same at (lambda, c), whatever c comes from. */
double ti_contact_residual_at(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda, const double *c);

/* ladder.c: the solution, or the best met on the way; info's residual, rung and canonical. */
void ti_contact_climb(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_options *o,
                      ti_contact_solution *s, tribo_contact_info *info);

/* ladder.c: the rungs of Newton alone, in s as far as they get; its residual. o->tol is given. */
double ti_ncp_newton_alone(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_options *o,
                           ti_contact_solution *s);

/* ladder.c: proximal Newton from the iterate, for the last digits of the interior point; s and its residual. */
double ti_ncp_cross_over(ti_contact_ws *ws, const ti_contact_problem *p, double tol, ti_contact_solution *s);

/* ladder.c: from an iterate with its modes near the solution at R: the points at R and 2 R, and s. False if not found.
 */
bool ti_contact_two_points(ti_contact_ws *ws, const ti_contact_problem *p, double R, ti_contact_solution *s);

/* ladder.c: where another solver makes no headway at best (3 nc): proximal Newton from there, then the
 * ladder. The best, also in ws->lambda, and its residual; s is scratch. */
double ti_contact_end(ti_contact_ws *ws, const ti_contact_problem *p, double tol, double *best, ti_contact_solution *s);

/* ladder.c: from the solver's answer in s to the canonical solution of ws->law nearby; s as it was if there is none
 * that the law's modes agree with. */
void ti_contact_polish(ti_contact_ws *ws, const ti_contact_problem *p, double tol, ti_contact_solution *s,
                       tribo_contact_info *info);

/* ws->r = J'lambda - M (v - vfree). */
void ti_contact_momentum(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *lambda);
/* newton.c: v = vfree + M^-1 J'lambda, without ws->G; overwrites D and factors. */
bool ti_contact_balance(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda, double *v);
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
typedef struct ti_interior_settings {
    double fraction, power, floor;
    bool local;         /* each contact scaled by its own mass, or all by the heaviest */
    double gap;         /* never centred below this one */
    const double *slip; /* (nc) speeds held in place of |c_t|, which makes the problem convex; NULL: none are */
} ti_interior_settings;
/* interior.c: from *done = 0 or where it stopped, at compliance R, until the gap is below rough or *done
 * iterations are over; the result in ws->v, ws->lambda. False if it broke down, which leaves it where it was. */
bool ti_ncp_interior(ti_contact_ws *ws, const ti_contact_problem *p, double R, const ti_interior_settings *b,
                     double rough, int *done, int iterations);
size_t ti_ncp_interior_size(void); /* of a contact in ws->cones */

#endif
