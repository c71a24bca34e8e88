/* panel_passes.c -- see panel.h: how often a panel is corrected, and columns of those that take too many. */
#include "contact/reverse/panel_lanes.h"
#include <float.h>

/* The error that is left, at most, and a correction that leaves nothing whatever the rate. */
static const double settled = 1e-12, exact = 1e-10;

/* What the rounding of slips may move, in the norm of the energy. */
#define ROUNDED 3e-11

/* What rounding leaves, at most, after a correction that took something back and was of size `change`: by the rate or,
 * where that is not known, by the first correction, which is no less. */
static double left(const ti_contact_ws *ws, int time, double first, double change) {
    double rate = ws->contraction >= 0 ? ws->contraction : first;
    return rate * ti_min(time > 1 ? rate * rate : rate, change);
}

/* Whether correction number `time`, the last that was made, leaves nothing. */
static bool is_settled(const ti_contact_ws *ws, bool by_rate, int time, double first, double change) {
    if (time < ws->alone || change <= exact) return time >= ws->alone;
    if (time == ws->alone) return left(ws, time, first, change) <= settled;
    return by_rate && ws->contraction >= 0 && change * ws->contraction <= settled;
}

/* Each correction takes off digits, as many as the last with these factors, ws->contraction; one alone does not show
 * the rate. Nor does the first after those that took something back, beside the last of them, but it is as large as
 * what all before it left. docs/math.md eq. (547). */
static bool solve(ti_contact_ws *ws, const ti_contact_problem *p, int lanes, const ti_panel_steps *steps,
                  const ti_panel_equations *e) {
    enum { PASSES = 7 };
    double first = steps->begin[lanes - 1](ws, p, e, 1), change = first;
    for (int time = 1; !is_settled(ws, steps->by_rate, time, first, change); time++) {
        if (time == PASSES || !(change < HUGE_VAL)) return false;
        double next = steps->again[lanes - 1](ws, p, e, time + 1), ratio = next / change;
        if (time >= ws->alone) {
            if (!(ratio < 0.5)) return false;
            if (time == ws->alone) ratio = ti_max(ratio, pow(next, 1.0 / (time + 1)));
            ws->contraction = ti_max(ws->contraction, ratio);
        }
        change = next;
    }
    steps->finish[lanes - 1](ws, p, e, 0);
    return true;
}

/* The error of y as that of the panel is measured. */
static double weigh(const ti_contact_ws *ws, const ti_contact_problem *p, double error, const double *b,
                    const double *y) {
    double moved = 0, pushed = 0;
    for (int k = 0; k < p->nv; k++) moved += ws->mass[k] * y[k] * y[k], pushed += ws->minv[k] * b[k] * b[k];
    return pushed > moved ? error * sqrt(moved / pushed) : error;
}

/* Slips J Y are rounded at eps |J| |Y|, and impulses are D times that: as K is at least J'DJ, this moves Y by an energy
 * of at most  D (eps |J| |Y|)^2. docs/math.md eq. (508). Below, the largest D |J|^2, and in the norm of the energy. */
static double stiffest(const ti_contact_ws *ws, const ti_contact_problem *p) {
    double most = 0;
    for (int i = 0; i < p->nc; i++) {
        int width = p->width[p->a[i]] + (p->b[i] >= 0 ? p->width[p->b[i]] : 0);
        double D = 0, J = 0;
        for (int k = 0; k < 9; k++) D = ti_max(D, fabs(ws->D[9 * i + k]));
        for (int k = 0; k < 3 * width; k++) J = ti_max(J, fabs(p->J[p->joff[i] + k]));
        most = ti_max(most, D * J * J);
    }
    return most;
}

static double stiffest_by_energy(const ti_contact_ws *ws, const ti_contact_problem *p) {
    double most = 0;
    for (int i = 0; i < p->nc; i++) {
        const double *D = ws->D + 9 * i;
        const ti_law_scale *s = ws->scale + i;
        most = ti_max(most, ti_max(ti_max(D[0], D[4]) * s->g_t, D[8] * s->g_n));
    }
    return most;
}

/* The columns that lack digits so. Few problems have any: bodies of masses far apart. */
static void which_lack(const ti_contact_ws *ws, const ti_contact_problem *p, int columns, const ti_panel_equations *e,
                       bool *lacks) {
    static const double most = ROUNDED * ROUNDED / (DBL_EPSILON * DBL_EPSILON);
    memset(lacks, false, N * sizeof *lacks);
    if (stiffest_by_energy(ws, p) <= most) return;
    double stiff = stiffest(ws, p);
    for (int c = 0; c < columns; c++) {
        double square = 0, energy = 0;
        for (int k = 0; k < p->nv; k++) {
            double y = e->Y[N * k + c], b = e->b[N * k + c];
            square += y * y, energy += ws->mass[k] * y * y + ws->minv[k] * b * b;
        }
        lacks[c] = stiff * square > most * energy;
    }
}

/* Those columns, one after another by ti_contact_vjp(), which has twice the digits for slips. */
static void one_by_one(ti_contact_ws *ws, const ti_contact_problem *p, int columns, const bool *those,
                       const ti_panel_equations *e) {
    double *b = ws->v1, *none = ws->l1, *y = ws->v2, *l = ws->l2, *mu = ws->lt;
    double error = ws->linear_residual;
    memset(none, 0, 3 * (size_t)p->nc * sizeof *none);
    for (int c = 0; c < columns; c++) {
        if (!those[c]) continue;
        ws->linear_residual = 0;
        for (int k = 0; k < p->nv; k++) b[k] = e->b[(size_t)N * (size_t)k + (size_t)c];
        ti_contact_vjp(ws, p, b, none, y, l, mu);
        error = ti_max(error, weigh(ws, p, ws->linear_residual, b, y));
        for (int k = 0; k < p->nv; k++) e->Y[(size_t)N * (size_t)k + (size_t)c] = y[k];
        for (int k = 0; k < 3 * p->nc; k++) e->L[(size_t)N * (size_t)k + (size_t)c] = l[k];
    }
    ws->linear_residual = error;
}

void ti_contact_panel_t(ti_contact_ws *ws, const ti_contact_problem *p, int columns, const double *b, double *Y,
                        double *L, double *rest, double *given) {
    const ti_panel_equations e = {b, Y, L, rest, given};
    const ti_panel_steps *steps = ws->sys.thin ? &ti_panel_trees : ws->sys.six ? &ti_panel_six : NULL;
    bool lacks[N];
    int lanes = (columns + 7) / 8;
    if (steps && solve(ws, p, lanes, steps, &e)) {
        ws->linear_residual = ti_max(ws->linear_residual, settled);
        which_lack(ws, p, columns, &e, lacks);
    } else
        memset(lacks, true, sizeof lacks);
    one_by_one(ws, p, columns, lacks, &e);
}
