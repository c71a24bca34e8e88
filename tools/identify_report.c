/* identify_report.c -- the page that `identify` writes: parameters, convergence, motion, what is left open. */
#include "crossval.h"
#include "report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 64, SHOWN = 4 };

static void parameter_table(FILE *f, const identification *id) {
    static const char *const head[] = {"parameter", "unit", "start", "estimate", "standard error", "95 % interval", ""};
    report_table_begin(f, 7, head);
    for (int i = 0; i < id->nfree; i++) {
        char cell[4][CELL];
        const char *unit = free_unit(id, i);
        tribo_param_info info;
        const tribo_estimate *e = id->est + i;
        bool known = id->observed && e->identifiable;
        snprintf(cell[0], CELL, "%.6g", e->start);
        snprintf(cell[1], CELL, "%.6g", id->value[i]);
        snprintf(cell[2], CELL, known ? "%.3g" : "-", e->std_error);
        snprintf(cell[3], CELL, known ? "%.6g to %.6g" : "-", e->low95, e->high95);
        const char *row[] = {free_name(id, i, &info),
                             strcmp(unit, "1") ? unit : "",
                             cell[0],
                             cell[1],
                             cell[2],
                             cell[3],
                             known || !id->observed ? estimate_remark(id, i) : "not determined by these recordings"};
        report_table_row(f, 7, row);
    }
    report_table_end(f);
}

static void errors_table(FILE *f, const identification *id) {
    static const char *const head[] = {"recordings",    "number",          "position, m",     "position, %",
                                       "rotation, deg", "a row ahead, mm", "a row ahead, deg"};
    const mean_errors *sum[2] = {&id->train, &id->held};
    static const char *const names[2] = {"fitted", "held out"};
    report_table_begin(f, 7, head);
    for (int k = 0; k < 2; k++) {
        char cell[6][CELL];
        tribo_errors e = mean_of(sum[k]);
        if (!sum[k]->n) continue;
        snprintf(cell[0], CELL, "%d", sum[k]->n);
        snprintf(cell[1], CELL, "%.5f", e.position_mean);
        snprintf(cell[2], CELL, "%.2f", 100 * e.position_relative);
        snprintf(cell[3], CELL, "%.2f", e.rotation_mean_deg);
        snprintf(cell[4], CELL, "%.3f", 1e3 * e.step_position_rms);
        snprintf(cell[5], CELL, "%.3f", e.step_rotation_rms_deg);
        const char *row[] = {names[k], cell[0], cell[1], cell[2], cell[3], cell[4], cell[5]};
        report_table_row(f, 7, row);
    }
    report_table_end(f);
}

static void convergence(FILE *f, const identification *id) {
    size_t n = id->nhistory;
    double *x = calloc(2 * n + 1, sizeof *x), *y = x + n;
    if (!x) return;
    for (size_t i = 0; i < n; i++) x[i] = id->history[i].evaluations, y[i] = id->history[i].loss;
    plot_series series = {.x = x, .y = y, .n = n, .style = PLOT_LINE_DOTS};
    plot p = {.x_label = "evaluations", .y_label = "loss", .series = &series, .nseries = 1, .log_y = true};
    report_plot(f, &p, "convergence",
                "Loss of the best parameters. It may rise once, where the thresholds of the robust loss are set anew.");
    free(x);
}

/* Positions of one body in one recording, or of a joint, measured and simulated. */
static bool motion(FILE *f, identification *id, int recording, const channel *c) {
    static const char *const axis[3] = {"x", "y", "z"};
    const tribo_recording *r = id->r.rec + recording;
    size_t n = (size_t)r->n, nx = (size_t)tribo_model_sizes(id->m).nx, axes = (size_t)c->n;
    double *X = calloc(n * nx + 6 * n, sizeof *X), *column = X + n * nx;
    char title[3][2][CELL], name[CELL], caption[512];
    plot_series series[6];
    bool good = X && tribo_sysid_predict(id->s, NULL, recording, X) >= 0;
    for (size_t i = 0; good && i < axes; i++) {
        double *measured = column + 2 * i * n, *simulated = measured + n;
        size_t at = (size_t)c->q + i;
        for (size_t k = 0; k < n; k++) {
            measured[k] = r->x[k * nx + at];
            simulated[k] = X[k * nx + at];
        }
        snprintf(title[i][0], CELL, "%s measured", axes > 1 ? axis[i] : "");
        snprintf(title[i][1], CELL, "%s simulated", axes > 1 ? axis[i] : "");
        series[2 * i] = (plot_series){title[i][0], r->time, measured, n, PLOT_DOTS, (int)i + 1};
        series[2 * i + 1] = (plot_series){title[i][1], r->time, simulated, n, PLOT_LINE, (int)i + 1};
    }
    if (good) {
        plot p = {.x_label = "time, s", .y_label = c->turns ? "angle, rad" : "position, m", .series = series};
        p.nseries = 2 * c->n, p.key_above = true;
        snprintf(name, sizeof name, "motion%dx%d", recording, c->v);
        snprintf(caption, sizeof caption, "%s, %s %s%s", id->r.path[recording], axes > 1 ? "body" : "joint", c->name,
                 tribo_sysid_held_out(id->s, recording) ? ", held out of the fit" : "");
        report_plot(f, &p, name, caption);
    }
    free(X);
    return good;
}

/* The worst of those held out, or of those fitted, that is not among the shown. */
static int worst(const identification *id, bool held, const int *shown, int nshown) {
    int at = -1;
    double most = -1;
    for (int i = 0; i < id->r.n; i++) {
        const tribo_errors *e = id->errors + i;
        bool taken = tribo_sysid_held_out(id->s, i) != held;
        for (int k = 0; k < nshown; k++) taken |= shown[k] == i;
        if (taken || !e->rows || !(e->position_mean > most)) continue;
        most = e->position_mean, at = i;
    }
    return at;
}

/* The worst of those held out, then of those fitted. @param list [out] (SHOWN). @return how many */
static int choose(const identification *id, int *list) {
    int n = 0;
    for (int held = 1; held >= 0; held--)
        while (n < (held ? SHOWN / 2 : SHOWN) && (list[n] = worst(id, held, list, n)) >= 0) n++;
    return n;
}

static void motions(FILE *f, identification *id) {
    int list[SHOWN], shown = choose(id, list), channels;
    channel *of = channels_of(id->m, &channels);
    report_motion(f, id, list, shown);
    for (int i = 0; i < shown; i++)
        for (int c = 0, room = 6; c < channels && room > 0; c++) {
            if (of[c].q < 0) continue;
            motion(f, id, list[i], &of[c]);
            room -= of[c].n;
        }
    free(of);
}

static void undetermined(FILE *f, const identification *id) {
    if (!id->observed) {
        report_text(f, "The information of the recordings could not be computed.");
        return;
    }
    if (!id->nopen) report_text(f, "Nothing: every direction in the space of these parameters is determined.");
    for (int k = 0; k < id->nopen; k++) {
        char line[1024] = "";
        size_t used = 0;
        for (int i = 0; i < id->nfree && used < sizeof line - 1; i++) {
            tribo_param_info info;
            double x = id->direction[k * id->nfree + i];
            if (fabs(x) < 0.05) continue;
            int wrote =
                snprintf(line + used, sizeof line - used, "%s%.2f %s", used ? ", " : "", x, free_name(id, i, &info));
            used += wrote > 0 ? (size_t)wrote : 0;
        }
        report_text(f, "Direction %d: %s", k + 1, line);
    }
    report_text(
        f, "Directions are in the fit's own dimensionless parameters: the logarithm of masses and sizes, others in "
           "units of their size. Along them the recordings can be explained by parameters that differ by a factor "
           "e and more. Intervals assume that the model is right; where there are many recordings, errors count "
           "whole recordings, not rows, as independent.");
}

/* What was mended in the recordings, and what was noted. */
static void tell_mended(FILE *f, const identification *id) {
    bool any = false;
    for (int i = 0; i < id->r.n; i++) {
        int n;
        const tribo_finding *found = tribo_checked_findings(id->r.checked[i], &n);
        for (int k = 0; k < n; k++) {
            if (!any) fputs("<details><summary>What was found in the recordings themselves</summary>\n<ul>\n", f);
            any = true;
            fputs("<li>", f);
            report_escape(f, id->r.path[i]);
            fputs(": ", f);
            report_escape(f, found[k].text);
            fputs(found[k].outcome == TRIBO_OUTCOME_MENDED ? "</li>\n" : " (left as it is)</li>\n", f);
        }
    }
    if (any) fputs("</ul></details>\n", f);
}

static void comparison_table(FILE *f, const comparison *c) {
    static const char *const head[] = {
        "free", "parameters", "held-out log-likelihood", "behind the best", "position, m", "rotation, deg", ""};
    if (c->interrupted) return;
    report_text(f,
                "Cross-validation: %d fits of each set, each without one part of the recordings, judged on that part.",
                c->parts);
    report_table_begin(f, 7, head);
    for (int k = 0; k < c->n; k++) {
        char cell[5][CELL];
        const contender *of = c->of + k;
        tribo_errors e = mean_of(&of->held);
        snprintf(cell[0], CELL, "%d", of->nfree);
        snprintf(cell[1], CELL, "%.4f", of->likelihood);
        cell[2][0] = 0;
        if (k != c->best) snprintf(cell[2], CELL, "%.4f +- %.4f", of->behind, of->behind_error);
        snprintf(cell[3], CELL, "%.5f", e.position_mean);
        snprintf(cell[4], CELL, "%.2f", e.rotation_mean_deg);
        const char *row[] = {of->names ? of->names : "all of --free",
                             cell[0],
                             cell[1],
                             cell[2],
                             cell[3],
                             cell[4],
                             k == c->advised ? "advised"
                             : k == c->best  ? "the best"
                                             : ""};
        report_table_row(f, 7, row);
    }
    report_table_end(f);
}

int write_report(identification *id) {
    char *path = join_path(id->a->out, "report.html");
    out_file file;
    if (!path) return trouble("no memory");
    bool good = out_open(&file, path);
    free(path);
    if (!good) return EXIT_TROUBLE;
    FILE *f = file.f;
    report_begin(f, "Identification");
    char before[48] = "";
    if (isfinite(id->progress.loss_start))
        snprintf(before, sizeof before, ", at the start %.6g", id->progress.loss_start);
    report_text(f, "Scene %s, %d recording%s. Loss %.6g%s; %d iterations, %ld evaluations, %.1f s. %s", id->a->scene,
                id->r.n, id->r.n == 1 ? "" : "s", id->progress.loss, before, id->progress.iteration,
                id->progress.evaluations, id->seconds,
                id->interrupted          ? "Interrupted."
                : id->progress.converged ? "Converged."
                : id->progress.settled   ? "No step improves the loss, which is not smooth here."
                                         : "Not converged.");
    if (id->progress.others)
        report_text(f, "%d other answer%s the recordings as well, beside this one; intervals hold %s.",
                    id->progress.others, id->progress.others > 1 ? "s explain" : " explains",
                    id->progress.others > 1 ? "them" : "it");
    if (id->warning[0]) report_warning(f, id->warning);
    tell_mended(f, id);
    report_heading(f, "Parameters");
    parameter_table(f, id);
    report_correlations(f, id);
    report_heading(f, "What the recordings leave open");
    undetermined(f, id);
    report_heading(f, "How well it predicts");
    report_text(f, "Simulated from the start of each recording to its end; means over rows, then over recordings. "
                   "A row ahead: root mean squares of simulations from each row to the next.");
    errors_table(f, id);
    if (id->comparison) comparison_table(f, id->comparison);
    report_heading(f, "Measured and simulated, where it is worst");
    motions(f, id);
    report_heading(f, "What is left of each recording");
    report_left(f, id);
    report_heading(f, "Convergence");
    convergence(f, id);
    report_text(f, "result.json beside this page has the numbers, identified.xml the scene with the estimates.");
    report_command(f, id->a->argc, id->a->argv);
    report_end(f);
    return out_close(&file) ? EXIT_SUCCESS : EXIT_TROUBLE;
}
