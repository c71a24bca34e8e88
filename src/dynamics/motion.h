/* motion.h -- the trees of a model through a step: their inertia, their velocities before it and under its forces, and
 * how those change. Vectors of a tree have as many numbers as it has velocities. docs/math.md eq. (5)-(8).
 *
 * Cotangents go to the links (ti_link_diff), tangents come from them.
 */
#ifndef TI_MOTION_H
#define TI_MOTION_H
#include "dynamics/link.h"
#include "model/model.h"

typedef struct ti_motion {
    const tribo_model *model;
    ti_link *link; /* (nbody) */
} ti_motion;

/* M (w,w) of tree t. */
void ti_motion_inertia(const ti_motion *m, int t, double *M);
/* The velocity that it comes with, what it starts from where its change is taken for an acceleration; and that which
 * the forces of the step alone would give it. */
void ti_motion_now(const ti_motion *m, int t, double *v);
void ti_motion_free(const ti_motion *m, int t, double *v);
/* out = M^-1 in; out = M in */
void ti_motion_solve(const ti_motion *m, int t, const double *in, double *out);
void ti_motion_times(const ti_motion *m, int t, const double *in, double *out);
/* The next q and v (both of the whole state) from a displacement D and a velocity V of the tree. */
void ti_motion_integrate(const ti_motion *m, int t, const double *D, const double *V, double *q, double *v);
/* Root mean square of how far the matter of the tree moves in a displacement D. */
double ti_motion_moved(const ti_motion *m, int t, const double *D);

/* ---- reverse: cotangents added to those of the links, `diffs` (nbody) ---- */

void ti_motion_now_vjp(const ti_motion *m, int t, const double *bar, ti_link_diff *diffs);
void ti_motion_free_vjp(const ti_motion *m, int t, const double *bar, ti_link_diff *diffs);
/* M_bar += s a b' */
void ti_motion_inertia_vjp(const ti_motion *m, int t, double s, const double *a, const double *b, ti_link_diff *diffs);
/* From dq, dv of the next state; D_bar, V_bar of the tree are overwritten, and its links' diffs. */
void ti_motion_integrate_vjp(const ti_motion *m, int t, const double *D, const double *V, const double *qbar,
                             const double *vbar, ti_link_diff *diffs, double *D_bar, double *V_bar);
/* The same for all of M_bar (w,w). */
void ti_motion_inertia_bar(const ti_motion *m, int t, const double *M_bar, ti_link_diff *diffs);
/* Of the logarithm of the first number of M, which the contact problem measures mass by. */
void ti_motion_heft_vjp(const ti_motion *m, int t, double bar, ti_link_diff *diffs);
/* D_bar += of the square of ti_motion_moved(), which has the cotangent bar. */
void ti_motion_moved_vjp(const ti_motion *m, int t, double bar, const double *D, double *D_bar, ti_link_diff *diffs);

/* ---- forward ---- */

void ti_motion_now_jvp(const ti_motion *m, int t, const ti_link_diff *diffs, double *v_dot);
void ti_motion_free_jvp(const ti_motion *m, int t, const ti_link_diff *diffs, double *v_dot);
double ti_motion_heft_jvp(const ti_motion *m, int t, const ti_link_diff *diffs);
/* out = M_dot in */
void ti_motion_inertia_jvp(const ti_motion *m, int t, const ti_link_diff *diffs, const double *in, double *out);
void ti_motion_integrate_jvp(const ti_motion *m, int t, const double *D, const double *V, const ti_link_diff *diffs,
                             const double *D_dot, const double *V_dot, double *qdot, double *vdot);
/* Of the square of ti_motion_moved(). */
double ti_motion_moved_jvp(const ti_motion *m, int t, const ti_link_diff *diffs, const double *D, const double *D_dot);

#endif
