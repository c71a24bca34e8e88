/* law_central.c -- a point of the central path of the NCP: impulse and velocity complementary up to a gap kappa.
 *
 * x = (lambda_n, lambda_t / mu) and w = (c_n + mu sigma, mu c_t), both in the second-order cone, with x o w = kappa.
 * As an equation: x is the smoothed projection of x - rho w. docs/math.md eq. (77)-(79).
 */
#include "contact/law/law.h"
#include <math.h>
#include <string.h>

/* Smoothing of |c_t|, in units of kappa / lambda_n; a normal impulse below faint sqrt(kappa rho) counts as that; a mu
 * below `frictionless` as 0. */
static const double rounded = 0.1, faint = 1e-6, frictionless = 1e-12;

/* phi(s) = (s + sqrt(s^2 + 4 d)) / 2, r the root. */
static inline double smooth(double s, double d, double *r) {
    *r = sqrt(s * s + 4 * d);
    return s > 0 ? 0.5 * (s + *r) : 2 * d / (*r - s);
}

/* The slip |c_t|, rounded: sigma, and its derivative to lambda_n. */
static inline double slip(const ti_law_contact *s, double n, const double *c, double *to_n) {
    double least = faint * sqrt(s->kappa * s->scale->rho_n), e = rounded * s->kappa / (n > least ? n : least);
    double sigma = sqrt(c[0] * c[0] + c[1] * c[1] + e * e);
    *to_n = n > least ? -e * e / (n * sigma) : 0;
    return sigma;
}

/* The projection P(z), its derivative P, and Q = 1 - P, each without loss of digits; components (n, t1, t2). */
typedef struct projection {
    double P[3], D[9], Q[9];
} projection;

static void project(const double *z, double d, projection *out) {
    double h = sqrt(z[1] * z[1] + z[2] * z[2]), u[3] = {0, h > 0 ? z[1] / h : 1, h > 0 ? z[2] / h : 0};
    double r1, r2, p1 = smooth(z[0] - h, d, &r1), p2 = smooth(z[0] + h, d, &r2), r;
    double q1 = smooth(h - z[0], d, &r), q2 = smooth(-z[0] - h, d, &r);
    double across = (p1 + p2) / (r1 + r2), left = (q1 + q2) / (r1 + r2); /* difference quotient of phi, 1 - that */
    double both = 0.5 * (p1 / r1 + p2 / r2), rest = 0.5 * (q1 / r1 + q2 / r2), skew = 0.5 * (p2 / r2 - p1 / r1);
    out->P[0] = 0.5 * (p1 + p2), out->P[1] = across * z[1], out->P[2] = across * z[2];
    out->D[0] = both, out->Q[0] = rest;
    for (int a = 1; a < 3; a++) {
        out->D[a] = out->D[3 * a] = skew * u[a], out->Q[a] = out->Q[3 * a] = -skew * u[a];
        for (int b = 1; b < 3; b++) {
            double uu = u[a] * u[b], one = (a == b) - uu;
            out->D[3 * a + b] = across * one + both * uu, out->Q[3 * a + b] = left * one + rest * uu;
        }
    }
}

static void without_friction(const ti_law_contact *s, const double *l, const double *c, ti_law_slope *out) {
    double rho = s->scale->rho_n, r, d = rho * s->kappa, z = l[2] - rho * c[2], p = smooth(z, d, &r);
    double q = smooth(-z, d, &r);
    out->F[0] = l[0], out->F[1] = l[1], out->F[2] = l[2] - p;
    out->l[0] = out->l[4] = 1, out->l[8] = q / r, out->c[8] = rho * p / r;
}

static void slope(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, ti_law_slope *out) {
    (void)mode;
    memset(out, 0, sizeof *out);
    double mu = s->mu, rho = s->scale->rho_n, sigma_n;
    if (!(mu > frictionless)) {
        without_friction(s, l, c, out);
        return;
    }
    double sigma = slip(s, l[2], c, &sigma_n), bend = rho * mu * sigma_n; /* d(rho w_n) / d lambda_n */
    double z[3] = {l[2] - rho * (c[2] + mu * sigma), l[0] / mu - rho * mu * c[0], l[1] / mu - rho * mu * c[1]};
    projection p;
    project(z, rho * s->kappa, &p);
    double along[2] = {c[0] / sigma, c[1] / sigma}, zn = -rho * sigma; /* dz / dmu */
    double zt[2] = {-l[0] / (mu * mu) - rho * c[0], -l[1] / (mu * mu) - rho * c[1]};
    out->F[2] = l[2] - p.P[0], out->l[8] = p.Q[0] + p.D[0] * bend, out->c[8] = rho * p.D[0];
    out->mu[2] = -(p.D[0] * zn + p.D[1] * zt[0] + p.D[2] * zt[1]);
    for (int a = 0; a < 2; a++) {
        const double *D = p.D + 3 * (a + 1), *Q = p.Q + 3 * (a + 1);
        out->F[a] = l[a] - mu * p.P[a + 1];
        out->l[6 + a] = -p.D[a + 1] / mu, out->c[6 + a] = rho * mu * (p.D[0] * along[a] + p.D[a + 1]);
        out->l[3 * a + 2] = -mu * D[0] * (1 - bend), out->c[3 * a + 2] = mu * rho * D[0];
        for (int b = 0; b < 2; b++) {
            out->l[3 * a + b] = Q[b + 1];
            out->c[3 * a + b] = rho * mu * mu * (D[0] * along[b] + D[b + 1]);
        }
        out->mu[a] = -p.P[a + 1] - mu * (D[0] * zn + D[1] * zt[0] + D[2] * zt[1]);
    }
}

/* The law is one smooth equation; the mode says what the contact is closer to. It is never TRIBO_BREAK, as the reverse
 * of a step skips contacts that break: here bodies that are apart push each other too, by about kappa / c_n. */
static unsigned char mode(const ti_law_contact *s, const double *l, const double *c) {
    double inside = s->mu * l[2] - sqrt(l[0] * l[0] + l[1] * l[1]);
    return inside > s->scale->rho_t * sqrt(c[0] * c[0] + c[1] * c[1]) ? TRIBO_STICK : TRIBO_SLIDE;
}

static bool agrees(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, double slack) {
    (void)s, (void)mode, (void)l, (void)c;
    return slack >= 0;
}

static void residual(const ti_law_contact *s, const double *l, const double *c, double *out) {
    double mu = s->mu, to_n, sigma = slip(s, l[2], c, &to_n), w = c[2] + mu * sigma;
    double t = sqrt(l[0] * l[0] + l[1] * l[1]), ct = sqrt(c[0] * c[0] + c[1] * c[1]);
    out[0] = ti_cone_distance(t, l[2], mu);
    out[1] = mu > frictionless ? ti_cone_distance(ct, w, 1 / mu) : (c[2] < 0 ? -c[2] : 0);
    double gap = fabs(l[0] * c[0] + l[1] * c[1] + l[2] * w - s->kappa), turn = 0;
    for (int a = 0; a < 2 && mu > frictionless; a++) {
        double y = fabs(l[2] * mu * c[a] + w * l[a] / mu);
        turn = y > turn || y != y ? y : turn;
    }
    out[2] = gap > turn || gap != gap ? gap : turn;
}

/* The law is smooth: no mode is near. */
static void margin(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, double *out) {
    (void)s, (void)mode, (void)l, (void)c;
    out[0] = out[1] = HUGE_VAL;
}

const ti_law ti_law_central = {.mode = mode, .slope = slope, .agrees = agrees, .residual = residual, .margin = margin};
