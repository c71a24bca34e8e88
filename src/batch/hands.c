/* hands.c -- a batch made and freed: the pool, and what each thread holds. */
#include "batch/batch.h"

enum { TAPE_BYTES = 16 << 20 };
enum { BLOCK = 64 }; /* worlds a thread between two sums: one that comes last costs the others a share of that */

tribo_batch_def tribo_default_batch(void) {
    return (tribo_batch_def){.struct_size = sizeof(tribo_batch_def), .workers = 1, .steps = 1};
}

tribo_worlds tribo_default_worlds(void) {
    return (tribo_worlds){.struct_size = sizeof(tribo_worlds), .steps = 1};
}

static void lay_out(tribo_batch *b, ti_arena *a) {
    size_t nx = (size_t)b->z.nx, ndx = (size_t)b->z.ndx, nu = (size_t)b->z.nu, np = (size_t)b->z.np;
    size_t steps = (size_t)b->steps, block = (size_t)b->block;
    TI_CARVE(a, b->p, np);
    TI_CARVE(a, b->x_bar, block * ndx);
    TI_CARVE(a, b->u_bar, b->sum_controls ? block * steps * nu : 0);
    TI_CARVE(a, b->p_bar, block * np);
    TI_CARVE(a, b->status, block);
    TI_CARVE(a, b->hand, b->nworker);
    for (int i = 0; i < b->nworker; i++) {
        ti_hand scratch, *h = b->hand ? b->hand + i : &scratch;
        TI_CARVE(a, h->X, (steps + 1) * nx);
        TI_CARVE(a, h->lx, (steps + 1) * ndx);
        TI_CARVE(a, h->lu, steps * nu);
        TI_CARVE(a, h->mark, steps);
        TI_CARVE(a, h->x, nx);
        ti_carve(a, 1, TI_ALIGN); /* two threads share no line of the cache */
    }
}

/* Room for one step always, for all of them at most. */
static tribo_status tape_for(const tribo_batch *b, const tribo_batch_def *def, ti_hand *h) {
    int ncon = tribo_ws_options(h->ws).ncon_max;
    size_t bytes = def->tape_bytes ? def->tape_bytes : TAPE_BYTES, one = tribo_tape_bytes(h->ws, 1, ncon);
    size_t all = tribo_tape_bytes(h->ws, b->steps, ncon); /* 0 = beyond what can be counted */
    if (all && bytes > all) bytes = all;
    if (bytes < one) bytes = one;
    return tribo_tape_new(h->ws, b->steps, bytes, &h->tape);
}

/* The caller's allocator, counted. */
static void *counted_alloc(void *context, size_t bytes, size_t align) {
    tribo_batch *b = context;
    void *p = ti_alloc(&b->alloc, bytes);
    (void)align; /* TI_ALIGN, as all of the library */
    if (p) b->held += bytes;
    return p;
}

static void counted_release(void *context, void *p, size_t bytes, size_t align) {
    tribo_batch *b = context;
    (void)align;
    b->held -= bytes;
    ti_free(&b->alloc, p, bytes);
}

static tribo_status fill(tribo_batch *b, const tribo_batch_def *def, tribo_diag *diag) {
    const tribo_allocator counted = {counted_alloc, counted_release, b}, *a = &counted;
    tribo_status s = TRIBO_OK;
    b->held = b->bytes;
    tribo_model_params(b->model, b->p);
    for (int i = 0; i < b->nworker && s == TRIBO_OK; i++) {
        s = tribo_ws_new(b->model, def->options, a, &b->hand[i].ws, diag);
        if (s == TRIBO_OK) s = tape_for(b, def, &b->hand[i]);
    }
    if (s != TRIBO_OK) return s;
    b->warm = tribo_ws_options(b->hand[0].ws).warm_start;
    b->pool = ti_pool_new(b->nworker, a);
    return b->pool ? TRIBO_OK : TRIBO_E_NOMEM;
}

static tribo_status check(const tribo_model *m, const tribo_batch_def *def, tribo_diag *diag) {
    if (!m) return ti_fail(diag, TRIBO_E_ARG, 0, "no model");
    if (def->struct_size != sizeof *def)
        return ti_fail(diag, TRIBO_E_DEF, 0, "the batch was not made by tribo_default_batch()");
    if (def->workers < 1 || def->workers > TI_WORKERS_MAX)
        return ti_fail(diag, TRIBO_E_ARG, 0, "workers: %d is not in [1, %d]", def->workers, TI_WORKERS_MAX);
    if (def->steps < 1 || def->steps > TI_COUNT_LIMIT)
        return ti_fail(diag, TRIBO_E_ARG, 0, "steps: %d is not in [1, %d]", def->steps, TI_COUNT_LIMIT);
    return TRIBO_OK;
}

tribo_status tribo_batch_new(const tribo_model *m, const tribo_batch_def *def, tribo_batch **out, tribo_diag *diag) {
    const tribo_batch_def standard = tribo_default_batch();
    if (!def) def = &standard;
    if (!out) return ti_fail(diag, TRIBO_E_ARG, 0, "no place for the batch");
    tribo_status s = check(m, def, diag);
    if (s != TRIBO_OK) return s;
    tribo_batch measure = {.model = m,
                           .z = tribo_model_sizes(m),
                           .nworker = def->workers,
                           .steps = def->steps,
                           .block = BLOCK * def->workers,
                           .sum_controls = def->sum_controls};
    if (def->allocator) measure.alloc = *def->allocator;
    tribo_batch *b;
    ti_arena arena = {0};
    TI_CARVE(&arena, b, 1);
    lay_out(&measure, &arena);
    measure.bytes = arena.used;
    if (!ti_arena_take(&arena, def->allocator)) return ti_fail(diag, TRIBO_E_NOMEM, 0, "no memory for the batch");
    TI_CARVE(&arena, b, 1);
    *b = measure;
    lay_out(b, &arena);
    s = fill(b, def, diag);
    if (s == TRIBO_OK)
        *out = b;
    else
        tribo_batch_free(b);
    return s == TRIBO_E_NOMEM ? ti_fail(diag, s, 0, "no memory for the batch") : s;
}

void tribo_batch_free(tribo_batch *b) {
    if (!b) return;
    tribo_allocator a = b->alloc;
    ti_pool_free(b->pool);
    for (int i = 0; i < b->nworker; i++) tribo_tape_free(b->hand[i].tape), tribo_ws_free(b->hand[i].ws);
    ti_free(&a, b, b->bytes);
}

size_t tribo_batch_bytes(const tribo_batch *b) {
    return b ? b->held : 0;
}
