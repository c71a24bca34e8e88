/* impacts.c -- which law of impacts, and how many frictions, 120 recorded tosses of a cube prefer: every law in the
 * same small simulator (cubes.c), tuned in the same way, judged by the likelihood of tosses that were held out.
 *
 * A loss of whole tosses is rough, so nothing descends: a fixed set of parameters, spread evenly over a box, is tried
 * on all tosses; a parabola through the better half of what the training tosses make of it has the answer at its lowest
 * point. The set knows nothing of any toss, so that one set of rollouts serves every part. */
#include "cubes.h"
#include "fit.h"
#include <glob.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 13, TOSSES = 600, PARTS = 6, STEPS = 10, MOST = 5, POINTS = 40, TERMS = 1 + MOST + MOST * (MOST + 1) / 2 };
static const double edge = 0.1025, gravity = 9.61; /* in the recordings' metres; tosses.md */
static const double typical[2] = {0.01, 0.2};      /* m, rad, of an axis: what the search weighs by */

typedef struct toss {
    tribo_recording rec;
    double start[NX]; /* by the rows before the first contact */
} toss;

/* A law with as many frictions as are its own. */
typedef struct law {
    const char *name;
    cube_impact impact;
    int frictions; /* of all; or of one corner, two, and more */
} law;

static const law laws[] = {
    {"Newton's", CUBE_NEWTON, 1}, {"Poisson's", CUBE_POISSON, 1}, {"corner after corner", CUBE_ONE_BY_ONE, 1},
    {"Newton's", CUBE_NEWTON, 3}, {"Poisson's", CUBE_POISSON, 3}, {"corner after corner", CUBE_ONE_BY_ONE, 3}};
enum { LAWS = sizeof laws / sizeof *laws };

/* Parameters: restitution, inertia, frictions; lowest and highest of the box, around what single impacts, slides and
 * the shape say: 0.236, 0.0011, 0.164 at a first corner and 0.223 sliding. */
static const double lowest[MOST] = {0.05, 0.0008, 0.13, 0.13, 0.13}, highest[MOST] = {0.4, 0.0016, 0.24, 0.24, 0.24};

/* How a toss is predicted: mean distance and angle, sums of squares of an axis, and the likelihood under two scales. */
typedef struct score {
    double distance, angle, square[2], likelihood;
    int rows;
} score;

static int freedom(const law *l) {
    return 2 + l->frictions;
}

/* Logarithm of the density of Student's t with three degrees of freedom and that standard deviation. */
static double density(double r, double sigma) {
    double s = sigma / sqrt(3), x = r / s;
    return -log(s) - 2 * log1p(x * x / 3) + lgamma(2) - lgamma(1.5) - log(3 * M_PI) / 2;
}

static void difference(const double *is, const double *was, double r[6]) {
    double q[4] = {was[3], -was[4], -was[5], -was[6]}, *b = (double[4]){is[3], is[4], is[5], is[6]};
    double w = q[0] * b[0] - q[1] * b[1] - q[2] * b[2] - q[3] * b[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        r[i] = is[i] - was[i];
        r[3 + i] = q[0] * b[1 + i] + b[0] * q[1 + i] + q[1 + j] * b[1 + k] - q[1 + k] * b[1 + j];
    }
    double size = sqrt(r[3] * r[3] + r[4] * r[4] + r[5] * r[5]);
    double turn = size > 1e-12 ? 2 * atan2(size, fabs(w)) / size * (w < 0 ? -1 : 1) : 2;
    for (int i = 3; i < 6; i++) r[i] *= turn;
}

static cube released(const double *x, double inertia) {
    cube c = {.mass = 0.37, .inertia = inertia};
    double w = x[3], a = x[4], b = x[5], d = x[6];
    double R[3][3] = {{1 - 2 * (b * b + d * d), 2 * (a * b - w * d), 2 * (a * d + w * b)},
                      {2 * (a * b + w * d), 1 - 2 * (a * a + d * d), 2 * (b * d - w * a)},
                      {2 * (a * d - w * b), 2 * (b * d + w * a), 1 - 2 * (a * a + b * b)}};
    memcpy(c.R, R, sizeof R), memcpy(c.x, x, sizeof c.x), memcpy(c.v, x + 7, sizeof c.v);
    for (int i = 0; i < 3; i++) c.w[i] = R[i][0] * x[10] + R[i][1] * x[11] + R[i][2] * x[12];
    return c;
}

static score predict(const toss *t, const law *l, const double *value, const double scale[2]) {
    bool own = l->frictions > 1;
    double dt = (t->rec.time[1] - t->rec.time[0]) / STEPS;
    cube_world world = {.n = 1, .half = edge / 2, .gravity = gravity, .dt = dt, .slow = 0.02, .impact = l->impact};
    world.floor_restitution = value[0], world.floor_friction = value[2];
    world.edge_friction = own ? value[3] : 0, world.face_friction = own ? value[4] : 0;
    world.lift = 0.02, world.tolerance = 1e-7;
    world.cube[0] = released(t->start, value[1]);
    score s = {.rows = t->rec.n};
    for (int k = 0; k < t->rec.n; k++) {
        double pose[7], r[6];
        uint64_t none = 1;
        for (int i = 0; i < STEPS && k; i++) cubes_step(&world);
        cube_measure(&world.cube[0], 0, 0, &none, pose);
        difference(pose, t->rec.x + k * NX, r);
        s.distance += sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) / s.rows;
        s.angle += sqrt(r[3] * r[3] + r[4] * r[4] + r[5] * r[5]) / s.rows;
        for (int i = 0; i < 6; i++) {
            s.square[i / 3] += r[i] * r[i];
            s.likelihood += density(r[i], scale[i / 3]) / (3. * s.rows) / 2;
        }
    }
    return s;
}

/* Point `at` of Halton's sequence in (0,1). */
static void spread(int at, int n, double *u) {
    static const int primes[MOST] = {2, 3, 5, 7, 11};
    for (int i = 0; i < n; i++) {
        double f = 1;
        u[i] = 0;
        for (int k = at + 1; k; k /= primes[i]) f /= primes[i], u[i] += f * (k % primes[i]);
    }
}

static void values(int n, const double *u, double *value) {
    for (int i = 0; i < n; i++) value[i] = lowest[i] * pow(highest[i] / lowest[i], u[i]);
}

/* Terms of a parabola at u. */
static int terms(int n, const double *u, double *row) {
    int m = 0;
    row[m++] = 1;
    for (int i = 0; i < n; i++) row[m++] = u[i] - 0.5;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) row[m++] = (u[i] - 0.5) * (u[j] - 0.5);
    return m;
}

typedef struct tried {
    double u[MOST], loss;
} tried;

static int by_loss(const void *a, const void *b) {
    double x = ((const tried *)a)->loss, y = ((const tried *)b)->loss;
    return (x > y) - (x < y);
}

/* The lowest point in the box of a parabola through the better half; t is sorted. */
static void lowest_point(tried *t, int points, int n, double *best) {
    int half = points / 2, m = 0;
    double *A = numbers(half * TERMS), *b = numbers(half), least = HUGE_VAL;
    qsort(t, points, sizeof *t, by_loss);
    for (int i = 0; i < half; i++) m = 1 + n + n * (n + 1) / 2, terms(n, t[i].u, A + i * m), b[i] = t[i].loss;
    if (LAPACKE_dgels(LAPACK_ROW_MAJOR, 'N', half, m, 1, A, m, b, 1)) need(TRIBO_E_SINGULAR, "parabola");
    for (int k = 0; k < 100000; k++) {
        double u[MOST], row[TERMS], sum = 0;
        spread(k, n, u), terms(n, u, row);
        for (int i = 0; i < m; i++) sum += row[i] * b[i];
        if (sum < least) least = sum, memcpy(best, u, n * sizeof *u);
    }
    free(A), free(b);
}

/* What a law comes to, toss by toss, each predicted by numbers that the other parts gave. */
typedef struct result {
    score held[TOSSES];
    double value[MOST];     /* of all tosses */
    double distance, angle; /* with these, of all */
} result;

static void judge_part(const toss *t, int n, const law *l, const tried *points, int npoints, const double *loss,
                       int part, result *r) {
    double u[MOST], value[MOST], scale[2] = {0};
    long rows = 0;
    tried *own = calloc(npoints, sizeof *own);
    memcpy(own, points, npoints * sizeof *own);
    for (int k = 0; k < npoints; k++)
        for (int i = 0; i < n; i++)
            if (i % PARTS != part) own[k].loss += loss[k * n + i];
    lowest_point(own, npoints, freedom(l), u);
    values(freedom(l), u, value);
    free(own);
    for (int i = 0; i < n; i++) {
        if (i % PARTS == part) continue;
        score s = predict(&t[i], l, value, typical);
        for (int kind = 0; kind < 2; kind++) scale[kind] += s.square[kind];
        rows += 3 * s.rows;
        if (part == PARTS) r->distance += s.distance / n, r->angle += s.angle / n;
    }
    if (part == PARTS) memcpy(r->value, value, sizeof value);
    for (int kind = 0; kind < 2; kind++) scale[kind] = sqrt(scale[kind] / rows);
    for (int i = 0; i < n; i++)
        if (i % PARTS == part) r->held[i] = predict(&t[i], l, value, scale);
}

static void judge(const toss *t, int n, const law *l, result *r) {
    int free_ones = freedom(l), npoints = POINTS * (free_ones - 1);
    tried *points = calloc(npoints, sizeof *points);
    double *loss = numbers((size_t)npoints * n);
    for (int k = 0; k < npoints; k++) {
        double value[MOST];
        spread(k, free_ones, points[k].u), values(free_ones, points[k].u, value);
        for (int i = 0; i < n; i++) loss[k * n + i] = -predict(&t[i], l, value, typical).likelihood / n;
    }
    for (int part = 0; part <= PARTS; part++) judge_part(t, n, l, points, npoints, loss, part, r);
    free(points), free(loss);
}

/* Recordings, and what the rows before the first contact say of their starts. */
static int load(const tribo_model *m, const char *folder, toss *t) {
    char pattern[4096];
    glob_t files;
    tribo_recording rec[TOSSES];
    snprintf(pattern, sizeof pattern, "%s/tosses/*.csv", folder);
    if (glob(pattern, 0, NULL, &files) || files.gl_pathc == 0 || files.gl_pathc > TOSSES) need(TRIBO_E_IO, pattern);
    int n = (int)files.gl_pathc;
    for (int i = 0; i < n; i++) {
        tribo_trajectory *one = NULL;
        need(tribo_trajectory_load(files.gl_pathv[i], m, NULL, &one, NULL), files.gl_pathv[i]);
        int rows = tribo_trajectory_rows(one);
        double *time = numbers(rows), *x = numbers(rows * NX);
        memcpy(time, tribo_trajectory_times(one), rows * sizeof *time);
        memcpy(x, tribo_trajectory_states(one), rows * NX * sizeof *x);
        rec[i] = t[i].rec = (tribo_recording){.n = rows, .time = time, .x = x};
        tribo_trajectory_free(one);
    }
    globfree(&files);
    tribo_sysid_def def = tribo_default_sysid();
    tribo_sysid *s = NULL;
    def.rec = rec, def.nrec = n, def.start = TRIBO_START_AUTO;
    need(tribo_sysid_new(m, &def, &s, NULL), "starts");
    for (int i = 0; i < n; i++) {
        double *X = numbers(rec[i].n * NX);
        need(tribo_sysid_predict(s, NULL, i, X), "starts");
        memcpy(t[i].start, X, sizeof t[i].start);
        free(X);
    }
    tribo_sysid_free(s);
    return n;
}

static void print(const result *r, int n, const law *l, const result *best) {
    double distance = 0, angle = 0, mean = 0, behind = 0, square = 0;
    for (int i = 0; i < n; i++) {
        distance += r->held[i].distance / n, angle += r->held[i].angle / n, mean += r->held[i].likelihood / n;
        behind += (best->held[i].likelihood - r->held[i].likelihood) / n;
    }
    for (int i = 0; i < n; i++) square += pow(best->held[i].likelihood - r->held[i].likelihood - behind, 2);
    printf("%-20s %d %8.4f %7.4f +- %.4f %6.2f %% %5.2f deg %6.2f %% %5.2f deg ", l->name, l->frictions, mean, behind,
           sqrt(square / (n - 1) / n), 100 * distance / edge, angle * 180 / M_PI, 100 * r->distance / edge,
           r->angle * 180 / M_PI);
    for (int i = 0; i < freedom(l); i++) printf(" %.4g", r->value[i]);
    putchar('\n');
}

int main(void) {
    static toss t[TOSSES];
    static result r[LAWS];
    const char *folder = getenv("TRIBO_DATA");
    tribo_model *m = scene("cube-toss");
    if (!folder) return fputs("TRIBO_DATA names no folder with tosses: the README says how to get them\n", stderr), 2;
    int n = load(m, folder, t), best = 0;
    double top = -HUGE_VAL;
    for (int k = 0; k < LAWS; k++) {
        double mean = 0, begun = seconds();
        judge(t, n, &laws[k], &r[k]);
        for (int i = 0; i < n; i++) mean += r[k].held[i].likelihood / n;
        if (mean > top) top = mean, best = k;
        fprintf(stderr, "%s, %d: %.0f s\n", laws[k].name, laws[k].frictions, seconds() - begun);
    }
    puts("law of impacts, frictions; log-likelihood a number, held out; behind the best; position, rotation held "
         "out, and where all were fitted; "
         "restitution, inertia, frictions");
    for (int k = 0; k < LAWS; k++) print(&r[k], n, &laws[k], &r[best]);
    for (int i = 0; i < n; i++) recording_free(&t[i].rec);
    tribo_model_free(m);
    return EXIT_SUCCESS;
}
