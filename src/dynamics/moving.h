/* moving.h -- what is known of a model's trees inside a step, and the cotangents of that. */
#ifndef TI_MOVING_H
#define TI_MOVING_H
#include "dynamics/body.h"
#include "dynamics/drag.h"
#include "dynamics/spatial.h"
#include "model/model.h"

/* An actuator now; of what is cut off, at which end. */
typedef struct ti_actuator_now {
    double reach, rate; /* length and velocity before the gear */
    double control, gain, force;
    double damping; /* less its velocity, more its force */
    int held_control, held_force;
    bool damps;
} ti_actuator_now;

/* Of a tree of few numbers, few.c: how entry (i,j) of its inertia, i <= j, changes with number k, for all that change.
 */
enum { TI_FEW_ENTRIES = TI_FEW * (TI_FEW * TI_FEW - 1) / 3 };
typedef struct ti_few_symbols {
    int n;
    struct {
        int i, j, k;
        double by;
    } entry[TI_FEW_ENTRIES];
} ti_few_symbols;

enum { TI_DIFFERENCES = 6 }; /* of the changes of velocity, by which the next one is told */

typedef struct ti_motion {
    const tribo_model *model;
    ti_link *link; /* (nbody) */
    /* Of trees with joints, tree.c: by number of v, (nv). */
    ti_spatial *axis;            /* the twist of a unit of it */
    ti_spatial *twist;           /* up to here, at the middle of the step */
    ti_spatial *along;           /* the same before the step, and then after it */
    ti_spatial *bias, *load;     /* acceleration at no change of v, or a known one, up to here; wrench on all that it
                                    carries */
    ti_spatial_inertia *carried; /* of all that it carries */
    double *now, *free, *middle; /* velocities before the step and after it, without contacts; their mean */
    double *given, *next;        /* forces that do not turn with the motion; of a round */
    double *pushed;              /* what rounds begin with: the change of velocity to expect; zeros = none */
    double *difference;          /* (nv,TI_DIFFERENCES) that of the last step, its change, the change of that ... */
    double *move, *answer;       /* of the second round: where it began and ended, less the first */
    double *known_move;          /* those of the last step */
    double *known_answer;
    double *share;               /* (ntree) by which the rounds shrank their changes; 0 = not known */
    double *known_share;         /* (ntree) the same of the last step */
    ti_spatial_inertia *inertia; /* (nbody) */
    ti_few_symbols *few;         /* (ntree) of those of few numbers, of the last load */
    double *M, *factor;          /* (model->nM) with damping and springs; its factor: branch.h */
    struct ti_tree_jac *jac;     /* the caller's, where steps are made: room for Jacobians */
    ti_vec *centre;              /* (ntree) what a shifted free root moves, in its frame: the centre of mass of it and
                                    what is welded to it, or its origin */
    const double *q, *v, *u;     /* of the model: of the last load, v of that of actuators */
    ti_actuator_now *actuator;   /* (nactuator) */
    double *driven, *applied;    /* (nv) what they do, and with the forces of u */
    double *arm, *arm_bar;       /* (npull) of those that pull at sites, on the numbers of v; their cotangents */
    bool *capped;                /* (nv) cut off together */
    ti_fluid fluid;              /* of the last load, where model->fluid */
    bool meant;                  /* ti_motion_mean_forces() are there */
    int nheld;                   /* how many are cut off, one by one or together */
} ti_motion;

/* Cotangents. Of single free bodies all are those of their links. */
typedef struct ti_motion_bar {
    ti_link_diff *link; /* (nbody) */
    /* Of trees with joints, as in ti_motion. */
    ti_spatial *axis;
    ti_link_diff *root; /* (ntree) of a shifted free root, as one body with what is welded to it */
    double *M, *now, *free;
    double *own;                              /* (nv) of the joints' own numbers in q */
    ti_spatial *twist, *bias, *eta, *carried; /* on the way */
    ti_spatial *rate;                         /* (nv) and (nbody), bias.c: which the rounds of the reverse share */
    ti_vec *momentum;
    double *change;            /* (widest) */
    double *applied, *damping; /* (nv) of applied, (nactuator) of damping */
    double *y, *v, *place;     /* (nv) of forces, of present velocities, of displacements of the tree */
} ti_motion_bar;

/* on (nv): of wrenches on the links that each number of v is the last to move, those on all that it carries. */
static inline void ti_loads_carried(const tribo_model *model, int v0, int nv, ti_spatial *on) {
    for (int d = v0 + nv - 1; d >= v0; d--) {
        int before = model->dof[d].before;
        if (before >= 0) on[before] = ti_sp_axpy(on[before], 1, on[d]);
    }
}

#endif
