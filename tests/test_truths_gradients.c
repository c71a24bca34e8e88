/* test_truths_gradients.c -- what must hold of any gradient: at kinks, under other units of difference, other orders,
 * other frames, other numbers of supports. Where a number is not rounding, its origin stands beside it. */
#include "test_main.h"
#include "worlds.h"

/* ---- B.8: a sweep of difference steps ---- */

/* A box lands on a corner, slips and tumbles: nothing about it is linear. */
static world tumbling(void) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.2, 0.4);
    world_solid(b, "box", TRIBO_BOX, 1, (double[3]){0.12, 0.1, 0.08}, (double[3]){0, 0, 0.2}, world_material(0.2, 0));
    world w = world_new(b, 1e-3);
    static const double quat[4] = {0.8, 0.3, 0.4, 0.33166247903554}, v[6] = {1, 0.4, -1, 2, -1, 3};
    memcpy(w.x0 + 3, quat, sizeof quat), memcpy(world_v0(&w, 0), v, sizeof v);
    return w;
}

START_TEST(differences_make_a_v) {
    enum { N = 140, SWEEP = 8 };
    world w = tumbling();
    world_steps(&w, N);
    world_run(&w);
    static const char *names[] = {"floor/friction", "floor/restitution", "box/inertia/yy"};
    for (int c = 0; c < 3; c++) {
        world_run(&w);
        world_gradient(&w, N, world_dv(&w, 0, 4));
        int at = world_param(&w, names[c]);
        double g = w.p_bar[at], keep = w.p[at], error[SWEEP], least = INFINITY;
        ck_assert(fabs(g) > 0.1);
        for (int k = 0; k < SWEEP; k++) {
            double eps = keep * pow(10, -2 - k), side[2];
            for (int i = 0; i < 2; i++) {
                w.p[at] = keep + (i ? eps : -eps);
                world_run(&w);
                side[i] = world_v(&w, N, 0, 4);
            }
            w.p[at] = keep;
            error[k] = fabs((side[1] - side[0]) / (2 * eps) / g - 1), least = fmin(least, error[k]);
        }
        printf("%-18s", names[c]);
        for (int k = 0; k < SWEEP; k++) printf(" %.0e", error[k]);
        printf("\n");
        ck_assert_msg(least < 1e-7, "%s: floor %g", names[c], least);
        ck_assert(fmax(error[0], error[1]) > 30 * least); /* truncation on the left, */
        ck_assert(error[SWEEP - 1] > 30 * least);         /* rounding on the right, */
        if (c == 0) ck_assert(error[1] > 30 * error[2]);  /* and eps^2 in between */
    }
    world_free(&w);
}
END_TEST

/* ---- B.8: <w, J v> = <J' w, v> ---- */

static void dot_test(const char *name, world *w, double tol) {
    world_run(w);
    unsigned seed = 5;
    double *xd = world_zeros(w->n.ndx), *ud = world_zeros(w->n.nu), *pd = world_zeros(w->n.np);
    double *out = world_zeros(w->n.ndx), *bar = world_zeros(w->n.ndx), *ub = world_zeros(w->n.nu), worst = 0;
    for (int k = 0; k < w->T; k++) {
        double left = 0, right = 0, size = 0, lengths[2] = {0, 0};
        for (int i = 0; i < w->n.ndx; i++) xd[i] = test_random(&seed), bar[i] = test_random(&seed), w->x_bar[i] = 0;
        for (int i = 0; i < w->n.nu; i++) ud[i] = test_random(&seed), ub[i] = 0;
        for (int i = 0; i < w->n.np; i++) pd[i] = test_random(&seed), w->p_bar[i] = 0;
        ck_assert_int_eq(tribo_step_jvp(w->ws, w->tape, k, 1, xd, ud, pd, out), TRIBO_OK);
        ck_assert_int_eq(tribo_step_vjp(w->ws, w->tape, k, bar, w->x_bar, ub, w->p_bar), TRIBO_OK);
        for (int i = 0; i < w->n.ndx; i++) {
            left += bar[i] * out[i], right += w->x_bar[i] * xd[i];
            lengths[0] += bar[i] * bar[i], lengths[1] += out[i] * out[i];
        }
        for (int i = 0; i < w->n.nu; i++) right += ub[i] * ud[i];
        for (int i = 0; i < w->n.np; i++) right += w->p_bar[i] * pd[i];
        size = sqrt(lengths[0] * lengths[1]);
        worst = fmax(worst, fabs(left - right) / size);
    }
    printf("dot test, %-12s %.1e over %d steps\n", name, worst, w->T);
    ck_assert_msg(worst < tol, "%s: %g", name, worst);
    free(xd), free(ud), free(pd), free(out), free(bar), free(ub);
    world_free(w);
}

static world cube_with(double mu, double vx, double vz, double spin, int steps) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, mu, 0);
    world_box(b, "cube", 1, 0.1, 0, 0, 0.1, world_material(mu, 0));
    world w = world_new(b, 1e-3);
    world_v0(&w, 0)[0] = vx, world_v0(&w, 0)[2] = vz, world_v0(&w, 0)[5] = spin;
    world_steps(&w, steps);
    return w;
}

START_TEST(reverse_is_the_transpose) {
    world w = cube_with(0.4, 0, 1, 2, 20);
    dot_test("flight", &w, 1e-13);
    w = cube_with(0.4, 1, 0, 0, 20);
    dot_test("slide", &w, 1e-12);
    w = cube_with(0.4, 0, 0, 0, 20);
    dot_test("stick", &w, 1e-12);
    w = cube_with(0.4, 0.3, 0, 3, 20);
    dot_test("spin", &w, 1e-10); /* 1e-16 over the compliance of 1e-6, which alone shares the load of four corners */
    w = tumbling();
    world_steps(&w, 100);
    dot_test("tumble", &w, 1e-12);
}
END_TEST

/* ---- B.8: the error of a gradient goes with the tolerance of the solves ---- */

START_TEST(gradient_is_as_good_as_the_solves) {
    double exact[3] = {0};
    for (int k = 0; k <= 6; k++) {
        tribo_options o = tribo_default_options();
        o.tol = k ? pow(10, -2 * k) : 1e-14;
        world w = cube_with(0.4, 0.3, 0, 3, 40);
        tribo_ws_free(w.ws);
        ck_assert_int_eq(tribo_ws_new(w.m, &o, NULL, &w.ws, NULL), TRIBO_OK);
        tribo_tape_rewind(w.tape);
        ck_assert_int_ge(tribo_rollout(w.ws, w.p, w.x0, w.T, w.U, w.X, w.tape), 0);
        world_gradient(&w, w.T, world_dv(&w, 0, 5));
        double found[3] = {world_p_bar(&w, "floor/friction"), world_p_bar(&w, "cube/mass"),
                           w.x_bar[world_dv(&w, 0, 5)]};
        for (int i = 0; i < 3; i++) {
            if (k == 0) exact[i] = found[i];
            NEAR(found[i], exact[i], 10 * o.tol * (1 + fabs(exact[i])) + 1e-11);
        }
        world_free(&w);
    }
    ck_assert(fabs(exact[0]) > 0.1);
}
END_TEST

/* ---- B.8: nothing is NaN where something is zero ---- */

static void all_finite(world *w) {
    static const char *const what[] = {"x", "u", "p", "A", "B", "C"};
    world_run(w);
    for (int i = 0; i < (w->T + 1) * w->n.ndx; i++) w->lx[i] = 1;
    world_reverse(w);
    double *A = world_zeros(w->n.ndx * w->n.ndx), *B = world_zeros(w->n.ndx * w->n.nu);
    double *C = world_zeros(w->n.ndx * w->n.np);
    const double *arrays[] = {w->x_bar, w->u_bar, w->p_bar, A, B, C};
    int sizes[] = {w->n.ndx, w->T * w->n.nu, w->n.np, w->n.ndx * w->n.ndx, w->n.ndx * w->n.nu, w->n.ndx * w->n.np};
    for (int k = 0; k < w->T; k++) {
        ck_assert_int_eq(tribo_step_jac(w->ws, w->tape, k, A, B, C), TRIBO_OK);
        for (int j = 0; j < 6; j++)
            for (int i = 0; i < sizes[j]; i++)
                ck_assert_msg(isfinite(arrays[j][i]), "%s[%d] of step %d", what[j], i, k);
    }
    free(A), free(B), free(C);
    world_free(w);
}

START_TEST(zeros_do_no_harm) {
    for (int i = 0; i < 32; i++) { /* gravity, friction, speed, restitution, ball or box: lambda, v_t, gap all zero */
        tribo_builder *b = tribo_builder_new(NULL);
        double mu = i & 2 ? 0.5 : 0, e = i & 8 ? 1 : 0;
        world_floor(b, mu, e);
        if (i & 16)
            world_box(b, "body", 1, 0.1, 0, 0, 0.1, world_material(mu, e));
        else
            world_ball(b, "body", 1, 0.1, 0, 0, 0.1, world_material(mu, e));
        if (i & 1) tribo_set_gravity(b, (double[3]){0, 0, 0});
        world w = world_new(b, 1e-3);
        world_v0(&w, 0)[0] = i & 4 ? 0 : 1;
        world_steps(&w, 5);
        all_finite(&w);
    }
}
END_TEST

/* ---- B.3: at a kink ---- */

START_TEST(bounded_at_kinks) {
    /* Pulled by exactly what friction holds: dv/dF is 0 on one side and h/m on the other. */
    const double h = 1e-3;
    world w = cube_with(0.5, 0, 0, 0, 1);
    w.U[0] = 0.5 * G;
    world_run(&w);
    ck_assert(tribo_last_info(w.ws)->margin < 1e-9);
    ck_assert_int_gt(tribo_last_info(w.ws)->ndegenerate, 0);
    world_gradient(&w, 1, world_dv(&w, 0, 0));
    ck_assert_msg(w.u_bar[0] >= -1e-12 && w.u_bar[0] <= h + 1e-12, "dv/dF = %g", w.u_bar[0]);
    world_free(&w);
    /* A ball that touches the floor and neither rests nor leaves: dv/dv0 is between 0 and 1. */
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.3, 0);
    world_ball(b, "ball", 1, 0.1, 0, 0, 0.1, world_material(0.3, 0));
    w = world_new(b, h);
    world_v0(&w, 0)[2] = G * h;
    world_steps(&w, 1);
    world_run(&w);
    world_gradient(&w, 1, world_dv(&w, 0, 2));
    double slope = w.x_bar[world_dv(&w, 0, 2)];
    ck_assert_msg(slope >= -1e-9 && slope <= 1 + 1e-9, "dv/dv0 = %g", slope);
    world_free(&w);
}
END_TEST

static const tribo_law every_law[] = {TRIBO_LAW_NCP, TRIBO_LAW_CCP, TRIBO_LAW_LCP, TRIBO_LAW_RAISIM};
enum { LAWS = sizeof every_law / sizeof *every_law };

/* A box at rest without friction, and a ball that jumps: what slips is rounding, and a little friction would hold it.
 */
START_TEST(friction_of_what_rests_is_nothing) {
    tribo_options o = tribo_default_options();
    o.law.law = every_law[_i];
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0, 0);
    world_solid(b, "box", TRIBO_BOX, 1, (double[3]){0.05, 0.09, 0.06}, (double[3]){-0.3, -0.2, 0.06},
                world_material(0, 0));
    world_ball(b, "ball", 1, 0.1, 1, 0, 0.1 - 1e-12, world_material(0, 0.5));
    tribo_set_timestep(b, 1e-3);
    world w = world_of(world_build(b), &o);
    world_v0(&w, 1)[2] = -1;
    static const double quat[4] = {0.99999999205215417, 1.9311e-22, 2.3765e-21, 0.00012607811677557766};
    memcpy(w.x0 + 3, quat, sizeof quat);
    world_steps(&w, 5);
    world_run(&w);
    int mu = world_param(&w, "floor/friction");
    for (int v = 0; v < 12; v++) {
        world_gradient(&w, 5, world_dv(&w, v / 6, v % 6));
        ck_assert_msg(w.p_bar[mu] == 0, "velocity %d by friction: %g", v, w.p_bar[mu]);
    }
    world_v0(&w, 0)[1] = 1; /* what slips is braked at once: g h a step, each foot by its load */
    world_run(&w);
    world_gradient(&w, 5, world_dv(&w, 0, 1));
    ck_assert_double_eq_tol(w.p_bar[mu], -5 * 9.81e-3, 1e-9);
    world_free(&w);
}
END_TEST

/* A box at rest on ice, cold and from the contacts of the last step: a force moves it, x' = (T - k) h^2 / m, and so
 * does a push of its state; nothing sticks where there is no friction. */
START_TEST(what_rests_on_ice_moves) {
    enum { T = 4 };
    const double h = 1e-3, mass = 2;
    for (int warm = 0; warm < 2; warm++) {
        tribo_options o = tribo_default_options();
        o.law.law = every_law[_i], o.warm_start = warm;
        tribo_builder *b = tribo_builder_new(NULL);
        world_floor(b, 0, 0);
        world_solid(b, "box", TRIBO_BOX, mass, (double[3]){0.3, 0.2, 0.1}, (double[3]){0, 0, 0.1},
                    world_material(0, 0));
        tribo_set_timestep(b, h);
        world w = world_of(world_build(b), &o);
        world_steps(&w, T);
        world_run(&w);
        world_gradient(&w, T, 0); /* of its place along x */
        for (int k = 0; k < T; k++) ck_assert_double_eq_tol(w.u_bar[k * w.n.nu], (T - k) * h * h / mass, 1e-15);
        ck_assert_double_eq_tol(w.x_bar[6], T * h, 1e-12);
        world_free(&w);
    }
}
END_TEST

/* Two heavy boxes with a light one between them: a turn of the lowest is closed within a step, by spins of that over h,
 * and in the next step all are at rest. What the first step's derivative has too much is not taken back. */
START_TEST(a_turn_of_what_rests_is_gone_after_two_steps) {
    const double h = 6.5e-4;
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.3, 0);
    world_solid(b, "low", TRIBO_BOX, 9, (double[3]){0.45, 0.38, 0.27}, (double[3]){0, 0, 0.27}, world_material(1, 0));
    world_solid(b, "light", TRIBO_BOX, 0.02, (double[3]){0.23, 0.19, 0.4}, (double[3]){0.19, -0.12, 0.94},
                world_material(1, 0));
    world_solid(b, "top", TRIBO_BOX, 6, (double[3]){0.19, 0.45, 0.23}, (double[3]){0.22, -0.09, 1.57},
                world_material(1, 0));
    tribo_set_timestep(b, h);
    world w = world_of(world_build(b), NULL);
    world_steps(&w, 2);
    world_run(&w);
    for (int v = 0; v < 18; v++) {
        world_gradient(&w, 2, world_dv(&w, v / 6, v % 6));
        for (int turn = 3; turn < 18; turn++)
            if (turn % 6 == 3 || turn % 6 == 4)
                ck_assert_msg(fabs(h * w.x_bar[turn]) < 1e-13, "velocity %d by %d: %g / h", v, turn, h * w.x_bar[turn]);
    }
    world_free(&w);
}
END_TEST

/* A gram that slides and spins on a slab of a hundred tonnes, which rests, or on the floor: the same slopes. How its
 * corners share its weight says how its spin slows, and is all that a compliance in units of the slab would round. */
static world rider(bool on_slab) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.7, 0);
    if (on_slab)
        world_solid(b, "slab", TRIBO_BOX, 1e5, (double[3]){1, 1, 0.5}, (double[3]){0, 0, 0.5}, world_material(0.7, 0));
    world_solid(b, "rider", TRIBO_BOX, 1e-3, (double[3]){0.05, 0.04, 0.02}, (double[3]){0, 0, on_slab ? 1.02 : 0.02},
                world_material(0.7, 0));
    world w = world_new(b, 2e-3);
    double *v = world_v0(&w, on_slab);
    v[0] = 0.4, v[1] = -0.3, v[5] = 6;
    world_steps(&w, 3);
    world_run(&w);
    return w;
}

START_TEST(what_is_light_slides_alike_on_a_slab_and_on_the_floor) {
    world w = rider(true), alone = rider(false);
    for (int v = 0; v < 6; v++) {
        world_gradient(&w, 3, world_dv(&w, 1, v)), world_gradient(&alone, 3, world_dv(&alone, 0, v));
        for (int by = 0; by < 6; by++) {
            double a = w.x_bar[world_dv(&w, 1, by)], b = alone.x_bar[world_dv(&alone, 0, by)];
            ck_assert_msg(fabs(a - b) < 1e-11, "velocity %d by %d: %.12g, %.12g", v, by, a, b);
        }
    }
    world_free(&w), world_free(&alone);
}
END_TEST

/* Columns one on the other, and two boxes on top whose faces have no friction: at the compliance of the solver columns
 * that are not loaded in their middle tilt, and what tilts slips. */
START_TEST(friction_of_what_rests_and_yields_is_nothing) {
    tribo_options o = tribo_default_options();
    o.law.law = every_law[_i];
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.5, 0);
    for (int k = 0; k < 3; k++)
        world_solid(b, (const char *[]){"a", "b", "c"}[k], TRIBO_BOX, 1, (double[3]){0.02, 0.03, 0.2},
                    (double[3]){0.001 * k, 0.001 * k, 0.2 + 0.4 * k}, world_material(0.5, 0));
    world_solid(b, "low", TRIBO_BOX, 1, (double[3]){0.1, 0.1, 0.1}, (double[3]){0.01, 0.01, 1.3}, world_material(0, 0));
    world_solid(b, "top", TRIBO_BOX, 1, (double[3]){0.1, 0.1, 0.1}, (double[3]){0.01, 0.02, 1.5}, world_material(0, 0));
    tribo_set_timestep(b, 1e-3);
    world w = world_of(world_build(b), &o);
    world_steps(&w, 3);
    world_run(&w);
    int mu = world_param(&w, "low/friction");
    for (int v = 0; v < 30; v++) {
        world_gradient(&w, 3, world_dv(&w, v / 6, v % 6));
        ck_assert_msg(w.p_bar[mu] == 0, "velocity %d by friction: %g", v, w.p_bar[mu]);
    }
    world_free(&w);
}
END_TEST

/* Between a bounce that leaves and one that does not the motion jumps: differences across it grow as 1/eps. */
START_TEST(bounded_at_a_jump) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0, 0.5);
    world_ball(b, "ball", 1, 0.1, 0, 0, 0.1 + 1e-6, world_material(0, 0));
    world w = world_new(b, 1e-3);
    world_v0(&w, 0)[2] = -0.01;
    world_steps(&w, 1);
    int e = world_param(&w, "floor/restitution"), n;
    double low = 0.01, high = 0.99;
    for (int i = 0; i < 60; i++) {
        w.p[e] = (low + high) / 2;
        world_run(&w);
        *(tribo_last_contacts(w.ws, &n)->bounced ? &high : &low) = w.p[e];
    }
    double v[2], g[2], ends[2] = {low, high};
    ck_assert(low > 0.02 && high < 0.98);
    for (int i = 0; i < 2; i++) {
        w.p[e] = ends[i];
        world_run(&w);
        v[i] = world_v(&w, 1, 0, 2);
        world_gradient(&w, 1, world_dv(&w, 0, 2));
        g[i] = w.p_bar[e];
        ck_assert_msg(fabs(g[i]) < 0.1, "dv/de = %g", g[i]); /* the speed of the impact at most */
    }
    printf("jump at e = %.6f: v by %.1e, quotient %.1e, derivatives %.2e %.2e\n", high, v[1] - v[0],
           (v[1] - v[0]) / (high - low), g[0], g[1]);
    ck_assert(fabs(v[1] - v[0]) / (high - low) > 1e6 * (fabs(g[0]) + fabs(g[1])));
    world_free(&w);
}
END_TEST

/* ---- B.8: order and frame ---- */

/* A cube with a ball on it, made in another order, or turned in space with gravity and floor.
 *
 * What may differ is rounding. Without spin that is 1e-15 of a step, times 1/h for what depends on gaps (the ball turns
 * the cube a little, so the slopes have some of what follows). With spin the four corners share the load by their
 * compliance alone: R = 1e-6 against J v, which is known to 1e-16 of 0.5 m/s, leaves 1e-16 0.5 / (1e-6 lambda) = 2e-8
 * of an impulse open, of which friction makes a velocity in every step. */
typedef struct rounding {
    double spin, place, velocity, slope;
} rounding;
static const rounding roundings[2] = {{0, 1e-12, 1e-11, 1e-6}, {5, 1e-10, 1e-8, 2e-5}};

static world odd_scene(bool reversed, const double *turn, double spin) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_material mat = world_material(0.35, 0.2);
    double v[12] = {0};
    int cube = -1, ball = -1;
    for (int i = 0; i < 3; i++) {
        int what = reversed ? 2 - i : i;
        if (what == 0) world_wall(b, "floor", NULL, turn, mat);
        if (what == 1) cube = world_box(b, "cube", 1, 0.1, 0, 0, 0.1, mat);
        if (what == 2) ball = world_ball(b, "ball", 0.4, 0.08, 0.02, 0.01, 0.28, world_material(0.4, 0.25));
    }
    memcpy(v + 6 * cube, (double[6]){0.4, 0.1, 0, 0, 0, spin}, 48);
    memcpy(v + 6 * ball, (double[6]){0.1, 0.2, 0, 1, 0, 2}, 48);
    tribo_set_start(b, NULL, v);
    return world_new(b, 1e-3);
}

static void compare_orders(rounding tol) {
    enum { N = 60 };
    world w[2] = {odd_scene(false, NULL, tol.spin), odd_scene(true, NULL, tol.spin)};
    static const char *bodies[] = {"cube", "ball"};
    int at[2];
    for (int i = 0; i < 2; i++) {
        world_steps(&w[i], N);
        world_run(&w[i]);
        at[i] = tribo_model_body_find(w[i].m, "ball");
        world_gradient(&w[i], N, world_dv(&w[i], at[i], 0));
    }
    for (int b = 0; b < 2; b++) {
        int k[2];
        for (int i = 0; i < 2; i++) k[i] = tribo_model_body_find(w[i].m, bodies[b]);
        ck_assert_int_ne(k[0], k[1]);
        for (int i = 0; i < 7; i++) NEAR(world_q(&w[0], N, k[0], i), world_q(&w[1], N, k[1], i), tol.place);
        for (int i = 0; i < 6; i++) NEAR(world_v(&w[0], N, k[0], i), world_v(&w[1], N, k[1], i), tol.velocity);
        for (int i = 0; i < 6; i++) NEAR(w[0].x_bar[6 * k[0] + i], w[1].x_bar[6 * k[1] + i], tol.slope * 1e2);
    }
    for (int i = 0; i < w[0].n.np; i++) {
        tribo_param_info info;
        ck_assert_int_eq(tribo_param_describe(w[0].m, i, &info), TRIBO_OK);
        if (!info.used || info.kind >= TRIBO_PARAM_BAUMGARTE) continue;
        NEAR(w[0].p_bar[i], world_p_bar(&w[1], info.name), tol.slope * (1 + fabs(w[0].p_bar[i])));
    }
    world_free(&w[0]), world_free(&w[1]);
}

START_TEST(order_does_not_matter) {
    for (int i = 0; i < 2; i++) compare_orders(roundings[i]);
}
END_TEST

static void compare_frames(rounding tol) {
    enum { N = 60 };
    static const double turn[4] = {0.5, 0.5, -0.1, 0.7}; /* of length 1 */
    world w[2] = {odd_scene(false, NULL, tol.spin), odd_scene(false, turn, tol.spin)};
    double g[3] = {0, 0, -G};
    rotate(turn, g, w[1].p);
    for (int b = 0; b < 2; b++) {
        const double *q = w[0].x0 + 7 * b, *v = world_v0(&w[0], b);
        rotate(turn, q, w[1].x0 + 7 * b);
        memcpy(w[1].x0 + 7 * b + 3, turn, sizeof turn);
        rotate(turn, v, world_v0(&w[1], b));
    }
    for (int i = 0; i < 2; i++) {
        world_steps(&w[i], N);
        world_run(&w[i]);
        double d[3] = {0.3, -0.2, 0.5}, r[3]; /* loss: the ball's velocity along d, turned with the rest */
        rotate(i ? turn : (double[4]){1, 0, 0, 0}, d, r);
        for (int k = 0; k < 3; k++) w[i].lx[N * w[i].n.ndx + world_dv(&w[i], 1, k)] = r[k];
        world_reverse(&w[i]);
    }
    for (int b = 0; b < 2; b++) {
        double r[3];
        rotate(turn, w[0].X + N * w[0].n.nx + 7 * b, r);
        for (int i = 0; i < 3; i++) NEAR(world_q(&w[1], N, b, i), r[i], tol.place);
        for (int i = 3; i < 6; i++) NEAR(world_v(&w[1], N, b, i), world_v(&w[0], N, b, i), tol.velocity);
        rotate(turn, w[0].x_bar + world_dv(&w[0], b, 0), r);
        for (int i = 0; i < 3; i++) NEAR(w[1].x_bar[world_dv(&w[1], b, i)], r[i], tol.slope);
    }
    double r[3];
    rotate(turn, w[0].p_bar, r);
    for (int i = 0; i < 3; i++) NEAR(w[1].p_bar[i], r[i], tol.slope);
    static const char *names[] = {"floor/friction", "floor/restitution", "cube/mass", "cube/inertia/zz", "ball/size/x"};
    for (int i = 0; i < 5; i++) {
        double p = world_p_bar(&w[0], names[i]);
        NEAR(world_p_bar(&w[1], names[i]), p, tol.slope * (1 + fabs(p)));
    }
    ck_assert(fabs(world_p_bar(&w[0], "cube/mass")) > 1e-4);
    world_free(&w[0]), world_free(&w[1]);
}

START_TEST(frame_does_not_matter) {
    for (int i = 0; i < 2; i++) compare_frames(roundings[i]);
}
END_TEST

/* ---- redundant corners ---- */

/* A tripod or a table: feet of 2 cm around a body, the same mass and inertia with either. */
static world table(int feet, double spin, double dt) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.3, 0);
    tribo_body_def d = tribo_default_body();
    d.name = "table", d.pos[2] = 0.1, d.inertia_given = true, d.mass = 2;
    d.inertia[0] = d.inertia[1] = 0.02, d.inertia[2] = 0.03;
    int body = tribo_add_body(b, &d);
    for (int i = 0; i < feet; i++) {
        tribo_geom_def g = tribo_default_geom();
        double angle = 2 * PI * (i + 0.5) / feet;
        g.shape = TRIBO_SPHERE, g.size[0] = 0.02;
        g.pos[0] = 0.1 * cos(angle), g.pos[1] = 0.1 * sin(angle), g.pos[2] = -0.08;
        tribo_add_geom(b, body, &g);
    }
    world w = world_new(b, dt);
    world_v0(&w, 0)[0] = 0.6, world_v0(&w, 0)[1] = 0.2, world_v0(&w, 0)[5] = spin;
    return w;
}

START_TEST(four_feet_are_as_good_as_three) {
    enum { N = 50 };
    world w[2] = {table(3, 0, 1e-3), table(4, 0, 1e-3)};
    for (int i = 0; i < 2; i++) {
        world_steps(&w[i], N);
        for (int k = 0; k < N; k++) w[i].U[6 * k] = 1.5, w[i].U[6 * k + 1] = 0.5;
        world_run(&w[i]);
        ck_assert_int_eq(tribo_last_info(w[i].ws)->nactive, 3 + i);
        world_gradient(&w[i], N, 0);
    }
    for (int i = 0; i < 6; i++) NEAR(world_v(&w[1], N, 0, i), world_v(&w[0], N, 0, i), 1e-12);
    static const char *names[] = {"floor/friction", "table/mass", "gravity/x", "gravity/z"};
    for (int i = 0; i < 4; i++) NEAR(world_p_bar(&w[1], names[i]), world_p_bar(&w[0], names[i]), 1e-11);
    for (int i = 0; i < 2; i++) {
        NEAR(w[1].x_bar[i], w[0].x_bar[i], 1e-10);
        NEAR(w[1].x_bar[world_dv(&w[1], 0, i)], w[0].x_bar[world_dv(&w[0], 0, i)], 1e-11);
    }
    for (int k = 0; k < N; k++)
        for (int i = 0; i < 2; i++) NEAR(w[1].u_bar[6 * k + i], w[0].u_bar[6 * k + i], 1e-12);
    ck_assert(fabs(w[0].u_bar[0]) > 1e-6);
    world_free(&w[0]), world_free(&w[1]);
}
END_TEST

/* With spin the four share the load in one way, whatever the solver starts from. @return the most that a foot's share
 * of the load changes in a step. */
static double share_of_load(double dt, int N, double *spread) {
    world cold = table(4, 6, dt), warm = table(4, 6, dt);
    tribo_options o = tribo_default_options();
    o.warm_start = true;
    tribo_ws_free(warm.ws);
    ck_assert_int_eq(tribo_ws_new(warm.m, &o, NULL, &warm.ws, NULL), TRIBO_OK);
    double x[2][13], last[4] = {0}, worst = 0, jump = 0;
    memcpy(x[0], cold.x0, sizeof x[0]), memcpy(x[1], cold.x0, sizeof x[1]);
    *spread = 0;
    for (int k = 0; k < N; k++) {
        ck_assert_int_eq(tribo_step(cold.ws, cold.p, x[0], NULL, x[0], NULL), TRIBO_OK);
        ck_assert_int_eq(tribo_step(warm.ws, warm.p, x[1], NULL, x[1], NULL), TRIBO_OK);
        for (int i = 0; i < 13; i++) worst = fmax(worst, fabs(x[0][i] - x[1][i]));
        int n;
        const tribo_contact *c = tribo_last_contacts(cold.ws, &n);
        ck_assert_int_eq(n, 4);
        for (int i = 0; i < 4; i++) {
            double load = c[i].impulse[2] / (2 * G * dt);
            if (k) jump = fmax(jump, fabs(load - last[i]));
            *spread = fmax(*spread, fabs(load - 0.25));
            last[i] = load;
        }
    }
    printf("four feet, dt %g: cold and warm differ by %.1e, a share changes by %.1e at most in a step\n", dt, worst,
           jump);
    NEAR(worst, 0, 1e-9);
    world_free(&cold), world_free(&warm);
    return jump;
}

START_TEST(load_is_shared_in_one_way) {
    double spread[2], coarse = share_of_load(1e-3, 160, &spread[0]), fine = share_of_load(2.5e-4, 640, &spread[1]);
    ck_assert(spread[0] > 0.05);
    NEAR(spread[1], spread[0], 0.01 * spread[0]);
    ck_assert_msg(fine < 0.3 * coarse, "the load jumps by %g", fine); /* continuous in time: a quarter */
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("truths of gradients");
    TCase *t = tcase_create("gradients");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, differences_make_a_v);
    tcase_add_test(t, reverse_is_the_transpose);
    tcase_add_test(t, gradient_is_as_good_as_the_solves);
    tcase_add_test(t, zeros_do_no_harm);
    tcase_add_test(t, bounded_at_kinks);
    tcase_add_loop_test(t, friction_of_what_rests_is_nothing, 0, LAWS);
    tcase_add_loop_test(t, friction_of_what_rests_and_yields_is_nothing, 0, LAWS);
    tcase_add_loop_test(t, what_rests_on_ice_moves, 0, LAWS);
    tcase_add_test(t, a_turn_of_what_rests_is_gone_after_two_steps);
    tcase_add_test(t, what_is_light_slides_alike_on_a_slab_and_on_the_floor);
    tcase_add_test(t, bounded_at_a_jump);
    tcase_add_test(t, order_does_not_matter);
    tcase_add_test(t, frame_does_not_matter);
    tcase_add_test(t, four_feet_are_as_good_as_three);
    tcase_add_test(t, load_is_shared_in_one_way);
    suite_add_tcase(s, t);
    return s;
}
