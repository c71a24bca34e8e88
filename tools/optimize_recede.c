/* optimize_recede.c -- a receding horizon: planned on the task's model, acted on that or another. */
#include "files.h"
#include "optimization.h"
#include "progress.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is acted on. */
struct world {
    tribo_ws *ws;
    double *p;       /* (np) */
    double *command; /* (knots,nu) what the controller asks for; it acts --act-delay knots later */
    int substeps;    /* of a knot */
};

/* ---- the world acted on ---- */

/* L[,WORD=VALUE...] over the task's law. */
static int act_law(const tribo_model *m, const char *text, tribo_law_options *law) {
    char copy[512];
    tribo_diag diag = {0};
    if (!text) return EXIT_SUCCESS;
    if (strlen(text) >= sizeof copy) return usage_error(&verb_optimize, "--act-law: %s is too long", text);
    memcpy(copy, text, strlen(text) + 1);
    *law = (tribo_law_options){0};
    for (char *at = copy, *end; at; at = end) {
        end = strchr(at, ',');
        if (end) *end++ = 0;
        char *value = strchr(at, '=');
        if (value) *value++ = 0;
        if (tribo_law_set(law, value ? at : "law", value ? value : at, &diag))
            return usage_error(&verb_optimize, "--act-law: %s", diag.text);
    }
    for (const char *at = strchr(text, ','); at; at = strchr(at + 1, ',')) {
        snprintf(copy, sizeof copy, "%.*s", (int)strcspn(at + 1, "=,"), at + 1);
        const char *need = task_law_lacks(m, law, copy);
        if (need) return usage_error(&verb_optimize, "--act-law: %s counts for nothing without %s", copy, need);
    }
    return EXIT_SUCCESS;
}

/* The state of one is that of the other: the same names in the same order. */
static int same_state(const char *path, const tribo_model *m, const tribo_model *other) {
    tribo_sizes a = tribo_model_sizes(m), b = tribo_model_sizes(other);
    bool same = a.nx == b.nx && a.nu == b.nu && a.njoint == b.njoint && a.nactuator == b.nactuator;
    for (int j = 0; same && j < a.njoint; j++)
        same = strcmp(tribo_model_joint_name(m, j), tribo_model_joint_name(other, j)) == 0;
    for (int j = 0; same && j < a.nactuator; j++)
        same = strcmp(tribo_model_actuator_name(m, j), tribo_model_actuator_name(other, j)) == 0;
    for (int i = 0; same && i < a.nbody; i++) {
        const char *name = tribo_model_body_name(m, i);
        int body = tribo_model_body_find(other, name);
        if (tribo_model_body_free(m, i))
            same = body >= 0 && tribo_model_body_free(other, body) &&
                   tribo_model_body_q(other, body) == tribo_model_body_q(m, i);
    }
    return same ? EXIT_SUCCESS
                : input_message(path, 0,
                                "--act-scene: its free bodies, joints and actuators are not those of the scene "
                                "planned on, in their order");
}

static int open_world(optimization *o, world *w) {
    const task_file *t = o->task;
    tribo_options options = t->options;
    tribo_diag diag = {0};
    int status = o->a->act_scene ? scene_load(o->a->act_scene, &o->other) : EXIT_SUCCESS;
    if (status == EXIT_SUCCESS && o->other) status = same_state(o->a->act_scene, o->m, o->other);
    const tribo_model *m = o->other ? o->other : o->m;
    if (status == EXIT_SUCCESS) status = act_law(m, o->a->act_law, &options.law);
    if (status != EXIT_SUCCESS) return status;
    double dt = o->a->act_dt > 0 ? o->a->act_dt : t->dt, steps = round(knot_seconds(t) / dt);
    if (!(steps >= 1 && steps <= 1e6 && fabs(steps * dt - knot_seconds(t)) <= 1e-9 * knot_seconds(t)))
        return usage_error(&verb_optimize, "--act-dt: a knot of %g s is no whole number of steps of %g s",
                           knot_seconds(t), dt);
    w->substeps = (int)steps, options.dt = dt;
    w->p = calloc((size_t)tribo_model_sizes(m).np, sizeof *w->p);
    w->command = calloc((size_t)o->a->receding * (size_t)t->size.nu, sizeof *w->command);
    if (!w->p || !w->command) return trouble("no memory");
    tribo_model_params(m, w->p);
    if (!o->other) memcpy(w->p, t->p, (size_t)t->size.np * sizeof *w->p);
    tribo_status s = tribo_ws_new(m, &options, NULL, &w->ws, &diag);
    return s < 0 ? usage_error(&verb_optimize, "--act-law: %s", diag.text) : EXIT_SUCCESS;
}

/* ---- plan and act ---- */

/* A knot under feedback from the plan, as late as it comes; until the first has come it acts already. @return false
 * where the motion ends, after a message. */
static bool act(optimization *o, world *w, int from_plan) {
    size_t nx = (size_t)o->task->size.nx, nu = (size_t)o->task->size.nu;
    motion *d = &o->done;
    double *x = d->x + (size_t)(d->rows - 1) * nx, *u = d->U + (size_t)d->knots * nu;
    int late = (int)o->a->act_delay, then = o->acted > late ? o->acted - late : 0;
    tribo_status s = tribo_trajopt_feedback(o->t, from_plan, x, w->command + (size_t)o->acted * nu);
    memcpy(u, w->command + (size_t)then * nu, nu * sizeof *u);
    for (int i = 0; i < w->substeps && s >= 0; i++) {
        x = d->x + (size_t)(d->rows - 1) * nx;
        s = tribo_step(w->ws, w->p, x, u, x + nx, NULL);
        d->unconverged += s == TRIBO_NOT_CONVERGED;
        if (s >= 0) d->time[d->rows] = d->rows * tribo_ws_options(w->ws).dt, d->rows++;
    }
    if (s < 0) {
        remark(&verb_optimize, "at knot %d the motion ends: %s", o->acted, step_text(s, step_wanted(w->ws)));
        d->rows = d->knots * w->substeps + 1; /* whole knots */
        return false;
    }
    d->knots++, o->acted++;
    return true;
}

/* The plan moved on to what was reached, and made better. @return false where it cannot be, after a message. */
static bool plan_again(optimization *o) {
    const task_file *t = o->task;
    double from = o->acted * knot_seconds(t);
    tribo_status s = TRIBO_OK;
    for (int i = 0; i < t->def.nterm && s >= 0; i++) {
        if (!t->info[i].over.n) continue;
        double *rows = (double *)(uintptr_t)t->term[i].target;
        task_target(t, i, from, rows);
        s = tribo_trajopt_set_target(o->t, i, rows);
    }
    const double *x = o->done.x + (size_t)(o->done.rows - 1) * (size_t)t->size.nx;
    if (s >= 0) s = tribo_trajopt_shift(o->t, (int)o->a->every, x);
    for (long k = 0; k < o->a->passes && s >= 0 && s != TRIBO_INTERRUPTED; k++) {
        s = tribo_trajopt_iterate(o->t, &o->progress);
        o->passes++;
        if (o->progress.done) break;
    }
    o->plans++;
    if (s < 0) remark(&verb_optimize, "at knot %d there is no plan: %s", o->acted, step_text(s, 0));
    return s == TRIBO_OK;
}

static void recede(optimization *o, world *w) {
    long every = o->a->every;
    o->plans = 1;
    while (o->acted < o->a->receding && !*interrupts_flag) {
        int from_plan = (int)(o->acted % every);
        if (o->acted && from_plan == 0 && !plan_again(o)) break;
        if (!act(o, w, from_plan)) break;
        progress_state(false, "knot %d of %ld, %g s  the plan's cost %.8g", o->acted, o->a->receding,
                       o->acted * knot_seconds(o->task), o->progress.cost);
        o->late = o->a->seconds > 0 && progress_seconds() > o->a->seconds;
        if (o->late) break;
    }
    o->interrupted = *interrupts_flag;
}

/* ---- what it cost ---- */

/* The task over so many knots, on what they are acted on. */
static int read_acted(optimization *o, int knots) {
    const optimize_arguments *a = o->a;
    task_changes changes = {
        .knots = knots, .nnoise = -1, .nlaw = a->nlaw, .law_word = a->law_word, .law_value = a->law_value};
    return task_file_read(a->task, o->other ? o->other : o->m, &changes, &o->acted_task);
}

/* The same terms over the knots that were acted. */
static int count_costs(optimization *o, const world *w) {
    const optimize_arguments *a = o->a;
    const tribo_model *m = o->other ? o->other : o->m;
    int status = read_acted(o, o->acted);
    if (status != EXIT_SUCCESS) return status;
    task_file *t = o->acted_task;
    size_t nx = (size_t)t->size.nx, nu = (size_t)t->size.nu, nc = (size_t)t->def.ncontrol, n = (size_t)o->acted;
    double *X = calloc((n + 1) * nx, sizeof *X), *U = calloc(n * nc, sizeof *U);
    tribo_trajopt *along = NULL;
    tribo_diag diag = {0};
    o->cost = calloc((size_t)t->def.nterm, sizeof *o->cost);
    o->nterm = t->def.nterm, o->info = t->info;
    if (!X || !U || !o->cost) status = trouble("no memory");
    for (size_t k = 0; status == EXIT_SUCCESS && k <= n; k++) {
        memcpy(X + k * nx, o->done.x + k * (size_t)w->substeps * nx, nx * sizeof *X);
        for (size_t i = 0; i < nc && k < n; i++) U[k * nc + i] = o->done.U[k * nu + (size_t)t->control[i]];
    }
    const tribo_options acted = tribo_ws_options(w->ws); /* contact forces are those of the steps that were made */
    t->def.options = &acted, t->def.substeps = w->substeps;
    t->def.X = X, t->def.U = U, t->def.method = TRIBO_METHOD_DDP, t->def.p = w->p, t->def.nstage = 0;
    if (status == EXIT_SUCCESS && tribo_trajopt_new(m, &t->def, &along, &diag) < 0)
        status = input_message(a->task, 0, "the costs of what was acted: %s", diag.text);
    if (status == EXIT_SUCCESS && tribo_trajopt_costs(along, o->cost) < 0) status = trouble("no costs");
    for (int i = 0; i < o->nterm && o->cost; i++) o->acted_cost += o->cost[i];
    tribo_trajopt_free(along);
    free(X), free(U);
    return status;
}

static int check_terms(const optimization *o) {
    const task_file *t = o->task;
    for (int i = 0; i < t->def.nterm; i++)
        if (t->info[i].stands)
            return input_message(o->a->task, 0,
                                 "terms[%d] (%s): with --receding a term is at all, running or final, and its target "
                                 "constant or in seconds",
                                 i, t->info[i].label);
    if (o->a->every > t->def.knots)
        return usage_error(&verb_optimize, "--every: a plan has only %d knots", t->def.knots);
    return EXIT_SUCCESS;
}

int optimize_recede_begin(optimization *o) {
    const task_file *t = o->task;
    world *w = o->world = calloc(1, sizeof *w);
    int status = w ? check_terms(o) : trouble("no memory"), knots = (int)o->a->receding;
    if (status == EXIT_SUCCESS) status = open_world(o, w);
    if (status == EXIT_SUCCESS && (double)knots * w->substeps * t->size.nx > 1e8)
        status = usage_error(&verb_optimize, "--receding: %d knots of %d steps are too many", knots, w->substeps);
    if (status == EXIT_SUCCESS) status = read_acted(o, knots); /* what cannot be counted is not acted */
    task_file_free(o->acted_task), o->acted_task = NULL;
    if (status == EXIT_SUCCESS && !motion_room(&o->done, &t->size, knots, knots * w->substeps + 1))
        status = trouble("no memory");
    return status;
}

int optimize_recede(optimization *o) {
    double started = seconds_now();
    memcpy(o->done.x, o->task->x0, (size_t)o->task->size.nx * sizeof *o->done.x);
    o->done.rows = 1;
    recede(o, o->world);
    o->seconds += seconds_now() - started;
    return o->acted ? count_costs(o, o->world) : EXIT_SUCCESS;
}

void optimize_recede_end(optimization *o) {
    if (!o->world) return;
    tribo_ws_free(o->world->ws);
    free(o->world->p), free(o->world->command);
    free(o->world);
}
