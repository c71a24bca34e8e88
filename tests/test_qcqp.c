/* test_qcqp.c -- the QP and QCQP solver: known answers, enumeration, planted solutions, the reference set, gradients.
 */
#include "mallocs.h"
#include "qcqp/qcqp.h"
#include "qcqp_problems.h"
#include "qcqp_reference.h"
#include "test_main.h"
#include <stdio.h>
#include <tribo/qcqp.h>

enum { NMAX = 128 };
static double P[NMAX * NMAX], q[NMAX], r[NMAX / 2];
static tribo_qcqp_ws *ws;

static void setup(void) {
    ck_assert_int_eq(tribo_qcqp_ws_new(NMAX, NULL, &ws), TRIBO_OK);
}
static void teardown(void) {
    tribo_qcqp_ws_free(ws);
}

static tribo_qcqp problem(int n, int dim) {
    return (tribo_qcqp){n, P, q, dim == 2 ? r : NULL};
}

/* max |x - proj(x - (Px + q))|, from the definition */
static double natural_residual(const tribo_qcqp *qp, const double *x) {
    double z[NMAX], worst = 0;
    for (int i = 0; i < qp->n; i++) {
        double g = qp->q[i];
        for (int j = 0; j < qp->n; j++) g += qp->P[i * qp->n + j] * x[j];
        z[i] = x[i] - g;
    }
    for (int i = 0; i < qp->n; i++) {
        double p = z[i] > 0 ? z[i] : 0;
        if (qp->r) {
            double h = hypot(z[i & ~1], z[i | 1]), rad = qp->r[i / 2];
            p = h > rad ? z[i] * (rad / h) : z[i];
        }
        double e = fabs(x[i] - p);
        if (!(e <= worst)) worst = e;
    }
    return worst;
}

static double distance(int n, const double *a, const double *b) {
    double worst = 0;
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= worst)) worst = fabs(a[i] - b[i]);
    return worst;
}
static double size(int n, const double *a) {
    double zero[NMAX * NMAX] = {0};
    return distance(n, a, zero);
}

/* Solve cold, to the default tolerance, and check the residual from the definition. */
static tribo_qcqp_info solve(const tribo_qcqp *qp, double *x) {
    tribo_qcqp_info info;
    memset(x, 0, sizeof *x * (size_t)qp->n);
    ck_assert_int_eq(tribo_qcqp_solve(ws, qp, 0, 0, x, NULL, &info), TRIBO_OK);
    return info;
}

/* ----------------------------------------------------------- known answers */

static void set(int n, const double *p, const double *b, const double *radii) {
    memcpy(P, p, sizeof *p * (size_t)(n * n));
    memcpy(q, b, sizeof *b * (size_t)n);
    if (radii) memcpy(r, radii, sizeof *radii * (size_t)(n / 2));
}

static void expect(int n, int dim, const double *x, double tol) {
    double got[NMAX];
    tribo_qcqp qp = problem(n, dim);
    solve(&qp, got);
    ck_assert_double_le(distance(n, got, x), tol);
}

START_TEST(small_ones_by_hand) {
    set(2, (double[]){1, -.9, -.9, 1}, (double[]){-.1, 1}, NULL); /* a dual residual alone accepts 0 */
    expect(2, 1, (double[]){.1, 0}, 1e-15);
    set(1, (double[]){2}, (double[]){-3}, NULL);
    expect(1, 1, (double[]){1.5}, 1e-15);
    set(1, (double[]){2}, (double[]){3}, NULL);
    expect(1, 1, (double[]){0}, 0);
    set(1, (double[]){0}, (double[]){3}, NULL);
    expect(1, 1, (double[]){0}, 0);
    set(2, (double[]){0, 0, 0, 0}, (double[]){0, 2}, NULL);
    expect(2, 1, (double[]){0, 0}, 0);
    set(2, (double[]){1, 0, 0, 1}, (double[]){0, 0}, NULL);
    expect(2, 1, (double[]){0, 0}, 0);
    set(2, (double[]){2, 0, 0, 2}, (double[]){3, 4}, (double[]){1}); /* on the edge, against q */
    expect(2, 2, (double[]){-.6, -.8}, 1e-15);
    set(2, (double[]){2, 0, 0, 2}, (double[]){3, 4}, (double[]){10});
    expect(2, 2, (double[]){-1.5, -2}, 1e-15);
    set(2, (double[]){0, 0, 0, 0}, (double[]){3, 4}, (double[]){2}); /* P = 0: all the way */
    expect(2, 2, (double[]){-1.2, -1.6}, 1e-15);
    set(2, (double[]){0, 0, 0, 0}, (double[]){0, 0}, (double[]){2});
    expect(2, 2, (double[]){0, 0}, 0);
    set(4, (double[]){2, 0, 1, 0, 0, 2, 0, 1, 1, 0, 2, 0, 0, 1, 0, 2}, (double[]){1, 2, -3, -4}, (double[]){0, 9});
    expect(4, 2, (double[]){0, 0, 1.5, 2}, 1e-15);
    set(4, (double[]){2, 0, 1, 0, 0, 2, 0, 1, 1, 0, 2, 0, 0, 1, 0, 2}, (double[]){1, 2, -3, -4}, (double[]){0, 0});
    expect(4, 2, (double[]){0, 0, 0, 0}, 0);
}
END_TEST

START_TEST(least_norm_where_not_unique) {
    double x[4];
    set(2, (double[]){1, -1, -1, 1}, (double[]){-1, 1}, NULL); /* x0 - x1 = 1 */
    expect(2, 1, (double[]){1, 0}, 1e-13);
    set(2, (double[]){1, 1, 1, 1}, (double[]){-2, -2}, NULL); /* x0 + x1 = 2 */
    expect(2, 1, (double[]){1, 1}, 1e-13);
    set(3, (double[]){1, 2, 1, 2, 4, 2, 1, 2, 1}, (double[]){-6, -12, -6}, NULL); /* x0 + 2 x1 + x2 = 6 */
    expect(3, 1, (double[]){1, 2, 1}, 1e-13);
    for (int k = 0; k < 3; k++) { /* from any start, solutions among them */
        double starts[3][3] = {{6, 0, 0}, {0, 3, 0}, {1e3, 7, 2}};
        memcpy(x, starts[k], sizeof starts[k]);
        tribo_qcqp qp = problem(3, 1);
        ck_assert_int_eq(tribo_qcqp_solve(ws, &qp, 0, 0, x, NULL, NULL), TRIBO_OK);
        ck_assert_double_le(distance(3, x, (double[]){1, 2, 1}), 1e-13);
    }
    /* two pairs that share a force of (2,0): half each, or what the small radius leaves */
    double shared[16] = {1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1};
    set(4, shared, (double[]){-2, 0, -2, 0}, (double[]){5, 5});
    expect(4, 2, (double[]){1, 0, 1, 0}, 1e-13);
    set(4, shared, (double[]){-2, 0, -2, 0}, (double[]){.5, 5});
    expect(4, 2, (double[]){.5, 0, 1.5, 0}, 1e-9);
}
END_TEST

START_TEST(unbounded_is_not_converged) {
    double x[2] = {0, 0};
    tribo_qcqp_info info;
    set(2, (double[]){1, -1, -1, 1}, (double[]){-1, .5}, NULL);
    tribo_qcqp qp = problem(2, 1);
    ck_assert_int_eq(tribo_qcqp_solve(ws, &qp, 0, 0, x, NULL, &info), TRIBO_NOT_CONVERGED);
    ck_assert_double_gt(info.residual, 1e-3);
    set(1, (double[]){0}, (double[]){-1}, NULL);
    qp = problem(1, 1), x[0] = 0;
    ck_assert_int_eq(tribo_qcqp_solve(ws, &qp, 0, 0, x, NULL, &info), TRIBO_NOT_CONVERGED);
}
END_TEST

START_TEST(bad_input_leaves_outputs) {
    double x[4] = {1, 2, 3, 4}, dual[4] = {5, 6, 7, 8}, qb[4] = {1, 1, 1, 1}, rb[2] = {1, 1}, v[4] = {1, 1, 1, 1};
    tribo_qcqp_info info = {.iterations = -7};
    int kinks = -7;
    double I4[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, b[4] = {1, 1, 1, 1}, radii[2] = {1, 1};
    for (int k = 0; k < 11; k++) {
        set(4, I4, b, radii);
        tribo_qcqp qp = problem(4, 2);
        tribo_status want = k < 6 ? TRIBO_E_NONFINITE : TRIBO_E_ARG;
        if (k == 0) P[7] = (double)NAN;
        if (k == 1) P[15] = HUGE_VAL;
        if (k == 2) q[0] = (double)NAN;
        if (k == 3) r[1] = (double)NAN;
        if (k == 4) r[0] = HUGE_VAL;
        if (k == 5) P[0] = (double)NAN;
        if (k == 6) r[1] = -1e-300;
        if (k == 7) qp.n = 3;
        if (k == 8) qp.n = NMAX + 2;
        if (k == 9) qp.P = NULL;
        if (k == 10) qp.n = 0;
        ck_assert_int_eq(tribo_qcqp_solve(ws, &qp, 0, 0, x, dual, &info), want);
        ck_assert_int_eq(tribo_qcqp_vjp(ws, &qp, I4, I4, qb, rb, v, &kinks), want);
    }
    set(4, I4, b, radii);
    tribo_qcqp qp = problem(4, 2);
    double bad[4] = {0, (double)NAN, 0, 0};
    ck_assert_int_eq(tribo_qcqp_vjp(ws, &qp, bad, I4, qb, rb, v, &kinks), TRIBO_E_NONFINITE);
    ck_assert_int_eq(tribo_qcqp_vjp(ws, &qp, I4, bad, qb, rb, v, &kinks), TRIBO_E_NONFINITE);
    ck_assert_int_eq(tribo_qcqp_solve(ws, &qp, -1, 0, x, dual, &info), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_qcqp_solve(ws, &qp, (double)NAN, 0, x, dual, &info), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_qcqp_solve(ws, &qp, 0, 0, bad, dual, &info), TRIBO_E_NONFINITE);
    P[0] = -1;
    ck_assert_int_eq(tribo_qcqp_solve(ws, &qp, 0, 0, x, dual, &info), TRIBO_E_ARG);
    ck_assert(x[0] == 1 && x[3] == 4 && dual[0] == 5 && dual[3] == 8 && info.iterations == -7 && kinks == -7);
    ck_assert(qb[0] == 1 && qb[3] == 1 && rb[0] == 1 && rb[1] == 1 && v[0] == 1 && v[3] == 1);
}
END_TEST

/* -------------------------------------------------- enumeration and planting */

/* Gauss elimination with row pivoting; false if singular. */
static int eliminate(int n, double *A, double *b) {
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i * n + k]) > fabs(A[p * n + k])) p = i;
        if (fabs(A[p * n + k]) < 1e-9) return 0;
        for (int j = 0; j < n; j++) {
            double t = A[k * n + j];
            A[k * n + j] = A[p * n + j], A[p * n + j] = t;
        }
        double t = b[k];
        b[k] = b[p], b[p] = t;
        for (int i = 0; i < n; i++) {
            double l = i == k ? 0 : A[i * n + k] / A[k * n + k];
            for (int j = k; j < n; j++) A[i * n + j] -= l * A[k * n + j];
            b[i] -= l * b[k];
        }
    }
    for (int k = 0; k < n; k++) b[k] /= A[k * n + k];
    return 1;
}

/* Every one of the 2^n active sets: the one whose solution satisfies all signs is the answer. */
static int enumerate(int n, double *x) {
    for (int set_bits = 0; set_bits < 1 << n; set_bits++) {
        double A[64], b[8];
        int at[8], m = 0, good = 1;
        for (int i = 0; i < n; i++)
            if (set_bits >> i & 1) at[m++] = i;
        for (int k = 0; k < m; k++) {
            b[k] = -q[at[k]];
            for (int l = 0; l < m; l++) A[k * m + l] = P[at[k] * n + at[l]];
        }
        if (!eliminate(m, A, b)) continue;
        memset(x, 0, sizeof *x * (size_t)n);
        for (int k = 0; k < m; k++) x[at[k]] = b[k], good = good && b[k] >= 0;
        for (int i = 0; i < n && good; i++) {
            double g = q[i];
            for (int j = 0; j < n; j++) g += P[i * n + j] * x[j];
            good = set_bits >> i & 1 || g >= 0;
        }
        if (good) return 1;
    }
    return 0;
}

START_TEST(enumeration_agrees) {
    int several = 0;
    for (int k = 0; k < 300; k++) {
        uint64_t seed = (uint64_t)k;
        int n = 1 + k % 8;
        double want[8], got[8];
        draw_well(n, &seed, P, q);
        ck_assert(enumerate(n, want));
        tribo_qcqp qp = problem(n, 1);
        solve(&qp, got);
        ck_assert_double_le(distance(n, got, want), 1e-12 * (1 + size(n, want)));
        for (int i = 0; i < n; i++) several += got[i] > 0;
    }
    ck_assert_int_gt(several, 300);
}
END_TEST

/* q such that a drawn x is the solution: free, on the edge with a drawn multiplier, or of radius 0. */
START_TEST(planted_solutions_come_back) {
    for (int k = 0; k < 200; k++) {
        uint64_t seed = (uint64_t)(k + 1000);
        int nc = 1 + k % 24, dim = 1 + k % 2, n = dim * nc;
        double want[NMAX], got[NMAX], g[NMAX];
        draw_well(n, &seed, P, q);
        for (int i = 0; i < nc; i++) {
            double kind = draw(&seed), angle = 4 * draw(&seed), c = cos(angle), s = sin(angle), m = 1.01 + draw(&seed);
            int free_one = kind < 0;
            if (dim == 1) {
                want[i] = free_one ? m : 0, g[i] = free_one ? 0 : m;
                continue;
            }
            r[i] = kind > 0.7 ? 0 : 1.2 + draw(&seed);
            double at = (free_one ? 0.9 : 1) * r[i], force = free_one ? 0 : m;
            want[2 * i] = at * c, want[2 * i + 1] = at * s, g[2 * i] = -force * c, g[2 * i + 1] = -force * s;
        }
        for (int i = 0; i < n; i++) {
            q[i] = g[i];
            for (int j = 0; j < n; j++) q[i] -= P[i * n + j] * want[j];
        }
        tribo_qcqp qp = problem(n, dim);
        solve(&qp, got);
        ck_assert_double_le(distance(n, got, want), 1e-11 * (1 + size(n, want)));
    }
}
END_TEST

/* ------------------------------------------------------- families of contact */

START_TEST(families_converge_warm_and_cold) {
    for (int dim = 1; dim <= 2; dim++)
        for (int f = 0; f < FAMILIES; f++)
            for (int k = 0; k < 60; k++) {
                uint64_t seed = (uint64_t)(k + 77);
                int nc = 1 + k, n = dim * nc;
                double cold[NMAX], warm[NMAX], far[NMAX], dual[NMAX];
                draw_problem((family)f, nc, dim, &seed, P, q, r);
                tribo_qcqp qp = problem(n, dim);
                solve(&qp, cold);
                double impulse = size(n, cold), most = 0;
                for (int i = 0; i < n; i++) most = P[i * n + i] > most ? P[i * n + i] : most;
                ck_assert_double_le(natural_residual(&qp, cold), 1e-12 * (1 + most) * (1 + impulse));
                memcpy(warm, cold, sizeof cold);
                ck_assert_int_eq(tribo_qcqp_solve(ws, &qp, 0, 0, warm, dual, NULL), TRIBO_OK);
                for (int i = 0; i < n; i++) far[i] = impulse * draw(&seed);
                ck_assert_int_eq(tribo_qcqp_solve(ws, &qp, 0, 0, far, NULL, NULL), TRIBO_OK);
                /* velocities are always unique */
                for (int i = 0; i < n; i++) {
                    double a = 0, b = 0, c = q[i], scale = 1 + fabs(q[i]);
                    for (int j = 0; j < n; j++) {
                        double p = P[i * n + j];
                        a += p * (warm[j] - cold[j]), b += p * (far[j] - cold[j]), c += p * warm[j];
                        scale += fabs(p * cold[j]);
                    }
                    ck_assert_double_le(fabs(a), 1e-9 * scale);
                    ck_assert_double_le(fabs(b), 1e-9 * scale);
                    ck_assert_double_le(fabs(c - dual[i]), 1e-12 * scale);
                }
                /* impulses of least norm; disks that bind those alone are found less sharply */
                double tol = dim == 2 && f != WELL ? 1e-6 : 1e-8;
                ck_assert_double_le(distance(n, warm, cold), tol * impulse);
                ck_assert_double_le(distance(n, far, cold), tol * impulse);
            }
}
END_TEST

/* Multipliers and radii of one size where the masses spread over six decades: Newton alone cycles on one in ten. */
START_TEST(planted_contacts_of_any_mass_converge) {
    int hard = 0;
    for (int dim = 1; dim <= 2; dim++)
        for (int k = 0; k < 100; k++) {
            uint64_t seed = (uint64_t)(k + 5000);
            int nc = 1 + k % 64, n = dim * nc;
            double want[NMAX] = {0}, g[NMAX] = {0}, got[NMAX];
            draw_problem(MASS_SPREAD, nc, dim, &seed, P, q, r);
            for (int i = 0; i < nc; i++) {
                double kind = draw(&seed), m = 0.5 + 0.4 * draw(&seed), angle = 4 * draw(&seed);
                if (dim == 1) {
                    (kind > 0 ? want : g)[i] = m;
                    continue;
                }
                r[i] = kind > 0.7 ? 0 : m;
                double at = kind < -0.3 ? 0.7 * r[i] : r[i], force = kind < -0.3 ? 0 : m;
                want[2 * i] = at * cos(angle), want[2 * i + 1] = at * sin(angle);
                g[2 * i] = -force * cos(angle), g[2 * i + 1] = -force * sin(angle);
            }
            for (int i = 0; i < n; i++) {
                q[i] = g[i];
                for (int j = 0; j < n; j++) q[i] -= P[i * n + j] * want[j];
            }
            tribo_qcqp qp = problem(n, dim);
            hard += solve(&qp, got).newton > 20;
            for (int i = 0; i < n; i++) { /* velocities are unique, impulses need not be */
                double a = 0, scale = 1;
                for (int j = 0; j < n; j++)
                    a += P[i * n + j] * (got[j] - want[j]), scale += fabs(P[i * n + j] * want[j]);
                ck_assert_double_le(fabs(a), 1e-9 * scale);
            }
        }
    ck_assert_int_gt(hard, 10);
}
END_TEST

START_TEST(order_of_contacts_does_not_matter) {
    for (int dim = 1; dim <= 2; dim++)
        for (int f = 0; f < FAMILIES; f++) {
            uint64_t seed = 5;
            int nc = 17, n = dim * nc;
            double x[NMAX], y[NMAX], back[NMAX], P0[NMAX * NMAX / 4], q0[NMAX], r0[NMAX];
            draw_problem((family)f, nc, dim, &seed, P, q, r);
            tribo_qcqp qp = problem(n, dim);
            solve(&qp, x);
            memcpy(P0, P, sizeof P0), memcpy(q0, q, sizeof q), memcpy(r0, r, sizeof r);
            for (int i = 0; i < n; i++) {
                int a = i / dim * 5 % nc * dim + i % dim;
                q[i] = q0[a], r[i / dim] = r0[a / dim];
                for (int j = 0; j < n; j++) P[i * n + j] = P0[a * n + j / dim * 5 % nc * dim + j % dim];
            }
            solve(&qp, y);
            for (int i = 0; i < n; i++) back[i / dim * 5 % nc * dim + i % dim] = y[i];
            ck_assert_double_le(distance(n, back, x), (f == WELL ? 1e-12 : 1e-8) * size(n, x));
        }
}
END_TEST

/* The last rungs of the ladder by themselves: they are so rarely needed that no other test would miss them. */
START_TEST(last_rungs_alone_converge) {
    for (int dim = 1; dim <= 2; dim++)
        for (int f = 0; f <= HYPERSTATIC; f++) {
            uint64_t seed = 9;
            double want[NMAX];
            int n = dim * 12;
            draw_problem((family)f, 12, dim, &seed, P, q, r);
            tribo_qcqp qp = problem(n, dim);
            solve(&qp, want);
            ck_assert_int_eq(ti_qcqp_scale(ws, &qp), TRIBO_OK);
            memset(ws->y, 0, sizeof want[0] * (size_t)n);
            ck_assert_double_gt(ti_qcqp_residual(ws, ws->y, ws->b), 0.1);
            int made = ti_qcqp_admm(ws, 1e-11, 4000);
            ck_assert_int_lt(made, 4000);
            ck_assert_double_le(ti_qcqp_residual(ws, ws->y, ws->g), 1e-9);
            if (dim == 1) continue;
            made = ti_qcqp_interior(ws, 1e-11, 60);
            ck_assert_int_lt(made, 60);
            ck_assert_double_le(ti_qcqp_residual(ws, ws->y, ws->g), 1e-11);
        }
}
END_TEST

/* --------------------------------------------------------------- gradients */

/* L = w'x of the re-solved problem */
static double loss(const tribo_qcqp *qp, const double *w) {
    double x[NMAX], s = 0;
    solve(qp, x);
    for (int i = 0; i < qp->n; i++) s += w[i] * x[i];
    return s;
}
static double central(const tribo_qcqp *qp, const double *w, double *number, double *twin, double h) {
    double keep = *number, up, down;
    *number = keep + h;
    if (twin) *twin = *number;
    up = loss(qp, w);
    *number = keep - h;
    if (twin) *twin = *number;
    down = loss(qp, w);
    *number = keep;
    if (twin) *twin = keep;
    return (up - down) / (2 * h);
}

START_TEST(gradients_match_differences) {
    int edges = 0, inside = 0, none = 0;
    for (int k = 0; k < 40; k++) {
        uint64_t seed = (uint64_t)(k + 31);
        int nc = 2 + k % 5, dim = 1 + k % 2, n = dim * nc, kinks = -1;
        double x[NMAX], w[NMAX], qb[NMAX] = {0}, rb[NMAX] = {0}, v[NMAX];
        draw_well(n, &seed, P, q);
        for (int i = 0; i < nc; i++) r[i] = i % 3 == 2 ? 0 : 0.6 + 0.5 * draw(&seed);
        for (int i = 0; i < n; i++) w[i] = draw(&seed);
        tribo_qcqp qp = problem(n, dim);
        solve(&qp, x);
        ck_assert_int_eq(tribo_qcqp_vjp(ws, &qp, x, w, qb, dim == 2 ? rb : NULL, v, &kinks), TRIBO_OK);
        ck_assert_int_eq(kinks, 0);
        for (int i = 0; i < n; i++) {
            ck_assert_double_eq_tol(central(&qp, w, q + i, NULL, 1e-5), qb[i], 2e-8 * (1 + size(n, qb)));
            for (int j = 0; j <= i; j++) {
                double G = -(v[i] * x[j] + v[j] * x[i]) / (i == j ? 2 : 1);
                ck_assert_double_eq_tol(central(&qp, w, P + i * n + j, P + j * n + i, 1e-5), G, 1e-7 * (1 + fabs(G)));
            }
            inside += dim == 1 && x[i] > 0;
        }
        for (int i = 0; i < nc && dim == 2; i++) {
            double h = 1e-6, fd;
            if (r[i] > 0) {
                fd = central(&qp, w, r + i, NULL, 1e-5);
            } else { /* from the right only, three points */
                double f0 = loss(&qp, w), f1, f2;
                r[i] = h, f1 = loss(&qp, w);
                r[i] = 2 * h, f2 = loss(&qp, w);
                r[i] = 0, fd = (4 * f1 - f2 - 3 * f0) / (2 * h);
            }
            ck_assert_double_eq_tol(fd, rb[i], 1e-7 * (1 + fabs(rb[i])));
            double at = hypot(x[2 * i], x[2 * i + 1]);
            edges += r[i] > 0 && at > r[i] * (1 - 1e-9), inside += at < r[i] * (1 - 1e-9), none += r[i] == 0;
        }
    }
    ck_assert_int_gt(edges, 20);
    ck_assert_int_gt(inside, 20);
    ck_assert_int_gt(none, 10);
}
END_TEST

START_TEST(gradients_accumulate_and_may_be_skipped) {
    uint64_t seed = 3;
    double x[8], w[8], once[8] = {0}, twice[8] = {0}, rb[4] = {0}, rb2[4] = {0}, v[8];
    draw_problem(WELL, 4, 2, &seed, P, q, r);
    tribo_qcqp qp = problem(8, 2);
    solve(&qp, x);
    for (int i = 0; i < 8; i++) w[i] = draw(&seed);
    ck_assert_int_eq(tribo_qcqp_vjp(ws, &qp, x, w, once, rb, v, NULL), TRIBO_OK);
    for (int k = 0; k < 2; k++) ck_assert_int_eq(tribo_qcqp_vjp(ws, &qp, x, w, twice, rb2, NULL, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_qcqp_vjp(ws, &qp, x, w, NULL, NULL, NULL, NULL), TRIBO_OK);
    for (int i = 0; i < 8; i++) ck_assert(twice[i] == 2 * once[i] && v[i] == -once[i]);
    for (int i = 0; i < 4; i++) ck_assert(rb2[i] == 2 * rb[i]);
}
END_TEST

START_TEST(degenerate_contacts_are_counted) {
    double x[4], qb[4] = {0}, v[4], w[4] = {1, 1, 1, 1};
    int kinks;
    set(2, (double[]){1, 0, 0, 1}, (double[]){0, -1}, NULL);
    tribo_qcqp qp = problem(2, 1);
    ck_assert_int_eq(solve(&qp, x).degenerate, 1);
    ck_assert_int_eq(tribo_qcqp_vjp(ws, &qp, x, w, qb, NULL, v, &kinks), TRIBO_OK);
    ck_assert_int_eq(kinks, 1);
    ck_assert(qb[0] == 0 || qb[0] == -1); /* one of the two sides */
    ck_assert_double_eq_tol(qb[1], -1, 1e-15);
    set(2, (double[]){1, 0, 0, 1}, (double[]){-3, -4}, (double[]){5});
    qp = problem(2, 2);
    ck_assert_int_eq(solve(&qp, x).degenerate, 1);
}
END_TEST

/* ------------------------------------------------------------ reference set */

static int numbers(const char *line, const char *key, double *out) {
    char name[32];
    snprintf(name, sizeof name, "\"%s\":[", key);
    const char *p = strstr(line, name);
    int n = 0;
    ck_assert_msg(p != NULL, "no %s", key);
    for (p += strlen(name); *p && *p != ']'; p += *p == ',') {
        char *end;
        out[n++] = strtod(p, &end);
        p = end;
    }
    return n;
}

/* |a - b| / |b| in the 2-norm; 0 if both are 0 */
static double relative(int n, const double *a, const double *b) {
    double d = 0, s = 0;
    for (int i = 0; i < n; i++) d += (a[i] - b[i]) * (a[i] - b[i]), s += b[i] * b[i];
    return d == 0 ? 0 : sqrt(d / s);
}

/* The problem with q and r times s, whose solution is s times as large: solution and gradient are the reference's. */
static void check_reference(const reference *p, double s) {
    static double G[NMAX * NMAX], x[NMAX], want[NMAX], qb[NMAX], rb[NMAX], v[NMAX];
    int n = p->n, nr = p->dim == 2 ? p->nc : 0, kinks;
    memcpy(P, p->P, sizeof *P * (size_t)(n * n));
    for (int i = 0; i < n; i++) q[i] = s * p->q[i], want[i] = s * p->x[i], qb[i] = 0;
    for (int i = 0; i < nr; i++) r[i] = s * p->r[i], rb[i] = 0;
    tribo_qcqp qp = problem(n, p->dim);
    solve(&qp, x);
    ck_assert_double_lt(natural_residual(&qp, x), 1e-10 * s);
    if (!p->unique) return;
    ck_assert_double_lt(distance(n, x, want), 1e-9 * (size(n, want) > s ? size(n, want) : s));
    ck_assert_int_eq(tribo_qcqp_vjp(ws, &qp, x, p->w, qb, nr ? rb : NULL, v, &kinks), TRIBO_OK);
    ck_assert_double_lt(relative(n, qb, p->grad_q), 1e-7);
    ck_assert_double_lt(relative(nr, rb, p->grad_r), 1e-7);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) G[i * n + j] = -(v[i] * x[j] + v[j] * x[i]) / (2 * s);
    ck_assert_double_lt(relative(n * n, G, p->grad_P), 1e-7);
}

static void check_at_all_sizes(const reference *p) {
    check_reference(p, 1), check_reference(p, 1e-4), check_reference(p, 1e4);
}

static void read_reference(const char *line, reference *p) {
    static double low[NMAX * NMAX];
    *p = (reference){.unique = !strstr(line, "\"unique\":0")};
    p->n = numbers(line, "q", p->q), p->nc = numbers(line, "r", p->r), p->dim = p->nc ? 2 : 1;
    ck_assert_int_le(p->n, REFERENCE_MAX);
    numbers(line, "w", p->w), numbers(line, "x", p->x);
    numbers(line, "grad_q", p->grad_q), numbers(line, "grad_r", p->grad_r);
    for (int which = 0; which < 2; which++) {
        double *full = which ? p->grad_P : p->P;
        int entries = numbers(line, which ? "grad_P" : "P", low);
        for (int i = 0; i < p->n && entries; i++)
            for (int j = 0; j <= i; j++) full[i * p->n + j] = full[j * p->n + i] = low[i * (i + 1) / 2 + j];
    }
}

/* Those of the folder that TRIBO_DATA names, where there is one. */
static void check_more_references(void) {
    static char line[1 << 21];
    static reference p;
    const char *data = getenv("TRIBO_DATA");
    if (!data) return;
    char path[512];
    snprintf(path, sizeof path, "%s/reference/dev.jsonl", data);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    int count = 0;
    for (; fgets(line, sizeof line, file); count++) read_reference(line, &p), check_at_all_sizes(&p);
    fclose(file);
    ck_assert_int_ge(count, 80);
}

/* By numbers of contacts, families and kinds; where the drawn set leaves many solutions only the residual counts. */
START_TEST(reference_set_holds) {
    static const int contacts[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32};
    static reference p;
    int unique[2] = {0, 0}, many = 0;
    for (size_t k = 0; k < sizeof contacts / sizeof *contacts; k++)
        for (family f = WELL; f < FAMILIES; f++)
            for (int dim = 1; dim <= 2; dim++)
                for (int draws = 0; draws < 2; draws++) {
                    reference_make(&p, f, contacts[k], dim, 1000 * k + 10 * f + (uint64_t)(2 * draws + dim));
                    check_at_all_sizes(&p);
                    unique[dim - 1] += p.unique, many += !p.unique;
                }
    ck_assert_int_gt(unique[0], 30);
    ck_assert_int_gt(unique[1], 40);
    ck_assert_int_gt(many, 10);
    check_more_references();
}
END_TEST

/* ------------------------------------------------------------------ memory */

typedef struct counter {
    int allocs, frees, fail;
} counter;
static void *count_alloc(void *ctx, size_t bytes, size_t align) {
    counter *c = ctx;
    return c->allocs++ < c->fail ? NULL : aligned_alloc(align, bytes);
}
static void count_release(void *ctx, void *p, size_t bytes, size_t align) {
    counter *c = ctx;
    (void)bytes, (void)align;
    c->frees++;
    free(p);
}

START_TEST(only_new_allocates) {
    counter c = {0};
    tribo_allocator a = {count_alloc, count_release, &c};
    tribo_qcqp_ws *own;
    int before = mallocs;
    ck_assert_int_eq(tribo_qcqp_ws_new(NMAX, &a, &own), TRIBO_OK);
    ck_assert(!COUNTS_MALLOC || mallocs > before);
    before = mallocs;
    for (int dim = 1; dim <= 2; dim++)
        for (int k = 0; k < 20; k++) {
            uint64_t seed = (uint64_t)k;
            double x[NMAX] = {0}, v[NMAX];
            draw_problem((family)(k % FAMILIES), 64, dim, &seed, P, q, r);
            tribo_qcqp qp = problem(64 * dim, dim);
            before = mallocs;
            tribo_status forth = tribo_qcqp_solve(own, &qp, 0, 0, x, NULL, NULL);
            tribo_status back = tribo_qcqp_vjp(own, &qp, x, q, NULL, NULL, v, NULL);
            int after = mallocs;
            ck_assert_int_eq(forth, TRIBO_OK);
            ck_assert_int_eq(back, TRIBO_OK);
            ck_assert_int_eq(after, before);
        }
    ck_assert_int_eq(c.allocs, 1);
    tribo_qcqp_ws_free(own);
    ck_assert_int_eq(c.frees, 1);
    tribo_qcqp_ws_free(NULL);
    c = (counter){.fail = 1};
    own = NULL;
    ck_assert_int_eq(tribo_qcqp_ws_new(NMAX, &a, &own), TRIBO_E_NOMEM);
    ck_assert_ptr_null(own);
    ck_assert_int_eq(tribo_qcqp_ws_new(0, NULL, &own), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_qcqp_ws_new(4, NULL, NULL), TRIBO_E_ARG);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("qcqp");
    TCase *t = tcase_create("qcqp");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, small_ones_by_hand);
    tcase_add_test(t, least_norm_where_not_unique);
    tcase_add_test(t, unbounded_is_not_converged);
    tcase_add_test(t, bad_input_leaves_outputs);
    tcase_add_test(t, enumeration_agrees);
    tcase_add_test(t, planted_solutions_come_back);
    tcase_add_test(t, families_converge_warm_and_cold);
    tcase_add_test(t, planted_contacts_of_any_mass_converge);
    tcase_add_test(t, order_of_contacts_does_not_matter);
    tcase_add_test(t, last_rungs_alone_converge);
    tcase_add_test(t, gradients_match_differences);
    tcase_add_test(t, gradients_accumulate_and_may_be_skipped);
    tcase_add_test(t, degenerate_contacts_are_counted);
    tcase_add_test(t, reference_set_holds);
    tcase_add_test(t, only_new_allocates);
    suite_add_tcase(s, t);
    return s;
}
