/* tracks.c -- recordings made ready: copied, checked, weighed, filled in where a simulation must start, cut up. */
#include "math/vec.h"
#include "sysid/track/fit.h"

void ti_track_carve(ti_arena *a, ti_track *t, const tribo_sysid *s, const tribo_recording *r) {
    const tribo_sizes *z = &s->z;
    size_t n = (size_t)r->n;
    t->n = r->n;
    TI_CARVE(a, t->time, n);
    TI_CARVE(a, t->x, n * (size_t)z->nx);
    t->raw = NULL;
    if (s->ncolumn) TI_CARVE(a, t->raw, n * (size_t)z->nx);
    TI_CARVE(a, t->w, n * (size_t)z->ndx);
    TI_CARVE(a, t->norm, n * (size_t)s->nblock);
    TI_CARVE(a, t->nsub, n);
    TI_CARVE(a, t->dt, n);
    TI_CARVE(a, t->seen, n * (size_t)s->nblock);
    TI_CARVE(a, t->complete, n);
    TI_CARVE(a, t->seg, n);
    TI_CARVE(a, t->x0, z->nx);
    TI_CARVE(a, t->from, z->nx);
    TI_CARVE(a, t->x0try, z->nx);
    TI_CARVE(a, t->dx, z->ndx);
    TI_CARVE(a, t->rest, ti_joints(s->m));
    TI_CARVE(a, t->guess, z->nx);
    TI_CARVE(a, t->kept, z->nx);
    TI_CARVE(a, t->T, (size_t)z->ndx * (size_t)z->ndx);
    t->u = NULL;
    if (r->u) TI_CARVE(a, t->u, n * (size_t)z->nu);
    TI_CARVE(a, t->given, n * (size_t)z->nx);
    t->force = NULL, t->quiet = NULL;
    if (r->force) TI_CARVE(a, t->force, 3 * n * (size_t)s->nplate);
    if (r->force) TI_CARVE(a, t->quiet, n * (size_t)s->nplate);
    t->mark = NULL, t->derived = NULL;
    if (!r->marker) return;
    TI_CARVE(a, t->mark, 3 * n * (size_t)z->nsite);
    TI_CARVE(a, t->derived, n * (size_t)s->nblock);
}

static tribo_status check(ti_track *t, const tribo_recording *r, const tribo_sizes *z, tribo_diag *diag) {
    for (int k = 0; k < r->n; k++) {
        t->time[k] = r->time[k];
        if (!isfinite(r->time[k]) || (k && !(r->time[k] > r->time[k - 1])))
            return ti_fail(diag, TRIBO_E_ARG, 0, "row %d: times must be finite and increase", k);
        for (int i = 0; i < z->nx; i++)
            if (isinf(r->x[(size_t)k * (size_t)z->nx + (size_t)i]))
                return ti_fail(diag, TRIBO_E_NONFINITE, 0, "row %d: a measured number is infinite", k);
    }
    for (size_t i = 0; t->mark && i < 3 * (size_t)r->n * (size_t)z->nsite; i++) {
        t->mark[i] = r->marker[i];
        if (isinf(t->mark[i])) return ti_fail(diag, TRIBO_E_NONFINITE, 0, "a marker is infinitely far");
    }
    for (size_t i = 0; r->u && i < (size_t)r->n * (size_t)z->nu; i++) {
        t->u[i] = isnan(r->u[i]) ? 0 : r->u[i];
        if (isinf(t->u[i])) return ti_fail(diag, TRIBO_E_NONFINITE, 0, "a control is infinite");
    }
    return TRIBO_OK;
}

/* Does some row tell a joint's place? */
static bool posed(const tribo_sysid *s, const ti_track *t, const ti_joint *j) {
    for (int k = 0; k < t->n; k++)
        for (int i = 0; i < ti_joint_of(j->kind)->nq; i++)
            if (!isnan(t->x[(size_t)k * (size_t)s->z.nx + (size_t)(j->q + i)])) return true;
    return false;
}

/* Quaternions to length 1. @return false where one has none. */
static bool normalise(const tribo_sysid *s, double *x) {
    for (int k = 0; k < ti_joints(s->m); k++) {
        const ti_joint *j = &s->m->joint[k];
        int quat = ti_joint_of(j->kind)->quat;
        if (quat < 0) continue;
        double *q = x + j->q + quat, size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        if (size < 1e-6) return false;
        for (int i = 0; i < 4; i++) q[i] /= size;
    }
    return true;
}

/* Where in a state a block's number is measured: a quaternion is whole or not there. */
static const double *source(const tribo_sysid *s, const ti_block *b, const double *x, int i) {
    return x + ti_block_source(s, b) + (b->quat >= 0 ? 0 : i);
}

/* Weights of one row of a block; whether it was measured whole. */
static bool weigh_block(const tribo_sysid *s, const ti_block *b, const double *x, bool calm, double *w) {
    double weight = s->weight[b->kind];
    bool whole = true;
    for (int i = 0; i < b->n; i++) {
        bool seen = !isnan(*source(s, b, x, i));
        bool counts = seen && weight > 0 && !(calm && s->weight_natural[b->kind] && b->kind >= TRIBO_BLOCK_VELOCITY);
        w[b->at + i] = counts ? weight : 0;
        whole &= seen;
    }
    return whole;
}

/* Weights of what was measured; quaternions normalised; NaN stays in x for now. */
static tribo_status weigh(tribo_sysid *s, ti_track *t, const tribo_recording *r, tribo_diag *diag) {
    size_t nx = (size_t)s->z.nx, ndx = (size_t)s->z.ndx, nb = (size_t)s->nblock;
    memcpy(t->x, r->x, (size_t)r->n * nx * sizeof *t->x);
    for (int k = 0; k < t->n; k++)
        if (!normalise(s, t->x + (size_t)k * nx))
            return ti_fail(diag, TRIBO_E_ARG, 0, "row %d: a quaternion is zero", k);
    tribo_status status = t->mark ? ti_markers_pose(s, t, diag) : TRIBO_OK;
    if (status) return status;
    for (size_t i = 0; i < (size_t)t->n * nx; i++) t->given[i] = !isnan(t->x[i]);
    for (size_t b = 0; b < nb; b++) {
        /* velocities jump at an impact, so a loss that counts them jumps where an impact passes a row; poses say as
         * much of a longer motion */
        bool calm = s->loss != TRIBO_LOSS_ONE_STEP && posed(s, t, &s->m->joint[s->block[b].joint]);
        for (size_t k = 0; k < (size_t)t->n; k++)
            t->seen[k * nb + b] = weigh_block(s, &s->block[b], t->x + k * nx, calm, t->w + k * ndx);
    }
    return TRIBO_OK;
}

/* Numbers never measured come from the model's start; others missing from the row before. */
static void fill_poses(const tribo_sysid *s, ti_track *t, const double *state0) {
    size_t nx = (size_t)s->z.nx;
    for (int k = 0; k < t->n; k++) t->complete[k] = true;
    for (int i = 0; i < s->z.nq; i++) {
        bool ever = false;
        double last = state0[i];
        for (int k = 0; k < t->n; k++) ever |= !isnan(t->x[(size_t)k * nx + (size_t)i]);
        for (int k = 0; k < t->n; k++) {
            double *x = t->x + (size_t)k * nx + i;
            if (isnan(*x)) {
                *x = last;
                if (ever) t->complete[k] = false;
            }
            last = *x;
        }
    }
}

/* Mean velocity of a joint between rows a and b. */
static void difference(const tribo_sysid *s, const ti_track *t, int a, int b, const ti_joint *j, double *v) {
    size_t nx = (size_t)s->z.nx;
    double h = t->time[b] - t->time[a];
    ti_joint_difference(j, t->x + (size_t)a * nx, t->x + (size_t)b * nx, v);
    for (int i = 0; i < ti_joint_of(j->kind)->nv; i++) v[i] /= h;
}

/* Velocities that were not measured: the difference from the last complete row, for the first row to the next. */
static void fill_velocities(const tribo_sysid *s, ti_track *t) {
    int last = -1, next = 0;
    for (int k = 0; k < t->n; k++) {
        double *x = t->x + (size_t)k * (size_t)s->z.nx;
        for (next = k + 1; next < t->n && !t->complete[next];) next++;
        for (int b = 0; b < ti_joints(s->m); b++) {
            const ti_joint *j = &s->m->joint[b];
            double d[TI_POSE_TANGENT] = {0}, *v = ti_joint_velocity(s, j, x);
            if (t->complete[k] && last >= 0)
                difference(s, t, last, k, j, d);
            else if (t->complete[k] && next < t->n)
                difference(s, t, k, next, j, d);
            for (int i = 0; i < ti_joint_of(j->kind)->nv; i++)
                if (isnan(v[i])) v[i] = d[i];
        }
        if (t->complete[k]) last = k;
    }
}

/* Is there a time of another clock? What went on meanwhile says nothing, and simulating it would not end. */
static tribo_status check_clock(const tribo_sysid *s, const ti_track *t, tribo_diag *diag) {
    const double steps = 1e5, spans = 10;
    double want = s->options.dt > 0 ? s->options.dt : tribo_model_timestep(s->m), most = 0;
    int at = 0;
    for (int k = 0; k < t->n - 1; k++) {
        double h = t->time[k + 1] - t->time[k];
        if (h > most) most = h, at = k;
    }
    double others = t->time[t->n - 1] - t->time[0] - most;
    if (!(most > steps * want && most > spans * others)) return TRIBO_OK;
    return ti_fail(diag, TRIBO_E_ARG, 0, "rows %d and %d are %.3g s apart, all others %.3g s: is one of two clocks?",
                   at, at + 1, most, others);
}

/* Whole steps from row to row, as near to the model's as they can be. */
static void choose_steps(tribo_sysid *s, ti_track *t) {
    double want = s->options.dt > 0 ? s->options.dt : tribo_model_timestep(s->m);
    for (int k = 0; k < t->n - 1; k++) {
        double h = t->time[k + 1] - t->time[k], n = floor(h / want + 0.5), dt;
        int i = 0;
        t->nsub[k] = n < 1 ? 1 : n > 1e6 ? 1000000 : (int)n;
        dt = h / t->nsub[k];
        /* stamps are rounded when they are written: lengths that differ by less are the same */
        while (i < s->ndt && fabs(s->dt[i] - dt) > 2e-6 * dt) i++;
        if (i == s->ndt) s->dt[s->ndt++] = dt;
        t->dt[k] = i;
    }
}

static void cut(tribo_sysid *s, ti_track *t) {
    int window = s->loss == TRIBO_LOSS_ONE_STEP ? 1 : s->loss == TRIBO_LOSS_WINDOW ? s->window : t->n;
    t->nseg = 0;
    for (int k = t->first; k < t->n - 1;) {
        if (!t->complete[k]) {
            k++;
            continue;
        }
        ti_segment seg = {k, window < t->n - 1 - k ? window : t->n - 1 - k};
        for (int i = 0; i < s->ndt; i++) s->dt_count[i] = 0;
        for (int j = 0; j < seg.n; j++) s->dt_count[t->dt[k + j]] += t->nsub[k + j];
        for (int i = 0; i < s->ndt; i++)
            if (s->dt_count[i] > s->dt_steps[i]) s->dt_steps[i] = s->dt_count[i];
        t->seg[t->nseg++] = seg;
        k += seg.n;
    }
}

tribo_status ti_track_init(tribo_sysid *s, ti_track *t, const tribo_recording *r, tribo_diag *diag) {
    tribo_status status = check(t, r, &s->z, diag);
    if (!status) status = check_clock(s, t, diag);
    if (!status) status = ti_plates_take(s, t, r, diag);
    if (!status) status = weigh(s, t, r, diag);
    if (status) return status;
    double *state0 = s->worker[0].x;
    tribo_model_state0(s->m, state0);
    fill_poses(s, t, state0);
    fill_velocities(s, t);
    if (t->raw) memcpy(t->raw, t->x, (size_t)t->n * (size_t)s->z.nx * sizeof *t->x);
    choose_steps(s, t);
    for (t->first = 0; t->first < t->n && !t->complete[t->first];) t->first++;
    if (t->first >= t->n - 1)
        return ti_fail(diag, TRIBO_E_ARG, 0, "no row but the last has all poses: nowhere to start");
    cut(s, t);
    return TRIBO_OK;
}

void ti_track_count(const tribo_sysid *s, ti_track *t) {
    bool own_start = ti_rolls(s) && t->start != TRIBO_START_MEASURED;
    t->nblock = 0;
    for (int i = 0; i < t->nseg; i++)
        for (int k = t->seg[i].row + (own_start ? 0 : 1); k <= t->seg[i].row + t->seg[i].n; k++)
            for (int b = 0; b < s->nblock; b++)
                t->nblock += ti_block_counts(&s->block[b], t->w + (size_t)k * (size_t)s->z.ndx);
}
