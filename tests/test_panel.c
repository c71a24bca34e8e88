/* test_panel.c -- the transpose of tangents of velocities by panels of directions, against one direction at a time and
 * against tangents, over blocks of any width, and where one refinement is not enough; problems of which only an inexact
 * G is given. */
#include "contact/reverse/panel.h"
#include "test_main.h"
#include "worlds.h"
#include <string.h>

enum { BLOCKS = 4, CONTACTS = 9, WIDEST = 30, NV = BLOCKS * WIDEST, N3 = 3 * CONTACTS };

typedef struct setting {
    int width[BLOCKS], voff[BLOCKS], moff[BLOCKS], a[CONTACTS], b[CONTACTS], joff[CONTACTS];
    double M[BLOCKS * WIDEST * WIDEST], J[6 * WIDEST * CONTACTS], vfree[NV], ref[N3], mu[CONTACTS];
    ti_contact_problem p;
} setting;

/* A row of bodies that fall on the world and on one another; each heavier than the one before by `ratio`. */
static void draw(setting *s, unsigned seed, int least, int most, double ratio, int same) {
    int m = 0, j = 0;
    double mass = 1;
    *s = (setting){0};
    s->p = (ti_contact_problem){.nc = CONTACTS, .nblk = BLOCKS, .width = s->width, .voff = s->voff, .moff = s->moff};
    for (int k = 0; k < BLOCKS; k++, mass *= ratio) {
        int w = least + (int)((test_random(&seed) + 1) / 2 * (most - least + 0.999));
        s->width[k] = w, s->voff[k] = s->p.nv, s->moff[k] = m;
        for (int r = 0; r < w; r++)
            for (int c = 0; c <= r; c++)
                s->M[m + r * w + c] = s->M[m + c * w + r] = mass * (r == c ? 3 : 0.2 * test_random(&seed));
        for (int r = 0; r < w; r++) s->vfree[s->p.nv + r] = test_random(&seed);
        s->p.nv += w, m += w * w;
    }
    for (int i = 0; i < CONTACTS; i++) {
        bool alone = i % 3 == 0;
        int like = i >= same && same > 0 ? i - same : -1; /* the same contact again, all but rounding */
        s->a[i] = i % BLOCKS, s->b[i] = alone ? -1 : (i + 1) % BLOCKS, s->joff[i] = j;
        if (like >= 0) s->a[i] = s->a[like], s->b[i] = s->b[like];
        int wide = s->width[s->a[i]] + (s->b[i] >= 0 ? s->width[s->b[i]] : 0);
        for (int k = 0; k < 3 * wide; k++)
            s->J[j + k] = like >= 0 ? s->J[s->joff[like] + k] + 1e-12 * test_random(&seed) : test_random(&seed);
        s->mu[i] = 0.5 + 0.4 * test_random(&seed), j += 3 * wide;
    }
    s->p.M = s->M, s->p.a = s->a, s->p.b = s->b, s->p.joff = s->joff, s->p.J = s->J;
    s->p.vfree = s->vfree, s->p.ref = s->ref, s->p.mu = s->mu;
}

static void *solution_of(int nc, int nv, ti_contact_solution *s) {
    ti_arena m = {0};
    ti_contact_solution_carve(&m, nc, nv, s);
    void *block = ti_arena_take(&m, NULL);
    ti_contact_solution_carve(&m, nc, nv, s);
    return block;
}

static void random_numbers(int n, unsigned *seed, double *x) {
    for (int i = 0; i < n; i++) x[i] = test_random(seed);
}

/* Column c of a panel of n rows. */
static void column_of(int n, const double *panel, int c, double *x) {
    for (int j = 0; j < n; j++) x[j] = panel[j * TI_PANEL + c];
}

typedef struct panel {
    double b[NV * TI_PANEL], Y[NV * TI_PANEL], L[N3 * TI_PANEL];
} panel;

/* The first `columns` of b. */
static void solve_panel(ti_contact_ws *ws, const ti_contact_problem *p, int columns, panel *q) {
    static double rest[NV * TI_PANEL], given[N3 * TI_PANEL];
    ti_contact_panel_t(ws, p, columns, q->b, q->Y, q->L, rest, given);
}

/* The panel, column by column. @return the largest difference, relative. */
static double against_columns(ti_contact_ws *ws, const ti_contact_problem *p, int columns, const panel *q) {
    double b[NV], x[NV], y[NV], c_bar[N3], mu_bar[CONTACTS], none[N3] = {0}, worst = 0;
    for (int c = 0; c < columns; c++) {
        double size = 0, off = 0;
        column_of(p->nv, q->b, c, b), column_of(p->nv, q->Y, c, x);
        ti_contact_vjp(ws, p, b, none, y, c_bar, mu_bar);
        for (int j = 0; j < p->nv; j++) size = fmax(size, fabs(y[j])), off = fmax(off, fabs(y[j] - x[j]));
        worst = fmax(worst, off / size);
    }
    return worst;
}

/* b'X = Y'r + L'dc for every b of a panel, and tangents X of r and dc. @return the largest difference, of the largest
 * that these are sums of */
static double against_tangents(ti_contact_ws *ws, const ti_contact_problem *p, int columns, const panel *q,
                               unsigned *seed) {
    double r[NV], dc[N3], dv[NV], dlambda[N3], worst = 0;
    for (int d = 0; d < TI_PANEL; d++) {
        random_numbers(p->nv, seed, r), random_numbers(3 * p->nc, seed, dc);
        ti_contact_jvp(ws, p, 1, r, dc, NULL, dv, dlambda);
        for (int c = 0; c < columns; c++) {
            double off = 0, size = 0;
            for (int j = 0; j < p->nv; j++) {
                double there = q->b[j * TI_PANEL + c] * dv[j], back = q->Y[j * TI_PANEL + c] * r[j];
                off += there - back, size = fmax(size, fmax(fabs(there), fabs(back)));
            }
            for (int j = 0; j < 3 * p->nc; j++) {
                double back = q->L[j * TI_PANEL + c] * dc[j];
                off -= back, size = fmax(size, fabs(back));
            }
            worst = fmax(worst, fabs(off) / size);
        }
    }
    return worst;
}

/* Redundant contacts share changes of what they are asked over a small compliance, and forward and reverse round what
 * cancels in their own ways: transposed. */
static void compare(int least, int most, double ratio, int same, double allowed, double transposed) {
    static setting s;
    static panel q;
    ti_contact_ws *ws = NULL;
    ti_contact_solution sol = {0};
    void *block = solution_of(CONTACTS, NV, &sol);
    double worst = 0, turned = 0;
    int compared = 0;
    ck_assert_int_eq(ti_contact_ws_new(&(ti_contact_size){CONTACTS, NV, BLOCKS, 6, false, false}, NULL, NULL, &ws),
                     TRIBO_OK);
    for (unsigned seed = 1; seed <= 20; seed++) {
        draw(&s, seed * 2654435761u, least, most, ratio, same);
        const ti_contact_options o = {.tol = 1e-10, .sharp = TI_SHARP_ANSWER};
        tribo_contact_info info;
        if (ti_contact_solve(ws, &s.p, &o, &sol, &info) != TRIBO_OK || !info.canonical) continue;
        for (int k = 0; k < sol.npoint; k++) {
            unsigned at = seed;
            int columns = TI_PANEL - (int)(seed + (unsigned)k) % TI_PANEL; /* of one eight, of two, of all */
            random_numbers(s.p.nv * TI_PANEL, &at, q.b);
            ck_assert_int_eq(ti_contact_factor(ws, &s.p, &sol, k), TRIBO_OK);
            solve_panel(ws, &s.p, columns, &q);
            worst = fmax(worst, against_columns(ws, &s.p, columns, &q));
            turned = fmax(turned, against_tangents(ws, &s.p, columns, &q, &at));
        }
        compared++;
    }
    printf("panels, widths %d to %d, masses by %g: %d problems, worst %.1e, transposed %.1e\n", least, most, ratio,
           compared, worst, turned);
    ck_assert_int_ge(compared, 10);
    NEAR(worst, 0, allowed);
    NEAR(turned, 0, transposed);
    ti_contact_ws_free(ws);
    ti_free(NULL, block, 0);
}

START_TEST(panels_are_columns) {
    compare(6, 6, 1, 0, 1e-9, 1e-11);
    compare(5, 9, 1, 0, 1e-9, 1e-11);
    compare(26, 30, 1, 0, 1e-9, 1e-11); /* wide enough for LAPACK */
    compare(6, 6, 30, 0, 1e-9, 1e-11);
    compare(5, 9, 30, 0, 1e-9, 1e-11);
}
END_TEST

/* The same contacts twice: a small compliance shares the load, and eliminating it costs digits. */
START_TEST(panels_of_redundant_contacts) {
    compare(6, 6, 1, 5, 1e-9, 1e-6);
    compare(5, 9, 1, 5, 1e-9, 1e-6);
}
END_TEST

/* ---- G that is given ---- */

enum { CORNERS = 6, N = 3 * CORNERS, FREE = 6 };

/* How far lambda is from the NCP of G and g, relative to impulses and velocities. */
static double by_hand(const double *A, const double *g, const double *mu, const double *lambda) {
    double most = 0, speed = 0, impulse = 0, c[N];
    for (int r = 0; r < N; r++) {
        c[r] = g[r];
        for (int k = 0; k < N; k++) c[r] += A[r * N + k] * lambda[k];
        speed = fmax(speed, fabs(g[r])), impulse = fmax(impulse, fabs(lambda[r]));
    }
    for (int i = 0; i < CORNERS; i++) {
        const double *l = lambda + 3 * i, *u = c + 3 * i;
        double slip = hypot(u[0], u[1]), bound = mu[i] * l[2];
        most = fmax(most, fmax(-l[2], hypot(l[0], l[1]) - bound) / impulse);
        most = fmax(most, -u[2] / speed);
        most = fmax(most, fabs(l[2] * u[2]) / (impulse * speed));
        most = fmax(most, fabs(l[0] * u[0] + l[1] * u[1] + bound * slip) / (impulse * speed));
    }
    return most;
}

/* G of rank 6 and 18 rows, and on top of it a symmetric error of 1e-8 of it, which makes it indefinite: what is solved
 * is the matrix as given. */
START_TEST(an_inexact_matrix_is_met_as_given) {
    int met = 0;
    for (unsigned seed = 1; seed <= 30; seed++) {
        unsigned at = seed * 2654435761u;
        double J[N * FREE], v[FREE], A[N * N], g[N], mu[CORNERS], lambda[N], largest = 0;
        for (int k = 0; k < N * FREE; k++) J[k] = test_random(&at);
        for (int k = 0; k < FREE; k++) v[k] = test_random(&at);
        for (int i = 0; i < CORNERS; i++) mu[i] = 0.6 + 0.3 * test_random(&at);
        for (int r = 0; r < N; r++)
            for (int c = 0; c <= r; c++) {
                double sum = 0;
                for (int k = 0; k < FREE; k++) sum += J[r * FREE + k] * J[c * FREE + k];
                A[r * N + c] = A[c * N + r] = sum, largest = fmax(largest, fabs(sum));
            }
        for (int r = 0; r < N; r++)
            for (int c = 0; c <= r; c++) A[r * N + c] += 1e-8 * largest * test_random(&at), A[c * N + r] = A[r * N + c];
        for (int r = 0; r < N; r++) {
            g[r] = 0;
            for (int k = 0; k < FREE; k++) g[r] += J[r * FREE + k] * v[k];
        }
        tribo_contact_problem p = {.nc = CORNERS, .G = A, .g = g, .mu = mu};
        tribo_contact_ws *ws = NULL;
        tribo_contact_info info;
        ck_assert_int_eq(tribo_contact_ws_new(CORNERS, N, NULL, NULL, &ws), TRIBO_OK);
        tribo_status status = tribo_contact_solve(ws, &p, 1e-10, false, lambda, NULL, &info);
        tribo_contact_ws_free(ws);
        ck_assert_int_ge(status, 0);
        if (status != TRIBO_OK) continue;
        met++;
        NEAR(by_hand(A, g, mu, lambda), 0, 1e-9);
    }
    printf("inexact G: %d of 30 met\n", met);
    ck_assert_int_ge(met, 20);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("panel");
    TCase *t = tcase_create("panel");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, panels_are_columns);
    tcase_add_test(t, panels_of_redundant_contacts);
    tcase_add_test(t, an_inexact_matrix_is_met_as_given);
    suite_add_tcase(s, t);
    return s;
}
