/* lanes.h -- four or eight numbers at a time. */
#ifndef TI_LANES_H
#define TI_LANES_H
#include "base/clones.h"
#include <stddef.h>

typedef double vec4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long mask4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef double vec2 __attribute__((vector_size(16), aligned(8), may_alias));

typedef double vec8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef long long bits1 __attribute__((aligned(8), may_alias));

enum { LANE = 4 };
static inline int ti_lanes_padded(int n) {
    return (n + LANE - 1) & ~(LANE - 1);
}

/* to[0..n) = x[0..n) in whole lanes, with zeros beyond n */
TI_INLINE void ti_lanes_copy(int n, const double *x, double *to) {
    static const long long head[2 * LANE] = {-1, -1, -1, -1};
    int b = 0;
    for (; b + LANE <= n; b += LANE) *(vec4 *)(to + b) = *(const vec4 *)(x + b);
    if (b < n) *(mask4 *)(to + b) = *(const mask4 *)(x + b) & *(const mask4 *)(head + b + LANE - n);
}

/* x[0..n) *= s, in whole lanes */
TI_INLINE void ti_lanes_scale(int n, double s, double *x) {
    for (int b = 0; b < n; b += LANE) *(vec4 *)(x + b) *= s;
}

TI_INLINE double ti_lanes_sum(const vec4 *x) {
    return ((*x)[0] + (*x)[2]) + ((*x)[1] + (*x)[3]);
}

/* to[0..n) += s x[0..n), in whole lanes */
TI_INLINE void ti_lanes_add(int n, double s, const double *x, double *to) {
    for (int b = 0; b < n; b += LANE) *(vec4 *)(to + b) += s * *(const vec4 *)(x + b);
}

/* Where rows of A, ld apart, have eight numbers that are not all zero, of [from, end). @return how many there are */
TI_INLINE int ti_lanes_rows(const double *A, int ld, int from, int end, int *list) {
    int n = 0;
    for (int i = from; i < end; i++) {
        const bits1 *x = (const bits1 *)(const void *)(A + (size_t)i * (size_t)ld);
        list[n] = i, n += (x[0] | x[1] | x[2] | x[3] | x[4] | x[5] | x[6] | x[7]) != 0;
    }
    return n;
}

/* Of so many numbers at most is a list of those made at once. */
enum { TI_LISTED = 64 };

#endif
