/* gradients.h -- reverse, forward and differences of one step or a rollout against each other. */
#ifndef TEST_GRADIENTS_H
#define TEST_GRADIENTS_H
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/grad.h>

typedef struct grad_case {
    tribo_model *m;
    tribo_ws *ws;
    tribo_tape *tape;
    tribo_sizes n;
    double *p, *x, *u, *w; /* u (T,nu); w (ndx) weights of the last state */
    int T;
} grad_case;

static inline double test_random(unsigned *state) { /* in (-1, 1) */
    *state = *state * 1664525u + 1013904223u;
    return ((double)(*state >> 8) + 0.5) / 8388608.0 - 1;
}

static inline double *test_zeros(int n) {
    return calloc((size_t)(n > 0 ? n : 1), sizeof(double));
}

static inline grad_case grad_case_new(tribo_model *m, const tribo_options *o, int T) {
    grad_case g = {.m = m, .n = tribo_model_sizes(m), .T = T};
    ck_assert_int_eq(tribo_ws_new(m, o, NULL, &g.ws), TRIBO_OK);
    ck_assert_int_eq(tribo_tape_new(g.ws, T, 0, &g.tape), TRIBO_OK);
    g.p = test_zeros(g.n.np), g.x = test_zeros(g.n.nx), g.u = test_zeros(g.n.nu * T), g.w = test_zeros(g.n.ndx);
    tribo_model_params(m, g.p);
    tribo_model_state0(m, g.x);
    unsigned seed = 7;
    for (int i = 0; i < g.n.ndx; i++) g.w[i] = test_random(&seed);
    return g;
}

static inline void grad_case_free(grad_case *g) {
    tribo_tape_free(g->tape), tribo_ws_free(g->ws), tribo_model_free(g->m);
    free(g->p), free(g->x), free(g->u), free(g->w);
}

/* L = w' (x_T (-) base), a function that is smooth in the state. */
static inline double grad_loss(grad_case *g, const double *p, const double *x0, const double *u, const double *base) {
    double *X = test_zeros(g->n.nx * (g->T + 1)), *d = test_zeros(g->n.ndx), L = 0;
    int s = tribo_rollout(g->ws, p, x0, g->T, u, X, NULL);
    ck_assert_msg(s >= 0, "rollout: %s", tribo_status_text((tribo_status)s));
    tribo_state_difference(g->m, base, X + g->n.nx * g->T, d);
    for (int i = 0; i < g->n.ndx; i++) L += g->w[i] * d[i];
    free(X), free(d);
    return L;
}

/* L with entry i of a block (state, control, parameters) moved by e. */
static inline double grad_moved(grad_case *g, const double *base, int block, int i, double e) {
    double *x = test_zeros(g->n.nx), *dx = test_zeros(g->n.ndx);
    memcpy(x, g->x, sizeof(double) * (size_t)g->n.nx);
    if (block == 0) dx[i] = e, tribo_state_add(g->m, g->x, dx, x);
    double *at = block == 1 ? g->u + i : block == 2 ? g->p + i : dx + i, keep = *at;
    *at += e;
    double L = grad_loss(g, g->p, x, g->u, base);
    *at = keep;
    free(x), free(dx);
    return L;
}

/* A difference quotient with an error of order h^4, or one-sided of h^2 at a lower bound. */
static inline double grad_difference(grad_case *g, const double *base, int block, int i, double h, bool one_sided) {
#define AT(e) grad_moved(g, base, block, i, e)
    if (one_sided) return (-3 * AT(0) + 4 * AT(h) - AT(2 * h)) / (2 * h);
    return (8 * (AT(h / 2) - AT(-h / 2)) - (AT(h) - AT(-h))) / (6 * h);
#undef AT
}

/* Worst difference of each block (state, control, parameters), relative to the largest entry of the block. */
static inline void grad_check(grad_case *g, double h, double *worst, bool verbose) {
    double *X = test_zeros(g->n.nx * (g->T + 1)), *lx = test_zeros(g->n.ndx * (g->T + 1));
    int size[3] = {g->n.ndx, g->n.nu * g->T, g->n.np};
    double *bar[3];
    for (int k = 0; k < 3; k++) bar[k] = test_zeros(size[k]);
    tribo_tape_rewind(g->tape);
    int s = tribo_rollout(g->ws, g->p, g->x, g->T, g->u, X, g->tape);
    ck_assert_msg(s >= 0, "rollout: %s", tribo_status_text((tribo_status)s));
    memcpy(lx + g->n.ndx * g->T, g->w, sizeof(double) * (size_t)g->n.ndx);
    ck_assert_int_eq(tribo_backward(g->ws, g->tape, lx, bar[0], bar[1], bar[2]), TRIBO_OK);
    for (int k = 0; k < 3; k++) {
        double scale = 1e-6, err = 0; /* a block of zeros is compared with that */
        for (int i = 0; i < size[k]; i++) scale = fmax(scale, fabs(bar[k][i]));
        for (int i = 0; i < size[k]; i++) {
            tribo_param_info info = {.used = true};
            if (k == 2) ck_assert_int_eq(tribo_param_describe(g->m, i, &info), TRIBO_OK);
            if (!info.used) continue;
            double fd =
                grad_difference(g, X + g->n.nx * g->T, k, i, k == 1 ? 1e3 * h : h, k == 2 && g->p[i] <= info.lower);
            double e = fabs(fd - bar[k][i]) / scale;
            if (verbose && e > 1e-6)
                printf("block %d entry %d %s: reverse %.12g difference %.12g\n", k, i, k == 2 ? info.name : "",
                       bar[k][i], fd);
            if (!(e <= err)) err = e;
        }
        worst[k] = err;
    }
    for (int k = 0; k < 3; k++) free(bar[k]);
    free(X), free(lx);
}

#endif
