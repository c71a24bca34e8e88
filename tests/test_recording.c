/* test_recording.c -- mistakes made on purpose in recordings whose motion is known, each found, named, and undone or
 * refused; and recordings without a mistake, in which nothing is found. */
#include "math/vec.h"
#include "test_main.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tribo/tribo.h>

enum { ROWS = 90, BODIES = 2, NX = 13 * BODIES, SEEDS = 3, LAG = 3 };
static const double spacing = 0.01, gravity = 9.81;

#define SCENE(bodies, extra)                                                                                           \
    "<mujoco><option timestep='0.001' gravity='0 0 -9.81'/>" extra                                                     \
    "<worldbody><geom name='floor' type='plane' size='0 0 1' priority='1' friction='0.3'/>" bodies                     \
    "</worldbody></mujoco>"
#define CUBE(name, x)                                                                                                  \
    "<body name='" name "' pos='" x "'><freejoint/><geom name='" name "' type='box' size='.1 .1 .1' mass='1'/></body>"
#define RESTITUTION "<custom><numeric name='floor/restitution' data='0.6'/></custom>"

/* A motion as it is recorded: n rows of ROWS, all columns. */
typedef struct motion {
    tribo_model *m;
    tribo_sizes z;
    int n;
    double time[ROWS], x[ROWS * NX];
    uint64_t random;
} motion;

static double uniform(motion *d) {
    d->random = d->random * 6364136223846793005u + 1442695040888963407u;
    return ((double)(d->random >> 11) + 0.5) / 9007199254740992.0;
}
static double gauss(motion *d) {
    double u = uniform(d), v = uniform(d);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static void begin(motion *d, const char *xml, uint64_t seed) {
    tribo_diag diag = {0};
    memset(d, 0, sizeof *d);
    ck_assert_msg(tribo_model_load_memory(xml, strlen(xml), "test", NULL, &d->m, &diag) == TRIBO_OK, "%s", diag.text);
    d->z = tribo_model_sizes(d->m);
    d->n = ROWS;
    d->random = seed;
    for (int k = 0; k < ROWS; k++) d->time[k] = k * spacing;
}

static double *pose(motion *d, int k, int b) {
    return d->x + k * d->z.nx + 7 * b;
}
static double *rate(motion *d, int k, int b) {
    return d->x + k * d->z.nx + d->z.nq + 6 * b;
}

/* 1 mm and 10 mrad on poses, 1 cm/s and 0.05 rad/s on velocities. */
static void add_noise(motion *d) {
    for (int k = 0; k < d->n; k++)
        for (int b = 0; b < d->z.nbody; b++) {
            double turn[4], *q = pose(d, k, b), *v = rate(d, k, b);
            ti_quat_exp(ti_vec3(0.01 * gauss(d), 0.01 * gauss(d), 0.01 * gauss(d)), turn);
            ti_quat_mul(q + 3, turn, q + 3);
            for (int i = 0; i < 3; i++) q[i] += 1e-3 * gauss(d), v[i] += 0.01 * gauss(d), v[3 + i] += 0.05 * gauss(d);
        }
}

static void no_velocities(motion *d) {
    for (int k = 0; k < d->n; k++)
        for (int i = d->z.nq; i < d->z.nx; i++) d->x[k * d->z.nx + i] = NAN;
}

/* ---- motions ---- */

/* A cube that slides to its stop, turned about the vertical: closed form. */
static void slide_in(motion *d, const char *xml, uint64_t seed) {
    static const double speed = 2.1, friction = 0.25;
    begin(d, xml, seed);
    for (int k = 0; k < ROWS; k++) {
        double t = d->time[k], stop = speed / (friction * gravity), s = t < stop ? t : stop;
        double way = speed * s - friction * gravity * s * s / 2, v = speed - friction * gravity * s;
        double q[7] = {0.8 * way, 0.6 * way, 0.1, cos(0.15), 0, 0, sin(0.15)};
        memcpy(pose(d, k, 0), q, sizeof q);
        rate(d, k, 0)[0] = 0.8 * v, rate(d, k, 0)[1] = 0.6 * v;
    }
    add_noise(d);
}

static void slide(motion *d, uint64_t seed) {
    slide_in(d, SCENE(CUBE("cube", "0 0 .1"), ""), seed);
}

#define BALL(name, at)                                                                                                 \
    "<body name='" name "' pos='" at "'><freejoint/><geom name='" name "' type='sphere' size='.1' mass='1'/></body>"

/* Body b as a ball that drops from z, bounces and spins without friction: from event to event. */
static void drop_ball(motion *d, int b, double y, double z, double speed) {
    double v = 0, q[4] = {1, 0, 0, 0}, step[4], R = 0.1;
    ti_quat_exp(ti_vec3(3 * spacing, 2 * spacing, spacing), step);
    for (int k = 0; k < ROWS; k++) {
        double *x = pose(d, k, b), *w = rate(d, k, b), left = spacing;
        x[0] = speed * d->time[k], x[1] = y, x[2] = z;
        memcpy(x + 3, q, sizeof q);
        w[0] = speed, w[2] = v, w[3] = 3, w[4] = 2, w[5] = 1;
        ti_quat_mul(q, step, q);
        for (;;) {
            double hit = (v + sqrt(v * v + 2 * gravity * (z - R))) / gravity;
            if (hit > left) break;
            z = R, v = 0.6 * (gravity * hit - v), left -= hit;
        }
        z += v * left - gravity * left * left / 2, v -= gravity * left;
    }
}

static void bounce(motion *d, uint64_t seed) {
    begin(d, SCENE(BALL("ball", "0 0 .6"), RESTITUTION), seed);
    drop_ball(d, 0, 0, 0.6, 0.5);
    add_noise(d);
}

static void two_balls(motion *d, uint64_t seed) {
    begin(d, SCENE(BALL("first", "0 0 .6") BALL("second", "0 1 .9"), RESTITUTION), seed);
    drop_ball(d, 0, 0, 0.6, 0.5);
    drop_ball(d, 1, 1, 0.9, -0.2);
    add_noise(d);
}

/* Nothing of how bodies are turned. */
static void places_alone(motion *d) {
    for (int k = 0; k < d->n; k++)
        for (int b = 0; b < d->z.nbody; b++)
            for (int i = 3; i < 7; i++) pose(d, k, b)[i] = NAN;
    no_velocities(d);
}

static void places_of_bounce(motion *d, uint64_t seed) {
    bounce(d, seed);
    places_alone(d);
}

static void places_of_slide(motion *d, uint64_t seed) {
    slide(d, seed);
    places_alone(d);
}

/* A plank on its edge, which the scene has on its side: its middle is higher than that says. */
static void places_of_plank(motion *d, uint64_t seed) {
    slide_in(d,
             SCENE("<body name='plank' pos='0 0 .02'><freejoint/><geom name='plank' type='box' size='.3 .1 .02' "
                   "mass='1'/></body>",
                   ""),
             seed);
    places_alone(d);
}

/* What the library makes of a scene, a thousand steps a second. */
static void simulated(motion *d) {
    tribo_ws *ws = NULL;
    double p[200];
    ck_assert_int_le(d->z.np, 200);
    tribo_model_params(d->m, p);
    ck_assert_int_eq(tribo_ws_new(d->m, NULL, NULL, &ws, NULL), TRIBO_OK);
    for (int k = 1; k < ROWS; k++) {
        double *x = d->x + k * d->z.nx;
        memcpy(x, x - d->z.nx, (size_t)d->z.nx * sizeof *x);
        for (int j = 0; j < 10; j++) ck_assert_int_ge(tribo_step(ws, p, x, NULL, x, NULL), 0);
    }
    tribo_ws_free(ws);
    add_noise(d);
}

/* A cube tossed onto a corner. */
static void toss(motion *d, uint64_t seed) {
    begin(d, SCENE(CUBE("cube", "0 0 .1"), ""), seed);
    double q[7] = {0, 0, 0.6}, v[6] = {1.5, 0.3, 0.3, 7, -5, 3};
    ti_quat_exp(ti_vec3(0.4 + 0.2 * uniform(d), 0.9, -0.7 + 0.2 * uniform(d)), q + 3);
    memcpy(pose(d, 0, 0), q, sizeof q), memcpy(rate(d, 0, 0), v, sizeof v);
    simulated(d);
}

static void places_of_toss(motion *d, uint64_t seed) {
    toss(d, seed);
    places_alone(d);
}

/* A cube that slides into another. */
static void collide(motion *d, uint64_t seed) {
    begin(d, SCENE(CUBE("first", "-.5 0 .1") CUBE("second", "0 0 .1"), ""), seed);
    double a[7] = {-0.5, 0.03, 0.1}, b[7] = {0, 0, 0.1, 1}, speed = 2 + 0.3 * uniform(d);
    ti_quat_exp(ti_vec3(0, 0, 0.2), a + 3);
    memcpy(pose(d, 0, 0), a, sizeof a), memcpy(pose(d, 0, 1), b, sizeof b);
    rate(d, 0, 0)[0] = speed;
    simulated(d);
}

/* ---- mistakes ---- */

static void millimetres(motion *d) {
    for (int k = 0; k < d->n; k++)
        for (int b = 0; b < d->z.nbody; b++)
            for (int i = 0; i < 3; i++) pose(d, k, b)[i] *= 1000, rate(d, k, b)[i] *= 1000;
}
static void millimetres_of_poses(motion *d) {
    for (int k = 0; k < d->n; k++)
        for (int b = 0; b < d->z.nbody; b++)
            for (int i = 0; i < 3; i++) pose(d, k, b)[i] *= 1000;
}
static void centimetres_of_poses(motion *d) {
    for (int k = 0; k < d->n; k++)
        for (int b = 0; b < d->z.nbody; b++)
            for (int i = 0; i < 3; i++) pose(d, k, b)[i] *= 100;
}
static void one_coordinate_less(motion *d) {
    for (int k = 0; k < d->n; k++) pose(d, k, 0)[1] = NAN;
}
static void millimetres_of_velocities(motion *d) {
    for (int k = 0; k < d->n; k++)
        for (int b = 0; b < d->z.nbody; b++)
            for (int i = 0; i < 3; i++) rate(d, k, b)[i] *= 1000;
}
static void milliseconds(motion *d) {
    for (int k = 0; k < d->n; k++) d->time[k] *= 1000;
}
/* A second of it lasts 1.1 s. */
static void slow_clock(motion *d) {
    for (int k = 0; k < d->n; k++) d->time[k] *= 1.1;
}
/* Stamped up to four tenths of a row too early or too late. */
static void jitter(motion *d) {
    for (int k = 0; k < d->n; k++) d->time[k] += spacing * (0.8 * uniform(d) - 0.4);
}
static void degrees(motion *d) {
    for (int k = 0; k < d->n; k++)
        for (int i = 3; i < 6; i++) rate(d, k, 0)[i] *= 57.29577951308232;
}
static void real_part_last(motion *d) {
    for (int k = 0; k < d->n; k++)
        for (int b = 0; b < d->z.nbody; b++) {
            double *q = pose(d, k, b) + 3, w = q[0];
            memmove(q, q + 1, 3 * sizeof *q);
            q[3] = w;
        }
}
static void world_axes(motion *d) {
    for (int k = 0; k < d->n; k++) {
        ti_mat R = ti_quat_mat(pose(d, k, 0) + 3);
        ti_store3(rate(d, k, 0) + 3, ti_mul(&R, ti_load3(rate(d, k, 0) + 3)));
    }
}
static void cut_front(motion *d, int rows) {
    d->n -= rows;
    memmove(d->time, d->time + rows, (size_t)d->n * sizeof *d->time);
    memmove(d->x, d->x + rows * d->z.nx, (size_t)d->n * (size_t)d->z.nx * sizeof *d->x);
}
/* Numbers [from, to) of all rows as they were LAG rows before. */
static void late(motion *d, int from, int to) {
    for (int k = d->n - 1; k >= LAG; k--)
        for (int i = from; i < to; i++) d->x[k * d->z.nx + i] = d->x[(k - LAG) * d->z.nx + i];
    cut_front(d, LAG);
}
static void late_velocities(motion *d) {
    late(d, d->z.nq, d->z.nq + 3);
}
static void late_angular(motion *d) {
    late(d, d->z.nq + 3, d->z.nq + 6);
}
static void late_rotations(motion *d) {
    late(d, 3, 7);
}
static void late_body(motion *d) {
    late(d, 7, 14);
}
static void drop(motion *d, int row, int rows) {
    d->n -= rows;
    for (int k = row; k < d->n; k++)
        memcpy(d->x + k * d->z.nx, d->x + (k + rows) * d->z.nx, (size_t)d->z.nx * sizeof *d->x);
}
static void dropped_silently(motion *d) {
    drop(d, 15, 12);
}
/* Where it goes at half a metre a second. */
static void dropped_slowly(motion *d) {
    drop(d, 65, 6);
}
static void dropped_once_hit(motion *d) {
    drop(d, 28, 6);
}
static void dropped_by_the_times(motion *d) {
    drop(d, 15, 12);
    for (int k = 15; k < d->n; k++) d->time[k] += 12 * spacing;
}
/* Too fast, for its distances, to be seen to fly. */
static void millimetres_in_haste(motion *d) {
    cut_front(d, 18);
    d->n = 22;
    millimetres(d);
}
static void exchange(motion *d, int from) {
    for (int k = from; k < d->n; k++)
        for (int i = 0; i < 13; i++) {
            double *a = i < 7 ? pose(d, k, 0) + i : rate(d, k, 0) + i - 7;
            double *b = i < 7 ? pose(d, k, 1) + i : rate(d, k, 1) + i - 7, keep = *a;
            *a = *b, *b = keep;
        }
}
static void names(motion *d) {
    exchange(d, 0);
}
static void names_half_way(motion *d) {
    exchange(d, 50);
}
static void one_sign(motion *d) {
    for (int i = 3; i < 7; i++) pose(d, 20, 0)[i] *= -1;
}
static void backward(motion *d) {
    for (int k = d->n - 1; k > 0; k--)
        for (int i = 0; i < 3; i++) rate(d, k, 0)[i] = (pose(d, k, 0)[i] - pose(d, k - 1, 0)[i]) / spacing;
    cut_front(d, 1);
}
static void one_row_off(motion *d) {
    pose(d, 20, 0)[0] += 0.2;
}
static void floor_too_low(motion *d) {
    for (int k = 0; k < d->n; k++)
        for (int b = 0; b < d->z.nbody; b++) pose(d, k, b)[2] += 0.25;
}
static void floor_too_high(motion *d) {
    for (int k = 0; k < d->n; k++)
        for (int b = 0; b < d->z.nbody; b++) pose(d, k, b)[2] -= 0.12;
}
static void below_the_floor(motion *d) {
    for (int k = 0; k < d->n; k++) pose(d, k, 0)[2] *= -1;
}
static void pure_noise(motion *d) {
    for (int k = 0; k < d->n; k++)
        for (int i = 0; i < 3; i++) rate(d, k, 0)[i] = 20 * gauss(d);
}

typedef void (*make)(motion *d, uint64_t seed);
typedef void (*spoil)(motion *d);

/* What must be found, and whether the poses must come out as they were. Those that take a second each are last. */
static const struct {
    const char *name;
    make motion;
    bool poses_alone;
    spoil mistake;
    tribo_convention about;
    tribo_outcome outcome;
    bool restored;
} CASE[] = {
    {"mm and mm/s, slide", slide, false, millimetres, TRIBO_CONVENTION_LENGTH, TRIBO_OUTCOME_MENDED, true},
    {"mm, slide", slide, true, millimetres, TRIBO_CONVENTION_LENGTH, TRIBO_OUTCOME_MENDED, true},
    {"mm, bounce", bounce, true, millimetres, TRIBO_CONVENTION_LENGTH, TRIBO_OUTCOME_MENDED, true},
    {"mm, toss", toss, true, millimetres, TRIBO_CONVENTION_LENGTH, TRIBO_OUTCOME_MENDED, true},
    {"mm, collision", collide, true, millimetres, TRIBO_CONVENTION_LENGTH, TRIBO_OUTCOME_MENDED, true},
    {"mm and m/s, toss", toss, false, millimetres_of_poses, TRIBO_CONVENTION_LENGTH, TRIBO_OUTCOME_MENDED, true},
    {"cm and m/s, bounce", bounce, false, centimetres_of_poses, TRIBO_CONVENTION_LENGTH, TRIBO_OUTCOME_MENDED, true},
    {"m and mm/s, bounce", bounce, false, millimetres_of_velocities, TRIBO_CONVENTION_VELOCITY, TRIBO_OUTCOME_MENDED,
     true},
    {"mm, short toss", toss, true, millimetres_in_haste, TRIBO_CONVENTION_LENGTH, TRIBO_OUTCOME_MENDED, false},
    {"ms, bounce", bounce, true, milliseconds, TRIBO_CONVENTION_TIME, TRIBO_OUTCOME_MENDED, true},
    {"ms, toss", toss, false, milliseconds, TRIBO_CONVENTION_TIME, TRIBO_OUTCOME_MENDED, true},
    {"ms, slide with velocities", slide, false, milliseconds, TRIBO_CONVENTION_TIME, TRIBO_OUTCOME_MENDED, true},
    {"ms, slide", slide, true, milliseconds, TRIBO_CONVENTION_TIME, TRIBO_OUTCOME_REFUSED, false},
    {"ms, collision", collide, true, milliseconds, TRIBO_CONVENTION_TIME, TRIBO_OUTCOME_REFUSED, false},
    {"jitter, slide", slide, true, jitter, TRIBO_CONVENTION_TIME, TRIBO_OUTCOME_MENDED, false},
    {"jitter, bounce", bounce, true, jitter, TRIBO_CONVENTION_TIME, TRIBO_OUTCOME_MENDED, false},
    {"jitter, slide with velocities", slide, false, jitter, TRIBO_CONVENTION_TIME, TRIBO_OUTCOME_MENDED, false},
    {"jitter, toss", toss, true, jitter, TRIBO_CONVENTION_TIME, TRIBO_OUTCOME_MENDED, false},
    {"degrees, bounce", bounce, false, degrees, TRIBO_CONVENTION_ANGULAR, TRIBO_OUTCOME_MENDED, true},
    {"degrees, toss", toss, false, degrees, TRIBO_CONVENTION_ANGULAR, TRIBO_OUTCOME_MENDED, true},
    {"degrees, slide", slide, false, degrees, TRIBO_CONVENTION_ANGULAR, TRIBO_OUTCOME_MENDED, true},
    {"x y z w, slide", slide, true, real_part_last, TRIBO_CONVENTION_ORDER, TRIBO_OUTCOME_MENDED, true},
    {"x y z w, toss", toss, true, real_part_last, TRIBO_CONVENTION_ORDER, TRIBO_OUTCOME_MENDED, true},
    {"x y z w, toss with velocities", toss, false, real_part_last, TRIBO_CONVENTION_ORDER, TRIBO_OUTCOME_MENDED, true},
    {"x y z w, bounce", bounce, false, real_part_last, TRIBO_CONVENTION_ORDER, TRIBO_OUTCOME_MENDED, true},
    {"world axes, toss", toss, false, world_axes, TRIBO_CONVENTION_FRAME, TRIBO_OUTCOME_MENDED, true},
    {"late velocities, slide", slide, false, late_velocities, TRIBO_CONVENTION_DELAY, TRIBO_OUTCOME_MENDED, true},
    {"late velocities, bounce", bounce, false, late_velocities, TRIBO_CONVENTION_DELAY, TRIBO_OUTCOME_MENDED, true},
    {"late angular velocities", toss, false, late_angular, TRIBO_CONVENTION_DELAY, TRIBO_OUTCOME_MENDED, true},
    {"late rotations", toss, true, late_rotations, TRIBO_CONVENTION_CLOCK, TRIBO_OUTCOME_MENDED, false},
    {"dropped silently, toss", toss, true, dropped_silently, TRIBO_CONVENTION_GAP, TRIBO_OUTCOME_MENDED, false},
    {"dropped silently, slide", slide, true, dropped_silently, TRIBO_CONVENTION_GAP, TRIBO_OUTCOME_MENDED, false},
    {"dropped slowly, slide", slide, true, dropped_slowly, TRIBO_CONVENTION_GAP, TRIBO_OUTCOME_MENDED, false},
    {"dropped, slide", slide, true, dropped_by_the_times, TRIBO_CONVENTION_GAP, TRIBO_OUTCOME_NOTED, true},
    {"one sign", toss, true, one_sign, TRIBO_CONVENTION_SIGN, TRIBO_OUTCOME_NOTED, true},
    {"slow clock, slide", slide, false, slow_clock, TRIBO_CONVENTION_VELOCITY, TRIBO_OUTCOME_DOUBTED, false},
    {"slow clock, bounce", bounce, false, slow_clock, TRIBO_CONVENTION_VELOCITY, TRIBO_OUTCOME_DOUBTED, false},
    {"slow clock, toss", toss, false, slow_clock, TRIBO_CONVENTION_VELOCITY, TRIBO_OUTCOME_DOUBTED, false},
    {"slow clock, collision", collide, false, slow_clock, TRIBO_CONVENTION_VELOCITY, TRIBO_OUTCOME_DOUBTED, false},
    {"backward differences", bounce, false, backward, TRIBO_CONVENTION_KIND, TRIBO_OUTCOME_MENDED, true},
    {"mm, places of a bounce", places_of_bounce, true, millimetres_of_poses, TRIBO_CONVENTION_LENGTH,
     TRIBO_OUTCOME_MENDED, true},
    {"ms, places of a bounce", places_of_bounce, true, milliseconds, TRIBO_CONVENTION_TIME, TRIBO_OUTCOME_MENDED, true},
    {"mm, places of a slide", places_of_slide, true, millimetres_of_poses, TRIBO_CONVENTION_LENGTH,
     TRIBO_OUTCOME_MENDED, true},
    {"mm, places of a toss", places_of_toss, true, millimetres_of_poses, TRIBO_CONVENTION_LENGTH, TRIBO_OUTCOME_MENDED,
     true},
    {"dropped, places of a toss", places_of_toss, true, dropped_silently, TRIBO_CONVENTION_GAP, TRIBO_OUTCOME_MENDED,
     false},
    {"below the floor, places of a bounce", places_of_bounce, true, below_the_floor, TRIBO_CONVENTION_SCENE,
     TRIBO_OUTCOME_REFUSED, false},
    {"two of three coordinates", slide, true, one_coordinate_less, TRIBO_CONVENTION_SCENE, TRIBO_OUTCOME_REFUSED,
     false},
    {"a row off", slide, true, one_row_off, TRIBO_CONVENTION_OUTLIER, TRIBO_OUTCOME_MENDED, false},
    {"floor too low", slide, true, floor_too_low, TRIBO_CONVENTION_SCENE, TRIBO_OUTCOME_REFUSED, false},
    {"floor too high", slide, true, floor_too_high, TRIBO_CONVENTION_SCENE, TRIBO_OUTCOME_REFUSED, false},
    {"velocities of something else", slide, false, pure_noise, TRIBO_CONVENTION_VELOCITY, TRIBO_OUTCOME_MENDED, true},
    {"names, balls", two_balls, true, names, TRIBO_CONVENTION_NAMES, TRIBO_OUTCOME_MENDED, true},
    {"names half way, balls", two_balls, true, names_half_way, TRIBO_CONVENTION_NAMES, TRIBO_OUTCOME_MENDED, true},
    {"x y z w, collision", collide, true, real_part_last, TRIBO_CONVENTION_ORDER, TRIBO_OUTCOME_MENDED, true},
    {"dropped once hit, collision", collide, true, dropped_once_hit, TRIBO_CONVENTION_GAP, TRIBO_OUTCOME_MENDED, false},
    {"late body", collide, true, late_body, TRIBO_CONVENTION_CLOCK, TRIBO_OUTCOME_MENDED, false},
    {"names", collide, true, names, TRIBO_CONVENTION_NAMES, TRIBO_OUTCOME_MENDED, false},
    {"names half way", collide, true, names_half_way, TRIBO_CONVENTION_NAMES, TRIBO_OUTCOME_MENDED, false},
};
enum { NCASES = sizeof CASE / sizeof *CASE, TAKE_LONG = 5 };

static tribo_checked *look(const motion *d) {
    tribo_checked *c = NULL;
    tribo_diag diag = {0};
    tribo_recording r = {.n = d->n, .time = d->time, .x = d->x};
    ck_assert_msg(tribo_checked_new(d->m, NULL, &r, NULL, &c, &diag) == TRIBO_OK, "%s", diag.text);
    return c;
}

static bool found(const tribo_checked *c, tribo_convention about, tribo_outcome outcome) {
    int n;
    const tribo_finding *f = tribo_checked_findings(c, &n);
    for (int i = 0; i < n; i++)
        if (f[i].about == about && f[i].outcome == outcome) return true;
    return false;
}

static void print(const char *name, int seed, const tribo_checked *c) {
    int n;
    const tribo_finding *f = tribo_checked_findings(c, &n);
    printf("%s, seed %d:%s\n", name, seed, n ? "" : " nothing found");
    for (int i = 0; i < n; i++) printf("    %d: %s\n", f[i].outcome, f[i].text);
}

/* Are times and poses those of the motion without the mistake? Rows that a mistake cuts off are at the front. */
static bool restored(const tribo_checked *c, motion *d) {
    tribo_recording r = tribo_checked_recording(c);
    cut_front(d, d->n - r.n);
    for (int k = 0; k < r.n; k++)
        for (int b = 0; b < d->z.nbody; b++) {
            const double *q = r.x + k * d->z.nx + 7 * b, *was = pose(d, k, b);
            double sign = q[3] * was[3] + q[4] * was[4] + q[5] * was[5] + q[6] * was[6] < 0 ? -1 : 1;
            if (fabs((r.time[k] - r.time[0]) - (d->time[k] - d->time[0])) > 1e-9) return false;
            for (int i = 0; i < 7; i++)
                if (fabs(q[i] - (i < 3 ? 1 : sign) * was[i]) > 1e-9) return false;
        }
    return true;
}

START_TEST(mistake) {
    int missed = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        motion d, right;
        CASE[_i].motion(&d, (uint64_t)seed);
        if (CASE[_i].poses_alone) no_velocities(&d);
        right = d;
        CASE[_i].mistake(&d);
        bool gap = CASE[_i].about == TRIBO_CONVENTION_GAP;
        if (gap) right = d;
        tribo_checked *c = look(&d);
        bool good = found(c, CASE[_i].about, CASE[_i].outcome) && (!CASE[_i].restored || restored(c, &right));
        bool refused = tribo_checked_refused(c) != NULL;
        if (!good || refused != (CASE[_i].outcome == TRIBO_OUTCOME_REFUSED)) {
            print(CASE[_i].name, seed, c);
            missed++;
        }
        tribo_checked_free(c);
        tribo_model_free(d.m);
    }
    ck_assert_msg(missed == 0, "%s: missed in %d of %d", CASE[_i].name, missed, SEEDS);
}
END_TEST

/* A recording as it should be comes back bit for bit. */
START_TEST(nothing_to_find) {
    static const make motions[] = {slide,           bounce,         toss, collide, places_of_toss, places_of_bounce,
                                   places_of_slide, places_of_plank};
    for (int i = 0; i < 8; i++)
        for (int seed = 1; seed <= 8 * SEEDS; seed++) {
            motion d;
            motions[i](&d, (uint64_t)(100 + seed));
            if (seed % 2) no_velocities(&d);
            tribo_checked *c = look(&d);
            int n;
            (void)tribo_checked_findings(c, &n);
            if (n) print("nothing to find", 10 * seed + i, c);
            ck_assert_int_eq(n, 0);
            tribo_recording r = tribo_checked_recording(c);
            ck_assert_int_eq(r.n, d.n);
            for (int k = 0; k < d.n * d.z.nx; k++) ck_assert(r.x[k] == d.x[k] || isnan(d.x[k]));
            tribo_checked_free(c);
            tribo_model_free(d.m);
        }
}
END_TEST

/* Looked at, and freed. */
static void times_are_left(motion *d) {
    double time[ROWS];
    memcpy(time, d->time, sizeof time);
    tribo_checked *c = look(d);
    ck_assert(!found(c, TRIBO_CONVENTION_TIME, TRIBO_OUTCOME_MENDED));
    tribo_recording r = tribo_checked_recording(c);
    for (int k = 0; k < r.n && r.n == d->n; k++) ck_assert(r.time[k] == time[k]);
    tribo_checked_free(c);
    tribo_model_free(d->m);
}

/* Times that are uneven and true are left: half of the rows, at random. */
START_TEST(uneven_times_may_be_true) {
    static const make motions[] = {slide,           bounce,         toss, collide, places_of_toss, places_of_bounce,
                                   places_of_slide, places_of_plank};
    for (int i = 0; i < 8; i++)
        for (int seed = 1; seed <= 4 * SEEDS; seed++) {
            motion d;
            motions[i](&d, (uint64_t)(300 + seed));
            no_velocities(&d);
            for (int k = d.n - 1; k > 0; k--)
                if (uniform(&d) < 0.5) {
                    drop(&d, k, 1);
                    memmove(d.time + k, d.time + k + 1, (size_t)(d.n - k) * sizeof *d.time);
                }
            times_are_left(&d);
        }
}
END_TEST

/* Half of a second is missing: the rate of even times would be of that. A last time of another clock is left out, and
 * says nothing of the rate. */
START_TEST(even_times_have_a_rate) {
    for (int seed = 1; seed <= SEEDS; seed++)
        for (int kind = 0; kind < 3; kind++) {
            motion d;
            slide(&d, (uint64_t)(400 + seed));
            no_velocities(&d);
            jitter(&d);
            if (kind == 0) drop(&d, 20, 4);
            for (int k = 20; k < d.n && kind == 0; k++) d.time[k] = d.time[k + 4];
            for (int k = 70; k < d.n && kind == 1; k++) d.time[k] += 0.5;
            if (kind < 2) {
                times_are_left(&d);
                continue;
            }
            d.time[d.n - 1] += 1e6;
            tribo_checked *c = look(&d);
            tribo_recording r = tribo_checked_recording(c);
            ck_assert_int_eq(r.n, d.n - 1);
            ck_assert_double_eq_tol(r.time[r.n - 1] - r.time[0], d.time[d.n - 2] - d.time[0], 0.012);
            tribo_checked_free(c);
            tribo_model_free(d.m);
        }
}
END_TEST

/* A clock that is set by 1e6 s or a wrong time: nobody simulates what goes on meanwhile. A pause is none. */
START_TEST(clocks_that_jump) {
    static const int after[] = {0, 15, 60, 88};
    for (int i = 0; i < 4; i++)
        for (int twice = 0; twice < 2; twice++) {
            motion d;
            slide(&d, (uint64_t)(500 + i));
            no_velocities(&d);
            ck_assert_int_gt(d.n, after[i] + 1);
            for (int k = after[i] + 1; k < d.n; k++) d.time[k] += 1e6;
            for (int k = after[i] + 2; k < d.n && twice; k++) d.time[k] += 3e6;
            tribo_checked *c = look(&d);
            tribo_recording r = tribo_checked_recording(c);
            ck_assert(found(c, TRIBO_CONVENTION_GAP, TRIBO_OUTCOME_MENDED));
            ck_assert(r.time[r.n - 1] - r.time[0] < 10);
            ck_assert_int_ge(r.n, d.n / 2);
            tribo_checked_free(c);
            tribo_model_free(d.m);
        }
    motion d;
    slide(&d, 510);
    no_velocities(&d);
    for (int k = 60; k < d.n; k++) d.time[k] += 5;
    tribo_checked *c = look(&d);
    ck_assert_int_eq(tribo_checked_recording(c).n, d.n);
    tribo_checked_free(c);
    tribo_model_free(d.m);
}
END_TEST

/* Without noise, what stands still says nothing. */
START_TEST(jitter_without_noise) {
    motion d;
    begin(&d, SCENE(CUBE("cube", "0 0 .1"), ""), 1);
    for (int k = 0; k < ROWS; k++) {
        const double q[7] = {0.005 * (k < 40 ? k : 40), 0, 0.1, 1};
        memcpy(pose(&d, k, 0), q, sizeof q);
    }
    no_velocities(&d);
    jitter(&d);
    tribo_checked *c = look(&d);
    ck_assert(found(c, TRIBO_CONVENTION_TIME, TRIBO_OUTCOME_MENDED));
    tribo_checked_free(c);
    tribo_model_free(d.m);
}
END_TEST

/* Numbers of the scene that are far from right make no mistake of a recording. */
START_TEST(wrong_scene) {
    static const make motions[] = {slide, bounce, toss, collide};
    static const struct {
        tribo_param_kind kind;
        double factor;
    } wrong[] = {{TRIBO_PARAM_FRICTION, 8}, {TRIBO_PARAM_FRICTION, 0.1}, {TRIBO_PARAM_MASS, 8}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++)
            for (int seed = 1; seed <= SEEDS; seed++) {
                motion d;
                double p[200];
                motions[i](&d, (uint64_t)(200 + seed));
                no_velocities(&d);
                tribo_model_params(d.m, p);
                for (int k = 0; k < d.z.np; k++) {
                    tribo_param_info info;
                    ck_assert_int_eq(tribo_param_describe(d.m, k, &info), TRIBO_OK);
                    if (info.kind == wrong[j].kind) p[k] *= wrong[j].factor;
                }
                tribo_checked *c = NULL;
                tribo_recording r = {.n = d.n, .time = d.time, .x = d.x};
                ck_assert_int_eq(tribo_checked_new(d.m, p, &r, NULL, &c, NULL), TRIBO_OK);
                int n;
                (void)tribo_checked_findings(c, &n);
                if (n) print("a wrong scene", 100 * i + 10 * j + seed, c);
                ck_assert_int_eq(n, 0);
                tribo_checked_free(c);
                tribo_model_free(d.m);
            }
}
END_TEST

/* What was shifted or exchanged is where it was. */
START_TEST(undone) {
    motion d, right;
    collide(&d, 3);
    no_velocities(&d);
    right = d;
    names(&d);
    tribo_checked *c = look(&d);
    ck_assert(restored(c, &right));
    tribo_checked_free(c);
    d = right;
    names_half_way(&d);
    c = look(&d);
    ck_assert(restored(c, &right));
    tribo_checked_free(c);
    d = right;
    late_body(&d);
    c = look(&d);
    tribo_recording r = tribo_checked_recording(c);
    for (int k = 0; k + LAG < r.n; k++)
        for (int i = 0; i < 14; i++) /* the second comes back to the first, whose times it gets */
            ck_assert(r.x[k * d.z.nx + i] == right.x[(k + LAG) * d.z.nx + i]);
    tribo_checked_free(c);
    tribo_model_free(d.m);
    toss(&d, 2);
    no_velocities(&d);
    drop(&d, 15, 6);
    c = look(&d);
    r = tribo_checked_recording(c);
    ck_assert_double_eq_tol(r.time[d.n - 1], (ROWS - 1) * spacing, 1e-9);
    tribo_checked_free(c);
    tribo_model_free(d.m);
}
END_TEST

/* A slide with all that can be measured of it: two markers, forces, controls. Each number says where it stands. */
typedef struct measured {
    motion d;
    double marker[ROWS * 6], force[ROWS * 3 * (2 + BODIES)], u[ROWS * 6];
} measured;

static tribo_recording measure(measured *a) {
    slide_in(&a->d,
             SCENE("<body name='cube' pos='0 0 .1'><freejoint/><geom name='cube' type='box' size='.1 .1 .1' mass='1'/>"
                   "<site name='a'/><site name='b' pos='.1 0 0'/></body>",
                   ""),
             7);
    no_velocities(&a->d);
    ck_assert(a->d.z.nsite == 2 && a->d.z.ngeom == 2 && a->d.z.nbody == 1 && a->d.z.nu == 6);
    for (int k = 0; k < ROWS; k++) {
        for (int i = 0; i < 6; i++) a->marker[6 * k + i] = k + 0.1 * i, a->u[6 * k + i] = 1e-9 * (k + 0.1 * i);
        for (int i = 0; i < 9; i++) a->force[9 * k + i] = 0;
        a->force[9 * k + 2] = -gravity - k; /* on the floor, from what stands on it */
    }
    return (tribo_recording){
        .n = ROWS, .time = a->d.time, .x = a->d.x, .u = a->u, .marker = a->marker, .force = a->force};
}

/* Where a motion jumps and nothing explains it, the longer part is kept, whichever it is: of all that was measured. */
START_TEST(what_is_cut_is_cut_of_everything) {
    enum { AT = 30 };
    for (int last = 0; last < 2; last++) {
        measured a;
        tribo_checked *c = NULL;
        tribo_recording r = measure(&a);
        int at = last ? ROWS - AT : AT, from = last ? 0 : AT, rows = ROWS - AT;
        for (int k = at; k < ROWS; k++) pose(&a.d, k, 0)[1] += 3;
        ck_assert_int_eq(tribo_checked_new(a.d.m, NULL, &r, NULL, &c, NULL), TRIBO_OK);
        ck_assert(found(c, TRIBO_CONVENTION_GAP, TRIBO_OUTCOME_MENDED));
        tribo_recording kept = tribo_checked_recording(c);
        ck_assert_int_eq(kept.n, rows);
        for (int k = 0; k < rows; k++) {
            ck_assert_double_eq(kept.time[k], a.d.time[from + k]);
            ck_assert(memcmp(kept.x + k * a.d.z.nx, a.d.x + (from + k) * a.d.z.nx, 7 * sizeof(double)) == 0);
            ck_assert(memcmp(kept.marker + 6 * k, a.marker + 6 * (from + k), 6 * sizeof(double)) == 0);
            ck_assert(memcmp(kept.force + 9 * k, a.force + 9 * (from + k), 9 * sizeof(double)) == 0);
            ck_assert(memcmp(kept.u + 6 * k, a.u + 6 * (from + k), 6 * sizeof(double)) == 0);
        }
        tribo_checked_free(c), tribo_model_free(a.d.m);
    }
}
END_TEST

/* What stands on a floor pushes it. Forces that pull at it are those on what stands there. */
START_TEST(forces_on_the_other_side_are_refused) {
    measured a;
    tribo_checked *c = NULL;
    tribo_recording r = measure(&a);
    ck_assert_int_eq(tribo_checked_new(a.d.m, NULL, &r, NULL, &c, NULL), TRIBO_OK);
    ck_assert(!tribo_checked_refused(c));
    tribo_checked_free(c);
    double sum = 0;
    for (int k = 0; k < ROWS; k++) a.force[9 * k + 2] *= -1, sum += k ? a.force[9 * k + 2] : 0;
    ck_assert_int_eq(tribo_checked_new(a.d.m, NULL, &r, NULL, &c, NULL), TRIBO_OK);
    const tribo_finding *f = tribo_checked_refused(c);
    ck_assert(f && f->about == TRIBO_CONVENTION_FORCE);
    ck_assert_double_eq_tol(f->number, sum / ROWS, 1e-12);
    ck_assert_msg(strncmp(f->text, "floor: its forces pull at what touches it", 41) == 0, "%s", f->text);
    tribo_checked_free(c), tribo_model_free(a.d.m);
}
END_TEST

START_TEST(misuse) {
    motion d;
    tribo_checked *c = NULL;
    slide(&d, 1);
    tribo_recording r = {.n = 1, .time = d.time, .x = d.x};
    ck_assert_int_eq(tribo_checked_new(d.m, NULL, &r, NULL, &c, NULL), TRIBO_E_ARG);
    r.n = d.n;
    ck_assert_int_eq(tribo_checked_new(NULL, NULL, &r, NULL, &c, NULL), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_checked_new(d.m, NULL, &r, NULL, NULL, NULL), TRIBO_E_ARG);
    d.time[4] = d.time[3];
    ck_assert_int_eq(tribo_checked_new(d.m, NULL, &r, NULL, &c, NULL), TRIBO_E_ARG);
    ck_assert_ptr_null(c);
    tribo_checked_free(NULL);
    ck_assert_ptr_null(tribo_checked_refused(NULL));
    ck_assert_int_eq(tribo_checked_recording(NULL).n, 0);
    /* two rows say nothing, and that is all right; so is a body that was never measured */
    d.time[4] = 4 * spacing;
    r.n = 2;
    ck_assert_int_eq(tribo_checked_new(d.m, NULL, &r, NULL, &c, NULL), TRIBO_OK);
    tribo_checked_free(c);
    for (int i = 0; i < ROWS * d.z.nx; i++) d.x[i] = NAN;
    r.n = d.n;
    ck_assert_int_eq(tribo_checked_new(d.m, NULL, &r, NULL, &c, NULL), TRIBO_OK);
    ck_assert_ptr_null(tribo_checked_refused(c));
    tribo_checked_free(c);
    tribo_model_free(d.m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("recording");
    TCase *t = tcase_create("long"), *few = tcase_create("short");
    TCase *many = tagged_case(s, "short", "many");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(few, mistake, 0, 4);
    tcase_add_loop_test(many, mistake, 4, NCASES - TAKE_LONG);
    tcase_add_loop_test(t, mistake, NCASES - TAKE_LONG, NCASES);
    tcase_add_test(t, nothing_to_find);
    tcase_add_test(t, uneven_times_may_be_true);
    tcase_add_test(few, even_times_have_a_rate);
    tcase_add_test(few, clocks_that_jump);
    tcase_add_test(few, jitter_without_noise);
    tcase_add_test(t, wrong_scene);
    tcase_add_test(t, undone);
    tcase_add_test(few, what_is_cut_is_cut_of_everything);
    tcase_add_test(few, forces_on_the_other_side_are_refused);
    tcase_add_test(few, misuse);
    suite_add_tcase(s, t), suite_add_tcase(s, few);
    return s;
}
