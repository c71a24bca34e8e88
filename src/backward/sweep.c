/* sweep.c -- the reverse of a whole tape, record by record. docs/math.md eq. (63). */
#include "backward/backward.h"
#include "base/clones.h"

TI_CLONES static void add(int n, const double *restrict from, double *restrict to) {
    for (int i = 0; i < n; i++) to[i] += from[i];
}

void ti_sweep_begin(ti_sweep *s, tribo_ws *ws, const double *lx, bool params) {
    const tribo_sizes *n = &ws->model->size;
    *s = (ti_sweep){.ws = ws, .params = params};
    memcpy(ws->scratch->bar, lx, sizeof *lx * (size_t)n->ndx);
    if (params) memset(ws->scratch->p_sum, 0, sizeof *lx * (size_t)n->np);
}

void ti_sweep_over(ti_sweep *s, const tribo_tape *tape, int k, const double *lx, const double *impulse_bar,
                   double *u_bar) {
    const tribo_sizes *n = &s->ws->model->size;
    double *bar = s->ws->scratch->bar, *p_sum = s->ws->scratch->p_sum;
    ti_record_bar one;
    ti_tape_expect(tape, k - 1);
    tribo_status status = ti_record_reverse(s->ws, tape, k, &(ti_seed_bar){bar, impulse_bar}, s->params, &one);
    s->worst = ti_graver(s->worst, status);
    for (int i = 0; i < n->ndx; i++) bar[i] = lx[i] + one.x[i];
    for (int i = 0; u_bar && i < n->nu; i++) u_bar[i] += one.u[i];
    if (s->params) add(n->np, one.p, p_sum);
}

tribo_status ti_sweep_end(ti_sweep *s, double *x0_bar, double *p_bar) {
    const tribo_sizes *n = &s->ws->model->size;
    const ti_scratch *from = s->ws->scratch;
    for (int i = 0; x0_bar && i < n->ndx; i++) x0_bar[i] += from->bar[i];
    for (int i = 0; p_bar && i < n->np; i++) p_bar[i] += from->p_sum[i];
    return s->worst;
}

/* Numbers of all records' impulses. */
static size_t impulses_of(const tribo_tape *tape) {
    size_t n = 0;
    for (int k = 0; k < tribo_tape_steps(tape); k++) n += 3 * (size_t)tribo_tape_contacts(tape, k, NULL);
    return n;
}

tribo_status tribo_backward(tribo_ws *ws, const tribo_tape *tape, const double *lx, double *x0_bar, double *u_bar,
                            double *p_bar) {
    return tribo_backward_impulses(ws, tape, lx, NULL, x0_bar, u_bar, p_bar);
}

tribo_status tribo_backward_impulses(tribo_ws *ws, const tribo_tape *tape, const double *lx, const double *impulse_bar,
                                     double *x0_bar, double *u_bar, double *p_bar) {
    if (!ws || !tape || !lx) return TRIBO_E_ARG;
    tribo_status status = ti_tape_fits(tape, ws);
    if (status != TRIBO_OK) return status;
    size_t ndx = (size_t)ws->model->size.ndx, nu = (size_t)ws->model->size.nu, T = (size_t)tribo_tape_steps(tape);
    size_t at = impulse_bar ? impulses_of(tape) : 0;
    if (!ti_finite(lx, (T + 1) * ndx) || !ti_finite(impulse_bar, at)) return TRIBO_E_NONFINITE;
    ti_sweep s;
    ti_sweep_begin(&s, ws, lx + T * ndx, p_bar != NULL);
    for (size_t k = T; k-- > 0;) {
        if (impulse_bar) at -= 3 * (size_t)tribo_tape_contacts(tape, (int)k, NULL);
        ti_sweep_over(&s, tape, (int)k, lx + k * ndx, impulse_bar ? impulse_bar + at : NULL,
                      u_bar ? u_bar + k * nu : NULL);
    }
    return ti_sweep_end(&s, x0_bar, p_bar);
}
