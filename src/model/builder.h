/* builder.h -- what has been added so far; only src/model/ and the readers look inside. */
#ifndef TI_BUILDER_H
#define TI_BUILDER_H
#include "base/names.h"
#include "model/model.h"
#include "model/shape.h"

enum { TI_NAME_MAX = 55, TI_PAIR_NAME_MAX = 2 * TI_NAME_MAX + 1 };
enum { TI_BODIES_LIMIT = 1 << 20, TI_GEOMS_LIMIT = 1 << 20 }; /* products with what one has are ints still */

enum { TI_BODY_JOINTS = 6 }; /* on one body */

typedef struct ti_body_rec {
    tribo_body_def def;
    char name[TI_NAME_MAX + 1];
    int line;
    int joint0, njoint;
    int geom_first, geom_last; /* its geoms, linked; -1 = none */
    bool summed, turned;       /* its matter is that of its geoms; the axes of its inertia are known */
    double axes[4];
} ti_body_rec;

typedef struct ti_joint_rec {
    tribo_joint_def def;
    char name[TI_NAME_MAX + 1];
    int line, body;
} ti_joint_rec;

/* Whether a body is free in the world. */
static inline bool ti_rec_is_free(const ti_body_rec *r) {
    return r->def.parent == TRIBO_WORLD && r->njoint == 0;
}
/* Whether its free joint has numbers. */
static inline bool ti_rec_has_brakes(const ti_body_rec *r) {
    return r->def.damping > 0 || r->def.armature > 0 || r->def.frictionloss > 0;
}
static inline bool ti_rec_is_braked(const ti_body_rec *r) {
    return ti_rec_is_free(r) && ti_rec_has_brakes(r);
}

typedef struct ti_actuator_rec {
    tribo_actuator_def def;
    char name[TI_NAME_MAX + 1];
    int pull0; /* in builder->pull */
} ti_actuator_rec;

typedef struct ti_pull_rec {
    int joint;
    double coef;
} ti_pull_rec;

typedef struct ti_tendon_rec {
    tribo_tendon_def def;
    char name[TI_NAME_MAX + 1];
    int pull0, npull; /* in builder->pull, the last joint first, each once */
} ti_tendon_rec;

typedef struct ti_cap_rec {
    int joint;
    double range[2];
} ti_cap_rec;

typedef struct ti_geom_rec {
    tribo_geom_def def;
    char name[TI_NAME_MAX + 1];
    int line, body;
    int next; /* of its body's geoms, -1 = none; those of the world are not linked */
} ti_geom_rec;

typedef struct ti_site_rec {
    tribo_site_def def;
    char name[TI_NAME_MAX + 1];
    int body;
} ti_site_rec;

typedef struct ti_pair_rec {
    tribo_pair_def def;
    char name[TI_PAIR_NAME_MAX + 1];
    int line;
} ti_pair_rec;

typedef struct ti_exclude_rec {
    int a, b; /* bodies */
    int geom; /* of a, the only one it is for; -1 = all */
} ti_exclude_rec;

typedef struct ti_equality_rec {
    tribo_equality_def def;
    int line;
} ti_equality_rec;

struct tribo_builder {
    tribo_allocator alloc;
    tribo_status status; /* the first error sticks */
    tribo_diag diag;
    const char *lenient, *packages; /* how its file is read: see tribo_load_options; until it is built */
    bool free_base;
    int line; /* of the file, for whatever is added next; 0 = no file */
    ti_names body_names, joint_names, geom_names, site_names, actuator_names, tendon_names, key_names;
    int root; /* the last body that was added to the world */
    int nbody, njoint, ngeom, npair, nexclude, nequality, nactuator, npull, ncap;
    ti_body_rec *body;
    ti_joint_rec *joint;
    ti_geom_rec *geom;
    ti_pair_rec *pair;
    ti_exclude_rec *exclude;
    ti_equality_rec *equality;
    ti_actuator_rec *actuator;
    ti_pull_rec *pull;
    ti_cap_rec *cap;
    int nsite;
    ti_site_rec *site;
    int ntendon;
    ti_tendon_rec *tendon;
    size_t tendon_bytes;
    size_t actuator_bytes, pull_bytes, cap_bytes, site_bytes;
    ti_mesh **mesh; /* each in a block of its own */
    int nmesh;
    size_t mesh_bytes;
    size_t body_bytes, joint_bytes, geom_bytes, pair_bytes, exclude_bytes, equality_bytes, q_bytes, v_bytes;
    double gravity[3], dt;
    double fluid[TI_P_FLUID]; /* density and viscosity 0 = none */
    tribo_law_options law;
    double *q, *v;    /* start state, NULL = not given */
    int nkey, nkeyed; /* keys; numbers of a start state and of controls when the last was added */
    double *key;      /* (nkey, nq + nv + nactuator) */
    char (*key_name)[TI_NAME_MAX + 1];
    size_t key_bytes, key_name_bytes;
    int nstart; /* bodies and joints there were when it was given */
};

static inline bool ti_builder_has_fluid(const tribo_builder *b) {
    return b->fluid[TI_P_DENSITY] > 0 || b->fluid[TI_P_VISCOSITY] > 0;
}
/* Room for one more record of `size` bytes; NULL sticks TRIBO_E_NOMEM. */
void *ti_builder_room(tribo_builder *b, void *records, size_t *bytes, int n, size_t size);
/* The one of this name, or -1. */
static inline int ti_builder_body(const tribo_builder *b, const char *name) {
    return b->nbody ? ti_names_find(&b->body_names, b->body->name, sizeof *b->body, name) : -1;
}
static inline int ti_builder_joint(const tribo_builder *b, const char *name) {
    return b->njoint ? ti_names_find(&b->joint_names, b->joint->name, sizeof *b->joint, name) : -1;
}
static inline int ti_builder_geom(const tribo_builder *b, const char *name) {
    return b->ngeom ? ti_names_find(&b->geom_names, b->geom->name, sizeof *b->geom, name) : -1;
}
static inline int ti_builder_site(const tribo_builder *b, const char *name) {
    return b->nsite ? ti_names_find(&b->site_names, b->site->name, sizeof *b->site, name) : -1;
}
/* Records of a kind by their names, `stride` bytes apart from `first` on. */
typedef struct ti_named {
    const char *kind;
    ti_names *table;
    char *first;
    size_t stride;
} ti_named;
/* Name the next record, for which there is room, and take it in: a copy of at most TI_NAME_MAX bytes or, of NULL and
 * "", one that is made of the kind and its number. What was made gives way to what is given. */
bool ti_builder_name(tribo_builder *b, ti_named k, const char *name);
/* Whether there is such a joint, and it is a hinge or a slide. */
bool ti_builder_has_axis(const tribo_builder *b, int joint);
/* Makes a quaternion unit; false where it has no direction. */
bool ti_builder_unit(double q[4]);
/* The mesh of a geom; NULL of other shapes. */
static inline const ti_mesh *ti_builder_mesh_of(const tribo_builder *b, const tribo_geom_def *d) {
    return ti_shape_of(d->shape)->meshed ? b->mesh[d->mesh] : NULL;
}

/* A geom of the world and a body never collide. */
void ti_builder_exclude_geom(tribo_builder *b, int geom, int body);

/* Let an error stick, unless one does already. */
void ti_builder_fail(tribo_builder *b, tribo_status s, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Damping of the servos that say it as a share of the critical one; inertias are settled. */
void ti_builder_damp(tribo_builder *b);
/* What is wrong with the matter of a body, with what is welded to it; NULL if nothing is. */
const char *ti_builder_matter_flaw(const tribo_builder *b, int body);
/* Mass, centre of mass and inertia of a body by its geoms. */
void ti_builder_sum(const tribo_builder *b, int body, double *mass, double com[3], double inertia[6]);

/* A state of the bodies so far, out (nq + nv): q and v, or where these are NULL as they were placed, at rest. */
void ti_builder_state(tribo_builder *b, const double *q, const double *v, double *out);

/* Where a body starts as it was placed, into q. @return how many numbers. */
int ti_rec_start(const tribo_builder *b, const ti_body_rec *r, double *q);
/* How many numbers of v move a body. */
int ti_rec_carried(const tribo_builder *b, int body);
/* What an equality holds, from how bodies were placed where it does not say. */
void ti_rec_equality(const tribo_builder *b, const ti_equality_rec *r, ti_equality *out);
/* Whether it holds where bodies were placed. */
bool ti_rec_holds(const tribo_builder *b, const ti_equality_rec *r);
/* What a body moves with: itself, or what it is welded to. */
int ti_rec_carrier(const tribo_builder *b, int body);
/* Numbers in q and v of the bodies so far. */
void ti_builder_widths(const tribo_builder *b, int *nq, int *nv);
/* Numbers of a key: q, v, controls. */
static inline int ti_builder_key_width(const tribo_builder *b) {
    int nq, nv;
    ti_builder_widths(b, &nq, &nv);
    return nq + nv + b->nactuator;
}

#endif
