/* json_place.h -- where in a JSON text something stands. The text must have been read as JSON before. */
#ifndef TRIBO_TOOLS_JSON_PLACE_H
#define TRIBO_TOOLS_JSON_PLACE_H
#include <stddef.h>

/* A step into an object or an array. */
typedef struct json_step {
    const char *key; /* NULL: an array's */
    size_t index;
} json_step;

/* The line, from 1, of the value that n steps lead to; of the last that is there where one leads nowhere. */
int json_line(const char *text, const json_step *step, int n);

#endif
