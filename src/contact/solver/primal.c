/* primal.c -- the convex relaxation by Newton on its primal: the kinetic energy of v - vfree, and a smooth conic cost
 * of each contact's velocity. docs/math.md eq. (84)-(87).
 *
 * A compliance makes the cost smooth. Where the model has too little, some is added, and its effect removed by the
 * method of multipliers: each round is anchored at the impulses of the one before, so that the limit is the hard
 * solution.
 */
#include "contact/solver/solvers.h"
#include <math.h>

/* The added compliance, in units of the contact's G_nn: in the first round, in the second, at least. `slow`: the rate
 * of convergence above which it is lowered. */
static const double first = 1e-2, then = 1e-4, least = 1e-9, slow = 0.2;
enum { STEPS = 60, ROUNDS = 100, SEARCHES = 40 };

typedef struct primal {
    double *R;      /* (2 nc) compliance along the normal and across, the added one included */
    double *extra;  /* (nc) */
    double *anchor; /* (3 nc) ref - (added compliance) (impulses of the round before) */
    double *along;  /* (3 nc) J dv */
    double *inert;  /* (nv) M (v - vfree) */
    double *moved;  /* (nv) M dv */
    ti_contact_solution end;
} primal;

_Static_assert(sizeof(primal) <= TI_SCRATCH_MAX, "scratch of the primal");

void ti_primal_carve(ti_arena *m, const ti_contact_sizes *sizes, void *scratch) {
    primal *s = scratch;
    size_t nc = sizes->nc;
    TI_CARVE(m, s->R, 2 * nc);
    TI_CARVE(m, s->extra, nc);
    TI_CARVE(m, s->anchor, 3 * nc);
    TI_CARVE(m, s->along, 3 * nc);
    TI_CARVE(m, s->inert, sizes->nv);
    TI_CARVE(m, s->moved, sizes->nv);
    ti_contact_solution_carve(m, sizes->nc, sizes->nv, &s->end);
}

/* ---------------------------------------------------------------- the cost of a contact */

static void diagonal(double t, double n, double *H) {
    memset(H, 0, 9 * sizeof *H);
    H[0] = H[4] = t, H[8] = n;
}

/* lambda = the projection of -R^-1 c on the cone in the norm of R, and H = -dlambda/dc; docs/math.md eq. (85), (86). */
static void respond(double mu, const double *R, const double *c, double *l, double *H) {
    double n = -c[2] / R[0], t0 = -c[0] / R[1], t1 = -c[1] / R[1], length = sqrt(t0 * t0 + t1 * t1);
    double q = R[1] / R[0], inverse = 1 / (1 + mu * mu * q), side = (n + mu * q * length) * inverse;
    if (!(side > 0)) {
        l[0] = l[1] = l[2] = 0;
        diagonal(0, 0, H);
        return;
    }
    if (length <= mu * n) {
        l[0] = t0, l[1] = t1, l[2] = n;
        diagonal(1 / R[1], 1 / R[0], H);
        return;
    }
    double d0 = t0 / length, d1 = t1 / length, stiff = inverse / R[0], bend = mu * side / (length * R[1]);
    double u0 = mu * d0, u1 = mu * d1;
    l[0] = u0 * side, l[1] = u1 * side, l[2] = side;
    H[0] = stiff * u0 * u0 + bend * d1 * d1, H[1] = H[3] = stiff * u0 * u1 - bend * d0 * d1;
    H[4] = stiff * u1 * u1 + bend * d0 * d0;
    H[2] = H[6] = stiff * u0, H[5] = H[7] = stiff * u1, H[8] = stiff;
}

/* Impulses and Hessians at the velocities ws->c. */
static void respond_all(ti_contact_ws *ws, const ti_contact_problem *p) {
    const primal *s = ws->scratch;
    for (int i = 0; i < p->nc; i++) respond(p->mu[i], s->R + 2 * i, ws->c + 3 * i, ws->lambda + 3 * i, ws->D + 9 * i);
}

/* The derivative of the cost along dv at v + step dv, and its curvature. */
static double slope_at(const ti_contact_ws *ws, const ti_contact_problem *p, double step, double linear,
                       double quadratic, double *curvature) {
    const primal *s = ws->scratch;
    double slope = linear + step * quadratic, bend = quadratic;
    for (int i = 0; i < p->nc; i++) {
        const double *e = s->along + 3 * i, *c0 = ws->c + 3 * i;
        double c[3] = {c0[0] + step * e[0], c0[1] + step * e[1], c0[2] + step * e[2]}, l[3], H[9];
        respond(p->mu[i], s->R + 2 * i, c, l, H);
        for (int r = 0; r < 3; r++) {
            slope -= l[r] * e[r];
            bend += e[r] * (H[3 * r] * e[0] + H[3 * r + 1] * e[1] + H[3 * r + 2] * e[2]);
        }
    }
    *curvature = bend;
    return slope;
}

/* The minimum of the cost along dv: Newton on its derivative, which is monotone, safeguarded by a bracket. */
static double search(const ti_contact_ws *ws, const ti_contact_problem *p, double slope0) {
    const primal *s = ws->scratch;
    double linear = 0, quadratic = 0, low = 0, high = HUGE_VAL, step = 1;
    for (int k = 0; k < p->nv; k++) linear += ws->dv[k] * s->inert[k], quadratic += ws->dv[k] * s->moved[k];
    for (int it = 0; it < SEARCHES; it++) {
        double bend, slope = slope_at(ws, p, step, linear, quadratic, &bend);
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

static void velocities(ti_contact_ws *ws, const ti_contact_problem *p) {
    const primal *s = ws->scratch;
    ti_contact_problem pulled = *p;
    pulled.ref = s->anchor;
    ti_system_jv(&ws->sys, &pulled, ws->v, true, ws->c);
}

/* Minimise the cost from ws->v, until a step gains less than the energy `enough`; the impulses there. False if steps
 * run out or a factorization fails. */
static bool descend(ti_contact_ws *ws, const ti_contact_problem *p, double enough) {
    primal *s = ws->scratch;
    double before = HUGE_VAL;
    for (int it = 0; it < STEPS && ws->iterations < ws->max_iter; it++) {
        velocities(ws, p);
        respond_all(ws, p);
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
        double step = search(ws, p, fall);
        for (int k = 0; k < p->nv; k++) ws->v[k] += step * ws->dv[k];
    }
    return false;
}

/* ---------------------------------------------------------------- rounds */

/* Set R = the model's compliance, plus `share` of G_nn where that is too little, anchored at the present impulses.
 * Whether any was added. */
static bool regularise(ti_contact_ws *ws, const ti_contact_problem *p, double share) {
    primal *s = ws->scratch;
    bool any = false;
    for (int i = 0; i < p->nc; i++) {
        const double *R = p->R ? p->R + 3 * i : NULL, *l = ws->lambda + 3 * i;
        double model = R ? R[2] : 0, across = R ? R[0] : 0, Gnn = ws->G.Gii[9 * i + 8] - model;
        double extra = model < then * Gnn || across < 1e-2 * then * Gnn ? share * Gnn : 0;
        any = any || extra > 0;
        s->R[2 * i] = model + extra, s->R[2 * i + 1] = across + extra;
        for (int r = 0; r < 3; r++) s->anchor[3 * i + r] = p->ref[3 * i + r] - extra * l[r];
    }
    return any;
}

void ti_primal_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol) {
    primal *s = ws->scratch;
    size_t n3 = 3 * (size_t)p->nc;
    double best = HUGE_VAL, before = HUGE_VAL, share = first, enough = 1e-4 * tol * tol * ws->merit;
    for (int round = 0, idle = 0; round < ROUNDS && idle < 12; round++) {
        bool extra = regularise(ws, p, share);
        bool there = descend(ws, p, enough);
        ti_contact_velocity(ws, p, ws->lambda, ws->v);
        double r = ti_contact_law_residual(ws, p, ws->v, ws->lambda);
        if (r <= tol) r = ti_contact_residual(ws, p, ws->law, ws->v, ws->lambda, NULL); /* by the final criterion */
        if (!(r < HUGE_VAL)) break;
        idle = r < 0.9 * best ? 0 : idle + 1;
        if (r < best) best = r, memcpy(ws->lb, ws->lambda, n3 * sizeof(double));
        if (r <= tol || ws->iterations >= ws->max_iter) break;
        if (!extra || idle > 0) enough *= 1e-2;
        if (round == 0)
            share = then;
        else if (!there || r >= before) /* rounding over the added compliance limits the impulses' accuracy: add more */
            share = share < 0.1 * then ? 10 * share : then;
        else if (r > slow * before)
            share = share > 10 * least ? 0.1 * share : least;
        before = r;
    }
    if (!(best < HUGE_VAL)) return;
    memcpy(ws->lambda, ws->lb, n3 * sizeof(double));
    memcpy(s->anchor, ws->lambda, n3 * sizeof(double));
    ti_contact_end(ws, p, tol, s->anchor, &s->end);
}
