/* erm.c -- see erm.h. Everything is a function of x = (lambda, z), z = lambda - rho c, before it is one of (lambda, c).
 */
#include "contact/law/erm.h"
#include "contact/law/noise.h"
#include <math.h>
#include <string.h>

/* A function of x = (lambda, z), each (t1, t2, n): value, gradient, Hessian. */
typedef struct quadratic {
    double value, g[6], H[36];
} quadratic;

static double positive(double g) {
    return g > 0 ? 1 / g : 1;
}

/* E |lambda_n - max(0, z_n + w)|^2: docs/math.md eq. (106). */
typedef struct normal {
    double push, below, above, density;
    double value, l, z, ll, lz, zz;
} normal;

static normal normal_of(const ti_noise *w, double l, double z) {
    double s2 = w->width * w->width, d;
    normal k = {.push = ti_noise_ramp(w, z),
                .below = ti_noise_below(w, z),
                .above = ti_noise_below(w, -z),
                .density = ti_noise_density(w, z)};
    d = l - k.push;
    if (z > 0) { /* the variance of max(0, z_n + w), without a difference of squares */
        double t = ti_noise_ramp(w, -z);
        k.value = d * d + s2 - (z * z + s2) * k.above + z * s2 * k.density - t * (2 * z + t);
    } else
        k.value = d * d + (z * z + s2) * k.below + z * s2 * k.density - k.push * k.push;
    k.l = 2 * d, k.z = 2 * (k.push * k.above - d * k.below);
    k.ll = 2, k.lz = -2 * k.below, k.zz = 2 * (k.below - l * k.density);
    return k;
}

/* E |lambda_t - clip(z_t + w) along z_t|^2 over lambda_t, z_t and the radius r. docs/math.md eq. (107). */
typedef struct across {
    double value, l[2], z[2], r;
    double lz[4], zz[4], lr[2], zr[2], rr; /* ll is 2 */
} across;

static across across_of(const ti_noise *w, const double *l, const double *z, double r) {
    double s = sqrt(z[0] * z[0] + z[1] * z[1]), s2 = w->width * w->width;
    ti_clip c = ti_noise_clip(w, s, r);
    ti_clip_second k = ti_noise_clip_second(w, &c, s, r);
    double q = c.share, d[2] = {l[0] - q * z[0], l[1] - q * z[1]}, dz = d[0] * z[0] + d[1] * z[1];
    double lz = l[0] * z[0] + l[1] * z[1], edge = q * c.outside - r * k.qr, width = q - r * k.qr;
    double plus = ti_noise_density(w, r + s), minus = ti_noise_density(w, r - s);
    /* E clip^2 - h^2 */
    double spread = s2 * c.hs - s2 * ((r + s) * minus - (s - r) * plus) + (s - c.h) * (s + c.h) * c.hs +
                    (r - c.h) * (r + c.h) * c.outside;
    across a = {.value = d[0] * d[0] + d[1] * d[1] + spread,
                .r = -2 * dz * k.qr + 2 * (r * c.outside - c.h * c.hr),
                .rr = -2 * lz * k.qrr + 2 * (c.outside - r * k.hsr)};
    for (int i = 0; i < 2; i++) {
        a.l[i] = 2 * d[i];
        a.z[i] = -2 * (q * d[i] + k.a * dz * z[i]) + 2 * z[i] * edge;
        a.lr[i] = -2 * z[i] * k.qr;
        a.zr[i] = -2 * (k.qr * l[i] + lz * k.e * z[i]) - 2 * z[i] * r * k.qrr;
        for (int j = 0; j < 2; j++) {
            double zz = z[i] * z[j], one = i == j;
            a.lz[2 * i + j] = -2 * (q * one + k.a * zz);
            a.zz[2 * i + j] = -2 * (k.a * (l[i] * z[j] + z[i] * l[j]) + lz * (k.a * one + k.b * zz)) +
                              2 * (width * one + (k.a - r * k.e) * zz);
        }
    }
    return a;
}

/* The sum of both, as energies, over x; and the derivative of its gradient with respect to mu. */
static void together(const normal *n, const across *a, double mu, double rho_n, double rho_t, quadratic *f,
                     double *by_mu) {
    double wn = 1 / rho_n, wt = 1 / rho_t, r_z = mu * n->below;
    memset(f, 0, sizeof *f);
    f->value = wn * n->value + wt * a->value;
    f->g[2] = wn * n->l, f->g[5] = wn * n->z + wt * a->r * r_z;
    f->H[14] = wn * n->ll, f->H[17] = f->H[32] = wn * n->lz;
    f->H[35] = wn * n->zz + wt * (a->rr * r_z * r_z + a->r * mu * n->density);
    by_mu[2] = 0, by_mu[5] = wt * (a->rr * n->push * r_z + a->r * n->below);
    for (int i = 0; i < 2; i++) {
        f->g[i] = wt * a->l[i], f->g[3 + i] = wt * a->z[i];
        f->H[7 * i] = 2 * wt;
        f->H[6 * i + 5] = f->H[30 + i] = wt * a->lr[i] * r_z;
        f->H[6 * (3 + i) + 5] = f->H[33 + i] = wt * a->zr[i] * r_z;
        for (int j = 0; j < 2; j++) {
            f->H[6 * i + 3 + j] = f->H[6 * (3 + j) + i] = wt * a->lz[2 * i + j];
            f->H[6 * (3 + i) + 3 + j] = wt * a->zz[2 * i + j];
        }
        by_mu[i] = wt * a->lr[i] * n->push, by_mu[3 + i] = wt * a->zr[i] * n->push;
    }
}

/* A vector over x, as one over (lambda, c). */
static void to_velocity(const double *x, const double *rho, double *l, double *c) {
    for (int i = 0; i < 3; i++) l[i] = x[i] + x[3 + i], c[i] = -rho[i] * x[3 + i];
}

/* The normal part is of degree one in (lambda_n, rho_n), the other in (lambda_t, rho_t, r), r in (lambda_n, rho_n):
 * from which the derivatives to rho. */
static void by_scales(const ti_law_contact *s, const normal *n, const across *a, const double *l, const double *rho,
                      ti_erm *out) {
    double wn = 1 / rho[2], wt = 1 / rho[0], r = s->mu * n->push, r_z = s->mu * n->below, r_zz = s->mu * n->density;
    double move = r - l[2] * r_z, b_r = wt * a->r, b_rr = wt * a->rr, twist = -r * b_rr;
    double n_l = wn * (n->ll + 2 * n->lz + n->zz), n_c = -rho[2] * wn * (n->lz + n->zz);
    for (int i = 0; i < 2; i++) {
        double lr = wt * (a->lr[i] + a->zr[i]), cr = -rho[0] * wt * a->zr[i];
        out->l_n[i] = lr * move, out->c_n[i] = cr * move;
        out->l_t[i] = -r * lr, out->c_t[i] = -rho[0] * wt * a->z[i] - r * cr;
        for (int j = 0; j < 2; j++) {
            double ll = 2 * (i == j) + a->lz[2 * i + j] + a->lz[2 * j + i] + a->zz[2 * i + j];
            out->l_t[i] -= wt * ll * l[j];
            out->c_t[i] += rho[0] * wt * (a->lz[2 * j + i] + a->zz[2 * i + j]) * l[j];
        }
        twist -= lr * l[i];
    }
    out->l_n[2] = -l[2] * n_l + b_rr * r_z * move - b_r * l[2] * r_zz;
    out->c_n[2] = -rho[2] * wn * n->z - l[2] * n_c - rho[2] * (b_rr * r_z * move + b_r * (r_z - l[2] * r_zz));
    out->l_t[2] = twist * r_z, out->c_t[2] = -rho[2] * twist * r_z;
}

void ti_erm_of(const ti_law_contact *s, const double *l, const double *c, ti_erm *out) {
    double rho_n = positive(s->Gii[8]), rho_t = positive(0.5 * (s->Gii[0] + s->Gii[4]));
    const double rho[3] = {rho_t, rho_t, rho_n};
    double z[3], by_mu[6];
    ti_noise wn = ti_noise_of(false, rho_n * s->noise_n), wt = ti_noise_of(false, rho_t * s->noise_t);
    quadratic f;
    for (int i = 0; i < 3; i++) z[i] = l[i] - rho[i] * c[i];
    normal n = normal_of(&wn, l[2], z[2]);
    across a = across_of(&wt, l, z, s->mu * n.push);
    together(&n, &a, s->mu, rho_n, rho_t, &f, by_mu);
    out->value = f.value, out->rho_n = rho_n, out->rho_t = rho_t;
    to_velocity(f.g, rho, out->l, out->c);
    to_velocity(by_mu, rho, out->l_mu, out->c_mu);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double zz = f.H[6 * (3 + i) + 3 + j], lz = f.H[6 * i + 3 + j], zl = f.H[6 * (3 + i) + j];
            out->ll[3 * i + j] = f.H[6 * i + j] + lz + zl + zz;
            out->lc[3 * i + j] = -rho[j] * (lz + zz);
            out->cc[3 * i + j] = rho[i] * rho[j] * zz;
        }
    by_scales(s, &n, &a, l, rho, out);
}

/* Jacobi's rotations: A (6,6) symmetric becomes diagonal, the columns of V its axes. */
static void diagonalise(double A[6][6], double V[6][6]) {
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) V[i][j] = i == j;
    for (int sweep = 0; sweep < 12; sweep++)
        for (int p = 0; p < 5; p++)
            for (int q = p + 1; q < 6; q++) {
                if (A[p][q] == 0) continue;
                double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1),
                       s = t * c;
                for (int k = 0; k < 6; k++) {
                    double x = A[k][p], y = A[k][q];
                    A[k][p] = c * x - s * y, A[k][q] = s * x + c * y;
                }
                for (int k = 0; k < 6; k++) {
                    double x = A[p][k], y = A[q][k], u = V[k][p], v = V[k][q];
                    A[p][k] = c * x - s * y, A[q][k] = s * x + c * y;
                    V[k][p] = c * u - s * v, V[k][q] = s * u + c * v;
                }
                A[p][q] = A[q][p] = 0;
            }
}

void ti_erm_convex(ti_erm *e) {
    double unit[6], A[6][6], V[6][6];
    for (int i = 0; i < 3; i++) unit[i] = sqrt(i < 2 ? e->rho_t : e->rho_n), unit[3 + i] = 1 / unit[i];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            A[i][j] = e->ll[3 * i + j] * unit[i] * unit[j],
            A[3 + i][3 + j] = e->cc[3 * i + j] * unit[3 + i] * unit[3 + j];
            A[i][3 + j] = A[3 + j][i] = e->lc[3 * i + j] * unit[i] * unit[3 + j];
        }
    diagonalise(A, V);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double ll = 0, lc = 0, cc = 0;
            for (int k = 0; k < 6; k++) {
                double curve = fabs(A[k][k]);
                ll += V[i][k] * curve * V[j][k], lc += V[i][k] * curve * V[3 + j][k];
                cc += V[3 + i][k] * curve * V[3 + j][k];
            }
            e->ll[3 * i + j] = ll / (unit[i] * unit[j]), e->lc[3 * i + j] = lc / (unit[i] * unit[3 + j]);
            e->cc[3 * i + j] = cc / (unit[3 + i] * unit[3 + j]);
        }
}
