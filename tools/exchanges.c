/* exchanges.c -- have two joints each other's name? What a scene predicts of its joints does not say so where its
 * masses and friction are far off: where a fit does not explain the recordings, it is made again with two names
 * exchanged. */
#include "identification.h"
#include "progress.h"
#include "ranks.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDINGS = 4, JOINTS_MOST = 8, FEW = 15, MANY = 30 }; /* iterations */
static const double share = 0.6;                               /* of what is left, which right names leave less than */

typedef struct search {
    const identification *id;
    channel *channel;
    int channels;
    tribo_recording rec[RECORDINGS]; /* some of them all */
    int n;
} search;

static bool is_joint(const channel *c) {
    return c->n == 1 && c->q >= 0;
}

/* What a fit leaves with names exchanged; those of one joint stay. */
static double left(const search *of, const int pair[2], late_fit fit) {
    tribo_recording as[RECORDINGS];
    int n = 0;
    if (ranks_interrupted()) return HUGE_VAL;
    if (pair[0] == pair[1])
        progress_state(false, "have joints each other's name?");
    else
        progress_state(false, "%s and %s exchanged", of->channel[pair[0]].name, of->channel[pair[1]].name);
    while (n < of->n && recording_exchange(&of->rec[n], of->id->m, pair, &as[n])) n++;
    fit.rec = as, fit.n = n;
    double found = ranks_any(n < of->n) ? HUGE_VAL : late_loss(of->id, &fit);
    while (n) recording_free(&as[--n]);
    return found;
}

/* The pair that leaves least from where the fit of the recordings began: names that are wrong have led it astray. */
static double likeliest(const search *of, int best[2]) {
    double least = HUGE_VAL;
    for (int a = 0; a < of->channels; a++)
        for (int b = a + 1; b < of->channels; b++) {
            const channel *one = &of->channel[a], *two = &of->channel[b];
            if (!is_joint(one) || !is_joint(two) || one->turns != two->turns) continue;
            double now = left(of, (int[2]){a, b}, (late_fit){.iterations = FEW});
            if (now < least) least = now, best[0] = a, best[1] = b;
        }
    return least;
}

/* Do right names leave that much less than those that are there: from the start, from the answer, and from where a fit
 * with other names ends? */
static bool holds(const search *of, const int pair[2], double *answer, double *end) {
    static const int none[2] = {0, 0};
    double blocks = 0;
    for (int i = 0; i < of->n; i++) blocks += of->rec[i].n;
    double enough = blocks * log(share), least = left(of, pair, (late_fit){.iterations = MANY, .end = end});
    return least < left(of, none, (late_fit){.iterations = MANY}) + enough &&
           least < left(of, none, (late_fit){.iterations = MANY, .start = answer}) + enough &&
           least < left(of, none, (late_fit){.iterations = MANY, .start = end}) + enough;
}

int exchanges_find(identification *id, bool *found) {
    search of = {.id = id};
    int pair[2] = {0, 0}, joints = 0, every = id->r.n / RECORDINGS + 1;
    double *answer = late_answer(id), *end = calloc((size_t)id->nfree + 1, sizeof *end);
    *found = false;
    of.channel = channels_of(id->m, &of.channels);
    bool good = of.channel && answer && end;
    for (int i = 0; i < of.channels; i++) joints += is_joint(&of.channel[i]);
    for (int i = 0; i < id->r.n; i += every) of.rec[of.n++] = id->r.rec[i];
    if (good && joints > 1 && joints <= JOINTS_MOST && isfinite(likeliest(&of, pair)))
        *found = holds(&of, pair, answer, end);
    if (*found)
        input_message(id->r.path[0], 0,
                      "%s and %s have each other's name: only so does a motion of the scene follow them; exchanged",
                      of.channel[pair[0]].name, of.channel[pair[1]].name);
    free(of.channel), free(answer), free(end);
    if (!good) return trouble("no memory");
    if (!*found) return EXIT_SUCCESS;
    memcpy(id->exchanged, pair, sizeof pair);
    recording_options as = reading_options(id);
    recordings_free(&id->r);
    return ranks_agree(recordings_again(&id->r, &verb_identify, id->m, &as));
}
