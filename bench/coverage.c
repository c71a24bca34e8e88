/* coverage.c -- do the 95 % intervals of an identification hold the truth in 95 % of data sets?
 *
 * Data sets from generators that share nothing with the library: a slide and a bouncing ball in closed form, colliding
 * and tumbling cubes by examples/sysid/cubes.c. Poses alone, with noise; starts of the fit drawn about the truth.
 *
 * usage: bench_coverage CASE SETS RECORDINGS [rollout|shooting|window] [N] [NOISE_MM] [KEEP]
 * CASE is slide, bounce, collision or tumble; N the rows between nodes; KEEP the share of rows that is there. */
#include "cubes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tribo/tribo.h>

enum { ROWS = 81, NQ = 14, NX = 26, RECS = 64, FREE = 3 };

typedef struct data_set {
    tribo_recording rec[RECS];
    double time[RECS][ROWS], x[RECS][ROWS * NX];
    uint64_t seed;
    double noise, keep;
} data_set;

typedef struct experiment {
    const char *name, *xml;
    int nbody, nfree;
    const char *free[FREE];
    double truth[FREE];
    void (*record)(data_set *d, int i);
} experiment;

static double between(data_set *d, double a, double b) {
    return a + (b - a) * cubes_uniform(&d->seed);
}

/* A row of poses into a recording; velocities stay unmeasured. Rows may be missing. */
static void put(data_set *d, int i, int k, double time, const cube *c, int n) {
    tribo_recording *r = &d->rec[i];
    (void)k;
    if (r->n && cubes_uniform(&d->seed) > d->keep) return;
    int row = r->n++, nx = 13 * n;
    double *x = d->x[i] + row * nx;
    d->time[i][row] = time;
    for (int j = 0; j < nx; j++) x[j] = NAN;
    for (int b = 0; b < n; b++) cube_measure(&c[b], d->noise, d->noise / 0.1, &d->seed, x + 7 * b);
}

/* ---- a slide in closed form ---- */

static void record_slide(data_set *d, int i) {
    double v = between(d, 1.2, 2.5), angle = between(d, -3, 3), a = 0.25 * 9.81, stop = v / a;
    cube_world world = {.n = 1, .half = 0.1};
    cube c = cube_standing(&world, 1, 0, 0, 0, 0);
    for (int k = 0; k < 61; k++) {
        double t = 0.01 * k, s = t < stop ? t : stop, way = v * s - a * s * s / 2;
        c.x[0] = way * cos(angle), c.x[1] = way * sin(angle);
        put(d, i, k, t, &c, 1);
    }
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

static void record_bounce(data_set *d, int i) {
    const double radius = 0.1, g = 9.81, e = 0.7, mu = 0.05;
    cube c = {.x = {0, 0, radius + between(d, 0.2, 0.5)}, .R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (int j = 0; j < 3; j++) c.v[j] = j < 2 ? between(d, -1.5, 1.5) : 0, c.w[j] = between(d, -2, 2);
    for (int k = 0; k < 81; k++) {
        put(d, i, k, 0.01 * k, &c, 1);
        for (double left = 0.01; left > 0;) {
            double gap = c.x[2] - radius, hit = (c.v[2] + sqrt(c.v[2] * c.v[2] + 2 * g * (gap > 0 ? gap : 0))) / g;
            double t = hit < left ? hit : left;
            c.x[2] += c.v[2] * t - g * t * t / 2, c.v[2] -= g * t;
            for (int j = 0; j < 2; j++) c.x[j] += c.v[j] * t;
            spin(&c, t);
            left = hit < left ? left - t : 0;
            if (left > 0) bounce(&c, radius, e, mu);
        }
    }
}

/* ---- cubes ---- */

static void record_collision(data_set *d, int i) {
    cube_world w = {.n = 2,
                    .half = 0.1,
                    .gravity = 9.81,
                    .dt = 1. / 32000,
                    .floor_friction = 0.2,
                    .impact_friction = 0.1,
                    .impact_restitution = 0.5,
                    .slow = 0.02};
    double y = between(d, -0.03, 0.03), side = cubes_uniform(&d->seed) < 0.5 ? -1 : 1, v = between(d, 1.6, 2.8);
    w.cube[0] = cube_standing(&w, 0.6, -0.45, y, side * between(d, 0.1, 0.28), v);
    w.cube[1] = cube_standing(&w, 1, 0, 0, 0, 0);
    for (int k = 0; k < 81; k++) {
        put(d, i, k, 0.01 * k, w.cube, 2);
        for (int s = 0; s < 320; s++) cubes_step(&w);
    }
}

static void record_tumble(data_set *d, int i) {
    cube_world w = {.n = 1,
                    .half = 0.05,
                    .gravity = 9.81,
                    .dt = 1. / 40000,
                    .floor_friction = 0.25,
                    .floor_restitution = 0.3,
                    .slow = 0.05};
    cube *c = &w.cube[0];
    *c = cube_standing(&w, 0.4, 0, 0, between(d, -1, 1), between(d, 0.5, 1.5));
    c->x[2] = between(d, 0.15, 0.25);
    for (int j = 0; j < 3; j++) c->w[j] = between(d, -3, 3);
    spin(c, 0.3);
    for (int k = 0; k < 51; k++) { /* until corners begin to share impacts, which each law does in its own way */
        int low = 0;
        for (int j = 0; j < 8; j++) {
            double z = c->x[2];
            for (int a = 0; a < 3; a++) z += (j >> a & 1 ? 1 : -1) * w.half * c->R[2][a];
            low += z < 2e-3;
        }
        if (low > 1 && k > 15) break;
        put(d, i, k, 0.01 * k, w.cube, 1);
        for (int s = 0; s < 400; s++) cubes_step(&w);
    }
}

#define OPTION "<option timestep='0.001' gravity='0 0 -9.81' cone='elliptic'/>"
/* A ball's spin after an impact is known to the lever arm at the step before it, and what slides, to half of what it
 * loses in a step: less than a standard error with these. */
#define FINE "<option timestep='0.00025' gravity='0 0 -9.81' cone='elliptic'/>"
#define HALF "<option timestep='0.0005' gravity='0 0 -9.81' cone='elliptic'/>"
/* restitution of velocities is the law of cubes.c; Poisson's differs where an impact sticks */
#define NEWTON "<text name='contact/impact' data='newton'/>"
#define FLOOR "<geom name='floor' type='plane' size='0 0 1' priority='1' friction='"
static const experiment experiments[] = {
    {"slide",
     "<mujoco>" OPTION "<worldbody>" FLOOR "0.25'/><body name='cube' pos='0 0 0.1'><freejoint/>"
     "<geom name='cube' type='box' size='0.1 0.1 0.1' mass='1'/></body></worldbody></mujoco>",
     1,
     1,
     {"floor/friction"},
     {0.25},
     record_slide},
    {"bounce",
     "<mujoco>" FINE "<custom><numeric name='floor/restitution' data='0.7'/></custom><worldbody>" FLOOR
     "0.05'/><body name='ball' pos='0 0 0.4'><freejoint/><geom name='ball' type='sphere' size='0.1' mass='1'/></body>"
     "</worldbody></mujoco>",
     1,
     2,
     {"floor/restitution", "floor/friction"},
     {0.7, 0.05},
     record_bounce},
    {"collision",
     "<mujoco>" HALF "<custom>" NEWTON "<numeric name='hit/restitution' data='0.5'/></custom>"
     "<default><geom type='box' size='0.1 0.1 0.1'/></default><worldbody>" FLOOR
     "0.2'/><body name='cube' pos='-0.45 0 0.1'><freejoint/><geom name='cube' mass='0.6'/></body>"
     "<body name='known' pos='0 0 0.1'><freejoint/><geom name='known' mass='1'/></body></worldbody>"
     "<contact><pair name='hit' geom1='cube' geom2='known' friction='0.1 0.1 0.005 0.0001 0.0001'/></contact></mujoco>",
     2,
     3,
     {"cube/mass", "floor/friction", "hit/restitution"},
     {0.6, 0.2, 0.5},
     record_collision},
    {"tumble",
     "<mujoco>" HALF "<custom>" NEWTON "<numeric name='floor/restitution' data='0.3'/></custom><worldbody>" FLOOR
     "0.25'/><body name='cube' pos='0 0 0.15'><freejoint/><geom name='cube' type='box' size='0.05 0.05 0.05' "
     "mass='0.4'/></body></worldbody></mujoco>",
     1,
     3,
     {"floor/friction", "floor/restitution", "gravity/z"},
     {0.25, 0.3, -9.81},
     record_tumble},
};

/* ---- a fit ---- */

typedef struct tally {
    int sets, failed, held[FREE];
    double square[FREE], variance[FREE], error[FREE][4096], seconds;
} tally;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void judge(const experiment *e, tally *t, const tribo_estimate *est) {
    t->sets++;
    for (int i = 0; i < e->nfree; i++) {
        double off = est[i].estimate - e->truth[i];
        t->held[i] += est[i].low95 <= e->truth[i] && e->truth[i] <= est[i].high95;
        t->square[i] += off * off, t->variance[i] += est[i].std_error * est[i].std_error;
        if (t->sets <= 4096) t->error[i][t->sets - 1] = fabs(off);
    }
}

static int fit(const experiment *e, const tribo_model *m, data_set *d, int nrec, tribo_loss loss, int window,
               tally *t) {
    tribo_free_param free[FREE];
    tribo_estimate est[FREE];
    tribo_sysid_def def = tribo_default_sysid();
    tribo_sysid *s = NULL;
    tribo_progress now;
    tribo_diag diag = {0};
    for (int i = 0; i < nrec; i++) {
        d->rec[i] = (tribo_recording){.time = d->time[i], .x = d->x[i]};
        e->record(d, i);
    }
    for (int i = 0; i < e->nfree; i++) {
        free[i] = tribo_default_free();
        free[i].index = tribo_param_find(m, e->free[i]);
        double factor = exp(between(d, -0.7, 0.7));
        free[i].start = strstr(e->free[i], "gravity")       ? e->truth[i]
                        : strstr(e->free[i], "restitution") ? between(d, 0.1, 0.9)
                                                            : e->truth[i] * factor;
    }
    def.free = free, def.nfree = e->nfree, def.rec = d->rec, def.nrec = nrec;
    def.loss = loss, def.window = window, def.start = TRIBO_START_AUTO, def.robust = TRIBO_ROBUST_HUBER;
    def.search = 32, def.workers = 2;
    double started = seconds();
    tribo_status status = tribo_sysid_new(m, &def, &s, &diag);
    if (!status) status = tribo_sysid_fit(s, 200, &now);
    if (status >= 0) status = tribo_sysid_observe(s, est, NULL, NULL, NULL, NULL);
    t->seconds += seconds() - started;
    if (status >= 0) {
        judge(e, t, est);
        if (getenv("EACH"))
            for (int i = 0; i < e->nfree; i++)
                printf("%s %.5g +- %.2g (%.1f)%s", e->free[i], est[i].estimate, est[i].std_error,
                       (est[i].estimate - e->truth[i]) / est[i].std_error, i + 1 < e->nfree ? "; " : "\n");
    } else
        t->failed++, fprintf(stderr, "%s: %s %s\n", e->name, tribo_status_text(status), diag.text);
    tribo_sysid_free(s);
    return 0;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    static data_set d;
    static tally t;
    const experiment *e = NULL;
    tribo_model *m = NULL;
    for (size_t i = 0; i < sizeof experiments / sizeof *experiments && argc > 3; i++)
        if (!strcmp(experiments[i].name, argv[1])) e = &experiments[i];
    int sets = argc > 2 ? atoi(argv[2]) : 0, nrec = argc > 3 ? atoi(argv[3]) : 0;
    if (!e || sets < 1 || nrec < 1 || nrec > RECS) {
        fprintf(stderr, "usage: bench_coverage slide|bounce|collision|tumble SETS RECORDINGS [rollout|shooting|window] "
                        "[N] [NOISE_MM] [KEEP]\n");
        return 2;
    }
    tribo_loss loss = argc > 4 && !strcmp(argv[4], "rollout")  ? TRIBO_LOSS_ROLLOUT
                      : argc > 4 && !strcmp(argv[4], "window") ? TRIBO_LOSS_WINDOW
                                                               : TRIBO_LOSS_SHOOTING;
    int window = argc > 5 ? atoi(argv[5]) : 1;
    if (tribo_model_load_memory(e->xml, strlen(e->xml), e->name, NULL, &m, NULL)) return 1;
    for (int i = 0; i < sets; i++) {
        d.seed = 77u * (uint64_t)(i + 1) + 12345u * (uint64_t)(e - experiments);
        for (int k = 0; k < 10; k++) cubes_uniform(&d.seed);
        d.noise = 1e-3 * (argc > 6 ? atof(argv[6]) : 1), d.keep = argc > 7 ? atof(argv[7]) : 1;
        if (fit(e, m, &d, nrec, loss, window, &t)) return 1;
    }
    printf("%s, %d sets of %d recordings: %d failed, %.2f s a fit\n", e->name, sets, nrec, t.failed, t.seconds / sets);
    for (int i = 0; i < e->nfree && t.sets; i++) {
        qsort(t.error[i], (size_t)t.sets, sizeof(double), ascending);
        printf("  %-20s held %5.1f %%, rms error %.3g, rms standard error %.3g, median error %.3g\n", e->free[i],
               100. * t.held[i] / t.sets, sqrt(t.square[i] / t.sets), sqrt(t.variance[i] / t.sets),
               t.error[i][t.sets / 2]);
    }
    tribo_model_free(m);
    return 0;
}
