/* augmented.c -- see augmented.h. */
#include "contact/reverse/augmented.h"
#include "contact/work/workspace.h"
#include "math/dense.h"
#include <math.h>

void ti_augmented_carve(ti_arena *m, int nc_max, int nv_max, ti_augmented *g) {
    long n = (long)nv_max + 3 * (long)nc_max;
    int most = n < TI_AUGMENTED ? (int)n : TI_AUGMENTED;
    g->n_max = most;
    TI_CARVE(m, g->contact, (size_t)most / 3);
    TI_CARVE(m, g->pivot, (size_t)most);
    TI_CARVE(m, g->LU, (size_t)most * (size_t)ti_ld(most));
    TI_CARVE(m, g->A, 3 * (size_t)most);
    TI_CARVE(m, g->B, 3 * (size_t)most);
    TI_CARVE(m, g->row, (size_t)most);
    TI_CARVE(m, g->col, (size_t)most);
    TI_CARVE(m, g->x, (size_t)most);
    TI_CARVE(m, g->rest, (size_t)most);
}

/* ---------------------------------------------------------------- assembly */

static bool takes_part(const ti_contact_ws *ws, int i) {
    const double *D = ws->D + 9 * i;
    for (int k = 0; k < 9; k++)
        if (D[k] != 0) return true;
    return false;
}

/* A and B of contact i, the compliance in A. */
static void differentiate(const ti_contact_ws *ws, const ti_contact_problem *p, int i, double *A, double *B) {
    ti_law_compliance R = ti_contact_stiffness(p, i, ti_contact_compliance(ws->at.compliance));
    const double soft[3] = {R.t, R.t, R.n}, *l = ws->at.lambda + 3 * i;
    ti_law_contact contact = ti_law_contact_of(ws, p, i, ws->at.lambda);
    ti_law_slope slope;
    double c[3];
    ti_contact_at_point(ws, p, i, c);
    ti_law_at(ws, p, i)->slope(&contact, ws->at_mode[i], l, c, &slope);
    for (int k = 0; k < 9; k++) B[k] = slope.c[k], A[k] = slope.l[k] + slope.c[k] * soft[k % 3];
}

/* Equations and unknowns in units of the root of energy, so that pivots are compared with their like. */
static void scales(const ti_contact_ws *ws, const ti_contact_problem *p, ti_augmented *g) {
    for (int k = 0; k < p->nv; k++) g->row[k] = g->col[k] = sqrt(ws->minv[k]);
    for (int k = p->nv; k < g->n; k++) {
        const ti_law_scale *s = &ws->scale[g->contact[(k - p->nv) / 3]];
        g->col[k] = sqrt((k - p->nv) % 3 == 2 ? s->rho_n : s->rho_t), g->row[k] = 1 / g->col[k];
    }
}

static void put_contact(const ti_contact_problem *p, ti_augmented *g, int k) {
    int i = g->contact[k], ld = ti_ld(g->n), first = p->nv + 3 * k;
    const double *J = p->J + p->joff[i], *A = g->A + 9 * k, *B = g->B + 9 * k;
    for (int side = 0; side < (p->b[i] >= 0 ? 2 : 1); side++) {
        int blk = side ? p->b[i] : p->a[i], w = p->width[blk], at = p->voff[blk];
        for (int r = 0; r < 3; r++)
            for (int j = 0; j < w; j++) {
                double BJ = B[3 * r] * J[j] + B[3 * r + 1] * J[w + j] + B[3 * r + 2] * J[2 * w + j];
                g->LU[(size_t)(at + j) * (size_t)ld + (size_t)(first + r)] -= J[r * w + j];
                g->LU[(size_t)(first + r) * (size_t)ld + (size_t)(at + j)] += BJ;
            }
        J += 3 * (size_t)w;
    }
    for (int r = 0; r < 3; r++)
        for (int q = 0; q < 3; q++) g->LU[(size_t)(first + r) * (size_t)ld + (size_t)(first + q)] = A[3 * r + q];
}

static void assemble(ti_contact_ws *ws, const ti_contact_problem *p, ti_augmented *g) {
    int ld = ti_ld(g->n);
    memset(g->LU, 0, (size_t)g->n * (size_t)ld * sizeof(double));
    for (int b = 0; b < p->nblk; b++)
        for (int r = 0; r < p->width[b]; r++)
            memcpy(g->LU + (size_t)(p->voff[b] + r) * (size_t)ld + p->voff[b], p->M + p->moff[b] + r * p->width[b],
                   (size_t)p->width[b] * sizeof(double));
    ti_system_jv(&ws->sys, p, ws->at.v, true, ws->c);
    for (int k = 0; k < g->ncontact; k++) {
        differentiate(ws, p, g->contact[k], g->A + 9 * k, g->B + 9 * k);
        put_contact(p, g, k);
    }
    scales(ws, p, g);
    for (int r = 0; r < g->n; r++)
        for (int c = 0; c < g->n; c++) g->LU[(size_t)r * (size_t)ld + (size_t)c] *= g->row[r] * g->col[c];
}

bool ti_augmented_is_large(const ti_contact_ws *ws, const ti_contact_problem *p) {
    return ws->coupled || p->spins || p->nv + 3 * p->nc > ws->augmented.n_max;
}

bool ti_augmented_ready(ti_contact_ws *ws, const ti_contact_problem *hard) {
    ti_augmented *g = &ws->augmented;
    ti_contact_problem soft = ti_contact_soften(ws, hard);
    if (g->n != 0) return g->n > 0;
    if (hard->spins) return false; /* A is of one contact */
    int most = (g->n_max - hard->nv) / 3, count = 0;
    g->n = -1; /* tried */
    if (hard->nv > g->n_max) return false;
    for (int i = 0; i < hard->nc; i++) {
        if (!takes_part(ws, i)) continue;
        if (count == most) return false;
        g->contact[count++] = i;
    }
    g->ncontact = count, g->n = hard->nv + 3 * count;
    assemble(ws, &soft, g);
    if (ti_lu(g->n, g->LU, ti_ld(g->n), g->pivot, 0)) g->n = -1;
    return g->n > 0;
}

/* ---------------------------------------------------------------- solution */

/* Solve for the residual in g->rest and add the correction to x; returns its relative size in the nv velocities. */
static double correct(ti_augmented *g, int nv, const double *before, const double *after, bool transposed) {
    double size = 0, whole = 0;
    for (int k = 0; k < g->n; k++) g->rest[k] *= before[k];
    (transposed ? ti_lu_solve_t : ti_lu_solve)(g->n, g->LU, ti_ld(g->n), g->pivot, g->rest);
    for (int k = 0; k < g->n; k++) {
        g->x[k] += after[k] * g->rest[k];
        if (k >= nv) continue;
        double all = g->x[k] / after[k];
        size += g->rest[k] * g->rest[k], whole += all * all;
    }
    return size > 0 ? sqrt(size / whole) : size;
}

/* The residual of the equations into g->rest; at first x = 0, and it is the right-hand side. */
typedef void rest_function(ti_contact_ws *ws, const ti_contact_problem *p, const void *given, bool first);

static double refine(ti_contact_ws *ws, const ti_contact_problem *p, rest_function *rest, const void *given,
                     bool transposed) {
    enum { PASSES = 6 };
    ti_augmented *g = &ws->augmented;
    const double *before = transposed ? g->col : g->row, *after = transposed ? g->row : g->col;
    double last = 1, change = 1;
    memset(g->x, 0, (size_t)g->n * sizeof(double));
    for (int pass = 0; pass < PASSES; pass++) {
        rest(ws, p, given, pass == 0);
        change = correct(g, p->nv, before, after, transposed);
        if (pass == 0) continue;
        double error = change < last ? change * change / last : change;
        if (!(error > 1e-15)) return error;
        if (!(change < 0.25 * last)) return change;
        last = change;
    }
    return change;
}

/* ---- forward: x = (dv, dlambda) */

typedef struct forward {
    const double *r, *dc, *offset;
    double *dlambda; /* (3 nc) scratch */
} forward;

/* dlambda (3 nc) of all contacts. */
static void spread(const ti_augmented *g, const ti_contact_problem *p, double *dlambda) {
    memset(dlambda, 0, 3 * (size_t)p->nc * sizeof(double));
    for (int k = 0; k < g->ncontact; k++) memcpy(dlambda + 3 * g->contact[k], g->x + p->nv + 3 * k, 3 * sizeof(double));
}

static void rest_forward(ti_contact_ws *ws, const ti_contact_problem *p, const void *given, bool first) {
    const forward *in = given;
    ti_augmented *g = &ws->augmented;
    memcpy(g->rest, in->r, (size_t)p->nv * sizeof(double));
    if (first)
        memset(ws->c, 0, 3 * (size_t)p->nc * sizeof(double));
    else {
        spread(g, p, in->dlambda);
        ti_system_mv(&ws->sys, p, g->x, ws->dv);
        for (int k = 0; k < p->nv; k++) g->rest[k] -= ws->dv[k];
        ti_system_jt(&ws->sys, p, in->dlambda, g->rest);
        ti_system_jv(&ws->sys, p, g->x, false, ws->c);
    }
    for (int k = 0; k < g->ncontact; k++) {
        int i = g->contact[k];
        const double *A = g->A + 9 * k, *B = g->B + 9 * k, *l = g->x + p->nv + 3 * k, *offset = in->offset + 3 * i;
        for (int r = 0; r < 3; r++) {
            double s = 0;
            for (int q = 0; q < 3; q++)
                s -= B[3 * r + q] * (ws->c[3 * i + q] + in->dc[3 * i + q]) + A[3 * r + q] * (l[q] - offset[q]);
            g->rest[p->nv + 3 * k + r] = s;
        }
    }
}

double ti_augmented_jvp(ti_contact_ws *ws, const ti_contact_problem *p, const double *r, const double *dc,
                        const double *offset, double *dv, double *dlambda) {
    forward in = {r, dc, offset, dlambda};
    double error = refine(ws, p, rest_forward, &in, false);
    memcpy(dv, ws->augmented.x, (size_t)p->nv * sizeof(double));
    spread(&ws->augmented, p, dlambda);
    return error;
}

/* ---- reverse: x = (y, w), z = A' w, c_bar = -B' w */

typedef struct reverse {
    const double *v_bar, *lambda_bar;
    double *c_bar; /* (3 nc) scratch */
} reverse;

/* out = s C' w of each contact that takes part */
static void transpose(const ti_augmented *g, const ti_contact_problem *p, const double *C, double s, double *out) {
    for (int k = 0; k < g->ncontact; k++) {
        const double *c = C + 9 * k, *w = g->x + p->nv + 3 * k;
        double *to = out + 3 * g->contact[k];
        for (int r = 0; r < 3; r++) to[r] = s * (c[r] * w[0] + c[3 + r] * w[1] + c[6 + r] * w[2]);
    }
}

static void rest_reverse(ti_contact_ws *ws, const ti_contact_problem *p, const void *given, bool first) {
    const reverse *in = given;
    ti_augmented *g = &ws->augmented;
    memcpy(g->rest, in->v_bar, (size_t)p->nv * sizeof(double));
    memset(in->c_bar, 0, 3 * (size_t)p->nc * sizeof(double));
    memset(ws->c, 0, 3 * (size_t)p->nc * sizeof(double));
    memset(ws->f, 0, 3 * (size_t)p->nc * sizeof(double));
    if (!first) {
        transpose(g, p, g->B, -1, in->c_bar);
        transpose(g, p, g->A, 1, ws->f);
        ti_system_mv(&ws->sys, p, g->x, ws->dv);
        for (int k = 0; k < p->nv; k++) g->rest[k] -= ws->dv[k];
        ti_system_jt(&ws->sys, p, in->c_bar, g->rest);
        ti_system_jv(&ws->sys, p, g->x, false, ws->c);
    }
    for (int k = 0; k < 3 * g->ncontact; k++) {
        int at = 3 * g->contact[k / 3] + k % 3;
        g->rest[p->nv + k] = in->lambda_bar[at] + ws->c[at] - ws->f[at];
    }
}

double ti_augmented_vjp(ti_contact_ws *ws, const ti_contact_problem *p, const double *v_bar, const double *lambda_bar,
                        double *y, double *c_bar) {
    reverse in = {v_bar, lambda_bar, c_bar};
    ti_augmented *g = &ws->augmented;
    double error = refine(ws, p, rest_reverse, &in, true);
    memcpy(y, g->x, (size_t)p->nv * sizeof(double));
    ti_system_jv(&ws->sys, p, y, false, ws->z);
    for (int k = 0; k < 3 * p->nc; k++) ws->z[k] += lambda_bar[k];
    memset(c_bar, 0, 3 * (size_t)p->nc * sizeof(double));
    transpose(g, p, g->B, -1, c_bar);
    transpose(g, p, g->A, 1, ws->z);
    return error;
}
