/* off_path.c -- proximal iterations, and rounds of convex problems. */
#include "contact/ladder/off_path.h"
#include "contact/ladder/central_path.h"
#include "contact/ladder/primal.h"
#include <limits.h>
#include <math.h>

/* A product of impulse and velocity within the tolerance leaves either of them its root: what has arrived goes on for
 * a few iterations, as they cost little by then, until the product or the merit is what rounding leaves. */
#define EXACT 1e-14
#define LEAST 1e-24 /* of the unit of merit, as in ti_contact_newton() */
enum { MORE = 8 };  /* iterations that do not halve it */

/* ti_ladder_keep(); within the tolerance the smaller merit decides, which is of the first order where the residual, of
 * products, is of the second. */
static void keep(ti_contact_ws *ws, const ti_contact_problem *p, double R, double *merit, ti_progress *g,
                 ti_contact_solution *s) {
    double before = g->residual;
    if (before < g->tol) {
        if (!(ti_contact_merit(ws, p, ws->v, ws->lambda) < *merit)) return;
        g->residual = g->tol;
    }
    ti_ladder_keep(ws, p, R, 1, g, s);
    if (before < g->tol && !(g->residual < g->tol))
        g->residual = before;
    else if (g->residual < g->tol)
        *merit = ti_contact_merit(ws, p, s->v, s->lambda);
}

static bool goes_on(const ti_contact_ws *ws, const ti_progress *g, double merit, double *mark, int *more) {
    if (merit < 0.5 * *mark) *mark = merit, *more = g->more;
    return g->residual >= g->tol || (g->residual > EXACT && merit > LEAST * ws->merit && (*more)-- > 0);
}

void ti_ladder_proximal(ti_contact_ws *ws, const ti_contact_problem *p, double first, int worth, ti_progress *g,
                        ti_contact_solution *s) {
    ti_contact_problem q = *p;
    q.ref = ws->ref;
    double R = 1e-6 * ws->r0, pull = first * ws->r0, before = HUGE_VAL;
    double merit = g->residual < g->tol ? ti_contact_merit(ws, p, s->v, s->lambda) : HUGE_VAL, mark = merit;
    ti_contact_choose(ws, p, R);
    keep(ws, p, R, &merit, g, s);
    int pause = 1, rest = 0; /* iterations before the pull is less again, once Newton has failed */
    int most = first < 0.1 ? 40 : 120, more = g->more, end = worth < INT_MAX ? ws->iterations + worth : INT_MAX;
    for (int k = 0; k < most && goes_on(ws, g, merit, &mark, &more); k++) {
        if (ws->iterations > end && g->residual >= g->tol) break;
        double enough = g->residual < g->tol ? EXACT : g->tol;
        ti_ladder_anchor(ws, p, pull);
        ti_iterate_to(ws, p, ws->vb, ws->lb);
        ws->proximal = true;
        bool arrives = ti_contact_newton(ws, &q, pull, 8, 1e-12, TI_LADDER_CLOSE);
        ws->proximal = false;
        if (!arrives) { /* within the tolerance it only polishes */
            if (pull > 10 * ws->r0 || (g->at_once && k == 0) || g->residual < g->tol) break;
            ti_iterate_from(ws, p, ws->vb, ws->lb);
            pull *= 5, rest = pause = pause < 4 ? 2 * pause : 4;
            continue;
        }
        keep(ws, p, R, &merit, g, s);
        ti_iterate_to(ws, p, ws->v1, ws->l1); /* with the same factors: steps on the law without a proximal term */
        for (int step = 0; step < 3 && g->residual >= enough && g->residual < 1e4 * g->tol; step++) {
            ti_contact_approach(ws, p, pull, 0);
            keep(ws, p, R, &merit, g, s);
        }
        ti_iterate_from(ws, p, ws->v1, ws->l1);
        double r = ti_contact_residual(ws, p, ws->law, ws->v, ws->lambda, NULL);
        if (r <= 0.3 * before)
            pause = 1;
        else if (--rest <= 0 && pull > 0.01 * R)
            pull *= 0.3;
        before = r;
    }
    g->done = g->residual < g->tol;
}

const ti_interior_settings ti_ladder_settings[6] = {{.98, 3, 0, false, 0}, {.98, 3, 0, true, 0},  {.7, 1, .2, false, 0},
                                                    {.7, 1, .2, true, 0},  {.5, 1, .3, false, 0}, {.5, 1, .3, true, 0}};

/* Friction times the speed of slip of the iterate, m/s, in place of what was held, `part` of the way, and by how much
 * it is more; the largest difference, in units of velocity. */
static double take_slips(ti_contact_ws *ws, const ti_contact_problem *p, double part, double *slip, double *more) {
    double change = 0;
    ti_contact_relative(ws, p, ws->v, ws->lambda, ws->c);
    for (int i = 0; i < p->nc; i++) {
        more[i] = ti_is_contact(p, i) ? p->mu[i] * hypot(ws->c[3 * i], ws->c[3 * i + 1]) - slip[i] : 0;
        change = ti_max(change, fabs(more[i])), slip[i] += part * more[i];
    }
    return change / ws->unit_c;
}

/* Factorizations that are worth it, where `most` are for a small problem. */
static int affordable(const ti_contact_problem *p, int most) {
    return p->nv > TI_LADDER_LARGE ? (int)((long)TI_LADDER_LARGE * most / p->nv) : most;
}

/* What will do off the path. */
static double tolerance(const ti_contact_problem *p, const ti_progress *g) {
    return p->nv > TI_LADDER_LARGE ? g->enough : g->tol;
}

/* For where the interior point stalls: rounds of a convex problem, the CCP with the slips of the round before added
 * along the normals, until these stay. */
typedef struct rounds {
    ti_contact_problem held;
    double *slip, *more; /* (nc) what is held, and by how much the round's is more */
    int end;             /* factorizations after which they are given up */
} rounds;

enum { ROUNDS = 36, WORTH = 3000 }; /* rounds; factorizations */

static rounds begin(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *from) {
    rounds r = {*p, ws->by_mu, ws->by_mu + p->nc, ws->iterations}; /* arrays of the reverse: free until then */
    r.held.ref = ws->l2;                                           /* of the path */
    r.end += affordable(p, WORTH);
    memset(r.slip, 0, p->nc * sizeof(double));
    if (!from) return r;
    ti_iterate_from(ws, p, from->v, from->lambda);
    take_slips(ws, p, 1, r.slip, r.more);
    return r;
}

/* An iterate that was found without modes: the law's, and whether it will do. */
static void take_iterate(ti_contact_ws *ws, const ti_contact_problem *p, ti_progress *g, ti_contact_solution *s) {
    ti_contact_choose(ws, p, 1e-6 * ws->r0);
    ti_ladder_keep(ws, p, 1e-6 * ws->r0, 1, g, s);
    g->done = g->residual < g->tol;
}

/* Solve one to tol. False where that fails, or nothing is left to do. */
static bool solve_held(ti_contact_ws *ws, const ti_contact_problem *p, rounds *r, double tol, bool near, ti_progress *g,
                       ti_contact_solution *s) {
    if (ws->iterations >= r->end) return false;
    for (int i = 0; i < 3 * p->nc; i++) ws->l2[i] = p->ref[i] + (i % 3 == 2 ? r->slip[i / 3] : 0);
    if (!ti_primal_held(ws, &r->held, tol, near)) return false;
    take_iterate(ws, p, g, s);
    return !g->done;
}

/* From no slips, or from those of `from`. Where they come round again they go part of the way. Proximal iterations are
 * tried now and then: from a bad start they soon give up. */
static void by_rounds(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *from, ti_progress *g,
                      ti_contact_solution *s) {
    enum { EACH = 6 };
    double settled = HUGE_VAL, change[2] = {HUGE_VAL, HUGE_VAL}, part = 1;
    rounds r = begin(ws, p, from);
    for (int k = 1; k <= ROUNDS && !g->done && solve_held(ws, p, &r, EXACT, false, g, s); k++) {
        double now = take_slips(ws, p, part, r.slip, r.more);
        if (now > 0.9 * change[1] && now > 1e-7) part = ti_max(0.7 * part, 0.15);
        change[1] = change[0], change[0] = now;
        if (k % EACH && !(now < 1e-3 * settled)) continue;
        settled = now;
        ti_ladder_proximal(ws, p, 1e-3, INT_MAX, g, s);
    }
}

/* From the slips of the best answer, mixed by Anderson's method, each to a share of the last change: cheap where that
 * is near, as in a large heap that jams. */
static void by_mixed_rounds(ti_contact_ws *ws, const ti_contact_problem *p, ti_progress *g, ti_contact_solution *s) {
    enum { IDLE = 8 }; /* rounds without gain */
    double least = HUGE_VAL, before = HUGE_VAL, enough = 1e-7;
    rounds r = begin(ws, p, s);
    ti_anderson_forget(&ws->slips, p->nc);
    for (int k = 0, idle = 0; k < ROUNDS && idle < IDLE && solve_held(ws, p, &r, enough, true, g, s); k++) {
        double change = take_slips(ws, p, 1, r.slip, r.more);
        if (change > 4 * before) ti_anderson_forget(&ws->slips, p->nc);
        ti_anderson_mix(&ws->slips, r.more, r.slip);
        for (int i = 0; i < p->nc; i++) r.slip[i] = ti_max(r.slip[i], 0);
        idle = change < 0.7 * least ? 0 : idle + 1;
        before = change, least = ti_min(least, change), enough = ti_max(0.1 * change, EXACT);
    }
}

void ti_ladder_balance(ti_contact_ws *ws, const ti_contact_problem *p, ti_progress *g, ti_contact_solution *s) {
    if ((g->done && g->canonical) || !ti_contact_balance(ws, p, s->lambda, ws->vt)) return;
    double r = ti_contact_residual(ws, p, ws->law, ws->vt, s->lambda, NULL);
    if (!(r < (g->done ? g->tol : 10 * g->residual))) return;
    memcpy(s->v, ws->vt, p->nv * sizeof(double));
    memcpy(s->point[0].v, ws->vt, p->nv * sizeof(double));
    g->residual = r;
}

/* The central path without compliance, over its folds, as far as it is needed; proximal iterations where these are soon
 * through, or at last. */
static void by_central_path(ti_contact_ws *ws, const ti_contact_problem *p, double share, int end, ti_progress *g,
                            ti_contact_solution *s) {
    enum { FIRST = 300, THEN = 150, SOON = 6 }; /* factorizations */
    ti_central_path path;
    bool there = ti_central_begin(ws, p, share, &path), small = p->nv <= TI_LADDER_LARGE;
    int most = FIRST;
    for (double rough = 1e-8; there && rough > 1e-13 && !g->done && ws->iterations < end; rough *= 0.1, most = THEN) {
        there = ti_central_follow(ws, p, &path, rough, most < end - ws->iterations ? most : end - ws->iterations);
        take_iterate(ws, p, g, s);
        if (small || (!g->done && rough < 5e-10)) ti_ladder_proximal(ws, p, 1e-3, SOON, g, s);
    }
}

/* The interior point without compliance as far down as it goes, which alone may do, and proximal iterations from where
 * it ends; some of them on the way tell whether they arrive from there, of a large problem a few. */
static void by_interior(ti_contact_ws *ws, const ti_contact_problem *p, const ti_interior_settings *way, ti_progress *g,
                        ti_contact_solution *s) {
    enum { SOON = 2, THEN = 60 }; /* factorizations */
    int done = 0;
    bool fine = true, exact = false, large = p->nv > TI_LADDER_LARGE;
    for (double rough = 1e-8; rough > 1e-13 && fine && !g->done; rough *= 0.1) {
        fine = ti_ncp_interior(ws, p, 0, way, rough, &done, 80);
        take_iterate(ws, p, g, s);
        if (!fine || g->done || rough < 1e-8) continue;
        ti_ladder_proximal(ws, p, 1e-3, large ? SOON : THEN, g, s);
        exact = g->done;
    }
    if (!exact) ti_ladder_proximal(ws, p, 1e-3, affordable(p, 180), g, s);
}

/* Factorizations after which the search ends: soon where less may be asked for, unless what is found would do, which
 * is not put off for want of a digit. */
static int end_of_search(const ti_contact_problem *p, const ti_progress *g, int begun) {
    return begun + affordable(p, g->brief && g->residual > g->enough ? 600 : 24000);
}

void ti_ladder_leave_path(ti_contact_ws *ws, const ti_contact_problem *p, ti_progress *g, ti_contact_solution *s) {
    static const int order[6] = {0, 3, 2, 5, 4, 1};
    static const double shares[4] = {TI_SLIP_SHARE, 1, 1e-2, 100}; /* other slips smoothed, other folds */
    bool large = p->nv > TI_LADDER_LARGE; /* where paths cost hundreds of large factorizations each */
    bool convex = (ws->law->is & TI_LAW_CONVEX) && !p->spins && !g->brief; /* bounds that follow impulses are not */
    int begun = ws->iterations, worth = affordable(p, 3000), path = 0;
    g->on_path = false, g->more = MORE, g->tol = tolerance(p, g);
    g->done = g->residual < g->tol;
    if (!g->done) by_interior(ws, p, ti_ladder_settings, g, s); /* which are quick where they end: */
    ti_iterate_to(ws, p, ws->closest.v, ws->closest.lambda);    /* free off the path, as dead and z are */
    if (!g->done) ti_ladder_proximal(ws, p, 0.1, affordable(p, 300), g, s);
    if (!g->done && large) by_interior(ws, p, ti_ladder_settings + order[1], g, s);
    ti_iterate_to(ws, p, ws->dead, ws->z);
    /* of a large problem, where one is in vain the rest come later */
    for (bool gains = true; path < 4 && !g->done && gains; path++) {
        double before = g->residual;
        by_central_path(ws, p, shares[path], end_of_search(p, g, begun), g, s);
        gains = !large || g->residual < 0.5 * before;
    }
    for (int k = 0; k < 6 && !g->done && ws->iterations < end_of_search(p, g, begun); k++) {
        if (k == 0) /* from there at a compliance that passes folds */
            ti_iterate_from(ws, p, ws->closest.v, ws->closest.lambda);
        else if (k == 1 && large)
            ti_iterate_from(ws, p, ws->dead, ws->z);
        else
            by_interior(ws, p, ti_ladder_settings + order[k], g, s);
        if (!g->done) ti_ladder_proximal(ws, p, 0.1, ti_min(worth, end_of_search(p, g, begun) - ws->iterations), g, s);
    }
    for (; path < 4 && !g->done && ws->iterations < end_of_search(p, g, begun); path++)
        by_central_path(ws, p, shares[path], end_of_search(p, g, begun), g, s);
    if (!g->done && ws->iterations < end_of_search(p, g, begun)) {
        ti_ladder_start(ws, p, NULL);
        ti_ladder_proximal(ws, p, 0.1, affordable(p, 1500), g, s);
    }
    if (!g->done && convex) by_rounds(ws, p, NULL, g, s);
    if (!g->done && convex) by_mixed_rounds(ws, p, g, s);
    if (!g->done && convex) by_rounds(ws, p, s, g, s);
}

void ti_ladder_go_on(ti_contact_ws *ws, const ti_contact_problem *p, ti_progress *g, ti_contact_solution *s) {
    double tight = g->tol;
    g->on_path = false, g->more = MORE, g->tol = tolerance(p, g);
    g->at_once = true;
    ti_ladder_start(ws, p, ws->z);
    ti_ladder_proximal(ws, p, 1e-3, affordable(p, 60), g, s);
    g->on_path = !g->done, g->tol = tight, g->at_once = false;
}
