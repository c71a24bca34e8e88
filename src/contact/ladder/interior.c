/* interior.c -- a primal-dual interior point on the contact problem itself.
 *
 * De Saxce's form: lambda in the friction cone, c + (0, 0, mu |c_t|) in its dual. Normals scaled by mu make both the
 * second-order cone; Nesterov-Todd scaling, Mehrotra's predictor and corrector. |c_t| is smoothed along with the gap.
 * Each step eliminates the cones contact by contact and solves the primal system of every other rung.
 * A rebound's impulse is in the cone with what is given added, and its normal part not below zero besides: a second,
 * scalar pair. docs/math.md eq. (44), (45). In this file components are ordered (normal, t1, t2).
 * Dry friction of a joint is a box instead, with a scalar pair at each side; what holds has no pair at all. Friction
 * against turning is such a box, or a disk with one pair, whose bound follows the normal impulse of its contact.
 */
#include "contact/work/workspace.h"
#include <math.h>

/* One contact at the present iterate. */
typedef struct cone {
    double x[3], w[3];      /* scaled: impulse, the prescribed one included, and shifted velocity */
    double dx[3], dw[3];    /* direction */
    double ax[3], aw[3];    /* direction of the predictor */
    double rp[3], E[2];     /* w - c - (slip, 0, 0); gradient of slip */
    double h[3], eta;       /* scaling W = sqrt(eta) V(h) */
    double z[3];            /* W x = W^-1 w */
    double A[9];            /* (W^2 + E R)^-1 */
    double unit[3], R[3];   /* lambda = unit ip_unit x; compliance, scaled */
    double normal, rebound; /* x_n = normal + rebound */
    bool paired;            /* there is a second pair, (normal, nu), and w_n + nu is the shifted velocity */
    double nu, dnu, anu;
    double rest; /* dnu = rest - nu dx_n / normal */
    ti_constraint_kind kind;
    double bound; /* |x| <= bound, by what is left and a multiplier at each side, of a disk at the first alone */
    double side[2], dside[2], aside[2]; /* the multipliers at +bound and -bound, their direction, the predictor's */
    const struct cone *host; /* of friction against turning: its contact, and by how much the bound changes */
    double ratio;            /* with (normal + rebound) of that, */
    double dbound, abound;   /* its direction, the predictor's */
} cone;

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double lorentz(const double *a, const double *b) {
    return a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}

/* Largest a with x + a d in the cone. */
static double longest_step(const double *x, const double *d) {
    double a = lorentz(d, d), b = lorentz(x, d), c = lorentz(x, x), best = 1e9;
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

/* y = V(h) x, V = [h0 h1'; h1 1 + h1 h1' / (1 + h0)]; reverse: V(h)^-1 x */
static void boost(const double *h, const double *x, bool reverse, double *y) {
    double sign = reverse ? -1 : 1, p = h[1] * x[1] + h[2] * x[2], k = sign * x[0] + p / (1 + h[0]), x0 = x[0];
    double y1 = x[1] + h[1] * k, y2 = x[2] + h[2] * k;
    y[0] = h[0] * x0 + sign * p, y[1] = y1, y[2] = y2;
}

static void nesterov_todd(cone *k) {
    double qx = lorentz(k->x, k->x), qw = lorentz(k->w, k->w);
    double nx = sqrt(qx > 1e-300 ? qx : 1e-300), nw = sqrt(qw > 1e-300 ? qw : 1e-300);
    double g = 2 * sqrt((1 + dot(k->x, k->w) / (nx * nw)) / 2);
    k->h[0] = (k->w[0] / nw + k->x[0] / nx) / g;
    k->h[1] = (k->w[1] / nw - k->x[1] / nx) / g;
    k->h[2] = (k->w[2] / nw - k->x[2] / nx) / g;
    k->eta = nw / nx;
    boost(k->h, k->x, false, k->z);
    double s = sqrt(k->eta);
    for (int r = 0; r < 3; r++) k->z[r] *= s;
}

/* y = arrow(z)^-1 x */
static void arrow_solve(const double *z, const double *x, double *y) {
    double p = z[1] * x[1] + z[2] * x[2], det = lorentz(z, z), y0 = (z[0] * x[0] - p) / det;
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
static void metric(const cone *k, double P[3][3], double *T) {
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

/* A (3,3) = (W^2 + (nu / normal) e0 e0' + E R)^-1, E = 1 + e0 (0, slope)'. */
static void inverse(const cone *k, double *A) {
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

static void times3(const double *a, const double *b, double *c) {
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) c[3 * r + k] = a[3 * r] * b[k] + a[3 * r + 1] * b[3 + k] + a[3 * r + 2] * b[6 + k];
}

static const int place[3] = {2, 0, 1}; /* (n, t1, t2) in (t1, t2, n) */

/* ---- joints ---- */

/* What holds needs some compliance, in units of the heaviest body's; a bound below this is none. */
static const double LEAST = 1e-8, NOTHING = 1e-12;

static bool is_boxed(const cone *k) {
    return (k->kind == TI_CONSTRAINT_DRY || k->kind == TI_CONSTRAINT_TWIST) && k->bound > NOTHING;
}

static bool is_disk(const cone *k) {
    return k->kind == TI_CONSTRAINT_ROLL && k->bound > NOTHING;
}

static void begin_joint(cone *k, ti_constraint_kind kind, double bound) {
    k->kind = kind, k->bound = kind == TI_CONSTRAINT_HELD ? 0 : bound;
    for (int r = 0; r < 3; r++) {
        k->x[r] = k->w[r] = 0;
        if (kind == TI_CONSTRAINT_HELD && k->R[r] < LEAST) k->R[r] = LEAST;
    }
    if (is_boxed(k)) k->side[0] = k->side[1] = 1 / bound;
    if (is_disk(k)) k->side[0] = 2 / (bound * bound);
    k->normal = 0;
}

/* Of friction against turning behind its contact, the latter begun before it. */
static void begin_spin(cone *k, const cone *host, ti_constraint_kind kind, double mu) {
    k->host = host, k->ratio = mu * host->unit[0] / k->unit[0];
    begin_joint(k, kind, k->ratio * (host->normal + host->rebound));
}

/* What is left at side 0 (+bound) or 1 (-bound). */
static double left(const cone *k, int side) {
    return side ? k->bound + k->normal : k->bound - k->normal;
}

/* A disk leaves (bound^2 - |x|^2) / 2 >= 0; its multiplier times x opposes the turn. */
static double left_of_disk(const cone *k) {
    return 0.5 * (k->bound - hypot(k->x[1], k->x[2])) * (k->bound + hypot(k->x[1], k->x[2]));
}

/* D (3,3), scaled, into k->A; out: what d lambda_n of its contact adds, in its own units. c (3) = J v + ref + R x. */
static void linearise_joint(cone *k, const double *c, double *out) {
    memset(k->A, 0, sizeof k->A);
    for (int r = 0; r < 3; r++) {
        k->rp[r] = c[r], out[r] = 0;
        if (k->kind == TI_CONSTRAINT_HELD) k->A[4 * r] = 1 / k->R[r];
    }
    if (is_boxed(k)) {
        k->A[0] = 1 / (k->R[0] + k->side[0] / left(k, 0) + k->side[1] / left(k, 1));
        out[0] = k->A[0] * k->ratio * (k->side[0] / left(k, 0) - k->side[1] / left(k, 1));
    } else if (is_disk(k)) {
        double pull = k->side[0] / left_of_disk(k), x = k->x[1], y = k->x[2], d = k->R[1] + k->side[0];
        double beyond = pull / (d + pull * (x * x + y * y)); /* (d + pull x x')^-1 */
        k->A[4] = (1 - beyond * x * x) / d, k->A[8] = (1 - beyond * y * y) / d, k->A[5] = k->A[7] = -beyond * x * y / d;
        for (int r = 1; r < 3; r++) out[r] = (k->A[3 * r + 1] * x + k->A[3 * r + 2] * y) * pull * k->bound * k->ratio;
    }
}

/* f (3), scaled: dx = -f - D J dv. */
static void aim_joint(cone *k, double centre, bool corrected, double *f) {
    double push[3] = {0, 0, 0};
    for (int s = 0; s < 2 && is_boxed(k); s++) {
        double change = k->abound + (s ? k->ax[0] : -k->ax[0]); /* of what is left, by the predictor */
        double to = corrected ? centre - change * k->aside[s] : 0;
        k->dside[s] = to / left(k, s) - k->side[s];
        push[0] += (s ? -1 : 1) * to / left(k, s);
    }
    if (is_disk(k)) {
        double change = k->bound * k->abound - k->x[1] * k->ax[1] - k->x[2] * k->ax[2];
        double to = corrected ? centre - change * k->aside[0] : 0, all = to / left_of_disk(k);
        k->dside[0] = all - k->side[0];
        for (int r = 1; r < 3; r++) push[r] = all * k->x[r] + (corrected ? k->ax[r] * k->aside[0] : 0);
    }
    for (int r = 0; r < 3; r++) {
        const double *A = k->A + 3 * r;
        f[r] = A[0] * k->rp[0] + A[1] * k->rp[1] + A[2] * k->rp[2];
        f[r] += A[0] * push[0] + A[1] * push[1] + A[2] * push[2];
    }
}

/* After the directions of all contacts. */
static void turn_joint(cone *k, const double *dx) {
    memcpy(k->dx, dx, 3 * sizeof *dx);
    memset(k->dw, 0, sizeof k->dw);
    k->dbound = k->host ? k->ratio * k->host->dx[0] : 0;
    for (int s = 0; s < 2 && is_boxed(k); s++)
        k->dside[s] += k->side[s] / left(k, s) * ((s ? -1 : 1) * dx[0] - k->dbound);
    if (is_disk(k))
        k->dside[0] += k->side[0] / left_of_disk(k) * (k->x[1] * dx[1] + k->x[2] * dx[2] - k->bound * k->dbound);
}

static double longest_of_disk(const cone *k, double a) {
    const double x[3] = {k->bound, k->x[1], k->x[2]}, dx[3] = {k->dbound, k->dx[1], k->dx[2]};
    double most = longest_step(x, dx);
    if (most < a) a = most;
    return k->dside[0] < 0 && -k->side[0] / k->dside[0] < a ? -k->side[0] / k->dside[0] : a;
}

static double longest_joint(const cone *k, double a) {
    if (is_disk(k)) return longest_of_disk(k, a);
    for (int s = 0; s < 2 && is_boxed(k); s++) {
        double change = k->dbound + (s ? k->dx[0] : -k->dx[0]);
        if (change < 0 && -left(k, s) / change < a) a = -left(k, s) / change;
        if (k->dside[s] < 0 && -k->side[s] / k->dside[s] < a) a = -k->side[s] / k->dside[s];
    }
    return a;
}

/* Adds its pairs' gaps after a step a. @return how many there are. */
static int gap_of_joint(const cone *k, double a, double *sum) {
    if (is_disk(k)) {
        cone at = *k;
        at.bound += a * k->dbound, at.x[1] += a * k->dx[1], at.x[2] += a * k->dx[2];
        *sum += left_of_disk(&at) * (k->side[0] + a * k->dside[0]);
        return 1;
    }
    if (!is_boxed(k)) return 0;
    for (int s = 0; s < 2; s++) {
        double change = k->dbound + (s ? k->dx[0] : -k->dx[0]);
        *sum += (left(k, s) + a * change) * (k->side[s] + a * k->dside[s]);
    }
    return 2;
}

/* ---- all of them ---- */

static void begin(ti_contact_ws *ws, const ti_contact_problem *p, double R, bool local, cone *cones) {
    ti_law_compliance Rc = ti_contact_compliance(R);
    double size = 0;
    for (int i = 0; i < p->nc; i++) {
        cone *k = cones + i;
        memset(k, 0, sizeof *k);
        ti_law_compliance at = ti_contact_stiffness(p, i, Rc);
        const ti_law_scale *g = ws->scale + i;
        double s = 1 / sqrt(local ? (g->g_n + 2 * g->g_t * ws->tangent_scale) / 3 : ws->r0),
               mu = !ti_is_contact(p, i) ? 1
                    : p->mu[i] > 1e-8    ? p->mu[i]
                                         : 1e-8;
        for (int r = 0; r < 3; r++) {
            k->unit[r] = r ? s * mu : s;
            k->R[r] = (r ? at.t : at.n) * k->unit[r] * k->unit[r];
            k->x[r] = k->w[r] = r == 0;
            size = ti_max(size, fabs(k->unit[r] * ws->g[3 * i + place[r]]));
        }
    }
    ws->ip_unit = size > 0 ? size : 1;
    for (int i = 0; i < p->nc; i++) {
        cone *k = cones + i;
        if (ti_is_spin(p, i)) {
            begin_spin(k, cones + ti_host_of(p, i), (ti_constraint_kind)p->what[i], p->mu[i]);
            continue;
        }
        if (!ti_is_contact(p, i)) {
            begin_joint(k, (ti_constraint_kind)p->what[i], p->mu[i] / (k->unit[0] * ws->ip_unit));
            continue;
        }
        k->paired = p->rebound && p->rebound[i] > 0;
        k->rebound = k->paired ? p->rebound[i] / (k->unit[0] * ws->ip_unit) : 0;
        k->normal = k->x[0], k->x[0] += k->rebound, k->nu = k->paired;
    }
}

static void impulses(const ti_contact_ws *ws, const ti_contact_problem *p, const cone *cones, double *lambda) {
    for (int i = 0; i < p->nc; i++)
        for (int r = 0; r < 3; r++)
            lambda[3 * i + place[r]] = (r ? cones[i].x[r] : cones[i].normal) * cones[i].unit[r] * ws->ip_unit;
}

/* Residuals, scalings and the matrix D of every contact. */
static void linearise(ti_contact_ws *ws, const ti_contact_problem *p, cone *cones, double gap) {
    ti_system_jv(&ws->sys, p, ws->vi, true, ws->c);
    for (int i = 0; i < p->nc; i++) {
        cone *k = cones + i;
        double c[3], T[9];
        for (int r = 0; r < 3; r++)
            c[r] = ws->c[3 * i + place[r]] * k->unit[r] / ws->ip_unit + k->R[r] * (r ? k->x[r] : k->normal);
        if (k->kind) {
            double follows[3];
            linearise_joint(k, c, follows);
            for (int r = 0; r < 3; r++)
                for (int q = 0; q < 3; q++)
                    ws->D[9 * i + 3 * place[r] + place[q]] = k->unit[r] * k->A[3 * r + q] * k->unit[q];
            for (int r = 0; k->host && r < 3; r++)
                ws->sys.coupling[3 * i + place[r]] = k->unit[r] * follows[r] / k->host->unit[0];
            continue;
        }
        double soft = gap < 1 ? gap : 1, slip = sqrt(c[1] * c[1] + c[2] * c[2] + 1e-4 * soft * soft + 1e-30);
        for (int r = 0; r < 3; r++) k->rp[r] = k->w[r] - c[r];
        k->rp[0] += k->nu - slip, k->E[0] = c[1] / slip, k->E[1] = c[2] / slip;
        nesterov_todd(k);
        const double E[9] = {1, k->E[0], k->E[1], 0, 1, 0, 0, 0, 1};
        inverse(k, k->A);
        times3(k->A, E, T);
        for (int r = 0; r < 3; r++)
            for (int q = 0; q < 3; q++) ws->D[9 * i + 3 * place[r] + place[q]] = k->unit[r] * T[3 * r + q] * k->unit[q];
    }
}

/* Direction towards centre sigma gap e, with the second-order term of the predictor if corrected. */
static void direction(ti_contact_ws *ws, const ti_contact_problem *p, cone *cones, double centre, bool corrected) {
    for (int i = 0; i < p->nc; i++) {
        cone *k = cones + i;
        double q[3], t[3], s = sqrt(k->eta);
        if (k->kind) {
            aim_joint(k, centre, corrected, q);
            for (int r = 0; r < 3; r++) ws->f[3 * i + place[r]] = q[r] * k->unit[r] * ws->ip_unit;
            continue;
        }
        for (int r = 0; r < 3; r++) t[r] = k->rp[r] - k->w[r];
        k->rest = k->paired ? (corrected ? (centre - k->ax[0] * k->anu) / k->normal : 0) - k->nu : 0;
        t[0] += k->rest;
        if (corrected) {
            double wx[3], vw[3], y[3];
            boost(k->h, k->ax, false, wx);
            boost(k->h, k->aw, true, vw); /* the two factors sqrt(eta) cancel */
            y[0] = centre - dot(wx, vw);
            y[1] = -(wx[0] * vw[1] + vw[0] * wx[1]), y[2] = -(wx[0] * vw[2] + vw[0] * wx[2]);
            arrow_solve(k->z, y, q);
            boost(k->h, q, false, y);
            for (int r = 0; r < 3; r++) t[r] += s * y[r];
        }
        for (int r = 0; r < 3; r++) { /* dlambda = -f - D J dv */
            q[r] = k->A[3 * r] * t[0] + k->A[3 * r + 1] * t[1] + k->A[3 * r + 2] * t[2];
            ws->f[3 * i + place[r]] = -q[r] * k->unit[r] * ws->ip_unit;
        }
    }
    ti_contact_direction(ws, p);
    for (int i = 0; i < p->nc; i++) { /* ws->c holds J dv */
        cone *k = cones + i;
        double c[3];
        for (int r = 0; r < 3; r++) {
            k->dx[r] = ws->dlambda[3 * i + place[r]] / (k->unit[r] * ws->ip_unit);
            c[r] = ws->c[3 * i + place[r]] * k->unit[r] / ws->ip_unit + k->R[r] * k->dx[r];
        }
        if (k->kind) {
            turn_joint(k, k->dx);
            continue;
        }
        k->dw[0] = c[0] + k->E[0] * c[1] + k->E[1] * c[2] - k->rp[0];
        k->dw[1] = c[1] - k->rp[1], k->dw[2] = c[2] - k->rp[2];
        k->dnu = k->paired ? k->rest - k->nu / k->normal * k->dx[0] : 0;
        k->dw[0] -= k->dnu;
    }
}

static double longest(const cone *cones, int nc) {
    double a = 1e9;
    for (int i = 0; i < nc; i++) {
        const cone *k = cones + i;
        if (k->kind) {
            a = longest_joint(k, a);
            continue;
        }
        double x = longest_step(k->x, k->dx), w = longest_step(k->w, k->dw);
        a = x < a ? x : a;
        a = w < a ? w : a;
        if (!k->paired) continue;
        if (k->dx[0] < 0 && -k->normal / k->dx[0] < a) a = -k->normal / k->dx[0];
        if (k->dnu < 0 && -k->nu / k->dnu < a) a = -k->nu / k->dnu;
    }
    return a;
}

/* The mean gap of the pairs after a step a. */
static double gap_after(const cone *cones, int nc, double a) {
    double sum = 0;
    int pairs = 0;
    for (int i = 0; i < nc; i++) {
        const cone *k = cones + i;
        if (k->kind) {
            pairs += gap_of_joint(k, a, &sum);
            continue;
        }
        pairs++;
        for (int r = 0; r < 3; r++) sum += (k->x[r] + a * k->dx[r]) * (k->w[r] + a * k->dw[r]);
        if (k->paired) sum += (k->normal + a * k->dx[0]) * (k->nu + a * k->dnu), pairs++;
    }
    return pairs > 0 ? sum / pairs : 0;
}

static double mean_gap(const cone *cones, int nc) {
    return gap_after(cones, nc, 0);
}

static bool iterate(ti_contact_ws *ws, const ti_contact_problem *p, cone *cones, const ti_interior_settings *b) {
    double gap = mean_gap(cones, p->nc);
    linearise(ws, p, cones, gap);
    impulses(ws, p, cones, ws->lambda);
    ti_contact_momentum(ws, p, ws->vi, ws->lambda);
    ws->iterations++;
    if (ti_system_factor(&ws->sys, p, ws->D) != TRIBO_OK) return false;
    direction(ws, p, cones, 0, false);
    double a = 0.999 * longest(cones, p->nc);
    double share = gap_after(cones, p->nc, a < 1 ? a : 1) / gap;
    share = pow(share > 0 ? share : 0, b->power);
    double sigma = share > b->floor ? (share < 1 ? share : 1) : b->floor;
    for (int i = 0; i < p->nc; i++) {
        for (int r = 0; r < 3; r++) cones[i].ax[r] = cones[i].dx[r], cones[i].aw[r] = cones[i].dw[r];
        cones[i].anu = cones[i].dnu, cones[i].abound = cones[i].dbound;
        memcpy(cones[i].aside, cones[i].dside, sizeof cones[i].aside);
    }
    direction(ws, p, cones, ti_max(sigma * gap, b->gap), true);
    a = b->fraction * longest(cones, p->nc);
    if (a > 1) a = 1;
    if (!(a > 1e-12)) return false; /* NaN too */
    for (int i = 0; i < p->nc; i++) {
        for (int r = 0; r < 3; r++) cones[i].x[r] += a * cones[i].dx[r], cones[i].w[r] += a * cones[i].dw[r];
        cones[i].normal += a * cones[i].dx[0], cones[i].nu += a * cones[i].dnu;
        for (int s = 0; s < 2; s++) cones[i].side[s] += a * cones[i].dside[s];
        cones[i].bound += a * cones[i].dbound;
        cones[i].x[0] = cones[i].normal + cones[i].rebound;
    }
    for (int k = 0; k < p->nv; k++) ws->vi[k] += a * ws->dv[k];
    return true;
}

enum { STALL = 12 };

bool ti_ncp_interior(ti_contact_ws *ws, const ti_contact_problem *p, double R, const ti_interior_settings *b,
                     double rough, int *done, int iterations) {
    cone *cones = ws->cones;
    if (*done == 0) {
        begin(ws, p, R, b->local, cones);
        impulses(ws, p, cones, ws->lambda); /* with its momentum balanced from the start: a light body would run away */
        if (!ti_contact_balance(ws, p, ws->lambda, ws->vi)) return false;
    }
    bool fine = true;
    double before = HUGE_VAL;
    for (int first = *done; *done < iterations && fine; ++*done) {
        double gap = mean_gap(cones, p->nc);
        if (gap < rough) break;
        if ((*done - first) % STALL == 0) { /* where it converges the gap falls by more than this in one step */
            fine = gap < 0.5 * before, before = gap;
            if (!fine) break;
        }
        fine = iterate(ws, p, cones, b);
    }
    impulses(ws, p, cones, ws->lambda);
    memcpy(ws->v, ws->vi, p->nv * sizeof(double));
    return fine;
}

size_t ti_ncp_interior_size(void) {
    return sizeof(cone);
}
