/* ladder.c -- the stages of the contact solver: Newton from the last step, Newton from nothing, a path of falling
 * compliance, the interior point, proximal iterations.
 *
 * docs/math.md, "The ladder". All but the last look for the canonical solution, the limit of a vanishing compliance;
 * the last takes any solution.
 */
#include "contact/work/workspace.h"
#include <float.h>
#include <limits.h>
#include <math.h>

static void keep(ti_contact_point *q, double weight, double R, const ti_contact_problem *p, const double *v,
                 const double *l) {
    q->weight = weight, q->compliance = R;
    memcpy(q->lambda, l, 3 * p->nc * sizeof(double));
    memcpy(q->v, v, p->nv * sizeof(double));
}

static void iterate_to(const ti_contact_ws *ws, const ti_contact_problem *p, double *v, double *l) {
    memcpy(v, ws->v, p->nv * sizeof(double));
    memcpy(l, ws->lambda, 3 * p->nc * sizeof(double));
}

static void iterate_from(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *l) {
    memcpy(ws->v, v, p->nv * sizeof(double));
    memcpy(ws->lambda, l, 3 * p->nc * sizeof(double));
}

/* What has been reached: the residual of what is in s, whether that will do, whether it is canonical; whether the
 * iterate follows the path of falling compliance. */
typedef struct progress {
    double tol, residual;
    bool done, canonical, on_path, met; /* met: a point of the path was found */
    bool consistent;                    /* the law at the last point of the path chooses the modes that were held */
    int patience;                       /* strides along the path that may fail */
    int most;                           /* factorizations after which the path is given up */
    int more;                           /* proximal iterations beyond the tolerance */
    int worth;                          /* factorizations after which those give up; 0 = never */
} progress;

/* docs/math.md eq. (36): extrapolate (v1, l1), (v2, l2) to no compliance, and polish by steps on the hard law while the
 * residual falls. Returns the residual. */
static double extrapolate(ti_contact_ws *ws, const ti_contact_problem *p, double R) {
    for (int k = 0; k < 3 * p->nc; k++) ws->lambda[k] = 2 * ws->l1[k] - ws->l2[k];
    for (int k = 0; k < p->nv; k++) ws->v[k] = 2 * ws->v1[k] - ws->v2[k];
    double r = HUGE_VAL; /* of what is in vb, lb; that of the extrapolation is computed only if it is needed */
    for (int it = 0; it < 6 && r > 1e-15; it++) {
        iterate_to(ws, p, ws->vb, ws->lb);
        ti_contact_approach(ws, p, R, 0);
        double now = ti_contact_residual(ws, p, ws->law, ws->v, ws->lambda, NULL);
        if (it == 0 && !(now <= 1e-15)) r = ti_contact_residual(ws, p, ws->law, ws->vb, ws->lb, NULL);
        if (!(now < 0.9 * r)) {
            iterate_from(ws, p, ws->vb, ws->lb);
            break;
        }
        r = now;
    }
    return r;
}

/* Keep the iterate at compliance R as the answer if its residual is below `share` of the best. If it solves the hard
 * law, it is linearised at a small compliance, however large R was: zero impulses do not show R. */
static void keep_one(ti_contact_ws *ws, const ti_contact_problem *p, double R, double share, progress *g,
                     ti_contact_solution *s) {
    double r = ti_contact_residual(ws, p, ws->law, ws->v, ws->lambda, NULL);
    if (!(r < share * g->residual)) return;
    double small = 1e-6 * ws->r0;
    s->npoint = 1;
    keep(&s->point[0], 1, r < g->tol && R > small ? small : R, p, ws->v, ws->lambda);
    iterate_to(ws, p, s->v, s->lambda);
    memcpy(s->mode, ws->mode, p->nc);
    g->residual = r, g->canonical = g->on_path;
}

/* The largest change that polishing made to the extrapolated impulses, relative to the largest impulse. Derivatives are
 * not polished and miss as much. It is small unless R is near what holds a contact, as in a wedge whose sides nearly
 * let go. */
static double curvature(const ti_contact_ws *ws, const ti_contact_problem *p) {
    double moved = 0, most = 0;
    for (int k = 0; k < 3 * p->nc; k++) {
        moved = ti_max(moved, fabs(ws->lambda[k] - (2 * ws->l1[k] - ws->l2[k])));
        most = ti_max(most, fabs(ws->lambda[k]));
    }
    return most > 0 ? moved / most : 0;
}

/* From modes and an approximate solution in ws at compliance R or 2 R: the two points and their extrapolation. It goes
 * to s if its residual is the best and its curvature below `most`; the iterate ends at the solution at R. Returns the
 * curvature; HUGE_VAL where a point is not found. */
static double both_points(ti_contact_ws *ws, const ti_contact_problem *p, double R, double most, progress *g,
                          ti_contact_solution *s) {
    ws->at_answer = false;
    if (!ti_contact_settle(ws, p, 2 * R)) return HUGE_VAL;
    iterate_to(ws, p, ws->v2, ws->l2);
    ti_contact_approach(ws, p, 2 * R, R);
    if (!ti_contact_settle(ws, p, R)) return HUGE_VAL;
    iterate_to(ws, p, ws->v1, ws->l1);
    g->consistent = ti_contact_consistent(ws, p, R, 1e-11 + 10 * ws->settled);
    double r = extrapolate(ws, p, R), curved = curvature(ws, p);
    bool will_do = g->consistent && r < g->tol;
    if (curved < most && (r < g->residual || will_do)) { /* where the modes agree it replaces one that is as good */
        s->npoint = 2;
        keep(&s->point[0], 2, R, p, ws->v1, ws->l1);
        keep(&s->point[1], -1, 2 * R, p, ws->v2, ws->l2);
        memcpy(s->mode, ws->mode, p->nc);
        g->canonical = ws->at_answer = true;
        if (!g->done) iterate_to(ws, p, s->v, s->lambda), g->residual = r;
    }
    g->done |= will_do;
    iterate_from(ws, p, ws->v1, ws->l1);
    return curved;
}

/* What rounding alone makes of the curvature at compliance R, where contacts are redundant: it grows as R falls. */
static double rounding_at(const ti_contact_ws *ws, const ti_contact_problem *p, double R) {
    double most = 0;
    for (int k = 0; k < 3 * p->nc; k++) most = ti_max(most, fabs(ws->lambda[k]));
    return most > 0 ? 32 * DBL_EPSILON * ws->unit_c / (R * most) : 0;
}

/* both_points() at R, and at smaller compliances while these are less curved. */
#define CURVED 3e-9
static void finish(ti_contact_ws *ws, const ti_contact_problem *p, double R, progress *g, ti_contact_solution *s) {
    g->done = false;
    double curved = both_points(ws, p, R, HUGE_VAL, g, s);
    for (double r = HUGE_VAL; curved < HUGE_VAL && !g->done && g->consistent && g->residual < 0.1 * r;) {
        if (!(R > 2e-9 * ws->r0)) break;
        r = g->residual; /* the modes hold, only R is too large */
        ti_contact_approach(ws, p, R, 0.2 * R);
        R *= 0.1, curved = both_points(ws, p, R, HUGE_VAL, g, s);
    }
    if (curved == HUGE_VAL) return;
    if (!g->done) {
        keep_one(ws, p, R, 0.1, g, s);
        g->done = g->consistent && g->residual < g->tol;
        return;
    }
    double more = ti_max(CURVED, curved > CURVED ? rounding_at(ws, p, R) : 0);
    for (double at = R, before = HUGE_VAL; curved > more && curved < 0.1 * before && at > 2e-9 * ws->r0; at *= 0.1) {
        ti_contact_approach(ws, p, at, 0.2 * at);
        before = curved, curved = both_points(ws, p, 0.1 * at, 0.1 * curved, g, s);
    }
}

bool ti_contact_respond(ti_contact_ws *ws, const ti_contact_problem *p, const double *c, double *v_dot,
                        double *lambda_dot) {
    if (!ws->at_answer) return false;
    memset(ws->r, 0, p->nv * sizeof(double));
    for (int i = 0; i < p->nc; i++)
        for (int r = 0; r < 3; r++) {
            const double *D = ws->D + 9 * i + 3 * r, *x = c + 3 * i;
            ws->f[3 * i + r] = D[0] * x[0] + D[1] * x[1] + D[2] * x[2];
        }
    ti_contact_direction(ws, p);
    memcpy(v_dot, ws->dv, p->nv * sizeof(double));
    memcpy(lambda_dot, ws->dlambda, 3 * p->nc * sizeof(double));
    return true;
}

bool ti_contact_two_points(ti_contact_ws *ws, const ti_contact_problem *p, double R, ti_contact_solution *s) {
    if (!ti_contact_settle(ws, p, 2 * R)) return false;
    iterate_to(ws, p, ws->v2, ws->l2);
    ti_contact_approach(ws, p, 2 * R, R);
    if (!ti_contact_settle(ws, p, R)) return false;
    s->npoint = 2;
    keep(&s->point[0], 2, R, p, ws->v, ws->lambda);
    keep(&s->point[1], -1, 2 * R, p, ws->v2, ws->l2);
    for (int k = 0; k < 3 * p->nc; k++) s->lambda[k] = 2 * ws->lambda[k] - ws->l2[k];
    for (int k = 0; k < p->nv; k++) s->v[k] = 2 * ws->v[k] - ws->v2[k];
    memcpy(s->mode, ws->mode, p->nc);
    return true;
}

/* Start from impulses, with about the velocity that they give, or from nothing: the first linearisation depends on
 * directions of slip. */
static void start(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda) {
    memcpy(ws->v, p->vfree, p->nv * sizeof(double));
    if (!lambda) {
        memset(ws->lambda, 0, 3 * p->nc * sizeof(double));
        return;
    }
    memcpy(ws->lambda, lambda, 3 * p->nc * sizeof(double));
    memset(ws->r, 0, p->nv * sizeof(double));
    ti_system_jt(&ws->sys, p, lambda, ws->r);
    for (int k = 0; k < p->nv; k++) ws->v[k] += ws->minv[k] * ws->r[k];
}

/* Follow the path of solutions from a start at the compliance `from` down to `to`. What small compliances decide, the
 * sharing of load among redundant contacts, a large one decides in a well-conditioned problem. Points of the path need
 * not be exact: only their modes and the tangent count, for which the factors of the last step serve. */
#define CLOSE 1e-8 /* merit below which steps are not shortened, though modes change */
#define NEAR 1e-6  /* merit that will do for a point of the path */
static bool descend(ti_contact_ws *ws, const ti_contact_problem *p, double from, double to, int iterations, progress *g,
                    ti_contact_solution *s) {
    iterate_to(ws, p, ws->vb, ws->lb);
    if (!ti_contact_newton(ws, p, from, iterations, NEAR, CLOSE)) { /* or by full steps, if there are some left */
        if (ws->iterations + 2 * iterations > g->most) return false;
        iterate_from(ws, p, ws->vb, ws->lb);
        if (!ti_contact_newton(ws, p, from, iterations, NEAR, HUGE_VAL)) return false;
    }
    g->met = true;
    double stride = 100;
    bool factored = false;
    int misses = 0;
    for (double R = from; R > 1.01 * to;) {
        if (ws->iterations > g->most) return false;
        double next = R > 1.1 * stride * to ? R / stride : to;
        keep_one(ws, p, R, 1, g, s); /* so that there is always an answer */
        iterate_to(ws, p, ws->vb, ws->lb);
        if (factored)
            ti_contact_approach(ws, p, R, next);
        else if (!ti_contact_predict(ws, p, R, next))
            return false;
        int before = ws->iterations;
        if (ti_contact_newton(ws, p, next, 6, NEAR, HUGE_VAL)) { /* full steps, which pass over a kink */
            R = next, stride = stride < 5 ? stride * stride : stride < 10 ? 10 : 100;
            factored = ws->iterations > before;
        } else { /* modes change on the way: smaller steps */
            if (stride < 1.2 || ++misses > g->patience) return false;
            stride = sqrt(stride), factored = false;
            iterate_from(ws, p, ws->vb, ws->lb);
        }
    }
    return true;
}

/* descend() and finish(); while R is too large for the tolerance, again from there to a tenth of it. */
static bool descend_and_finish(ti_contact_ws *ws, const ti_contact_problem *p, double from, double R, int iterations,
                               progress *g, ti_contact_solution *s) {
    for (int k = 0; k < 5 && !g->done; k++, from = R, R *= 0.1, iterations = 6) {
        if (!descend(ws, p, from, R, iterations, g, s)) break;
        finish(ws, p, R, g, s);
    }
    return g->done;
}

/* Factor on rho_t along the path: slip is there as slow as the compliance makes it, and the equation must resolve that.
 */
#define TANGENT_SCALE 1000

/* The reference velocity ref - R lambda: with it the compliance acts on the change of the impulses alone, and a fixed
 * point solves the hard law. */
static void anchor(ti_contact_ws *ws, const ti_contact_problem *p, double R) {
    ti_law_compliance small = ti_contact_compliance(R), c = small;
    for (int k = 0; k < 3 * p->nc; k++) {
        if (p->spins) c = ti_is_spin(p, k / 3) ? ti_contact_stiffness(p, k / 3, small) : small;
        ws->ref[k] = p->ref[k] - (k % 3 == 2 ? c.n : c.t) * ws->lambda[k];
    }
}

/* A product of impulse and velocity within the tolerance leaves either of them its root: what has arrived goes on for
 * a few iterations, as they cost little by then. */
#define EXACT 1e-14
enum { MORE = 6 };

/* Proximal iterations from the iterate: each solves a compliant problem anchored at the impulses of the one before, and
 * they converge to a hard solution without a small compliance. The proximal term grows where Newton fails and shrinks
 * where the residual falls slowly. */
static void proximal(ti_contact_ws *ws, const ti_contact_problem *p, double first, progress *g,
                     ti_contact_solution *s) {
    ti_contact_problem q = *p;
    q.ref = ws->ref;
    double R = 1e-6 * ws->r0, pull = first * ws->r0, before = HUGE_VAL;
    ti_contact_choose(ws, p, R);
    keep_one(ws, p, R, 1, g, s);
    int most = first < 0.1 ? 40 : 120, more = g->more, end = g->worth ? ws->iterations + g->worth : INT_MAX;
    for (int k = 0; k < most && (g->residual >= g->tol || (g->residual > EXACT && more-- > 0)); k++) {
        if (ws->iterations > end && g->residual >= g->tol) break;
        double enough = g->residual < g->tol ? EXACT : g->tol;
        anchor(ws, p, pull);
        iterate_to(ws, p, ws->vb, ws->lb);
        if (!ti_contact_newton(ws, &q, pull, 8, 1e-12, CLOSE)) {
            if (pull > 10 * ws->r0) break;
            iterate_from(ws, p, ws->vb, ws->lb);
            pull *= 5;
            continue;
        }
        keep_one(ws, p, R, 1, g, s);
        iterate_to(ws, p, ws->v1, ws->l1); /* with the same factors: steps on the law without a proximal term */
        for (int step = 0; step < 3 && g->residual >= enough && g->residual < 1e4 * g->tol; step++) {
            ti_contact_approach(ws, p, pull, 0);
            keep_one(ws, p, R, 1, g, s);
        }
        iterate_from(ws, p, ws->v1, ws->l1);
        double r = ti_contact_residual(ws, p, ws->law, ws->v, ws->lambda, NULL);
        if (r > 0.3 * before && pull > 0.01 * R) pull *= 0.3;
        before = r;
    }
    g->done = g->residual < g->tol;
}

static const ti_interior_settings settings[6] = {{.98, 3, 0, false, 0, NULL}, {.7, 1, .2, false, 0, NULL},
                                                 {.5, 1, .3, false, 0, NULL}, {.98, 3, 0, true, 0, NULL},
                                                 {.7, 1, .2, true, 0, NULL},  {.5, 1, .3, true, 0, NULL}};

enum { ROUNDS = 36 };

/* One round with the speeds of slip held, which makes the problem convex, at compliance R; slip becomes the speeds of
 * its solution. Returns their largest change in units of velocity; HUGE_VAL where the interior point broke down. */
static double hold_slips(ti_contact_ws *ws, const ti_contact_problem *p, double R, double *slip) {
    const ti_interior_settings held = {.fraction = 0.98, .power = 3, .slip = slip};
    double change = 0;
    int done = 0;
    if (!ti_ncp_interior(ws, p, R, &held, 1e-9, &done, 60)) return HUGE_VAL;
    ti_contact_relative(ws, p, ws->v, ws->lambda, ws->c);
    for (int i = 0; i < p->nc; i++) {
        double now = hypot(ws->c[3 * i], ws->c[3 * i + 1]);
        change = ti_max(change, p->mu[i] * fabs(now - slip[i])), slip[i] = now;
    }
    return change / ws->unit_c;
}

/* For where the interior point stalls: rounds with the speeds of slip held, and proximal iterations whenever those
 * settle; from a bad start these soon give up. */
static void by_rounds(ti_contact_ws *ws, const ti_contact_problem *p, progress *g, ti_contact_solution *s) {
    double *slip = ws->by_mu; /* of the reverse: free until then */
    memset(slip, 0, p->nc * sizeof(double));
    double last = HUGE_VAL;
    for (int k = 1; k <= ROUNDS && !g->done; k++) {
        double change = hold_slips(ws, p, 0, slip);
        if (!(change < HUGE_VAL)) return;
        if (k % 6 && !(change < 1e-3 * last)) continue;
        last = change;
        proximal(ws, p, 1e-3, g, s);
    }
}

/* An answer that is not canonical, or the best there is, is where some iteration stopped: give it the velocity of its
 * impulses, if the law holds as well then. */
static void balance(ti_contact_ws *ws, const ti_contact_problem *p, progress *g, ti_contact_solution *s) {
    if ((g->done && g->canonical) || !ti_contact_balance(ws, p, s->lambda, ws->vt)) return;
    double r = ti_contact_residual(ws, p, ws->law, ws->vt, s->lambda, NULL);
    if (!(r < (g->done ? g->tol : 10 * g->residual))) return;
    memcpy(s->v, ws->vt, p->nv * sizeof(double));
    memcpy(s->point[0].v, ws->vt, p->nv * sizeof(double));
    g->residual = r;
}

/* Where no path leads to the canonical solution, any: proximal iterations from where the interior point without
 * compliance ends, and from nothing. */
static void leave_path(ti_contact_ws *ws, const ti_contact_problem *p, progress *g, ti_contact_solution *s) {
    static const int order[6] = {0, 3, 1, 4, 2, 5};
    g->on_path = false, g->more = MORE;
    for (int k = 0; k < 12 && !g->done; k++) { /* first only where the interior point converged */
        int done = 0;
        bool fine = true;
        for (double rough = 1e-8; rough > 1e-13 && fine && !g->done; rough *= 1e-2) {
            fine = ti_ncp_interior(ws, p, 0, settings + order[k % 6], rough, &done, 60);
            if (fine || k >= 6) proximal(ws, p, k < 6 ? 1e-3 : 0.1, g, s);
        }
        if (k == 1 && !g->done && (ws->law->is & TI_LAW_CONVEX)) by_rounds(ws, p, g, s);
        if (k != 6 || g->done) continue;
        start(ws, p, NULL);
        proximal(ws, p, 0.1, g, s);
    }
}

/* From the impulses of the last step, in ws->z, where no path led to a canonical solution then either. */
static void go_on(ti_contact_ws *ws, const ti_contact_problem *p, progress *g, ti_contact_solution *s) {
    g->on_path = false, g->more = MORE, g->worth = 120;
    start(ws, p, ws->z);
    proximal(ws, p, 1e-3, g, s);
    g->on_path = !g->done, g->worth = 0;
}

/* The interior point at a large compliance, and the path down from there. */
static bool interior_and_path(ti_contact_ws *ws, const ti_contact_problem *p, double from,
                              const ti_interior_settings *b, double R, progress *g, ti_contact_solution *s) {
    int done = 0;
    g->met = false;
    for (double rough = 1e-7; rough > 1e-13 && !g->met; rough *= 1e-3) {
        int steps = done + g->most - ws->iterations;
        if (steps > 60) steps = 60;
        if (done >= steps) break;
        if (!ti_ncp_interior(ws, p, from, b, rough, &done, steps) && /* stalled: back to the centre */
            !ti_ncp_interior(ws, p, from, settings + 1, rough, &done, steps))
            break;
        if (descend_and_finish(ws, p, from, R, 8, g, s)) return true;
    }
    return false;
}

/* From the last step: with its modes, and if these are not those of the law, by Newton from its impulses. */
static tribo_rung warm_rungs(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_options *o, progress *g,
                             ti_contact_solution *s) {
    double R = 1e-6 * ws->r0;
    if (!o->warm) return TRIBO_RUNG_NONE;
    memcpy(ws->z, s->lambda, 3 * p->nc * sizeof(double)); /* s is overwritten on the way */
    start(ws, p, ws->z);
    memcpy(ws->mode, s->mode, p->nc);
    finish(ws, p, o->near > 0 && o->near < R ? o->near : R, g, s);
    if (g->done) return TRIBO_RUNG_WARM;
    if (o->off_path) go_on(ws, p, g, s);
    bool will_do = g->done; /* though it is not canonical */
    ti_contact_scale_tangents(ws, p, TANGENT_SCALE);
    start(ws, p, will_do ? s->lambda : ws->z);
    if (ti_contact_newton(ws, p, 2 * R, 8, NEAR, HUGE_VAL)) finish(ws, p, R, g, s);
    ti_contact_scale_tangents(ws, p, 1);
    if (g->done && g->canonical) return TRIBO_RUNG_NEWTON;
    g->done = will_do;
    return will_do ? TRIBO_RUNG_INTERIOR : TRIBO_RUNG_NONE;
}

/* Newton from nothing. */
static tribo_rung newton_rungs(ti_contact_ws *ws, const ti_contact_problem *p, progress *g, ti_contact_solution *s) {
    double R = 1e-6 * ws->r0;
    start(ws, p, NULL);
    bool near = ti_contact_newton(ws, p, 2 * R, p->nv > 60 ? 4 : 8, 1e-9, CLOSE);
    if (near) finish(ws, p, R, g, s);
    if (g->done) return TRIBO_RUNG_NEWTON;
    return near && descend_and_finish(ws, p, R, R, 8, g, s) ? TRIBO_RUNG_PATH : TRIBO_RUNG_NONE;
}

/* The whole path, from a compliance that is large enough to start from nothing. */
static bool whole_path(ti_contact_ws *ws, const ti_contact_problem *p, progress *g, ti_contact_solution *s) {
    start(ws, p, NULL);
    return descend_and_finish(ws, p, 0.1 * ws->r0, 1e-6 * ws->r0, 20, g, s);
}

/* The interior point and the path, from several compliances. */
static tribo_rung path_rungs(ti_contact_ws *ws, const ti_contact_problem *p, double R, progress *g,
                             ti_contact_solution *s) {
    static const double from[6] = {1e-4, 1e-5, 1e-3, 1e-4, 1e-5, 1e-3};
    tribo_rung rung = TRIBO_RUNG_NONE;
    g->patience = 4;
    ti_contact_scale_tangents(ws, p, TANGENT_SCALE);
    for (int k = 0; k < 6 && rung == TRIBO_RUNG_NONE && ws->iterations < g->most; k++) {
        if (interior_and_path(ws, p, from[k] * ws->r0, settings + k / 3, R, g, s)) rung = TRIBO_RUNG_INTERIOR;
        if (k == 2 && rung == TRIBO_RUNG_NONE && whole_path(ws, p, g, s)) rung = TRIBO_RUNG_PATH;
    }
    ti_contact_scale_tangents(ws, p, 1);
    return rung;
}

static tribo_rung climb(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_options *o, progress *g,
                        ti_contact_solution *s) {
    double R = 1e-6 * ws->r0;
    tribo_rung rung = warm_rungs(ws, p, o, g, s);
    if (rung == TRIBO_RUNG_NONE) rung = newton_rungs(ws, p, g, s);
    if (rung == TRIBO_RUNG_NONE) rung = path_rungs(ws, p, R, g, s);
    if (rung == TRIBO_RUNG_NONE) leave_path(ws, p, g, s);
    balance(ws, p, g, s);
    return rung == TRIBO_RUNG_NONE ? TRIBO_RUNG_INTERIOR : rung;
}

/* progress.most: a large problem gets fewer factorizations before an answer is taken that is not canonical. */
static progress beginning(const ti_contact_ws *ws, double tol, bool on_path) {
    double share = 96.0 / ws->sys.nv, worth = 36 * share * share * share;
    worth = worth < 36 ? 36 : worth > 600 ? 600 : worth;
    return (progress){
        .tol = tol, .residual = HUGE_VAL, .on_path = on_path, .patience = 1, .most = ws->iterations + (int)worth};
}

void ti_contact_climb(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_options *o,
                      ti_contact_solution *s, tribo_contact_info *info) {
    progress g = beginning(ws, o->tol > 0 ? o->tol : 1e-10, true);
    info->rung = climb(ws, p, o, &g, s);
    ws->at_answer = ws->at_answer && g.canonical && s->npoint == 2;
    info->residual = g.residual, info->canonical = g.canonical;
}

double ti_ncp_newton_alone(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_options *o,
                           ti_contact_solution *s) {
    progress g = beginning(ws, o->tol, true);
    if (warm_rungs(ws, p, o, &g, s) != TRIBO_RUNG_NONE || newton_rungs(ws, p, &g, s) != TRIBO_RUNG_NONE)
        return g.residual;
    ti_contact_scale_tangents(ws, p, TANGENT_SCALE);
    whole_path(ws, p, &g, s);
    ti_contact_scale_tangents(ws, p, 1);
    return g.residual;
}

double ti_ncp_cross_over(ti_contact_ws *ws, const ti_contact_problem *p, double tol, ti_contact_solution *s) {
    progress g = beginning(ws, tol, false);
    proximal(ws, p, 1e-3, &g, s);
    return g.residual;
}

double ti_contact_end(ti_contact_ws *ws, const ti_contact_problem *p, double tol, double *best,
                      ti_contact_solution *s) {
    const ti_contact_options cold = {.tol = tol};
    size_t bytes = 3 * (size_t)p->nc * sizeof(double);
    ti_contact_velocity(ws, p, best, ws->v);
    double r = ti_contact_residual(ws, p, ws->law, ws->v, best, NULL);
    bool stop = ws->options.max_iter > 0; /* the caller limits the iterations */
    for (int way = 0; way < 2 && !stop && !(r <= tol); way++) {
        progress g = beginning(ws, 0.1 * tol, way > 0);
        if (way == 0) {
            memcpy(ws->lambda, best, bytes);
            ti_contact_velocity(ws, p, ws->lambda, ws->v);
            proximal(ws, p, 1e-3, &g, s);
        } else
            climb(ws, p, &cold, &g, s);
        ti_contact_velocity(ws, p, s->lambda, ws->v); /* impulses are all that is kept */
        double now = ti_contact_residual(ws, p, ws->law, ws->v, s->lambda, NULL);
        if (now < r) r = now, memcpy(best, s->lambda, bytes);
    }
    memcpy(ws->lambda, best, bytes);
    return r;
}

/* Newton from v, l at 2 R, then finish(). */
static void near_by(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *l, double R,
                    int iterations, progress *g, ti_contact_solution *s) {
    iterate_from(ws, p, v, l);
    if (ti_contact_newton(ws, p, 2 * R, iterations, 0, CLOSE)) finish(ws, p, R, g, s);
}

/* The whole ladder, by the NCP. */
static void by_the_ncp(ti_contact_ws *ws, const ti_contact_problem *p, progress *g, ti_contact_solution *s) {
    const ti_contact_options cold = {.tol = g->tol};
    const ti_law *law = ws->law;
    *g = beginning(ws, g->tol, true);
    ws->law = &ti_law_ncp;
    climb(ws, p, &cold, g, s);
    ws->law = law;
}

void ti_contact_polish(ti_contact_ws *ws, const ti_contact_problem *p, double tol, ti_contact_solution *s,
                       tribo_contact_info *info) {
    progress g = beginning(ws, tol, true);
    double R = 1e-6 * ws->r0;
    memcpy(ws->l0, s->lambda, 3 * p->nc * sizeof(double));
    memcpy(ws->v0, s->v, p->nv * sizeof(double));
    memcpy(ws->mode0, s->mode, p->nc);
    near_by(ws, p, ws->v0, ws->l0, R, 10, &g, s); /* the modes of v0, l0 need not be those of the limit */
    if (!g.done) {
        iterate_from(ws, p, ws->v0, ws->l0);
        memcpy(ws->mode, ws->mode0, p->nc);
        finish(ws, p, R, &g, s);
    }
    if (!g.done && !(ws->law->is & TI_LAW_HARD)) {
        iterate_from(ws, p, ws->v0, ws->l0);
        ti_contact_scale_tangents(ws, p, TANGENT_SCALE);
        descend_and_finish(ws, p, 0.1 * ws->r0, R, 20, &g, s);
        ti_contact_scale_tangents(ws, p, 1);
        if (!g.done) path_rungs(ws, p, R, &g, s);
    }
    if (!g.done) {
        by_the_ncp(ws, p, &g, s);
        if (!(ws->law->is & TI_LAW_HARD)) { /* not far from there */
            g = beginning(ws, tol, true);
            near_by(ws, p, s->v, s->lambda, R, 50, &g, s);
        }
    }
    if (g.done && g.canonical) {
        info->residual = g.residual, info->canonical = true;
        return;
    }
    s->npoint = 1;
    keep(&s->point[0], 1, 1e-2 * R, p, ws->v0, ws->l0);
    memcpy(s->lambda, ws->l0, 3 * p->nc * sizeof(double));
    memcpy(s->v, ws->v0, p->nv * sizeof(double));
    memcpy(s->mode, ws->mode0, p->nc);
}
