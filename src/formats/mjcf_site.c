/* mjcf_site.c -- reader of MJCF scenes: sites. What they look like is not read, but for the ends of a segment, which
 * say where it is. */
#include "formats/mjcf_reading.h"
#include "model/shape.h"

static ti_frame pose_of(ti_mjcf *r, const xmlNode *node, int class) {
    ti_frame f;
    double half;
    tribo_shape kind;
    const char *type = ti_mjcf_attr(r, node, class, "type");
    if (!ti_mjcf_attr(r, node, class, "fromto")) return ti_mjcf_frame(r, node, class);
    const ti_shape_row *shape = ti_shape_named(type ? type : "sphere", &kind);
    if (!shape || !shape->segment)
        ti_xml_fail(&r->error, node, "fromto", "a %.40s has no ends", type ? type : "sphere");
    else if (ti_mjcf_ends(r, node, class, &half, f.pos, f.quat))
        return f;
    return ti_mjcf_frame(r, node, class);
}

void ti_mjcf_site(ti_mjcf *r, xmlNode *node, int body, int childclass, const ti_frame *frame) {
    tribo_site_def d = tribo_default_site();
    int class = ti_mjcf_class_of(r, node, childclass);
    if (ti_mjcf_bad(r)) return;
    ti_mjcf_judge(r, node, class, "body");
    d.name = ti_xml_attr(&r->error, node, "name");
    ti_frame own = pose_of(r, node, class), pose = ti_frame_mul(frame, &own);
    if (ti_mjcf_bad(r)) return;
    memcpy(d.pos, pose.pos, sizeof d.pos), memcpy(d.quat, pose.quat, sizeof d.quat);
    ti_mjcf_site_rec *grown = ti_grow(&r->alloc, r->site, &r->site_bytes, (size_t)(r->nsite + 1) * sizeof *r->site);
    if (!grown) {
        r->error.status = TRIBO_E_NOMEM;
        return;
    }
    r->site = grown;
    r->site[r->nsite] = (ti_mjcf_site_rec){node, class, *frame};
    ti_mjcf_at(r, node);
    if (tribo_add_site(r->builder, body, &d) == r->nsite) r->nsite++;
    ti_mjcf_settle(r);
}
