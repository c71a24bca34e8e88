/* optimize_result.c -- what `optimize` says and writes: the table, trajectories, controls, feedback, pictures. */
#include "files.h"
#include "formats/table.h"
#include "formats/text.h"
#include "optimization.h"
#include "plot.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *optimize_outcome(const optimization *o) {
    if (o->interrupted) return "interrupted";
    if (o->acted) return o->acted < o->a->receding ? "ended early" : "acted to the end";
    return o->late                 ? "out of time"
           : o->progress.converged ? "converged"
           : o->progress.done      ? "no step improves"
                                   : "not converged";
}

const tribo_model *optimize_model_acted(const optimization *o) {
    return o->acted && o->other ? o->other : o->m;
}

void optimize_print(const optimization *o) {
    const task_file *t = o->task;
    const tribo_trajopt_progress *p = &o->progress;
    printf("%-32s %-12s %12s %14s\n", "term", "at", "weight", "cost");
    for (int i = 0; i < o->nterm; i++)
        printf("%-32s %-12s %12g %14.8g\n", o->info[i].label, o->info[i].at, t->term[i].weight, o->cost[i]);
    if (o->acted) {
        printf("cost %.9g over %d knots, %g s; %d plans, %d passes; %s\n", o->acted_cost, o->acted,
               o->acted * knot_seconds(t), o->plans, o->passes, optimize_outcome(o));
        return;
    }
    printf("cost %.9g, was %.9g", p->cost, o->first_cost);
    if (t->def.nstage) printf("; under the task's law %.9g", p->cost_hard);
    if (p->violation > 0) printf("; constraints violated by %.2g", p->violation);
    printf("; %d passes, %.1f s; %s\n", p->iteration, o->seconds, optimize_outcome(o));
    if (p->unconverged) printf("%d steps did not reach their tolerance\n", p->unconverged);
}

/* ---- JSON ---- */

static json_t *terms_json(const optimization *o) {
    json_t *list = json_array();
    for (int i = 0; i < o->nterm; i++) {
        json_t *term = json_object();
        json_object_set_new(term, "name", json_string(o->info[i].label));
        json_object_set_new(term, "what", json_string(tribo_term_name(o->task->term[i].kind)));
        json_object_set_new(term, "at", json_string(o->info[i].at));
        json_object_set_new(term, "cost", json_number(o->cost[i]));
        json_array_append_new(list, term);
    }
    return list;
}

static void search_json(const optimization *o, json_t *all) {
    const tribo_trajopt_progress *p = &o->progress;
    json_object_set_new(all, "cost", json_number(p->cost));
    json_object_set_new(all, "cost_hard", json_number(p->cost_hard));
    json_object_set_new(all, "cost_start", json_number(o->first_cost));
    json_object_set_new(all, "stage", json_integer(p->stage));
    json_object_set_new(all, "passes", json_integer(p->iteration));
    json_object_set_new(all, "rollouts", json_integer(p->rollouts));
    json_object_set_new(all, "gradient", json_number(p->gradient));
    json_object_set_new(all, "violation", json_number(p->violation));
    json_object_set_new(all, "converged", json_boolean(p->converged));
}

json_t *optimize_json(const optimization *o) {
    const task_file *t = o->task;
    size_t nx = (size_t)t->size.nx;
    json_t *all = json_object();
    json_object_set_new(all, "scene", json_string(o->a->scene));
    json_object_set_new(all, "task", json_string(o->a->task));
    json_object_set_new(all, "knots", json_integer(t->def.knots));
    json_object_set_new(all, "substeps", json_integer(t->def.substeps));
    json_object_set_new(all, "dt", json_number(t->dt));
    json_object_set_new(all, "terms", terms_json(o));
    if (o->acted) {
        json_object_set_new(all, "cost", json_number(o->acted_cost));
        json_object_set_new(all, "acted", json_integer(o->acted));
        json_object_set_new(all, "plans", json_integer(o->plans));
        json_object_set_new(all, "passes", json_integer(o->passes));
    } else {
        search_json(o, all);
    }
    json_object_set_new(all, "unconverged", json_integer(o->done.unconverged));
    json_object_set_new(all, "interrupted", json_boolean(o->interrupted));
    json_object_set_new(all, "out_of_time", json_boolean(o->late));
    json_object_set_new(all, "outcome", json_string(optimize_outcome(o)));
    json_object_set_new(all, "time_end", json_number(o->done.time[o->done.rows - 1]));
    json_object_set_new(all, "state_end", json_numbers(o->done.x + (size_t)(o->done.rows - 1) * nx, nx));
    json_object_set_new(all, "seconds", json_number(o->seconds));
    return all;
}

/* ---- files ---- */

static int end_file(out_file *f, bool good) {
    if (!good) out_discard(f);
    return good && out_close(f) ? EXIT_SUCCESS : EXIT_TROUBLE;
}

static int write_states(const optimization *o, const char *path) {
    out_file f;
    if (!out_open(&f, path)) return EXIT_TROUBLE;
    ti_trajectory_write(f.f, optimize_model_acted(o), o->done.rows, o->done.time, o->done.x, 0, NULL, NULL);
    return end_file(&f, true);
}

/* Columns of u that are controls, or are held at other than 0. */
static bool is_column(const optimization *o, int i) {
    for (int k = 0; k < o->task->def.ncontrol; k++)
        if (o->task->control[k] == i) return true;
    return o->task->u[i] != 0;
}

static int write_controls(const optimization *o, const char *path) {
    out_file f;
    int nu = o->task->size.nu;
    char text[128], number[TI_NUMBER_TEXT];
    if (!out_open(&f, path)) return EXIT_TROUBLE;
    fputs("time", f.f);
    for (int i = 0; i < nu; i++) {
        ti_control_column(o->m, i, text, sizeof text);
        if (is_column(o, i)) ti_table_write_column(f.f, text, NULL);
    }
    for (int k = 0; k < o->done.knots; k++) {
        ti_write_number(k * knot_seconds(o->task), number);
        fprintf(f.f, "\n%s", number);
        for (int i = 0; i < nu; i++) {
            ti_write_number(o->done.U[(size_t)k * (size_t)nu + (size_t)i], number);
            if (is_column(o, i)) fprintf(f.f, ",%s", number);
        }
    }
    fputc('\n', f.f);
    return end_file(&f, true);
}

static int write_feedback(const optimization *o, const char *path) {
    tribo_policies *l = NULL;
    tribo_diag diag = {0};
    tribo_status s = tribo_policies_new(o->m, o->task->def.ncontrol, NULL, &l);
    if (s >= 0) s = tribo_policies_add(l, o->t, 0, o->task->def.knots - 1);
    if (s >= 0) s = tribo_policies_save(l, path, &diag);
    tribo_policies_free(l);
    return s < 0 ? trouble("%s: %s", path, diag.text[0] ? diag.text : tribo_status_text(s)) : EXIT_SUCCESS;
}

static int write_result(const optimization *o, const char *path) {
    out_file f;
    if (!out_open(&f, path)) return EXIT_TROUBLE;
    json_t *all = optimize_json(o);
    bool good = json_write(f.f, all, true);
    json_decref(all);
    return end_file(&f, good);
}

/* ---- pictures ---- */

enum { CURVES = 8, TITLE = 140 }; /* a title: a name and its unit */

/* Column i of rows of `width` numbers; NULL without memory. */
static double *column(const double *rows, int n, int width, int i) {
    double *y = calloc((size_t)n, sizeof *y);
    for (int k = 0; y && k < n; k++) y[k] = rows[(size_t)k * (size_t)width + (size_t)i];
    return y;
}

/* Of every joint its number, of every free body its height; the first few. */
static int choose_states(const tribo_model *m, int *index, char name[CURVES][TITLE]) {
    tribo_sizes z = tribo_model_sizes(m);
    int n = 0;
    for (int b = 0; b < z.nbody; b++)
        for (int i = 0; i < 3 && tribo_model_body_free(m, b) && n < CURVES; i++, n++) {
            index[n] = tribo_model_body_q(m, b) + i;
            snprintf(name[n], TITLE, "%s.p%c, m", tribo_model_body_name(m, b), "xyz"[i]);
        }
    for (int j = 0; j < z.njoint && n < CURVES; j++) {
        bool last = j + 1 == z.njoint || tribo_model_joint_q(m, j + 1) == tribo_model_joint_q(m, j) + 1;
        if (!last) continue;
        index[n] = tribo_model_joint_q(m, j);
        bool turns = tribo_model_turns(m, tribo_model_joint_v(m, j));
        snprintf(name[n++], TITLE, "%s.q, %s", tribo_model_joint_name(m, j), turns ? "rad" : "m");
    }
    return n;
}

static int choose_controls(const optimization *o, int *index, char name[CURVES][TITLE]) {
    char column[128];
    int n = 0;
    for (int i = 0; i < o->task->def.ncontrol && n < CURVES; i++) {
        index[n] = o->task->control[i];
        ti_control_column(o->m, index[n], column, sizeof column);
        bool force = index[n] < o->task->size.nv;
        snprintf(name[n], TITLE, "%s%s", column, !force ? "" : tribo_model_turns(o->m, index[n]) ? ", N m" : ", N");
        n++;
    }
    return n;
}

char *optimize_svg(const optimization *o, bool controls) {
    int index[CURVES], n, rows = controls ? o->done.knots : o->done.rows;
    char name[CURVES][TITLE];
    plot_series series[CURVES] = {{0}};
    double *time = calloc((size_t)rows, sizeof *time);
    n = controls ? choose_controls(o, index, name) : choose_states(o->m, index, name);
    for (int k = 0; time && k < rows; k++) time[k] = controls ? k * knot_seconds(o->task) : o->done.time[k];
    for (int i = 0; i < n; i++)
        series[i] = (plot_series){.title = name[i],
                                  .x = time,
                                  .n = (size_t)rows,
                                  .y = controls ? column(o->done.U, rows, o->task->size.nu, index[i])
                                                : column(o->done.x, rows, o->task->size.nx, index[i])};
    plot p = {.x_label = "time, s", .series = series, .nseries = n, .y_least = 1e-6, .key_above = true};
    bool whole = time != NULL;
    for (int i = 0; i < n; i++) whole = whole && series[i].y;
    char *svg = whole ? plot_svg(&p, controls ? "controls" : "states") : NULL;
    for (int i = 0; i < n; i++) free((void *)(uintptr_t)series[i].y);
    free(time);
    return svg;
}

/* Without gnuplot there is no picture, and nothing is lost. */
static int draw(const optimization *o, const char *path, bool controls) {
    char *svg = optimize_svg(o, controls);
    int status = EXIT_SUCCESS;
    out_file f;
    if (svg && !out_open(&f, path))
        status = EXIT_TROUBLE;
    else if (svg)
        fprintf(f.f, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n%s\n", svg), status = end_file(&f, true);
    else if (controls)
        remark(&verb_optimize, "no pictures: is gnuplot installed?");
    free(svg);
    return status;
}

static int draw_states(const optimization *o, const char *path) {
    return draw(o, path, false);
}
static int draw_controls(const optimization *o, const char *path) {
    return draw(o, path, true);
}

static const struct {
    const char *name;
    int (*write)(const optimization *o, const char *path);
} FILES[] = {{"trajectory.csv", write_states}, {"controls.csv", write_controls}, {"feedback.txt", write_feedback},
             {"result.json", write_result},    {"states.svg", draw_states},      {"controls.svg", draw_controls},
             {"report.html", optimize_page}};
enum { NFILES = sizeof FILES / sizeof *FILES };

int optimize_check_outputs(const optimize_arguments *a) {
    if (!a->out) return EXIT_SUCCESS;
    if (ends_with(a->out, ".csv")) return output_check(NULL, a->out);
    int status = EXIT_SUCCESS;
    for (int i = 0; i < NFILES && status == EXIT_SUCCESS; i++) status = output_check(a->out, FILES[i].name);
    if (status == EXIT_SUCCESS && !make_folder(a->out)) status = EXIT_TROUBLE;
    return status;
}

int optimize_write(const optimization *o) {
    const char *out = o->a->out;
    int status = EXIT_SUCCESS;
    if (!out) return status;
    if (ends_with(out, ".csv")) return write_states(o, out);
    for (int i = 0; i < NFILES && status == EXIT_SUCCESS; i++) {
        char *path = join_path(out, FILES[i].name);
        status = path ? FILES[i].write(o, path) : trouble("no memory");
        free(path);
    }
    return status;
}
