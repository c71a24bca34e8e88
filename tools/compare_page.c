/* compare_page.c -- the page that `compare` writes: the table, the motion by law, the work by solver. */
#include "compare.h"
#include "replay_page.h"
#include "report.h"
#include "scene.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 48, SERIES = 16, POINTS = 400, BLACK = 7 };

/* ---- the table ---- */

static const char *number(char *cell, const char *format, double x) {
    snprintf(cell, CELL, "-");
    if (x == x) snprintf(cell, CELL, format, x);
    return cell;
}

static void costs(FILE *f, const comparison *c) {
    enum { COLUMNS = 8 };
    static const char *const head[COLUMNS] = {"law/solver", "us a step",           "warm", "iterations",
                                              "warm",       "steps not converged", "warm", ""};
    report_table_begin(f, COLUMNS, head);
    for (int i = 0; i < c->ncontender; i++) {
        const contender *k = c->contender + i;
        char cell[COLUMNS][CELL];
        snprintf(cell[5], CELL, "%ld of %d", k->unsolved, k->rows > 0 ? k->rows - 1 : 0);
        snprintf(cell[6], CELL, "%ld", k->unsolved_warm);
        const char *row[COLUMNS] = {k->name,
                                    number(cell[1], "%.1f", k->us),
                                    number(cell[2], "%.1f", k->us_warm),
                                    number(cell[3], "%.1f", k->iterations),
                                    number(cell[4], "%.1f", k->iterations_warm),
                                    cell[5],
                                    cell[6],
                                    k->note};
        report_table_row(f, COLUMNS, row);
    }
    report_table_end(f);
    report_text(
        f, "Microseconds and iterations a step are means, each step started from nothing, and (warm) from the step "
           "before.");
}

static void errors(FILE *f, const comparison *c) {
    enum { COLUMNS = 10 };
    static const char *const head[COLUMNS] = {
        "law/solver",      "residual",          "worst",       "NCP residual", "energy gained, J",
        "energy error, J", "internal force, N", "distance, m", "drift, mm",    "rise, mm"};
    report_table_begin(f, COLUMNS, head);
    for (int i = 0; i < c->ncontender; i++) {
        const contender *k = c->contender + i;
        char cell[COLUMNS][CELL];
        const char *row[COLUMNS] = {k->name,
                                    number(cell[1], "%.0e", k->residual_median),
                                    number(cell[2], "%.0e", k->residual_worst),
                                    number(cell[3], "%.0e", k->ncp_worst),
                                    number(cell[4], "%.2g", k->gain),
                                    number(cell[5], "%.2g", k->error),
                                    number(cell[6], "%.3g", k->internal_worst),
                                    number(cell[7], "%.2g", k->distance_worst),
                                    number(cell[8], "%.3g", 1e3 * k->drift_worst),
                                    number(cell[9], "%.3g", 1e3 * k->rise)};
        report_table_row(f, COLUMNS, row);
    }
    report_table_end(f);
    report_text(f,
                "The residual is that of the law that is solved, relative, median and worst step; beside it the worst "
                "that the same answers leave of Signorini, Coulomb and maximum dissipation. Energy gained: beyond the "
                "work of the controls, summed over steps. Energy error: difference from the reference, mean over "
                "time. Internal force and distance from the reference are the largest at any time; so are "
                "drift, of the body that goes farthest across the way it starts on, and its rise. Each step started "
                "from nothing.");
}

/* ---- curves ---- */

/* A picture in the making: curves of which every so many rows are drawn. */
typedef struct drawing {
    plot_series series[SERIES];
    int n;
    double *memory; /* (SERIES,2,POINTS + 1) */
} drawing;

static void add_curve(drawing *d, const comparison *c, const char *title, const double *value, double unit, bool peaks,
                      plot_style style, int colour) {
    if (d->n == SERIES) return;
    double *x = d->memory + (size_t)d->n * 2 * (POINTS + 1), *y = x + POINTS + 1;
    int stride = (c->rows + POINTS - 1) / POINTS;
    size_t n = 0;
    for (int row = 0; row < c->rows; row += stride, n++) {
        x[n] = c->time[row], y[n] = unit * value[row];
        for (int k = row; peaks && k < row + stride && k < c->rows; k++)
            if (!(unit * value[k] <= y[n])) y[n] = unit * value[k];
    }
    d->series[d->n++] = (plot_series){title, x, y, n, style, colour};
}

/* The last curve for a logarithmic axis: a value alone between two that the axis does not have becomes a dash. */
static void fit_log_axis(drawing *d) {
    const double rounding = 1e-17; /* of residuals: what is smaller has no meaning, and would take the axis along */
    double *y = d->memory + (size_t)(2 * d->n - 1) * (POINTS + 1);
    for (size_t k = 0; k < d->series[d->n - 1].n; k++)
        if (y[k] > 0 && y[k] < rounding) y[k] = rounding;
    for (size_t k = 0; k + 1 < d->series[d->n - 1].n; k++)
        if (y[k] > 0 && !(y[k + 1] > 0) && (k == 0 || !(y[k - 1] > 0))) y[k + 1] = y[k], k++;
}

/* Whether a went better than b: farther, with fewer failures, to a smaller residual. */
static bool went_better(const contender *a, const contender *b) {
    if (a->rows != b->rows) return a->rows > b->rows;
    if (a->unsolved != b->unsolved) return a->unsolved < b->unsolved;
    return a->residual_worst < b->residual_worst;
}

/* The one that went best stands for all that solve the same equations. */
static bool stands_for_its_law(const comparison *c, int i) {
    const contender *one = c->contender + i;
    if (one->rows < 2) return false;
    for (int k = 0; k < c->ncontender; k++) {
        const contender *other = c->contender + k;
        if (k == i || other->model != one->model) continue;
        if (went_better(other, one) || (k < i && !went_better(one, other))) return false;
    }
    return true;
}

/* Its name: the law's, if no other equations of that law are there before it. */
static const char *title_of(const comparison *c, int i) {
    for (int k = 0; k < i; k++)
        if (c->contender[k].law.law == c->contender[i].law.law && c->contender[k].model != c->contender[i].model)
            return c->contender[i].name;
    return tribo_law_name(c->contender[i].law.law);
}

typedef struct figure {
    const char *name, *heading, *y_label, *caption;
    curve which;
    double unit;
    bool log, reference; /* the reference is drawn too */
    double least;        /* the axis spans at least this */
    const char *what;    /* the extreme that the caption tells, and where a contender has it */
    size_t extreme;
} figure;

/* What is seen in it: the laws that go farthest and least far. */
static void with_extremes(const comparison *c, const figure *g, char *text, size_t size) {
    double most = -1, least = HUGE_VAL;
    int top = -1, bottom = -1;
    for (int i = 0; i < c->ncontender; i++) {
        if (!stands_for_its_law(c, i)) continue;
        double x = *(const double *)(const void *)((const char *)(c->contender + i) + g->extreme);
        if (x > most) most = x, top = i;
        if (x < least) least = x, bottom = i;
    }
    snprintf(text, size, "%s", g->caption);
    if (top < 0 || !(most > 0)) return;
    size_t used = strlen(text);
    most *= g->unit, least *= g->unit;
    if (most < g->least || most - least <= 1e-2 * most)
        snprintf(text + used, size - used, " %s: %.3g, whatever the law.", g->what, most);
    else
        snprintf(text + used, size - used, " %s: %.3g under %s, %.3g under %s.", g->what, most, title_of(c, top), least,
                 title_of(c, bottom));
}

static void draw_by_law(FILE *f, const comparison *c, const figure *g) {
    drawing d = {.memory = calloc(SERIES * 2 * (POINTS + 1), sizeof(double))};
    char caption[640];
    if (!d.memory) return;
    for (int i = 0, colour = 1; i < c->ncontender; i++)
        if (stands_for_its_law(c, i))
            add_curve(&d, c, title_of(c, i), c->contender[i].value[g->which], g->unit, g->which == CURVE_internal,
                      PLOT_LINE, colour++);
    if (g->reference && c->reference)
        add_curve(&d, c, "reference", c->reference_value[g->which], g->unit, false, PLOT_DASHED, BLACK);
    plot p = {.x_label = "time, s",
              .y_label = g->y_label,
              .series = d.series,
              .nseries = d.n,
              .nested = true,
              .key_above = true,
              .log_y = g->log,
              .y_least = g->least,
              .height = 360};
    with_extremes(c, g, caption, sizeof caption);
    report_plot(f, &p, g->name, caption);
    free(d.memory);
}

/* ---- to be played ---- */

static void control(const void *ctx, double time, double *u) {
    const comparison *c = ctx;
    if (c->controls)
        tribo_controls_at(c->controls, time, u);
    else
        memcpy(u, c->held, (size_t)c->n.nu * sizeof *u);
}

/* A law once more, as far as it went. */
static bool play_law(replay *r, const comparison *c, int i) {
    tribo_options o = step_options();
    o.dt = c->dt, o.tol = c->tol, o.law = c->contender[i].law;
    replay_run run = {.name = title_of(c, i), .p = c->p, .x0 = c->x0, .rows = c->contender[i].rows, .time = c->time};
    run.options = o, run.control = control, run.ctx = c;
    return replay_simulate(r, &run) != TRIBO_E_NOMEM;
}

static void play(FILE *f, const comparison *c) {
    replay r;
    bool good = replay_start(&r, c->m, c->p) && replay_take(&r, c->scene);
    for (int i = 0; good && i < c->ncontender; i++)
        if (stands_for_its_law(c, i)) good = play_law(&r, c, i);
    if (good && c->reference) good = replay_states(&r, "reference", false, c->rows, c->time, c->reference, NULL, c->p);
    report_heading(f, "Motion");
    if (!good || !replay_write(f, &r,
                               "The motion under each law, one as it is and others seen through it, or side by side. "
                               "Arrows are contact forces on what moves. Drag to turn, wheel or pinch to zoom, space "
                               "plays."))
        fputs("<p class=\"missing\">The motion could not be kept for this page.</p>\n", f);
    replay_free(&r);
}

/* All solvers of a law. */
static void draw_by_solver(FILE *f, const comparison *c, tribo_law law, curve which, const char *kind,
                           const char *y_label, const char *what) {
    drawing d = {.memory = calloc(SERIES * 2 * (POINTS + 1), sizeof(double))};
    char name[CELL], caption[256];
    if (!d.memory) return;
    for (int i = 0; i < c->ncontender; i++) {
        if (c->contender[i].law.law != law || c->contender[i].rows < 2 || d.n == SERIES) continue;
        add_curve(&d, c, tribo_solver_name(c->contender[i].law.solver), c->contender[i].value[which], 1, true,
                  PLOT_LINE, d.n + 1);
        fit_log_axis(&d);
    }
    plot p = {.x_label = "time, s",
              .y_label = y_label,
              .series = d.series,
              .nseries = d.n,
              .nested = true,
              .key_above = true,
              .log_y = true,
              .height = 320};
    snprintf(name, sizeof name, "%s%d", kind, (int)law);
    snprintf(caption, sizeof caption, "%s: %s", tribo_law_name(law), what);
    if (d.n > 0) report_plot(f, &p, name, caption);
    free(d.memory);
}

/* ---- the page ---- */

static void motion(FILE *f, const comparison *c) {
    const char *body = tribo_model_body_name(c->m, c->body);
    double energy = c->kinetic > 0 ? 1e-6 * c->kinetic : 1e-9;
    char height[160], drift[200];
    snprintf(height, sizeof height, "Height of %s above its start, mm: a law that lifts what slides shows here.", body);
    snprintf(drift, sizeof drift,
             "Way of %s across the direction it starts in, mm: friction that is not against the motion pushes aside.",
             body);
    const figure figures[] = {{"energy", "Energy", "energy, J", "Kinetic and potential energy of all bodies, J.",
                               CURVE_energy, 1, false, true, energy, "Mean difference from the reference",
                               offsetof(contender, error)},
                              {"distance", "Distance from the reference", "distance, m",
                               "How far the body that is farthest off is from where it is in the reference, m.",
                               CURVE_distance, 1, true, false, 0, "Largest", offsetof(contender, distance_worst)},
                              {"height", "Height", "height, mm", height, CURVE_height, 1e3, false, true, 1e-3,
                               "Highest", offsetof(contender, rise)},
                              {"drift", "Sideways drift", "drift, mm", drift, CURVE_drift, 1e3, false, true, 1e-3,
                               "Largest", offsetof(contender, drift_worst)},
                              {"internal", "Internal forces", "force, N",
                               "The part of the contact forces that moves nothing, N: bodies are squeezed by it.",
                               CURVE_internal, 1, false, false, 1e-6, "Largest", offsetof(contender, internal_worst)}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (figures[i].which == CURVE_distance && !c->reference) continue;
        report_heading(f, figures[i].heading);
        draw_by_law(f, c, figures + i);
    }
}

static void solvers(FILE *f, const comparison *c) {
    report_heading(f, "Iterations");
    for (int law = 1; law < TRIBO_LAW_END; law++)
        draw_by_solver(f, c, (tribo_law)law, CURVE_iterations, "iterations", "iterations",
                       "iterations of its solvers, each step started from nothing; none where nothing touches.");
    report_heading(f, "Residuals");
    for (int law = 1; law < TRIBO_LAW_END; law++)
        draw_by_solver(f, c, (tribo_law)law, CURVE_residual, "residual", "relative residual",
                       "what its solvers leave of the law's own residual in a step.");
}

static void who(FILE *f, const comparison *c) {
    static const char *const head[] = {"law", "what it says"};
    report_table_begin(f, 2, head);
    for (int law = 1; law < TRIBO_LAW_END; law++) {
        const char *row[] = {tribo_law_name((tribo_law)law), tribo_law_text((tribo_law)law)};
        bool there = false;
        for (int i = 0; i < c->ncontender; i++) there |= c->contender[i].law.law == (tribo_law)law;
        if (there) report_table_row(f, 2, row);
    }
    report_table_end(f);
}

void compare_page(FILE *f, const comparison *c) {
    report_begin(f, "Contact laws compared");
    report_text(f, "Scene %s, %d steps of %g s.", c->scene, c->rows - 1, c->dt);
    if (c->reference)
        report_text(f, "Reference: the NCP in steps of %g s. Its largest kinetic energy is %.3g J.", c->dt / c->finer,
                    c->kinetic);
    else
        report_text(f, "There is no reference: the NCP in finer steps failed.");
    who(f, c);
    report_heading(f, "What each costs and gets wrong");
    costs(f, c);
    errors(f, c);
    report_text(
        f, "In the pictures by law, the solver that went best stands for all that solve the same equations. Lines that "
           "are drawn first are wider, so that those behind show.");
    play(f, c);
    motion(f, c);
    solvers(f, c);
    report_text(f, "result.json beside this page has the table.");
    report_command(f, c->argc, c->argv);
    report_end(f);
}
