/* test_torsion.c -- friction against turning and rolling against its closed forms, values and derivatives.
 *
 * Steps are semi-implicit Euler's: with a constant acceleration a distance is a h^2 k (k + 1) / 2 beyond the uniform
 * one.
 */
#define _GNU_SOURCE /* mkstemps */
#include "contact/ladder/off_path.h"
#include "models.h"
#include "test_main.h"
#include "worlds.h"
#include <unistd.h>
#ifdef HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

static const double H = 0.002, M = 1.5, R = 0.2, ROUND = 1e-11;

static world ball_on(double b, tribo_material floor, double th, const tribo_options *o) {
    return world_of(world_roller(M, R, b, floor, th, H), o);
}

static tribo_material material(double mu, double torsion, double rolling) {
    tribo_material m = world_material(mu, 0);
    m.torsion = torsion, m.rolling = rolling;
    return m;
}

static double triangle(int n) {
    return H * H * n * (n + 1) / 2;
}

/* A spinning ball loses h mu g / (b r^2) of its spin a step, and stops and stays stopped. */
START_TEST(a_spinning_ball_stops) {
    const double b = 0.4, mu = 0.01, w0 = 5;
    double less = H * mu * G / (b * R * R); /* of the spin, a step */
    enum { N = 450 };
    world w = ball_on(b, material(0.5, mu, 0), 0, NULL);
    world_v0(&w, 0)[5] = w0;
    world_steps(&w, N);
    world_run(&w);
    for (int k = 0; k <= N; k++) {
        double left = w0 - k * less;
        NEAR(world_v(&w, k, 0, 5), left > 0 ? left : 0, ROUND);
        NEAR(world_q(&w, k, 0, 2), R, ROUND);
    }
    int n = (int)(w0 / less);
    ck_assert(n + 5 < N);
    world_gradient(&w, n, world_dv(&w, 0, 5));
    NEAR(world_p_bar(&w, "floor/torsion"), -n * H * G / (b * R * R), 1e-9);
    NEAR(world_p_bar(&w, "gravity/z"), n * less / G, 1e-9);
    NEAR(world_p_bar(&w, "ball/inertia/zz"), n * less / (b * M * R * R), 1e-9);
    NEAR(w.x_bar[world_dv(&w, 0, 5)], 1, ROUND);
    world_gradient(&w, N, world_dv(&w, 0, 5)); /* stopped */
    NEAR(world_p_bar(&w, "floor/torsion"), 0, ROUND);
    NEAR(w.x_bar[world_dv(&w, 0, 5)], 0, ROUND);
    world_free(&w);
}
END_TEST

/* A rolling ball is slowed by mu g / (r (1 + b)), and stops and stays stopped. */
START_TEST(a_rolling_ball_stops) {
    const double b = 0.4, mu = 0.02, v0 = 0.5, a = mu * G / (R * (1 + b));
    enum { N = 500 };
    int n = (int)(v0 / (a * H));
    ck_assert(n + 20 < N);
    world w = ball_on(b, material(0.5, 0, mu), 0, NULL);
    double *v = world_v0(&w, 0);
    v[0] = v0, v[4] = v0 / R;
    world_steps(&w, N);
    world_run(&w);
    double energy = HUGE_VAL;
    for (int k = 0; k <= N; k++) {
        double left = k <= n ? v0 - k * H * a : 0, now = tribo_energy(w.m, w.p, w.X + k * w.n.nx);
        NEAR(world_v(&w, k, 0, 0), left, ROUND);
        NEAR(world_v(&w, k, 0, 4), left / R, ROUND / R);
        ck_assert(now <= energy + 1e-12);
        energy = now;
    }
    NEAR(world_q(&w, n, 0, 0), n * H * v0 - a * triangle(n), 1e-10);
    NEAR(world_q(&w, N, 0, 0), world_q(&w, n + 1, 0, 0), 1e-10);
    world_gradient(&w, n, 0);
    NEAR(world_p_bar(&w, "floor/rolling"), -a / mu * triangle(n), 1e-9);
    NEAR(world_p_bar(&w, "floor/friction"), 0, 1e-9);
    NEAR(world_p_bar(&w, "ball/inertia/yy"), a / (1 + b) / (M * R * R) * triangle(n), 1e-8);
    world_free(&w);
}
END_TEST

/* On a slope it stays while tan(th) < mu / r, and else rolls with g (sin(th) - mu / r cos(th)) / (1 + b). */
START_TEST(a_ball_on_a_slope) {
    const double b = 0.4, th = 0.1;
    enum { N = 200 };
    world w = ball_on(b, material(0.9, 0, tan(th) * R * 1.001), th, NULL);
    world_steps(&w, N);
    world_run(&w);
    for (int i = 0; i < 3; i++) NEAR(world_q(&w, N, 0, i), i == 2 ? R : 0, 1e-12);
    world_gradient(&w, N, 0);
    NEAR(world_p_bar(&w, "floor/rolling"), 0, ROUND);
    NEAR(world_p_bar(&w, "gravity/x"), 0, ROUND);
    world_free(&w);
    double mu = tan(th) * R * 0.6, a = G * (sin(th) - mu / R * cos(th)) / (1 + b);
    w = ball_on(b, material(0.9, 0, mu), th, NULL);
    world_steps(&w, N);
    world_run(&w);
    NEAR(world_q(&w, N, 0, 0), a * triangle(N), 1e-10);
    NEAR(world_v(&w, N, 0, 4) * R, world_v(&w, N, 0, 0), ROUND);
    world_gradient(&w, N, 0);
    NEAR(world_p_bar(&w, "floor/rolling"), -G * cos(th) / R / (1 + b) * triangle(N), 1e-9);
    NEAR(world_p_bar(&w, "gravity/x"), triangle(N) / (1 + b), 1e-9);
    NEAR(world_p_bar(&w, "gravity/z"), mu / R / (1 + b) * triangle(N), 1e-9);
    world_free(&w);
}
END_TEST

/* Without sliding friction the ball slides on, and rolling friction stops its spin alone. */
START_TEST(sliding_and_turning) {
    const double b = 0.4, mu = 0.02, slide = 0.1, v0 = 2, w0 = 3;
    enum { N = 20 };
    world w = ball_on(b, material(slide, 0, mu), 0, NULL);
    world_v0(&w, 0)[0] = v0, world_v0(&w, 0)[4] = -w0;
    world_steps(&w, N);
    world_run(&w);
    double turn = (slide * G * R + mu * G) / (b * R * R); /* both against the spin */
    NEAR(world_v(&w, N, 0, 0), v0 - N * H * slide * G, ROUND);
    NEAR(world_v(&w, N, 0, 4), -w0 + N * H * turn, 1e-10);
    world_gradient(&w, N, world_dv(&w, 0, 4));
    NEAR(world_p_bar(&w, "floor/rolling"), N * H * G / (b * R * R), 1e-9);
    NEAR(world_p_bar(&w, "floor/friction"), N * H * G * R / (b * R * R), 1e-9);
    world_free(&w);
}
END_TEST

/* ---- every law and solver ---- */

typedef struct law_case {
    tribo_law law;
    tribo_solver solver;
} law_case;
enum { NLAWS = 19 };
static law_case law_of(int i) {
    for (int law = TRIBO_LAW_NCP; law < TRIBO_LAW_END; law++)
        for (int k = 0; tribo_law_solver((tribo_law)law, k) != TRIBO_SOLVER_DEFAULT; k++)
            if (i-- == 0) return (law_case){(tribo_law)law, tribo_law_solver((tribo_law)law, k)};
    return (law_case){TRIBO_LAW_DEFAULT, TRIBO_SOLVER_DEFAULT};
}

/* What turns about a contact that holds or carries it turns as under the NCP: bounds follow the normal impulse alone.
 */
START_TEST(under_every_law) {
    law_case law = law_of(_i);
    ck_assert_int_ne(law.law, TRIBO_LAW_DEFAULT);
    tribo_options o = tribo_default_options();
    o.law.law = law.law, o.law.solver = law.solver, o.law.noise = 1e-6;
    const double b = 0.4, torsion = 0.01, rolling = 0.004;
    enum { N = 10 };
    world w = ball_on(b, material(0.5, torsion, rolling), 0, &o);
    world_v0(&w, 0)[5] = 5;
    world_steps(&w, N);
    tribo_status s = tribo_rollout(w.ws, w.p, w.x0, N, NULL, w.X, w.tape);
    ck_assert_int_ge(s, 0);
    double tol = tribo_ws_options(w.ws).tol > 1e-8 || law.law == TRIBO_LAW_STOCHASTIC ? 1e-4 : 1e-9;
    NEAR(world_v(&w, N, 0, 5), 5 - N * H * torsion * G / (b * R * R), tol);
    world_v0(&w, 0)[5] = 0, world_v0(&w, 0)[0] = 0.5, world_v0(&w, 0)[4] = 0.5 / R;
    tribo_tape_rewind(w.tape);
    ck_assert_int_ge(tribo_rollout(w.ws, w.p, w.x0, N, NULL, w.X, w.tape), 0);
    NEAR(world_v(&w, N, 0, 0), 0.5 - N * H * rolling * G / (R * (1 + b)), tol);
    memset(w.lx, 0, sizeof(double) * (size_t)((N + 1) * w.n.ndx));
    w.lx[N * w.n.ndx + world_dv(&w, 0, 0)] = 1;
    ck_assert_int_ge(tribo_backward(w.ws, w.tape, w.lx, w.x_bar, w.u_bar, w.p_bar), 0);
    NEAR(world_p_bar(&w, "floor/rolling"), -N * H * G / (R * (1 + b)), 100 * tol);
    world_free(&w);
}
END_TEST

START_TEST(refused_by_name) {
    tribo_builder *b = tribo_builder_new(NULL);
    world_wall(b, "floor", NULL, NULL, material(0.5, 0.01, 0));
    world_ball(b, "ball", 1, 0.1, 0, 0, 0.1, world_material(0.5, 0));
    tribo_model *m = world_build(b);
    tribo_options o = tribo_default_options();
    tribo_ws *ws = NULL;
    tribo_diag diag = {0};
    o.rounds = 5;
    ck_assert_int_eq(tribo_ws_new(m, &o, NULL, &ws, &diag), TRIBO_E_ARG);
    ck_assert_str_eq(diag.text, "rounds know no friction against turning");
    o.rounds = 0, o.law.law = TRIBO_LAW_STOCHASTIC, o.law.smoothing = TRIBO_SMOOTHING_ERM;
    ck_assert_int_eq(tribo_ws_new(m, &o, NULL, &ws, &diag), TRIBO_E_ARG);
    ck_assert_str_eq(diag.text, "expected residual minimisation knows no friction against turning");
    tribo_model_free(m);
}
END_TEST

/* ---- several contacts, impacts ---- */

/* The reverse against forward tangents and central differences along a random direction of states and coefficients:
 * a box, a ball and a capsule, spinning and rolling, that fall a little and bounce. */
START_TEST(reverse_and_tangents) {
    unsigned state = 17u + (unsigned)_i;
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_material mat = material(0.4, 0.02, 0.004);
    mat.restitution = _i % 2 ? 0.4 : 0;
    world_wall(b, "floor", NULL, NULL, mat);
    const double *z = (double[]){0.1005, 0.1002, 0.0503};
    world_box(b, "box", 1, 0.1, 0, 0, z[0], material(0.4, 0.01, 0.001));
    world_ball(b, "ball", 0.7, 0.1, 0.5, 0, z[1], material(0.4, 0.01, 0.001));
    world_solid(b, "pill", TRIBO_CAPSULE, 0.4, (double[3]){0.05, 0.1, 0}, (double[3]){0, 0.6, 0.151}, mat);
    world_ball(b, "top", 0.3, 0.06, 0.01, 0.01, 2 * z[0] + 0.0601, material(0.4, 0.03, 0.002));
    world w = world_new(b, H);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 6; i++) world_v0(&w, k)[i] = (i < 3 ? 0.3 : 4) * test_random(&state);
    enum { N = 4 };
    world_steps(&w, N);
    world_run(&w);
    for (int i = 0; i < w.n.ndx; i++) w.lx[N * w.n.ndx + i] = test_random(&state);
    double *xd = world_zeros(w.n.ndx), *pd = world_zeros(w.n.np);
    for (int i = 0; i < w.n.ndx; i++) xd[i] = test_random(&state) * (i < w.n.ndx / 2 ? 1e-3 : 1);
    static const char *const NAMES[] = {"floor/torsion", "floor/rolling", "box/torsion", "top/rolling", "top/torsion"};
    for (int k = 0; k < 5; k++) pd[world_param(&w, NAMES[k])] = 0.01 * test_random(&state);
    world_agrees(&w, xd, pd, 1e-7, 1, 1e-10, 2e-6);
    free(xd), free(pd);
    world_free(&w);
}
END_TEST

/* Faces and edges follow what they stand on, whatever friction holds them against rolling: a box on a box, on which a
 * pill lies, whose derivatives by their turns are those of gaps that close within the step. */
START_TEST(rolling_yields_to_gaps) {
    static const double half = 0.1, radius = 0.05;
    tribo_builder *b = tribo_builder_new(NULL);
    world_wall(b, "floor", NULL, NULL, material(0.8, 0, 0));
    for (int k = 0; k < 2; k++)
        world_box(b, k ? "high" : "low", 1, half, 0.01 * k, 0, (2 * k + 1) * half, material(0.8, 0.01 * k, 0.005 * k));
    const double size[3] = {radius, 0.06, 0}, at[3] = {0.02, 0.01, 4 * half + radius};
    world_solid(b, "pill", TRIBO_CAPSULE, 0.4, size, at, material(0.8, 0.01, 0.005));
    world w = world_new(b, H);
    w.x0[7 * 2 + 3] = w.x0[7 * 2 + 5] = sqrt(0.5); /* it lies along x */
    world_steps(&w, 1);
    world_run(&w);
    for (int of = 0; of < 3; of++) {
        world_gradient(&w, 1, world_dv(&w, of, 4)); /* about y, of all of them */
        for (int k = 0; k < 3; k++) NEAR(w.x_bar[6 * k + 4], k == of ? -1 / H : 0, 1e-6 / H);
    }
    double *xd = world_zeros(w.n.ndx), *pd = world_zeros(w.n.np);
    xd[4] = 1e-3, xd[6 + 3] = 2e-3, xd[2 * 6 + 4] = -1e-3;
    memcpy(w.lx + w.n.ndx, xd, sizeof *xd * (size_t)w.n.ndx), w.lx[w.n.ndx + w.n.ndx / 2 + 4] = 1;
    world_agrees(&w, xd, pd, 1e-4, 1, 1e-10, 2e-6);
    free(xd), free(pd);
    world_free(&w);
}
END_TEST

/* The share of a torque's impulse that a box has which lands flat, and its derivative. */
static double landed(double mu, double torsion, double *slope) {
    static const double half[3] = {0.1, 0.15, 0.05}, torque = 0.3;
    tribo_builder *b = tribo_builder_new(NULL);
    tribo_material hard = material(mu, torsion, 0);
    hard.restitution = 0.4;
    world_wall(b, "floor", NULL, NULL, hard);
    world_solid(b, "box", TRIBO_BOX, M, half, (double[3]){0, 0, half[2] + 1e-4}, hard);
    world w = world_new(b, H);
    world_v0(&w, 0)[2] = -0.2;
    world_steps(&w, 1);
    w.U[5] = torque;
    world_run(&w);
    world_gradient(&w, 1, world_dv(&w, 0, 5));
    double inertia = M * (half[0] * half[0] + half[1] * half[1]) / 3;
    double share = world_v(&w, 1, 0, 5) * inertia / (torque * H);
    *slope = w.u_bar[5] * inertia / H;
    world_free(&w);
    return share;
}

/* Friction across and against turning both stop what the box turns by when it is hit, and nothing else. */
START_TEST(what_lands_is_stopped_once) {
    static const double ways[][2] = {{0.8, 0}, {0, 0.2}, {0.8, 0.2}};
    double slope, stopped = landed(0.8, 0, &slope);
    ck_assert_double_lt(stopped, 0.9);
    NEAR(landed(0, 0, &slope), 1, ROUND);
    for (int k = 0; k < 3; k++) {
        NEAR(landed(ways[k][0], ways[k][1], &slope), stopped, 1e-9);
        NEAR(slope, stopped, 1e-9);
    }
}
END_TEST

/* ---- files ---- */

#define SCENE(friction, condim, pair)                                                                                  \
    "<mujoco><option timestep='0.002' cone='elliptic' impratio='100'/><default><geom solref='0.004 1'/>"               \
    "<pair solref='0.004 1'/></default><worldbody><geom name='floor' type='plane' size='5 5 1' friction='" friction    \
    "' condim='" condim "' priority='1'/><body name='ball' pos='0 0 0.1'><freejoint/><geom name='ball' type='sphere' " \
    "size='0.1' mass='1'/></body></worldbody>" pair "</mujoco>"

static void write_scene(char *path, const char *text) {
    int fd = mkstemps(path, 4);
    ck_assert_int_ge(fd, 0);
    FILE *f = fdopen(fd, "w");
    fputs(text, f), fclose(f);
}

static tribo_model *read_scene(const char *path) {
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    ck_assert_msg(tribo_model_load(path, NULL, &m, &diag) == TRIBO_OK, "%s", diag.text);
    return m;
}

static double number(const tribo_model *m, const char *name) {
    double *p = world_zeros(tribo_model_sizes(m).np);
    tribo_model_params(m, p);
    int i = tribo_param_find(m, name);
    ck_assert_msg(i >= 0, "no parameter %s", name);
    double x = p[i];
    free(p);
    return x;
}

START_TEST(read_and_written) {
    static const struct {
        const char *text, *of;
        double torsion, rolling;
    } CASE[] = {{SCENE("0.5 0.01 0.002", "3", ""), "floor", 0, 0},
                {SCENE("0.5 0.01 0.002", "4", ""), "floor", 0.01, 0},
                {SCENE("0.5 0.01 0.002", "6", ""), "floor", 0.01, 0.002},
                {SCENE("0.5", "6", ""), "floor", 0.005, 0.0001},
                {SCENE("0.5", "3",
                       "<contact><pair name='x' geom1='floor' geom2='ball' condim='6' friction='1 1 0.02 0.003 "
                       "0.003'/></contact>"),
                 "x", 0.02, 0.003},
                {SCENE("0.5 0.01 0.002", "6", "<contact><pair name='x' geom1='floor' geom2='ball'/></contact>"), "x",
                 0.01, 0.002}};
    for (size_t k = 0; k < sizeof CASE / sizeof *CASE; k++) {
        char path[] = "/tmp/tribo-torsion-XXXXXX.xml", out[] = "/tmp/tribo-torsion-XXXXXX.xml", name[32];
        write_scene(path, CASE[k].text), write_scene(out, "");
        tribo_model *m = read_scene(path);
        snprintf(name, sizeof name, "%s/torsion", CASE[k].of);
        ck_assert_double_eq(number(m, name), CASE[k].torsion);
        double *p = world_zeros(tribo_model_sizes(m).np);
        tribo_model_params(m, p);
        p[tribo_param_find(m, name)] = 0.0125;
        snprintf(name, sizeof name, "%s/rolling", CASE[k].of);
        ck_assert_double_eq(number(m, name), CASE[k].rolling);
        p[tribo_param_find(m, name)] = 0.0025;
        tribo_diag diag = {0};
        ck_assert_msg(tribo_model_save(m, p, path, out, &diag) == TRIBO_OK, "%zu: %s", k, diag.text);
        tribo_model *again = read_scene(out);
        ck_assert_double_eq(number(again, name), 0.0025);
        tribo_model_free(m), tribo_model_free(again), free(p);
        remove(path), remove(out);
    }
    static const struct {
        const char *text, *message;
    } WRONG[] = {
        {SCENE("0.5 -0.01", "4", ""), "torsion must be >= 0"},
        {SCENE("0.5 0 -1", "6", ""), "rolling must be >= 0"},
        {SCENE("0.5", "3", "<contact><pair geom1='floor' geom2='ball' condim='6' friction='1 1 0 1 2'/></contact>"),
         "the last two must be equal"}};
    for (size_t k = 0; k < sizeof WRONG / sizeof *WRONG; k++) {
        char path[] = "/tmp/tribo-torsion-XXXXXX.xml";
        write_scene(path, WRONG[k].text);
        tribo_model *m = NULL;
        tribo_diag diag = {0};
        ck_assert_int_lt(tribo_model_load(path, NULL, &m, &diag), 0);
        ck_assert_msg(strstr(diag.text, WRONG[k].message) && diag.line == 1, "%d: %s", diag.line, diag.text);
        remove(path);
    }
}
END_TEST

#ifdef HAVE_MUJOCO
/* As MuJoCo has it to a percent, whose contact is soft and whose cone is one of all. */
START_TEST(as_mujoco) {
    static const double V0[2][6] = {{0, 0, 0, 0, 0, 10}, {0.5, 0, 0, 0, 5, 0}};
    enum { N = 100 };
    char path[] = "/tmp/tribo-torsion-XXXXXX.xml", error[500] = "";
    write_scene(path, SCENE("0.8 0.01 0.004", "6", ""));
    world w = world_of(read_scene(path), NULL);
    mjModel *mm = mj_loadXML(path, NULL, error, sizeof error);
    ck_assert_msg(mm != NULL, "%s", error);
    mjData *d = mj_makeData(mm);
    memcpy(d->qvel, V0[_i], sizeof V0[_i]), memcpy(world_v0(&w, 0), V0[_i], sizeof V0[_i]);
    world_steps(&w, N);
    world_run(&w);
    for (int k = 0; k < N; k++) mj_step(mm, d);
    int of = _i ? 0 : 5;
    double lost = V0[_i][of] - world_v(&w, N, 0, of);
    ck_assert(lost > 0.02);
    NEAR(V0[_i][of] - d->qvel[of], lost, 0.02 * lost);
    mj_deleteData(d), mj_deleteModel(mm), world_free(&w), remove(path);
}
END_TEST
#endif

/* ---- by the interior point alone ---- */

/* A ball that comes down at 1 m/s, rolls at 5/s and spins at 3/s, or so slowly that it stops: impulses of what touches,
 * turns and rolls in closed form. Its block has `width` velocities, those beyond six of nothing that touches. */
typedef struct dropped {
    double M[64], J[3 * 3 * 8], vfree[8], ref[9], mu[3], lambda[9];
    int width, voff, moff, a[3], b[3], joff[3], before[8], column[8];
    unsigned char what[3];
    ti_support support[6];
    ti_contact_problem p;
} dropped;

static void drop(dropped *d, int width, bool ways, bool slow) {
    const double m = 2, r = 0.1, I = 0.008, torsion = 0.002, rolling = 0.001, load = m * 1;
    const double roll_speed = slow ? 0.05 : 5, spin = slow ? 0.1 : 3;
    *d = (dropped){.width = width, .mu = {0.5, torsion / r, rolling / r}, .b = {-1, -1, -1}};
    d->what[1] = TI_CONSTRAINT_TWIST, d->what[2] = TI_CONSTRAINT_ROLL;
    for (int k = 0; k < width; k++) {
        d->M[k * width + k] = k < 3 ? m : k < 6 ? I : 1;
        d->before[k] = k - 1, d->column[k] = width - 1 - k;
    }
    for (int i = 0; i < 3; i++)
        d->joff[i] = 3 * width * i, d->support[2 * i] = (ti_support){.n = width, .column = d->column};
    double *touch = d->J, *twist = d->J + 3 * width, *roll = d->J + 6 * width; /* turns in m/s of the surface */
    touch[0] = 1, touch[4] = -r, touch[width + 1] = 1, touch[width + 3] = r, touch[2 * width + 2] = 1;
    twist[2 * width + 5] = r;
    roll[3] = r, roll[width + 4] = r;
    d->vfree[0] = r * roll_speed, d->vfree[2] = -1, d->vfree[4] = roll_speed, d->vfree[5] = spin;
    d->p =
        (ti_contact_problem){.nc = 3, .nblk = 1, .nv = width, .width = &d->width, .voff = &d->voff, .moff = &d->moff};
    d->p.M = d->M, d->p.a = d->a, d->p.b = d->b, d->p.joff = d->joff, d->p.J = d->J, d->p.vfree = d->vfree;
    d->p.ref = d->ref, d->p.mu = d->mu, d->p.what = d->what, d->p.spins = true;
    if (ways) d->p.before = d->before, d->p.support = d->support, d->p.chains = true;
    /* turning and rolling lose what their bounds take; the contact keeps to v_x = r w_y: l (1/m + r^2/I) = r t/I */
    double turn = -rolling * load;
    d->lambda[2] = load, d->lambda[5] = -torsion * load / r, d->lambda[7] = turn / r;
    d->lambda[0] = r * turn / I / (1 / m + r * r / I);
    if (slow) d->lambda[0] = -m * r * roll_speed, d->lambda[5] = -I * spin / r;
    if (slow) d->lambda[7] = d->lambda[0] - I * roll_speed / r;
}

/* Bounds that follow the load are in the interior point's own system: it comes to the closed form without the path,
 * whatever the block is stored as. */
START_TEST(interior_point) {
    static const struct {
        int width;
        bool ways;
    } FORM[] = {{6, false}, {7, false}, {6, true}, {8, true}};
    for (size_t f = 0; f < sizeof FORM / sizeof *FORM; f++)
        for (int slow = 0; slow < 2; slow++) {
            int met = 0;
            for (int k = 0; k < 6; k++) {
                dropped d;
                ti_contact_ws *ws = NULL;
                int done = 0;
                drop(&d, FORM[f].width, FORM[f].ways, slow);
                const ti_contact_size size = {3, d.width, 1, d.width, FORM[f].ways, true};
                ck_assert_int_eq(ti_contact_ws_new(&size, NULL, NULL, &ws), TRIBO_OK);
                ti_contact_take_law(ws, &d.p);
                ck_assert(ti_contact_prepare(ws, &d.p));
                ck_assert_int_eq(ti_system_pattern(&ws->sys, &d.p), TRIBO_OK);
                memcpy(ws->v, d.vfree, sizeof(double) * (size_t)d.width);
                memset(ws->lambda, 0, sizeof d.lambda);
                bool fine = ti_ncp_interior(ws, &d.p, 0, &ti_ladder_settings[k], 1e-12, &done, 200);
                for (int r = 0; fine && r < 9; r++) NEAR(ws->lambda[r], d.lambda[r], slow ? 1e-8 : 1e-10);
                met += fine; /* one that is in a hurry may stall */
                ti_contact_ws_free(ws);
            }
            ck_assert_msg(met >= 5, "%d of 6", met);
        }
}
END_TEST

/* A rod on two points that do not slip and that torsion holds: where it rolls, askew is another motion to each side
 * (docs/math.md eq. (481)), which is a kink; at rest, or without torsion, it is none. */
START_TEST(a_rolling_rod_is_a_ring) {
    static const char *const CONDIM[] = {"3", "4"};
    for (int k = 0; k < 4; k++) {
        char text[1024];
        bool torsion = k / 2, rolls = k % 2;
        snprintf(text, sizeof text,
                 "<mujoco><option timestep='0.002'/><default><geom condim='%s' friction='0.8 0.01 0.002'/></default>"
                 "<worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 0.05'><freejoint/>"
                 "<geom type='capsule' size='0.05 0.1' euler='90 0 0'/></body></worldbody></mujoco>",
                 CONDIM[torsion]);
        world w = world_of(model_of(text), NULL);
        if (rolls) world_v0(&w, 0)[0] = 0.2, world_v0(&w, 0)[4] = 4;
        world_steps(&w, 10);
        world_run(&w);
        const tribo_step_info *info = tribo_last_info(w.ws);
        ck_assert_int_eq(info->ndegenerate, torsion && rolls ? 2 : 0);
        if (torsion && rolls)
            ck_assert_double_eq(info->margin, 0);
        else
            ck_assert_double_gt(info->margin, 0.5);
        world_free(&w);
    }
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("torsion");
    TCase *c = tcase_create("closed forms");
    tcase_add_test(c, a_spinning_ball_stops);
    tcase_add_test(c, a_rolling_ball_stops);
    tcase_add_test(c, a_ball_on_a_slope);
    tcase_add_test(c, sliding_and_turning);
    tcase_add_loop_test(c, under_every_law, 0, NLAWS);
    tcase_add_test(c, interior_point);
    tcase_add_test(c, refused_by_name);
    tcase_add_loop_test(c, reverse_and_tangents, 0, 10);
    tcase_add_test(c, rolling_yields_to_gaps);
    tcase_add_test(c, what_lands_is_stopped_once);
    tcase_add_test(c, a_rolling_rod_is_a_ring);
    tcase_add_test(c, read_and_written);
#ifdef HAVE_MUJOCO
    tcase_add_loop_test(c, as_mujoco, 0, 2);
#endif
    suite_add_tcase(s, c);
    return s;
}
