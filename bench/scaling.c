/* scaling.c -- on paper: how a batch and an identification would scale over machines.
 *
 *     bench_scaling [LATENCY_US [GIGABYTES_PER_SECOND]]     of a simulated network; by default 2 and 12, a fast one
 *
 * Run from the root of the project. Measured here, by CPU time, are: a world-step with its reverse; what a fit costs
 * that is dealt out over ranks, what every rank does again, and what it tells the others, by the same fit in one rank
 * and in RANKS of them, which are threads. The rest is a model: a message takes latency + bytes / bandwidth, a
 * collective the logarithm of the ranks in latencies and all bytes once, a gather by the first rank a latency from
 * each. Every rank is a core. Worlds and recordings are alike, so what the slowest costs is that of the largest share.
 */
#include "bench.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <tribo/tribo.h>

enum { RANKS = 8, RECORDINGS = 64, ROWS = 61, ITERATIONS = 4, WORLDS = 64, STEPS = 1000 };

static double cpu(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- a batch ---- */

/* Seconds of a world of STEPS steps with its reverse in p. */
static double world_seconds(const tribo_model *m) {
    tribo_sizes z = tribo_model_sizes(m);
    tribo_batch_def def = tribo_default_batch();
    tribo_batch *b = NULL;
    tribo_worlds w = tribo_default_worlds();
    double *x = bench_numbers((size_t)z.nx), *lx = bench_numbers((STEPS + 1) * (size_t)z.ndx);
    double *bar = bench_numbers((size_t)z.np);
    def.steps = STEPS, w.n = WORLDS, w.steps = STEPS, w.same_x = true, w.x = x;
    tribo_model_state0(m, x);
    lx[(size_t)STEPS * (size_t)z.ndx] = 1;
    bench_ensure(tribo_batch_new(m, &def, &b, NULL), "batch");
    tribo_batch_loss loss = {.lx = lx, .same_lx = true};
    tribo_batch_bars bars = {.p = bar, .sum_p = true};
    double from = cpu(CLOCK_PROCESS_CPUTIME_ID);
    bench_ensure(tribo_batch_gradient(b, &w, &loss, &bars, NULL), "gradient");
    double seconds = (cpu(CLOCK_PROCESS_CPUTIME_ID) - from) / WORLDS;
    tribo_batch_free(b);
    free(x), free(lx), free(bar);
    return seconds;
}

/* ---- a fit in threads that are ranks ---- */

typedef struct meeting {
    pthread_barrier_t all;
    void *data[RANKS];
} meeting;

typedef struct rank {
    const tribo_model *m;
    const tribo_recording *rec;
    meeting *at;
    int own, count;
    double seconds, bytes; /* of CPU time; told by all */
    long rounds;
} rank;

static tribo_status exchange(void *context, void *data, const size_t *at) {
    rank *r = context;
    r->at->data[r->own] = data;
    pthread_barrier_wait(&r->at->all);
    for (int i = 0; i < r->count; i++)
        if (i != r->own) memcpy((char *)data + at[i], (char *)r->at->data[i] + at[i], at[i + 1] - at[i]);
    pthread_barrier_wait(&r->at->all);
    r->bytes += (double)at[r->count], r->rounds++;
    return TRIBO_OK;
}

static void *fit(void *argument) {
    rank *r = argument;
    tribo_ranks by = {.count = r->count, .own = r->own, .exchange = exchange, .context = r};
    tribo_sysid_def def = tribo_default_sysid();
    tribo_free_param free[2] = {tribo_default_free(), tribo_default_free()};
    tribo_sysid *s = NULL;
    free[0].index = tribo_param_find(r->m, "floor/friction"), free[0].start = 0.3;
    free[1].index = tribo_param_find(r->m, "gravity/z");
    def.free = free, def.nfree = 2, def.rec = r->rec, def.nrec = RECORDINGS, def.ranks = &by;
    def.loss = TRIBO_LOSS_SHOOTING, def.window = 1, def.robust = TRIBO_ROBUST_HUBER;
    bench_ensure(tribo_sysid_new(r->m, &def, &s, NULL), "fit");
    r->bytes = 0, r->rounds = 0;
    double from = cpu(CLOCK_THREAD_CPUTIME_ID);
    for (int k = 0; k < ITERATIONS; k++) bench_ensure(tribo_sysid_iterate(s, NULL), "iteration");
    r->seconds = (cpu(CLOCK_THREAD_CPUTIME_ID) - from) / ITERATIONS;
    r->bytes /= ITERATIONS, r->rounds /= ITERATIONS;
    tribo_sysid_free(s);
    return NULL;
}

/* Seconds of an iteration on the busiest rank; bytes and rounds of it in *told. */
static double iteration_seconds(const tribo_model *m, const tribo_recording *rec, int count, rank *told) {
    meeting at;
    rank r[RANKS];
    pthread_t thread[RANKS];
    double most = 0;
    pthread_barrier_init(&at.all, NULL, (unsigned)count);
    for (int i = 0; i < count; i++) {
        r[i] = (rank){.m = m, .rec = rec, .at = &at, .own = i, .count = count};
        bench_ensure(-pthread_create(&thread[i], NULL, fit, &r[i]), "thread");
    }
    for (int i = 0; i < count; i++) {
        pthread_join(thread[i], NULL);
        most = fmax(most, r[i].seconds);
    }
    pthread_barrier_destroy(&at.all);
    *told = r[0];
    return most;
}

/* Cubes that slide from different speeds, poses alone, with a little noise. */
static void record(const tribo_model *m, tribo_recording *rec, double *time) {
    tribo_ws *ws = NULL;
    tribo_sizes z = tribo_model_sizes(m);
    size_t nx = (size_t)z.nx;
    double *p = bench_numbers((size_t)z.np + nx), *x = p + z.np;
    unsigned seed = 1;
    bench_ensure(tribo_ws_new(m, NULL, NULL, &ws, NULL), "workspace");
    tribo_model_params(m, p);
    for (int i = 0; i < RECORDINGS; i++) {
        double *X = bench_numbers(ROWS * nx);
        rec[i] = (tribo_recording){.n = ROWS, .time = time, .x = X};
        tribo_model_state0(m, x);
        x[z.nq] = 1 + 0.02 * i, x[z.nq + 1] = 0.01 * i;
        for (int k = 0; k < ROWS; k++) {
            time[k] = 0.01 * k;
            for (size_t j = 0; j < nx; j++, seed = seed * 1664525u + 1013904223u)
                X[(size_t)k * nx + j] =
                    j >= (size_t)z.nq ? (double)NAN : x[j] + 1e-3 * ((double)(seed >> 8) / 16777216 - 0.5);
            for (int j = 0; j < 10; j++) bench_ensure(tribo_step(ws, p, x, NULL, x, NULL), "step");
        }
    }
    tribo_ws_free(ws);
    free(p);
}

/* ---- on paper ---- */

typedef struct network {
    double latency, bandwidth; /* s, bytes a second */
} network;

static double collective(const network *w, double ranks, double bytes) {
    return ranks > 1 ? ceil(log2(ranks)) * w->latency + bytes / w->bandwidth : 0;
}

/* Seconds of a batch as `tribo batch` deals it out: worlds in chunks, rows gathered by the first rank. */
static double batch_on(const network *w, double ranks, double worlds, double world) {
    const double chunk = 2048, row = 16 + 8 * 6 + 8 * 12; /* an outcome, six numbers drawn, twelve slopes */
    double chunks = ceil(worlds / chunk), gather = ranks > 1 ? ranks * w->latency + chunk * row / w->bandwidth : 0;
    return chunks * (ceil(chunk / ranks) * world + 3 * gather + collective(w, ranks, 4));
}

typedef struct cost {
    double dealt, again, bytes; /* a recording: s, s, told */
    double rounds;
} cost;

static double fit_on(const network *w, double ranks, double recordings, const cost *c) {
    double compute = ceil(recordings / ranks) * c->dealt + recordings * c->again;
    return compute + collective(w, ranks, recordings * c->bytes) + c->rounds * collective(w, ranks, 32 * ranks);
}

int main(int argc, char **argv) {
    static const double ranks[] = {1, 2, 8, 32, 128, 512, 1000};
    network w = {1e-6 * (argc > 1 ? atof(argv[1]) : 2), 1e9 * (argc > 2 ? atof(argv[2]) : 12)};
    tribo_model *m = NULL;
    tribo_recording rec[RECORDINGS];
    double time[ROWS];
    rank told;
    bench_ensure(tribo_model_load("data/scenes/slide.xml", NULL, &m, NULL), "data/scenes/slide.xml");
    record(m, rec, time);
    double world = world_seconds(m), one = iteration_seconds(m, rec, 1, &told);
    double many = iteration_seconds(m, rec, RANKS, &told), dealt = (one - many) / (1 - 1. / RANKS);
    cost c = {dealt / RECORDINGS, fmax(0, one - dealt) / RECORDINGS, told.bytes / RECORDINGS, (double)told.rounds};
    printf("a world of %d steps with its reverse: %.3g ms\n", STEPS, 1e3 * world);
    printf("an iteration of %d recordings of %d rows: %.3g s in one rank; dealt out %.3g ms a recording, done again by "
           "every rank %.3g ms, told %.3g kB; %ld exchanges\n",
           RECORDINGS, ROWS, one, 1e3 * c.dealt, 1e3 * c.again, 1e-3 * c.bytes, told.rounds);
    printf("network: %.3g us, %.3g GB/s\n\n", 1e6 * w.latency, 1e-9 * w.bandwidth);
    printf("%6s %26s %26s %26s %26s\n", "ranks", "16384 worlds", "1048576 worlds", "400 recordings",
           "10000 recordings");
    for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++) {
        double n = ranks[k], t[4], alone[4];
        for (int j = 0; j < 2; j++) {
            double to = j ? n : 1, *out = j ? t : alone;
            out[0] = batch_on(&w, to, 16384, world), out[1] = batch_on(&w, to, 1048576, world);
            out[2] = fit_on(&w, to, 400, &c), out[3] = fit_on(&w, to, 10000, &c);
        }
        printf("%6.0f", n);
        for (int j = 0; j < 4; j++)
            printf("   %10.4g s %6.1f x %3.0f %%", t[j], alone[j] / t[j], 100 * alone[j] / t[j] / n);
        printf("\n");
    }
    for (int i = 0; i < RECORDINGS; i++) free((double *)(uintptr_t)rec[i].x);
    tribo_model_free(m);
    return 0;
}
