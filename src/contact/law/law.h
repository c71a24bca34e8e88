/* law.h -- what a contact law is to the solvers and to the reverse: five functions of one contact.
 *
 * A law is an equation F(lambda, c) = 0 of three numbers a contact, c = J v + ref + R lambda with a compliance
 * R = diag(Rt, Rt, Rn) that may be small. Linearised in one of its modes it is  dlambda = -f - D J dv  with
 * A = dF/dlambda + dF/dc R,  D = A^-1 dF/dc,  f = A^-1 F.  docs/math.md eq. (38)-(40).
 * To add one: docs/contact-laws.md, "Adding a law".
 */
#ifndef TI_LAW_H
#define TI_LAW_H
#include <math.h>
#include <tribo/contact.h>

/* Units of one contact: any positive values give the same solutions. */
typedef struct ti_law_scale {
    double rho_n, rho_t; /* 1 / G_ii, roughly */
    double g_n, g_t;     /* their inverses */
} ti_law_scale;

/* A small compliance, with its inverses for those who need them in closed form. */
typedef struct ti_law_compliance {
    double n, t;
    double inverse_n, inverse_t;
} ti_law_compliance;

/* A mode is a byte: TRIBO_BREAK, TRIBO_STICK, or TRIBO_SLIDE + k, k counting the ways in which a law slides. */
enum { TI_MODE_FREE = 255 }; /* choose the mode from (lambda, c) */
enum {
    TI_REBOUND_STICK = 3,
    TI_REBOUND_SLIDE
}; /* law_rebound.c: no lambda_n, but friction of the prescribed impulse */
static inline tribo_mode ti_mode_public(unsigned char mode) {
    return mode < TRIBO_SLIDE ? (tribo_mode)mode : TRIBO_SLIDE;
}

/* The friction pyramid's section at mu lambda_n = 1, a regular polygon: vertices d_k, |d_k| = reach, k = 0 .. n - 1
 * counterclockwise; e_k the unit normal, outwards, of the edge from d_k to d_k+1. */
enum { TI_FACETS_MAX = 64 };
typedef struct ti_pyramid {
    int n;
    double apothem, half; /* distance of an edge, half its length */
    double d[TI_FACETS_MAX][2], e[TI_FACETS_MAX][2];
} ti_pyramid;
/* Of settled options; law_lcp.c. */
void ti_pyramid_of(const tribo_law_options *o, ti_pyramid *y);

/* Step lengths for projected gradients on one contact, which cannot overshoot: the inverses of G_nn and of the largest
 * tangential eigenvalue of G_ii, and those of a metric diag(t, t, n) not less than G_ii. docs/math.md eq. (83). */
typedef struct ti_law_steps {
    double n, t;
    double metric_n, metric_t;
    double ratio; /* q: the root of metric_n over metric_t */
} ti_law_steps;
ti_law_steps ti_law_steps_of(const double *Gii);

/* What a law may read of a contact besides lambda and c. */
typedef struct ti_law_contact {
    double mu;
    const ti_law_scale *scale;
    const double *Gii;         /* (3,3) J_i M^-1 J_i' + R; only for a law with `uses_Gii`, and in sweeps */
    const ti_law_steps *steps; /* of `local` alone */
    const double *inverse;     /* (3,3) of Gii; of `local` alone */
    const ti_pyramid *pyramid; /* LCP */
    tribo_smoothing smoothing; /* stochastic */
    double noise_n, noise_t;   /* stochastic: standard deviations of c, m/s */
    double kappa;              /* central path: the gap, J */
    double rebound;            /* law_rebound.c: the prescribed normal impulse, N s */
    double push;               /* law_spin.c: the normal impulse of its contact, N s, >= 0; of dry friction 1 */
} ti_law_contact;

/* F in N s, and its derivatives with the mode held. */
typedef struct ti_law_slope {
    double F[3];
    double l[9], c[9]; /* dF/dlambda, dF/dc, row-major */
    double mu[3];      /* dF/dmu */
    double push[3];    /* dF/dpush; only of friction against turning */
    double Gii[27];    /* dF/dG_ii, (3,9); only where the law's `uses_Gii` is set */
} ti_law_slope;

/* What else there is to know of a law. */
typedef enum ti_law_is {
    TI_LAW_HARD =
        1, /* Signorini's condition and Coulomb's friction as they are, below in closed form; others turn to it */
    TI_LAW_CONVEX = 2, /* the problem is convex where speeds of slip are held, and solved by rounds that hold them */
    TI_LAW_SMOOTH = 4, /* it has no modes to be near to, and knows noise */
    TI_LAW_DRY = 8,    /* dry friction of joints */
    TI_LAW_SPIN = 16,  /* friction against turning: it depends on the normal impulse of its contact */
    TI_LAW_FAR = 32,   /* it pushes apart what slides before it touches */
    TI_LAW_LINEAR = 64 /* in each mode it is linear */
} ti_law_is;

typedef struct ti_law {
    /* 1. The mode that (lambda, c) is in. */
    unsigned char (*mode)(const ti_law_contact *s, const double *lambda, const double *c);
    /* 2. The equation in a mode, and its derivatives. */
    void (*slope)(const ti_law_contact *s, unsigned char mode, const double *lambda, const double *c,
                  ti_law_slope *out);
    /* 3. Whether `mode` is the law's mode at (lambda, c), to within slack, an impulse. */
    bool (*agrees)(const ti_law_contact *s, unsigned char mode, const double *lambda, const double *c, double slack);
    /* 4. How far (lambda, c) is from the law: primal in N s, dual in m/s, complementarity in J; zero at a solution. */
    void (*residual)(const ti_law_contact *s, const double *lambda, const double *c, double *out);
    /* 5. One contact with the others held: lambda for c = G_ii lambda + free. Gauss-Seidel repeats it, and lambda comes
     * with the impulses of the sweep before. */
    void (*local)(const ti_law_contact *s, const double *free, double *lambda);
    bool uses_Gii; /* F depends on s->Gii, or may */
    /* The radius of the circle on which lambda_t lies in a mode; HUGE_VAL = on none. NULL: never on any. */
    double (*circle)(const ti_law_contact *s, unsigned char mode, const double *lambda);
    /* How far a contact that touches is from another mode that touches: out[0] the impulse, as a share of its bound;
     * out[1] the speed at which it slides, or by which it would change its way of sliding; HUGE_VAL = none. NULL: those
     * of the disk. docs/math.md eq. (46). */
    void (*margin)(const ti_law_contact *s, unsigned char mode, const double *lambda, const double *c, double *out);
    unsigned char apart; /* from this mode on there is no lambda_n, but friction; 0 = no such modes */
    unsigned is;         /* ti_law_is */
} ti_law;

extern const ti_law ti_law_ncp, ti_law_ccp, ti_law_lcp, ti_law_raisim, ti_law_stochastic;
extern const ti_law ti_law_held; /* what holds, whatever the law of contacts: law_joint.c */
/* Dry friction of joints, friction against turning, whatever the law of contacts: law_spin.c. */
extern const ti_law ti_law_dry, ti_law_twist, ti_law_roll;
extern const ti_law ti_law_rebound; /* the rebound of Poisson's impacts */
extern const ti_law ti_law_central; /* the central path: the interior point at options.kappa > 0 */

/* Distance of (t, n), t = |t| the length across, to |t| <= mu n. */
double ti_cone_distance(double t, double n, double mu);
/* Whether it is in there: without friction -0 would be a bound. */
static inline bool ti_in_cone(double t, double n, double mu) {
    return n >= 0 && t <= mu * n;
}

/* The circle of Coulomb's friction where TRIBO_SLIDE is the one way to slide. */
static inline double ti_law_circle(const ti_law_contact *s, unsigned char mode, const double *lambda) {
    return mode == TRIBO_SLIDE ? s->mu * lambda[2] : HUGE_VAL;
}

/* Whether the contact sticks with the others held, and lambda then: the first thing that a `local` may try. */
static inline bool ti_law_stick(const ti_law_contact *s, const double *free, double *lambda) {
    const double *B = s->inverse;
    double f0 = free[0], f1 = free[1], f2 = free[2];
    double n = -(B[6] * f0 + B[7] * f1 + B[8] * f2);
    if (!(n > 0)) return false;
    double t0 = -(B[0] * f0 + B[1] * f1 + B[2] * f2), t1 = -(B[3] * f0 + B[4] * f1 + B[5] * f2), bound = s->mu * n;
    if (!(t0 * t0 + t1 * t1 <= bound * bound)) return false;
    lambda[0] = t0, lambda[1] = t1, lambda[2] = n;
    return true;
}

/* Linearise a law at (lambda, c): F (3), D (3,3), A^-1 (3,3), and the mode if it was TI_MODE_FREE. */
unsigned char ti_law_linearise(const ti_law *law, const ti_law_contact *s, const double *lambda, const double *c,
                               ti_law_compliance R, unsigned char mode, double *F, double *D, double *Ainv);
/* D and A^-1 from the derivatives of F. */
void ti_law_resolve(const ti_law_slope *slope, ti_law_compliance R, double *D, double *Ainv);
/* out = -A^-1 x, all of one contact. */
static inline void ti_law_minus(const double *Ainv, const double *x, double *out) {
    for (int r = 0; r < 3; r++) out[r] = -(Ainv[3 * r] * x[0] + Ainv[3 * r + 1] * x[1] + Ainv[3 * r + 2] * x[2]);
}
/* F (3) alone. */
unsigned char ti_law_value(const ti_law *law, const ti_law_contact *s, const double *lambda, const double *c,
                           unsigned char mode, double *F);

/* Dry friction in closed form; D NULL: F alone. law_spin.c. */
unsigned char ti_dry_linearise(const double *lambda, const double *c, double bound, const ti_law_scale *s,
                               ti_law_compliance R, unsigned char mode, double *F, double *D, double *Ainv);
/* The law's `agrees`, `residual` and `margin` of it. */
bool ti_dry_agrees(const double *lambda, const double *c, double bound, const ti_law_scale *s, unsigned char mode,
                   double slack);
void ti_dry_residual(const double *lambda, const double *c, double bound, double *out);
void ti_dry_margin(const double *lambda, const double *c, double bound, unsigned char mode, double *out);
/* -A^-1 dF/dbound of it, along the axis. */
double ti_dry_by_bound(unsigned char mode);
/* The NCP in closed form: law_ncp.c. */
unsigned char ti_ncp_linearise(const double *lambda, const double *c, double mu, const ti_law_scale *s,
                               ti_law_compliance R, unsigned char mode, double *F, double *D, double *Ainv);
bool ti_ncp_agrees(const double *lambda, const double *c, double mu, const ti_law_scale *s, unsigned char mode,
                   double slack);
void ti_ncp_residual(const double *lambda, const double *c, double mu, double *out);
unsigned char ti_ncp_value(const double *lambda, const double *c, double mu, const ti_law_scale *s, unsigned char mode,
                           double *F);
/* -A^-1 dF/dmu. */
void ti_ncp_by_mu(const double *lambda, const double *c, const ti_law_scale *s, unsigned char mode, double *by_mu);

#endif
