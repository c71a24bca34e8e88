/* pivoting.c -- the friction pyramid as a linear complementarity problem, by Lemke's method. [StewartTrinkle96]
 *
 * The impulse across is a sum of beta_k >= 0 along the pyramid's edges, and gamma is the speed at which the contact
 * slides against it. docs/math.md eq. (94).
 */
#include "contact/solver/lemke.h"
#include "contact/solver/solvers.h"
#include <math.h>

typedef struct pivoting {
    ti_lemke lemke;
    double *G;         /* (3 nc,3 nc) */
    double *z, *w, *r; /* (m) */
    double *unit;      /* (2 nc) of impulses along the normal and across: 1/sqrt(G_ii) */
    double *impulse;   /* (3 nc) of z */
    double velocity;   /* unit of g in those */
    int facets;
} pivoting;
_Static_assert(sizeof(pivoting) <= TI_SCRATCH_MAX, "scratch of pivoting");

static double *table_row(pivoting *s, int contact, int k) { /* k: 0 the normal, 1.. beta, facets + 1 gamma */
    return ti_lemke_row(&s->lemke, contact * (s->facets + 2) + k);
}

void ti_pivoting_carve(ti_arena *m, const ti_contact_sizes *sizes, void *scratch) {
    pivoting *s = scratch;
    size_t n3 = 3 * (size_t)sizes->nc, size = (size_t)sizes->nc * (sizes->law->facets + 2);
    ti_lemke_carve(m, (int)size, &s->lemke);
    TI_CARVE(m, s->G, n3 * n3);
    TI_CARVE(m, s->z, size);
    TI_CARVE(m, s->w, size);
    TI_CARVE(m, s->r, size);
    TI_CARVE(m, s->unit, 2 * (size_t)sizes->nc);
    TI_CARVE(m, s->impulse, n3);
    s->facets = sizes->law->facets;
}

/* Units in which the diagonal of G is about one, so that mass ratios do not show in the table. */
static void choose_units(pivoting *s, const ti_contact_ws *ws, const ti_contact_problem *p) {
    int n3 = 3 * p->nc;
    s->velocity = 0;
    for (int i = 0; i < p->nc; i++) {
        const double *G = s->G + (size_t)3 * i * n3 + 3 * i, *g = ws->g + 3 * i;
        double t = ti_max(G[0], G[n3 + 1]), n = G[2 * n3 + 2];
        double *u = s->unit + 2 * i;
        u[0] = n > 0 ? 1 / sqrt(n) : 1, u[1] = t > 0 ? 1 / sqrt(t) : 1;
        s->velocity = ti_max(s->velocity, ti_max(u[1] * ti_max(fabs(g[0]), fabs(g[1])), u[0] * fabs(g[2])));
    }
    if (s->velocity == 0) s->velocity = 1;
}

/* What the block G_ij (3,3) and the directions of i and j make of the table. */
static void pose_pair(pivoting *s, const ti_pyramid *y, int i, int j, const double *G, int n3) {
    int n = s->facets, at = j * (n + 2);
    const double *ui = s->unit + 2 * i, *uj = s->unit + 2 * j;
    for (int k = 0; k <= n; k++) {
        double row[3], *t = table_row(s, i, k) + at;
        for (int c = 0; c < 3; c++)
            row[c] = k ? ui[1] * (y->d[k - 1][0] * G[c] + y->d[k - 1][1] * G[n3 + c]) : ui[0] * G[2 * n3 + c];
        t[0] = row[2] * uj[0];
        for (int q = 0; q < n; q++) t[1 + q] = uj[1] * (row[0] * y->d[q][0] + row[1] * y->d[q][1]);
        t[n + 1] = i == j && k ? 1 : 0;
    }
    double *t = table_row(s, i, n + 1) + at;
    t[0] = i == j ? 1 : 0; /* times mu and the ratio of units below */
    for (int q = 0; q <= n; q++) t[1 + q] = i == j && q < n ? -1 : 0;
}

static void pose(pivoting *s, const ti_contact_ws *ws, const ti_contact_problem *p) {
    int n = s->facets, n3 = 3 * p->nc;
    ti_lemke_begin(&s->lemke, p->nc * (n + 2));
    for (int i = 0; i < p->nc; i++) {
        const double *g = ws->g + 3 * i, *u = s->unit + 2 * i;
        for (int j = 0; j < p->nc; j++) pose_pair(s, &ws->pyramid, i, j, s->G + (size_t)3 * i * n3 + 3 * j, n3);
        table_row(s, i, n + 1)[i * (n + 2)] = p->mu[i] * u[0] / u[1];
        table_row(s, i, 0)[-1] = u[0] * g[2] / s->velocity;
        for (int k = 0; k < n; k++) {
            const double *d = ws->pyramid.d[k];
            table_row(s, i, k + 1)[-1] = u[1] * (d[0] * g[0] + d[1] * g[1]) / s->velocity;
        }
        table_row(s, i, n + 1)[-1] = 0;
    }
}

/* s->impulse of s->z */
static void impulses(pivoting *s, const ti_contact_ws *ws, int nc) {
    for (int i = 0; i < nc; i++) {
        const double *z = s->z + (size_t)i * (s->facets + 2), *u = s->unit + 2 * i;
        double *l = s->impulse + 3 * i, t[2] = {0, 0};
        for (int k = 0; k < s->facets; k++)
            t[0] += ws->pyramid.d[k][0] * z[k + 1], t[1] += ws->pyramid.d[k][1] * z[k + 1];
        l[0] = s->velocity * u[1] * t[0], l[1] = s->velocity * u[1] * t[1], l[2] = s->velocity * u[0] * z[0];
    }
}

/* s->r = M z + q - w, from G itself */
static void residual_of(pivoting *s, const ti_contact_ws *ws, const ti_contact_problem *p) {
    int n = s->facets, n3 = 3 * p->nc;
    impulses(s, ws, p->nc);
    for (int i = 0; i < p->nc; i++) {
        size_t at = (size_t)i * (n + 2);
        const double *z = s->z + at, *w = s->w + at, *u = s->unit + 2 * i;
        double c[3], sum = 0, *r = s->r + at;
        for (int q = 0; q < 3; q++) {
            const double *G = s->G + (size_t)(3 * i + q) * n3;
            c[q] = ws->g[3 * i + q];
            for (int j = 0; j < n3; j++) c[q] += G[j] * s->impulse[j];
            c[q] /= s->velocity;
        }
        r[0] = u[0] * c[2] - w[0];
        for (int k = 0; k < n; k++) {
            const double *d = ws->pyramid.d[k];
            r[k + 1] = u[1] * (d[0] * c[0] + d[1] * c[1]) + z[n + 1] - w[k + 1], sum += z[k + 1];
        }
        r[n + 1] = p->mu[i] * u[0] / u[1] * z[0] - sum - w[n + 1];
    }
}

/* Iterative refinement: the table holds the inverse of the basis. */
static void refine(pivoting *s, const ti_contact_ws *ws, const ti_contact_problem *p) {
    for (int it = 0; it < 3; it++) {
        ti_lemke_values(&s->lemke, s->z, s->w);
        residual_of(s, ws, p);
        ti_lemke_correct(&s->lemke, s->r);
    }
    ti_lemke_values(&s->lemke, s->z, NULL);
    for (int k = 0; k < s->lemke.m; k++) s->z[k] = s->z[k] > 0 ? s->z[k] : 0;
    impulses(s, ws, p->nc);
}

static double wrong(ti_contact_ws *ws, const ti_contact_problem *p, const double *lambda) {
    ti_contact_velocity(ws, p, lambda, ws->v);
    return ti_contact_residual(ws, p, ws->law, ws->v, lambda, NULL);
}

/* Lemke's method cannot use a start: one is kept if it is a solution. */
void ti_pivoting_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol) {
    enum { TURNS = 3 };
    pivoting *s = ws->scratch;
    size_t bytes = 3 * (size_t)p->nc * sizeof(double);
    double least = wrong(ws, p, ws->lambda);
    ti_delassus_dense(&ws->G, p, s->G);
    choose_units(s, ws, p);
    for (int turn = 0; turn < TURNS && !(least <= tol) && ws->iterations < ws->max_iter; turn++) {
        bool solved;
        pose(s, ws, p);
        ws->iterations += ti_lemke_run(&s->lemke, turn, ws->max_iter - ws->iterations, &solved);
        if (!solved) continue;
        refine(s, ws, p);
        double now = wrong(ws, p, s->impulse);
        if (now < least) least = now, memcpy(ws->lambda, s->impulse, bytes);
    }
}
