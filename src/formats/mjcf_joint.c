/* mjcf_joint.c -- the joints of MJCF's bodies: free, hinges, slides, balls. */
#include "formats/mjcf_reading.h"

static const char FREE_ZERO[] = "damping armature stiffness springref frictionloss";

static bool is_joint(const xmlNode *node) {
    return ti_xml_is(node, "joint") || ti_xml_is(node, "freejoint");
}

static int class_of(ti_mjcf *r, const xmlNode *node, int childclass) {
    const char *named = ti_xml_is(node, "joint") ? ti_xml_attr(&r->error, node, "class") : NULL;
    return named ? ti_mjcf_class_find(r, node, "class", named) : childclass;
}

static bool is_free(ti_mjcf *r, const xmlNode *node, int class) {
    if (ti_xml_is(node, "freejoint")) return true;
    const char *type = ti_mjcf_attr(r, node, class, "type");
    return type && strcmp(type, "free") == 0;
}

ti_mjcf_moves ti_mjcf_moves_of(ti_mjcf *r, const xmlNode *body, int childclass, int depth) {
    ti_mjcf_moves moves = TI_MOVES_NOT;
    for (const xmlNode *c = ti_xml_child(&r->error, body); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c)) {
        if (!is_joint(c)) continue;
        bool free = is_free(r, c, class_of(r, c, childclass));
        if (moves == TI_MOVES_FREELY || (moves && free))
            ti_xml_fail(&r->error, c, NULL, "a second joint, beside a free one");
        if (free && depth > 1) ti_xml_fail(&r->error, c, NULL, "a free joint belongs to a body right in the world");
        if (free && ti_xml_is(c, "freejoint")) ti_xml_allow(&r->error, c, "name group user align");
        if (free && ti_xml_is(c, "joint")) {
            ti_xml_allow(&r->error, c, TI_MJCF_JOINT_ATTR);
            ti_mjcf_zero(r, c, TI_MJCF_JOINT_ZERO), ti_mjcf_zero(r, c, FREE_ZERO);
        }
        moves = free ? TI_MOVES_FREELY : TI_MOVES_BY_JOINTS;
    }
    return moves;
}

/* A range limits a joint unless it is said not to, or only where that is said, by the compiler's autolimits. */
static void read_limits(ti_mjcf *r, const xmlNode *node, int class, tribo_joint_def *d) {
    const char *limited = ti_mjcf_attr(r, node, class, "limited");
    bool sure = limited && strcmp(limited, "true") == 0, never = limited && strcmp(limited, "false") == 0;
    bool ranged = ti_mjcf_attr(r, node, class, "range") != NULL;
    ti_mjcf_numbers(r, node, class, "range", d->range, 2, 2);
    d->limited = sure || (ranged && !never);
    if (sure && !ranged) ti_xml_fail(&r->error, node, "limited", "a limited joint needs a range");
    if (d->kind != TRIBO_JOINT_HINGE) return;
    for (int k = 0; k < 2; k++) d->range[k] *= r->angle;
}

static void read_joint(ti_mjcf *r, xmlNode *node, int body, int class) {
    tribo_joint_def d = tribo_default_joint();
    ti_xml_allow(&r->error, node, TI_MJCF_JOINT_ATTR);
    ti_mjcf_zero(r, node, TI_MJCF_JOINT_ZERO);
    const char *type = ti_mjcf_attr(r, node, class, "type");
    if (type && strcmp(type, "slide") == 0)
        d.kind = TRIBO_JOINT_SLIDE;
    else if (type && strcmp(type, "ball") == 0)
        d.kind = TRIBO_JOINT_BALL;
    else if (type && strcmp(type, "hinge") != 0)
        ti_xml_fail(&r->error, node, "type", "`%.40s` is not supported, only free, ball, hinge and slide", type);
    read_limits(r, node, class, &d);
    d.name = ti_xml_attr(&r->error, node, "name");
    ti_mjcf_numbers(r, node, class, "axis", d.axis, 3, 3);
    ti_mjcf_numbers(r, node, class, "pos", d.pos, 3, 3);
    ti_mjcf_numbers(r, node, class, "damping", &d.damping, 1, 1);
    ti_mjcf_numbers(r, node, class, "armature", &d.armature, 1, 1);
    ti_mjcf_numbers(r, node, class, "stiffness", &d.stiffness, 1, 1);
    ti_mjcf_numbers(r, node, class, "springref", &d.springref, 1, 1);
    ti_mjcf_numbers(r, node, class, "frictionloss", &d.frictionloss, 1, 1);
    ti_mjcf_numbers(r, node, class, "ref", &d.ref, 1, 1);
    if (d.kind == TRIBO_JOINT_HINGE) d.springref *= r->angle, d.ref *= r->angle;
    if (ti_mjcf_bad(r)) return;
    r->builder->line = ti_xml_line(node);
    ti_mjcf_joint *grown = ti_grow(&r->alloc, r->joint, &r->joint_bytes, (size_t)(r->njoint + 1) * sizeof *r->joint);
    if (!grown) {
        r->error.status = TRIBO_E_NOMEM;
        return;
    }
    r->joint = grown;
    r->joint[r->njoint] = (ti_mjcf_joint){node, d.kind == TRIBO_JOINT_HINGE};
    if (tribo_add_joint(r->builder, body, &d) == r->njoint) r->njoint++;
    ti_mjcf_settle(r);
}

void ti_mjcf_joints(ti_mjcf *r, xmlNode *node, int body, int childclass) {
    for (xmlNode *c = ti_xml_child(&r->error, node); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c))
        if (is_joint(c)) read_joint(r, c, body, class_of(r, c, childclass));
}
