/* doubled.c -- see doubled.h. A number with twice the digits is a sum hi + lo; products and sums are exact but for the
 * rounding of lo. */
#include "contact/reverse/doubled.h"
#include "base/clones.h"
#include <math.h>

typedef struct twin {
    double hi, lo;
} twin;

TI_INLINE twin plus(twin s, double x) {
    double sum = s.hi + x, part = sum - s.hi;
    return (twin){sum, s.lo + ((s.hi - (sum - part)) + (x - part))};
}

/* s + a (x.hi + x.lo) */
TI_INLINE twin plus_product(twin s, double a, twin x) {
    double high = a * x.hi;
    s = plus(s, high);
    s.lo += fma(a, x.hi, -high) + a * x.lo;
    return s;
}

/* ---- is it needed ---- */

/* Impulses above this multiple of what pushes cancel to such a degree that more than three digits are lost. */
static const double most = 2e3;

bool ti_doubled_needed(const ti_contact_ws *ws, const ti_contact_problem *p, const ti_doubled *q) {
    double pushed = 0, stress = 0;
    for (int k = 0; k < p->nv; k++) pushed += ws->minv[k] * q->b[k] * q->b[k];
    for (int i = 0; i < p->nc; i++) {
        const ti_law_scale *s = ws->scale + i;
        const double *l = q->l + 3 * i, *d = q->d + 3 * i;
        stress += s->g_t * (l[0] * l[0] + l[1] * l[1]) + s->g_n * l[2] * l[2];
        pushed = ti_max(pushed, ti_max(s->rho_t * (d[0] * d[0] + d[1] * d[1]), s->rho_n * d[2] * d[2]));
    }
    return stress > most * most * pushed;
}

/* ---- impulses ---- */

/* Column j of the rows of one side of a contact times x, of rows from `first` on. */
TI_INLINE void column_times(int first, int w, const double *J, int j, const double *x, twin *c) {
    for (int r = first; r < 3; r++) {
        double a = J[r * w + j], high = a * x[j];
        c[r] = plus(c[r], high);
        c[r].lo += fma(a, x[j], -high);
    }
}

/* Those of one side, in their order: of all columns of a block of six or of any, or of those that are not zero. */
TI_INLINE void side_times(int w, const double *J, const double *x, twin *c) {
    for (int j = 0; j < w; j++) column_times(0, w, J, j, x, c);
}
TI_INLINE void listed_times(const ti_support *at, int w, const double *J, const double *x, twin *c) {
    if (at->joint)
        column_times(2, w, J, at->column[0], x, c);
    else
        for (int e = at->n - 1; e >= 0; e--) column_times(0, w, J, at->column[e], x, c);
}

TI_CLONES_FMA void ti_doubled_slips(const ti_contact_problem *p, const double *x, const double *d, double *c) {
    for (int i = 0; i < p->nc; i++, d += 3, c += 3) {
        twin s[3] = {{d[0], 0}, {d[1], 0}, {d[2], 0}};
        const double *J = p->J + p->joff[i];
        for (int side = 0; side < (p->b[i] >= 0 ? 2 : 1); side++) {
            int blk = side ? p->b[i] : p->a[i], w = p->width[blk];
            const ti_support *at = w == 6 ? NULL : ti_support_of(p, i, side);
            if (at)
                listed_times(at, w, J, x + p->voff[blk], s);
            else if (w == 6)
                side_times(6, J, x + p->voff[blk], s);
            else
                side_times(w, J, x + p->voff[blk], s);
            J += 3 * (size_t)w;
        }
        for (int r = 0; r < 3; r++) c[r] = s[r].hi + s[r].lo;
    }
}

/* ---- refinement ---- */

/* The solution so far: x with its low parts, and what is left of the momentum row. */
typedef struct state {
    double *x_lo, *rest, *rest_lo; /* (nv) */
} state;

/* s + J x of a row of contact i. */
TI_INLINE twin row_times(const ti_contact_problem *p, int i, int r, const double *x, const double *x_lo, twin s) {
    const double *J = p->J + p->joff[i];
    for (int side = 0; side < (p->b[i] >= 0 ? 2 : 1); side++) {
        int blk = side ? p->b[i] : p->a[i], w = p->width[blk], at = p->voff[blk];
        for (int j = 0; j < w; j++)
            if (J[r * w + j] != 0) s = plus_product(s, J[r * w + j], (twin){x[at + j], x_lo[at + j]});
        J += 3 * (size_t)w;
    }
    return s;
}

TI_INLINE void add_impulse(const ti_contact_problem *p, int i, const twin *l, const state *to) {
    const double *J = p->J + p->joff[i];
    for (int side = 0; side < (p->b[i] >= 0 ? 2 : 1); side++) {
        int blk = side ? p->b[i] : p->a[i], w = p->width[blk], at = p->voff[blk];
        for (int j = 0; j < w; j++) {
            twin s = {to->rest[at + j], to->rest_lo[at + j]};
            for (int r = 0; r < 3; r++)
                if (J[r * w + j] != 0) s = plus_product(s, J[r * w + j], l[r]);
            to->rest[at + j] = s.hi, to->rest_lo[at + j] = s.lo;
        }
        J += 3 * (size_t)w;
    }
}

/* Impulses from x, and what they leave of the momentum row. */
TI_CLONES_FMA static void residual(const ti_contact_ws *ws, const ti_contact_problem *p, const ti_doubled *q, double *x,
                                   double *l, double *c, const state *s) {
    for (int b = 0; b < p->nblk; b++)
        for (int r = 0, w = p->width[b], at = p->voff[b]; r < w; r++) {
            twin sum = {q->b[at + r], 0};
            const double *M = p->M + p->moff[b] + r * w;
            for (int j = 0; j < w; j++) sum = plus_product(sum, -M[j], (twin){x[at + j], s->x_lo[at + j]});
            s->rest[at + r] = sum.hi, s->rest_lo[at + r] = sum.lo;
        }
    for (int i = 0; i < p->nc; i++) {
        const double *D = ws->D + 9 * i;
        twin v[3], push[3];
        for (int r = 0; r < 3; r++) v[r] = row_times(p, i, r, x, s->x_lo, (twin){q->d[3 * i + r], 0});
        for (int r = 0; r < 3; r++) {
            push[r] = (twin){q->o ? q->o[3 * i + r] : 0, 0};
            for (int e = 0; e < 3; e++)
                push[r] = plus_product(push[r], -D[q->transposed ? 3 * e + r : 3 * r + e], v[e]);
            l[3 * i + r] = push[r].hi + push[r].lo, c[3 * i + r] = v[r].hi + v[r].lo;
        }
        add_impulse(p, i, push, s);
    }
}

/* x += the solution for the residual; returns its relative size. */
static double correct(ti_contact_ws *ws, const ti_contact_problem *p, bool transposed, double *x, const state *s) {
    double size = 0, whole = 0;
    for (int k = 0; k < p->nv; k++) s->rest[k] += s->rest_lo[k];
    if (transposed)
        ti_system_solve_t(&ws->sys, s->rest);
    else
        ti_system_solve(&ws->sys, 1, s->rest);
    for (int k = 0; k < p->nv; k++) {
        twin sum = plus((twin){x[k], s->x_lo[k]}, s->rest[k]);
        x[k] = sum.hi, s->x_lo[k] = sum.lo;
        size += ws->mass[k] * s->rest[k] * s->rest[k], whole += ws->mass[k] * x[k] * x[k];
    }
    return size > 0 ? sqrt(size / whole) : size;
}

double ti_doubled_refine(ti_contact_ws *ws, const ti_contact_problem *p, const ti_doubled *q) {
    enum { PASSES = 24 };
    static const double enough = 1e-22; /* impulses see the error of x divided by R */
    static const double slow = 0.3;     /* a pass that gains less shows factors that are too poor, or */
    static const double little = 1e-16; /* from here on, what rounds with twice the digits */
    const state s = {ws->vt, ws->dv, ws->vb};
    double *x = ws->ds, *l = ws->dlambda, *c = ws->lb, last = HUGE_VAL, change = HUGE_VAL;
    memcpy(x, q->x, (size_t)p->nv * sizeof *x);
    memset(s.x_lo, 0, (size_t)p->nv * sizeof *x);
    for (int pass = 0; pass < PASSES; pass++) {
        residual(ws, p, q, x, l, c, &s);
        change = correct(ws, p, q->transposed, x, &s);
        if (change <= enough) break;
        if (!(change < slow * last) && change <= little) break;
        if (!(change < slow * last)) return 1;
        last = change;
    }
    residual(ws, p, q, x, l, c, &s);
    memcpy(q->x, x, (size_t)p->nv * sizeof *x);
    memcpy(q->l, l, 3 * (size_t)p->nc * sizeof *l);
    if (q->c) memcpy(q->c, c, 3 * (size_t)p->nc * sizeof *c);
    return change;
}
