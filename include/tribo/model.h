/* model.h -- what is simulated: bodies, joints, geoms, materials, and the vector p of every physical number.
 *
 * A model is immutable once built and may be shared by threads. Its numbers are not hidden in it: they are handed out
 * as one flat vector p, which is an ARGUMENT of the dynamics. Parameters have path names: `cube/mass`,
 * `cube/inertia/xx`, `floor/friction`, `knee/damping`, `gravity/z`. A body is a link of a kinematic tree: free in the
 * world, or held by hinges and slides to the world or to another body. Geoms without a body belong to the world.
 */
#ifndef TRIBO_MODEL_H
#define TRIBO_MODEL_H
#include <tribo/law.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tribo_builder tribo_builder; /**< collects a model's parts */
typedef struct tribo_model tribo_model;     /**< immutable */

enum { TRIBO_WORLD = -1 /**< where a body id is asked for: what does not move */ };

/** Shape of a geom. */
typedef enum tribo_shape {
    TRIBO_PLANE,     /**< fills the half space below its z axis */
    TRIBO_SPHERE,    /**< of a radius */
    TRIBO_BOX,       /**< of three half extents */
    TRIBO_CAPSULE,   /**< all within a radius of a segment along its z axis */
    TRIBO_CYLINDER,  /**< of a radius and a half length, along its z axis */
    TRIBO_ELLIPSOID, /**< of three semi-axes */
    TRIBO_MESH,      /**< the convex hull of a mesh, scaled along the axes of its inertia */
    TRIBO_HFIELD     /**< fills what is below a height field; touches by its top alone */
} tribo_shape;

/** What happens where two geoms touch. */
typedef struct tribo_material {
    double friction;    /**< kinetic Coulomb coefficient, >= 0 */
    double stiction;    /**< by how much the static coefficient exceeds the kinetic one, >= 0 */
    double restitution; /**< Newton's e, 0 to 1 */
    double baumgarte;   /**< share of a penetration removed in a step, 0 to 1 */
    double slop;        /**< penetration left alone, m, >= 0 */
    double torsion;     /**< friction against turning about the normal: torque over normal force, m, >= 0 */
    double rolling;     /**< friction against rolling, turning about the tangents: torque over normal force, m, >= 0 */
    double compliance;  /**< velocity at which contacts give way to an impulse along the normal, 1/kg, >= 0; a hundredth
                           of it  across. Beside tribo_law_options.softness, whose is every contact's. It acts where some
                           material was given some */
} tribo_material;

/** A moving body. Fill with tribo_default_body() first. */
typedef struct tribo_body_def {
    uint32_t struct_size; /**< set by tribo_default_body() */
    const char *name;     /**< copied; unique among bodies; NULL or "" = `bodyN` */
    int parent;           /**< body id, or TRIBO_WORLD. A body in the world without joints of its own is free; a body on
                               another one without joints is welded to it */
    double pos[3];        /**< m, of the body frame in its parent's where its joints are at zero; of a free body, where
                               it starts */
    double quat[4];       /**< its orientation there, w x y z; normalised */
    bool inertia_given;   /**< false: mass, com and inertia are summed from the geoms */
    double mass;          /**< kg, > 0 */
    double com[3];        /**< m, centre of mass in the body frame */
    double inertia[6];    /**< kg m^2 about the centre of mass, body axes: xx yy zz xy xz yz */
    double gravcomp;      /**< share of its weight that something else carries, 0 by default */
    double damping;      /**< of a free body, against each of its six velocities, those of the origin of its frame along
                              the world's axes and those about its own: N s/m and N m s/rad, >= 0 */
    double armature;     /**< the same added to its inertia, kg and kg m^2, >= 0 */
    double frictionloss; /**< the same of dry friction, N and N m, >= 0. Any of the three that is > 0 gives the body
                              the numbers `NAME/free_damping`, `free_armature`, `free_frictionloss` of p */
} tribo_body_def;

/** How a joint moves a body. */
typedef enum tribo_joint_kind {
    TRIBO_JOINT_HINGE, /**< turns it about an axis, rad */
    TRIBO_JOINT_SLIDE, /**< moves it along an axis, m */
    TRIBO_JOINT_BALL   /**< turns it about a point: a unit quaternion w x y z in q, the spin in its own axes in v */
} tribo_joint_kind;

/** A joint between a body and its parent; several on one body act one after the other, the first nearest the parent.
 *  Fill with tribo_default_joint() first. */
typedef struct tribo_joint_def {
    uint32_t struct_size;  /**< set by tribo_default_joint() */
    const char *name;      /**< copied; unique among joints; NULL or "" = `jointN` */
    tribo_joint_kind kind; /**< a hinge by default */
    double axis[3];        /**< in the body frame; normalised; of a ball: ignored */
    double pos[3];         /**< m, in the body frame: a point of a hinge's axis, or that a ball turns about */
    double ref;          /**< its number in q where the body stands as its pos and quat say, m or rad; not of a ball */
    double damping;      /**< N s/m or N m s/rad, >= 0 */
    double armature;     /**< inertia added to the joint, kg or kg m^2, >= 0 */
    double stiffness;    /**< of a spring, N/m or N m/rad, >= 0; that of a ball pulls to where its body was placed */
    double springref;    /**< where the spring pulls to, m or rad; not of a ball */
    double frictionloss; /**< dry friction: at most this force or torque against its motion, N or N m, >= 0 */
    bool limited;        /**< whether range holds */
    double range[2];     /**< m or rad: lowest and highest, in this order; of a ball, 0 and the largest angle of its
                              rotation */
    double restitution;  /**< of an impact at a limit, 0 to 1 */
    bool actuatorgravcomp; /**< what its bodies carry of weights counts within what tribo_cap_joint() allows */
} tribo_joint_def;

/** What pulls on joints or at a site, with the force gain * control + bias, where gain = gain[0] + gain[1] length +
 * gain[2] velocity, bias likewise, and length = gear * (a sum of positions of hinges and slides). What depends on the
 * velocity acts at the end of a step. At a site length is 0, velocity is wrench . (its velocity, its spin) in its own
 * axes, and what depends on that acts at the start. Fill with tribo_default_actuator() first. */
typedef struct tribo_actuator_def {
    uint32_t struct_size; /**< set by tribo_default_actuator() */
    const char *name;     /**< copied; unique among actuators; NULL or "" = `actuatorN` */
    int njoint;           /**< joints it pulls on: 1, or those of a tendon; 0 = none, but at a site */
    const int *joint;     /**< (njoint) joint ids, hinges or slides; copied */
    const double *coef;   /**< (njoint) what each counts in the sum; NULL = 1 */
    double gear;          /**< of length, velocity and force; not at a site */
    int site;             /**< a site id that it pulls at instead of joints, on a body that moves; -1 = none */
    double wrench[6];     /**< at a site: force and torque for a force of 1, in its own axes */
    double gain[3];       /**< constant, by length, by velocity: 1 0 0 by default */
    double bias[3];       /**< the same: 0 0 0 by default */
    double dampratio;     /**< > 0: of a servo, bias[2] is then what damps it to this share of critical, by the inertia
                               that it moves where bodies stand as they were placed */
    bool ctrl_limited;    /**< whether ctrlrange holds */
    double ctrlrange[2];  /**< a control outside counts as the nearest inside; its derivative is then 0 */
    bool force_limited;   /**< whether forcerange holds */
    double forcerange[2]; /**< N or N m, the same of the force, before the gear */
} tribo_actuator_def;

/** A sum of positions of hinges and slides that stays within a range, as a joint does within its limits; what reaches
 * them is stopped. Its joints are of two trees at most. Fill with tribo_default_tendon() first. docs/math.md eq. (489).
 */
typedef struct tribo_tendon_def {
    uint32_t struct_size; /**< set by tribo_default_tendon() */
    const char *name;     /**< copied; unique among tendons; NULL or "" = `tendonN` */
    int njoint;           /**< how many joints */
    const int *joint;     /**< (njoint) joint ids, hinges or slides; copied. One that is there twice counts with both */
    const double *coef;   /**< (njoint) what each counts in the sum, not all 0; NULL = 1 */
    double range[2];      /**< shortest and longest, in this order */
} tribo_tendon_def;

/** A shape on a body or in the world. Fill with tribo_default_geom() first. */
typedef struct tribo_geom_def {
    uint32_t struct_size;          /**< set by tribo_default_geom() */
    const char *name;              /**< copied; unique among geoms; NULL or "" = `geomN` */
    tribo_shape shape;             /**< decides what size means */
    double size[3];                /**< m: sphere radius | box half extents | capsule radius, half
                                        length of its segment | cylinder radius, half length | ellipsoid semi-axes |
                                        mesh: scales, 1 if all are 0 | height field: half widths along x and y, what a height
                                        of 1 is | plane: ignored */
    double pos[3];                 /**< m, in the body frame (the world's for TRIBO_WORLD) */
    double quat[4];                /**< in the body frame; a plane's normal is its z axis */
    double mass;                   /**< kg; < 0 = from density; counts only where the body's inertia is not given */
    double density;                /**< kg/m^3 */
    tribo_material material;       /**< where no pair of its own is defined */
    int priority;                  /**< of two geoms, the material of the higher one counts; see tribo_pair_def */
    double margin, gap;            /**< m: geoms touch at a distance of margin less gap, each the larger of the two */
    uint32_t contype, conaffinity; /**< a pair collides if (a.contype & b.conaffinity) | (b.contype & a.conaffinity) */
    int mesh; /**< of a TRIBO_HFIELD its id; of a TRIBO_MESH its id; pos and quat are then those of the frame that its
                 vertices are in. The model's are those of its inertia frame, as in MuJoCo */
    double edge_radius; /**< m, of a box or a cylinder: its edges and corners are as round as the ball of this radius
                           that rolls inside of it; less than each number of its size. Its faces stay where they are,
                           and its mass is reckoned with sharp edges */
} tribo_geom_def;

/** A point and a frame fixed in a body or in the world: it touches nothing and weighs nothing. What an actuator pulls
 *  at, what is asked for in dynamics.h. Fill with tribo_default_site() first. */
typedef struct tribo_site_def {
    uint32_t struct_size; /**< set by tribo_default_site() */
    const char *name;     /**< copied; unique among sites; NULL or "" = `siteN` */
    double pos[3];        /**< m, in the body frame (the world's for TRIBO_WORLD) */
    double quat[4];       /**< in the body frame, w x y z; normalised */
} tribo_site_def;

/** How the inside of a mesh is told. */
typedef enum tribo_mesh_mass {
    TRIBO_MESH_SIGNED,   /**< by which way its triangles are turned: exact for every closed surface */
    TRIBO_MESH_UNSIGNED, /**< each triangle adds to it, seen from the middle: MuJoCo's usual way, more than there is
                            where a surface is not seen from there */
    TRIBO_MESH_SHELL     /**< there is none: it weighs by its area, densities are kg/m^2, and where a geom scales it
                            unevenly its area is that of the mean scale */
} tribo_mesh_mass;

/** A mesh for geoms: they touch by its convex hull, and weigh what the mesh does. Fill with tribo_default_mesh() first.
 */
typedef struct tribo_mesh_def {
    uint32_t struct_size; /**< set by tribo_default_mesh() */
    const char *name;     /**< what messages call it; NULL or "" = `meshN` */
    const double *vertex; /**< m, (nvertex,3); copied */
    int nvertex;          /**< 4 to 3000000, of which the hull has at most 40000 */
    const int *triangle;  /**< (ntriangle,3) vertices in turn, against the clock seen from outside; copied */
    int ntriangle;        /**< at most 1000000; 0 = the hull is what it weighs */
    tribo_mesh_mass mass; /**< how it is weighed */
    int hull_vertices;    /**< 4 or more: the hull is what qhull has of it with so many vertices, inside all of it;
                             0 = all of it */
} tribo_mesh_def;

/** Heights over a grid, for geoms of the world. Each cell is two triangles, parted from its corner at the lowest x and
 * y to the one opposite. Fill with tribo_default_hfield() first. */
typedef struct tribo_hfield_def {
    uint32_t struct_size; /**< set by tribo_default_hfield() */
    const char *name;     /**< what messages call it; NULL or "" = `hfieldN` */
    int nrow, ncol;       /**< 2 or more each; at most 131072 triangles */
    const double *height; /**< (nrow,ncol) in units of the geom's size z; a row goes along x, the first is at the lowest
                               y; copied */
    double base;          /**< m, > 0: the box that pairs are looked for with goes at least so far below 0; 1 */
} tribo_hfield_def;

/** A pair of geoms with a material of its own, instead of one from its geoms.
 *
 *  Where no pair is defined, each number of the material is taken from the geom of higher priority; at equal priority
 *  from the one whose number is larger (MuJoCo's rule for friction); when those are equal too, from the one with the
 *  lower id. Which geom that is is decided when the model is built, from the numbers given then, so that the step
 *  is a smooth function of p. */
typedef struct tribo_pair_def {
    uint32_t struct_size;    /**< set by tribo_default_pair() */
    const char *name;        /**< of its parameters, `name/friction`; NULL or "" = `geom1:geom2` */
    int geom_a, geom_b;      /**< geom ids, in any order */
    tribo_material material; /**< of this pair alone */
    double margin, gap;      /**< m: they touch at a distance of margin less gap, whatever their geoms say */
} tribo_pair_def;

/** What an equality holds. */
typedef enum tribo_equality_kind {
    TRIBO_EQUALITY_CONNECT, /**< a point of a body on a point of another */
    TRIBO_EQUALITY_WELD,    /**< a body where another is */
    TRIBO_EQUALITY_JOINT    /**< the number of a hinge or slide on a polynomial of another's */
} tribo_equality_kind;

/** What holds whatever forces that takes: loops of bodies, gears. Fill with tribo_default_equality() first. An error of
 *  place is taken back in one step. docs/math.md eq. (161)-(163). */
typedef struct tribo_equality_def {
    uint32_t struct_size;     /**< set by tribo_default_equality() */
    tribo_equality_kind kind; /**< a connection by default */
    int a, b;             /**< body ids or TRIBO_WORLD, one of them at most; of joints, joint ids, b or -1 for none */
    bool as_placed;       /**< true by default: what follows is found from how the bodies were placed, but for pos_a of
                               a connection and pos_b of a weld */
    double pos_a[3];      /**< m, in body a */
    double pos_b[3];      /**< m, in body b: the point that is held at pos_a */
    double quat[4];       /**< of a weld: body b in the frame of a, w x y z */
    double polynomial[5]; /**< of joints: q_a - ref_a = sum polynomial[k] (q_b - ref_b)^k; 0 1 0 0 0 by default */
} tribo_equality_def;

/** A body at the origin whose inertia comes from its geoms. */
TRIBO_API tribo_body_def tribo_default_body(void);
/** A hinge about z through the body's origin, without damping or spring. */
TRIBO_API tribo_joint_def tribo_default_joint(void);
/** A motor on no joint, with gear 1. */
TRIBO_API tribo_actuator_def tribo_default_actuator(void);
/** A tendon of no joints. */
TRIBO_API tribo_tendon_def tribo_default_tendon(void);
/** A sphere without size, of density 1000 and friction 1: give it shape and size. */
TRIBO_API tribo_geom_def tribo_default_geom(void);
/** A site at its body's origin, along its axes. */
TRIBO_API tribo_site_def tribo_default_site(void);
/** A connection of no bodies, as they were placed. */
TRIBO_API tribo_equality_def tribo_default_equality(void);
/** A mesh of no vertices. */
TRIBO_API tribo_mesh_def tribo_default_mesh(void);
/** A height field of no heights. */
TRIBO_API tribo_hfield_def tribo_default_hfield(void);
/** A pair of no geoms with friction 1. */
TRIBO_API tribo_pair_def tribo_default_pair(void);

/** A new builder, or NULL without memory. Errors stick to it and are reported by tribo_build(); ids are then -1. */
TRIBO_API tribo_builder *tribo_builder_new(const tribo_allocator *a);
/** Free a builder that was not built; NULL is fine. */
TRIBO_API void tribo_builder_free(tribo_builder *b);
/** At most 2^20. @return the body's id, or -2. */
TRIBO_API int tribo_add_body(tribo_builder *b, const tribo_body_def *def);
/** A joint of the body that was added last, which is then not free. At most 6 on a body. @return the joint's id, or -1.
 */
TRIBO_API int tribo_add_joint(tribo_builder *b, int body, const tribo_joint_def *def);
/** At most 2^20. @param body a body id or TRIBO_WORLD. @return the geom's id, or -1. */
TRIBO_API int tribo_add_geom(tribo_builder *b, int body, const tribo_geom_def *def);
/** @param body a body id or TRIBO_WORLD. @return the site's id, or -1. */
TRIBO_API int tribo_add_site(tribo_builder *b, int body, const tribo_site_def *def);
/** A mesh, for any number of geoms. @return its id, or -1. */
TRIBO_API int tribo_add_mesh(tribo_builder *b, const tribo_mesh_def *def);
/** A height field, for any number of geoms. Ids are shared with meshes. @return its id, or -1. */
TRIBO_API int tribo_add_hfield(tribo_builder *b, const tribo_hfield_def *def);
/** @return the pair's id, or -1. */
TRIBO_API int tribo_add_pair(tribo_builder *b, const tribo_pair_def *def);
/** @return the equality's id, or -1. */
TRIBO_API int tribo_add_equality(tribo_builder *b, const tribo_equality_def *def);
/** After the joints it pulls on, or its site. Its control is number nv + id of u. @return the actuator's id, or -1. */
TRIBO_API int tribo_add_actuator(tribo_builder *b, const tribo_actuator_def *def);
/** After its joints. @return the tendon's id, or -1. */
TRIBO_API int tribo_add_tendon(tribo_builder *b, const tribo_tendon_def *def);
/** What all actuators together do to a hinge or slide stays within lower and upper, N or N m. */
TRIBO_API void tribo_cap_joint(tribo_builder *b, int joint, double lower, double upper);
/** Geoms a and b never collide. */
TRIBO_API void tribo_add_exclude(tribo_builder *b, int body_a, int body_b);
/** A fluid that all bodies are in, each as the box of uniform matter that weighs and turns as it does: drag along its
 *  axes, by viscosity (Pa s) and by density (kg/m^3). Both 0, as by default: none, and no numbers of p. Source:
 *  docs/math.md, eq. (500). @param wind m/s, world; NULL = 0 */
TRIBO_API void tribo_set_fluid(tribo_builder *b, double density, double viscosity, const double wind[3]);
/** Gravity in the world; without it (0, 0, -9.81). */
TRIBO_API void tribo_set_gravity(tribo_builder *b, const double gravity[3] /* m/s^2 */);
/** The step used where options do not give one. */
TRIBO_API void tribo_set_timestep(tribo_builder *b, double dt /* s, > 0 */);
/** What the scene wants of its contact law; a workspace's options come first. */
TRIBO_API void tribo_set_law(tribo_builder *b, const tribo_law_options *law);
/** The start state, of the bodies there are now. Copied.
 *  @param q (nq) or NULL = as the bodies were placed. @param v (nv) or NULL = at rest */
TRIBO_API void tribo_set_start(tribo_builder *b, const double *q, const double *v);

/** A state by name, and what the controls are in it; of the bodies, joints and actuators there are now. Copied.
 *  @param name NULL or "" = `keyN`. @param q, v as in tribo_set_start(). @param ctrl (actuators) or NULL = 0
 *  @return the key's id, or -1. */
TRIBO_API int tribo_add_key(tribo_builder *b, const char *name, const double *q, const double *v, const double *ctrl);

/** Make the model. Consumes the builder, also on failure.
 *  @param diag [out] the first error that stuck, with the name of the thing
 *  @return TRIBO_OK; TRIBO_E_ARG (sizes, masses, non-physical inertia, names, ids); TRIBO_E_DEF; TRIBO_E_NOMEM. */
TRIBO_API TRIBO_CHECK tribo_status tribo_build(tribo_builder *b, tribo_model **m, tribo_diag *diag);

/** Something that a scene file needs and that is not there, or that was left out. Strings last for the call. */
typedef struct tribo_need {
    const char *file; /**< that has it, where it is included; NULL = the file asked for */
    int line;         /**< of that file */
    const char *word; /**< by which it can be left out */
    const char *text; /**< what, after the element and the attribute */
    bool left_out;    /**< as was asked for, or because it says how to step, not what moves: the word `integrator` */
} tribo_need;

/** How a scene file is read. Fill with tribo_default_load_options() first. */
typedef struct tribo_load_options {
    uint32_t struct_size; /**< set by tribo_default_load_options() */
    const char *lenient;  /**< words of what may be left out, single blanks between them; NULL = nothing */
    bool free_base;       /**< of URDF: its first link moves freely; else it is fixed to the world */
    const char *packages; /**< of URDF: folders with ROS packages, `:` between them; NULL = those above the file */
    void (*need)(void *ctx, const tribo_need *need); /**< told of everything missing or left out; NULL = nobody */
    void *ctx;                                       /**< the caller's */
} tribo_load_options;
/** Nothing is left out, nobody is told. */
TRIBO_API tribo_load_options tribo_default_load_options(void);

/** Read a scene in MJCF (the subset of docs/mjcf.md) or URDF (docs/urdf.md). @return also TRIBO_E_PARSE (file:line:
 * element: what), TRIBO_E_IO.
 */
TRIBO_API TRIBO_CHECK tribo_status tribo_model_load(const char *path, const tribo_allocator *a, tribo_model **m,
                                                    tribo_diag *diag);
/** The same with options; NULL = none. */
TRIBO_API TRIBO_CHECK tribo_status tribo_model_load_with(const char *path, const tribo_load_options *o,
                                                         const tribo_allocator *a, tribo_model **m, tribo_diag *diag);
/** The same from memory, without files beside it; `name` is what messages call it. */
TRIBO_API TRIBO_CHECK tribo_status tribo_model_load_memory(const char *xml, size_t bytes, const char *name,
                                                           const tribo_allocator *a, tribo_model **m, tribo_diag *diag);
/** Write the scene file at `path` again as `out`, with the numbers of p in it.
 *  @return TRIBO_OK; TRIBO_E_IO; TRIBO_E_PARSE; TRIBO_E_ARG (not the scene of this model); TRIBO_E_NOMEM. */
TRIBO_API TRIBO_CHECK tribo_status tribo_model_save(const tribo_model *m, const double *p, const char *path,
                                                    const char *out, tribo_diag *diag);
/** Free; NULL is fine. */
TRIBO_API void tribo_model_free(tribo_model *m);

/** Sizes of everything. */
typedef struct tribo_sizes {
    int nbody, ngeom, npair;     /**< bodies, geoms, pairs with a material of their own */
    int njoint, nequality;       /**< hinges, slides and balls; what holds */
    int nsite;                   /**< sites */
    int ntendon;                 /**< tendons with limits */
    int nactuator;               /**< actuators; nu = nv + nactuator: generalized forces, then controls */
    int nq, nv, nx, ndx, nu, np; /**< numbers in q, v, state, its tangent, control, parameters */
} tribo_sizes;
/** Sizes of the model and of every vector that goes with it. */
TRIBO_API tribo_sizes tribo_model_sizes(const tribo_model *m);
/** The scene's step, s. */
TRIBO_API double tribo_model_timestep(const tribo_model *m);
/** What the scene says of its contact law; all zero if it says nothing. */
TRIBO_API tribo_law_options tribo_model_law(const tribo_model *m);
/** Initial state x = [q; v]: the first keyframe's, else the bodies' placement at rest. */
TRIBO_API void tribo_model_state0(const tribo_model *m, double *x /* [out] (nx) */);
/** How many keys there are: states by name. */
TRIBO_API int tribo_model_keys(const tribo_model *m);
TRIBO_API const char *tribo_model_key_name(const tribo_model *m, int key);  /**< NULL if there is none */
TRIBO_API int tribo_model_key_find(const tribo_model *m, const char *name); /**< -1 if there is none */
/** A key's state and u, either NULL = skip; without such a key the initial state and zero.
 *  @param x [out] (nx). @param u [out] (nu): no generalized forces, then the controls */
TRIBO_API void tribo_model_key(const tribo_model *m, int key, double *x, double *u);
TRIBO_API const char *tribo_model_body_name(const tribo_model *m, int body);   /**< NULL if there is none */
TRIBO_API int tribo_model_body_find(const tribo_model *m, const char *name);   /**< -1 if there is none */
TRIBO_API const char *tribo_model_geom_name(const tribo_model *m, int geom);   /**< NULL if there is none */
TRIBO_API int tribo_model_geom_find(const tribo_model *m, const char *name);   /**< -1 if there is none */
TRIBO_API const char *tribo_model_joint_name(const tribo_model *m, int joint); /**< NULL if there is none */
TRIBO_API int tribo_model_joint_find(const tribo_model *m, const char *name);  /**< -1 if there is none */
TRIBO_API int tribo_model_joint_q(const tribo_model *m, int joint);            /**< where in q; -1 if there is none */
TRIBO_API int tribo_model_joint_v(const tribo_model *m, int joint);            /**< where in v; -1 if there is none */
TRIBO_API const char *tribo_model_actuator_name(const tribo_model *m, int actuator); /**< NULL if there is none */
TRIBO_API int tribo_model_actuator_find(const tribo_model *m, const char *name);     /**< -1 if there is none */
TRIBO_API const char *tribo_model_tendon_name(const tribo_model *m, int tendon);     /**< NULL if there is none */
TRIBO_API int tribo_model_tendon_find(const tribo_model *m, const char *name);       /**< -1 if there is none */
TRIBO_API const char *tribo_model_site_name(const tribo_model *m, int site);         /**< NULL if there is none */
TRIBO_API int tribo_model_site_find(const tribo_model *m, const char *name);         /**< -1 if there is none */
TRIBO_API int tribo_model_site_body(const tribo_model *m, int site); /**< or TRIBO_WORLD, also if there is none */
/** Whether number v of a velocity is a rotation (rad/s) and not a translation (m/s); false if there is none. */
TRIBO_API bool tribo_model_turns(const tribo_model *m, int v);
/** Whether a body moves freely in the world; false if there is none. */
TRIBO_API bool tribo_model_body_free(const tribo_model *m, int body);
/** Where in q the numbers of a body begin; of a free one position (3) and unit quaternion (4), else one a joint. -1 if
 * there is none, or it has no joints. */
TRIBO_API int tribo_model_body_q(const tribo_model *m, int body);
/** Where in v, and in each half of a tangent; of a free body velocity (3) and spin (3). -1 if there is none. */
TRIBO_API int tribo_model_body_v(const tribo_model *m, int body);
/** Shape of a geom; TRIBO_PLANE if there is none. */
TRIBO_API tribo_shape tribo_model_geom_shape(const tribo_model *m, int geom);
TRIBO_API int tribo_model_geom_body(const tribo_model *m, int geom); /**< or TRIBO_WORLD, also if there is none */
/** Largest size of any geom that moves, m: the unit of relative errors (a box counts its whole edge, a capsule its
 * whole length); without such geoms twice the largest distance of a centre of mass from its frame, or radius of
 * gyration.
 */
TRIBO_API double tribo_model_extent(const tribo_model *m);

/* ---- parameters: gravity, then ten numbers a body, 8 a joint, 3 a free body that was
 * given damping, armature or dry friction, 11 an actuator and 5 more of one at a site,
 * 5 of a fluid where there is one, 2 a tendon, 7 a site, 19 a geom, 8 a pair ---- */

/** What a parameter is; decides its bounds and how an identification keeps it physical. */
typedef enum tribo_param_kind {
    TRIBO_PARAM_GRAVITY, /**< m/s^2, world: x y z */
    TRIBO_PARAM_MASS,    /**< kg */
    TRIBO_PARAM_COM,     /**< m, body frame: x y z */
    TRIBO_PARAM_INERTIA, /**< kg m^2 about the centre of mass: xx yy zz xy xz yz */
    TRIBO_PARAM_SIZE,    /**< m: x y z (of what is round x is the radius; capsule, cylinder: y is the half length) */
    TRIBO_PARAM_POS,     /**< m, geom or site in its body: x y z */
    TRIBO_PARAM_QUAT,    /**< geom or site in its body: w x y z; normalised where used */
    TRIBO_PARAM_FRICTION,
    TRIBO_PARAM_STICTION,
    TRIBO_PARAM_RESTITUTION,
    TRIBO_PARAM_BAUMGARTE,
    TRIBO_PARAM_SLOP,
    TRIBO_PARAM_DAMPING,      /**< of a joint: N s/m, N m s/rad */
    TRIBO_PARAM_ARMATURE,     /**< kg, kg m^2 */
    TRIBO_PARAM_STIFFNESS,    /**< N/m, N m/rad */
    TRIBO_PARAM_SPRINGREF,    /**< m, rad */
    TRIBO_PARAM_FRICTIONLOSS, /**< N, N m */
    TRIBO_PARAM_RANGE,        /**< of a joint: m, rad; of a tendon: of its sum */
    TRIBO_PARAM_GEAR,         /**< of an actuator; of one at a site six: gear, gear/2 to gear/6 */
    TRIBO_PARAM_GAIN,         /**< constant, by length, by velocity */
    TRIBO_PARAM_BIAS,         /**< the same */
    TRIBO_PARAM_CTRLRANGE,    /**< lower, upper */
    TRIBO_PARAM_FORCERANGE,   /**< lower, upper; N, N m */
    TRIBO_PARAM_TORSION,      /**< of a material: m */
    TRIBO_PARAM_ROLLING,      /**< of a material: m */
    TRIBO_PARAM_COMPLIANCE,   /**< of a material: 1/kg */
    TRIBO_PARAM_EDGE_RADIUS,  /**< of a geom: m */
    TRIBO_PARAM_DENSITY,      /**< of the fluid that all is in: kg/m^3 */
    TRIBO_PARAM_VISCOSITY,    /**< of the same: Pa s */
    TRIBO_PARAM_WIND          /**< of the same: m/s, world: x y z */
} tribo_param_kind;

/** One entry of p. */
typedef struct tribo_param_info {
    char name[128];        /**< path name */
    tribo_param_kind kind; /**< what it is */
    int body, geom, pair;  /**< whose it is; -1 = not a body's (geom's, pair's) */
    int site;              /**< the same of a site */
    bool used;             /**< false: no number of a step depends on it (a plane's size, a sphere's size/y); nor does
                                an edge radius of 0 count that was not given, though steps would move with it */
    double lower, upper;   /**< physical bounds; infinite where there are none */
} tribo_param_info;

/** The numbers the model was built with. */
TRIBO_API void tribo_model_params(const tribo_model *m, double *p /* [out] (np) */);
/** Index of a parameter by its path name; -1 if there is none. */
TRIBO_API int tribo_param_find(const tribo_model *m, const char *name);
/** All used parameters of a path name or a group (`cube/inertia`, `gravity`, `cube/size`).
 *  @param index [out] up to `max` of them. @return how many there are; 0 = no such name. */
TRIBO_API int tribo_param_group(const tribo_model *m, const char *name, int *index, int max);
/** @return TRIBO_OK; TRIBO_E_ARG (no such index). */
TRIBO_API TRIBO_CHECK tribo_status tribo_param_describe(const tribo_model *m, int index, tribo_param_info *info);
/** Is p physical: masses > 0, inertias positive definite with the triangle inequality, 0 <= e <= 1, mu >= 0, sizes > 0?
 *  @param diag [out] the first that is not. @return TRIBO_OK; TRIBO_E_ARG; TRIBO_E_NONFINITE. */
TRIBO_API TRIBO_CHECK tribo_status tribo_params_check(const tribo_model *m, const double *p, tribo_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
