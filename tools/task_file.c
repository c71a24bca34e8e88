/* task_file.c -- a task from its JSON file: sizes, start, law, controls, guess; terms are in task_terms.c. */
#include "files.h"
#include "formats/table.h"
#include "formats/text.h"
#include "found.h"
#include "model/model.h"
#include "params.h"
#include "scene.h"
#include "task_reader.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KNOTS_MAX = 1000000, SUBSTEPS_MAX = 100000, STAGES_MAX = 32, NUMBERS_MAX = 200000000 };

/* ---- sizes ---- */

static void read_knots(task_reader *r, const json_t *value, void *at) {
    task_file *t = at;
    t->def.knots = task_integer(r, value, 1, KNOTS_MAX, "a number of knots from 1 to 1000000");
    if (r->changes && r->changes->knots) t->def.knots = r->changes->knots;
}

static void read_substeps(task_reader *r, const json_t *value, void *at) {
    task_file *t = at;
    t->def.substeps = task_integer(r, value, 1, SUBSTEPS_MAX, "a number of steps a knot, from 1 to 100000");
}

static void read_dt(task_reader *r, const json_t *value, void *at) {
    task_file *t = at;
    t->dt = t->options.dt = task_number(r, value, 1e-9, 1e3, "the time of a step, from 1e-9 to 1000 s");
}

static void read_iterations(task_reader *r, const json_t *value, void *at) {
    task_file *t = at;
    t->iterations = task_integer(r, value, 1, 100000000, "a number of passes, from 1 to 100000000");
}

static void read_tolerance(task_reader *r, const json_t *value, void *at) {
    task_file *t = at;
    t->def.tol = task_number(r, value, 1e-16, 1, "a tolerance above 0, at most 1");
}

static void read_tol_constraint(task_reader *r, const json_t *value, void *at) {
    task_file *t = at;
    t->def.tol_constraint = task_number(r, value, 1e-16, 1e3, "a tolerance above 0");
}

static void read_method(task_reader *r, const json_t *value, void *at) {
    task_file *t = at;
    const char *word = json_string_value(value);
    int method = task_method_find(word);
    if (method < 0)
        task_wrong(r, "is none of ddp, ilqr, newton, first, lbfgs");
    else
        t->def.method = (tribo_method)method;
}

int task_method_find(const char *word) {
    static const char *const words[] = {"ddp", "ilqr", "newton", "first", "lbfgs"};
    for (int i = 0; word && i < (int)(sizeof words / sizeof *words); i++)
        if (strcmp(words[i], word) == 0) return i;
    return -1;
}

/* ---- laws ---- */

static void read_own_law(task_reader *r, const json_t *value, void *at) {
    task_file *t = at;
    task_read_law(r, value, &t->options.law);
}

static void read_stages(task_reader *r, const json_t *value, void *at) {
    task_file *t = at;
    size_t n = json_array_size(value);
    if (!json_is_array(value) || n > STAGES_MAX) {
        task_wrong(r, "is not an array of at most %d laws", STAGES_MAX);
        return;
    }
    t->stage = task_room(r, n, sizeof *t->stage);
    for (size_t i = 0; i < n && task_good(r); i++) {
        task_enter(r, NULL, i);
        task_read_law(r, json_array_get(value, i), &t->stage[i]);
        task_leave(r);
    }
    t->def.stage = t->stage, t->def.nstage = (int)n;
}

/* ---- the start ---- */

static void read_start(task_reader *r, const json_t *value, void *at) {
    task_file *t = at;
    task_read_state(r, value, t->x0, t->u);
}

static void read_parameters(task_reader *r, const json_t *value, void *at) {
    task_file *t = at;
    const char *name;
    const json_t *x;
    tribo_diag diag = {0};
    if (!json_is_object(value)) task_wrong(r, "is not an object like {\"cube/mass\": 2}");
    json_object_foreach((json_t *)(uintptr_t)value, name, x) {
        char nearest[128], list[600];
        int i = tribo_param_find(r->m, name);
        task_enter(r, name, 0);
        if (i < 0 && param_group(r->m, name, list, sizeof list)) task_wrong(r, "is a group: there is %s", list);
        if (i < 0 && param_nearest(r->m, name, nearest))
            task_wrong(r, "the scene has no such parameter; the nearest is %s", nearest);
        if (i < 0) task_wrong(r, "the scene has no such parameter; `tribo params` lists them");
        if (i >= 0) t->p[i] = task_number(r, x, -TASK_LARGEST, TASK_LARGEST, "a number of at most 1e12");
        task_leave(r);
    }
    if (task_good(r) && tribo_params_check(r->m, t->p, &diag)) task_wrong(r, "%s", diag.text);
    t->other_numbers = true;
}

/* ---- controls ---- */

/* Bounds until others are read: each control's own range. */
static void settle_controls(task_file *t) {
    for (int i = 0; i < t->def.ncontrol; i++) {
        double range[2];
        ti_control_range(t->m, t->p, t->control[i], range);
        t->lower[i] = range[0], t->upper[i] = range[1];
    }
    t->def.control = t->control, t->def.lower = t->lower, t->def.upper = t->upper;
}

/* All actuators, or without them all forces. */
static void all_controls(task_file *t) {
    int from = t->size.nactuator ? t->size.nv : 0;
    t->def.ncontrol = t->size.nu - from;
    for (int i = 0; i < t->def.ncontrol; i++) t->control[i] = from + i;
    settle_controls(t);
}

static void add_control(task_reader *r, int index) {
    task_file *t = r->t;
    for (int i = 0; i < t->def.ncontrol; i++)
        if (t->control[i] == index) task_wrong(r, "is there twice");
    if (task_good(r)) t->control[t->def.ncontrol++] = index;
}

static void read_controls(task_reader *r, const json_t *value, void *at) {
    task_file *t = at;
    int *index = task_room(r, (size_t)t->size.nu, sizeof *index);
    size_t names = json_array_size(value);
    if (!names) task_wrong(r, "is not an array of names: of actuators, joints, free bodies, or as \"cube.fx\"");
    t->def.ncontrol = 0;
    for (size_t k = 0; k < names && task_good(r); k++) {
        const char *name = json_string_value(json_array_get(value, k));
        task_enter(r, NULL, k);
        if (!name) task_wrong(r, "is not a name, as a string");
        int n = name ? task_controls_named(r, name, index) : 0;
        for (int i = 0; i < n && task_good(r); i++) add_control(r, index[i]);
        task_leave(r);
    }
    settle_controls(t);
}

/* Which of the task's controls u's number is; -1 = none. */
static int control_of(const task_file *t, int index) {
    for (int i = 0; i < t->def.ncontrol; i++)
        if (t->control[i] == index) return i;
    return -1;
}

static double read_bound(task_reader *r, const json_t *value, size_t side) {
    const json_t *x = json_array_get(value, side);
    if (json_is_null(x)) return side ? HUGE_VAL : -HUGE_VAL;
    task_enter(r, NULL, side);
    double bound = task_number(r, x, -TASK_LARGEST, TASK_LARGEST, "a number of at most 1e12, or null for none");
    task_leave(r);
    return bound;
}

/* Bounds of a control within its actuator's range, beyond which it does nothing more. */
static void bound_within(task_reader *r, int i, double lower, double upper) {
    task_file *t = r->t;
    double range[2];
    ti_control_range(t->m, t->p, t->control[i], range);
    t->lower[i] = fmax(lower, range[0]), t->upper[i] = fmin(upper, range[1]);
    if (!(t->lower[i] <= t->upper[i]))
        task_wrong(r, "from %g to %g there is nothing of the actuator's range, %g to %g", lower, upper, range[0],
                   range[1]);
}

static void read_bounds_of(task_reader *r, const char *name, const json_t *value, int *index) {
    task_file *t = r->t;
    int n = task_controls_named(r, name, index);
    double lower = 0, upper = 0;
    if (json_is_number(value)) {
        upper = task_number(r, value, 0, TASK_LARGEST, "a bound: at least 0, to either side");
        lower = -upper;
    } else if (json_is_array(value) && json_array_size(value) == 2) {
        lower = read_bound(r, value, 0), upper = read_bound(r, value, 1);
    } else {
        task_wrong(r, "is neither [lower, upper] nor one number for both sides%s",
                   n > 1 ? ", the same of all its columns; one has a name like \"cube.fx\"" : "");
    }
    if (!(lower <= upper)) task_wrong(r, "from %g to %g there is nothing", lower, upper);
    for (int k = 0; k < n; k++) {
        int i = control_of(t, index[k]);
        if (i < 0)
            task_wrong(r, "is not one of the task's controls");
        else
            bound_within(r, i, lower, upper);
    }
}

static void read_bounds(task_reader *r, const json_t *value, void *at) {
    task_file *t = at;
    int *index = task_room(r, (size_t)t->size.nu, sizeof *index);
    const char *name;
    const json_t *bound;
    if (!json_is_object(value)) task_wrong(r, "is not an object like {\"motor\": [-1, 1]}");
    json_object_foreach((json_t *)(uintptr_t)value, name, bound) {
        task_enter(r, name, 0);
        if (task_good(r)) read_bounds_of(r, name, bound, index);
        task_leave(r);
    }
}

static void read_hold(task_reader *r, const json_t *value, void *at) {
    task_file *t = at;
    int *index = task_room(r, (size_t)t->size.nu, sizeof *index);
    const char *name;
    const json_t *x;
    if (!json_is_object(value)) task_wrong(r, "is not an object like {\"motor\": 0.5}");
    json_object_foreach((json_t *)(uintptr_t)value, name, x) {
        task_enter(r, name, 0);
        int n = task_good(r) ? task_controls_named(r, name, index) : 0;
        for (int k = 0; k < n; k++) {
            if (control_of(t, index[k]) >= 0) task_wrong(r, "is one of the task's controls, and not held");
            t->u[index[k]] = task_number(r, x, -TASK_LARGEST, TASK_LARGEST, "a number of at most 1e12");
        }
        task_leave(r);
    }
}

/* ---- the guess ---- */

/* A file beside the task's. */
static char *beside(const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    size_t n = slash && *name != '/' ? (size_t)(slash - path) + 1 : 0;
    char *all = malloc(n + strlen(name) + 1);
    if (all) memcpy(all, path, n), strcpy(all + n, name);
    return all;
}

/* A file that says nothing of the task's controls is no guess. */
static void need_controls(task_reader *r, const char *path, const tribo_controls *c) {
    const task_file *t = r->t;
    char first[128];
    for (int i = 0; i < t->def.ncontrol; i++)
        if (ti_controls_have(c, t->control[i])) return;
    ti_control_column(t->m, t->control[0], first, sizeof first);
    r->status = input_message(path, 1, "none of its columns has numbers of the task's controls, as %s", first);
}

static void guess_file(task_reader *r, const char *path) {
    task_file *t = r->t;
    tribo_controls *c = NULL;
    size_t nc = (size_t)t->def.ncontrol;
    double *u = task_room(r, (size_t)t->size.nu, sizeof *u);
    t->guess = task_room(r, (size_t)t->def.knots * nc, sizeof *t->guess);
    if (task_good(r)) r->status = controls_load(path, t->m, &c);
    if (task_good(r)) need_controls(r, path, c);
    for (int k = 0; k < t->def.knots && task_good(r); k++) {
        tribo_controls_at(c, k * t->def.substeps * t->dt, u);
        for (size_t i = 0; i < nc; i++) t->guess[(size_t)k * nc + i] = u[t->control[i]];
    }
    tribo_controls_free(c);
}

static void guess_rows(task_reader *r, const json_t *value) {
    task_file *t = r->t;
    size_t nc = (size_t)t->def.ncontrol, n = json_array_size(value);
    bool rows = json_is_array(json_array_get(value, 0)), series = nc == 1 && n > 1;
    if ((rows || series) && n != (size_t)t->def.knots) task_wrong(r, "has %zu rows for %d knots", n, t->def.knots);
    t->guess = task_room(r, (size_t)t->def.knots * nc, sizeof *t->guess);
    for (size_t k = 0; k < (size_t)t->def.knots && task_good(r); k++) {
        double *row = t->guess + k * nc;
        if (rows || series) task_enter(r, NULL, k);
        const json_t *at = rows || series ? json_array_get(value, k) : value;
        if (series && !rows)
            *row = task_number(r, at, -TASK_LARGEST, TASK_LARGEST, "a number of at most 1e12");
        else
            task_numbers(r, at, nc, row);
        if (rows || series) task_leave(r);
    }
}

static void guess_held(task_reader *r) {
    task_file *t = r->t;
    int nc = t->def.ncontrol;
    t->guess = task_room(r, (size_t)t->def.knots * (size_t)nc, sizeof *t->guess);
    for (int k = 0; k < t->def.knots * nc && task_good(r); k++) t->guess[k] = t->u[t->control[k % nc]];
}

static void read_guess(task_reader *r, const json_t *value, void *at) {
    task_file *t = at;
    const char *word = json_string_value(value);
    if (r->changes && (r->changes->guess || r->changes->knots)) return;
    if (word && strcmp(word, "key") == 0) {
        guess_held(r);
    } else if (word && ends_with(word, ".csv")) {
        char *path = beside(r->path, word);
        if (!path)
            r->status = trouble("no memory");
        else if (access(path, R_OK))
            task_wrong(r, "%s: cannot be read: %s", path, strerror(errno));
        else
            guess_file(r, path);
        free(path);
    } else if (json_is_array(value)) {
        guess_rows(r, value);
    } else if (!word || strcmp(word, "zero") != 0) {
        task_wrong(r, "is none of \"zero\", \"key\" (the controls of the start's key), a file \"....csv\", an array");
    }
    t->def.U = t->guess;
}

static void read_terms(task_reader *r, const json_t *value, void *at) {
    (void)at;
    task_read_terms(r, value);
}

/* ---- the whole ---- */

static const task_key KEYS[] = {{"dt", read_dt},
                                {"knots", read_knots},
                                {"substeps", read_substeps},
                                {"parameters", read_parameters},
                                {"start", read_start},
                                {"law", read_own_law},
                                {"stages", read_stages},
                                {"controls", read_controls},
                                {"hold", read_hold},
                                {"bounds", read_bounds},
                                {"guess", read_guess},
                                {"method", read_method},
                                {"iterations", read_iterations},
                                {"tolerance", read_tolerance},
                                {"constraint-tolerance", read_tol_constraint},
                                {"terms", read_terms}};
enum { NKEYS = sizeof KEYS / sizeof *KEYS };

static void prepare(task_reader *r) {
    task_file *t = r->t;
    size_t nu = (size_t)t->size.nu;
    t->p = task_room(r, (size_t)t->size.np, sizeof(double));
    t->x0 = task_room(r, (size_t)t->size.nx, sizeof(double));
    t->u = task_room(r, nu, sizeof(double));
    t->control = task_room(r, nu, sizeof(int));
    t->lower = task_room(r, nu, sizeof(double));
    t->upper = task_room(r, nu, sizeof(double));
    if (!task_good(r)) return;
    tribo_model_params(t->m, t->p);
    tribo_model_key(t->m, 0, t->x0, t->u);
    all_controls(t);
    t->def.p = t->p, t->def.x0 = t->x0, t->def.u = t->u, t->def.options = &t->options;
}

/* The memory that a search of this size takes, as numbers: states, Jacobians, feedback, tapes. */
static void check_size(task_reader *r) {
    const task_file *t = r->t;
    double w = t->size.ndx + t->def.ncontrol, a_knot = 4 * w * w + 20. * t->def.substeps * t->size.nx;
    if (t->def.knots * a_knot <= NUMBERS_MAX) return;
    task_enter(r, "knots", 0);
    task_wrong(r, "%d knots of %d steps are too many for %d numbers of a state and %d controls", t->def.knots,
               t->def.substeps, t->size.nx, t->def.ncontrol);
    task_leave(r);
}

static void need(task_reader *r, const json_t *root, const char *key, const char *what) {
    if (!json_object_get(root, key)) task_wrong(r, "there is no \"%s\": %s", key, what);
}

/* Stages by their noise alone: the stochastic law, logistic. */
static void noise_stages(task_reader *r, const double *noise, int n) {
    task_file *t = r->t;
    t->stage = task_room(r, (size_t)n, sizeof *t->stage);
    for (int i = 0; i < n && t->stage; i++)
        t->stage[i] =
            (tribo_law_options){.law = TRIBO_LAW_STOCHASTIC, .smoothing = TRIBO_SMOOTHING_LOGISTIC, .noise = noise[i]};
    t->def.stage = t->stage, t->def.nstage = n;
}

/* What comes over the file. */
static void take_changes(task_reader *r) {
    const task_changes *c = r->changes;
    for (int i = 0; i < c->nlaw; i++)
        if (tribo_law_set(&r->t->options.law, c->law_word[i], c->law_value[i], NULL)) continue; /* they were tried */
    if (c->nlaw) task_try_law(r, &r->t->options.law);
    if (c->nnoise >= 0) noise_stages(r, c->noise, c->nnoise);
    if (c->guess) guess_file(r, c->guess);
    r->t->def.U = r->t->guess;
}

static void read_task(task_reader *r, const json_t *root) {
    char example[400];
    const char *joint = tribo_model_joint_name(r->m, 0), *body = tribo_model_body_name(r->m, 0);
    bool jointed = r->t->size.njoint > 0;
    snprintf(example, sizeof example,
             "what the motion costs, as in \"terms\": [{\"what\": \"%s\", \"on\": \"%s\", \"target\": %s, \"at\": "
             "\"final\"}]",
             jointed ? "joint" : "position", jointed ? joint : body, jointed ? "0" : "[0, 0, 0]");
    task_check_keys(r, root, KEYS, NKEYS);
    need(r, root, "knots", "how many controls the motion has, each held for \"substeps\" steps, as in \"knots\": 100");
    need(r, root, "terms", example);
    task_members(r, root, KEYS, NKEYS - 1, r->t);
    if (task_good(r)) check_size(r);
    if (task_good(r) && r->changes) take_changes(r);
    if (task_good(r)) task_members(r, root, KEYS + NKEYS - 1, 1, r->t);
}

/* The line of what the first rollout is of; 0 = none is. */
static int line_begun(const task_reader *r, const json_t *root) {
    static const char *const keys[] = {"guess", "start"};
    for (int i = r->changes && r->changes->guess; i < 2; i++) {
        const json_step step = {.key = keys[i]};
        if (json_object_get(root, keys[i])) return json_line(r->text, &step, 1);
    }
    return 0;
}

static int read_text(task_reader *r, size_t n) {
    json_error_t error;
    if (n == strspn(r->text, " \t\r\n"))
        return input_message(r->path, 1, "the file is empty: a task is an object {\"knots\": ..., \"terms\": [...]}");
    json_t *root = json_loadb(r->text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    if (!root) return input_message(r->path, error.line, "column %d: %s", error.column, error.text);
    if (!json_is_object(root))
        r->status = input_message(r->path, 1, "a task is an object {\"knots\": ..., \"terms\": [...]}");
    if (task_good(r)) prepare(r);
    if (task_good(r)) read_task(r, root);
    r->t->line_begun = line_begun(r, root);
    json_decref(root);
    return r->status;
}

int task_file_read(const char *path, const tribo_model *m, const task_changes *changes, task_file **out) {
    char *text;
    size_t n, bytes;
    tribo_diag diag = {0};
    task_file *t = *out = calloc(1, sizeof *t);
    if (!t) return trouble("no memory");
    const char *place = found(path, "task", ".json");
    if (!place) return EXIT_INPUT;
    tribo_status s = ti_read_file(place, NULL, &text, &n, &bytes, &diag);
    if (s < 0) return input_error(path, s, &diag);
    input_note(place);
    t->path = path, t->m = m, t->size = tribo_model_sizes(m), t->dt = tribo_model_timestep(m);
    t->def = tribo_default_trajopt(), t->options = step_options();
    task_reader r = {.path = path, .text = text, .m = m, .changes = changes, .t = t};
    int status = read_text(&r, n);
    ti_free(NULL, text, bytes);
    return status;
}
