/* test_ncp.c -- the contact problem: residuals, canonical solutions, derivatives by mode. */
#include "contact/problem/problem.h"
#include "contact/solver/staggered.h"
#include "mallocs.h"
#include "randoms.h"
#include "test_main.h"
#include <math.h>
#include <stdio.h>

/* ---------------------------------------------------------------- a tower of boxes, or one, in blocks */

enum { NB = 4, NC = 4 * NB, NV = 6 * NB, LARGE = 1 << 15 };

typedef struct scene {
    ti_contact_problem p;
    int width[NB], voff[NB], moff[NB], a[NC], b[NC], joff[NC];
    double M[36 * NB], J[36 * NC], vfree[NV], ref[3 * NC], mu[NC];
} scene;

typedef struct answer {
    double memory[LARGE / 8];
    ti_contact_solution s;
    tribo_contact_info info;
    tribo_status status;
} answer;

/* Rows t1, t2, n of a contact at r of a free body: (R, -R [r]) with the frame turned by yaw. */
static void contact_rows(double *J, const double r[3], double yaw, double sign) {
    double frame[3][3] = {{cos(yaw), sin(yaw), 0}, {-sin(yaw), cos(yaw), 0}, {0, 0, 1}};
    for (int k = 0; k < 3; k++) {
        const double *d = frame[k];
        double turn[3] = {r[1] * d[2] - r[2] * d[1], r[2] * d[0] - r[0] * d[2], r[0] * d[1] - r[1] * d[0]};
        for (int j = 0; j < 3; j++) J[6 * k + j] = sign * d[j], J[6 * k + 3 + j] = sign * turn[j];
    }
}

/* nb boxes of 0.2 m on a plane, ncorner contacts an interface, masses m. */
static void tower(scene *s, int nb, int ncorner, const double *m, double mu, uint64_t seed) {
    static const double corner[4][2] = {{-0.1, -0.1}, {0.1, -0.1}, {0.1, 0.1}, {-0.1, 0.1}};
    memset(s, 0, sizeof *s);
    int nc = 0, at = 0;
    for (int k = 0; k < nb; k++) {
        s->width[k] = 6, s->voff[k] = 6 * k, s->moff[k] = 36 * k;
        for (int j = 0; j < 6; j++) s->M[36 * k + 7 * j] = j < 3 ? m[k] : m[k] * 0.04 / 6;
        s->vfree[6 * k + 2] = -9.81e-3;
        for (int i = 0; i < ncorner; i++, nc++) {
            double yaw = seed ? 3 * random_in(&seed) : 0;
            double r[3] = {corner[i][0], corner[i][1], -0.1}, top[3] = {corner[i][0], corner[i][1], 0.1};
            s->a[nc] = k, s->b[nc] = k - 1, s->joff[nc] = at, s->mu[nc] = mu;
            contact_rows(s->J + at, r, yaw, 1);
            at += 18;
            if (k == 0) continue;
            contact_rows(s->J + at, top, yaw, -1);
            at += 18;
        }
    }
    ti_contact_problem p = {.nc = nc,
                            .nblk = nb,
                            .nv = 6 * nb,
                            .width = s->width,
                            .voff = s->voff,
                            .moff = s->moff,
                            .M = s->M,
                            .a = s->a,
                            .b = s->b,
                            .joff = s->joff,
                            .J = s->J,
                            .vfree = s->vfree,
                            .ref = s->ref,
                            .mu = s->mu};
    s->p = p;
}

static ti_contact_ws *workspace(void) {
    ti_contact_ws *ws;
    ck_assert_int_eq(ti_contact_ws_new(&(ti_contact_size){NC, NV, NB, 6, false, false}, NULL, NULL, &ws), TRIBO_OK);
    return ws;
}

static void solve(ti_contact_ws *ws, const scene *s, answer *x) {
    ti_arena m = {(char *)x->memory, 0};
    ti_contact_solution_carve(&m, s->p.nc, s->p.nv, &x->s);
    ck_assert(m.used <= sizeof x->memory);
    ti_contact_options o = {.tol = 1e-10, .sharp = TI_SHARP_ANSWER};
    x->status = ti_contact_solve(ws, &s->p, &o, &x->s, &x->info);
}

/* ---------------------------------------------------------------- the cases, by mode */

typedef struct motion {
    const char *name;
    int nb, ncorner;
    double mu, vx, vy, spin, vz, pitch;
} motion;

static const motion motions[] = {
    {"stick 4", 1, 4, 0.4, 1e-3, 5e-4, 0, 0, 0},
    {"stick 3", 1, 3, 0.4, 1e-3, 5e-4, 0, 0, 0},
    {"slide 4", 1, 4, 0.4, 1, 0.3, 0, 0, 0},
    {"slide 3", 1, 3, 0.4, 1, 0.3, 0, 0, 0},
    {"spin 4", 1, 4, 0.4, 0.2, 0.1, 3, 0, 0},
    {"slow spin 4", 1, 4, 0.4, 3e-3, 1e-3, 0.02, 0, 0},
    {"tip", 1, 4, 0.4, 0.01, 0, 0, 0, 0.5},
    {"tip and slide", 1, 4, 0.2, 1, 0.2, 0.1, 0, 0.4},
    {"one of two corners", 1, 4, 0.4, 0.01, 0.003, 0, 0, 2},
    {"no friction", 1, 4, 0, 1, 0.3, 0.5, 0, 0},
    {"two, upper slides", 2, 4, 0.3, 1, 0.2, 0, 0, 0},
    {"two, upper spins", 2, 4, 0.3, 0.3, 0.2, 2, 0, 0},
    {"two of three corners", 2, 3, 0.3, 0.3, 0.2, 2, 0, 0},
};
enum { NMOTION = sizeof motions / sizeof *motions };

static void set(scene *s, const motion *m, uint64_t seed) {
    static const double mass[NB] = {1, 0.7, 1.3, 0.9};
    tower(s, m->nb, m->ncorner, mass, m->mu, seed);
    double *v = s->vfree + 6 * (m->nb - 1);
    v[0] = m->vx, v[1] = m->vy, v[2] += m->vz, v[4] = m->pitch, v[5] = m->spin;
}

START_TEST(residual_is_small) {
    ti_contact_ws *ws = workspace();
    for (int i = 0; i < NMOTION; i++) {
        scene s;
        answer x;
        set(&s, &motions[i], 7);
        solve(ws, &s, &x);
        ck_assert_msg(x.status == TRIBO_OK, "%s: status %d, residual %g", motions[i].name, x.status, x.info.residual);
    }
    ti_contact_ws_free(ws);
}
END_TEST

/* ---------------------------------------------------------------- derivatives */

/* A direction in everything: vfree, ref, mu, M (symmetric), J. */
typedef struct change {
    double M[36 * NB], J[36 * NC], vfree[NV], ref[3 * NC], mu[NC];
} change;

static void random_change(change *d, const scene *s, uint64_t *seed) {
    for (int k = 0; k < s->p.nblk; k++)
        for (int i = 0; i < 6; i++)
            for (int j = 0; j <= i; j++)
                d->M[36 * k + 6 * i + j] = d->M[36 * k + 6 * j + i] =
                    0.1 * random_in(seed) * sqrt(s->M[36 * k + 7 * i] * s->M[36 * k + 7 * j]);
    /* Redundant rows must stay redundant, or the compliance decides: move the bodies' coordinates, and the frames. */
    double T[NB][36];
    for (int k = 0; k < s->p.nblk; k++)
        for (int i = 0; i < 36; i++) T[k][i] = 0.1 * random_in(seed);
    memset(d->J, 0, sizeof d->J);
    for (int i = 0; i < s->p.nc; i++) {
        double turn = random_in(seed);
        for (int side = 0; side < (s->p.b[i] >= 0 ? 2 : 1); side++) {
            const double *J = s->J + s->joff[i] + 18 * side, *Tk = T[side ? s->b[i] : s->a[i]];
            double *dJ = d->J + s->joff[i] + 18 * side;
            for (int c = 0; c < 6; c++) {
                dJ[c] += turn * J[6 + c], dJ[6 + c] -= turn * J[c];
                for (int r = 0; r < 3; r++)
                    for (int k = 0; k < 6; k++) dJ[6 * r + c] += J[6 * r + k] * Tk[6 * k + c];
            }
        }
    }
    for (int k = 0; k < s->p.nv; k++) d->vfree[k] = 0.01 * random_in(seed);
    memset(d->ref, 0, sizeof d->ref);
    for (int i = 0; i < s->p.nc; i++) d->mu[i] = 0.1 * random_in(seed);
}

static void moved(scene *t, const scene *s, const change *d, double h) {
    *t = *s;
    t->p.width = t->width, t->p.voff = t->voff, t->p.moff = t->moff, t->p.M = t->M, t->p.a = t->a, t->p.b = t->b;
    t->p.joff = t->joff, t->p.J = t->J, t->p.vfree = t->vfree, t->p.ref = t->ref, t->p.mu = t->mu;
    for (int k = 0; k < 36 * NB; k++) t->M[k] += h * d->M[k];
    for (int k = 0; k < 36 * NC; k++) t->J[k] += h * d->J[k];
    for (int k = 0; k < NV; k++) t->vfree[k] += h * d->vfree[k];
    for (int k = 0; k < 3 * NC; k++) t->ref[k] += h * d->ref[k];
    for (int k = 0; k < NC; k++) t->mu[k] = s->mu[k] > 0 ? s->mu[k] + h * d->mu[k] : 0;
}

static void mult(int nb, const double *M, const double *x, double *y) {
    for (int k = 0; k < nb; k++)
        for (int i = 0; i < 6; i++) {
            y[6 * k + i] = 0;
            for (int j = 0; j < 6; j++) y[6 * k + i] += M[36 * k + 6 * i + j] * x[6 * k + j];
        }
}

static void rows(const scene *s, const double *J, const double *v, double *c) {
    for (int i = 0; i < s->p.nc; i++)
        for (int r = 0; r < 3; r++) {
            double sum = 0;
            for (int k = 0; k < 6; k++) sum += J[s->joff[i] + 6 * r + k] * v[6 * s->a[i] + k];
            for (int k = 0; k < 6 && s->b[i] >= 0; k++) sum += J[s->joff[i] + 18 + 6 * r + k] * v[6 * s->b[i] + k];
            c[3 * i + r] = sum;
        }
}

static void columns(const scene *s, const double *J, const double *l, double *y) {
    for (int i = 0; i < s->p.nc; i++)
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 6; k++) {
                y[6 * s->a[i] + k] += J[s->joff[i] + 6 * r + k] * l[3 * i + r];
                if (s->b[i] >= 0) y[6 * s->b[i] + k] += J[s->joff[i] + 18 + 6 * r + k] * l[3 * i + r];
            }
}

/* Tangent of the solution along d, by ti_contact_jvp at both points. */
static void tangent(ti_contact_ws *ws, const scene *s, const answer *x, const change *d, double *dv, double *dl) {
    memset(dv, 0, NV * sizeof(double));
    memset(dl, 0, 3 * NC * sizeof(double));
    for (int k = 0; k < x->s.npoint; k++) {
        const ti_contact_point *q = &x->s.point[k];
        double u[NV] = {0}, Mu[NV] = {0}, r[NV] = {0}, dc[3 * NC], pv[NV], pl[3 * NC], mu[NC];
        for (int j = 0; j < s->p.nv; j++) u[j] = q->v[j] - s->vfree[j];
        mult(s->p.nblk, d->M, u, Mu);
        mult(s->p.nblk, s->M, d->vfree, r);
        for (int j = 0; j < s->p.nv; j++) r[j] -= Mu[j];
        columns(s, d->J, q->lambda, r);
        rows(s, d->J, q->v, dc);
        for (int j = 0; j < 3 * s->p.nc; j++) dc[j] += d->ref[j];
        for (int i = 0; i < s->p.nc; i++) mu[i] = s->mu[i] > 0 ? d->mu[i] : 0;
        ck_assert_int_eq(ti_contact_factor(ws, &s->p, &x->s, k), TRIBO_OK);
        ti_contact_jvp(ws, &s->p, 1, r, dc, mu, pv, pl);
        for (int j = 0; j < s->p.nv; j++) dv[j] += q->weight * pv[j];
        for (int j = 0; j < 3 * s->p.nc; j++) dl[j] += q->weight * pl[j];
    }
}

/* The same derivative seen from the outputs: <v_bar, dv> + <l_bar, dl> by ti_contact_vjp. */
static double cotangent(ti_contact_ws *ws, const scene *s, const answer *x, const change *d, const double *v_bar,
                        const double *l_bar) {
    double total = 0;
    for (int k = 0; k < x->s.npoint; k++) {
        const ti_contact_point *q = &x->s.point[k];
        double y[NV], c_bar[3 * NC], mu_bar[NC], u[NV], Mu[NV] = {0}, dc[3 * NC], Jy[3 * NC], sum = 0;
        ck_assert_int_eq(ti_contact_factor(ws, &s->p, &x->s, k), TRIBO_OK);
        ti_contact_vjp(ws, &s->p, v_bar, l_bar, y, c_bar, mu_bar);
        mult(s->p.nblk, s->M, d->vfree, Mu);
        for (int j = 0; j < s->p.nv; j++) sum += y[j] * Mu[j], u[j] = q->v[j] - s->vfree[j];
        mult(s->p.nblk, d->M, u, Mu);
        for (int j = 0; j < s->p.nv; j++) sum -= y[j] * Mu[j];
        rows(s, d->J, q->v, dc);
        rows(s, d->J, y, Jy);
        for (int j = 0; j < 3 * s->p.nc; j++) sum += c_bar[j] * (dc[j] + d->ref[j]) + q->lambda[j] * Jy[j];
        for (int i = 0; i < s->p.nc; i++) sum += s->mu[i] > 0 ? mu_bar[i] * d->mu[i] : 0;
        total += q->weight * sum;
    }
    return total;
}

static double norm(const double *a, int n) {
    double m = 0;
    for (int i = 0; i < n; i++) m = fmax(m, fabs(a[i]));
    return m;
}

/* Richardson differences of the re-solved problem; false if a mode changes on the way. */
static bool differences(ti_contact_ws *ws, const scene *s, const answer *x, const change *d, double h, double *dv,
                        double *dl) {
    static const double at[4] = {1, -1, 0.5, -0.5}, weight[4] = {-1.0 / 6, 1.0 / 6, 4.0 / 3, -4.0 / 3};
    memset(dv, 0, NV * sizeof(double));
    memset(dl, 0, 3 * NC * sizeof(double));
    for (int k = 0; k < 4; k++) {
        scene t;
        answer y;
        moved(&t, s, d, at[k] * h);
        solve(ws, &t, &y);
        if (y.status || memcmp(y.s.mode, x->s.mode, s->p.nc) != 0) return false;
        for (int j = 0; j < s->p.nv; j++) dv[j] += weight[k] / h * y.s.v[j];
        for (int j = 0; j < 3 * s->p.nc; j++) dl[j] += weight[k] / h * y.s.lambda[j];
    }
    return true;
}

/* Whether a contact has reached its disk's edge while others hold it in place. */
static bool held_at_the_edge(const scene *s, const answer *x) {
    double c[3 * NC];
    rows(s, s->J, x->s.v, c);
    for (int i = 0; i < s->p.nc; i++)
        if (x->s.mode[i] == TRIBO_SLIDE && s->mu[i] > 0 && hypot(c[3 * i], c[3 * i + 1]) < 1e-9) return true;
    return false;
}

START_TEST(derivative_is_that_of_the_solution) {
    ti_contact_ws *ws = workspace();
    int counted = 0;
    for (int i = 0; i < NMOTION; i++)
        for (uint64_t seed = 1; seed < 4; seed++) {
            scene s;
            answer x;
            change d;
            uint64_t rng = seed + 10;
            set(&s, &motions[i], seed);
            random_change(&d, &s, &rng);
            solve(ws, &s, &x);
            double dv[NV], dl[3 * NC], ev[NV], el[3 * NC];
            tangent(ws, &s, &x, &d, dv, dl);
            if (x.info.margin < 1e-4 || !differences(ws, &s, &x, &d, 1e-3, ev, el)) continue;
            counted++;
            double error_v = 0, error_l = 0;
            for (int j = 0; j < s.p.nv; j++) error_v = fmax(error_v, fabs(dv[j] - ev[j]));
            for (int j = 0; j < 3 * s.p.nc; j++) error_l = fmax(error_l, fabs(dl[j] - el[j]));
            if (getenv("TRIBO_VERBOSE"))
                printf("%-22s seed %d: dv %.1e dl %.1e margin %.1e\n", motions[i].name, (int)seed,
                       error_v / (norm(dv, s.p.nv) + 0.01), error_l / norm(dl, 3 * s.p.nc), x.info.margin);
            ck_assert_msg(error_v < 1e-6 * (norm(dv, s.p.nv) + 0.01), "%s: dv off by %g", motions[i].name, error_v);
            if (held_at_the_edge(&s, &x)) continue; /* impulses known to 1e-9 only: too little for differences */
            ck_assert_msg(error_l < 1e-6 * norm(dl, 3 * s.p.nc), "%s: dlambda off by %g", motions[i].name, error_l);
        }
    ck_assert_int_ge(counted, 2 * NMOTION);
    ti_contact_ws_free(ws);
}
END_TEST

START_TEST(reverse_is_the_transpose) {
    ti_contact_ws *ws = workspace();
    for (int i = 0; i < NMOTION; i++) {
        scene s;
        answer x;
        change d;
        uint64_t rng = 99;
        set(&s, &motions[i], 5);
        random_change(&d, &s, &rng);
        solve(ws, &s, &x);
        double dv[NV], dl[3 * NC], v_bar[NV], l_bar[3 * NC], forward = 0, size = 0;
        for (int j = 0; j < NV; j++) v_bar[j] = random_in(&rng);
        for (int j = 0; j < 3 * NC; j++) l_bar[j] = random_in(&rng);
        tangent(ws, &s, &x, &d, dv, dl);
        double reverse = cotangent(ws, &s, &x, &d, v_bar, l_bar);
        for (int j = 0; j < s.p.nv; j++) forward += v_bar[j] * dv[j], size += fabs(v_bar[j] * dv[j]);
        for (int j = 0; j < 3 * s.p.nc; j++) forward += l_bar[j] * dl[j], size += fabs(l_bar[j] * dl[j]);
        if (getenv("TRIBO_VERBOSE")) printf("%-22s dot %.1e\n", motions[i].name, fabs(forward - reverse) / size);
        ck_assert_msg(fabs(forward - reverse) < 1e-9 * size, "%s: %.17g against %.17g", motions[i].name, forward,
                      reverse);
    }
    ti_contact_ws_free(ws);
}
END_TEST

/* ---------------------------------------------------------------- always there */

/* noise: gaps that do not fit together, as a step leaves them; then several ways to share the load are nearly right. */
static void random_tower(scene *s, uint64_t *rng, double decades, double noise) {
    double m[NB];
    int nb = 1 + (int)(1.999999 * (random_in(rng) + 1));
    for (int k = 0; k < nb; k++) m[k] = pow(10, 0.5 * decades * random_in(rng));
    tower(s, nb, 4, m, 0.55 + 0.45 * random_in(rng), *rng | 1);
    for (int k = 0; k < 6 * nb; k++) s->vfree[k] += (k % 6 < 3 ? 0.01 : 0.05) * random_in(rng) * (k % 6 == 2 ? 0.1 : 1);
    for (int i = 0; i < s->p.nc && noise > 0; i++)
        s->ref[3 * i + 2] = noise * random_in(rng) * pow(10, -3 * fabs(random_in(rng)));
}

START_TEST(random_towers_are_solved) {
    static const double decades[4] = {0.5, 3, 9, 0.5}, noise[4] = {0, 0, 0, 1e-6};
    ti_contact_ws *ws = workspace();
    uint64_t rng = 5;
    for (int kind = 0; kind < 4; kind++) {
        double worst = 0;
        int count[6] = {0}, n = getenv("TRIBO_MANY") ? 2000 : 60;
        for (int k = 0; k < n; k++) {
            scene s;
            answer x;
            random_tower(&s, &rng, decades[kind], noise[kind]);
            solve(ws, &s, &x);
            worst = fmax(worst, x.info.residual);
            count[x.info.rung]++;
            ck_assert_msg(x.status == TRIBO_OK && x.info.residual < 1e-9,
                          "tower %d of %g decades, %d boxes: status %d, residual %g", k, decades[kind], s.p.nblk,
                          x.status, x.info.residual);
        }
        if (getenv("TRIBO_VERBOSE"))
            printf("%g decades, noise %g: worst residual %.1e, rungs none %d newton %d path %d interior %d\n",
                   decades[kind], noise[kind], worst, count[0], count[2], count[4], count[5]);
    }
    ti_contact_ws_free(ws);
}
END_TEST

START_TEST(extreme_stacks_are_exact) {
    static const double mass[6][2] = {{1, 1e9}, {1e9, 1}, {1e-3, 1e3}, {1e3, 1e-3}, {1e-6, 1e3}, {1, 1e6}};
    ti_contact_ws *ws = workspace();
    for (int k = 0; k < 6; k++)
        for (int pull = 0; pull < 2; pull++) {
            scene s;
            answer x;
            tower(&s, 2, 4, mass[k], 0.9, 3);
            s.vfree[pull ? 6 : 0] = 1e-3 * pull;
            solve(ws, &s, &x);
            ck_assert_msg(x.status == TRIBO_OK && x.info.residual < 1e-10, "%g on %g: status %d, residual %g",
                          mass[k][1], mass[k][0], x.status, x.info.residual);
            for (int j = 0; j < 12; j++)
                ck_assert_msg(fabs(x.s.v[j]) < 1e-12, "%g on %g moves", mass[k][1], mass[k][0]);
            double load = 0;
            for (int i = 0; i < 4; i++) load += x.s.lambda[3 * i + 2];
            double weight = 9.81e-3 * (mass[k][0] + mass[k][1]);
            ck_assert_msg(fabs(load - weight) < 1e-9 * weight, "%g on %g: load %.15g, not %.15g", mass[k][1],
                          mass[k][0], load, weight);
        }
    ti_contact_ws_free(ws);
}
END_TEST

/* ---------------------------------------------------------------- one answer, wherever it is sought from */

static double difference(const double *a, const double *b, int n) {
    double m = 0;
    for (int i = 0; i < n; i++) m = fmax(m, fabs(a[i] - b[i]));
    return m;
}

START_TEST(warm_is_cold) {
    ti_contact_ws *ws = workspace();
    for (int i = 0; i < NMOTION; i++) {
        scene s, t;
        answer x, y;
        change d;
        uint64_t rng = 4;
        set(&s, &motions[i], 6);
        random_change(&d, &s, &rng);
        moved(&t, &s, &d, 1e-3);
        solve(ws, &s, &x);
        solve(ws, &t, &y); /* a start that is near, but another problem's */
        ti_contact_options o = {.tol = 1e-10, .warm = true, .sharp = TI_SHARP_ANSWER};
        ck_assert_int_eq(ti_contact_solve(ws, &s.p, &o, &y.s, &y.info), TRIBO_OK);
        double dv = difference(x.s.v, y.s.v, s.p.nv) / norm(s.vfree, s.p.nv);
        double dl = difference(x.s.lambda, y.s.lambda, 3 * s.p.nc) / norm(x.s.lambda, 3 * s.p.nc);
        if (getenv("TRIBO_VERBOSE"))
            printf("%-22s warm: dv %.1e dl %.1e rung %d\n", motions[i].name, dv, dl, y.info.rung);
        ck_assert_msg(dv < 1e-12, "%s: warm and cold velocities differ by %g", motions[i].name, dv);
        ck_assert_msg(dl < 1e-8, "%s: warm and cold impulses differ by %g", motions[i].name, dl);
    }
    ti_contact_ws_free(ws);
}
END_TEST

START_TEST(order_of_contacts_is_nothing) {
    ti_contact_ws *ws = workspace();
    for (int i = 0; i < NMOTION; i++) {
        scene s, t;
        answer x, y;
        set(&s, &motions[i], 6);
        moved(&t, &s, &(change){.M = {0}}, 0);
        int nc = s.p.nc;
        for (int k = 0; k < nc; k++) { /* backwards */
            t.a[k] = s.a[nc - 1 - k], t.b[k] = s.b[nc - 1 - k], t.joff[k] = s.joff[nc - 1 - k];
            t.mu[k] = s.mu[nc - 1 - k];
        }
        solve(ws, &s, &x);
        solve(ws, &t, &y);
        double dv = difference(x.s.v, y.s.v, s.p.nv) / norm(s.vfree, s.p.nv);
        ck_assert_msg(dv < 1e-11, "%s: velocities differ by %g", motions[i].name, dv);
    }
    ti_contact_ws_free(ws);
}
END_TEST

START_TEST(four_corners_are_three) {
    ti_contact_ws *ws = workspace();
    for (int slides = 0; slides < 2; slides++) {
        scene s[2];
        answer x[2];
        change d = {.M = {0}};
        double one = 1, dv[2][NV], dl[3 * NC];
        for (int k = 0; k < 2; k++) {
            tower(&s[k], 1, 4 - k, &one, 0.4, 0);
            s[k].vfree[0] = slides ? 1 : 1e-3, s[k].vfree[1] = slides ? 0.5 : 0;
            solve(ws, &s[k], &x[k]);
        }
        d.vfree[0] = 0.3, d.vfree[1] = -1, d.vfree[2] = 0.2;
        for (int i = 0; i < 4; i++) d.mu[i] = 1;
        for (int k = 0; k < 2; k++) tangent(ws, &s[k], &x[k], &d, dv[k], dl);
        ck_assert_msg(difference(x[0].s.v, x[1].s.v, 6) < 1e-14, "velocities differ");
        ck_assert_msg(difference(dv[0], dv[1], 6) < 1e-9, "tangents differ by %g", difference(dv[0], dv[1], 6));
    }
    ti_contact_ws_free(ws);
}
END_TEST

START_TEST(load_is_shared_continuously) {
    ti_contact_ws *ws = workspace();
    double before[12] = {0}, one = 1, jump = 0;
    for (int k = 0; k <= 200; k++) { /* a spinning cube whose direction of travel turns round */
        scene s;
        answer x;
        double t = 2 * 3.14159265358979 * k / 200;
        tower(&s, 1, 4, &one, 0.4, 0);
        s.vfree[0] = 0.2 * cos(t), s.vfree[1] = 0.2 * sin(t), s.vfree[5] = 3;
        solve(ws, &s, &x);
        ck_assert_int_eq(x.status, TRIBO_OK);
        if (k > 0) jump = fmax(jump, difference(before, x.s.lambda, 12) / norm(x.s.lambda, 12));
        memcpy(before, x.s.lambda, sizeof before);
    }
    ck_assert_msg(jump < 0.05, "a step of 1.8 degrees moves an impulse by %g of the largest", jump);
    ti_contact_ws_free(ws);
}
END_TEST

/* The definition by itself: R = delta mean(G_nn) at the normals of the dense problem, none at the tangents, delta =
 * 1e-6 and 2e-6 extrapolated, each solved to 1e-16 by a semismooth Newton method on the Delassus matrix (numpy). Their
 * error against smaller delta is below 1e-9. */
START_TEST(canonical_is_the_limit_of_equal_compliance) {
    static const double mass[NB] = {1, 0.7, 1.3, 0.9};
    static const double cube[6] = {0.1991043086393, 0.09943007111327, 0, 0, 0, 2.923042370227};
    static const double slow[24] = {0,
                                    0,
                                    0,
                                    0,
                                    0,
                                    0,
                                    0.0007400233969035,
                                    5.172290582455e-05,
                                    0,
                                    0,
                                    0,
                                    -0.01233607396165,
                                    0.005833613676515,
                                    -0.001995631596752,
                                    0,
                                    0,
                                    0,
                                    0.7016085294457,
                                    0.007986772537304,
                                    -0.002988682996571,
                                    0,
                                    0,
                                    0,
                                    -1.116761159054};
    static const double fast[24] = {0.01545882638288, -0.001327226781538, 0, 0, 0, 0.09481004863834,
                                    0.03876811830574, -0.009300004224769, 0, 0, 0, -0.3064338819116,
                                    0.05980378283941, -0.01996758623389,  0, 0, 0, 0.8011965986544,
                                    0.07993484690742, -0.02995572636633,  0, 0, 0, -1.158448117901};
    static const struct {
        int nb;
        double mu, unit;
        const double *v;
    } known[3] = {{1, 0.4, 0, cube}, {4, 0.4, 0.001, slow}, {4, 0.2, 0.01, fast}};
    ti_contact_ws *ws = workspace();
    for (int k = 0; k < 3; k++) {
        scene s;
        answer x;
        tower(&s, known[k].nb, 4, mass, known[k].mu, 0);
        for (int j = 0; j < s.p.nblk; j++) {
            double *v = s.vfree + 6 * j;
            v[0] = 2 * known[k].unit * (j + 1), v[1] = -known[k].unit * j, v[5] = 0.3 * (j + 1) * (j % 2 ? -1 : 1);
        }
        if (k == 0) s.vfree[0] = 0.2, s.vfree[1] = 0.1, s.vfree[5] = 3;
        solve(ws, &s, &x);
        ck_assert(x.status == TRIBO_OK && x.info.canonical);
        double off = difference(x.s.v, known[k].v, s.p.nv);
        if (getenv("TRIBO_VERBOSE")) printf("known solution %d: dv %.1e\n", k, off);
        ck_assert_msg(off < 1e-8, "known solution %d: velocity off by %g", k, off);
    }
    ti_contact_ws_free(ws);
}
END_TEST

/* ---------------------------------------------------------------- promises */

START_TEST(only_new_allocates_memory) {
    ti_contact_ws *ws = workspace();
    uint64_t rng = 11;
    int rungs[6] = {0}, before = mallocs;
    static double v_bar[NV], l_bar[3 * NC], y[NV], c_bar[3 * NC], mu_bar[NC], dv[NV], dl[3 * NC];
    for (int k = 0; k < 60; k++) {
        scene s;
        answer x;
        random_tower(&s, &rng, 3, k % 2 ? 1e-6 : 0);
        ti_arena m = {(char *)x.memory, 0};
        ti_contact_solution_carve(&m, s.p.nc, s.p.nv, &x.s);
        ti_contact_options o = {.tol = 1e-10, .sharp = TI_SHARP_ANSWER};
        before = mallocs;
        x.status = ti_contact_solve(ws, &s.p, &o, &x.s, &x.info);
        tribo_status factored = ti_contact_factor(ws, &s.p, &x.s, 0);
        ti_contact_vjp(ws, &s.p, v_bar, l_bar, y, c_bar, mu_bar);
        ti_contact_jvp(ws, &s.p, 1, v_bar, l_bar, mu_bar, dv, dl);
        int after = mallocs;
        ck_assert(x.status >= 0);
        ck_assert_int_eq(factored, TRIBO_OK);
        ck_assert_int_eq(after, before);
        rungs[x.info.rung]++;
    }
    ck_assert_msg(rungs[TRIBO_RUNG_NEWTON] > 0 && rungs[TRIBO_RUNG_PATH] > 0 && rungs[TRIBO_RUNG_INTERIOR] > 0,
                  "not every rung was tried");
    ti_contact_ws_free(ws);
    ck_assert(!COUNTS_MALLOC || before > 0);
}
END_TEST

START_TEST(result_depends_on_the_problem_only) {
    ti_contact_ws *ws = workspace(), *fresh = workspace();
    scene s, other;
    answer x, y;
    set(&s, &motions[4], 2);
    set(&other, &motions[NMOTION - 2], 3);
    solve(ws, &other, &x);
    solve(ws, &s, &x);
    solve(fresh, &s, &y);
    ck_assert(memcmp(x.s.lambda, y.s.lambda, sizeof(double) * 12) == 0);
    ck_assert(memcmp(x.s.v, y.s.v, sizeof(double) * 6) == 0);
    s.J[3] = NAN;
    solve(ws, &s, &x);
    ck_assert_int_eq(x.status, TRIBO_E_NONFINITE);
    set(&s, &motions[4], 2);
    s.vfree[1] = INFINITY;
    solve(ws, &s, &x);
    ck_assert_int_eq(x.status, TRIBO_E_NONFINITE);
    ti_contact_ws_free(ws), ti_contact_ws_free(fresh);
}
END_TEST

START_TEST(parting_contacts_do_nothing) {
    ti_contact_ws *ws = workspace();
    scene s;
    answer x;
    double one = 1;
    tower(&s, 1, 4, &one, 0.4, 0);
    s.vfree[2] = 0.1;
    solve(ws, &s, &x);
    ck_assert_int_eq(x.status, TRIBO_OK);
    ck_assert_int_eq(x.info.rung, TRIBO_RUNG_NONE);
    ck_assert(memcmp(x.s.v, s.vfree, 6 * sizeof(double)) == 0 && norm(x.s.lambda, 12) == 0);
    ti_contact_ws_free(ws);
}
END_TEST

/* In trees, what is far off, and looked at because it is fast, asks for its gap in a step: that has no say in how well
 * the slow contacts beside it are solved. */
START_TEST(parting_contacts_are_no_measure) {
    const tribo_law_options law = {.solver = TRIBO_SOLVER_ADMM, .raw = true};
    const double m[2] = {1, 1};
    double v[2][6];
    for (int far = 0; far < 2; far++) {
        ti_contact_ws *ws;
        scene s;
        answer x;
        ck_assert_int_eq(ti_contact_ws_new(&(ti_contact_size){NC, NV, NB, 6, false, false}, &law, NULL, &ws), TRIBO_OK);
        tower(&s, 1 + far, 4, m, 0.4, 0);
        s.p.chains = true, s.vfree[0] = 5e-3, s.vfree[5] = 2e-3;
        for (int i = 4; i < s.p.nc; i++) s.ref[3 * i + 2] = 1e4;
        solve(ws, &s, &x);
        ck_assert_int_eq(x.status, TRIBO_OK);
        memcpy(v[far], x.s.v, sizeof v[far]);
        ti_contact_ws_free(ws);
    }
    for (int k = 0; k < 6; k++) ck_assert_double_eq_tol(v[0][k], v[1][k], 1e-7);
}
END_TEST

/* ---------------------------------------------------------------- rounds of staggered projections */

typedef struct sum {
    const scene *s;
    const change *d;
    double total;
    int stages;
} sum;

/* <gradient, d>, stage by stage. */
static void add_stage(void *context, const double *lambda, const double *v, const double *y, const double *c_bar,
                      const double *mu_bar) {
    sum *t = context;
    const scene *s = t->s;
    double u[NV], Mu[NV] = {0}, dc[3 * NC], Jy[3 * NC];
    mult(s->p.nblk, s->M, t->d->vfree, Mu);
    for (int j = 0; j < s->p.nv; j++) t->total += y[j] * Mu[j], u[j] = v[j] - s->vfree[j];
    mult(s->p.nblk, t->d->M, u, Mu);
    for (int j = 0; j < s->p.nv; j++) t->total -= y[j] * Mu[j];
    rows(s, t->d->J, v, dc);
    rows(s, t->d->J, y, Jy);
    for (int j = 0; j < 3 * s->p.nc; j++) t->total += c_bar[j] * (dc[j] + t->d->ref[j]) + lambda[j] * Jy[j];
    for (int i = 0; i < s->p.nc; i++) t->total += mu_bar[i] * t->d->mu[i];
    t->stages++;
}

static double staggered_loss(ti_staggered_ws *ws, const scene *s, int rounds, const double *v_bar, const double *l_bar,
                             double *tape) {
    double lambda[3 * NC], v[NV], L = 0;
    unsigned char mode[NC];
    ck_assert_int_eq(ti_staggered_solve(ws, &s->p, rounds, tape, lambda, v, mode), TRIBO_OK);
    for (int j = 0; j < s->p.nv; j++) L += v_bar[j] * v[j];
    for (int j = 0; j < 3 * s->p.nc; j++) L += l_bar[j] * lambda[j];
    return L;
}

enum { ROUNDS = 80 };
static const int with_one_sharing[3] = {1, 3, 8}; /* motions without redundancy, or whose impulses it leaves alone */

START_TEST(unrolled_reverse_is_that_of_the_rounds) {
    ti_staggered_ws *ws;
    ck_assert_int_eq(ti_staggered_ws_new(&(ti_contact_size){NC, NV, NB, 6, false, false}, NULL, &ws), TRIBO_OK);
    static double tape[ROUNDS * 3 * NC];
    for (int i = 0; i < 2; i++)
        for (int rounds = 1; rounds < 5; rounds++) {
            scene s, t;
            change d;
            uint64_t rng = 12;
            double v_bar[NV], l_bar[3 * NC], at[4];
            set(&s, &motions[i ? 7 : 3], 3);
            s.vfree[3] += 0.01, s.vfree[4] += 0.01; /* without, a corner of three bears nothing in the first round */
            random_change(&d, &s, &rng);
            for (int j = 0; j < NV; j++) v_bar[j] = random_in(&rng);
            for (int j = 0; j < 3 * NC; j++) l_bar[j] = random_in(&rng);
            static const double step[4] = {1, -1, 0.5, -0.5};
            for (int k = 0; k < 4; k++) {
                moved(&t, &s, &d, 1e-3 * step[k]);
                at[k] = staggered_loss(ws, &t, rounds, v_bar, l_bar, tape);
            }
            double fd = (8 * (at[2] - at[3]) - (at[0] - at[1])) / 6e-3;
            staggered_loss(ws, &s, rounds, v_bar, l_bar, tape);
            sum total = {&s, &d, 0, 0};
            ck_assert_int_eq(ti_staggered_vjp(ws, &s.p, rounds, tape, v_bar, l_bar, add_stage, &total), TRIBO_OK);
            ck_assert_int_eq(total.stages, 2 * rounds + 1);
            ck_assert_msg(fabs(fd - total.total) < 1e-7 * (fabs(fd) + 1e-3),
                          "%d rounds: reverse %.12g, difference %.12g", rounds, total.total, fd);
        }
    ti_staggered_ws_free(ws);
}
END_TEST

START_TEST(unrolled_at_convergence_is_implicit) {
    ti_staggered_ws *ws;
    ti_contact_ws *ncp = workspace();
    ck_assert_int_eq(ti_staggered_ws_new(&(ti_contact_size){NC, NV, NB, 6, false, false}, NULL, &ws), TRIBO_OK);
    static double tape[ROUNDS * 3 * NC];
    for (int i = 0; i < 3; i++) {
        scene s;
        answer x;
        change d;
        uint64_t rng = 12;
        double v_bar[NV], l_bar[3 * NC] = {0}, lambda[3 * NC], v[NV];
        unsigned char mode[NC];
        set(&s, &motions[with_one_sharing[i]], 3);
        random_change(&d, &s, &rng);
        for (int j = 0; j < NV; j++) v_bar[j] = random_in(&rng);
        solve(ncp, &s, &x);
        ck_assert_int_eq(ti_staggered_solve(ws, &s.p, ROUNDS, tape, lambda, v, mode), TRIBO_OK);
        ck_assert_msg(difference(v, x.s.v, s.p.nv) < 1e-11, "%s: velocities differ by %g",
                      motions[with_one_sharing[i]].name, difference(v, x.s.v, s.p.nv));
        double implicit = cotangent(ncp, &s, &x, &d, v_bar, l_bar);
        sum total = {&s, &d, 0, 0};
        ck_assert_int_eq(ti_staggered_vjp(ws, &s.p, ROUNDS, tape, v_bar, l_bar, add_stage, &total), TRIBO_OK);
        if (getenv("TRIBO_VERBOSE"))
            printf("%-22s unrolled against implicit: %.1e\n", motions[with_one_sharing[i]].name,
                   fabs(implicit - total.total) / (fabs(implicit) + 1e-3));
        ck_assert_msg(fabs(implicit - total.total) < 1e-8 * (fabs(implicit) + 1e-3),
                      "%s: unrolled %.12g, implicit %.12g", motions[with_one_sharing[i]].name, total.total, implicit);
    }
    ti_staggered_ws_free(ws), ti_contact_ws_free(ncp);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("ncp");
    TCase *t = tcase_create("solve");
    tcase_add_test(t, residual_is_small);
    tcase_add_test(t, derivative_is_that_of_the_solution);
    tcase_add_test(t, reverse_is_the_transpose);
    tcase_add_test(t, random_towers_are_solved);
    tcase_add_test(t, extreme_stacks_are_exact);
    tcase_add_test(t, warm_is_cold);
    tcase_add_test(t, order_of_contacts_is_nothing);
    tcase_add_test(t, four_corners_are_three);
    tcase_add_test(t, load_is_shared_continuously);
    tcase_add_test(t, canonical_is_the_limit_of_equal_compliance);
    tcase_add_test(t, only_new_allocates_memory);
    tcase_add_test(t, result_depends_on_the_problem_only);
    tcase_add_test(t, parting_contacts_do_nothing);
    tcase_add_test(t, parting_contacts_are_no_measure);
    tcase_add_test(t, unrolled_reverse_is_that_of_the_rounds);
    tcase_add_test(t, unrolled_at_convergence_is_implicit);
    suite_add_tcase(s, t);
    return s;
}
