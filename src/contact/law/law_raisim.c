/* law_raisim.c -- RaiSim's law at one contact: the NCP of another slip. docs/math.md eq. (97), (98).
 *
 * Of all impulses on the cone that leave no normal velocity it takes the one with the least kinetic energy, the other
 * impulses held. Where G_tn = 0 that is maximum dissipation; elsewhere friction in the direction d opposes a slip along
 * d + a, with a = mu G_tn / G_nn. So c_t = -s (d + a), and u = c_t + s a = -s d is what the NCP would call slip:
 * everything here is law_ncp.c at (u, c_n).
 */
#include "contact/law/bisection.h"
#include <math.h>

typedef struct slip {
    double c[3];                /* u and c_n */
    double a[2], d[2];          /* mu G_tn / G_nn; direction of friction, 0 without any */
    double speed, length, grip; /* s, |lambda_t|, 1 + a.d */
} slip;

/* s from the direction of the impulse: linear in c_t, and so smooth where a contact is held at the edge of its disk. */
static slip slip_of(const ti_law_contact *contact, const double *l, const double *c) {
    double shift = contact->mu / contact->Gii[8];
    slip w = {.c = {c[0], c[1], c[2]}, .a = {shift * contact->Gii[6], shift * contact->Gii[7]}, .grip = 1};
    w.length = sqrt(l[0] * l[0] + l[1] * l[1]);
    if (!(w.length > 0)) return w;
    w.d[0] = l[0] / w.length, w.d[1] = l[1] / w.length;
    w.grip = 1 + w.a[0] * w.d[0] + w.a[1] * w.d[1];
    w.speed = -(c[0] * w.d[0] + c[1] * w.d[1]) / w.grip;
    w.c[0] += w.speed * w.a[0], w.c[1] += w.speed * w.a[1];
    return w;
}

static unsigned char mode(const ti_law_contact *s, const double *l, const double *c) {
    return ti_law_ncp.mode(s, l, slip_of(s, l, c).c);
}

static bool agrees(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, double slack) {
    return ti_law_ncp.agrees(s, mode, l, slip_of(s, l, c).c, slack);
}

/* Where 1 + a.d < 0 more friction means more normal impulse without end. */
static void residual(const ti_law_contact *s, const double *l, const double *c, double *out) {
    slip w = slip_of(s, l, c);
    ti_law_ncp.residual(s, l, w.c, out);
    if (!(w.grip > 0)) out[1] += sqrt(c[0] * c[0] + c[1] * c[1]);
}

/* du = B (dc_t + s da) + e'dd a with B = 1 - a d' / (1 + a.d), from the NCP's derivative to u. */
static void slope(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, ti_law_slope *out) {
    if (mode < TRIBO_SLIDE) {
        ti_law_ncp.slope(s, mode, l, c, out); /* u = 0 is c_t = 0 */
        return;
    }
    slip w = slip_of(s, l, c);
    ti_law_ncp.slope(s, mode, l, w.c, out);
    const double *a = w.a, *d = w.d;
    double inverse = 1 / s->Gii[8], turn[2] = {0, 0}; /* ds / dlambda_t, across d */
    if (w.length > 0) {
        double e[2] = {-(c[0] + w.speed * a[0]), -(c[1] + w.speed * a[1])}, along = e[0] * d[0] + e[1] * d[1];
        for (int k = 0; k < 2; k++) turn[k] = (e[k] - along * d[k]) / (w.grip * w.length);
    }
    for (int r = 0; r < 3; r++) {
        double *x = out->c + 3 * r, *y = out->l + 3 * r, *Gii = out->Gii + 9 * r;
        double to_a = x[0] * a[0] + x[1] * a[1];
        y[0] += to_a * turn[0], y[1] += to_a * turn[1];
        x[0] -= to_a * d[0] / w.grip, x[1] -= to_a * d[1] / w.grip;
        Gii[6] = w.speed * x[0] * s->mu * inverse, Gii[7] = w.speed * x[1] * s->mu * inverse;
        Gii[8] = -w.speed * (x[0] * a[0] + x[1] * a[1]) * inverse;
        out->mu[r] += w.speed * (x[0] * s->Gii[6] + x[1] * s->Gii[7]) * inverse;
    }
}

const ti_law ti_law_raisim = {.mode = mode,
                              .slope = slope,
                              .agrees = agrees,
                              .residual = residual,
                              .local = ti_bisect_raisim,
                              .uses_Gii = true,
                              .circle = ti_law_circle};
