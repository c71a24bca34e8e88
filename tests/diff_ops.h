/* diff_ops.h -- one row a differentiable function, and how each is checked.
 *
 * An op is a function of a vector of numbers around a point it draws itself: d = 0 is that point, rotations are
 * rotation vectors there. Derivatives are taken at d = 0. Every differentiable function of the library has a row in
 * test_diff_ops.c; rollouts, which need their own care at kinks, are in test_gradients.c.
 */
#ifndef TEST_DIFF_OPS_H
#define TEST_DIFF_OPS_H
#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { OP_IN = 112, OP_OUT = 48, OP_MODES = 8 };

typedef struct diff_op {
    const char *name;
    int nin, nout;
    int modes;                   /* how many kinds of point there are, each to be met; 1 = it has no modes */
    double step, tol;            /* of the longest difference; on the relative error */
    bool (*draw)(unsigned seed); /* choose a point; false = not a usable one */
    int (*value)(const double *d, double *out);        /* its mode; < 0 = none */
    void (*jvp)(const double *d_dot, double *out_dot); /* NULL = there is no forward mode */
    void (*vjp)(const double *out_bar, double *d_bar); /* overwrites */
} diff_op;

static inline double op_random(unsigned *state) { /* in (-1, 1) */
    *state = *state * 1664525u + 1013904223u;
    return ((double)(*state >> 8) + 0.5) / 8388608.0 - 1;
}

/* w . (f(h d) - f(-h d)) / 2h; NaN if the mode is another there. */
static inline double op_quotient(const diff_op *op, const double *d, const double *w, double h, int mode) {
    double x[OP_IN], plus[OP_OUT], minus[OP_OUT], q = 0;
    for (int i = 0; i < op->nin; i++) x[i] = h * d[i];
    if (op->value(x, plus) != mode) return (double)NAN;
    for (int i = 0; i < op->nin; i++) x[i] = -h * d[i];
    if (op->value(x, minus) != mode) return (double)NAN;
    for (int i = 0; i < op->nout; i++) q += w[i] * (plus[i] - minus[i]);
    return q / (2 * h);
}

/* One direction at the drawn point: three derivatives of w . f along d against each other. @return false at a kink. */
static inline bool op_direction(const diff_op *op, int mode, unsigned *seed, double *worst, double *worst_dot) {
    double d[OP_IN], w[OP_OUT], out_dot[OP_OUT] = {0}, d_bar[OP_IN] = {0}, q[3], forward = 0, reverse = 0, size = 0;
    for (int i = 0; i < op->nin; i++) d[i] = op_random(seed);
    for (int i = 0; i < op->nout; i++) w[i] = op_random(seed);
    for (int k = 0; k < 3; k++) q[k] = op_quotient(op, d, w, op->step / (1 << k), mode);
    double first = (4 * q[1] - q[0]) / 3, second = (4 * q[2] - q[1]) / 3, exact = (16 * second - first) / 15;
    if (!isfinite(exact)) return false;
    op->vjp(w, d_bar);
    for (int i = 0; i < op->nin; i++) reverse += d_bar[i] * d[i], size += fabs(d_bar[i] * d[i]);
    ck_assert_msg(size > 1e-9, "%s: a derivative of zero says nothing", op->name);
    *worst = fmax(*worst, fabs(reverse - exact) / size);
    if (!isfinite(reverse)) *worst = INFINITY;
    if (!op->jvp) return true;
    op->jvp(d, out_dot);
    for (int i = 0; i < op->nout; i++) forward += w[i] * out_dot[i];
    *worst_dot = fmax(*worst_dot, fabs(reverse - forward) / size);
    if (!isfinite(forward)) *worst_dot = INFINITY;
    return true;
}

/* Enough points for every mode to be met several times. */
static inline void op_check(const diff_op *op) {
    enum { POINTS = 60, EACH = 3 };
    double zero[OP_IN] = {0}, out[OP_OUT], worst = 0, worst_dot = 0;
    int met[OP_MODES] = {0}, checked = 0;
    ck_assert(op->nin <= OP_IN && op->nout <= OP_OUT && op->modes <= OP_MODES);
    for (unsigned point = 1; point <= POINTS; point++) {
        unsigned seed = point * 2654435761u;
        if (!op->draw(seed)) continue;
        int mode = op->value(zero, out);
        if (mode < 0) continue;
        ck_assert_int_lt(mode, op->modes);
        for (int k = 0; k < 3; k++)
            if (op_direction(op, mode, &seed, &worst, &worst_dot)) met[mode]++, checked++;
    }
    printf("%-16s %3d -> %2d: %3d directions, worst %.1e, forward and reverse %.1e; by mode", op->name, op->nin,
           op->nout, checked, worst, worst_dot);
    for (int k = 0; k < op->modes; k++) printf(" %d", met[k]);
    printf("\n");
    for (int k = 0; k < op->modes; k++) ck_assert_msg(met[k] >= EACH, "%s: mode %d met %d times", op->name, k, met[k]);
    ck_assert_msg(worst <= op->tol, "%s: reverse and differences differ by %g", op->name, worst);
    ck_assert_msg(worst_dot <= 1e-12 || worst_dot <= 1e-2 * op->tol, "%s: forward and reverse differ by %g", op->name,
                  worst_dot);
}

#endif
