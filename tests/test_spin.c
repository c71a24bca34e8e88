/* test_spin.c -- free bodies that turn by any angle in a step: what is kept, closed forms, derivatives, the limit. */
#include "test_main.h"
#include "worlds.h"

static const double H = 0.01; /* s, the time step */

/* A body in free flight with the principal moments I, without gravity. */
static world flying(const double *I) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_body_def d = tribo_default_body();
    d.name = "top", d.inertia_given = true, d.mass = 2;
    memcpy(d.inertia, I, 3 * sizeof *I);
    tribo_geom_def g = tribo_default_geom();
    g.shape = TRIBO_SPHERE, g.size[0] = 0.1;
    tribo_add_geom(b, tribo_add_body(b, &d), &g);
    tribo_set_gravity(b, (double[3]){0, 0, 0});
    return world_new(b, H);
}

/* Angular momentum in the world and twice the energy of a state of a flying body. */
static double momentum(const double *I, const double *x, double *L) {
    double body[3], energy = 0;
    for (int i = 0; i < 3; i++) body[i] = I[i] * x[10 + i], energy += body[i] * x[10 + i];
    rotate(x + 3, body, L);
    return energy;
}

static void random_moments(unsigned *seed, double *I) { /* of a box */
    double s[3];
    for (int i = 0; i < 3; i++) s[i] = 0.2 + 0.15 * test_random(seed), s[i] *= s[i];
    for (int i = 0; i < 3; i++) I[i] = s[(i + 1) % 3] + s[(i + 2) % 3];
}

START_TEST(energy_and_momentum_are_kept_at_any_spin) {
    unsigned seed = 3;
    int fast = 0;
    for (int trial = 0; trial < 120; trial++) {
        double I[3], x[2][13], L[2][3], angle = 0.6 * pow(1000, trial / 119.0), size = 0; /* in a step: 0.6 to 600 */
        random_moments(&seed, I);
        world w = flying(I);
        double *v = world_v0(&w, 0) + 3;
        for (int i = 0; i < 3; i++) v[i] = test_random(&seed), size += v[i] * v[i];
        for (int i = 0; i < 3; i++) v[i] *= angle / H / sqrt(size);
        memcpy(x[0], w.x0, sizeof x[0]);
        for (int k = 0; k < 5; k++) ck_assert_int_eq(tribo_step(w.ws, w.p, k ? x[1] : x[0], NULL, x[1], NULL), 0);
        double before = momentum(I, x[0], L[0]), after = momentum(I, x[1], L[1]), all = 0, off = 0;
        for (int i = 0; i < 3; i++) all += L[0][i] * L[0][i], off += (L[1][i] - L[0][i]) * (L[1][i] - L[0][i]);
        NEAR(after / before, 1, 1e-12);
        NEAR(sqrt(off / all), 0, 1e-12);
        fast += angle > 2.7;
        world_free(&w);
    }
    ck_assert_int_gt(fast, 60);
}
END_TEST

/* Moments A, A, C: in the body the angular velocity turns about the axis by (C - A) / A of its share along it, and the
 * body about L by |L| / A. Polygons of n sides for that circle are late by a third of their half angle squared. */
START_TEST(symmetric_top) {
    const double I[3] = {0.03, 0.03, 0.05}, share[2] = {0.8, 0.6};
    for (int k = 0; k < 12; k++) {
        double angle = 0.7 * pow(1.8, k), w0 = angle / H, x[13], axis[3] = {0, 0, 1}, L[3], now[3], then[3];
        world w = flying(I);
        double *v = world_v0(&w, 0) + 3;
        v[0] = share[0] * w0, v[2] = share[1] * w0;
        ck_assert_int_eq(tribo_step(w.ws, w.p, w.x0, NULL, x, NULL), TRIBO_OK);
        double turn = H * (I[2] - I[0]) / I[0] * v[2], late = angle * 0.25 * 0.25 / 12;
        NEAR(x[12] / w0, share[1], 1e-12);
        NEAR(x[10] / w0, share[0] * cos(turn), late + 1e-12);
        NEAR(x[11] / w0, share[0] * sin(turn), late + 1e-12);
        momentum(I, w.x0, L);
        double size = sqrt(L[0] * L[0] + L[2] * L[2]), half = 0.5 * H * size / I[0];
        double q[4] = {cos(half), sin(half) * L[0] / size, 0, sin(half) * L[2] / size};
        rotate(q, axis, then), rotate(x + 3, axis, now);
        for (int i = 0; i < 3; i++) NEAR(now[i], then[i], late + 1e-12);
        world_free(&w);
    }
}
END_TEST

/* Equal moments: the angular velocity stays and the body turns by exactly its angle, however large. */
START_TEST(a_ball_turns_by_its_angle) {
    const double I[3] = {0.04, 0.04, 0.04};
    for (double angle = 0.1; angle < 2e6; angle *= 7) {
        world w = flying(I);
        double *v = world_v0(&w, 0) + 3, x[13];
        v[0] = 2 / 3. * angle / H, v[1] = -1 / 3. * angle / H, v[2] = v[0];
        ck_assert_int_eq(tribo_step(w.ws, w.p, w.x0, NULL, x, NULL), TRIBO_OK);
        for (int i = 0; i < 3; i++) {
            NEAR(x[10 + i] / v[i], 1, 1e-15 * (1 + angle));
            NEAR(x[4 + i], sin(angle / 2) * v[i] * H / angle, 1e-15 * (1 + angle));
        }
        world_free(&w);
    }
}
END_TEST

/* Spins from a turn in a step on: the reverse of three steps against differences, and the Jacobians against it. */
START_TEST(derivatives_of_a_fast_spin) {
    enum { N = 3 };
    const double I[3] = {0.03, 0.04, 0.055};
    for (int k = 0; k < 3; k++) {
        world w = flying(I);
        double *v = world_v0(&w, 0) + 3, spin = (const double[]){1.5, 6, 30}[k] / H, worst = 0, jacobian = 0;
        v[0] = 0.6 * spin, v[1] = 0.5 * spin, v[2] = -0.4 * spin;
        world_steps(&w, N);
        for (int t = 0; t < N; t++) w.U[6 * t + 3] = 3 + t, w.U[6 * t + 4] = 5;
        world_run(&w);
        double A[144], B[72];
        ck_assert_int_eq(tribo_step_jac(w.ws, w.tape, N - 1, A, B, NULL), TRIBO_OK);
        for (int row = 3; row < 12; row++) {
            if (row >= 6 && row < 9) continue;
            double bar[12] = {0}, x_bar[12] = {0}, u_bar[6] = {0};
            bar[row] = 1;
            ck_assert_int_eq(tribo_step_vjp(w.ws, w.tape, N - 1, bar, x_bar, u_bar, NULL), TRIBO_OK);
            for (int i = 0; i < 12; i++)
                jacobian = fmax(jacobian, fabs(A[12 * row + i] - x_bar[i]) / fmax(1, spin * H));
            for (int i = 0; i < 6; i++) jacobian = fmax(jacobian, fabs(B[6 * row + i] - u_bar[i]));
            world_gradient(&w, N, row);
            for (int i = 9; i < 12; i++) { /* by the angular velocity */
                double h = 1e-4 * spin / (1 + spin * H), d[2][12], x[13], *end = w.X + N * w.n.nx;
                for (int s = 0; s < 2; s++) {
                    double dx[12] = {0}, y[13], U[6 * N];
                    dx[i] = s ? h : -h;
                    tribo_state_add(w.m, w.x0, dx, y);
                    memcpy(U, w.U, sizeof U);
                    for (int t = 0; t < N; t++) {
                        ck_assert_int_eq(tribo_step(w.ws, w.p, y, U + 6 * t, x, NULL), TRIBO_OK);
                        memcpy(y, x, sizeof y);
                    }
                    tribo_state_difference(w.m, end, y, d[s]);
                }
                double q = (d[1][row] - d[0][row]) / (2 * h), unit = row < 6 ? H : 1;
                worst = fmax(worst, fabs(q - w.x_bar[i]) / (unit * (1 + spin * H)));
            }
        }
        ck_assert_msg(worst < 1e-7, "spin %g: differences off by %g", spin, worst);
        ck_assert_msg(jacobian < 1e-12, "spin %g: Jacobians off by %g", spin, jacobian);
        world_free(&w);
    }
}
END_TEST

/* Where no number of substeps does the step says so and writes nothing. */
START_TEST(too_fast_is_told) {
    const double I[3] = {0.03, 0.04, 0.055};
    world w = flying(I);
    double x[13];
    for (int i = 0; i < 13; i++) x[i] = 7;
    world_v0(&w, 0)[3] = world_v0(&w, 0)[4] = 1e5 / H;
    ck_assert_int_eq(tribo_step(w.ws, w.p, w.x0, NULL, x, NULL), TRIBO_E_FAST);
    for (int i = 0; i < 13; i++) ck_assert(x[i] == 7);
    world_free(&w);
}
END_TEST

/* A box above the floor that turns many times in a step: no corner of it comes further down than its ball, however far
 * its velocity would take it. */
START_TEST(a_spin_strikes_nothing_out_of_reach) {
    for (double angle = 0.3; angle < 500; angle *= 3) {
        tribo_builder *b = tribo_builder_new(NULL);
        const double size[3] = {0.1, 0.05, 0.03}, high[3] = {0, 0, 0.12};
        world_floor(b, 0.5, 0);
        world_solid(b, "top", TRIBO_BOX, 1, size, high, world_material(0.5, 0));
        tribo_set_gravity(b, (double[3]){0, 0, 0});
        world w = world_new(b, H);
        double *v = world_v0(&w, 0) + 3, x[13];
        v[0] = 0.2 * angle / H, v[1] = 0.9 * angle / H, v[2] = 0.3 * angle / H;
        ck_assert_int_eq(tribo_step(w.ws, w.p, w.x0, NULL, x, NULL), TRIBO_OK);
        ck_assert(x[2] == 0.12 && x[9] == 0);
        NEAR(tribo_energy(w.m, w.p, x) / tribo_energy(w.m, w.p, w.x0), 1, 1e-12);
        w.x0[2] = 0.09; /* within reach: it may be struck, and gains nothing */
        ck_assert_int_ge(tribo_step(w.ws, w.p, w.x0, NULL, x, NULL), 0);
        ck_assert_double_le(tribo_energy(w.m, w.p, x), tribo_energy(w.m, w.p, w.x0) * (1 + 1e-12));
        world_free(&w);
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("spin");
    TCase *t = tcase_create("spin");
    tcase_add_test(t, energy_and_momentum_are_kept_at_any_spin);
    tcase_add_test(t, symmetric_top);
    tcase_add_test(t, a_ball_turns_by_its_angle);
    tcase_add_test(t, derivatives_of_a_fast_spin);
    tcase_add_test(t, a_spin_strikes_nothing_out_of_reach);
    tcase_add_test(t, too_fast_is_told);
    suite_add_tcase(s, t);
    return s;
}
