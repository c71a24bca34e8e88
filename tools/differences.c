/* differences.c -- Richardson extrapolation over a wide range of steps, from both sides and from one. */
#include "differences.h"
#include <math.h>

enum { HALVINGS = 30 };

/* Remembers the extrapolation that its neighbours confirm best; of those confirmed to `enough` the one of the shortest
 * steps, since the slope is that at 0 and not the one beyond a kink close by. */
typedef struct search {
    double last[2]; /* the two extrapolations before */
    double value, noise, enough;
    int n;
} search;

static void consider(search *s, double x) {
    double spread = fabs(x - s->last[0]) + fabs(s->last[0] - s->last[1]);
    if (s->n >= 2 && (spread < s->noise || spread <= s->enough || s->noise != s->noise))
        s->value = s->last[0], s->noise = spread;
    s->last[1] = s->last[0], s->last[0] = x;
    s->n++;
}

static search new_search(double enough) {
    return (search){.value = (double)NAN, .noise = (double)NAN, .enough = enough};
}

/* One side: f(h)/h has errors in every power of h; the first two are removed. Where f is not defined on this side, all
 * is NaN. Ends as soon as three in a row confirm what is expected: a function that bends close by, as at a penetration
 * of a nanometre, is smooth only there, and the longer steps agree better on nothing. */
static search one_side(const double *quotient, double expected, double tol) {
    search s = new_search(0.1 * tol);
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

static difference_side side_of(const double *quotient, double expected, double tol) {
    search s = one_side(quotient, expected, tol);
    return (difference_side){s.value, s.noise, jumps(quotient, tol)};
}

static bool has_slope(const difference_side *s) {
    return isfinite(s->slope) && !s->jump;
}

/* The number next to x in the interval of a and b. */
static double between(double x, double a, double b) {
    double least = fmin(a, b), most = fmax(a, b);
    return x < least ? least : x > most ? most : x;
}

/* Whether central differences say what a side says. */
static bool confirms(const search *both, const difference_side *s) {
    return fabs(both->value - s->slope) <= both->noise + s->noise;
}

/* Two sides with one slope: of central differences and the two sides that is taken which is known best. */
static difference_side best_of(const search *both, const difference_side *a, const difference_side *b) {
    const difference_side *side = a->noise < b->noise ? a : b;
    bool central = both->noise < side->noise && confirms(both, a) && confirms(both, b);
    return central ? (difference_side){both->value, both->noise, false} : *side;
}

static void settle(difference *d, const search *both, double expected, double tol) {
    const difference_side *a = &d->above, *b = &d->below;
    d->jump = a->jump || b->jump;
    if (!has_slope(a) && !has_slope(b)) return;
    difference_side best = has_slope(a) ? *a : *b;
    if (has_slope(a) && has_slope(b)) {
        double noise = a->noise + b->noise;
        d->kink = fabs(a->slope - b->slope) > tol + noise;
        best = d->kink ? (difference_side){between(expected, a->slope, b->slope), noise, false} : best_of(both, a, b);
    }
    d->value = best.slope, d->noise = best.noise;
}

difference differentiate(difference_function f, void *context, double h, double expected, double tol) {
    double plus[HALVINGS], minus[HALVINGS], before = (double)NAN, odd = (double)NAN, zero = f(context, 0);
    search both = new_search(0);
    for (int k = 0; k < HALVINGS; k++, h /= 2) {
        plus[k] = (f(context, h) - zero) / h;
        minus[k] = (zero - f(context, -h)) / h;
        double central = (plus[k] + minus[k]) / 2, last = odd;
        odd = fabs(plus[k] - minus[k]);
        if (k > 0) consider(&both, (4 * central - before) / 3);
        before = central;
        /* Confirmed by three extrapolations in a row: no need to go on, unless the two sides do not come together. */
        bool together = odd <= tol || odd <= 0.75 * last;
        if (together && both.noise <= tol && fabs(both.value - expected) <= tol) {
            difference_side side = {both.value, both.noise, false};
            return (difference){.above = side, .below = side, .value = both.value, .noise = both.noise};
        }
    }
    difference d = {.value = both.value, .noise = both.noise};
    d.above = side_of(plus, expected, tol), d.below = side_of(minus, expected, tol);
    settle(&d, &both, expected, tol);
    return d;
}
