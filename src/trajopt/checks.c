/* checks.c -- whether a task's definition can be one. */
#include "base/crew.h"
#include "model/state.h"
#include "trajopt/norms.h"
#include "trajopt/task.h"
#include <stdio.h>

/* Where in the definition something is wrong. */
typedef struct report {
    const tribo_term_def *term;
    int at;
    tribo_diag *diag;
} report;

static tribo_status wrong(const report *r, const char *what, double x) {
    const char *name = r->term->name ? r->term->name : tribo_term_name(r->term->kind);
    return ti_fail(r->diag, TRIBO_E_ARG, 0, "term %d (%s): %s (%g)", r->at, name ? name : "?", what, x);
}

static tribo_status check_place(const report *r, const tribo_sizes *z, int body, int site, bool must) {
    if (body >= z->nbody) return wrong(r, "there is no such body", body);
    if (site >= z->nsite) return wrong(r, "there is no such site", site);
    if (body >= 0 && site >= 0) return wrong(r, "it is of a body and of a site: one of them is too many", site);
    if (must && body < 0 && site < 0) return wrong(r, "it needs a body or a site", body);
    return TRIBO_OK;
}

static tribo_status check_subject(const report *r, const tribo_sizes *z) {
    const tribo_term_def *d = r->term;
    switch (d->kind) {
    case TRIBO_TERM_JOINT:
    case TRIBO_TERM_JOINT_VELOCITY:
        if (d->joint < 0 || d->joint >= z->njoint) return wrong(r, "there is no such joint", d->joint);
        return TRIBO_OK;
    case TRIBO_TERM_POSITION:
    case TRIBO_TERM_ROTATION:
    case TRIBO_TERM_VELOCITY:
    case TRIBO_TERM_ANGULAR_VELOCITY: {
        bool second = d->body2 >= 0 || d->site2 >= 0;
        if (second && d->kind == TRIBO_TERM_ROTATION) return wrong(r, "a rotation is of one body or site", d->body2);
        tribo_status s = check_place(r, z, d->body, d->site, true);
        return s ? s : check_place(r, z, d->body2, d->site2, false);
    }
    case TRIBO_TERM_CONTACT_FORCE:
        if (d->site >= 0 || d->site2 >= 0) return wrong(r, "a contact force is of bodies, not of a site", d->site);
        if (d->body < 0) return wrong(r, "it needs a body", d->body);
        if (d->body == d->body2) return wrong(r, "a body does not push itself", d->body2);
        return check_place(r, z, d->body2 >= 0 && d->body < z->nbody ? d->body2 : d->body, -1, true);
    case TRIBO_TERM_CUSTOM:
        if (!d->function) return wrong(r, "it has no function", 0);
        if (d->size < 1 || d->size > TI_COUNT_LIMIT) return wrong(r, "its size must be at least 1", d->size);
        return TRIBO_OK;
    default:
        return TRIBO_OK;
    }
}

int ti_knot_of(int k, int knots) {
    return k < 0 ? knots + 1 + k : k;
}

/* How long arrays are, where that is said. */
static tribo_status check_counts(const report *r, const tribo_model *m, int nc) {
    const tribo_term_def *d = r->term;
    char what[80];
    int n, width;
    ti_term_sizes(m, nc, d, &n, &width);
    int weights = d->weights ? d->weight_count : 0, target = d->target ? d->target_count : 0,
        wanted = d->ntarget * width;
    if (weights && weights != n) {
        snprintf(what, sizeof what, "it has %d components, not as many as weights", n);
        return wrong(r, what, weights);
    }
    if (!target || target == wanted) return TRIBO_OK;
    snprintf(what, sizeof what, "its target has %d numbers (%d of %d), not as many as are given", wanted, d->ntarget,
             width);
    return wrong(r, what, target);
}

static tribo_status check_term(const report *r, const tribo_sizes *z, int knots) {
    const tribo_term_def *d = r->term;
    int first = ti_knot_of(d->first, knots), last = ti_knot_of(d->last, knots);
    if (d->struct_size != sizeof *d)
        return ti_fail(r->diag, TRIBO_E_DEF, 0, "term %d was not made by tribo_default_term()", r->at);
    if (!tribo_term_name(d->kind)) return wrong(r, "there is no such kind of term", d->kind);
    if (!tribo_norm_name(d->norm)) return wrong(r, "there is no such norm", d->norm);
    if (!(d->weight >= 0 || d->norm == TRIBO_NORM_LINEAR) || !isfinite(d->weight))
        return wrong(r, "its weight must be at least 0, and finite", d->weight);
    if (!(d->scale > 0 && d->scale < HUGE_VAL)) return wrong(r, "its scale must be above 0, and finite", d->scale);
    if (first < 0 || first > knots) return wrong(r, "its first knot is not one of the task's", d->first);
    if (last < first || last > knots) return wrong(r, "its last knot is before its first, or beyond the task", d->last);
    if (d->target && d->ntarget != 1 && d->ntarget != last - first + 1)
        return wrong(r, "its target has neither one row nor one for each of its knots", d->ntarget);
    if (ti_is_constraint(d->norm) && d->weight == 0) return wrong(r, "a constraint needs a weight above 0", 0);
    return check_subject(r, z);
}

static tribo_status check_controls(const tribo_sizes *z, const tribo_trajopt_def *d, int nc, tribo_diag *diag) {
    if (nc < 1 || nc > TI_CONTROLS_MAX)
        return ti_fail(diag, TRIBO_E_ARG, 0, "controls: %d of them, not in [1, %d]", nc, TI_CONTROLS_MAX);
    for (int i = 0; d->control && i < nc; i++) {
        if (d->control[i] < 0 || d->control[i] >= z->nu)
            return ti_fail(diag, TRIBO_E_ARG, 0, "control %d: u has no number %d", i, d->control[i]);
        for (int j = 0; j < i; j++)
            if (d->control[j] == d->control[i])
                return ti_fail(diag, TRIBO_E_ARG, 0, "control %d is control %d once more", i, j);
    }
    for (int i = 0; i < nc; i++) {
        double lower = d->lower ? d->lower[i] : -HUGE_VAL, upper = d->upper ? d->upper[i] : HUGE_VAL;
        if (!(lower <= upper) || lower == HUGE_VAL || upper == -HUGE_VAL)
            return ti_fail(diag, TRIBO_E_ARG, 0, "control %d: bounds %g to %g hold nothing", i, lower, upper);
    }
    return TRIBO_OK;
}

int ti_controls_of(const tribo_sizes *z, const tribo_trajopt_def *d) {
    return d->control ? d->ncontrol : z->nactuator > 0 ? z->nactuator : z->nv;
}

static tribo_status check_numbers(const tribo_sizes *z, const tribo_trajopt_def *d, int nc, tribo_diag *diag) {
    const struct {
        const double *at;
        size_t n;
        const char *name;
    } all[] = {{d->u, (size_t)z->nu, "u"},
               {d->p, (size_t)z->np, "p"},
               {d->x0, (size_t)z->nx, "x0"},
               {d->U, (size_t)d->knots * (size_t)nc, "U"},
               {d->X, ((size_t)d->knots + 1) * (size_t)z->nx, "X"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].at && !ti_finite(all[i].at, all[i].n))
            return ti_fail(diag, TRIBO_E_ARG, 0, "%s: not a finite number", all[i].name);
    return TRIBO_OK;
}

tribo_status ti_task_check(const tribo_model *m, const tribo_sizes *z, const tribo_trajopt_def *d, tribo_diag *diag) {
    int nc = ti_controls_of(z, d);
    if (d->struct_size != sizeof *d)
        return ti_fail(diag, TRIBO_E_DEF, 0, "the definition was not made by tribo_default_trajopt()");
    if (d->knots < 1 || d->substeps < 1 || d->knots > TI_COUNT_LIMIT / d->substeps)
        return ti_fail(diag, TRIBO_E_ARG, 0, "knots: %d of %d steps, not at least 1 of 1", d->knots, d->substeps);
    if (d->nterm < 1 || d->nterm > TI_COUNT_LIMIT || !d->term)
        return ti_fail(diag, TRIBO_E_ARG, 0, "terms: there are none");
    if (d->workers < 1 || d->workers > TI_WORKERS_MAX)
        return ti_fail(diag, TRIBO_E_ARG, 0, "workers: %d is not in [1, %d]", d->workers, TI_WORKERS_MAX);
    if (d->nstage < 0 || d->nstage > TI_STAGES_MAX || (d->nstage && !d->stage))
        return ti_fail(diag, TRIBO_E_ARG, 0, "stages: %d is not in [0, %d]", d->nstage, TI_STAGES_MAX);
    if (!(d->tol >= 0) || !(d->tol_constraint >= 0))
        return ti_fail(diag, TRIBO_E_ARG, 0, "tolerances must be at least 0");
    if (d->method < 0 || d->method > TRIBO_METHOD_LBFGS)
        return ti_fail(diag, TRIBO_E_ARG, 0, "there is no method %d", (int)d->method);
    if (d->X && d->method > TRIBO_METHOD_NEWTON)
        return ti_fail(diag, TRIBO_E_ARG, 0, "states to begin with are of DDP, ILQR and NEWTON alone");
    tribo_status s = check_controls(z, d, nc, diag);
    if (!s) s = check_numbers(z, d, nc, diag);
    for (int i = 0; i < d->nterm && !s; i++) {
        const report r = {d->term + i, i, diag};
        s = check_term(&r, z, d->knots);
        if (!s) s = check_counts(&r, m, nc);
    }
    return s;
}

int ti_term_turn(const tribo_model *m, const tribo_term_def *d, int *k) {
    bool state = d->kind == TRIBO_TERM_STATE;
    if (d->kind == TRIBO_TERM_ROTATION) return (*k)++ ? -1 : 0;
    while ((state || d->kind == TRIBO_TERM_JOINT) && *k < ti_joints(m)) {
        const ti_joint *j = &m->joint[(*k)++];
        int quat = ti_joint_of(j->kind)->quat;
        if (quat >= 0 && (state || j == &m->joint[d->joint])) return quat + (state ? j->q : 0);
    }
    return -1;
}

/* Is there length in the quaternions of a row of a target? */
static bool turns(const tribo_model *m, const tribo_term_def *d, const double *row) {
    for (int k = 0, at; (at = ti_term_turn(m, d, &k)) >= 0;) {
        const double *q = row + at;
        if (q[0] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0) return false;
    }
    return true;
}

int ti_target_turns(const tribo_trajopt *t, const ti_term *term, const double *target) {
    int k = 0;
    while (k < term->def.ntarget && turns(t->m, &term->def, target + (size_t)k * (size_t)term->width)) k++;
    return k;
}

tribo_status ti_task_check_targets(const tribo_trajopt *t, tribo_diag *diag) {
    for (int i = 0; i < t->nterm; i++) {
        const ti_term *term = &t->term[i];
        const report r = {&term->def, i, diag};
        for (int j = 0; j < term->n; j++)
            if (!(term->weights[j] >= 0 && term->weights[j] < HUGE_VAL))
                return wrong(&r, "weights must be at least 0, and finite", term->weights[j]);
        if (term->target && !ti_finite(term->target, (size_t)term->width * (size_t)term->def.ntarget))
            return wrong(&r, "its target is not finite", HUGE_VAL);
        int rows = term->target ? ti_target_turns(t, term, term->target) : term->def.ntarget;
        if (rows < term->def.ntarget) return wrong(&r, "its target is no quaternion", rows);
    }
    return TRIBO_OK;
}
