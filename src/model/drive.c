/* drive.c -- actuators, and states and controls by name: added to a builder, asked of a model. */
#include "model/builder.h"
#include "model/inertia.h"
#include <math.h>

tribo_actuator_def tribo_default_actuator(void) {
    return (tribo_actuator_def){.struct_size = sizeof(tribo_actuator_def), .gear = 1, .gain = {1, 0, 0}, .site = -1};
}

const char *ti_actuator_flaw(const double *p) {
    if (!ti_finite(p, TI_P_ACTUATOR)) return "a number is not finite";
    if (p[TI_P_CTRLRANGE] > p[TI_P_CTRLRANGE + 1]) return "ctrlrange: the first number is larger than the second";
    if (p[TI_P_FORCERANGE] > p[TI_P_FORCERANGE + 1]) return "forcerange: the first number is larger than the second";
    return NULL;
}

void ti_actuator_numbers(const tribo_actuator_def *d, double *p) {
    p[TI_P_GEAR] = d->site < 0 ? d->gear : d->wrench[0];
    memcpy(p + TI_P_GAIN, d->gain, sizeof d->gain), memcpy(p + TI_P_BIAS, d->bias, sizeof d->bias);
    for (int k = 0; k < 2; k++) {
        p[TI_P_CTRLRANGE + k] = d->ctrl_limited ? d->ctrlrange[k] : 0;
        p[TI_P_FORCERANGE + k] = d->force_limited ? d->forcerange[k] : 0;
    }
}

static const char *site_flaw(const tribo_builder *b, const tribo_actuator_def *d) {
    if (d->site >= b->nsite) return "there is no such site";
    if (b->site[d->site].body < 0) return "its site does not move";
    if (d->njoint != 0) return "it pulls on joints and at a site";
    if (d->dampratio != 0) return "it pulls at a site, and its dampratio is not 0";
    return ti_finite(d->wrench, 6) ? NULL : "wrench is not finite";
}

static const char *actuator_flaw(const tribo_builder *b, const ti_actuator_rec *r) {
    const tribo_actuator_def *d = &r->def;
    double p[TI_P_ACTUATOR];
    const char *what = d->site >= 0 ? site_flaw(b, d) : d->njoint < 1 || !d->joint ? "it pulls on no joint" : NULL;
    if (what) return what;
    for (int k = 0; k < d->njoint; k++) {
        if (!ti_builder_has_axis(b, d->joint[k])) return "it pulls on something that is no hinge and no slide";
        if (d->coef && !isfinite(d->coef[k])) return "a coefficient is not finite";
    }
    if (!isfinite(d->dampratio)) return "a number is not finite";
    ti_actuator_numbers(d, p);
    return ti_actuator_flaw(p);
}

int tribo_add_actuator(tribo_builder *b, const tribo_actuator_def *def) {
    if (!b || b->status != TRIBO_OK) return -1;
    if (!def || def->struct_size != sizeof *def) {
        ti_builder_fail(b, TRIBO_E_DEF, b->line, "actuator %d: not made by tribo_default_actuator()", b->nactuator);
        return -1;
    }
    ti_actuator_rec *records = ti_builder_room(b, b->actuator, &b->actuator_bytes, b->nactuator, sizeof *records);
    if (!records) return -1;
    b->actuator = records;
    ti_actuator_rec *r = &b->actuator[b->nactuator];
    *r = (ti_actuator_rec){.def = *def, .pull0 = b->npull};
    ti_named names = {"actuator", &b->actuator_names, b->actuator->name, sizeof *b->actuator};
    if (!ti_builder_name(b, names, def->name)) return -1;
    const char *what = actuator_flaw(b, r);
    if (what) {
        ti_builder_fail(b, TRIBO_E_ARG, b->line, "actuator %s: %s", r->name, what);
        return -1;
    }
    for (int k = 0; k < def->njoint; k++) {
        ti_pull_rec *pulls = ti_builder_room(b, b->pull, &b->pull_bytes, b->npull, sizeof *pulls);
        if (!pulls) return -1;
        b->pull = pulls;
        b->pull[b->npull++] = (ti_pull_rec){def->joint[k], def->coef ? def->coef[k] : 1};
    }
    r->def.name = NULL, r->def.joint = NULL, r->def.coef = NULL;
    return b->nactuator++;
}

/* ---- damping as a share of the critical one: docs/mjcf.md ---- */

/* Where body i stands in the world as it was placed. */
static void stand(const tribo_builder *b, int i, ti_vec *at, ti_mat *R) {
    double quat[4] = {1, 0, 0, 0};
    *at = (ti_vec){0, 0, 0};
    for (; i >= 0; i = b->body[i].def.parent) {
        ti_mat own = ti_quat_mat(b->body[i].def.quat);
        *at = ti_add(ti_load3(b->body[i].def.pos), ti_mul(&own, *at));
        ti_quat_mul(b->body[i].def.quat, quat, quat);
    }
    *R = ti_quat_mat(quat);
}

static bool is_below(const tribo_builder *b, int i, int top) {
    while (i > top) i = b->body[i].def.parent;
    return i == top;
}

/* What a hinge or slide moves: its entry on the diagonal of M. */
static double inertia_on(const tribo_builder *b, int joint) {
    const ti_joint_rec *r = &b->joint[joint];
    double sum = r->def.armature;
    ti_vec at, xo;
    ti_mat R, Ri;
    stand(b, r->body, &xo, &R);
    ti_vec axis = ti_mul(&R, ti_load3(r->def.axis)), on = ti_add(xo, ti_mul(&R, ti_load3(r->def.pos)));
    for (int i = r->body; i < b->nbody; i++) {
        const tribo_body_def *d = &b->body[i].def;
        if (!is_below(b, i, r->body)) continue;
        if (r->def.kind == TRIBO_JOINT_SLIDE) {
            sum += d->mass;
            continue;
        }
        stand(b, i, &at, &Ri);
        ti_vec arm = ti_sub(ti_add(at, ti_mul(&Ri, ti_load3(d->com))), on), turn = ti_tmul(&Ri, axis);
        ti_vec speed = ti_cross(axis, arm);
        ti_mat I = ti_sym(d->inertia);
        sum += d->mass * ti_dot(speed, speed) + ti_dot(turn, ti_mul(&I, turn));
    }
    return sum;
}

void ti_builder_damp(tribo_builder *b) {
    for (int i = 0; i < b->nactuator; i++) {
        ti_actuator_rec *r = &b->actuator[i];
        double moved = 0;
        if (!(r->def.dampratio > 0)) continue;
        for (int k = r->pull0; k < r->pull0 + r->def.njoint; k++) {
            double arm = r->def.gear * b->pull[k].coef;
            if (arm != 0) moved += inertia_on(b, b->pull[k].joint) / (arm * arm);
        }
        r->def.bias[2] = -2 * r->def.dampratio * sqrt(fabs(r->def.gain[0]) * moved);
    }
}

void tribo_cap_joint(tribo_builder *b, int joint, double lower, double upper) {
    if (!b || b->status != TRIBO_OK) return;
    if (!ti_builder_has_axis(b, joint) || !(lower <= upper) || !isfinite(lower) || !isfinite(upper)) {
        ti_builder_fail(b, TRIBO_E_ARG, b->line, "joint %d: no hinge or slide, or no range of forces", joint);
        return;
    }
    ti_cap_rec *records = ti_builder_room(b, b->cap, &b->cap_bytes, b->ncap, sizeof *records);
    if (!records) return;
    b->cap = records;
    b->cap[b->ncap++] = (ti_cap_rec){joint, {lower, upper}};
}

void ti_control_range(const tribo_model *m, const double *p, int i, double range[2]) {
    const ti_actuator *actuator = i < m->size.nv ? NULL : &m->actuator[i - m->size.nv];
    bool limited = actuator && actuator->ctrl_limited;
    range[0] = limited ? p[actuator->p + TI_P_CTRLRANGE] : -HUGE_VAL;
    range[1] = limited ? p[actuator->p + TI_P_CTRLRANGE + 1] : HUGE_VAL;
}

/* ---- keys ---- */

int tribo_add_key(tribo_builder *b, const char *name, const double *q, const double *v, const double *ctrl) {
    int nq, nv;
    if (!b || b->status != TRIBO_OK) return -1;
    ti_builder_widths(b, &nq, &nv);
    size_t x = (size_t)(nq + nv), na = (size_t)b->nactuator, width = x + na;
    char(*names)[TI_NAME_MAX + 1] = ti_builder_room(b, b->key_name, &b->key_name_bytes, b->nkey, sizeof *names);
    if (!names) return -1;
    b->key_name = names;
    if (!ti_builder_name(b, (ti_named){"key", &b->key_names, *names, sizeof *names}, name)) return -1;
    const char *own = names[b->nkey];
    if (b->nkey && b->nkeyed != (int)width)
        ti_builder_fail(b, TRIBO_E_ARG, b->line, "key %s: bodies, joints or actuators were added after the last key",
                        own);
    if ((q && !ti_finite(q, (size_t)nq)) || (v && !ti_finite(v, (size_t)nv)) || (ctrl && !ti_finite(ctrl, na)))
        ti_builder_fail(b, TRIBO_E_NONFINITE, b->line, "key %s: it is not finite", own);
    if (b->status != TRIBO_OK) return -1;
    double *keys = ti_builder_room(b, b->key, &b->key_bytes, b->nkey, width * sizeof *keys);
    if (!keys) return -1;
    b->key = keys;
    double *to = b->key + (size_t)b->nkey * width;
    ti_builder_state(b, q, v, to);
    for (size_t i = 0; i < na; i++) to[x + i] = ctrl ? ctrl[i] : 0;
    b->nkeyed = (int)width;
    return b->nkey++;
}

int tribo_model_keys(const tribo_model *m) {
    return m ? m->nkey : 0;
}

const char *tribo_model_key_name(const tribo_model *m, int key) {
    return m && key >= 0 && key < m->nkey ? m->key_name[key] : NULL;
}

int tribo_model_key_find(const tribo_model *m, const char *name) {
    for (int i = 0; m && name && i < m->nkey; i++)
        if (strcmp(m->key_name[i], name) == 0) return i;
    return -1;
}

void tribo_model_key(const tribo_model *m, int key, double *x, double *u) {
    if (!m) return;
    bool there = key >= 0 && key < m->nkey;
    size_t nx = (size_t)m->size.nx, nv = (size_t)m->size.nv, na = (size_t)m->size.nactuator;
    const double *from = there ? m->key + (size_t)key * (nx + na) : NULL;
    if (x) memcpy(x, there ? from : m->x0, nx * sizeof *x);
    if (u) memset(u, 0, (nv + na) * sizeof *u);
    if (u && there) memcpy(u + nv, from + nx, na * sizeof *u);
}

/* ---- names ---- */

const char *tribo_model_actuator_name(const tribo_model *m, int actuator) {
    return m && actuator >= 0 && actuator < m->size.nactuator ? m->actuator[actuator].name : NULL;
}

int tribo_model_actuator_find(const tribo_model *m, const char *name) {
    for (int i = 0; m && name && i < m->size.nactuator; i++)
        if (strcmp(m->actuator[i].name, name) == 0) return i;
    return -1;
}
