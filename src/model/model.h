/* model.h -- the model as the other rooms read it. */
#ifndef TI_MODEL_H
#define TI_MODEL_H
#include "math/vec.h"
#include <stdbool.h>
#include <tribo/law.h>
#include <tribo/model.h>

/* Layout of p: gravity, bodies, geoms, pairs. Offsets inside one of each. */
enum { TI_P_GRAVITY = 0, TI_P_BODIES = 3 };
enum { TI_P_MASS = 0, TI_P_COM = 1, TI_P_INERTIA = 4, TI_P_BODY = 10 };
enum { TI_P_SIZE = 0, TI_P_POS = 3, TI_P_QUAT = 6, TI_P_MATERIAL = 10, TI_P_GEOM = 15 };
enum { TI_M_FRICTION, TI_M_STICTION, TI_M_RESTITUTION, TI_M_BAUMGARTE, TI_M_SLOP, TI_P_PAIR };

/* How a body moves; what that means is in state.c. */
typedef enum ti_joint { TI_JOINT_FREE } ti_joint;
/* Numbers of a free joint in q and in v. */
enum { TI_FREE_NQ = 7, TI_FREE_NV = 6 };

/* Bodies that joints tie together: consecutive, a parent before its children. Today each body is one. */
typedef struct ti_tree {
    int body0, nbody;
    int q, v, nv; /* its first entry in q and in v, and how many of v are its own */
} ti_tree;

typedef struct ti_body {
    char *name;
    int tree;
    ti_joint joint;
    int q, v;         /* its first entry in q and in v: as many as its joint has */
    int p;            /* first of its ten numbers in p */
    int geom0, ngeom; /* its geoms are consecutive in model->body_geom */
} ti_body;

typedef struct ti_geom {
    char *name;
    tribo_shape shape;
    int body; /* or TRIBO_WORLD */
    int p;    /* first of its 15 numbers in p */
    int priority;
    uint32_t contype, conaffinity;
} ti_geom;

/* A pair of geoms that can touch: a < b, the shapes ordered PLANE <= SPHERE <= BOX <= CAPSULE by swapping a and b if
 * needed. */
typedef struct ti_pair {
    int a, b;
    int material[TI_P_PAIR]; /* index into p of each number of the pair's material */
    double length;           /* of the smaller of the two as the file has it: what rounding of a gap is compared with */
} ti_pair;

struct tribo_model {
    tribo_allocator alloc;
    size_t bytes;
    tribo_sizes size;
    double dt;
    tribo_law_options law; /* what the scene says of it */
    ti_body *body;         /* (nbody) */
    int ntree, widest;     /* widest: most velocities of a tree */
    size_t nM;             /* entries of all trees' inertias, nv * nv each */
    ti_tree *tree;         /* (ntree) */
    ti_geom *geom;         /* (ngeom) */
    int *body_geom;        /* (ngeom of bodies) geom ids, body after body */
    double *p0;            /* (np) */
    bool *used;            /* (np) does any number of the dynamics depend on it? */
    double *x0;            /* (nx) */
    char **pair_name;      /* (npair) */
    int *pair_geom;        /* (npair,2) */
    /* Every pair that passes the filters, grouped: the static geoms first, see ti_model_pair(). */
    int npossible;
    ti_pair *pair; /* (npossible), sorted by (a,b) of ids */
    int *pair_at;  /* (ngeom,ngeom) index into pair, or -1; symmetric */
};

#endif
