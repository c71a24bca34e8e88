/* motion.h -- the trees of a model through a step: their inertia, their velocities before it and under its forces, and
 * how those change. Vectors of a tree have as many numbers as it has velocities. docs/math.md eq. (5)-(8).
 *
 * A tree is one free body (link.c), or has joints (tree.c).
 */
#ifndef TI_MOTION_H
#define TI_MOTION_H
#include "base/base.h"
#include "dynamics/moving.h"

/* Arrays of a workspace. */
void ti_motion_carve(ti_arena *a, const tribo_model *model, ti_motion *m);
void ti_motion_bar_carve(ti_arena *a, const tribo_model *model, ti_motion_bar *bar);
/* The same with what trees with joints have, for every tree. */
void ti_motion_carve_all(ti_arena *a, const tribo_model *model, ti_motion *m);
void ti_motion_bar_carve_all(ti_arena *a, const tribo_model *model, ti_motion_bar *bar);

/* Everything below from p and from q, v, u of the whole model (u NULL = 0). @param known what ti_recall_keep() kept of
 * the same, which is not found again; NULL = nothing @return false where a body turns too fast for a step of this
 * length, or an inertia is singular. */
bool ti_motion_load(ti_motion *m, const double *p, const double *q, const double *v, const double *u, double dt,
                    const double *known);
/* Whether that was because an inertia is singular. */
bool ti_motion_singular(const ti_motion *m);
/* What the next step will make of velocities, by what the last ones did: rounds begin with it. Or nothing is known. */
void ti_motion_expect(ti_motion *m);
void ti_motion_forget(ti_motion *m);
/* Of all that only where everything is and moves: what ti_motion_energy() asks for. */
void ti_motion_place(ti_motion *m, const double *p, const double *q, const double *v);
/* The mass of tree t, kg, which no axes change: what its contact problem measures by, eq. (496). */
double ti_motion_heft(const ti_motion *m, int t);
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
/* The free root of a tree as one body with all that is welded to it, of one that moves its origin as if its centre of
 * mass were there; *one is room for it. */
const ti_link *ti_motion_root(const ti_motion *m, int t, ti_link *one);
/* Root mean square of how far the matter of the tree moves in a displacement D. */
double ti_motion_moved(const ti_motion *m, int t, const double *D);

/* The twist of a body as a link has it, velocity of its centre of mass in the world and spin in the body (6), by a
 * velocity of its tree. */
void ti_motion_twist(const ti_motion *m, int body, const double *v, double *twist);
/* S (6) of that, of a tree with joints: its column of number d of v, which is on the way from the body to the root. */
void ti_motion_column(const ti_motion *m, int body, int d, double *S);
/* Kinetic energy, and that of gravity and springs, of all trees, loaded. */
double ti_motion_energy(const ti_motion *m, const double *p, const double *q);

/* ---- reverse: added to bar ---- */

void ti_motion_now_vjp(const ti_motion *m, int t, const double *v_bar, ti_motion_bar *bar);
void ti_motion_free_vjp(const ti_motion *m, int t, const double *v_bar, ti_motion_bar *bar);
/* M_bar += s a b' */
void ti_motion_inertia_vjp(const ti_motion *m, int t, double s, const double *a, const double *b, ti_motion_bar *bar);
/* The same for all of M_bar (w,w). */
void ti_motion_inertia_bar(const ti_motion *m, int t, const double *M_bar, ti_motion_bar *bar);
/* Of the logarithm of ti_motion_heft(). */
void ti_motion_heft_vjp(const ti_motion *m, int t, double log_bar, ti_motion_bar *bar);
/* Of a twist; of a single body nothing depends on where it is. */
void ti_motion_twist_vjp(const ti_motion *m, int body, const double *v, const double *twist_bar, ti_motion_bar *bar);
/* From dq, dv of the next state; D_bar, V_bar of the tree are overwritten, and all of its in bar. */
void ti_motion_integrate_vjp(const ti_motion *m, int t, const double *D, const double *V, const double *qbar,
                             const double *vbar, ti_motion_bar *bar, double *D_bar, double *V_bar);
/* D_bar += of the square of ti_motion_moved(), which has the cotangent square_bar. */
void ti_motion_moved_vjp(const ti_motion *m, int t, double square_bar, const double *D, double *D_bar,
                         ti_motion_bar *bar);
/* Where the cotangents of ti_motion_root() go. */
ti_link_diff *ti_motion_root_bar(const ti_motion *m, int t, ti_motion_bar *bar);
/* What this asks for and a step does not, unless it is there: before the next one. */
void ti_motion_mean_forces(ti_motion *m, const double *p, double dt);
/* Of ti_motion_load(): from bar to x (dq, dv), u, p; u_bar, p_bar may be NULL. */
void ti_motion_load_vjp(const ti_motion *m, const double *p, double dt, ti_motion_bar *bar, double *q_bar,
                        double *v_bar, double *u_bar, double *p_bar);

/* ---- forward: of single free bodies alone ---- */

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
