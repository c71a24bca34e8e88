/* test_truths_motion.c -- sliding, sticking, rolling and tipping against their closed forms, values and derivatives.
 *
 * Tolerances come in two kinds. Where the discrete motion has a closed form of its own, only rounding is allowed: the
 * velocity is solved to some 1e-14 of itself, and a sum of N steps gathers N of that; ROUND is a hundred times more.
 * Where only the motion in continuous time has one, semi-implicit Euler is off by O(dt), and the constant stands beside
 * the number.
 */
#include "test_main.h"
#include "worlds.h"

static const double ROUND = 1e-11;
static const double H = 1e-3; /* s, the time step */

/* What a constant deceleration of 1 m/s^2 takes from a position in N steps: v_k = v_0 - k h, x_N = h sum v_k. */
static double triangle(int N) {
    return H * H * N * (N + 1) / 2;
}

/* A cube of 0.2 m and mass m lying on the floor. */
static world cube_on_floor(double mass, double mu) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, mu, 0);
    world_box(b, "cube", mass, 0.1, 0, 0, 0.1, world_material(mu, 0));
    return world_new(b, H);
}

/* ---- A.1, S1, S1d: sliding ---- */

START_TEST(slide_while_it_slides) {
    world w = cube_on_floor(0.7, 0.4);
    enum { N = 100 };
    world_v0(&w, 0)[0] = 3;
    world_steps(&w, N);
    world_run(&w);
    NEAR(world_q(&w, N, 0, 0), 3 * N * H - 0.4 * G * triangle(N), ROUND);
    NEAR(world_q(&w, N, 0, 2), 0.1, ROUND);
    world_gradient(&w, N, 0);
    NEAR(world_p_bar(&w, "floor/friction"), -G * triangle(N), ROUND);
    NEAR(world_p_bar(&w, "floor/friction"), -0.0495405, 1e-9); /* the figure for the scene with dt = 1e-3, N = 100 */
    NEAR(world_p_bar(&w, "gravity/z"), 0.4 * triangle(N), ROUND);
    NEAR(world_p_bar(&w, "cube/mass"), 0, ROUND);
    NEAR(world_p_bar(&w, "floor/restitution"), 0, 0);
    NEAR(w.x_bar[0], 1, ROUND);
    NEAR(w.x_bar[world_dv(&w, 0, 0)], N * H, ROUND);
    NEAR(w.x_bar[world_dv(&w, 0, 1)], 0, ROUND);
    double sum = 0;
    for (int k = 0; k < N; k++) sum += w.u_bar[6 * k];
    NEAR(sum, triangle(N) / 0.7, ROUND); /* a force along x in every step */
    NEAR(w.u_bar[0], H * H * N / 0.7, ROUND);
    world_free(&w);
}
END_TEST

/* Slides to its stop along (c, s) and rests. */
static void slide_to_stop(double c, double s) {
    world w = cube_on_floor(1, 0.4);
    enum { N = 800 };
    double v0 = 3, a = 0.4 * G;
    int n = (int)(v0 / (a * H)); /* whole steps of sliding */
    double exact = n * H * v0 - a * triangle(n);
    world_v0(&w, 0)[0] = c * v0, world_v0(&w, 0)[1] = s * v0;
    world_steps(&w, N);
    world_run(&w);
    double x = world_q(&w, N, 0, 0), y = world_q(&w, N, 0, 1);
    NEAR(hypot(x, y), exact, 1e-9);
    NEAR(exact, 1.145289, 5e-7);                            /* to the digits given */
    NEAR(exact, v0 * v0 / (2 * a), H * v0 / 2 + a * H * H); /* Euler: half a step of the first speed */
    NEAR(x * s - y * c, 0, ROUND);                          /* straight */
    NEAR(hypot(world_v(&w, N, 0, 0), world_v(&w, N, 0, 1)), 0, 1e-13);
    memset(w.lx, 0, sizeof(double) * (size_t)((N + 1) * w.n.ndx));
    w.lx[N * w.n.ndx] = c, w.lx[N * w.n.ndx + 1] = s;
    world_reverse(&w);
    NEAR(world_p_bar(&w, "floor/friction"), -G * triangle(n), 1e-9);
    NEAR(world_p_bar(&w, "floor/friction"), -v0 * v0 / (2 * 0.4 * 0.4 * G), G * H * n * H); /* Euler, as above */
    NEAR(world_p_bar(&w, "cube/mass"), 0, 1e-9);
    NEAR(w.x_bar[w.n.nv] * c + w.x_bar[w.n.nv + 1] * s, n * H, 1e-9);
    double highest = 0, gained = 0;
    for (int k = 0; k <= N; k++) {
        highest = fmax(highest, fabs(world_q(&w, k, 0, 2) - 0.1));
        double now = tribo_energy(w.m, w.p, w.X + k * w.n.nx), start = tribo_energy(w.m, w.p, w.X);
        double lost = 0.5 * v0 * v0 - 0.5 * pow(k <= n ? v0 - k * a * H : 0, 2);
        gained = fmax(gained, fabs(now - start + lost));
    }
    NEAR(highest, 0, 1e-12); /* no bounce */
    NEAR(gained, 0, 1e-11);  /* energy exact */
    world_free(&w);
}

START_TEST(slide_to_the_stop) {
    slide_to_stop(1, 0);
    slide_to_stop(sqrt(0.5), sqrt(0.5));
    slide_to_stop(cos(2.3), sin(2.3));
}
END_TEST

/* ---- A.2, S2: pushing ---- */

START_TEST(push_below_and_above_friction) {
    const double m = 0.7, mu = 0.5, hold = mu * m * G;
    enum { N = 50 };
    world w = cube_on_floor(m, mu);
    world_steps(&w, N);
    for (int k = 0; k < N; k++) w.U[6 * k] = 0.8 * hold;
    world_run(&w);
    for (int i = 0; i < 6; i++) NEAR(world_v(&w, N, 0, i), 0, 1e-14);
    NEAR(world_q(&w, N, 0, 0), 0, 1e-14);
    world_gradient(&w, N, world_dv(&w, 0, 0));
    for (int i = 0; i < w.n.np; i++) {
        tribo_param_info info;
        ck_assert_int_eq(tribo_param_describe(w.m, i, &info), TRIBO_OK);
        ck_assert_msg(fabs(w.p_bar[i]) < 1e-12, "dv/d %s = %g in a cube that sticks", info.name, w.p_bar[i]);
    }
    for (int i = 0; i < N * 6; i++) NEAR(w.u_bar[i], 0, 1e-12);
    for (int i = 0; i < w.n.ndx; i++) NEAR(w.x_bar[i], 0, 1e-12);

    double F = 1.3 * hold, a = F / m - mu * G;
    for (int k = 0; k < N; k++) w.U[6 * k] = F;
    world_run(&w);
    NEAR(world_v(&w, N, 0, 0), N * H * a, ROUND);
    NEAR(world_q(&w, N, 0, 0), a * triangle(N), ROUND);
    world_gradient(&w, N, 0);
    double sum = 0;
    for (int k = 0; k < N; k++) sum += w.u_bar[6 * k];
    NEAR(sum, triangle(N) / m, ROUND);
    NEAR(world_p_bar(&w, "floor/friction"), -G * triangle(N), ROUND);
    NEAR(world_p_bar(&w, "cube/mass"), -F / (m * m) * triangle(N), ROUND);
    world_free(&w);
}
END_TEST

/* S2: pulled by 20 t newtons at the middle of each step; holds until 3.924 N, with no creep. */
START_TEST(pull_until_it_slips) {
    world w = cube_on_floor(1, 0.4);
    enum { N = 1000 };
    const double hold = 0.4 * G;
    world_steps(&w, N);
    double v = 0, x = 0, creep = 0;
    int slips = 0;
    for (int k = 0; k < N; k++) {
        double F = 20 * (k + 0.5) * H;
        w.U[6 * k] = F;
        if (F > hold) v += H * (F - hold), slips++;
        x += H * v;
    }
    world_run(&w);
    for (int k = 0; k <= N - slips; k++) creep = fmax(creep, fabs(world_q(&w, k, 0, 0)));
    printf("S2: creep before slip %.1e m\n", creep);
    ck_assert(creep < 1e-9);
    NEAR(world_v(&w, N, 0, 0), v, ROUND * v);
    NEAR(world_q(&w, N, 0, 0), x, ROUND);
    world_gradient(&w, N, world_dv(&w, 0, 0));
    NEAR(world_p_bar(&w, "floor/friction"), -G * H * slips, 1e-9);
    world_free(&w);
}
END_TEST

/* A static coefficient above the kinetic one holds longer, and counts no more once it slips. */
START_TEST(stiction_holds_then_lets_go) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_material mat = {.friction = 0.3, .stiction = 0.2, .baumgarte = 1};
    world_wall(b, "floor", NULL, NULL, mat);
    world_box(b, "cube", 1, 0.1, 0, 0, 0.1, mat);
    world w = world_new(b, H);
    world_steps(&w, 10);
    for (int k = 0; k < 10; k++) w.U[6 * k] = 0.49 * G;
    world_run(&w);
    NEAR(world_v(&w, 10, 0, 0), 0, 1e-14);
    for (int k = 0; k < 10; k++) w.U[6 * k] = 0.51 * G;
    world_run(&w);
    NEAR(world_v(&w, 10, 0, 0), 10 * H * 0.21 * G, ROUND);
    world_gradient(&w, 10, world_dv(&w, 0, 0));
    NEAR(world_p_bar(&w, "floor/friction"), -G * 10 * H, ROUND);
    NEAR(world_p_bar(&w, "floor/stiction"), 0, ROUND);
    world_free(&w);
}
END_TEST

/* ---- A.3: the cone is round ---- */

START_TEST(friction_is_isotropic) {
    world w = cube_on_floor(1, 0.6);
    const double c = 0.6 * G * H, speed = 0.05;
    world_steps(&w, 1);
    double *A = world_zeros(w.n.ndx * w.n.ndx);
    for (int k = 0; k < 64; k++) {
        double d[2] = {cos(0.1 * k), sin(0.1 * k)};
        for (int i = 0; i < 2; i++) world_v0(&w, 0)[i] = speed * d[i];
        world_run(&w);
        ck_assert_int_eq(tribo_step_jac(w.ws, w.tape, 0, A, NULL, NULL), TRIBO_OK);
        for (int i = 0; i < 2; i++) {
            NEAR(world_v(&w, 1, 0, i), (speed - c) * d[i], ROUND);
            for (int j = 0; j < 2; j++) {
                double wanted = (i == j) - c / speed * ((i == j) - d[i] * d[j]);
                NEAR(A[world_dv(&w, 0, i) * w.n.ndx + world_dv(&w, 0, j)], wanted, 1e-9);
            }
        }
        for (int i = 2; i < 6; i++) NEAR(world_v(&w, 1, 0, i), 0, ROUND);
    }
    free(A);
    world_free(&w);
}
END_TEST

/* ---- A.4: the incline ---- */

/* A cube on a plane tilted about y by th, at rest on it. */
static world incline(double th, double mu, double half_width) {
    tribo_builder *b = tribo_builder_new(NULL);
    double quat[4] = {cos(th / 2), 0, sin(th / 2), 0}, n[3] = {sin(th), 0, cos(th)};
    world_wall(b, "floor", NULL, quat, world_material(mu, 0));
    tribo_body_def d = tribo_default_body();
    d.name = "cube";
    for (int i = 0; i < 3; i++) d.pos[i] = 0.1 * n[i];
    memcpy(d.quat, quat, sizeof d.quat);
    tribo_geom_def g = tribo_default_geom();
    g.name = "cube", g.shape = TRIBO_BOX, g.mass = 2;
    g.size[0] = half_width, g.size[1] = 0.1, g.size[2] = 0.1;
    tribo_add_geom(b, tribo_add_body(b, &d), &g);
    return world_new(b, H);
}

START_TEST(incline_holds_up_to_its_angle) {
    const double th = 0.4;
    enum { N = 100 };
    world w = incline(th, tan(th) * (1 + 1e-6), 0.1);
    world_steps(&w, N);
    world_run(&w);
    for (int i = 0; i < 3; i++) NEAR(world_v(&w, N, 0, i), 0, 1e-13);
    world_free(&w);
    w = incline(th, tan(th) * (1 - 1e-6), 0.1);
    world_steps(&w, N);
    world_run(&w);
    double v = world_v(&w, N, 0, 0) * cos(th) - world_v(&w, N, 0, 2) * sin(th);
    NEAR(v, N * H * G * 1e-6 * sin(th), 1e-12);
    world_free(&w);
}
END_TEST

START_TEST(incline_slide) {
    const double th = 0.5, mu = 0.3, c = cos(th), s = sin(th);
    enum { N = 100 };
    world w = incline(th, mu, 0.1);
    world_steps(&w, N);
    world_run(&w);
    double x = (world_q(&w, N, 0, 0) - w.x0[0]) * c - (world_q(&w, N, 0, 2) - w.x0[2]) * s;
    NEAR(x, G * (s - mu * c) * triangle(N), ROUND);
    w.lx[N * w.n.ndx] = c, w.lx[N * w.n.ndx + 2] = -s;
    world_reverse(&w);
    NEAR(world_p_bar(&w, "floor/friction"), -G * c * triangle(N), ROUND);
    NEAR(world_p_bar(&w, "cube/mass"), 0, ROUND);
    /* da/dth = g (cos + mu sin), once by turning gravity while the slope stays, d gravity = (g, 0, 0) dth, */
    NEAR(G * world_p_bar(&w, "gravity/x"), G * (c + mu * s) * triangle(N), ROUND);
    /* and once by turning the slope with the cube on it about the y axis, and with them the direction of x. */
    double turn =
        world_p_bar(&w, "floor/quat/w") * -sin(th / 2) / 2 + world_p_bar(&w, "floor/quat/y") * cos(th / 2) / 2;
    turn += w.x_bar[0] * 0.1 * c + w.x_bar[2] * 0.1 * -s + w.x_bar[4];
    double normal = world_q(&w, N, 0, 0) * s + world_q(&w, N, 0, 2) * c;
    NEAR(turn - normal, G * (c + mu * s) * triangle(N), ROUND);
    world_free(&w);
}
END_TEST

/* ---- A.5, A.6: rolling ---- */

static world roller(double beta, double mu, double th) {
    return world_of(world_roller(1.5, 0.2, beta, world_material(mu, 0), th, H), NULL);
}

static const double betas[] = {0.4, 0.5, 0.65}; /* a ball, a disk, and nearly the hollow ball's 2/3 */

START_TEST(roll_down_a_slope) {
    const double th = 0.6, r = 0.2, m = 1.5;
    enum { N = 100 };
    for (int i = 0; i < 3; i++) {
        double b = betas[i], least = tan(th) * b / (1 + b), a = G * sin(th) / (1 + b);
        world w = roller(b, least * 1.0001, th);
        world_steps(&w, N);
        world_run(&w);
        NEAR(world_q(&w, N, 0, 0), a * triangle(N), ROUND);
        NEAR(world_v(&w, N, 0, 4) * r, world_v(&w, N, 0, 0), ROUND);
        world_gradient(&w, N, 0);
        NEAR(world_p_bar(&w, "floor/friction"), 0, ROUND);
        NEAR(world_p_bar(&w, "gravity/x"), triangle(N) / (1 + b), ROUND);
        NEAR(world_p_bar(&w, "ball/mass"), a * b / (1 + b) / m * triangle(N), ROUND); /* b = I / (m r^2) */
        NEAR(world_p_bar(&w, "ball/inertia/yy"), -a / (1 + b) / (m * r * r) * triangle(N), ROUND);
        double radius = world_p_bar(&w, "ball/size/x") + w.x_bar[2]; /* the start rises with it */
        NEAR(radius, 2 * a * b / (1 + b) / r * triangle(N), 1e-9);
        world_free(&w);
        w = roller(b, least * 0.9999, th); /* not enough to roll */
        world_steps(&w, N);
        world_run(&w);
        NEAR(world_q(&w, N, 0, 0), (sin(th) - least * 0.9999 * cos(th)) * G * triangle(N), ROUND);
        ck_assert(world_v(&w, N, 0, 4) * r < world_v(&w, N, 0, 0) * (1 - 1e-5));
        world_free(&w);
    }
}
END_TEST

START_TEST(slip_then_roll) {
    const double v0 = 2, mu = 0.2, r = 0.2;
    enum { N = 600 };
    for (int i = 0; i < 3; i++) {
        double b = betas[i], vf = v0 / (1 + b), t = b * v0 / ((1 + b) * mu * G);
        int n = (int)(t / H);
        world w = roller(b, mu, 0);
        world_v0(&w, 0)[0] = v0;
        world_steps(&w, N);
        world_run(&w);
        NEAR(world_v(&w, N, 0, 0), vf, ROUND);
        NEAR(world_v(&w, N, 0, 4), vf / r, ROUND / r);
        double d = n * H * v0 - mu * G * triangle(n), slip = b * (2 + b) * v0 * v0 / (2 * (1 + b) * (1 + b) * mu * G);
        NEAR(world_q(&w, N, 0, 0), d + (N - n) * H * vf, 1e-10);
        NEAR(d + (t - n * H) * vf, slip, H * (v0 - vf)); /* Euler: at most a step of the speed lost */
        world_gradient(&w, N, world_dv(&w, 0, 0));
        NEAR(world_p_bar(&w, "floor/friction"), 0, 1e-10);
        NEAR(w.x_bar[world_dv(&w, 0, 0)], 1 / (1 + b), 1e-10);
        NEAR(w.x_bar[world_dv(&w, 0, 4)], r * b / (1 + b), 1e-10);
        world_gradient(&w, N, 0);
        double exact = -pow(b * v0 / (1 + b), 2) / (2 * G * mu * mu);
        NEAR(world_p_bar(&w, "floor/friction"), -G * triangle(n), 1e-9);
        NEAR(world_p_bar(&w, "floor/friction"), exact, G * H * t); /* Euler: t (t + h) for t^2, n h for t */
        world_free(&w);
    }
}
END_TEST

/* ---- A.10: tipping ---- */

/* A box of width 2a, height 2c pushed along x at height z above the floor. */
static world pushed_box(double a, double c, double mu) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, mu, 0);
    world_solid(b, "box", TRIBO_BOX, 2, (double[3]){a, 0.1, c}, (double[3]){0, 0, c}, world_material(mu, 0));
    return world_new(b, H);
}

START_TEST(push_high_tips) {
    const double a = 0.1, c = 0.3, m = 2, z = 0.5, mu = 1, tips = m * G * a / z;
    world w = pushed_box(a, c, mu);
    world_steps(&w, 1);
    for (int i = 0; i < 2; i++) {
        double F = tips * (i ? 1.001 : 0.999);
        w.U[0] = F, w.U[4] = F * (z - c);
        world_run(&w);
        double I = m / 3 * (a * a + c * c), edge = I + m * (a * a + c * c), spin = H * (F * z - m * G * a) / edge;
        NEAR(world_v(&w, 1, 0, 4), i ? spin : 0, 1e-13);
        NEAR(world_v(&w, 1, 0, 0), i ? spin * c : 0, 1e-13);
        NEAR(world_v(&w, 1, 0, 2), i ? spin * a : 0, 1e-13);
        world_gradient(&w, 1, world_dv(&w, 0, 4));
        NEAR(w.u_bar[0] + w.u_bar[4] * (z - c), i ? H * z / edge : 0, 1e-12);
        NEAR(world_p_bar(&w, "floor/friction"), 0, 1e-12);
        NEAR(world_p_bar(&w, "gravity/z"), i ? H * m * a / edge : 0, 1e-12);
        /* d/dsize/x by the position of the edge and not by the mass, which is given. */
        double slope = H * (-m * G) / edge - spin * 2 * m * a / edge;
        NEAR(world_p_bar(&w, "box/size/x"), i ? slope : 0, 1e-9);
    }
    world_free(&w);
    w = pushed_box(a, c, 0.9 * a / z); /* slides before it tips */
    world_steps(&w, 1);
    w.U[0] = 0.95 * tips, w.U[4] = w.U[0] * (z - c);
    world_run(&w);
    NEAR(world_v(&w, 1, 0, 0), H * 0.05 * tips / m, 1e-13);
    NEAR(world_v(&w, 1, 0, 4), 0, 1e-12);
    world_free(&w);
}
END_TEST

START_TEST(slope_tips) {
    for (int i = 0; i < 2; i++) { /* tips if tan th > width / height, here with friction to spare */
        double th = 0.45, half_width = 0.1 * tan(th) * (i ? 0.999 : 1.001);
        world w = incline(th, 2, half_width);
        world_steps(&w, 20);
        world_run(&w);
        if (i)
            ck_assert(world_v(&w, 20, 0, 4) > 1e-5);
        else
            NEAR(world_v(&w, 20, 0, 4), 0, 1e-13);
        world_free(&w);
    }
}
END_TEST

/* ---- A.21: a free rigid body ---- */

/* Complete elliptic integral of the first kind, by the arithmetic-geometric mean. */
static double elliptic_k(double k2) {
    double a = 1, b = sqrt(1 - k2);
    for (int i = 0; i < 20; i++) {
        double mean = (a + b) / 2;
        b = sqrt(a * b), a = mean;
    }
    return PI / (2 * a);
}

/* Spun about its middle axis a body turns over and over: with a period that is known. */
START_TEST(turns_over_with_energy_and_momentum_kept) {
    const double I[3] = {0.01, 0.02, 0.03}, w0[3] = {0.1, 12, 0.2};
    enum { N = 4000 };
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_set_gravity(b, (double[3]){0, 0, 0});
    tribo_body_def d = tribo_default_body();
    d.name = "nut", d.inertia_given = true, d.mass = 1;
    memcpy(d.inertia, I, sizeof I);
    tribo_add_body(b, &d);
    world w = world_new(b, H);
    memcpy(world_v0(&w, 0) + 3, w0, sizeof w0);
    world_steps(&w, N);
    world_run(&w);
    double E2 = 0, L2 = 0, drift = 0, turned[4];
    for (int i = 0; i < 3; i++) E2 += I[i] * w0[i] * w0[i], L2 += pow(I[i] * w0[i], 2);
    int turns = 0;
    for (int k = 0; k <= N; k++) {
        double e = 0, l = 0;
        for (int i = 0; i < 3; i++)
            e += I[i] * pow(world_v(&w, k, 0, 3 + i), 2), l += pow(I[i] * world_v(&w, k, 0, 3 + i), 2);
        drift = fmax(drift, fmax(fabs(e / E2 - 1), fabs(l / L2 - 1)));
        double last = k ? world_v(&w, k - 1, 0, 4) : 1, now = world_v(&w, k, 0, 4);
        if (last * now < 0 && turns < 4) turned[turns++] = H * (k - now / (now - last));
    }
    printf("free body: worst drift of energy and momentum %.1e over %d steps\n", drift, N);
    NEAR(drift, 0, N * 1e-15); /* kept by the scheme, so rounding alone */
    ck_assert_int_ge(turns, 3);
    /* Landau & Lifshitz 1, section 37, for L^2 < 2 E I2: axes 1 and 3 change places. */
    double low = 2 * I[1] * E2 / 2, k2, scale;
    bool swap = L2 < low;
    double a = swap ? I[2] : I[0], c = swap ? I[0] : I[2];
    k2 = (I[1] - a) * (E2 * c - L2) / ((c - I[1]) * (L2 - E2 * a));
    scale = sqrt(I[0] * I[1] * I[2] / ((c - I[1]) * (L2 - E2 * a)));
    double period = 4 * elliptic_k(k2) * fabs(scale);
    /* Midpoint rule: relative error of a rate w h at most (w h)^2 / 12, 1.2e-5 at 12 rad/s, over 8 of them a period. */
    NEAR(turned[2] - turned[0], period, 1e-4 * period);
    world_free(&w);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("truths of motion");
    TCase *t = tcase_create("motion");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, slide_while_it_slides);
    tcase_add_test(t, slide_to_the_stop);
    tcase_add_test(t, push_below_and_above_friction);
    tcase_add_test(t, pull_until_it_slips);
    tcase_add_test(t, stiction_holds_then_lets_go);
    tcase_add_test(t, friction_is_isotropic);
    tcase_add_test(t, incline_holds_up_to_its_angle);
    tcase_add_test(t, incline_slide);
    tcase_add_test(t, roll_down_a_slope);
    tcase_add_test(t, slip_then_roll);
    tcase_add_test(t, push_high_tips);
    tcase_add_test(t, slope_tips);
    tcase_add_test(t, turns_over_with_energy_and_momentum_kept);
    suite_add_tcase(s, t);
    return s;
}
