/* site.c -- points and frames fixed in bodies: added to a builder, asked of a model. */
#include "model/builder.h"
#include "model/state.h"
#include <math.h>

tribo_site_def tribo_default_site(void) {
    return (tribo_site_def){.struct_size = sizeof(tribo_site_def), .quat = {1, 0, 0, 0}};
}

static const char *flaw_of(const tribo_builder *b, ti_site_rec *r) {
    if (r->body < TRIBO_WORLD || r->body >= b->nbody) return "there is no such body";
    if (!ti_places(r->def.pos, 3)) return "pos is not finite, or beyond 1e10 m";
    if (!ti_builder_unit(r->def.quat)) return "quat has no direction";
    return NULL;
}

int tribo_add_site(tribo_builder *b, int body, const tribo_site_def *def) {
    if (!b || b->status != TRIBO_OK) return -1;
    if (!def || def->struct_size != sizeof *def) {
        ti_builder_fail(b, TRIBO_E_DEF, b->line, "site %d: not made by tribo_default_site()", b->nsite);
        return -1;
    }
    ti_site_rec *records = ti_builder_room(b, b->site, &b->site_bytes, b->nsite, sizeof *records);
    if (!records) return -1;
    b->site = records;
    ti_site_rec *r = &b->site[b->nsite];
    *r = (ti_site_rec){.def = *def, .body = body};
    r->def.name = NULL;
    ti_named names = {"site", &b->site_names, b->site->name, sizeof *b->site};
    if (!ti_builder_name(b, names, def->name)) return -1;
    const char *what = flaw_of(b, r);
    if (what) {
        ti_builder_fail(b, TRIBO_E_ARG, b->line, "site %s: %s", r->name, what);
        return -1;
    }
    return b->nsite++;
}

int ti_rec_carried(const tribo_builder *b, int body) {
    int n = 0;
    for (int i = body; i >= 0; i = b->body[i].def.parent) {
        const ti_body_rec *r = &b->body[i];
        if (ti_rec_is_free(r)) n += TI_FREE_NV;
        for (int k = r->joint0; k < r->joint0 + r->njoint; k++)
            n += ti_joint_of((ti_joint_kind)b->joint[k].def.kind)->nv;
    }
    return n;
}

const char *tribo_model_site_name(const tribo_model *m, int site) {
    return m && site >= 0 && site < m->size.nsite ? m->site[site].name : NULL;
}

int tribo_model_site_find(const tribo_model *m, const char *name) {
    for (int i = 0; m && name && i < m->size.nsite; i++)
        if (strcmp(m->site[i].name, name) == 0) return i;
    return -1;
}

int tribo_model_site_body(const tribo_model *m, int site) {
    return m && site >= 0 && site < m->size.nsite ? m->site[site].body : TRIBO_WORLD;
}
