/* fuzz_solve.c -- any bytes as a line of a problem file: an answer or a message, never a crash; what is answered is
 * finite. */
#include "answer.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    json_t *answer = NULL;
    tribo_diag diag;
    if (size > 16384) return 0; /* larger problems are only slower */
    tribo_status s = answer_line((const char *)data, size, &(answer_options){0}, &answer, &diag);
    if (s >= 0) {
        const char *vector = json_object_get(answer, "x") ? "x" : "lambda";
        const json_t *values = json_object_get(answer, vector);
        if (json_array_size(values) == 0) abort();
        for (size_t i = 0; i < json_array_size(values); i++)
            if (!json_is_number(json_array_get(values, i))) abort();
    } else if (answer || !memchr(diag.text, 0, sizeof diag.text) || !diag.text[0]) {
        abort();
    }
    json_decref(answer);
    return 0;
}
