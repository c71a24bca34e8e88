/* lines.h -- small pictures of a few curves that stand in the text of a page and take their colours from it, so that
 * they can be read on a dark screen as on a light one; drawn without another program, many in a page. */
#ifndef TRIBO_TOOLS_LINES_H
#define TRIBO_TOOLS_LINES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { LINES_SERIES = 3 };

/* Up to three curves over one axis, about zero. Numbers that are not finite leave a gap. */
typedef struct lines {
    const double *x;                /* (n), rising */
    const double *y[LINES_SERIES];  /* (n) each; NULL = none */
    const char *name[LINES_SERIES]; /* in the legend */
    size_t n;
    double scale;        /* y is drawn times this */
    const char *x_label; /* with units */
    const char *y_label;
    double band; /* half the width of a shaded band about zero, scaled as y; 0 = none */
} lines;

void lines_draw(FILE *f, const lines *l);

#endif
