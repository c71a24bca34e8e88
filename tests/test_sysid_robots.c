/* test_sysid_robots.c -- robots identified: what is measured of joints, derivatives, truths from angles and torques,
 * what joint data cannot tell. */
#include "arms.h"
#include "cubes.h"
#include "recorded.h"
#include "sysid/track/fit.h"
#include "test_main.h"
#include <lapacke.h>
#include <stdio.h>
#include <tribo/recording.h>
#include <tribo/tribo.h>

enum { N = ARM_LINKS, FREE = 100 };

static tribo_model *load(const char *name) {
    char path[4096];
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    snprintf(path, sizeof path, "%s/%s.xml", getenv("TRIBO_SCENES") ? getenv("TRIBO_SCENES") : "data/scenes", name);
    ck_assert_msg(tribo_model_load(path, NULL, &m, &diag) == TRIBO_OK, "%s", diag.text);
    return m;
}

/* Rows of a model's own motion under forces, every `skip` steps. */
typedef struct made {
    tribo_recording rec;
    double *time, *x, *u;
} made;

static made make(const tribo_model *m, int rows, int skip, double push, double noise, uint64_t seed) {
    tribo_sizes z = tribo_model_sizes(m);
    size_t n = (size_t)rows, nx = (size_t)z.nx, nu = (size_t)z.nu;
    made d = {
        .time = calloc(n, sizeof(double)), .x = calloc(n * nx, sizeof(double)), .u = calloc(n * nu, sizeof(double))};
    double *p = calloc((size_t)z.np, sizeof *p), *x = calloc(nx, sizeof *x);
    tribo_ws *ws = NULL;
    ck_assert_int_eq(tribo_ws_new(m, NULL, NULL, &ws, NULL), TRIBO_OK);
    tribo_model_params(m, p);
    tribo_model_state0(m, x);
    for (int k = 0; k < rows; k++) {
        double t = d.time[k] = k * skip * tribo_model_timestep(m), *u = d.u + (size_t)k * nu;
        memcpy(d.x + (size_t)k * nx, x, nx * sizeof *x);
        for (int i = 0; i < z.nv; i++) u[i] = push * sin((3 + i) * t + i);
        for (int j = 0; j < skip; j++) ck_assert_int_ge(tribo_step(ws, p, x, u, x, NULL), 0);
        for (int i = 0; i < z.njoint; i++) {
            int q = tribo_model_joint_q(m, i);
            if (m->joint[i].kind != TI_JOINT_BALL) d.x[(size_t)k * nx + (size_t)q] += noise * cubes_gauss(&seed);
        }
    }
    d.rec = (tribo_recording){.n = rows, .time = d.time, .x = d.x, .u = d.u};
    free(p), free(x);
    tribo_ws_free(ws);
    return d;
}

static void made_free(made *d) {
    free(d->time), free(d->x), free(d->u);
}

/* All numbers of some kinds. */
static int all_of(const tribo_model *m, const tribo_param_kind *kind, int kinds, tribo_free_param *out) {
    int n = 0;
    for (int i = 0; i < tribo_model_sizes(m).np; i++) {
        tribo_param_info info;
        bool wanted = false;
        ck_assert_int_eq(tribo_param_describe(m, i, &info), TRIBO_OK);
        for (int k = 0; k < kinds; k++) wanted |= info.kind == kind[k];
        if (!wanted || !info.used) continue;
        out[n] = tribo_default_free();
        out[n++].index = i;
    }
    return n;
}

/* ---- what is measured ---- */

START_TEST(every_number_of_a_tangent_is_in_one_block) {
    static const char *const names[] = {"arm", "quadruped", "cart-pole", "stack", "ur-like"};
    for (size_t s = 0; s < sizeof names / sizeof *names; s++) {
        tribo_model *m = load(names[s]);
        int groups, n = ti_blocks(m, NULL, NULL, &groups), *entry = calloc((size_t)m->size.ndx, sizeof *entry),
                    total = 0;
        ti_block *block = calloc((size_t)n, sizeof *block);
        ti_blocks(m, block, entry, &groups);
        for (int i = 0; i < n; i++) {
            total += block[i].n;
            for (int j = block[i].at; j < block[i].at + block[i].n; j++) {
                ck_assert_int_eq(entry[j], i);
                bool turns = tribo_model_turns(m, j % m->size.nv);
                ck_assert_int_eq(turns, block[i].kind & 1);
                ck_assert_int_eq(j >= m->size.nv, block[i].kind >= TRIBO_BLOCK_VELOCITY);
            }
        }
        ck_assert_int_eq(total, m->size.ndx);
        free(block), free(entry);
        tribo_model_free(m);
    }
}
END_TEST

/* ---- derivatives ---- */

static void step_derivatives(const char *scene, const double *speed, tribo_loss loss) {
    static const tribo_param_kind kinds[] = {TRIBO_PARAM_GRAVITY,   TRIBO_PARAM_MASS,      TRIBO_PARAM_COM,
                                             TRIBO_PARAM_INERTIA,   TRIBO_PARAM_DAMPING,   TRIBO_PARAM_ARMATURE,
                                             TRIBO_PARAM_STIFFNESS, TRIBO_PARAM_SPRINGREF, TRIBO_PARAM_FRICTIONLOSS};
    tribo_model *m = load(scene);
    tribo_sizes z = tribo_model_sizes(m);
    tribo_free_param free_[FREE];
    tribo_sysid_def def = tribo_default_sysid();
    tribo_sysid *s = NULL;
    made d = make(m, 2, 1, 3, 0, 1);
    for (int i = 0; i < z.nv; i++) d.x[i] += 0.3 * i - 0.4, d.x[z.nq + i] = speed[i];
    def.free = free_, def.nfree = all_of(m, kinds, 9, free_), def.rec = &d.rec, def.nrec = 1, def.loss = loss;
    ck_assert_int_eq(tribo_sysid_new(m, &def, &s, NULL), TRIBO_OK);
    ck_assert(s->by_forces);
    size_t n = (size_t)s->nfree, ndx = (size_t)z.ndx, np = (size_t)z.np;
    double *P = calloc(n * np, sizeof *P), *C = calloc(2 * n * ndx, sizeof *C), *A = calloc(2 * ndx * ndx, sizeof *A);
    ti_worker *w = s->worker;
    ti_stride at = {.row = 0};
    bool done = false;
    memcpy(w->x, d.x, (size_t)z.nx * sizeof *d.x);
    tribo_sysid_params(s, s->theta, s->p);
    tribo_sysid_map_jac(s, s->theta, P);
    ck_assert_int_ge(ti_stride_next(w, s->track, s->p, true, &at), 0);
    ck_assert_int_eq(ti_regressor_jac(w, &at, P, A, C, &done), TRIBO_OK);
    ck_assert(done);
    s->by_forces = false;
    ck_assert_int_ge(ti_stride_jac(w, &at, P, A + ndx * ndx, C + n * ndx), 0);
    for (size_t a = 0; a < n; a++) {
        double size = 1e-9;
        for (size_t i = 0; i < ndx; i++) size = fmax(size, fabs(C[(n + a) * ndx + i]));
        for (size_t i = 0; i < ndx; i++)
            ck_assert_double_eq_tol(C[a * ndx + i], C[(n + a) * ndx + i], 1e-10 * size + 1e-15);
    }
    for (size_t i = 0; i < ndx * ndx; i++) ck_assert_double_eq_tol(A[i], A[ndx * ndx + i], 1e-10);
    free(P), free(C), free(A);
    made_free(&d);
    tribo_sysid_free(s);
    tribo_model_free(m);
}

START_TEST(forces_in_joints_are_what_the_reverse_says) {
    const double fast[N] = {0.5, -0.8, 1.1, -1.4, 1.7, -2}, sticks[N] = {0.5, -0.8, 1e-6, 0, 1.7, 0};
    static const tribo_loss losses[] = {TRIBO_LOSS_ROLLOUT,
                                        TRIBO_LOSS_SHOOTING}; /* forces at the end of a step; middle */
    for (int i = 0; i < 2; i++) {
        step_derivatives("ur-like", fast, losses[i]);
        step_derivatives("ur-like", sticks, losses[i]);
        step_derivatives("double-pendulum", fast, losses[i]);
    }
}
END_TEST

/* The gradient of a loss, forward and reverse, of a model with every kind of joint, and with a free base. */
static void gradients(const char *scene, const char *const *name, int n, int rows, double push) {
    tribo_model *m = load(scene);
    tribo_free_param free_[8];
    tribo_sysid_def def = tribo_default_sysid();
    tribo_sysid *s = NULL;
    made d = make(m, rows, 1, push, 1e-3, 4);
    for (int i = 0; i < n; i++) {
        free_[i] = tribo_default_free();
        free_[i].index = tribo_param_find(m, name[i]);
        ck_assert_msg(free_[i].index >= 0, "%s", name[i]);
    }
    def.free = free_, def.nfree = n, def.rec = &d.rec, def.nrec = 1, def.loss = TRIBO_LOSS_WINDOW, def.window = 3;
    ck_assert_int_eq(tribo_sysid_new(m, &def, &s, NULL), TRIBO_OK);
    double theta[8], loss, grad[8], forward[8], H[64];
    tribo_sysid_theta(s, theta);
    for (int i = 0; i < n; i++) theta[i] += 0.02 * (i + 1);
    ck_assert_int_eq(tribo_sysid_eval(s, theta, &loss, grad), TRIBO_OK);
    ck_assert_int_eq(tribo_sysid_normal(s, theta, &loss, forward, H), TRIBO_OK);
    for (int i = 0; i < n; i++) ck_assert_double_eq_tol(forward[i], grad[i], 1e-9 * (fabs(grad[i]) + 1e-3 * loss));
    for (int i = 0; i < n; i++) {
        const double h = 1e-5;
        double up, down, moved[8];
        memcpy(moved, theta, sizeof moved);
        moved[i] = theta[i] + h;
        ck_assert_int_eq(tribo_sysid_eval(s, moved, &up, NULL), TRIBO_OK);
        moved[i] = theta[i] - h;
        ck_assert_int_eq(tribo_sysid_eval(s, moved, &down, NULL), TRIBO_OK);
        ck_assert_double_eq_tol((up - down) / (2 * h), grad[i], 1e-4 * (fabs(grad[i]) + 1e-3 * loss));
    }
    made_free(&d);
    tribo_sysid_free(s);
    tribo_model_free(m);
}

START_TEST(gradients_agree) {
    static const char *const limbs[] = {"upper/mass",    "fore/com/z",  "elbow/damping",
                                        "wrist/damping", "finger/mass", "finger/com/z"};
    static const char *const dog[] = {"base/mass", "fl knee/damping", "fl knee/armature", "floor/friction"};
    gradients("arm", limbs, 6, 20, 0.5);
    gradients("quadruped", dog, 4, 12, 0.2);
}
END_TEST

/* ---- truths ---- */

/* Angles of the arm of arms.c, and its torques, as a recording for the model. */
static made record_arm(const tribo_model *m, const arm *of, int rows, double spacing, double noise, uint64_t seed) {
    tribo_sizes z = tribo_model_sizes(m);
    size_t n = (size_t)rows, nx = (size_t)z.nx, nu = (size_t)z.nu;
    made d = {
        .time = calloc(n, sizeof(double)), .x = calloc(n * nx, sizeof(double)), .u = calloc(n * nu, sizeof(double))};
    double *q = calloc(2 * n * N, sizeof *q), *torque = q + n * N;
    arm a = *of;
    arm_wish wish = arm_wish_draw(&a, &seed);
    arm_record(&a, &wish, rows, spacing, noise, &seed, q, torque);
    for (size_t k = 0; k < n; k++) {
        d.time[k] = (double)k * spacing;
        for (size_t i = 0; i < nx; i++) d.x[k * nx + i] = i < N ? q[k * N + i] : (double)NAN;
        memcpy(d.u + k * nu, torque + k * N, N * sizeof *q);
    }
    d.rec = (tribo_recording){.n = rows, .time = d.time, .x = d.x, .u = d.u};
    free(q);
    return d;
}

START_TEST(an_arm_is_found_from_its_angles_and_torques) {
    static const char *const name[] = {"forearm/mass",       "flange/com/y", "elbow/damping",
                                       "elbow/frictionloss", "turn/damping", "turn/frictionloss"};
    const double truth[] = {2.275, 0.0812, 2.5, 3, 0.5, 0.8}, start[] = {1, 0.02, 8, 1, 0.1, 3};
    enum { WANTED = 6 };
    tribo_model *m = load("ur-like");
    tribo_free_param free_[WANTED];
    tribo_estimate est[WANTED];
    tribo_sysid_def def = tribo_default_sysid();
    tribo_options o = tribo_default_options();
    tribo_sysid *s = NULL;
    tribo_progress now;
    arm a = arm_ur();
    made d = record_arm(m, &a, 251, 0.004, 3e-3, 12);
    for (int i = 0; i < WANTED; i++) {
        free_[i] = tribo_default_free();
        free_[i].index = tribo_param_find(m, name[i]), free_[i].start = start[i];
    }
    o.dt = 0.0005;
    def.free = free_, def.nfree = WANTED, def.rec = &d.rec, def.nrec = 1, def.options = &o;
    def.loss = TRIBO_LOSS_SHOOTING, def.start = TRIBO_START_AUTO, def.robust = TRIBO_ROBUST_HUBER;
    ck_assert_int_eq(tribo_sysid_new(m, &def, &s, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_sysid_fit(s, 200, &now), TRIBO_OK);
    ck_assert_int_eq(tribo_sysid_observe(s, est, NULL, NULL, NULL, NULL), TRIBO_OK);
    for (int i = 0; i < WANTED; i++) {
        ck_assert(est[i].identifiable);
        ck_assert_msg(fabs(est[i].estimate - truth[i]) < 3.5 * est[i].std_error, "%s: %g +- %g, not %g", name[i],
                      est[i].estimate, est[i].std_error, truth[i]);
        ck_assert_msg(est[i].std_error < 0.05 * truth[i], "%s: +- %g", name[i], est[i].std_error);
    }
    made_free(&d);
    tribo_sysid_free(s);
    tribo_model_free(m);
}
END_TEST

/* ---- joints whose dry friction leaves answers beside one another ---- */

enum { BRAKED = 3, DAMPING = 1 };

/* How one joint of an arm is braked, by so much of a search, from some damping. Noise is given, so that losses compare.
 */
static tribo_progress braked(const tribo_model *m, const made *d, int search, double damping, tribo_estimate *est) {
    static const char *const name[BRAKED] = {"upper arm/mass", "lift/damping", "lift/frictionloss"};
    const double start[BRAKED] = {4, damping, 2.5};
    tribo_free_param wanted[BRAKED];
    tribo_sysid_def def = tribo_default_sysid();
    tribo_options o = tribo_default_options();
    tribo_sysid *s = NULL;
    tribo_progress now;
    for (int i = 0; i < BRAKED; i++) {
        wanted[i] = tribo_default_free();
        wanted[i].index = tribo_param_find(m, name[i]), wanted[i].start = start[i];
    }
    o.dt = 0.002;
    def.free = wanted, def.nfree = BRAKED, def.rec = &d->rec, def.nrec = 1, def.options = &o, def.search = search;
    def.weight[TRIBO_BLOCK_ROTATION] = 1e3;
    def.loss = TRIBO_LOSS_SHOOTING, def.start = TRIBO_START_AUTO, def.robust = TRIBO_ROBUST_HUBER;
    ck_assert_int_eq(tribo_sysid_new(m, &def, &s, NULL), TRIBO_OK);
    ck_assert_int_ge(tribo_sysid_fit(s, 200, &now), TRIBO_OK);
    ck_assert_int_eq(tribo_sysid_observe(s, est, NULL, NULL, NULL, NULL), TRIBO_OK);
    tribo_sysid_free(s);
    return now;
}

/* docs/math.md eq. (510): two answers, a likelihood apart that says nothing. */
START_TEST(an_interval_has_answers_beside_its_own) {
    tribo_model *m = load("ur-like");
    arm a = arm_ur();
    made d = record_arm(m, &a, 101, 0.008, 1e-3, 20);
    tribo_estimate slope[BRAKED], far[BRAKED], near[BRAKED];
    tribo_progress one = braked(m, &d, 0, 8, slope);
    tribo_progress from_far = braked(m, &d, 1, 8, far);
    tribo_progress from_it = braked(m, &d, 1, slope[DAMPING].estimate, near);
    const tribo_estimate *e = far + DAMPING, *other = slope + DAMPING;
    ck_assert(one.others == 0 && from_far.others > 0 && from_it.others > 0);
    ck_assert(one.loss > from_far.loss + 0.2 && 2 * (one.loss - from_far.loss) < 3.84);
    ck_assert_msg(fabs(e->estimate - other->estimate) > other->std_error, "%g and %g", e->estimate, other->estimate);
    ck_assert_msg(e->high95 > other->estimate + 0.5 * other->std_error && e->low95 < other->estimate - other->std_error,
                  "%g to %g, without %g", e->low95, e->high95, other->estimate);
    ck_assert_msg(fabs(from_it.loss - from_far.loss) < 0.1, "%g and %g", from_it.loss, from_far.loss);
    ck_assert_msg(fabs(e->estimate - near[DAMPING].estimate) < 0.5 * e->std_error, "%g and %g", e->estimate,
                  near[DAMPING].estimate);
    made_free(&d);
    tribo_model_free(m);
}
END_TEST

/* ---- what a robot stands on and holds ---- */

typedef struct unknown {
    int n;
    const char *const *name;
    const double *truth;
    double start, step; /* times the truth; s */
} unknown;

/* @param direction [out] (n,n) undetermined ones first; NULL = skip. @return how many of them are */
static int find(const tribo_model *m, const unknown *k, const recorded *r, tribo_estimate *est, double *direction) {
    tribo_free_param free_[FREE];
    tribo_sysid_def def = tribo_default_sysid();
    tribo_options o = tribo_default_options();
    tribo_sysid *s = NULL;
    tribo_progress now;
    int open;
    for (int i = 0; i < k->n; i++) {
        free_[i] = tribo_default_free();
        free_[i].index = tribo_param_find(m, k->name[i]), free_[i].start = k->start * k->truth[i];
    }
    o.dt = k->step;
    def.free = free_, def.nfree = k->n, def.rec = &r->rec, def.nrec = 1, def.options = &o;
    def.loss = TRIBO_LOSS_SHOOTING, def.start = TRIBO_START_AUTO, def.robust = TRIBO_ROBUST_HUBER;
    ck_assert_int_eq(tribo_sysid_new(m, &def, &s, NULL), TRIBO_OK);
    ck_assert_int_ge(tribo_sysid_fit(s, 200, &now), 0);
    ck_assert_int_eq(tribo_sysid_observe(s, est, NULL, direction, NULL, &open), TRIBO_OK);
    tribo_sysid_free(s);
    return open;
}

static void is_found(const unknown *k, const tribo_estimate *est, double known) {
    for (int i = 0; i < k->n; i++) {
        ck_assert(est[i].identifiable);
        ck_assert_msg(fabs(est[i].estimate - k->truth[i]) < 3.5 * est[i].std_error, "%s: %g +- %g, not %g", k->name[i],
                      est[i].estimate, est[i].std_error, k->truth[i]);
        ck_assert_msg(est[i].std_error < known * fabs(k->truth[i]), "%s: +- %g", k->name[i], est[i].std_error);
    }
}

static const char *scenes(void) {
    return getenv("TRIBO_SCENES") ? getenv("TRIBO_SCENES") : "data/scenes";
}

/* Each foot's, of a quadruped that is pulled until it slips; a pull that it withstands tells nothing of them. */
START_TEST(friction_of_feet_is_found_from_a_slip) {
    const unknown k = {SLIP_FEET, slip_name, slip_truth, 1.3, 0.002};
    tribo_model *m = slip_scene(scenes());
    tribo_estimate est[SLIP_FEET];
    ck_assert_ptr_nonnull(m);
    recorded slips = slip_record(m, 16, 3), stands = slip_record(m, 2, 3);
    ck_assert_int_eq(find(m, &k, &slips, est, NULL), 0);
    is_found(&k, est, 0.1);
    ck_assert_int_eq(find(m, &k, &stands, est, NULL), SLIP_FEET);
    for (int i = 0; i < SLIP_FEET; i++) ck_assert(!est[i].identifiable);
    recorded_free(&slips), recorded_free(&stands);
    tribo_model_free(m);
}
END_TEST

START_TEST(a_payload_is_found_from_angles_and_torques) {
    const unknown k = {PAYLOAD_FREE, payload_name, payload_truth, 0.7, 0.0005};
    tribo_model *m = payload_scene(scenes());
    tribo_estimate est[PAYLOAD_FREE];
    ck_assert_ptr_nonnull(m);
    for (uint64_t seed = 2; seed < 4; seed++) { /* examples/robots/unknown.c is of the first */
        recorded moves = payload_record(m, 3e-3, seed);
        ck_assert_int_eq(find(m, &k, &moves, est, NULL), 0);
        is_found(&k, est, 0.05);
        recorded_free(&moves);
    }
    tribo_model_free(m);
}
END_TEST

/* ---- what joint data cannot tell ---- */

enum { TEN = 10, ALL = TEN * N, STATES = 60 };

/* The inertial numbers of a link in the order of p. */
static double *number_of(arm_link *l, int k) {
    return k == 0 ? &l->mass : k < 4 ? &l->com[k - 1] : &l->inertia[k - 4];
}

/* Y'Y of the torques of arms.c by all inertial numbers over random states. */
static void regressor(double *YY) {
    uint64_t seed = 5;
    memset(YY, 0, ALL * ALL * sizeof *YY);
    for (int k = 0; k < STATES; k++) {
        double acc[N], Y[N][ALL];
        arm a = arm_ur();
        for (int i = 0; i < N; i++) {
            a.q[i] = 3 * cubes_gauss(&seed), a.v[i] = 2 * cubes_gauss(&seed), acc[i] = 10 * cubes_gauss(&seed);
            a.link[i].armature = 0;
        }
        for (int j = 0; j < ALL; j++) {
            const double h = 1e-3;
            double up[N], down[N];
            arm b = a;
            *number_of(&b.link[j / TEN], j % TEN) += h;
            arm_torque(&b, acc, up);
            *number_of(&b.link[j / TEN], j % TEN) -= 2 * h;
            arm_torque(&b, acc, down);
            for (int i = 0; i < N; i++) Y[i][j] = (up[i] - down[i]) / (2 * h);
        }
        for (int i = 0; i < N; i++)
            for (int j = 0; j < ALL; j++)
                for (int c = 0; c < ALL; c++) YY[j * ALL + c] += Y[i][j] * Y[i][c];
    }
}

/* The information of an arm's recording on all its inertial numbers, in theta, and dp/dtheta. */
static int information(double *F, double *P) {
    static const tribo_param_kind kinds[] = {TRIBO_PARAM_MASS, TRIBO_PARAM_COM, TRIBO_PARAM_INERTIA};
    tribo_model *m = load("ur-like");
    tribo_free_param free_[FREE];
    static tribo_estimate est[ALL];
    tribo_sysid_def def = tribo_default_sysid();
    tribo_sysid *s = NULL;
    arm a = arm_ur();
    made d = record_arm(m, &a, 401, 0.004, 1e-5, 3);
    int open = 0, np = tribo_model_sizes(m).np;
    ck_assert_int_eq(all_of(m, kinds, 3, free_), ALL);
    def.free = free_, def.nfree = ALL, def.rec = &d.rec, def.nrec = 1, def.loss = TRIBO_LOSS_SHOOTING;
    def.start = TRIBO_START_AUTO;
    ck_assert_int_eq(tribo_sysid_new(m, &def, &s, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_sysid_observe(s, est, F, NULL, NULL, &open), TRIBO_OK);
    double theta[ALL], *by = calloc((size_t)(ALL * np), sizeof *by);
    tribo_sysid_theta(s, theta);
    tribo_sysid_map_jac(s, theta, by);
    for (int i = 0; i < ALL; i++)
        for (int j = 0; j < ALL; j++) P[i * ALL + j] = by[i * np + free_[j].index];
    free(by);
    made_free(&d);
    tribo_sysid_free(s);
    tribo_model_free(m);
    return open;
}

START_TEST(what_joints_cannot_tell_is_the_null_space_of_the_regressor) {
    static double YY[ALL * ALL], F[ALL * ALL], P[ALL * ALL], T[ALL * ALL], value[ALL];
    regressor(YY);
    int open = information(F, P);
    /* Y'Y in theta, as the information is: theta moves p by P' */
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < ALL; i++)
            for (int j = 0; j < ALL; j++) {
                T[i * ALL + j] = 0;
                for (int k = 0; k < ALL; k++) T[i * ALL + j] += P[i * ALL + k] * YY[k * ALL + j];
            }
        for (int i = 0; i < ALL; i++)
            for (int j = 0; j < ALL; j++) YY[i * ALL + j] = T[j * ALL + i];
    }
    ck_assert_int_eq(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'U', ALL, YY, ALL, value), 0);
    int none = 0;
    while (value[none] < 1e-13 * value[ALL - 1]) none++;
    ck_assert_int_eq(none, ALL - 36); /* 36 base parameters of such an arm */
    ck_assert_int_ge(open, none);
    double largest = 0;
    for (int i = 0; i < ALL; i++) largest = fmax(largest, F[i * ALL + i]);
    for (int k = 0; k < none; k++) {
        double square = 0;
        for (int i = 0; i < ALL; i++)
            for (int j = 0; j < ALL; j++) square += YY[i * ALL + k] * F[i * ALL + j] * YY[j * ALL + k];
        ck_assert_double_lt(fabs(square), 1e-12 * largest);
    }
    ck_assert_int_eq(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', ALL, F, ALL, value), 0);
    ck_assert_double_gt(value[none], 100 * fabs(value[none - 1]));
}
END_TEST

/* Mass, first and second moments of flange and payload together, about the flange's origin. */
static void together(const tribo_model *m, const double *p, double *out) {
    static const char *const name[] = {"flange/mass", "payload/mass"};
    const double at[2][3] = {{0, 0, 0}, {0, 0.0823, 0}};
    static const int of[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    memset(out, 0, TEN * sizeof *out);
    for (int b = 0; b < 2; b++) {
        const double *own = p + tribo_param_find(m, name[b]);
        double c[3], square = 0;
        for (int i = 0; i < 3; i++) c[i] = at[b][i] + own[1 + i], square += c[i] * c[i];
        out[0] += own[0];
        for (int i = 0; i < 3; i++) out[1 + i] += own[0] * c[i];
        for (int e = 0; e < 6; e++) {
            double steiner = (of[e][0] == of[e][1] ? square : 0) - c[of[e][0]] * c[of[e][1]];
            out[4 + e] += own[4 + e] + own[0] * steiner;
        }
    }
}

/* Of flange and payload with ten numbers each nothing tells but the ten of both together. */
START_TEST(what_is_welded_is_told_as_a_whole) {
    enum { BOTH = 2 * TEN };
    tribo_model *m = payload_scene(scenes());
    int np = tribo_model_sizes(m).np, open = 0,
        first[2] = {tribo_param_find(m, "flange/mass"), tribo_param_find(m, "payload/mass")};
    double *P = calloc((size_t)np * (BOTH + 3), sizeof *P), *p = P + BOTH * np, *up = p + np, *down = up + np;
    double direction[BOTH * BOTH], theta[BOTH];
    tribo_free_param free_[BOTH];
    tribo_estimate est[BOTH];
    tribo_sysid_def def = tribo_default_sysid();
    tribo_sysid *s = NULL;
    recorded r = payload_record(m, 1e-5, 3);
    for (int i = 0; i < BOTH; i++) free_[i] = tribo_default_free(), free_[i].index = first[i / TEN] + i % TEN;
    def.free = free_, def.nfree = BOTH, def.rec = &r.rec, def.nrec = 1, def.loss = TRIBO_LOSS_SHOOTING;
    ck_assert_int_eq(tribo_sysid_new(m, &def, &s, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_sysid_observe(s, est, NULL, direction, NULL, &open), TRIBO_OK);
    ck_assert_int_ge(open, TEN);
    tribo_sysid_theta(s, theta);
    tribo_sysid_map_jac(s, theta, P);
    tribo_sysid_params(s, theta, p);
    for (int k = 0; k < BOTH; k++) {
        const double h = 1e-6;
        double more[TEN], less[TEN], most = 0;
        for (int i = 0; i < np; i++) {
            double rate = 0;
            for (int a = 0; a < BOTH; a++) rate += direction[k * BOTH + a] * P[a * np + i];
            up[i] = p[i] + h * rate, down[i] = p[i] - h * rate;
        }
        together(m, up, more), together(m, down, less);
        for (int i = 0; i < TEN; i++) most = fmax(most, fabs(more[i] - less[i]) / (2 * h));
        ck_assert_msg(k < TEN ? most < 1e-8 : most > 1e-5, "direction %d changes the whole by %g", k, most);
    }
    free(P), recorded_free(&r), tribo_sysid_free(s), tribo_model_free(m);
}
END_TEST

/* ---- recordings ---- */

/* What was found in a recording of the arm of data/scenes/ur-like.xml after `spoil` has been at it. */
static tribo_finding look(void (*spoil)(double *time, double *x, int rows, int nx), double *first) {
    tribo_model *m = load("ur-like");
    tribo_sizes z = tribo_model_sizes(m);
    tribo_checked *c = NULL;
    tribo_finding found = {0};
    int n = 0;
    made d = make(m, 400, 2, 40, 0, 9);
    if (spoil) spoil(d.time, d.x, 400, z.nx);
    ck_assert_int_eq(tribo_checked_new(m, NULL, &d.rec, NULL, &c, NULL), TRIBO_OK);
    const tribo_finding *f = tribo_checked_findings(c, &n);
    if (n) found = f[0];
    ck_assert_int_le(n, 1);
    if (first) *first = tribo_checked_recording(c).x[100 * z.nx + 1];
    tribo_checked_free(c);
    made_free(&d);
    tribo_model_free(m);
    return found;
}

static const double degree = 57.29577951308232;
static void in_degrees(double *time, double *x, int rows, int nx) {
    (void)time;
    for (int k = 0; k < rows; k++) x[k * nx + 1] *= degree;
}
static void speed_in_degrees(double *time, double *x, int rows, int nx) {
    (void)time;
    for (int k = 0; k < rows; k++) x[k * nx + N + 1] *= degree;
}
static void both_in_degrees(double *time, double *x, int rows, int nx) {
    in_degrees(time, x, rows, nx), speed_in_degrees(time, x, rows, nx);
}
static void milliseconds(double *time, double *x, int rows, int nx) {
    (void)x, (void)nx;
    for (int k = 0; k < rows; k++) time[k] *= 1e3;
}
static void milliseconds_of_angles_alone(double *time, double *x, int rows, int nx) {
    milliseconds(time, x, rows, nx);
    for (int k = 0; k < rows; k++)
        for (int i = 0; i < N; i++) x[k * nx + N + i] = NAN;
}
static void late(double *time, double *x, int rows, int nx) {
    (void)time;
    for (int k = rows - 1; k >= 0; k--) x[k * nx + N + 1] = k >= 3 ? x[(k - 3) * nx + N + 1] : (double)NAN;
}
static void backward(double *time, double *x, int rows, int nx) {
    for (int k = rows - 1; k >= 0; k--)
        x[k * nx + N + 1] = k ? (x[k * nx + 1] - x[(k - 1) * nx + 1]) / (time[k] - time[k - 1]) : (double)NAN;
}
static void speed_too_large(double *time, double *x, int rows, int nx) {
    (void)time;
    for (int k = 0; k < rows; k++) x[k * nx + N + 1] *= 1.15;
}
static void nonsense(double *time, double *x, int rows, int nx) {
    (void)time;
    for (int k = 0; k < rows; k++) x[k * nx + 1] = 1e4 + 100 * k, x[k * nx + N + 1] = NAN;
}

START_TEST(joint_columns_are_looked_at) {
    double right, is;
    tribo_finding f = look(NULL, &right);
    ck_assert_msg(!f.text[0], "%s", f.text);
    f = look(in_degrees, &is);
    ck_assert_int_eq(f.about, TRIBO_CONVENTION_ANGULAR);
    ck_assert_int_eq(f.outcome, TRIBO_OUTCOME_MENDED);
    ck_assert_double_eq_tol(is, right, 1e-12);
    f = look(speed_in_degrees, &is);
    ck_assert_int_eq(f.about, TRIBO_CONVENTION_ANGULAR);
    ck_assert_int_eq(f.outcome, TRIBO_OUTCOME_MENDED);
    f = look(both_in_degrees, &is);
    ck_assert_int_eq(f.about, TRIBO_CONVENTION_ANGULAR);
    ck_assert_int_eq(f.outcome, TRIBO_OUTCOME_MENDED);
    ck_assert_double_eq_tol(is, right, 1e-12);
    f = look(milliseconds, NULL);
    ck_assert_int_eq(f.about, TRIBO_CONVENTION_TIME);
    ck_assert_int_eq(f.outcome, TRIBO_OUTCOME_MENDED);
    f = look(milliseconds_of_angles_alone, NULL);
    ck_assert_int_eq(f.about, TRIBO_CONVENTION_TIME);
    ck_assert_int_eq(f.outcome, TRIBO_OUTCOME_REFUSED);
    f = look(late, NULL);
    ck_assert_int_eq(f.about, TRIBO_CONVENTION_DELAY);
    ck_assert_int_eq((int)f.number, 3);
    f = look(backward, NULL);
    ck_assert_int_eq(f.about, TRIBO_CONVENTION_KIND);
    ck_assert_int_eq(f.outcome, TRIBO_OUTCOME_NOTED);
    f = look(speed_too_large, NULL);
    ck_assert_int_eq(f.about, TRIBO_CONVENTION_VELOCITY);
    ck_assert_int_eq(f.outcome, TRIBO_OUTCOME_DOUBTED);
    ck_assert_double_eq_tol(f.number, 1 / 1.15, 0.01);
    f = look(nonsense, NULL);
    ck_assert_int_eq(f.about, TRIBO_CONVENTION_SCENE);
    ck_assert_int_eq(f.outcome, TRIBO_OUTCOME_REFUSED);
}
END_TEST

/* Of a rail, position or velocity in another unit of length than the other: said which, and undone. */
START_TEST(rails_in_other_units) {
    enum { WHOLE = 300 };
    static const struct {
        double position, velocity;
        tribo_convention about;
        const char *text;
    } CASE[] = {{1e3, 1, TRIBO_CONVENTION_LENGTH, "rail: the position is in millimetres; taken as metres"},
                {1e2, 1, TRIBO_CONVENTION_LENGTH, "rail: the position is in centimetres; taken as metres"},
                {1, 1e3, TRIBO_CONVENTION_VELOCITY,
                 "rail: the velocity is in millimetres a second; taken as metres a "
                 "second"},
                {1, 1e2, TRIBO_CONVENTION_VELOCITY,
                 "rail: the velocity is in centimetres a second; taken as metres a "
                 "second"}};
    tribo_model *m = load("cart-pole");
    made right = make(m, WHOLE, 2, 3, 0, 9);
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        double x[WHOLE * 4];
        int n = 0;
        tribo_checked *c = NULL;
        tribo_recording r = right.rec;
        for (int k = 0; k < WHOLE; k++) {
            memcpy(x + 4 * k, right.x + 4 * k, 4 * sizeof *x);
            x[4 * k] *= CASE[i].position, x[4 * k + 2] *= CASE[i].velocity;
        }
        r.x = x;
        ck_assert_int_eq(tribo_checked_new(m, NULL, &r, NULL, &c, NULL), TRIBO_OK);
        const tribo_finding *f = tribo_checked_findings(c, &n);
        ck_assert_int_eq(n, 1);
        ck_assert_str_eq(f->text, CASE[i].text);
        ck_assert(f->about == CASE[i].about && f->outcome == TRIBO_OUTCOME_MENDED);
        ck_assert_double_eq_tol(f->number, 1 / (CASE[i].position * CASE[i].velocity), 1e-15);
        const double *is = tribo_checked_recording(c).x;
        for (int k = 0; k < WHOLE * 4; k++) ck_assert_double_eq_tol(is[k], right.x[k], 1e-12);
        tribo_checked_free(c);
    }
    made_free(&right), tribo_model_free(m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("sysid_robots");
    TCase *t = tcase_create("long"), *few = tcase_create("short");
    tcase_set_timeout(t, 300);
    tcase_add_test(few, every_number_of_a_tangent_is_in_one_block);
    tcase_add_test(few, forces_in_joints_are_what_the_reverse_says);
    tcase_add_test(few, gradients_agree);
    tcase_add_test(few, what_joints_cannot_tell_is_the_null_space_of_the_regressor);
    tcase_add_test(few, what_is_welded_is_told_as_a_whole);
    tcase_add_test(few, rails_in_other_units);
    tcase_add_test(few, joint_columns_are_looked_at);
    tcase_add_test(t, an_interval_has_answers_beside_its_own);
    tcase_add_test(t, an_arm_is_found_from_its_angles_and_torques);
    tcase_add_test(t, friction_of_feet_is_found_from_a_slip);
    tcase_add_test(t, a_payload_is_found_from_angles_and_torques);
    suite_add_tcase(s, few), suite_add_tcase(s, t);
    return s;
}
