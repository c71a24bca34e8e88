/* law_raisim.c -- RaiSim's law at one contact: the NCP of another slip. docs/math.md eq. (97), (98).
 *
 * Of all impulses on the cone that leave no normal velocity it takes the one with the least kinetic energy, the other
 * impulses held. Where G_tn = 0 that is maximum dissipation; elsewhere the slip is opposed by d + a instead of d, the
 * direction of friction, with a = mu G_tn / G_nn. So c_t = -s (d + a), and u = c_t + s a = -s d is what the NCP would
 * call slip: everything here is law_ncp.c at (u, c_n).
 */
#include "contact/solvers.h"
#include <math.h>

typedef struct slip {
    double c[3];  /* u and c_n */
    double a[2];  /* mu G_tn / G_nn */
    double speed; /* s */
    bool fits;    /* whether c_t is on a ray -(d + a) with 1 + a.d > 0; it is where |a| < 1 */
} slip;

/* s >= 0 of |c_t + s a| = s. */
static slip slip_of(const ti_law_site *site, const double *c) {
    double shift = site->mu / site->own[8], a0 = shift * site->own[6], a1 = shift * site->own[7];
    slip w = {.a = {a0, a1}, .fits = true};
    double cc = c[0] * c[0] + c[1] * c[1], ca = c[0] * a0 + c[1] * a1, room = 1 - a0 * a0 - a1 * a1;
    double square = ca * ca + room * cc;
    if (room <= 0 && cc > 0 && !(ca < 0 && square >= 0)) { /* no such s: never at an answer */
        w.fits = false;
        square = 0, ca = -sqrt(cc * (1 - room));
    }
    double root = sqrt(square);
    if (cc > 0) w.speed = ca < 0 ? cc / (root - ca) : (root + ca) / room;
    w.c[0] = c[0] + w.speed * a0, w.c[1] = c[1] + w.speed * a1, w.c[2] = c[2];
    return w;
}

static unsigned char mode(const ti_law_site *s, const double *l, const double *c) {
    return ti_law_ncp.mode(s, l, slip_of(s, c).c);
}

static bool agrees(const ti_law_site *s, unsigned char mode, const double *l, const double *c, double slack) {
    return ti_law_ncp.agrees(s, mode, l, slip_of(s, c).c, slack);
}

static void residual(const ti_law_site *s, const double *l, const double *c, double *out) {
    slip w = slip_of(s, c);
    ti_law_ncp.residual(s, l, w.c, out);
    if (!w.fits && l[2] > 0) out[1] += sqrt(c[0] * c[0] + c[1] * c[1]);
}

/* du = E (dc_t + s da) with E = 1 + a e' / (1 - e.a), e = u/|u|; from the NCP's derivative to u. */
static void slope(const ti_law_site *s, unsigned char mode, const double *l, const double *c, ti_law_slope *out) {
    if (mode < TRIBO_SLIDE) {
        ti_law_ncp.slope(s, mode, l, c, out); /* u = 0 is c_t = 0 */
        return;
    }
    slip w = slip_of(s, c);
    ti_law_ncp.slope(s, mode, l, w.c, out);
    double size = sqrt(w.c[0] * w.c[0] + w.c[1] * w.c[1]), e[2] = {0, 0};
    if (size > 0)
        e[0] = w.c[0] / size, e[1] = w.c[1] / size;
    else if ((size = sqrt(l[0] * l[0] + l[1] * l[1])) > 0)
        e[0] = -l[0] / size, e[1] = -l[1] / size;
    double grip = 1 - e[0] * w.a[0] - e[1] * w.a[1], inverse = 1 / s->own[8];
    for (int r = 0; r < 3; r++) {
        double *x = out->c + 3 * r, along = (x[0] * w.a[0] + x[1] * w.a[1]) / grip;
        x[0] += along * e[0], x[1] += along * e[1];
        double *own = out->own + 9 * r, to_a[2] = {w.speed * x[0], w.speed * x[1]};
        own[6] = to_a[0] * s->mu * inverse, own[7] = to_a[1] * s->mu * inverse;
        own[8] = -(to_a[0] * w.a[0] + to_a[1] * w.a[1]) * inverse;
        out->mu[r] += to_a[0] * s->own[6] * inverse + to_a[1] * s->own[7] * inverse;
    }
}

const ti_law ti_law_raisim = {mode, slope, agrees, residual, ti_bisect_raisim, true, NULL};
