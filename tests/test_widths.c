/* test_widths.c -- bodies of any number of velocities, joined by contacts: the blocks of M against the same problem as
 * one matrix G, which knows of no bodies; and steps under laws that depend on G, forward, reverse and Jacobians. */
#include "test_main.h"
#include "worlds.h"
#include <tribo/contact.h>

enum { BODIES = 5, CONTACTS = 7, WIDE = 48, N3 = 3 * CONTACTS };

typedef struct problem {
    int nv, at[BODIES + 1];
    double M[WIDE * WIDE], J[N3 * WIDE], vfree[WIDE], mu[CONTACTS], G[N3 * N3], g[N3];
    double W[N3 * WIDE]; /* J M^-1 */
} problem;

/* X (n,m) := A^-1 X, A (n,n) symmetric positive definite: Gauss without pivots. */
static void solve_spd(int n, const double *A, int m, double *X) {
    double L[WIDE * WIDE];
    memcpy(L, A, sizeof *A * (size_t)(n * n));
    for (int k = 0; k < n; k++)
        for (int r = k + 1; r < n; r++) {
            double f = L[r * n + k] / L[k * n + k];
            for (int c = k; c < n; c++) L[r * n + c] -= f * L[k * n + c];
            for (int c = 0; c < m; c++) X[r * m + c] -= f * X[k * m + c];
        }
    for (int k = n - 1; k >= 0; k--)
        for (int c = 0; c < m; c++) {
            for (int j = k + 1; j < n; j++) X[k * m + c] -= L[k * n + j] * X[j * m + c];
            X[k * m + c] /= L[k * n + k];
        }
}

static void reduce(problem *p) {
    double Wt[WIDE * N3];
    for (int r = 0; r < N3; r++)
        for (int j = 0; j < p->nv; j++) Wt[j * N3 + r] = p->J[r * p->nv + j];
    solve_spd(p->nv, p->M, N3, Wt);
    for (int r = 0; r < N3; r++) {
        p->g[r] = 0;
        for (int j = 0; j < p->nv; j++)
            p->W[r * p->nv + j] = Wt[j * N3 + r], p->g[r] += p->J[r * p->nv + j] * p->vfree[j];
    }
    for (int r = 0; r < N3; r++)
        for (int c = 0; c < N3; c++) {
            p->G[r * N3 + c] = 0;
            for (int j = 0; j < p->nv; j++) p->G[r * N3 + c] += p->W[r * p->nv + j] * p->J[c * p->nv + j];
        }
    for (int r = 0; r < N3; r++) /* symmetric to the bit */
        for (int c = 0; c < r; c++) p->G[r * N3 + c] = p->G[c * N3 + r];
}

/* Widths from `least` on; each contact on one body or between two, which fall against each other. */
static void draw(problem *p, unsigned seed, int least, int most) {
    *p = (problem){0};
    for (int b = 0; b < BODIES; b++)
        p->at[b + 1] = p->at[b] + least + (int)((test_random(&seed) + 1) / 2 * (most - least + 0.999));
    int n = p->nv = p->at[BODIES];
    for (int b = 0; b < BODIES; b++)
        for (int i = p->at[b]; i < p->at[b + 1]; i++)
            for (int j = p->at[b]; j <= i; j++)
                p->M[i * n + j] = p->M[j * n + i] = i == j ? 3 : 0.3 * test_random(&seed);
    for (int i = 0; i < CONTACTS; i++) {
        int sides[2] = {i % BODIES, i % 3 ? (i + 1) % BODIES : -1};
        for (int s = 0; s < 2; s++)
            for (int r = 3 * i; sides[s] >= 0 && r < 3 * i + 3; r++)
                for (int j = p->at[sides[s]]; j < p->at[sides[s] + 1]; j++) p->J[r * n + j] = test_random(&seed);
        p->mu[i] = 0.5 + 0.4 * test_random(&seed);
    }
    for (int j = 0; j < n; j++) p->vfree[j] = test_random(&seed);
    reduce(p);
}

typedef struct answer {
    double lambda[N3], v[WIDE], g_bar[N3], mu_bar[CONTACTS];
} answer;

static bool answered(const tribo_contact_problem *q, tribo_solver solver, const double *bar, answer *a) {
    tribo_law_options law = {.law = TRIBO_LAW_NCP, .solver = solver};
    tribo_contact_ws *ws = NULL;
    tribo_contact_info info;
    *a = (answer){0};
    ck_assert_int_eq(tribo_contact_ws_new(CONTACTS, WIDE, &law, NULL, &ws), TRIBO_OK);
    tribo_status s = tribo_contact_solve(ws, q, 0, false, a->lambda, q->nv ? a->v : NULL, &info);
    if (s == TRIBO_OK && info.canonical)
        ck_assert_int_eq(tribo_contact_vjp(ws, q, bar, NULL, NULL, a->g_bar, a->mu_bar, NULL, NULL, NULL), TRIBO_OK);
    tribo_contact_ws_free(ws);
    return s == TRIBO_OK && info.canonical && info.margin > 1e-6;
}

static void compare(int least, int most, double worst_allowed, tribo_solver solver) {
    static problem p;
    int compared = 0;
    for (unsigned seed = 1; seed <= 40; seed++) {
        draw(&p, seed * 2654435761u, least, most);
        tribo_contact_problem blocks = {.nc = CONTACTS, .nv = p.nv, .M = p.M, .J = p.J, .vfree = p.vfree, .mu = p.mu};
        tribo_contact_problem given = {.nc = CONTACTS, .G = p.G, .g = p.g, .mu = p.mu};
        double bar[N3], size = 1, reach = 1;
        unsigned s = seed;
        answer a, b;
        for (int k = 0; k < N3; k++) bar[k] = test_random(&s);
        if (!answered(&blocks, solver, bar, &a) || !answered(&given, TRIBO_SOLVER_DEFAULT, bar, &b)) continue;
        for (int k = 0; k < N3; k++) size = fmax(size, fabs(a.lambda[k])), reach = fmax(reach, fabs(a.g_bar[k]));
        for (int k = 0; k < N3; k++) NEAR(a.lambda[k], b.lambda[k], worst_allowed * size);
        for (int k = 0; k < N3; k++) NEAR(a.g_bar[k], b.g_bar[k], 1e3 * worst_allowed * reach);
        for (int k = 0; k < CONTACTS; k++) NEAR(a.mu_bar[k], b.mu_bar[k], 1e3 * worst_allowed * reach * size);
        for (int j = 0; j < p.nv; j++) { /* the velocity is that of the impulses */
            double v = p.vfree[j];
            for (int r = 0; r < N3; r++) v += p.W[r * p.nv + j] * b.lambda[r];
            NEAR(a.v[j], v, worst_allowed * size);
        }
        compared++;
    }
    printf("widths %d to %d: %d problems compared\n", least, most, compared);
    ck_assert_int_ge(compared, 10);
}

START_TEST(blocks_are_the_matrix) {
    compare(5, 9, 1e-8, TRIBO_SOLVER_DEFAULT);
    compare(6, 6, 1e-8, TRIBO_SOLVER_DEFAULT);
    compare(5, 9, 1e-8, TRIBO_SOLVER_NEWTON);
}
END_TEST

/* First-order solvers go over the same blocks, and end at the same solution. */
START_TEST(sweeps_over_blocks) {
    compare(5, 9, 1e-6, TRIBO_SOLVER_PGS);
    compare(6, 6, 1e-6, TRIBO_SOLVER_PGS);
    compare(5, 9, 1e-6, TRIBO_SOLVER_ADMM);
}
END_TEST

/* ---- steps under laws that depend on G ---- */

static void three_ways(tribo_law_options law) {
    tribo_options o = tribo_default_options();
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_model *m = NULL;
    o.law = law;
    world_floor(b, 0.4, 0);
    world_ball(b, "ball", 1, 0.1, 0, 0, 0.1, world_material(0.4, 0));
    world_ball(b, "upper", 0.5, 0.1, 0.05, 0, 0.1 + 0.2 * sqrt(1 - 0.0625), world_material(0.4, 0));
    tribo_set_timestep(b, 0.01);
    ck_assert_int_eq(tribo_build(b, &m, NULL), TRIBO_OK);
    world w = world_of(m, &o);
    world_steps(&w, 1);
    world_v0(&w, 0)[0] = 1, world_v0(&w, 0)[1] = 0.3, world_v0(&w, 1)[0] = -0.2, world_v0(&w, 1)[1] = -0.5;
    ck_assert_int_eq(tribo_rollout(w.ws, w.p, w.x0, 1, w.U, w.X, w.tape), TRIBO_OK);
    int ndx = w.n.ndx, nu = w.n.nu, np = w.n.np;
    double *A = world_zeros(ndx * ndx), *B = world_zeros(ndx * nu), *C = world_zeros(ndx * np);
    double *dot = world_zeros(ndx + nu + np), *out = world_zeros(ndx), *bar = world_zeros(ndx);
    double *u_bar = world_zeros(nu), size = 0, product = 0;
    unsigned seed = 7;
    for (int i = 0; i < ndx + nu + np; i++) dot[i] = test_random(&seed);
    for (int i = 0; i < ndx; i++) bar[i] = test_random(&seed);
    ck_assert_int_eq(tribo_step_jac(w.ws, w.tape, 0, A, B, C), TRIBO_OK);
    ck_assert_int_eq(tribo_step_jvp(w.ws, w.tape, 0, 1, dot, dot + ndx, dot + ndx + nu, out), TRIBO_OK);
    ck_assert_int_eq(tribo_step_vjp(w.ws, w.tape, 0, bar, w.x_bar, u_bar, w.p_bar), TRIBO_OK);
    for (int i = 0; i < ndx; i++) {
        double sum = 0;
        for (int j = 0; j < ndx; j++) sum += A[i * ndx + j] * dot[j];
        for (int j = 0; j < nu; j++) sum += B[i * nu + j] * dot[ndx + j];
        for (int j = 0; j < np; j++) sum += C[i * np + j] * dot[ndx + nu + j];
        size = fmax(size, fabs(sum));
        product += bar[i] * sum;
        out[i] -= sum;
    }
    for (int i = 0; i < ndx; i++) NEAR(out[i], 0, 1e-10 * size);
    double reverse = 0;
    for (int j = 0; j < ndx; j++) reverse += w.x_bar[j] * dot[j];
    for (int j = 0; j < nu; j++) reverse += u_bar[j] * dot[ndx + j];
    for (int j = 0; j < np; j++) reverse += w.p_bar[j] * dot[ndx + nu + j];
    NEAR(reverse, product, 1e-10 * size);
    double *arrays[] = {A, B, C, dot, out, bar, u_bar};
    for (int i = 0; i < 7; i++) free(arrays[i]);
    world_free(&w);
}

START_TEST(three_ways_agree_under_every_law) {
    three_ways((tribo_law_options){.law = TRIBO_LAW_NCP});
    three_ways((tribo_law_options){.law = TRIBO_LAW_RAISIM});
    three_ways((tribo_law_options){.law = TRIBO_LAW_CCP, .softness = TRIBO_SOFTNESS_MUJOCO});
    three_ways((tribo_law_options){.law = TRIBO_LAW_NCP, .softness = TRIBO_SOFTNESS_PHYSICAL, .compliance = 1e-3});
    three_ways((tribo_law_options){.law = TRIBO_LAW_STOCHASTIC, .noise = 0.1});
    three_ways((tribo_law_options){.law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_ERM, .noise = 0.1});
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("widths");
    TCase *t = tcase_create("widths");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, blocks_are_the_matrix);
    tcase_add_test(t, sweeps_over_blocks);
    tcase_add_test(t, three_ways_agree_under_every_law);
    suite_add_tcase(s, t);
    return s;
}
