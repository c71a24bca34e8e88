/* report.c -- writes HTML that needs nothing but itself. */
#include "report.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/base.h>

static const char style[] =
    "body{font:16px/1.5 sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}"
    "h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2rem;border-bottom:1px solid #ddd}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}"
    "th,td{padding:.25rem .7rem;border-bottom:1px solid #ddd;text-align:left}"
    "th{vertical-align:bottom}td:first-child{white-space:nowrap}td.number{text-align:right;font-variant-numeric:"
    "tabular-nums;white-space:nowrap}"
    "figure{margin:1rem 0}figure svg{width:100%;height:auto}figcaption{color:#555;font-size:.9rem}"
    "pre{background:#f5f5f5;padding:.7rem;overflow-x:auto}.missing{color:#a00}footer{margin-top:3rem;color:#777}";

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

void report_begin(FILE *f, const char *title) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n",
          f);
    element(f, "title", title);
    fprintf(f, "<style>%s</style>\n</head>\n<body>\n", style);
    element(f, "h1", title);
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

void report_plot(FILE *f, const plot *p, const char *name, const char *caption) {
    char *svg = plot_svg(p, name);
    fputs("<figure>", f);
    fputs(svg ? svg
              : "<p class=\"missing\">This picture was not drawn: gnuplot was not found, or had nothing to draw.</p>",
          f);
    free(svg);
    element(f, "figcaption", caption);
    fputs("</figure>\n", f);
}

void report_verbatim(FILE *f, const char *summary, const char *text) {
    fputs("<details>", f);
    element(f, "summary", summary);
    element(f, "pre", text);
    fputs("</details>\n", f);
}

void report_end(FILE *f) {
    fprintf(f, "<footer>Made by tribo %s.</footer>\n</body>\n</html>\n", tribo_version());
}
