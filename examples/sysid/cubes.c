/* cubes.c -- see cubes.h. */
#include "cubes.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { CONTACTS = 64, SWEEPS = 2000, HITS = 100 };

typedef struct contact {
    int a, b; /* cubes; b = -1 is the floor, and then a is pushed along n */
    double p[3], n[3], t[2][3], mu, depth, target, restitution, l[3];
    double least; /* impulse that it takes in any case */
    double *last; /* (3) impulses of the step before, of a corner on a soft floor */
} contact;

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static void cross(const double *a, const double *b, double *c) {
    c[0] = a[1] * b[2] - a[2] * b[1], c[1] = a[2] * b[0] - a[0] * b[2], c[2] = a[0] * b[1] - a[1] * b[0];
}

double cubes_uniform(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
}
double cubes_gauss(uint64_t *seed) {
    double u = cubes_uniform(seed), v = cubes_uniform(seed);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* Velocity of cube c at p along d, and its response to a unit impulse there. */
static double speed(const cube *c, const double *p, const double *d) {
    double r[3] = {p[0] - c->x[0], p[1] - c->x[1], p[2] - c->x[2]}, wr[3];
    cross(c->w, r, wr);
    return dot(c->v, d) + dot(wr, d);
}
static double response(const cube *c, const double *p, const double *d) {
    double r[3] = {p[0] - c->x[0], p[1] - c->x[1], p[2] - c->x[2]}, rd[3];
    cross(r, d, rd);
    return 1 / c->mass + dot(rd, rd) / c->inertia;
}
static void push(cube *c, const double *p, const double *d, double impulse) {
    double r[3] = {p[0] - c->x[0], p[1] - c->x[1], p[2] - c->x[2]}, rd[3];
    cross(r, d, rd);
    for (int i = 0; i < 3; i++) c->v[i] += impulse * d[i] / c->mass, c->w[i] += impulse * rd[i] / c->inertia;
}

static double relative(const cube *c, const contact *k, const double *d) {
    return speed(&c[k->a], k->p, d) - (k->b >= 0 ? speed(&c[k->b], k->p, d) : 0);
}
static void apply(cube *c, const contact *k, const double *d, double impulse) {
    push(&c[k->a], k->p, d, impulse);
    if (k->b >= 0) push(&c[k->b], k->p, d, -impulse);
}
static double mobility(const cube *c, const contact *k, const double *d) {
    return response(&c[k->a], k->p, d) + (k->b >= 0 ? response(&c[k->b], k->p, d) : 0);
}

/* How fast a contact closes, where that is fast enough to bounce; else 0. */
static double closing(const cube_world *world, const contact *k) {
    double speed = -relative(world->cube, k, k->n);
    return speed > world->slow ? speed : 0;
}

static contact *add(contact *list, int *n, const cube_world *world, int a, int b, const double *p, const double *normal,
                    double depth) {
    contact *k = &list[(*n)++];
    *k = (contact){.a = a, .b = b, .mu = b < 0 ? world->floor_friction : world->impact_friction};
    memcpy(k->p, p, sizeof k->p), memcpy(k->n, normal, sizeof k->n);
    double pick[3] = {fabs(normal[0]) < 0.7, fabs(normal[0]) >= 0.7, 0};
    cross(normal, pick, k->t[0]);
    double s = 1 / sqrt(dot(k->t[0], k->t[0]));
    for (int i = 0; i < 3; i++) k->t[0][i] *= s;
    cross(normal, k->t[0], k->t[1]);
    k->depth = depth, k->restitution = b >= 0 ? world->impact_restitution : world->floor_restitution;
    k->target = closing(world, k) > 0 ? k->restitution * closing(world, k) : 0;
    if (depth > 1e-5 && world->lift == 0) k->target = fmax(k->target, 0.1 * (depth - 1e-5) / world->dt);
    return k;
}

static void corner(const cube *c, double half, int i, double *p) {
    for (int r = 0; r < 3; r++) {
        p[r] = c->x[r];
        for (int j = 0; j < 3; j++) p[r] += c->R[r][j] * (i >> j & 1 ? half : -half);
    }
}

/* How deep corner i of cube a, at p, is inside cube b's sides, and the normal of the nearest; below 0 where it is
 * outside. Cubes that stand meet at their sides, over their whole height, be one a little lower. */
static double inside(const cube_world *world, int a, int b, int i, double *p, double *normal) {
    const double low = -1e-3;
    const cube *c = world->cube;
    double least = 1;
    corner(&c[a], world->half, i, p);
    for (int j = 0; j < 3; j++) {
        double axis[3] = {c[b].R[0][j], c[b].R[1][j], c[b].R[2][j]};
        double d[3] = {p[0] - c[b].x[0], p[1] - c[b].x[1], p[2] - c[b].x[2]}, s = dot(d, axis);
        double depth = world->half - fabs(s);
        bool side = fabs(axis[2]) < 0.5;
        if (!side && depth < low) return -1;
        if (side && depth < least) {
            least = depth;
            for (int r = 0; r < 3; r++) normal[r] = s > 0 ? axis[r] : -axis[r];
        }
    }
    return least;
}

/* Corners of cube a inside cube b, pushed out of the nearest side. Where one end of an upright edge is inside, the
 * other is too, though it be some nanometres behind: an edge that hit with one end alone would throw both cubes up. */
static void corners_in(const cube_world *world, int a, int b, contact *list, int *n) {
    for (int i = 0; i < 8; i++) {
        double p[3], q[3], normal[3] = {0}, other[3];
        double depth = inside(world, a, b, i, p, normal), end = inside(world, a, b, i ^ 4, q, other);
        bool in = depth > 0 || (depth > -1e-6 && end > 0);
        if (in && depth < world->half) add(list, n, world, a, b, p, normal, depth);
    }
}

static int find(cube_world *world, contact *list) {
    const cube *c = world->cube;
    int n = 0;
    const double up[3] = {0, 0, 1};
    for (int a = 0; a < world->n; a++)
        for (int i = 0; i < 8; i++) {
            double p[3];
            corner(&c[a], world->half, i, p);
            double *last = world->last[a][i];
            if (p[2] < 1e-6)
                add(list, &n, world, a, -1, p, up, -p[2])->last = last;
            else
                memset(last, 0, sizeof world->last[a][i]);
        }
    if (world->n > 1) corners_in(world, 0, 1, list, &n), corners_in(world, 1, 0, list, &n);
    return n;
}

static void solve(cube_world *world, contact *list, int n) {
    cube *c = world->cube;
    double across[CONTACTS], along[CONTACTS], give[CONTACTS]; /* what a unit impulse does; of the floor */
    for (int i = 0; i < n; i++) {
        along[i] = mobility(c, &list[i], list[i].n);
        give[i] = list[i].b < 0 ? world->softness * along[i] : 0;
        across[i] = fmax(mobility(c, &list[i], list[i].t[0]), mobility(c, &list[i], list[i].t[1]));
    }
    double enough = world->tolerance > 0 ? world->tolerance : 1e-14;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double change = 0;
        for (int i = 0; i < n; i++) {
            contact *k = &list[i];
            double speed = relative(c, k, k->n) - k->target + give[i] * k->l[2];
            double l = fmax(k->least, k->l[2] - speed / (along[i] + give[i]));
            change = fmax(change, fabs(l - k->l[2]));
            apply(c, k, k->n, l - k->l[2]), k->l[2] = l;
            double t[2];
            for (int j = 0; j < 2; j++) t[j] = k->l[j] - relative(c, k, k->t[j]) / across[i];
            double size = hypot(t[0], t[1]), bound = k->mu * k->l[2], s = size > bound ? bound / size : 1;
            for (int j = 0; j < 2; j++) {
                apply(c, k, k->t[j], s * t[j] - k->l[j]);
                change = fmax(change, fabs(s * t[j] - k->l[j])), k->l[j] = s * t[j];
            }
        }
        if (change < enough) break;
    }
}

/* Sweeps of a soft floor, which share loads slowly, go on where those of the step before ended. */
static void solve_on(cube_world *world, contact *list, int n) {
    const bool soft = world->softness > 0;
    for (int i = 0; i < n && soft; i++) {
        contact *k = &list[i];
        if (!k->last) continue;
        memcpy(k->l, k->last, sizeof k->l);
        apply(world->cube, k, k->n, k->l[2]);
        for (int j = 0; j < 2; j++) apply(world->cube, k, k->t[j], k->l[j]);
    }
    solve(world, list, n);
    for (int i = 0; i < n && soft; i++)
        if (list[i].last) memcpy(list[i].last, list[i].l, sizeof list[i].l);
}

/* Friction of the floor by how many corners of a cube touch it. */
static void choose_friction(const cube_world *world, contact *list, int n) {
    int corners[CUBES] = {0};
    for (int i = 0; i < n; i++) corners[list[i].a] += list[i].b < 0;
    for (int i = 0; i < n; i++) {
        double own = corners[list[i].a] > 2 ? world->face_friction : world->edge_friction;
        if (list[i].b < 0 && corners[list[i].a] > 1 && own > 0) list[i].mu = own;
    }
}

/* Compression, then what it gives back. */
static void poisson(cube_world *world, contact *list, int n) {
    bool bounced[CONTACTS], any = false;
    for (int i = 0; i < n; i++)
        any |= bounced[i] = closing(world, &list[i]) > 0, list[i].target = bounced[i] ? 0 : list[i].target;
    if (!any) return;
    solve(world, list, n);
    for (int i = 0; i < n; i++) {
        contact *k = &list[i];
        k->least = bounced[i] ? k->restitution * k->l[2] : 0;
        memset(k->l, 0, sizeof k->l);
    }
    solve(world, list, n);
    for (int i = 0; i < n; i++) list[i].least = 0, memset(list[i].l, 0, sizeof list[i].l);
}

static void one_by_one(cube_world *world, contact *list, int n) {
    for (int hit = 0; hit < HITS; hit++) {
        int first = -1;
        for (int i = 0; i < n; i++)
            if (closing(world, &list[i]) > (first < 0 ? 0 : closing(world, &list[first]))) first = i;
        if (first < 0) break;
        list[first].target = list[first].restitution * closing(world, &list[first]);
        solve(world, &list[first], 1);
        memset(list[first].l, 0, sizeof list[first].l);
    }
    for (int i = 0; i < n; i++) list[i].target = 0;
}

/* Up by a share of what its deepest corner is below the floor. */
static void lift(cube_world *world, const contact *list, int n) {
    double deepest[CUBES] = {0};
    for (int i = 0; i < n; i++)
        if (list[i].b < 0) deepest[list[i].a] = fmax(deepest[list[i].a], list[i].depth);
    for (int i = 0; i < world->n; i++) world->cube[i].x[2] += world->lift * deepest[i];
}

static void turn(cube *c, double dt) { /* R := exp(dt w) R */
    double angle = dt * sqrt(dot(c->w, c->w)), R[3][3];
    double a = angle > 1e-12 ? sin(angle) / angle * dt : dt,
           b = angle > 1e-6 ? (1 - cos(angle)) / (angle * angle) * dt * dt : dt * dt / 2;
    memcpy(R, c->R, sizeof R);
    for (int j = 0; j < 3; j++) {
        double e[3] = {R[0][j], R[1][j], R[2][j]}, we[3], wwe[3];
        cross(c->w, e, we), cross(c->w, we, wwe);
        for (int r = 0; r < 3; r++) c->R[r][j] = e[r] + a * we[r] + b * wwe[r];
    }
}

void cubes_step(cube_world *world) {
    contact list[CONTACTS];
    cube *c = world->cube;
    int n = find(world, list);
    choose_friction(world, list, n);
    if (world->impact == CUBE_POISSON) poisson(world, list, n);
    if (world->impact == CUBE_ONE_BY_ONE) one_by_one(world, list, n);
    /* a cube's inertia is a ball's: no gyroscopic torque */
    for (int i = 0; i < world->n; i++) c[i].v[2] -= world->dt * world->gravity;
    solve_on(world, list, n);
    lift(world, list, n);
    for (int i = 0; i < world->n; i++) {
        for (int r = 0; r < 3; r++) c[i].x[r] += world->dt * c[i].v[r];
        turn(&c[i], world->dt);
    }
}

static void quaternion(const double R[3][3], double *q) {
    double trace = R[0][0] + R[1][1] + R[2][2];
    if (trace > 0) {
        q[0] = sqrt(fmax(0, 1 + trace)) / 2;
        q[1] = (R[2][1] - R[1][2]) / (4 * q[0]), q[2] = (R[0][2] - R[2][0]) / (4 * q[0]);
        q[3] = (R[1][0] - R[0][1]) / (4 * q[0]);
        return;
    }
    int i = R[0][0] > R[1][1] ? 0 : 1;
    if (R[2][2] > R[i][i]) i = 2;
    int j = (i + 1) % 3, k = (i + 2) % 3;
    q[1 + i] = sqrt(1 + R[i][i] - R[j][j] - R[k][k]) / 2;
    q[0] = (R[k][j] - R[j][k]) / (4 * q[1 + i]);
    q[1 + j] = (R[j][i] + R[i][j]) / (4 * q[1 + i]), q[1 + k] = (R[k][i] + R[i][k]) / (4 * q[1 + i]);
}

void cube_measure(const cube *c, double noise, double turned, uint64_t *seed, double pose[7]) {
    double q[4], r[3], s = 0;
    for (int i = 0; i < 3; i++) pose[i] = c->x[i] + noise * cubes_gauss(seed);
    quaternion((const double(*)[3])c->R, q);
    for (int i = 0; i < 3; i++) r[i] = turned * cubes_gauss(seed) / 2;
    double n[4] = {q[0] - q[1] * r[0] - q[2] * r[1] - q[3] * r[2], q[1] + q[0] * r[0] + q[2] * r[2] - q[3] * r[1],
                   q[2] + q[0] * r[1] + q[3] * r[0] - q[1] * r[2], q[3] + q[0] * r[2] + q[1] * r[1] - q[2] * r[0]};
    for (int i = 0; i < 4; i++) s += n[i] * n[i];
    for (int i = 0; i < 4; i++) pose[3 + i] = n[i] / sqrt(s);
}

cube cube_standing(const cube_world *world, double mass, double x, double y, double yaw, double v) {
    double cs = cos(yaw), sn = sin(yaw);
    return (cube){.x = {x, y, world->half},
                  .R = {{cs, -sn, 0}, {sn, cs, 0}, {0, 0, 1}},
                  .v = {v, 0, 0},
                  .mass = mass,
                  .inertia = mass * 2. / 3 * world->half * world->half};
}

cube_world cubes_colliding(double dt, double y, double yaw, double v) {
    cube_world w = {.n = 2,
                    .half = 0.1,
                    .gravity = 9.81,
                    .dt = dt,
                    .floor_friction = 0.2,
                    .impact_friction = 0.1,
                    .impact_restitution = 0.5,
                    .slow = 0.02};
    w.cube[0] = cube_standing(&w, 0.6, -0.45, y, yaw, v);
    w.cube[1] = cube_standing(&w, 1, 0, 0, 0, 0);
    return w;
}
