/* bisection.c -- the exact solution of one contact, the others held: bracketed Newton steps on its direction of slip.
 *
 * docs/math.md eq. (97), (99). Impulses on the edge of the cone that leave no normal velocity form a curve, with the
 * direction d of friction as its parameter. RaiSim takes the one of least kinetic energy [Hwangbo18]; corrected, the
 * one that opposes its own slip, which is the NCP's [LeLidec24b].
 */
#include "contact/law/bisection.h"
#include <math.h>

typedef struct vec {
    double x, y;
} vec;

static inline double dot(vec a, vec b) {
    return a.x * b.x + a.y * b.y;
}
static inline double cross(vec a, vec b) {
    return a.x * b.y - a.y * b.x;
}
static inline vec turned(vec a) {
    return (vec){-a.y, a.x};
}
/* x a + y b */
static inline vec mix(double x, vec a, double y, vec b) {
    return (vec){x * a.x + y * b.x, x * a.y + y * b.y};
}
static inline vec unit(vec a) {
    double s = 1 / sqrt(dot(a, a));
    return (vec){s * a.x, s * a.y};
}

/* The curve: at d the normal impulse is beta / N and the slip -q / N, with N = 1 + a.d and q = -(p + P d). */
typedef struct curve {
    double mu, beta;
    vec a, p, Px, Py; /* columns of P */
    vec stick;        /* the tangential impulse that would hold the contact */
    double stick_n;   /* and the normal one */
    double shift;     /* 1: RaiSim's law, q along d + a; 0: the NCP, q along d */
} curve;

static inline vec q_at(const curve *k, vec d) {
    return (vec){-(k->p.x + k->Px.x * d.x + k->Py.x * d.y), -(k->p.y + k->Px.y * d.x + k->Py.y * d.y)};
}

/* The sine by which q is ahead of the direction that it should have, eq. (99), times lengths; and its derivative as d
 * turns. */
static inline double ahead(const curve *k, vec d, double *change) {
    *change = 0;
    if (!(1 + dot(k->a, d) > 0)) return cross(d, k->a); /* no such impulse: turn towards those that are */
    vec w = mix(1, d, k->shift, k->a), t = turned(d), q = q_at(k, d);
    vec dq = {-(k->Px.x * t.x + k->Py.x * t.y), -(k->Px.y * t.x + k->Py.y * t.y)};
    *change = cross(t, q) + cross(w, dq);
    return cross(w, q);
}

/* Directions of a sector counterclockwise. */
typedef struct sector {
    vec from, to;
} sector;

static inline bool is_inside(const sector *s, vec d) {
    return cross(s->from, d) >= 0 && cross(d, s->to) >= 0;
}
static inline vec middle(const sector *s) {
    vec m = mix(1, s->from, 1, s->to);
    return dot(m, m) > 1e-20 ? unit(m) : turned(s->from);
}

/* The root of ahead() in a sector of at most half a turn, positive at its start and negative at its end; from `d`. */
static vec root_in(const curve *k, sector s, vec d) {
    double before = HUGE_VAL;
    if (!is_inside(&s, d)) d = middle(&s);
    for (int it = 0; it < 80; it++) {
        double change, x = ahead(k, d, &change), step = -x / change;
        if (x > 0)
            s.from = d;
        else
            s.to = d;
        vec next = unit(mix(1, d, step, turned(d)));
        bool good = change < 0 && fabs(step) < 0.5 * before && is_inside(&s, next);
        if (good && fabs(step) < 1e-14) return next;
        if (!good) {
            next = middle(&s);
            if (fabs(cross(d, next)) < 1e-15 && dot(d, next) > 0) return next;
        }
        before = good ? fabs(step) : HUGE_VAL;
        d = next;
    }
    return d;
}

/* The part of the curve that is seen from where the contact would stick: between its two tangents, and at finite
 * impulses. */
static sector visible(const curve *k, vec towards, double part) {
    vec t = turned(towards);
    double c = part > -1 ? part : -1, h = sqrt(1 - c * c), aa = dot(k->a, k->a);
    sector s = {mix(c, towards, -h, t), mix(c, towards, h, t)};
    if (aa < 1) return s;
    double reach = sqrt(aa - 1);
    if (!(1 + dot(k->a, s.from) > 0)) s.from = mix(-1 / aa, k->a, -reach / aa, turned(k->a));
    if (!(1 + dot(k->a, s.to) > 0)) s.to = mix(-1 / aa, k->a, reach / aa, turned(k->a));
    return s;
}

static vec sliding_direction(const curve *k, const double *l) {
    double size = sqrt(dot(k->stick, k->stick)), before = l[0] * l[0] + l[1] * l[1];
    vec towards = mix(1 / size, k->stick, 0, k->stick);
    vec d = before > 0 ? unit((vec){l[0], l[1]}) : towards;
    double part = k->mu * k->stick_n / size, change;
    sector s = visible(k, towards, part);
    if (k->shift == 0) { /* q, and so d, is within half a turn: seen from q = 0 the ends of the curve change sides */
        sector image = {unit(q_at(k, s.to)), unit(q_at(k, s.from))};
        return root_in(k, image, d);
    }
    if (part < 0) { /* more than half a turn */
        if (ahead(k, towards, &change) > 0)
            s.from = towards;
        else
            s.to = towards;
    }
    return root_in(k, s, d);
}

/* G's Schur complement at the normal gives the impulse that would hold the contact. False if it has none. */
static bool curve_of(const ti_law_contact *contact, const double *free, double shift, curve *k) {
    const double *G = contact->Gii;
    double mu = contact->mu, inverse = 1 / G[8], beta = -free[2] * inverse;
    vec g = {G[6], G[7]}, b = {free[0], free[1]};
    *k = (curve){.mu = mu, .beta = beta, .shift = shift};
    k->a = mix(mu * inverse, g, 0, g), k->p = mix(1, b, beta, g);
    double xx = G[0] - g.x * g.x * inverse, xy = G[1] - g.x * g.y * inverse, yy = G[4] - g.y * g.y * inverse;
    double det = xx * yy - xy * xy;
    if (!(det > 0)) return false;
    k->stick = (vec){-(yy * k->p.x - xy * k->p.y) / det, -(xx * k->p.y - xy * k->p.x) / det};
    k->stick_n = beta - dot(g, k->stick) * inverse;
    k->Px = mix(k->a.x, b, beta * mu, (vec){G[0], G[1]}), k->Py = mix(k->a.y, b, beta * mu, (vec){G[1], G[4]});
    return true;
}

static inline void bisect(const ti_law_contact *contact, const double *free, double shift, double *l) {
    curve k;
    if (free[2] >= 0) {
        l[0] = l[1] = l[2] = 0;
        return;
    }
    if (!(contact->mu > 0)) {
        l[0] = l[1] = 0, l[2] = -free[2] / contact->Gii[8];
        return;
    }
    if (!curve_of(contact, free, shift, &k)) {
        ti_law_ncp.local(contact, free, l);
        return;
    }
    double edge = k.stick_n > 0 ? k.mu * k.stick_n : 0;
    if (dot(k.stick, k.stick) <= edge * edge) {
        l[0] = k.stick.x, l[1] = k.stick.y, l[2] = k.stick_n;
        return;
    }
    vec d = sliding_direction(&k, l);
    double n = 1 + dot(k.a, d);
    if (!(n > 0 && dot(q_at(&k, d), mix(1, d, shift, k.a)) >=
                       0)) { /* no solution that slides: mu is so large that sliding presses the bodies together */
        ti_law_ncp.local(contact, free, l);
        return;
    }
    l[2] = k.beta / n, l[0] = k.mu * l[2] * d.x, l[1] = k.mu * l[2] * d.y;
}

void ti_bisect_raisim(const ti_law_contact *contact, const double *free, double *lambda) {
    bisect(contact, free, 1, lambda);
}

void ti_bisect_ncp(const ti_law_contact *contact, const double *free, double *lambda) {
    bisect(contact, free, 0, lambda);
}
