/* smooth.c -- what is known of a kicked motion: covariance of its states, and of what noise it speaks.
 * docs/math.md eq. (321), (322). */
#include "sysid/kicked/kicked.h"

/* P (nd,nd) of (dx, dtheta) at the first row. */
static void spread_start(ti_worker *w, const ti_path *path, const double *cov, double *P, double *F, double *M) {
    const tribo_sysid *s = w->s;
    size_t ndx = (size_t)s->z.ndx, n = (size_t)s->nfree, nd = ndx + n, nb = n + 1;
    memset(P, 0, nd * nd * sizeof *P);
    for (size_t i = 0; i < ndx; i++)
        for (size_t a = 0; a < n; a++) {
            F[i * n + a] = path->X0[a * ndx + i];
            for (size_t j = 0; j < ndx; j++) F[i * n + a] -= path->T[i * ndx + j] * path->start[j * nb + a];
        }
    for (size_t a = 0; a < n; a++) memcpy(P + (ndx + a) * nd + ndx, cov + a * n, n * sizeof *P);
    for (size_t i = 0; i < ndx; i++)
        for (size_t a = 0; a < n; a++) {
            double sum = 0;
            for (size_t b = 0; b < n; b++) sum += F[i * n + b] * cov[b * n + a];
            P[i * nd + ndx + a] = P[(ndx + a) * nd + i] = sum;
        }
    for (size_t i = 0; i < ndx; i++) /* M = L^-1 T' by columns: T S^-1 T' = M'M */
        for (size_t r = 0; r < ndx; r++) {
            double sum = path->T[i * ndx + r];
            for (size_t k = 0; k < r; k++) sum -= path->start_chol[r * ndx + k] * M[k * ndx + i];
            M[r * ndx + i] = sum / path->start_chol[r * ndx + r];
        }
    for (size_t i = 0; i < ndx; i++)
        for (size_t j = 0; j < ndx; j++) {
            double sum = 0;
            for (size_t r = 0; r < ndx; r++) sum += M[r * ndx + i] * M[r * ndx + j];
            for (size_t a = 0; a < n; a++) sum += P[i * nd + ndx + a] * F[j * n + a];
            P[i * nd + j] = sum;
        }
}

/* A share, which rounding may have left outside of what it can be where a motion rattles. */
static double share_of(double x) {
    return x > 0 ? x < 1 ? x : 1 : 0;
}

/* What gain and bias add to the variance of number i of a block. J (3,nfree) */
static double column_variance(const tribo_sysid *s, const ti_measured *m, int i, const double *J, size_t nd,
                              const double *P) {
    size_t n = (size_t)s->nfree, ndx = nd - n;
    double sum = 0;
    for (size_t a = 0; a < n; a++) {
        double j = J[(size_t)i * n + a];
        for (size_t c = 0; c < n && j != 0; c++) sum += j * P[(ndx + a) * nd + ndx + c] * J[(size_t)i * n + c];
        for (int c = 0; c < m->n && j != 0; c++) sum += 2 * j * P[(ndx + a) * nd + (size_t)(m->at + c)] * m->D[i][c];
    }
    return sum;
}

static void count_row(ti_worker *w, const ti_track *t, int row, const double *x, size_t nd, const double *P,
                      ti_noise_sums *sums) {
    const tribo_sysid *s = w->s;
    ti_measured m;
    ti_marked_count(w, t, row, x, nd, P, sums);
    ti_residual(s, t, row, x, w->r);
    for (int b = 0; b < s->nblock; b++) {
        int group = ti_noise_of(s, t, row, s->block[b].group);
        if (ti_derived(s, t, row, b) || !ti_measured_block(s, t, row, x, w->r, &s->block[b], &m)) continue;
        sums->square[group] += m.slope * m.square;
        bool columns = ti_columns_jac(s, t, row, &s->block[b], &m, w->wj);
        for (int i = 0; i < m.n; i++) {
            double variance = columns ? column_variance(s, &m, i, w->wj, nd, P) : 0;
            for (int a = 0; a < m.n; a++)
                for (int c = 0; c < m.n; c++)
                    variance += m.D[i][a] * P[(size_t)(m.at + a) * nd + (size_t)(m.at + c)] * m.D[i][c];
            double wt = m.wt[i];
            sums->freedom[group] += wt > 0 ? m.slope * share_of(1 - m.slope * wt * wt * variance) : 0;
        }
    }
}

/* P after the kick; what the data say of it. M (nv,nd), Q (nv,nv) scratch. */
static void spread_kick(const tribo_sysid *s, const ti_path *path, int row, double *P, double *M, double *Q,
                        ti_noise_sums *sums) {
    size_t ndx = (size_t)s->z.ndx, nv = (size_t)s->z.nv, nd = ndx + (size_t)s->nfree, nb = nd + 1;
    const double *gain = path->gain + (size_t)row * nv * nb, *L = path->chol + (size_t)row * nv * nv;
    const double *kick = path->w + (size_t)row * nv;
    const double *sigma = s->kick;
    for (size_t i = 0; i < nv; i++) { /* Q = L^-1 */
        for (size_t j = 0; j < nv; j++) {
            double sum = i == j;
            for (size_t k = 0; k < i; k++) sum -= L[i * nv + k] * Q[k * nv + j];
            Q[i * nv + j] = sum / L[i * nv + i];
        }
    }
    memset(M, 0, nv * nd * sizeof *M);
    for (size_t i = 0; i < nv; i++) /* M = K P */
        for (size_t k = 0; k < nd; k++) {
            double a = gain[i * nb + k];
            for (size_t j = 0; a != 0 && j < nd; j++) M[i * nd + j] += a * P[k * nd + j];
        }
    double *KPK = Q + nv * nv;
    for (size_t i = 0; i < nv; i++)
        for (size_t j = 0; j < nv; j++) {
            double sum = 0;
            for (size_t k = 0; k < nd; k++) sum += M[i * nd + k] * gain[j * nb + k];
            for (size_t k = i > j ? i : j; k < nv; k++) sum += Q[k * nv + i] * Q[k * nv + j];
            bool both = sigma[ti_kind_at(s, (int)i)] > 0 && sigma[ti_kind_at(s, (int)j)] > 0;
            KPK[i * nv + j] = both ? sum : 0; /* L is that of a unit matrix where there are none */
        }
    for (size_t i = 0; i < nv; i++) {
        int kind = ti_kind_at(s, (int)i);
        if (!(sigma[kind] > 0)) continue;
        double variance = KPK[i * nv + i], unit = sigma[kind] * sigma[kind], weight;
        ti_kick_rho(s, kick, ti_kick_block(s, i), sigma[kind], &weight);
        unit /= weight;
        sums->kick[kind] += kick[i] * kick[i] / unit;
        sums->nkick += 1;
        sums->known[kind] += share_of(1 - variance / unit);
    }
    for (size_t i = 0; i < nv; i++)
        for (size_t j = 0; j < nv; j++)
            P[(nv + i) * nd + nv + j] += M[i * nd + nv + j] + M[j * nd + nv + i] + KPK[i * nv + j];
    for (size_t i = 0; i < nv; i++)
        for (size_t j = 0; j < nd; j++) {
            if (j >= nv && j < 2 * nv) continue;
            P[(nv + i) * nd + j] += M[i * nd + j];
            P[j * nd + nv + i] = P[(nv + i) * nd + j];
        }
}

/* P := G P G' with G = (Phi; 0 1). */
static void push(size_t ndx, size_t n, const double *Phi, double *P, double *M) {
    size_t nd = ndx + n;
    memset(M, 0, ndx * nd * sizeof *M);
    for (size_t i = 0; i < ndx; i++)
        for (size_t k = 0; k < nd; k++) {
            double a = Phi[i * nd + k];
            const double *from = P + k * nd;
            if (a == 0) continue;
            for (size_t j = 0; j < nd; j++) M[i * nd + j] += a * from[j];
        }
    for (size_t i = 0; i < ndx; i++) {
        for (size_t j = 0; j < ndx; j++) {
            double sum = 0;
            for (size_t k = 0; k < nd; k++) sum += M[i * nd + k] * Phi[j * nd + k];
            P[i * nd + j] = sum;
        }
        for (size_t a = ndx; a < nd; a++) P[i * nd + a] = P[a * nd + i] = M[i * nd + a];
    }
    for (size_t i = 0; i < ndx; i++)
        for (size_t j = 0; j < i; j++) P[i * nd + j] = P[j * nd + i] = (P[i * nd + j] + P[j * nd + i]) / 2;
}

void ti_path_spread(ti_worker *w, int track, const double *cov_theta, ti_noise_sums *sums) {
    const tribo_sysid *s = w->s;
    const ti_track *t = s->track + track;
    ti_path *path = s->shooting->path + track;
    size_t nx = (size_t)s->z.nx, ndx = (size_t)s->z.ndx, n = (size_t)s->nfree, nd = ndx + n;
    ti_smoother m = ti_smoother_of(w);
    double *square = sums->square, *freedom = sums->freedom;
    memset(square, 0, 2 * (size_t)s->ngroup * sizeof *square);
    memset(freedom, 0, 2 * (size_t)s->ngroup * sizeof *freedom);
    *sums = (ti_noise_sums){.square = square, .freedom = freedom};
    spread_start(w, path, cov_theta, m.P, m.M, m.Q);
    for (int k = t->first; k < ti_path_end(t, path); k++) {
        double *cov = path->cov + (size_t)k * ndx * ndx;
        for (size_t i = 0; i < ndx; i++) memcpy(cov + i * ndx, m.P + i * nd, ndx * sizeof *cov);
        count_row(w, t, k, path->x + (size_t)k * nx, nd, m.P, sums);
        if (k == ti_path_end(t, path) - 1) break;
        if (ti_path_node(s, t, path->touch, k)) spread_kick(s, path, k, m.P, m.M, m.Q, sums);
        ti_pressed_count(w, t, k + 1, ti_path_forces(s, t, path->x), path->Psi + (size_t)k * 3 * (size_t)s->nplate * nd,
                         m.P, sums);
        push(ndx, n, path->Phi + (size_t)k * ndx * nd, m.P, m.M);
    }
}

/* ---- scatter of the gradient over blocks of rows ---- */

/* How a row's measurements move the gradient: score += D' J' W r. D (ndx,n) is the state by theta, all else following.
 */
static void score_row(ti_worker *w, const ti_track *t, int row, const double *x, const double *D, double *score) {
    const tribo_sysid *s = w->s;
    size_t n = (size_t)s->nfree;
    ti_measured m;
    ti_marked_score(w, t, row, x, D, score);
    ti_residual(s, t, row, x, w->r);
    for (int b = 0; b < s->nblock; b++) {
        if (ti_derived(s, t, row, b) || !ti_measured_block(s, t, row, x, w->r, &s->block[b], &m)) continue;
        for (int i = 0; i < m.n; i++)
            for (int a = 0; a < m.n; a++) {
                double c = m.slope * m.wt[i] * m.D[i][a] * m.r[i];
                for (size_t q = 0; q < n; q++) score[q] += c * D[(size_t)(m.at + a) * n + q];
            }
        if (!ti_columns_jac(s, t, row, &s->block[b], &m, w->wj)) continue;
        for (int i = 0; i < m.n; i++)
            for (size_t q = 0; q < n; q++) score[q] += m.slope * m.wt[i] * m.r[i] * w->wj[(size_t)i * n + q];
    }
}

/* D after the kick of a row, which follows too; its own prior's part in the score. */
static void score_kick(const tribo_sysid *s, const ti_path *path, int row, double *D, double *M, double *score) {
    size_t ndx = (size_t)s->z.ndx, n = (size_t)s->nfree, nv = (size_t)s->z.nv, nb = ndx + n + 1;
    const double *gain = path->gain + (size_t)row * nv * nb, *kick = path->w + (size_t)row * nv;
    for (size_t i = 0; i < nv; i++) {
        int kind = ti_kind_at(s, (int)i);
        double size = s->kick[kind], weight = 0;
        if (size > 0) ti_kick_rho(s, kick, ti_kick_block(s, i), size, &weight), weight /= size * size;
        for (size_t a = 0; a < n; a++) {
            double sum = gain[i * nb + ndx + a];
            for (size_t k = 0; k < ndx; k++) sum += gain[i * nb + k] * D[k * n + a];
            M[i * n + a] = size > 0 ? sum : 0;
            score[a] += weight * kick[i] * M[i * n + a];
        }
    }
    for (size_t i = 0; i < nv * n; i++) D[nv * n + i] += M[i];
}

static void add_block(size_t n, double *score, double *S) {
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) S[a * n + b] += score[a] * score[b];
    memset(score, 0, n * sizeof *score);
}

/* A part of the score, by the weight that is left of it. */
static void weigh(size_t n, double weight, double *part, double *score) {
    for (size_t a = 0; a < n; a++) score[a] += weight * part[a], part[a] = 0;
}

int ti_path_scatter(ti_worker *w, int track, double *S) {
    enum { BLOCK = 8 };
    const tribo_sysid *s = w->s;
    const ti_track *t = s->track + track;
    const ti_path *path = s->shooting->path + track;
    size_t nx = (size_t)s->z.nx, ndx = (size_t)s->z.ndx, n = (size_t)s->nfree, nd = ndx + n, nb = n + 1;
    ti_smoother m = ti_smoother_of(w);
    double *D = m.P, *next = m.M, *score = m.s, *part = m.z, weight = 1;
    int blocks = 0, rows = 0;
    for (size_t i = 0; i < ndx; i++)
        for (size_t a = 0; a < n; a++) {
            D[i * n + a] = path->X0[a * ndx + i];
            for (size_t j = 0; j < ndx; j++) D[i * n + a] -= path->T[i * ndx + j] * path->start[j * nb + a];
        }
    memset(score, 0, n * sizeof *score), memset(part, 0, n * sizeof *part);
    for (int k = t->first; k < t->n; k++) {
        const double *Phi = path->Phi + (size_t)k * ndx * nd;
        score_row(w, t, k, path->x + (size_t)k * nx, D, part);
        weigh(n, weight, part, score);
        if (++rows == BLOCK || k == t->n - 1) add_block(n, score, S), rows = 0, blocks++;
        if (k == t->n - 1) break;
        if (ti_path_node(s, t, path->touch, k)) score_kick(s, path, k, D, next, part);
        weigh(n, weight, part, score);
        weight *= path->left[k + 1];
        ti_pressed_score(w, t, k + 1, ti_path_forces(s, t, path->x), path->Psi + (size_t)k * 3 * (size_t)s->nplate * nd,
                         D, part);
        for (size_t i = 0; i < ndx; i++)
            for (size_t a = 0; a < n; a++) {
                double sum = Phi[i * nd + ndx + a];
                for (size_t j = 0; j < ndx; j++) sum += Phi[i * nd + j] * D[j * n + a];
                next[i * n + a] = sum;
            }
        memcpy(D, next, ndx * n * sizeof *D);
    }
    return blocks;
}
