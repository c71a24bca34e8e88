/* test_torsion.c -- friction against turning and rolling against its closed forms, values and derivatives.
 *
 * Steps are semi-implicit Euler's: with a constant acceleration a distance is a h^2 k (k + 1) / 2 beyond the uniform
 * one.
 */
#include "test_main.h"
#include "worlds.h"

static const double H = 0.002, M = 1.5, R = 0.2, ROUND = 1e-11;

/* A ball of moment b m r^2 on a level floor under gravity that pulls down a slope of angle th. */
static world ball_on(double b, tribo_material floor, double th, const tribo_options *o) {
    tribo_builder *at = tribo_builder_new(NULL);
    world_wall(at, "floor", NULL, NULL, floor);
    tribo_body_def d = tribo_default_body();
    d.name = "ball", d.pos[2] = R;
    d.inertia_given = true, d.mass = M;
    for (int i = 0; i < 3; i++) d.inertia[i] = b * M * R * R;
    tribo_geom_def g = tribo_default_geom();
    g.name = "ball", g.shape = TRIBO_SPHERE, g.size[0] = R;
    tribo_add_geom(at, tribo_add_body(at, &d), &g);
    tribo_set_gravity(at, (double[3]){G * sin(th), 0, -G * cos(th)});
    tribo_set_timestep(at, H);
    return world_of(world_build(at), o);
}

static tribo_material material(double mu, double torsion, double rolling) {
    tribo_material m = world_material(mu, 0);
    m.torsion = torsion, m.rolling = rolling;
    return m;
}

static double triangle(int n) {
    return H * H * n * (n + 1) / 2;
}

/* A spinning ball loses h mu g / (b r^2) of its spin a step, and stops and stays stopped. */
START_TEST(a_spinning_ball_stops) {
    const double b = 0.4, mu = 0.01, w0 = 5;
    double less = H * mu * G / (b * R * R); /* of the spin, a step */
    enum { N = 450 };
    world w = ball_on(b, material(0.5, mu, 0), 0, NULL);
    world_v0(&w, 0)[5] = w0;
    world_steps(&w, N);
    world_run(&w);
    for (int k = 0; k <= N; k++) {
        double left = w0 - k * less;
        NEAR(world_v(&w, k, 0, 5), left > 0 ? left : 0, ROUND);
        NEAR(world_q(&w, k, 0, 2), R, ROUND);
    }
    int n = (int)(w0 / less);
    ck_assert(n + 5 < N);
    world_gradient(&w, n, world_dv(&w, 0, 5));
    NEAR(world_p_bar(&w, "floor/torsion"), -n * H * G / (b * R * R), 1e-9);
    NEAR(world_p_bar(&w, "gravity/z"), n * less / G, 1e-9);
    NEAR(world_p_bar(&w, "ball/inertia/zz"), n * less / (b * M * R * R), 1e-9);
    NEAR(w.x_bar[world_dv(&w, 0, 5)], 1, ROUND);
    world_gradient(&w, N, world_dv(&w, 0, 5)); /* stopped */
    NEAR(world_p_bar(&w, "floor/torsion"), 0, ROUND);
    NEAR(w.x_bar[world_dv(&w, 0, 5)], 0, ROUND);
    world_free(&w);
}
END_TEST

/* A rolling ball is slowed by mu g / (r (1 + b)), and stops and stays stopped. */
START_TEST(a_rolling_ball_stops) {
    const double b = 0.4, mu = 0.02, v0 = 0.5, a = mu * G / (R * (1 + b));
    enum { N = 500 };
    int n = (int)(v0 / (a * H));
    ck_assert(n + 20 < N);
    world w = ball_on(b, material(0.5, 0, mu), 0, NULL);
    double *v = world_v0(&w, 0);
    v[0] = v0, v[4] = v0 / R;
    world_steps(&w, N);
    world_run(&w);
    double energy = HUGE_VAL;
    for (int k = 0; k <= N; k++) {
        double left = k <= n ? v0 - k * H * a : 0, now = tribo_energy(w.m, w.p, w.X + k * w.n.nx);
        NEAR(world_v(&w, k, 0, 0), left, ROUND);
        NEAR(world_v(&w, k, 0, 4), left / R, ROUND / R);
        ck_assert(now <= energy + 1e-12);
        energy = now;
    }
    NEAR(world_q(&w, n, 0, 0), n * H * v0 - a * triangle(n), 1e-10);
    NEAR(world_q(&w, N, 0, 0), world_q(&w, n + 1, 0, 0), 1e-10);
    world_gradient(&w, n, 0);
    NEAR(world_p_bar(&w, "floor/rolling"), -a / mu * triangle(n), 1e-9);
    NEAR(world_p_bar(&w, "floor/friction"), 0, 1e-9);
    NEAR(world_p_bar(&w, "ball/inertia/yy"), a / (1 + b) / (M * R * R) * triangle(n), 1e-8);
    world_free(&w);
}
END_TEST

/* On a slope it stays while tan(th) < mu / r, and else rolls with g (sin(th) - mu / r cos(th)) / (1 + b). */
START_TEST(a_ball_on_a_slope) {
    const double b = 0.4, th = 0.1;
    enum { N = 200 };
    world w = ball_on(b, material(0.9, 0, tan(th) * R * 1.001), th, NULL);
    world_steps(&w, N);
    world_run(&w);
    for (int i = 0; i < 3; i++) NEAR(world_q(&w, N, 0, i), i == 2 ? R : 0, 1e-12);
    world_gradient(&w, N, 0);
    NEAR(world_p_bar(&w, "floor/rolling"), 0, ROUND);
    NEAR(world_p_bar(&w, "gravity/x"), 0, ROUND);
    world_free(&w);
    double mu = tan(th) * R * 0.6, a = G * (sin(th) - mu / R * cos(th)) / (1 + b);
    w = ball_on(b, material(0.9, 0, mu), th, NULL);
    world_steps(&w, N);
    world_run(&w);
    NEAR(world_q(&w, N, 0, 0), a * triangle(N), 1e-10);
    NEAR(world_v(&w, N, 0, 4) * R, world_v(&w, N, 0, 0), ROUND);
    world_gradient(&w, N, 0);
    NEAR(world_p_bar(&w, "floor/rolling"), -G * cos(th) / R / (1 + b) * triangle(N), 1e-9);
    NEAR(world_p_bar(&w, "gravity/x"), triangle(N) / (1 + b), 1e-9);
    NEAR(world_p_bar(&w, "gravity/z"), mu / R / (1 + b) * triangle(N), 1e-9);
    world_free(&w);
}
END_TEST

/* Without sliding friction the ball slides on, and rolling friction stops its spin alone. */
START_TEST(sliding_and_turning) {
    const double b = 0.4, mu = 0.02, slide = 0.1, v0 = 2, w0 = 3;
    enum { N = 20 };
    world w = ball_on(b, material(slide, 0, mu), 0, NULL);
    world_v0(&w, 0)[0] = v0, world_v0(&w, 0)[4] = -w0;
    world_steps(&w, N);
    world_run(&w);
    double turn = (slide * G * R + mu * G) / (b * R * R); /* both against the spin */
    NEAR(world_v(&w, N, 0, 0), v0 - N * H * slide * G, ROUND);
    NEAR(world_v(&w, N, 0, 4), -w0 + N * H * turn, 1e-10);
    world_gradient(&w, N, world_dv(&w, 0, 4));
    NEAR(world_p_bar(&w, "floor/rolling"), N * H * G / (b * R * R), 1e-9);
    NEAR(world_p_bar(&w, "floor/friction"), N * H * G * R / (b * R * R), 1e-9);
    world_free(&w);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("torsion");
    TCase *c = tcase_create("closed forms");
    tcase_add_test(c, a_spinning_ball_stops);
    tcase_add_test(c, a_rolling_ball_stops);
    tcase_add_test(c, a_ball_on_a_slope);
    tcase_add_test(c, sliding_and_turning);
    suite_add_tcase(s, c);
    return s;
}
