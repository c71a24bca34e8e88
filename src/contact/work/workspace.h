/* workspace.h -- the workspace of a contact solver, and the functions that its files share. */
#ifndef TI_CONTACT_WORKSPACE_H
#define TI_CONTACT_WORKSPACE_H
#include "contact/law/law.h"
#include "contact/problem/products.h"
#include "contact/system/delassus.h"
#include "contact/system/six.h"
#include "contact/system/system.h"
#include "contact/work/anderson.h"

enum { TI_SCRATCH_MAX = 1280, TI_SLIPS_KEPT = 8 }; /* bytes; changes of slip that Anderson mixes */

/* The largest problem of a workspace. */
typedef struct ti_contact_sizes {
    int nc, nv, nblk, wide;
    bool chains, spins;
    const tribo_law_options *law;
} ti_contact_sizes;

/* A law that couples contacts has no equation of one contact: these functions replace those of linearise.c and
 * law_residual.c. */
typedef struct ti_coupled_law {
    /* The residual at (lambda, ws->c). */
    tribo_residuals (*parts)(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda);
    /* Called by ti_contact_factor(), which has done what all points share. */
    tribo_status (*factor)(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_point *q);
    void (*vjp)(ti_contact_ws *ws, const ti_contact_problem *p, const double *v_bar, const double *lambda_bar,
                double *y, double *c_bar, double *mu_bar);
    /* Into ws->G_bar. */
    void (*delassus_bar)(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_point *q,
                         const double *c_bar);
} ti_coupled_law;

/* The matrix of augmented.h. */
enum { TI_AUGMENTED = 192 }; /* its most unknowns: velocities, and impulses of contacts that do not break */

typedef struct ti_augmented {
    int n_max;
    int n;                /* 0 = not factored */
    int ncontact;         /* contacts that do not break */
    int *contact, *pivot; /* (n_max / 3), (n_max) */
    double *LU;           /* (n_max, ti_ld(n_max)) */
    double *A, *B;        /* (9) for each of these: derivatives of the law */
    double *row, *col;    /* (n_max) the scales of equations and unknowns */
    double *x, *rest;     /* (n_max) */
} ti_augmented;

/* What the normals of n contacts beside it hold of friction against rolling: the turn along its tangents, in its unit,
 * that each makes by what it is more than that of its host. docs/math.md eq. (474): A^+, column by column. */
typedef struct ti_rolling {
    int n, host, by[2];
    double makes[2][2];
} ti_rolling;

/* A problem whose points are kept: kept.h. */
typedef struct ti_kept_problem {
    int name, n; /* points that are factored, which follow one another */
    ti_contact_ws *point;
    size_t rest; /* where in memory the points after the first have theirs */
} ti_kept_problem;

enum { TI_KEPT = 8 }; /* such problems, at most */

typedef struct ti_kept {
    bool keeps;
    int n;
    size_t room, used;
    char *memory;
    ti_kept_problem problem[TI_KEPT];
} ti_kept;

struct ti_contact_ws {
    tribo_allocator alloc;
    size_t bytes;
    int nc_max, nv_max, nblk_max;
    tribo_law_options options; /* settled: nothing is left to a default */
    const struct ti_solver *solver;
    const ti_law *asked; /* the law of the options */
    const ti_law *law;   /* the law of this problem: that of the options, or another by the kind of the problem */
    const ti_coupled_law *coupled;       /* its coupled law; NULL = `law`, contact by contact */
    const ti_coupled_law *asked_coupled; /* the coupled law that the options ask for; NULL = none */
    bool plain; /* of a problem to which the law of the options does not apply: its kind is not TI_CONTACT_LAW */
    int max_iter;
    double kappa;                     /* gap of the central path, J */
    bool warm;                        /* the solver starts from given impulses */
    const struct ti_solver *fallback; /* tried where the ladder fails; NULL = none */
    void *scratch;                    /* the solver's */
    ti_pyramid pyramid;               /* LCP */
    ti_delassus G;                    /* if the law or the solver needs it */
    ti_delassus_bar G_bar;            /* its cotangent, if the law depends on it */
    double *Gii_bar;                  /* (9 nc) on its diagonal blocks */
    double *by_Gii;                   /* (27 nc) -A^-1 dF/dG_ii, if the law depends on G */
    double *R;       /* (3 nc) compliance of problem and options together, where options.softness asks for it */
    double *noise;   /* (2 nc) stochastic: standard deviations along the normal and across, m/s */
    double *l0, *v0; /* the solver's answer, while it is polished */
    unsigned char *mode0;
    ti_system sys;
    double r0;           /* unit of compliance: the velocity that an impulse of 1 gives the heaviest body */
    double approach;     /* the largest |g| along a normal */
    double unit_c;       /* unit of velocity: the largest |g|, and the rounding in g */
    ti_law_scale *scale; /* (nc) */
    double *minv;        /* (nv) 1 / M_kk */
    ti_six_turn *turn;   /* (nblk) */
    double *arm; /* (nv) M_kk over the first M_kk of its block: the squared length that makes a rotation a speed */
    double energy, speed;     /* sums of M_kk vfree_k^2 and of arm_k vfree_k^2 */
    double widest;            /* largest entry on the diagonal of G, about */
    double *mass;             /* (nv) M_kk; of ti_contact_factor() */
    double *g;                /* (3 nc) J vfree + ref */
    double *D, *Ainv, *f;     /* (9 nc), (9 nc), (3 nc) the law, linearised: law.h */
    double *c;                /* (3 nc) */
    double *v, *lambda;       /* iterate */
    double tangent_scale;     /* the factor on rho_t in scale: ti_contact_scale_tangents() */
    double merit;             /* unit of Newton's merit, an energy */
    double *dv, *dlambda;     /* direction */
    double *ds;               /* the direction while dv is scratch */
    double *vt, *lt;          /* trial */
    double *vb, *lb;          /* the iterate to return to */
    double *ref;              /* (3 nc) reference velocity of a proximal problem */
    double *v1, *l1;          /* solution at R */
    double *v2, *l2;          /* solution at 2 R */
    double *dead;             /* (nv) the velocities of a dead end of the path; */
    ti_contact_point closest; /* that which led closest to an answer, and its modes */
    unsigned char *closest_mode;
    double *r;             /* (nv) */
    double *by_mu;         /* (3 nc) -A^-1 dF/dmu */
    ti_rolling *rolling;   /* (nc) of problems with friction against turning: rolling.h */
    bool rolls;            /* there is any of rolling */
    unsigned char *exempt; /* (nc) exempt.h, */
    unsigned char *taken;  /* (nv) its scratch */
    ti_anderson slips;     /* (nc) of rounds with the speeds of slip held */
    double *z;             /* (3 nc) the cotangent of lambda, complete, of the last reverse */
    double *held, *give;   /* (3 nc) where a point stands alone: what is asked, less what gives way; that, once */
    ti_contact_point at;   /* the point of the last ti_contact_factor(), and its modes */
    const unsigned char *at_mode;
    int alone;              /* ti_contact_solution.alone */
    ti_kept kept;           /* kept.h */
    ti_augmented augmented; /* the augmented system there, where elimination loses too many digits */
    double linear_residual; /* ti_contact_linear_residual() */
    double contraction;     /* by which factor a refinement shrinks the error; -1 = not known */
    bool symmetric;         /* every D is symmetric: no contact slides with friction, and the system is definite */
    unsigned char *mode;    /* (nc) */
    unsigned char *mode_before, *mode_start;
    struct ti_cone *cones;         /* (nc) of the interior point */
    double *vi;                    /* (nv) its velocity */
    struct ti_central_mark *marks; /* (2 nc) places on its central path, */
    double *marked, *ahead;        /* (2 nv) the velocities there, (2 nv) its directions */
    double ip_unit;                /* its unit: the root of an energy */
    double settled;                /* relative size of the last step of settle() */
    bool rough;                    /* whether that was the only one, to what rounding leaves of it */
    double shrink;      /* what share of a step of it the next one is where the law is linear; 1 = not known */
    int iterations;     /* factorizations so far */
    ti_sharpness sharp; /* ti_contact_options.sharp */
    bool at_answer;     /* the factors are those of the first point of the answer, or of an iterate next to it */
    bool reaches;       /* its second point, as the tangent gives it, is right to third order */
    bool proximal;      /* Newton's problem is that of a proximal iteration: where it fails the pull grows */
    bool strays;        /* derivatives are of points that miss the answer */
};

/* Tangential compliance is a hundredth: it only chooses among impulses with the same normal parts. */
static inline ti_law_compliance ti_contact_compliance(double R) {
    ti_law_compliance c = {R, R * 1e-2, 1 / R, 1e2 / R};
    return c;
}

/* The law of constraint i where `law` is that of contacts. */
static inline const ti_law *ti_law_among(const ti_contact_problem *p, const ti_law *law, int i) {
    static const ti_law *const OTHERS[] = {NULL, &ti_law_dry, &ti_law_held, &ti_law_twist, &ti_law_roll};
    if (!p->what || p->what[i] == TI_CONSTRAINT_CONTACT) return law;
    return OTHERS[p->what[i]];
}
static inline const ti_law *ti_law_at(const ti_contact_ws *ws, const ti_contact_problem *p, int i) {
    return ti_law_among(p, ws->law, i);
}
static inline bool ti_is_contact(const ti_contact_problem *p, int i) {
    return !p->what || p->what[i] == TI_CONSTRAINT_CONTACT;
}
/* What the law may read of contact i at impulses lambda (3 nc), which friction against turning alone asks for. */
ti_law_contact ti_law_contact_of(const ti_contact_ws *ws, const ti_contact_problem *p, int i, const double *lambda);
/* The normal impulse of the contact that friction against turning i belongs to, with what a rebound gives. */
static inline double ti_push_of(const ti_contact_problem *p, int i, const double *lambda) {
    int host = ti_host_of(p, i);
    return lambda[3 * host + 2] + (p->rebound ? p->rebound[host] : 0);
}
/* MuJoCo's R over G_nn. */
static inline double ti_softness_share(const tribo_law_options *o) {
    return (1 - o->impedance) / o->impedance;
}
/* Set ws->law and ws->coupled to what a problem of p's kind asks for. */
void ti_contact_take_law(ti_contact_ws *ws, const ti_contact_problem *p);
/* p with the compliance of the options in it, as ti_contact_pose() left that in ws->R. */
ti_contact_problem ti_contact_soften(ti_contact_ws *ws, const ti_contact_problem *p);
/* Fill ws->noise, and *soft with p and the compliance of the options. delassus: ws->G first, and the compliance on its
 * diagonal; a compliance in proportion to G needs that. TRIBO_E_SINGULAR. */
tribo_status ti_contact_pose(ti_contact_ws *ws, const ti_contact_problem *p, bool delassus, ti_contact_problem *soft);
/* The small compliance of constraint i. Friction against turning has ten times that of what can hold a body as well,
 * slip against twists and normals against rolling: it is seldom at its bound where others hold. What holds has that of
 * normals in all its rows, which are along the world's axes: what it asks for and cannot have is to depend on none of
 * them. docs/math.md eq. (497), (570). */
static inline ti_law_compliance ti_compliance_of(const ti_contact_problem *p, int i, ti_law_compliance small) {
    if (p->light) {
        double by = p->light[i];
        small = (ti_law_compliance){by * small.n, by * small.t, small.inverse_n / by, small.inverse_t / by};
    }
    if (ti_is_spin(p, i))
        return (ti_law_compliance){10 * small.t, 10 * small.n, 0.1 * small.inverse_t, 0.1 * small.inverse_n};
    if (ti_is_holding(p, i)) return (ti_law_compliance){small.n, small.n, small.inverse_n, small.inverse_n};
    return small;
}
/* The same with the model's. */
static inline ti_law_compliance ti_contact_stiffness(const ti_contact_problem *p, int i, ti_law_compliance small) {
    small = ti_compliance_of(p, i, small);
    if (!p->R || ti_is_spin(p, i) || ti_is_holding(p, i)) return small;
    double n = small.n + p->R[3 * i + 2], t = small.t + p->R[3 * i];
    return (ti_law_compliance){n, t, 1 / n, 1 / t};
}
/* The same without, of R. */
static inline ti_law_compliance ti_contact_small(const ti_contact_problem *p, int i, double R) {
    return ti_compliance_of(p, i, ti_contact_compliance(R));
}
/* c (3) of contact i at the point of ti_contact_factor(), from J v + ref in ws->c. */
static inline void ti_contact_at_point(const ti_contact_ws *ws, const ti_contact_problem *p, int i, double *c) {
    ti_law_compliance small = ws->alone ? (ti_law_compliance){0} : ti_contact_compliance(ws->at.compliance);
    ti_law_compliance R = ti_contact_stiffness(p, i, small);
    const double *l = ws->at.lambda + 3 * i, *x = ws->c + 3 * i;
    c[0] = x[0] + R.t * l[0], c[1] = x[1] + R.t * l[1], c[2] = x[2] + R.n * l[2];
}
/* v = vfree + M^-1 J' lambda. Needs ws->G. */
void ti_contact_velocity(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda, double *v);
/* c (3 nc) = J v + ref + R lambda, R the model's. */
void ti_contact_relative(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *lambda,
                         double *c);

/* minv and turn, from the problem's M. */
void ti_contact_weigh(ti_contact_ws *ws, const ti_contact_problem *p);
/* r' M^-1 r, as far as minv and turn know M: an energy twice, of momenta r. */
double ti_contact_energy_of(const ti_contact_ws *ws, const ti_contact_problem *p, const double *r);
/* ti_contact_prepare() fills the problem's scales: g, minv, rho (by ti_contact_scale()), r0, units. False if something
 * is not finite. */
void ti_contact_scale(ti_contact_ws *ws, const ti_contact_problem *p);
bool ti_contact_prepare(ti_contact_ws *ws, const ti_contact_problem *p);
/* Set rho_t of every contact to `factor` times its usual value. Large, the law's equation resolves slow slip; small, it
 * resolves impulses. */
void ti_contact_scale_tangents(ti_contact_ws *ws, const ti_contact_problem *p, double factor);
/* Impulses far below this are nothing but rounding: a share of what gives the lightest body the speeds of approach. */
double ti_contact_faint(const ti_contact_ws *ws);
/* The relative residual of a law, docs/math.md eq. (37), at (v, lambda) with v as it is given; parts NULL = skip. */
double ti_contact_residual(ti_contact_ws *ws, const ti_contact_problem *p, const ti_law *law, const double *v,
                           const double *lambda, tribo_residuals *parts);
/* The same of ws->law where v is the velocity that lambda gives: cheaper, and without the allowance for rounding. */
double ti_contact_law_residual(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *lambda);

/* The same at (lambda, c), whatever c comes from. */
double ti_contact_residual_at(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda, const double *c);

#define TI_LADDER_TOL 1e-9 /* where none is given */
/* ladder.c: the solution, or the best met on the way; info's residual, rung and canonical. */
void ti_contact_climb(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_options *o,
                      ti_contact_solution *s, tribo_contact_info *info);

/* ladder.c: the ladder without its interior point; o->tol must be above 0. The best answer met in s; returns its
 * residual. */
double ti_ncp_newton_alone(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_options *o,
                           ti_contact_solution *s);

/* ladder.c: proximal Newton from the iterate, for the last digits of the interior point. The answer in s; returns its
 * residual. */
double ti_ncp_cross_over(ti_contact_ws *ws, const ti_contact_problem *p, double tol, ti_contact_solution *s);

/* points.c: from an iterate with its modes, near the solution at R: the points at R and 2 R, and their extrapolation,
 * in s. False if not found. */
bool ti_contact_two_points(ti_contact_ws *ws, const ti_contact_problem *p, double R, ti_contact_solution *s);

/* points.c: from the solution at R of a smooth law: the answer in s, and it alone for derivatives, where compliance
 * chooses nothing. Its residual; infinite, and s as it was, where it does or none below tol is found. */
double ti_contact_one_point(ti_contact_ws *ws, const ti_contact_problem *p, double R, double tol,
                            ti_contact_solution *s);

/* ladder.c: to end a solver that has stalled at the impulses best (3 nc): proximal Newton from there, then the ladder.
 * The best impulses met in best and in ws->lambda; returns their residual. s is scratch. */
double ti_contact_end(ti_contact_ws *ws, const ti_contact_problem *p, double tol, double *best, ti_contact_solution *s);

/* ladder.c: from a solver's answer in s to the canonical solution of ws->law nearby. If no such solution is consistent
 * with its modes, s stays as it was. */
void ti_contact_polish(ti_contact_ws *ws, const ti_contact_problem *p, double tol, ti_contact_solution *s,
                       tribo_contact_info *info);

/* ws->r = J'lambda - M (v - vfree). */
void ti_contact_momentum(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *lambda);
/* posed.c: v = vfree + M^-1 J'lambda without ws->G, by factors of M in the place of those of ws->sys; ws->D becomes 0.
 */
bool ti_contact_balance(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda, double *v);
/* newton.c: dlambda (3 nc) of friction against turning += what its contact's d lambda_n makes of its bound. */
void ti_contact_follow(const ti_contact_ws *ws, const ti_contact_problem *p, double *dlambda);
/* newton.c: (ws->dv, ws->dlambda) from ws->r, D, f, with the present factors; leaves J dv in ws->c. */
void ti_contact_direction(ti_contact_ws *ws, const ti_contact_problem *p);
/* newton.c: semismooth Newton from (ws->v, ws->lambda) at compliance R. True if it converged, or if a full step kept
 * the modes and left a merit below tol, from where ti_contact_settle() goes on. Below a merit of `free` steps are not
 * shortened. */
bool ti_contact_newton(ti_contact_ws *ws, const ti_contact_problem *p, double R, int iterations, double tol,
                       double free);
/* newton.c: eq. (42) of the law without compliance, with the modes that it chooses. */
double ti_contact_merit(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *lambda);
/* newton.c: choose the modes of the iterate, without compliance. */
void ti_contact_choose(ti_contact_ws *ws, const ti_contact_problem *p, double R);
/* newton.c: from the solution at compliance R towards that at `to`, along the tangent of the path. */
bool ti_contact_predict(ti_contact_ws *ws, const ti_contact_problem *p, double R, double to);
/* newton.c: with the modes of ws->mode fixed, converge at R to rounding; from what it left at the compliance `from`, or
 * 0: from anywhere. */
bool ti_contact_settle(ti_contact_ws *ws, const ti_contact_problem *p, double from, double R);
/* The same from anywhere, where the next step goes on to no compliance: one step may do, ws->rough. */
bool ti_contact_settle_roughly(ti_contact_ws *ws, const ti_contact_problem *p, double R);
/* newton.c: what rounding of velocities makes of impulses that compliance R shares, of the largest one: it grows as R
 * falls. */
double ti_contact_rounding(const ti_contact_ws *ws, const ti_contact_problem *p, double R);
/* newton.c: a step on the law at compliance `to`, which may be 0, with the factors that ti_contact_settle() left at R.
 */
void ti_contact_approach(ti_contact_ws *ws, const ti_contact_problem *p, double R, double to);
/* newton.c: the same right after ti_contact_consistent(), which leaves J v + ref. */
void ti_contact_approach_on(ti_contact_ws *ws, const ti_contact_problem *p, double R, double to);
/* newton.c: from nearby to the solution at R with the modes of ws->mode, where each contact with q_2 > 0 of `course` (3
 * nc) keeps lambda_t = q lambda_n. False if it breaks down; that it converged is left to the residual. */
bool ti_contact_steer(ti_contact_ws *ws, const ti_contact_problem *p, double R, const double *course);
/* newton.c: whether the law at R chooses the modes that were held, within a slack relative to the impulses. */
bool ti_contact_consistent(ti_contact_ws *ws, const ti_contact_problem *p, double R, double slack);

/* How fast the interior point goes. `fraction` of the way to the boundary; centring max(floor, (gap ahead /
 * gap)^power). */
typedef struct ti_interior_settings {
    double fraction, power, floor;
    bool local; /* each contact in units of its own G_ii, or all in those of the heaviest body */
    double gap; /* no centring below this gap */
} ti_interior_settings;
/* interior.c: at compliance R, from the start (*done = 0) or from where it stopped, until the gap is below rough or
 * `iterations` are done in all. The result in ws->v, ws->lambda. False if it broke down; the result is then the last
 * iterate. */
bool ti_ncp_interior(ti_contact_ws *ws, const ti_contact_problem *p, double R, const ti_interior_settings *b,
                     double rough, int *done, int iterations);
/* central_path.c: what it and interior.c work with, in ws. */
void ti_interior_carve(ti_arena *m, ti_contact_ws *ws, int nc, int nv);

#endif
