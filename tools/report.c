/* report.c -- writes HTML that needs nothing but itself. */
#include "report.h"
#include "page_text.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/base.h>

void report_escape(FILE *f, const char *text) {
    for (; *text; text++) switch (*text) {
        case '<':
            fputs("&lt;", f);
            break;
        case '>':
            fputs("&gt;", f);
            break;
        case '&':
            fputs("&amp;", f);
            break;
        case '"':
            fputs("&quot;", f);
            break;
        case '\'':
            fputs("&#39;", f);
            break;
        default:
            /* HTML has no way to write the other control characters */
            fputc(iscntrl((unsigned char)*text) && !strchr("\n\t", *text) ? '?' : *text, f);
        }
}

static void element(FILE *f, const char *name, const char *text) {
    fprintf(f, "<%s>", name);
    report_escape(f, text);
    fprintf(f, "</%s>\n", name);
}

/* Light, dark, or as the system is: by style alone, without a script. */
static void theme_switch(FILE *f) {
    static const char *const name[] = {"auto", "light", "dark"};
    fputs("<div class=\"theme\" role=\"radiogroup\" aria-label=\"Colours\">", f);
    for (int i = 0; i < 3; i++)
        fprintf(f, "<label><input type=\"radio\" name=\"theme\" id=\"theme-%s\"%s>%s</label>", name[i],
                i ? "" : " checked", name[i]);
    fputs("</div>\n", f);
}

static void begin(FILE *f, const char *title, const char *kind) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n",
          f);
    element(f, "title", title);
    fprintf(f, "<style>\n%s</style>\n</head>\n<body class=\"%s\">\n", page_css, kind);
    theme_switch(f);
    element(f, "h1", title);
}

void report_begin(FILE *f, const char *title) {
    begin(f, title, "report");
}

void report_begin_view(FILE *f, const char *title) {
    begin(f, title, "view");
}

void report_heading(FILE *f, const char *text) {
    element(f, "h2", text);
}

void report_text(FILE *f, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (text) {
        vsnprintf(text, (size_t)length + 1, format, again);
        element(f, "p", text);
    }
    va_end(again);
    va_end(args);
    free(text);
}

void report_warning(FILE *f, const char *text) {
    fputs("<p class=\"warning\">", f);
    report_escape(f, text);
    fputs("</p>\n", f);
}

void report_table_begin(FILE *f, int n, const char *const *head) {
    fputs("<div class=\"wide\"><table>\n<thead><tr>", f);
    for (int i = 0; i < n; i++) element(f, "th", head[i]);
    fputs("</tr></thead>\n<tbody>\n", f);
}

void report_table_row(FILE *f, int n, const char *const *cell) {
    fputs("<tr>", f);
    for (int i = 0; i < n; i++) {
        const char *first = cell[i] + (cell[i][0] == '-' || cell[i][0] == '+');
        fputs(isdigit((unsigned char)*first) ? "<td class=\"number\">" : "<td>", f);
        report_escape(f, cell[i]);
        fputs("</td>", f);
    }
    fputs("</tr>\n", f);
}

void report_table_end(FILE *f) {
    fputs("</tbody></table></div>\n", f);
}

void report_picture(FILE *f, const char *svg, const char *caption) {
    fputs("<figure>", f);
    fputs(svg ? svg
              : "<p class=\"missing\">This picture was not drawn: gnuplot was not found, or had nothing to draw.</p>",
          f);
    element(f, "figcaption", caption);
    fputs("</figure>\n", f);
}

void report_plot(FILE *f, const plot *p, const char *name, const char *caption) {
    char *svg = plot_svg(p, name);
    report_picture(f, svg, caption);
    free(svg);
}

void report_verbatim(FILE *f, const char *summary, const char *text) {
    fputs("<details>", f);
    element(f, "summary", summary);
    element(f, "pre", text);
    fputs("</details>\n", f);
}

void report_command(FILE *f, int argc, char *const *argv) {
    size_t bytes = 16;
    for (int i = 0; i < argc; i++) bytes += strlen(argv[i]) + 1;
    char *text = malloc(bytes), *at = text;
    if (!text) return;
    at += snprintf(at, bytes, "tribo");
    for (int i = 0; i < argc; i++) at += snprintf(at, bytes - (size_t)(at - text), " %s", argv[i]);
    report_verbatim(f, "Command", text);
    free(text);
}

void report_end(FILE *f) {
    fprintf(f, "<footer>Made by tribo %s.</footer>\n</body>\n</html>\n", tribo_version());
}
