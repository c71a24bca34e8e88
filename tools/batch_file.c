/* batch_file.c -- randomisers, a start and a return from a JSON file: docs/batch.md says what it may hold. */
#include "batch.h"
#include "files.h"
#include "found.h"
#include "task_reader.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 1000 };

/* ---- a randomiser ---- */

typedef struct reading {
    batch_file *f;
    tribo_random_def *def;
    bool seen_range, seen_mean, seen_deviation;
} reading;

static void take_name(task_reader *r, tribo_random_def *d, const char *name, double power) {
    double *powers = (double *)(uintptr_t)d->power;
    const char **names = (const char **)(uintptr_t)d->name;
    size_t n = name ? strlen(name) : 0;
    char *copy = n ? task_room(r, n + 1, 1) : NULL;
    if (!n) task_wrong(r, "is not the name of parameters, as \"floor/friction\" or \"*/mass\"");
    if (!copy) return;
    memcpy(copy, name, n);
    names[d->nname] = copy, powers[d->nname++] = power;
}

/* "NAME", ["NAME", ...] or {"NAME": power, ...} */
static void read_name(task_reader *r, const json_t *value, void *at) {
    reading *g = at;
    const char *name;
    const json_t *power;
    size_t n = json_is_string(value) ? 1 : json_is_array(value) ? json_array_size(value) : json_object_size(value);
    g->def->name = task_room(r, n, sizeof *g->def->name), g->def->power = task_room(r, n, sizeof *g->def->power);
    if (n == 0) task_wrong(r, "names nothing");
    if (!task_good(r)) return;
    if (json_is_string(value)) take_name(r, g->def, json_string_value(value), 1);
    for (size_t i = 0; json_is_array(value) && i < n && task_good(r); i++) {
        task_enter(r, NULL, i);
        take_name(r, g->def, json_string_value(json_array_get(value, i)), 1);
        task_leave(r);
    }
    if (!json_is_object(value)) return;
    json_object_foreach((json_t *)(uintptr_t)value, name, power) {
        task_enter(r, name, 0);
        take_name(r, g->def, name, task_number(r, power, -100, 100, "a power from -100 to 100"));
        task_leave(r);
    }
}

/* Which of n words; 0 after a message. */
static int word_of(task_reader *r, const json_t *value, const char *const *words, int n, const char *all) {
    const char *word = json_string_value(value);
    for (int i = 0; word && i < n; i++)
        if (strcmp(words[i], word) == 0) return i;
    task_wrong(r, "is none of %s", all);
    return 0;
}

static void read_draw(task_reader *r, const json_t *value, void *at) {
    static const char *const words[] = {"uniform", "loguniform", "normal"};
    ((reading *)at)->def->draw = (tribo_draw)word_of(r, value, words, 3, "uniform, loguniform, normal");
}

static void read_how(task_reader *r, const json_t *value, void *at) {
    static const char *const words[] = {"scale", "add"};
    ((reading *)at)->def->add = word_of(r, value, words, 2, "scale, add") == 1;
}

static void read_share(task_reader *r, const json_t *value, void *at) {
    static const char *const words[] = {"all", "body", "none"};
    ((reading *)at)->def->share = (tribo_share)word_of(r, value, words, 3, "all, body, none");
}

static void read_range(task_reader *r, const json_t *value, void *at) {
    reading *g = at;
    double both[2] = {0};
    task_numbers(r, value, 2, both);
    g->def->a = both[0], g->def->b = both[1], g->seen_range = true;
}

static void read_mean(task_reader *r, const json_t *value, void *at) {
    reading *g = at;
    g->def->a = task_number(r, value, -TASK_LARGEST, TASK_LARGEST, "a number of at most 1e12");
    g->seen_mean = true;
}

static void read_deviation(task_reader *r, const json_t *value, void *at) {
    reading *g = at;
    g->def->b = task_number(r, value, 0, TASK_LARGEST, "a standard deviation, not below 0");
    g->seen_deviation = true;
}

static void read_lower(task_reader *r, const json_t *value, void *at) {
    ((reading *)at)->def->lower = task_number(r, value, -TASK_LARGEST, TASK_LARGEST, "a number of at most 1e12");
}

static void read_upper(task_reader *r, const json_t *value, void *at) {
    ((reading *)at)->def->upper = task_number(r, value, -TASK_LARGEST, TASK_LARGEST, "a number of at most 1e12");
}

/* Whether the library takes it alone: so its line is known. */
static void try_row(task_reader *r, const tribo_random_def *d) {
    tribo_random *random = NULL;
    tribo_diag diag = {0};
    tribo_status s = tribo_random_new(r->m, d, 1, 0, NULL, &random, &diag);
    const char *what = strstr(diag.text, ": ");
    if (s < 0) task_wrong(r, "%s", what ? what + 2 : diag.text);
    tribo_random_free(random);
}

/* What a distribution takes, and nothing else. */
static void check_row(task_reader *r, reading *g) {
    bool normal = g->def->draw == TRIBO_DRAW_NORMAL;
    if (!g->def->nname) task_wrong(r, "says no \"name\"");
    if (normal && g->seen_range) task_wrong(r, "normal takes \"mean\" and \"deviation\", not \"range\"");
    if (!normal && (g->seen_mean || g->seen_deviation))
        task_wrong(r, "\"mean\" and \"deviation\" are of normal: here it is \"range\"");
    if (normal ? !g->seen_deviation : !g->seen_range)
        task_wrong(r, normal ? "says no \"deviation\"" : "says no \"range\": [from, to]");
    if (normal && !g->seen_mean) g->def->a = g->def->add ? 0 : 1;
}

static void read_row(task_reader *r, const json_t *value, reading *g) {
    static const task_key keys[] = {{"name", read_name},   {"draw", read_draw},   {"range", read_range},
                                    {"mean", read_mean},   {"how", read_how},     {"share", read_share},
                                    {"lower", read_lower}, {"upper", read_upper}, {"deviation", read_deviation}};
    *g->def = tribo_default_random();
    g->seen_range = g->seen_mean = g->seen_deviation = false;
    task_object(r, value, keys, (int)(sizeof keys / sizeof *keys), g);
    if (task_good(r)) check_row(r, g);
    if (task_good(r)) try_row(r, g->def);
}

static void read_rows(task_reader *r, const json_t *value, void *at) {
    reading *g = at;
    batch_file *f = g->f;
    size_t n = json_array_size(value);
    if (!json_is_array(value) || n > ROWS_MAX) {
        task_wrong(r, "is not an array of at most %d randomisers", ROWS_MAX);
        return;
    }
    if (n == 0) {
        task_wrong(r, "is empty: nothing would be drawn, and every world would be the same");
        return;
    }
    f->def = task_room(r, n, sizeof *f->def), f->label = task_room(r, n, sizeof *f->label);
    for (size_t i = 0; i < n && task_good(r); i++) {
        task_enter(r, NULL, i);
        g->def = &f->def[i];
        read_row(r, json_array_get(value, i), g);
        if (task_good(r)) f->label[i] = f->def[i].name[0];
        task_leave(r);
    }
    f->ndef = (int)n;
}

/* ---- the return ---- */

/* The number of the state that a column of trajectories is; those of quaternions are none. */
static bool offer(near_name *near, const char *owner, const char *word, int x, int dx, batch_part *p) {
    char column[200];
    snprintf(column, sizeof column, "%s.%s", owner, word);
    near_offer(near, column);
    if (strcmp(column, near->name) != 0) return false;
    p->x = x, p->dx = dx;
    return true;
}

static bool find_column(const tribo_model *m, near_name *near, batch_part *p) {
    static const char *const free_words[] = {"px", "py", "pz", "vx", "vy", "vz", "wx", "wy", "wz"};
    tribo_sizes z = tribo_model_sizes(m);
    for (int b = 0; b < z.nbody; b++) {
        int q = tribo_model_body_q(m, b), v = tribo_model_body_v(m, b);
        for (int k = 0; tribo_model_body_free(m, b) && k < 9; k++)
            if (offer(near, tribo_model_body_name(m, b), free_words[k], k < 3 ? q + k : z.nq + v + k - 3,
                      k < 3 ? v + k : z.nv + v + k - 3, p))
                return true;
    }
    for (int j = 0; j < z.njoint; j++) {
        int q = tribo_model_joint_q(m, j), v = tribo_model_joint_v(m, j);
        const char *name = tribo_model_joint_name(m, j);
        if (task_joint_nv(m, j) == 1 &&
            (offer(near, name, "q", q, v, p) || offer(near, name, "v", z.nq + v, z.nv + v, p)))
            return true;
    }
    return false;
}

static void read_of(task_reader *r, const json_t *value, void *at) {
    near_name near = near_begin(json_string_value(value) ? json_string_value(value) : "");
    if (!find_column(r->m, &near, at)) task_no_such(r, "number of the state", &near);
}

static void read_weight(task_reader *r, const json_t *value, void *at) {
    ((batch_part *)at)->weight = task_number(r, value, -TASK_LARGEST, TASK_LARGEST, "a number of at most 1e12");
}

static void read_target(task_reader *r, const json_t *value, void *at) {
    batch_part *p = at;
    p->target = task_number(r, value, -TASK_LARGEST, TASK_LARGEST, "a number of at most 1e12"), p->square = true;
}

static void read_at(task_reader *r, const json_t *value, void *at) {
    static const char *const words[] = {"final", "mean"};
    ((batch_part *)at)->mean = word_of(r, value, words, 2, "final, mean") == 1;
}

static void read_return(task_reader *r, const json_t *value, void *at) {
    static const task_key keys[] = {{"of", read_of}, {"weight", read_weight}, {"target", read_target}, {"at", read_at}};
    batch_file *f = ((reading *)at)->f;
    size_t n = json_array_size(value);
    if (!json_is_array(value) || n > ROWS_MAX) task_wrong(r, "is not an array of at most %d parts", ROWS_MAX);
    f->part = task_room(r, n, sizeof *f->part);
    for (size_t i = 0; i < n && task_good(r); i++) {
        task_enter(r, NULL, i);
        f->part[i] = (batch_part){.x = -1, .weight = 1};
        task_object(r, json_array_get(value, i), keys, 4, &f->part[i]);
        if (task_good(r) && f->part[i].x < 0) task_wrong(r, "says no \"of\": a column of trajectories, as \"cube.px\"");
        task_leave(r);
    }
    f->npart = (int)n;
}

/* ---- the file ---- */

static void read_seed(task_reader *r, const json_t *value, void *at) {
    ((reading *)at)->f->seed = (uint64_t)task_integer(r, value, 0, 2147483647, "a seed from 0 to 2147483647");
}

static void read_start(task_reader *r, const json_t *value, void *at) {
    batch_file *f = ((reading *)at)->f;
    task_read_state(r, value, f->x0, f->u);
}

static void read_root(task_reader *r, const json_t *root, batch_file *f) {
    static const task_key keys[] = {
        {"seed", read_seed}, {"start", read_start}, {"randomise", read_rows}, {"return", read_return}};
    reading g = {.f = f};
    f->x0 = task_room(r, (size_t)r->t->size.nx, sizeof *f->x0),
    f->u = task_room(r, (size_t)r->t->size.nu, sizeof *f->u);
    if (!task_good(r)) return;
    tribo_model_key(r->m, 0, f->x0, f->u);
    task_object(r, root, keys, 4, &g);
    if (task_good(r) && !json_object_get(root, "randomise"))
        task_wrong(r,
                   "there is no \"randomise\": [{\"name\": \"*/mass\", \"draw\": \"uniform\", \"range\": [0.5, 2]}]");
}

static int read_text(task_reader *r, size_t n, batch_file *f) {
    json_error_t error;
    json_t *root = json_loadb(r->text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    if (!root) return input_message(r->path, error.line, "column %d: %s", error.column, error.text);
    read_root(r, root, f);
    json_decref(root);
    return r->status;
}

int batch_file_read(const char *path, const tribo_model *m, batch_file *f) {
    char *text;
    size_t n, bytes;
    tribo_diag diag = {0};
    *f = (batch_file){.room = calloc(1, sizeof *f->room)};
    if (!f->room) return trouble("no memory");
    const char *place = found_input(path, "file of randomisers");
    if (!place) return EXIT_USAGE;
    tribo_status s = ti_read_file(place, NULL, &text, &n, &bytes, &diag);
    if (s < 0) return input_error(path, s, &diag);
    input_note(place);
    f->room->m = m, f->room->size = tribo_model_sizes(m);
    task_reader r = {.path = path, .text = text, .m = m, .t = f->room};
    int status = read_text(&r, n, f);
    ti_free(NULL, text, bytes);
    return status;
}

void batch_file_free(batch_file *f) {
    task_file_free(f->room);
}
