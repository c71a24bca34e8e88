/* points.c -- solutions at small compliances, with modes that are known: the answer that they lead to, and those that
 * derivatives are of. docs/math.md eq. (35a), (36), (461) to (463).
 */
#include "contact/ladder/points.h"
#include <math.h>

/* dv, dlambda := R times the derivative by R of those that have the impulses x, with the factors at R in ws: as
 * R dD/dR = -D R D. */
static void yield(ti_contact_ws *ws, const ti_contact_problem *p, double R, const double *x) {
    for (int i = 0; i < p->nc; i++, x += 3) {
        ti_law_compliance c = ti_contact_small(p, i, R);
        for (int r = 0; r < 3; r++) {
            const double *D = ws->D + 9 * i + 3 * r;
            ws->f[3 * i + r] = c.t * (D[0] * x[0] + D[1] * x[1]) + c.n * D[2] * x[2];
        }
    }
    memset(ws->r, 0, p->nv * sizeof(double));
    ti_contact_direction(ws, p);
}

/* Steps on the hard law from the iterate, with the factors at R, while the residual falls. Returns it. */
static double polish(ti_contact_ws *ws, const ti_contact_problem *p, double R) {
    double r = HUGE_VAL; /* of what is in vb, lb; that of the first iterate is computed only if it is needed */
    for (int it = 0; it < 6 && r > 1e-15; it++) {
        ti_iterate_to(ws, p, ws->vb, ws->lb);
        ti_contact_approach(ws, p, R, 0);
        double now = ti_contact_residual(ws, p, ws->law, ws->v, ws->lambda, NULL);
        if (it == 0 && !(now <= 1e-15)) r = ti_contact_residual(ws, p, ws->law, ws->vb, ws->lb, NULL);
        if (!(now < 0.9 * r)) {
            ti_iterate_from(ws, p, ws->vb, ws->lb);
            break;
        }
        r = now;
    }
    return r;
}

/* docs/math.md eq. (35a): from v1, l1 along the tangent to no compliance, and polished; to 2 R in v2, l2. Returns the
 * residual. */
static double extrapolate(ti_contact_ws *ws, const ti_contact_problem *p, double R) {
    if (ws->rough) { /* the same, and what was left to settle; ti_contact_consistent() was asked last */
        ti_contact_approach_on(ws, p, R, 0);
        for (int k = 0; k < 3 * p->nc; k++) ws->l2[k] = 2 * ws->l1[k] - ws->lambda[k];
        for (int k = 0; k < p->nv; k++) ws->v2[k] = 2 * ws->v1[k] - ws->v[k];
    } else {
        yield(ws, p, R, ws->l1);
        for (int k = 0; k < 3 * p->nc; k++)
            ws->l2[k] = ws->l1[k] + ws->dlambda[k], ws->lambda[k] = ws->l1[k] - ws->dlambda[k];
        for (int k = 0; k < p->nv; k++) ws->v2[k] = ws->v1[k] + ws->dv[k], ws->v[k] = ws->v1[k] - ws->dv[k];
    }
    return polish(ws, p, R);
}

/* Eq. (36): the iterate from v1, l1 and v2, l2 at R and 2 R. */
static void extend(ti_contact_ws *ws, const ti_contact_problem *p) {
    for (int k = 0; k < 3 * p->nc; k++) ws->lambda[k] = 2 * ws->l1[k] - ws->l2[k];
    for (int k = 0; k < p->nv; k++) ws->v[k] = 2 * ws->v1[k] - ws->v2[k];
}

/* The same, with the factors at 2 R, as extrapolate(). */
static double extrapolate_points(ti_contact_ws *ws, const ti_contact_problem *p, double R) {
    extend(ws, p);
    return polish(ws, p, 2 * R);
}

#define PARALLEL 1e-9 /* sine of the angle between impulses of friction */
#define UNEVEN 1e-11  /* of the speeds that exist: what sharing by rounding may add to those of an answer */
#define EVEN 1e-13    /* residual of rounding in the gaps of small steps */

/* Whether contacts i and k, which slide, slide side by side: between the same bodies, one way, with one friction. */
static bool side_by_side(const ti_contact_ws *ws, const ti_contact_problem *p, int i, int k) {
    const double *l = ws->lambda + 3 * i, *q = ws->lambda + 3 * k;
    double across = fabs(l[0] * q[1] - l[1] * q[0]);
    return p->a[i] == p->a[k] && p->b[i] == p->b[k] && p->mu[i] == p->mu[k] &&
           across <= PARALLEL * p->mu[i] * p->mu[k] * l[2] * q[2];
}

/* Whether the way in which contacts share a load may say what moves: by the friction of those that slide, unless all
 * slide side by side. */
static bool share_moves(const ti_contact_ws *ws, const ti_contact_problem *p) {
    int first = -1, carry = 0, along = 0;
    for (int i = 0; i < p->nc; i++) {
        if (!ti_is_contact(p, i) || !(ws->lambda[3 * i + 2] > 0)) continue;
        carry++;
        if (ws->mode[i] != TRIBO_SLIDE || !(p->mu[i] > 0)) continue;
        if (first < 0) first = i;
        if (side_by_side(ws, p, i, first)) along++;
    }
    return first >= 0 && along < carry;
}

/* docs/math.md eq. (589): takes from the answer in the iterate, with the factors at R, impulses that move nothing but
 * by the friction that goes with them: polishing has put rounding over R there. Returns the residual, r before. */
static double even_out(ti_contact_ws *ws, const ti_contact_problem *p, double R, double r) {
    double change = 0;
    yield(ws, p, R, ws->lambda);
    yield(ws, p, R, ws->dlambda);
    for (int k = 0; k < p->nv; k++) change += ws->arm[k] * ws->dv[k] * ws->dv[k];
    if (!(change > UNEVEN * UNEVEN * ws->speed)) return r; /* all of it may be the square of R over a stiffness */
    yield(ws, p, R, ws->dlambda);
    yield(ws, p, R, ws->dlambda);
    ti_iterate_to(ws, p, ws->vb, ws->lb);
    for (int k = 0; k < 3 * p->nc; k++) ws->lambda[k] -= ws->dlambda[k];
    for (int k = 0; k < p->nv; k++) ws->v[k] -= ws->dv[k];
    double now = ti_contact_residual(ws, p, ws->law, ws->v, ws->lambda, NULL);
    if (now <= ti_max(2 * r, EVEN)) return now;
    ti_iterate_from(ws, p, ws->vb, ws->lb);
    return r;
}

/* The largest change that polishing made to the extrapolated impulses, relative to the largest impulse; twice that, as
 * it would be from two points, which derivatives are of: they are not polished and miss as much. It is small unless R
 * is near what holds a contact, as in a wedge whose sides nearly let go. */
static double curvature(const ti_contact_ws *ws, const ti_contact_problem *p) {
    double moved = 0, most = 0;
    for (int k = 0; k < 3 * p->nc; k++) {
        moved = ti_max(moved, fabs(ws->lambda[k] - (2 * ws->l1[k] - ws->l2[k])));
        most = ti_max(most, fabs(ws->lambda[k]));
    }
    return most > 0 ? 2 * moved / most : 0;
}

/* Whether impulses grow as 1 / R: by the tangent those at 2 R would be next to nothing. No motion is all that is asked
 * for, and the limit does not exist. */
static bool run_away(const ti_contact_ws *ws, const ti_contact_problem *p) {
    double near = 0, far = 0;
    for (int k = 0; k < 3 * p->nc; k++) near = ti_max(near, fabs(ws->l1[k])), far = ti_max(far, fabs(ws->l2[k]));
    return far < 0.03 * near;
}

/* The first of each way: whether another way has led to it. */
static void recognise(ti_contact_ws *ws, const ti_contact_problem *p, double R, ti_progress *g) {
    double apart = 0, speed = ws->speed;
    for (int k = 0; g->dead_way > 0 && k < p->nv; k++) {
        double d = ws->v1[k] - ws->dead[k];
        apart += ws->arm[k] * d * d, speed += ws->arm[k] * ws->v1[k] * ws->v1[k];
    }
    g->again = g->dead_way > 0 && R == g->dead_at && apart < 1e-14 * speed;
    g->dead_way = g->way, g->dead_at = R;
    memcpy(ws->dead, ws->v1, p->nv * sizeof(double));
}

/* A point of the path whose modes hold and that leads to no answer, in v1, l1, but to a residual r. */
static void meet(ti_contact_ws *ws, const ti_contact_problem *p, double R, double r, ti_progress *g) {
    if (g->way != g->dead_way) recognise(ws, p, R, g);
    if (!(r < g->closest)) return;
    g->closest = r;
    ti_point_keep(&ws->closest, 1, R, p, ws->v1, ws->l1);
    memcpy(ws->closest_mode, ws->mode, p->nc);
}

/* The iterate, settled at compliance R, to rounding: slip that R alone makes is far off in relative terms until then.
 */
static void settle_well(ti_contact_ws *ws, const ti_contact_problem *p, double R) {
    for (int it = 0; it < 2; it++) ti_contact_approach(ws, p, R, R);
}

/* docs/math.md eq. (462): v2, l2 from the tangent's guess to the solution at 2 R, to third order. The iterate is the
 * answer. */
static void reach(ti_contact_ws *ws, const ti_contact_problem *p) {
    for (int k = 0; k < 3 * p->nc; k++) ws->l2[k] = ws->lambda[k] + 2 * (ws->l2[k] - ws->l1[k]);
    for (int k = 0; k < p->nv; k++) ws->v2[k] = ws->v[k] + 2 * (ws->v2[k] - ws->v1[k]);
}

/* v1, l1 and v2, l2 as the point at R, and what is known of that at 2 R. */
static void keep_points(const ti_contact_ws *ws, const ti_contact_problem *p, double R, ti_contact_solution *s) {
    s->npoint = 1, s->near = R;
    ti_point_keep(&s->point[0], 1, R, p, ws->v1, ws->l1);
    ti_point_keep(&s->point[1], 0, 2 * R, p, ws->v2, ws->l2);
    memcpy(s->mode, ws->mode, p->nc);
}

/* From modes and an approximate solution in ws at a compliance near R: the point there, and the answer. They go to s if
 * the residual is the best and the curvature below `most`; the iterate ends at the solution at R. Returns the
 * curvature; HUGE_VAL where the point is not found; nothing in haste where its modes do not hold. */
static double solve_at(ti_contact_ws *ws, const ti_contact_problem *p, double R, double most, ti_progress *g,
                       ti_contact_solution *s) {
    ws->at_answer = false;
    if (!ti_contact_settle_roughly(ws, p, R)) return HUGE_VAL;
    g->consistent = ti_contact_consistent(ws, p, R, 1e-11 + 10 * ws->settled);
    if (!g->consistent) {
        settle_well(ws, p, R);
        g->consistent = ti_contact_consistent(ws, p, R, 1e-11 + 10 * ws->settled);
    }
    if (!g->consistent && g->hasty && !g->done) {
        g->passed = true;
        return 0;
    }
    ti_iterate_to(ws, p, ws->v1, ws->l1);
    double r = extrapolate(ws, p, R);
    bool bent = g->consistent && !(r < g->tol);
    if (bent && g->brief && run_away(ws, p)) g->vain = true;
    if (bent) { /* the tangent may be curved where contacts slide as slowly as R makes them */
        ti_iterate_from(ws, p, ws->v2, ws->l2);
        if (!ti_contact_settle(ws, p, 0, 2 * R)) return HUGE_VAL;
        settle_well(ws, p, 2 * R);
        ti_iterate_to(ws, p, ws->v2, ws->l2);
        r = extrapolate_points(ws, p, R);
        if (!(r < g->tol)) meet(ws, p, R, r, g);
    }
    double curved = curvature(ws, p);
    if (!bent && share_moves(ws, p)) r = even_out(ws, p, R, r);
    bool will_do = g->consistent && r < g->tol;
    if (curved < most && (r < g->residual || will_do)) { /* where the modes agree it replaces one that is as good */
        bool fresh = !g->done || r < 0.01 * g->residual;
        if (fresh) ti_iterate_to(ws, p, s->v, s->lambda), g->residual = r;
        if (fresh && !bent) reach(ws, p);
        keep_points(ws, p, R, s);
        ws->at_answer = !bent, ws->reaches = fresh && !bent, g->canonical = true;
    }
    g->done |= will_do;
    ti_iterate_from(ws, p, ws->v1, ws->l1);
    return curved;
}

/* Derivatives are those of two points, docs/math.md eq. (36): the one at R, and that at 2 R, sought from what s has of
 * it. They are in v1, l1 and v2, l2 then. */
static bool second_point(ti_contact_ws *ws, const ti_contact_problem *p, ti_contact_solution *s) {
    ti_contact_point *near = s->point, *far = near + 1;
    double R = near->compliance;
    bool well = ws->sharp == TI_SHARP_ANSWER || ws->rough;
    ti_iterate_from(ws, p, near->v, near->lambda);
    if (well && !ws->at_answer && !ti_contact_settle(ws, p, 0, R)) return false;
    if (well) settle_well(ws, p, R);
    ti_iterate_to(ws, p, ws->v1, ws->l1);
    ti_iterate_from(ws, p, far->v, far->lambda);
    if (!ti_contact_settle(ws, p, 0, 2 * R)) return false;
    if (well) settle_well(ws, p, 2 * R);
    ti_iterate_to(ws, p, ws->v2, ws->l2);
    ti_point_keep(near, 2, R, p, ws->v1, ws->l1);
    ti_point_keep(far, -1, 2 * R, p, ws->v2, ws->l2);
    s->npoint = 2;
    return true;
}

/* The answer from the two points: of redundant contacts that slide as slowly as R makes them, the tangent at R has
 * eight digits of how they share their load. */
static void answer_of_points(ti_contact_ws *ws, const ti_contact_problem *p, ti_progress *g, ti_contact_solution *s) {
    double r = extrapolate_points(ws, p, s->point[0].compliance);
    if (r < g->tol) ti_iterate_to(ws, p, s->v, s->lambda), g->residual = r;
}

/* The size of the velocities vb beside those that impulses give at the first point. */
static double share_of_impulses(ti_contact_ws *ws, const ti_contact_problem *p) {
    ti_system_mv(&ws->sys, p, ws->vb, ws->r);
    double change = ti_contact_energy_of(ws, p, ws->r);
    memset(ws->r, 0, p->nv * sizeof(double));
    ti_system_jt(&ws->sys, p, ws->l1, ws->r);
    double whole = ti_contact_energy_of(ws, p, ws->r);
    return whole > 0 ? sqrt(change / whole) : 0;
}

/* By how much the impulses' part of the velocities changes from the first point to the second. */
static double yielding(ti_contact_ws *ws, const ti_contact_problem *p) {
    for (int k = 0; k < p->nv; k++) ws->vb[k] = ws->v1[k] - ws->v2[k];
    return share_of_impulses(ws, p);
}

/* By how much that of the iterate is off what the two points say. */
static double straying(ti_contact_ws *ws, const ti_contact_problem *p) {
    for (int k = 0; k < p->nv; k++) ws->vb[k] = ws->v[k] - (2 * ws->v1[k] - ws->v2[k]);
    return share_of_impulses(ws, p);
}

/* Numbers in -1/2..1/2, always the same. */
static void throw(int n, double *x) {
    unsigned dice = 1;
    for (int k = 0; k < n; k++) dice = dice * 1664525u + 1013904223u, x[k] = (double)(dice >> 8) / (1 << 24) - 0.5;
}

/* What random impulses that give way by R keep of their size, at most: all of those that move nothing, as compliance
 * alone says what they are; R over a stiffness of others. */
static double kept(ti_contact_ws *ws, const ti_contact_problem *p, double R) {
    double most = 0;
    throw(3 * p->nc, ws->dlambda);
    yield(ws, p, R, ws->dlambda);
    for (int k = 0; k < 3 * p->nc; k++) most = ti_max(most, fabs(ws->dlambda[k]));
    return most;
}
#define REDUNDANT 1e-4

/* After kept(): R over the least stiffness that holds something, about: by how much the derivative of one solution
 * misses that of no compliance, in the direction that is worst. By power iterations from what random impulses move. */
static double softness(ti_contact_ws *ws, const ti_contact_problem *p, double R) {
    double soft = 0;
    ti_system_mv(&ws->sys, p, ws->dv, ws->r);
    for (int it = 0; it < 2; it++) {
        double before = ti_contact_energy_of(ws, p, ws->r);
        memset(ws->f, 0, 3 * p->nc * sizeof(double));
        ti_contact_direction(ws, p);
        yield(ws, p, R, ws->dlambda);
        ti_system_mv(&ws->sys, p, ws->dv, ws->r);
        soft = before > 0 ? sqrt(ti_contact_energy_of(ws, p, ws->r) / before) : 0;
    }
    return soft;
}

/* A third point, at 4 R: docs/math.md eq. (461). */
static void third_point(ti_contact_ws *ws, const ti_contact_problem *p, ti_contact_solution *s) {
    double R = s->point[0].compliance;
    for (int k = 0; k < p->nv; k++) ws->v[k] = 3 * ws->v2[k] - 2 * ws->v1[k];
    for (int k = 0; k < 3 * p->nc; k++) ws->lambda[k] = 3 * ws->l2[k] - 2 * ws->l1[k];
    if (!ti_contact_settle(ws, p, 0, 4 * R)) return;
    s->npoint = 3;
    s->point[0].weight = 8. / 3, s->point[1].weight = -2;
    ti_point_keep(&s->point[2], 1. / 3, 4 * R, p, ws->v, ws->lambda);
}

/* After kept(): whether the impulses that compliance chooses move nothing. Where contacts slide in different
 * directions they do, by the friction that goes with them. */
static bool idle(ti_contact_ws *ws, const ti_contact_problem *p) {
    ti_system_mv(&ws->sys, p, ws->dv, ws->r);
    double moved = ti_contact_energy_of(ws, p, ws->r), parts = 0;
    for (int i = 0; i < p->nc; i++) {
        const double *l = ws->dlambda + 3 * i;
        parts += ws->scale[i].g_t * (l[0] * l[0] + l[1] * l[1]) + ws->scale[i].g_n * l[2] * l[2];
    }
    return moved <= 1e-10 * parts;
}

/* Whether what slides has an impulse to say where to. */
static bool directed(const ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s) {
    double most = 0;
    for (int k = 0; k < 3 * p->nc; k++) most = ti_max(most, fabs(s->lambda[k]));
    for (int i = 0; i < p->nc; i++) {
        const double *l = s->lambda + 3 * i;
        if (ws->mode[i] == TRIBO_SLIDE && p->mu[i] > 0 && !(hypot(l[0], l[1]) > 1e-6 * most)) return false;
    }
    return true;
}

/* The answer need not show that some direction is soft, and derivatives have it all the same. Where contacts are
 * redundant smaller compliances are no way out, as derivatives have rounding over R. */
#define YIELDING 2.5 /* R / r0: not much more than the answer of any problem changes; no direction is asked for */
#define SOFT 2e-5
#define SOFTER 1e-3

/* Whether some direction may be soft. Of several bodies the answer often shows little of the softest. */
static bool may_yield(ti_contact_ws *ws, const ti_contact_problem *p, double R) {
    return p->nblk > 1 || yielding(ws, p) >= YIELDING * R / ws->r0;
}

/* How often what compliance gives way has to be taken back, as n times leave this share to the n + 1: eq. (463).
 * Velocities of one step have h in their denominator, and what the next step makes of them may have it no more. */
#define LEFT 2e-11
static int rounds_of(double share) {
    int n = 1;
    for (double left = share * share; left > LEFT && n < 3; left *= share) n++;
    return n;
}

/* Derivatives by the answer where that is all that they need; two points are in s. */
static bool answer_will_do(ti_contact_ws *ws, const ti_contact_problem *p, double R, ti_contact_solution *s) {
    double keeps = kept(ws, p, R);
    if (!(keeps > REDUNDANT)) { /* compliance chooses nothing */
        s->npoint = 1, s->alone = rounds_of(keeps);
        ti_point_keep(&s->point[0], 1, R, p, s->v, s->lambda);
        return true;
    }
    bool chooses = !(ws->law->is & TI_LAW_HARD) || p->spins || !idle(ws, p) || !directed(ws, p, s);
    double share = may_yield(ws, p, R) ? softness(ws, p, R) : 0;
    s->npoint = 2, s->point[0].weight = 2, s->point[1].weight = -1;
    s->alone = chooses || share > SOFTER ? 0 : rounds_of(share);
    return s->alone || !(share > SOFT);
}

static void sharpen(ti_contact_ws *ws, const ti_contact_problem *p, ti_progress *g, ti_contact_solution *s) {
    double R = s->point[0].compliance;
    if (ws->sharp == TI_SHARP_POINTS && ws->at_answer && ws->reaches && answer_will_do(ws, p, R, s)) return;
    if (!second_point(ws, p, s)) return;
    if (ws->sharp == TI_SHARP_ANSWER) answer_of_points(ws, p, g, s);
    if (may_yield(ws, p, R) && kept(ws, p, 2 * R) > REDUNDANT && softness(ws, p, 2 * R) > 2 * SOFT)
        third_point(ws, p, s);
}

/* After solve_at(): whether compliance chooses how contacts share their load. Then what rounding makes of the curvature
 * grows as R falls. What R holds softly without choosing anything may need a smaller one: a body in a wedge that only
 * just holds it slides as fast as R makes it. */
static bool redundant(ti_contact_ws *ws, const ti_contact_problem *p, double R) {
    return kept(ws, p, R) > 0.05;
}

#define CURVED 3e-9
#define WORTH 5e-9 /* below, derivatives of redundant contacts have rounding over R that shows */
void ti_ladder_finish(ti_contact_ws *ws, const ti_contact_problem *p, double R, ti_progress *g,
                      ti_contact_solution *s) {
    g->done = false;
    double curved = solve_at(ws, p, R, HUGE_VAL, g, s);
    if (g->passed && !g->done) return;
    for (double r = HUGE_VAL; curved < HUGE_VAL && !g->done && g->consistent && g->residual < 0.1 * r;) {
        if (!(R > 2e-9 * ws->r0)) break;
        r = g->residual; /* the modes hold, only R is too large */
        ti_iterate_to(ws, p, ws->vt, ws->lt);
        ti_contact_approach(ws, p, R, 0.1 * R);
        R *= 0.1, curved = solve_at(ws, p, R, HUGE_VAL, g, s);
        bool missed = curved == HUGE_VAL || !g->consistent;
        if (missed && R > WORTH * ws->r0) ti_iterate_from(ws, p, ws->vt, ws->lt); /* the path goes on there */
    }
    if (curved == HUGE_VAL) return;
    if (!g->done) {
        ti_ladder_keep(ws, p, R, 0.1, g, s);
        g->done = g->consistent && g->residual < g->tol;
        return;
    }
    bool shared = curved > CURVED && redundant(ws, p, R);
    double more = ti_max(CURVED, shared ? 32 * ti_contact_rounding(ws, p, R) : 0),
           least = (shared ? 2e-9 : 2e-13) * ws->r0;
    for (double before = HUGE_VAL; curved > more && curved < 0.1 * before && R > least; R *= 0.1) {
        ti_contact_approach(ws, p, R, 0.1 * R);
        before = curved, curved = solve_at(ws, p, 0.1 * R, 0.1 * curved, g, s);
    }
    if (ws->sharp) sharpen(ws, p, g, s);
}

/* Faster than R makes it, of the unit of velocity over r0. */
#define SLIPS 0.1
#define SHIFTS 0.05 /* of an answer's impulses, in curvature() */
#define STRAYS 1e-8 /* of its velocities: derivatives, of the points, may miss its own by a thousand times that */

/* What keeps its course (3 nc), at the point in v1, l1. */
static void take_courses(ti_contact_ws *ws, const ti_contact_problem *p, double R, double *course) {
    double slow = SLIPS * R / ws->r0 * ws->unit_c;
    ti_contact_relative(ws, p, ws->v1, ws->l1, ws->c);
    for (int i = 0; i < p->nc; i++) {
        double *q = course + 3 * i;
        const double *l = ws->l1 + 3 * i, *c = ws->c + 3 * i;
        bool slides = ti_law_at(ws, p, i)->is & TI_LAW_HARD && ws->mode[i] == TRIBO_SLIDE && p->mu[i] > 0 && l[2] > 0;
        q[2] = slides && hypot(c[0], c[1]) < slow;
        if (q[2] > 0) q[0] = l[0] / l[2], q[1] = l[1] / l[2];
    }
}

bool ti_ladder_keep_course(ti_contact_ws *ws, const ti_contact_problem *p, ti_progress *g, ti_contact_solution *s) {
    double R = ws->closest.compliance, *course = ws->by_mu; /* free until the reverse */
    ti_contact_problem about = *p;
    about.ref = ws->ref;
    if (!(g->closest < HUGE_VAL)) return false;
    memcpy(ws->mode, ws->closest_mode, p->nc);
    ti_iterate_from(ws, p, ws->closest.v, ws->closest.lambda);
    if (!ti_contact_settle(ws, p, 0, 2 * R)) return false;
    settle_well(ws, p, 2 * R);
    ti_iterate_to(ws, p, ws->v2, ws->l2);
    memcpy(ws->v1, ws->closest.v, p->nv * sizeof(double));
    memcpy(ws->l1, ws->closest.lambda, 3 * p->nc * sizeof(double));
    extend(ws, p);
    ti_ladder_anchor(ws, p, R);
    take_courses(ws, p, R, course);
    ws->at_answer = false;
    if (!ti_contact_steer(ws, &about, R, course) || !(curvature(ws, p) < SHIFTS)) return false;
    double r = ti_contact_residual(ws, p, ws->law, ws->v, ws->lambda, NULL);
    if (!(r < g->tol)) return false;
    ws->strays = straying(ws, p) > STRAYS;
    ti_iterate_to(ws, p, s->v, s->lambda);
    keep_points(ws, p, R, s);
    g->residual = r, g->canonical = g->done = true;
    if (ws->sharp) sharpen(ws, p, g, s);
    return true;
}

double ti_contact_one_point(ti_contact_ws *ws, const ti_contact_problem *p, double R, double tol,
                            ti_contact_solution *s) {
    if (!ti_contact_predict(ws, p, R, 0)) return HUGE_VAL;
    double keeps = kept(ws, p, R);
    if (!(keeps <= REDUNDANT)) return HUGE_VAL;
    double r = polish(ws, p, R);
    if (!(r <= tol)) return HUGE_VAL;
    s->npoint = 1, s->alone = rounds_of(keeps), s->near = R;
    ti_iterate_to(ws, p, s->v, s->lambda);
    ti_point_keep(&s->point[0], 1, R, p, s->v, s->lambda);
    return r;
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
    if (!ti_contact_settle(ws, p, 0, 2 * R)) return false;
    ti_iterate_to(ws, p, ws->v2, ws->l2);
    if (!ti_contact_settle(ws, p, 2 * R, R)) return false;
    s->npoint = 2, s->alone = 0, s->near = R;
    ti_point_keep(&s->point[0], 2, R, p, ws->v, ws->lambda);
    ti_point_keep(&s->point[1], -1, 2 * R, p, ws->v2, ws->l2);
    for (int k = 0; k < 3 * p->nc; k++) s->lambda[k] = 2 * ws->lambda[k] - ws->l2[k];
    for (int k = 0; k < p->nv; k++) s->v[k] = 2 * ws->v[k] - ws->v2[k];
    memcpy(s->mode, ws->mode, p->nc);
    return true;
}
