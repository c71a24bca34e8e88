/* build.c -- from the builder's records to the immutable model: one block, laid out by the same code that sizes it. */
#include "model/builder.h"
#include "model/inertia.h"
#include "model/model.h"
#include "model/possible.h"
#include "model/shape.h"
#include "model/state.h"
#include <stdio.h>

/* What the layout needs to know. */
typedef struct plan {
    int nbody, njoint, nfree, nbraked, ngeom, npair, nequality, nmoving; /* nmoving: geoms of bodies */
    int nactuator, npull, ncap, nkey, nsite, nsited, ntendon;            /* nsited: actuators at sites */
    bool fluid;
    int nq, nv;
    int nmesh;
    ti_mesh *const *mesh;
    size_t text; /* bytes of all names */
} plan;

/* Of p. */
static int numbers(const plan *n) {
    return TI_P_BODIES + n->nbody * TI_P_BODY + n->njoint * TI_P_JOINT + n->nbraked * TI_P_FREE +
           n->nactuator * TI_P_ACTUATOR + n->nsited * TI_P_MORE_GEARS + n->fluid * TI_P_FLUID +
           n->ntendon * TI_P_TENDON + n->nsite * TI_P_SITE + n->ngeom * TI_P_GEOM + n->npair * TI_P_PAIR;
}

static tribo_model *lay_out(ti_arena *at, const tribo_builder *b, const plan *n, char **text) {
    tribo_model local, *m;
    TI_CARVE(at, m, 1);
    tribo_model *w = m ? m : &local; /* the first pass only counts */
    TI_CARVE(at, w->body, n->nbody);
    TI_CARVE(at, w->tree, n->nbody);
    TI_CARVE(at, w->box, n->fluid ? n->nbody : 0);
    TI_CARVE(at, w->joint, n->njoint + n->nfree);
    TI_CARVE(at, w->dof, n->nv);
    TI_CARVE(at, w->geom, n->ngeom);
    TI_CARVE(at, w->body_geom, n->nmoving);
    int np = numbers(n);
    TI_CARVE(at, w->actuator, n->nactuator);
    TI_CARVE(at, w->key, (size_t)n->nkey * (size_t)(n->nq + n->nv + n->nactuator));
    TI_CARVE(at, w->key_name, n->nkey);
    TI_CARVE(at, w->pull, n->npull);
    TI_CARVE(at, w->cap, n->ncap);
    TI_CARVE(at, w->tendon, n->ntendon);
    TI_CARVE(at, w->site, n->nsite);
    TI_CARVE(at, w->mesh, n->nmesh);
    for (int i = 0; i < n->nmesh; i++) ti_mesh_copy(at, n->mesh[i], m ? &m->mesh[i] : NULL);
    TI_CARVE(at, w->p0, np);
    TI_CARVE(at, w->used, np);
    TI_CARVE(at, w->x0, n->nq + n->nv);
    TI_CARVE(at, w->pair_name, n->npair);
    TI_CARVE(at, w->pair_geom, 2 * n->npair);
    TI_CARVE(at, w->equality, n->nequality);
    ti_possible_carve(at, b, w);
    TI_CARVE(at, *text, n->text);
    return m;
}

static void material_numbers(const tribo_material *m, double out[TI_P_PAIR]) {
    out[TI_M_FRICTION] = m->friction;
    out[TI_M_STICTION] = m->stiction;
    out[TI_M_RESTITUTION] = m->restitution;
    out[TI_M_BAUMGARTE] = m->baumgarte;
    out[TI_M_SLOP] = m->slop;
    out[TI_M_TORSION] = m->torsion;
    out[TI_M_ROLLING] = m->rolling;
    out[TI_M_COMPLIANCE] = m->compliance;
}

/* A geom that touches nothing, a number of a material that never counts, a plane's size: the dynamics sees none. */
static void mark_used(tribo_model *m) {
    for (int i = 0; i < TI_P_BODIES + m->size.nbody * TI_P_BODY; i++) m->used[i] = true;
    for (int i = 0; i < m->size.njoint; i++) {
        const ti_joint *j = &m->joint[i];
        bool *used = m->used + j->p, ball = j->kind == TI_JOINT_BALL;
        used[TI_P_DAMPING] = used[TI_P_ARMATURE] = used[TI_P_STIFFNESS] = true;
        used[TI_P_SPRINGREF] = !ball;
        used[TI_P_FRICTIONLOSS] = j->dry;
        used[TI_P_LOWER] = j->limited && !ball;
        used[TI_P_UPPER] = used[TI_P_BOUNCE] = j->limited;
    }
    for (int i = m->size.njoint; i < ti_joints(m); i++) {
        const ti_joint *j = &m->joint[i];
        if (j->p >= 0) m->used[j->p + TI_P_DAMPING] = m->used[j->p + TI_P_ARMATURE] = true;
        if (j->p >= 0) m->used[ti_loss_at(j)] = j->dry;
    }
    ti_possible_used(m);
}

static char *take_text(char **text, const char *name) {
    char *at = *text;
    size_t n = strlen(name) + 1;
    memcpy(at, name, n);
    *text += n;
    return at;
}

/* The next joint of body i, or its free one. */
static void add_joint(tribo_model *m, const tribo_builder *b, ti_body *body, int i, int k, int q, int v, char **text) {
    const ti_joint_rec *r = &b->joint[k];
    int p = TI_P_BODIES + b->nbody * TI_P_BODY + k * TI_P_JOINT;
    ti_joint *j = &m->joint[k];
    const tribo_joint_def *d = &r->def;
    *j =
        (ti_joint){.name = take_text(text, r->name), .kind = (ti_joint_kind)d->kind, .body = i, .q = q, .v = v, .p = p};
    memcpy(j->axis, d->axis, sizeof j->axis), memcpy(j->pos, d->pos, sizeof j->pos);
    j->ref = d->ref, j->limited = d->limited, j->dry = d->frictionloss > 0;
    for (int n = 0; n < TI_P_PAIR; n++) j->material[n] = n == TI_M_RESTITUTION ? p + TI_P_BOUNCE : -1;
    const double own[TI_P_JOINT] = {d->damping,      d->armature, d->stiffness, d->springref,
                                    d->frictionloss, d->range[0], d->range[1],  d->restitution};
    memcpy(m->p0 + p, own, sizeof own);
    body->njoint++;
}

/* After those of the other joints. */
static void add_free(tribo_model *m, const tribo_builder *b, ti_body *body, int i, int q, int v) {
    const tribo_body_def *d = &b->body[i].def;
    const double own[TI_P_FREE] = {d->damping, d->armature, d->frictionloss};
    int p = TI_P_BODIES + b->nbody * TI_P_BODY + b->njoint * TI_P_JOINT + m->nbraked * TI_P_FREE;
    bool braked = ti_rec_is_braked(&b->body[i]);
    body->free = m->size.njoint + m->nfree++;
    m->joint[body->free] =
        (ti_joint){.kind = TI_JOINT_FREE, .body = i, .q = q, .v = v, .p = braked ? p : -1, .dry = d->frictionloss > 0};
    if (braked) memcpy(m->p0 + p, own, sizeof own), m->nbraked++;
}

/* Its place in a tree, and its joints. @return how many numbers it has in v. */
static int place_body(tribo_model *m, const tribo_builder *b, int i, int q, int v, char **text) {
    const ti_body_rec *r = &b->body[i];
    ti_body *body = &m->body[i];
    bool is_free = ti_rec_is_free(r);
    body->q = q, body->v = v, body->joint0 = r->joint0, body->parent = r->def.parent, body->free = -1;
    body->gravcomp = r->def.gravcomp, m->lifted = m->lifted || r->def.gravcomp != 0;
    memcpy(body->pos, r->def.pos, sizeof body->pos), memcpy(body->quat, r->def.quat, sizeof body->quat);
    int nq = 0, nv = 0;
    for (int k = r->joint0; k < r->joint0 + r->njoint; k++) {
        const ti_joint_row *row = ti_joint_of((ti_joint_kind)b->joint[k].def.kind);
        add_joint(m, b, body, i, k, q + nq, v + nv, text);
        nq += row->nq, nv += row->nv;
    }
    if (is_free) add_free(m, b, body, i, q, v), nv = TI_FREE_NV;
    if (body->parent < 0)
        m->tree[m->ntree++] = (ti_tree){.body0 = i, .q = q, .v = v, .rooted = is_free, .framed = ti_rec_is_braked(r)};
    ti_tree *tree = &m->tree[m->ntree - 1];
    body->tree = m->ntree - 1;
    tree->nbody++, tree->nv += nv;
    tree->single = tree->rooted && !tree->framed && tree->nbody == 1;
    return nv;
}

/* Number k of a joint, all of which `carrier` is before. */
static ti_dof dof_of(const ti_joint *j, int joint, int k, int carrier) {
    int at = j->v + k;
    ti_dof d = {.joint = joint, .before = k ? at - 1 : carrier, .moved_by = carrier, .carried_by = carrier, .end = at};
    if (j->kind == TI_JOINT_BALL) {
        d.moved_by = d.end = j->v + 2;
    } else if (j->kind == TI_JOINT_FREE) {
        int turns = k >= 3;
        d.end = j->v + (turns ? TI_FREE_NV - 1 : 2);
        d.moved_by = turns ? d.end : -1, d.carried_by = turns ? j->v + 2 : -1;
    }
    return d;
}

/* The numbers of v that move body i, after those of its parent. */
static void chain_dofs(tribo_model *m, int i) {
    ti_body *body = &m->body[i];
    body->last = body->parent >= 0 ? m->body[body->parent].last : -1;
    int first = body->free >= 0 ? body->free : body->joint0, last = body->free >= 0 ? first : first + body->njoint - 1;
    for (int k = first; k <= last; k++) {
        const ti_joint *j = &m->joint[k];
        int n = ti_joint_of(j->kind)->nv;
        for (int d = 0; d < n; d++) m->dof[j->v + d] = dof_of(j, k, d, body->last);
        body->last = j->v + n - 1;
    }
}

/* Whether others are welded to a free root: what moves them is all that moves it. */
static bool is_welded(const tribo_model *m, const ti_tree *tree) {
    for (int b = tree->body0 + 1; tree->rooted && b < tree->body0 + tree->nbody; b++)
        if (m->body[b].last == m->body[tree->body0].last) return true;
    return false;
}

static bool is_few(const tribo_model *m, const ti_tree *tree) {
    for (int d = tree->v; d < tree->v + tree->nv; d++) {
        ti_joint_kind kind = m->joint[m->dof[d].joint].kind;
        if (kind != TI_JOINT_HINGE && kind != TI_JOINT_SLIDE) return false;
    }
    for (int b = tree->body0; b < tree->body0 + tree->nbody; b++)
        if (m->body[b].gravcomp != 0) return false;
    return tree->nv <= TI_FEW;
}

static void measure_trees(tribo_model *m) {
    for (int i = 0; i < m->size.nbody; i++) chain_dofs(m, i);
    for (int t = 0; t < m->ntree; t++) {
        int nv = m->tree[t].nv;
        m->tree[t].M = m->nM, m->tree[t].shifted = m->tree[t].framed || is_welded(m, &m->tree[t]);
        m->tree[t].few = is_few(m, &m->tree[t]);
        m->chains = m->chains || !m->tree[t].single;
        m->nM += (size_t)nv * (size_t)nv;
        if (nv > m->widest) m->widest = nv;
    }
}

static void fill_bodies(tribo_model *m, const tribo_builder *b, char **text) {
    int geom0 = 0, q = 0, v = 0;
    for (int i = 0; i < b->nbody; i++) {
        const ti_body_rec *r = &b->body[i];
        ti_body *body = &m->body[i];
        *body = (ti_body){.name = take_text(text, r->name), .p = TI_P_BODIES + i * TI_P_BODY, .geom0 = geom0};
        int nv = place_body(m, b, i, q, v, text);
        double *p = m->p0 + body->p;
        p[TI_P_MASS] = r->def.mass;
        memcpy(p + TI_P_COM, r->def.com, sizeof r->def.com);
        memcpy(p + TI_P_INERTIA, r->def.inertia, sizeof r->def.inertia);
        for (int g = r->geom_first; g >= 0; g = b->geom[g].next) m->body_geom[geom0 + body->ngeom++] = g;
        geom0 += body->ngeom;
        q += ti_rec_start(b, r, m->x0 + q), v += nv;
    }
    measure_trees(m);
    if (b->q) memcpy(m->x0, b->q, sizeof(double) * (size_t)m->size.nq);
    if (b->v) memcpy(m->x0 + m->size.nq, b->v, sizeof(double) * (size_t)m->size.nv);
}

static void fill_joints(const tribo_model *m, const ti_pull_rec *from, int n, ti_pull *pull) {
    for (int k = 0; k < n; k++) pull[k] = (ti_pull){m->joint[from[k].joint].q, m->joint[from[k].joint].v, from[k].coef};
}

/* The joints that an actuator pulls on, or all numbers of v that move its site. @return how many */
static int fill_pulls(tribo_model *m, const tribo_builder *b, const ti_actuator_rec *r, ti_pull *pull) {
    const tribo_actuator_def *d = &r->def;
    int n = 0;
    if (d->site >= 0) {
        for (int v = m->body[b->site[d->site].body].last; v >= 0; v = m->dof[v].before) pull[n++] = (ti_pull){-1, v, 0};
        return n;
    }
    fill_joints(m, b->pull + r->pull0, d->njoint, pull);
    return d->njoint;
}

/* After the joints. */
static void fill_actuators(tribo_model *m, const tribo_builder *b, char **text) {
    int at = TI_P_BODIES + b->nbody * TI_P_BODY + b->njoint * TI_P_JOINT + m->nbraked * TI_P_FREE;
    int more = at + b->nactuator * TI_P_ACTUATOR;
    for (int i = 0; i < b->nactuator; i++, at += TI_P_ACTUATOR) {
        const ti_actuator_rec *r = &b->actuator[i];
        const tribo_actuator_def *d = &r->def;
        bool sited = d->site >= 0;
        int npull = fill_pulls(m, b, r, m->pull + m->npull);
        m->actuator[i] = (ti_actuator){.name = take_text(text, r->name),
                                       .p = at,
                                       .pull0 = m->npull,
                                       .npull = npull,
                                       .site = d->site,
                                       .more = sited ? more : -1,
                                       .ctrl_limited = d->ctrl_limited,
                                       .force_limited = d->force_limited};
        m->npull += npull, m->nsited += sited;
        ti_actuator_numbers(d, m->p0 + at);
        for (int k = 0; k < TI_P_CTRLRANGE; k++) m->used[at + k] = true;
        if (sited) m->used[at + TI_P_GAIN + 1] = m->used[at + TI_P_BIAS + 1] = false; /* it has no length */
        for (int k = 0; sited && k < TI_P_MORE_GEARS; k++) m->p0[more] = d->wrench[k + 1], m->used[more++] = true;
        for (int k = 0; k < 2; k++) {
            m->used[at + TI_P_CTRLRANGE + k] = d->ctrl_limited;
            m->used[at + TI_P_FORCERANGE + k] = d->force_limited;
        }
    }
    m->ncap = b->ncap, m->nkey = b->nkey;
    for (int i = 0; i < b->nkey; i++) m->key_name[i] = take_text(text, b->key_name[i]);
    if (b->nkey) memcpy(m->key, b->key, sizeof *m->key * (size_t)b->nkey * (size_t)b->nkeyed);
    for (int k = 0; k < b->ncap; k++) {
        bool bears = m->lifted && b->joint[b->cap[k].joint].def.actuatorgravcomp;
        m->cap[k] = (ti_cap){m->joint[b->cap[k].joint].v, {0}, bears};
        m->nborne += bears;
        memcpy(m->cap[k].range, b->cap[k].range, sizeof m->cap[k].range);
    }
}

/* The axes of the inertia of a body: as given, those of the only geom that weighs, or else found. */
static ti_mat axes_of(const tribo_builder *b, int body) {
    const ti_body_rec *r = &b->body[body];
    const double *only = r->turned ? r->axes : NULL;
    int n = 0;
    for (int g = r->geom_first; g >= 0 && r->summed; g = b->geom[g].next) {
        double mass, com[3], I[6];
        ti_geom_inertia(&b->geom[g].def, ti_builder_mesh_of(b, &b->geom[g].def), &mass, com, I);
        if (mass > 0) only = n++ ? NULL : b->geom[g].def.quat;
    }
    double moments[3];
    return only ? ti_quat_mat(only) : ti_principal_axes(r->def.inertia, moments);
}

/* Before the tendons. */
static void fill_fluid(tribo_model *m, const tribo_builder *b) {
    m->fluid = m->size.np - b->npair * TI_P_PAIR - b->ngeom * TI_P_GEOM - b->nsite * TI_P_SITE -
               b->ntendon * TI_P_TENDON - TI_P_FLUID;
    memcpy(m->p0 + m->fluid, b->fluid, sizeof b->fluid);
    for (int k = 0; k < TI_P_FLUID; k++) m->used[m->fluid + k] = true;
    for (int i = 0; i < b->nbody; i++) m->box[i] = axes_of(b, i);
}

/* Before the sites. */
static void fill_tendons(tribo_model *m, const tribo_builder *b, char **text) {
    int at = m->size.np - b->npair * TI_P_PAIR - b->ngeom * TI_P_GEOM - b->nsite * TI_P_SITE - b->ntendon * TI_P_TENDON;
    for (int i = 0; i < b->ntendon; i++, at += TI_P_TENDON) {
        const ti_tendon_rec *r = &b->tendon[i];
        ti_tendon *t = &m->tendon[i];
        *t = (ti_tendon){take_text(text, r->name), at, m->npull, r->npull, TRIBO_WORLD, TRIBO_WORLD, {0}};
        fill_joints(m, b->pull + r->pull0, r->npull, m->pull + m->npull);
        m->npull += r->npull;
        for (int k = 0; k < r->npull; k++) {
            int body = b->joint[b->pull[r->pull0 + k].joint].body;
            if (k == 0) t->b = body;
            if (m->body[body].tree != m->body[t->b].tree) t->a = body;
        }
        for (int n = 0; n < TI_P_PAIR; n++) t->material[n] = -1;
        for (int k = 0; k < TI_P_TENDON; k++) m->p0[at + k] = r->def.range[k], m->used[at + k] = true;
    }
}

/* A step depends on those that something pulls at. */
static void fill_sites(tribo_model *m, const tribo_builder *b, char **text) {
    int at = m->size.np - b->npair * TI_P_PAIR - b->ngeom * TI_P_GEOM - b->nsite * TI_P_SITE;
    for (int i = 0; i < b->nsite; i++, at += TI_P_SITE) {
        const ti_site_rec *r = &b->site[i];
        m->site[i] = (ti_site){take_text(text, r->name), r->body, at};
        memcpy(m->p0 + at + TI_P_SITE_POS, r->def.pos, sizeof r->def.pos);
        memcpy(m->p0 + at + TI_P_SITE_QUAT, r->def.quat, sizeof r->def.quat);
    }
    for (int i = 0; i < m->size.nactuator; i++)
        for (int k = 0; m->actuator[i].site >= 0 && k < TI_P_SITE; k++)
            m->used[m->site[m->actuator[i].site].p + k] = true;
}

static void fill_geoms(tribo_model *m, const tribo_builder *b, char **text) {
    int at = m->size.np - b->npair * TI_P_PAIR - b->ngeom * TI_P_GEOM;
    for (int i = 0; i < b->ngeom; i++, at += TI_P_GEOM) {
        const ti_geom_rec *r = &b->geom[i];
        const tribo_geom_def *d = &r->def;
        m->geom[i] = (ti_geom){.name = take_text(text, r->name),
                               .shape = d->shape,
                               .mesh = ti_shape_of(d->shape)->meshed ? &m->mesh[d->mesh] : NULL,
                               .body = r->body,
                               .p = at,
                               .priority = d->priority,
                               .contype = d->contype,
                               .conaffinity = d->conaffinity};
        memcpy(m->p0 + at + TI_P_SIZE, d->size, sizeof d->size);
        memcpy(m->p0 + at + TI_P_POS, d->pos, sizeof d->pos);
        memcpy(m->p0 + at + TI_P_QUAT, d->quat, sizeof d->quat);
        m->p0[at + TI_P_EDGE_RADIUS] = d->edge_radius;
        material_numbers(&d->material, m->p0 + at + TI_P_MATERIAL);
    }
    for (int i = 0; i < b->npair; i++, at += TI_P_PAIR) {
        m->pair_name[i] = take_text(text, b->pair[i].name);
        m->pair_geom[2 * i] = b->pair[i].def.geom_a;
        m->pair_geom[2 * i + 1] = b->pair[i].def.geom_b;
        material_numbers(&b->pair[i].def.material, m->p0 + at);
    }
}

/* The sum over a body's geoms. */
void ti_builder_sum(const tribo_builder *b, int body, double *mass, double com[3], double inertia[6]) {
    double m, c[3], I[6];
    *mass = 0;
    for (int i = 0; i < 3; i++) com[i] = 0;
    for (int e = 0; e < 6; e++) inertia[e] = 0;
    for (int g = b->body[body].geom_first; g >= 0; g = b->geom[g].next) {
        ti_geom_inertia(&b->geom[g].def, ti_builder_mesh_of(b, &b->geom[g].def), &m, c, I);
        *mass += m;
        for (int i = 0; i < 3; i++) com[i] += m * c[i];
    }
    if (!(*mass > 0)) return;
    for (int i = 0; i < 3; i++) com[i] /= *mass;
    for (int g = b->body[body].geom_first; g >= 0; g = b->geom[g].next) {
        ti_geom_inertia(&b->geom[g].def, ti_builder_mesh_of(b, &b->geom[g].def), &m, c, I);
        for (int i = 0; i < 3; i++) c[i] -= com[i];
        ti_add_parallel(I, m, c);
        for (int e = 0; e < 6; e++) inertia[e] += I[e];
    }
}

int ti_rec_carrier(const tribo_builder *b, int body) {
    while (b->body[body].def.parent >= 0 && b->body[body].njoint == 0) body = b->body[body].def.parent;
    return body;
}

const char *ti_builder_matter_flaw(const tribo_builder *b, int body) {
    const tribo_body_def *d = &b->body[body].def;
    const char *what = ti_matter_flaw(d->mass, d->inertia, false);
    int carrier = what ? ti_rec_carrier(b, body) : body;
    double mass = 0;
    bool shared = false;
    for (int i = 0; i < b->nbody && what; i++) { /* seldom */
        if (ti_rec_carrier(b, i) != carrier) continue;
        shared = shared || i != body, mass += b->body[i].def.mass;
    }
    if (!shared || !what) return what;
    return mass > 0 ? ti_matter_flaw(d->mass, d->inertia, true) : "mass must be > 0, with what is welded to it";
}

/* Inertia of the bodies whose geoms are to tell, and whether it can be. */
static bool settle_inertia(tribo_builder *b) {
    for (int i = 0; i < b->nbody; i++) {
        tribo_body_def *d = &b->body[i].def;
        if (d->inertia_given) continue;
        ti_builder_sum(b, i, &d->mass, d->com, d->inertia);
        b->body[i].summed = true;
    }
    for (int i = 0; i < b->nbody; i++) {
        const tribo_body_def *d = &b->body[i].def;
        const char *what = ti_builder_matter_flaw(b, i);
        if (what && !d->inertia_given && d->mass == 0) what = "mass must be > 0: neither given nor from geoms";
        if (what) {
            ti_builder_fail(b, TRIBO_E_ARG, b->body[i].line, "body %s: %s", b->body[i].name, what);
            return false;
        }
    }
    return true;
}

/* What belongs to a free joint, of a body that has none. */
static void judge_brakes(tribo_builder *b) {
    for (int i = 0; i < b->nbody; i++)
        if (ti_rec_has_brakes(&b->body[i]) && !ti_rec_is_free(&b->body[i]))
            ti_builder_fail(b, TRIBO_E_ARG, b->body[i].line,
                            "body %s: damping, armature and frictionloss are of a body that is free", b->body[i].name);
}

/* Equalities between bodies that are welded to one another hold, or never will. */
static void judge_equalities(tribo_builder *b) {
    for (int i = 0; i < b->nequality; i++) {
        const tribo_equality_def *d = &b->equality[i].def;
        if (d->kind == TRIBO_EQUALITY_JOINT || d->a < 0 || d->b < 0) continue;
        if (ti_rec_carrier(b, d->a) == ti_rec_carrier(b, d->b) && !ti_rec_holds(b, &b->equality[i]))
            ti_builder_fail(b, TRIBO_E_ARG, b->equality[i].line,
                            "equality %d: its bodies are welded to one another "
                            "in another pose",
                            i);
    }
}

static const char *text_of(const char *text) {
    return text ? text : "";
}

static plan measure(const tribo_builder *b) {
    plan n = {.nbody = b->nbody, .njoint = b->njoint, .ngeom = b->ngeom, .npair = b->npair, .nequality = b->nequality};
    n.nmesh = b->nmesh, n.mesh = b->mesh;
    ti_builder_widths(b, &n.nq, &n.nv);
    for (int i = 0; i < b->nbody; i++) {
        n.text += strlen(b->body[i].name) + 1;
        n.nfree += ti_rec_is_free(&b->body[i]), n.nbraked += ti_rec_is_braked(&b->body[i]);
    }
    for (int i = 0; i < b->njoint; i++) n.text += strlen(b->joint[i].name) + 1;
    n.text += strlen(text_of(b->lenient)) + strlen(text_of(b->packages)) + 2;
    n.nactuator = b->nactuator, n.npull = b->npull, n.ncap = b->ncap, n.nkey = b->nkey;
    for (int i = 0; i < b->nkey; i++) n.text += strlen(b->key_name[i]) + 1;
    for (int i = 0; i < b->nactuator; i++) n.text += strlen(b->actuator[i].name) + 1;
    n.fluid = ti_builder_has_fluid(b);
    n.nsite = b->nsite, n.ntendon = b->ntendon;
    for (int i = 0; i < b->ntendon; i++) n.text += strlen(b->tendon[i].name) + 1;
    for (int i = 0; i < b->nactuator; i++)
        if (b->actuator[i].def.site >= 0)
            n.nsited++, n.npull += ti_rec_carried(b, b->site[b->actuator[i].def.site].body);
    for (int i = 0; i < b->nsite; i++) n.text += strlen(b->site[i].name) + 1;
    for (int i = 0; i < b->npair; i++) n.text += strlen(b->pair[i].name) + 1;
    for (int i = 0; i < b->ngeom; i++) n.text += strlen(b->geom[i].name) + 1, n.nmoving += b->geom[i].body >= 0;
    return n;
}

static tribo_model *assemble(const tribo_builder *b) {
    plan n = measure(b);
    ti_arena at = {0};
    char *text;
    lay_out(&at, b, &n, &text);
    if (!ti_arena_take(&at, &b->alloc)) return NULL;
    tribo_model *m = lay_out(&at, b, &n, &text);
    m->alloc = b->alloc;
    m->bytes = at.used;
    m->dt = b->dt, m->law = b->law, m->nmesh = n.nmesh;
    m->size = (tribo_sizes){
        .nbody = n.nbody, .njoint = n.njoint, .ngeom = n.ngeom, .npair = n.npair, .nq = n.nq, .nv = n.nv, .nu = n.nv};
    m->size.nx = n.nq + n.nv;
    m->size.ndx = 2 * n.nv;
    m->size.nactuator = n.nactuator, m->size.nu += n.nactuator;
    m->size.nsite = n.nsite, m->size.ntendon = n.ntendon;
    m->size.np = numbers(&n);
    memcpy(m->p0 + TI_P_GRAVITY, b->gravity, sizeof b->gravity);
    m->lenient = take_text(&text, text_of(b->lenient)), m->packages = take_text(&text, text_of(b->packages));
    m->free_base = b->free_base;
    fill_bodies(m, b, &text);
    fill_actuators(m, b, &text);
    ti_model_ways(m);
    if (n.fluid) fill_fluid(m, b);
    fill_tendons(m, b, &text);
    fill_sites(m, b, &text);
    fill_geoms(m, b, &text);
    ti_possible_fill(m, b);
    m->size.nequality = n.nequality, m->chains = m->chains || n.nequality > 0 || m->nsited > 0;
    for (int i = 0; i < n.nequality; i++) ti_rec_equality(b, &b->equality[i], &m->equality[i]);
    mark_used(m);
    return m;
}

tribo_status tribo_build(tribo_builder *b, tribo_model **m, tribo_diag *diag) {
    if (!b) return ti_fail(diag, TRIBO_E_NOMEM, 0, "there is no builder: out of memory");
    if (!m) ti_builder_fail(b, TRIBO_E_ARG, 0, "no place for the model was given");
    if (b->status == TRIBO_OK && b->nbody == 0)
        ti_builder_fail(b, TRIBO_E_ARG, b->line, "there is no body that moves: none has a joint");
    if (b->status == TRIBO_OK && b->nstart && b->nstart != b->nbody + b->njoint)
        ti_builder_fail(b, TRIBO_E_ARG, 0, "bodies or joints were added after the start state was given");
    if (b->status == TRIBO_OK && b->nkey && b->nkeyed != ti_builder_key_width(b))
        ti_builder_fail(b, TRIBO_E_ARG, 0, "bodies, joints or actuators were added after a key");
    if (b->status == TRIBO_OK) settle_inertia(b);
    if (b->status == TRIBO_OK) judge_brakes(b);
    if (b->status == TRIBO_OK) judge_equalities(b);
    if (b->status == TRIBO_OK) ti_builder_damp(b);
    tribo_model *made = b->status == TRIBO_OK ? assemble(b) : NULL;
    if (b->status == TRIBO_OK && !made) ti_builder_fail(b, TRIBO_E_NOMEM, 0, "out of memory");
    tribo_status status = b->status;
    if (status != TRIBO_OK && diag) *diag = b->diag;
    if (status == TRIBO_OK) *m = made;
    tribo_builder_free(b);
    return status;
}
