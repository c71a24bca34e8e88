/* order.h -- orders in which quaternions are written, by number: 0 that of a state, 1 = x y z w, 2 = of the inverse
 * rotation, 3 = both. */
#ifndef TI_ORDER_H
#define TI_ORDER_H
#include <stdbool.h>

enum { TI_ORDERS = 4, TI_ORDER_LAST_IS_REAL = 1, TI_ORDER_INVERSE = 2 };

static inline int ti_order_of(bool last_is_real, bool inverse) {
    return (last_is_real ? TI_ORDER_LAST_IS_REAL : 0) + (inverse ? TI_ORDER_INVERSE : 0);
}

/* In words, of one that is not a state's. */
static inline const char *ti_order_words(int order) {
    static const char *const words[TI_ORDERS] = {"", "x y z w", "of the inverse rotation, world to body",
                                                 "x y z w, and of the inverse rotation"};
    return words[order];
}

/* A quaternion of that order, as a state has it. */
static inline void ti_reorder(double *q, int order) {
    bool last_is_real = order & TI_ORDER_LAST_IS_REAL, inverse = order & TI_ORDER_INVERSE;
    double w = last_is_real ? q[3] : q[0];
    for (int i = 3; last_is_real && i > 0; i--) q[i] = q[i - 1];
    q[0] = w;
    for (int i = 1; inverse && i < 4; i++) q[i] = -q[i];
}

#endif
