/* test_dynamics.c -- tribo/dynamics.h: against closed forms, against itself, and where it is installed against MuJoCo;
 * sites as scenes have them. Reverses are in the table of test_diff_ops.c. */
#include "mallocs.h"
#include "model/model.h"
#include "model/state.h"
#include "test_main.h"
#include "worlds.h"
#include <dirent.h>
#include <tribo/dynamics.h>
#include <tribo/sim.h>
#ifdef HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

static unsigned seed = 1;

/* A model, a workspace, and room for vectors and matrices of its velocities. */
typedef struct robot {
    tribo_model *m;
    tribo_dynamics *d;
    tribo_sizes n;
    double *p, *x, *x0;
    double *a, *b, *c, *A, *B, *C;
} robot;

static void open_model(robot *r, tribo_model *m) {
    r->m = m, r->n = tribo_model_sizes(m);
    ck_assert_int_eq(tribo_dynamics_new(m, NULL, &r->d), TRIBO_OK);
    int nv = r->n.nv, square = (nv > 6 ? nv : 6) * nv;
    r->p = world_zeros(r->n.np + 2 * r->n.nx + 3 * nv + r->n.nu + 3 * square);
    r->x = r->p + r->n.np, r->x0 = r->x + r->n.nx, r->a = r->x0 + r->n.nx, r->b = r->a + nv, r->c = r->b + nv,
    r->A = r->c + nv + r->n.nu, r->B = r->A + square, r->C = r->B + square;
    tribo_model_params(m, r->p), tribo_model_state0(m, r->x0);
}

static void open_file(robot *r, const char *path) {
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    ck_assert_msg(tribo_model_load(path, NULL, &m, &diag) == TRIBO_OK, "%s: %s", path, diag.text);
    open_model(r, m);
}

static void open_scene(robot *r, const char *name) {
    char path[4096];
    const char *scenes = getenv("TRIBO_SCENES");
    ck_assert_ptr_nonnull(scenes);
    snprintf(path, sizeof path, "%s/%s.xml", scenes, name);
    open_file(r, path);
}

static void close_robot(robot *r) {
    tribo_dynamics_free(r->d), tribo_model_free(r->m), free(r->p);
}

/* Around the start, at velocities of up to 3. */
static void random_state(robot *r) {
    double *dx = world_zeros(r->n.ndx);
    for (int i = 0; i < r->n.ndx; i++) dx[i] = (i < r->n.nv ? 1 : 3) * test_random(&seed);
    tribo_state_add(r->m, r->x0, dx, r->x);
    ck_assert_int_eq(tribo_dynamics_set_state(r->d, r->x), TRIBO_OK);
    free(dx);
}

static void random_numbers(double *a, int n, double size) {
    for (int i = 0; i < n; i++) a[i] = size * test_random(&seed);
}

static double worst_of(const double *a, const double *b, int n) {
    double worst = 0, most = 1;
    for (int i = 0; i < n; i++) worst = ti_max(worst, fabs(a[i] - b[i])), most = ti_max(most, fabs(b[i]));
    return worst / most;
}

static const char *const SCENES[] = {"double-pendulum", "cart-pole", "walker", "legs",   "arm",      "four-bar",
                                     "quadruped",       "collision", "spin",   "driven", "shoulder", "braked"};
enum { NSCENES = sizeof SCENES / sizeof *SCENES };

/* ---- closed forms ---- */

/* A rod that swings about the y axis: inertia about the hinge, weight, energies. */
START_TEST(pendulum_is_the_closed_form) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_body_def d = tribo_default_body();
    tribo_joint_def j = tribo_default_joint();
    double l = 0.4, mass = 1.3, I = 0.02, g = 9.81, q = 0.7, w = -2.1, moment, force, e, M, acc, pos[3];
    tribo_model *m = NULL;
    d.name = "rod", d.pos[2] = 1, d.inertia_given = true, d.mass = mass, d.com[2] = -l;
    d.inertia[0] = d.inertia[1] = I, d.inertia[2] = 0.001;
    j.name = "pin", j.axis[1] = 1, j.axis[2] = 0, j.armature = 0.03;
    tribo_add_joint(b, tribo_add_body(b, &d), &j);
    ck_assert_int_eq(tribo_build(b, &m, NULL), TRIBO_OK);
    robot r;
    open_model(&r, m);
    double about = I + mass * l * l, all = about + 0.03, x[2] = {q, w};
    ck_assert_int_eq(tribo_dynamics_set_state(r.d, x), TRIBO_OK);
    ck_assert_int_eq(tribo_inertia(r.d, &M), TRIBO_OK);
    ck_assert_double_eq_tol(M, all, 1e-15);
    ck_assert_int_eq(tribo_bias_forces(r.d, &moment), TRIBO_OK);
    ck_assert_double_eq_tol(moment, mass * g * l * sin(q), 1e-14);
    acc = 2.5;
    ck_assert_int_eq(tribo_inverse_dynamics(r.d, &acc, &force), TRIBO_OK);
    ck_assert_double_eq_tol(force, all * acc + moment, 1e-14);
    ck_assert_int_eq(tribo_forward_dynamics(r.d, &force, &acc), TRIBO_OK);
    ck_assert_double_eq_tol(acc, 2.5, 1e-14);
    ck_assert_int_eq(tribo_kinetic_energy(r.d, &e), TRIBO_OK);
    ck_assert_double_eq_tol(e, 0.5 * all * w * w, 1e-14);
    ck_assert_int_eq(tribo_potential_energy(r.d, &e), TRIBO_OK);
    ck_assert_double_eq_tol(e, mass * g * (1 - l * cos(q)), 1e-13);
    ck_assert_int_eq(tribo_com(r.d, pos), TRIBO_OK);
    ck_assert_double_eq_tol(pos[0], -l * sin(q), 1e-15);
    ck_assert_double_eq_tol(pos[2], 1 - l * cos(q), 1e-15);
    ck_assert_int_eq(tribo_inverse_dynamics_jac(r.d, &acc, r.A, r.B), TRIBO_OK);
    ck_assert_double_eq_tol(r.A[0], mass * g * l * cos(q), 1e-13);
    ck_assert_double_eq_tol(r.B[0], 0, 1e-14);
    close_robot(&r);
}
END_TEST

/* A body by itself, its frame off its centre of mass: Newton and Euler. */
START_TEST(free_body_is_newton_and_euler) {
    robot r;
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_body_def d = tribo_default_body();
    tribo_model *m = NULL;
    d.name = "top", d.inertia_given = true, d.mass = 2, d.com[0] = 0.1, d.com[2] = -0.3;
    d.inertia[0] = 0.1, d.inertia[1] = 0.2, d.inertia[2] = 0.15, d.inertia[3] = 0.01;
    tribo_add_body(b, &d);
    ck_assert_int_eq(tribo_build(b, &m, NULL), TRIBO_OK);
    open_model(&r, m);
    random_state(&r), random_numbers(r.a, 6, 2);
    ck_assert_int_eq(tribo_inverse_dynamics(r.d, r.a, r.b), TRIBO_OK);
    double q[4], pos[3];
    ck_assert_int_eq(tribo_body_pose(r.d, 0, pos, q), TRIBO_OK);
    ti_mat R = ti_quat_mat(q), I = ti_sym(d.inertia);
    ti_vec w = ti_load3(r.x + 10), alpha = ti_load3(r.a + 3), c = ti_load3(d.com);
    ti_vec lever = ti_add(ti_cross(alpha, c), ti_cross(w, ti_cross(w, c)));
    ti_vec f = ti_scale(2, ti_add(ti_load3(r.a), ti_mul(&R, lever)));
    f.z += 2 * 9.81;
    ti_vec torque = ti_add(ti_mul(&I, alpha), ti_cross(w, ti_mul(&I, w)));
    torque = ti_add(torque, ti_cross(c, ti_tmul(&R, f)));
    double want[6];
    ti_store3(want, f), ti_store3(want + 3, torque);
    ck_assert_double_le(worst_of(r.b, want, 6), 1e-14);
    close_robot(&r);
}
END_TEST

/* ---- against itself ---- */

/* What one function says of another. */
START_TEST(functions_agree) {
    robot r;
    open_scene(&r, SCENES[_i]);
    int nv = r.n.nv;
    for (int round = 0; round < 20; round++) {
        double h[6], twist[6], again[6], e, mass = 0;
        random_state(&r), random_numbers(r.a, nv, 5);
        const double *v = r.x + r.n.nq;
        ck_assert_int_eq(tribo_inertia_times(r.d, r.a, r.b), TRIBO_OK);
        ck_assert_int_eq(tribo_inertia_solve(r.d, r.b, r.b), TRIBO_OK);
        ck_assert_double_le(worst_of(r.b, r.a, nv), 1e-11);
        ck_assert_int_eq(tribo_inverse_dynamics(r.d, r.a, r.b), TRIBO_OK);
        ck_assert_int_eq(tribo_forward_dynamics(r.d, r.b, r.c), TRIBO_OK);
        ck_assert_double_le(worst_of(r.c, r.a, nv), 1e-11);
        ck_assert_int_eq(tribo_inertia_times(r.d, v, r.b), TRIBO_OK);
        ck_assert_int_eq(tribo_inertia(r.d, r.A), TRIBO_OK);
        double full = 0;
        for (int i = 0; i < nv; i++) {
            r.c[i] = 0, full += 0.5 * v[i] * r.b[i];
            for (int k = 0; k < nv; k++) r.c[i] += r.A[i * nv + k] * v[k];
        }
        ck_assert_double_le(worst_of(r.b, r.c, nv), 1e-14);
        ck_assert_int_eq(tribo_kinetic_energy(r.d, &e), TRIBO_OK);
        ck_assert_double_eq_tol(e, full, 1e-13 * (1 + full));
        ck_assert_int_eq(tribo_momentum(r.d, h), TRIBO_OK);
        ck_assert_int_eq(tribo_momentum_jacobian(r.d, r.A), TRIBO_OK);
        ck_assert_int_eq(tribo_com_jacobian(r.d, r.B), TRIBO_OK);
        for (int b = 0; b < r.n.nbody; b++) mass += r.p[r.m->body[b].p + TI_P_MASS];
        for (int i = 0; i < 6; i++) {
            double sum = 0, moves = 0;
            for (int k = 0; k < nv; k++) sum += r.A[i * nv + k] * v[k], moves += i < 3 ? r.B[i * nv + k] * v[k] : 0;
            ck_assert_double_eq_tol(sum, h[i], 1e-12 * (1 + fabs(h[i])));
            if (i < 3) ck_assert_double_eq_tol(mass * moves, h[i], 1e-12 * (1 + fabs(h[i])));
        }
        for (int b = 0; b < r.n.nbody; b++) {
            ck_assert_int_eq(tribo_body_velocity(r.d, b, twist), TRIBO_OK);
            ck_assert_int_eq(tribo_body_jacobian(r.d, b, r.A), TRIBO_OK);
            for (int i = 0; i < 6; i++) {
                again[i] = 0;
                for (int k = 0; k < nv; k++) again[i] += r.A[i * nv + k] * v[k];
            }
            ck_assert_double_le(worst_of(again, twist, 6), 1e-13);
        }
    }
    close_robot(&r);
}
END_TEST

/* Part of the weight of some bodies is carried. */
static const char LIFTED[] =
    "<mujoco><worldbody><body gravcomp='1'><joint axis='0 1 0'/><geom size='0.1' pos='1 0 0'/>"
    "<body pos='1 0 0' gravcomp='0.4'><joint axis='1 1 0'/><geom size='0.1' pos='0 1 0'/></body></body>"
    "<body gravcomp='0.7' pos='0 0 3'><freejoint/><geom type='box' size='0.2 .1 .3' pos='.1 0 .2'/>"
    "<body pos='.3 0 0'><joint type='ball'/><geom size='.1' pos='.2 .1 0'/></body></body></worldbody></mujoco>";

/* Dense Jacobians are the reverse, row by row. */
START_TEST(jacobians_are_the_reverse) {
    robot r;
    if (_i < NSCENES) {
        open_scene(&r, SCENES[_i]);
    } else {
        tribo_model *m = NULL;
        ck_assert_int_eq(tribo_model_load_memory(LIFTED, strlen(LIFTED), "lifted", NULL, &m, NULL), TRIBO_OK);
        open_model(&r, m);
    }
    int nv = r.n.nv;
    double *e = world_zeros(4 * nv), *q = e + nv, *v = q + nv, *t = v + nv;
    for (int round = 0; round < 5; round++) {
        random_state(&r), random_numbers(r.a, nv, 5);
        ck_assert_int_eq(tribo_inverse_dynamics_jac(r.d, r.a, r.A, r.B), TRIBO_OK);
        for (int pass = 0; pass < 2; pass++) {
            for (int k = 0; k < nv; k++) {
                memset(e, 0, 4 * (size_t)nv * sizeof *e), e[k] = 1;
                ck_assert_int_eq(pass ? tribo_forward_dynamics_vjp(r.d, r.a, e, q, v, t, NULL)
                                      : tribo_inverse_dynamics_vjp(r.d, r.a, e, q, v, t, NULL),
                                 TRIBO_OK);
                if (!pass) ck_assert_int_eq(tribo_inertia_times(r.d, e, r.C + k * nv), TRIBO_OK);
                ck_assert_double_le(worst_of(r.A + k * nv, q, nv), 1e-11);
                ck_assert_double_le(worst_of(r.B + k * nv, v, nv), 1e-11);
                ck_assert_double_le(worst_of(r.C + k * nv, t, nv), 1e-11);
            }
            ck_assert_int_eq(tribo_forward_dynamics_jac(r.d, r.a, r.A, r.B, r.C), TRIBO_OK);
        }
    }
    free(e);
    close_robot(&r);
}
END_TEST

/* The acceleration of a step of length h. @return whether nothing touches or holds. */
static bool stepped(robot *r, double h, const double *u, double *a) {
    double *next = world_zeros(r->n.nx);
    tribo_options o = tribo_default_options();
    tribo_ws *ws;
    o.dt = h;
    ck_assert_int_eq(tribo_ws_new(r->m, &o, NULL, &ws, NULL), TRIBO_OK);
    ck_assert_int_ge(tribo_step(ws, r->p, r->x, u, next, NULL), 0);
    for (int i = 0; i < r->n.nv; i++) a[i] = (next[r->n.nq + i] - r->x[r->n.nq + i]) / h;
    bool apart = tribo_last_info(ws)->nactive == 0 && r->n.nequality == 0;
    tribo_ws_free(ws);
    free(next);
    return apart;
}

/* Controls, dampers and springs push as the step has them, in the limit of no time. */
START_TEST(forces_are_the_step_s) {
    robot r;
    open_scene(&r, SCENES[_i]);
    double *u = world_zeros(r.n.nu);
    for (int j = 0; j < ti_joints(r.m); j++)
        if (r.m->joint[j].p >= 0) r.p[ti_loss_at(&r.m->joint[j])] = 0;
    ck_assert_int_eq(tribo_dynamics_set_params(r.d, r.p, NULL), TRIBO_OK);
    memcpy(r.x, r.x0, sizeof *r.x * (size_t)r.n.nx);
    for (int i = r.n.nq; i < r.n.nx; i++) r.x[i] += 0.1 * test_random(&seed);
    random_numbers(u, r.n.nu, 1);
    ck_assert_int_eq(tribo_dynamics_set_state(r.d, r.x), TRIBO_OK);
    ck_assert_int_eq(tribo_joint_forces(r.d, u, r.a), TRIBO_OK);
    ck_assert_int_eq(tribo_forward_dynamics(r.d, r.a, r.b), TRIBO_OK);
    bool apart = stepped(&r, 4e-6, u, r.a) && stepped(&r, 2e-6, u, r.c);
    for (int i = 0; i < r.n.nv && apart; i++)
        ck_assert_double_eq_tol(2 * r.c[i] - r.a[i], r.b[i], 1e-3 * (1 + fabs(r.b[i])));
    free(u);
    close_robot(&r);
}
END_TEST

/* ---- what cannot be ---- */

START_TEST(errors_leave_outputs) {
    robot r;
    tribo_dynamics *none = NULL;
    double out[6] = {7, 7, 7, 7, 7, 7};
    open_scene(&r, "quadruped");
    ck_assert_int_eq(tribo_dynamics_new(NULL, NULL, &none), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_com(r.d, out), TRIBO_E_ARG); /* no state yet */
    memcpy(r.x, r.x0, sizeof *r.x * (size_t)r.n.nx);
    r.x[3] = r.x[4] = r.x[5] = r.x[6] = 0;
    ck_assert_int_eq(tribo_dynamics_set_state(r.d, r.x), TRIBO_E_ARG);
    r.x[3] = (double)NAN;
    ck_assert_int_eq(tribo_dynamics_set_state(r.d, r.x), TRIBO_E_NONFINITE);
    ck_assert_int_eq(tribo_dynamics_set_state(r.d, r.x0), TRIBO_OK);
    ck_assert_int_eq(tribo_body_velocity(r.d, r.n.nbody, out), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_site_velocity(r.d, r.n.nsite, out), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_body_velocity(NULL, 0, out), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_momentum(r.d, NULL), TRIBO_E_ARG);
    for (int i = 0; i < 6; i++) ck_assert_double_eq(out[i], 7);
    ck_assert_int_eq(tribo_body_pose(r.d, TRIBO_WORLD, out, NULL), TRIBO_OK);
    ck_assert_double_eq(out[0], 0);
    r.p[r.m->body[0].p + TI_P_MASS] = -1;
    tribo_diag diag = {0};
    ck_assert_int_eq(tribo_dynamics_set_params(r.d, r.p, &diag), TRIBO_E_ARG);
    ck_assert_ptr_nonnull(strstr(diag.text, "mass"));
    tribo_dynamics_free(NULL);
    close_robot(&r);
}
END_TEST

START_TEST(joints_that_move_nothing_are_singular) {
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_body_def d = tribo_default_body();
    tribo_joint_def j = tribo_default_joint();
    tribo_model *m = NULL;
    d.inertia_given = true, d.mass = 1, d.inertia[0] = d.inertia[1] = d.inertia[2] = 0.1;
    int body = tribo_add_body(b, &d);
    tribo_add_joint(b, body, &j), tribo_add_joint(b, body, &j); /* one axis twice */
    ck_assert_int_eq(tribo_build(b, &m, NULL), TRIBO_OK);
    robot r;
    open_model(&r, m);
    double in[2] = {1, 2}, out[2] = {7, 7};
    ck_assert_int_eq(tribo_dynamics_set_state(r.d, r.x0), TRIBO_OK);
    ck_assert_int_eq(tribo_inertia_solve(r.d, in, out), TRIBO_E_SINGULAR);
    ck_assert_int_eq(tribo_forward_dynamics(r.d, in, out), TRIBO_E_SINGULAR);
    ck_assert_int_eq(tribo_forward_dynamics_jac(r.d, in, r.A, r.B, r.C), TRIBO_E_SINGULAR);
    ck_assert_double_eq(out[0], 7);
    ck_assert_int_eq(tribo_inverse_dynamics(r.d, in, out), TRIBO_OK);
    close_robot(&r);
}
END_TEST

START_TEST(nothing_is_allocated) {
    robot r;
    open_scene(&r, "quadruped");
    random_state(&r);
    double *q = r.c, h[6] = {1, 1, 1, 1, 1, 1};
    int before = mallocs;
    for (int round = 0; round < 3; round++) {
        ck_assert_int_eq(tribo_dynamics_set_params(r.d, r.p, NULL), TRIBO_OK);
        ck_assert_int_eq(tribo_dynamics_set_state(r.d, r.x), TRIBO_OK);
        ck_assert_int_eq(tribo_inverse_dynamics(r.d, r.a, r.b), TRIBO_OK);
        ck_assert_int_eq(tribo_forward_dynamics(r.d, r.b, r.a), TRIBO_OK);
        ck_assert_int_eq(tribo_forward_dynamics_vjp(r.d, r.a, r.b, q, NULL, NULL, NULL), TRIBO_OK);
        ck_assert_int_eq(tribo_forward_dynamics_jac(r.d, r.a, r.A, r.B, r.C), TRIBO_OK);
        ck_assert_int_eq(tribo_momentum_vjp(r.d, h, q, NULL, NULL), TRIBO_OK);
        ck_assert_int_eq(tribo_inertia_vjp(r.d, r.A, q, NULL), TRIBO_OK);
    }
    ck_assert_int_eq(mallocs, before);
    close_robot(&r);
}
END_TEST

/* ---- sites ---- */

static const char SITED[] =
    "<mujoco>\n"
    "  <default><default class='turned'><site pos='0.1 0 0' euler='30 0 20'/></default></default>\n"
    "  <worldbody>\n"
    "    <site name='corner' pos='1 2 3' quat='1 1 0 0'/>\n"
    "    <body pos='0 0 1'><site name='on still' pos='0 0.5 0'/></body>\n"
    "    <body name='base' pos='0 0 2'><freejoint/><geom type='box' size='.2 .1 .05'/>\n"
    "      <site name='eye' class='turned'/>\n"
    "      %s<site name='framed' pos='0 0.2 0' axisangle='1 1 0 40'/>%s\n"
    "      <body name='arm' pos='.2 0 0'><joint name='ball' type='ball' pos='.01 .02 .03'/><geom size='.1' pos='0 0 "
    ".2'/>\n"
    "        <body name='bare' pos='0 0 .1' euler='10 20 30'><site name='inside' pos='0.05 0 0'/></body>\n"
    "        <body name='hand' pos='0 0 .3'><joint name='yaw'/><joint name='out' type='slide' axis='1 0 1'/>\n"
    "          <geom size='.05' pos='.1 0 0'/>\n"
    "          <site name='tip' type='capsule' fromto='0 0 0 .1 .2 .3' size='.01'/></body></body></body>\n"
    "  </worldbody>\n"
    "  <actuator><motor site='eye' gear='0 0 1 0.1 -0.2 0.3'/>\n"
    "    <general name='thrust' site='tip' gear='1 2 3 .4 .5 .6' ctrllimited='true' ctrlrange='-1 1' gaintype='affine' "
    "gainprm='2 3 .3'\n"
    "      biastype='affine' biasprm='.1 4 -.5'/></actuator>\n"
    "</mujoco>\n";

static const char SITED_PATH[] = "dynamics_test_sites.xml";

/* With a <frame>, which MuJoCo has not had for long. */
static void write_sited(bool framed) {
    FILE *f = fopen(SITED_PATH, "wb");
    ck_assert_ptr_nonnull(f);
    fprintf(f, SITED, framed ? "<frame pos='0.3 0 0' euler='0 90 0'>" : "", framed ? "</frame>" : "");
    fclose(f);
}

START_TEST(sites_are_read_and_saved) {
    static const char OUT[] = "dynamics_test_sites_saved.xml";
    robot r, back;
    write_sited(true);
    open_file(&r, SITED_PATH);
    ck_assert_int_eq(r.n.nsite, 6);
    ck_assert_str_eq(tribo_model_site_name(r.m, 0), "corner");
    ck_assert_int_eq(tribo_model_site_body(r.m, 0), TRIBO_WORLD);
    ck_assert_int_eq(tribo_model_site_body(r.m, tribo_model_site_find(r.m, "inside")),
                     tribo_model_body_find(r.m, "arm"));
    ck_assert_int_eq(tribo_model_site_find(r.m, "nowhere"), -1);
    tribo_param_info info;
    for (int s = 0; s < r.n.nsite; s++) {
        char name[128];
        snprintf(name, sizeof name, "%s/site_pos/y", tribo_model_site_name(r.m, s));
        int at = tribo_param_find(r.m, name);
        ck_assert_int_eq(tribo_param_describe(r.m, at, &info), TRIBO_OK);
        ck_assert_int_eq(info.site, s);
        ck_assert_str_eq(info.name, name);
        ck_assert_int_eq(info.used, strcmp(name, "eye/site_pos/y") == 0 || strcmp(name, "tip/site_pos/y") == 0);
        r.p[at] += 0.125;
        if (strcmp(tribo_model_site_name(r.m, s), "eye") == 0) continue; /* its class has euler, which overrules quat */
        double *q = r.p + r.m->site[s].p + TI_P_SITE_QUAT, turn[4];
        ti_quat_exp(ti_vec3(0.1, 0.2, -0.3), turn), ti_quat_mul(q, turn, q);
    }
    for (int k = 1; k <= 6; k++) {
        char name[32] = "thrust/gear";
        if (k > 1) snprintf(name, sizeof name, "thrust/gear/%d", k);
        ck_assert_int_ge(tribo_param_find(r.m, name), 0);
        r.p[tribo_param_find(r.m, name)] += 0.5 * k;
    }
    for (int i = 0; i < r.n.np; i++) {
        ck_assert_int_eq(tribo_param_describe(r.m, i, &info), TRIBO_OK);
        ck_assert_int_eq(tribo_param_find(r.m, info.name), i);
    }
    tribo_diag diag = {0};
    ck_assert_msg(tribo_model_save(r.m, r.p, SITED_PATH, OUT, &diag) == TRIBO_OK, "%s", diag.text);
    open_file(&back, OUT);
    for (int i = 0; i < r.n.np; i++) ck_assert_double_eq_tol(back.p[i], r.p[i], 1e-13);
    close_robot(&back), close_robot(&r);
    ck_assert_int_eq(remove(OUT), 0);
    ck_assert_int_eq(remove(SITED_PATH), 0);
}
END_TEST

static void refused(const char *site, const char *why) {
    char text[512];
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    snprintf(text, sizeof text, "<mujoco><worldbody><body><freejoint/><geom size='1'/>%s</body></worldbody></mujoco>",
             site);
    ck_assert_int_lt(tribo_model_load_memory(text, strlen(text), "text", NULL, &m, &diag), 0);
    ck_assert_msg(strstr(diag.text, why) != NULL, "`%s` does not say %s", diag.text, why);
}

START_TEST(sites_that_cannot_be) {
    refused("<site name='a'/><site name='a'/>", "there is one of this name already");
    refused("<site quat='0 0 0 0'/>", "no orientation");
    refused("<site fromto='0 0 0 1 1 1'/>", "a sphere has no ends");
    refused("<site colour='red'/>", "this attribute is not supported");
    refused("<site pos='1 2'/>", "2 numbers, expected 3");
}
END_TEST

/* ---- MuJoCo ---- */

#ifdef HAVE_MUJOCO
typedef struct oracle {
    mjModel *m;
    mjData *d;
    double *J, *M;
    double worst[7]; /* places, Jacobians, M, bias, momentum, energies, forces of joints and actuators */
    int bodies, sites;
} oracle;

/* It weighs meshes in a way of its own, by release: take its numbers where there are any. */
static void share_matter(robot *r, const mjModel *m) {
    static const int AT[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int b = 0; b < r->n.nbody && m->nmesh; b++) {
        double *own = r->p + r->m->body[b].p;
        int at = mj_name2id(m, mjOBJ_BODY, tribo_model_body_name(r->m, b));
        ck_assert_int_ge(at, 0);
        ti_mat R = ti_quat_mat(m->body_iquat + 4 * at);
        own[TI_P_MASS] = m->body_mass[at];
        mju_copy3(own + TI_P_COM, m->body_ipos + 3 * at);
        for (int e = 0; e < 6; e++) {
            own[TI_P_INERTIA + e] = 0;
            for (int k = 0; k < 3; k++)
                own[TI_P_INERTIA + e] += R.m[AT[e][0]][k] * m->body_inertia[3 * at + k] * R.m[AT[e][1]][k];
        }
    }
    ck_assert_int_eq(tribo_dynamics_set_params(r->d, r->p, NULL), TRIBO_OK);
}

/* Pose and Jacobian of a frame in both. */
static void compare_frame(robot *r, oracle *o, int id, bool site) {
    double pos[3], quat[4], *ours = r->A;
    int nv = r->n.nv, at;
    const char *name = site ? tribo_model_site_name(r->m, id) : tribo_model_body_name(r->m, id);
    at = mj_name2id(o->m, site ? mjOBJ_SITE : mjOBJ_BODY, name);
    if (at < 0) return;
    const double *x = site ? o->d->site_xpos + 3 * at : o->d->xpos + 3 * at;
    const double *R = site ? o->d->site_xmat + 9 * at : o->d->xmat + 9 * at;
    ck_assert_int_eq(site ? tribo_site_pose(r->d, id, pos, quat) : tribo_body_pose(r->d, id, pos, quat), TRIBO_OK);
    ck_assert_int_eq(site ? tribo_site_jacobian(r->d, id, ours) : tribo_body_jacobian(r->d, id, ours), TRIBO_OK);
    ti_mat own = ti_quat_mat(quat);
    o->worst[0] = ti_max(o->worst[0], ti_max(worst_of(pos, x, 3), worst_of(&own.m[0][0], R, 9)));
    if (site)
        mj_jacSite(o->m, o->d, o->J, o->J + 3 * nv, at);
    else
        mj_jacBody(o->m, o->d, o->J, o->J + 3 * nv, at);
    o->worst[1] = ti_max(o->worst[1], worst_of(ours, o->J, 6 * nv));
    *(site ? &o->sites : &o->bodies) += 1;
}

static void compare_state(robot *r, oracle *o) {
    int nv = r->n.nv;
    random_state(r);
    mju_copy(o->d->qpos, r->x, r->n.nq), mju_copy(o->d->qvel, r->x + r->n.nq, nv);
    mj_forward(o->m, o->d);
    for (int b = 0; b < r->n.nbody; b++) compare_frame(r, o, b, false);
    for (int s = 0; s < r->n.nsite; s++) compare_frame(r, o, s, true);
    ck_assert_int_eq(tribo_inertia(r->d, r->A), TRIBO_OK);
    mj_fullM(o->m, o->M, o->d->qM);
    o->worst[2] = ti_max(o->worst[2], worst_of(r->A, o->M, nv * nv));
    ck_assert_int_eq(tribo_bias_forces(r->d, r->a), TRIBO_OK);
    o->worst[3] = ti_max(o->worst[3], worst_of(r->a, o->d->qfrc_bias, nv));
    double h[6], theirs[6], e[2], mass = 0;
    mj_subtreeVel(o->m, o->d);
    for (int b = 0; b < r->n.nbody; b++) mass += r->p[r->m->body[b].p + TI_P_MASS];
    for (int i = 0; i < 3; i++)
        theirs[i] = mj_getTotalmass(o->m) * o->d->subtree_linvel[i], theirs[3 + i] = o->d->subtree_angmom[i];
    ck_assert_int_eq(tribo_momentum(r->d, h), TRIBO_OK);
    if (fabs(mass - mj_getTotalmass(o->m)) < 1e-12 * mass) /* none that does not move */
        o->worst[4] = ti_max(o->worst[4], worst_of(h, theirs, 6));
    ck_assert_int_eq(tribo_potential_energy(r->d, e), TRIBO_OK);
    ck_assert_int_eq(tribo_kinetic_energy(r->d, e + 1), TRIBO_OK);
    if (fabs(mass - mj_getTotalmass(o->m)) < 1e-12 * mass)
        o->worst[5] = ti_max(o->worst[5], worst_of(e, o->d->energy, 2));
}

/* Controls, dampers and springs. */
static void compare_forces(robot *r, oracle *o) {
    int nv = r->n.nv;
    double *u = world_zeros(r->n.nu);
    for (int i = 0; i < r->n.nactuator; i++) u[nv + i] = o->d->ctrl[i] = 2 * test_random(&seed);
    mj_forward(o->m, o->d);
    ck_assert_int_eq(tribo_joint_forces(r->d, u, r->a), TRIBO_OK);
    for (int i = 0; i < nv; i++) r->b[i] = o->d->qfrc_passive[i] + o->d->qfrc_actuator[i];
    o->worst[6] = ti_max(o->worst[6], worst_of(r->a, r->b, nv));
    free(u);
}

/* At 100 random states. */
static void compare(const char *path) {
    char error[512] = "";
    robot r;
    oracle o = {.m = mj_loadXML(path, NULL, error, sizeof error)};
    if (!o.m && strstr(error, "'elevation'")) return; /* MuJoCo 2.2 has no heights in its scenes */
    open_file(&r, path);
    ck_assert_msg(o.m != NULL, "%s: %s", path, error);
    o.m->opt.enableflags |= mjENBL_ENERGY;
    o.m->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_LIMIT | mjDSBL_EQUALITY | mjDSBL_FRICTIONLOSS;
    share_matter(&r, o.m);
    o.d = mj_makeData(o.m);
    int nv = r.n.nv;
    o.J = world_zeros((6 + nv) * nv), o.M = o.J + 6 * nv;
    ck_assert_int_eq(o.m->nu, r.n.nactuator);
    for (int k = 0; k < 100; k++) compare_state(&r, &o), compare_forces(&r, &o);
    const char *name = strrchr(path, '/');
    static const char *const KIND[] = {"places", "Jacobians", "M", "bias", "momentum", "energies", "forces"};
    printf("%-20s %4d bodies, %4d sites:", name ? name + 1 : path, o.bodies / 100, o.sites / 100);
    for (int i = 0; i < 7; i++) printf(" %s %.1e", KIND[i], o.worst[i]);
    printf("\n");
    ck_assert_int_gt(o.bodies, 0);
    for (int i = 0; i < 7; i++) ck_assert_msg(o.worst[i] <= 1e-10, "%s: kind %d differs by %g", path, i, o.worst[i]);
    free(o.J), mj_deleteData(o.d), mj_deleteModel(o.m);
    close_robot(&r);
}

START_TEST(mujoco_has_the_same_numbers) {
    const char *scenes = getenv("TRIBO_SCENES");
    char path[4096];
    int compared = 0;
    ck_assert_ptr_nonnull(scenes);
    DIR *folder = opendir(scenes);
    ck_assert_ptr_nonnull(folder);
    for (struct dirent *e; (e = readdir(folder));) {
        size_t n = strlen(e->d_name);
        if (n < 5 || strcmp(e->d_name + n - 4, ".xml") != 0) continue;
        snprintf(path, sizeof path, "%s/%s", scenes, e->d_name);
        compare(path), compared++;
    }
    closedir(folder);
    ck_assert_int_ge(compared, 20);
    write_sited(false);
    compare(SITED_PATH);
    ck_assert_int_eq(remove(SITED_PATH), 0);
}
END_TEST
#endif

static Suite *suite(void) {
    Suite *s = suite_create("dynamics");
    TCase *t = tcase_create("closed forms");
    tcase_add_test(t, pendulum_is_the_closed_form);
    tcase_add_test(t, free_body_is_newton_and_euler);
    suite_add_tcase(s, t);
    t = tcase_create("agreement");
    tcase_add_loop_test(t, functions_agree, 0, NSCENES);
    tcase_add_loop_test(t, jacobians_are_the_reverse, 0, NSCENES + 1);
    tcase_add_loop_test(t, forces_are_the_step_s, 0, NSCENES);
    suite_add_tcase(s, t);
    t = tcase_create("errors");
    tcase_add_test(t, errors_leave_outputs);
    tcase_add_test(t, joints_that_move_nothing_are_singular);
    if (COUNTS_MALLOC) tcase_add_test(t, nothing_is_allocated);
    suite_add_tcase(s, t);
    t = tcase_create("sites");
    tcase_add_test(t, sites_are_read_and_saved);
    tcase_add_test(t, sites_that_cannot_be);
    suite_add_tcase(s, t);
#ifdef HAVE_MUJOCO
    t = tcase_create("mujoco");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, mujoco_has_the_same_numbers);
    suite_add_tcase(s, t);
#endif
    return s;
}
