/* task.h -- what the files of trajectory optimisation share: a task, its terms, the best so far, scratch. */
#ifndef TI_TASK_H
#define TI_TASK_H
#include "base/base.h"
#include "model/model.h"
#include <math.h>
#include <tribo/dynamics.h>
#include <tribo/trajopt.h>

enum { TI_STAGES_MAX = 32, TI_CONTROLS_MAX = 128, TI_ROUNDS_MAX = 30 };

/* A term as it was defined; what its definition points to is the task's own. */
typedef struct ti_term {
    tribo_term_def def;
    int n, width;          /* numbers of its residual, of a row of its target */
    int first, last;       /* knots, both in */
    int force;             /* of CONTACT_FORCE: which of the task's; others -1 */
    double *weights;       /* (n) */
    double *target;        /* (ntarget,width) */
    double *coming;        /* of the same size: its target from the next beginning on */
    double *multiplier;    /* (last-first+1,n), of constraints */
    double penalty, worst; /* of constraints: rho, and the violation when it was last raised */
} ti_term;

/* What one thread needs. */
typedef struct ti_planner {
    tribo_ws *ws;
    tribo_ws *lens;      /* under the law that models are of; NULL = ws */
    tribo_tape *glimpse; /* a step under it */
    tribo_dynamics *dynamics;
    double *r, *rx, *ru; /* a residual and its derivatives */
    double *jac;         /* (TI_TWIST,nv) */
    double *u, *x, *A, *B, *product;
    const double *force;         /* (nforce,3) of the knot that terms are asked at; NULL at the last */
    double *force_x, *force_u;   /* (3 nforce,ndx), (3 nforce,nc) of the knot that is linearised */
    double *impulse_bar;         /* (contacts at most,3), where there are such terms */
    tribo_tape *probe;           /* a knot's steps, where the dynamics' second derivative is asked for */
    double *slope, *slope0;      /* (ndx+nc): [A B]' lambda, and that of the knot itself */
    double *s;                   /* (ndx+nc) from where a second derivative was found */
    double *z, *c, *bar, *u_bar; /* (nx), (nc) a state and controls beside a knot's; (2,ndx), (nu) of its reverse */
    double *vector, *value;      /* (ndx+nc,ndx+nc), (4 (ndx+nc)): of a symmetric matrix, and what finding them takes */
} ti_planner;

/* The quadratic model of a knot. */
typedef struct ti_knot {
    double *A, *B;           /* (ndx,ndx), (ndx,nc) */
    double *lx, *lu;         /* (ndx), (nc) */
    double *lxx, *lux, *luu; /* (ndx,ndx), (nc,ndx), (nc,nc) */
    double *gap;             /* (ndx): what the dynamics lead to, less the next state */
    double *bent;            /* (ndx+nc,ndx+nc): what the dynamics' second derivative adds */
    double *whole;           /* of NEWTON: the same before it was made convex */
    double *lambda;          /* (ndx): dJ/dx of the next */
    double *A0, *B0;         /* the models before, of `bent` */
    double *z0, *lambda0;    /* of NEWTON: (nx+nc), (ndx) what `bent` was found at, with A0 and B0 */
    double *feed, *gain;     /* (nc), (nc,ndx): the step and its feedback */
    double times;            /* of NEWTON: how many times `bent` and `whole` count */
    bool known, is_whole;    /* of NEWTON: they are of z0; the last backward pass took `whole` */
} ti_knot;

/* States, controls, the tape that led to them. */
typedef struct ti_path {
    double *X, *U;
    double *force; /* (knots,nforce,3) */
    tribo_tape *tape;
    double cost;           /* with what constraints add */
    double plain;          /* without */
    double size;           /* sum of what terms count, taken positive */
    double gap, violation; /* the largest */
    int unconverged;
} ti_path;

/* Somebody else's dynamics in place of the step: what a comparison plans on with the same passes. */
typedef struct ti_plant {
    tribo_status (*step)(void *context, const double *u, double *x); /* x becomes where a step leads */
    tribo_status (*jac)(void *context, const double *x, const double *u, double *A,
                        double *B); /* as tribo_step_jac() */
    void *context;
} ti_plant;

struct tribo_trajopt {
    const tribo_model *m;
    tribo_sizes z;
    tribo_allocator allocator;
    size_t bytes;
    int knots, substeps, nc, nterm, rows, nworker, nstage;
    int nlens;  /* laws to look through where nothing improves: the stages', or one */
    int nforce; /* terms of contact forces */
    tribo_method method;
    int *control;
    double *lower, *upper, *u, *p, *x0, *x_was, *x_next;
    ti_term *term;
    tribo_options options;
    tribo_law_options *stage; /* (nlens) */
    double tol, tol_constraint;
    const volatile int *stop;
    ti_planner *planner;
    const ti_plant *plant; /* NULL = the model's own step */
    tribo_ws *hard;        /* under the options' law; NULL = the present stage's is */
    ti_path best, trial;
    ti_knot *knot;                               /* (knots+1); the last has costs alone */
    double *dx, *du;                             /* of a linear rollout (ndx), (nc) */
    double *Vx, *Vxx, *VA, *VB;                  /* (ndx), (ndx,ndx), (ndx,ndx), (ndx,nc) */
    double *Qx, *Qu, *Qxx, *Qux, *Quu, *reduced; /* of a knot */
    bool *held;                                  /* (nc) at a bound */
    double *lx, *u_bar, *gradient;               /* of the whole, for the reverse */
    double *force_bar;                           /* (knots,nforce,3): the same of contact forces */
    double *secant;                              /* (2, ndx+nc): of a knot */
    bool *fixed;                                 /* (knots,nc) */
    double *flat;                                /* (knots nc, rounded up) of L-BFGS */
    double regularisation, growth, rate;         /* rate: the last step of first order */
    bool followed, failed; /* the models before are of the trial; no step was found in the last pass */
    bool bends;            /* whether secants count: where they foretold the last step better */
    bool wholes;           /* whether second derivatives may count before they are made convex */
    bool linear;           /* the knots' models are the best's */
    bool settled;          /* no step improves, in this stage */
    bool met;              /* the stage's minimum is reached */
    bool carried;          /* the best is of the stage's law */
    bool counts_up;        /* no term counts below 0: what a part of a path costs, the whole costs at least */
    int rounds;            /* of multipliers, in this stage */
    int lens;              /* the law of stage[] that models are of; nlens = the stage's own */
    double lens_cost;      /* the cost when that began */
    int steps;             /* since the search or the stage began */
    double milestone;      /* the cost some steps ago */
    tribo_trajopt_progress progress;
};

/* A path's state and controls at a knot; the last knot has none. */
static inline double *ti_state_at(const tribo_trajopt *t, const ti_path *path, int knot) {
    return path->X + (size_t)knot * (size_t)t->z.nx;
}
static inline double *ti_controls_at(const tribo_trajopt *t, const ti_path *path, int knot) {
    return knot < t->knots ? path->U + (size_t)knot * (size_t)t->nc : NULL;
}

/* Its contact forces there. */
static inline double *ti_forces_at(const tribo_trajopt *t, const ti_path *path, int knot) {
    return knot < t->knots ? path->force + 3 * (size_t)t->nforce * (size_t)knot : NULL;
}

/* Within bounds; NaN as it is. */
static inline double ti_within(double x, double lower, double upper) {
    return x < lower ? lower : x > upper ? upper : x;
}
/* Whether a bound keeps x from where the slope would take it. */
static inline bool ti_is_held(double x, double slope, double lower, double upper) {
    return (x <= lower && slope > 0) || (x >= upper && slope < 0);
}
/* u (nc) += K dx */
static inline void ti_add_feedback(int nc, int ndx, const double *K, const double *dx, double *u) {
    for (int i = 0; i < nc; i++)
        for (int j = 0; j < ndx; j++) u[i] += K[i * ndx + j] * dx[j];
}

/* ---- checks.c, memory.c ---- */

/* @return TRIBO_OK; TRIBO_E_ARG or TRIBO_E_DEF, with what is wrong in diag. */
tribo_status ti_task_check(const tribo_model *m, const tribo_sizes *z, const tribo_trajopt_def *def, tribo_diag *diag);
/* The same of numbers that are known by their sizes only when terms are: weights and targets. */
tribo_status ti_task_check_targets(const tribo_trajopt *t, tribo_diag *diag);
/* Where the next quaternion stands in a row of a term's target; -1 = there is no more. @param k [in,out] begins with 0
 */
int ti_term_turn(const tribo_model *m, const tribo_term_def *d, int *k);
/* How many rows of a target for a term have no quaternion of length 0, up to the first that has. */
int ti_target_turns(const tribo_trajopt *t, const ti_term *term, const double *target);
/* A knot counted from the end where it is below 0. */
int ti_knot_of(int k, int knots);
/* How many controls a definition asks for. */
int ti_controls_of(const tribo_sizes *z, const tribo_trajopt_def *def);
void ti_task_lay_out(tribo_trajopt *t, const tribo_trajopt_def *def, ti_arena *a);
void ti_task_fill(tribo_trajopt *t, const tribo_trajopt_def *def);

/* ---- terms.c: residuals ---- */

/* Sizes of a term's residual and of a row of its target, in a task of nc controls. */
void ti_term_sizes(const tribo_model *m, int nc, const tribo_term_def *def, int *n, int *width);
/* Whether a term of that kind asks for bodies' places. */
bool ti_term_is_placed(tribo_term_kind kind);
/* r, and where rx is not NULL rx (n,ndx), ru (n,nc); contact forces and their derivatives are the planner's.
 * @param u (nc) NULL = the last knot */
tribo_status ti_term_residual(const tribo_trajopt *t, ti_planner *w, const ti_term *term, int knot, const double *x,
                              const double *u, double *r, double *rx, double *ru);
/* p_bar += of a term's residual r by p, at the state that the planner's dynamics are at; v its velocity. */
tribo_status ti_term_params_vjp(const tribo_trajopt *t, ti_planner *w, const ti_term *term, const double *r,
                                const double *r_bar, const double *v, double *p_bar);

/* ---- cost.c: what knots cost ---- */

typedef struct ti_cost {
    double all, plain, size, violation; /* as in ti_path; violation the largest */
} ti_cost;
/* += of one knot, its contact forces the planner's. @param u NULL at the last. @param each (nterm) += J by terms; NULL
 * = skip */
tribo_status ti_knot_cost(const tribo_trajopt *t, ti_planner *w, int knot, const double *x, const double *u,
                          ti_cost *cost, double *each);
/* Gradient and Gauss-Newton matrices of a knot into its model. */
tribo_status ti_knot_model(const tribo_trajopt *t, ti_planner *w, int knot, const double *x, const double *u);
/* p_bar += of a knot's cost by p, state and control held. */
tribo_status ti_knot_params_vjp(const tribo_trajopt *t, ti_planner *w, int knot, const double *x, const double *u,
                                double *p_bar);
/* (nforce,3): of a knot's cost by its contact forces. */
void ti_knot_force_bars(const tribo_trajopt *t, ti_planner *w, int knot, double *force_bar);
/* A constraint that nothing is known of yet. */
void ti_term_release(ti_term *term);
/* Multipliers and penalties after the inner problem is solved; the largest violation. */
tribo_status ti_multipliers_update(tribo_trajopt *t, double *violation);

/* ---- forces.c: contact forces of terms ---- */

/* force (nforce,3) += the share of the last step of ws in a knot's mean. */
void ti_forces_add(const tribo_trajopt *t, const tribo_ws *ws, double *force);
/* The planner's force_x, force_u := 0. */
void ti_forces_clear(const tribo_trajopt *t, ti_planner *w);
/* The same += of a record of the best, a step of knot k, whose A and B are those of its steps
 * before; `first`: there are none. */
tribo_status ti_forces_linearise(const tribo_trajopt *t, ti_planner *w, const ti_knot *k, int record, bool first);
/* tribo_backward() from t->lx and t->force_bar into t->u_bar; x0_bar, p_bar += ; NULL = skip. */
tribo_status ti_forces_backward(tribo_trajopt *t, const ti_path *path, double *x0_bar, double *p_bar);

/* ---- rollout.c ---- */

/* How to roll out: with controls U; or where U is NULL the best's of `shift` knots later, the last ones held, with a
 * share of the step and feedback, and gaps closed by that share. From x0, NULL = the best's. */
typedef struct ti_roll {
    const double *U, *x0;
    double share;
    int shift;
    const double *limit; /* NULL = none; where no term counts below 0, a cost from which on the rest is left out */
} ti_roll;
/* Into trial, within bounds. @return what a step or a term says below 0; TRIBO_INTERRUPTED; TRIBO_NOT_CONVERGED beyond
 * the limit. */
tribo_status ti_path_roll(tribo_trajopt *t, ti_roll how);
/* What a path costs by the multipliers as they are now. @param each (nterm) += J by terms; NULL = skip */
tribo_status ti_path_price(tribo_trajopt *t, ti_path *path, double *each);
/* The guess as it stands in best: gaps, costs, tape. */
tribo_status ti_path_take(tribo_trajopt *t);
/* J of the best's controls under the options' law. */
double ti_path_hard(tribo_trajopt *t);
void ti_path_swap(tribo_trajopt *t);
/* Whether a method goes backward through models of the knots. */
static inline bool ti_has_models(const tribo_trajopt *t) {
    return t->method <= TRIBO_METHOD_NEWTON;
}
/* All of u at a knot's controls. */
void ti_control_spread(const tribo_trajopt *t, const double *controls, double *u);
/* Models of all knots, by all workers. */
tribo_status ti_knots_linearise(tribo_trajopt *t);

/* ---- box.c ---- */

/* argmin d'Hd/2 + g'd, lower <= d <= upper; R the factor of H over what is free, held (n) the rest. d is a guess.
 * @param R (n,ti_ld(n)) [out]. @return false where H is not positive definite. */
bool ti_box_solve(int n, const double *H, const double *g, const double *lower, const double *upper, double *d,
                  double *R, bool *held);

/* ---- riccati.c ---- */

/* Steps and gains of all knots at a regularisation. @return false where it does not suffice. */
bool ti_riccati(tribo_trajopt *t);
/* No feedback. */
void ti_gains_forget(tribo_trajopt *t);
/* What a share s of the step is expected to change in the cost: s slope + s^2 bend, and s^2 more by secants. */
void ti_expectation(tribo_trajopt *t, double *slope, double *bend, double *more);
/* dJ/dU (knots,nc) by the knots' models, where there are no gaps; what it meets on the way brings DDP's secants up to
 * date. */
void ti_models_gradient(tribo_trajopt *t, double *gradient);
/* Its largest number that no bound holds back. */
double ti_steepest(const tribo_trajopt *t, const double *gradient);

/* ---- bend.c: the dynamics' second derivative, of NEWTON ---- */

/* bent of all knots from their lambda, by all workers; where little has changed it stays as it was. */
tribo_status ti_knots_bend(tribo_trajopt *t);
/* Other laws: none is known. */
static inline void ti_knots_unbend(tribo_trajopt *t) {
    for (int k = 0; k < t->knots; k++) t->knot[k].known = false;
}
/* Those of `shift` knots later. */
void ti_knots_shift_bent(tribo_trajopt *t, int shift);

/* ---- stages.c ---- */

/* Workspaces and tapes under a stage's law. */
tribo_status ti_stage_open(tribo_trajopt *t, int stage, tribo_diag *diag);
void ti_stage_free(tribo_trajopt *t);
/* The same where it is not open yet. */
tribo_status ti_stage_ready(tribo_trajopt *t, int stage);
/* Into trial what the best's controls of `shift` knots later lead to from x0 (NULL = its own), as they are or with
 * their feedback: whichever costs less, as a motion that is not stable is left by controls alone. */
tribo_status ti_path_carry(tribo_trajopt *t, const double *x0, int shift);
/* What the best is worth, into progress. */
void ti_progress_note(tribo_trajopt *t);

/* ---- lens.c: models of the best under a smoother law, costs under the task's ---- */

/* What a task without stages looks through: its own law, soft; rounds know no softness. o NULL = defaults. */
bool ti_lens_softens(const tribo_options *o);
tribo_law_options ti_lens_own(const tribo_options *o);

/* Where nothing improves in the last stage: the next law to look through, finer ones first, and the task's own again
 * after one that gained. *turned: there is one. */
tribo_status ti_lens_turn(tribo_trajopt *t, bool *turned);
/* Where models are of another law than the stage's, those of the last from now on, which is nearest to the task's own.
 */
tribo_status ti_lens_finest(tribo_trajopt *t);
/* Models under the stage's own law. */
void ti_lens_close(tribo_trajopt *t);
/* A search that begins: no models yet, and those to come under the stage's own law. */
void ti_models_forget(tribo_trajopt *t);
/* Jacobians of a record's step into the planner's A and B. */
tribo_status ti_lens_step(const tribo_trajopt *t, ti_planner *w, int record);

/* ---- newton_pass.c, first_order.c: a pass each ---- */

/* dJ/dU (knots,nc) of the best or the trial by the reverse, with constraints; x0_bar, p_bar +=. Any may be NULL. */
tribo_status ti_path_reverse(tribo_trajopt *t, const ti_path *path, double *gradient, double *x0_bar, double *p_bar);
/* A pass of the methods of first order. */
tribo_status ti_newton_pass(tribo_trajopt *t);
tribo_status ti_first_order_pass(tribo_trajopt *t);
tribo_status ti_quasi_newton_pass(tribo_trajopt *t);

#endif
