/* urdf.c -- URDF as the MJCF scene that means the same: its links as bodies inside one another. See docs/urdf.md. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "formats/mjcf_reading.h"
#include "formats/text.h"
#include "model/inertia.h"
#include <libxml/parser.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINKS_LIMIT = 4096, DEPTH_LIMIT = 200, NAME_ROOM = 256 };

typedef struct urdf_link {
    const xmlNode *node;
    const char *name;
    const xmlNode *joint; /* that holds it, NULL = none */
    int order;            /* of that among all joints */
    int parent;
    bool lent;     /* its inertial is that of what it is fixed to */
    bool attached; /* it is in the tree */
} urdf_link;

typedef struct urdf {
    const tribo_allocator *alloc;
    const tribo_load_options *options;
    const char *path; /* of the file, NULL = from memory */
    ti_xml_error error;
    xmlNode *root; /* <robot> */
    xmlDoc *doc;   /* <mujoco> */
    xmlNode *asset, *equality;
    int n, nmesh, njoint;
    urdf_link *link;
    size_t bytes;
} urdf;

static bool bad(const urdf *u) {
    return u->error.status != TRIBO_OK;
}

/* ---- the new document ---- */

/* A new element at the end of a parent, with the line of what it stands for. */
static xmlNode *add(urdf *u, xmlNode *parent, const char *name, const xmlNode *from) {
    xmlNode *node = parent ? xmlNewChild(parent, NULL, (const xmlChar *)name, NULL) : NULL;
    if (!node) {
        u->error.status = TRIBO_E_NOMEM;
        return NULL;
    }
    int line = ti_xml_line(from);
    node->line = (unsigned short)(line < 65535 ? line : 65535);
    return node;
}

static void put(urdf *u, xmlNode *node, const char *name, const char *value) {
    if (node && value && !xmlSetProp(node, (const xmlChar *)name, (const xmlChar *)value))
        u->error.status = TRIBO_E_NOMEM;
}

static void put_numbers(urdf *u, xmlNode *node, const char *name, const double *x, int n) {
    char text[8 * TI_NUMBER_TEXT] = "", one[TI_NUMBER_TEXT];
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        ti_write_number(x[i], one);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", one);
    }
    put(u, node, name, text);
}

/* ---- reading ---- */

static const xmlNode *child(const xmlNode *node, const char *name) {
    for (const xmlNode *c = node ? node->children : NULL; c; c = c->next)
        if (c->type == XML_ELEMENT_NODE && ti_xml_is(c, name)) return c;
    return NULL;
}

static const char *attr(urdf *u, const xmlNode *node, const char *name) {
    return node ? ti_xml_attr(&u->error, node, name) : NULL;
}

/* n numbers of an attribute. @return false if it is absent. */
static bool numbers(urdf *u, const xmlNode *node, const char *name, double *x, int n) {
    const char *text = attr(u, node, name);
    if (!text) return false;
    int found = ti_xml_numbers(&u->error, node, name, text, x, n);
    if (found >= 0 && found < n) ti_xml_fail(&u->error, node, name, "%d numbers, expected %d", found, n);
    return found == n;
}

static double needed(urdf *u, const xmlNode *node, const char *name) {
    double x = 0;
    if (!numbers(u, node, name, &x, 1)) ti_xml_fail(&u->error, node, name, "missing");
    return x;
}

/* Rotation by roll, pitch, yaw about fixed axes. */
static ti_mat rotation_of(const double rpy[3]) {
    double c[3], s[3];
    for (int i = 0; i < 3; i++) c[i] = cos(rpy[i]), s[i] = sin(rpy[i]);
    return (ti_mat){{{c[2] * c[1], c[2] * s[1] * s[0] - s[2] * c[0], c[2] * s[1] * c[0] + s[2] * s[0]},
                     {s[2] * c[1], s[2] * s[1] * s[0] + c[2] * c[0], s[2] * s[1] * c[0] - c[2] * s[0]},
                     {-s[1], c[1] * s[0], c[1] * c[0]}}};
}

static void origin_of(urdf *u, const xmlNode *node, double xyz[3], double rpy[3]) {
    const xmlNode *o = child(node, "origin");
    for (int i = 0; i < 3; i++) xyz[i] = rpy[i] = 0;
    if (!o) return;
    numbers(u, o, "xyz", xyz, 3), numbers(u, o, "rpy", rpy, 3);
}

static void put_origin(urdf *u, const xmlNode *node, xmlNode *to) {
    double xyz[3], rpy[3];
    origin_of(u, node, xyz, rpy);
    put_numbers(u, to, "pos", xyz, 3);
    if (rpy[0] != 0 || rpy[1] != 0 || rpy[2] != 0) put_numbers(u, to, "euler", rpy, 3);
}

/* ---- links and joints ---- */

static int link_named(const urdf *u, const char *name) {
    for (int i = 0; name && i < u->n; i++)
        if (strcmp(u->link[i].name, name) == 0) return i;
    return -1;
}

static void add_link(urdf *u, const xmlNode *node) {
    const char *name = attr(u, node, "name");
    if (!name || !*name) ti_xml_fail(&u->error, node, "name", "missing");
    if (name && link_named(u, name) >= 0) ti_xml_fail(&u->error, node, "name", "there is a link `%.60s` already", name);
    if (u->n >= LINKS_LIMIT) ti_xml_fail(&u->error, node, NULL, "more than %d links", LINKS_LIMIT);
    if (bad(u)) return;
    urdf_link *grown = ti_grow(u->alloc, u->link, &u->bytes, (size_t)(u->n + 1) * sizeof *grown);
    if (!grown) {
        u->error.status = TRIBO_E_NOMEM;
        return;
    }
    u->link = grown;
    u->link[u->n++] = (urdf_link){.node = node, .name = name, .parent = -1};
}

static int end_of(urdf *u, const xmlNode *joint, const char *which) {
    const xmlNode *end = child(joint, which);
    const char *name = attr(u, end, "link");
    int i = link_named(u, name);
    if (i < 0)
        ti_xml_fail(&u->error, end ? end : joint, end ? "link" : which, "there is no link `%.60s`", name ? name : "");
    return i;
}

static void add_joint(urdf *u, const xmlNode *node) {
    const char *name = attr(u, node, "name");
    if (!name || !*name) ti_xml_fail(&u->error, node, "name", "missing");
    int parent = end_of(u, node, "parent"), below = end_of(u, node, "child");
    if (bad(u)) return;
    if (u->link[below].joint)
        ti_xml_fail(&u->error, node, "child", "the link `%.60s` has two parents", u->link[below].name);
    u->link[below].joint = node, u->link[below].parent = parent, u->link[below].order = u->njoint++;
}

static void find_links(urdf *u) {
    for (const xmlNode *c = u->root->children; c && !bad(u); c = c->next)
        if (c->type == XML_ELEMENT_NODE && ti_xml_is(c, "link")) add_link(u, c);
    for (const xmlNode *c = u->root->children; c && !bad(u); c = c->next)
        if (c->type == XML_ELEMENT_NODE && ti_xml_is(c, "joint")) add_joint(u, c);
    if (!bad(u) && u->n == 0) ti_xml_fail(&u->error, u->root, NULL, "there is no link");
}

static bool joint_is(urdf *u, const urdf_link *l, const char *type) {
    const char *own = attr(u, l->joint, "type");
    return own && strcmp(own, type) == 0;
}

/* ---- masses ---- */

/* The inertial of a link; NULL where it has none. */
static const xmlNode *inertial_of(const urdf *u, int i) {
    return child(u->link[i].node, "inertial");
}

/* An inertial about a link's axes; moved by a joint's origin where it is another link's. */
static void put_inertial(urdf *u, const xmlNode *inertial, const xmlNode *joint, xmlNode *body) {
    static const char *const WORD[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    const xmlNode *inertia = child(inertial, "inertia"), *weight = child(inertial, "mass");
    double xyz[3], rpy[3], I[6], mass = 0;
    origin_of(u, inertial, xyz, rpy);
    if (!weight || !inertia) ti_xml_fail(&u->error, inertial, weight ? "inertia" : "mass", "missing");
    if (bad(u)) return;
    mass = needed(u, weight, "value");
    for (int e = 0; e < 6; e++) I[e] = needed(u, inertia, WORD[e]) * (mass != 0); /* what weighs nothing has none */
    ti_mat R = rotation_of(rpy);
    if (joint) {
        double shift[3], turn[3];
        origin_of(u, joint, shift, turn);
        ti_mat T = rotation_of(turn);
        ti_store3(xyz, ti_add(ti_load3(shift), ti_mul(&T, ti_load3(xyz))));
        R = ti_matmul(&T, &R);
    }
    ti_turn_inertia(&R, I);
    xmlNode *node = add(u, body, "inertial", inertial);
    put_numbers(u, node, "pos", xyz, 3), put_numbers(u, node, "mass", &mass, 1);
    put_numbers(u, node, "fullinertia", I, 6);
}

/* A link that moves and has no mass takes that of one that is fixed to it. @return which, -1 = none. */
static int lender(urdf *u, int i) {
    if (inertial_of(u, i) || child(u->link[i].node, "collision")) return -1;
    for (int k = 0; k < u->n; k++)
        if (u->link[k].parent == i && joint_is(u, &u->link[k], "fixed") && inertial_of(u, k)) return k;
    return -1;
}

/* ---- shapes ---- */

/* Where there is such a file, its path is made whole: what is relative counts from the scene, this from where we are.
 */
static bool find_file(char *place, size_t room) {
    char whole[PATH_MAX];
    return realpath(place, whole) && snprintf(place, room, "%s", whole) < (int)room;
}

/* folder/rest, or where the folder has the package's name beside it, if there is such a file. */
static bool in_folder(const char *folder, size_t n, const char *rest, char *place, size_t room) {
    const char *slash = strchr(rest, '/');
    size_t name = slash ? (size_t)(slash - rest) : 0;
    if (snprintf(place, room, "%.*s/%s", (int)n, folder, rest) < (int)room && find_file(place, room)) return true;
    bool own = slash && n >= name && strncmp(folder + n - name, rest, name) == 0;
    return own && snprintf(place, room, "%.*s%s", (int)n, folder, slash) < (int)room && find_file(place, room);
}

/* A file of a package: in one of the folders to search, or above the scene; else its last part, beside the scene. */
static void find_mesh(const urdf *u, const char *file, char *place, size_t room) {
    static const char PACKAGE[] = "package://", FILE_URL[] = "file://";
    const char *search = u->options ? u->options->packages : NULL;
    if (strncmp(file, FILE_URL, sizeof FILE_URL - 1) == 0) file += sizeof FILE_URL - 1;
    if (strncmp(file, PACKAGE, sizeof PACKAGE - 1) != 0) {
        snprintf(place, room, "%s", file);
        return;
    }
    file += sizeof PACKAGE - 1;
    for (const char *at = search; at && *at; at += strcspn(at, ":"), at += *at == ':')
        if (in_folder(at, strcspn(at, ":"), file, place, room)) return;
    for (size_t n = u->path ? strlen(u->path) : 0; n > 0; n--)
        if (u->path[n - 1] == '/' && in_folder(u->path, n - 1, file, place, room)) return;
    const char *last = strrchr(file, '/');
    snprintf(place, room, "%s", last ? last + 1 : file);
}

static void put_mesh(urdf *u, const xmlNode *mesh, xmlNode *geom) {
    const char *file = attr(u, mesh, "filename");
    char name[NAME_ROOM], place[1200];
    double scale[3];
    if (!file || !*file) ti_xml_fail(&u->error, mesh, "filename", "missing");
    if (bad(u)) return;
    find_mesh(u, file, place, sizeof place);
    snprintf(name, sizeof name, "mesh%d", u->nmesh++);
    xmlNode *asset = add(u, u->asset, "mesh", mesh);
    put(u, asset, "name", name), put(u, asset, "file", place);
    if (numbers(u, mesh, "scale", scale, 3)) put_numbers(u, asset, "scale", scale, 3);
    put(u, geom, "type", "mesh"), put(u, geom, "mesh", name);
}

static void put_round(urdf *u, const xmlNode *shape, const char *type, xmlNode *geom) {
    double size[2] = {needed(u, shape, "radius"), 0};
    bool round = strcmp(type, "sphere") == 0;
    if (!round) size[1] = needed(u, shape, "length") / 2;
    put(u, geom, "type", type), put_numbers(u, geom, "size", size, round ? 1 : 2);
}

static bool is_taken(const xmlNode *below, const char *name) {
    ti_xml_error quiet = {0};
    for (const xmlNode *c = below->children; c; c = c->next) {
        if (c->type != XML_ELEMENT_NODE) continue;
        const char *own = ti_xml_is(c, "geom") ? ti_xml_attr(&quiet, c, "name") : NULL;
        if ((own && strcmp(own, name) == 0) || is_taken(c, name)) return true;
    }
    return false;
}

/* Names of shapes may come twice in URDF: the first has it. */
static void put_collision(urdf *u, const xmlNode *node, xmlNode *body) {
    static const char *const ROUND[] = {"sphere", "cylinder", "capsule"};
    const xmlNode *shapes = child(node, "geometry"), *box = child(shapes, "box"), *mesh = child(shapes, "mesh");
    xmlNode *geom = add(u, body, "geom", node);
    double size[3];
    bool found = false;
    const char *name = attr(u, node, "name");
    if (name && !is_taken(xmlDocGetRootElement(u->doc), name)) put(u, geom, "name", name);
    put_origin(u, node, geom);
    for (int k = 0; k < 3 && !found && !bad(u); k++) {
        const xmlNode *shape = child(shapes, ROUND[k]);
        if (shape) put_round(u, shape, ROUND[k], geom), found = true;
    }
    if (found || bad(u)) return;
    if (box && numbers(u, box, "size", size, 3)) {
        for (int i = 0; i < 3; i++) size[i] /= 2;
        put(u, geom, "type", "box"), put_numbers(u, geom, "size", size, 3);
    } else if (mesh) {
        put_mesh(u, mesh, geom);
    } else {
        ti_xml_fail(&u->error, node, "geometry", "neither box, sphere, cylinder, capsule nor mesh");
    }
}

/* ---- joints ---- */

static void put_brakes(urdf *u, const xmlNode *joint, xmlNode *to) {
    const xmlNode *dynamics = child(joint, "dynamics");
    double x;
    if (dynamics && numbers(u, dynamics, "damping", &x, 1)) put_numbers(u, to, "damping", &x, 1);
    if (dynamics && numbers(u, dynamics, "friction", &x, 1)) put_numbers(u, to, "frictionloss", &x, 1);
}

static void put_dynamics(urdf *u, const xmlNode *joint, xmlNode *to) {
    const xmlNode *limit = child(joint, "limit");
    double range[2] = {0, 0}, effort; /* either is 0 where it is left out */
    put_brakes(u, joint, to);
    if (!limit) return;
    numbers(u, limit, "lower", range, 1), numbers(u, limit, "upper", range + 1, 1);
    const char *type = attr(u, joint, "type");
    bool turns_on = type && strcmp(type, "continuous") == 0; /* whatever its limits */
    if (range[0] > range[1] && !turns_on) ti_xml_fail(&u->error, limit, "upper", "it is below `lower`");
    if (range[0] < range[1]) {
        put_numbers(u, to, "range", range, 2);
        put(u, to, "limited", "true");
    }
    if (!numbers(u, limit, "effort", &effort, 1) || effort == 0) return;
    double force[2] = {-fabs(effort), fabs(effort)};
    put_numbers(u, to, "actuatorfrcrange", force, 2);
    put(u, to, "actuatorfrclimited", "true");
}

static void put_mimic(urdf *u, const xmlNode *joint, const char *name) {
    const xmlNode *mimic = child(joint, "mimic");
    double poly[5] = {0, 1, 0, 0, 0};
    if (!mimic) return;
    const char *other = attr(u, mimic, "joint");
    if (!other) ti_xml_fail(&u->error, mimic, "joint", "missing");
    numbers(u, mimic, "offset", &poly[0], 1), numbers(u, mimic, "multiplier", &poly[1], 1);
    xmlNode *to = add(u, u->equality, "joint", mimic);
    put(u, to, "joint1", name), put(u, to, "joint2", other), put_numbers(u, to, "polycoef", poly, 5);
}

/* About x where none is given. */
static void axis_of(urdf *u, const xmlNode *joint, double *axis) {
    const xmlNode *given = child(joint, "axis");
    axis[0] = 1, axis[1] = axis[2] = 0;
    if (given && !numbers(u, given, "xyz", axis, 3)) ti_xml_fail(&u->error, given, "xyz", "missing");
}

static void put_axis(urdf *u, const xmlNode *joint, const char *type, xmlNode *body) {
    double axis[3];
    const char *name = attr(u, joint, "name");
    xmlNode *to = add(u, body, "joint", joint);
    axis_of(u, joint, axis);
    put(u, to, "name", name), put(u, to, "type", type), put_numbers(u, to, "axis", axis, 3);
    put_dynamics(u, joint, to), put_mimic(u, joint, name);
}

/* Two slides across its axis and a hinge about it. */
static void put_planar(urdf *u, const xmlNode *joint, xmlNode *body) {
    static const char *const END[3] = {"_TX", "_TY", "_RZ"};
    static const double AXIS[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double axis[3];
    xmlNode *frame = add(u, body, "frame", joint);
    axis_of(u, joint, axis);
    put_numbers(u, frame, "zaxis", axis, 3);
    for (int k = 0; k < 3; k++) {
        char name[NAME_ROOM];
        snprintf(name, sizeof name, "%.200s%s", attr(u, joint, "name"), END[k]);
        xmlNode *to = add(u, frame, "joint", joint);
        put(u, to, "name", name), put(u, to, "type", k < 2 ? "slide" : "hinge"), put_numbers(u, to, "axis", AXIS[k], 3);
        put_brakes(u, joint, to);
    }
}

static void put_free(urdf *u, const xmlNode *joint, xmlNode *body) {
    xmlNode *to = add(u, body, "joint", joint);
    put(u, to, "name", attr(u, joint, "name")), put(u, to, "type", "free");
    put_brakes(u, joint, to);
}

static void put_joint(urdf *u, const urdf_link *l, xmlNode *body) {
    const char *type = attr(u, l->joint, "type");
    if (!type)
        ti_xml_fail(&u->error, l->joint, "type", "missing");
    else if (strcmp(type, "revolute") == 0 || strcmp(type, "continuous") == 0)
        put_axis(u, l->joint, "hinge", body);
    else if (strcmp(type, "prismatic") == 0)
        put_axis(u, l->joint, "slide", body);
    else if (strcmp(type, "spherical") == 0)
        put_axis(u, l->joint, "ball", body);
    else if (strcmp(type, "planar") == 0 || strcmp(type, "planaraxis") == 0) /* as Dojo writes it */
        put_planar(u, l->joint, body);
    else if (strcmp(type, "floating") == 0)
        put_free(u, l->joint, body);
    else if (strcmp(type, "fixed") != 0)
        ti_xml_fail(&u->error, l->joint, "type",
                    "`%.40s` is none of revolute, continuous, prismatic, spherical, planar, floating, fixed", type);
}

/* ---- the tree ---- */

static void put_link(urdf *u, int i, xmlNode *parent, int depth);

/* The links below one come as the joints do that hold them; -1 = none is left. */
static int next_below(const urdf *u, int parent, int after) {
    int next = -1;
    for (int k = 0; k < u->n; k++) {
        bool later = u->link[k].parent == parent && u->link[k].order > after;
        if (later && (next < 0 || u->link[k].order < u->link[next].order)) next = k;
    }
    return next;
}

/* What a link has, and the links below it. */
static void put_inside(urdf *u, int i, xmlNode *body, int depth) {
    const urdf_link *l = &u->link[i];
    const xmlNode *inertial = inertial_of(u, i);
    int lends = ti_xml_is(body, "worldbody") ? -1 : lender(u, i);
    if (lends >= 0) {
        put_inertial(u, child(u->link[lends].node, "inertial"), u->link[lends].joint, body);
        u->link[lends].lent = true;
    } else if (inertial && !l->lent && !ti_xml_is(body, "worldbody")) {
        put_inertial(u, inertial, NULL, body);
    }
    for (const xmlNode *c = l->node->children; c && !bad(u); c = c->next)
        if (c->type == XML_ELEMENT_NODE && ti_xml_is(c, "collision")) put_collision(u, c, body);
    for (int k = next_below(u, i, -1); k >= 0 && !bad(u); k = next_below(u, i, u->link[k].order))
        put_link(u, k, body, depth + 1);
}

/* One whose mass another has is part of that one, not a body. */
static void put_link(urdf *u, int i, xmlNode *parent, int depth) {
    urdf_link *l = &u->link[i];
    if (depth > DEPTH_LIMIT) ti_xml_fail(&u->error, l->node, NULL, "more than %d links deep", DEPTH_LIMIT);
    if (bad(u)) return;
    l->attached = true;
    xmlNode *body = add(u, parent, l->lent ? "frame" : "body", l->node);
    put(u, body, "name", l->name);
    if (l->joint) put_origin(u, l->joint, body), put_joint(u, l, body);
    if (!bad(u)) put_inside(u, i, body, depth);
}

/* A root called world is the world. */
static void put_root(urdf *u, int i, xmlNode *world) {
    urdf_link *l = &u->link[i];
    if (strcmp(l->name, "world") == 0) {
        l->attached = true;
        put_inside(u, i, world, 0);
        return;
    }
    put_link(u, i, world, 1);
    xmlNode *body = world->last, *first = body ? body->children : NULL;
    if (bad(u) || !u->options || !u->options->free_base) return;
    xmlNode *joint = xmlNewNode(NULL, (const xmlChar *)"freejoint");
    if (!joint)
        u->error.status = TRIBO_E_NOMEM;
    else if (first)
        xmlAddPrevSibling(first, joint);
    else
        xmlAddChild(body, joint);
}

/* What is MuJoCo's own, then what URDF has other than MJCF. */
static void put_options(urdf *u, xmlNode *root) {
    const xmlNode *own = child(u->root, "mujoco");
    for (const xmlNode *c = own ? own->children : NULL; c; c = c->next) {
        if (c->type != XML_ELEMENT_NODE || !ti_xml_listed("compiler option size", (const char *)c->name)) continue;
        xmlNode *copy = xmlDocCopyNode((xmlNode *)(uintptr_t)c, u->doc, 1);
        if (!copy || !xmlAddChild(root, copy)) u->error.status = TRIBO_E_NOMEM;
    }
    xmlNode *units = add(u, root, "compiler", u->root);
    put(u, units, "angle", "radian"), put(u, units, "eulerseq", "XYZ");
}

static void convert(urdf *u) {
    xmlNode *root = xmlNewDocNode(u->doc, NULL, (const xmlChar *)"mujoco", NULL);
    if (!root) {
        u->error.status = TRIBO_E_NOMEM;
        return;
    }
    xmlDocSetRootElement(u->doc, root);
    put(u, root, "model", attr(u, u->root, "name"));
    put_options(u, root);
    u->asset = add(u, root, "asset", u->root);
    xmlNode *world = add(u, root, "worldbody", u->root);
    u->equality = add(u, root, "equality", u->root);
    for (int i = 0; i < u->n && !bad(u); i++)
        if (u->link[i].parent < 0) put_root(u, i, world);
    for (int i = 0; i < u->n; i++)
        if (!u->link[i].attached) ti_xml_fail(&u->error, u->link[i].node, NULL, "it is in a ring of joints");
}

bool ti_urdf_is(xmlDoc *doc) {
    const xmlNode *root = xmlDocGetRootElement(doc);
    return root && ti_xml_is(root, "robot");
}

tribo_status ti_urdf_convert(xmlDoc *doc, const char *path, const tribo_load_options *o, const tribo_allocator *a,
                             xmlDoc **scene, tribo_diag *diag) {
    urdf u = {.alloc = a,
              .options = o,
              .path = path,
              .root = xmlDocGetRootElement(doc),
              .doc = xmlNewDoc((const xmlChar *)"1.0")};
    if (!u.doc) u.error.status = TRIBO_E_NOMEM;
    if (!bad(&u)) find_links(&u);
    if (!bad(&u)) convert(&u);
    ti_free(a, u.link, u.bytes);
    if (u.error.status == TRIBO_OK) {
        *scene = u.doc;
        return TRIBO_OK;
    }
    if (u.doc) xmlFreeDoc(u.doc);
    if (u.error.status == TRIBO_E_NOMEM) return ti_fail(diag, TRIBO_E_NOMEM, 0, "out of memory");
    if (diag) *diag = u.error.diag;
    return u.error.status;
}

tribo_status ti_scene_complete(xmlDoc **doc, const char *path, const tribo_load_options *o, const tribo_allocator *a,
                               ti_xml_source **sources, tribo_diag *diag) {
    if (!ti_urdf_is(*doc)) return ti_mjcf_include(*doc, path, a, sources, diag);
    xmlDoc *scene;
    tribo_status status = ti_urdf_convert(*doc, path, o, a, &scene, diag);
    if (status != TRIBO_OK) return status;
    if (path) scene->URL = xmlStrdup((const xmlChar *)path); /* where its meshes are */
    xmlFreeDoc(*doc);
    *doc = scene;
    return TRIBO_OK;
}
