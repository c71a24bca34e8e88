/* batch.c -- many worlds by the library's pool of threads: rollouts, and their gradients by simulating again. */
#include "run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- parts of a batch, between which an interrupt is looked for ---- */

enum { PART = 50000 }; /* steps in a part */

static int part_of(const rollout *r, int first) {
    int n = PART / r->nstep;
    if (n < r->workers) n = r->workers;
    return r->nworld - first < n ? r->nworld - first : n;
}

static tribo_worlds worlds_at(const rollout *r, int first, int n) {
    tribo_worlds w = tribo_default_worlds();
    w.n = n, w.steps = r->nstep;
    w.p = world_p(r, first), w.x = world_x(r, first), w.u = world_u(r, first);
    w.same_p = !r->many_p, w.same_x = !r->many_x, w.same_u = r->U && !r->many_u;
    return w;
}

/* ---- forward ---- */

/* The first world that failed as an exception; or, where that is allowed, NaN from where each of them stopped. */
static bool judge(rollout *r, double *X, bool strict) {
    size_t nx = (size_t)r->model->n.nx, row = (size_t)(r->nstep + 1) * nx;
    for (int w = 0; w < r->nworld; w++) {
        if (r->each[w] >= 0) {
            r->status = tribo_status_graver(r->status, r->each[w]);
            continue;
        }
        if (strict)
            return core_fail_step(r->model, NULL, r->each[w], world_p(r, w), world_x(r, w), world_u(r, w), r->nstep, w);
        double *x = X + (size_t)w * row;
        memcpy(x, world_x(r, w), nx * sizeof *x);
        for (size_t i = ((size_t)r->reached[w] + 1) * nx; i < row; i++) x[i] = (double)NAN;
    }
    return true;
}

static bool run_parts(rollout *r, tribo_batch *b, double *X) {
    for (int first = 0, n; first < r->nworld; first += n) {
        tribo_status s;
        n = part_of(r, first);
        tribo_worlds w = worlds_at(r, first, n);
        double *to = X + (size_t)first * (size_t)(r->nstep + 1) * (size_t)r->model->n.nx;
        Py_BEGIN_ALLOW_THREADS;
        s = tribo_batch_rollout(b, &w, to, NULL, r->reached + first, r->each + first);
        Py_END_ALLOW_THREADS;
        bool told = s >= 0;
        for (int i = 0; !told && i < n; i++) told = r->each[first + i] < 0;
        if (!told) return core_fail(r->model->core, s, "rollout of a batch", NULL);
        if (PyErr_CheckSignals()) return false;
    }
    return true;
}

bool core_batch_run(rollout *r, double *X, bool strict) {
    r->each = calloc((size_t)r->nworld, sizeof *r->each);
    r->reached = calloc((size_t)r->nworld, sizeof *r->reached);
    if (!r->each || !r->reached) return core_fail(r->model->core, TRIBO_E_NOMEM, "rollout of a batch", NULL);
    core_crew crew = core_batch_take(r->model, r->workers, r->nstep);
    if (!crew.batch) return false;
    bool good = run_parts(r, crew.batch, X);
    core_batch_give(r->model, r->handle, crew);
    return good && judge(r, X, strict);
}

/* ---- reverse ---- */

static tribo_batch_bars bars_at(const rollout *r, gradients g, int first) {
    const tribo_sizes *n = &r->model->n;
    size_t i = (size_t)first, nU = (size_t)r->nstep * (size_t)n->nu;
    tribo_batch_bars bars = {.sum_x = !r->many_x, .sum_u = !r->many_u, .sum_p = !r->many_p};
    bars.x = g.x0 ? g.x0 + (r->many_x ? i * (size_t)n->ndx : 0) : NULL;
    bars.u = g.U ? g.U + (r->many_u ? i * nU : 0) : NULL;
    bars.p = g.p ? g.p + (r->many_p ? i * (size_t)n->np : 0) : NULL;
    return bars;
}

static tribo_status reverse_part(const rollout *r, tribo_batch *b, const double *lx, bool same_lx, gradients g,
                                 int first, int n, tribo_status *each) {
    tribo_worlds w = worlds_at(r, first, n);
    size_t row = (size_t)(r->nstep + 1) * (size_t)r->model->n.ndx;
    tribo_batch_loss loss = {.lx = lx + (same_lx ? 0 : (size_t)first * row), .same_lx = same_lx};
    tribo_batch_bars bars = bars_at(r, g, first);
    tribo_status s;
    memcpy(each, r->each + first, (size_t)n * sizeof *each);
    Py_BEGIN_ALLOW_THREADS;
    s = tribo_batch_gradient(b, &w, &loss, &bars, each);
    Py_END_ALLOW_THREADS;
    bool told = false; /* when it was simulated; such worlds are left out */
    for (int i = 0; i < n; i++) {
        if (each[i] < 0 && r->each[first + i] >= 0) return each[i];
        told = told || each[i] < 0;
    }
    return s < 0 && told ? TRIBO_OK : s;
}

tribo_status core_batch_reverse(rollout *r, const double *lx, bool same_lx, gradients g) {
    tribo_status worst = TRIBO_OK, *each = malloc((size_t)r->nworld * sizeof *each);
    core_crew crew = each ? core_batch_take(r->model, r->workers, r->nstep) : (core_crew){0};
    if (!crew.batch) worst = TRIBO_E_NOMEM;
    for (int first = 0, n; worst >= 0 && first < r->nworld; first += n) {
        n = part_of(r, first);
        worst = tribo_status_graver(worst, reverse_part(r, crew.batch, lx, same_lx, g, first, n, each));
        if (PyErr_CheckSignals()) worst = TRIBO_E_ARG;
    }
    if (crew.batch) core_batch_give(r->model, r->handle, crew);
    free(each);
    return worst;
}
