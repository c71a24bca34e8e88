/* png_writer.h -- images to read height fields from. */
#ifndef PNG_WRITER_H
#define PNG_WRITER_H
#include <png.h>
#include <stdio.h>
#include <stdlib.h>

/* What kinds there are: type of colour, bits of a channel, channels, whether in passes. */
typedef struct png_kind {
    int type, depth, channels, interlace;
} png_kind;
static const png_kind PNG_KIND[] = {
    {PNG_COLOR_TYPE_GRAY, 8, 1, PNG_INTERLACE_NONE},   {PNG_COLOR_TYPE_GRAY, 8, 1, PNG_INTERLACE_ADAM7},
    {PNG_COLOR_TYPE_GRAY, 1, 1, PNG_INTERLACE_NONE},   {PNG_COLOR_TYPE_GRAY, 4, 1, PNG_INTERLACE_NONE},
    {PNG_COLOR_TYPE_GRAY, 16, 1, PNG_INTERLACE_NONE},  {PNG_COLOR_TYPE_GRAY_ALPHA, 8, 2, PNG_INTERLACE_NONE},
    {PNG_COLOR_TYPE_RGB, 8, 3, PNG_INTERLACE_NONE},    {PNG_COLOR_TYPE_RGB, 16, 3, PNG_INTERLACE_NONE},
    {PNG_COLOR_TYPE_PALETTE, 8, 1, PNG_INTERLACE_NONE}};
enum { PNG_KINDS = sizeof PNG_KIND / sizeof *PNG_KIND };

/* data: rows as the file has them, the upper one first. */
static void png_put(const char *path, const png_kind *k, int width, int height, const unsigned char *data) {
    size_t row = ((size_t)(width * k->channels * k->depth) + 7) / 8;
    FILE *f = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    if (!f || !info) abort();
    png_init_io(png, f);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, k->depth, k->type, k->interlace,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_color palette[256];
    for (int i = 0; i < 256; i++)
        palette[i] = (png_color){(png_byte)(255 - i), (png_byte)(i / 2), (png_byte)(7 * i % 256)};
    if (k->type == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette, 256);
    png_bytepp rows = calloc((size_t)height, sizeof *rows);
    for (int i = 0; i < height; i++) rows[i] = (png_bytep)data + row * (size_t)i;
    png_set_rows(png, info, rows);
    png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
    png_destroy_write_struct(&png, &info);
    free(rows), fclose(f);
}

#endif
