/* ladder.c -- the stages of the contact solver: Newton from the last step, Newton from nothing, a path of falling
 * compliance, the interior point, proximal iterations.
 *
 * docs/math.md, "The ladder". All but the last, off_path.c, look for the canonical solution, the limit of a vanishing
 * compliance; that takes any solution.
 */
#include "contact/ladder/off_path.h"
#include "contact/ladder/points.h"
#include <limits.h>
#include <math.h>

#define NEAR 1e-6 /* merit that will do for a point of the path */

/* How the path is followed: Newton's iterations at its start and at each further point; the merit, of its unit, below
 * which they are not shortened; by how much compliance falls from point to point, at most and at least. */
typedef struct stride {
    int begins, next;
    double whole, longest, shortest;
} stride;

/* By full steps, which pass over a kink; for starts that are near. */
static const stride BOLD = {8, 6, HUGE_VAL, 100, 1.2};
/* From nothing, wherever a large compliance puts that. */
static const stride CAREFUL = {60, 12, TI_LADDER_CLOSE, 30, 1.02};

/* The first point, from the iterate. */
static bool set_out(ti_contact_ws *ws, const ti_contact_problem *p, const stride *by, double R, int iterations,
                    const ti_progress *g) {
    ti_iterate_to(ws, p, ws->vb, ws->lb);
    if (ti_contact_newton(ws, p, R, iterations, NEAR, TI_LADDER_CLOSE)) return true;
    if (by->whole < HUGE_VAL || ws->iterations + 2 * iterations > g->most) return false;
    ti_iterate_from(ws, p, ws->vb, ws->lb); /* by full steps, if there are some left */
    return ti_contact_newton(ws, p, R, iterations, NEAR, HUGE_VAL);
}

/* Follow the path of solutions from a start at the compliance `from` down to `to`. What small compliances decide, the
 * sharing of load among redundant contacts, a large one decides in a well-conditioned problem. Points of the path need
 * not be exact: only their modes and the tangent count, for which the factors of the last step serve. */
static bool descend(ti_contact_ws *ws, const ti_contact_problem *p, const stride *by, double from, double to,
                    int iterations, ti_progress *g, ti_contact_solution *s) {
    if (!set_out(ws, p, by, from, iterations, g)) return false;
    g->met = true;
    double ratio = by->longest;
    bool factored = false;
    int misses = 0;
    for (double R = from; R > 1.01 * to;) {
        if (ws->iterations > g->most) return false;
        double next = R > 1.1 * ratio * to ? R / ratio : to;
        ti_ladder_keep(ws, p, R, 1, g, s); /* so that there is always an answer */
        ti_iterate_to(ws, p, ws->vb, ws->lb);
        if (factored)
            ti_contact_approach(ws, p, R, next);
        else if (!ti_contact_predict(ws, p, R, next))
            return false;
        int before = ws->iterations;
        if (ti_contact_newton(ws, p, next, by->next, NEAR, by->whole)) {
            R = next, ratio = ratio < 5 ? ratio * ratio : ratio < 10 ? 10 : by->longest;
            factored = ws->iterations > before;
        } else { /* modes change on the way: smaller steps */
            if (ratio < by->shortest || ++misses > g->patience) return false;
            ratio = sqrt(R / next), factored = false;
            ti_iterate_from(ws, p, ws->vb, ws->lb);
        }
    }
    return true;
}

/* Whether to look on along the path: not where it led to a point that another way has led to, or to nothing. */
static bool pays(const ti_progress *g) {
    return !g->done && !g->again && !g->vain;
}

/* descend() and ti_ladder_finish(); while R is too large for the tolerance, again from there to a tenth of it. */
static bool descend_and_finish(ti_contact_ws *ws, const ti_contact_problem *p, const stride *by, double from, double R,
                               ti_progress *g, ti_contact_solution *s) {
    int iterations = by->begins;
    for (int k = 0; k < 5 && pays(g); k++, from = R, R *= 0.1, iterations = 6) {
        if (!descend(ws, p, by, from, R, iterations, g, s)) break;
        ti_ladder_finish(ws, p, R, g, s);
    }
    return g->done;
}

/* Factor on rho_t along the path: slip is there as slow as the compliance makes it, and the equation must resolve that.
 */
#define TANGENT_SCALE 1000

/* The interior point at a large compliance, and the path down from there. */
static bool interior_and_path(ti_contact_ws *ws, const ti_contact_problem *p, double from, double R, ti_progress *g,
                              ti_contact_solution *s) {
    int done = 0;
    g->met = false;
    for (double rough = 1e-7; rough > 1e-13 && !g->met; rough *= 1e-3) {
        int steps = done + g->most - ws->iterations;
        if (steps > 60) steps = 60;
        if (done >= steps) break;
        if (!ti_ncp_interior(ws, p, from, ti_ladder_settings, rough, &done, steps) && /* stalled: back to the centre */
            !ti_ncp_interior(ws, p, from, ti_ladder_settings + 2, rough, &done, steps))
            break;
        if (descend_and_finish(ws, p, &BOLD, from, R, g, s)) return true;
    }
    return false;
}

/* From the last step: with its modes, and if these are not those of the law, by Newton from where they lead. */
static tribo_rung from_last(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_options *o, ti_progress *g,
                            ti_contact_solution *s) {
    double R = 1e-6 * ws->r0;
    if (o->from)
        ti_iterate_from(ws, p, o->from, ws->z);
    else
        ti_ladder_start(ws, p, ws->z);
    memcpy(ws->mode, ws->mode_start, p->nc);
    if (o->off_path)
        ti_ladder_go_on(ws, p, g, s);
    else
        ti_ladder_finish(ws, p, o->near > 0 && o->near < R ? o->near : R, g, s);
    if (g->done && !o->off_path) return TRIBO_RUNG_WARM;
    bool will_do = g->done;                              /* though it is not canonical */
    if (o->off_path && !will_do) return TRIBO_RUNG_NONE; /* its modes are not those of a point of the path */
    if (will_do) {
        ti_contact_scale_tangents(ws, p, TANGENT_SCALE);
        ti_ladder_start(ws, p, s->lambda);
    } /* else from what those modes ask for, which is off in few of them */
    if (ti_contact_newton(ws, p, 2 * R, will_do ? 3 : 8, NEAR, HUGE_VAL)) ti_ladder_finish(ws, p, R, g, s);
    if (will_do) ti_contact_scale_tangents(ws, p, 1);
    if (g->done && g->canonical) return TRIBO_RUNG_NEWTON;
    g->done = will_do;
    return will_do ? TRIBO_RUNG_INTERIOR : TRIBO_RUNG_NONE;
}

/* The same in haste, which mostly leads to the same: modes that do not hold lead to an answer at best if nothing else
 * does. Where it leads to none all of it is done. */
static tribo_rung warm_rungs(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_options *o,
                             ti_progress *g, ti_contact_solution *s) {
    ti_progress before = *g;
    int iterations = ws->iterations;
    if (!o->warm) return TRIBO_RUNG_NONE;
    memcpy(ws->z, s->lambda, 3 * p->nc * sizeof(double)); /* s is overwritten on the way */
    memcpy(ws->mode_start, s->mode, p->nc);
    g->hasty = !o->off_path;
    tribo_rung rung = from_last(ws, p, o, g, s);
    if (rung == TRIBO_RUNG_NONE && g->passed) {
        *g = before, ws->iterations = iterations;
        rung = from_last(ws, p, o, g, s);
    }
    g->hasty = g->passed = false;
    return rung;
}

/* Newton from nothing. */
static tribo_rung newton_rungs(ti_contact_ws *ws, const ti_contact_problem *p, ti_progress *g, ti_contact_solution *s) {
    double R = 1e-6 * ws->r0;
    ti_ladder_start(ws, p, NULL);
    bool near = ti_contact_newton(ws, p, 2 * R, p->nv > 60 ? 4 : 8, 1e-9, TI_LADDER_CLOSE);
    if (near) ti_ladder_finish(ws, p, R, g, s);
    if (g->done) return TRIBO_RUNG_NEWTON;
    return near && descend_and_finish(ws, p, &BOLD, R, R, g, s) ? TRIBO_RUNG_PATH : TRIBO_RUNG_NONE;
}

/* The whole path, from a compliance that is as large as what any contact feels, where Newton arrives from nothing. It
 * takes a hundred factorizations. */
static bool whole_path(ti_contact_ws *ws, const ti_contact_problem *p, ti_progress *g, ti_contact_solution *s) {
    int patience = g->patience, most = g->most;
    g->patience = 20, g->most = ws->iterations + 300;
    ti_ladder_start(ws, p, NULL);
    bool done = descend_and_finish(ws, p, &CAREFUL, ws->widest, 1e-6 * ws->r0, g, s);
    g->patience = patience, g->most = most;
    return done;
}

/* The interior point and the path from the compliance `from`, or how that keeps its course. */
static bool through_interior(ti_contact_ws *ws, const ti_contact_problem *p, double from, double R, ti_progress *g,
                             ti_contact_solution *s) {
    ti_contact_scale_tangents(ws, p, TANGENT_SCALE);
    bool found = interior_and_path(ws, p, from, R, g, s);
    ti_contact_scale_tangents(ws, p, 1);
    return found || ti_ladder_keep_course(ws, p, g, s);
}

/* The path, through the interior from several compliances and, of problems that are not large, as a whole. */
static tribo_rung path_rungs(ti_contact_ws *ws, const ti_contact_problem *p, double R, ti_progress *g,
                             ti_contact_solution *s) {
    static const double from[3] = {1e-4, 1e-5, 1e-3};
    bool large = p->nv >= TI_LADDER_LARGE;
    g->patience = 4;
    for (int k = 0; k < 3 && pays(g); k++) {
        g->way = k + 1;
        if (ws->iterations < g->most && through_interior(ws, p, from[k] * ws->r0, R, g, s)) return TRIBO_RUNG_INTERIOR;
        /* of the same way: a dead end that it comes to as well is looked past */
        if (k == 0 && !large && pays(g) && whole_path(ws, p, g, s)) return TRIBO_RUNG_PATH;
    }
    return TRIBO_RUNG_NONE;
}

/* A large problem that had no canonical answer in the last steps is searched for one now and then. */
static bool hopeless(const ti_contact_problem *p, const ti_contact_options *o) {
    enum { EACH = 8 };
    return o->warm && p->nv > TI_LADDER_LARGE && o->off_path % EACH != 0;
}

static tribo_rung climb(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_options *o, ti_progress *g,
                        ti_contact_solution *s) {
    double R = 1e-6 * ws->r0;
    tribo_rung rung = warm_rungs(ws, p, o, g, s);
    bool seek = !hopeless(p, o);
    if (rung == TRIBO_RUNG_NONE && seek) rung = newton_rungs(ws, p, g, s);
    if (rung == TRIBO_RUNG_NONE && seek) rung = path_rungs(ws, p, R, g, s);
    if (rung == TRIBO_RUNG_NONE && !g->vain) ti_ladder_leave_path(ws, p, g, s);
    ti_ladder_balance(ws, p, g, s);
    return rung == TRIBO_RUNG_NONE ? TRIBO_RUNG_INTERIOR : rung;
}

/* ti_progress.most: a large problem gets fewer factorizations before an answer is taken that is not canonical. */
static ti_progress beginning(const ti_contact_ws *ws, double tol, bool on_path) {
    double share = (double)TI_LADDER_LARGE / ws->sys.nv, worth = 36 * share * share * share;
    worth = worth < 36 ? 36 : worth > 600 ? 600 : worth;
    return (ti_progress){.tol = tol,
                         .enough = tol,
                         .residual = HUGE_VAL,
                         .closest = HUGE_VAL,
                         .on_path = on_path,
                         .patience = 1,
                         .most = ws->iterations + (int)worth};
}

void ti_contact_climb(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_options *o,
                      ti_contact_solution *s, tribo_contact_info *info) {
    double tol = o->tol > 0 ? o->tol : TI_LADDER_TOL;
    ti_progress g = beginning(ws, 0.1 * tol, true); /* on the path a digit more is cheap */
    g.enough = tol, g.brief = o->brief;
    info->rung = climb(ws, p, o, &g, s);
    ws->at_answer = ws->at_answer && g.canonical && s->near > 0;
    info->residual = g.residual, info->canonical = g.canonical && g.done;
}

double ti_ncp_newton_alone(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_options *o,
                           ti_contact_solution *s) {
    ti_progress g = beginning(ws, o->tol, true);
    if (warm_rungs(ws, p, o, &g, s) != TRIBO_RUNG_NONE || newton_rungs(ws, p, &g, s) != TRIBO_RUNG_NONE)
        return g.residual;
    whole_path(ws, p, &g, s);
    return g.residual;
}

double ti_ncp_cross_over(ti_contact_ws *ws, const ti_contact_problem *p, double tol, ti_contact_solution *s) {
    ti_progress g = beginning(ws, tol, false);
    ti_ladder_proximal(ws, p, 1e-3, INT_MAX, &g, s);
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
        ti_progress g = beginning(ws, 0.1 * tol, way > 0);
        if (way == 0) {
            memcpy(ws->lambda, best, bytes);
            ti_contact_velocity(ws, p, ws->lambda, ws->v);
            ti_ladder_proximal(ws, p, 1e-3, INT_MAX, &g, s);
        } else
            climb(ws, p, &cold, &g, s);
        ti_contact_velocity(ws, p, s->lambda, ws->v); /* impulses are all that is kept */
        double now = ti_contact_residual(ws, p, ws->law, ws->v, s->lambda, NULL);
        if (now < r) r = now, memcpy(best, s->lambda, bytes);
    }
    memcpy(ws->lambda, best, bytes);
    return r;
}

/* Newton from v, l at 2 R, then ti_ladder_finish(). */
static void near_by(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *l, double R,
                    int iterations, ti_progress *g, ti_contact_solution *s) {
    ti_iterate_from(ws, p, v, l);
    if (ti_contact_newton(ws, p, 2 * R, iterations, 0, TI_LADDER_CLOSE)) ti_ladder_finish(ws, p, R, g, s);
}

/* The whole ladder, by the NCP. */
static void by_the_ncp(ti_contact_ws *ws, const ti_contact_problem *p, ti_progress *g, ti_contact_solution *s) {
    const ti_contact_options cold = {.tol = g->tol};
    const ti_law *law = ws->law;
    *g = beginning(ws, g->tol, true);
    ws->law = &ti_law_ncp;
    climb(ws, p, &cold, g, s);
    ws->law = law;
}

void ti_contact_polish(ti_contact_ws *ws, const ti_contact_problem *p, double tol, ti_contact_solution *s,
                       tribo_contact_info *info) {
    ti_progress g = beginning(ws, tol, true);
    double R = 1e-6 * ws->r0;
    memcpy(ws->l0, s->lambda, 3 * p->nc * sizeof(double));
    memcpy(ws->v0, s->v, p->nv * sizeof(double));
    memcpy(ws->mode0, s->mode, p->nc);
    near_by(ws, p, ws->v0, ws->l0, R, 10, &g, s); /* the modes of v0, l0 need not be those of the limit */
    if (!g.done) {
        ti_iterate_from(ws, p, ws->v0, ws->l0);
        memcpy(ws->mode, ws->mode0, p->nc);
        ti_ladder_finish(ws, p, R, &g, s);
    }
    if (!g.done && !(ws->law->is & TI_LAW_HARD)) path_rungs(ws, p, R, &g, s);
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
    s->npoint = 1, s->near = 0;
    ti_point_keep(&s->point[0], 1, 1e-2 * R, p, ws->v0, ws->l0);
    memcpy(s->lambda, ws->l0, 3 * p->nc * sizeof(double));
    memcpy(s->v, ws->v0, p->nv * sizeof(double));
    memcpy(s->mode, ws->mode0, p->nc);
}
