/* law.c -- Signorini and Coulomb at one contact. */
#include "contact/law.h"
#include <math.h>
#include <string.h>

static unsigned char breaks(const double *l, double *D, double *f, double *F) {
    memset(D, 0, 9 * sizeof *D);
    memcpy(f, l, 3 * sizeof *f);
    if (F) memcpy(F, l, 3 * sizeof *F);
    return TRIBO_BREAK;
}

static unsigned char sticks(const double *c, const ti_law_scale *s, ti_law_compliance R, double *D, double *f,
                            double *F) {
    double n = 1 / R.n, t = 1 / R.t;
    D[0] = t, D[1] = 0, D[2] = 0;
    D[3] = 0, D[4] = t, D[5] = 0;
    D[6] = 0, D[7] = 0, D[8] = n;
    f[0] = t * c[0], f[1] = t * c[1], f[2] = n * c[2];
    if (F) F[0] = s->rho_t * c[0], F[1] = s->rho_t * c[1], F[2] = s->rho_n * c[2];
    return TRIBO_STICK;
}

unsigned char ti_law_linearise(const double *l, const double *c, double mu, const ti_law_scale *s, ti_law_compliance R,
                               unsigned char mode, double *D, double *f, double *F) {
    double zn = l[2] - s->rho_n * c[2];
    if (mode == TRIBO_BREAK || (mode == TI_MODE_FREE && !(zn > 0))) return breaks(l, D, f, F);
    double z0 = l[0] - s->rho_t * c[0], z1 = l[1] - s->rho_t * c[1], h = sqrt(z0 * z0 + z1 * z1);
    double radius = mu * (zn > 0 ? zn : 0);
    if (mode == TRIBO_STICK || (mode == TI_MODE_FREE && h <= radius && mu > 0)) return sticks(c, s, R, D, f, F);

    /* Slides along d = z_t / h; across it the circle bends the impulse with stiffness alpha. */
    double d0 = 1, d1 = 0;
    if (h > 0) d0 = z0 / h, d1 = z1 / h;
    double share = h > radius ? radius / h : (h > 0 ? 1 : 0);
    double alpha_inverse = 1 - share + s->rho_t * R.t * share, alpha = s->rho_t * share / alpha_inverse;
    double n = 1 / R.n, along = l[0] * d0 + l[1] * d1, across = l[1] * d0 - l[0] * d1;
    D[0] = alpha * d1 * d1, D[1] = -alpha * d0 * d1, D[2] = mu * n * d0;
    D[3] = D[1], D[4] = alpha * d0 * d0, D[5] = mu * n * d1;
    D[6] = 0, D[7] = 0, D[8] = n;
    double fd = along - mu * l[2] + mu * n * c[2], fe = across / alpha_inverse;
    f[0] = fd * d0 - fe * d1, f[1] = fd * d1 + fe * d0, f[2] = n * c[2];
    if (F) F[0] = l[0] - radius * d0, F[1] = l[1] - radius * d1, F[2] = s->rho_n * c[2];
    return TRIBO_SLIDE;
}
