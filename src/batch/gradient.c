/* gradient.c -- rollouts reversed, in memory of the thread's: states of one rollout, and records of as many steps as
 * its tape has room for. A rollout that needs more is cut into parts; all but the last are recorded a second time on
 * the way back. docs/math.md eq. (63).
 */
#include "batch/batch.h"

typedef struct reverse {
    const tribo_batch_loss *loss;
    const tribo_batch_bars *bars;
    bool wanted; /* any of x, u, p */
} reverse;

/* One world on its way. */
typedef struct journey {
    const tribo_batch *b;
    const reverse *r;
    ti_hand *h;
    int world, T, parts; /* parts - 1 are not on the tape any more */
    const double *p, *u; /* u: all of them, or NULL */
    double cost;
    tribo_status worst;
} journey;

static const double *control(const journey *j, int k) {
    return j->u ? j->u + (size_t)k * (size_t)j->b->z.nu : NULL;
}

static double *state(const journey *j, int k) {
    return j->h->X + (size_t)k * (size_t)j->b->z.nx;
}

/* What state k costs, into lx and lu; the world ends with it where the function says so. */
static tribo_status charge(journey *j, int k) {
    const tribo_batch *b = j->b;
    size_t ndx = (size_t)b->z.ndx, nu = (size_t)b->z.nu;
    bool last = k == j->T, wanted = j->r->wanted;
    double *lx = j->h->lx + (size_t)k * ndx, *lu = last ? NULL : j->h->lu + (size_t)k * nu;
    memset(lx, 0, ndx * sizeof *lx);
    if (lu) memset(lu, 0, nu * sizeof *lu);
    tribo_status s = j->r->loss->function(j->r->loss->context, j->world, k, state(j, k), last ? NULL : control(j, k),
                                          &j->cost, wanted ? lx : NULL, wanted ? lu : NULL);
    if (s == TRIBO_INTERRUPTED) j->T = k, s = TRIBO_OK;
    if (s < 0) return s;
    if (!ti_finite(&j->cost, 1) || !ti_finite(lx, ndx) || (lu && !ti_finite(lu, nu))) return TRIBO_E_NONFINITE;
    return TRIBO_OK;
}

/* A step onto the tape; where that is full, its records make way. A part begins cold, so that it can be made again. */
static tribo_status record(journey *j, int k, double *x_next) {
    ti_hand *h = j->h;
    tribo_tape *tape = j->r->wanted ? h->tape : NULL;
    tribo_status s = tribo_step(h->ws, j->p, state(j, k), control(j, k), x_next, tape);
    if (s != TRIBO_E_CAPACITY || tribo_tape_steps(tape) == 0) return s;
    tribo_tape_rewind(tape), tribo_ws_reset(h->ws);
    h->mark[j->parts++] = k;
    return tribo_step(h->ws, j->p, state(j, k), control(j, k), x_next, tape);
}

static tribo_status go(journey *j) {
    j->h->mark[0] = 0, j->parts = 1;
    tribo_tape_rewind(j->h->tape);
    for (int k = 0;; k++) {
        tribo_status s = j->r->loss->function ? charge(j, k) : TRIBO_OK;
        if (s < 0 || k == j->T) return s;
        s = record(j, k, state(j, k + 1));
        if (s < 0) return s;
        j->worst = ti_graver(j->worst, s);
    }
}

/* ---- back ---- */

/* Steps from first to end - 1 again: the same bits, so that they fit as they did, and do not fail. */
static void again(journey *j, int first, int end) {
    tribo_tape_rewind(j->h->tape), tribo_ws_reset(j->h->ws);
    for (int k = first; k < end; k++)
        (void)!tribo_step(j->h->ws, j->p, state(j, k), control(j, k), j->h->x, j->h->tape);
}

/* Where the bars of a world go: the caller's rows, or those that wait to be summed. */
typedef struct rows {
    double *x, *u, *p;
} rows;

static rows rows_of(const ti_task *t, int i) {
    const tribo_batch *b = t->b;
    const tribo_batch_bars *bars = ((const reverse *)t->of)->bars;
    size_t ndx = (size_t)b->z.ndx, np = (size_t)b->z.np, nu = (size_t)t->w->steps * (size_t)b->z.nu;
    int k = i - t->first;
    return (rows){!bars->x      ? NULL
                  : bars->sum_x ? ti_row_of(b->x_bar, k, ndx)
                                : ti_row_of(bars->x, i, ndx),
                  !bars->u      ? NULL
                  : bars->sum_u ? ti_row_of(b->u_bar, k, nu)
                                : ti_row_of(bars->u, i, nu),
                  !bars->p      ? NULL
                  : bars->sum_p ? ti_row_of(b->p_bar, k, np)
                                : ti_row_of(bars->p, i, np)};
}

static void clear_sums(const ti_task *t, const rows *to) {
    const tribo_batch *b = t->b;
    const tribo_batch_bars *bars = ((const reverse *)t->of)->bars;
    if (to->x && bars->sum_x) memset(to->x, 0, sizeof *to->x * (size_t)b->z.ndx);
    if (to->p && bars->sum_p) memset(to->p, 0, sizeof *to->p * (size_t)b->z.np);
    if (to->u && bars->sum_u) memset(to->u, 0, sizeof *to->u * (size_t)t->w->steps * (size_t)b->z.nu);
}

static void back(journey *j, const double *lx, const rows *to) {
    size_t ndx = (size_t)j->b->z.ndx, nu = (size_t)j->b->z.nu;
    ti_sweep sweep;
    ti_sweep_begin(&sweep, j->h->ws, lx + (size_t)j->T * ndx, to->p != NULL);
    for (int part = j->parts - 1, end = j->T; part >= 0; end = j->h->mark[part--]) {
        int first = j->h->mark[part];
        if (part < j->parts - 1) again(j, first, end);
        for (int k = end - 1; k >= first; k--)
            ti_sweep_over(&sweep, j->h->tape, k - first, lx + (size_t)k * ndx, NULL, ti_row_of(to->u, k, nu));
    }
    tribo_status s = ti_sweep_end(&sweep, to->x, to->p);
    j->worst = ti_graver(j->worst, s);
    for (size_t k = 0; to->u && j->r->loss->function && k < (size_t)j->T * nu; k++) to->u[k] += j->h->lu[k];
}

static tribo_status reverse_world(ti_task *t, ti_hand *h, int i) {
    const tribo_batch *b = t->b;
    const reverse *r = t->of;
    const tribo_worlds *w = t->w;
    size_t ndx = (size_t)b->z.ndx, all = ((size_t)w->steps + 1) * ndx;
    const double *lx = r->loss->function ? h->lx : r->loss->lx + (r->loss->same_lx ? 0 : (size_t)i * all);
    journey j = {.b = b, .r = r, .h = h, .world = i, .T = ti_world_steps(w, i)};
    j.p = ti_world_p(b, w, i), j.u = ti_world_u(b, w, i, 0);
    rows to = rows_of(t, i);
    clear_sums(t, &to);
    memcpy(h->X, ti_world_x(b, w, i), sizeof *h->X * (size_t)b->z.nx);
    if (!r->loss->function && !ti_finite(lx, ((size_t)j.T + 1) * ndx)) return TRIBO_E_NONFINITE;
    tribo_status s = go(&j);
    if (s < 0) return s;
    if (r->wanted) back(&j, lx, &to);
    if (r->bars->cost && r->loss->function) r->bars->cost[i] = j.cost;
    if (r->bars->reached) r->bars->reached[i] = j.T;
    return j.worst;
}

/* ---- sums ---- */

static void add(double *to, const double *from, size_t n) {
    for (size_t k = 0; k < n; k++) to[k] += from[k];
}

/* In the order of worlds, those that came through. */
static void sum(const ti_task *t, int n) {
    const tribo_batch *b = t->b;
    const tribo_batch_bars *bars = ((const reverse *)t->of)->bars;
    size_t ndx = (size_t)b->z.ndx, np = (size_t)b->z.np, nu = (size_t)t->w->steps * (size_t)b->z.nu;
    for (int k = 0; k < n; k++) {
        if (b->status[k] < 0) continue;
        if (bars->x && bars->sum_x) add(bars->x, ti_row_of(b->x_bar, k, ndx), ndx);
        if (bars->u && bars->sum_u) add(bars->u, ti_row_of(b->u_bar, k, nu), nu);
        if (bars->p && bars->sum_p) add(bars->p, ti_row_of(b->p_bar, k, np), np);
    }
}

static tribo_status check(const tribo_batch *b, const tribo_worlds *w, const tribo_batch_loss *loss,
                          const tribo_batch_bars *bars) {
    tribo_status s = ti_worlds_check(b, w, b ? b->steps : 0);
    if (s != TRIBO_OK) return s;
    if (!loss || !bars || (!loss->function && !loss->lx)) return TRIBO_E_ARG;
    return bars->u && bars->sum_u && !b->sum_controls ? TRIBO_E_ARG : TRIBO_OK;
}

/* A block of worlds at a time, whose bars are then summed; all at once where nothing is. */
tribo_status tribo_batch_gradient(tribo_batch *b, const tribo_worlds *w, const tribo_batch_loss *loss,
                                  const tribo_batch_bars *bars, tribo_status *status) {
    tribo_status s = check(b, w, loss, bars), worst = TRIBO_OK, failed = TRIBO_OK;
    if (s != TRIBO_OK) return s;
    const reverse r = {loss, bars, bars->x || bars->u || bars->p};
    bool sums = (bars->x && bars->sum_x) || (bars->u && bars->sum_u) || (bars->p && bars->sum_p);
    ti_task t = {.b = b, .w = w, .status = status, .world = reverse_world, .of = &r};
    int block = sums ? b->block : w->n;
    for (; t.first < w->n; t.first += block) {
        int n = w->n - t.first < block ? w->n - t.first : block;
        t.block = sums ? b->status : NULL;
        s = ti_worlds_run(&t, n);
        if (s < 0 && failed == TRIBO_OK) failed = s;
        if (s >= 0) worst = ti_graver(worst, s);
        if (sums) sum(&t, n);
    }
    return failed < 0 ? failed : worst;
}
