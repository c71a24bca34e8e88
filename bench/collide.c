/* collide.c -- what a pair of shapes costs: nanoseconds a pair, contacts and derivative apart; and the broad phase. */
#define _POSIX_C_SOURCE 200809L
#include "collide/collide.h"
#include "collide/broad.h"
#include "model/mesh.h"
#include <stdio.h>
#include <time.h>

enum { POSES = 256, ROUNDS = 400, REPEATS = 9 };

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t state = 88172645463325252u;

static double uniform(double lo, double hi) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return lo + (hi - lo) * (double)(state >> 11) / 9007199254740992.0;
}

static ti_mat turned(double angle) {
    double x = uniform(-1, 1), y = uniform(-1, 1), z = uniform(-1, 1), q[4];
    ti_quat_exp(ti_vec3(angle * x, angle * y, angle * z), q);
    return ti_quat_mat(q);
}

/* A row of the table: poses of b around (0, 0, height), turned by up to `turn`, spread sideways. */
typedef struct row {
    const char *name;
    tribo_shape a, b;
    double height, turn, side;
} row;

static ti_shape first[POSES], second[POSES];
static ti_touch touch[POSES][TI_CONTACTS_MAX];
static int touches[POSES];
static double jac[TI_COLLIDE_ROWS][TI_COLLIDE_COLS];

/* A hull of many corners on the sphere of radius 0.5. */
static const ti_mesh *pebble(void) {
    enum { CORNERS = 500 };
    static ti_mesh *made;
    static double v[3 * CORNERS];
    tribo_mesh_def d = tribo_default_mesh();
    char flaw[120];
    for (int k = 0; k < CORNERS && !made; k++) {
        ti_vec p = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
        ti_store3(v + 3 * k, ti_scale(0.5 / ti_norm(p), p));
    }
    d.vertex = v, d.nvertex = CORNERS;
    if (!made && ti_mesh_new(&d, NULL, &made, flaw, sizeof flaw) != TRIBO_OK) return NULL;
    return made;
}

static void pose(const row *r) {
    for (int k = 0; k < POSES; k++) {
        first[k] = (ti_shape){r->a, {0, 0, 0}, turned(r->a == TRIBO_PLANE ? 0 : r->turn), {0.5, 0.5, 0.5}, NULL, 0};
        double x = uniform(-r->side, r->side), y = uniform(-r->side, r->side);
        second[k] = (ti_shape){r->b, {x, y, r->height}, turned(r->turn), {0.5, 0.5, 0.5}, NULL, 0};
        if (r->a == TRIBO_MESH) first[k].mesh = pebble(), first[k].size = ti_vec3(1, 1, 1);
        if (r->b == TRIBO_MESH) second[k].mesh = pebble(), second[k].size = ti_vec3(1, 1, 1);
    }
}

static void measure(const row *r) {
    double best[2] = {1e9, 1e9}, sum = 0;
    int contacts = 0;
    pose(r);
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double start = seconds();
        for (int round = 0; round < ROUNDS; round++)
            for (int k = 0; k < POSES; k++) touches[k] = ti_collide(&first[k], &second[k], 0.01, touch[k]);
        double middle = seconds();
        contacts = 0;
        for (int round = 0; round < ROUNDS; round++)
            for (int k = 0; k < POSES; k++)
                for (int i = 0; i < touches[k]; i++) {
                    ti_collide_jac(&first[k], &second[k], &touch[k][i], jac);
                    sum += jac[6][0], contacts++;
                }
        double end = seconds();
        best[0] = fmin(best[0], (middle - start) / (ROUNDS * POSES));
        best[1] = fmin(best[1], (end - middle) / (contacts ? contacts : 1));
    }
    printf("%-28s %8.1f %14.1f %18.2f%s\n", r->name, best[0] * 1e9, contacts ? best[1] * 1e9 : 0,
           (double)contacts / (ROUNDS * POSES), sum == 12345 ? "!" : "");
}

/* n unit boxes at random in a layer, with room for each; a plane below. */
static void measure_broad(int n) {
    static _Alignas(64) char block[1 << 22];
    static ti_vec lo[2048], hi[2048];
    ti_broad w;
    ti_arena m = {block, 0};
    ti_broad_carve(&w, &m, n, 16 * n);
    double side = 1.5 * sqrt(n), best = 1e9;
    lo[0] = ti_vec3(-(double)INFINITY, -(double)INFINITY, -(double)INFINITY), hi[0] = ti_scale(-1, lo[0]);
    for (int k = 1; k < n; k++) {
        lo[k] = ti_vec3(uniform(0, side), uniform(0, side), uniform(0, 1));
        hi[k] = ti_add(lo[k], ti_vec3(1, 1, 1));
    }
    int count = 0;
    for (int repeat = 0; repeat < REPEATS * 20; repeat++) {
        double start = seconds();
        count = ti_broad_pairs(&w, n, lo, hi, NULL, NULL);
        best = fmin(best, seconds() - start);
    }
    printf("broad phase, n = %-11d %8.1f us, %d pairs, %.1f ns a shape\n", n, best * 1e6, count, best * 1e9 / n);
}

int main(void) {
    static const row rows[] = {
        {"plane-sphere", TRIBO_PLANE, TRIBO_SPHERE, 0.5, 0.01, 1},
        {"plane-box, flat", TRIBO_PLANE, TRIBO_BOX, 0.5, 0, 1},
        {"plane-box, any pose", TRIBO_PLANE, TRIBO_BOX, 0.7, 3, 1},
        {"plane-box, apart", TRIBO_PLANE, TRIBO_BOX, 2, 3, 1},
        {"sphere-sphere", TRIBO_SPHERE, TRIBO_SPHERE, 1, 3, 0},
        {"sphere-box", TRIBO_SPHERE, TRIBO_BOX, 1, 3, 0.5},
        {"box-box, stacked", TRIBO_BOX, TRIBO_BOX, 0.999, 1e-6, 0},
        {"box-box, stacked askew", TRIBO_BOX, TRIBO_BOX, 0.999, 1e-3, 0.4},
        {"box-box, any pose", TRIBO_BOX, TRIBO_BOX, 1.2, 3, 0.2},
        {"box-box, apart", TRIBO_BOX, TRIBO_BOX, 1.8, 3, 0.2},
        {"plane-capsule", TRIBO_PLANE, TRIBO_CAPSULE, 0.7, 3, 1},
        {"sphere-capsule", TRIBO_SPHERE, TRIBO_CAPSULE, 1, 3, 0.5},
        {"box-capsule, any pose", TRIBO_BOX, TRIBO_CAPSULE, 1.2, 3, 0.2},
        {"box-capsule, apart", TRIBO_BOX, TRIBO_CAPSULE, 1.8, 3, 0.2},
        {"two capsules, any pose", TRIBO_CAPSULE, TRIBO_CAPSULE, 1, 3, 0.5},
        {"plane-cylinder", TRIBO_PLANE, TRIBO_CYLINDER, 0.7, 3, 1},
        {"plane-ellipsoid", TRIBO_PLANE, TRIBO_ELLIPSOID, 0.5, 3, 1},
        {"sphere-cylinder", TRIBO_SPHERE, TRIBO_CYLINDER, 1, 3, 0.5},
        {"box-cylinder, stacked", TRIBO_BOX, TRIBO_CYLINDER, 0.999, 1e-6, 0},
        {"box-cylinder, any pose", TRIBO_BOX, TRIBO_CYLINDER, 1.2, 3, 0.2},
        {"box-cylinder, apart", TRIBO_BOX, TRIBO_CYLINDER, 1.8, 3, 0.2},
        {"capsule-cylinder", TRIBO_CAPSULE, TRIBO_CYLINDER, 1, 3, 0.5},
        {"two cylinders, any pose", TRIBO_CYLINDER, TRIBO_CYLINDER, 1.2, 3, 0.2},
        {"sphere-ellipsoid", TRIBO_SPHERE, TRIBO_ELLIPSOID, 1, 3, 0.2},
        {"box-ellipsoid, any pose", TRIBO_BOX, TRIBO_ELLIPSOID, 1.1, 3, 0.2},
        {"two ellipsoids, any pose", TRIBO_ELLIPSOID, TRIBO_ELLIPSOID, 1, 3, 0.2},
        {"plane-mesh", TRIBO_PLANE, TRIBO_MESH, 0.5, 3, 1},
        {"sphere-mesh", TRIBO_SPHERE, TRIBO_MESH, 1, 3, 0.2},
        {"box-mesh, stacked", TRIBO_BOX, TRIBO_MESH, 0.999, 1e-6, 0},
        {"box-mesh, any pose", TRIBO_BOX, TRIBO_MESH, 1.1, 3, 0.2},
        {"two meshes, any pose", TRIBO_MESH, TRIBO_MESH, 1.1, 3, 0.2},
        {"two meshes, apart", TRIBO_MESH, TRIBO_MESH, 1.8, 3, 0.2},
    };
    printf("%-28s %8s %14s %18s\n", "pair", "ns", "ns jac/contact", "contacts");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) measure(&rows[k]);
    for (int n = 10; n <= 1000; n *= 10) measure_broad(n);
    return 0;
}
