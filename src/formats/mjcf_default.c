/* mjcf_default.c -- classes of defaults, and attributes looked up through them. */
#include "formats/mjcf_reading.h"
#include <math.h>

static const char ORIENTATION[] = "quat euler axisangle xyaxes zaxis";

void ti_mjcf_at(ti_mjcf *r, const xmlNode *node) {
    r->at = node;
    r->builder->line = ti_xml_top_line(node);
}

void ti_mjcf_settle(ti_mjcf *r) {
    if (r->builder->status == TRIBO_OK || ti_mjcf_bad(r)) return;
    tribo_diag diag = r->builder->diag;
    if (ti_xml_source_of(r->at)) /* say where, of all files */
        ti_xml_fail(&r->error, r->at, NULL, "%s", diag.text);
    else
        r->error.diag = diag;
    r->error.status = r->builder->status;
}

int ti_mjcf_class_of(ti_mjcf *r, const xmlNode *node, int inherited) {
    const char *named = ti_xml_attr(&r->error, node, "class");
    return named ? ti_mjcf_class_find(r, node, "class", named) : inherited;
}

int ti_mjcf_choice(ti_mjcf *r, const xmlNode *node, int class, const char *name, const char *const *words,
                   int fallback) {
    const char *value = ti_mjcf_attr(r, node, class, name);
    if (!value) return fallback;
    for (int i = 0; words[i]; i++)
        if (strcmp(value, words[i]) == 0) return i;
    ti_xml_fail(&r->error, node, name, "`%.40s` is none of its words", value);
    return -1;
}

int ti_mjcf_class_find(ti_mjcf *r, const xmlNode *node, const char *attribute, const char *name) {
    for (int i = r->nclass - 1; i >= 0; i--) /* of several `main`, the last has all of them */
        if (strcmp(r->class[i].name, name) == 0) return i;
    ti_xml_fail(&r->error, node, attribute, "there is no class `%.60s`", name);
    return -1;
}

static const char DRIVES[] = "general motor position velocity intvelocity damper cylinder muscle adhesion";
/* Whether what element c of a class says of an attribute is meant for a node: kinds are told apart, but all actuators
 * of a class have what all of them have together. */
static bool speaks_for(const xmlNode *c, const xmlNode *node, const char *name) {
    const char *kind = (const char *)node->name;
    if (c->type != XML_ELEMENT_NODE) return false;
    if (ti_xml_is(c, ti_xml_listed("fixed spatial", kind) ? "tendon" : kind)) return true;
    return ti_xml_listed(DRIVES, (const char *)c->name) && ti_xml_listed(DRIVES, kind) &&
           ti_xml_listed("gear ctrllimited ctrlrange forcelimited forcerange", name);
}

/* The element that says it: the one given, or the last of the nearest class; NULL if none does. */
static const xmlNode *speaker(ti_mjcf *r, const xmlNode *node, int class, const char *name) {
    const xmlNode *found = ti_xml_attr(&r->error, node, name) ? node : NULL;
    for (int c = class; c >= 0 && !found; c = r->class[c].parent)
        for (const xmlNode *d = r->class[c].node->children; d; d = d->next)
            if (speaks_for(d, node, name) && ti_xml_attr(&r->error, d, name)) found = d;
    return found;
}

const char *ti_mjcf_attr(ti_mjcf *r, const xmlNode *node, int class, const char *name) {
    const xmlNode *at = speaker(r, node, class, name);
    return at ? ti_xml_attr(&r->error, at, name) : NULL;
}

/* Arrays that need not be given whole: what is left out stays as it was. */
static const char PARTIAL[] = "size friction gear gainprm biasprm polycoef";

/* Those that one element gives, over what is there. @return how many are, had being there before */
static int put_numbers(ti_mjcf *r, const xmlNode *at, const char *name, double *out, int least, int most, int had) {
    const char *text = ti_xml_attr(&r->error, at, name);
    int n = text ? ti_xml_numbers(&r->error, at, name, text, out, most) : 0;
    if (text && n >= 0 && n < least && !ti_xml_listed(PARTIAL, name))
        ti_xml_fail(&r->error, at, name, "%d numbers, expected %d", n, least);
    return n > had ? n : had;
}

/* Those of a class, from what it inherits on. */
static int put_defaults(ti_mjcf *r, const xmlNode *node, int class, const char *name, double *out, int least,
                        int most) {
    int n = class < 0 ? 0 : put_defaults(r, node, r->class[class].parent, name, out, least, most);
    for (const xmlNode *d = class < 0 ? NULL : r->class[class].node->children; d; d = d->next)
        if (speaks_for(d, node, name)) n = put_numbers(r, d, name, out, least, most, n);
    return n;
}

int ti_mjcf_numbers(ti_mjcf *r, const xmlNode *node, int class, const char *name, double *out, int least, int most) {
    int n = put_numbers(r, node, name, out, least, most, put_defaults(r, node, class, name, out, least, most));
    const xmlNode *at = n < least && !ti_mjcf_bad(r) ? speaker(r, node, class, name) : NULL;
    if (at) ti_xml_fail(&r->error, at, name, "%d numbers, expected %d", n, least);
    return ti_mjcf_bad(r) || n < least ? 0 : n;
}

static void axis_quat(ti_vec axis, double angle, double quat[4]) {
    ti_quat_exp(ti_scale(angle / ti_norm(axis), axis), quat);
}

void ti_mjcf_euler(const ti_mjcf *r, const double e[3], double quat[4]) {
    quat[0] = 1, quat[1] = quat[2] = quat[3] = 0;
    for (int i = 0; i < 3; i++) {
        char c = r->eulerseq[i];
        bool fixed = c < 'a'; /* upper case: about the fixed axes */
        double turn[4], axis[3] = {0, 0, 0};
        axis[(fixed ? c - 'X' : c - 'x')] = r->angle * e[i];
        ti_quat_exp(ti_load3(axis), turn);
        if (fixed)
            ti_quat_mul(turn, quat, quat);
        else
            ti_quat_mul(quat, turn, quat);
    }
}

/* Quaternion of a rotation matrix, by its largest component. */
static void mat_quat(const ti_mat *R, double q[4]) {
    double t[4] = {R->m[0][0] + R->m[1][1] + R->m[2][2], R->m[0][0] - R->m[1][1] - R->m[2][2],
                   R->m[1][1] - R->m[0][0] - R->m[2][2], R->m[2][2] - R->m[0][0] - R->m[1][1]};
    int big = 0;
    for (int i = 1; i < 4; i++)
        if (t[i] > t[big]) big = i;
    double d[3] = {R->m[2][1] - R->m[1][2], R->m[0][2] - R->m[2][0], R->m[1][0] - R->m[0][1]};
    double s[3] = {R->m[2][1] + R->m[1][2], R->m[0][2] + R->m[2][0], R->m[1][0] + R->m[0][1]};
    double twice = sqrt(1 + t[big]);
    q[big] = twice / 2;
    for (int i = 0; i < 3; i++) {
        if (big == 0)
            q[i + 1] = d[i] / (2 * twice);
        else if (i + 1 == big)
            q[0] = d[i] / (2 * twice);
        else
            q[i + 1] = s[3 - (big - 1) - i] / (2 * twice); /* the axis that is neither */
    }
}

static void axes_quat(const double a[6], double quat[4]) {
    ti_vec x = ti_load3(a), y = ti_load3(a + 3);
    x = ti_scale(1 / ti_norm(x), x);
    y = ti_axpy(y, -ti_dot(x, y), x);
    y = ti_scale(1 / ti_norm(y), y);
    ti_vec z = ti_cross(x, y);
    ti_mat R = {{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
    mat_quat(&R, quat);
}

/* The smallest turn that brings z to the given direction. */
static void zaxis_quat(ti_vec to, double quat[4]) {
    ti_vec axis = ti_cross(ti_vec3(0, 0, 1), to);
    double sine = ti_norm(axis);
    if (sine < 1e-10 * ti_norm(to)) axis = ti_vec3(1, 0, 0);
    axis_quat(axis, atan2(sine, to.z), quat);
}

bool ti_mjcf_ends(ti_mjcf *r, const xmlNode *node, int class, double *half, double pos[3], double quat[4]) {
    double end[6];
    if (!ti_mjcf_numbers(r, node, class, "fromto", end, 6, 6)) return false;
    if (speaker(r, node, class, "pos")) ti_xml_fail(&r->error, node, "fromto", "given together with pos");
    ti_vec from = ti_load3(end), to = ti_load3(end + 3), z = ti_sub(from, to);
    *half = ti_norm(z) / 2;
    if (!(*half > 0)) ti_xml_fail(&r->error, node, "fromto", "two different points expected");
    ti_store3(pos, ti_scale(0.5, ti_add(from, to)));
    zaxis_quat(z, quat);
    return true;
}

/* The one attribute of orientation that an element has, NULL if none. */
static const char *orientation_of(ti_mjcf *r, const xmlNode *node) {
    const char *found = NULL;
    for (const xmlAttr *a = node->properties; a; a = a->next) {
        if (!ti_xml_listed(ORIENTATION, (const char *)a->name)) continue;
        if (found) ti_xml_fail(&r->error, node, found, "given together with %s", (const char *)a->name);
        found = (const char *)a->name;
    }
    return found;
}

const char *ti_mjcf_overrules_quat(ti_mjcf *r, const xmlNode *node, int class) {
    for (int c = class; c >= 0; c = r->class[c].parent) {
        const xmlNode *defaults = ti_mjcf_default_of(r, c, node);
        const char *inherited = defaults ? orientation_of(r, defaults) : NULL;
        if (inherited && strcmp(inherited, "quat") != 0) return inherited;
    }
    return NULL;
}

void ti_mjcf_orientation(ti_mjcf *r, const xmlNode *node, int class, double quat[4]) {
    double a[6];
    const xmlNode *at = node;
    const char *kind = orientation_of(r, node);
    for (int c = class; c >= 0; c = r->class[c].parent) {
        const xmlNode *defaults = ti_mjcf_default_of(r, c, node);
        const char *inherited = defaults ? orientation_of(r, defaults) : NULL;
        if (!inherited) continue;
        /* MuJoCo lets every other kind overrule a quat, also that of a class one that is nearer. */
        bool overrules = kind && strcmp(kind, "quat") == 0 && strcmp(inherited, "quat") != 0;
        if (!kind || overrules) at = defaults, kind = inherited;
    }
    quat[0] = 1, quat[1] = quat[2] = quat[3] = 0;
    if (!kind) return;
    bool is_quat = strcmp(kind, "quat") == 0, is_axes = strcmp(kind, "xyaxes") == 0;
    int want = is_axes ? 6 : is_quat || strcmp(kind, "axisangle") == 0 ? 4 : 3;
    if (!ti_mjcf_numbers(r, at, -1, kind, a, want, want)) return;
    if (is_quat)
        memcpy(quat, a, 4 * sizeof *quat);
    else if (is_axes)
        axes_quat(a, quat);
    else if (strcmp(kind, "euler") == 0)
        ti_mjcf_euler(r, a, quat);
    else if (strcmp(kind, "zaxis") == 0)
        zaxis_quat(ti_load3(a), quat);
    else
        axis_quat(ti_load3(a), r->angle * a[3], quat);
    double norm = sqrt(quat[0] * quat[0] + quat[1] * quat[1] + quat[2] * quat[2] + quat[3] * quat[3]);
    if (!(norm > 1e-12) || !isfinite(norm)) ti_xml_fail(&r->error, at, kind, "this is no orientation");
    for (int i = 0; i < 4 && !ti_mjcf_bad(r); i++) quat[i] /= norm;
}

ti_frame ti_mjcf_frame(ti_mjcf *r, const xmlNode *node, int class) {
    ti_frame f = {{0, 0, 0}, {1, 0, 0, 0}};
    ti_mjcf_numbers(r, node, class, "pos", f.pos, 3, 3);
    ti_mjcf_orientation(r, node, class, f.quat);
    return f;
}

int ti_mjcf_enter(ti_mjcf *r, const xmlNode *node, int childclass, const ti_frame *in, ti_frame *frame) {
    const char *class = ti_xml_attr(&r->error, node, "childclass");
    if (class) childclass = ti_mjcf_class_find(r, node, "childclass", class);
    ti_frame own = ti_mjcf_frame(r, node, -1);
    *frame = ti_frame_mul(in, &own);
    return childclass;
}

/* Another `main` goes on where the last one ended. */
static int add_class(ti_mjcf *r, const xmlNode *node, int parent) {
    const char *name = ti_xml_attr(&r->error, node, "class");
    bool top = node->parent == r->root;
    if (!name && !top) ti_xml_fail(&r->error, node, "class", "a nested default needs a class");
    if (!name) name = "main";
    for (int i = 0; i < r->nclass && !top; i++)
        if (strcmp(r->class[i].name, name) == 0)
            ti_xml_fail(&r->error, node, "class", "class `%.60s` is defined twice", name);
    ti_mjcf_class *grown = ti_grow(&r->alloc, r->class, &r->class_bytes, (size_t)(r->nclass + 1) * sizeof *r->class);
    if (!grown) {
        r->error.status = TRIBO_E_NOMEM;
        return -1;
    }
    r->class = grown;
    r->class[r->nclass] = (ti_mjcf_class){.name = name, .parent = parent, .node = node};
    return r->nclass++;
}

/* Whether there are defaults for such elements at all: those of MuJoCo's, of which most stand in bodies. */
static bool has_defaults(const xmlNode *node) {
    static const char *const PARENT[] = {"body", "asset", "contact", "actuator"};
    static const char NONE[] =
        "body frame inertial freejoint replicate attach composite flexcomp plugin texture hfield "
        "skin model exclude";
    if (ti_xml_listed("equality tendon", (const char *)node->name)) return true;
    if (ti_xml_listed(NONE, (const char *)node->name)) return false;
    for (size_t i = 0; i < sizeof PARENT / sizeof *PARENT; i++)
        if (ti_mjcf_rule_of(PARENT[i], (const char *)node->name)) return true;
    return false;
}

void ti_mjcf_defaults(ti_mjcf *r, const xmlNode *node) {
    int parent = node->parent == r->root ? r->main : -1;
    for (int i = 0; i < r->nclass && node->parent != r->root; i++)
        if (r->class[i].node == node->parent) parent = i;
    int class = add_class(r, node, parent);
    if (class < 0) return;
    if (node->parent == r->root) r->main = class;
    ti_mjcf_judge(r, node, -1, "default");
    for (xmlNode *c = ti_xml_child(&r->error, node); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c)) {
        if (ti_xml_is(c, "default"))
            ti_mjcf_defaults(r, c);
        else if (!has_defaults(c))
            ti_mjcf_need_of(r, c, NULL, (const char *)c->name, "this element is not supported here");
        else if (ti_mjcf_default_of(r, class, c) != c)
            ti_xml_fail(&r->error, c, NULL, "given twice");
    }
}
