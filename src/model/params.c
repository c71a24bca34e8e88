/* params.c -- path names, kinds and bounds of the numbers in p. */
#include "base/base.h"
#include "model/builder.h"
#include "model/inertia.h"
#include "model/model.h"
#include "model/shape.h"
#include "model/state.h"
#include <math.h>
#include <stdio.h>

/* One number of an owner: the rest of its path name, and what it is. In the order of p. A body, joint, actuator,
 * tendon, site and geom may share a name, so no rest is another kind's, nor ends as one does behind a slash. */
typedef struct entry {
    const char *suffix;
    tribo_param_kind kind;
} entry;

static const entry gravity_entry[TI_P_BODIES] = {
    {"x", TRIBO_PARAM_GRAVITY}, {"y", TRIBO_PARAM_GRAVITY}, {"z", TRIBO_PARAM_GRAVITY}};
static const entry body_entry[TI_P_BODY] = {{"mass", TRIBO_PARAM_MASS},          {"com/x", TRIBO_PARAM_COM},
                                            {"com/y", TRIBO_PARAM_COM},          {"com/z", TRIBO_PARAM_COM},
                                            {"inertia/xx", TRIBO_PARAM_INERTIA}, {"inertia/yy", TRIBO_PARAM_INERTIA},
                                            {"inertia/zz", TRIBO_PARAM_INERTIA}, {"inertia/xy", TRIBO_PARAM_INERTIA},
                                            {"inertia/xz", TRIBO_PARAM_INERTIA}, {"inertia/yz", TRIBO_PARAM_INERTIA}};
static const entry joint_entry[TI_P_JOINT] = {
    {"damping", TRIBO_PARAM_DAMPING},           {"armature", TRIBO_PARAM_ARMATURE},
    {"stiffness", TRIBO_PARAM_STIFFNESS},       {"springref", TRIBO_PARAM_SPRINGREF},
    {"frictionloss", TRIBO_PARAM_FRICTIONLOSS}, {"range/lower", TRIBO_PARAM_RANGE},
    {"range/upper", TRIBO_PARAM_RANGE},         {"limit_restitution", TRIBO_PARAM_RESTITUTION}};
static const entry free_entry[TI_P_FREE] = {{"free_damping", TRIBO_PARAM_DAMPING},
                                            {"free_armature", TRIBO_PARAM_ARMATURE},
                                            {"free_frictionloss", TRIBO_PARAM_FRICTIONLOSS}};
static const entry actuator_entry[TI_P_ACTUATOR] = {{"gear", TRIBO_PARAM_GEAR},
                                                    {"gain/constant", TRIBO_PARAM_GAIN},
                                                    {"gain/length", TRIBO_PARAM_GAIN},
                                                    {"gain/velocity", TRIBO_PARAM_GAIN},
                                                    {"bias/constant", TRIBO_PARAM_BIAS},
                                                    {"bias/length", TRIBO_PARAM_BIAS},
                                                    {"bias/velocity", TRIBO_PARAM_BIAS},
                                                    {"ctrlrange/lower", TRIBO_PARAM_CTRLRANGE},
                                                    {"ctrlrange/upper", TRIBO_PARAM_CTRLRANGE},
                                                    {"forcerange/lower", TRIBO_PARAM_FORCERANGE},
                                                    {"forcerange/upper", TRIBO_PARAM_FORCERANGE}};
static const entry site_entry[TI_P_SITE] = {{"site_pos/x", TRIBO_PARAM_POS},   {"site_pos/y", TRIBO_PARAM_POS},
                                            {"site_pos/z", TRIBO_PARAM_POS},   {"site_quat/w", TRIBO_PARAM_QUAT},
                                            {"site_quat/x", TRIBO_PARAM_QUAT}, {"site_quat/y", TRIBO_PARAM_QUAT},
                                            {"site_quat/z", TRIBO_PARAM_QUAT}};
static const entry more_entry[TI_P_MORE_GEARS] = {{"gear/2", TRIBO_PARAM_GEAR},
                                                  {"gear/3", TRIBO_PARAM_GEAR},
                                                  {"gear/4", TRIBO_PARAM_GEAR},
                                                  {"gear/5", TRIBO_PARAM_GEAR},
                                                  {"gear/6", TRIBO_PARAM_GEAR}};
static const entry fluid_entry[TI_P_FLUID] = {{"density", TRIBO_PARAM_DENSITY},
                                              {"viscosity", TRIBO_PARAM_VISCOSITY},
                                              {"wind/x", TRIBO_PARAM_WIND},
                                              {"wind/y", TRIBO_PARAM_WIND},
                                              {"wind/z", TRIBO_PARAM_WIND}};
static const entry tendon_entry[TI_P_TENDON] = {{"tendon_range/lower", TRIBO_PARAM_RANGE},
                                                {"tendon_range/upper", TRIBO_PARAM_RANGE}};
static const entry geom_entry[TI_P_GEOM] = {{"size/x", TRIBO_PARAM_SIZE},
                                            {"size/y", TRIBO_PARAM_SIZE},
                                            {"size/z", TRIBO_PARAM_SIZE},
                                            {"pos/x", TRIBO_PARAM_POS},
                                            {"pos/y", TRIBO_PARAM_POS},
                                            {"pos/z", TRIBO_PARAM_POS},
                                            {"quat/w", TRIBO_PARAM_QUAT},
                                            {"quat/x", TRIBO_PARAM_QUAT},
                                            {"quat/y", TRIBO_PARAM_QUAT},
                                            {"quat/z", TRIBO_PARAM_QUAT},
                                            {"edge_radius", TRIBO_PARAM_EDGE_RADIUS},
                                            {"friction", TRIBO_PARAM_FRICTION},
                                            {"stiction", TRIBO_PARAM_STICTION},
                                            {"restitution", TRIBO_PARAM_RESTITUTION},
                                            {"baumgarte", TRIBO_PARAM_BAUMGARTE},
                                            {"slop", TRIBO_PARAM_SLOP},
                                            {"torsion", TRIBO_PARAM_TORSION},
                                            {"rolling", TRIBO_PARAM_ROLLING},
                                            {"compliance", TRIBO_PARAM_COMPLIANCE}};

/* Who owns the number at `index`, and which of the owner's it is. */
typedef struct owner {
    const char *name;
    const entry *entry;
    int body, geom, pair, site;
} owner;

/* Of the n-th actuator at a site. */
static int sited_actuator(const tribo_model *m, int n) {
    int i = 0;
    while (m->actuator[i].site < 0 || n-- > 0) i++;
    return i;
}

/* The n-th free joint that has numbers. */
static int braked_joint(const tribo_model *m, int n) {
    int i = m->size.njoint;
    while (m->joint[i].p < 0 || n-- > 0) i++;
    return i;
}

ti_number ti_number_of(const tribo_model *m, int index) {
    static const int SIZE[TI_P_PARTS] = {TI_P_BODIES,   TI_P_BODY,       TI_P_JOINT, TI_P_FREE,
                                         TI_P_ACTUATOR, TI_P_MORE_GEARS, TI_P_FLUID, TI_P_TENDON,
                                         TI_P_SITE,     TI_P_GEOM,       TI_P_PAIR};
    int part = TI_PART_GRAVITY;
    const int count[TI_P_PARTS] = {1,
                                   m->size.nbody,
                                   m->size.njoint,
                                   m->nbraked,
                                   m->size.nactuator,
                                   m->nsited,
                                   m->fluid > 0,
                                   m->size.ntendon,
                                   m->size.nsite,
                                   m->size.ngeom,
                                   m->size.npair};
    while (index >= count[part] * SIZE[part]) index -= count[part] * SIZE[part], part++;
    ti_number n = {(ti_part_of_p)part, index / SIZE[part], index % SIZE[part]};
    if (part == TI_PART_FREE) n.owner = braked_joint(m, n.owner);
    if (part == TI_PART_GEARS) n.owner = sited_actuator(m, n.owner);
    return n;
}

static owner owner_of(const tribo_model *m, int index) {
    static const entry *const ENTRY[TI_P_PARTS] = {gravity_entry,
                                                   body_entry,
                                                   joint_entry,
                                                   free_entry,
                                                   actuator_entry,
                                                   more_entry,
                                                   fluid_entry,
                                                   tendon_entry,
                                                   site_entry,
                                                   geom_entry,
                                                   geom_entry + TI_P_MATERIAL};
    ti_number n = ti_number_of(m, index);
    owner o = {.entry = ENTRY[n.part] + n.number, .body = -1, .geom = -1, .pair = -1, .site = -1};
    switch (n.part) {
    case TI_PART_GRAVITY:
        o.name = "gravity";
        break;
    case TI_PART_BODY:
        o.body = n.owner, o.name = m->body[n.owner].name;
        break;
    case TI_PART_JOINT:
        o.body = m->joint[n.owner].body, o.name = m->joint[n.owner].name;
        break;
    case TI_PART_FREE:
        o.body = m->joint[n.owner].body, o.name = m->body[o.body].name;
        break;
    case TI_PART_ACTUATOR:
    case TI_PART_GEARS:
        o.name = m->actuator[n.owner].name;
        break;
    case TI_PART_FLUID:
        o.name = "option";
        break;
    case TI_PART_TENDON:
        o.name = m->tendon[n.owner].name;
        break;
    case TI_PART_SITE:
        o.site = n.owner, o.name = m->site[n.owner].name;
        break;
    case TI_PART_GEOM:
        o.geom = n.owner, o.name = m->geom[n.owner].name;
        break;
    case TI_PART_PAIR:
    case TI_P_PARTS:
        o.pair = n.owner, o.name = m->pair_name[n.owner];
        break;
    }
    return o;
}

static void bounds(const entry *e, double *lower, double *upper) {
    *lower = -INFINITY;
    *upper = INFINITY;
    switch (e->kind) {
    case TRIBO_PARAM_GRAVITY:
    case TRIBO_PARAM_WIND:
    case TRIBO_PARAM_COM:
    case TRIBO_PARAM_POS:
    case TRIBO_PARAM_QUAT:
    case TRIBO_PARAM_SPRINGREF:
    case TRIBO_PARAM_GEAR:
    case TRIBO_PARAM_GAIN:
    case TRIBO_PARAM_BIAS:
    case TRIBO_PARAM_CTRLRANGE:
    case TRIBO_PARAM_FORCERANGE:
    case TRIBO_PARAM_RANGE:
        break;
    case TRIBO_PARAM_INERTIA:
        if (e->suffix[8] == e->suffix[9]) *lower = 0; /* xx yy zz; the products may be negative */
        break;
    case TRIBO_PARAM_RESTITUTION:
    case TRIBO_PARAM_BAUMGARTE:
        *upper = 1;
        *lower = 0;
        break;
    case TRIBO_PARAM_DENSITY:
    case TRIBO_PARAM_VISCOSITY:
    case TRIBO_PARAM_MASS:
    case TRIBO_PARAM_SIZE:
    case TRIBO_PARAM_EDGE_RADIUS:
    case TRIBO_PARAM_FRICTION:
    case TRIBO_PARAM_STICTION:
    case TRIBO_PARAM_SLOP:
    case TRIBO_PARAM_TORSION:
    case TRIBO_PARAM_ROLLING:
    case TRIBO_PARAM_COMPLIANCE:
    case TRIBO_PARAM_DAMPING:
    case TRIBO_PARAM_ARMATURE:
    case TRIBO_PARAM_STIFFNESS:
    case TRIBO_PARAM_FRICTIONLOSS:
        *lower = 0;
        break;
    }
}

tribo_status tribo_param_describe(const tribo_model *m, int index, tribo_param_info *info) {
    if (!m || !info || index < 0 || index >= m->size.np) return TRIBO_E_ARG;
    owner o = owner_of(m, index);
    *info = (tribo_param_info){.kind = o.entry->kind, .body = o.body, .geom = o.geom, .pair = o.pair, .site = o.site};
    snprintf(info->name, sizeof info->name, "%s/%s", o.name, o.entry->suffix);
    info->used = m->used[index];
    bounds(o.entry, &info->lower, &info->upper);
    return TRIBO_OK;
}

/* The body, geom and pair that a name stands for; -1 = none. A body with one geom lends it its name, and the other way
 * round, unless the name is taken. */
static void resolve(const tribo_model *m, const char *name, int *body, int *geom, int *pair) {
    *body = tribo_model_body_find(m, name);
    *geom = tribo_model_geom_find(m, name);
    *pair = -1;
    for (int i = 0; i < m->size.npair; i++)
        if (strcmp(m->pair_name[i], name) == 0) *pair = i;
    if (*body >= 0 && *geom < 0 && *pair < 0 && m->body[*body].ngeom == 1) {
        *geom = m->body_geom[m->body[*body].geom0];
    } else if (*geom >= 0 && *body < 0) {
        int lender = m->geom[*geom].body;
        if (lender >= 0 && m->body[lender].ngeom == 1) *body = lender;
    }
}

/* Does `path` (the rest of a path name) name this suffix, or a group it is in? */
static bool matches(const char *suffix, const char *path, bool whole) {
    size_t n = strlen(path);
    if (strncmp(suffix, path, n) != 0) return false;
    return suffix[n] == '\0' || (!whole && (n == 0 || suffix[n] == '/'));
}

/* Which of the n numbers from p[at] on match; at most max go into index. @return how many. */
static int collect(const tribo_model *m, const entry *e, int n, int at, const char *path, bool whole, int *index,
                   int max, int found) {
    for (int i = 0; i < n; i++) {
        if (!matches(e[i].suffix, path, whole)) continue;
        if (!whole && !m->used[at + i]) continue;
        if (found < max) index[found] = at + i;
        found++;
    }
    return found;
}

/* What the things of that name have that the rest of a path name is for. */
static int search_things(const tribo_model *m, const char *head, const char *path, bool whole, int *index, int max) {
    if (strcmp(head, "gravity") == 0)
        return collect(m, gravity_entry, TI_P_BODIES, TI_P_GRAVITY, path, whole, index, max, 0);
    int body, geom, pair, found = 0;
    resolve(m, head, &body, &geom, &pair);
    if (m->fluid && strcmp(head, "option") == 0)
        found = collect(m, fluid_entry, TI_P_FLUID, m->fluid, path, whole, index, max, found);
    if (body >= 0) found = collect(m, body_entry, TI_P_BODY, m->body[body].p, path, whole, index, max, found);
    if (body >= 0 && m->body[body].free >= 0 && m->joint[m->body[body].free].p >= 0)
        found = collect(m, free_entry, TI_P_FREE, m->joint[m->body[body].free].p, path, whole, index, max, found);
    int joint = tribo_model_joint_find(m, head);
    if (joint >= 0) found = collect(m, joint_entry, TI_P_JOINT, m->joint[joint].p, path, whole, index, max, found);
    int actuator = tribo_model_actuator_find(m, head);
    if (actuator >= 0)
        found = collect(m, actuator_entry, TI_P_ACTUATOR, m->actuator[actuator].p, path, whole, index, max, found);
    if (actuator >= 0 && m->actuator[actuator].site >= 0)
        found = collect(m, more_entry, TI_P_MORE_GEARS, m->actuator[actuator].more, path, whole, index, max, found);
    int tendon = tribo_model_tendon_find(m, head);
    if (tendon >= 0) found = collect(m, tendon_entry, TI_P_TENDON, m->tendon[tendon].p, path, whole, index, max, found);
    int site = tribo_model_site_find(m, head);
    if (site >= 0) found = collect(m, site_entry, TI_P_SITE, m->site[site].p, path, whole, index, max, found);
    if (geom >= 0) found = collect(m, geom_entry, TI_P_GEOM, m->geom[geom].p, path, whole, index, max, found);
    int pairs_at = m->size.np - m->size.npair * TI_P_PAIR;
    if (pair >= 0)
        found = collect(m, geom_entry + TI_P_MATERIAL, TI_P_PAIR, pairs_at + pair * TI_P_PAIR, path, whole, index, max,
                        found);
    return found;
}

/* All matches of a path name; `whole` asks for exact names, used or not. Names may have slashes of their own: the
 * longest that something has counts. Of exact ones there is no other, since no end of what may stand behind a name
 * could stand there alone. */
static int search(const tribo_model *m, const char *name, bool whole, int *index, int max) {
    char head[TI_PAIR_NAME_MAX + 1];
    int found = 0;
    for (size_t all = strlen(name), n = all; n > 0 && found == 0; n--) {
        if (n > TI_PAIR_NAME_MAX || (n < all && (name[n] != '/' || n + 1 == all))) continue;
        memcpy(head, name, n);
        head[n] = '\0';
        found = search_things(m, head, n < all ? name + n + 1 : "", whole, index, max);
    }
    return found;
}

int tribo_param_find(const tribo_model *m, const char *name) {
    int index = -1;
    return m && name && search(m, name, true, &index, 1) == 1 ? index : -1;
}

int tribo_param_group(const tribo_model *m, const char *name, int *index, int max) {
    return m && name && (index || max <= 0) ? search(m, name, false, index, max) : 0;
}

static const char *quat_flaw(const double *q) {
    return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 1e-24 ? NULL : "quat has no direction";
}

static const char *geom_flaw(const tribo_model *m, int geom, const double *p) {
    const char *what = quat_flaw(p + TI_P_QUAT);
    if (!what && !ti_places(p + TI_P_POS, 3)) what = "pos is beyond 1e10 m";
    if (what) return what;
    what = ti_size_flaw(m->geom[geom].shape, p + TI_P_SIZE);
    return what ? what : ti_edge_flaw(m->geom[geom].shape, p + TI_P_SIZE, p[TI_P_EDGE_RADIUS]);
}

static const char *material_flaw(const double *p) {
    tribo_material t = {p[TI_M_FRICTION], p[TI_M_STICTION], p[TI_M_RESTITUTION], p[TI_M_BAUMGARTE],
                        p[TI_M_SLOP],     p[TI_M_TORSION],  p[TI_M_ROLLING],     p[TI_M_COMPLIANCE]};
    return ti_material_flaw(&t);
}

tribo_status tribo_params_check(const tribo_model *m, const double *p, tribo_diag *diag) {
    if (!m || !p) return ti_fail(diag, TRIBO_E_ARG, 0, "no model or no parameters");
    for (int i = 0; i < m->size.np; i++)
        if (!isfinite(p[i])) {
            owner o = owner_of(m, i);
            return ti_fail(diag, TRIBO_E_NONFINITE, 0, "%s/%s is not finite", o.name, o.entry->suffix);
        }
    for (int i = 0; i < m->size.nbody; i++) {
        const double *own = p + m->body[i].p;
        const char *what = ti_matter_flaw(own[TI_P_MASS], own + TI_P_INERTIA, m->body[i].shared);
        if (!what && !ti_places(own + TI_P_COM, 3)) what = "com is beyond 1e10 m";
        if (what) return ti_fail(diag, TRIBO_E_ARG, 0, "body %s: %s", m->body[i].name, what);
    }
    for (int i = 0; i < m->size.njoint; i++) {
        const char *what = ti_joint_flaw(p + m->joint[i].p, m->joint[i].limited);
        if (what) return ti_fail(diag, TRIBO_E_ARG, 0, "joint %s: %s", m->joint[i].name, what);
    }
    for (int i = m->size.njoint; i < ti_joints(m); i++) {
        const char *what = m->joint[i].p >= 0 ? ti_free_flaw(p + m->joint[i].p) : NULL;
        if (what) return ti_fail(diag, TRIBO_E_ARG, 0, "body %s: %s", m->body[m->joint[i].body].name, what);
    }
    for (int i = 0; i < m->size.nactuator; i++) {
        const char *what = ti_actuator_flaw(p + m->actuator[i].p);
        if (what) return ti_fail(diag, TRIBO_E_ARG, 0, "actuator %s: %s", m->actuator[i].name, what);
    }
    if (m->fluid && !(p[m->fluid + TI_P_DENSITY] >= 0 && p[m->fluid + TI_P_VISCOSITY] >= 0))
        return ti_fail(diag, TRIBO_E_ARG, 0, "option: density and viscosity must be >= 0");
    for (int i = 0; i < m->size.ntendon; i++) {
        const char *what = ti_tendon_flaw(p + m->tendon[i].p);
        if (what) return ti_fail(diag, TRIBO_E_ARG, 0, "tendon %s: %s", m->tendon[i].name, what);
    }
    for (int i = 0; i < m->size.nsite; i++) {
        const char *what = quat_flaw(p + m->site[i].p + TI_P_SITE_QUAT);
        if (what) return ti_fail(diag, TRIBO_E_ARG, 0, "site %s: %s", m->site[i].name, what);
    }
    for (int i = 0; i < m->size.ngeom; i++) {
        const char *what = geom_flaw(m, i, p + m->geom[i].p);
        if (!what) what = material_flaw(p + m->geom[i].p + TI_P_MATERIAL);
        if (what) return ti_fail(diag, TRIBO_E_ARG, 0, "geom %s: %s", m->geom[i].name, what);
    }
    for (int i = 0, at = m->size.np - m->size.npair * TI_P_PAIR; i < m->size.npair; i++, at += TI_P_PAIR) {
        const char *what = material_flaw(p + at);
        if (what) return ti_fail(diag, TRIBO_E_ARG, 0, "pair %s: %s", m->pair_name[i], what);
    }
    return TRIBO_OK;
}
