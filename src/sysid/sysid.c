/* sysid.c -- an identification from its definition to its end: memory, stages, the best so far. */
#include "base/crew.h"
#include "model/state.h"
#include "sysid/kicked/kicked.h"
#include "sysid/track/fit.h"
#include <stdlib.h>

enum { RETRIES = 2 };

tribo_free_param tribo_default_free(void) {
    return (tribo_free_param){.struct_size = sizeof(tribo_free_param), .start = NAN, .lower = NAN, .upper = NAN};
}

tribo_sysid_def tribo_default_sysid(void) {
    return (tribo_sysid_def){
        .struct_size = sizeof(tribo_sysid_def), .loss = TRIBO_LOSS_ROLLOUT, .window = 10, .workers = 1, .seed = 1};
}

/* Leave recordings out by a shuffle of their numbers; at least one stays. */
static void hold_out(tribo_sysid *s, double share) {
    ti_random random = {s->seed};
    int n = s->nrec, want = (int)floor(share * n + 0.5);
    if (want > n - 1) want = n - 1;
    if (share > 0 && want < 1 && n > 1) want = 1;
    for (int left = n, k = 0; k < want; k++, left--) {
        int pick = (int)(ti_random_uniform(&random) * left), i = 0;
        for (;; i++)
            if (!s->track[i].held_out && pick-- == 0) break;
        s->track[i].held_out = true;
    }
}

/* Weights by the size of what moves, the half of it that a rotation moves, and the time it takes to fall as far. */
static void choose_weights(tribo_sysid *s, const tribo_sysid_def *def) {
    double L = tribo_model_extent(s->m), g = sqrt(s->p0[0] * s->p0[0] + s->p0[1] * s->p0[1] + s->p0[2] * s->p0[2]);
    if (!(L > 0)) L = 1;
    double fall = sqrt(L / (g > 0 ? g : 9.81)), natural[TRIBO_BLOCKS] = {1 / L, 0.5, fall / L, fall / 2};
    for (int i = 0; i < TRIBO_BLOCKS; i++) {
        s->weight[i] = def->weight[i] == 0 ? natural[i] : def->weight[i] < 0 ? 0 : def->weight[i];
        s->weight_natural[i] = def->weight[i] == 0;
        s->threshold_auto[i] = !(def->threshold[i] > 0);
    }
    for (int i = 0; i < s->ngroup; i++) s->boost[i] = 1, s->threshold[i] = def->threshold[ti_group_kind(s, i)];
}

static tribo_status check(const tribo_sysid_def *def, tribo_diag *diag) {
    if (!def) return ti_fail(diag, TRIBO_E_ARG, 0, "no definition");
    if (def->struct_size != sizeof *def) return ti_fail(diag, TRIBO_E_DEF, 0, "not made by tribo_default_sysid()");
    if (def->loss > TRIBO_LOSS_SHOOTING || def->robust > TRIBO_ROBUST_CAUCHY || def->optimizer > TRIBO_OPT_ADAM ||
        def->start > TRIBO_START_AUTO)
        return ti_fail(diag, TRIBO_E_ARG, 0, "loss, robust, optimizer or start: there is no such kind");
    if (def->nfree < 0 || (def->nfree && !def->free)) return ti_fail(diag, TRIBO_E_ARG, 0, "free parameters missing");
    if (def->nrec < 1 || !def->rec) return ti_fail(diag, TRIBO_E_ARG, 0, "there is no recording");
    if (def->workers < 1 || def->workers > TI_WORKERS_MAX)
        return ti_fail(diag, TRIBO_E_ARG, 0, "workers: %d is not in [1, %d]", def->workers, TI_WORKERS_MAX);
    if ((def->loss == TRIBO_LOSS_WINDOW && def->window < 1) || (def->loss == TRIBO_LOSS_SHOOTING && def->window < 0))
        return ti_fail(diag, TRIBO_E_ARG, 0, "window: %d rows", def->window);
    if (def->options && !(def->options->dt >= 0 && isfinite(def->options->dt)))
        return ti_fail(diag, TRIBO_E_ARG, 0, "options: a step of %g s", def->options->dt);
    for (int i = 0; i < TRIBO_BLOCKS; i++)
        if (isnan(def->threshold[i])) return ti_fail(diag, TRIBO_E_ARG, 0, "threshold %d is not a number", i);
    if (!(def->validation >= 0 && def->validation < 1))
        return ti_fail(diag, TRIBO_E_ARG, 0, "validation: %g is not in [0, 1)", def->validation);
    const tribo_ranks *by = def->ranks;
    if (by && (by->count < 1 || by->own < 0 || by->own >= by->count || !by->exchange))
        return ti_fail(diag, TRIBO_E_ARG, 0, "ranks: %d of %d, or no way to exchange", by->own, by->count);
    for (int i = 0; i < def->nrec; i++) {
        const tribo_recording *r = def->rec + i;
        if (r->n < 2 || !r->time || !r->x)
            return ti_fail(diag, TRIBO_E_ARG, 0, "recording %d: it needs two rows at least", i);
    }
    return TRIBO_OK;
}

/* What says where sites are. */
static tribo_status make_places(tribo_sysid *s) {
    for (int i = 0; i < s->nworker; i++) {
        s->worker[i].s = s;
        if (s->mark_group < 0) continue;
        tribo_status status = tribo_dynamics_new(s->m, s->alloc.alloc ? &s->alloc : NULL, &s->worker[i].place);
        if (status) return status;
    }
    return TRIBO_OK;
}

/* Workspaces for every length of step, on every worker. */
static tribo_status make_workers(tribo_sysid *s) {
    for (int i = 0; i < s->nworker; i++) {
        ti_worker *w = s->worker + i;
        for (int j = 0; j < s->ndt; j++) {
            tribo_status status = ti_worker_ready(w, j, 0);
            if (status) return status;
        }
        if (!s->nplate) continue;
        w->push_bytes = 3 * sizeof(double) * (size_t)(tribo_ws_options(w->ws[0]).ncon_max + 1);
        w->push_bar = ti_alloc(&s->alloc, w->push_bytes);
        if (!w->push_bar) return TRIBO_E_NOMEM;
    }
    return TRIBO_OK;
}

/* Do the first row's velocities come with its poses, joint by joint? */
static bool velocities_seen(const tribo_sysid *s, const ti_track *t) {
    const bool *seen = t->seen + (size_t)t->first * (size_t)s->nblock;
    for (int b = 0; b < s->nblock; b++) {
        bool placed = false;
        for (int i = 0; i < s->nblock; i++)
            placed |= s->block[i].joint == s->block[b].joint && s->block[i].kind <= TRIBO_BLOCK_ROTATION && seen[i];
        if (placed && !seen[b]) return false;
    }
    return true;
}

/* Flight or not, recording by recording; then the blocks are counted. */
static tribo_status choose_starts(tribo_sysid *s, tribo_diag *diag) {
    ti_noise_guess(s, s->noise_seen);
    for (int i = 0; i < s->nrec; i++) {
        ti_track *t = s->track + i;
        tribo_status status = ti_flight_rows(s->worker, t, s->p0);
        if (status)
            return ti_fail(diag, status, 0,
                           "recording %d: no step can be made from its first rows: are they in metres, "
                           "radians and seconds?",
                           i);
        bool flies = ti_all_free(s->m) && t->nflight >= TI_FLIGHT_ROWS && s->weight[0] > 0 && s->weight[1] > 0;
        /* velocities that nobody measured are differences of two noisy poses: no start */
        bool whole = velocities_seen(s, t);
        t->start = s->start == TRIBO_START_MEASURED && !whole ? TRIBO_START_AUTO : s->start;
        if (t->start == TRIBO_START_FLIGHT && !flies) t->start = TRIBO_START_AUTO;
        if (t->start == TRIBO_START_AUTO) t->start = flies ? TRIBO_START_FLIGHT : TRIBO_START_ALONG;
        if (!ti_rolls(s) && t->start == TRIBO_START_ALONG) t->start = TRIBO_START_MEASURED;
        if (t->start == TRIBO_START_ALONG || s->shooting) ti_stand_choose(s->worker, t, s->p0);
        if (t->start == TRIBO_START_ALONG && !t->held_out) s->nalong++;
        ti_track_count(s, t);
    }
    return TRIBO_OK;
}

static tribo_status set_up(tribo_sysid *s, const tribo_sysid_def *def, tribo_diag *diag) {
    for (int i = 0; i < TRIBO_BLOCKS; i++)
        if (!isfinite(def->weight[i])) return ti_fail(diag, TRIBO_E_ARG, 0, "weight %d is not finite", i);
    tribo_model_params(s->m, s->p0);
    choose_weights(s, def);
    tribo_status status = ti_maps_init(s, def, diag);
    if (status) return status;
    s->by_forces = ti_regressor_applies(s);
    hold_out(s, def->validation);
    status = make_places(s);
    if (status) return status;
    for (int i = 0; i < s->nrec; i++) {
        tribo_diag why = {0};
        status = ti_track_init(s, s->track + i, def->rec + i, &why);
        if (status) return ti_fail(diag, status, 0, "recording %d: %s", i, why.text);
    }
    ti_columns_read(s, s->theta);
    for (int i = 0; i < s->nrec; i++) {
        ti_track *t = s->track + i;
        memcpy(t->x0, t->x + (size_t)t->first * (size_t)s->z.nx, (size_t)s->z.nx * sizeof *t->x0);
    }
    status = make_workers(s);
    if (status) return ti_fail(diag, status, 0, "the steps of the recordings cannot be made with these options");
    status = choose_starts(s, diag);
    if (status) return status;
    s->progress = (tribo_progress){.stage = s->nfree ? TRIBO_STAGE_DESCENT : TRIBO_STAGE_DONE, .gradient_norm = NAN};
    if (s->nfree) s->progress.loss = s->progress.loss_start = (double)NAN;
    s->lambda = 1e-3;
    s->rate_now = s->rate;
    ti_maps_clamp(s, s->theta);
    s->told = s->shooting ? ti_path_told : ti_track_told;
    return def->ranks && def->ranks->count > 1 ? ti_ranks_new(s, def->ranks, diag) : TRIBO_OK;
}

tribo_status tribo_sysid_new(const tribo_model *m, const tribo_sysid_def *def, tribo_sysid **out, tribo_diag *diag) {
    tribo_sysid measure = {0}, *self = NULL;
    ti_arena arena = {0};
    if (!m || !out) return ti_fail(diag, TRIBO_E_ARG, 0, "no model, or nowhere to put the fit");
    tribo_status status = check(def, diag);
    if (status) return status;
    measure.z = tribo_model_sizes(m);
    if (measure.z.nbody < 1) return ti_fail(diag, TRIBO_E_ARG, 0, "nothing moves in this model");
    measure.m = m;
    measure.rows_chosen = def->loss == TRIBO_LOSS_SHOOTING && !def->window;
    measure.nblock = ti_blocks(m, NULL, NULL, &measure.ngroup);
    measure.mark_group = -1;
    for (int i = 0; i < def->nrec; i++)
        if (def->rec[i].marker) measure.mark_group = measure.ngroup;
    measure.ngroup += measure.mark_group >= 0;
    measure.nplate = ti_plates(def, &measure.z, NULL);
    measure.plate_group = measure.nplate ? measure.ngroup++ : -1;
    for (int i = 0; i < def->nfree; i++) measure.ncolumn += def->free[i].column != TRIBO_COLUMN_NONE;
    ti_sysid_lay_out(&measure, def, &arena, &self);
    if (!ti_arena_take(&arena, def->allocator)) return TRIBO_E_NOMEM;
    ti_sysid_lay_out(&measure, def, &arena, &self);
    *self = measure;
    self->bytes = arena.used;
    if (def->allocator) self->alloc = *def->allocator;
    int unused;
    ti_blocks(m, self->block, self->entry, &unused);
    ti_plates(def, &self->z, self->plate);
    self->options = def->options ? *def->options : tribo_default_options();
    self->options.warm_start = false; /* so that no order of work changes a bit */
    self->loss = def->loss, self->window = self->rows_chosen ? TRIBO_SHOOTING_ROWS : def->window,
    self->start = def->start;
    self->robust = def->robust, self->optimizer = def->optimizer, self->search = def->search;
    self->rate = def->rate > 0 ? def->rate : 0.02;
    self->seed = def->seed, self->stop = def->stop;
    self->middle = ti_middle_applies(m, def->loss);
    pthread_mutex_init(&self->making, NULL);
    self->nfree = def->nfree, self->nrec = def->nrec, self->nworker = def->workers;
    status = set_up(self, def, diag);
    if (status) {
        tribo_sysid_free(self);
        return status;
    }
    *out = self;
    return TRIBO_OK;
}

void tribo_sysid_free(tribo_sysid *s) {
    if (!s) return;
    for (int i = 0; i < s->nworker; i++) {
        tribo_dynamics_free(s->worker[i].place);
        ti_free(&s->alloc, s->worker[i].push_bar, s->worker[i].push_bytes);
        for (int j = 0; j < s->ndt; j++) {
            tribo_tape_free(s->worker[i].whole[j]);
            for (int level = 0; level < TI_LENGTHS; level++) {
                tribo_tape_free(s->worker[i].one[j * TI_LENGTHS + level]);
                tribo_ws_free(s->worker[i].ws[j * TI_LENGTHS + level]);
            }
        }
    }
    pthread_mutex_destroy(&s->making);
    ti_ranks_free(s);
    tribo_allocator alloc = s->alloc;
    ti_free(&alloc, s, s->bytes);
}

int tribo_sysid_nfree(const tribo_sysid *s) {
    return s ? s->nfree : 0;
}

void tribo_sysid_theta(const tribo_sysid *s, double *theta) {
    if (s && theta) memcpy(theta, s->theta, (size_t)s->nfree * sizeof *theta);
}

void tribo_sysid_values(tribo_sysid *s, const double *theta, double *value) {
    if (!s || !theta || !value) return;
    tribo_sysid_params(s, theta, s->p);
    for (int i = 0; i < s->nfree; i++) value[i] = ti_value(s, theta, s->p, i);
}

tribo_status tribo_sysid_rows(tribo_sysid *s, int recording, double *X) {
    if (!s || !X || recording < 0 || recording >= s->nrec) return TRIBO_E_ARG;
    const ti_track *t = s->track + recording;
    ti_columns_read(s, s->theta);
    for (size_t i = 0; i < (size_t)t->n * (size_t)s->z.nx; i++) X[i] = t->given[i] ? t->x[i] : (double)NAN;
    return TRIBO_OK;
}

bool tribo_sysid_held_out(const tribo_sysid *s, int recording) {
    return s && recording >= 0 && recording < s->nrec && s->track[recording].held_out;
}

int tribo_sysid_flight(const tribo_sysid *s, int recording) {
    return s && recording >= 0 && recording < s->nrec ? s->track[recording].nflight : 0;
}

/* As callers see it: on an error their loss is left alone, which the optimizers want to be infinite. */
static tribo_status evaluate(tribo_sysid *s, const double *theta, bool held_out, ti_want want, double *loss, double *g,
                             double *H) {
    double found;
    if (!s || !theta || !loss || (g && s->ncolumn)) return TRIBO_E_ARG;
    tribo_status status = ti_evaluate(s, theta, held_out, want, &found, g, H);
    if (status >= 0) *loss = found;
    return status;
}

/* What shooting makes of steps, eq. (466) and (473), has no reverse. */
tribo_status tribo_sysid_eval(tribo_sysid *s, const double *theta, double *loss, double *grad) {
    ti_want slopes = s && s->shooting ? TI_WANT_FORWARD : TI_WANT_REVERSE;
    return evaluate(s, theta, false, grad ? slopes : TI_WANT_VALUE, loss, grad, NULL);
}

tribo_status tribo_sysid_normal(tribo_sysid *s, const double *theta, double *loss, double *grad, double *H) {
    return evaluate(s, theta, false, TI_WANT_FORWARD, loss, grad, H);
}

tribo_status tribo_sysid_validation(tribo_sysid *s, const double *theta, double *loss) {
    return evaluate(s, theta, true, TI_WANT_VALUE, loss, NULL, NULL);
}

/* Thresholds from the present estimate, and the losses that go with them. */
static tribo_status settle(tribo_sysid *s) {
    double start, now;
    s->progress.loss = (double)NAN; /* what it was by other thresholds says nothing */
    tribo_status status = ti_thresholds(s, s->theta);
    if (!status) status = ti_evaluate(s, s->start_theta, false, TI_WANT_VALUE, &start, NULL, NULL);
    if (!status) status = ti_evaluate(s, s->theta, false, TI_WANT_VALUE, &now, NULL, NULL);
    if (!status) s->progress.loss_start = start, s->progress.loss = now, s->passes++;
    return status;
}

static tribo_status first_rows(ti_worker *w, int i, void *p) {
    return ti_start_first(w, i, p);
}

static tribo_status retry(ti_worker *w, int i, void *p) {
    return ti_start_retry(w, i, p);
}

/* Before the first iteration: starts that are estimated along from their first rows. */
static tribo_status begin(tribo_sysid *s) {
    for (int i = 0; i < s->nrec; i++) memcpy(s->track[i].guess, s->track[i].x0, (size_t)s->z.nx * sizeof(double));
    ti_at(s, s->theta);
    tribo_status status = ti_parallel(s, TI_TELL_LOSS, first_rows, s->p);
    return status ? status : settle(s);
}

static tribo_status descend(tribo_sysid *s) {
    if (s->optimizer == TRIBO_OPT_LBFGS) return ti_lbfgs_iterate(s);
    if (s->optimizer == TRIBO_OPT_ADAM) return ti_adam_iterate(s);
    return ti_lm_iterate(s);
}

/* The descent has come to an end: search if it stalled, set thresholds anew, or be done. */
static tribo_status next_stage(tribo_sysid *s) {
    bool thresholds = false;
    for (int i = 0; i < TRIBO_BLOCKS; i++) thresholds |= s->threshold_auto[i];
    s->lambda = 1e-3, s->rate_now = s->rate, s->adam_steps = 0;
    if (s->nalong && s->retries < RETRIES) { /* now that the parameters are better, so may be the starts */
        s->retries++;
        s->stalled = s->progress.converged = false;
        ti_at(s, s->theta);
        tribo_status status = ti_parallel(s, TI_TELL_LOSS, retry, s->p);
        return status ? status : settle(s);
    }
    if (s->stalled && s->search > 0 && !s->searched) {
        tribo_status status = settle(s);
        if (!status) status = ti_search_init(s);
        if (status) return status;
        s->searched = true;
        s->stalled = s->progress.converged = false;
        s->progress.stage = TRIBO_STAGE_SEARCH;
        return TRIBO_OK;
    }
    if (thresholds && s->robust != TRIBO_ROBUST_NONE && s->passes < 2 + s->retries) {
        s->stalled = s->progress.converged = false;
        return settle(s);
    }
    s->progress.stage = TRIBO_STAGE_DONE;
    s->progress.settled = s->stalled && (s->searched || s->search == 0);
    return TRIBO_OK;
}

tribo_status tribo_sysid_iterate(tribo_sysid *s, tribo_progress *progress) {
    if (!s) return TRIBO_E_ARG;
    tribo_status status = TRIBO_OK;
    if (s->progress.stage != TRIBO_STAGE_DONE) {
        s->fitting = true;
        if (ti_stopped(s)) status = TRIBO_INTERRUPTED;
        if (!status && !s->shooting && !s->passes) status = begin(s);
        if (!status && s->shooting) {
            status = ti_shooting_iterate(s);
        } else if (!status && s->progress.stage == TRIBO_STAGE_SEARCH) {
            status = ti_search_iterate(s);
            if (!status && s->cma.spent >= s->search) s->progress.stage = TRIBO_STAGE_DESCENT;
        } else if (!status) {
            status = descend(s);
            if (!status && (s->progress.converged || s->stalled)) status = next_stage(s);
        }
        if (status == TI_STOPPED || (ti_stopped(s) && status < 0)) status = TRIBO_INTERRUPTED;
        s->fitting = false;
        s->progress.iteration++;
    }
    if (progress) *progress = s->progress;
    return status;
}

tribo_status tribo_sysid_fit(tribo_sysid *s, int max_iterations, tribo_progress *progress) {
    if (!s || max_iterations < 0) return TRIBO_E_ARG;
    tribo_progress now = s->progress;
    for (int i = 0; i < max_iterations && now.stage != TRIBO_STAGE_DONE; i++) {
        tribo_status status = tribo_sysid_iterate(s, &now);
        if (progress) *progress = now;
        if (status) return status;
    }
    if (progress) *progress = now;
    return now.stage == TRIBO_STAGE_DONE && (now.converged || now.settled) ? TRIBO_OK : TRIBO_NOT_CONVERGED;
}
