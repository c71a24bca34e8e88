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
    const xmlNode *node;
} ti_mjcf_class;

/* What becomes of an element, and of each of its attributes. Where the element is read, the attributes of `refused`
 * may ask for nothing (0, false); one that stands nowhere is refused whatever it says. */
typedef enum ti_mjcf_fate { TI_READ, TI_SKIPPED, TI_REFUSED } ti_mjcf_fate;
typedef struct ti_mjcf_rule {
    const char *where; /* parent/element; frames and the world are like bodies, defaults like what they are for */
    ti_mjcf_fate fate;
    const char *read, *skipped, *refused;
} ti_mjcf_rule;
extern const ti_mjcf_rule TI_MJCF_RULES[];
extern const int TI_MJCF_NRULES;

/* Something that a file needs and that is not there. */
typedef struct ti_mjcf_need {
    const xmlNode *at;
    const char *attribute; /* or NULL */
    int line;              /* in its file */
    bool left_out;         /* as was asked for, or a remark */
    bool remark;           /* what moves is as it says, but not how it is stepped */
    char word[32], text[160];
} ti_mjcf_need;

typedef struct ti_mjcf_body {
    xmlNode *node;
    bool inertial; /* its inertia comes from its <inertial> */
    xmlNode *free; /* its free joint, or NULL */
} ti_mjcf_body;

/* A body that is none of the builder's: it moves with one, or with the world, and has nothing in it of its own. */
typedef struct ti_mjcf_rider {
    const xmlNode *node;
    int body;       /* that it moves with, or TRIBO_WORLD */
    ti_frame frame; /* there */
    bool mocap;     /* others may place it elsewhere in the world, which keys say */
} ti_mjcf_rider;

typedef struct ti_mjcf_joint {
    xmlNode *node;
    bool turns; /* its spring's reference is an angle */
} ti_mjcf_joint;

typedef struct ti_mjcf_actuator {
    xmlNode *node;
    int class;
} ti_mjcf_actuator;

typedef struct ti_mjcf_tendon {
    xmlNode *node;
} ti_mjcf_tendon;

typedef struct ti_mjcf_geom {
    xmlNode *node;
    int class;
    ti_frame frame; /* what the geom's pose in the file is relative to, in its body or the world */
} ti_mjcf_geom;

typedef struct ti_mjcf_site_rec {
    xmlNode *node;
    int class;
    ti_frame frame; /* as of a geom */
} ti_mjcf_site_rec;

typedef struct ti_mjcf_pair {
    xmlNode *node;
    int class;
    int again; /* the pair that it says once more, or -1 */
} ti_mjcf_pair;

typedef struct ti_mjcf_mesh {
    const xmlNode *node;
    int class;
    int id; /* the builder's; -1 = no geom has asked for it */
} ti_mjcf_mesh;

typedef enum ti_mjcf_off { TI_OFF_CONTACT = 1, TI_OFF_EQUALITY = 2, TI_OFF_LIMIT = 4, TI_OFF_DRY = 8 } ti_mjcf_off;

typedef enum ti_inertia_rule { TI_INERTIA_AUTO, TI_INERTIA_GEOMS, TI_INERTIA_GIVEN } ti_inertia_rule;

typedef struct ti_mjcf {
    tribo_allocator alloc;
    const tribo_load_options *options; /* or NULL */
    ti_xml_error error;
    int nneed, nmissing, nremark; /* missing: those not left out */
    ti_mjcf_need *need;
    xmlNode *root;
    tribo_builder *builder;
    const xmlNode *at; /* what the builder is given */
    double angle;      /* radians per unit of angle */
    char eulerseq[4];
    bool autolimits;
    ti_inertia_rule inertia;
    int groups[2];                                /* of geoms, the first and the last that count for inertia */
    double least_mass, least_inertia, total_mass; /* 0 = whatever they are */
    bool balance;                                 /* make inertias round that no solid has */
    const xmlNode *static_matter;                 /* a body that has some and does not move */
    const xmlNode *fused;                         /* the compiler that makes welded bodies one, or NULL */
    bool keyed;                                   /* a key has been read */
    int main;                                     /* the class of what has none, -1 = no defaults */
    const char *meshdir, *assetdir;               /* of the compiler, or NULL */
    bool strippath, exact_meshes, fit_bounds;
    unsigned off; /* what the scene turns off: ti_mjcf_off */
    int nmesh;
    ti_mjcf_mesh *mesh;
    size_t mesh_bytes;
    int nclass, nbody, njoint, ngeom, npair;
    ti_mjcf_class *class;
    ti_mjcf_body *body; /* one per body of the builder, in its order; likewise geom and pair */
    ti_mjcf_joint *joint;
    int nrider;
    ti_mjcf_rider *rider;
    size_t rider_bytes;
    int nactuator;
    ti_mjcf_actuator *actuator;
    size_t actuator_bytes;
    int ntendon;
    ti_mjcf_tendon *tendon; /* those with limits */
    size_t tendon_bytes;
    int nsite;
    ti_mjcf_site_rec *site;
    size_t site_bytes;
    ti_mjcf_geom *geom;
    ti_mjcf_pair *pair;
    int ntwin;
    ti_mjcf_pair *twin; /* pairs of the file that say others again */
    size_t twin_bytes;
    size_t need_bytes, class_bytes, body_bytes, joint_bytes, geom_bytes, pair_bytes;
} ti_mjcf;

/* Read a document: afterwards r->builder holds the scene, and the records say where each thing came from. Look at
 * r->error.status. Release with ti_mjcf_close() in every case; the builder belongs to whoever takes it out of r. */
void ti_mjcf_read(ti_mjcf *r, xmlDoc *doc, const tribo_load_options *options, const tribo_allocator *a);
void ti_mjcf_close(ti_mjcf *r);

/* An <inertial> that is written in place of what geoms weigh: while the document is edited they stay what they were,
 * also those that would then only be seen. */
static inline void ti_mjcf_take_over(xmlNode *inertial) {
    inertial->psvi = inertial;
}
static inline bool ti_mjcf_took_over(const xmlNode *inertial) {
    return inertial && inertial->psvi;
}

/* ---- mjcf_include.c ---- */
/* Put the elements of other files where a document asks for them; path: of its file, NULL = from memory. Their sources
 * are added to *all; release with ti_mjcf_sources_free() after the document, also after an error. */
tribo_status ti_mjcf_include(xmlDoc *doc, const char *path, const tribo_allocator *a, ti_xml_source **all,
                             tribo_diag *diag);
void ti_mjcf_sources_free(ti_xml_source *all, const tribo_allocator *a);

/* ---- urdf.c ---- */
bool ti_urdf_is(xmlDoc *doc);
/* The scene of MJCF that a URDF document means; path: of its file, NULL = from memory. Release with xmlFreeDoc(). */
tribo_status ti_urdf_convert(xmlDoc *doc, const char *path, const tribo_load_options *o, const tribo_allocator *a,
                             xmlDoc **scene, tribo_diag *diag);
/* Make a document one of MJCF with all its files in it; path as above. Of URDF *doc is another one afterwards. */
tribo_status ti_scene_complete(xmlDoc **doc, const char *path, const tribo_load_options *o, const tribo_allocator *a,
                               ti_xml_source **sources, tribo_diag *diag);

/* ---- mjcf_rules.c ---- */
/* Whether a child of such a parent is read; one that is neither read nor skipped joins the list of needs. */
bool ti_mjcf_child(ti_mjcf *r, const xmlNode *node, const char *parent);
/* Attributes of an element and of its classes that are not supported join the list. */
void ti_mjcf_judge(ti_mjcf *r, const xmlNode *node, int class, const char *parent);
/* The element of a class that has the defaults of one like this; NULL if there is none. */
const xmlNode *ti_mjcf_default_of(const ti_mjcf *r, int class, const xmlNode *like);
/* Add to the list, under a word by which it may be left out. @return whether it was asked to be. */
bool ti_mjcf_need_of(ti_mjcf *r, const xmlNode *node, const char *attribute, const char *word, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Add what changes nothing in the model: the file loads, and whoever asks is told. */
void ti_mjcf_remark(ti_mjcf *r, const xmlNode *node, const char *attribute, const char *word, const char *text);
/* What is missing goes to whoever asked, and becomes the error. */
void ti_mjcf_tell_needs(ti_mjcf *r);
/* The row of an element in such a parent; NULL if MJCF has none. */
const ti_mjcf_rule *ti_mjcf_rule_of(const char *parent, const char *name);
/* The word of an element that is refused. */
const char *ti_mjcf_word(const ti_mjcf_rule *rule);

/* ---- mjcf_replicate.c ---- */
/* Make copies where the world asks for them, in the document itself. */
void ti_mjcf_replicate(ti_mjcf *r, xmlNode *worldbody);

/* ---- mjcf_option.c ---- */
void ti_mjcf_option(ti_mjcf *r, const xmlNode *node);
/* What the options turn off is taken from the builder. */
void ti_mjcf_turn_off(ti_mjcf *r);
/* Bodies that the compiler would fuse, in a fluid, which acts on each of them: such files join the list. */
void ti_mjcf_fused(ti_mjcf *r);
void ti_mjcf_compiler(ti_mjcf *r, const xmlNode *node);
/* What the compiler says of masses, done to those of the builder's bodies. */
void ti_mjcf_masses(ti_mjcf *r);
bool ti_mjcf_mends(const ti_mjcf *r); /* whether single masses and inertias are */

/* ---- mjcf_default.c ---- */
void ti_mjcf_defaults(ti_mjcf *r, const xmlNode *node);
/* Class by name; -1 and an error if there is none. */
int ti_mjcf_class_find(ti_mjcf *r, const xmlNode *node, const char *attribute, const char *name);
/* Value of a geom's or pair's attribute, from the element or its class; NULL if neither has it. */
const char *ti_mjcf_attr(ti_mjcf *r, const xmlNode *node, int class, const char *name);
/* Numbers of such an attribute, over those of the class, which are over what is in `out`; least to most of them.
 * @return how many; 0 if it is absent. */
int ti_mjcf_numbers(ti_mjcf *r, const xmlNode *node, int class, const char *name, double *out, int least, int most);
/* `fromto`, the two ends of a geom's segment: its half length, middle and orientation, z from the second to the first
 * as MuJoCo has it. False if it is not given. */
bool ti_mjcf_ends(ti_mjcf *r, const xmlNode *node, int class, double *half, double pos[3], double quat[4]);
/* Orientation from quat, euler, axisangle, xyaxes or zaxis; the identity if there is none. */
void ti_mjcf_orientation(ti_mjcf *r, const xmlNode *node, int class, double quat[4]);
/* The orientation that three numbers of `euler` are. */
void ti_mjcf_euler(const ti_mjcf *r, const double angles[3], double quat[4]);
/* Where an element with pos and an orientation is. */
ti_frame ti_mjcf_frame(ti_mjcf *r, const xmlNode *node, int class);
/* The class and the frame of what is in a body or `frame`. */
int ti_mjcf_enter(ti_mjcf *r, const xmlNode *node, int childclass, const ti_frame *in, ti_frame *frame);
/* The kind of orientation of a class that a quat of the element would not count beside; NULL if there is none. */
const char *ti_mjcf_overrules_quat(ti_mjcf *r, const xmlNode *node, int class);
/* The class of an element: its own, or what it inherits. */
int ti_mjcf_class_of(ti_mjcf *r, const xmlNode *node, int inherited);
/* A word of a list that ends with NULL, by its number; `fallback` if the attribute is absent; -1 after an error. */
int ti_mjcf_choice(ti_mjcf *r, const xmlNode *node, int class, const char *name, const char *const *words,
                   int fallback);

/* ---- mjcf_joint.c ---- */
/* How the joints in a body's element let it move: not at all, freely, or by hinges, slides and balls; the free one with
 * its numbers. */
typedef enum ti_mjcf_way { TI_MOVES_NOT, TI_MOVES_FREELY, TI_MOVES_BY_JOINTS } ti_mjcf_way;
typedef struct ti_mjcf_moves {
    ti_mjcf_way way;
    xmlNode *free; /* or NULL */
    double damping, armature, frictionloss;
} ti_mjcf_moves;
/* depth: 1 right in the world. */
void ti_mjcf_moves_of(ti_mjcf *r, const xmlNode *body, int childclass, int depth, ti_mjcf_moves *moves);
/* Joints whose actuators are to carry weights join the list where there are no actuators. */
void ti_mjcf_borne(ti_mjcf *r);
/* Give the body its hinges and slides; frame: of the element in the body. */
void ti_mjcf_joints(ti_mjcf *r, xmlNode *node, int body, int childclass, const ti_frame *frame);
/* Whether something is limited by the range it may have. */
bool ti_mjcf_limited(ti_mjcf *r, const xmlNode *node, int class, const char *limited, const char *range);

/* What condim makes of the friction of a geom or pair, whose coefficients against turning and rolling are these;
 * without one it is what the numbers in `to` ask for. */
void ti_mjcf_condim(ti_mjcf *r, const xmlNode *node, int class, double torsion, double rolling, tribo_material *to);
/* The distance at which a geom or a pair touches: mjcf_contact.c. */
void ti_mjcf_margin(ti_mjcf *r, const xmlNode *node, int class, double *margin, double *gap);

/* ---- mjcf_site.c ---- */
/* frame: of the element in the body, or in the world. */
void ti_mjcf_site(ti_mjcf *r, xmlNode *node, int body, int childclass, const ti_frame *frame);

/* ---- mjcf_equality.c ---- */
void ti_mjcf_equality(ti_mjcf *r, const xmlNode *node);

/* ---- mjcf_drive.c ---- */
void ti_mjcf_tendons(ti_mjcf *r, const xmlNode *node);
void ti_mjcf_actuators(ti_mjcf *r, const xmlNode *node);

/* ---- mjcf_mesh.c ---- */
/* Remember the meshes and height fields of an <asset>. */
void ti_mjcf_assets(ti_mjcf *r, const xmlNode *node);
/* The builder's id of what a geom calls so, a "mesh" or an "hfield"; -1 after an error, or where it is left out. */
int ti_mjcf_asset_named(ti_mjcf *r, const xmlNode *geom, const char *kind, const char *name);
/* Make a height field, and the same of the size of geoms that have it: mjcf_field.c. */
int ti_mjcf_field(ti_mjcf *r, const xmlNode *node, const char *name);
bool ti_mjcf_field_size(ti_mjcf *r, const xmlNode *node, double size[4]);
/* Where the name of a file begins in its path; the folder of the scene, that of the compiler's meshes, the file. */
enum { TI_PATH_ROOM = 1024 };
const char *ti_mjcf_base_of(const char *path);
bool ti_mjcf_path_of(const ti_mjcf *r, const char *file, char path[TI_PATH_ROOM]);
/* The size of a geom that is fitted to its mesh, d->mesh, by the box that turns as the mesh does; its pose, which is
 * that of the mesh, becomes its own. */
void ti_mjcf_fit(ti_mjcf *r, const xmlNode *node, int class, tribo_geom_def *d);
/* Name the files of meshes by their whole paths, for a scene that is written into another folder. */
void ti_mjcf_mesh_paths(ti_mjcf *r, const char *out);

/* ---- mjcf_contact.c ---- */
void ti_mjcf_contact(ti_mjcf *r, const xmlNode *node);
/* Whether a <pair> of the file names a geom. */
bool ti_mjcf_paired(ti_mjcf *r, const xmlNode *geom);
/* Numerics that name a geom, or those that name a pair; both passes refuse what names neither. */
typedef enum ti_numeric_pass { TI_NUMERIC_GEOMS, TI_NUMERIC_PAIRS } ti_numeric_pass;
void ti_mjcf_custom(ti_mjcf *r, const xmlNode *node, ti_numeric_pass pass);
void ti_mjcf_keyframe(ti_mjcf *r, const xmlNode *node);
/* Geom that a name stands for: a geom's own, or that of a body with only this one; -1 = none. */
int ti_mjcf_geom_named(const ti_mjcf *r, const char *name, size_t n);

/* What is given to the builder next comes from that element. */
void ti_mjcf_at(ti_mjcf *r, const xmlNode *node);
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
