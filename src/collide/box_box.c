/* box_box.c -- contacts of two boxes. */
#include "collide/pairs.h"

int ti_collide_box_box(const ti_shape *a, const ti_shape *b, double margin, ti_touch *out) {
    (void)a, (void)b, (void)margin, (void)out;
    return 0;
}

void ti_collide_box_box_jac(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    (void)a, (void)b, (void)t, (void)J;
}
