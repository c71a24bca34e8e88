/* noise.h -- expectations of max and of a clip under noise of mean zero: what smooths the stochastic law.
 *
 * omega is Gaussian or logistic; width is its standard deviation, or the logistic's own scale. All are exact far out in
 * both tails, where one term of each is many digits smaller than the others. docs/math.md eq. (100)-(102).
 */
#ifndef TI_NOISE_H
#define TI_NOISE_H
#include <stdbool.h>

typedef struct ti_noise {
    bool logistic;
    double width;
} ti_noise;

ti_noise ti_noise_of(bool logistic, double deviation);

/* Density, probability that omega <= x, and E max(0, x + omega), whose derivative that probability is. */
double ti_noise_density(const ti_noise *w, double x);
double ti_noise_below(const ti_noise *w, double x);
double ti_noise_ramp(const ti_noise *w, double x);
/* The argument below which ti_noise_ramp() and its derivatives are zero in floating point. */
double ti_noise_end(const ti_noise *w);

/* h(s, r) = E clip(s + omega, -r, r), s, r >= 0: symmetric in them. */
typedef struct ti_clip {
    double h, hs, hr;   /* and its derivatives */
    double share, lack; /* h / s and 1 - h / s */
    double outside;     /* 1 - hs: the probability of being clipped */
} ti_clip;
ti_clip ti_noise_clip(const ti_noise *w, double s, double r);

/* Second derivatives, of the Gaussian only: of h, and of q = h / s as a function of the vector z, s = |z|: q_z = a z,
 * q_zz = a 1 + b z z', q_r, q_rz = e z, q_rr. */
typedef struct ti_clip_second {
    double hss, hsr; /* h_rr is h_ss */
    double a, b, qr, e, qrr;
} ti_clip_second;
ti_clip_second ti_noise_clip_second(const ti_noise *w, const ti_clip *c, double s, double r);

#endif
