/* optimize_page.c -- the page that `optimize` writes: the motion to be played, what each term costs, curves. */
#include "optimization.h"
#include "replay_page.h"
#include "report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 64 };

static void control(const void *ctx, double time, double *u) {
    const optimization *o = ctx;
    size_t nu = (size_t)o->task->size.nu;
    int knot = (int)(time / knot_seconds(o->task) + 1e-6);
    if (knot >= o->done.knots) knot = o->done.knots - 1;
    memcpy(u, o->done.U + (size_t)knot * nu, nu * sizeof *u);
}

/* Under the task's own law once more, for the contacts; of a receding horizon the states that there are. */
static bool keep_motion(replay *r, const optimization *o) {
    const task_file *t = o->task;
    const motion *d = &o->done;
    if (o->acted) return replay_states(r, "acted", false, d->rows, d->time, d->x, NULL, NULL);
    replay_run run = {.name = "motion", .p = t->p, .x0 = d->x, .rows = d->rows, .time = d->time, .options = t->options};
    run.options.dt = t->dt, run.control = control, run.ctx = o;
    return replay_simulate(r, &run) != TRIBO_E_NOMEM;
}

static void play(FILE *f, const optimization *o) {
    const tribo_model *m = optimize_model_acted(o);
    double *p = calloc((size_t)tribo_model_sizes(m).np + 1, sizeof *p);
    replay r = {0};
    bool good = p != NULL;
    if (good && m != o->m) tribo_model_params(m, p);
    if (good && m == o->m) memcpy(p, o->task->p, (size_t)o->task->size.np * sizeof *p);
    good = good && replay_start(&r, m, p) && replay_take(&r, o->a->task) && keep_motion(&r, o);
    if (!good || !replay_write(f, &r,
                               "The motion found, as the task's own law has it. Arrows are contact forces on what "
                               "moves. Drag to turn, wheel or pinch to zoom, space plays."))
        fputs("<p class=\"missing\">The motion could not be kept for this page.</p>\n", f);
    replay_free(&r);
    free(p);
}

static void terms(FILE *f, const optimization *o) {
    static const char *const head[] = {"term", "at", "weight", "cost"};
    report_table_begin(f, 4, head);
    for (int i = 0; i < o->nterm; i++) {
        char cell[2][CELL];
        snprintf(cell[0], CELL, "%g", o->task->term[i].weight);
        snprintf(cell[1], CELL, "%.6g", o->cost[i]);
        const char *row[] = {o->info[i].label, o->info[i].at, cell[0], cell[1]};
        report_table_row(f, 4, row);
    }
    report_table_end(f);
    report_text(f, "Costs are weighted, and without a unit; controls.csv, trajectory.csv and result.json beside this "
                   "page have the numbers.");
}

static void summary(FILE *f, const optimization *o) {
    if (o->acted)
        report_text(f, "Scene %s, task %s. Cost %.6g over %d knots, %g s; %d plans, %d passes; %s.", o->a->scene,
                    o->a->task, o->acted_cost, o->acted, o->acted * knot_seconds(o->task), o->plans, o->passes,
                    optimize_outcome(o));
    else
        report_text(f, "Scene %s, task %s. Cost %.6g, was %.6g; %d passes, %.1f s; %s.", o->a->scene, o->a->task,
                    o->progress.cost, o->first_cost, o->progress.iteration, o->seconds, optimize_outcome(o));
    if (o->done.unconverged) {
        char text[CELL];
        snprintf(text, sizeof text, "%d steps did not reach their tolerance.", o->done.unconverged);
        report_warning(f, text);
    }
}

static void picture(FILE *f, const optimization *o, bool controls, const char *caption) {
    char *svg = optimize_svg(o, controls);
    report_picture(f, svg, caption);
    free(svg);
}

int optimize_page(const optimization *o, const char *path) {
    out_file out;
    if (!out_open(&out, path)) return EXIT_TROUBLE;
    FILE *f = out.f;
    report_begin(f, "Trajectory optimisation");
    summary(f, o);
    play(f, o);
    report_heading(f, "What each term costs");
    terms(f, o);
    report_heading(f, "States and controls");
    picture(f, o, false, "Positions of free bodies and of joints; the first few.");
    picture(f, o, true, "Controls, those without a unit in that of their actuator; the first few.");
    report_command(f, o->a->argc, o->a->argv);
    report_end(f);
    return out_close(&out) ? EXIT_SUCCESS : EXIT_TROUBLE;
}
