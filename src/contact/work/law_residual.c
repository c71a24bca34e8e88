/* law_residual.c -- the units of a contact problem, and how far an answer is from a law. */
#include "contact/work/workspace.h"
#include "math/lanes.h"
#include <float.h>
#include <math.h>

/* The unit of velocity counts this share of the terms that a velocity is a sum of: 1e-10 of it is a few roundings. */
#define ROUNDED 1e-5
/* The unit of impulse is at least what gives the lightest body this share of the largest speed of approach. */
#define FAINT 1e-3

/* The columns of a side, first to last: column `e` of n. */
static inline int side_columns(const ti_support *s, int w) {
    return s ? s->n : w;
}
static inline int side_column(const ti_support *s, int e) {
    return s ? s->column[s->n - 1 - e] : e;
}

/* x' M^-1 y of two rows of a block, as far as weights know M. */
static inline double product(const ti_support *at, int w, const double *x, const double *y, const double *minv,
                             const ti_six_turn *turn) {
    double s = 0;
    if (turn->xx > 0) return minv[0] * (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) + ti_six_turned(turn, x + 3, y + 3);
    if (!at)
        for (int k = 0; k < w; k++) s += x[k] * y[k] * minv[k];
    else
        for (int e = at->n - 1; e >= 0; e--) {
            int k = at->column[e];
            s += x[k] * y[k] * minv[k];
        }
    return s;
}

void ti_contact_weigh(ti_contact_ws *ws, const ti_contact_problem *p) {
    for (int b = 0; b < p->nblk; b++) {
        int w = p->width[b];
        for (int j = 0; j < w; j++) ws->minv[p->voff[b] + j] = 1 / p->M[p->moff[b] + j * w + j];
        ti_six_invert_turn(w, p->M + p->moff[b], &ws->turn[b]);
    }
}

double ti_contact_energy_of(const ti_contact_ws *ws, const ti_contact_problem *p, const double *r) {
    double sum = 0;
    for (int b = 0; b < p->nblk; b++) {
        const double *x = r + p->voff[b];
        sum += product(NULL, p->width[b], x, x, ws->minv + p->voff[b], &ws->turn[b]);
    }
    return sum;
}

/* The larger eigenvalue of two by two: what it is along no pair of tangents depends on. */
static double largest_of(double xx, double yy, double xy) {
    double most = xx > yy ? xx : yy, apart = fabs(xx - yy);
    return most + 0.5 * (sqrt(apart * apart + 4 * xy * xy) - apart);
}

/* A body that impulses along a row move by less than this share of what they do across it is not moved that way: by
 * rounding, or by a joint that has hardly a lever there. */
static const double NOT_MOVED = 1e-4;

/* Of one side of a contact, x' M^-1 y of t1 with itself, of t2, of n, and of t1 with t2. */
TI_INLINE void products_of_six(const double *cols, const double *minv, const ti_six_turn *t, vec4 *of) {
    vec4 x[6], y[6], s = {0, 0, 0, 0};
    TI_UNROLL for (int k = 0; k < 6; k++) {
        x[k] = y[k] = *(const vec4 *)(cols + LANE * k);
        x[k][3] = x[k][0], y[k][3] = y[k][1];
    }
    if (t->xx > 0) {
        *of =
            minv[0] * (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) +
            (x[3] * (t->xx * y[3] + t->xy * y[4] + t->xz * y[5]) + x[4] * (t->xy * y[3] + t->yy * y[4] + t->yz * y[5]) +
             x[5] * (t->xz * y[3] + t->yz * y[4] + t->zz * y[5]));
        return;
    }
    TI_UNROLL for (int k = 0; k < 6; k++) s += x[k] * y[k] * minv[k];
    *of = s;
}

/* The same of column k of a side of width w. */
TI_INLINE void add_products(int w, const double *J, const double *minv, int k, vec4 *sum) {
    double t1 = J[k], t2 = J[w + k], n = J[2 * w + k];
    *sum += (vec4){t1, t2, n, t1} * (vec4){t1, t2, n, t2} * minv[k];
}

/* The same of all columns; a joint has one row, of one column. */
TI_INLINE void products_of(const ti_support *at, int w, const double *J, const double *minv, const ti_six_turn *turn,
                           vec4 *of) {
    const double *t1 = J, *t2 = J + w, *n = J + 2 * w;
    vec4 s = {0, 0, 0, 0};
    if (at && at->joint) {
        s[2] = product(at, w, n, n, minv, turn);
    } else if (turn->xx > 0) {
        s[0] = product(at, w, t1, t1, minv, turn), s[1] = product(at, w, t2, t2, minv, turn);
        s[2] = product(at, w, n, n, minv, turn), s[3] = product(at, w, t1, t2, minv, turn);
    } else {
        for (int e = 0, many = side_columns(at, w); e < many; e++) add_products(w, J, minv, side_column(at, e), &s);
    }
    *of = s;
}

/* The diagonal of G is only a scale here, so M of a chain is taken for its diagonal; that of a free body is not, as
 * nothing may depend on the axes of its frame. */
TI_INLINE void scale_of(ti_contact_ws *ws, const ti_contact_problem *p, int i) {
    double gt = 0, gn = 0;
    const double *J = p->J + p->joff[i];
    for (int side = 0; side < 2; side++) {
        int k = side ? p->b[i] : p->a[i];
        if (k < 0) continue;
        int w = p->width[k];
        const double *minv = ws->minv + p->voff[k], *cols = ws->sys.cols + TI_SIX_COLS * (size_t)(2 * i + side);
        vec4 s;
        if (ws->sys.six)
            products_of_six(cols, minv, &ws->turn[k], &s);
        else
            products_of(ti_support_of(p, i, side), w, J, minv, &ws->turn[k], &s);
        double along = s[2], across = largest_of(s[0], s[1], s[3]);
        gt += across, gn += along;
        if (along < NOT_MOVED * across) along = across;
        if (along > 0 && along < ws->r0 && !ti_is_spin(p, i)) ws->r0 = along;
        J += 3 * (size_t)w;
    }
    ws->scale[i] = (ti_law_scale){gn > 0 ? 1 / gn : 1, gt > 0 ? 1 / gt : 1, gn > 0 ? gn : 1, gt > 0 ? gt : 1};
}

TI_CLONES static void scale(ti_contact_ws *ws, const ti_contact_problem *p) {
    for (int i = 0, n = p->nc; i < n; i++) scale_of(ws, p, i);
}

void ti_contact_scale(ti_contact_ws *ws, const ti_contact_problem *p) {
    scale(ws, p);
}

void ti_contact_scale_tangents(ti_contact_ws *ws, const ti_contact_problem *p, double factor) {
    double more = factor / ws->tangent_scale;
    for (int i = 0; i < p->nc; i++) ws->scale[i].rho_t *= more, ws->scale[i].g_t /= more;
    ws->tangent_scale = factor;
}

/* max_i sum_j |J_ij x_j| + |ref_i|: the size of the terms of J x + ref, and so of its rounding. */
static double made_of(const ti_contact_problem *p, const double *x, const double *ref) {
    double most = 0;
    for (int i = 0; i < p->nc; i++) {
        const double *J = p->J + p->joff[i];
        double sum[3] = {0, 0, 0};
        for (int side = 0; side < 2; side++) {
            int k = side ? p->b[i] : p->a[i];
            if (k < 0) continue;
            const ti_support *at = ti_support_of(p, i, side);
            for (int r = 0; r < 3; r++, J += p->width[k])
                for (int e = 0, n = side_columns(at, p->width[k]); e < n; e++) {
                    int j = side_column(at, e);
                    sum[r] += fabs(J[j] * x[p->voff[k] + j]);
                }
        }
        for (int r = 0; r < 3; r++) most = ti_max(most, sum[r] + (ref ? fabs(ref[3 * i + r]) : 0));
    }
    return most;
}

/* max_i sum_j |G_ij lambda_j|, with the diagonal of M for M. */
static double made_of_impulses(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda) {
    const ti_system *s = &ws->sys;
    if (s->paths.fits) return ti_paths_made_of(&s->paths, ws->minv, lambda, ws->dv);
    if (s->six) return ti_six_made_of(p, s->rows, s->cols, ws->minv, lambda, ws->dv);
    memset(ws->dv, 0, p->nv * sizeof(double));
    for (int i = 0; i < p->nc; i++) {
        const double *J = p->J + p->joff[i], *l = lambda + 3 * i;
        for (int side = 0; side < 2; side++) {
            int k = side ? p->b[i] : p->a[i];
            if (k < 0) continue;
            const ti_support *at = ti_support_of(p, i, side);
            for (int r = 0; r < 3; r++, J += p->width[k])
                for (int e = 0, n = side_columns(at, p->width[k]); e < n; e++) {
                    int j = side_column(at, e);
                    ws->dv[p->voff[k] + j] += fabs(J[j] * l[r]);
                }
        }
    }
    for (int k = 0; k < p->nv; k++) ws->dv[k] *= ws->minv[k];
    return made_of(p, ws->dv, NULL);
}

/* A cheap upper bound of made_of_impulses(), off-diagonal entries of M aside: |G_ij|^2 <= G_ii G_jj. */
static double bound_of_impulses(const ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda) {
    double widest = 0, most = 0;
    for (int i = 0; i < p->nc; i++) {
        const double *l = lambda + 3 * i;
        double t = ws->scale[i].g_t * ws->tangent_scale, n = ws->scale[i].g_n;
        widest = ti_max(widest, ti_max(t, n));
        most = ti_max(most, ti_max(t * ti_max(l[0] * l[0], l[1] * l[1]), n * l[2] * l[2]));
    }
    return 3 * p->nc * sqrt(widest * most);
}

/* Speeds whose squares, or those of their energies, are no numbers are none, m/s. */
static const double LEAST = 1e-70;

/* Contacts of trees that the free motion parts have no say in the units: what is far off, and looked at because it is
 * fast, asks for its gap in a step. Others that push them together do so by speeds that count. */
static bool parts(const ti_contact_ws *ws, const ti_contact_problem *p, int i) {
    bool plain = p->chains && p->kind == TI_CONTACT_LAW && !p->rebound && ti_is_contact(p, i);
    return plain && ws->law->is & TI_LAW_HARD && ws->g[3 * i + 2] > 0;
}

/* Whether all of them do, and nothing else is asked. */
static bool all_part(const ti_contact_ws *ws, const ti_contact_problem *p) {
    for (int i = 0; i < p->nc; i++)
        if (!parts(ws, p, i)) return false;
    return true;
}

/* docs/math.md eq. (37): the unit of velocity, and from it the unit of merit, an energy. Large speeds may cancel in g
 * and leave their rounding, which counts; it is computed only where it may reach a thousandth of the unit. */
static void choose_units(ti_contact_ws *ws, const ti_contact_problem *p) {
    double normal = 0, across = 0, widest = 0, ref = 0;
    const double *fastest = ws->g;
    bool all = all_part(ws, p);
    for (int i = 0; i < 3 * p->nc; i++) ref = ti_max(ref, fabs(p->ref[i]));
    for (int i = 0; i < p->nc; i++) {
        const double *g = ws->g + 3 * i;
        widest = ti_max(widest, ti_max(ws->scale[i].g_t, ws->scale[i].g_n));
        if (!all && parts(ws, p, i)) continue;
        double t = g[0] * g[0] + g[1] * g[1];
        if (t > across) across = t, fastest = g;
        normal = ti_max(normal, fabs(g[2]));
    }
    double largest = ti_max(normal, across > 0 ? hypot(fastest[0], fastest[1]) : 0), rest = 0;
    if (ROUNDED * (sqrt(widest * ws->energy) + ref) > 1e-3 * largest) rest = ROUNDED * made_of(p, p->vfree, p->ref);
    if (p->chains) rest = ti_max(rest, ROUNDED * sqrt(widest * ws->energy));
    ws->unit_c = largest + rest, ws->widest = widest;
    if (ws->unit_c > 0 && ws->unit_c < LEAST) ws->unit_c = LEAST;
    ws->merit = ws->approach = 0;
    for (int i = 0; i < p->nc; i++) {
        const double *g = ws->g + 3 * i;
        const ti_law_scale *s = ws->scale + i;
        if (!all && parts(ws, p, i)) continue;
        if (!ti_is_spin(p, i)) ws->approach = ti_max(ws->approach, fabs(g[2]));
        ws->merit += s->rho_t * (g[0] * g[0] + g[1] * g[1] + rest * rest) + s->rho_n * (g[2] * g[2] + rest * rest);
    }
}

bool ti_contact_prepare(ti_contact_ws *ws, const ti_contact_problem *p) {
    double sum = 0; /* 0 * x is NaN for NaN and Inf */
    ti_system_pack(&ws->sys, p);
    ti_contact_weigh(ws, p);
    ws->energy = ws->speed = 0;
    for (int k = 0; k < p->nblk; k++) {
        int w = p->width[k], at = p->voff[k];
        const double *M = p->M + p->moff[k];
        for (int j = 0; j < w; j++) {
            ws->arm[at + j] = ws->minv[at] * M[j * w + j];
            double free = p->vfree[at + j] * p->vfree[at + j];
            ws->energy += M[j * w + j] * free, ws->speed += ws->arm[at + j] * free;
        }
        if (!ti_finite(M, (size_t)w * w)) return false;
    }
    ws->r0 = HUGE_VAL, ws->tangent_scale = 1;
    ti_contact_scale(ws, p);
    for (int i = 0; i < p->nc; i++) sum += 0 * ws->scale[i].g_n + 0 * ws->scale[i].g_t + 0 * p->mu[i];
    if (!(ws->r0 < HUGE_VAL)) ws->r0 = 1;
    ti_system_jv(&ws->sys, p, p->vfree, true, ws->g);
    for (int i = 0; i < 3 * p->nc; i++) sum += 0 * ws->g[i];
    for (int k = 0; k < p->nv; k++) sum += 0 * p->vfree[k];
    choose_units(ws, p);
    return sum == 0;
}

/* The worst of each part of a law's residual, in no units; c in ws->c. */
static tribo_residuals parts_of(ti_contact_ws *ws, const ti_contact_problem *p, const ti_law *law,
                                const double *lambda) {
    tribo_residuals worst = {0, 0, 0};
    if (ws->coupled && law == ws->law) return ws->coupled->parts(ws, p, lambda);
    for (int i = 0; i < p->nc; i++) {
        double part[3];
        const ti_law *one = ti_law_among(p, law, i);
        if (one->is & TI_LAW_HARD) {
            ti_ncp_residual(lambda + 3 * i, ws->c + 3 * i, p->mu[i], part);
        } else if (one->is & TI_LAW_DRY) {
            ti_dry_residual(lambda + 3 * i, ws->c + 3 * i, p->mu[i], part);
        } else {
            ti_law_contact contact = ti_law_contact_of(ws, p, i, lambda);
            one->residual(&contact, lambda + 3 * i, ws->c + 3 * i, part);
        }
        worst.primal = ti_max(worst.primal, part[0]), worst.dual = ti_max(worst.dual, part[1]);
        worst.complementarity = ti_max(worst.complementarity, part[2]);
    }
    return worst;
}

/* In units sl of impulse and sc of velocity. */
static tribo_residuals in_units(tribo_residuals r, double sl, double sc) {
    return (tribo_residuals){r.primal / sl, r.dual / sc, r.complementarity / (sl * sc)};
}

static double worst_of(tribo_residuals r) {
    return ti_max(r.primal, ti_max(r.dual, r.complementarity));
}

double ti_contact_faint(const ti_contact_ws *ws) {
    return ws->widest > 0 ? FAINT * ws->approach / ws->widest : 0;
}

/* The unit of impulse: the largest impulse, prescribed ones included, whose friction may be all there is; but not less
 * than what gives the lightest body a share of the approach speeds. Speeds of slip do not count, as what slips may
 * hardly press; nor than what gives the lightest a speed that is one. */
static double unit_of_impulse(const ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda) {
    double l = ti_max(ti_contact_faint(ws), ws->widest > 0 ? LEAST / ws->widest : 0);
    for (int k = 0; k < 3 * p->nc; k++) l = ti_max(l, fabs(lambda[k]));
    for (int i = 0; p->rebound && i < p->nc; i++) l = ti_max(l, p->rebound[i]);
    return l == 0 ? 1 : l;
}

void ti_contact_relative(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *lambda,
                         double *c) {
    ti_system_jv(&ws->sys, p, v, true, c);
    for (int k = 0; p->R && k < 3 * p->nc; k++) c[k] += p->R[k] * lambda[k];
}

double ti_contact_law_residual(ti_contact_ws *ws, const ti_contact_problem *p, const double *v, const double *lambda) {
    double sl = unit_of_impulse(ws, p, lambda), sc = ws->unit_c > 0 ? ws->unit_c : 1;
    ti_contact_relative(ws, p, v, lambda, ws->c);
    return worst_of(in_units(parts_of(ws, p, ws->law, lambda), sl, sc));
}

/* The rounding that impulses leave in velocities, in units of velocity, where that is too much for any answer to be
 * trusted; else 0. */
static double uncertainty(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda, double largest,
                          double unit) {
    const double most = 1e-6, half = 0.5 * DBL_EPSILON;
    if (half * 3 * p->nc * ws->widest * largest <= most * unit) return 0; /* no entry of G is more */
    if (half * bound_of_impulses(ws, p, lambda) <= most * unit) return 0;
    double share = half * made_of_impulses(ws, p, lambda) / unit;
    return share <= most ? 0 : share; /* NaN too */
}

/* The velocity that the momentum residual in ws->r stands for, where it may be more than `least`. */
static double off_balance(ti_contact_ws *ws, const ti_contact_problem *p, double least) {
    double energy = 0, most = 0;
    for (int k = 0; k < p->nv; k++) {
        ws->dv[k] = ws->minv[k] * ws->r[k];
        energy += ws->dv[k] * ws->r[k];
    }
    /* |J x|^2 <= J M^-1 J' x'M x, with the diagonal of M for M, of which inertia is at most three times */
    if (sqrt(3 * ws->widest * energy) < least) return 0;
    ti_system_jv(&ws->sys, p, ws->dv, false, ws->give);
    for (int k = 0; k < 3 * p->nc; k++) most = ti_max(most, fabs(ws->give[k]));
    return most;
}

double ti_contact_residual(ti_contact_ws *ws, const ti_contact_problem *p, const ti_law *law, const double *v,
                           const double *lambda, tribo_residuals *parts) {
    double sl = unit_of_impulse(ws, p, lambda), unit = ws->unit_c > 0 ? ws->unit_c : 1, sc = unit;
    ti_contact_relative(ws, p, v, lambda, ws->c);
    tribo_residuals all = parts_of(ws, p, law, lambda), r = in_units(all, sl, sc);
    ti_contact_momentum(ws, p, v, lambda);
    double off = off_balance(ws, p, sc * worst_of(r));
    if (!(ti_max(off / sc, worst_of(r)) <
          1e-12)) { /* the exact unit is larger and dearer, and asked for only if it may matter */
        sc += ROUNDED * made_of_impulses(ws, p, lambda);
        r = in_units(all, sl, sc);
    }
    if (parts) *parts = r;
    return ti_max(uncertainty(ws, p, lambda, sl, unit), ti_max(off / sc, worst_of(r)));
}

double ti_contact_residual_at(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda, const double *c) {
    double unit = ws->unit_c > 0 ? ws->unit_c : 1, sc = unit + ROUNDED * made_of_impulses(ws, p, lambda);
    memcpy(ws->c, c, 3 * p->nc * sizeof(double));
    double sl = unit_of_impulse(ws, p, lambda), r = worst_of(in_units(parts_of(ws, p, ws->law, lambda), sl, sc));
    return ti_max(uncertainty(ws, p, lambda, sl, unit), r);
}
