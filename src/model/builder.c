/* builder.c -- collects bodies, geoms and pairs, and remembers the first thing that was wrong. */
#include "model/builder.h"
#include "model/inertia.h"
#include "model/shape.h"
#include "model/state.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

tribo_body_def tribo_default_body(void) {
    return (tribo_body_def){.struct_size = sizeof(tribo_body_def), .parent = TRIBO_WORLD, .quat = {1, 0, 0, 0}};
}

tribo_joint_def tribo_default_joint(void) {
    return (tribo_joint_def){.struct_size = sizeof(tribo_joint_def), .axis = {0, 0, 1}};
}

tribo_geom_def tribo_default_geom(void) {
    return (tribo_geom_def){.struct_size = sizeof(tribo_geom_def),
                            .shape = TRIBO_SPHERE,
                            .quat = {1, 0, 0, 0},
                            .mass = -1,
                            .density = 1000,
                            .material = {.friction = 1, .baumgarte = 1},
                            .contype = 1,
                            .conaffinity = 1,
                            .mesh = -1};
}

tribo_pair_def tribo_default_pair(void) {
    return (tribo_pair_def){
        .struct_size = sizeof(tribo_pair_def), .geom_a = -1, .geom_b = -1, .material = {.friction = 1, .baumgarte = 1}};
}

tribo_builder *tribo_builder_new(const tribo_allocator *a) {
    tribo_builder *b = ti_alloc(a, sizeof *b);
    if (!b) return NULL;
    if (a) b->alloc = *a;
    b->gravity[2] = -9.81;
    b->dt = 0.002;
    return b;
}

void tribo_builder_free(tribo_builder *b) {
    if (!b) return;
    tribo_allocator a = b->alloc;
    ti_free(&a, b->body, b->body_bytes);
    ti_free(&a, b->joint, b->joint_bytes);
    ti_free(&a, b->geom, b->geom_bytes);
    ti_free(&a, b->pair, b->pair_bytes);
    ti_free(&a, b->exclude, b->exclude_bytes);
    ti_free(&a, b->equality, b->equality_bytes);
    ti_free(&a, b->actuator, b->actuator_bytes);
    ti_free(&a, b->pull, b->pull_bytes);
    ti_free(&a, b->tendon, b->tendon_bytes);
    ti_free(&a, b->cap, b->cap_bytes);
    ti_free(&a, b->site, b->site_bytes);
    for (int i = 0; i < b->nmesh; i++) ti_mesh_free(&a, b->mesh[i]);
    ti_free(&a, b->mesh, b->mesh_bytes);
    ti_free(&a, b->q, b->q_bytes);
    ti_free(&a, b->key, b->key_bytes);
    ti_free(&a, b->key_name, b->key_name_bytes);
    ti_free(&a, b->v, b->v_bytes);
    ti_names *names[] = {&b->body_names,     &b->joint_names,  &b->geom_names, &b->site_names,
                         &b->actuator_names, &b->tendon_names, &b->key_names};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) ti_free(&a, names[i]->slot, names[i]->bytes);
    ti_free(&a, b, sizeof *b);
}

void ti_builder_fail(tribo_builder *b, tribo_status s, int line, const char *format, ...) {
    if (b->status != TRIBO_OK) return;
    b->status = s;
    b->diag.line = line;
    va_list args;
    va_start(args, format);
    vsnprintf(b->diag.text, sizeof b->diag.text, format, args);
    va_end(args);
}

/* Room for one more record; sticks TRIBO_E_NOMEM. */
static void *room(tribo_builder *b, void *records, size_t *bytes, int n, size_t size) {
    void *p = ti_grow(&b->alloc, records, bytes, (size_t)(n + 1) * size);
    if (!p) ti_builder_fail(b, TRIBO_E_NOMEM, b->line, "out of memory");
    return p;
}

/* Copy a name that is given. Names appear in paths and in the headers of tables. */
static bool copy_name(tribo_builder *b, const char *kind, const char *name, char *out, size_t max) {
    size_t n = strlen(name);
    if (n > max) {
        ti_builder_fail(b, TRIBO_E_ARG, b->line, "%s %.*s...: name is longer than %zu bytes", kind, 40, name, max);
        return false;
    }
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f || strchr(",=", *c)) {
            ti_builder_fail(b, TRIBO_E_ARG, b->line, "%s %s: a name cannot hold , = or control characters", kind, name);
            return false;
        }
    if (*name == ' ' || name[n - 1] == ' ' || strcmp(name, "gravity") == 0 || strncmp(name, "gravity/", 8) == 0) {
        ti_builder_fail(b, TRIBO_E_ARG, b->line, "%s `%s`: this name is not allowed", kind, name);
        return false;
    }
    memcpy(out, name, n + 1);
    return true;
}

void *ti_builder_room(tribo_builder *b, void *records, size_t *bytes, int n, size_t size) {
    return room(b, records, bytes, n, size);
}

static int find_name(const ti_named *k, const char *name) {
    return ti_names_find(k->table, k->first, k->stride, name);
}

/* A name of the kind and the number of a record, and of one more number where others have that. */
static void make_name(const ti_named *k, int id, char out[TI_NAME_MAX + 1]) {
    snprintf(out, TI_NAME_MAX + 1, "%s%d", k->kind, id);
    for (int i = 1; find_name(k, out) >= 0; i++) snprintf(out, TI_NAME_MAX + 1, "%s%d_%d", k->kind, id, i);
}

/* Whoever has that name was given it, or gets another. */
static bool claim(tribo_builder *b, const ti_named *k, const char *name) {
    char other[TI_NAME_MAX + 1];
    int id = find_name(k, name);
    if (id < 0) return true;
    if (!ti_names_made(k->table, k->first, k->stride, id)) {
        ti_builder_fail(b, TRIBO_E_ARG, b->line, "%s %s: there is one of this name already", k->kind, name);
        return false;
    }
    make_name(k, id, other);
    ti_names_change(k->table, k->first, k->stride, id, other);
    return true;
}

bool ti_builder_name(tribo_builder *b, ti_named k, const char *name) {
    bool made = !name || !*name;
    char *own = k.first + k.stride * (size_t)k.table->n;
    if (made)
        make_name(&k, k.table->n, own);
    else if (!copy_name(b, k.kind, name, own, TI_NAME_MAX) || !claim(b, &k, own))
        return false;
    bool kept = ti_names_add(k.table, &b->alloc, k.first, k.stride, made);
    if (!kept) ti_builder_fail(b, TRIBO_E_NOMEM, b->line, "out of memory");
    return kept;
}

bool ti_builder_has_axis(const tribo_builder *b, int joint) {
    return joint >= 0 && joint < b->njoint &&
           (b->joint[joint].def.kind == TRIBO_JOINT_HINGE || b->joint[joint].def.kind == TRIBO_JOINT_SLIDE);
}

bool ti_builder_unit(double q[4]) {
    double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(n > 1e-12) || !isfinite(n)) return false;
    for (int i = 0; i < 4; i++) q[i] /= n;
    return true;
}

static bool body_is_sound(tribo_builder *b, ti_body_rec *r) {
    tribo_body_def *d = &r->def;
    const char *what = NULL, *brakes = ti_free_flaw((double[TI_P_FREE]){d->damping, d->armature, d->frictionloss});
    if (d->parent < TRIBO_WORLD || d->parent >= b->nbody)
        what = "there is no such parent";
    else if (d->parent >= 0 && d->parent < b->root) /* what stands between them is of another tree */
        what = "the bodies of a tree must be added one after the other, a parent's other children before the next";
    else if (!ti_places(d->pos, 3) || !isfinite(d->gravcomp))
        what = "pos is beyond 1e10 m, or gravcomp is not finite";
    else if (brakes)
        what = brakes;
    else if (!ti_builder_unit(d->quat))
        what = "quat has no direction";
    else if (d->inertia_given && !ti_places(d->com, 3))
        what = "com is not finite, or beyond 1e10 m";
    else if (d->inertia_given) /* in a tree it may turn out to be welded */
        what = ti_matter_flaw(d->mass, d->inertia, d->parent >= 0);
    if (what) ti_builder_fail(b, TRIBO_E_ARG, b->line, "body %s: %s", r->name, what);
    return !what;
}

int tribo_add_body(tribo_builder *b, const tribo_body_def *def) {
    enum { NONE = -2 };
    if (!b || b->status != TRIBO_OK) return NONE;
    if (!def || def->struct_size != sizeof *def) {
        ti_builder_fail(b, TRIBO_E_DEF, b->line, "body %d: not made by tribo_default_body()", b->nbody);
        return NONE;
    }
    if (b->nbody >= TI_BODIES_LIMIT) {
        ti_builder_fail(b, TRIBO_E_ARG, b->line, "more than %d bodies", TI_BODIES_LIMIT);
        return NONE;
    }
    ti_body_rec *records = room(b, b->body, &b->body_bytes, b->nbody, sizeof *b->body);
    if (!records) return NONE;
    b->body = records;
    ti_body_rec *r = &b->body[b->nbody];
    *r = (ti_body_rec){.def = *def, .line = b->line, .joint0 = b->njoint, .geom_first = -1, .geom_last = -1};
    r->def.name = NULL;
    ti_named names = {"body", &b->body_names, b->body->name, sizeof *b->body};
    if (!ti_builder_name(b, names, def->name) || !body_is_sound(b, r)) return NONE;
    if (r->def.parent == TRIBO_WORLD) b->root = b->nbody;
    return b->nbody++;
}

static bool joint_is_sound(tribo_builder *b, ti_joint_rec *r) {
    tribo_joint_def *d = &r->def;
    const char *what = NULL;
    double n = sqrt(d->axis[0] * d->axis[0] + d->axis[1] * d->axis[1] + d->axis[2] * d->axis[2]);
    if (r->body < 0 || r->body != b->nbody - 1)
        what = "only the body that was added last can be given a joint";
    else if (b->body[r->body].njoint == TI_BODY_JOINTS)
        what = "its body has six joints already";
    else if (d->kind != TRIBO_JOINT_HINGE && d->kind != TRIBO_JOINT_SLIDE && d->kind != TRIBO_JOINT_BALL)
        what = "there is no such kind";
    else if (!(n > 1e-12) || !isfinite(n))
        what = "axis has no direction";
    else if (!ti_places(d->pos, 3) || !isfinite(d->ref))
        what = "pos or ref is not finite, or pos beyond 1e10 m";
    else if (d->kind == TRIBO_JOINT_BALL && (d->springref != 0 || d->ref != 0))
        what = "a ball has no ref and no springref";
    else if (d->kind == TRIBO_JOINT_BALL && d->limited && d->range[0] != 0)
        what = "the range of a ball begins at 0";
    else
        what = ti_joint_flaw((double[TI_P_JOINT]){d->damping, d->armature, d->stiffness, d->springref, d->frictionloss,
                                                  d->range[0], d->range[1], d->restitution},
                             d->limited);
    for (int i = 0; i < 3 && !what; i++) d->axis[i] /= n;
    if (what) ti_builder_fail(b, TRIBO_E_ARG, b->line, "joint %s: %s", r->name, what);
    return !what;
}

int tribo_add_joint(tribo_builder *b, int body, const tribo_joint_def *def) {
    if (!b || b->status != TRIBO_OK) return -1;
    if (!def || def->struct_size != sizeof *def) {
        ti_builder_fail(b, TRIBO_E_DEF, b->line, "joint %d: not made by tribo_default_joint()", b->njoint);
        return -1;
    }
    ti_joint_rec *records = room(b, b->joint, &b->joint_bytes, b->njoint, sizeof *b->joint);
    if (!records) return -1;
    b->joint = records;
    ti_joint_rec *r = &b->joint[b->njoint];
    *r = (ti_joint_rec){.def = *def, .line = b->line, .body = body};
    r->def.name = NULL;
    ti_named names = {"joint", &b->joint_names, b->joint->name, sizeof *b->joint};
    if (!ti_builder_name(b, names, def->name) || !joint_is_sound(b, r)) return -1;
    b->body[body].njoint++;
    return b->njoint++;
}

static const char *margin_flaw(double margin, double gap) {
    return margin >= 0 && isfinite(margin) && isfinite(gap) ? NULL : "margin must be >= 0, and gap a number";
}

/* Whether the mesh that a geom has is there; sizes that are all 0 become 1. */
static const char *mesh_flaw(const tribo_builder *b, tribo_geom_def *d) {
    if (!ti_shape_of(d->shape)->meshed) return NULL;
    if (d->mesh < 0 || d->mesh >= b->nmesh) return "there is no such mesh";
    bool field = b->mesh[d->mesh]->nrow > 0;
    if (field != (d->shape == TRIBO_HFIELD)) return field ? "this mesh is a height field" : "this is no height field";
    if (!field && d->size[0] == 0 && d->size[1] == 0 && d->size[2] == 0) d->size[0] = d->size[1] = d->size[2] = 1;
    return NULL;
}

static bool geom_is_sound(tribo_builder *b, ti_geom_rec *r) {
    tribo_geom_def *d = &r->def;
    const char *what = NULL;
    if (r->body < TRIBO_WORLD || r->body >= b->nbody)
        what = "there is no such body";
    else if (!ti_shape_of(d->shape))
        what = "there is no such shape";
    else if (!ti_shape_of(d->shape)->bounded && r->body != TRIBO_WORLD)
        what = d->shape == TRIBO_PLANE ? "a plane cannot move: only the world has planes"
                                       : "a height field cannot move: only the world has them";
    else if (!ti_places(d->pos, 3))
        what = "pos is not finite, or beyond 1e10 m";
    else if (!ti_builder_unit(d->quat))
        what = "quat has no direction";
    else if (!isfinite(d->mass))
        what = "mass is not finite";
    else if (!(d->density >= 0 && isfinite(d->density)))
        what = "density must be >= 0";
    else
        what = mesh_flaw(b, d);
    if (!what) what = ti_size_flaw(d->shape, d->size);
    if (!what) what = ti_edge_flaw(d->shape, d->size, d->edge_radius);
    if (!what) what = ti_material_flaw(&d->material);
    if (!what) what = margin_flaw(d->margin, d->gap);
    if (what) ti_builder_fail(b, TRIBO_E_ARG, b->line, "geom %s: %s", r->name, what);
    return !what;
}

/* The next geom is the last of its body's. */
static void link_geom(tribo_builder *b, int body) {
    if (body < 0) return;
    ti_body_rec *r = &b->body[body];
    if (r->geom_last >= 0)
        b->geom[r->geom_last].next = b->ngeom;
    else
        r->geom_first = b->ngeom;
    r->geom_last = b->ngeom;
}

int tribo_add_geom(tribo_builder *b, int body, const tribo_geom_def *def) {
    if (!b || b->status != TRIBO_OK) return -1;
    if (!def || def->struct_size != sizeof *def) {
        ti_builder_fail(b, TRIBO_E_DEF, b->line, "geom %d: not made by tribo_default_geom()", b->ngeom);
        return -1;
    }
    if (b->ngeom >= TI_GEOMS_LIMIT) {
        ti_builder_fail(b, TRIBO_E_ARG, b->line, "more than %d geoms", TI_GEOMS_LIMIT);
        return -1;
    }
    ti_geom_rec *records = room(b, b->geom, &b->geom_bytes, b->ngeom, sizeof *b->geom);
    if (!records) return -1;
    b->geom = records;
    ti_geom_rec *r = &b->geom[b->ngeom];
    *r = (ti_geom_rec){.def = *def, .line = b->line, .body = body, .next = -1};
    r->def.name = NULL;
    ti_named names = {"geom", &b->geom_names, b->geom->name, sizeof *b->geom};
    if (!ti_builder_name(b, names, def->name) || !geom_is_sound(b, r)) return -1;
    link_geom(b, body);
    if (def->shape == TRIBO_MESH) ti_mesh_place(b->mesh[def->mesh], r->def.pos, r->def.quat);
    /* Sizes that mean nothing are zero, so that equal models have equal numbers. */
    for (int i = ti_shape_of(def->shape)->nsize; i < 3; i++) r->def.size[i] = 0;
    return b->ngeom++;
}

static bool pair_is_sound(tribo_builder *b, ti_pair_rec *r) {
    const tribo_pair_def *d = &r->def;
    int body_a = b->geom[d->geom_a].body, body_b = b->geom[d->geom_b].body;
    const char *what = ti_material_flaw(&d->material);
    if (!what) what = margin_flaw(d->margin, d->gap);
    if (body_a == body_b) what = body_a < 0 ? "neither of its geoms moves" : "its geoms are on the same body";
    for (int i = 0; i < b->npair && !what; i++) {
        const tribo_pair_def *o = &b->pair[i].def;
        bool same = o->geom_a == d->geom_a && o->geom_b == d->geom_b;
        bool swapped = o->geom_a == d->geom_b && o->geom_b == d->geom_a;
        if (same || swapped)
            what = "these geoms have a pair already";
        else if (strcmp(b->pair[i].name, r->name) == 0)
            what = "there is one of this name already";
    }
    if (!what && ti_builder_geom(b, r->name) >= 0) what = "a geom has this name already";
    if (what) ti_builder_fail(b, TRIBO_E_ARG, b->line, "pair %s: %s", r->name, what);
    return !what;
}

int tribo_add_pair(tribo_builder *b, const tribo_pair_def *def) {
    if (!b || b->status != TRIBO_OK) return -1;
    if (!def || def->struct_size != sizeof *def) {
        ti_builder_fail(b, TRIBO_E_DEF, b->line, "pair %d: not made by tribo_default_pair()", b->npair);
        return -1;
    }
    if (def->geom_a < 0 || def->geom_a >= b->ngeom || def->geom_b < 0 || def->geom_b >= b->ngeom) {
        ti_builder_fail(b, TRIBO_E_ARG, b->line, "pair %d: there is no such geom", b->npair);
        return -1;
    }
    ti_pair_rec *records = room(b, b->pair, &b->pair_bytes, b->npair, sizeof *b->pair);
    if (!records) return -1;
    b->pair = records;
    ti_pair_rec *r = &b->pair[b->npair];
    *r = (ti_pair_rec){.def = *def, .line = b->line};
    r->def.name = NULL;
    if (!def->name || !*def->name)
        snprintf(r->name, sizeof r->name, "%s:%s", b->geom[def->geom_a].name, b->geom[def->geom_b].name);
    else if (!copy_name(b, "pair", def->name, r->name, TI_NAME_MAX))
        return -1;
    if (!pair_is_sound(b, r)) return -1;
    return b->npair++;
}

static void exclude(tribo_builder *b, ti_exclude_rec e) {
    ti_exclude_rec *records = room(b, b->exclude, &b->exclude_bytes, b->nexclude, sizeof *b->exclude);
    if (!records) return;
    b->exclude = records;
    b->exclude[b->nexclude++] = e;
}

void tribo_add_exclude(tribo_builder *b, int body_a, int body_b) {
    if (!b || b->status != TRIBO_OK) return;
    if (body_a < TRIBO_WORLD || body_a >= b->nbody || body_b < TRIBO_WORLD || body_b >= b->nbody)
        ti_builder_fail(b, TRIBO_E_ARG, b->line, "exclude: there is no such body");
    else
        exclude(b, (ti_exclude_rec){body_a, body_b, -1});
}

void ti_builder_exclude_geom(tribo_builder *b, int geom, int body) {
    if (b->status == TRIBO_OK) exclude(b, (ti_exclude_rec){b->geom[geom].body, body, geom});
}

void tribo_set_gravity(tribo_builder *b, const double gravity[3]) {
    if (!b || b->status != TRIBO_OK) return;
    if (!gravity || !ti_finite(gravity, 3))
        ti_builder_fail(b, TRIBO_E_ARG, b->line, "gravity is missing or not finite");
    else
        memcpy(b->gravity, gravity, sizeof b->gravity);
}

void tribo_set_fluid(tribo_builder *b, double density, double viscosity, const double wind[3]) {
    if (!b || b->status != TRIBO_OK) return;
    static const double calm[3];
    if (!wind) wind = calm;
    if (!(density >= 0 && viscosity >= 0) || !isfinite(density) || !isfinite(viscosity) || !ti_finite(wind, 3)) {
        ti_builder_fail(b, TRIBO_E_ARG, b->line, "density and viscosity must be >= 0, and wind finite");
        return;
    }
    b->fluid[TI_P_DENSITY] = density, b->fluid[TI_P_VISCOSITY] = viscosity;
    memcpy(b->fluid + TI_P_WIND, wind, sizeof calm);
}

void tribo_set_timestep(tribo_builder *b, double dt) {
    if (!b || b->status != TRIBO_OK) return;
    if (!(dt > 0 && isfinite(dt)))
        ti_builder_fail(b, TRIBO_E_ARG, b->line, "timestep must be > 0");
    else
        b->dt = dt;
}

void tribo_set_law(tribo_builder *b, const tribo_law_options *law) {
    if (b && law && b->status == TRIBO_OK) b->law = *law;
}

void ti_builder_widths(const tribo_builder *b, int *nq, int *nv) {
    *nq = *nv = 0;
    for (int i = 0; i < b->nbody; i++) {
        if (!ti_rec_is_free(&b->body[i])) continue;
        *nq += TI_FREE_NQ, *nv += TI_FREE_NV;
    }
    for (int k = 0; k < b->njoint; k++) {
        const ti_joint_row *row = ti_joint_of((ti_joint_kind)b->joint[k].def.kind);
        *nq += row->nq, *nv += row->nv;
    }
}

int ti_rec_start(const tribo_builder *b, const ti_body_rec *r, double *q) {
    int n = 0;
    if (ti_rec_is_free(r)) {
        ti_joint_of(TI_JOINT_FREE)->place(r->def.pos, r->def.quat, q);
        return TI_FREE_NQ;
    }
    for (int k = r->joint0; k < r->joint0 + r->njoint; k++) {
        const tribo_joint_def *d = &b->joint[k].def;
        const ti_joint_row *row = ti_joint_of((ti_joint_kind)d->kind);
        const double pos[3] = {d->ref}, quat[4] = {1};
        row->place(pos, quat, q + n);
        n += row->nq;
    }
    return n;
}

/* Quaternions of a start to unit length; false where one has no direction. */
static bool normalise_start(const tribo_builder *b, const ti_body_rec *r, double *q) {
    if (ti_rec_is_free(r)) return ti_builder_unit(q + ti_joint_of(TI_JOINT_FREE)->quat);
    bool fine = true;
    for (int k = r->joint0; k < r->joint0 + r->njoint; k++) {
        const ti_joint_row *row = ti_joint_of((ti_joint_kind)b->joint[k].def.kind);
        if (row->quat >= 0) fine = ti_builder_unit(q + row->quat) && fine;
        q += row->nq;
    }
    return fine;
}

static void fill_state(tribo_builder *b, const double *q, const double *v, double *out_q, double *out_v) {
    int nq, nv;
    size_t at = 0;
    ti_builder_widths(b, &nq, &nv);
    for (int i = 0; i < b->nbody; i++) {
        double *own = out_q + at;
        size_t n = (size_t)ti_rec_start(b, &b->body[i], own);
        if (q) memcpy(own, q + at, n * sizeof *own);
        at += n;
        if (!normalise_start(b, &b->body[i], own))
            ti_builder_fail(b, TRIBO_E_ARG, b->line, "body %s: the start quaternion has no direction", b->body[i].name);
    }
    memset(out_v, 0, (size_t)nv * sizeof *v);
    if (v) memcpy(out_v, v, (size_t)nv * sizeof *v);
}

void tribo_set_start(tribo_builder *b, const double *q, const double *v) {
    if (!b || b->status != TRIBO_OK || b->nbody == 0) return;
    int width_q, width_v;
    ti_builder_widths(b, &width_q, &width_v);
    size_t nq = (size_t)width_q, nv = (size_t)width_v;
    if ((q && !ti_finite(q, nq)) || (v && !ti_finite(v, nv))) {
        ti_builder_fail(b, TRIBO_E_NONFINITE, b->line, "the start state is not finite");
        return;
    }
    double *kept_q = ti_grow(&b->alloc, b->q, &b->q_bytes, nq * sizeof *q);
    if (kept_q) b->q = kept_q;
    double *kept_v = ti_grow(&b->alloc, b->v, &b->v_bytes, nv * sizeof *v);
    if (kept_v) b->v = kept_v;
    if (!kept_q || !kept_v) {
        ti_builder_fail(b, TRIBO_E_NOMEM, b->line, "out of memory");
        return;
    }
    b->nstart = b->nbody + b->njoint;
    fill_state(b, q, v, b->q, b->v);
}

void ti_builder_state(tribo_builder *b, const double *q, const double *v, double *out) {
    int nq, nv;
    ti_builder_widths(b, &nq, &nv);
    fill_state(b, q, v, out, out + nq);
}
