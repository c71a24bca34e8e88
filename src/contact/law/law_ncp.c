/* law_ncp.c -- Signorini, Coulomb and maximum dissipation at one contact: the Alart-Curnier map. */
#include "contact/law/law.h"
#include <math.h>
#include <string.h>

/* What is projected: z = lambda - rho c, the length of its tangential part, and the radius of the disk that z_n allows.
 */
typedef struct trial {
    double n, t0, t1, length, radius;
} trial;

static inline trial trial_of(const double *l, const double *c, double mu, const ti_law_scale *s) {
    trial z = {l[2] - s->rho_n * c[2], l[0] - s->rho_t * c[0], l[1] - s->rho_t * c[1], 0, 0};
    z.length = sqrt(z.t0 * z.t0 + z.t1 * z.t1);
    z.radius = mu * (z.n > 0 ? z.n : 0);
    return z;
}

static inline unsigned char mode_of(const trial *z, double mu) {
    if (!(z->n > 0)) return TRIBO_BREAK;
    return z->length <= z->radius && mu > 0 ? TRIBO_STICK : TRIBO_SLIDE;
}

static inline void value(const double *l, const double *c, const ti_law_scale *s, const trial *z, unsigned char mode,
                         double *F) {
    if (mode == TRIBO_BREAK)
        F[0] = l[0], F[1] = l[1], F[2] = l[2];
    else if (mode == TRIBO_STICK)
        F[0] = s->rho_t * c[0], F[1] = s->rho_t * c[1], F[2] = s->rho_n * c[2];
    else {
        double share = z->length > 0 ? z->radius / z->length : 0;
        F[0] = l[0] - share * z->t0, F[1] = l[1] - share * z->t1, F[2] = s->rho_n * c[2];
    }
}

unsigned char ti_ncp_value(const double *l, const double *c, double mu, const ti_law_scale *s, unsigned char mode,
                           double *F) {
    trial z = trial_of(l, c, mu, s);
    if (mode == TI_MODE_FREE) mode = mode_of(&z, mu);
    value(l, c, s, &z, mode, F);
    return mode;
}

static inline void diagonal(double t, double n, double *A) {
    A[0] = t, A[1] = 0, A[2] = 0;
    A[3] = 0, A[4] = t, A[5] = 0;
    A[6] = 0, A[7] = 0, A[8] = n;
}

/* Slides along d = z_t / |z_t|; alpha is the stiffness across d, by the curvature of the circle. */
static void slides(const trial *z, double mu, const ti_law_scale *s, ti_law_compliance R, double *D, double *Ainv) {
    double d0 = 1, d1 = 0, share = 0;
    if (z->length > 0) {
        d0 = z->t0 / z->length, d1 = z->t1 / z->length;
        share = z->radius < z->length ? z->radius / z->length : 1;
    }
    double bend = 1 / (1 - share + s->rho_t * R.t * share), alpha = s->rho_t * share * bend;
    double n = R.inverse_n, push = mu * (s->g_n * n - 1);
    D[0] = alpha * d1 * d1, D[1] = -alpha * d0 * d1, D[2] = mu * n * d0;
    D[3] = D[1], D[4] = alpha * d0 * d0, D[5] = mu * n * d1;
    D[6] = 0, D[7] = 0, D[8] = n;
    Ainv[0] = d0 * d0 + bend * d1 * d1, Ainv[1] = (1 - bend) * d0 * d1, Ainv[2] = push * d0;
    Ainv[3] = Ainv[1], Ainv[4] = d1 * d1 + bend * d0 * d0, Ainv[5] = push * d1;
    Ainv[6] = 0, Ainv[7] = 0, Ainv[8] = s->g_n * n;
}

unsigned char ti_ncp_linearise(const double *l, const double *c, double mu, const ti_law_scale *s, ti_law_compliance R,
                               unsigned char mode, double *F, double *D, double *Ainv) {
    trial z = trial_of(l, c, mu, s);
    if (mode == TI_MODE_FREE) mode = mode_of(&z, mu);
    value(l, c, s, &z, mode, F);
    if (mode == TRIBO_BREAK)
        diagonal(0, 0, D), diagonal(1, 1, Ainv);
    else if (mode == TRIBO_STICK)
        diagonal(R.inverse_t, R.inverse_n, D), diagonal(s->g_t * R.inverse_t, s->g_n * R.inverse_n, Ainv);
    else
        slides(&z, mu, s, R, D, Ainv);
    return mode;
}

/* ---------------------------------------------------------------- as a law */

static unsigned char mode(const ti_law_contact *s, const double *l, const double *c) {
    trial z = trial_of(l, c, s->mu, s->scale);
    return mode_of(&z, s->mu);
}

static void slope(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, ti_law_slope *out) {
    trial z = trial_of(l, c, s->mu, s->scale);
    double rn = s->scale->rho_n, rt = s->scale->rho_t;
    memset(out, 0, sizeof *out);
    value(l, c, s->scale, &z, mode, out->F);
    if (mode == TRIBO_BREAK) {
        out->l[0] = out->l[4] = out->l[8] = 1;
        return;
    }
    out->c[8] = rn;
    if (mode == TRIBO_STICK) {
        out->c[0] = out->c[4] = rt;
        return;
    }
    double d[2] = {1, 0}, share = 0;
    if (z.length > 0) d[0] = z.t0 / z.length, d[1] = z.t1 / z.length, share = z.radius / z.length;
    for (int r = 0; r < 2; r++) {
        for (int q = 0; q < 2; q++) {
            double across = share * ((r == q) - d[r] * d[q]);
            out->l[3 * r + q] = (r == q) - across, out->c[3 * r + q] = rt * across;
        }
        out->l[3 * r + 2] = -s->mu * d[r], out->c[3 * r + 2] = s->mu * rn * d[r];
        out->mu[r] = -d[r] * z.n;
    }
}

bool ti_ncp_agrees(const double *l, const double *c, double mu, const ti_law_scale *s, unsigned char mode,
                   double slack) {
    trial z = trial_of(l, c, mu, s);
    if (mode == TRIBO_BREAK) return z.n <= slack;
    if (!(z.n >= -slack)) return false;
    if (mode == TRIBO_STICK) return mu > 0 && z.length <= z.radius + slack;
    /* slip opposes the impulse: z_t is outside of the disk, on the side of lambda_t */
    return z.length >= z.radius - slack && z.t0 * l[0] + z.t1 * l[1] >= -slack * z.length;
}

static bool agrees(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, double slack) {
    return ti_ncp_agrees(l, c, s->mu, s->scale, mode, slack);
}

/* docs/math.md eq. (37): the velocity with de Saxce's correction. */
void ti_ncp_residual(const double *l, const double *c, double mu, double *out) {
    double ct = sqrt(c[0] * c[0] + c[1] * c[1]), n = c[2] + mu * ct;
    out[0] = ti_cone_distance(sqrt(l[0] * l[0] + l[1] * l[1]), l[2], mu);
    out[1] = mu > 0 ? ti_cone_distance(ct, n, 1 / mu) : (c[2] < 0 ? -c[2] : 0);
    out[2] = fabs(l[0] * c[0] + l[1] * c[1] + l[2] * n);
}

static void residual(const ti_law_contact *s, const double *l, const double *c, double *out) {
    ti_ncp_residual(l, c, s->mu, out);
}

/* The friction moves the radius of the disk. */
void ti_ncp_by_mu(const double *l, const double *c, const ti_law_scale *s, unsigned char mode, double *by_mu) {
    double z0 = l[0] - s->rho_t * c[0], z1 = l[1] - s->rho_t * c[1];
    double h = sqrt(z0 * z0 + z1 * z1), scale = mode == TRIBO_SLIDE && h > 0 ? l[2] / h : 0;
    by_mu[0] = scale * z0, by_mu[1] = scale * z1, by_mu[2] = 0;
}

/* Projected Gauss-Seidel. If the contact does not stick: the normal impulse, then a gradient step across it, projected
 * on the disk. [LeLidec23] eq. 20. */
static void local(const ti_law_contact *s, const double *free, double *l) {
    const double *G = s->Gii;
    if (ti_law_stick(s, free, l)) return;
    double inverse_n = s->steps->n, inverse_t = s->steps->t;
    for (int k = 0; k < 2; k++) {
        double n = -(free[2] + G[6] * l[0] + G[7] * l[1]) * inverse_n;
        l[2] = n > 0 ? n : 0;
        double t0 = l[0] - (free[0] + G[0] * l[0] + G[1] * l[1] + G[2] * l[2]) * inverse_t;
        double t1 = l[1] - (free[1] + G[3] * l[0] + G[4] * l[1] + G[5] * l[2]) * inverse_t;
        double length = sqrt(t0 * t0 + t1 * t1), radius = s->mu * l[2], share = length > radius ? radius / length : 1;
        l[0] = share * t0, l[1] = share * t1;
    }
}

const ti_law ti_law_ncp = {.mode = mode,
                           .slope = slope,
                           .agrees = agrees,
                           .residual = residual,
                           .local = local,
                           .circle = ti_law_circle,
                           .is = TI_LAW_HARD | TI_LAW_CONVEX};
