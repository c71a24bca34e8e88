/* qcqp.h -- the scaled problem and the workspace that the parts of the solver share.
 *
 * With x = s D y, D diagonal and equal on the two variables of a pair, the problem becomes
 *     min 1/2 y'Sy + b'y,   S = D P D,   b = D q / s,   y >= 0 or |y_i| <= rho_i = r_i / (s d_i),
 * S with diagonal 1 (QP) or diagonal blocks of norm 1 (QCQP), and the largest entry of b or of rho equal to 1. All
 * tolerances are numbers in these variables. docs/math.md eq. (51).
 */
#ifndef TI_QCQP_H
#define TI_QCQP_H
#include "base/base.h"
#include "math/dense.h"
#include <tribo/qcqp.h>

/* What holds a contact. */
enum { TI_FREE, TI_EDGE, TI_FIXED };

struct tribo_qcqp_ws {
    size_t bytes;
    tribo_allocator allocator;
    int n_max;

    int n, nc, ld, dim; /* dim: variables of a contact, 1 (QP) or 2 (QCQP) */
    double s;           /* impulse that is 1 in the scaled problem */
    double *S;          /* (n,ld) */
    double *d;          /* (n) */
    double *b;          /* (n) */
    double *rho;        /* (nc) QCQP */
    double least_eps;   /* of eps */
    double *eps;        /* (n) regularisation, the scaled image of one number for all x */

    double *y, *g;        /* (n) iterate and S y + b */
    double *center;       /* (n) the proximal term is eps (y - center) */
    double *kappa;        /* (nc) curvature of the edge where the contact is TI_EDGE */
    double *factored;     /* (nc) kappa when K was factored */
    double *u;            /* (n) its outward direction */
    unsigned char *state; /* (nc) */
    unsigned char *last;  /* (nc) */

    int m;           /* reduced variables: y = base + N t */
    int *col;        /* (n) column k of N has c0, c1 in rows col, col+1 */
    double *c0, *c1; /* (n) */
    double *K;       /* (m, ti_ld(m)) factor of N'(S+eps)N + kappa */
    double *t, *t2;  /* (n) reduced vectors */
    double *row;     /* (ld) */
    double *v1, *v2; /* (n) scratch */
    double *best;    /* (n) the iterate of least residual */
    double *found;   /* (n) where the interior point ended */
    double best_residual;
    bool done; /* best is the solution of least norm, not only one */
};

/* --- qcqp_problem.c --- */

/* A workspace for up to n_max variables out of an arena. */
void ti_qcqp_carve(ti_arena *arena, int n_max, tribo_qcqp_ws **ws);
/* Check the arguments, scale, and set eps; status. Reads no start. */
tribo_status ti_qcqp_scale(tribo_qcqp_ws *ws, const tribo_qcqp *qp);
/* Max-norm of y - proj(y - g), NaN if anything is. */
double ti_qcqp_residual(const tribo_qcqp_ws *ws, const double *y, const double *g);
/* y := its projection */
void ti_qcqp_project(const tribo_qcqp_ws *ws, double *y);
/* g := S y + b */
void ti_qcqp_gradient(const tribo_qcqp_ws *ws, const double *y, double *g);
/* Residual of y, g, kept in best if it is the least. */
double ti_qcqp_note(tribo_qcqp_ws *ws);
/* Has best reached tol, or the rounding of the problem? */
bool ti_qcqp_solved(const tribo_qcqp_ws *ws, double tol);

/* --- active.c --- */

/* state, u and kappa of the point y with gradient g (regularised or not). */
void ti_qcqp_classify(tribo_qcqp_ws *ws, const double *y, const double *g);
/* u and N turned to the point ws->y, the states as they are. */
void ti_qcqp_turn(tribo_qcqp_ws *ws);
/* N, K from state, u and kappa; K factored. Its smallest pivot, or 0 if it could not be factored. */
double ti_qcqp_factor(tribo_qcqp_ws *ws);
/* t := K^-1 t; t has room for ti_ld(m) */
void ti_qcqp_solve_reduced(const tribo_qcqp_ws *ws, double *t);
/* t := N'a */
void ti_qcqp_restrict(const tribo_qcqp_ws *ws, const double *a, double *t);
/* a := a + N t */
void ti_qcqp_prolong_add(const tribo_qcqp_ws *ws, const double *t, double *a);

/* --- qcqp_newton.c, qcqp_interior.c, qcqp_admm.c, qcqp_solve.c --- */

/* What Newton is to reach: a point on the path of regularised solutions; the solution of least norm; or, where the
 * regularisation cannot be taken out again, any. */
typedef enum ti_qcqp_goal { TI_PATH, TI_END, TI_INSIST } ti_qcqp_goal;
/* Newton from y, g. Sets done if it got to its end. Returns the number of steps. */
int ti_qcqp_newton(tribo_qcqp_ws *ws, double tol, ti_qcqp_goal goal, int max_steps);
/* QCQP: interior point from y = 0; leaves y inside, g, and notes it. Returns the number of steps. */
int ti_qcqp_interior(tribo_qcqp_ws *ws, double tol, int max_steps);
/* ADMM from y; leaves y, g. Returns the number of iterations. */
int ti_qcqp_admm(tribo_qcqp_ws *ws, double tol, int max_iter);
int ti_qcqp_degenerate(const tribo_qcqp_ws *ws, const double *y, const double *g);

#endif
