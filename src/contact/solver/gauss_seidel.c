/* gauss_seidel.c -- projected Gauss-Seidel: contact by contact, each by the law's own solution of one contact; where
 * that is slow, with Anderson's mixing of whole sweeps. docs/math.md eq. (83), (74).
 */
#include "base/clones.h"
#include "contact/law/bisection.h"
#include "contact/problem/products.h"
#include "contact/solver/solvers.h"
#include "contact/work/anderson.h"
#include <math.h>

/* Sweeps before mixing begins; differences that are mixed; sweeps in a window; windows without progress before it gives
 * up. */
enum { PLAIN = 12, MEMORY = 10, WINDOW = 100, IDLE = 20 };

typedef struct sweep {
    ti_law_contact *contact; /* (nc) */
    ti_law_steps *steps;     /* (nc) */
    double *inverse;         /* (9 nc) of G_ii */
    double *unit; /* (nc) square root of the normal's diagonal of G: makes an impulse the root of an energy */
    double *before, *f;
    ti_anderson mixing;
    double size; /* largest impulse */
} sweep;

_Static_assert(sizeof(sweep) <= TI_SCRATCH_MAX, "scratch of the sweep");

void ti_sweep_carve(ti_arena *m, const ti_contact_sizes *sizes, void *scratch) {
    sweep *s = scratch;
    TI_CARVE(m, s->contact, sizes->nc);
    TI_CARVE(m, s->steps, sizes->nc);
    TI_CARVE(m, s->inverse, 9 * (size_t)sizes->nc);
    TI_CARVE(m, s->unit, sizes->nc);
    TI_CARVE(m, s->before, 3 * (size_t)sizes->nc);
    TI_CARVE(m, s->f, 3 * (size_t)sizes->nc);
    ti_anderson_carve(m, 3 * sizes->nc, MEMORY, &s->mixing);
}

/* B = A^-1, A symmetric (3,3) */
static void invert(const double *A, double *B) {
    double a = A[4] * A[8] - A[5] * A[5], b = A[2] * A[5] - A[1] * A[8], c = A[1] * A[5] - A[2] * A[4];
    double d = 1 / (A[0] * a + A[1] * b + A[2] * c);
    B[0] = a * d, B[1] = B[3] = b * d, B[2] = B[6] = c * d;
    B[4] = (A[0] * A[8] - A[2] * A[2]) * d, B[5] = B[7] = (A[1] * A[2] - A[0] * A[5]) * d;
    B[8] = (A[0] * A[4] - A[1] * A[1]) * d;
}

static void begin(ti_contact_ws *ws, const ti_contact_problem *p) {
    sweep *s = ws->scratch;
    for (int i = 0; i < p->nc; i++) {
        s->contact[i] = ti_law_contact_of(ws, p, i, ws->lambda);
        s->contact[i].inverse = s->inverse + 9 * i, s->contact[i].steps = s->steps + i;
        s->steps[i] = ti_law_steps_of(s->contact[i].Gii);
        invert(s->contact[i].Gii, s->inverse + 9 * i);
        s->unit[i] = sqrt(s->contact[i].Gii[8]);
    }
    ti_anderson_forget(&s->mixing, 3 * p->nc);
}

/* ---------------------------------------------------------------- one sweep */

TI_INLINE void add_rows(int w, const double *J, const double *v, double *c) {
    double s0 = 0, s1 = 0, s2 = 0;
    for (int k = 0; k < w; k++) s0 += J[k] * v[k], s1 += J[w + k] * v[k], s2 += J[2 * w + k] * v[k];
    c[0] += s0, c[1] += s1, c[2] += s2;
}

TI_INLINE void add_columns(int w, const double *restrict W, const double *d, double *restrict v) {
    for (int k = 0; k < w; k++) v[k] += W[k] * d[0] + W[w + k] * d[1] + W[2 * w + k] * d[2];
}

/* c (3) += J_i v */
TI_INLINE void relative(const ti_contact_problem *p, int i, const double *v, double *c) {
    int a = p->a[i], b = p->b[i], wa = p->width[a];
    const double *J = p->J + p->joff[i];
    if (wa == 6)
        add_rows(6, J, v + p->voff[a], c);
    else
        add_rows(wa, J, v + p->voff[a], c);
    if (b < 0) return;
    if (p->width[b] == 6)
        add_rows(6, J + 3 * (size_t)wa, v + p->voff[b], c);
    else
        add_rows(p->width[b], J + 3 * (size_t)wa, v + p->voff[b], c);
}

/* v += M^-1 J_i' d */
TI_INLINE void push(const ti_contact_ws *ws, const ti_contact_problem *p, int i, const double *d, double *v) {
    int a = p->a[i], b = p->b[i], wa = p->width[a];
    const double *W = ws->G.W + p->joff[i];
    if (wa == 6)
        add_columns(6, W, d, v + p->voff[a]);
    else
        add_columns(wa, W, d, v + p->voff[a]);
    if (b < 0) return;
    if (p->width[b] == 6)
        add_columns(6, W + 3 * (size_t)wa, d, v + p->voff[b]);
    else
        add_columns(p->width[b], W + 3 * (size_t)wa, d, v + p->voff[b]);
}

/* The gauge of t over mu: 1 on the edge of the disk, or of the polygon, for a normal impulse of 1. */
static double gauge(const ti_contact_ws *ws, double mu, const double *t) {
    if (ws->options.law != TRIBO_LAW_LCP) return sqrt(t[0] * t[0] + t[1] * t[1]) / mu;
    const ti_pyramid *y = &ws->pyramid;
    double most = 0;
    for (int k = 0; k < y->n; k++) {
        const double *d = y->d[k], *e = y->d[(k + 1) % y->n];
        double edge[2] = {e[0] - d[0], e[1] - d[1]};
        most = ti_max(most, (edge[0] * t[1] - edge[1] * t[0]) / (edge[0] * d[1] - edge[1] * d[0]));
    }
    return most / mu;
}

/* Over- or under-relaxation, and a projection back on the cone where that, or the mixing, has left it. */
static void relax(const ti_contact_ws *ws, double mu, const double *before, double *l) {
    double w = ws->options.relaxation;
    for (int r = 0; r < 3; r++) l[r] = before[r] + w * (l[r] - before[r]);
    if (!(l[2] > 0)) l[2] = l[2] <= 0 ? 0 : l[2];
    double over = l[2] > 0 && mu > 0 ? gauge(ws, mu, l) / l[2] : HUGE_VAL;
    if (over > 1) l[0] /= over, l[1] /= over;
}

/* Returns the largest change of an impulse; what each changed by is in s->before with its sign turned. */
static TI_CLONES_WIDE double sweep_once(ti_contact_ws *ws, const ti_contact_problem *p, ti_local *local) {
    sweep *s = ws->scratch;
    double change = 0, size = 0, *v = ws->v;
    bool relaxed = ws->options.relaxation != 1;
    for (int i = 0; i < p->nc; i++) {
        const double *Gii = s->contact[i].Gii, *ref = p->ref + 3 * i;
        double *l = ws->lambda + 3 * i, *before = s->before + 3 * i, free[3] = {ref[0], ref[1], ref[2]}, d[3];
        memcpy(before, l, 3 * sizeof *l);
        relative(p, i, v, free);
        for (int r = 0; r < 3; r++) free[r] -= Gii[3 * r] * l[0] + Gii[3 * r + 1] * l[1] + Gii[3 * r + 2] * l[2];
        for (int r = 0; p->R && r < 3; r++) free[r] += p->R[3 * i + r] * l[r]; /* which is in G_ii, but not in J v */
        if (!ti_is_contact(p, i)) {
            if (ti_is_spin(p, i)) s->contact[i].push = ti_max(ti_push_of(p, i, ws->lambda), 0);
            ti_law_at(ws, p, i)->local(s->contact + i, free, l);
        } else
            local(s->contact + i, free, l);
        if (relaxed && ti_is_contact(p, i)) relax(ws, p->mu[i], before, l);
        for (int r = 0; r < 3; r++) {
            d[r] = l[r] - before[r];
            change = ti_max(change, fabs(d[r])), size = ti_max(size, fabs(l[r]));
        }
        push(ws, p, i, d, v);
    }
    s->size = size;
    return change;
}

/* v = vfree + M^-1 J' lambda, without the rounding that sweeps add up */
static TI_CLONES_WIDE void refresh(ti_contact_ws *ws, const ti_contact_problem *p) {
    memcpy(ws->v, p->vfree, p->nv * sizeof(double));
    for (int i = 0; i < p->nc; i++) push(ws, p, i, ws->lambda + 3 * i, ws->v);
}

/* ---------------------------------------------------------------- many */

static void mix(ti_contact_ws *ws, const ti_contact_problem *p) {
    sweep *s = ws->scratch;
    for (int k = 0; k < 3 * p->nc; k++) s->f[k] = s->unit[k / 3] * (ws->lambda[k] - s->before[k]);
    ti_anderson_mix(&s->mixing, s->f, ws->lambda);
    refresh(ws, p);
}

/* Progress of the sweeps. */
typedef struct record {
    double best, gate; /* least residual, its impulses in ws->lb; the relative change below which to compute it again */
    double least, mark; /* least change, and that at the last window */
    int idle, plain;    /* windows without progress; sweeps that are not mixed */
} record;

/* Compute the law's residual and keep the best. True if it is below tol. */
static bool good(ti_contact_ws *ws, const ti_contact_problem *p, record *k, double change, double tol) {
    double r = ti_contact_law_residual(ws, p, ws->v, ws->lambda);
    k->gate = 0.5 * change;
    if (!(r < k->best)) return false;
    k->best = r;
    memcpy(ws->lb, ws->lambda, 3 * p->nc * sizeof(double));
    return r <= tol;
}

/* At the end of a window. Without progress the mixing starts anew, after more and more plain sweeps; false if that has
 * been tried often enough. */
static bool patient(sweep *s, record *k, int it) {
    bool progress = k->least < 0.99 * k->mark;
    k->mark = k->least, k->idle = progress ? 0 : k->idle + 1;
    if (progress) return true;
    k->plain = it + PLAIN * k->idle;
    ti_anderson_forget(&s->mixing, s->mixing.n);
    return k->idle < IDLE;
}

void ti_sweep_by(ti_contact_ws *ws, const ti_contact_problem *p, double tol, ti_local *local) {
    record k = {HUGE_VAL, 30 * tol, HUGE_VAL, HUGE_VAL, 0, PLAIN};
    double before = HUGE_VAL;
    sweep *s = ws->scratch;
    begin(ws, p);
    for (int it = 1; it <= ws->max_iter; it++) {
        double change = sweep_once(ws, p, local) / s->size;
        ws->iterations++;
        if (!(change > k.gate) && good(ws, p, &k, change, tol)) return;
        if (!(change > 1e-15)) break; /* rounding, or NaN */
        if (change < k.least) k.least = change;
        if (it % WINDOW == 0 && !patient(s, &k, it)) break;
        if (change > 2 * before) ti_anderson_forget(&s->mixing, s->mixing.n);
        before = change;
        if (it >= k.plain) mix(ws, p);
    }
    if (good(ws, p, &k, 0, tol) || !(k.best < HUGE_VAL)) return;
    memcpy(ws->lambda, ws->lb, 3 * p->nc * sizeof(double));
}

void ti_sweep_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol) {
    ti_sweep_by(ws, p, tol, ws->law->local);
}

void ti_bisection_corrected_run(ti_contact_ws *ws, const ti_contact_problem *p, double tol) {
    ti_sweep_by(ws, p, tol, ti_bisect_ncp);
}
