/* fluid.h -- what a fluid does to all bodies of a model, by their velocities before a step: drag.h of each, gathered
 * along the trees. docs/math.md eq. (504), (507). Only where model->fluid; links have their v and w. */
#ifndef TI_FLUID_H
#define TI_FLUID_H
#include "dynamics/moving.h"
#include "dynamics/tree_jac.h"

/* As p has it, for a step of length dt. */
ti_fluid ti_fluid_of(const tribo_model *model, const double *p, double dt);

/* force (nv of the model) += of a tree. */
void ti_fluid_forces(ti_motion *m, const ti_tree *tree, double *force);
/* Reverse, from the cotangent y (nv) of these at the velocity v (nv) of the axes: to bar's axes and links, to v_bar
 * (nv, NULL = skip) and to p. */
void ti_fluid_forces_vjp(const ti_motion *m, const ti_tree *tree, const double *v, const double *y, ti_motion_bar *bar,
                         double *v_bar, double *p_bar);
/* Their derivatives (w,w) by displacements and velocities of the tree, at its velocity m->now; in j as long as nobody
 * else writes there. */
void ti_fluid_forces_jac(const ti_motion *m, const ti_tree *tree, ti_tree_jac *j, double *by_q, double *by_v);

/* Of a single free body: the torque is added to its link, and the acceleration that the force makes returned. */
ti_vec ti_fluid_push(ti_motion *m, int body);
/* Reverse of that and of ti_link_free() with it: weight_bar is that of acceleration, f_bar (nv, NULL = skip) of other
 * forces. */
void ti_fluid_push_vjp(const ti_motion *m, int body, ti_link_diff *to, ti_vec *weight_bar, double *f_bar,
                       double *p_bar);
/* p_dot may be NULL = 0. */
ti_vec ti_fluid_push_jvp(const ti_motion *m, int body, const ti_link_diff *d, const double *p_dot, ti_vec *torque_dot);

#endif
