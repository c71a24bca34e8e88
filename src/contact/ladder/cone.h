/* cone.h -- one constraint of the interior point: impulse and shifted velocity in cones dual to each other.
 *
 * Of a contact with friction x is in a second-order cone and w too; x o w = kappa (1, 0, 0) on the central path. A
 * rebound's impulse is in the cone with what is given added, and its normal part not below zero besides: a second,
 * scalar pair. Dry friction of a joint is a box instead, with a scalar pair at each side; what holds has no pair at
 * all. Friction against turning is such a box, or a disk with one pair, whose bound follows the normal impulse of its
 * contact. docs/math.md eq. (44), (45). Components are ordered (normal, t1, t2).
 */
#ifndef TI_CONE_H
#define TI_CONE_H
#include "contact/work/workspace.h"
#include <math.h>

/* A direction in what a cone's iterate has. */
typedef struct ti_cone_change {
    double x[3], w[3], nu, side[2], bound;
} ti_cone_change;

typedef struct ti_cone {
    double x[3], w[3];      /* scaled: impulse, the prescribed one included, and shifted velocity */
    ti_cone_change d, a;    /* direction; that of the predictor, or to the centre */
    ti_cone_change along;   /* by the logarithm of the gap, along the central path */
    double rp[3], E[2];     /* w - c - (slip, 0, 0); gradient of slip */
    double soft;            /* what the gap adds to the slip, to first order */
    double h[3], eta;       /* scaling W = sqrt(eta) V(h) */
    double z[3];            /* W x = W^-1 w */
    double A[9];            /* (W^2 + E R)^-1 */
    double plane[6];        /* the hyperplane across the central path where it was last met: of (x, w) */
    double heading[6];      /* the unit tangent there, scaled */
    double unit[3], R[3];   /* lambda = unit ip_unit x; compliance, scaled */
    double normal, rebound; /* x_n = normal + rebound */
    bool paired;            /* there is a second pair, (normal, nu), and w_n + nu is the shifted velocity */
    double nu, rest;        /* d.nu = rest - nu d.x_n / normal */
    ti_constraint_kind kind;
    double bound;   /* |x| <= bound, by what is left and a multiplier at each side, of a disk at the first alone */
    double side[2]; /* the multipliers at +bound and -bound */
    const struct ti_cone *host; /* of friction against turning: its contact, and by how much the bound changes */
    double ratio;               /* with (normal + rebound) of that */
} ti_cone;

static inline double ti_dot3(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double ti_lorentz(const double *a, const double *b) {
    return a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}

/* y = V(h) x, V = [h0 h1'; h1 1 + h1 h1' / (1 + h0)]; reverse: V(h)^-1 x */
static inline void ti_cone_boost(const double *h, const double *x, bool reverse, double *y) {
    double sign = reverse ? -1 : 1, p = h[1] * x[1] + h[2] * x[2], k = sign * x[0] + p / (1 + h[0]), x0 = x[0];
    double y1 = x[1] + h[1] * k, y2 = x[2] + h[2] * k;
    y[0] = h[0] * x0 + sign * p, y[1] = y1, y[2] = y2;
}

/* cone.c: largest a with x + a d in the second-order cone. */
double ti_cone_longest(const double *x, const double *d);
/* The scaling of Nesterov and Todd: h, eta, z from x, w. */
void ti_cone_scale(ti_cone *k);
/* y = arrow(z)^-1 x */
void ti_cone_arrow_solve(const double *z, const double *x, double *y);
/* A (3,3) = (W^2 + (nu / normal) e0 e0' + E R)^-1, E = 1 + e0 (0, slope)'. */
void ti_cone_inverse(const ti_cone *k, double *A);

/* cone_joint.c: dry friction, what holds, friction against turning. */
bool ti_cone_is_boxed(const ti_cone *k);
bool ti_cone_is_disk(const ti_cone *k);
void ti_cone_begin_joint(ti_cone *k, ti_constraint_kind kind, double bound);
/* Of friction against turning behind its contact, the latter begun before it. */
void ti_cone_begin_spin(ti_cone *k, const ti_cone *host, ti_constraint_kind kind, double mu);
/* D (3,3), scaled, into k->A; out: what d lambda_n of its contact adds, in its own units. c (3) = J v + ref + R x. */
void ti_cone_linearise_joint(ti_cone *k, const double *c, double *out);
/* f (3), scaled: dx = -f - D J dv. */
void ti_cone_aim_joint(ti_cone *k, double centre, bool corrected, double *f);
/* After the directions of all contacts. */
void ti_cone_turn_joint(ti_cone *k, const double *dx);
double ti_cone_longest_joint(const ti_cone *k, double a);
/* Adds its pairs' gaps after a step a. @return how many there are. */
int ti_cone_gap_of_joint(const ti_cone *k, double a, double *sum);

#endif
