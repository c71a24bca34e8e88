/* task_parts.c -- what stands in several places of a task: contact laws, states. */
#include "contact/problem/problem.h"
#include "formats/text.h"
#include "model/model.h"
#include "task_reader.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- laws ---- */

static void read_word(task_reader *r, const char *word, const json_t *value, tribo_law_options *law) {
    char number[TI_NUMBER_TEXT];
    const char *text = json_string_value(value);
    tribo_diag diag = {0};
    if (json_is_number(value)) ti_write_number(json_number_value(value), number), text = number;
    if (json_is_boolean(value)) text = json_is_true(value) ? "1" : "0";
    if (!text)
        task_wrong(r, "is neither a word, a number, true nor false");
    else if (tribo_law_set(law, word, text, &diag))
        task_wrong(r, "%s", diag.text);
}

/* The word of a contact law, by - or _ as the laws themselves read it; NULL = there is none. */
static const char *law_word(const char *word) {
    for (int k = 0; tribo_law_word(k); k++) {
        const char *a = tribo_law_word(k), *b = word;
        while (*a && (*a == *b || (strchr("-_", *a) && *b && strchr("-_", *b)))) a++, b++;
        if (!*a && !*b) return tribo_law_word(k);
    }
    return NULL;
}

static const char *missing(const tribo_law_options *law, const char *word) {
    const struct {
        const char *word, *need;
        bool there;
    } needs[] = {{"noise", "\"law\": \"stochastic\"", law->law == TRIBO_LAW_STOCHASTIC},
                 {"smoothing", "\"law\": \"stochastic\"", law->law == TRIBO_LAW_STOCHASTIC},
                 {"compliance", "\"softness\": \"physical\"", law->softness == TRIBO_SOFTNESS_PHYSICAL},
                 {"dry_compliance", "\"softness\": \"physical\"", law->softness == TRIBO_SOFTNESS_PHYSICAL},
                 {"impedance", "\"softness\": \"mujoco\"", law->softness == TRIBO_SOFTNESS_MUJOCO},
                 {"impratio", "\"softness\": \"mujoco\"", law->softness == TRIBO_SOFTNESS_MUJOCO},
                 {"kappa", "\"solver\": \"interior\"", law->kappa == 0 || law->solver == TRIBO_SOLVER_INTERIOR}};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (strcmp(needs[i].word, word) == 0 && !needs[i].there) return needs[i].need;
    return NULL;
}

const char *task_law_lacks(const tribo_model *m, const tribo_law_options *law, const char *word) {
    tribo_law_options settled;
    const char *known = law_word(word);
    return known && !ti_law_settle(law, &m->law, &settled, NULL) ? missing(&settled, known) : NULL;
}

/* A word that nothing looks at would leave contact hard without a word. */
static void check_words(task_reader *r, const json_t *value, const tribo_law_options *law) {
    const char *word;
    const json_t *x;
    json_object_foreach((json_t *)(uintptr_t)value, word, x) {
        const char *need = task_good(r) ? task_law_lacks(r->m, law, word) : NULL;
        task_enter(r, word, 0);
        if (need) task_wrong(r, "counts for nothing without %s", need);
        task_leave(r);
    }
}

void task_try_law(task_reader *r, const tribo_law_options *law) {
    tribo_options o = r->t->options;
    tribo_ws *ws = NULL;
    tribo_diag diag = {0};
    o.law = *law;
    tribo_status s = tribo_ws_new(r->m, &o, NULL, &ws, &diag);
    if (s < 0) task_wrong(r, "%s", diag.text[0] ? diag.text : tribo_status_text(s));
    tribo_ws_free(ws);
}

void task_read_law(task_reader *r, const json_t *value, tribo_law_options *law) {
    const char *word;
    const json_t *x;
    if (!json_is_object(value)) task_wrong(r, "is not an object like {\"law\": \"stochastic\", \"noise\": 0.1}");
    json_object_foreach((json_t *)(uintptr_t)value, word, x) {
        task_enter(r, word, 0);
        if (law_word(word)) {
            read_word(r, word, x, law);
        } else {
            near_name near = near_begin(word);
            for (int k = 0; tribo_law_word(k); k++) near_offer(&near, tribo_law_word(k));
            task_no_such(r, "word of a contact law", &near);
        }
        task_leave(r);
    }
    if (task_good(r)) task_try_law(r, law);
    check_words(r, value, law);
}

/* ---- states ---- */

/* A part of q or v, by its owner's name: a number or an array. */
static void read_part(task_reader *r, const char *name, const json_t *value, bool velocity, double *x) {
    int n = 0, at = task_part_named(r, name, velocity, &n);
    if (at < 0) return;
    x += at + (velocity ? r->t->size.nq : 0);
    if (json_is_number(value) && n == 1)
        *x = task_number(r, value, -TASK_LARGEST, TASK_LARGEST, "a number of at most 1e12");
    else
        task_numbers(r, value, (size_t)n, x);
}

static void read_parts(task_reader *r, const json_t *value, bool velocity, double *x) {
    const tribo_sizes *z = &r->t->size;
    const char *name;
    const json_t *part;
    if (!json_is_object(value)) {
        task_numbers(r, value, (size_t)(velocity ? z->nv : z->nq), velocity ? x + z->nq : x);
        return;
    }
    json_object_foreach((json_t *)(uintptr_t)value, name, part) {
        task_enter(r, name, 0);
        read_part(r, name, part, velocity, x);
        task_leave(r);
    }
}

/* A state and its controls. */
typedef struct state_reading {
    double *x, *u;
} state_reading;

static void read_key(task_reader *r, const json_t *value, void *at) {
    state_reading *s = at;
    int key = task_key_named(r, value);
    if (key >= 0) tribo_model_key(r->m, key, s->x, s->u);
}
static void read_q(task_reader *r, const json_t *value, void *at) {
    read_parts(r, value, false, ((state_reading *)at)->x);
    const tribo_term_def state = {.kind = TRIBO_TERM_STATE};
    if (task_good(r)) task_settle_quaternions(r, &state, ((state_reading *)at)->x);
}
static void read_v(task_reader *r, const json_t *value, void *at) {
    read_parts(r, value, true, ((state_reading *)at)->x);
}

void task_read_state(task_reader *r, const json_t *value, double *x, double *u) {
    static const task_key keys[] = {{"key", read_key}, {"q", read_q}, {"v", read_v}};
    state_reading s = {x, u};
    tribo_model_key(r->m, 0, x, u);
    if (json_is_string(value))
        read_key(r, value, &s);
    else if (json_is_object(value))
        task_object(r, value, keys, 3, &s);
    else
        task_wrong(r, "is neither a key of the scene nor {\"key\": \"...\", \"q\": ..., \"v\": ...}");
}
