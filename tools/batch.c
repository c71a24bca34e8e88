/* batch.c -- the verb `batch`: many worlds of a scene with parameters drawn at random, their return and its gradient.
 */
#include "batch.h"
#include "files.h"
#include "params.h"
#include "progress.h"
#include "ranks.h"
#include "recordings.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 2048 }; /* worlds whose parameters are held at a time */

typedef struct arguments {
    const char *scene, *randomise, *controls, *out, *keep;
    long worlds, steps, threads, seed, worst;
    double dt, tol;
    bool json, gradient, seeded;
    tribo_law_options law;
} arguments;

/* A world when it is done. */
typedef struct outcome {
    double value; /* its return; NaN where it failed */
    tribo_status status;
    int steps;
} outcome;

typedef struct job {
    const arguments *a;
    tribo_model *m;
    tribo_sizes z;
    batch_file f;
    tribo_batch *b;
    tribo_random *random;
    double dt;
    int ndraw;
    double *U;                   /* (steps,nu) the same for all; NULL = zero */
    double *P, *P_bar, *x, *phi; /* (CHUNK,np), (CHUNK,np), (CHUNK,nx), (2 ndef) gradient of the mean return */
    double *slope;               /* (CHUNK,2 ndef) gradients of returns */
    double *cost;                /* (CHUNK) */
    tribo_status *status;        /* (CHUNK) */
    int *reached;                /* (CHUNK) */
    double *draws;               /* (worlds,ndraw) */
    outcome *done;               /* (worlds) */
    long ndone, steps;
    double seconds, written; /* of rollouts; when the table was written last */
} job;

/* ---- the return ---- */

static tribo_status cost_of(void *context, int world, int step, const double *x, const double *u, double *cost,
                            double *lx, double *lu) {
    const job *j = context;
    bool last = step == j->a->steps;
    (void)world, (void)u, (void)lu;
    for (int i = 0; i < j->f.npart; i++) {
        const batch_part *p = &j->f.part[i];
        if (p->mean ? step == 0 : !last) continue;
        double weight = p->mean ? p->weight / (double)j->a->steps : p->weight, r = x[p->x] - p->target;
        *cost += p->square ? 0.5 * weight * r * r : weight * x[p->x];
        if (lx) lx[p->dx] += p->square ? weight * r : weight;
    }
    return *interrupts_flag ? TRIBO_E_ARG : TRIBO_OK;
}

/* Worlds first to first + n - 1, those of this rank. */
static tribo_status run_worlds(job *j, long first, int n) {
    outcome *done = j->done + first;
    size_t np = (size_t)j->z.np, nphi = 2 * (size_t)j->f.ndef;
    tribo_worlds w = tribo_default_worlds();
    w.n = n, w.steps = (int)j->a->steps, w.p = j->P, w.x = j->f.x0, w.same_x = true, w.u = j->U, w.same_u = true;
    for (int i = 0; i < n; i++) j->status[i] = TRIBO_OK, j->cost[i] = (double)NAN, j->reached[i] = 0;
    tribo_status s = tribo_random_rows(j->random, NULL, first, n, j->P, j->draws + first * j->ndraw);
    tribo_batch_loss loss = {.function = cost_of, .context = j};
    tribo_batch_bars bars = {.cost = j->cost, .reached = j->reached, .p = j->a->gradient ? j->P_bar : NULL};
    memset(j->P_bar, 0, sizeof *j->P_bar * (size_t)n * np);
    if (s >= 0) (void)!tribo_batch_gradient(j->b, &w, &loss, &bars, j->status);
    memset(j->slope, 0, sizeof *j->slope * (size_t)n * nphi);
    for (int i = 0; i < n; i++) {
        done[i] = (outcome){j->status[i] < 0 ? (double)NAN : j->cost[i], j->status[i], j->reached[i]};
        if (s < 0 || !j->a->gradient) continue;
        s = tribo_random_rows_vjp(j->random, NULL, first + i, 1, j->P_bar + (size_t)i * np, j->slope + (size_t)i * nphi,
                                  NULL);
    }
    return s;
}

/* A rank's share of n worlds; then all of them are with the first rank, which sums in their order. */
static tribo_status run_chunk(job *j, long first, int n) {
    int from, end;
    size_t nphi = 2 * (size_t)j->f.ndef;
    double started = seconds_now(), *slope = j->slope;
    ranks_share(ranks_own(), n, &from, &end);
    j->slope += (size_t)from * nphi;
    tribo_status s = run_worlds(j, first + from, end - from);
    j->slope = slope;
    if (s < 0) return s;
    if (ranks_interrupted()) return TRIBO_INTERRUPTED;
    ranks_gather(j->done + first, n, sizeof *j->done);
    ranks_gather(j->draws + first * j->ndraw, n, sizeof *j->draws * (size_t)j->ndraw);
    ranks_gather(j->slope, n, sizeof *j->slope * nphi);
    j->seconds += seconds_now() - started;
    for (int i = 0; i < n; i++) {
        j->steps += j->done[first + i].steps;
        for (size_t k = 0; k < nphi; k++) j->phi[k] += j->slope[(size_t)i * nphi + k];
    }
    j->ndone = first + n;
    return TRIBO_OK;
}

static int write_table(const job *j);

/* With several ranks the table is on disk every few seconds: one that dies takes all with it. */
static int keep_so_far(job *j) {
    if (ranks_count() == 1 || ranks_own() || seconds_now() - j->written < 2) return EXIT_SUCCESS;
    int status = write_table(j);
    j->written = seconds_now();
    return status;
}

static int run_all(job *j) {
    int status = EXIT_SUCCESS;
    progress_state(false, "%ld worlds of %ld steps", j->a->worlds, j->a->steps);
    long size = ranks_count() > 1 ? CHUNK : 1 + j->a->threads; /* an interrupt costs one chunk */
    for (long first = 0, next; first < j->a->worlds && status == EXIT_SUCCESS; first = next) {
        double started = seconds_now();
        next = first + size < j->a->worlds ? first + size : j->a->worlds;
        tribo_status s = run_chunk(j, first, (int)(next - first));
        if (seconds_now() - started < 0.5 && size <= CHUNK / 2) size *= 2;
        if (s == TRIBO_INTERRUPTED) return EXIT_SUCCESS;
        if (s < 0) return trouble("worlds from %ld on: %s", first, step_text(s, 0));
        progress_state(false, "%ld of %ld worlds, %.3g steps a second", j->ndone, j->a->worlds,
                       (double)j->steps / j->seconds);
        status = keep_so_far(j);
    }
    return status;
}

/* ---- statistics ---- */

typedef struct statistics {
    long good, failed, unsure;
    double mean, deviation, least, most;
} statistics;

static statistics count(const job *j) {
    statistics s = {.least = HUGE_VAL, .most = -HUGE_VAL};
    for (long i = 0; i < j->ndone; i++) {
        const outcome *o = &j->done[i];
        s.failed += o->status<0, s.good += o->status >= 0, s.unsure += o->status> 0;
        if (o->status < 0) continue;
        s.mean += o->value;
        if (o->value < s.least) s.least = o->value;
        if (o->value > s.most) s.most = o->value;
    }
    s.mean /= s.good > 0 ? (double)s.good : 1;
    for (long i = 0; i < j->ndone; i++) {
        double off = j->done[i].status < 0 ? 0 : j->done[i].value - s.mean;
        s.deviation += off * off;
    }
    s.deviation = s.good > 1 ? sqrt(s.deviation / (double)(s.good - 1)) : 0;
    return s;
}

/* Failures first, then by what they return. */
static bool worse(const outcome *a, const outcome *b) {
    if ((a->status < 0) != (b->status < 0)) return a->status < 0;
    return a->status >= 0 && a->value < b->value;
}

/* The worst worlds, worst first. @return how many. */
static int find_worst(const job *j, long *worst) {
    int n = 0;
    for (long i = 0; i < j->ndone; i++) {
        int k = n < j->a->worst ? n++ : n - 1;
        if (k == n - 1 && n == j->a->worst && i >= n && !worse(&j->done[i], &j->done[worst[k]])) continue;
        for (; k > 0 && worse(&j->done[i], &j->done[worst[k - 1]]); k--) worst[k] = worst[k - 1];
        worst[k] = i;
    }
    return n;
}

/* ---- what is written ---- */

static void draw_name(const job *j, int k, char name[200]) {
    char first[128] = "";
    int row = tribo_random_describe(j->random, k, first);
    snprintf(name, 200, "%s", j->f.def[row].share == TRIBO_SHARE_ALL ? j->f.label[row] : first);
}

static int write_table(const job *j) {
    out_file o;
    if (!j->a->out) return EXIT_SUCCESS;
    if (!out_open(&o, j->a->out)) return EXIT_TROUBLE;
    fputs("world,status,steps,return", o.f);
    for (int k = 0; k < j->ndraw; k++) {
        char name[200];
        draw_name(j, k, name);
        fprintf(o.f, ",%s", name);
    }
    fputc('\n', o.f);
    for (long i = 0; i < j->ndone; i++) {
        char number[TI_NUMBER_TEXT] = "";
        if (j->done[i].status >= 0) ti_write_number(j->done[i].value, number);
        fprintf(o.f, "%ld,%d,%d,%s", i, (int)j->done[i].status, j->done[i].steps, number);
        for (int k = 0; k < j->ndraw; k++) {
            ti_write_number(j->draws[i * j->ndraw + k], number);
            fprintf(o.f, ",%s", number);
        }
        fputc('\n', o.f);
    }
    return out_close(&o) ? EXIT_SUCCESS : EXIT_TROUBLE;
}

/* A world as a scene of its own and as its motion. */
static int keep_world(job *j, long world) {
    char name[60];
    tribo_diag diag = {0};
    int reached = 0, T = (int)j->a->steps;
    snprintf(name, sizeof name, "world-%ld.xml", world);
    char *scene = join_path(j->a->keep, name);
    snprintf(name, sizeof name, "world-%ld.csv", world);
    char *motion = join_path(j->a->keep, name);
    double *X = calloc((size_t)(T + 1) * (size_t)j->z.nx, sizeof *X), *time = calloc((size_t)T + 1, sizeof *time);
    tribo_status s = scene && motion && X && time ? TRIBO_OK : TRIBO_E_NOMEM;
    tribo_worlds w = tribo_default_worlds();
    w.n = 1, w.steps = T, w.p = j->P, w.x = j->f.x0, w.u = j->U;
    if (s == TRIBO_OK) s = tribo_random_rows(j->random, NULL, world, 1, j->P, NULL);
    if (s == TRIBO_OK && tribo_batch_rollout(j->b, &w, X, NULL, &reached, NULL) < 0) (void)0; /* as far as it goes */
    for (int k = 0; s == TRIBO_OK && k <= T; k++) time[k] = k * j->dt;
    if (s == TRIBO_OK) s = tribo_trajectory_save(motion, j->m, reached + 1, time, X, &diag);
    if (s == TRIBO_OK && tribo_model_save(j->m, j->P, j->a->scene, scene, &diag) < 0)
        remark(&verb_batch, "world %ld is kept as a motion alone: %s", world, diag.text);
    int status = s < 0 ? input_error(motion, s, &diag) : EXIT_SUCCESS;
    free(scene), free(motion), free(X), free(time);
    return status;
}

static int keep_worst(job *j, const long *worst, int n) {
    int status = EXIT_SUCCESS;
    if (!j->a->keep) return status;
    if (!make_folder(j->a->keep)) return EXIT_TROUBLE;
    for (int i = 0; i < n && status == EXIT_SUCCESS; i++) status = keep_world(j, worst[i]);
    return status;
}

static json_t *gradient_json(const job *j, long good) {
    json_t *all = json_array();
    double phi[2];
    for (int k = 0; k < j->f.ndef; k++) {
        json_t *row = json_object();
        for (int i = 0; i < 2; i++) phi[i] = j->phi[2 * k + i] / (good > 0 ? (double)good : 1);
        json_object_set_new(row, "name", json_string(j->f.label[k]));
        json_object_set_new(row, j->f.def[k].draw == TRIBO_DRAW_NORMAL ? "by_mean" : "by_from", json_number(phi[0]));
        json_object_set_new(row, j->f.def[k].draw == TRIBO_DRAW_NORMAL ? "by_deviation" : "by_to", json_number(phi[1]));
        json_array_append_new(all, row);
    }
    return all;
}

/* What its status says, or of what it drew. Valid until the next call. */
static const char *why(job *j, long world) {
    static tribo_diag diag;
    tribo_status s = j->done[world].status;
    if (s != TRIBO_E_ARG || tribo_random_rows(j->random, NULL, world, 1, j->P, NULL) < 0) return step_text(s, 0);
    return tribo_params_check(j->m, j->P, &diag) < 0 ? diag.text : step_text(s, 0);
}

static json_t *worst_json(job *j, const long *worst, int n) {
    json_t *all = json_array();
    for (int i = 0; i < n; i++) {
        const outcome *o = &j->done[worst[i]];
        json_t *row = json_object();
        json_object_set_new(row, "world", json_integer(worst[i]));
        json_object_set_new(row, "return", json_number(o->value));
        json_object_set_new(row, "status", json_string(why(j, worst[i])));
        json_array_append_new(all, row);
    }
    return all;
}

static json_t *report(job *j, const long *worst, int nworst) {
    statistics s = count(j);
    json_t *all = json_object();
    json_object_set_new(all, "scene", json_string(j->a->scene));
    json_object_set_new(all, "worlds", json_integer(j->ndone));
    json_object_set_new(all, "failed", json_integer(s.failed));
    json_object_set_new(all, "not_sure", json_integer(s.unsure));
    json_object_set_new(all, "steps", json_integer(j->steps));
    json_object_set_new(all, "seconds", json_number(j->seconds));
    json_object_set_new(all, "steps_per_second", json_number((double)j->steps / j->seconds));
    json_object_set_new(all, "threads", json_integer(j->a->threads));
    json_object_set_new(all, "bytes", json_integer((json_int_t)tribo_batch_bytes(j->b)));
    json_object_set_new(all, "return_mean", json_number(s.good ? s.mean : (double)NAN));
    json_object_set_new(all, "return_deviation", json_number(s.deviation));
    json_object_set_new(all, "return_least", json_number(s.least));
    json_object_set_new(all, "return_most", json_number(s.most));
    if (j->a->gradient) json_object_set_new(all, "gradient", gradient_json(j, s.good));
    json_object_set_new(all, "worst", worst_json(j, worst, nworst));
    return all;
}

/* The unit of what a randomiser draws: a factor has none. */
static const char *draw_unit(const job *j, int row) {
    char name[128] = "";
    tribo_param_info info;
    if (!j->f.def[row].add) return "1";
    for (int k = 0; k < j->ndraw; k++)
        if (tribo_random_describe(j->random, k, name) == row) break;
    bool found = tribo_param_describe(j->m, tribo_param_find(j->m, name), &info) == TRIBO_OK;
    return found ? param_unit(j->m, &info) : "";
}

static void print_gradient(FILE *to, const job *j, long good) {
    double n = good > 0 ? (double)good : 1;
    fprintf(to, "%-30s %-10s\n", "mean return, derivative by", "of unit");
    for (int k = 0; k < j->f.ndef; k++) {
        bool normal = j->f.def[k].draw == TRIBO_DRAW_NORMAL;
        fprintf(to, "  %-28s %-10s %-7s %+-18.10g %-12s %+.10g\n", j->f.label[k], draw_unit(j, k),
                normal ? "by mean" : "by from", j->phi[2 * k] / n, normal ? "by deviation" : "by to",
                j->phi[2 * k + 1] / n);
    }
}

static void print(FILE *to, job *j, const long *worst, int nworst) {
    statistics s = count(j);
    fprintf(to, "%ld worlds of %ld steps, %ld failed, %ld not sure\n", j->ndone, j->a->steps, s.failed, s.unsure);
    fprintf(to, "%.4g steps a second by %ld threads, %.3g MB\n", (double)j->steps / j->seconds, j->a->threads,
            1e-6 * (double)tribo_batch_bytes(j->b));
    if (j->f.npart && s.good)
        fprintf(to, "return: mean %.10g, deviation %.4g, from %.6g to %.6g\n", s.mean, s.deviation, s.least, s.most);
    if (j->a->gradient) print_gradient(to, j, s.good);
    for (int i = 0; i < nworst; i++) {
        const outcome *o = &j->done[worst[i]];
        if (o->status < 0)
            fprintf(to, "  world %ld failed: %s\n", worst[i], why(j, worst[i]));
        else if (j->f.npart)
            fprintf(to, "  world %ld: return %.6g\n", worst[i], o->value);
    }
}

/* ---- the verb ---- */

static int make_room(job *j) {
    size_t np = (size_t)j->z.np, worlds = (size_t)j->a->worlds;
    j->ndraw = tribo_random_draws(j->random);
    j->P = calloc(CHUNK * np, sizeof *j->P), j->P_bar = calloc(CHUNK * np, sizeof *j->P_bar);
    j->phi = calloc(2 * (size_t)j->f.ndef + 1, sizeof *j->phi);
    j->draws = calloc(worlds * (size_t)j->ndraw + 1, sizeof *j->draws), j->done = calloc(worlds, sizeof *j->done);
    j->U = calloc((size_t)j->a->steps * (size_t)j->z.nu + 1, sizeof *j->U);
    j->slope = calloc(CHUNK * 2 * (size_t)j->f.ndef + 1, sizeof *j->slope), j->cost = calloc(CHUNK, sizeof *j->cost);
    j->status = calloc(CHUNK, sizeof *j->status), j->reached = calloc(CHUNK, sizeof *j->reached);
    bool all = j->slope && j->cost && j->status && j->reached && j->P && j->P_bar && j->phi && j->draws;
    return all && j->done && j->U ? EXIT_SUCCESS : trouble("no memory");
}

static int fill_controls(job *j) {
    tribo_controls *c = NULL;
    int status = j->a->controls ? controls_load(j->a->controls, j->m, &c) : EXIT_SUCCESS;
    for (long k = 0; status == EXIT_SUCCESS && k < j->a->steps; k++) {
        double *u = j->U + k * j->z.nu;
        memcpy(u, j->f.u, sizeof *u * (size_t)j->z.nu);
        if (c) tribo_controls_at(c, (double)k * j->dt, u);
    }
    tribo_controls_free(c);
    return status;
}

static int make_batch(job *j) {
    tribo_options o = step_options();
    tribo_batch_def def = tribo_default_batch();
    tribo_diag diag = {0};
    o.dt = j->a->dt, o.tol = j->a->tol, o.law = j->a->law;
    def.workers = (int)j->a->threads, def.steps = (int)j->a->steps, def.options = &o;
    j->dt = o.dt > 0 ? o.dt : tribo_model_timestep(j->m);
    tribo_status s = tribo_batch_new(j->m, &def, &j->b, &diag);
    if (s < 0) return input_error(j->a->scene, s, &diag);
    uint64_t seed = j->a->seeded ? (uint64_t)j->a->seed : j->f.seed;
    s = tribo_random_new(j->m, j->f.def, j->f.ndef, seed, NULL, &j->random, &diag);
    return s < 0 ? input_error(j->a->randomise, s, &diag) : EXIT_SUCCESS;
}

static bool is_stdout(const char *path) {
    return path && !strcmp(path, "-");
}

static int conclude(job *j) {
    if (!j->ndone) return trouble("no world is done; outputs are as they were");
    long *worst = calloc((size_t)j->a->worst + 1, sizeof *worst);
    if (!worst) return trouble("no memory");
    int n = j->a->worst > 0 ? find_worst(j, worst) : 0, status = write_table(j);
    if (status == EXIT_SUCCESS) status = keep_worst(j, worst, n);
    if (status == EXIT_SUCCESS && j->a->json) {
        json_t *all = report(j, worst, n);
        if (!json_write(stdout, all, true)) status = trouble("the result could not be written");
        json_decref(all);
    } else if (status == EXIT_SUCCESS) {
        print(is_stdout(j->a->out) ? stderr : stdout, j, worst, n); /* a table and words do not mix */
    }
    free(worst);
    if (status == EXIT_SUCCESS && fflush(stdout)) status = trouble("the result could not be written");
    if (status == EXIT_SUCCESS && *interrupts_flag) status = EXIT_TROUBLE;
    return status == EXIT_SUCCESS && count(j).failed ? EXIT_NOT_CONVERGED : status;
}

static int batch(const arguments *a) {
    job j = {.a = a};
    progress_begin();
    interrupts_catch();
    int status = scene_load(a->scene, &j.m);
    if (status == EXIT_SUCCESS) status = law_check(&verb_batch, a->scene, &a->law, NULL);
    if (status == EXIT_SUCCESS) j.z = tribo_model_sizes(j.m), status = batch_file_read(a->randomise, j.m, &j.f);
    if (status == EXIT_SUCCESS && a->gradient && !j.f.npart)
        status = input_message(a->randomise, 0, "it says no \"return\", of which --gradient is");
    if (status == EXIT_SUCCESS && a->out && !ranks_own()) status = output_check(NULL, a->out);
    if (status == EXIT_SUCCESS) status = make_batch(&j);
    if (status == EXIT_SUCCESS) status = make_room(&j);
    if (status == EXIT_SUCCESS) status = fill_controls(&j);
    status = ranks_agree(status);
    if (status == EXIT_SUCCESS) status = run_all(&j);
    progress_end();
    if (status == EXIT_SUCCESS && ranks_own() == 0) status = conclude(&j);
    tribo_batch_free(j.b), tribo_random_free(j.random), batch_file_free(&j.f), tribo_model_free(j.m);
    free(j.slope), free(j.cost), free(j.status), free(j.reached);
    free(j.U), free(j.P), free(j.P_bar), free(j.phi), free(j.draws), free(j.done);
    return status;
}

/* ---- the command line ---- */

static int take(arguments *a, int code) {
    const verb *v = &verb_batch;
    switch (code) {
    case 'n':
        return parse_whole(v, "--worlds takes a number", 1, 100000000, &a->worlds);
    case 'T':
        return parse_whole(v, "--steps takes a number", 1, 4000000, &a->steps);
    case 'w':
        return parse_whole(v, "--threads takes a number", 1, 256, &a->threads);
    case 's':
        a->seeded = true;
        return parse_whole(v, "--seed takes a number", 0, 2147483647, &a->seed);
    case 'W':
        return parse_whole(v, "--worst takes a number", 0, 10000, &a->worst);
    case 'd':
        return parse_positive(v, "--dt takes a time above 0 s", 1e3, &a->dt);
    case 't':
        return parse_positive(v, TOL_RANGE, 1, &a->tol);
    default:
        if (code == 'r') a->randomise = optarg;
        if (code == 'u') a->controls = optarg;
        if (code == 'o') a->out = optarg;
        if (code == 'k') a->keep = optarg;
        if (code == 'j') a->json = true;
        if (code == 'g') a->gradient = true;
        if (code >= SCENE_OPTION && code < LAW_OPTION) return scene_option(v, code, optarg);
        return code >= LAW_OPTION ? law_option(v, code, optarg, &a->law) : EXIT_SUCCESS;
    }
}

static int complete(const arguments *a) {
    const verb *v = &verb_batch;
    if (!a->scene) return usage_error(v, "which scene?");
    if (!a->randomise) return usage_error(v, "--randomise FILE says what is drawn: docs/batch.md");
    if (a->worlds == 0) return usage_error(v, "--worlds N: how many?");
    if (a->json && is_stdout(a->out)) return usage_error(v, "--json and a table both on standard output");
    return a->steps == 0 ? usage_error(v, "--steps T: how many of each?") : EXIT_SUCCESS;
}

static int run(int argc, char **argv) {
    arguments a = {.threads = ranks_processors(), .worst = 5};
    int status = EXIT_SUCCESS;
    for (int code; status == EXIT_SUCCESS && (code = next_option(&verb_batch, argc, argv)) != -1;) {
        if (code < 0) return option_exit(code);
        if (code != 1)
            status = take(&a, code);
        else if (a.scene)
            status = usage_error(&verb_batch, "one scene, not also %s", optarg);
        else
            a.scene = optarg;
    }
    if (status == EXIT_SUCCESS) status = complete(&a);
    return status == EXIT_SUCCESS ? batch(&a) : status;
}

static const option_row rows[] = {
    {"worlds", 'n', "N", "how many", true},
    {"randomise", 'r', "FILE.json", "what is drawn, and of what the return is made: docs/batch.md", true},
    {"steps", 'T', "T", "of each world", true},
    {"out", 'o', "FILE.csv", "a row a world: its status, steps, return, and the numbers it drew", false},
    {"keep", 'k', "DIR", "the worst worlds as scenes and motions, world-N.xml and world-N.csv", false},
    {"worst", 'W', "K", "how many are told of and kept (5): failures, then the lowest returns", false},
    {"gradient", 'g', NULL, "of the mean return in the numbers that are drawn from", false},
    {"threads", 'w', "K", "(all processors, shared by the ranks of a machine); no bit depends on them", false},
    {"seed", 's', "S", "in place of the file's", false},
    {"controls", 'u', "FILE.csv", "forces (N), torques (N m) and controls, the same for all worlds (the start's, held)",
     false},
    {"dt", 'd', "S", "length of a step, s (the scene's timestep)", false},
    {"tol", 't', "X", "tolerance of the contact problem, relative", false},
    {"json", 'j', NULL, "the result as JSON on standard output", false},
    {0}};
const verb verb_batch = {
    .name = "batch",
    .summary = "many worlds with parameters drawn at random, and the gradient of their return",
    .operands = "SCENE",
    .about =
        "Rolls out worlds, each with its own parameters, drawn as a file says, and tells of their returns, and of the "
        "gradient of the mean in what they are drawn from: docs/batch.md. Under mpirun "
        "worlds are dealt out over the ranks; no bit depends on how many there are.",
    .options = rows,
    .groups = {&group_scene, &group_step, &group_law},
    .statuses = "0; 2 usage; 3 bad input; 4 some worlds failed; 130 interrupted",
    .example = "  tribo batch push.xml --worlds 1000 --randomise push.json --steps 500 --gradient",
    .run = run,
    .shared = true,
};
