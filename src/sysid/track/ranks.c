/* ranks.c -- one fit in several processes: each does the jobs of its own recordings, and all else is done by each.
 *
 * After every round of jobs all are told what came of every recording, and go on from the same numbers. So sums are
 * those of one process, in its order.
 */
#include "base/crew.h"
#include "sysid/track/fit.h"

/* What a rank says of a round, before what came of it. */
typedef struct saying {
    int64_t round;
    uint64_t hash; /* ti_asked(): a process of another machine or of other files has others */
    int64_t status, stops;
} saying;

struct ti_ranks {
    tribo_ranks by;
    size_t bytes, most; /* of all this; of what is told of all recordings */
    const volatile int *stop;
    volatile int stopped; /* what all ranks know of it */
    int *first;           /* (count+1) recordings of each */
    size_t *at;           /* (count+1) of what is exchanged */
    saying *saying;       /* (count) */
    unsigned char *out;   /* (most) */
    int64_t round;
};

void ti_parcel_put(ti_parcel *p, void *what, size_t bytes) {
    size_t padded = (bytes + 7) / 8 * 8;
    if (p->at && p->unpack) memcpy(what, p->at + p->bytes, bytes);
    if (p->at && !p->unpack) {
        memset(p->at + p->bytes + bytes, 0, padded - bytes);
        memcpy(p->at + p->bytes, what, bytes);
    }
    p->bytes += padded;
}

void ti_track_told(tribo_sysid *s, int i, ti_tell tell, ti_parcel *p) {
    ti_track *t = s->track + i;
    ti_sum *sum = s->sum + i;
    size_t nd = (size_t)ti_dirs(s, t), ndx = (size_t)s->z.ndx, rows = (size_t)t->n;
    TI_PUT(p, &sum->status, 1), TI_PUT(p, &sum->loss, 1), TI_PUT(p, &sum->square, 1);
    TI_PUT(p, &sum->nscalar, 1), TI_PUT(p, &sum->nblock, 1);
    TI_PUT(p, t->x0, s->z.nx);
    if (tell >= TI_TELL_SLOPES) TI_PUT(p, sum->g, nd), TI_PUT(p, sum->H, nd * nd), TI_PUT(p, t->T, ndx * ndx);
    if (tell >= TI_TELL_ROWS) TI_PUT(p, t->norm, rows * (size_t)s->nblock);
}

int ti_ranks_count(const tribo_sysid *s) {
    return s->ranks ? s->ranks->by.count : 1;
}

bool ti_ranks_own(const tribo_sysid *s, int rank) {
    return !s->ranks || rank == s->ranks->by.own;
}

void ti_ranks_share(const tribo_sysid *s, int rank, int *first, int *end) {
    *first = s->ranks ? s->ranks->first[rank] : 0, *end = s->ranks ? s->ranks->first[rank + 1] : s->nrec;
}

int ti_ranks_of(const tribo_sysid *s, int recording) {
    int rank = 0;
    while (s->ranks && recording >= s->ranks->first[rank + 1]) rank++;
    return rank;
}

static tribo_status exchange(struct ti_ranks *r, void *data) {
    tribo_status status = r->by.exchange(r->by.context, data, r->at);
    return status < 0 ? status : TRIBO_OK;
}

tribo_status ti_ranks_pass(tribo_sysid *s, int rank, void *what, size_t bytes) {
    struct ti_ranks *r = s->ranks;
    if (!r) return TRIBO_OK;
    for (int i = 0; i <= r->by.count; i++) r->at[i] = i > rank ? bytes : 0;
    return exchange(r, what);
}

/* Where all ranks are at the same place: whether one has been stopped, and the status of the first recording that
 * failed. */
static tribo_status agree(struct ti_ranks *r, uint64_t hash, tribo_status own, tribo_status *first) {
    bool stops = r->stop && *r->stop;
    *first = TRIBO_OK;
    r->saying[r->by.own] = (saying){.round = r->round++, .hash = hash, .status = own, .stops = stops};
    for (int i = 0; i <= r->by.count; i++) r->at[i] = (size_t)i * sizeof(saying);
    tribo_status status = exchange(r, r->saying);
    if (status < 0) return status;
    r->stopped = 0;
    for (int i = r->by.count - 1; i >= 0; i--) {
        const saying *of = r->saying + i;
        if (of->round != r->saying->round || of->hash != r->saying->hash) return TRIBO_E_ARG;
        r->stopped |= of->stops != 0;
        if (of->status < 0) *first = (tribo_status)of->status;
    }
    return TRIBO_OK;
}

/* Pack what is this rank's, or unpack what is not. */
static void told(tribo_sysid *s, ti_tell tell, bool unpack) {
    struct ti_ranks *r = s->ranks;
    ti_parcel p = {.at = r->out, .unpack = unpack}, skip = {0};
    for (int rank = 0; rank < r->by.count; rank++) {
        bool moves = (rank == r->by.own) != unpack;
        r->at[rank] = p.bytes;
        for (int i = r->first[rank]; i < r->first[rank + 1]; i++) {
            if (moves) {
                s->told(s, i, tell, &p);
                continue;
            }
            skip.bytes = 0;
            s->told(s, i, tell, &skip);
            p.bytes += skip.bytes;
        }
    }
    r->at[r->by.count] = p.bytes;
}

typedef struct dealt {
    tribo_sysid *s;
    ti_job job;
    void *context;
    int first;
} dealt;

static tribo_status deal(int worker, int i, void *context) {
    const dealt *d = context;
    const struct ti_ranks *r = d->s->ranks;
    if (r && d->s->fitting && r->stop && *r->stop) return TI_STOPPED;
    return d->job(d->s->worker + worker, d->first + i, d->context);
}

tribo_status ti_parallel(tribo_sysid *s, ti_tell tell, ti_job job, void *context) {
    struct ti_ranks *r = s->ranks;
    int first, end;
    ti_ranks_share(s, r ? r->by.own : 0, &first, &end);
    dealt d = {s, job, context, first};
    tribo_status own = ti_crew(s->nworker, end - first, deal, &d), status;
    if (!r) return own;
    tribo_status sent = agree(r, ti_asked(s), own, &status);
    if (sent < 0) return sent;
    told(s, tell, false);
    sent = exchange(r, r->out);
    if (sent < 0) return sent;
    told(s, tell, true);
    return status;
}

typedef struct parted {
    dealt of;
    ti_part_job job;
    int parts;
} parted;

static tribo_status deal_part(int worker, int i, void *context) {
    const parted *d = context;
    const struct ti_ranks *r = d->of.s->ranks;
    if (r && d->of.s->fitting && r->stop && *r->stop) return TI_STOPPED;
    return d->job(d->of.s->worker + worker, d->of.first + i / d->parts, i % d->parts, d->of.context);
}

tribo_status ti_parallel_parts(tribo_sysid *s, int parts, ti_part_job job, void *context) {
    int first, end;
    ti_ranks_share(s, s->ranks ? s->ranks->by.own : 0, &first, &end);
    parted d = {.of = {.s = s, .context = context, .first = first}, .job = job, .parts = parts};
    return ti_crew(s->nworker, (end - first) * parts, deal_part, &d);
}

/* Recordings one after the other, about as many rows to each rank. */
static void divide(tribo_sysid *s) {
    struct ti_ranks *r = s->ranks;
    double rows = 0, before = 0;
    int rank = 0;
    for (int i = 0; i < s->nrec; i++) rows += s->track[i].n;
    for (int i = 0; i < s->nrec; i++) {
        double middle = before + s->track[i].n / 2.;
        while (rank < r->by.count && rows * rank <= middle * r->by.count) r->first[rank++] = i;
        before += s->track[i].n;
    }
    while (rank <= r->by.count) r->first[rank++] = s->nrec;
}

/* Of all that a fit is made of, so that processes with other files are found out. */
static uint64_t hash_of(const tribo_sysid *s) {
    uint64_t hash = tribo_hash(s->p0, (size_t)s->z.np, (uint64_t)s->seed);
    hash = tribo_hash(s->theta, (size_t)s->nfree, hash ^ (uint64_t)s->loss);
    for (int i = 0; i < s->nrec; i++) {
        const ti_track *t = s->track + i;
        size_t n = (size_t)t->n;
        hash = tribo_hash(t->time, n, hash), hash = tribo_hash(t->x, n * (size_t)s->z.nx, hash);
        hash = tribo_hash(t->w, n * (size_t)s->z.ndx, hash);
        if (t->mark) hash = tribo_hash(t->mark, 3 * n * (size_t)s->z.nsite, hash);
    }
    return hash;
}

static void lay_out(struct ti_ranks *measure, ti_arena *a, struct ti_ranks **self) {
    size_t count = (size_t)measure->by.count;
    TI_CARVE(a, *self, 1);
    TI_CARVE(a, measure->first, count + 1);
    TI_CARVE(a, measure->at, count + 1);
    TI_CARVE(a, measure->saying, count);
    TI_CARVE(a, measure->out, measure->most);
}

tribo_status ti_ranks_new(tribo_sysid *s, const tribo_ranks *by, tribo_diag *diag) {
    struct ti_ranks measure = {.by = *by, .stop = s->stop}, *self = NULL;
    ti_parcel whole = {0};
    ti_arena arena = {0};
    tribo_status unused;
    for (int i = 0; i < s->nrec; i++) s->told(s, i, TI_TELL_ROWS, &whole);
    measure.most = whole.bytes;
    lay_out(&measure, &arena, &self);
    measure.bytes = arena.used;
    if (!ti_arena_take(&arena, &s->alloc)) return TRIBO_E_NOMEM;
    lay_out(&measure, &arena, &self);
    *self = measure;
    s->ranks = self;
    divide(s);
    tribo_status status = agree(self, hash_of(s), TRIBO_OK, &unused);
    s->stop = &self->stopped;
    return status == TRIBO_E_ARG ? ti_fail(diag, status, 0, "ranks have other models, recordings or definitions")
                                 : status;
}

void ti_ranks_free(tribo_sysid *s) {
    if (s->ranks) ti_free(&s->alloc, s->ranks, s->ranks->bytes);
}
