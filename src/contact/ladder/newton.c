/* newton.c -- semismooth Newton on the contact law, and what follows once the modes are known. */
#include "contact/work/workspace.h"
#include "math/lanes.h"
#include <float.h>
#include <math.h>

static double largest(const double *a, int n) {
    double m = 0;
    for (int i = 0; i < n; i++) m = ti_max(m, fabs(a[i]));
    return m;
}

/* What evaluate() does: CHOOSE the modes, else keep those of ws->mode; CHORD: keep the matrix that was factored, else
 * linearise; KNOWN: J v + ref is in ws->c. */
typedef enum how { CHOOSE = 1, CHORD = 2, KNOWN = 4 } how;

/* Friction against turning i at c (3), in ws->c its contact's J v + ref; leaves A^-1 F in ws->f. Its bound in F is what
 * the contact will push with, by its trial impulse, where lambda does not say it yet; the linear equation is about
 * lambda_n itself. */
static unsigned char evaluate_spin(ti_contact_ws *ws, const ti_contact_problem *p, int i, const double *lambda,
                                   const double *c, ti_law_compliance Rc, ti_law_compliance R, int flags, double *F) {
    const ti_law *law = ti_law_at(ws, p, i);
    int host = ti_host_of(p, i);
    double n = ti_push_of(p, i, lambda), *e = ws->sys.coupling + 3 * i, *f = ws->f + 3 * i, *A = ws->Ainv + 9 * i;
    double come = ws->c[3 * host + 2] + ti_contact_stiffness(p, host, Rc).n * lambda[3 * host + 2];
    ti_law_contact contact = ti_law_contact_of(ws, p, i, lambda);
    ti_law_slope slope;
    contact.push = ti_max(contact.push, n - ws->scale[host].rho_n * come);
    unsigned char mode = flags & CHOOSE ? law->mode(&contact, lambda + 3 * i, c) : ws->mode[i];
    law->slope(&contact, mode, lambda + 3 * i, c, &slope);
    memcpy(F, slope.F, sizeof slope.F);
    if (!(flags & CHORD)) {
        ti_law_resolve(&slope, R, ws->D + 9 * i, A);
        ti_law_minus(A, slope.push, e);
    }
    for (int r = 0; r < 3; r++)
        f[r] = A[3 * r] * F[0] + A[3 * r + 1] * F[1] + A[3 * r + 2] * F[2] + e[r] * (contact.push - n);
    return mode;
}

/* The law at (v, lambda) with compliance Rc, linearised with R: ws->f = A^-1 F and ws->D; the momentum residual.
 * Returns the squares of F, as energies. */
static double evaluate(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *lambda,
                       ti_law_compliance Rc, ti_law_compliance R, int flags) {
    const double *l = lambda, *u = ws->c;
    const ti_law_scale *s = ws->scale;
    double *f = ws->f, *A = ws->Ainv, *D = ws->D, merit = 0;
    unsigned char *modes = ws->mode;
    if (!(flags & KNOWN)) ti_system_jv(&ws->sys, p, v, true, ws->c);
    for (int i = 0, n = p->nc; i < n; i++, l += 3, u += 3, f += 3, A += 9, D += 9, s++) {
        const ti_law_compliance *at = &Rc, *with = &R;
        ti_law_compliance soft[2];
        if (p->R || p->what || p->light) {
            soft[0] = ti_contact_stiffness(p, i, Rc), at = soft;
            if (!(flags & CHORD)) soft[1] = ti_contact_stiffness(p, i, R), with = soft + 1;
        }
        double c[3] = {u[0] + at->t * l[0], u[1] + at->t * l[1], u[2] + at->n * l[2]}, F[3];
        unsigned char mode = flags & CHOOSE ? TI_MODE_FREE : modes[i];
        const ti_law *law = ti_law_at(ws, p, i);
        if (law->is & TI_LAW_SPIN) {
            modes[i] = evaluate_spin(ws, p, i, lambda, c, Rc, *with, flags, F);
            merit += s->g_t * (F[0] * F[0] + F[1] * F[1]) + s->g_n * F[2] * F[2];
            continue;
        }
        if (law->is & TI_LAW_HARD) { /* in closed form, as most contacts are */
            mode = flags & CHORD ? ti_ncp_value(l, c, p->mu[i], s, mode, F)
                                 : ti_ncp_linearise(l, c, p->mu[i], s, *with, mode, F, D, A);
        } else if (law->is & TI_LAW_DRY) { /* of one row */
            modes[i] = ti_dry_linearise(l, c, p->mu[i], s, *with, mode, F, flags & CHORD ? NULL : D, A);
            f[0] = F[0], f[1] = F[1], f[2] = A[8] * F[2];
            merit += s->g_t * (F[0] * F[0] + F[1] * F[1]) + s->g_n * F[2] * F[2];
            continue;
        } else {
            ti_law_contact contact = ti_law_contact_of(ws, p, i, lambda);
            mode = flags & CHORD ? ti_law_value(law, &contact, l, c, mode, F)
                                 : ti_law_linearise(law, &contact, l, c, *with, mode, F, D, A);
        }
        modes[i] = mode;
        for (int r = 0; r < 3; r++) f[r] = A[3 * r] * F[0] + A[3 * r + 1] * F[1] + A[3 * r + 2] * F[2];
        merit += s->g_t * (F[0] * F[0] + F[1] * F[1]) + s->g_n * F[2] * F[2];
    }
    ti_contact_momentum(ws, p, v, lambda);
    return merit;
}

/* The same; returns the merit, docs/math.md eq. (42): those squares and that of the momentum residual. */
static double measure(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *lambda,
                      ti_law_compliance R, int flags) {
    double merit = evaluate(ws, p, v, lambda, R, R, flags);
    return merit + ti_contact_energy_of(ws, p, ws->r);
}

double ti_contact_merit(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *lambda) {
    const ti_law_compliance none = {0};
    memcpy(ws->mode_before, ws->mode, p->nc);
    double merit = measure(ws, p, v, lambda, none, CHOOSE | CHORD);
    memcpy(ws->mode, ws->mode_before, p->nc);
    return merit;
}

void ti_contact_choose(ti_contact_ws *ws, const ti_contact_problem *p, double R) {
    const ti_law_compliance none = {0};
    evaluate(ws, p, ws->v, ws->lambda, none, ti_contact_compliance(R), CHOOSE);
}

void ti_contact_follow(const ti_contact_ws *ws, const ti_contact_problem *p, double *dlambda) {
    for (int i = 0; i < p->nc; i++)
        for (int r = 0; r < 3 && ti_is_spin(p, i); r++)
            dlambda[3 * i + r] += ws->sys.coupling[3 * i + r] * dlambda[3 * ti_host_of(p, i) + 2];
}

void ti_contact_direction(ti_contact_ws *ws, const ti_contact_problem *p) {
    int n3 = 3 * p->nc;
    memcpy(ws->dv, ws->r, p->nv * sizeof(double));
    for (int k = 0; k < n3; k++) ws->dlambda[k] = -ws->f[k];
    if (ws->sys.coupled) ti_contact_follow(ws, p, ws->dlambda);
    ti_system_jt(&ws->sys, p, ws->dlambda, ws->dv);
    ti_system_solve(&ws->sys, 1, ws->dv);
    ti_system_jv(&ws->sys, p, ws->dv, false, ws->c);
    for (int i = 0; i < p->nc; i++) {
        const double *D = ws->D + 9 * i, *c = ws->c + 3 * i, *f = ws->f + 3 * i;
        double *dl = ws->dlambda + 3 * i;
        if (p->what && p->what[i] == TI_CONSTRAINT_DRY) { /* of one row */
            dl[0] = -f[0], dl[1] = -f[1], dl[2] = -f[2] - D[8] * c[2];
            continue;
        }
        for (int r = 0; r < 3; r++) dl[r] = -f[r] - (D[3 * r] * c[0] + D[3 * r + 1] * c[1] + D[3 * r + 2] * c[2]);
    }
    if (ws->sys.coupled) ti_contact_follow(ws, p, ws->dlambda);
}

static bool factor(ti_contact_ws *ws, const ti_contact_problem *p) {
    ws->iterations++;
    return ti_system_factor(&ws->sys, p, ws->D) == TRIBO_OK;
}

/* Project impulses of sliding contacts back on their circles. A step along the tangent leaves them outside by its
 * square, which near sticking is much more than the slip that decides the next step. */
static void round_off(const ti_contact_ws *ws, const ti_contact_problem *p, double *lambda) {
    for (int i = 0; (ws->law->circle || p->spins) && i < p->nc; i++) {
        const ti_law *law = ti_law_at(ws, p, i);
        if (!law->circle || ws->mode[i] < TRIBO_SLIDE) continue; /* on no circle */
        double *l = lambda + 3 * i, t = sqrt(l[0] * l[0] + l[1] * l[1]), radius = p->mu[i] * l[2];
        if (!(law->is & TI_LAW_HARD)) {
            ti_law_contact contact = ti_law_contact_of(ws, p, i, lambda);
            radius = law->circle(&contact, ws->mode[i], l);
        }
        if (!(t > 0) || !(radius > 0) || radius == HUGE_VAL) continue;
        l[0] *= radius / t, l[1] *= radius / t;
    }
}

/* As workspace.h says. */
bool ti_contact_consistent(ti_contact_ws *ws, const ti_contact_problem *p, double R, double slack) {
    ti_law_compliance Rc = ti_contact_compliance(R);
    slack *= largest(ws->lambda, 3 * p->nc);
    ti_system_jv(&ws->sys, p, ws->v, true, ws->c);
    for (int i = 0; i < p->nc; i++) {
        const double *l = ws->lambda + 3 * i;
        ti_law_compliance at = ti_contact_stiffness(p, i, Rc);
        double c[3] = {ws->c[3 * i] + at.t * l[0], ws->c[3 * i + 1] + at.t * l[1], ws->c[3 * i + 2] + at.n * l[2]};
        const ti_law *law = ti_law_at(ws, p, i);
        if (law->is & TI_LAW_HARD) {
            if (!ti_ncp_agrees(l, c, p->mu[i], ws->scale + i, ws->mode[i], slack)) return false;
            continue;
        }
        if (law->is & TI_LAW_DRY) {
            if (!ti_dry_agrees(l, c, p->mu[i], ws->scale + i, ws->mode[i], slack)) return false;
            continue;
        }
        ti_law_contact contact = ti_law_contact_of(ws, p, i, ws->lambda);
        if (!law->agrees(&contact, ws->mode[i], l, c, slack)) return false;
    }
    return true;
}

bool ti_contact_newton(ti_contact_ws *ws, const ti_contact_problem *p, double R, int iterations, double tol,
                       double free) {
    ti_law_compliance Rk = ti_contact_compliance(R);
    int n3 = 3 * p->nc;
    double merit = measure(ws, p, ws->v, ws->lambda, Rk, CHOOSE), scale = ws->merit;
    int grace = free > 0 ? 4 : 0; /* a few steps more where modes stay: what remains is smooth */
    int crawls = 0, rises = 0;    /* of proximal iterations */
    for (int it = 0; it < iterations; it++) {
        if (merit <= 1e-24 * scale) return true;
        if (!(merit < HUGE_VAL) || !factor(ws, p)) return false;
        ti_contact_direction(ws, p);
        memcpy(ws->ds, ws->dv, p->nv * sizeof(double)); /* measure() needs dv */
        memcpy(ws->mode_before, ws->mode, p->nc);
        double step = 1, trial;
        for (;;) {
            for (int k = 0; k < p->nv; k++) ws->vt[k] = ws->v[k] + step * ws->ds[k];
            for (int k = 0; k < n3; k++) ws->lt[k] = ws->lambda[k] + step * ws->dlambda[k];
            round_off(ws, p, ws->lt);
            trial = measure(ws, p, ws->vt, ws->lt, Rk, CHOOSE);
            if (trial < (1 - 2e-4 * step) * merit || step < 1e-3 || merit < free * scale) break;
            step /= 2;
        }
        crawls += step < 1e-3, rises += step == 1 && trial >= merit;
        if (ws->proximal && crawls > 1) return false;
        if (ws->proximal && rises > 1) free = 0; /* to and fro over a kink */
        memcpy(ws->v, ws->vt, p->nv * sizeof(double));
        memcpy(ws->lambda, ws->lt, n3 * sizeof(double));
        bool rounding = trial > 0.1 * merit && trial < 1e-16 * scale;
        bool same = step == 1 && memcmp(ws->mode, ws->mode_before, p->nc) == 0;
        merit = trial;
        if (same && it == iterations - 1 && merit < 1e-2 * scale && grace-- > 0) iterations++;
        if (rounding || (same && merit <= tol * scale)) return true;
    }
    return merit <= 1e-20 * scale;
}

/* x += d; adds squares, times the weights, to those of x and d. */
TI_INLINE void add_and_measure(int n, double *x, const double *d, const double *weight, double *size, double *change) {
    vec4 a = {0, 0, 0, 0}, b = {0, 0, 0, 0};
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        vec4 *at = (vec4 *)(x + k), by = *(const vec4 *)(d + k), w = {1, 1, 1, 1};
        if (weight) w = *(const vec4 *)(weight + k);
        a += w * *at * *at, b += w * by * by;
        *at += by;
    }
    for (; k < n; k++) {
        double w = weight ? weight[k] : 1;
        a[0] += w * x[k] * x[k], b[0] += w * d[k] * d[k];
        x[k] += d[k];
    }
    *size += ti_lanes_sum(&a), *change += ti_lanes_sum(&b);
}

/* Add the direction to the iterate; returns its relative size, NaN if anything is. Rotations count as speeds, by
 * ws->arm. */
static TI_CLONES double advance(ti_contact_ws *ws, const ti_contact_problem *p) {
    double l = 0, dl = 0, v = ws->speed, dv = 0;
    add_and_measure(3 * p->nc, ws->lambda, ws->dlambda, NULL, &l, &dl);
    add_and_measure(p->nv, ws->v, ws->dv, ws->arm, &v, &dv);
    double impulse = dl / (l > 0 ? l : 1), velocity = dv / (v > 0 ? v : 1);
    return sqrt(ti_max(impulse, velocity));
}

/* Whether the law is linear in the modes that are held: those that slide do so on circles. Asked of trees alone, whose
 * factors are dear: a step more with new ones costs little where bodies are free, and heaps of them want its digit. */
static bool is_linear(const ti_contact_ws *ws, const ti_contact_problem *p) {
    for (int i = 0; i < p->nc; i++) {
        unsigned is = ti_law_at(ws, p, i)->is;
        bool straight = is & TI_LAW_HARD && (ws->mode[i] < TRIBO_SLIDE || p->mu[i] == 0);
        if (!straight && !(is & TI_LAW_LINEAR)) return false;
    }
    return p->chains;
}

static void approach(ti_contact_ws *ws, const ti_contact_problem *p, double R, double to, int flags) {
    evaluate(ws, p, ws->v, ws->lambda, ti_contact_compliance(to), ti_contact_compliance(R), CHORD | flags);
    ti_contact_direction(ws, p);
    advance(ws, p);
}

void ti_contact_approach(ti_contact_ws *ws, const ti_contact_problem *p, double R, double to) {
    approach(ws, p, R, to, 0);
}

void ti_contact_approach_on(ti_contact_ws *ws, const ti_contact_problem *p, double R, double to) {
    approach(ws, p, R, to, KNOWN);
}

/* In place of the law of what keeps its course: lambda_t = q lambda_n, eq. (485). */
static void steer(ti_contact_ws *ws, const ti_contact_problem *p, const double *course) {
    for (int i = 0; i < p->nc; i++) {
        const double *q = course + 3 * i, *l = ws->lambda + 3 * i;
        double *D = ws->D + 9 * i, *f = ws->f + 3 * i;
        for (int r = 0; r < 2 && q[2] > 0; r++) {
            f[r] = l[r] + q[r] * (f[2] - l[2]);
            for (int k = 0; k < 3; k++) D[3 * r + k] = q[r] * D[6 + k];
        }
    }
}

bool ti_contact_steer(ti_contact_ws *ws, const ti_contact_problem *p, double R, const double *course) {
    ti_law_compliance Rk = ti_contact_compliance(R);
    double before = HUGE_VAL;
    for (int it = 0; it < 6; it++) {
        evaluate(ws, p, ws->v, ws->lambda, Rk, Rk, it == 0 ? 0 : CHORD);
        steer(ws, p, course);
        if (it == 0 && !factor(ws, p)) return false;
        ti_contact_direction(ws, p);
        double change = advance(ws, p);
        if (!(change < HUGE_VAL)) return false;
        if (change < 1e-13 || change > 0.5 * before) break;
        before = change;
    }
    return true;
}

double ti_contact_rounding(const ti_contact_ws *ws, const ti_contact_problem *p, double R) {
    double most = largest(ws->lambda, 3 * p->nc);
    return most > 0 ? DBL_EPSILON * ws->unit_c / (R * most) : 0;
}

/* A step from nearby, relative to what there is, and what rounding leaves of it, about; steps that no longer shrink
 * count as settled below STALLED, or below what rounding over R may be, up to what derivatives BEAR. */
static const double NEARBY = 0.03, LEAVES = 1e-8, STALLED = 1e-6, BEAR = 5e-6;
enum { LATE = 4 }; /* the step by which what has a solution is near it */

/* A step with new factors squares the error, to within the conditioning; one with old factors shrinks it by a factor of
 * a million, and so does any step after the first where the law is linear, whose factors stay: by what steps of the
 * same system have shown. Steps of the sizes below leave nothing but rounding. Roughly: one step from nearby will do
 * where the law is linear. */
static bool settle(ti_contact_ws *ws, const ti_contact_problem *p, double from, double R, bool roughly) {
    ti_law_compliance Rk = ti_contact_compliance(R);
    double before = HUGE_VAL, stalled = STALLED;
    bool again = true, linear = is_linear(ws, p);
    if (!(from > 0)) ws->shrink = 1;
    if (from > 0 && !linear) ti_contact_approach(ws, p, from, R); /* else the first step arrives from anywhere */
    for (int it = 0; it < 15; it++) {
        round_off(ws, p, ws->lambda); /* first, so that the last step leaves the momentum balanced */
        evaluate(ws, p, ws->v, ws->lambda, Rk, Rk, again ? 0 : CHORD);
        if (again && !factor(ws, p)) return false;
        ti_contact_direction(ws, p);
        double change = ws->settled = advance(ws, p);
        if (!(change < HUGE_VAL) || (it >= LATE && change > 0.1)) return false; /* no solution has these modes */
        if (linear && roughly && it == 0 && change < NEARBY) {
            ws->settled = LEAVES * change, ws->rough = true;
            return true;
        }
        if (linear && it > 0) ws->shrink = change / before;
        if (linear && change < 1e-5 && ws->shrink * change < 1e-13) {
            ws->settled = ws->shrink * change;
            return true;
        }
        if (change < (again ? 1e-9 : 1e-10)) return true;
        if (it == LATE) stalled = ti_min(ti_max(stalled, 16 * ti_contact_rounding(ws, p, R)), BEAR);
        if ((again || linear) && it > 0 && before < stalled && change > 0.25 * before) return true;
        again = !linear && (change > 1e-5 || change > 0.01 * before);
        before = change;
    }
    return before < stalled;
}

bool ti_contact_settle(ti_contact_ws *ws, const ti_contact_problem *p, double from, double R) {
    return settle(ws, p, from, R, false);
}
bool ti_contact_settle_roughly(ti_contact_ws *ws, const ti_contact_problem *p, double R) {
    ws->rough = false;
    return settle(ws, p, 0, R, true);
}

bool ti_contact_predict(ti_contact_ws *ws, const ti_contact_problem *p, double R, double to) {
    ti_law_compliance Rk = ti_contact_compliance(R);
    evaluate(ws, p, ws->v, ws->lambda, Rk, Rk, CHOOSE);
    if (!factor(ws, p)) return false;
    ti_contact_approach(ws, p, R, to);
    round_off(ws, p, ws->lambda);
    return true;
}
