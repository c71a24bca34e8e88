/* curvature.c -- the curvature of a kicked motion, row by row from its end: kicks and start eliminated, theta left.
 *
 * docs/math.md eq. (148), (149): a Riccati recursion on (dx, dtheta), which is the elimination of the block-tridiagonal
 * arrow system in the order of time. Its cost is linear in the rows.
 */
#include "sysid/kicked/kicked.h"

size_t ti_smoother_size(const tribo_sizes *z, int nfree) {
    size_t ndx = (size_t)z->ndx, n = (size_t)nfree, nd = ndx + n + 1;
    return ndx * ndx + n * ndx + ndx * nd + nd * nd + nd * nd + nd + nd + nd * nd + nd * nd;
}

ti_smoother ti_smoother_of(const ti_worker *w) {
    const tribo_sysid *s = w->s;
    size_t ndx = (size_t)s->z.ndx, n = (size_t)s->nfree, nd = ndx + n + 1;
    double *at = s->shooting->scratch + (size_t)(w - s->worker) * s->shooting->scratch_size;
    ti_smoother m;
    m.A = at, at += ndx * ndx;
    m.C = at, at += n * ndx;
    m.Phi = at, at += ndx * nd;
    m.M = at, at += nd * nd;
    m.S = at, at += nd * nd;
    m.s = at, at += nd;
    m.z = at, at += nd;
    m.P = at, at += nd * nd;
    m.Q = at;
    return m;
}

/* Phi := A Phi + (0, C'), Phi (ndx,nd); C NULL = 0 */
static void chain(size_t ndx, size_t n, const double *A, const double *C, double *Phi, double *scratch) {
    size_t nd = ndx + n;
    memset(scratch, 0, ndx * nd * sizeof *scratch);
    for (size_t i = 0; i < ndx; i++) {
        double *row = scratch + i * nd;
        for (size_t k = 0; k < ndx; k++) {
            double a = A[i * ndx + k];
            const double *from = Phi + k * nd;
            if (a == 0) continue;
            for (size_t j = 0; j < nd; j++) row[j] += a * from[j];
        }
        for (size_t c = 0; C && c < n; c++) row[ndx + c] += C[c * ndx + i];
    }
    memcpy(Phi, scratch, ndx * nd * sizeof *Phi);
}

/* From row k, kick given, to the next: w->x, and Phi of the interval, Psi of its forces. P NULL: theta is held. */
static tribo_status advance_jac(ti_worker *w, const ti_track *t, int k, const double *p, const double *P, double *Phi,
                                double *Psi, bool *touched) {
    const tribo_sysid *s = w->s;
    ti_smoother m = ti_smoother_of(w);
    size_t ndx = (size_t)s->z.ndx, n = (size_t)s->nfree;
    memset(Phi, 0, ndx * (ndx + n) * sizeof *Phi);
    for (size_t i = 0; i < ndx; i++) Phi[i * (ndx + n) + i] = 1;
    memset(Psi, 0, 3 * (size_t)s->nplate * (ndx + n) * sizeof *Psi);
    *touched = false;
    for (ti_stride at = {.row = k}; ti_stride_left(t, &at);) {
        tribo_status status = ti_stride_next(w, t, p, true, &at);
        *touched |= status >= 0 && ti_touched(at.ws);
        if (status >= 0) status = ti_stride_jac(w, &at, P, m.A, m.C);
        if (status < 0) return status;
        if (t->force) status = ti_plates_jac(w, t, &at, P, Phi, Psi);
        if (status < 0) return status;
        chain(ndx, n, m.A, P ? m.C : NULL, Phi, m.M);
    }
    return TRIBO_OK;
}

/* A box that lands flat rattles from corner to corner, and derivatives of 1e10 are what that motion has: nothing to
 * follow. Columns are shortened to what a step of a fit can make use of. */
static const double steep = 30;
static void calm(const tribo_sysid *s, double *Phi) {
    size_t ndx = (size_t)s->z.ndx, nd = ndx + (size_t)s->nfree;
    const double *unit = s->shooting->unit;
    for (size_t j = 0; j < nd; j++) {
        double size = 0, of = j < ndx ? unit[ti_kind_at(s, (int)j)] : 1;
        for (size_t i = 0; i < ndx; i++) size = ti_max(size, fabs(Phi[i * nd + j]) / unit[ti_kind_at(s, (int)i)]);
        if (size * of <= steep) continue;
        double share = steep / (size * of);
        for (size_t i = 0; i < ndx; i++) Phi[i * nd + j] = isfinite(size) ? share * Phi[i * nd + j] : 0;
    }
}

/* The same of forces. */
static void calm_forces(const tribo_sysid *s, double *Psi) {
    size_t rows = 3 * (size_t)s->nplate, ndx = (size_t)s->z.ndx, nd = ndx + (size_t)s->nfree;
    for (size_t j = 0; j < nd; j++) {
        double size = 0, of = j < ndx ? s->shooting->unit[ti_kind_at(s, (int)j)] : 1;
        for (size_t i = 0; i < rows; i++) size = ti_max(size, of * fabs(Psi[i * nd + j]) / s->plate_unit);
        for (size_t i = 0; i < rows && !(size <= steep); i++)
            Psi[i * nd + j] = isfinite(size) ? steep / size * Psi[i * nd + j] : 0;
    }
}

/* The same of a block's gain and bias: the part of theta in S, and what is between that and x. */
static void add_columns(ti_worker *w, const ti_track *t, int row, const ti_block *b, const ti_measured *m, size_t nd,
                        double *S, double *g) {
    size_t n = (size_t)w->s->nfree, ndx = nd - n;
    double *J = w->wj;
    if (!ti_columns_jac(w->s, t, row, b, m, J)) return;
    for (int i = 0; i < m->n; i++)
        for (size_t a = 0; a < n; a++) {
            double j = m->slope * m->wt[i] * J[(size_t)i * n + a], *to = S + (ndx + a) * nd;
            if (j == 0) continue;
            g[ndx + a] += j * m->r[i];
            for (size_t c = 0; c < n; c++) to[ndx + c] += j * m->wt[i] * J[(size_t)i * n + c];
            for (int c = 0; c < m->n; c++) {
                double both = j * m->wt[i] * m->D[i][c];
                to[m->at + c] += both, S[(size_t)(m->at + c) * nd + ndx + a] += both;
            }
        }
}

/* S += J'J, s += J'r of a row's measurements; nothing else of S is touched than the x part, where no column has gain or
 * bias and no site was seen. S (nd,nd) */
static void add_row(ti_worker *w, const ti_track *t, int row, const double *x, size_t nd, double *S, double *g) {
    const tribo_sysid *s = w->s;
    ti_measured m;
    ti_marked_add(w, t, row, x, nd, S, g);
    ti_residual(s, t, row, x, w->r);
    for (int b = 0; b < s->nblock; b++) {
        if (ti_derived(s, t, row, b) || !ti_measured_block(s, t, row, x, w->r, &s->block[b], &m)) continue;
        add_columns(w, t, row, &s->block[b], &m, nd, S, g);
        for (int i = 0; i < m.n; i++)
            for (int a = 0; a < m.n; a++) {
                double j = m.slope * m.wt[i] * m.D[i][a], *to = S + (size_t)(m.at + a) * nd + (size_t)m.at;
                g[m.at + a] += j * m.r[i];
                for (int c = 0; c < m.n; c++) to[c] += j * m.wt[i] * m.D[i][c];
            }
    }
}

/* S := G' S G, g := G' g with G = (Phi; 0 1). */
static void pull_back(size_t ndx, size_t n, const double *Phi, double *S, double *g, double *M, double *z) {
    size_t nd = ndx + n;
    for (size_t i = 0; i < nd; i++) { /* M = S G */
        double *row = M + i * nd;
        memset(row, 0, nd * sizeof *row);
        for (size_t k = 0; k < ndx; k++) {
            double a = S[i * nd + k];
            const double *from = Phi + k * nd;
            if (a == 0) continue;
            for (size_t j = 0; j < nd; j++) row[j] += a * from[j];
        }
        for (size_t j = ndx; j < nd; j++) row[j] += S[i * nd + j];
    }
    for (size_t j = 0; j < nd; j++) z[j] = j < ndx ? 0 : g[j];
    for (size_t i = 0; i < nd; i++) /* S = G' M */
        for (size_t j = 0; j < nd; j++) S[i * nd + j] = i < ndx ? 0 : M[i * nd + j];
    for (size_t k = 0; k < ndx; k++)
        for (size_t i = 0; i < nd; i++) {
            double a = Phi[k * nd + i];
            const double *from = M + k * nd;
            z[i] += a * g[k];
            if (a == 0) continue;
            for (size_t j = 0; j < nd; j++) S[i * nd + j] += a * from[j];
        }
    memcpy(g, z, nd * sizeof *g);
}

/* Lower factor in place. What rounding has left of a direction that nothing says anything of is held by its own size:
 * `floor` is the least that a pivot may be of its diagonal. */
static void cholesky(size_t n, double *A, double *logdet) {
    const double floor = 1e-13;
    for (size_t i = 0; i < n; i++) {
        double diagonal = A[i * n + i];
        for (size_t j = 0; j <= i; j++) {
            double sum = A[i * n + j];
            for (size_t k = 0; k < j; k++) sum -= A[i * n + k] * A[j * n + k];
            if (i == j && !(sum > floor * diagonal)) sum = diagonal > 0 ? floor * diagonal : 1;
            A[i * n + j] = i == j ? sqrt(sum) : sum / A[j * n + j];
            if (i == j) *logdet += log(sum);
        }
    }
}

/* B (n,m) := A^-1 B by the lower factor. */
static void back_substitute(size_t n, const double *L, size_t m, double *B) {
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            for (size_t c = 0; c < m; c++) B[i * m + c] -= L[i * n + k] * B[k * m + c];
        for (size_t c = 0; c < m; c++) B[i * m + c] /= L[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            for (size_t c = 0; c < m; c++) B[i * m + c] -= L[k * n + i] * B[k * m + c];
        for (size_t c = 0; c < m; c++) B[i * m + c] /= L[i * n + i];
    }
}

/* The kick of a row taken out of S, g; its gains kept. */
static void eliminate_kick(const tribo_sysid *s, ti_path *path, int row, double *S, double *g) {
    size_t ndx = (size_t)s->z.ndx, nv = (size_t)s->z.nv, nd = ndx + (size_t)s->nfree, nb = nd + 1;
    double *L = path->chol + (size_t)row * nv * nv, *gain = path->gain + (size_t)row * nv * nb;
    const double *kick = path->w + (size_t)row * nv, *sigma = s->kick;
    double *precision = path->S;
    for (size_t i = 0; i < nv; i++) {
        double size = sigma[ti_kind_at(s, (int)i)];
        bool on = size > 0;
        precision[i] = 0;
        if (on) ti_kick_rho(s, kick, ti_kick_block(s, i), size, &precision[i]), precision[i] /= size * size;
        for (size_t j = 0; j < nv; j++)
            L[i * nv + j] = on && sigma[ti_kind_at(s, (int)j)] > 0 ? S[(nv + i) * nd + nv + j] : 0;
        L[i * nv + i] += on ? precision[i] : 1;
        path->logdet -= on ? log(precision[i]) : 0;
        for (size_t j = 0; j < nd; j++) gain[i * nb + j] = on ? -S[(nv + i) * nd + j] : 0;
        gain[i * nb + nd] = on ? -(g[nv + i] + precision[i] * kick[i]) : 0;
    }
    cholesky(nv, L, &path->logdet);
    back_substitute(nv, L, nb, gain);
    /* S - S_zw Sww^-1 S_wz = S + S_zw gain, with S_zw as it was */
    double *z = path->S; /* scratch until the end */
    for (size_t i = 0; i < nv; i++) memcpy(z + i * nd, S + (nv + i) * nd, nd * sizeof *z);
    for (size_t i = 0; i < nv; i++)
        for (size_t a = 0; a < nd; a++) {
            double c = z[i * nd + a];
            const double *from = gain + i * nb;
            if (c == 0) continue;
            for (size_t b = 0; b < nd; b++) S[a * nd + b] += c * from[b];
            g[a] += c * from[nd];
        }
    for (size_t a = 0; a < nd; a++)
        for (size_t b = 0; b < a; b++) S[a * nd + b] = S[b * nd + a] = (S[a * nd + b] + S[b * nd + a]) / 2;
}

/* Where rattling goes on for many rows without a kick, what comes after says nothing of what was before, and its weight
 * would leave nothing but rounding of all the rest. @return the share of that weight which stays. */
static double forget(const tribo_sysid *s, double *S, double *g) {
    const double most = 1e13;
    size_t ndx = (size_t)s->z.ndx, nd = ndx + (size_t)s->nfree;
    double size = 0;
    for (size_t i = 0; i < ndx; i++) {
        double unit = s->shooting->unit[ti_kind_at(s, (int)i)];
        size = ti_max(size, S[i * nd + i] * unit * unit);
    }
    if (size <= most) return 1;
    double share = isfinite(size) ? most / size : 0;
    for (size_t i = 0; i < nd * nd; i++) S[i] = share > 0 ? S[i] * share : 0;
    for (size_t i = 0; i < nd; i++) g[i] = share > 0 ? g[i] * share : 0;
    return share;
}

void ti_path_damp(const tribo_sysid *s, ti_path *path, double lambda, double *logdet) {
    size_t ndx = (size_t)s->z.ndx, n = (size_t)s->nfree, nb = n + 1, row = ndx + nb;
    const double *full = path->full;
    double *X = path->start;
    path->promise = 0;
    for (size_t i = 0; i < ndx; i++) {
        memcpy(path->start_chol + i * ndx, full + i * row, ndx * sizeof *full);
        memcpy(X + i * nb, full + i * row + ndx, nb * sizeof *full);
        path->start_chol[i * ndx + i] *= 1 + lambda;
    }
    cholesky(ndx, path->start_chol, logdet);
    back_substitute(ndx, path->start_chol, nb, X);
    for (size_t i = 0; i < ndx; i++) path->promise += full[i * row + ndx + n] * X[i * nb + n];
    for (size_t a = 0; a < n; a++) {
        const double *of = full + (ndx + a) * row;
        memcpy(path->H + a * n, of + ndx, n * sizeof *full);
        path->g[a] = of[ndx + n];
        for (size_t i = 0; i < ndx; i++) {
            for (size_t b = 0; b < n; b++) path->H[a * n + b] -= of[i] * X[i * nb + b];
            path->g[a] -= of[i] * X[i * nb + n];
        }
    }
}

/* The start taken out: H and g of theta. docs/math.md eq. (149). */
static void eliminate_start(ti_worker *w, const ti_track *t, ti_path *path, const double *S, const double *g) {
    const tribo_sysid *s = w->s;
    size_t ndx = (size_t)s->z.ndx, n = (size_t)s->nfree, nd = ndx + n;
    ti_smoother m = ti_smoother_of(w);
    const double *T = path->T;
    double *G = m.Phi; /* dx by (xi, theta): (ndx,nd) */
    for (size_t i = 0; i < ndx; i++) {
        for (size_t j = 0; j < ndx; j++) G[i * nd + j] = T[i * ndx + j];
        for (size_t a = 0; a < n; a++) G[i * nd + ndx + a] = path->X0[a * ndx + i];
    }
    memcpy(m.P, S, nd * nd * sizeof *S);
    memcpy(m.s, g, nd * sizeof *g);
    pull_back(ndx, n, G, m.P, m.s, m.M, m.z);
    tribo_state_difference(s->m, path->prior, path->x + (size_t)t->first * (size_t)s->z.nx, w->r);
    for (size_t i = 0; i < ndx; i++) {
        double size = s->shooting->prior[ti_kind_at(s, (int)i)], precision = 1 / (size * size);
        m.P[i * nd + i] += precision;
        m.s[i] += precision * w->r[i];
        path->logdet -= log(precision);
    }
    for (size_t i = 0; i < nd; i++) {
        memcpy(path->full + i * (nd + 1), m.P + i * nd, nd * sizeof *S);
        path->full[i * (nd + 1) + nd] = m.s[i];
    }
    ti_path_damp(s, path, 0, &path->logdet);
}

/* A name for the motion without kicks from where it starts; not 0. */
static uint64_t motion_of(const tribo_sysid *s, const ti_track *t, const ti_path *path, const double *p) {
    double end = ti_path_end(t, path);
    uint64_t name = tribo_hash(path->x + (size_t)t->first * (size_t)s->z.nx, (size_t)s->z.nx, 1);
    return tribo_hash(p, (size_t)s->z.np, tribo_hash(&end, 1, name)) | 1;
}

/* Phi is of path->linear, x becomes it again; or path->linear becomes x. */
static void recall(const tribo_sysid *s, const ti_track *t, ti_path *path) {
    memcpy(path->x, path->linear, ti_path_numbers(s, t->n) * sizeof(double));
    memcpy(path->touch, path->touch_linear, (size_t)t->n * sizeof(bool));
}

static void remember(const tribo_sysid *s, const ti_track *t, ti_path *path, uint64_t motion, uint64_t theta) {
    memcpy(path->linear, path->x, ti_path_numbers(s, t->n) * sizeof(double));
    memcpy(path->touch_linear, path->touch, (size_t)t->n * sizeof(bool));
    path->motion = motion, path->motion_theta = theta;
}

/* Phi of every interval along x, w as they are; of the motion that it is of already, it stays: noise may be another, or
 * the damping. */
static tribo_status forward(ti_worker *w, int track, const double *p, const double *P) {
    const tribo_sysid *s = w->s;
    const ti_track *t = s->track + track;
    ti_path *path = ti_path_of(w, track);
    uint64_t motion = ti_kicked(s) ? 0 : motion_of(s, t, path, p);
    uint64_t theta = P ? tribo_hash(P, (size_t)s->nfree * (size_t)s->z.np, 1) | 1 : 0;
    if (motion && motion == path->motion && (!P || theta == path->motion_theta)) {
        recall(s, t, path);
        return TRIBO_OK;
    }
    path->motion = 0;
    size_t nx = (size_t)s->z.nx, nv = (size_t)s->z.nv, ndx = (size_t)s->z.ndx, nd = ndx + (size_t)s->nfree;
    memcpy(w->x, path->x + (size_t)t->first * nx, nx * sizeof(double));
    for (int k = t->first; k < ti_path_end(t, path) - 1; k++) {
        double *kick = path->w + (size_t)k * nv;
        ti_path_kick(s, t, path->touch, k, kick);
        for (size_t i = 0; i < nv; i++) w->x[(size_t)s->z.nq + i] += kick[i];
        double *Psi = path->Psi + (size_t)k * 3 * (size_t)s->nplate * nd;
        tribo_status status = advance_jac(w, t, k, p, P, path->Phi + (size_t)k * ndx * nd, Psi, &path->touch[k]);
        if (status < 0) return status;
        ti_plates_keep(w, t, k, ti_path_forces(s, t, path->x));
        calm_forces(s, Psi);
        memcpy(path->x + (size_t)(k + 1) * nx, w->x, nx * sizeof(double));
        calm(s, path->Phi + (size_t)k * ndx * nd);
    }
    remember(s, t, path, motion, theta);
    return TRIBO_OK;
}

/* How the start moves: freely, or on what it stands on. */
static bool start_tangents(ti_worker *w, int track, const double *p, const double *P) {
    const tribo_sysid *s = w->s;
    const ti_track *t = s->track + track;
    ti_path *path = ti_path_of(w, track);
    size_t ndx = (size_t)s->z.ndx, n = (size_t)s->nfree;
    memset(path->X0, 0, n * ndx * sizeof(double));
    for (size_t i = 0; i < ndx * ndx; i++) path->T[i] = i % (ndx + 1) == 0;
    if (!t->nstand) return true;
    if (!ti_settle_jac(w, t, p, P, path->x + (size_t)t->first * (size_t)s->z.nx, path->T)) return false;
    memcpy(path->X0, w->x0d, n * ndx * sizeof(double));
    return true;
}

/* Without what theta does to the motion where it is held. */
static tribo_status linearise(ti_worker *w, int track, const double *p, const double *P, bool held) {
    const tribo_sysid *s = w->s;
    const ti_track *t = s->track + track;
    ti_path *path = ti_path_of(w, track);
    size_t nx = (size_t)s->z.nx, ndx = (size_t)s->z.ndx, n = (size_t)s->nfree, nd = ndx + n;
    ti_smoother m = ti_smoother_of(w);
    double *own = w->pd + ndx * (size_t)s->z.np;
    memcpy(own, P, n * (size_t)s->z.np * sizeof *P);
    tribo_status status = forward(w, track, p, held ? NULL : own);
    if (status < 0) return status;
    if (!start_tangents(w, track, p, P)) return TRIBO_E_SINGULAR;
    path->cost = ti_path_cost(w, track, path->x, path->w, path->touch);
    path->logdet = 0;
    memset(m.S, 0, nd * nd * sizeof(double));
    memset(m.s, 0, nd * sizeof(double));
    for (int k = ti_path_end(t, path) - 1;; k--) {
        add_row(w, t, k, path->x + (size_t)k * nx, nd, m.S, m.s);
        if (k == t->first) break;
        pull_back(ndx, n, path->Phi + (size_t)(k - 1) * ndx * nd, m.S, m.s, m.M, m.z);
        ti_pressed_add(w, t, k, ti_path_forces(s, t, path->x), path->Psi + (size_t)(k - 1) * 3 * (size_t)s->nplate * nd,
                       m.S, m.s);
        path->left[k] = forget(s, m.S, m.s);
        if (ti_path_node(s, t, path->touch, k - 1)) eliminate_kick(s, path, k - 1, m.S, m.s);
    }
    eliminate_start(w, t, path, m.S, m.s);
    return isfinite(path->cost) ? TRIBO_OK : TRIBO_E_NONFINITE;
}

tribo_status ti_path_linearise(ti_worker *w, int track, const double *p, const double *P) {
    return linearise(w, track, p, P, false);
}

tribo_status ti_path_linearise_start(ti_worker *w, int track, const double *p, const double *P) {
    return linearise(w, track, p, P, true);
}
