/* mjcf_drive.c -- reader of MJCF scenes: fixed tendons and actuators. */
#include "formats/mjcf_reading.h"
#include <math.h>

/* ---- what they pull on ---- */

enum { PULLS_LIMIT = 64 };

typedef struct pulls {
    int n, joint[PULLS_LIMIT];
    double coef[PULLS_LIMIT];
} pulls;

/* The element of that name and kind anywhere below a node. */
static const xmlNode *element_named(const xmlNode *below, const char *kinds, const char *name) {
    ti_xml_error quiet = {0};
    const xmlNode *found = NULL;
    for (const xmlNode *c = below->children; c && !found; c = c->next) {
        if (c->type != XML_ELEMENT_NODE || ti_xml_is(c, "default")) continue;
        const char *own = ti_xml_listed(kinds, (const char *)c->name) ? ti_xml_attr(&quiet, c, "name") : NULL;
        found = own && strcmp(own, name) == 0 ? c : element_named(c, kinds, name);
    }
    return found;
}

/* The hinge or slide of that name. @return -1 after an error, or where it is another joint. */
static int axis_named(ti_mjcf *r, const xmlNode *node, const char *attribute, const char *name) {
    const tribo_builder *b = r->builder;
    int j = ti_builder_joint(b, name);
    if (j >= 0 && b->joint[j].def.kind != TRIBO_JOINT_BALL) return j;
    if (j >= 0)
        return ti_mjcf_need_of(r, node, attribute, "ball-actuator", "what pulls on a ball is not supported"), -1;
    if (element_named(r->root, "joint freejoint", name))
        ti_mjcf_need_of(r, node, attribute, "free-actuator", "what pulls on a free joint is not supported");
    else
        ti_xml_fail(&r->error, node, attribute, "there is no joint `%.60s`", name);
    return -1;
}

static bool joint_pull(ti_mjcf *r, const xmlNode *node, const char *name, double coef, pulls *p) {
    int joint = name ? axis_named(r, node, "joint", name) : -1;
    if (!name) ti_xml_fail(&r->error, node, "joint", "missing");
    if (joint < 0) return false;
    if (p->n == PULLS_LIMIT) return ti_xml_fail(&r->error, node, NULL, "more than %d joints", PULLS_LIMIT), false;
    p->joint[p->n] = joint, p->coef[p->n++] = coef;
    return true;
}

/* The joints of a fixed tendon. */
static bool fixed_pulls(ti_mjcf *r, const xmlNode *tendon, pulls *p) {
    for (const xmlNode *c = ti_xml_child(&r->error, tendon); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c)) {
        double coef;
        if (!ti_mjcf_child(r, c, "fixed")) continue;
        if (!ti_mjcf_numbers(r, c, -1, "coef", &coef, 1, 1)) ti_xml_fail(&r->error, c, "coef", "missing");
        if (ti_mjcf_bad(r) || !joint_pull(r, c, ti_xml_attr(&r->error, c, "joint"), coef, p)) return false;
    }
    if (p->n == 0 && !ti_mjcf_bad(r)) ti_xml_fail(&r->error, tendon, NULL, "it has no joint");
    return p->n > 0;
}

static bool tendon_pulls(ti_mjcf *r, const xmlNode *node, const char *name, pulls *p) {
    const xmlNode *tendon = element_named(r->root, "fixed spatial", name);
    if (!tendon) ti_xml_fail(&r->error, node, "tendon", "there is no tendon `%.60s`", name);
    return tendon && ti_xml_is(tendon, "fixed") && fixed_pulls(r, tendon, p); /* spatial ones are on the list */
}

/* It pulls at the site of that name. */
static bool site_pull(ti_mjcf *r, const xmlNode *node, const char *name, tribo_actuator_def *d) {
    for (d->site = 0; d->site < r->builder->nsite; d->site++)
        if (strcmp(r->builder->site[d->site].name, name) == 0) return true;
    return ti_xml_fail(&r->error, node, "site", "there is no site `%.60s`", name), false;
}

/* What limits a fixed tendon; others are only what actuators pull on. */
static void keep_limits(ti_mjcf *r, xmlNode *node, int class, const pulls *p) {
    tribo_tendon_def d = tribo_default_tendon();
    if (!ti_mjcf_limited(r, node, class, "limited", "range")) return;
    ti_mjcf_numbers(r, node, class, "range", d.range, 2, 2);
    d.name = ti_xml_attr(&r->error, node, "name");
    d.njoint = p->n, d.joint = p->joint, d.coef = p->coef;
    if (ti_mjcf_bad(r)) return;
    ti_mjcf_tendon *grown =
        ti_grow(&r->alloc, r->tendon, &r->tendon_bytes, (size_t)(r->ntendon + 1) * sizeof *r->tendon);
    if (!grown) {
        r->error.status = TRIBO_E_NOMEM;
        return;
    }
    r->tendon = grown;
    r->tendon[r->ntendon] = (ti_mjcf_tendon){node};
    ti_mjcf_at(r, node);
    if (tribo_add_tendon(r->builder, &d) == r->ntendon) r->ntendon++;
    ti_mjcf_settle(r);
}

void ti_mjcf_tendons(ti_mjcf *r, const xmlNode *node) {
    for (xmlNode *c = ti_xml_child(&r->error, node); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c)) {
        if (!ti_mjcf_child(r, c, "tendon")) continue;
        int class = ti_mjcf_class_of(r, c, r->main);
        if (ti_mjcf_bad(r)) return;
        ti_mjcf_judge(r, c, class, "tendon");
        for (const xmlNode *d = ti_xml_child(&r->error, c); d; d = ti_xml_next(&r->error, d))
            if (ti_mjcf_child(r, d, "fixed")) ti_mjcf_judge(r, d, -1, "fixed");
        pulls p = {0};
        if (ti_xml_is(c, "fixed") && fixed_pulls(r, c, &p)) keep_limits(r, c, class, &p);
    }
}

/* ---- actuators ---- */

/* A number, or what it is without. */
static double number(ti_mjcf *r, const xmlNode *node, int class, const char *name, double fallback) {
    double x = fallback;
    ti_mjcf_numbers(r, node, class, name, &x, 1, 1);
    return x;
}

/* What an actuator does with its control, as far as elements have said; words as MJCF has them, NULL = as without. A
 * third bias above 0 is the damping ratio of what turns out to be a servo. */
typedef struct law {
    const char *dyn, *gain_type, *bias_type;
    double gain[10], bias[10];
} law;

/* Whether it is of a kind that is read. */
static bool drives(const xmlNode *node) {
    return ti_xml_listed("general motor position velocity damper", (const char *)node->name);
}

/* Numbers and words that an element says itself. */
static double own_number(ti_mjcf *r, const xmlNode *node, const char *name, double fallback) {
    return number(r, node, -1, name, fallback);
}
static void own_word(ti_mjcf *r, const xmlNode *node, const char *name, const char **word) {
    const char *said = ti_xml_attr(&r->error, node, name);
    if (said) *word = said;
}

static void say_position(ti_mjcf *r, const xmlNode *node, law *l) {
    double kv = own_number(r, node, "kv", 0), ratio = own_number(r, node, "dampratio", 0);
    bool damped = ti_xml_attr(&r->error, node, "kv") || ti_xml_attr(&r->error, node, "dampratio");
    if (kv != 0 && ratio != 0) ti_xml_fail(&r->error, node, "dampratio", "given together with kv");
    if (!(kv >= 0) || !(ratio >= 0)) ti_xml_fail(&r->error, node, kv >= 0 ? "dampratio" : "kv", "must be >= 0");
    double kp = own_number(r, node, "kp", l->gain[0]);
    l->gain[0] = kp, l->bias[1] = 0 - kp; /* no minus zero */
    l->dyn = NULL, l->gain_type = NULL, l->bias_type = "affine";
    if (damped) l->bias[2] = ratio != 0 ? ratio : 0 - kv;
}

/* What one element, of the scene or of a class, makes of what was said before: each kind is a way to write gain and
 * bias. */
static void say(ti_mjcf *r, const xmlNode *node, law *l) {
    if (ti_xml_is(node, "general")) {
        own_word(r, node, "dyntype", &l->dyn), own_word(r, node, "gaintype", &l->gain_type);
        own_word(r, node, "biastype", &l->bias_type);
        ti_mjcf_numbers(r, node, -1, "gainprm", l->gain, 1, 10);
        ti_mjcf_numbers(r, node, -1, "biasprm", l->bias, 1, 10);
    } else if (ti_xml_is(node, "position")) {
        say_position(r, node, l);
    } else {
        bool damper = ti_xml_is(node, "damper"), velocity = ti_xml_is(node, "velocity");
        bool affine = l->gain_type && strcmp(l->gain_type, "affine") == 0; /* the third gain is in force */
        double kv = own_number(r, node, "kv", !damper ? l->gain[0] : affine ? 0 - l->gain[2] : 0);
        l->dyn = NULL, l->gain_type = damper ? "affine" : NULL, l->bias_type = velocity ? "affine" : NULL;
        if (damper) memset(l->gain, 0, sizeof l->gain);
        l->gain[damper ? 2 : 0] = damper ? 0 - kv : velocity ? kv : 1;
        if (velocity) memset(l->bias, 0, sizeof l->bias), l->bias[2] = 0 - kv;
    }
}

/* All actuators of a class are of one: what any kind of it says, the last over the others. */
static void say_defaults(ti_mjcf *r, int class, law *l) {
    if (class < 0) return;
    say_defaults(r, r->class[class].parent, l);
    for (const xmlNode *c = r->class[class].node->children; c; c = c->next)
        if (c->type == XML_ELEMENT_NODE && drives(c)) say(r, c, l);
}

/* A type that is not supported. */
static bool is_strange(const char *word, const char *simple) {
    return word && strcmp(word, simple) != 0 && strcmp(word, "affine") != 0;
}

/* Gain and bias. @return false if the actuator is left out. */
static bool read_law(ti_mjcf *r, const xmlNode *node, int class, tribo_actuator_def *d) {
    law l = {.gain = {1}};
    say_defaults(r, class, &l);
    say(r, node, &l);
    bool dynamic = l.dyn && strcmp(l.dyn, "none") != 0, gains = is_strange(l.gain_type, "fixed");
    if (dynamic || gains || is_strange(l.bias_type, "none")) {
        const char *name = dynamic ? "dyntype" : gains ? "gaintype" : "biastype";
        ti_mjcf_need_of(r, node, name, name, "`%.40s` is not supported",
                        dynamic ? l.dyn
                        : gains ? l.gain_type
                                : l.bias_type);
        return false;
    }
    bool fixed = !l.gain_type || strcmp(l.gain_type, "fixed") == 0,
         none = !l.bias_type || strcmp(l.bias_type, "none") == 0;
    for (int k = 0; k < 3; k++) {
        d->gain[k] = k == 0 || !fixed ? l.gain[k] : 0;
        d->bias[k] = none ? 0 : l.bias[k];
    }
    bool servo = d->gain[0] == 0 - d->bias[1];
    if (servo && d->bias[2] > 0) d->dampratio = d->bias[2], d->bias[2] = 0;
    return true;
}

/* A range of controls that is the joint's, wider or narrower about its middle. @return false if it has one of its own.
 */
static bool inherit_range(ti_mjcf *r, const xmlNode *node, int class, const pulls *p, tribo_actuator_def *d) {
    double share = number(r, node, class, "inheritrange", 0);
    if (!(share > 0) || !ti_xml_is(node, "position")) return false;
    const tribo_joint_def *j = p->n > 0 ? &r->builder->joint[p->joint[0]].def : NULL;
    if (!j || ti_xml_attr(&r->error, node, "tendon") || !(j->range[0] < j->range[1])) {
        ti_xml_fail(&r->error, node, "inheritrange", j ? "its joint has no range" : "a site has no range");
        return true;
    }
    double middle = 0.5 * (j->range[0] + j->range[1]), half = 0.5 * (j->range[1] - j->range[0]);
    d->ctrl_limited = true;
    d->ctrlrange[0] = middle - share * half, d->ctrlrange[1] = middle + share * half;
    return true;
}

static void keep_actuator(ti_mjcf *r, xmlNode *node, int class, const tribo_actuator_def *d) {
    ti_mjcf_actuator *grown =
        ti_grow(&r->alloc, r->actuator, &r->actuator_bytes, (size_t)(r->nactuator + 1) * sizeof *r->actuator);
    if (!grown) {
        r->error.status = TRIBO_E_NOMEM;
        return;
    }
    r->actuator = grown;
    r->actuator[r->nactuator] = (ti_mjcf_actuator){node, class};
    ti_mjcf_at(r, node);
    if (tribo_add_actuator(r->builder, d) == r->nactuator) r->nactuator++;
    ti_mjcf_settle(r);
}

static void read_actuator(ti_mjcf *r, xmlNode *node) {
    tribo_actuator_def d = tribo_default_actuator();
    pulls p = {0};
    double gear[6] = {1, 0, 0, 0, 0, 0};
    int class = ti_mjcf_class_of(r, node, r->main), before = r->nneed;
    if (ti_mjcf_bad(r)) return;
    ti_mjcf_judge(r, node, class, "actuator");
    const char *joint = ti_xml_attr(&r->error, node, "joint"), *tendon = ti_xml_attr(&r->error, node, "tendon"),
               *site = ti_xml_attr(&r->error, node, "site");
    if (!joint && !tendon && !site) {
        if (r->nneed == before) ti_xml_fail(&r->error, node, NULL, "it pulls on nothing");
        return; /* or on what is on the list */
    }
    if (!!joint + !!tendon + !!site > 1) {
        ti_xml_fail(&r->error, node, NULL, "it pulls on more than one of a joint, a tendon and a site");
        return;
    }
    if (joint    ? !joint_pull(r, node, joint, 1, &p)
        : tendon ? !tendon_pulls(r, node, tendon, &p)
                 : !site_pull(r, node, site, &d))
        return;
    if (!read_law(r, node, class, &d)) return;
    ti_mjcf_numbers(r, node, class, "gear", gear, 1, 6);
    d.gear = gear[0], memcpy(d.wrench, gear, sizeof d.wrench);
    ti_mjcf_numbers(r, node, class, "ctrlrange", d.ctrlrange, 2, 2);
    ti_mjcf_numbers(r, node, class, "forcerange", d.forcerange, 2, 2);
    if (!inherit_range(r, node, class, &p, &d))
        d.ctrl_limited = ti_mjcf_limited(r, node, class, "ctrllimited", "ctrlrange");
    if (ti_xml_is(node, "damper")) d.ctrl_limited = d.ctrl_limited || d.ctrlrange[0] < d.ctrlrange[1];
    d.force_limited = ti_mjcf_limited(r, node, class, "forcelimited", "forcerange");
    d.name = ti_xml_attr(&r->error, node, "name");
    d.njoint = p.n, d.joint = p.joint, d.coef = p.coef;
    if (!ti_mjcf_bad(r)) keep_actuator(r, node, class, &d);
}

void ti_mjcf_actuators(ti_mjcf *r, const xmlNode *node) {
    for (xmlNode *c = ti_xml_child(&r->error, node); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c))
        if (ti_mjcf_child(r, c, "actuator")) read_actuator(r, c);
}
