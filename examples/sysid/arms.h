/* arms.h -- chains of hinges, simulated without a line of the library: truth for identification.
 *
 * Lagrange's equations with the inertia from geometric Jacobians and its derivatives by differences, Runge and Kutta's
 * fourth order, dry friction with its own events: a hinge slips one way, or the other, or sticks. */
#ifndef ARMS_H
#define ARMS_H
#include <stdint.h>

enum { ARM_LINKS = 6 };

/* A link hangs on the one before it; frames are parallel at zero. */
typedef struct arm_link {
    double pos[3], axis[3];          /* of the hinge, in the frame of the link before */
    double mass, com[3], inertia[6]; /* about the centre of mass: xx yy zz xy xz yz */
    double damping, friction, armature;
} arm_link;

typedef struct arm {
    int n;
    arm_link link[ARM_LINKS];
    double gravity; /* m/s^2, downwards */
    double q[ARM_LINKS], v[ARM_LINKS];
    int slip[ARM_LINKS]; /* -1, 1, or 0: sticks */
} arm;

/* The arm of data/scenes/ur-like.xml at rest and upright. */
arm arm_ur(void);
/* The torques that give it accelerations acc where it is: no damping, no friction, no events. */
void arm_torque(const arm *a, const double *acc, double *torque);
/* A time dt with torques held. */
void arm_step(arm *a, const double *torque, double dt);

/* What the arm is asked to do: sums of sines about a posture, followed by springs and dampers on what is measured. */
typedef struct arm_wish {
    double middle[ARM_LINKS], size[ARM_LINKS][5], phase[ARM_LINKS][5], base; /* rad, rad, 1/s */
} arm_wish;
arm_wish arm_wish_draw(const arm *a, uint64_t *seed);
/* A recording of `rows` rows, `spacing` apart: measured angles with noise, torques held from a row to the next. The arm
 * follows the wish for a second before it begins. */
void arm_record(arm *a, const arm_wish *wish, int rows, double spacing, double noise, uint64_t *seed,
                double *q /* [out] (rows,n) */, double *torque /* [out] (rows,n) */);
#endif
