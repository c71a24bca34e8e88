/* held.c -- controls that change between two rows of a recording: the mean that acts from one to the next is not what
 * acted, so there is a row at the change in which nothing was measured. */
#include "recordings.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct change {
    const tribo_recording *rec;
    const tribo_controls *controls;
    double late, shortest; /* s: between two rows */
    int at;                /* of the controls, the first that may be inside */
} change;

static bool changes_at(const change *c, int j, size_t nu) {
    const double *u = tribo_controls_values(c->controls) + (size_t)j * nu;
    return j > 0 && memcmp(u - nu, u, nu * sizeof *u) != 0;
}

/* Times of changes between row k and the next into time. @return how many; 0 where all but a tenth of the interval has
 * one value: a clock that is not quite the other one */
static int inside(change *c, int k, size_t nu, double *time) {
    const double *at = tribo_controls_times(c->controls), from = c->rec->time[k], end = c->rec->time[k + 1];
    double least = fmax(c->shortest, 0.01 * (end - from)), last = from, longest = 0;
    int rows = tribo_controls_rows(c->controls), n = 0;
    while (c->at < rows && at[c->at] + c->late < from + least) c->at++;
    for (int j = c->at; j < rows && at[j] + c->late <= end - least; j++) {
        double now = at[j] + c->late;
        if (now < last + least || !changes_at(c, j, nu)) continue;
        longest = fmax(longest, now - last);
        time[n++] = last = now;
    }
    return fmax(longest, end - last) > 0.9 * (end - from) ? 0 : n;
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
    size_t most = (size_t)rec->n + (size_t)tribo_controls_rows(controls), n = 0;
    change c = {rec, controls, late, 0.999 * tribo_model_timestep(m), 0};
    double *time = calloc(most, sizeof *time), *x = unmeasured(rec->x, most * nx),
           *marker = unmeasured(rec->marker, most * marks), *force = unmeasured(rec->force, most * forces);
    *out = (tribo_recording){.time = time, .x = x, .marker = marker, .force = force};
    bool good = time && x && (marker || !rec->marker) && (force || !rec->force);
    for (int k = 0; k < rec->n && good; k++) {
        time[n] = rec->time[k];
        copy_row(rec->x, x, (size_t)k, n, nx), copy_row(rec->marker, marker, (size_t)k, n, marks);
        copy_row(rec->force, force, (size_t)k, n, forces);
        n++;
        if (k + 1 < rec->n) n += (size_t)inside(&c, k, (size_t)z.nu, time + n);
    }
    out->n = (int)n;
    if (!good) recording_free(out), *out = (tribo_recording){0};
    return good;
}
