/* mjcf_joint.c -- the joints of MJCF's bodies: free, hinge, slide; limits, dry friction and balls are refused. */
#include "formats/mjcf_reading.h"

static const char ATTR[] = "name class type group user limited damping armature frictionloss stiffness springref ref "
                           "range margin pos axis solreflimit solimplimit solreffriction solimpfriction springdamper "
                           "actuatorfrclimited actuatorfrcrange";
static const char ZERO[] = "frictionloss ref margin springdamper";
static const char FREE_ZERO[] = "damping armature stiffness springref";

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

void ti_mjcf_default_joint(ti_mjcf *r, int class, const xmlNode *node) {
    ti_xml_allow(&r->error, node, ATTR);
    ti_mjcf_zero(r, node, ZERO);
    r->class[class].joint = node;
}

ti_mjcf_moves ti_mjcf_moves_of(ti_mjcf *r, const xmlNode *body, int childclass) {
    ti_mjcf_moves moves = TI_MOVES_NOT;
    for (const xmlNode *c = ti_xml_child(&r->error, body); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c)) {
        if (!is_joint(c)) continue;
        bool free = is_free(r, c, class_of(r, c, childclass));
        if (moves == TI_MOVES_FREELY || (moves && free)) ti_xml_fail(&r->error, c, NULL, "beside a free joint");
        if (free && ti_xml_is(c, "freejoint")) ti_xml_allow(&r->error, c, "name group user align");
        if (free && ti_xml_is(c, "joint")) {
            ti_xml_allow(&r->error, c, ATTR);
            ti_mjcf_zero(r, c, ZERO), ti_mjcf_zero(r, c, FREE_ZERO);
        }
        moves = free ? TI_MOVES_FREELY : TI_MOVES_BY_JOINTS;
    }
    return moves;
}

/* A range limits a joint unless it is said not to. */
static void refuse_limits(ti_mjcf *r, const xmlNode *node, int class) {
    const char *limited = ti_mjcf_attr(r, node, class, "limited");
    if (limited && strcmp(limited, "false") == 0) return;
    bool sure = limited && strcmp(limited, "true") == 0;
    if (sure || ti_mjcf_attr(r, node, class, "range"))
        ti_xml_fail(&r->error, node, sure ? "limited" : "range", "limits are not supported: say limited=\"false\"");
}

static void read_joint(ti_mjcf *r, const xmlNode *node, int body, int class) {
    tribo_joint_def d = tribo_default_joint();
    ti_xml_allow(&r->error, node, ATTR);
    ti_mjcf_zero(r, node, ZERO);
    const char *type = ti_mjcf_attr(r, node, class, "type");
    if (type && strcmp(type, "slide") == 0)
        d.kind = TRIBO_JOINT_SLIDE;
    else if (type && strcmp(type, "hinge") != 0)
        ti_xml_fail(&r->error, node, "type", "`%.40s` is not supported, only free, hinge and slide", type);
    refuse_limits(r, node, class);
    d.name = ti_xml_attr(&r->error, node, "name");
    ti_mjcf_numbers(r, node, class, "axis", d.axis, 3, 3);
    ti_mjcf_numbers(r, node, class, "pos", d.pos, 3, 3);
    ti_mjcf_numbers(r, node, class, "damping", &d.damping, 1, 1);
    ti_mjcf_numbers(r, node, class, "armature", &d.armature, 1, 1);
    ti_mjcf_numbers(r, node, class, "stiffness", &d.stiffness, 1, 1);
    ti_mjcf_numbers(r, node, class, "springref", &d.springref, 1, 1);
    if (d.kind == TRIBO_JOINT_HINGE) d.springref *= r->angle;
    if (ti_mjcf_bad(r)) return;
    r->builder->line = ti_xml_line(node);
    tribo_add_joint(r->builder, body, &d);
    ti_mjcf_settle(r);
}

void ti_mjcf_joints(ti_mjcf *r, const xmlNode *node, int body, int childclass) {
    for (const xmlNode *c = ti_xml_child(&r->error, node); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c))
        if (is_joint(c)) read_joint(r, c, body, class_of(r, c, childclass));
}
