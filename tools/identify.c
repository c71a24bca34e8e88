/* identify.c -- the verb `identify`: parameters of a scene from recorded motion. */
#include "crossval.h"
#include "inputs.h"
#include "params.h"
#include "progress.h"
#include "ranks.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEARCHED = 20 }; /* parameters that a search without derivatives is begun for by itself, at most */

const char *free_name(const identification *id, int i, tribo_param_info *info) {
    const char *unit;
    if (id->free[i].column) return column_name(id->m, &id->free[i], info->name, sizeof info->name, &unit);
    return tribo_param_describe(id->m, id->free[i].index, info) ? "?" : info->name;
}

const char *free_unit(const identification *id, int i) {
    tribo_param_info info;
    const char *unit;
    if (id->free[i].column) return column_name(id->m, &id->free[i], info.name, sizeof info.name, &unit), unit;
    return tribo_param_describe(id->m, id->free[i].index, &info) ? "" : param_unit(id->m, &info);
}

/* p and the values of what is free at the best theta. */
static bool settle(const identification *id) {
    double *theta = calloc((size_t)id->nfree, sizeof *theta);
    if (!theta) return false;
    tribo_sysid_theta(id->s, theta);
    tribo_sysid_params(id->s, theta, id->p);
    tribo_sysid_values(id->s, theta, id->value);
    free(theta);
    return true;
}

/* ---- what is free ---- */

/* NAME[=START[:MIN:MAX]] into its name (to be freed) and numbers; NaN = not given. */
static char *split_free(const char *text, double number[3]) {
    const char *equals = strchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : strlen(text);
    char *name = malloc(strlen(text) + 1);
    if (!name) return NULL;
    memcpy(name, text, strlen(text) + 1);
    name[n] = 0;
    for (int i = 0; i < 3; i++) number[i] = (double)NAN;
    char *at = equals ? name + n + 1 : NULL;
    for (int i = 0; at; i++) {
        char *colon = strchr(at, ':');
        if (colon) *colon = 0;
        bool empty = i > 0 && !*at;
        if (i > 2 || (!empty && !parse_number(at, -1e12, 1e12, &number[i]))) {
            free(name);
            return NULL;
        }
        at = colon ? colon + 1 : NULL;
    }
    return name;
}

static int no_parameter(const tribo_model *m, const char *name) {
    char text[900];
    param_refusal(m, name, text, sizeof text);
    return usage_error(&verb_identify, "--free: %s", text);
}

/* Where a site is in its body: no step depends on that, but markers do. @return how many numbers. */
static int site_numbers(const tribo_model *m, const char *name, int *index) {
    int n = 0;
    size_t length = strlen(name);
    for (int i = 0; i < tribo_model_sizes(m).np && length; i++) {
        tribo_param_info info;
        if (tribo_param_describe(m, i, &info) || info.site < 0 || info.kind != TRIBO_PARAM_POS) continue;
        if (!strncmp(info.name, name, length) && (!info.name[length] || info.name[length] == '/')) index[n++] = i;
    }
    return n;
}

/* One --free: a parameter, or all used ones of a group. */
static int add_free(identification *id, const char *text) {
    double number[3];
    char *name = split_free(text, number);
    if (!name) return usage_error(&verb_identify, "--free takes NAME[=START[:MIN:MAX]], not %s", text);
    int status = EXIT_SUCCESS, np = tribo_model_sizes(id->m).np, *index = calloc((size_t)np, sizeof *index);
    tribo_free_param column[3];
    int n = index ? tribo_param_group(id->m, name, index, np) : 0, columns = 0;
    if (index && n < 1) n = site_numbers(id->m, name, index);
    if (index && n < 1) n = columns = columns_find(id->m, name, column);
    id->ncolumn += columns;
    if (!index) status = trouble("no memory");
    if (index && n < 1) status = no_parameter(id->m, name);
    for (int k = 0; k < n && status == EXIT_SUCCESS; k++) {
        tribo_free_param f = columns ? column[k] : tribo_default_free();
        if (!columns) f.index = index[k];
        f.start = number[0], f.lower = number[1], f.upper = number[2];
        for (int i = 0; i < id->nfree; i++)
            if (id->free[i].index == f.index && id->free[i].column == f.column)
                status = usage_error(&verb_identify, "--free: %s is there twice", name);
        id->free[id->nfree++] = f;
    }
    free(index);
    free(name);
    return status;
}

static int choose_free(identification *id) {
    int np = tribo_model_sizes(id->m).np, status = EXIT_SUCCESS;
    size_t most = (size_t)np + 3 * (size_t)id->a->free.n + 1;
    id->free = calloc(most, sizeof *id->free), id->value = calloc(most, sizeof *id->value);
    if (!id->free || !id->value) return trouble("no memory");
    for (int i = 0; i < id->a->free.n && status == EXIT_SUCCESS; i++) status = add_free(id, id->a->free.item[i]);
    return status;
}

/* ---- the fit ---- */

static void say(const identification *id, bool now) {
    static const char *const stages[] = {"search", "descent", "done"};
    const tribo_progress *at = &id->progress;
    char values[400] = "";
    size_t n = 0;
    if (!settle(id)) return;
    for (int i = 0; i < id->nfree && i < 6 && n < sizeof values; i++) {
        tribo_param_info info;
        n += (size_t)snprintf(values + n, sizeof values - n, "  %s %.5g", free_name(id, i, &info), id->value[i]);
    }
    if (at->evaluations)
        progress_state(now, "%4d %-7s  loss %.6g%s%s", at->iteration, stages[at->stage], at->loss, values,
                       id->nfree > 6 ? "  ..." : "");
    else
        progress_state(now, "%4d %-7s  the first look%s", at->iteration, stages[at->stage], values);
}

static bool remember(identification *id) {
    if (id->nhistory == id->history_max) {
        size_t max = 2 * id->history_max + 64;
        history_row *more = realloc(id->history, max * sizeof *more);
        if (!more) return false;
        id->history = more, id->history_max = max;
    }
    id->history[id->nhistory++] =
        (history_row){(double)id->progress.evaluations, id->progress.loss, id->progress.gradient_norm};
    return true;
}

/* Room for the results, and what is known of them before they are judged. */
static int prepare(identification *id) {
    size_t n = (size_t)id->nfree;
    if (!id->est) {
        id->est = calloc(n, sizeof *id->est);
        id->direction = calloc(n * n, sizeof(double));
        id->information = calloc(n * n, sizeof(double));
        id->spread = calloc(n, sizeof(double));
    }
    id->validation_loss = (double)NAN;
    bool good = id->est && id->direction && id->information && id->spread;
    if (good) {
        tribo_model_params(id->m, id->p);
        for (size_t i = 0; i < n; i++) {
            const tribo_free_param *f = id->free + i;
            double own = f->column ? f->column == TRIBO_COLUMN_GAIN : id->p[f->index];
            id->est[i] = (tribo_estimate){.index = f->index, .start = isnan(f->start) ? own : f->start};
        }
        good = settle(id);
    }
    return good ? EXIT_SUCCESS : trouble("no memory");
}

/* A rank that dies takes all with it, but the best so far: with several it is on disk after every iteration. */
static int keep_so_far(identification *id) {
    if (ranks_count() == 1 || ranks_own()) return EXIT_SUCCESS;
    id->interrupted = true;
    int status = prepare(id);
    if (status == EXIT_SUCCESS) status = write_scene(id);
    if (status == EXIT_SUCCESS) status = write_result(id, false);
    id->interrupted = false;
    return status;
}

static int fit(identification *id) {
    double started = seconds_now(), told = -1;
    id->progress.stage = TRIBO_STAGE_DESCENT;
    say(id, false);
    for (long k = 0; k < id->a->iterations && id->progress.stage != TRIBO_STAGE_DONE; k++) {
        tribo_status s = tribo_sysid_iterate(id->s, &id->progress);
        if (s == TRIBO_INTERRUPTED) break;
        if (s < 0)
            return input_message(
                id->a->scene, 0,
                "the fit failed: %s: are the units, clocks and zeros of the recordings those of the scene?",
                step_text(s));
        if (!remember(id)) return trouble("no memory");
        bool now = k == 0 || id->progress.stage == TRIBO_STAGE_DONE || seconds_now() - told > 0.9;
        say(id, now);
        if (now) told = seconds_now();
        int status = keep_so_far(id);
        if (status != EXIT_SUCCESS) return status;
    }
    id->seconds = seconds_now() - started;
    return EXIT_SUCCESS;
}

/* Errors of each recording, and what is left of it. */
static void predict_all(identification *id) {
    for (int i = 0; i < id->r.n && !*interrupts_flag; i++) {
        tribo_errors e;
        residuals left;
        progress_part(i, id->r.n);
        progress_state(false, "predicting recording %d of %d", i + 1, id->r.n);
        tribo_status s = tribo_sysid_errors(id->s, NULL, i, &e);
        if (s >= 0) mean_add(tribo_sysid_held_out(id->s, i) ? &id->held : &id->train, &e);
        if (tribo_sysid_held_out(id->s, i) || !residuals_of(&left, id->s, id->m, &id->r.rec[i], i)) continue;
        quality_add(&id->left, &left, id->m, &id->r.rec[i]);
        residuals_free(&left);
    }
    quality_settle(&id->left, tribo_model_extent(id->m));
    if (id->left.recordings) quality_good(&id->left, id->warning);
}

/* Intervals by all ranks, the rest by the one that tells. */
static int judge(identification *id) {
    double *theta = calloc((size_t)id->nfree, sizeof *theta);
    if (!theta) return trouble("no memory");
    progress_state(false, "standard errors");
    tribo_sysid_theta(id->s, theta);
    tribo_status s = tribo_sysid_observe(id->s, id->est, id->information, id->direction, id->spread, &id->nopen);
    id->observed = s >= 0 && !*interrupts_flag;
    if (s < 0 && !*interrupts_flag) remark(&verb_identify, "no intervals: %s", step_text(s));
    if (tribo_sysid_validation(id->s, theta, &id->validation_loss)) id->validation_loss = (double)NAN;
    if (!ranks_own()) predict_all(id);
    free(theta);
    return EXIT_SUCCESS;
}

/* Of robots that have no free body there are no positions. */
static void print_errors(const char *name, const mean_errors *sum) {
    tribo_errors e = mean_of(sum);
    printf("%s:", name);
    if (!isnan(e.position_mean)) printf(" position %.5f m (%.2f %%)", e.position_mean, 100 * e.position_relative);
    printf("%s", isnan(e.position_mean) || isnan(e.rotation_mean_deg) ? "" : ",");
    if (!isnan(e.rotation_mean_deg)) printf(" rotation %.2f deg", e.rotation_mean_deg);
    printf(" over %d recording%s\n", sum->n, sum->n == 1 ? "" : "s");
}

/* Directions that nothing in the recordings tells, in the fit's own numbers. */
static void print_open(const identification *id) {
    for (int k = 0; k < id->nopen && id->observed; k++) {
        printf("not told:");
        for (int i = 0; i < id->nfree; i++) {
            tribo_param_info info;
            double x = id->direction[k * id->nfree + i];
            if (fabs(x) > 0.05) printf(" %+.2f %s", x, free_name(id, i, &info));
        }
        puts("");
    }
}

static void print_table(const identification *id) {
    printf("%-28s %-9s %12s %12s %12s   %s\n", "parameter", "unit", "start", "estimate", "std error", "95 % interval");
    for (int i = 0; i < id->nfree; i++) {
        tribo_param_info info;
        const tribo_estimate *e = id->est + i;
        const char *name = free_name(id, i, &info);
        printf("%-28s %-9s %12.6g %12.6g ", name, free_unit(id, i), e->start, id->value[i]);
        if (!id->observed)
            puts("           ?");
        else if (e->identifiable)
            printf("%12.3g   %.6g to %.6g\n", e->std_error, e->low95, e->high95);
        else
            puts("           -   not determined by these recordings");
    }
    if (id->late != 0)
        printf("%-28s %-9s %12g %12.6g %12.3g   the recordings behind the controls\n", "late", "s", 0., id->late,
               id->late_error);
    print_open(id);
    printf("loss %.6g, ", id->progress.loss);
    if (isfinite(id->progress.loss_start)) printf("was %.6g, ", id->progress.loss_start);
    printf("%ld evaluations, %.1f s; ", id->progress.evaluations, id->seconds);
    puts(id->interrupted          ? "interrupted"
         : id->progress.converged ? "converged"
         : id->progress.settled   ? "no step improves a loss that is not smooth here"
                                  : "not converged");
    if (!id->train.n) return;
    print_errors("rollouts", &id->train);
    if (id->warning[0]) printf("warning: %s\n", id->warning);
    if (id->held.n) print_errors("held out", &id->held);
}

/* ---- the verb ---- */

tribo_sysid_def fit_definition(const identification *id, tribo_options *step) {
    const identify_arguments *a = id->a;
    tribo_sysid_def def = tribo_default_sysid();
    *step = step_options();
    step->law = a->law, def.options = step;
    def.free = id->free, def.nfree = id->nfree;
    def.rec = id->r.rec, def.nrec = id->r.n;
    def.loss = a->loss, def.window = a->window;
    def.robust = a->robust, def.optimizer = a->optimizer;
    memcpy(def.weight, a->weight, sizeof def.weight);
    def.start = a->estimate_start ? TRIBO_START_AUTO : TRIBO_START_MEASURED;
    /* shooting begins near by itself; rollouts through impacts have a loss so rough that no descent gets far */
    bool wide = id->nfree <= 3 || (a->loss == TRIBO_LOSS_ROLLOUT && id->nfree <= SEARCHED);
    def.search = a->search >= 0 ? (int)a->search : wide ? 100 + 50 * id->nfree : 0;
    def.validation = a->validation;
    def.seed = (uint64_t)a->seed;
    def.workers = (int)(a->workers > 0 ? a->workers : ranks_processors());
    def.ranks = ranks_of_fit();
    def.stop = interrupts_flag;
    return def;
}

static int set_up(identification *id) {
    tribo_diag diag = {0};
    tribo_options step;
    tribo_sysid_def def = fit_definition(id, &step);
    tribo_status s = tribo_sysid_new(id->m, &def, &id->s, &diag);
    if (s >= 0) return EXIT_SUCCESS;
    /* a bad start or bound came by the command line, a bad recording by its file */
    return strncmp(diag.text, "recording", 9) ? usage_error(&verb_identify, "%s", diag.text)
                                              : recordings_error(&id->r, s, &diag);
}

/* Does the freedom pay? */
static int compare(identification *id) {
    tribo_options step;
    tribo_sysid_def def = fit_definition(id, &step);
    if (!id->a->folds) return EXIT_SUCCESS;
    id->comparison = calloc(1, sizeof *id->comparison);
    return id->comparison ? compare_sets(id->comparison, id, &def) : trouble("no memory");
}

/* A fit, and another where the clocks of recordings and controls turn out not to agree. */
static int fit_twice(identification *id) {
    bool late = false;
    int status = fit(id);
    if (status == EXIT_SUCCESS) status = late_find(id, &late);
    if (status != EXIT_SUCCESS || !late) return status;
    double spent = id->seconds;
    tribo_sysid_free(id->s);
    id->s = NULL, id->progress = (tribo_progress){0}, id->nhistory = 0;
    status = set_up(id);
    if (status == EXIT_SUCCESS) status = fit(id);
    id->seconds += spent;
    return status;
}

/* All that is said of a fit; of one that was interrupted, at once what is there. */
static int conclude(identification *id) {
    int status = prepare(id);
    if (status == EXIT_SUCCESS && (id->ncolumn || id->r.marked) && !columns_apply(&id->read, id->s, id->m, &id->r))
        status = trouble("no memory");
    if (status == EXIT_SUCCESS && !ranks_interrupted()) status = judge(id);
    if (status == EXIT_SUCCESS && !ranks_interrupted()) status = compare(id);
    if (ranks_own()) return status;
    id->interrupted = *interrupts_flag;
    if (id->interrupted) remark(&verb_identify, "interrupted; what follows is the best so far");
    progress_clear();
    if (status == EXIT_SUCCESS && !id->a->json) print_table(id);
    if (status == EXIT_SUCCESS && id->comparison && !id->a->json) comparison_print(id->comparison);
    if (status == EXIT_SUCCESS) status = write_scene(id);
    if (status == EXIT_SUCCESS) status = write_result(id, true);
    progress_state(false, "the report");
    if (status == EXIT_SUCCESS && !id->interrupted) status = write_report(id);
    if (status == EXIT_SUCCESS && fflush(stdout)) status = trouble("the result could not be written");
    if (status == EXIT_SUCCESS && id->interrupted) status = EXIT_TROUBLE;
    if (status == EXIT_SUCCESS && !id->progress.converged && !id->progress.settled) status = EXIT_NOT_CONVERGED;
    return status;
}

static int identify(const identify_arguments *a) {
    identification id = {.a = a};
    progress_begin();
    int status = scene_load(a->scene, &id.m);
    if (status == EXIT_SUCCESS) {
        tribo_law_options scene = tribo_model_law(id.m);
        status = law_check(&verb_identify, a->scene, &a->law, &scene);
    }
    if (status == EXIT_SUCCESS) status = choose_free(&id);
    if (status == EXIT_SUCCESS) status = recordings_load(&id.r, &verb_identify, id.m, &a->in);
    if (status == EXIT_SUCCESS && id.ncolumn && (a->folds || a->loss != TRIBO_LOSS_SHOOTING))
        status = usage_error(&verb_identify, "--free: gain and bias of columns are found by --loss shooting, without "
                                             "--folds and --compare");
    if (status == EXIT_SUCCESS) status = compare_check(&id);
    if (status == EXIT_SUCCESS) {
        id.p = calloc((size_t)tribo_model_sizes(id.m).np, sizeof *id.p);
        status = id.p ? EXIT_SUCCESS : trouble("no memory");
    }
    status = ranks_agree(status);
    if (status == EXIT_SUCCESS) status = set_up(&id);
    const char *const files[] = {"identified.xml", "result.json", "report.html"};
    for (int i = 0; i < 3 && status == EXIT_SUCCESS && !ranks_own(); i++) status = output_check(a->out, files[i]);
    if (status == EXIT_SUCCESS && !ranks_own() && !make_folder(a->out)) status = EXIT_TROUBLE;
    if (status == EXIT_SUCCESS) {
        interrupts_catch();
        status = fit_twice(&id);
    }
    if (status == EXIT_SUCCESS) status = conclude(&id);
    progress_end();
    tribo_sysid_free(id.s);
    columns_read_free(&id.read);
    recordings_free(&id.r);
    free(id.free), free(id.value), free(id.p), free(id.history), free(id.est);
    if (id.comparison) comparison_free(id.comparison);
    free(id.comparison);
    free(id.direction), free(id.spread), free(id.information);
    tribo_model_free(id.m);
    return status;
}

static int choice(const char *text, const char *const *words, int n) {
    for (int i = 0; i < n; i++)
        if (!strcmp(text, words[i])) return i;
    return -1;
}

/* KIND=SIGMA,...: the noise of a kind of measurement, or `out` for one that is to be left out. */
static int take_noise(identify_arguments *a, const char *text) {
    static const char *const kinds[TRIBO_BLOCKS] = {"position", "rotation", "velocity", "angular"};
    char copy[256];
    if (strlen(text) >= sizeof copy) return usage_error(&verb_identify, "--noise: %s is too long", text);
    memcpy(copy, text, strlen(text) + 1);
    for (char *at = copy, *end; at; at = end) {
        end = strchr(at, ',');
        if (end) *end++ = 0;
        char *value = strchr(at, '=');
        double sigma = -1;
        if (value) *value++ = 0;
        int kind = choice(at, kinds, TRIBO_BLOCKS);
        bool good = kind >= 0 && value && (!strcmp(value, "out") || parse_number(value, 1e-12, 1e12, &sigma));
        if (!good)
            return usage_error(&verb_identify,
                               "--noise takes position, rotation, velocity, angular, each =SIGMA or =out, not %s",
                               text);
        a->weight[kind] = sigma > 0 ? 1 / sigma : -1;
    }
    return EXIT_SUCCESS;
}

/* One option's value. @return exit status. */
static int take(identify_arguments *a, int code) {
    static const char *const losses[] = {"one-step", "window", "rollout"};
    const verb *v = &verb_identify;
    int k;
    long window = 0;
    switch (code) {
    case 'l':
        k = choice(optarg, losses, 3);
        if (!strcmp(optarg, "shooting")) k = TRIBO_LOSS_SHOOTING, window = 1;
        if (!strncmp(optarg, "shooting=", 9) && parse_integer(optarg + 9, 1, 1000000, &window)) k = TRIBO_LOSS_SHOOTING;
        if (!strncmp(optarg, "window=", 7) && parse_integer(optarg + 7, 1, 1000000, &window)) k = TRIBO_LOSS_WINDOW;
        if (k < 0 || (k == TRIBO_LOSS_WINDOW && !window))
            return usage_error(v, "--loss takes one-step, window=N, rollout or shooting[=N], not %s", optarg);
        a->loss = (tribo_loss)k, a->window = (int)window;
        return EXIT_SUCCESS;
    case 'p':
        if ((k = choose_word(v, "--optimizer", "lm|lbfgs|adam", optarg)) < 0) return EXIT_USAGE;
        a->optimizer = (tribo_optimizer)k;
        return EXIT_SUCCESS;
    case 'r':
        if ((k = choose_word(v, "--robust", "none|huber|cauchy", optarg)) < 0) return EXIT_USAGE;
        a->robust = (tribo_robust)k;
        return EXIT_SUCCESS;
    case 'v':
        if (!parse_number(optarg, 0, 0.99, &a->validation))
            return usage_error(v, "--validation takes a share from 0 to 0.99, not %s", optarg);
        return EXIT_SUCCESS;
    case 's':
        return parse_whole(v, "--seed takes a number", 0, 1L << 53, &a->seed);
    case 'n':
        return parse_whole(v, "--search takes a number of evaluations", 0, 100000000, &a->search);
    case 'i':
        return parse_whole(v, "--iterations takes a number above 0", 1, 100000000, &a->iterations);
    case 'w':
        return parse_whole(v, "--workers takes 1 to 64", 1, 64, &a->workers);
    case 'k':
        return parse_whole(v, "--folds takes a number of parts above 1", 2, 1000, &a->folds);
    case 'N':
        return take_noise(a, optarg);
    case 'o':
        a->out = optarg;
        return EXIT_SUCCESS;
    default:
        if (code == 'e') a->estimate_start = true;
        if (code == 'j') a->json = true;
        if (code > CONTROLS_OPTION && code <= LATE_OPTION) return recording_option(v, code, optarg, &a->in);
        if (code >= SCENE_OPTION && code < LAW_OPTION) return scene_option(v, code, optarg);
        return code >= LAW_OPTION ? law_option(v, code, optarg, &a->law) : EXIT_SUCCESS;
    }
}

/* Where the values of an option that takes several go; NULL = it takes one. */
static string_list *list_of(identify_arguments *a, int kind) {
    if (kind == CONTROLS_OPTION) return &a->in.controls;
    return kind == 'd' ? &a->in.data : kind == 'f' ? &a->free : kind == 'c' ? &a->compare : NULL;
}

/* What is needed is asked for; what was not said follows from the rest. */
static int complete(identify_arguments *a) {
    const verb *v = &verb_identify;
    if (!a->scene) return usage_error(v, "which scene?");
    if (!a->in.data.n) return usage_error(v, "--data: which recordings?");
    if (!a->free.n) return usage_error(v, "--free: which parameters?");
    if (!a->out) return usage_error(v, "--out: into which folder?");
    if (a->compare.n && !a->folds) a->folds = 5;
    if (a->loss == TRIBO_LOSS_SHOOTING && !a->window) /* none was asked for; other optimizers have rollouts only */
        a->loss = a->optimizer == TRIBO_OPT_LM ? TRIBO_LOSS_SHOOTING : TRIBO_LOSS_ROLLOUT, a->window = 1;
    return EXIT_SUCCESS;
}

static int run(int argc, char **argv) {
    const verb *v = &verb_identify;
    identify_arguments a = {.loss = TRIBO_LOSS_SHOOTING,
                            .robust = TRIBO_ROBUST_HUBER,
                            .seed = 1,
                            .search = -1,
                            .iterations = 2000,
                            .argc = argc,
                            .argv = argv};
    int status = EXIT_SUCCESS, last = 0; /* positional arguments after --data or --free are more of the same */
    for (int code; status == EXIT_SUCCESS && (code = next_option(v, argc, argv)) != -1;) {
        if (code < 0) {
            recording_options_free(&a.in), list_free(&a.free), list_free(&a.compare);
            return option_exit(code);
        }
        int kind = code == 1 && a.scene ? last : code;
        string_list *list = list_of(&a, kind);
        if (list) {
            if (!list_add(list, optarg)) status = trouble("no memory");
        } else if (code == 1 && !a.scene) {
            a.scene = optarg;
        } else if (code == 1) {
            status = usage_error(v, "one scene, not also %s", optarg);
        } else {
            status = take(&a, code);
        }
        if (code != 1) last = code;
    }
    if (status == EXIT_SUCCESS) status = complete(&a);
    if (status == EXIT_SUCCESS) status = identify(&a);
    recording_options_free(&a.in), list_free(&a.free), list_free(&a.compare);
    return status;
}

static const option_row rows[] = {
    {"data", 'd', "FILE.csv...",
     "recordings: CSV with the columns NAME.px ... NAME.wz of bodies, NAME.q of joints; any "
     "subset of them",
     true},
    {"free", 'f', "NAME[=START[:MIN:MAX]]...",
     "a parameter (floor/friction), a group (cube/size, cube/inertia, gravity), or what an instrument makes of a "
     "column (cube.p/gain, cube.pz/bias, cube.r/bias, elbow.q/bias); START is the scene's if not given, MIN and MAX "
     "are the physical bounds",
     true},
    {"out", 'o', "DIR", "the folder of result.json, identified.xml and report.html", true},
    {"loss", 'l', "one-step|window=N|rollout|shooting[=N]",
     "from every row to the next, over windows of N rows, whole rollouts, or rollouts from estimated starts that may "
     "be corrected every N rows (1) where something touches (shooting, the default; with L-BFGS and Adam rollouts)",
     false},
    {"optimizer", 'p', "lm|lbfgs|adam", "Levenberg-Marquardt (default), L-BFGS, Adam", false},
    {"estimate-start", 'e', NULL,
     "start a rollout where the poses before the first contact say, or, in contact from the first row, where the fit "
     "does",
     false},
    {"validation", 'v', "SHARE", "leave this share of the recordings out of the fit and measure on it (0)", false},
    {"folds", 'k', "K", "cross-validation: K fits, each without one part of the recordings, judged on that part",
     false},
    {"compare", 'c', "NAME,NAME...",
     "the same with these of the free parameters alone (none: with the scene as it is), as often as wanted; says which "
     "set predicts best, and which needs least (5 parts without --folds)",
     false},
    {"noise", 'N', "KIND=S,...",
     "standard deviation of position (m), rotation (rad), velocity (m/s), angular (rad/s), so that each counts as much "
     "as it is worth; KIND=out leaves it out (velocities count where no pose was measured, and in one-step losses)",
     false},
    {"seed", 's', "N", "of the choice of those left out, and of the search (1)", false},
    {"robust", 'r', "none|huber|cauchy", "what a large residual counts (huber: linearly)", false},
    {"search", 'n', "N",
     "where the descent gets stuck, N evaluations of a search without derivatives (100 + 50 for each of up to three "
     "parameters, of up to twenty for rollouts; for more, none)",
     false},
    {"iterations", 'i', "N", "at most (2000)", false},
    {"workers", 'w', "N", "threads (all processors, shared by the ranks of a machine); no bit depends on them", false},
    {"json", 'j', NULL, "result.json on standard output, instead of the table", false},
    {0}};
const verb verb_identify = {
    .name = "identify",
    .summary = "find a scene's parameters in recorded motion",
    .operands = "SCENE",
    .about = "Fits parameters of a scene to recordings, says how sure each is and what the recordings leave open, and "
             "writes DIR/result.json, DIR/identified.xml (the scene with the estimates in it) and DIR/report.html.",
    .options = rows,
    .groups = {&group_recordings, &group_scene, &group_step, &group_law},
    .notes =
        "Ctrl-C writes the best so far. Under mpirun recordings are dealt out over the ranks; no bit depends on how "
        "many there are: docs/identify.md.",
    .statuses =
        "0; 2 usage; 3 bad input; 4 --iterations ended before the fit; 130 interrupted, the best so far written",
    .example = "  tribo identify corner.xml --data toss-*.csv --free floor/friction=0.5 cube/mass \\\n"
               "      --out out/fit",
    .run = run,
    .shared = true,
};
