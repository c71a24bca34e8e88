/* plot.h -- plots of curves as SVG, drawn by gnuplot. Without gnuplot there is no picture, and nothing else fails. */
#ifndef TRIBO_TOOLS_PLOT_H
#define TRIBO_TOOLS_PLOT_H
#include <stdbool.h>
#include <stddef.h>

typedef enum plot_style { PLOT_LINE, PLOT_DASHED, PLOT_DOTS, PLOT_LINE_DOTS } plot_style;

/* One curve. Numbers that are not finite leave a gap. */
typedef struct plot_series {
    const char *title; /* in the legend; NULL = none */
    const double *x, *y;
    size_t n;
    plot_style style;
    int colour; /* 0 = the next one; 1, 2, ... = that one, so that pairs of curves can share it */
} plot_series;

typedef struct plot {
    const char *title, *x_label, *y_label; /* NULL = none */
    const plot_series *series;
    int nseries;
    bool log_x, log_y;
    bool equal;        /* the same scale on both axes */
    double y_least;    /* the y axis spans at least this, so that rounding does not fill it; not if log_y */
    bool key_above;    /* the legend, where it is long; otherwise right */
    bool nested;       /* solid lines that are drawn first are wider, so that those that coincide show */
    int width, height; /* pixels; 0 = 720 x 400 */
} plot;

/* The picture as text `<svg ...>...</svg>`, to be freed; NULL where gnuplot is missing or could not draw it.
 * `name` (letters and digits) makes its ids differ from those of other pictures in the same page. */
char *plot_svg(const plot *p, const char *name);
/* The picture as a file of its own. @return false where it could not be drawn or written, after a message. */
bool plot_write(const plot *p, const char *path);

#endif
