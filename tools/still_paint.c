/* still_paint.c -- the triangles of a still onto paper: painted from the back (SVG), or pixel by pixel (PNG). */
#include "still.h"
#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

enum { FINER = 2 }; /* samples of a pixel, either way */

/* ---- SVG ---- */

static float depth(const still_triangle *t) {
    return t->corner[0].near + t->corner[1].near + t->corner[2].near;
}

static int from_the_back(const void *a, const void *b) {
    const still_triangle *x = *(const still_triangle *const *)a, *y = *(const still_triangle *const *)b;
    if (x->layer != y->layer) return (int)x->layer - (int)y->layer;
    if (depth(x) != depth(y)) return depth(x) < depth(y) ? -1 : 1;
    return x < y ? -1 : x > y; /* the same picture everywhere */
}

/* Seen from outside, and of some size. */
static bool faces_us(const still_triangle *t) {
    const still_corner *c = t->corner;
    float area = (c[1].x - c[0].x) * (c[2].y - c[0].y) - (c[2].x - c[0].x) * (c[1].y - c[0].y);
    return t->layer == STILL_BODY ? area < 0 : area != 0; /* y goes down */
}

static bool on_paper(const still *s, const still_triangle *t) {
    float left = (float)s->width, right = 0, top = (float)s->height, bottom = 0;
    for (int k = 0; k < 3; k++) {
        const still_corner *c = t->corner + k;
        if (c->x < left) left = c->x;
        if (c->x > right) right = c->x;
        if (c->y < top) top = c->y;
        if (c->y > bottom) bottom = c->y;
    }
    return left < (float)s->width && right > 0 && top < (float)s->height && bottom > 0;
}

static void text_of(FILE *f, const char *text) {
    for (; *text; text++) {
        if (*text == '<' || *text == '&' || *text == '>')
            fprintf(f, "&#%d;", *text);
        else if ((unsigned char)*text >= ' ')
            fputc(*text, f);
    }
}

bool still_svg(FILE *f, const still *s, const char *title) {
    const still_triangle **order = calloc(s->n + 1, sizeof *order);
    size_t n = 0;
    if (!order) return false;
    for (size_t i = 0; i < s->n; i++)
        if (faces_us(s->triangle + i) && on_paper(s, s->triangle + i)) order[n++] = s->triangle + i;
    qsort(order, n, sizeof *order, from_the_back);
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
            "stroke-width=\".6\" stroke-linejoin=\"round\">\n<title>",
            s->width, s->height, s->width, s->height);
    text_of(f, title);
    fprintf(f, "</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", s->width, s->height);
    for (size_t i = 0; i < n; i++) {
        const still_corner *c = order[i]->corner;
        char colour[8] = "#";
        double light = (double)(c[0].light + c[1].light + c[2].light) / 3;
        for (int k = 0; k < 3; k++)
            snprintf(colour + 1 + 2 * k, 3, "%02x", (int)lround(light * order[i]->colour[k]) & 255);
        fprintf(f, "<path d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fz\" fill=\"%s\" stroke=\"%s\"/>\n", (double)c[0].x,
                (double)c[0].y, (double)c[1].x, (double)c[1].y, (double)c[2].x, (double)c[2].y, colour, colour);
    }
    fputs("</svg>\n", f);
    free(order);
    return true;
}

/* ---- PNG ---- */

typedef struct canvas {
    int width, height;
    float *near; /* (height,width) 1 / distance of what is seen */
    unsigned char *rgb;
} canvas;

/* A pixel's number, also of what is far beside the picture. */
static int pixel(double x, int low, int high) {
    return (int)fmax(low, fmin(high, x));
}

static void fill(canvas *c, const still_triangle *t) {
    double x[3], y[3];
    for (int k = 0; k < 3; k++) x[k] = FINER * (double)t->corner[k].x, y[k] = FINER * (double)t->corner[k].y;
    double area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
    if (area == 0) return;
    int left = pixel(ceil(fmin(x[0], fmin(x[1], x[2])) - 0.5), 0, c->width),
        top = pixel(ceil(fmin(y[0], fmin(y[1], y[2])) - 0.5), 0, c->height),
        right = pixel(floor(fmax(x[0], fmax(x[1], x[2])) - 0.5), -1, c->width - 1),
        bottom = pixel(floor(fmax(y[0], fmax(y[1], y[2])) - 0.5), -1, c->height - 1);
    for (int j = top; j <= bottom; j++)
        for (int i = left; i <= right; i++) {
            double px = i + 0.5, py = j + 0.5, w[3];
            for (int k = 0; k < 3; k++) {
                int a = (k + 1) % 3, b = (k + 2) % 3;
                w[k] = ((x[a] - px) * (y[b] - py) - (x[b] - px) * (y[a] - py)) / area;
            }
            if (w[0] < 0 || w[1] < 0 || w[2] < 0) continue;
            size_t at = (size_t)j * (size_t)c->width + (size_t)i;
            double near = 0, light = 0;
            for (int k = 0; k < 3; k++)
                near += w[k] * (double)t->corner[k].near, light += w[k] * (double)t->corner[k].light;
            if ((float)near <= c->near[at]) continue;
            c->near[at] = (float)near;
            for (int k = 0; k < 3; k++)
                c->rgb[3 * at + (size_t)k] = (unsigned char)lround(fmin(1, light) * t->colour[k]);
        }
}

/* The mean of a pixel's samples. */
static void shrink(const canvas *c, unsigned char *rgb) {
    int width = c->width / FINER, height = c->height / FINER;
    for (int j = 0; j < height; j++)
        for (int i = 0; i < 3 * width; i++) {
            int sum = 0;
            for (int a = 0; a < FINER; a++)
                for (int b = 0; b < FINER; b++)
                    sum += c->rgb[3 * ((size_t)(FINER * j + a) * (size_t)c->width + (size_t)(FINER * (i / 3) + b)) +
                                  (size_t)(i % 3)];
            rgb[(size_t)j * 3 * (size_t)width + (size_t)i] =
                (unsigned char)((sum + FINER * FINER / 2) / (FINER * FINER));
        }
}

/* Rows of width x 3 bytes. */
static bool write_png(FILE *f, const unsigned char *rgb, int width, int height) {
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_RGB};
    return png_image_write_to_stdio(&image, f, 0, rgb, 0, NULL);
}

bool still_png(FILE *f, const still *s) {
    canvas c = {.width = FINER * s->width, .height = FINER * s->height};
    size_t pixels = (size_t)c.width * (size_t)c.height;
    c.near = calloc(pixels, sizeof *c.near), c.rgb = malloc(3 * pixels);
    unsigned char *rgb = malloc(3 * (size_t)s->width * (size_t)s->height);
    bool good = c.near && c.rgb && rgb;
    if (good) {
        memset(c.rgb, 255, 3 * pixels);
        for (size_t i = 0; i < s->n; i++) fill(&c, s->triangle + i);
        shrink(&c, rgb);
        good = write_png(f, rgb, s->width, s->height);
    }
    free(c.near), free(c.rgb), free(rgb);
    return good;
}
