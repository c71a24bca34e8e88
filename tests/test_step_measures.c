/* test_step_measures.c -- the measures of a step: against a closed form, over islands, and without a trace in it. */
#include "models.h"
#include "test_main.h"
#include "worlds.h"

static world cubes(int n, double speed, bool measures, const tribo_law_options *law) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    tribo_options o = tribo_default_options();
    world_floor(b, 0.5, 0);
    for (int k = 0; k < n; k++) world_box(b, NULL, 1 + k, 0.1, k, 0, 0.1, world_material(0.5, 0));
    tribo_set_timestep(b, 1e-3);
    ck_assert_msg(tribo_build(b, &m, &diag) == TRIBO_OK, "%s", diag.text);
    o.measures = measures;
    if (law) o.law = *law;
    world w = world_of(m, &o);
    for (int k = 0; k < n; k++) world_v0(&w, k)[0] = speed * (1 + 0.1 * k);
    return w;
}

static tribo_measures of_one_step(world *w) {
    ck_assert_int_eq(tribo_step(w->ws, w->p, w->x0, NULL, w->x0, NULL), TRIBO_OK);
    return tribo_last_info(w->ws)->measures;
}

START_TEST(slide_in_closed_form) {
    const double v = 2, dt = 1e-3, mu = 0.5, after = v - mu * G * dt;
    world w = cubes(1, v, true, NULL);
    tribo_measures m = of_one_step(&w);
    NEAR(m.dissipation, 0.5 * (v * v + G * G * dt * dt - after * after), 1e-12);
    NEAR(m.friction_loss, mu * G * dt * after, 1e-12);
    NEAR(m.lift, 0, 1e-12);
    ck_assert(m.law.primal < 1e-10 && m.law.dual < 1e-10 && m.law.complementarity < 1e-10);
    ck_assert(memcmp(&m.law, &m.ncp, sizeof m.law) == 0);
    world_free(&w);
}
END_TEST

/* A solver that stops early leaves residuals, and they are seen. */
START_TEST(residuals_of_a_rough_answer) {
    const tribo_law_options rough = {.solver = TRIBO_SOLVER_PGS, .raw = true, .max_iter = 1};
    world w = cubes(1, 2, true, &rough);
    ck_assert_int_eq(tribo_step(w.ws, w.p, w.x0, NULL, w.x0, NULL), TRIBO_NOT_CONVERGED);
    const tribo_step_info *info = tribo_last_info(w.ws);
    double law = fmax(info->measures.law.primal, fmax(info->measures.law.dual, info->measures.law.complementarity));
    ck_assert(law > 1e-6 && law <= info->residual * (1 + 1e-12));
    world_free(&w);
}
END_TEST

START_TEST(islands_add_up) {
    enum { N = 3 };
    world all = cubes(N, 1, true, NULL);
    tribo_measures m = of_one_step(&all);
    double dissipation = 0, loss = 0;
    ck_assert_int_eq(tribo_last_info(all.ws)->nislands, N);
    for (int k = 0; k < N; k++) {
        double after = 1 + 0.1 * k - 0.5 * G * 1e-3, mass = 1 + k;
        dissipation += 0.5 * mass * ((1 + 0.1 * k) * (1 + 0.1 * k) + G * G * 1e-6 - after * after);
        loss += 0.5 * mass * G * 1e-3 * after;
    }
    NEAR(m.dissipation, dissipation, 1e-12);
    NEAR(m.friction_loss, loss, 1e-12);
    world_free(&all);
}
END_TEST

/* Cubes that are stopped within the step: sweeps leave impulses that work against each other, the canonical solution
 * does not. */
START_TEST(internal_forces_of_sweeps) {
    const tribo_law_options sweeps = {.solver = TRIBO_SOLVER_PGS, .raw = true};
    world one = cubes(1, 0.003, true, &sweeps), two = cubes(2, 0.003, true, &sweeps),
          least = cubes(1, 0.003, true, NULL);
    tribo_measures alone = of_one_step(&one), both = of_one_step(&two), none = of_one_step(&least);
    ck_assert(alone.internal > 1e-5 && alone.internal_share > 0.01);
    ck_assert(both.internal > alone.internal);
    ck_assert_msg(none.internal < 1e-6 * alone.internal, "%g of %g", none.internal, alone.internal);
    world_free(&one), world_free(&two), world_free(&least);
}
END_TEST

/* A door of which one point and all axes are held: the least impulses share its weight out between force and torque,
 * sweeps leave all of it to the force, which comes first. */
START_TEST(internal_forces_of_what_holds) {
    static const char DOOR[] =
        "<mujoco><option timestep='0.001'/><worldbody><body name='door' pos='0 0 1'><joint axis='0 1 0'/>"
        "<inertial pos='0.5 0 0' mass='3' diaginertia='0.1 0.1 0.1'/></body></worldbody><equality>"
        "<weld body1='door' anchor='1 0 0'/></equality></mujoco>";
    tribo_options o = tribo_default_options();
    o.measures = true;
    world even = world_of(model_of(DOOR), &o);
    o.law.solver = TRIBO_SOLVER_PGS, o.law.raw = true;
    world first = world_of(model_of(DOOR), &o);
    tribo_measures least = of_one_step(&even), m = of_one_step(&first);
    double force = 3 * G * 1e-3 * 0.5; /* a metre from the hinge */
    NEAR(least.internal, 0, 1e-10 * force);
    NEAR(m.internal, force * sqrt(0.5), 1e-12);
    NEAR(m.internal_share, sqrt(0.5), 1e-10);
    world_free(&even), world_free(&first);
}
END_TEST

/* Measuring changes no bit of the motion; not asked for, it costs nothing and says nothing. */
START_TEST(leaves_no_trace) {
    world with = cubes(2, 1, true, NULL), without = cubes(2, 1, false, NULL);
    const tribo_measures none = {0};
    for (int k = 0; k < 50; k++) {
        of_one_step(&with);
        tribo_measures m = of_one_step(&without);
        ck_assert(memcmp(&m, &none, sizeof m) == 0);
        ck_assert(memcmp(with.x0, without.x0, sizeof(double) * (size_t)with.n.nx) == 0);
    }
    world_free(&with), world_free(&without);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("step_measures");
    TCase *t = tcase_create("step_measures");
    tcase_add_test(t, slide_in_closed_form);
    tcase_add_test(t, residuals_of_a_rough_answer);
    tcase_add_test(t, islands_add_up);
    tcase_add_test(t, internal_forces_of_sweeps);
    tcase_add_test(t, internal_forces_of_what_holds);
    tcase_add_test(t, leaves_no_trace);
    suite_add_tcase(s, t);
    return s;
}
