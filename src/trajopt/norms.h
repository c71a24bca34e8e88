/* norms.h -- what a component of a residual counts: value, slope, curvature. docs/math.md eq. (401). */
#ifndef TI_NORMS_H
#define TI_NORMS_H
#include <math.h>
#include <tribo/trajopt.h>

typedef struct ti_counted {
    double value, slope, curvature; /* the last >= 0: of the Gauss-Newton matrix */
} ti_counted;

static inline ti_counted ti_count(tribo_norm norm, double s, double r) {
    double a = fabs(r), q = sqrt(r * r + s * s), h = tanh(r / s);
    switch (norm) {
    case TRIBO_NORM_LINEAR:
        return (ti_counted){r, 1, 0};
    case TRIBO_NORM_SMOOTH_ABS:
        return (ti_counted){s * (r * r / (q + s)), s * r / q, s * s * s / (q * q * q)};
    case TRIBO_NORM_HUBER:
        if (a > s) return (ti_counted){s * (a - s / 2), r > 0 ? s : -s, 0};
        break;
    case TRIBO_NORM_LOG_COSH:
        return (ti_counted){s * s * (a / s + log1p(exp(-2 * a / s)) - log(2)), s * h, 1 - h * h};
    case TRIBO_NORM_ABOVE:
        if (!(r > 0)) return (ti_counted){r == r ? 0 : r, 0, 0};
        break;
    case TRIBO_NORM_BELOW:
        if (!(r < 0)) return (ti_counted){r == r ? 0 : r, 0, 0};
        break;
    default:
        break;
    }
    return (ti_counted){r * r / 2, r, 1};
}

/* Of a constraint with multiplier y and penalty rho: value and slope with both, the curvature rho where it acts. */
static inline ti_counted ti_count_constraint(tribo_norm norm, double y, double rho, double r) {
    double push = y + rho * r;
    bool rests = (norm == TRIBO_NORM_LIMIT && !(push > 0)) || (norm == TRIBO_NORM_LEAST && !(push < 0));
    if (rests) return (ti_counted){r == r ? -y * y / (2 * rho) : r, 0, 0};
    return (ti_counted){(push * push - y * y) / (2 * rho), push, rho};
}

static inline bool ti_is_constraint(tribo_norm norm) {
    return norm >= TRIBO_NORM_LIMIT;
}

#endif
