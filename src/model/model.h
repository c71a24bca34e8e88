/* model.h -- the model as the other rooms read it. */
#ifndef TI_MODEL_H
#define TI_MODEL_H
#include "math/vec.h"
#include "model/mesh.h"
#include <stdbool.h>
#include <tribo/law.h>
#include <tribo/model.h>

/* The parts of p, in their order. */
typedef enum ti_part_of_p {
    TI_PART_GRAVITY,
    TI_PART_BODY,
    TI_PART_JOINT,
    TI_PART_FREE, /* of a free joint that has any */
    TI_PART_ACTUATOR,
    TI_PART_GEARS, /* of an actuator at a site, beyond its first */
    TI_PART_FLUID,
    TI_PART_TENDON,
    TI_PART_SITE,
    TI_PART_GEOM,
    TI_PART_PAIR,
    TI_P_PARTS
} ti_part_of_p;
/* Offsets inside one of each. */
enum { TI_P_GRAVITY = 0, TI_P_BODIES = 3 };
enum { TI_P_MASS = 0, TI_P_COM = 1, TI_P_INERTIA = 4, TI_P_BODY = 10 };
enum { TI_P_SIZE = 0, TI_P_POS = 3, TI_P_QUAT = 6, TI_P_EDGE_RADIUS = 10, TI_P_MATERIAL = 11, TI_P_GEOM = 19 };
/* Of a site. */
enum { TI_P_SITE_POS = 0, TI_P_SITE_QUAT = 3, TI_P_SITE = 7 };
enum {
    TI_M_FRICTION,
    TI_M_STICTION,
    TI_M_RESTITUTION,
    TI_M_BAUMGARTE,
    TI_M_SLOP,
    TI_M_TORSION,
    TI_M_ROLLING,
    TI_M_COMPLIANCE,
    TI_P_PAIR
};

enum {
    TI_P_DAMPING,
    TI_P_ARMATURE,
    TI_P_STIFFNESS,
    TI_P_SPRINGREF,
    TI_P_FRICTIONLOSS,
    TI_P_LOWER,
    TI_P_UPPER,
    TI_P_BOUNCE,
    TI_P_JOINT
};
/* Of a free joint: damping and armature as of others, then dry friction. */
enum { TI_P_FREE_LOSS = TI_P_ARMATURE + 1, TI_P_FREE };

/* Of an actuator. */
enum { TI_P_GEAR = 0, TI_P_GAIN = 1, TI_P_BIAS = 4, TI_P_CTRLRANGE = 7, TI_P_FORCERANGE = 9, TI_P_ACTUATOR = 11 };
enum { TI_P_MORE_GEARS = 5 }; /* of one at a site, behind all actuators */
/* Of the fluid that all is in. */
enum { TI_P_DENSITY, TI_P_VISCOSITY, TI_P_WIND, TI_P_FLUID = 5 };
/* Of a tendon. */
enum { TI_P_SHORTEST, TI_P_LONGEST, TI_P_TENDON };

/* What moves a body; what that means is in state.c. */
typedef enum ti_joint_kind {
    TI_JOINT_HINGE = TRIBO_JOINT_HINGE,
    TI_JOINT_SLIDE,
    TI_JOINT_BALL,
    TI_JOINT_FREE
} ti_joint_kind;
/* Numbers of a free joint in q and in v. */
enum { TI_FREE_NQ = 7, TI_FREE_NV = 6 };

/* A free joint has no name; they come after all others. It has numbers where its body was given any of them. */
typedef struct ti_joint {
    char *name;
    ti_joint_kind kind;
    int body, q, v;
    int p;                   /* first of its numbers in p; -1 of a free one without */
    double axis[3], pos[3];  /* body frame; the axis is of length 1 */
    double ref;              /* its number in q where the body stands as it was placed */
    bool limited, dry;       /* whether its range holds; whether it was given dry friction */
    int material[TI_P_PAIR]; /* what a contact has, of its limits: see ti_pair */
} ti_joint;

/* What an actuator pulls on or a tendon is along, a joint, and what it counts; of one at a site a number of v that
 * moves it, and no q. */
typedef struct ti_pull {
    int q, v;
    double coef;
} ti_pull;
typedef struct ti_actuator {
    char *name;
    int p;            /* first of its numbers in p */
    int pull0, npull; /* in model->pull */
    int site, more;   /* -1 = on joints; else where the other five gears are in p */
    bool ctrl_limited, force_limited;
} ti_actuator;
/* A sum of joints with limits. */
typedef struct ti_tendon {
    char *name;
    int p;                   /* first of its numbers in p */
    int pull0, npull;        /* in model->pull, the last numbers of v first */
    int a, b;                /* a body of each tree that it is along, b of that of the first; a: or TRIBO_WORLD */
    int material[TI_P_PAIR]; /* as of a joint; it has none */
} ti_tendon;
/* What all actuators together may do to a number of v. */
typedef struct ti_cap {
    int v;
    double range[2];
    bool bears; /* what is carried of weights there counts with them */
} ti_cap;

/* One number of v: what it moves, and the one before it on the way from the root of its tree, -1 = none. The six of a
 * free root move it along the world's axes, then turn it about its own through its centre of mass. */
typedef struct ti_dof {
    int joint, before;
    int on;    /* the next on a way along which all entries of its inertia are: `before`, unless an actuator pulls on
                  several  joints, whose damping couples branches. Not below `before`, so that no elimination adds entries.
                */
    int run;   /* within its tree: the first of the numbers that stand one after the other on that way to it */
    int depth; /* how many are on that way, itself included */
    int end;   /* the last number of the joint, or of the translation or rotation of a free root, that it is of */
    /* The last number, on the way from the root, that turns and moves its axis, -1 = none; and the same but for those
     * of its own rotation, whose parts cancel in the sum of the rates of axes. */
    int moved_by, carried_by;
} ti_dof;

enum { TI_FEW = 3 };

/* Bodies that joints tie together: consecutive, a parent before its children. */
typedef struct ti_tree {
    int body0, nbody;
    int q, v, nv; /* its first entry in q and in v, and how many of v are its own */
    int ways;     /* entries that its inertia has on the ways of its numbers to the root */
    size_t M;     /* its first entry in arrays of all trees' inertias */
    bool rooted;  /* its first body is free */
    bool single;  /* that is all there is, and its joint has no numbers */
    bool framed;  /* its joint has numbers, and moves the origin of its frame */
    bool shifted; /* its joint moves another point than its own centre of mass: that, or, where others are welded to
                     it, the one of all of them */
    bool few;     /* at most TI_FEW hinges and slides, and all of its weight is felt */
} ti_tree;

typedef struct ti_body {
    char *name;
    int tree, parent;       /* parent: or TRIBO_WORLD */
    int joint0, njoint;     /* in model->joint, the first nearest the parent */
    int free;               /* its free joint, or -1 */
    double pos[3], quat[4]; /* in its parent, joints at zero */
    int q, v;               /* its first entry in q and in v */
    double gravcomp;        /* share of its weight that is carried */
    int last;               /* of v, the last number that moves it */
    int p;                  /* first of its ten numbers in p */
    int geom0, ngeom;       /* its geoms are consecutive in model->body_geom */
    int held;               /* the first of those that it moves with, welds that are equalities counted, or the world */
    bool shared;            /* others are welded to it, or it to one */
    int weld,
        weld_parent; /* the body it moves with: itself, or what it is welded to; what that one's parent moves with */
} ti_body;

typedef struct ti_geom {
    char *name;
    tribo_shape shape;
    const ti_mesh *mesh; /* NULL of other shapes */
    int body;            /* or TRIBO_WORLD */
    int p;               /* first of its 18 numbers in p */
    int priority;
    uint32_t contype, conaffinity;
    double margin;          /* it touches nothing further away than the larger of two geoms' */
    double own_margin, gap; /* as given */
    double length;          /* its radius as the file has it */
    bool paired;            /* it has pairs of its own */
} ti_geom;

typedef struct ti_site {
    char *name;
    int body; /* or TRIBO_WORLD */
    int p;    /* first of its 7 numbers in p */
} ti_site;

/* A pair of geoms that can touch: a < b, the shapes ordered PLANE <= SPHERE <= BOX <= CAPSULE by swapping a and b if
 * needed. */
typedef struct ti_pair {
    int a, b;
    int material[TI_P_PAIR]; /* index into p of each number of the pair's material; -1: what ti_material() says */
    double margin;           /* the distance at which they touch */
    double length;           /* of the smaller of the two as the file has it: what rounding of a gap is compared with */
    bool twists, rolls;      /* it was given friction against turning about the normal; against rolling */
} ti_pair;

/* A geom among those that the filters treat alike: same bits, and all of the world or none. */
typedef struct ti_kin {
    uint32_t contype, conaffinity;
    int still, geom;
    int end; /* where its class ends in model->kin */
} ti_kin;
/* A pair of its own, found by ti_pair_rank(), or two bodies that do not collide. */
typedef struct ti_ranked {
    int64_t rank;
    int index; /* the pair; the only geom that it is for, -1 = all */
} ti_ranked;

enum { TI_PAIRS_LISTED = 256 }; /* pairs that can touch; below, a list of them is cheaper than a broad phase */

/* What holds: points and a rotation of bodies a and b, or joints a and b (-1 = none). */
typedef struct ti_equality {
    tribo_equality_kind kind;
    int a, b;
    double pos_a[3], pos_b[3]; /* body frames */
    double quat[4];            /* b in a */
    double polynomial[5];
} ti_equality;

/* Of a joint with numbers: the stiffness of its spring, which a free one has not; where its dry friction is in p. */
static inline double ti_stiffness(const ti_joint *j, const double *own) {
    return j->kind == TI_JOINT_FREE ? 0 : own[TI_P_STIFFNESS];
}
static inline int ti_loss_at(const ti_joint *j) {
    return j->p + (j->kind == TI_JOINT_FREE ? (int)TI_P_FREE_LOSS : (int)TI_P_FRICTIONLOSS);
}

/* Number k, TI_M_..., of a material: joints' limits have a restitution alone, and what overlaps there goes at once. */
static inline double ti_material(const double *p, const int *material, int k) {
    return material[k] >= 0 ? p[material[k]] : k == TI_M_BAUMGARTE;
}
static inline void ti_material_add(double *p_bar, const int *material, int k, double bar) {
    if (material[k] >= 0) p_bar[material[k]] += bar;
}

struct tribo_model {
    tribo_allocator alloc;
    size_t bytes;
    tribo_sizes size;
    double dt;
    char *lenient, *packages; /* how its file was read: see tribo_load_options; "" = NULL */
    bool free_base;
    tribo_law_options law; /* what the scene says of it */
    ti_body *body;         /* (nbody) */
    int nfree, nbraked;    /* nbraked: how many of these have numbers */
    bool lifted;           /* of some body weight is carried */
    ti_joint *joint;       /* (size.njoint + nfree): hinges, slides and balls, then the free ones */
    ti_dof *dof;           /* (nv) */
    ti_actuator *actuator; /* (size.nactuator) */
    ti_pull *pull;
    int npull;
    ti_tendon *tendon; /* (size.ntendon) */
    int nsited;        /* actuators that pull at sites */
    int fluid;         /* first of its numbers in p; 0 = there is none */
    ti_mat *box;       /* (nbody) axes of bodies' inertias in them, as columns, along which a fluid acts; or none */
    int ncap, nborne;  /* nborne: how many of these carry weights */
    ti_cap *cap;       /* (ncap) */
    bool spins;        /* some material was given friction against turning */
    bool soft;         /* some material was given compliance */
    bool chains;       /* not all trees are single bodies, or something holds, or pulls at a site */
    int ntree, widest; /* widest: most velocities of a tree */
    size_t nM;         /* entries of all trees' inertias, nv * nv each */
    ti_tree *tree;     /* (ntree) */
    ti_site *site;     /* (nsite) */
    ti_geom *geom;     /* (ngeom) */
    ti_mesh *mesh;     /* (nmesh) */
    int nmesh;
    int *body_geom; /* (ngeom of bodies) geom ids, body after body */
    double *p0;     /* (np) */
    bool *used;     /* (np) does any number of the dynamics depend on it? */
    double *x0;     /* (nx) */
    int nkey;
    double *key;           /* (nkey, nx + nactuator) */
    char **key_name;       /* (nkey) */
    char **pair_name;      /* (npair) */
    int *pair_geom;        /* (npair,2) */
    ti_equality *equality; /* (size.nequality) */
    /* Which geoms can touch: possible.h. */
    ti_kin *kin;         /* (ngeom) by class, then by id */
    ti_ranked *own;      /* (npair) ascending */
    double *pair_margin; /* (npair) the distances at which they touch */
    ti_ranked *apart;    /* (napart) ascending */
    int napart, nlisted; /* nlisted = -1: there are TI_PAIRS_LISTED or more */
    ti_pair *listed;     /* (nlisted) all there are, by their lower ids, then by the others */
};

/* Whose a number of p is, and which of its own. */
typedef struct ti_number {
    ti_part_of_p part;
    int owner, number;
} ti_number;
ti_number ti_number_of(const tribo_model *m, int index);
/* What number i of u may be: an actuator's range as p has it; without one, and of forces, everything. */
void ti_control_range(const tribo_model *m, const double *p, int i, double range[2]);
/* Fill `on` and `run` of the numbers of v, when trees and actuators are there. */
void ti_model_ways(tribo_model *m);

#endif
