/* coverage.c -- do the 95 % intervals of an identification hold the truth in 95 % of data sets?
 *
 * Data sets from generators that share nothing with the library: a slide and a bouncing ball in closed form, colliding
 * and tumbling cubes by examples/sysid/cubes.c. Poses alone, with noise; starts of the fit drawn about the truth.
 *
 * usage: bench_coverage CASE SETS RECORDINGS [KEY=VALUE...]
 * CASE is slide, bounce, collision, tumble, or arm, of which coverage_arm.c has the keys. Keys:
 *   loss=rollout|shooting|window   rows=N (between nodes, of a window; 0: chosen, 1)
 *   noise=MM   keep=SHARE of the rows   first=NUMBER of the first set
 *   scatter=SHARE of restitution, by which impacts differ: another model
 *   step=S     of the fit, where the scene's is not wanted
 *   made=library   recordings by the library's own step: what is left then is not the model's
 *   made=mujoco    by MuJoCo's, whose contacts give way: another model
 *   near=1     fits begin at the truth, and there is no search
 *   each=1     a line for every set
 *   given=1    the fit is told the noise, so that losses of the same set compare
 *   hold=I     parameter I stays at its truth: with given, what the others' fit says of an interval of it
 *   bound=1    what Fisher's information allows: the standard errors from the same motions without noise, and the
 *              median of errors in units of theirs, 1 where a fit is as good as can be
 *   by=mujoco  by least squares over MuJoCo's step in our place, where it is installed: slide, bounce, arm
 *   starts=N   one data set, SETS of them, fitted from N starts within a factor 10 of the truth each: do they agree?
 * Of each parameter: how often the interval holds the truth; mean and spread of the errors in standard errors, which
 * are 0 and 1 where these are right; the median of the errors' sizes. And how often what a fit leaves is more than
 * noise, as `tribo identify` would say (docs/identify.md, Is it right?). */
#include "base/base.h"
#include "coverage_arm.h"
#include "coverage_motions.h"
#include "coverage_mujoco.h"
#include "residuals.h"
#include "slow.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct settings {
    tribo_loss loss;
    int rows, first;
    double noise, keep, scatter, step;
    bool by_library, by_mujoco, near, each, bound, given, rival;
    int starts, hold;
} settings;

/* ---- a fit ---- */

typedef struct tally {
    int sets, failed, held[FREE], warned, silent[FREE]; /* silent: outside without a warning */
    double square[FREE], variance[FREE], z[FREE], z2[FREE], error[FREE][4096], seconds;
    double share[FREE][4096]; /* of errors in what Fisher's information allows */
} tally;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void judge(const experiment *e, tally *t, const tribo_estimate *est, const double *bound, bool warned,
                  bool each) {
    t->sets++, t->warned += warned;
    for (int i = 0; i < e->nfree; i++) {
        double off = est[i].estimate - e->truth[i], z = off / est[i].std_error;
        bool held = est[i].low95 <= e->truth[i] && e->truth[i] <= est[i].high95;
        t->held[i] += held, t->silent[i] += !held && !warned;
        t->square[i] += off * off, t->variance[i] += est[i].std_error * est[i].std_error;
        t->z[i] += z, t->z2[i] += z * z;
        if (t->sets <= 4096) t->error[i][t->sets - 1] = fabs(off), t->share[i][t->sets - 1] = fabs(off) / bound[i];
        if (!each) continue;
        printf("%s %.5g +- %.2g (%.1f)", e->free[i], est[i].estimate, est[i].std_error, z);
        if (bound[i] != 1) printf(" bound %.3g", bound[i]);
        fputs(i + 1 < e->nfree ? "; " : "\n", stdout);
    }
}

static void choose(const experiment *e, const tribo_model *m, data_set *d, double width, tribo_free_param *free) {
    for (int i = 0; i < e->nfree; i++) {
        free[i] = tribo_default_free();
        free[i].index = tribo_param_find(m, e->free[i]);
        double factor = exp(between(d, -width, width)), restitution = between(d, 0.1, 0.9);
        free[i].start = strstr(e->free[i], "gravity")       ? e->truth[i]
                        : strstr(e->free[i], "restitution") ? restitution
                                                            : e->truth[i] * factor;
    }
}

/* Does a fit leave no more than noise, by what `tribo identify` goes by? */
static bool explains(tribo_sysid *s, const tribo_model *m, const data_set *d, int nrec) {
    quality q = {0};
    slow_parts slow = {0};
    char text[400];
    bool known = true;
    for (int i = 0; i < nrec && known; i++) {
        residuals r;
        known = residuals_of(&r, s, m, d->rec + i, i);
        if (!known) break;
        quality_add(&q, &r, m, d->rec + i);
        known = slow_add(&slow, &r, d->rec + i);
        residuals_free(&r);
    }
    quality_settle(&q, tribo_model_extent(m));
    bool good = known && quality_good(&q, text) && slow_good(&slow, m, text) && slow_agree(s, text);
    slow_free(&slow);
    return good;
}

/* A fit from given starts; of what has no noise, with that which it should have. @return its status. */
static tribo_status estimate(const experiment *e, const tribo_model *m, const data_set *d, int nrec,
                             const settings *set, const tribo_free_param *free, tribo_progress *now,
                             tribo_estimate *est, bool *warned) {
    tribo_sysid_def def = tribo_default_sysid();
    tribo_options options = tribo_default_options();
    tribo_sysid *s = NULL;
    tribo_diag diag = {0};
    options.dt = set->step;
    def.free = free, def.nfree = e->nfree, def.rec = d->rec, def.nrec = nrec, def.options = &options;
    def.loss = set->loss, def.start = TRIBO_START_AUTO, def.robust = TRIBO_ROBUST_HUBER;
    def.window = set->rows || set->loss == TRIBO_LOSS_SHOOTING ? set->rows : 1;
    def.search = set->near ? 0 : 32, def.workers = 2;
    if (!(d->noise > 0) || set->given) def.weight[0] = 1 / set->noise, def.weight[1] = 0.1 / set->noise;
    tribo_status status = tribo_sysid_new(m, &def, &s, &diag);
    if (!status) status = tribo_sysid_fit(s, 200, now);
    if (status >= 0) status = tribo_sysid_observe(s, est, NULL, NULL, NULL, NULL);
    if (warned) *warned = status >= 0 && !explains(s, m, d, nrec);
    if (status < 0) fprintf(stderr, "%s: %s %s\n", e->name, tribo_status_text(status), diag.text);
    tribo_sysid_free(s);
    return status;
}

/* Standard errors from the motions without their noise. */
static void allowed(const experiment *e, const tribo_model *m, const data_set *bare, int nrec, const settings *set,
                    double bound[FREE]) {
    settings near = *set;
    tribo_free_param free[FREE];
    tribo_progress now = {0};
    tribo_estimate est[FREE];
    near.near = true;
    for (int i = 0; i < e->nfree; i++) {
        free[i] = tribo_default_free();
        free[i].index = tribo_param_find(m, e->free[i]), free[i].start = e->truth[i], bound[i] = HUGE_VAL;
    }
    if (estimate(e, m, bare, nrec, &near, free, &now, est, NULL) >= 0)
        for (int i = 0; i < e->nfree; i++) bound[i] = est[i].std_error;
}

/* The loss of the motion that is true: half the squares of the noise that was put on it. No fit's is above that, unless
 * it has ended in a minimum beside the lowest. */
static double loss_of_truth(const data_set *bare, const data_set *d, const tribo_model *m, int nrec, double noise) {
    double sum = 0;
    tribo_sizes z = tribo_model_sizes(m);
    for (int i = 0; i < nrec; i++)
        for (int k = 0; k < d->rec[i].n; k++) {
            double off[2 * NX], was[NX], is[NX];
            memcpy(was, bare->x[i] + k * z.nx, (size_t)z.nx * sizeof *was);
            memcpy(is, d->x[i] + k * z.nx, (size_t)z.nx * sizeof *is);
            for (int j = z.nq; j < z.nx; j++) was[j] = is[j] = 0;
            tribo_state_difference(m, is, was, off);
            for (int j = 0; j < z.nv; j++) off[j] /= tribo_model_turns(m, j) ? noise / 0.1 : noise;
            for (int j = 0; j < z.nv; j++) sum += off[j] * off[j] / 2;
        }
    return sum;
}

/* The same by MuJoCo. */
static tribo_status compete(const experiment *e, const data_set *d, int nrec, const settings *set,
                            const tribo_free_param *free, tribo_progress *now, tribo_estimate *est) {
    double start[FREE];
    for (int i = 0; i < e->nfree; i++) start[i] = free[i].start;
    rival r = {.xml = e->xml, .nfree = e->nfree, .name = e->free, .start = start, .rec = d->rec, .nrec = nrec};
    r.step = set->step, r.position = set->noise, r.rotation = set->noise / 0.1;
    *now = (tribo_progress){.starts = 1, .agreed = 1, .loss = NAN};
    return rival_fit(&r, est, &now->iteration) ? TRIBO_OK : TRIBO_E_NONFINITE;
}

static void fit(const experiment *e, const tribo_model *m, data_set *d, int nrec, const settings *set,
                const double bound[FREE], tally *t) {
    tribo_free_param free[FREE];
    tribo_estimate est[FREE];
    tribo_progress now = {0};
    choose(e, m, d, 0.7, free);
    for (int i = 0; i < e->nfree && set->near; i++) free[i].start = e->truth[i];
    if (set->hold >= 0 && set->hold < e->nfree) {
        tribo_free_param *f = &free[set->hold];
        f->start = f->lower = f->upper = e->truth[set->hold];
    }
    double started = seconds();
    bool warned = false;
    tribo_status status =
        set->rival ? compete(e, d, nrec, set, free, &now, est) : estimate(e, m, d, nrec, set, free, &now, est, &warned);
    t->seconds += seconds() - started;
    if (set->each)
        printf("%d iterations, %d of %d starts, loss %.6g: ", now.iteration, now.agreed, now.starts, now.loss);
    if (status >= 0)
        judge(e, t, est, bound, warned, set->each);
    else
        t->failed++;
}

/* One data set from many starts: how many end within half a standard error of the median of each number? */
static void from_starts(const experiment *e, const tribo_model *m, data_set *d, int nrec, const settings *set) {
    enum { MOST = 100 };
    tribo_free_param free[MOST][FREE];
    tribo_estimate est[MOST][FREE];
    tribo_progress now = {0};
    double middle[FREE], error[FREE], list[MOST], loss[MOST];
    bool warned[MOST];
    int n = 0, agree = 0;
    for (int k = 0; k < set->starts && k < MOST; k++) {
        choose(e, m, d, log(10), free[n]);
        if (estimate(e, m, d, nrec, set, free[n], &now, est[n], &warned[n]) >= 0) loss[n++] = now.loss;
    }
    for (int i = 0; i < e->nfree && n; i++) {
        for (int k = 0; k < n; k++) list[k] = est[k][i].estimate;
        qsort(list, (size_t)n, sizeof *list, ti_ascending), middle[i] = list[n / 2];
        for (int k = 0; k < n; k++) list[k] = est[k][i].std_error;
        qsort(list, (size_t)n, sizeof *list, ti_ascending), error[i] = list[n / 2];
    }
    for (int k = 0; k < n; k++) {
        bool same = true;
        for (int i = 0; i < e->nfree; i++) same &= fabs(est[k][i].estimate - middle[i]) < 0.5 * error[i];
        agree += same;
        if (same && !set->each) continue;
        for (int i = 0; i < e->nfree; i++)
            printf("  %s %.4g -> %.5g +- %.2g;", e->free[i], free[k][i].start, est[k][i].estimate, est[k][i].std_error);
        printf(" loss %.6g%s%s\n", loss[k], warned[k] ? ", more left than noise" : "", same ? "" : ", elsewhere");
    }
    printf("%s: %d of %d starts agree:", e->name, agree, set->starts);
    for (int i = 0; i < e->nfree; i++) printf(" %s %.5g +- %.2g", e->free[i], middle[i], error[i]);
    puts("");
}

static void print(const experiment *e, tally *t, int nrec, const settings *set) {
    printf("%s, %d sets of %d recordings: %d failed, %.2f s a fit, %d with more left than noise\n", e->name,
           t->sets + t->failed, nrec, t->failed, t->seconds / (t->sets + t->failed), t->warned);
    for (int i = 0; i < e->nfree && t->sets; i++) {
        double n = t->sets, mean = t->z[i] / n;
        qsort(t->error[i], (size_t)t->sets, sizeof(double), ti_ascending);
        printf("  %-16s held %5.1f %%; in standard errors: mean %5.2f, spread %.2f; median error %.3g; rms error %.3g, "
               "standard error %.3g\n",
               e->free[i], 100 * t->held[i] / n, mean, sqrt(fmax(0, t->z2[i] / n - mean * mean)),
               t->error[i][t->sets / 2], sqrt(t->square[i] / n), sqrt(t->variance[i] / n));
        qsort(t->share[i], (size_t)t->sets, sizeof(double), ti_ascending);
        const double normal = 0.67449; /* median of a normal number's size */
        if (set->by_mujoco || set->scatter > 0) printf("  %-16s outside without a warning %d\n", "", t->silent[i]);
        if (set->bound) printf("  %-16s median error %.2f of the bound\n", "", t->share[i][t->sets / 2] / normal);
    }
}

static bool read_setting(const char *word, settings *set) {
    const char *value = strchr(word, '=');
    size_t n = value ? (size_t)(value++ - word) : 0;
    if (!n) return false;
    double number = atof(value);
    if (!strncmp(word, "loss", n))
        set->loss = !strcmp(value, "rollout")  ? TRIBO_LOSS_ROLLOUT
                    : !strcmp(value, "window") ? TRIBO_LOSS_WINDOW
                                               : TRIBO_LOSS_SHOOTING;
    else if (!strncmp(word, "by", n))
        set->rival = !strcmp(value, "mujoco");
    else if (!strncmp(word, "made", n))
        set->by_library = !strcmp(value, "library"), set->by_mujoco = !strcmp(value, "mujoco");
    else if (!strncmp(word, "rows", n))
        set->rows = (int)number;
    else if (!strncmp(word, "first", n))
        set->first = (int)number;
    else if (!strncmp(word, "near", n))
        set->near = number > 0;
    else if (!strncmp(word, "each", n))
        set->each = number > 0;
    else if (!strncmp(word, "given", n))
        set->given = number > 0;
    else if (!strncmp(word, "hold", n))
        set->hold = (int)number;
    else if (!strncmp(word, "bound", n))
        set->bound = number > 0;
    else if (!strncmp(word, "starts", n))
        set->starts = (int)number;
    else if (!strncmp(word, "noise", n))
        set->noise = number / 1e3;
    else if (!strncmp(word, "keep", n))
        set->keep = number;
    else if (!strncmp(word, "scatter", n))
        set->scatter = number;
    else if (!strncmp(word, "step", n))
        set->step = number;
    else
        return false;
    return true;
}

/* Data set i, with noise or without: the same motions and rows. */
static void draw(const experiment *e, data_set *d, int i, double noise, const settings *set, int nrec,
                 const maker *other) {
    d->seed = 77u * (uint64_t)(i + 1) + 12345u * (uint64_t)(e - experiments);
    for (int k = 0; k < 10; k++) cubes_uniform(&d->seed);
    d->noise = noise, d->keep = set->keep, d->scatter = set->scatter;
    for (int k = 0; k < nrec; k++) record(e, d, k, other);
}

/* Steps of the library. */
typedef struct own_steps {
    tribo_ws *ws;
    double dt, *p;
} own_steps;

static bool by_library(void *context, double *x) {
    const own_steps *own = context;
    for (int i = 0; i < (int)(0.01 / own->dt + 0.5); i++)
        if (tribo_step(own->ws, own->p, x, NULL, x, NULL) < 0) return false;
    return true;
}

static int run(const experiment *e, int sets, int nrec, const settings *set) {
    static data_set d;
    static tally t;
    tribo_model *m = NULL;
    own_steps own = {0};
    maker other = {0};
    tribo_options options = tribo_default_options();
    if (tribo_model_load_memory(e->xml, strlen(e->xml), e->name, NULL, &m, NULL)) return 1;
    options.dt = set->step > 0 ? set->step : tribo_model_timestep(m);
    if (set->by_library && tribo_ws_new(m, &options, NULL, &own.ws, NULL)) return 1;
    own.dt = options.dt, own.p = calloc((size_t)tribo_model_sizes(m).np, sizeof *own.p);
    tribo_model_params(m, own.p);
    if (set->by_library) other = (maker){by_library, &own};
    if (set->by_mujoco) other = (maker){rival_world_next, rival_world_new(e->xml, e->nfree, e->free, e->truth)};
    if (set->by_mujoco && !other.context) return 1;
    const maker *by = other.next ? &other : NULL;
    for (int i = set->first; i < set->first + sets; i++) {
        double bound[FREE] = {1, 1, 1};
        if (set->bound) {
            draw(e, &d, i, 0, set, nrec, by);
            allowed(e, m, &d, nrec, set, bound);
        }
        draw(e, &d, i, set->noise, set, nrec, by);
        if (set->given && set->each) {
            static data_set bare;
            draw(e, &bare, i, 0, set, nrec, by);
            printf("truth %.6g; ", loss_of_truth(&bare, &d, m, nrec, set->noise));
        }
        if (set->starts)
            from_starts(e, m, &d, nrec, set);
        else
            fit(e, m, &d, nrec, set, bound, &t);
        fflush(stdout);
    }
    if (!set->starts) print(e, &t, nrec, set);
    tribo_ws_free(own.ws), tribo_model_free(m), free(own.p);
    if (set->by_mujoco) rival_world_free(other.context);
    return 0;
}

int main(int argc, char **argv) {
    const experiment *e = NULL;
    settings set = {.loss = TRIBO_LOSS_SHOOTING, .rows = 0, .noise = 1e-3, .keep = 1, .hold = -1};
    bool fine = argc > 3;
    if (argc > 1 && !strcmp(argv[1], "arm")) return coverage_arm(argc, argv);
    for (size_t i = 0; i < EXPERIMENTS && argc > 3; i++)
        if (!strcmp(experiments[i].name, argv[1])) e = &experiments[i];
    for (int i = 4; i < argc; i++) fine &= read_setting(argv[i], &set);
    int sets = argc > 2 ? atoi(argv[2]) : 0, nrec = argc > 3 ? atoi(argv[3]) : 0;
    if (!e || sets < 1 || nrec < 1 || nrec > RECS || !fine) {
        fprintf(stderr, "usage: bench_coverage slide|bounce|collision|tumble|arm SETS RECORDINGS [KEY=VALUE...]\n"
                        "keys: loss rows noise keep scatter first step made near each given hold bound by starts; see "
                        "bench/coverage.c\n");
        return 2;
    }
    return run(e, sets, nrec, &set);
}
