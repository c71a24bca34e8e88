/* png_file.c -- see png_file.h. */
#include "formats/png_file.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#ifdef TI_PNG
#include <png.h>
#endif

static const char SIGNATURE[] = "\x89PNG\r\n\x1a\n";

static double word(const char *at) {
    const unsigned char *b = (const unsigned char *)at;
    return (double)((uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3]);
}

/* The header is the first chunk: its length and name, then the width and the height. */
bool ti_png_size(const char *data, size_t n, double *nrow, double *ncol) {
    if (n < 24 || memcmp(data, SIGNATURE, 8) != 0 || memcmp(data + 12, "IHDR", 4) != 0) return false;
    *ncol = word(data + 16), *nrow = word(data + 20);
    return true;
}

#ifndef TI_PNG

bool ti_png_is_read(void) {
    return false;
}

const char *ti_png_heights(const char *data, size_t n, int nrow, int ncol, double *z, char *text, size_t room) {
    (void)data, (void)n, (void)nrow, (void)ncol, (void)z, (void)text, (void)room;
    return "PNG is not read";
}

#else

bool ti_png_is_read(void) {
    return true;
}

typedef struct source {
    const char *data;
    size_t left, room;
    char *text;
} source;

/* libpng leaves by a jump: to where setjmp() was called. */
static void fail(png_structp png, png_const_charp what) {
    source *s = png_get_error_ptr(png);
    snprintf(s->text, s->room, "%.100s", what);
    png_longjmp(png, 1);
}

static void hush(png_structp png, png_const_charp what) {
    (void)png, (void)what;
}

static void more(png_structp png, png_bytep to, size_t n) {
    source *s = png_get_io_ptr(png);
    if (n > s->left) png_error(png, "it ends too early");
    memcpy(to, s->data, n);
    s->data += n, s->left -= n;
}

/* Nothing is made here that a jump could lose. */
static void read_rows(png_structp png, png_infop info, int nrow, int ncol, double *z) {
    png_read_png(png, info, PNG_TRANSFORM_STRIP_16 | PNG_TRANSFORM_EXPAND | PNG_TRANSFORM_STRIP_ALPHA, NULL);
    png_bytepp rows = png_get_rows(png, info);
    int channels = png_get_channels(png, info);
    if ((int)png_get_image_height(png, info) != nrow || (int)png_get_image_width(png, info) != ncol)
        png_error(png, "its size is not that of its header");
    for (int row = 0; row < nrow; row++)
        for (int col = 0; col < ncol; col++) z[row * ncol + col] = rows[nrow - 1 - row][col * channels];
}

const char *ti_png_heights(const char *data, size_t n, int nrow, int ncol, double *z, char *text, size_t room) {
    source s = {data, n, room, text};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s, fail, hush);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    snprintf(text, room, "out of memory");
    if (info && !setjmp(png_jmpbuf(png))) {
        png_set_read_fn(png, &s, more);
        read_rows(png, info, nrow, ncol, z);
        text[0] = '\0';
    }
    png_destroy_read_struct(&png, &info, NULL);
    return text[0] ? text : NULL;
}

#endif
