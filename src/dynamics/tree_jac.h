/* tree_jac.h -- Jacobians of a tree's dynamics over all of its displacements and velocities at once. docs/math.md eq.
 * (164)-(166). */
#ifndef TI_TREE_JAC_H
#define TI_TREE_JAC_H
#include "base/base.h"
#include "dynamics/moving.h"

enum { TI_TWIST_BY_SPIN = TI_TWIST * 3 };

/* How the wrench of a fluid on what a number of v carries changes with the twist of that, and the wrench itself. */
typedef struct ti_fluid_part {
    ti_mat torque_w, torque_v, force_w, force_v;
    ti_spatial wrench;
} ti_fluid_part;

typedef struct ti_tree_jac {
    /* By number of v, (nv). */
    ti_spatial *twist, *acceleration, *wrench; /* up to here, in the middle of the step; on all that it carries */
    ti_spatial *solved;                        /* the caller's: twists after the step */
    ti_spatial *turned, *hurried; /* what a displacement by each changes of the twists and accelerations of those that
                                     it carries */
    ti_spatial *lift;             /* of what is carried of the weight there: mass times centre, mass in v.x */
    double *change;               /* (nv,6,3) by which the wrench changes with a twist's angular velocity */
    ti_spatial *rate;             /* what a unit of each velocity accelerates all that it carries by */
    double *acc, *start;          /* the joints' own; velocities to begin from */
    int *pivot;
    /* By tree, (w,w) each, (nM). */
    double *C, *K;                    /* derivative of gyroscopic forces to the velocity; M + h/2 C, factored */
    double *G;                        /* of inverse dynamics, or a part of them, to displacements */
    double *free_q, *free_v, *free_u; /* of the free velocity, or of K times it */
    double *driven;                   /* of actuators */
    double *drag_q, *drag_v;          /* of what a fluid does, by displacements and velocities */
    ti_fluid_part *part;              /* (nv) and the twist of that before the step, as the fluid sees it */
    ti_spatial *blown;
    bool *along; /* (ntree) whether K is factored along the ways to the root: branch.h */
} ti_tree_jac;

/* Arrays of a workspace: none where all trees are single bodies; or for all trees. */
void ti_tree_jac_carve(ti_arena *a, const tribo_model *model, ti_tree_jac *j);
void ti_tree_jac_carve_all(ti_arena *a, const tribo_model *model, ti_tree_jac *j);
/* Both parts by themselves, at the velocity m->middle, after ti_tree_composite(): j->C; and with it j->G, times scale,
 * at the accelerations j->acc, without springs. */
void ti_tree_jac_velocity(const ti_motion *m, const ti_tree *tree, ti_tree_jac *j);
void ti_tree_jac_place(const ti_motion *m, const ti_tree *tree, ti_vec gravity, double scale, ti_tree_jac *j);
/* j->G of M a, with a (w) at rest and M of matter alone, after ti_tree_composite(): how inverse dynamics change between
 * two accelerations that differ by a. */
void ti_tree_jac_inertia(const ti_motion *m, const ti_tree *tree, const double *a, ti_tree_jac *j);
/* j->C, and M (w,w) of the tree + h/2 C factored in j->K. @return false where that is singular. */
bool ti_tree_jac_factor(const ti_motion *m, const ti_tree *tree, const double *M, double dt, ti_tree_jac *j);
/* Whether the axis of number e moves with number d, both on one chain, d before e or of one joint. */
bool ti_dof_moves(const ti_motion *m, int d, int e);

#endif
