/* late.c -- do recordings and controls have the same clock? Fits with the recordings taken for some time late say so by
 * what they leave: once on either side, and on from there where that promises something. */
#include "identification.h"
#include "progress.h"
#include "ranks.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 40, ROUNDS = 7 };
static const double samples_most = 6, least = 0.05, evidence = 9; /* of twice the logarithm of a likelihood */
/* What happens inside of a step is not told: of its length, nothing less than a half, nothing better than a twelfth's
 * root
 */
static const double told = 0.5, spread = 0.2887;

typedef struct search {
    identification *id;
    double spacing; /* s, of rows */
    double *answer; /* (nfree) of the fit, where others begin */
    int status;
} search;

/* The best values so far of a fit. */
static void values_of(tribo_sysid *s, double *theta, double *value) {
    tribo_sysid_theta(s, theta);
    tribo_sysid_values(s, theta, value);
}

double *late_answer(const identification *id) {
    double *theta = calloc((size_t)id->nfree + 1, sizeof *theta), *value = calloc((size_t)id->nfree + 1, sizeof *value);
    if (theta && value) values_of(id->s, theta, value);
    free(theta);
    return value;
}

void late_every_row(const identification *id, const tribo_recording *rec, int n, double *value) {
    tribo_options step;
    tribo_sysid *s = NULL;
    tribo_progress now = {0};
    tribo_sysid_def def = fit_definition(id, &step);
    double *theta = calloc((size_t)id->nfree + 1, sizeof *theta);
    def.rec = rec, def.nrec = n, def.window = 1, def.validation = 0;
    tribo_status status = theta ? tribo_sysid_new(id->m, &def, &s, NULL) : TRIBO_E_NOMEM;
    if (status >= 0) status = tribo_sysid_fit(s, (int)id->a->iterations, &now);
    if (status >= 0) values_of(s, theta, value);
    tribo_sysid_free(s);
    free(theta);
}

/* Rows that something was measured in. */
static int measured(const tribo_recording *rec, const tribo_model *m) {
    size_t nx = (size_t)tribo_model_sizes(m).nx, marks = rec->marker ? 3 * (size_t)tribo_model_sizes(m).nsite : 0;
    int n = 0;
    for (size_t k = 0; k < (size_t)rec->n; k++) {
        bool any = false;
        for (size_t i = 0; i < nx && !any; i++) any = !isnan(rec->x[k * nx + i]);
        for (size_t i = 0; i < marks && !any; i++) any = !isnan(rec->marker[k * marks + i]);
        n += any;
    }
    return n;
}

double late_loss(const identification *id, const late_fit *fit) {
    tribo_options step;
    tribo_sysid *s = NULL;
    tribo_progress now = {0};
    tribo_sysid_def def = fit_definition(id, &step);
    size_t nfree = (size_t)id->nfree;
    double blocks = 0, *theta = calloc(nfree + 1, sizeof *theta);
    tribo_free_param *from = calloc(nfree + 1, sizeof *from);
    if (from) memcpy(from, id->free, nfree * sizeof *from);
    for (size_t i = 0; i < nfree && from && fit->start; i++) from[i].start = fit->start[i];
    def.free = from, def.rec = fit->rec, def.nrec = fit->n;
    for (int i = 0; i < fit->n; i++) blocks += measured(&fit->rec[i], id->m);
    def.loss = TRIBO_LOSS_SHOOTING, def.window = 1, def.optimizer = TRIBO_OPT_LM;
    def.robust = TRIBO_ROBUST_NONE, def.search = 0;
    /* as much noise as explains a wrong delay too: no fit goes looking for another reason */
    const double extent = tribo_model_extent(id->m), noise[TRIBO_BLOCKS] = {0.02 * extent, 0.05, -1, -1};
    for (int i = 0; i < TRIBO_BLOCKS; i++) def.weight[i] = noise[i] > 0 ? 1 / noise[i] : -1;
    tribo_status status = from && theta ? tribo_sysid_new(id->m, &def, &s, NULL) : TRIBO_E_NOMEM;
    for (int k = 0; k < fit->iterations && !now.starts && status >= 0; k++) status = tribo_sysid_iterate(s, &now);
    if (status >= 0 && fit->end) values_of(s, theta, fit->end);
    tribo_sysid_free(s);
    free(from), free(theta);
    const double exact = 1e-6; /* of that noise: numbers without any agree to rounding, wherever that is least */
    return status >= 0 ? blocks * log(now.loss + exact * blocks) : HUGE_VAL;
}

/* The same where the recordings are `late` samples behind. */
static double value(search *of, double late) {
    identification *id = of->id;
    recording_options in = reading_options(id);
    recordings r = {0};
    in.late = late * of->spacing;
    if (of->status != EXIT_SUCCESS || ranks_interrupted()) return HUGE_VAL;
    of->status = ranks_agree(recordings_again(&r, &verb_identify, id->m, &in));
    if (of->status != EXIT_SUCCESS) return HUGE_VAL;
    progress_state(false, "recordings %.2f samples behind the controls", late);
    double loss = late_loss(id, &(late_fit){r.rec, r.n, ITERATIONS, of->answer, NULL});
    recordings_free(&r);
    return loss;
}

/* Where a parabola through three values is least, from its middle; `curved` is its second derivative. */
static double vertex(double h, const double f[3], double *curved) {
    *curved = (f[0] - 2 * f[1] + f[2]) / (h * h);
    double at = (f[0] - f[2]) / (2 * h * *curved), lower = f[0] < f[2] ? -h : h;
    if (!(*curved > 0) || !isfinite(at)) return f[1] < f[0] && f[1] < f[2] ? 0 : lower;
    return at < -2 * h ? -2 * h : at > 2 * h ? 2 * h : at;
}

/* @return the delay of the recordings in samples, 0 unless that is much likelier; error: its standard error. */
static double find(search *of, double *error) {
    double at = 0, h = 2, first = value(of, 0), best = first, curved = 0;
    for (int round = 0; round < ROUNDS && of->status == EXIT_SUCCESS && fabs(at) <= samples_most; round++) {
        double f[3] = {value(of, at - h), best, value(of, at + h)}, move = vertex(h, f, &curved);
        double promise = curved > 0 ? curved * move * move / 2 : HUGE_VAL,
               there = move == 0 ? best : value(of, at + move);
        if (there < best)
            at += move, best = there;
        else if (f[0] < best || f[2] < best)
            best = f[0] < f[2] ? f[0] : f[2], at += f[0] < f[2] ? -h : h;
        if (round == 0 && promise < evidence / 2 && first - best < evidence / 2) return 0;
        if (h < 0.1) break;
        if (fabs(move) < h) h /= 3;
    }
    double step = tribo_model_timestep(of->id->m) / of->spacing;
    *error = curved > 0 ? hypot(sqrt(2 / curved), spread * step) : (double)NAN;
    return first - best > evidence && fabs(at) > fmax(least, told * step) ? at : 0;
}

int late_find(identification *id, bool *found) {
    const recording_options *in = &id->a->in;
    search of = {.id = id, .status = EXIT_SUCCESS};
    const tribo_recording *rec = id->r.rec;
    double samples, error = 0;
    *found = false;
    if (!in->controls.n || in->as_is || in->late_given || ranks_interrupted()) return EXIT_SUCCESS;
    int rows = measured(rec, id->m);
    of.spacing = (rec->time[rec->n - 1] - rec->time[0]) / (rows > 1 ? rows - 1 : 1);
    of.answer = late_answer(id);
    if (!of.answer) return trouble("no memory");
    samples = find(&of, &error);
    free(of.answer);
    if (of.status != EXIT_SUCCESS || samples == 0) return of.status;
    if (fabs(samples) > samples_most)
        return input_message(id->r.path[0], 0,
                             "the recordings are %.0f samples or more %s the controls: their clocks do not agree "
                             "(--late S says by how much, --as-is takes them all the same)",
                             samples_most, samples > 0 ? "behind" : "ahead of");
    if (isnan(error)) return EXIT_SUCCESS; /* nothing says how sure that is */
    id->late = samples * of.spacing, id->late_error = error * of.spacing;
    input_message(
        id->r.path[0], 0,
        "the recordings are %.3g +- %.1g s %s the controls (%.2f samples): moved; where that is known: --late",
        fabs(id->late), id->late_error, id->late > 0 ? "behind" : "ahead of", fabs(samples));
    recording_options moved = reading_options(id);
    moved.late = id->late;
    recordings_free(&id->r);
    *found = true;
    return ranks_agree(recordings_again(&id->r, &verb_identify, id->m, &moved));
}
