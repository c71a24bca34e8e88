/* cone_admm.c -- the friction cone by alternating directions: the convex relaxation, and with de Saxce's correction
 * refreshed at every iteration the NCP. [LeLidec23] II-D, docs/math.md eq. (72)-(75). */
#include "contact/solver/admm.h"
#include "contact/solver/solvers.h"
#include <math.h>

/* Up to this many impulses G is dense: that is faster than products by bodies. */
enum { DENSE = 24 };

typedef struct cone_admm {
    ti_admm admm;
    double *G; /* (3 nc,3 nc) */
    ti_contact_ws *ws;
    const ti_contact_problem *p;
    double tol, shift; /* of the factor */
    double best;       /* residual of ws->lb */
    ti_contact_solution end;
} cone_admm;
typedef char it_fits[sizeof(cone_admm) <= TI_SCRATCH_MAX ? 1 : -1];

void ti_cone_admm_carve(ti_arena *m, const ti_contact_sizes *sizes, void *scratch) {
    cone_admm *a = scratch;
    int n = 3 * sizes->nc;
    ti_admm_carve(m, n, n <= DENSE, &a->admm);
    if (n <= DENSE) TI_CARVE(m, a->G, (size_t)n * n);
    ti_contact_solution_carve(m, sizes->nc, sizes->nv, &a->end);
}

/* ---------------------------------------------------------------- G by bodies */

/* y = J M^-1 J' x + R x */
static void multiply(void *context, const double *x, double *y) {
    cone_admm *a = context;
    ti_contact_ws *ws = a->ws;
    const ti_contact_problem *p = a->p;
    memset(ws->vt, 0, p->nv * sizeof(double));
    ti_system_jt(&ws->sys, p, x, ws->vt);
    ti_delassus_minv(&ws->G, p, ws->vt);
    ti_system_jv(&ws->sys, p, ws->vt, false, y);
    for (int k = 0; p->R && k < 3 * p->nc; k++) y[k] += p->R[k] * x[k];
}

static double stiffness(const cone_admm *a, int k) {
    return 1 / (a->shift + (a->p->R ? a->p->R[k] : 0));
}

static bool factor(void *context, double shift) {
    cone_admm *a = context;
    a->shift = shift;
    memset(a->ws->D, 0, 9 * (size_t)a->p->nc * sizeof(double));
    for (int k = 0; k < 3 * a->p->nc; k++) a->ws->D[9 * (k / 3) + 4 * (k % 3)] = stiffness(a, k);
    return ti_system_factor(&a->ws->sys, a->p, a->ws->D) == TRIBO_OK;
}

/* (G + shift)^-1 x = D (x - J K^-1 J'D x), K = M + J'D J */
static void solve(void *context, double *x) {
    cone_admm *a = context;
    ti_contact_ws *ws = a->ws;
    int n = 3 * a->p->nc;
    for (int k = 0; k < n; k++) ws->lt[k] = stiffness(a, k) * x[k];
    memset(ws->vt, 0, a->p->nv * sizeof(double));
    ti_system_jt(&ws->sys, a->p, ws->lt, ws->vt);
    ti_system_solve(&ws->sys, 1, ws->vt);
    ti_system_jv(&ws->sys, a->p, ws->vt, false, ws->lt);
    for (int k = 0; k < n; k++) x[k] = stiffness(a, k) * (x[k] - ws->lt[k]);
}

/* ---------------------------------------------------------------- the cone */

static void project(void *context, double *z) {
    const cone_admm *a = context;
    for (int i = 0; i < a->p->nc; i++, z += 3) {
        double mu = a->p->mu[i], t = sqrt(z[0] * z[0] + z[1] * z[1]);
        if (ti_in_cone(t, z[2], mu)) continue;
        double n = (mu * t + z[2]) / (1 + mu * mu), share = n > 0 && t > 0 ? mu * n / t : 0;
        z[0] *= share, z[1] *= share, z[2] = n > 0 ? n : 0;
    }
}

/* de Saxce's: mu |c_t| along the normal. */
static void shift(void *context, const double *c, double *s) {
    const cone_admm *a = context;
    for (int i = 0; i < a->p->nc; i++, c += 3) s[3 * i + 2] -= a->p->mu[i] * sqrt(c[0] * c[0] + c[1] * c[1]);
}

static bool done(void *context, const double *z) {
    cone_admm *a = context;
    ti_contact_ws *ws = a->ws;
    ti_contact_velocity(ws, a->p, z, ws->v);
    double r = ti_contact_law_residual(ws, a->p, ws->v, z);
    if (r > a->tol && r < 1e4 * a->tol) /* the cheap residual overestimates: it has no allowance for rounding */
        r = 2 * ti_contact_residual(ws, a->p, ws->law, ws->v, z, NULL);
    if (r < a->best) {
        a->best = r;
        memcpy(ws->lb, z, 3 * a->p->nc * sizeof(double));
    }
    return r <= a->tol;
}

void ti_cone_admm_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol) {
    cone_admm *a = ws->scratch;
    int n = 3 * p->nc;
    bool converged;
    a->ws = ws, a->p = p, a->tol = tol, a->best = HUGE_VAL;
    ti_admm_task task = {.n = n,
                         .g = ws->g,
                         .context = a,
                         .multiply = multiply,
                         .factor = factor,
                         .solve = solve,
                         .project = project,
                         .shift = ws->law->is & TI_LAW_CONVEX ? shift : NULL,
                         .done = done,
                         .tol = tol,
                         .penalty = ws->options.penalty,
                         .relaxation = ws->options.relaxation,
                         .max_iter = ws->max_iter};
    if (a->G) {
        ti_delassus_dense(&ws->G, p, a->G);
        task.G = a->G;
    }
    ws->iterations += ti_admm_run(&a->admm, &task, ws->warm, ws->lambda, &converged);
    if (!converged) {
        done(a, a->admm.z);
        if (a->best < HUGE_VAL)
            memcpy(ws->lambda, ws->lb, n * sizeof(double));
        else
            memset(ws->lambda, 0, n * sizeof(double));
    }
    memcpy(a->admm.z, ws->lambda, n * sizeof(double));
    ti_contact_end(ws, p, tol, a->admm.z, &a->end);
}
