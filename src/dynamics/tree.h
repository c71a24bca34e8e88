/* tree.h -- a tree with joints through a step: where its links are, its inertia, the velocity that its forces give.
 *
 * Inside a step the velocities of a free root are those of its centre of mass, with all that is welded to it, and its
 * spin, as of a free body, then come those of the joints; of one whose joint has numbers, those of the origin of its
 * frame and its spin, which these are about. docs/math.md eq. (150)-(156), (515).
 */
#ifndef TI_TREE_H
#define TI_TREE_H
#include "dynamics/moving.h"

/* Links, axes and present velocities of tree t, from the numbers of the whole model. */
void ti_tree_load(ti_motion *m, int t, const double *p, const double *q, const double *v, const double *u);
/* Of that what a free root adds: its axes and its velocity, which are of the point that its joint moves. */
void ti_tree_root_now(ti_motion *m, int t, const double *v, const double *u);
/* What its links do, by those velocities. */
void ti_tree_speeds(ti_motion *m, int t);
/* Where a body on joints, or welded to another, stands, whose parent and com are there; the axes of its joints. */
void ti_tree_place(ti_motion *m, int body, const double *q);
/* Inertias of links, what each number of v carries, and M (w,w) of it, with nothing else on the diagonal. */
void ti_tree_composite(ti_motion *m, const ti_tree *tree, double *M);
/* Of that, after the inertias of links, what each number of v carries. */
void ti_tree_carry(ti_motion *m, const ti_tree *tree);
/* Axes of a free root, from number v on: it moves along the world's axes and turns about `centre`. */
void ti_tree_root_axes(ti_motion *m, const ti_link *l, ti_vec centre, int v);
/* A free root whose centre of mass is the point that its joint moves; *one is room for it. */
const ti_link *ti_tree_root(const ti_motion *m, int t, ti_link *one);
/* What a tree with joints has, of a single free body that was loaded as such. */
void ti_tree_adopt(ti_motion *m, int t);
/* Inertia with what damping and springs add to it, its factor, and the velocity after the step; what links do before
 * the step and after it. @return false where the inertia is singular. */
bool ti_tree_free(ti_motion *m, int t, const double *p, double dt);
/* What ti_tree_vjp() asks for: forces at the mean velocity, with the change of that. */
void ti_tree_mean_forces(ti_motion *m, int t, const double *p, double dt);
/* out = M^-1 in; may be the same */
void ti_tree_solve(const ti_motion *m, int t, const double *in, double *out);

/* The twist of a body as ti_link has it, velocity of the centre of mass in the world and spin in the body, (6), by a
 * velocity of its tree. */
void ti_tree_twist(const ti_motion *m, int body, const double *v, double *twist);
/* Reverse: twist_bar (6) to the axes and the link's place. */
void ti_tree_twist_vjp(const ti_motion *m, int body, const double *v, const double *twist_bar, ti_motion_bar *bar);
/* S (6) of that: its column of number d of v, which is on the way from the body to the root. */
void ti_tree_column(const ti_motion *m, int body, int d, double *S);

/* Reverse of the inertia: begin; M_bar += s a b'; or all of M_bar (w,w). */
void ti_tree_clear_inertia_bar(const ti_motion *m, const ti_tree *tree, ti_motion_bar *bar);
void ti_tree_inertia_vjp(const ti_motion *m, int t, double s, const double *a, const double *b, ti_motion_bar *bar);
void ti_tree_inertia_bar(const ti_motion *m, int t, const double *M_bar, ti_motion_bar *bar);
/* Cotangents of axes and links to displacements of the tree, += place_bar (of the whole model): docs/math.md eq. (156).
 */
void ti_tree_places_vjp(const ti_motion *m, const ti_tree *tree, ti_motion_bar *bar, double *place_bar);
/* Those of links to mass, centre of mass and inertia; centre_bar: of a free root's with what is welded to it. */
void ti_tree_matter_vjp(const ti_motion *m, const ti_tree *tree, const ti_motion_bar *bar, ti_vec centre_bar,
                        double *p_bar);
/* Reverse of ti_tree_load() and ti_tree_free() together: from the cotangents in bar to x (dq and dv, of the whole
 * model), u, p and gravity. Any of u_bar, p_bar may be NULL. */
void ti_tree_vjp(const ti_motion *m, int t, const double *p, double dt, ti_motion_bar *bar, double *q_bar,
                 double *v_bar, double *u_bar, double *p_bar, ti_vec *gravity_bar);
/* Kinetic energy, and that of gravity and springs. */
double ti_tree_energy(const ti_motion *m, int t, const double *p, const double *q);

#endif
