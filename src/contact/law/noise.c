/* noise.c -- see noise.h. */
#include "contact/law/noise.h"
#include <math.h>

static const double ROOT_HALF = 0.70710678118654752440, INV_ROOT_2PI = 0.39894228040143267794;
static const double LOGISTIC_SCALE = 0.55132889542179204; /* sqrt(3) / pi: of a standard deviation of 1 */

ti_noise ti_noise_of(bool logistic, double deviation) {
    ti_noise w = {logistic, logistic ? LOGISTIC_SCALE * deviation : deviation};
    return w;
}

double ti_noise_end(const ti_noise *w) {
    return w->width * (w->logistic ? -700 : -37);
}

double ti_noise_density(const ti_noise *w, double x) {
    double y = fabs(x / w->width);
    if (y > 700 || (!w->logistic && y > 37)) return 0;
    if (!w->logistic) return INV_ROOT_2PI * exp(-0.5 * y * y) / w->width;
    double e = exp(-y);
    return e / ((1 + e) * (1 + e) * w->width);
}

double ti_noise_below(const ti_noise *w, double x) {
    double y = x / w->width;
    if (x < ti_noise_end(w)) return 0;
    if (!w->logistic) return 0.5 * erfc(-ROOT_HALF * y);
    double e = exp(-fabs(y));
    return (y < 0 ? e : 1) / (1 + e);
}

double ti_noise_ramp(const ti_noise *w, double x) {
    double y = fabs(x / w->width), tail;
    if (x < ti_noise_end(w)) return 0;
    if (w->logistic)
        tail = log1p(exp(-y));
    else
        tail = y > 37 ? 0 : INV_ROOT_2PI * exp(-0.5 * y * y) - 0.5 * y * erfc(ROOT_HALF * y);
    return x > 0 ? x + w->width * tail : w->width * tail;
}

/* 2 P(x) - 1, x >= 0 */
static double between(const ti_noise *w, double x) {
    double y = x / w->width;
    return w->logistic ? tanh(0.5 * y) : erf(ROOT_HALF * y);
}

/* The density's derivatives of order 1, 3, 5, 7. The last two of the Gaussian alone. */
static void odd_derivatives(const ti_noise *w, double x, double *d) {
    double y = x / w->width, y2 = y * y, p = ti_noise_density(w, x), k = 1 / (w->width * w->width);
    if (w->logistic) {
        double P = ti_noise_below(w, x), v = p * w->width, slope = p * (1 - 2 * P) / w->width;
        d[0] = slope, d[1] = k * slope * (1 - 12 * v), d[2] = d[3] = 0;
        return;
    }
    double g = -p / w->width * y; /* Hermite's polynomials */
    d[0] = g, d[1] = g * k * (y2 - 3), d[2] = g * k * k * ((y2 - 10) * y2 + 15);
    d[3] = g * k * k * k * (((y2 - 21) * y2 + 105) * y2 - 105);
}

/* Where s or r is small against the noise their difference of ramps is a series. docs/math.md eq. (102). */
ti_clip ti_noise_clip(const ti_noise *w, double s, double r) {
    double sum = s + r, apart = s - r, least = s < r ? s : r, most = s < r ? r : s;
    double far = ti_noise_below(w, -sum), near = ti_noise_below(w, -fabs(apart));
    double lost = ti_noise_ramp(w, -fabs(apart)) - ti_noise_ramp(w, -sum); /* least - h */
    ti_clip c;
    if (apart > 0)
        c.hs = near - far, c.hr = 1 - far - near, c.outside = 1 - near + far;
    else
        c.hs = 1 - far - near, c.hr = near - far, c.outside = far + near;
    if (least > 0.01 * w->width) {
        c.h = least - lost;
        c.share = c.h / s, c.lack = s < r ? lost / s : 1 - c.share;
        return c;
    }
    double d[4], x2 = least * least;
    odd_derivatives(w, most, d);
    double bend = x2 * (d[0] / 3 + x2 * d[1] / 60), slope = between(w, most) + bend;
    c.h = least * slope;
    c.share = s < r ? slope : (s > 0 ? c.h / s : 0), c.lack = s < r ? 2 * ti_noise_below(w, -most) - bend : 1 - c.share;
    return c;
}

ti_clip_second ti_noise_clip_second(const ti_noise *w, const ti_clip *c, double s, double r) {
    double plus = ti_noise_density(w, s + r), minus = ti_noise_density(w, s - r), s2 = s * s, d[4];
    ti_clip_second k = {.hss = plus - minus, .hsr = plus + minus};
    if (s > 0.05 * w->width) {
        k.a = (c->hs - c->share) / s2, k.b = (k.hss / s - 3 * k.a) / s2;
        k.qr = c->hr / s, k.e = (k.hsr - k.qr) / s2, k.qrr = k.hss / s;
        return k;
    }
    odd_derivatives(w, r, d); /* q = 2 P(r) - 1 + sum over odd k of 2 s^(k-1) p^(k-2)(r) / k! */
    k.a = 2 * d[0] / 3 + s2 * (d[1] / 15 + s2 * (d[2] / 420 + s2 * d[3] / 22680));
    k.b = 2 * d[1] / 15 + s2 * (d[2] / 105 + s2 * d[3] / 3780);
    double p = ti_noise_density(w, r), y2 = r / w->width * (r / w->width), v = 1 / (w->width * w->width);
    double even[3] = {p * v * (y2 - 1), p * v * v * ((y2 - 6) * y2 + 3),
                      p * v * v * v * (((y2 - 15) * y2 + 45) * y2 - 15)};
    k.qr = 2 * p + s2 * (even[0] / 3 + s2 * (even[1] / 60 + s2 * even[2] / 2520));
    k.e = 2 * even[0] / 3 + s2 * (even[1] / 15 + s2 * even[2] / 420);
    k.qrr = 2 * d[0] + s2 * (d[1] / 3 + s2 * d[2] / 60);
    return k;
}
