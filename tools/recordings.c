/* recordings.c -- see recordings.h. */
#include "recordings.h"
#include "progress.h"
#include "residuals.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int copy(tribo_recording *rec, const tribo_trajectory *t, const char *path, const tribo_sizes *z) {
    size_t nx = (size_t)z->nx, marks = 3 * (size_t)z->nsite, n = (size_t)tribo_trajectory_rows(t);
    if (n < 2) return input_message(path, 0, "a recording needs two rows at least");
    double *time = calloc(n, sizeof *time), *x = calloc(n * nx, sizeof *x);
    rec->n = (int)n, rec->time = time, rec->x = x;
    if (!time || !x) return trouble("no memory");
    memcpy(time, tribo_trajectory_times(t), n * sizeof *time);
    const double *state = tribo_trajectory_states(t);
    const bool *observed = tribo_trajectory_observed(t);
    for (size_t i = 0; i < n * nx; i++) x[i] = observed[i] ? state[i] : (double)NAN;
    const double *seen = tribo_trajectory_markers(t);
    double *marker = seen ? calloc(n * marks, sizeof *marker) : NULL;
    rec->marker = marker;
    if (seen && !marker) return trouble("no memory");
    if (seen) memcpy(marker, seen, n * marks * sizeof *marker);
    const double *pressed = tribo_trajectory_forces(t);
    double *force = pressed ? calloc(n * recording_forces(z), sizeof *force) : NULL;
    rec->force = force;
    if (pressed && !force) return trouble("no memory");
    if (pressed) memcpy(force, pressed, n * recording_forces(z) * sizeof *force);
    return EXIT_SUCCESS;
}

/* The mean of the controls in force from one row to the next: their impulse is kept where they change faster than steps
 * (held.c). What was measured `late` is of as much before. */
static int push(tribo_recording *rec, const tribo_controls *c, size_t nu, double late) {
    size_t n = (size_t)rec->n, rows = (size_t)tribo_controls_rows(c), row = 0;
    const double *at = tribo_controls_times(c);
    double *u = calloc(n * nu, sizeof *u), *now = calloc(nu, sizeof *now);
    rec->u = u;
    for (size_t k = 0; u && now && k + 1 < n; k++) {
        double from = rec->time[k] - late, end = rec->time[k + 1] - late, span = end - from;
        while (row < rows && at[row] <= from) row++;
        for (size_t j = row; from < end; j++) {
            double to = j < rows && at[j] < end ? at[j] : end;
            tribo_controls_at(c, from, now);
            for (size_t i = 0; i < nu; i++) u[k * nu + i] += now[i] * (to - from) / span;
            from = to;
        }
    }
    bool good = u && now;
    if (good) tribo_controls_at(c, rec->time[n - 1] - late, u + (n - 1) * nu);
    free(now);
    return good ? EXIT_SUCCESS : trouble("no memory");
}

/* The controls of the scene's first key in every row, as a simulation has them; none where they are 0. */
static int hold(tribo_recording *rec, const tribo_model *m) {
    size_t n = (size_t)rec->n, nu = (size_t)tribo_model_sizes(m).nu;
    double *u = calloc(n * nu, sizeof *u);
    bool any = false;
    if (!u) return trouble("no memory");
    tribo_model_key(m, 0, NULL, u);
    for (size_t i = 0; i < nu; i++) any |= u[i] != 0;
    for (size_t k = 1; k < n; k++) memcpy(u + k * nu, u, nu * sizeof *u);
    if (any)
        rec->u = u;
    else
        free(u);
    return EXIT_SUCCESS;
}

static const char *controls_of(const recording_options *o, int i) {
    return o->controls.n ? o->controls.item[o->controls.n > 1 ? i : 0] : NULL;
}

static int load_one(recordings *r, const tribo_model *m, const recording_options *o, int i) {
    tribo_sizes z = tribo_model_sizes(m);
    tribo_trajectory *t = NULL;
    tribo_controls *c = NULL;
    const char *pushed = controls_of(o, i);
    int status = recording_load(r->path[i], m, &t);
    if (status == EXIT_SUCCESS) status = copy(&r->rec[i], t, r->path[i], &z);
    r->marked |= r->rec[i].marker != NULL, r->pressed |= r->rec[i].force != NULL;
    if (status == EXIT_SUCCESS && pushed) status = controls_load(pushed, m, &c);
    if (c && !o->as_is && tribo_controls_times(c)[0] - o->late > r->rec[i].time[r->rec[i].n - 1])
        status = input_message(r->path[i], 0, "it ends before its controls begin, %s (--as-is takes it all the same)",
                               pushed);
    if (status == EXIT_SUCCESS) status = c ? push(&r->rec[i], c, (size_t)z.nu, o->late) : hold(&r->rec[i], m);
    tribo_trajectory_free(t);
    tribo_controls_free(c);
    return status;
}

/* The numbers of one, where they are not those of what was looked at. */
static void release(const recordings *r, int i) {
    bool ours = !r->checked || !r->checked[i] || r->rec[i].x != tribo_checked_recording(r->checked[i]).x;
    if (ours)
        recording_free(&r->rec[i]);
    else
        free((void *)(size_t)r->rec[i].marker);
}

static int exchange(recordings *r, const tribo_model *m, const int pair[2]) {
    for (int i = 0; i < r->n && pair[0] != pair[1]; i++) {
        tribo_recording as;
        if (!recording_exchange(&r->rec[i], m, pair, &as)) return trouble("no memory");
        release(r, i);
        r->rec[i] = as;
    }
    return EXIT_SUCCESS;
}

bool recordings_settled(const recordings *r, int i) {
    int n;
    const tribo_finding *found = tribo_checked_findings(r->checked[i], &n);
    for (int k = 0; k < n; k++)
        if (found[k].about == TRIBO_CONVENTION_CLOCK) return true;
    return false;
}

static int catch_up(recordings *r, const tribo_model *m, const int *behind) {
    for (int i = 0; i < r->n; i++) {
        tribo_recording moved;
        if (recordings_settled(r, i)) continue;
        if (!recording_catch_up(&r->rec[i], m, behind, &moved)) return trouble("no memory");
        release(r, i);
        r->rec[i] = moved;
    }
    return EXIT_SUCCESS;
}

/* Has the look moved times of a recording? Its controls were those of others. */
static bool retimed(const recordings *r, int i) {
    int n;
    const tribo_finding *found = tribo_checked_findings(r->checked[i], &n);
    for (int k = 0; k < n; k++)
        if ((found[k].about == TRIBO_CONVENTION_TIME || found[k].about == TRIBO_CONVENTION_GAP) &&
            found[k].outcome == TRIBO_OUTCOME_MENDED)
            return true;
    return false;
}

/* Rows as fast as controls, in recordings that were looked at. */
static int divide(recordings *r, const tribo_model *m, const recording_options *o) {
    int status = EXIT_SUCCESS;
    for (int i = 0; i < r->n && o->controls.n && status == EXIT_SUCCESS; i++) {
        tribo_controls *c = NULL;
        tribo_recording parted;
        status = controls_load(controls_of(o, i), m, &c);
        if (status == EXIT_SUCCESS && !recording_divide(&r->rec[i], m, c, o->late, &parted))
            status = trouble("no memory");
        else if (status == EXIT_SUCCESS && parted.n == r->rec[i].n && !retimed(r, i))
            recording_free(&parted);
        else if (status == EXIT_SUCCESS) {
            status = push(&parted, c, (size_t)tribo_model_sizes(m).nu, o->late);
            release(r, i);
            r->rec[i] = parted;
        }
        tribo_controls_free(c);
    }
    return status;
}

/* Where the piece that begins at a row ends: neighbours share a row, and none is too short to begin anew. */
static int piece_end(const tribo_recording *rec, int from, double length) {
    enum { LEAST = 8 };
    int to = from + 1;
    while (to < rec->n - 1 && (rec->time[to] - rec->time[from] < length * (1 - 1e-9) || to < from + LEAST)) to++;
    return rec->n - 1 - to < LEAST ? rec->n - 1 : to;
}

/* Every recording in pieces; what was found in it stays with the first. */
static int cut(recordings *r, const tribo_model *m, double length) {
    tribo_sizes z = tribo_model_sizes(m);
    recordings all = {0};
    size_t most = 0;
    bool good = true;
    for (int i = 0; i < r->n; i++) most += (size_t)r->rec[i].n;
    all.rec = calloc(most, sizeof *all.rec), all.checked = calloc(most, sizeof *all.checked);
    all.path = all.own = calloc(most, sizeof *all.path);
    good = all.rec && all.checked && all.path;
    for (int i = 0; i < r->n && good; i++) {
        const tribo_recording *whole = &r->rec[i];
        for (int from = 0, to; from < whole->n - 1 && good; from = to, all.n++) {
            to = piece_end(whole, from, length);
            good = recording_piece(whole, &z, from, to - from + 1, &all.rec[all.n]);
            all.path[all.n] = r->path[i];
            if (!from) all.checked[all.n] = r->checked[i];
        }
    }
    for (int i = 0; i < r->n && good; i++) {
        release(r, i);
        r->rec[i] = (tribo_recording){0}, r->checked[i] = NULL;
    }
    if (good) {
        all.marked = r->marked, all.pressed = r->pressed;
        recordings_free(r);
        *r = all;
        return EXIT_SUCCESS;
    }
    for (int i = 0; i < all.n && all.checked; i++) all.checked[i] = NULL;
    recordings_free(&all);
    return trouble("no memory");
}

static const option_row recording_rows[] = {
    {"controls", CONTROLS_OPTION, "FILE.csv...",
     "forces (N), torques (N m) and controls over time, each row held until the next: one file for all recordings, or "
     "one for each in their order (those of the first key)",
     false},
    {"cut", CUT_OPTION, "S", "pieces of S seconds, each with a start of its own", false},
    {"late", LATE_OPTION, "S", "the recordings' clock is S seconds behind that of the controls", false},
    {"as-is", AS_IS_OPTION, NULL, "do not look at units, orders, frames and clocks of the recordings", false},
    {0}};
const option_group group_recordings = {"Recording options", NULL, recording_rows};

int recording_option(const verb *v, int code, const char *value, recording_options *o) {
    if (code == AS_IS_OPTION) o->as_is = true;
    if (code == LATE_OPTION) {
        o->late_given = true;
        return parse_number(value, -1e3, 1e3, &o->late) ? EXIT_SUCCESS
                                                        : usage_error(v, "--late takes seconds, not %s", value);
    }
    if (code == CUT_OPTION) return parse_positive(v, "--cut takes a time above 0 s", 1e6, &o->cut);
    (void)value;
    return EXIT_SUCCESS;
}

static int load(recordings *r, const verb *v, const tribo_model *m, const recording_options *o, bool quiet) {
    int status = EXIT_SUCCESS;
    *r = (recordings){.n = o->data.n, .path = o->data.item};
    if (o->controls.n > 1 && o->controls.n != o->data.n)
        return usage_error(v, "--controls: %d files for %d recordings: one for all, or one for each", o->controls.n,
                           o->data.n);
    r->rec = calloc((size_t)r->n, sizeof *r->rec);
    r->checked = calloc((size_t)r->n, sizeof *r->checked);
    if (!r->rec || !r->checked) return trouble("no memory");
    for (int i = 0; i < r->n && status == EXIT_SUCCESS; i++) status = load_one(r, m, o, i);
    if (status == EXIT_SUCCESS && !o->as_is) status = recordings_look(r, m);
    if (!quiet) recordings_tell(r, m);
    if (status == EXIT_SUCCESS) status = exchange(r, m, o->exchanged);
    if (status == EXIT_SUCCESS && o->behind) status = catch_up(r, m, o->behind);
    if (status == EXIT_SUCCESS) status = divide(r, m, o);
    return status == EXIT_SUCCESS && o->cut > 0 ? cut(r, m, o->cut) : status;
}

int recordings_load(recordings *r, const verb *v, const tribo_model *m, const recording_options *o) {
    return load(r, v, m, o, false);
}

int recordings_again(recordings *r, const verb *v, const tribo_model *m, const recording_options *o) {
    return load(r, v, m, o, true);
}

int recordings_error(const recordings *r, tribo_status status, const tribo_diag *diag) {
    tribo_diag own = *diag;
    int which = 0, length = 0;
    if (sscanf(diag->text, "recording %d: %n", &which, &length) < 1 || which < 0 || which >= r->n) which = length = 0;
    memmove(own.text, diag->text + length, sizeof own.text - (size_t)length);
    return input_error(r->path[which], status, &own);
}

void recordings_free(recordings *r) {
    for (int i = 0; r->rec && i < r->n; i++) {
        release(r, i);
        if (r->checked) tribo_checked_free(r->checked[i]);
    }
    free(r->rec);
    free(r->checked);
    free(r->followed);
    free(r->own);
}

void recording_options_free(recording_options *o) {
    list_free(&o->data), list_free(&o->controls);
}

/* The numbers of an error, to be added one by one. */
enum { NERRORS = 8 };
static void numbers(tribo_errors *e, double *at[NERRORS]) {
    at[0] = &e->position_mean, at[1] = &e->rotation_mean_deg, at[2] = &e->position_relative;
    at[3] = &e->step_position_rms, at[4] = &e->step_rotation_rms_deg;
    at[5] = &e->step_velocity_rms, at[6] = &e->step_angular_rms;
    at[7] = &e->force_mean;
}

void mean_add(mean_errors *sum, const tribo_errors *e) {
    tribo_errors one = *e;
    double *to[NERRORS], *from[NERRORS];
    numbers(&sum->e, to), numbers(&one, from);
    for (int i = 0; i < NERRORS; i++) *to[i] += *from[i];
    sum->e.rows += e->rows;
    sum->n++;
}

tribo_errors mean_of(const mean_errors *sum) {
    tribo_errors e = sum->e;
    double *at[NERRORS];
    numbers(&e, at);
    for (int i = 0; i < NERRORS; i++) *at[i] /= sum->n;
    return e;
}

json_t *errors_json(const tribo_errors *e) {
    json_t *o = json_object();
    json_object_set_new(o, "rows", json_integer(e->rows));
    json_object_set_new(o, "position_error_mean", json_number(e->position_mean));
    json_object_set_new(o, "position_error_mean_relative", json_number(e->position_relative));
    json_object_set_new(o, "rotation_error_mean_deg", json_number(e->rotation_mean_deg));
    json_object_set_new(o, "rotation_error_mean_relative", json_number(e->rotation_mean_deg * 3.141592653589793 / 180));
    json_object_set_new(o, "step_position_rms", json_number(e->step_position_rms));
    json_object_set_new(o, "step_rotation_rms_deg", json_number(e->step_rotation_rms_deg));
    json_object_set_new(o, "step_velocity_rms", json_number(e->step_velocity_rms));
    json_object_set_new(o, "step_angular_velocity_rms", json_number(e->step_angular_rms));
    json_object_set_new(o, "force_error_mean", json_number(e->force_mean));
    return o;
}
