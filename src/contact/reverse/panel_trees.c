/* panel_trees.c -- see panel.h: the transpose, along the ways of trees. Loops run over the directions of a panel, so
 * they vectorise; of its three eights those that are asked for. */
#include "base/clones.h"
#include "contact/reverse/panel.h"
#include "contact/work/workspace.h"
#include "math/lanes.h"
#include <math.h>
#include <string.h>

/* Eight directions; a row of a panel is three of them. */
typedef double lane __attribute__((vector_size(64), aligned(8), may_alias));
enum { N = TI_PANEL, LANES = TI_PANEL / 8 };

TI_INLINE lane *row_of(double *X, int r) {
    return (lane *)(void *)(X + N * (size_t)r);
}
TI_INLINE const lane *row_in(const double *X, int r) {
    return (const lane *)(const void *)(X + N * (size_t)r);
}

/* What is solved from and into; of L what belongs to Y before `rest` was added. given: what contacts give way, as far
 * as it is taken back. */
typedef struct equations {
    const double *b;
    double *Y, *L, *rest, *given;
} equations;

/* C (3) += J Y of one side of a contact. lanes: so many eights, a constant of the compiler. */
TI_INLINE void side_times(int lanes, const ti_support *s, int w, const double *J, const double *Y, lane (*C)[LANES]) {
    for (int e = 0; e < s->n; e++) {
        int j = s->column ? s->column[e] : e;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < lanes; c++) C[r][c] += J[r * w + j] * row_in(Y, j)[c];
    }
}

/* Y += J' L of one side. */
TI_INLINE void side_kick(int lanes, const ti_support *s, int w, const double *J, lane (*L)[LANES], double *Y) {
    for (int e = 0; e < s->n; e++) {
        int j = s->column ? s->column[e] : e;
        lane *y = row_of(Y, j);
        for (int c = 0; c < lanes; c++) y[c] += J[j] * L[0][c] + J[w + j] * L[1][c] + J[2 * w + j] * L[2][c];
    }
}

/* C = J Y of contact i. */
TI_INLINE void rows_times(int lanes, const ti_contact_problem *p, int i, const double *Y, lane (*C)[LANES]) {
    const double *J = p->J + p->joff[i];
    int blk[2] = {p->a[i], p->b[i]}, sides = blk[1] >= 0 ? 2 : 1;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < lanes; c++) C[r][c] = (lane){0};
    for (int k = 0, at = 0; k < sides; at += 3 * p->width[blk[k++]])
        side_times(lanes, p->support + 2 * i + k, p->width[blk[k]], J + at, Y + (size_t)N * (size_t)p->voff[blk[k]], C);
}

/* to += J' L of contact i. */
TI_INLINE void kick(int lanes, const ti_contact_problem *p, int i, lane (*L)[LANES], double *to) {
    const double *J = p->J + p->joff[i];
    int blk[2] = {p->a[i], p->b[i]}, sides = blk[1] >= 0 ? 2 : 1;
    for (int k = 0, at = 0; k < sides; at += 3 * p->width[blk[k++]])
        side_kick(lanes, p->support + 2 * i + k, p->width[blk[k]], J + at, L, to + (size_t)N * (size_t)p->voff[blk[k]]);
}

/* What contact i gives way by its small compliance, R l, of which `given` (3 rows) was taken back before, to `given`;
 * and what taking back the rest adds to l. */
TI_INLINE void take_back(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, int i, bool before,
                         lane (*l)[LANES], double *given) {
    const double *D = ws->D + 9 * i;
    const ti_law_compliance small = ti_contact_small(p, i, ws->at.compliance);
    const double R[3] = {small.t, small.t, small.n};
    for (int c = 0; c < lanes; c++) {
        lane more[3];
        for (int r = 0; r < 3; r++) {
            lane all = R[r] * l[r][c];
            more[r] = all;
            if (before) more[r] -= row_of(given, r)[c];
            row_of(given, r)[c] = all;
        }
        for (int r = 0; r < 3; r++) l[r][c] += D[r] * more[0] + D[3 + r] * more[1] + D[6 + r] * more[2];
    }
}

/* L = -D' (J Y - given) of contact i, to += J' L; correction number `time`, of which the first ws->alone take back what
 * L gives way. */
TI_INLINE void impulse(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, int i, const equations *e,
                       int time, double *to) {
    const double *D = ws->D + 9 * i;
    double *given = e->given + (size_t)N * 3 * (size_t)i;
    bool gave = time > 1 && ws->alone > 0;
    lane C[3][LANES], l[3][LANES];
    rows_times(lanes, p, i, e->Y, C);
    for (int r = 0; gave && r < 3; r++)
        for (int c = 0; c < lanes; c++) C[r][c] -= row_in(given, r)[c];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < lanes; c++) l[r][c] = -(D[r] * C[0][c] + D[3 + r] * C[1][c] + D[6 + r] * C[2][c]);
    if (time <= ws->alone) take_back(lanes, ws, p, i, gave, l, given);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < lanes; c++) row_of(e->L, 3 * i + r)[c] = l[r][c];
    kick(lanes, p, i, l, to);
}

/* The same of what has one entry, in its third row. */
TI_INLINE void joint_impulse(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, int i, const equations *e,
                             int time, double *to) {
    int a = p->a[i], own = p->support[2 * i].column[0], at = p->voff[a] + own;
    double J = p->J[p->joff[i] + 2 * p->width[a] + own], D = ws->D[9 * i + 8];
    double R = ti_contact_small(p, i, ws->at.compliance).n, *given = e->given + (size_t)N * (size_t)(3 * i + 2);
    bool gave = time > 1 && ws->alone > 0;
    for (int c = 0; c < lanes; c++) {
        lane before = {0};
        if (gave) before = row_of(given, 0)[c];
        lane l = -(D * (J * row_in(e->Y, at)[c] - before));
        if (time <= ws->alone) {
            lane all = R * l;
            l += D * (all - before), row_of(given, 0)[c] = all;
        }
        row_of(e->L, 3 * i)[c] = row_of(e->L, 3 * i + 1)[c] = (lane){0};
        row_of(e->L, 3 * i + 2)[c] = l;
        row_of(to, at)[c] += J * l;
    }
}

TI_INLINE bool is_joint(const ti_contact_problem *p, int i) {
    return p->b[i] < 0 && p->support[2 * i].joint;
}

TI_INLINE void impulses(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e, int time,
                        double *to) {
    for (int i = 0; i < p->nc; i++)
        if (is_joint(p, i))
            joint_impulse(lanes, ws, p, i, e, time, to);
        else
            impulse(lanes, ws, p, i, e, time, to);
}

/* L -= D' J rest */
TI_INLINE void impulses_of_rest(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e) {
    for (int i = 0; i < p->nc; i++) {
        const double *D = ws->D + 9 * i;
        lane C[3][LANES];
        if (is_joint(p, i)) {
            int a = p->a[i], own = p->support[2 * i].column[0], at = p->voff[a] + own;
            double J = p->J[p->joff[i] + 2 * p->width[a] + own];
            for (int c = 0; c < lanes; c++) row_of(e->L, 3 * i + 2)[c] += -(D[8] * (J * row_in(e->rest, at)[c]));
            continue;
        }
        rows_times(lanes, p, i, e->rest, C);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < lanes; c++)
                row_of(e->L, 3 * i + r)[c] += -(D[r] * C[0][c] + D[3 + r] * C[1][c] + D[6 + r] * C[2][c]);
    }
}

/* From the leaves up. */
TI_INLINE void climb(int lanes, const ti_paths *s, double *X) {
    for (int e = 0; e < s->n; e++) {
        int k = s->order[e], n = s->depth[k] - 1;
        const double *u = s->lower + s->at[k];
        const int *way = s->list + s->way[k];
        lane x[LANES];
        for (int c = 0; c < lanes; c++) x[c] = row_in(X, k)[c];
        for (int a = 0; a < n; a++)
            for (int c = 0; c < lanes; c++) row_of(X, way[a])[c] -= u[a] * x[c];
    }
}

/* The same of what begins with zeros, eight by eight: unit columns, of which few are below a number. */
TI_INLINE void climb_some(int lanes, const ti_paths *s, double *X) {
    for (int e = 0; e < s->n; e++) {
        int k = s->order[e], n = s->depth[k] - 1, one;
        const double *u = s->lower + s->at[k];
        const int *way = s->list + s->way[k];
        for (int c = 0; c < lanes; c++) {
            if (!ti_lanes_rows(X + 8 * c, N, k, k + 1, &one)) continue;
            lane x = row_in(X, k)[c];
            for (int a = 0; a < n; a++) row_of(X, way[a])[c] -= u[a] * x;
        }
    }
}

/* ... and down again. */
TI_INLINE void descend(int lanes, const ti_paths *s, double *X) {
    const double *rows = s->symmetric ? s->lower : s->upper;
    for (int e = s->n - 1; e >= 0; e--) {
        int k = s->order[e], n = s->depth[k] - 1;
        const double *l = rows + s->at[k], pivot = s->lower[s->at[k] + n];
        const int *way = s->list + s->way[k];
        lane sum[LANES];
        for (int c = 0; c < lanes; c++) sum[c] = pivot * row_in(X, k)[c];
        for (int a = 0; a < n; a++)
            for (int c = 0; c < lanes; c++) sum[c] -= l[a] * row_in(X, way[a])[c];
        for (int c = 0; c < lanes; c++) row_of(X, k)[c] = sum[c];
    }
}

/* X := K'^-1 X */
TI_INLINE void solve(int lanes, const ti_paths *s, double *X) {
    climb(lanes, s, X);
    descend(lanes, s, X);
}

/* to -= M Y */
TI_INLINE void take_momentum(int lanes, const ti_paths *s, const double *Y, double *to) {
    for (int k = 0; k < s->n; k++) {
        int n = s->depth[k] - 1;
        const double *M = s->M + s->at[k];
        const int *way = s->list + s->way[k];
        lane sum[LANES], y[LANES];
        for (int c = 0; c < lanes; c++) y[c] = row_in(Y, k)[c], sum[c] = M[n] * y[c];
        for (int a = 0; a < n; a++) {
            if (M[a] == 0) continue;
            for (int c = 0; c < lanes; c++) {
                sum[c] += M[a] * row_in(Y, way[a])[c];
                row_of(to, way[a])[c] -= M[a] * y[c];
            }
        }
        for (int c = 0; c < lanes; c++) row_of(to, k)[c] -= sum[c];
    }
}

/* Y += rest; the size of rest in the norm of the energy, relative to what b would move without contacts, and Y with it,
 * of the worst column: what contacts hold is moved by rounding, of which no digits are asked. */
TI_INLINE double add(int lanes, const ti_contact_ws *ws, int nv, const equations *e) {
    double worst = 0;
    for (int c = 0; c < lanes; c++) {
        lane size = {0}, whole = {0};
        for (int k = 0; k < nv; k++) {
            lane d = row_in(e->rest, k)[c], y = row_of(e->Y, k)[c] += d, b = row_in(e->b, k)[c];
            size += ws->mass[k] * d * d, whole += ws->mass[k] * y * y + ws->minv[k] * b * b;
        }
        for (int i = 0; i < 8; i++) /* NaN stays */
            if (worst == worst && !(size[i] <= worst * whole[i])) worst = size[i] / whole[i];
    }
    return sqrt(worst);
}

/* Correction number `time` of K' Y = b: impulses from Y, the residual of the momentum row, its solution added. */
TI_INLINE double correct(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e,
                         int time) {
    memcpy(e->rest, e->b, sizeof *e->rest * N * (size_t)p->nv);
    take_momentum(lanes, &ws->sys.paths, e->Y, e->rest);
    impulses(lanes, ws, p, e, time, e->rest);
    solve(lanes, &ws->sys.paths, e->rest);
    return add(lanes, ws, p->nv, e);
}

/* K' Y = b, corrected once. */
TI_INLINE double begin(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e, int time) {
    memcpy(e->Y, e->b, sizeof *e->Y * N * (size_t)p->nv);
    climb_some(lanes, &ws->sys.paths, e->Y);
    descend(lanes, &ws->sys.paths, e->Y);
    return correct(lanes, ws, p, e, time);
}

/* L, with the share of the last correction: it keeps the digits that D times J Y would lose. */
TI_INLINE double finish(int lanes, const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e, int time) {
    (void)time;
    impulses_of_rest(lanes, ws, p, e);
    return 0;
}

typedef double step_function(const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e, int time);
#define STEP(name, how, lanes)                                                                                         \
    TI_CLONES_WIDE static double name(const ti_contact_ws *ws, const ti_contact_problem *p, const equations *e,        \
                                      int time) {                                                                      \
        return how(lanes, ws, p, e, time);                                                                             \
    }
STEP(one_begin, begin, 1)
STEP(two_begin, begin, 2)
STEP(all_begin, begin, LANES)
STEP(one_again, correct, 1)
STEP(two_again, correct, 2)
STEP(all_again, correct, LANES)
STEP(one_finish, finish, 1)
STEP(two_finish, finish, 2)
STEP(all_finish, finish, LANES)

/* By how many eights of columns are asked for. */
static step_function *const BEGIN[LANES] = {one_begin, two_begin, all_begin};
static step_function *const AGAIN[LANES] = {one_again, two_again, all_again};
static step_function *const FINISH[LANES] = {one_finish, two_finish, all_finish};

/* The error that is left, at most, and a correction that leaves nothing whatever the rate. */
static const double settled = 1e-12, exact = 1e-10;

/* What rounding leaves, at most, after a correction that took something back and was of size `change`: by the rate or,
 * where that is not known, by the first correction, which is no less. */
static double left(const ti_contact_ws *ws, int time, double first, double change) {
    double rate = ws->contraction >= 0 ? ws->contraction : first;
    return rate * ti_min(time > 1 ? rate * rate : rate, change);
}

/* Whether correction number `time`, the last that was made, leaves nothing. */
static bool is_settled(const ti_contact_ws *ws, int time, double first, double change) {
    if (time < ws->alone || change <= exact) return time >= ws->alone;
    if (time == ws->alone) return left(ws, time, first, change) <= settled;
    return ws->contraction >= 0 && change * ws->contraction <= settled;
}

/* Each correction takes off digits, as many as the last with these factors, ws->contraction; one alone does not show
 * the rate. Nor does the first after those that took something back, beside the last of them, but it is as large as
 * what all before it left. docs/math.md eq. (547). */
static bool solve_trees(ti_contact_ws *ws, const ti_contact_problem *p, int lanes, const equations *e) {
    enum { PASSES = 7 };
    double first = BEGIN[lanes - 1](ws, p, e, 1), change = first;
    for (int time = 1; !is_settled(ws, time, first, change); time++) {
        if (time == PASSES || !(change < HUGE_VAL)) return false;
        double next = AGAIN[lanes - 1](ws, p, e, time + 1), ratio = next / change;
        if (time >= ws->alone) {
            if (!(ratio < 0.5)) return false;
            if (time == ws->alone) ratio = ti_max(ratio, pow(next, 1.0 / (time + 1)));
            ws->contraction = ti_max(ws->contraction, ratio);
        }
        change = next;
    }
    FINISH[lanes - 1](ws, p, e, 0);
    return true;
}

/* The error of y as that of the panel is measured. */
static double weigh(const ti_contact_ws *ws, const ti_contact_problem *p, double error, const double *b,
                    const double *y) {
    double moved = 0, pushed = 0;
    for (int k = 0; k < p->nv; k++) moved += ws->mass[k] * y[k] * y[k], pushed += ws->minv[k] * b[k] * b[k];
    return pushed > moved ? error * sqrt(moved / pushed) : error;
}

/* Where that is not exact enough, or the factors are others: column by column by ti_contact_vjp(). */
static void one_by_one(ti_contact_ws *ws, const ti_contact_problem *p, int columns, const equations *e) {
    double *b = ws->v1, *none = ws->l1, *y = ws->v2, *l = ws->l2, *mu = ws->lt;
    double error = ws->linear_residual;
    memset(none, 0, 3 * (size_t)p->nc * sizeof *none);
    for (int c = 0; c < columns; c++) {
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
    const equations e = {b, Y, L, rest, given};
    if (ws->sys.thin && solve_trees(ws, p, (columns + 7) / 8, &e))
        ws->linear_residual = ti_max(ws->linear_residual, settled);
    else
        one_by_one(ws, p, columns, &e);
}
