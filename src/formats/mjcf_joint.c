/* mjcf_joint.c -- the joints of MJCF's bodies: free, hinges, slides, balls. */
#include "formats/mjcf_reading.h"

static const char *const FALSE_TRUE[] = {"false", "true", NULL};

static bool is_joint(const xmlNode *node) {
    return ti_xml_is(node, "joint") || ti_xml_is(node, "freejoint");
}

static const char *type_of(ti_mjcf *r, const xmlNode *node, int class) {
    if (ti_xml_is(node, "freejoint")) return "free";
    const char *type = ti_mjcf_attr(r, node, class, "type");
    return type ? type : "hinge";
}

/* A free joint has no spring; a <freejoint> has no numbers, nor defaults. */
static void read_free(ti_mjcf *r, xmlNode *node, int class, ti_mjcf_moves *moves) {
    double stiffness;
    moves->free = node;
    ti_mjcf_judge(r, node, ti_xml_is(node, "joint") ? class : -1, "body");
    if (!ti_xml_is(node, "joint")) return;
    ti_mjcf_numbers(r, node, class, "damping", &moves->damping, 1, 1);
    ti_mjcf_numbers(r, node, class, "armature", &moves->armature, 1, 1);
    ti_mjcf_numbers(r, node, class, "frictionloss", &moves->frictionloss, 1, 1);
    if (ti_mjcf_numbers(r, node, class, "stiffness", &stiffness, 1, 1) && stiffness != 0)
        ti_mjcf_need_of(r, node, "stiffness", "stiffness", "of a free joint only 0 is supported");
}

void ti_mjcf_moves_of(ti_mjcf *r, const xmlNode *body, int childclass, int depth, ti_mjcf_moves *moves) {
    for (xmlNode *c = ti_xml_child(&r->error, body); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c)) {
        if (ti_xml_is(c, "frame")) {
            const char *class = ti_xml_attr(&r->error, c, "childclass");
            int inner = class ? ti_mjcf_class_find(r, c, "childclass", class) : childclass;
            ti_mjcf_moves_of(r, c, inner, depth, moves);
        }
        if (!is_joint(c)) continue;
        int class = ti_mjcf_class_of(r, c, childclass);
        bool free = !ti_mjcf_bad(r) && strcmp(type_of(r, c, class), "free") == 0;
        if (moves->way == TI_MOVES_FREELY || (moves->way && free))
            ti_xml_fail(&r->error, c, NULL, "a second joint, beside a free one");
        if (free && depth > 1) ti_xml_fail(&r->error, c, NULL, "a free joint belongs to a body right in the world");
        if (free) read_free(r, c, class, moves);
        moves->way = free ? TI_MOVES_FREELY : TI_MOVES_BY_JOINTS;
    }
}

/* Whether something with a range is limited by it. */
bool ti_mjcf_limited(ti_mjcf *r, const xmlNode *node, int class, const char *limited, const char *range) {
    static const char *const WORDS[] = {"false", "true", "auto", NULL};
    int said = ti_mjcf_choice(r, node, class, limited, WORDS, 2);
    bool given = ti_mjcf_attr(r, node, class, range) != NULL;
    if (said == 1 && !given) ti_xml_fail(&r->error, node, range, "missing: it is said to be limited");
    return said == 1 || (said == 2 && r->autolimits && given);
}

/* Numbers of a joint; of a hinge they are angles. A ball has its range, from 0, and its stiffness alone. */
static void read_numbers(ti_mjcf *r, const xmlNode *node, int class, tribo_joint_def *d) {
    ti_mjcf_numbers(r, node, class, "damping", &d->damping, 1, 1);
    ti_mjcf_numbers(r, node, class, "armature", &d->armature, 1, 1);
    ti_mjcf_numbers(r, node, class, "stiffness", &d->stiffness, 1, 1);
    ti_mjcf_numbers(r, node, class, "springref", &d->springref, 1, 1);
    ti_mjcf_numbers(r, node, class, "frictionloss", &d->frictionloss, 1, 1);
    ti_mjcf_numbers(r, node, class, "ref", &d->ref, 1, 1);
    ti_mjcf_numbers(r, node, class, "range", d->range, 2, 2);
    d->limited = ti_mjcf_limited(r, node, class, "limited", "range");
    if (d->kind == TRIBO_JOINT_SLIDE) return;
    if (d->kind == TRIBO_JOINT_BALL) d->springref = d->ref = 0;
    d->springref *= r->angle, d->ref *= r->angle, d->range[0] *= r->angle, d->range[1] *= r->angle;
}

/* cap: of the forces of all actuators on it, or NULL. */
static void keep_joint(ti_mjcf *r, xmlNode *node, int body, const tribo_joint_def *d, const double *cap) {
    ti_mjcf_at(r, node);
    ti_mjcf_joint *grown = ti_grow(&r->alloc, r->joint, &r->joint_bytes, (size_t)(r->njoint + 1) * sizeof *r->joint);
    if (!grown) {
        r->error.status = TRIBO_E_NOMEM;
        return;
    }
    r->joint = grown;
    r->joint[r->njoint] = (ti_mjcf_joint){node, d->kind != TRIBO_JOINT_SLIDE};
    if (tribo_add_joint(r->builder, body, d) == r->njoint) r->njoint++;
    if (cap) tribo_cap_joint(r->builder, r->njoint - 1, cap[0], cap[1]);
    ti_mjcf_settle(r);
}

static void read_joint(ti_mjcf *r, xmlNode *node, int body, int class, const ti_frame *frame) {
    tribo_joint_def d = tribo_default_joint();
    const char *type = type_of(r, node, class);
    ti_mat R = ti_quat_mat(frame->quat);
    ti_mjcf_judge(r, node, class, "body");
    if (strcmp(type, "slide") == 0)
        d.kind = TRIBO_JOINT_SLIDE;
    else if (strcmp(type, "ball") == 0)
        d.kind = TRIBO_JOINT_BALL;
    else if (strcmp(type, "hinge") != 0)
        ti_xml_fail(&r->error, node, "type", "`%.40s` is not supported, only free, ball, hinge and slide", type);
    d.name = ti_xml_attr(&r->error, node, "name");
    ti_mjcf_numbers(r, node, class, "axis", d.axis, 3, 3);
    ti_mjcf_numbers(r, node, class, "pos", d.pos, 3, 3);
    ti_store3(d.axis, ti_mul(&R, ti_load3(d.axis)));
    ti_store3(d.pos, ti_add(ti_load3(frame->pos), ti_mul(&R, ti_load3(d.pos))));
    read_numbers(r, node, class, &d);
    d.actuatorgravcomp = ti_mjcf_choice(r, node, class, "actuatorgravcomp", FALSE_TRUE, 0) == 1;
    double range[2];
    bool capped = d.kind != TRIBO_JOINT_BALL && ti_mjcf_numbers(r, node, class, "actuatorfrcrange", range, 2, 2) &&
                  ti_mjcf_limited(r, node, class, "actuatorfrclimited", "actuatorfrcrange");
    if (!ti_mjcf_bad(r)) keep_joint(r, node, body, &d, capped ? range : NULL);
}

void ti_mjcf_borne(ti_mjcf *r) {
    const tribo_builder *b = r->builder;
    bool lifted = false;
    for (int i = 0; i < b->nbody; i++) lifted = lifted || b->body[i].def.gravcomp != 0;
    for (int i = 0; i < r->njoint && lifted && b->nactuator == 0; i++)
        if (b->joint[i].def.actuatorgravcomp)
            ti_mjcf_need_of(r, r->joint[i].node, "actuatorgravcomp", "actuatorgravcomp",
                            "there is no actuator, and without one MuJoCo carries nothing here");
}

void ti_mjcf_joints(ti_mjcf *r, xmlNode *node, int body, int childclass, const ti_frame *frame) {
    for (xmlNode *c = ti_xml_child(&r->error, node); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c)) {
        if (is_joint(c)) read_joint(r, c, body, ti_mjcf_class_of(r, c, childclass), frame);
        if (!ti_xml_is(c, "frame")) continue;
        ti_frame inner;
        int class = ti_mjcf_enter(r, c, childclass, frame, &inner);
        ti_mjcf_joints(r, c, body, class, &inner);
    }
}
