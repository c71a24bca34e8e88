/* law.c -- Signorini and Coulomb at one contact. */
#include "contact/law.h"
#include <math.h>
#include <string.h>

/* Where an impulse is sent: z = lambda - rho c, its length across the normal, and the radius of its disk. */
typedef struct reach {
    double n, t0, t1, length, radius;
} reach;

static inline reach reach_of(const double *l, const double *c, double mu, const ti_law_scale *s) {
    reach z = {l[2] - s->rho_n * c[2], l[0] - s->rho_t * c[0], l[1] - s->rho_t * c[1], 0, 0};
    z.length = sqrt(z.t0 * z.t0 + z.t1 * z.t1);
    z.radius = mu * (z.n > 0 ? z.n : 0);
    return z;
}

static inline unsigned char mode_of(const reach *z, double mu) {
    if (!(z->n > 0)) return TRIBO_BREAK;
    return z->length <= z->radius && mu > 0 ? TRIBO_STICK : TRIBO_SLIDE;
}

static inline void value(const double *l, const double *c, const ti_law_scale *s, const reach *z, unsigned char mode,
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

unsigned char ti_law_value(const double *l, const double *c, double mu, const ti_law_scale *s, unsigned char mode,
                           double *F) {
    reach z = reach_of(l, c, mu, s);
    if (mode == TI_MODE_FREE) mode = mode_of(&z, mu);
    value(l, c, s, &z, mode, F);
    return mode;
}

static inline void diagonal(double t, double n, double *A) {
    A[0] = t, A[1] = 0, A[2] = 0;
    A[3] = 0, A[4] = t, A[5] = 0;
    A[6] = 0, A[7] = 0, A[8] = n;
}

/* Slides along d = z_t / |z_t|; across it the circle bends the impulse with stiffness alpha. */
static void slides(const reach *z, double mu, const ti_law_scale *s, ti_law_compliance R, double *D, double *Ainv) {
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

unsigned char ti_law_linearise(const double *l, const double *c, double mu, const ti_law_scale *s, ti_law_compliance R,
                               unsigned char mode, double *F, double *D, double *Ainv) {
    reach z = reach_of(l, c, mu, s);
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

bool ti_law_agrees(const double *l, const double *c, double mu, const ti_law_scale *s, unsigned char mode,
                   double slack) {
    reach z = reach_of(l, c, mu, s);
    if (mode == TRIBO_BREAK) return z.n <= slack;
    if (!(z.n >= -slack)) return false;
    if (mode == TRIBO_STICK) return z.length <= z.radius + slack;
    /* it slides against its impulse: z is not shorter than lambda, nor on the other side */
    return z.length >= z.radius - slack && z.t0 * l[0] + z.t1 * l[1] >= -slack * z.length;
}
