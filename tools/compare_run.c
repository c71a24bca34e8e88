/* compare_run.c -- the runs of a comparison: the reference, and every law and solver cold and warm. */
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"
#include "compare.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* CPU time of this thread, s: what else the machine does is not counted. */
static double busy_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double worst_of(tribo_residuals r) {
    double worst = r.primal;
    if (!(r.dual <= worst)) worst = r.dual;
    if (!(r.complementarity <= worst)) worst = r.complementarity;
    return worst;
}

enum { POSE = 7 }; /* position, quaternion */

/* ---- memory ---- */

/* The model at a state, and once more without springs: what those do is in the energy already. */
static bool prepare_dynamics(comparison *c) {
    double *p = malloc((size_t)c->n.np * sizeof *p);
    bool good = p && !tribo_dynamics_new(c->m, NULL, &c->motion) && !tribo_dynamics_new(c->m, NULL, &c->driven);
    if (good) memcpy(p, c->p, (size_t)c->n.np * sizeof *p);
    good = good && !tribo_dynamics_set_params(c->motion, p, NULL);
    for (int i = 0; good && i < c->n.np; i++) {
        tribo_param_info info;
        if (!tribo_param_describe(c->m, i, &info) && info.kind == TRIBO_PARAM_STIFFNESS) p[i] = 0;
    }
    good = good && !tribo_dynamics_set_params(c->driven, p, NULL);
    free(p);
    return good;
}

bool compare_prepare(comparison *c) {
    size_t rows = (size_t)c->rows, curves = rows * NCURVES * (size_t)(c->ncontender + 1);
    size_t poses = 2 * POSE * (size_t)c->n.nbody;
    c->memory = malloc((curves + rows * (1 + (size_t)c->n.nx) + poses + (size_t)c->n.nu) * sizeof *c->memory);
    if (!c->memory || !prepare_dynamics(c)) return false;
    double *at = c->memory;
    for (size_t i = 0; i < curves; i++) at[i] = (double)NAN;
    for (int k = -1; k < c->ncontender; k++)
        for (int j = 0; j < NCURVES; j++, at += rows)
            if (k < 0)
                c->reference_value[j] = at;
            else
                c->contender[k].value[j] = at;
    c->time = at, c->reference = at + rows, c->pose = c->reference + rows * (size_t)c->n.nx, c->held = c->pose + poses;
    tribo_model_key(c->m, 0, NULL, c->held);
    for (int i = 0; i < c->rows; i++) c->time[i] = i * c->dt;
    c->kinetic = (double)NAN;
    return true;
}

void compare_free(comparison *c) {
    tribo_dynamics_free(c->motion), tribo_dynamics_free(c->driven);
    free(c->memory);
}

/* ---- what is read off a state ---- */

/* All bodies in the world, NaN where the state is not one. */
static void read_poses(const comparison *c, const double *x, double *pose) {
    bool good = !tribo_dynamics_set_state(c->motion, x);
    for (int b = 0; b < c->n.nbody; b++)
        if (!good || tribo_body_pose(c->motion, b, pose + POSE * b, pose + POSE * b + 3))
            for (int i = 0; i < POSE; i++) pose[POSE * b + i] = (double)NAN;
}

static double apart(const double *a, const double *b) {
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

/* The angle from one unit quaternion to another, small ones as exactly as large ones. */
static double turned_by(const double *a, const double *b) {
    double w = 0, sine = 0;
    for (int i = 0; i < 4; i++) w += a[i] * b[i];
    for (int i = 0; i < 4; i++) sine += pow(b[i] - w * a[i], 2);
    return 2 * atan2(sqrt(sine), fabs(w));
}

/* The body that goes farthest from one state to the other, and the direction across its way: the one it starts on, or
 * else where it gets to. */
static void choose_body(comparison *c, const double *first, const double *last) {
    double farthest = -1, way[2] = {0, 0}, *from = c->pose, *to = from + POSE * c->n.nbody, twist[6];
    read_poses(c, last, to), read_poses(c, first, from);
    for (int b = 0; b < c->n.nbody; b++, from += POSE, to += POSE) {
        double gone[2] = {to[0] - from[0], to[1] - from[1]};
        if (!(hypot(gone[0], gone[1]) > farthest) || tribo_body_velocity(c->motion, b, twist)) continue;
        bool moving = hypot(twist[0], twist[1]) > 1e-6;
        farthest = hypot(gone[0], gone[1]), c->body = b;
        way[0] = moving ? twist[0] : gone[0], way[1] = moving ? twist[1] : gone[1];
    }
    double length = hypot(way[0], way[1]);
    c->side[0] = length > 0 ? -way[1] / length : 0, c->side[1] = length > 0 ? way[0] / length : 1;
    memcpy(c->start, c->pose + POSE * c->body, sizeof c->start);
}

static double kinetic_energy(const comparison *c, const double *x) {
    double e;
    return tribo_dynamics_set_state(c->motion, x) || tribo_kinetic_energy(c->motion, &e) ? (double)NAN : e;
}

static void read_state(const comparison *c, int row, const double *x, double *const *value) {
    double at[3] = {(double)NAN, (double)NAN, (double)NAN}, potential = (double)NAN;
    double kinetic = kinetic_energy(c, x);
    if (kinetic == kinetic &&
        (tribo_body_pose(c->motion, c->body, at, NULL) || tribo_potential_energy(c->motion, &potential)))
        kinetic = (double)NAN;
    value[CURVE_energy][row] = kinetic + potential;
    value[CURVE_height][row] = at[2] - c->start[2];
    value[CURVE_drift][row] = c->side[0] * (at[0] - c->start[0]) + c->side[1] * (at[1] - c->start[1]);
}

/* How far the body that is farthest is from the reference. */
static void read_distance(const comparison *c, int row, const double *x, double *const *value) {
    double far = 0, turned = 0, *a = c->pose, *b = a + POSE * c->n.nbody;
    read_poses(c, c->reference + (size_t)row * (size_t)c->n.nx, a), read_poses(c, x, b);
    for (int i = 0; i < c->n.nbody; i++, a += POSE, b += POSE) {
        double moved = apart(a, b), turn = turned_by(a + 3, b + 3);
        if (!(moved <= far)) far = moved;
        if (!(turn <= turned)) turned = turn;
    }
    value[CURVE_distance][row] = far, value[CURVE_turn][row] = turned;
}

/* ---- the reference ---- */

/* Into c->reference, row by row; @return the worst status, and the steps that did not converge. */
static tribo_status run_reference(comparison *c, tribo_ws *ws, double *u, long *unsolved) {
    size_t nx = (size_t)c->n.nx;
    memcpy(c->reference, c->x0, nx * sizeof *c->x0);
    c->kinetic = kinetic_energy(c, c->x0);
    for (int row = 1; row < c->rows; row++) {
        double *x = c->reference + (size_t)row * nx;
        memcpy(x, x - nx, nx * sizeof *x);
        for (int k = 0; k < c->finer; k++) {
            if (c->controls) tribo_controls_at(c->controls, c->time[row - 1] + k * c->dt / c->finer, u);
            tribo_status s = tribo_step(ws, c->p, x, u, x, NULL);
            if (s < 0) return s;
            *unsolved += s == TRIBO_NOT_CONVERGED;
        }
        double energy = kinetic_energy(c, x);
        if (energy > c->kinetic) c->kinetic = energy;
    }
    return TRIBO_OK;
}

bool compare_reference(comparison *c, tribo_diag *diag) {
    tribo_options o = step_options();
    tribo_ws *ws = NULL;
    long unsolved = 0;
    double *u = calloc((size_t)c->n.nu, sizeof *u);
    o.dt = c->dt / c->finer, o.warm_start = true;
    o.law = (tribo_law_options){.law = TRIBO_LAW_NCP, .solver = TRIBO_SOLVER_LADDER, .softness = TRIBO_SOFTNESS_NONE};
    tribo_status s = u ? tribo_ws_new(c->m, &o, NULL, &ws, NULL) : TRIBO_E_NOMEM;
    if (u) memcpy(u, c->held, (size_t)c->n.nu * sizeof *u);
    if (s == TRIBO_OK) s = run_reference(c, ws, u, &unsolved);
    tribo_ws_free(ws);
    free(u);
    if (s < 0) {
        c->reference = NULL, c->kinetic = (double)NAN;
        choose_body(c, c->x0, c->x0);
        snprintf(diag->text, sizeof diag->text, "%s", step_text(s, 0));
        return false;
    }
    choose_body(c, c->x0, c->reference + (size_t)(c->rows - 1) * (size_t)c->n.nx);
    for (int row = 0; row < c->rows; row++)
        read_state(c, row, c->reference + (size_t)row * (size_t)c->n.nx, c->reference_value);
    if (unsolved) snprintf(diag->text, sizeof diag->text, "%ld of its steps did not converge", unsolved);
    return unsolved == 0;
}

/* ---- a law and a solver ---- */

typedef struct runner {
    tribo_ws *ws;
    double *x, *before, *u, *dx, *force; /* (nx), (nx), (nu), (ndx), (nv) */
    double gain;
    long unsolved, iterations;
    tribo_status status;
    double at; /* where it ended, s */
    bool late;
} runner;

static tribo_options options_of(const comparison *c, const contender *k, bool warm, bool measures) {
    tribo_options o = step_options();
    o.dt = c->dt, o.tol = c->tol, o.law = k->law, o.warm_start = warm, o.measures = measures;
    return o;
}

/* What controls, actuators and dampers did in a step: by where it began and the velocity at its end, which dampers go
 * by.
 */
static double work_of(const comparison *c, runner *r) {
    double work = 0;
    tribo_state_difference(c->m, r->before, r->x, r->dx);
    memcpy(r->before + c->n.nq, r->x + c->n.nq, (size_t)c->n.nv * sizeof *r->x);
    if (tribo_dynamics_set_state(c->driven, r->before) || tribo_joint_forces(c->driven, r->u, r->force))
        return (double)NAN;
    for (int i = 0; i < c->n.nv; i++) work += r->force[i] * r->dx[i];
    return work;
}

/* What step `row` left: all that is drawn, and energy that came from nowhere. */
static void read_step(const comparison *c, contender *k, runner *r, int row) {
    const tribo_step_info *info = tribo_last_info(r->ws);
    double *const *value = k->value;
    read_state(c, row, r->x, value);
    if (c->reference) read_distance(c, row, r->x, value);
    value[CURVE_iterations][row] = info->iterations;
    value[CURVE_residual][row] = info->residual;
    value[CURVE_ncp][row] = worst_of(info->measures.ncp);
    value[CURVE_internal][row] = info->measures.internal / c->dt;
    double gained = value[CURVE_energy][row] - value[CURVE_energy][row - 1] - work_of(c, r);
    if (!(gained <= 0)) r->gain += gained;
}

/* From the start, `rows` of it or until something ends it. measured: the contender whose curves are drawn, or NULL. */
static int roll(const comparison *c, contender *measured, runner *r, int rows) {
    double from = busy_seconds();
    size_t bytes = (size_t)c->n.nx * sizeof *r->x;
    r->gain = 0, r->unsolved = r->iterations = 0, r->status = TRIBO_OK, r->late = false;
    memcpy(r->x, c->x0, bytes), memcpy(r->u, c->held, (size_t)c->n.nu * sizeof *r->u);
    tribo_ws_reset(r->ws);
    for (int row = 1; row < rows; row++) {
        if (c->controls) tribo_controls_at(c->controls, c->time[row - 1], r->u);
        if (measured) memcpy(r->before, r->x, bytes);
        tribo_status s = tribo_step(r->ws, c->p, r->x, r->u, r->x, NULL);
        r->at = c->time[row - 1];
        if (s < 0) return r->status = s, row;
        r->iterations += tribo_last_info(r->ws)->iterations;
        if (s == TRIBO_NOT_CONVERGED) r->unsolved++, r->status = s;
        if (measured) read_step(c, measured, r, row);
        r->late = row % 8 == 0 && busy_seconds() - from > c->limit;
        if (r->late) return row + 1;
    }
    return rows;
}

/* us and iterations a step, the median of several runs where they are short. */
static void time_runs(const comparison *c, const contender *k, runner *r, bool warm, double *us, double *iterations,
                      long *unsolved) {
    enum { RUNS = 5 };
    tribo_options o = options_of(c, k, warm, false);
    double t[RUNS], total = 0;
    int n = 0, steps = k->rows - 1;
    if (steps < 1 || tribo_ws_new(c->m, &o, NULL, &r->ws, NULL) != TRIBO_OK) return;
    while (n < RUNS && (n == 0 || total < 0.2)) {
        double from = busy_seconds();
        int rows = roll(c, NULL, r, k->rows);
        double spent = busy_seconds() - from, one = 1e6 * spent / (rows > 1 ? rows - 1 : 1);
        int at = n++;
        for (; at > 0 && t[at - 1] > one; at--) t[at] = t[at - 1];
        t[at] = one, total += spent;
        *iterations = rows > 1 ? (double)r->iterations / (rows - 1) : (double)NAN;
    }
    *us = t[n / 2], *unsolved = r->unsolved;
    tribo_ws_free(r->ws);
    r->ws = NULL;
}

/* Median and worst of the steps, 0 where there are none. */
static void spread_of(const double *value, int rows, double *scratch, double *median, double *worst) {
    int n = 0;
    *worst = 0;
    for (int i = 1; i < rows; i++) {
        if (!(value[i] <= *worst)) *worst = value[i];
        if (value[i] == value[i]) scratch[n++] = value[i];
    }
    qsort(scratch, (size_t)n, sizeof *scratch, ti_ascending);
    *median = n ? scratch[n / 2] : (double)NAN;
}

static double largest(const double *value, int rows) {
    double most = 0;
    for (int i = 0; i < rows; i++)
        if (!(fabs(value[i]) <= most)) most = fabs(value[i]);
    return most;
}

static double mean_difference(const double *value, const double *other, int rows) {
    double sum = 0;
    for (int i = 1; i < rows; i++) sum += fabs(value[i] - other[i]);
    return rows > 1 ? sum / (rows - 1) : (double)NAN;
}

static void summarise(const comparison *c, contender *k, double *scratch) {
    double unused;
    spread_of(k->value[CURVE_residual], k->rows, scratch, &k->residual_median, &k->residual_worst);
    spread_of(k->value[CURVE_ncp], k->rows, scratch, &k->ncp_median, &k->ncp_worst);
    spread_of(k->value[CURVE_internal], k->rows, scratch, &unused, &k->internal_worst);
    k->drift_worst = largest(k->value[CURVE_drift], k->rows);
    k->rise = 0;
    for (int i = 0; i < k->rows; i++)
        if (k->value[CURVE_height][i] > k->rise) k->rise = k->value[CURVE_height][i];
    if (!c->reference) return;
    k->error = mean_difference(k->value[CURVE_energy], c->reference_value[CURVE_energy], k->rows);
    k->distance_worst = largest(k->value[CURVE_distance], k->rows);
    k->turn_worst = largest(k->value[CURVE_turn], k->rows);
}

static void run_with(const comparison *c, contender *k, runner *r, double *scratch) {
    tribo_options o = options_of(c, k, false, true);
    k->status = tribo_ws_new(c->m, &o, NULL, &r->ws, NULL);
    if (k->status < 0) {
        snprintf(k->note, sizeof k->note, "%s", tribo_status_text(k->status));
        return;
    }
    read_state(c, 0, c->x0, k->value);
    if (c->reference) read_distance(c, 0, c->x0, k->value);
    double from = busy_seconds();
    k->rows = roll(c, k, r, c->rows);
    double spent = busy_seconds() - from;
    k->status = r->status, k->unsolved = r->unsolved, k->gain = r->gain;
    if (r->status < 0)
        snprintf(k->note, sizeof k->note, "ended at %g s: %s", r->at, step_text(r->status, 0));
    else if (r->late)
        snprintf(k->note, sizeof k->note, "given up at %g s, after %g s of computing", r->at, c->limit);
    tribo_ws_free(r->ws);
    r->ws = NULL;
    summarise(c, k, scratch);
    if (spent > 1 && k->rows > 1) /* measuring hardly counts then */
        k->us = 1e6 * spent / (k->rows - 1), k->iterations = (double)r->iterations / (k->rows - 1);
    else
        time_runs(c, k, r, false, &k->us, &k->iterations, &k->unsolved);
    time_runs(c, k, r, true, &k->us_warm, &k->iterations_warm, &k->unsolved_warm);
}

void compare_run(comparison *c, contender *k) {
    size_t nx = (size_t)c->n.nx, nu = (size_t)c->n.nu, ndx = (size_t)c->n.ndx, nv = (size_t)c->n.nv,
           rows = (size_t)c->rows;
    double *memory = calloc(2 * nx + nu + ndx + nv + rows, sizeof *memory);
    double *const unknown[] = {
        &k->us,         &k->us_warm,     &k->iterations, &k->iterations_warm, &k->residual_median, &k->residual_worst,
        &k->ncp_median, &k->ncp_worst,   &k->gain,       &k->error,           &k->internal_worst,  &k->distance_worst,
        &k->turn_worst, &k->drift_worst, &k->rise};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) *unknown[i] = (double)NAN;
    k->rows = 0;
    if (memory) {
        runner r = {.x = memory, .before = memory + nx, .u = memory + 2 * nx, .dx = memory + 2 * nx + nu};
        r.force = r.dx + ndx;
        run_with(c, k, &r, r.force + nv);
    } else {
        k->status = TRIBO_E_NOMEM;
        snprintf(k->note, sizeof k->note, "%s", step_text(k->status, 0));
    }
    free(memory);
}
