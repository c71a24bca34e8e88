/* layout.c -- the one block of memory of an identification. */
#include "collide/collide.h"
#include "dynamics/link.h"
#include "forward/touching.h"
#include "sysid/kicked/kicked.h"

static void lay_out_shooting(tribo_sysid *s, const tribo_sysid_def *def, ti_arena *a) {
    struct ti_shooting measure = {0}, *h;
    TI_CARVE(a, s->shooting, 1);
    h = s->shooting ? s->shooting : &measure;
    TI_CARVE(a, h->path, def->nrec);
    for (int i = 0; i < def->nrec; i++) {
        ti_path scratch, *path = h->path ? h->path + i : &scratch;
        ti_path_carve(a, path, s, def->nfree, def->rec[i].n);
    }
    TI_CARVE(a, h->aside, def->workers);
    for (int i = 0; i < def->workers; i++) {
        ti_path scratch, *path = h->aside ? h->aside + i : &scratch;
        ti_path_carve(a, path, s, def->nfree, s->rows);
    }
    h->scratch_size = ti_smoother_size(&s->z, def->nfree);
    TI_CARVE(a, h->scratch, (size_t)def->workers * h->scratch_size);
    TI_CARVE(a, h->sums, def->nrec);
    TI_CARVE(a, h->noise, 2 * s->ngroup);
    TI_CARVE(a, h->noise_shown, 2 * s->ngroup);
    TI_CARVE(a, h->noise_least, 2 * s->ngroup);
    TI_CARVE(a, h->total.square, 2 * s->ngroup);
    TI_CARVE(a, h->total.freedom, 2 * s->ngroup);
    for (int i = 0; i < def->nrec; i++) {
        ti_noise_sums scratch, *sums = h->sums ? h->sums + i : &scratch;
        TI_CARVE(a, sums->square, 2 * s->ngroup);
        TI_CARVE(a, sums->freedom, 2 * s->ngroup);
    }
    TI_CARVE(a, h->drawn_at, (size_t)def->nfree);
    TI_CARVE(a, h->cov, (size_t)def->nfree * (size_t)def->nfree);
    TI_CARVE(a, h->wide, 2 * (size_t)def->nfree);
    TI_CARVE(a, h->range, 2 * (size_t)def->nfree);
    TI_CARVE(a, h->side, (size_t)def->nrec * (2 * (size_t)def->nfree + 1) * (size_t)s->z.nx);
    TI_CARVE(a, h->start, TI_STARTS_MAX * (size_t)def->nfree);
    TI_CARVE(a, h->end, TI_STARTS_MAX * (size_t)def->nfree);
    TI_CARVE(a, h->roaming, (size_t)def->nfree);
    TI_CARVE(a, h->by_rows, (size_t)def->nfree);
    TI_CARVE(a, h->kept, (size_t)def->nfree + 2 * (size_t)s->ngroup);
    TI_CARVE(a, h->minimum, (TI_HOPS_MAX + 1) * (2 * (size_t)def->nfree + 1));
}

/* Recordings; what is shared between them. */
static void lay_out_tracks(tribo_sysid *s, const tribo_sysid_def *def, ti_arena *a) {
    size_t nrec = (size_t)def->nrec, rows = 0, intervals = 0;
    TI_CARVE(a, s->track, nrec);
    for (size_t i = 0; i < nrec; i++) {
        size_t length = (size_t)def->rec[i].n;
        ti_track scratch;
        intervals += length;
        rows = length > rows ? length : rows;
        ti_track_carve(a, s->track ? s->track + i : &scratch, s, def->rec + i);
    }
    s->rows = (int)rows, s->intervals = (int)intervals;
    TI_CARVE(a, s->dt, intervals);
    TI_CARVE(a, s->dt_steps, intervals);
    TI_CARVE(a, s->dt_count, intervals);
    TI_CARVE(a, s->norms, intervals * (size_t)(s->nblock + s->z.nsite + s->nplate));
    TI_CARVE(a, s->still, s->z.nv);
    TI_CARVE(a, s->X, rows * (size_t)s->z.nx);
    TI_CARVE(a, s->plate, s->nplate);
    TI_CARVE(a, s->force, rows * 3 * (size_t)s->nplate);
    TI_CARVE(a, s->sum, nrec);
    for (size_t i = 0; i < nrec; i++) {
        ti_sum scratch, *sum = s->sum ? s->sum + i : &scratch;
        size_t nd = (size_t)def->nfree + (size_t)s->z.ndx;
        TI_CARVE(a, sum->g, nd);
        TI_CARVE(a, sum->H, nd * nd);
    }
}

/* Parameters and what moves them. */
static void lay_out_fit(tribo_sysid *s, const tribo_sysid_def *def, ti_arena *a) {
    size_t n = (size_t)def->nfree, np = (size_t)s->z.np, starts = (size_t)def->nrec * (size_t)s->z.ndx;
    size_t lambda = 16 + 3 * n, zpad = (n + starts + 7) / 8 * 8;
    TI_CARVE(a, s->block, s->nblock);
    TI_CARVE(a, s->entry, s->z.ndx);
    TI_CARVE(a, s->threshold, s->ngroup);
    TI_CARVE(a, s->boost, s->ngroup);
    TI_CARVE(a, s->noise_seen, s->ngroup);
    TI_CARVE(a, s->unknown, n);
    TI_CARVE(a, s->gain, s->z.ndx);
    TI_CARVE(a, s->bias, s->z.ndx);
    TI_CARVE(a, s->p0, np);
    TI_CARVE(a, s->p, np);
    TI_CARVE(a, s->P, n * np);
    TI_CARVE(a, s->observe, (5 * n + 2) * n + (n + 3) * n);
    TI_CARVE(a, s->theta, n);
    TI_CARVE(a, s->start_theta, n);
    TI_CARVE(a, s->trial, n);
    TI_CARVE(a, s->g, n);
    TI_CARVE(a, s->step, n);
    TI_CARVE(a, s->H, n * n);
    TI_CARVE(a, s->A, n * n);
    TI_CARVE(a, s->adam_m, zpad);
    TI_CARVE(a, s->adam_v, zpad);
    TI_CARVE(a, s->z_now, 3 * zpad);
    TI_CARVE(a, s->back, starts * (n + 1));
    TI_CARVE(a, s->cma.mean, n);
    TI_CARVE(a, s->cma.D, n);
    TI_CARVE(a, s->cma.pc, n);
    TI_CARVE(a, s->cma.ps, n);
    TI_CARVE(a, s->cma.C, n * n);
    TI_CARVE(a, s->cma.B, n * n);
    TI_CARVE(a, s->cma.sample, lambda * n);
    TI_CARVE(a, s->cma.y, lambda * n);
    TI_CARVE(a, s->cma.value, lambda);
    TI_CARVE(a, s->cma.order, lambda);
    s->zpad = (int)zpad;
}

static void lay_out_stand(const tribo_sysid *s, size_t n, ti_arena *a, ti_worker *w) {
    size_t nv = (size_t)s->z.nv;
    TI_CARVE(a, w->link, s->z.nbody);
    TI_CARVE(a, w->shape, s->z.ngeom);
    TI_CARVE(a, w->diff, s->z.nbody);
    TI_CARVE(a, w->stand_gap, TI_STAND_ROWS);
    TI_CARVE(a, w->stand_J, TI_STAND_ROWS * nv);
    TI_CARVE(a, w->stand_S, TI_STAND_ROWS * TI_STAND_ROWS);
    TI_CARVE(a, w->stand_Y, TI_STAND_ROWS * (nv + n));
    TI_CARVE(a, w->stand_B, TI_STAND_ROWS * (nv + n));
    TI_CARVE(a, w->stand_Z, nv * (nv + n));
}

static void lay_out_probe(const tribo_sysid *s, size_t n, ti_arena *a, ti_probe *probe) {
    size_t ndx = (size_t)s->z.ndx;
    TI_CARVE(a, probe->rate, s->z.nv);
    TI_CARVE(a, probe->A, ndx * ndx);
    TI_CARVE(a, probe->C, n * ndx);
}

static void lay_out_reversal(const tribo_sysid *s, ti_arena *a, ti_reversal *r) {
    size_t ndx = (size_t)s->z.ndx, nv = (size_t)s->z.nv;
    TI_CARVE(a, r->row, nv);
    TI_CARVE(a, r->x, s->z.nx);
    TI_CARVE(a, r->dx, ndx);
    TI_CARVE(a, r->column, 2 * ndx);
    TI_CARVE(a, r->unit, nv);
}

static void lay_out_late(const tribo_sysid *s, ti_arena *a, ti_late *late) {
    size_t nv = (size_t)s->z.nv;
    TI_CARVE(a, late->row, TI_LATE_MAX * nv);
    TI_CARVE(a, late->rate, TI_LATE_MAX * nv);
}

static void lay_out_worker(const tribo_sysid *s, size_t n, ti_arena *a, ti_worker *w) {
    size_t ndx = (size_t)s->z.ndx, nx = (size_t)s->z.nx, np = (size_t)s->z.np, lengths = (size_t)s->intervals;
    TI_CARVE(a, w->ws, lengths * TI_LENGTHS);
    TI_CARVE(a, w->one, lengths * TI_LENGTHS);
    TI_CARVE(a, w->whole, lengths);
    TI_CARVE(a, w->record, lengths);
    TI_CARVE(a, w->x, nx);
    TI_CARVE(a, w->before, nx);
    TI_CARVE(a, w->xd, (n + ndx) * ndx);
    TI_CARVE(a, w->pd, (2 * ndx + n) * np);
    TI_CARVE(a, w->r, ndx);
    TI_CARVE(a, w->lx, ((size_t)s->rows + 1) * ndx);
    TI_CARVE(a, w->wj, 3 * (n + ndx));
    TI_CARVE(a, w->xbar, ndx > n ? ndx : n);
    TI_CARVE(a, w->xnext, ndx);
    TI_CARVE(a, w->pbar, np);
    TI_CARVE(a, w->x0, nx);
    TI_CARVE(a, w->x0d, n * ndx);
    TI_CARVE(a, w->A, ndx * ndx);
    TI_CARVE(a, w->B, ndx * (n + 1));
    TI_CARVE(a, w->by_p, ndx * np);
    TI_CARVE(a, w->by_u, ndx * (size_t)s->z.nu);
    TI_CARVE(a, w->u, s->z.nu);
    TI_CARVE(a, w->p, np);
    TI_CARVE(a, w->by_force, 5 * (size_t)s->z.nv);
    TI_CARVE(a, w->by_x, ndx * ndx);
    TI_CARVE(a, w->by_theta, n * ndx);
    TI_CARVE(a, w->moved, (n + ndx) * ndx);
    if (s->mark_group >= 0) {
        TI_CARVE(a, w->mark_twist, 2 * 3 * (size_t)s->z.nv);
        TI_CARVE(a, w->mark_J, 3 * (size_t)s->z.nv);
        TI_CARVE(a, w->mark_D, 3 * (ndx + n));
        TI_CARVE(a, w->mark_x, nx);
        TI_CARVE(a, w->mark_open, s->z.nv);
    }
    TI_CARVE(a, w->impulse, 3 * (size_t)s->nplate);
    TI_CARVE(a, w->push_D, 3 * (ndx + n));
    lay_out_stand(s, n, a, w);
    for (int i = 0; i < TI_PROBES; i++) lay_out_probe(s, n, a, &w->probe[i]);
    lay_out_reversal(s, a, &w->reversal);
    lay_out_late(s, a, &w->late);
}

void ti_sysid_lay_out(tribo_sysid *s, const tribo_sysid_def *def, ti_arena *a, tribo_sysid **self) {
    TI_CARVE(a, *self, 1);
    lay_out_tracks(s, def, a);
    lay_out_fit(s, def, a);
    TI_CARVE(a, s->worker, def->workers);
    for (int i = 0; i < def->workers; i++) {
        ti_worker scratch;
        lay_out_worker(s, (size_t)def->nfree, a, s->worker ? s->worker + i : &scratch);
    }
    if (def->loss == TRIBO_LOSS_SHOOTING) lay_out_shooting(s, def, a);
}
