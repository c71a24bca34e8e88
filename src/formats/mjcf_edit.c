/* mjcf_edit.c -- the elements of a scene file: their attributes where numbers differ. */
#include "formats/mjcf_edit.h"
#include "formats/text.h"
#include "model/inertia.h"
#include "model/shape.h"
#include <math.h>
#include <stdio.h>

/* ---- XML ---- */

static void set_text(ti_edit *e, xmlNode *node, const char *name, const char *text) {
    if (!xmlSetProp(node, (const xmlChar *)name, (const xmlChar *)text)) e->nomem = true;
}

/* Set an attribute to n numbers. */
void ti_edit_set_numbers(ti_edit *e, xmlNode *node, const char *name, const double *x, int n) {
    char text[8 * TI_NUMBER_TEXT] = "", one[TI_NUMBER_TEXT];
    size_t used = 0;
    for (int i = 0; i < n && used < sizeof text; i++) {
        ti_write_number(x[i], one);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", one);
    }
    set_text(e, node, name, text);
}

static void unset(xmlNode *node, const char *list) {
    for (xmlAttr *a = node->properties, *next; a; a = next) {
        next = a->next;
        if (ti_xml_listed(list, (const char *)a->name)) xmlRemoveProp(a);
    }
}

/* A new element inside parent: the first, or the last, in a line of its own like those that are there. */
static xmlNode *insert(ti_edit *e, xmlNode *parent, const char *name, bool first) {
    xmlNode *node = xmlNewNode(NULL, (const xmlChar *)name);
    if (!node) {
        e->nomem = true;
        return NULL;
    }
    xmlNode *head = parent->children, *space = head && head->type == XML_TEXT_NODE ? xmlCopyNode(head, 1) : NULL;
    xmlNode *beside = first ? head : parent->last;
    if (!beside) return xmlAddChild(parent, node);
    if (!first) {
        if (beside->type == XML_TEXT_NODE) beside = beside->prev;
        if (!beside) return xmlFreeNode(space), xmlAddChild(parent, node);
        xmlAddNextSibling(beside, node);
        if (space) xmlAddPrevSibling(node, space);
    } else if (space) {
        xmlAddNextSibling(head, node);
        xmlAddNextSibling(node, space);
    } else {
        xmlAddPrevSibling(head, node);
    }
    return node;
}

static xmlNode *child_named(xmlNode *node, const char *name) {
    for (xmlNode *c = node ? node->children : NULL; c; c = c->next)
        if (c->type == XML_ELEMENT_NODE && ti_xml_is(c, name)) return c;
    return NULL;
}

/* ---- numbers ---- */

/* Does the file have to change for this one? Where reading it involves arithmetic, rounding is forgiven. */
static bool differs(double have, double want, tribo_param_kind kind) {
    bool computed = kind == TRIBO_PARAM_POS || kind == TRIBO_PARAM_QUAT || kind == TRIBO_PARAM_STICTION;
    return computed ? !(fabs(have - want) <= 1e-13 * (1 + fabs(want))) : have != want;
}

static bool any_differs(const ti_edit *e, int at, int n, tribo_param_kind kind) {
    for (int i = at; i < at + n; i++)
        if (differs(e->have[i], e->want[i], kind)) return true;
    return false;
}

static xmlNode *option_of(ti_edit *e) {
    xmlNode *option = NULL; /* the last one counts */
    for (xmlNode *c = e->scene.root->children; c; c = c->next)
        if (c->type == XML_ELEMENT_NODE && ti_xml_is(c, "option")) option = c;
    return option ? option : insert(e, e->scene.root, "option", true);
}

static void edit_gravity(ti_edit *e) {
    if (!any_differs(e, TI_P_GRAVITY, 3, TRIBO_PARAM_GRAVITY)) return;
    xmlNode *option = option_of(e);
    if (option) ti_edit_set_numbers(e, option, "gravity", e->want + TI_P_GRAVITY, 3);
}

static void edit_fluid(ti_edit *e) {
    int at = e->now->fluid;
    if (!at || !any_differs(e, at, TI_P_FLUID, TRIBO_PARAM_DENSITY)) return;
    const double *want = e->want + at;
    xmlNode *option = option_of(e);
    if (!option) return;
    if (want[TI_P_DENSITY] == 0 && want[TI_P_VISCOSITY] == 0)
        ti_xml_fail(&e->scene.error, option, "density", "0, as is viscosity: a scene has no such fluid");
    ti_edit_set_numbers(e, option, "density", want + TI_P_DENSITY, 1);
    ti_edit_set_numbers(e, option, "viscosity", want + TI_P_VISCOSITY, 1);
    ti_edit_set_numbers(e, option, "wind", want + TI_P_WIND, 3);
}

/* These would overrule what is written; without them all masses are as they are written. */
static void let_inertial_count(ti_edit *e) {
    for (xmlNode *c = e->scene.root->children; c; c = c->next)
        if (c->type == XML_ELEMENT_NODE && ti_xml_is(c, "compiler")) {
            if (xmlHasProp(c, (const xmlChar *)"inertiafromgeom")) set_text(e, c, "inertiafromgeom", "auto");
            unset(c, "boundmass boundinertia balanceinertia settotalmass");
        }
}

/* What stands in a <frame> would be moved by it: the body's own takes its place. */
static void drop_framed_inertials(xmlNode *node) {
    for (xmlNode *c = node->children, *next; c; c = next) {
        next = c->next;
        if (c->type != XML_ELEMENT_NODE || !ti_xml_is(c, "frame")) continue;
        xmlNode *inertial = child_named(c, "inertial");
        if (inertial) xmlUnlinkNode(inertial), xmlFreeNode(inertial);
        drop_framed_inertials(c);
    }
}

static bool has_inertial(xmlNode *node) {
    bool found = child_named(node, "inertial") != NULL;
    for (xmlNode *c = node->children; c && !found; c = c->next)
        found = c->type == XML_ELEMENT_NODE && ti_xml_is(c, "frame") && has_inertial(c);
    return found;
}

static bool body_differs(const ti_edit *e, int i) {
    return any_differs(e, e->now->body[i].p, TI_P_BODY, TRIBO_PARAM_MASS);
}

/* An inertia by its moments along axes that a fluid acts along, where these are its own. */
static bool set_axes(ti_edit *e, xmlNode *inertial, const ti_mat *box, const double inertia[6]) {
    ti_mat back = ti_transpose(box);
    double along[6], quat[4];
    memcpy(along, inertia, sizeof along);
    ti_turn_inertia(&back, along);
    for (int k = 3; k < 6; k++)
        if (!(fabs(along[k]) <= 1e-12 * (along[0] + along[1] + along[2]))) return false;
    ti_quat_of(box, quat);
    ti_edit_set_numbers(e, inertial, "quat", quat, 4);
    ti_edit_set_numbers(e, inertial, "diaginertia", along, 3);
    return true;
}

static void edit_body(ti_edit *e, const tribo_model *m, int i) {
    const double *p = e->want + e->now->body[i].p;
    xmlNode *body = e->scene.body[i].node, *inertial = child_named(body, "inertial");
    drop_framed_inertials(body);
    if (!inertial) inertial = insert(e, body, "inertial", true);
    if (!inertial) return;
    if (!e->scene.body[i].inertial) ti_mjcf_take_over(inertial);
    bool products = p[TI_P_INERTIA + 3] != 0 || p[TI_P_INERTIA + 4] != 0 || p[TI_P_INERTIA + 5] != 0;
    unset(inertial, "quat euler axisangle xyaxes zaxis diaginertia fullinertia");
    ti_edit_set_numbers(e, inertial, "pos", p + TI_P_COM, 3);
    ti_edit_set_numbers(e, inertial, "mass", p + TI_P_MASS, 1);
    if (products && m->fluid && set_axes(e, inertial, &m->box[i], p + TI_P_INERTIA))
        ;
    else if (products) /* MuJoCo takes no zeros here, which it does of a diagonal */
        ti_edit_set_numbers(e, inertial, "fullinertia", p + TI_P_INERTIA, 6);
    else
        ti_edit_set_numbers(e, inertial, "diaginertia", p + TI_P_INERTIA, 3);
    let_inertial_count(e);
}

/* What no longer overrules them may have made sense of inertials that have none: all are written. */
static void edit_bodies(ti_edit *e, const tribo_model *m) {
    int n = m->size.nbody;
    bool any = false, overruled = e->scene.inertia == TI_INERTIA_GEOMS || ti_mjcf_mends(&e->scene);
    for (int i = 0; i < n; i++) any |= body_differs(e, i);
    for (int i = 0; i < n; i++)
        if (body_differs(e, i) || (any && overruled && has_inertial(e->scene.body[i].node))) edit_body(e, m, i);
}

/* The numeric of that name, NULL if there is none. */
static xmlNode *find_numeric(const ti_edit *e, const char *name) {
    ti_xml_error none = {0};
    for (xmlNode *c = e->scene.root->children; c; c = c->next) {
        if (c->type != XML_ELEMENT_NODE || !ti_xml_is(c, "custom")) continue;
        for (xmlNode *d = c->children; d; d = d->next) {
            const char *own = d->type == XML_ELEMENT_NODE ? ti_xml_attr(&none, d, "name") : NULL;
            if (own && strcmp(own, name) == 0) return d;
        }
    }
    return NULL;
}

/* The numeric of an owner and word: of the owner's name, or of its body's that lends it. */
static xmlNode *numeric_of(const ti_edit *e, const char *owner, const char *lender, const char *word) {
    char name[TI_PAIR_NAME_MAX + 32];
    snprintf(name, sizeof name, "%s/%s", owner, word);
    xmlNode *node = find_numeric(e, name);
    if (node || !lender) return node;
    snprintf(name, sizeof name, "%s/%s", lender, word);
    return find_numeric(e, name);
}

static void set_numeric(ti_edit *e, const char *owner, const char *lender, const char *word, double x) {
    xmlNode *node = numeric_of(e, owner, lender, word);
    if (!node) {
        char name[TI_PAIR_NAME_MAX + 32];
        snprintf(name, sizeof name, "%s/%s", owner, word);
        xmlNode *custom = child_named(e->scene.root, "custom");
        if (!custom) custom = insert(e, e->scene.root, "custom", false);
        node = custom ? insert(e, custom, "numeric", false) : NULL;
        if (!node) return;
        set_text(e, node, "name", name);
    }
    ti_edit_set_numbers(e, node, "data", &x, 1);
}

static void edit_joint(ti_edit *e, int i) {
    static const char *const word[] = {"damping", "armature", "stiffness", "springref", "frictionloss"};
    int p = e->now->joint[i].p;
    for (int k = 0; k <= TI_P_FRICTIONLOSS; k++) {
        if (!any_differs(e, p + k, 1, (tribo_param_kind)(TRIBO_PARAM_DAMPING + k))) continue;
        double x = e->want[p + k];
        if (k == TI_P_SPRINGREF && e->scene.joint[i].turns) x /= e->scene.angle;
        ti_edit_set_numbers(e, e->scene.joint[i].node, word[k], &x, 1);
    }
    if (e->have[p + TI_P_BOUNCE] != e->want[p + TI_P_BOUNCE])
        set_numeric(e, e->now->joint[i].name, NULL, "limit_restitution", e->want[p + TI_P_BOUNCE]);
    if (!e->now->joint[i].limited || !any_differs(e, p + TI_P_LOWER, 2, TRIBO_PARAM_RANGE)) return;
    double range[2] = {e->want[p + TI_P_LOWER], e->want[p + TI_P_UPPER]}, unit = e->scene.angle;
    for (int k = 0; k < 2 && e->scene.joint[i].turns; k++) range[k] /= unit;
    ti_edit_set_numbers(e, e->scene.joint[i].node, "range", range, 2);
}

static void edit_free(ti_edit *e, int body) {
    static const char *const word[TI_P_FREE] = {"damping", "armature", "frictionloss"};
    int free = e->now->body[body].free, p = free >= 0 ? e->now->joint[free].p : -1;
    for (int k = 0; p >= 0 && k < TI_P_FREE; k++)
        if (e->have[p + k] != e->want[p + k])
            ti_edit_set_numbers(e, e->scene.body[body].free, word[k], e->want + p + k, 1);
}

/* A range where it is in force, which the element says itself from now on. */
static void edit_range(ti_edit *e, xmlNode *node, const char *range, const char *limited, int at, bool in_force) {
    if (!in_force || !any_differs(e, at, 2, TRIBO_PARAM_CTRLRANGE)) return;
    ti_edit_set_numbers(e, node, range, e->want + at, 2);
    set_text(e, node, limited, "true");
    if (strcmp(range, "ctrlrange") == 0) unset(node, "inheritrange");
}

static void edit_gear(ti_edit *e, xmlNode *node, const ti_actuator *a) {
    double gear[1 + TI_P_MORE_GEARS] = {e->want[a->p + TI_P_GEAR]};
    bool sited = a->site >= 0, differs = any_differs(e, a->p + TI_P_GEAR, 1, TRIBO_PARAM_GEAR);
    differs = differs || (sited && any_differs(e, a->more, TI_P_MORE_GEARS, TRIBO_PARAM_GEAR));
    if (sited) memcpy(gear + 1, e->want + a->more, TI_P_MORE_GEARS * sizeof *gear);
    if (differs) ti_edit_set_numbers(e, node, "gear", gear, sited ? 1 + TI_P_MORE_GEARS : 1);
}

/* A gain or bias that no motor or servo has makes it a general actuator. */
static void edit_actuator(ti_edit *e, int i) {
    const ti_actuator *a = &e->now->actuator[i];
    xmlNode *node = e->scene.actuator[i].node;
    const double *p = e->want + a->p;
    edit_gear(e, node, a);
    edit_range(e, node, "ctrlrange", "ctrllimited", a->p + TI_P_CTRLRANGE, a->ctrl_limited);
    edit_range(e, node, "forcerange", "forcelimited", a->p + TI_P_FORCERANGE, a->force_limited);
    if (!any_differs(e, a->p + TI_P_GAIN, 6, TRIBO_PARAM_GAIN)) return;
    if (a->ctrl_limited) { /* what a damper has without saying so */
        ti_edit_set_numbers(e, node, "ctrlrange", p + TI_P_CTRLRANGE, 2);
        set_text(e, node, "ctrllimited", "true");
    }
    xmlNodeSetName(node, (const xmlChar *)"general");
    unset(node, "kp kv dampratio inheritrange");
    set_text(e, node, "gaintype", "affine"), set_text(e, node, "biastype", "affine");
    ti_edit_set_numbers(e, node, "gainprm", p + TI_P_GAIN, 3),
        ti_edit_set_numbers(e, node, "biasprm", p + TI_P_BIAS, 3);
}

static void edit_tendon(ti_edit *e, int i) {
    edit_range(e, e->scene.tendon[i].node, "range", "limited", e->now->tendon[i].p, true);
}

/* Friction sits in the element, with numbers behind it that are kept; a static one moves along with it. */
static void set_friction(ti_edit *e, xmlNode *node, int class, int at) {
    const double *want = e->want + at, *have = e->have + at;
    double f[5] = {1, 0.005, 0.0001}, condim = have[TI_M_ROLLING] > 0 ? 6 : have[TI_M_TORSION] > 0 ? 4 : 3;
    int pair = ti_xml_is(node, "pair"), needed = want[TI_M_ROLLING] > 0 ? 6 : want[TI_M_TORSION] > 0 ? 4 : 3;
    if (pair) f[1] = 1, f[2] = 0.005, f[3] = f[4] = 0.0001;
    ti_mjcf_numbers(&e->scene, node, class, "friction", f, 1, pair ? 5 : 3);
    int n = ti_mjcf_numbers(&e->scene, node, -1, "friction", f, 1, pair ? 5 : 3), least = 1 + pair; /* its own */
    f[0] = want[TI_M_FRICTION];
    if (pair) f[1] = f[0];
    ti_mjcf_numbers(&e->scene, node, class, "condim", &condim, 1, 1);
    if (condim < needed) set_text(e, node, "condim", needed == 3 ? "3" : needed == 4 ? "4" : "6"), condim = needed;
    if (condim > 3) f[1 + pair] = want[TI_M_TORSION], least = 2 + pair;
    if (condim > 4) f[2 + pair] = want[TI_M_ROLLING], least = 3 + 2 * pair;
    if (pair) f[4] = f[3];
    ti_edit_set_numbers(e, node, "friction", f, n < least ? least : n);
}

/* The numbers of a geom's or pair's material, at p[at]. */
/* Whether the numbers of `friction` differ. */
static bool rubs_otherwise(const ti_edit *e, int at) {
    static const int OFFSET[] = {TI_M_FRICTION, TI_M_TORSION, TI_M_ROLLING};
    for (size_t i = 0; i < sizeof OFFSET / sizeof *OFFSET; i++)
        if (e->have[at + OFFSET[i]] != e->want[at + OFFSET[i]]) return true;
    return false;
}

static void edit_material(ti_edit *e, xmlNode *node, int class, int at, const char *owner, const char *lender) {
    static const struct {
        int offset;
        const char *word;
    } SIMPLE[] = {{TI_M_RESTITUTION, "restitution"},
                  {TI_M_BAUMGARTE, "baumgarte"},
                  {TI_M_SLOP, "slop"},
                  {TI_M_COMPLIANCE, "compliance"}};
    for (size_t i = 0; i < sizeof SIMPLE / sizeof *SIMPLE; i++) {
        int k = at + SIMPLE[i].offset;
        if (e->have[k] != e->want[k]) set_numeric(e, owner, lender, SIMPLE[i].word, e->want[k]);
    }
    double friction = e->want[at + TI_M_FRICTION], stiction = e->want[at + TI_M_STICTION];
    bool kinetic = e->have[at + TI_M_FRICTION] != friction;
    if (rubs_otherwise(e, at)) set_friction(e, node, class, at);
    if (!kinetic && !differs(e->have[at + TI_M_STICTION], stiction, TRIBO_PARAM_STICTION)) return;
    bool total = numeric_of(e, owner, lender, "friction_static") != NULL;
    if (total)
        set_numeric(e, owner, lender, "friction_static", friction + stiction);
    else if (e->have[at + TI_M_STICTION] != stiction)
        set_numeric(e, owner, lender, "stiction", stiction);
}

/* What is given by its ends is given by its size and pose from now on. */
static void drop_ends(ti_edit *e, xmlNode *node, int class) {
    unset(node, "fromto");
    if (ti_mjcf_attr(&e->scene, node, class, "fromto"))
        ti_xml_fail(&e->scene.error, node, "size", "its class has fromto, which overrules it");
}

static void set_orientation(ti_edit *e, xmlNode *node, int class, const double quat[4]) {
    unset(node, "euler axisangle xyaxes zaxis");
    ti_edit_set_numbers(e, node, "quat", quat, 4);
    const char *kind = ti_mjcf_overrules_quat(&e->scene, node, class);
    if (kind) ti_xml_fail(&e->scene.error, node, "quat", "its class has %s, which overrules it", kind);
}

/* A pose in a body, as it is seen from a frame of the file. */
static void seen_from(const ti_frame *f, double pos[3], double quat[4]) {
    double back[4] = {f->quat[0], -f->quat[1], -f->quat[2], -f->quat[3]};
    ti_mat R = ti_quat_mat(f->quat);
    ti_store3(pos, ti_tmul(&R, ti_sub(ti_load3(pos), ti_load3(f->pos))));
    ti_quat_mul(back, quat, quat);
}

/* A geom's pose as the file has it: seen from the static body it is in, of a mesh that of its vertices. */
static void pose_in_file(const ti_edit *e, int i, double pos[3], double quat[4]) {
    const double *p = e->want + e->now->geom[i].p;
    memcpy(pos, p + TI_P_POS, 3 * sizeof *pos), memcpy(quat, p + TI_P_QUAT, 4 * sizeof *quat);
    if (e->now->geom[i].mesh) ti_mesh_unplace(e->now->geom[i].mesh, pos, quat);
    seen_from(&e->scene.geom[i].frame, pos, quat);
}

/* The size of a height field is its asset's: one of all its geoms. */
static void set_field_size(ti_edit *e, int i) {
    const ti_geom *g = &e->now->geom[i];
    double size[4];
    for (int k = 0; k < e->now->size.ngeom; k++) {
        const ti_geom *o = &e->now->geom[k];
        if (o->mesh == g->mesh && memcmp(e->want + o->p + TI_P_SIZE, e->want + g->p + TI_P_SIZE, 3 * sizeof *size) != 0)
            ti_xml_fail(&e->scene.error, e->scene.geom[i].node, "hfield", "geoms of one height field have one size");
    }
    for (int k = 0; k < e->scene.nmesh; k++) {
        const ti_mjcf_mesh *m = &e->scene.mesh[k];
        if (m->id != (int)(g->mesh - e->now->mesh) || !ti_mjcf_field_size(&e->scene, m->node, size)) continue;
        memcpy(size, e->want + g->p + TI_P_SIZE, 3 * sizeof *size);
        ti_edit_set_numbers(e, (xmlNode *)(uintptr_t)m->node, "size", size, 4);
    }
}

/* Write a geom's size, and its pose. */
static void edit_pose(ti_edit *e, int i) {
    const ti_mjcf_geom *g = &e->scene.geom[i];
    int at = e->now->geom[i].p, nsize = ti_shape_of(e->now->geom[i].shape)->nsize;
    const double *p = e->want + e->now->geom[i].p;
    double pos[3], quat[4];
    pose_in_file(e, i, pos, quat);
    bool sized = any_differs(e, at + TI_P_SIZE, nsize, TRIBO_PARAM_SIZE);
    bool placed = any_differs(e, at + TI_P_POS, 3, TRIBO_PARAM_POS);
    bool turned = any_differs(e, at + TI_P_QUAT, 4, TRIBO_PARAM_QUAT);
    if ((sized || placed || turned) && ti_mjcf_attr(&e->scene, g->node, g->class, "fromto")) {
        drop_ends(e, g->node, g->class);
        sized = placed = turned = true;
    }
    if ((sized || placed || turned) && !e->now->geom[i].mesh && ti_mjcf_attr(&e->scene, g->node, g->class, "mesh")) {
        unset(g->node, "mesh fitscale"); /* it was fitted */
        if (ti_mjcf_attr(&e->scene, g->node, g->class, "mesh"))
            ti_xml_fail(&e->scene.error, g->node, "size", "its class has mesh, which overrules it");
        sized = placed = turned = true;
    }
    if (e->now->geom[i].mesh) placed = turned = placed || turned;
    if (sized && e->now->geom[i].shape == TRIBO_HFIELD) {
        set_field_size(e, i);
        sized = false;
    }
    if (sized && e->now->geom[i].mesh) {
        ti_xml_fail(&e->scene.error, g->node, "size",
                    "a mesh that is stretched along its axes of inertia cannot be written");
        return;
    }
    if (sized) ti_edit_set_numbers(e, g->node, "size", p + TI_P_SIZE, nsize);
    if (placed) ti_edit_set_numbers(e, g->node, "pos", pos, 3);
    if (turned) set_orientation(e, g->node, g->class, quat);
}

static void edit_site(ti_edit *e, int i) {
    const ti_mjcf_site_rec *s = &e->scene.site[i];
    const double *p = e->want + e->now->site[i].p;
    int at = e->now->site[i].p;
    double pos[3], quat[4];
    bool placed = any_differs(e, at + TI_P_SITE_POS, 3, TRIBO_PARAM_POS);
    bool turned = any_differs(e, at + TI_P_SITE_QUAT, 4, TRIBO_PARAM_QUAT);
    if (!placed && !turned) return;
    memcpy(pos, p + TI_P_SITE_POS, sizeof pos), memcpy(quat, p + TI_P_SITE_QUAT, sizeof quat);
    seen_from(&s->frame, pos, quat);
    if (ti_mjcf_attr(&e->scene, s->node, s->class, "fromto")) {
        drop_ends(e, s->node, s->class);
        placed = turned = true;
    }
    if (placed) ti_edit_set_numbers(e, s->node, "pos", pos, 3);
    if (turned) set_orientation(e, s->node, s->class, quat);
}

static void edit_geom(ti_edit *e, int i) {
    const ti_geom *g = &e->now->geom[i];
    xmlNode *node = e->scene.geom[i].node;
    edit_pose(e, i);
    const char *lender = NULL;
    if (g->body >= 0 && e->now->body[g->body].ngeom == 1 &&
        tribo_model_geom_find(e->now, e->now->body[g->body].name) < 0)
        lender = e->now->body[g->body].name;
    int edge = g->p + TI_P_EDGE_RADIUS;
    if (e->have[edge] != e->want[edge]) set_numeric(e, g->name, lender, "edge_radius", e->want[edge]);
    edit_material(e, node, e->scene.geom[i].class, g->p + TI_P_MATERIAL, g->name, lender);
}

void ti_edit_scene(ti_edit *e, const tribo_model *m) {
    edit_gravity(e);
    edit_fluid(e);
    edit_bodies(e, m);
    for (int i = 0; i < m->size.njoint; i++) edit_joint(e, i);
    for (int i = 0; i < m->size.nbody; i++) edit_free(e, i);
    for (int i = 0; i < m->size.nactuator; i++) edit_actuator(e, i);
    for (int i = 0; i < m->size.ntendon; i++) edit_tendon(e, i);
    for (int i = 0; i < m->size.nsite; i++) edit_site(e, i);
    for (int i = 0; i < m->size.ngeom; i++) edit_geom(e, i);
    int at = m->size.np - m->size.npair * TI_P_PAIR;
    for (int i = 0; i < m->size.npair; i++, at += TI_P_PAIR)
        edit_material(e, e->scene.pair[i].node, e->scene.pair[i].class, at, m->pair_name[i], NULL);
    for (const ti_mjcf_pair *t = e->scene.twin; t < e->scene.twin + e->scene.ntwin; t++) {
        int of = m->size.np - (m->size.npair - t->again) * TI_P_PAIR;
        if (rubs_otherwise(e, of)) set_friction(e, t->node, t->class, of);
    }
}
