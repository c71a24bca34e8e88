/* anderson.c -- Anderson's mixing by the normal equations of its least squares. */
#include "contact/work/anderson.h"
#include "math/dense.h"

void ti_anderson_carve(ti_arena *m, int n_max, int memory, ti_anderson *a) {
    a->memory = memory;
    TI_CARVE(m, a->F, (size_t)(memory + 1) * n_max);
    TI_CARVE(m, a->T, (size_t)(memory + 1) * n_max);
    TI_CARVE(m, a->gram, memory * TI_ANDERSON_MOST);
}

void ti_anderson_forget(ti_anderson *a, int n) {
    a->n = n, a->columns = -1, a->next = 0;
}

/* Four partial sums, so that it does not wait for each addition. */
static double dot(int n, const double *a, const double *b) {
    double s[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) s[k] += a[i + k] * b[i + k];
    for (; i < n; i++) s[0] += a[i] * b[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* The difference to the last pair takes the place of the oldest one. */
static void remember(ti_anderson *a, const double *f, const double *t) {
    int n = a->n;
    double *last_f = a->F + (size_t)a->memory * n, *last_t = a->T + (size_t)a->memory * n;
    if (a->columns >= 0) {
        double *F = a->F + (size_t)a->next * n, *T = a->T + (size_t)a->next * n;
        for (int i = 0; i < n; i++) F[i] = f[i] - last_f[i], T[i] = t[i] - last_t[i];
        if (a->columns < a->memory) a->columns++;
        for (int c = 0; c < a->columns; c++)
            a->gram[a->next * TI_ANDERSON_MOST + c] = a->gram[c * TI_ANDERSON_MOST + a->next] =
                dot(n, F, a->F + (size_t)c * n);
        a->next = (a->next + 1) % a->memory;
    } else
        a->columns = 0;
    memcpy(last_f, f, n * sizeof(double)), memcpy(last_t, t, n * sizeof(double));
}

/* t -= T'w, w the least squares of F'w = f: where the fixed point would be if the iteration were affine. */
void ti_anderson_mix(ti_anderson *a, const double *f, double *t) {
    enum { LD = TI_ANDERSON_MOST };
    remember(a, f, t);
    int m = a->columns, n = a->n, ld = ti_ld(m);
    double A[LD * LD], w[LD], trace = 0;
    for (int r = 0; r < m; r++) trace += a->gram[r * LD + r];
    if (!(trace > 0)) return;
    for (int r = 0; r < m; r++) {
        memcpy(A + r * ld, a->gram + r * LD, m * sizeof(double));
        A[r * ld + r] += 1e-12 * trace;
        w[r] = dot(n, a->F + (size_t)r * n, f);
    }
    if (ti_chol(m, A, ld, 0)) return;
    ti_chol_solve(m, A, ld, w);
    for (int r = 0; r < m; r++) {
        const double *T = a->T + (size_t)r * n;
        for (int i = 0; i < n; i++) t[i] -= w[r] * T[i];
    }
}
