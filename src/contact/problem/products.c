/* products.c -- products with the inertia and the contact Jacobian of a block problem. */
#include "contact/problem/products.h"

double ti_contact_heft(const ti_contact_problem *p, int k) {
    return p->heft ? p->heft[k] : p->M[p->moff[k]];
}

int ti_contact_heaviest(const ti_contact_problem *p) {
    int heaviest = 0;
    for (int k = 1; k < p->nblk; k++)
        if (ti_contact_heft(p, k) > ti_contact_heft(p, heaviest)) heaviest = k;
    return heaviest;
}

static inline void rows(int w, const double *restrict J, const double *restrict v, double *restrict c) {
    double s0 = 0, s1 = 0, s2 = 0;
    for (int k = 0; k < w; k++) {
        s0 += J[k] * v[k];
        s1 += J[w + k] * v[k];
        s2 += J[2 * w + k] * v[k];
    }
    c[0] += s0, c[1] += s1, c[2] += s2;
}

static inline void columns(int w, const double *restrict J, const double *restrict l, double *restrict y) {
    for (int k = 0; k < w; k++) y[k] += J[k] * l[0] + J[w + k] * l[1] + J[2 * w + k] * l[2];
}

/* The same of the columns that are not zero. */
static inline void rows_of(const ti_support *s, int w, const double *J, const double *v, double *c) {
    if (s->joint) {
        c[2] += J[2 * w + s->column[0]] * v[s->column[0]];
        return;
    }
    for (int e = 0; e < s->n; e++) {
        int k = s->column[e];
        c[0] += J[k] * v[k], c[1] += J[w + k] * v[k], c[2] += J[2 * w + k] * v[k];
    }
}

static inline void columns_of(const ti_support *s, int w, const double *J, const double *l, double *y) {
    if (s->joint) {
        y[s->column[0]] += J[2 * w + s->column[0]] * l[2];
        return;
    }
    for (int e = 0; e < s->n; e++) {
        int k = s->column[e];
        y[k] += J[k] * l[0] + J[w + k] * l[1] + J[2 * w + k] * l[2];
    }
}

void ti_contact_jv(const ti_contact_problem *p, const double *v, bool with_ref, double *c) {
    for (int i = 0; i < p->nc; i++, c += 3) {
        int a = p->a[i], b = p->b[i], wa = p->width[a];
        const double *J = p->J + p->joff[i];
        const ti_support *sa = ti_support_of(p, i, 0), *sb = ti_support_of(p, i, 1);
        for (int r = 0; r < 3; r++) c[r] = with_ref ? p->ref[3 * i + r] : 0;
        if (sa)
            rows_of(sa, wa, J, v + p->voff[a], c);
        else if (wa == 6)
            rows(6, J, v + p->voff[a], c);
        else
            rows(wa, J, v + p->voff[a], c);
        if (b < 0) continue;
        if (sb)
            rows_of(sb, p->width[b], J + 3 * (size_t)wa, v + p->voff[b], c);
        else if (p->width[b] == 6)
            rows(6, J + 3 * (size_t)wa, v + p->voff[b], c);
        else
            rows(p->width[b], J + 3 * (size_t)wa, v + p->voff[b], c);
    }
}

void ti_contact_jt(const ti_contact_problem *p, const double *lambda, double *y) {
    for (int i = 0; i < p->nc; i++, lambda += 3) {
        int a = p->a[i], b = p->b[i], wa = p->width[a];
        const double *J = p->J + p->joff[i];
        const ti_support *sa = ti_support_of(p, i, 0), *sb = ti_support_of(p, i, 1);
        if (sa)
            columns_of(sa, wa, J, lambda, y + p->voff[a]);
        else if (wa == 6)
            columns(6, J, lambda, y + p->voff[a]);
        else
            columns(wa, J, lambda, y + p->voff[a]);
        if (b < 0) continue;
        if (sb)
            columns_of(sb, p->width[b], J + 3 * (size_t)wa, lambda, y + p->voff[b]);
        else if (p->width[b] == 6)
            columns(6, J + 3 * (size_t)wa, lambda, y + p->voff[b]);
        else
            columns(p->width[b], J + 3 * (size_t)wa, lambda, y + p->voff[b]);
    }
}

void ti_contact_mv(const ti_contact_problem *p, const double *x, double *y) {
    for (int k = 0; k < p->nblk; k++) {
        int w = p->width[k];
        const double *M = p->M + p->moff[k], *xk = x + p->voff[k];
        double *yk = y + p->voff[k];
        for (int i = 0; i < w; i++) {
            double s = 0;
            for (int j = 0; j < w; j++) s += M[i * w + j] * xk[j];
            yk[i] = s;
        }
    }
}
