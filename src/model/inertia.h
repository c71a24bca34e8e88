/* inertia.h -- what solids weigh and how they turn, and which numbers of them none can have. docs/math.md eq. (2)-(4).
 */
#ifndef TI_INERTIA_H
#define TI_INERTIA_H
#include "math/vec.h"
#include "model/mesh.h"
#include <stdbool.h>
#include <tribo/model.h>

/* Mass, centre of mass and inertia (about it, body axes) of one geom; of a plane, zeros. mesh: NULL of other shapes. */
void ti_geom_inertia(const tribo_geom_def *g, const ti_mesh *mesh, double *mass, double com[3], double inertia[6]);
/* Axes, as columns, in which a symmetric matrix (xx yy zz xy xz yz) is diagonal, and what is there; by Jacobi's turns,
 * which leave the axes where they are for one that is diagonal. */
ti_mat ti_principal_axes(const double product[6], double second[3]);
/* The quaternion of a rotation. */
void ti_quat_of(const ti_mat *R, double q[4]);
/* inertia := R inertia R' */
void ti_turn_inertia(const ti_mat *R, double inertia[6]);
/* inertia += m (r.r 1 - r r'), the same about a point r away. */
void ti_add_parallel(double inertia[6], double m, const double r[3]);
/* NULL if a rigid body can have these principal moments; otherwise what is wrong. */
const char *ti_inertia_flaw(const double inertia[6]);
/* The same with a mass. What is welded to others need not turn or weigh by itself: points and frames do not. */
const char *ti_matter_flaw(double mass, const double inertia[6], bool welded);
/* NULL if the material is physical; otherwise what is wrong. */
const char *ti_material_flaw(const tribo_material *m);

/* What is wrong with the four numbers of a joint; NULL if nothing is. */
const char *ti_joint_flaw(const double *p, bool limited);
/* The same of a free one's. */
const char *ti_free_flaw(const double *p);

/* The same of an actuator's; and what p has of a definition. */
const char *ti_actuator_flaw(const double *p);
void ti_actuator_numbers(const tribo_actuator_def *d, double *p);
/* The same of a tendon's. */
const char *ti_tendon_flaw(const double *p);

#endif
