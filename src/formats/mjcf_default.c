/* mjcf_default.c -- classes of defaults, and attributes looked up through them. */
#include "formats/mjcf_reading.h"
#include <math.h>

/* What a geom may say. solref, solimp and solmix describe how soft MuJoCo's contact is: hard contact has no use for
 * them. rgba, group, material and user change nothing that moves. */
const char TI_MJCF_GEOM_ATTR[] =
    "name class type size mass density fromto pos quat euler axisangle xyaxes zaxis friction "
    "priority contype conaffinity condim margin gap solref solimp solmix rgba group "
    "material user";
const char TI_MJCF_PAIR_ATTR[] = "name class geom1 geom2 friction condim margin gap solref solimp solreffriction";
const char TI_MJCF_JOINT_ATTR[] =
    "name class type group user limited damping armature frictionloss stiffness springref ref range margin pos axis "
    "solreflimit solimplimit solreffriction solimpfriction springdamper actuatorfrclimited actuatorfrcrange";
const char TI_MJCF_JOINT_ZERO[] = "margin springdamper";
const char TI_MJCF_SOFTNESS_ZERO[] = "margin gap";

static const char ORIENTATION[] = "quat euler axisangle xyaxes zaxis";
static const char VISUAL[] = "site camera light material";

void ti_mjcf_settle(ti_mjcf *r) {
    if (r->builder->status == TRIBO_OK || ti_mjcf_bad(r)) return;
    r->error.status = r->builder->status;
    r->error.diag = r->builder->diag;
}

static const xmlNode *of_class(const ti_mjcf *r, int class, const xmlNode *like) {
    const ti_mjcf_class *c = &r->class[class];
    if (ti_xml_is(like, "joint")) return c->joint;
    return ti_xml_is(like, "pair") ? c->pair : ti_xml_is(like, "geom") ? c->geom : NULL;
}

int ti_mjcf_class_find(ti_mjcf *r, const xmlNode *node, const char *attribute, const char *name) {
    for (int i = 0; i < r->nclass; i++)
        if (strcmp(r->class[i].name, name) == 0) return i;
    ti_xml_fail(&r->error, node, attribute, "there is no class `%.60s`", name);
    return -1;
}

/* The element that says it: the one given, or that of the nearest class; NULL if none does. */
static const xmlNode *speaker(ti_mjcf *r, const xmlNode *node, int class, const char *name) {
    if (ti_xml_attr(&r->error, node, name)) return node;
    for (int c = class; c >= 0; c = r->class[c].parent) {
        const xmlNode *defaults = of_class(r, c, node);
        if (defaults && ti_xml_attr(&r->error, defaults, name)) return defaults;
    }
    return NULL;
}

const char *ti_mjcf_attr(ti_mjcf *r, const xmlNode *node, int class, const char *name) {
    const xmlNode *at = speaker(r, node, class, name);
    return at ? ti_xml_attr(&r->error, at, name) : NULL;
}

int ti_mjcf_numbers(ti_mjcf *r, const xmlNode *node, int class, const char *name, double *out, int least, int most) {
    const xmlNode *at = speaker(r, node, class, name);
    if (!at) return 0;
    int n = ti_xml_numbers(&r->error, at, name, ti_xml_attr(&r->error, at, name), out, most);
    if (n >= 0 && n < least) ti_xml_fail(&r->error, at, name, "%d numbers, expected %d", n, least);
    return n < least ? 0 : n;
}

void ti_mjcf_zero(ti_mjcf *r, const xmlNode *node, const char *list) {
    for (const xmlAttr *a = node->properties; a; a = a->next) {
        const char *name = (const char *)a->name;
        if (!ti_xml_listed(list, name)) continue;
        double x[8];
        const char *text = ti_xml_attr(&r->error, node, name);
        int n = text ? ti_xml_numbers(&r->error, node, name, text, x, 8) : 0;
        for (int i = 0; i < n; i++)
            if (x[i] != 0) ti_xml_fail(&r->error, node, name, "only 0 is supported");
    }
}

static void axis_quat(ti_vec axis, double angle, double quat[4]) {
    ti_quat_exp(ti_scale(angle / ti_norm(axis), axis), quat);
}

static void euler_quat(const ti_mjcf *r, const double e[3], double quat[4]) {
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

void ti_mjcf_orientation(ti_mjcf *r, const xmlNode *node, int class, double quat[4]) {
    double a[6];
    const xmlNode *at = node;
    const char *kind = orientation_of(r, node);
    for (int c = class; c >= 0; c = r->class[c].parent) {
        const xmlNode *defaults = of_class(r, c, node);
        const char *inherited = defaults ? orientation_of(r, defaults) : NULL;
        if (!inherited) continue;
        /* MuJoCo lets every other kind overrule a quat, and refuses two others. */
        if (kind && strcmp(kind, inherited) != 0 && strcmp(inherited, "quat") != 0)
            ti_xml_fail(&r->error, node, kind, "its class has %s, which overrules it", inherited);
        if (!kind) at = defaults, kind = inherited;
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
        euler_quat(r, a, quat);
    else if (strcmp(kind, "zaxis") == 0)
        zaxis_quat(ti_load3(a), quat);
    else
        axis_quat(ti_load3(a), r->angle * a[3], quat);
    double norm = sqrt(quat[0] * quat[0] + quat[1] * quat[1] + quat[2] * quat[2] + quat[3] * quat[3]);
    if (!(norm > 1e-12) || !isfinite(norm)) ti_xml_fail(&r->error, at, kind, "this is no orientation");
    for (int i = 0; i < 4 && !ti_mjcf_bad(r); i++) quat[i] /= norm;
}

static int add_class(ti_mjcf *r, const xmlNode *node, int parent) {
    const char *name = ti_xml_attr(&r->error, node, "class");
    ti_xml_allow(&r->error, node, "class");
    if (!name && parent >= 0) ti_xml_fail(&r->error, node, "class", "a nested default needs a class");
    if (!name) name = "main";
    for (int i = 0; i < r->nclass; i++)
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

void ti_mjcf_defaults(ti_mjcf *r, const xmlNode *node) {
    bool top = node->parent == r->root;
    int parent = -1;
    if (top && r->nclass > 0) ti_xml_fail(&r->error, node, NULL, "there is a default already: nest classes in it");
    for (int i = 0; i < r->nclass && !top; i++)
        if (r->class[i].node == node->parent) parent = i;
    int class = add_class(r, node, parent);
    if (class < 0) return;
    for (xmlNode *c = ti_xml_child(&r->error, node); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c)) {
        if (ti_xml_is(c, "geom") && !r->class[class].geom) {
            ti_xml_allow(&r->error, c, TI_MJCF_GEOM_ATTR);
            r->class[class].geom = c;
        } else if (ti_xml_is(c, "pair") && !r->class[class].pair) {
            ti_xml_allow(&r->error, c, TI_MJCF_PAIR_ATTR);
            r->class[class].pair = c;
        } else if (ti_xml_is(c, "default")) {
            ti_mjcf_defaults(r, c);
        } else if (ti_xml_is(c, "joint") && !r->class[class].joint) {
            ti_xml_allow(&r->error, c, TI_MJCF_JOINT_ATTR);
            ti_mjcf_zero(r, c, TI_MJCF_JOINT_ZERO);
            r->class[class].joint = c;
        } else if (!ti_xml_listed(VISUAL, (const char *)c->name)) {
            ti_xml_fail(&r->error, c, NULL, "not supported here, or twice");
        }
    }
}
