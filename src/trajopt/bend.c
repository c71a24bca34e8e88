/* bend.c -- the second derivative of the dynamics at every knot, by differences of reverses, made convex.
 * docs/math.md eq. (498). */
#include "base/crew.h"
#include "trajopt/task.h"
#include <lapacke.h>

static const double STEP = 1e-5; /* of a number of the state; of a control beside its size */

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

static tribo_status bend_knot(int worker, int knot, void *context) {
    tribo_trajopt *t = context;
    ti_planner *p = &t->planner[worker];
    const ti_knot *k = &t->knot[knot];
    int w = t->z.ndx + t->nc;
    double *W = k->bent;
    if (t->stop && *t->stop) return TRIBO_OK;
    tribo_ws_reset(p->lens ? p->lens : p->ws); /* the same whichever knot a worker had before */
    tribo_status s =
        reverse(t, p, ti_state_at(t, &t->best, knot), ti_controls_at(t, &t->best, knot), k->lambda, p->slope0);
    for (int j = 0; s >= 0 && j < w; j++) s = take_row(t, p, knot, j, W + j * w);
    for (int i = 0; s >= 0 && i < w; i++)
        for (int j = 0; j < i; j++) W[i * w + j] = W[j * w + i] = (W[i * w + j] + W[j * w + i]) / 2;
    bool found = s >= 0 && ti_finite(W, (size_t)(w * w)) && make_convex(p, w, W);
    if (!found) memset(W, 0, sizeof *W * (size_t)(w * w)); /* beside it a step fails: the models do without */
    return TRIBO_OK;
}

tribo_status ti_knots_bend(tribo_trajopt *t) {
    if (t->plant) return TRIBO_OK; /* it has no reverse */
    tribo_status s = ti_crew(t->nworker, t->knots, bend_knot, t);
    for (int i = 0; i < t->nworker; i++) tribo_ws_reset(t->planner[i].ws);
    return s >= 0 && t->stop && *t->stop ? TRIBO_INTERRUPTED : s;
}
