/* test_paths.c -- the contact system of trees along the ways to their roots, against the same problem in full blocks.
 */
#include "contact/system/system.h"
#include "test_main.h"
#include "worlds.h"
#include <math.h>
#include <string.h>

enum { TREES = 4, CONTACTS = 14, WIDEST = 15, NV = TREES * WIDEST, N3 = 3 * CONTACTS, PANEL = 8 };

typedef struct forest {
    int width[TREES], voff[TREES], moff[TREES], before[NV], a[CONTACTS], b[CONTACTS], joff[CONTACTS];
    int column[CONTACTS][2][WIDEST];
    ti_support support[2 * CONTACTS];
    double M[TREES * WIDEST * WIDEST], J[6 * WIDEST * CONTACTS], ref[N3], D[9 * CONTACTS];
    ti_contact_problem p;
} forest;

static int pick(unsigned *seed, int n) {
    int k = (int)((test_random(seed) + 1) / 2 * n);
    return k < n ? k : n - 1;
}

/* A tree of that width, the last of all a free body; M is a sum of squares along ways. */
static void grow(forest *f, int t, int w, int m, unsigned *seed) {
    double *M = f->M + m;
    bool body = t == TREES - 1;
    f->width[t] = w, f->voff[t] = f->p.nv, f->moff[t] = m;
    for (int k = 0; k < w; k++) {
        int on = k == 0 ? -1 : body ? k - 1 : pick(seed, k + 1) - (pick(seed, 9) == 0);
        if (on >= k) on = k - 1;
        f->before[f->p.nv + k] = on < 0 ? -1 : f->p.nv + on;
    }
    for (int k = 0; k < w; k++) {
        double x[WIDEST] = {0};
        for (int d = f->p.nv + k; d >= 0; d = f->before[d]) x[d - f->p.nv] = test_random(seed);
        for (int r = 0; r < w; r++)
            for (int c = 0; c < w; c++) M[r * w + c] += x[r] * x[c] + (r == c ? 0.1 : 0);
    }
    f->p.nv += w;
}

/* The ways of numbers d and e of tree t, the last first; e < 0 = none. @return their length */
static int list(const forest *f, int t, int d, int e, int *column) {
    int n = 0, v0 = f->voff[t];
    for (d += v0, e += e < 0 ? 0 : v0; d >= 0 || e >= 0;) {
        int k = d > e ? d : e;
        column[n++] = k - v0;
        if (d == k) d = f->before[d];
        if (e == k) e = f->before[e];
    }
    return n;
}

/* Contact i: on one tree, inside one, between two, or of a joint. */
static int touch(forest *f, int i, int j, unsigned *seed) {
    int kind = i % 4, t[2] = {pick(seed, TREES), -1};
    if (kind == 2) t[1] = (t[0] + 1 + pick(seed, TREES - 1)) % TREES;
    if (kind == 1 && t[0] == TREES - 1) t[0] = 0;
    f->a[i] = t[0], f->b[i] = t[1], f->joff[i] = j;
    for (int side = 0; side < 2 && t[side] >= 0; side++) {
        int w = f->width[t[side]], *column = f->column[i][side], d = pick(seed, w), n = 1;
        bool whole = t[side] == TREES - 1 && kind != 3;
        column[0] = d;
        if (kind != 3) n = list(f, t[side], d, kind == 1 ? pick(seed, w) : -1, column);
        f->support[2 * i + side] = (ti_support){n, whole ? NULL : column, kind == 3, kind == 1};
        for (int r = kind == 3 ? 2 : 0; r < 3; r++)
            for (int e = 0; e < (whole ? w : n); e++) f->J[j + r * w + (whole ? e : column[e])] = test_random(seed);
        j += 3 * w;
    }
    return j;
}

static void draw(forest *f, unsigned seed, bool symmetric) {
    int m = 0, j = 0;
    *f = (forest){0};
    f->p = (ti_contact_problem){.nc = CONTACTS, .nblk = TREES, .width = f->width, .voff = f->voff, .moff = f->moff};
    for (int t = 0; t < TREES; t++) {
        int w = t == TREES - 1 ? 6 : 3 + pick(&seed, WIDEST - 2);
        grow(f, t, w, m, &seed), m += w * w;
    }
    for (int i = 0; i < CONTACTS; i++) j = touch(f, i, j, &seed);
    for (int i = 0; i < CONTACTS; i++)
        for (int r = 0; r < 3 && i % 5; r++) /* some break */
            for (int c = 0; c < 3; c++) {
                double *D = f->D + 9 * i, x = test_random(&seed);
                D[3 * r + c] = r == c ? 30 + 20 * x : symmetric && c < r ? D[3 * c + r] : 5 * x;
            }
    for (int k = 0; k < N3; k++) f->ref[k] = test_random(&seed);
    f->p.M = f->M, f->p.a = f->a, f->p.b = f->b, f->p.joff = f->joff, f->p.J = f->J, f->p.ref = f->ref;
    f->p.support = f->support, f->p.before = f->before, f->p.chains = true;
}

static void *system_of(ti_system *s) {
    const ti_contact_size most = {CONTACTS, NV, TREES, WIDEST, true, false};
    ti_arena m = {0};
    *s = (ti_system){0};
    ti_system_carve(&m, &most, s);
    void *block = ti_arena_take(&m, NULL);
    ti_system_carve(&m, &most, s);
    return block;
}

static double off(int n, const double *a, const double *b) {
    double most = 0, size = 1e-300;
    for (int k = 0; k < n; k++) most = fmax(most, fabs(a[k] - b[k])), size = fmax(size, fabs(b[k]));
    return most / size;
}

/* What the two do with the same vectors; the largest difference. */
static double compare(ti_system *thin, const forest *f, ti_system *full, unsigned seed) {
    ti_contact_problem p = f->p;
    double x[NV * PANEL], y[NV * PANEL], z[NV * PANEL], c[N3], d[N3], l[N3], worst = 0;
    int nv = p.nv;
    p.before = NULL, p.support = NULL;
    ti_system_pack(thin, &f->p), ti_system_pack(full, &p);
    ck_assert(thin->paths.fits && !full->paths.fits);
    ck_assert_int_eq(ti_system_pattern(thin, &f->p), TRIBO_OK);
    ck_assert_int_eq(ti_system_pattern(full, &p), TRIBO_OK);
    for (int k = 0; k < nv * PANEL; k++) x[k] = test_random(&seed);
    for (int k = 0; k < N3; k++) l[k] = test_random(&seed);
    ti_system_jv(thin, &f->p, x, true, c), ti_system_jv(full, &p, x, true, d);
    worst = fmax(worst, off(N3, c, d));
    ti_system_mv(thin, &f->p, x, y), ti_system_mv(full, &p, x, z);
    worst = fmax(worst, off(nv, y, z));
    ti_system_jt(thin, &f->p, l, y), ti_system_jt(full, &p, l, z);
    worst = fmax(worst, off(nv, y, z));
    ck_assert_int_eq(ti_system_factor(thin, &f->p, f->D), TRIBO_OK);
    ck_assert_int_eq(ti_system_factor(full, &p, f->D), TRIBO_OK);
    for (int n = 1; n <= PANEL; n += PANEL - 1) {
        memcpy(y, x, sizeof x), memcpy(z, x, sizeof x);
        ti_system_solve(thin, n, y), ti_system_solve(full, n, z);
        worst = fmax(worst, off(n * nv, y, z));
    }
    ti_system_solve_t(thin, y), ti_system_solve_t(full, z);
    return fmax(worst, off(nv, y, z));
}

START_TEST(ways_are_blocks) {
    static forest f;
    ti_system thin, full;
    void *first = system_of(&thin), *second = system_of(&full);
    double worst = 0;
    int used = 0;
    for (unsigned seed = 1; seed <= 400; seed++) {
        draw(&f, seed * 2654435761u, seed % 2);
        worst = fmax(worst, compare(&thin, &f, &full, seed));
        used += thin.thin;
    }
    printf("trees, against blocks: worst %.1e, %d of 400 along their ways\n", worst, used);
    NEAR(worst, 0, 1e-8);
    ck_assert_int_ge(used, 390);
    ti_free(NULL, first, 0), ti_free(NULL, second, 0);
}
END_TEST

/* A pivot that vanishes: rows are exchanged in blocks. */
START_TEST(small_pivots) {
    static forest f;
    ti_system thin, full;
    void *first = system_of(&thin), *second = system_of(&full);
    int tried = 0;
    for (unsigned seed = 1; seed <= 40; seed++) {
        draw(&f, seed * 2654435761u, false);
        int last = f.width[0] - 1, i = 0;
        while (i < CONTACTS && !(f.support[2 * i].joint && f.a[i] == 0 && f.column[i][0][0] == last)) i++;
        if (i == CONTACTS) continue;
        tried++;
        memset(f.D, 0, sizeof f.D);
        double J = f.J[f.joff[i] + 2 * f.width[0] + last];
        f.D[9 * i + 8] = -f.M[last * f.width[0] + last] / (J * J);
        for (int k = 0; k < CONTACTS; k++)
            if (f.a[k] != 0 && f.b[k] != 0) f.D[9 * k + 1] = 1e-3, f.D[9 * k] = 1; /* not symmetric, elsewhere */
        NEAR(compare(&thin, &f, &full, seed), 0, 1e-8);
        ck_assert(!thin.thin);
    }
    ck_assert_int_ge(tried, 2);
    ti_free(NULL, first, 0), ti_free(NULL, second, 0);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("paths");
    TCase *t = tcase_create("core");
    tcase_add_test(t, ways_are_blocks);
    tcase_add_test(t, small_pivots);
    suite_add_tcase(s, t);
    return s;
}
