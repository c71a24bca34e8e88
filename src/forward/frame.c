/* frame.c -- the arrays of a step, and the tape that keeps them. */
#include "forward/frame.h"
#include "contact/law/law.h"
#include "dynamics/recall.h"
#include <tribo/grad.h>

enum { THIRD = 2 }; /* point, which few solutions have */

void ti_frame_layout(ti_arena *arena, ti_frame *f, const tribo_model *m, int rounds, unsigned phases, int ncon,
                     int nisland, int nblk, int nv) {
    f->ncon = ncon, f->nisland = nisland, f->nblk = nblk, f->nv = nv, f->phases = phases;
    TI_CARVE(arena, f->x, m->size.nx);
    TI_CARVE(arena, f->u, m->size.nu);
    TI_CARVE(arena, f->con, ncon);
    TI_CARVE(arena, f->island, nisland);
    TI_CARVE(arena, f->blk_tree, nblk);
    for (int phase = 0; phase < TI_PHASES; phase++) {
        ti_phase_data *d = &f->phase[phase];
        memset(d, 0, sizeof *d);
        if (!(phases >> phase & 1)) continue;
        for (int k = 0; k <= TI_CONTACT_POINTS; k++) {
            if (k == THIRD && !(phases >> (TI_PHASES + phase) & 1)) continue;
            TI_CARVE(arena, d->lambda[k], 3 * (size_t)ncon);
            TI_CARVE(arena, d->v[k], nv);
        }
        TI_CARVE(arena, d->mode, ncon);
    }
    f->lambda = f->phase[TI_HOLD].lambda[TI_SOLVED], f->v = f->phase[TI_HOLD].v[TI_SOLVED];
    f->mode = f->phase[TI_HOLD].mode;
    if (!ti_holds_only(phases)) {
        TI_CARVE(arena, f->lambda, 3 * (size_t)ncon);
        TI_CARVE(arena, f->v, nv);
        TI_CARVE(arena, f->mode, ncon);
    }
    f->hit = NULL;
    if (phases >> TI_IMPACT & 1) TI_CARVE(arena, f->hit, ncon);
    TI_CARVE(arena, f->rounds, TI_REBOUND * 3 * (size_t)rounds * (size_t)ncon);
    f->by_answer = false, f->known = NULL;
}

ti_contact_solution ti_frame_solution(const ti_frame *f, int i, ti_phase phase) {
    const ti_island *is = &f->island[i];
    const ti_phase_points *points = &is->phase[phase];
    const ti_phase_data *d = &f->phase[phase];
    ti_contact_solution s = {.npoint = ti_frame_points(f, i, phase), .mode = d->mode + is->con0};
    for (int k = 0; k < TI_CONTACT_POINTS && d->v[k]; k++)
        s.point[k] = (ti_contact_point){.weight = points->weight[k],
                                        .compliance = points->compliance[k],
                                        .lambda = d->lambda[k] + 3 * is->con0,
                                        .v = d->v[k] + is->v0};
    s.lambda = d->lambda[TI_SOLVED] + 3 * is->con0, s.v = d->v[TI_SOLVED] + is->v0;
    s.alone = s.npoint == 1 ? points->alone : 0;
    if (ti_frame_alone(f, i, phase)) s.point[0] = (ti_contact_point){1, points->compliance[0], s.lambda, s.v};
    return s;
}

double *ti_frame_rounds(const ti_frame *f, int rounds, int k, ti_phase phase) {
    size_t all = (size_t)rounds * 3;
    return f->rounds + all * ((size_t)phase * (size_t)f->ncon + (size_t)f->island[k].con0);
}

/* ---- contacts as callers see them ---- */

ti_con ti_hit_con(const ti_frame *f, int i) {
    ti_con c = f->con[i];
    c.touch = f->hit[i].touch, c.t1 = f->hit[i].t1, c.t2 = f->hit[i].t2;
    return c;
}

bool ti_frame_is_hit(const ti_frame *f, const ti_island *is, int i) {
    if (f->mode[i] == TRIBO_BREAK || f->con[i].bounce) return f->mode[i] != TRIBO_BREAK;
    return ti_island_is_hit(is) && f->phase[TI_IMPACT].lambda[TI_SOLVED][3 * i + 2] > 0;
}

static void show_contact(const ti_frame *f, const ti_island *is, int i, tribo_contact *v) {
    const ti_con c = ti_frame_con(f, is, i);
    *v = (tribo_contact){.geom_a = c.pair.a,
                         .geom_b = c.pair.b,
                         .mode = ti_mode_public(f->mode[i]),
                         .gap = f->con[i].touch.gap,
                         .bounced = ti_frame_is_hit(f, is, i)};
    ti_store3(v->point, ti_con_touch(&c).point), ti_store3(v->normal, c.touch.normal);
    ti_store3(v->applied, c.touch.point);
    ti_store3(v->tangent[0], c.t1), ti_store3(v->tangent[1], c.t2);
    memcpy(v->impulse, f->lambda + 3 * i, sizeof v->impulse);
    if (ti_island_is_hit(is) && f->hit[i].moved) v->time = ti_hit_time(f, is, i);
}

void ti_frame_view(const ti_frame *f, int nisland, tribo_contact *view) {
    for (int k = 0; k < nisland; k++) {
        const ti_island *is = &f->island[k];
        for (int i = is->con0, host = 0; i < is->con0 + is->ncon; i++) {
            const ti_con *c = &f->con[i];
            if (c->kind == TI_CON_CONTACT) host = c->id, show_contact(f, is, i, &view[host]);
            for (int r = 0; ti_con_spins(c) && r < 3; r++) /* behind its contact */
                view[host].torque[r] += c->pair.length * f->lambda[3 * i + r];
        }
    }
}

/* ---- tape ---- */

typedef struct ti_record {
    size_t offset;
    unsigned phases;
    int ncon, nisland, nblk, nv;
    tribo_status verdict; /* on the step, as far as its derivatives are concerned */
} ti_record;

struct tribo_tape {
    tribo_allocator alloc;
    size_t bytes;
    const tribo_model *model;
    int max_steps, nsteps;
    int ncon; /* of the largest record */
    size_t capacity, used;
    tribo_options options; /* of the workspace it was made for */
    double *p;             /* (np) of every record */
    uint64_t covariance;   /* and the hash of every record's; 0 = there was none */
    ti_record *record;     /* (max_steps) */
    char *data;            /* (capacity) */
};

/* A frame, and behind it what is known. */
static void lay_out(ti_arena *a, ti_frame *f, const tribo_model *m, int rounds, const ti_record *r) {
    ti_frame_layout(a, f, m, rounds, r->phases, r->ncon, r->nisland, r->nblk, r->nv);
    TI_CARVE(a, f->known, ti_recall_size(m));
}

static size_t record_bytes(const tribo_model *m, int rounds, const ti_record *r) {
    ti_arena a = {0};
    ti_frame f;
    lay_out(&a, &f, m, rounds, r);
    return a.used;
}

size_t tribo_tape_bytes(const tribo_ws *ws, int max_steps, int ncon) {
    if (!ws || max_steps < 1 || ncon < 0) return 0;
    const tribo_model *m = ws->model;
    int nblk = m->ntree;
    ti_record most = {0, TI_ALL_PHASES, ncon, nblk < ncon ? nblk : ncon, nblk, m->size.nv, TRIBO_OK};
    size_t one = record_bytes(m, ws->options.rounds, &most);
    return one < SIZE_MAX / 2 / (size_t)max_steps ? one * (size_t)max_steps : 0;
}

static void tape_layout(ti_arena *a, tribo_tape *t) {
    ti_carve(a, 1, sizeof *t);
    TI_CARVE(a, t->p, t->model->size.np);
    TI_CARVE(a, t->record, t->max_steps);
    TI_CARVE(a, t->data, t->capacity);
}

tribo_status tribo_tape_new(const tribo_ws *ws, int max_steps, size_t max_bytes, tribo_tape **tape) {
    if (!ws || !tape || max_steps < 1) return TRIBO_E_ARG;
    tribo_tape t = {.alloc = ws->alloc, .model = ws->model, .max_steps = max_steps, .options = ws->options};
    t.capacity = max_bytes ? max_bytes : tribo_tape_bytes(ws, max_steps, ws->options.ncon_max);
    if (t.capacity == 0 || t.capacity > SIZE_MAX / 2) return TRIBO_E_NOMEM;
    ti_arena a = {0};
    tape_layout(&a, &t);
    t.bytes = a.used;
    void *block = ti_arena_take(&a, &t.alloc);
    if (!block) return TRIBO_E_NOMEM;
    tape_layout(&a, &t);
    *tape = memcpy(block, &t, sizeof t);
    return TRIBO_OK;
}

void tribo_tape_free(tribo_tape *tape) {
    if (!tape) return;
    tribo_allocator a = tape->alloc;
    ti_free(&a, tape, tape->bytes);
}

void tribo_tape_rewind(tribo_tape *tape) {
    if (tape) tape->nsteps = 0, tape->used = 0, tape->ncon = 0;
}

int tribo_tape_steps(const tribo_tape *tape) {
    return tape ? tape->nsteps : 0;
}

/* The phases that any island went through, ti_frame.phases. */
static unsigned phases_of(const ti_frame *f) {
    unsigned phases = 1u << TI_HOLD;
    for (int k = 0; k < f->nisland; k++)
        for (int phase = 0; phase < TI_PHASES; phase++)
            if (f->island[k].phase[phase].npoint > 0)
                phases |= (f->island[k].phase[phase].npoint > THIRD ? 1u << TI_PHASES | 1u : 1u) << phase;
    return phases;
}

static void copy_phase(ti_phase_data *to, const ti_phase_data *from, size_t nc, size_t nv) {
    for (int k = 0; k <= TI_CONTACT_POINTS; k++) {
        if (!to->lambda[k]) continue;
        memcpy(to->lambda[k], from->lambda[k], 3 * nc * sizeof(double));
        memcpy(to->v[k], from->v[k], nv * sizeof(double));
    }
    memcpy(to->mode, from->mode, nc);
}

/* Whether a step of one and a derivative of the other are of the same function. */
static bool same_step(const tribo_options *a, const tribo_options *b) {
    return a->dt == b->dt && a->recovery == b->recovery && a->rounds == b->rounds && a->reverse == b->reverse &&
           ti_law_same(&a->law, &b->law);
}

/* What the noise of contacts was made of: the caller may write something else there. */
static uint64_t covariance_of(const tribo_ws *ws) {
    size_t n = (size_t)ws->model->size.ndx;
    return ws->covariance ? tribo_hash(ws->covariance, n * n, 1) | 1 : 0;
}

tribo_status ti_tape_fits(const tribo_tape *t, const tribo_ws *ws) {
    if (t->model != ws->model || !same_step(&t->options, &ws->options)) return TRIBO_E_ARG;
    if (t->nsteps && t->covariance != covariance_of(ws)) return TRIBO_E_ARG;
    return t->ncon <= ws->options.ncon_max ? TRIBO_OK : TRIBO_E_CAPACITY;
}

tribo_status ti_tape_verdict(const tribo_tape *t, int k) {
    return t->record[k].verdict;
}

tribo_status ti_tape_append(tribo_tape *t, const tribo_ws *ws, const ti_frame *f, const double *p,
                            tribo_status status) {
    const tribo_sizes *size = &ws->model->size;
    int rounds = ws->options.rounds;
    if (t->model != ws->model || !same_step(&t->options, &ws->options)) return TRIBO_E_ARG;
    size_t np = sizeof(double) * (size_t)size->np;
    if (t->nsteps == t->max_steps) return TRIBO_E_CAPACITY;
    uint64_t covariance = covariance_of(ws);
    if (t->nsteps && (t->covariance != covariance || memcmp(t->p, p, np) != 0)) return TRIBO_E_ARG;
    ti_arena a = {.base = t->data, .used = t->used};
    ti_frame to;
    unsigned phases = phases_of(f);
    if (status == TRIBO_OK && !ws->info.canonical) status = TRIBO_DEGENERATE;
    ti_record record = {t->used, phases, f->ncon, f->nisland, f->nblk, f->nv, status};
    if (t->used + record_bytes(ws->model, rounds, &record) > t->capacity) return TRIBO_E_CAPACITY;
    lay_out(&a, &to, ws->model, rounds, &record);
    if (t->nsteps == 0) memcpy(t->p, p, np), t->covariance = covariance;
    t->record[t->nsteps++] = record;
    t->used = a.used;
    if (f->ncon > t->ncon) t->ncon = f->ncon;

    size_t nc = (size_t)f->ncon, nb = (size_t)f->nblk, nv = (size_t)f->nv, d = sizeof(double);
    memcpy(to.x, f->x, d * (size_t)size->nx);
    memcpy(to.u, f->u, d * (size_t)size->nu);
    ti_recall_keep(&ws->motion, to.known);
    memcpy(to.con, f->con, nc * sizeof *f->con);
    memcpy(to.island, f->island, (size_t)f->nisland * sizeof *f->island);
    memcpy(to.blk_tree, f->blk_tree, nb * sizeof *f->blk_tree);
    for (int phase = 0; phase < TI_PHASES; phase++)
        if (phases >> phase & 1) copy_phase(&to.phase[phase], &f->phase[phase], nc, nv);
    if (to.hit) memcpy(to.hit, f->hit, nc * sizeof *f->hit);
    if (!ti_holds_only(phases)) {
        memcpy(to.lambda, f->lambda, 3 * nc * d);
        memcpy(to.v, f->v, nv * d);
        memcpy(to.mode, f->mode, nc);
    }
    memcpy(to.rounds, f->rounds, TI_REBOUND * (size_t)rounds * 3 * nc * d);
    return TRIBO_OK;
}

tribo_status ti_tape_frame(const tribo_tape *t, const tribo_ws *ws, int k, ti_frame *f, const double **p) {
    if (k < 0 || k >= t->nsteps) return TRIBO_E_ARG;
    const ti_record *r = &t->record[k];
    ti_arena a = {.base = t->data, .used = r->offset};
    lay_out(&a, f, ws->model, t->options.rounds, r);
    *p = t->p;
    return TRIBO_OK;
}

void ti_tape_expect(const tribo_tape *t, int k) {
    enum { LINE = 64 };
    if (k < 0 || k >= t->nsteps) return;
    size_t end = k + 1 < t->nsteps ? t->record[k + 1].offset : t->used;
    for (size_t at = t->record[k].offset; at < end; at += LINE) __builtin_prefetch(t->data + at);
}

int tribo_tape_contacts(const tribo_tape *t, int k, tribo_contact *contact) {
    ti_frame f;
    const ti_record *r = t && k >= 0 && k < t->nsteps ? &t->record[k] : NULL;
    int n = 0;
    if (!r) return 0;
    ti_arena a = {.base = t->data, .used = r->offset};
    ti_frame_layout(&a, &f, t->model, t->options.rounds, r->phases, r->ncon, r->nisland, r->nblk, r->nv);
    for (int i = 0; i < f.ncon; i++) n += f.con[i].kind == TI_CON_CONTACT;
    if (contact) ti_frame_view(&f, f.nisland, contact);
    return n;
}
