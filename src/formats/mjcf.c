/* mjcf.c -- reader of MJCF scenes: options, bodies, geoms. The subset is stated in docs/mjcf.md. */
#include "formats/mjcf_reading.h"
#include "formats/text.h"
#include "model/inertia.h"
#include "model/shape.h"
#include <math.h>
#include <stdio.h>

/* ---- bodies and geoms ---- */

static void geom_material(ti_mjcf *r, const xmlNode *node, int class, tribo_geom_def *d) {
    double friction[3] = {1, 0.005, 0.0001};
    if (ti_mjcf_numbers(r, node, class, "friction", friction, 1, 3)) d->material.friction = friction[0];
    ti_mjcf_margin(r, node, class, &d->margin, &d->gap);
    ti_mjcf_condim(r, node, class, friction[1], friction[2], &d->material);
}

static uint32_t read_bits(ti_mjcf *r, const xmlNode *node, int class, const char *name, uint32_t fallback) {
    double x;
    if (!ti_mjcf_numbers(r, node, class, name, &x, 1, 1)) return fallback;
    if (x >= INT32_MIN && x <= UINT32_MAX && x == floor(x)) return (uint32_t)(int64_t)x;
    ti_xml_fail(&r->error, node, name, "a whole number of 32 bits expected");
    return fallback;
}

/* Its size in the file says nothing. */
static bool geom_mesh(ti_mjcf *r, const xmlNode *node, int class, tribo_geom_def *d) {
    const char *kind = d->shape == TRIBO_HFIELD ? "hfield" : "mesh", *name = ti_mjcf_attr(r, node, class, kind);
    if (!name) return ti_xml_fail(&r->error, node, kind, "missing"), false;
    d->mesh = ti_mjcf_asset_named(r, node, kind, name);
    for (int i = 0; i < r->nmesh && d->mesh >= 0 && d->shape == TRIBO_HFIELD; i++) {
        double size[4];
        if (r->mesh[i].id != d->mesh || !ti_mjcf_field_size(r, r->mesh[i].node, size)) continue;
        memcpy(d->size, size, sizeof d->size);
    }
    return d->mesh >= 0;
}

/* @return false if the geom is left out. */
static bool geom_shape(ti_mjcf *r, const xmlNode *node, int class, tribo_geom_def *d) {
    const char *type = ti_mjcf_attr(r, node, class, "type");
    if (!type) type = "sphere";
    const ti_shape_row *shape = ti_shape_named(type, &d->shape);
    if (!shape) return ti_mjcf_need_of(r, node, "type", type, "`%.40s` is not supported", type), false;
    bool fitted = ti_mjcf_attr(r, node, class, "mesh") && !shape->meshed;
    if (fitted && !shape->bounded) return ti_xml_fail(&r->error, node, "mesh", "a %s fits no mesh", type), false;
    if (fitted || shape->meshed) return geom_mesh(r, node, class, d);
    bool ends = ti_mjcf_attr(r, node, class, "fromto") != NULL;
    if (ends && !shape->segment) ti_xml_fail(&r->error, node, "fromto", "a %s has no ends", shape->name);
    int least = !shape->bounded || ends ? 1 : shape->nsize;
    if (!ti_mjcf_numbers(r, node, class, "size", d->size, least, 3) && shape->bounded)
        ti_xml_fail(&r->error, node, "size", "missing");
    return true;
}

/* The frame of a geom; ends give the last number of its size too, and all others are the first. */
static ti_frame geom_frame(ti_mjcf *r, const xmlNode *node, int class, tribo_geom_def *d) {
    ti_frame f;
    double half;
    if (ti_mjcf_bad(r) || !ti_mjcf_ends(r, node, class, &half, f.pos, f.quat)) return ti_mjcf_frame(r, node, class);
    int nsize = ti_shape_of(d->shape)->nsize;
    d->size[nsize - 1] = half;
    if (nsize == 3) d->size[1] = d->size[0];
    return f;
}

static void geom_mass(ti_mjcf *r, const xmlNode *node, int class, tribo_geom_def *d) {
    double mass;
    if (ti_mjcf_numbers(r, node, class, "mass", &mass, 1, 1)) {
        if (!(mass >= 0)) ti_xml_fail(&r->error, node, "mass", "must be >= 0");
        d->mass = mass;
    }
    ti_mjcf_numbers(r, node, class, "density", &d->density, 1, 1);
}

static bool has_mass(ti_mjcf *r, const xmlNode *node, int class) {
    double mass = -1, density = 1000;
    ti_mjcf_numbers(r, node, class, "mass", &mass, 1, 1);
    ti_mjcf_numbers(r, node, class, "density", &density, 1, 1);
    return mass != 0 && (mass > 0 || density != 0);
}

/* Whether a geom is seen only: it touches nothing and weighs nothing that counts. */
static bool is_looks(ti_mjcf *r, const xmlNode *node, int class, bool weighs) {
    if (read_bits(r, node, class, "contype", 1) || read_bits(r, node, class, "conaffinity", 1)) return false;
    return !weighs || !has_mass(r, node, class);
}

/* Whether a geom is of a group that counts; of others it weighs nothing. */
static bool group_counts(ti_mjcf *r, const xmlNode *node, int class) {
    int group = (int)(int32_t)read_bits(r, node, class, "group", 0);
    return group >= r->groups[0] && group <= r->groups[1];
}

static void keep_geom(ti_mjcf *r, xmlNode *node, int body, int class, const ti_frame *frame, const tribo_geom_def *d) {
    ti_mjcf_geom *grown = ti_grow(&r->alloc, r->geom, &r->geom_bytes, (size_t)(r->ngeom + 1) * sizeof *r->geom);
    if (!grown) {
        r->error.status = TRIBO_E_NOMEM;
        return;
    }
    r->geom = grown;
    r->geom[r->ngeom] = (ti_mjcf_geom){node, class, *frame};
    ti_mjcf_at(r, node);
    if (tribo_add_geom(r->builder, body, d) == r->ngeom) r->ngeom++;
    ti_mjcf_settle(r);
}

/* `frame` is that of the static body around the geom, or of a <frame>; the identity right in a body that moves. */
static void read_geom(ti_mjcf *r, xmlNode *node, int body, int childclass, const ti_frame *frame, bool weighs) {
    tribo_geom_def d = tribo_default_geom();
    int class = ti_mjcf_class_of(r, node, childclass);
    if (ti_mjcf_bad(r)) return;
    const char *type = ti_mjcf_attr(r, node, class, "type");
    bool meshed =
        (type && (strcmp(type, "mesh") == 0 || strcmp(type, "hfield") == 0)) || ti_mjcf_attr(r, node, class, "mesh");
    if (meshed && is_looks(r, node, class, weighs) && !ti_mjcf_paired(r, node)) return;
    ti_mjcf_judge(r, node, class, "body");
    for (const xmlNode *c = ti_xml_child(&r->error, node); c; c = ti_xml_next(&r->error, c))
        ti_mjcf_child(r, c, "geom");
    d.name = ti_xml_attr(&r->error, node, "name");
    if (!geom_shape(r, node, class, &d)) return;
    geom_mass(r, node, class, &d);
    if (!group_counts(r, node, class)) d.mass = d.density = 0;
    geom_material(r, node, class, &d);
    d.priority = (int)(int32_t)read_bits(r, node, class, "priority", 0);
    d.contype = read_bits(r, node, class, "contype", 1);
    d.conaffinity = read_bits(r, node, class, "conaffinity", 1);
    ti_frame own = geom_frame(r, node, class, &d), pose = ti_frame_mul(frame, &own);
    memcpy(d.pos, pose.pos, sizeof d.pos);
    memcpy(d.quat, pose.quat, sizeof d.quat);
    if (!ti_shape_of(d.shape)->meshed && d.mesh >= 0) ti_mjcf_fit(r, node, class, &d);
    if (!ti_mjcf_bad(r)) keep_geom(r, node, body, class, frame, &d);
}

/* The body's <inertial>, with the <frame> that it is in, and whether the body has a geom, and one that weighs. */
typedef struct matter {
    const xmlNode *inertial;
    ti_frame frame;
    bool geom, weight;
} matter;

static const ti_frame IDENTITY = {{0, 0, 0}, {1, 0, 0, 0}};

/* axes: of its own, which a fluid acts along. @return whether it says which. */
static bool read_inertial(ti_mjcf *r, const matter *m, tribo_body_def *d, double axes[4]) {
    const xmlNode *node = m->inertial;
    ti_mjcf_judge(r, node, -1, "body");
    double diagonal[3], quat[4];
    if (!ti_mjcf_numbers(r, node, -1, "pos", d->com, 3, 3)) ti_xml_fail(&r->error, node, "pos", "missing");
    if (!ti_mjcf_numbers(r, node, -1, "mass", &d->mass, 1, 1)) ti_xml_fail(&r->error, node, "mass", "missing");
    ti_mjcf_orientation(r, node, -1, quat);
    bool turned = quat[0] != 1, full = ti_mjcf_numbers(r, node, -1, "fullinertia", d->inertia, 6, 6) > 0;
    bool diag = ti_mjcf_numbers(r, node, -1, "diaginertia", diagonal, 3, 3) > 0;
    if (full && (diag || turned))
        ti_xml_fail(&r->error, node, "fullinertia", "given together with diaginertia or an orientation");
    if (!full && !diag) ti_xml_fail(&r->error, node, "diaginertia", "missing");
    d->inertia_given = true;
    if (ti_mjcf_bad(r)) return false;
    if (!full) memset(d->inertia, 0, sizeof d->inertia), memcpy(d->inertia, diagonal, sizeof diagonal);
    ti_frame own = {.quat = {quat[0], quat[1], quat[2], quat[3]}};
    memcpy(own.pos, d->com, sizeof own.pos);
    own = ti_frame_mul(&m->frame, &own);
    memcpy(d->com, own.pos, sizeof d->com);
    ti_mat R = ti_quat_mat(own.quat);
    if (own.quat[0] != 1) ti_turn_inertia(&R, d->inertia);
    memcpy(axes, own.quat, sizeof own.quat);
    return !full;
}

static void find_geom(ti_mjcf *r, const xmlNode *node, int childclass, matter *m) {
    int class = ti_mjcf_class_of(r, node, childclass);
    m->geom = true;
    m->weight = m->weight || (!ti_mjcf_bad(r) && group_counts(r, node, class) && has_mass(r, node, class));
}

static void find_matter(ti_mjcf *r, const xmlNode *node, int childclass, const ti_frame *frame, matter *m) {
    for (const xmlNode *c = ti_xml_child(&r->error, node); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c)) {
        if (ti_xml_is(c, "geom")) find_geom(r, c, childclass, m);
        if (ti_xml_is(c, "frame")) {
            ti_frame deeper;
            int class = ti_mjcf_enter(r, c, childclass, frame, &deeper);
            find_matter(r, c, class, &deeper, m);
        }
        if (!ti_xml_is(c, "inertial")) continue;
        if (m->inertial) ti_xml_fail(&r->error, c, NULL, "a second inertial");
        m->inertial = c, m->frame = *frame;
    }
}

/* Whether the <inertial> counts, and not the geoms. */
static bool inertial_counts(const ti_mjcf *r, const matter *m) {
    return m->inertial && (r->inertia != TI_INERTIA_GEOMS || !m->weight);
}

/* Whether bodies with nothing in them weigh: MuJoCo gives them a bound's matter, as far from their origin as that is
 * from their parent's. */
static bool is_bounded(const ti_mjcf *r) {
    return r->least_mass > 0 || r->least_inertia > 0;
}

/* The body of `node`; its joints and geoms come later. @return its id, -2 after an error. */
static int add_body(ti_mjcf *r, xmlNode *node, int parent, const ti_frame *pose, const matter *has,
                    const ti_mjcf_moves *moves) {
    const xmlNode *inertial = has->inertial;
    tribo_body_def d = tribo_default_body();
    d.parent = parent;
    d.name = ti_xml_attr(&r->error, node, "name");
    memcpy(d.pos, pose->pos, sizeof d.pos);
    memcpy(d.quat, pose->quat, sizeof d.quat);
    ti_mjcf_numbers(r, node, -1, "gravcomp", &d.gravcomp, 1, 1);
    d.damping = moves->damping, d.armature = moves->armature, d.frictionloss = moves->frictionloss;
    bool counts = inertial_counts(r, has);
    if (!inertial && r->inertia == TI_INERTIA_GIVEN)
        ti_xml_fail(&r->error, node, NULL, "inertial is missing, and inertiafromgeom is false");
    bool empty = !inertial && !has->geom && is_bounded(r);
    double axes[4];
    bool turned = counts && read_inertial(r, has, &d, axes);
    if (empty) d.mass = 0, memcpy(d.com, pose->pos, sizeof d.com), memset(d.inertia, 0, sizeof d.inertia);
    if (ti_mjcf_bad(r)) return -2;
    ti_mjcf_body *grown = ti_grow(&r->alloc, r->body, &r->body_bytes, (size_t)(r->nbody + 1) * sizeof *r->body);
    if (!grown) {
        r->error.status = TRIBO_E_NOMEM;
        return -2;
    }
    r->body = grown;
    r->body[r->nbody] = (ti_mjcf_body){node, counts, moves->free};
    ti_mjcf_at(r, counts ? inertial : node);
    bool later = counts && ti_mjcf_mends(r); /* what will be mended is looked at then */
    d.inertia_given = counts && !later;
    int id = tribo_add_body(r->builder, &d);
    ti_mjcf_settle(r);
    if (id < 0) return id;
    ti_body_rec *made = &r->builder->body[id];
    made->def.inertia_given = counts || empty, made->turned = turned;
    if (turned) memcpy(made->axes, axes, sizeof axes);
    r->nbody++;
    return id;
}

static void keep_rider(ti_mjcf *r, const xmlNode *node, int body, const ti_frame *frame, bool mocap) {
    ti_mjcf_rider *grown = ti_grow(&r->alloc, r->rider, &r->rider_bytes, (size_t)(r->nrider + 1) * sizeof *r->rider);
    if (!grown) {
        r->error.status = TRIBO_E_NOMEM;
        return;
    }
    r->rider = grown;
    r->rider[r->nrider++] = (ti_mjcf_rider){node, body, *frame, mocap};
}

static void read_body(ti_mjcf *r, xmlNode *node, int parent, int childclass, const ti_frame *frame, int depth);

/* What is in a body: which one it became, and where it is. */
typedef struct inside {
    int body, childclass, depth; /* depth: of bodies; 0 = in the world */
    bool weighs;                 /* its geoms make its mass */
    ti_frame frame;
} inside;

static void read_children(ti_mjcf *r, xmlNode *node, const inside *in) {
    for (xmlNode *c = ti_xml_child(&r->error, node); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c)) {
        if (in->depth == 0 && ti_xml_listed("inertial freejoint joint", (const char *)c->name)) {
            ti_xml_fail(&r->error, c, NULL, "the world cannot have one");
        } else if (!ti_mjcf_child(r, c, "body")) {
            continue;
        } else if (ti_xml_is(c, "geom")) {
            read_geom(r, c, in->body, in->childclass, &in->frame, in->weighs);
        } else if (ti_xml_is(c, "site")) {
            ti_mjcf_site(r, c, in->body, in->childclass, &in->frame);
        } else if (ti_xml_is(c, "body")) {
            read_body(r, c, in->body, in->childclass, &in->frame, in->depth + 1);
        } else if (ti_xml_is(c, "frame")) {
            inside deeper = *in;
            ti_mjcf_judge(r, c, -1, "body");
            deeper.childclass = ti_mjcf_enter(r, c, in->childclass, &in->frame, &deeper.frame);
            read_children(r, c, &deeper);
        }
    }
}

/* A body of motion capture does not move by itself: it stands in the world where it is placed. */
static bool is_mocap(ti_mjcf *r, const xmlNode *node, int depth, ti_mjcf_way moves) {
    static const char *const WORDS[] = {"false", "true", NULL};
    if (ti_mjcf_choice(r, node, -1, "mocap", WORDS, 0) != 1) return false;
    if (depth > 1) ti_xml_fail(&r->error, node, "mocap", "it belongs to a body right in the world");
    if (moves) ti_xml_fail(&r->error, node, "mocap", "it belongs to a body without joints");
    return true;
}

/* Static bodies lend the world their geoms; free bodies must be right in the world, as in MuJoCo. What is welded to a
 * body that moves is a body of its own if it has matter. */
static void read_body(ti_mjcf *r, xmlNode *node, int parent, int childclass, const ti_frame *frame, int depth) {
    enum { DEPTH_LIMIT = 100 };
    ti_frame pose;
    matter has = {0};
    ti_mjcf_moves moves = {.way = TI_MOVES_NOT};
    ti_mjcf_judge(r, node, -1, "body");
    const char *name = ti_xml_attr(&r->error, node, "name");
    if (name && strcmp(name, "world") == 0) ti_xml_fail(&r->error, node, "name", "`world` is the world's own");
    childclass = ti_mjcf_enter(r, node, childclass, frame, &pose);
    ti_mjcf_moves_of(r, node, childclass, depth, &moves);
    bool mocap = is_mocap(r, node, depth, moves.way);
    find_matter(r, node, childclass, &IDENTITY, &has);
    if (depth > DEPTH_LIMIT) ti_xml_fail(&r->error, node, NULL, "nested more than %d deep", DEPTH_LIMIT);
    if (ti_mjcf_bad(r)) return;
    bool matters = has.inertial || has.geom || (parent >= 0 && is_bounded(r)),
         own_body = moves.way || (parent >= 0 && matters);
    if (matters && !own_body) r->static_matter = node;
    int id = own_body ? add_body(r, node, parent, &pose, &has, &moves) : parent;
    if (!own_body) keep_rider(r, node, parent, &pose, mocap);
    if (moves.way == TI_MOVES_BY_JOINTS && !ti_mjcf_bad(r)) ti_mjcf_joints(r, node, id, childclass, &IDENTITY);
    bool weighs = own_body && (!inertial_counts(r, &has) || ti_mjcf_took_over(has.inertial));
    inside in = {id, childclass, depth, weighs, own_body ? IDENTITY : pose};
    if (!ti_mjcf_bad(r)) read_children(r, node, &in);
}

static void read_worldbody(ti_mjcf *r, xmlNode *node) {
    ti_mjcf_judge(r, node, -1, "mujoco");
    const char *class = ti_xml_attr(&r->error, node, "childclass");
    ti_mjcf_replicate(r, node);
    inside in = {TRIBO_WORLD, class ? ti_mjcf_class_find(r, node, "childclass", class) : r->main, 0, false, IDENTITY};
    if (!ti_mjcf_bad(r)) read_children(r, node, &in);
}

/* ---- the document ---- */

/* Sections in the order they are needed, wherever they stand. */
typedef void section_reader(ti_mjcf *r, xmlNode *node);
static void section_option(ti_mjcf *r, xmlNode *node) {
    ti_mjcf_option(r, node);
}
static void section_compiler(ti_mjcf *r, xmlNode *node) {
    ti_mjcf_compiler(r, node);
}
static void section_default(ti_mjcf *r, xmlNode *node) {
    ti_mjcf_defaults(r, node);
}
static void section_asset(ti_mjcf *r, xmlNode *node) {
    ti_mjcf_assets(r, node);
}
static void section_custom_geoms(ti_mjcf *r, xmlNode *node) {
    ti_mjcf_custom(r, node, TI_NUMERIC_GEOMS);
}
static void section_custom_pairs(ti_mjcf *r, xmlNode *node) {
    ti_mjcf_custom(r, node, TI_NUMERIC_PAIRS);
}
static void section_contact(ti_mjcf *r, xmlNode *node) {
    ti_mjcf_contact(r, node);
}
static void section_equality(ti_mjcf *r, xmlNode *node) {
    ti_mjcf_equality(r, node);
}
static void section_keyframe(ti_mjcf *r, xmlNode *node) {
    ti_mjcf_keyframe(r, node);
}
static void section_tendon(ti_mjcf *r, xmlNode *node) {
    ti_mjcf_tendons(r, node);
}
static void section_actuator(ti_mjcf *r, xmlNode *node) {
    ti_mjcf_actuators(r, node);
}
/* Nothing of it is read, but what it needs may be. */
static void section_children(ti_mjcf *r, xmlNode *node) {
    for (const xmlNode *c = ti_xml_child(&r->error, node); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c))
        ti_mjcf_child(r, c, (const char *)node->name);
}

static const struct {
    const char *name;
    section_reader *read;
} SECTION[] = {{"compiler", section_compiler},   {"option", section_option},       {"default", section_default},
               {"asset", section_asset},         {"extension", section_children},  {"deformable", section_children},
               {"worldbody", read_worldbody},    {"custom", section_custom_geoms}, {"contact", section_contact},
               {"custom", section_custom_pairs}, {"equality", section_equality},   {"tendon", section_tendon},
               {"actuator", section_actuator},   {"keyframe", section_keyframe}};

static void read_sections(ti_mjcf *r) {
    for (xmlNode *c = ti_xml_child(&r->error, r->root); c; c = ti_xml_next(&r->error, c)) ti_mjcf_child(r, c, "mujoco");
    for (size_t i = 0; i < sizeof SECTION / sizeof *SECTION; i++) {
        for (xmlNode *c = r->root->children; c && !ti_mjcf_bad(r); c = c->next)
            if (c->type == XML_ELEMENT_NODE && ti_xml_is(c, SECTION[i].name)) SECTION[i].read(r, c);
        if (SECTION[i].read == read_worldbody && !ti_mjcf_bad(r)) ti_mjcf_masses(r);
    }
}

void ti_mjcf_read(ti_mjcf *r, xmlDoc *doc, const tribo_load_options *options, const tribo_allocator *a) {
    *r = (ti_mjcf){.angle = 3.14159265358979323846 / 180,
                   .eulerseq = "xyz",
                   .autolimits = true,
                   .groups = {0, 5},
                   .main = -1,
                   .options = options};
    if (a) r->alloc = *a;
    r->root = xmlDocGetRootElement(doc);
    r->builder = tribo_builder_new(a);
    if (!r->builder) {
        r->error.status = TRIBO_E_NOMEM;
        return;
    }
    if (options) {
        r->builder->lenient = options->lenient, r->builder->packages = options->packages;
        r->builder->free_base = options->free_base;
    }
    if (!r->root || !ti_xml_is(r->root, "mujoco")) {
        ti_xml_fail(&r->error, r->root, NULL, "the root of a scene is <mujoco>");
        return;
    }
    for (const xmlAttr *x = r->root->properties; x; x = x->next)
        if (strcmp((const char *)x->name, "model") != 0)
            ti_mjcf_need_of(r, r->root, (const char *)x->name, (const char *)x->name,
                            "this attribute is not supported");
    read_sections(r);
    ti_mjcf_turn_off(r);
    ti_mjcf_borne(r);
    ti_mjcf_fused(r);
    bool still = r->builder->nbody == 0 && r->static_matter;
    ti_mjcf_at(r, still ? r->static_matter : r->root); /* where faults of the whole scene are */
    ti_mjcf_tell_needs(r);
}

void ti_mjcf_close(ti_mjcf *r) {
    tribo_builder_free(r->builder);
    ti_free(&r->alloc, r->need, r->need_bytes);
    ti_free(&r->alloc, r->class, r->class_bytes);
    ti_free(&r->alloc, r->mesh, r->mesh_bytes);
    ti_free(&r->alloc, r->body, r->body_bytes);
    ti_free(&r->alloc, r->joint, r->joint_bytes);
    ti_free(&r->alloc, r->actuator, r->actuator_bytes);
    ti_free(&r->alloc, r->tendon, r->tendon_bytes);
    ti_free(&r->alloc, r->rider, r->rider_bytes);
    ti_free(&r->alloc, r->geom, r->geom_bytes);
    ti_free(&r->alloc, r->pair, r->pair_bytes);
    ti_free(&r->alloc, r->twin, r->twin_bytes);
    ti_free(&r->alloc, r->site, r->site_bytes);
}

tribo_load_options tribo_default_load_options(void) {
    return (tribo_load_options){.struct_size = sizeof(tribo_load_options)};
}

/* The model of a document that is whole. */
static tribo_status build_document(xmlDoc *doc, const tribo_load_options *o, const tribo_allocator *a, tribo_model **m,
                                   tribo_diag *diag) {
    ti_mjcf r;
    ti_mjcf_read(&r, doc, o, a);
    tribo_status status = r.error.status;
    if (status == TRIBO_E_NOMEM)
        ti_fail(diag, status, 0, "out of memory");
    else if (status != TRIBO_OK && diag)
        *diag = r.error.diag;
    if (status == TRIBO_OK) {
        tribo_builder *builder = r.builder;
        r.builder = NULL;
        status = tribo_build(builder, m, diag);
    }
    ti_mjcf_close(&r);
    return status;
}

/* path: where the text came from; NULL = from memory. */
static tribo_status load_text(const char *xml, size_t bytes, const char *path, const tribo_load_options *o,
                              const tribo_allocator *a, tribo_model **m, tribo_diag *diag) {
    xmlDoc *doc;
    ti_xml_source *sources = NULL;
    tribo_status status = ti_xml_parse(xml, bytes, &doc, diag);
    if (status != TRIBO_OK) return status;
    status = ti_scene_complete(&doc, path, o, a, &sources, diag);
    if (path && !doc->URL) doc->URL = xmlStrdup((const xmlChar *)path); /* where its meshes are */
    if (status == TRIBO_OK) status = build_document(doc, o, a, m, diag);
    xmlFreeDoc(doc);
    ti_mjcf_sources_free(sources, a);
    return status;
}

tribo_status tribo_model_load_memory(const char *xml, size_t bytes, const char *name, const tribo_allocator *a,
                                     tribo_model **m, tribo_diag *diag) {
    (void)name; /* the caller puts it before the message */
    if (!xml || !m) return ti_fail(diag, TRIBO_E_ARG, 0, "no text, or no place for the model");
    return load_text(xml, bytes, NULL, NULL, a, m, diag);
}

tribo_status tribo_model_load_with(const char *path, const tribo_load_options *o, const tribo_allocator *a,
                                   tribo_model **m, tribo_diag *diag) {
    char *text;
    size_t n, bytes;
    if (!m) return ti_fail(diag, TRIBO_E_ARG, 0, "no place for the model");
    if (o && o->struct_size != sizeof *o)
        return ti_fail(diag, TRIBO_E_DEF, 0, "options not made by tribo_default_load_options()");
    tribo_status status = ti_read_file(path, a, &text, &n, &bytes, diag);
    if (status != TRIBO_OK) return status;
    status = load_text(text, n, path, o, a, m, diag);
    ti_free(a, text, bytes);
    return status;
}

tribo_status tribo_model_load(const char *path, const tribo_allocator *a, tribo_model **m, tribo_diag *diag) {
    return tribo_model_load_with(path, NULL, a, m, diag);
}
