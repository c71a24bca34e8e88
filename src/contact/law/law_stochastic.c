/* law_stochastic.c -- the NCP at one contact under noise in its velocity: expectations instead of max and projection.
 *
 * docs/math.md eq. (100)-(103), [TassaTodorov10]. With rho = 1 / G_ii the impulse of a contact by itself is the
 * expectation of the impulses that the noise scatters, so the law depends on G_ii.
 */
#include "contact/law/law.h"
#include "contact/law/noise.h"
#include <math.h>
#include <string.h>

typedef struct trial {
    double rho_n, rho_t;
    ti_noise noise_n, noise_t;
    double n, t0, t1, length; /* z */
    double push, radius;      /* E max(0, z_n), mu times that */
    ti_clip clip;
} trial;

static double inverse(double g) {
    return g > 0 ? 1 / g : 1;
}

static trial trial_of(const ti_law_contact *s, const double *l, const double *c) {
    bool logistic = s->smoothing == TRIBO_SMOOTHING_LOGISTIC;
    trial z = {.rho_n = inverse(s->Gii[8]), .rho_t = inverse(0.5 * (s->Gii[0] + s->Gii[4]))};
    z.noise_n = ti_noise_of(logistic, z.rho_n * s->noise_n), z.noise_t = ti_noise_of(logistic, z.rho_t * s->noise_t);
    z.n = l[2] - z.rho_n * c[2], z.t0 = l[0] - z.rho_t * c[0], z.t1 = l[1] - z.rho_t * c[1];
    z.length = sqrt(z.t0 * z.t0 + z.t1 * z.t1);
    z.push = ti_noise_ramp(&z.noise_n, z.n), z.radius = s->mu * z.push;
    z.clip = ti_noise_clip(&z.noise_t, z.length, z.radius);
    return z;
}

/* The law is one smooth equation; the mode says what the contact does most. It breaks where impulse and derivatives are
 * zero in floating point. */
static unsigned char mode(const ti_law_contact *s, const double *l, const double *c) {
    trial z = trial_of(s, l, c);
    if (z.n < ti_noise_end(&z.noise_n)) return TRIBO_BREAK;
    return z.length <= z.radius && s->mu > 0 ? TRIBO_STICK : TRIBO_SLIDE;
}

static bool agrees(const ti_law_contact *s, unsigned char m, const double *l, const double *c, double slack) {
    (void)s, (void)m, (void)l, (void)c, (void)slack;
    return true;
}

static void value(const trial *z, const double *l, double *F) {
    F[0] = l[0] - z->clip.share * z->t0, F[1] = l[1] - z->clip.share * z->t1, F[2] = l[2] - z->push;
}

/* F is of degree one in (lambda_n, rho_n), and in (lambda_t, rho_t, radius): from which its derivatives to rho. */
static void slope_by_Gii(const ti_law_contact *s, const trial *z, const double *l, const double *by_radius,
                         double below, ti_law_slope *out) {
    double radius = -z->rho_n * (z->radius - s->mu * below * l[2]);
    out->Gii[18 + 8] = -z->rho_n * (out->F[2] - l[2] * out->l[8]);
    for (int r = 0; r < 2; r++) {
        double t = out->F[r] - out->l[3 * r] * l[0] - out->l[3 * r + 1] * l[1] - by_radius[r] * z->radius;
        out->Gii[9 * r + 8] = by_radius[r] * radius;
        out->Gii[9 * r] = out->Gii[9 * r + 4] = -0.5 * z->rho_t * t;
    }
}

static void slope(const ti_law_contact *s, unsigned char m, const double *l, const double *c, ti_law_slope *out) {
    (void)m;
    trial z = trial_of(s, l, c);
    double below = ti_noise_below(&z.noise_n, z.n), above = ti_noise_below(&z.noise_n, -z.n);
    double d[2] = {0, 0}, by_radius[2];
    const ti_clip *k = &z.clip;
    memset(out, 0, sizeof *out);
    value(&z, l, out->F);
    out->l[8] = above, out->c[8] = z.rho_n * below;
    if (z.length > 0) d[0] = z.t0 / z.length, d[1] = z.t1 / z.length;
    for (int r = 0; r < 2; r++) {
        for (int q = 0; q < 2; q++) {
            double along = d[r] * d[q], across = (r == q) - along;
            out->l[3 * r + q] = k->lack * across + k->outside * along;
            out->c[3 * r + q] = z.rho_t * (k->share * across + k->hs * along);
        }
        by_radius[r] = -k->hr * d[r];
        out->l[3 * r + 2] = by_radius[r] * s->mu * below;
        out->c[3 * r + 2] = -z.rho_n * out->l[3 * r + 2];
        out->mu[r] = by_radius[r] * z.push;
    }
    slope_by_Gii(s, &z, l, by_radius, below, out);
}

static void residual(const ti_law_contact *s, const double *l, const double *c, double *out) {
    trial z = trial_of(s, l, c);
    double F[3];
    value(&z, l, F);
    double t = sqrt(F[0] * F[0] + F[1] * F[1]), n = fabs(F[2]);
    out[0] = n + t, out[1] = n / z.rho_n + t / z.rho_t, out[2] = 0;
}

/* z_n does not depend on lambda_n, so the normal equation gives it at once; the tangential impulse takes one
 * fixed-point step. */
static void local(const ti_law_contact *s, const double *free, double *l) {
    const double *G = s->Gii;
    for (int pass = 0; pass < 2; pass++) {
        double c[3], F[3];
        for (int r = 0; r < 3; r++) c[r] = free[r] + G[3 * r] * l[0] + G[3 * r + 1] * l[1] + G[3 * r + 2] * l[2];
        trial z = trial_of(s, l, c);
        value(&z, l, F);
        if (pass == 0)
            l[2] -= F[2];
        else
            l[0] -= F[0], l[1] -= F[1];
    }
}

const ti_law ti_law_stochastic = {.mode = mode,
                                  .slope = slope,
                                  .agrees = agrees,
                                  .residual = residual,
                                  .local = local,
                                  .uses_Gii = true,
                                  .is = TI_LAW_SMOOTH};
