/* png_file.h -- heights of a PNG, as MuJoCo takes them: eight bits of grey, of colours the red. */
#ifndef TI_PNG_FILE_H
#define TI_PNG_FILE_H
#include <stdbool.h>
#include <stddef.h>

/* Whether the library was built with libpng. */
bool ti_png_is_read(void);
/* Rows and columns that a file says it has. @return false where it is no PNG. */
bool ti_png_size(const char *data, size_t n, double *nrow, double *ncol);
/* Its heights, 0 to 255, (nrow,ncol), the lowest row of the image first. @return NULL, or what is wrong, in `text`. */
const char *ti_png_heights(const char *data, size_t n, int nrow, int ncol, double *z, char *text, size_t room);

#endif
