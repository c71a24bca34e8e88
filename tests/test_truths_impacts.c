/* test_truths_impacts.c -- bounces, collisions, cradles and stacks against their closed forms.
 *
 * Impacts are found inside the step and positions between them lie on the exact parabola (docs/math.md, Time of
 * impact), so the motion of balls is that of continuous time and only rounding is allowed. One convention matters: v is
 * the velocity in the middle of a step, so a body that starts from rest at time 0 has v0 = g h / 2 upwards. Derivatives
 * come from linear solves with a compliance of 1e-6, refined once: SOLVE, relative.
 */
#include "test_main.h"
#include "worlds.h"
#include <lbfgs.h>

static const double SOLVE = 1e-10;

/* ---- A.7: bouncing ---- */

static world bouncing_ball(double height, double e, double mu, double dt) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, mu, e);
    world_ball(b, "ball", 0.3, 0.1, 0, 0, 0.1 + height, world_material(mu, e));
    world w = world_new(b, dt);
    world_v0(&w, 0)[2] = G * dt / 2;
    return w;
}

/* Height of the apex that the ball would reach from state k, above the floor. */
static double apex(const world *w, int k, double dt) {
    double v = world_v(w, k, 0, 2) - G * dt / 2; /* at the time of the state, not in the middle of its last step */
    return world_q(w, k, 0, 2) - 0.1 + v * v / (2 * G);
}

START_TEST(apexes_fall_by_the_square_of_restitution) {
    const double h = 1, e = 0.8, dt = 1e-3;
    enum { N = 3200 };
    world w = bouncing_ball(h, e, 0.3, dt);
    world_steps(&w, N);
    world_run(&w);
    int bounces = 0;
    double next = sqrt(2 * h / G), worst = 0, path = h;
    for (int k = 1; k <= N; k++) {
        if (k * dt >= next)
            bounces++, path += 2 * h * pow(e, 2 * bounces), next += 2 * pow(e, bounces) * sqrt(2 * h / G);
        worst = fmax(worst, fabs(apex(&w, k, dt) - h * pow(e, 2 * bounces)));
    }
    printf("bouncing: %d bounces in %d steps, worst apex error %.1e m\n", bounces, N, worst);
    ck_assert_int_ge(bounces, 5);
    NEAR(worst, 0, 1e-12 * N);
    NEAR(path, h * (1 + e * e) / (1 - e * e), 2 * h * pow(e, 2 * bounces + 2) / (1 - e * e) + 1e-12);
    world_free(&w);
}
END_TEST

/* A box that falls on a corner without friction, and is thrown back whole: spins of unequal moments keep what the
 * impact gives them, from wherever in the step it does. */
START_TEST(a_corner_throws_back_all_energy) {
    const double dt = 5e-3, mass = 1, size[3] = {0.02, 0.05, 0.08};
    for (int k = 0; k < 10; k++) {
        tribo_builder *b = tribo_builder_new(NULL);
        world_floor(b, 0, 1);
        world_solid(b, "box", TRIBO_BOX, mass, size, (double[3]){0, 0, 0.1 + 2e-5 * k}, world_material(0, 1));
        world w = world_new(b, dt);
        static const double quat[4] = {0.8, 0.3, 0.4, 0.33166247903554};
        memcpy(w.x0 + 3, quat, sizeof quat);
        world_v0(&w, 0)[2] = G * dt / 2;
        int hit = 0;
        world_steps(&w, 30);
        world_run(&w);
        for (int n = 0; n <= 30 && hit == 0; n++) {
            double v = world_v(&w, n, 0, 2) - G * dt / 2, spin[3], energy = 0.5 * mass * v * v;
            for (int i = 0; i < 3; i++) {
                spin[i] = world_v(&w, n, 0, 3 + i);
                double across = size[(i + 1) % 3] * size[(i + 1) % 3] + size[(i + 2) % 3] * size[(i + 2) % 3];
                energy += 0.5 * mass / 3 * across * spin[i] * spin[i];
            }
            energy += mass * G * (world_q(&w, n, 0, 2) - w.x0[2]);
            hit = spin[0] != 0 ? n : 0;
            ck_assert_msg(fabs(energy) < 1e-12, "%d: %g J after %d steps", k, energy, n);
        }
        ck_assert_int_gt(hit, 0);
        world_free(&w);
    }
}
END_TEST

/* Thrown up so gently that it comes back within the step: it bounces, on whichever side of zero rounding puts it. */
START_TEST(hop_within_a_step) {
    const double e = 0.8, dt = 1e-3, up = 0.45 * G * dt; /* at the time of the state */
    for (int side = -1; side <= 1; side++) {
        world w = bouncing_ball(side * 1.4e-17, e, 0.3, dt);
        world_v0(&w, 0)[2] = up + G * dt / 2;
        world_steps(&w, 1);
        world_run(&w);
        NEAR(world_v(&w, 1, 0, 2), up - G * dt / 2 + (1 + e) * up, 1e-12);
        NEAR(world_q(&w, 1, 0, 2) - 0.1, e * up * 0.1 * dt - G * 0.01 * dt * dt / 2, 1e-15);
        world_free(&w);
    }
}
END_TEST

START_TEST(apex_derivatives) {
    const double h = 1, dt = 1e-3;
    for (int i = 0; i < 3; i++) {
        double e = 0.5 + 0.2 * i, fall = sqrt(2 * h / G);
        int N = (int)((fall * (1 + 2 * e + 2 * e * e) + e * e * e * fall * 0.7) / dt), n = 3; /* after three bounces */
        world w = bouncing_ball(h, e, 0.3, dt);
        world_steps(&w, N);
        world_run(&w);
        NEAR(apex(&w, N, dt), h * pow(e, 2 * n), 1e-11);
        double v = world_v(&w, N, 0, 2) - G * dt / 2;
        w.lx[N * w.n.ndx + 2] = 1, w.lx[N * w.n.ndx + world_dv(&w, 0, 2)] = v / G;
        world_reverse(&w);
        NEAR(world_p_bar(&w, "floor/restitution"), 2 * n * pow(e, 2 * n - 1) * h, 1e-9);
        NEAR(w.x_bar[2], pow(e, 2 * n), 1e-10);
        NEAR(w.x_bar[world_dv(&w, 0, 2)], 0, 1e-10);        /* v^2 / 2g at v = 0 */
        NEAR(0.3 * world_p_bar(&w, "ball/mass"), 0, SOLVE); /* for a share of the mass */
        NEAR(world_p_bar(&w, "floor/friction"), 0, SOLVE);
        /* An apex does not know gravity: what p_bar says is undone by the g in the formula above. */
        double explicit_g = v * v / (2 * G * G) + v * dt / (2 * G); /* -d/d(gravity/z) of v, of 1/g */
        double start = w.x_bar[world_dv(&w, 0, 2)] * -dt / 2;       /* v0 = g h / 2 */
        NEAR(world_p_bar(&w, "gravity/z") + explicit_g + start, 0, 1e-9);
        world_free(&w);
    }
}
END_TEST

/* A ball that is dropped from height H, going on at v, lands and slips until T: whatever the time of the landing in its
 * step, what stops it has the momentum g T, so that its spin is 5 mu g T / (2 r), and it gets v T - mu g T^2 / 2 + mu H
 * far. The velocity is that half a step before, and what it starts with knows no other gravity. */
START_TEST(what_lands_and_slips_has_its_lever) {
    const double mu = 0.05, dt = 2e-3, r = 0.1, v = 2;
    enum { N = 200, HEIGHTS = 12 };
    const double T = N * dt;
    double worst[6] = {0};
    for (int i = 0; i < HEIGHTS; i++) {
        double H = 0.3 + 5e-3 * i / HEIGHTS; /* the landing goes through a step and a half */
        world w = bouncing_ball(H, 0, mu, dt);
        world_v0(&w, 0)[0] = v;
        world_steps(&w, N);
        world_run(&w);
        worst[0] = fmax(worst[0], fabs(world_v(&w, N, 0, 4) / (2.5 * mu * G * (T - dt / 2) / r) - 1));
        worst[1] = fmax(worst[1], fabs(world_q(&w, N, 0, 0) - (v * T - mu * G * T * T / 2 + mu * H)));
        world_gradient(&w, N, world_dv(&w, 0, 4));
        worst[2] = fmax(worst[2], fabs(-world_p_bar(&w, "gravity/z") / (2.5 * mu * T / r) - 1));
        worst[3] = fmax(worst[3], fabs(w.x_bar[2]));
        world_gradient(&w, N, 0);
        worst[4] = fmax(worst[4], fabs(w.x_bar[2] / mu - 1));
        worst[5] = fmax(worst[5], fabs(-world_p_bar(&w, "gravity/z") / (mu * T * (T + dt) / 2) + 1));
        world_free(&w);
    }
    printf("landing: spin off by %.1e, place %.1e; by gravity %.1e, height %.1e; place by height %.1e, gravity %.1e\n",
           worst[0], worst[1], worst[2], worst[3], worst[4], worst[5]);
    for (int k = 0; k < 6; k++) ck_assert_double_le(worst[k], k < 2 ? 1e-12 : SOLVE);
}
END_TEST

/* Planar, without gravity: a ball whose centre of mass is D off its centre comes down at U, turning, and slips. When
 * its lowest point is there, one impulse (mu, 1) p stops that point; closed form, with the time of the landing by
 * bisection. out: the spin afterwards and its derivative by the height. */
static void landing_off_centre(double z, double *out) {
    enum { DOWN = 2, ALONG = 3 };
    const double r = 0.1, d = 0.03, mu = 0.2, m = 1, inertia = 4e-3, w = 6, turned = 0.4;
    double spin[2];
    for (int side = 0; side < 2; side++) {
        double from = 0, to = 0.2, at = z + (side ? 1e-6 : -1e-6);
        for (int k = 0; k < 100; k++) { /* the centre of the ball is D (sin, cos) of the angle from that of mass */
            double t = (from + to) / 2, high = at - DOWN * t + d * cos(turned + w * t) - r;
            *(high > 0 ? &from : &to) = t;
        }
        double angle = turned + w * from, x = d * sin(angle),
               z_arm = d * cos(angle) - r; /* to the point that touches */
        double normal = -DOWN - w * x, along = ALONG + w * z_arm;
        ck_assert(along > 0);
        /* impulse (-mu, 1) p: velocity (-mu, 1) p / m, spin (z_arm fx - x fz) p / inertia about y */
        double by = (z_arm * -mu - x) / inertia, p = -normal / (1 / m - by * x);
        ck_assert(along + p * (-mu / m + by * z_arm) > 0);
        spin[side] = w + p * by;
    }
    out[0] = (spin[0] + spin[1]) / 2, out[1] = (spin[1] - spin[0]) / 2e-6;
}

/* That is what steps make of it, wherever in its step the landing is, and the derivative is that of the motion: both to
 * first order. */
START_TEST(what_lands_off_its_centre_has_its_time) {
    enum { N = 8, HEIGHTS = 12 };
    const double dt = 1e-4, turned = 0.4, d = 0.03;
    double worst[2] = {0};
    for (int i = 0; i < HEIGHTS; i++) {
        double z = 0.1 - d * cos(turned) + 2 * dt * (3 + 1.5 * i / HEIGHTS), truth[2];
        landing_off_centre(z, truth);
        tribo_builder *b = tribo_builder_new(NULL);
        tribo_set_gravity(b, (double[3]){0, 0, 0});
        world_floor(b, 0.2, 0);
        tribo_body_def body = tribo_default_body();
        body.pos[2] = z, body.mass = 1, body.inertia_given = true;
        body.quat[0] = cos(turned / 2), body.quat[2] = sin(turned / 2);
        for (int k = 0; k < 3; k++) body.inertia[k] = 4e-3;
        tribo_geom_def g = tribo_default_geom();
        g.shape = TRIBO_SPHERE, g.size[0] = 0.1, g.pos[2] = d, g.material = world_material(0.2, 0);
        tribo_add_geom(b, tribo_add_body(b, &body), &g);
        world w = world_new(b, dt);
        double *v = world_v0(&w, 0);
        v[0] = 3, v[2] = -2, v[4] = 6;
        world_steps(&w, N);
        world_run(&w);
        world_gradient(&w, N, world_dv(&w, 0, 4));
        worst[0] = fmax(worst[0], fabs(world_v(&w, N, 0, 4) / truth[0] - 1));
        worst[1] = fmax(worst[1], fabs(w.x_bar[2] / truth[1] - 1));
        world_free(&w);
    }
    printf("landing off its centre: spin off by %.1e, its derivative by the height by %.1e\n", worst[0], worst[1]);
    ck_assert_double_le(worst[0], 1e-3);
    ck_assert_double_le(worst[1], 2e-2);
}
END_TEST

/* Gravity across, as on a slope: at the time of impact a body has a velocity along the floor, and friction that holds
 * takes it all where the body does not turn. Then it is g_x s^2 / 2 further, s after the impact. */
START_TEST(slope_is_hit_with_the_velocity_of_its_time) {
    const double across = 2, down = 9, height = 0.3, e = 0.7, dt = 4e-3, fall = sqrt(2 * height / down);
    enum { N = 80 };
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_set_gravity(b, (double[3]){across, 0, -down});
    world_floor(b, 2, e);
    tribo_body_def d = tribo_default_body();
    d.name = "heavy to turn", d.pos[2] = 0.1 + height, d.mass = 0.3, d.inertia_given = true;
    for (int i = 0; i < 3; i++) d.inertia[i] = 1e12;
    int body = tribo_add_body(b, &d);
    tribo_geom_def g = tribo_default_geom();
    g.name = "ball", g.shape = TRIBO_SPHERE, g.size[0] = 0.1, g.material = world_material(2, e);
    tribo_add_geom(b, body, &g);
    world w = world_new(b, dt);
    world_v0(&w, 0)[0] = -across * dt / 2, world_v0(&w, 0)[2] = down * dt / 2;
    world_steps(&w, N);
    world_run(&w);
    double since = N * dt - fall, x = (fall * fall + since * since) / 2;
    ck_assert(since > 0.05 && since < 2 * e * fall);
    NEAR(world_q(&w, N, 0, 0), across * x, 1e-12);
    NEAR(world_v(&w, N, 0, 0), across * (since - dt / 2), 1e-12);
    w.lx[N * w.n.ndx] = 1;
    world_reverse(&w);
    NEAR(world_p_bar(&w, "gravity/x"), x + dt / 2 * fall, 1e-10); /* v0 does not follow gravity */
    NEAR(w.x_bar[2], across * (fall - since) / (down * fall), 1e-10);
    NEAR(w.x_bar[world_dv(&w, 0, 0)], fall, 1e-10);
    world_free(&w);
}
END_TEST

/* A box that lands flat is held afterwards by what presses it down. Where nothing does it is about to leave: a force
 * up takes it along, one down does not, and the step says so. */
START_TEST(what_lands_without_a_load_is_at_a_kink) {
    for (int pressed = 0; pressed < 2; pressed++) {
        tribo_builder *b = tribo_builder_new(NULL);
        tribo_set_gravity(b, (double[3]){0, 0, pressed ? -G : 0});
        world_floor(b, 0.9, 0);
        world_box(b, "box", 0.5, 0.2, 0, 0, 0.2001, world_material(0.9, 0));
        world w = world_new(b, 2e-3);
        double *v = world_v0(&w, 0);
        v[0] = -0.6, v[2] = -2;
        world_steps(&w, 1);
        world_run(&w);
        const tribo_step_info *info = tribo_last_info(w.ws);
        NEAR(world_v(&w, 1, 0, 2), 0, pressed ? G * 1e-4 : 1e-12);
        ck_assert_int_eq(info->ndegenerate > 0, !pressed);
        ck_assert_msg(pressed ? info->margin > 1e-4 : info->margin < 1e-12, "margin %g", info->margin);
        world_free(&w);
    }
}
END_TEST

/* How fast a box of two kinds of sides turns about y after it has landed on a face, tilted about x. @param info [out]
 */
static double thrown_back(double mu, double e, double across, double tilt, tribo_step_info *info) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, mu, e);
    world_solid(b, "box", TRIBO_BOX, 1, (double[3]){0.2, 0.3, 0.1}, (double[3]){0, 0, 0.1001}, world_material(mu, e));
    world w = world_new(b, 2e-3);
    double *v = world_v0(&w, 0);
    v[0] = 0.4 * across, v[1] = 0.3 * across, v[2] = -2;
    w.x0[4] = sin(tilt / 2), w.x0[3] = cos(tilt / 2);
    world_steps(&w, 1);
    world_run(&w);
    double turns = world_v(&w, 1, 0, 4);
    *info = *tribo_last_info(w.ws);
    world_free(&w);
    return turns;
}

/* A face that lands flat, sticks, and is thrown back so that it turns: tilted, its corners differ in height and cannot
 * all stick while it turns, each slips its own way, and by the other tilt the opposite way. The step says so; but not
 * of one that stays, slips, or is thrown straight up, which have one slope. */
START_TEST(a_face_that_sticks_and_is_thrown_askew_is_at_a_kink) {
    const struct {
        double mu, e, across;
        bool kink;
    } cases[] = {{0.98, 0.3, 1, true}, {0.98, 0, 1, false}, {0.05, 0.3, 1, false}, {0.98, 0.3, 0, false}};
    for (int k = 0; k < 4; k++) {
        tribo_step_info info, other;
        double mu = cases[k].mu, e = cases[k].e, across = cases[k].across, h = 1e-6;
        double flat = thrown_back(mu, e, across, 0, &info);
        double up = (thrown_back(mu, e, across, h, &other) - flat) / h;
        double down = (flat - thrown_back(mu, e, across, -h, &other)) / h;
        ck_assert_msg((fabs(up - down) > 1) == cases[k].kink, "case %d: slopes %g, %g", k, up, down);
        ck_assert_int_eq(info.ndegenerate > 0, cases[k].kink);
        ck_assert_msg((info.margin == 0) == cases[k].kink, "case %d: margin %g", k, info.margin);
    }
}
END_TEST

/* Zeno: infinitely many bounces in finite time, then rest. */
START_TEST(bouncing_ends) {
    const double h = 0.5, e = 0.6, dt = 1e-3, end = sqrt(2 * h / G) * (1 + e) / (1 - e);
    int N = (int)(end / dt) + 20;
    world w = bouncing_ball(h, e, 0, dt);
    world_steps(&w, N);
    world_run(&w);
    int rest = N;
    while (rest > 0 && fabs(world_v(&w, rest, 0, 2)) < 1e-12) rest--;
    /* A bounce whose flight ends within its step stays down: that may cut the last flights, 2 steps at most each. */
    NEAR(rest * dt, end, 2 * dt / (1 - e));
    NEAR(world_q(&w, N, 0, 2), 0.1, 1e-12);
    world_free(&w);
}
END_TEST

/* ---- A.8: two balls meet ---- */

static world two_balls(double m1, double m2, double e, double gap) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_set_gravity(b, (double[3]){0, 0, 0});
    world_ball(b, "one", m1, 0.1, 0, 0, 0, world_material(0.3, e));
    world_ball(b, "two", m2, 0.1, 0.2 + gap, 0, 0, world_material(0.3, e));
    return world_new(b, 1e-3);
}

START_TEST(impact_of_two_masses) {
    static const double masses[][2] = {{1, 1}, {2, 0.5}, {1e-3, 1e3}, {1e3, 1e-3}};
    for (int k = 0; k < 4; k++)
        for (int i = 0; i <= 2; i++) {
            double m1 = masses[k][0], m2 = masses[k][1], e = 0.5 * i, v1 = 2, v2 = -0.5, M = m1 + m2;
            world w = two_balls(m1, m2, e, 0.0101);
            world_v0(&w, 0)[0] = v1, world_v0(&w, 1)[0] = v2;
            world_steps(&w, 6);
            world_run(&w);
            double w1 = ((m1 - e * m2) * v1 + (1 + e) * m2 * v2) / M, w2 = ((m2 - e * m1) * v2 + (1 + e) * m1 * v1) / M;
            NEAR(world_v(&w, 6, 0, 0), w1, 1e-12);
            NEAR(world_v(&w, 6, 1, 0), w2, 1e-12);
            world_gradient(&w, 6, world_dv(&w, 0, 0));
            double d = v2 - v1, f = (1 + e) * d / M; /* w1 = v1 + m2 f */
            double tol = 1e-11 * (1 + 1 / fmin(m1, m2));
            NEAR(w.x_bar[world_dv(&w, 0, 0)], (m1 - e * m2) / M, 1e-11);
            NEAR(w.x_bar[world_dv(&w, 1, 0)], (1 + e) * m2 / M, 1e-11);
            NEAR(world_p_bar(&w, "one/mass"), -m2 * f / M, tol);
            NEAR(world_p_bar(&w, "two/mass"), f - m2 * f / M, tol);
            NEAR(w.x_bar[0], 0, 1e-9); /* of v to x: 1/dt times rounding */
            double de = world_p_bar(&w, "one/restitution") + world_p_bar(&w, "two/restitution");
            if (e > 0) NEAR(de, m2 * d / M, 1e-11);
            world_free(&w);
        }
}
END_TEST

/* ---- A.9: the cradle ---- */

static world cradle(double gap, int n) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_set_gravity(b, (double[3]){0, 0, 0});
    for (int i = 0; i < n; i++)
        world_ball(b, (char[]){(char)('a' + i), 0}, 1, 0.1, i * (0.2 + gap) - (i ? 0 : 0.01), 0, 0,
                   world_material(0, 1));
    world w = world_new(b, 1e-3);
    world_v0(&w, 0)[0] = 3;
    return w;
}

START_TEST(cradle_is_simultaneous_where_balls_touch) {
    world w = cradle(0, 3);
    world_steps(&w, 10);
    world_run(&w);
    static const double share[3] = {-1. / 3, 2. / 3, 2. / 3};
    double energy = 0;
    for (int i = 0; i < 3; i++) {
        NEAR(world_v(&w, 10, i, 0), 3 * share[i], 1e-12);
        energy += pow(world_v(&w, 10, i, 0), 2) / 2;
        world_gradient(&w, 10, world_dv(&w, i, 0));
        NEAR(w.x_bar[world_dv(&w, 0, 0)], share[i], 1e-11);
    }
    NEAR(energy, 4.5, 1e-11);
    world_free(&w);
    w = cradle(0.02, 3); /* apart, the impacts follow each other and the last ball takes it all */
    world_steps(&w, 40);
    world_run(&w);
    for (int i = 0; i < 3; i++) NEAR(world_v(&w, 40, i, 0), i == 2 ? 3 : 0, 1e-12);
    world_free(&w);
}
END_TEST

/* ---- A.20, S3: a ton on a gram ---- */

static void tower(double lower, double upper) {
    enum { N = 1000 };
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.4, 0);
    world_box(b, "lower", lower, 0.1, 0, 0, 0.1, world_material(0.4, 0));
    world_box(b, "upper", upper, 0.1, 0, 0, 0.3, world_material(0.4, 0));
    world w = world_new(b, 1e-3);
    world_steps(&w, N);
    tribo_status s = tribo_rollout(w.ws, w.p, w.x0, N, NULL, w.X, w.tape);
    ck_assert_msg(s == TRIBO_OK, "rollout: %s", tribo_status_text(s));
    double moved = 0;
    for (int k = 0; k <= N; k++)
        for (int i = 0; i < w.n.nq; i++) moved = fmax(moved, fabs(w.X[k * w.n.nx + i] - w.X[i]));
    printf("%g kg on %g kg: moved %.1e m in 1 s, residual %.1e\n", upper, lower, moved,
           tribo_last_info(w.ws)->residual);
    ck_assert_msg(moved < 1e-6, "moved %g m", moved);
    /* Pulled at the height where it does not tip, the upper one slides: a = F/m - mu g. */
    double F = 0.5 * upper * G;
    world_steps(&w, 20);
    for (int k = 0; k < 20; k++) w.U[12 * k + 6] = F, w.U[12 * k + 10] = -0.1 * F;
    world_run(&w);
    NEAR(world_v(&w, 20, 1, 0), 20e-3 * 0.1 * G, 1e-10);
    NEAR(world_v(&w, 20, 0, 0), 0, 1e-9); /* the floor's friction is as large */
    world_gradient(&w, 20, world_dv(&w, 1, 0));
    NEAR(world_p_bar(&w, "lower/friction") + world_p_bar(&w, "upper/friction"), -20e-3 * G, 1e-9);
    NEAR(world_p_bar(&w, "upper/mass"), -20e-3 * F / (upper * upper), 1e-9 / upper);
    world_free(&w);
}

START_TEST(heavy_on_light_holds) {
    tower(1, 1);
    tower(1, 1e3);
    tower(1e-3, 1e3);
}
END_TEST

/* ---- B.1: the time of impact in the gradient ---- */

/* T1: down at (2,-2) m/s, once off the floor, without gravity. y_T = r + e (|vy| T - (y0 - r)). */
START_TEST(t1_bounce_once) {
    enum { N = 480 };
    const double dt = 1. / N, T = 1, y0 = 1, vy = -2, r = 0.1;
    for (int i = 0; i < 2; i++) {
        double e = i ? 0.7 : 1;
        tribo_builder *b = tribo_builder_new(NULL);
        tribo_set_gravity(b, (double[3]){0, 0, 0});
        world_floor(b, 0, e);
        world_ball(b, "ball", 1, r, -1, 0, y0, world_material(0, e));
        world w = world_new(b, dt);
        world_v0(&w, 0)[0] = 2, world_v0(&w, 0)[2] = vy;
        world_steps(&w, N);
        world_run(&w);
        NEAR(world_q(&w, N, 0, 2), r + e * (-vy * T - (y0 - r)), 1e-12);
        world_gradient(&w, N, 2);
        NEAR(w.x_bar[2], -e, SOLVE);
        NEAR(w.x_bar[world_dv(&w, 0, 2)], -e * T, SOLVE);
        NEAR(world_p_bar(&w, "floor/restitution"), -vy * T - (y0 - r), SOLVE);
        NEAR(world_p_bar(&w, "ball/size/x"), 1 + e, SOLVE);
        /* A force in step 0 acts over the whole step here, so dy/du0 = -e T dt / m; a constant force in continuous time
         * gives -e (T - dt/2) dt, which the half step of O(dt^2) apart is the difference of. */
        NEAR(w.u_bar[2], -e * T * dt, SOLVE);
        NEAR(w.u_bar[2], -e * (T - dt / 2) * dt, dt * dt / 2 + SOLVE);
        world_free(&w);
    }
}
END_TEST

/* T2: off the floor and off a wall, to a target behind the start. */
static world billiard(double mu) {
    const double e = 0.92;
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_set_gravity(b, (double[3]){0, 0, 0});
    world_floor(b, mu, e);
    world_wall(b, "wall", (double[3]){1.75, 0, 0}, (double[4]){sqrt(0.5), 0, -sqrt(0.5), 0}, world_material(mu, e));
    world_ball(b, "ball", 1, 0.1, -0.5, 0, 1, world_material(mu, e));
    world w = world_new(b, 1. / 480);
    world_v0(&w, 0)[0] = 5, world_v0(&w, 0)[2] = -5;
    world_steps(&w, 288);
    return w;
}

/* Descend |p_T - target|^2 by the initial velocity: 1000 steps of 0.01. @return the last loss. */
static double descend(world *w) {
    static const double target[2] = {-2, 1.5};
    double loss = 0;
    for (int k = 0; k <= 1000; k++) {
        world_run(w);
        double d[2] = {world_q(w, w->T, 0, 0) - target[0], world_q(w, w->T, 0, 2) - target[1]};
        loss = d[0] * d[0] + d[1] * d[1];
        if (k == 1000) break;
        w->lx[w->T * w->n.ndx] = 2 * d[0], w->lx[w->T * w->n.ndx + 2] = 2 * d[1];
        world_reverse(w);
        for (int i = 0; i < 3; i += 2) world_v0(w, 0)[i] -= 0.01 * w->x_bar[world_dv(w, 0, i)];
    }
    return loss;
}

START_TEST(t2_descent_finds_the_bank_shot) {
    world w = billiard(0);
    const double e = 0.92, T = 0.6, far = 1.75 - 0.1, slope = -e * T; /* dx_T/dvx0 */
    double loss = descend(&w), best = ((far + 0.5) + (far + 2) / e) / T, v = world_v0(&w, 0)[0];
    /* x_T is linear in v once the wall is met, so the descent is a geometric sequence. */
    double wanted = best + (5 - best) * pow(1 - 0.02 * slope * slope, 1000);
    printf("T2: v0x %.4f (the shot %.4f), loss %.2e\n", v, best, loss);
    NEAR(v, wanted, 1e-9);
    ck_assert(v > 10.1 && v < 10.3);
    world_free(&w);
}
END_TEST

/* With friction: a ball that cannot turn slides through both impacts, each of which takes mu (1 + e) times the normal
 * speed from the tangential one. (One that turns meets floor and wall at the same time just where the target would be
 * hit, and what it does next jumps with their order: there the loss has no minimum.) */
START_TEST(t2_with_friction) {
    const double mu = 0.1, e = 0.92, T = 0.6, k = mu * (1 + e);
    world w = billiard(mu);
    for (int i = 0; i < 3; i++) w.p[world_param(&w, "ball/inertia/xx") + i] = 1e6;
    double vx = world_v0(&w, 0)[0], vz = world_v0(&w, 0)[2];
    world_run(&w);
    double t1 = 0.9 / -vz, ux = vx + k * vz, x1 = -0.5 + vx * t1, t2 = t1 + (1.65 - x1) / ux; /* floor, then wall */
    double rise = -e * vz, uz = rise - k * ux, z2 = 0.1 + rise * (t2 - t1);
    ck_assert(t1 < t2 && t2 < T && uz > 0);
    NEAR(world_q(&w, w.T, 0, 0), 1.65 - e * ux * (T - t2), 1e-6); /* 1e6 kg m^2 is not infinite: 1e-8 of the speed */
    NEAR(world_q(&w, w.T, 0, 2), z2 + uz * (T - t2), 1e-6);
    world_gradient(&w, w.T, 0);
    /* x_T = 1.65 - e (ux (T - t1) - 1.65 + x1) */
    NEAR(w.x_bar[world_dv(&w, 0, 0)], -e * ((T - t1) + t1), 1e-6);
    NEAR(w.x_bar[0], -e, 1e-6);
    NEAR(world_p_bar(&w, "floor/friction"), -e * (1 + e) * vz * (T - t1), 1e-6);
    double loss = descend(&w);
    printf("T2 with friction 0.1: v0 (%.3f, %.3f), loss %.1e after 1000 steps", world_v0(&w, 0)[0], world_v0(&w, 0)[2],
           loss);
    ck_assert(loss < 2e-3);
    loss = descend(&w);
    printf(", %.1e after 2000\n", loss);
    ck_assert(loss < 1e-6);
    world_free(&w);
}
END_TEST

/* T3: a ball pushed by a control meets another; l = |x2(T)|^2 + 0.1 sum |u|^2 dt. */
enum { T3_STEPS = 480 };

static world pushed_ball(int steps) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_set_gravity(b, (double[3]){0, 0, 0});
    world_ball(b, "one", 1, 0.2, -2, 0, -2, world_material(0, 1));
    world_ball(b, "two", 1, 0.2, -1, 0, -1, world_material(0, 1));
    world w = world_new(b, 1. / steps);
    world_steps(&w, steps);
    return w;
}

START_TEST(t3_gradient_through_a_collision) {
    const double u = 3, dt = 1. / T3_STEPS;
    world w = pushed_ball(T3_STEPS);
    for (int k = 0; k < T3_STEPS; k++) w.U[12 * k] = w.U[12 * k + 2] = u;
    /* Continuous time has v1 = 0 at time 0, the step has it half a step later. */
    world_v0(&w, 0)[0] = world_v0(&w, 0)[2] = -u * dt / 2;
    world_run(&w);
    /* On the diagonal: gap d, acceleration a, impact at s with the speed a s, handed over in full, so
     * X2 = x2 + a s (1 - s) with s = sqrt(2 d / a); and ds = (dx2 - dx1 - s (dv1 - dv2)) / (a s). */
    double a = u * sqrt(2), d = sqrt(2) - 0.4, s = sqrt(2 * d / a), X2 = -sqrt(2) + a * s * (1 - s);
    NEAR(s, 0.69145, 5e-6);
    NEAR(X2, -0.50906, 1e-5);
    NEAR(world_q(&w, T3_STEPS, 1, 0), X2 / sqrt(2), 1e-12);
    NEAR(world_q(&w, T3_STEPS, 1, 2), X2 / sqrt(2), 1e-12);
    for (int i = 0; i < 3; i += 2) w.lx[T3_STEPS * w.n.ndx + 6 + i] = 2 * world_q(&w, T3_STEPS, 1, i);
    world_reverse(&w);
    static const double known[4] = {-0.398669, -0.321253, -0.497791, -0.222131}; /* by x1, x2, v1, v2 */
    double dX2[4] = {1 - (1 - s) / s, (1 - s) / s, s, 1 - s};
    for (int i = 0; i < 3; i += 2)
        for (int k = 0; k < 4; k++) {
            double found = w.x_bar[6 * k + i]; /* the tangent is dx1, dx2, dv1, dv2 */
            NEAR(found, known[k], 1e-6);
            NEAR(found, 2 * X2 * dX2[k] / sqrt(2), SOLVE);
        }
    world_free(&w);
}
END_TEST

static lbfgsfloatval_t t3_loss(void *context, const lbfgsfloatval_t *u, lbfgsfloatval_t *gradient, const int n,
                               const lbfgsfloatval_t step) {
    world *w = context;
    (void)step;
    double dt = 1. / w->T, loss = 0;
    for (int i = 0; i < n; i++) w->U[12 * (i / 2) + 2 * (i % 2)] = u[i], loss += 0.1 * dt * u[i] * u[i];
    world_run(w);
    for (int i = 0; i < 3; i += 2) {
        double x = world_q(w, w->T, 1, i);
        loss += x * x, w->lx[w->T * w->n.ndx + 6 + i] = 2 * x;
    }
    world_reverse(w);
    for (int i = 0; i < n; i++) gradient[i] = 0.2 * dt * u[i] + w->u_bar[12 * (i / 2) + 2 * (i % 2)];
    return loss;
}

/* @return the loss of the best control of N steps, from u = 3; worst: its largest distance from the known one. */
static double t3_optimise(int N, double *worst) {
    const double dt = 1. / N, dc = 1 - 0.4 / sqrt(2), s = 0.68322, vc = 1.80603;
    world w = pushed_ball(N);
    double *u = world_zeros(2 * N);
    for (int i = 0; i < 2 * N; i++) u[i] = 3;
    lbfgs_parameter_t how;
    lbfgs_parameter_init(&how);
    how.epsilon = 1e-9, how.max_iterations = 200;
    lbfgsfloatval_t loss = 0;
    int code = lbfgs(2 * N, u, &loss, t3_loss, NULL, &w, &how);
    *worst = 0;
    for (int k = 0; k < N; k++) {
        double t = (k + 0.5) * dt, f = 6 * dc / (s * s) - 2 * vc / s + (6 * vc / (s * s) - 12 * dc / (s * s * s)) * t;
        if (fabs(t - s) > 2 * dt) *worst = fmax(*worst, fabs(u[2 * k] - (t < s ? f : 0)));
    }
    printf("T3: %d steps: optimum %.7f, control off by %.1e at most; lbfgs says %d\n", N, loss, *worst, code);
    free(u);
    world_free(&w);
    return loss;
}

START_TEST(t3_optimum) {
    double coarse_off, fine_off, coarse = t3_optimise(T3_STEPS / 2, &coarse_off),
                                 fine = t3_optimise(T3_STEPS, &fine_off);
    const double best = 1.3965422, dt = 1. / T3_STEPS;
    /* Euler: the position gains half a step of the control, some 1.4 dt of loss; extrapolation takes that out. A
     * control that is constant over steps makes the speed of the impact jump by h/2 times the control's change where
     * the impact passes from one step to the next: the loss has steps of that size, in which a descent gets stuck. */
    NEAR(fine, best, 2 * dt);
    NEAR(2 * fine - coarse, best, dt);
    NEAR(coarse_off, 0, 0.2); /* of up to 4 N */
    NEAR(fine_off, 0, 0.2);
}
END_TEST

/* ---- B.2: equal masses exchange their motions ---- */

START_TEST(collision_hands_the_motion_over) {
    enum { N = 500 };
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_set_gravity(b, (double[3]){0, 0, 0});
    world_ball(b, "one", 1, 0.1, 0, 0, 0, world_material(0.5, 1));
    world_ball(b, "two", 1, 0.1, 0.52, 0, 0, world_material(0.5, 1));
    world w = world_new(b, 1. / N);
    world_v0(&w, 0)[0] = 1;
    world_steps(&w, N);
    world_run(&w);
    NEAR(world_q(&w, N, 1, 0), 1.2, 1e-12);
    world_gradient(&w, N, 6);
    NEAR(w.x_bar[0], 1, SOLVE);
    NEAR(w.x_bar[6], 0, SOLVE);
    NEAR(w.x_bar[world_dv(&w, 0, 0)], 1, SOLVE);
    NEAR(w.x_bar[world_dv(&w, 1, 0)], 0, SOLVE);
    NEAR(world_p_bar(&w, "one/size/x") + world_p_bar(&w, "two/size/x"), 2, SOLVE);
    world_free(&w);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("truths of impacts");
    TCase *t = tcase_create("impacts");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, apexes_fall_by_the_square_of_restitution);
    tcase_add_test(t, a_corner_throws_back_all_energy);
    tcase_add_test(t, hop_within_a_step);
    tcase_add_test(t, apex_derivatives);
    tcase_add_test(t, what_lands_and_slips_has_its_lever);
    tcase_add_test(t, what_lands_off_its_centre_has_its_time);
    tcase_add_test(t, slope_is_hit_with_the_velocity_of_its_time);
    tcase_add_test(t, bouncing_ends);
    tcase_add_test(t, what_lands_without_a_load_is_at_a_kink);
    tcase_add_test(t, a_face_that_sticks_and_is_thrown_askew_is_at_a_kink);
    tcase_add_test(t, impact_of_two_masses);
    tcase_add_test(t, cradle_is_simultaneous_where_balls_touch);
    tcase_add_test(t, heavy_on_light_holds);
    tcase_add_test(t, t1_bounce_once);
    tcase_add_test(t, t2_descent_finds_the_bank_shot);
    tcase_add_test(t, t2_with_friction);
    tcase_add_test(t, t3_gradient_through_a_collision);
    tcase_add_test(t, t3_optimum);
    tcase_add_test(t, collision_hands_the_motion_over);
    suite_add_tcase(s, t);
    return s;
}
