/* cubes.h -- one or two cubes on a floor, simulated without a line of the library: truth for identification.
 *
 * Another solver than the one that will identify them (projected Gauss-Seidel on the NCP, two thousand sweeps), small
 * steps, other contacts (corners in planes and in the other cube's standing faces), angular velocity in the world. */
#ifndef CUBES_H
#define CUBES_H
#include <stdint.h>

enum { CUBES = 2 };

/* What corners do that hit: each leaves with its share of its own approach; each gets back at least its share of the
 * impulse that stopped them all; or one corner after another is hit alone, that which comes fastest first. */
typedef enum cube_impact { CUBE_NEWTON, CUBE_POISSON, CUBE_ONE_BY_ONE } cube_impact;

typedef struct cube {
    double x[3], R[3][3], v[3], w[3], mass, inertia;
} cube;

typedef struct cube_world {
    cube cube[CUBES];
    int n;                    /* 1 or 2 of them */
    double half, gravity, dt; /* half an edge, m; m/s^2 downwards; s */
    double floor_friction, floor_restitution, impact_friction, impact_restitution;
    double slow; /* m/s: nothing that closes more slowly bounces */
    cube_impact impact;
    double edge_friction, face_friction; /* of the floor where two corners touch it, and more; 0 = floor_friction */
    double lift;                         /* share of its depth that a cube is lifted in a step; 0 = by its velocity */
    double tolerance;                    /* N s, of impulses; 0 = 1e-14 */
    /* By how much of what a unit impulse does to it the floor gives way to one, so that corners share a load as equal
     * springs do; 0 = as sweeps find them: statics leave open how four share it, friction of what turns depends on it
     */
    double softness;
    double last[CUBES][8][3]; /* N s, on the corners of each by a soft floor in the last step, where the next begins */
} cube_world;

/* A cube that stands, turned about the vertical. */
cube cube_standing(const cube_world *world, double mass, double x, double y, double yaw, double v);
/* Two standing cubes 0.2 m wide: one of 0.6 kg comes at v from 0.45 m off, y beside the middle and turned by yaw, at
 * one of 1 kg that rests. */
cube_world cubes_colliding(double dt, double y, double yaw, double v);
void cubes_step(cube_world *world);
/* The pose of a cube with noise of a standard deviation in m, and in rad: position, then unit quaternion. */
void cube_measure(const cube *c, double noise, double turn, uint64_t *seed, double pose[7]);
double cubes_uniform(uint64_t *seed); /* (0,1) */
double cubes_gauss(uint64_t *seed);
#endif
