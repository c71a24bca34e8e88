/* recordings.c -- see recordings.h. */
#include "recordings.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int copy(tribo_recording *rec, const tribo_trajectory *t, const char *path, size_t nx) {
    size_t n = (size_t)tribo_trajectory_rows(t);
    if (n < 2) return input_message(path, 0, "a recording needs two rows at least");
    double *time = calloc(n, sizeof *time), *x = calloc(n * nx, sizeof *x);
    rec->n = (int)n, rec->time = time, rec->x = x;
    if (!time || !x) return trouble("no memory");
    memcpy(time, tribo_trajectory_times(t), n * sizeof *time);
    const double *state = tribo_trajectory_states(t);
    const bool *observed = tribo_trajectory_observed(t);
    for (size_t i = 0; i < n * nx; i++) x[i] = observed[i] ? state[i] : (double)NAN;
    return EXIT_SUCCESS;
}

int recordings_load(recordings *r, const tribo_model *m, const string_list *paths) {
    size_t nx = (size_t)tribo_model_sizes(m).nx;
    int status = EXIT_SUCCESS;
    *r = (recordings){.n = paths->n, .path = paths->item};
    r->rec = calloc((size_t)paths->n, sizeof *r->rec);
    if (!r->rec) return trouble("no memory");
    for (int i = 0; i < paths->n && status == EXIT_SUCCESS; i++) {
        tribo_trajectory *t = NULL;
        status = recording_load(paths->item[i], m, &t);
        if (status == EXIT_SUCCESS) status = copy(&r->rec[i], t, paths->item[i], nx);
        tribo_trajectory_free(t);
    }
    return status;
}

void recordings_free(recordings *r) {
    for (int i = 0; r->rec && i < r->n; i++) {
        free((void *)(size_t)r->rec[i].time);
        free((void *)(size_t)r->rec[i].x);
    }
    free(r->rec);
}

/* The numbers of an error, to be added one by one. */
enum { NERRORS = 7 };
static void numbers(tribo_errors *e, double *at[NERRORS]) {
    at[0] = &e->position_mean, at[1] = &e->rotation_mean_deg, at[2] = &e->position_relative;
    at[3] = &e->step_position_rms, at[4] = &e->step_rotation_rms_deg;
    at[5] = &e->step_velocity_rms, at[6] = &e->step_angular_rms;
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
    return o;
}

int processors(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 64 ? 64 : (int)n;
}
