/* solve.c -- the contact problem: its workspace, and its solution by the law and the solver of the options. */
#include "contact/reverse/augmented.h"
#include "contact/reverse/kept.h"
#include "contact/solver/stochastic.h"
#include <math.h>

/* ---------------------------------------------------------------- workspace */

/* Whether the ladder solves what the options ask for: no scratch, no Delassus matrix. */
static bool by_ladder(const ti_contact_ws *ws) {
    return ws->solver->run == NULL;
}

static bool needs_delassus(const ti_contact_ws *ws) {
    return !by_ladder(ws) || ti_contact_uses_delassus(ws);
}

/* The most contacts for which another solver is tried where the ladder fails: its tables stay below a few MB. */
enum { FALLBACK_CONTACTS = 64 };

/* That solver: Lemke's pivoting finds a solution of the pyramid's law for every problem. */
static const ti_solver *fallback_of(const ti_solver *solver) {
    bool pyramid = solver->law == TRIBO_LAW_LCP && solver->solver == TRIBO_SOLVER_LADDER;
    return pyramid ? ti_solver_find(TRIBO_LAW_LCP, TRIBO_SOLVER_LEMKE) : NULL;
}

static void carve(ti_arena *m, const ti_contact_sizes *sizes, ti_contact_ws *ws) {
    int nc = sizes->nc, nv = sizes->nv;
    size_t n3 = 3 * (size_t)nc;
    ti_carve(m, 1, sizeof *ws);
    TI_CARVE(m, ws->scale, nc);
    TI_CARVE(m, ws->minv, nv);
    TI_CARVE(m, ws->turn, sizes->nblk);
    TI_CARVE(m, ws->arm, nv);
    TI_CARVE(m, ws->mass, nv);
    TI_CARVE(m, ws->g, n3);
    TI_CARVE(m, ws->D, 3 * n3);
    TI_CARVE(m, ws->Ainv, 3 * n3);
    TI_CARVE(m, ws->f, n3);
    TI_CARVE(m, ws->c, n3);
    TI_CARVE(m, ws->v, nv);
    TI_CARVE(m, ws->lambda, n3);
    TI_CARVE(m, ws->dv, nv);
    TI_CARVE(m, ws->ds, nv);
    TI_CARVE(m, ws->dlambda, n3);
    TI_CARVE(m, ws->vt, nv);
    TI_CARVE(m, ws->lt, n3);
    TI_CARVE(m, ws->vb, nv);
    TI_CARVE(m, ws->lb, n3);
    TI_CARVE(m, ws->ref, n3);
    TI_CARVE(m, ws->v1, nv);
    TI_CARVE(m, ws->l1, n3);
    TI_CARVE(m, ws->v2, nv);
    TI_CARVE(m, ws->l2, n3);
    TI_CARVE(m, ws->dead, nv);
    TI_CARVE(m, ws->closest.v, nv);
    TI_CARVE(m, ws->closest.lambda, n3);
    TI_CARVE(m, ws->closest_mode, nc);
    TI_CARVE(m, ws->r, nv);
    TI_CARVE(m, ws->by_mu, n3);
    ti_anderson_carve(m, nc, TI_SLIPS_KEPT, &ws->slips);
    TI_CARVE(m, ws->z, n3);
    TI_CARVE(m, ws->held, n3);
    TI_CARVE(m, ws->give, n3);
    TI_CARVE(m, ws->mode, nc);
    TI_CARVE(m, ws->mode_before, nc);
    TI_CARVE(m, ws->mode_start, nc);
    TI_CARVE(m, ws->exempt, nc);
    if (sizes->spins) TI_CARVE(m, ws->rolling, nc);
    TI_CARVE(m, ws->taken, nv);
    ti_interior_carve(m, ws, nc, nv);
    const ti_contact_size most = {nc, nv, sizes->nblk, sizes->wide, sizes->chains, sizes->spins};
    ti_system_carve(m, &most, &ws->sys);
    ti_augmented_carve(m, nc, nv, &ws->augmented);
    ti_kept_carve(m, &most, ws);
    if (needs_delassus(ws) || ws->fallback) ti_delassus_carve(m, &most, &ws->G);
    if (ti_contact_uses_delassus(ws)) TI_CARVE(m, ws->Gii_bar, 3 * n3);
    if (ws->asked->uses_Gii) TI_CARVE(m, ws->by_Gii, 9 * n3);
    if (ws->options.softness != TRIBO_SOFTNESS_NONE) TI_CARVE(m, ws->R, n3);
    if (by_ladder(ws) && !ws->fallback) return;
    TI_CARVE(m, ws->noise, 2 * (size_t)nc);
    TI_CARVE(m, ws->l0, n3);
    TI_CARVE(m, ws->v0, nv);
    TI_CARVE(m, ws->mode0, nc);
    char nothing[TI_SCRATCH_MAX];
    void *scratch = ti_carve(m, 1, TI_SCRATCH_MAX);
    ws->scratch = scratch;
    const ti_solver *solver = by_ladder(ws) ? ws->fallback : ws->solver;
    ti_contact_sizes some = *sizes;
    if (solver == ws->fallback && some.nc > FALLBACK_CONTACTS) some.nc = FALLBACK_CONTACTS;
    if (solver->carve) solver->carve(m, &some, scratch ? scratch : nothing);
}

tribo_status ti_contact_ws_new(const ti_contact_size *most, const tribo_law_options *law, const tribo_allocator *a,
                               ti_contact_ws **out) {
    if (!out || most->nc < 0 || most->nv < 1 || most->nblk < 1 || most->wide < 1) return TRIBO_E_ARG;
    ti_contact_ws layout = {.nc_max = most->nc, .nv_max = most->nv, .nblk_max = most->nblk};
    tribo_status status = ti_law_settle(law, NULL, &layout.options, NULL);
    if (status) return status;
    layout.solver = ti_solver_find(layout.options.law, layout.options.solver);
    layout.asked = layout.solver->model, layout.kappa = layout.options.kappa;
    if (layout.solver->solver == TRIBO_SOLVER_INTERIOR && layout.kappa > 0) layout.asked = &ti_law_central;
    if (layout.options.law == TRIBO_LAW_STOCHASTIC && layout.options.smoothing == TRIBO_SMOOTHING_ERM)
        layout.asked_coupled = &ti_erm_law;
    layout.fallback = fallback_of(layout.solver);
    layout.max_iter = layout.options.max_iter > 0 ? layout.options.max_iter : layout.solver->max_iter;
    ti_pyramid_of(&layout.options, &layout.pyramid);
    if (a) layout.alloc = *a;
    const ti_contact_sizes sizes = {most->nc,     most->nv,    most->nblk,     most->wide,
                                    most->chains, most->spins, &layout.options};
    ti_arena m = {0};
    carve(&m, &sizes, &layout);
    layout.bytes = m.used;
    ti_contact_ws *ws = ti_arena_take(&m, a);
    if (!ws) return TRIBO_E_NOMEM;
    *ws = layout;
    carve(&m, &sizes, ws);
    *out = ws;
    return TRIBO_OK;
}

void ti_contact_ws_free(ti_contact_ws *ws) {
    if (!ws) return;
    tribo_allocator a = ws->alloc;
    ti_free(&a, ws, ws->bytes);
}

size_t ti_contact_ws_bytes(const ti_contact_ws *ws) {
    return ws->bytes;
}

/* ---------------------------------------------------------------- solution */

static void nothing_to_do(const ti_contact_problem *p, ti_contact_solution *s) {
    s->npoint = 1;
    s->point[0].weight = 1, s->point[0].compliance = 0;
    memset(s->point[0].lambda, 0, 3 * p->nc * sizeof(double));
    memset(s->lambda, 0, 3 * p->nc * sizeof(double));
    memcpy(s->point[0].v, p->vfree, p->nv * sizeof(double));
    memcpy(s->v, p->vfree, p->nv * sizeof(double));
    for (int i = 0; i < p->nc; i++) /* what a rebound gives slides, without friction too */
        s->mode[i] = p->rebound && p->rebound[i] > 0 ? TI_MODE_FREE : TRIBO_BREAK;
}

/* The margins of Coulomb's disk. */
static void disk_margin(double mu, unsigned char mode, const double *l, const double *c, double *out) {
    double bound = mu * l[2];
    out[0] = out[1] = HUGE_VAL;
    if (mode >= TRIBO_SLIDE)
        out[1] = sqrt(c[0] * c[0] + c[1] * c[1]);
    else
        out[0] = bound > 0 ? (bound - sqrt(l[0] * l[0] + l[1] * l[1])) / bound : 0;
}

/* Of contact i at impulses lambda (3 nc), with c its own. */
static void margin_of(const ti_contact_ws *ws, const ti_contact_problem *p, int i, unsigned char mode,
                      const double *lambda, const double *c, double *out) {
    const ti_law *law = ti_law_at(ws, p, i);
    const double *l = lambda + 3 * i;
    if (!law->margin) {
        disk_margin(p->mu[i], mode, l, c, out);
        return;
    }
    if (law->is & TI_LAW_DRY) {
        ti_dry_margin(l, c, p->mu[i], mode, out);
        return;
    }
    ti_law_contact contact = ti_law_contact_of(ws, p, i, lambda);
    law->margin(&contact, mode, l, c, out);
}

/* The margin of a contact that is at the bound of its friction while others hold it. In the limit it does not slip; at
 * a small compliance it does, at a speed in proportion to that. Compared are that speed and the one that the compliance
 * gives its impulse. */
static double held_margin(const ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s, int i) {
    const ti_contact_point *q = &s->point[0];
    const double *J = p->J + p->joff[i], *l = q->lambda + 3 * i, *ref = p->ref + 3 * i;
    ti_law_compliance small = ti_contact_compliance(q->compliance);
    bool spins = ti_is_spin(p, i);
    double Rt = (spins ? ti_contact_stiffness(p, i, small) : small).t, n = spins ? l[2] : 0, way[2];
    double c[3] = {ref[0] + Rt * l[0], ref[1] + Rt * l[1], ref[2] + Rt * n};
    for (int side = 0; side < 2; side++) {
        int k = side ? p->b[i] : p->a[i];
        if (k < 0) continue;
        const double *v = q->v + p->voff[k];
        for (int r = 0; r < 3; r++, J += p->width[k])
            for (int j = 0; j < p->width[k] && (r < 2 || spins); j++) c[r] += J[j] * v[j];
    }
    margin_of(ws, p, i, s->mode[i], q->lambda, c, way);
    double creep = Rt * sqrt(l[0] * l[0] + l[1] * l[1] + n * n);
    return way[1] > 0 ? way[1] / (way[1] + creep) : 0;
}

/* Margins, docs/math.md eq. (46): how far each contact is from another mode, dimensionless. */
static void margins(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s,
                    tribo_contact_info *info) {
    double sc = ws->unit_c > 0 ? ws->unit_c : 1, sl = ti_contact_faint(ws);
    for (int i = 0; i < p->nc; i++) sl = ti_max(sl, fabs(s->lambda[3 * i + 2]));
    if (sl == 0) sl = 1;
    ti_contact_relative(ws, p, s->v, s->lambda, ws->c);
    info->margin = HUGE_VAL, info->ndegenerate = 0;
    if (ws->law->is & TI_LAW_SMOOTH) return;
    for (int i = 0; i < p->nc; i++) {
        const double *l = s->lambda + 3 * i, *c = ws->c + 3 * i;
        bool apart = s->mode[i] == TRIBO_BREAK || (ws->law->apart && s->mode[i] >= ws->law->apart);
        double m = apart ? fabs(c[2]) / sc : l[2] / sl;
        if (!ti_is_contact(p, i)) {
            double way[2];
            margin_of(ws, p, i, s->mode[i], s->lambda, c, way);
            if (ti_is_spin(p, i) && way[1] < 1e-9 * sc) way[1] = sc * held_margin(ws, p, s, i);
            m = way[0] < way[1] / sc ? way[0] : way[1] / sc;
        } else if (s->mode[i] != TRIBO_BREAK && p->mu[i] > 0) {
            double way[2];
            margin_of(ws, p, i, s->mode[i], s->lambda, c, way);
            if (way[1] < 1e-9 * sc) way[1] = sc * held_margin(ws, p, s, i);
            double t = way[0] < way[1] / sc ? way[0] : way[1] / sc;
            if (t < m) m = t;
        }
        if (!(m >= 1e-9)) info->ndegenerate++;
        if (m < info->margin) info->margin = m;
    }
}

bool ti_contact_has_noise(const ti_contact_ws *ws) {
    return ws->asked->is & TI_LAW_SMOOTH;
}

bool ti_contact_pushes_from_afar(const ti_contact_ws *ws) {
    return ws->asked->is & TI_LAW_FAR;
}

/* Approach that is nothing but rounding, as where bodies that touch fall together, asks for no impulse. */
static const double STILL = 1e-14;

/* Whether no impulses at all are a solution. */
static bool is_apart(ti_contact_ws *ws, const ti_contact_problem *p) {
    const double none[3] = {0, 0, 0};
    for (int i = 0; i < p->nc; i++) {
        int host = ti_is_spin(p, i) ? ti_host_of(p, i) : i;
        if (p->rebound && p->rebound[host] * p->mu[i] > 0)
            return false; /* friction of the prescribed impulse acts even where nothing slips */
        if (host < i) continue;
        if (!ti_is_contact(p, i)) return false; /* joints hold and stick without an impulse too, and that has a slope */
        const ti_law *law = ti_law_at(ws, p, i);
        if (law->is & TI_LAW_HARD) {
            if (!(ws->g[3 * i + 2] >= -STILL * ws->unit_c)) return false;
            continue;
        }
        ti_law_contact contact = ti_law_contact_of(ws, p, i, NULL);
        double wrong[3];
        law->residual(&contact, none, ws->g + 3 * i, wrong);
        if (!(wrong[0] == 0 && wrong[1] == 0 && wrong[2] == 0)) return false;
    }
    return true;
}

void ti_contact_start_from(const ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda,
                           ti_contact_solution *s) {
    memcpy(s->lambda, lambda, 3 * p->nc * sizeof(double));
    for (int i = 0; i < p->nc; i++) {
        const double *l = lambda + 3 * i;
        bool edge = hypot(l[0], l[1]) >= p->mu[i] * l[2] * (1 - 1e-9);
        s->mode[i] = !(l[2] > 0) ? TRIBO_BREAK : edge ? TRIBO_SLIDE : TRIBO_STICK;
        if (!(ti_law_among(p, ws->asked, i)->is & TI_LAW_HARD))
            s->mode[i] = TI_MODE_FREE; /* other laws tell their ways of sliding by the velocity */
    }
}

/* What the law says of the modes of s. */
static void choose_modes(ti_contact_ws *ws, const ti_contact_problem *p, ti_contact_solution *s) {
    ti_contact_relative(ws, p, s->v, s->lambda, ws->c);
    for (int i = 0; i < p->nc; i++) {
        ti_law_contact contact = ti_law_contact_of(ws, p, i, s->lambda);
        s->mode[i] = ti_law_at(ws, p, i)->mode(&contact, s->lambda + 3 * i, ws->c + 3 * i);
    }
}

void ti_contact_settle_modes(ti_contact_ws *ws, const ti_contact_problem *p, ti_contact_solution *s) {
    for (int i = 0; i < p->nc; i++)
        if (s->mode[i] == TI_MODE_FREE) {
            choose_modes(ws, p, s);
            return;
        }
}

/* Whether a start may be used: products of four of its impulses are finite. */
static bool is_usable(const double *lambda, int n) {
    for (int i = 0; i < n; i++)
        if (!(fabs(lambda[i]) < 1e50)) return false;
    return true;
}

/* A solver's answer, in ws->lambda with its velocity in ws->v, into s; its modes are those of the law. */
static void take_answer(ti_contact_ws *ws, const ti_contact_problem *p, ti_contact_solution *s) {
    memcpy(s->lambda, ws->lambda, 3 * p->nc * sizeof(double));
    memcpy(s->v, ws->v, p->nv * sizeof(double));
    s->npoint = 1;
    s->point[0].weight = 1, s->point[0].compliance = 1e-8 * ws->r0;
    memcpy(s->point[0].lambda, s->lambda, 3 * p->nc * sizeof(double));
    memcpy(s->point[0].v, s->v, p->nv * sizeof(double));
    choose_modes(ws, p, s);
}

/* By the algorithm of the options: its answer, and from there, if it is one, to the canonical solution. */
static void by_solver(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_options *o,
                      ti_contact_solution *s, tribo_contact_info *info) {
    double tol = o->tol > 0 ? o->tol : ws->solver->tol;
    ws->warm = o->warm && is_usable(s->lambda, 3 * p->nc);
    if (ws->warm)
        memcpy(ws->lambda, s->lambda, 3 * p->nc * sizeof(double));
    else
        memset(ws->lambda, 0, 3 * p->nc * sizeof(double));
    ti_contact_velocity(ws, p, ws->lambda, ws->v);
    ws->solver->run(ws, p, tol);
    ti_contact_velocity(ws, p, ws->lambda, ws->v);
    take_answer(ws, p, s);
    info->residual = ti_contact_residual(ws, p, ws->law, s->v, s->lambda, NULL);
    info->rung = TRIBO_RUNG_SOLVER;
    if (ws->options.raw) return;
    if (ws->law->is & TI_LAW_SMOOTH)
        ti_continuation_polish(ws, p, tol, s, info);
    else if (info->residual <= tol)
        ti_contact_polish(ws, p, tol < 1e-10 ? tol : 1e-10, s, info);
}

/* Where the ladder has failed: the answer of ws->fallback, if it is better. */
static void fallback(ti_contact_ws *ws, const ti_contact_problem *p, double tol, ti_contact_solution *s,
                     tribo_contact_info *info) {
    if (!ws->fallback || p->nc > FALLBACK_CONTACTS || p->what || ti_delassus_prepare(&ws->G, p)) return;
    memset(ws->lambda, 0, 3 * p->nc * sizeof(double));
    memcpy(ws->v, p->vfree, p->nv * sizeof(double));
    ws->warm = false, ws->max_iter = ws->iterations + ws->fallback->max_iter;
    ws->fallback->run(ws, p, tol);
    ti_contact_velocity(ws, p, ws->lambda, ws->v);
    double r = ti_contact_residual(ws, p, ws->law, ws->v, ws->lambda, NULL);
    if (!(r < info->residual)) return;
    take_answer(ws, p, s);
    info->residual = r, info->rung = TRIBO_RUNG_SOLVER, info->canonical = false;
    if (r <= tol) ti_contact_polish(ws, p, tol < 1e-10 ? tol : 1e-10, s, info);
}

tribo_status ti_contact_solve(ti_contact_ws *ws, const ti_contact_problem *hard, const ti_contact_options *o,
                              ti_contact_solution *s, tribo_contact_info *info) {
    tribo_contact_info scratch;
    ti_contact_problem soft, *p = &soft;
    if (!info) info = &scratch;
    if (hard->nc > ws->nc_max || hard->nv > ws->nv_max || hard->nblk > ws->nblk_max) return TRIBO_E_CAPACITY;
    ti_contact_take_law(ws, hard);
    if (!ti_contact_prepare(ws, hard)) return TRIBO_E_NONFINITE;
    tribo_status status = ti_contact_pose(ws, hard, needs_delassus(ws), &soft);
    if (status) return status;
    memset(info, 0, sizeof *info);
    ws->iterations = 0, ws->at_answer = ws->strays = false, ws->sharp = o->sharp, s->near = 0, s->alone = 0;
    if (is_apart(ws, p)) {
        nothing_to_do(p, s);
        info->canonical = true;
    } else {
        status = ti_system_pattern(&ws->sys, p);
        if (status) return status;
        if (by_ladder(ws) || ws->plain || (p->what && !ws->solver->any)) {
            ti_contact_climb(ws, p, o, s, info);
            double enough = o->tol > 0 ? o->tol : TI_LADDER_TOL;
            if (!(info->residual <= enough) && !ws->plain && !o->brief) fallback(ws, p, enough, s, info);
        } else
            by_solver(ws, p, o, s, info);
    }
    ti_contact_settle_modes(ws, p, s);
    info->iterations = ws->iterations;
    if (!(info->residual < HUGE_VAL)) return TRIBO_NOT_CONVERGED;
    margins(ws, p, s, info);
    if (!info->canonical || ws->strays) { /* one of a set of solutions, or next to the one that derivatives are of */
        info->margin = 0;
        if (info->ndegenerate == 0) info->ndegenerate = 1;
    }
    double tol = o->tol > 0 ? o->tol : ws->plain ? TI_LADDER_TOL : ws->solver->tol;
    return info->residual <= tol ? TRIBO_OK : TRIBO_NOT_CONVERGED;
}

/* Newton from where the interior point ends: from nothing it may cycle. */
static bool softly(ti_contact_ws *ws, const ti_contact_problem *p, double R) {
    const ti_interior_settings settings = {.fraction = 0.98, .power = 3};
    int done = 0;
    return ti_ncp_interior(ws, p, R, &settings, 1e-10, &done, 60) && ti_contact_newton(ws, p, R, 50, 0, 0);
}

tribo_status ti_contact_solve_soft(ti_contact_ws *ws, const ti_contact_problem *p, double R, bool held,
                                   ti_contact_solution *s) {
    if (p->nc > ws->nc_max || p->nv > ws->nv_max || p->nblk > ws->nblk_max) return TRIBO_E_CAPACITY;
    ti_contact_take_law(ws, p);
    if (!ti_contact_prepare(ws, p)) return TRIBO_E_NONFINITE;
    tribo_status status = ti_system_pattern(&ws->sys, p);
    if (status) return status;
    R /= ti_contact_heft(p, ti_contact_heaviest(p));
    ws->speed = ti_max(ws->speed, ws->unit_c * ws->unit_c); /* an answer may be that nothing moves */
    memcpy(ws->v, p->vfree, p->nv * sizeof(double));
    memset(ws->lambda, 0, 3 * p->nc * sizeof(double));
    if (held)
        memcpy(ws->mode, s->mode, p->nc);
    else if (!ti_contact_newton(ws, p, 2 * R, 50, 0, 0) && !softly(ws, p, 2 * R))
        return TRIBO_NOT_CONVERGED;
    return ti_contact_two_points(ws, p, R, s) ? TRIBO_OK : TRIBO_NOT_CONVERGED;
}

tribo_status ti_contact_measure(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s,
                                tribo_contact_info *info) {
    ti_contact_take_law(ws, p);
    if (!ti_contact_prepare(ws, p)) return TRIBO_E_NONFINITE;
    memset(info, 0, sizeof *info);
    info->residual = ti_contact_residual(ws, p, ws->law, s->v, s->lambda, NULL);
    info->rung = TRIBO_RUNG_STAGGERED;
    margins(ws, p, s, info);
    return TRIBO_OK;
}
