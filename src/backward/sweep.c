/* sweep.c -- the reverse of a whole tape, record by record. */
#include "backward/backward.h"

tribo_status tribo_backward(tribo_ws *ws, const tribo_tape *tape, const double *lx, double *x0_bar, double *u_bar,
                            double *p_bar) {
    if (!ws || !tape || !lx) return TRIBO_E_ARG;
    size_t ndx = (size_t)ws->model->size.ndx, nu = (size_t)ws->model->size.nu;
    double *bar = ws->scratch->sweep[0], *next = ws->scratch->sweep[1];
    int T = tribo_tape_steps(tape);
    memcpy(bar, lx + (size_t)T * ndx, ndx * sizeof *bar);
    for (int k = T - 1; k >= 0; k--) {
        memcpy(next, lx + (size_t)k * ndx, ndx * sizeof *next);
        tribo_status s = tribo_step_vjp(ws, tape, k, bar, next, u_bar ? u_bar + (size_t)k * nu : NULL, p_bar);
        if (s < 0) return s;
        double *swap = bar;
        bar = next, next = swap;
    }
    for (size_t i = 0; x0_bar && i < ndx; i++) x0_bar[i] += bar[i];
    return TRIBO_OK;
}
