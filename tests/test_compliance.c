/* test_compliance.c -- compliance of materials against its closed forms, values and derivatives, under every law.
 *
 * With c = v + gap / h + R lambda = 0 a body that rests under a force f stands at a depth of R f h^2, and creeps across
 * at R_t f_t h. What is deeper than its load presses it is not thrown back. */
#include "test_main.h"
#include "worlds.h"

static const double H = 0.002, M = 1.5, SIZE = 0.2, SOFT = 0.004;

static tribo_material material(double mu, double compliance) {
    tribo_material m = world_material(mu, 0);
    m.compliance = compliance;
    return m;
}

static world ball_on(double floor, double ball, const tribo_options *o) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_geom_def g = tribo_default_geom();
    g.name = "floor", g.shape = TRIBO_PLANE, g.material = material(0, floor);
    tribo_add_geom(b, TRIBO_WORLD, &g);
    world_ball(b, "ball", M, SIZE, 0, 0, SIZE, material(0, ball));
    tribo_set_timestep(b, H);
    return world_of(world_build(b), o);
}

/* ---- closed forms ---- */

/* A ball that is let go at gap 0: h m g / (1 + m R) is its impulse, and what is left its velocity. */
START_TEST(the_first_impulse) {
    world w = ball_on(SOFT, 0, NULL);
    world_steps(&w, 1);
    world_run(&w);
    int n;
    const tribo_contact *c = tribo_last_contacts(w.ws, &n);
    ck_assert_int_eq(n, 1);
    double left = 1 / (1 + M * SOFT);
    NEAR(c[0].impulse[2], H * M * G * left, 1e-15);
    NEAR(world_v(&w, 1, 0, 2), -H * G * (1 - left), 1e-15);
    world_gradient(&w, 1, world_dv(&w, 0, 2));
    NEAR(world_p_bar(&w, "floor/compliance"), -H * G * M * left * left, 1e-12);
    NEAR(world_p_bar(&w, "ball/mass"), -H * G * SOFT * left * left, 1e-13);
    world_free(&w);
}
END_TEST

/* It comes to rest at R m g h^2. */
START_TEST(the_depth) {
    enum { N = 40 };
    world w = ball_on(SOFT, 0, NULL);
    double depth = SOFT * M * G * H * H;
    ck_assert(depth < 1e-5 * SIZE);
    world_steps(&w, N);
    world_run(&w);
    NEAR(world_q(&w, N, 0, 2), SIZE - depth, 1e-15);
    world_gradient(&w, N, 2);
    NEAR(world_p_bar(&w, "floor/compliance"), -M * G * H * H, 1e-13);
    NEAR(world_p_bar(&w, "ball/mass"), -SOFT * G * H * H, 1e-13);
    NEAR(world_p_bar(&w, "gravity/z"), SOFT * M * H * H, 1e-13);
    world_free(&w);
}
END_TEST

/* Of two geoms the larger counts, and beside it the compliance of all contacts. */
START_TEST(what_counts) {
    enum { N = 40 };
    static const double GEOMS[3][2] = {{SOFT, 0.001}, {0.001, SOFT}, {0, SOFT}};
    for (int k = 0; k < 6; k++) {
        tribo_options o = tribo_default_options();
        double more = k < 3 ? 0 : 0.002;
        if (more > 0) o.law.softness = TRIBO_SOFTNESS_PHYSICAL, o.law.compliance = more;
        world w = ball_on(GEOMS[k % 3][0], GEOMS[k % 3][1], &o);
        world_steps(&w, N);
        world_run(&w);
        NEAR(world_q(&w, N, 0, 2), SIZE - (SOFT + more) * M * G * H * H, 1e-15);
        world_gradient(&w, N, 2);
        NEAR(world_p_bar(&w, "floor/compliance"), k % 3 ? 0 : -M * G * H * H, 1e-13);
        NEAR(world_p_bar(&w, "ball/compliance"), k % 3 ? -M * G * H * H : 0, 1e-13);
        world_free(&w);
    }
}
END_TEST

/* Four corners share alike a pull that friction holds, and creep at a hundredth of R a quarter of it h. */
/* On ground as soft as 33 kN/m, too, which is two thousand times the skin that hard contacts take back by a velocity.
 */
START_TEST(the_depth_of_soft_ground) {
    enum { N = 1500 };
    const double soft = 15, depth = soft * M * G * H * H;
    world w = ball_on(soft, 0, NULL);
    world_steps(&w, N);
    world_run(&w);
    NEAR(world_q(&w, N, 0, 2), SIZE - depth, 1e-12);
    NEAR(world_v(&w, N, 0, 2), 0, 1e-10);
    world_gradient(&w, N, 2);
    NEAR(world_p_bar(&w, "floor/compliance"), -M * G * H * H, 1e-9);
    NEAR(world_p_bar(&w, "ball/mass"), -soft * G * H * H, 1e-9);
    world_free(&w);
}
END_TEST

/* A ball that falls onto soft ground sinks in, and comes out no faster than a skin a step: it does not bounce, and
 * derivatives agree on the way in, deepest, on the way out, and at rest. */
START_TEST(it_does_not_throw_back) {
    static const int STEPS[] = {8, 14, 20, 45};
    const double soft = 15, rest = soft * M * G * H * H;
    tribo_options o = tribo_default_options();
    o.tol = 1e-13;
    world w = ball_on(soft, 0, &o);
    int N = STEPS[_i];
    world_steps(&w, N);
    w.x0[2] += 0.002, world_v0(&w, 0)[2] = -1;
    world_run(&w);
    double deepest = 0, fastest = 0, end = SIZE - world_q(&w, N, 0, 2);
    for (int k = 1; k <= N; k++)
        deepest = fmax(deepest, SIZE - world_q(&w, k, 0, 2)), fastest = fmax(fastest, world_v(&w, k, 0, 2));
    ck_assert_double_le(fastest, 1.01e-5 * SIZE / H);
    ck_assert_double_gt(deepest, 5 * rest);
    ck_assert(_i < 2 ? end > 0.99 * deepest : _i == 2 ? end < 0.9 * deepest && end > 1.1 * rest : end < 1.001 * rest);
    ck_assert_double_gt(end, 0.99 * rest);
    for (int i = 0; i < w.n.ndx; i++) w.lx[N * w.n.ndx + i] = 1 + 0.1 * i;
    double *pd = world_zeros(w.n.np), *xd = world_zeros(w.n.ndx);
    pd[world_param(&w, "floor/compliance")] = 1, pd[world_param(&w, "ball/mass")] = 0.1;
    xd[2] = 1e-3, xd[w.n.ndx / 2 + 2] = 0.1;
    world_agrees(&w, xd, pd, 1e-5, 0, 1e-10, 1e-6);
    free(pd), free(xd);
    world_free(&w);
}
END_TEST

START_TEST(the_creep) {
    enum { N = 200 };
    const double F = 2;
    tribo_builder *b = tribo_builder_new(NULL);
    world_wall(b, "floor", NULL, NULL, material(0.5, SOFT));
    world_box(b, "box", M, SIZE, 0, 0, SIZE, world_material(0.5, 0));
    world w = world_new(b, H);
    world_steps(&w, N);
    for (int k = 0; k < N; k++) w.U[k * w.n.nu] = F;
    world_run(&w);
    double creep = 0.01 * SOFT * F / 4 * H;
    NEAR(world_v(&w, N, 0, 0), creep, 1e-16 / H); /* places are rounded, and gaps over h are speeds */
    world_gradient(&w, N, world_dv(&w, 0, 0));
    NEAR(world_p_bar(&w, "floor/compliance"), creep / SOFT, 1e-8 * creep / SOFT);
    world_free(&w);
}
END_TEST

/* ---- every law ---- */

static const struct {
    tribo_law_options law;
    double tol; /* of differences */
} LAWS[] = {{{.law = TRIBO_LAW_NCP}, 2e-6},
            {{.law = TRIBO_LAW_CCP}, 2e-6},
            {{.law = TRIBO_LAW_CCP, .softness = TRIBO_SOFTNESS_MUJOCO, .impratio = 3}, 2e-6},
            {{.law = TRIBO_LAW_LCP, .facet_angle = 0.3}, 2e-6},
            {{.law = TRIBO_LAW_RAISIM}, 2e-6},
            {{.law = TRIBO_LAW_RAISIM, .solver = TRIBO_SOLVER_BISECTION_CORRECTED}, 2e-6},
            {{.law = TRIBO_LAW_STOCHASTIC, .noise = 0.03}, 2e-6},
            {{.law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_LOGISTIC, .noise = 0.03}, 2e-6},
            {{.law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_ERM, .noise = 0.1}, 2e-6},
            {{.solver = TRIBO_SOLVER_INTERIOR, .kappa = 1e-6}, 2e-6},
            {{.solver = TRIBO_SOLVER_PGS}, 2e-6},
            {{.solver = TRIBO_SOLVER_ADMM}, 2e-6},
            {{.solver = TRIBO_SOLVER_STAGGERED}, 2e-6},
            {{.solver = TRIBO_SOLVER_NEWTON}, 2e-6}};
enum { NLAWS = sizeof LAWS / sizeof *LAWS };

/* A slide with dry friction b that gives way by R, pushed by F from rest: the first step leaves h F R / (1 + m R), and
 * h (F - b) / m where friction is at its bound. */
START_TEST(dry_friction_creeps) {
    const double R = 0.1, BOUND = 3, by_force[2] = {H * R / (1 + M * R), H / M};
    static const char SLIDE[] = "<mujoco><option gravity='0 0 0' timestep='0.002'/><worldbody><body name='cart'>"
                                "<joint name='rail' type='slide' axis='1 0 0' frictionloss='3'/><inertial mass='1.5' "
                                "pos='0 0 0' diaginertia='1 1 1'/></body></worldbody></mujoco>";
    tribo_options o = tribo_default_options();
    o.law = LAWS[_i].law, o.tol = 1e-13;
    if (o.law.softness != TRIBO_SOFTNESS_DEFAULT || o.law.kappa > 0) return;
    if (o.law.smoothing == TRIBO_SMOOTHING_ERM) return;                      /* which knows no joints */
    const double digits = o.law.law == TRIBO_LAW_STOCHASTIC ? 1e-13 : 1e-15; /* its continuation ends sooner */
    o.law.softness = TRIBO_SOFTNESS_PHYSICAL, o.law.compliance = SOFT, o.law.dry_compliance = R;
    for (int slips = 0; slips < 2; slips++) {
        tribo_model *m = NULL;
        const double F = slips ? 5 : 2;
        ck_assert_int_eq(tribo_model_load_memory(SLIDE, sizeof SLIDE - 1, "slide", NULL, &m, NULL), TRIBO_OK);
        world w = world_of(m, &o);
        world_steps(&w, 1);
        w.U[0] = F;
        world_run(&w);
        NEAR(w.X[w.n.nx + 1], by_force[slips] * (slips ? F - BOUND : F), digits);
        world_gradient(&w, 1, 1);
        NEAR(w.u_bar[0], by_force[slips], 1e-14);
        double A[4], B[2];
        ck_assert_int_eq(tribo_step_jac(w.ws, w.tape, 0, A, B, NULL), TRIBO_OK);
        NEAR(B[1], by_force[slips], 1e-14);
        NEAR(A[3], slips ? 1 : by_force[0] * M / H, 1e-11); /* to second order in the vanishing compliance */
        NEAR(world_p_bar(&w, "rail/frictionloss"), slips ? -H / M : 0, 1e-14);
        NEAR(world_p_bar(&w, "cart/mass"), slips ? -H * (F - BOUND) / M / M : -R * by_force[0] * F / (1 + M * R),
             1e-14);
        world_free(&w);
    }
}
END_TEST

/* A box that slides, one that is held, a ball that bounces, one that parts. */
static world heap(const tribo_options *o, double e) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_material soft = material(0.4, 0.02);
    soft.restitution = e;
    world_wall(b, "floor", NULL, NULL, soft);
    world_box(b, "slider", 1, 0.1, 0, 0, 0.1, world_material(0.4, 0));
    world_box(b, "held", 1.3, 0.1, 0.5, 0, 0.1, world_material(0.4, 0));
    world_ball(b, "bounces", 0.7, 0.1, 1, 0, 0.1005, world_material(0.4, 0));
    world_ball(b, "top", 0.3, 0.06, 0.51, 0.01, 0.26, material(0.4, 0.05));
    tribo_set_timestep(b, H);
    world w = world_of(world_build(b), o);
    world_v0(&w, 0)[0] = 0.8, world_v0(&w, 0)[1] = 0.3, world_v0(&w, 0)[5] = 0.5;
    world_v0(&w, 2)[2] = -0.6, world_v0(&w, 2)[0] = 0.2;
    return w;
}

/* The reverse against forward tangents and central differences, along states and compliances. */
START_TEST(reverse_and_tangents) {
    enum { N = 3 };
    unsigned state = 5u + (unsigned)_i;
    tribo_options o = tribo_default_options();
    o.law = LAWS[_i % NLAWS].law, o.tol = 1e-13;
    world w = heap(&o, _i / NLAWS ? 0.3 : 0);
    world_steps(&w, N);
    world_run(&w);
    for (int i = 0; i < w.n.ndx; i++) w.lx[N * w.n.ndx + i] = test_random(&state);
    double *pd = world_zeros(w.n.np), *xd = world_zeros(w.n.ndx);
    pd[world_param(&w, "floor/compliance")] = 0.02, pd[world_param(&w, "top/compliance")] = -0.03;
    for (int i = 0; i < w.n.ndx; i++) xd[i] = test_random(&state) * (i < w.n.ndx / 2 ? 1e-5 : 1e-2);
    world_agrees(&w, xd, pd, 1e-4, 0, 1e-10, LAWS[_i % NLAWS].tol);
    ck_assert(fabs(world_p_bar(&w, "floor/compliance")) > 1e-5 && fabs(world_p_bar(&w, "top/compliance")) > 1e-5);
    free(pd), free(xd);
    world_free(&w);
}
END_TEST

/* Of the contacts of the last run. */
static double deepest_of(const world *w) {
    tribo_contact c[64];
    double deepest = 0;
    for (int k = 0; k < w->T; k++) {
        int n = tribo_tape_contacts(w->tape, k, NULL);
        ck_assert_int_le(n, 64);
        tribo_tape_contacts(w->tape, k, c);
        for (int i = 0; i < n; i++) deepest = fmax(deepest, -c[i].gap);
    }
    return deepest;
}

/* A compliance of the floor is what the options' is within a skin, under every law, to the last digits of its solver.
 */
START_TEST(as_of_the_options) {
    enum { N = 5 };
    tribo_options o = tribo_default_options();
    o.law = LAWS[_i].law, o.tol = 1e-13;
    if (o.law.softness != TRIBO_SOFTNESS_DEFAULT) return;
    double *end[2];
    for (int k = 0; k < 2; k++) {
        if (k) o.law.softness = TRIBO_SOFTNESS_PHYSICAL, o.law.compliance = 1e-4;
        world w = heap(&o, 0.3);
        w.p[world_param(&w, "floor/compliance")] = k ? 0 : 1e-4;
        w.p[world_param(&w, "top/compliance")] = k ? 0 : 1e-4;
        world_steps(&w, N);
        world_run(&w);
        end[k] = world_zeros(w.n.nx);
        memcpy(end[k], w.X + N * w.n.nx, sizeof(double) * (size_t)w.n.nx);
        bool within = deepest_of(&w) < 1e-6; /* what noise lets sink is deeper */
        ck_assert(within || o.law.law == TRIBO_LAW_STOCHASTIC);
        for (int i = 0; k && within && i < w.n.nx; i++) NEAR(end[0][i], end[1][i], 1e-9);
        world_free(&w);
    }
    free(end[0]), free(end[1]);
}
END_TEST

/* ---- files, and what is refused ---- */

static const char SCENE[] = "<mujoco><worldbody><geom name='floor' type='plane' size='5 5 1'/><body name='ball' "
                            "pos='0 0 0.1'><freejoint/><geom name='ball' size='0.1'/></body></worldbody><contact>"
                            "<pair name='both' geom1='floor' geom2='ball'/></contact><custom><numeric "
                            "name='floor/compliance' data='%s'/><numeric name='ball/compliance' data='0.25'/></custom>"
                            "</mujoco>";

static tribo_status read_text(const char *compliance, tribo_model **m, tribo_diag *diag) {
    char text[1000];
    int n = snprintf(text, sizeof text, SCENE, compliance);
    return tribo_model_load_memory(text, (size_t)n, "soft", NULL, m, diag);
}

START_TEST(read_and_refused) {
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    ck_assert_int_eq(read_text("0.125", &m, &diag), TRIBO_OK);
    double p[200];
    ck_assert_int_le(tribo_model_sizes(m).np, 200);
    tribo_model_params(m, p);
    ck_assert_double_eq(p[tribo_param_find(m, "floor/compliance")], 0.125);
    ck_assert_double_eq(p[tribo_param_find(m, "both/compliance")], 0.25); /* what its geoms have together */
    tribo_param_info info;
    ck_assert_int_eq(tribo_param_describe(m, tribo_param_find(m, "both/compliance"), &info), TRIBO_OK);
    ck_assert(info.kind == TRIBO_PARAM_COMPLIANCE && info.used && info.lower == 0);
    p[tribo_param_find(m, "both/compliance")] = -1;
    ck_assert_int_eq(tribo_params_check(m, p, &diag), TRIBO_E_ARG);
    ck_assert_str_eq(diag.text, "pair both: compliance must be >= 0");
    tribo_options o = tribo_default_options();
    tribo_ws *ws = NULL;
    o.rounds = 10;
    ck_assert_int_eq(tribo_ws_new(m, &o, NULL, &ws, &diag), TRIBO_E_ARG);
    ck_assert_str_eq(diag.text, "rounds know no compliance");
    tribo_model_free(m);
    ck_assert_int_lt(read_text("-1", &m, &diag), 0);
    ck_assert_msg(strstr(diag.text, "compliance must be >= 0") != NULL, "%s", diag.text);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("compliance");
    TCase *c = tcase_create("materials that give way");
    tcase_add_test(c, the_first_impulse);
    tcase_add_test(c, the_depth);
    tcase_add_test(c, the_depth_of_soft_ground);
    tcase_add_test(c, it_does_not_throw_back);
    tcase_add_test(c, what_counts);
    tcase_add_test(c, the_creep);
    tcase_add_loop_test(c, dry_friction_creeps, 0, NLAWS);
    tcase_add_loop_test(c, reverse_and_tangents, 0, 2 * NLAWS);
    tcase_add_loop_test(c, as_of_the_options, 0, NLAWS);
    tcase_add_test(c, read_and_refused);
    suite_add_tcase(s, c);
    return s;
}
