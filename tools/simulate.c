/* simulate.c -- the verb `simulate`: a scene's motion as a table of states. */
#include "common.h"
#include "files.h"
#include "formats/table.h"
#include "measures.h"
#include "names.h"
#include "scene.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/sim.h>

typedef struct arguments {
    const char *scene, *start, *key, *controls, *out;
    double duration, dt, tol; /* 0 = not given */
    bool json, measures;
    tribo_law_options law;
} arguments;

/* A run: rows at times, and what happened between them. */
typedef struct run_state {
    const tribo_model *m;
    tribo_sizes n;
    tribo_ws *ws;
    double *p, *u;
    const tribo_controls *controls;
    tribo_options options;
    int key; /* where it starts, and whose controls hold if there are no others */
    int rows;
    double *time, *x;   /* (rows), (rows,nx) */
    double dt;          /* longest step */
    long steps, failed; /* failed: steps that did not reach their tolerance */
    double residual, penetration;
    tribo_rung rung;
    double *measures; /* (rows,NMEASURES); NULL: not asked for */
} run_state;

/* From one row to the next, in whole steps of at most dt. */
static tribo_status advance(run_state *r, int row) {
    double from = r->time[row], span = r->time[row + 1] - from, n = ceil(span / r->dt * (1 - 1e-9));
    double *x = r->x + (size_t)(row + 1) * (size_t)r->n.nx;
    memcpy(x, x - r->n.nx, (size_t)r->n.nx * sizeof *x);
    tribo_status s = step_workspace(r->m, &r->options, span / n, &r->ws);
    for (double k = 0; k < n && s == TRIBO_OK; k++) {
        if (r->controls) tribo_controls_at(r->controls, from + span * k / n, r->u);
        tribo_status step = tribo_step(r->ws, r->p, x, r->u, x, NULL);
        if (step < 0) return step;
        const tribo_step_info *info = tribo_last_info(r->ws);
        r->steps++;
        r->failed += step == TRIBO_NOT_CONVERGED;
        if (!(info->residual <= r->residual)) r->residual = info->residual;
        if (!(info->penetration <= r->penetration)) r->penetration = info->penetration;
        if (info->rung > r->rung) r->rung = info->rung;
        if (r->measures) measures_add(r->measures + (size_t)(row + 1) * NMEASURES, info);
    }
    return s;
}

/* Rows, the first of which is where it starts: of a recording, or of the key. */
static int start(run_state *r, const arguments *a) {
    const double numbers = 50000000; /* at most, in all states */
    tribo_trajectory *t = NULL;
    double duration = a->duration > 0 || a->start ? a->duration : 1;
    int status = a->start ? recording_load(a->start, r->m, &t) : EXIT_SUCCESS;
    if (status == EXIT_SUCCESS)
        status = motion_times(&verb_simulate, t, duration, r->dt, numbers / r->n.nx, &r->time, &r->rows);
    if (status == EXIT_SUCCESS) {
        r->x = calloc((size_t)r->rows * (size_t)r->n.nx, sizeof *r->x);
        if (!r->x) status = trouble("no memory");
    }
    if (r->x && t) memcpy(r->x, tribo_trajectory_states(t), (size_t)r->n.nx * sizeof *r->x);
    if (r->x && !t) tribo_model_key(r->m, r->key, r->x, NULL);
    tribo_trajectory_free(t);
    return status;
}

static int write_json(const run_state *r, const arguments *a, double seconds) {
    const double *last = r->x + (size_t)(r->rows - 1) * (size_t)r->n.nx;
    json_t *all = json_object();
    json_object_set_new(all, "scene", json_string(a->scene));
    json_object_set_new(all, "rows", json_integer(r->rows));
    json_object_set_new(all, "steps", json_integer(r->steps));
    json_object_set_new(all, "not_converged", json_integer(r->failed));
    json_object_set_new(all, "residual", json_number(r->residual));
    json_object_set_new(all, "penetration", json_number(r->penetration));
    json_object_set_new(all, "energy_start", json_number(tribo_energy(r->m, r->p, r->x)));
    json_object_set_new(all, "energy_end", json_number(tribo_energy(r->m, r->p, last)));
    json_object_set_new(all, "time_end", json_number(r->time[r->rows - 1]));
    json_object_set_new(all, "state_end", json_numbers(last, (size_t)r->n.nx));
    json_object_set_new(all, "seconds", json_number(seconds));
    if (r->measures) json_object_set_new(all, "measures", measures_json(r->measures, r->rows));
    bool good = json_write(stdout, all, true) && fflush(stdout) == 0;
    json_decref(all);
    return good ? EXIT_SUCCESS : trouble("the result could not be written");
}

/* The table to a file, or to standard output where there is neither --out nor --json. */
static int write_rows(const run_state *r, const arguments *a) {
    out_file o;
    if (!a->out && a->json) return EXIT_SUCCESS;
    if (!out_open(&o, a->out)) return EXIT_TROUBLE;
    ti_trajectory_write(o.f, r->m, r->rows, r->time, r->x, r->measures ? NMEASURES : 0, measure_columns, r->measures);
    return out_close(&o) ? EXIT_SUCCESS : EXIT_TROUBLE;
}

static int simulate(run_state *r, const arguments *a) {
    if (a->measures) r->measures = calloc((size_t)r->rows, NMEASURES * sizeof *r->measures);
    if (a->measures && !r->measures) return trouble("no memory");
    double started = seconds_now();
    tribo_status s = TRIBO_OK;
    for (int row = 0; row + 1 < r->rows && s == TRIBO_OK; row++) {
        s = advance(r, row);
        if (s < 0)
            return input_message(a->scene, 0, "after %ld steps, at %g s: %s", r->steps, r->time[row],
                                 step_text(s, step_wanted(r->ws)));
    }
    double seconds = seconds_now() - started;
    for (int row = 0; r->measures && row < r->rows; row++)
        r->measures[(size_t)row * NMEASURES + MEASURE_energy] =
            tribo_energy(r->m, r->p, r->x + (size_t)row * (size_t)r->n.nx);
    int status = write_rows(r, a);
    if (status == EXIT_SUCCESS && a->json) status = write_json(r, a, seconds);
    if (status == EXIT_SUCCESS && r->failed) {
        remark(&verb_simulate, "%ld of %ld steps did not converge; worst residual %.1e", r->failed, r->steps,
               r->residual);
        status = EXIT_NOT_CONVERGED;
    }
    return status;
}

static int no_key(const char *scene, const tribo_model *m, const char *name) {
    near_name near = near_begin(name);
    for (int k = 0; k < tribo_model_keys(m); k++) near_offer(&near, tribo_model_key_name(m, k));
    return near.nearest[0] ? input_message(scene, 0, "there is no key %s; the nearest is %s", name, near.nearest)
                           : input_message(scene, 0, "there is no key %s", name);
}

static int run_scene(const arguments *a) {
    tribo_model *m = NULL;
    tribo_controls *controls = NULL;
    run_state r = {0};
    int status = scene_load(a->scene, &m);
    if (status == EXIT_SUCCESS) {
        r.m = m;
        r.n = tribo_model_sizes(m);
        r.dt = a->dt > 0 ? a->dt : tribo_model_timestep(m);
        r.options = step_options();
        r.options.tol = a->tol, r.options.law = a->law, r.options.measures = a->measures;
        tribo_law_options scene = tribo_model_law(m);
        status = law_check(&verb_simulate, a->scene, &a->law, &scene);
        r.p = calloc((size_t)r.n.np, sizeof *r.p);
        r.u = calloc((size_t)r.n.nu, sizeof *r.u);
        if (status == EXIT_SUCCESS && (!r.p || !r.u)) status = trouble("no memory");
    }
    if (status == EXIT_SUCCESS && a->key) {
        r.key = tribo_model_key_find(m, a->key);
        if (r.key < 0) status = no_key(a->scene, m, a->key);
    }
    if (status == EXIT_SUCCESS) tribo_model_key(m, r.key, NULL, r.u);
    if (status == EXIT_SUCCESS && a->controls) status = controls_load(a->controls, m, &controls);
    if (status == EXIT_SUCCESS) status = start(&r, a);
    if (status == EXIT_SUCCESS && a->out) status = output_check(NULL, a->out);
    if (status == EXIT_SUCCESS) {
        tribo_model_params(m, r.p);
        r.controls = controls;
        status = simulate(&r, a);
    }
    tribo_ws_free(r.ws);
    tribo_controls_free(controls);
    tribo_model_free(m);
    free(r.p);
    free(r.u);
    free(r.time);
    free(r.x);
    free(r.measures);
    return status;
}

static int run(int argc, char **argv) {
    const verb *v = &verb_simulate;
    arguments a = {0};
    for (int code; (code = next_option(v, argc, argv)) != -1;) {
        if (code < 0) return option_exit(code);
        if (scene_option(v, code, optarg)) return EXIT_USAGE;
        if (code >= LAW_OPTION && law_option(v, code, optarg, &a.law)) return EXIT_USAGE;
        if (code == 't' && parse_positive(v, TOL_RANGE, 1, &a.tol)) return EXIT_USAGE;
        if (code == 1 && a.scene) return usage_error(v, "one scene, not also %s", optarg);
        if (code == 1) a.scene = optarg;
        if (code == 'd' && parse_positive(v, "--duration takes a time above 0 s", 1e9, &a.duration)) return EXIT_USAGE;
        if (code == 's' && parse_positive(v, "--dt takes a time above 0 s", 1e3, &a.dt)) return EXIT_USAGE;
        if (code == 'x') a.start = optarg;
        if (code == 'k') a.key = optarg;
        if (code == 'u') a.controls = optarg;
        if (code == 'o') a.out = optarg;
        if (code == 'j') a.json = true;
        if (code == 'm') a.measures = true;
    }
    if (!a.scene) return usage_error(v, "which scene?");
    return run_scene(&a);
}

static const option_row rows[] = {
    {"duration", 'd', "S",
     "seconds to simulate, also beyond the start file, there with a row a step (1, or as long as the start file)",
     false},
    {"dt", 's', "S", "length of a step, s (the scene's timestep)", false},
    {"start", 'x', "FILE.csv",
     "start from its first row, and write rows at its times; steps are then shortened so that a whole number of them "
     "fills the time between two rows",
     false},
    {"key", 'k', "KEY", "start from that key of the scene (the first)", false},
    {"controls", 'u', "FILE.csv",
     "forces (N), torques (N m) and controls over time, each row held until the next (those of the key)", false},
    {"out", 'o', "FILE.csv", "where to write (standard output, unless --json)", false},
    {"measures", 'm', NULL,
     "columns after the states, of all steps since the row before: energy, dissipation, residuals, internal forces, "
     "lift, penetration, iterations",
     false},
    {"json", 'j', NULL, "a summary as JSON on standard output", false},
    {"tol", 't', "T", "on the relative residual of the contact law (the solver's)", false},
    {0}};
const verb verb_simulate = {
    .name = "simulate",
    .summary = "simulate a scene and write its states",
    .operands = "SCENE",
    .about =
        "Simulates a scene and writes its states as CSV, a row a step: time in s, positions in m, rotations as unit "
        "quaternions, velocities in m/s and rad/s.",
    .options = rows,
    .groups = {&group_scene, &group_step, &group_law},
    .statuses = "0; 2 usage; 3 bad input; 4 a step did not converge",
    .example = "  tribo simulate slide.xml --duration 2 --out slide.csv",
    .run = run,
};
