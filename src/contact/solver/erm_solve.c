/* erm_solve.c -- least expected squared residual: Newton on all contacts together, and its reverse.
 *
 * psi(lambda) = sum over contacts of l(lambda_i, c_i), c = G lambda + g: stationary where w = l_lambda + G l_c = 0.
 * docs/math.md eq. (108), (109).
 */
#include "contact/solver/stochastic.h"
#include "math/dense.h"
#include <math.h>

void ti_erm_carve(ti_arena *m, const ti_contact_sizes *sizes, ti_stochastic *e) {
    size_t n = 3 * (size_t)sizes->nc;
    e->ld = ti_ld((int)n);
    TI_CARVE(m, e->G, n * n);
    TI_CARVE(m, e->H, n * (size_t)e->ld);
    TI_CARVE(m, e->Y, n * n);
    TI_CARVE(m, e->pivot, n);
    TI_CARVE(m, e->term, sizes->nc);
    TI_CARVE(m, e->w, n);
    TI_CARVE(m, e->eta, n);
    TI_CARVE(m, e->d, n);
    TI_CARVE(m, e->trial, n);
}

/* ---------------------------------------------------------------- psi and its derivatives */

/* out = a + G x */
static void add_product(const ti_contact_problem *p, const double *G, const double *x, const double *a, double *out) {
    int n = 3 * p->nc;
    for (int r = 0; r < n; r++) {
        double s = a ? a[r] : 0;
        for (int k = 0; k < n; k++) s += G[(size_t)r * n + k] * x[k];
        out[r] = s;
    }
}

/* The Delassus matrix with a compliance; ws->G is that of the problem. */
static void delassus(const ti_contact_ws *ws, const ti_contact_problem *p, ti_stochastic *e, double R) {
    size_t n = 3 * (size_t)p->nc;
    ti_delassus_dense(&ws->G, p, e->G);
    for (size_t k = 0; k < n; k++) {
        ti_law_compliance c = ti_contact_small(p, (int)k / 3, R);
        e->G[k * n + k] += k % 3 == 2 ? c.n : c.t;
    }
}

static double terms(const ti_contact_ws *ws, const ti_contact_problem *p, ti_stochastic *e, const double *lambda,
                    const double *c) {
    double value = 0;
    for (int i = 0; i < p->nc; i++) {
        ti_law_contact contact = ti_law_contact_of(ws, p, i, NULL);
        ti_erm_of(&contact, lambda + 3 * i, c + 3 * i, &e->term[i]);
        value += e->term[i].value;
        memcpy(e->eta + 3 * i, e->term[i].c, sizeof e->term[i].c);
    }
    return value;
}

/* psi; w in e->w, which uses ws->c. */
static double evaluate(ti_contact_ws *ws, const ti_contact_problem *p, ti_stochastic *e, const double *lambda) {
    add_product(p, e->G, lambda, ws->g, ws->c);
    double value = terms(ws, p, e, lambda, ws->c);
    add_product(p, e->G, e->eta, NULL, e->w);
    for (int k = 0; k < 3 * p->nc; k++) e->w[k] += e->term[k / 3].l[k % 3];
    return value;
}

static tribo_residuals residuals(const ti_contact_problem *p, const ti_stochastic *e, double sl, double sc) {
    tribo_residuals r = {0, 0, 0};
    for (int k = 0; k < 3 * p->nc; k++) {
        double w = fabs(e->w[k]), rho = k % 3 == 2 ? e->term[k / 3].rho_n : e->term[k / 3].rho_t;
        r.primal = ti_max(r.primal, rho * w / sl), r.dual = ti_max(r.dual, w / sc);
    }
    return r;
}

/* Relative size of w; the unit of impulse is at least what the noise alone gives. */
static double measure(const ti_contact_ws *ws, const ti_contact_problem *p, const ti_stochastic *e,
                      const double *lambda) {
    double sl = 0;
    for (int k = 0; k < 3 * p->nc; k++) sl = ti_max(sl, fabs(lambda[k]));
    for (int i = 0; i < p->nc; i++) sl = ti_max(sl, e->term[i].rho_n * ws->noise[2 * i]);
    tribo_residuals r = residuals(p, e, sl > 0 ? sl : 1, ws->unit_c > 0 ? ws->unit_c : 1);
    return ti_max(r.primal, r.dual);
}

/* e->H = l_ll + l_lc G + G l_cl + G l_cc G, of the present terms. */
static void hessian(const ti_contact_problem *p, ti_stochastic *e) {
    size_t n = 3 * (size_t)p->nc, ld = (size_t)e->ld;
    for (size_t r = 0; r < n; r++) { /* Y = l_cc G + l_cl; H = l_lc G + l_ll */
        const ti_erm *t = &e->term[r / 3];
        const double *G = e->G + r / 3 * 3 * n;
        double *Y = e->Y + r * n, *H = e->H + r * ld;
        const double *cc = t->cc + r % 3 * 3, *lc = t->lc + r % 3 * 3;
        for (size_t k = 0; k < n; k++) {
            Y[k] = cc[0] * G[k] + cc[1] * G[n + k] + cc[2] * G[2 * n + k];
            H[k] = lc[0] * G[k] + lc[1] * G[n + k] + lc[2] * G[2 * n + k];
        }
        for (size_t q = 0; q < 3; q++) {
            Y[r / 3 * 3 + q] += t->lc[3 * q + r % 3], H[r / 3 * 3 + q] += t->ll[r % 3 * 3 + q];
        }
    }
    for (size_t r = 0; r < n; r++)
        for (size_t m = 0; m < n; m++) {
            double f = e->G[r * n + m];
            for (size_t k = 0; f != 0 && k < n; k++) e->H[r * ld + k] += f * e->Y[m * n + k];
        }
    for (size_t r = 0; r < n; r++)
        for (size_t k = 0; k < r; k++)
            e->H[r * ld + k] = e->H[k * ld + r] = 0.5 * (e->H[r * ld + k] + e->H[k * ld + r]);
}

/* ---------------------------------------------------------------- Newton */

/* The Newton direction e->d = -H^-1 w. Where H is not positive definite: with the Hessian of each contact made convex,
 * and a growing multiple of the identity added. Overwrites the terms. False if none is found. */
static bool direction(ti_contact_ws *ws, const ti_contact_problem *p, ti_stochastic *e) {
    int n = 3 * p->nc;
    for (double shift = 0; shift<1e6; shift = shift> 0 ? 1e3 * shift : 1e-12) {
        hessian(p, e);
        ws->iterations++;
        for (int k = 0; k < n; k++) {
            const ti_erm *t = &e->term[k / 3];
            e->H[(size_t)k * e->ld + k] += shift / (k % 3 == 2 ? t->rho_n : t->rho_t);
            e->d[k] = -e->w[k];
        }
        if (!ti_chol(n, e->H, e->ld, 0)) {
            ti_chol_solve(n, e->H, e->ld, e->d);
            return true;
        }
        for (int i = 0; shift == 0 && i < p->nc; i++) ti_erm_convex(&e->term[i]);
    }
    return false;
}

/* Minimise psi from ws->lambda; returns the relative gradient. Where the decrease of psi is lost in rounding, a step is
 * accepted if it reduces the gradient. */
static double minimise(ti_contact_ws *ws, const ti_contact_problem *p, ti_stochastic *e, int iterations) {
    int n = 3 * p->nc;
    double value = evaluate(ws, p, e, ws->lambda), now = measure(ws, p, e, ws->lambda);
    for (int it = 0; it < iterations && now > 1e-15 && now < HUGE_VAL; it++) {
        double slope = 0, step = 1, trial, after;
        if (!direction(ws, p, e)) break;
        for (int k = 0; k < n; k++) slope += e->w[k] * e->d[k];
        bool taken = false;
        for (; step > 1e-6 && !taken; step *= 0.5) {
            for (int k = 0; k < n; k++) e->trial[k] = ws->lambda[k] + step * e->d[k];
            trial = evaluate(ws, p, e, e->trial), after = measure(ws, p, e, e->trial);
            taken = trial <= value + 1e-4 * step * slope && -slope > 1e-13 * fabs(value);
            taken = taken || (after < 0.9 * now && trial <= value + 1e-9 * fabs(value));
        }
        if (!taken) break;
        memcpy(ws->lambda, e->trial, n * sizeof(double));
        value = trial, now = after;
    }
    value = evaluate(ws, p, e, ws->lambda);
    return value < HUGE_VAL ? measure(ws, p, e, ws->lambda) : HUGE_VAL;
}

/* Newton on w = 0 from ws->lambda, to stay on the branch of stationary points as compliance changes; returns the
 * relative gradient. */
static double follow(ti_contact_ws *ws, const ti_contact_problem *p, ti_stochastic *e, double tol) {
    int n = 3 * p->nc;
    evaluate(ws, p, e, ws->lambda);
    double now = measure(ws, p, e, ws->lambda);
    for (int it = 0; it < 20 && now > 1e-15 && now < HUGE_VAL; it++) {
        double after = HUGE_VAL;
        hessian(p, e);
        ws->iterations++;
        for (int k = 0; k < n; k++) e->d[k] = -e->w[k];
        if (ti_lu(n, e->H, e->ld, e->pivot, 0)) break;
        ti_lu_solve(n, e->H, e->ld, e->pivot, e->d);
        for (double step = 1; step > 0.01 && !(after < (1 - 0.1 * step) * now); step *= 0.5) {
            for (int k = 0; k < n; k++) e->trial[k] = ws->lambda[k] + step * e->d[k];
            evaluate(ws, p, e, e->trial);
            after = measure(ws, p, e, e->trial);
        }
        if (!(after < now)) break;
        memcpy(ws->lambda, e->trial, n * sizeof(double));
        now = after;
    }
    if (now <= tol) return now;
    return minimise(ws, p, e, 200);
}

double ti_erm_run(ti_contact_ws *ws, const ti_contact_problem *p) {
    ti_stochastic *e = ws->scratch;
    delassus(ws, p, e, 0);
    return minimise(ws, p, e, 300);
}

/* Whether the Hessian is regular enough for a solution without compliance. */
static bool is_regular(const ti_contact_problem *p, ti_stochastic *e) {
    int n = 3 * p->nc;
    hessian(p, e);
    for (int k = 0; k < n; k++) e->d[k] = e->H[(size_t)k * e->ld + k];
    if (ti_chol(n, e->H, e->ld, 0)) return false;
    for (int k = 0; k < n; k++) {
        double r = e->H[(size_t)k * e->ld + k]; /* 1 / pivot */
        if (!(1 > 1e-7 * e->d[k] * r * r)) return false;
    }
    return true;
}

/* One point without compliance; or, where redundant contacts leave the sharing of load open, two, at a larger
 * compliance than that of the smoothed law, as it enters squared here. */
void ti_erm_polish(ti_contact_ws *ws, const ti_contact_problem *p, double tol, ti_contact_solution *s,
                   tribo_contact_info *info) {
    ti_stochastic *e = ws->scratch;
    int n3 = 3 * p->nc, exponent;
    delassus(ws, p, e, 0);
    memcpy(ws->lambda, s->lambda, n3 * sizeof(double));
    double worst = follow(ws, p, e, tol);
    int count = is_regular(p, e) ? 1 : 2;
    frexp(1e-4 * ws->r0, &exponent);
    double R = count == 1 ? 0 : ldexp(1, exponent - (exponent % 4 + 4) % 4);
    for (int k = count - 1; k >= 0; k--) {
        if (count == 2) {
            delassus(ws, p, e, (1 + k) * R);
            double here = follow(ws, p, e, tol);
            worst = k ? here : ti_max(worst, here);
        }
        s->point[k].weight = count == 1 ? 1 : k ? -1 : 2, s->point[k].compliance = (1 + k) * R;
        memcpy(s->point[k].lambda, ws->lambda, n3 * sizeof(double));
        ti_contact_velocity(ws, p, ws->lambda, s->point[k].v);
    }
    s->npoint = count, s->near = R;
    for (int k = 0; k < n3; k++) s->lambda[k] = 0;
    for (int k = 0; k < p->nv; k++) s->v[k] = 0;
    for (int j = 0; j < count; j++) {
        for (int k = 0; k < n3; k++) s->lambda[k] += s->point[j].weight * s->point[j].lambda[k];
        for (int k = 0; k < p->nv; k++) s->v[k] += s->point[j].weight * s->point[j].v[k];
    }
    info->residual = worst, info->canonical = worst <= tol;
}

/* ---------------------------------------------------------------- in place of a law of one contact */

/* c in ws->c. */
static tribo_residuals parts(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda) {
    ti_stochastic *e = ws->scratch;
    terms(ws, p, e, lambda, ws->c);
    memset(ws->dv, 0, p->nv * sizeof(double));
    ti_contact_jt(p, e->eta, ws->dv);
    ti_delassus_minv(&ws->G, p, ws->dv);
    ti_contact_jv(p, ws->dv, false, e->w);
    for (int k = 0; k < 3 * p->nc; k++) {
        e->w[k] += e->term[k / 3].l[k % 3];
        if (p->R) e->w[k] += p->R[k] * e->eta[k];
    }
    return residuals(p, e, 1, 1);
}

static tribo_status factor(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_point *q) {
    ti_stochastic *e = ws->scratch;
    int n3 = 3 * p->nc;
    delassus(ws, p, e, q->compliance);
    ti_contact_jv(p, p->vfree, true, ws->g);
    evaluate(ws, p, e, q->lambda);
    for (double shift = 0;
         shift<1; shift = shift> 0 ? 100 * shift : 1e-14) { /* a shift, which extreme mass ratios need */
        hessian(p, e);
        for (int k = 0; k < n3; k++) {
            const ti_erm *t = &e->term[k / 3];
            e->H[(size_t)k * e->ld + k] += shift / (k % 3 == 2 ? t->rho_n : t->rho_t);
        }
        if (ti_lu(n3, e->H, e->ld, e->pivot, 0) == 0) return TRIBO_OK;
    }
    return TRIBO_E_SINGULAR;
}

/* docs/math.md eq. (109). */
static void vjp(ti_contact_ws *ws, const ti_contact_problem *p, const double *v_bar, const double *lambda_bar,
                double *y, double *c_bar, double *mu_bar) {
    ti_stochastic *e = ws->scratch;
    double *x = e->d, *Gx = e->trial;
    int n3 = 3 * p->nc;
    memcpy(y, v_bar, p->nv * sizeof(double));
    ti_delassus_minv(&ws->G, p, y);
    ti_contact_jv(p, y, false, x);
    for (int k = 0; k < n3; k++) x[k] = -(x[k] + lambda_bar[k]);
    ti_lu_solve_t(n3, e->H, e->ld, e->pivot, x);
    add_product(p, e->G, x, NULL, Gx);
    for (int i = 0; i < p->nc; i++) {
        const ti_erm *t = &e->term[i];
        const double *xi = x + 3 * i, *u = Gx + 3 * i;
        mu_bar[i] = 0;
        for (int r = 0; r < 3; r++) {
            c_bar[3 * i + r] = 0;
            for (int q = 0; q < 3; q++) c_bar[3 * i + r] += t->lc[3 * q + r] * xi[q] + t->cc[3 * q + r] * u[q];
            mu_bar[i] += t->l_mu[r] * xi[r] + t->c_mu[r] * u[r];
        }
    }
    memcpy(y, v_bar, p->nv * sizeof(double));
    ti_contact_jt(p, c_bar, y);
    ti_delassus_minv(&ws->G, p, y);
}

/* After vjp(): the cotangent of G through rho, and x' dG eta. */
static void delassus_bar(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_point *at,
                         const double *c_bar) {
    ti_stochastic *e = ws->scratch;
    const double *x = e->d, *Gx = e->trial;
    bool mujoco = ws->options.softness == TRIBO_SOFTNESS_MUJOCO;
    double share = ti_softness_share(&ws->options);
    for (int i = 0; i < p->nc; i++) {
        const ti_erm *t = &e->term[i];
        double *Gii = ws->Gii_bar + 9 * i, n = 0, across = 0, bar = 0;
        memset(Gii, 0, 9 * sizeof *Gii);
        for (int r = 0; r < 3; r++) {
            n += t->l_n[r] * x[3 * i + r] + t->c_n[r] * Gx[3 * i + r];
            across += t->l_t[r] * x[3 * i + r] + t->c_t[r] * Gx[3 * i + r];
        }
        Gii[8] = -t->rho_n * n, Gii[0] = Gii[4] = -0.5 * t->rho_t * across;
        for (int r = 0; mujoco && r < 3; r++) { /* R = share G_nn: in c, in G and in the diagonal of G_ii */
            int k = 3 * i + r;
            bar += (r < 2 ? share / ws->options.impratio : share) *
                   (c_bar[k] * at->lambda[k] + x[k] * e->eta[k] + Gii[4 * r]);
        }
        Gii[8] += bar;
    }
    ws->G_bar = (ti_delassus_bar){.Gii = ws->Gii_bar, .a = x, .b = e->eta};
}

const ti_coupled_law ti_erm_law = {parts, factor, vjp, delassus_bar};
