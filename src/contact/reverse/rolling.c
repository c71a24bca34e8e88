/* rolling.c -- see rolling.h. The normals of a face hold both turns about its tangents, those of an edge one, and so
 * does friction against rolling. Together they are a system that has an answer, and shares what turns, only where both
 * ask for the same: that friction asks for no turn, while the gaps may. Friction has its bound and normals have none,
 * so it asks for the turn that they do. */
#include "contact/reverse/rolling.h"
#include <math.h>

static double dot(int n, const double *a, const double *b) {
    double sum = 0;
    for (int k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

/* Row r of constraint i on a side of it. */
static const double *row_of(const ti_contact_problem *p, int i, int r, int side) {
    const double *J = p->J + p->joff[i];
    return side ? J + 3 * p->width[p->a[i]] + r * p->width[p->b[i]] : J + r * p->width[p->a[i]];
}

static bool gives_way(const ti_contact_problem *p, int i) {
    return p->R && p->R[3 * i + 2] > 0;
}

/* Whether contact j pushes, and is hard, between the bodies of roll i. */
static bool is_beside(const ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s, int i,
                      int j) {
    if (p->what[j] != TI_CONSTRAINT_CONTACT || p->a[j] != p->a[i] || p->b[j] != p->b[i]) return false;
    if (s->mode[j] == TRIBO_BREAK || !(s->lambda[3 * j + 2] > 0)) return false;
    return !gives_way(p, j) && !(ti_law_at(ws, p, j)->is & TI_LAW_SMOOTH);
}

/* The turn along its two tangents that contact j and the host of roll i hold together: the difference of their normal
 * rows, where that is such a turn. @return whether it is, and is one at all */
static bool turn_held(const ti_contact_problem *p, int i, int host, int j, double turn[2]) {
    double g[2] = {0, 0}, G[3] = {0, 0, 0}, all = 0;
    for (int side = 0; side < (p->b[i] < 0 ? 1 : 2); side++) {
        int w = p->width[side ? p->b[i] : p->a[i]];
        const double *x = row_of(p, i, 0, side), *y = row_of(p, i, 1, side);
        const double *n = row_of(p, host, 2, side), *m = row_of(p, j, 2, side);
        G[0] += dot(w, x, x), G[1] += dot(w, x, y), G[2] += dot(w, y, y);
        g[0] += dot(w, x, m) - dot(w, x, n), g[1] += dot(w, y, m) - dot(w, y, n);
        for (int k = 0; k < w; k++) all += (m[k] - n[k]) * (m[k] - n[k]);
    }
    double det = G[0] * G[2] - G[1] * G[1];
    if (!(det > 0)) return false;
    turn[0] = (G[2] * g[0] - G[1] * g[1]) / det, turn[1] = (G[0] * g[1] - G[1] * g[0]) / det;
    double rest = all - turn[0] * g[0] - turn[1] * g[1];
    return hypot(turn[0], turn[1]) > 1e-6 && rest <= 1e-12 * all;
}

/* Whether roll i holds, or does all it can and yet turns by no more than compliances let it. */
static bool is_still(const ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s, int i) {
    const double *l = s->lambda + 3 * i, *c = ws->c + 3 * i;
    if (gives_way(p, i) || s->mode[i] == TRIBO_BREAK) return false;
    return s->mode[i] == TRIBO_STICK || ws->scale[i].rho_t * hypot(c[0], c[1]) <= 1e-6 * hypot(l[0], l[1]);
}

static ti_rolling rolling_of(const ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s,
                             int i) {
    ti_rolling r = {.host = ti_host_of(p, i)};
    double t[2][2], across = 0;
    if (!is_still(ws, p, s, i) || !is_beside(ws, p, s, i, r.host)) return r;
    for (int j = 0; j < p->nc && r.n < 2; j++) {
        if (j == r.host || !is_beside(ws, p, s, i, j) || !turn_held(p, i, r.host, j, t[r.n])) continue;
        if (r.n == 1) across = t[0][0] * t[1][1] - t[0][1] * t[1][0];
        if (r.n == 0 || fabs(across) > 1e-6 * hypot(t[0][0], t[0][1]) * hypot(t[1][0], t[1][1])) r.by[r.n++] = j;
    }
    if (r.n == 1)
        for (int k = 0; k < 2; k++) r.makes[0][k] = t[0][k] / dot(2, t[0], t[0]);
    if (r.n == 2) {
        r.makes[0][0] = t[1][1] / across, r.makes[0][1] = -t[1][0] / across;
        r.makes[1][0] = -t[0][1] / across, r.makes[1][1] = t[0][0] / across;
    }
    return r;
}

void ti_rolling_find(ti_contact_ws *ws, const ti_contact_problem *p, const ti_contact_solution *s) {
    ws->rolls = false;
    for (int i = 0; i < p->nc; i++) ws->rolls = ws->rolls || (p->spins && p->what[i] == TI_CONSTRAINT_ROLL);
    if (!ws->rolls) return;
    ti_system_jv(&ws->sys, p, s->v, true, ws->c);
    for (int i = 0; i < p->nc; i++)
        ws->rolling[i] = p->what[i] == TI_CONSTRAINT_ROLL ? rolling_of(ws, p, s, i) : (ti_rolling){0};
}

void ti_contact_roll_jvp(const ti_contact_ws *ws, const ti_contact_problem *p, const double *ref_dot, double *dc) {
    for (int i = 0; ws->rolls && i < p->nc; i++) {
        const ti_rolling *r = &ws->rolling[i];
        for (int k = 0; k < r->n; k++) {
            double b = ref_dot[r->by[k]] - ref_dot[r->host];
            dc[3 * i] += b * r->makes[k][0], dc[3 * i + 1] += b * r->makes[k][1];
        }
    }
}

void ti_contact_roll_vjp(const ti_contact_ws *ws, const ti_contact_problem *p, const double *c_bar, double *ref_bar) {
    for (int i = 0; ws->rolls && i < p->nc; i++) {
        const ti_rolling *r = &ws->rolling[i];
        for (int k = 0; k < r->n; k++) {
            double b = dot(2, r->makes[k], c_bar + 3 * i);
            ref_bar[r->by[k]] += b, ref_bar[r->host] -= b;
        }
    }
}
