/* coverage_arm.c -- an arm of six hinges with unknown masses, centres of mass, damping and dry friction.
 *
 * Angles, with noise, and torques of examples/sysid/arms.c, which shares nothing with the library: another formulation
 * of the dynamics, another order of integration, events where a hinge stops. Keys:
 *   seconds=S of a recording   spacing=S from row to row   step=S of the fit
 *   noise=MRAD   cut=S: a recording is simulated in pieces of that length, each with a start of its own
 *   free=main|dynamics|all   what is free: masses and centres of the heavier links along them, damping, friction;
 *                            with all masses and centres; with inertias and rotors
 *   factor=F   starts of the fit are drawn within that factor of the truth
 *   by=mujoco  by least squares over MuJoCo's step in our place
 *   first=NUMBER of the first set   each=1: a line for every set
 *   same=N: set N, from 1 on, every time, from other starts */
#include "coverage_arm.h"
#include "arms.h"
#include "base/base.h"
#include "coverage_mujoco.h"
#include "cubes.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tribo/tribo.h>

enum { FREE = 128, N = ARM_LINKS, PIECES = 512 };
static const char *const arm_scene = "data/scenes/ur-like.xml"; /* in the root of the project */

typedef struct arm_options {
    double seconds, spacing, step, noise, cut, factor;
    int first, sets, nrec, which, same;
    bool each, rival;
} arm_options;

typedef struct sums {
    int sets, failed, held[FREE], told[FREE];
    double z[FREE], z2[FREE], square[FREE], variance[FREE], error[FREE][1024], seconds;
} sums;

typedef struct unknown {
    tribo_free_param free[FREE];
    double truth[FREE];
    int n;
} unknown;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool wanted(const char *name, tribo_param_kind kind, int which) {
    switch (kind) {
    case TRIBO_PARAM_DAMPING:
    case TRIBO_PARAM_FRICTIONLOSS:
        return true;
    case TRIBO_PARAM_MASS:
        return which > 0 || !strncmp(name, "upper", 5) || !strncmp(name, "fore", 4) || !strncmp(name, "wrist 1", 7);
    case TRIBO_PARAM_COM:
        return which > 0 || !strcmp(name, "upper arm/com/z") || !strcmp(name, "forearm/com/z") ||
               !strcmp(name, "wrist 2/com/z") || !strcmp(name, "flange/com/y");
    case TRIBO_PARAM_INERTIA:
    case TRIBO_PARAM_ARMATURE:
        return which > 1;
    default:
        return false;
    }
}

/* What is free, and where a fit starts. */
static void choose(const tribo_model *m, const arm_options *o, uint64_t *seed, unknown *u) {
    tribo_sizes z = tribo_model_sizes(m);
    double *p = calloc((size_t)z.np, sizeof *p);
    tribo_model_params(m, p);
    u->n = 0;
    for (int i = 0; i < z.np && u->n < FREE; i++) {
        tribo_param_info info;
        if (tribo_param_describe(m, i, &info) || !wanted(info.name, info.kind, o->which)) continue;
        tribo_free_param *f = &u->free[u->n];
        double factor = exp(log(o->factor) * (2 * cubes_uniform(seed) - 1));
        *f = tribo_default_free();
        f->index = i, f->start = p[i] * factor;
        if (info.kind == TRIBO_PARAM_COM) f->start = p[i] + (factor > 1 ? 1 - 1 / factor : factor - 1) * 0.2;
        if (info.kind == TRIBO_PARAM_INERTIA) f->start = p[i];
        u->truth[u->n++] = p[i];
    }
    free(p);
}

/* Recordings cut into pieces that share a row. @return how many. */
static int record(const tribo_model *m, const arm_options *o, uint64_t *seed, tribo_recording *rec) {
    tribo_sizes z = tribo_model_sizes(m);
    int rows = (int)(o->seconds / o->spacing + 1.5), piece = o->cut > 0 ? (int)(o->cut / o->spacing + 0.5) : rows,
        n = 0;
    double *q = calloc((size_t)(2 * rows * N), sizeof *q), *torque = q + rows * N;
    for (int i = 0; i < o->nrec; i++) {
        arm a = arm_ur();
        arm_wish wish = arm_wish_draw(&a, seed);
        arm_record(&a, &wish, rows, o->spacing, o->noise, seed, q, torque);
        for (int from = 0; from < rows - 1 && n < PIECES; from += piece, n++) {
            int length = from + piece + 1 < rows ? piece + 1 : rows - from;
            double *time = calloc((size_t)length * (1 + (size_t)z.nx + (size_t)z.nu), sizeof *time);
            double *x = time + length, *u = x + length * z.nx;
            for (int k = 0; k < length; k++) {
                time[k] = k * o->spacing;
                for (int j = 0; j < N; j++) {
                    x[k * z.nx + j] = q[(from + k) * N + j], x[k * z.nx + N + j] = NAN;
                    u[k * z.nu + j] = torque[(from + k) * N + j];
                }
            }
            rec[n] = (tribo_recording){.n = length, .time = time, .x = x, .u = u};
        }
    }
    free(q);
    return n;
}

static void judge(const tribo_model *m, const unknown *u, const tribo_estimate *est, const arm_options *o, sums *t) {
    t->sets++;
    for (int i = 0; i < u->n; i++) {
        tribo_param_info info;
        double off = est[i].estimate - u->truth[i], z = est[i].identifiable ? off / est[i].std_error : 0;
        t->held[i] += est[i].low95 <= u->truth[i] && u->truth[i] <= est[i].high95;
        t->told[i] += est[i].identifiable;
        t->z[i] += z, t->z2[i] += z * z;
        t->square[i] += off * off, t->variance[i] += est[i].std_error * est[i].std_error;
        if (t->sets <= 1024) t->error[i][t->sets - 1] = fabs(off);
        if (o->each && !tribo_param_describe(m, est[i].index, &info))
            printf("  %s %.5g +- %.2g (%.1f) from %.4g%s\n", info.name, est[i].estimate, est[i].std_error, z,
                   est[i].start, est[i].at_bound ? ", at a bound" : "");
    }
}

/* The same by MuJoCo. */
static tribo_status compete(const tribo_model *m, const arm_options *o, const tribo_recording *rec, int nrec,
                            const unknown *u, tribo_estimate *est, int *iterations) {
    static tribo_param_info info[FREE];
    const char *name[FREE];
    double start[FREE];
    for (int i = 0; i < u->n; i++) {
        if (tribo_param_describe(m, u->free[i].index, &info[i])) return TRIBO_E_ARG;
        name[i] = info[i].name, start[i] = u->free[i].start;
    }
    rival r = {.path = arm_scene, .nfree = u->n, .name = name, .start = start, .rec = rec, .nrec = nrec};
    r.step = o->step, r.position = r.rotation = o->noise;
    bool good = rival_fit(&r, est, iterations);
    for (int i = 0; i < u->n; i++) est[i].index = u->free[i].index;
    return good ? TRIBO_OK : TRIBO_E_NONFINITE;
}

static void fit(const tribo_model *m, const arm_options *o, int set, sums *t, unknown *u) {
    static tribo_recording rec[PIECES];
    static tribo_estimate est[FREE];
    uint64_t seed = 991u * (uint64_t)(o->same ? o->same : set + 1), starts = 7919u * (uint64_t)(set + 1);
    tribo_sysid_def def = tribo_default_sysid();
    tribo_options options = tribo_default_options();
    tribo_sysid *s = NULL;
    tribo_progress now = {0};
    tribo_diag diag = {0};
    for (int k = 0; k < 10; k++) cubes_uniform(&seed), cubes_uniform(&starts);
    choose(m, o, &starts, u);
    options.dt = o->step;
    def.nrec = record(m, o, &seed, rec);
    def.free = u->free, def.nfree = u->n, def.rec = rec, def.options = &options, def.workers = 2;
    def.loss = TRIBO_LOSS_SHOOTING, def.start = TRIBO_START_AUTO, def.robust = TRIBO_ROBUST_HUBER, def.search = 32;
    double started = seconds();
    int open = 0;
    tribo_status status =
        o->rival ? compete(m, o, rec, def.nrec, u, est, &now.iteration) : tribo_sysid_new(m, &def, &s, &diag);
    while (s && !status && now.stage != TRIBO_STAGE_DONE && now.iteration < 300) {
        status = tribo_sysid_iterate(s, &now);
    }
    if (s && status >= 0) status = tribo_sysid_observe(s, est, NULL, NULL, NULL, &open);
    t->seconds += seconds() - started;
    if (o->each)
        printf("%.1f s, %d iterations, %d of %d starts, %d others, loss %.6g, %d directions open\n",
               seconds() - started, now.iteration, now.agreed, now.starts, now.others, now.loss, open);
    if (status >= 0)
        judge(m, u, est, o, t);
    else
        t->failed++, fprintf(stderr, "arm: %s %s\n", tribo_status_text(status), diag.text);
    tribo_sysid_free(s);
    for (int i = 0; i < def.nrec; i++) free((void *)(size_t)rec[i].time);
}

static void print(const tribo_model *m, const arm_options *o, const unknown *u, sums *t) {
    printf("arm, %d sets of %d recordings of %g s: %d failed, %.2f s a fit\n", t->sets + t->failed, o->nrec, o->seconds,
           t->failed, t->seconds / (t->sets + t->failed));
    for (int i = 0; i < u->n && t->sets; i++) {
        tribo_param_info info;
        double n = t->sets, mean = t->z[i] / n;
        if (tribo_param_describe(m, u->free[i].index, &info)) continue;
        qsort(t->error[i], (size_t)t->sets, sizeof(double), ti_ascending);
        printf(
            "  %-20s held %5.1f %%, told %5.1f %%; in standard errors: mean %5.2f, spread %.2f; median error %.3g; rms "
            "error %.3g, standard error %.3g\n",
            info.name, 100 * t->held[i] / n, 100 * t->told[i] / n, mean, sqrt(fmax(0, t->z2[i] / n - mean * mean)),
            t->error[i][t->sets / 2], sqrt(t->square[i] / n), sqrt(t->variance[i] / n));
    }
}

static bool read_key(const char *word, arm_options *o) {
    static const char *const which[] = {"main", "dynamics", "all"};
    char key[32];
    double number;
    const char *value = strchr(word, '=');
    if (!value || value - word > 31) return false;
    snprintf(key, sizeof key, "%.*s", (int)(value - word), word);
    number = atof(++value);
    double *numbers[] = {&o->seconds, &o->spacing, &o->step, &o->cut, &o->factor};
    static const char *const keys[] = {"seconds", "spacing", "step", "cut", "factor"};
    for (int i = 0; i < 5; i++)
        if (!strcmp(key, keys[i])) return *numbers[i] = number, true;
    for (int i = 0; i < 3 && !strcmp(key, "free"); i++)
        if (!strcmp(value, which[i])) return o->which = i, true;
    if (!strcmp(key, "by")) return o->rival = !strcmp(value, "mujoco"), true;
    if (!strcmp(key, "noise")) return o->noise = number / 1e3, true;
    if (!strcmp(key, "first")) return o->first = (int)number, true;
    if (!strcmp(key, "each")) return o->each = number > 0, true;
    if (!strcmp(key, "same")) return o->same = (int)number, true;
    return false;
}

int coverage_arm(int argc, char **argv) {
    static sums t;
    static unknown u;
    arm_options o = {.seconds = 4, .spacing = 0.004, .step = 0.002, .noise = 1e-3, .cut = 0.5, .factor = 2};
    tribo_model *m = NULL;
    tribo_diag diag = {0};
    bool fine = argc > 3;
    for (int i = 4; i < argc; i++) fine &= read_key(argv[i], &o);
    o.sets = argc > 2 ? atoi(argv[2]) : 0, o.nrec = argc > 3 ? atoi(argv[3]) : 0;
    if (!fine || o.sets < 1 || o.nrec < 1 || tribo_model_load(arm_scene, NULL, &m, &diag)) {
        fprintf(stderr,
                "usage: bench_coverage arm SETS RECORDINGS [KEY=VALUE...], in the root of the project %s\n"
                "keys: seconds spacing step noise cut free factor by first each same; see bench/coverage_arm.c\n",
                diag.text);
        return 2;
    }
    for (int i = o.first; i < o.first + o.sets; i++) fit(m, &o, i, &t, &u), fflush(stdout);
    print(m, &o, &u, &t);
    tribo_model_free(m);
    return 0;
}
