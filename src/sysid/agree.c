/* agree.c -- do the recordings, each by itself, ask for the same parameters? docs/math.md eq. (604), (605). */
#include "sysid/agree.h"
#include <lapacke.h>

/* The curvature M and the slope z of one recording along the directions that all together tell, in units of what they
 * tell of them; rows of V are of theta. */
static void whiten(const ti_agreement *a, const ti_path *path, double *M, double *z) {
    int n = a->n, open = a->nopen, m = n - open;
    for (int k = 0; k < m; k++) {
        double unit = sqrt(a->value[open + k]);
        z[k] = 0;
        for (int i = 0; i < n; i++) z[k] += a->V[i * n + open + k] * path->g[i] / unit;
        for (int l = 0; l <= k; l++) {
            double sum = 0;
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) sum += a->V[i * n + open + k] * path->H[i * n + j] * a->V[j * n + open + l];
            M[k * m + l] = M[l * m + k] = sum / unit / sqrt(a->value[open + l]);
        }
    }
}

bool ti_agree(const tribo_sysid *s, const ti_agreement *a, double *square, int *freedom) {
    const double least = 0.01; /* of what all know, below which a recording's own slope is not looked at */
    int m = a->n - a->nopen, recordings = 0;
    double *M = a->scratch, *z = M + a->n * a->n, *mu = z + a->n, *all = mu + a->n;
    *square = 0, *freedom = -m;
    for (int k = 0; k < m; k++) all[k] = 0;
    for (int r = 0; r < s->nrec; r++) {
        if (s->track[r].held_out) continue;
        whiten(a, s->shooting->path + r, M, z);
        for (int k = 0; k < m; k++) all[k] += z[k];
        if (m && LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'U', m, M, m, mu)) return false;
        for (int c = 0; c < m; c++) {
            double along = 0;
            if (!(mu[c] > least)) continue;
            for (int k = 0; k < m; k++) along += M[k * m + c] * z[k];
            *square += along * along / mu[c], ++*freedom;
        }
        recordings++;
    }
    for (int k = 0; k < m; k++) *square -= all[k] * all[k];
    if (recordings < 2 || *freedom < 1) *square = 0, *freedom = 0;
    return true;
}
