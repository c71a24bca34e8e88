/* tree_contacts.h -- what displacements of trees change in the contacts of a solved phase, by columns. */
#ifndef TI_TREE_CONTACTS_H
#define TI_TREE_CONTACTS_H
#include "backward/backward.h"
#include "contact/reverse/panel.h"

/* A phase of an island at one point of its solution: of TI_HOLD velocities, of TI_RECOVER displacements. Before its
 * columns are asked for, scratch->tree_jac.solved has the twists of its solution and, of TI_RECOVER, .acceleration
 * those of the displacement that it begins with. */
typedef struct ti_phase_point {
    const ti_frame *f;
    const double *p;
    int island, point;
    ti_phase phase;
} ti_phase_point;

static inline const double *ti_point_lambda(const ti_phase_point *at) {
    return at->f->phase[at->phase].lambda[ti_frame_point(at->f, at->island, at->phase, at->point)];
}
static inline const double *ti_point_velocity(const ti_phase_point *at) {
    return at->f->phase[at->phase].v[ti_frame_point(at->f, at->island, at->phase, at->point)];
}
static inline bool ti_point_acts(const ti_phase_point *at, int i) {
    return at->f->phase[at->phase].mode[i] != TRIBO_BREAK;
}

/* What the reference of contact i gains as its gap grows. */
double ti_point_follows(const tribo_ws *ws, const ti_phase_point *at, int i);
/* What the collisions of a phase say of poses, into scratch: once for all of its points. */
void ti_tree_contacts_prepare(tribo_ws *ws, const ti_phase_point *at);
/* Displacements [first, end) of the model's numbers: what they change in the contacts of the island, += r (nv of the
 * island) and dc (3 contacts), of panels. */
void ti_tree_contacts_columns(const tribo_ws *ws, const ti_phase_point *at, int first, int end, double *r, double *dc);

#endif
