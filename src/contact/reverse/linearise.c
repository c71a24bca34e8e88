/* linearise.c -- the linearisation of a law at a solution, forward and reverse. docs/math.md eq. (60), (61). */
#include "contact/reverse/augmented.h"
#include "contact/reverse/doubled.h"
#include "contact/reverse/exempt.h"
#include "contact/reverse/rolling.h"
#include <math.h>
#include <string.h>

/* What the points of a problem share. */
static tribo_status share(ti_contact_ws *ws, const ti_contact_problem *p) {
    ti_system_pack(&ws->sys, p);
    for (int b = 0; b < p->nblk; b++)
        for (int j = 0, k = p->voff[b]; j < p->width[b]; j++, k++) ws->mass[k] = p->M[p->moff[b] + j * p->width[b] + j];
    ti_contact_weigh(ws, p);
    ti_contact_scale(ws, p);
    return ti_system_pattern(&ws->sys, p);
}

/* D, A^-1, -A^-1 dF/dmu and -A^-1 dF/dG_ii of contact i. */
static void differentiate(ti_contact_ws *ws, const ti_contact_problem *p, int i, ti_law_compliance R,
                          unsigned char mode, const double *lambda, const double *c) {
    const double *l = lambda + 3 * i;
    double *by_mu = ws->by_mu + 3 * i, *A = ws->Ainv + 9 * i, F[3];
    const ti_law *law = ti_law_at(ws, p, i);
    if (ws->exempt[i] == TI_YIELDS) {
        memset(ws->D + 9 * i, 0, 9 * sizeof(double));
        memset(by_mu, 0, 3 * sizeof(double));
        return;
    }
    if (law->is & TI_LAW_HARD) {
        ti_ncp_linearise(l, c, p->mu[i], ws->scale + i, R, mode, F, ws->D + 9 * i, A);
        ti_ncp_by_mu(l, c, ws->scale + i, mode, by_mu);
        if (ws->exempt[i] == TI_RESTS) by_mu[0] = by_mu[1] = 0;
        return;
    }
    if (law->is & TI_LAW_DRY) {
        ti_dry_linearise(l, c, p->mu[i], ws->scale + i, R, mode, F, ws->D + 9 * i, A);
        by_mu[0] = by_mu[1] = 0, by_mu[2] = ws->exempt[i] == TI_RESTS ? 0 : ti_dry_by_bound(mode);
        return;
    }
    ti_law_contact contact = ti_law_contact_of(ws, p, i, lambda);
    ti_law_slope slope;
    law->slope(&contact, mode, l, c, &slope);
    ti_law_resolve(&slope, R, ws->D + 9 * i, A);
    if (ws->exempt[i] == TI_RESTS) memset(slope.mu, 0, sizeof slope.mu);
    ti_law_minus(A, slope.mu, by_mu);
    if (law->is & TI_LAW_SPIN) ti_law_minus(A, slope.push, ws->sys.coupling + 3 * i);
    for (int k = 0; law->uses_Gii && k < 27; k++) {
        const double *a = A + k / 9 * 3, *x = slope.Gii + k % 9;
        ws->by_Gii[27 * i + k] = -(a[0] * x[0] + a[1] * x[9] + a[2] * x[18]);
    }
}

tribo_status ti_contact_factor(ti_contact_ws *ws, const ti_contact_problem *hard, const ti_contact_solution *s, int k) {
    const ti_contact_point *q = &s->point[k];
    ti_contact_problem soft, *p = &soft;
    tribo_status status = TRIBO_OK;
    ws->at = *q, ws->at_mode = s->mode, ws->alone = s->alone;
    ws->augmented.n = 0, ws->linear_residual = 0, ws->symmetric = true;
    ti_contact_take_law(ws, hard);
    if (k == 0) {
        status = share(ws, hard);
        ws->contraction = -1;
        if (!status) status = ti_contact_pose(ws, hard, ti_contact_uses_delassus(ws), &soft);
        if (status) return status;
    } else
        soft = ti_contact_soften(ws, hard);
    if (ws->coupled) return ws->coupled->factor(ws, p, q);
    if (k == 0) ti_contact_exempt(ws, p, s), ti_rolling_find(ws, p, s);
    ti_system_jv(&ws->sys, p, q->v, true, ws->c);
    for (int i = 0; i < p->nc; i++) {
        ti_law_compliance R = ti_contact_stiffness(p, i, ti_contact_compliance(q->compliance));
        double c[3];
        ti_contact_at_point(ws, p, i, c);
        differentiate(ws, p, i, R, s->mode[i], q->lambda, c);
        const double *D = ws->D + 9 * i;
        ws->symmetric = ws->symmetric && D[1] == D[3] && D[2] == D[6] && D[5] == D[7] && !p->spins;
    }
    return ti_system_factor(&ws->sys, p, ws->D);
}

/* out (3 nc) = -D c - m dmu */
static void law_rhs(const ti_contact_ws *ws, const ti_contact_problem *p, const double *c, const double *dmu,
                    double *out) {
    for (int i = 0; i < p->nc; i++) {
        const double *D = ws->D + 9 * i, *x = c + 3 * i;
        double *y = out + 3 * i;
        for (int r = 0; r < 3; r++) y[r] = -(D[3 * r] * x[0] + D[3 * r + 1] * x[1] + D[3 * r + 2] * x[2]);
        for (int r = 0; dmu && r < 3; r++) y[r] += ws->by_mu[3 * i + r] * dmu[i];
    }
    if (ws->sys.coupled) ti_contact_follow(ws, p, out);
}

/* ---------------------------------------------------------------- refinement */

/* Iterative refinement. D is large where compliance is small, so dlambda = -D (J dv + dc) leaves a residual in the
 * momentum row, which is solved for again. Each pass shrinks the error by the same factor, rounding times the condition
 * of the contacts: mostly 1e-9, in bad cases 0.1. */
typedef struct refinement {
    double before; /* relative size of the last correction, in the norm of the energy; 1 = none yet */
    double error;  /* estimate of the next one */
} refinement;

static const double rounding = 1e-14, settled = 1e-12, exact = 1e-10, definite = 1e-8, scant = 1e-6;

/* v += dv; the energy of what was added over that of the sum. */
static double add(const ti_contact_ws *ws, int nv, const double *restrict dv, double *restrict v) {
    const double *restrict mass = ws->mass;
    double even = 0, odd = 0, evens = 0, odds = 0; /* two sums each: additions wait for one another */
    int k = 0;
    for (; k + 1 < nv; k += 2) {
        double d0 = dv[k], d1 = dv[k + 1], x0 = v[k] + d0, x1 = v[k + 1] + d1;
        v[k] = x0, v[k + 1] = x1;
        even += mass[k] * d0 * d0, odd += mass[k + 1] * d1 * d1;
        evens += mass[k] * x0 * x0, odds += mass[k + 1] * x1 * x1;
    }
    if (k < nv) v[k] += dv[k], even += mass[k] * dv[k] * dv[k], evens += mass[k] * v[k] * v[k];
    double size = even + odd;
    return size > 0 ? size / (evens + odds) : size; /* NaN stays NaN */
}

/* Whether to refine again after a correction whose square is `energy`. Slow convergence is left to the augmented
 * system, unless that is too large (patient). One correction does not show the rate, as it may be small by the
 * right-hand side alone; two do, and later solves with these factors, or with those of the next point, which are near,
 * use that rate. A symmetric system is definite, never nearly singular, and needs less. */
static bool pays(ti_contact_ws *ws, refinement *f, double energy, bool patient) {
    double change = sqrt(energy), last = f->before;
    bool first = last == 1;
    f->before = change;
    if (first) {
        f->error = change * (ws->contraction >= 0 ? ws->contraction : change);
        if (change <= (ws->symmetric ? definite : exact) || (ws->contraction >= 0 && f->error <= rounding))
            return false;
        return patient || change <= 1e-3;
    }
    double ratio = change / last;
    ws->contraction = ti_max(ws->contraction, ratio);
    f->error = change * (ratio < 1 ? ratio : 1);
    if (f->error <= rounding || !(ratio < 0.9)) return false;
    return patient || ratio <= 0.1;
}

enum { PASSES = 24 };

/* Whether refinement was not enough and the augmented system can be factored. */
static bool has_better(ti_contact_ws *ws, const ti_contact_problem *p, double error) {
    return !(error <= settled) && ti_augmented_ready(ws, p);
}

/* With twice the digits, where that is needed and succeeds; returns the error then, or that which was. */
static double doubled(ti_contact_ws *ws, const ti_contact_problem *p, const ti_doubled *q, bool stalled, double error) {
    if (p->spins) return error;
    if (!stalled && !ti_doubled_needed(ws, p, q)) return error;
    double better = ti_doubled_refine(ws, p, q);
    return better <= settled ? better : error;
}

static void note(ti_contact_ws *ws, double error) {
    ws->linear_residual = ti_max(ws->linear_residual, error);
}

double ti_contact_linear_residual(const ti_contact_ws *ws) {
    return ws->linear_residual;
}

/* ---------------------------------------------------------------- without compliance */

/* docs/math.md eq. (463): where the point stands alone, what its small compliance gives way is taken back, ws->alone
 * times, each of which leaves a power more of it. out (3 nc) = -R x */
static void withstand(const ti_contact_ws *ws, const ti_contact_problem *p, const double *x, double *out) {
    for (int i = 0; i < p->nc; i++) {
        ti_law_compliance R = ti_contact_small(p, i, ws->at.compliance);
        out[3 * i] = -R.t * x[3 * i], out[3 * i + 1] = -R.t * x[3 * i + 1], out[3 * i + 2] = -R.n * x[3 * i + 2];
    }
}

/* ---------------------------------------------------------------- forward */

/* One refinement; returns the energy of the correction over that of the result. */
static double correct(ti_contact_ws *ws, const ti_contact_problem *p, const double *r, double *dv, double *dlambda) {
    ti_system_mv(&ws->sys, p, dv, ws->dv);
    for (int k = 0; k < p->nv; k++) ws->dv[k] = r[k] - ws->dv[k];
    ti_system_jt(&ws->sys, p, dlambda, ws->dv);
    ti_system_solve(&ws->sys, 1, ws->dv);
    ti_system_jv(&ws->sys, p, ws->dv, false, ws->c);
    law_rhs(ws, p, ws->c, NULL, ws->dlambda);
    for (int k = 0; k < 3 * p->nc; k++) dlambda[k] += ws->dlambda[k];
    return add(ws, p->nv, ws->dv, dv);
}

/* The error relative to what the right-hand side would move without contacts, where that is more than dv: a tangent
 * that is nothing but rounding needs no digits. */
static double weigh(const ti_contact_ws *ws, const ti_contact_problem *p, double error, const double *r,
                    const double *dc, const double *dv) {
    if (!(error > settled)) return error;
    double moved = 0, pushed = 0;
    for (int k = 0; k < p->nv; k++) moved += ws->mass[k] * dv[k] * dv[k], pushed += ws->minv[k] * r[k] * r[k];
    for (int i = 0; i < p->nc; i++) {
        const ti_law_scale *s = ws->scale + i;
        const double *c = dc + 3 * i;
        pushed = ti_max(pushed, ti_max(s->rho_t * (c[0] * c[0] + c[1] * c[1]), s->rho_n * c[2] * c[2]));
    }
    return pushed > moved ? error * sqrt(moved / pushed) : error;
}

/* Whether refinement ends above rounding: impulses cancel, or a system that slides amplifies what its rows round. Shown
 * by one more correction, where the last was not negligible. */
static bool stalls(ti_contact_ws *ws, const ti_contact_problem *p, const double *r, double *dv, double *dlambda,
                   double last) {
    return !(last <= settled) && !(sqrt(correct(ws, p, r, dv, dlambda)) <= rounding);
}

/* Whether what was taken back, a correction of this energy, lacks digits, as one that was refined by f does not. */
static bool lacks(const ti_contact_ws *ws, const refinement *f, double energy) {
    return !(sqrt(energy) * (ws->contraction >= 0 ? ws->contraction : f->before) <= rounding);
}

/* Of impulses x, the last that were added. Returns the energy of what it adds over that of the result. */
static double take_back(ti_contact_ws *ws, const ti_contact_problem *p, const double *x, double *dv, double *dlambda) {
    double *give = ws->give;
    withstand(ws, p, x, give);
    law_rhs(ws, p, give, NULL, ws->dlambda);
    memset(ws->dv, 0, p->nv * sizeof(double));
    ti_system_jt(&ws->sys, p, ws->dlambda, ws->dv);
    ti_system_solve(&ws->sys, 1, ws->dv);
    ti_system_jv(&ws->sys, p, ws->dv, false, ws->c);
    for (int k = 0; k < 3 * p->nc; k++) ws->c[k] += give[k];
    law_rhs(ws, p, ws->c, NULL, ws->dlambda);
    for (int k = 0; k < 3 * p->nc; k++) dlambda[k] += ws->dlambda[k], ws->held[k] += give[k];
    return add(ws, p->nv, ws->dv, dv);
}

static void refine(ti_contact_ws *ws, const ti_contact_problem *p, const double *r, const double *dc, const double *dmu,
                   double *dv, double *dlambda) {
    refinement f = {1, 1};
    bool large = ti_augmented_is_large(ws, p);
    for (int pass = 0; pass < PASSES; pass++)
        if (!pays(ws, &f, correct(ws, p, r, dv, dlambda), large)) break;
    double *offset = ws->lt;
    for (int k = 0; k < 3 * p->nc; k++) offset[k] = dmu ? ws->by_mu[k] * dmu[k / 3] : 0;
    const ti_doubled q = {.b = r, .d = dc, .o = offset, .x = dv, .l = dlambda};
    f.error = doubled(ws, p, &q, stalls(ws, p, r, dv, dlambda, f.before), f.error);
    if (has_better(ws, p, f.error)) f.error = ti_augmented_jvp(ws, p, r, dc, offset, dv, dlambda);
    if (ws->alone) {
        memcpy(ws->held, dc, 3 * (size_t)p->nc * sizeof *dc);
        double first = take_back(ws, p, dlambda, dv, dlambda);
        for (int n = 1; n < ws->alone; n++) take_back(ws, p, ws->dlambda, dv, dlambda);
        if (lacks(ws, &f, first)) correct(ws, p, r, dv, dlambda);
        const ti_doubled again = {.b = r, .d = ws->held, .o = offset, .x = dv, .l = dlambda};
        f.error = doubled(ws, p, &again, false, f.error);
    }
    f.error = weigh(ws, p, f.error, r, dc, dv);
    for (int k = 0; k < 3 * p->nc; k++) f.error += 0 * dlambda[k];
    note(ws, f.error);
}

void ti_contact_jvp(ti_contact_ws *ws, const ti_contact_problem *p, int ndir, const double *r, const double *dc,
                    const double *dmu, double *dv, double *dlambda) {
    size_t n3 = 3 * (size_t)p->nc, nv = p->nv;
    memcpy(dv, r, ndir * nv * sizeof(double));
    for (int k = 0; k < ndir; k++) {
        law_rhs(ws, p, dc + k * n3, dmu ? dmu + (size_t)k * p->nc : NULL, dlambda + k * n3);
        ti_system_jt(&ws->sys, p, dlambda + k * n3, dv + k * nv);
    }
    ti_system_solve(&ws->sys, ndir, dv);
    for (int k = 0; k < ndir; k++) {
        const double *mu = dmu ? dmu + (size_t)k * p->nc : NULL;
        ti_doubled_slips(p, dv + k * nv, dc + k * n3, ws->c);
        law_rhs(ws, p, ws->c, mu, dlambda + k * n3);
        refine(ws, p, r + k * nv, dc + k * n3, mu, dv + k * nv, dlambda + k * n3);
    }
}

/* ---------------------------------------------------------------- reverse */

/* What the friction against turning of contact i, which stands behind it, feels of its normal impulse: sum e' z. */
static double followed(const ti_contact_ws *ws, const ti_contact_problem *p, int i, const double *z) {
    double sum = 0;
    for (int k = i + 1; !ti_is_spin(p, i) && k < p->nc && ti_is_spin(p, k); k++)
        for (int r = 0; r < 3; r++) sum += ws->sys.coupling[3 * k + r] * z[3 * k + r];
    return sum;
}

/* out (3 nc) = -D' z */
static void law_rhs_t(const ti_contact_ws *ws, const ti_contact_problem *p, const double *z, double *out) {
    for (int i = 0; i < p->nc; i++) {
        const double *D = ws->D + 9 * i,
                     x[3] = {z[3 * i], z[3 * i + 1], z[3 * i + 2] + (ws->sys.coupled ? followed(ws, p, i, z) : 0)};
        for (int r = 0; r < 3; r++) out[3 * i + r] = -(D[r] * x[0] + D[3 + r] * x[1] + D[6 + r] * x[2]);
    }
}

/* As correct(), of y, z and c_bar. */
static double correct_t(ti_contact_ws *ws, const ti_contact_problem *p, const double *v_bar, double *y, double *z,
                        double *c_bar) {
    ti_system_mv(&ws->sys, p, y, ws->dv);
    for (int k = 0; k < p->nv; k++) ws->dv[k] = v_bar[k] - ws->dv[k];
    ti_system_jt(&ws->sys, p, c_bar, ws->dv);
    ti_system_solve_t(&ws->sys, ws->dv);
    ti_system_jv(&ws->sys, p, ws->dv, false, ws->c);
    law_rhs_t(ws, p, ws->c, ws->f);
    for (int k = 0; k < 3 * p->nc; k++) c_bar[k] += ws->f[k], z[k] += ws->c[k];
    return add(ws, p->nv, ws->dv, y);
}

/* As take_back(), of y, z and c_bar. */
static double take_back_t(ti_contact_ws *ws, const ti_contact_problem *p, const double *x, double *y, double *z,
                          double *c_bar) {
    double *give = ws->give;
    withstand(ws, p, x, give);
    law_rhs_t(ws, p, give, ws->f);
    memset(ws->dv, 0, p->nv * sizeof(double));
    ti_system_jt(&ws->sys, p, ws->f, ws->dv);
    ti_system_solve_t(&ws->sys, ws->dv);
    ti_system_jv(&ws->sys, p, ws->dv, false, ws->c);
    for (int k = 0; k < 3 * p->nc; k++) ws->c[k] += give[k];
    law_rhs_t(ws, p, ws->c, ws->f);
    for (int k = 0; k < 3 * p->nc; k++) z[k] += ws->c[k], c_bar[k] += ws->f[k], ws->held[k] += give[k];
    return add(ws, p->nv, ws->dv, y);
}

/* K' y = v_bar - J'D' lambda_bar, c_bar = -D' z with z = lambda_bar + J y, refined. */
static double solve_t(ti_contact_ws *ws, const ti_contact_problem *p, const double *v_bar, const double *lambda_bar,
                      double *y, double *c_bar) {
    double *z = ws->z;
    refinement f = {1, 1};
    bool large = ti_augmented_is_large(ws, p);
    memcpy(y, v_bar, p->nv * sizeof(double));
    law_rhs_t(ws, p, lambda_bar, c_bar);
    ti_system_jt(&ws->sys, p, c_bar, y);
    ti_system_solve_t(&ws->sys, y);
    ti_doubled_slips(p, y, lambda_bar, z);
    law_rhs_t(ws, p, z, c_bar);
    for (int pass = 0; pass < PASSES; pass++)
        if (!pays(ws, &f, correct_t(ws, p, v_bar, y, z, c_bar), large)) break;
    const ti_doubled q = {.transposed = true, .b = v_bar, .d = lambda_bar, .x = y, .l = c_bar, .c = z};
    f.error = doubled(ws, p, &q, false, f.error);
    if (has_better(ws, p, f.error)) f.error = ti_augmented_vjp(ws, p, v_bar, lambda_bar, y, c_bar);
    if (!ws->alone) return f.error;
    memcpy(ws->held, lambda_bar, 3 * (size_t)p->nc * sizeof *lambda_bar);
    double first = take_back_t(ws, p, c_bar, y, z, c_bar);
    for (int n = 1; n < ws->alone; n++) take_back_t(ws, p, ws->f, y, z, c_bar);
    if (lacks(ws, &f, first)) correct_t(ws, p, v_bar, y, z, c_bar);
    const ti_doubled again = {.transposed = true, .b = v_bar, .d = ws->held, .x = y, .l = c_bar, .c = z};
    return doubled(ws, p, &again, false, f.error);
}

/* An error relative to y, where contacts leave next to nothing of what v_bar asks: as a share of what free bodies would
 * give it is no more than rounding. */
static double weigh_held(const ti_contact_ws *ws, const ti_contact_problem *p, const double *v_bar, const double *y,
                         double error) {
    double left = 0, asked = 0;
    if (!(error > settled)) return error;
    for (int k = 0; k < p->nv; k++) left += ws->mass[k] * y[k] * y[k], asked += v_bar[k] * v_bar[k] / ws->mass[k];
    return left < scant * scant * asked ? error * sqrt(left / asked) / scant : error;
}

void ti_contact_vjp(ti_contact_ws *ws, const ti_contact_problem *p, const double *v_bar, const double *lambda_bar,
                    double *y, double *c_bar, double *mu_bar) {
    double error = 0;
    if (ws->coupled) {
        ws->coupled->vjp(ws, p, v_bar, lambda_bar, y, c_bar, mu_bar);
        for (int k = 0; k < p->nv; k++) error += 0 * y[k];
    } else {
        error = weigh_held(ws, p, v_bar, y, solve_t(ws, p, v_bar, lambda_bar, y, c_bar));
        for (int i = 0; ws->sys.coupled && i < p->nc; i++) ws->z[3 * i + 2] += followed(ws, p, i, ws->z);
        for (int i = 0; i < p->nc; i++) {
            const double *by_mu = ws->by_mu + 3 * i, *zi = ws->z + 3 * i;
            mu_bar[i] = by_mu[0] * zi[0] + by_mu[1] * zi[1] + by_mu[2] * zi[2];
        }
    }
    for (int i = 0; i < p->nc; i++) error += 0 * (mu_bar[i] + c_bar[3 * i] + c_bar[3 * i + 1] + c_bar[3 * i + 2]);
    note(ws, error);
}

/* ---------------------------------------------------------------- what depends on G itself */

bool ti_contact_uses_delassus(const ti_contact_ws *ws) {
    return ws->asked->uses_Gii || ws->options.softness == TRIBO_SOFTNESS_MUJOCO;
}

/* Gii_bar (9): of the law's equation, -z' A^-1 dF/dG_ii; and of a compliance in proportion to its diagonal. */
static void Gii_cotangent(const ti_contact_ws *ws, const ti_contact_problem *p, const double *l, int i,
                          const double *c_bar, double *Gii_bar) {
    const double *z = ws->z + 3 * i, *by_mu = ti_law_at(ws, p, i)->uses_Gii ? ws->by_Gii + 27 * i : NULL;
    memset(Gii_bar, 0, 9 * sizeof *Gii_bar);
    if (!ti_is_contact(p, i)) return;
    for (int j = 0; by_mu && j < 9; j++) Gii_bar[j] = z[0] * by_mu[j] + z[1] * by_mu[9 + j] + z[2] * by_mu[18 + j];
    if (ws->options.softness == TRIBO_SOFTNESS_MUJOCO) { /* R = share G_nn: in c, and in the diagonal of G_ii */
        double n = ti_softness_share(&ws->options), t = n / ws->options.impratio, bar = 0;
        for (int r = 0; r < 3; r++) bar += (r < 2 ? t : n) * (c_bar[3 * i + r] * l[r] + Gii_bar[4 * r]);
        Gii_bar[8] += bar;
    }
}

const ti_delassus_bar *ti_contact_delassus_bar(ti_contact_ws *ws, const ti_contact_problem *p,
                                               const ti_contact_solution *s, int k, const double *c_bar) {
    if (ws->coupled) {
        ws->coupled->delassus_bar(ws, p, &s->point[k], c_bar);
        return &ws->G_bar;
    }
    for (int i = 0; i < p->nc; i++) Gii_cotangent(ws, p, s->point[k].lambda + 3 * i, i, c_bar, ws->Gii_bar + 9 * i);
    ws->G_bar = (ti_delassus_bar){.Gii = ws->Gii_bar};
    return &ws->G_bar;
}

void ti_contact_compliance_vjp(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s, int k,
                               const double *c_bar, double *R_bar) {
    const double *l = s->point[k].lambda;
    for (int j = 0; j < 3 * p->nc; j++) R_bar[j] = c_bar[j] * l[j];
    if (!ti_contact_uses_delassus(ws)) return;
    const ti_delassus_bar *bar = ti_contact_delassus_bar(ws, p, s, k, c_bar);
    for (int j = 0; j < 3 * p->nc; j++) /* it is on the diagonal of G */
        R_bar[j] += bar->Gii[9 * (j / 3) + 4 * (j % 3)] + (bar->a ? bar->a[j] * bar->b[j] : 0);
}

void ti_contact_delassus_vjp(ti_contact_ws *ws, const ti_contact_problem *p, const ti_delassus_bar *bar, double *J_bar,
                             double *M_bar) {
    ti_delassus_vjp(&ws->G, p, bar, J_bar, M_bar);
}
