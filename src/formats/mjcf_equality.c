/* mjcf_equality.c -- reader of MJCF's equalities: points that are connected, bodies that are welded, joints that are
 * coupled. */
#include "formats/mjcf_reading.h"

/* A body, or what moves with one, and where it is in that. */
typedef struct held {
    int body;
    ti_frame frame;
} held;

static const ti_frame AT_ORIGIN = {{0, 0, 0}, {1, 0, 0, 0}};

/* @return false after an error. */
static bool body_of(ti_mjcf *r, const xmlNode *node, const char *attribute, bool needed, held *out) {
    const char *name = ti_xml_attr(&r->error, node, attribute);
    *out = (held){TRIBO_WORLD, AT_ORIGIN};
    if (!name && needed) ti_xml_fail(&r->error, node, attribute, "a body is wanted");
    if (!name || strcmp(name, "world") == 0) return !needed || name;
    out->body = ti_builder_body(r->builder, name);
    if (out->body >= 0) return true;
    for (int i = 0; i < r->nrider; i++) {
        const char *own = ti_xml_attr(&r->error, r->rider[i].node, "name");
        if (own && strcmp(own, name) == 0) return *out = (held){r->rider[i].body, r->rider[i].frame}, true;
    }
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
static void read_pose(ti_mjcf *r, const xmlNode *node, const held side[2], tribo_equality_def *d) {
    double pose[7] = {0};
    ti_mjcf_numbers(r, node, -1, "relpose", pose, 7, 7);
    if (pose[3] == 0 && pose[4] == 0 && pose[5] == 0 && pose[6] == 0) return; /* as placed */
    d->as_placed = false;
    double n = 1 / sqrt(pose[3] * pose[3] + pose[4] * pose[4] + pose[5] * pose[5] + pose[6] * pose[6]);
    ti_frame f = {{pose[0], pose[1], pose[2]}, {pose[3] * n, pose[4] * n, pose[5] * n, pose[6] * n}};
    const double *q = side[1].frame.quat, back[4] = {q[0], -q[1], -q[2], -q[3]};
    f = ti_frame_mul(&side[0].frame, &f);
    memcpy(d->pos_a, f.pos, sizeof d->pos_a);
    ti_quat_mul(f.quat, back, d->quat);
}

/* @return false where there is nothing to hold. */
static bool read_bodies(ti_mjcf *r, const xmlNode *node, bool weld, tribo_equality_def *d) {
    held side[2];
    ti_frame anchor = AT_ORIGIN;
    bool found = body_of(r, node, "body1", true, &side[0]) && body_of(r, node, "body2", false, &side[1]);
    if (!ti_mjcf_numbers(r, node, -1, "anchor", anchor.pos, 3, 3) && !weld)
        ti_xml_fail(&r->error, node, "anchor", "an anchor is wanted");
    if (!found || ti_mjcf_bad(r)) return false;
    d->a = side[0].body, d->b = side[1].body;
    anchor = ti_frame_mul(&side[weld].frame, &anchor);
    memcpy(weld ? d->pos_b : d->pos_a, anchor.pos, sizeof anchor.pos);
    if (weld) read_pose(r, node, side, d);
    const char *one = ti_xml_attr(&r->error, node, "body1"), *other = ti_xml_attr(&r->error, node, "body2");
    bool itself = other && strcmp(one, other) == 0, together = d->a == d->b && (d->a < 0 || d->as_placed);
    return itself || !together; /* what moves together stays as it was placed */
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
