/* mjcf_option.c -- the options of an MJCF scene and of its compiler, and what the latter does to masses. */
#include "formats/mjcf_reading.h"
#include "model/inertia.h"
#include <lapacke.h>
#include <math.h>

static const char *const FALSE_TRUE[] = {"false", "true", NULL};

/* ---- option ---- */

/* What a flag turns off. */
static unsigned off_of(const char *name) {
    static const struct {
        const char *name;
        unsigned off;
    } FLAG[] = {{"contact", TI_OFF_CONTACT},
                {"equality", TI_OFF_EQUALITY},
                {"limit", TI_OFF_LIMIT},
                {"frictionloss", TI_OFF_DRY},
                {"constraint", TI_OFF_CONTACT | TI_OFF_EQUALITY | TI_OFF_LIMIT | TI_OFF_DRY}};
    for (size_t i = 0; i < sizeof FLAG / sizeof *FLAG; i++)
        if (strcmp(name, FLAG[i].name) == 0) return FLAG[i].off;
    return 0;
}

void ti_mjcf_fused(ti_mjcf *r) {
    if (r->fused && ti_builder_has_fluid(r->builder))
        ti_mjcf_need_of(r, r->fused, "fusestatic", "fusestatic",
                        "a fluid acts on each body by itself here, on what is fused as on one");
}

void ti_mjcf_turn_off(ti_mjcf *r) {
    tribo_builder *b = r->builder;
    for (int i = 0; i < b->njoint; i++) {
        if (r->off & TI_OFF_LIMIT) b->joint[i].def.limited = false;
        if (r->off & TI_OFF_DRY) b->joint[i].def.frictionloss = 0;
    }
    for (int i = 0; i < b->nbody && (r->off & TI_OFF_DRY); i++) b->body[i].def.frictionloss = 0;
    for (int i = 0; i < b->ngeom && (r->off & TI_OFF_CONTACT); i++)
        b->geom[i].def.contype = b->geom[i].def.conaffinity = 0;
    if (r->off & TI_OFF_CONTACT) b->npair = r->npair = r->ntwin = 0;
    if (r->off & TI_OFF_EQUALITY) b->nequality = 0;
    if (r->off & TI_OFF_LIMIT) b->ntendon = r->ntendon = 0;
}

static void read_flag(ti_mjcf *r, const xmlNode *node) {
    static const char *const WORDS[] = {"disable", "enable", NULL};
    static const double NONE[3];
    for (const xmlAttr *a = node->properties; a; a = a->next) {
        const char *name = (const char *)a->name;
        const ti_mjcf_rule *rule = ti_mjcf_rule_of("option", "flag");
        int on = ti_mjcf_choice(r, node, -1, name, WORDS, 1), usual = strcmp(name, "override") != 0;
        if (strcmp(name, "gravity") == 0) {
            if (on == 0) tribo_set_gravity(r->builder, NONE);
        } else if (off_of(name)) {
            if (on == 0) r->off |= off_of(name);
        } else if (ti_xml_listed(rule->skipped, name)) {
            continue;
        } else if (!ti_xml_listed(rule->refused, name) || on != usual) {
            ti_mjcf_need_of(r, node, name, name, "not supported");
        }
    }
}

static void read_fluid(ti_mjcf *r, const xmlNode *node) {
    double *own = r->builder->fluid; /* another option may have said some */
    ti_mjcf_numbers(r, node, -1, "density", own + TI_P_DENSITY, 1, 1);
    ti_mjcf_numbers(r, node, -1, "viscosity", own + TI_P_VISCOSITY, 1, 1);
    ti_mjcf_numbers(r, node, -1, "wind", own + TI_P_WIND, 3, 3);
    tribo_set_fluid(r->builder, own[TI_P_DENSITY], own[TI_P_VISCOSITY], own + TI_P_WIND);
}

void ti_mjcf_option(ti_mjcf *r, const xmlNode *node) {
    ti_mjcf_judge(r, node, -1, "mujoco");
    const char *integrator = ti_xml_attr(&r->error, node, "integrator");
    if (integrator && strcmp(integrator, "RK4") == 0)
        ti_mjcf_remark(r, node, "integrator", "integrator", "steps are of first order, those of RK4 of fourth");
    else if (integrator && !ti_xml_listed("Euler implicit implicitfast", integrator))
        ti_mjcf_need_of(r, node, "integrator", "integrator", "`%.40s` is not supported", integrator);
    double dt, gravity[3];
    ti_mjcf_at(r, node);
    if (ti_mjcf_numbers(r, node, -1, "timestep", &dt, 1, 1)) tribo_set_timestep(r->builder, dt);
    if (ti_mjcf_numbers(r, node, -1, "gravity", gravity, 3, 3)) tribo_set_gravity(r->builder, gravity);
    read_fluid(r, node);
    ti_mjcf_settle(r);
    for (const xmlNode *c = ti_xml_child(&r->error, node); c && !ti_mjcf_bad(r); c = ti_xml_next(&r->error, c))
        if (ti_mjcf_child(r, c, "option")) read_flag(r, c);
}

/* ---- compiler ---- */

static void read_eulerseq(ti_mjcf *r, const xmlNode *node, const char *value) {
    bool sound = strlen(value) == 3;
    for (int i = 0; i < 3 && sound; i++) sound = strchr("xyzXYZ", value[i]) != NULL;
    if (sound)
        memcpy(r->eulerseq, value, 4);
    else
        ti_xml_fail(&r->error, node, "eulerseq", "three of xyzXYZ expected");
}

/* A number that may not be negative. */
static void read_bound(ti_mjcf *r, const xmlNode *node, const char *name, double *to) {
    double x;
    if (!ti_mjcf_numbers(r, node, -1, name, &x, 1, 1)) return;
    *to = x > 0 ? x : 0; /* MuJoCo's settotalmass is -1 where it asks for nothing */
}

void ti_mjcf_compiler(ti_mjcf *r, const xmlNode *node) {
    static const double DEGREE = 3.14159265358979323846 / 180;
    static const char *const ANGLE[] = {"degree", "radian", NULL};
    static const char *const INERTIA[] = {"auto", "true", "false", NULL};
    ti_mjcf_judge(r, node, -1, "mujoco");
    int angle = ti_mjcf_choice(r, node, -1, "angle", ANGLE, -1);
    if (angle >= 0) r->angle = angle ? 1 : DEGREE;
    const char *value = ti_xml_attr(&r->error, node, "eulerseq");
    if (value) read_eulerseq(r, node, value);
    value = ti_xml_attr(&r->error, node, "coordinate");
    if (value && strcmp(value, "local") != 0)
        ti_mjcf_need_of(r, node, "coordinate", "coordinate", "only local coordinates are supported");
    value = ti_xml_attr(&r->error, node, "meshdir");
    if (value) r->meshdir = value;
    value = ti_xml_attr(&r->error, node, "assetdir");
    if (value) r->assetdir = value;
    r->strippath = ti_mjcf_choice(r, node, -1, "strippath", FALSE_TRUE, r->strippath) != 0;
    r->fit_bounds = ti_mjcf_choice(r, node, -1, "fitaabb", FALSE_TRUE, r->fit_bounds) != 0;
    r->exact_meshes = ti_mjcf_choice(r, node, -1, "exactmeshinertia", FALSE_TRUE, r->exact_meshes) != 0;
    r->autolimits = ti_mjcf_choice(r, node, -1, "autolimits", FALSE_TRUE, r->autolimits) != 0;
    r->balance = ti_mjcf_choice(r, node, -1, "balanceinertia", FALSE_TRUE, r->balance) != 0;
    int inertia = ti_mjcf_choice(r, node, -1, "inertiafromgeom", INERTIA, (int)r->inertia);
    if (inertia >= 0) r->inertia = (ti_inertia_rule)inertia;
    if (ti_mjcf_choice(r, node, -1, "fusestatic", FALSE_TRUE, 0) == 1) r->fused = node;
    double group[2];
    if (ti_mjcf_numbers(r, node, -1, "inertiagrouprange", group, 2, 2))
        for (int k = 0; k < 2; k++) r->groups[k] = (int)fmin(fmax(group[k], -1e6), 1e6);
    read_bound(r, node, "boundmass", &r->least_mass);
    read_bound(r, node, "boundinertia", &r->least_inertia);
    read_bound(r, node, "settotalmass", &r->total_mass);
    for (const xmlNode *c = ti_xml_child(&r->error, node); c; c = ti_xml_next(&r->error, c))
        ti_mjcf_child(r, c, "compiler");
}

/* ---- masses: docs/mjcf.md ---- */

bool ti_mjcf_mends(const ti_mjcf *r) {
    return r->least_mass > 0 || r->least_inertia > 0 || r->balance;
}

/* Principal moments, the least first, and axes (columns of V) of an inertia. @return false if there are none. */
static bool principal(const double six[6], double d[3], double V[9]) {
    const double full[9] = {six[0], six[3], six[4], six[3], six[1], six[5], six[4], six[5], six[2]};
    memcpy(V, full, sizeof full);
    return ti_finite(six, 6) && LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'U', 3, V, 3, d) == 0;
}

static void compose(const double d[3], const double V[9], double six[6]) {
    static const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int e = 0; e < 6; e++) {
        six[e] = 0;
        for (int k = 0; k < 3; k++) six[e] += V[3 * at[e][0] + k] * d[k] * V[3 * at[e][1] + k];
    }
}

/* Moments raised to the least there may be; made equal where no solid has them. */
static void mend_inertia(const ti_mjcf *r, double six[6]) {
    double d[3], V[9];
    if (!principal(six, d, V) || d[0] < -1e-12 * d[2]) return; /* nobody meant that */
    bool changed = false;
    for (int k = 0; k < 3; k++) {
        changed = changed || d[k] < r->least_inertia;
        d[k] = fmax(d[k], r->least_inertia);
    }
    if (r->balance && (d[0] + d[1] < d[2] || d[0] + d[2] < d[1] || d[1] + d[2] < d[0])) {
        d[0] = d[1] = d[2] = (d[0] + d[1] + d[2]) / 3;
        changed = true;
    }
    if (changed) compose(d, V, six);
}

/* What is given to the builder behind its back is looked at here. */
static void judge_masses(ti_mjcf *r) {
    tribo_builder *b = r->builder;
    for (int i = 0; i < b->nbody && b->status == TRIBO_OK; i++) {
        const char *what = ti_builder_matter_flaw(b, i);
        if (what) ti_builder_fail(b, TRIBO_E_ARG, b->body[i].line, "body %s: %s", b->body[i].name, what);
    }
    ti_mjcf_settle(r);
}

static void mend_masses(ti_mjcf *r) {
    tribo_builder *b = r->builder;
    double total = 0;
    for (int i = 0; i < b->nbody; i++) {
        tribo_body_def *d = &b->body[i].def;
        if (!d->inertia_given) ti_builder_sum(b, i, &d->mass, d->com, d->inertia), b->body[i].summed = true;
        d->inertia_given = true;
        if (d->mass >= 0) d->mass = fmax(d->mass, r->least_mass);
        if (ti_mjcf_mends(r)) mend_inertia(r, d->inertia);
        total += d->mass;
    }
    if (!(r->total_mass > 0) || !(total > 0)) return;
    if (r->static_matter)
        ti_mjcf_need_of(r, r->static_matter, NULL, "settotalmass",
                        "settotalmass counts what does not move too: not supported");
    for (int i = 0; i < b->nbody; i++) {
        tribo_body_def *d = &b->body[i].def;
        double s = r->total_mass / total;
        d->mass *= s;
        for (int e = 0; e < 6; e++) d->inertia[e] *= s;
    }
}

void ti_mjcf_masses(ti_mjcf *r) {
    if (!ti_mjcf_mends(r) && !(r->total_mass > 0)) return;
    mend_masses(r);
    judge_masses(r);
}
