/* cone.c -- the algebra of second-order cones of three dimensions. */
#include "contact/ladder/cone.h"

double ti_cone_longest(const double *x, const double *d) {
    double a = ti_lorentz(d, d), b = ti_lorentz(x, d), c = ti_lorentz(x, x), best = 1e9;
    double disc = b * b - a * c;
    if (fabs(a) > 1e-300) {
        if (disc >= 0) { /* the stable pair of roots */
            double q = -(b + (b >= 0 ? sqrt(disc) : -sqrt(disc))), r1 = q / a, r2 = q != 0 ? c / q : 0;
            if (r1 > 0 && r1 < best) best = r1;
            if (r2 > 0 && r2 < best) best = r2;
        }
    } else if (b < 0 && -c / (2 * b) < best)
        best = -c / (2 * b);
    if (d[0] < 0 && -x[0] / d[0] < best) best = -x[0] / d[0];
    return best;
}

void ti_cone_scale(ti_cone *k) {
    double qx = ti_lorentz(k->x, k->x), qw = ti_lorentz(k->w, k->w);
    double nx = sqrt(qx > 1e-300 ? qx : 1e-300), nw = sqrt(qw > 1e-300 ? qw : 1e-300);
    double g = 2 * sqrt((1 + ti_dot3(k->x, k->w) / (nx * nw)) / 2);
    k->h[0] = (k->w[0] / nw + k->x[0] / nx) / g;
    k->h[1] = (k->w[1] / nw - k->x[1] / nx) / g;
    k->h[2] = (k->w[2] / nw - k->x[2] / nx) / g;
    k->eta = nw / nx;
    ti_cone_boost(k->h, k->x, false, k->z);
    double s = sqrt(k->eta);
    for (int r = 0; r < 3; r++) k->z[r] *= s;
}

void ti_cone_arrow_solve(const double *z, const double *x, double *y) {
    double p = z[1] * x[1] + z[2] * x[2], det = ti_lorentz(z, z), y0 = (z[0] * x[0] - p) / det;
    y[0] = y0, y[1] = (x[1] - z[1] * y0) / z[0], y[2] = (x[2] - z[2] * y0) / z[0];
}

/* b = a^-1 by elimination; the first pivot is a[0]: a is graded, its large entry first. */
static void invert3(const double *a, double *b) {
    double l1 = a[3] / a[0], l2 = a[6] / a[0];
    double u11 = a[4] - l1 * a[1], u12 = a[5] - l1 * a[2], v1 = a[7] - l2 * a[1], v2 = a[8] - l2 * a[2];
    bool swap = fabs(v1) > fabs(u11);
    for (int c = 0; c < 3; c++) {
        double y0 = c == 0, y1 = (c == 1) - l1 * y0, y2 = (c == 2) - l2 * y0;
        double p1 = swap ? v1 : u11, p2 = swap ? v2 : u12, q1 = swap ? u11 : v1, q2 = swap ? u12 : v2;
        double z1 = swap ? y2 : y1, z2 = swap ? y1 : y2, l = q1 / p1;
        double x2 = (z2 - l * z1) / (q2 - l * p2), x1 = (z1 - p2 * x2) / p1;
        b[6 + c] = x2, b[3 + c] = x1, b[c] = (y0 - a[1] * x1 - a[2] * x2) / a[0];
    }
}

/* P (3,3) orthogonal and T = P (W^2 + (nu / normal) e0 e0') P', graded, its large entry first. In the eigenbasis of
 * W^2, (1, n), (1, -n), (0, n'), the eigenvalues eta g^2, eta / g^2, eta keep their digits however far apart they are;
 * beside a second pair that is larger than all of them those along the axes do. */
static void metric(const ti_cone *k, double P[3][3], double *T) {
    double len = sqrt(k->h[1] * k->h[1] + k->h[2] * k->h[2]), g = k->h[0] + len;
    double n1 = len > 0 ? k->h[1] / len : 1, n2 = len > 0 ? k->h[2] / len : 0;
    double most = k->eta * g * g, least = k->eta / (g * g), beta = k->paired ? k->nu / k->normal : 0;
    bool along = beta > most;
    double s = sqrt(0.5), half = 0.5 * (most + least);
    const double axes[3][3] = {{1, 0, 0}, {0, n1, n2}, {0, -n2, n1}};
    const double eigen[3][3] = {{s, s * n1, s * n2}, {s, -s * n1, -s * n2}, {0, -n2, n1}};
    memcpy(P, along ? axes : eigen, sizeof axes);
    memset(T, 0, 9 * sizeof *T);
    T[0] = along ? half + beta : most + 0.5 * beta, T[1] = T[3] = along ? 0.5 * (most - least) : 0.5 * beta;
    T[4] = along ? half : least + 0.5 * beta, T[8] = k->eta;
}

void ti_cone_inverse(const ti_cone *k, double *A) {
    double P[3][3], T[9], B[9];
    metric(k, P, T);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            double first = P[c][0] * k->R[0] + k->E[0] * k->R[1] * P[c][1] + k->E[1] * k->R[2] * P[c][2];
            T[3 * r + c] += P[r][0] * first + P[r][1] * k->R[1] * P[c][1] + P[r][2] * k->R[2] * P[c][2];
        }
    invert3(T, B);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            A[3 * r + c] = 0;
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++) A[3 * r + c] += P[a][r] * B[3 * a + b] * P[b][c];
        }
}
