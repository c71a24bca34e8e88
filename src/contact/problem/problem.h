/* problem.h -- the contact problem as the step poses it: velocities in blocks, contacts that join one or two of them.
 *
 * The velocity vector is cut into blocks (a free body is one of width 6; a kinematic tree will be one of its own width;
 * a dense problem is a single block). Contact i touches block a[i], and block b[i] unless that is -1. One island per
 * problem. The solver works on the primal matrix  M + J' D J, D the 3x3 blocks of the linearised law, so the cost grows
 * with the bodies of an island and not with its contacts.
 */
#ifndef TI_CONTACT_PROBLEM_H
#define TI_CONTACT_PROBLEM_H
#include "base/base.h"
#include <tribo/contact.h>

#define TI_ACROSS 0.01      /* compliance across, in units of that along the normal, where one number says both */
#define TI_CONTACT_POINTS 3 /* a canonical solution is extrapolated from this many compliances */

/* What a constraint is. Each kind has its own law; the law of the options is that of contacts. A limit of a joint is a
 * contact without friction whose two tangential rows are zero. */
typedef enum ti_constraint_kind {
    TI_CONSTRAINT_CONTACT,
    TI_CONSTRAINT_DRY,  /* dry friction of a joint: one row, the third; mu is its bound, N s */
    TI_CONSTRAINT_HELD, /* c = 0 in all rows that are not zero */
    /* Friction against turning, of the contact before them: its relative turn about the normal, one row, the third, and
     * about the tangents, two rows. mu times that contact's normal impulse is their bound. */
    TI_CONSTRAINT_TWIST,
    TI_CONSTRAINT_ROLL
} ti_constraint_kind;

/* Which equations a problem asks for. */
typedef enum ti_contact_kind {
    TI_CONTACT_LAW,     /* the law of the options, by their solver */
    TI_CONTACT_REBOUND, /* the NCP beside normal impulses that are given: law_rebound.c */
    TI_CONTACT_PLAIN    /* the NCP, whatever the options say: ti_contact_solve_soft() */
} ti_contact_kind;

/* The columns of a block that one side of a contact has entries in, the others being zero; the last one first. */
typedef struct ti_support {
    int n;
    const int *column; /* (n); NULL = all of the block */
    bool joint;        /* one column, and that in the third row alone */
    bool forked;       /* two ways to the root: of two bodies of the block */
} ti_support;

typedef struct ti_contact_problem {
    ti_contact_kind kind;
    int nc, nblk, nv;
    bool chains;               /* blocks of joints: each of their velocities has the rounding of them all */
    const int *width;          /* (nblk) */
    const int *voff;           /* (nblk) first velocity of a block */
    const int *before;         /* (nv) the velocity before each on the way to the root of its block, -1 = none: M has
                                  entries along these ways alone. NULL = anywhere in a block */
    const int *moff;           /* (nblk) first entry of a block in M */
    const double *M;           /* symmetric (width,width) blocks */
    const double *heft;        /* (nblk) kg, of all that a block moves, whatever its axes; NULL = the first number of M,
                                  which is that of a free body */
    const int *a, *b;          /* (nc) blocks; b may be -1 */
    const int *joff;           /* (nc) first entry of a contact in J */
    const double *J;           /* contact i: (3,width[a]) then, if b >= 0, (3,width[b]); rows t1, t2, n */
    const ti_support *support; /* (2 nc) of sides a and b; NULL = all columns of all */
    const double *vfree;       /* (nv) */
    const double *ref;         /* (3 nc) c = J v + ref */
    const double *mu;          /* (nc) */
    const unsigned char *what; /* (nc) ti_constraint_kind; NULL = contacts, all of them */
    bool spins;                /* some of them are TI_CONSTRAINT_TWIST or TI_CONSTRAINT_ROLL */
    const double *noise;       /* (2 nc) of the stochastic law, along the normal and across; NULL = options.noise */
    const double *light;       /* (nc) what the small compliance of a contact is times that of all, >= 1; NULL = 1 */
    const double *R;           /* (3 nc) compliance of materials, c = J v + ref + R lambda; NULL = 0 */
    const double *rebound; /* (nc) prescribed normal impulses of a rebound: they act besides lambda and widen its disks;
                              else NULL */
} ti_contact_problem;

static inline bool ti_is_holding(const ti_contact_problem *p, int i) {
    return p->what && p->what[i] == TI_CONSTRAINT_HELD;
}
static inline bool ti_is_spin(const ti_contact_problem *p, int i) {
    return p->spins && p->what[i] >= TI_CONSTRAINT_TWIST;
}
/* The contact whose normal impulse bounds friction against turning i. */
static inline int ti_host_of(const ti_contact_problem *p, int i) {
    while (p->what[i] >= TI_CONSTRAINT_TWIST) i--;
    return i;
}

/* The columns of a side of contact i; NULL = all. */
static inline const ti_support *ti_support_of(const ti_contact_problem *p, int i, int side) {
    const ti_support *s = p->support ? p->support + 2 * i + side : NULL;
    return s && s->column ? s : NULL;
}

/* What else is wanted than an answer: the points that derivatives are of, with the bits of the answer without them; or
 * the answer of these points. */
typedef enum ti_sharpness { TI_SHARP_NOTHING, TI_SHARP_POINTS, TI_SHARP_ANSWER } ti_sharpness;

typedef struct ti_contact_options {
    double tol;         /* on the relative NCP residual */
    bool warm;          /* lambda and mode hold a start, */
    const double *from; /* (nv) beside velocities near these; NULL = those that lambda gives; */
    double near;        /* whose modes held down to this compliance; 0 = not known; */
    int off_path;       /* it is of an answer that was not canonical, nor were so many before it, itself counted */
    bool brief;         /* where there is no answer soon, less will be asked for */
    ti_sharpness sharp;
} ti_contact_options;

/* The solution at one compliance, enough to linearise the problem there: this is what a tape keeps. */
typedef struct ti_contact_point {
    double weight;      /* of this point in the extrapolated solution: x = sum weight_k x_k */
    double compliance;  /* R at the normals; s/kg */
    double *lambda, *v; /* (3 nc), (nv) */
} ti_contact_point;

/* The solution: views into memory the caller gave, see ti_contact_solution_carve(). */
typedef struct ti_contact_solution {
    int npoint;
    int alone; /* 0, or derivatives of velocities are those of the answer, whatever compliance chooses, of one point
                  all are; how often what it gives way is taken back: docs/math.md eq. (463) */
    ti_contact_point point[TI_CONTACT_POINTS];
    double near;         /* of a canonical one: the compliance that a warm start begins with, options.near; else 0 */
    unsigned char *mode; /* (nc) tribo_mode */
    double *lambda, *v;  /* (3 nc), (nv) the extrapolated ones; lambda and mode are the start if options.warm */
} ti_contact_solution;

/* Cut the arrays of a solution out of an arena. */
void ti_contact_solution_carve(ti_arena *m, int nc, int nv, ti_contact_solution *s);

typedef struct ti_contact_ws ti_contact_ws;

/* Replace modes TI_MODE_FREE, which a start without velocities has, by the law's. */
void ti_contact_settle_modes(ti_contact_ws *ws, const ti_contact_problem *p, ti_contact_solution *s);

/* Complete and check options: what `given` leaves open is taken from the scene's (NULL = none), then from the defaults.
 * TRIBO_E_ARG. */
tribo_status ti_law_settle(const tribo_law_options *given, const tribo_law_options *scene, tribo_law_options *out,
                           tribo_diag *diag);
/* Whether two settled options mean the same law in every number that derivatives depend on. */
bool ti_law_same(const tribo_law_options *a, const tribo_law_options *b);
/* The solver's own tolerance, of settled options. */
double ti_solver_tolerance(const tribo_law_options *o);
/* The largest problem that a workspace has room for: contacts, velocities, blocks, and the width of the widest; whether
 * blocks may be trees with joints, and contacts may have friction against turning. */
typedef struct ti_contact_size {
    int nc, nv, nblk, wide;
    bool chains, spins;
} ti_contact_size;
/* law: settled or not, NULL = the NCP by the ladder. TRIBO_E_ARG if there is no such law or solver. */
tribo_status ti_contact_ws_new(const ti_contact_size *most, const tribo_law_options *law, const tribo_allocator *a,
                               ti_contact_ws **ws);
void ti_contact_ws_free(ti_contact_ws *ws);
size_t ti_contact_ws_bytes(const ti_contact_ws *ws);

/* Whether the law is the stochastic one. */
bool ti_contact_has_noise(const ti_contact_ws *ws);
/* Whether contacts that slide push before they touch. */
bool ti_contact_pushes_from_afar(const ti_contact_ws *ws);
/* Solve; s's arrays must be set. The result depends on the problem (and the start, if options.warm) only. */
tribo_status ti_contact_solve(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_options *o,
                              ti_contact_solution *s, tribo_contact_info *info);

/* The mass of block k; the block with the largest. */
double ti_contact_heft(const ti_contact_problem *p, int k);
int ti_contact_heaviest(const ti_contact_problem *p);

/* For problems that need not have a solution: the limit of a vanishing compliance as two points, at R and 2 R,
 * extrapolated without a polish. R is in units of the velocity that a unit impulse gives the heaviest block. With mu =
 * 0 the problem is strictly convex: there is an answer whatever ref asks for, the nearest. held: the contacts of mode
 * TRIBO_SLIDE in s->mode hold, the others do not, whatever the signs of their impulses. TRIBO_NOT_CONVERGED: s is
 * undefined. */
tribo_status ti_contact_solve_soft(ti_contact_ws *ws, const ti_contact_problem *p, double R, bool held,
                                   ti_contact_solution *s);

/* A start for options.warm from impulses alone: they, and the modes that they show. */
void ti_contact_start_from(const ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda,
                           ti_contact_solution *s);

/* Residual and margin of what another solver put into s->lambda, s->v and s->mode. */
tribo_status ti_contact_measure(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s,
                                tribo_contact_info *info);

/* Linearise at point k of s and factor:  M dv - J' dlambda = r,  A dlambda + B (J dv + dc) + law_mu dmu = 0.
 * Of a problem, k = 0 comes first: the others take over what does not depend on k. Factors stay in ws until the next
 * call of solve or factor; the arrays of p and s are read again by those that follow. */
tribo_status ti_contact_factor(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s, int k);
/* From here on, what ti_contact_factor_kept() has factored is kept, or is not; before, nothing is. */
void ti_contact_keep(ti_contact_ws *ws, bool keep);
/* The same for those who come back to a point: found again by the name of its problem, whose points are asked for in
 * their order each time, where there was room to keep it. *at: the workspace that has the factors, for ti_contact_vjp()
 * and ti_contact_linear_residual(), until the next call of this or of ti_contact_factor(). */
tribo_status ti_contact_factor_kept(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s, int k,
                                    int name, ti_contact_ws **at);
/* Forward tangent, for ndir directions at once: r (ndir,nv), dc (ndir,3 nc), dmu (ndir,nc) or NULL
 * -> dv (ndir,nv), dlambda (ndir,3 nc). docs/math.md eq. (60). */
void ti_contact_jvp(ti_contact_ws *ws, const ti_contact_problem *p, int ndir, const double *r, const double *dc,
                    const double *dmu, double *dv, double *dlambda);
/* Before it, of each direction: what friction against rolling asks for, dc += that, where normals hold the turn and
 * their references change by ref_dot (nc). And what that is of the references, ref_bar += of c_bar, after the reverse.
 * docs/math.md eq. (474). */
void ti_contact_roll_jvp(const ti_contact_ws *ws, const ti_contact_problem *p, const double *ref_dot, double *dc);
void ti_contact_roll_vjp(const ti_contact_ws *ws, const ti_contact_problem *p, const double *c_bar, double *ref_bar);
/* Reverse, overwriting y (nv), c_bar (3 nc), mu_bar (nc), with y the adjoint of the momentum row: then
 *   vfree_bar += M y,  M_bar -= y (v - vfree)',  J_bar += lambda y' + c_bar v',  ref_bar += c_bar.
 * docs/math.md eq. (61), (63). */
void ti_contact_vjp(ti_contact_ws *ws, const ti_contact_problem *p, const double *v_bar, const double *lambda_bar,
                    double *y, double *c_bar, double *mu_bar);
/* To about a millionth, without a factorization: how the answer of the last ti_contact_solve() changes with its
 * reference by c (3 nc), to v_dot (nv) and lambda_dot (3 nc), the compliance held. @return false if its factors are
 * gone. */
bool ti_contact_respond(ti_contact_ws *ws, const ti_contact_problem *p, const double *c, double *v_dot,
                        double *lambda_dot);
/* The error of ti_contact_vjp(), ti_contact_jvp() and ti_contact_panel_t() as solutions of the linear system of the
 * last ti_contact_factor(): the largest relative correction, in the norm of the energy, that one more refinement would
 * make. 1e-14 and less as a rule; NaN where something was not finite. */
double ti_contact_linear_residual(const ti_contact_ws *ws);
/* Whether the law depends on G = J M^-1 J' itself, as RaiSim's does, or its compliance does: then ti_contact_vjp() is
 * not the whole reverse, and there is no ti_contact_jvp(). */
bool ti_contact_uses_delassus(const ti_contact_ws *ws);
/* The rest of the reverse then, after ti_contact_vjp() at point k: the cotangent of G with lambda, v and c held, in
 * memory of ws. */
typedef struct ti_delassus_bar ti_delassus_bar;
const ti_delassus_bar *ti_contact_delassus_bar(ti_contact_ws *ws, const ti_contact_problem *p,
                                               const ti_contact_solution *s, int k, const double *c_bar);
/* Of the problem's compliance R (3 nc), overwritten, after ti_contact_vjp() at point k. Forward, R_dot lambda is a part
 * of dc. docs/math.md eq. (63b). */
void ti_contact_compliance_vjp(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s, int k,
                               const double *c_bar, double *R_bar);
/* And from there to J and M: J_bar and M_bar, laid out as the problem's J and M, += . */
void ti_contact_delassus_vjp(ti_contact_ws *ws, const ti_contact_problem *p, const ti_delassus_bar *bar, double *J_bar,
                             double *M_bar);
/* Measures of a solution. whole: ref is part of the relative velocity, as in dense problems, and energies count it; in
 * a step it is a velocity that is asked for. TRIBO_E_NONFINITE. measures.c. */
tribo_status ti_contact_measures(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s,
                                 bool whole, tribo_measures *m);

#endif
