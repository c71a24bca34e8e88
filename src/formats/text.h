/* text.h -- numbers and files as every reader and writer of this room uses them. Independent of the locale. */
#ifndef TI_TEXT_H
#define TI_TEXT_H
#include "base/base.h"
#include <stdio.h>

/* Read a decimal number at s (no hexadecimal, no inf, no nan), correctly rounded.
 * @return where it ends, or NULL if there is none or it is too large for a double. */
const char *ti_read_number(const char *s, double *x);

enum { TI_NUMBER_TEXT = 32 };
/* The shortest text that ti_read_number() turns back into x; "nan" for NaN. */
void ti_write_number(double x, char text[TI_NUMBER_TEXT]);

/* First byte that is not part of well-formed UTF-8 text, or NULL. A NUL is not text either. */
const char *ti_not_text(const char *text, const char *end);
/* How much of n bytes of text to show, at most max: not a part of a character. */
size_t ti_cut(const char *text, size_t n, size_t max);
/* The line that `end` is on, counted from 1 at `at`. */
int ti_count_lines(const char *at, const char *end);

enum { TI_FILE_LIMIT = 256 << 20 }; /* bytes; a larger file is refused */
/* Read a whole file, NUL-terminated (*n does not count the NUL). Release with ti_free(a, *data, *bytes).
 * @return TRIBO_OK; TRIBO_E_IO; TRIBO_E_NOMEM; TRIBO_E_PARSE (too large). */
tribo_status ti_read_file(const char *path, const tribo_allocator *a, char **data, size_t *n, size_t *bytes,
                          tribo_diag *diag);

/* A file written as a whole: into a temporary beside it, which takes its name when closed. A reader finds the old
 * contents or the new, never a part. What is there and is no plain file (a device, a pipe, a link) is written as it is:
 * a rename would put a file in its place. */
typedef struct ti_output {
    FILE *file;
    char temporary[1024]; /* "" where there is none */
} ti_output;
tribo_status ti_output_open(ti_output *o, const char *path, tribo_diag *diag);
/* @return TRIBO_E_IO if anything went wrong since it was opened; the old file is untouched then. */
tribo_status ti_output_close(ti_output *o, const char *path, tribo_diag *diag);
/* Give up: the old file stays. */
void ti_output_discard(ti_output *o);

#endif
