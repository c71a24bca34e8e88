/* differences.c -- Richardson extrapolation over a wide range of steps, from both sides and from one. */
#include "differences.h"
#include <math.h>

enum { HALVINGS = 30 };

/* Remembers the extrapolation that its neighbours confirm best. */
typedef struct search {
    double last[2]; /* the two extrapolations before */
    double value, noise;
    int n;
} search;

static void consider(search *s, double x) {
    double spread = fabs(x - s->last[0]) + fabs(s->last[0] - s->last[1]);
    if (s->n >= 2 && (spread < s->noise || s->noise != s->noise)) s->value = s->last[0], s->noise = spread;
    s->last[1] = s->last[0], s->last[0] = x;
    s->n++;
}

static search new_search(void) {
    return (search){.value = (double)NAN, .noise = (double)NAN};
}

/* One side: f(h)/h has errors in every power of h; the first two are removed. Where f is not defined on this side, all
 * is NaN. Ends as soon as three in a row confirm what is expected: a function that bends close by, as at a penetration
 * of a nanometre, is smooth only there, and the longer steps agree better on nothing. */
static search one_side(const double *quotient, double expected, double tol) {
    search s = new_search();
    for (int k = 0; k + 2 < HALVINGS; k++) {
        double first = 2 * quotient[k + 1] - quotient[k], second = 2 * quotient[k + 2] - quotient[k + 1];
        consider(&s, (4 * second - first) / 3);
        double spread = fabs(s.last[0] - s.last[1]); /* of the last two */
        if (k > 1 && spread <= tol && fabs(s.last[0] - expected) <= tol && fabs(s.last[1] - expected) <= tol)
            return (search){.value = s.last[0], .noise = spread};
    }
    return s;
}

/* Does f stay away from f(0) however small the step? f(h)/h then doubles as h is halved, to the end. What is no more
 * than tol at the longest step is rounding. */
static bool jumps(const double *quotient, double tol) {
    for (int k = HALVINGS - 4; k < HALVINGS; k++)
        if (!(fabs(quotient[k] / quotient[k - 1] - 2) < 1e-2)) return false;
    return fabs(quotient[HALVINGS - 1]) > tol * ldexp(1, HALVINGS - 1);
}

difference differentiate(difference_function f, void *context, double h, double expected, double tol) {
    double plus[HALVINGS], minus[HALVINGS], before = (double)NAN, zero = f(context, 0);
    search both = new_search();
    for (int k = 0; k < HALVINGS; k++, h /= 2) {
        plus[k] = (f(context, h) - zero) / h;
        minus[k] = (zero - f(context, -h)) / h;
        double central = (plus[k] + minus[k]) / 2;
        if (k > 0) consider(&both, (4 * central - before) / 3);
        before = central;
        /* Confirmed by three extrapolations in a row: no need to go on. */
        if (both.noise <= tol && fabs(both.value - expected) <= tol)
            return (difference){.value = both.value, .noise = both.noise};
    }
    difference d = {.value = both.value, .noise = both.noise};
    if (fabs(both.value - expected) <= tol + both.noise) return d;
    /* As far as both sides agree that is the derivative; else each has its own. */
    search sides[2] = {one_side(plus, expected, tol), one_side(minus, expected, tol)};
    const double *quotients[2] = {plus, minus};
    int defined = 0, jumping = 0;
    for (int i = 0; i < 2; i++) {
        bool jump = jumps(quotients[i], tol);
        defined += isfinite(sides[i].value);
        jumping += jump;
        if (!jump && (fabs(sides[i].value - expected) <= tol + sides[i].noise || d.value != d.value))
            d = (difference){.value = sides[i].value, .noise = sides[i].noise};
    }
    d.kink = defined == 2;
    d.jump = defined && jumping == defined;
    return d;
}
