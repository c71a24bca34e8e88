/* continuation.c -- Newton on the stochastic law under falling noise. docs/math.md eq. (104). */
#include "contact/solver/stochastic.h"
#include <math.h>

_Static_assert(sizeof(ti_stochastic) <= TI_SCRATCH_MAX, "scratch of the stochastic law");

/* A small compliance, about 1e-6 of its unit, a power of 16. Redundant contacts share a load by what the noise leaves
 * of their gaps; if that is less than this, the answer depends on it, and derivatives take it as constant. */
static double small(const ti_contact_ws *ws) {
    int e;
    frexp(1e-6 * ws->r0, &e);
    return ldexp(1, e - (e % 4 + 4) % 4);
}

void ti_continuation_carve(ti_arena *m, const ti_contact_sizes *sizes, void *at) {
    ti_stochastic *s = at;
    TI_CARVE(m, s->wanted, 2 * (size_t)sizes->nc);
    ti_contact_solution_carve(m, sizes->nc, sizes->nv, &s->hard);
    if (sizes->law->smoothing == TRIBO_SMOOTHING_ERM) ti_erm_carve(m, sizes, s);
}

/* Noise of at least `level` at every contact; below the least noise asked for, all of it in proportion. */
static void raise_noise(ti_contact_ws *ws, const ti_contact_problem *p, double level) {
    const ti_stochastic *s = ws->scratch;
    double share = level < s->least ? level / s->least : 1;
    for (int k = 0; k < 2 * p->nc; k++) ws->noise[k] = ti_max(share * s->wanted[k], level);
}

static void iterate_copy(const ti_contact_problem *p, const double *v, const double *l, double *v_to, double *l_to) {
    memcpy(v_to, v, p->nv * sizeof(double));
    memcpy(l_to, l, 3 * p->nc * sizeof(double));
}

/* From the solution at a small compliance towards none, while the residual falls; returns the residual. */
static double harden(ti_contact_ws *ws, const ti_contact_problem *p, double R) {
    double best = HUGE_VAL;
    if (!ti_contact_settle(ws, p, 0, R)) return best;
    for (int it = 0; it < 8; it++) {
        double now = ti_contact_law_residual(ws, p, ws->v, ws->lambda);
        if (!(now < 0.9 * best)) break;
        iterate_copy(p, ws->v, ws->lambda, ws->vb, ws->lb);
        best = now;
        ti_contact_approach(ws, p, R, 0);
        ti_contact_velocity(ws, p, ws->lambda, ws->v);
    }
    iterate_copy(p, ws->vb, ws->lb, ws->v, ws->lambda);
    return best;
}

/* A point on the way to the wanted noise and no compliance. */
typedef struct place {
    double level, R;
} place;

static bool newton_at(ti_contact_ws *ws, const ti_contact_problem *p, place at, int iterations) {
    raise_noise(ws, p, at.level);
    return ti_contact_newton(ws, p, at.R, iterations, 0, 0);
}

/* From the solution at one place to that at another, by strides that adapt; the iterate ends at *at. */
static bool walk(ti_contact_ws *ws, const ti_contact_problem *p, place *at, place to) {
    double a = log(at->level / to.level), b = log(at->R / to.R), way = ti_max(fabs(a), fabs(b));
    if (!(way < HUGE_VAL)) return false; /* no noise, or beyond any: there is no such way */
    double stride = way > 2.3 ? 2.3 / way : 1;
    for (double left = 1; left > 0;) {
        double next = stride < 0.99 * left ? left - stride : 0;
        place there = {to.level * exp(next * a), to.R * exp(next * b)};
        iterate_copy(p, ws->v, ws->lambda, ws->v1, ws->l1);
        if (newton_at(ws, p, there, 15)) {
            *at = there, left = next, stride *= 2;
            continue;
        }
        iterate_copy(p, ws->v1, ws->l1, ws->v, ws->lambda);
        stride *= 0.5;
        if (stride * way < 0.02 || ws->iterations > ws->max_iter) return false;
    }
    return true;
}

/* From nothing, at much noise and compliance, to the wanted noise: first the noise falls, or first the compliance. */
static bool descend(ti_contact_ws *ws, const ti_contact_problem *p, double least, bool noise_first, place *at) {
    double most = 0, level = ti_max(ws->unit_c, least);
    for (int i = 0; i < p->nc; i++) most = ti_max(most, ws->scale[i].g_n);
    *at = (place){level, most};
    memset(ws->lambda, 0, 3 * p->nc * sizeof(double));
    memcpy(ws->v, p->vfree, p->nv * sizeof(double));
    if (!newton_at(ws, p, *at, 40)) return false;
    place corner = {noise_first ? least : level, noise_first ? 0.1 * ws->r0 : small(ws)}, end = {least, small(ws)};
    return walk(ws, p, at, corner) && walk(ws, p, at, end);
}

/* From the solution without noise, by raising the noise. */
static bool ascend(ti_contact_ws *ws, const ti_contact_problem *p, double R, place *at) {
    ti_stochastic *s = ws->scratch;
    const ti_contact_options o = {0};
    const ti_law *law = ws->law;
    const ti_coupled_law *coupled = ws->coupled;
    tribo_contact_info info = {0};
    ws->law = &ti_law_ncp, ws->coupled = NULL;
    ti_contact_climb(ws, p, &o, &s->hard, &info);
    ws->law = law, ws->coupled = coupled;
    if (!(info.residual < 1e-6)) return false;
    for (double level = s->least; level > 1e-12 * ws->unit_c; level *= 1e-2) {
        *at = (place){level, R};
        iterate_copy(p, s->hard.point[0].v, s->hard.point[0].lambda, ws->v, ws->lambda);
        if (!newton_at(ws, p, *at, 20)) continue;
        return walk(ws, p, at, (place){s->least, R});
    }
    return false;
}

/* To the solution at the wanted noise and a small compliance. */
static bool find(ti_contact_ws *ws, const ti_contact_problem *p, double least, place *at) {
    *at = (place){least, small(ws)};
    if (newton_at(ws, p, *at, 10)) return true;
    return descend(ws, p, least, true, at) || descend(ws, p, least, false, at) || ascend(ws, p, small(ws), at);
}

/* For raw answers, which are not polished: to no compliance. */
static void harden_to(ti_contact_ws *ws, const ti_contact_problem *p, double tol, place *at) {
    double best = HUGE_VAL;
    bool found = true;
    for (double R = at->R; found && R > 5e-13 * ws->r0 && !(best <= tol); R *= 0.1) {
        found = walk(ws, p, at, (place){at->level, R});
        iterate_copy(p, ws->v, ws->lambda, ws->v2, ws->l2);
        double now = found ? harden(ws, p, R) : HUGE_VAL;
        if (now < best) best = now, iterate_copy(p, ws->v, ws->lambda, ws->v0, ws->l0);
        iterate_copy(p, ws->v2, ws->l2, ws->v, ws->lambda);
    }
    if (best < HUGE_VAL) iterate_copy(p, ws->v0, ws->l0, ws->v, ws->lambda);
}

void ti_continuation_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol) {
    ti_stochastic *s = ws->scratch;
    place at;
    s->least = HUGE_VAL;
    for (int k = 0; k < 2 * p->nc; k++)
        s->wanted[k] = ws->noise[k], s->least = ws->noise[k] < s->least ? ws->noise[k] : s->least;
    if (ws->coupled && ws->warm && ti_erm_run(ws, p) <= tol) return;
    bool found = find(ws, p, s->least, &at);
    raise_noise(ws, p, s->least);
    if (ws->coupled)
        ti_erm_run(ws, p);
    else if (found && ws->options.raw)
        harden_to(ws, p, tol, &at);
}

/* The residual of the law with compliance. */
static double residual_at(ti_contact_ws *ws, const ti_contact_problem *p, double R) {
    ti_contact_problem q = *p;
    for (int k = 0; k < 3 * p->nc; k++) {
        ti_law_compliance c = ti_contact_small(p, k / 3, R);
        ws->ref[k] = p->ref[k] + (k % 3 == 2 ? c.n : c.t) * ws->lambda[k];
    }
    q.ref = ws->ref;
    return ti_contact_residual(ws, &q, ws->law, ws->v, ws->lambda, NULL);
}

/* Converge by full steps; with next to no noise they may diverge, and damped ones do not. Returns the residual. */
static double settle(ti_contact_ws *ws, const ti_contact_problem *p, double R, double tol) {
    double before = residual_at(ws, p, R);
    iterate_copy(p, ws->v, ws->lambda, ws->vb, ws->lb);
    double after = ti_contact_settle(ws, p, 0, R) ? residual_at(ws, p, R) : HUGE_VAL;
    if (after < before || after < 1e-14) return after;
    iterate_copy(p, ws->vb, ws->lb, ws->v, ws->lambda);
    for (int k = 0; k < 30 && before > 0.1 * tol; k++) {
        ti_contact_newton(ws, p, R, 1, 0, 0);
        before = residual_at(ws, p, R);
    }
    return before;
}

/* From the solution at a compliance `from`, if it is one, to that at R. Where the tails of the noise decide, a whole
 * step may raise the residual and yet be the better one. */
static bool again(ti_contact_ws *ws, const ti_contact_problem *p, double from, double R) {
    const ti_stochastic *s = ws->scratch;
    place at = {s->least, from}, to = {s->least, R};
    iterate_copy(p, ws->v, ws->lambda, ws->v1, ws->l1);
    if (ti_contact_newton(ws, p, R, 20, 0, 1e-8)) return true;
    iterate_copy(p, ws->v1, ws->l1, ws->v, ws->lambda);
    return walk(ws, p, &at, to) || ascend(ws, p, R, &at);
}

/* The answer without compliance, where nothing is redundant: to rounding, or it is sought by two points. docs/math.md
 * eq. (560). */
static bool by_answer(ti_contact_ws *ws, const ti_contact_problem *p, double R, ti_contact_solution *s,
                      tribo_contact_info *info) {
    iterate_copy(p, s->v, s->lambda, ws->v, ws->lambda);
    double r = ti_contact_one_point(ws, p, R, 1e-13, s);
    if (!(r < HUGE_VAL)) return false;
    info->residual = r, info->canonical = true;
    return true;
}

void ti_continuation_polish(ti_contact_ws *ws, const ti_contact_problem *p, double tol, ti_contact_solution *s,
                            tribo_contact_info *info) {
    if (ws->coupled) {
        ti_erm_polish(ws, p, tol, s, info);
        return;
    }
    double R = small(ws), worst = 0;
    const double weight[2] = {2, -1};
    if (by_answer(ws, p, R, s, info)) return;
    iterate_copy(p, s->v, s->lambda, ws->v, ws->lambda);
    for (int k = 1; k >= 0; k--) {
        if (!again(ws, p, R, (1 + k) * R)) return;
        worst = ti_max(worst, settle(ws, p, (1 + k) * R, tol));
        iterate_copy(p, ws->v, ws->lambda, k ? ws->v2 : ws->v1, k ? ws->l2 : ws->l1);
    }
    if (!(worst <= tol)) return;
    s->npoint = 2, s->near = R;
    for (int k = 0; k < 2; k++) {
        s->point[k].weight = weight[k], s->point[k].compliance = (1 + k) * R;
        iterate_copy(p, k ? ws->v2 : ws->v1, k ? ws->l2 : ws->l1, s->point[k].v, s->point[k].lambda);
    }
    for (int k = 0; k < 3 * p->nc; k++) s->lambda[k] = 2 * ws->l1[k] - ws->l2[k];
    for (int k = 0; k < p->nv; k++) s->v[k] = 2 * ws->v1[k] - ws->v2[k];
    info->residual = worst, info->canonical = true;
}
