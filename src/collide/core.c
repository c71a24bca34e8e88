/* core.c -- the ball about the centre of a shape, half as wide as the shape is thin, and another shape. A contact of
 * the shape holds along a line, which a body that turns far in a step leaves; its core turns about nothing.
 * docs/math.md eq. (449). */
#include "collide/pairs.h"

static const double SHARE = 0.5;

/* Which number of its size a shape is thin by; -1: it has no core. */
static int thin_by(const ti_shape *s) {
    double size[3];
    int n = s->shape == TRIBO_BOX || s->shape == TRIBO_ELLIPSOID ? 3 : s->shape == TRIBO_CYLINDER ? 2 : 1, least = 0;
    if (n == 1 && s->shape != TRIBO_CAPSULE) return -1;
    ti_store3(size, s->size);
    for (int k = 1; k < n; k++)
        if (size[k] < size[least]) least = k;
    return least;
}

double ti_core_radius(const ti_shape *s) {
    double size[3];
    int by = thin_by(s);
    ti_store3(size, s->size);
    return by < 0 ? 0 : SHARE * size[by];
}

bool ti_core_pair(const ti_shape *a, const ti_shape *b, int core, ti_shape *ball, const ti_shape **first,
                  const ti_shape **second) {
    const ti_shape *of = core == TI_CORE_A ? a : b, *other = core == TI_CORE_A ? b : a;
    bool after = other->shape < TRIBO_SPHERE || (core == TI_CORE_B && other->shape == TRIBO_SPHERE);
    *ball = *of;
    ball->shape = TRIBO_SPHERE, ball->mesh = NULL, ball->edge = 0, ball->size = ti_vec3(ti_core_radius(of), 0, 0);
    *first = after ? other : ball, *second = after ? ball : other;
    return after == (core == TI_CORE_A);
}

void ti_core_columns(const ti_shape *a, const ti_shape *b, int core, bool swapped, ti_touch_jac J) {
    for (int r = 0; r < TI_COLLIDE_ROWS && swapped; r++)
        for (int k = 0; k < COL_SHAPE; k++) {
            double sign = r >= ROW_NORMAL && r < ROW_GAP ? -1 : 1, first = J[r][k];
            J[r][k] = sign * J[r][COL_SHAPE + k], J[r][COL_SHAPE + k] = sign * first;
        }
    int at = (core == TI_CORE_A ? 0 : COL_SHAPE) + COL_H, by = thin_by(core == TI_CORE_A ? a : b);
    for (int r = 0; r < TI_COLLIDE_ROWS; r++) {
        double slope = SHARE * J[r][at];
        J[r][at] = 0, J[r][at + by] = slope;
    }
}
