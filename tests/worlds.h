/* worlds.h -- scenes made in a few lines, run, and differentiated, for tests of physics. */
#ifndef TEST_WORLDS_H
#define TEST_WORLDS_H
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/grad.h>

#define PI 3.14159265358979323846
static const double G = 9.81;

typedef struct world {
    tribo_model *m;
    tribo_ws *ws;
    tribo_tape *tape;
    tribo_sizes n;
    int T; /* of the last run */
    double *p, *x0;
    double *U, *X;                 /* (T,nu), (T+1,nx) */
    double *lx;                    /* (T+1,ndx) zero, but for what a test writes */
    double *x_bar, *u_bar, *p_bar; /* (ndx), (T,nu), (np) */
} world;

static inline double test_random(unsigned *state) { /* in (-1, 1) */
    *state = *state * 1664525u + 1013904223u;
    return ((double)(*state >> 8) + 0.5) / 8388608.0 - 1;
}

static inline double *world_zeros(int n) {
    double *a = calloc((size_t)(n > 0 ? n : 1), sizeof *a);
    ck_assert_ptr_nonnull(a);
    return a;
}

static inline tribo_material world_material(double mu, double e) {
    return (tribo_material){.friction = mu, .restitution = e, .baumgarte = 1};
}

/* A geom of the world, whose material counts. quat NULL = level. @return its id */
static inline int world_wall(tribo_builder *b, const char *name, const double *pos, const double *quat,
                             tribo_material mat) {
    tribo_geom_def g = tribo_default_geom();
    g.name = name, g.shape = TRIBO_PLANE, g.material = mat, g.priority = 1;
    if (pos) memcpy(g.pos, pos, sizeof g.pos);
    if (quat) memcpy(g.quat, quat, sizeof g.quat);
    return tribo_add_geom(b, TRIBO_WORLD, &g);
}

static inline int world_floor(tribo_builder *b, double mu, double e) {
    return world_wall(b, "floor", NULL, NULL, world_material(mu, e));
}

/* A solid of even density: mass and half extents, or (radius, 0, 0). */
static inline int world_solid(tribo_builder *b, const char *name, tribo_shape shape, double mass, const double *size,
                              const double *pos, tribo_material mat) {
    tribo_body_def d = tribo_default_body();
    d.name = name;
    memcpy(d.pos, pos, sizeof d.pos);
    int body = tribo_add_body(b, &d);
    tribo_geom_def g = tribo_default_geom();
    g.name = name, g.shape = shape, g.mass = mass, g.material = mat;
    memcpy(g.size, size, sizeof g.size);
    tribo_add_geom(b, body, &g);
    return body;
}

static inline int world_box(tribo_builder *b, const char *name, double mass, double half, double x, double y, double z,
                            tribo_material mat) {
    return world_solid(b, name, TRIBO_BOX, mass, (double[3]){half, half, half}, (double[3]){x, y, z}, mat);
}

static inline int world_ball(tribo_builder *b, const char *name, double mass, double radius, double x, double y,
                             double z, tribo_material mat) {
    return world_solid(b, name, TRIBO_SPHERE, mass, (double[3]){radius, 0, 0}, (double[3]){x, y, z}, mat);
}

/* Takes the model over. */
static inline world world_of(tribo_model *m, const tribo_options *o) {
    world w = {.m = m, .n = tribo_model_sizes(m)};
    ck_assert_int_eq(tribo_ws_new(m, o, NULL, &w.ws, NULL), TRIBO_OK);
    w.p = world_zeros(w.n.np), w.x0 = world_zeros(w.n.nx);
    w.x_bar = world_zeros(w.n.ndx), w.p_bar = world_zeros(w.n.np);
    tribo_model_params(m, w.p);
    tribo_model_state0(m, w.x0);
    return w;
}

/* The model of a builder without mistakes, which it frees. */
static inline tribo_model *world_build(tribo_builder *b) {
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    tribo_status s = tribo_build(b, &m, &diag);
    ck_assert_msg(s == TRIBO_OK, "%s", diag.text);
    return m;
}

/* A ball with moments b m r^2 on a level floor under gravity that pulls down a slope of angle th. */
static inline tribo_model *world_roller(double m, double r, double b, tribo_material floor, double th, double dt) {
    tribo_builder *at = tribo_builder_new(NULL);
    world_wall(at, "floor", NULL, NULL, floor);
    tribo_body_def d = tribo_default_body();
    d.name = "ball", d.pos[2] = r;
    d.inertia_given = true, d.mass = m;
    for (int i = 0; i < 3; i++) d.inertia[i] = b * m * r * r;
    tribo_geom_def g = tribo_default_geom();
    g.name = "ball", g.shape = TRIBO_SPHERE, g.size[0] = r;
    tribo_add_geom(at, tribo_add_body(at, &d), &g);
    tribo_set_gravity(at, (double[3]){G * sin(th), 0, -G * cos(th)});
    tribo_set_timestep(at, dt);
    return world_build(at);
}

static inline world world_new(tribo_builder *b, double dt) {
    tribo_set_timestep(b, dt);
    return world_of(world_build(b), NULL);
}

static inline void world_free(world *w) {
    tribo_tape_free(w->tape), tribo_ws_free(w->ws), tribo_model_free(w->m);
    double *arrays[] = {w->p, w->x0, w->U, w->X, w->lx, w->x_bar, w->u_bar, w->p_bar};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

/* Room for T steps; controls are zero. */
static inline void world_steps(world *w, int T) {
    tribo_tape_free(w->tape);
    free(w->U), free(w->X), free(w->lx), free(w->u_bar);
    ck_assert_int_eq(tribo_tape_new(w->ws, T, 0, &w->tape), TRIBO_OK);
    w->T = T;
    w->U = world_zeros(T * w->n.nu), w->u_bar = world_zeros(T * w->n.nu);
    w->X = world_zeros((T + 1) * w->n.nx), w->lx = world_zeros((T + 1) * w->n.ndx);
}

/* Roll out from x0 and record. */
static inline void world_run(world *w) {
    tribo_tape_rewind(w->tape);
    tribo_status s = tribo_rollout(w->ws, w->p, w->x0, w->T, w->U, w->X, w->tape);
    ck_assert_msg(s == TRIBO_OK, "rollout: %s", tribo_status_text(s));
}

/* The gradient of the last run by lx. */
static inline void world_reverse(world *w) {
    memset(w->x_bar, 0, sizeof(double) * (size_t)w->n.ndx);
    memset(w->p_bar, 0, sizeof(double) * (size_t)w->n.np);
    memset(w->u_bar, 0, sizeof(double) * (size_t)(w->T * w->n.nu));
    ck_assert_int_eq(tribo_backward(w->ws, w->tape, w->lx, w->x_bar, w->u_bar, w->p_bar), TRIBO_OK);
}

/* The gradient of coordinate i of the tangent of state k, after the last run. */
static inline void world_gradient(world *w, int k, int i) {
    memset(w->lx, 0, sizeof(double) * (size_t)((w->T + 1) * w->n.ndx));
    w->lx[k * w->n.ndx + i] = 1;
    world_reverse(w);
}

static inline int world_param(const world *w, const char *name) {
    int i = tribo_param_find(w->m, name);
    ck_assert_msg(i >= 0, "no parameter %s", name);
    return i;
}

static inline double world_p_bar(const world *w, const char *name) {
    return w->p_bar[world_param(w, name)];
}

/* Number `i` of the pose (7) or the velocity (6) of a body in state k. */
static inline double world_q(const world *w, int k, int body, int i) {
    return w->X[k * w->n.nx + 7 * body + i];
}
static inline double world_v(const world *w, int k, int body, int i) {
    return w->X[k * w->n.nx + w->n.nq + 6 * body + i];
}
/* v turned by the unit quaternion q. */
static inline void rotate(const double *q, const double *v, double *out) {
    double t[3];
    for (int i = 0; i < 3; i++) t[i] = 2 * (q[1 + (i + 1) % 3] * v[(i + 2) % 3] - q[1 + (i + 2) % 3] * v[(i + 1) % 3]);
    for (int i = 0; i < 3; i++)
        out[i] = v[i] + q[0] * t[i] + q[1 + (i + 1) % 3] * t[(i + 2) % 3] - q[1 + (i + 2) % 3] * t[(i + 1) % 3];
}

/* Where the velocity of a body stands in x0, and pose and velocity in a tangent. */
static inline double *world_v0(const world *w, int body) {
    return w->x0 + w->n.nq + 6 * body;
}
static inline int world_dv(const world *w, int body, int i) {
    return w->n.nv + 6 * body + i;
}

/* |found - wanted| <= tol, with both in the message. */
#define NEAR(found, wanted, tol)                                                                                       \
    do {                                                                                                               \
        double f_ = (found), w_ = (wanted), t_ = (tol);                                                                \
        ck_assert_msg(fabs(f_ - w_) <= t_, "%s = %.17g, not %.17g: off by %.3g, allowed %.3g", #found, f_, w_,         \
                      fabs(f_ - w_), t_);                                                                              \
    } while (0)

/* A random direction of every parameter that counts and lies within its bounds: pd (np), up to `share` of it. */
static inline void world_random_params(const world *w, double share, unsigned *seed, double *pd) {
    for (int i = 0; i < w->n.np; i++) {
        tribo_param_info info;
        ck_assert_int_eq(tribo_param_describe(w->m, i, &info), TRIBO_OK);
        bool within = info.used && info.lower < w->p[i] && w->p[i] < info.upper;
        pd[i] = within ? share * test_random(seed) * fabs(w->p[i]) : 0;
    }
}

/* Random weights of the last state of the last run. */
static inline void world_random_weights(world *w, unsigned *seed) {
    for (int i = 0; i < w->n.ndx; i++) w->lx[w->T * w->n.ndx + i] = test_random(seed);
}

/* The gradient of lx at the last state of the last run, along a direction (xd, pd) of start and parameters: the reverse
 * against forward tangents, to `tight`, and central differences of `eps` a unit, to `loose`, of it and `scale`. */
static inline void world_agrees(world *w, const double *xd, const double *pd, double eps, double scale, double tight,
                                double loose) {
    int N = w->T, ndx = w->n.ndx;
    const double *weight = w->lx + N * ndx;
    double *p = world_zeros(w->n.np), *x = world_zeros(w->n.nx), *step = world_zeros(ndx), *end[2];
    double by_reverse = 0, by_tangent = 0, by_difference = 0;
    world_reverse(w);
    for (int i = 0; i < ndx; i++) by_reverse += w->x_bar[i] * xd[i];
    for (int i = 0; i < w->n.np; i++) by_reverse += w->p_bar[i] * pd[i];
    scale += fabs(by_reverse);
    memcpy(step, xd, sizeof(double) * (size_t)ndx);
    for (int k = 0; k < N; k++) ck_assert_int_eq(tribo_step_jvp(w->ws, w->tape, k, 1, step, NULL, pd, step), TRIBO_OK);
    for (int i = 0; i < ndx; i++) by_tangent += weight[i] * step[i];
    for (int side = 0; side < 2; side++) {
        double s = side ? eps : -eps;
        for (int i = 0; i < ndx; i++) step[i] = s * xd[i];
        for (int i = 0; i < w->n.np; i++) p[i] = w->p[i] + s * pd[i];
        end[side] = world_zeros((N + 1) * w->n.nx);
        tribo_state_add(w->m, w->x0, step, x);
        ck_assert_int_eq(tribo_rollout(w->ws, p, x, N, NULL, end[side], NULL), TRIBO_OK);
    }
    tribo_state_difference(w->m, end[0] + N * w->n.nx, end[1] + N * w->n.nx, step);
    for (int i = 0; i < ndx; i++) by_difference += weight[i] * step[i] / (2 * eps);
    double *all[] = {p, x, step, end[0], end[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    NEAR(by_tangent, by_reverse, tight * scale);
    NEAR(by_difference, by_reverse, loose * scale);
}

#endif
