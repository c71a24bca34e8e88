/* dynamics_ops.h -- rows of the table of test_diff_ops.c: every function of tribo/dynamics.h, on a tree with a free
 * root that is damped, a hinge, a slide, a ball, a body welded on, and a body by itself. */
#ifndef TEST_DYNAMICS_OPS_H
#define TEST_DYNAMICS_OPS_H
#include "diff_ops.h"
#include "dynamics/dynamics.h"
#include "math/vec.h"
#include "model/model.h"
#include <tribo/dynamics.h>
#include <tribo/sim.h>

enum { DYN_NV = 17, DYN_NU = 21, DYN_NX = 37, DYN_P = 60, DYN_IN = 3 * DYN_NV + DYN_P };

static struct {
    tribo_model *m;
    tribo_dynamics *d;
    double p[256], x[DYN_NX], a[DYN_NU], w[DYN_NV]; /* a: accelerations, forces or controls; w: a fixed vector */
    double pos[3], quat[4];
    int index[DYN_P]; /* the parameters that are moved */
} at_dyn;

static double dyn_random(unsigned *seed, double size) {
    return size * op_random(seed);
}

static int dyn_body(tribo_builder *b, int parent, const char *name, unsigned *seed) {
    tribo_body_def d = tribo_default_body();
    double e[4] = {1, dyn_random(seed, 1), dyn_random(seed, 1), dyn_random(seed, 1)};
    d.name = name, d.parent = parent, d.inertia_given = true, d.mass = 1 + dyn_random(seed, 0.5);
    for (int i = 0; i < 3; i++) {
        d.pos[i] = dyn_random(seed, 0.4), d.com[i] = dyn_random(seed, 0.3);
        d.inertia[i] = 0.1 + dyn_random(seed, 0.02), d.inertia[3 + i] = dyn_random(seed, 0.01);
    }
    memcpy(d.quat, e, sizeof e);
    if (parent >= 0 && strcmp(name, "weld") == 0) d.gravcomp = 0.4;
    if (strcmp(name, "root") == 0) d.damping = 0.2, d.armature = 0.1;
    return tribo_add_body(b, &d);
}

static void dyn_joint(tribo_builder *b, int body, const char *name, tribo_joint_kind kind, unsigned *seed) {
    tribo_joint_def j = tribo_default_joint();
    j.name = name, j.kind = kind, j.damping = 0.3, j.armature = 0.05;
    j.stiffness = 2, j.actuatorgravcomp = kind == TRIBO_JOINT_SLIDE;
    if (kind != TRIBO_JOINT_BALL) j.springref = 0.2, j.ref = 0.1;
    for (int i = 0; i < 3; i++) j.axis[i] = dyn_random(seed, 1), j.pos[i] = dyn_random(seed, 0.2);
    tribo_add_joint(b, body, &j);
}

static void dyn_actuators(tribo_builder *b, int site) {
    int joint[2] = {0, 1};
    double coef[2] = {0.7, -0.4};
    for (int i = 0; i < 3; i++) { /* on a hinge; on both; held at a range */
        tribo_actuator_def d = tribo_default_actuator();
        d.njoint = i == 1 ? 2 : 1, d.joint = joint, d.coef = i == 1 ? coef : NULL, d.gear = 1.5;
        d.gain[0] = 2, d.gain[1] = 0.3, d.gain[2] = 0.2, d.bias[0] = 0.1, d.bias[1] = -3, d.bias[2] = -0.5;
        if (i == 2) d.ctrl_limited = true, d.ctrlrange[0] = 5, d.ctrlrange[1] = 6;
        tribo_add_actuator(b, &d);
    }
    tribo_actuator_def d = tribo_default_actuator();
    d.name = "thrust", d.site = site, d.gain[0] = 2, d.gain[2] = 0.3, d.bias[2] = -0.4;
    for (int i = 0; i < 6; i++) d.wrench[i] = 0.5 - 0.3 * i;
    tribo_add_actuator(b, &d);
}

static bool dyn_build(void) {
    unsigned seed = 7;
    tribo_builder *b = tribo_builder_new(NULL);
    int root = dyn_body(b, TRIBO_WORLD, "root", &seed), arm = dyn_body(b, root, "arm", &seed);
    dyn_joint(b, arm, "hinge", TRIBO_JOINT_HINGE, &seed), dyn_joint(b, arm, "slide", TRIBO_JOINT_SLIDE, &seed);
    int weld = dyn_body(b, arm, "weld", &seed), hand = dyn_body(b, weld, "hand", &seed);
    dyn_joint(b, hand, "ball", TRIBO_JOINT_BALL, &seed);
    (void)dyn_body(b, TRIBO_WORLD, "single", &seed);
    tribo_site_def s = tribo_default_site();
    s.name = "tip", s.pos[0] = 0.3, s.pos[1] = -0.2, s.pos[2] = 0.1, s.quat[1] = 0.5, s.quat[3] = -0.3;
    dyn_actuators(b, tribo_add_site(b, hand, &s));
    tribo_set_fluid(b, 3, 2, (double[3]){-12, 9, 15});
    tribo_cap_joint(b, 1, 0.3, 0.3); /* of the slide, which carries a weight */
    if (tribo_build(b, &at_dyn.m, NULL) != TRIBO_OK) return false;
    return tribo_dynamics_new(at_dyn.m, NULL, &at_dyn.d) == TRIBO_OK;
}

/* The numbers of p that names or groups stand for. @return how many */
static int dyn_choose(const char *const *names) {
    int n = 0;
    memset(at_dyn.index, 0, sizeof at_dyn.index);
    for (int i = 0; names[i]; i++) {
        int one = tribo_param_find(at_dyn.m, names[i]);
        n += one >= 0 ? (at_dyn.index[n] = one, 1) : tribo_param_group(at_dyn.m, names[i], at_dyn.index + n, DYN_P - n);
    }
    return n;
}

static bool dyn_draw(unsigned seed) {
    static const char *const NAMES[] = {"gravity",
                                        "root",
                                        "arm",
                                        "hand",
                                        "weld/mass",
                                        "hinge/armature",
                                        "slide/armature",
                                        "ball/armature",
                                        "tip/site_pos/x",
                                        "tip/site_pos/y",
                                        "tip/site_pos/z",
                                        "tip/site_quat/w",
                                        "tip/site_quat/x",
                                        "tip/site_quat/y",
                                        "tip/site_quat/z",
                                        "thrust/gear",
                                        "thrust/gear/2",
                                        "thrust/gear/3",
                                        "thrust/gear/4",
                                        "thrust/gear/5",
                                        "thrust/gear/6",
                                        "hinge/stiffness",
                                        "ball/stiffness",
                                        "slide/springref",
                                        "option",
                                        NULL};
    if (!at_dyn.m && !dyn_build()) return false;
    double dx[2 * DYN_NV], x0[DYN_NX];
    tribo_model_params(at_dyn.m, at_dyn.p), tribo_model_state0(at_dyn.m, x0);
    for (int i = 0; i < 2 * DYN_NV; i++) dx[i] = dyn_random(&seed, i < DYN_NV ? 1 : 3);
    tribo_state_add(at_dyn.m, x0, dx, at_dyn.x);
    for (int i = 0; i < DYN_NU; i++) at_dyn.a[i] = dyn_random(&seed, 5);
    for (int i = 0; i < DYN_NV; i++) at_dyn.w[i] = dyn_random(&seed, 1);
    return dyn_choose(NAMES) == DYN_P;
}

/* dq, dv, da (nv each), dp: the workspace at that point. @return false if it is none */
static bool dyn_at(const double *d, double *a) {
    double p[256], x[DYN_NX];
    memcpy(p, at_dyn.p, sizeof p);
    for (int i = 0; i < DYN_P; i++) p[at_dyn.index[i]] += d[3 * DYN_NV + i];
    for (int i = 0; i < DYN_NU; i++) a[i] = at_dyn.a[i] + (i < DYN_NV ? d[2 * DYN_NV + i] : 0);
    tribo_state_add(at_dyn.m, at_dyn.x, d, x);
    return tribo_dynamics_set_params(at_dyn.d, p, NULL) == TRIBO_OK &&
           tribo_dynamics_set_state(at_dyn.d, x) == TRIBO_OK;
}

typedef struct dyn_bars {
    double a[DYN_NU], p[256];
} dyn_bars;

typedef enum dyn_function {
    DYN_BODY_POSE,
    DYN_SITE_POSE,
    DYN_BODY_VELOCITY,
    DYN_SITE_VELOCITY,
    DYN_BODY_JACOBIAN,
    DYN_SITE_JACOBIAN,
    DYN_COM,
    DYN_COM_JACOBIAN,
    DYN_INERTIA,
    DYN_TIMES,
    DYN_SOLVE,
    DYN_BIAS,
    DYN_INVERSE,
    DYN_FORWARD,
    DYN_JOINT_FORCES,
    DYN_MOMENTUM,
    DYN_KINETIC,
    DYN_POTENTIAL
} dyn_function;

enum { DYN_HAND = 3, DYN_TIP = 0 };

static void dyn_product(const double *J, int rows, double *out) {
    for (int r = 0; r < rows; r++) {
        out[r] = 0;
        for (int k = 0; k < DYN_NV; k++) out[r] += J[r * DYN_NV + k] * at_dyn.w[k];
    }
}

static void dyn_pose(bool site, double *out) {
    double pos[3], quat[4], back[4], r[4];
    tribo_status s =
        site ? tribo_site_pose(at_dyn.d, DYN_TIP, pos, quat) : tribo_body_pose(at_dyn.d, DYN_HAND, pos, quat);
    ck_assert_int_eq(s, TRIBO_OK);
    for (int i = 0; i < 4; i++) back[i] = i ? -at_dyn.quat[i] : at_dyn.quat[0];
    ti_quat_mul(back, quat, r);
    ti_store3(out, ti_sub(ti_load3(pos), ti_load3(at_dyn.pos))), ti_store3(out + 3, ti_quat_log(r));
}

static tribo_status dyn_value_of(dyn_function f, const double *a, double *out) {
    tribo_dynamics *d = at_dyn.d;
    double J[DYN_NV * DYN_NV];
    tribo_status s = TRIBO_OK;
    switch (f) {
    case DYN_BODY_POSE:
    case DYN_SITE_POSE:
        dyn_pose(f == DYN_SITE_POSE, out);
        break;
    case DYN_BODY_VELOCITY:
        return tribo_body_velocity(d, DYN_HAND, out);
    case DYN_SITE_VELOCITY:
        return tribo_site_velocity(d, DYN_TIP, out);
    case DYN_BODY_JACOBIAN:
        s = tribo_body_jacobian(d, DYN_HAND, J), dyn_product(J, 6, out);
        break;
    case DYN_SITE_JACOBIAN:
        s = tribo_site_jacobian(d, DYN_TIP, J), dyn_product(J, 6, out);
        break;
    case DYN_COM:
        return tribo_com(d, out);
    case DYN_COM_JACOBIAN:
        s = tribo_com_jacobian(d, J), dyn_product(J, 3, out);
        break;
    case DYN_INERTIA:
        s = tribo_inertia(d, J), dyn_product(J, DYN_NV, out);
        break;
    case DYN_TIMES:
        return tribo_inertia_times(d, a, out);
    case DYN_SOLVE:
        return tribo_inertia_solve(d, a, out);
    case DYN_BIAS:
        return tribo_bias_forces(d, out);
    case DYN_INVERSE:
        return tribo_inverse_dynamics(d, a, out);
    case DYN_FORWARD:
        return tribo_forward_dynamics(d, a, out);
    case DYN_JOINT_FORCES:
        return tribo_joint_forces(d, a, out);
    case DYN_MOMENTUM:
        return tribo_momentum(d, out);
    case DYN_KINETIC:
        return tribo_kinetic_energy(d, out);
    case DYN_POTENTIAL:
        return tribo_potential_energy(d, out);
    }
    return s;
}

static tribo_status dyn_vjp_of(dyn_function f, const double *a, const double *y, double *q, double *v, dyn_bars *to) {
    tribo_dynamics *d = at_dyn.d;
    double J[DYN_NV * DYN_NV], out[DYN_NV];
    for (int r = 0; r < DYN_NV; r++)
        for (int k = 0; k < DYN_NV; k++)
            J[r * DYN_NV + k] = y[r] * at_dyn.w[k]; /* rows that an output has not are not looked at */
    switch (f) {
    case DYN_BODY_POSE:
        return tribo_body_pose_vjp(d, DYN_HAND, y, y + 3, q, to->p);
    case DYN_SITE_POSE:
        return tribo_site_pose_vjp(d, DYN_TIP, y, y + 3, q, to->p);
    case DYN_BODY_VELOCITY:
        return tribo_body_velocity_vjp(d, DYN_HAND, y, q, v, to->p);
    case DYN_SITE_VELOCITY:
        return tribo_site_velocity_vjp(d, DYN_TIP, y, q, v, to->p);
    case DYN_BODY_JACOBIAN:
        return tribo_body_jacobian_vjp(d, DYN_HAND, J, q, to->p);
    case DYN_SITE_JACOBIAN:
        return tribo_site_jacobian_vjp(d, DYN_TIP, J, q, to->p);
    case DYN_COM:
        return tribo_com_vjp(d, y, q, to->p);
    case DYN_COM_JACOBIAN:
        return tribo_com_jacobian_vjp(d, J, q, to->p);
    case DYN_INERTIA:
        return tribo_inertia_vjp(d, J, q, to->p);
    case DYN_TIMES:
        return tribo_inertia_times_vjp(d, a, y, to->a, q, to->p);
    case DYN_SOLVE:
        return tribo_inertia_solve(d, a, out) ? TRIBO_E_SINGULAR : tribo_inertia_solve_vjp(d, out, y, to->a, q, to->p);
    case DYN_BIAS:
        return tribo_bias_forces_vjp(d, y, q, v, to->p);
    case DYN_INVERSE:
        return tribo_inverse_dynamics_vjp(d, a, y, q, v, to->a, to->p);
    case DYN_FORWARD:
        return tribo_forward_dynamics(d, a, out) ? TRIBO_E_SINGULAR
                                                 : tribo_forward_dynamics_vjp(d, out, y, q, v, to->a, to->p);
    case DYN_JOINT_FORCES:
        return tribo_joint_forces_vjp(d, a, y, q, v, to->a, to->p);
    case DYN_MOMENTUM:
        return tribo_momentum_vjp(d, y, q, v, to->p);
    case DYN_KINETIC:
        return tribo_kinetic_energy_vjp(d, *y, q, v, to->p);
    case DYN_POTENTIAL:
        return tribo_potential_energy_vjp(d, *y, q, to->p);
    }
    return TRIBO_E_ARG;
}

static int dyn_outputs(dyn_function f) {
    static const int OUT[] = {6, 6, 6, 6, 6, 6, 3, 3, DYN_NV, DYN_NV, DYN_NV, DYN_NV, DYN_NV, DYN_NV, DYN_NV, 6, 1, 1};
    return OUT[f];
}

static bool dyn_draw_pose(unsigned seed, bool site) {
    double a[DYN_NU], zero[DYN_IN] = {0};
    if (!dyn_draw(seed) || !dyn_at(zero, a)) return false;
    return (site ? tribo_site_pose(at_dyn.d, DYN_TIP, at_dyn.pos, at_dyn.quat)
                 : tribo_body_pose(at_dyn.d, DYN_HAND, at_dyn.pos, at_dyn.quat)) == TRIBO_OK;
}

/* Which way each body moves through the fluid and turns in it, along the axes of its box: what is in proportion to
 * squares has another second derivative where that changes. */
static unsigned long dyn_ways(void) {
    unsigned long ways = 0;
    for (int b = 0; b < at_dyn.m->size.nbody; b++) {
        const ti_link *l = &at_dyn.d->at.link[b];
        ti_vec u = ti_tmul(&at_dyn.m->box[b], ti_tmul(&l->R, ti_sub(l->v, at_dyn.d->at.fluid.wind)));
        ti_vec w = ti_tmul(&at_dyn.m->box[b], l->w);
        for (int k = 0; k < 3; k++) ways = 4 * ways + 2 * (ti_get(u, k) > 0) + (ti_get(w, k) > 0);
    }
    return ways;
}

static int dyn_value(dyn_function f, const double *d, double *out) {
    double a[DYN_NU], zero[DYN_IN] = {0};
    unsigned long ways = 0;
    if (f == DYN_JOINT_FORCES && dyn_at(zero, a) && dyn_value_of(f, a, out) == TRIBO_OK) ways = dyn_ways();
    if (!dyn_at(d, a) || dyn_value_of(f, a, out) != TRIBO_OK) return -1;
    return f == DYN_JOINT_FORCES && ways != dyn_ways() ? -1 : 0;
}

static void dyn_vjp(dyn_function f, const double *bar, double *d) {
    double a[DYN_NU], zero[DYN_IN] = {0}, y[DYN_NV] = {0};
    dyn_bars to = {{0}, {0}};
    memset(d, 0, DYN_IN * sizeof *d);
    memcpy(y, bar, sizeof *y * (size_t)dyn_outputs(f));
    ck_assert(dyn_at(zero, a));
    ck_assert_int_eq(dyn_vjp_of(f, a, y, d, d + DYN_NV, &to), TRIBO_OK);
    for (int i = 0; i < DYN_NV; i++) d[2 * DYN_NV + i] = to.a[i];
    for (int i = 0; i < DYN_P; i++) d[3 * DYN_NV + i] = to.p[at_dyn.index[i]];
}

#define DYN_OP(f, name, drawn)                                                                                         \
    static bool draw_##name(unsigned seed) {                                                                           \
        return drawn;                                                                                                  \
    }                                                                                                                  \
    static int value_##name(const double *d, double *out) {                                                            \
        return dyn_value(f, d, out);                                                                                   \
    }                                                                                                                  \
    static void vjp_##name(const double *bar, double *d) {                                                             \
        dyn_vjp(f, bar, d);                                                                                            \
    }
DYN_OP(DYN_BODY_POSE, body_pose, dyn_draw_pose(seed, false))
DYN_OP(DYN_SITE_POSE, site_pose, dyn_draw_pose(seed, true))
DYN_OP(DYN_BODY_VELOCITY, body_velocity, dyn_draw(seed))
DYN_OP(DYN_SITE_VELOCITY, site_velocity, dyn_draw(seed))
DYN_OP(DYN_BODY_JACOBIAN, body_jacobian, dyn_draw(seed))
DYN_OP(DYN_SITE_JACOBIAN, site_jacobian, dyn_draw(seed))
DYN_OP(DYN_COM, com, dyn_draw(seed))
DYN_OP(DYN_COM_JACOBIAN, com_jacobian, dyn_draw(seed))
DYN_OP(DYN_INERTIA, inertia, dyn_draw(seed))
DYN_OP(DYN_TIMES, inertia_times, dyn_draw(seed))
DYN_OP(DYN_SOLVE, inertia_solve, dyn_draw(seed))
DYN_OP(DYN_BIAS, bias_forces, dyn_draw(seed))
DYN_OP(DYN_INVERSE, inverse_dynamics, dyn_draw(seed))
DYN_OP(DYN_FORWARD, forward_dynamics, dyn_draw(seed))
DYN_OP(DYN_JOINT_FORCES, joint_forces, dyn_draw(seed))
DYN_OP(DYN_MOMENTUM, momentum, dyn_draw(seed))
DYN_OP(DYN_KINETIC, kinetic_energy, dyn_draw(seed))
DYN_OP(DYN_POTENTIAL, potential_energy, dyn_draw(seed))
#undef DYN_OP

#define DYN_ROW(name, nout, tol)                                                                                       \
    { #name, DYN_IN, nout, 1, 1e-3, tol, draw_##name, value_##name, NULL, vjp_##name }
#define DYN_ROWS                                                                                                       \
    DYN_ROW(body_pose, 6, 1e-9), DYN_ROW(site_pose, 6, 1e-9), DYN_ROW(body_velocity, 6, 1e-9),                         \
        DYN_ROW(site_velocity, 6, 1e-9), DYN_ROW(body_jacobian, 6, 1e-9), DYN_ROW(site_jacobian, 6, 1e-9),             \
        DYN_ROW(com, 3, 1e-9), DYN_ROW(com_jacobian, 3, 1e-9), DYN_ROW(inertia, DYN_NV, 1e-9),                         \
        DYN_ROW(inertia_times, DYN_NV, 1e-9), DYN_ROW(inertia_solve, DYN_NV, 1e-9),                                    \
        DYN_ROW(bias_forces, DYN_NV, 1e-9), DYN_ROW(inverse_dynamics, DYN_NV, 1e-9),                                   \
        DYN_ROW(forward_dynamics, DYN_NV, 1e-9), DYN_ROW(joint_forces, DYN_NV, 1e-9), DYN_ROW(momentum, 6, 1e-9),      \
        DYN_ROW(kinetic_energy, 1, 1e-9), DYN_ROW(potential_energy, 1, 1e-9)

static void dyn_release(void) {
    tribo_dynamics_free(at_dyn.d), tribo_model_free(at_dyn.m);
    at_dyn.d = NULL, at_dyn.m = NULL;
}

#endif
