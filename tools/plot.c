/* plot.c -- hands gnuplot a script with the data in it and takes the SVG back, both through unnamed files. */
#define _POSIX_C_SOURCE 200809L
#include "plot.h"
#include "common.h"
#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The first seven are told apart by those who see fewer colours; the others come with other dots besides. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
                                      "#000000", "#7b3294", "#a6611a", "#808000", "#b2182b", "#808080",
                                      "#00467a", "#80cdc1", "#9467bd", "#4d9221", "#f781bf", "#01665e",
                                      "#c0a000", "#6a3d00", "#8da0cb", "#e31a1c", "#5e3c99", "#a1d99b"};
enum { NCOLOURS = sizeof colours / sizeof *colours, PLAIN = 7 };

/* 'text' as gnuplot quotes it. Nothing is special inside but the quote itself, which some commands of gnuplot cannot
 * read even doubled, so that it becomes an apostrophe; and a line end, which would end the command. */
static void quote(FILE *f, const char *text) {
    fputc('\'', f);
    for (; *text; text++) {
        if (*text == '\'')
            fputs("\xe2\x80\x99", f);
        else
            fputc(iscntrl((unsigned char)*text) ? ' ' : *text, f);
    }
    fputc('\'', f);
}

static void write_label(FILE *f, const char *what, const char *text) {
    if (!text) return;
    fprintf(f, "set %s ", what);
    quote(f, text);
    fputc('\n', f);
}

static void write_series(FILE *f, const plot *p, int index) {
    static const char *const with[] = {"lines", "lines dt 2", "points ps 0.5", "linespoints ps 0.5"};
    static const int dots[] = {7, 5, 9, 13}; /* gnuplot's: disc, square, triangle, diamond, all filled */
    const plot_series *s = p->series + index;
    int colour = s->colour > 0 ? s->colour - 1 : index;
    double width = 2;
    if (p->nested) width = s->style == PLOT_LINE ? 1.5 + 4.0 * (p->nseries - 1 - index) / p->nseries : 1.5;
    fprintf(f, "%s$s%d using 1:2 with %s lw %g lc rgb '%s' ", index ? ", " : "plot ", index, with[s->style], width,
            colours[colour % NCOLOURS]);
    if (s->style >= PLOT_DOTS) fprintf(f, "pt %d ", dots[colour / PLAIN % 4]);
    if (s->title) {
        fputs("title ", f);
        quote(f, s->title);
    } else {
        fputs("notitle", f);
    }
}

/* No less than y_least, about the middle of the data. */
static void write_range(FILE *f, const plot *p) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int i = 0; i < p->nseries; i++)
        for (size_t k = 0; k < p->series[i].n; k++) {
            double y = p->series[i].y[k];
            if (!isfinite(y) || !isfinite(p->series[i].x[k])) continue;
            if (y < low) low = y;
            if (y > high) high = y;
        }
    if (!(high - low < p->y_least)) return;
    fprintf(f, "set yrange [%.9g:%.9g]\n", (low + high - p->y_least) / 2, (low + high + p->y_least) / 2);
}

static void write_script(FILE *f, const plot *p, const char *name) {
    fprintf(f, "set terminal svg size %d,%d dynamic noenhanced font 'sans-serif,12' name '%s'\n",
            p->width > 0 ? p->width : 720, p->height > 0 ? p->height : 400, name);
    fputs("set encoding utf8\nset grid lc rgb '#dddddd'\nset border 3 lc rgb '#666666'\nset tics nomirror\n", f);
    fputs(p->key_above ? "set key outside top left horizontal Left reverse\n" : "set key outside right top\n", f);
    write_label(f, "title", p->title);
    write_label(f, "xlabel", p->x_label);
    write_label(f, "ylabel", p->y_label);
    if (p->log_x) fputs("set logscale x\nset format x '%.0e'\n", f);
    if (p->log_y) fputs("set logscale y\nset format y '%.0e'\n", f);
    if (p->y_least > 0 && !p->log_y) write_range(f, p);
    if (p->equal) fputs("set size ratio -1\n", f);
    for (int i = 0; i < p->nseries; i++) {
        const plot_series *s = &p->series[i];
        fprintf(f, "$s%d << end_of_series\n", i);
        for (size_t k = 0; k < s->n; k++) {
            if (isfinite(s->x[k]) && isfinite(s->y[k]))
                fprintf(f, "%.9g %.9g\n", s->x[k], s->y[k]);
            else
                fputc('\n', f); /* an empty line breaks the curve */
        }
        fputs("end_of_series\n", f);
    }
    for (int i = 0; i < p->nseries; i++) write_series(f, p, i);
    fputc('\n', f);
}

/* Run gnuplot from one file to the other. */
static bool run_gnuplot(FILE *script, FILE *picture) {
    char *arguments[] = {(char[]){"gnuplot"}, (char[]){"-"}, NULL};
    posix_spawn_file_actions_t files;
    pid_t child;
    int status = -1;
    if (fflush(script) != 0 || lseek(fileno(script), 0, SEEK_SET) != 0) return false;
    if (posix_spawn_file_actions_init(&files) != 0) return false;
    bool started = posix_spawn_file_actions_adddup2(&files, fileno(script), STDIN_FILENO) == 0 &&
                   posix_spawn_file_actions_adddup2(&files, fileno(picture), STDOUT_FILENO) == 0 &&
                   posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
                   posix_spawnp(&child, "gnuplot", &files, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&files);
    return started && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static char *read_whole(FILE *f) {
    long size = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    char *text = size > 0 ? malloc((size_t)size + 1) : NULL;
    if (!text) return NULL;
    rewind(f);
    text[fread(text, 1, (size_t)size, f)] = 0;
    return text;
}

/* Put `name` before every id the picture defines or refers to; text is freed. */
static char *own_ids(char *text, const char *name) {
    static const char *const marks[] = {" id=\"", " id='", "href=\"#", "href='#", "url(#"};
    enum { NMARKS = sizeof marks / sizeof *marks };
    size_t room = 0;
    char *out = NULL;
    FILE *f = open_memstream(&out, &room);
    for (const char *at = text; f && *at;) {
        size_t length = 0;
        for (int i = 0; i < NMARKS && !length; i++)
            if (!strncmp(at, marks[i], strlen(marks[i]))) length = strlen(marks[i]);
        if (length)
            fprintf(f, "%.*s%s-", (int)length, at, name);
        else
            fputc(*at, f);
        at += length ? length : 1;
    }
    if (f && fclose(f) != 0) {
        free(out);
        out = NULL;
    }
    free(text);
    return f ? out : NULL;
}

char *plot_svg(const plot *p, const char *name) {
    char *text = NULL;
    bool anything = false;
    for (int i = 0; i < p->nseries; i++)
        for (size_t k = 0; k < p->series[i].n; k++)
            anything |= isfinite(p->series[i].x[k]) && isfinite(p->series[i].y[k]);
    FILE *script = anything ? tmpfile() : NULL, *picture = script ? tmpfile() : NULL;
    if (picture) {
        write_script(script, p, name);
        if (run_gnuplot(script, picture)) text = read_whole(picture);
    }
    if (script) fclose(script);
    if (picture) fclose(picture);
    char *svg = text ? strstr(text, "<svg") : NULL; /* without the XML declaration, which HTML does not know */
    if (!svg || !strstr(svg, "</svg>")) {
        free(text);
        return NULL;
    }
    memmove(text, svg, strlen(svg) + 1);
    return own_ids(text, name);
}

bool plot_write(const plot *p, const char *path) {
    char *svg = plot_svg(p, "plot");
    if (!svg) {
        trouble("%s: not drawn: is gnuplot installed?", path);
        return false;
    }
    out_file o;
    bool good = out_open(&o, path);
    if (good) {
        fprintf(o.f, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n%s\n", svg);
        good = out_close(&o);
    }
    free(svg);
    return good;
}
