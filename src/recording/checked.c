/* checked.c -- a recording looked at from beginning to end: the copy, the order of the questions, what was found. */
#include "model/state.h"
#include "recording/predict.h"
#include "recording/questions.h"

/* Neighbouring quaternions in one half of their sphere. */
static void settle_signs(tribo_checked *c, int body) {
    int flips = 0, at = -1;
    const double *last = NULL;
    for (int k = 0; k < c->n; k++) {
        double *q = ti_pose(c, c->x, k, body) + 3, dot = 0;
        if (isnan(q[0] + q[1] + q[2] + q[3])) continue;
        for (int i = 0; last && i < 4; i++) dot += q[i] * last[i];
        if (dot < 0) {
            for (int i = 0; i < 4; i++) q[i] = -q[i];
            at = flips++ ? at : k;
        }
        last = q;
    }
    if (flips)
        ti_found(c, TRIBO_CONVENTION_SIGN, TRIBO_OUTCOME_NOTED, body, at, flips,
                 "%s: quaternions change their sign, first in row %d: q and -q are the same rotation",
                 tribo_model_body_name(c->m, body), at);
}

static void lay_out(tribo_checked *c, const tribo_recording *r, ti_arena *a, tribo_checked **self) {
    size_t n = (size_t)r->n, nx = (size_t)c->z.nx, nb = (size_t)c->z.nbody;
    TI_CARVE(a, *self, 1);
    TI_CARVE(a, c->p, c->z.np);
    TI_CARVE(a, c->time, n);
    TI_CARVE(a, c->x, n * nx);
    TI_CARVE(a, c->y, n * nx);
    TI_CARVE(a, c->keep, n * nx);
    TI_CARVE(a, c->posed, n * nb);
    TI_CARVE(a, c->unturned, nb);
    TI_CARVE(a, c->rate, 3 * n + 16);
    TI_CARVE(a, c->late, 2 * nb);
    TI_CARVE(a, c->state, nx);
    TI_CARVE(a, c->next, nx);
    TI_CARVE(a, c->link, nb);
    TI_CARVE(a, c->shape, c->z.ngeom);
    TI_CARVE(a, c->joint_noise, c->z.njoint);
    TI_CARVE(a, c->joint_scale, c->z.njoint);
    c->u = c->force = c->marker = NULL;
    if (r->marker) TI_CARVE(a, c->marker, 3 * n * (size_t)c->z.nsite);
    if (r->force) TI_CARVE(a, c->force, n * ti_forces(c));
    if (r->u) TI_CARVE(a, c->u, n * (size_t)c->z.nu);
}

static tribo_status copy(tribo_checked *c, const double *p, const tribo_recording *r, tribo_diag *diag) {
    size_t nx = (size_t)c->z.nx;
    if (p)
        memcpy(c->p, p, (size_t)c->z.np * sizeof *p);
    else
        tribo_model_params(c->m, c->p);
    for (int k = 0; k < r->n; k++) {
        if (!isfinite(r->time[k]) || (k && !(r->time[k] > r->time[k - 1])))
            return ti_fail(diag, TRIBO_E_ARG, 0, "row %d: times must be finite and increase", k);
        for (size_t i = 0; i < nx; i++)
            if (isinf(r->x[(size_t)k * nx + i]))
                return ti_fail(diag, TRIBO_E_NONFINITE, 0, "row %d: a measured number is infinite", k);
        for (int i = 0; i < c->z.nu && r->u; i++)
            if (!isfinite(r->u[(size_t)k * (size_t)c->z.nu + (size_t)i]))
                return ti_fail(diag, TRIBO_E_NONFINITE, 0, "row %d: control %d is not finite", k, i);
    }
    memcpy(c->time, r->time, (size_t)r->n * sizeof *c->time);
    memcpy(c->x, r->x, (size_t)r->n * nx * sizeof *c->x);
    if (r->force) memcpy(c->force, r->force, (size_t)r->n * ti_forces(c) * sizeof *c->force);
    if (r->marker) memcpy(c->marker, r->marker, 3 * (size_t)r->n * (size_t)c->z.nsite * sizeof *c->marker);
    if (r->u) memcpy(c->u, r->u, (size_t)r->n * (size_t)c->z.nu * sizeof *c->u);
    c->n = r->n;
    c->extent = tribo_model_extent(c->m);
    return TRIBO_OK;
}

/* A step's velocity is the difference of the poses before and after it: as many as a fit will make, if few. */
static int few_steps(const tribo_checked *c) {
    double steps = floor(c->spacing / tribo_model_timestep(c->m) + 0.5);
    return steps < 1 ? 1 : steps > 4 ? 4 : (int)steps;
}

/* Are there hinges and slides alone, and is all that drives them known? */
static bool swings(const tribo_checked *c) {
    bool axes = c->z.njoint > 1 && (c->u || c->m->size.nactuator == 0);
    for (int b = 0; b < c->z.nbody; b++) axes &= c->m->body[b].free < 0;
    for (int i = 0; i < c->z.njoint; i++) axes &= c->m->joint[i].kind != TI_JOINT_BALL;
    return axes;
}

/* Of a robot: what free bodies and joints say by themselves. What the scene predicts is asked for arms that nothing
 * drives unknown; masses and controls of others are what is in doubt. */
static tribo_status look_joints(tribo_checked *c) {
    ti_check_joints(c);
    ti_survey(c);
    if (swings(c) && !tribo_checked_refused(c)) {
        tribo_status status = ti_predict_begin(c, few_steps(c), TI_WINDOWS_MAX / 3);
        if (status) return status;
        ti_check_swings(c);
    }
    ti_check_gaps(c);
    return TRIBO_OK;
}

/* What gravity, shapes and rows say of units and of rows that are missing. */
static void look_lengths(tribo_checked *c) {
    int before = c->nfound;
    ti_check_units(c);
    bool puzzled = tribo_checked_refused(c) != NULL;
    if (puzzled) c->nfound = before; /* rows that are missing can be why */
    ti_survey(c);
    ti_check_gaps(c);
    if (puzzled) ti_check_units(c);
}

/* All questions, those first whose answers the others take for granted. */
static tribo_status look(tribo_checked *c) {
    for (int b = 0; b < c->z.nbody; b++)
        if (c->m->body[b].free >= 0) settle_signs(c, b);
    ti_check_parts(c);
    if (tribo_checked_refused(c)) return TRIBO_OK;
    ti_check_forces(c);
    ti_turn_as_scene(c);
    ti_survey(c);
    ti_check_clock(c);
    ti_check_times(c);
    ti_survey(c);
    ti_check_columns(c);
    if (!ti_all_free(c->m)) {
        ti_turn_no_more(c);
        return look_joints(c);
    }
    look_lengths(c);
    ti_turn_no_more(c);
    ti_survey(c);
    if (tribo_checked_refused(c)) return TRIBO_OK;
    tribo_status status = ti_predict_begin(c, c->spacing > 0.012 ? 2 : 1, TI_WINDOWS_MAX);
    if (status) return status;
    ti_check_orders(c);
    status = ti_predict_begin(c, few_steps(c), TI_WINDOWS_MAX / 4);
    if (!status) ti_check_kinds(c);
    return status;
}

tribo_status tribo_checked_new(const tribo_model *m, const double *p, const tribo_recording *r,
                               const tribo_allocator *a, tribo_checked **out, tribo_diag *diag) {
    tribo_checked measure = {0}, *self = NULL;
    ti_arena arena = {0};
    if (!m || !r || !out || r->n < 2 || !r->time || !r->x)
        return ti_fail(diag, TRIBO_E_ARG, 0, "no model, no recording of two rows, or nowhere to put it");
    tribo_status status = p ? tribo_params_check(m, p, diag) : TRIBO_OK;
    if (status < 0) return status;
    measure.m = m, measure.z = tribo_model_sizes(m);
    if (a) measure.alloc = *a;
    lay_out(&measure, r, &arena, &self);
    if (!ti_arena_take(&arena, a)) return TRIBO_E_NOMEM;
    lay_out(&measure, r, &arena, &self);
    *self = measure;
    self->bytes = arena.used;
    status = copy(self, p, r, diag);
    if (!status) status = look(self);
    ti_predict_end(self);
    if (status) {
        tribo_checked_free(self);
        return status;
    }
    *out = self;
    return TRIBO_OK;
}

void tribo_checked_free(tribo_checked *c) {
    if (!c) return;
    tribo_allocator alloc = c->alloc;
    ti_free(&alloc, c, c->bytes);
}

tribo_recording tribo_checked_recording(const tribo_checked *c) {
    return c ? (tribo_recording){.n = c->n,
                                 .time = c->time,
                                 .x = c->x,
                                 .u = c->u,
                                 .marker = c->marker,
                                 .force = c->force}
             : (tribo_recording){0};
}

const tribo_finding *tribo_checked_findings(const tribo_checked *c, int *n) {
    if (n) *n = c ? c->nfound : 0;
    return c ? c->found : NULL;
}

const tribo_finding *tribo_checked_refused(const tribo_checked *c) {
    for (int i = 0; c && i < c->nfound; i++)
        if (c->found[i].outcome == TRIBO_OUTCOME_REFUSED) return &c->found[i];
    return NULL;
}
