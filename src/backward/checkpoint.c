/* checkpoint.c -- gradients of long rollouts in bounded memory: binomial checkpointing [Griewank00].
 *
 * With s states in store, the first of them the start, and no step advanced over more than r times, C(s + r, s) steps
 * can be reversed; the split below spends no more steps than any other schedule does. docs/math.md eq. (64), (65).
 */
#include "backward/backward.h"
#include <limits.h>
#include <tribo/grad.h>

struct tribo_checkpoint {
    tribo_allocator alloc;
    size_t bytes;
    const tribo_model *model;
    int snapshots;
    int ncon_max;     /* of the steps that fit on the tape */
    tribo_tape *tape; /* of one step */
    int *at;          /* (snapshots) the step a stored state is the start of, increasing */
    double *state;    /* (snapshots,nx) */
    double *x;        /* (nx) the state on its way */
};

/* ---- schedule ---- */

/* The smallest r with C(s + r, s) >= T, and that binomial. */
static int sweeps_for(int T, int s, int64_t *binomial) {
    int64_t c = 1, r = 0;
    if (s == 1) return *binomial = T, T - 1;
    while (c < T) r++, c = c * (s + r) / r; /* below 2^31 times at most 2^32 */
    *binomial = c;
    return (int)r;
}

long tribo_checkpoint_reach(int snapshots, int sweeps) {
    if (snapshots < 1 || sweeps < 0) return 0;
    int64_t c = 1, few = snapshots < sweeps ? snapshots : sweeps, many = snapshots < sweeps ? sweeps : snapshots;
    for (int64_t r = 1; r <= few; r++) {
        if (c > LONG_MAX / (many + r)) return LONG_MAX;
        c = c * (many + r) / r;
    }
    return (long)c;
}

long tribo_checkpoint_steps(int T, int snapshots) {
    if (T < 1 || snapshots < 1) return 0;
    int64_t c, s = snapshots, r = sweeps_for(T, snapshots, &c);
    int64_t saved = c * r / (s + 1); /* C(s + r, r - 1) */
    return (long)(T + r * T - saved);
}

/* How far to advance from a stored state that has n > 1 steps before it and s stores, its own among them: the rest is
 * reversed with s - 1 stores and r sweeps, then these with s stores and r - 1. */
static int split(int n, int s) {
    int64_t c, r = sweeps_for(n, s, &c);
    int64_t less = c * r / (s + r);                           /* C(s + r - 1, s) */
    int64_t least = r > 1 ? less * (r - 1) / (s + r - 1) : 1; /* C(s + r - 2, s); the lower end of what is optimal */
    int64_t rest = c - less;                                  /* C(s + r - 1, s - 1), the most the rest can be */
    int64_t m = n - rest > least ? n - rest : least;
    return m < 1 ? 1 : (int)m;
}

/* ---- memory ---- */

static void layout(ti_arena *a, tribo_checkpoint *c, int nx) {
    ti_carve(a, 1, sizeof *c);
    TI_CARVE(a, c->at, c->snapshots);
    TI_CARVE(a, c->state, (size_t)c->snapshots * (size_t)nx);
    TI_CARVE(a, c->x, nx);
}

tribo_status tribo_checkpoint_new(const tribo_ws *ws, int snapshots, tribo_checkpoint **out) {
    if (!ws || !out || snapshots < 1) return TRIBO_E_ARG;
    tribo_checkpoint c = {
        .alloc = ws->alloc, .model = ws->model, .snapshots = snapshots, .ncon_max = ws->options.ncon_max};
    ti_arena a = {0};
    layout(&a, &c, ws->model->size.nx);
    c.bytes = a.used;
    tribo_status s = tribo_tape_new(ws, 1, 0, &c.tape);
    if (s != TRIBO_OK) return s;
    void *block = ti_arena_take(&a, &c.alloc);
    if (!block) {
        tribo_tape_free(c.tape);
        return TRIBO_E_NOMEM;
    }
    layout(&a, &c, ws->model->size.nx);
    *out = memcpy(block, &c, sizeof c);
    return TRIBO_OK;
}

void tribo_checkpoint_free(tribo_checkpoint *c) {
    if (!c) return;
    tribo_allocator a = c->alloc;
    tribo_tape_free(c->tape);
    ti_free(&a, c, c->bytes);
}

/* ---- the sweep ---- */

typedef struct sweep {
    tribo_checkpoint *c;
    tribo_ws *ws;
    const double *p, *U;
    size_t nx, nu;
    int top;    /* last stored state */
    long steps; /* made so far */
    tribo_status worst;
} sweep;

static double *stored(const sweep *s, int k) {
    return s->c->state + (size_t)k * s->nx;
}

static tribo_status forward(sweep *s, int k, tribo_tape *tape) {
    const double *u = s->U ? s->U + (size_t)k * s->nu : NULL;
    tribo_status status = tribo_step(s->ws, s->p, s->c->x, u, s->c->x, tape);
    s->worst = ti_graver(s->worst, status);
    s->steps++;
    return status;
}

/* From the last stored state to the record of step end - 1, storing on the way. */
static tribo_status reach(sweep *s, int end) {
    tribo_checkpoint *c = s->c;
    int k = c->at[s->top];
    memcpy(c->x, stored(s, s->top), s->nx * sizeof *c->x);
    while (end - k > 1) {
        for (int m = split(end - k, c->snapshots - s->top); m > 0; m--, k++) {
            tribo_status status = forward(s, k, NULL);
            if (status < 0) return status;
        }
        if (end - k == 1) break;
        c->at[++s->top] = k;
        memcpy(stored(s, s->top), c->x, s->nx * sizeof *c->x);
    }
    tribo_tape_rewind(c->tape);
    return forward(s, end - 1, c->tape);
}

/* All that can be wrong before a step is made. */
static tribo_status check(const tribo_checkpoint *c, const tribo_ws *ws, int T, const double *lx) {
    if (ws->model != c->model || ws->options.warm_start) return TRIBO_E_ARG;
    tribo_tape_rewind(c->tape);
    tribo_status status = ti_tape_fits(c->tape, ws);
    if (status != TRIBO_OK) return status;
    if (ws->options.ncon_max > c->ncon_max) return TRIBO_E_CAPACITY;
    return ti_finite(lx, ((size_t)T + 1) * (size_t)ws->model->size.ndx) ? TRIBO_OK : TRIBO_E_NONFINITE;
}

tribo_status tribo_checkpoint_backward(tribo_checkpoint *c, tribo_ws *ws, const double *p, const double *x0, int T,
                                       const double *U, const double *lx, double *x0_bar, double *u_bar, double *p_bar,
                                       long *steps) {
    if (!c || !ws || !p || !x0 || !lx || T < 0) return TRIBO_E_ARG;
    tribo_status status = check(c, ws, T, lx);
    if (status != TRIBO_OK) return status;
    const tribo_sizes *size = &ws->model->size;
    size_t ndx = (size_t)size->ndx, nu = (size_t)size->nu;
    sweep s = {.c = c, .ws = ws, .p = p, .U = U, .nx = (size_t)size->nx, .nu = nu};
    ti_sweep bars;
    status =
        tribo_rollout(ws, p, x0, 0, NULL, c->state, NULL); /* x0 into state; what is none is told also without steps */
    if (status < 0) return status;
    c->at[0] = 0;
    ti_sweep_begin(&bars, ws, lx + (size_t)T * ndx, p_bar != NULL);
    for (int k = T - 1; k >= 0; k--) {
        /* The first time reaches over every step; from then on they are repeated, bit by bit, and cannot fail. */
        status = reach(&s, k + 1);
        if (status < 0) return status;
        ti_sweep_over(&bars, c->tape, 0, lx + (size_t)k * ndx, NULL, u_bar ? u_bar + (size_t)k * nu : NULL);
        if (s.top > 0 && c->at[s.top] == k) s.top--;
    }
    if (steps) *steps = s.steps;
    status = ti_sweep_end(&bars, x0_bar, p_bar);
    return ti_graver(status, s.worst);
}
