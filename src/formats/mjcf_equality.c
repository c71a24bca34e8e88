/* mjcf_equality.c -- reader of MJCF's equalities: points that are connected, bodies that are welded, joints that are
 * coupled. */
#include "formats/mjcf_reading.h"

/* @return false where there is none, or one that does not move and is not the world itself. */
static bool body_of(ti_mjcf *r, const xmlNode *node, const char *attribute, bool needed, int *body) {
    const char *name = ti_xml_attr(&r->error, node, attribute);
    *body = TRIBO_WORLD;
    if (!name && needed) ti_xml_fail(&r->error, node, attribute, "a body is wanted");
    if (!name || strcmp(name, "world") == 0) return !needed || name;
    int found = ti_builder_body(r->builder, name);
    if (found >= 0) return *body = found, true;
    ti_mjcf_need_of(r, node, attribute, "equality", "`%.60s` is no body with matter that moves", name);
    return false;
}

static bool joint_of(ti_mjcf *r, const xmlNode *node, const char *attribute, bool needed, int *joint) {
    const char *name = ti_xml_attr(&r->error, node, attribute);
    *joint = -1;
    if (!name && needed) ti_xml_fail(&r->error, node, attribute, "a joint is wanted");
    if (!name) return !needed;
    *joint = ti_builder_joint(r->builder, name);
    if (*joint >= 0) return true;
    ti_xml_fail(&r->error, node, attribute, "there is no joint `%.60s`", name);
    return false;
}

/* Where the point of body2 is held in body1, and how body2 is turned, if the file says so. */
static void read_pose(ti_mjcf *r, const xmlNode *node, tribo_equality_def *d) {
    double pose[7] = {0};
    ti_mjcf_numbers(r, node, -1, "relpose", pose, 7, 7);
    if (pose[3] == 0 && pose[4] == 0 && pose[5] == 0 && pose[6] == 0) return; /* as placed */
    d->as_placed = false;
    memcpy(d->quat, pose + 3, sizeof d->quat);
    double n = 1 / sqrt(pose[3] * pose[3] + pose[4] * pose[4] + pose[5] * pose[5] + pose[6] * pose[6]);
    for (int k = 0; k < 4; k++) d->quat[k] *= n;
    memcpy(d->pos_a, pose, sizeof d->pos_a);
}

static void read_one(ti_mjcf *r, const xmlNode *node) {
    tribo_equality_def d = tribo_default_equality();
    const char *active = ti_xml_attr(&r->error, node, "active");
    bool found;
    ti_mjcf_judge(r, node, -1, "equality");
    if (active && strcmp(active, "false") == 0) return;
    if (ti_xml_is(node, "joint")) {
        d.kind = TRIBO_EQUALITY_JOINT;
        found = joint_of(r, node, "joint1", true, &d.a) && joint_of(r, node, "joint2", false, &d.b);
        ti_mjcf_numbers(r, node, -1, "polycoef", d.polynomial, 1, 5);
    } else {
        found = body_of(r, node, "body1", true, &d.a) && body_of(r, node, "body2", false, &d.b);
        bool weld = ti_xml_is(node, "weld");
        d.kind = weld ? TRIBO_EQUALITY_WELD : TRIBO_EQUALITY_CONNECT;
        if (!ti_mjcf_numbers(r, node, -1, "anchor", weld ? d.pos_b : d.pos_a, 3, 3) && !weld)
            ti_xml_fail(&r->error, node, "anchor", "an anchor is wanted");
        if (weld) read_pose(r, node, &d);
    }
    if (!found || ti_mjcf_bad(r)) return;
    ti_mjcf_at(r, node);
    tribo_add_equality(r->builder, &d);
    ti_mjcf_settle(r);
}

void ti_mjcf_equality(ti_mjcf *r, const xmlNode *node) {
    for (const xmlNode *c = ti_xml_child(&r->error, node); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c))
        if (ti_mjcf_child(r, c, "equality")) read_one(r, c);
}
