/* polygons.c -- a convex quadratic over polygons. docs/math.md, "The pyramid, and RaiSim". */
#include "contact/solver/polygons.h"
#include "contact/law/pyramid.h"
#include "math/dense.h"

#define PROXIMITY 1e-8

void ti_polygons_carve(ti_arena *m, int nc, ti_polygons *s) {
    size_t n = 2 * (size_t)nc;
    TI_CARVE(m, s->S, n * n);
    TI_CARVE(m, s->unit, nc);
    TI_CARVE(m, s->q, n);
    TI_CARVE(m, s->r, nc);
    TI_CARVE(m, s->t, n);
    TI_CARVE(m, s->c, n);
    TI_CARVE(m, s->anchor, n);
    TI_CARVE(m, s->K, n * ti_ld((int)n));
    TI_CARVE(m, s->x, n);
    TI_CARVE(m, s->dir, 2 * n);
    TI_CARVE(m, s->pair, n);
    TI_CARVE(m, s->part, nc);
    TI_CARVE(m, s->known, nc);
    ti_admm_carve(m, (int)n, true, &s->admm);
}

void ti_polygons_pose(ti_polygons *s, const ti_pyramid *y, int nc, const double *G) {
    size_t n = 2 * (size_t)nc;
    s->pyramid = y, s->nc = nc;
    for (int i = 0; i < nc; i++) {
        double d = ti_max(G[2 * i * n + 2 * i], G[(2 * i + 1) * n + 2 * i + 1]);
        s->unit[i] = d > 0 ? 1 / sqrt(d) : 1;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) s->S[i * n + j] = s->unit[i / 2] * s->unit[j / 2] * G[i * n + j];
}

/* s->c = S t + q, the parts on which the projections of t - c are, and the largest distance of t from these: 0 at a
 * solution. */
static double look(ti_polygons *s, unsigned char *part) {
    int n = 2 * s->nc;
    double off = 0;
    ti_matvec_t(n, n, s->S, n, s->t, s->q, s->c);
    for (int i = 0; i < s->nc; i++) {
        double z[2] = {s->t[2 * i] - s->c[2 * i], s->t[2 * i + 1] - s->c[2 * i + 1]}, p[2];
        part[i] = (unsigned char)ti_part(s->pyramid, s->r[i], z);
        ti_nearest(s->pyramid, s->r[i], part[i], z, p);
        off = ti_max(off, ti_max(fabs(s->t[2 * i] - p[0]), fabs(s->t[2 * i + 1] - p[1])));
    }
    return off;
}

/* The directions free on the parts; s->t becomes the base point. Returns how many. */
static int span(ti_polygons *s) {
    static const double axes[4] = {1, 0, 0, 1}, origin[2] = {0, 0};
    int m = 0;
    for (int i = 0; i < s->nc; i++) {
        int part = s->part[i], free = part == TI_INSIDE ? 2 : part <= s->pyramid->n ? 1 : 0;
        ti_nearest(s->pyramid, s->r[i], part, origin, s->t + 2 * i);
        for (int k = 0; k < free; k++, m++) {
            const double *e = free == 1 ? s->pyramid->e[part - 1] : NULL;
            s->pair[m] = i;
            s->dir[2 * m] = e ? -e[1] : axes[2 * k], s->dir[2 * m + 1] = e ? e[0] : axes[2 * k + 1];
        }
    }
    return m;
}

static bool factor(ti_polygons *s, int m) {
    int n = 2 * s->nc, ld = ti_ld(m);
    for (int a = 0; a < m; a++) {
        double *row = s->K + (size_t)a * ld;
        const double *S = s->S + (size_t)2 * s->pair[a] * n, *d = s->dir + 2 * a;
        for (int b = 0; b < ld; b++) row[b] = 0;
        for (int b = a; b < m; b++) {
            int j = 2 * s->pair[b];
            const double *e = s->dir + 2 * b;
            row[b] = d[0] * (S[j] * e[0] + S[j + 1] * e[1]) + d[1] * (S[n + j] * e[0] + S[n + j + 1] * e[1]);
        }
        row[a] += PROXIMITY;
    }
    return ti_chol(m, s->K, ld, 0) == 0;
}

/* s->t += dir x, with x the minimum of the quadratic with the proximal term. */
static void descend(ti_polygons *s, int m) {
    int n = 2 * s->nc;
    ti_matvec_t(n, n, s->S, n, s->t, s->q, s->c);
    for (int k = 0; k < n; k++) s->c[k] += PROXIMITY * (s->t[k] - s->anchor[k]);
    for (int a = 0; a < m; a++) {
        const double *c = s->c + 2 * s->pair[a], *d = s->dir + 2 * a;
        s->x[a] = -(d[0] * c[0] + d[1] * c[1]);
    }
    ti_chol_solve(m, s->K, ti_ld(m), s->x);
    for (int a = 0; a < m; a++) {
        double *t = s->t + 2 * s->pair[a];
        t[0] += s->dir[2 * a] * s->x[a], t[1] += s->dir[2 * a + 1] * s->x[a];
    }
}

/* Newton's method from the parts that s->t is on; true once these stay the same. */
static bool newton(ti_polygons *s, int steps) {
    int n = 2 * s->nc;
    memcpy(s->anchor, s->t, n * sizeof(double));
    look(s, s->part);
    for (int it = 0; it < steps; it++) {
        int m = span(s);
        if (!factor(s, m)) return false;
        descend(s, m);
        look(s, s->known);
        if (memcmp(s->known, s->part, s->nc) == 0) {
            for (int more = 0; more < 2; more++) { /* remove the proximal term */
                memcpy(s->anchor, s->t, n * sizeof(double));
                descend(s, m);
            }
            return true;
        }
        memcpy(s->part, s->known, s->nc);
    }
    return false;
}

static void project(void *context, double *z) {
    const ti_polygons *s = context;
    for (int i = 0; i < s->nc; i++) {
        const double t[2] = {z[2 * i], z[2 * i + 1]};
        ti_nearest(s->pyramid, s->r[i], ti_part(s->pyramid, s->r[i], t), t, z + 2 * i);
    }
}

static double largest(int n, const double *x) {
    double most = 0;
    for (int k = 0; k < n; k++) most = ti_max(most, fabs(x[k]));
    return most;
}

static bool near(void *context, const double *z) {
    ti_polygons *s = context;
    memcpy(s->t, z, 2 * s->nc * sizeof(double));
    return look(s, s->known) <= 1e-7 * largest(2 * s->nc, s->q);
}

bool ti_polygons_solve(ti_polygons *s, const double *q, const double *r, double *t) {
    int n = 2 * s->nc;
    for (int k = 0; k < n; k++) s->q[k] = s->unit[k / 2] * q[k], s->t[k] = t[k] / s->unit[k / 2];
    for (int i = 0; i < s->nc; i++) s->r[i] = r[i] / s->unit[i];
    double tol = 1e-9 * largest(n, s->q);
    if (!(newton(s, 12) && look(s, s->known) <= tol)) {
        const ti_admm_task task = {.n = n,
                                   .G = s->S,
                                   .g = s->q,
                                   .context = s,
                                   .project = project,
                                   .done = near,
                                   .tol = 1e-7,
                                   .relaxation = 1,
                                   .max_iter = 500};
        bool found;
        for (int k = 0; k < n; k++) s->t[k] = t[k] / s->unit[k / 2];
        memcpy(s->x, s->t, n * sizeof(double));
        ti_admm_run(&s->admm, &task, true, s->x, &found);
        memcpy(s->t, s->x, n * sizeof(double));
        if (!newton(s, 12) || !(look(s, s->known) <= tol)) memcpy(s->t, s->admm.z, n * sizeof(double));
    }
    bool fine = look(s, s->known) <= tol;
    for (int k = 0; k < n; k++) t[k] = s->unit[k / 2] * s->t[k];
    return fine;
}
