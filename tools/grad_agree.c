/* grad_agree.c -- see grad_agree.h. */
#include "grad_agree.h"
#include "base/base.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

double grad_random(uint64_t *seed) {
    uint64_t z = ti_mix(*seed += 0x9e3779b97f4a7c15u);
    return (double)(z >> 11) * 0x1p-52 - 1;
}

enum { KINDS = 6 }; /* positions, rotations, velocities, spins, forces, torques */

/* Cut out of one block: a tangent and where it goes by each way, a cotangent and where that goes. */
typedef struct ways {
    int ndx, nu, np;
    double *x, *u, *p;             /* a random tangent */
    double *xk, *uk;               /* (KINDS,ndx), (KINDS,nu) what of x and u is of one kind */
    double *all, *state;           /* (ndx), (KINDS,ndx) images */
    double *bar;                   /* (ndx) a random cotangent */
    double *x_bar, *u_bar, *p_bar; /* and its image */
    double *A, *B;
} ways;

static bool carve(ways *w, double **memory) {
    size_t ndx = (size_t)w->ndx, nu = (size_t)w->nu, np = (size_t)w->np;
    const struct {
        double **array;
        size_t n;
    } arrays[] = {{&w->x, ndx},
                  {&w->u, nu},
                  {&w->p, np},
                  {&w->xk, KINDS * ndx},
                  {&w->uk, KINDS * nu},
                  {&w->all, ndx},
                  {&w->state, KINDS * ndx},
                  {&w->bar, ndx},
                  {&w->x_bar, ndx},
                  {&w->u_bar, nu},
                  {&w->p_bar, np},
                  {&w->A, ndx * ndx},
                  {&w->B, ndx * nu}};
    size_t total = 1, at = 0;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) total += arrays[i].n;
    *memory = calloc(total, sizeof **memory);
    if (!*memory) return false;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i].array = *memory + at;
        at += arrays[i].n;
    }
    return true;
}

static void draw(ways *w, const double *sizes, uint64_t *seed) {
    for (int i = 0; i < w->ndx; i++) w->x[i] = sizes[i] * grad_random(seed), w->bar[i] = grad_random(seed);
    for (int i = 0; i < w->nu; i++) w->u[i] = sizes[w->ndx + i] * grad_random(seed);
    for (int i = 0; i < w->np; i++) w->p[i] = grad_random(seed);
    memset(w->x_bar, 0, (size_t)w->ndx * sizeof(double));
    memset(w->u_bar, 0, (size_t)w->nu * sizeof(double));
    memset(w->p_bar, 0, (size_t)w->np * sizeof(double));
}

/* sum += a . b, size += |a| . |b| */
static void add_products(int n, const double *a, const double *b, double *sum, double *size) {
    for (int i = 0; i < n; i++) *sum += a[i] * b[i], *size += fabs(a[i] * b[i]);
}

static double beside_reverse(const ways *w) {
    double there = 0, back = 0, size = 0;
    add_products(w->ndx, w->bar, w->all, &there, &size);
    add_products(w->ndx, w->x_bar, w->x, &back, &size);
    add_products(w->nu, w->u_bar, w->u, &back, &size);
    add_products(w->np, w->p_bar, w->p, &back, &size);
    return there == back ? 0 : fabs(there - back) / size;
}

/* Of a kind. In natural units, as every derivative of one kind of argument carries the rounding of the largest. Where
 * all is held nothing moves but by rounding: that is compared with what moves a little. */
static double beside_jacobian(const ways *w, const double *sizes, int kind) {
    static const double little = 1e-4;
    const double *x = w->xk + (size_t)kind * (size_t)w->ndx, *u = w->uk + (size_t)kind * (size_t)w->nu;
    const double *state = w->state + (size_t)kind * (size_t)w->ndx;
    double off = 0, size = little;
    for (int i = 0; i < w->ndx; i++) {
        const double *a = w->A + (size_t)i * (size_t)w->ndx, *b = w->B + (size_t)i * (size_t)w->nu;
        double product = 0;
        for (int j = 0; j < w->ndx; j++) product += a[j] * x[j];
        for (int j = 0; j < w->nu; j++) product += b[j] * u[j];
        off = ti_max(off, fabs(product - state[i]) / sizes[i]);
        size = ti_max(size, ti_max(fabs(state[i]), fabs(product)) / sizes[i]);
    }
    return off == 0 ? 0 : off / size;
}

static void split(const tribo_model *m, ways *w) {
    memset(w->xk, 0, KINDS * (size_t)w->ndx * sizeof(double));
    memset(w->uk, 0, KINDS * (size_t)w->nu * sizeof(double));
    for (int i = 0; i < w->ndx; i++)
        w->xk[(2 * (i >= w->ndx / 2) + tribo_model_turns(m, i % w->nu)) * w->ndx + i] = w->x[i];
    for (int i = 0; i < w->nu; i++) w->uk[(4 + tribo_model_turns(m, i)) * w->nu + i] = w->u[i];
}

static tribo_status step_ways(tribo_ws *ws, const tribo_tape *tape, int k, const double *sizes, ways *w,
                              double *reverse, double *jacobian) {
    split(tribo_ws_model(ws), w);
    tribo_status s = tribo_step_vjp(ws, tape, k, w->bar, w->x_bar, w->u_bar, w->p_bar);
    if (s >= 0) s = tribo_step_jvp(ws, tape, k, 1, w->x, w->u, w->p, w->all);
    if (s >= 0) s = tribo_step_jvp(ws, tape, k, KINDS, w->xk, w->uk, NULL, w->state);
    if (s >= 0) s = tribo_step_jac(ws, tape, k, w->A, w->B, NULL);
    *reverse = beside_reverse(w), *jacobian = 0;
    for (int kind = 0; kind < KINDS; kind++) *jacobian = ti_max(*jacobian, beside_jacobian(w, sizes, kind));
    return s;
}

tribo_status grad_agree(tribo_ws *ws, const tribo_model *m, const tribo_tape *tape, const double *sizes, uint64_t seed,
                        grad_agreement *out) {
    tribo_sizes n = tribo_model_sizes(m);
    ways w = {.ndx = n.ndx, .nu = n.nu, .np = n.np};
    double *memory = NULL;
    tribo_status s = carve(&w, &memory) ? TRIBO_OK : TRIBO_E_NOMEM;
    *out = (grad_agreement){0};
    for (int k = 0; s >= 0 && k < tribo_tape_steps(tape); k++) {
        draw(&w, sizes, &seed);
        double reverse, jacobian, before = ti_max(out->reverse, out->jacobian);
        s = step_ways(ws, tape, k, sizes, &w, &reverse, &jacobian);
        out->reverse = ti_max(out->reverse, reverse), out->jacobian = ti_max(out->jacobian, jacobian);
        if (!(ti_max(reverse, jacobian) <= before)) out->step = k;
    }
    free(memory);
    return s;
}
