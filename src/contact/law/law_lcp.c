/* law_lcp.c -- the friction pyramid at one contact: Signorini, and the impulse across in a regular polygon.
 *
 * With z = lambda - rho c, the impulse across is the point of mu z_n P nearest to z_t. Where it lies on an edge, the
 * velocity along the edge is zero; at a vertex the impulse is known. docs/math.md eq. (90), (91).
 */
#include "contact/law/pyramid.h"
#include <string.h>

/* Distance of lambda to the cone over the polygon. The polygon is its own mirror image, so the nearest point is in the
 * same sector, where there is one facet and half of it. docs/math.md eq. (92). */
static double cone_distance(const ti_pyramid *y, double mu, const double *l) {
    if (l[2] >= 0 && ti_inside(y, mu * l[2], l)) return 0;
    int k = ti_sector(y, l);
    double x = ti_across(y, k, l), s = fabs(ti_along(y, k, l)), n = l[2], a = mu * y->apothem, h = mu * y->half;
    double step = (x - a * n) / (1 + a * a), foot = x - step, up = n + step * a;
    if (up >= 0 && foot >= 0 && s <= h * up) return step * sqrt(1 + a * a);
    double t = (a * x + h * s + n) / (a * a + h * h + 1); /* along the pyramid's edge */
    if (t < 0) t = 0;
    double dx = x - t * a, ds = s - t * h, dn = n - t;
    return sqrt(dx * dx + ds * ds + dn * dn);
}

/* ---------------------------------------------------------------- the law */

/* What is projected, z = lambda - rho c, and the size mu z_n of the polygon. */
typedef struct trial {
    double t[2], n, size;
} trial;

static inline trial trial_of(const ti_law_contact *s, const double *l, const double *c) {
    double rt = s->scale->rho_t;
    trial z = {{l[0] - rt * c[0], l[1] - rt * c[1]}, l[2] - s->scale->rho_n * c[2], 0};
    z.size = s->mu * (z.n > 0 ? z.n : 0);
    return z;
}

static unsigned char mode(const ti_law_contact *s, const double *l, const double *c) {
    const ti_pyramid *y = s->pyramid;
    trial z = trial_of(s, l, c);
    if (!(z.n > 0)) return TRIBO_BREAK;
    int part = ti_part(y, z.size, z.t);
    return part == TI_INSIDE ? TRIBO_STICK : (unsigned char)(TRIBO_SLIDE + part - 1);
}

/* One row across the edge and one along it, not mixed, so that the small compliance enters one of them alone. */
static void slope_at_edge(const ti_law_contact *s, int k, const trial *z, const double *l, const double *c,
                          ti_law_slope *out) {
    const double *e = s->pyramid->e[k], a = s->pyramid->apothem, rt = s->scale->rho_t;
    out->F[0] = e[0] * l[0] + e[1] * l[1] - a * z->size, out->F[1] = rt * (e[0] * c[1] - e[1] * c[0]);
    out->l[0] = e[0], out->l[1] = e[1], out->l[2] = -s->mu * a;
    out->c[2] = s->mu * a * s->scale->rho_n, out->c[3] = -rt * e[1], out->c[4] = rt * e[0];
    out->mu[0] = -a * z->n;
}

static void slope_at_vertex(const ti_law_contact *s, int k, const trial *z, const double *l, ti_law_slope *out) {
    const double *d = s->pyramid->d[k];
    for (int r = 0; r < 2; r++) {
        out->F[r] = l[r] - z->size * d[r], out->l[4 * r] = 1;
        out->l[3 * r + 2] = -s->mu * d[r], out->c[3 * r + 2] = s->mu * s->scale->rho_n * d[r];
        out->mu[r] = -d[r] * z->n;
    }
}

static void slope(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, ti_law_slope *out) {
    trial z = trial_of(s, l, c);
    double rn = s->scale->rho_n, rt = s->scale->rho_t;
    memset(out, 0, sizeof *out);
    if (mode == TRIBO_BREAK) {
        memcpy(out->F, l, sizeof out->F);
        out->l[0] = out->l[4] = out->l[8] = 1;
        return;
    }
    out->F[2] = rn * c[2], out->c[8] = rn;
    if (mode == TRIBO_STICK) {
        out->F[0] = rt * c[0], out->F[1] = rt * c[1];
        out->c[0] = out->c[4] = rt;
        return;
    }
    /* continued linearly to z_n < 0, so that Newton returns from there */
    z.size = s->mu * z.n;
    int k = mode - TRIBO_SLIDE;
    if (k < s->pyramid->n)
        slope_at_edge(s, k, &z, l, c, out);
    else
        slope_at_vertex(s, k - s->pyramid->n, &z, l, out);
}

/* Whether the velocity is one that pushes the impulse to part k of the polygon, on which it already is. Among redundant
 * contacts that velocity is in proportion to the small compliance, and the rounding of z would hide it. */
static bool slides(const ti_law_contact *s, int k, const double *l, const double *c, double slack, double speed) {
    const ti_pyramid *y = s->pyramid;
    if (k < y->n)
        return s->mu > 0 && ti_across(y, k, c) <= speed && fabs(ti_along(y, k, l)) <= s->mu * y->half * l[2] + slack;
    k -= y->n; /* the end of edge k - 1, the start of edge k; without friction the one vertex there is */
    return !(s->mu > 0) || (ti_along(y, (k > 0 ? k : y->n) - 1, c) <= speed && ti_along(y, k, c) >= -speed);
}

static bool agrees(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, double slack) {
    const ti_pyramid *y = s->pyramid;
    trial z = trial_of(s, l, c);
    if (mode == TRIBO_BREAK) return z.n <= slack;
    if (!(z.n >= -slack)) return false;
    if (mode == TRIBO_STICK) return s->mu > 0 && ti_across(y, ti_sector(y, z.t), z.t) <= y->apothem * z.size + slack;
    return slides(s, mode - TRIBO_SLIDE, l, c, slack, 1e-3 * slack * s->scale->g_t);
}

/* docs/math.md eq. (92). out[2]: the power that is left to dissipate, and that of the normal. */
static void residual(const ti_law_contact *s, const double *l, const double *c, double *out) {
    const ti_pyramid *y = s->pyramid;
    double against[2] = {-c[0], -c[1]};
    int k = ti_sector(y, against);
    double best = y->apothem * ti_across(y, k, against) + y->half * fabs(ti_along(y, k, against));
    out[0] = cone_distance(y, s->mu, l);
    out[1] = c[2] < 0 ? -c[2] : 0;
    out[2] = fabs(l[2] * c[2]) + fabs(l[0] * c[0] + l[1] * c[1] + s->mu * l[2] * best);
}

/* ---------------------------------------------------------------- one contact */

/* The minimum of t'Gt/2 + b't in `size` times the polygon, from its unconstrained minimum t; returns the part it is on.
 * Walks the edges downhill to one with its minimum inside, or to a vertex from which no edge leads down. */
static int least_in_polygon(const ti_pyramid *y, double size, const double *G, const double *b, double *t) {
    if (ti_inside(y, size, t)) return TI_INSIDE;
    int k = ti_sector(y, t), side = 0;
    double a = size * y->apothem, h = size * y->half;
    for (int walked = 0; walked < y->n; walked++) {
        const double *e = y->e[k], s[2] = {-e[1], e[0]};
        double sG[2] = {s[0] * G[0] + s[1] * G[3], s[0] * G[1] + s[1] * G[4]};
        double pull = s[0] * b[0] + s[1] * b[1] + a * (sG[0] * e[0] + sG[1] * e[1]);
        double u = -pull / (sG[0] * s[0] + sG[1] * s[1]);
        int turn = u > h ? 1 : u < -h ? -1 : 0, next = k + turn < 0 ? y->n - 1 : k + turn == y->n ? 0 : k + turn;
        double at = turn ? turn * h : u;
        t[0] = a * e[0] + at * s[0], t[1] = a * e[1] + at * s[1];
        if (turn == 0) return ti_edge(k);
        if (turn * side < 0) return ti_vertex(y, turn > 0 ? next : k); /* back where it came from */
        side = turn, k = next;
    }
    return ti_part(y, size, t);
}

/* The impulse l on an edge or a vertex for which nothing moves along the normal and the edge. False if that does not
 * satisfy the law. */
static bool on_part(const ti_law_contact *s, int part, const double *free, double *l) {
    const double *G = s->Gii;
    const ti_pyramid *y = s->pyramid;
    bool edge = part <= y->n;
    int k = edge ? part - 1 : part - 1 - y->n;
    const double *d = edge ? y->e[k] : y->d[k];
    double mu = s->mu * (edge ? y->apothem : 1), f[3], w[2] = {-y->e[k][1], y->e[k][0]}, n, u = 0, c[2];
    for (int r = 0; r < 3; r++) f[r] = G[3 * r + 2] + mu * (d[0] * G[3 * r] + d[1] * G[3 * r + 1]); /* of n = 1 */
    if (edge) {
        double wf = w[0] * f[0] + w[1] * f[1], wb = w[0] * free[0] + w[1] * free[1], nw = w[0] * G[6] + w[1] * G[7];
        double ww = w[0] * (G[0] * w[0] + G[1] * w[1]) + w[1] * (G[3] * w[0] + G[4] * w[1]), det = f[2] * ww - nw * wf;
        n = (nw * wb - ww * free[2]) / det, u = (wf * free[2] - f[2] * wb) / det;
        if (!(det > 0) || !(fabs(u) <= s->mu * y->half * n)) return false;
    } else {
        n = -free[2] / f[2];
        if (!(f[2] > 0)) return false;
    }
    for (int r = 0; r < 2; r++) c[r] = free[r] + n * f[r] + u * (w[0] * G[3 * r] + w[1] * G[3 * r + 1]);
    if (!(n > 0) ||
        (edge ? ti_across(y, k, c) > 0 : ti_along(y, k, c) < 0 || ti_along(y, (k > 0 ? k : y->n) - 1, c) > 0))
        return false;
    l[0] = mu * n * d[0] + u * w[0], l[1] = mu * n * d[1] + u * w[1], l[2] = n;
    return true;
}

/* If the contact does not stick: the normal impulse, then the minimum in the polygon that it allows; then both
 * together, on the part of the polygon that was found. */
static void local(const ti_law_contact *s, const double *free, double *l) {
    const double *G = s->Gii, *H = s->inverse;
    const ti_pyramid *y = s->pyramid;
    if (H) {
        double t[2] = {-(H[0] * free[0] + H[1] * free[1] + H[2] * free[2]),
                       -(H[3] * free[0] + H[4] * free[1] + H[5] * free[2])};
        double n = -(H[6] * free[0] + H[7] * free[1] + H[8] * free[2]);
        if (n > 0 && ti_inside(y, s->mu * n, t)) {
            l[0] = t[0], l[1] = t[1], l[2] = n;
            return;
        }
    }
    double n = -(free[2] + G[6] * l[0] + G[7] * l[1]) / G[8];
    l[2] = n > 0 ? n : 0;
    if (!(s->mu * l[2] > 0)) {
        l[0] = l[1] = 0;
        return;
    }
    double b[2] = {free[0] + G[2] * l[2], free[1] + G[5] * l[2]}, det = 1 / (G[0] * G[4] - G[1] * G[3]);
    l[0] = det * (G[1] * b[1] - G[4] * b[0]), l[1] = det * (G[3] * b[0] - G[0] * b[1]);
    int part = least_in_polygon(y, s->mu * l[2], G, b, l);
    if (part != TI_INSIDE) on_part(s, part, free, l);
}

/* ---------------------------------------------------------------- its margin */

/* docs/math.md eq. (93) */
static void margin(const ti_law_contact *s, unsigned char mode, const double *l, const double *c, double *out) {
    const ti_pyramid *y = s->pyramid;
    double a = s->mu * l[2] * y->apothem, h = s->mu * l[2] * y->half;
    out[0] = out[1] = HUGE_VAL;
    if (mode == TRIBO_STICK) {
        out[0] = a > 0 ? (a - ti_across(y, ti_sector(y, l), l)) / a : 0;
        return;
    }
    int k = mode - TRIBO_SLIDE;
    if (k < y->n) {
        out[0] = h > 0 ? (h - fabs(ti_along(y, k, l))) / h : 0, out[1] = -ti_across(y, k, c);
        return;
    }
    k -= y->n;
    double after = ti_along(y, k, c), before = -ti_along(y, (k > 0 ? k : y->n) - 1, c);
    out[1] = after < before ? after : before;
}

const ti_law ti_law_lcp = {
    .mode = mode, .slope = slope, .agrees = agrees, .residual = residual, .local = local, .margin = margin};

void ti_pyramid_of(const tribo_law_options *o, ti_pyramid *y) {
    const double pi = 3.14159265358979323846;
    double turn = pi / o->facets, far = o->circumscribed ? 1 / cos(turn) : 1;
    y->n = o->facets;
    y->apothem = far * cos(turn), y->half = far * sin(turn);
    for (int k = 0; k < y->n; k++) {
        double angle = o->facet_angle + 2 * k * turn;
        y->d[k][0] = far * cos(angle), y->d[k][1] = far * sin(angle);
        y->e[k][0] = cos(angle + turn), y->e[k][1] = sin(angle + turn);
    }
}
