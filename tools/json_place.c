/* json_place.c -- see json_place.h. */
#include "json_place.h"
#include "formats/text.h"
#include <string.h>

static const char *blanks(const char *at) {
    return at + strspn(at, " \t\r\n");
}

/* Past a string that begins here. */
static const char *past_string(const char *at) {
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

/* Past a value that begins here. */
static const char *past_value(const char *at) {
    int depth = 0;
    do {
        if (*at == '"') {
            at = past_string(at);
        } else if (strchr("{}[]", *at)) {
            depth += *at == '{' || *at == '[' ? 1 : -1;
            at++;
        } else {
            at += depth ? 1 : strcspn(at, ",]} \t\r\n");
        }
    } while (*at && depth > 0);
    return at;
}

/* The value behind the key; NULL if there is none, as where it is written with escapes. */
static const char *member(const char *at, const char *key) {
    size_t n = strlen(key);
    for (at = blanks(at + 1); *at == '"';) {
        const char *name = at + 1;
        at = past_string(at);
        bool found = (size_t)(at - 1 - name) == n && memcmp(name, key, n) == 0;
        at = blanks(blanks(at) + 1); /* past the colon */
        if (found) return at;
        at = blanks(past_value(at));
        if (*at == ',') at = blanks(at + 1);
    }
    return NULL;
}

static const char *element(const char *at, size_t index) {
    at = blanks(at + 1);
    for (size_t i = 0; *at && *at != ']'; i++) {
        if (i == index) return at;
        at = blanks(past_value(at));
        if (*at == ',') at = blanks(at + 1);
    }
    return NULL;
}

int json_line(const char *text, const json_step *step, int n) {
    const char *at = blanks(text);
    for (int i = 0; i < n; i++) {
        const char *next = NULL;
        if (step[i].key && *at == '{') next = member(at, step[i].key);
        if (!step[i].key && *at == '[') next = element(at, step[i].index);
        if (!next) break;
        at = next;
    }
    return ti_count_lines(text, at);
}
