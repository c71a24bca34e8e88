/* clocks.c -- is one column behind the others? Where a fit does not explain the recordings, it is made again with a
 * joint, a body, or all rotations taken from later rows: three at first, and from there on if that promises much. */
#include "identification.h"
#include "progress.h"
#include "ranks.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HINT = 3, SAMPLES_MOST = 6, RECORDINGS = 4, ASKED = 2, FEW = 15, MANY = 30 }; /* iterations */
/* Of twice the logarithm of a likelihood; and of what is left, which a wrong model spreads over all clocks. */
static const double evidence = 12, share = 0.6;

/* Columns that may have a clock of their own. */
typedef struct clock {
    const char *name;   /* of a body or joint; NULL = of all bodies */
    bool turns;         /* their rotations, else positions; of a name both */
    const double *from; /* (nfree) where fits begin with it moved; NULL = where that of the recordings did */
} clock;

typedef struct search {
    const identification *id;
    channel *channel;
    int channels;
    tribo_recording rec[RECORDINGS]; /* some of them all */
    int at[RECORDINGS];              /* which they are */
    int n, *behind;                  /* (nv) what is tried */
    double *answer;                  /* (nfree) of the fit */
    double first, enough;            /* what no move leaves, and how much less there has to be */
} search;

static bool of_clock(const clock *c, const channel *at) {
    if (c->name) return at->name && strcmp(at->name, c->name) == 0;
    return at->n == 3 && at->turns == c->turns;
}

/* The clock moved from where the recordings are now. */
static void move(const search *of, const clock *c, int rows, int *behind) {
    for (int i = 0; i < of->channels; i++)
        for (int v = of->channel[i].v; of_clock(c, &of->channel[i]) && v < of->channel[i].v + of->channel[i].n; v++)
            behind[v] += rows;
}

static const char *columns_of(const clock *c) {
    return c->name ? "columns" : c->turns ? "rotations" : "positions";
}

/* What a fit leaves with that clock moved, NULL = none is. */
static double loss(search *of, const clock *c, int rows, late_fit fit) {
    tribo_recording moved[RECORDINGS];
    int n = 0;
    if (ranks_interrupted()) return HUGE_VAL;
    memset(of->behind, 0, (size_t)tribo_model_sizes(of->id->m).nv * sizeof *of->behind);
    progress_state(false, "have all columns one clock?");
    if (c) {
        move(of, c, rows, of->behind);
        if (!fit.start) fit.start = c->from;
        progress_state(false, "%s %d samples %s the rest", c->name ? c->name : columns_of(c), abs(rows),
                       rows > 0 ? "behind" : "ahead of");
    }
    while (n < of->n && recording_catch_up(&of->rec[n], of->id->m, of->behind, &moved[n])) n++;
    fit.rec = moved, fit.n = n;
    double found = ranks_any(n < of->n) ? HUGE_VAL : late_loss(of->id, &fit);
    while (n) recording_free(&moved[--n]);
    return found;
}

/* What fits begin at, too: the answer; where that may have kicks that are rows apart, and does not explain the
 * recordings, what these few say with one at every row, which follows columns that do not fit together. */
static double *answer_of(const search *of) {
    double *answer = late_answer(of->id);
    if (answer && of->n && of->id->a->loss == TRIBO_LOSS_SHOOTING && !of->id->a->window)
        late_every_row(of->id, of->rec, of->n, answer);
    return answer;
}

static const late_fit brief = {.iterations = FEW};

/* The number of rows with the least loss, on one side; 0 where the first look promises nothing, from the start, where
 * nothing may slip that did, nor from the answer. */
static int best_of(search *of, clock *c, int side, double *least) {
    c->from = NULL;
    double hint = loss(of, c, side * HINT, brief);
    int best = HINT;
    if (of->first - hint < evidence) c->from = of->answer, hint = loss(of, c, side * HINT, brief);
    if (of->first - hint < evidence) return 0;
    for (*least = hint; best < SAMPLES_MOST;) {
        double next = loss(of, c, side * (best + 1), brief);
        if (!(next < *least)) break;
        *least = next, best++;
    }
    if (best == SAMPLES_MOST) return 0; /* and less beyond: no clock, but a model that any motion of its own mends */
    while (best == HINT || (best < HINT && best > 1)) {
        double next = loss(of, c, side * (best - 1), brief);
        if (!(next < *least)) break;
        *least = next, best--;
    }
    return side * best;
}

/* The sum of squares that the fit leaves of a body's places, of all channels: (channels). */
static bool add_left(const search *of, double *left) {
    for (int i = 0; i < of->n; i++) {
        residuals r;
        if (!residuals_of(&r, of->id->s, of->id->m, &of->rec[i], of->at[i])) return false;
        for (int c = 0; c < of->channels; c++)
            for (int k = 0; k < 3 * r.n && of->channel[c].n == 3 && !of->channel[c].turns; k++) {
                double x = r.r[k / 3 * r.nv + of->channel[c].v + k % 3];
                if (!isnan(x)) left[c] += x * x;
            }
        residuals_free(&r);
    }
    return true;
}

/* Of many bodies those are asked by themselves that the fit leaves most of: each takes as long as a few fits. Joints
 * all are. @return how many clocks are left in the list. */
static int keep_worst(const search *of, clock *list, int n) {
    double *left = calloc((size_t)of->channels + 1, sizeof *left);
    bool known = left && add_left(of, left);
    int kept = 0;
    for (int i = 0; i < n; i++) {
        int own = 0, before = 0;
        while (own < of->channels && !(list[i].name && of_clock(&list[i], &of->channel[own]))) own++;
        for (int c = 0; known && own < of->channels && c < of->channels; c++) before += left[c] > left[own];
        if (before < ASKED || !list[i].name || of->channel[own].n != 3) list[kept++] = list[i];
    }
    free(left);
    return kept;
}

/* Were any of a channel's numbers measured? What was not is no rest to be behind. */
static bool measured(const search *of, const channel *at) {
    size_t nx = (size_t)tribo_model_sizes(of->id->m).nx;
    for (int i = 0; i < of->n; i++)
        for (int k = 0; k < of->rec[i].n; k++)
            if (!isnan(of->rec[i].x[(size_t)k * nx + (size_t)(at->quat < 0 ? at->q : at->quat)])) return true;
    return false;
}

/* All that there are. @return how many. */
static int clocks_of(const search *of, clock *list, bool *pair) {
    int owners = 0, bodies = 0, n = 0;
    for (int i = 0; i < of->channels; i++) {
        const channel *at = &of->channel[i];
        bodies += at->n == 3 && at->turns && i && of->channel[i - 1].name == at->name && measured(of, at) &&
                  measured(of, at - 1);
        if (i && of->channel[i - 1].name == at->name) continue;
        list[n++] = (clock){.name = at->name}, owners++;
    }
    *pair = owners <= 2; /* the one is ahead where the other is behind */
    if (owners == 1) n = 0;
    if (bodies) list[n++] = (clock){.turns = true}, list[n++] = (clock){.turns = false};
    return n;
}

static void tell(const identification *id, const clock *c, int rows) {
    input_message(id->r.path[0], 0,
                  "%s: the %s are %d samples %s the rest: only so does a motion of the scene follow them; "
                  "moved",
                  c->name ? c->name : "all bodies", columns_of(c), abs(rows), rows > 0 ? "behind" : "ahead of");
}

/* What is left where all stay: from the start, or from the answer. */
static double stay(search *of) {
    double one = loss(of, NULL, 0, brief),
           other = loss(of, NULL, 0, (late_fit){.iterations = MANY, .start = of->answer});
    return one < other ? one : other;
}

/* The likeliest clock and how far it is off; 0 = none is. */
static int likeliest(search *of, clock *found) {
    clock *list = calloc((size_t)of->channels + 2, sizeof *list);
    double blocks = 0, least = HUGE_VAL;
    bool pair = false;
    int n = list ? clocks_of(of, list, &pair) : 0, best = 0;
    for (int i = 0; i < of->n; i++) blocks += of->rec[i].n;
    if (n > ASKED + 2) n = keep_worst(of, list, n);
    if (n) of->first = stay(of);
    for (int i = 0; i < n; i++)
        for (int side = 1; side >= (pair || !list[i].name ? 1 : -1); side -= 2) {
            double there = HUGE_VAL;
            int rows = best_of(of, &list[i], side, &there);
            if (rows && there < least) least = there, best = rows, *found = list[i];
        }
    free(list);
    of->enough = blocks * log(share);
    return least < of->first + of->enough ? best : 0;
}

/* A few iterations may have come further with the clock moved by chance: with more, without that, they do not from
 * where these end. */
static bool holds(search *of, const clock *c, int rows) {
    double *end = calloc((size_t)of->id->nfree + 1, sizeof *end);
    if (!end) return false;
    double least = loss(of, c, rows, (late_fit){.iterations = MANY, .end = end});
    bool less = least < of->first + of->enough;
    if (less) less = least < loss(of, NULL, 0, (late_fit){.iterations = MANY, .start = end}) + of->enough;
    free(end);
    return less;
}

/* Some of those whose clocks were not mended at the first look. */
static void choose(search *of) {
    const recordings *r = &of->id->r;
    int every = r->n / RECORDINGS + 1;
    for (int i = 0, last = -every; i < r->n && of->n < RECORDINGS; i++) {
        if (i - last < every || recordings_settled(r, i)) continue;
        of->at[of->n] = i, of->rec[of->n++] = r->rec[i], last = i;
    }
}

int clocks_find(identification *id, bool *found) {
    size_t nv = (size_t)tribo_model_sizes(id->m).nv;
    search of = {.id = id};
    clock which = {0};
    int status = EXIT_SUCCESS;
    *found = false;
    of.channel = channels_of(id->m, &of.channels);
    of.behind = calloc(nv, sizeof *of.behind);
    if (!id->behind) id->behind = calloc(nv, sizeof *id->behind);
    choose(&of);
    of.answer = answer_of(&of);
    bool good = of.channel && of.behind && id->behind && of.answer;
    int rows = good && of.n ? likeliest(&of, &which) : 0;
    if (rows && holds(&of, &which, rows)) {
        recording_options moved = reading_options(id);
        move(&of, &which, rows, id->behind);
        tell(id, &which, rows);
        if (id->late != 0)
            input_message(id->r.path[0], 0, "so how late it is behind the controls is asked anew, from where it was");
        id->late = id->late_error = 0;
        recordings_free(&id->r);
        *found = true;
        status = ranks_agree(recordings_again(&id->r, &verb_identify, id->m, &moved));
    }
    free(of.channel), free(of.behind), free(of.answer);
    return good ? status : trouble("no memory");
}
