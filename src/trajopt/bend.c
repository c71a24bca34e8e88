/* bend.c -- the second derivative of the dynamics at every knot, by differences of reverses, whole and made convex, and
 * how long it is kept. docs/math.md eq. (498), (505). */
#include "base/crew.h"
#include "trajopt/task.h"
#include <lapacke.h>

static const double STEP = 1e-5; /* of a number of the state; of a control beside its size */
static const double STALE = 0.1; /* relative, of what is foretold and of lambda */

/* (ndx+nc) := [A B]' lambda of the knot's steps from x on. */
static tribo_status reverse(const tribo_trajopt *t, ti_planner *w, const double *x, const double *controls,
                            const double *lambda, double *slope) {
    tribo_ws *ws = w->lens ? w->lens : w->ws;
    tribo_tape *tape = w->lens ? w->glimpse : w->probe;
    size_t n = (size_t)t->z.ndx;
    double *bar = w->bar, *next = w->bar + n;
    tribo_status s = TRIBO_OK;
    ti_control_spread(t, controls, w->u);
    memcpy(w->x, x, sizeof *x * (size_t)t->z.nx);
    tribo_tape_rewind(tape);
    for (int i = 0; s >= 0 && i < t->substeps; i++) s = tribo_step(ws, t->p, w->x, w->u, w->x, tape);
    memcpy(bar, lambda, sizeof *bar * n);
    memset(w->u_bar, 0, sizeof(double) * (size_t)t->z.nu);
    for (int i = t->substeps; s >= 0 && i-- > 0;) {
        memcpy(next, bar, sizeof *bar * n);
        memset(bar, 0, sizeof *bar * n);
        s = tribo_step_vjp(ws, tape, i, next, bar, w->u_bar, NULL);
    }
    memcpy(slope, bar, sizeof *bar * n);
    for (int i = 0; i < t->nc; i++) slope[n + (size_t)i] = w->u_bar[t->control[i]];
    return s;
}

/* Row j := how the slope changes with number j of state and controls. eq. (498) */
static tribo_status take_row(const tribo_trajopt *t, ti_planner *w, int knot, int j, double *row) {
    const ti_knot *k = &t->knot[knot];
    const double *x = ti_state_at(t, &t->best, knot), *u = ti_controls_at(t, &t->best, knot);
    int n = t->z.ndx, nc = t->nc;
    double step = STEP;
    memcpy(w->c, u, sizeof *u * (size_t)nc);
    memcpy(w->z, x, sizeof *x * (size_t)t->z.nx);
    if (j < n) {
        memset(w->bar, 0, sizeof(double) * (size_t)n);
        w->bar[j] = step;
        tribo_state_add(t->m, x, w->bar, w->z);
    } else {
        step *= 1 + fabs(u[j - n]);
        w->c[j - n] += step;
    }
    tribo_status s = reverse(t, w, w->z, w->c, k->lambda, w->slope);
    for (int i = 0; i < n + nc; i++) row[i] = (w->slope[i] - w->slope0[i]) / step;
    return s;
}

/* W (w,w), symmetric, := its part of eigenvalues above 0. eq. (498) */
static bool make_convex(ti_planner *p, int w, double *W) {
    double *V = p->vector, *value = p->value;
    memcpy(V, W, sizeof *W * (size_t)(w * w));
    if (LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'U', w, V, w, value, value + w, 3 * w)) return false;
    memset(W, 0, sizeof *W * (size_t)(w * w));
    for (int e = 0; e < w; e++) {
        const double *v = V + e * w; /* a column */
        for (int i = 0; i < w && value[e] > 0; i++)
            for (int j = 0; j < w; j++) W[i * w + j] += value[e] * v[i] * v[j];
    }
    return true;
}

/* s := from (x0,u0) in z0 to the knot's state and controls; y := how far [A B]' lambda has moved on the way. */
static void moved(const tribo_trajopt *t, int knot, const double *lambda, double *s, double *y) {
    const ti_knot *k = &t->knot[knot];
    const double *u = ti_controls_at(t, &t->best, knot);
    int n = t->z.ndx, nc = t->nc;
    tribo_state_difference(t->m, k->z0, ti_state_at(t, &t->best, knot), s);
    for (int i = 0; i < nc; i++) s[n + i] = u[i] - k->z0[t->z.nx + i];
    memset(y, 0, sizeof *y * (size_t)(n + nc));
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) y[i] += lambda[j] * (k->A[j * n + i] - k->A0[j * n + i]);
        for (int i = 0; i < nc; i++) y[n + i] += lambda[j] * (k->B[j * nc + i] - k->B0[j * nc + i]);
    }
}

/* How many times lambda0 lambda is, all but; 0 where it points elsewhere. */
static double times_of(int n, const double *lambda, const double *lambda0) {
    double both = 0, first = 0, square = 0, off = 0;
    for (int i = 0; i < n; i++) both += lambda[i] * lambda0[i], first += lambda0[i] * lambda0[i];
    if (!(both > 0)) return 0;
    double c = both / first;
    for (int i = 0; i < n; i++) {
        double d = lambda[i] - c * lambda0[i];
        off += d * d, square += lambda[i] * lambda[i];
    }
    return off <= STALE * STALE * square ? c : 0;
}

/* Whether what is known, which lambda scales, foretells what the Jacobians have become; then it counts so many times.
 * eq. (505) */
static bool still_holds(const tribo_trajopt *t, ti_planner *p, int knot) {
    ti_knot *k = &t->knot[knot];
    int n = t->z.ndx, w = n + t->nc;
    double off = 0, size = 0, *y = p->slope, c = k->known ? times_of(n, k->lambda, k->lambda0) : 0;
    if (!(c > 0)) return false;
    moved(t, knot, k->lambda, p->s, y);
    for (int i = 0; i < w; i++) {
        double e = y[i];
        for (int j = 0; j < w; j++) e -= c * k->whole[i * w + j] * p->s[j];
        off += e * e, size += y[i] * y[i];
    }
    if (!(off <= STALE * STALE * size)) return false;
    k->times = c;
    return true;
}

/* What `bent` is found at. */
static void note(const tribo_trajopt *t, int knot, ti_knot *k) {
    size_t n = (size_t)t->z.ndx, nc = (size_t)t->nc, nx = (size_t)t->z.nx, d = sizeof(double);
    memcpy(k->z0, ti_state_at(t, &t->best, knot), d * nx);
    memcpy(k->z0 + nx, ti_controls_at(t, &t->best, knot), d * nc);
    memcpy(k->lambda0, k->lambda, d * n), memcpy(k->A0, k->A, d * n * n), memcpy(k->B0, k->B, d * n * nc);
    k->known = true, k->times = 1;
}

/* slope := [A B]' lambda of the knot itself, by its Jacobians. */
static void slope_of(const tribo_trajopt *t, const ti_knot *k, double *slope) {
    int n = t->z.ndx, nc = t->nc;
    memset(slope, 0, sizeof *slope * (size_t)(n + nc));
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) slope[i] += k->lambda[j] * k->A[j * n + i];
        for (int i = 0; i < nc; i++) slope[n + i] += k->lambda[j] * k->B[j * nc + i];
    }
}

static tribo_status bend_knot(int worker, int knot, void *context) {
    tribo_trajopt *t = context;
    ti_planner *p = &t->planner[worker];
    ti_knot *k = &t->knot[knot];
    int w = t->z.ndx + t->nc;
    double *W = k->whole;
    size_t bytes = sizeof *W * (size_t)(w * w);
    if ((t->stop && *t->stop) || still_holds(t, p, knot)) return TRIBO_OK;
    tribo_ws_reset(p->lens ? p->lens : p->ws); /* the same whichever knot a worker had before */
    note(t, knot, k);
    slope_of(t, k, p->slope0);
    tribo_status s = TRIBO_OK;
    for (int j = 0; s >= 0 && j < w; j++) s = take_row(t, p, knot, j, W + j * w);
    for (int i = 0; s >= 0 && i < w; i++)
        for (int j = 0; j < i; j++) W[i * w + j] = W[j * w + i] = (W[i * w + j] + W[j * w + i]) / 2;
    bool found = s >= 0 && ti_finite(W, (size_t)(w * w));
    if (found) memcpy(k->bent, W, bytes);
    if (found && make_convex(p, w, k->bent)) return TRIBO_OK;
    memset(W, 0, bytes), memset(k->bent, 0, bytes); /* beside it a step fails: the models do without */
    return TRIBO_OK;
}

tribo_status ti_knots_bend(tribo_trajopt *t) {
    if (t->plant) return TRIBO_OK; /* it has no reverse */
    tribo_status s = ti_crew(t->nworker, t->knots, bend_knot, t);
    for (int i = 0; i < t->nworker; i++) tribo_ws_reset(t->planner[i].ws);
    return s >= 0 && t->stop && *t->stop ? TRIBO_INTERRUPTED : s;
}

void ti_knots_shift_bent(tribo_trajopt *t, int shift) {
    if (t->method != TRIBO_METHOD_NEWTON) return;
    for (int k = 0; k < t->knots; k++) {
        ti_knot *to = &t->knot[k], *from = k + shift < t->knots ? &t->knot[k + shift] : NULL;
        to->known = from && from->known;
        if (!to->known || shift == 0) continue;
        ti_knot was = *to;
        to->bent = from->bent, to->whole = from->whole, to->z0 = from->z0, to->lambda0 = from->lambda0;
        to->A0 = from->A0, to->B0 = from->B0, to->times = from->times;
        from->bent = was.bent, from->whole = was.whole, from->z0 = was.z0, from->lambda0 = was.lambda0;
        from->A0 = was.A0, from->B0 = was.B0;
    }
}
