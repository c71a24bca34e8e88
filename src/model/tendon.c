/* tendon.c -- limits of what several joints make together: added to a builder, asked of a model. */
#include "model/builder.h"
#include "model/inertia.h"
#include <math.h>

tribo_tendon_def tribo_default_tendon(void) {
    return (tribo_tendon_def){.struct_size = sizeof(tribo_tendon_def)};
}

const char *ti_tendon_flaw(const double *p) {
    if (!ti_finite(p, TI_P_TENDON)) return "a number is not finite";
    return p[TI_P_SHORTEST] < p[TI_P_LONGEST] ? NULL : "its range must be two numbers in rising order";
}

/* The first body of the tree of a joint. */
static int root_of(const tribo_builder *b, int joint) {
    int body = b->joint[joint].body;
    while (b->body[body].def.parent >= 0) body = b->body[body].def.parent;
    return body;
}

/* A joint among the others, which are in the order of their ways to the root; twice the same counts with both. */
static void insert(tribo_builder *b, ti_tendon_rec *r, int joint, double coef) {
    ti_pull_rec *pull = b->pull + r->pull0;
    int k = r->npull;
    while (k > 0 && pull[k - 1].joint <= joint) k--;
    if (k < r->npull && pull[k].joint == joint) {
        pull[k].coef += coef;
        return;
    }
    memmove(pull + k + 1, pull + k, sizeof *pull * (size_t)(r->npull - k));
    pull[k] = (ti_pull_rec){joint, coef};
    r->npull++, b->npull++;
}

/* What counts with 0 does not count. */
static void drop_idle(tribo_builder *b, ti_tendon_rec *r) {
    ti_pull_rec *pull = b->pull + r->pull0;
    int n = 0;
    for (int k = 0; k < r->npull; k++)
        if (pull[k].coef != 0) pull[n++] = pull[k];
    r->npull = n, b->npull = r->pull0 + n;
}

static const char *take_joints(tribo_builder *b, ti_tendon_rec *r) {
    const tribo_tendon_def *d = &r->def;
    if (d->njoint < 1 || !d->joint) return "it has no joint";
    for (int k = 0; k < d->njoint; k++) {
        double coef = d->coef ? d->coef[k] : 1;
        if (!ti_builder_has_axis(b, d->joint[k])) return "it has something that is no hinge and no slide";
        if (!isfinite(coef)) return "a coefficient is not finite";
        ti_pull_rec *pulls = ti_builder_room(b, b->pull, &b->pull_bytes, b->npull, sizeof *pulls);
        if (!pulls) return NULL;
        b->pull = pulls;
        insert(b, r, d->joint[k], coef);
    }
    drop_idle(b, r);
    if (r->npull == 0) return "no joint counts";
    int other = -1;
    const ti_pull_rec *pull = b->pull + r->pull0;
    for (int k = 1; k < r->npull; k++) {
        int root = root_of(b, pull[k].joint);
        if (root == root_of(b, pull[0].joint) || root == other) continue;
        if (other >= 0) return "its joints are of more than two trees";
        other = root;
    }
    return ti_tendon_flaw(d->range);
}

int tribo_add_tendon(tribo_builder *b, const tribo_tendon_def *def) {
    if (!b || b->status != TRIBO_OK) return -1;
    if (!def || def->struct_size != sizeof *def) {
        ti_builder_fail(b, TRIBO_E_DEF, b->line, "tendon %d: not made by tribo_default_tendon()", b->ntendon);
        return -1;
    }
    ti_tendon_rec *records = ti_builder_room(b, b->tendon, &b->tendon_bytes, b->ntendon, sizeof *records);
    if (!records) return -1;
    b->tendon = records;
    ti_tendon_rec *r = &b->tendon[b->ntendon];
    *r = (ti_tendon_rec){.def = *def, .pull0 = b->npull};
    ti_named names = {"tendon", &b->tendon_names, b->tendon->name, sizeof *b->tendon};
    if (!ti_builder_name(b, names, def->name)) return -1;
    const char *what = take_joints(b, r);
    if (what) ti_builder_fail(b, TRIBO_E_ARG, b->line, "tendon %s: %s", r->name, what);
    r->def.name = NULL, r->def.joint = NULL, r->def.coef = NULL;
    return b->status == TRIBO_OK ? b->ntendon++ : -1;
}

const char *tribo_model_tendon_name(const tribo_model *m, int tendon) {
    return m && tendon >= 0 && tendon < m->size.ntendon ? m->tendon[tendon].name : NULL;
}

int tribo_model_tendon_find(const tribo_model *m, const char *name) {
    for (int i = 0; m && name && i < m->size.ntendon; i++)
        if (strcmp(m->tendon[i].name, name) == 0) return i;
    return -1;
}
