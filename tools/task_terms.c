/* task_terms.c -- the terms of a task: what they are of, targets, weights, knots. */
#include "task_reader.h"
#include "trajopt/norms.h"
#include "trajopt/task.h"
#include <math.h>
#include <string.h>

/* A term on its way. */
typedef struct term_reading {
    tribo_term_def *def;
    task_term *info;
    int n, width; /* numbers of the residual and of a row of its target; 0 = not known yet */
} term_reading;

static bool placed(tribo_term_kind kind) {
    return kind == TRIBO_TERM_POSITION || kind == TRIBO_TERM_ROTATION || kind == TRIBO_TERM_VELOCITY ||
           kind == TRIBO_TERM_ANGULAR_VELOCITY;
}
static bool jointed(tribo_term_kind kind) {
    return kind == TRIBO_TERM_JOINT || kind == TRIBO_TERM_JOINT_VELOCITY;
}

/* Of a knot's steps, which the last state has none of. */
static bool stepped(tribo_term_kind kind) {
    return kind == TRIBO_TERM_CONTROL || kind == TRIBO_TERM_CONTACT_FORCE;
}

/* ---- what ---- */

/* `names` as a list in words. */
static void list_names(char *text, size_t size, const char *(*name)(const tribo_model *m, int i), const tribo_model *m,
                       int n) {
    size_t at = 0;
    text[0] = 0;
    for (int i = 0; i < n && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s", i ? ", " : "", name(m, i));
}
static const char *kind_name(const tribo_model *m, int i) {
    return m ? "" : tribo_term_name((tribo_term_kind)i);
}
static const char *norm_name(const tribo_model *m, int i) {
    return m ? "" : tribo_norm_name((tribo_norm)i);
}

static void read_what(task_reader *r, const json_t *value, void *at) {
    term_reading *t = at;
    const char *name = json_string_value(value);
    char all[300];
    t->def->kind = tribo_term_find(name);
    if (t->def->kind < TRIBO_TERM_CUSTOM) return;
    list_names(all, sizeof all, kind_name, NULL, TRIBO_TERM_CUSTOM);
    if (!name || strcmp(name, "custom") == 0) {
        task_wrong(r, "is not one of %s%s", all, name ? ": a custom term is a function of a program's own" : "");
        return;
    }
    near_name near = near_begin(name);
    for (int k = 0; k < TRIBO_TERM_CUSTOM; k++) near_offer(&near, tribo_term_name((tribo_term_kind)k));
    if (*near.nearest)
        task_no_such(r, "kind of term", &near);
    else
        task_wrong(r, "there is no kind of term `%s`; there are %s", name, all);
}

static void read_norm(task_reader *r, const json_t *value, void *at) {
    term_reading *t = at;
    const char *name = json_string_value(value);
    char all[200];
    t->def->norm = tribo_norm_find(name);
    if (t->def->norm < TRIBO_NORM_END) return;
    list_names(all, sizeof all, norm_name, NULL, TRIBO_NORM_END);
    near_name near = near_begin(name ? name : "");
    for (int k = 0; k < TRIBO_NORM_END; k++) near_offer(&near, tribo_norm_name((tribo_norm)k));
    if (*near.nearest)
        task_no_such(r, "norm", &near);
    else
        task_wrong(r, "is none of %s", all);
}

static void read_label(task_reader *r, const json_t *value, void *at) {
    term_reading *t = at;
    const char *name = json_string_value(value);
    if (!name || !*name || strlen(name) >= sizeof t->info->label) {
        task_wrong(r, "is not a short string");
        return;
    }
    snprintf(t->info->label, sizeof t->info->label, "%s", name);
}

static void read_on(task_reader *r, const json_t *value, void *at) {
    term_reading *t = at;
    if (jointed(t->def->kind))
        t->def->joint = task_joint_named(r, value);
    else if (placed(t->def->kind))
        task_place_named(r, value, &t->def->body, &t->def->site);
    else if (t->def->kind == TRIBO_TERM_CONTACT_FORCE)
        t->def->body = task_body_named(r, value);
    else
        task_wrong(r, "a term of %s is of the whole: it takes no \"on\"", tribo_term_name(t->def->kind));
}

static void read_less(task_reader *r, const json_t *value, void *at) {
    term_reading *t = at;
    if (placed(t->def->kind) && t->def->kind != TRIBO_TERM_ROTATION)
        task_place_named(r, value, &t->def->body2, &t->def->site2);
    else
        task_wrong(r, "only position, velocity and angular-velocity can be less those of another");
}

static void read_with(task_reader *r, const json_t *value, void *at) {
    term_reading *t = at;
    if (t->def->kind == TRIBO_TERM_CONTACT_FORCE)
        t->def->body2 = task_body_named(r, value);
    else
        task_wrong(r, "only a contact-force is that with another body");
}

static void need_subject(task_reader *r, const term_reading *t) {
    char all[300];
    bool joint = jointed(t->def->kind), force = t->def->kind == TRIBO_TERM_CONTACT_FORCE;
    bool subject = joint || force || placed(t->def->kind);
    if (!subject || (joint ? t->def->joint >= 0 : t->def->body >= 0 || t->def->site >= 0)) return;
    list_names(all, sizeof all, joint ? tribo_model_joint_name : tribo_model_body_name, r->m,
               joint ? r->t->size.njoint : r->t->size.nbody);
    task_wrong(r, "there is no \"on\": the %s that %s is of%s%s",
               joint   ? "joint"
               : force ? "body"
                       : "body or site",
               tribo_term_name(t->def->kind), *all ? "; there are " : "", all);
}

static const char *subject_name(const tribo_model *m, const tribo_term_def *d) {
    return d->joint >= 0  ? tribo_model_joint_name(m, d->joint)
           : d->body >= 0 ? tribo_model_body_name(m, d->body)
           : d->site >= 0 ? tribo_model_site_name(m, d->site)
                          : NULL;
}

/* Less itself, or the force of a body on itself: always 0. */
static bool itself(const tribo_term_def *d) {
    return (d->body2 >= 0 && d->body2 == d->body) || (d->site2 >= 0 && d->site2 == d->site);
}

/* ---- at ---- */

static void read_window(task_reader *r, const json_t *value, tribo_term_def *def) {
    int knots = r->t->def.knots, k[2] = {0};
    for (size_t i = 0; i < 2; i++) {
        task_enter(r, NULL, i);
        k[i] = task_integer(r, json_array_get(value, i), -knots - 1, knots, "a knot of the task");
        task_leave(r);
    }
    for (int i = 0; i < 2; i++) k[i] += k[i] < 0 ? knots + 1 : 0;
    if (k[1] < k[0]) task_wrong(r, "knot %d, the last, comes before %d, the first", k[1], k[0]);
    def->first = k[0], def->last = k[1];
}

/* The knots from one time to another. */
static void read_span(task_reader *r, const json_t *value, void *at) {
    tribo_term_def *def = at;
    double span[2] = {0}, knot = r->t->def.substeps * r->t->dt;
    task_numbers(r, value, 2, span);
    if (!task_good(r)) return;
    double first = ceil(span[0] / knot - 1e-9), last = floor(span[1] / knot + 1e-9);
    if (first < 0) first = 0;
    if (last > r->t->def.knots) last = r->t->def.knots;
    if (!(first <= last))
        task_wrong(r, "there is no knot from %g to %g s: knots are at 0, %g, ... %g s", span[0], span[1], knot,
                   knot * r->t->def.knots);
    if (task_good(r)) def->first = (int)first, def->last = (int)last;
}

static void read_at(task_reader *r, const json_t *value, void *at) {
    static const task_key keys[] = {{"time", read_span}};
    static const struct {
        const char *word;
        int first, last;
    } words[] = {{"all", 0, 0}, {"running", 0, -1}, {"final", 0, 0}};
    term_reading *t = at;
    const char *word = json_string_value(value);
    int knots = r->t->def.knots;
    for (int i = 0; word && i < 3; i++)
        if (strcmp(word, words[i].word) == 0) {
            t->def->first = i == 2 ? knots : 0, t->def->last = i == 1 ? knots - 1 : knots;
            snprintf(t->info->at, sizeof t->info->at, "%s", word);
            return;
        }
    if (json_is_array(value) && json_array_size(value) == 2)
        read_window(r, value, t->def);
    else if (json_is_object(value))
        task_object(r, value, keys, 1, t->def);
    else
        task_wrong(r, "is none of \"all\", \"running\", \"final\", [first knot, last knot], {\"time\": [s, s]}");
    if (task_good(r)) snprintf(t->info->at, sizeof t->info->at, "%d to %d", t->def->first, t->def->last);
    t->info->stands = true;
}

/* ---- targets ---- */

/* One row: a number where that is enough, an array, of the state also a key or what "start" takes. */
static void read_row(task_reader *r, const json_t *value, const term_reading *t, double *row) {
    if (t->def->kind == TRIBO_TERM_STATE && (json_is_string(value) || json_is_object(value))) {
        task_read_state(r, value, row, NULL);
        return;
    }
    if (json_is_number(value) && t->width == 1)
        row[0] = task_number(r, value, -TASK_LARGEST, TASK_LARGEST, "a number of at most 1e12");
    else if (t->width == 1 && !json_is_array(value))
        task_wrong(r, "is neither a number, a number for each knot, nor {\"time\": ..., \"values\": ...}");
    else if (json_is_number(value))
        task_wrong(r, "is one number, but %s has %d", tribo_term_name(t->def->kind), t->width);
    else
        task_numbers(r, value, (size_t)t->width, row);
    if (task_good(r)) task_settle_quaternions(r, t->def, row);
}

/* n rows: arrays, or numbers where a row is one. */
static double *read_rows(task_reader *r, const json_t *value, const term_reading *t, size_t n) {
    double *rows = task_room(r, n * (size_t)t->width, sizeof *rows);
    for (size_t i = 0; i < n && task_good(r); i++) {
        task_enter(r, NULL, i);
        read_row(r, json_array_get(value, i), t, rows + i * (size_t)t->width);
        task_leave(r);
    }
    return rows;
}

static void read_times(task_reader *r, const json_t *value, void *at) {
    task_series *s = at;
    size_t n = json_array_size(value);
    if (!n || n > 1000000) {
        task_wrong(r, "is not an array of times, s");
        return;
    }
    s->time = task_room(r, n, sizeof *s->time);
    if (s->time) task_numbers(r, value, n, s->time);
    for (size_t i = 1; i < n && task_good(r); i++)
        if (!(s->time[i] > s->time[i - 1])) task_wrong(r, "%g does not come after %g", s->time[i], s->time[i - 1]);
    s->n = (int)n;
}

static void read_period(task_reader *r, const json_t *value, void *at) {
    ((task_series *)at)->period = task_number(r, value, 1e-9, 1e9, "a time above 0 s");
}

static void read_later(task_reader *r, const json_t *value, void *at) {
    (void)r, (void)value, (void)at; /* it needs the times and the term: read_series() */
}

static void read_series(task_reader *r, const json_t *value, term_reading *t) {
    static const task_key keys[] = {{"time", read_times}, {"values", read_later}, {"period", read_period}};
    task_series *s = &t->info->over;
    task_object(r, value, keys, 3, s);
    const json_t *values = json_object_get(value, "values");
    if (!s->time || !values) {
        task_wrong(r, "is {\"time\": [s, ...], \"values\": [a row for each time, ...]}");
        return;
    }
    if (s->period > 0 && !(s->time[s->n - 1] - s->time[0] < s->period))
        task_wrong(r, "its times span %g s, which is no shorter than the period", s->time[s->n - 1] - s->time[0]);
    task_enter(r, "values", 0);
    if (json_array_size(values) != (size_t)s->n)
        task_wrong(r, "has %zu rows for %d times", json_array_size(values), s->n);
    s->value = read_rows(r, values, t, (size_t)s->n), s->width = t->width;
    task_leave(r);
}

static void read_target(task_reader *r, const json_t *value, term_reading *t) {
    size_t rows = (size_t)(t->def->last - t->def->first + 1), size = json_array_size(value);
    const json_t *first = json_array_get(value, 0);
    bool many = json_is_array(first) || (t->width == 1 && size > 1);
    t->info->rows = 1;
    if (json_is_object(value) && (t->def->kind != TRIBO_TERM_STATE || json_object_get(value, "time"))) {
        read_series(r, value, t);
        t->info->rows = (int)rows;
    } else if (many && size != rows) {
        task_wrong(r, "has %zu rows for %zu knots", size, rows);
    } else if (many) {
        t->def->target = read_rows(r, value, t, rows);
        t->info->rows = (int)rows, t->info->stands = true;
    } else {
        double *row = task_room(r, (size_t)t->width, sizeof *row);
        if (row) read_row(r, value, t, row);
        t->def->target = row;
    }
    t->def->ntarget = t->info->rows;
}

/* A row between two of a term's series; of one with a period the first follows the last. */
static void between(const task_file *t, int term, double time, double *row) {
    const task_series *s = &t->info[term].over;
    bool again = s->period > 0 && time > s->time[0];
    int k = 0;
    if (again) time = s->time[0] + fmod(time - s->time[0], s->period);
    while (k < s->n && s->time[k] <= time) k++;
    int from = k > 0 ? k - 1 : 0, to = k < s->n ? k : again ? 0 : s->n - 1;
    double end = k < s->n ? s->time[k] : again ? s->time[0] + s->period : time;
    double share = k > 0 && end > time ? (time - s->time[from]) / (end - s->time[from]) : 0;
    const double *a = s->value + (size_t)from * (size_t)s->width, *b = s->value + (size_t)to * (size_t)s->width;
    for (int i = 0; i < s->width; i++) row[i] = a[i] + share * (b[i] - a[i]);
    for (int j = 0, at; (at = ti_term_turn(t->m, &t->term[term], &j)) >= 0;) { /* the short way round */
        double same = 0;
        for (int i = at; i < at + 4; i++) same += a[i] * b[i];
        for (int i = at; i < at + 4 && same < 0; i++) row[i] = a[i] - share * (b[i] + a[i]);
    }
}

void task_target(const task_file *t, int term, double from, double *target) {
    size_t width = (size_t)t->info[term].over.width;
    for (int k = 0; k < t->info[term].rows; k++)
        between(t, term, from + (t->term[term].first + k) * t->def.substeps * t->dt, target + (size_t)k * width);
}

/* ---- weights ---- */

static const char *const axes[] = {"x", "y", "z"}, *const moments[] = {"px", "py", "pz", "lx", "ly", "lz"};

/* The components that a word of "weights" means. @return where, n [out]; -1 if there is none. */
static int component(task_reader *r, const term_reading *t, const char *word, int *n) {
    int count = t->def->kind == TRIBO_TERM_MOMENTUM ? 6 : t->n;
    *n = 1;
    if (t->def->kind == TRIBO_TERM_STATE) {
        char name[128];
        size_t length = strlen(word);
        bool velocity = length > 2 && strcmp(word + length - 2, ".v") == 0;
        snprintf(name, sizeof name, "%.*s", (int)(velocity ? length - 2 : length), word);
        int at = task_part_named(r, name, true, n);
        return at + (velocity ? r->t->size.nv : 0);
    }
    if (count != 3 && count != 6) return -1;
    for (int i = 0; i < count; i++)
        if (strcmp(word, count == 6 ? moments[i] : axes[i]) == 0) return i;
    return -1;
}

static void weigh_control(task_reader *r, const char *word, double x, double *weights) {
    int *index = task_room(r, (size_t)r->t->size.nu, sizeof *index);
    int n = index ? task_controls_named(r, word, index) : 0;
    for (int k = 0; k < n; k++) {
        int i = 0;
        while (i < r->t->def.ncontrol && r->t->control[i] != index[k]) i++;
        if (i == r->t->def.ncontrol)
            task_wrong(r, "is not one of the task's controls");
        else
            weights[i] = x;
    }
}

static void read_weights(task_reader *r, const json_t *value, term_reading *t) {
    double *w = task_room(r, (size_t)t->n, sizeof *w);
    const char *word;
    const json_t *x;
    t->def->weights = w;
    if (!w) return;
    if (json_is_array(value)) {
        task_numbers(r, value, (size_t)t->n, w);
        for (int i = 0; i < t->n; i++)
            if (w[i] < 0) task_wrong(r, "%g is not a weight: at least 0", w[i]);
        return;
    }
    if (!json_is_object(value)) task_wrong(r, "is neither an array of %d weights nor an object of them by name", t->n);
    json_object_foreach((json_t *)(uintptr_t)value, word, x) {
        int n = 0;
        task_enter(r, word, 0);
        double weight = task_number(r, x, 0, TASK_LARGEST, "a weight: at least 0, at most 1e12");
        if (t->def->kind == TRIBO_TERM_CONTROL) {
            weigh_control(r, word, weight, w);
        } else if (task_good(r)) {
            int at = component(r, t, word, &n);
            if (at < 0 && t->n == 1) task_wrong(r, "%s is one number: \"weight\" is all it takes", t->info->label);
            if (at < 0)
                task_wrong(r, "there is no such component; there are %s", t->n == 6 ? "px py pz lx ly lz" : "x y z");
            for (int i = 0; i < n && at >= 0; i++) w[at + i] = weight;
        }
        task_leave(r);
    }
}

static void read_weight(task_reader *r, const json_t *value, void *at) {
    term_reading *t = at;
    double least = t->def->norm == TRIBO_NORM_LINEAR ? -TASK_LARGEST : 0;
    t->def->weight = task_number(r, value, least, TASK_LARGEST, "a weight: at least 0, at most 1e12");
}

static void read_scale(task_reader *r, const json_t *value, void *at) {
    term_reading *t = at;
    t->def->scale = task_number(r, value, 1e-12, TASK_LARGEST, "a scale: a number above 0");
}

/* ---- a term ---- */

static void label_term(const task_reader *r, term_reading *t) {
    const tribo_term_def *d = t->def;
    const char *of = subject_name(r->m, d);
    if (*t->info->label) return;
    snprintf(t->info->label, sizeof t->info->label, "%s%s%.60s", tribo_term_name(d->kind), of ? " " : "", of ? of : "");
}

/* Before what depends on it is read: what the term is of, and so its sizes. `deep`: the reading is at a key of it. */
static void settle_subject(task_reader *r, term_reading *t, int deep) {
    if (t->n || !task_good(r)) return;
    r->depth -= deep;
    need_subject(r, t);
    if (task_good(r) && itself(t->def))
        task_wrong(r, "it is of %s and of the same once more", subject_name(r->m, t->def));
    r->depth += deep;
    if (!task_good(r)) return;
    ti_term_sizes(r->m, r->t->def.ncontrol, t->def, &t->n, &t->width);
    label_term(r, t);
    if (stepped(t->def->kind) && t->def->last == r->t->def.knots) t->def->last--;
    if (t->def->last < t->def->first)
        task_wrong(r, "a term of %s has nothing at the last state",
                   t->def->kind == TRIBO_TERM_CONTROL ? "controls" : "contact forces");
}

static void weights_of(task_reader *r, const json_t *value, void *at) {
    settle_subject(r, at, 1);
    if (task_good(r)) read_weights(r, value, at);
}
static void target_of(task_reader *r, const json_t *value, void *at) {
    settle_subject(r, at, 1);
    if (task_good(r)) read_target(r, value, at);
}

static void read_term(task_reader *r, const json_t *value, term_reading *t) {
    static const task_key keys[] = {{"what", read_what}, {"name", read_label},  {"on", read_on},
                                    {"less", read_less}, {"norm", read_norm},   {"weight", read_weight},
                                    {"at", read_at},     {"scale", read_scale}, {"weights", weights_of},
                                    {"with", read_with}, {"target", target_of}};
    *t->def = tribo_default_term();
    t->def->last = r->t->def.knots - 1;
    snprintf(t->info->at, sizeof t->info->at, "running");
    task_check_keys(r, value, keys, sizeof keys / sizeof *keys);
    if (task_good(r) && !json_object_get(value, "what")) {
        char all[300];
        list_names(all, sizeof all, kind_name, NULL, TRIBO_TERM_CUSTOM);
        task_wrong(r, "there is no \"what\": what is weighed, one of %s", all);
    }
    task_members(r, value, keys, sizeof keys / sizeof *keys, t);
    settle_subject(r, t, 0);
    if (task_good(r) && ti_is_constraint(t->def->norm) && t->def->weight == 0)
        task_wrong(r, "a constraint needs a weight above 0");
}

void task_read_terms(task_reader *r, const json_t *value) {
    size_t n = json_array_size(value);
    task_file *t = r->t;
    if (!n || n > TASK_TERMS_MAX) {
        task_wrong(r, "is not an array of 1 to %d terms", TASK_TERMS_MAX);
        return;
    }
    t->term = task_room(r, n, sizeof *t->term);
    t->info = task_room(r, n, sizeof *t->info);
    for (size_t i = 0; i < n && task_good(r); i++) {
        term_reading term = {.def = t->term + i, .info = t->info + i};
        task_enter(r, NULL, i);
        read_term(r, json_array_get(value, i), &term);
        task_leave(r);
        if (!task_good(r)) return;
        t->def.nterm = (int)i + 1;
        t->info[i].rows = t->info[i].rows ? t->info[i].rows : 1;
        t->term[i].name = t->info[i].label;
        if (!t->info[i].over.n) continue;
        double *rows = task_room(r, (size_t)t->info[i].rows * (size_t)term.width, sizeof *rows);
        if (rows) task_target(t, (int)i, 0, rows);
        t->term[i].target = rows;
    }
    t->def.term = t->term;
}
