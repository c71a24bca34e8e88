/* lines.c -- see lines.h. */
#include "lines.h"
#include "report.h"
#include <math.h>
#include <stdarg.h>

enum { WIDTH = 640, HEIGHT = 170, LEFT = 62, RIGHT = 8, TOP = 20, BOTTOM = 34 };

/* 1, 2 or 5 times a power of ten, at least x. */
static double round_up(double x) {
    double unit = pow(10, floor(log10(x)));
    return x <= unit ? unit : x <= 2 * unit ? 2 * unit : x <= 5 * unit ? 5 * unit : 10 * unit;
}

/* The largest number about zero, rounded up; 1 where there is none. */
static double extent(const lines *l) {
    double most = l->band;
    for (int i = 0; i < LINES_SERIES; i++)
        for (size_t k = 0; l->y[i] && k < l->n; k++)
            if (isfinite(l->y[i][k]) && fabs(l->y[i][k]) > most) most = fabs(l->y[i][k]);
    return most > 0 ? round_up(most * l->scale) : 1;
}

static void text(FILE *f, double x, double y, const char *anchor, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
static void text(FILE *f, double x, double y, const char *anchor, const char *format, ...) {
    char words[128];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    fprintf(f, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\">", x, y, anchor);
    report_escape(f, words);
    fputs("</text>", f);
}

static void curve(FILE *f, const lines *l, int series, double x0, double x1, double most) {
    bool open = false;
    fprintf(f, "<path class=\"s%d\" d=\"", series);
    for (size_t k = 0; k < l->n; k++) {
        double y = l->scale * l->y[series][k];
        if (!isfinite(y)) {
            open = false;
            continue;
        }
        fprintf(f, "%c%.1f %.1f", open ? 'L' : 'M', LEFT + (WIDTH - LEFT - RIGHT) * (l->x[k] - x0) / (x1 - x0),
                TOP + (HEIGHT - TOP - BOTTOM) * (1 - y / most) / 2);
        open = true;
    }
    fputs("\"/>", f);
}

void lines_draw(FILE *f, const lines *l) {
    if (l->n < 2) return;
    double x0 = l->x[0], x1 = l->x[l->n - 1], most = extent(l), middle = TOP + (HEIGHT - TOP - BOTTOM) / 2.;
    int bottom = HEIGHT - BOTTOM, at = LEFT;
    if (!(x1 > x0)) return;
    fprintf(f, "<svg class=\"lines\" viewBox=\"0 0 %d %d\" role=\"img\">", WIDTH, HEIGHT);
    if (l->band > 0) {
        double half = (HEIGHT - TOP - BOTTOM) * l->scale * l->band / most / 2;
        fprintf(f, "<rect class=\"band\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>", LEFT, middle - half,
                WIDTH - LEFT - RIGHT, 2 * half);
    }
    fprintf(f, "<path class=\"axis\" d=\"M%d %dV%dM%d %.1fH%d\"/>", LEFT, TOP, bottom, LEFT, middle, WIDTH - RIGHT);
    text(f, LEFT - 4, TOP + 10, "end", "%g", most);
    text(f, LEFT - 4, middle + 4, "end", "0");
    text(f, LEFT - 4, bottom, "end", "%g", -most);
    text(f, LEFT, HEIGHT - 18, "start", "%g", x0);
    text(f, WIDTH - RIGHT, HEIGHT - 18, "end", "%g", x1);
    text(f, (LEFT + WIDTH - RIGHT) / 2., HEIGHT - 4, "middle", "%s", l->x_label);
    for (int i = 0; i < LINES_SERIES; i++) {
        if (!l->y[i]) continue;
        curve(f, l, i, x0, x1, most);
        fprintf(f, "<path class=\"s%d\" d=\"M%d 9h18\"/>", i, at);
        text(f, at + 22, 13, "start", "%s", l->name[i]);
        at += 90;
    }
    text(f, WIDTH - RIGHT, 13, "end", "%s", l->y_label);
    fputs("</svg>\n", f);
}
