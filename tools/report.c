/* report.c -- writes HTML that needs nothing but itself. */
#include "report.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/base.h>

static const char style[] =
    ":root{--text:#222;--page:#fff;--faint:#ddd;--soft:#555;--code:#f5f5f5;--bad:#a00;--s0:#0072b2;--s1:#d55e00;"
    "--s2:#009e73;color-scheme:light dark}"
    "@media(prefers-color-scheme:dark){:root{--text:#ddd;--page:#161616;--faint:#3a3a3a;--soft:#aaa;--code:#222;"
    "--bad:#f77;--s0:#56b4e9;--s1:#f0883e;--s2:#3fc19b}figure svg{background:#fff;border-radius:4px}a{color:#8ab4f8}}"
    "body{font:16px/1.5 sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem;color:var(--text);"
    "background:var(--page);overflow-wrap:anywhere}"
    "h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2rem;border-bottom:1px solid var(--faint)}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;overflow-wrap:normal}"
    "th,td{padding:.25rem .7rem;border-bottom:1px solid var(--faint);text-align:left}"
    "th{vertical-align:bottom}td:first-child{white-space:nowrap}td.number{text-align:right;font-variant-numeric:"
    "tabular-nums;white-space:nowrap}td.strong{font-weight:bold;color:var(--bad)}"
    "figure{margin:1rem 0}figure svg{width:100%;height:auto}figcaption{color:var(--soft);font-size:.9rem}"
    "svg.lines{display:block;width:100%;max-width:42rem;height:auto;font-size:12px}svg.lines text{fill:currentColor}"
    "svg.lines path{fill:none;stroke-width:1.3}svg.lines .axis{stroke:var(--soft);stroke-width:.7}"
    ".s0{stroke:var(--s0)}.s1{stroke:var(--s1)}.s2{stroke:var(--s2)}.band{fill:var(--faint)}"
    "details{margin:.4rem 0}summary{cursor:pointer}"
    "pre{background:var(--code);padding:.7rem;overflow-x:auto}.missing{color:var(--bad)}"
    ".warning{border-left:4px solid var(--bad);padding-left:.8rem}footer{margin-top:3rem;color:var(--soft)}"
    "@media(max-width:40rem){body{margin:1rem auto}th,td{padding:.25rem .4rem}}";

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
