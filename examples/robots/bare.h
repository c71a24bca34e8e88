/* bare.h -- a robot of data/scenes whose joints have neither dry friction nor limits. */
#ifndef TRIBO_EXAMPLE_BARE_H
#define TRIBO_EXAMPLE_BARE_H
#include "example.h"
#include <stdio.h>
#include <string.h>

/* Take an attribute out of a text, wherever it stands. */
static inline void strip(char *text, const char *attribute) {
    for (char *at = text; (at = strstr(at, attribute)) != NULL;) {
        char *end = strchr(at + strlen(attribute), '"');
        memmove(at, end + 1, strlen(end + 1) + 1);
    }
}

/* A scene without dry friction and limits of its joints, and with more elements, as the paper has them: every solver
 * then has the whole problem to itself, where those that know contacts alone leave joints to the ladder. */
static inline tribo_model *bare_and(const char *name, const char *more) {
    char path[200];
    snprintf(path, sizeof path, "data/scenes/%s.xml", name);
    FILE *f = fopen(path, "r");
    if (!f) need(TRIBO_E_IO, path);
    static char text[1 << 16];
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = 0;
    strip(text, " frictionloss=\""), strip(text, " limited=\""), strip(text, " range=\"");
    char *end = strstr(text, "</mujoco>");
    if (!end || strlen(more) + n + 1 > sizeof text) need(TRIBO_E_IO, path);
    snprintf(end, sizeof text - (size_t)(end - text), "%s</mujoco>", more);
    tribo_model *m = NULL;
    need(tribo_model_load_memory(text, strlen(text), name, NULL, &m, NULL), name);
    return m;
}

static inline tribo_model *bare(const char *name) {
    return bare_and(name, "");
}

#endif
