/* lemke.c -- Lemke's complementary pivoting on a dense table. */
#include "contact/solver/lemke.h"
#include "base/clones.h"
#include <math.h>

#define SMALL 1e-11 /* a pivot below this, relative to its column, is rounding */

void ti_lemke_carve(ti_arena *arena, int m_max, ti_lemke *l) {
    size_t m = m_max;
    TI_CARVE(arena, l->T, m * (m + 2));
    TI_CARVE(arena, l->basic, m);
    TI_CARVE(arena, l->column, m + 2);
    TI_CARVE(arena, l->where, m);
    TI_CARVE(arena, l->tie, m);
    TI_CARVE(arena, l->x, m);
    TI_CARVE(arena, l->r, m);
}

void ti_lemke_begin(ti_lemke *l, int m) {
    l->m = m, l->ld = m + 2;
    for (int i = 0; i < m; i++) l->basic[i] = i, l->column[i + 1] = m + i, l->where[i] = 0;
    l->column[0] = -1, l->column[m + 1] = 2 * m;
}

static void name(ti_lemke *l, int row, int column) {
    int leaves = l->basic[row], enters = l->column[column];
    l->basic[row] = enters, l->column[column] = leaves;
    if (enters < l->m) l->where[enters] = 0;
    if (leaves < l->m) l->where[leaves] = column;
}

/* Exchange the basic variable of a row with the nonbasic one of a column. */
static TI_CLONES_WIDE void pivot(ti_lemke *l, int row, int column) {
    int ld = l->ld;
    double *restrict p = l->T + (size_t)row * ld, f = 1 / p[column];
    p[column] = -1;
    for (int c = 0; c < ld; c++) p[c] *= -f;
    for (int i = 0; i < l->m; i++) {
        double *restrict t = l->T + (size_t)i * ld, g = t[column];
        if (i == row || g == 0) continue;
        t[column] = 0;
        for (int c = 0; c < ld; c++) t[c] += g * p[c];
    }
    name(l, row, column);
}

/* Coefficient in a row of a perturbation of q_k. */
static double perturbed(const ti_lemke *l, int row, int k) {
    if (l->where[k]) return -l->T[(size_t)row * l->ld + l->where[k]];
    return l->basic[row] == k;
}

/* Lexicographic choice among rows that reach zero together: the one that does first if q is perturbed by (e, e^2, ...).
 */
static int first_of(ti_lemke *l, int n, int column) {
    for (int k = 0; k < l->m && n > 1; k++) {
        double least = HUGE_VAL;
        int kept = 0;
        for (int j = 0; j < n; j++) {
            const double *t = l->T + (size_t)l->tie[j] * l->ld;
            double at = perturbed(l, l->tie[j], k) / -t[column], slack = 1e-9 * (1 + fabs(at));
            if (at > least + slack) continue;
            if (at < least - slack) kept = 0;
            if (kept == 0 || at < least) least = at;
            l->tie[kept++] = l->tie[j];
        }
        n = kept;
    }
    return n > 0 ? l->tie[0] : -1;
}

/* The row that the entering variable of a column drives to zero first; -1 = none. */
static int leaving(ti_lemke *l, int column, double tie) {
    double most = 0, bound = HUGE_VAL;
    for (int i = 0; i < l->m; i++) most = ti_max(most, fabs(l->T[(size_t)i * l->ld + column]));
    double small = SMALL * (most > 1 ? most : 1);
    for (int i = 0; i < l->m; i++) {
        const double *t = l->T + (size_t)i * l->ld;
        if (t[column] >= -small) continue;
        double at = ((t[0] > 0 ? t[0] : 0) + tie) / -t[column];
        if (at < bound) bound = at;
    }
    int n = 0;
    for (int i = 0; i < l->m; i++) {
        const double *t = l->T + (size_t)i * l->ld;
        if (t[column] >= -small || !((t[0] > 0 ? t[0] : 0) <= bound * -t[column])) continue;
        if (l->basic[i] == 2 * l->m) return i;
        l->tie[n++] = i;
    }
    return first_of(l, n, column);
}

/* First pivot: the artificial variable enters, with different coefficients so that no two rows tie by symmetry; the row
 * most below zero leaves. -1 = q >= 0, nothing to do. */
static int first_row(ti_lemke *l, int turn) {
    int row = -1;
    double worst = 0;
    for (int i = 0; i < l->m; i++) {
        double *t = l->T + (size_t)i * l->ld, whole;
        t[l->m + 1] = 1 + 0.5 * modf((i + 1) * (0.6180339887498949 + 0.1 * turn), &whole);
        if (t[0] / t[l->m + 1] < worst) worst = t[0] / t[l->m + 1], row = i;
    }
    return row;
}

int ti_lemke_run(ti_lemke *l, int turn, int most, bool *solved) {
    static const double tie[3] = {1e-9, 1e-7,
                                  1e-11}; /* slack that counts as zero; rounding grows with the ratio of masses */
    int m = l->m, row = first_row(l, turn), column = m + 1, count = 0;
    *solved = row < 0;
    while (row >= 0 && count < most) {
        int leaves = l->basic[row];
        pivot(l, row, column), count++;
        if (leaves == 2 * m) {
            *solved = true;
            break;
        }
        int enters = leaves < m ? leaves + m : leaves - m; /* the complement of what left */
        for (column = 1; l->column[column] != enters; column++) {
        }
        row = leaving(l, column, tie[turn % 3]);
    }
    for (int i = 0; i < m; i++) l->x[i] = l->T[(size_t)i * l->ld];
    return count;
}

void ti_lemke_values(const ti_lemke *l, double *z, double *w) {
    int m = l->m;
    for (int k = 0; k < m; k++) {
        z[k] = 0;
        if (w) w[k] = 0;
    }
    for (int i = 0; i < m; i++) {
        int k = l->basic[i];
        if (k >= m && k < 2 * m) z[k - m] = l->x[i];
        if (k < m && w) w[k] = l->x[i];
    }
}

void ti_lemke_correct(ti_lemke *l, const double *r) {
    for (int i = 0; i < l->m; i++) {
        const double *t = l->T + (size_t)i * l->ld;
        double sum = l->basic[i] < l->m ? r[l->basic[i]] : 0;
        for (int c = 1; c < l->ld; c++)
            if (l->column[c] < l->m) sum -= t[c] * r[l->column[c]];
        l->x[i] += sum;
    }
}
