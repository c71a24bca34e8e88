/* midpoint.c -- see midpoint.h. Trees of a few hinges and slides by Newton's method on the quadratic that it is. Others
 * by rounds that ask for the inertia's factor alone, which settle where links turn by less than a radian in the step;
 * where they do not, Newton's method. */
#include "dynamics/midpoint.h"
#include "base/base.h"
#include "dynamics/bias.h"
#include "dynamics/branch.h"
#include "dynamics/few.h"
#include "dynamics/tree_jac.h"
#include "math/dense.h"
#include <string.h>

/* Rounds at most, the change that is the last, and what it may leave, as shares of the largest velocity. */
enum { ROUNDS = 40 };
static const double SETTLED = 1e-13, LEFT = 1e-15;

/* How far the last round moved what the next begins with, and the largest share of that by which any moved what it
 * found, as far as it is more than rounding. What it was in the step before may be known; 0 = it is not. */
typedef struct rounds {
    int n;
    double change, share, known;
} rounds;

/* What was known of the share, in the next step. */
static const double GROWN = 1.5;

/* Whether the next rounds change nothing beside `size`, after one that found what is off by `change` from where it
 * began, and by `found` from what the last one found. Three are asked for what share of the change is left, where that
 * is not known. */
static bool settled(rounds *r, double change, double found, double size) {
    if (r->n > 0 && !(found <= 4 * LEFT * size)) r->share = ti_max(r->share, found / r->change);
    double share = ti_max(r->share, GROWN * r->known);
    bool told = r->n > 1 || r->known > 0, little = told && share < 0.1 && share * change <= LEFT * size;
    r->n++, r->change = change;
    return little || change <= SETTLED * size;
}

static const ti_tree *tree_of(const ti_motion *m, int t) {
    return &m->model->tree[t];
}

static void solve(const ti_motion *m, const ti_tree *tree, double *x) {
    ti_branch_solve(m->model->dof + tree->v, tree->v, tree->nv, m->factor + tree->M, x);
}

/* m->next = dt times all forces at the mean velocity. */
static void impulses(ti_motion *m, const ti_tree *tree, ti_vec gravity, double dt) {
    int v0 = tree->v, end = v0 + tree->nv;
    for (int d = v0; d < end; d++) m->middle[d] = 0.5 * (m->now[d] + m->free[d]);
    ti_bias_forces(m, tree, gravity, m->middle, NULL, m->next);
    for (int d = v0; d < end; d++) m->next[d] = dt * (m->next[d] + m->given[d]);
}

/* Whether what the first round finds is nothing like what was expected. */
static bool surprises(const ti_motion *m, const ti_tree *tree) {
    double expected = 0, found = 0, off = 0;
    for (int d = tree->v; d < tree->v + tree->nv; d++) {
        expected = ti_max(expected, fabs(m->pushed[d])), found = ti_max(found, fabs(m->next[d]));
        off = ti_max(off, fabs(m->next[d] - m->pushed[d]));
    }
    return expected > 0 && off > 0.5 * found;
}

/* After the first round, which was off by m->next: docs/math.md eq. (483). What it leaves is told by where the last
 * step's second round began and ended, less the first. @return the share of the latter. */
static double foresee(ti_motion *m, const ti_tree *tree, rounds *r) {
    double along = 0, all = 0, share = 0;
    const double *x = m->known_move, *y = m->known_answer;
    for (int d = tree->v; d < tree->v + tree->nv; d++) along += m->next[d] * x[d], all += x[d] * (x[d] - y[d]);
    if (all > 0) share = along / all;
    r->change = 0;
    for (int d = tree->v; d < tree->v + tree->nv; d++) {
        m->move[d] = m->next[d] + share * y[d], m->free[d] += share * y[d];
        r->change = ti_max(r->change, fabs(m->move[d]));
    }
    return share;
}

static bool by_rounds(ti_motion *m, int t, ti_vec gravity, double dt) {
    const ti_tree *tree = tree_of(m, t);
    int v0 = tree->v, w = tree->nv;
    rounds r = {.known = m->known_share[t]};
    double foreseen = 0;
    for (int d = v0; d < v0 + w; d++) m->free[d] = m->now[d] + m->pushed[d];
    for (bool anew = false; r.n < ROUNDS;) {
        double change = 0, found = 0, size = 0;
        impulses(m, tree, gravity, dt);
        solve(m, tree, m->next + v0);
        if (r.n == 0 && !anew && surprises(m, tree)) {
            memcpy(m->free + v0, m->now + v0, sizeof *m->free * (size_t)w);
            anew = true;
            continue;
        }
        for (int d = v0; d < v0 + w; d++) {
            double v = m->now[d] + m->next[d], off = v - m->free[d];
            if (r.n == 1) m->answer[d] = off + foreseen * m->known_answer[d], found = ti_max(found, fabs(m->answer[d]));
            change = ti_max(change, fabs(off)), size = ti_max(size, fabs(v));
            m->free[d] = v, m->next[d] = off;
        }
        if (settled(&r, change, r.n == 1 ? found : change, size)) {
            m->share[t] = r.share > 0 ? r.share : ti_min(GROWN * r.known, 1);
            return true;
        }
        if (!(change < HUGE_VAL)) break;
        if (r.n == 1) foreseen = foresee(m, tree, &r);
    }
    m->share[t] = 0;
    return false;
}

/* ---- Newton's method ---- */

/* Corrections at most, and what is taken for rounding where they shrink no more. A part of the step that is refused is
 * halved, down to the least. */
enum { CORRECTIONS = 20, PARTS = 200 };
static const double ROUNDED = 1e-10, LEAST = 1.0 / 4096;

/* From m->free. @return false where a correction is not half of that before: it may lead to another solution. */
static bool newton(ti_motion *m, const ti_tree *tree, ti_vec gravity, double dt) {
    int v0 = tree->v, w = tree->nv;
    ti_tree_jac *j = m->jac;
    const double *M = m->M + tree->M;
    double last = HUGE_VAL, *change = j->acc + v0, *off = m->next + v0;
    for (int round = 0; round < CORRECTIONS; round++) {
        double largest = 0, size = 0;
        impulses(m, tree, gravity, dt);
        for (int d = 0; d < w; d++) change[d] = m->now[v0 + d] - m->free[v0 + d];
        ti_matvec_t(w, w, M, w, change, off, off);
        if (!ti_tree_jac_factor(m, tree, M, dt, j)) return false;
        ti_lu_solve(w, j->K + tree->M, w, j->pivot + v0, off);
        for (int d = 0; d < w; d++) {
            m->free[v0 + d] += off[d];
            largest = ti_max(largest, fabs(off[d])), size = ti_max(size, fabs(m->free[v0 + d]));
        }
        if (largest <= SETTLED * size) return true;
        if (!(largest <= 0.5 * last)) return largest <= ROUNDED * size;
        last = largest;
    }
    return false;
}

/* The solution that belongs to the velocity before the step: that of a step of no length, followed as it gets longer.
 */
static bool by_newton(ti_motion *m, const ti_tree *tree, ti_vec gravity, double dt) {
    size_t bytes = sizeof *m->free * (size_t)tree->nv;
    double *there = m->jac->start + tree->v, *free = m->free + tree->v, part = 0, stride = 1;
    memcpy(there, m->now + tree->v, bytes);
    for (int k = 0; k < PARTS && stride >= LEAST; k++) {
        double next = part + stride < 1 ? part + stride : 1;
        memcpy(free, there, bytes);
        if (!newton(m, tree, gravity, next * dt)) {
            stride *= 0.5;
            continue;
        }
        if (next == 1) return true;
        memcpy(there, free, bytes);
        part = next, stride *= 2;
    }
    return false;
}

bool ti_midpoint(ti_motion *m, int t, ti_vec gravity, double dt) {
    if (tree_of(m, t)->few && ti_few_midpoint(m, tree_of(m, t), gravity, dt)) return true;
    return by_rounds(m, t, gravity, dt) || by_newton(m, tree_of(m, t), gravity, dt);
}

/* ---- reverse ---- */

/* The same rounds turned around, from bar->y. */
static bool adjoint_by_rounds(const ti_motion *m, const ti_tree *tree, double dt, ti_motion_bar *bar) {
    int v0 = tree->v, w = tree->nv;
    solve(m, tree, bar->y + v0);
    rounds r = {.n = 1}; /* the start is itself a change that the first round shrinks */
    for (int d = v0; d < v0 + w; d++) r.change = ti_max(r.change, fabs(bar->y[d]));
    while (r.n < ROUNDS) {
        double change = 0, size = 0, *next = bar->v;
        memset(next + v0, 0, sizeof *next * (size_t)w);
        ti_bias_velocity_vjp(m, tree, bar->y, bar, next);
        for (int d = v0; d < v0 + w; d++) next[d] = bar->free[d] + 0.5 * dt * next[d];
        solve(m, tree, next + v0);
        for (int d = v0; d < v0 + w; d++) {
            change = ti_max(change, fabs(next[d] - bar->y[d])), size = ti_max(size, fabs(next[d]));
            bar->y[d] = next[d];
        }
        if (settled(&r, change, change, size)) return true;
        if (!(change < HUGE_VAL)) return false;
    }
    return false;
}

void ti_midpoint_vjp(const ti_motion *m, int t, double dt, ti_motion_bar *bar) {
    const ti_tree *tree = tree_of(m, t);
    double *y = bar->y + tree->v;
    ti_bias_velocity_prepare(m, tree, bar);
    memcpy(y, bar->free + tree->v, sizeof *y * (size_t)tree->nv);
    if (tree->few && ti_few_midpoint_vjp(m, tree, dt, y)) return;
    if (adjoint_by_rounds(m, tree, dt, bar)) return;
    if (ti_tree_jac_factor(m, tree, m->M + tree->M, dt, m->jac)) {
        memcpy(y, bar->free + tree->v, sizeof *y * (size_t)tree->nv);
        ti_lu_solve_t(tree->nv, m->jac->K + tree->M, tree->nv, m->jac->pivot + tree->v, y);
        return;
    }
    for (int d = 0; d < tree->nv; d++) y[d] = (double)NAN; /* which no sweep passes as OK */
}
