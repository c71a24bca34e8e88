/* pyramid.h -- the regular polygon that the friction pyramid is cut through in, scaled by `size`. docs/math.md eq.
 * (90). */
#ifndef TI_PYRAMID_H
#define TI_PYRAMID_H
#include "contact/law/law.h"
#include <math.h>

/* Where the nearest point of the polygon is: itself, on edge k, at vertex k. */
enum { TI_INSIDE = 0 };
static inline int ti_edge(int k) {
    return 1 + k;
}
static inline int ti_vertex(const ti_pyramid *y, int k) {
    return 1 + y->n + k;
}

/* Across edge k, outwards, and along it, counterclockwise. */
static inline double ti_across(const ti_pyramid *y, int k, const double *t) {
    return y->e[k][0] * t[0] + y->e[k][1] * t[1];
}
static inline double ti_along(const ti_pyramid *y, int k, const double *t) {
    return y->e[k][0] * t[1] - y->e[k][1] * t[0];
}

/* The k for which t is between vertices k and k + 1, by bisection, first of the whole turn, then of what is within half
 * a turn of the middle: next to a vertex rounding may take the one sector or the other, but none else. */
static inline int ti_sector(const ti_pyramid *y, const double *t) {
    int mid = y->n / 2, low = mid, high = y->n;
    const double *d = y->d[0], *m = y->d[mid];
    if (d[0] * t[1] - d[1] * t[0] >= 0 && m[0] * t[1] - m[1] * t[0] < 0) low = 0, high = mid;
    while (high - low > 1) {
        mid = (low + high) / 2, m = y->d[mid];
        if (m[0] * t[1] - m[1] * t[0] < 0)
            high = mid;
        else
            low = mid;
    }
    return low;
}

/* Whether t is in it. Few edges are looked at one by one, without a branch. */
static inline bool ti_inside(const ti_pyramid *y, double size, const double *t) {
    double most = 0;
    if (y->n > 8) return ti_across(y, ti_sector(y, t), t) <= size * y->apothem;
    for (int k = 0; k < y->n; k++) {
        double x = ti_across(y, k, t);
        most = x > most ? x : most;
    }
    return most <= size * y->apothem;
}

/* A polygon of no size has vertices still: the one that a little of it would be nearest with. */
static inline int ti_part(const ti_pyramid *y, double size, const double *t) {
    if (size > 0 && ti_inside(y, size, t)) return TI_INSIDE;
    int k = ti_sector(y, t);
    double side = ti_along(y, k, t);
    if (size > 0 && fabs(side) <= size * y->half) return ti_edge(k);
    return ti_vertex(y, side < 0 ? k : k + 1 < y->n ? k + 1 : 0);
}

/* p := the point of that part nearest to t */
static inline void ti_nearest(const ti_pyramid *y, double size, int part, const double *t, double *p) {
    if (part == TI_INSIDE) {
        p[0] = t[0], p[1] = t[1];
    } else if (part <= y->n) {
        const double *e = y->e[part - 1];
        double a = size * y->apothem, b = ti_along(y, part - 1, t);
        p[0] = a * e[0] - b * e[1], p[1] = a * e[1] + b * e[0];
    } else {
        const double *d = y->d[part - 1 - y->n];
        p[0] = size * d[0], p[1] = size * d[1];
    }
}

#endif
