/* few.c -- see few.h. The gyroscopic forces of so few numbers are quadratic forms with hardly any entries, which a step
 * has once: what they are and how they change at any velocity is then told by a few products. docs/math.md eq. (535),
 * (536). */
#include "dynamics/few.h"
#include "base/base.h"
#include "base/clones.h"
#include <string.h>

/* Whether number e carries number d, or is it. */
TI_INLINE bool carries(const ti_dof *dof, int e, int d) {
    while (d > e) d = dof[d].before;
    return d == e;
}

TI_CLONES static void symbols_of(const ti_motion *m, const ti_tree *tree, ti_few_symbols *g) {
    const ti_dof *dof = m->model->dof;
    const ti_spatial *s = m->axis + tree->v;
    ti_spatial momentum[TI_FEW];
    g->n = 0;
    for (int k = 1; k < tree->nv; k++) {
        for (int i = 0; i <= k; i++) momentum[i] = ti_sp_times(&m->carried[tree->v + k], s[i]);
        for (int i = 0; i < k; i++) {
            if (!carries(dof, tree->v + i, tree->v + k)) continue;
            ti_spatial turned = ti_sp_cross(s[k], s[i]);
            for (int j = i; j < tree->nv; j++) {
                double by;
                if (j < k && carries(dof, tree->v + j, tree->v + k))
                    by = ti_sp_dot(turned, momentum[j]) + ti_sp_dot(ti_sp_cross(s[k], s[j]), momentum[i]);
                else if (j >= k && carries(dof, tree->v + k, tree->v + j))
                    by = ti_sp_dot(turned, j == k ? momentum[k] : ti_sp_times(&m->carried[tree->v + j], s[j]));
                else
                    continue;
                g->entry[g->n].i = i, g->entry[g->n].j = j, g->entry[g->n].k = k, g->entry[g->n++].by = -by;
            }
        }
    }
}

/* C += s times the derivative of the gyroscopic forces at v, which are half of it times v. */
static void add_forces(const ti_few_symbols *g, double s, const double *v, double (*C)[TI_FEW]) {
    for (int e = 0; e < g->n; e++) {
        int i = g->entry[e].i, j = g->entry[e].j, k = g->entry[e].k;
        double by = s * g->entry[e].by;
        C[i][j] += by * v[k], C[i][k] += by * v[j];
        if (j == k) continue; /* what it adds to the force of j that of k takes off */
        C[k][i] -= by * v[j];
        if (i == j) continue;
        C[j][i] += by * v[k], C[j][k] += by * v[i], C[k][j] -= by * v[i];
    }
}

static ti_few_symbols *few_of(const ti_motion *m, const ti_tree *tree) {
    return &m->few[tree - m->model->tree];
}

/* ---- the step ---- */

/* Corrections at most; the change that is the last, and what it may leave, as shares of the largest velocity. */
enum { CORRECTIONS = 20 };
static const double SETTLED = 1e-13, LEFT = 1e-17;

/* K = LU from the last number to the first; in L inverse pivots. @return false where one is too small. */
static bool factor_few(int n, double (*K)[TI_FEW]) {
    for (int k = n - 1; k >= 0; k--) {
        double most = 0;
        for (int i = 0; i < k; i++) most = ti_max(most, ti_max(fabs(K[k][i]), fabs(K[i][k])));
        if (!(fabs(K[k][k]) > 1e-9 * most)) return false;
        K[k][k] = 1 / K[k][k];
        for (int i = 0; i < k; i++) {
            K[i][k] *= K[k][k];
            for (int j = 0; j < k; j++) K[i][j] -= K[i][k] * K[k][j];
        }
    }
    return true;
}

static void solve_few(int n, double (*LU)[TI_FEW], double *x) {
    for (int k = n - 1; k >= 0; k--)
        for (int i = 0; i < k; i++) x[i] -= LU[i][k] * x[k];
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < k; i++) x[k] -= LU[k][i] * x[i];
        x[k] *= LU[k][k];
    }
}

static void solve_few_t(int n, double (*LU)[TI_FEW], double *x) {
    for (int k = n - 1; k >= 0; k--) {
        x[k] *= LU[k][k];
        for (int i = 0; i < k; i++) x[i] -= LU[k][i] * x[k];
    }
    for (int k = 0; k < n; k++)
        for (int i = 0; i < k; i++) x[k] -= LU[i][k] * x[i];
}

/* Half of C v, which is the gyroscopic force where C is at v. */
static double half_row(int n, const double *C, const double *v) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += C[j] * v[j];
    return 0.5 * sum;
}

/* K = M + dt/2 C */
static void mean_few(const ti_motion *m, const ti_tree *tree, double dt, double (*C)[TI_FEW], double (*K)[TI_FEW]) {
    int n = tree->nv;
    for (int d = 0; d < n; d++)
        for (int e = 0; e < n; e++) K[d][e] = m->M[tree->M + (size_t)(d * n + e)] + 0.5 * dt * C[d][e];
}

/* K and what is off, at the velocity before the step. */
static void begin_few(const ti_motion *m, const ti_tree *tree, const ti_few_symbols *g, ti_vec gravity, double dt,
                      double (*K)[TI_FEW], double *off) {
    int n = tree->nv, v0 = tree->v;
    const double *now = m->now + v0;
    double C[TI_FEW][TI_FEW] = {{0}};
    add_forces(g, 1, now, C);
    mean_few(m, tree, dt, C, K);
    for (int d = 0; d < n; d++) {
        const ti_spatial_inertia *I = &m->carried[v0 + d];
        ti_spatial weight = {ti_cross(I->h, gravity), ti_scale(I->m, gravity)};
        double force = m->given[v0 + d] + ti_sp_dot(m->axis[v0 + d], weight);
        off[d] = dt * (force - half_row(n, C[d], now));
    }
}

/* K and what is off after a correction, which is the quadratic part of it alone. */
static void go_on(const ti_few_symbols *g, int n, double dt, double (*K)[TI_FEW], double *off) {
    double C[TI_FEW][TI_FEW] = {{0}}, left[TI_FEW];
    add_forces(g, 0.25 * dt, off, C);
    for (int d = 0; d < n; d++) {
        left[d] = -half_row(n, C[d], off);
        for (int e = 0; e < n; e++) K[d][e] += C[d][e];
    }
    for (int d = 0; d < n; d++) off[d] = left[d];
}

bool ti_few_midpoint(ti_motion *m, const ti_tree *tree, ti_vec gravity, double dt) {
    int n = tree->nv, v0 = tree->v;
    double K[TI_FEW][TI_FEW] = {{0}}, off[TI_FEW], last = HUGE_VAL;
    ti_few_symbols *g = few_of(m, tree);
    symbols_of(m, tree, g);
    begin_few(m, tree, g, gravity, dt, K, off);
    memcpy(m->free + v0, m->now + v0, sizeof *m->free * (size_t)n);
    for (int round = 0; round < CORRECTIONS; round++) {
        double LU[TI_FEW][TI_FEW], largest = 0, size = 0;
        memcpy(LU, K, sizeof LU);
        if (!factor_few(n, LU)) return false;
        solve_few(n, LU, off);
        for (int d = 0; d < n; d++) {
            m->free[v0 + d] += off[d];
            largest = ti_max(largest, fabs(off[d])), size = ti_max(size, fabs(m->free[v0 + d]));
        }
        double share = largest / last; /* what the next is to this one, at most its square */
        bool little = round > 0 && share * share * largest <= LEFT * size;
        if (g->n == 0 || little || largest <= SETTLED * size) break;
        if (!(share <= 0.5)) return false;
        last = largest;
        go_on(g, n, dt, K, off);
    }
    for (int d = v0; d < v0 + n; d++) m->middle[d] = 0.5 * (m->now[d] + m->free[d]);
    return true;
}

bool ti_few_midpoint_vjp(const ti_motion *m, const ti_tree *tree, double dt, double *y) {
    double K[TI_FEW][TI_FEW] = {{0}}, C[TI_FEW][TI_FEW] = {{0}};
    add_forces(few_of(m, tree), 1, m->middle + tree->v, C);
    mean_few(m, tree, dt, C, K);
    if (!factor_few(tree->nv, K)) return false;
    solve_few_t(tree->nv, K, y);
    return true;
}
