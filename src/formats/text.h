/* text.h -- numbers and files as every reader and writer of this room uses them. Independent of the locale. */
#ifndef TI_TEXT_H
#define TI_TEXT_H
#include "base/base.h"

/* Read a decimal number at s (no hexadecimal, no inf, no nan), correctly rounded.
 * @return where it ends, or NULL if there is none or it is too large for a double. */
const char *ti_read_number(const char *s, double *x);

enum { TI_NUMBER_TEXT = 32 };
/* The shortest text that ti_read_number() turns back into x; "nan" for NaN. */
void ti_write_number(double x, char text[TI_NUMBER_TEXT]);

enum { TI_FILE_LIMIT = 256 << 20 }; /* bytes; a larger file is refused */
/* Read a whole file, NUL-terminated (*n does not count the NUL). Release with ti_free(a, *data, *bytes).
 * @return TRIBO_OK; TRIBO_E_IO; TRIBO_E_NOMEM; TRIBO_E_PARSE (too large). */
tribo_status ti_read_file(const char *path, const tribo_allocator *a, char **data, size_t *n, size_t *bytes,
                          tribo_diag *diag);

/* Write a file as a whole: through a temporary beside it and a rename, so that a reader finds the old or the new. */
tribo_status ti_replace_file(const char *path, const char *data, size_t n, tribo_diag *diag);

#endif
