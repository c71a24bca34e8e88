/* held.c -- controls that come faster than the rows of a recording: the mean that acts from one row to the next is not
 * what acted, so there are rows between, as many as controls, in which nothing was measured. Of equal lengths, by
 * whatever part of that the clocks differ, as the rows of whole recordings are: steps then are, too. */
#include "recording.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How many parts the time from one row to the next has: rows of controls, or of the recording where those are more, but
 * no shorter than a step. */
static int parts_of(double span, double beat, double step) {
    double parts = floor(span / beat + 0.5), most = floor(span / (0.999 * step));
    return parts > most ? (int)fmax(most, 1) : (int)fmax(parts, 1);
}

/* Does anything change from the time `from` to `end` of the controls' clock? */
static bool changes(const tribo_controls *c, size_t nu, double from, double end) {
    const double *at = tribo_controls_times(c), *u = tribo_controls_values(c);
    for (int j = 1; j < tribo_controls_rows(c) && at[j] < end; j++)
        if (at[j] > from && memcmp(u + (size_t)j * nu, u + (size_t)(j - 1) * nu, nu * sizeof *u) != 0) return true;
    return false;
}

static void copy_row(const double *from, double *to, size_t row, size_t at, size_t n) {
    if (to && from) memcpy(to + at * n, from + row * n, n * sizeof *to);
}

static double *unmeasured(const double *like, size_t n) {
    double *a = like ? calloc(n + 1, sizeof *a) : NULL;
    for (size_t i = 0; a && i < n; i++) a[i] = (double)NAN;
    return a;
}

bool recording_divide(const tribo_recording *rec, const tribo_model *m, const tribo_controls *controls, double late,
                      tribo_recording *out) {
    tribo_sizes z = tribo_model_sizes(m);
    size_t nx = (size_t)z.nx, marks = 3 * (size_t)z.nsite, forces = 3 * (size_t)(z.ngeom + z.nbody);
    int rows = tribo_controls_rows(controls);
    const double *at = tribo_controls_times(controls);
    double step = tribo_model_timestep(m), usual = (rec->time[rec->n - 1] - rec->time[0]) / (rec->n - 1);
    double beat = rows > 1 ? fmin(usual, (at[rows - 1] - at[0]) / (rows - 1)) : usual;
    size_t most = (size_t)rec->n, n = 0;
    for (int k = 0; k + 1 < rec->n; k++) most += (size_t)parts_of(rec->time[k + 1] - rec->time[k], beat, step) - 1;
    double *time = calloc(most, sizeof *time), *x = unmeasured(rec->x, most * nx),
           *marker = unmeasured(rec->marker, most * marks), *force = unmeasured(rec->force, most * forces);
    *out = (tribo_recording){.time = time, .x = x, .marker = marker, .force = force};
    bool good = time && x && (marker || !rec->marker) && (force || !rec->force);
    for (int k = 0; k < rec->n && good; k++) {
        copy_row(rec->x, x, (size_t)k, n, nx), copy_row(rec->marker, marker, (size_t)k, n, marks);
        copy_row(rec->force, force, (size_t)k, n, forces);
        time[n++] = rec->time[k];
        if (k + 1 == rec->n) break;
        double from = rec->time[k], span = rec->time[k + 1] - from;
        int parts = parts_of(span, beat, step);
        if (!changes(controls, (size_t)z.nu, from - late, from + span - late)) continue;
        for (int j = 1; j < parts; j++) time[n++] = from + span * j / parts;
    }
    out->n = (int)n;
    if (!good) recording_free(out), *out = (tribo_recording){0};
    return good;
}
