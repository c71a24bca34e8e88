/* coverage_motions.c -- a slide and a bouncing ball in closed form, cubes that collide and tumble by cubes.c. */
#include "coverage_motions.h"
#include <math.h>
#include <string.h>

double between(data_set *d, double a, double b) {
    return a + (b - a) * cubes_uniform(&d->seed);
}

/* A row of poses into a recording; velocities stay unmeasured. Rows may be missing. */
static void put(data_set *d, int i, double time, const cube *c, int n) {
    tribo_recording *r = &d->rec[i];
    if (r->n && cubes_uniform(&d->seed) > d->keep) return;
    int row = r->n++, nx = 13 * n;
    double *x = d->x[i] + row * nx;
    d->time[i][row] = time;
    for (int j = 0; j < nx; j++) x[j] = NAN;
    for (int b = 0; b < n; b++) cube_measure(&c[b], d->noise, d->noise / 0.1, &d->seed, x + 7 * b);
}

/* ---- a slide in closed form ---- */

static void slide_start(data_set *d, cube_world *w) {
    double v = between(d, 1.2, 2.5), angle = between(d, -3, 3);
    *w = (cube_world){.n = 1, .half = 0.1};
    w->cube[0] = cube_standing(w, 1, 0, 0, 0, 0);
    w->cube[0].v[0] = v * cos(angle), w->cube[0].v[1] = v * sin(angle);
}

static bool slide_next(cube_world *w, int row) {
    cube *c = w->cube;
    double v = hypot(c->v[0], c->v[1]), a = 0.25 * 9.81, t = v / a < 0.01 ? v / a : 0.01;
    (void)row;
    for (int j = 0; j < 2 && v > 0; j++) {
        c->x[j] += c->v[j] * (t - a * t * t / 2 / v);
        c->v[j] *= 1 - a * t / v;
    }
    return true;
}

/* ---- a ball that bounces, event by event ---- */

static void bounce(cube *c, double radius, double e, double mu) {
    double u[2] = {c->v[0] - radius * c->w[1], c->v[1] + radius * c->w[0]}, slip = hypot(u[0], u[1]);
    double most = mu * (1 + e) * -c->v[2], push = 2. / 7 * slip < most ? 2. / 7 * slip : most;
    for (int j = 0; j < 2 && slip > 0; j++) c->v[j] -= push * u[j] / slip;
    if (slip > 0) {
        c->w[1] += push * u[0] / slip * 2.5 / radius, c->w[0] -= push * u[1] / slip * 2.5 / radius;
    }
    c->v[2] *= -e;
}

/* R := exp(t w) R, w constant in the world */
static void spin(cube *c, double t) {
    double size = sqrt(c->w[0] * c->w[0] + c->w[1] * c->w[1] + c->w[2] * c->w[2]), angle = size * t, R[3][3];
    if (!(size > 0)) return;
    double n[3] = {c->w[0] / size, c->w[1] / size, c->w[2] / size}, s = sin(angle), v = 1 - cos(angle);
    memcpy(R, c->R, sizeof R);
    for (int j = 0; j < 3; j++) {
        double a[3] = {R[0][j], R[1][j], R[2][j]}, dot = n[0] * a[0] + n[1] * a[1] + n[2] * a[2];
        double x[3] = {n[1] * a[2] - n[2] * a[1], n[2] * a[0] - n[0] * a[2], n[0] * a[1] - n[1] * a[0]};
        for (int r = 0; r < 3; r++) c->R[r][j] = a[r] + s * x[r] + v * (n[r] * dot - a[r]);
    }
}

static void bounce_start(data_set *d, cube_world *w) {
    *w = (cube_world){.n = 1, .half = 0.1, .floor_restitution = 0.7};
    cube *c = w->cube;
    *c = cube_standing(w, 1, 0, 0, 0, 0);
    c->x[2] = 0.1 + between(d, 0.2, 0.5);
    for (int j = 0; j < 3; j++) c->v[j] = j < 2 ? between(d, -1.5, 1.5) : 0, c->w[j] = between(d, -2, 2);
}

static bool bounce_next(cube_world *w, int row) {
    const double radius = 0.1, g = 9.81;
    cube *c = w->cube;
    (void)row;
    for (double left = 0.01; left > 0;) {
        double gap = c->x[2] - radius, hit = (c->v[2] + sqrt(c->v[2] * c->v[2] + 2 * g * (gap > 0 ? gap : 0))) / g;
        double t = hit < left ? hit : left;
        c->x[2] += c->v[2] * t - g * t * t / 2, c->v[2] -= g * t;
        for (int j = 0; j < 2; j++) c->x[j] += c->v[j] * t;
        spin(c, t);
        left = hit < left ? left - t : 0;
        if (left > 0) bounce(c, radius, w->floor_restitution, 0.05);
        if (fabs(c->v[2]) < 1e-9 && c->x[2] <= radius) break; /* it lies, as in a soft floor of another's */
    }
    return true;
}

/* ---- cubes ---- */

static void cubes_advance(cube_world *w) {
    for (int s = 0; s < (int)(0.01 / w->dt + 0.5); s++) cubes_step(w);
}

static void collision_start(data_set *d, cube_world *w) {
    double y = between(d, -0.03, 0.03), side = cubes_uniform(&d->seed) < 0.5 ? -1 : 1, v = between(d, 1.6, 2.8);
    *w = cubes_colliding(1. / 32000, y, side * between(d, 0.1, 0.28), v);
    w->softness = 0.01, w->tolerance = 1e-11;
}

static bool collision_next(cube_world *w, int row) {
    (void)row;
    cubes_advance(w);
    return true;
}

static void tumble_start(data_set *d, cube_world *w) {
    *w = (cube_world){.n = 1,
                      .half = 0.05,
                      .gravity = 9.81,
                      .dt = 1. / 40000,
                      .floor_friction = 0.25,
                      .floor_restitution = 0.3,
                      .slow = 0.05};
    cube *c = w->cube;
    *c = cube_standing(w, 0.4, 0, 0, between(d, -1, 1), between(d, 0.5, 1.5));
    c->x[2] = between(d, 0.15, 0.25);
    for (int j = 0; j < 3; j++) c->w[j] = between(d, -3, 3);
    spin(c, 0.3);
}

/* Until corners begin to share impacts, which each law does in its own way. */
static bool tumble_next(cube_world *w, int row) {
    const cube *c = w->cube;
    int low = 0;
    cubes_advance(w);
    for (int j = 0; j < 8; j++) {
        double z = c->x[2];
        for (int a = 0; a < 3; a++) z += (j >> a & 1 ? 1 : -1) * w->half * c->R[2][a];
        low += z < 2e-3;
    }
    return low < 2 || row <= 15;
}

#define OPTION "<option timestep='0.001' gravity='0 0 -9.81' cone='elliptic'/>"
/* restitution of velocities is the law of cubes.c; Poisson's differs where an impact sticks */
#define NEWTON "<text name='contact/impact' data='newton'/>"
#define FLOOR "<geom name='floor' type='plane' size='0 0 1' priority='1' friction='"
const experiment experiments[EXPERIMENTS] = {
    {"slide",
     "<mujoco>" OPTION "<worldbody>" FLOOR "0.25'/><body name='cube' pos='0 0 0.1'><freejoint/>"
     "<geom name='cube' type='box' size='0.1 0.1 0.1' mass='1'/></body></worldbody></mujoco>",
     1,
     61,
     {"floor/friction"},
     {0.25},
     slide_start,
     slide_next},
    {"bounce",
     "<mujoco>" OPTION "<custom><numeric name='floor/restitution' data='0.7'/></custom><worldbody>" FLOOR
     "0.05'/><body name='ball' pos='0 0 0.4'><freejoint/><geom name='ball' type='sphere' size='0.1' mass='1'/></body>"
     "</worldbody></mujoco>",
     2,
     81,
     {"floor/restitution", "floor/friction"},
     {0.7, 0.05},
     bounce_start,
     bounce_next},
    {"collision",
     "<mujoco>" OPTION "<custom>" NEWTON "<numeric name='hit/restitution' data='0.5'/></custom>"
     "<default><geom type='box' size='0.1 0.1 0.1'/></default><worldbody>" FLOOR
     "0.2'/><body name='cube' pos='-0.45 0 0.1'><freejoint/><geom name='cube' mass='0.6'/></body>"
     "<body name='known' pos='0 0 0.1'><freejoint/><geom name='known' mass='1'/></body></worldbody>"
     "<contact><pair name='hit' geom1='cube' geom2='known' friction='0.1 0.1 0.005 0.0001 0.0001'/></contact></mujoco>",
     3,
     81,
     {"cube/mass", "floor/friction", "hit/restitution"},
     {0.6, 0.2, 0.5},
     collision_start,
     collision_next},
    {"tumble",
     "<mujoco>" OPTION "<custom>" NEWTON "<numeric name='floor/restitution' data='0.3'/></custom><worldbody>" FLOOR
     "0.25'/><body name='cube' pos='0 0 0.15'><freejoint/><geom name='cube' type='box' size='0.05 0.05 0.05' "
     "mass='0.4'/></body></worldbody></mujoco>",
     3,
     51,
     {"floor/friction", "floor/restitution", "gravity/z"},
     {0.25, 0.3, -9.81},
     tumble_start,
     tumble_next},
};

/* ---- recordings ---- */

/* A state of the library from cubes, whose angular velocities are in the world, and back. */
static void to_state(const cube_world *w, double *x) {
    uint64_t unused = 1;
    for (int b = 0; b < w->n; b++) {
        const cube *c = w->cube + b;
        double *v = x + 7 * w->n + 6 * b;
        cube_measure(c, 0, 0, &unused, x + 7 * b);
        for (int i = 0; i < 3; i++) {
            v[i] = c->v[i], v[3 + i] = 0;
            for (int j = 0; j < 3; j++) v[3 + i] += c->R[j][i] * c->w[j];
        }
    }
}

static void from_state(const double *x, cube_world *w) {
    for (int b = 0; b < w->n; b++) {
        const double *p = x + 7 * b, *v = x + 7 * w->n + 6 * b, *q = p + 3;
        cube *c = w->cube + b;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                int k = 3 - i - j;
                double odd = i == j ? 0 : ((j - i + 3) % 3 == 1 ? -1 : 1) * 2 * q[0] * q[1 + k];
                c->R[i][j] = (i == j ? 2 * q[0] * q[0] - 1 : odd) + 2 * q[1 + i] * q[1 + j];
            }
        for (int i = 0; i < 3; i++) {
            c->x[i] = p[i], c->v[i] = v[i], c->w[i] = 0;
            for (int j = 0; j < 3; j++) c->w[i] += c->R[i][j] * v[3 + j];
        }
    }
}

static bool by_another(const maker *other, cube_world *w) {
    double x[NX];
    to_state(w, x);
    if (!other->next(other->context, x)) return false;
    from_state(x, w);
    return true;
}

void record(const experiment *e, data_set *d, int i, const maker *other) {
    cube_world w;
    d->rec[i] = (tribo_recording){.time = d->time[i], .x = d->x[i]};
    e->start(d, &w);
    const double hit = w.impact_restitution, land = w.floor_restitution;
    put(d, i, 0, w.cube, w.n);
    for (int k = 1; k < e->rows; k++) {
        cube_world before = w;
        double off = d->scatter > 0 ? d->scatter * cubes_gauss(&d->seed) : 0;
        w.impact_restitution = fmax(0, fmin(1, hit * (1 + off))),
        w.floor_restitution = fmax(0, fmin(1, land * (1 + off)));
        if (!e->next(&w, k)) break;
        if (other) {
            w = before;
            if (!by_another(other, &w)) break;
        }
        put(d, i, 0.01 * k, w.cube, w.n);
    }
}
