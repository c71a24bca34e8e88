/* identify.c -- the verb `identify`: parameters of a scene from recorded motion. */
#include "crossval.h"
#include "files.h"
#include "params.h"
#include "progress.h"
#include "ranks.h"
#include "scene.h"
#include "slow.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    double started = seconds_now();
    id->progress.stage = TRIBO_STAGE_DESCENT;
    say(id, false);
    for (long k = 0; k < id->a->iterations && id->progress.stage != TRIBO_STAGE_DONE; k++) {
        tribo_status s = tribo_sysid_iterate(id->s, &id->progress);
        if (s == TRIBO_INTERRUPTED) break;
        if (s < 0)
            return input_message(
                id->a->scene, 0,
                "the fit failed: %s: are the units, clocks and zeros of the recordings those of the scene?",
                step_text(s, 0));
        if (!remember(id)) return trouble("no memory");
        say(id, k == 0 || id->progress.stage == TRIBO_STAGE_DONE);
        int status = keep_so_far(id);
        if (status != EXIT_SUCCESS) return status;
    }
    id->seconds = seconds_now() - started;
    return EXIT_SUCCESS;
}

/* What the fit leaves of the recordings fitted, each number by itself too where slow is given. @return whether that is
 * noise; else id->warning. */
static bool explains(identification *id, slow_parts *slow) {
    id->left = (quality){0}, id->warning[0] = 0;
    for (int i = 0; i < id->r.n && !*interrupts_flag; i++) {
        residuals left;
        if (tribo_sysid_held_out(id->s, i) || !residuals_of(&left, id->s, id->m, &id->r.rec[i], i)) continue;
        quality_add(&id->left, &left, id->m, &id->r.rec[i]);
        if (slow) slow_add(slow, &left, &id->r.rec[i]);
        residuals_free(&left);
    }
    quality_settle(&id->left, tribo_model_extent(id->m));
    return !id->left.recordings || quality_good(&id->left, id->warning);
}

/* A clock that was moved for a fit that does not explain the recordings for all that may have been the wrong one. */
static void doubt_clocks(identification *id) {
    bool moved = id->late != 0;
    for (int i = 0; id->behind && i < tribo_model_sizes(id->m).nv; i++) moved |= id->behind[i] != 0;
    size_t n = strlen(id->warning);
    if (moved)
        snprintf(
            id->warning + n, sizeof id->warning - n,
            "; nor does the clock that was moved explain them, so that what is wrong may be something else (--as-is "
            "leaves clocks alone)");
}

/* Errors of each recording, and what is left of it. */
static bool predict_all(identification *id) {
    id->errors = calloc((size_t)id->r.n, sizeof *id->errors);
    if (!id->errors) return false;
    for (int i = 0; i < id->r.n && !*interrupts_flag; i++) {
        tribo_errors *e = id->errors + i;
        progress_part(i, id->r.n);
        progress_state(false, "predicting recording %d of %d", i + 1, id->r.n);
        if (tribo_sysid_errors(id->s, NULL, i, e) < 0) *e = (tribo_errors){0};
        if (e->rows) mean_add(tribo_sysid_held_out(id->s, i) ? &id->held : &id->train, e);
    }
    slow_parts slow = {0};
    bool good = explains(id, &slow);
    if (!good) doubt_clocks(id);
    if (good && id->observed) good = slow_agree(id->s, id->warning);
    if (good) good = slow_good(&slow, id->m, id->warning);
    slow_free(&slow);
    if (good && id->left.recordings && isnan(id->left.rms[0]) && isnan(id->left.rms[1]))
        snprintf(id->warning, sizeof id->warning,
                 "whether the simulation explains the recordings is not known: that is judged by poses, which are "
                 "missing or in too few neighbouring rows");
    return true;
}

/* Intervals by all ranks, the rest by the one that tells. */
static int judge(identification *id) {
    double *theta = calloc((size_t)id->nfree, sizeof *theta);
    if (!theta) return trouble("no memory");
    progress_state(false, "standard errors");
    tribo_sysid_theta(id->s, theta);
    tribo_status s = tribo_sysid_observe(id->s, id->est, id->information, id->direction, id->spread, &id->nopen);
    for (int i = 0; s >= 0 && i < id->nfree; i++) {
        double *d = id->direction + (size_t)i * (size_t)id->nfree;
        tribo_sysid_changes(id->s, d, d);
    }
    id->observed = s >= 0 && !*interrupts_flag;
    if (s < 0 && !*interrupts_flag) remark(&verb_identify, "no intervals: %s", step_text(s, 0));
    if (tribo_sysid_validation(id->s, theta, &id->validation_loss)) id->validation_loss = (double)NAN;
    free(theta);
    return ranks_own() || predict_all(id) ? EXIT_SUCCESS : trouble("no memory");
}

/* ---- the verb ---- */

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

/* Another fit, of recordings that were read again. */
static int fit_again(identification *id) {
    double spent = id->seconds;
    tribo_sysid_free(id->s);
    id->s = NULL, id->progress = (tribo_progress){0}, id->nhistory = 0;
    int status = set_up(id);
    if (status == EXIT_SUCCESS) status = fit(id);
    id->seconds += spent;
    return status;
}

/* Names and clocks of columns are asked for where simulations do not explain the recordings. Every rank makes them all:
 * a start that is estimated along is moved by them, and intervals are judged where it is. */
static bool in_doubt(identification *id) {
    bool doubt = !explains(id, NULL);
    return !id->a->in.as_is && !id->r.marked && !ranks_interrupted() && ranks_any(doubt);
}

/* Do all columns have one clock? */
static int find_clocks(identification *id, bool *found) {
    *found = false;
    return in_doubt(id) ? clocks_find(id, found) : EXIT_SUCCESS;
}

/* Have all joints their own names? A fit, if not. */
static int fit_named(identification *id) {
    bool found = false;
    int status = in_doubt(id) ? exchanges_find(id, &found) : EXIT_SUCCESS;
    return status == EXIT_SUCCESS && found ? fit_again(id) : status;
}

/* The clocks of recordings and controls, and a fit if they do not agree. */
static int fit_late(identification *id) {
    bool found = false;
    int status = late_find(id, &found);
    return status == EXIT_SUCCESS && found ? fit_again(id) : status;
}

/* A fit, and others where clocks turn out not to agree: of recordings and controls, of columns. What one column is late
 * may have been taken for what all are. */
static int fit_all(identification *id) {
    enum { CLOCKS = 3 };
    bool found = false;
    int status = fit(id);
    if (status == EXIT_SUCCESS) status = fit_named(id);
    if (status == EXIT_SUCCESS) status = fit_late(id);
    for (int i = 0; i < CLOCKS && status == EXIT_SUCCESS; i++) {
        bool late = id->late != 0;
        status = find_clocks(id, &found);
        if (status != EXIT_SUCCESS || !found) break;
        status = fit_again(id);
        if (status == EXIT_SUCCESS && late) status = fit_late(id);
    }
    return status;
}

/* The page of an earlier fit, which does not belong to what is written now. */
static void drop_report(const identification *id) {
    char *path = join_path(id->a->out, "report.html");
    if (path && remove(path) == 0) remark(&verb_identify, "%s: of an earlier fit, removed", path);
    free(path);
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
    line_clear();
    if (status == EXIT_SUCCESS && !id->a->json) print_table(id);
    if (status == EXIT_SUCCESS && id->comparison && !id->a->json) comparison_print(id->comparison);
    if (status == EXIT_SUCCESS) status = write_scene(id);
    if (status == EXIT_SUCCESS) status = write_result(id, true);
    progress_state(false, "the report");
    if (status == EXIT_SUCCESS && id->interrupted) drop_report(id);
    if (status == EXIT_SUCCESS && !id->interrupted) status = write_report(id);
    if (status == EXIT_SUCCESS && fflush(stdout)) status = trouble("the result could not be written");
    if (status == EXIT_SUCCESS && id->interrupted) status = EXIT_TROUBLE;
    if (status == EXIT_SUCCESS && !id->progress.converged && !id->progress.settled) status = EXIT_NOT_CONVERGED;
    return status;
}

int identify(const identify_arguments *a) {
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
        status = fit_all(&id);
    }
    if (status == EXIT_SUCCESS) status = conclude(&id);
    progress_end();
    tribo_sysid_free(id.s);
    columns_read_free(&id.read);
    recordings_free(&id.r);
    free(id.free), free(id.value), free(id.p), free(id.history), free(id.est);
    if (id.comparison) comparison_free(id.comparison);
    free(id.comparison);
    free(id.direction), free(id.spread), free(id.information), free(id.behind), free(id.errors);
    tribo_model_free(id.m);
    return status;
}
