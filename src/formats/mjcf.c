/* mjcf.c -- reader of MJCF scenes: options, bodies, geoms. The subset is stated in docs/mjcf.md. */
#include "formats/mjcf_reading.h"
#include "formats/text.h"
#include "model/shape.h"
#include <math.h>
#include <stdio.h>

static const char ORIENTED[] = "quat euler axisangle xyaxes zaxis";

/* Attributes of an element that may hold this set and those of an orientation. */
static void allow_posed(ti_mjcf *r, const xmlNode *node, const char *list) {
    char all[256];
    snprintf(all, sizeof all, "%s %s", list, ORIENTED);
    ti_xml_allow(&r->error, node, all);
}

/* ---- option, compiler ---- */

static void read_option(ti_mjcf *r, const xmlNode *node) {
    static const char NO_AIR[] = "wind density viscosity o_margin";
    static const char SOLVER[] = "solver cone jacobian iterations tolerance ls_iterations ls_tolerance "
                                 "noslip_iterations noslip_tolerance mpr_iterations mpr_tolerance ccd_iterations "
                                 "ccd_tolerance impratio apirate";
    for (const xmlAttr *a = node->properties; a; a = a->next) {
        const char *name = (const char *)a->name;
        if (ti_xml_listed("timestep gravity integrator", name) || ti_xml_listed(SOLVER, name)) continue;
        if (!ti_xml_listed(NO_AIR, name)) ti_xml_fail(&r->error, node, name, "this attribute is not supported");
    }
    ti_mjcf_zero(r, node, NO_AIR);
    const char *integrator = ti_xml_attr(&r->error, node, "integrator");
    if (integrator && !ti_xml_listed("Euler implicit implicitfast", integrator))
        ti_xml_fail(&r->error, node, "integrator", "`%.40s` is not supported", integrator);
    double dt, gravity[3];
    r->builder->line = ti_xml_line(node);
    if (ti_mjcf_numbers(r, node, -1, "timestep", &dt, 1, 1)) tribo_set_timestep(r->builder, dt);
    if (ti_mjcf_numbers(r, node, -1, "gravity", gravity, 3, 3)) tribo_set_gravity(r->builder, gravity);
    ti_mjcf_settle(r);
    const xmlNode *child = ti_xml_child(&r->error, node);
    if (child) ti_xml_fail(&r->error, child, NULL, "not supported inside option");
}

/* One of two words; false for the first. */
static bool second_word(ti_mjcf *r, const xmlNode *node, const char *name, const char *value, const char *first,
                        const char *second) {
    if (strcmp(value, second) == 0) return true;
    if (strcmp(value, first) != 0)
        ti_xml_fail(&r->error, node, name, "`%.40s` is not supported, only %s or %s", value, first, second);
    return false;
}

static void read_eulerseq(ti_mjcf *r, const xmlNode *node, const char *value) {
    bool sound = strlen(value) == 3;
    for (int i = 0; i < 3 && sound; i++) sound = strchr("xyzXYZ", value[i]) != NULL;
    if (sound)
        memcpy(r->eulerseq, value, 4);
    else
        ti_xml_fail(&r->error, node, "eulerseq", "three of xyzXYZ expected");
}

static void read_compiler(ti_mjcf *r, const xmlNode *node) {
    static const double DEGREE = 3.14159265358979323846 / 180;
    ti_xml_allow(&r->error, node,
                 "angle eulerseq coordinate inertiafromgeom autolimits meshdir texturedir strippath discardvisual");
    const char *value = ti_xml_attr(&r->error, node, "angle");
    if (value) r->angle = second_word(r, node, "angle", value, "degree", "radian") ? 1 : DEGREE;
    value = ti_xml_attr(&r->error, node, "eulerseq");
    if (value) read_eulerseq(r, node, value);
    value = ti_xml_attr(&r->error, node, "coordinate");
    if (value && strcmp(value, "local") != 0)
        ti_xml_fail(&r->error, node, "coordinate", "only local coordinates are supported");
    value = ti_xml_attr(&r->error, node, "inertiafromgeom");
    if (!value) return;
    if (strcmp(value, "auto") == 0)
        r->inertia = TI_INERTIA_AUTO;
    else
        r->inertia =
            second_word(r, node, "inertiafromgeom", value, "false", "true") ? TI_INERTIA_GEOMS : TI_INERTIA_GIVEN;
}

/* ---- bodies and geoms ---- */

static void geom_material(ti_mjcf *r, const xmlNode *node, int class, tribo_geom_def *d) {
    double friction[3], condim = 3;
    if (ti_mjcf_numbers(r, node, class, "friction", friction, 1, 3)) d->material.friction = friction[0];
    ti_mjcf_numbers(r, node, class, "condim", &condim, 1, 1);
    if (condim == 1)
        d->material.friction = 0;
    else if (condim != 3)
        ti_xml_fail(&r->error, node, "condim", "only 1 (no friction) and 3 are supported");
}

static uint32_t read_bits(ti_mjcf *r, const xmlNode *node, int class, const char *name, uint32_t fallback) {
    double x;
    if (!ti_mjcf_numbers(r, node, class, name, &x, 1, 1)) return fallback;
    if (x >= INT32_MIN && x <= UINT32_MAX && x == floor(x)) return (uint32_t)(int64_t)x;
    ti_xml_fail(&r->error, node, name, "a whole number of 32 bits expected");
    return fallback;
}

/* Where an element with pos and an orientation is. */
static ti_frame read_frame(ti_mjcf *r, const xmlNode *node, int class) {
    ti_frame f = {{0, 0, 0}, {1, 0, 0, 0}};
    ti_mjcf_numbers(r, node, class, "pos", f.pos, 3, 3);
    ti_mjcf_orientation(r, node, class, f.quat);
    return f;
}

static void geom_shape(ti_mjcf *r, const xmlNode *node, int class, tribo_geom_def *d) {
    const char *type = ti_mjcf_attr(r, node, class, "type");
    const ti_shape_row *shape = ti_shape_named(type ? type : "sphere", &d->shape);
    if (!shape) {
        ti_xml_fail(&r->error, node, "type", "`%.40s` is not supported", type);
        return;
    }
    bool ends = ti_mjcf_attr(r, node, class, "fromto") != NULL;
    if (ends && !shape->segment) ti_xml_fail(&r->error, node, "fromto", "only a capsule has ends");
    int least = !shape->bounded || ends ? 1 : shape->nsize;
    if (!ti_mjcf_numbers(r, node, class, "size", d->size, least, 3) && shape->bounded)
        ti_xml_fail(&r->error, node, "size", "missing");
}

/* The frame of a geom; ends give the last number of its size too. */
static ti_frame geom_frame(ti_mjcf *r, const xmlNode *node, int class, tribo_geom_def *d) {
    ti_frame f;
    double half;
    if (ti_mjcf_bad(r) || !ti_mjcf_ends(r, node, class, &half, f.pos, f.quat)) return read_frame(r, node, class);
    d->size[ti_shape_of(d->shape)->nsize - 1] = half;
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

/* `frame` is that of the static body around the geom; the identity for a body that moves. */
static void read_geom(ti_mjcf *r, xmlNode *node, int body, int childclass, const ti_frame *frame) {
    tribo_geom_def d = tribo_default_geom();
    ti_xml_allow(&r->error, node, TI_MJCF_GEOM_ATTR);
    const char *named = ti_xml_attr(&r->error, node, "class");
    int class = named ? ti_mjcf_class_find(r, node, "class", named) : childclass;
    if (ti_mjcf_bad(r)) return;
    d.name = ti_xml_attr(&r->error, node, "name");
    geom_shape(r, node, class, &d);
    geom_mass(r, node, class, &d);
    geom_material(r, node, class, &d);
    ti_mjcf_zero(r, node, TI_MJCF_SOFTNESS_ZERO);
    for (int c = class; c >= 0; c = r->class[c].parent)
        if (r->class[c].geom) ti_mjcf_zero(r, r->class[c].geom, TI_MJCF_SOFTNESS_ZERO);
    d.priority = (int)(int32_t)read_bits(r, node, class, "priority", 0);
    d.contype = read_bits(r, node, class, "contype", 1);
    d.conaffinity = read_bits(r, node, class, "conaffinity", 1);
    ti_frame own = geom_frame(r, node, class, &d), pose = ti_frame_mul(frame, &own);
    memcpy(d.pos, pose.pos, sizeof d.pos);
    memcpy(d.quat, pose.quat, sizeof d.quat);
    if (ti_mjcf_bad(r)) return;
    ti_mjcf_geom *grown = ti_grow(&r->alloc, r->geom, &r->geom_bytes, (size_t)(r->ngeom + 1) * sizeof *r->geom);
    if (!grown) {
        r->error.status = TRIBO_E_NOMEM;
        return;
    }
    r->geom = grown;
    r->geom[r->ngeom] = (ti_mjcf_geom){node, class, *frame};
    r->builder->line = ti_xml_line(node);
    if (tribo_add_geom(r->builder, body, &d) == r->ngeom) r->ngeom++;
    ti_mjcf_settle(r);
}

static void read_inertial(ti_mjcf *r, const xmlNode *node, tribo_body_def *d) {
    static const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    allow_posed(r, node, "pos mass diaginertia fullinertia");
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
    if (full) return;
    ti_mat R = ti_quat_mat(quat);
    for (int e = 0; e < 6 && diag; e++) {
        d->inertia[e] = 0;
        for (int k = 0; k < 3; k++) d->inertia[e] += R.m[at[e][0]][k] * diagonal[k] * R.m[at[e][1]][k];
    }
}

/* The body's <inertial>, NULL if there is none. */
static const xmlNode *inertial_of(ti_mjcf *r, const xmlNode *node) {
    const xmlNode *found = NULL;
    for (const xmlNode *c = ti_xml_child(&r->error, node); c; c = ti_xml_next(&r->error, c)) {
        if (!ti_xml_is(c, "inertial")) continue;
        if (found) ti_xml_fail(&r->error, c, NULL, "a second inertial");
        found = c;
    }
    return found;
}

static bool has_geom(ti_mjcf *r, const xmlNode *node) {
    for (const xmlNode *c = ti_xml_child(&r->error, node); c; c = ti_xml_next(&r->error, c))
        if (ti_xml_is(c, "geom")) return true;
    return false;
}

/* The body of `node`; its joints and geoms come later. @return its id, -2 after an error. */
static int add_body(ti_mjcf *r, xmlNode *node, int parent, const ti_frame *pose, const xmlNode *inertial) {
    tribo_body_def d = tribo_default_body();
    d.parent = parent;
    d.name = ti_xml_attr(&r->error, node, "name");
    memcpy(d.pos, pose->pos, sizeof d.pos);
    memcpy(d.quat, pose->quat, sizeof d.quat);
    bool counts = inertial && r->inertia != TI_INERTIA_GEOMS;
    if (!inertial && r->inertia == TI_INERTIA_GIVEN)
        ti_xml_fail(&r->error, node, NULL, "inertial is missing, and inertiafromgeom is false");
    if (counts) read_inertial(r, inertial, &d);
    if (ti_mjcf_bad(r)) return -2;
    ti_mjcf_body *grown = ti_grow(&r->alloc, r->body, &r->body_bytes, (size_t)(r->nbody + 1) * sizeof *r->body);
    if (!grown) {
        r->error.status = TRIBO_E_NOMEM;
        return -2;
    }
    r->body = grown;
    r->body[r->nbody] = (ti_mjcf_body){node, counts};
    r->builder->line = ti_xml_line(counts ? inertial : node);
    int id = tribo_add_body(r->builder, &d);
    ti_mjcf_settle(r);
    if (id >= 0) r->nbody++;
    return id;
}

static void read_body(ti_mjcf *r, xmlNode *node, int parent, int childclass, const ti_frame *frame, int depth);

static void read_children(ti_mjcf *r, xmlNode *node, int body, int childclass, const ti_frame *frame, int depth) {
    for (xmlNode *c = ti_xml_child(&r->error, node); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c)) {
        if (ti_xml_is(c, "geom"))
            read_geom(r, c, body, childclass, frame);
        else if (ti_xml_is(c, "body"))
            read_body(r, c, body, childclass, frame, depth + 1);
        else if (!ti_xml_listed("inertial freejoint joint site camera light", (const char *)c->name))
            ti_xml_fail(&r->error, c, NULL, "this element is not supported");
    }
}

/* Static bodies lend the world their geoms; free bodies must be right in the world, as in MuJoCo. What is welded to a
 * body that moves is a body of its own if it has matter. */
static void read_body(ti_mjcf *r, xmlNode *node, int parent, int childclass, const ti_frame *frame, int depth) {
    static const ti_frame IDENTITY = {{0, 0, 0}, {1, 0, 0, 0}};
    enum { DEPTH_LIMIT = 100 };
    allow_posed(r, node, "name childclass pos user");
    const char *class = ti_xml_attr(&r->error, node, "childclass");
    if (class) childclass = ti_mjcf_class_find(r, node, "childclass", class);
    ti_mjcf_moves moves = ti_mjcf_moves_of(r, node, childclass, depth);
    const xmlNode *inertial = inertial_of(r, node);
    if (depth > DEPTH_LIMIT) ti_xml_fail(&r->error, node, NULL, "nested more than %d deep", DEPTH_LIMIT);
    if (ti_mjcf_bad(r)) return;
    bool matter = inertial || has_geom(r, node), own_body = moves || (parent >= 0 && matter);
    ti_frame own = read_frame(r, node, -1), pose = ti_frame_mul(frame, &own);
    int id = own_body ? add_body(r, node, parent, &pose, inertial) : parent;
    if (moves == TI_MOVES_BY_JOINTS && !ti_mjcf_bad(r)) ti_mjcf_joints(r, node, id, childclass);
    if (!ti_mjcf_bad(r)) read_children(r, node, id, childclass, own_body ? &IDENTITY : &pose, depth);
}

static void read_worldbody(ti_mjcf *r, xmlNode *node) {
    static const ti_frame IDENTITY = {{0, 0, 0}, {1, 0, 0, 0}};
    ti_xml_allow(&r->error, node, "childclass");
    const char *class = ti_xml_attr(&r->error, node, "childclass");
    int childclass = class ? ti_mjcf_class_find(r, node, "childclass", class) : r->nclass ? 0 : -1;
    for (const xmlNode *c = ti_xml_child(&r->error, node); c; c = ti_xml_next(&r->error, c))
        if (ti_xml_listed("inertial freejoint joint", (const char *)c->name))
            ti_xml_fail(&r->error, c, NULL, "the world cannot have one");
    if (!ti_mjcf_bad(r)) read_children(r, node, TRIBO_WORLD, childclass, &IDENTITY, 0);
}

/* ---- the document ---- */

static void read_asset(ti_mjcf *r, const xmlNode *node) {
    for (const xmlNode *c = ti_xml_child(&r->error, node); c; c = ti_xml_next(&r->error, c))
        if (!ti_xml_listed("texture material", (const char *)c->name))
            ti_xml_fail(&r->error, c, NULL, "this element is not supported");
}

/* Sections in the order they are needed, wherever they stand. */
typedef void section_reader(ti_mjcf *r, xmlNode *node);
static void section_option(ti_mjcf *r, xmlNode *node) {
    read_option(r, node);
}
static void section_compiler(ti_mjcf *r, xmlNode *node) {
    read_compiler(r, node);
}
static void section_default(ti_mjcf *r, xmlNode *node) {
    ti_mjcf_defaults(r, node);
}
static void section_asset(ti_mjcf *r, xmlNode *node) {
    read_asset(r, node);
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
static void section_keyframe(ti_mjcf *r, xmlNode *node) {
    ti_mjcf_keyframe(r, node);
}

static const struct {
    const char *name;
    section_reader *read;
} SECTION[] = {{"compiler", section_compiler}, {"option", section_option},       {"default", section_default},
               {"asset", section_asset},       {"worldbody", read_worldbody},    {"custom", section_custom_geoms},
               {"contact", section_contact},   {"custom", section_custom_pairs}, {"keyframe", section_keyframe}};

static void check_sections(ti_mjcf *r) {
    bool keyframe = false;
    for (xmlNode *c = ti_xml_child(&r->error, r->root); c; c = ti_xml_next(&r->error, c)) {
        const char *name = (const char *)c->name;
        bool known = ti_xml_listed("visual statistic size", name);
        for (size_t i = 0; i < sizeof SECTION / sizeof *SECTION; i++)
            known = known || strcmp(name, SECTION[i].name) == 0;
        if (!known) ti_xml_fail(&r->error, c, NULL, "this element is not supported");
        if (keyframe && ti_xml_is(c, "keyframe")) ti_xml_fail(&r->error, c, NULL, "a second one");
        keyframe = keyframe || ti_xml_is(c, "keyframe");
    }
}

void ti_mjcf_read(ti_mjcf *r, xmlDoc *doc, const tribo_allocator *a) {
    *r = (ti_mjcf){.angle = 3.14159265358979323846 / 180, .eulerseq = "xyz"};
    if (a) r->alloc = *a;
    r->root = xmlDocGetRootElement(doc);
    r->builder = tribo_builder_new(a);
    if (!r->builder) {
        r->error.status = TRIBO_E_NOMEM;
        return;
    }
    if (!r->root || !ti_xml_is(r->root, "mujoco")) {
        ti_xml_fail(&r->error, r->root, NULL, "the root of a scene is <mujoco>");
        return;
    }
    ti_xml_allow(&r->error, r->root, "model");
    check_sections(r);
    for (size_t i = 0; i < sizeof SECTION / sizeof *SECTION; i++)
        for (xmlNode *c = r->root->children; c && !ti_mjcf_bad(r); c = c->next)
            if (c->type == XML_ELEMENT_NODE && ti_xml_is(c, SECTION[i].name)) SECTION[i].read(r, c);
}

void ti_mjcf_close(ti_mjcf *r) {
    tribo_builder_free(r->builder);
    ti_free(&r->alloc, r->class, r->class_bytes);
    ti_free(&r->alloc, r->body, r->body_bytes);
    ti_free(&r->alloc, r->joint, r->joint_bytes);
    ti_free(&r->alloc, r->geom, r->geom_bytes);
    ti_free(&r->alloc, r->pair, r->pair_bytes);
}

tribo_status tribo_model_load_memory(const char *xml, size_t bytes, const char *name, const tribo_allocator *a,
                                     tribo_model **m, tribo_diag *diag) {
    (void)name; /* the caller puts it before the message */
    if (!xml || !m) return ti_fail(diag, TRIBO_E_ARG, 0, "no text, or no place for the model");
    xmlDoc *doc;
    tribo_status status = ti_xml_parse(xml, bytes, &doc, diag);
    if (status != TRIBO_OK) return status;
    ti_mjcf r;
    ti_mjcf_read(&r, doc, a);
    status = r.error.status;
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
    xmlFreeDoc(doc);
    return status;
}

tribo_status tribo_model_load(const char *path, const tribo_allocator *a, tribo_model **m, tribo_diag *diag) {
    char *text;
    size_t n, bytes;
    tribo_status status = ti_read_file(path, a, &text, &n, &bytes, diag);
    if (status != TRIBO_OK) return status;
    status = tribo_model_load_memory(text, n, path, a, m, diag);
    ti_free(a, text, bytes);
    return status;
}
