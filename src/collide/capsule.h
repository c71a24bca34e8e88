/* capsule.h -- what the pairs with a capsule share. */
#ifndef TI_CAPSULE_H
#define TI_CAPSULE_H
#include "collide/pairs.h"
#include "collide/rod.h"

/* A sphere or a capsule as a rod. */
ti_rod ti_rod_of(const ti_shape *s);
/* The nine columns of the shape that `rod` is of, from `at` on; first: it is the first of the pair. */
void ti_rod_columns(const ti_rod *still, const ti_rod *rod, bool first, const ti_touch *t, int feature, int at,
                    ti_touch_jac J);
void ti_put_touch(ti_touch_jac J, int col, const ti_touch *dot);

/* The ball at an end of a capsule, and from the columns of its derivative (at `at`) those of the capsule. */
ti_shape ti_capsule_end(const ti_shape *c, int end);
void ti_capsule_end_columns(const ti_shape *c, int end, int at, ti_touch_jac J);

#endif
