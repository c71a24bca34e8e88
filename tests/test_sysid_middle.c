/* test_sysid_middle.c -- steps of a fit whose forces of joints are those of their middle: of second order, friction
 * that turns round too, and derivatives of that. */
#include "sysid/track/fit.h"
#include "test_main.h"
#include <stdio.h>
#include <string.h>
#include <tribo/tribo.h>

enum { ROWS = 26, FREE = 5 };
static const double spacing = 0.02, mass = 1.1;
static const char *const name[FREE] = {"cart/mass", "rail/damping", "rail/armature", "rail/stiffness",
                                       "rail/frictionloss"};

/* A cart on a rail, and what pushes it from row to row. */
typedef struct cart {
    double damping, stiffness, friction, push, q, v;
} cart;

typedef struct fitted {
    tribo_model *m;
    tribo_sysid *s;
    double time[ROWS], x[2 * ROWS], u[ROWS], exact[ROWS];
} fitted;

static double acceleration(const cart *c, double u, double q, double v) {
    double slip = v > 0 ? c->friction : v < 0 ? -c->friction : 0;
    return (u - c->damping * v - c->stiffness * q - slip) / mass;
}

/* By steps so short that their order does not matter. The push is more than friction holds, always. */
static void truth(const cart *c, fitted *f) {
    enum { PARTS = 20000 };
    double q = c->q, v = c->v, h = spacing / PARTS;
    for (int k = 0; k < ROWS; k++) {
        f->time[k] = k * spacing, f->exact[k] = f->x[2 * k] = q, f->x[2 * k + 1] = (double)NAN;
        f->u[k] = (k / 4 % 2 ? -1 : 1) * c->push * (1 + 0.3 * sin(k));
        for (int i = 0; i < PARTS; i++) {
            double middle = v + h / 2 * acceleration(c, f->u[k], q, v);
            double at = q + h / 2 * v;
            q += h * middle, v += h * acceleration(c, f->u[k], at, middle);
        }
    }
}

static void begin(const cart *c, double dt, fitted *f) {
    char xml[1024];
    tribo_free_param wanted[FREE];
    tribo_sysid_def def = tribo_default_sysid();
    tribo_options o = tribo_default_options();
    snprintf(xml, sizeof xml,
             "<mujoco><worldbody><body name='cart'><joint name='rail' type='slide' axis='1 0 0' damping='%g' "
             "armature='0.1' stiffness='%g' frictionloss='%g'/><geom type='sphere' size='0.1' mass='1' contype='0' "
             "conaffinity='0'/></body></worldbody></mujoco>",
             c->damping, c->stiffness, c->friction);
    truth(c, f);
    ck_assert_int_eq(tribo_model_load_memory(xml, strlen(xml), "cart", NULL, &f->m, NULL), TRIBO_OK);
    tribo_recording rec = {.n = ROWS, .time = f->time, .x = f->x, .u = f->u};
    o.dt = dt;
    def.options = &o, def.rec = &rec, def.nrec = 1, def.loss = TRIBO_LOSS_SHOOTING, def.start = TRIBO_START_AUTO;
    def.free = wanted, def.nfree = c->friction > 0 ? FREE : FREE - 1;
    for (int i = 0; i < def.nfree; i++)
        wanted[i] = tribo_default_free(), wanted[i].index = tribo_param_find(f->m, name[i]);
    ck_assert_int_eq(tribo_sysid_new(f->m, &def, &f->s, NULL), TRIBO_OK);
}

static void end(fitted *f) {
    tribo_sysid_free(f->s);
    tribo_model_free(f->m);
}

/* A step's velocity is that half a step before. */
static void start(const cart *c, const fitted *f, double dt, double *x) {
    x[0] = c->q, x[1] = c->v - dt / 2 * acceleration(c, f->u[0], c->q, c->v);
}

/* The largest error of a row; and that of the library's own steps. */
static double errors(const cart *c, double dt, double *own) {
    fitted f;
    begin(c, dt, &f);
    ti_worker *w = f.s->worker;
    double most = *own = 0, x[2] = {c->q, c->v};
    tribo_options o = tribo_default_options();
    tribo_ws *ws = NULL;
    o.dt = dt;
    ck_assert_int_eq(tribo_ws_new(f.m, &o, NULL, &ws, NULL), TRIBO_OK);
    tribo_sysid_params(f.s, f.s->theta, f.s->p);
    start(c, &f, dt, w->x);
    for (int k = 0; k + 1 < ROWS; k++) {
        ck_assert_int_ge(ti_advance(w, f.s->track, k, f.s->p), 0);
        for (int i = 0; i < (int)(spacing / dt + 0.5); i++)
            ck_assert_int_ge(tribo_step(ws, f.s->p, x, f.u + k, x, NULL), 0);
        most = fmax(most, fabs(w->x[0] - f.exact[k + 1])), *own = fmax(*own, fabs(x[0] - f.exact[k + 1]));
    }
    tribo_ws_free(ws), end(&f);
    return most;
}

START_TEST(damping_springs_and_controls_are_of_second_order) {
    const cart c = {.damping = 3, .stiffness = 20, .push = 6, .q = 0.1, .v = -0.4};
    double own, unused, coarse = errors(&c, 0.01, &own), fine = errors(&c, 0.005, &unused);
    ck_assert_double_lt(coarse, own / 20);
    ck_assert_double_lt(fine, coarse / 3.8);
}
END_TEST

START_TEST(friction_turns_round_within_a_step) {
    const cart c = {.friction = 4, .push = 9, .q = 0.1, .v = 0.437};
    double own, unused, coarse = errors(&c, 0.01, &unused), fine = errors(&c, 0.0025, &own);
    ck_assert_double_lt(coarse, own / 1000); /* forces that do not change otherwise: the truth's own error */
    ck_assert_double_lt(fine, own / 1000);
}
END_TEST

/* What theta does to the last row, by tangents and by differences. */
START_TEST(tangents_follow_the_steps_that_are_made) {
    static const cart cases[] = {{3, 20, 0, 6, 0.1, -0.4}, {0.5, 3, 4, 12, 0.1, 0.437}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fitted f;
        begin(&cases[i], 0.01, &f);
        ti_worker *w = f.s->worker;
        size_t n = (size_t)f.s->nfree, np = (size_t)f.s->z.np;
        double P[FREE * 64], theta[FREE], tangent[2 * FREE];
        ck_assert_uint_le(np, 64);
        tribo_sysid_theta(f.s, theta);
        tribo_sysid_params(f.s, theta, f.s->p), tribo_sysid_map_jac(f.s, theta, P);
        memcpy(w->pd + 2 * np, P, n * np * sizeof *P);
        for (int by_rows = 0; by_rows < 2; by_rows++) {
            f.s->by_forces = !by_rows;
            start(&cases[i], &f, 0.01, w->x);
            memset(w->xd, 0, 2 * n * sizeof *w->xd);
            for (int k = 0; k + 1 < ROWS; k++)
                ck_assert_int_ge(ti_advance_jvp(w, f.s->track, k, f.s->p, (int)n, w->pd + 2 * np), 0);
            memcpy(tangent, w->xd, 2 * n * sizeof *tangent);
            for (size_t a = 0; a < n; a++) {
                const double e = 1e-6;
                double ends[2][2];
                for (int side = 0; side < 2; side++) {
                    double moved[FREE];
                    memcpy(moved, theta, n * sizeof *moved), moved[a] += side ? e : -e;
                    tribo_sysid_params(f.s, moved, f.s->p);
                    start(&cases[i], &f, 0.01, w->x);
                    for (int k = 0; k + 1 < ROWS; k++) ck_assert_int_ge(ti_advance(w, f.s->track, k, f.s->p), 0);
                    memcpy(ends[side], w->x, sizeof ends[side]);
                }
                for (int d = 0; d < 2; d++) {
                    double slope = (ends[1][d] - ends[0][d]) / (2 * e);
                    ck_assert_double_eq_tol(tangent[2 * a + (size_t)d], slope, 1e-6 * (0.01 + fabs(slope)));
                }
            }
            tribo_sysid_params(f.s, theta, f.s->p);
        }
        end(&f);
    }
}
END_TEST

/* Asked with a gradient or without, a loss is of the same steps, and the gradient of that loss. */
static void same_steps(tribo_sysid *s, const double *theta, double *grad) {
    double value, with, normal, forward[FREE], H[FREE * FREE];
    ck_assert_int_eq(tribo_sysid_eval(s, theta, &value, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_sysid_eval(s, theta, &with, grad), TRIBO_OK);
    ck_assert_int_eq(tribo_sysid_normal(s, theta, &normal, forward, H), TRIBO_OK);
    ck_assert_double_eq(value, with);
    ck_assert_double_eq(value, normal);
    for (int i = 0; i < tribo_sysid_nfree(s); i++) ck_assert_double_eq(forward[i], grad[i]);
}

START_TEST(a_gradient_is_that_of_its_value) {
    static const cart cases[] = {{3, 20, 0, 6, 0.1, -0.4}, {0.5, 3, 4, 12, 0.1, 0.437}}; /* the second turns round */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fitted f;
        begin(&cases[i], 0.01, &f);
        double theta[FREE], grad[FREE], size = 0;
        tribo_sysid_theta(f.s, theta);
        for (int a = 0; a < f.s->nfree; a++) theta[a] += 0.02 * (a + 1);
        same_steps(f.s, theta, grad);
        for (int a = 0; a < f.s->nfree; a++) size = fmax(size, fabs(grad[a]));
        ck_assert_double_gt(size, 0);
        for (int a = 0; a < f.s->nfree; a++) {
            const double e = 1e-5;
            double ends[2], moved[FREE];
            for (int side = 0; side < 2; side++) {
                memcpy(moved, theta, sizeof moved), moved[a] += side ? e : -e;
                ck_assert_int_eq(tribo_sysid_eval(f.s, moved, &ends[side], NULL), TRIBO_OK);
            }
            ck_assert_double_eq_tol(grad[a], (ends[1] - ends[0]) / (2 * e), 1e-5 * size);
        }
        end(&f);
    }
}
END_TEST

/* Up a slope, to a stop, and down again by less: where it is after t. arg: friction over weight, pull along the slope,
 * velocity at first. */
static double up_and_down(const double *arg, double t) {
    const double normal = 9.3, up = arg[1] + normal * arg[0], down = arg[1] - normal * arg[0], stop = -arg[2] / up;
    double rest = fmax(t - stop, 0), first = fmin(t, stop);
    return arg[2] * first + up * first * first / 2 + down * rest * rest / 2;
}

/* A block on a floor, and one on a rail with dry friction, which is m mu times the same normal force. */
static const char *const slopes[2] = {
    "<mujoco><option gravity='2.9 0 -9.3'/><worldbody><geom name='floor' type='plane' size='0 0 1' priority='1' "
    "friction='0.2'/><body name='block' pos='0 0 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1' mass='1'/></body>"
    "</worldbody></mujoco>",
    "<mujoco><option gravity='2.9 0 -9.3'/><worldbody><body name='block'><joint name='rail' type='slide' axis='1 0 0' "
    "frictionloss='1.86'/><geom type='sphere' size='0.1' mass='1' contype='0' conaffinity='0'/></body></worldbody>"
    "</mujoco>"};

/* It may turn anywhere in a step, which then forgets what it came with or keeps it, where a share is left. */
START_TEST(a_share_is_left_of_what_turns_round) {
    enum { LAST = 60 };
    for (int rail = 0; rail < 2; rail++)
        for (double v = -1.2; v < -1.1; v += 0.0071) {
            tribo_model *m;
            tribo_sysid *s;
            double time[LAST + 1], x[13 * (LAST + 1)], friction = rail ? 9.3 : 1;
            ck_assert_int_eq(tribo_model_load_memory(slopes[rail], strlen(slopes[rail]), "slope", NULL, &m, NULL), 0);
            tribo_sizes z = tribo_model_sizes(m);
            size_t nx = (size_t)z.nx, ndx = (size_t)z.ndx, np = (size_t)z.np, nd = ndx + 2;
            const double arg[3] = {0.2, 2.9, v};
            for (int k = 0; k <= LAST; k++) {
                time[k] = 0.01 * k;
                tribo_model_state0(m, x + (size_t)k * nx);
                x[(size_t)k * nx] = up_and_down(arg, time[k]);
            }
            tribo_recording rec = {.n = LAST + 1, .time = time, .x = x};
            tribo_free_param wanted[2] = {tribo_default_free(), tribo_default_free()};
            wanted[0].index = tribo_param_find(m, rail ? "rail/frictionloss" : "floor/friction");
            wanted[1].index = tribo_param_find(m, "gravity/x");
            tribo_sysid_def def = tribo_default_sysid();
            tribo_options o = tribo_default_options();
            o.dt = 0.001;
            def.options = &o, def.rec = &rec, def.nrec = 1, def.loss = TRIBO_LOSS_SHOOTING, def.free = wanted;
            def.nfree = 2, def.start = TRIBO_START_AUTO;
            ck_assert_int_eq(tribo_sysid_new(m, &def, &s, NULL), TRIBO_OK);
            ti_worker *w = s->worker;
            double theta[2], *P = w->pd + ndx * np;
            tribo_sysid_theta(s, theta), tribo_sysid_params(s, theta, s->p), tribo_sysid_map_jac(s, theta, P);
            memcpy(w->x, x, nx * sizeof *x);
            w->x[z.nq] = v - 0.0005 * (2.9 + 1.86); /* that of the middle of the step before */
            memset(w->xd, 0, nd * ndx * sizeof *w->xd);
            for (size_t i = 0; i < ndx; i++) w->xd[(2 + i) * ndx + i] = 1;
            for (size_t a = 0; a < 2; a++) { /* which that velocity is of, too */
                double force = a || rail ? 1 : 9.3;
                w->xd[a * ndx + (size_t)z.nv] = -0.0005 * force * P[a * np + (size_t)wanted[a].index];
            }
            for (int k = 0; k < LAST; k++) ck_assert_int_ge(ti_advance_jvp(w, s->track, k, s->p, (int)nd, P), 0);
            ck_assert_double_eq_tol(w->x[0], up_and_down(arg, 0.6), 2e-6);
            for (int a = 0; a < 3; a++) {
                double ends[2][3], unit = a < 2 ? P[(size_t)a * np + (size_t)wanted[a].index] : 1;
                for (int side = 0; side < 2; side++)
                    memcpy(ends[side], arg, sizeof arg), ends[side][a] += (side ? 1 : -1) * 1e-6;
                double slope = (up_and_down(ends[1], 0.6) - up_and_down(ends[0], 0.6)) / 2e-6 / (a ? 1 : friction);
                double ours = w->xd[(a < 2 ? (size_t)a : 2 + (size_t)z.nv) * ndx] / unit;
                ck_assert_msg(fabs(ours - slope) < 3e-3 * fabs(slope), "rail %d, %g m/s, %d: %g, not %g", rail, v, a,
                              ours, slope);
            }
            tribo_sysid_free(s), tribo_model_free(m);
        }
}
END_TEST

/* ---- impacts ---- */

enum { BOUNCES = 97 };

/* A ball that slips where it bounces, three times, and turns. */
static void follow_ball(double restitution, double height, double gravity, tribo_model *m, tribo_sysid *s, double *x,
                        double *by_gravity) {
    ti_worker *w = s->worker;
    size_t ndx = (size_t)s->z.ndx, np = (size_t)s->z.np, nx = (size_t)s->z.nx;
    double theta[2], *P = w->pd + ndx * np, state[13] = {0, 0, height, 1, 0, 0, 0, 1, 0.3, 0, 3, -10, 5};
    tribo_sysid_theta(s, theta);
    tribo_sysid_params(s, theta, s->p), tribo_sysid_map_jac(s, theta, P);
    s->p[tribo_param_find(m, "floor/restitution")] = restitution, s->p[2] = gravity;
    memcpy(w->x, state, nx * sizeof *x), memset(w->xd, 0, 2 * ndx * sizeof *w->xd);
    for (int k = 0; k + 1 < BOUNCES; k++)
        ck_assert_int_ge(ti_advance_jvp(w, s->track, k, s->p, 2, w->pd + ndx * np), 0);
    memcpy(x, w->x, nx * sizeof *x);
    for (size_t i = 0; i < ndx; i++) by_gravity[i] = w->xd[ndx + i] / P[np + 2];
}

/* Wherever in a step the ball is hit: its lever is its radius, so that I w = R m dv across, and what gravity does to
 * its turn is what it does over far more than what is between two steps. */
START_TEST(an_impact_is_where_it_happens) {
    static const char scene[] =
        "<mujoco><option timestep='0.002'/><custom><numeric name='floor/restitution' data='0.7'/>"
        "</custom><worldbody><geom name='floor' type='plane' size='0 0 1' priority='1' "
        "friction='0.05'/><body name='ball' pos='0 0 1'><freejoint/><geom name='ball' "
        "type='sphere' size='0.1' mass='1'/></body></worldbody></mujoco>";
    tribo_model *m;
    tribo_sysid *s;
    double time[BOUNCES], rows[13 * BOUNCES], x[13], ends[2][13], by[12], unused[12];
    ck_assert_int_eq(tribo_model_load_memory(scene, strlen(scene), "ball", NULL, &m, NULL), TRIBO_OK);
    for (int k = 0; k < BOUNCES; k++) {
        time[k] = k / 80., tribo_model_state0(m, rows + 13 * k);
        rows[13 * k] = 0.01 * k;
    }
    tribo_recording rec = {.n = BOUNCES, .time = time, .x = rows};
    tribo_free_param wanted[2] = {tribo_default_free(), tribo_default_free()};
    wanted[0].index = tribo_param_find(m, "floor/restitution"), wanted[1].index = tribo_param_find(m, "gravity/z");
    tribo_sysid_def def = tribo_default_sysid();
    def.rec = &rec, def.nrec = 1, def.loss = TRIBO_LOSS_SHOOTING, def.free = wanted, def.nfree = 2;
    def.start = TRIBO_START_AUTO;
    ck_assert_int_eq(tribo_sysid_new(m, &def, &s, NULL), TRIBO_OK);
    for (double height = 1; height < 1.002; height += 0.00011) {
        follow_ball(0.7, height, -9.81, m, s, x, by);
        /* about y, in the world */
        double q[4] = {x[3], x[4], x[5], x[6]};
        ti_mat R = ti_quat_mat(q);
        double turned = ti_mul(&R, ti_load3(x + 10)).y + 10;
        ck_assert_double_eq_tol(0.4 * 0.1 * turned, 1 - x[7], 1e-5); /* turns of .02 a step, to second order */
        const double e = 0.02;
        for (int side = 0; side < 2; side++)
            follow_ball(0.7, height, side ? -9.81 + e : -9.81 - e, m, s, ends[side], unused);
        double moved[12];
        tribo_state_difference(m, ends[0], ends[1], moved);
        for (int i = 0; i < 12; i++) {
            double slope = moved[i] / (2 * e);
            ck_assert_msg(fabs(by[i] - slope) < 2e-2 * fabs(slope) + 2e-3, "%g m, %d: %g, not %g", height, i, by[i],
                          slope);
        }
    }
    tribo_sysid_free(s), tribo_model_free(m);
}
END_TEST

/* A block that slides a way d into one that rests on the same floor, both still sliding at t: where the second is. */
static double pushed(double d, double v, double t) {
    const double brake = 0.2 * 9.81, e = 0.5, speed = sqrt(v * v - 2 * brake * d), after = t - (v - speed) / brake;
    return (1 + e) / 2 * speed * after - brake * after * after / 2;
}

/* Wherever in a step it is hit, friction brakes what rested from there on. */
START_TEST(friction_brakes_from_the_impact_on) {
    enum { LAST = 30, NX = 26, NDX = 24, V = 12 };
    static const char scene[] =
        "<mujoco><option timestep='0.001'/><custom><numeric name='hit/restitution' data='0.5'/></custom><worldbody>"
        "<geom name='floor' type='plane' size='0 0 1' priority='1' friction='0.2'/><body name='a' pos='0 0 0.1'>"
        "<freejoint/><geom name='a' type='box' size='0.1 0.1 0.1' mass='1'/></body><body name='b' pos='0.4 0 0.1'>"
        "<freejoint/><geom name='b' type='box' size='0.1 0.1 0.1' mass='1'/></body></worldbody><contact><pair "
        "name='hit' geom1='a' geom2='b' friction='0 0 0.005 0.0001 0.0001'/></contact></mujoco>";
    tribo_model *m;
    double time[LAST + 1], rows[NX * (LAST + 1)];
    ck_assert_int_eq(tribo_model_load_memory(scene, strlen(scene), "blocks", NULL, &m, NULL), TRIBO_OK);
    for (int k = 0; k <= LAST; k++) time[k] = 0.01 * k, tribo_model_state0(m, rows + NX * k), rows[NX * k] = 0.001 * k;
    tribo_recording rec = {.n = LAST + 1, .time = time, .x = rows};
    tribo_free_param wanted = tribo_default_free();
    wanted.index = tribo_param_find(m, "hit/restitution");
    tribo_sysid_def def = tribo_default_sysid();
    tribo_sysid *s;
    def.rec = &rec, def.nrec = 1, def.loss = TRIBO_LOSS_SHOOTING, def.free = &wanted, def.nfree = 1;
    def.start = TRIBO_START_AUTO;
    rows[14] = 2; /* one hits the other in what the fit simulates */
    ck_assert_int_eq(tribo_sysid_new(m, &def, &s, NULL), TRIBO_OK);
    ti_worker *w = s->worker;
    double theta, grad, *P = w->pd + NDX * (size_t)s->z.np;
    tribo_sysid_theta(s, &theta);
    same_steps(s, &theta, &grad);
    ck_assert_double_gt(fabs(grad), 0);
    tribo_sysid_params(s, &theta, s->p), tribo_sysid_map_jac(s, &theta, P);
    for (double d = 0.1; d < 0.104; d += 0.00037) {
        const double v = 2, v0 = v + 0.0005 * 0.2 * 9.81; /* that of the middle of the step before */
        tribo_model_state0(m, w->x);
        w->x[0] = 0.2 - d, w->x[14] = v0;
        memset(w->xd, 0, (1 + NDX) * NDX * sizeof *w->xd);
        for (int i = 0; i < NDX; i++) w->xd[(1 + i) * NDX + i] = 1;
        for (int k = 0; k < LAST; k++) ck_assert_int_ge(ti_advance_jvp(w, s->track, k, s->p, 1 + NDX, P), 0);
        ck_assert_msg(fabs(w->x[7] - 0.4 - pushed(d, v, 0.3)) < 2e-5, "%g: %.8g, not %.8g", d, w->x[7] - 0.4,
                      pushed(d, v, 0.3));
        double by_d = (pushed(d + 1e-6, v, 0.3) - pushed(d - 1e-6, v, 0.3)) / 2e-6;
        double by_v = (pushed(d, v + 1e-6, 0.3) - pushed(d, v - 1e-6, 0.3)) / 2e-6;
        ck_assert_msg(fabs(-w->xd[NDX + 6] - by_d) < 3e-3 * fabs(by_d), "%g: %g, not %g", d, -w->xd[NDX + 6], by_d);
        ck_assert_msg(fabs(w->xd[(1 + V) * NDX + 6] - by_v) < 3e-3 * fabs(by_v), "%g: %g, not %g", d,
                      w->xd[(1 + V) * NDX + 6], by_v);
    }
    tribo_sysid_free(s), tribo_model_free(m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("sysid_middle");
    TCase *t = tcase_create("core");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, damping_springs_and_controls_are_of_second_order);
    tcase_add_test(t, friction_turns_round_within_a_step);
    tcase_add_test(t, tangents_follow_the_steps_that_are_made);
    tcase_add_test(t, a_gradient_is_that_of_its_value);
    tcase_add_test(t, a_share_is_left_of_what_turns_round);
    tcase_add_test(t, an_impact_is_where_it_happens);
    tcase_add_test(t, friction_brakes_from_the_impact_on);
    suite_add_tcase(s, t);
    return s;
}
