/* test_truths_turning.c -- oscillators with dry friction, tops, rotors and disks, against their closed forms.
 *
 * All are of continuous time: Euler's error is O(dt), and the constant stands beside the number, or two steps are
 * compared.
 */
#include "test_main.h"
#include "worlds.h"

static const double *velocity(const world *w, int k) {
    return w->X + k * w->n.nx + w->n.nq;
}

/* ---- A.13: a spring and dry friction ---- */

/* 1 kg or 1 kg m^2 on a spring of 100, against at most 5; from 0.33 it turns at -0.23, 0.13 and stops at -0.03. */
static world coulomb(tribo_joint_kind kind, double dt) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_body_def d = tribo_default_body();
    d.name = "mass", d.inertia_given = true, d.mass = 1;
    for (int i = 0; i < 3; i++) d.inertia[i] = 1;
    int body = tribo_add_body(b, &d);
    tribo_joint_def j = tribo_default_joint();
    j.name = "spring", j.kind = kind, j.stiffness = 100, j.frictionloss = 5;
    j.axis[0] = 1, j.axis[2] = 0;
    tribo_add_joint(b, body, &j);
    tribo_set_start(b, (double[1]){0.33}, NULL);
    return world_new(b, dt);
}

START_TEST(dry_friction_takes_equal_shares) {
    const double k = 100, F = 5, dt = 1e-4, rate = 10, turns[] = {-0.23, 0.13, -0.03};
    enum { N = 12000 };
    world w = coulomb(_i ? TRIBO_JOINT_HINGE : TRIBO_JOINT_SLIDE, dt);
    world_steps(&w, N);
    world_run(&w);
    int seen = 0;
    for (int n = 1; n < N && seen < 3; n++) {
        double before = velocity(&w, n)[0], after = velocity(&w, n + 1)[0];
        if (before == 0 || before * after > 0) continue;
        NEAR(w.X[n * w.n.nx], turns[seen],
             1.2 * (seen + 1) * 0.3 * PI / 2 * rate * dt); /* the spring at a step's end */
        NEAR(n * dt, (seen + 1) * PI / rate, 5 * dt);      /* as without friction */
        seen++;
    }
    ck_assert_int_eq(seen, 3);
    NEAR(velocity(&w, N)[0], 0, 1e-15); /* sticks */
    NEAR(w.X[N * w.n.nx], -0.03, 1e-3);
    world_gradient(&w, N, 0);
    NEAR(w.x_bar[0], -1, 0.01); /* of x0 - 6 F/k, turned three times */
    NEAR(world_p_bar(&w, "spring/frictionloss"), 6 / k, 0.01 * 6 / k);
    NEAR(world_p_bar(&w, "spring/stiffness"), -6 * F / (k * k), 0.02 * 6 * F / (k * k));
    world_free(&w);
}
END_TEST

/* Within F/k of its rest it stays, and depends on nothing. */
START_TEST(dry_friction_holds) {
    for (int i = 0; i < 2; i++) {
        world w = coulomb(TRIBO_JOINT_SLIDE, 1e-3);
        w.x0[0] = 0.05 * (i ? 1.0001 : 0.9999);
        world_steps(&w, 20);
        world_run(&w);
        if (i)
            ck_assert_double_lt(velocity(&w, 20)[0], -1e-6);
        else
            NEAR(velocity(&w, 20)[0], 0, 1e-18);
        world_gradient(&w, 20, 0);
        if (!i) NEAR(w.x_bar[0], 1, 1e-12);
        if (!i) NEAR(world_p_bar(&w, "spring/frictionloss"), 0, 0);
        world_free(&w);
    }
}
END_TEST

/* ---- A.15: a top and a rotor ---- */

static const double LEVER = 0.1, AXIAL = 0.002, ACROSS = 0.015; /* m; kg m^2, the last about the tip */

/* 1 kg, its tip held by a ball joint, leaning by th and turning about its own axes. */
static world top(double th, double about_y, double spin, double dt) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_body_def d = tribo_default_body();
    d.name = "top", d.inertia_given = true, d.mass = 1, d.com[2] = LEVER;
    d.inertia[0] = d.inertia[1] = ACROSS - LEVER * LEVER, d.inertia[2] = AXIAL;
    int body = tribo_add_body(b, &d);
    tribo_joint_def j = tribo_default_joint();
    j.kind = TRIBO_JOINT_BALL;
    tribo_add_joint(b, body, &j);
    tribo_set_start(b, (double[4]){cos(th / 2), sin(th / 2), 0, 0}, (double[3]){0, about_y, spin});
    return world_new(b, dt);
}

/* Where the axis points, from the vertical and around it. */
static void axis_of(const double *q, double *lean, double *around) {
    double x = 2 * (q[1] * q[3] + q[0] * q[2]), y = 2 * (q[2] * q[3] - q[0] * q[1]),
           z = 1 - 2 * (q[1] * q[1] + q[2] * q[2]);
    *lean = atan2(hypot(x, y), z), *around = atan2(x, -y);
}

/* @return how far off the precession of 1 s is. @param nod [out] how far the lean is */
static double precession(double dt, double *nod) {
    const double th = 0.5, Om = 2, spin = (G * LEVER + ACROSS * Om * Om * cos(th)) / (AXIAL * Om);
    int N = (int)(1 / dt + 0.5);
    world w = top(th, Om * sin(th), spin, dt);
    world_steps(&w, N);
    world_run(&w);
    double lean, around = 0;
    *nod = 0;
    for (int k = 0; k <= N; k++) axis_of(w.X + k * w.n.nx, &lean, &around), *nod = fmax(*nod, fabs(lean - th));
    world_free(&w);
    return fabs(around - Om);
}

START_TEST(top_precesses) {
    double nod, finer_nod, off = precession(2e-4, &nod), finer = precession(5e-5, &finer_nod);
    printf("top, 260 rad/s, 1 s: precession off by %.1e and %.1e rad, lean by %.1e and %.1e\n", off, finer, nod,
           finer_nod);
    ck_assert_double_le(off, 0.005);
    ck_assert_double_le(nod, 0.005);
    ck_assert_double_le(finer, 0.3 * off); /* O(dt) */
    ck_assert_double_le(finer_nod, 0.3 * nod);
}
END_TEST

START_TEST(top_sleeps_or_falls) {
    const double limit = sqrt(4 * ACROSS * G * LEVER) / AXIAL;
    enum { N = 4000 };
    for (int i = 0; i < 2; i++) {
        world w = top(0.01, 0, limit * (i ? 1.05 : 0.95), 1e-3);
        double lean, around, worst = 0;
        world_steps(&w, N);
        world_run(&w);
        for (int k = 0; k <= N; k++) axis_of(w.X + k * w.n.nx, &lean, &around), worst = fmax(worst, lean);
        if (i)
            ck_assert_double_lt(worst, 0.05);
        else
            ck_assert_double_gt(worst, 0.3);
        world_free(&w);
    }
}
END_TEST

/* Jeffcott's rotor: a disk off its centre by e on a shaft that bends. */
START_TEST(rotor_whirls) {
    const double natural = 20, zeta = 0.1, e = 1e-3, dt = 1e-4;
    enum { N = 20000 };
    for (int i = 0; i < 3; i++) {
        double rho = 0.5 * (1 << i), wanted = e * rho * rho / sqrt(pow(1 - rho * rho, 2) + pow(2 * zeta * rho, 2));
        tribo_builder *b = tribo_builder_new(NULL);
        tribo_set_gravity(b, (double[3]){0, 0, 0});
        tribo_body_def d = tribo_default_body();
        d.name = "disk", d.inertia_given = true, d.mass = 1, d.com[0] = e;
        for (int k = 0; k < 3; k++) d.inertia[k] = 0.01;
        int body = tribo_add_body(b, &d);
        for (int k = 0; k < 3; k++) {
            tribo_joint_def j = tribo_default_joint();
            j.kind = k < 2 ? TRIBO_JOINT_SLIDE : TRIBO_JOINT_HINGE;
            for (int a = 0; a < 3; a++) j.axis[a] = a == k;
            if (k < 2)
                j.stiffness = natural * natural, j.damping = 2 * zeta * natural;
            else
                j.armature = 1e6; /* keeps its speed */
            tribo_add_joint(b, body, &j);
        }
        tribo_set_start(b, NULL, (double[3]){0, 0, rho * natural});
        world w = world_new(b, dt);
        world_steps(&w, N);
        world_run(&w);
        const double *q = w.X + N * w.n.nx;
        double r = hypot(q[0], q[1]);
        NEAR(r, wanted, 0.02 * wanted + 3 * e * exp(-zeta * natural * N * dt)); /* h w / 2 more damping */
        w.lx[N * w.n.ndx] = q[0] / r, w.lx[N * w.n.ndx + 1] = q[1] / r;
        world_reverse(&w);
        NEAR(world_p_bar(&w, "disk/com/x"), r / e, 1e-6 * r / e); /* linear in e */
        world_free(&w);
    }
}
END_TEST

/* ---- A.16: a tippe top ---- */

/* A ball of 20 mm whose centre of mass is a below its middle, spun. @param lowest [out] the least that its axis rises.
 * @return how far Jellett's number L.r is from what it was, relative */
static double tippe(double mu, double a, double ratio, double dt, int N, double *lowest) {
    const double R = 0.02, across = 2e-6, m = 0.02;
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, mu, 0);
    tribo_body_def d = tribo_default_body();
    d.name = "top", d.inertia_given = true, d.mass = m;
    d.inertia[0] = d.inertia[1] = across, d.inertia[2] = ratio * across;
    d.quat[0] = cos(0.05), d.quat[1] = sin(0.05), d.pos[2] = R - a * cos(0.1);
    tribo_geom_def g = tribo_default_geom();
    g.size[0] = R, g.pos[2] = a;
    tribo_add_geom(b, tribo_add_body(b, &d), &g);
    world w = world_new(b, dt);
    world_v0(&w, 0)[4] = 150 * sin(0.1), world_v0(&w, 0)[5] = 150 * cos(0.1);
    world_steps(&w, N);
    world_run(&w);
    double first = 0, off = 0;
    *lowest = 1;
    for (int k = 0; k <= N; k++) {
        const double *q = w.X + k * w.n.nx + 3, *v = velocity(&w, k) + 3;
        double up[3] = {2 * (q[1] * q[3] - q[0] * q[2]), 2 * (q[2] * q[3] + q[0] * q[1]),
                        1 - 2 * (q[1] * q[1] + q[2] * q[2])};
        double jellett = across * (ratio * v[2] * a - R * (up[0] * v[0] + up[1] * v[1] + ratio * up[2] * v[2]));
        if (!k) first = jellett;
        off = fmax(off, fabs(jellett / first - 1)), *lowest = fmin(*lowest, up[2]);
    }
    world_free(&w);
    return off;
}

/* Jellett's number stays whatever the friction; the axis turns over if 1 - a/R < I3/I1 < 1 + a/R. */
START_TEST(tippe_top_turns_over) {
    static const struct {
        double mu, ratio, from, to;
    } CASE[] = {{0.1, 1, -1, -0.8}, {0.3, 1, -1, -0.8}, {0.3, 0.55, -0.5, 1}, {0.3, 1.6, 0.9, 1}};
    const double a = 0.3 * 0.02, dt = 2e-4;
    double lowest, finest;
    double off = tippe(CASE[_i].mu, a, CASE[_i].ratio, dt, 20000, &lowest);
    double finer = tippe(CASE[_i].mu, a, CASE[_i].ratio, dt / 4, 80000, &finest);
    printf("tippe top, friction %g, I3/I1 %g: Jellett's number off by %.1e, %.1e; axis down to %.2f\n", CASE[_i].mu,
           CASE[_i].ratio, off, finer, lowest);
    bool round = CASE[_i].ratio == 1; /* its axes do not turn its inertia: exact, as the lever is to where it touches */
    ck_assert_double_le(off, round ? 1e-12 : 0.02);
    ck_assert_double_le(finer, round ? 1e-12 : 0.3 * off); /* O(dt) */
    ck_assert_double_ge(lowest, CASE[_i].from);
    ck_assert_double_le(lowest, CASE[_i].to);
}
END_TEST

/* ---- A.17: Euler's disk ---- */

START_TEST(disk_rolls_round) {
    const double a = 0.1, al = 0.3, thin = 1e-6, m = 0.5, dt = 5e-5, Om = sqrt(4 * G / (a * sin(al)));
    enum { N = 8000 };
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 1, 0);
    tribo_body_def d = tribo_default_body();
    d.name = "disk", d.inertia_given = true, d.mass = m;
    d.inertia[0] = d.inertia[1] = m * a * a / 4, d.inertia[2] = m * a * a / 2;
    d.quat[0] = cos(al / 2), d.quat[1] = sin(al / 2), d.pos[2] = a * sin(al) + thin * cos(al);
    tribo_geom_def g = tribo_default_geom();
    g.shape = TRIBO_CYLINDER, g.size[0] = a, g.size[1] = thin;
    tribo_add_geom(b, tribo_add_body(b, &d), &g);
    world w = world_new(b, dt);
    world_v0(&w, 0)[4] = Om * sin(al);
    NEAR(tribo_energy(w.m, w.p, w.x0), 1.5 * m * G * a * sin(al), 1e-5);
    world_steps(&w, N);
    world_run(&w);
    double worst = 0, lean, around, turned = 0, last = 0;
    for (int k = 0; k <= N; k++) {
        axis_of(w.X + k * w.n.nx + 3, &lean, &around);
        if (k) turned += remainder(around - last, 2 * PI);
        last = around, worst = fmax(worst, fabs(lean - al));
    }
    NEAR(worst, 0, 10 * Om * dt * al);
    NEAR(turned, Om * N * dt, 0.01 * Om * N * dt);
    world_free(&w);
}
END_TEST

/* ---- A.21: a wedge that gives way ---- */

/* A block of m on a smooth wedge of M that moves along x: A = m g sin cos / (M + m sin^2). */
START_TEST(wedge_gives_way) {
    const double th = 0.6, M = 3, m = 1.2, s = sin(th), c = cos(th), h = 1e-3, A = m * G * s * c / (M + m * s * s);
    enum { N = 100 };
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_body_def d = tribo_default_body();
    tribo_geom_def g = tribo_default_geom();
    d.name = "wedge", d.inertia_given = true, d.mass = M;
    for (int i = 0; i < 3; i++) d.inertia[i] = 1;
    g.name = "wedge", g.shape = TRIBO_BOX, g.size[0] = 2, g.size[1] = 1, g.size[2] = 0.1;
    g.quat[0] = cos(th / 2), g.quat[2] = sin(th / 2), g.material = world_material(0, 0);
    int wedge = tribo_add_body(b, &d);
    tribo_joint_def j = tribo_default_joint();
    j.kind = TRIBO_JOINT_SLIDE, j.axis[0] = 1, j.axis[2] = 0;
    tribo_add_joint(b, wedge, &j);
    tribo_add_geom(b, wedge, &g);
    d = tribo_default_body(), d.name = "block", d.pos[0] = 0.2 * s, d.pos[2] = 0.2 * c;
    memcpy(d.quat, g.quat, sizeof d.quat);
    g.name = "block", g.size[0] = g.size[1] = 0.1, g.mass = m, g.quat[0] = 1, g.quat[2] = 0;
    tribo_add_geom(b, tribo_add_body(b, &d), &g);
    world w = world_new(b, h);
    world_steps(&w, N);
    world_run(&w);
    NEAR(velocity(&w, N)[0], -A * N * h, 1e-11);
    world_gradient(&w, N, w.n.nv);
    double all = pow(M + m * s * s, 2), per = -N * h;
    NEAR(world_p_bar(&w, "block/mass"), per * G * s * c * M / all, 1e-9);
    NEAR(world_p_bar(&w, "wedge/mass"), per * -m * G * s * c / all, 1e-9);
    NEAR(-world_p_bar(&w, "gravity/z"), per * A / G, 1e-9);
    world_free(&w);
}
END_TEST

/* ---- a ball whose moments differ, its centre of mass off the middle, bounces once off a floor without friction ----
 */

static const double MOMENT[3] = {1e-3, 2e-3, 2.9e-3}, OFF[3] = {0.04, 0.02, 0.01}, RADIUS = 0.1, REBOUND = 0.5;

/* State: height of the centre of mass and its speed, quaternion, spin in the body. */
typedef struct loaded {
    double y[9];
} loaded;

static void loaded_rate(const double *y, double *out) {
    const double *q = y + 2, *w = y + 6;
    out[0] = y[1], out[1] = 0;
    out[2] = 0.5 * (-q[1] * w[0] - q[2] * w[1] - q[3] * w[2]), out[3] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
    out[4] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]), out[5] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
    for (int k = 0; k < 3; k++) {
        int a = (k + 1) % 3, b = (k + 2) % 3;
        out[6 + k] = (MOMENT[a] - MOMENT[b]) * w[a] * w[b] / MOMENT[k];
    }
}

/* Runge and Kutta's. */
static loaded loaded_step(loaded s, double dt) {
    double k[4][9], y[9];
    for (int n = 0; n < 4; n++) {
        for (int j = 0; j < 9; j++) y[j] = s.y[j] + (n ? k[n - 1][j] * dt * (n < 3 ? 0.5 : 1) : 0);
        loaded_rate(y, k[n]);
    }
    for (int j = 0; j < 9; j++) s.y[j] += dt / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
    return s;
}

/* The middle of the ball above the floor, and the up direction in the body. */
static double loaded_gap(const loaded *s, double up[3]) {
    const double *q = s->y + 2;
    up[0] = 2 * (q[1] * q[3] - q[0] * q[2]), up[1] = 2 * (q[2] * q[3] + q[0] * q[1]);
    up[2] = 1 - 2 * (q[1] * q[1] + q[2] * q[2]);
    return s->y[0] - up[0] * OFF[0] - up[1] * OFF[1] - up[2] * OFF[2] - RADIUS;
}

static void loaded_bounce(loaded *s) {
    double up[3], arm[3], turned[3], speed = s->y[1], give = 1;
    loaded_gap(s, up);
    for (int k = 0; k < 3; k++) arm[k] = -OFF[k] - RADIUS * up[k];
    for (int k = 0; k < 3; k++) turned[k] = arm[(k + 1) % 3] * up[(k + 2) % 3] - arm[(k + 2) % 3] * up[(k + 1) % 3];
    for (int k = 0; k < 3; k++) speed += turned[k] * s->y[6 + k], give += turned[k] * turned[k] / MOMENT[k];
    double push = -(1 + REBOUND) * speed / give;
    s->y[1] += push;
    for (int k = 0; k < 3; k++) s->y[6 + k] += push * turned[k] / MOMENT[k];
}

/* Spin after T, dropped with the centre of mass at that height. */
static void loaded_spin(double height, double T, double spin[3]) {
    loaded s = {{height, -2, 1, 0, 0, 0, 6, -4, 5}}, next;
    double dt = 1e-4, t = 0, up[3];
    for (next = loaded_step(s, dt); loaded_gap(&next, up) > 0; next = loaded_step(s, dt)) s = next, t += dt;
    double low = 0, high = dt;
    for (int k = 0; k < 50; k++) {
        double middle = 0.5 * (low + high);
        next = loaded_step(s, middle);
        *(loaded_gap(&next, up) > 0 ? &low : &high) = middle;
    }
    s = loaded_step(s, low), t += low;
    loaded_bounce(&s);
    for (int n = 0; n < 1000; n++) s = loaded_step(s, (T - t) / 1000);
    for (int k = 0; k < 3; k++) spin[k] = s.y[6 + k];
}

/* Wherever in its step the bounce is, the spin and its derivative are those of the motion, to first order. */
START_TEST(unequal_moments_bounce_with_the_spin_they_get) {
    enum { HEIGHTS = 8 };
    const double T = 0.4, steps[2] = {1e-3, 2.5e-4};
    double off[2] = {0, 0}, by[2] = {0, 0};
    for (int n = 0; n < 2; n++) {
        int N = (int)(T / steps[n] + 0.5);
        for (int i = 0; i < HEIGHTS; i++) {
            double height = 0.5 + 2 * steps[n] * i / HEIGHTS, at[3], above[3], below[3]; /* one step of its way */
            tribo_builder *b = tribo_builder_new(NULL);
            tribo_set_gravity(b, (double[3]){0, 0, 0});
            world_floor(b, 0, REBOUND);
            tribo_body_def d = tribo_default_body();
            d.name = "ball", d.inertia_given = true, d.mass = 1, d.pos[2] = height - OFF[2];
            for (int k = 0; k < 3; k++) d.com[k] = OFF[k], d.inertia[k] = MOMENT[k];
            int body = tribo_add_body(b, &d);
            tribo_geom_def g = tribo_default_geom();
            g.name = "ball", g.shape = TRIBO_SPHERE, g.size[0] = RADIUS, g.material = world_material(0, REBOUND);
            tribo_add_geom(b, body, &g);
            world w = world_new(b, steps[n]);
            double *v = world_v0(&w, 0), spin[3] = {6, -4, 5};
            memcpy(v + 3, spin, sizeof spin); /* the origin's velocity is that of the centre less w x com */
            for (int k = 0; k < 3; k++)
                v[k] =
                    (k == 2 ? -2 : 0) - (spin[(k + 1) % 3] * OFF[(k + 2) % 3] - spin[(k + 2) % 3] * OFF[(k + 1) % 3]);
            world_steps(&w, N);
            world_run(&w);
            loaded_spin(height, T, at), loaded_spin(height + 1e-5, T, above), loaded_spin(height - 1e-5, T, below);
            for (int k = 0; k < 3; k++) {
                off[n] = fmax(off[n], fabs(velocity(&w, N)[3 + k] - at[k]));
                world_gradient(&w, N, world_dv(&w, 0, 3 + k));
                by[n] = fmax(by[n], fabs(w.x_bar[2] - (above[k] - below[k]) / 2e-5));
            }
            world_free(&w);
        }
    }
    printf("unequal moments, steps of 1 and .25 ms: spin off by %.1e, %.1e of 15 rad/s, by height %.2g, %.2g of 78\n",
           off[0], off[1], by[0], by[1]);
    ck_assert_double_le(off[1], 0.5 * off[0]);
    ck_assert_double_le(by[0], 2);
    ck_assert_double_le(by[1], 1);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("truths of turning");
    TCase *t = tcase_create("turning");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, dry_friction_takes_equal_shares, 0, 2);
    tcase_add_test(t, dry_friction_holds);
    tcase_add_test(t, top_precesses);
    tcase_add_test(t, top_sleeps_or_falls);
    tcase_add_test(t, rotor_whirls);
    tcase_add_loop_test(t, tippe_top_turns_over, 0, 4);
    tcase_add_test(t, disk_rolls_round);
    tcase_add_test(t, wedge_gives_way);
    tcase_add_test(t, unequal_moments_bounce_with_the_spin_they_get);
    suite_add_tcase(s, t);
    return s;
}
