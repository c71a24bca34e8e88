/* turned_around.h -- the reverse of a contact beside its derivative. */
#ifndef TEST_TURNED_AROUND_H
#define TEST_TURNED_AROUND_H
#include "collide/collide.h"
#include <check.h>
#include <math.h>

/* Cotangents through a contact are its derivative J turned around. */
static void check_vjp(const ti_shape *a, const ti_shape *b, const ti_touch *t, ti_touch_jac J) {
    double in[TI_COLLIDE_ROWS], out[TI_COLLIDE_COLS];
    for (int i = 0; i < TI_COLLIDE_ROWS; i++) in[i] = (i * 5 % 7) - 2.3;
    ti_collide_vjp(a, b, t, in, out);
    for (int c = 0; c < TI_COLLIDE_COLS; c++) {
        double sum = 0, size = 1e-3;
        for (int i = 0; i < TI_COLLIDE_ROWS; i++) sum += in[i] * J[i][c], size += fabs(in[i] * J[i][c]);
        ck_assert_msg(fabs(out[c] - sum) <= 1e-12 * size, "shapes %d %d feature %lld column %d: %.17g, not %.17g",
                      a->shape, b->shape, (long long)t->feature, c, out[c], sum);
    }
}

#endif
