/* staggered.c -- staggered projections: to a tolerance, plain or with Anderson's mixing; by rounds, and back through
 * each QP and QCQP. */
#include "contact/solver/staggered.h"
#include "contact/solver/polygons.h"
#include "contact/solver/solvers.h"
#include "contact/work/anderson.h"
#include "qcqp/qcqp.h"
#include <math.h>

struct ti_staggered_ws {
    tribo_allocator alloc;
    size_t bytes;
    int nc_max, nv_max, nblk_max;
    ti_system sys; /* of M alone */
    tribo_qcqp_ws *qcqp;
    bool faceted; /* the friction problem is over polygons */
    ti_polygons polygons;
    ti_anderson mixing;      /* of the solver */
    double *next, *f;        /* (2 nc) of the solver */
    double *last;            /* (3 nc) of the solver: the best of the rounds */
    ti_contact_solution end; /* of the solver: where ti_contact_end() works */
    double *G;               /* (3 nc,3 nc), contact by contact */
    double *Gnn, *Gnt, *Gtt; /* (nc,nc), (nc,2 nc), (2 nc,2 nc) */
    double *g;               /* (3 nc) J vfree + ref */
    double *D;               /* (9 nc) zeros */
    double *x;               /* (nv) */
    double *n, *t;           /* (nc), (2 nc) impulses */
    double *q, *r;           /* (2 nc), (nc) of a subproblem */
    double *n_bar, *t_bar;   /* (nc), (2 nc) */
    double *q_bar, *r_bar;   /* (2 nc), (nc) */
    double *lambda, *c_bar;  /* (3 nc) of a stage */
    double *v, *y;           /* (nv) of a stage */
    double *mu_bar;          /* (nc) */
};

/* What one round needs. */
static void carve_round(ti_arena *m, int nc, ti_staggered_ws *ws) {
    size_t c = nc;
    TI_CARVE(m, ws->G, 9 * c * c);
    TI_CARVE(m, ws->Gnn, c * c);
    TI_CARVE(m, ws->Gnt, 2 * c * c);
    TI_CARVE(m, ws->Gtt, 4 * c * c);
    TI_CARVE(m, ws->n, c);
    TI_CARVE(m, ws->t, 2 * c);
    TI_CARVE(m, ws->q, 2 * c);
    TI_CARVE(m, ws->r, c);
    ti_qcqp_carve(m, 2 * nc, &ws->qcqp);
}

static void carve(ti_arena *m, const ti_contact_size *most, ti_staggered_ws *ws) {
    size_t c = most->nc, n = most->nv;
    ti_carve(m, 1, sizeof *ws);
    carve_round(m, most->nc, ws);
    TI_CARVE(m, ws->g, 3 * c);
    TI_CARVE(m, ws->D, 9 * c);
    TI_CARVE(m, ws->x, n);
    TI_CARVE(m, ws->n_bar, c);
    TI_CARVE(m, ws->t_bar, 2 * c);
    TI_CARVE(m, ws->q_bar, 2 * c);
    TI_CARVE(m, ws->r_bar, c);
    TI_CARVE(m, ws->lambda, 3 * c);
    TI_CARVE(m, ws->c_bar, 3 * c);
    TI_CARVE(m, ws->v, n);
    TI_CARVE(m, ws->y, n);
    TI_CARVE(m, ws->mu_bar, c);
    ti_system_carve(m, most, &ws->sys);
}

tribo_status ti_staggered_ws_new(const ti_contact_size *most, const tribo_allocator *a, ti_staggered_ws **out) {
    if (!out || most->nc < 1 || most->nv < 1 || most->nblk < 1 || most->wide < 1) return TRIBO_E_ARG;
    ti_staggered_ws layout = {.nc_max = most->nc, .nv_max = most->nv, .nblk_max = most->nblk};
    if (a) layout.alloc = *a;
    ti_arena m = {0};
    carve(&m, most, &layout);
    layout.bytes = m.used;
    ti_staggered_ws *ws = ti_arena_take(&m, a);
    if (!ws) return TRIBO_E_NOMEM;
    *ws = layout;
    carve(&m, most, ws);
    *out = ws;
    return TRIBO_OK;
}

void ti_staggered_ws_free(ti_staggered_ws *ws) {
    if (!ws) return;
    tribo_allocator a = ws->alloc;
    ti_free(&a, ws, ws->bytes);
}

/* ---------------------------------------------------------------- the dense problem */

/* Row r of G: J M^-1 (row r of J)'. Leaves M^-1 J' e_r in ws->x. */
static void delassus_row(ti_staggered_ws *ws, const ti_contact_problem *p, int r, double *row) {
    memset(ws->x, 0, p->nv * sizeof(double));
    memset(ws->lambda, 0, 3 * p->nc * sizeof(double));
    ws->lambda[r] = 1;
    ti_system_jt(&ws->sys, p, ws->lambda, ws->x);
    ti_system_solve(&ws->sys, 1, ws->x);
    ti_system_jv(&ws->sys, p, ws->x, false, row);
}

static void split(ti_staggered_ws *ws, int nc) {
    for (int i = 0; i < nc; i++)
        for (int j = 0; j < nc; j++) {
            const double *row[3];
            for (int r = 0; r < 3; r++) row[r] = ws->G + (size_t)(3 * i + r) * 3 * nc + 3 * j;
            ws->Gnn[(size_t)i * nc + j] = row[2][2];
            for (int s = 0; s < 2; s++) {
                ws->Gnt[(size_t)i * 2 * nc + 2 * j + s] = row[2][s];
                for (int r = 0; r < 2; r++) ws->Gtt[(size_t)(2 * i + r) * 2 * nc + 2 * j + s] = row[r][s];
            }
        }
}

static tribo_status prepare(ti_staggered_ws *ws, const ti_contact_problem *p) {
    if (p->nc > ws->nc_max || p->nv > ws->nv_max || p->nblk > ws->nblk_max) return TRIBO_E_CAPACITY;
    int n3 = 3 * p->nc;
    ti_system_pack(&ws->sys, p);
    tribo_status status = ti_system_pattern(&ws->sys, p);
    if (!status) status = ti_system_factor(&ws->sys, p, ws->D);
    if (status) return status;
    for (int r = 0; r < n3; r++) delassus_row(ws, p, r, ws->G + (size_t)r * n3);
    for (int r = 0; r < n3; r++) /* symmetric to the bit, which the subproblems may count on */
        for (int c = 0; c < r; c++) {
            double *a = ws->G + (size_t)r * n3 + c, *b = ws->G + (size_t)c * n3 + r;
            *a = *b = 0.5 * (*a + *b);
        }
    split(ws, p->nc);
    ti_system_jv(&ws->sys, p, p->vfree, true, ws->g);
    return ti_finite(ws->g, n3) && ti_finite(ws->G, (size_t)n3 * n3) && ti_finite(p->mu, p->nc) ? TRIBO_OK
                                                                                                : TRIBO_E_NONFINITE;
}

/* v = vfree + M^-1 J' lambda */
static void velocity(ti_staggered_ws *ws, const ti_contact_problem *p, const double *lambda, double *v) {
    memset(v, 0, p->nv * sizeof(double));
    ti_system_jt(&ws->sys, p, lambda, v);
    ti_system_solve(&ws->sys, 1, v);
    for (int k = 0; k < p->nv; k++) v[k] += p->vfree[k];
}

/* The QP for the normal impulses: q = g_n + G_nt t. */
static tribo_qcqp normal_problem(ti_staggered_ws *ws, int nc) {
    for (int i = 0; i < nc; i++) {
        ws->q[i] = ws->g[3 * i + 2];
        for (int k = 0; k < 2 * nc; k++) ws->q[i] += ws->Gnt[(size_t)i * 2 * nc + k] * ws->t[k];
    }
    tribo_qcqp qp = {nc, ws->Gnn, ws->q, NULL};
    return qp;
}

/* The QCQP for the tangential ones: q = g_t + G_tn n, r = mu n. */
static tribo_qcqp tangential_problem(ti_staggered_ws *ws, const ti_contact_problem *p) {
    int nc = p->nc;
    for (int k = 0; k < 2 * nc; k++) {
        ws->q[k] = ws->g[3 * (k / 2) + k % 2];
        for (int i = 0; i < nc; i++) ws->q[k] += ws->Gnt[(size_t)i * 2 * nc + k] * ws->n[i];
    }
    for (int i = 0; i < nc; i++) ws->r[i] = p->mu[i] * (ws->n[i] > 0 ? ws->n[i] : 0);
    tribo_qcqp qp = {2 * nc, ws->Gtt, ws->q, ws->r};
    return qp;
}

static void join(int nc, const double *n, const double *t, double *lambda) {
    for (int i = 0; i < nc; i++) lambda[3 * i] = t[2 * i], lambda[3 * i + 1] = t[2 * i + 1], lambda[3 * i + 2] = n[i];
}

static void part(int nc, const double *lambda, double *n, double *t) {
    for (int i = 0; i < nc; i++) t[2 * i] = lambda[3 * i], t[2 * i + 1] = lambda[3 * i + 1], n[i] = lambda[3 * i + 2];
}

static void modes(int nc, const double *mu, const double *lambda, unsigned char *mode) {
    for (int i = 0; i < nc; i++) {
        const double *l = lambda + 3 * i;
        bool edge = hypot(l[0], l[1]) >= mu[i] * l[2] * (1 - 1e-9);
        mode[i] = l[2] > 0 ? (edge ? TRIBO_SLIDE : TRIBO_STICK) : TRIBO_BREAK;
    }
}

/* A round: n from t, t from n. TRIBO_NOT_CONVERGED if a subproblem was not solved. */
static tribo_status round_of(ti_staggered_ws *ws, const ti_contact_problem *p) {
    tribo_qcqp qp = normal_problem(ws, p->nc);
    tribo_status normal = tribo_qcqp_solve(ws->qcqp, &qp, 0, 0, ws->n, NULL, NULL);
    if (normal < 0) return normal;
    qp = tangential_problem(ws, p);
    if (ws->faceted) return ti_polygons_solve(&ws->polygons, ws->q, ws->r, ws->t) ? normal : TRIBO_NOT_CONVERGED;
    tribo_status tangential = tribo_qcqp_solve(ws->qcqp, &qp, 0, 0, ws->t, NULL, NULL);
    return tangential ? tangential : normal;
}

tribo_status ti_staggered_solve(ti_staggered_ws *ws, const ti_contact_problem *p, int rounds, double *tape,
                                double *lambda, double *v, unsigned char *mode) {
    int nc = p->nc;
    if (rounds < 1 || nc < 1) return TRIBO_E_ARG;
    tribo_status status = prepare(ws, p), worst = TRIBO_OK;
    if (status) return status;
    memset(ws->n, 0, nc * sizeof(double));
    memset(ws->t, 0, 2 * nc * sizeof(double));
    for (int k = 0; k < rounds; k++) {
        status = round_of(ws, p);
        if (status < 0) return status;
        if (status) worst = status;
        join(nc, ws->n, ws->t, tape + (size_t)k * 3 * nc);
    }
    memcpy(lambda, tape + (size_t)(rounds - 1) * 3 * nc, 3 * nc * sizeof(double));
    velocity(ws, p, lambda, v);
    modes(nc, p->mu, lambda, mode);
    return worst;
}

/* ---------------------------------------------------------------- solver */

enum { MEMORY = 15 };
typedef char it_fits[sizeof(ti_staggered_ws) <= TI_SCRATCH_MAX ? 1 : -1];

void ti_staggered_carve(ti_arena *m, const ti_contact_sizes *sizes, void *scratch) {
    ti_staggered_ws *ws = scratch;
    carve_round(m, sizes->nc, ws);
    TI_CARVE(m, ws->next, 2 * (size_t)sizes->nc);
    TI_CARVE(m, ws->f, 2 * (size_t)sizes->nc);
    TI_CARVE(m, ws->last, 3 * (size_t)sizes->nc);
    ti_contact_solution_carve(m, sizes->nc, sizes->nv, &ws->end);
    ti_anderson_carve(m, 2 * sizes->nc, MEMORY, &ws->mixing);
    ws->faceted = sizes->law->law == TRIBO_LAW_LCP;
    if (ws->faceted) ti_polygons_carve(m, sizes->nc, &ws->polygons);
}

/* The residual of (n, t), in ws->lambda; the best is kept in ws->lb. */
static double judge(ti_contact_ws *ws, const ti_contact_problem *p, const ti_staggered_ws *s, double tol,
                    double *best) {
    join(p->nc, s->n, s->t, ws->lambda);
    ti_contact_velocity(ws, p, ws->lambda, ws->v);
    double r = ti_contact_law_residual(ws, p, ws->v, ws->lambda);
    if (r > tol && r < 1e4 * tol) /* the cheap residual overestimates: it has no allowance for rounding */
        r = 2 * ti_contact_residual(ws, p, ws->law, ws->v, ws->lambda, NULL);
    if (r < *best) *best = r, memcpy(ws->lb, ws->lambda, 3 * p->nc * sizeof(double));
    return r;
}

enum { STALLED = 100 };

/* docs/math.md eq. (76): the map of t through both problems, repeated or with Anderson's mixing. */
static void alternate(ti_contact_ws *ws, const ti_contact_problem *p, double tol, bool mixed) {
    ti_staggered_ws *s = ws->scratch;
    int nt = 2 * p->nc;
    double best = HUGE_VAL, before = HUGE_VAL;
    int idle = 0, plain = 0; /* rounds since the best was met; rounds to go without mixing */
    s->g = ws->g;
    ti_delassus_dense(&ws->G, p, s->G);
    split(s, p->nc);
    if (s->faceted) ti_polygons_pose(&s->polygons, &ws->pyramid, p->nc, s->Gtt);
    part(p->nc, ws->lambda, s->n, s->t);
    ti_anderson_forget(&s->mixing, nt);
    while (ws->iterations < ws->max_iter) {
        memcpy(s->next, s->t, nt * sizeof(double));
        ws->iterations++;
        if (round_of(s, p) < 0) break;
        double had = best, r = judge(ws, p, s, tol, &best), size = 0;
        if (!(r > tol)) break; /* NaN too */
        idle = best < 0.9 * had ? 0 : idle + 1;
        if (mixed && idle > STALLED) { /* rounds without mixing, from the best answer */
            ti_anderson_forget(&s->mixing, nt);
            part(p->nc, ws->lb, s->n, s->t);
            idle = 0, plain = STALLED;
            continue;
        }
        for (int k = 0; k < nt; k++) {
            s->f[k] = s->t[k] - s->next[k], size += s->f[k] * s->f[k];
            s->t[k] += (ws->options.relaxation - 1) * s->f[k];
        }
        if (!mixed || plain-- > 0) continue;
        if (size > 4 * before) ti_anderson_forget(&s->mixing, nt);
        before = size;
        ti_anderson_mix(&s->mixing, s->f, s->t);
    }
    if (best < HUGE_VAL) memcpy(ws->lambda, ws->lb, 3 * p->nc * sizeof(double));
    if (!mixed || !(best < HUGE_VAL)) return;
    memcpy(s->last, ws->lambda, 3 * p->nc * sizeof(double));
    ti_contact_end(ws, p, tol, s->last, &s->end);
}

void ti_staggered_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol) {
    alternate(ws, p, tol, true);
}

void ti_staggered_plain_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol) {
    alternate(ws, p, tol, false);
}

/* ---------------------------------------------------------------- reverse */

/* One stage sees c = G lambda + g through one subproblem: c_bar is the cotangent of its q. */
static void emit(ti_staggered_ws *ws, const ti_contact_problem *p, ti_staggered_stage *stage, void *context) {
    velocity(ws, p, ws->lambda, ws->v);
    memset(ws->y, 0, p->nv * sizeof(double)); /* y = M^-1 J' c_bar */
    ti_system_jt(&ws->sys, p, ws->c_bar, ws->y);
    ti_system_solve(&ws->sys, 1, ws->y);
    stage(context, ws->lambda, ws->v, ws->y, ws->c_bar, ws->mu_bar);
}

/* x = the last impulses: lambda_bar += J y, y = M^-1 v_bar. */
static void last_stage(ti_staggered_ws *ws, const ti_contact_problem *p, const double *last, const double *v_bar,
                       const double *lambda_bar, ti_staggered_stage *stage, void *context) {
    memcpy(ws->y, v_bar, p->nv * sizeof(double));
    ti_system_solve(&ws->sys, 1, ws->y);
    ti_system_jv(&ws->sys, p, ws->y, false, ws->lambda);
    for (int k = 0; k < 3 * p->nc; k++) ws->lambda[k] += lambda_bar[k];
    part(p->nc, ws->lambda, ws->n_bar, ws->t_bar);
    memset(ws->c_bar, 0, 3 * p->nc * sizeof(double));
    memset(ws->mu_bar, 0, p->nc * sizeof(double));
    velocity(ws, p, last, ws->v);
    stage(context, last, ws->v, ws->y, ws->c_bar, ws->mu_bar);
}

static tribo_status reverse_tangential(ti_staggered_ws *ws, const ti_contact_problem *p) {
    int nc = p->nc;
    tribo_qcqp qp = tangential_problem(ws, p);
    memset(ws->q_bar, 0, 2 * nc * sizeof(double));
    memset(ws->r_bar, 0, nc * sizeof(double));
    tribo_status status = tribo_qcqp_vjp(ws->qcqp, &qp, ws->t, ws->t_bar, ws->q_bar, ws->r_bar, NULL, NULL);
    for (int i = 0; i < nc; i++) {
        ws->c_bar[3 * i] = ws->q_bar[2 * i], ws->c_bar[3 * i + 1] = ws->q_bar[2 * i + 1], ws->c_bar[3 * i + 2] = 0;
        ws->mu_bar[i] = ws->r_bar[i] * ws->n[i];
        ws->n_bar[i] += p->mu[i] * ws->r_bar[i];
        for (int k = 0; k < 2 * nc; k++) ws->n_bar[i] += ws->Gnt[(size_t)i * 2 * nc + k] * ws->q_bar[k];
    }
    return status;
}

static tribo_status reverse_normal(ti_staggered_ws *ws, const ti_contact_problem *p) {
    int nc = p->nc;
    tribo_qcqp qp = normal_problem(ws, nc);
    memset(ws->q_bar, 0, nc * sizeof(double));
    tribo_status status = tribo_qcqp_vjp(ws->qcqp, &qp, ws->n, ws->n_bar, ws->q_bar, NULL, NULL, NULL);
    memset(ws->t_bar, 0, 2 * nc * sizeof(double));
    memset(ws->n_bar, 0, nc * sizeof(double));
    for (int i = 0; i < nc; i++) {
        ws->c_bar[3 * i] = ws->c_bar[3 * i + 1] = 0, ws->c_bar[3 * i + 2] = ws->q_bar[i], ws->mu_bar[i] = 0;
        for (int k = 0; k < 2 * nc; k++) ws->t_bar[k] += ws->Gnt[(size_t)i * 2 * nc + k] * ws->q_bar[i];
    }
    return status;
}

tribo_status ti_staggered_vjp(ti_staggered_ws *ws, const ti_contact_problem *p, int rounds, const double *tape,
                              const double *v_bar, const double *lambda_bar, ti_staggered_stage *stage, void *context) {
    int nc = p->nc;
    size_t n3 = 3 * (size_t)nc;
    if (rounds < 1 || nc < 1) return TRIBO_E_ARG;
    tribo_status status = prepare(ws, p);
    if (status) return status;
    last_stage(ws, p, tape + (rounds - 1) * n3, v_bar, lambda_bar, stage, context);
    for (int k = rounds - 1; k >= 0; k--) {
        part(nc, tape + k * n3, ws->n, ws->t);
        memcpy(ws->lambda, tape + k * n3, n3 * sizeof(double));
        status = reverse_tangential(ws, p);
        if (status) return status;
        emit(ws, p, stage, context);
        if (k > 0) /* the tangential impulses that the QP saw */
            for (int i = 0; i < nc; i++)
                for (int r = 0; r < 2; r++) ws->t[2 * i + r] = tape[(k - 1) * n3 + 3 * i + r];
        else
            memset(ws->t, 0, 2 * nc * sizeof(double));
        join(nc, ws->n, ws->t, ws->lambda);
        status = reverse_normal(ws, p);
        if (status) return status;
        emit(ws, p, stage, context);
    }
    return TRIBO_OK;
}
