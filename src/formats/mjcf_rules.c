/* mjcf_rules.c -- what becomes of every element and attribute of MJCF, and the list of what a file needs that is not
 * there. docs/mjcf.md has the same table; a test compares the two. */
#include "formats/mjcf_reading.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define POSED "pos quat euler axisangle xyaxes zaxis"
#define DRIVEN                                                                                                         \
    "name class joint tendon site gear ctrllimited ctrlrange forcelimited forcerange" /* what all actuators have */
#define DRIVEN_SKIPPED "group user lengthrange actlimited actrange actdim actearly interp dynprm"
#define DRIVEN_REFUSED                                                                                                 \
    "jointinparent slidersite cranksite cranklength refsite body damping armature nsample delay input velrange "       \
    "ffrange"

const ti_mjcf_rule TI_MJCF_RULES[] = {
    {"mujoco", TI_READ, "model", "", ""},
    {"mujoco/include", TI_READ, "file", "", ""},
    {"mujoco/compiler", TI_READ,
     "angle eulerseq autolimits coordinate inertiafromgeom inertiagrouprange boundmass boundinertia balanceinertia "
     "settotalmass assetdir meshdir strippath exactmeshinertia fitaabb fusestatic",
     "texturedir discardvisual convexhull usethread saveinertial conflict", "alignfree"},
    {"compiler/lengthrange", TI_SKIPPED, "", "", ""},
    {"mujoco/option", TI_READ, "timestep gravity integrator density viscosity wind",
     "solver cone jacobian iterations tolerance ls_iterations ls_tolerance noslip_iterations noslip_tolerance "
     "mpr_iterations mpr_tolerance ccd_iterations ccd_tolerance sdf_iterations sdf_initpoints sleep_tolerance impratio "
     "apirate magnetic o_solref o_solimp o_friction",
     "o_margin actuatorgroupdisable collision"},
    {"option/flag", TI_READ, "gravity constraint equality frictionloss limit contact",
     "warmstart refsafe sensor midphase eulerdamp autoreset nativeccd island multiccd energy fwdinv invdiscrete sleep "
     "diagexact sensornoise",
     "passive spring damper clampctrl filterparent actuation override"},
    {"mujoco/size", TI_SKIPPED, "", "", ""},
    {"mujoco/statistic", TI_SKIPPED, "", "", ""},
    {"mujoco/visual", TI_SKIPPED, "", "", ""},
    {"mujoco/sensor", TI_SKIPPED, "", "", ""},
    {"mujoco/default", TI_READ, "class", "", ""},
    {"default/default", TI_READ, "class", "", ""},
    {"mujoco/extension", TI_READ, "", "", ""},
    {"extension/plugin", TI_REFUSED, "", "", ""},
    {"mujoco/asset", TI_READ, "", "", ""},
    {"asset/texture", TI_SKIPPED, "", "", ""},
    {"asset/material", TI_SKIPPED, "", "", ""},
    {"asset/skin", TI_SKIPPED, "", "", ""},
    {"asset/mesh", TI_READ, "name class file vertex face scale refpos refquat inertia maxhullvert",
     "content_type normal texcoord smoothnormal user material octree_maxdepth", "builtin params"},
    {"mesh/plugin", TI_REFUSED, "", "", ""},
    {"asset/hfield", TI_READ, "name file nrow ncol size elevation content_type", "", ""},
    {"asset/model", TI_REFUSED, "", "", ""},
    {"mujoco/worldbody", TI_READ, "childclass", "", ""},
    {"body/body", TI_READ, "name childclass gravcomp mocap " POSED, "user sleep simple", ""},
    {"body/frame", TI_READ, "name childclass " POSED, "", ""},
    {"body/inertial", TI_READ, "mass diaginertia fullinertia " POSED, "", ""},
    {"body/joint", TI_READ,
     "name class type pos axis limited range damping armature stiffness springref frictionloss ref actuatorfrclimited "
     "actuatorfrcrange actuatorgravcomp",
     "group user margin solreflimit solimplimit solreffriction solimpfriction", "springdamper"},
    {"body/freejoint", TI_READ, "name", "group user", "align"},
    {"body/geom", TI_READ,
     "name class type size fromto mass density friction priority contype conaffinity condim margin gap group mesh "
     "hfield fitscale " POSED,
     "rgba material user solref solimp solmix fluidcoef", "surfacevel adhesion shellinertia fluidshape"},
    {"geom/plugin", TI_REFUSED, "", "", ""},
    {"body/site", TI_READ, "name class type fromto " POSED, "size rgba material group user", ""},
    {"body/camera", TI_SKIPPED, "", "", ""},
    {"body/light", TI_SKIPPED, "", "", ""},
    {"body/attach", TI_REFUSED, "", "", ""},
    {"body/replicate", TI_READ, "childclass count offset euler sep", "", ""},
    {"body/composite", TI_REFUSED, "", "", ""},
    {"body/flexcomp", TI_REFUSED, "", "", ""},
    {"body/plugin", TI_REFUSED, "", "", ""},
    {"mujoco/deformable", TI_READ, "", "", ""},
    {"deformable/flex", TI_REFUSED, "", "", ""},
    {"deformable/skin", TI_SKIPPED, "", "", ""},
    {"mujoco/contact", TI_READ, "", "", ""},
    {"contact/pair", TI_READ, "name class geom1 geom2 friction condim margin gap", "solref solimp solreffriction",
     "adhesion"},
    {"contact/exclude", TI_READ, "name class body1 body2", "", ""},
    {"mujoco/equality", TI_READ, "", "", ""},
    {"equality/connect", TI_READ, "name class active body1 body2 anchor site1 site2", "solref solimp", ""},
    {"equality/weld", TI_READ, "name class active body1 body2 anchor relpose site1 site2", "solref solimp torquescale",
     ""},
    {"equality/joint", TI_READ, "name class active joint1 joint2 polycoef", "solref solimp", ""},
    {"equality/tendon", TI_REFUSED, "", "", ""},
    {"equality/distance", TI_REFUSED, "", "", ""},
    {"equality/flex", TI_REFUSED, "", "", ""},
    {"equality/flexvert", TI_REFUSED, "", "", ""},
    {"equality/flexstrain", TI_REFUSED, "", "", ""},
    {"mujoco/tendon", TI_READ, "", "", ""},
    {"tendon/fixed", TI_READ, "name class limited range",
     "group user springlength margin width material rgba solreflimit "
     "solimplimit solreffriction solimpfriction",
     "stiffness damping frictionloss armature actuatorfrclimited actuatorfrcrange"},
    {"fixed/joint", TI_READ, "joint coef", "", ""},
    {"tendon/spatial", TI_REFUSED, "", "", ""},
    {"mujoco/actuator", TI_READ, "", "", ""},
    {"actuator/motor", TI_READ, DRIVEN, DRIVEN_SKIPPED, DRIVEN_REFUSED},
    {"actuator/position", TI_READ, DRIVEN " kp kv dampratio inheritrange", DRIVEN_SKIPPED, DRIVEN_REFUSED " timeconst"},
    {"actuator/velocity", TI_READ, DRIVEN " kv", DRIVEN_SKIPPED, DRIVEN_REFUSED},
    {"actuator/damper", TI_READ, DRIVEN " kv", DRIVEN_SKIPPED, DRIVEN_REFUSED},
    {"actuator/general", TI_READ, DRIVEN " dyntype gaintype gainprm biastype biasprm", DRIVEN_SKIPPED, DRIVEN_REFUSED},
    {"actuator/intvelocity", TI_REFUSED, "", "", ""},
    {"actuator/orientation", TI_REFUSED, "", "", ""},
    {"actuator/pid", TI_REFUSED, "", "", ""},
    {"actuator/cylinder", TI_REFUSED, "", "", ""},
    {"actuator/muscle", TI_REFUSED, "", "", ""},
    {"actuator/adhesion", TI_REFUSED, "", "", ""},
    {"actuator/dcmotor", TI_REFUSED, "", "", ""},
    {"actuator/plugin", TI_REFUSED, "", "", ""},
    {"mujoco/custom", TI_READ, "", "", ""},
    {"custom/numeric", TI_READ, "name data size", "", ""},
    {"custom/text", TI_READ, "name data", "", ""},
    {"custom/tuple", TI_SKIPPED, "", "", ""},
    {"mujoco/keyframe", TI_READ, "", "", ""},
    {"keyframe/key", TI_READ, "name time qpos qvel ctrl mpos mquat", "", "act"},
};
const int TI_MJCF_NRULES = sizeof TI_MJCF_RULES / sizeof *TI_MJCF_RULES;

const ti_mjcf_rule *ti_mjcf_rule_of(const char *parent, const char *name) {
    size_t n = strlen(parent);
    for (int i = 0; i < TI_MJCF_NRULES; i++) {
        const char *where = TI_MJCF_RULES[i].where;
        if (strncmp(where, parent, n) == 0 && where[n] == '/' && strcmp(where + n + 1, name) == 0)
            return &TI_MJCF_RULES[i];
    }
    return NULL;
}

/* ---- the list ---- */

static bool told_already(const ti_mjcf *r, const ti_mjcf_need *n) {
    for (int i = 0; i < r->nneed; i++) {
        const ti_mjcf_need *o = &r->need[i];
        if (o->at == n->at && !strcmp(o->word, n->word) && !strcmp(o->text, n->text)) return true;
    }
    return false;
}

static ti_mjcf_need need_at(const ti_mjcf *r, const xmlNode *node, const char *attribute, const char *word) {
    ti_mjcf_need n = {.line = ti_xml_line(node), .at = node, .attribute = attribute};
    snprintf(n.word, sizeof n.word, "%s", word);
    n.left_out = r->options && r->options->lenient && ti_xml_listed(r->options->lenient, n.word);
    return n;
}

static void keep_need(ti_mjcf *r, const ti_mjcf_need *n) {
    enum { LIMIT = 4096 };
    if (r->nneed >= LIMIT || told_already(r, n)) return;
    ti_mjcf_need *grown = ti_grow(&r->alloc, r->need, &r->need_bytes, (size_t)(r->nneed + 1) * sizeof *r->need);
    if (!grown) {
        r->error.status = TRIBO_E_NOMEM;
        return;
    }
    r->need = grown;
    r->need[r->nneed++] = *n;
    r->nmissing += !n->left_out, r->nremark += n->remark;
}

bool ti_mjcf_need_of(ti_mjcf *r, const xmlNode *node, const char *attribute, const char *word, const char *format,
                     ...) {
    ti_mjcf_need n = need_at(r, node, attribute, word);
    va_list args;
    va_start(args, format);
    vsnprintf(n.text, sizeof n.text, format, args);
    va_end(args);
    keep_need(r, &n);
    return n.left_out;
}

void ti_mjcf_remark(ti_mjcf *r, const xmlNode *node, const char *attribute, const char *word, const char *text) {
    ti_mjcf_need n = need_at(r, node, attribute, word);
    n.left_out = n.remark = true;
    snprintf(n.text, sizeof n.text, "%s", text);
    keep_need(r, &n);
}

static int by_place(const void *a, const void *b) {
    const ti_mjcf_need *x = a, *y = b;
    int top_x = ti_xml_top_line(x->at), top_y = ti_xml_top_line(y->at);
    if (top_x != top_y) return top_x < top_y ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static void tell(const ti_mjcf_need *n, const tribo_load_options *o) {
    char text[400];
    const ti_xml_source *source = ti_xml_source_of(n->at);
    snprintf(text, sizeof text, "<%.40s%s%.40s>: %s", (const char *)n->at->name, n->attribute ? " " : "",
             n->attribute ? n->attribute : "", n->text);
    tribo_need out = {source ? source->path : NULL, n->line, n->word, text, n->left_out};
    o->need(o->ctx, &out);
}

/* The first of the list is the error, in place of a fault found beside: that is often what became of something left
 * out. */
void ti_mjcf_tell_needs(ti_mjcf *r) {
    if (r->error.status == TRIBO_E_NOMEM || r->nneed == 0) return;
    qsort(r->need, (size_t)r->nneed, sizeof *r->need, by_place);
    for (int i = 0; i < r->nneed && r->options && r->options->need; i++) tell(&r->need[i], r->options);
    if (r->nmissing == 0) return;
    const ti_mjcf_need *first = r->need;
    while (first->left_out) first++;
    r->error.status = TRIBO_OK;
    if (r->nmissing > 1)
        ti_xml_fail(&r->error, first->at, first->attribute, "%s (and %d more: `tribo check` lists them)", first->text,
                    r->nmissing - 1);
    else
        ti_xml_fail(&r->error, first->at, first->attribute, "%s", first->text);
}

/* ---- judging ---- */

/* Values that ask for nothing. */
static bool asks_for_nothing(ti_mjcf *r, const xmlNode *node, const char *name) {
    const char *text = ti_xml_attr(&r->error, node, name);
    if (!text || ti_xml_listed("false none auto all", text) || *text == '\0') return true;
    ti_xml_error quiet = {0};
    double x[16];
    int n = ti_xml_numbers(&quiet, node, name, text, x, 16);
    for (int i = 0; i < n; i++)
        if (x[i] != 0) return false;
    return n > 0;
}

static bool is_number(ti_mjcf *r, const xmlNode *node, const char *name) {
    double x[16];
    ti_xml_error quiet = {0};
    const char *text = ti_xml_attr(&r->error, node, name);
    return text && ti_xml_numbers(&quiet, node, name, text, x, 16) != 0 && quiet.status == TRIBO_OK;
}

static void judge_attributes(ti_mjcf *r, const xmlNode *node, const ti_mjcf_rule *rule) {
    for (const xmlAttr *a = node->properties; a; a = a->next) {
        const char *name = (const char *)a->name;
        if (ti_xml_listed(rule->read, name) || ti_xml_listed(rule->skipped, name)) continue;
        if (!ti_xml_listed(rule->refused, name))
            ti_mjcf_need_of(r, node, name, name, "this attribute is not supported");
        else if (!asks_for_nothing(r, node, name))
            ti_mjcf_need_of(r, node, name, name, is_number(r, node, name) ? "only 0 is supported" : "not supported");
    }
}

const xmlNode *ti_mjcf_default_of(const ti_mjcf *r, int class, const xmlNode *like) {
    const char *name = ti_xml_listed("fixed spatial", (const char *)like->name) ? "tendon" : (const char *)like->name;
    for (const xmlNode *c = r->class[class].node->children; c; c = c->next)
        if (c->type == XML_ELEMENT_NODE && ti_xml_is(c, name)) return c;
    return NULL;
}

void ti_mjcf_judge(ti_mjcf *r, const xmlNode *node, int class, const char *parent) {
    const ti_mjcf_rule *rule = ti_mjcf_rule_of(parent, (const char *)node->name);
    if (!rule) return;
    judge_attributes(r, node, rule);
    for (int c = class; c >= 0; c = r->class[c].parent) {
        const xmlNode *defaults = ti_mjcf_default_of(r, c, node);
        if (defaults) judge_attributes(r, defaults, rule);
    }
}

bool ti_mjcf_child(ti_mjcf *r, const xmlNode *node, const char *parent) {
    const char *name = (const char *)node->name;
    const ti_mjcf_rule *rule = ti_mjcf_rule_of(parent, name);
    if (rule && rule->fate == TI_READ) return true;
    if (rule && rule->fate == TI_SKIPPED) return false;
    const char *plugin = ti_xml_is(node, "plugin") ? ti_xml_attr(&r->error, node, "plugin") : NULL;
    if (plugin)
        ti_mjcf_need_of(r, node, NULL, name, "the plugin `%.60s` is not supported", plugin);
    else
        ti_mjcf_need_of(r, node, NULL, rule ? ti_mjcf_word(rule) : name, "this element is not supported");
    return false;
}

/* Names that several elements share are told apart by what they are in. */
const char *ti_mjcf_word(const ti_mjcf_rule *rule) {
    static const char *const OWN[][2] = {{"equality/joint", "coupling"},
                                         {"equality/tendon", "tendon-coupling"},
                                         {"actuator/cylinder", "cylinder-actuator"},
                                         {"asset/model", "attach"}};
    for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++)
        if (strcmp(rule->where, OWN[i][0]) == 0) return OWN[i][1];
    return strrchr(rule->where, '/') + 1;
}
