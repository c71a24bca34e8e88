/* mjcf_reading.h -- the state of one reading of an MJCF scene, shared by its reader and its writer. See docs/mjcf.md.
 */
#ifndef TI_MJCF_READING_H
#define TI_MJCF_READING_H
#include "formats/xml.h"
#include "math/vec.h"
#include "model/builder.h"
#include "model/model.h"

/* A pose of a static body, or of a geom, in the world or in its body. */
typedef struct ti_frame {
    double pos[3], quat[4];
} ti_frame;

/* A class of defaults. An attribute that an element leaves out is looked up here, then in the parent. */
typedef struct ti_mjcf_class {
    const char *name;
    int parent; /* -1 = none */
    const xmlNode *geom, *pair, *joint, *node;
} ti_mjcf_class;

typedef struct ti_mjcf_body {
    xmlNode *node;
    bool inertial; /* its inertia comes from its <inertial> */
} ti_mjcf_body;

typedef struct ti_mjcf_joint {
    xmlNode *node;
    bool turns; /* its spring's reference is an angle */
} ti_mjcf_joint;

typedef struct ti_mjcf_geom {
    xmlNode *node;
    int class;
    ti_frame frame; /* what the geom's pose in the file is relative to, in its body or the world */
} ti_mjcf_geom;

typedef struct ti_mjcf_pair {
    xmlNode *node;
    int class;
} ti_mjcf_pair;

typedef enum ti_inertia_rule { TI_INERTIA_AUTO, TI_INERTIA_GEOMS, TI_INERTIA_GIVEN } ti_inertia_rule;

typedef struct ti_mjcf {
    tribo_allocator alloc;
    ti_xml_error error;
    xmlNode *root;
    tribo_builder *builder;
    double angle; /* radians per unit of angle */
    char eulerseq[4];
    ti_inertia_rule inertia;
    int nclass, nbody, njoint, ngeom, npair;
    ti_mjcf_class *class;
    ti_mjcf_body *body; /* one per body of the builder, in its order; likewise geom and pair */
    ti_mjcf_joint *joint;
    ti_mjcf_geom *geom;
    ti_mjcf_pair *pair;
    size_t class_bytes, body_bytes, joint_bytes, geom_bytes, pair_bytes;
} ti_mjcf;

/* Read a document: afterwards r->builder holds the scene, and the records say where each thing came from. Look at
 * r->error.status. Release with ti_mjcf_close() in every case; the builder belongs to whoever takes it out of r. */
void ti_mjcf_read(ti_mjcf *r, xmlDoc *doc, const tribo_allocator *a);
void ti_mjcf_close(ti_mjcf *r);

/* ---- mjcf_default.c ---- */
void ti_mjcf_defaults(ti_mjcf *r, const xmlNode *node);
/* Class by name; -1 and an error if there is none. */
int ti_mjcf_class_find(ti_mjcf *r, const xmlNode *node, const char *attribute, const char *name);
/* Value of a geom's or pair's attribute, from the element or its class; NULL if neither has it. */
const char *ti_mjcf_attr(ti_mjcf *r, const xmlNode *node, int class, const char *name);
/* Numbers of such an attribute, which must be between least and most. @return how many; 0 if it is absent. */
int ti_mjcf_numbers(ti_mjcf *r, const xmlNode *node, int class, const char *name, double *out, int least, int most);
/* `fromto`, the two ends of a geom's segment: its half length, middle and orientation, z from the second to the first
 * as MuJoCo has it. False if it is not given. */
bool ti_mjcf_ends(ti_mjcf *r, const xmlNode *node, int class, double *half, double pos[3], double quat[4]);
/* Orientation from quat, euler, axisangle, xyaxes or zaxis; the identity if there is none. */
void ti_mjcf_orientation(ti_mjcf *r, const xmlNode *node, int class, double quat[4]);
/* These attributes, where given, must be zero: what they ask for does not exist here. */
void ti_mjcf_zero(ti_mjcf *r, const xmlNode *node, const char *list);

extern const char TI_MJCF_GEOM_ATTR[], TI_MJCF_PAIR_ATTR[], TI_MJCF_JOINT_ATTR[], TI_MJCF_JOINT_ZERO[],
    TI_MJCF_SOFTNESS_ZERO[];

/* ---- mjcf_joint.c ---- */
/* depth: 1 right in the world. How the joints in a body's element let it move: not at all, freely, or by hinges and
 * slides. */
typedef enum ti_mjcf_moves { TI_MOVES_NOT, TI_MOVES_FREELY, TI_MOVES_BY_JOINTS } ti_mjcf_moves;
ti_mjcf_moves ti_mjcf_moves_of(ti_mjcf *r, const xmlNode *body, int childclass, int depth);
/* Give the body its hinges and slides. */
void ti_mjcf_joints(ti_mjcf *r, xmlNode *node, int body, int childclass);

/* ---- mjcf_contact.c ---- */
void ti_mjcf_contact(ti_mjcf *r, const xmlNode *node);
/* Numerics that name a geom, or those that name a pair; both passes refuse what names neither. */
typedef enum ti_numeric_pass { TI_NUMERIC_GEOMS, TI_NUMERIC_PAIRS } ti_numeric_pass;
void ti_mjcf_custom(ti_mjcf *r, const xmlNode *node, ti_numeric_pass pass);
void ti_mjcf_keyframe(ti_mjcf *r, const xmlNode *node);
/* Geom that a name stands for: a geom's own, or that of a body with only this one; -1 = none. */
int ti_mjcf_geom_named(const ti_mjcf *r, const char *name, size_t n);

/* Move the builder's error, if there is one, into r. */
void ti_mjcf_settle(ti_mjcf *r);

static inline bool ti_mjcf_bad(const ti_mjcf *r) {
    return r->error.status != TRIBO_OK;
}

/* c = a then b, b seen from a. */
static inline ti_frame ti_frame_mul(const ti_frame *a, const ti_frame *b) {
    ti_frame c;
    ti_mat R = ti_quat_mat(a->quat);
    ti_store3(c.pos, ti_add(ti_load3(a->pos), ti_mul(&R, ti_load3(b->pos))));
    ti_quat_mul(a->quat, b->quat, c.quat);
    return c;
}

#endif
