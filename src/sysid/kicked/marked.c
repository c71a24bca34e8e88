/* marked.c -- what markers and contact forces add to a kicked motion: cost, curvature, noise and scores. docs/math.md
 * eq. (443), (444). */
#include "sysid/kicked/kicked.h"

double ti_marked_cost(ti_worker *w, const ti_track *t, int row, const double *x) {
    double sum = 0;
    ti_marked m;
    if (!t->mark) return 0;
    if (ti_markers_place(w, x)) return HUGE_VAL;
    for (int site = 0; site < w->s->z.nsite; site++)
        if (ti_marker(w, t, row, site, false, &m)) sum += m.rho;
    return sum;
}

void ti_marked_square(ti_worker *w, const ti_track *t, int row, const double *x, double *square, double *n) {
    ti_marked m;
    if (!t->mark || ti_markers_place(w, x)) return;
    for (int site = 0; site < w->s->z.nsite; site++)
        if (ti_marker(w, t, row, site, false, &m)) *square += m.square, *n += 3;
}

double ti_pressed_cost(ti_worker *w, const ti_track *t, int row, const double *forces) {
    double sum = 0;
    ti_marked m;
    for (int i = 0; i < w->s->nplate; i++)
        if (ti_pressed(w, t, row, i, forces, NULL, &m)) sum += m.rho;
    return sum;
}

void ti_pressed_square(ti_worker *w, const ti_track *t, int row, const double *forces, double *square, double *n) {
    ti_marked m;
    for (int i = 0; i < w->s->nplate; i++)
        if (ti_pressed(w, t, row, i, forces, NULL, &m)) *square += m.square, *n += 3;
}

/* ---- three numbers with their derivative m->D (3,nd) ---- */

static void add(const ti_marked *m, size_t nd, double *S, double *g) {
    for (int i = 0; i < 3; i++) {
        const double *D = m->D + (size_t)i * nd;
        for (size_t a = 0; a < nd; a++) {
            double j = m->slope * D[a];
            if (j == 0) continue;
            g[a] += j * m->r[i];
            for (size_t b = 0; b < nd; b++) S[a * nd + b] += j * D[b];
        }
    }
}

static void count(const ti_marked *m, size_t nd, const double *P, double *square, double *freedom) {
    *square += m->slope * m->square;
    for (int i = 0; i < 3; i++) {
        const double *D = m->D + (size_t)i * nd;
        double variance = 0;
        for (size_t a = 0; a < nd; a++)
            for (size_t b = 0; D[a] != 0 && b < nd; b++) variance += D[a] * P[a * nd + b] * D[b];
        double share = 1 - m->slope * variance;
        *freedom += m->slope * (share > 0 ? share < 1 ? share : 1 : 0);
    }
}

static void score_of(const ti_marked *m, size_t ndx, size_t n, const double *D, double *score) {
    for (size_t i = 0; i < 3; i++) {
        const double *by = m->D + i * (ndx + n);
        double r = m->slope * m->r[i];
        for (size_t q = 0; q < n; q++) score[q] += r * by[ndx + q];
        for (size_t a = 0; a < ndx; a++)
            for (size_t q = 0; by[a] != 0 && q < n; q++) score[q] += r * by[a] * D[a * n + q];
    }
}

/* ---- of markers ---- */

void ti_marked_add(ti_worker *w, const ti_track *t, int row, const double *x, size_t nd, double *S, double *g) {
    ti_marked m;
    if (!t->mark || ti_markers_place(w, x)) return;
    for (int site = 0; site < w->s->z.nsite; site++)
        if (ti_marker(w, t, row, site, true, &m)) add(&m, nd, S, g);
}

void ti_marked_count(ti_worker *w, const ti_track *t, int row, const double *x, size_t nd, const double *P,
                     ti_noise_sums *sums) {
    ti_marked m;
    int group = w->s->mark_group;
    if (!t->mark || ti_markers_place(w, x)) return;
    for (int site = 0; site < w->s->z.nsite; site++)
        if (ti_marker(w, t, row, site, true, &m)) count(&m, nd, P, &sums->square[group], &sums->freedom[group]);
}

void ti_marked_score(ti_worker *w, const ti_track *t, int row, const double *x, const double *D, double *score) {
    ti_marked m;
    if (!t->mark || ti_markers_place(w, x)) return;
    for (int site = 0; site < w->s->z.nsite; site++)
        if (ti_marker(w, t, row, site, true, &m)) score_of(&m, (size_t)w->s->z.ndx, (size_t)w->s->nfree, D, score);
}

/* ---- of forces ---- */

void ti_pressed_add(ti_worker *w, const ti_track *t, int row, const double *forces, const double *Psi, double *S,
                    double *g) {
    ti_marked m;
    for (int i = 0; i < w->s->nplate; i++)
        if (ti_pressed(w, t, row, i, forces, Psi, &m)) add(&m, (size_t)(w->s->z.ndx + w->s->nfree), S, g);
}

void ti_pressed_count(ti_worker *w, const ti_track *t, int row, const double *forces, const double *Psi,
                      const double *P, ti_noise_sums *sums) {
    ti_marked m;
    int group = w->s->plate_group;
    for (int i = 0; i < w->s->nplate; i++)
        if (ti_pressed(w, t, row, i, forces, Psi, &m))
            count(&m, (size_t)(w->s->z.ndx + w->s->nfree), P, &sums->square[group], &sums->freedom[group]);
}

void ti_pressed_score(ti_worker *w, const ti_track *t, int row, const double *forces, const double *Psi,
                      const double *D, double *score) {
    ti_marked m;
    for (int i = 0; i < w->s->nplate; i++)
        if (ti_pressed(w, t, row, i, forces, Psi, &m)) score_of(&m, (size_t)w->s->z.ndx, (size_t)w->s->nfree, D, score);
}
