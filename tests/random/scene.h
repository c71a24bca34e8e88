/* scene.h -- a random scene in the terms of those who judge it: bodies, geoms, numbers; and the library's model of it.
 */
#ifndef RANDOM_SCENE_H
#define RANDOM_SCENE_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <tribo/tribo.h>

enum { MAX_BODIES = 12, MAX_GEOMS = 48, NX = 13, NDX = 12, NU = 6 };

typedef struct solid {
    double pos[3], quat[4], vel[3], spin[3]; /* start, as in the library's state: frame, spin in the body */
    double mass, com[3], inertia[6];         /* about the centre of mass, body axes: xx yy zz xy xz yz */
    double force[3], torque[3];              /* the control, the same in every step */
} solid;

typedef struct geom {
    int body; /* TRIBO_WORLD: does not move */
    tribo_shape shape;
    double size[3], pos[3], quat[4];
    double friction, stiction, restitution, baumgarte, slop;
    double torsion, rolling, compliance;
    double edge; /* radius of a box's edges */
} geom;

typedef struct scene {
    uint64_t seed;
    int nbody, ngeom, steps;
    int graded, horizon; /* where gradients are asked for, over how many steps */
    bool thorough;       /* gradients by every kind of parameter, not by four */
    bool robot;          /* trees with joints, made from the seed alone: robot.c */
    bool warm;           /* steps start from the step before */
    bool spins;          /* materials have friction against turning, and give way: scene_spin() */
    bool rounds;         /* boxes have round edges: scene_round() */
    bool brakes;         /* free joints of a robot have damping, armature, dry friction */
    double size, drop;   /* of a robot: m of a body, m above the floor */
    double gravity[3], dt, recovery;
    solid b[MAX_BODIES];
    geom g[MAX_GEOMS];
    char story[64]; /* what kind of scene it is */
} scene;

/* The scene as a model of the library, and what is needed to step it. */
typedef struct world {
    tribo_model *m;
    tribo_ws *ws;
    double *p;
} world;

/* generator.c, arrange.c: the scene of a seed; more than half of its bodies of capsules, or of none. */
void scene_make(scene *s, uint64_t seed, bool capsules);

/* Give materials friction against turning and compliance, by dice of their own: all else stays what the seed makes. Of
 * a robot: before it is built. */
void scene_spin(scene *s);
/* Friction against turning, lengths in units of `size`, and compliance in units of 1 / mass. */
void spin_draw(uint64_t seed, int geom, double size, double mass, double *torsion, double *rolling, double *compliance);

/* Give most boxes round edges, by dice of their own: all else stays what the seed makes. */
void scene_round(scene *s);

/* robot.c: trees with joints of a seed. Their start is the model's, they have no forces. */
void robot_make(scene *s, uint64_t seed);
tribo_status robot_new(world *w, const scene *s, tribo_diag *diag);

/* build.c */
tribo_status world_new(world *w, const scene *s, tribo_diag *diag);
void world_free(world *w);
void scene_state(const scene *s, double *x);   /* (13 nbody) the start */
void scene_control(const scene *s, double *u); /* (6 nbody) */
/* Make a state the start. */
void scene_restart(scene *s, const double *x);

/* read.c: a scene from a file; false with diag if it is none, or too large. */
bool scene_load(scene *s, const char *path, tribo_diag *diag);

/* write.c: as MJCF, and the control as the command reads it. */
void scene_write(const scene *s, FILE *f, const char *remark);
void scene_write_control(const scene *s, FILE *f);

/* overlap.c: separation of two geoms, posed: > 0 apart (a lower bound of the distance), < 0 the least way out. */
typedef struct posed {
    tribo_shape shape;
    double x[3], R[9], size[3]; /* of a box with round edges what the middle of the edge's ball fills */
    double edge;
} posed;
void geom_pose(const geom *g, const double *x /* state, NULL = as they start */, const scene *s, posed *out);
double separation(const posed *a, const posed *b);
double geom_height(const geom *g); /* from its centre to its top along its own z axis; of a plane 0 */
double geom_radius(const geom *g); /* of the ball around it; of a plane 0 */

/* A body in motion, about its centre of mass. */
typedef struct motion {
    double x[3], R[9], v[3], w[3];           /* spin w in the body */
    double free_v[3], free_w[3];             /* after the step, were nothing in its way */
    double force[3], torque[3];              /* on the centre of mass: force with weight, world; torque, body */
    double inertia[9], accel[3], accel_w[3]; /* inertia in the body; free change of v and w over dt */
    double spin_work;                        /* of the torque in a free step */
    double push_w[3];                        /* change of w over dt by the torque alone */
} motion;
void body_motion(const scene *s, int body, const double *x, motion *out);

#endif
