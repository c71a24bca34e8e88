/* law_ccp.c -- the convex relaxation of Coulomb's law at one contact: impulse and velocity in dual cones. */
#include "contact/law/law.h"
#include <math.h>
#include <string.h>

static const double relaxed = 1.5; /* over-relaxation of a projected step, in (0, 2) */

/* What is projected: z = lambda - rho c, with the length of its tangential part. Projected on the side of the cone it
 * is (projected, mu projected along z_t), docs/math.md eq. (81). */
typedef struct trial {
    double rho, n, t0, t1, length, projected;
} trial;

static inline double unit_of(const ti_law_scale *s) {
    return s->rho_n < s->rho_t ? s->rho_n : s->rho_t;
}

static inline trial trial_of(const double *l, const double *c, double mu, double rho) {
    trial z = {rho, l[2] - rho * c[2], l[0] - rho * c[0], l[1] - rho * c[1], 0, 0};
    z.length = sqrt(z.t0 * z.t0 + z.t1 * z.t1);
    z.projected = (z.n + mu * z.length) / (1 + mu * mu);
    return z;
}

static inline unsigned char mode_of(const trial *z, double mu) {
    if (!(z->projected > 0)) return TRIBO_BREAK;
    return z->length <= mu * z->n && mu > 0 ? TRIBO_STICK : TRIBO_SLIDE;
}

static unsigned char mode(const ti_law_contact *s, const double *l, const double *c) {
    trial z = trial_of(l, c, s->mu, unit_of(s->scale));
    return mode_of(&z, s->mu);
}

/* The derivative of the projection on the side of the cone, docs/math.md eq. (82); and of its value to mu. */
static void slides(const ti_law_contact *s, const trial *z, const double *l, ti_law_slope *out) {
    double mu = s->mu, d[2] = {1, 0}, share = 0, inverse = 1 / (1 + mu * mu), n = z->projected, P[9];
    if (z->length > 0) d[0] = z->t0 / z->length, d[1] = z->t1 / z->length, share = mu * n / z->length;
    for (int r = 0; r < 2; r++) {
        for (int q = 0; q < 2; q++) P[3 * r + q] = mu * mu * inverse * d[r] * d[q] + share * ((r == q) - d[r] * d[q]);
        P[3 * r + 2] = P[6 + r] = mu * inverse * d[r];
    }
    P[8] = inverse;
    double n_mu = (z->length - 2 * mu * n) * inverse;
    for (int r = 0; r < 2; r++) out->F[r] = l[r] - mu * n * d[r], out->mu[r] = -(n + mu * n_mu) * d[r];
    out->F[2] = l[2] - n, out->mu[2] = -n_mu;
    for (int k = 0; k < 9; k++) out->l[k] = (k % 4 == 0) - P[k], out->c[k] = z->rho * P[k];
}

static void slope(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, ti_law_slope *out) {
    trial z = trial_of(l, c, s->mu, unit_of(s->scale));
    memset(out, 0, sizeof *out);
    if (mode == TRIBO_BREAK) {
        for (int r = 0; r < 3; r++) out->F[r] = l[r], out->l[4 * r] = 1;
    } else if (mode == TRIBO_STICK) {
        for (int r = 0; r < 3; r++) out->F[r] = z.rho * c[r], out->c[4 * r] = z.rho;
    } else
        slides(s, &z, l, out);
}

static bool agrees(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, double slack) {
    trial z = trial_of(l, c, s->mu, unit_of(s->scale));
    if (mode == TRIBO_BREAK) return z.projected <= slack;
    if (!(z.projected >= -slack)) return false;
    if (mode == TRIBO_STICK) return s->mu > 0 && z.length <= s->mu * z.n + slack;
    /* outside of the cone, on the side of lambda_t */
    return z.length >= s->mu * z.n - slack && z.t0 * l[0] + z.t1 * l[1] >= -slack * z.length;
}

static void residual(const ti_law_contact *s, const double *l, const double *c, double *out) {
    double mu = s->mu;
    out[0] = ti_cone_distance(sqrt(l[0] * l[0] + l[1] * l[1]), l[2], mu);
    out[1] = mu > 0 ? ti_cone_distance(sqrt(c[0] * c[0] + c[1] * c[1]), c[2], 1 / mu) : (c[2] < 0 ? -c[2] : 0);
    out[2] = fabs(l[0] * c[0] + l[1] * c[1] + l[2] * c[2]);
}

/* Gauss-Seidel. If the contact neither sticks nor breaks: a few gradient steps, projected on the cone in the metric S =
 * diag(st, st, sn) >= G_ii. docs/math.md eq. (83). */
static void local(const ti_law_contact *s, const double *free, double *l) {
    const double *G = s->Gii;
    double mu = s->mu;
    if (ti_law_stick(s, free, l)) return;
    if (free[2] >= mu * sqrt(free[0] * free[0] + free[1] * free[1])) {
        l[0] = l[1] = l[2] = 0;
        return;
    }
    double inverse_t = relaxed * s->steps->metric_t, inverse_n = relaxed * s->steps->metric_n;
    double m = mu * s->steps->ratio, mq = m * s->steps->ratio, inverse = 1 / (1 + m * m);
    for (int k = 0; k < 4; k++) {
        double t0 = l[0] - (free[0] + G[0] * l[0] + G[1] * l[1] + G[2] * l[2]) * inverse_t;
        double t1 = l[1] - (free[1] + G[3] * l[0] + G[4] * l[1] + G[5] * l[2]) * inverse_t;
        double n = l[2] - (free[2] + G[6] * l[0] + G[7] * l[1] + G[8] * l[2]) * inverse_n;
        double length = sqrt(t0 * t0 + t1 * t1), side = (n + mq * length) * inverse;
        if (length <= mu * n) { /* inside, though it cannot stick there */
            l[0] = t0, l[1] = t1, l[2] = n;
            continue;
        }
        double share = length > 0 && side > 0 ? mu * side / length : 0;
        l[0] = share * t0, l[1] = share * t1, l[2] = side > 0 ? side : 0;
    }
}

const ti_law ti_law_ccp = {.mode = mode,
                           .slope = slope,
                           .agrees = agrees,
                           .residual = residual,
                           .local = local,
                           .circle = ti_law_circle,
                           .is = TI_LAW_FAR};
