/* markers.c -- sites that were seen: the poses that follow from them row by row, where no column has these, and what is
 * left of them at a state. docs/math.md eq. (442), (443). */
#include "math/vec.h"
#include "sysid/track/fit.h"
#include <stdlib.h>

enum { PASSES = 40, TURNS = 24 };
static const double prior = 1e-6; /* precision of a pose that nothing says anything of, in extents and rad */
static const double known = 0.01; /* of that prior's variance: what markers leave open of a number that they tell */

/* ---- what is left of a marker ---- */

tribo_status ti_markers_place(ti_worker *w, const double *x) {
    return tribo_dynamics_set_state(w->place, x);
}

const double *ti_marker_seen(const tribo_sysid *s, const ti_track *t, int row, int site) {
    const double *y = t->mark ? t->mark + 3 * ((size_t)row * (size_t)s->z.nsite + (size_t)site) : NULL;
    return y && !isnan(y[0] + y[1] + y[2]) ? y : NULL;
}

/* Where a site is at p: its body's frame and its place in it. */
static ti_vec place_of(ti_worker *w, const double *p, int site, ti_mat *R, ti_vec *arm) {
    const ti_site *at = &w->s->m->site[site];
    double pos[3] = {0}, quat[4] = {1, 0, 0, 0};
    if (tribo_body_pose(w->place, at->body, pos, quat)) pos[0] = NAN;
    *R = ti_quat_mat(quat);
    *arm = ti_mul(R, ti_load3(p + at->p));
    return ti_add(ti_load3(pos), *arm);
}

/* J (3,nv): how it moves with the state's tangent. */
static void slope_of(ti_worker *w, int site, ti_vec arm, double *J) {
    size_t nv = (size_t)w->s->z.nv;
    double *twist = w->mark_twist;
    int body = w->s->m->site[site].body;
    memset(J, 0, 3 * nv * sizeof *J);
    if (body < 0 || tribo_body_jacobian(w->place, body, twist)) return;
    for (size_t i = 0; i < nv; i++) {
        ti_vec turn = {twist[3 * nv + i], twist[4 * nv + i], twist[5 * nv + i]}, moved = ti_cross(turn, arm);
        J[i] = twist[i] + moved.x, J[nv + i] = twist[nv + i] + moved.y, J[2 * nv + i] = twist[2 * nv + i] + moved.z;
    }
}

bool ti_marker(ti_worker *w, const ti_track *t, int row, int site, bool slopes, ti_marked *m) {
    const tribo_sysid *s = w->s;
    size_t nv = (size_t)s->z.nv, ndx = (size_t)s->z.ndx, nd = ndx + (size_t)s->nfree, np = (size_t)s->z.np;
    const double *y = ti_marker_seen(s, t, row, site);
    ti_mat R;
    ti_vec arm;
    if (!y) return false;
    ti_store3(m->r, ti_scale(s->mark_weight, ti_sub(place_of(w, s->p, site, &R, &arm), ti_load3(y))));
    m->square = m->r[0] * m->r[0] + m->r[1] * m->r[1] + m->r[2] * m->r[2];
    m->rho = ti_rho(s, s->mark_group, m->square, &m->slope);
    if (!slopes) return true;
    double *J = w->mark_J;
    slope_of(w, site, arm, J);
    memset(w->mark_D, 0, 3 * nd * sizeof *J);
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < nv; j++) w->mark_D[i * nd + j] = s->mark_weight * J[i * nv + j];
        for (size_t a = 0; a < (size_t)s->nfree; a++) {
            const double *by = s->P + a * np + s->m->site[site].p;
            double sum = R.m[i][0] * by[0] + R.m[i][1] * by[1] + R.m[i][2] * by[2];
            w->mark_D[i * nd + ndx + a] = s->mark_weight * sum;
        }
    }
    m->D = w->mark_D;
    return true;
}

/* ---- poses by markers ---- */

/* Numbers of a tangent whose place in a row nobody measured; the others of x are taken from there. */
static void open_numbers(const tribo_sysid *s, const double *row, double *x, bool *open) {
    for (int i = 0; i < s->nblock; i++) {
        const ti_block *b = &s->block[i];
        int from = ti_block_source(s, b), n = b->quat >= 0 ? 4 : b->n;
        bool any = false;
        if (b->kind > TRIBO_BLOCK_ROTATION) continue;
        for (int j = from; j < from + n; j++) any |= isnan(row[j]);
        for (int j = from; j < from + n && !any; j++) x[j] = row[j];
        for (int j = b->at; j < b->at + b->n; j++) open[j] = any;
    }
}

/* A (nv,nv) = J'J + prior of a row's markers at x, b = J'r, in extents; numbers that are not open hold still. @return
 * the mean square of what is left, m^2; < 0 = nothing was seen. */
static double normal(ti_worker *w, const ti_track *t, int row, const double *x, const bool *open, double *A,
                     double *b) {
    const tribo_sysid *s = w->s;
    size_t nv = (size_t)s->z.nv;
    double square = 0, L = tribo_model_extent(s->m), *J = w->mark_J;
    int n = 0;
    memset(A, 0, nv * nv * sizeof *A), memset(b, 0, nv * sizeof *b);
    if (ti_markers_place(w, x)) return HUGE_VAL;
    for (int site = 0; site < s->z.nsite; site++) {
        const double *y = ti_marker_seen(s, t, row, site);
        ti_mat R;
        ti_vec arm;
        if (!y) continue;
        double r[3];
        ti_store3(r, ti_scale(1 / L, ti_sub(place_of(w, s->p0, site, &R, &arm), ti_load3(y))));
        slope_of(w, site, arm, J);
        for (size_t j = 0; j < nv; j++) { /* one is an extent, or a radian */
            double unit = open[j] ? (tribo_model_turns(s->m, (int)j) ? 1 / L : 1) : 0;
            for (size_t i = 0; i < 3; i++) J[i * nv + j] *= unit;
        }
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < nv; j++) {
                b[j] += J[i * nv + j] * r[i];
                for (size_t k = 0; k < nv; k++) A[j * nv + k] += J[i * nv + j] * J[i * nv + k];
            }
        square += (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) * L * L, n++;
    }
    for (size_t j = 0; j < nv; j++) A[j * (nv + 1)] += open[j] ? prior : 1;
    return n ? square / n : -1;
}

/* Least squares from x on. @return the mean square that is left; < 0 = nothing was seen. */
static double descend(ti_worker *w, const ti_track *t, int row, double *x, const bool *open) {
    const tribo_sysid *s = w->s;
    int nv = s->z.nv;
    double *A = w->A, *b = w->r, *step = w->xnext, L = tribo_model_extent(s->m), lambda = 1e-6;
    double now = normal(w, t, row, x, open, A, b);
    for (int pass = 0; pass < PASSES && now > 0; pass++) {
        double longest = 0;
        memset(step, 0, (size_t)s->z.ndx * sizeof *step);
        for (int j = 0; j < nv; j++) A[j * (nv + 1)] *= 1 + lambda, step[j] = -b[j];
        if (!ti_spd_solve(nv, A, 1, step)) break;
        for (int j = 0; j < nv; j++) {
            longest = ti_max(longest, fabs(step[j]));
            if (!tribo_model_turns(s->m, j)) step[j] *= L;
        }
        tribo_state_add(s->m, x, step, w->x0);
        double then = normal(w, t, row, w->x0, open, A, b);
        bool better = then <= now;
        if (better) memcpy(x, w->x0, (size_t)s->z.nx * sizeof *x), now = then;
        if (longest < 1e-9) break;
        lambda = better ? 0.1 * lambda : 10 * lambda + 1e-3;
        if (!better) now = normal(w, t, row, x, open, A, b);
    }
    return now;
}

/* The turns of a cube: one to each of its faces, then about that. */
static void turn_of(int k, double q[4]) {
    static const double face[6][2] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {0, 1}, {0, 3}};
    const double quarter = 1.5707963267948966, *to = face[k / 4];
    double up[4], spin[4];
    ti_quat_exp((ti_vec){quarter * to[0], quarter * to[1], 0}, up);
    ti_quat_exp((ti_vec){0, 0, quarter * (k % 4)}, spin);
    ti_quat_mul(up, spin, q);
}

/* From every turn of everything that turns freely, the best. */
static double look_around(ti_worker *w, const ti_track *t, int row, double *x, const bool *open, double now) {
    const tribo_sysid *s = w->s;
    size_t nx = (size_t)s->z.nx;
    for (int i = 0; i < s->nblock; i++) {
        const ti_block *b = &s->block[i];
        if (b->quat < 0 || !open[b->at]) continue;
        memcpy(w->before, x, nx * sizeof *x);
        for (int k = 0; k < TURNS; k++) {
            memcpy(w->x, w->before, nx * sizeof *x);
            turn_of(k, w->x + b->quat);
            double then = descend(w, t, row, w->x, open);
            if (then < now) now = then, memcpy(x, w->x, nx * sizeof *x);
        }
    }
    return now;
}

/* Into a row goes what its markers tell; the rest stays unknown. */
static bool take(ti_worker *w, ti_track *t, int row, const double *x, const bool *open) {
    const tribo_sysid *s = w->s;
    size_t nv = (size_t)s->z.nv, nx = (size_t)s->z.nx, nb = (size_t)s->nblock;
    double *C = w->by_x;
    if (normal(w, t, row, x, open, w->A, w->r) < 0) return true;
    for (size_t i = 0; i < nv * nv; i++) C[i] = i % (nv + 1) == 0;
    if (!ti_spd_solve((int)nv, w->A, (int)nv, C)) return false;
    for (size_t i = 0; i < nb; i++) {
        const ti_block *b = &s->block[i];
        bool told = b->kind <= TRIBO_BLOCK_ROTATION && open[b->at];
        for (int j = b->at; told && j < b->at + b->n; j++) told = prior * C[(size_t)j * (nv + 1)] < known;
        t->derived[(size_t)row * nb + i] = told;
        if (!told) continue;
        size_t from = (size_t)ti_block_source(s, b), n = b->quat >= 0 ? 4 : (size_t)b->n;
        memcpy(t->x + (size_t)row * nx + from, x + from, n * sizeof *x);
    }
    return true;
}

/* Distances of two markers of one body over those of the scene, in list. @return how many. */
static size_t ratios(const tribo_sysid *s, const ti_track *t, double *list, size_t most) {
    size_t n = 0;
    for (int k = 0; k < t->n; k++)
        for (int i = 0; i < s->z.nsite; i++)
            for (int j = 0; j < i && n < most; j++) {
                const ti_site *a = &s->m->site[i], *b = &s->m->site[j];
                const double *y = ti_marker_seen(s, t, k, i), *z = ti_marker_seen(s, t, k, j);
                double is = ti_norm(ti_sub(ti_load3(s->p0 + a->p), ti_load3(s->p0 + b->p)));
                if (!y || !z || a->body != b->body || !(is > 0)) continue;
                list[n++] = ti_norm(ti_sub(ti_load3(y), ti_load3(z))) / is;
            }
    return n;
}

/* Units, and markers that are not where the scene has them. left (n): root mean squares of the rows. */
static tribo_status doubt(tribo_sysid *s, const ti_track *t, double *left, size_t n, tribo_diag *diag) {
    const double far = 0.15, L = tribo_model_extent(s->m);
    double *list = s->norms;
    size_t count = ratios(s, t, list, (size_t)s->intervals * (size_t)s->nblock);
    qsort(list, count, sizeof *list, ti_ascending);
    double ratio = count ? list[count / 2] : 1;
    if (ratio > 2 || ratio < 0.5)
        return ti_fail(diag, TRIBO_E_ARG, 0, "markers are %.3g times as far apart as their sites%s", ratio,
                       fabs(ratio / 1000 - 1) < 0.2  ? ": are they in millimetres?"
                       : fabs(ratio / 100 - 1) < 0.2 ? ": are they in centimetres?"
                                                     : "");
    qsort(left, n, sizeof *left, ti_ascending);
    if (n && left[n / 2] > far * L)
        return ti_fail(diag, TRIBO_E_ARG, 0,
                       "in no pose are the sites nearer to the markers than %.3g m: are names exchanged, or axes?",
                       left[n / 2]);
    return TRIBO_OK;
}

tribo_status ti_markers_pose(tribo_sysid *s, ti_track *t, tribo_diag *diag) {
    const double near = 0.05;
    ti_worker *w = s->worker;
    size_t nx = (size_t)s->z.nx, n = 0;
    double L = tribo_model_extent(s->m), *now = w->mark_x, *left = s->X;
    tribo_model_state0(s->m, now);
    for (int k = 0; k < t->n; k++) {
        const double *row = t->x + (size_t)k * nx;
        bool first = n == 0;
        open_numbers(s, row, now, w->mark_open);
        double square = descend(w, t, k, now, w->mark_open);
        if (square < 0) continue;
        if (first || square > near * near * L * L) square = look_around(w, t, k, now, w->mark_open, square);
        if (!take(w, t, k, now, w->mark_open)) return TRIBO_E_SINGULAR;
        left[n++] = sqrt(square);
    }
    return doubt(s, t, left, n, diag);
}
