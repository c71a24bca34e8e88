/* mjcf_equality.c -- reader of MJCF's equalities: points that are connected, bodies that are welded, joints that are
 * coupled. */
#include "formats/mjcf_reading.h"

/* The element of a body of this name, in `node` or below. */
static const xmlNode *element_of(const xmlNode *node, const char *name) {
    for (const xmlNode *c = node->children; c; c = c->next) {
        if (c->type != XML_ELEMENT_NODE) continue;
        ti_xml_error none = {0};
        const char *own = ti_xml_is(c, "body") ? ti_xml_attr(&none, c, "name") : NULL;
        const xmlNode *found = own && strcmp(own, name) == 0 ? c : element_of(c, name);
        if (found) return found;
    }
    return NULL;
}

/* @return false where there is none, or one that does not move and is not the world itself. */
static bool body_of(ti_mjcf *r, const xmlNode *node, const char *attribute, bool needed, int *body) {
    const char *name = ti_xml_attr(&r->error, node, attribute);
    *body = TRIBO_WORLD;
    if (!name && needed) ti_xml_fail(&r->error, node, attribute, "a body is wanted");
    if (!name || strcmp(name, "world") == 0) return !needed || name;
    int found = ti_builder_body(r->builder, name);
    if (found >= 0) return *body = found, true;
    if (element_of(r->root, name))
        ti_mjcf_need_of(r, node, attribute, "equality", "`%.60s` is no body with matter that moves", name);
    else
        ti_xml_fail(&r->error, node, attribute, "there is no body `%.60s`", name);
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

static bool has_joint(const xmlNode *body) {
    for (const xmlNode *c = body->children; c; c = c->next)
        if (c->type == XML_ELEMENT_NODE && (ti_xml_is(c, "joint") || ti_xml_is(c, "freejoint"))) return true;
    return false;
}

/* Whether a body is the world, or there and on nothing that moves. */
static bool stands(const ti_mjcf *r, const char *name) {
    if (!name || strcmp(name, "world") == 0) return true;
    const xmlNode *body = element_of(r->root, name);
    if (!body) return false;
    for (; body && !ti_xml_is(body, "worldbody"); body = body->parent)
        if (has_joint(body)) return false;
    return true;
}

/* Nothing has to hold what does not move. */
static bool both_stand(ti_mjcf *r, const xmlNode *node) {
    const char *a = ti_xml_attr(&r->error, node, "body1"), *b = ti_xml_attr(&r->error, node, "body2");
    return a && stands(r, a) && stands(r, b);
}

static int site_of(ti_mjcf *r, const xmlNode *node, const char *attribute) {
    const char *name = ti_xml_attr(&r->error, node, attribute);
    int site = name ? ti_builder_site(r->builder, name) : -1;
    if (!name)
        ti_xml_fail(&r->error, node, attribute, "both sites are wanted");
    else if (site < 0)
        ti_xml_fail(&r->error, node, attribute, "there is no site `%.60s`", name);
    return site;
}

/* The frames of two sites, together. @return false where there is nothing to hold. */
static bool read_sites(ti_mjcf *r, const xmlNode *node, tribo_equality_def *d) {
    int one = site_of(r, node, "site1"), other = site_of(r, node, "site2");
    if (ti_mjcf_bad(r)) return false;
    const ti_site_rec *a = &r->builder->site[one], *b = &r->builder->site[other];
    const double *q = b->def.quat, back[4] = {q[0], -q[1], -q[2], -q[3]};
    d->a = a->body, d->b = b->body, d->as_placed = false;
    memcpy(d->pos_a, a->def.pos, sizeof d->pos_a), memcpy(d->pos_b, b->def.pos, sizeof d->pos_b);
    ti_quat_mul(a->def.quat, back, d->quat);
    return d->a >= 0 || d->b >= 0;
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

/* @return false where there is nothing to hold. */
static bool read_bodies(ti_mjcf *r, const xmlNode *node, bool weld, tribo_equality_def *d) {
    if (both_stand(r, node)) return false;
    bool found = body_of(r, node, "body1", true, &d->a) && body_of(r, node, "body2", false, &d->b);
    if (!ti_mjcf_numbers(r, node, -1, "anchor", weld ? d->pos_b : d->pos_a, 3, 3) && !weld)
        ti_xml_fail(&r->error, node, "anchor", "an anchor is wanted");
    if (weld) read_pose(r, node, d);
    return found;
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
        bool weld = ti_xml_is(node, "weld");
        bool sites = ti_xml_attr(&r->error, node, "site1") || ti_xml_attr(&r->error, node, "site2");
        d.kind = weld ? TRIBO_EQUALITY_WELD : TRIBO_EQUALITY_CONNECT;
        found = sites ? read_sites(r, node, &d) : read_bodies(r, node, weld, &d);
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
