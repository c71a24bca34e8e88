/* test_misuse.c -- what must not be done, call by call: each is answered by its status and changes nothing.
 *
 * A row is REFUSED(status, call). Outputs of every call are in `out`, which has to be as it was after each.
 */
#include "test_main.h"
#include "worlds.h"
#include <limits.h>
#include <tribo/tribo.h>

enum { OUT = 4096 };
static double out[OUT], before[OUT];
static const double nan_of = NAN, bad[64] = {NAN};
static int rows;

#define REFUSED(wanted, call)                                                                                          \
    do {                                                                                                               \
        int got_ = (int)(call);                                                                                        \
        rows++;                                                                                                        \
        ck_assert_msg(got_ == (wanted), "%s: %d (%s), not %d", #call, got_, tribo_status_text((tribo_status)got_),     \
                      (int)(wanted));                                                                                  \
        ck_assert_msg(memcmp(out, before, sizeof out) == 0, "%s wrote into its outputs", #call);                       \
    } while (0)
#define HOLDS(condition)                                                                                               \
    do {                                                                                                               \
        rows++;                                                                                                        \
        ck_assert_msg(condition, "not so: %s", #condition);                                                            \
    } while (0)

static world w; /* a box on the floor, two steps on tape */
static tribo_ws *other, *small, *slow;
static tribo_tape *spare;

static tribo_ws *ws_with(tribo_options o) {
    tribo_ws *ws = NULL;
    ck_assert_int_eq(tribo_ws_new(w.m, &o, NULL, &ws, NULL), TRIBO_OK);
    return ws;
}

static void setup(void) {
    for (int i = 0; i < OUT; i++) out[i] = before[i] = 0.5;
    tribo_builder *b = tribo_builder_new(NULL);
    world_floor(b, 0.5, 0);
    world_box(b, "box", 1, 0.1, 0, 0, 0.1, world_material(0.5, 0));
    w = world_new(b, 0.01);
    world_steps(&w, 2);
    world_run(&w);
    tribo_options o = tribo_default_options();
    o.law.law = TRIBO_LAW_CCP, other = ws_with(o);
    o = tribo_default_options(), o.ncon_max = 3, small = ws_with(o);
    o = tribo_default_options(), o.dt = 0.02, slow = ws_with(o);
    ck_assert_int_eq(tribo_tape_new(w.ws, 1, 0, &spare), TRIBO_OK);
}

static void teardown(void) {
    tribo_tape_free(spare), tribo_ws_free(other), tribo_ws_free(small), tribo_ws_free(slow);
    world_free(&w);
}

/* ---- building ---- */

/* What tribo_build() says of a builder to which one thing was done. */
static tribo_status built(void (*spoil)(tribo_builder *)) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_model *m = NULL;
    world_floor(b, 0.5, 0);
    world_box(b, "box", 1, 0.1, 0, 0, 0.1, world_material(0.5, 0));
    spoil(b);
    tribo_status s = tribo_build(b, &m, NULL);
    ck_assert(s == TRIBO_OK || !m);
    tribo_model_free(m);
    return s;
}

#define SPOILED_GEOM(change)                                                                                           \
    tribo_geom_def g = tribo_default_geom();                                                                           \
    g.shape = TRIBO_BOX, g.size[0] = g.size[1] = g.size[2] = 0.1;                                                      \
    change;                                                                                                            \
    tribo_add_geom(b, 0, &g)
#define SPOILED_BODY(change)                                                                                           \
    tribo_body_def d = tribo_default_body();                                                                           \
    d.inertia_given = true, d.mass = 1, d.inertia[0] = d.inertia[1] = d.inertia[2] = 0.1;                              \
    change;                                                                                                            \
    tribo_add_body(b, &d)
#define SPOIL(name, ...)                                                                                               \
    static void name(tribo_builder *b) {                                                                               \
        __VA_ARGS__;                                                                                                   \
    }
SPOIL(size_below_zero, SPOILED_GEOM(g.size[1] = -1))
SPOIL(no_shape, SPOILED_GEOM(g.shape = (tribo_shape)7))
SPOIL(moving_plane, SPOILED_GEOM(g.shape = TRIBO_PLANE))
SPOIL(friction_below_zero, SPOILED_GEOM(g.material.friction = -0.1))
SPOIL(restitution_five, SPOILED_GEOM(g.material.restitution = 5))
SPOIL(geom_quat_zero, SPOILED_GEOM(g.quat[0] = 0))
SPOIL(geom_name_twice, SPOILED_GEOM(g.name = "box"))
SPOIL(geom_not_default, SPOILED_GEOM(g.struct_size = 3))
SPOIL(geom_density_nan, SPOILED_GEOM(g.density = NAN))
SPOIL(geom_of_no_body, tribo_geom_def g = tribo_default_geom(); g.size[0] = 1; tribo_add_geom(b, 17, &g))
SPOIL(mass_zero, SPOILED_BODY(d.mass = 0))
SPOIL(inertia_no_solid_has, SPOILED_BODY(d.inertia[2] = 1))
SPOIL(inertia_below_zero, SPOILED_BODY(d.inertia[0] = -0.1))
SPOIL(body_pos_inf, SPOILED_BODY(d.pos[0] = INFINITY))
SPOIL(body_child, SPOILED_BODY(d.parent = 7))
SPOIL(joint_of_no_body, tribo_joint_def d = tribo_default_joint(); tribo_add_joint(b, 9, &d))
SPOIL(joint_not_default, tribo_joint_def d = {0}; tribo_add_joint(b, 0, &d))
SPOIL(joint_axis_zero, tribo_joint_def d = tribo_default_joint(); d.axis[2] = 0; tribo_add_joint(b, 0, &d))
SPOIL(joint_damping_nan, tribo_joint_def d = tribo_default_joint(); d.damping = NAN; tribo_add_joint(b, 0, &d))
SPOIL(joint_kind_unknown, tribo_joint_def d = tribo_default_joint(); d.kind = 9; tribo_add_joint(b, 0, &d))
SPOIL(body_not_default, SPOILED_BODY(d.struct_size = 0))
SPOIL(body_name_with_equals, SPOILED_BODY(d.name = "a=b"))
SPOIL(body_without_geom_or_inertia, SPOILED_BODY(d.inertia_given = false))
SPOIL(pair_of_no_geoms, tribo_pair_def d = tribo_default_pair(); tribo_add_pair(b, &d))
SPOIL(pair_not_default, tribo_pair_def d = tribo_default_pair(); d.struct_size = 1; tribo_add_pair(b, &d))
SPOIL(exclude_no_body, tribo_add_exclude(b, 0, 9))
SPOIL(gravity_null, tribo_set_gravity(b, NULL))
SPOIL(fluid_negative, tribo_set_fluid(b, 1, -1, NULL))
SPOIL(fluid_nan, tribo_set_fluid(b, 1, 0, (double[3]){0, NAN, 0}))
SPOIL(gravity_nan, tribo_set_gravity(b, (double[3]){NAN, 0, 0}))
SPOIL(timestep_zero, tribo_set_timestep(b, 0))
SPOIL(start_nan, tribo_set_start(b, NULL, bad))
SPOIL(start_no_turn, tribo_set_start(b, (double[7]){0}, NULL))

START_TEST(building) {
    static const struct {
        void (*spoil)(tribo_builder *);
        tribo_status wanted;
    } cases[] = {{size_below_zero, TRIBO_E_ARG},
                 {no_shape, TRIBO_E_ARG},
                 {moving_plane, TRIBO_E_ARG},
                 {friction_below_zero, TRIBO_E_ARG},
                 {restitution_five, TRIBO_E_ARG},
                 {geom_quat_zero, TRIBO_E_ARG},
                 {geom_name_twice, TRIBO_E_ARG},
                 {geom_not_default, TRIBO_E_DEF},
                 {geom_density_nan, TRIBO_E_ARG},
                 {geom_of_no_body, TRIBO_E_ARG},
                 {mass_zero, TRIBO_E_ARG},
                 {inertia_no_solid_has, TRIBO_E_ARG},
                 {inertia_below_zero, TRIBO_E_ARG},
                 {body_pos_inf, TRIBO_E_ARG},
                 {body_child, TRIBO_E_ARG},
                 {joint_of_no_body, TRIBO_E_ARG},
                 {joint_not_default, TRIBO_E_DEF},
                 {joint_axis_zero, TRIBO_E_ARG},
                 {joint_damping_nan, TRIBO_E_ARG},
                 {joint_kind_unknown, TRIBO_E_ARG},
                 {body_not_default, TRIBO_E_DEF},
                 {body_name_with_equals, TRIBO_E_ARG},
                 {body_without_geom_or_inertia, TRIBO_E_ARG},
                 {pair_of_no_geoms, TRIBO_E_ARG},
                 {pair_not_default, TRIBO_E_DEF},
                 {exclude_no_body, TRIBO_E_ARG},
                 {gravity_null, TRIBO_E_ARG},
                 {gravity_nan, TRIBO_E_ARG},
                 {fluid_negative, TRIBO_E_ARG},
                 {fluid_nan, TRIBO_E_ARG},
                 {timestep_zero, TRIBO_E_ARG},
                 {start_nan, TRIBO_E_NONFINITE},
                 {start_no_turn, TRIBO_E_ARG}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++, rows++) {
        tribo_status s = built(cases[i].spoil);
        ck_assert_msg(s == cases[i].wanted, "case %zu: %s", i, tribo_status_text(s));
    }
    tribo_model *m = NULL;
    REFUSED(TRIBO_E_NOMEM, tribo_build(NULL, &m, NULL)); /* as there was none for the builder */
    REFUSED(-1, tribo_add_geom(NULL, 0, NULL));
    REFUSED(-2, tribo_add_body(NULL, NULL));
    REFUSED(TRIBO_E_IO, tribo_model_load("/there/is/no/such.xml", NULL, &m, NULL));
    REFUSED(TRIBO_E_PARSE, tribo_model_load_memory("<mujoco><x>", 11, "x", NULL, &m, NULL));
    REFUSED(TRIBO_E_ARG, tribo_model_load_memory(NULL, 0, "x", NULL, &m, NULL));
    REFUSED(TRIBO_E_ARG, tribo_model_save(w.m, w.p, "x", NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_model_save(NULL, w.p, "x", "y", NULL));
    ck_assert_ptr_null(m);
}
END_TEST

START_TEST(asking_a_model) {
    tribo_param_info info;
    REFUSED(TRIBO_PLANE, tribo_model_geom_shape(w.m, 99));
    REFUSED(TRIBO_PLANE, tribo_model_geom_shape(NULL, 0));
    REFUSED(TRIBO_WORLD, tribo_model_geom_body(w.m, -5));
    REFUSED(-1, tribo_model_body_find(w.m, NULL));
    REFUSED(-1, tribo_model_geom_find(NULL, "box"));
    REFUSED(-1, tribo_param_find(w.m, "box/colour"));
    REFUSED(0, tribo_param_group(w.m, NULL, NULL, 0));
    REFUSED(TRIBO_E_ARG, tribo_param_describe(w.m, w.n.np, &info));
    REFUSED(TRIBO_E_ARG, tribo_param_describe(w.m, -1, &info));
    REFUSED(TRIBO_E_ARG, tribo_params_check(w.m, NULL, NULL));
    HOLDS(tribo_model_body_name(w.m, 99) == NULL);
    HOLDS(tribo_model_geom_name(NULL, 0) == NULL);
    HOLDS(tribo_model_sizes(NULL).nx == 0);
    HOLDS(tribo_model_timestep(NULL) == 0);
    HOLDS(tribo_model_extent(NULL) == 0);
    HOLDS(tribo_model_law(NULL).law == TRIBO_LAW_DEFAULT);
    tribo_model_state0(NULL, out), tribo_model_params(NULL, out), tribo_model_params(w.m, NULL);
    tribo_model_free(NULL), tribo_builder_free(NULL);
    REFUSED(0, 0); /* they wrote nothing */
}
END_TEST

/* ---- workspaces ---- */

static tribo_status ws_refused(void (*spoil)(tribo_options *)) {
    tribo_options o = tribo_default_options();
    tribo_ws *ws = NULL;
    tribo_diag diag = {0};
    spoil(&o);
    tribo_status s = tribo_ws_new(w.m, &o, NULL, &ws, &diag);
    ck_assert(s == TRIBO_OK || (!ws && *diag.text));
    tribo_ws_free(ws);
    return s;
}

#define WITH(name, change)                                                                                             \
    static void name(tribo_options *o) {                                                                               \
        change;                                                                                                        \
    }
WITH(struct_size_zero, o->struct_size = 0)
WITH(dt_below_zero, o->dt = -0.01)
WITH(dt_nan, o->dt = NAN)
WITH(tol_below_zero, o->tol = -1)
WITH(recovery_below_zero, o->recovery = -1)
WITH(recovery_nan, o->recovery = NAN)
WITH(rounds_below_zero, o->rounds = -1)
WITH(rounds_huge, o->rounds = INT_MAX)
WITH(contacts_below_zero, o->ncon_max = -1)
WITH(contacts_huge, o->ncon_max = 100000000)
WITH(reverse_99, o->reverse = (tribo_reverse)99)
WITH(unrolled_without_rounds, o->reverse = TRIBO_REVERSE_UNROLLED)
WITH(rounds_of_ccp, o->rounds = 3; o->law.law = TRIBO_LAW_CCP)
WITH(rounds_soft, o->rounds = 3; o->law.softness = TRIBO_SOFTNESS_MUJOCO)
WITH(rounds_springy, o->rounds = 3; o->law.softness = TRIBO_SOFTNESS_PHYSICAL; o->law.compliance = 0.1)
WITH(rounds_on_the_path, o->rounds = 3; o->law.solver = TRIBO_SOLVER_INTERIOR; o->law.kappa = 1e-3)
WITH(law_99, o->law.law = (tribo_law)99)
WITH(solver_of_another_law, o->law.law = TRIBO_LAW_CCP; o->law.solver = TRIBO_SOLVER_LEMKE)
WITH(facets_three, o->law.facets = 3)
WITH(relaxation_two, o->law.relaxation = 2)
WITH(noise_below_zero, o->law.noise = -1)
WITH(kappa_nan, o->law.kappa = NAN)
WITH(impedance_one, o->law.impedance = 1)
WITH(physical_without_compliance, o->law.softness = TRIBO_SOFTNESS_PHYSICAL)
WITH(softness_99, o->law.softness = (tribo_softness)99)

START_TEST(workspaces) {
    static void (*const cases[])(tribo_options *) = {dt_below_zero,
                                                     dt_nan,
                                                     tol_below_zero,
                                                     recovery_below_zero,
                                                     recovery_nan,
                                                     rounds_below_zero,
                                                     rounds_huge,
                                                     contacts_huge,
                                                     contacts_below_zero,
                                                     reverse_99,
                                                     law_99,
                                                     unrolled_without_rounds,
                                                     rounds_of_ccp,
                                                     rounds_soft,
                                                     rounds_springy,
                                                     rounds_on_the_path,
                                                     facets_three,
                                                     relaxation_two,
                                                     noise_below_zero,
                                                     kappa_nan,
                                                     impedance_one,
                                                     solver_of_another_law,
                                                     physical_without_compliance,
                                                     softness_99};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) REFUSED(TRIBO_E_ARG, ws_refused(cases[i]));
    tribo_ws *ws = NULL;
    int n = 7;
    REFUSED(TRIBO_E_DEF, ws_refused(struct_size_zero));
    REFUSED(TRIBO_E_ARG, tribo_ws_new(NULL, NULL, NULL, &ws, NULL));
    REFUSED(TRIBO_E_ARG, tribo_ws_new(w.m, NULL, NULL, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_ws_set_covariance(w.ws, out)); /* not of the stochastic law */
    HOLDS(tribo_ws_model(NULL) == NULL);
    HOLDS(tribo_ws_options(NULL).struct_size == 0);
    HOLDS(tribo_last_info(NULL) == NULL);
    HOLDS(tribo_last_contacts(NULL, &n) == NULL && n == 0);
    HOLDS(tribo_last_contacts(w.ws, NULL) == NULL);
    tribo_ws_reset(NULL), tribo_ws_free(NULL);
}
END_TEST

/* ---- steps ---- */

/* A step with number i of p, or of x (i < 0: x[-1 - i]), as given. */
static tribo_status step_with(int i, double value) {
    double p[256], x[13];
    memcpy(p, w.p, sizeof *p * (size_t)w.n.np), memcpy(x, w.x0, sizeof x);
    *(i < 0 ? x - 1 - i : p + i) = value;
    return tribo_step(w.ws, p, x, NULL, out, NULL);
}

START_TEST(stepping) {
    REFUSED(TRIBO_E_ARG, tribo_step(NULL, w.p, w.x0, NULL, out, NULL));
    REFUSED(TRIBO_E_ARG, tribo_step(w.ws, NULL, w.x0, NULL, out, NULL));
    REFUSED(TRIBO_E_ARG, tribo_step(w.ws, w.p, NULL, NULL, out, NULL));
    REFUSED(TRIBO_E_ARG, tribo_step(w.ws, w.p, w.x0, NULL, NULL, NULL));
    REFUSED(TRIBO_E_NONFINITE, tribo_step(w.ws, w.p, w.x0, bad, out, NULL));
    REFUSED(TRIBO_E_NONFINITE, step_with(-1, NAN));
    REFUSED(TRIBO_E_NONFINITE, step_with(-9, -INFINITY));
    REFUSED(TRIBO_E_ARG, step_with(-4, 0)); /* a quaternion of zeros */
    REFUSED(TRIBO_E_NONFINITE, step_with(0, INFINITY));
    REFUSED(TRIBO_E_ARG, step_with(world_param(&w, "box/mass"), -1));
    REFUSED(TRIBO_E_ARG, step_with(world_param(&w, "box/mass"), 0));
    REFUSED(TRIBO_E_ARG, step_with(world_param(&w, "box/inertia/xx"), -1));
    REFUSED(TRIBO_E_ARG, step_with(world_param(&w, "box/inertia/xy"), 1));
    REFUSED(TRIBO_E_ARG, step_with(world_param(&w, "box/size/y"), -0.1));
    REFUSED(TRIBO_E_ARG, step_with(world_param(&w, "floor/friction"), -0.5));
    REFUSED(TRIBO_E_ARG, step_with(world_param(&w, "floor/restitution"), 5));
    REFUSED(TRIBO_E_ARG, step_with(world_param(&w, "floor/baumgarte"), 2));
    REFUSED(TRIBO_E_ARG, step_with(world_param(&w, "floor/slop"), -1e-3));
    REFUSED(TRIBO_E_CAPACITY, tribo_step(small, w.p, w.x0, NULL, out, NULL));
    REFUSED(TRIBO_E_CAPACITY, tribo_step(w.ws, w.p, w.x0, NULL, out, w.tape)); /* full */
    REFUSED(TRIBO_E_ARG, tribo_step(other, w.p, w.x0, NULL, out, spare));      /* another law */
    REFUSED(TRIBO_E_ARG, tribo_step(slow, w.p, w.x0, NULL, out, spare));       /* another time step */
    REFUSED(TRIBO_E_ARG, tribo_rollout(w.ws, w.p, w.x0, -1, NULL, out, NULL));
    REFUSED(TRIBO_E_ARG, tribo_rollout(w.ws, NULL, w.x0, 1, NULL, out, NULL));
    HOLDS(tribo_rollout(w.ws, w.p, bad, 0, NULL, w.X, NULL) == TRIBO_E_NONFINITE); /* of no steps too */
    HOLDS(tribo_rollout(w.ws, w.p, w.x0, 0, NULL, w.X, NULL) == TRIBO_OK);
    HOLDS(tribo_tape_steps(spare) == 0 && tribo_tape_steps(w.tape) == 2);
    HOLDS(isnan(tribo_energy(NULL, w.p, w.x0)));
    tribo_state_add(NULL, w.x0, w.x0, out), tribo_state_difference(w.m, NULL, w.x0, out);
    double p[256]; /* one tape, one p */
    memcpy(p, w.p, sizeof *p * (size_t)w.n.np), p[2] = -1;
    ck_assert_int_eq(tribo_step(w.ws, w.p, w.x0, NULL, w.X, spare), TRIBO_OK);
    REFUSED(TRIBO_E_CAPACITY, tribo_step(w.ws, p, w.x0, NULL, out, spare));
    tribo_tape *two = NULL;
    ck_assert_int_eq(tribo_tape_new(w.ws, 2, 0, &two), TRIBO_OK);
    ck_assert_int_eq(tribo_step(w.ws, w.p, w.x0, NULL, w.X, two), TRIBO_OK);
    REFUSED(TRIBO_E_ARG, tribo_step(w.ws, p, w.x0, NULL, out, two));
    HOLDS(tribo_tape_steps(two) == 1);
    tribo_tape_free(two);
}
END_TEST

/* ---- derivatives ---- */

START_TEST(derivatives) {
    tribo_tape *t = NULL;
    tribo_checkpoint *c = NULL, *mine = NULL;
    long steps = 77;
    double *a = out, *b = out + 64, *p = out + 128;
    REFUSED(TRIBO_E_ARG, tribo_tape_new(NULL, 1, 0, &t));
    REFUSED(TRIBO_E_ARG, tribo_tape_new(w.ws, 0, 0, &t));
    REFUSED(TRIBO_E_ARG, tribo_tape_new(w.ws, 1, 0, NULL));
    REFUSED(TRIBO_E_NOMEM, tribo_tape_new(w.ws, 1, SIZE_MAX - 64, &t));
    HOLDS(tribo_tape_bytes(w.ws, -1, -1) == 0 && tribo_tape_bytes(NULL, 1, 1) == 0);
    HOLDS(tribo_tape_steps(NULL) == 0);
    REFUSED(TRIBO_E_ARG, tribo_backward(NULL, w.tape, w.lx, a, b, p));
    REFUSED(TRIBO_E_ARG, tribo_backward(w.ws, NULL, w.lx, a, b, p));
    REFUSED(TRIBO_E_ARG, tribo_backward(w.ws, w.tape, NULL, a, b, p));
    REFUSED(TRIBO_E_NONFINITE, tribo_backward(w.ws, w.tape, bad, a, b, p));
    REFUSED(TRIBO_E_ARG, tribo_backward(other, w.tape, w.lx, a, b, p));
    REFUSED(TRIBO_E_ARG, tribo_backward(slow, w.tape, w.lx, a, b, p));
    REFUSED(TRIBO_E_CAPACITY, tribo_backward(small, w.tape, w.lx, a, b, p));
    REFUSED(TRIBO_E_CAPACITY, tribo_step_vjp(small, w.tape, 0, w.lx, a, b, p));
    REFUSED(TRIBO_E_ARG, tribo_step_vjp(w.ws, w.tape, 2, w.lx, a, b, p));
    REFUSED(TRIBO_E_ARG, tribo_step_vjp(w.ws, w.tape, -1, w.lx, a, b, p));
    REFUSED(TRIBO_E_ARG, tribo_step_vjp(w.ws, w.tape, 0, w.lx, NULL, b, p));
    REFUSED(TRIBO_E_NONFINITE, tribo_step_vjp(w.ws, w.tape, 0, bad, a, b, p));
    REFUSED(TRIBO_E_ARG, tribo_step_vjp(NULL, w.tape, 0, w.lx, a, b, p));
    REFUSED(TRIBO_E_ARG, tribo_step_vjp(w.ws, NULL, 0, w.lx, a, b, p));
    REFUSED(TRIBO_E_ARG, tribo_step_vjp(w.ws, w.tape, 0, NULL, a, b, p));
    REFUSED(TRIBO_E_ARG, tribo_step_vjp(other, w.tape, 0, w.lx, a, b, p));
    REFUSED(TRIBO_E_ARG, tribo_step_jvp(w.ws, w.tape, 2, 1, w.lx, NULL, NULL, a));
    REFUSED(TRIBO_E_ARG, tribo_step_jvp(w.ws, w.tape, -1, 1, w.lx, NULL, NULL, a));
    REFUSED(TRIBO_E_ARG, tribo_step_jvp(NULL, w.tape, 0, 1, w.lx, NULL, NULL, a));
    REFUSED(TRIBO_E_ARG, tribo_step_jvp(w.ws, NULL, 0, 1, w.lx, NULL, NULL, a));
    REFUSED(TRIBO_E_NONFINITE, tribo_step_jvp(w.ws, w.tape, 0, 1, bad, NULL, NULL, a));
    REFUSED(TRIBO_E_NONFINITE, tribo_step_jvp(w.ws, w.tape, 0, 1, NULL, NULL, bad, a));
    REFUSED(TRIBO_E_ARG, tribo_step_jvp(w.ws, w.tape, 0, -1, w.lx, NULL, NULL, a));
    REFUSED(TRIBO_E_ARG, tribo_step_jvp(w.ws, w.tape, 0, 1, w.lx, NULL, NULL, NULL));
    REFUSED(TRIBO_E_NONFINITE, tribo_step_jvp(w.ws, w.tape, 0, 1, NULL, bad, NULL, a));
    REFUSED(TRIBO_E_ARG, tribo_step_jvp(other, w.tape, 0, 1, w.lx, NULL, NULL, a));
    REFUSED(TRIBO_E_CAPACITY, tribo_step_jvp(small, w.tape, 0, 1, w.lx, NULL, NULL, a));
    REFUSED(TRIBO_E_ARG, tribo_step_jac(w.ws, w.tape, 5, a, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_step_jac(w.ws, w.tape, -1, a, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_step_jac(NULL, w.tape, 0, a, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_step_jac(w.ws, NULL, 0, a, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_step_jac(other, w.tape, 0, a, NULL, NULL));
    REFUSED(TRIBO_E_CAPACITY, tribo_step_jac(small, w.tape, 0, a, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_checkpoint_new(w.ws, 0, &c));
    REFUSED(TRIBO_E_ARG, tribo_checkpoint_new(NULL, 1, &c));
    ck_assert_int_eq(tribo_checkpoint_new(w.ws, 1, &mine), TRIBO_OK);
    REFUSED(TRIBO_E_ARG, tribo_checkpoint_backward(NULL, w.ws, w.p, w.x0, 2, NULL, w.lx, a, b, p, &steps));
    REFUSED(TRIBO_E_ARG, tribo_checkpoint_backward(mine, w.ws, w.p, w.x0, -2, NULL, w.lx, a, b, p, &steps));
    REFUSED(TRIBO_E_ARG, tribo_checkpoint_backward(mine, other, w.p, w.x0, 2, NULL, w.lx, a, b, p, &steps));
    REFUSED(TRIBO_E_NONFINITE, tribo_checkpoint_backward(mine, w.ws, w.p, w.x0, 2, NULL, bad, a, b, p, &steps));
    REFUSED(TRIBO_E_NONFINITE, tribo_checkpoint_backward(mine, w.ws, w.p, bad, 2, NULL, w.lx, a, b, p, &steps));
    REFUSED(TRIBO_E_NONFINITE, tribo_checkpoint_backward(mine, w.ws, w.p, bad, 0, NULL, w.lx, a, b, p, &steps));
    REFUSED(TRIBO_E_CAPACITY, tribo_checkpoint_backward(mine, small, w.p, w.x0, 2, NULL, w.lx, a, b, p, &steps));
    REFUSED(0, tribo_checkpoint_steps(-1, 1));
    REFUSED(0, tribo_checkpoint_reach(1, -1));
    HOLDS(steps == 77 && !t && !c);
    tribo_checkpoint_free(mine), tribo_checkpoint_free(NULL), tribo_tape_free(NULL), tribo_tape_rewind(NULL);
}
END_TEST

/* ---- problems by themselves ---- */

START_TEST(problems) {
    const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, g[3] = {0, 0, -1}, mu = 0.5, minus = -1, x[2] = {1, 1};
    tribo_contact_problem p = {.nc = 1, .G = one, .g = g, .mu = &mu}, q = p;
    tribo_contact_ws *ws = NULL, *none = NULL;
    tribo_law_options law = {.law = (tribo_law)42};
    tribo_measures m;
    REFUSED(TRIBO_E_ARG, tribo_contact_ws_new(0, 3, NULL, NULL, &none));
    REFUSED(TRIBO_E_ARG, tribo_contact_ws_new(1, 3, &law, NULL, &none));
    REFUSED(TRIBO_E_ARG, tribo_contact_ws_new(INT_MAX, INT_MAX, NULL, NULL, &none));
    REFUSED(TRIBO_E_NOMEM, tribo_contact_ws_new(1 << 22, 1 << 22, NULL, NULL, &none));
    REFUSED(TRIBO_E_ARG, tribo_contact_ws_new(1, 3, NULL, NULL, NULL));
    ck_assert_int_eq(tribo_contact_ws_new(1, 3, NULL, NULL, &ws), TRIBO_OK);
    REFUSED(TRIBO_E_ARG, tribo_contact_vjp(ws, &p, g, NULL, NULL, out, NULL, NULL, NULL, NULL)); /* nothing solved */
    REFUSED(TRIBO_E_ARG, tribo_contact_measure(ws, &p, &m));
    REFUSED(TRIBO_E_ARG, tribo_contact_solve(ws, NULL, 0, false, out, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_contact_solve(ws, &p, 0, false, NULL, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_contact_solve(ws, &p, -1, false, out, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_contact_solve(ws, &p, NAN, false, out, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_contact_solve(NULL, &p, 0, false, out, NULL, NULL));
    const struct {
        int nc, nv;
        const double *G, *g, *M, *J, *vfree, *mu;
    } odd_one[] = {{2, 0, one, g, NULL, NULL, NULL, &mu},   {0, 0, one, g, NULL, NULL, NULL, &mu},
                   {-1, 0, one, g, NULL, NULL, NULL, &mu},  {1, 0, one, NULL, NULL, NULL, NULL, &mu},
                   {1, 3, one, g, NULL, NULL, NULL, &mu},   {1, 0, one, g, NULL, NULL, NULL, NULL},
                   {1, 3, NULL, NULL, NULL, one, g, &mu},   {1, 3, NULL, NULL, one, NULL, g, &mu},
                   {1, 3, NULL, NULL, one, one, NULL, &mu}, {1, 0, NULL, NULL, one, one, g, &mu},
                   {1, -3, NULL, NULL, one, one, g, &mu},   {1, 4, NULL, NULL, one, one, g, &mu}};
    for (size_t i = 0; i < sizeof odd_one / sizeof *odd_one; i++) {
        q = (tribo_contact_problem){.nc = odd_one[i].nc, .nv = odd_one[i].nv, .G = odd_one[i].G, .g = odd_one[i].g};
        q.M = odd_one[i].M, q.J = odd_one[i].J, q.vfree = odd_one[i].vfree, q.mu = odd_one[i].mu;
        REFUSED(TRIBO_E_ARG, tribo_contact_solve(ws, &q, 0, false, out, NULL, NULL));
    }
    q = p, q.mu = &minus;
    REFUSED(TRIBO_E_ARG, tribo_contact_solve(ws, &q, 0, false, out, NULL, NULL));
    q = p, q.mu = &nan_of;
    REFUSED(TRIBO_E_NONFINITE, tribo_contact_solve(ws, &q, 0, false, out, NULL, NULL));
    q = p, q.g = bad;
    REFUSED(TRIBO_E_NONFINITE, tribo_contact_solve(ws, &q, 0, false, out, NULL, NULL));
    q = (tribo_contact_problem){.nc = 1, .nv = 3, .M = bad + 1, .J = one, .vfree = g, .mu = &mu};
    REFUSED(TRIBO_E_SINGULAR, tribo_contact_solve(ws, &q, 0, false, out, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_contact_set_noise(ws, out));
    ck_assert_int_eq(tribo_contact_solve(ws, &p, 0, false, w.X, NULL, NULL), TRIBO_OK);
    REFUSED(TRIBO_E_NONFINITE, tribo_contact_vjp(ws, &p, bad, NULL, NULL, out, NULL, NULL, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_contact_measure(ws, &p, NULL));
    REFUSED(TRIBO_E_ARG, tribo_contact_measure(NULL, &p, &m));
    q = (tribo_contact_problem){.nc = 1, .nv = 3, .M = one, .J = one, .vfree = g, .mu = &mu}; /* not what was solved */
    REFUSED(TRIBO_E_ARG, tribo_contact_measure(ws, &q, &m));
    REFUSED(TRIBO_E_ARG, tribo_contact_vjp(ws, &q, g, NULL, NULL, out, NULL, NULL, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_contact_vjp(NULL, &p, g, NULL, NULL, out, NULL, NULL, NULL, NULL));
    REFUSED(TRIBO_E_NONFINITE, tribo_contact_solve(ws, &p, 0, true, (double[3]){NAN, 0, 0}, NULL, NULL));
    HOLDS(tribo_contact_ws_bytes(ws) > 0);
    HOLDS(tribo_contact_ws_bytes(NULL) == 0);
    tribo_contact_ws_free(ws), tribo_contact_ws_free(NULL);

    tribo_qcqp_ws *qw = NULL, *no = NULL;
    tribo_qcqp qp = {.n = 2, .P = one, .q = g}, odd = {.n = 1, .P = one, .q = g, .r = g},
               big = {.n = 9, .P = one, .q = g};
    REFUSED(TRIBO_E_ARG, tribo_qcqp_ws_new(0, NULL, &no));
    REFUSED(TRIBO_E_ARG, tribo_qcqp_ws_new(INT_MAX, NULL, &no));
    REFUSED(TRIBO_E_ARG, tribo_qcqp_ws_new(2, NULL, NULL));
    ck_assert_int_eq(tribo_qcqp_ws_new(2, NULL, &qw), TRIBO_OK);
    REFUSED(TRIBO_E_ARG, tribo_qcqp_solve(qw, NULL, 0, 0, out, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_qcqp_solve(qw, &odd, 0, 0, out, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_qcqp_solve(qw, &big, 0, 0, out, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_qcqp_solve(qw, &qp, -1, 0, out, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_qcqp_solve(qw, &qp, 0, -1, out, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_qcqp_vjp(qw, &qp, x, x, out, out, NULL, NULL)); /* r_bar of a QP */
    REFUSED(TRIBO_E_NONFINITE, tribo_qcqp_vjp(qw, &qp, x, bad, out, NULL, NULL, NULL));
    qp.q = bad;
    REFUSED(TRIBO_E_NONFINITE, tribo_qcqp_solve(qw, &qp, 0, 0, out, NULL, NULL));
    tribo_qcqp_ws_free(qw), tribo_qcqp_ws_free(NULL);
}
END_TEST

/* ---- laws by name, recordings, identification ---- */

START_TEST(words_and_recordings) {
    tribo_law_options o = {0};
    tribo_trajectory *t = NULL;
    tribo_controls *c = NULL;
    REFUSED(TRIBO_E_ARG, tribo_law_set(&o, "colour", "red", NULL));
    REFUSED(TRIBO_E_ARG, tribo_law_set(&o, "law", "coulomb", NULL));
    REFUSED(TRIBO_E_ARG, tribo_law_set(&o, "facets", "3", NULL));
    REFUSED(TRIBO_E_ARG, tribo_law_set(&o, "facets", NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_law_set(NULL, "law", "ccp", NULL));
    REFUSED(0, tribo_law_find(NULL));
    REFUSED(0, tribo_solver_find("simplex"));
    HOLDS(tribo_law_name((tribo_law)99) == NULL && tribo_law_word(-1) == NULL);
    HOLDS(tribo_law_solver((tribo_law)99, 0) == 0 && tribo_law_solver(TRIBO_LAW_NCP, -1) == 0);
    REFUSED(TRIBO_E_IO, tribo_trajectory_load("/no/such.csv", w.m, NULL, &t, NULL));
    REFUSED(TRIBO_E_ARG, tribo_trajectory_load_memory("time\n0\n", 7, NULL, NULL, &t, NULL));
    REFUSED(TRIBO_E_PARSE, tribo_trajectory_load_memory("time,box.px\n0,x\n", 16, w.m, NULL, &t, NULL));
    REFUSED(TRIBO_E_PARSE, tribo_controls_load_memory("time,box.px\n0,1\n", 16, w.m, NULL, &c, NULL));
    REFUSED(TRIBO_E_ARG, tribo_trajectory_save("x.csv", w.m, 0, out, out, NULL));
    REFUSED(TRIBO_E_ARG, tribo_trajectory_save("x.csv", w.m, 1, bad, out, NULL));
    HOLDS(!t && !c && tribo_trajectory_rows(NULL) == 0 && tribo_trajectory_states(NULL) == NULL);
    HOLDS(tribo_controls_values(NULL) == NULL);
    tribo_controls_at(NULL, 0, out), tribo_trajectory_free(NULL), tribo_controls_free(NULL);
}
END_TEST

static tribo_status fit_of(tribo_sysid_def d, tribo_free_param f) {
    static const double times[3] = {0, 0.01, 0.02}, falling[3] = {0, 0.02, 0.01};
    double x[39];
    tribo_recording rec = {.n = 3, .time = d.seed == 99 ? falling : times, .x = x};
    tribo_sysid *s = NULL;
    for (int k = 0; k < 3; k++) memcpy(x + 13 * k, w.x0, 13 * sizeof *x);
    if (d.nrec == 0) d.rec = &rec, d.nrec = 1;
    d.free = &f, d.nfree = 1;
    tribo_status status = tribo_sysid_new(w.m, &d, &s, NULL);
    ck_assert((status == TRIBO_OK) == (s != NULL));
    tribo_sysid_free(s);
    return status;
}

static tribo_status alone(void *context, void *data, const size_t *at) {
    (void)context, (void)data, (void)at;
    return TRIBO_OK;
}

START_TEST(identification) {
    tribo_sysid_def d = tribo_default_sysid(), e;
    tribo_free_param f = tribo_default_free(), g;
    tribo_sysid *s = NULL;
    f.index = world_param(&w, "floor/friction");
    ck_assert_int_eq(fit_of(d, f), TRIBO_OK);
    g = f, g.struct_size = 0;
    REFUSED(TRIBO_E_DEF, fit_of(d, g));
    g = f, g.index = 9999;
    REFUSED(TRIBO_E_ARG, fit_of(d, g));
    g = f, g.start = -1;
    REFUSED(TRIBO_E_ARG, fit_of(d, g));
    g = f, g.lower = 2, g.upper = 1;
    REFUSED(TRIBO_E_ARG, fit_of(d, g));
    e = d, e.struct_size = 8;
    REFUSED(TRIBO_E_DEF, fit_of(e, f));
    e = d, e.workers = 0;
    REFUSED(TRIBO_E_ARG, fit_of(e, f));
    e = d, e.seed = 99; /* times that fall */
    REFUSED(TRIBO_E_ARG, fit_of(e, f));
    e = d, e.nrec = -1;
    REFUSED(TRIBO_E_ARG, fit_of(e, f));
    e = d, e.loss = TRIBO_LOSS_WINDOW, e.window = 0;
    REFUSED(TRIBO_E_ARG, fit_of(e, f));
    e = d, e.optimizer = (tribo_optimizer)9;
    REFUSED(TRIBO_E_ARG, fit_of(e, f));
    e = d, e.loss = (tribo_loss)9;
    REFUSED(TRIBO_E_ARG, fit_of(e, f));
    e = d, e.validation = 2;
    REFUSED(TRIBO_E_ARG, fit_of(e, f));
    e = d, e.robust = (tribo_robust)9;
    REFUSED(TRIBO_E_ARG, fit_of(e, f));
    e = d, e.start = (tribo_start)9;
    REFUSED(TRIBO_E_ARG, fit_of(e, f));
    e = d, e.weight[2] = INFINITY;
    REFUSED(TRIBO_E_ARG, fit_of(e, f));
    e = d, e.ranks = &(tribo_ranks){.count = 1};
    REFUSED(TRIBO_E_ARG, fit_of(e, f));
    g = f, g.column = TRIBO_COLUMN_GAIN, g.index = 0; /* found by shooting alone */
    REFUSED(TRIBO_E_ARG, fit_of(d, g));
    e = d, e.loss = TRIBO_LOSS_SHOOTING, e.window = 1;
    g.index = -1;
    REFUSED(TRIBO_E_ARG, fit_of(e, g));
    g.index = 11, g.numbers = 2; /* beyond the last */
    REFUSED(TRIBO_E_ARG, fit_of(e, g));
    g.index = 3, g.numbers = 1; /* an orientation has no gain */
    REFUSED(TRIBO_E_ARG, fit_of(e, g));
    g.index = 0, g.lower = -1;
    REFUSED(TRIBO_E_ARG, fit_of(e, g));
    REFUSED(TRIBO_E_ARG, tribo_sysid_new(NULL, &d, &s, NULL));
    REFUSED(TRIBO_E_ARG, tribo_sysid_new(w.m, &d, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_sysid_new(w.m, NULL, &s, NULL));
    REFUSED(TRIBO_E_ARG, tribo_sysid_eval(NULL, w.p, out, out));
    REFUSED(TRIBO_E_ARG, tribo_sysid_iterate(NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_sysid_fit(NULL, 3, NULL));
    REFUSED(TRIBO_E_ARG, tribo_sysid_predict(NULL, NULL, 0, out));
    REFUSED(TRIBO_E_ARG, tribo_sysid_observe(NULL, NULL, out, out, out, NULL));
    tribo_errors errors;
    d.free = &f, d.nfree = 1;
    double x[39];
    d.rec = &(tribo_recording){.n = 3, .time = (const double[]){0, 0.01, 0.02}, .x = x}, d.nrec = 1;
    for (int k = 0; k < 3; k++) memcpy(x + 13 * k, w.x0, 13 * sizeof *x);
    const tribo_recording short_of[3] = {{.n = 1, .time = d.rec->time, .x = x}, {.n = 3, .x = x}, {.n = 3, .time = x}};
    for (int k = 0; k < 3; k++) {
        e = d, e.rec = short_of + k;
        REFUSED(TRIBO_E_ARG, tribo_sysid_new(w.m, &e, &s, NULL));
    }
    const double clocks[2][3] = {{0, 0.01, 1e6}, {-1e9, 0, 0.01}}; /* of two clocks: simulating that would not end */
    for (int k = 0; k < 2; k++) {
        tribo_diag why = {0};
        e = d, e.rec = &(tribo_recording){.n = 3, .time = clocks[k], .x = x};
        REFUSED(TRIBO_E_ARG, tribo_sysid_new(w.m, &e, &s, &why));
        ck_assert_msg(strstr(why.text, k ? "rows 0 and 1" : "rows 1 and 2"), "%s", why.text);
    }
    e = d, e.nfree = -1;
    REFUSED(TRIBO_E_ARG, tribo_sysid_new(w.m, &e, &s, NULL));
    e = d, e.free = NULL;
    REFUSED(TRIBO_E_ARG, tribo_sysid_new(w.m, &e, &s, NULL));
    e = d, e.nrec = 0;
    REFUSED(TRIBO_E_ARG, tribo_sysid_new(w.m, &e, &s, NULL));
    e = d, e.rec = NULL;
    REFUSED(TRIBO_E_ARG, tribo_sysid_new(w.m, &e, &s, NULL));
    e = d, e.validation = NAN;
    REFUSED(TRIBO_E_ARG, tribo_sysid_new(w.m, &e, &s, NULL));
    for (int k = 0; k < 3; k++) { /* ranks that are none, or that no one is */
        e = d, e.ranks = &(tribo_ranks){.count = k != 0, .own = k == 1 ? -1 : 1, .exchange = alone};
        REFUSED(TRIBO_E_ARG, tribo_sysid_new(w.m, &e, &s, NULL));
    }
    ck_assert_int_eq(tribo_sysid_new(w.m, &d, &s, NULL), TRIBO_OK);
    HOLDS(tribo_sysid_nfree(s) == 1);
    REFUSED(TRIBO_E_ARG, tribo_sysid_eval(s, w.p, NULL, NULL));
    REFUSED(TRIBO_E_ARG, tribo_sysid_predict(s, NULL, 0, NULL));
    REFUSED(TRIBO_E_ARG, tribo_sysid_errors(s, NULL, 0, NULL));
    REFUSED(TRIBO_E_ARG, tribo_sysid_eval(s, NULL, out, out));
    REFUSED(TRIBO_E_ARG, tribo_sysid_eval(s, w.p, NULL, out));
    REFUSED(TRIBO_E_ARG, tribo_sysid_normal(s, NULL, out, out, out));
    REFUSED(TRIBO_E_ARG, tribo_sysid_validation(s, (const double[]){0}, out)); /* nothing is held out */
    REFUSED(TRIBO_E_ARG, tribo_sysid_observe(s, NULL, out, out, out, NULL));
    for (int rec = -1; rec < 2; rec += 2) {
        REFUSED(TRIBO_E_ARG, tribo_sysid_rows(s, rec, out));
        REFUSED(TRIBO_E_ARG, tribo_sysid_predict(s, NULL, rec, out));
        REFUSED(TRIBO_E_ARG, tribo_sysid_errors(s, NULL, rec, &errors));
        HOLDS(!tribo_sysid_held_out(s, rec) && tribo_sysid_flight(s, rec) == 0);
    }
    REFUSED(TRIBO_E_ARG, tribo_sysid_rows(s, 0, NULL));
    REFUSED(TRIBO_E_ARG, tribo_sysid_smooth(s, 0, out, NULL)); /* of another loss */
    tribo_sysid_values(s, NULL, out), tribo_sysid_values(s, (const double[]){0}, NULL);
    tribo_sysid_params(s, NULL, out), tribo_sysid_params(s, (const double[]){0}, NULL);
    tribo_sysid_map_jac(s, NULL, out), tribo_sysid_theta(s, NULL);
    tribo_sysid_free(s);
    REFUSED(0, tribo_sysid_nfree(NULL));
    HOLDS(!tribo_sysid_held_out(NULL, 0) && tribo_sysid_flight(NULL, 0) == 0);
    tribo_sysid_theta(NULL, out), tribo_sysid_params(NULL, out, out), tribo_sysid_free(NULL);
}
END_TEST

START_TEST(there_are_many) {
    printf("%d misuses\n", rows);
    ck_assert_int_ge(rows, 90);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("misuse");
    TCase *t = tcase_create("misuse");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, building);
    tcase_add_test(t, asking_a_model);
    tcase_add_test(t, workspaces);
    tcase_add_test(t, stepping);
    tcase_add_test(t, derivatives);
    tcase_add_test(t, problems);
    tcase_add_test(t, words_and_recordings);
    tcase_add_test(t, identification);
    tcase_add_test(t, there_are_many);
    suite_add_tcase(s, t);
    return s;
}
