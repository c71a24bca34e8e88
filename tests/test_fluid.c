/* test_fluid.c -- what a fluid does to bodies: MuJoCo's forces, known motions, energy, derivatives, files. */
#include "gradcheck.h"
#include "model/model.h"
#include "test_main.h"
#include "worlds.h"
#include <math.h>
#include <tribo/dynamics.h>
#include <tribo/sim.h>
#ifdef HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

#define FLUID "<option density='3' viscosity='0.7' wind='1 -2 0.5' timestep='0.01'/>"
/* Axes of inertias that are given, found, a geom's, and equal moments; welded, turning, sliding, free bodies. */
#define TREES                                                                                                          \
    "<worldbody><body pos='0 0 1'><freejoint/><inertial pos='.03 .01 0' mass='2' diaginertia='.1 .2 .15' "             \
    "euler='20 30 40'/><body pos='.3 0 0'><geom type='box' size='.1 .2 .05' euler='10 50 0' mass='.6'/></body>"        \
    "<body pos='0 .4 0'><joint axis='0 1 .3' pos='0 .1 0'/><inertial pos='.2 0 .1' mass='1' "                          \
    "fullinertia='.03 .02 .04 .001 -.002 .003'/><body pos='.4 0 0' euler='0 20 10'><joint type='ball'/>"               \
    "<geom type='cylinder' size='.1 .3' pos='.1 0 0' euler='30 20 50'/></body></body></body>"                          \
    "<body pos='3 0 1'><joint type='slide' axis='1 1 0'/><joint axis='0 0 1' pos='.1 0 0'/><geom size='.1' pos='.2 0 " \
    "0'/>"                                                                                                             \
    "<geom size='.2' pos='0 .3 .1'/></body>"
#define SINGLE                                                                                                         \
    "<body pos='6 0 1'><freejoint/><geom type='box' size='.1 .1 .1' euler='20 30 40' pos='.1 .05 0'/></body>"          \
    "<body pos='8 0 1'><freejoint/><geom type='box' size='.3 .1 .2'/></body></worldbody>"
#define SCENE(bodies) "<mujoco>" FLUID bodies "</mujoco>"
#define FLOOR "<worldbody><geom type='plane' size='9 9 1' pos='0 0 .75'/></worldbody>"
static const char ALL[] = SCENE(TREES SINGLE), FREE[] = SCENE("<worldbody>" SINGLE),
                  TOUCH[] = SCENE(FLOOR TREES SINGLE);

static tribo_model *from_text(const char *text) {
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    ck_assert_msg(tribo_model_load_memory(text, strlen(text), "fluid", NULL, &m, &diag) == TRIBO_OK, "%d: %s",
                  diag.line, diag.text);
    return m;
}

static void draw(const tribo_model *m, unsigned *seed, double *x) {
    double *dx = world_zeros(m->size.ndx), *x0 = world_zeros(m->size.nx);
    tribo_model_state0(m, x0);
    for (int i = 0; i < m->size.ndx; i++) dx[i] = (i < m->size.nv ? 1 : 2) * test_random(seed);
    tribo_state_add(m, x0, dx, x);
    free(dx), free(x0);
}

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    ck_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

#ifdef HAVE_MUJOCO
/* Axes of a full inertia MuJoCo finds to eight digits: with them, and with others in their place. */
START_TEST(forces_are_mujocos) {
    static const char PATH[] = "test_fluid_oracle.xml";
    char error[512] = "", text[sizeof ALL];
    double near = _i ? 1e-7 : 1e-12;
    memcpy(text, ALL, sizeof text);
    char *full = strstr(text, "fullinertia");
    static const char FULL[] = "fullinertia='.03 .02 .04 .001 -.002 .003'", OTHER[] = "diaginertia='.03 .02 .04'";
    if (_i == 0) memset(full, ' ', sizeof FULL - 1), memcpy(full, OTHER, sizeof OTHER - 1);
    write_file(PATH, text);
    mjModel *mm = mj_loadXML(PATH, NULL, error, sizeof error);
    ck_assert_msg(mm != NULL, "%s", error);
    mm->opt.disableflags |= mjDSBL_CONTACT;
    mjData *data = mj_makeData(mm);
    tribo_model *m = from_text(text);
    tribo_dynamics *d;
    double *x = world_zeros(m->size.nx), *tau = world_zeros(2 * m->size.nv), *a = tau + m->size.nv;
    unsigned seed = 4;
    ck_assert_int_eq(tribo_dynamics_new(m, NULL, &d), TRIBO_OK);
    for (int round = 0; round < 20; round++) {
        double force = 0, acceleration = 0, off = 0, off_a = 0;
        draw(m, &seed, x);
        mju_copy(data->qpos, x, m->size.nq), mju_copy(data->qvel, x + m->size.nq, m->size.nv);
        mj_forward(mm, data);
        ck_assert_int_eq(tribo_dynamics_set_state(d, x), TRIBO_OK);
        ck_assert_int_eq(tribo_joint_forces(d, NULL, tau), TRIBO_OK);
        ck_assert_int_eq(tribo_forward_dynamics(d, tau, a), TRIBO_OK);
        for (int i = 0; i < m->size.nv; i++) {
            force = fmax(force, fabs(tau[i])), acceleration = fmax(acceleration, fabs(a[i]));
            off = fmax(off, fabs(tau[i] - data->qfrc_passive[i])), off_a = fmax(off_a, fabs(a[i] - data->qacc[i]));
        }
        ck_assert_msg(off <= near * force && off_a <= near * acceleration, "%g of %g, %g of %g", off, force, off_a,
                      acceleration);
    }
    tribo_dynamics_free(d), tribo_model_free(m), free(x), free(tau);
    mj_deleteData(data), mj_deleteModel(mm), remove(PATH);
}
END_TEST
#endif

static void run(const tribo_model *m, const tribo_options *o, int steps, double *x, double *energy) {
    double *p = world_zeros(m->size.np);
    tribo_ws *ws;
    tribo_model_params(m, p);
    ck_assert_int_eq(tribo_ws_new(m, o, NULL, &ws, NULL), TRIBO_OK);
    if (energy) energy[0] = tribo_energy(m, p, x);
    for (int k = 0; k < steps; k++) {
        ck_assert_int_ge(tribo_step(ws, p, x, NULL, x, NULL), 0);
        if (energy) energy[k + 1] = tribo_energy(m, p, x);
    }
    tribo_ws_free(ws), free(p);
}

/* A box along one of its axes: 1/v grows by c t where density counts, and a step of any length has that exactly; v
 * falls by 1 + h k in a step where viscosity does. In a wind it ends as fast as that. */
START_TEST(motions_are_known) {
    static const char *const BODY[] = {"<joint type='slide' axis='1 0 0'/>", "<freejoint/>"};
    for (int k = 0; k < 4; k++) {
        char text[512];
        snprintf(text, sizeof text,
                 "<mujoco><option gravity='0 0 0' timestep='.5' %s/><worldbody><body>%s<geom type='box' "
                 "size='.1 .2 .3' mass='2'/></body></worldbody></mujoco>",
                 k < 2 ? "density='7'" : "viscosity='5' wind='.5 0 0'", BODY[k % 2]);
        tribo_model *m = from_text(text);
        double x[13] = {0}, v, c = 0.5 * 7 * .4 * .6 / 2, d = (.2 + .4 + .6) / 3,
               rate = 3 * 3.14159265358979323846 * d * 5 / 2;
        if (k % 2) x[3] = 1;
        x[m->size.nq] = 3;
        run(m, NULL, 20, x, NULL);
        v = x[m->size.nq];
        double want = k < 2 ? 3 / (1 + c * 3 * 10) : .5 + 2.5 * pow(1 + .5 * rate, -20);
        ck_assert_msg(fabs(v - want) <= 1e-13, "%d: %.17g, expected %.17g", k, v, want);
        tribo_model_free(m);
    }
}
END_TEST

/* However thick it is and however long the steps. */
START_TEST(energy_is_lost) {
    enum { STEPS = 40 };
    for (int k = 0; k < 4; k++) {
        char text[4096];
        snprintf(text, sizeof text, "<mujoco><option gravity='0 0 0' density='%g' viscosity='%g'/>%s</mujoco>",
                 k % 2 ? 1e5 : 3, k % 2 ? 1e4 : 0, k < 2 ? TREES SINGLE : "<worldbody>" SINGLE);
        tribo_model *m = from_text(text);
        tribo_options o = tribo_default_options();
        double energy[STEPS + 1], *x = world_zeros(m->size.nx);
        unsigned seed = 3;
        o.dt = k % 2 ? 0.02 : 0.002;
        draw(m, &seed, x);
        run(m, &o, STEPS, x, energy);
        for (int i = 0; i < STEPS; i++)
            ck_assert_msg(energy[i + 1] <= energy[i], "%d: %.17g after %.17g", k, energy[i + 1], energy[i]);
        ck_assert(energy[STEPS] < (k % 2 ? 1e-3 : 1) * energy[0]);
        tribo_model_free(m), free(x);
    }
}
END_TEST

/* A and B by columns, of trees, or by tangents, of free bodies, against those by rows. */
static void compare_jacobians(const tribo_model *m, const double *x, bool touches) {
    enum { STEPS = 4 };
    size_t n = 2 * (size_t)m->size.nv, nu = (size_t)m->size.nu, np = (size_t)m->size.np, all = n * (n + nu + np);
    double *A = world_zeros(2 * (int)all), *B = A + n * n, *rows = A + all, *C = rows + n * n + n * nu;
    double *p = world_zeros(m->size.np), *next = world_zeros(m->size.nx), *u = world_zeros(m->size.nu);
    tribo_ws *ws;
    tribo_tape *tape;
    unsigned seed = 5;
    tribo_model_params(m, p);
    for (size_t i = 0; i < nu; i++) u[i] = 20 * test_random(&seed);
    ck_assert_int_eq(tribo_ws_new(m, NULL, NULL, &ws, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_tape_new(ws, STEPS, 0, &tape), TRIBO_OK);
    memcpy(next, x, (size_t)m->size.nx * sizeof *x);
    for (int k = 0; k < STEPS; k++) ck_assert_int_ge(tribo_step(ws, p, next, u, next, tape), 0);
    ck_assert_int_eq(tribo_last_info(ws)->nactive > 0, touches);
    ck_assert_int_ge(tribo_step_jac(ws, tape, STEPS - 1, A, B, NULL), 0);
    ck_assert_int_ge(tribo_step_jac(ws, tape, STEPS - 1, rows, rows + n * n, C), 0);
    double *bar = world_zeros((int)n), *back = world_zeros((int)(n + nu + np));
    for (size_t r = 0; r < n; r++) {
        memset(bar, 0, n * sizeof *bar), memset(back, 0, (n + nu + np) * sizeof *back), bar[r] = 1;
        ck_assert_int_ge(tribo_step_vjp(ws, tape, STEPS - 1, bar, back, back + n, back + n + nu), 0);
        for (size_t c = 0; c < n; c++)
            ck_assert_msg(fabs(A[r * n + c] - back[c]) <= 1e-10 && fabs(rows[r * n + c] - back[c]) <= 1e-10,
                          "%zu %zu: %g %g %g", r, c, A[r * n + c], rows[r * n + c], back[c]);
        for (size_t c = 0; c < nu; c++) ck_assert_double_eq_tol(B[r * nu + c], back[n + c], 1e-10);
        for (size_t c = 0; c < np; c++)
            ck_assert_double_eq_tol(C[r * np + c], back[n + nu + c], 1e-10 * (1 + fabs(back[n + nu + c])));
    }
    tribo_tape_free(tape), tribo_ws_free(ws);
    free(A), free(p), free(next), free(u), free(bar), free(back);
}

/* Forward, reverse and differences through some steps, with every number of the fluid and of bodies. */
START_TEST(derivatives_agree) {
    tribo_model *m = from_text(_i == 0 ? ALL : _i == 1 ? FREE : TOUCH);
    double *x = world_zeros(m->size.nx);
    unsigned seed = 8;
    draw(m, &seed, x);
    compare_jacobians(m, x, _i == 2);
    if (_i == 2) { /* as what touches a floor is, by columns too */
        tribo_model_free(m), free(x);
        return;
    }
    grad_task task = {.model = m, .x0 = x, .steps = 6, .seed = 2, .per_block = 10, .tol = 1e-6};
    grad_result r;
    task.options = tribo_default_options();
    ck_assert_int_ge(grad_check(&task, &r), 0);
    ck_assert_msg(grad_flaw(&task, &r) == NULL, "%s: worst %g, %g, %g in step %d", grad_flaw(&task, &r), r.worst,
                  r.steps.reverse, r.steps.jacobian, r.steps.step);
    tribo_model_free(m), free(x);
}
END_TEST

/* Its numbers have names, and are written; so are inertias whose axes stay. */
START_TEST(files_keep_it) {
    static const char PATH[] = "test_fluid.xml", OUT[] = "test_fluid_saved.xml";
    tribo_model *m = from_text(ALL), *back = NULL;
    tribo_diag diag = {0};
    double *p = world_zeros(m->size.np);
    int index[8];
    write_file(PATH, ALL);
    tribo_model_params(m, p);
    ck_assert_int_eq(tribo_param_group(m, "option", index, 8), 5);
    p[tribo_param_find(m, "option/density")] = 1.25, p[tribo_param_find(m, "option/wind/y")] = 0.5;
    for (int i = 0; i < 6; i++) p[m->body[1].p + TI_P_INERTIA + i] *= 1.5; /* of a geom that is askew */
    ck_assert_msg(tribo_model_save(m, p, PATH, OUT, &diag) == TRIBO_OK, "%s", diag.text);
    ck_assert_int_eq(tribo_model_load(OUT, NULL, &back, &diag), TRIBO_OK);
    for (int i = 0; i < m->size.np; i++) ck_assert_double_eq_tol(back->p0[i], p[i], 1e-9 * (1 + fabs(p[i])));
    tribo_model_free(back);
    p[m->body[1].p + TI_P_INERTIA + 3] += 1e-4;
    ck_assert_int_eq(tribo_model_save(m, p, PATH, OUT, &diag), TRIBO_E_ARG);
    ck_assert_msg(strstr(diag.text, "along which the fluid acts"), "%s", diag.text);
    p[m->body[1].p + TI_P_INERTIA + 3] -= 1e-4;
    p[m->fluid] = p[m->fluid + 1] = 0;
    ck_assert_int_eq(tribo_model_save(m, p, PATH, OUT, &diag), TRIBO_E_ARG);
    ck_assert_msg(strstr(diag.text, "no such fluid"), "%s", diag.text);
    p[m->fluid] = -1;
    ck_assert_int_eq(tribo_params_check(m, p, &diag), TRIBO_E_ARG);
    tribo_model_free(m), free(p), remove(PATH), remove(OUT);
    m = from_text("<mujoco><option density='0' wind='1 0 0'/><worldbody><body><freejoint/><geom size='1'/></body>"
                  "</worldbody></mujoco>");
    ck_assert(m->fluid == 0 && tribo_param_find(m, "option/density") < 0);
    tribo_model_free(m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("fluid");
    TCase *t = tcase_create("all");
#ifdef HAVE_MUJOCO
    tcase_add_loop_test(t, forces_are_mujocos, 0, 2);
#endif
    tcase_add_test(t, motions_are_known);
    tcase_add_test(t, energy_is_lost);
    tcase_add_loop_test(t, derivatives_agree, 0, 3);
    tcase_add_test(t, files_keep_it);
    suite_add_tcase(s, t);
    return s;
}
