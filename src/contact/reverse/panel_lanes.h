/* panel_lanes.h -- what panels of the transpose share, whatever their blocks: eights of directions, rows of contacts,
 * impulses, and what small compliances give way. */
#ifndef TI_PANEL_LANES_H
#define TI_PANEL_LANES_H
#include "base/clones.h"
#include "contact/reverse/panel.h"
#include "contact/system/blocks.h"
#include "contact/work/workspace.h"
#include <math.h>
#include <string.h>

/* Eight directions; a row of a panel is three of them. Functions do the first `lanes`, a constant of the compiler. */
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
typedef struct ti_panel_equations {
    const double *b;
    double *Y, *L, *rest, *given;
} ti_panel_equations;

/* Correction number `time` of a panel; its size, relative to the worst column. */
typedef double ti_panel_step(const ti_contact_ws *ws, const ti_contact_problem *p, const ti_panel_equations *e,
                             int time);
/* K' Y = b, corrected once; corrected again; the share of the last correction in L. By how many eights are asked for.
 */
typedef struct ti_panel_steps {
    ti_panel_step *begin[LANES], *again[LANES], *finish[LANES];
    bool by_rate; /* whether a correction that is not exact may be the last by the rate of others */
} ti_panel_steps;
extern const ti_panel_steps ti_panel_trees, ti_panel_six;

#define TI_PANEL_STEP(name, how, lanes)                                                                                \
    TI_CLONES_WIDE static double name(const ti_contact_ws *ws, const ti_contact_problem *p,                            \
                                      const ti_panel_equations *e, int time) {                                         \
        return how(lanes, ws, p, e, time);                                                                             \
    }
/* The table `name` of begin(), correct() and finish() of a file. */
#define TI_PANEL_STEPS(name, by_rate)                                                                                  \
    TI_PANEL_STEP(one_begin, begin, 1)                                                                                 \
    TI_PANEL_STEP(two_begin, begin, 2)                                                                                 \
    TI_PANEL_STEP(all_begin, begin, LANES)                                                                             \
    TI_PANEL_STEP(one_again, correct, 1)                                                                               \
    TI_PANEL_STEP(two_again, correct, 2)                                                                               \
    TI_PANEL_STEP(all_again, correct, LANES)                                                                           \
    TI_PANEL_STEP(one_finish, finish, 1)                                                                               \
    TI_PANEL_STEP(two_finish, finish, 2)                                                                               \
    TI_PANEL_STEP(all_finish, finish, LANES)                                                                           \
    const ti_panel_steps name = {{one_begin, two_begin, all_begin},                                                    \
                                 {one_again, two_again, all_again},                                                    \
                                 {one_finish, two_finish, all_finish},                                                 \
                                 by_rate};

/* ---- rows of contacts ---- */

/* C (3) += J Y of one side of a contact. s NULL: all of its columns. */
TI_INLINE void side_times(int lanes, const ti_support *s, int w, const double *J, const double *Y, lane (*C)[LANES]) {
    for (int e = 0, n = s ? s->n : w; e < n; e++) {
        int j = s && s->column ? s->column[e] : e;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < lanes; c++) C[r][c] += J[r * w + j] * row_in(Y, j)[c];
    }
}

/* Y += J' L of one side. */
TI_INLINE void side_kick(int lanes, const ti_support *s, int w, const double *J, lane (*L)[LANES], double *Y) {
    for (int e = 0, n = s ? s->n : w; e < n; e++) {
        int j = s && s->column ? s->column[e] : e;
        lane *y = row_of(Y, j);
        for (int c = 0; c < lanes; c++) y[c] += J[j] * L[0][c] + J[w + j] * L[1][c] + J[2 * w + j] * L[2][c];
    }
}

/* Blocks are six wide and contacts have all their columns, or that is in the problem. */
typedef enum ti_panel_blocks { TI_PANEL_SIX, TI_PANEL_ANY } ti_panel_blocks;

TI_INLINE int width_of(ti_panel_blocks blocks, const ti_contact_problem *p, int blk) {
    return blocks == TI_PANEL_SIX ? TI_COMMON : p->width[blk];
}
TI_INLINE const ti_support *support_of(ti_panel_blocks blocks, const ti_contact_problem *p, int i, int side) {
    return blocks == TI_PANEL_SIX ? NULL : p->support + 2 * i + side;
}

/* C = J Y of contact i. */
TI_INLINE void rows_times(int lanes, ti_panel_blocks blocks, const ti_contact_problem *p, int i, const double *Y,
                          lane (*C)[LANES]) {
    const double *J = p->J + p->joff[i];
    int blk[2] = {p->a[i], p->b[i]}, sides = blk[1] >= 0 ? 2 : 1;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < lanes; c++) C[r][c] = (lane){0};
    for (int k = 0, at = 0; k < sides; at += 3 * width_of(blocks, p, blk[k++]))
        side_times(lanes, support_of(blocks, p, i, k), width_of(blocks, p, blk[k]), J + at,
                   Y + (size_t)N * (size_t)p->voff[blk[k]], C);
}

/* to += J' L of contact i. */
TI_INLINE void kick(int lanes, ti_panel_blocks blocks, const ti_contact_problem *p, int i, lane (*L)[LANES],
                    double *to) {
    const double *J = p->J + p->joff[i];
    int blk[2] = {p->a[i], p->b[i]}, sides = blk[1] >= 0 ? 2 : 1;
    for (int k = 0, at = 0; k < sides; at += 3 * width_of(blocks, p, blk[k++]))
        side_kick(lanes, support_of(blocks, p, i, k), width_of(blocks, p, blk[k]), J + at, L,
                  to + (size_t)N * (size_t)p->voff[blk[k]]);
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
TI_INLINE void impulse(int lanes, ti_panel_blocks blocks, const ti_contact_ws *ws, const ti_contact_problem *p, int i,
                       const ti_panel_equations *e, int time, double *to) {
    const double *D = ws->D + 9 * i;
    double *given = e->given + (size_t)N * 3 * (size_t)i;
    bool gave = time > 1 && ws->alone > 0;
    lane C[3][LANES], l[3][LANES];
    rows_times(lanes, blocks, p, i, e->Y, C);
    for (int r = 0; gave && r < 3; r++)
        for (int c = 0; c < lanes; c++) C[r][c] -= row_in(given, r)[c];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < lanes; c++) l[r][c] = -(D[r] * C[0][c] + D[3 + r] * C[1][c] + D[6 + r] * C[2][c]);
    if (time <= ws->alone) take_back(lanes, ws, p, i, gave, l, given);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < lanes; c++) row_of(e->L, 3 * i + r)[c] = l[r][c];
    kick(lanes, blocks, p, i, l, to);
}

/* L -= D' J rest of contact i */
TI_INLINE void impulse_of_rest(int lanes, ti_panel_blocks blocks, const ti_contact_ws *ws, const ti_contact_problem *p,
                               int i, const ti_panel_equations *e) {
    const double *D = ws->D + 9 * i;
    lane C[3][LANES];
    rows_times(lanes, blocks, p, i, e->rest, C);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < lanes; c++)
            row_of(e->L, 3 * i + r)[c] += -(D[r] * C[0][c] + D[3 + r] * C[1][c] + D[6 + r] * C[2][c]);
}

/* Y += rest; the size of rest in the norm of the energy, relative to what b would move without contacts, and Y with it,
 * of the worst column: what contacts hold is moved by rounding, of which no digits are asked. */
TI_INLINE double add(int lanes, const ti_contact_ws *ws, int nv, const ti_panel_equations *e) {
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

#endif
