/* primal.c -- the convex relaxation by Newton on its primal: the kinetic energy of v - vfree, and a smooth conic cost
 * of each contact's velocity. docs/math.md eq. (84)-(87).
 *
 * A compliance makes the cost smooth. Where the model has too little, some is added, and its effect removed by the
 * method of multipliers: each round is anchored at the impulses of the one before, so that the limit is the hard
 * solution.
 */
#include "contact/ladder/primal.h"
#include <limits.h>
#include <math.h>

/* The least that is added, in units of the contact's G_nn, and the rate of convergence above which it is lowered. */
static const double least = 1e-9, slow = 0.2;
enum { STEPS = 60, ROUNDS = 100, SEARCHES = 40 };

/* Arrays of the workspace that nothing below needs otherwise. */
typedef struct primal {
    double *R;      /* (2 nc) compliance along the normal and across, the added one included */
    double *extra;  /* (nc) */
    double *anchor; /* (3 nc) ref - (added compliance) (impulses of the round before) */
    double *along;  /* (3 nc) J dv */
    double *inert;  /* (nv) M (v - vfree) */
    double *moved;  /* (nv) M dv */
} primal;

static primal borrowed(const ti_contact_ws *ws, const ti_contact_problem *p) {
    return (primal){ws->Ainv, ws->Ainv + 2 * p->nc, ws->ref, ws->f, ws->vt, ws->ds};
}

/* ---------------------------------------------------------------- the cost of a contact */

static void diagonal(double t, double n, double *H) {
    memset(H, 0, 9 * sizeof *H);
    H[0] = H[4] = t, H[8] = n;
}

/* lambda = the projection of -R^-1 c on the cone in the norm of R, and H = -dlambda/dc; docs/math.md eq. (85), (86).
 * Where a normal impulse `given` acts besides, the cone has its apex below by that, and is cut off at lambda_n = 0. */
static void respond(double mu, double given, const double *R, const double *c, double *l, double *H) {
    double n = -c[2] / R[0], t0 = -c[0] / R[1], t1 = -c[1] / R[1], length = sqrt(t0 * t0 + t1 * t1);
    double q = R[1] / R[0], inverse = 1 / (1 + mu * mu * q), side = (n + given + mu * q * length) * inverse;
    bool cut = !(side > given);
    double radius = mu * (cut ? given : n + given);
    if (length <= radius) {
        l[0] = t0, l[1] = t1, l[2] = cut ? 0 : n;
        diagonal(1 / R[1], cut ? 0 : 1 / R[0], H);
        return;
    }
    if (!cut) radius = mu * side;
    double d0 = t0 / length, d1 = t1 / length, stiff = cut ? 0 : inverse / R[0], bend = radius / (length * R[1]);
    double u0 = mu * d0, u1 = mu * d1;
    l[0] = radius * d0, l[1] = radius * d1, l[2] = cut ? 0 : side - given;
    H[0] = stiff * u0 * u0 + bend * d1 * d1, H[1] = H[3] = stiff * u0 * u1 - bend * d0 * d1;
    H[4] = stiff * u1 * u1 + bend * d0 * d0;
    H[2] = H[6] = stiff * u0, H[5] = H[7] = stiff * u1, H[8] = stiff;
}

/* The same of what is no contact. */
static void respond_joint(bool dry, double bound, const double *R, const double *c, double *l, double *H) {
    l[0] = dry ? 0 : -c[0] / R[1], l[1] = dry ? 0 : -c[1] / R[1], l[2] = -c[2] / R[0];
    bool slides = dry && !(fabs(l[2]) <= bound);
    if (slides) l[2] = l[2] > 0 ? bound : -bound;
    diagonal(dry ? 0 : 1 / R[1], slides ? 0 : 1 / R[0], H);
}

static void respond_at(const ti_contact_problem *p, const primal *s, int i, const double *c, double *l, double *H) {
    const double *R = s->R + 2 * i;
    if (ti_is_contact(p, i))
        respond(p->mu[i], p->rebound ? p->rebound[i] : 0, R, c, l, H);
    else
        respond_joint(p->what[i] == TI_CONSTRAINT_DRY, p->mu[i], R, c, l, H);
}

/* Impulses and Hessians at the velocities ws->c. */
static void respond_all(ti_contact_ws *ws, const ti_contact_problem *p, const primal *s) {
    for (int i = 0; i < p->nc; i++) respond_at(p, s, i, ws->c + 3 * i, ws->lambda + 3 * i, ws->D + 9 * i);
}

/* The derivative of the cost along dv at v + step dv, and its curvature. */
static double slope_at(const ti_contact_ws *ws, const ti_contact_problem *p, const primal *s, double step,
                       double linear, double quadratic, double *curvature) {
    double slope = linear + step * quadratic, bend = quadratic;
    for (int i = 0; i < p->nc; i++) {
        const double *e = s->along + 3 * i, *c0 = ws->c + 3 * i;
        double c[3] = {c0[0] + step * e[0], c0[1] + step * e[1], c0[2] + step * e[2]}, l[3], H[9];
        respond_at(p, s, i, c, l, H);
        for (int r = 0; r < 3; r++) {
            slope -= l[r] * e[r];
            bend += e[r] * (H[3 * r] * e[0] + H[3 * r + 1] * e[1] + H[3 * r + 2] * e[2]);
        }
    }
    *curvature = bend;
    return slope;
}

/* The minimum of the cost along dv: Newton on its derivative, which is monotone, safeguarded by a bracket. */
static double search(const ti_contact_ws *ws, const ti_contact_problem *p, const primal *s, double slope0) {
    double linear = 0, quadratic = 0, low = 0, high = HUGE_VAL, step = 1;
    for (int k = 0; k < p->nv; k++) linear += ws->dv[k] * s->inert[k], quadratic += ws->dv[k] * s->moved[k];
    for (int it = 0; it < SEARCHES; it++) {
        double bend, slope = slope_at(ws, p, s, step, linear, quadratic, &bend);
        if (!(fabs(slope) > 1e-2 * slope0)) break;
        if (slope < 0)
            low = step;
        else
            high = step;
        step -= slope / bend;
        if (!(step > low && step < high)) step = high < HUGE_VAL ? 0.5 * (low + high) : 2 * low + 1;
    }
    return step;
}

/* ---------------------------------------------------------------- Newton */

static void velocities(ti_contact_ws *ws, const ti_contact_problem *p, const primal *s) {
    ti_contact_problem pulled = *p;
    pulled.ref = s->anchor;
    ti_system_jv(&ws->sys, &pulled, ws->v, true, ws->c);
}

/* Minimise the cost from ws->v, until a step gains less than the energy `enough`; the impulses there. False if steps
 * run out or a factorization fails. */
static bool descend(ti_contact_ws *ws, const ti_contact_problem *p, const primal *s, double enough) {
    double before = HUGE_VAL;
    for (int it = 0; it < STEPS && ws->iterations < ws->max_iter; it++) {
        velocities(ws, p, s);
        respond_all(ws, p, s);
        for (int k = 0; k < p->nv; k++) ws->dv[k] = ws->v[k] - p->vfree[k];
        ti_system_mv(&ws->sys, p, ws->dv, s->inert);
        for (int k = 0; k < p->nv; k++) ws->dv[k] = -s->inert[k];
        ti_system_jt(&ws->sys, p, ws->lambda, ws->dv);
        memcpy(ws->r, ws->dv, p->nv * sizeof(double));
        ws->iterations++;
        if (ti_system_factor(&ws->sys, p, ws->D) != TRIBO_OK) return false;
        ti_system_solve(&ws->sys, 1, ws->dv);
        double fall = 0;
        for (int k = 0; k < p->nv; k++) fall += ws->r[k] * ws->dv[k];
        if (!(fall > enough)) return fall == fall; /* the impulses are those at v: no last step */
        if (fall > 0.5 * before && fall < 1e-20 * ws->merit) return true; /* rounding */
        before = fall;
        ti_system_jv(&ws->sys, p, ws->dv, false, s->along);
        ti_system_mv(&ws->sys, p, ws->dv, s->moved);
        double step = search(ws, p, s, fall);
        for (int k = 0; k < p->nv; k++) ws->v[k] += step * ws->dv[k];
    }
    return false;
}

/* ---------------------------------------------------------------- rounds */

/* Set R = the model's compliance, plus `share` of G_nn where that is too little, anchored at the present impulses.
 * Whether any was added. */
static bool regularise(const ti_contact_ws *ws, const ti_contact_problem *p, const primal *s, double share) {
    bool any = false;
    for (int i = 0; i < p->nc; i++) {
        const double *R = p->R ? p->R + 3 * i : NULL, *l = ws->lambda + 3 * i;
        double model = R ? R[2] : 0, across = R ? R[0] : 0, Gnn = ws->scale[i].g_n;
        double extra = model < TI_PRIMAL_THEN * Gnn || across < 1e-2 * TI_PRIMAL_THEN * Gnn ? share * Gnn : 0;
        any = any || extra > 0;
        s->extra[i] = extra;
        s->R[2 * i] = model + extra, s->R[2 * i + 1] = across + extra;
        for (int r = 0; r < 3; r++) s->anchor[3 * i + r] = p->ref[3 * i + r] - extra * l[r];
    }
    return any;
}

/* How far a round leaves the iterate from the problem without added compliance: velocities that this still makes, and
 * momenta. */
static double by_anchors(ti_contact_ws *ws, const ti_contact_problem *p, double tol) {
    const primal s = borrowed(ws, p);
    double most = 0;
    (void)tol;
    for (int k = 0; k < 3 * p->nc; k++)
        most = ti_max(most, fabs(s.extra[k / 3] * ws->lambda[k] - (p->ref[k] - s.anchor[k])));
    return ti_max(most / (ws->unit_c > 0 ? ws->unit_c : 1), sqrt(ti_contact_energy_of(ws, p, ws->r) / ws->merit));
}

bool ti_primal_rounds(ti_contact_ws *ws, const ti_contact_problem *p, double tol, const ti_primal_manner *m) {
    const primal s = borrowed(ws, p);
    double best = HUGE_VAL, before = HUGE_VAL, share = m->first, enough = 1e-4 * tol * tol * ws->merit;
    for (int round = 0, idle = 0; round < ROUNDS && idle < m->idle; round++) {
        bool extra = regularise(ws, p, &s, share);
        bool there = descend(ws, p, &s, enough);
        double r = m->left(ws, p, tol);
        if (!(r < HUGE_VAL)) break;
        idle = r < 0.9 * best ? 0 : idle + 1;
        if (r < best) {
            best = r;
            memcpy(ws->lb, ws->lambda, 3 * (size_t)p->nc * sizeof(double));
            memcpy(ws->vb, ws->v, (size_t)p->nv * sizeof(double));
        }
        if (r <= tol || ws->iterations >= ws->max_iter) break;
        if (!extra || idle > 0) enough *= 1e-2;
        if (round == 0)
            share = TI_PRIMAL_THEN;
        else if (!there || r >= before) /* rounding over the added compliance limits the impulses' accuracy: add more */
            share = share < 0.1 * m->most ? 10 * share : m->most;
        else if (r > slow * before)
            share = share > 10 * least ? 0.1 * share : least;
        before = r;
    }
    return best < HUGE_VAL;
}

bool ti_primal_held(ti_contact_ws *ws, const ti_contact_problem *p, double tol, bool near) {
    const ti_primal_manner by_both = {near ? TI_PRIMAL_THEN : TI_PRIMAL_FIRST, TI_PRIMAL_FIRST, near ? 3 : 8,
                                      by_anchors};
    int most = ws->max_iter;
    ws->max_iter = INT_MAX;
    bool any = ti_primal_rounds(ws, p, tol, &by_both);
    ws->max_iter = most;
    if (!any) return false;
    memcpy(ws->lambda, ws->lb, 3 * (size_t)p->nc * sizeof(double));
    memcpy(ws->v, ws->vb, (size_t)p->nv * sizeof(double));
    return true;
}
