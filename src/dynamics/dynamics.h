/* dynamics.h -- a model at one state, as tribo/dynamics.h has it.
 *
 * The velocities of trees are those of the state: a free root turns about its frame's origin here, not about its centre
 * of mass as within a step. All else of tree.c, bias.c and tree_jac.c is the same.
 */
#ifndef TI_DYNAMICS_H
#define TI_DYNAMICS_H
#include "base/base.h"
#include "dynamics/moving.h"
#include "dynamics/tree_jac.h"
#include <tribo/dynamics.h>

struct tribo_dynamics {
    tribo_allocator alloc;
    size_t bytes;
    const tribo_model *m;
    ti_motion at; /* M without damping and springs, factor L'DL; bias with accelerations, load with all forces */
    ti_motion_bar bar;
    ti_tree_jac jac;
    double *p, *x, *zero; /* (np), (nx), (nv) */
    double *work;         /* (nv) */
    bool placed, summed, factored;
};

/* Whether it is there and has a state. */
static inline bool ti_dynamics_ready(const tribo_dynamics *d) {
    return d && d->placed;
}
static inline const double *ti_dynamics_v(const tribo_dynamics *d) {
    return d->x + d->m->size.nq;
}

/* Composites and M, unless they are there. */
void ti_dynamics_sum(tribo_dynamics *d);

/* Cotangents in d->bar: begin with none; add the wrench of a twist's cotangent to the axes, and to v_bar (or NULL);
 * those of axes and links to q and p. */
void ti_dynamics_begin(tribo_dynamics *d);
void ti_dynamics_twist_bar(tribo_dynamics *d, int body, const double *v, ti_spatial wrench, double *v_bar);
void ti_dynamics_end(tribo_dynamics *d, double *q_bar, double *p_bar);

#endif
