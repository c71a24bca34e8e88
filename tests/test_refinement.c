/* test_refinement.c -- linear systems of contact that are nearly singular: forward, reverse and panel against
 * elimination in long double. */
#include "contact/reverse/panel.h"
#include "contact/work/workspace.h"
#include "randoms.h"
#include "test_main.h"
#include <math.h>
#include <stdio.h>

enum { NB = 3, NC = 9, NV = 6 * NB, N = NV + 3 * NC };

/* Bodies and contacts at random, and a point that solves them by construction. */
typedef struct island {
    ti_contact_problem p;
    ti_contact_solution s;
    int width[NB], voff[NB], moff[NB], a[NC], b[NC], joff[NC];
    double M[36 * NB], J[36 * NC], vfree[NV], ref[3 * NC], mu[NC], lambda[3 * NC], v[NV];
    unsigned char mode[NC];
    double c[3 * NC]; /* what the point's contacts move at */
    double R;
} island;

static void fill_body(island *s, int k, double mass, uint64_t *seed) {
    s->width[k] = 6, s->voff[k] = 6 * k, s->moff[k] = 36 * k;
    for (int j = 0; j < 6; j++) s->M[36 * k + 7 * j] = j < 3 ? mass : mass * 0.01 * (1.5 + random_in(seed));
}

static void fill_contact(island *s, int i, uint64_t *seed) {
    double *J = s->J + 36 * i, *l = s->lambda + 3 * i, *c = s->c + 3 * i;
    s->joff[i] = 36 * i, s->a[i] = i % NB, s->b[i] = i % 3 == 0 || i % NB == 0 ? -1 : i % NB - 1;
    bool repeated = i >= NB && i % 2 == 0; /* as three corners before: nothing new but to the compliance */
    for (int k = 0; k < 36; k++) J[k] = (k % 6 < 3 ? 1 : 0.1) * random_in(seed);
    if (repeated) memcpy(J, s->J + 36 * (i - NB), 36 * sizeof *J), s->b[i] = s->b[i - NB];
    s->mu[i] = 0.8 + 0.7 * random_in(seed);
    double choice = random_in(seed), angle = 3 * random_in(seed), n = 1 + 0.9 * random_in(seed), speed = 0.3;
    s->mode[i] = choice < -0.8 ? TRIBO_BREAK : choice < 0 ? TRIBO_STICK : TRIBO_SLIDE;
    if (s->mode[i] == TRIBO_BREAK) {
        c[2] = 1;
        return;
    }
    double t = s->mu[i] * n * (s->mode[i] == TRIBO_STICK ? 0.5 : 1);
    l[0] = t * cos(angle), l[1] = t * sin(angle), l[2] = n;
    if (s->mode[i] == TRIBO_SLIDE) c[0] = -speed * cos(angle), c[1] = -speed * sin(angle);
}

static void fill(island *s, double ratio, uint64_t *seed) {
    memset(s, 0, sizeof *s);
    double heaviest = 0;
    for (int k = 0; k < NB; k++) {
        double mass = exp(log(ratio) * (0.5 + 0.5 * random_in(seed)));
        heaviest = fmax(heaviest, mass);
        fill_body(s, k, mass, seed);
    }
    s->R = 1e-6 / heaviest;
    for (int k = 0; k < NV; k++) s->v[k] = random_in(seed);
    for (int i = 0; i < NC; i++) fill_contact(s, i, seed);
    s->p = (ti_contact_problem){.nc = NC, .nblk = NB, .nv = NV, .width = s->width, .voff = s->voff};
    s->p.moff = s->moff, s->p.M = s->M, s->p.a = s->a, s->p.b = s->b, s->p.joff = s->joff, s->p.J = s->J;
    s->p.vfree = s->vfree, s->p.ref = s->ref, s->p.mu = s->mu;
    for (int i = 0; i < NC; i++)
        for (int r = 0; r < 3; r++) {
            double Jv = 0;
            for (int j = 0; j < 6; j++) {
                Jv += s->J[36 * i + 6 * r + j] * s->v[6 * s->a[i] + j];
                if (s->b[i] >= 0) Jv += s->J[36 * i + 18 + 6 * r + j] * s->v[6 * s->b[i] + j];
            }
            s->ref[3 * i + r] = s->c[3 * i + r] - Jv - (r == 2 ? 1 : 0.01) * s->R * s->lambda[3 * i + r];
        }
    s->s = (ti_contact_solution){.npoint = 1, .mode = s->mode, .lambda = s->lambda, .v = s->v};
    s->s.point[0] = (ti_contact_point){1, s->R, s->lambda, s->v};
}

/* ---------------------------------------------------------------- the same in long double */

/* Rows of A dlambda + B (J dv + dc) = F dmu of contact i: Signorini and Coulomb as they are written down. */
static void law(const island *s, int i, long double A[3][3], long double B[3][3], long double F[3]) {
    const double *l = s->lambda + 3 * i, *c = s->c + 3 * i;
    memset(A, 0, 9 * sizeof(long double)), memset(B, 0, 9 * sizeof(long double)), memset(F, 0, 3 * sizeof(long double));
    if (s->mode[i] == TRIBO_BREAK) {
        for (int r = 0; r < 3; r++) A[r][r] = 1;
        return;
    }
    B[2][2] = 1, A[2][2] = s->R;
    if (s->mode[i] == TRIBO_STICK) {
        for (int r = 0; r < 2; r++) B[r][r] = 1, A[r][r] = 0.01L * s->R;
        return;
    }
    /* lambda_t = -mu lambda_n c_t / |c_t| */
    long double speed = hypotl(c[0], c[1]), e[2] = {c[0] / speed, c[1] / speed}, mu = s->mu[i];
    for (int r = 0; r < 2; r++) {
        for (int q = 0; q < 2; q++) {
            long double turn = mu * l[2] / speed * ((r == q) - e[r] * e[q]);
            B[r][q] = turn, A[r][q] = (r == q) + turn * 0.01L * s->R;
        }
        A[r][2] = mu * e[r], F[r] = -l[2] * e[r];
    }
}

/* x := N^-1 x by elimination with pivots; false where there is none. */
static bool eliminate(long double (*K)[N], long double *x) {
    for (int k = 0; k < N; k++) {
        int at = k;
        for (int r = k + 1; r < N; r++)
            if (fabsl(K[r][k]) > fabsl(K[at][k])) at = r;
        if (K[at][k] == 0) return false;
        for (int c = 0; c < N; c++) {
            long double t = K[k][c];
            K[k][c] = K[at][c], K[at][c] = t;
        }
        long double t = x[k];
        x[k] = x[at], x[at] = t;
        for (int r = k + 1; r < N; r++) {
            long double f = K[r][k] / K[k][k];
            for (int c = k; c < N; c++) K[r][c] -= f * K[k][c];
            x[r] -= f * x[k];
        }
    }
    for (int k = N - 1; k >= 0; k--) {
        for (int c = k + 1; c < N; c++) x[k] -= K[k][c] * x[c];
        x[k] /= K[k][k];
    }
    return true;
}

/* x = (dv, dlambda) */
static bool exact(const island *s, const double *r, const double *dc, const double *dmu, long double *x) {
    static long double K[N][N];
    memset(K, 0, sizeof K);
    for (int k = 0; k < NV; k++) {
        x[k] = r[k];
        for (int j = 0; j < 6; j++) K[k][k / 6 * 6 + j] = s->M[36 * (k / 6) + k % 6 * 6 + j];
    }
    for (int i = 0; i < NC; i++) {
        long double A[3][3], B[3][3], F[3];
        law(s, i, A, B, F);
        for (int q = 0; q < 3; q++) {
            int row = NV + 3 * i + q;
            x[row] = F[q] * dmu[i];
            for (int k = 0; k < 3; k++) K[row][NV + 3 * i + k] = A[q][k], x[row] -= B[q][k] * dc[3 * i + k];
            for (int side = 0; side < (s->b[i] >= 0 ? 2 : 1); side++)
                for (int j = 0; j < 6; j++) {
                    const double *J = s->J + 36 * i + 18 * side + j;
                    int at = 6 * (side ? s->b[i] : s->a[i]) + j;
                    K[at][row] -= J[6 * q];
                    for (int k = 0; k < 3; k++) K[row][at] += B[q][k] * J[6 * k];
                }
        }
    }
    return eliminate(K, x);
}

/* ---------------------------------------------------------------- together */

/* The difference of two velocities over their size, as roots of energy. */
static double off(const island *s, const double *dv, int stride, const double *x) {
    double wrong = 0, whole = 0;
    for (int k = 0; k < NV; k++) {
        double m = s->M[36 * (k / 6) + 7 * (k % 6)], d = dv[stride * k] - x[k];
        wrong += m * d * d, whole += m * x[k] * x[k];
    }
    return sqrt(wrong / whole);
}

typedef struct given {
    double r[NV], dc[3 * NC], dmu[NC], v_bar[NV], l_bar[3 * NC];
} given;

/* Cotangents of impulses as a motion of the bodies has them: they agree where contacts repeat one another. */
static void draw(const island *s, given *g, uint64_t *seed) {
    double w[NV];
    memset(g, 0, sizeof *g);
    for (int k = 0; k < NV; k++) {
        double m = s->M[36 * (k / 6) + 7 * (k % 6)];
        g->r[k] = m * random_in(seed), g->v_bar[k] = m * random_in(seed), w[k] = random_in(seed);
    }
    for (int i = 0; i < NC; i++) {
        g->dmu[i] = random_in(seed);
        for (int q = 0; q < 3; q++)
            for (int j = 0; j < 6; j++) {
                const double *J = s->J + 36 * i + 6 * q + j;
                g->dc[3 * i + q] += J[0] * w[6 * s->a[i] + j] + (s->b[i] >= 0 ? J[18] * w[6 * s->b[i] + j] : 0);
                g->l_bar[3 * i + q] +=
                    J[0] * s->v[6 * s->a[i] + j] + (s->b[i] >= 0 ? J[18] * s->v[6 * s->b[i] + j] : 0);
            }
    }
}

/* The same number from both ends: what reverse and forward differ by, over the sum of what they add up. */
static double duality(ti_contact_ws *ws, const island *s, const given *g, const double *dv, const double *dl) {
    double y[NV], c_bar[3 * NC], mu_bar[NC];
    long double there = 0, back = 0, size = 0;
    ti_contact_vjp(ws, &s->p, g->v_bar, g->l_bar, y, c_bar, mu_bar);
    for (int k = 0; k < NV; k++) there += g->v_bar[k] * dv[k], back += y[k] * g->r[k], size += fabs(y[k] * g->r[k]);
    for (int k = 0; k < 3 * NC; k++)
        there += g->l_bar[k] * dl[k], back += c_bar[k] * g->dc[k], size += fabs(c_bar[k] * g->dc[k]);
    for (int k = 0; k < NC; k++) back += mu_bar[k] * g->dmu[k], size += fabs(mu_bar[k] * g->dmu[k]);
    return (double)(fabsl(there - back) / size);
}

/* The same of a column of a panel, without cotangents of impulses. */
static double panel(ti_contact_ws *ws, const island *s, const given *g) {
    static double b[TI_PANEL * NV], Y[TI_PANEL * NV], L[TI_PANEL * 3 * NC], rest[TI_PANEL * NV],
        taken[TI_PANEL * 3 * NC];
    const int column = 5;
    double dv[NV], dl[3 * NC];
    long double there = 0, back = 0, size = 0;
    memset(b, 0, sizeof b);
    for (int k = 0; k < NV; k++) b[TI_PANEL * k + column] = g->v_bar[k];
    ti_contact_panel_t(ws, &s->p, column + 1, b, Y, L, rest, taken);
    ti_contact_jvp(ws, &s->p, 1, g->r, g->dc, NULL, dv, dl);
    for (int k = 0; k < NV; k++) {
        double part = Y[TI_PANEL * k + column] * g->r[k];
        there += g->v_bar[k] * dv[k], back += part, size += fabs(part);
    }
    for (int k = 0; k < 3 * NC; k++) {
        double part = L[TI_PANEL * k + column] * g->dc[k];
        back += part, size += fabs(part);
    }
    return (double)(fabsl(there - back) / size);
}

START_TEST(nearly_singular_systems_are_solved) {
    static const double ratios[] = {1, 1e2, 1e4};
    enum { EACH = 600 };
    ti_contact_ws *ws;
    ck_assert_int_eq(ti_contact_ws_new(&(ti_contact_size){NC, NV, NB, 6, false, false}, NULL, NULL, &ws), TRIBO_OK);
    uint64_t seed = 2;
    int hard = 0, pivoted = 0, said = 0;
    /* Rounding of the law's derivative is as good as another law: up to condition times rounding from the truth. */
    const double allowed[3] = {1e-8, 1e-12, 1e-10};
    double worst[3] = {0};
    for (int n = 0; n < 3 * EACH; n++) {
        static island s;
        given g;
        long double x[N];
        double dv[NV], dl[3 * NC], truth[NV];
        fill(&s, ratios[n / EACH], &seed);
        draw(&s, &g, &seed);
        ck_assert(exact(&s, g.r, g.dc, g.dmu, x));
        for (int k = 0; k < NV; k++) truth[k] = (double)x[k];
        ck_assert_int_eq(ti_contact_factor(ws, &s.p, &s.s, 0), TRIBO_OK);
        ti_contact_jvp(ws, &s.p, 1, g.r, g.dc, g.dmu, dv, dl);
        double error[3] = {off(&s, dv, 1, truth), duality(ws, &s, &g, dv, dl), panel(ws, &s, &g)};
        hard += ws->contraction > 1e-3, pivoted += ws->augmented.n > 0;
        if (!(ti_contact_linear_residual(ws) <= 1e-10)) {
            said++;
            continue;
        }
        for (int k = 0; k < 3; k++) worst[k] = ti_max(worst[k], error[k]);
    }
    printf("forward %.1e, reverse beside it %.1e, panel beside it %.1e, less exact by their own word %d; with pivots "
           "from the whole %d, slow %d of "
           "%d\n",
           worst[0], worst[1], worst[2], said, pivoted, hard, 3 * EACH);
    for (int k = 0; k < 3; k++) ck_assert_msg(worst[k] < allowed[k], "%d: %g", k, worst[k]);
    ck_assert_int_ge(hard, 10); /* or one refinement would have been enough */
    ck_assert_int_le(said, EACH / 20);
    ti_contact_ws_free(ws);
}
END_TEST

/* Where each of several repeated contacts is asked for something else, they push against one another with impulses of
 * the size of 1 / R, which cancel in what moves: digits that the residual of a plain refinement does not have. */
START_TEST(impulses_that_cancel_leave_their_digits) {
    enum { EACH = 400 };
    ti_contact_ws *ws;
    ck_assert_int_eq(ti_contact_ws_new(&(ti_contact_size){NC, NV, NB, 6, false, false}, NULL, NULL, &ws), TRIBO_OK);
    uint64_t seed = 5;
    int singular = 0;
    double worst = 0;
    for (int n = 0; n < EACH; n++) {
        static island s;
        given g;
        double dv[NV], dl[3 * NC];
        fill(&s, 10, &seed);
        draw(&s, &g, &seed);
        memset(g.l_bar, 0, sizeof g.l_bar);
        for (int k = 0; k < 3 * NC; k++) g.dc[k] = random_in(&seed);
        ck_assert_int_eq(ti_contact_factor(ws, &s.p, &s.s, 0), TRIBO_OK);
        ti_contact_jvp(ws, &s.p, 1, g.r, g.dc, g.dmu, dv, dl);
        double error = duality(ws, &s, &g, dv, dl);
        singular += ws->augmented.n > 0;
        if (ws->augmented.n <= 0) worst = ti_max(worst, error);
    }
    printf("impulses that cancel: reverse beside forward %.1e; nearly singular besides %d\n", worst, singular);
    ck_assert_int_le(singular, EACH / 20);
    ck_assert_msg(worst < 1e-11, "%g", worst);
    ti_contact_ws_free(ws);
}
END_TEST

START_TEST(what_is_not_finite_is_said) {
    static island s;
    given g;
    ti_contact_ws *ws;
    double y[NV], c_bar[3 * NC], mu_bar[NC];
    uint64_t seed = 2;
    ck_assert_int_eq(ti_contact_ws_new(&(ti_contact_size){NC, NV, NB, 6, false, false}, NULL, NULL, &ws), TRIBO_OK);
    fill(&s, 10, &seed);
    draw(&s, &g, &seed);
    for (int k = 0; k < 3; k++) {
        ck_assert_int_eq(ti_contact_factor(ws, &s.p, &s.s, 0), TRIBO_OK);
        ck_assert(ti_contact_linear_residual(ws) == 0);
        g.v_bar[0] = k == 0 ? 1 : k == 1 ? INFINITY : NAN;
        ti_contact_vjp(ws, &s.p, g.v_bar, g.l_bar, y, c_bar, mu_bar);
        ck_assert((ti_contact_linear_residual(ws) <= 1e-10) == (k == 0));
    }
    ti_contact_ws_free(ws);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("refinement");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, nearly_singular_systems_are_solved);
    tcase_add_test(t, impulses_that_cancel_leave_their_digits);
    tcase_add_test(t, what_is_not_finite_is_said);
    suite_add_tcase(s, t);
    return s;
}
