/* law_rebound.c -- the rebound of an impact: the NCP with a normal impulse `rebound` that acts whatever the velocities.
 *
 * lambda_n comes on top where the bodies would not part otherwise, and friction is Coulomb's under both:
 * 0 <= lambda_n  _|_  c_n >= 0,  lambda_t in argmin over |l| <= mu (rebound + lambda_n) of l . c_t. docs/math.md,
 * Impacts.
 */
#include "contact/law/law.h"
#include <math.h>
#include <string.h>

/* What is projected, as in law_ncp.c: z = lambda - rho c, the length of its tangential part, the radius of its disk. */
typedef struct trial {
    double n, t0, t1, length, radius;
} trial;

static trial trial_of(const ti_law_contact *s, const double *l, const double *c) {
    double rn = s->scale->rho_n, rt = s->scale->rho_t;
    trial z = {l[2] - rn * c[2], l[0] - rt * c[0], l[1] - rt * c[1], 0, 0};
    z.length = sqrt(z.t0 * z.t0 + z.t1 * z.t1);
    z.radius = s->mu * ((z.n > 0 ? z.n : 0) + s->rebound);
    return z;
}

static bool touches(unsigned char mode) {
    return mode == TRIBO_STICK || mode == TRIBO_SLIDE;
}

static bool sticks(unsigned char mode) {
    return mode == TRIBO_STICK || mode == TI_REBOUND_STICK;
}

static unsigned char mode(const ti_law_contact *s, const double *l, const double *c) {
    trial z = trial_of(s, l, c);
    bool stick = z.length <= z.radius && s->mu > 0;
    if (z.n > 0) return stick ? TRIBO_STICK : TRIBO_SLIDE;
    if (!(s->rebound > 0)) return TRIBO_BREAK; /* without friction it slides, too: a little would act */
    return stick ? TI_REBOUND_STICK : TI_REBOUND_SLIDE;
}

static void slope(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, ti_law_slope *out) {
    trial z = trial_of(s, l, c);
    double rn = s->scale->rho_n, rt = s->scale->rho_t;
    memset(out, 0, sizeof *out);
    if (touches(mode))
        out->F[2] = rn * c[2], out->c[8] = rn;
    else
        out->F[2] = l[2], out->l[8] = 1;
    if (mode == TRIBO_BREAK) {
        out->F[0] = l[0], out->F[1] = l[1], out->l[0] = out->l[4] = 1;
        return;
    }
    if (sticks(mode)) {
        out->F[0] = rt * c[0], out->F[1] = rt * c[1], out->c[0] = out->c[4] = rt;
        return;
    }
    double d[2] = {1, 0}, share = 0, push = touches(mode) ? s->mu : 0;
    if (z.length > 0) d[0] = z.t0 / z.length, d[1] = z.t1 / z.length, share = z.radius / z.length;
    out->F[0] = l[0] - share * z.t0, out->F[1] = l[1] - share * z.t1;
    for (int r = 0; r < 2; r++) {
        for (int q = 0; q < 2; q++) {
            double across = share * ((r == q) - d[r] * d[q]);
            out->l[3 * r + q] = (r == q) - across, out->c[3 * r + q] = rt * across;
        }
        out->l[3 * r + 2] = -push * d[r], out->c[3 * r + 2] = push * rn * d[r];
        out->mu[r] = s->mu > 0 ? -d[r] * z.radius / s->mu : -d[r] * (s->rebound + (z.n > 0 ? z.n : 0));
    }
}

static bool agrees(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, double slack) {
    trial z = trial_of(s, l, c);
    if (touches(mode) ? !(z.n >= -slack) : !(z.n <= slack)) return false;
    if (mode == TRIBO_BREAK) return true;
    if (sticks(mode)) return s->mu > 0 && z.length <= z.radius + slack;
    return z.length >= z.radius - slack && z.t0 * l[0] + z.t1 * l[1] >= -slack * z.length;
}

static void residual(const ti_law_contact *s, const double *l, const double *c, double *out) {
    double n = l[2] > 0 ? l[2] : 0, radius = s->mu * (n + s->rebound), t = sqrt(l[0] * l[0] + l[1] * l[1]);
    double over = t > radius ? t - radius : 0, slip = sqrt(c[0] * c[0] + c[1] * c[1]);
    out[0] = hypot(over, l[2] - n);
    out[1] = c[2] < 0 ? -c[2] : 0;
    out[2] = fabs(l[2] * c[2]) + fabs(l[0] * c[0] + l[1] * c[1] + radius * slip);
}

static void local(const ti_law_contact *s, const double *free, double *l) {
    const double *G = s->Gii;
    for (int k = 0; k < 2; k++) {
        double n = -(free[2] + G[6] * l[0] + G[7] * l[1]) * s->steps->n;
        l[2] = n > 0 ? n : 0;
        double t0 = l[0] - (free[0] + G[0] * l[0] + G[1] * l[1] + G[2] * l[2]) * s->steps->t;
        double t1 = l[1] - (free[1] + G[3] * l[0] + G[4] * l[1] + G[5] * l[2]) * s->steps->t;
        double length = sqrt(t0 * t0 + t1 * t1), radius = s->mu * (l[2] + s->rebound);
        double share = length > radius ? radius / length : 1;
        l[0] = share * t0, l[1] = share * t1;
    }
}

static void margin(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, double *out) {
    double radius = s->mu * (l[2] + s->rebound);
    out[0] = out[1] = HUGE_VAL;
    if (sticks(mode))
        out[0] = radius > 0 ? (radius - sqrt(l[0] * l[0] + l[1] * l[1])) / radius : 0;
    else
        out[1] = sqrt(c[0] * c[0] + c[1] * c[1]);
}

static double circle(const ti_law_contact *s, unsigned char mode, const double *l) {
    return mode == TRIBO_SLIDE || mode == TI_REBOUND_SLIDE ? s->mu * l[2] + s->mu * s->rebound : HUGE_VAL;
}

const ti_law ti_law_rebound = {.mode = mode,
                               .slope = slope,
                               .agrees = agrees,
                               .residual = residual,
                               .local = local,
                               .circle = circle,
                               .margin = margin,
                               .apart = TI_REBOUND_STICK,
                               .is = TI_LAW_CONVEX};
