/* task_reader.c -- messages by file and line, numbers and keys of a task. */
#include "task_reader.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* terms[2].target */
static void print_place(const task_reader *r, char *text, size_t size) {
    size_t n = 0;
    text[0] = 0;
    for (int i = 0; i < r->depth && n < size; i++) {
        const json_step *s = &r->at[i];
        n += (size_t)(s->key ? snprintf(text + n, size - n, "%s%.80s", i ? "." : "", s->key)
                             : snprintf(text + n, size - n, "[%zu]", s->index));
    }
}

void task_wrong(task_reader *r, const char *format, ...) {
    char place[400], what[900];
    va_list args;
    if (!task_good(r)) return;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    print_place(r, place, sizeof place);
    r->status = input_message(r->path, json_line(r->text, r->at, r->depth), "%s%s%s", place, *place ? ": " : "", what);
}

void task_no_such(task_reader *r, const char *what, const near_name *near) {
    bool any = *near->nearest;
    task_wrong(r, "there is no %s `%s`%s%s", what, near->name,
               any          ? "; the nearest is "
               : *near->all ? "; there are "
                            : "",
               any ? near->nearest : near->all);
}

void task_enter(task_reader *r, const char *key, size_t index) {
    r->at[r->depth++] = (json_step){key, index};
}

void task_leave(task_reader *r) {
    r->depth--;
}

/* Rooms of a task, freed together. */
struct block {
    struct block *next;
    double data[];
};

void *task_room(task_reader *r, size_t n, size_t size) {
    struct block *b = task_good(r) ? calloc(1, sizeof *b + (n ? n : 1) * size) : NULL;
    if (!b) {
        if (task_good(r)) r->status = trouble("no memory");
        return NULL;
    }
    b->next = r->t->blocks;
    r->t->blocks = b;
    return b->data;
}

void task_file_free(task_file *t) {
    while (t && t->blocks) {
        struct block *next = t->blocks->next;
        free(t->blocks);
        t->blocks = next;
    }
    free(t);
}

/* ---- objects ---- */

static void list_keys(const task_key *keys, int n, char *text, size_t size) {
    size_t at = 0;
    for (int i = 0; i < n && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s", i ? ", " : "", keys[i].key);
}

static void unknown_key(task_reader *r, const char *key, const task_key *keys, int n) {
    near_name near = near_begin(key);
    char all[400];
    for (int i = 0; i < n; i++) near_offer(&near, keys[i].key);
    list_keys(keys, n, all, sizeof all);
    if (*near.nearest)
        task_wrong(r, "there is no such key; the nearest is %s", near.nearest);
    else
        task_wrong(r, "there is no such key; there are %s", all);
}

void task_check_keys(task_reader *r, const json_t *object, const task_key *keys, int n) {
    const char *key;
    const json_t *value;
    if (!json_is_object(object)) {
        task_wrong(r, "is not an object { ... }");
        return;
    }
    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        int i = 0;
        while (i < n && strcmp(keys[i].key, key) != 0) i++;
        task_enter(r, key, 0);
        if (i == n) unknown_key(r, key, keys, n);
        task_leave(r);
    }
}

void task_members(task_reader *r, const json_t *object, const task_key *keys, int n, void *at) {
    for (int i = 0; i < n && task_good(r); i++) {
        const json_t *value = json_object_get(object, keys[i].key);
        if (!value) continue;
        task_enter(r, keys[i].key, 0);
        keys[i].read(r, value, at);
        task_leave(r);
    }
}

void task_object(task_reader *r, const json_t *object, const task_key *keys, int n, void *at) {
    task_check_keys(r, object, keys, n);
    task_members(r, object, keys, n, at);
}

/* ---- numbers ---- */

double task_number(task_reader *r, const json_t *value, double lower, double upper, const char *what) {
    double x = json_number_value(value);
    if (json_is_number(value) && x >= lower && x <= upper) return x;
    if (json_is_number(value))
        task_wrong(r, "%g is not %s", x, what);
    else
        task_wrong(r, "is not %s", what);
    return lower > 0 ? lower : 0;
}

int task_integer(task_reader *r, const json_t *value, int lower, int upper, const char *what) {
    double x = task_number(r, value, lower, upper, what);
    if (x != floor(x)) task_wrong(r, "%g is not %s", x, what);
    return task_good(r) ? (int)x : lower;
}

void task_numbers(task_reader *r, const json_t *value, size_t n, double *x) {
    if (!json_is_array(value) || json_array_size(value) != n) {
        if (json_is_array(value))
            task_wrong(r, "has %zu numbers, not %zu", json_array_size(value), n);
        else
            task_wrong(r, "is not an array of %zu numbers", n);
        return;
    }
    for (size_t i = 0; i < n && task_good(r); i++) {
        task_enter(r, NULL, i);
        x[i] = task_number(r, json_array_get(value, i), -TASK_LARGEST, TASK_LARGEST, "a number of at most 1e12");
        task_leave(r);
    }
}
